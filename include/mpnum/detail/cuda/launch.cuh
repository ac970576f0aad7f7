/* SPDX-License-Identifier: MIT */
/* What the kernels of cuda/ share: elements of arrays, packed ones too, and the launch.
 */
#ifndef MPNUM_DETAIL_CUDA_LAUNCH_CUH
#define MPNUM_DETAIL_CUDA_LAUNCH_CUH

#include "../../cuda/device.cuh"
#include "../../mpnum.hpp"

/* Before a loop over an array in registers, before one that is to stay a loop, and before
 * one of which so many turns are to be one. The host's compiler does not know them. */
#if MPNUM_HAS_CUDA && defined(__CUDA_ARCH__)
# define MPNUM_PRAGMA_(...)   _Pragma(# __VA_ARGS__)
# define MPNUM_UNROLL_        MPNUM_PRAGMA_(unroll)
# define MPNUM_NO_UNROLL_     MPNUM_PRAGMA_(unroll 1)
# define MPNUM_UNROLL_BY_(by) MPNUM_PRAGMA_(unroll(by))
#else
# define MPNUM_UNROLL_
# define MPNUM_NO_UNROLL_
# define MPNUM_UNROLL_BY_(by)
#endif

enum {
  MPNUM_LAUNCH_THREADS_ = 256,
  MPNUM_LAUNCH_WARPS_ = MPNUM_LAUNCH_THREADS_ / 32,
  MPNUM_LAUNCH_VECTORS_ = 4, /* of each thread, in flight together */
  /* Of a multiprocessor: what any GPU holds at a time if a thread has 64 registers, so
   * that a grid is one wave, and what is enough to keep its memory busy. */
  MPNUM_LAUNCH_BLOCKS_ = 4,
  /* Enough for any GPU; what ends in atomics for each block takes no more. */
  MPNUM_LAUNCH_REDUCE_BLOCKS_ = 2048
};

/* The hot path of a kernel over arrays: whole tiles, in which consecutive threads take
 * consecutive vectors, MPNUM_LAUNCH_VECTORS_ each before it uses the first. Whether an
 * array is aligned is asked once, what is before the first vector is left to a few
 * threads, and what fills no tile to one block. */
struct alignas(16) mpnum_vector_ {
  uint32_t at[4];
};

MPNUM_INLINE int mpnum_is_aligned_(const void *address) {
  return reinterpret_cast<size_t>(address) % sizeof(mpnum_vector_) == 0;
}
/* Bytes before the first vector of an array. */
MPNUM_INLINE unsigned mpnum_bytes_before_vectors_(const void *address) {
  return static_cast<unsigned>(0 - reinterpret_cast<size_t>(address)) %
         sizeof(mpnum_vector_);
}
/* Vectors src[0], src[stride] and so on. */
template <unsigned count>
static __device__ __forceinline__ void
mpnum_load_vectors_(mpnum_vector_ (&vectors)[count], const mpnum_vector_ *src,
                    unsigned stride) {
  MPNUM_UNROLL_
  for (unsigned i = 0; i < count; ++i)
    vectors[i] = src[i * stride];
}

namespace mpnum {

/* The scalar conversion from Src to Dst by name: exact where Dst is float or double and
 * wider, through float, exactly, between two small types. */
template <class Dst, class Src> struct cast_ {
  MPNUM_INLINE Dst plain(Src x) { return from_float<Dst>(to_float(x)); }
  MPNUM_INLINE Dst sat(Src x) { return from_float_sat<Dst>(to_float(x)); }
  MPNUM_INLINE Dst rounded(Src x, mpnum_rounding rounding, mpnum_overflow overflow,
                           uint32_t random) {
    return (round<Dst>)(to_float(x), rounding, overflow, random);
  }
};
template <class Dst> struct cast_<Dst, float> {
  MPNUM_INLINE Dst plain(float x) { return from_float<Dst>(x); }
  MPNUM_INLINE Dst sat(float x) { return from_float_sat<Dst>(x); }
  MPNUM_INLINE Dst rounded(float x, mpnum_rounding rounding, mpnum_overflow overflow,
                           uint32_t random) {
    return (round<Dst>)(x, rounding, overflow, random);
  }
};
template <class Dst> struct cast_<Dst, double> {
  MPNUM_INLINE Dst plain(double x) { return from_double<Dst>(x); }
  MPNUM_INLINE Dst sat(double x) { return from_double_sat<Dst>(x); }
  MPNUM_INLINE Dst rounded(double x, mpnum_rounding rounding, mpnum_overflow overflow,
                           uint32_t random) {
    return (round<Dst>)(x, rounding, overflow, random);
  }
};
template <class Src> struct cast_<float, Src> {
  MPNUM_INLINE float plain(Src x) { return to_float(x); }
};
template <class Src> struct cast_<double, Src> {
  MPNUM_INLINE double plain(Src x) { return to_double(x); }
};
template <> struct cast_<double, float> {
  MPNUM_INLINE double plain(float x) { return mpnum_f32_to_f64(x); }
};
template <> struct cast_<float, double> {
  MPNUM_INLINE float plain(double x) { return mpnum_f64_to_f32(x); }
  MPNUM_INLINE float sat(double x) { return mpnum_f64_to_f32_sat(x); }
  MPNUM_INLINE float rounded(double x, mpnum_rounding rounding, mpnum_overflow overflow,
                             uint32_t random) {
    return mpnum_f64_to_f32_round(x, rounding, overflow, random);
  }
};

/* Elements of an array: one each, or several packed in one. */
template <class T> struct packed_ {
  typedef T element;
  enum { count = 1 };
  MPNUM_INLINE T pack(const T *codes) { return codes[0]; }
  MPNUM_INLINE T unpack(T packed, unsigned) { return packed; }
};
template <> struct packed_<mpnum_e2m1x2> {
  typedef mpnum_e2m1 element;
  enum { count = 2 };
  MPNUM_INLINE mpnum_e2m1x2 pack(const mpnum_e2m1 *codes) {
    return mpnum_pack_e2m1_x2(codes[0], codes[1]);
  }
  MPNUM_INLINE mpnum_e2m1 unpack(mpnum_e2m1x2 packed, unsigned index) {
    return mpnum_unpack_e2m1_x2(packed, static_cast<int>(index));
  }
};
template <> struct packed_<mpnum_e3m2x4> {
  typedef mpnum_e3m2 element;
  enum { count = 4 };
  MPNUM_INLINE mpnum_e3m2x4 pack(const mpnum_e3m2 *codes) {
    return mpnum_pack_e3m2_x4(codes[0], codes[1], codes[2], codes[3]);
  }
  MPNUM_INLINE mpnum_e3m2 unpack(mpnum_e3m2x4 packed, unsigned index) {
    return mpnum_unpack_e3m2_x4(packed, static_cast<int>(index));
  }
};
template <> struct packed_<mpnum_e2m3x4> {
  typedef mpnum_e2m3 element;
  enum { count = 4 };
  MPNUM_INLINE mpnum_e2m3x4 pack(const mpnum_e2m3 *codes) {
    return mpnum_pack_e2m3_x4(codes[0], codes[1], codes[2], codes[3]);
  }
  MPNUM_INLINE mpnum_e2m3 unpack(mpnum_e2m3x4 packed, unsigned index) {
    return mpnum_unpack_e2m3_x4(packed, static_cast<int>(index));
  }
};

} // namespace mpnum

#if !MPNUM_HAS_NVRTC

/* How many blocks share tiles, one at least: no more than all multiprocessors of the GPU
 * hold at once. 0 multiprocessors: the runtime says how many the current device has,
 * which is no wait and may be captured. */
static inline cudaError_t mpnum_launch_blocks_(size_t *blocks, size_t tiles,
                                               int multiprocessors) {
  if (multiprocessors <= 0) {
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
      error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount,
                                     device);
    if (error != cudaSuccess) return error;
  }
  *blocks = static_cast<size_t>(multiprocessors) * MPNUM_LAUNCH_BLOCKS_;
  if (tiles < *blocks) *blocks = tiles > 0 ? tiles : 1;
  return cudaSuccess;
}

template <class T> struct mpnum_same_ { typedef T type; };
template <class... Parameters>
static inline cudaError_t
mpnum_launch_(void (*kernel)(Parameters...), size_t blocks, unsigned threads,
              cudaStream_t stream, typename mpnum_same_<Parameters>::type... arguments) {
  void *pointers[] = {&arguments...};
  return cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(blocks)), dim3(threads),
                          pointers, 0, stream);
}

#endif

#endif
