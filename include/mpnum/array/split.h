/* SPDX-License-Identifier: MIT */
/* An f32 as a sum of narrow floats, so that matrix units of these multiply with nearly
 * f32's precision: two or three bf16, two f16, two tf32. docs/split.md has what is lost.
 *
 *     mpnum_matrix parts[3];
 *     for (int k = 0; k < 3; ++k)
 *       parts[k] = mpnum_matrix_of(MPNUM_TYPE_BF16, bf16[k], rows, columns);
 *     status = mpnum_split_matrix(parts, 3, a, 0, 8);
 *
 * The value of the parts is the sum of part k times 2^-(exponent + k * step). */
#ifndef MPNUM_ARRAY_SPLIT_H
#define MPNUM_ARRAY_SPLIT_H

#include "detail/views.h"
MPNUM_C_BEGIN_

MPNUM_INLINE double mpnum_two_to_(int exponent) { /* of a normal double */
  return mpnum_from_bits_f64((uint64_t)(1023 + exponent) << 52);
}

/* Writes to codes[0 .. parts - 1] the parts of x: each is what the ones before leave,
 * times a power of two, to the nearest even.
 *
 *   rest = x * 2^exponent
 *   codes[k] = rest to the nearest, at most the largest
 *   rest = (rest - codes[k]) * 2^step
 *
 * Domain: a signed format of mpnum_format_of; exponent -255 to 255, step 0 to 31, at
 *   most 4 parts: all steps but the rounding are exact.
 * Overflow: the largest value, the next parts take the rest as far as they can.
 * NaN, Inf: NaN, and Inf as the format has it, in the first part; the others are 0.
 * Error: of bf16, 3 parts: none. Proven in tests/array/test_split.c.
 * Source: Henry, Tang, Heinecke, "Leveraging the bfloat16 artificial intelligence
 * datatype for higher-precision computations", ARITH 2019; Ootomo, Yokota, "Recovering
 * single precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak
 * performance", IJHPCA 2022 (f16 and tf32, the second part scaled by 2^11). */
MPNUM_FUNC void mpnum_split(mpnum_format format, float x, int exponent, int step,
                            uint32_t *codes, int parts) {
  const uint32_t bits = mpnum_bits_f32(x);
  const uint32_t magnitude = bits & 0x7fffffffu;
  const int is_number = magnitude != 0 && magnitude < 0x7f800000u;
  /* From here on all parts are the largest; few bits keep differences exact. */
  const double most =
      mpnum_two_to_((int)(format.max_code >> format.mantissa_bits) - format.bias + 4);
  double rest =
      is_number ? mpnum_mul_f64_(mpnum_widen_bits_(bits), mpnum_two_to_(exponent)) : 0;
  int k = 0;
  if (rest > most) rest = most;
  if (rest < -most) rest = -most;
  for (; k < parts; ++k) {
    codes[k] = 0;
    if (k == 0 && !is_number)
      codes[k] =
          mpnum_encode(format, x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
    if (mpnum_bits_f64(rest) << 1 == 0) continue; /* no -0, which a sum may be */
    codes[k] = mpnum_encode_f64(format, rest, MPNUM_ROUND_NEAREST_EVEN,
                                MPNUM_OVERFLOW_SATURATE, 0);
    rest = mpnum_mul_f64_(mpnum_add_f64_(rest, -mpnum_decode_f64(format, codes[k])),
                          mpnum_two_to_(step));
  }
}

#if MPNUM_HAS_ARRAYS_

/* A part of n floats, at most a tile, and what it leaves of them. In floats, exact as in
 * doubles: a rest is a multiple of x's last place, and smaller; where it overflows all
 * parts that follow are the largest either way. */
MPNUM_HOST_INLINE_ void mpnum_split_floats_(mpnum_type type, uint8_t *dst, float *rest,
                                            float scale, size_t n) {
  const mpnum_format format = mpnum_format_of(type);
  uint32_t codes[MPNUM_TILE_];
  size_t i = 0;
  for (i = 0; i < n; ++i) {
    codes[i] = mpnum_encode(format, rest[i], MPNUM_ROUND_NEAREST_EVEN,
                            MPNUM_OVERFLOW_SATURATE, 0);
    rest[i] = (rest[i] - mpnum_decode(format, codes[i])) * scale;
  }
  for (i = 0; i < n; ++i)
    mpnum_set_element_(mpnum_type_bits_(type), dst, i, codes[i]);
}

/* n elements of a row, at most a tile. */
MPNUM_HOST void mpnum_split_tile_(const mpnum_matrix *parts, size_t count,
                                  mpnum_const_matrix src, int exponent, int step,
                                  size_t row, size_t first, size_t n) {
  const mpnum_type type = parts[0].type;
  const int bits = mpnum_type_bits_(type);
  float rest[MPNUM_TILE_];
  /* Where a product by 2^exponent rounds nothing, and no Inf or NaN is there. */
  int is_exact =
      exponent == 0 || (type == MPNUM_TYPE_F16 && exponent > 0 && exponent < 128);
  uint64_t saved = 0;
  size_t i = 0, k = 0;
  for (i = 0; i < n; ++i) {
    rest[i] = mpnum_float_at_((const float *)src.data, row * src.stride + first + i);
    is_exact &= (mpnum_bits_f32(rest[i]) & 0x7fffffffu) < 0x7f800000u;
  }
  if (!is_exact) {
    for (i = 0; i < n; ++i) {
      uint32_t codes[4];
      mpnum_split(mpnum_format_of(type), rest[i], exponent, step, codes, (int)count);
      for (k = 0; k < count; ++k)
        mpnum_set_element_(bits, (uint8_t *)parts[k].data,
                           row * parts[k].stride + first + i, codes[k]);
    }
    return;
  }
  saved = mpnum_fenv_save_();
  for (i = 0; i < n; ++i)
    rest[i] *= mpnum_pow2_(exponent);
  for (k = 0; k < count; ++k) {
    uint8_t *dst = mpnum_rows_to_(parts[k], row, first);
    if (type == MPNUM_TYPE_BF16)
      mpnum_split_floats_(MPNUM_TYPE_BF16, dst, rest, mpnum_pow2_(step), n);
    else if (type == MPNUM_TYPE_F16)
      mpnum_split_floats_(MPNUM_TYPE_F16, dst, rest, mpnum_pow2_(step), n);
    else
      mpnum_split_floats_(MPNUM_TYPE_TF32, dst, rest, mpnum_pow2_(step), n);
  }
  mpnum_fenv_restore_(saved);
}

/* Splits a matrix of f32, a tile of a larger one, too, into 1 to 4 matrices of one type:
 * bf16, f16 or tf32. Each element as mpnum_split has it.
 * Domain: views of one shape, which do not overlap each other or src; exponent and step
 *   as above.
 * Returns MPNUM_OK; MPNUM_ERROR_ARGUMENT (count, exponent or step), _NULL, _TYPE, _SHAPE,
 * _STRIDE, _OVERLAP, nothing written. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_split_matrix(const mpnum_matrix *parts,
                                                            size_t count,
                                                            mpnum_const_matrix src,
                                                            int exponent, int step) {
  size_t i = 0, j = 0, k = 0;
  if (count < 1 || count > 4 || exponent < -255 || exponent > 255 || step < 0 ||
      step > 31)
    return MPNUM_ERROR_ARGUMENT;
  if (!parts) return MPNUM_ERROR_NULL;
  if (src.type != MPNUM_TYPE_F32 ||
      (parts[0].type != MPNUM_TYPE_BF16 && parts[0].type != MPNUM_TYPE_F16 &&
       parts[0].type != MPNUM_TYPE_TF32))
    return MPNUM_ERROR_TYPE;
  if (!src.data && src.rows && src.columns) return MPNUM_ERROR_NULL;
  for (k = 0; k < count; ++k) {
    mpnum_status status = mpnum_shape_check_(parts[k], src);
    if (parts[k].type != parts[0].type) status = MPNUM_ERROR_TYPE;
    if (status != MPNUM_OK) return status;
    if (mpnum_rows_overlap_(parts[k], src)) return MPNUM_ERROR_OVERLAP;
    for (j = 0; j < k; ++j)
      if (mpnum_rows_overlap_(parts[k], mpnum_rows_read_(parts[j])))
        return MPNUM_ERROR_OVERLAP;
  }
  for (i = 0; i < src.rows; ++i)
    for (j = 0; j < src.columns; j += MPNUM_TILE_)
      mpnum_split_tile_(parts, count, src, exponent, step, i, j,
                        mpnum_tile_size_(src.columns, j));
  return MPNUM_OK;
}

#endif
MPNUM_C_END_
#endif
