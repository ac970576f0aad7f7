/* SPDX-License-Identifier: MIT */
/* mpnum_round_array and mpnum_convert_array_formats, with every instruction set: each
 * type, formats of a user's own, odd ones among them, and presets, in each rounding mode
 * with both overflow rules, against mpnum_encode and mpnum_decode. */
#include "array_checks.h"
#include "../harness/no_type.h"
#include "../convert/conversion_types.h"

#include <mpnum/types/preset.h>
#include <mpnum/core/rng.h>

#include <math.h>

enum { FORMATS = 120 };
typedef struct named_format {
  char name[60];
  mpnum_format format;
} named_format;
static named_format formats[FORMATS];
static size_t format_count;

static const uint64_t seed = 99, offset = 77;

static void add_format(mpnum_format format, const char *name) {
  if (format_count == FORMATS) abort();
  formats[format_count].format = format;
  snprintf(formats[format_count].name, sizeof formats[0].name, "%s", name);
  ++format_count;
}

static void add_types_and_presets(void) {
  static const char *const presets[] = {"cuda", "ml_dtypes", "pytorch", "f16c"};
  char name[60];
  for (int type = MPNUM_TYPE_TF32; type <= (int)LAST_TYPE; ++type) {
    add_format(mpnum_format_of((mpnum_type)type), mpnum_type_name((mpnum_type)type));
    for (int preset = MPNUM_PRESET_ML_DTYPES; preset <= MPNUM_PRESET_F16C; ++preset) {
      const mpnum_format format =
          mpnum_preset_format((mpnum_preset)preset, (mpnum_type)type);
      if (format.nan_policy == MPNUM_NAN_CANONICAL) continue; /* the format itself */
      snprintf(name, sizeof name, "%s of %s", mpnum_type_name((mpnum_type)type),
               presets[preset]);
      add_format(format, name);
    }
  }
}

/* Sign, exponent and mantissa bits, bias, specials. Biases so far off that subnormals are
 * those of f32, or that 1 is past the largest value; one exponent bit, no mantissa bit;
 * eight exponent bits beside few of mantissa; 16 bits in all. */
static void add_user_formats(void) {
  static const int numbers[][5] = {
      {1, 8, 1, 127, MPNUM_SPECIALS_IEEE},    {1, 7, 2, 127, MPNUM_SPECIALS_FN},
      {1, 8, 0, 127, MPNUM_SPECIALS_FN},      {0, 8, 3, 127, MPNUM_SPECIALS_IEEE},
      {1, 7, 8, 127, MPNUM_SPECIALS_P3109},   {1, 7, 8, 127, MPNUM_SPECIALS_IEEE},
      {1, 7, 3, 127, MPNUM_SPECIALS_FNUZ},    {1, 4, 3, 127, MPNUM_SPECIALS_FN},
      {1, 5, 10, 126, MPNUM_SPECIALS_IEEE},   {1, 4, 3, 124, MPNUM_SPECIALS_FN},
      {1, 4, 3, 125, MPNUM_SPECIALS_FN},      {1, 4, 3, 100, MPNUM_SPECIALS_FN},
      {1, 4, 3, 99, MPNUM_SPECIALS_FN},       {1, 4, 3, -90, MPNUM_SPECIALS_FN},
      {1, 4, 3, -111, MPNUM_SPECIALS_P3109},  {0, 4, 4, -112, MPNUM_SPECIALS_FINITE},
      {1, 1, 2, -126, MPNUM_SPECIALS_FINITE}, {1, 1, 14, 0, MPNUM_SPECIALS_FINITE},
      {1, 2, 0, 1, MPNUM_SPECIALS_FINITE},    {0, 1, 1, 0, MPNUM_SPECIALS_FINITE},
      {0, 2, 0, 1, MPNUM_SPECIALS_FN},        {0, 8, 8, 127, MPNUM_SPECIALS_IEEE},
      {1, 6, 9, 31, MPNUM_SPECIALS_P3109},    {1, 4, 3, 8, MPNUM_SPECIALS_P3109},
      {1, 5, 2, 16, MPNUM_SPECIALS_P3109},    {1, 3, 4, 4, MPNUM_SPECIALS_P3109},
      {1, 2, 13, 1, MPNUM_SPECIALS_IEEE},     {1, 6, 1, -60, MPNUM_SPECIALS_IEEE},
      {1, 7, 1, 0, MPNUM_SPECIALS_IEEE},      {1, 3, 12, 60, MPNUM_SPECIALS_FNUZ},
      {0, 5, 11, 110, MPNUM_SPECIALS_FN},     {0, 6, 10, 118, MPNUM_SPECIALS_FINITE}};
  char name[60];
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
    const int *n = numbers[i];
    mpnum_format made;
    snprintf(name, sizeof name, "s%de%dm%d bias %d specials %d", n[0], n[1], n[2], n[3],
             n[4]);
    if (mpnum_format_init(&made, n[0], n[1], n[2], n[3], (mpnum_specials)n[4])) {
      tap_error(__FILE__, __LINE__, "%s is refused", name);
      continue;
    }
    add_format(made, name);
    if (i % 4 != 0 && made.nan_code) continue;
    const int keeps_payload = n[4] == MPNUM_SPECIALS_IEEE;
    made.nan_policy = keeps_payload ? MPNUM_NAN_PAYLOAD : MPNUM_NAN_SIGN;
    strcat(name, keeps_payload ? ", payloads" : ", signs");
    add_format(made, name);
    if (made.nan_code) continue;
    made.nan_policy = MPNUM_NAN_ZERO;
    strcat(name, ", zeros");
    add_format(made, name);
  }
}
static void formats_can_be_made(void) {
  add_types_and_presets();
  add_user_formats();
  CHECK(format_count > 60, "%zu formats", format_count);
}

static const named_format *current;
static size_t count;
static uint32_t *src, *want, *got;

/* Where the format's results turn: its values, the midpoints between them, the floats
 * beside; and what every conversion is asked. Of a long list of codes, a part. */
static void fill_inputs(void) {
  const mpnum_format format = current->format;
  const uint32_t step = format.max_code / 1000 + 1;
  input_list list = inputs_of(MPNUM_TYPE_F32, 32, MPNUM_TYPE_E4M3, 300, 4000);
  uint32_t code = 0;
  count = 0;
  src =
      (uint32_t *)allocate((list.count + 12 * (size_t)(format.max_code / step + 2)) * 4);
  for (size_t i = 0; i < list.count; ++i)
    src[count++] = (uint32_t)list.bits[i];
  for (; code < format.max_code; code += step) {
    const uint32_t low =
        bits_of_float(mpnum_decode(format, code << format.storage_shift));
    const uint32_t next =
        bits_of_float(mpnum_decode(format, (code + 1) << format.storage_shift));
    const uint32_t middle = low + (next - low) / 2; /* of f32's places: near, at least */
    for (uint32_t i = 0; i < 12; ++i)
      src[count++] = ((i < 6 ? low : middle) + (i / 2 % 3) - 1) ^ i % 2 << 31;
  }
  want = (uint32_t *)allocate(4 * count);
  got = (uint32_t *)allocate(4 * count);
  free(list.bits);
}

static void round_in_mode(mpnum_rounding rounding, mpnum_overflow overflow) {
  char what[140];
  mpnum_status status;
  snprintf(what, sizeof what, "%s: %.60s, rounding %d, overflow %d",
           mpnum_isa_name(isa_in_use()), current->name, (int)rounding, (int)overflow);
  memset(got, 0xa5, 4 * count);
  status = round_array((float *)(void *)got, (const float *)(const void *)src, count,
                       current->format, rounding, overflow, seed, offset);
  CHECK(status == MPNUM_OK, "%s: status %d", what, (int)status);
  check_elements(what, 32, src, 32, got, want, count);
  memcpy(got, src, 4 * count);
  round_array((float *)(void *)got, (const float *)(const void *)got, count,
              current->format, rounding, overflow, seed, offset);
  check_elements("in place", 32, src, 32, got, want, count);
}

static void is_rounded_to(void) {
  const mpnum_isa before = isa_in_use();
  const mpnum_format format = current->format;
  fill_inputs();
  for (int mode = 0; mode < 2 * REF_ROUNDINGS; ++mode) {
    const mpnum_rounding rounding = (mpnum_rounding)(mode / 2);
    const mpnum_overflow overflow = (mpnum_overflow)(mode % 2);
    for (size_t i = 0; i < count; ++i) {
      const uint32_t random =
          rounding == MPNUM_ROUND_STOCHASTIC ? mpnum_random(seed, offset + i) : 0;
      want[i] = bits_of_float(mpnum_decode(
          format, mpnum_encode(format, float_of(src[i]), rounding, overflow, random)));
    }
    for (size_t i = 0; i < ISAS; ++i)
      if (force_isa(isas[i]) == MPNUM_OK) round_in_mode(rounding, overflow);
  }
  force_isa(before);
  free(src);
  free(want);
  free(got);
}

/* Bits of an element of a format in memory. */
static int memory_bits(mpnum_format format) {
  const int width = format.sign_bits + format.exponent_bits + format.mantissa_bits;
  return width > 16 ? 32 : width > 8 ? 16 : 8;
}

/* n elements of one format to another, any way, against the scalar functions. */
static void check_conversion(mpnum_format target, mpnum_format source,
                             const void *elements, size_t n, mpnum_rounding rounding,
                             mpnum_overflow overflow) {
  const int src_bits = memory_bits(source), dst_bits = memory_bits(target);
  const expectation pair = allocate_expectation(src_bits, dst_bits, n);
  char what[140];
  for (size_t i = 0; i < n; ++i) {
    const uint32_t word = (uint32_t)get_element(src_bits, elements, i);
    const float x = src_bits == 32 && source.mantissa_bits == 23
                        ? float_of(word)
                        : mpnum_decode(source, word);
    const uint32_t random =
        rounding == MPNUM_ROUND_STOCHASTIC ? mpnum_random(seed, offset + i) : 0;
    set_element(dst_bits, pair.want, i,
                target.mantissa_bits == 23
                    ? bits_of_float(x)
                    : mpnum_encode(target, x, rounding, overflow, random));
  }
  for (size_t i = 0; i < ISAS; ++i) {
    if (force_isa(isas[i]) != MPNUM_OK) continue;
    snprintf(what, sizeof what, "%s: %.60s, %d to %d bits, rounding %d, overflow %d",
             mpnum_isa_name(isa_in_use()), current->name, src_bits, dst_bits,
             (int)rounding, (int)overflow);
    memset(pair.got, 0xa5, bytes_of(dst_bits, n));
    CHECK(convert_array_formats(target, pair.got, source, elements, n, rounding, overflow,
                                seed, offset) == MPNUM_OK,
          "%s: status", what);
    check_elements(what, src_bits, elements, dst_bits, pair.got, pair.want, n);
  }
  free_expectation(pair);
}

/* Floats to the format; every code of a byte, of others each eleventh, to floats, to f16
 * with payloads, to bf16 with signs and to e2m1 with zeros for NaN. */
static void converts_both_ways(void) {
  const mpnum_isa before = isa_in_use();
  const mpnum_format format = current->format, f32 = mpnum_format_of(MPNUM_TYPE_F32);
  const mpnum_format narrow[] = {
      mpnum_format_of(MPNUM_TYPE_F16),
      mpnum_preset_format(MPNUM_PRESET_F16C, MPNUM_TYPE_F16),
      mpnum_preset_format(MPNUM_PRESET_ML_DTYPES, MPNUM_TYPE_BF16),
      mpnum_preset_format(MPNUM_PRESET_ML_DTYPES, MPNUM_TYPE_E2M1)};
  const int bits = memory_bits(format);
  const size_t codes = bits == 8 ? 256 + 3 : 65536 / 11;
  const uint32_t edges = format.max_code - 8; /* and Inf and the first NaNs */
  uint8_t *elements = (uint8_t *)allocate(bytes_of(bits, codes));
  for (size_t i = 0; i < codes; ++i) {
    const uint32_t code = (uint32_t)(bits == 8 ? i
                                     : i < 40  ? edges + i % 20
                                               : i * (bits == 32 ? 22u : 11u));
    const uint32_t negative = bits == 16 && i < 20 ? 0x8000u : 0;
    set_element(bits, elements, i,
                bits == 32 ? (uint64_t)code << format.storage_shift | i % 3
                           : (code | negative) & 0xffffu);
  }
  check_conversion(f32, format, elements, codes, MPNUM_ROUND_NEAREST_EVEN,
                   MPNUM_OVERFLOW_IEEE);
  for (size_t i = 0; i < sizeof narrow / sizeof *narrow; ++i)
    check_conversion(narrow[i], format, elements, codes, MPNUM_ROUND_NEAREST_EVEN,
                     MPNUM_OVERFLOW_IEEE);
  free(elements);
  fill_inputs();
  for (int rounding = 0; rounding < REF_ROUNDINGS; rounding += 2)
    check_conversion(format, f32, src, count / 3, (mpnum_rounding)rounding,
                     rounding == MPNUM_ROUND_UP ? MPNUM_OVERFLOW_SATURATE
                                                : MPNUM_OVERFLOW_IEEE);
  free(src);
  free(want);
  free(got);
  force_isa(before);
}

/* IEEE 754 and the F16C instructions: sign and payload of a NaN stay, the first bit of
 * the payload, which is set where it is quiet, is set. Numbers by their value. */
static uint32_t widened_f16(uint32_t code) {
  const uint32_t sign = code >> 15 << 31, payload = code & 0x3ff;
  const int field = (int)(code >> 10 & 31);
  if (field == 31)
    return sign | 0x7f800000u | (payload ? 0x00400000u | payload << 13 : 0);
  return sign | bits_of_float((float)(field ? ldexp(1024 + payload, field - 25)
                                            : ldexp(payload, -24)));
}
static void f16_of_f16c_widens_with_sign_and_payload(void) {
  const mpnum_format f16c = mpnum_preset_format(MPNUM_PRESET_F16C, MPNUM_TYPE_F16);
  const expectation all = allocate_expectation(16, 32, 65536);
  for (uint32_t code = 0; code < 65536; ++code) {
    const uint32_t wide = widened_f16(code);
    CHECK(bits_of_float(mpnum_decode(f16c, code)) == wide, "%x: want %x", code, wide);
    set_element(16, all.src, code, code);
    set_element(32, all.want, code, wide);
  }
  CHECK(convert_array_formats(mpnum_format_of(MPNUM_TYPE_F32), all.got, f16c, all.src,
                              all.n, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0,
                              0) == MPNUM_OK,
        "status");
  check_elements("f16 to f32", 16, all.src, 32, all.got, all.want, all.n);
  free_expectation(all);
}

int main(void) {
  TAP_RUN(formats_can_be_made);
  for (size_t i = 0; i < format_count; ++i) {
    char name[120];
    current = &formats[i];
    snprintf(name, sizeof name, "%.60s in every mode with every instruction set",
             current->name);
    tap_run(name, is_rounded_to);
    snprintf(name, sizeof name, "codes of %.60s from and to others", current->name);
    tap_run(name, converts_both_ways);
  }
  RUN_FOR_EACH_ISA(f16_of_f16c_widens_with_sign_and_payload);
  return tap_done();
}
