/* SPDX-License-Identifier: MIT */
/* What a format is, the one table of formats, storage types, and the words for rounding,
 * overflow and status. */
#ifndef MPNUM_CORE_FORMAT_H
#define MPNUM_CORE_FORMAT_H

#include "detail/bits.h"
MPNUM_C_BEGIN_

/* Types by number, in arguments and in saved states. */
typedef enum mpnum_type {
  MPNUM_TYPE_F64 = 1,
  MPNUM_TYPE_F32 = 2,
  MPNUM_TYPE_TF32 = 3,
  MPNUM_TYPE_BF16 = 4,
  MPNUM_TYPE_F16 = 5,
  MPNUM_TYPE_E5M2 = 6,
  MPNUM_TYPE_E4M3 = 7,
  MPNUM_TYPE_E5M2FNUZ = 8,
  MPNUM_TYPE_E4M3FNUZ = 9,
  MPNUM_TYPE_E3M4 = 10,
  MPNUM_TYPE_E8M0 = 11,
  MPNUM_TYPE_E3M2 = 12,
  MPNUM_TYPE_E2M3 = 13,
  MPNUM_TYPE_E2M1 = 14,
  MPNUM_TYPE_UE5M3 = 15, /* scales of blocks: no functions of their own */
  MPNUM_TYPE_UE4M3 = 16
} mpnum_type;

/* To which neighbour a value goes that a format does not have. */
typedef enum mpnum_rounding MPNUM_ANY_INT_ {
  MPNUM_ROUND_NEAREST_EVEN = 0, /* ties to the even code */
  MPNUM_ROUND_TOWARD_ZERO = 1,
  MPNUM_ROUND_UP = 2,           /* toward +Inf */
  MPNUM_ROUND_DOWN = 3,         /* toward -Inf */
  MPNUM_ROUND_NEAREST_AWAY = 4, /* ties away from zero */
  MPNUM_ROUND_TO_ODD = 5,       /* inexact: the neighbour with the odd code */
  MPNUM_ROUND_STOCHASTIC = 6    /* up in magnitude as likely as the discarded fraction;
                                   others are of mpnum_rounding_stochastic */
} mpnum_rounding;

/* What becomes of a magnitude that rounds past the largest finite value. */
typedef enum mpnum_overflow {
  MPNUM_OVERFLOW_IEEE = 0,    /* Inf or the largest, as IEEE 754 has it for the rounding
                                 mode; NaN stands in where a format has no Inf */
  MPNUM_OVERFLOW_SATURATE = 1 /* the largest finite value, for a source Inf too */
} mpnum_overflow;

/* Which codes are not numbers. */
typedef enum mpnum_specials {
  MPNUM_SPECIALS_IEEE = 0, /* largest exponent: Inf and NaNs */
  MPNUM_SPECIALS_FN = 1,   /* finite and NaN: only all ones is NaN, no Inf */
  MPNUM_SPECIALS_FNUZ =
      2, /* finite, NaN, unsigned zero: the code of -0 is the one NaN, no Inf */
  MPNUM_SPECIALS_FINITE = 3, /* neither Inf nor NaN */
  MPNUM_SPECIALS_P3109 =
      4, /* the code of -0 is the one NaN, all ones of the magnitude is Inf */
  MPNUM_SPECIALS_E8M0 =
      5 /* as FN, and code 0 is a power of two like the others: no zero */
} mpnum_specials;

/* What a NaN becomes in a conversion to a format, and from it to f32. In a format without
 * NaN it becomes the largest value, with the sign of the source unless CANONICAL. */
typedef enum mpnum_nan_policy {
  MPNUM_NAN_CANONICAL = 0, /* the canonical NaN, sign dropped */
  MPNUM_NAN_SIGN = 1,      /* the canonical NaN with the sign of the source */
  MPNUM_NAN_PAYLOAD =
      2, /* sign and leading payload bits kept, made quiet (specials of IEEE 754) */
  MPNUM_NAN_ZERO = 3 /* as SIGN; in a format without NaN a zero of the other sign */
} mpnum_nan_policy;

/* What a function that can fail returns; mpnum_status_string has the sentences. */
typedef enum mpnum_status {
  MPNUM_OK = 0,
  MPNUM_ERROR_ARGUMENT = 1,
  MPNUM_ERROR_WIDTH = 2,
  MPNUM_ERROR_SPECIALS = 3,
  MPNUM_ERROR_RANGE = 4,
  MPNUM_ERROR_SYNTAX = 5,
  MPNUM_ERROR_UNREPRESENTABLE = 6,
  MPNUM_ERROR_NONFINITE = 7,
  MPNUM_ERROR_CORRUPT = 8,
  MPNUM_ERROR_VERSION = 9,
  /* which part of an argument it is */
  MPNUM_ERROR_NULL = 10,
  MPNUM_ERROR_TYPE = 11,
  MPNUM_ERROR_SHAPE = 12,
  MPNUM_ERROR_STRIDE = 13,
  MPNUM_ERROR_OVERLAP = 14,
  MPNUM_ERROR_NARROW = 15,
  /* of a loss scaler's configuration */
  MPNUM_ERROR_GROWTH_FACTOR = 16,
  MPNUM_ERROR_BACKOFF_FACTOR = 17,
  MPNUM_ERROR_GROWTH_INTERVAL = 18,
  MPNUM_ERROR_HYSTERESIS = 19,
  MPNUM_ERROR_SCALE_LIMITS = 20,
  MPNUM_ERROR_INIT_SCALE = 21,
  /* of the order of its calls */
  MPNUM_ERROR_ALREADY_CHECKED = 32,
  MPNUM_ERROR_ALREADY_UNSCALED = 33,
  MPNUM_ERROR_ALREADY_STEPPED = 34,
  MPNUM_ERROR_NOT_CHECKED = 35,
  MPNUM_ERROR_STILL_SCALED = 36,
  MPNUM_ERROR_ACCUMULATING = 37,
  MPNUM_ERROR_NOT_ACCUMULATING = 38,
  MPNUM_ERROR_STALE_SCALE = 39,
  MPNUM_ERROR_STALE_HANDLE = 40,
  MPNUM_ERROR_LATE_FOUND_INF = 41,
  MPNUM_ERROR_UNINITIALISED = 42,
  MPNUM_ERROR_NORM_UNKNOWN = 43
} mpnum_status;

/* One sentence for a status; never NULL. */
MPNUM_FUNC const char *mpnum_status_string(mpnum_status status) {
  switch (status) {
  case MPNUM_OK: return "success";
  case MPNUM_ERROR_ARGUMENT: return "the value of an argument is outside its range";
  case MPNUM_ERROR_WIDTH: return "a format has 2 to 16 bits, 1 to 8 of them exponent";
  case MPNUM_ERROR_SPECIALS: return "the format has no room for these special values";
  case MPNUM_ERROR_RANGE: return "a format, a class or a length is outside its range";
  case MPNUM_ERROR_SYNTAX: return "the text is not a number";
  case MPNUM_ERROR_UNREPRESENTABLE:
    return "the result is too large or too small for its type (a scaled loss in f16: "
           "mpnum_grad_scaler_f16)";
  case MPNUM_ERROR_NONFINITE: return "the values hold Inf or NaN";
  case MPNUM_ERROR_CORRUPT: return "the bytes are not a saved state, or are damaged";
  case MPNUM_ERROR_VERSION: return "the state was saved by another version";
  case MPNUM_ERROR_NULL: return "a pointer is NULL that elements are behind";
  case MPNUM_ERROR_TYPE: return "this function does not take this type";
  case MPNUM_ERROR_SHAPE: return "rows, columns or lengths do not go together";
  case MPNUM_ERROR_STRIDE:
    return "a stride is below the columns, or its rows do not begin at whole bytes";
  case MPNUM_ERROR_OVERLAP: return "memory that is written overlaps other memory";
  case MPNUM_ERROR_NARROW:
    return "a destination loses small gradients: pass MPNUM_GRAD_NARROW if that is meant";
  case MPNUM_ERROR_GROWTH_FACTOR:
    return "growth_factor is not above 1 and below 2^127 (or 1 with a static scale)";
  case MPNUM_ERROR_BACKOFF_FACTOR:
    return "backoff_factor is not between 2^-126 and 1 (or 1 with a static scale)";
  case MPNUM_ERROR_GROWTH_INTERVAL: return "growth_interval is below 1";
  case MPNUM_ERROR_HYSTERESIS: return "hysteresis is below 1";
  case MPNUM_ERROR_SCALE_LIMITS:
    return "not 2^-126 <= min_scale <= max_scale <= 2^126 (FLT_MAX where any_scale is "
           "set)";
  case MPNUM_ERROR_INIT_SCALE: return "not min_scale <= scale <= max_scale";
  case MPNUM_ERROR_ALREADY_CHECKED:
    return "these gradients were checked since the last update: step";
  case MPNUM_ERROR_ALREADY_UNSCALED:
    return "these gradients were unscaled since the last update: clip or step";
  case MPNUM_ERROR_ALREADY_STEPPED:
    return "this optimizer stepped since the last update: update";
  case MPNUM_ERROR_NOT_CHECKED:
    return "these gradients were neither checked nor unscaled since the last update: "
           "unscale";
  case MPNUM_ERROR_STILL_SCALED: return "these gradients are still scaled: unscale first";
  case MPNUM_ERROR_ACCUMULATING:
    return "gradients are still being accumulated: end_accumulation";
  case MPNUM_ERROR_NOT_ACCUMULATING:
    return "no gradients are being accumulated: begin_accumulation";
  case MPNUM_ERROR_STALE_SCALE:
    return "the scale has changed since these gradients were taken: discard them";
  case MPNUM_ERROR_STALE_HANDLE:
    return "an update left this handle out, it was not loaded with its scaler, or it is "
           "another scaler's: discard its gradients, and name it in each update";
  case MPNUM_ERROR_LATE_FOUND_INF:
    return "found_inf has changed since the step: reduce it over ranks before the step";
  case MPNUM_ERROR_UNINITIALISED:
    return "the scaler was never initialised: mpnum_grad_scaler_init";
  case MPNUM_ERROR_NORM_UNKNOWN:
    return "the norm was reported as unknown: report it, or clip to Inf, which is no "
           "limit";
  default: return "unknown status";
  }
}

/* A format of at most 32 bits. Codes hold, from the top: sign, exponent, mantissa. A
 * format wider than 16 bits lives in the top bits of a 32-bit word, storage_shift zero
 * bits below it (tf32: 13); narrower ones live in the low bits of 16 or 8. The *_code
 * fields are codes before that shift; max_code and inf_code are without sign. An all-zero
 * struct is no format. */
typedef struct mpnum_format {
  uint32_t max_code; /* largest finite value */
  uint32_t inf_code; /* 0: the format has no Inf */
  uint32_t nan_code; /* the NaN that conversions give; 0: the format has no NaN */
  int16_t bias;
  uint8_t sign_bits; /* 0: unsigned, a negative value is taken by its magnitude */
  uint8_t exponent_bits;
  uint8_t mantissa_bits;
  uint8_t storage_shift;
  uint8_t has_zero; /* 0: code 0 is a power of two */
  uint8_t has_negative_zero;
  uint8_t nan_policy; /* enum mpnum_nan_policy */
} mpnum_format;

/* The one table of small formats. ROW(name, NAME, sign bits, exponent bits, mantissa
 * bits, bias, special values, canonical NaN). Sources: IEEE 754-2019 (f16), OCP OFP8 1.0
 * (e5m2, e4m3), OCP MX 1.0 (e8m0, e3m2, e2m3, e2m1), the PTX ISA (bf16, tf32, canonical
 * NaNs); LLVM's APFloat semantics name the fnuz forms. */
#define MPNUM_FORMATS(ROW)                        \
 ROW(tf32, TF32, 1, 8, 10, 127, IEEE, 0x3ffff)    \
 ROW(bf16, BF16, 1, 8, 7, 127, IEEE, 0x7fff)      \
 ROW(f16, F16, 1, 5, 10, 15, IEEE, 0x7fff)        \
 ROW(e5m2, E5M2, 1, 5, 2, 15, IEEE, 0x7f)         \
 ROW(e4m3, E4M3, 1, 4, 3, 7, FN, 0x7f)            \
 ROW(e5m2fnuz, E5M2FNUZ, 1, 5, 2, 16, FNUZ, 0x80) \
 ROW(e4m3fnuz, E4M3FNUZ, 1, 4, 3, 8, FNUZ, 0x80)  \
 ROW(e3m4, E3M4, 1, 3, 4, 3, IEEE, 0x78)          \
 ROW(e8m0, E8M0, 0, 8, 0, 127, E8M0, 0xff)        \
 ROW(e3m2, E3M2, 1, 3, 2, 3, FINITE, 0)           \
 ROW(e2m3, E2M3, 1, 2, 3, 1, FINITE, 0)           \
 ROW(e2m1, E2M1, 1, 2, 1, 1, FINITE, 0)
/* Types that have a number and no storage struct or functions of their own: a byte each,
 * for what takes a type, a format or its name. Scales of blocks, which have no sign; of
 * a negative value the magnitude is taken. Sources: LLVM's AMDGPU documentation (E5M3 of
 * gfx1250), the PTX ISA (ue4m3, of 7 bits). */
#define MPNUM_SCALE_FORMATS_(ROW)         \
 ROW(ue5m3, UE5M3, 0, 5, 3, 15, FN, 0xff) \
 ROW(ue4m3, UE4M3, 0, 4, 3, 7, FN, 0x7f)

/* A format from its defining numbers, unchecked. */
MPNUM_INLINE mpnum_format mpnum_format_build_(int sign_bits, int exponent_bits,
                                              int mantissa_bits, int bias,
                                              mpnum_specials specials,
                                              uint32_t nan_code) {
  const int magnitude_bits = exponent_bits + mantissa_bits;
  const int width = sign_bits + magnitude_bits;
  const uint32_t ones = ((uint32_t)1 << magnitude_bits) - 1;
  const uint32_t mantissa_mask = ((uint32_t)1 << mantissa_bits) - 1;
  const int is_ieee = specials == MPNUM_SPECIALS_IEEE;
  const int is_p3109 = specials == MPNUM_SPECIALS_P3109;
  const int fills_all =
      specials == MPNUM_SPECIALS_FNUZ || specials == MPNUM_SPECIALS_FINITE;
  const uint32_t inf_code = is_ieee ? ones - mantissa_mask : is_p3109 ? ones : 0;
  const uint32_t last_finite = fills_all ? ones : ones - 1;
  const mpnum_format format = {
      inf_code ? inf_code - 1 : last_finite,
      inf_code,
      nan_code,
      (int16_t)bias,
      (uint8_t)sign_bits,
      (uint8_t)exponent_bits,
      (uint8_t)mantissa_bits,
      (uint8_t)(width > 16 ? 32 - width : 0),
      (uint8_t)(specials != MPNUM_SPECIALS_E8M0),
      (uint8_t)(sign_bits && specials != MPNUM_SPECIALS_FNUZ && !is_p3109),
      MPNUM_NAN_CANONICAL,
  };
  return format;
}

/* The format of a type. F64 and unknown types give the all-zero struct. */
MPNUM_INLINE mpnum_format mpnum_format_of(mpnum_type type) {
  switch (type) {
  case MPNUM_TYPE_F32:
    return mpnum_format_build_(1, 8, 23, 127, MPNUM_SPECIALS_IEEE, 0x7fffffff);
#define MPNUM_FORMAT_CASE_(name, NAME, sign_bits, exponent_bits, mantissa_bits, bias, \
                           specials, nan)                                             \
case MPNUM_TYPE_##NAME:                                                               \
 return mpnum_format_build_(sign_bits, exponent_bits, mantissa_bits, bias,            \
                            MPNUM_SPECIALS_##specials, nan);
    MPNUM_FORMATS(MPNUM_FORMAT_CASE_)
    MPNUM_SCALE_FORMATS_(MPNUM_FORMAT_CASE_)
#undef MPNUM_FORMAT_CASE_
  default: break;
  }
  {
    const mpnum_format none = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    return none;
  }
}

/* Whether a number is a type. */
MPNUM_INLINE int mpnum_is_type_(uint32_t number) {
  switch (number) {
  case (uint32_t)MPNUM_TYPE_F64:
  case (uint32_t)MPNUM_TYPE_F32:
#define MPNUM_TYPE_CASE_(name, NAME, sign_bits, exponent_bits, mantissa_bits, bias, \
                         specials, nan)                                             \
case (uint32_t)MPNUM_TYPE_##NAME:
    MPNUM_FORMATS(MPNUM_TYPE_CASE_)
    MPNUM_SCALE_FORMATS_(MPNUM_TYPE_CASE_)
#undef MPNUM_TYPE_CASE_
    return 1;
  default: return 0;
  }
}

/* "f64", "e4m3", ...; NULL for an unknown type. */
MPNUM_FUNC const char *mpnum_type_name(mpnum_type type) {
  switch (type) {
  case MPNUM_TYPE_F64: return "f64";
  case MPNUM_TYPE_F32: return "f32";
#define MPNUM_NAME_CASE_(name, NAME, sign_bits, exponent_bits, mantissa_bits, bias, \
                         specials, nan)                                             \
case MPNUM_TYPE_##NAME: return #name;
    MPNUM_FORMATS(MPNUM_NAME_CASE_)
    MPNUM_SCALE_FORMATS_(MPNUM_NAME_CASE_)
#undef MPNUM_NAME_CASE_
  default: return 0;
  }
}

/* Storage: one-member structs, so that formats cannot be mixed up. Codes of 4 and 6 bits
 * are in the low bits of the byte; bits above them are ignored. */
typedef struct mpnum_tf32 {
  uint32_t bits;
} mpnum_tf32; /* the low 13 bits are 0 in a result */
typedef struct mpnum_bf16 {
  uint16_t bits;
} mpnum_bf16;
typedef struct mpnum_f16 {
  uint16_t bits;
} mpnum_f16;
typedef struct mpnum_e5m2 {
  uint8_t bits;
} mpnum_e5m2;
typedef struct mpnum_e4m3 {
  uint8_t bits;
} mpnum_e4m3;
typedef struct mpnum_e5m2fnuz {
  uint8_t bits;
} mpnum_e5m2fnuz;
typedef struct mpnum_e4m3fnuz {
  uint8_t bits;
} mpnum_e4m3fnuz;
typedef struct mpnum_e3m4 {
  uint8_t bits;
} mpnum_e3m4;
typedef struct mpnum_e8m0 {
  uint8_t bits;
} mpnum_e8m0;
typedef struct mpnum_e3m2 {
  uint8_t bits;
} mpnum_e3m2;
typedef struct mpnum_e2m3 {
  uint8_t bits;
} mpnum_e2m3;
typedef struct mpnum_e2m1 {
  uint8_t bits;
} mpnum_e2m1;

/* Results of the packed decoders; x is element 0. */
typedef struct mpnum_f32x2 {
  float x, y;
} mpnum_f32x2;
typedef struct mpnum_f32x4 {
  float x, y, z, w;
} mpnum_f32x4;

MPNUM_C_END_
#endif
