/* SPDX-License-Identifier: MIT */
/* What the quantisers of cuda/ share: codes of several elements, scales of blocks, and
 * the tiles of a matrix that blocks of threads take. */
#ifndef MPNUM_CUDA_DETAIL_QUANTIZE_CUH
#define MPNUM_CUDA_DETAIL_QUANTIZE_CUH

#include "convert_four.cuh"
#include "inverse.cuh"
MPNUM_C_BEGIN_

namespace mpnum {

/* Codes as blocks of them lie in memory: the type of what is so in an array; the bits of
 * one; four, the first one lowest; and how many blocks of threads a multiprocessor is to
 * hold at least: fewer where conversions are many instructions, which have no registers
 * for more. */
template <class Code> struct dense_ {
  typedef Code packed;
  enum { bits = 8, resident = 2 };
  MPNUM_REAL_ uint32_t four(float a, float b, float c, float d) {
    return static_cast<uint32_t>(from_float_sat<Code>(a).bits) |
           static_cast<uint32_t>(from_float_sat<Code>(b).bits) << 8 |
           static_cast<uint32_t>(from_float_sat<Code>(c).bits) << 16 |
           static_cast<uint32_t>(from_float_sat<Code>(d).bits) << 24;
  }
};
template <> struct dense_<mpnum_e4m3> {
  typedef mpnum_e4m3 packed;
  enum { bits = 8, resident = MPNUM_HAS_HW_FP8_ ? MPNUM_LAUNCH_BLOCKS_ : 2 };
  MPNUM_REAL_ uint32_t four(float a, float b, float c, float d) {
    return mpnum_f32_to_e4m3_sat_x4(a, b, c, d).bits;
  }
};
template <> struct dense_<mpnum_e5m2> {
  typedef mpnum_e5m2 packed;
  enum { bits = 8, resident = MPNUM_HAS_HW_FP8_ ? MPNUM_LAUNCH_BLOCKS_ : 2 };
  MPNUM_REAL_ uint32_t four(float a, float b, float c, float d) {
    return mpnum_f32_to_e5m2_sat_x4(a, b, c, d).bits;
  }
};
template <> struct dense_<mpnum_e3m2> {
  typedef mpnum_e3m2x4 packed;
  enum { bits = 6, resident = MPNUM_HAS_HW_FP6_ ? MPNUM_LAUNCH_BLOCKS_ : 2 };
  MPNUM_REAL_ uint32_t four(float a, float b, float c, float d) {
    const mpnum_e3m2x4 codes = mpnum_f32_to_e3m2_sat_x4(a, b, c, d);
    return static_cast<uint32_t>(codes.bytes[0]) |
           static_cast<uint32_t>(codes.bytes[1]) << 8 |
           static_cast<uint32_t>(codes.bytes[2]) << 16;
  }
};
template <> struct dense_<mpnum_e2m3> {
  typedef mpnum_e2m3x4 packed;
  enum { bits = 6, resident = MPNUM_HAS_HW_FP6_ ? MPNUM_LAUNCH_BLOCKS_ : 2 };
  MPNUM_REAL_ uint32_t four(float a, float b, float c, float d) {
    const mpnum_e2m3x4 codes = mpnum_f32_to_e2m3_sat_x4(a, b, c, d);
    return static_cast<uint32_t>(codes.bytes[0]) |
           static_cast<uint32_t>(codes.bytes[1]) << 8 |
           static_cast<uint32_t>(codes.bytes[2]) << 16;
  }
};
template <> struct dense_<mpnum_e2m1> {
  typedef mpnum_e2m1x2 packed;
  enum { bits = 4, resident = MPNUM_LAUNCH_BLOCKS_ };
  MPNUM_REAL_ uint32_t four(float a, float b, float c, float d) {
#if MPNUM_ON_DEVICE_ && !MPNUM_HAS_HW_FP4_
    const float y[4] = {a, b, c, d};
    return e2m1_four_(y);
#else
    return mpnum_f32_to_e2m1_sat_x4(a, b, c, d).bits;
#endif
  }
};

/* How the scale of a block follows from its amax; it sets what elements do with it. WIDE:
 * TWO_LEVEL with scales of ue5m3. */
enum block_family_ { MX_FAMILY_, TWO_LEVEL_FAMILY_, AMAX_FAMILY_, WIDE_FAMILY_ };

template <mpnum_type scale_type> struct two_level_ {
  static constexpr block_family_ family =
      scale_type == MPNUM_TYPE_UE5M3 ? WIDE_FAMILY_ : TWO_LEVEL_FAMILY_;
};

/* Code elements in blocks of 1 x edge, edge x 1, or, if is_square, edge x edge. */
template <class Code_, block_family_ family_, unsigned edge_, bool is_square_ = false,
          bool is_stochastic_ = false>
struct blocks_ {
  typedef Code_ Code;
  static constexpr bool is_wide = family_ == WIDE_FAMILY_;
  static constexpr block_family_ family = is_wide ? TWO_LEVEL_FAMILY_ : family_;
  static constexpr unsigned edge = edge_;
  static constexpr bool is_square = is_square_, is_stochastic = is_stochastic_;
  static constexpr unsigned bits = dense_<Code_>::bits;
  static constexpr int resident =
      is_stochastic_ ? (MPNUM_DEVICE_ARCH_ >= 1200 ? 2 : 3) : +dense_<Code_>::resident;
  /* Of kernels by tiles, which read those above 64 x 64 twice, and would spill random
   * words and scales of ue5m3. */
  static constexpr int resident_tiles = is_stochastic_ && MPNUM_DEVICE_ARCH_ >= 1200 ? 1
                                        : edge_ > 64 || is_wide || is_stochastic_
                                            ? 2
                                            : resident;
  static constexpr unsigned scale_bytes = family_ == AMAX_FAMILY_ ? 4 : 1;
};

MPNUM_REAL_ float element_of_(float x) { return x; }
template <class T> MPNUM_REAL_ float element_of_(T x) { return to_float(x); }
/* Without a step for NaN, whose sign and payload do not reach a code or an amax. */
MPNUM_REAL_ float element_of_(mpnum_f16 x) {
#if MPNUM_HAS_HW_F16_
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
  return value;
#else
  return to_float(x);
#endif
}
MPNUM_REAL_ void set_element_(float *dst, float x) { *dst = x; }
template <class T> MPNUM_REAL_ void set_element_(T *dst, float x) {
  *dst = from_float<T>(x);
}

/* The same with NaN as all have it, but where rounding to T does that. */
template <class T> MPNUM_REAL_ float one_nan_(float x) {
  return sizeof(T) < 4 ? x : with_one_nan_(x);
}

/* Four codes times a factor, to be stored as T. */
template <class T, class Packed>
MPNUM_REAL_ mpnum_f32x4 four_products_(const typename four_of_<Packed>::type &codes,
                                       float factor) {
  const mpnum_f32x4 x = floats_to_round_<Packed>::at(codes);
  const mpnum_f32x4 y = {one_nan_<T>(mpnum_mul_scalar_(x.x, factor)),
                         one_nan_<T>(mpnum_mul_scalar_(x.y, factor)),
                         one_nan_<T>(mpnum_mul_scalar_(x.z, factor)),
                         one_nan_<T>(mpnum_mul_scalar_(x.w, factor))};
  return y;
}

/* Element j, a constant, of neighbours: by words of two, of which compilers make one
 * instruction. */
template <class T, unsigned N>
MPNUM_REAL_ float element_at_(const mpnum_lanes<T, N> &in, unsigned j) {
  return element_of_(in.at[j]);
}
template <unsigned N> MPNUM_REAL_ uint32_t word_at_(const void *in, unsigned j) {
  uint32_t words[N / 2];
  memcpy(words, in, sizeof words);
  return words[j / 2];
}
template <unsigned N>
MPNUM_REAL_ float element_at_(const mpnum_lanes<mpnum_bf16, N> &in, unsigned j) {
  const uint32_t word = word_at_<N>(&in, j);
  return mpnum_f32_of_scalar_(j % 2 ? word & 0xffff0000u : word << 16);
}
template <unsigned N>
MPNUM_REAL_ float element_at_(const mpnum_lanes<mpnum_f16, N> &in, unsigned j) {
  const uint32_t word = word_at_<N>(&in, j);
  return element_of_(from_bits<mpnum_f16>(j % 2 ? word >> 16 : word & 0xffffu));
}
/* The words that folded() makes of those of larger_magnitudes_ are ordered as the largest
 * of their parts, which bits() makes the bits of a float. */
template <class T, unsigned size = sizeof(T)> struct magnitudes_ : larger_magnitudes_<T> {
  MPNUM_REAL_ uint32_t folded(uint32_t most) { return most; }
  MPNUM_REAL_ uint32_t bits(uint32_t folded) { return folded; }
  MPNUM_REAL_ uint32_t part(uint32_t most, unsigned) { return most; }
};
/* Two at a time, first as codes. */
template <class T> struct magnitudes_<T, 2> : larger_magnitudes_<T> {
  MPNUM_REAL_ uint32_t folded(uint32_t most) {
    const uint32_t low = most << 16;
    return most > low ? most : low;
  }
  MPNUM_REAL_ uint32_t bits(uint32_t folded) { return part(folded, 1); }
  /* That of one part, a constant. */
  MPNUM_REAL_ uint32_t part(uint32_t most, unsigned index) {
    if (type_of<T>::value == MPNUM_TYPE_BF16)
      return index ? most & 0xffff0000u : most << 16;
    const uint32_t code = index ? most >> 16 : most & 0xffffu;
    return mpnum_bits_of_scalar_(element_of_(from_bits<T>(code)));
  }
};

template <unsigned n> struct log2_ {
  static constexpr unsigned value = 1 + log2_<n / 2>::value;
};
template <> struct log2_<1> { static constexpr unsigned value = 0; };

/* Whether a scale, or scale_inv, is one: above 0 and finite. */
MPNUM_REAL_ int is_scale_(float x) { return mpnum_bits_of_scalar_(x) - 1 < 0x7f7fffffu; }
/* A scale, or NaN, which takes the place of what is none. */
MPNUM_REAL_ float scale_or_nan_(float x) {
  return mpnum_f32_of_scalar_(is_scale_(x) ? mpnum_bits_of_scalar_(x) : 0x7fffffffu);
}

/* Whether the scale of a tensor, its bits, is from 2^-100 to 2^100. */
MPNUM_REAL_ bool is_usual_tensor_(uint32_t bits) {
  return bits - 0x0d800000u <= 0x64000000u;
}
/* 1 over the quotient of a block's scale and the tensor's; of a scale of 0 any float. */
static __device__ __forceinline__ float two_level_factor_(float scale, uint32_t tensor) {
  const float by = mpnum_constant_scalar_(tensor);
  if (is_usual_tensor_(tensor))
    return mpnum_usual_inverse_(mpnum_usual_quotient_(scale, by));
  const uint32_t bits = mpnum_bits_of_scalar_(mpnum_div_scalar_(
      mpnum_constant_scalar_(0x3f800000u), mpnum_div_scalar_(scale, by)));
  return mpnum_f32_of_scalar_(bits > 0x7f7fffffu ? 0x7f7fffffu : bits);
}
/* The scale of a block of this amax, the bits of a magnitude. Where codes are to be 0,
 * whatever the elements, the factor is +0, which it is never else. */
template <class Blocks>
static __device__ __forceinline__ mpnum_block_scale_scalar_
block_scale_(mpnum_block_rule_ rule, uint32_t amax) {
  mpnum_block_scale_scalar_ scale;
  if (Blocks::family == TWO_LEVEL_FAMILY_) {
    rule.wider = Blocks::is_wide ? 8u << 23 : 0; /* biases: 15 - 7 */
    scale = mpnum_two_level_code_scalar_(rule, amax);
    const uint32_t factor =
        mpnum_bits_of_scalar_(two_level_factor_(scale.factor, rule.scale));
    const bool is_number = amax < 0x7f800000u;
    scale.factor = mpnum_f32_of_scalar_(!is_number        ? 0x7fffffffu
                                        : scale.code != 0 ? factor
                                                          : 0);
    scale.code = is_number ? scale.code : rule.nan_code;
    return scale;
  }
  if (Blocks::family == MX_FAMILY_) { /* constants, for the compiler to choose by */
    rule.kind = MPNUM_BLOCK_PRODUCT_;
    rule.divides = 0;
  } else {
    rule.kind = rule.kind == MPNUM_BLOCK_AMAX_POW2_ ? rule.kind : MPNUM_BLOCK_AMAX_;
    rule.divides = 1;
  }
  scale = mpnum_block_scale_of_scalar_(rule, amax);
  scale.factor =
      mpnum_f32_of_scalar_(amax == 0 ? 0 : mpnum_bits_of_scalar_(scale.factor));
  return scale;
}
/* The rule of a format as block_scale_ takes it: all of MX are products, by 1 where the
 * exponent of the amax counts. */
MPNUM_REAL_ mpnum_block_rule_ block_rule_(const mpnum_blockscale_format &format,
                                          float scale) {
  mpnum_block_rule_ rule = mpnum_block_rule_of_(&format, scale);
  if (rule.kind == MPNUM_BLOCK_POWER_) rule.max_inverse = 0x3f800000u;
  return rule;
}
template <class Blocks> MPNUM_REAL_ float block_scaled_(float x, float factor) {
  return Blocks::family == AMAX_FAMILY_ ? mpnum_div_scalar_(x, factor)
                                        : mpnum_mul_scalar_(x, factor);
}

/* x / factor where it is 2^-18 or more, else something smaller with its sign, as of
 * zeros: what becomes codes. inverse: mpnum_usual_inverse_ of a factor from 2^-80 to
 * 2^80. */
MPNUM_REAL_ bool is_usual_divisor_(float factor) {
  return mpnum_bits_of_scalar_(factor) - 0x17800000u <= 0x50000000u;
}
static __device__ __forceinline__ float code_quotient_(float x, float factor,
                                                       float inverse) {
  const float near_it = mpnum_mul_scalar_(x, inverse);
  const float less = mpnum_fma_scalar_(factor, near_it, mpnum_minus_(x));
  return mpnum_fma_scalar_(mpnum_minus_(less), inverse, near_it);
}

/* Four times a factor, by two products at once where that is an instruction. */
MPNUM_REAL_ void multiply_four_(float (&x)[4], float factor) {
#if MPNUM_HAS_HW_F32X2_
  asm("{\n .reg .b64 pair, both;\n mov.b64 both, {%4, %4};\n"
      " mov.b64 pair, {%0, %1};\n mul.rn.f32x2 pair, pair, both;\n"
      " mov.b64 {%0, %1}, pair;\n mov.b64 pair, {%2, %3};\n"
      " mul.rn.f32x2 pair, pair, both;\n mov.b64 {%2, %3}, pair;\n}"
      : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3])
      : "f"(factor));
#else
  MPNUM_UNROLL_
  for (unsigned k = 0; k < 4; ++k)
    x[k] = mpnum_mul_scalar_(x[k], factor);
#endif
}

/* Four scaled elements as dense codes; random is for stochastic rounding. quick: of which
 * some may be wrong where rest becomes doubt or more. */
template <class Code, bool is_stochastic> struct four_codes_ {
  static constexpr uint32_t doubt = 0xffffffffu;
  MPNUM_REAL_ uint32_t of(const float (&y)[4], const uint32_t (&)[4]) {
    return dense_<Code>::four(y[0], y[1], y[2], y[3]);
  }
  MPNUM_REAL_ uint32_t quick(const float (&y)[4], const uint32_t (&random)[4],
                             uint32_t &) {
    return of(y, random);
  }
};
template <class Code> struct four_codes_<Code, true> {
  static constexpr uint32_t doubt = 0xffffffffu;
  MPNUM_REAL_ uint32_t of(const float (&y)[4], const uint32_t (&random)[4]) {
    uint32_t word = 0;
    MPNUM_UNROLL_
    for (unsigned k = 0; k < 4; ++k)
      word |= static_cast<uint32_t>((round<Code>)(y[k], MPNUM_ROUND_STOCHASTIC,
                                                  MPNUM_OVERFLOW_SATURATE, random[k])
                                        .bits)
              << k * dense_<Code>::bits;
    return word;
  }
  MPNUM_REAL_ uint32_t quick(const float (&y)[4], const uint32_t (&random)[4],
                             uint32_t &) {
    return of(y, random);
  }
};
#if MPNUM_ON_DEVICE_
template <> struct four_codes_<mpnum_e2m1, true> {
  static constexpr uint32_t doubt = e2m1_doubt_;
  MPNUM_REAL_ uint32_t of(const float (&y)[4], const uint32_t (&random)[4]) {
    return e2m1_four_(y, random);
  }
  MPNUM_REAL_ uint32_t quick(const float (&y)[4], const uint32_t (&random)[4],
                             uint32_t &rest) {
    return e2m1_four_(y, random, rest);
  }
};
#endif
template <class Blocks>
MPNUM_REAL_ uint32_t block_codes_(const float (&y)[4], const uint32_t (&random)[4]) {
  return four_codes_<typename Blocks::Code, Blocks::is_stochastic>::of(y, random);
}

/* Puts the codes of four elements to dst, which is aligned for them: 4, 3 or 2 bytes. */
template <unsigned bits> MPNUM_REAL_ void put_four_(uint8_t *dst, uint32_t word) {
  typedef mpnum_lanes<uint8_t, bits / 2> lanes;
  lanes codes;
  memcpy(&codes, &word, sizeof codes);
  *reinterpret_cast<lanes *>(dst) = codes;
}

/* So many bytes of codes, as few words as they fill; 6 and 3 are codes of 6 bits. */
template <unsigned bytes> struct code_words_ {
  typedef mpnum_lanes<uint8_t, bytes> type;
};
template <> struct code_words_<8> { typedef mpnum_lanes<uint32_t, 2> type; };
template <> struct code_words_<4> { typedef mpnum_lanes<uint32_t, 1> type; };
template <> struct code_words_<2> { typedef mpnum_lanes<uint16_t, 1> type; };

/* Bytes of n codes, in whole groups of those that fill bytes. */
MPNUM_REAL_ size_t dense_bytes_(unsigned bits, size_t n) {
  return bits == 8 ? n : bits == 4 ? (n + 1) / 2 : (n + 3) / 4 * 3;
}

} // namespace mpnum

/* --- Rows --- */

/* Which sides of a matrix a job makes, codes by column as rows of the transposed matrix.
 */
enum { MPNUM_SIDE_ROWS_ = 1, MPNUM_SIDE_COLUMNS_ = 2, MPNUM_SIDE_TRANSPOSED_ = 4 };
/* Where codes and scales go, or come from. */
typedef struct mpnum_quantize_side_ {
  uint8_t *codes, *scale_inv;
  size_t pitch;    /* bytes from a row of codes to the next */
  size_t step;     /* and from a vector of a thread to its next */
  size_t across;   /* scales in a row of them */
  size_t down;     /* rows that swizzled scales are of */
  size_t cleared;  /* bytes of them to clear, 0 where there is no padding */
  int is_swizzled; /* scales lie as mpnum_scale_place has it */
  int is_turned;   /* scale (r, c) lies at row c */
  int is_aligned;  /* codes may be stored by vectors */
} mpnum_quantize_side_;
typedef struct mpnum_quantize_job_ {
  mpnum_quantize_side_ rows, columns; /* where `what` has them */
  size_t height, width, stride;       /* of the matrix, in elements */
  size_t step;                        /* elements from a vector of a thread to its next */
  mpnum_block_rule_ rule;
  const float *scale; /* of a tensor, in device memory */
  uint64_t seed, offset;
  mpnum_rounding rounding; /* of elements, where it is stochastic */
  int what;
  unsigned shift; /* vectors in a row of a tile as a power of two */
  /* Tiles that are all in the matrix; none where vectors are not aligned. */
  unsigned whole_across, whole_down;
} mpnum_quantize_job_;

/* The number, from the top, of a block's tile, in a grid of mpnum_tile_grid_, the last of
 * which may be past the end. */
static __device__ __forceinline__ unsigned mpnum_tile_down_() {
  return blockIdx.y + blockIdx.z * gridDim.y;
}
static __device__ __forceinline__ bool
mpnum_is_whole_tile_(const mpnum_quantize_job_ &job) {
  return blockIdx.x < job.whole_across && mpnum_tile_down_() < job.whole_down;
}

static __device__ __forceinline__ mpnum_u32x4 mpnum_random_by_(uint64_t seed,
                                                               uint64_t counter) {
  return mpnum_random_x4(seed, counter);
}
/* Words index to index + N - 1 of a seed, or of its keys, N a multiple of 4. */
template <unsigned N, class Seed>
static __device__ __forceinline__ void
mpnum_quantize_words_(uint32_t (&words)[N], const Seed &seed, uint64_t index) {
  uint32_t all[N + 4];
  const unsigned skipped = static_cast<unsigned>(index % 4);
  MPNUM_UNROLL_
  for (unsigned j = 0; j < N + 4; j += 4) {
    mpnum_u32x4 four = {0, 0, 0, 0};
    if (j < N || skipped != 0) four = mpnum_random_by_(seed, (index - skipped + j) / 4);
    all[j] = four.x;
    all[j + 1] = four.y;
    all[j + 2] = four.z;
    all[j + 3] = four.w;
  }
  MPNUM_UNROLL_
  for (unsigned j = 0; j < N; ++j)
    words[j] = all[j];
  if (skipped == 0) return;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < N; ++j) {
    const uint32_t first = skipped & 1 ? all[j + 1] : all[j];
    const uint32_t third = skipped & 1 ? all[j + 3] : all[j + 2];
    words[j] = skipped & 2 ? third : first;
  }
}

/* The same of a job, from an element on, as its rounding has them. */
template <unsigned N, class Seed>
static __device__ __forceinline__ void
mpnum_quantize_words_(uint32_t (&words)[N], const mpnum_quantize_job_ &job,
                      const Seed &seed, size_t element) {
  mpnum_quantize_words_(words, seed, job.offset + element);
  if (job.rounding == MPNUM_ROUND_STOCHASTIC) return;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < N; ++j)
    words[j] = mpnum_random_word_(job.rounding, words[j]);
}
template <unsigned N>
static __device__ __forceinline__ void
mpnum_quantize_words_(uint32_t (&words)[N], const mpnum_quantize_job_ &job,
                      size_t element) {
  mpnum_quantize_words_(words, job, job.seed, element);
}
/* Keys that a thread holds: compilers would add them up for each four words. */
static __device__ __forceinline__ mpnum_random_keys_ mpnum_held_keys_(uint64_t seed) {
  mpnum_random_keys_ keys = mpnum_random_keys_of_(seed);
#if MPNUM_ON_DEVICE_
  MPNUM_UNROLL_
  for (unsigned i = 0; i < 20; ++i)
    asm("" : "+r"(keys.at[i]));
#endif
  return keys;
}

/* Tiles of the kernels that go by rows: 4 vectors of each of 256 threads, which are 1 <<
 * job.shift across. */
enum { MPNUM_TILE_VECTORS_ = 4, MPNUM_TILE_LOG2_VECTORS_ = 10 };

/* The row of a vector and its number in that: of the first one of a thread, of that at a
 * place of a tile of 1 << log2_vectors, or of number `index` from the first one on. */
struct mpnum_tile_place_ {
  size_t row, vector;
  __device__ __forceinline__ mpnum_tile_place_(const mpnum_quantize_job_ &job,
                                               unsigned place, unsigned log2_vectors)
      : row((static_cast<size_t>(mpnum_tile_down_()) << (log2_vectors - job.shift)) +
            (place >> job.shift)),
        vector((static_cast<size_t>(blockIdx.x) << job.shift) +
               (place & ((1u << job.shift) - 1))) {}
  __device__ __forceinline__ explicit mpnum_tile_place_(const mpnum_quantize_job_ &job)
      : mpnum_tile_place_(job, threadIdx.x, MPNUM_TILE_LOG2_VECTORS_) {}
  __device__ __forceinline__ mpnum_tile_place_(const mpnum_quantize_job_ &job,
                                               size_t first_row, size_t first_vector,
                                               unsigned index)
      : row(first_row + (index * MPNUM_LAUNCH_THREADS_ >> job.shift)),
        vector(first_vector + (index * MPNUM_LAUNCH_THREADS_ & ((1u << job.shift) - 1))) {
  }
};
/* Where a thread reads: number `count` of its vectors, which are `down` rows and `across`
 * columns from each other, the first one at (first_row, first_column). */
struct mpnum_read_place_ {
  size_t first_row, first_column;
  unsigned count, down, across;
  __device__ __forceinline__ size_t row() const { return first_row + count * down; }
  __device__ __forceinline__ size_t column() const {
    return first_column + count * across;
  }
};
/* That of number `count` in a whole tile, N elements each. */
template <unsigned N>
static __device__ __forceinline__ mpnum_read_place_
mpnum_read_place_of_(const mpnum_quantize_job_ &job, size_t first_row,
                     size_t first_vector, unsigned count) {
  const unsigned threads = MPNUM_LAUNCH_THREADS_;
  const mpnum_read_place_ place = {first_row, first_vector * N, count,
                                   threads >> job.shift, job.shift > 8 ? threads * N : 0};
  return place;
}
/* Where the scale of block (row, block) is; that of a swizzled square is there for each
 * of its rows. */
template <class Blocks>
static __device__ __forceinline__ size_t mpnum_scale_index_(
    const mpnum_quantize_side_ &side, bool is_turned, size_t row, size_t block) {
  const bool is_repeated = Blocks::is_square && side.is_swizzled;
  const size_t c = is_turned ? row : block;
  const size_t r = (is_turned ? block : row) * (is_repeated ? Blocks::edge : 1);
  return side.is_swizzled ? mpnum_scale_place(r, c, side.across) : r * side.across + c;
}
template <class Blocks, bool may_turn = true>
static __device__ __forceinline__ void mpnum_put_scale_(const mpnum_quantize_side_ &side,
                                                        size_t row, size_t block,
                                                        uint32_t code) {
  const bool is_turned = may_turn && side.is_turned != 0;
  const size_t at = mpnum_scale_index_<Blocks>(side, is_turned, row, block);
  if (Blocks::scale_bytes == 4) {
    reinterpret_cast<uint32_t *>(side.scale_inv)[at] = code;
  } else if (Blocks::is_square && side.is_swizzled) {
    const size_t first = (is_turned ? block : row) * Blocks::edge;
    const size_t left = side.down - first;
    MPNUM_NO_UNROLL_
    for (unsigned r = 0; r < Blocks::edge && r < left; ++r) /* of one tile's line */
      side.scale_inv[at + 16 * r] = static_cast<uint8_t>(code);
  } else {
    side.scale_inv[at] = static_cast<uint8_t>(code);
  }
}

/* The rule with the scale of the tensor in it; what is no scale makes all blocks NaN. */
template <class Blocks>
static __device__ __forceinline__ mpnum_block_rule_
mpnum_quantize_rule_(const mpnum_quantize_job_ &job) {
  mpnum_block_rule_ rule = job.rule;
  if (Blocks::family == mpnum::TWO_LEVEL_FAMILY_) {
    const float scale = *job.scale;
    rule.scale = mpnum_bits_of_scalar_(scale);
    const float max = mpnum_f32_of_scalar_(rule.max);
    rule.scale_per_max = mpnum_bits_of_scalar_(mpnum::is_usual_tensor_(rule.scale)
                                                   ? mpnum_usual_quotient_(scale, max)
                                                   : mpnum_div_scalar_(scale, max));
    rule.floor = mpnum::is_scale_(scale) ? 0 : 0x7fffffffu;
  }
  return rule;
}
/* The amax that a rule takes. */
template <class Blocks>
static __device__ __forceinline__ uint32_t
mpnum_quantize_amax_(const mpnum_block_rule_ &rule, uint32_t amax) {
  if (Blocks::family != mpnum::TWO_LEVEL_FAMILY_) return amax;
  return amax > rule.floor ? amax : rule.floor;
}

/* The largest word of `lanes` neighbouring lanes, a power of two, in each of them. */
template <unsigned lanes>
static __device__ __forceinline__ uint32_t mpnum_lanes_max_(uint32_t word) {
  MPNUM_UNROLL_
  for (unsigned step = lanes / 2; step > 0; step /= 2) {
    const uint32_t other = __shfl_xor_sync(0xffffffffu, word, static_cast<int>(step));
    word = other > word ? other : word;
  }
  return word;
}
template <class T, unsigned N>
static __device__ __forceinline__ uint32_t
mpnum_folded_magnitude_of_(const mpnum_lanes<T, N> &in) {
  enum { count = sizeof in / 4 };
  uint32_t words[count], most = 0;
  memcpy(words, &in, sizeof words);
  MPNUM_UNROLL_
  for (unsigned j = 0; j < count; ++j)
    most = mpnum::magnitudes_<T>::larger(most, words[j]);
  return mpnum::magnitudes_<T>::folded(most);
}
template <class T, unsigned N>
static __device__ __forceinline__ uint32_t
mpnum_magnitude_of_(const mpnum_lanes<T, N> &in) {
  return mpnum::magnitudes_<T>::bits(mpnum_folded_magnitude_of_(in));
}

/* Blocks that neighbouring lanes share, `count` by each thread: of which of them a lane
 * has the scale. So that each is made once, or by few. */
template <unsigned lanes, unsigned count> struct mpnum_shared_blocks_ {
  static constexpr unsigned kept = count > lanes ? count / lanes : 1;
  static constexpr unsigned holders = lanes > count ? lanes / count : 1;
  /* The block of which this lane has the first one of its scales; others follow. */
  static __device__ __forceinline__ unsigned first() {
    return threadIdx.x % lanes / holders * kept;
  }
  /* Whether no lane before it has the same. */
  static __device__ __forceinline__ bool is_first() { return threadIdx.x % holders == 0; }
  /* words[0] to words[kept - 1] become the largest of their blocks. */
  static __device__ __forceinline__ void largest(uint32_t (&words)[count]) {
    unsigned left = count;
    MPNUM_UNROLL_
    for (unsigned step = lanes / 2; step > 0; step /= 2) {
      const bool is_upper = (threadIdx.x & step) != 0;
      const unsigned half = left / 2;
      left = half > 0 ? half : 1;
      MPNUM_UNROLL_
      for (unsigned i = 0; i < left; ++i) {
        const uint32_t kept_word = is_upper ? words[i + half] : words[i];
        const uint32_t given = is_upper ? words[i] : words[i + half];
        const uint32_t other =
            __shfl_xor_sync(0xffffffffu, given, static_cast<int>(step));
        words[i] = other > kept_word ? other : kept_word;
      }
    }
  }
  /* A word of block i, which is a constant, for all lanes that share it. */
  static __device__ __forceinline__ uint32_t from_holder(const uint32_t (&words)[kept],
                                                         unsigned i) {
    return __shfl_sync(0xffffffffu, words[i % kept], static_cast<int>(i / kept * holders),
                       static_cast<int>(lanes));
  }
};

/* Codes of N elements in order, of fours. */
template <class Blocks, unsigned N> struct mpnum_block_words_ {
  static constexpr unsigned bytes = N * Blocks::bits / 8;
  typedef typename mpnum::code_words_<bytes>::type words;
  typedef mpnum_lanes<uint8_t, bytes> lanes;
  words all;
  /* Those of elements 4 i on. */
  __device__ __forceinline__ void put(unsigned i, uint32_t four) {
    if (Blocks::bits == 8) {
      memcpy(reinterpret_cast<uint8_t *>(&all) + 4 * i, &four, 4);
    } else if (Blocks::bits == 6) {
      memcpy(reinterpret_cast<uint8_t *>(&all) + 3 * i, &four, 3);
    } else {
      memcpy(reinterpret_cast<uint8_t *>(&all) + 2 * i, &four, 2);
    }
  }
  /* That of element j, of 4 or 8 bits. */
  __device__ __forceinline__ uint32_t code(unsigned j) const {
    const unsigned in_word = 32 / Blocks::bits, bit = j % in_word * Blocks::bits;
    uint32_t word = 0;
    memcpy(&word, reinterpret_cast<const uint8_t *>(&all) + j / in_word * 4,
           bytes < 4 ? bytes : 4);
    return word >> bit & ((1u << Blocks::bits) - 1);
  }
};

/* N neighbours times their factor, as codes. by_pairs: there is no other product of
 * theirs, of which compilers would make one. is_quick: as of four_codes_; and quotients
 * are those of mpnum::code_quotient_. */
template <class Blocks, bool by_pairs, bool is_quick, class T, unsigned N>
static __device__ __forceinline__ mpnum_block_words_<Blocks, N>
mpnum_scale_lanes_(const mpnum_lanes<T, N> &in, float factor, const uint32_t (&random)[N],
                   uint32_t &rest) {
  typedef mpnum::four_codes_<typename Blocks::Code, Blocks::is_stochastic> codes;
  mpnum_block_words_<Blocks, N> out;
  const bool is_quotient = is_quick && Blocks::family == mpnum::AMAX_FAMILY_;
  const bool is_product_of_four =
      MPNUM_HAS_HW_F32X2_ && by_pairs && Blocks::family != mpnum::AMAX_FAMILY_;
  const float inverse = is_quotient ? mpnum_usual_inverse_(factor) : 0;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < N; j += 4) {
    float y[4];
    const uint32_t words[4] = {random[j], random[j + 1], random[j + 2], random[j + 3]};
    MPNUM_UNROLL_
    for (unsigned k = 0; k < 4; ++k) {
      const float x = mpnum::element_at_(in, j + k);
      y[k] = is_quotient          ? mpnum::code_quotient_(x, factor, inverse)
             : is_product_of_four ? x
                                  : mpnum::block_scaled_<Blocks>(x, factor);
    }
    if (is_product_of_four) mpnum::multiply_four_(y, factor);
    out.put(j / 4, is_quick ? codes::quick(y, words, rest) : codes::of(y, words));
  }
  return out;
}
/* The same; a factor of 0, if it may be one, makes them 0. */
template <class Blocks, bool may_be_zero = true, bool by_pairs = true, class T,
          unsigned N>
static __device__ __forceinline__ mpnum_block_words_<Blocks, N>
mpnum_quantize_lanes_(const mpnum_lanes<T, N> &in, float factor,
                      const uint32_t (&random)[N]) {
  typedef mpnum::four_codes_<typename Blocks::Code, Blocks::is_stochastic> codes;
  const bool is_usual =
      Blocks::family != mpnum::AMAX_FAMILY_ || mpnum::is_usual_divisor_(factor);
  uint32_t rest = is_usual ? 0 : 0xffffffffu;
  mpnum_block_words_<Blocks, N> out;
  if (is_usual)
    out = mpnum_scale_lanes_<Blocks, by_pairs, true>(in, factor, random, rest);
  if (!is_usual || (codes::doubt != 0xffffffffu && rest >= codes::doubt))
    out = mpnum_scale_lanes_<Blocks, by_pairs, false>(in, factor, random, rest);
  if (may_be_zero && mpnum_bits_of_scalar_(factor) == 0)
    out.all = typename mpnum_block_words_<Blocks, N>::words();
  return out;
}
/* Stores the codes of elements column to column + N - 1 of a row, those that are. */
template <class Blocks, unsigned N>
static __device__ __forceinline__ void
mpnum_store_codes_(uint8_t *dst, size_t row, size_t column, size_t height, size_t width,
                   bool is_whole, const mpnum_block_words_<Blocks, N> &made) {
  if (is_whole) {
    *reinterpret_cast<typename mpnum_block_words_<Blocks, N>::words *>(dst) = made.all;
  } else if (row < height && column < width) {
    typename mpnum_block_words_<Blocks, N>::lanes codes;
    memcpy(&codes, &made.all, sizeof codes);
    if (Blocks::is_stochastic && width % 2) { /* past the last one, as on hosts */
      MPNUM_UNROLL_
      for (unsigned j = 0; j < sizeof codes; ++j)
        if (column + 2 * j + 1 == width) codes.at[j] &= 0xf;
    }
    mpnum_store(dst, codes, mpnum::dense_bytes_(Blocks::bits, width - column));
  }
}

/* A vector of a matrix at (row, column); zeros past its end. */
template <unsigned N, class T>
static __device__ __forceinline__ mpnum_lanes<T, N>
mpnum_load_of_matrix_(const T *at, const mpnum_quantize_job_ &job, size_t row,
                      size_t column, bool is_whole) {
  typedef mpnum_lanes<T, N> lanes;
  if (is_whole) return *reinterpret_cast<const lanes *>(at);
  if (row >= job.height || column >= job.width) return lanes();
  lanes values = mpnum_load<N>(at, job.width - column);
#if MPNUM_ON_DEVICE_
  if (sizeof(T) == 2) { /* one register for two of them, not one for each */
    mpnum_vector_ words = mpnum::copied_<mpnum_vector_>(values);
    asm("" : "+r"(words.at[0]), "+r"(words.at[1]), "+r"(words.at[2]), "+r"(words.at[3]));
    values = mpnum::copied_<lanes>(words);
  }
#endif
  return values;
}

/* Scales of `count` blocks by row, of each of which a thread has N neighbours. codes and
 * factors are of the blocks of which it has the scale. Called by all lanes of a warp. */
template <class Blocks, unsigned N, unsigned count> struct mpnum_row_scales_ {
  typedef mpnum_shared_blocks_<Blocks::edge / N, count> shared;
  uint32_t codes[shared::kept], factors[shared::kept];

  template <class T>
  __device__ __forceinline__ void find(const mpnum_block_rule_ &rule,
                                       const mpnum_lanes<T, N> (&in)[count]) {
    uint32_t amax[count];
    MPNUM_UNROLL_
    for (unsigned v = 0; v < count; ++v)
      amax[v] = mpnum_folded_magnitude_of_(in[v]);
    shared::largest(amax);
    MPNUM_UNROLL_
    for (unsigned i = 0; i < shared::kept; ++i) {
      const mpnum_block_scale_scalar_ scale = mpnum::block_scale_<Blocks>(
          rule, mpnum_quantize_amax_<Blocks>(rule, mpnum::magnitudes_<T>::bits(amax[i])));
      codes[i] = scale.code;
      factors[i] = mpnum_bits_of_scalar_(scale.factor);
    }
  }
  /* Of block v, by which its elements are multiplied or divided. */
  __device__ __forceinline__ float factor(unsigned v) const {
    return mpnum_f32_of_scalar_(shared::from_holder(factors, v));
  }
};

/* --- Tiles --- */

/* Neighbours that a thread has at a time: 16 bytes of them, or of what a source computes
 * them of. */
template <class T, class Source> struct mpnum_neighbours_ {
  static constexpr unsigned count = 16 / sizeof(T);
};
/* A tile: `lanes` threads across, each with N neighbours of four rows of every part. */
template <class T, unsigned edge, class Source = const T *> struct mpnum_geometry_ {
  static constexpr unsigned n = mpnum_neighbours_<T, Source>::count;
  static constexpr unsigned lanes = edge > 64 ? edge / n : 16;
  static constexpr unsigned columns = lanes * n;
  static constexpr unsigned part = 4 * (MPNUM_LAUNCH_THREADS_ / lanes); /* rows */
  static constexpr unsigned rows = edge > 64 ? edge : part;
};

/* Turned codes of a tile in shared memory: columns of them as rows of `pitch` bytes. */
template <unsigned bits, unsigned rows> struct mpnum_turned_ {
  static constexpr unsigned bytes = rows * bits / 8;
  static constexpr unsigned pitch = bytes + 4; /* other banks for other rows */
};
/* The codes of four rows, from row on, of a column. */
template <unsigned bits, unsigned rows>
static __device__ __forceinline__ void mpnum_put_turned_(uint8_t *turned, unsigned column,
                                                         unsigned row, uint32_t word) {
  mpnum::put_four_<bits>(
      turned + column * mpnum_turned_<bits, rows>::pitch + row * bits / 8, word);
}
/* Stores the codes of `columns` columns: row `column` on of dst, element `row` on. left
 * and high: columns and rows of the matrix that are still to come. */
template <unsigned bits, unsigned rows>
static __device__ __forceinline__ void
mpnum_store_turned_(uint8_t *dst, size_t pitch, const uint8_t *turned, unsigned columns,
                    size_t left, size_t high) {
  typedef mpnum_turned_<bits, rows> layout;
  const unsigned vectors = layout::bytes / 16;
  const size_t bytes = mpnum::dense_bytes_(bits, high);
  const bool is_whole = columns <= left && layout::bytes <= bytes &&
                        (reinterpret_cast<size_t>(dst) | pitch) % 16 == 0;
  for (unsigned i = mpnum_thread_index_(); i < columns * vectors;
       i += mpnum_block_threads_()) {
    const unsigned column = i / vectors, at = i % vectors * 16;
    mpnum_vector_ out;
    if (!is_whole && (column >= left || at >= bytes)) continue;
    MPNUM_UNROLL_
    for (unsigned k = 0; k < 4; ++k)
      out.at[k] =
          reinterpret_cast<const uint32_t *>(turned + column * layout::pitch + at)[k];
    if (is_whole) {
      *reinterpret_cast<mpnum_vector_ *>(dst + column * pitch + at) = out;
    } else {
      mpnum_store(dst + column * pitch + at,
                  mpnum::copied_<mpnum_lanes<uint8_t, 16>>(out), bytes - at);
    }
  }
}

#if !MPNUM_HAS_NVRTC_

/* Tiles side by side, in rows one below the other. */
static inline dim3 mpnum_tile_grid_(size_t across, size_t down) {
  const size_t z = (down - 1) / 65535 + 1, y = (down - 1) / z + 1;
  return dim3(static_cast<unsigned>(across), static_cast<unsigned>(y),
              static_cast<unsigned>(z));
}
/* Whether elements may be moved by vectors of so many bytes. */
static inline int mpnum_launch_aligned_(const void *x, size_t pitch, size_t bytes) {
  return (reinterpret_cast<size_t>(x) | pitch) % bytes == 0;
}

#endif

MPNUM_C_END_
#endif
