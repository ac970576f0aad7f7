/* SPDX-License-Identifier: MIT */
/* The steps of a conversion instruction: elements out of words, their values, scale,
 * rounding, elements into words. Integers only. */
#ifndef MPNUM_HARDWARE_DETAIL_INSTRUCTION_STEPS_H
#define MPNUM_HARDWARE_DETAIL_INSTRUCTION_STEPS_H

#include "instruction_amd.h"
#include "instruction_arm.h"
#include "instruction_ptx.h"
#include "instruction_riscv.h"
#include "instruction_x86.h"
MPNUM_C_BEGIN_

/* The fields of mpnum_instruction_control. */
typedef struct mpnum_registers_ {
  uint64_t fpmr;
  uint32_t fpcr, mxcsr, imm8, frm, mode;
} mpnum_registers_;

/* The row of an instruction; NULL if there is none. */
MPNUM_MATH_ const mpnum_instruction_row_ *mpnum_instruction_row_of_(uint32_t number) {
  static const mpnum_instruction_row_ rows[] = {
      MPNUM_PTX_INSTRUCTIONS_()                            /**/
      MPNUM_X86_INSTRUCTIONS_(MPNUM_INSTRUCTION_REVERSED_) /**/
      MPNUM_ARM_INSTRUCTIONS_(MPNUM_INSTRUCTION_)          /**/
      MPNUM_AMD_INSTRUCTIONS_(MPNUM_INSTRUCTION_)          /**/
      MPNUM_RISCV_INSTRUCTIONS_(MPNUM_INSTRUCTION_)        /**/
  };
  return number - 1 < sizeof rows / sizeof rows[0] ? &rows[number - 1] : 0;
}

/* Whether a name is that of a row, in which .relu and .satfinite may change places. */
MPNUM_MATH_ int mpnum_is_instruction_(const char *row, const char *name) {
  const char *const relu = "relu.satfinite", *const satfinite = "satfinite.relu";
  for (; *row == *name; ++row, ++name)
    if (*row == 0) return 1;
  {
    const char *const from = *row == 'r' ? relu : satfinite;
    const char *const to = *row == 'r' ? satfinite : relu;
    int i = 0;
    for (; i < 14; ++i)
      if (row[i] != from[i] || name[i] != to[i]) return 0;
    for (; row[i] == name[i]; ++i)
      if (row[i] == 0) return 1;
  }
  return 0;
}

/* Bits of words, the first 32 in the first; 64 begin at a word. */
MPNUM_MATH_ uint64_t mpnum_slot_(const uint32_t *words, uint32_t at, uint32_t width) {
  const uint32_t shift = at % 32;
  uint64_t bits = words[at / 32];
  if (shift + width > 32) bits |= (uint64_t)words[at / 32 + 1] << 32;
  return bits >> shift & (((uint64_t)2 << (width - 1)) - 1);
}

MPNUM_MATH_ void mpnum_set_slot_(uint32_t *words, uint32_t at, uint32_t width,
                                 uint64_t bits) {
  const uint32_t shift = at % 32;
  words[at / 32] |= (uint32_t)(bits << shift);
  if (shift + width > 32) words[at / 32 + 1] |= (uint32_t)(bits >> (32 - shift));
}

/* A format of fixed point: k / 64 for k below 512, all of them with one gap. */
MPNUM_MATH_ mpnum_format mpnum_fixed_format_(void) {
  return mpnum_format_build_(1, 1, 8, -1, MPNUM_SPECIALS_FINITE, 0);
}

/* The bits of an f64 with the value of a code; the mantissa of a NaN is kept. */
MPNUM_MATH_ uint64_t mpnum_instruction_value_(int type, uint64_t code) {
  mpnum_format format = mpnum_format_of((mpnum_type)type);
  uint32_t bits = (uint32_t)code;
  if (type == MPNUM_TYPE_F64) return code;
  if (type == MPNUM_TYPE_S2F6_) {
    const uint32_t sign = bits >> 7 & 1;
    bits = (sign ? 256 - (bits & 0xff) : bits & 0xff) | sign << 9;
    bits = mpnum_decode_bits_(mpnum_fixed_format_(), bits);
  } else if (type != MPNUM_TYPE_F32) {
    format.nan_policy = MPNUM_NAN_PAYLOAD;
    bits = mpnum_decode_bits_(format, bits);
  }
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return (uint64_t)(bits >> 31) << 63 | (uint64_t)0x7ff << 52 |
           (uint64_t)(bits & 0x7fffffu) << 29;
  return mpnum_bits_f64(mpnum_widen_bits_(bits));
}

#define MPNUM_F64_INF_ ((uint64_t)0x7ff << 52)

/* Times 2^exponent: a value that a float or an f16, bf16, fp8 can have, and is not 0. */
MPNUM_MATH_ uint64_t mpnum_instruction_scaled_(uint64_t value, int exponent) {
  const uint64_t magnitude = value & ~((uint64_t)1 << 63);
  if (magnitude == 0 || magnitude >= MPNUM_F64_INF_) return value;
  return value + ((uint64_t)(uint32_t)(exponent + 1024) << 52) - ((uint64_t)1024 << 52);
}

/* 0 with the sign where a flag flushes the value. */
MPNUM_MATH_ uint64_t mpnum_instruction_flushed_(const mpnum_instruction_row_ *row,
                                                uint64_t value,
                                                const mpnum_registers_ *registers) {
  const uint64_t sign = value & (uint64_t)1 << 63;
  const uint64_t of_f32 = (uint64_t)(1023 - 126) << 52, of_f64 = (uint64_t)1 << 52;
  const int has_f32 = row->source == MPNUM_TYPE_F32 || row->target == MPNUM_TYPE_F32;
  uint64_t least = 0;
  if (row->flags & MPNUM_FLUSHES_ && row->source != MPNUM_TYPE_F64) least = of_f32;
  if (row->flags & MPNUM_SCALE_BYTE_)
    least = row->source == MPNUM_TYPE_F16 ? (uint64_t)(1023 - 14) << 52 : of_f32;
  if (row->flags & MPNUM_FLUSH_BY_MXCSR_ && registers->mxcsr >> 6 & 1)
    least = row->source == MPNUM_TYPE_F32 ? of_f32 : of_f64;
  if (row->flags & MPNUM_FLUSH_BY_FPCR_ && registers->fpcr >> 24 & 1)
    least = has_f32 ? of_f32 : of_f64;
  return value - sign < least ? sign : value;
}

/* Limited to [0, 1]. */
MPNUM_MATH_ uint64_t mpnum_unit_(uint64_t value) {
  const uint64_t one = (uint64_t)1023 << 52;
  if (value >> 63) return 0;
  return value < one ? value : one;
}

/* Rounded to an integer. */
MPNUM_MATH_ uint64_t mpnum_integral_(uint64_t value, int rounding) {
  const uint64_t sign = value & (uint64_t)1 << 63, magnitude = value - sign;
  const int exponent = (int)(magnitude >> 52) - 1023;
  const uint64_t gap = (uint64_t)1 << (exponent < 0 || exponent > 51 ? 0 : 52 - exponent);
  const uint64_t low = exponent < 0 ? 0 : magnitude & ~(gap - 1);
  const uint64_t high = exponent < 0 ? (uint64_t)1023 << 52 : low + gap;
  const uint64_t middle = exponent < 0 ? (uint64_t)1022 << 52 : low + gap / 2;
  int goes_up = 0;
  if (low == magnitude || exponent > 51) return value;
  switch (rounding) {
  case MPNUM_ROUND_NEAREST_EVEN:
    goes_up = magnitude > middle || (magnitude == middle && low & gap);
    break;
  case MPNUM_ROUND_UP: goes_up = !sign; break;
  case MPNUM_ROUND_DOWN: goes_up = sign != 0; break;
  default: break;
  }
  return sign | (goes_up ? high : low);
}

/* The code of a NaN, given by the bits of an f64. */
MPNUM_MATH_ uint64_t mpnum_instruction_nan_(int kind, int target, mpnum_format format,
                                            uint64_t value) {
  const uint32_t negative = (uint32_t)(value >> 63);
  const uint32_t payload = (uint32_t)(value >> 29) & 0x7fffffu;
  const uint32_t sign = negative << (format.exponent_bits + format.mantissa_bits);
  const uint32_t top = (uint32_t)1 << (format.exponent_bits + format.mantissa_bits);
  uint32_t quiet = format.nan_code;
  uint32_t code = 0;
  if (target == MPNUM_TYPE_F64)
    return (uint64_t)0x7ff8 << 48 |
           (kind == MPNUM_NANS_PAYLOAD_
                ? (value & (uint64_t)1 << 63) | (value & (((uint64_t)1 << 51) - 1))
                : 0);
  if (target == MPNUM_TYPE_S2F6_) return 127;
  if (format.inf_code)
    quiet = format.inf_code | (uint32_t)1 << (format.mantissa_bits - 1);
  switch (kind) {
  case MPNUM_NANS_PAYLOAD_:
    code = sign | quiet | payload >> (23 - format.mantissa_bits);
    break;
  case MPNUM_NANS_QUIET_: code = quiet; break;
  case MPNUM_NANS_MINUS_: code = quiet | top; break;
  case MPNUM_NANS_SIGN_: code = format.nan_code | sign; break;
  case MPNUM_NANS_HF8_: code = 0x7f80u | sign; break;
  case MPNUM_NANS_KEPT_: code = format.inf_code | sign | payload; break;
  default: code = format.nan_code ? format.nan_code : format.max_code; break;
  }
  return code << format.storage_shift;
}

MPNUM_MATH_ uint32_t mpnum_reversed_u16_(uint32_t bits) {
  uint32_t reversed = 0;
  int i = 0;
  for (; i < 16; ++i)
    reversed |= (bits >> i & 1) << (15 - i);
  return reversed;
}

/* The random bits of element i of cvt.rs, in the highest of a word. The first of two that
 * share 16 bits takes them from the lowest to the highest. */
MPNUM_MATH_ uint32_t mpnum_ptx_random_(const mpnum_instruction_row_ *row, uint32_t random,
                                       int i) {
  const uint32_t shared = random >> (i >= row->lanes / 2 ? 16 : 0) & 0xffff;
  uint32_t bits = shared;
  if (row->target == MPNUM_TYPE_F16) return shared << 19;
  if (row->target == MPNUM_TYPE_BF16) return shared << 16;
  if (row->target_slot == 4) {
    bits = random >> (i >= 2 ? 8 : 0);
    bits = (bits & 0xff) | (bits >> 8 & 0xff00);
  }
  return (i & 1 ? mpnum_reversed_u16_(bits) : bits) << 16;
}

/* The code of a value that is no NaN. */
MPNUM_MATH_ uint64_t mpnum_instruction_code_(mpnum_format format, uint64_t value,
                                             mpnum_rounding rounding,
                                             mpnum_overflow overflow, uint32_t random) {
  return mpnum_encode_core_(format, mpnum_source_f64_(mpnum_from_bits_f64(value)),
                            rounding, overflow, random);
}

/* Whether a value rounds to less than 2^-126 in the precision of f32 without its least
 * exponent: as 2^64 times the value does. */
MPNUM_MATH_ int mpnum_is_tiny_f32_(mpnum_format f32, uint64_t value,
                                   mpnum_rounding rounding) {
  const uint64_t sign = value & (uint64_t)1 << 63;
  if (value - sign >= (uint64_t)(1023 - 126) << 52) return 0;
  value = mpnum_instruction_code_(f32, mpnum_instruction_scaled_(value, 64), rounding,
                                  MPNUM_OVERFLOW_IEEE, 0);
  return (value & 0x7fffffffu) < (uint64_t)(64 + 1) << 23;
}

/* The byte of fixed point. */
MPNUM_MATH_ uint64_t mpnum_fixed_code_(uint64_t value, mpnum_rounding rounding) {
  const uint32_t code = (uint32_t)mpnum_instruction_code_(
      mpnum_fixed_format_(), value, rounding, MPNUM_OVERFLOW_SATURATE, 0);
  const uint32_t magnitude = code & 0x1ff, is_negative = code >> 9;
  const uint32_t most = is_negative ? 128 : 127;
  const uint32_t kept = magnitude < most ? magnitude : most;
  return (is_negative ? 256 - kept : kept) & 0xff;
}

/* What an instruction does under registers, the same for all of its elements. */
typedef struct mpnum_instruction_how_ {
  int source, target, nans; /* nans: MPNUM_NANS_* */
  mpnum_format format;      /* of the target */
  int rounding;             /* mpnum_rounding; -1: there is none of this number */
  int scale;                /* of all elements, an exponent */
} mpnum_instruction_how_;

MPNUM_MATH_ int mpnum_instruction_rounding_(const mpnum_instruction_row_ *row,
                                            const mpnum_registers_ *registers) {
  /* Two bits each, the lowest for 0. x86: nearest even, down, up, zero. Arm and AMD:
   * nearest even, up, down, zero. */
  const uint32_t x86 = 0u | 3u << 2 | 2u << 4 | 1u << 6;
  const uint32_t arm = 0u | 2u << 2 | 3u << 4 | 1u << 6;
  const uint32_t riscv = 0u | 1u << 4 | 3u << 8 | 2u << 12 | 4u << 16;
  const uint32_t mxcsr = registers->mxcsr >> 13 & 3;
  const uint32_t imm8 = registers->imm8 & 4 ? mxcsr : registers->imm8 & 3;
  switch (row->rounding) {
  case MPNUM_ROUND_MXCSR_: return (int)(x86 >> 2 * mxcsr & 3);
  case MPNUM_ROUND_IMM8_: return (int)(x86 >> 2 * imm8 & 3);
  case MPNUM_ROUND_FPCR_: return (int)(arm >> 2 * (registers->fpcr >> 22 & 3) & 3);
  case MPNUM_ROUND_MODE_: return (int)(arm >> 2 * (registers->mode >> 2 & 3) & 3);
  case MPNUM_ROUND_FRM_:
    return registers->frm > 4 ? -1 : (int)(riscv >> 4 * registers->frm & 15);
  default: return row->rounding;
  }
}

MPNUM_MATH_ mpnum_status mpnum_instruction_how_of_(mpnum_instruction_how_ *how,
                                                   const mpnum_instruction_row_ *row,
                                                   const mpnum_registers_ *registers) {
  const int is_second = (row->flags & MPNUM_IS_SECOND_) != 0;
  const int is_widening = (row->flags & MPNUM_IS_WIDENING_) != 0;
  const uint64_t fpmr = registers->fpmr;
  how->source = row->source;
  how->target = row->target;
  how->nans = row->nans;
  how->scale = 0;
  if (how->nans == MPNUM_NANS_PAYLOAD_ && row->flags & MPNUM_FLUSH_BY_FPCR_ &&
      registers->fpcr >> 25 & 1)
    how->nans = MPNUM_NANS_QUIET_;
  if (row->flags & MPNUM_SCALE_FPMR_) {
    const uint32_t type = (uint32_t)(fpmr >> (is_widening ? (is_second ? 3 : 0) : 6)) & 7;
    const int fp8 = type ? MPNUM_TYPE_E4M3 : MPNUM_TYPE_E5M2;
    if (type > 1) return MPNUM_ERROR_TYPE;
    if (is_widening) {
      const uint32_t mask = row->target == MPNUM_TYPE_F16 ? 0xf : 0x3f;
      how->source = fp8;
      how->scale = -(int)((uint32_t)(fpmr >> (is_second ? 32 : 16)) & mask);
    } else {
      const uint32_t sign = row->source == MPNUM_TYPE_F16 ? 0x10 : 0x80;
      const uint32_t field = (uint32_t)(fpmr >> 24) & (2 * sign - 1);
      how->target = fp8;
      how->scale = (int)(field ^ sign) - (int)sign;
    }
  }
  how->format = mpnum_format_of((mpnum_type)how->target);
  how->rounding = mpnum_instruction_rounding_(row, registers);
  return how->rounding < 0 ? MPNUM_ERROR_ARGUMENT : MPNUM_OK;
}

/* The random word of element i, left-aligned. */
MPNUM_MATH_ uint32_t mpnum_instruction_random_(const mpnum_instruction_row_ *row,
                                               mpnum_format format, uint32_t random,
                                               int i) {
  if (row->flags & MPNUM_IS_BIASED_) return random << 24;
  if (row->flags & MPNUM_IS_REVERSED_) return mpnum_ptx_random_(row, random, i);
  for (; i > 0; --i) /* V_PRNG_B32 */
    random = random << 1 ^ (random >> 31 ? 197u : 0u);
  return random >> (9 + format.mantissa_bits) << (9 + format.mantissa_bits);
}

/* The code of an element. */
MPNUM_MATH_ uint64_t mpnum_instruction_result_(const mpnum_instruction_how_ *how,
                                               const mpnum_instruction_row_ *row,
                                               const mpnum_registers_ *registers,
                                               uint64_t value, uint32_t random) {
  const mpnum_format format = how->format;
  const int is_inf = (value & ~((uint64_t)1 << 63)) == MPNUM_F64_INF_;
  const uint32_t flags = row->flags;
  const int saturates =
      flags & MPNUM_IS_SAT_ ||
      (flags & MPNUM_SAT_BY_FPMR_ && registers->fpmr >> 15 & 1) ||
      (flags & MPNUM_SAT_BY_MODE_ && registers->mode >> 23 & 1 && !is_inf);
  const uint64_t sign = (uint64_t)1 << (format.exponent_bits + format.mantissa_bits);
  const mpnum_rounding rounding = (mpnum_rounding)how->rounding;
  uint64_t code = 0;
  if (flags & MPNUM_IS_RELU_ && value >> 63) return 0;
  if (flags & MPNUM_IS_UNIT_) value = mpnum_unit_(value);
  if (flags & MPNUM_IS_INTEGRAL_) value = mpnum_integral_(value, how->rounding);
  if (how->target == MPNUM_TYPE_F64) return value;
  if (how->target == MPNUM_TYPE_S2F6_) return mpnum_fixed_code_(value, rounding);
  if (flags & MPNUM_FLUSHES_ && how->source == MPNUM_TYPE_F64 &&
      mpnum_is_tiny_f32_(format, value, rounding))
    value &= (uint64_t)1 << 63;
  code = mpnum_instruction_code_(
      format, value, rounding, saturates ? MPNUM_OVERFLOW_SATURATE : MPNUM_OVERFLOW_IEEE,
      random);
  if (flags & MPNUM_NAN_OF_INF_ && mpnum_code_isnan_(format, (uint32_t)code))
    code = format.nan_code;
  if (flags & MPNUM_IS_PZO_ && code == sign << format.storage_shift) code = 0;
  return code;
}

/* All elements, by way of words of its own. */
MPNUM_MATH_ mpnum_status mpnum_instruction_run_(const mpnum_instruction_row_ *row,
                                                uint32_t *dst, const uint32_t *src,
                                                uint32_t random,
                                                const mpnum_registers_ *registers) {
  const uint32_t lanes = row->lanes;
  const int are_words = row->source_slot >= 32;
  const uint32_t words = (lanes * row->target_slot + 31) / 32;
  const uint32_t *const scales = src + (lanes * row->source_slot + 31) / 32;
  uint32_t result[32];
  uint32_t i = 0;
  mpnum_instruction_how_ how;
  const mpnum_status status = mpnum_instruction_how_of_(&how, row, registers);
  if (status != MPNUM_OK) return status;
  if (row->flags & MPNUM_SCALE_F32_) {
    const int exponent = (int)(*scales >> 23 & 0xff) - 127;
    if (exponent == 128) return MPNUM_ERROR_ARGUMENT;
    how.scale = row->source_slot < row->target_slot ? exponent : -exponent;
  }
  for (i = 0; i < words; ++i)
    result[i] = 0;
  for (i = 0; i < lanes; ++i) {
    const uint32_t reversed =
        row->flags & MPNUM_IS_REVERSED_ && are_words ? lanes - 1 - i : i;
    const uint32_t from =
        row->flags & MPNUM_IS_INTERLEAVED_ ? (i & 1) * (lanes / 2) + i / 2 : reversed;
    uint64_t value = mpnum_instruction_value_(
        how.source, mpnum_slot_(src, from * row->source_slot, row->source_slot));
    int scale = how.scale;
    int is_nan = (value & ~((uint64_t)1 << 63)) > MPNUM_F64_INF_;
    uint64_t code = 0;
    if (row->flags & (MPNUM_SCALE_BYTES_ | MPNUM_SCALE_BYTE_)) {
      const uint32_t byte =
          *scales >> (row->flags & MPNUM_SCALE_BYTE_ ? 0 : 8 * i) & 0xff;
      scale = row->source_slot < row->target_slot ? (int)byte - 127 : 127 - (int)byte;
      is_nan |= byte == 0xff;
    }
    if (is_nan && row->flags & MPNUM_IS_UNIT_) {
      value = 0;
      is_nan = 0;
    }
    if (is_nan && how.nans == MPNUM_NANS_OPEN_) return MPNUM_ERROR_NONFINITE;
    if (is_nan) {
      code = mpnum_instruction_nan_(how.nans, how.target, how.format, value);
    } else {
      const uint64_t flushed = mpnum_instruction_flushed_(row, value, registers);
      if (row->flags & MPNUM_SCALE_BYTE_ && value != flushed && value >> 63 &&
          !(row->flags & (MPNUM_IS_RELU_ | MPNUM_IS_PZO_)) && how.format.sign_bits)
        return MPNUM_ERROR_ARGUMENT; /* the sign of its zero */
      value = mpnum_instruction_scaled_(flushed, scale);
      code = mpnum_instruction_result_(
          &how, row, registers, value,
          how.rounding == MPNUM_ROUND_STOCHASTIC
              ? mpnum_instruction_random_(row, how.format, random, (int)i)
              : 0);
    }
    mpnum_set_slot_(result, i * row->target_slot, row->target_slot, code);
  }
  for (i = 0; i < words; ++i)
    dst[i] = result[i];
  return MPNUM_OK;
}

MPNUM_C_END_
#endif
