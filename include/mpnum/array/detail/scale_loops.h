/* SPDX-License-Identifier: MIT */
/* What scale.h and blockscale.h are made of: runs of floats that are multiplied or
 * divided by factors and become codes, and back. */
#ifndef MPNUM_ARRAY_DETAIL_SCALE_LOOPS_H
#define MPNUM_ARRAY_DETAIL_SCALE_LOOPS_H

#include "blockscale_rule.h"
#include "reduce_loops.h"
#include "../losses.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Elements that the loops come in, and that a run has at most. */
# define MPNUM_SCALED_ 64
# define MPNUM_RUN_    2048

/* Factors of elements: factor[i >> shift] for element i, or factor[i] where shift is
 * negative. */
typedef struct mpnum_factors_ {
  const float *factor;
  int shift;
} mpnum_factors_;
/* Tables of bytes that the runs of a call share, where the ISA looks bytes up: the run
 * that fills up as many elements as are worth them makes them. */
typedef struct mpnum_kept_tables_ {
  MPNUM_ALIGNED_ uint8_t bytes[6 * 64];
  size_t elements; /* so far, until there are tables */
  int has_tables;
} mpnum_kept_tables_;
struct mpnum_scaling_;
/* Codes of n floats times factors; index: of the first one's random word. */
typedef void mpnum_quantize_any_run_(const struct mpnum_scaling_ *scaling, uint8_t *dst,
                                     const float *src, mpnum_factors_ factors, size_t n,
                                     uint64_t index);
/* Elements, and what becomes of them, as numbers. */
typedef struct mpnum_scaling_ {
  mpnum_format element;
  int is_int8, element_bits;
  int divides;     /* elements are divided by factors */
  int has_divisor; /* and then, or after a multiplication, by this one */
  float divisor;
  mpnum_encoding_ encoding;
  mpnum_decoding_ decoding;
  int has_encoding, has_decoding; /* there are loops for the format */
  mpnum_kept_tables_ *kept;       /* NULL where each run is alone */
  mpnum_quantize_any_run_ *any;   /* where there are none; NULL where that cannot be */
  mpnum_rounding rounding;
  uint64_t seed;
  uint32_t least;              /* magnitude that has a code but 0 */
  uint32_t int_max, int_magic; /* of int8: the largest; 1.5 * 2^23 units */
  uint32_t last_kept;          /* magnitude that is not past the largest */
} mpnum_scaling_;

/* Makes the runs of a call share tables. */
MPNUM_HOST_INLINE_ void mpnum_keep_tables_(mpnum_scaling_ *scaling,
                                           mpnum_kept_tables_ *kept) {
  kept->elements = 0;
  kept->has_tables = 0;
  scaling->kept = kept;
}
MPNUM_HOST_INLINE_ mpnum_factors_ mpnum_factors_of_(const float *factor, int shift) {
  mpnum_factors_ factors;
  factors.factor = factor;
  factors.shift = shift;
  return factors;
}
/* Those from element i on, which begins a factor or is in the first one's. */
MPNUM_HOST_INLINE_ mpnum_factors_ mpnum_factors_from_(mpnum_factors_ factors, size_t i) {
  factors.factor += factors.shift < 0 ? i : i >> factors.shift;
  return factors;
}
/* The scales of some blocks: largest magnitudes, codes of 8 bits, or bits of floats where
 * elements are divided, and what elements are multiplied or divided by. */
typedef struct mpnum_band_scales_ {
  MPNUM_ALIGNED_ uint32_t amax[MPNUM_RUN_];
  MPNUM_ALIGNED_ uint32_t floats[MPNUM_RUN_];
  MPNUM_ALIGNED_ float factors[MPNUM_RUN_];
  MPNUM_ALIGNED_ uint8_t bytes[MPNUM_RUN_];
  uint32_t low;  /* where amaxes begin whose blocks may have elements that are subnormal
                    and count, or whose scale may be subnormal */
  int has_zeros; /* an amax of 0, or a scale of 0 */
  int has_low;   /* one below low but 0, or a factor that is subnormal */
  /* Where losses are counted: the largest magnitudes, before and after factors. */
  uint32_t largest, largest_scaled;
} mpnum_band_scales_;

/* The bits of a code but that of its sign; of int8 all. */
MPNUM_HOST uint32_t mpnum_magnitude_ones_(const mpnum_scaling_ *scaling) {
  const int bits = scaling->element.exponent_bits + scaling->element.mantissa_bits;
  return scaling->is_int8 ? 0xff : ((uint32_t)1 << bits) - 1;
}
/* Dense codes of a run, a byte each. */
MPNUM_HOST_COLD_ void mpnum_bytes_of_codes_(int bits, uint8_t *dst, const uint8_t *src,
                                            size_t n) {
  const size_t whole = n / 8 * 8; /* eight fill whole bytes */
  uint8_t last[8] = {0};
  if (bits == 8) {
    MPNUM_MEMCPY_(dst, src, n);
    return;
  }
  MPNUM_MEMCPY_(last, src + mpnum_bytes_(bits, whole), mpnum_bytes_(bits, n - whole));
  mpnum_unpack_(bits, dst, src, whole);
  mpnum_unpack_(bits, dst + whole, last, 8);
}
/* Of floats, the same times factors, and their codes: what of them is past the largest
 * value, has become 0, is not finite, and the largest finite magnitude. A finite element
 * of a block with a NaN is none of these. */
MPNUM_HOST_COLD_ void mpnum_count_each_(const mpnum_scaling_ *scaling, uint32_t counts[4],
                                        const uint8_t *codes, const float *scaled,
                                        const float *src, size_t n) {
  const uint32_t ones = mpnum_magnitude_ones_(scaling);
  uint8_t code[MPNUM_RUN_ + 8];
  size_t i = 0;
  mpnum_bytes_of_codes_(scaling->element_bits, code, codes, n);
  counts[0] = counts[1] = counts[2] = counts[3] = 0;
  for (; i < n; ++i) {
    const uint32_t x = mpnum_bits_f32(mpnum_float_at_(src, i)) & 0x7fffffffu;
    const uint32_t y = mpnum_bits_f32(mpnum_float_at_(scaled, i)) & 0x7fffffffu;
    const int is_number = x < 0x7f800000u && y <= 0x7f800000u;
    counts[0] += is_number && y > scaling->last_kept;
    counts[1] += is_number && x != 0 && (code[i] & ones) == 0;
    counts[2] += x >= 0x7f800000u;
    if (x < 0x7f800000u && x > counts[3]) counts[3] = x;
  }
}
/* Each loop takes n elements, a multiple of 64.
 * block_amax: the largest magnitudes of blocks, as integers; of these and those before,
 * unless is_first. finite_amax: the largest finite one of all.
 * block_scales: what else there is of n scales.
 * quantize_run, dequantize_run: floats to codes to nearest even, and back.
 * scale_run: floats times factors; largest_scaled: of amaxes, for losses.
 * count_run: of floats, or bf16, and their codes, finite all: counts[0] that are past the
 * largest value, if some are; counts[1] that have become 0. count_any_run: of any, as
 * above. */
# define MPNUM_EACH_ISA_ "../../array/detail/scale.inc"
# include "../../simd/detail/each_isa.inc"
# if MPNUM_LOOPS_VBMI_
#  include "../../simd/detail/operations.inc"
#  define MPNUM_ISA_HERE_ 3
#  include "../../simd/detail/isa_begin.inc"
#  include "scale_vbmi.inc"
# endif

/* Where subnormals are flushed, and loops thus take no longer for them, factors may be
 * too large or too small for scale_run and the loops of codes. has_low says whether some
 * are below a bound, scale_kept_run has the products and quotients nevertheless. */
typedef int mpnum_has_low_(const uint32_t *bits, uint32_t below, size_t n);
typedef void mpnum_scale_run_(const mpnum_scaling_ *scaling, float *dst, const float *src,
                              mpnum_factors_ factors, size_t n);

MPNUM_HOST_ONCE_ void mpnum_block_amax_(int is_first, uint32_t *amax, const float *src,
                                        int shift, size_t n) {
  MPNUM_CALL_(block_amax, (is_first, amax, src, shift, n));
}
MPNUM_HOST_ONCE_ void mpnum_block_scales_(const mpnum_block_rule_ *rule,
                                          mpnum_band_scales_ *scales, size_t n) {
  MPNUM_CALL_(block_scales, (rule, scales, n));
}

/* Elements of a format, or int8 of a unit, in so many bits, multiplied by factors. */
MPNUM_HOST_ONCE_ void mpnum_find_scaling_(mpnum_scaling_ *scaling,
                                          const mpnum_format *element, int element_bits,
                                          mpnum_rounding rounding) {
  const mpnum_format usual = mpnum_format_of(MPNUM_TYPE_E4M3);
  const uint32_t next = mpnum_decode_finite_(*element, element->max_code + 1);
  const uint32_t tie = next - ((uint32_t)1 << (22 - element->mantissa_bits));
  scaling->element = *element;
  scaling->is_int8 = 0;
  scaling->element_bits = element_bits;
  scaling->divides = scaling->has_divisor = 0;
  scaling->divisor = 1;
  scaling->rounding = rounding;
  scaling->seed = 0;
  scaling->kept = 0;
  scaling->any = 0;
  scaling->has_encoding =
      mpnum_has_byte_blocks_(*element, rounding, MPNUM_OVERFLOW_SATURATE);
  scaling->has_decoding = mpnum_has_byte_decoding_(*element);
  mpnum_find_encoding_(&scaling->encoding, scaling->has_encoding ? element : &usual,
                       element_bits, MPNUM_OVERFLOW_SATURATE);
  mpnum_find_decoding_(&scaling->decoding, scaling->has_decoding ? element : &usual,
                       element_bits);
  scaling->int_max = scaling->int_magic = 0;
  scaling->least = mpnum_decode_finite_(*element, 1);
  scaling->last_kept = element->max_code & 1 ? tie - 1 : tie;
  if (mpnum_is_stochastic_(rounding))
    scaling->last_kept = mpnum_decode_finite_(*element, element->max_code);
}
MPNUM_HOST_ONCE_ void mpnum_find_int8_scaling_(mpnum_scaling_ *scaling,
                                               int is_sixty_fourth) {
  const mpnum_format usual = mpnum_format_of(MPNUM_TYPE_E4M3);
  const uint32_t down = is_sixty_fourth ? 6u << 23 : 0;
  mpnum_find_scaling_(scaling, &usual, 8, MPNUM_ROUND_NEAREST_EVEN);
  scaling->is_int8 = 1;
  scaling->int_max = 0x42fe0000u - down;       /* 127 */
  scaling->int_magic = 0x4b400000u - down;     /* 1.5 * 2^23 */
  scaling->last_kept = 0x42ff0000u - 1 - down; /* 127.5 goes to 128 */
  scaling->least = 0x3f800000u - down;
}

/* Sources are f32, f16 and bf16; the last two as floats, and floats as them. */
MPNUM_HOST void mpnum_source_floats_(mpnum_type type, float *dst, const void *src,
                                     size_t n) {
  if (type == MPNUM_TYPE_F16) {
    mpnum_f16_floats_(dst, src, n);
  } else {
    mpnum_bf16_floats_(dst, src, n);
  }
}
MPNUM_HOST void mpnum_source_codes_(mpnum_type type, void *dst, const float *src,
                                    size_t n) {
  if (type == MPNUM_TYPE_F16) {
    mpnum_f16_codes_(dst, src, n);
  } else {
    mpnum_bf16_codes_(dst, src, n);
  }
}

/* n elements, at most MPNUM_RUN_; what does not fill a vector is copied to where it does.
 * index: of the first one's random word. */
MPNUM_HOST void mpnum_scale_floats_by_(mpnum_scale_run_ *run,
                                       const mpnum_scaling_ *scaling, float *dst,
                                       const float *src, mpnum_factors_ factors,
                                       size_t n) {
  const size_t whole = n - n % MPNUM_SCALED_, rest = n - whole;
  if (whole) (*run)(scaling, dst, src, factors, whole);
  if (rest) {
    MPNUM_ALIGNED_ float x[MPNUM_SCALED_] = {0};
    MPNUM_MEMCPY_(x, src + whole, rest * sizeof *x);
    (*run)(scaling, x, x, mpnum_factors_from_(factors, whole), MPNUM_SCALED_);
    MPNUM_MEMCPY_(dst + whole, x, rest * sizeof *x);
  }
}
MPNUM_HOST void mpnum_scale_floats_(const mpnum_scaling_ *scaling, float *dst,
                                    const float *src, mpnum_factors_ factors, size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  mpnum_scale_floats_by_(MPNUM_PICK_(isa, scale_run, SSE2, mpnum_scale_run_scalar_),
                         scaling, dst, src, factors, n);
}
MPNUM_HOST void mpnum_scale_kept_floats_(const mpnum_scaling_ *scaling, float *dst,
                                         const float *src, mpnum_factors_ factors,
                                         size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  mpnum_scale_floats_by_(MPNUM_PICK_(isa, scale_kept_run, SSE2, mpnum_scale_run_scalar_),
                         scaling, dst, src, factors, n);
}
/* The bytes of some codes of 64, dense from the lowest bit on, with zeros behind them. */
MPNUM_HOST void mpnum_end_codes_(uint8_t *dst, uint8_t *codes, int bits, size_t n) {
  const size_t bytes = mpnum_bytes_(bits, n);
  size_t i = n * (size_t)bits / 8;
  if (i < bytes) codes[i] &= (uint8_t)((1u << n * (size_t)bits % 8) - 1);
  for (++i; i < bytes; ++i)
    codes[i] = 0;
  MPNUM_MEMCPY_(dst, codes, bytes);
}
/* Stochastically, where there are loops for it: 0 where there are none. */
typedef void mpnum_quantize_random_(const mpnum_scaling_ *scaling,
                                    const mpnum_rounder_ *rounder, uint8_t *dst,
                                    const float *src, mpnum_factors_ factors,
                                    const uint8_t *random, size_t n);
MPNUM_HOST_ONCE_ int mpnum_quantize_stochastic_(const mpnum_scaling_ *scaling,
                                                uint8_t *dst, const float *src,
                                                mpnum_factors_ factors, size_t n,
                                                uint64_t index,
                                                const mpnum_rounder_ *rounder) {
  const size_t whole = n - n % MPNUM_SCALED_, rest = n - whole;
  MPNUM_ALIGNED_ uint8_t buffer[4 * (MPNUM_RUN_ + 132)];
  const mpnum_isa isa = mpnum_isa_in_use();
  mpnum_quantize_random_ *const run =
      MPNUM_PICK_(isa, quantize_random, WIDE, (mpnum_quantize_random_ *)0);
  const uint8_t *random = 0;
  if (!run || !rounder->any.has_cut) return 0;
  random = mpnum_random_words_(scaling->seed, index, buffer, n);
  if (scaling->rounding != MPNUM_ROUND_STOCHASTIC)
    mpnum_random_by_rounding_(scaling->rounding, buffer, n + ((size_t)index & 3));
  if (whole) (*run)(scaling, rounder, dst, src, factors, random, whole);
  if (rest) {
    MPNUM_ALIGNED_ float x[MPNUM_SCALED_] = {0};
    uint8_t codes[MPNUM_SCALED_] = {0};
    MPNUM_MEMCPY_(x, src + whole, rest * sizeof *x);
    (*run)(scaling, rounder, codes, x, mpnum_factors_from_(factors, whole),
           random + 4 * whole, MPNUM_SCALED_);
    mpnum_end_codes_(dst + mpnum_bytes_(scaling->element_bits, whole), codes,
                     scaling->element_bits, rest);
  }
  return 1;
}
/* By way of conversions of any format and rounding. */
MPNUM_HOST_ONCE_ void mpnum_quantize_any_(const mpnum_scaling_ *scaling, uint8_t *dst,
                                          const float *src, mpnum_factors_ factors,
                                          size_t n, uint64_t index) {
  mpnum_conversion_ conversion = mpnum_conversion_of_(
      mpnum_format_of(MPNUM_TYPE_F32), 32, scaling->element, 8, MPNUM_OVERFLOW_SATURATE);
  MPNUM_ALIGNED_ float x[MPNUM_RUN_];
  uint8_t codes[MPNUM_RUN_ + 8];
  mpnum_rounder_ rounder;
  conversion.rounding = scaling->rounding;
  conversion.seed = scaling->seed;
  conversion.offset = index;
  if (mpnum_is_stochastic_(scaling->rounding)) {
    mpnum_rounder_of_(&rounder, &conversion);
    if (mpnum_quantize_stochastic_(scaling, dst, src, factors, n, index, &rounder))
      return;
  }
  mpnum_scale_floats_(scaling, x, src, factors, n);
  mpnum_convert_floats_(&conversion, 0, codes, x, n);
  if (scaling->element_bits < 8) {
    size_t i = n;
    for (; i % 8 != 0; ++i)
      codes[i] = 0;
    mpnum_pack_(scaling->element_bits, codes, codes, i);
  }
  MPNUM_MEMCPY_(dst, codes, mpnum_bytes_(scaling->element_bits, n));
}
MPNUM_HOST void mpnum_quantize_floats_(const mpnum_scaling_ *scaling, uint8_t *dst,
                                       const float *src, mpnum_factors_ factors, size_t n,
                                       uint64_t index) {
  const size_t whole = n - n % MPNUM_SCALED_, rest = n - whole;
  if (!scaling->has_encoding && scaling->any) {
    (*scaling->any)(scaling, dst, src, factors, n, index);
    return;
  }
  if (whole) MPNUM_CALL_VBMI_(quantize_run, (scaling, dst, src, factors, whole));
  if (rest) {
    MPNUM_ALIGNED_ float x[MPNUM_SCALED_] = {0};
    uint8_t codes[MPNUM_SCALED_] = {0};
    MPNUM_MEMCPY_(x, src + whole, rest * sizeof *x);
    MPNUM_CALL_VBMI_(quantize_run, (scaling, codes, x,
                                    mpnum_factors_from_(factors, whole), MPNUM_SCALED_));
    MPNUM_MEMCPY_(dst + mpnum_bytes_(scaling->element_bits, whole), codes,
                  mpnum_bytes_(scaling->element_bits, rest));
  }
}
/* A float of these bits times 2^exponent, bounded by those of 2^-126 and 2^127. */
MPNUM_HOST uint32_t mpnum_bits_times_power_(uint32_t bits, int exponent) {
  const int field = (int)(bits >> 23) + exponent;
  if (field < 1) return 0x00800000u;
  return field > 254 ? 0x7f000000u : ((uint32_t)field << 23) | (bits & 0x007fffffu);
}
/* By factors up to this one elements that are subnormal become 0, which may be flushed;
 * stochastic rounding has numbers of 32 bits. Below mpnum_least_kept_ that might be so of
 * values of codes. */
MPNUM_HOST uint32_t mpnum_most_flushed_(const mpnum_scaling_ *scaling) {
  const int is_stochastic = mpnum_is_stochastic_(scaling->rounding);
  return mpnum_bits_times_power_(scaling->least & 0x7f800000u,
                                 is_stochastic ? 126 - 33 : 126 - 1);
}
MPNUM_HOST uint32_t mpnum_least_kept_(const mpnum_scaling_ *scaling) {
  const uint32_t least = scaling->least;
  return mpnum_bits_times_power_(0x00800000u, 127 - (int)(least >> 23));
}
/* Whether a call over so many elements flushes, if its factors allow it. Of elements that
 * begin below 2^-60 no loop knows how. */
MPNUM_HOST int mpnum_scaling_flushes_(const mpnum_scaling_ *scaling, size_t n) {
  return n >= MPNUM_FLUSHED_ && mpnum_isa_in_use() != MPNUM_ISA_SCALAR &&
         scaling->least >= 0x21800000u;
}
/* Whether one factor allows it. */
MPNUM_HOST uint64_t mpnum_scaling_enter_(const mpnum_scaling_ *scaling, float factor,
                                         int is_back, size_t n) {
  const uint32_t bits = mpnum_bits_f32(factor);
  const uint32_t least = is_back ? mpnum_least_kept_(scaling) : 0x00800000u;
  const uint32_t most = is_back ? 0x7f7fffffu : mpnum_most_flushed_(scaling);
  return bits >= least && bits <= most && mpnum_scaling_flushes_(scaling, n)
             ? mpnum_fenv_flush_()
             : mpnum_fenv_save_();
}
/* The largest magnitude of each block, of n floats. */
MPNUM_HOST void mpnum_amax_floats_(int is_first, uint32_t *amax, const float *src,
                                   int shift, size_t n) {
  const size_t whole = n - n % MPNUM_SCALED_, rest = n - whole;
  if (whole) mpnum_block_amax_(is_first, amax, src, shift, whole);
  if (rest) {
    MPNUM_ALIGNED_ float x[MPNUM_SCALED_] = {0};
    MPNUM_MEMCPY_(x, src + whole, rest * sizeof *x);
    /* what is left may end the last block */
    const int begins = shift < 0 || (whole & (((size_t)1 << shift) - 1)) == 0;
    mpnum_block_amax_(is_first && begins, amax + (shift < 0 ? whole : whole >> shift), x,
                      shift, MPNUM_SCALED_);
  }
}
/* The largest finite magnitude. */
MPNUM_HOST_COLD_ uint32_t mpnum_finite_amax_floats_(const float *src, size_t n) {
  const size_t whole = n - n % MPNUM_SCALED_, rest = n - whole;
  uint32_t amax = 0, last = 0;
  if (whole) MPNUM_CALL_(finite_amax, (&amax, src, whole));
  if (rest) {
    MPNUM_ALIGNED_ float x[MPNUM_SCALED_] = {0};
    MPNUM_MEMCPY_(x, src + whole, rest * sizeof *x);
    MPNUM_CALL_(finite_amax, (&last, x, MPNUM_SCALED_));
  }
  return amax > last ? amax : last;
}
/* By a table of all codes. */
MPNUM_HOST_COLD_ void mpnum_dequantize_any_(const mpnum_scaling_ *scaling, float *dst,
                                            const uint8_t *src, mpnum_factors_ factors,
                                            size_t n) {
  uint8_t codes[MPNUM_RUN_ + 8];
  uint32_t values[256];
  size_t i = 0;
  mpnum_scaling_ back = *scaling;
  back.divides = 0;
  for (; i < 256; ++i)
    values[i] = mpnum_decode_bits_(scaling->element, (uint32_t)i);
  mpnum_bytes_of_codes_(scaling->element_bits, codes, src, n);
  for (i = 0; i < n; ++i)
    mpnum_set_element_(32, (uint8_t *)dst, i, values[codes[i]]);
  mpnum_scale_floats_(&back, dst, dst, factors, n);
}
MPNUM_HOST void mpnum_dequantize_floats_(const mpnum_scaling_ *scaling, float *dst,
                                         const uint8_t *src, mpnum_factors_ factors,
                                         size_t n) {
  const size_t whole = n - n % MPNUM_SCALED_, rest = n - whole;
  if (!scaling->has_decoding && !scaling->is_int8) {
    mpnum_dequantize_any_(scaling, dst, src, factors, n);
    return;
  }
  if (whole) MPNUM_CALL_VBMI_(dequantize_run, (scaling, dst, src, factors, whole));
  if (rest) {
    MPNUM_ALIGNED_ float x[MPNUM_SCALED_] = {0};
    uint8_t codes[MPNUM_SCALED_] = {0};
    MPNUM_MEMCPY_(codes, src + mpnum_bytes_(scaling->element_bits, whole),
                  mpnum_bytes_(scaling->element_bits, rest));
    MPNUM_CALL_VBMI_(
        dequantize_run,
        (scaling, x, codes, mpnum_factors_from_(factors, whole), MPNUM_SCALED_));
    MPNUM_MEMCPY_(dst + whole, x, rest * sizeof *x);
  }
}
/* The same as bf16 of whole vectors, where all are exact: returns how many. */
typedef void mpnum_dequantize_bf16_run_(const mpnum_scaling_ *scaling, uint8_t *dst,
                                        const uint8_t *src, mpnum_factors_ factors,
                                        size_t n);
MPNUM_HOST size_t mpnum_dequantize_bf16_(const mpnum_scaling_ *scaling, uint8_t *dst,
                                         const uint8_t *src, mpnum_factors_ factors,
                                         size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  mpnum_dequantize_bf16_run_ *const run =
      MPNUM_PICK_(isa, dequantize_bf16_run, WIDE_VBMI, (mpnum_dequantize_bf16_run_ *)0);
  const size_t whole = n - n % MPNUM_SCALED_;
  if (!run || !whole || (!scaling->has_decoding && !scaling->is_int8)) return 0;
  (*run)(scaling, dst, src, factors, whole);
  return whole;
}

/* The largest magnitudes of count blocks, before and after their factors, of room for
 * more. */
MPNUM_HOST_ONCE_ void mpnum_find_largest_(const mpnum_scaling_ *scaling,
                                          mpnum_band_scales_ *scales, size_t count) {
  const size_t padded = (count + 15) / 16 * 16;
  size_t k = count;
  for (; k < padded; ++k)
    scales->amax[k] = 0;
  MPNUM_CALL_(largest_scaled, (scaling, scales, padded));
}
/* Adds what quantising n elements of a run has lost. */
MPNUM_HOST void mpnum_add_counts_(mpnum_quantize_losses *losses,
                                  const uint32_t counts[4]) {
  losses->saturated += counts[0];
  losses->underflowed += counts[1];
  losses->nonfinite += counts[2];
  if (counts[3] > mpnum_bits_f32(losses->amax))
    losses->amax = mpnum_from_bits_f32(counts[3]);
}
/* What n elements of a run have lost that need not be finite. */
typedef void mpnum_count_any_run_(const mpnum_scaling_ *scaling, uint32_t counts[4],
                                  const uint8_t *codes, const float *scaled,
                                  const float *src, size_t n);
MPNUM_HOST_COLD_ void mpnum_count_scaled_(const mpnum_scaling_ *scaling,
                                          mpnum_quantize_losses *losses,
                                          const uint8_t *codes, const float *scaled,
                                          const float *src, size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  mpnum_count_any_run_ *const run =
      MPNUM_PICK_(isa, count_any_run, SSE2, (mpnum_count_any_run_ *)0);
  const size_t whole = run ? n - n % MPNUM_SCALED_ : 0;
  uint32_t counts[4];
  if (whole) {
    (*run)(scaling, counts, codes, scaled, src, whole);
    mpnum_add_counts_(losses, counts);
  }
  mpnum_count_each_(scaling, counts, codes + mpnum_bytes_(scaling->element_bits, whole),
                    scaled + whole, src + whole, n - whole);
  mpnum_add_counts_(losses, counts);
}
/* Where there are no loops, or some elements are not finite. */
MPNUM_HOST_COLD_ void mpnum_count_any_(const mpnum_scaling_ *scaling,
                                       mpnum_quantize_losses *losses,
                                       const uint8_t *codes, const float *src,
                                       mpnum_factors_ factors, size_t n) {
  MPNUM_ALIGNED_ float scaled[MPNUM_RUN_];
  mpnum_scale_floats_(scaling, scaled, src, factors, n);
  mpnum_count_scaled_(scaling, losses, codes, scaled, src, n);
}
/* Of floats, or of bf16 in whole vectors. */
typedef void mpnum_count_run_(const mpnum_scaling_ *scaling, uint32_t counts[4],
                              const uint8_t *codes, mpnum_type type, const uint8_t *src,
                              mpnum_factors_ factors, int has_past, size_t n);
MPNUM_HOST_ONCE_ void mpnum_count_losses_(const mpnum_scaling_ *scaling,
                                          mpnum_quantize_losses *losses,
                                          const uint8_t *codes, mpnum_type type,
                                          const void *src, mpnum_factors_ factors,
                                          size_t n, uint32_t largest,
                                          uint32_t largest_scaled) {
  const size_t whole = n - n % MPNUM_SCALED_, rest = n - whole;
  const mpnum_isa isa = mpnum_isa_in_use();
  mpnum_count_run_ *const run = MPNUM_PICK_(isa, count_run, SSE2, (mpnum_count_run_ *)0);
  const int has_past = largest_scaled > scaling->last_kept;
  uint32_t counts[4] = {0, 0, 0, 0};
  if (!run || largest >= 0x7f800000u) {
    mpnum_count_any_(scaling, losses, codes, (const float *)src, factors, n);
    return;
  }
  counts[3] = largest;
  if (whole)
    (*run)(scaling, counts, codes, type, (const uint8_t *)src, factors, has_past, whole);
  if (rest) {
    MPNUM_ALIGNED_ float x[MPNUM_SCALED_] = {0};
    uint8_t last[MPNUM_SCALED_] = {0};
    MPNUM_MEMCPY_(x, (const float *)src + whole, rest * sizeof *x);
    MPNUM_MEMCPY_(last, codes + mpnum_bytes_(scaling->element_bits, whole),
                  mpnum_bytes_(scaling->element_bits, rest));
    (*run)(scaling, counts, last, type, (const uint8_t *)x,
           mpnum_factors_from_(factors, whole), has_past, MPNUM_SCALED_);
  }
  mpnum_add_counts_(losses, counts);
}
/* Of floats with one factor. */
MPNUM_HOST void mpnum_count_losses_by_(const mpnum_scaling_ *scaling,
                                       mpnum_quantize_losses *losses,
                                       const uint8_t *codes, const float *src,
                                       float factor, size_t n) {
  uint32_t largest = 0;
  mpnum_amax_floats_(1, &largest, src, 31, n);
  mpnum_count_losses_(
      scaling, losses, codes, MPNUM_TYPE_F32, src, mpnum_factors_of_(&factor, 31), n,
      largest, mpnum_bits_f32(mpnum_mul_scalar_(mpnum_from_bits_f32(largest), factor)));
}

/* --- A scale for all elements --- */

MPNUM_HOST int mpnum_is_scaled_type_(mpnum_type type) {
  const mpnum_format format = mpnum_format_of(type);
  return mpnum_type_bits_(type) == 8 && format.sign_bits;
}
MPNUM_HOST_ONCE_ void mpnum_quantize_by_(mpnum_type dst_type, void *dst,
                                         mpnum_type src_type, const void *src, size_t n,
                                         float scale, mpnum_quantize_losses *losses) {
  const mpnum_format element = mpnum_format_of(dst_type);
  mpnum_scaling_ scaling;
  uint64_t saved = 0;
  size_t i = 0;
  mpnum_find_scaling_(&scaling, &element, 8, MPNUM_ROUND_NEAREST_EVEN);
  saved = mpnum_scaling_enter_(&scaling, scale, 0, n);
  for (; i < n; i += MPNUM_RUN_) {
    MPNUM_ALIGNED_ float buffer[MPNUM_RUN_];
    const size_t count = n - i < MPNUM_RUN_ ? n - i : MPNUM_RUN_;
    const uint8_t *const at = mpnum_row_at_(src_type, src, i);
    const float *x = (const float *)(const void *)at;
    if (src_type != MPNUM_TYPE_F32) {
      mpnum_source_floats_(src_type, buffer, at, count);
      x = buffer;
    }
    mpnum_quantize_floats_(&scaling, (uint8_t *)dst + i, x, mpnum_factors_of_(&scale, 31),
                           count, 0);
    if (losses)
      mpnum_count_losses_by_(&scaling, losses, (uint8_t *)dst + i, x, scale, count);
  }
  mpnum_fenv_restore_(saved);
}
MPNUM_HOST_ONCE_ void mpnum_dequantize_by_(mpnum_type dst_type, void *dst,
                                           mpnum_type src_type, const void *src, size_t n,
                                           float scale_inv) {
  const mpnum_format element = mpnum_format_of(src_type);
  mpnum_scaling_ scaling;
  mpnum_kept_tables_ kept;
  uint64_t saved = 0;
  size_t i = 0;
  mpnum_find_scaling_(&scaling, &element, 8, MPNUM_ROUND_NEAREST_EVEN);
  saved = mpnum_scaling_enter_(&scaling, scale_inv, 1, n);
  mpnum_keep_tables_(&scaling, &kept);
  for (; i < n; i += MPNUM_RUN_) {
    MPNUM_ALIGNED_ float buffer[MPNUM_RUN_];
    const size_t count = n - i < MPNUM_RUN_ ? n - i : MPNUM_RUN_;
    uint8_t *const to = mpnum_row_to_(dst_type, dst, i);
    float *const x = dst_type == MPNUM_TYPE_F32 ? (float *)(void *)to : buffer;
    mpnum_dequantize_floats_(&scaling, x, (const uint8_t *)src + i,
                             mpnum_factors_of_(&scale_inv, 31), count);
    if (dst_type != MPNUM_TYPE_F32) mpnum_source_codes_(dst_type, to, x, count);
  }
  mpnum_fenv_restore_(saved);
}

#endif
MPNUM_C_END_
#endif
