/* SPDX-License-Identifier: MIT */
/* The types of cuda_fp16.h, cuda_bf16.h, cuda_fp8.h and, where the toolkit has them (12.8
 * on), cuda_fp6.h and cuda_fp4.h, and those of mpnum: the same bits, either way. Opt-in,
 * C++11, in host code without nvcc too.
 *
 *     mpnum_f16 x = mpnum_from_cuda(__float2half(1.5f));
 *     __half y = mpnum_to_cuda(x);
 *
 * mpnum_from_cuda and mpnum_to_cuda take the types of each row of MPNUM_CUDA_TYPES_
 * below; compiled they are a move of the bits, a NaN's too. A __nv_fp8_ue5m3 (13.4 on) is
 * a byte, as scales of MPNUM_TYPE_UE5M3 are: uint8_t. __nv_fp6x4_* has no row: its
 * codes are a byte apart, those of mpnum_e3m2x4 and mpnum_e2m3x4 are dense. */
#ifndef MPNUM_CUDA_INTEROP_CUH
#define MPNUM_CUDA_INTEROP_CUH

#include "../mpnum.h"
MPNUM_C_BEGIN_

/* What a host compiler finds in CUDA's headers is not the user's to mend. */
#if MPNUM_HAS_GNU_
# pragma GCC diagnostic push
# pragma GCC diagnostic ignored "-Wunused-parameter"
# pragma GCC diagnostic ignored "-Wconversion"
# pragma GCC diagnostic ignored "-Wold-style-cast"
# if defined(__clang__)
#  pragma GCC diagnostic ignored "-Wunknown-warning-option"
#  pragma GCC diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#  pragma GCC diagnostic ignored "-Wreserved-identifier"
#  pragma GCC diagnostic ignored "-Wreserved-macro-identifier"
# endif
#endif

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#if defined(__has_include)
# if __has_include(<cuda_fp6.h>) && __has_include(<cuda_fp4.h>)
#  include <cuda_fp4.h>
#  include <cuda_fp6.h>
#  define MPNUM_HAS_CUDA_FP4_ 1
# endif
#endif
#ifndef MPNUM_HAS_CUDA_FP4_
# define MPNUM_HAS_CUDA_FP4_ 0
#endif
struct __nv_fp8_ue5m3; /* which older toolkits leave at that */

#if MPNUM_HAS_GNU_
# pragma GCC diagnostic pop
#endif

/* ROW(CUDA's type, ours) */
#define MPNUM_CUDA_TYPES_(ROW)      \
 ROW(__half, mpnum_f16)             \
 ROW(__half2, mpnum_f16x2)          \
 ROW(__nv_bfloat16, mpnum_bf16)     \
 ROW(__nv_bfloat162, mpnum_bf16x2)  \
 ROW(__nv_fp8_e5m2, mpnum_e5m2)     \
 ROW(__nv_fp8x2_e5m2, mpnum_e5m2x2) \
 ROW(__nv_fp8x4_e5m2, mpnum_e5m2x4) \
 ROW(__nv_fp8_e4m3, mpnum_e4m3)     \
 ROW(__nv_fp8x2_e4m3, mpnum_e4m3x2) \
 ROW(__nv_fp8x4_e4m3, mpnum_e4m3x4)
/* The same of toolkit 12.8 on. */
#define MPNUM_CUDA_BLOCK_TYPES_(ROW) \
 ROW(__nv_fp8_e8m0, mpnum_e8m0)      \
 ROW(__nv_fp8x2_e8m0, mpnum_e8m0x2)  \
 ROW(__nv_fp6_e3m2, mpnum_e3m2)      \
 ROW(__nv_fp6x2_e3m2, mpnum_e3m2x2)  \
 ROW(__nv_fp6_e2m3, mpnum_e2m3)      \
 ROW(__nv_fp6x2_e2m3, mpnum_e2m3x2)  \
 ROW(__nv_fp4_e2m1, mpnum_e2m1)      \
 ROW(__nv_fp4x2_e2m1, mpnum_e2m1x2)  \
 ROW(__nv_fp4x4_e2m1, mpnum_e2m1x4)

#if MPNUM_HAS_CUDA_
# define MPNUM_INTEROP_ static __host__ __device__ __forceinline__
#else
# define MPNUM_INTEROP_ static inline
#endif

/* The type with the same bits. */
template <class Theirs> struct mpnum_type_from_cuda_;
template <class Ours> struct mpnum_type_to_cuda_;
#define MPNUM_SAME_BITS_(theirs, ours)                            \
 template <> struct mpnum_type_from_cuda_<theirs> {               \
  static_assert(sizeof(theirs) == sizeof(ours), "the same bits"); \
  typedef ours type;                                              \
 };                                                               \
 template <> struct mpnum_type_to_cuda_<ours> { typedef theirs type; };
MPNUM_CUDA_TYPES_(MPNUM_SAME_BITS_)
#if MPNUM_HAS_CUDA_FP4_
MPNUM_CUDA_BLOCK_TYPES_(MPNUM_SAME_BITS_)
#endif
#undef MPNUM_SAME_BITS_
template <> struct mpnum_type_from_cuda_<__nv_fp8_ue5m3> { typedef uint8_t type; };
template <> struct mpnum_type_to_cuda_<uint8_t> { typedef __nv_fp8_ue5m3 type; };

/* One value, as bits. */
template <class Theirs>
MPNUM_INTEROP_ typename mpnum_type_from_cuda_<Theirs>::type mpnum_from_cuda(Theirs x) {
  typename mpnum_type_from_cuda_<Theirs>::type y;
  MPNUM_MEMCPY_(&y, &x, sizeof y);
  return y;
}
template <class Ours>
MPNUM_INTEROP_ typename mpnum_type_to_cuda_<Ours>::type mpnum_to_cuda(Ours x) {
  typename mpnum_type_to_cuda_<Ours>::type y;
  MPNUM_MEMCPY_(static_cast<void *>(&y), &x, sizeof y);
  return y;
}

#undef MPNUM_INTEROP_
#undef MPNUM_CUDA_TYPES_
#undef MPNUM_CUDA_BLOCK_TYPES_

MPNUM_C_END_
#endif
