/* SPDX-License-Identifier: MIT */
/* The launchers of mpnum/training/grad.cuh against grad.h and scaler.h, byte for
 * byte: the same tensors in two copies of their memory, with what lies between them. Of a
 * smaller build, TEST_TYPES, fewer lists. */
#define MPNUM_NO_SIMD 1 /* the host's loops that are the meaning of all others */

#include "simt_checks.hpp"

#include <mpnum/training/grad.cuh>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace {

#ifdef TEST_TYPES
constexpr bool is_small = true;
#else
constexpr bool is_small = false;
#endif

constexpr mpnum_type types[] = {MPNUM_TYPE_F32,  MPNUM_TYPE_BF16, MPNUM_TYPE_F16,
                                MPNUM_TYPE_E5M2, MPNUM_TYPE_E4M3, MPNUM_TYPE_F64};
constexpr int no_dst = -1, in_place = -2;

std::size_t size_of(mpnum_type type) {
  return static_cast<std::size_t>(mpnum_type_bits_(type)) / 8;
}

struct shape {
  std::size_t rows, columns, src_gap, dst_gap;
  std::size_t offset;   /* in elements, from an aligned address */
  std::size_t more = 0; /* of dst, besides */
};

/* Tensors in memory of their own, and a copy of it all for the host. */
class problem {
public:
  explicit problem(unsigned seed) : random_(seed), made_(8) {}

  /* dst: a type, no_dst or in_place. odd: how many elements are Inf or NaN. */
  void add(mpnum_type src_type, int dst, const shape &s, unsigned odd = 0,
           float size = 1.0f) {
    mpnum_grad_tensor t = mpnum_grad_tensor_of(src_type, nullptr, 0, src_type, nullptr);
    const std::size_t src = reserve(s, s.src_gap, s.offset, size_of(src_type));
    t.rows = s.rows;
    t.columns = s.columns;
    t.src_stride = s.columns + s.src_gap;
    t.dst_stride = s.columns + s.dst_gap;
    std::size_t to = src;
    if (dst >= 0) {
      t.dst_type = static_cast<mpnum_type>(dst);
      to = reserve(s, s.dst_gap, s.offset + s.more, size_of(t.dst_type));
    } else {
      t.dst_stride = t.src_stride;
    }
    fill(src, src_type, s, size, odd);
    tensors_.push_back(t);
    places_.push_back({src, dst == no_dst ? nothing : to, nothing});
  }
  /* Makes all elements of the last one that of these bits, or the nearest. */
  void fill(std::uint32_t bits) {
    const mpnum_grad_tensor &t = tensors_.back();
    const float x = mpnum_from_bits_f32(bits);
    const mpnum_overflow overflow =
        mpnum_isfinite_f32(x) ? MPNUM_OVERFLOW_SATURATE : MPNUM_OVERFLOW_IEEE;
    const std::uint64_t code = t.src_type == MPNUM_TYPE_F64
                                   ? mpnum_bits_f64(mpnum_f32_to_f64(x))
                                   : mpnum_encode(mpnum_format_of(t.src_type), x,
                                                  MPNUM_ROUND_NEAREST_EVEN, overflow, 0);
    unsigned char *to =
        reinterpret_cast<unsigned char *>(made_.data()) + places_.back().src;
    for (std::size_t i = 0; i < t.rows * t.src_stride; ++i)
      std::memcpy(to + i * size_of(t.src_type), &code, size_of(t.src_type));
  }
  void count_in(std::size_t which, std::size_t step) {
    places_.back().histogram = which;
    tensors_.back().histogram_step = step;
  }
  /* An empty one, of addresses that are NULL. */
  void add_empty(std::size_t rows, std::size_t columns) {
    mpnum_grad_tensor t =
        mpnum_grad_tensor_of(MPNUM_TYPE_F32, nullptr, 0, MPNUM_TYPE_F32, nullptr);
    t.rows = rows;
    t.columns = t.src_stride = t.dst_stride = columns;
    tensors_.push_back(t);
    places_.push_back({nothing, nothing, nothing});
  }

  /* Both copies as they were filled. */
  void begin() {
    host = made_;
    device = made_;
    std::memset(&histograms[0], 0, 4 * sizeof histograms[0]);
    on_host = with_addresses(host, &histograms[0]);
    on_device = with_addresses(device, &histograms[2]);
    tiles_before.assign(tensors_.size() + 1, ~0ull);
    const mpnum_status status =
        mpnum_grad_plan(&list, reinterpret_cast<std::uint64_t *>(tiles_before.data()),
                        on_device.data(), on_device.size(), MPNUM_GRAD_NARROW);
    CHECK(status == MPNUM_OK, "a plan: %s", mpnum_status_string(status));
    list.tensors = on_device.data();
    list.tiles_before = reinterpret_cast<std::uint64_t *>(tiles_before.data());
  }
  bool is_same() {
    return std::memcmp(host.data(), device.data(), host.size() * sizeof host[0]) == 0 &&
           std::memcmp(&histograms[0], &histograms[2], 2 * sizeof histograms[0]) == 0;
  }

  vector<std::uint64_t> host, device;
  vector<mpnum_grad_tensor> on_host, on_device;
  vector<unsigned long long> tiles_before;
  vector<mpnum_histogram> histograms = vector<mpnum_histogram>(4); /* two of each */
  mpnum_grad_list list = mpnum_grad_list();
  mpnum_grad_workspace &workspace = placed(mpnum_grad_workspace());

private:
  static constexpr std::size_t nothing = ~static_cast<std::size_t>(0);
  struct place {
    std::size_t src, dst, histogram;
  };

  /* A place in bytes, with a guard before it. */
  std::size_t reserve(const shape &s, std::size_t gap, std::size_t offset,
                      std::size_t size) {
    const std::size_t from = made_.size() * 8 + 32 + offset * size;
    const std::size_t bytes = (offset + s.rows * (s.columns + gap)) * size;
    made_.resize((made_.size() * 8 + 64 + bytes + 31) / 32 * 4, 0xb5b5b5b5b5b5b5b5u);
    return from;
  }
  void fill(std::size_t at, mpnum_type type, const shape &s, float size, unsigned odd) {
    const mpnum_format format = mpnum_format_of(type);
    unsigned char *to = reinterpret_cast<unsigned char *>(made_.data()) + at;
    const std::size_t n = s.rows * (s.columns + s.src_gap);
    for (std::size_t i = 0; i < n; ++i) {
      std::uint64_t code = random_();
      const float sign = code & 1 ? size : -size;
      float x = sign * std::exp2(static_cast<float>(code >> 8 & 0xfff) / 256.0f - 8);
      if ((code >> 24) % 16 == 0) x = sign * 0;
      if (code >> 20 == 1) x *= 1e-30f; /* a subnormal at times */
      if (type == MPNUM_TYPE_F64) {
        code = mpnum_bits_f64(static_cast<double>(x) * 1.000000001);
      } else {
        code =
            mpnum_encode(format, x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0);
      }
      std::memcpy(to + i * size_of(type), &code, size_of(type));
    }
    for (unsigned k = 0; k < odd && n != 0; ++k) {
      const std::uint64_t which = random_() % n, sign = random_() % 2;
      std::uint64_t code = random_() % 3 ? 0x7fc12345u : 0x7f800000u;
      if (type == MPNUM_TYPE_F32) code |= sign << 31;
      if (type == MPNUM_TYPE_BF16) code = code >> 16 | sign << 15;
      if (type == MPNUM_TYPE_F16) code = code & 0xffff ? 0x7e01 : 0xfc00;
      if (type == MPNUM_TYPE_E5M2) code = code & 0xffff ? 0x7f : 0xfc;
      if (type == MPNUM_TYPE_E4M3) code = 0x7f;
      if (type == MPNUM_TYPE_F64)
        code = code & 0xffff ? 0xfff4000012345678u : 0x7ffull << 52;
      std::memcpy(to + which * size_of(type), &code, size_of(type));
    }
  }
  vector<mpnum_grad_tensor> with_addresses(vector<std::uint64_t> &memory,
                                           mpnum_histogram *counted) const {
    vector<mpnum_grad_tensor> tensors = tensors_;
    unsigned char *base = reinterpret_cast<unsigned char *>(memory.data());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (places_[i].src != nothing) tensors[i].src = base + places_[i].src;
      if (places_[i].dst != nothing) tensors[i].dst = base + places_[i].dst;
      if (places_[i].histogram != nothing)
        tensors[i].histogram = counted + places_[i].histogram;
    }
    return tensors;
  }

  std::mt19937 random_;
  vector<std::uint64_t> made_;
  vector<mpnum_grad_tensor> tensors_;
  vector<place> places_;
};

mpnum_grad_scaler scaler_of(float scale) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_default();
  mpnum_grad_scaler scaler;
  config.init_scale = scale;
  config.min_scale = mpnum_from_bits_f32(0x00800000);
  CHECK(mpnum_grad_scaler_init(&scaler, config) == MPNUM_OK, "a scaler");
  return scaler;
}
bool is_empty(const mpnum_grad_workspace &workspace) {
  const mpnum_grad_workspace empty = mpnum_grad_workspace();
  return std::memcmp(&workspace, &empty, offsetof(mpnum_grad_workspace, squares)) == 0;
}
template <class T> bool same(const T &a, const T &b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/* few_blocks: so that each team has several tiles. */
void check_pass(problem &p, float scale, const char *what, bool few_blocks = false) {
  const mpnum_grad_scaler &scaler = placed(scaler_of(scale));
  mpnum_grad_findings expected, &got = placed<mpnum_grad_findings>();
  p.begin();
  std::memset(static_cast<void *>(&got), 0x5a, sizeof got);
  const mpnum_status status = mpnum_grad_multiply(
      p.on_host.data(), p.on_host.size(), scaler.inverse, MPNUM_GRAD_NARROW, &expected);
  CHECK(status == MPNUM_OK, "%s", mpnum_status_string(status));
  if (few_blocks) {
    CHECK_LAUNCH(simt::launch(mpnum_grad_pass_kernel_<mpnum_grad_findings>,
                              {1 + static_cast<unsigned>(p.list.tiles) / 40, 256}, &got,
                              p.list, &scaler, &p.workspace));
  } else {
    CHECK_LAUNCH(mpnum_launch_grad_pass(&got, p.list, &scaler, &p.workspace, nullptr));
  }
  CHECK(p.is_same(), "%s: gradients or histograms", what);
  CHECK(same(expected.squares, got.squares), "%s: squares", what);
  CHECK(same(expected.stats, got.stats), "%s: statistics", what);
  CHECK(same(expected, got),
        "%s: first is element %llu of %llu, bits %llx, not %llu of %llu, %llx", what,
        static_cast<unsigned long long>(got.first_element),
        static_cast<unsigned long long>(got.first_tensor),
        static_cast<unsigned long long>(got.first_bits),
        static_cast<unsigned long long>(expected.first_element),
        static_cast<unsigned long long>(expected.first_tensor),
        static_cast<unsigned long long>(expected.first_bits));
  CHECK(is_empty(p.workspace), "%s: the workspace", what);
  CHECK(same(p.workspace.squares, expected.squares) &&
            same(p.workspace.norm, mpnum_grad_norm(&expected)),
        "%s: what is left for a clip", what);
}

void every_pair_of_types_is_passed_as_on_the_host(void) {
  unsigned seed = 0;
  for (mpnum_type src : types) {
    for (int dst : {no_dst, in_place, static_cast<int>(MPNUM_TYPE_F32),
                    static_cast<int>(MPNUM_TYPE_BF16), static_cast<int>(MPNUM_TYPE_F16),
                    static_cast<int>(MPNUM_TYPE_E5M2), static_cast<int>(MPNUM_TYPE_E4M3),
                    static_cast<int>(MPNUM_TYPE_F64)}) {
      problem p(++seed);
      char what[64];
      std::snprintf(what, sizeof what, "%s to %d", mpnum_type_name(src), dst);
      p.add(src, dst, {1, 2048 + 256 + 70, 0, 0, 0});
      p.count_in(seed % 2, 1);
      p.add(src, dst, {1, 600, 0, 0, 0}, seed % 3);
      simt::use(simt::schedules[seed % 6]);
      check_pass(p, 1024, what);
      check_pass(p, 3, what);
    }
  }
}

/* Tiles whose first element is misaligned by each number of elements, dst as src or not.
 */
void misaligned_tensors_are_passed_as_on_the_host(void) {
  const int pairs[][2] = {{MPNUM_TYPE_F32, in_place},
                          {MPNUM_TYPE_BF16, MPNUM_TYPE_F32},
                          {MPNUM_TYPE_F16, no_dst},
                          {MPNUM_TYPE_F32, MPNUM_TYPE_BF16},
                          {MPNUM_TYPE_E5M2, MPNUM_TYPE_F16}};
  unsigned seed = 0;
  for (const int *pair : pairs) {
    problem p(++seed);
    for (std::size_t offset = 0; offset < 4; ++offset)
      for (std::size_t more : {0u, 1u, 2u})
        for (std::size_t n : {2u, 6u, 67u, 300u, 2048u + 261u}) {
          p.add(static_cast<mpnum_type>(pair[0]), pair[1], {1, n, 0, 0, offset, more},
                n % 2 && offset == 1 ? 3 : 0);
          if (n != 300) p.count_in(n % 2, 1);
        }
    simt::use(simt::schedules[seed]);
    check_pass(p, 0.0625f, "misaligned", seed % 2 == 0);
  }
}

void lists_of_any_sizes_and_places(void) {
  const std::size_t sizes[] = {1,   3,   63,   64,   65,   255,  256,
                               257, 511, 2047, 2048, 2049, 4096, 6200};
  const unsigned lists = is_small ? 4 : 24;
  for (unsigned seed = 1; seed <= lists; ++seed) {
    std::mt19937 random(seed);
    problem p(seed);
    for (unsigned k = 0; k < 14; ++k) {
      const mpnum_type src = types[random() % 6];
      const unsigned long kind = random() % 5;
      const int dst = kind == 0 ? no_dst : kind == 1 ? in_place : types[random() % 6];
      shape s = {1, sizes[random() % 14], 0, 0, random() % 3 ? 0 : random() % 5};
      if (random() % 3 == 0)
        s = {random() % 4, 1 + random() % 700, random() % 3 * (random() % 9),
             random() % 3 * (random() % 9), random() % 2};
      if (dst < 0) s.dst_gap = s.src_gap;
      p.add(src, dst, s, random() % 4 == 0 ? 2 : 0, random() % 5 ? 1.0f : 1e-38f);
      if (random() % 2) p.count_in(random() % 2, 1 + random() % 3);
      if (random() % 3 == 0) p.add_empty(random() % 2 * 5, 0);
      if (random() % 5 == 0) p.add_empty(0, 7);
    }
    simt::use(simt::schedules[seed % 6]);
    check_pass(p, seed % 2 ? 65536 : 0.75f, "a list", seed % 3 != 0);
  }
}

void lists_of_nothing(void) {
  problem none(1), empty(1);
  check_pass(none, 2, "no tensors");
  empty.add_empty(0, 0);
  empty.add_empty(3, 0);
  check_pass(empty, 2, "empty tensors");
  none.begin();
  none.list.tensors = nullptr;
  none.list.tiles_before = nullptr;
  mpnum_grad_findings &found = placed<mpnum_grad_findings>();
  CHECK_LAUNCH(
      mpnum_launch_grad_pass(&found, none.list, nullptr, &none.workspace, nullptr));
  CHECK(same(found, mpnum_grad_findings_empty()), "findings of no list");
}

void long_tensors_are_those_of_the_host(void) {
  problem p(6);
  p.add(MPNUM_TYPE_F16, MPNUM_TYPE_F32, {1, is_fast() ? 5000000u : 5000u, 0, 0, 1}, 3);
  p.add(MPNUM_TYPE_F32, in_place, {is_fast() ? 1000u : 1u, 2100, 8, 8, 0});
  check_pass(p, 1024, "long tensors");
}

void tensors_of_one_value_are_those_of_the_host(void) {
  for (std::uint32_t bits : uncommon_floats) {
    problem all(1);
    for (mpnum_type type : types)
      for (int dst : {in_place, static_cast<int>(MPNUM_TYPE_F16)}) {
        problem p(1);
        for (problem *each : {&p, &all}) {
          each->add(type, dst, {1, 300, 0, 0, 0});
          each->fill(bits);
        }
        check_pass(p, 0.25f, "one value");
      }
    check_pass(all, 4, "one value in all");
  }
}

/* So many that hosts carry sums twice, and more than all blocks have teams, some of which
 * count in one histogram after the other. */
void many_small_tensors_are_one_launch(void) {
  problem p(5);
  const unsigned teams = 24 * MPNUM_GRAD_TEAMS_;
  for (unsigned k = 0; k < (is_small ? 70000u : 140000u); ++k) {
    p.add(MPNUM_TYPE_F16, MPNUM_TYPE_F32, {1, 1 + k % 3, 0, 0, 0}, k % 50000 == 49999);
    if (k % teams < 24) p.count_in(k / teams % 2, 1);
  }
  simt::use(simt::schedules[4]);
  check_pass(p, 16, "many tensors");
}

/* A pass, a clip and the step, of gradients that are not clipped, are, or cannot be. */
void check_clip(problem &p, mpnum_grad_scaler scaler, float max_norm, const char *what) {
  mpnum_grad_scaler host = scaler, &device = placed(scaler);
  mpnum_grad_optimizer host_handle = mpnum_grad_optimizer_of(&scaler);
  mpnum_grad_optimizer &device_handle = placed(host_handle);
  mpnum_grad_findings expected, &got = placed<mpnum_grad_findings>();
  mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
  std::uint32_t &apply = placed<std::uint32_t>(77);
  p.begin();
  CHECK(mpnum_grad_scaler_unscale(&host, &host_handle, p.on_host.data(), p.on_host.size(),
                                  MPNUM_GRAD_NARROW, &expected) == MPNUM_OK,
        "%s", what);
  CHECK_LAUNCH(mpnum_launch_grad_pass(&got, p.list, &device, &p.workspace, nullptr));
  for (float limit : {max_norm, max_norm, 2 * max_norm, max_norm / 2}) {
    CHECK(mpnum_grad_scaler_clip(&host, &host_handle, p.on_host.data(), p.on_host.size(),
                                 limit) == MPNUM_OK,
          "%s", what);
    CHECK_LAUNCH(mpnum_launch_grad_clip(&device_handle, &device, &got, p.list, limit,
                                        &p.workspace, nullptr));
    CHECK(p.is_same(), "%s: gradients clipped to %g", what, static_cast<double>(limit));
    CHECK(same(host_handle, device_handle), "%s: handle after a clip to %g", what,
          static_cast<double>(limit));
    CHECK(is_empty(p.workspace), "%s: the workspace", what);
  }
  CHECK(mpnum_grad_scaler_step(&host, &host_handle, &verdict) == MPNUM_OK &&
            mpnum_grad_scaler_update(&host, &host_handle) == MPNUM_OK,
        "%s", what);
  CHECK_LAUNCH(mpnum_launch_grad_step(&device, &device_handle, &got, &apply, nullptr));
  CHECK(same(host, device) && same(host_handle, device_handle), "%s: scaler and handle",
        what);
  CHECK(apply == static_cast<std::uint32_t>(verdict), "%s: apply %u", what, apply);
}
void clips_are_those_of_the_host(void) {
  unsigned seed = 0;
  for (float size : {1e-30f, 1.0f, 1e37f}) {
    for (unsigned odd : {0u, 1u}) {
      problem p(++seed);
      p.add(MPNUM_TYPE_F32, in_place, {1, 5000, 0, 0, 0}, 0, size);
      p.add_empty(2, 0);
      p.add(MPNUM_TYPE_F16, MPNUM_TYPE_F32, {3, 100, 4, 4, 1}, odd);
      p.add(MPNUM_TYPE_BF16, in_place, {1, 300, 0, 0, 0}, 0, size == 1 ? 100 : size);
      simt::use(simt::schedules[seed % 6]);
      for (float max_norm : {1e-3f, 1.0f, 3e38f, mpnum_from_bits_f32(0x7f800000)})
        check_clip(p, scaler_of(0.125f), max_norm, "a clip");
      mpnum_grad_scaler off = scaler_of(1);
      off.config.enabled = 0;
      check_clip(p, off, 0.5f, "a scaler that is not enabled");
    }
  }
  problem none(1);
  check_clip(none, scaler_of(2), 1, "no tensors");
}

/* What is refused, and what is not, of a scaler, a handle and a limit: the word tells. */
struct state {
  const char *what;
  mpnum_grad_scaler scaler;
  mpnum_grad_optimizer handle;
  float limit;
  std::uint32_t apply;
  bool is_reported = false; /* by a kernel of the caller's, not found by a pass */
};
std::vector<state> states() {
  const float infinity = mpnum_from_bits_f32(0x7f800000);
  const std::uint32_t unknown = 2 * MPNUM_ERROR_NORM_UNKNOWN;
  const mpnum_grad_scaler begun = scaler_of(8);
  mpnum_grad_optimizer ready = mpnum_grad_optimizer_of(&begun), stale = ready;
  mpnum_grad_scaler zeros;
  std::memset(&zeros, 0, sizeof zeros); /* a forgotten init */
  std::vector<state> made = {
      {"zeros", zeros, mpnum_grad_optimizer_of(&zeros), 0.01f,
       2 * MPNUM_ERROR_UNINITIALISED},
      {"a ready handle", begun, ready, infinity, MPNUM_GRAD_APPLY}};
  stale.updates += 1;
  stale.norm = 1024; /* which a clip would divide by */
  for (std::uint32_t stage :
       {MPNUM_GRAD_READY, MPNUM_GRAD_UNSCALED, MPNUM_GRAD_STEPPED, MPNUM_GRAD_SKIPPED}) {
    stale.stage = stage;
    made.push_back({"a stale handle", begun, stale, 0.01f, 2 * MPNUM_ERROR_STALE_HANDLE});
  }
  for (std::uint32_t is_found = 0; is_found < 2; ++is_found)
    for (float limit : {1.0f, infinity}) {
      mpnum_grad_optimizer reported = ready;
      CHECK(mpnum_grad_scaler_report_unscaled(&begun, &reported, is_found,
                                              MPNUM_GRAD_NORM_UNKNOWN) == MPNUM_OK,
            "report");
      made.push_back({"an unknown norm", begun, reported, limit,
                      limit == 1 && !is_found ? unknown : 1 - is_found, true});
    }
  return made;
}
void states_that_are_refused_are_told(void) {
  for (const state &one : states()) {
    const bool is_zero = one.scaler.scale == 0;
    problem p(3);
    p.add(MPNUM_TYPE_F32, in_place, {1, 5000, 0, 0, 0}, is_zero);
    p.begin();
    vector<std::uint64_t> before = p.device;
    mpnum_grad_scaler &scaler = placed(one.scaler);
    mpnum_grad_optimizer &handle = placed(one.handle);
    mpnum_grad_findings &found = placed(mpnum_grad_findings_empty());
    std::uint32_t &apply = placed<std::uint32_t>(77);
    if (!one.is_reported)
      CHECK_LAUNCH(
          mpnum_launch_grad_pass(&found, p.list, &scaler, &p.workspace, nullptr));
    CHECK(same(found, mpnum_grad_findings_empty()) == (is_zero || one.is_reported),
          "%s: findings", one.what);
    if (!is_zero) before = p.device;
    CHECK_LAUNCH(mpnum_launch_grad_clip(&handle, &scaler, &found, p.list, one.limit,
                                        &p.workspace, nullptr));
    CHECK_LAUNCH(mpnum_launch_grad_step(&scaler, &handle, &found, &apply, nullptr));
    CHECK(apply == one.apply, "%s, stage %u: apply %u", one.what, one.handle.stage,
          apply);
    CHECK(p.device == before && is_empty(p.workspace), "%s: gradients", one.what);
    CHECK(same(scaler, one.scaler) == (apply > 1) &&
              (apply == 2 * MPNUM_ERROR_NORM_UNKNOWN ||
               same(handle, one.handle) == (apply > 1)),
          "%s: scaler or handle", one.what);
  }
}

/* A verdict that a kernel of the caller's has changed since its step. */
void late_found_infs_are_told(void) {
  const mpnum_grad_scaler begun = scaler_of(1);
  mpnum_grad_scaler &scaler = placed(begun);
  mpnum_grad_scaler host = begun;
  mpnum_grad_optimizer stepped = mpnum_grad_optimizer_of(&begun);
  mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
  CHECK(mpnum_grad_scaler_report_unscaled(&host, &stepped, 0, 1) == MPNUM_OK &&
            mpnum_grad_scaler_step(&host, &stepped, &verdict) == MPNUM_OK,
        "a step");
  stepped.found_inf = 1;
  mpnum_grad_optimizer &late = placed(stepped);
  mpnum_grad_optimizer &other = placed(mpnum_grad_optimizer_of(&begun));
  mpnum_grad_findings &found = placed(mpnum_grad_findings_empty());
  vector<std::uint32_t> apply(2, 1);
  mpnum_grad_optimizer *const handles[] = {&other, &late};
  const mpnum_grad_findings *const these[] = {&found, nullptr};
  CHECK_LAUNCH(
      mpnum_launch_grad_step_all(&scaler, handles, these, apply.data(), 2, nullptr));
  CHECK(apply[0] == 2 * MPNUM_ERROR_LATE_FOUND_INF && apply[1] == apply[0], "apply %u",
        apply[0]);
  CHECK(same(scaler, begun) && same(late, stepped) &&
            same(other, mpnum_grad_optimizer_of(&begun)),
        "something has changed");
}

void findings_of_ranks_are_merged(void) {
  vector<mpnum_grad_findings> ranks;
  mpnum_grad_findings merged = mpnum_grad_findings_empty();
  mpnum_grad_findings &got = placed<mpnum_grad_findings>();
  for (unsigned rank = 0; rank < 9; ++rank) {
    problem p(rank % 7);
    p.add(MPNUM_TYPE_F32, no_dst, {1, 2000 + rank, 0, 0, 0}, rank % 4 == 3 ? 2 : 0);
    p.begin();
    mpnum_grad_findings found;
    CHECK(mpnum_grad_read(p.on_host.data(), 1, 0.5f, &found) == MPNUM_OK, "a rank");
    if (rank > 4) found.squares.terms = 30000; /* the third of them is carried */
    ranks.push_back(found);
  }
  for (std::size_t count = 0; count <= ranks.size(); ++count) {
    simt::use(simt::schedules[count % 6]);
    CHECK_LAUNCH(mpnum_launch_grad_merge(&got, ranks.data(), count, nullptr));
    CHECK(same(got, merged), "findings of %zu ranks", count);
    if (count < ranks.size()) merged = mpnum_grad_findings_merge(merged, ranks[count]);
  }
  CHECK_LAUNCH(mpnum_launch_grad_merge(&ranks[2], ranks.data(), ranks.size(), nullptr));
  CHECK(same(ranks[2], merged), "in place");
}

/* A clip takes the norm of what it is given, also where its workspace has another's. */
void findings_of_two_passes_are_clipped_by_their_own_norm(void) {
  for (int is_merged : {0, 1}) {
    problem p(11);
    p.add(MPNUM_TYPE_F32, in_place, {1, 5000, 0, 0, 0});
    const mpnum_grad_scaler &scaler = placed(scaler_of(1024));
    mpnum_grad_optimizer &handle = placed(mpnum_grad_optimizer_of(&scaler));
    mpnum_grad_optimizer expected = handle;
    mpnum_grad_findings &found = placed<mpnum_grad_findings>();
    check_pass(p, 1024, "before a clip");
    CHECK(mpnum_grad_read(p.on_host.data(), 1, 1.0f, &found) == MPNUM_OK, "findings");
    if (is_merged) found = mpnum_grad_findings_merge(found, found);
    const float limit = 0.75f * mpnum_grad_norm(&found);
    CHECK(mpnum_grad_scaler_report_unscaled(&scaler, &expected, 0,
                                            mpnum_grad_norm(&found)) == MPNUM_OK &&
              mpnum_grad_scaler_clip(&scaler, &expected, p.on_host.data(),
                                     p.on_host.size(), limit) == MPNUM_OK,
          "the host's");
    CHECK_LAUNCH(mpnum_launch_grad_clip(&handle, &scaler, &found, p.list, limit,
                                        &p.workspace, nullptr));
    CHECK(p.is_same() && same(handle, expected), "merged: %d", is_merged);
  }
}

void plans_refuse_what_devices_cannot_take(void) {
  alignas(8) unsigned char memory[64] = {0};
  std::uint64_t tiles[2] = {77, 77};
  mpnum_grad_list list = mpnum_grad_list();
  std::memset(static_cast<void *>(&list), 0x3c, sizeof list);
  const mpnum_grad_list before = list;
  const mpnum_grad_tensor good =
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, memory, 8, MPNUM_TYPE_F32, memory);
  mpnum_grad_tensor bad[9] = {good, good, good, good, good, good, good, good, good};
  bad[0].src = nullptr;
  bad[1].src = memory + 1;
  bad[2].dst = memory + 2;
  bad[3].rows = static_cast<std::size_t>(1) << 62;
  bad[4].columns = bad[4].src_stride = bad[4].dst_stride = static_cast<std::size_t>(1)
                                                           << 52;
  bad[5].src_type = MPNUM_TYPE_E2M1;
  bad[6].dst_stride = 7;
  bad[7].dst_type = MPNUM_TYPE_F16;
  bad[8].histogram = reinterpret_cast<mpnum_histogram *>(memory);
  bad[8].histogram_step = 0;
  const mpnum_status want[9] = {
      MPNUM_ERROR_NULL,     MPNUM_ERROR_ARGUMENT, MPNUM_ERROR_ARGUMENT,
      MPNUM_ERROR_ARGUMENT, MPNUM_ERROR_ARGUMENT, MPNUM_ERROR_TYPE,
      MPNUM_ERROR_STRIDE,   MPNUM_ERROR_NARROW,   MPNUM_ERROR_ARGUMENT};
  for (const mpnum_grad_tensor &t : bad) {
    const mpnum_status status = mpnum_grad_plan(&list, tiles, &t, 1, 0);
    CHECK(status == want[&t - bad], "tensor %d: %s", static_cast<int>(&t - bad),
          mpnum_status_string(status));
  }
  CHECK(mpnum_grad_plan(&list, tiles, &good, 1, 4) == MPNUM_ERROR_ARGUMENT, "a flag");
  CHECK(same(list, before) && tiles[0] == 77 && tiles[1] == 77, "written");
  CHECK(mpnum_grad_plan(&list, tiles, &good, 1, 0) == MPNUM_OK && list.tiles == 1 &&
            list.elements == 8 && list.can_clip && tiles[1] == 1,
        "a good one");
  mpnum_grad_tensor kept[2] = {good, good};
  kept[0].dst = nullptr;
  kept[1].dst = memory + 32;
  kept[1].rows = 2;
  kept[1].columns = 4;
  kept[1].src_stride = 5;
  kept[1].dst_stride = 4; /* one row for a clip, two for a pass */
  for (const mpnum_grad_tensor &t : kept)
    CHECK(mpnum_grad_plan(&list, tiles, &t, 1, 0) == MPNUM_OK && !list.can_clip,
          "tensor %d is not to be clipped", static_cast<int>(&t - kept));
}
void launchers_refuse_and_return_errors(void) {
  const mpnum_grad_scaler &scaler = placed(scaler_of(2));
  problem p(2);
  p.add(MPNUM_TYPE_F32, in_place, {1, 300, 0, 0, 0});
  p.begin();
  const vector<std::uint64_t> before = p.device;
  mpnum_grad_findings &found = placed(mpnum_grad_findings_empty());
  mpnum_grad_scaler &next = placed(scaler);
  mpnum_grad_optimizer &handle = placed(mpnum_grad_optimizer_of(&scaler));
  std::uint32_t &apply = placed<std::uint32_t>(9);
  mpnum_grad_list bare = p.list, unclipped = p.list;
  bare.tiles_before = nullptr;
  unclipped.can_clip = 0;
  mpnum_grad_optimizer *const twice[MPNUM_GRAD_OPTIMIZERS + 1] = {&handle, &handle},
                                                            *const none[1] = {nullptr};
  const mpnum_grad_findings *const these[MPNUM_GRAD_OPTIMIZERS + 1] = {&found, &found};
  const auto steps = [&](mpnum_grad_optimizer *const *handles, int count) {
    return mpnum_launch_grad_step_all(&next, handles, these, &apply, count, nullptr);
  };
  const auto step = [&](mpnum_grad_scaler *by, const mpnum_grad_findings *of,
                        std::uint32_t *to) {
    return mpnum_launch_grad_step(by, &handle, of, to, nullptr);
  };
  const auto pass = [&](mpnum_grad_findings *to, const mpnum_grad_list &list,
                        mpnum_grad_workspace *space) {
    return mpnum_launch_grad_pass(to, list, &scaler, space, nullptr);
  };
  const auto clip = [&](const mpnum_grad_list &list, float limit) {
    return mpnum_launch_grad_clip(&handle, &scaler, &found, list, limit, &p.workspace,
                                  nullptr);
  };
  const cudaError_t refused[] = {
      steps(twice, 2),
      steps(twice, 0),
      steps(twice, MPNUM_GRAD_OPTIMIZERS + 1),
      steps(none, 1),
      steps(nullptr, 1),
      mpnum_launch_grad_step_all(&next, twice, nullptr, &apply, 1, nullptr),
      step(&next, nullptr, &apply),
      step(&next, &found, nullptr),
      step(nullptr, &found, &apply),
      pass(nullptr, p.list, &p.workspace),
      pass(&found, p.list, nullptr),
      pass(&found, bare, &p.workspace),
      clip(unclipped, 1),
      clip(bare, 1),
      clip(p.list, 0),
      clip(p.list, -1),
      clip(p.list, mpnum_from_bits_f32(0x7fc00000)),
      mpnum_launch_grad_clip(&handle, nullptr, &found, p.list, 1, &p.workspace, nullptr),
      mpnum_launch_grad_merge(&found, nullptr, 1, nullptr)};
  for (const cudaError_t &error : refused)
    CHECK(error == cudaErrorInvalidValue, "call %td: %s", &error - refused,
          cudaGetErrorName(error));
  simt::launch_error = sound;
  const cudaError_t failed[] = {pass(&found, p.list, &p.workspace), clip(p.list, 1),
                                step(&next, &found, &apply),
                                mpnum_launch_grad_merge(&found, &found, 1, nullptr)};
  simt::launch_error = cudaSuccess;
  CHECK(completed(cudaSuccess) == cudaSuccess, "afterwards");
  for (cudaError_t error : failed)
    CHECK(error == sound, "%s", cudaGetErrorName(error));
  if (is_simulated)
    CHECK(p.device == before && same(found, mpnum_grad_findings_empty()) && apply == 9 &&
              same(next, scaler) && same(handle, mpnum_grad_optimizer_of(&scaler)) &&
              is_empty(p.workspace),
          "something was written");
  check_pass(p, 2, "after a launch that failed");
}

/* A workspace of which blocks was not zero: the step is skipped; where only a clip finds
 * it so, the step is refused. */
void a_workspace_that_is_not_zero_is_told(void) {
  const mpnum_grad_scaler scaler = scaler_of(4);
  for (const std::uint64_t word : {1ull, 3ull, 100ull, 1ull << 32, ~0ull}) {
    problem p(9);
    for (int k = 0; k < 100; ++k) /* tiles of seven blocks */
      p.add(MPNUM_TYPE_F32, in_place, {1, 3, 0, 0, 0});
    p.begin();
    mpnum_grad_scaler &device = placed(scaler);
    mpnum_grad_optimizer &handle = placed(mpnum_grad_optimizer_of(&scaler));
    mpnum_grad_findings &found = placed<mpnum_grad_findings>();
    std::uint32_t &apply = placed<std::uint32_t>(77);
    const auto pass = [&] {
      CHECK_LAUNCH(
          mpnum_launch_grad_pass(&found, p.list, &device, &p.workspace, nullptr));
    };
    const auto clip = [&](float limit) {
      CHECK_LAUNCH(mpnum_launch_grad_clip(&handle, &device, &found, p.list, limit,
                                          &p.workspace, nullptr));
    };
    const auto step = [&] {
      CHECK_LAUNCH(mpnum_launch_grad_step(&device, &handle, &found, &apply, nullptr));
    };
    p.workspace.blocks = word;
    pass();
    CHECK(mpnum_grad_found_inf(&found) && found.stats.nans == found.stats.count + 1 &&
              found.stats.count == p.list.elements,
          "%#llx: %llu NaNs", static_cast<unsigned long long>(word),
          static_cast<unsigned long long>(found.stats.nans));
    step();
    CHECK(apply == MPNUM_GRAD_SKIP, "apply %u", apply);
    pass();
    CHECK(mpnum_grad_found_inf(&found), "the next pass");

    CHECK_LAUNCH(mpnum_launch_scratch_init(&p.workspace, nullptr));
    device = scaler;
    handle = mpnum_grad_optimizer_of(&scaler);
    pass();
    CHECK(!mpnum_grad_found_inf(&found), "zero again");
    p.workspace.blocks = word;
    clip(1e-3f);
    step();
    CHECK(apply == 2 * MPNUM_ERROR_NORM_UNKNOWN, "%#llx: apply %u after a clip",
          static_cast<unsigned long long>(word), apply);

    p.workspace = mpnum_grad_workspace();
    device = scaler;
    handle = mpnum_grad_optimizer_of(&scaler);
    pass();
    clip(1e-3f);
    step();
    CHECK(apply == MPNUM_GRAD_APPLY, "sound: apply %u", apply);
    CHECK(is_empty(p.workspace), "the workspace afterwards");
  }
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(count, arguments,
                   {
                       TEST(every_pair_of_types_is_passed_as_on_the_host),
                       TEST(misaligned_tensors_are_passed_as_on_the_host),
                       TEST(lists_of_any_sizes_and_places),
                       TEST(lists_of_nothing),
                       TEST(tensors_of_one_value_are_those_of_the_host),
                       TEST(many_small_tensors_are_one_launch),
                       TEST(long_tensors_are_those_of_the_host),
                       TEST(clips_are_those_of_the_host),
                       TEST(states_that_are_refused_are_told),
                       TEST(late_found_infs_are_told),
                       TEST(findings_of_ranks_are_merged),
                       TEST(findings_of_two_passes_are_clipped_by_their_own_norm),
                       TEST(a_workspace_that_is_not_zero_is_told),
                       TEST(plans_refuse_what_devices_cannot_take),
                       TEST(launchers_refuse_and_return_errors),
                   });
}
