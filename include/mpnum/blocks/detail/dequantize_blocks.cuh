/* SPDX-License-Identifier: MIT */
/* Codes of blocks times their scales, on devices: what the launchers of quantize_blocks
 * that go back share. */
#ifndef MPNUM_BLOCKS_DETAIL_DEQUANTIZE_BLOCKS_CUH
#define MPNUM_BLOCKS_DETAIL_DEQUANTIZE_BLOCKS_CUH

#include "../../cuda/detail/quantize.cuh"
MPNUM_C_BEGIN_

namespace mpnum {

/* By what the elements of a block are multiplied, `count` words: its scale. */
template <class Code, bool has_tensor> struct block_back_ {
  typedef typename dense_<Code>::packed packed;
  typedef typename four_of_<packed>::type four;
  static constexpr unsigned count = 1;
  /* Of the scale of a tensor, once for all blocks of a thread. */
  MPNUM_REAL_ float inverse(float) { return 1; }
  /* False: products are not what elements become. */
  MPNUM_REAL_ bool find(uint32_t (&words)[count], float scale, float, float) {
    words[0] = mpnum_bits_of_scalar_(scale);
    return true;
  }
  /* To be stored as T. */
  template <class T>
  MPNUM_REAL_ mpnum_f32x4 products(const four &codes, const uint32_t (&words)[count]) {
    return four_products_<T, packed>(codes, mpnum_f32_of_scalar_(words[0]));
  }
};
/* A scale over that of the tensor, both far from the ends of floats; inverse: 1 over the
 * latter. This is division's result for scales of four bits and one and a half times
 * those: tests/cuda/simt/test_kernels_quantize_blocks.cpp tries all of a tensor's. */
MPNUM_REAL_ float quotient_(float scale, float tensor, float inverse) {
  const float near_it = mpnum_mul_scalar_(scale, inverse);
  const float rest = mpnum_fma_scalar_(
      mpnum_f32_of_scalar_(mpnum_bits_of_scalar_(near_it) ^ 0x80000000u), tensor, scale);
  return mpnum_fma_scalar_(rest, inverse, near_it);
}
/* Two f16 without the highest bits of their fractions, in one step: compilers would make
 * one for each half. */
MPNUM_REAL_ uint32_t without_fractions_(uint32_t halves) {
#if MPNUM_ON_DEVICE_
  asm("and.b32 %0, %0, 0xfdfffdff;" : "+r"(halves));
  return halves;
#else
  return halves & 0xfdfffdffu;
#endif
}
/* Of two levels the scale, and one and a half times it, over that of the tensor: elements
 * are these times powers of two, exactly, as nothing is subnormal or overflows. */
template <> struct block_back_<mpnum_e2m1, true> {
  typedef four_of_<mpnum_e2m1x2>::type four;
  static constexpr unsigned count = 2;
  MPNUM_REAL_ float inverse(float tensor) { return mpnum_div_scalar_(1.0f, tensor); }
  MPNUM_REAL_ bool find(uint32_t (&words)[count], float scale, float tensor,
                        float inverse) {
    const uint32_t bits = mpnum_bits_of_scalar_(scale);
    words[0] = mpnum_bits_of_scalar_(quotient_(scale, tensor, inverse));
    words[1] =
        mpnum_bits_of_scalar_(quotient_(mpnum_mul_scalar_(scale, 1.5f), tensor, inverse));
    /* A tensor's of 2^-100 to 2^100; a block's that is +0, or neither 0 nor NaN. */
    return mpnum_bits_of_scalar_(tensor) - 0x0d800000u <= 0x64000000u &&
           (bits == 0 || (bits & 0x7fffffffu) - 1 < 0x7f7fffffu);
  }
  template <class T>
  MPNUM_REAL_ mpnum_f32x4 products(const four &codes, const uint32_t (&words)[count]) {
    const float once = mpnum_f32_of_scalar_(words[0]);
    const float larger = mpnum_f32_of_scalar_(words[1]);
    const four_of_<mpnum_f16>::type x = halves_of_(codes);
    const four_of_<mpnum_f16>::type powers = {
        {without_fractions_(x.at[0]), without_fractions_(x.at[1])}};
    const mpnum_f32x4 y = floats_to_round_<mpnum_f16>::at(powers);
    const mpnum_f32x4 products = {
        mpnum_mul_scalar_(y.x, x.at[0] & 0x00000200u ? larger : once),
        mpnum_mul_scalar_(y.y, x.at[0] & 0x02000000u ? larger : once),
        mpnum_mul_scalar_(y.z, x.at[1] & 0x00000200u ? larger : once),
        mpnum_mul_scalar_(y.w, x.at[1] & 0x02000000u ? larger : once)};
    return products;
  }
};

} // namespace mpnum

/* A tile has 32 codes for each thread, which loads those of neighbouring vectors, `unit`,
 * and stores vectors side by side with other threads'. */
template <class Blocks, class T> struct mpnum_codes_back_ {
  static constexpr unsigned n = 16 / sizeof(T), bytes = n * Blocks::bits / 8;
  static constexpr unsigned vectors = 32 / n;
  static constexpr unsigned log2_vectors = 8 + mpnum::log2_<vectors>::value;
  static constexpr unsigned sharers = Blocks::edge / n; /* of a block */
  static constexpr unsigned least_shift =
      mpnum::log2_<(sharers > vectors ? sharers : vectors)>::value;
  typedef mpnum_lanes<uint32_t, vectors * bytes / 4> unit;
  typedef mpnum_lanes<uint8_t, bytes> lanes;
  typedef typename mpnum::code_words_<bytes>::type words;
};

/* The scale at a place of side.scale_inv. */
template <class Blocks>
static __device__ __forceinline__ float
mpnum_scale_back_(const mpnum_quantize_side_ &side, size_t at) {
  if (Blocks::family == mpnum::MX_FAMILY_)
    return mpnum_e8m0_to_f32(mpnum_from_bits_e8m0(side.scale_inv[at]));
  if (Blocks::is_wide)
    return mpnum_decode(mpnum_format_of(MPNUM_TYPE_UE5M3), side.scale_inv[at]);
  if (Blocks::family == mpnum::TWO_LEVEL_FAMILY_)
    return mpnum_e4m3_to_f32(mpnum_from_bits_e4m3(side.scale_inv[at]));
  return mpnum::scale_or_nan_(reinterpret_cast<const float *>(side.scale_inv)[at]);
}

/* A vector of codes times the words of Back, a block_back_. */
template <class T, class Back, class Words>
static __device__ __forceinline__ mpnum_vector_
mpnum_products_back_(const Words &codes, const uint32_t (&words)[Back::count]) {
  enum { fours = 4 / sizeof(T) };
  typename Back::four in[fours];
  typename mpnum::four_of_<T>::type out[fours];
  MPNUM_MEMCPY_(in, &codes, sizeof in);
  MPNUM_UNROLL_
  for (unsigned j = 0; j < fours; ++j)
    out[j] = mpnum::four_plain_<T>::at(Back::template products<T>(in[j], words));
  return mpnum::copied_<mpnum_vector_>(out);
}

/* A whole tile by rows. Each scale is made by one lane of those that share it, or by
 * few. */
template <class Blocks, class T> struct mpnum_tile_back_ {
  typedef mpnum_codes_back_<Blocks, T> back;
  typedef mpnum::block_back_<typename Blocks::Code,
                             Blocks::family == mpnum::TWO_LEVEL_FAMILY_>
      factors;
  typedef mpnum_shared_blocks_<back::sharers, back::vectors> shared;
  uint32_t words[factors::count][shared::kept];

  /* Codes to shared memory, and factors. False: this warp has elements that are no
   * products of factors. */
  __device__ __forceinline__ bool load(typename back::unit *stage,
                                       const mpnum_quantize_job_ &job,
                                       const mpnum_quantize_side_ &side, float tensor) {
    const mpnum_tile_place_ own(job, threadIdx.x, back::log2_vectors);
    const mpnum_tile_place_ loaded(job, threadIdx.x * back::vectors, back::log2_vectors);
    const typename back::unit codes = *reinterpret_cast<const typename back::unit *>(
        side.codes + loaded.row * side.pitch + loaded.vector * back::bytes);
    const float inverse = factors::inverse(tensor);
    bool are_products = true;
    MPNUM_UNROLL_
    for (unsigned i = 0; i < shared::kept; ++i) {
      const mpnum_tile_place_ at(job, own.row, own.vector, shared::first() + i);
      const size_t high = at.row / (Blocks::is_square ? Blocks::edge : 1);
      const size_t wide = at.vector / back::sharers;
      uint32_t found[factors::count];
      are_products &=
          factors::find(found,
                        mpnum_scale_back_<Blocks>(
                            side, mpnum_scale_index_<Blocks>(side, false, high, wide)),
                        tensor, inverse);
      MPNUM_UNROLL_
      for (unsigned k = 0; k < factors::count; ++k)
        words[k][i] = found[k];
    }
    stage[threadIdx.x] = codes;
    __syncthreads();
    return __all_sync(0xffffffffu, are_products) != 0;
  }
  __device__ __forceinline__ void store(T *dst, const typename back::unit *stage,
                                        const mpnum_quantize_job_ &job) const {
    const typename back::words *const staged =
        reinterpret_cast<const typename back::words *>(stage) + threadIdx.x;
    const mpnum_tile_place_ own(job, threadIdx.x, back::log2_vectors);
    const size_t step = job.step / back::n;
    mpnum_vector_ *const out =
        reinterpret_cast<mpnum_vector_ *>(dst + own.row * job.stride) + own.vector;
    typename back::words codes[back::vectors];
    MPNUM_UNROLL_
    for (unsigned v = 0; v < back::vectors; ++v)
      codes[v] = staged[v * MPNUM_LAUNCH_THREADS_];
    MPNUM_UNROLL_
    for (unsigned v = 0; v < back::vectors; ++v) {
      uint32_t factor[factors::count];
      MPNUM_UNROLL_
      for (unsigned k = 0; k < factors::count; ++k)
        factor[k] = shared::from_holder(words[k], v);
      out[v * step] = mpnum_products_back_<T, factors>(codes[v], factor);
    }
  }
};

MPNUM_C_END_
#endif
