/* SPDX-License-Identifier: MIT */
/* How calls of rows are drawn, and how a piece of one is made on the host: for the laws
 * of the host's functions and for those of their launchers. ROW_TYPES and CODE_TYPES list
 * fewer types. */
#ifndef MPNUM_TESTS_ROW_DRAWS_H
#define MPNUM_TESTS_ROW_DRAWS_H

#include <mpnum/mpnum.h>
#include <mpnum/func/light.h>
#include <mpnum/rows/activation_backward.h>
#include <mpnum/rows/dropout.h>
#include <mpnum/rows/softmax_cap.h>

#include "../harness/linked.h"
#include "laws.h"

#include <string.h>

enum { TILE = 2048 };
#ifndef ROW_TYPES
# define ROW_TYPES \
  MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16, MPNUM_TYPE_E5M2, MPNUM_TYPE_E4M3
# define CODE_TYPES \
  MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2, MPNUM_TYPE_E3M2, MPNUM_TYPE_E2M1, MPNUM_TYPE_E4M3FNUZ
#endif
static const mpnum_type row_types[] = {ROW_TYPES};
static const mpnum_type code_types[] = {CODE_TYPES};

/* --- What draws share --- */

/* What all rows of a draw are, unless it is f64; for kernels, of which few sets of types
 * are compiled. */
static mpnum_type only_row_type = MPNUM_TYPE_F64;
static mpnum_type row_type(law_draw *d) { /* f32 keeps the payloads of NaNs */
  if (only_row_type != MPNUM_TYPE_F64) return only_row_type;
  return law_below(d, 3) ? law_pick(d, row_types) : MPNUM_TYPE_F32;
}

/* For kernels, of which some rows are longer than that; 0: none. */
static size_t long_row = 0;

static void draw_rows(law_draw *d) {
  d->columns = law_size(d, TILE, 6500);
  d->rows = d->columns > 400 ? law_below(d, 7) : law_size(d, 12, 40);
  if (long_row && law_below(d, 16) == 0) {
    d->columns = long_row + law_below(d, TILE);
    d->rows = 1 + law_below(d, 2);
  }
  d->column_tile = d->row_tile = 64;
  if (law_below(d, 3) == 0) d->column_tile = TILE;
  d->row_unit = 1;
  d->can_be_alone = 1;
}
static float draw_scale(law_draw *d) {
  static const float scales[] = {1, 0.125f, 0.7f, 3, 0x1p-10f};
  return law_pick(d, scales);
}
static int input(law_draw *d, int k) {
  d->types[k] = row_type(d);
  return law_input(d, OF_ELEMENTS, d->types[k], 0);
}
/* In the place of an input of its type, if there is one and chance has it. */
static int result(law_draw *d, int k, int on) {
  int made;
  d->types[k] = on && law_below(d, 2) ? d->types[on - 1] : row_type(d);
  made = law_result(d, OF_ELEMENTS, law_bits(d->types[k]), 0);
  if (on && d->types[k] == d->types[on - 1]) d->operands[made].lies_on = on;
  d->operands[made].is_needed = 1;
  return made;
}
/* On any operand, half of the time of its type, which types[of] is. */
static int result_on(law_draw *d, int k, int of, int operand_number) {
  const mpnum_type type = law_below(d, 2) ? d->types[of] : row_type(d);
  const int made = law_result(d, OF_ELEMENTS, law_bits(type), 0);
  d->types[k] = type;
  if (type == d->types[of]) d->operands[made].lies_on = operand_number + 1;
  return made;
}
/* One that is added to. */
static int sum_of(law_draw *d, int k) {
  int made;
  d->types[k] = row_type(d);
  made = law_input(d, OF_ELEMENTS, d->types[k], 0);
  d->operands[made].is_result = 1;
  d->operands[made].is_needed = 0;
  return made;
}
static int maybe(law_draw *d, int is_there, law_shape shape, int bits, uint32_t from,
                 uint32_t below) {
  const int made = is_there ? law_words(d, shape, bits, from, below, 0) : law_none(d);
  d->operands[made].may_overlap = 1;
  return made;
}
static int floats(law_draw *d, int is_there, law_shape shape) {
  int made;
  if (!is_there) return law_none(d);
  made = law_input(d, shape, MPNUM_TYPE_F32, 0);
  d->operands[made].is_needed = 0;
  d->operands[made].may_overlap = 1;
  return made;
}
/* An input whose elements are two of a type. */
static int pairs(law_draw *d, law_shape shape, mpnum_type type) {
  int made;
  d->columns *= 2;
  made = law_input(d, shape, type, 0);
  d->columns /= 2;
  d->operands[made].bits *= 2;
  d->pairs |= 1u << made;
  return made;
}
static size_t each_of(const law_piece *at, int k) {
  return at->draw->pairs >> k & 1 ? 2 : 1;
}
/* choice[5] and [6]: of which operand, + 1, the matrix lacks a column or a row. */
static mpnum_matrix to(const law_piece *at, int k, mpnum_type type) {
  const size_t each = each_of(at, k);
  mpnum_matrix made = mpnum_matrix_of(type, at->at[k], at->rows, each * at->columns);
  made.stride = each * at->stride[k];
  if (at->draw->choice[5] == k + 1) --made.columns;
  if (at->draw->choice[6] == k + 1) --made.rows;
  if (!at->draw->operands[k].bits) made = mpnum_matrix_empty();
  return made;
}
static mpnum_const_matrix from(const law_piece *at, int k, mpnum_type type) {
  const size_t each = each_of(at, k);
  mpnum_const_matrix made =
      mpnum_const_matrix_of(type, at->at[k], at->rows, each * at->columns);
  made.stride = each * at->stride[k];
  if (at->draw->choice[5] == k + 1) --made.columns;
  if (at->draw->choice[6] == k + 1) --made.rows;
  return made;
}
/* A type that is none of rows, a stride that is too small, or other rows. */
static int spoil_rows(law_draw *d, law_piece *at, int k) {
  static const mpnum_type types[] = {MPNUM_TYPE_F64, MPNUM_TYPE_TF32, MPNUM_TYPE_E8M0};
  int i;
  if (k == 0) {
    d->types[0] = d->types[1] = law_pick(d, types);
    d->refusal = MPNUM_ERROR_TYPE;
    return 1;
  }
  if (k == 1 && d->rows > 1) { /* of what is written */
    for (i = 0; i < d->count; ++i)
      if (d->operands[i].is_result && d->operands[i].shape == OF_ELEMENTS) {
        at->stride[i] = d->columns - 1;
        d->refusal = MPNUM_ERROR_STRIDE;
        return 1;
      }
  }
  return 0;
}
/* A matrix of another shape, if there are two. */
static int spoil_shape(law_draw *d) {
  int found[OPERANDS], count = 0, i;
  for (i = 0; i < d->count; ++i)
    if (d->operands[i].bits && d->operands[i].shape == OF_ELEMENTS &&
        !d->operands[i].may_overlap)
      found[count++] = i;
  if (count > 1) {
    d->choice[5 + law_below(d, 2)] = 1 + found[law_below(d, (size_t)count)];
    d->refusal = d->has_classes ? MPNUM_OK : MPNUM_ERROR_SHAPE; /* or a target's */
  } else {
    d->types[0] = MPNUM_TYPE_F64;
    d->refusal = MPNUM_ERROR_TYPE;
  }
  return 1;
}

/* --- Softmax, its logarithm, log-sum-exp; their gradients --- */

/* Operands of its own, which every call of a row with options has. */
enum { MASK, LENGTHS, BIAS, OPTIONS };
static void draw_options(law_draw *d) {
  const size_t masks = law_below(d, 3);
  const int first = d->count;
  maybe(d, masks == 1, OF_ELEMENTS, 8, 0, 2);
  if (masks == 2 && d->columns) {
    maybe(d, 1, OF_ROWS, 64, 0, (uint32_t)d->columns + 1);
    d->operands[first + LENGTHS].alignment = 8;
  } else {
    law_none(d);
  }
  floats(d, law_below(d, 3) == 0, OF_ELEMENTS);
  d->choice[0] = (int)law_below(d, 4); /* flags */
  d->choice[1] = law_below(d, 3) == 0; /* causal */
  d->choice[2] = (int)law_below(d, 9) - 2;
  d->number[0] = draw_scale(d);
}
static void status_of(law_draw *d, int k) {
  d->operands[k].alignment = 4;
  d->operands[k].may_overlap = 1;
}
static mpnum_softmax_options options_of(const law_piece *at, int first) {
  const law_draw *d = at->draw;
  mpnum_softmax_options options = mpnum_softmax_default();
  options.scale = d->number[0];
  options.mask = (const uint8_t *)at->at[first + MASK];
  options.mask_stride = at->stride[first + MASK];
  if (at->columns == d->columns)
    options.lengths = (const size_t *)at->at[first + LENGTHS];
  options.bias = (const float *)at->at[first + BIAS];
  options.bias_stride = at->stride[first + BIAS];
  options.flags = d->choice[0];
  if (d->choice[1]) {
    options.length_step = d->columns / 5 > 1 ? (int64_t)(d->columns / 5) : 1;
    options.first_length = d->choice[2] + (int64_t)at->row * options.length_step;
    if (!options.first_length) options.length_step = 0; /* of a piece: what 0, 0 means */
    if (!options.first_length && at->rows > 1)
      options.length_step = d->columns / 5 > 1 ? (int64_t)(d->columns / 5) : 1;
    if (!options.first_length && at->rows == 1)
      options.first_length = -1; /* no elements */
  }
  return options;
}
static int spoil_options(law_draw *d, law_piece *at, int k) {
  static const int flags[] = {1 << 20, 8, 1 << 30, INT32_MIN, -1};
  if (k < 2 && spoil_rows(d, at, k)) return 1;
  if (k == 1) k = 2;
  if (k == 2) d->number[0] = law_no_scale(d);
  if (k == 3) d->number[0] = 0; /* all zeros are no options */
  if (k == 4) d->choice[0] = law_pick(d, flags);
  d->refusal =
      k == 6 && d->operands[LENGTHS].bits ? MPNUM_ERROR_RANGE : MPNUM_ERROR_ARGUMENT;
  if (k == 5) return spoil_shape(d);
  if (k == 6) {
    static size_t lengths[64]; /* of at most 40 rows */
    lengths[law_below(d, d->rows)] = d->columns + 1;
    if (d->operands[LENGTHS].bits) at->at[LENGTHS] = lengths;
    if (!d->operands[LENGTHS].bits) d->number[0] = law_no_scale(d);
  }
  return k < 7;
}

/* With a cap, half of the time; most launchers take none. */
static int draws_caps = 1;
static mpnum_softmax_cap drawn_caps[3];
static void draw_cap(law_draw *d, int k) {
  static const float caps[] = {50, 1, 0x1p-6f};
  for (int i = 0; i < 3; ++i)
    drawn_caps[i] = mpnum_softmax_cap_of(caps[i]);
  d->choice[k] = draws_caps ? (int)law_below(d, 6) : 5;
}
static mpnum_softmax_options options_with_cap(const law_piece *at, int k) {
  mpnum_softmax_options options = options_of(at, 0);
  if (at->draw->choice[k] < 3) options.cap = &drawn_caps[at->draw->choice[k]];
  return options;
}
static mpnum_softmax_options capped_options_of(const law_piece *at) {
  return options_with_cap(at, 4);
}
static void draw_softmax(law_draw *d) { /* options, source, result, status */
  draw_rows(d);
  draw_options(d);
  draw_cap(d, 4);
  d->types[0] = row_type(d);
  law_input(d, OF_ELEMENTS, d->types[0], 0);
  result_on(d, 1, 0, OPTIONS);
  law_result(d, OF_ROWS, 32, 0);
  status_of(d, OPTIONS + 2);
}
#define SOFTMAX(name)                                                         \
 static mpnum_status name(const law_piece *at) {                              \
  const mpnum_softmax_options options = capped_options_of(at);                \
  return mpnum_##name##_rows(to(at, OPTIONS + 1, at->draw->types[1]),         \
                             from(at, OPTIONS, at->draw->types[0]), &options, \
                             (mpnum_row_status *)at->at[OPTIONS + 2]);        \
 }
SOFTMAX(softmax)
SOFTMAX(log_softmax)

static void draw_logsumexp(law_draw *d) {
  draw_rows(d);
  draw_options(d);
  draw_cap(d, 4);
  input(d, 0);
  law_result(d, OF_ROWS, 32, 0);
  law_result(d, OF_ROWS, 32, 0);
  status_of(d, OPTIONS + 2);
}
static mpnum_status logsumexp(const law_piece *at) {
  const mpnum_softmax_options options = capped_options_of(at);
  return mpnum_logsumexp_rows((float *)at->at[OPTIONS + 1],
                              from(at, OPTIONS, at->draw->types[0]), &options,
                              (mpnum_row_status *)at->at[OPTIONS + 2]);
}

static void draw_softmax_backward(law_draw *d) { /* options, dy, y, dx */
  draw_rows(d);
  draw_options(d);
  d->choice[0] &= ~(MPNUM_SOFTMAX_MASKED | MPNUM_SOFTMAX_LIMIT);
  input(d, 0);
  input(d, 1);
  if (law_below(d, 4) == 0) {
    d->choice[0] |= MPNUM_SOFTMAX_ACCUMULATE;
    sum_of(d, 2);
  } else {
    const int on = (int)law_below(d, 2);
    result_on(d, 2, on, OPTIONS + on);
  }
}
#define BACKWARD(name)                                                                \
 static mpnum_status name##_backward(const law_piece *at) {                           \
  const mpnum_softmax_options options = options_of(at, 0);                            \
  return mpnum_##name##_backward_rows(                                                \
      to(at, OPTIONS + 2, at->draw->types[2]), from(at, OPTIONS, at->draw->types[0]), \
      from(at, OPTIONS + 1, at->draw->types[1]), &options);                           \
 }
BACKWARD(softmax)
BACKWARD(log_softmax)
static void draw_capped_backward(law_draw *d) { /* options, dy, y, dx, x */
  draw_softmax_backward(d);
  draw_cap(d, 4);
  input(d, 3);
}
static mpnum_status softmax_capped_backward(const law_piece *at) {
  const mpnum_softmax_options options = capped_options_of(at);
  return mpnum_softmax_capped_backward_rows(
      to(at, OPTIONS + 2, at->draw->types[2]), from(at, OPTIONS, at->draw->types[0]),
      from(at, OPTIONS + 1, at->draw->types[1]),
      from(at, OPTIONS + 3, at->draw->types[3]), &options);
}

/* --- Losses --- */

enum { SRC = OPTIONS, TARGETS, GRADIENT, LOSS, STATUS, COUNTED };
static void draw_cross_entropy(law_draw *d, int kind) { /* 0: soft, 32, 64: bits */
  draw_rows(d);
  if (d->columns == 0) d->columns = 1;
  d->has_classes = 1;
  draw_options(d);
  d->choice[0] &= MPNUM_SOFTMAX_MASKED;
  input(d, 0);
  if (kind) {
    law_words(d, OF_ROWS, kind, 0, (uint32_t)d->columns, 0);
    d->operands[TARGETS].alignment = kind / 8;
    d->operands[TARGETS].is_needed = d->operands[TARGETS].may_overlap = 1;
  } else { /* shares of at least 0 */
    const int specials = d->has_specials;
    d->has_specials = 0;
    d->types[1] = MPNUM_TYPE_F32;
    law_input(d, OF_ELEMENTS, MPNUM_TYPE_F32, 0);
    for (size_t i = 0; i < d->rows * d->columns; ++i)
      law_set(32, d->operands[TARGETS].values, i,
              law_get(32, d->operands[TARGETS].values, i) & 0x3fffffffu);
    d->has_specials = specials;
  }
  if (law_below(d, 4) == 0) {
    law_none(d);
  } else if (law_below(d, 3) == 0) {
    d->choice[0] |= MPNUM_SOFTMAX_ACCUMULATE;
    sum_of(d, 2);
  } else {
    d->operands[result_on(d, 2, 0, SRC)].is_needed = 0;
  }
  d->choice[3] = law_below(d, 3) == 0 ? 1 + (int)law_below(d, 2) : 0; /* reduction */
  if (d->choice[3]) {
    law_result(d, OF_CALL, 32, 1);
    d->row_unit = 0;
  } else {
    law_result(d, OF_ROWS, 32, 0);
  }
  law_result(d, OF_ROWS, 32, 0);
  status_of(d, STATUS);
  d->number[1] = law_below(d, 2) || !kind ? 0 : (float)law_below(d, 5) / 8;
  d->number[2] = draw_scale(d);
  d->choice[4] = kind && law_below(d, 2) ? (int)law_below(d, d->columns) : -100;
  draw_cap(d, 7);
}
static void draw_cross_entropy_64(law_draw *d) { draw_cross_entropy(d, 64); }
static mpnum_cross_entropy_options loss_options(const law_piece *at) {
  const law_draw *d = at->draw;
  mpnum_cross_entropy_options options = mpnum_cross_entropy_default();
  options.softmax = options_with_cap(at, 7);
  options.label_smoothing = d->number[1];
  options.factor = d->number[2];
  options.ignore_index = d->choice[4];
  options.reduction = (mpnum_reduction)d->choice[3];
  return options;
}
#define CROSS_ENTROPY(name, function, type)                                         \
 static mpnum_status name(const law_piece *at) {                                    \
  const mpnum_cross_entropy_options options = loss_options(at);                     \
  return function((float *)at->at[LOSS], to(at, GRADIENT, at->draw->types[2]),      \
                  from(at, SRC, at->draw->types[0]), (const type *)at->at[TARGETS], \
                  &options, (mpnum_row_status *)at->at[STATUS]);                    \
 }
CROSS_ENTROPY(cross_entropy, mpnum_cross_entropy_rows, int64_t)
static int spoil_loss(law_draw *d, law_piece *at, int k) {
  static const float smoothings[] = {2, 1.0625f, -0.125f};
  if (k == 5) d->number[1] = law_pick(d, smoothings);
  if (k == 6) d->number[2] = mpnum_from_bits_f32(d->seed % 2 ? 0x7fc00000u : 0x7f800000u);
  if (k == 7) d->choice[3] = 3;
  if (k == 8 && d->operands[TARGETS].shape == OF_ROWS) {
    static int64_t targets[64]; /* of at most 40 rows */
    law_set(d->operands[TARGETS].bits, targets, 0, d->columns);
    at->at[TARGETS] = targets;
  } else if (k == 8) {
    d->choice[3] = -1;
  }
  if (k > 8) return spoil_options(d, at, k - 4);
  return k < 5 ? spoil_options(d, at, k) : k < 9;
}

/* --- Norms --- */

enum { N_SRC, N_DST, N_WEIGHT, N_BIAS, N_RESIDUAL, N_SUM, N_MEAN, N_INVERSE, N_LOSSES };
static void draw_norm(law_draw *d) {
  draw_rows(d);
  input(d, 0);
  d->types[1] = row_type(d);
  if (d->choice[7] == 1) { /* to codes */
    d->types[1] = law_pick(d, code_types);
    law_result(d, OF_ELEMENTS, 8, 0);
  } else {
    result(d, 1, 1);
  }
  d->operands[N_DST].is_needed = 1;
  floats(d, law_below(d, 2) == 0, OF_COLUMNS);
  floats(d, law_below(d, 2) == 0, OF_COLUMNS);
  d->number[0] = law_below(d, 2) ? 1e-5f : 0;
  d->choice[0] = (int)law_below(d, 3); /* kind */
}
static void draw_any_norm(law_draw *d) {
  draw_norm(d);
  d->types[2] = row_type(d);
  if (law_below(d, 2)) {
    law_input(d, OF_ELEMENTS, d->types[2], 0);
    if (law_below(d, 2)) {
      const int k = result(d, 3, 0);
      d->operands[k].is_needed = 0;
      if (d->types[3] == d->types[2]) d->operands[k].lies_on = N_RESIDUAL + 1;
      if (d->types[3] == d->types[0] && d->operands[N_DST].lies_on == 0)
        d->operands[k].lies_on = N_SRC + 1;
    } else {
      law_none(d);
    }
    d->operands[N_RESIDUAL].is_needed = 0;
  } else {
    law_none(d);
    law_none(d);
  }
  for (int i = 0; i < 2; ++i)
    if (law_below(d, 2)) {
      d->operands[law_result(d, OF_ROWS, 32, 0)].may_overlap = 1;
    } else {
      law_none(d);
    }
}
static mpnum_normalize_options norm_options(const law_piece *at) {
  const law_draw *d = at->draw;
  mpnum_normalize_options options = mpnum_normalize_default();
  options.epsilon = d->number[0];
  options.weight = (const float *)at->at[N_WEIGHT];
  options.bias = (const float *)at->at[N_BIAS];
  if (d->operands[N_RESIDUAL].bits) options.residual = from(at, N_RESIDUAL, d->types[2]);
  if (d->operands[N_SUM].bits) options.sum = to(at, N_SUM, d->types[3]);
  options.mean = (float *)at->at[N_MEAN];
  options.inverse = (float *)at->at[N_INVERSE];
  return options;
}
static mpnum_status normalize(const law_piece *at) {
  const mpnum_normalize_options options = norm_options(at);
  return mpnum_normalize_rows((mpnum_norm_kind)at->draw->choice[0],
                              to(at, N_DST, at->draw->types[1]),
                              from(at, N_SRC, at->draw->types[0]), &options);
}
static void draw_norm_codes(law_draw *d) {
  d->choice[7] = 1;
  draw_any_norm(d);
  d->operands[N_SUM].lies_on = 0;
  law_words(d, OF_CALL, 64, 0, 1, 4);
  d->operands[N_LOSSES].is_result = 1;
  d->operands[N_LOSSES].alignment = 8;
  d->operands[N_LOSSES].may_overlap = 1;
  d->number[1] = (float)(1 + law_below(d, 500));
}
static mpnum_status normalize_quantize(const law_piece *at) {
  const mpnum_normalize_options options = norm_options(at);
  return mpnum_normalize_quantize_rows(
      (mpnum_norm_kind)at->draw->choice[0], to(at, N_DST, at->draw->types[1]),
      from(at, N_SRC, at->draw->types[0]), &options, at->draw->number[1],
      (mpnum_quantize_losses *)at->at[N_LOSSES]);
}
static int spoil_norm(law_draw *d, law_piece *at, int k) {
  if (k < 2 && spoil_rows(d, at, k)) return 1;
  if (k == 1) k = 2;
  if (k == 2) d->number[0] = -1;
  if (k == 3) d->number[0] = mpnum_from_bits_f32(0x7fc00000u);
  return k < 4 || (k == 4 && spoil_shape(d));
}

enum { B_SRC, B_DY, B_INPUT, B_WEIGHT, B_TO_WEIGHT, B_TO_BIAS };
static void draw_norm_backward(law_draw *d) {
  draw_rows(d);
  input(d, 0);
  input(d, 1);
  d->choice[1] = law_below(d, 3) == 0; /* adds */
  if (d->choice[1]) {
    sum_of(d, 2);
  } else {
    const int on = (int)law_below(d, 2);
    d->operands[result_on(d, 2, on, on)].is_needed = 0;
  }
  floats(d, law_below(d, 2) == 0, OF_COLUMNS);
  for (int i = 0; i < 2; ++i) {
    const int k = floats(d, law_below(d, 3) == 0, OF_COLUMNS);
    d->operands[k].is_result = 1;
    d->operands[k].may_overlap = i;           /* but with each other */
    if (d->operands[k].bits) d->row_unit = 0; /* sums over rows are of one call */
  }
  d->number[0] = law_below(d, 2) ? 1e-5f : 0;
  d->choice[0] = (int)law_below(d, 3);
}
static mpnum_status norm_backward(const law_piece *at) {
  const law_draw *d = at->draw;
  mpnum_normalize_options options = mpnum_normalize_default();
  mpnum_norm_gradients gradients = mpnum_norm_gradients_empty();
  options.weight = (const float *)at->at[B_WEIGHT];
  options.epsilon = d->number[0];
  gradients.input = to(at, B_INPUT, d->types[2]);
  gradients.weight = (float *)at->at[B_TO_WEIGHT];
  gradients.bias = (float *)at->at[B_TO_BIAS];
  gradients.adds = d->choice[1];
  return mpnum_normalize_backward_rows((mpnum_norm_kind)d->choice[0], gradients,
                                       from(at, B_DY, d->types[1]),
                                       from(at, B_SRC, d->types[0]), &options);
}

/* --- Activations, and their gradients --- */

enum { A_SRC, A_FACTOR, A_DST, A_BIAS, A_LOSSES };
enum { AB_DY = A_DST, AB_TO_SRC, AB_TO_FACTOR, AB_BIAS, AB_LOSSES };
/* The activation, three of them light, and the numbers of options. */
static int draws_light = 1;
static void draw_numbers(law_draw *d) {
  d->choice[0] = (int)law_below(d, 8);
  if (!draws_light && d->choice[0] > 2 && d->choice[0] < 6) d->choice[0] -= 3;
  d->column_unit = 1;
  d->number[0] = law_below(d, 2) ? 0 : 1;
  d->number[2] = law_below(d, 2) ? 0 : 3.5f;
  d->number[3] = d->choice[0] || law_below(d, 2) ? 0 : 1.702f;
}
/* The source, with its factor by turns at times; whether it is. */
static int draw_gates(law_draw *d) {
  draw_rows(d);
  d->types[0] = row_type(d);
  if (law_below(d, 3) == 0) {
    pairs(d, OF_ELEMENTS, d->types[0]);
    return 1;
  }
  law_input(d, OF_ELEMENTS, d->types[0], 0);
  return 0;
}
static void draw_bias(law_draw *d, int by_turns) {
  const int is_there = law_below(d, 2) == 0;
  int made;
  if (!by_turns || !is_there) {
    floats(d, is_there, OF_COLUMNS);
    return;
  }
  made = pairs(d, OF_COLUMNS, MPNUM_TYPE_F32);
  d->operands[made].is_needed = 0;
  d->operands[made].may_overlap = 1;
}
static void draw_activation(law_draw *d) {
  const int by_turns = draw_gates(d);
  d->types[2] = row_type(d);
  if (!by_turns && law_below(d, 2)) {
    law_input(d, OF_ELEMENTS, d->types[2], 0);
    d->operands[A_FACTOR].is_needed = 0;
  } else {
    law_none(d);
  }
  if (d->choice[7]) {
    d->types[1] = law_pick(d, code_types);
    law_result(d, OF_ELEMENTS, 8, 0);
    d->operands[A_DST].is_needed = 1;
  } else {
    result(d, 1, 1);
    if (by_turns) d->operands[A_DST].lies_on = 0;
    if (d->operands[A_FACTOR].bits && d->types[1] == d->types[2] && law_below(d, 2))
      d->operands[A_DST].lies_on = A_FACTOR + 1;
  }
  draw_bias(d, by_turns);
  draw_numbers(d);
}
static mpnum_activation kind_of(const law_piece *at) {
  const int choice = at->draw->choice[0];
  return (mpnum_activation)(choice < 6 ? choice % 3 : choice < 8 ? choice - 3 : choice);
}
static mpnum_activation_options activation_options(const law_piece *at) {
  mpnum_activation_options options = mpnum_activation_default();
  const law_draw *d = at->draw;
  const int is_backward = d->choice[3];
  options.bias = (const float *)at->at[is_backward ? (int)AB_BIAS : (int)A_BIAS];
  options.offset = d->number[0];
  options.limit = d->number[2];
  options.alpha = d->number[3];
  options.adds = is_backward > 1;
  options.is_interleaved = (int)each_of(at, A_SRC) - 1;
  if (d->choice[0] >= 3 && d->choice[0] < 6)
    options.function = d->choice[0] == 3   ? mpnum_silu_light_f32_array
                       : d->choice[0] == 4 ? mpnum_gelu_light_f32_array
                                           : mpnum_gelu_tanh_light_f32_array;
  if (d->operands[A_FACTOR].bits) options.factor = from(at, A_FACTOR, d->types[2]);
  return options;
}
static mpnum_status activation(const law_piece *at) {
  const mpnum_activation_options options = activation_options(at);
  return mpnum_activation_rows(kind_of(at), to(at, A_DST, at->draw->types[1]),
                               from(at, A_SRC, at->draw->types[0]), &options);
}
static void draw_activation_codes(law_draw *d) {
  d->choice[7] = 1;
  draw_activation(d);
  law_words(d, OF_CALL, 64, 0, 1, 4);
  d->operands[A_LOSSES].is_result = 1;
  d->operands[A_LOSSES].alignment = 8;
  d->operands[A_LOSSES].may_overlap = 1;
  d->number[1] = (float)(1 + law_below(d, 500));
}
static mpnum_status activation_quantize(const law_piece *at) {
  const mpnum_activation_options options = activation_options(at);
  return mpnum_activation_quantize_rows(
      kind_of(at), to(at, A_DST, at->draw->types[1]), from(at, A_SRC, at->draw->types[0]),
      &options, at->draw->number[1], (mpnum_quantize_losses *)at->at[A_LOSSES]);
}
/* Gradients: types[1] is that of both, types[3] that of dy; choice[3] is 2 where they are
 * added. */
static void draw_gradient(law_draw *d, int is_wanted, int by_turns) {
  const int bits = d->choice[7] ? 8 : law_bits(d->types[1]);
  int made;
  if (!is_wanted) {
    law_none(d);
  } else if (d->choice[3] == 2) {
    made = by_turns ? pairs(d, OF_ELEMENTS, d->types[1])
                    : law_input(d, OF_ELEMENTS, d->types[1], 0);
    d->operands[made].is_result = 1;
    d->operands[made].is_needed = 0;
  } else {
    made = law_result(d, OF_ELEMENTS, by_turns ? 2 * bits : bits, 0);
    d->operands[made].is_needed = 0;
    d->pairs |= (unsigned)by_turns << made;
  }
}
static void draw_activation_backward(law_draw *d) {
  static const int types[] = {0, 2, 3}; /* of src, factor, dy */
  const int by_turns = draw_gates(d), wants = (int)law_below(d, 3);
  const int has_factor = law_below(d, 4) != 0 && !by_turns;
  d->choice[3] = law_below(d, 4) || d->choice[7] ? 1 : 2;
  d->types[1] = d->choice[7] ? law_pick(d, code_types) : row_type(d);
  d->types[2] = row_type(d);
  if (has_factor) {
    law_input(d, OF_ELEMENTS, d->types[2], 0);
    d->operands[A_FACTOR].is_needed = 0;
  } else {
    law_none(d);
  }
  input(d, 3);
  draw_gradient(d, !has_factor || wants, by_turns);
  draw_gradient(d, has_factor && wants != 1, 0);
  if (d->operands[AB_TO_SRC].bits && !d->operands[AB_TO_FACTOR].bits)
    d->operands[AB_TO_SRC].is_needed = 1;
  if (d->operands[AB_TO_FACTOR].bits && !d->operands[AB_TO_SRC].bits)
    d->operands[AB_TO_FACTOR].is_needed = 1;
  if (d->choice[3] == 1 && !d->choice[7]) { /* in the place of different ones */
    const int first = by_turns ? 0 : (int)law_below(d, 3), second = (first + 1) % 3;
    if (d->types[types[first]] == d->types[1] && d->operands[first].bits)
      d->operands[AB_TO_SRC].lies_on = first + 1;
    if (d->types[types[second]] == d->types[1] && d->operands[second].bits)
      d->operands[AB_TO_FACTOR].lies_on = second + 1;
  }
  draw_bias(d, by_turns);
  draw_numbers(d);
}
static mpnum_status activation_backward(const law_piece *at) {
  const law_draw *d = at->draw;
  const mpnum_activation_options options = activation_options(at);
  return mpnum_activation_backward_rows(
      kind_of(at), to(at, AB_TO_SRC, d->types[1]), to(at, AB_TO_FACTOR, d->types[1]),
      from(at, AB_DY, d->types[3]), from(at, A_SRC, d->types[0]), &options);
}
static void draw_losses(law_draw *d, int k) {
  law_words(d, OF_CALL, 64, 0, 1, 4);
  d->operands[k].is_result = 1;
  d->operands[k].alignment = 8;
  d->operands[k].may_overlap = 1;
  d->number[1] = (float)(1 + law_below(d, 500));
}
static void draw_backward_codes(law_draw *d) {
  d->choice[7] = 1;
  draw_activation_backward(d);
  draw_losses(d, AB_LOSSES);
}
static mpnum_status activation_backward_quantize(const law_piece *at) {
  const law_draw *d = at->draw;
  const mpnum_activation_options options = activation_options(at);
  return mpnum_activation_backward_quantize_rows(
      kind_of(at), to(at, AB_TO_SRC, d->types[1]), to(at, AB_TO_FACTOR, d->types[1]),
      from(at, AB_DY, d->types[3]), from(at, A_SRC, d->types[0]), &options, d->number[1],
      (mpnum_quantize_losses *)at->at[AB_LOSSES]);
}
static int spoil_activation(law_draw *d, law_piece *at, int k) {
  if (k < 2 && spoil_rows(d, at, k)) return 1;
  if (k == 1) k = 2;
  if (k == 2) d->choice[0] = 9;
  if (k == 3) d->number[2] = -1;
  if (k == 4) spoil_shape(d);
  if (k == 5 && d->choice[7]) d->number[1] = law_no_scale(d);
  return k < 5 || (k == 5 && d->choice[7]);
}

/* --- Dropout --- */

static void draw_dropout(law_draw *d) {
  static const float shares[] = {0.9f, 0.5f, 1, 0, 0.1f};
  draw_rows(d);
  input(d, 0);
  result(d, 1, 1);
  d->number[0] = law_pick(d, shares);
  d->word[0] = law_random(d);
  d->word[1] = law_random(d) + (law_below(d, 2) ? 0 : 0x3ffffff00u);
}
static mpnum_status dropout(const law_piece *at) {
  const law_draw *d = at->draw;
  return mpnum_dropout_rows(to(at, 1, d->types[1]), from(at, 0, d->types[0]),
                            d->number[0], d->word[0],
                            d->word[1] + (uint64_t)at->row * d->columns);
}
static int spoil_dropout(law_draw *d, law_piece *at, int k) {
  if (k < 2 && spoil_rows(d, at, k)) return 1;
  if (k == 1) k = 2;
  if (k == 2) d->number[0] = 1.5f;
  if (k == 3) spoil_shape(d);
  return k < 4;
}

#endif
