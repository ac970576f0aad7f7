/* SPDX-License-Identifier: MIT */
/* Kernels over arrays in device memory, and the functions that launch them: conversions
 * between any two types, all_finite, amax and statistics. Opt-in, CUDA C++11.
 *
 *     mpnum_launch_convert_sat(codes, values, n, stream); // float * to mpnum_e4m3 *
 *
 * Launchers take the stream last, allocate nothing, wait for nothing and may be captured
 * in a graph. They return what the runtime returns for the launch; an error inside a
 * kernel shows where the caller next synchronises. n may be 0 or above 2^31. Pointers are
 * to device memory, aligned for their type; arrays aligned to 16 bytes are moved 16 bytes
 * at a time, others element by element. dst may be src only where both types have the
 * same size and hold as many elements; otherwise arrays do not overlap.
 *
 * Every element is the scalar conversion of mpnum.h, bit for bit. T is float, double or
 * any storage struct (mpnum_f16, mpnum_e4m3, ...); in conversions the packed
 * mpnum_e2m1x2, mpnum_e3m2x4 and mpnum_e2m3x4, too.
 *
 * NVRTC has no runtime: there it is the kernels alone, named for nvrtcAddNameExpression
 * as the launchers below name them, grid and block as there.
 */
#ifndef MPNUM_CUDA_KERNELS_CUH
#define MPNUM_CUDA_KERNELS_CUH

#include "../mpnum.hpp"
#include "../stats.h"
#include "device.cuh"

/* Before a loop over an array in registers. */
#if MPNUM_HAS_CUDA
# define MPNUM_UNROLL_ _Pragma("unroll")
#else
# define MPNUM_UNROLL_
#endif

enum {
  MPNUM_LAUNCH_THREADS_ = 256,
  MPNUM_LAUNCH_VECTORS_ = 2, /* of each thread, in flight together */
  /* Enough for a reduction to fill any GPU; each block ends in one atomic per result. */
  MPNUM_LAUNCH_REDUCE_BLOCKS_ = 2048
};

/* How an array is rounded; plain and saturating conversions have no use for it. */
typedef struct mpnum_launch_rounding_ {
  mpnum_rounding rounding;
  mpnum_overflow overflow;
  uint64_t seed, offset;
} mpnum_launch_rounding_;

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

/* One of the three, with one signature. */
template <class Dst, class Src> struct cast_plain_ {
  typedef Dst result;
  enum { takes_random = 0 };
  MPNUM_INLINE Dst at(Src x, const mpnum_launch_rounding_ &, uint32_t) {
    return cast_<Dst, Src>::plain(x);
  }
};
template <class Dst, class Src> struct cast_sat_ {
  typedef Dst result;
  enum { takes_random = 0 };
  MPNUM_INLINE Dst at(Src x, const mpnum_launch_rounding_ &, uint32_t) {
    return cast_<Dst, Src>::sat(x);
  }
};
template <class Dst, class Src> struct cast_rounded_ {
  typedef Dst result;
  enum { takes_random = 1 };
  MPNUM_INLINE Dst at(Src x, const mpnum_launch_rounding_ &options, uint32_t random) {
    return cast_<Dst, Src>::rounded(x, options.rounding, options.overflow, random);
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

MPNUM_INLINE int is_finite_(float x) { return mpnum_isfinite_f32(x); }
MPNUM_INLINE int is_finite_(double x) { return mpnum_isfinite_f64(x); }
template <class T> MPNUM_INLINE int is_finite_(T x) {
  return mpnum_isfinite(mpnum_format_of(type_of<T>::value), x.bits);
}
MPNUM_INLINE float value_of_(float x) { return x; }
template <class T> MPNUM_INLINE float value_of_(T x) { return to_float(x); }
MPNUM_INLINE uint32_t code_of_(float x) { return mpnum_bits_f32(x); }
template <class T> MPNUM_INLINE uint32_t code_of_(T x) { return x.bits; }

/* How many elements a thread takes at a time: 16 bytes of the wider type, and whole
 * groups of packed ones. */
template <class Dst, class Src> struct lanes_per_thread_ {
  enum {
    dst_bytes = sizeof(typename packed_<Dst>::element),
    src_bytes = sizeof(typename packed_<Src>::element),
    is_packed = packed_<Dst>::count > 1 || packed_<Src>::count > 1,
    value = is_packed ? 8 : 16 / (dst_bytes > src_bytes ? dst_bytes : src_bytes)
  };
};

} // namespace mpnum

/* Kernels. */

/* Words index to index + N - 1 of a seed; four at a time where they come together. */
template <unsigned N>
static __device__ __forceinline__ void
mpnum_random_words_(uint32_t (&words)[N], uint64_t seed, uint64_t index) {
  if (N % 4 == 0 && index % 4 == 0) {
    MPNUM_UNROLL_
    for (unsigned j = 0; j + 4 <= N; j += 4) {
      const mpnum_u32x4 four = mpnum_random_x4(seed, (index + j) / 4);
      words[j] = four.x;
      words[j + 1] = four.y;
      words[j + 2] = four.z;
      words[j + 3] = four.w;
    }
  } else {
    MPNUM_UNROLL_
    for (unsigned j = 0; j < N; ++j)
      words[j] = mpnum_random(seed, index + j);
  }
}

/* A one-dimensional grid, blocks of at most 256 threads. */
template <class Cast, class Dst, class Src>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_)
    mpnum_convert_kernel_(Dst *dst, const Src *src, size_t n,
                          mpnum_launch_rounding_ options) {
  typedef mpnum::packed_<Dst> dst_pack;
  typedef mpnum::packed_<Src> src_pack;
  enum {
    lanes = mpnum::lanes_per_thread_<Dst, Src>::value,
    vectors = MPNUM_LAUNCH_VECTORS_,
    dst_count = dst_pack::count,
    src_count = src_pack::count
  };
  const size_t step = static_cast<size_t>(blockDim.x) * lanes;
  for (size_t tile = blockIdx.x * step * vectors; tile < n;
       tile += gridDim.x * step * vectors) {
    mpnum_lanes<Src, lanes / src_count> in[vectors];
    MPNUM_UNROLL_
    for (unsigned v = 0; v < vectors; ++v) {
      const size_t i = tile + v * step + threadIdx.x * static_cast<size_t>(lanes);
      if (i < n)
        in[v] = mpnum_load<lanes / src_count>(src + i / src_count,
                                              (n - i + src_count - 1) / src_count);
    }
    MPNUM_UNROLL_
    for (unsigned v = 0; v < vectors; ++v) {
      const size_t i = tile + v * step + threadIdx.x * static_cast<size_t>(lanes);
      if (i < n) {
        typename Cast::result codes[lanes];
        uint32_t random[lanes] = {0};
        if (Cast::takes_random && options.rounding == MPNUM_ROUND_STOCHASTIC)
          mpnum_random_words_(random, options.seed, options.offset + i);
        mpnum_lanes<Dst, lanes / dst_count> out;
        MPNUM_UNROLL_
        for (unsigned j = 0; j < lanes; ++j) {
          /* What is past the end is stored in a packed dst only. */
          const bool exists = dst_count == 1 || i + j < n;
          const auto x = src_pack::unpack(in[v].at[j / src_count], j % src_count);
          codes[j] = exists ? Cast::at(x, options, random[j]) : typename Cast::result();
        }
        MPNUM_UNROLL_
        for (unsigned j = 0; j < lanes / dst_count; ++j)
          out.at[j] = dst_pack::pack(codes + j * dst_count);
        mpnum_store(dst + i / dst_count, out, (n - i + dst_count - 1) / dst_count);
      }
    }
  }
}

/* Gives visit every element that falls to this thread, in a one-dimensional grid. */
template <class T, class Visit>
static __device__ __forceinline__ void mpnum_visit_(const T *src, size_t n,
                                                    Visit &visit) {
  enum { lanes = 16 / sizeof(T) };
  for (size_t i = mpnum_grid_index() * lanes; i < n; i += mpnum_grid_size() * lanes) {
    const mpnum_lanes<T, lanes> values = mpnum_load<lanes>(src + i, n - i);
    if (n - i >= lanes) {
      MPNUM_UNROLL_
      for (unsigned j = 0; j < lanes; ++j)
        visit(values.at[j]);
    } else {
      MPNUM_UNROLL_
      for (unsigned j = 0; j < lanes; ++j)
        if (i + j < n) visit(values.at[j]);
    }
  }
}

template <class T> struct mpnum_visit_finite_ {
  int all_finite;
  __device__ __forceinline__ void operator()(T x) { all_finite &= mpnum::is_finite_(x); }
};
template <class T> struct mpnum_visit_amax_ {
  float amax;
  __device__ __forceinline__ void operator()(T x) {
    amax = mpnum_amax(amax, mpnum::value_of_(x));
  }
};
template <class T> struct mpnum_visit_stats_ {
  mpnum_stats stats;
  __device__ __forceinline__ void operator()(T x) {
    stats = mpnum_stats_add(stats, mpnum_format_of(mpnum::type_of<T>::value),
                            mpnum::code_of_(x));
  }
};

template <class T> static __global__ void mpnum_assign_kernel_(T *dst, T value) {
  *dst = value;
}

/* The reductions fold into *result, which holds the result of no elements. A
 * one-dimensional grid, blocks of a multiple of 32 threads, at most 256. */
template <class T>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_)
    mpnum_all_finite_kernel_(int *result, const T *src, size_t n) {
  mpnum_visit_finite_<T> visit = {1};
  mpnum_visit_(src, n, visit);
  if (!__syncthreads_and(visit.all_finite) && threadIdx.x == 0) atomicAnd(result, 0);
}
template <class T>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_)
    mpnum_amax_kernel_(float *result, const T *src, size_t n) {
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  mpnum_visit_amax_<T> visit = {0.0f};
  mpnum_visit_(src, n, visit);
  visit.amax = mpnum_block_amax_f32(visit.amax, scratch);
  if (threadIdx.x == 0) mpnum_atomic_amax(result, visit.amax);
}
/* The counts of a block are summed in 32 bits: 2048 blocks count up to 2^40 elements. */
template <class T>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_)
    mpnum_stats_kernel_(mpnum_stats *result, const T *src, size_t n) {
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  mpnum_visit_stats_<T> visit = {mpnum_stats_empty()};
  mpnum_visit_(src, n, visit);
  const mpnum_stats &own = visit.stats;
  const uint32_t zeros = mpnum_block_sum_u32(static_cast<uint32_t>(own.zeros), scratch);
  const uint32_t subnormals =
      mpnum_block_sum_u32(static_cast<uint32_t>(own.subnormals), scratch);
  const uint32_t infs = mpnum_block_sum_u32(static_cast<uint32_t>(own.infs), scratch);
  const uint32_t nans = mpnum_block_sum_u32(static_cast<uint32_t>(own.nans), scratch);
  const float amax = mpnum_block_amax_f32(own.amax, scratch);
  const uint32_t min_bits =
      ~mpnum_block_max_u32(~mpnum_bits_f32(own.min_nonzero), scratch);
  if (threadIdx.x == 0) {
    mpnum_atomic_add_u64(&result->zeros, zeros);
    mpnum_atomic_add_u64(&result->subnormals, subnormals);
    mpnum_atomic_add_u64(&result->infs, infs);
    mpnum_atomic_add_u64(&result->nans, nans);
    mpnum_atomic_amax(&result->amax, amax);
    mpnum_atomic_min_magnitude(&result->min_nonzero, mpnum_from_bits_f32(min_bits));
  }
}

#if !MPNUM_HAS_NVRTC

/* Launchers. */

template <class T> struct mpnum_same_ { typedef T type; };
template <class... Parameters>
static inline cudaError_t
mpnum_launch_(void (*kernel)(Parameters...), size_t blocks, unsigned threads,
              cudaStream_t stream, typename mpnum_same_<Parameters>::type... arguments) {
  void *pointers[] = {&arguments...};
  return cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(blocks)), dim3(threads),
                          pointers, 0, stream);
}

template <class Cast, class Dst, class Src>
static inline cudaError_t mpnum_launch_cast_(Dst *dst, const Src *src, size_t n,
                                             const mpnum_launch_rounding_ &options,
                                             cudaStream_t stream) {
  const size_t tile = static_cast<size_t>(MPNUM_LAUNCH_THREADS_) * MPNUM_LAUNCH_VECTORS_ *
                      mpnum::lanes_per_thread_<Dst, Src>::value;
  const size_t tiles = n / tile + (n % tile != 0);
  const size_t limit = 0x7fffffff; /* blocks of a grid */
  if (n == 0) return cudaSuccess;
  return mpnum_launch_(mpnum_convert_kernel_<Cast, Dst, Src>,
                       tiles < limit ? tiles : limit, MPNUM_LAUNCH_THREADS_, stream, dst,
                       src, n, options);
}

/* dst[i] becomes src[i] converted, for i below n: nearest even, overflow as in IEEE 754,
 * or saturating (_sat, the only form for e3m2, e2m3 and e2m1), or any rounding (_round:
 * element i takes random word mpnum_random(seed, offset + i) if it is stochastic). From a
 * small type to float or double there is the plain form only, which is exact.
 *
 * Dst and Src may be packed: mpnum_e2m1x2, two elements in a byte, mpnum_e3m2x4 and
 * mpnum_e2m3x4, four in three bytes. n counts elements; codes past the last one in a
 * packed dst are 0. */
template <class Dst, class Src>
static inline cudaError_t mpnum_launch_convert(Dst *dst, const Src *src, size_t n,
                                               cudaStream_t stream) {
  typedef mpnum::cast_plain_<typename mpnum::packed_<Dst>::element,
                             typename mpnum::packed_<Src>::element>
      cast;
  return mpnum_launch_cast_<cast>(dst, src, n, mpnum_launch_rounding_(), stream);
}
template <class Dst, class Src>
static inline cudaError_t mpnum_launch_convert_sat(Dst *dst, const Src *src, size_t n,
                                                   cudaStream_t stream) {
  typedef mpnum::cast_sat_<typename mpnum::packed_<Dst>::element,
                           typename mpnum::packed_<Src>::element>
      cast;
  return mpnum_launch_cast_<cast>(dst, src, n, mpnum_launch_rounding_(), stream);
}
template <class Dst, class Src>
static inline cudaError_t
mpnum_launch_convert_round(Dst *dst, const Src *src, size_t n, mpnum_rounding rounding,
                           mpnum_overflow overflow, uint64_t seed, uint64_t offset,
                           cudaStream_t stream) {
  typedef mpnum::cast_rounded_<typename mpnum::packed_<Dst>::element,
                               typename mpnum::packed_<Src>::element>
      cast;
  const mpnum_launch_rounding_ options = {rounding, overflow, seed, offset};
  return mpnum_launch_cast_<cast>(dst, src, n, options, stream);
}

/* Sets *result to that of no elements, then folds the array into it. */
template <class Result, class T>
static inline cudaError_t
mpnum_launch_reduce_(void (*kernel)(Result *, const T *, size_t), Result *result,
                     Result empty, const T *src, size_t n, cudaStream_t stream) {
  const size_t tile = static_cast<size_t>(MPNUM_LAUNCH_THREADS_) * (16 / sizeof(T));
  const size_t tiles = n / tile + (n % tile != 0);
  const size_t limit = MPNUM_LAUNCH_REDUCE_BLOCKS_;
  const cudaError_t error =
      mpnum_launch_(mpnum_assign_kernel_<Result>, 1, 1, stream, result, empty);
  if (error != cudaSuccess || n == 0) return error;
  return mpnum_launch_(kernel, tiles < limit ? tiles : limit, MPNUM_LAUNCH_THREADS_,
                       stream, result, src, n);
}

/* *result, in device memory, becomes 1 if no element is Inf or NaN, else 0. */
template <class T>
static inline cudaError_t mpnum_launch_all_finite(int *result, const T *src, size_t n,
                                                  cudaStream_t stream) {
  return mpnum_launch_reduce_<int, T>(mpnum_all_finite_kernel_<T>, result, 1, src, n,
                                      stream);
}
/* *result, in device memory, becomes the largest magnitude: 0 if n is 0, 0x7fffffff if an
 * element is NaN. T is not double. */
template <class T>
static inline cudaError_t mpnum_launch_amax(float *result, const T *src, size_t n,
                                            cudaStream_t stream) {
  return mpnum_launch_reduce_<float, T>(mpnum_amax_kernel_<T>, result, 0.0f, src, n,
                                        stream);
}
/* *result, in device memory, becomes the statistics of the array, n below 2^40. T is not
 * double. */
template <class T>
static inline cudaError_t mpnum_launch_stats(mpnum_stats *result, const T *src, size_t n,
                                             cudaStream_t stream) {
  mpnum_stats empty = mpnum_stats_empty();
  empty.count = n;
  return mpnum_launch_reduce_<mpnum_stats, T>(mpnum_stats_kernel_<T>, result, empty, src,
                                              n, stream);
}

#endif

#undef MPNUM_UNROLL_

#endif
