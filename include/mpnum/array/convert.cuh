/* SPDX-License-Identifier: MIT */
/* Conversions of arrays in device memory between any two types. Rules of all launchers:
 * kernels.cuh. CUDA C++11; NVRTC for the kernels alone.
 *
 *     mpnum_launch_convert_sat(codes, values, n, stream); // float * to mpnum_e4m3 *
 */
#ifndef MPNUM_ARRAY_CONVERT_CUH
#define MPNUM_ARRAY_CONVERT_CUH

#include "../cuda/detail/convert_four.cuh"
MPNUM_C_BEGIN_

namespace mpnum {

/* What a warp converts at a time. An item is what fills an access, 16 bytes or 32, of the
 * wider type, or four doubles. Lanes take consecutive items, which makes all accesses to
 * the wider array ones of so many bytes next to each other. The narrower one is moved so
 * as well, through shared memory, where its items are smaller. */
template <class Dst, class Src> struct convert_tile_ {
  typedef unsigned number;
  static constexpr number dst_count = packed_<Dst>::count;
  static constexpr number src_count = packed_<Src>::count;
  static constexpr number granule = dst_count > src_count ? dst_count : src_count;
  /* Bytes of four elements. */
  static constexpr number dst_four = 4 / dst_count * sizeof(Dst);
  static constexpr number src_four = 4 / src_count * sizeof(Src);
  static constexpr bool is_narrowing = dst_four < src_four;
  static constexpr number wide_four = is_narrowing ? src_four : dst_four;
  static constexpr number narrow_four = is_narrowing ? dst_four : src_four;
  /* Two packed types have no fast path; the numbers of theirs are any that fit. */
  static constexpr bool exists = wide_four >= 4;
  static constexpr number wide = MPNUM_ACCESS_BYTES_;
  static constexpr number fours = !exists ? 16 : wide_four >= wide ? 1 : wide / wide_four;
  static constexpr number lanes = 4 * fours;
  static constexpr number item = fours * narrow_four; /* bytes of the narrower type */
  static constexpr bool is_staged = item < 16;
  /* Items of a lane: they fill an access of the narrower type, or some. */
  static constexpr number lowest_bit = item & (~item + 1);
  static constexpr number some = 4 * lowest_bit < wide ? wide / lowest_bit : 4;
  static constexpr number items =
      is_staged && !is_narrowing && wide == 16 && some < 16 ? 2 * some : some;
  static constexpr number vectors = is_staged ? item * items / wide : 1;
  static constexpr number stage = is_staged ? 32 * vectors : 0; /* of a warp */
  static constexpr number elements = 32 * lanes * items;
};

/* The first element from which dst is aligned, in granules; n if there is none. */
template <class Dst, class Src>
MPNUM_INLINE size_t convert_head_(const Dst *dst, size_t n) {
  typedef convert_tile_<Dst, Src> tile;
  const unsigned bytes = tile::granule / tile::dst_count * sizeof(Dst);
  const unsigned before = mpnum_bytes_before_vectors_(dst);
  /* 11 is the inverse of 3 modulo 16 and 32. */
  const size_t granules = bytes == 3 ? before * 11 % MPNUM_ACCESS_BYTES_ : before / bytes;
  const size_t head = granules * tile::granule;
  const bool exists = tile::exists && (bytes == 3 || before % bytes == 0) && head < n;
  return exists ? head : n;
}

} // namespace mpnum

/* The elements of an item, of which the first has the random word number index. */
template <class Cast, class Dst, class Src, class To, class From>
static __device__ __forceinline__ To mpnum_convert_item_(
    const From &from, const mpnum_launch_rounding_ &options, uint64_t index) {
  typedef mpnum::convert_tile_<Dst, Src> tile;
  typename mpnum::four_of_<Src>::type in[tile::fours];
  typename mpnum::four_of_<Dst>::type out[tile::fours];
  MPNUM_MEMCPY_(in, &from, sizeof in);
  MPNUM_UNROLL_
  for (unsigned i = 0; i < tile::fours; ++i)
    out[i] = mpnum::four_<Cast, Dst, Src>(in[i], options, index + 4 * i);
  return mpnum::copied_<To>(out);
}

/* A whole tile by a warp, from src to a dst of the same size or smaller, or to a larger
 * one through shared memory. is_aligned: src is, as dst always is here, and random words
 * come in fours. stage: shared memory of the warp. index: of the first random word. */
template <bool is_widening> struct mpnum_convert_tile_ {
  template <bool is_aligned, class Cast, class Dst, class Src>
  static __device__ __forceinline__ void
  run(Dst *dst, const Src *src, mpnum_access_ *stage,
      const mpnum_launch_rounding_ &options, uint64_t index) {
    typedef mpnum::convert_tile_<Dst, Src> tile;
    typedef mpnum::raw_bytes_<tile::fours * tile::src_four> from;
    typedef mpnum::raw_bytes_<tile::fours * tile::dst_four> to;
    /* Longer conversions have no registers for more. */
    typedef mpnum::is_short_<Cast, Dst> is_short;
    constexpr unsigned together =
        tile::wide_four == 32 ? 2 : (is_short::value ? 64 : 32) / MPNUM_ACCESS_BYTES_;
    const unsigned lane = threadIdx.x % 32;
    constexpr unsigned apart = tile::lanes / tile::src_count; /* items of src */
    const Src *const in = src + lane * apart;
    to *const out =
        tile::is_staged ? reinterpret_cast<to *>(stage) : reinterpret_cast<to *>(dst);
    if (is_aligned) index = index / 4 * 4; /* which it is: for the compiler */
    MPNUM_UNROLL_BY_(is_short::value ? 4 : is_short::by_words ? 2 : 1)
    for (unsigned first = 0; first < 32 * tile::items; first += 32 * together) {
      from items[together];
      mpnum_load_items_<is_aligned>(items, in + first * apart, 32 * apart);
      MPNUM_UNROLL_
      for (unsigned i = 0; i < together; ++i) {
        const unsigned place = first + 32 * i + lane;
        out[place] = mpnum_convert_item_<Cast, Dst, Src, to>(items[i], options,
                                                             index + place * tile::lanes);
      }
    }
    if (tile::is_staged) {
      mpnum_access_ *const vectors = reinterpret_cast<mpnum_access_ *>(dst) + lane;
      __syncwarp();
      MPNUM_UNROLL_
      for (unsigned i = 0; i < tile::vectors; ++i)
        vectors[32 * i] = stage[32 * i + lane];
      __syncwarp(); /* before the next tile */
    }
  }
};
template <> struct mpnum_convert_tile_<true> {
  template <bool is_aligned, class Cast, class Dst, class Src>
  static __device__ __forceinline__ void
  run(Dst *dst, const Src *src, mpnum_access_ *stage,
      const mpnum_launch_rounding_ &options, uint64_t index) {
    typedef mpnum::convert_tile_<Dst, Src> tile;
    typedef mpnum::raw_bytes_<tile::fours * tile::src_four> from;
    typedef mpnum::raw_bytes_<tile::fours * tile::dst_four> to;
    const unsigned lane = threadIdx.x % 32;
    const uint8_t *const vectors =
        reinterpret_cast<const uint8_t *>(src) + lane * sizeof(mpnum_access_);
    mpnum_access_ loaded[tile::vectors];
    mpnum_load_items_<is_aligned>(loaded, vectors, 32 * sizeof(mpnum_access_));
    MPNUM_UNROLL_
    for (unsigned i = 0; i < tile::vectors; ++i)
      stage[32 * i + lane] = loaded[i];
    __syncwarp();
    MPNUM_UNROLL_
    for (unsigned i = 0; i < tile::items; ++i) {
      const unsigned place = 32 * i + lane;
      reinterpret_cast<to *>(dst)[place] = mpnum_convert_item_<Cast, Dst, Src, to>(
          reinterpret_cast<const from *>(stage)[place], options,
          index + place * tile::lanes);
    }
    __syncwarp();
  }
};

/* Elements begin to end - 1 by a warp, a granule at a time. begin is a multiple of one,
 * end, too, or n. What is past n is stored in a packed dst only. */
template <class Cast, class Dst, class Src>
static __device__ __forceinline__ void
mpnum_convert_rest_(Dst *dst, const Src *src, size_t begin, size_t end, size_t n,
                    const mpnum_launch_rounding_ &options) {
  typedef mpnum::packed_<Dst> dst_pack;
  typedef mpnum::packed_<Src> src_pack;
  typedef mpnum::convert_tile_<Dst, Src> tile;
  MPNUM_NO_UNROLL_
  for (size_t i = begin + threadIdx.x % 32 * tile::granule; i < end;
       i += 32 * tile::granule) {
    Src in[tile::granule / tile::src_count] = {};
    typename dst_pack::element codes[tile::granule];
    MPNUM_UNROLL_
    for (unsigned j = 0; j < tile::granule; ++j) {
      if (i + j < n) {
        if (j % tile::src_count == 0)
          in[j / tile::src_count] = src[(i + j) / tile::src_count];
        codes[j] = Cast::at(
            src_pack::unpack(in[j / tile::src_count], j % tile::src_count), options,
            Cast::is_stochastic
                ? mpnum_random_word_(options.rounding,
                                     mpnum_random(options.seed, options.offset + i + j))
                : 0);
      } else {
        codes[j] = typename dst_pack::element();
      }
    }
    MPNUM_UNROLL_
    for (unsigned j = 0; j < tile::granule; j += tile::dst_count)
      if (i + j < n) dst[(i + j) / tile::dst_count] = dst_pack::pack(codes + j);
  }
}

/* A one-dimensional grid, blocks of a multiple of 32 threads, at most 256. */
template <class Cast, class Dst, class Src>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_, MPNUM_LAUNCH_BLOCKS_)
    mpnum_convert_kernel_(Dst *dst, const Src *src, size_t n,
                          mpnum_launch_rounding_ options) {
  mpnum_begin_kernel_();
  typedef mpnum::convert_tile_<Dst, Src> tile;
  typedef mpnum_convert_tile_<tile::is_staged && !tile::is_narrowing> run;
  __shared__ mpnum_access_ stage[tile::is_staged ? tile::stage * MPNUM_LAUNCH_WARPS_ : 1];
  mpnum_access_ *const own = stage + threadIdx.x / 32 * tile::stage;
  const size_t head = mpnum::convert_head_<Dst, Src>(dst, n);
  const bool has_tiles = head < n;
  const size_t start = has_tiles ? head : 0;
  const bool is_fast = has_tiles && mpnum_is_aligned_(src + head / tile::src_count) &&
                       (!Cast::is_stochastic || (options.offset + head) % 4 == 0);
  const unsigned warps = blockDim.x / 32;
  const size_t step = gridDim.x * warps * static_cast<size_t>(tile::elements);
  const size_t first =
      (blockIdx.x * static_cast<size_t>(warps) + threadIdx.x / 32) * tile::elements;
  size_t i = start + first;
  if (is_fast) {
    MPNUM_NO_UNROLL_
    for (; i < n && n - i >= tile::elements; i += step)
      run::template run<true, Cast>(dst + i / tile::dst_count, src + i / tile::src_count,
                                    own, options, options.offset + i);
  }
  MPNUM_NO_UNROLL_
  for (; i < n; i += step) {
    /* Not at the ends of the array, around which there may be nothing. */
    if (has_tiles && !is_fast && i >= 16 && n - i >= tile::elements + 16)
      run::template run<false, Cast>(dst + i / tile::dst_count, src + i / tile::src_count,
                                     own, options, options.offset + i);
    else
      mpnum_convert_rest_<Cast>(
          dst, src, i, n - i < tile::elements ? n : i + tile::elements, n, options);
  }
  if (first == 0) mpnum_convert_rest_<Cast>(dst, src, 0, start, n, options);
}

#if !MPNUM_HAS_NVRTC_

template <class Cast, class Dst, class Src>
static inline cudaError_t mpnum_launch_cast_(Dst *dst, const Src *src, size_t n,
                                             const mpnum_launch_rounding_ &options,
                                             cudaStream_t stream, int multiprocessors) {
  typedef mpnum::convert_tile_<Dst, Src> in;
  const size_t tile = in::elements * MPNUM_LAUNCH_WARPS_;
  const size_t dst_bytes = (n / in::dst_count + (n % in::dst_count != 0)) * sizeof(Dst);
  const size_t src_bytes = (n / in::src_count + (n % in::src_count != 0)) * sizeof(Src);
  const bool is_in_place =
      static_cast<const void *>(dst) == static_cast<const void *>(src) &&
      sizeof(Dst) == sizeof(Src) && in::dst_count == in::src_count;
  size_t blocks = 0;
  if (n == 0) return cudaSuccess;
  if (!dst || !src || (!is_in_place && mpnum_overlap_(dst, dst_bytes, src, src_bytes)))
    return cudaErrorInvalidValue;
  /* Random words want more of a block before its first tile. */
  const size_t each =
      Cast::is_stochastic ? 8 * MPNUM_LAUNCH_BLOCKS_ : MPNUM_LAUNCH_TILES_;
  const cudaError_t error =
      mpnum_launch_blocks_(&blocks, n / tile + (n % tile != 0), multiprocessors, each);
  if (error != cudaSuccess) return error;
  return mpnum_launch_(mpnum_convert_kernel_<Cast, Dst, Src>, blocks,
                       MPNUM_LAUNCH_THREADS_, stream, dst, src, n, options);
}

/* dst[i] becomes src[i] converted, for i below n: nearest even, overflow as in IEEE
 * 754, or saturating (_sat, the only form for e3m2, e2m3 and e2m1), or any rounding
 * (_round: element i takes random word mpnum_random(seed, offset + i) if it is
 * stochastic). From a small type to float or double there is the plain form only, which
 * is exact.
 *
 * Dst and Src may be packed: mpnum_e2m1x2, two elements in a byte, mpnum_e3m2x4 and
 * mpnum_e2m3x4, four in three bytes. n counts elements; codes past the last one in a
 * packed dst are 0. multiprocessors: of the GPU, 0 to have the runtime asked. */
template <class Dst, class Src>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_convert(Dst *dst, const Src *src, size_t n, cudaStream_t stream,
                     int multiprocessors = 0) {
  typedef mpnum::cast_plain_<typename mpnum::packed_<Dst>::element,
                             typename mpnum::packed_<Src>::element>
      cast;
  return mpnum_launch_cast_<cast>(dst, src, n, mpnum_launch_rounding_(), stream,
                                  multiprocessors);
}
template <class Dst, class Src>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_convert_sat(Dst *dst, const Src *src, size_t n, cudaStream_t stream,
                         int multiprocessors = 0) {
  typedef mpnum::cast_sat_<typename mpnum::packed_<Dst>::element,
                           typename mpnum::packed_<Src>::element>
      cast;
  return mpnum_launch_cast_<cast>(dst, src, n, mpnum_launch_rounding_(), stream,
                                  multiprocessors);
}
template <class Dst, class Src>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_convert_round(Dst *dst, const Src *src, size_t n, mpnum_rounding rounding,
                           mpnum_overflow overflow, uint64_t seed, uint64_t offset,
                           cudaStream_t stream, int multiprocessors = 0) {
  typedef typename mpnum::packed_<Dst>::element to;
  typedef typename mpnum::packed_<Src>::element from;
  const mpnum_launch_rounding_ options = {rounding, overflow, seed, offset,
                                          mpnum_random_keys_of_(seed)};
  switch (mpnum_is_stochastic_(rounding) ? MPNUM_ROUND_STOCHASTIC : rounding) {
# define MPNUM_CASE_(name)                                                       \
 case MPNUM_ROUND_##name:                                                        \
  return mpnum_launch_cast_<mpnum::cast_rounded_<to, from, MPNUM_ROUND_##name>>( \
      dst, src, n, options, stream, multiprocessors);
    /* The others, which are rare, share a kernel. */
    MPNUM_CASE_(NEAREST_EVEN)
    MPNUM_CASE_(TOWARD_ZERO)
    MPNUM_CASE_(STOCHASTIC)
  case MPNUM_ROUND_DOWN:
  case MPNUM_ROUND_NEAREST_AWAY:
  case MPNUM_ROUND_TO_ODD: MPNUM_CASE_(UP)
# undef MPNUM_CASE_
  }
  return cudaErrorInvalidValue;
}

#endif

MPNUM_C_END_
#endif
