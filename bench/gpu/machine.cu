/* SPDX-License-Identifier: MIT */
/* What a GPU gives a kernel, for tools/gpu-run: how long a load takes, what a
 * multiprocessor reads and copies with so many bytes on the way, and how many lanes of an
 * instruction it takes a clock. Lines of JSON; needs no other file. */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

namespace {

void must(cudaError_t error, const char *what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "gpu-machine: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}
template <class T> T *device_array(std::size_t count) {
  void *made = nullptr;
  must(cudaMalloc(&made, count * sizeof(T)), "memory");
  return static_cast<T *>(made);
}
int multiprocessors;

/* --- latency: each load says where the next one is --- */

const unsigned line_words = 32, steps = 4096, warm_steps = 256;

__global__ void chase_kernel(uint32_t *result, const uint32_t *next, uint32_t first,
                             unsigned count, bool is_l1) {
  uint32_t at = first;
  for (unsigned i = 0; i < warm_steps; ++i)
    at = is_l1 ? next[at] : __ldcg(next + at);
  const long long begin = clock64();
  for (unsigned i = 0; i < count; ++i)
    at = is_l1 ? next[at] : __ldcg(next + at);
  result[0] = static_cast<uint32_t>(clock64() - begin);
  result[1] = at;
}

/* A cycle through all lines of 128 bytes, in random order. */
std::vector<uint32_t> random_order(std::size_t lines) {
  std::vector<uint32_t> order(lines);
  uint64_t state = 88172645463325252u;
  for (std::size_t i = 0; i < lines; ++i)
    order[i] = static_cast<uint32_t>(i);
  for (std::size_t i = lines - 1; i > 0; --i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    std::swap(order[i], order[state % (i + 1)]);
  }
  return order;
}

/* is_cached: the lines have been read before. */
void print_latency(const char *where, std::size_t bytes, bool is_l1, bool is_cached) {
  const std::size_t lines = bytes / 4 / line_words;
  const std::vector<uint32_t> order = random_order(lines);
  std::vector<uint32_t> next(lines * line_words);
  uint32_t found[2];
  for (std::size_t i = 0; i < lines; ++i)
    next[order[i] * line_words] = order[(i + 1) % lines] * line_words;
  uint32_t *const there = device_array<uint32_t>(next.size());
  uint32_t *const result = device_array<uint32_t>(2);
  must(cudaMemcpy(there, next.data(), 4 * next.size(), cudaMemcpyHostToDevice), "lines");
  if (is_cached)
    chase_kernel<<<1, 1>>>(result, there, 0, static_cast<unsigned>(lines), is_l1);
  chase_kernel<<<1, 1>>>(result, there, 0, 1, is_l1); /* loads the code */
  chase_kernel<<<1, 1>>>(result, there, order[lines / 2] * line_words, steps, is_l1);
  must(cudaMemcpy(found, result, sizeof found, cudaMemcpyDeviceToHost), "latency");
  std::printf("{\"machine\": \"latency\", \"of\": \"%s\", \"value\": %.1f, \"unit\": "
              "\"clocks\"}\n",
              where, static_cast<double>(found[0]) / steps);
  cudaFree(there);
  cudaFree(result);
}

/* --- bytes on the way --- */

const std::size_t moved = std::size_t{1} << 30;

/* `vectors` loads of 16 bytes a thread before it uses the first. */
template <int vectors, bool stores>
__global__ void move_kernel(uint4 *dst, const uint4 *src, std::size_t count) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x * vectors;
  std::size_t at = std::size_t{blockIdx.x} * blockDim.x * vectors + threadIdx.x;
  uint32_t all = 0;
  for (; at + (vectors - 1) * blockDim.x < count; at += step) {
    uint4 in[vectors];
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(in[v].x), "=r"(in[v].y), "=r"(in[v].z), "=r"(in[v].w)
                   : "l"(src + at + v * blockDim.x));
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      if (stores) dst[at + v * blockDim.x] = in[v];
      all |= in[v].x ^ in[v].y ^ in[v].z ^ in[v].w;
    }
  }
  if (!stores && all == 0x80000001u) dst->x = all; /* never, which no compiler knows */
}

template <int vectors, bool stores>
void print_rate(uint4 *dst, const uint4 *src, int threads, int blocks) {
  cudaEvent_t begin, end;
  float times[3];
  must(cudaEventCreate(&begin), "an event");
  must(cudaEventCreate(&end), "an event");
  for (int i = -1; i < 3; ++i) {
    cudaEventRecord(begin);
    move_kernel<vectors, stores>
        <<<multiprocessors * blocks, threads>>>(dst, src, moved / 16);
    cudaEventRecord(end);
    must(cudaEventSynchronize(end), "moving");
    cudaEventElapsedTime(&times[i < 0 ? 0 : i], begin, end);
  }
  std::sort(times, times + 3);
  std::printf("{\"machine\": \"%s\", \"of\": \"%.0f KiB on the way, %d bytes a thread\", "
              "\"value\": %.0f, \"unit\": \"GB/s\"}\n",
              stores ? "copy" : "read", threads * blocks * vectors * 16 / 1024.0,
              16 * vectors, (stores ? 2.0 : 1.0) * moved / (times[1] * 1e6));
  std::fflush(stdout);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
}

template <bool stores> void print_rates(uint4 *dst, const uint4 *src) {
  const int resident[][2] = {{128, 1}, {256, 1}, {256, 2}, {256, 3},
                             {256, 4}, {256, 6}, {256, 8}};
  for (const int(&r)[2] : resident)
    print_rate<1, stores>(dst, src, r[0], r[1]);
  for (const int(&r)[2] : resident)
    print_rate<4, stores>(dst, src, r[0], r[1]);
}

/* --- instructions: each thread has chains of them, which a clock counts --- */

enum { CHAINS = 8, REPEATS = 16, LOOPS = 64, THREADS = 1024 };

#define RATE(NAME, TYPE, LETTER, COUNT, TEXT)                                          \
 __global__ void NAME##_kernel(uint32_t *dst, uint32_t seed, long long *clocks) {      \
  TYPE x[CHAINS], y = (TYPE)(threadIdx.x + seed), z = (TYPE)(seed | 1);                \
  for (int i = 0; i < CHAINS; ++i)                                                     \
   x[i] = (TYPE)(seed + i * 3 + threadIdx.x);                                          \
  __syncthreads();                                                                     \
  const long long begin = clock64();                                                   \
  for (unsigned loop = 0; loop < LOOPS; ++loop) {                                      \
   _Pragma("unroll") for (int r = 0; r < REPEATS; ++r) {                               \
    _Pragma("unroll") for (int i = 0; i < CHAINS; ++i) asm volatile(                   \
        TEXT : "+" LETTER(x[i]) : LETTER(y), LETTER(z), LETTER(x[(i + 1) % CHAINS]));  \
   }                                                                                   \
  }                                                                                    \
  const long long end = clock64();                                                     \
  uint32_t all = 0;                                                                    \
  for (int i = 0; i < CHAINS; ++i)                                                     \
   all ^= (uint32_t)x[i];                                                              \
  if (all == 0x12345678u && seed == 77) dst[0] = all;                                  \
  if (threadIdx.x % 32 == 0) clocks[blockIdx.x * 32 + threadIdx.x / 32] = end - begin; \
 }
#define AS_FLOAT(text) "{.reg .f32 f; mov.b32 f, %0; " text "}"
/* A name, the type of the registers, how many instructions of SASS the text is. */
#define INSTRUCTIONS(DO)                                                                 \
 DO(fma_f32, float, "f", 1, "fma.rn.f32 %0, %1, %2, %0;")                                \
 DO(add_f32, float, "f", 1, "add.rn.f32 %0, %0, %3;")                                    \
 DO(mad_u32, uint32_t, "r", 1, "mad.lo.u32 %0, %0, %1, %3;")                             \
 DO(mul_hi_u32, uint32_t, "r", 1, "mad.hi.u32 %0, %0, %1, %3;")                          \
 DO(add_u32, uint32_t, "r", 1, "add.u32 %0, %0, %3;")                                    \
 DO(lop3, uint32_t, "r", 1, "lop3.b32 %0, %0, %1, %3, 0x6a;")                            \
 DO(shift, uint32_t, "r", 1, "shf.l.wrap.b32 %0, %0, %3, 7;")                            \
 DO(permute, uint32_t, "r", 1, "prmt.b32 %0, %0, %3, 0x5410;")                           \
 DO(min_u32, uint32_t, "r", 1, "min.u32 %0, %0, %3;")                                    \
 DO(max_f32, float, "f", 1, "max.f32 %0, %0, %3;")                                       \
 DO(compare_select, uint32_t, "r", 2,                                                    \
    "{.reg .pred p; setp.gt.u32 p, %0, %3; selp.u32 %0, %1, %3, p;}")                    \
 DO(f32_to_bf16x2, uint32_t, "r", 1, AS_FLOAT("cvt.rn.bf16x2.f32 %0, f, f;"))            \
 DO(f32_to_f16x2, uint32_t, "r", 1, AS_FLOAT("cvt.rn.f16x2.f32 %0, f, f;"))              \
 DO(f16_to_f32, uint32_t, "r", 1,                                                        \
    "{.reg .b16 h, g; .reg .f32 f; mov.b32 {h, g}, %0; cvt.f32.f16 f, g; mov.b32 %0, "   \
    "f;}")                                                                               \
 DO(fma_f16x2, uint32_t, "r", 1, "fma.rn.f16x2 %0, %1, %2, %0;")                         \
 DO(max_f16x2, uint32_t, "r", 1, "max.f16x2 %0, %0, %3;")                                \
 DO(exp2_f32, float, "f", 1, "ex2.approx.ftz.f32 %0, %0;")                               \
 DO(popcount, uint32_t, "r", 1, "popc.b32 %0, %0;")                                      \
 DO(find_bit, uint32_t, "r", 1, "bfind.u32 %0, %0;")                                     \
 DO(f32_to_s32, uint32_t, "r", 1, AS_FLOAT("cvt.rni.s32.f32 %0, f;"))                    \
 DO(s32_to_f32, uint32_t, "r", 1, "{.reg .f32 f; cvt.rn.f32.s32 f, %0; mov.b32 %0, f;}") \
 DO(u8_to_f32, uint32_t, "r", 1, "{.reg .f32 f; cvt.rn.f32.u8 f, %0; mov.b32 %0, f;}")   \
 DO(f64_to_f32_to_f64, double, "d", 2,                                                   \
    "{.reg .f32 f; cvt.rn.f32.f64 f, %0; cvt.f64.f32 %0, f;}")                           \
 DO(fma_f64, double, "d", 1, "fma.rn.f64 %0, %1, %2, %0;")                               \
 DO(shuffle, uint32_t, "r", 1, "shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;")        \
 DO(fma_and_lop3, uint32_t, "r", 2,                                                      \
    "{.reg .f32 f, g; mov.b32 f, %0; mov.b32 g, %1; fma.rn.f32 f, g, g, f;"              \
    " mov.b32 %0, f; lop3.b32 %0, %0, %1, %3, 0x6a;}")                                   \
 DO(bf16x2_and_fma, uint32_t, "r", 2,                                                    \
    "{.reg .f32 f, g; mov.b32 f, %0; mov.b32 g, %1; fma.rn.f32 f, g, g, f;"              \
    " cvt.rn.bf16x2.f32 %0, f, g;}")                                                     \
 DO(bf16x2_and_lop3, uint32_t, "r", 2,                                                   \
    AS_FLOAT("cvt.rn.bf16x2.f32 %0, f, f; lop3.b32 %0, %0, %1, %3, 0x6a;"))
INSTRUCTIONS(RATE)

void print_instruction(const char *name, int count,
                       void (*kernel)(uint32_t *, uint32_t, long long *)) {
  const std::size_t warps = std::size_t{32} * multiprocessors;
  long long *const clocks = device_array<long long>(warps);
  std::vector<long long> found(warps);
  for (int i = 0; i < 2; ++i)
    kernel<<<multiprocessors, THREADS>>>(nullptr, 5, clocks);
  must(cudaMemcpy(found.data(), clocks, warps * sizeof found[0], cudaMemcpyDeviceToHost),
       name);
  const long long longest = *std::max_element(found.begin(), found.end());
  std::printf("{\"machine\": \"instruction\", \"of\": \"%s\", \"value\": %.1f, \"unit\": "
              "\"lanes a clock\"}\n",
              name, 1.0 * count * LOOPS * REPEATS * CHAINS * THREADS / longest);
  cudaFree(clocks);
}

void print_device() {
  cudaDeviceProp of;
  int clock = 0;
  must(cudaGetDeviceProperties(&of, 0), "a GPU");
  must(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0), "its clock");
  multiprocessors = of.multiProcessorCount;
  std::printf(
      "{\"machine\": \"device\", \"of\": \"%s, %d multiprocessors, L2 of %d MiB\", "
      "\"value\": %d, \"unit\": \"MHz at most\"}\n",
      of.name, multiprocessors, of.l2CacheSize >> 20, clock / 1000);
}

} // namespace

int main() {
  print_device();
  uint4 *const a = device_array<uint4>(moved / 16), *const b =
                                                        device_array<uint4>(moved / 16);
  must(cudaMemset(a, 0x5a, moved), "clearing");
  for (int i = 0; i < 60; ++i) /* clocks settle */
    move_kernel<4, true><<<multiprocessors * 8, 256>>>(b, a, moved / 16);
  print_latency("L1", 16 << 10, true, true);
  print_latency("L2, 1 MiB", 1 << 20, false, true);
  print_latency("L2, 16 MiB", 16 << 20, false, true);
  print_latency("memory", 512 << 20, false, false);
  print_rates<false>(b, a);
  print_rates<true>(b, a);
#define PRINT(NAME, TYPE, LETTER, COUNT, TEXT) \
 print_instruction(#NAME, COUNT, NAME##_kernel);
  INSTRUCTIONS(PRINT)
  return 0;
}
