/* SPDX-License-Identifier: MIT */
/* The launchers of mpnum/training/optimizer.cuh and adafactor.cuh against optimizer.h,
 * adafactor.h and scaler.h, byte for byte: random lists in two copies of their memory,
 * with what lies between tensors. Of a smaller build, TEST_TYPES, fewer lists. */
#define MPNUM_NO_SIMD 1 /* the host's loops that are the meaning of all others */

#include "simt_checks.hpp"

#include <mpnum/training/adafactor.cuh>
#include <mpnum/training/grad.cuh>
#include <mpnum/training/optimizer.cuh>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace {

#ifdef TEST_TYPES
constexpr unsigned lists = 40;
#else
constexpr unsigned lists = 400;
#endif
constexpr mpnum_type gradient_types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_BF16, MPNUM_TYPE_F16,
                                         MPNUM_TYPE_E5M2, MPNUM_TYPE_E4M3};
constexpr mpnum_type copy_types[] = {
    MPNUM_TYPE_BF16,     MPNUM_TYPE_F16,      MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2,
    MPNUM_TYPE_E5M2FNUZ, MPNUM_TYPE_E4M3FNUZ, MPNUM_TYPE_E3M4, MPNUM_TYPE_E3M2,
    MPNUM_TYPE_E2M3,     MPNUM_TYPE_E2M1};

std::size_t size_of(mpnum_type type) {
  return static_cast<std::size_t>(mpnum_type_bits_(type)) / 8;
}
template <class T> bool same(const T &a, const T &b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/* Tensors in memory of their own, and a copy of it all for the host. */
class problem {
public:
  explicit problem(unsigned seed) : random_(seed), made_(8) {
    const mpnum_optimizer_kind kinds[] = {MPNUM_OPTIMIZER_ADAMW, MPNUM_OPTIMIZER_ADAM,
                                          MPNUM_OPTIMIZER_SGD, MPNUM_OPTIMIZER_LION};
    optimizer = mpnum_optimizer_default(kinds[random_() % 4]);
    optimizer.seed = random_();
    if (optimizer.kind == MPNUM_OPTIMIZER_SGD && random_() % 3) optimizer.beta1 = 0.9;
    optimizer.nesterov = random_() % 2;
    optimizer.weight_decay = random_() % 2 ? 0.1 : 0;
    if (random_() % 4 == 0) optimizer.epsilon = 0; /* NaN past the end of a tensor */
    if (random_() % 4 == 0) optimizer.rounding = MPNUM_ROUND_NEAREST_EVEN;
  }
  void add(std::size_t n) {
    mpnum_optimizer_tensor t = tensor_of_any_types(n);
    place p = parameter_of(t);
    if (random_() % 2) t.moment_type = random_() % 2 ? MPNUM_TYPE_BF16 : MPNUM_TYPE_E4M3;
    p.moment1 = reserve(t.moment_type, n, 1.0f);
    p.moment2 = reserve(t.moment_type, n, 0.0f);
    if (t.moment_type == MPNUM_TYPE_E4M3) {
      p.scales1 = reserve_scales(n);
      p.scales2 = reserve_scales(n);
    }
    tensors_.push_back(t);
    places_.push_back(p);
  }
  /* Of types and places that kernels take whole tiles of by vectors. size: of gradients,
   * and of moments and parameters what follows from it. */
  void add_usual(unsigned which, std::size_t n, float size) {
    const mpnum_type narrow = MPNUM_TYPE_BF16, f32 = MPNUM_TYPE_F32;
    mpnum_optimizer_tensor t = mpnum_optimizer_tensor_of(n, which ? narrow : f32, nullptr,
                                                         which >= 2 ? narrow : f32,
                                                         nullptr, f32, nullptr, nullptr);
    place p;
    is_aligned_ = true;
    t.moment_type = which < 2 ? f32 : which == 2 ? narrow : MPNUM_TYPE_E4M3;
    t.copy_type = narrow;
    t.first = random_() & ~3u;
    p.gradient = reserve(t.gradient_type, n, size);
    const float sizes[] = {100.0f, size, 0x1p120f}; /* the last ones up to the largest */
    p.parameter = reserve(t.parameter_type, n, sizes[random_() % 3]);
    p.moment1 = reserve(t.moment_type, n, which == 3 ? 1.0f : size);
    p.moment2 = reserve(t.moment_type, n, 0.0f);
    if (which == 1) p.copy = reserve(narrow, n, 0.0f);
    if (which == 3) {
      p.scales1 = reserve_scales(n);
      p.scales2 = reserve_scales(n);
    }
    is_aligned_ = false;
    tensors_.push_back(t);
    places_.push_back(p);
  }
  /* For Adafactor: averages of rows and columns, or of a vector where rows is 0. */
  void add_matrix(std::size_t rows, std::size_t columns) {
    mpnum_optimizer_tensor t = tensor_of_any_types(columns * (rows ? rows : 1));
    place p = parameter_of(t);
    t.columns = rows ? columns : 0;
    p.moment1 = reserve(MPNUM_TYPE_F32, rows ? rows : 1, 0.0f);
    p.moment2 = reserve(MPNUM_TYPE_F32, columns, 0.0f);
    tensors_.push_back(t);
    places_.push_back(p);
  }
  /* Both copies as they were filled. */
  void copy() {
    host = made_;
    device = made_;
    host_losses.resize(tensors_.size());
    device_losses.resize(tensors_.size());
    on_host = with_addresses(host, host_losses);
    on_device = with_addresses(device, device_losses);
  }
  /* And planned. */
  void begin() {
    copy();
    tiles_before.assign(tensors_.size() + 1, ~0ull);
    const mpnum_status status = mpnum_optimizer_plan(
        &list, reinterpret_cast<std::uint64_t *>(tiles_before.data()), &optimizer,
        on_device.data(), on_device.size());
    CHECK(status == MPNUM_OK, "a plan: %s", mpnum_status_string(status));
    list.tensors = on_device.data();
    list.tiles_before = reinterpret_cast<std::uint64_t *>(tiles_before.data());
  }
  bool is_same() {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const mpnum_quantize_losses &a = host_losses[i], &b = device_losses[i];
      if (a.saturated != b.saturated || a.underflowed != b.underflowed ||
          a.nonfinite != b.nonfinite || mpnum_bits_f32(a.amax) != mpnum_bits_f32(b.amax))
        return false;
    }
    return std::memcmp(host.data(), device.data(), host.size() * sizeof host[0]) == 0;
  }

  mpnum_optimizer optimizer;
  vector<std::uint64_t> host, device;
  vector<mpnum_quantize_losses> host_losses, device_losses;
  vector<mpnum_optimizer_tensor> on_host, on_device;
  vector<unsigned long long> tiles_before;
  mpnum_optimizer_list list = mpnum_optimizer_list();
  bool has_specials = true; /* numbers of any size, Inf and NaN */

private:
  static constexpr std::size_t nothing = ~static_cast<std::size_t>(0);
  struct place {
    std::size_t gradient = nothing, parameter = nothing, remainder = nothing,
                moment1 = nothing, moment2 = nothing, copy = nothing, scales1 = nothing,
                scales2 = nothing;
    bool has_losses = false;
  };

  mpnum_optimizer_tensor tensor_of_any_types(std::size_t n) {
    const bool is_nearest = optimizer.rounding == MPNUM_ROUND_NEAREST_EVEN;
    mpnum_optimizer_tensor t = mpnum_optimizer_tensor_of(
        n, gradient_types[random_() % 5], nullptr, MPNUM_TYPE_F32, nullptr,
        MPNUM_TYPE_F32, nullptr, nullptr);
    if (random_() % 2)
      t.parameter_type = random_() % 2 && !is_nearest ? MPNUM_TYPE_F16 : MPNUM_TYPE_BF16;
    t.copy_type = copy_types[random_() % 10];
    t.first = random_() % 2 ? random_() : random_() & ~3u;
    if (size_of(t.copy_type) == 1) t.copy_scale = random_() % 2 ? 3.5f : 0x1p-6f;
    return t;
  }
  place parameter_of(const mpnum_optimizer_tensor &t) {
    const bool is_nearest = optimizer.rounding == MPNUM_ROUND_NEAREST_EVEN;
    place p;
    p.gradient = reserve(t.gradient_type, t.n, 3.0f);
    p.parameter = reserve(t.parameter_type, t.n, 100.0f);
    if (t.parameter_type != MPNUM_TYPE_F32 && (is_nearest || random_() % 2))
      p.remainder = reserve(t.parameter_type, t.n, 0.1f);
    if (random_() % 2) p.copy = reserve(t.copy_type, t.n, 0.0f);
    p.has_losses = random_() % 2 && size_of(t.copy_type) == 1;
    return p;
  }

  /* A place in bytes, with a guard before it, misaligned by some elements, and filled;
   * size 0: with what is not below 0. */
  std::size_t reserve(mpnum_type type, std::size_t n, float size) {
    const std::size_t offset = random_() % 2 || is_aligned_ ? 0 : random_() % 5;
    const std::size_t from = made_.size() * 8 + 32 + offset * size_of(type);
    made_.resize((from + n * size_of(type) + 63) / 32 * 4, 0xb5b5b5b5b5b5b5b5u);
    unsigned char *to = reinterpret_cast<unsigned char *>(made_.data()) + from;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t bits = static_cast<std::uint32_t>(random_());
      float x = std::exp2(static_cast<float>(bits >> 8 & 0xfff) / 256.0f - 8);
      x *= size == 0 ? 1 : bits & 1 ? size : -size;
      if (has_specials && bits % 64 == 3) x = mpnum_from_bits_f32(bits & 0x7fffffffu);
      const std::uint32_t code = mpnum_encode(
          mpnum_format_of(type), x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
      std::memcpy(to + i * size_of(type), &code, size_of(type));
    }
    return from;
  }
  /* Scales of moments of 8 bits, from 2^-127 on, of which one in eight is 0. */
  std::size_t reserve_scales(std::size_t n) {
    const std::size_t count = (n + MPNUM_OPTIMIZER_BLOCK - 1) / MPNUM_OPTIMIZER_BLOCK;
    const std::size_t from = reserve(MPNUM_TYPE_E8M0, count, 1.0f);
    unsigned char *to = reinterpret_cast<unsigned char *>(made_.data()) + from;
    for (std::size_t i = 0; i < count; ++i)
      to[i] = static_cast<unsigned char>(random_() % 8 ? 100 + random_() % 50 : 0);
    return from;
  }
  vector<mpnum_optimizer_tensor>
  with_addresses(vector<std::uint64_t> &memory,
                 vector<mpnum_quantize_losses> &losses) const {
    vector<mpnum_optimizer_tensor> tensors;
    unsigned char *base = reinterpret_cast<unsigned char *>(memory.data());
    const auto at = [base](std::size_t from) {
      return from == nothing ? nullptr : base + from;
    };
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      mpnum_optimizer_tensor t = tensors_[i];
      t.gradient = at(places_[i].gradient);
      t.parameter = at(places_[i].parameter);
      t.remainder = at(places_[i].remainder);
      t.moment1 = at(places_[i].moment1);
      t.moment2 = at(places_[i].moment2);
      t.copy = at(places_[i].copy);
      t.moment1_scales = reinterpret_cast<mpnum_e8m0 *>(at(places_[i].scales1));
      t.moment2_scales = reinterpret_cast<mpnum_e8m0 *>(at(places_[i].scales2));
      if (places_[i].has_losses) t.losses = losses.data() + i;
      tensors.push_back(t);
    }
    return tensors;
  }

  bool is_aligned_ = false;
  std::mt19937_64 random_;
  vector<std::uint64_t> made_;
  std::vector<mpnum_optimizer_tensor> tensors_;
  std::vector<place> places_;
};

void steps_of_random_lists_are_those_of_the_host(void) {
  const std::size_t sizes[] = {0, 1, 2, 3, 4, 5, 63, 100, 1023, 1024, 1025, 2050, 3100};
  for (unsigned seed = 1; seed <= lists; ++seed) {
    std::mt19937 random(seed);
    problem p(seed);
    for (unsigned long k = random() % 5; k != 0; --k)
      p.add(sizes[random() % 13]);
    p.begin();
    mpnum_optimizer_progress &progress = placed(mpnum_optimizer_progress());
    float &multiplier = placed(0x1p-3f);
    double &rate = placed(0.5);
    std::uint32_t &apply = placed<std::uint32_t>(MPNUM_GRAD_APPLY);
    std::uint64_t steps = random() % 3 * 1000;
    progress.steps = steps;
    simt::use(simt::schedules[seed % 6]);
    for (unsigned turn = 0; turn < 3; ++turn) {
      const bool is_applied = random() % 4 != 0, has_rate = random() % 2;
      const bool is_plain = random() % 4 == 0;
      mpnum_optimizer on_host = p.optimizer;
      if (has_rate) on_host.learning_rate = rate;
      apply = is_applied ? MPNUM_GRAD_APPLY : random() % 2 ? MPNUM_GRAD_SKIP : 8;
      const mpnum_status status = mpnum_optimizer_step(
          &on_host, p.on_host.data(), p.on_host.size(), steps + 1,
          is_plain ? 1.0f : multiplier,
          is_plain || is_applied ? MPNUM_GRAD_APPLY : MPNUM_GRAD_SKIP);
      CHECK(status == MPNUM_OK, "%u: %s", seed, mpnum_status_string(status));
      steps += is_plain || is_applied;
      CHECK_LAUNCH(mpnum_launch_optimizer_step(
          &p.optimizer, p.list, &progress, has_rate ? &rate : nullptr,
          is_plain ? nullptr : &multiplier, is_plain ? nullptr : &apply, nullptr));
      CHECK(p.is_same(), "list %u, step %u: kind %d", seed, turn, p.optimizer.kind);
      CHECK(progress.steps == steps && progress.status == MPNUM_OK, "%u: progress", seed);
    }
  }
}

/* Sizes at which roots, quotients and roundings leave what whole tiles take, too. */
void whole_tiles_of_adam_are_those_of_the_host(void) {
  const std::size_t sizes[] = {1024, 2050, 3072};
  const float of_gradients[] = {1,        0x1p-50f, 0x1p-62f,   0x1p50f,
                                0x1p-20f, 0x1p20f,  0x1.fep119f};
  for (unsigned seed = 1; seed <= lists / 5; ++seed) {
    problem p(seed);
    const mpnum_optimizer_kind kind =
        seed / 4 % 2 ? MPNUM_OPTIMIZER_ADAM : MPNUM_OPTIMIZER_ADAMW;
    const std::int32_t rounding = p.optimizer.rounding;
    p.optimizer = mpnum_optimizer_default(kind);
    p.optimizer.seed = seed * 0x9e3779b97f4a7c15u;
    p.optimizer.rounding = rounding;
    if (seed % 4 >= 2) p.optimizer.rounding = MPNUM_ROUND_STOCHASTIC;
    p.optimizer.weight_decay = seed / 8 % 2 ? 0.1 : 0;
    if (seed / 16 % 2) p.optimizer.epsilon = 0;
    p.has_specials = seed % 3 == 0;
    p.add_usual(seed % 4, sizes[seed / 4 % 3], of_gradients[seed % 7]);
    p.begin();
    mpnum_optimizer_progress &progress = placed(mpnum_optimizer_progress());
    simt::use(simt::schedules[seed % 6]);
    for (unsigned turn = 1; turn <= 3; ++turn) {
      const mpnum_status status = mpnum_optimizer_step(
          &p.optimizer, p.on_host.data(), p.on_host.size(), turn, 1.0f, MPNUM_GRAD_APPLY);
      CHECK(status == MPNUM_OK, "%u: %s", seed, mpnum_status_string(status));
      CHECK_LAUNCH(mpnum_launch_optimizer_step(&p.optimizer, p.list, &progress, nullptr,
                                               nullptr, nullptr, nullptr));
      CHECK(p.is_same(), "tensor %u, step %u: other bytes", seed, turn);
    }
  }
}

/* Of Adafactor: matrices that end within a tile, 64 rows, four elements, and vectors. */
const struct {
  std::size_t rows, columns;
} shapes[] = {{1, 1},    {0, 1100}, {70, 3}, {130, 65}, {3, 1024}, {65, 1030},
              {2, 2050}, {64, 64},  {0, 7},  {5, 0},    {200, 1}};
mpnum_adafactor drawn_adafactor(std::mt19937 &random, const mpnum_optimizer &optimizer) {
  mpnum_adafactor made = mpnum_adafactor_default();
  made.seed = optimizer.seed;
  made.rounding = optimizer.rounding;
  made.weight_decay = optimizer.weight_decay;
  made.is_relative = random() % 2;
  made.is_scaled = random() % 2;
  if (random() % 3 == 0) made.clip = HUGE_VAL;
  if (random() % 3 == 0) made.clip = 0x1p-3;
  if (random() % 4 == 0) made.epsilon2 = 1000; /* above all sizes of parameters */
  return made;
}
void steps_of_adafactor_are_those_of_the_host(void) {
  for (unsigned seed = 1; seed <= lists / 4; ++seed) {
    std::mt19937 random(seed);
    problem p(seed);
    p.has_specials = seed % 8 == 0;
    for (unsigned long k = random() % 3 + 1; k != 0; --k) {
      const auto &shape = shapes[random() % (sizeof shapes / sizeof shapes[0])];
      p.add_matrix(shape.rows, shape.columns);
    }
    if (seed == 3) p.add_matrix(2500, 2); /* more rows than blocks have threads */
    p.copy();
    const mpnum_adafactor adafactor = drawn_adafactor(random, p.optimizer);
    const std::vector<mpnum_optimizer_tensor> tensors(p.on_device.begin(),
                                                      p.on_device.end());
    vector<std::uint64_t> workspace(
        mpnum_launch_adafactor_bytes(tensors.data(), tensors.size()) / 8 + 1,
        random() % 2 ? ~0ull : 0);
    mpnum_optimizer_progress &progress = placed(mpnum_optimizer_progress());
    float &multiplier = placed(0x1p-3f);
    double &rate = placed(0.5);
    std::uint32_t &apply = placed<std::uint32_t>(MPNUM_GRAD_APPLY);
    std::uint64_t steps = random() % 3 * 1000;
    progress.steps = steps;
    simt::use(simt::schedules[seed % 6]);
    for (unsigned turn = 0; turn < 2; ++turn) {
      const bool is_applied = random() % 4 != 0, has_rate = random() % 2;
      mpnum_adafactor on_host = adafactor;
      if (has_rate) on_host.learning_rate = rate;
      apply = is_applied ? MPNUM_GRAD_APPLY : MPNUM_GRAD_SKIP;
      const mpnum_status status = mpnum_adafactor_step(
          &on_host, p.on_host.data(), p.on_host.size(), steps + 1, multiplier,
          is_applied ? MPNUM_GRAD_APPLY : MPNUM_GRAD_SKIP);
      CHECK(status == MPNUM_OK, "%u: %s", seed, mpnum_status_string(status));
      steps += is_applied;
      CHECK_LAUNCH(mpnum_launch_adafactor_step(
          &adafactor, tensors.data(), tensors.size(), &progress,
          has_rate ? &rate : nullptr, &multiplier, &apply, workspace.data(), nullptr));
      CHECK(p.is_same(), "matrices %u, step %u: other bytes", seed, turn);
      CHECK(progress.steps == steps && progress.status == MPNUM_OK, "%u: progress", seed);
    }
  }
}

/* In device memory, where no host can look first: nothing but the status is written. */
void what_is_refused_on_the_device_writes_nothing(void) {
  problem p(3);
  p.add(2000);
  p.begin();
  mpnum_optimizer_progress &progress = placed(mpnum_optimizer_progress());
  float &multiplier = placed(mpnum_from_bits_f32(0x7fffffffu));
  double &rate = placed(-1.0);
  CHECK_LAUNCH(mpnum_launch_optimizer_step(&p.optimizer, p.list, &progress, nullptr,
                                           &multiplier, nullptr, nullptr));
  CHECK(progress.status == MPNUM_ERROR_ARGUMENT && progress.steps == 0 && p.is_same(),
        "a multiplier of NaN: %s", mpnum_status_string(progress.status));
  for (double bad : {-1.0, 1e39, std::nan("")}) {
    rate = bad;
    CHECK_LAUNCH(mpnum_launch_optimizer_step(&p.optimizer, p.list, &progress, &rate,
                                             nullptr, nullptr, nullptr));
    CHECK(progress.status == MPNUM_ERROR_ARGUMENT && progress.steps == 0 && p.is_same(),
          "a rate of %g: %s", bad, mpnum_status_string(progress.status));
  }
}
#define REFUSED(...) \
 CHECK(LAUNCHED(__VA_ARGS__) == cudaErrorInvalidValue, "not refused: %s", #__VA_ARGS__)
void what_is_refused_on_the_host_launches_nothing(void) {
  problem p(3);
  p.add(10);
  p.begin();
  mpnum_optimizer_progress &progress = placed(mpnum_optimizer_progress());
  mpnum_optimizer other = p.optimizer;
  mpnum_optimizer_list list = p.list;
  REFUSED(mpnum_launch_optimizer_step(nullptr, p.list, &progress, nullptr, nullptr,
                                      nullptr, nullptr));
  REFUSED(mpnum_launch_optimizer_step(&other, p.list, nullptr, nullptr, nullptr, nullptr,
                                      nullptr));
  other.learning_rate = -1;
  REFUSED(mpnum_launch_optimizer_step(&other, p.list, &progress, nullptr, nullptr,
                                      nullptr, nullptr));
  other = p.optimizer;
  other.rounding = other.rounding == MPNUM_ROUND_STOCHASTIC ? MPNUM_ROUND_NEAREST_EVEN
                                                            : MPNUM_ROUND_STOCHASTIC;
  REFUSED(mpnum_launch_optimizer_step(&other, p.list, &progress, nullptr, nullptr,
                                      nullptr, nullptr));
  other = mpnum_optimizer_default(p.optimizer.kind == MPNUM_OPTIMIZER_LION
                                      ? MPNUM_OPTIMIZER_ADAM
                                      : MPNUM_OPTIMIZER_LION);
  other.rounding = p.optimizer.rounding;
  REFUSED(mpnum_launch_optimizer_step(&other, p.list, &progress, nullptr, nullptr,
                                      nullptr, nullptr));
  list.tensors = nullptr;
  REFUSED(mpnum_launch_optimizer_step(&p.optimizer, list, &progress, nullptr, nullptr,
                                      nullptr, nullptr));
}
/* The sum of squares is 1 + 2^-11 + 2^-24, a tie of floats, and four times 2^-54, of
 * which none counts alone, nor two of one lane: those of lanes 1 and 3 do together. */
void squares_of_a_row_are_added_in_64_lanes(void) {
  mpnum_adafactor how = mpnum_adafactor_default();
  vector<float> gradient(128), parameter(128), columns(128), row(1);
  mpnum_optimizer_tensor t = mpnum_optimizer_tensor_of(
      128, MPNUM_TYPE_F32, gradient.data(), MPNUM_TYPE_F32, parameter.data(),
      MPNUM_TYPE_F32, row.data(), columns.data());
  vector<std::uint64_t> workspace(mpnum_launch_adafactor_bytes(&t, 1) / 8 + 1);
  mpnum_optimizer_progress &progress = placed(mpnum_optimizer_progress());
  how.epsilon1 = 0;
  gradient[0] = 1 + 0x1p-12f;
  gradient[1] = gradient[3] = gradient[65] = gradient[67] = 0x1p-27f;
  CHECK_LAUNCH(mpnum_launch_adafactor_step(&how, &t, 1, &progress, nullptr, nullptr,
                                           nullptr, workspace.data(), nullptr));
  CHECK(row[0] == (1 + 0x1p-11f + 0x1p-23f) / 128, "the average of the row: %a",
        static_cast<double>(row[0]));
}
void what_adafactor_refuses_writes_nothing(void) {
  problem p(3);
  p.optimizer.rounding = MPNUM_ROUND_STOCHASTIC;
  p.add_matrix(70, 10);
  p.copy();
  mpnum_optimizer_progress &progress = placed(mpnum_optimizer_progress());
  float &multiplier = placed(mpnum_from_bits_f32(0x7fffffffu));
  double &rate = placed(-1.0);
  mpnum_optimizer_tensor t = p.on_device[0];
  mpnum_adafactor how = mpnum_adafactor_default();
  vector<std::uint64_t> workspace(mpnum_launch_adafactor_bytes(&t, 1) / 8 + 3);
  void *const room = workspace.data();
  CHECK_LAUNCH(mpnum_launch_adafactor_step(&how, &t, 1, &progress, nullptr, &multiplier,
                                           nullptr, room, nullptr));
  CHECK(progress.status == MPNUM_ERROR_ARGUMENT && progress.steps == 0 && p.is_same(),
        "a multiplier of NaN: %s", mpnum_status_string(progress.status));
  CHECK_LAUNCH(mpnum_launch_adafactor_step(&how, &t, 1, &progress, &rate, nullptr,
                                           nullptr, room, nullptr));
  CHECK(progress.status == MPNUM_ERROR_ARGUMENT && progress.steps == 0 && p.is_same(),
        "a rate below 0: %s", mpnum_status_string(progress.status));
  const auto launch = [&](const mpnum_adafactor *by, mpnum_optimizer_progress *to,
                          void *in) {
    return LAUNCHED(mpnum_launch_adafactor_step(by, &t, 1, to, nullptr, nullptr, nullptr,
                                                in, nullptr));
  };
  CHECK(launch(nullptr, &progress, room) == cudaErrorInvalidValue, "no options");
  CHECK(launch(&how, nullptr, room) == cudaErrorInvalidValue, "no progress");
  CHECK(launch(&how, &progress, nullptr) == cudaErrorInvalidValue, "no workspace");
  CHECK(launch(&how, &progress, workspace.data() + 1) == cudaErrorInvalidValue ||
            launch(&how, &progress, workspace.data() + 2) == cudaErrorInvalidValue,
        "a misaligned workspace");
  how.clip = 0;
  CHECK(launch(&how, &progress, room) == cudaErrorInvalidValue, "a clip of 0");
  how.clip = 1;
  t.columns = 3;
  CHECK(launch(&how, &progress, room) == cudaErrorInvalidValue, "no matrix");
  t.columns = 10;
  t.moment1 = static_cast<char *>(t.moment1) + 1;
  CHECK(launch(&how, &progress, room) == cudaErrorInvalidValue, "misaligned averages");
  t.moment1 = static_cast<char *>(t.moment1) - 1;
  t.n = 0;
  CHECK(mpnum_launch_adafactor_bytes(&t, 1) == mpnum_launch_adafactor_bytes(nullptr, 0),
        "bytes of no elements");
  t.n = 100;
  t.moment1 = t.moment2;
  CHECK(launch(&how, &progress, room) == cudaErrorInvalidValue, "averages that overlap");
}
void plans_refuse_what_steps_refuse_and_misaligned_arrays(void) {
  const mpnum_optimizer adamw = mpnum_optimizer_default(MPNUM_OPTIMIZER_ADAMW);
  std::vector<float> memory(64);
  unsigned char *bytes = reinterpret_cast<unsigned char *>(memory.data());
  mpnum_optimizer_list list = mpnum_optimizer_list();
  std::uint64_t before[2] = {7, 7};
  mpnum_optimizer_tensor t =
      mpnum_optimizer_tensor_of(8, MPNUM_TYPE_F32, bytes, MPNUM_TYPE_F32, bytes + 32,
                                MPNUM_TYPE_F32, bytes + 64, bytes + 96);
  const auto refused = [&](mpnum_status want, const char *what) {
    const mpnum_status got = mpnum_optimizer_plan(&list, before, &adamw, &t, 1);
    CHECK(got == want, "%s: %s", what, mpnum_status_string(got));
    CHECK(before[0] == 7 && before[1] == 7 && same(list, mpnum_optimizer_list()),
          "%s: something was written", what);
  };
  t.parameter_type = MPNUM_TYPE_E4M3;
  refused(MPNUM_ERROR_TYPE, "parameters of e4m3");
  t.parameter_type = MPNUM_TYPE_F32;
  t.moment_type = MPNUM_TYPE_E4M3;
  t.moment1_scales = reinterpret_cast<mpnum_e8m0 *>(bytes + 128);
  refused(MPNUM_ERROR_NULL, "second moments of 8 bits without scales");
  t.moment_type = MPNUM_TYPE_F32;
  t.moment2 = bytes + 64;
  refused(MPNUM_ERROR_OVERLAP, "moments that overlap");
  t.moment2 = bytes + 97;
  refused(MPNUM_ERROR_ARGUMENT, "a misaligned moment");
  t.moment2 = bytes + 96;
  t.losses = reinterpret_cast<mpnum_quantize_losses *>(bytes + 132);
  t.copy_type = MPNUM_TYPE_E4M3;
  t.copy = bytes + 168;
  refused(MPNUM_ERROR_ARGUMENT, "misaligned losses");
  t.losses = nullptr;
  t.copy = nullptr;
  t.n = static_cast<std::size_t>(1) << 52;
  t.gradient = reinterpret_cast<void *>(static_cast<std::size_t>(1) << 60);
  t.parameter = reinterpret_cast<void *>(static_cast<std::size_t>(2) << 60);
  t.moment1 = reinterpret_cast<void *>(static_cast<std::size_t>(3) << 60);
  t.moment2 = reinterpret_cast<void *>(static_cast<std::size_t>(4) << 60);
  refused(MPNUM_ERROR_ARGUMENT, "2^52 elements");
}

/* A whole iteration as in the header's example, and the host's. */
void check_iteration(float size, float max_norm, bool is_enabled, const char *what) {
  constexpr std::size_t n = 3000;
  vector<float> gradient(n), parameter(n, 0.5f), moment1(n), moment2(n);
  std::vector<float> p(n, 0.5f), m(n), v(n);
  std::mt19937 random(9);
  for (float &g : gradient)
    g = (static_cast<float>(random() % 2001) - 1000) * size;
  mpnum_grad_scaler host;
  mpnum_grad_scaler_config config = mpnum_grad_scaler_default();
  config.init_scale = 1024;
  config.enabled = is_enabled;
  CHECK(mpnum_grad_scaler_init(&host, config) == MPNUM_OK, "a scaler");
  mpnum_grad_scaler &scaler = placed(host);
  mpnum_grad_optimizer host_handle = mpnum_grad_optimizer_of(&host);
  mpnum_grad_optimizer &handle = placed(host_handle);
  mpnum_grad_findings &findings = placed<mpnum_grad_findings>();
  mpnum_grad_workspace &workspace = placed(mpnum_grad_workspace());
  mpnum_optimizer_progress &progress = placed(mpnum_optimizer_progress());
  std::memset(static_cast<void *>(&workspace), 0xa5, sizeof workspace);
  std::memset(static_cast<void *>(&progress), 0xa5, sizeof progress);
  CHECK_LAUNCH(mpnum_launch_scratch_init(&workspace, nullptr));
  CHECK_LAUNCH(mpnum_launch_scratch_init(&progress, nullptr));
  const mpnum_grad_findings &nothing = placed(mpnum_grad_findings_empty());
  float &multiplier = placed(0.0f);
  std::uint32_t &apply = placed<std::uint32_t>(77);
  const mpnum_optimizer adamw = mpnum_optimizer_default(MPNUM_OPTIMIZER_ADAMW);
  vector<mpnum_grad_tensor> read(1, mpnum_grad_tensor_of(MPNUM_TYPE_F32, gradient.data(),
                                                         n, MPNUM_TYPE_F32, nullptr));
  vector<mpnum_optimizer_tensor> tensors(
      1, mpnum_optimizer_tensor_of(n, MPNUM_TYPE_F32, gradient.data(), MPNUM_TYPE_F32,
                                   parameter.data(), MPNUM_TYPE_F32, moment1.data(),
                                   moment2.data()));
  const mpnum_optimizer_tensor on_host =
      mpnum_optimizer_tensor_of(n, MPNUM_TYPE_F32, gradient.data(), MPNUM_TYPE_F32,
                                p.data(), MPNUM_TYPE_F32, m.data(), v.data());
  vector<unsigned long long> words(4);
  std::uint64_t *before = reinterpret_cast<std::uint64_t *>(words.data());
  mpnum_grad_list gradients = mpnum_grad_list();
  mpnum_optimizer_list list = mpnum_optimizer_list();
  CHECK(mpnum_grad_plan(&gradients, before, read.data(), 1, 0) == MPNUM_OK &&
            mpnum_optimizer_plan(&list, before + 2, &adamw, tensors.data(), 1) ==
                MPNUM_OK,
        "plans");
  gradients.tensors = read.data();
  gradients.tiles_before = before;
  list.tensors = tensors.data();
  list.tiles_before = before + 2;
  std::uint64_t steps = 0;
  for (int turn = 0; turn < 3; ++turn) {
    mpnum_grad_findings expected;
    mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
    float factor = 0;
    if (turn == 1) gradient[77] = mpnum_from_bits_f32(0x7f800000u);
    if (turn == 2) gradient[77] = size;
    mpnum_status status =
        mpnum_grad_scaler_check(&host, &host_handle, read.data(), 1, &expected);
    if (status == MPNUM_OK)
      status = mpnum_grad_scaler_multiplier(&host, &host_handle, max_norm, &factor);
    if (status == MPNUM_OK)
      status = mpnum_grad_scaler_step(&host, &host_handle, &verdict);
    if (status == MPNUM_OK)
      status = mpnum_optimizer_step(&adamw, &on_host, 1, steps + 1, factor, verdict);
    if (status == MPNUM_OK) status = mpnum_grad_scaler_update(&host, &host_handle);
    steps += status == MPNUM_OK && verdict == MPNUM_GRAD_APPLY;
    const bool is_refused = status != MPNUM_OK;
    CHECK_LAUNCH(
        mpnum_launch_grad_pass(&findings, gradients, &scaler, &workspace, nullptr));
    if (turn == 1) { /* of other gradients, which no step has taken */
      CHECK_LAUNCH(mpnum_launch_grad_multiplier(&multiplier, &handle, &scaler, &nothing,
                                                max_norm, nullptr));
    }
    CHECK_LAUNCH(mpnum_launch_grad_multiplier(&multiplier, &handle, &scaler, &findings,
                                              max_norm, nullptr));
    CHECK_LAUNCH(mpnum_launch_grad_step(&scaler, &handle, &findings, &apply, nullptr));
    CHECK_LAUNCH(mpnum_launch_optimizer_step(&adamw, list, &progress, nullptr,
                                             &multiplier, &apply, nullptr));
    CHECK(std::memcmp(p.data(), parameter.data(), 4 * n) == 0 &&
              std::memcmp(m.data(), moment1.data(), 4 * n) == 0 &&
              std::memcmp(v.data(), moment2.data(), 4 * n) == 0,
          "%s, %d: other bytes", what, turn);
    CHECK(progress.steps == steps, "%s, %d: %llu steps, not %llu", what, turn,
          static_cast<unsigned long long>(progress.steps),
          static_cast<unsigned long long>(steps));
    if (is_refused) {
      CHECK(mpnum_isnan_f32(multiplier) && progress.status == MPNUM_ERROR_ARGUMENT,
            "%s, %d: refused by the host alone", what, turn);
      CHECK(apply == 2 * MPNUM_ERROR_NORM_UNKNOWN && scaler.applied == 0,
            "%s, %d: the step was not refused: %u", what, turn, apply);
      return;
    }
    CHECK(same(host, scaler) && same(host_handle, handle), "%s, %d: scaler and handle",
          what, turn);
    CHECK(mpnum_bits_f32(factor) == mpnum_bits_f32(multiplier), "%s, %d: multiplier %a",
          what, turn, static_cast<double>(multiplier));
  }
}
void an_iteration_is_the_hosts(void) {
  const float infinity = mpnum_from_bits_f32(0x7f800000u);
  for (bool is_enabled : {true, false}) {
    check_iteration(1e-3f, 1.0f, is_enabled, "gradients within the bound");
    check_iteration(100.0f, 1.0f, is_enabled, "gradients that are clipped");
    check_iteration(100.0f, infinity, is_enabled, "no bound");
    check_iteration(1e30f, 1e-30f, is_enabled, "a product below 2^-126");
  }
  float &multiplier = placed(0.0f);
  mpnum_grad_optimizer &handle = placed(mpnum_grad_optimizer());
  mpnum_grad_scaler &scaler = placed(mpnum_grad_scaler());
  mpnum_grad_findings &findings = placed(mpnum_grad_findings());
  REFUSED(
      mpnum_launch_grad_multiplier<>(nullptr, &handle, &scaler, &findings, 1, nullptr));
  REFUSED(mpnum_launch_grad_multiplier<>(&multiplier, nullptr, &scaler, &findings, 1,
                                         nullptr));
  REFUSED(mpnum_launch_grad_multiplier<>(&multiplier, &handle, nullptr, &findings, 1,
                                         nullptr));
  REFUSED(
      mpnum_launch_grad_multiplier<>(&multiplier, &handle, &scaler, nullptr, 1, nullptr));
  REFUSED(mpnum_launch_grad_multiplier<>(&multiplier, &handle, &scaler, &findings, 0,
                                         nullptr));
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(count, arguments,
                   {TEST(steps_of_random_lists_are_those_of_the_host),
                    TEST(whole_tiles_of_adam_are_those_of_the_host),
                    TEST(steps_of_adafactor_are_those_of_the_host),
                    TEST(squares_of_a_row_are_added_in_64_lanes),
                    TEST(what_adafactor_refuses_writes_nothing),
                    TEST(what_is_refused_on_the_device_writes_nothing),
                    TEST(what_is_refused_on_the_host_launches_nothing),
                    TEST(plans_refuse_what_steps_refuse_and_misaligned_arrays),
                    TEST(an_iteration_is_the_hosts)});
}
