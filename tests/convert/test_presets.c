/* SPDX-License-Identifier: MIT */
/* Formats of a user's own: which arguments mpnum_format_init takes, and what it makes.
 * Presets: NaN codes and overflow, typed from what the other stacks give. Statuses and
 * type names. */
#include "mpnum/mpnum.h"

#include "../harness/no_type.h"
#include "../harness/tap.h"

#include <math.h>
#include <string.h>

/* mpnum_format_init. */

enum { VIOLATES_WIDTH = 1, VIOLATES_SPECIALS = 2, VIOLATES_RANGE = 4 };

/* The codes of a format by definition, for arguments of valid width. */
typedef struct codes {
  uint32_t max, inf, nan;
} codes;

static codes codes_of(int exponent_bits, int mantissa_bits, int specials) {
  const uint32_t ones = (UINT32_C(1) << (exponent_bits + mantissa_bits)) - 1;
  const uint32_t infinity = ones >> mantissa_bits << mantissa_bits;
  codes result = {ones, 0, 0}; /* finite: every code is a number */
  switch (specials) {
  case MPNUM_SPECIALS_IEEE: {
    const codes ieee = {infinity - 1, infinity, ones};
    return ieee;
  }
  case MPNUM_SPECIALS_FN: {
    const codes fn = {ones - 1, 0, ones};
    return fn;
  }
  case MPNUM_SPECIALS_FNUZ: result.nan = ones + 1; return result;
  case MPNUM_SPECIALS_P3109: {
    const codes p3109 = {ones - 1, ones, ones + 1};
    return p3109;
  }
  default: return result;
  }
}

static double value_of(int mantissa_bits, int bias, uint32_t code) {
  const int field = (int)(code >> mantissa_bits);
  const double fraction =
      ldexp((double)(code & ((1u << mantissa_bits) - 1)), -mantissa_bits);
  return field ? ldexp(1 + fraction, field - bias) : ldexp(fraction, 1 - bias);
}

/* Everything that is wrong with the arguments. */
static int violations(int sign_bits, int exponent_bits, int mantissa_bits, int bias,
                      int specials) {
  const int width = sign_bits + exponent_bits + mantissa_bits;
  int result = 0;
  codes c;
  if (sign_bits < 0 || sign_bits > 1 || exponent_bits < 1 || exponent_bits > 8 ||
      mantissa_bits < 0 || width < 2 || width > 16)
    return VIOLATES_WIDTH;
  if (specials < 0 || specials > MPNUM_SPECIALS_P3109) return VIOLATES_SPECIALS;
  if (sign_bits == 0 &&
      (specials == MPNUM_SPECIALS_FNUZ || specials == MPNUM_SPECIALS_P3109))
    return VIOLATES_SPECIALS; /* no room for their NaN */
  if (specials == MPNUM_SPECIALS_IEEE && (exponent_bits < 2 || mantissa_bits < 1))
    return VIOLATES_SPECIALS;
  c = codes_of(exponent_bits, mantissa_bits, specials);
  if (c.max >> mantissa_bits == 0) result |= VIOLATES_SPECIALS; /* no normal number */
  if (value_of(mantissa_bits, bias, c.max) > 0x1.fffffep127) result |= VIOLATES_RANGE;
  if (ldexp(1, 1 - bias) < 0x1p-126 || ldexp(1, 1 - bias) > 0x1p127)
    result |= VIOLATES_RANGE;
  if (ldexp(1, 1 - bias - mantissa_bits) < 0x1p-149) result |= VIOLATES_RANGE;
  return result;
}

static int violation_of(mpnum_status status) {
  return status == MPNUM_ERROR_WIDTH      ? VIOLATES_WIDTH
         : status == MPNUM_ERROR_SPECIALS ? VIOLATES_SPECIALS
         : status == MPNUM_ERROR_RANGE    ? VIOLATES_RANGE
                                          : 0;
}

/* The value of a finite, non-negative float, taken from its bits: a processor that is set
 * to flush subnormals would read them as zero. */
static double float_value(float x) {
  const uint32_t bits = mpnum_bits_f32(x);
  const int field = (int)(bits >> 23);
  const double mantissa = (double)(bits & 0x7fffff);
  return field ? ldexp(mantissa + 0x1p23, field - 150) : ldexp(mantissa, -149);
}

/* The value of a code, decoded to f64 and to f32. */
static void check_value(const mpnum_format *format, uint32_t code) {
  const double want = value_of(format->mantissa_bits, format->bias, code);
  const double f64 = mpnum_decode_f64(*format, code);
  const double f32 = float_value(mpnum_decode(*format, code));
  CHECK(mpnum_bits_f64(f64) == mpnum_bits_f64(want) &&
            mpnum_bits_f64(f32) == mpnum_bits_f64(want),
        "%d.%d.%d bias %d, code %x: %a, to f32 %a, want %a", format->sign_bits,
        format->exponent_bits, format->mantissa_bits, format->bias, code, f64, f32, want);
}

static void check_made(const mpnum_format *format, int sign_bits, int exponent_bits,
                       int mantissa_bits, int bias, int specials) {
  const codes want = codes_of(exponent_bits, mantissa_bits, specials);
  const uint32_t normal = UINT32_C(1) << mantissa_bits;
  const int signed_zero =
      sign_bits && specials != MPNUM_SPECIALS_FNUZ && specials != MPNUM_SPECIALS_P3109;
  CHECK(format->sign_bits == sign_bits && format->exponent_bits == exponent_bits &&
            format->mantissa_bits == mantissa_bits && format->bias == bias &&
            format->storage_shift == 0 && format->has_zero == 1 &&
            format->has_negative_zero == signed_zero &&
            format->nan_policy == MPNUM_NAN_CANONICAL,
        "fields of %d.%d.%d bias %d specials %d", sign_bits, exponent_bits, mantissa_bits,
        bias, specials);
  CHECK(format->max_code == want.max && format->inf_code == want.inf &&
            format->nan_code == want.nan,
        "codes of %d.%d.%d specials %d: %x %x %x", sign_bits, exponent_bits,
        mantissa_bits, specials, format->max_code, format->inf_code, format->nan_code);
  check_value(format, 0);
  check_value(format, 1);          /* the least, subnormal or not */
  check_value(format, normal / 2); /* a subnormal of one bit */
  check_value(format, normal - 1); /* the largest subnormal, or 0 */
  check_value(format, normal);     /* the smallest normal */
  check_value(format, want.max);
}

static int ok_count;

static void check_make(int sign_bits, int exponent_bits, int mantissa_bits, int bias,
                       int specials) {
  const int wrong = violations(sign_bits, exponent_bits, mantissa_bits, bias, specials);
  mpnum_format format, untouched;
  mpnum_status status;
  memset(&format, 0xa5, sizeof format);
  memset(&untouched, 0xa5, sizeof untouched);
  status = mpnum_format_init(&format, sign_bits, exponent_bits, mantissa_bits, bias,
                             (mpnum_specials)specials);
  if (status == MPNUM_OK) {
    ++ok_count;
    CHECK(wrong == 0, "%d.%d.%d bias %d specials %d: made", sign_bits, exponent_bits,
          mantissa_bits, bias, specials);
    if (wrong == 0)
      check_made(&format, sign_bits, exponent_bits, mantissa_bits, bias, specials);
  } else {
    CHECK(wrong & violation_of(status), "%d.%d.%d bias %d specials %d: status %d (%s)",
          sign_bits, exponent_bits, mantissa_bits, bias, specials, (int)status,
          mpnum_status_string(status));
    CHECK(memcmp(&format, &untouched, sizeof format) == 0,
          "%d.%d.%d bias %d specials %d: written to on failure", sign_bits, exponent_bits,
          mantissa_bits, bias, specials);
  }
}

static void format_make_takes_exactly_what_a_float_holds(void) {
  int sign_bits = 0, exponent_bits = 0, mantissa_bits = 0, bias = 0, specials = 0;
  ok_count = 0;
  for (sign_bits = -1; sign_bits <= 2; ++sign_bits)
    for (exponent_bits = -1; exponent_bits <= 10; ++exponent_bits)
      for (mantissa_bits = -1; mantissa_bits <= 17; ++mantissa_bits)
        for (specials = 0; specials <= 7; ++specials)
          for (bias = -135; bias <= 135; ++bias)
            check_make(sign_bits, exponent_bits, mantissa_bits, bias, specials);
  CHECK(ok_count > 10000, "%d formats made", ok_count);
}

static void format_make_refuses_huge_arguments(void) {
  static const int huge[] = {-2147483647 - 1, -65536, -129, 129, 65535, 2147483647};
  size_t i = 0;
  for (i = 0; i < sizeof huge / sizeof *huge; ++i) {
    mpnum_format format, untouched;
    memset(&format, 0xa5, sizeof format);
    memset(&untouched, 0xa5, sizeof untouched);
    CHECK(mpnum_format_init(&format, huge[i], 4, 3, 7, MPNUM_SPECIALS_IEEE) ==
              MPNUM_ERROR_WIDTH,
          "sign bits %d", huge[i]);
    CHECK(mpnum_format_init(&format, 1, huge[i], 3, 7, MPNUM_SPECIALS_IEEE) ==
              MPNUM_ERROR_WIDTH,
          "exponent bits %d", huge[i]);
    CHECK(mpnum_format_init(&format, 1, 4, huge[i], 7, MPNUM_SPECIALS_IEEE) ==
              MPNUM_ERROR_WIDTH,
          "mantissa bits %d", huge[i]);
    CHECK(mpnum_format_init(&format, 1, 4, 3, huge[i], MPNUM_SPECIALS_IEEE) ==
              MPNUM_ERROR_RANGE,
          "bias %d", huge[i]);
    CHECK(memcmp(&format, &untouched, sizeof format) == 0, "written to on failure");
  }
}

static int same_format(mpnum_format a, mpnum_format b) {
  return a.max_code == b.max_code && a.inf_code == b.inf_code &&
         a.nan_code == b.nan_code && a.bias == b.bias && a.sign_bits == b.sign_bits &&
         a.exponent_bits == b.exponent_bits && a.mantissa_bits == b.mantissa_bits &&
         a.storage_shift == b.storage_shift && a.has_zero == b.has_zero &&
         a.has_negative_zero == b.has_negative_zero && a.nan_policy == b.nan_policy;
}

static void format_make_makes_the_named_formats(void) {
  static const struct {
    mpnum_type type;
    int exponent_bits, mantissa_bits, bias;
    mpnum_specials specials;
  } rows[] = {
      {MPNUM_TYPE_F16, 5, 10, 15, MPNUM_SPECIALS_IEEE},
      {MPNUM_TYPE_BF16, 8, 7, 127, MPNUM_SPECIALS_IEEE},
      {MPNUM_TYPE_E5M2, 5, 2, 15, MPNUM_SPECIALS_IEEE},
      {MPNUM_TYPE_E4M3, 4, 3, 7, MPNUM_SPECIALS_FN},
      {MPNUM_TYPE_E5M2FNUZ, 5, 2, 16, MPNUM_SPECIALS_FNUZ},
      {MPNUM_TYPE_E4M3FNUZ, 4, 3, 8, MPNUM_SPECIALS_FNUZ},
      {MPNUM_TYPE_E3M4, 3, 4, 3, MPNUM_SPECIALS_IEEE},
      {MPNUM_TYPE_E3M2, 3, 2, 3, MPNUM_SPECIALS_FINITE},
      {MPNUM_TYPE_E2M3, 2, 3, 1, MPNUM_SPECIALS_FINITE},
      {MPNUM_TYPE_E2M1, 2, 1, 1, MPNUM_SPECIALS_FINITE},
  };
  size_t i = 0;
  for (i = 0; i < sizeof rows / sizeof *rows; ++i) {
    mpnum_format format = mpnum_format_of(MPNUM_TYPE_F32);
    const mpnum_status status =
        mpnum_format_init(&format, 1, rows[i].exponent_bits, rows[i].mantissa_bits,
                          rows[i].bias, rows[i].specials);
    CHECK(status == MPNUM_OK, "%s: status %d", mpnum_type_name(rows[i].type),
          (int)status);
    if (rows[i].type == MPNUM_TYPE_E3M4) format.nan_code = 0x78; /* not all ones here */
    CHECK(same_format(format, mpnum_format_of(rows[i].type)), "%s differs",
          mpnum_type_name(rows[i].type));
  }
}

/* From the lowest number next_up visits every number once, in rising order, and stays at
 * the last; next_down visits them backwards and stays at the lowest. */
static void check_walk(int sign_bits, int exponent_bits, int mantissa_bits, int bias,
                       mpnum_specials specials) {
  mpnum_format format = mpnum_format_of(MPNUM_TYPE_F16);
  const codes c = codes_of(exponent_bits, mantissa_bits, (int)specials);
  const uint32_t top = c.inf ? c.inf : c.max;
  const uint32_t sign = UINT32_C(1) << (exponent_bits + mantissa_bits);
  const uint32_t lowest = sign_bits ? sign | top : 0;
  const uint32_t steps = sign_bits ? 2 * top : top;
  uint32_t code = lowest, i = 0;
  CHECK(mpnum_format_init(&format, sign_bits, exponent_bits, mantissa_bits, bias,
                          specials) == MPNUM_OK,
        "%d.%d.%d specials %d: not made", sign_bits, exponent_bits, mantissa_bits,
        (int)specials);
  CHECK(mpnum_next_down(format, lowest) == lowest, "%d.%d.%d: below the lowest is %x",
        sign_bits, exponent_bits, mantissa_bits, mpnum_next_down(format, lowest));
  for (i = 0; i < steps; ++i) {
    const uint32_t next = mpnum_next_up(format, code);
    CHECK(mpnum_decode_f64(format, next) > mpnum_decode_f64(format, code),
          "%d.%d.%d specials %d: %x follows %x", sign_bits, exponent_bits, mantissa_bits,
          (int)specials, next, code);
    /* On the way back a zero is +0, so compare places, not codes. */
    CHECK(mpnum_compare(format, mpnum_next_down(format, next), code) == 0,
          "%d.%d.%d specials %d: %x precedes %x", sign_bits, exponent_bits, mantissa_bits,
          (int)specials, mpnum_next_down(format, next), next);
    code = next;
  }
  CHECK(code == top && mpnum_next_up(format, top) == top,
        "%d.%d.%d specials %d: the last is %x", sign_bits, exponent_bits, mantissa_bits,
        (int)specials, code);
}

static void neighbours_walk_through_made_formats(void) {
  check_walk(0, 4, 4, 7, MPNUM_SPECIALS_FN);
  check_walk(0, 4, 4, 7, MPNUM_SPECIALS_IEEE);
  check_walk(0, 8, 0, 127, MPNUM_SPECIALS_FN); /* e8m0's bits with a zero */
  check_walk(0, 2, 2, 1, MPNUM_SPECIALS_FINITE);
  check_walk(1, 4, 3, 8, MPNUM_SPECIALS_P3109);
  check_walk(1, 1, 3, 1, MPNUM_SPECIALS_FNUZ);
  check_walk(1, 7, 8, 63, MPNUM_SPECIALS_FN);
  check_walk(1, 5, 10, 15, MPNUM_SPECIALS_FINITE);
}

/* A signed 8-bit P3109 format, precision 4: its published corner codes. */
static void p3109_has_one_nan_and_infinities_beside_max(void) {
  mpnum_format format;
  CHECK(mpnum_format_init(&format, 1, 4, 3, 8, MPNUM_SPECIALS_P3109) == MPNUM_OK, "made");
  CHECK(mpnum_decode_f64(format, 0x7e) > 223.5 && mpnum_decode_f64(format, 0x7e) < 224.5,
        "max is 224");
  CHECK(mpnum_isinf(format, 0x7f) && mpnum_isinf(format, 0xff), "7f and ff are Inf");
  CHECK(mpnum_isnan(format, 0x80), "80 is NaN");
  CHECK(mpnum_encode(format, -0.0f, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0) ==
            0,
        "-0 becomes 0");
  CHECK(mpnum_encode(format, 1000.0f, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0) ==
            0x7f,
        "1000 becomes Inf");
  CHECK(mpnum_encode(format, -1000.0f, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE,
                     0) == 0xfe,
        "-1000 saturates");
}

/* Presets. */

/* What a preset makes of the quiet NaNs 7fc00000 and ffc00000, of the signalling
 * ffa12345 and of 1e39 (overflow in every type but e8m0 and those of f32's range). */
typedef struct preset_row {
  mpnum_preset preset;
  mpnum_type type;
  uint32_t nan, negative_nan, payload_nan;
  mpnum_overflow overflow;
} preset_row;

#define CUDA         MPNUM_PRESET_CUDA
#define ML_DTYPES    MPNUM_PRESET_ML_DTYPES
#define PYTORCH_2_11 MPNUM_PRESET_PYTORCH_2_11
#define F16C         MPNUM_PRESET_F16C
#define IEEE         MPNUM_OVERFLOW_IEEE
#define SATURATE     MPNUM_OVERFLOW_SATURATE

/* clang-format off */
static const preset_row preset_rows[] = {
  {CUDA, MPNUM_TYPE_F16,      0x7fff, 0x7fff, 0x7fff, IEEE},
  {CUDA, MPNUM_TYPE_BF16,     0x7fff, 0x7fff, 0x7fff, IEEE},
  {CUDA, MPNUM_TYPE_TF32,     0x7fffe000, 0x7fffe000, 0x7fffe000, IEEE},
  {CUDA, MPNUM_TYPE_E5M2,     0x7f, 0x7f, 0x7f, SATURATE},
  {CUDA, MPNUM_TYPE_E4M3,     0x7f, 0x7f, 0x7f, SATURATE},
  {CUDA, MPNUM_TYPE_E3M2,     0x1f, 0x1f, 0x1f, SATURATE},
  {CUDA, MPNUM_TYPE_E2M3,     0x1f, 0x1f, 0x1f, SATURATE},
  {CUDA, MPNUM_TYPE_E2M1,     0x07, 0x07, 0x07, SATURATE},
  {ML_DTYPES, MPNUM_TYPE_F16,      0x7e00, 0xfe00, 0xfe00, IEEE},
  {ML_DTYPES, MPNUM_TYPE_BF16,     0x7fc0, 0xffc0, 0xffc0, IEEE},
  {ML_DTYPES, MPNUM_TYPE_E5M2,     0x7e, 0xfe, 0xfe, IEEE},
  {ML_DTYPES, MPNUM_TYPE_E4M3,     0x7f, 0xff, 0xff, IEEE},
  {ML_DTYPES, MPNUM_TYPE_E5M2FNUZ, 0x80, 0x80, 0x80, IEEE},
  {ML_DTYPES, MPNUM_TYPE_E4M3FNUZ, 0x80, 0x80, 0x80, IEEE},
  {ML_DTYPES, MPNUM_TYPE_E3M4,     0x78, 0xf8, 0xf8, IEEE},
  /* No NaN: a zero of the other sign. */
  {ML_DTYPES, MPNUM_TYPE_E3M2,     0x20, 0x00, 0x00, IEEE},
  {ML_DTYPES, MPNUM_TYPE_E2M3,     0x20, 0x00, 0x00, IEEE},
  {ML_DTYPES, MPNUM_TYPE_E2M1,     0x08, 0x00, 0x00, IEEE},
  {PYTORCH_2_11, MPNUM_TYPE_F16,      0x7e00, 0xfe00, 0xfe00, IEEE},
  {PYTORCH_2_11, MPNUM_TYPE_BF16,     0x7fc0, 0x7fc0, 0x7fc0, IEEE},
  {PYTORCH_2_11, MPNUM_TYPE_E5M2,     0x7f, 0xff, 0xff, IEEE},
  {PYTORCH_2_11, MPNUM_TYPE_E4M3,     0x7f, 0xff, 0xff, IEEE},
  {PYTORCH_2_11, MPNUM_TYPE_E5M2FNUZ, 0x80, 0x80, 0x80, IEEE},
  {PYTORCH_2_11, MPNUM_TYPE_E4M3FNUZ, 0x80, 0x80, 0x80, IEEE},
  /* ffa12345: mantissa 212345, its leading bits after the quiet bit kept. */
  {F16C, MPNUM_TYPE_F16,      0x7e00, 0xfe00, 0xff09, IEEE},
  {F16C, MPNUM_TYPE_BF16,     0x7fc0, 0xffc0, 0xffe1, IEEE},
  {F16C, MPNUM_TYPE_TF32,     0x7fc00000, 0xffc00000, 0xffe12000, IEEE},
  {F16C, MPNUM_TYPE_E5M2,     0x7e, 0xfe, 0xff, IEEE},
  {F16C, MPNUM_TYPE_E3M4,     0x78, 0xf8, 0xfc, IEEE},
  {F16C, MPNUM_TYPE_E3M2,     0x1f, 0x1f, 0x1f, IEEE}, /* unknown there */
};
/* clang-format on */

static void preset_nan_codes_are_those_of_the_stacks(void) {
  size_t i = 0;
  for (i = 0; i < sizeof preset_rows / sizeof *preset_rows; ++i) {
    static const uint32_t f32[3] = {0x7fc00000, 0xffc00000, 0xffa12345};
    static const uint64_t f64[3] = {UINT64_C(0x7ff8000000000000),
                                    UINT64_C(0xfff8000000000000),
                                    UINT64_C(0xfff42468a0000000)};
    const preset_row *const row = &preset_rows[i];
    const uint32_t want[3] = {row->nan, row->negative_nan, row->payload_nan};
    const mpnum_format format = mpnum_preset_format(row->preset, row->type);
    int source = 0, rounding = 0;
    for (source = 0; source < 3; ++source)
      for (rounding = 0; rounding <= MPNUM_ROUND_STOCHASTIC; ++rounding) {
        const uint32_t from_f32 =
            mpnum_encode(format, mpnum_from_bits_f32(f32[source]),
                         (mpnum_rounding)rounding, row->overflow, 0xffffffff);
        const uint32_t from_f64 =
            mpnum_encode_f64(format, mpnum_from_bits_f64(f64[source]),
                             (mpnum_rounding)rounding, row->overflow, 0xffffffff);
        CHECK(from_f32 == want[source], "preset %d, %s of %08x: got %x, want %x",
              (int)row->preset, mpnum_type_name(row->type), f32[source], from_f32,
              want[source]);
        CHECK(from_f64 == want[source], "preset %d, %s of %016llx: got %x, want %x",
              (int)row->preset, mpnum_type_name(row->type),
              (unsigned long long)f64[source], from_f64, want[source]);
      }
  }
}

static void presets_overflow_as_the_stacks(void) {
  size_t i = 0;
  for (i = 0; i < sizeof preset_rows / sizeof *preset_rows; ++i) {
    const preset_row *const row = &preset_rows[i];
    CHECK(mpnum_preset_overflow(row->preset, row->type) == row->overflow, "preset %d, %s",
          (int)row->preset, mpnum_type_name(row->type));
  }
}

/* A preset is the format with other NaN fields: nothing else differs. */
static void presets_differ_from_the_formats_in_nan_only(void) {
  int preset = 0, type = 0;
  for (preset = MPNUM_PRESET_CUDA; preset <= MPNUM_PRESET_F16C; ++preset)
    for (type = MPNUM_TYPE_F32; type <= (int)LAST_TYPE; ++type) {
      const mpnum_format plain = mpnum_format_of((mpnum_type)type);
      mpnum_format format = mpnum_preset_format((mpnum_preset)preset, (mpnum_type)type);
      const int is_plain = same_format(format, plain);
      format.nan_code = plain.nan_code;
      format.nan_policy = plain.nan_policy;
      CHECK(same_format(format, plain), "preset %d of %s", preset,
            mpnum_type_name((mpnum_type)type));
      CHECK(is_plain || (preset != MPNUM_PRESET_CUDA && type != MPNUM_TYPE_E8M0 &&
                         (plain.nan_code || preset == MPNUM_PRESET_ML_DTYPES)),
            "preset %d of %s is not the plain format", preset,
            mpnum_type_name((mpnum_type)type));
    }
}

/* A format without NaN, as the alternative f16 of ARM: a NaN is the largest value, and
 * keeps its sign where that is asked for. */
static void nan_keeps_its_sign_in_a_format_without(void) {
  static const uint32_t want[][2] = {{0x7fff, 0x7fff}, /* canonical */
                                     {0x7fff, 0xffff}, /* sign */
                                     {0x7fff, 0xffff}, /* payload */
                                     {0x8000, 0x0000}};
  mpnum_format format;
  CHECK(mpnum_format_init(&format, 1, 5, 10, 15, MPNUM_SPECIALS_FINITE) == MPNUM_OK,
        "made");
  for (int policy = MPNUM_NAN_CANONICAL; policy <= MPNUM_NAN_ZERO; ++policy)
    for (uint32_t sign = 0; sign < 2; ++sign) {
      uint32_t code = 0;
      format.nan_policy = (uint8_t)policy;
      code = mpnum_encode(format, mpnum_from_bits_f32(sign << 31 | 0x7fc12345),
                          MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
      CHECK(code == want[policy][sign], "policy %d, sign %u: got %x", policy, sign, code);
      CHECK(mpnum_bits_f32(mpnum_decode(format, 0x8000)) == 0x80000000u, "policy %d: -0",
            policy);
    }
  CHECK(mpnum_format_init(&format, 0, 2, 2, 1, MPNUM_SPECIALS_FINITE) == MPNUM_OK,
        "made");
  format.nan_policy = MPNUM_NAN_ZERO;
  CHECK(mpnum_encode(format, mpnum_from_bits_f32(0xffc00000u), MPNUM_ROUND_NEAREST_EVEN,
                     MPNUM_OVERFLOW_IEEE, 0) == 0,
        "without a sign there is one zero");
}

/* Names, statuses, types that are none. */

/* 0 to 21 and 32 to 43 are statuses, the numbers between and behind them are none. */
static void status_strings_are_distinct(void) {
  const char *const unknown = mpnum_status_string((mpnum_status)22);
  int a = 0, b = 0;
  CHECK(strcmp(unknown, "unknown status") == 0, "22: %s", unknown);
  for (a = MPNUM_OK; a <= MPNUM_ERROR_NORM_UNKNOWN + 1; ++a) {
    const int is_none = (a > MPNUM_ERROR_INIT_SCALE && a < MPNUM_ERROR_ALREADY_CHECKED) ||
                        a > MPNUM_ERROR_NORM_UNKNOWN;
    const char *const text = mpnum_status_string((mpnum_status)a);
    CHECK(text[0] && (strcmp(text, unknown) == 0) == is_none, "status %d: %s", a, text);
    for (b = MPNUM_OK; b < a && !is_none; ++b)
      CHECK(strcmp(text, mpnum_status_string((mpnum_status)b)) != 0,
            "statuses %d and %d have the same text", a, b);
  }
}

static void types_have_their_names(void) {
  static const char *const names[] = {
      "f64",      "f32",  "tf32", "bf16", "f16",  "e5m2", "e4m3",  "e5m2fnuz",
      "e4m3fnuz", "e3m4", "e8m0", "e3m2", "e2m3", "e2m1", "ue5m3", "ue4m3"};
  int i = 0;
  CHECK(sizeof names / sizeof *names == (size_t)LAST_TYPE,
        "names[] of types_have_their_names wants the name of type %d", (int)LAST_TYPE);
  for (i = 0; i < (int)(sizeof names / sizeof *names); ++i) {
    const char *const name = mpnum_type_name((mpnum_type)(MPNUM_TYPE_F64 + i));
    CHECK(name && strcmp(name, names[i]) == 0, "type %d is %s, want %s",
          MPNUM_TYPE_F64 + i, name ? name : "none", names[i]);
  }
}

static void unknown_types_have_no_name_and_no_format(void) {
  static const int unknown[] = {0, NO_TYPE};
  mpnum_format none;
  size_t i = 0;
  memset(&none, 0, sizeof none);
  for (i = 0; i < sizeof unknown / sizeof *unknown; ++i) {
    const mpnum_type type = (mpnum_type)unknown[i];
    CHECK(mpnum_type_name(type) == NULL, "type %d has a name", unknown[i]);
    CHECK(same_format(mpnum_format_of(type), none), "type %d has a format", unknown[i]);
  }
  CHECK(same_format(mpnum_format_of(MPNUM_TYPE_F64), none), "f64 has a format");
}

static void presets_of_unknown_types_are_no_format(void) {
  static const int unknown[] = {0, MPNUM_TYPE_F64, NO_TYPE};
  mpnum_format none;
  size_t i = 0;
  int preset = 0;
  memset(&none, 0, sizeof none);
  for (i = 0; i < sizeof unknown / sizeof *unknown; ++i)
    for (preset = MPNUM_PRESET_CUDA; preset <= MPNUM_PRESET_F16C; ++preset) {
      const mpnum_type type = (mpnum_type)unknown[i];
      CHECK(same_format(mpnum_preset_format((mpnum_preset)preset, type), none),
            "preset %d of type %d is a format", preset, unknown[i]);
      CHECK(mpnum_preset_overflow((mpnum_preset)preset, type) == IEEE,
            "preset %d of type %d saturates", preset, unknown[i]);
    }
}

int main(void) {
  TAP_RUN(format_make_takes_exactly_what_a_float_holds);
  TAP_RUN(format_make_refuses_huge_arguments);
  TAP_RUN(format_make_makes_the_named_formats);
  TAP_RUN(neighbours_walk_through_made_formats);
  TAP_RUN(p3109_has_one_nan_and_infinities_beside_max);
  TAP_RUN(preset_nan_codes_are_those_of_the_stacks);
  TAP_RUN(presets_overflow_as_the_stacks);
  TAP_RUN(presets_differ_from_the_formats_in_nan_only);
  TAP_RUN(nan_keeps_its_sign_in_a_format_without);
  TAP_RUN(status_strings_are_distinct);
  TAP_RUN(types_have_their_names);
  TAP_RUN(unknown_types_have_no_name_and_no_format);
  TAP_RUN(presets_of_unknown_types_are_no_format);
  return tap_done();
}
