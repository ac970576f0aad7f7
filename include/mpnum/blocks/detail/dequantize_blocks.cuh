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
static __device__ __forceinline__ float quotient_(float scale, float tensor,
                                                  float inverse) {
  const float near_it = mpnum_mul_scalar_(scale, inverse);
  const float rest = mpnum_fma_scalar_(mpnum_minus_(near_it), tensor, scale);
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
  static __device__ __forceinline__ float inverse(float tensor) {
    return mpnum_usual_inverse_(tensor);
  }
  static __device__ __forceinline__ bool find(uint32_t (&words)[count], float scale,
                                              float tensor, float inverse) {
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

/* Codes times the scale of their MX block as bf16, by the instruction for it, where all
 * codes are numbers and all products normal or 0: these bits alone are the ISA's. */
template <class Code, block_family_ family> struct scaled_codes_ {
  static constexpr bool exists = false;
  template <unsigned n> MPNUM_REAL_ bool are_numbers(const mpnum_lanes<uint32_t, n> &) {
    return false;
  }
  template <class Four>
  MPNUM_REAL_ four_of_<mpnum_bf16>::type at(const Four &, uint32_t) {
    return four_of_<mpnum_bf16>::type();
  }
};
/* 2^-110 to 2^112: the extremes of codes are e5m2's, 2^-16 and 57344. */
MPNUM_REAL_ bool is_usual_scale_(uint32_t bits) {
  return bits - (17u << 23) <= 222u << 23;
}
#if MPNUM_HAS_HW_SCALED_ || !MPNUM_ON_DEVICE_
# if MPNUM_HAS_HW_SCALED_
#  define MPNUM_SCALED_PAIR_(name, codes, scales) \
   mpnum_cvt_##name##x2_to_bf16x2_(codes, scales)
# else
MPNUM_REAL_ uint32_t scaled_pair_(const mpnum_f32x2 &x, uint32_t scales) {
  const float scale = mpnum_f32_of_scalar_(scales << 24 >> 1);
  return mpnum_f32_to_bf16_x2(x.x * scale, x.y * scale).bits;
}
#  define MPNUM_SCALED_PAIR_(name, codes, scales) \
   scaled_pair_(mpnum_##name##_to_f32_x2(copied_<mpnum_##name##x2>(codes)), scales)
# endif
/* With `step` a code under the mask that is no number has a sign. */
# define MPNUM_SCALED_CODES_(name, packed, pair, bits, mask, step)                \
  template <> struct scaled_codes_<mpnum_##name, MX_FAMILY_> {                    \
   static constexpr bool exists = true;                                           \
   template <unsigned n>                                                          \
   MPNUM_REAL_ bool are_numbers(const mpnum_lanes<uint32_t, n> &codes) {          \
    uint32_t past = 0;                                                            \
    MPNUM_UNROLL_                                                                 \
    for (unsigned i = 0; i < n; ++i)                                              \
     past |= (codes.at[i] & mask) + step;                                         \
    return (past & 0x80808080u) == 0;                                             \
   }                                                                              \
   MPNUM_REAL_ four_of_<mpnum_bf16>::type at(const four_of_<packed>::type &codes, \
                                             uint32_t scales) {                   \
    const uint32_t all = codes.at[0];                                             \
    const four_of_<mpnum_bf16>::type products = {                                 \
        {MPNUM_SCALED_PAIR_(name, static_cast<pair>(all), scales),                \
         MPNUM_SCALED_PAIR_(name, static_cast<pair>(all >> bits), scales)}};      \
    return products;                                                              \
   }                                                                              \
  };
MPNUM_SCALED_CODES_(e4m3, mpnum_e4m3, uint16_t, 16, 0x7f7f7f7fu, 0x01010101u)
MPNUM_SCALED_CODES_(e5m2, mpnum_e5m2, uint16_t, 16, 0x7c7c7c7cu, 0x04040404u)
MPNUM_SCALED_CODES_(e2m1, mpnum_e2m1x2, uint8_t, 8, 0u, 0u)
# undef MPNUM_SCALED_CODES_
# undef MPNUM_SCALED_PAIR_
#endif
template <class T> struct brain_as_ {
  MPNUM_REAL_ typename four_of_<T>::type at(const four_of_<mpnum_bf16>::type &x) {
    return four_plain_<T>::at(floats_of_<mpnum_bf16>::at(x));
  }
};
template <> struct brain_as_<mpnum_bf16> {
  MPNUM_REAL_ four_of_<mpnum_bf16>::type at(const four_of_<mpnum_bf16>::type &x) {
    return x;
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
  /* A thread asks for half of the bytes in 4 bits; sm_100 has registers for more. */
  static constexpr int resident = MPNUM_DEVICE_ARCH_ >= 1000 &&
                                          MPNUM_DEVICE_ARCH_ < 1200 &&
                                          Blocks::bits == 4 && !Blocks::is_wide
                                      ? 6
                                      : +MPNUM_LAUNCH_BLOCKS_;
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

/* A vector of codes times the words of Back, a block_back_, or the scales of Scaled. */
template <class T, class Back, class Scaled, bool is_scaled, class Words>
static __device__ __forceinline__ mpnum_vector_
mpnum_products_back_(const Words &codes, const uint32_t (&words)[Back::count]) {
  enum { fours = 4 / sizeof(T) };
  typename Back::four in[fours];
  typename mpnum::four_of_<T>::type out[fours];
  MPNUM_MEMCPY_(in, &codes, sizeof in);
  MPNUM_UNROLL_
  for (unsigned j = 0; j < fours; ++j)
    out[j] = is_scaled
                 ? mpnum::brain_as_<T>::at(Scaled::at(in[j], words[0]))
                 : mpnum::four_plain_<T>::at(Back::template products<T>(in[j], words));
  return mpnum::copied_<mpnum_vector_>(out);
}

/* A whole tile by rows. Each scale is made by one lane of those that share it, or by
 * few. */
template <class Blocks, class T> struct mpnum_tile_back_ {
  typedef mpnum_codes_back_<Blocks, T> back;
  typedef mpnum::block_back_<typename Blocks::Code,
                             Blocks::family == mpnum::TWO_LEVEL_FAMILY_>
      factors;
  typedef mpnum::scaled_codes_<typename Blocks::Code, Blocks::family> scaled;
  typedef mpnum_shared_blocks_<back::sharers, back::vectors> shared;
  uint32_t words[factors::count][shared::kept];
  bool are_scaled; /* words[0]: pairs of scales, of which scaled makes products */

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
    are_scaled = false;
    if (scaled::exists) {
      bool are_usual = scaled::are_numbers(codes);
      MPNUM_UNROLL_
      for (unsigned i = 0; i < shared::kept; ++i)
        are_usual &= mpnum::is_usual_scale_(words[0][i]);
      are_scaled = __syncthreads_and(are_usual) != 0;
      MPNUM_UNROLL_
      for (unsigned i = 0; are_scaled && i < shared::kept; ++i)
        words[0][i] = (words[0][i] >> 23) * 0x0101u;
    } else {
      __syncthreads();
    }
    return __all_sync(0xffffffffu, are_products) != 0;
  }
  __device__ __forceinline__ void store(T *dst, const typename back::unit *stage,
                                        const mpnum_quantize_job_ &job) const {
    if (scaled::exists && are_scaled) {
      store_by<true>(dst, stage, job);
    } else {
      store_by<false>(dst, stage, job);
    }
  }
  template <bool is_scaled>
  __device__ __forceinline__ void store_by(T *dst, const typename back::unit *stage,
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
      out[v * step] =
          mpnum_products_back_<T, factors, scaled, is_scaled>(codes[v], factor);
    }
  }
};

/* Vectors of a thread from number `first` on, element by element. */
template <class Blocks, class T>
static __device__ __forceinline__ void
mpnum_dequantize_vectors_(T *dst, const mpnum_quantize_job_ &job,
                          const mpnum_quantize_side_ &side, float tensor,
                          const mpnum_tile_place_ &begin, unsigned first) {
  enum { n = 16 / sizeof(T), vectors = MPNUM_TILE_VECTORS_ };
  enum { bits = Blocks::bits, by_element = 1 << bits };
  typedef typename Blocks::Code Code;
  typedef typename mpnum_codes_back_<Blocks, T>::lanes code_lanes;
  const bool is_by_column = (job.what & MPNUM_SIDE_COLUMNS_) && !Blocks::is_square;
  const size_t high = is_by_column || Blocks::is_square ? Blocks::edge : 1;
  const size_t wide = is_by_column ? 1 : Blocks::edge;
  const bool is_whole = mpnum_is_whole_tile_(job);
  code_lanes in[vectors];
  MPNUM_UNROLL_
  for (unsigned v = 0; v < vectors; ++v) {
    const mpnum_tile_place_ own(job, begin.row, begin.vector, first + v);
    const size_t row = own.row, column = own.vector * n;
    const uint8_t *const at = side.codes + row * side.pitch + column * bits / 8;
    if (is_whole) {
      in[v] = *reinterpret_cast<const code_lanes *>(at);
    } else if (row < job.height && column < job.width) {
      in[v] = mpnum_load<n * bits / 8>(
          at, mpnum::dense_bytes_(Blocks::bits, job.width - column));
    }
  }
  MPNUM_UNROLL_
  for (unsigned v = 0; v < vectors; ++v) {
    const mpnum_tile_place_ own(job, begin.row, begin.vector, first + v);
    const size_t row = own.row, column = own.vector * n;
    if (!is_whole && (row >= job.height || column >= job.width)) continue;
    mpnum_lanes<T, n> out;
    float factor = 1;
    uint64_t word = 0;
    memcpy(&word, &in[v], sizeof in[v]);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < n; ++j) {
      if ((j == 0 || is_by_column) && (is_whole || column + j < job.width)) {
        const size_t at = mpnum_scale_index_<Blocks>(side, side.is_turned != 0,
                                                     row / high, (column + j) / wide);
        factor = mpnum_scale_back_<Blocks>(side, at);
      }
      const uint32_t code = static_cast<uint32_t>(word >> j * bits) & (by_element - 1);
      float y =
          mpnum_mul_scalar_(mpnum::element_of_(mpnum::from_bits<Code>(code)), factor);
      if (Blocks::family == mpnum::TWO_LEVEL_FAMILY_) y = mpnum_div_scalar_(y, tensor);
      mpnum::set_element_(out.at + j, mpnum_canonical_(y));
    }
    if (is_whole) {
      *reinterpret_cast<mpnum_lanes<T, n> *>(dst + row * job.stride + column) = out;
    } else {
      mpnum_store(dst + row * job.stride + column, out, job.width - column);
    }
  }
}

/* Codes times their scales. One side of the job is used, by what. */
template <class Blocks, class T>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_,
                                         mpnum_codes_back_<Blocks, T>::resident)
    mpnum_dequantize_blocks_kernel_(T *dst, mpnum_quantize_job_ job) {
  mpnum_begin_kernel_();
  typedef mpnum_codes_back_<Blocks, T> back;
  __shared__ typename back::unit stage[MPNUM_LAUNCH_THREADS_];
  const mpnum_quantize_side_ side =
      job.what & MPNUM_SIDE_COLUMNS_ ? job.columns : job.rows;
  const float tensor =
      Blocks::family == mpnum::TWO_LEVEL_FAMILY_ ? mpnum::scale_or_nan_(*job.scale) : 1;
  if (mpnum_is_whole_tile_(job) &&
      (Blocks::is_square || !(job.what & MPNUM_SIDE_COLUMNS_))) {
    mpnum_tile_back_<Blocks, T> tile;
    if (tile.load(stage, job, side, tensor)) {
      tile.store(dst, stage, job);
      return;
    }
  }
  const mpnum_tile_place_ begin(job, threadIdx.x, back::log2_vectors);
  MPNUM_NO_UNROLL_
  for (unsigned first = 0; first < back::vectors; first += MPNUM_TILE_VECTORS_)
    mpnum_dequantize_vectors_<Blocks>(dst, job, side, tensor, begin, first);
}

MPNUM_C_END_
#endif
