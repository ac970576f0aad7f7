/* SPDX-License-Identifier: MIT */
/* The reductions of mpnum/kernels.cuh: all_finite, amax and statistics of
 * every type against loops on the host, for arrays of any length and at any place, with
 * guard bytes around the result. And the histogram and the losses of health.cuh. */
#define MPNUM_NO_SIMD 1 /* the host's loops that are the meaning of all others */
#include "kernel_types.hpp"

#include <mpnum/training/health.cuh>

#include <cmath>
#include <cstring>
#include <type_traits>

namespace {

template <class T> constexpr bool has_values = !std::is_same<T, double>::value;

template <class T> bool is_finite(T x) {
  if constexpr (std::is_floating_point<T>::value)
    return std::isfinite(x);
  else
    return mpnum_isfinite(mpnum_format_of(mpnum::type_of<T>::value), x.bits) != 0;
}
template <class T> std::uint32_t code_of(T x) { return x.bits; }
inline std::uint32_t code_of(float x) { return mpnum_bits_f32(x); }

/* A result between guards, which the launcher has to set and not to take for granted. */
template <class T> struct guarded {
  guarded() { std::memset(static_cast<void *>(this), guard, sizeof *this); }
  bool is_whole() const {
    const auto is_guard = [](unsigned char byte) { return byte == guard; };
    return std::all_of(before, before + guard_size, is_guard) &&
           std::all_of(after, after + guard_size, is_guard);
  }
  unsigned char before[guard_size];
  T value;
  unsigned char after[guard_size];
};

/* By two launches, and by one with scratch, which is zero again after it. */
template <class T, class Result>
Result launched(cudaError_t (*launch)(Result *, const T *, std::size_t, cudaStream_t,
                                      mpnum_launch_scratch *, int),
                const vector<T> &values, std::size_t first, int multiprocessors = 0) {
  static vector<mpnum_launch_scratch> space(1);
  static const mpnum_launch_scratch zero = mpnum_launch_scratch();
  mpnum_launch_scratch &scratch = space[0];
  guarded<Result> &result = placed<guarded<Result>>(), &other = placed<guarded<Result>>();
  const T *const src = values.data() + first;
  const std::size_t n = values.size() - first;
  const cudaError_t error =
      LAUNCHED(launch(&result.value, src, n, nullptr, 0, multiprocessors));
  CHECK(error == cudaSuccess && result.is_whole(), "%s of %zu: %s",
        mpnum_type_name(mpnum::type_of<T>::value), values.size(),
        cudaGetErrorString(error));
  simt::launches = 0;
  CHECK(LAUNCHED(launch(&other.value, src, n, nullptr, &scratch, multiprocessors)) ==
                cudaSuccess &&
            (!is_simulated || simt::launches == 1) && other.is_whole() &&
            std::memcmp(&result.value, &other.value, sizeof(Result)) == 0,
        "%s of %zu: %d launches", mpnum_type_name(mpnum::type_of<T>::value),
        values.size(), simt::launches);
  CHECK(std::memcmp(&scratch, &zero, sizeof zero) == 0, "scratch of %zu", values.size());
  return result.value;
}

/* Of the values from first on, whose address is no multiple of 16 bytes for most. */
template <class T> void check_reductions(const vector<T> &values, std::size_t first = 0) {
  const mpnum_format format = mpnum_format_of(mpnum::type_of<T>::value);
  const char *name = mpnum_type_name(mpnum::type_of<T>::value);
  const std::size_t n = values.size() - first;
  int all_finite = 1;
  float amax = 0;
  mpnum_stats stats = mpnum_stats_empty();
  for (std::size_t i = first; i < values.size(); ++i) {
    all_finite &= is_finite(values[i]);
    if constexpr (has_values<T>) {
      const std::uint32_t code = code_of(values[i]);
      const float x = std::is_same<T, float>::value ? mpnum_from_bits_f32(code)
                                                    : mpnum_decode(format, code);
      stats = mpnum_stats_add(stats, format, code);
      if (std::isnan(x) || std::isnan(amax))
        amax = mpnum_from_bits_f32(0x7fffffff);
      else
        amax = std::max(amax, std::fabs(x));
    }
  }
  const int got_finite = launched(mpnum_launch_all_finite<T>, values, first);
  CHECK(got_finite == all_finite, "%s, all %zu finite: %d", name, n, got_finite);
  if constexpr (has_values<T>) {
    const float got_amax = launched(mpnum_launch_amax<T>, values, first);
    CHECK(mpnum_bits_f32(got_amax) == mpnum_bits_f32(amax), "%s, amax of %zu: %g", name,
          n, static_cast<double>(got_amax));
    const mpnum_stats got = launched(mpnum_launch_stats<T>, values, first);
    CHECK(got.count == stats.count && got.zeros == stats.zeros &&
              got.subnormals == stats.subnormals && got.infs == stats.infs &&
              got.nans == stats.nans,
          "%s, counts of %zu", name, n);
    CHECK(mpnum_bits_f32(got.amax) == mpnum_bits_f32(stats.amax) &&
              mpnum_bits_f32(got.min_nonzero) == mpnum_bits_f32(stats.min_nonzero),
          "%s, range of %zu: %g to %g", name, n, static_cast<double>(got.min_nonzero),
          static_cast<double>(got.amax));
  }
}

template <class T> vector<T> random_values(std::size_t n) {
  std::mt19937 random(static_cast<unsigned>(n));
  vector<T> values(n);
  for (T &x : values) {
    const std::uint64_t word = random_word(mpnum::type_of<T>::value, random);
    for (unsigned k = 0; k < sizeof(T); ++k)
      reinterpret_cast<unsigned char *>(&x)[k] =
          static_cast<unsigned char>(word >> 8 * k);
  }
  return values;
}

/* Calls visit with a value of each type that is not packed. */
template <class F, class... T> void for_types(list<T...>, F visit) {
  const auto visit_one = [&](auto x) {
    if constexpr (array_of<decltype(x)>::value.count == 1) visit(x);
  };
  (visit_one(T()), ...);
}

void every_type_is_reduced_as_on_the_host(void) {
  in_every_schedule([] {
    for_types(types(), [](auto x) {
      typedef decltype(x) T;
      const std::size_t tile = 4 * 256 * 16 / sizeof(T);
      for (std::size_t n : {std::size_t{0}, std::size_t{1}, 16 / sizeof(T) + 1, tile + 5})
        check_reductions(random_values<T>(n));
      if (is_fast()) check_reductions(random_values<T>(1000003), 1);
    });
  });
}

void reductions_of_any_length_from_anywhere(void) {
  for_types(types(), [](auto x) {
    typedef decltype(x) T;
    const std::size_t lanes = 16 / sizeof(T), tile = 4 * 256 * lanes;
    for (std::size_t first = 0; first < lanes; ++first)
      for (std::size_t n : {std::size_t{0}, std::size_t{1}, lanes - 1, 3 * lanes + 1})
        check_reductions(random_values<T>(first + n), first);
    for (std::size_t n : {tile - 1, tile, tile + 1})
      check_reductions(random_values<T>(n));
  });
}

/* Ordinary values with one that is not, in each place of a tile and a little more. */
template <class T> void check_special_values(std::initializer_list<T> special, T others) {
  for (T x : special) {
    const std::size_t tile = 4 * 256 * 16 / sizeof(T);
    for (std::size_t place = 0; place < tile + 9; place += tile / 24 + 1) {
      vector<T> values(tile + 9, others);
      values[place] = x;
      simt::use(simt::schedules[place % 6]);
      check_reductions(values);
    }
  }
}

void special_values_are_found_in_every_place(void) {
  const float infinity = mpnum_from_bits_f32(0x7f800000);
  check_special_values(
      {infinity, -infinity, mpnum_from_bits_f32(0xff800001), -0.0f, 1e-45f, -3e38f},
      1.0f);
  const mpnum_e4m3 largest = {0xfe}, nan = {0xff}, smallest = {1}, zero = {0},
                   one = {0x38};
  check_special_values({largest, nan, smallest, zero}, one);
}

/* More tiles than a grid has blocks, and results that each block brings its part of. */
void reductions_stride_over_long_arrays(void) {
  vector<float> values(11 * 4096 + 3, 1.0f);
  const auto amax = [&] { return launched(mpnum_launch_amax<float>, values, 0, 1); };
  simt::use(simt::schedules[0]);
  CHECK(amax() == 1, "%g", static_cast<double>(amax()));
  values.back() = -2;
  CHECK(amax() == 2, "%g", static_cast<double>(amax()));
  values[5 * 4096] = -3;
  CHECK(amax() == 3, "%g", static_cast<double>(amax()));
  for (std::size_t i = 0; i < values.size(); i += 100)
    values[i] = 0;
  const mpnum_stats stats = launched(mpnum_launch_stats<float>, values, 0, 1);
  CHECK(stats.zeros == (values.size() + 99) / 100, "%d zeros",
        static_cast<int>(stats.zeros));
}

/* Both add to what is there. */
template <class T> void check_health(void) {
  const mpnum_format formats[] = {
      mpnum_format_of(MPNUM_TYPE_E4M3), mpnum_format_of(MPNUM_TYPE_E2M1),
      mpnum_format_of(MPNUM_TYPE_E5M2), mpnum_format_of(MPNUM_TYPE_F64)};
  unsigned which = 0;
  const unsigned waves =
      8 * 16384 / sizeof(T) + 5; /* a tile more than there are blocks */
  for (std::size_t n : {0u, 1u, 17u, 4097u, is_fast() ? 5000001u : waves})
    for (std::size_t first : {0u, 1u, 3u}) {
      vector<T> values = random_values<T>(n + first);
      for (std::size_t i = 0; i < values.size(); i += 11)
        values[i] = T();
      const float scale = which % 3 ? 1.0f : 1e-20f;
      const mpnum_format format = formats[which % 4];
      mpnum_histogram &histogram = placed(mpnum_histogram_empty());
      histogram.zeros = histogram.counts[3] = 1000;
      mpnum_histogram expected = histogram;
      mpnum_lost &lost = placed(mpnum_lost{5, 6}), sum = lost;
      const T *const src = values.data() + first;
      for (std::size_t i = 0; i < n; ++i)
        mpnum_histogram_add(&expected, mpnum::float_of_(src[i]));
      CHECK(mpnum_count_lost(&sum, mpnum::type_of<T>::value, src, n, format, scale) ==
                MPNUM_OK,
            "host");
      simt::use(simt::schedules[which++ % 6]);
      CHECK_LAUNCH(mpnum_launch_histogram(&histogram, src, n, nullptr));
      CHECK_LAUNCH(mpnum_launch_count_lost(&lost, src, n, format, scale, nullptr));
      CHECK(std::memcmp(&histogram, &expected, sizeof expected) == 0,
            "%s: histogram of %zu", mpnum_type_name(mpnum::type_of<T>::value), n);
      CHECK(lost.underflows == sum.underflows && lost.overflows == sum.overflows,
            "%s: losses of %zu", mpnum_type_name(mpnum::type_of<T>::value), n);
    }
}
void health_is_that_of_the_host(void) {
  check_health<float>();
  check_health<mpnum_e4m3>();
#ifndef TEST_TYPES
  check_health<mpnum_bf16>();
  check_health<mpnum_f16>();
  check_health<mpnum_e5m2>();
#endif
}

void launchers_return_errors(void) {
  const vector<float> values(10, 1.0f);
  float &amax = placed(5.0f);
  simt::launch_error = sound;
  const float *const x = values.data(), *const none = nullptr;
  const mpnum_format format = mpnum_format_of(MPNUM_TYPE_F16);
  mpnum_histogram &histogram = placed(mpnum_histogram_empty());
  mpnum_lost &lost = placed(mpnum_lost{0, 0});
  for (cudaError_t error :
       {mpnum_launch_amax(&amax, x, 0, nullptr), mpnum_launch_amax(&amax, x, 10, nullptr),
        mpnum_launch_histogram(&histogram, x, 1, nullptr),
        mpnum_launch_count_lost(&lost, x, 1, format, 1, nullptr)})
    CHECK(error == sound, "%s", cudaGetErrorName(error));
  simt::launch_error = cudaSuccess;
  CHECK(!is_simulated || (amax == 5 && lost.underflows == 0), "a kernel ran");
  check_refused(mpnum_launch_amax<float>(nullptr, x, 10, nullptr), "no amax");
  check_refused(mpnum_launch_amax(&amax, none, 10, nullptr), "no values");
  check_refused(mpnum_launch_histogram(&histogram, none, 1, nullptr), "no values");
  check_refused(mpnum_launch_histogram<float>(nullptr, x, 1, nullptr), "no histogram");
  check_refused(mpnum_launch_count_lost(&lost, none, 1, format, 1, nullptr), "no values");
  check_refused(mpnum_launch_count_lost<float>(nullptr, x, 1, format, 1, nullptr),
                "no losses");
  CHECK_LAUNCH(mpnum_launch_amax<float>(&amax, nullptr, 0, nullptr));
}

/* Scratch is left zero, too. */
void the_next_reduction_works(void) {
  const vector<float> values(10, -2.0f);
  mpnum_launch_scratch &scratch = placed(mpnum_launch_scratch());
  mpnum_stats &stats = placed(mpnum_stats_empty());
  for (mpnum_launch_scratch *space : {static_cast<mpnum_launch_scratch *>(0), &scratch})
    let_launches_fail(
        "statistics", space ? 1 : 2,
        [&] {
          return mpnum_launch_stats(&stats, values.data(), values.size(), nullptr, space);
        },
        [&] {
          CHECK(stats.count == 10 && stats.amax == 2 && stats.min_nonzero == 2 &&
                    stats.zeros + stats.subnormals + stats.infs + stats.nans == 0,
                "statistics");
          stats.zeros = stats.nans = 99;
        });
}

/* What was left where blocks meet: by nobody, so that it is no count, or by blocks of a
 * launch that are still to be done. Seen by the launch that finds it and by all others
 * until it is zero again. */
void scratch_that_is_not_zero_is_told(void) {
  const vector<float> values(9 * 4096, -2.0f); /* nine blocks, or as many as there are */
  const std::uint64_t words[] = {1,          2,          7,
                                 8,          9,          100,
                                 0x7fffffff, 1ull << 32, 5ull << 32 | 3,
                                 0x80000000, ~0ull,      0xcdcdcdcdcdcdcdcdull};
  mpnum_launch_scratch &scratch = placed(mpnum_launch_scratch());
  int &finite = placed(77);
  float &amax = placed(77.0f);
  mpnum_stats &stats = placed(mpnum_stats_empty());
  const auto launches = [&](std::size_t n) {
    CHECK_LAUNCH(mpnum_launch_all_finite(&finite, values.data(), n, nullptr, &scratch));
    CHECK_LAUNCH(mpnum_launch_amax(&amax, values.data(), n, nullptr, &scratch));
    CHECK_LAUNCH(mpnum_launch_stats(&stats, values.data(), n, nullptr, &scratch));
  };
  for (const std::uint64_t word : words)
    for (const std::size_t n : {std::size_t{1}, std::size_t{5000}, values.size()}) {
      scratch = mpnum_launch_scratch();
      scratch.blocks = word;
      launches(n);
      CHECK(finite == 0 && mpnum_bits_f32(amax) == 0x7fffffff && stats.count == n &&
                stats.nans == n + 1 && mpnum_bits_f32(stats.amax) == 0x7fffffff,
            "%#llx before %zu: finite %d, amax %g, %llu NaNs",
            static_cast<unsigned long long>(word), n, finite, static_cast<double>(amax),
            static_cast<unsigned long long>(stats.nans));
      CHECK(scratch.blocks != 0, "%#llx is forgotten",
            static_cast<unsigned long long>(word));
      scratch = mpnum_launch_scratch();
      launches(n);
      CHECK(finite == 1 && amax == 2 && stats.nans == 0 && stats.amax == 2,
            "%zu afterwards", n);
      CHECK(scratch.blocks == 0, "scratch afterwards");
    }
}

/* Garbage is told by the next launch; afterwards results are right. */
void scratch_is_set_to_zero(void) {
  mpnum_launch_scratch &scratch = placed(mpnum_launch_scratch());
  const vector<float> values(9000, -2.0f);
  float &amax = placed(77.0f);
  const auto found = [&] {
    CHECK_LAUNCH(
        mpnum_launch_amax(&amax, values.data(), values.size(), nullptr, &scratch));
    return mpnum_bits_f32(amax);
  };
  for (const int garbage : {0x01, 0x7f, 0xcd, 0xff}) {
    std::memset(static_cast<void *>(&scratch), garbage, sizeof scratch);
    CHECK(found() == 0x7fffffff && found() == 0x7fffffff, "%02x is not told", garbage);
    CHECK_LAUNCH(mpnum_launch_scratch_init(&scratch, nullptr));
    CHECK(found() == mpnum_bits_f32(2) && found() == mpnum_bits_f32(2), "%02x is left",
          garbage);
  }
  CHECK(mpnum_launch_scratch_init(static_cast<mpnum_launch_scratch *>(nullptr),
                                  nullptr) == cudaErrorInvalidValue,
        "NULL");
  simt::launch_error = cudaErrorUnknown;
  CHECK(mpnum_launch_scratch_init(&scratch, nullptr) == cudaErrorUnknown, "no status");
  simt::launch_error = cudaSuccess;
}

/* What blocks of two launches of gridDim.x blocks each do where they meet, in the order
 * of events: the launch, and 2 more where it is the end of a block. */
__global__ void two_launches_meet(std::uint64_t *word, const float *to,
                                  const unsigned char *events, unsigned count,
                                  unsigned *states) {
  const mpnum_meeting_ both[2] = {{word, to, to + 2, 9000}, {word, to + 1, to + 2, 9000}};
  if (blockIdx.x != 0) return;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned which = events[i] & 1;
    if (events[i] < 2) {
      both[which].begin();
      continue;
    }
    const mpnum_meeting_state_ state = both[which].end();
    ++states[3 * which + static_cast<unsigned>(state)];
    if (state == MPNUM_MEETING_LAST_) both[which].rest();
  }
}
[[maybe_unused]] void launches_that_share_scratch_are_told(void) {
  std::mt19937 random(1);
  std::uint64_t &word = placed(std::uint64_t{0});
  float &to = placed(0.0f);
  vector<unsigned> states(6);
  for (unsigned turn = 0; turn < 600; ++turn) {
    const unsigned blocks = 1 + turn % 9, is_apart = turn % 3 == 0;
    vector<unsigned char> events;
    unsigned begun[2] = {0, 0}, done[2] = {0, 0};
    bool is_sound = true;
    while (done[0] < blocks || done[1] < blocks) {
      const unsigned which = is_apart ? done[0] == blocks : random() % 2;
      const unsigned is_end = random() % 2;
      if (is_end ? done[which] >= begun[which] : begun[which] >= blocks) continue;
      ++(is_end ? done : begun)[which];
      events.push_back(static_cast<unsigned char>(which + 2 * is_end));
      if (begun[0] && begun[1] && done[0] < blocks && done[1] < blocks) is_sound = false;
    }
    word = 0;
    std::fill(states.begin(), states.end(), 0u);
    CHECK_LAUNCH(simt::launch(two_launches_meet, {blocks, 1}, &word, &to, events.data(),
                              static_cast<unsigned>(events.size()), states.data()));
    const unsigned *const a = states.data(), *const b = a + 3;
    const bool is_last = a[1] == 1 && b[1] == 1 && a[2] + b[2] == 0 && word == 0;
    CHECK(is_last == is_sound, "%u blocks, turn %u, %s: last %u %u, unsound %u %u",
          blocks, turn, is_sound ? "apart" : "together", a[1], b[1], a[2], b[2]);
  }
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(count, arguments,
                   {
                       TEST(every_type_is_reduced_as_on_the_host),
                       TEST(reductions_of_any_length_from_anywhere),
                       TEST(special_values_are_found_in_every_place),
                       TEST(reductions_stride_over_long_arrays),
                       TEST(health_is_that_of_the_host),
                       TEST(launchers_return_errors),
                       TEST(the_next_reduction_works),
                       TEST(scratch_that_is_not_zero_is_told),
                       TEST(scratch_is_set_to_zero),
#ifndef SIMT_WEAK_MEMORY /* one kernel is both launches, and no end of one is a fence */
                       TEST(launches_that_share_scratch_are_told),
#endif
                   });
}
