/* SPDX-License-Identifier: MIT */
/* Random data, made where it is used. Element i depends on the seed and i alone. */
#ifndef MPNUM_BENCH_GPU_FILL_CUH
#define MPNUM_BENCH_GPU_FILL_CUH

#include <math.h>

#include <mpnum/kernels.cuh>

/* A launch in the default stream that returns the runtime's error. */
/* The type itself, so that arguments convert to the kernel's parameters. */
template <class T> struct gpu_parameter { typedef T type; };

template <class... Parameters>
static inline cudaError_t
gpu_launch(void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
           typename gpu_parameter<Parameters>::type... arguments) {
  void *pointers[] = {&arguments...};
  return cudaLaunchKernel(kernel, dim3(blocks), dim3(threads), pointers, 0, 0);
}

const unsigned GPU_FILL_THREADS = 256;
const size_t GPU_FILL_BLOCKS = 2048;

/* Blocks for n threads, which take further elements in a stride. */
static inline unsigned gpu_fill_blocks(size_t n) {
  const size_t blocks = (n + GPU_FILL_THREADS - 1) / GPU_FILL_THREADS;
  return static_cast<unsigned>(blocks < GPU_FILL_BLOCKS ? blocks : GPU_FILL_BLOCKS);
}

/* Box and Muller (1958), the sine and the cosine: mean 0, deviation 1. */
static __global__ void gpu_normal_kernel(float *dst, size_t n, uint64_t seed) {
  const float two_pi = 6.2831853f;
  for (size_t i = mpnum_grid_index(); 4 * i < n; i += mpnum_grid_size()) {
    const mpnum_u32x4 word = mpnum_random_x4(seed, i);
    /* In (0, 1): 24 bits and a half, since the logarithm takes no 0. */
    const float a = (static_cast<float>(word.x >> 8) + 0.5f) * 0x1p-24f;
    const float b = (static_cast<float>(word.z >> 8) + 0.5f) * 0x1p-24f;
    const float r = sqrtf(-2 * logf(a)), s = sqrtf(-2 * logf(b));
    const float t = two_pi * 0x1p-32f * static_cast<float>(word.y);
    const float u = two_pi * 0x1p-32f * static_cast<float>(word.w);
    const mpnum_lanes<float, 4> values = {
        {r * cosf(t), r * sinf(t), s * cosf(u), s * sinf(u)}};
    mpnum_store(dst + 4 * i, values, n - 4 * i);
  }
}

static inline cudaError_t gpu_fill_normal(float *dst, size_t n, uint64_t seed) {
  return gpu_launch(gpu_normal_kernel, gpu_fill_blocks((n + 3) / 4), GPU_FILL_THREADS,
                    dst, n, seed);
}

/* Words of `mask` random bits, shifted. */
template <class Word>
static __global__ void gpu_codes_kernel(Word *dst, size_t n, uint32_t mask,
                                        unsigned shift) {
  for (size_t i = mpnum_grid_index(); i < n; i += mpnum_grid_size())
    dst[i] = static_cast<Word>((mpnum_random(1, i) & mask) << shift);
}

template <class Word>
static inline cudaError_t gpu_fill_codes(Word *dst, size_t n, uint32_t mask,
                                         unsigned shift) {
  return gpu_launch(gpu_codes_kernel<Word>, gpu_fill_blocks(n), GPU_FILL_THREADS, dst, n,
                    mask, shift);
}

#endif
