/* SPDX-License-Identifier: MIT */
/* mpnum/cuda/block.cuh and device.cuh: reductions of a warp and of a block, totals and
 * findings, probes, vector loads and stores, atomics, in every order of threads and with
 * both poisons, against plain loops. TEST_DEVICE_ARCH=800 takes the reduction
 * instructions in place of shuffles. */
#define MPNUM_NO_SIMD 1 /* the host's loops that are the meaning of all others */
#include "launch.hpp"

#include <mpnum/mpnum.h>
#ifdef TEST_DEVICE_ARCH
# undef MPNUM_DEVICE_ARCH_
# define MPNUM_DEVICE_ARCH_ TEST_DEVICE_ARCH
#endif
#include <mpnum/cuda/block.cuh>
#include <mpnum/training/probe.h>

#include "simt_checks.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using simt::launch;

namespace {

const float infinity = std::numeric_limits<float>::infinity();
const float canonical_nan = mpnum_from_bits_f32(0x7fffffff);
const float nan_with_payload = mpnum_from_bits_f32(0xffa00001);

/* Values of many magnitudes, of which sums round, and a few equal ones. */
vector<float> random_values(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  vector<float> values(n);
  for (float &x : values)
    x = std::ldexp(static_cast<float>(random() % 4001) - 2000,
                   static_cast<int>(random() % 60) - 30);
  return values;
}

/* What the functions promise, by plain loops. */

float canonical(float x) { return std::isnan(x) ? canonical_nan : x; }
double canonical(double x) {
  return std::isnan(x) ? mpnum_from_bits_f64(0x7fffffffffffffffu) : x;
}
template <class T> T sum_of_warp(const T *values) {
  T lanes[32], next[32];
  std::copy(values, values + 32, lanes);
  for (int apart : {16, 8, 4, 2, 1}) {
    for (int i = 0; i < 32; ++i)
      next[i] = lanes[i] + lanes[i ^ apart];
    std::copy(next, next + 32, lanes);
  }
  return canonical(lanes[0]);
}
template <class T> T sum_of_block(const T *values, unsigned n) {
  T warps[32];
  std::fill(warps, warps + 32, T(-0.0f));
  for (unsigned i = 0; i < n / 32; ++i)
    warps[i] = sum_of_warp(values + 32 * i);
  return sum_of_warp(warps);
}
float max_of(const float *values, unsigned n) {
  float most = -infinity;
  for (unsigned i = 0; i < n; ++i) {
    if (std::isnan(values[i])) return canonical_nan;
    if (values[i] > most || (values[i] == most && !std::signbit(values[i])))
      most = values[i];
  }
  return most;
}
float amax_of(const float *values, unsigned n) {
  float most = 0;
  for (unsigned i = 0; i < n; ++i) {
    if (std::isnan(values[i])) return canonical_nan;
    most = std::max(most, std::fabs(values[i]));
  }
  return most;
}

/* The thread; sum and largest of words; all finite, sum, max and amax of floats. */
struct results {
  std::uint32_t at[7];
};

results results_of(const float *values, unsigned n, bool is_warp) {
  std::uint32_t sum = 0, most = 0, all_finite = 1;
  for (unsigned i = 0; i < n; ++i) {
    const std::uint32_t word = mpnum_bits_f32(values[i]);
    sum += word;
    most = std::max(most, word);
    all_finite &= std::isfinite(values[i]);
  }
  return {{0, sum, most, all_finite,
           mpnum_bits_f32(is_warp ? sum_of_warp(values) : sum_of_block(values, n)),
           mpnum_bits_f32(max_of(values, n)), mpnum_bits_f32(amax_of(values, n))}};
}

/* Each block takes its own part of the values, and the functions follow each other with
 * nothing between them. */
__global__ void reduce(const float *values, results *of_warps, results *of_blocks) {
  __shared__ std::uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  const std::size_t i = blockIdx.x * mpnum_block_threads_() + mpnum_thread_index_();
  const float x = values[i];
  const std::uint32_t word = mpnum_bits_f32(x);
  of_warps[i] = {
      {mpnum_thread_index_(), mpnum_warp_sum_u32_(word), mpnum_warp_max_u32_(word),
       static_cast<std::uint32_t>(__all_sync(0xffffffffu, mpnum_isfinite_f32(x)) != 0),
       mpnum_bits_f32(mpnum_warp_sum_f32(x)), mpnum_bits_f32(mpnum_warp_max_f32(x)),
       mpnum_bits_f32(mpnum_warp_amax_f32(x))}};
  of_blocks[i] = {{mpnum_thread_index_(), mpnum_block_sum_u32_(word, scratch),
                   mpnum_block_max_u32_(word, scratch),
                   static_cast<std::uint32_t>(mpnum_block_all_finite_f32(x)),
                   mpnum_bits_f32(mpnum_block_sum_f32(x, scratch)),
                   mpnum_bits_f32(mpnum_block_max_f32(x, scratch)),
                   mpnum_bits_f32(mpnum_block_amax_f32(x, scratch))}};
}

void check_results(const char *group, const results &got, const results &want,
                   unsigned size) {
  static const char *const names[] = {
      "thread", "sum of words", "largest word", "all finite", "sum", "max", "amax"};
  for (int i = 0; i < 7; ++i)
    CHECK(got.at[i] == want.at[i], "%s of %u, thread %u, %s: %s %08x, want %08x", group,
          size, want.at[0], simt::active_schedule.name, names[i], got.at[i], want.at[i]);
}

void check_reductions(const vector<float> &values, dim3 block) {
  const unsigned size = block.x * block.y * block.z;
  const std::size_t n = values.size();
  vector<results> of_warps(n), of_blocks(n);
  CHECK_LAUNCH(launch(reduce, {static_cast<unsigned>(n / size), block}, values.data(),
                      of_warps.data(), of_blocks.data()));
  results warp = {}, whole = {};
  for (unsigned i = 0; i < n; ++i) {
    if (i % 32 == 0) warp = results_of(&values[i], 32, true);
    if (i % size == 0) whole = results_of(&values[i], size, false);
    warp.at[0] = whole.at[0] = i % size;
    check_results("warp", of_warps[i], warp, 32);
    check_results("block", of_blocks[i], whole, size);
  }
}

/* The other schedules see some of what the first one sees. */
bool is_first_schedule(void) {
  return !is_simulated || simt::active_schedule.name == simt::schedules[0].name;
}

void reductions_equal_plain_loops_for_every_block_size(void) {
  in_every_schedule([] {
    const unsigned step = is_first_schedule() ? 32 : 96;
    for (unsigned size = 32; size <= 1024; size += step)
      check_reductions(random_values(2 * size, size), size);
  });
}

void blocks_may_have_three_dimensions(void) {
  in_every_schedule([] {
    check_reductions(random_values(96, 1), dim3(8, 12));
    check_reductions(random_values(240 * 4, 2), dim3(5, 6, 16));
    check_reductions(random_values(128, 3), dim3(1, 2, 64));
  });
}

/* One special value among ordinary ones, at every place of blocks of one and two warps,
 * and in every lane and every warp of the largest block, of which other schedules than
 * the first one see each seventh. */
void special_values_are_found_anywhere(void) {
  const float cases[][2] = {{nan_with_payload, 1},
                            {-infinity, -1},
                            {infinity, -1},
                            {0.0f, -0.0f},
                            {-0.0f, -0.0f}};
  in_every_schedule([&] {
    for (const auto &one : cases)
      for (unsigned size : {32u, 64u, 1024u}) {
        const unsigned step = size < 1024 ? 1 : is_first_schedule() ? 33 : 7 * 33;
        vector<float> values;
        for (unsigned place = 0; place < size; place += step) {
          values.resize(values.size() + size, one[1]);
          values[values.size() - size + place] = one[0];
        }
        check_reductions(values, size);
      }
  });
}

void mixtures_of_special_values_reduce_as_promised(void) {
  const float smallest = mpnum_from_bits_f32(1),
              largest = mpnum_from_bits_f32(0x7f7fffff);
  const float special[] = {infinity,  -infinity, nan_with_payload, 0.0f,  -0.0f, smallest,
                           -smallest, largest,   -largest,         -1.0f, 1.0f,  3.0f};
  in_every_schedule([&] {
    for (float a : special) {
      vector<float> values;
      for (float b : special) {
        values.insert(values.end(), 64, b);
        values[values.size() - 64] = values[values.size() - 7] = a;
      }
      check_reductions(values, 64);
    }
  });
}

#if !TEST_ON_GPU /* of the device alone */
void amax_keeps_nan(void) {
  const float values[] = {0.0f, 1.5f, infinity, mpnum_from_bits_f32(1)};
  for (float x : values) {
    CHECK(mpnum_bits_f32(mpnum_amax(x, nan_with_payload)) == 0x7fffffff, "a new NaN");
    CHECK(mpnum_bits_f32(mpnum_amax(canonical_nan, -x)) == 0x7fffffff, "an old NaN");
    for (float amax : values)
      CHECK(mpnum_amax(amax, -x) == std::max(amax, x), "%g of %g",
            static_cast<double>(mpnum_amax(amax, -x)), static_cast<double>(x));
  }
}

#endif

/* Rows in parts */

/* What a merge promises, by plain loops over the parts of each thread. */
mpnum_softmax_state merged(const mpnum_softmax_state *states, unsigned n, float scale,
                           bool is_warp) {
  vector<float> max(n), sum(n);
  mpnum_softmax_state want;
  for (unsigned i = 0; i < n; ++i)
    max[i] = states[i].max;
  want.max = max_of(max.data(), n);
  for (unsigned i = 0; i < n; ++i) {
    const mpnum_softmax_state none = {want.max, 0};
    sum[i] =
        states[i].max == -infinity ? 0 : mpnum_softmax_merge(states[i], none, scale).sum;
    if (want.max == -infinity) sum[i] = 0;
    if (std::isnan(want.max)) sum[i] = canonical_nan;
  }
  want.sum = is_warp ? sum_of_warp(sum.data()) : sum_of_block(sum.data(), n);
  return want;
}
__global__ void merge(const mpnum_softmax_state *states, mpnum_softmax_state *of_warps,
                      mpnum_softmax_state *of_blocks, mpnum_argmax *argmax, float scale) {
  __shared__ std::uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  const unsigned i = mpnum_thread_index_();
  of_warps[i] = mpnum_warp_softmax_merge(states[i], scale);
  of_blocks[i] = mpnum_block_softmax_merge(states[i], scale, scratch);
  argmax[i] = mpnum_block_argmax_f32(states[i].max, 7 * i, scratch);
}
void check_merge(const vector<mpnum_softmax_state> &states, float scale) {
  const unsigned n = static_cast<unsigned>(states.size());
  vector<mpnum_softmax_state> of_warps(n), of_blocks(n);
  vector<mpnum_argmax> argmax(n);
  CHECK_LAUNCH(launch(merge, {1, n}, states.data(), of_warps.data(), of_blocks.data(),
                      argmax.data(), scale));
  const mpnum_softmax_state whole = merged(states.data(), n, scale, false);
  unsigned first = 0;
  while (std::isnan(whole.max) ? !std::isnan(states[first].max)
                               : states[first].max != whole.max)
    ++first;
  for (unsigned i = 0; i < n; ++i) {
    const mpnum_softmax_state warp = merged(&states[i / 32 * 32], 32, scale, true);
    CHECK(mpnum_bits_f32(of_warps[i].max) == mpnum_bits_f32(warp.max) &&
              mpnum_bits_f32(of_warps[i].sum) == mpnum_bits_f32(warp.sum),
          "lane %u of %u: %g %g, want %g %g", i, n, static_cast<double>(of_warps[i].max),
          static_cast<double>(of_warps[i].sum), static_cast<double>(warp.max),
          static_cast<double>(warp.sum));
    CHECK(mpnum_bits_f32(of_blocks[i].max) == mpnum_bits_f32(whole.max) &&
              mpnum_bits_f32(of_blocks[i].sum) == mpnum_bits_f32(whole.sum),
          "thread %u of %u: %g %g, want %g %g", i, n,
          static_cast<double>(of_blocks[i].max), static_cast<double>(of_blocks[i].sum),
          static_cast<double>(whole.max), static_cast<double>(whole.sum));
    CHECK(argmax[i].index == 7 * first &&
              (std::isnan(whole.max) ? mpnum_bits_f32(argmax[i].max) == 0x7fffffff
                                     : argmax[i].max == whole.max),
          "argmax %u of %u, want %u", argmax[i].index, n, 7 * first);
  }
}
void states_of_parts_of_a_row_merge(void) {
  in_every_schedule([] {
    for (unsigned n : {32u, 96u}) {
      vector<mpnum_softmax_state> states(n);
      const vector<float> values = random_values(n, n);
      for (unsigned i = 0; i < n; ++i)
        states[i] = {std::fmod(values[i], 32.0f), std::fabs(values[i]) + 1};
      for (float scale : {1.0f, 0.125f, 0.0f})
        check_merge(states, scale);
      for (unsigned i = 0; i < n; ++i) /* equal ones, and parts without elements */
        states[i] = i % 3 ? mpnum_softmax_state{2.0f, 1.5f} : mpnum_softmax_state_empty();
      check_merge(states, 1);
      states[n / 2 + 1].max = infinity;
      check_merge(states, 1);
      states[n - 1] = {nan_with_payload, nan_with_payload};
      check_merge(states, 1);
      check_merge(vector<mpnum_softmax_state>(n, mpnum_softmax_state_empty()), 1);
      states.assign(n, mpnum_softmax_state_empty());
      states[n - 1] = {canonical_nan, 1};
      check_merge(states, 1);
      for (unsigned i = 0; i < n; ++i) /* zeros of both signs are equal */
        states[i] = {i == n - 1 ? 0.0f : i == n / 2 ? -0.0f : -1.0f, 1};
      check_merge(states, 1);
    }
  });
}

/* Whole rows of integers, of which doubles add up exactly in any order: bits of the host.
 */
template <unsigned N>
__global__ void normalize(mpnum_norm_kind kind, float *x, unsigned columns) {
  __shared__ std::uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  mpnum_lanes<float, N> own = {{0}};
  unsigned count = 0;
  for (unsigned i = threadIdx.x; i < columns; i += blockDim.x)
    own.at[count++] = x[i];
  if (kind == MPNUM_NORM_LAYER)
    mpnum_block_layer_norm(own, count, columns, 1e-5f, scratch);
  else
    mpnum_block_rms_norm(own, count, columns, 1e-5f, scratch);
  for (unsigned i = 0; i < count; ++i)
    x[threadIdx.x + i * blockDim.x] = own.at[i];
}
void blocks_normalize_rows_in_registers(void) {
  in_every_schedule([] {
    for (mpnum_norm_kind kind : {MPNUM_NORM_LAYER, MPNUM_NORM_RMS})
      for (unsigned columns : {1u, 31u, 96u, 200u, 288u})
        for (float mean : {0.0f, 5.0f, 1048576.0f, infinity}) {
          vector<float> x(columns), want(columns);
          for (unsigned i = 0; i < columns; ++i)
            x[i] = static_cast<float>(i * 37 % 101) - 50;
          for (unsigned i = 0; i < columns && mean != infinity; ++i)
            x[i] += mean;
          if (mean == infinity) x[columns / 2] = mean;
          mpnum_normalize_options options = mpnum_normalize_default();
          CHECK(mpnum_normalize_rows(
                    kind, mpnum_matrix_of(MPNUM_TYPE_F32, want.data(), 1, columns),
                    mpnum_const_matrix_of(MPNUM_TYPE_F32, x.data(), 1, columns),
                    &options) == MPNUM_OK,
                "host");
          CHECK_LAUNCH(launch(normalize<3>, {1, 96}, kind, x.data(), columns));
          for (unsigned i = 0; i < columns; ++i)
            CHECK(mpnum_bits_f32(x[i]) == mpnum_bits_f32(want[i]),
                  "%u of %u, mean %g: %g, want %g", i, columns, static_cast<double>(mean),
                  static_cast<double>(x[i]), static_cast<double>(want[i]));
        }
  });
}

/* Atomics */

struct totals {
  float amax, min;
  std::uint64_t sum;
};
__global__ void accumulate(const float *values, totals *global, totals *of_block) {
  __shared__ totals shared;
  if (threadIdx.x == 0) shared = {0.0f, mpnum_from_bits_f32(0x7f800000), 0};
  __syncthreads();
  const float x = values[mpnum_grid_index()];
  for (totals *t : {global, &shared}) {
    mpnum_atomic_amax(&t->amax, x);
    if (!mpnum_isnan_f32(x)) mpnum_atomic_min_magnitude_(&t->min, std::fabs(x));
    mpnum_atomic_add_u64_(&t->sum, static_cast<std::uint64_t>(threadIdx.x) << 30);
  }
  __syncthreads();
  if (threadIdx.x == 0) of_block[blockIdx.x] = shared;
  if (mpnum_grid_size() != gridDim.x * static_cast<std::size_t>(blockDim.x))
    global->sum = 0;
}

void atomics_reduce_floats_and_words(void) {
  const unsigned blocks = 3, size = 96;
  in_every_schedule([=] {
    for (float special : {1e-30f, -0.0f, -infinity, nan_with_payload}) {
      vector<float> values = random_values(blocks * size, 5);
      for (float &x : values)
        x += std::copysign(1e-9f, x);
      values[100] = special;
      totals &global = placed(totals{0.0f, infinity, 0});
      vector<totals> of_block(3);
      CHECK_LAUNCH(
          launch(accumulate, {blocks, size}, values.data(), &global, of_block.data()));
      for (unsigned b = 0; b <= blocks; ++b) {
        const totals &got = b < blocks ? of_block[b] : global;
        const float *first = values.data() + (b < blocks ? b * size : 0);
        const unsigned n = b < blocks ? size : blocks * size;
        float min = infinity;
        for (unsigned i = 0; i < n; ++i)
          min = std::fmin(min, std::fabs(first[i]));
        CHECK(mpnum_bits_f32(got.amax) == mpnum_bits_f32(amax_of(first, n)), "amax %g",
              static_cast<double>(got.amax));
        CHECK(mpnum_bits_f32(got.min) == mpnum_bits_f32(min), "min %g",
              static_cast<double>(got.min));
        /* 0 + ... + 95 = 4560 */
        CHECK(got.sum == (4560ull << 30) * (n / size), "%llx",
              static_cast<unsigned long long>(got.sum));
      }
    }
  });
}

/* Doubles, totals, findings, probes */

__global__ void sum_f64(const double *values, double *sums) {
  __shared__ std::uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  const unsigned i = mpnum_thread_index_();
  sums[2 * i] = mpnum_block_sum_f64(values[i], scratch);
  sums[2 * i + 1] = mpnum_block_sum_f64(-values[i], scratch);
}
void doubles_are_summed_in_one_order(void) {
  in_every_schedule([] {
    for (unsigned n : {32u, 96u, 1024u}) {
      std::mt19937 random(n);
      vector<double> values(n), negative(n), sums(2 * n);
      for (int kind = 0; kind < 3; ++kind) {
        for (unsigned i = 0; i < n; ++i)
          values[i] = kind == 1 ? -0.0
                                : std::ldexp((static_cast<double>(random()) - 0x1p31) / 7,
                                             static_cast<int>(random() % 40));
        if (kind == 2) values[n / 2] = mpnum_from_bits_f64(0xfff4000000000001u);
        for (unsigned i = 0; i < n; ++i)
          negative[i] = -values[i];
        CHECK_LAUNCH(
            simt::launch(sum_f64, {1, dim3(n / 8, 4, 2)}, values.data(), sums.data()));
        for (unsigned i = 0; i < n; ++i)
          CHECK(mpnum_bits_f64(sums[2 * i]) ==
                        mpnum_bits_f64(sum_of_block(values.data(), n)) &&
                    mpnum_bits_f64(sums[2 * i + 1]) ==
                        mpnum_bits_f64(sum_of_block(negative.data(), n)),
                "thread %u of %u", i, n);
      }
    }
  });
}

/* Twice, with nothing between the calls but the reading. */
__global__ void merge_findings(const mpnum_grad_findings *own,
                               mpnum_grad_findings *merged, mpnum_exact_sum *totals) {
  __shared__ mpnum_grad_findings all;
  __shared__ mpnum_exact_sum total;
  const unsigned i = mpnum_thread_index_();
  for (int turn = 0; turn < 2; ++turn) {
    mpnum_block_findings(&all, own[i]);
    merged[i] = all;
    mpnum_block_total(&total, own[i].squares);
    totals[i] = total;
  }
}
mpnum_grad_findings findings_of(unsigned seed, std::int64_t terms) {
  std::mt19937 random(seed);
  mpnum_grad_findings found = mpnum_grad_findings_empty();
  const unsigned count = random() % 4;
  for (unsigned i = 0; i < count; ++i) {
    const float x = std::ldexp(1.5f, static_cast<int>(random() % 200) - 120);
    found.stats = mpnum_stats_add(found.stats, mpnum_format_of(MPNUM_TYPE_F32),
                                  random() % 50 ? mpnum_bits_f32(x) : 0x7f800000u);
    mpnum_exact_sum_add_f64_(&found.squares,
                             static_cast<double>(x) * static_cast<double>(x));
  }
  found.squares.terms += terms;
  if (found.stats.infs) {
    found.first_tensor = random() % 3;
    found.first_element = 6 - 3 * found.first_tensor + random() % 3;
    found.first_bits = 0x7f800000u | random() % 3;
  }
  return found;
}
void findings_of_threads_are_merged(void) {
  in_every_schedule([] {
    for (unsigned n : {32u, 96u, 1024u}) {
      const std::int64_t many = n == 96 ? 683 : 0; /* carried by the last */
      vector<mpnum_grad_findings> own, got(n);
      vector<mpnum_exact_sum> totals(n);
      mpnum_grad_findings expected = mpnum_grad_findings_empty();
      for (unsigned i = 0; i < n; ++i) {
        own.push_back(findings_of(i * 7 + n, many));
        expected = mpnum_grad_findings_merge(expected, own[i]);
      }
      CHECK_LAUNCH(simt::launch(merge_findings, {1, dim3(n / 8, 4, 2)}, own.data(),
                                got.data(), totals.data()));
      for (unsigned i = 0; i < n; ++i)
        CHECK(std::memcmp(&got[i], &expected, sizeof expected) == 0 &&
                  std::memcmp(&totals[i], &expected.squares, sizeof totals[i]) == 0,
              "thread %u of %u", i, n);
    }
  });
}

__global__ void probe(std::uint64_t *word, const float *values, std::uint32_t step) {
  const std::uint32_t i = static_cast<std::uint32_t>(mpnum_grid_index());
  mpnum_probe(word, step, i, values[i]);
}
void probes_keep_the_first_step_and_site(void) {
#ifdef SIMT_WEAK_MEMORY /* the simulator runs the host's body, which is no atomic */
  const unsigned blocks = 1;
#else
  const unsigned blocks = 4;
#endif
  vector<float> values(256, 3e38f);
  in_every_schedule([&] {
    std::uint64_t &word = placed(mpnum_probe_empty());
    CHECK_LAUNCH(simt::launch(probe, {blocks, 256 / blocks}, &word, values.data(), 5));
    CHECK(word == mpnum_probe_empty(), "finite values");
    vector<float> odd = values;
    odd[200] = mpnum_from_bits_f32(0x7f800000);
    odd[77] = mpnum_from_bits_f32(0xffc00000);
    for (std::uint32_t step : {9u, 0xffffffffu, 6u, 7u}) {
      CHECK_LAUNCH(simt::launch(probe, {blocks, 256 / blocks}, &word, odd.data(), step));
      CHECK(mpnum_probe_site(word) == 77 && mpnum_probe_step(word) == (step < 9 ? 6 : 9),
            "step %u, site %u", mpnum_probe_step(word), mpnum_probe_site(word));
    }
  });
}

/* Loads and stores */

constexpr unsigned char guard = 0xb5;

/* A type whose size is no power of two, as mpnum_e3m2x4. */
struct three_bytes {
  std::uint8_t at[3];
  __host__ __device__ three_bytes() : at{} {}
  explicit three_bytes(std::uint_fast32_t word)
      : at{std::uint8_t(word), std::uint8_t(word >> 8), std::uint8_t(word >> 16)} {}
};

template <class T, unsigned N>
__global__ void move(const T *src, T *dst, std::size_t left, mpnum_lanes<T, N> *loaded) {
  *loaded = mpnum_load<N>(src, left);
  mpnum_store(dst, *loaded, left);
}

template <class T, unsigned N>
void check_move(std::size_t src_at, std::size_t dst_at, std::size_t left) {
  const std::size_t count = std::min<std::size_t>(left, N), after = 2 * N;
  std::mt19937 random(static_cast<unsigned>(left));
  /* The source ends with the array if AddressSanitizer is there to see a read behind it,
   * else values follow that no load may return. */
  const std::size_t more = SIMT_HAS_ASAN ? 0 : N;
  vector<T> src(src_at + left + more), dst(dst_at + count + after);
  vector<unsigned char> before(dst.size() * sizeof(T), guard);
  std::memcpy(dst.data(), before.data(), before.size());
  for (T &x : src)
    x = static_cast<T>(random());
  vector<mpnum_lanes<T, N>> space(1);
  mpnum_lanes<T, N> &loaded = space[0];
  std::memset(static_cast<void *>(&loaded), guard, sizeof loaded);
  const cudaError_t error = completed(launch(move<T, N>, {1, 1}, src.data() + src_at,
                                             dst.data() + dst_at, left, &loaded));
  CHECK(error == cudaSuccess, "%s", simt::last_fault().text.c_str());
  for (unsigned i = 0; i < N; ++i) {
    const T want = i < count ? src[src_at + i] : T();
    CHECK(std::memcmp(&loaded.at[i], &want, sizeof(T)) == 0,
          "%zu bytes, %u of %u loaded from %zu, %zu left", sizeof(T), i, N, src_at, left);
  }
  std::memcpy(before.data() + dst_at * sizeof(T), src.data() + src_at, count * sizeof(T));
  CHECK(std::memcmp(before.data(), dst.data(), before.size()) == 0,
        "%zu bytes, %u stored to %zu, %zu left", sizeof(T), N, dst_at, left);
}

template <class T, unsigned N> void check_moves(void) {
  const std::size_t step = is_simulated || is_fast() ? 1 : 5;
  for (std::size_t src_at = 0; src_at < 16 / sizeof(T); src_at += step)
    for (std::size_t dst_at = 0; dst_at < 16 / sizeof(T); dst_at += step)
      for (std::size_t left = 1; left <= N + 2; ++left)
        check_move<T, N>(src_at, dst_at, left);
}

template <class T, unsigned... N> void check_moves_of(void) {
  (check_moves<T, N>(), ...);
}
void lanes_move_from_anywhere_to_anywhere(void) {
  check_moves_of<three_bytes, 2, 8>(); /* 24 bytes: accesses of 8 */
  check_moves_of<std::uint8_t, 1, 2, 4, 8, 16, 32>();
  check_moves_of<std::uint16_t, 2, 8, 16>();
  check_moves_of<float, 1, 2, 4, 8>();
  check_moves_of<double, 1, 2, 4>();
}

/* Every tile, of which two are taken by a block; elements past the end are to be zeros.
 */
template <class T, unsigned N, unsigned threads>
__global__ void __launch_bounds__(threads)
    move_tiles(const T *src, T *dst, std::size_t n, unsigned *nonzero) {
  typedef mpnum_tile<T, N, threads> tile;
  for (std::size_t first = blockIdx.x * tile::elements; first < n;
       first += gridDim.x * tile::elements) {
    const tile in = mpnum_load_tile<N, threads>(src, first, n);
    for (unsigned v = 0; v < tile::vectors; ++v)
      for (unsigned j = 0; j < N; ++j)
        if (first + in.place(v) + j >= n && in.at[v].at[j] != T())
          atomicAdd(nonzero, 1u); /* no -0 is among them */
    mpnum_store_tile(dst, first, n, in);
  }
}
template <class T, unsigned N, unsigned threads>
void check_tiles(std::size_t src_at, std::size_t dst_at, std::size_t n) {
  const std::size_t more = SIMT_HAS_ASAN ? 0 : N;
  std::mt19937 random(static_cast<unsigned>(n));
  vector<T> src(src_at + n + more), dst(dst_at + n + N);
  vector<unsigned char> want(dst.size() * sizeof(T), guard);
  std::memcpy(dst.data(), want.data(), want.size());
  for (T &x : src)
    x = static_cast<T>(random() | 1u);
  unsigned &nonzero = placed(0u);
  CHECK_LAUNCH(simt::launch(move_tiles<T, N, threads>, {2, threads}, src.data() + src_at,
                            dst.data() + dst_at, n, &nonzero));
  std::memcpy(want.data() + dst_at * sizeof(T), src.data() + src_at, n * sizeof(T));
  CHECK(std::memcmp(want.data(), dst.data(), want.size()) == 0,
        "%zu bytes, tiles of %u, %zu elements from %zu to %zu", sizeof(T), N, n, src_at,
        dst_at);
  CHECK(nonzero == 0, "%zu bytes, %u of %zu past the end", sizeof(T), nonzero, n);
}
template <class T, unsigned N, unsigned threads> void check_tiles_of(void) {
  const std::size_t tile = mpnum_tile<T, N, threads>::elements;
  static_assert(mpnum_tile<T, N, threads>::elements == 4 * N * threads, "of a block");
  const std::size_t sizes[] = {
      1,       N - 1, N, N + 1, tile / 4 + 1, tile, tile - 1, 3 * tile + 1, 4 * tile - N,
      5 * tile};
  const std::size_t places[] = {0, 1, 16 / sizeof(T)};
  for (const std::size_t n : sizes)
    for (const std::size_t src_at : places)
      for (const std::size_t dst_at : places)
        if (n) check_tiles<T, N, threads>(src_at, dst_at, n);
}
void tiles_move_from_anywhere_to_anywhere(void) {
  check_tiles_of<std::uint8_t, 16, 64>();
  check_tiles_of<std::uint16_t, 8, 256>();
  check_tiles_of<float, 4, 256>();
  check_tiles_of<float, 1, 32>();
  check_tiles_of<double, 4, 32>();
}

void lanes_are_aligned_for_one_access(void) {
  static_assert(alignof(mpnum_lanes<std::uint8_t, 1>) == 1, "1 byte");
  static_assert(alignof(mpnum_lanes<std::uint8_t, 8>) == 8, "8 bytes");
  static_assert(alignof(mpnum_lanes<std::uint8_t, 32>) == 16, "32 bytes");
  static_assert(alignof(mpnum_lanes<float, 4>) == 16, "16 bytes");
  static_assert(alignof(mpnum_lanes<double, 8>) == 16, "64 bytes");
  static_assert(sizeof(mpnum_lanes<std::uint16_t, 4>) == 8, "no padding");
  CHECK(MPNUM_BLOCK_SCRATCH == 32, "one word for each warp of the largest block");
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(count, arguments, {
    TEST(reductions_equal_plain_loops_for_every_block_size),
        TEST(blocks_may_have_three_dimensions), TEST(special_values_are_found_anywhere),

        TEST(mixtures_of_special_values_reduce_as_promised),
#if !TEST_ON_GPU
        TEST(amax_keeps_nan),
#endif
        TEST(states_of_parts_of_a_row_merge), TEST(blocks_normalize_rows_in_registers),
        TEST(atomics_reduce_floats_and_words), TEST(doubles_are_summed_in_one_order),
        TEST(findings_of_threads_are_merged), TEST(probes_keep_the_first_step_and_site),
        TEST(lanes_move_from_anywhere_to_anywhere),
        TEST(tiles_move_from_anywhere_to_anywhere),
        TEST(lanes_are_aligned_for_one_access),
  });
}
