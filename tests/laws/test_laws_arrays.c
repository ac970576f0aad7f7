/* SPDX-License-Identifier: MIT */
/* The laws of conversions of arrays; linked with the functions of func_array.h instead,
 * theirs. */
#include "../array/array_functions.h"
#include "../harness/no_type.h"
#include "laws.h"

#include <mpnum/types/bf16.h>
#include <mpnum/types/f16.h>
#include <mpnum/types/preset.h>

#include <stdlib.h>
#include <string.h>

enum { MOST = 5000, TILE = 2048 };

static size_t unit_of(int a, int b) {
  return a == 6 || b == 6 ? 4 : a == 4 || b == 4 ? 2 : 1;
}
/* Of random words: where the index wraps, or the low word of the counter does. */
static void draw_array(law_draw *d) {
  static const uint64_t offsets[] = {
      0, 0, 0, UINT64_C(0) - 600, (UINT64_C(1) << 34) - 600, (UINT64_C(1) << 32) - 600};
  d->rows = 1;
  d->columns = law_size(d, TILE / 2, MOST);
  d->word[0] = law_random(d);
  d->word[1] = law_pick(d, offsets) + (law_below(d, 2) ? law_random(d) : law_below(d, 9));
}
static int source(law_draw *d, mpnum_type type, int bits) {
  return bits < 8 || bits != law_bits(type) ? law_codes(d, OF_ELEMENTS, bits, 0)
                                            : law_input(d, OF_ELEMENTS, type, 0);
}

static void draw_conversion(law_draw *d) {
  const array_function *f = (const array_function *)d->entry;
  draw_array(d);
  d->column_unit = unit_of(f->src_bits, f->dst_bits);
  source(d, f->src, f->src_bits);
  law_result(d, OF_ELEMENTS, f->dst_bits, 0);
  if (f->src_bits == f->dst_bits) d->operands[1].lies_on = 1;
}
static mpnum_status convert(const law_piece *at) {
  const array_function *f = (const array_function *)at->draw->entry;
  f->convert(at->at[1], at->at[0], at->rows ? at->columns : 0);
  return MPNUM_OK;
}
static mpnum_status convert_elements(const law_piece *at) {
  const array_function *f = (const array_function *)at->draw->entry;
  size_t i = 0;
  for (; i < at->columns; ++i)
    law_set(f->dst_bits, at->at[1], i, f->scalar(law_get(f->src_bits, at->at[0], i)));
  for (; i % unit_of(f->dst_bits, 0); ++i) /* what fills a byte or a group */
    law_set(f->dst_bits, at->at[1], i, 0);
  return MPNUM_OK;
}

static void draw_stochastic(law_draw *d) {
  const stochastic_function *f = (const stochastic_function *)d->entry;
  draw_array(d);
  d->column_unit = 1;
  law_input(d, OF_ELEMENTS, MPNUM_TYPE_F32, 0);
  law_result(d, OF_ELEMENTS, f->dst_bits, 0);
  if (f->dst_bits == 32) d->operands[1].lies_on = 1;
}
static mpnum_status stochastic(const law_piece *at) {
  const stochastic_function *f = (const stochastic_function *)at->draw->entry;
  f->convert(at->at[1], at->at[0], at->rows ? at->columns : 0, at->draw->word[0],
             at->draw->word[1] + at->column);
  return MPNUM_OK;
}
static mpnum_status stochastic_elements(const law_piece *at) {
  const stochastic_function *f = (const stochastic_function *)at->draw->entry;
  for (size_t i = 0; i < at->columns; ++i) {
    const float x = mpnum_from_bits_f32((uint32_t)law_get(32, at->at[0], i));
    const uint32_t random =
        mpnum_random(at->draw->word[0], at->draw->word[1] + at->column + i);
    law_set(f->dst_bits, at->at[1], i, f->scalar(x, random));
  }
  return MPNUM_OK;
}

/* --- Any type to any, any format to any --- */

static mpnum_type any_type(law_draw *d) { /* of the table, and f64 and f32 */
  for (;;) {
    const mpnum_type type = (mpnum_type)law_below(d, 64);
    if (mpnum_type_name(type)) return type;
  }
}
static void draw_mode(law_draw *d) {
  d->rounding = (mpnum_rounding)law_below(d, MPNUM_ROUND_STOCHASTIC + 1);
  if (d->rounding == MPNUM_ROUND_STOCHASTIC) d->rounding = law_stochastic(d);
  if (law_below(d, 2)) d->rounding = MPNUM_ROUND_NEAREST_EVEN;
  d->overflow = (mpnum_overflow)law_below(d, 2);
}
static void draw_any(law_draw *d) {
  draw_array(d);
  do {
    d->types[0] = any_type(d);
    d->types[1] = any_type(d);
  } while (!law_bits(d->types[0]) || !law_bits(d->types[1]));
  draw_mode(d);
  d->column_unit = 1;
  source(d, d->types[0], law_bits(d->types[0]));
  law_result(d, OF_ELEMENTS, law_bits(d->types[1]), 0);
  if (d->operands[0].bits == d->operands[1].bits) d->operands[1].lies_on = 1;
}
static mpnum_status any(const law_piece *at) {
  const law_draw *d = at->draw;
  return convert_array(d->types[1], at->at[1], d->types[0], at->at[0],
                       at->rows ? at->columns : 0, d->rounding, d->overflow, d->word[0],
                       d->word[1] + at->column);
}
static int spoil_mode(law_draw *d, int k) {
  if (k == 0)
    d->rounding = (mpnum_rounding)(law_below(d, 2) ? MPNUM_ROUND_STOCHASTIC + 1 : -1);
  if (k == 1) d->overflow = (mpnum_overflow)(law_below(d, 2) ? 2 : -1);
  return k < 2;
}
static int spoil_any(law_draw *d, law_piece *at, int k) {
  static const int not_types[] = {0, NO_TYPE, NO_TYPE + 1, 64, 255, -1};
  (void)at;
  if (k == 2 || k == 3) d->types[k - 2] = (mpnum_type)law_pick(d, not_types);
  return k < 4 && (k > 1 || spoil_mode(d, k));
}
static void draw_2d(law_draw *d) {
  d->rows = law_size(d, 16, 40);
  d->columns = law_size(d, 200, 400);
  do {
    d->types[0] = any_type(d);
    d->types[1] = any_type(d);
  } while (!law_bits(d->types[0]) || !law_bits(d->types[1]));
  draw_mode(d);
  if (d->rounding < MPNUM_ROUND_STOCHASTIC) d->column_unit = 1;
  d->row_unit = 1;
  d->can_be_alone = 1;
  source(d, d->types[0], law_bits(d->types[0]));
  law_result(d, OF_ELEMENTS, law_bits(d->types[1]), 0);
  if (d->operands[0].bits == d->operands[1].bits) d->operands[1].lies_on = 1;
}
static mpnum_status any_2d(const law_piece *at) {
  const law_draw *d = at->draw;
  return convert_array_2d(d->types[1], at->at[1], at->stride[1], d->types[0], at->at[0],
                          at->stride[0], at->rows, at->columns, d->rounding, d->overflow,
                          d->word[0], d->word[1] + at->row * d->columns);
}
static mpnum_status any_2d_rows(const law_piece *at) {
  const law_draw *d = at->draw;
  mpnum_status status = MPNUM_OK;
  for (size_t r = 0; r < at->rows && status == MPNUM_OK; ++r)
    status = convert_array(d->types[1],
                           (uint8_t *)at->at[1] +
                               r * at->stride[1] * (size_t)law_bits(d->types[1]) / 8,
                           d->types[0],
                           (const uint8_t *)at->at[0] +
                               r * at->stride[0] * (size_t)law_bits(d->types[0]) / 8,
                           at->columns, d->rounding, d->overflow, d->word[0],
                           d->word[1] + (at->row + r) * d->columns);
  return status;
}
static int spoil_2d(law_draw *d, law_piece *at, int k) {
  if (k == 4 && d->rows > 1) at->stride[1] = d->columns - 1;
  return k < 4 ? spoil_any(d, at, k) : k == 4 && d->rows > 1;
}

/* A format of a user's making: any fields that mpnum_format_init takes, half of the time
 * of 8 bits and fewer. */
static mpnum_format any_format(law_draw *d) {
  mpnum_format made;
  const int is_byte = law_below(d, 2) == 0;
  for (;;) {
    const int sign_bits = law_below(d, 4) != 0;
    const int exponent_bits = 1 + (int)law_below(d, is_byte ? 6 : 8);
    const int room = is_byte ? 9 - sign_bits - exponent_bits : law_below(d, 3) ? 7 : 15;
    const int mantissa_bits = (int)law_below(d, (size_t)room);
    const int usual = (1 << (exponent_bits - 1)) - 1;
    const int near_usual = usual + (int)law_below(d, 9) - 4;
    const int any_bias = (int)law_below(d, 256) - 128;
    const int bias = law_below(d, 2) ? usual : law_below(d, 3) ? near_usual : any_bias;
    const mpnum_specials specials = (mpnum_specials)law_below(d, MPNUM_SPECIALS_E8M0 + 1);
    if (law_below(d, 4) == 0) {
      made = mpnum_preset_format((mpnum_preset)law_below(d, MPNUM_PRESET_F16C + 1),
                                 any_type(d));
      if (made.max_code && made.mantissa_bits < 23) return made;
    }
    if (mpnum_format_init(&made, sign_bits, exponent_bits, mantissa_bits, bias,
                          specials) != MPNUM_OK)
      continue;
    if (law_below(d, 3) ==
        0) /* of NaN; zeros are of formats without, payloads of IEEE's */
      made.nan_policy = !made.nan_code                    ? MPNUM_NAN_ZERO
                        : specials == MPNUM_SPECIALS_IEEE ? MPNUM_NAN_PAYLOAD
                                                          : MPNUM_NAN_SIGN;
    return made;
  }
}
/* Half of the floats where results turn: values of a format and the middles between them,
 * as near as a float is, and their neighbours. */
static void turn_floats(law_draw *d, mpnum_format format) {
  for (size_t i = 0; i < d->columns; i += 1 + law_below(d, 2)) {
    const uint32_t code = law_random(d) % (format.max_code ? format.max_code : 1);
    const uint32_t step = 1u << format.storage_shift;
    const uint32_t low = mpnum_bits_f32(mpnum_decode(format, code / step * step));
    const uint32_t next = mpnum_bits_f32(mpnum_decode(format, (code / step + 1) * step));
    const uint32_t at = law_below(d, 2) ? low : low + (next - low) / 2;
    law_set(32, d->operands[0].values, i,
            (at + law_below(d, 3) - 1) ^ (law_random(d) & 0x80000000u));
  }
}
static int width_of(mpnum_format f) {
  return f.sign_bits + f.exponent_bits + f.mantissa_bits;
}
static int format_bits(mpnum_format f) {
  return width_of(f) > 16 ? 32 : width_of(f) > 8 ? 16 : 8;
}
static void draw_formats(law_draw *d) {
  static const mpnum_type sources[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F32, MPNUM_TYPE_F16,
                                       MPNUM_TYPE_BF16};
  const size_t kind = law_below(d, 5);
  draw_array(d);
  d->types[0] = kind < 3 ? MPNUM_TYPE_F64 : law_pick(d, sources); /* f64: none */
  d->formats[0] = kind < 3 ? any_format(d) : mpnum_format_of(d->types[0]);
  d->formats[1] = kind > 1 ? any_format(d) : mpnum_format_of(MPNUM_TYPE_F32);
  draw_mode(d);
  d->column_unit = 1;
  if (width_of(d->formats[0]) == 32) {
    law_input(d, OF_ELEMENTS, MPNUM_TYPE_F32, 0);
    if (width_of(d->formats[1]) < 32) turn_floats(d, d->formats[1]);
  } else {
    const int shift = d->formats[0].storage_shift;
    law_codes(d, OF_ELEMENTS, format_bits(d->formats[0]), 0);
    for (size_t i = 0; i < d->columns; ++i) { /* all codes of it, and no others */
      const uint32_t code = law_random(d) & ((1u << width_of(d->formats[0])) - 1);
      law_set(d->operands[0].bits, d->operands[0].values, i, (uint64_t)code << shift);
    }
  }
  law_result(d, OF_ELEMENTS, format_bits(d->formats[1]), 0);
  if (d->operands[0].bits == d->operands[1].bits) d->operands[1].lies_on = 1;
}
static mpnum_status formats(const law_piece *at) {
  const law_draw *d = at->draw;
  return convert_array_formats(d->formats[1], at->at[1], d->formats[0], at->at[0],
                               at->rows ? at->columns : 0, d->rounding, d->overflow,
                               d->word[0], d->word[1] + at->column);
}
/* By mpnum_decode and mpnum_encode, which share no loop. */
static mpnum_status formats_elements(const law_piece *at) {
  const law_draw *d = at->draw;
  const int from = d->operands[0].bits, to = d->operands[1].bits;
  for (size_t i = 0; i < at->columns; ++i) {
    const uint32_t random = mpnum_random(d->word[0], d->word[1] + at->column + i);
    const uint32_t code = (uint32_t)law_get(from, at->at[0], i);
    const float x = width_of(d->formats[0]) == 32 ? mpnum_from_bits_f32(code)
                                                  : mpnum_decode(d->formats[0], code);
    law_set(to, at->at[1], i, /* to f32 as decoded, and from it a copy */
            width_of(d->formats[1]) == 32
                ? mpnum_bits_f32(x)
                : mpnum_encode(d->formats[1], x, d->rounding, d->overflow, random));
  }
  return MPNUM_OK;
}
/* By the loops of rows of the table, where they would serve it if it were one. */
static mpnum_status formats_as_row(const law_piece *at) {
  const law_draw *d = at->draw;
  if (width_of(d->formats[1]) == 32 && width_of(d->formats[0]) <= 8 &&
      decode_as_row(d->formats[0], at->at[1], at->at[0], at->columns))
    return MPNUM_OK;
  if (d->types[0] != MPNUM_TYPE_F64 && d->rounding == MPNUM_ROUND_NEAREST_EVEN &&
      encode_as_row(d->formats[1], d->overflow, at->at[1], d->types[0], at->at[0],
                    at->columns))
    return MPNUM_OK;
  return formats(at);
}
static int spoil_formats(law_draw *d, law_piece *at, int k) {
  const mpnum_format none = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  (void)at;
  if (k == 2 || k == 3) d->formats[k - 2] = none;
  return k < 4 && (k > 1 || spoil_mode(d, k));
}
static void draw_round(law_draw *d) {
  draw_array(d);
  d->formats[0] = any_format(d);
  draw_mode(d);
  d->column_unit = 1;
  law_input(d, OF_ELEMENTS, MPNUM_TYPE_F32, 0);
  if (width_of(d->formats[0]) < 32) turn_floats(d, d->formats[0]);
  law_result(d, OF_ELEMENTS, 32, 0);
  d->operands[1].lies_on = 1;
}
static mpnum_status round_floats(const law_piece *at) {
  const law_draw *d = at->draw;
  return round_array((float *)at->at[1], (const float *)at->at[0],
                     at->rows ? at->columns : 0, d->formats[0], d->rounding, d->overflow,
                     d->word[0], d->word[1] + at->column);
}
static mpnum_status round_elements(const law_piece *at) {
  const law_draw *d = at->draw;
  for (size_t i = 0; i < at->columns; ++i) {
    const uint32_t random = mpnum_random(d->word[0], d->word[1] + at->column + i);
    const float x = mpnum_from_bits_f32((uint32_t)law_get(32, at->at[0], i));
    const uint32_t code =
        mpnum_encode(d->formats[0], x, d->rounding, d->overflow, random);
    law_set(32, at->at[1], i, /* of f32 a copy */
            width_of(d->formats[0]) == 32
                ? mpnum_bits_f32(x)
                : mpnum_bits_f32(mpnum_decode(d->formats[0], code)));
  }
  return MPNUM_OK;
}
static int spoil_round(law_draw *d, law_piece *at, int k) {
  const mpnum_format none = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  (void)at;
  if (k == 2) d->formats[0] = none;
  return k < 3 && (k > 1 || spoil_mode(d, k));
}

#define ARRAY_LAWS (MEMORY_LAWS | HOLDS(LAW_SPLIT) | HOLDS(LAW_EMPTY))
static const law_subject any_subjects[] = {
    {"mpnum_convert_array",
     draw_any,
     any,
     ARRAY_LAWS | HOLDS(LAW_IN_PLACE) | HOLDS(LAW_REFUSED),
     {{LAW_ISA, NULL}},
     spoil_any,
     NULL},
    {"mpnum_convert_array_2d",
     draw_2d,
     any_2d,
     ARRAY_LAWS | HOLDS(LAW_IN_PLACE) | HOLDS(LAW_REFUSED) | HOLDS(LAW_ALONE) |
         HOLDS(LAW_STRIDED),
     {{LAW_TWIN, any_2d_rows}},
     spoil_2d,
     NULL},
    {"mpnum_convert_array_formats",
     draw_formats,
     formats,
     DRAWN(100) | ARRAY_LAWS | HOLDS(LAW_IN_PLACE) | HOLDS(LAW_REFUSED),
     {{LAW_ELEMENTS, formats_elements}, {LAW_TWIN, formats_as_row}},
     spoil_formats,
     NULL},
    {"mpnum_round_array",
     draw_round,
     round_floats,
     DRAWN(60) | ARRAY_LAWS | HOLDS(LAW_IN_PLACE) | HOLDS(LAW_REFUSED),
     {{LAW_ELEMENTS, round_elements}},
     spoil_round,
     NULL},
};
enum { ANY = sizeof any_subjects / sizeof any_subjects[0] };

int main(int argc, char **argv) {
  const int has_any = stochastic_functions[0].name != NULL;
  const size_t stochastic_count = has_any ? stochastic_function_count : 0;
  const size_t most = array_function_count + stochastic_count + ANY;
  law_subject *all = (law_subject *)calloc(most, sizeof(law_subject));
  size_t count = 0;
  if (!all) abort();
  for (size_t i = 0; i < array_function_count; ++i) {
    const array_function *f = &array_functions[i];
    const law_subject made = {f->name,
                              draw_conversion,
                              convert,
                              ARRAY_LAWS |
                                  (f->src_bits == f->dst_bits ? HOLDS(LAW_IN_PLACE) : 0),
                              {{LAW_ELEMENTS, convert_elements}},
                              NULL,
                              f};
    all[count++] = made;
  }
  for (size_t i = 0; i < stochastic_count; ++i) {
    const stochastic_function *f = &stochastic_functions[i];
    const law_subject made = {f->name,
                              draw_stochastic,
                              stochastic,
                              ARRAY_LAWS | (f->dst_bits == 32 ? HOLDS(LAW_IN_PLACE) : 0),
                              {{LAW_ELEMENTS, stochastic_elements}},
                              NULL,
                              f};
    all[count++] = made;
  }
  if (has_any) {
    memcpy(all + count, any_subjects, sizeof any_subjects);
    count += ANY;
  }
  const int result = laws_main(argc, argv, all, count, force_isa, 40);
  free(all);
  return result;
}
