/* SPDX-License-Identifier: MIT */
/* The histogram and the losses of mpnum/training/health.cuh, collectives of
 * mpnum/cuda/block.cuh for sums of doubles, totals and findings, and probes, against the
 * host's functions or plain loops. */
#define MPNUM_NO_SIMD 1 /* the host's loops that are the meaning of all others */

#include "simt_checks.hpp"

#include <mpnum/training/health.cuh>

#include <cmath>
#include <cstring>
#include <random>

namespace {

template <class T> bool same(const T &a, const T &b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

template <class T> vector<T> random_values(std::size_t n) {
  std::mt19937 random(static_cast<unsigned>(n));
  vector<T> values(n);
  for (T &x : values) {
    const std::uint64_t word = random() % 9 ? random() : random() & 0x80000000u;
    std::memcpy(static_cast<void *>(&x), &word, sizeof x);
    if (random() % 11 == 0) std::memset(static_cast<void *>(&x), 0, sizeof x);
  }
  return values;
}

template <class T> void check_health() {
  const mpnum_format formats[] = {
      mpnum_format_of(MPNUM_TYPE_E4M3), mpnum_format_of(MPNUM_TYPE_E2M1),
      mpnum_format_of(MPNUM_TYPE_E5M2), mpnum_format_of(MPNUM_TYPE_F64)};
  const char *name = mpnum_type_name(mpnum::type_of<T>::value);
  unsigned which = 0;
  for (std::size_t n : {0u, 1u, 17u, 4097u, is_fast() ? 5000001u : 9000u}) {
    for (std::size_t first : {0u, 1u, 3u}) {
      const vector<T> values = random_values<T>(n + first);
      const T *src = values.data() + first;
      const float scale = which % 3 ? 1.0f : 1e-20f;
      mpnum_histogram &histogram = placed(mpnum_histogram_empty());
      histogram.zeros = histogram.counts[3] = 1000;
      mpnum_histogram expected = histogram;
      mpnum_lost &lost = placed(mpnum_lost{5, 6});
      simt::use(simt::schedules[which++ % 6]);
      for (std::size_t i = 0; i < n; ++i)
        mpnum_histogram_add(&expected, mpnum::float_of_(src[i]));
      CHECK_LAUNCH(mpnum_launch_histogram(&histogram, src, n, nullptr));
      CHECK(same(histogram, expected), "%s: histogram of %zu", name, n);
      const mpnum_format format = formats[which % 4];
      mpnum_lost sum = {5, 6};
      CHECK(mpnum_count_lost(&sum, mpnum::type_of<T>::value, src, n, format, scale) ==
                MPNUM_OK,
            "%s: host", name);
      CHECK_LAUNCH(mpnum_launch_count_lost(&lost, src, n, format, scale, nullptr));
      CHECK(same(lost, sum), "%s: %llu and %llu lost of %zu", name,
            static_cast<unsigned long long>(lost.underflows),
            static_cast<unsigned long long>(lost.overflows), n);
    }
  }
}
void health_is_that_of_the_host(void) {
  check_health<float>();
  check_health<mpnum_bf16>();
  check_health<mpnum_f16>();
  check_health<mpnum_e5m2>();
  check_health<mpnum_e4m3>();
}

void health_launchers_refuse_and_return_errors(void) {
  const float &value = placed(1.0f);
  const float *none = nullptr;
  const mpnum_format format = mpnum_format_of(MPNUM_TYPE_F16);
  mpnum_histogram &histogram = placed(mpnum_histogram_empty());
  mpnum_lost &lost = placed(mpnum_lost{0, 0});
  CHECK(mpnum_launch_histogram(&histogram, none, 0, nullptr) == cudaSuccess, "nothing");
  CHECK(mpnum_launch_count_lost(&lost, none, 0, format, 1, nullptr) == cudaSuccess,
        "nothing");
  for (cudaError_t error :
       {mpnum_launch_histogram(&histogram, none, 1, nullptr),
        mpnum_launch_histogram<float>(nullptr, &value, 1, nullptr),
        mpnum_launch_count_lost(&lost, none, 1, format, 1, nullptr),
        mpnum_launch_count_lost<float>(nullptr, &value, 1, format, 1, nullptr)})
    CHECK(error == cudaErrorInvalidValue, "%s", cudaGetErrorName(error));
  simt::launch_error = sound;
  for (cudaError_t error :
       {mpnum_launch_histogram(&histogram, &value, 1, nullptr),
        mpnum_launch_count_lost(&lost, &value, 1, format, 1, nullptr)})
    CHECK(error == sound, "%s", cudaGetErrorName(error));
  simt::launch_error = cudaSuccess;
  if (is_simulated)
    CHECK(same(histogram, mpnum_histogram_empty()) && lost.underflows == 0, "written");
}

__global__ void sum_f64(const double *values, double *sums) {
  __shared__ std::uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  const unsigned i = mpnum_thread_index_();
  sums[2 * i] = mpnum_block_sum_f64(values[i], scratch);
  sums[2 * i + 1] = mpnum_block_sum_f64(-values[i], scratch);
}
double sum_of_lanes(const double *values) {
  double lanes[32], next[32];
  std::memcpy(lanes, values, sizeof lanes);
  for (int apart : {16, 8, 4, 2, 1}) {
    for (int i = 0; i < 32; ++i)
      next[i] = lanes[i] + lanes[i ^ apart];
    std::memcpy(lanes, next, sizeof lanes);
  }
  return std::isnan(lanes[0]) ? mpnum_from_bits_f64(0x7fffffffffffffffu) : lanes[0];
}
double sum_of_block(const vector<double> &values) {
  double warps[32];
  std::fill(warps, warps + 32, -0.0);
  for (std::size_t i = 0; i < values.size() / 32; ++i)
    warps[i] = sum_of_lanes(values.data() + 32 * i);
  return sum_of_lanes(warps);
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
          CHECK(mpnum_bits_f64(sums[2 * i]) == mpnum_bits_f64(sum_of_block(values)) &&
                    mpnum_bits_f64(sums[2 * i + 1]) ==
                        mpnum_bits_f64(sum_of_block(negative)),
                "thread %u of %u", i, n);
      }
    }
  });
}

/* Twice, with nothing between the calls but the reading. */
__global__ void merge(const mpnum_grad_findings *own, mpnum_grad_findings *merged,
                      mpnum_exact_sum *totals) {
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
      CHECK_LAUNCH(simt::launch(merge, {1, dim3(n / 8, 4, 2)}, own.data(), got.data(),
                                totals.data()));
      for (unsigned i = 0; i < n; ++i)
        CHECK(same(got[i], expected) && same(totals[i], expected.squares),
              "thread %u of %u", i, n);
    }
  });
}

__global__ void probe(std::uint64_t *word, const float *values, std::uint32_t step) {
  const std::uint32_t i = static_cast<std::uint32_t>(mpnum_grid_index());
  mpnum_probe(word, step, i, values[i]);
}
void probes_keep_the_first_step_and_site(void) {
  vector<float> values(256, 3e38f);
  in_every_schedule([&] {
    std::uint64_t &word = placed(mpnum_probe_empty());
    CHECK_LAUNCH(simt::launch(probe, {4, 64}, &word, values.data(), 5));
    CHECK(word == mpnum_probe_empty(), "finite values");
    vector<float> odd = values;
    odd[200] = mpnum_from_bits_f32(0x7f800000);
    odd[77] = mpnum_from_bits_f32(0xffc00000);
    for (std::uint32_t step : {9u, 0xffffffffu, 6u, 7u}) {
      CHECK_LAUNCH(simt::launch(probe, {4, 64}, &word, odd.data(), step));
      CHECK(mpnum_probe_site(word) == 77 && mpnum_probe_step(word) == (step < 9 ? 6 : 9),
            "step %u, site %u", mpnum_probe_step(word), mpnum_probe_site(word));
    }
  });
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(count, arguments,
                   {
                       TEST(health_is_that_of_the_host),
                       TEST(health_launchers_refuse_and_return_errors),
                       TEST(doubles_are_summed_in_one_order),
                       TEST(findings_of_threads_are_merged),
                       TEST(probes_keep_the_first_step_and_site),
                   });
}
