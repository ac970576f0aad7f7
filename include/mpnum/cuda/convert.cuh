/* SPDX-License-Identifier: MIT */
/* Conversions of arrays in device memory between any two types. Rules of all launchers:
 * kernels.cuh. CUDA C++11; NVRTC for the kernels alone.
 *
 *     mpnum_launch_convert_sat(codes, values, n, stream); // float * to mpnum_e4m3 *
 */
#ifndef MPNUM_CUDA_CONVERT_CUH
#define MPNUM_CUDA_CONVERT_CUH

#include "../detail/cuda/launch.cuh"

/* How an array is rounded; plain and saturating conversions have no use for it. */
typedef struct mpnum_launch_rounding_ {
  mpnum_rounding rounding;
  mpnum_overflow overflow;
  uint64_t seed, offset;
} mpnum_launch_rounding_;

namespace mpnum {

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

#if !MPNUM_HAS_NVRTC

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

#endif

#endif
