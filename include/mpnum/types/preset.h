/* SPDX-License-Identifier: MIT */
/* Formats of a user's own, and presets: the formats as other stacks convert to them. */
#ifndef MPNUM_TYPES_PRESET_H
#define MPNUM_TYPES_PRESET_H

#include "../core/query.h"
MPNUM_C_BEGIN_

/* Writes to *dst the format with these numbers of sign, exponent and mantissa bits, value
 * of a normal code (-1)^sign * 2^(exponent - bias) * 1.mantissa. Domain: sign_bits 0 or
 * 1, exponent_bits 1 to 8, 2 to 16 bits in all, at least one normal number; every value
 * must be a float, the normal ones normal floats; IEEE needs 2 exponent bits and a
 * mantissa bit, FNUZ and P3109 a sign. The canonical NaN has all ones below the sign
 * (IEEE, FN) or is the code of -0. Returns MPNUM_OK; MPNUM_ERROR_WIDTH, _SPECIALS or
 * _RANGE, *dst unchanged. */
MPNUM_MUST_CHECK MPNUM_FUNC mpnum_status mpnum_format_init(mpnum_format *dst,
                                                           int sign_bits,
                                                           int exponent_bits,
                                                           int mantissa_bits, int bias,
                                                           mpnum_specials specials) {
  const int is_nuz = specials == MPNUM_SPECIALS_FNUZ || specials == MPNUM_SPECIALS_P3109;
  const int has_known_specials = (int)specials >= 0 && specials <= MPNUM_SPECIALS_P3109;
  if (sign_bits < 0 || sign_bits > 1 || exponent_bits < 1 || exponent_bits > 8 ||
      mantissa_bits < 0 || mantissa_bits > 15)
    return MPNUM_ERROR_WIDTH;
  if (sign_bits + exponent_bits + mantissa_bits < 2 ||
      sign_bits + exponent_bits + mantissa_bits > 16)
    return MPNUM_ERROR_WIDTH;
  if (!has_known_specials || (is_nuz && sign_bits == 0)) return MPNUM_ERROR_SPECIALS;
  if (specials == MPNUM_SPECIALS_IEEE && (exponent_bits < 2 || mantissa_bits < 1))
    return MPNUM_ERROR_SPECIALS;
  if (bias < -127 || bias > 127) return MPNUM_ERROR_RANGE;
  {
    const int magnitude_bits = exponent_bits + mantissa_bits;
    const uint32_t ones = ((uint32_t)1 << magnitude_bits) - 1;
    const uint32_t nan_code = is_nuz                              ? ones + 1
                              : specials == MPNUM_SPECIALS_FINITE ? 0
                                                                  : ones;
    const mpnum_format format = mpnum_format_build_(
        sign_bits, exponent_bits, mantissa_bits, bias, specials, nan_code);
    const int max_exponent = (int)(format.max_code >> mantissa_bits) - bias;
    if (format.max_code < mpnum_min_code_(format)) return MPNUM_ERROR_SPECIALS;
    if (max_exponent > 127) return MPNUM_ERROR_RANGE;
    *dst = format;
  }
  return MPNUM_OK;
}

/* How another stack converts: its NaNs as fields of a format, its overflow as an
 * argument, to be given to mpnum_encode, mpnum_decode or, for arrays,
 * mpnum_convert_array_formats. Rounding is nearest even in all of them. e8m0 is
 * outside presets: its rounding differs by stack and is named in each call.
 *
 * CUDA: f16 and bf16 to Inf; fp8, fp6, fp4 saturate; canonical NaN.
 * ML_DTYPES (0.6): to Inf or NaN; a NaN keeps its sign, f16 7e00, bf16 7fc0, and becomes
 *   a zero of the other sign in e3m2, e2m3 and e2m1. (Its f16 is NumPy's, which keeps
 *   payloads: 7e00 is what the default NaN gives.)
 * PYTORCH_2_11, scalar conversion on the CPU: to Inf or NaN; a NaN keeps its sign but in
 *   bf16, 7fc0. (Its vector code differs in NaNs: bf16 ffff, f16 as F16C.)
 * F16C: as IEEE 754 hardware, ggml and FP16: a NaN keeps sign and payload, made quiet. */
typedef enum mpnum_preset {
  MPNUM_PRESET_CUDA = 0,
  MPNUM_PRESET_ML_DTYPES = 1,
  MPNUM_PRESET_PYTORCH_2_11 = 2,
  MPNUM_PRESET_F16C = 3
} mpnum_preset;

/* A format with the NaNs of a preset. */
MPNUM_FUNC mpnum_format mpnum_preset_format(mpnum_preset preset, mpnum_type type) {
  mpnum_format format = mpnum_format_of(type);
  const int has_quiet_bit_nan = type == MPNUM_TYPE_F16 || type == MPNUM_TYPE_BF16;
  if (format.exponent_bits == 0) return format; /* no format */
  if (type == MPNUM_TYPE_E8M0 || preset == MPNUM_PRESET_CUDA) return format;
  if (format.nan_code == 0) {
    if (preset == MPNUM_PRESET_ML_DTYPES) format.nan_policy = MPNUM_NAN_ZERO;
    return format;
  }
  format.nan_policy =
      (uint8_t)(preset == MPNUM_PRESET_F16C ? MPNUM_NAN_PAYLOAD : MPNUM_NAN_SIGN);
  if (preset == MPNUM_PRESET_F16C) return format;
  if (has_quiet_bit_nan)
    format.nan_code = format.inf_code | (uint32_t)1 << (format.mantissa_bits - 1);
  if (preset == MPNUM_PRESET_ML_DTYPES && type == MPNUM_TYPE_E5M2) format.nan_code = 0x7e;
  if (preset == MPNUM_PRESET_PYTORCH_2_11 && type == MPNUM_TYPE_BF16)
    format.nan_policy = MPNUM_NAN_CANONICAL;
  return format;
}

/* The overflow that goes with it. */
MPNUM_FUNC mpnum_overflow mpnum_preset_overflow(mpnum_preset preset, mpnum_type type) {
  const mpnum_format format = mpnum_format_of(type);
  const int width = format.sign_bits + format.exponent_bits + format.mantissa_bits;
  return preset == MPNUM_PRESET_CUDA && width > 0 && width <= 8 ? MPNUM_OVERFLOW_SATURATE
                                                                : MPNUM_OVERFLOW_IEEE;
}

MPNUM_C_END_
#endif
