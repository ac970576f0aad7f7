/* SPDX-License-Identifier: MIT */
/* mpnum_convert_array and mpnum_convert_array_2d, with every instruction set: each type
 * to each, each rounding, both overflow rules, against mpnum_decode and mpnum_encode;
 * strides; arguments that are refused. */
#include "array_checks.h"
#include "../convert/conversion_types.h"
#include "../harness/no_type.h"

#include <mpnum/core/rng.h>

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
                                 {MPNUM_TYPE_F32, 32} MPNUM_FORMATS(ROW)};
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
  if (to.bits != from.bits) return;
  memcpy(got, packed, bytes_of(to.bits, inputs.count));
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
  got = (uint8_t *)allocate(bytes_of(to.bits, inputs.count));
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

/* Rows of 37 columns, strides of 40 and 41 elements: what lies between rows stays, and
 * row r starts with random word number r * 37. */
static void strides_lead_from_row_to_row(void) {
  enum { ROWS = 9, COLUMNS = 37, SRC_STRIDE = 40, DST_STRIDE = 41 };
  float src[ROWS * SRC_STRIDE];
  uint16_t dst[ROWS * DST_STRIDE];
  uint64_t state = 5;
  const mpnum_format format = mpnum_format_of(MPNUM_TYPE_F16);
  for (int mode = 0; mode < REF_ROUNDINGS; ++mode) {
    for (size_t i = 0; i < ROWS * SRC_STRIDE; ++i)
      src[i] = float_of((uint32_t)(random_bits(&state) % 0x10000000u + 0x38000000u));
    memset(dst, 0xa5, sizeof dst);
    CHECK(convert_array_2d(MPNUM_TYPE_F16, dst, DST_STRIDE, MPNUM_TYPE_F32, src,
                           SRC_STRIDE, ROWS, COLUMNS, (mpnum_rounding)mode,
                           MPNUM_OVERFLOW_IEEE, seed, offset) == MPNUM_OK,
          "status");
    for (size_t i = 0; i < ROWS * DST_STRIDE; ++i) {
      const size_t row = i / DST_STRIDE, column = i % DST_STRIDE;
      const uint32_t random = mpnum_random(seed, offset + row * COLUMNS + column);
      const uint32_t code =
          column >= COLUMNS
              ? 0xa5a5
              : mpnum_encode(format, src[row * SRC_STRIDE + column], (mpnum_rounding)mode,
                             MPNUM_OVERFLOW_IEEE, random);
      CHECK(dst[i] == code, "row %zu, column %zu: got %04x, want %04x", row, column,
            (unsigned)dst[i], (unsigned)code);
    }
  }
}

/* One row read again and again; no rows; no columns; one row whose stride is no matter.
 */
static void degenerate_matrices_are_converted(void) {
  float src[5] = {1, 2, 3, 4, 5};
  uint8_t dst[15];
  memset(dst, 0, sizeof dst);
  CHECK(convert_array_2d(MPNUM_TYPE_E4M3, dst, 5, MPNUM_TYPE_F32, src, 0, 3, 5,
                         MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0) == MPNUM_OK,
        "status");
  CHECK(dst[0] == 0x38 && memcmp(dst, dst + 5, 5) == 0 && memcmp(dst, dst + 10, 5) == 0,
        "rows differ");
  CHECK(convert_array_2d(MPNUM_TYPE_E4M3, dst, 0, MPNUM_TYPE_F32, src + 1, 0, 1, 4,
                         MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0,
                         0) == MPNUM_OK &&
            dst[0] == 0x40,
        "one row");
  CHECK(convert_array_2d(MPNUM_TYPE_E4M3, NULL, 5, MPNUM_TYPE_F32, NULL, 5, 0, 5,
                         MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0) == MPNUM_OK,
        "no rows");
  CHECK(convert_array_2d(MPNUM_TYPE_E4M3, NULL, 5, MPNUM_TYPE_F32, NULL, 5, 5, 0,
                         MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0) == MPNUM_OK,
        "no columns");
}

static void empty_arrays_may_be_nowhere(void) {
  for (size_t i = 0; i < (size_t)TYPES * TYPES * REF_ROUNDINGS; ++i)
    CHECK(convert_array(types[i % TYPES].type, NULL, types[i / TYPES % TYPES].type, NULL,
                        0, (mpnum_rounding)(i / TYPES / TYPES), MPNUM_OVERFLOW_IEEE, 1,
                        i) == MPNUM_OK,
          "status");
}

/* A type, rounding or overflow rule that there is not. */
static void refuse(int dst_type, int src_type, int rounding, int overflow,
                   mpnum_status expected) {
  uint8_t src[8 * 40], dst[8 * 40];
  memset(src, 0x3f, sizeof src);
  memset(dst, 0xa5, sizeof dst);
  const mpnum_status plain =
      convert_array((mpnum_type)dst_type, dst, (mpnum_type)src_type, src, 40,
                    (mpnum_rounding)rounding, (mpnum_overflow)overflow, 0, 0);
  const mpnum_status matrix =
      convert_array_2d((mpnum_type)dst_type, dst, 20, (mpnum_type)src_type, src, 20, 2,
                       20, (mpnum_rounding)rounding, (mpnum_overflow)overflow, 0, 0);
  const mpnum_status empty =
      convert_array((mpnum_type)dst_type, NULL, (mpnum_type)src_type, NULL, 0,
                    (mpnum_rounding)rounding, (mpnum_overflow)overflow, 0, 0);
  CHECK(plain == expected && matrix == plain && empty == plain,
        "%d to %d, rounding %d, overflow %d: status %d, %d and %d", src_type, dst_type,
        rounding, overflow, (int)plain, (int)matrix, (int)empty);
  for (size_t i = 0; i < sizeof dst; ++i)
    CHECK(dst[i] == 0xa5, "byte %zu was written", i);
}
static void unknown_arguments_are_refused(void) {
  static const int not_types[] = {0, NO_TYPE, NO_TYPE + 1, 64, 255, -1};
  for (size_t i = 0; i < sizeof not_types / sizeof not_types[0]; ++i)
    for (int type = MPNUM_TYPE_F64; type <= (int)LAST_TYPE; ++type) {
      refuse(not_types[i], type, 0, 0, MPNUM_ERROR_TYPE);
      refuse(type, not_types[i], 0, 0, MPNUM_ERROR_TYPE);
    }
  for (int type = MPNUM_TYPE_F64; type <= (int)LAST_TYPE; ++type) {
    refuse(type, MPNUM_TYPE_F32, MPNUM_ROUND_STOCHASTIC + 1, 0, MPNUM_ERROR_ARGUMENT);
    refuse(type, MPNUM_TYPE_F64, -1, 0, MPNUM_ERROR_ARGUMENT);
    refuse(type, type, 0, MPNUM_OVERFLOW_SATURATE + 1, MPNUM_ERROR_ARGUMENT);
    refuse(MPNUM_TYPE_F64, type, 0, -1, MPNUM_ERROR_ARGUMENT);
  }
}
static void rows_of_the_result_do_not_overlap(void) {
  float src[8] = {0};
  uint8_t dst[8] = {0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5};
  CHECK(convert_array_2d(MPNUM_TYPE_E4M3, dst, 3, MPNUM_TYPE_F32, src, 4, 2, 4,
                         MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0,
                         0) == MPNUM_ERROR_STRIDE,
        "a stride of 3 for 4 columns");
  for (int i = 0; i < 8; ++i)
    CHECK(dst[i] == 0xa5, "byte %d was written", i);
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
  RUN_FOR_EACH_ISA(strides_lead_from_row_to_row);
  RUN_FOR_EACH_ISA(degenerate_matrices_are_converted);
  RUN_FOR_EACH_ISA(empty_arrays_may_be_nowhere);
  TAP_RUN(unknown_arguments_are_refused);
  TAP_RUN(rows_of_the_result_do_not_overlap);
  return tap_done();
}
