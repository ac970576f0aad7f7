/* SPDX-License-Identifier: MIT */
/* The laws of rows: softmax, losses, norms, activations, the Hadamard transform, and the
 * gradients through them. */
#include "row_draws.h"

#include <stdlib.h>

/* --- Softmax --- */

static void draw_exp_sum(law_draw *d) {
  d->rows = 1;
  d->columns = law_size(d, TILE, 6500);
  d->number[0] = (float)law_below(d, 300);
  law_input(d, OF_ELEMENTS, MPNUM_TYPE_F32, 0);
  law_result(d, OF_ELEMENTS, 32, 0);
  d->operands[1].lies_on = 1;
  law_result(d, OF_CALL, 64, 1);
}
static mpnum_status exp_sum(const law_piece *at) {
  /* max is the caller's to know: the largest, unless there is a NaN */
  float max = mpnum_from_bits_f32(0xff800000u);
  double sum;
  int has_nan = 0;
  int32_t most = INT32_MIN; /* an integer's comparison raises no flag */
  const size_t n = at->rows ? at->columns : 0;
  for (size_t i = 0; i < n; ++i) {
    const uint32_t word = (uint32_t)law_get(32, at->at[0], i);
    const int is_number = (word & 0x7fffffffu) < 0x7f800000u;
    const int32_t order = (int32_t)(word ^ (word >> 31) * 0x7fffffffu);
    has_nan |= !is_number;
    if (is_number && order > most) most = order, max = mpnum_from_bits_f32(word);
  }
  if (has_nan) { /* then dst holds anything */
    for (size_t i = 0; i < n; ++i)
      law_set(32, at->at[1], i, 0);
    law_set(64, at->at[2], 0, 0);
    return MPNUM_OK;
  }
  sum = mpnum_exp_sum_f32((float *)at->at[1], (const float *)at->at[0], n, max);
  law_set(64, at->at[2], 0, mpnum_bits_f64(sum));
  return MPNUM_OK;
}

/* --- Losses --- */

static void draw_cross_entropy_32(law_draw *d) { draw_cross_entropy(d, 32); }
CROSS_ENTROPY(cross_entropy_i32, mpnum_cross_entropy_rows_i32, int32_t)
static void draw_soft_cross_entropy(law_draw *d) { draw_cross_entropy(d, 0); }
static mpnum_status soft_cross_entropy(const law_piece *at) {
  const mpnum_cross_entropy_options options = loss_options(at);
  return mpnum_soft_cross_entropy_rows(
      (float *)at->at[LOSS], to(at, GRADIENT, at->draw->types[2]),
      from(at, SRC, at->draw->types[0]), from(at, TARGETS, MPNUM_TYPE_F32), &options,
      (mpnum_row_status *)at->at[STATUS]);
}
static int targets_32(const law_piece *at, int32_t *narrow, size_t most) {
  for (size_t i = 0; i < at->rows && i < most; ++i)
    narrow[i] = (int32_t)law_get(64, at->at[TARGETS], i);
  return at->rows <= most;
}
static mpnum_status cross_entropy_by_i32(const law_piece *at) {
  const mpnum_cross_entropy_options options = loss_options(at);
  int32_t narrow[64];
  if (!targets_32(at, narrow, 64)) return cross_entropy(at);
  return mpnum_cross_entropy_rows_i32((float *)at->at[LOSS],
                                      to(at, GRADIENT, at->draw->types[2]),
                                      from(at, SRC, at->draw->types[0]), narrow, &options,
                                      (mpnum_row_status *)at->at[STATUS]);
}
static mpnum_status cross_entropy_by_i64(const law_piece *at) {
  const mpnum_cross_entropy_options options = loss_options(at);
  int64_t wide[64];
  if (at->rows > 64) return cross_entropy_i32(at);
  for (size_t i = 0; i < at->rows; ++i)
    wide[i] = (int32_t)law_get(32, at->at[TARGETS], i);
  return mpnum_cross_entropy_rows((float *)at->at[LOSS],
                                  to(at, GRADIENT, at->draw->types[2]),
                                  from(at, SRC, at->draw->types[0]), wide, &options,
                                  (mpnum_row_status *)at->at[STATUS]);
}
/* Contrastive: src, mask, gradient, row and column losses, scratch. */
enum { C_SRC, C_MASK, C_GRADIENT, C_ROW, C_COLUMN, C_SCRATCH };
static void draw_contrastive(law_draw *d) {
  d->columns = d->rows = law_size(d, 64, 150);
  if (d->rows > 90) d->columns = d->rows = 300;
  d->column_tile = 64;
  input(d, 0);
  maybe(d, law_below(d, 2) == 0, OF_ROWS, 8, 0, 2);
  d->choice[0] = law_below(d, 2) ? MPNUM_SOFTMAX_MASKED : 0;
  d->choice[1] = (int)law_below(d, 3); /* rows, columns, both */
  if (law_below(d, 4) == 0) {
    law_none(d);
  } else if (law_below(d, 3) == 0) {
    d->choice[0] |= MPNUM_SOFTMAX_ACCUMULATE;
    sum_of(d, 1);
  } else {
    d->operands[result_on(d, 1, 0, C_SRC)].is_needed = 0;
  }
  d->choice[3] = law_below(d, 3) == 0 ? 1 + (int)law_below(d, 2) : 0;
  for (int i = 0; i < 2; ++i)
    if (d->choice[1] == 1 - i) {
      law_none(d);
    } else {
      law_result(d, d->choice[3] ? OF_CALL : OF_ROWS, 32, 1);
    }
  law_words(d, OF_CALL, 32, 0, 1, 2 * d->rows);
  d->operands[C_SCRATCH].is_scratch = d->operands[C_SCRATCH].may_overlap = 1;
  d->operands[C_SCRATCH].alignment = 4;
  d->number[0] = draw_scale(d);
  d->number[1] = draw_scale(d);
}
static mpnum_status contrastive(const law_piece *piece) {
  law_piece own = *piece, *at = &own;
  const law_draw *d = at->draw;
  mpnum_contrastive_options options = mpnum_contrastive_default();
  if (!at->rows || !at->columns) own.rows = own.columns = 0;
  options.scale = d->number[0];
  options.factor = d->number[1];
  options.flags = d->choice[0];
  options.mask = (const uint8_t *)at->at[C_MASK];
  options.reduction = (mpnum_reduction)d->choice[3];
  options.scratch = (float *)at->at[C_SCRATCH];
  return mpnum_contrastive_loss((float *)at->at[C_ROW], (float *)at->at[C_COLUMN],
                                to(at, C_GRADIENT, d->types[1]),
                                from(at, C_SRC, d->types[0]), &options);
}
/* Rows alone are the cross-entropy at the diagonal; a pair that is left out is a target
 * that is ignored. */
static mpnum_status contrastive_by_cross_entropy(const law_piece *at) {
  const law_draw *d = at->draw;
  mpnum_cross_entropy_options options = mpnum_cross_entropy_default();
  int64_t targets[300];
  if (d->choice[1] != 0 || at->rows > 300) return contrastive(at);
  for (size_t i = 0; i < at->rows; ++i)
    targets[i] =
        at->at[C_MASK] && !((const uint8_t *)at->at[C_MASK])[i] ? -100 : (int64_t)i;
  options.softmax.scale = d->number[0];
  options.softmax.flags = d->choice[0];
  options.softmax.mask = (const uint8_t *)at->at[C_MASK];
  if (options.softmax.mask) options.softmax.flags |= MPNUM_SOFTMAX_MASKED;
  options.factor = d->number[1];
  options.reduction = (mpnum_reduction)d->choice[3];
  return mpnum_cross_entropy_rows((float *)at->at[C_ROW], to(at, C_GRADIENT, d->types[1]),
                                  from(at, C_SRC, d->types[0]), targets, &options, NULL);
}
static int spoil_contrastive(law_draw *d, law_piece *at, int k) {
  if (k == 0) d->types[0] = d->types[1] = MPNUM_TYPE_F64;
  if (k == 1) d->number[0] = law_no_scale(d);
  if (k == 2) d->number[1] = mpnum_from_bits_f32(0x7f800000u);
  if (k == 3) d->choice[0] = 1 << 20;
  if (k == 4) d->choice[3] = 9;
  if (k == 5) ++at->rows;
  if (k == 6) d->number[0] = 0;
  return k < 7;
}

enum { E_A, E_B, E_MASK, E_GRADIENT_A, E_GRADIENT_B, E_LOSS, E_SCRATCH };
static void draw_embeddings(law_draw *d) {
  d->rows = 1 + law_below(d, 20);
  d->columns = law_size(d, 64, 200);
  d->row_tile = 16;
  input(d, 0);
  law_input(d, OF_ELEMENTS, d->types[0], 0);
  maybe(d, law_below(d, 2) == 0, OF_ROWS, 8, 0, 2);
  d->choice[0] = law_below(d, 3) == 0 ? MPNUM_SOFTMAX_ACCUMULATE : 0;
  for (int k = 1; k < 3; ++k)
    if (law_below(d, 3) == 0) {
      law_none(d);
    } else if (d->choice[0]) {
      sum_of(d, k);
    } else {
      d->operands[result(d, k, 0)].is_needed = 0;
    }
  d->choice[3] = law_below(d, 3) == 0 ? 1 + (int)law_below(d, 2) : 0;
  law_result(d, d->choice[3] ? OF_CALL : OF_ROWS, 32, 1);
  law_words(d, OF_CALL, 32, 0, 1, 4 * d->rows);
  d->operands[E_SCRATCH].is_scratch = d->operands[E_SCRATCH].may_overlap = 1;
  d->operands[E_SCRATCH].alignment = 4;
  d->number[0] = draw_scale(d);
  d->number[1] = draw_scale(d);
}
static mpnum_status embeddings(const law_piece *at) {
  const law_draw *d = at->draw;
  mpnum_contrastive_options options = mpnum_contrastive_default();
  options.scale = d->number[0];
  options.factor = d->number[1];
  options.flags = d->choice[0];
  options.mask = (const uint8_t *)at->at[E_MASK];
  options.reduction = (mpnum_reduction)d->choice[3];
  options.scratch = (float *)at->at[E_SCRATCH];
  return mpnum_contrastive_loss_of_embeddings(
      (float *)at->at[E_LOSS], to(at, E_GRADIENT_A, d->types[1]),
      to(at, E_GRADIENT_B, d->types[2]), from(at, E_A, d->types[0]),
      from(at, E_B, d->types[0]), &options);
}

/* --- Norms by their names --- */

static void draw_named_norm(law_draw *d) {
  draw_norm(d);
  law_none(d);
  law_none(d);
  law_none(d);
  law_none(d);
}
static void draw_layer_norm(law_draw *d) {
  draw_named_norm(d);
  d->choice[0] = MPNUM_NORM_LAYER;
}
static void draw_rms_norm(law_draw *d) {
  draw_named_norm(d);
  d->choice[0] = MPNUM_NORM_RMS;
  d->operands[N_BIAS].bits = 0;
}
static void draw_l2_norm(law_draw *d) {
  draw_named_norm(d);
  d->choice[0] = MPNUM_NORM_L2;
  d->operands[N_WEIGHT].bits = d->operands[N_BIAS].bits = 0;
}
static mpnum_status layer_norm(const law_piece *at) {
  return mpnum_layer_norm_rows(to(at, N_DST, at->draw->types[1]),
                               from(at, N_SRC, at->draw->types[0]),
                               (const float *)at->at[N_WEIGHT],
                               (const float *)at->at[N_BIAS], at->draw->number[0]);
}
static mpnum_status rms_norm(const law_piece *at) {
  return mpnum_rms_norm_rows(to(at, N_DST, at->draw->types[1]),
                             from(at, N_SRC, at->draw->types[0]),
                             (const float *)at->at[N_WEIGHT], at->draw->number[0]);
}
static mpnum_status l2_norm(const law_piece *at) {
  return mpnum_l2_normalize_rows(to(at, N_DST, at->draw->types[1]),
                                 from(at, N_SRC, at->draw->types[0]),
                                 at->draw->number[0]);
}

/* Codes are those of floats that are quantised afterwards. */
enum { MOST_ELEMENTS = 80000 }; /* draw_rows, of pairs */
static float unquantised[MOST_ELEMENTS];
static mpnum_matrix floats_of(const law_piece *at, int dst) {
  const size_t columns = each_of(at, dst) * at->columns;
  if (at->rows * columns > MOST_ELEMENTS) abort();
  return mpnum_matrix_of(MPNUM_TYPE_F32, unquantised, at->rows, columns);
}
static mpnum_status codes_of_floats(const law_piece *at, int dst, int losses) {
  const size_t each = each_of(at, dst), columns = each * at->columns;
  mpnum_status status = MPNUM_OK;
  for (size_t r = 0; r < at->rows && status == MPNUM_OK; ++r)
    status = mpnum_quantize_array(
        at->draw->types[1], (uint8_t *)at->at[dst] + r * each * at->stride[dst],
        MPNUM_TYPE_F32, unquantised + r * columns, columns, at->draw->number[1],
        (mpnum_quantize_losses *)at->at[losses]);
  return status;
}
static mpnum_status normalize_then_quantize(const law_piece *at) {
  const mpnum_normalize_options options = norm_options(at);
  const mpnum_status status =
      mpnum_normalize_rows((mpnum_norm_kind)at->draw->choice[0], floats_of(at, N_DST),
                           from(at, N_SRC, at->draw->types[0]), &options);
  return status == MPNUM_OK ? codes_of_floats(at, N_DST, N_LOSSES) : status;
}

/* --- Activations, Hadamard transform --- */

static mpnum_status activate_then_quantize(const law_piece *at) {
  const mpnum_activation_options options = activation_options(at);
  const mpnum_status status = mpnum_activation_rows(
      kind_of(at), floats_of(at, A_DST), from(at, A_SRC, at->draw->types[0]), &options);
  return status == MPNUM_OK ? codes_of_floats(at, A_DST, A_LOSSES) : status;
}
static mpnum_status back_then_quantize(const law_piece *at) {
  const law_draw *d = at->draw;
  const mpnum_activation_options options = activation_options(at);
  const mpnum_const_matrix dy = from(at, AB_DY, d->types[3]);
  const mpnum_const_matrix src = from(at, A_SRC, d->types[0]);
  mpnum_status status = MPNUM_OK;
  for (int k = AB_TO_SRC; k <= AB_TO_FACTOR && status == MPNUM_OK; ++k) {
    if (!d->operands[k].bits) continue;
    status = k == AB_TO_SRC
                 ? mpnum_activation_backward_rows(kind_of(at), floats_of(at, k),
                                                  mpnum_matrix_empty(), dy, src, &options)
                 : mpnum_activation_backward_rows(kind_of(at), mpnum_matrix_empty(),
                                                  floats_of(at, k), dy, src, &options);
    if (status == MPNUM_OK) status = codes_of_floats(at, k, AB_LOSSES);
  }
  return status;
}

static void draw_hadamard(law_draw *d) {
  draw_rows(d);
  d->choice[0] = law_below(d, 2) ? 16 : 64;
  d->columns = d->columns / (size_t)d->choice[0] * (size_t)d->choice[0];
  d->column_tile = 64;
  d->types[0] = law_below(d, 2) ? MPNUM_TYPE_F32 : MPNUM_TYPE_BF16;
  law_input(d, OF_ELEMENTS, d->types[0], 0);
  d->types[1] = law_below(d, 2) ? MPNUM_TYPE_F32 : MPNUM_TYPE_BF16;
  law_result(d, OF_ELEMENTS, law_bits(d->types[1]), 0);
  if (d->types[0] == d->types[1]) d->operands[1].lies_on = 1;
  d->word[0] = law_random(d);
}
static mpnum_status hadamard(const law_piece *at) {
  return mpnum_hadamard_rows(to(at, 1, at->draw->types[1]),
                             from(at, 0, at->draw->types[0]), at->draw->choice[0],
                             at->draw->word[0]);
}
static mpnum_status hadamard_inverse(const law_piece *at) {
  return mpnum_hadamard_inverse_rows(to(at, 1, at->draw->types[1]),
                                     from(at, 0, at->draw->types[0]), at->draw->choice[0],
                                     at->draw->word[0]);
}
static int spoil_hadamard(law_draw *d, law_piece *at, int k) {
  if (k < 2 && spoil_rows(d, at, k)) return 1;
  if (k == 1) k = 2;
  if (k == 2) d->choice[0] = 32;
  if (k == 3) --at->columns;
  return k < 4 || (k == 4 && spoil_shape(d));
}

static int spoil_embeddings(law_draw *d, law_piece *at, int k) {
  return k < 5 && spoil_contrastive(d, at, k);
}

#define ROW_LAWS                                                           \
 (MEMORY_LAWS | HOLDS(LAW_SPLIT) | HOLDS(LAW_ALONE) | HOLDS(LAW_STRIDED) | \
  HOLDS(LAW_EMPTY) | HOLDS(LAW_REFUSED) | HOLDS(LAW_APART))
#define CALL_LAWS (ROW_LAWS & ~(HOLDS(LAW_SPLIT) | HOLDS(LAW_ALONE)))
#define IN_PLACE  HOLDS(LAW_IN_PLACE)
#define NO_TWIN      \
 {                   \
  { LAW_TWIN, NULL } \
 }

/* --- Sums of columns --- */

static void draw_sum_columns(law_draw *d) {
  draw_rows(d);
  d->rows = law_below(d, 3) ? d->rows : law_size(d, 64, 70);
  if (d->columns > 400 && d->rows > 6) d->columns = 400;
  d->row_unit = 0; /* sums over rows are of one call */
  d->column_unit = 1;
  d->can_be_alone = 0;
  input(d, 0);
  d->choice[0] = law_below(d, 3) == 0; /* adds */
  floats(d, 1, OF_COLUMNS);
  d->operands[1].is_result = d->operands[1].is_needed = 1;
  d->operands[1].may_overlap = 0;
}
static mpnum_status sum_columns(const law_piece *at) {
  return mpnum_sum_columns((float *)at->at[1], from(at, 0, at->draw->types[0]),
                           at->draw->choice[0]);
}
static int spoil_sum_columns(law_draw *d, law_piece *at, int k) {
  if (k == 1) d->choice[0] = 2;
  return k == 0 ? spoil_rows(d, at, k) : k < 2;
}

static const law_subject subjects[] = {
    {"mpnum_softmax_rows", draw_softmax, softmax, ROW_LAWS | IN_PLACE, NO_TWIN,
     spoil_options, NULL},
    {"mpnum_log_softmax_rows", draw_softmax, log_softmax, ROW_LAWS | IN_PLACE, NO_TWIN,
     spoil_options, NULL},
    {"mpnum_logsumexp_rows", draw_logsumexp, logsumexp, ROW_LAWS, NO_TWIN, spoil_options,
     NULL},
    {"mpnum_exp_sum_f32", draw_exp_sum, exp_sum,
     MEMORY_LAWS | IN_PLACE | HOLDS(LAW_EMPTY), NO_TWIN, NULL, NULL},
    {"mpnum_softmax_backward_rows", draw_softmax_backward, softmax_backward,
     ROW_LAWS | IN_PLACE, NO_TWIN, spoil_options, NULL},
    {"mpnum_log_softmax_backward_rows", draw_softmax_backward, log_softmax_backward,
     ROW_LAWS | IN_PLACE, NO_TWIN, spoil_options, NULL},
    {"mpnum_softmax_capped_backward_rows", draw_capped_backward, softmax_capped_backward,
     ROW_LAWS | IN_PLACE, NO_TWIN, spoil_options, NULL},
    {"mpnum_cross_entropy_rows",
     draw_cross_entropy_64,
     cross_entropy,
     ROW_LAWS | IN_PLACE,
     {{LAW_TWIN, cross_entropy_by_i32}},
     spoil_loss,
     NULL},
    {"mpnum_cross_entropy_rows_i32",
     draw_cross_entropy_32,
     cross_entropy_i32,
     ROW_LAWS | IN_PLACE,
     {{LAW_TWIN, cross_entropy_by_i64}},
     spoil_loss,
     NULL},
    {"mpnum_soft_cross_entropy_rows", draw_soft_cross_entropy, soft_cross_entropy,
     ROW_LAWS | IN_PLACE, NO_TWIN, spoil_loss, NULL},
    {"mpnum_contrastive_loss",
     draw_contrastive,
     contrastive,
     CALL_LAWS | IN_PLACE,
     {{LAW_TWIN, contrastive_by_cross_entropy}},
     spoil_contrastive,
     NULL},
    {"mpnum_contrastive_loss_of_embeddings", draw_embeddings, embeddings, CALL_LAWS,
     NO_TWIN, spoil_embeddings, NULL},
    {"mpnum_layer_norm_rows",
     draw_layer_norm,
     layer_norm,
     ROW_LAWS | IN_PLACE,
     {{LAW_TWIN, normalize}},
     spoil_norm,
     NULL},
    {"mpnum_rms_norm_rows",
     draw_rms_norm,
     rms_norm,
     ROW_LAWS | IN_PLACE,
     {{LAW_TWIN, normalize}},
     spoil_norm,
     NULL},
    {"mpnum_l2_normalize_rows",
     draw_l2_norm,
     l2_norm,
     ROW_LAWS | IN_PLACE,
     {{LAW_TWIN, normalize}},
     spoil_norm,
     NULL},
    {"mpnum_normalize_rows", draw_any_norm, normalize, DRAWN(3) | ROW_LAWS | IN_PLACE,
     NO_TWIN, spoil_norm, NULL},
    {"mpnum_normalize_quantize_rows",
     draw_norm_codes,
     normalize_quantize,
     ROW_LAWS,
     {{LAW_TWIN, normalize_then_quantize}},
     spoil_norm,
     NULL},
    {"mpnum_normalize_backward_rows", draw_norm_backward, norm_backward,
     ROW_LAWS | IN_PLACE, NO_TWIN, spoil_norm, NULL},
    {"mpnum_activation_rows", draw_activation, activation, ROW_LAWS | IN_PLACE, NO_TWIN,
     spoil_activation, NULL},
    {"mpnum_activation_quantize_rows",
     draw_activation_codes,
     activation_quantize,
     ROW_LAWS,
     {{LAW_TWIN, activate_then_quantize}},
     spoil_activation,
     NULL},
    {"mpnum_activation_backward_rows", draw_activation_backward, activation_backward,
     DRAWN(2) | ROW_LAWS | IN_PLACE, NO_TWIN, spoil_activation, NULL},
    {"mpnum_activation_backward_quantize_rows",
     draw_backward_codes,
     activation_backward_quantize,
     ROW_LAWS,
     {{LAW_TWIN, back_then_quantize}},
     spoil_activation,
     NULL},
    {"mpnum_dropout_rows", draw_dropout, dropout, ROW_LAWS | IN_PLACE, NO_TWIN,
     spoil_dropout, NULL},
    {"mpnum_sum_columns", draw_sum_columns, sum_columns, ROW_LAWS & ~HOLDS(LAW_ALONE),
     NO_TWIN, spoil_sum_columns, NULL},
    {"mpnum_hadamard_rows", draw_hadamard, hadamard, ROW_LAWS | IN_PLACE, NO_TWIN,
     spoil_hadamard, NULL},
    {"mpnum_hadamard_inverse_rows", draw_hadamard, hadamard_inverse, ROW_LAWS | IN_PLACE,
     NO_TWIN, spoil_hadamard, NULL},
};

int main(int argc, char **argv) {
  return laws_main(argc, argv, subjects, sizeof subjects / sizeof subjects[0],
                   force_all_isa, 150);
}
