/* SPDX-License-Identifier: MIT */
/* Conversions of arrays at the speed of memory under plain -O2. The best vector
 * instructions of the CPU are chosen at run time (isa.h); all give the same bits.
 *
 *     mpnum_f32_to_e4m3_sat_array(codes, values, n);
 *
 * Each element is the scalar conversion of the same name without _array, bit for bit,
 * whatever the compiler's flags and the floating-point environment.
 * Domain: n elements, n may be 0; any alignment. In place: dst and src may begin at the
 *   same address, whichever elements are wider; otherwise arrays must not overlap.
 * Host only. In CUDA sources scalar loops run, unless MPNUM_CUDA_HOST_SIMD is 1. */
#ifndef MPNUM_ARRAY_ARRAY_H
#define MPNUM_ARRAY_ARRAY_H

#include "detail/convert_loops.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Written by tools/wrappers (conversions of arrays): do not edit. */
/* f32 to a small type, nearest even; overflow as in IEEE 754, or saturating (_sat).
 * To e3m2, e2m3 and e2m1 of a byte each, and back, mpnum_convert_array. */
MPNUM_HOST void mpnum_f32_to_tf32_array(mpnum_tf32 *dst, const float *src, size_t n) {
  mpnum_encode_tf32_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_f32_to_tf32_sat_array(mpnum_tf32 *dst, const float *src, size_t n) {
  mpnum_encode_tf32_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_f32_to_bf16_array(mpnum_bf16 *dst, const float *src, size_t n) {
  mpnum_encode_bf16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_f32_to_bf16_sat_array(mpnum_bf16 *dst, const float *src, size_t n) {
  mpnum_encode_bf16_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_f32_to_f16_array(mpnum_f16 *dst, const float *src, size_t n) {
  mpnum_encode_f16_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_f32_to_f16_sat_array(mpnum_f16 *dst, const float *src, size_t n) {
  mpnum_encode_f16_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_f32_to_e5m2_array(mpnum_e5m2 *dst, const float *src, size_t n) {
  mpnum_encode_bytes_(MPNUM_TYPE_E5M2, 8, MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_f32_to_e5m2_sat_array(mpnum_e5m2 *dst, const float *src, size_t n) {
  mpnum_encode_bytes_(MPNUM_TYPE_E5M2, 8, MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_f32_to_e4m3_array(mpnum_e4m3 *dst, const float *src, size_t n) {
  mpnum_encode_bytes_(MPNUM_TYPE_E4M3, 8, MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_f32_to_e4m3_sat_array(mpnum_e4m3 *dst, const float *src, size_t n) {
  mpnum_encode_bytes_(MPNUM_TYPE_E4M3, 8, MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_f32_to_e5m2fnuz_array(mpnum_e5m2fnuz *dst, const float *src,
                                            size_t n) {
  mpnum_encode_bytes_(MPNUM_TYPE_E5M2FNUZ, 8, MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_f32_to_e5m2fnuz_sat_array(mpnum_e5m2fnuz *dst, const float *src,
                                                size_t n) {
  mpnum_encode_bytes_(MPNUM_TYPE_E5M2FNUZ, 8, MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_f32_to_e4m3fnuz_array(mpnum_e4m3fnuz *dst, const float *src,
                                            size_t n) {
  mpnum_encode_bytes_(MPNUM_TYPE_E4M3FNUZ, 8, MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_f32_to_e4m3fnuz_sat_array(mpnum_e4m3fnuz *dst, const float *src,
                                                size_t n) {
  mpnum_encode_bytes_(MPNUM_TYPE_E4M3FNUZ, 8, MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_f32_to_e3m4_array(mpnum_e3m4 *dst, const float *src, size_t n) {
  mpnum_encode_bytes_(MPNUM_TYPE_E3M4, 8, MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_f32_to_e3m4_sat_array(mpnum_e3m4 *dst, const float *src, size_t n) {
  mpnum_encode_bytes_(MPNUM_TYPE_E3M4, 8, MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_f32_to_e8m0_array(mpnum_e8m0 *dst, const float *src, size_t n) {
  mpnum_encode_e8m0_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_f32_to_e8m0_sat_array(mpnum_e8m0 *dst, const float *src, size_t n) {
  mpnum_encode_e8m0_(MPNUM_OVERFLOW_SATURATE, dst, src, n);
}

/* A small type to f32, exact. */
MPNUM_HOST void mpnum_tf32_to_f32_array(float *dst, const mpnum_tf32 *src, size_t n) {
  mpnum_decode_tf32_(dst, src, n);
}
MPNUM_HOST void mpnum_bf16_to_f32_array(float *dst, const mpnum_bf16 *src, size_t n) {
  mpnum_decode_bf16_(dst, src, n);
}
MPNUM_HOST void mpnum_f16_to_f32_array(float *dst, const mpnum_f16 *src, size_t n) {
  mpnum_decode_f16_(dst, src, n);
}
MPNUM_HOST void mpnum_e5m2_to_f32_array(float *dst, const mpnum_e5m2 *src, size_t n) {
  mpnum_decode_bytes_(MPNUM_TYPE_E5M2, 8, dst, src, n);
}
MPNUM_HOST void mpnum_e4m3_to_f32_array(float *dst, const mpnum_e4m3 *src, size_t n) {
  mpnum_decode_bytes_(MPNUM_TYPE_E4M3, 8, dst, src, n);
}
MPNUM_HOST void mpnum_e5m2fnuz_to_f32_array(float *dst, const mpnum_e5m2fnuz *src,
                                            size_t n) {
  mpnum_decode_e5m2fnuz_(dst, src, n);
}
MPNUM_HOST void mpnum_e4m3fnuz_to_f32_array(float *dst, const mpnum_e4m3fnuz *src,
                                            size_t n) {
  mpnum_decode_bytes_(MPNUM_TYPE_E4M3FNUZ, 8, dst, src, n);
}
MPNUM_HOST void mpnum_e3m4_to_f32_array(float *dst, const mpnum_e3m4 *src, size_t n) {
  mpnum_decode_bytes_(MPNUM_TYPE_E3M4, 8, dst, src, n);
}
MPNUM_HOST void mpnum_e8m0_to_f32_array(float *dst, const mpnum_e8m0 *src, size_t n) {
  mpnum_decode_e8m0_(dst, src, n);
}

/* Where several codes are packed, element 0 in the lowest bits: two e2m1 in a
 * byte, four e3m2 or e2m3 in three bytes. n counts elements; codes past the last one are
 * 0 in dst. */
MPNUM_HOST void mpnum_f32_to_e3m2x4_sat_array(mpnum_e3m2x4 *dst, const float *src,
                                              size_t n) {
  mpnum_encode_bytes_(MPNUM_TYPE_E3M2, 6, MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_e3m2x4_to_f32_array(float *dst, const mpnum_e3m2x4 *src, size_t n) {
  mpnum_decode_bytes_(MPNUM_TYPE_E3M2, 6, dst, src, n);
}
MPNUM_HOST void mpnum_f32_to_e2m3x4_sat_array(mpnum_e2m3x4 *dst, const float *src,
                                              size_t n) {
  mpnum_encode_bytes_(MPNUM_TYPE_E2M3, 6, MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_e2m3x4_to_f32_array(float *dst, const mpnum_e2m3x4 *src, size_t n) {
  mpnum_decode_bytes_(MPNUM_TYPE_E2M3, 6, dst, src, n);
}
MPNUM_HOST void mpnum_f32_to_e2m1x2_sat_array(mpnum_e2m1x2 *dst, const float *src,
                                              size_t n) {
  mpnum_encode_bytes_(MPNUM_TYPE_E2M1, 4, MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_e2m1x2_to_f32_array(float *dst, const mpnum_e2m1x2 *src, size_t n) {
  mpnum_decode_bytes_(MPNUM_TYPE_E2M1, 4, dst, src, n);
}

/* f16 and bf16 to types of 8 bits and fewer, rounded once; to others
 * mpnum_convert_array. */
MPNUM_HOST void mpnum_f16_to_e5m2_array(mpnum_e5m2 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_encode_bytes16_(MPNUM_TYPE_F16, MPNUM_TYPE_E5M2, 8, MPNUM_OVERFLOW_IEEE, dst, src,
                        n);
}
MPNUM_HOST void mpnum_f16_to_e5m2_sat_array(mpnum_e5m2 *dst, const mpnum_f16 *src,
                                            size_t n) {
  mpnum_encode_bytes16_(MPNUM_TYPE_F16, MPNUM_TYPE_E5M2, 8, MPNUM_OVERFLOW_SATURATE, dst,
                        src, n);
}
MPNUM_HOST void mpnum_f16_to_e4m3_array(mpnum_e4m3 *dst, const mpnum_f16 *src, size_t n) {
  mpnum_encode_bytes16_(MPNUM_TYPE_F16, MPNUM_TYPE_E4M3, 8, MPNUM_OVERFLOW_IEEE, dst, src,
                        n);
}
MPNUM_HOST void mpnum_f16_to_e4m3_sat_array(mpnum_e4m3 *dst, const mpnum_f16 *src,
                                            size_t n) {
  mpnum_encode_bytes16_(MPNUM_TYPE_F16, MPNUM_TYPE_E4M3, 8, MPNUM_OVERFLOW_SATURATE, dst,
                        src, n);
}
MPNUM_HOST void mpnum_f16_to_e3m2x4_sat_array(mpnum_e3m2x4 *dst, const mpnum_f16 *src,
                                              size_t n) {
  mpnum_encode_bytes16_(MPNUM_TYPE_F16, MPNUM_TYPE_E3M2, 6, MPNUM_OVERFLOW_SATURATE, dst,
                        src, n);
}
MPNUM_HOST void mpnum_f16_to_e2m3x4_sat_array(mpnum_e2m3x4 *dst, const mpnum_f16 *src,
                                              size_t n) {
  mpnum_encode_bytes16_(MPNUM_TYPE_F16, MPNUM_TYPE_E2M3, 6, MPNUM_OVERFLOW_SATURATE, dst,
                        src, n);
}
MPNUM_HOST void mpnum_f16_to_e2m1x2_sat_array(mpnum_e2m1x2 *dst, const mpnum_f16 *src,
                                              size_t n) {
  mpnum_encode_bytes16_(MPNUM_TYPE_F16, MPNUM_TYPE_E2M1, 4, MPNUM_OVERFLOW_SATURATE, dst,
                        src, n);
}
MPNUM_HOST void mpnum_bf16_to_e5m2_array(mpnum_e5m2 *dst, const mpnum_bf16 *src,
                                         size_t n) {
  mpnum_encode_bytes16_(MPNUM_TYPE_BF16, MPNUM_TYPE_E5M2, 8, MPNUM_OVERFLOW_IEEE, dst,
                        src, n);
}
MPNUM_HOST void mpnum_bf16_to_e5m2_sat_array(mpnum_e5m2 *dst, const mpnum_bf16 *src,
                                             size_t n) {
  mpnum_encode_bytes16_(MPNUM_TYPE_BF16, MPNUM_TYPE_E5M2, 8, MPNUM_OVERFLOW_SATURATE, dst,
                        src, n);
}
MPNUM_HOST void mpnum_bf16_to_e4m3_array(mpnum_e4m3 *dst, const mpnum_bf16 *src,
                                         size_t n) {
  mpnum_encode_bytes16_(MPNUM_TYPE_BF16, MPNUM_TYPE_E4M3, 8, MPNUM_OVERFLOW_IEEE, dst,
                        src, n);
}
MPNUM_HOST void mpnum_bf16_to_e4m3_sat_array(mpnum_e4m3 *dst, const mpnum_bf16 *src,
                                             size_t n) {
  mpnum_encode_bytes16_(MPNUM_TYPE_BF16, MPNUM_TYPE_E4M3, 8, MPNUM_OVERFLOW_SATURATE, dst,
                        src, n);
}
MPNUM_HOST void mpnum_bf16_to_e3m2x4_sat_array(mpnum_e3m2x4 *dst, const mpnum_bf16 *src,
                                               size_t n) {
  mpnum_encode_bytes16_(MPNUM_TYPE_BF16, MPNUM_TYPE_E3M2, 6, MPNUM_OVERFLOW_SATURATE, dst,
                        src, n);
}
MPNUM_HOST void mpnum_bf16_to_e2m3x4_sat_array(mpnum_e2m3x4 *dst, const mpnum_bf16 *src,
                                               size_t n) {
  mpnum_encode_bytes16_(MPNUM_TYPE_BF16, MPNUM_TYPE_E2M3, 6, MPNUM_OVERFLOW_SATURATE, dst,
                        src, n);
}
MPNUM_HOST void mpnum_bf16_to_e2m1x2_sat_array(mpnum_e2m1x2 *dst, const mpnum_bf16 *src,
                                               size_t n) {
  mpnum_encode_bytes16_(MPNUM_TYPE_BF16, MPNUM_TYPE_E2M1, 4, MPNUM_OVERFLOW_SATURATE, dst,
                        src, n);
}

/* f64 to narrower types, rounded once. */
MPNUM_HOST void mpnum_f64_to_f32_array(float *dst, const double *src, size_t n) {
  mpnum_encode_f64_f32_(MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_f64_to_bf16_array(mpnum_bf16 *dst, const double *src, size_t n) {
  mpnum_encode_f64_16_(MPNUM_TYPE_BF16, MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_f64_to_bf16_sat_array(mpnum_bf16 *dst, const double *src,
                                            size_t n) {
  mpnum_encode_f64_16_(MPNUM_TYPE_BF16, MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
MPNUM_HOST void mpnum_f64_to_f16_array(mpnum_f16 *dst, const double *src, size_t n) {
  mpnum_encode_f64_16_(MPNUM_TYPE_F16, MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST void mpnum_f64_to_f16_sat_array(mpnum_f16 *dst, const double *src, size_t n) {
  mpnum_encode_f64_16_(MPNUM_TYPE_F16, MPNUM_OVERFLOW_SATURATE, dst, src, n);
}
/* End of what tools/wrappers wrote. */

/* Converts f32 to a small type with stochastic rounding: element i takes the random word
 * mpnum_random(seed, offset + i), so an array may be split anywhere. */
MPNUM_HOST_INLINE_ void mpnum_stochastic_array_(mpnum_type type, mpnum_overflow overflow,
                                                void *dst, const float *src, size_t n,
                                                uint64_t seed, uint64_t offset) {
  mpnum_conversion_ conversion =
      mpnum_conversion_of_(mpnum_format_of(MPNUM_TYPE_F32), 32, mpnum_format_of(type),
                           mpnum_type_bits_(type), overflow);
  conversion.rounding = MPNUM_ROUND_STOCHASTIC;
  conversion.seed = seed;
  conversion.offset = offset;
  mpnum_convert_floats_(&conversion, mpnum_is_prefix_(conversion.dst), dst, src, n);
}
/* Written by tools/wrappers (stochastic conversions of arrays): do not edit. */
MPNUM_HOST void mpnum_f32_to_tf32_sr_array(mpnum_tf32 *dst, const float *src, size_t n,
                                           uint64_t seed, uint64_t offset) {
  mpnum_stochastic_array_(MPNUM_TYPE_TF32, MPNUM_OVERFLOW_IEEE, dst, src, n, seed,
                          offset);
}
MPNUM_HOST void mpnum_f32_to_tf32_sr_sat_array(mpnum_tf32 *dst, const float *src,
                                               size_t n, uint64_t seed, uint64_t offset) {
  mpnum_stochastic_array_(MPNUM_TYPE_TF32, MPNUM_OVERFLOW_SATURATE, dst, src, n, seed,
                          offset);
}
MPNUM_HOST void mpnum_f32_to_bf16_sr_array(mpnum_bf16 *dst, const float *src, size_t n,
                                           uint64_t seed, uint64_t offset) {
  mpnum_stochastic_array_(MPNUM_TYPE_BF16, MPNUM_OVERFLOW_IEEE, dst, src, n, seed,
                          offset);
}
MPNUM_HOST void mpnum_f32_to_bf16_sr_sat_array(mpnum_bf16 *dst, const float *src,
                                               size_t n, uint64_t seed, uint64_t offset) {
  mpnum_stochastic_array_(MPNUM_TYPE_BF16, MPNUM_OVERFLOW_SATURATE, dst, src, n, seed,
                          offset);
}
MPNUM_HOST void mpnum_f32_to_f16_sr_array(mpnum_f16 *dst, const float *src, size_t n,
                                          uint64_t seed, uint64_t offset) {
  mpnum_stochastic_array_(MPNUM_TYPE_F16, MPNUM_OVERFLOW_IEEE, dst, src, n, seed, offset);
}
MPNUM_HOST void mpnum_f32_to_f16_sr_sat_array(mpnum_f16 *dst, const float *src, size_t n,
                                              uint64_t seed, uint64_t offset) {
  mpnum_stochastic_array_(MPNUM_TYPE_F16, MPNUM_OVERFLOW_SATURATE, dst, src, n, seed,
                          offset);
}
MPNUM_HOST void mpnum_f32_to_e5m2_sr_array(mpnum_e5m2 *dst, const float *src, size_t n,
                                           uint64_t seed, uint64_t offset) {
  mpnum_stochastic_array_(MPNUM_TYPE_E5M2, MPNUM_OVERFLOW_IEEE, dst, src, n, seed,
                          offset);
}
MPNUM_HOST void mpnum_f32_to_e5m2_sr_sat_array(mpnum_e5m2 *dst, const float *src,
                                               size_t n, uint64_t seed, uint64_t offset) {
  mpnum_stochastic_array_(MPNUM_TYPE_E5M2, MPNUM_OVERFLOW_SATURATE, dst, src, n, seed,
                          offset);
}
MPNUM_HOST void mpnum_f32_to_e4m3_sr_array(mpnum_e4m3 *dst, const float *src, size_t n,
                                           uint64_t seed, uint64_t offset) {
  mpnum_stochastic_array_(MPNUM_TYPE_E4M3, MPNUM_OVERFLOW_IEEE, dst, src, n, seed,
                          offset);
}
MPNUM_HOST void mpnum_f32_to_e4m3_sr_sat_array(mpnum_e4m3 *dst, const float *src,
                                               size_t n, uint64_t seed, uint64_t offset) {
  mpnum_stochastic_array_(MPNUM_TYPE_E4M3, MPNUM_OVERFLOW_SATURATE, dst, src, n, seed,
                          offset);
}
/* End of what tools/wrappers wrote. */

/* Converts any type to any type with any rounding. Types of 6 and 4 bits take a byte
 * each. Between two small types the value is exact in f32 and rounded once. A type to
 * itself gives canonical NaNs; f32 and f64 to themselves are copies. seed and offset
 * count for MPNUM_ROUND_STOCHASTIC only, as above.
 * Status: MPNUM_ERROR_TYPE: an unknown type; MPNUM_ERROR_ARGUMENT: an unknown rounding
 *   or overflow; MPNUM_ERROR_NULL: dst or src is NULL and n is not 0;
 *   MPNUM_ERROR_OVERLAP: arrays overlap and do not begin at the same address. Nothing is
 *   written then. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_convert_array(
    mpnum_type dst_type, void *dst, mpnum_type src_type, const void *src, size_t n,
    mpnum_rounding rounding, mpnum_overflow overflow, uint64_t seed, uint64_t offset) {
  const int src_bits = mpnum_type_bits_(src_type);
  const int dst_bits = mpnum_type_bits_(dst_type);
  mpnum_conversion_ conversion;
  if (!src_bits || !dst_bits) return MPNUM_ERROR_TYPE;
  if (!mpnum_is_mode_(rounding, overflow)) return MPNUM_ERROR_ARGUMENT;
  if (n && (!dst || !src)) return MPNUM_ERROR_NULL;
  if (mpnum_overlaps_in_part_(dst, dst_bits, src, src_bits, n))
    return MPNUM_ERROR_OVERLAP;
  if (dst_bits == 64) {
    mpnum_to_f64_array_((uint8_t *)dst, src_type, (const uint8_t *)src, n);
    return MPNUM_OK;
  }
  mpnum_format_or_f32_(&conversion.src, src_type);
  mpnum_find_format_(&conversion.dst, dst_type);
  conversion.src_bits = src_bits;
  conversion.dst_bits = dst_bits;
  conversion.rounding = rounding;
  conversion.overflow = overflow;
  conversion.is_rounding = 0;
  conversion.seed = seed;
  conversion.offset = offset;
  if (rounding != MPNUM_ROUND_NEAREST_EVEN ||
      !mpnum_convert_nearest_(dst_type, dst, src_type, src, n, &conversion))
    mpnum_convert_any_(&conversion, dst, src, n);
  return MPNUM_OK;
}

/* Converts from one format to another, presets and user-made ones too. A code takes one
 * byte, 2 bytes if it has more than 8 bits, 4 if it has more than 16.
 * NaN: as mpnum_decode and mpnum_encode have it by the nan_policy of the formats: from
 *   f16 of MPNUM_PRESET_F16C to f32 it keeps sign and payload; f32 to itself is a copy.
 * Status: as above; MPNUM_ERROR_TYPE also for the all-zero format. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_convert_array_formats(mpnum_format dst_format, void *dst, mpnum_format src_format,
                            const void *src, size_t n, mpnum_rounding rounding,
                            mpnum_overflow overflow, uint64_t seed, uint64_t offset) {
  const int src_bits = mpnum_format_bits_(src_format);
  const int dst_bits = mpnum_format_bits_(dst_format);
  mpnum_conversion_ conversion;
  if (!src_bits || !dst_bits) return MPNUM_ERROR_TYPE;
  if (!mpnum_is_mode_(rounding, overflow)) return MPNUM_ERROR_ARGUMENT;
  if (n && (!dst || !src)) return MPNUM_ERROR_NULL;
  if (mpnum_overlaps_in_part_(dst, dst_bits, src, src_bits, n))
    return MPNUM_ERROR_OVERLAP;
  conversion = mpnum_conversion_of_(src_format, src_bits, dst_format, dst_bits, overflow);
  conversion.rounding = rounding;
  conversion.seed = seed;
  conversion.offset = offset;
  mpnum_convert_any_(&conversion, dst, src, n);
  return MPNUM_OK;
}

/* Converts a matrix of rows x columns like mpnum_convert_array; strides count elements
 * from row to row. Stochastic rounding counts elements row by row without gaps. In place:
 * where both matrices have no gaps, or rows of both begin equally many bytes apart.
 * Status: as above; MPNUM_ERROR_STRIDE: rows of dst would overlap. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_convert_array_2d(
    mpnum_type dst_type, void *dst, size_t dst_stride, mpnum_type src_type,
    const void *src, size_t src_stride, size_t rows, size_t columns,
    mpnum_rounding rounding, mpnum_overflow overflow, uint64_t seed, uint64_t offset) {
  const size_t dst_step = dst_stride * (size_t)(mpnum_type_bits_(dst_type) / 8);
  const size_t src_step = src_stride * (size_t)(mpnum_type_bits_(src_type) / 8);
  const int is_dense = dst_stride == columns && src_stride == columns;
  mpnum_status status = mpnum_convert_array(dst_type, dst, src_type, src, 0, rounding,
                                            overflow, seed, offset);
  size_t row = 0;
  if (rows > 1 && dst_stride < columns) return MPNUM_ERROR_STRIDE;
  if (columns == 0) rows = 0;
  if (status != MPNUM_OK || !rows) return status;
  if (!dst || !src) return MPNUM_ERROR_NULL;
  if (is_dense || rows == 1)
    return mpnum_convert_array(dst_type, dst, src_type, src, rows * columns, rounding,
                               overflow, seed, offset);
  if ((dst != src || dst_step != src_step) &&
      mpnum_rows_share_(dst, dst_step, columns * (size_t)mpnum_type_bits_(dst_type) / 8,
                        src, src_step, columns * (size_t)mpnum_type_bits_(src_type) / 8,
                        rows))
    return MPNUM_ERROR_OVERLAP;
  for (; row < rows && status == MPNUM_OK; ++row)
    status = mpnum_convert_array(dst_type, (uint8_t *)dst + row * dst_step, src_type,
                                 (const uint8_t *)src + row * src_step, columns, rounding,
                                 overflow, seed, offset + (uint64_t)row * columns);
  return status;
}

/* Rounds each value to a value of a format and leaves it a float: what arithmetic in
 * that format would have stored. Any format, user-made ones too (mpnum_format_init); f32
 * itself is a copy. dst may be src.
 * Status: as above; MPNUM_ERROR_TYPE also for the all-zero format. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_round_array(
    float *dst, const float *src, size_t n, mpnum_format format, mpnum_rounding rounding,
    mpnum_overflow overflow, uint64_t seed, uint64_t offset) {
  mpnum_conversion_ conversion =
      mpnum_conversion_of_(mpnum_format_of(MPNUM_TYPE_F32), 32, format, 32, overflow);
  if (!format.max_code) return MPNUM_ERROR_TYPE;
  if (!mpnum_is_mode_(rounding, overflow)) return MPNUM_ERROR_ARGUMENT;
  if (n == 0) return MPNUM_OK;
  if (!dst || !src) return MPNUM_ERROR_NULL;
  if (format.mantissa_bits == 23) { /* f32 itself */
    if (dst != src) MPNUM_MEMCPY_(dst, src, n * sizeof *src);
    return MPNUM_OK;
  }
  conversion.rounding = rounding;
  conversion.is_rounding = 1;
  conversion.seed = seed;
  conversion.offset = offset;
  mpnum_convert_floats_(&conversion, 1, dst, src, n);
  return MPNUM_OK;
}

#endif
MPNUM_C_END_
#endif
