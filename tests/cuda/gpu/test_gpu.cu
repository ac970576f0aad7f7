/* SPDX-License-Identifier: MIT */
/* On a GPU: every conversion gives the host's bits over all 2^32 words, from float in
 * every rounding with either overflow, from double with one rounding a word and those
 * named; nearest even and saturating in the launchers' wide kernels too. All other
 * launchers are tested by the programs of tests/cuda/simt, which are compiled for a GPU,
 * too.
 *
 * --short tries 2^24 words of each conversion, --tiny 2^18. Of N shards each takes its
 * part of the words; what has no words runs in the first. */
#include <mpnum/kernels.cuh>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "conversions.hpp"
#include "runner.hpp"

static uint64_t words = UINT64_C(1) << 32; /* of each conversion */
static uint32_t chunk = 1u << 24;          /* of them, at a time */
static uint32_t *device_words, *host_words;

static bool is_ok(cudaError_t error, const char *what) {
  CHECK(error == cudaSuccess, "%s: %s", what, cudaGetErrorString(error));
  return error == cudaSuccess;
}

/* Number k of the words to try: all of them in turn, or an even choice. */
static __host__ __device__ uint32_t word_at(uint64_t k, uint64_t stride) {
  return static_cast<uint32_t>(k * stride);
}

template <class Function>
__global__ void convert_words(uint32_t *dst, uint64_t first, uint64_t stride,
                              Function function) {
  const size_t i = mpnum_grid_index();
  dst[i] = function.at(word_at(first + i, stride));
}

/* Of the words in host_words that differ from a function of the host: how many there are,
 * and the first one. */
struct differences {
  uint64_t count, place;
  uint32_t want;
};
template <class Function>
static differences differences_of(const void *function, uint64_t begin, uint64_t end,
                                  uint64_t first, uint64_t stride) {
  const Function &host = *static_cast<const Function *>(function);
  differences found = {0, 0, 0};
  for (uint64_t i = begin; i < end; ++i) {
    const uint32_t want = host.at(word_at(first + i, stride));
    if (host_words[i] == want || found.count++ != 0) continue;
    found.place = i;
    found.want = want;
  }
  return found;
}

/* On all cores; no template, which gcc would take seconds for. */
static void compare(const char *name, uint64_t first, uint64_t stride,
                    const void *function, decltype(&differences_of<f32_to_f16>) find) {
  const unsigned cores =
      std::thread::hardware_concurrency() ? std::thread::hardware_concurrency() : 1;
  std::vector<std::thread> threads;
  std::vector<differences> found(cores);
  for (unsigned core = 0; core < cores; ++core)
    threads.emplace_back([&, core] {
      found[core] =
          find(function, chunk * static_cast<uint64_t>(core) / cores,
               chunk * (static_cast<uint64_t>(core) + 1) / cores, first, stride);
    });
  for (unsigned core = 0; core < cores; ++core) {
    threads[core].join();
    const differences &wrong = found[core];
    CHECK(wrong.count == 0, "%s: %llu differ, first %08x: device %08x, host %08x", name,
          static_cast<unsigned long long>(wrong.count),
          word_at(first + wrong.place, stride), host_words[wrong.place], wrong.want);
  }
}

static uint64_t stride_of(uint64_t inputs) {
  const uint64_t tried = inputs < words ? inputs : words;
  return inputs <= chunk ? 1 : inputs / tried | (inputs > tried); /* odd: all kinds */
}

template <class Function>
static void check_words(const char *name, uint64_t inputs, const Function &function) {
  const uint64_t count = inputs < words ? inputs : words;
  const uint64_t stride = stride_of(inputs);
  for (uint64_t first = gpu::asked.shard * uint64_t{chunk};
       first < count && tap_errors < 10; first += gpu::asked.shards * uint64_t{chunk}) {
    convert_words<Function><<<chunk / 256, 256>>>(device_words, first, stride, function);
    if (!is_ok(cudaGetLastError(), name) ||
        !is_ok(cudaMemcpy(host_words, device_words, chunk * sizeof *host_words,
                          cudaMemcpyDeviceToHost),
               name))
      return;
    compare(name, first, stride, &function, differences_of<Function>);
  }
}

static const uint64_t all_words = UINT64_C(1) << 32;
/* Words of a type: of 8, 16 or, as tf32, 32 bits. */
static uint64_t codes_of(mpnum_type type) {
  const int bits = mpnum_type_bits_(type);
  return UINT64_C(1) << (bits < 8 ? 8 : bits);
}

template <class Function> static void check_function(uint64_t inputs) {
  check_words(Function::name(), inputs, Function());
}

/* Every rounding, the stochastic one too, with either overflow. */
template <class Function> static void check_modes(const char *name) {
  for (int mode = 0; mode < 14; ++mode) {
    const Function function = {static_cast<mpnum_rounding>(mode % 7),
                               static_cast<mpnum_overflow>(mode / 7)};
    char title[64];
    snprintf(title, sizeof title, "%s, rounding %d, overflow %d", name, mode % 7,
             mode / 7);
    check_words(title, all_words, function);
  }
}

#define CHECK_F32(name, suffix) check_function<f32_to_##name##suffix>(all_words);

static void f32_is_that_of_the_host() {
  check_function<f64_to_f32>(all_words);
  check_function<f64_to_f32_sat>(all_words);
  check_function<f64_to_f32_round>(all_words);
}
static void types_are_those_of_the_host() {
#define CHECK_PLAIN_TYPE(name)             \
 check_function<f32_to_##name>(all_words); \
 check_function<f64_to_##name>(all_words); \
 check_function<f32_to_##name##_sr>(all_words);
#define CHECK_TYPE(name, NAME, sign, exponent, mantissa, bias, specials, nan) \
 check_function<f32_to_##name##_sat>(all_words);                              \
 check_function<f64_to_##name##_sat>(all_words);                              \
 check_function<f32_to_##name##_sr_sat>(all_words);                           \
 check_function<name##_to_f32>(codes_of(MPNUM_TYPE_##NAME));                  \
 check_function<name##_to_f64>(codes_of(MPNUM_TYPE_##NAME));
  PLAIN_TYPES(CHECK_PLAIN_TYPE)
  MPNUM_FORMATS(CHECK_TYPE)
}
static void named_roundings_are_those_of_the_host() {
  WITH_RZ(CHECK_F32)
  check_function<f32_to_f16_round_up>(all_words);
  check_function<f32_to_f16_round_down>(all_words);
  check_function<f32_to_f16_round_away>(all_words);
  check_function<f32_to_f16_round_odd>(all_words);
}
static void packed_forms_from_f32_are_those_of_the_host() {
#define CHECK_X2(name, suffix) CHECK_F32(name, suffix##_x2)
#define CHECK_X4(name, suffix) CHECK_F32(name, suffix##_x4)
  WITH_X2(CHECK_X2)
  WITH_X4(CHECK_X4)
  check_function<e3m2_sat_x4_and_back>(all_words);
  check_function<e2m3_sat_x4_and_back>(all_words);
}

static void packed_forms_from_small_types_are_those_of_the_host() {
  check_function<f16_to_e4m3_x2>(all_words);
  check_function<f16_to_e4m3_sat_x2>(all_words);
  check_function<f16_to_e5m2_x2>(all_words);
  check_function<f16_to_e5m2_sat_x2>(all_words);
  check_function<e4m3_to_f16_x2>(65536);
  check_function<e5m2_to_f16_x2>(65536);
  check_function<f16_to_f32_x2>(all_words);
  check_function<bf16_to_f32_x2>(all_words);
  check_function<e5m2_to_f32_x2>(65536);
  check_function<e4m3_to_f32_x2>(65536);
  check_function<e3m2_to_f32_x2>(65536);
  check_function<e2m3_to_f32_x2>(65536);
  check_function<e2m1_to_f32_x2>(256);
  check_function<e8m0_to_f32_x2>(65536);
  check_function<e5m2_to_f32_x4>(all_words);
  check_function<e4m3_to_f32_x4>(all_words);
  check_function<e2m1_to_f32_x4>(65536);
}

static void roundings_at_run_time_are_those_of_the_host() {
#define CHECK_MODES(name, NAME, sign, exponent, mantissa, bias, specials, nan) \
 check_modes<f32_to_##name##_round>("f32_to_" #name "_round");                 \
 check_function<f64_to_##name##_round>(all_words);
  MPNUM_FORMATS(CHECK_MODES)
}

/* The wide kernels, over the words as an array of floats in place of their index. */
__global__ void write_words(uint32_t *dst, uint64_t first, uint64_t stride) {
  const size_t i = mpnum_grid_index();
  dst[i] = word_at(first + i, stride);
}
__global__ void write_codes(uint32_t *dst, const unsigned char *codes, unsigned bytes) {
  const size_t i = mpnum_grid_index();
  uint32_t code = 0;
  for (unsigned b = 0; b < bytes; ++b)
    code |= static_cast<uint32_t>(codes[i * bytes + b]) << 8 * b;
  dst[i] = code;
}

template <class T, class Function>
static void check_launcher(cudaError_t (*launch)(T *, const float *, size_t, cudaStream_t,
                                                 int)) {
  T *codes = nullptr;
  float *floats = nullptr;
  const uint64_t stride = stride_of(all_words);
  if (!is_ok(cudaMalloc(&codes, chunk * sizeof *codes), "memory") ||
      !is_ok(cudaMalloc(&floats, chunk * sizeof *floats), "memory"))
    return;
  for (uint64_t first = gpu::asked.shard * uint64_t{chunk};
       first < words && tap_errors < 10; first += gpu::asked.shards * uint64_t{chunk}) {
    write_words<<<chunk / 256, 256>>>(reinterpret_cast<uint32_t *>(floats), first,
                                      stride);
    if (!is_ok(launch(codes, floats, chunk, 0, 0), Function::name())) break;
    write_codes<<<chunk / 256, 256>>>(
        device_words, reinterpret_cast<unsigned char *>(codes), sizeof(T));
    if (!is_ok(cudaMemcpy(host_words, device_words, chunk * sizeof *host_words,
                          cudaMemcpyDeviceToHost),
               Function::name()))
      break;
    const Function function = Function();
    compare(Function::name(), first, stride, &function, differences_of<Function>);
  }
  cudaFree(codes);
  cudaFree(floats);
}

static void launchers_give_the_bits_of_the_host() {
#define CHECK_PLAIN(name) \
 check_launcher<mpnum_##name, f32_to_##name>(mpnum_launch_convert);
#define CHECK_SAT(name, NAME, sign, exponent, mantissa, bias, specials, nan) \
 check_launcher<mpnum_##name, f32_to_##name##_sat>(mpnum_launch_convert_sat);
  PLAIN_TYPES(CHECK_PLAIN)
  MPNUM_FORMATS(CHECK_SAT)
}

#include "reductions.hpp"
#include "streams.hpp"

static void the_gpu_works() {
  is_ok(cudaDeviceSynchronize(), "the first kernel");
  is_ok(cudaMalloc(&device_words, chunk * sizeof *device_words), "memory");
  is_ok(cudaMallocHost(&host_words, chunk * sizeof *host_words), "memory of the host");
}

static void run(const char *name, void (*property)(), bool has_words) {
  if (has_words || gpu::asked.shard == 0) gpu::run(name, property);
}

#define RUN_WORDS(property) run(#property, property, true)
#define RUN(property)       run(#property, property, false)

int main(int count, char **arguments) {
  int status;
  if (!gpu::begin(count, arguments, &status)) return status;
  if (gpu::asked.is_short) words = UINT64_C(1) << 24;
  if (gpu::asked.is_tiny) words = chunk = 1u << 18;
  TAP_RUN(the_gpu_works);
  if (!device_words || !host_words) return tap_done();
  RUN_WORDS(f32_is_that_of_the_host);
  RUN_WORDS(types_are_those_of_the_host);
  RUN_WORDS(named_roundings_are_those_of_the_host);
  RUN_WORDS(packed_forms_from_f32_are_those_of_the_host);
  RUN_WORDS(packed_forms_from_small_types_are_those_of_the_host);
  RUN_WORDS(roundings_at_run_time_are_those_of_the_host);
  RUN_WORDS(launchers_give_the_bits_of_the_host);
  RUN(more_than_2_to_the_31_elements_are_counted);
  RUN(amaxes_of_two_streams_do_not_meet);
  RUN(gradient_passes_of_two_streams_do_not_meet);
  RUN(quantisers_of_two_streams_do_not_meet);
  RUN(softmaxes_of_two_streams_do_not_meet);
  return tap_done();
}
