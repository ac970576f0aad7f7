/* SPDX-License-Identifier: MIT */
/* mpnum_convert_array, with every instruction set: each type
 * to each, each rounding, both overflow rules, against mpnum_decode and mpnum_encode;
 * f16 with the NaNs of F16C. */
#include "array_checks.h"
#include "../convert/conversion_types.h"

#include <mpnum/array/p3109.h>
#include <mpnum/core/rng.h>
#include <mpnum/types/preset.h>

#include <math.h>

typedef struct any_type {
  mpnum_type type;
  int bits;
} any_type;
#define ROW(name, NAME, sign, exponent, mantissa, bias, specials, nan) \
 , {                                                                   \
  MPNUM_TYPE_##NAME, sign + exponent + mantissa > 16  ? 32             \
                     : sign + exponent + mantissa > 8 ? 16             \
                                                      : 8              \
 }
static const any_type types[] = {{MPNUM_TYPE_F64, 64},
                                 {MPNUM_TYPE_F32, 32} MPNUM_FORMATS(ROW)
                                     MPNUM_SCALE_FORMATS_(ROW)};
#undef ROW
enum { TYPES = sizeof types / sizeof types[0] };

static const uint64_t seed = 42, offset = 1234567;

/* What an element becomes. */
static uint64_t wanted(mpnum_type dst, mpnum_type src, uint64_t word,
                       mpnum_rounding rounding, mpnum_overflow overflow,
                       uint32_t random) {
  const mpnum_format from = mpnum_format_of(src), to = mpnum_format_of(dst);
  const int is_f32 = src == MPNUM_TYPE_F32;
  if (src == dst && (is_f32 || src == MPNUM_TYPE_F64)) return word; /* a copy */
  if (src == MPNUM_TYPE_F64)
    return dst == MPNUM_TYPE_F32
               ? bits_of_float(
                     mpnum_f64_to_f32_round(double_of(word), rounding, overflow, random))
               : mpnum_encode_f64(to, double_of(word), rounding, overflow, random);
  if (dst == MPNUM_TYPE_F64)
    return bits_of_double(is_f32 ? mpnum_f32_to_f64(float_of((uint32_t)word))
                                 : mpnum_decode_f64(from, (uint32_t)word));
  const float x = is_f32 ? float_of((uint32_t)word) : mpnum_decode(from, (uint32_t)word);
  return dst == MPNUM_TYPE_F32 ? bits_of_float(x)
                               : mpnum_encode(to, x, rounding, overflow, random);
}

/* The pair of types that is converted, and its inputs. */
static any_type from, to;
static input_list inputs;
static uint8_t *packed, *got, *want;
static uint64_t modes_tried;

static void fill(mpnum_rounding rounding, mpnum_overflow overflow) {
  for (size_t i = 0; i < inputs.count; ++i) {
    const uint32_t random =
        rounding == MPNUM_ROUND_STOCHASTIC ? mpnum_random(seed, offset + i) : 0;
    set_element(to.bits, want, i,
                wanted(to.type, from.type, inputs.bits[i], rounding, overflow, random));
  }
}

static void convert_in_mode(mpnum_rounding rounding, mpnum_overflow overflow) {
  char what[120];
  mpnum_status status;
  memset(got, 0xa5, bytes_of(to.bits, inputs.count));
  status = convert_array(to.type, got, from.type, packed, inputs.count, rounding,
                         overflow, seed, offset);
  snprintf(what, sizeof what, "%s %s to %s, rounding %d, overflow %d",
           mpnum_isa_name(isa_in_use()), mpnum_type_name(from.type),
           mpnum_type_name(to.type), (int)rounding, (int)overflow);
  CHECK(status == MPNUM_OK, "%s: status %d", what, (int)status);
  check_elements(what, from.bits, packed, to.bits, got, want, inputs.count);
  ++modes_tried;
  memcpy(got, packed, bytes_of(from.bits, inputs.count));
  convert_array(to.type, got, from.type, got, inputs.count, rounding, overflow, seed,
                offset);
  check_elements("in place", from.bits, packed, to.bits, got, want, inputs.count);
}

/* All instruction sets at once: the scalar results are the dear part. */
static void converts_in_every_mode(void) {
  const mpnum_isa before = isa_in_use();
  for (int rounding = 0; rounding < REF_ROUNDINGS; ++rounding)
    for (int overflow = 0; overflow < REF_OVERFLOWS; ++overflow) {
      fill((mpnum_rounding)rounding, (mpnum_overflow)overflow);
      for (size_t i = 0; i < ISAS; ++i)
        if (force_isa(isas[i]) == MPNUM_OK)
          convert_in_mode((mpnum_rounding)rounding, (mpnum_overflow)overflow);
    }
  force_isa(before);
}

static void test_pair(const any_type *src, const any_type *dst, const char *isa_names) {
  char name[160];
  from = *src;
  to = *dst;
  inputs = inputs_of(from.type, from.bits, to.type, 300, 1500);
  packed = (uint8_t *)allocate(bytes_of(from.bits, inputs.count));
  want = (uint8_t *)allocate(bytes_of(to.bits, inputs.count));
  got = (uint8_t *)allocate(
      bytes_of(to.bits > from.bits ? to.bits : from.bits, inputs.count)); /* in place */
  for (size_t i = 0; i < inputs.count; ++i)
    set_element(from.bits, packed, i, inputs.bits[i]);
  snprintf(name, sizeof name, "%s to %s in every mode (%s)", mpnum_type_name(from.type),
           mpnum_type_name(to.type), isa_names);
  tap_run(name, converts_in_every_mode);
  free(inputs.bits);
  free(packed);
  free(want);
  free(got);
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

/* A matrix without gaps is an array; rows whose steps are equally many bytes are one by
 * one in place, and rows that interleave share nothing. All else that overlaps is
 * refused, and nothing is written. */
static mpnum_status to_f32(void *dst, size_t dst_stride, const void *src,
                           size_t src_stride) {
  return convert_array_2d(MPNUM_TYPE_F32, dst, dst_stride, MPNUM_TYPE_F16, src,
                          src_stride, 5, 6, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE,
                          0, 0);
}
static void matrices_in_place_are_converted_or_refused(void) {
  uint8_t start[5 * 24 * 4], at[5 * 24 * 4];
  static const size_t strides[3][2] = {{6, 6}, {8, 16}, {24, 48}};
  for (size_t i = 0; i < sizeof start; ++i)
    start[i] = (uint8_t)(i * 41 % 251);
  for (size_t k = 0; k < 3; ++k) {
    const size_t wide = strides[k][0], narrow = strides[k][1];
    memcpy(at, start, sizeof at);
    CHECK(to_f32(at, wide, at, narrow) == MPNUM_OK, "refused");
    for (size_t i = 0; i < 30; ++i) {
      const size_t row = i / 6, column = i % 6;
      const uint32_t code = (uint32_t)get_element(16, start, row * narrow + column);
      const uint32_t made = (uint32_t)get_element(32, at, row * wide + column);
      const uint32_t is =
          bits_of_float(mpnum_decode(mpnum_format_of(MPNUM_TYPE_F16), code));
      CHECK(made == is, "strides %zu: element %zu: got %x, want %x", wide, i, made, is);
    }
  }
  memcpy(at, start, sizeof at);
  CHECK(to_f32(at + 16, 12, at, 24) == MPNUM_OK, "rows that interleave");
  memcpy(at, start, sizeof at);
  CHECK(to_f32(at + 8, 12, at, 24) == MPNUM_ERROR_OVERLAP, "rows that overlap");
  CHECK(to_f32(at, 8, at, 6) == MPNUM_ERROR_OVERLAP, "steps that differ");
  CHECK(to_f32(at + 2, 6, at, 6) == MPNUM_ERROR_OVERLAP, "no gaps");
  CHECK(convert_array(MPNUM_TYPE_F32, at + 4, MPNUM_TYPE_F32, at, 5,
                      MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0,
                      0) == MPNUM_ERROR_OVERLAP,
        "to the same type");
  CHECK(convert_array_formats(mpnum_format_of(MPNUM_TYPE_E4M3), at + 9,
                              mpnum_format_of(MPNUM_TYPE_F16), at, 5,
                              MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0,
                              0) == MPNUM_ERROR_OVERLAP,
        "formats");
  CHECK(memcmp(at, start, sizeof at) == 0, "what is refused was written");
}

/* Every value is one of f32's: NaNs keep their payloads. */
static void rounding_to_f32_is_a_copy(void) {
  static const uint32_t start[5] = {0x7f800001u, 0xffc12345u, 0x80000001u, 0x3f800001u,
                                    0xff7fffffu};
  const mpnum_format f32 = mpnum_format_of(MPNUM_TYPE_F32);
  float src[5], dst[5] = {0};
  memcpy(src, start, sizeof src);
  CHECK(round_array(dst, src, 5, f32, MPNUM_ROUND_UP, MPNUM_OVERFLOW_SATURATE, 0, 0) ==
                MPNUM_OK &&
            memcmp(dst, start, sizeof dst) == 0,
        "another array");
  CHECK(round_array(src, src, 5, f32, MPNUM_ROUND_TOWARD_ZERO, MPNUM_OVERFLOW_IEEE, 0,
                    0) == MPNUM_OK &&
            memcmp(src, start, sizeof src) == 0,
        "in place");
}

static void every_pair_was_converted(void) {
  uint64_t sets = 0;
  const mpnum_isa before = isa_in_use();
  for (size_t i = 0; i < ISAS; ++i)
    sets += force_isa(isas[i]) == MPNUM_OK;
  force_isa(before);
  CHECK(sets > 0 && modes_tried == sets * TYPES * TYPES * 14, "%" PRIu64 " conversions",
        modes_tried);
}

/* As scalars have it: the one NaN, which bias 127 and 8 bits of exponent had as -0. */
static void nan_of_p3109_is_a_nan_both_ways(void) {
  static const int shapes[][3] = {
      {8, 0, 127}, {7, 1, 63}, {7, 0, 63}, {4, 3, 8}, {5, 2, 16}};
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; ++k)
    for (int policy = 0; policy < 4; ++policy) {
      const int bits = 1 + shapes[k][0] + shapes[k][1], bytes = bits > 8 ? 2 : 1;
      const uint32_t nan_code = UINT32_C(1) << (bits - 1);
      const mpnum_format f32 = mpnum_format_of(MPNUM_TYPE_F32);
      float x[130], back[130];
      uint16_t codes[130];
      mpnum_format format;
      CHECK(mpnum_format_init(&format, 1, shapes[k][0], shapes[k][1], shapes[k][2],
                              MPNUM_SPECIALS_P3109) == MPNUM_OK,
            "made");
      format.nan_policy = (uint8_t)policy;
      for (int i = 0; i < 130; ++i)
        x[i] = i % 3 ? 1.0f : mpnum_from_bits_f32(i % 2 ? 0xffc12345u : 0x7f800001u);
      CHECK(convert_array_formats(format, codes, f32, x, 130, MPNUM_ROUND_NEAREST_EVEN,
                                  MPNUM_OVERFLOW_IEEE, 0, 0) == MPNUM_OK &&
                convert_array_formats(f32, back, format, codes, 130,
                                      MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0,
                                      0) == MPNUM_OK,
            "converted");
      for (int i = 0; i < 130; ++i) {
        const uint32_t code = bytes == 2 ? codes[i] : ((const uint8_t *)codes)[i];
        const uint32_t result = mpnum_bits_f32(back[i]);
        if (i % 3)
          CHECK(result == 0x3f800000u, "1 is %08x", result);
        else
          CHECK(code == nan_code && (result & 0x7fffffffu) > 0x7f800000u,
                "%d.%d, policy %d, element %d: %x, back %08x", shapes[k][0], shapes[k][1],
                policy, i, code, result);
      }
    }
}

/* Formats of P3109, of every kind and width of storage: all codes to floats and, with
 * what lies between them and beyond, back, as scalars have it. */
static void p3109_formats_go_both_ways(void) {
  static const char *const names[] = {
      "Binary3p1ue",  "Binary3p3uf",   "Binary4p2sf",  "Binary4p2ue", "Binary5p5ue",
      "Binary6p3uf",  "Binary7p1ue",   "Binary7p2se",  "Binary8p2ue", "Binary8p4se",
      "Binary8p4ue",  "Binary8p5sf",   "Binary8p8ue",  "Binary9p3ue", "Binary12p7se",
      "Binary16p9se", "Binary16p10ue", "Binary16p16ue"};
  static float values[65536], back[65536];
  static uint16_t codes[65536];
  static const mpnum_rounding modes[] = {MPNUM_ROUND_NEAREST_EVEN,
                                         MPNUM_ROUND_TOWARD_ZERO, MPNUM_ROUND_UP,
                                         MPNUM_ROUND_STOCHASTIC};
  const mpnum_format f32 = mpnum_format_of(MPNUM_TYPE_F32);
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
    mpnum_p3109 target;
    CHECK(mpnum_p3109_init(&target, names[k], "ToOdd", "SatNone") == MPNUM_OK, "%s",
          names[k]);
    const int bits = target.format.sign_bits + target.format.exponent_bits +
                     target.format.mantissa_bits;
    const uint32_t count = UINT32_C(1) << bits;
    for (uint32_t code = 0; code < count; ++code)
      if (bits > 8)
        codes[code] = (uint16_t)code;
      else
        ((uint8_t *)codes)[code] = (uint8_t)code;
    CHECK(convert_array_formats(f32, back, target.format, codes, count,
                                MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0,
                                0) == MPNUM_OK,
          "%s", names[k]);
    for (uint32_t code = 0; code < count; ++code) {
      values[code] = mpnum_decode(target.format, code);
      CHECK(bits_of_float(back[code]) == bits_of_float(values[code]), "%s: %x", names[k],
            code);
      if (code % 3) values[code] *= code % 3 == 1 ? 1.03125f : 1.34375f;
    }
    for (size_t mode = 0; mode < 8; ++mode) {
      const mpnum_rounding rounding = modes[mode / 2];
      const mpnum_overflow overflow = (mpnum_overflow)(mode % 2);
      CHECK(convert_array_formats(target.format, codes, f32, values, count, rounding,
                                  overflow, seed, offset) == MPNUM_OK,
            "%s", names[k]);
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t code = bits > 8 ? codes[i] : ((const uint8_t *)codes)[i];
        const uint32_t wanted_code = mpnum_encode(
            target.format, values[i], rounding, overflow, mpnum_random(seed, offset + i));
        if (code != wanted_code)
          tap_error(__FILE__, __LINE__, "%s: %a in mode %d is %x, not %x", names[k],
                    (double)values[i], (int)mode, code, wanted_code);
      }
    }
  }
}

int main(void) {
  const mpnum_isa before = isa_in_use();
  char names[80] = "";
  for (size_t i = 0; i < ISAS; ++i) {
    if (force_isa(isas[i]) != MPNUM_OK) continue;
    if (names[0]) strcat(names, " ");
    strcat(names, mpnum_isa_name(isas[i]));
  }
  force_isa(before);
  for (size_t i = 0; i < TYPES; ++i)
    for (size_t j = 0; j < TYPES; ++j)
      test_pair(&types[i], &types[j], names);
  TAP_RUN(every_pair_was_converted);
  TAP_RUN(rounding_to_f32_is_a_copy);
  RUN_FOR_EACH_ISA(matrices_in_place_are_converted_or_refused);
  RUN_FOR_EACH_ISA(f16_of_f16c_widens_with_sign_and_payload);
  RUN_FOR_EACH_ISA(nan_of_p3109_is_a_nan_both_ways);
  RUN_FOR_EACH_ISA(p3109_formats_go_both_ways);
  return tap_done();
}
