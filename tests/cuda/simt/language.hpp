/* SPDX-License-Identifier: MIT */
/* CUDA's words for a C++ compiler: qualifiers, vector types, built-in variables. The
 * names are CUDA's, hence reserved ones. */
#ifndef MPNUM_TESTS_SIMT_LANGUAGE_HPP
#define MPNUM_TESTS_SIMT_LANGUAGE_HPP

#if defined(__CUDACC__) || defined(__CUDA__)
# error "this stands in for a CUDA compiler"
#endif

#if defined(__clang__)
# pragma clang diagnostic push
# pragma clang diagnostic ignored "-Wreserved-identifier"
#endif

#define __host__
#define __device__
#define __global__
#define __constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

/* The only storage that a prefix alone gives to variables in functions of any kind,
 * static, inline or template, and that `extern` may precede. All fibers run on one OS
 * thread and share it. Marked as used, or a compiler that sees no write reads zero. */
#define __shared__ __attribute__((used)) thread_local

#if defined(__clang__)
# pragma clang diagnostic pop
# pragma clang diagnostic ignored "-Wignored-attributes" /* `used`, at an extern */
#else
# pragma GCC diagnostic ignored "-Wattributes" /* the same */
#endif

/* As CUDA aligns them. */
#define SIMT_VECTOR_2(scalar, name, alignment) \
 struct alignas(alignment) name##2 {           \
  scalar x, y;                                 \
 };                                            \
 inline name##2 make_##name##2(scalar x, scalar y) { return {x, y}; }
#define SIMT_VECTOR_3(scalar, name) \
 struct name##3 {                   \
  scalar x, y, z;                   \
 };                                 \
 inline name##3 make_##name##3(scalar x, scalar y, scalar z) { return {x, y, z}; }
#define SIMT_VECTOR_4(scalar, name, alignment)                           \
 struct alignas(alignment) name##4 {                                     \
  scalar x, y, z, w;                                                     \
 };                                                                      \
 inline name##4 make_##name##4(scalar x, scalar y, scalar z, scalar w) { \
  return {x, y, z, w};                                                   \
 }
#define SIMT_VECTORS(scalar, name, size) \
 SIMT_VECTOR_2(scalar, name, 2 * size)   \
 SIMT_VECTOR_3(scalar, name)             \
 SIMT_VECTOR_4(scalar, name, 4 * size)

SIMT_VECTORS(signed char, char, 1)
SIMT_VECTORS(unsigned char, uchar, 1)
SIMT_VECTORS(short, short, 2)
SIMT_VECTORS(unsigned short, ushort, 2)
SIMT_VECTORS(int, int, 4)
SIMT_VECTORS(unsigned, uint, 4)
SIMT_VECTORS(float, float, 4)
SIMT_VECTOR_2(double, double, 16)
SIMT_VECTOR_2(long long, longlong, 16)
SIMT_VECTOR_2(unsigned long long, ulonglong, 16)

#undef SIMT_VECTORS
#undef SIMT_VECTOR_4
#undef SIMT_VECTOR_3
#undef SIMT_VECTOR_2

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1)
      : x(x_), y(y_), z(z_) {}
};

/* Of the thread that runs. */
inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;
constexpr int warpSize = 32;

#endif
