/* SPDX-License-Identifier: MIT */
/* The laws of reductions, and of the pass over gradients. A cut array's results are
 * merged as docs/threads.md has it. */
#include <mpnum/training/adafactor.h>
#include <mpnum/training/health.h>
#include <mpnum/training/optimizer.h>
#include <mpnum/mpnum.h>

#include "../harness/linked.h"
#include "laws.h"

#include <string.h>

enum { TILE = 2048 };

/* --- Reductions: of one array, or two --- */

static void draw_reduction(law_draw *d) {
  const mpnum_type type = (mpnum_type)(size_t)((const int *)d->entry)[0];
  const int sources = ((const int *)d->entry)[1];
  d->rows = 1;
  d->columns = law_size(d, TILE, 9000);
  d->column_tile = TILE;
  d->column_unit = TILE; /* sums are of tiles; the others do as well */
  for (int i = 0; i < sources; ++i)
    law_input(d, OF_ELEMENTS, type, 0);
  law_words(d, OF_CALL, 64, 0, 1, sizeof(mpnum_exact_sum) / 8 + 16);
  d->operands[sources].is_result = 1;
  d->operands[sources].alignment = 8;
}
#define SRC(type) (const type *)at->at[0], at->rows ? at->columns : 0
#define AT(k)     ((uint64_t *)at->at[k])
/* The index of the first, 1 more, as 0 is none yet. */
#define FIRST(T, type)                                                    \
 static mpnum_status first_nonfinite_##T(const law_piece *at) {           \
  const size_t n = at->rows ? at->columns : 0;                            \
  const size_t i = mpnum_first_nonfinite_##T((const type *)at->at[0], n); \
  uint64_t *first = AT(1);                                                \
  if (i < n && (*first == 0 || at->column + i + 1 < *first))              \
   *first = at->column + i + 1;                                           \
  return MPNUM_OK;                                                        \
 }
#define FINITE(T, type)                                    \
 static mpnum_status all_finite_##T(const law_piece *at) { \
  *AT(1) |= mpnum_all_finite_##T(SRC(type)) ? 0 : 1;       \
  return MPNUM_OK;                                         \
 }
#define AMAX(T, type)                                                                \
 static mpnum_status amax_##T(const law_piece *at) {                                 \
  const float amax = mpnum_amax_##T(SRC(type));                                      \
  *AT(1) =                                                                           \
      mpnum_bits_f32(mpnum_amax_merge(mpnum_from_bits_f32((uint32_t)*AT(1)), amax)); \
  return MPNUM_OK;                                                                   \
 }
#define STATS(T, type)                                \
 static mpnum_status stats_##T(const law_piece *at) { \
  mpnum_stats all, part = mpnum_stats_##T(SRC(type)); \
  memcpy(&all, AT(1) + 1, sizeof all);                \
  all = *AT(1) ? mpnum_stats_merge(all, part) : part; \
  *AT(1) = 1;                                         \
  memcpy(AT(1) + 1, &all, sizeof all);                \
  return MPNUM_OK;                                    \
 }
/* The whole is rounded at once; parts by their totals. */
#define SUM(T, type, NAME)                                                            \
 static mpnum_status sum_##T(const law_piece *at) {                                   \
  if (at->columns == at->draw->columns || !at->rows) {                                \
   *AT(1) = mpnum_bits_f32(mpnum_sum_##T(SRC(type)));                                 \
   return MPNUM_OK;                                                                   \
  }                                                                                   \
  return add_part(at, mpnum_exact_sum_add, MPNUM_TYPE_##NAME, mpnum_exact_sum_value); \
 }                                                                                    \
 static mpnum_status norm_##T(const law_piece *at) {                                  \
  if (at->columns == at->draw->columns || !at->rows) {                                \
   *AT(1) = mpnum_bits_f32(mpnum_norm_##T(SRC(type)));                                \
   return MPNUM_OK;                                                                   \
  }                                                                                   \
  return add_part(at, mpnum_exact_sum_add_squares, MPNUM_TYPE_##NAME,                 \
                  mpnum_exact_sum_root);                                              \
 }                                                                                    \
 static mpnum_status dot_##T(const law_piece *at) {                                   \
  const size_t n = at->rows ? at->columns : 0;                                        \
  const type *a = (const type *)at->at[0], *b = (const type *)at->at[1];              \
  mpnum_exact_sum total = mpnum_exact_sum_empty();                                    \
  mpnum_status status;                                                                \
  if (n == at->draw->columns || n == 0) {                                             \
   *AT(2) = mpnum_bits_f32(mpnum_dot_##T(a, b, n));                                   \
   return MPNUM_OK;                                                                   \
  }                                                                                   \
  load(&total, AT(2));                                                                \
  status = mpnum_exact_sum_add_products(&total, MPNUM_TYPE_##NAME, a, b, n);          \
  store(AT(2), &total, at, mpnum_exact_sum_value);                                    \
  return status;                                                                      \
 }

/* A total that grows part by part lies behind the word of its value; the last part takes
 * it away. */
static void load(mpnum_exact_sum *total, const uint64_t *from) {
  if (from[1]) memcpy(total, from + 4, sizeof *total);
}
static void store(uint64_t *at, const mpnum_exact_sum *total, const law_piece *piece,
                  float (*value)(mpnum_exact_sum)) {
  at[1] += piece->columns;
  at[0] = mpnum_bits_f32(value(*total));
  memcpy(at + 4, total, sizeof *total);
  if (at[1] == piece->draw->columns) memset(at + 1, 0, 3 * 8 + sizeof *total);
}
static mpnum_status add_part(const law_piece *at,
                             mpnum_status (*add)(mpnum_exact_sum *, mpnum_type,
                                                 const void *, size_t),
                             mpnum_type type, float (*value)(mpnum_exact_sum)) {
  mpnum_exact_sum total = mpnum_exact_sum_empty();
  load(&total, AT(1));
  const mpnum_status status = add(&total, type, at->at[0], at->columns);
  store(AT(1), &total, at, value);
  return status;
}
#define FIVE(KIND) \
 KIND(f32, float)  \
 KIND(bf16, mpnum_bf16) KIND(f16, mpnum_f16) KIND(e5m2, mpnum_e5m2) KIND(e4m3, mpnum_e4m3)
FIVE(FIRST)
FIVE(FINITE)
FIVE(AMAX)
FIVE(STATS)
SUM(f32, float, F32)
SUM(bf16, mpnum_bf16, BF16)
SUM(f16, mpnum_f16, F16)

/* The totals themselves: any type. */
static const mpnum_type summed[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16,
                                    MPNUM_TYPE_E5M2, MPNUM_TYPE_E4M3};
static void draw_total(law_draw *d) {
  d->rows = 1;
  d->columns = law_size(d, TILE, 9000);
  d->column_tile = d->column_unit = TILE;
  d->types[0] = law_pick(d, summed);
  law_input(d, OF_ELEMENTS, d->types[0], 0);
  law_input(d, OF_ELEMENTS, d->types[0], 0);
  law_words(d, OF_CALL, 64, 0, 1, sizeof(mpnum_exact_sum) / 8 + 2);
  d->operands[2].is_result = 1;
  d->operands[2].alignment = 8;
  d->operands[1].is_needed = d->choice[0] == 2;
}
static mpnum_status total(const law_piece *at, int kind) {
  const law_draw *d = at->draw;
  mpnum_exact_sum sum = mpnum_exact_sum_empty();
  mpnum_status status;
  const size_t n = at->rows ? at->columns : 0;
  if (AT(2)[0]) memcpy(&sum, AT(2) + 1, sizeof sum);
  status = kind == 0 ? mpnum_exact_sum_add(&sum, d->types[0], at->at[0], n)
           : kind == 1
               ? mpnum_exact_sum_add_squares(&sum, d->types[0], at->at[0], n)
               : mpnum_exact_sum_add_products(&sum, d->types[0], at->at[0], at->at[1], n);
  if (status != MPNUM_OK) return status;
  AT(2)[0] = 1;
  memcpy(AT(2) + 1, &sum, sizeof sum);
  return MPNUM_OK;
}
static void draw_products(law_draw *d) {
  d->choice[0] = 2;
  draw_total(d);
}
static mpnum_status total_add(const law_piece *at) { return total(at, 0); }
static mpnum_status total_squares(const law_piece *at) { return total(at, 1); }
static mpnum_status total_products(const law_piece *at) { return total(at, 2); }
static mpnum_status count_lost(const law_piece *at) {
  return mpnum_count_lost((mpnum_lost *)at->at[2], at->draw->types[0], at->at[0],
                          at->rows ? at->columns : 0, mpnum_format_of(MPNUM_TYPE_E4M3),
                          0x1p-3f);
}
static int spoil_total(law_draw *d, law_piece *at, int k) {
  (void)at;
  d->types[0] = MPNUM_TYPE_E8M0;
  return k == 0;
}

/* --- The pass over gradients --- */

enum { G_SRC, G_DST, G_FINDINGS };
static const mpnum_type gradient_types[] = {MPNUM_TYPE_F32,  MPNUM_TYPE_F16,
                                            MPNUM_TYPE_BF16, MPNUM_TYPE_E5M2,
                                            MPNUM_TYPE_E4M3, MPNUM_TYPE_F64};
static void draw_gradients(law_draw *d) {
  d->columns = law_size(d, TILE, 9000);
  d->rows = d->columns > 600 || d->choice[7] ? 1 : law_size(d, 6, 20);
  d->column_tile = 64;
  d->row_unit = 1;
  d->column_unit = d->rows == 1 ? TILE : 0;
  d->types[0] = law_pick(d, gradient_types);
  d->types[1] = law_below(d, 2) ? d->types[0] : law_pick(d, gradient_types);
  law_input(d, OF_ELEMENTS, d->types[0], 0);
  law_result(d, OF_ELEMENTS, law_bits(d->types[1]), 0);
  d->operands[G_SRC].is_needed = 1;
  d->operands[G_DST].is_needed = 0;
  if (d->types[0] == d->types[1]) d->operands[G_DST].lies_on = G_SRC + 1;
  law_words(d, OF_CALL, 64, 0, 1, sizeof(mpnum_grad_findings) / 8 + 4);
  d->operands[G_FINDINGS].is_result = 1;
  d->operands[G_FINDINGS].alignment = 8;
  d->number[0] = law_below(d, 2) ? 0x1p-7f : 0.3f;
}
static mpnum_grad_tensor tensor_of(const law_piece *at, int has_dst) {
  const law_draw *d = at->draw;
  mpnum_grad_tensor tensor =
      mpnum_grad_tensor_of(d->types[0], at->at[G_SRC], at->columns, d->types[1],
                           has_dst ? at->at[G_DST] : NULL);
  tensor.rows = at->rows;
  tensor.src_stride = at->stride[G_SRC];
  tensor.dst_stride = at->stride[G_DST];
  return tensor;
}
/* Findings of a part, whose first element counts from the whole tensor's start. */
static void merge_findings(const law_piece *at, mpnum_grad_findings part) {
  mpnum_grad_findings all = mpnum_grad_findings_empty();
  if (AT(G_FINDINGS)[0]) memcpy(&all, AT(G_FINDINGS) + 1, sizeof all);
  if (part.first_tensor == 0)
    part.first_element += at->row * at->draw->columns + at->column;
  all = mpnum_grad_findings_merge(all, part);
  /* Squares are added in tiles of 2048 of what has no gaps: of rows they are not
   * compared. */
  if (at->draw->rows > 1) memset(&all.squares, 0, sizeof all.squares);
  AT(G_FINDINGS)[0] = 1;
  memcpy(AT(G_FINDINGS) + 1, &all, sizeof all);
}
static mpnum_status grad_multiply(const law_piece *at) {
  const mpnum_grad_tensor tensor = tensor_of(at, 1);
  mpnum_grad_findings findings = mpnum_grad_findings_empty();
  const mpnum_status status =
      mpnum_grad_multiply(&tensor, 1, at->draw->number[0], MPNUM_GRAD_NARROW, &findings);
  if (status == MPNUM_OK) merge_findings(at, findings);
  return status;
}
/* A tensor for each row. */
static mpnum_status grad_multiply_rows(const law_piece *at) {
  mpnum_grad_tensor tensors[20];
  mpnum_grad_findings findings = mpnum_grad_findings_empty();
  mpnum_status status;
  if (at->rows > 20) return grad_multiply(at);
  for (size_t r = 0; r < at->rows; ++r) {
    tensors[r] = tensor_of(at, 1);
    tensors[r].rows = 1;
    tensors[r].src = (const uint8_t *)at->at[G_SRC] +
                     r * at->stride[G_SRC] * (size_t)law_bits(at->draw->types[0]) / 8;
    tensors[r].dst = (uint8_t *)at->at[G_DST] +
                     r * at->stride[G_DST] * (size_t)law_bits(at->draw->types[1]) / 8;
  }
  status = mpnum_grad_multiply(tensors, at->rows, at->draw->number[0], MPNUM_GRAD_NARROW,
                               &findings);
  if (status != MPNUM_OK) return status;
  if (findings.first_tensor < at->rows) {
    findings.first_element += findings.first_tensor * at->draw->columns;
    findings.first_tensor = 0;
  }
  merge_findings(at, findings);
  return MPNUM_OK;
}
static mpnum_status grad_read(const law_piece *at) {
  const mpnum_grad_tensor tensor = tensor_of(at, 1);
  mpnum_grad_findings findings = mpnum_grad_findings_empty();
  const mpnum_status status = mpnum_grad_read(&tensor, 1, at->draw->number[0], &findings);
  if (status == MPNUM_OK) merge_findings(at, findings);
  return status;
}
static int spoil_gradients(law_draw *d, law_piece *at, int k) {
  if (k == 0) d->types[0] = MPNUM_TYPE_E2M1;
  if (k == 1) d->number[0] = mpnum_from_bits_f32(0x7f800000u);
  if (k == 2 && d->rows > 1) at->stride[G_DST] = d->columns - 1;
  return k < 2 || (k == 2 && d->rows > 1);
}
static int spoil_read(law_draw *d, law_piece *at, int k) {
  return k < 2 && spoil_gradients(d, at, k);
}
static void draw_written(law_draw *d) {
  draw_gradients(d);
  d->operands[G_DST].is_needed = 1;
}
/* The scaler's calls, each on a scaler of its own: unscale is multiply by its inverse,
 * check is read. */
static mpnum_status with_scaler(const law_piece *at, int kind) {
  const mpnum_grad_tensor tensor = tensor_of(at, kind != 0);
  mpnum_grad_findings findings = mpnum_grad_findings_empty();
  mpnum_grad_scaler scaler;
  mpnum_grad_optimizer optimizer;
  mpnum_grad_verdict verdict = MPNUM_GRAD_APPLY;
  mpnum_status status =
      mpnum_grad_scaler_init(&scaler, mpnum_grad_scaler_static(1 / at->draw->number[0]));
  const float max_norm =
      kind == 2 ? mpnum_from_bits_f32(0x7f800000u) : at->draw->number[1];
  if (status != MPNUM_OK) return status;
  optimizer = mpnum_grad_optimizer_of(&scaler);
  if (kind == 0)
    status = mpnum_grad_scaler_check(&scaler, &optimizer, &tensor, 1, &findings);
  if (kind == 1 || kind == 4)
    status = mpnum_grad_scaler_unscale(&scaler, &optimizer, &tensor, 1, MPNUM_GRAD_NARROW,
                                       &findings);
  if (kind == 4 && status == MPNUM_OK)
    status = mpnum_grad_scaler_clip(&scaler, &optimizer, &tensor, 1, max_norm);
  if (kind == 4 && status == MPNUM_OK)
    status = mpnum_grad_scaler_step(&scaler, &optimizer, &verdict);
  if (kind == 2 || kind == 3)
    status =
        mpnum_grad_scaler_unscale_clip_step(&scaler, &optimizer, &tensor, 1, max_norm,
                                            MPNUM_GRAD_NARROW, &findings, &verdict);
  if (status != MPNUM_OK) return status;
  merge_findings(at, findings);
  return MPNUM_OK;
}
static mpnum_status scaler_check(const law_piece *at) { return with_scaler(at, 0); }
static mpnum_status scaler_unscale(const law_piece *at) { return with_scaler(at, 1); }
static mpnum_status unscale_no_clip_step(const law_piece *at) {
  return with_scaler(at, 2);
}
static mpnum_status unscale_clip_step(const law_piece *at) { return with_scaler(at, 3); }
static mpnum_status unscale_then_clip(const law_piece *at) { return with_scaler(at, 4); }
/* A norm is that of all gradients: not to be cut. */
static void draw_clipped(law_draw *d) {
  d->choice[7] = 1; /* one row: the norm of rows is that of their tiles */
  draw_written(d);
  d->row_unit = d->column_unit = 0;
  d->number[0] = 0x1p-7f;
  d->number[1] = 0.01f;
}
static void draw_unscaled(law_draw *d) {
  draw_written(d);
  d->number[0] = 0x1p-7f;
}
static void draw_checked(law_draw *d) {
  draw_gradients(d);
  d->number[0] = 0x1p-7f;
  d->operands[G_DST].is_result = 0;
  d->operands[G_DST].lies_on = 0;
}
static void draw_read(law_draw *d) {
  draw_gradients(d);
  d->operands[G_DST].is_result = 0;
  d->operands[G_DST].lies_on = 0;
}
static int spoil_scaled(law_draw *d, law_piece *at, int k) {
  (void)at;
  d->types[0] = MPNUM_TYPE_E2M1;
  return k == 0;
}
static int spoil_clipped(law_draw *d, law_piece *at, int k) {
  if (k == 1) d->number[1] = -1;
  return k == 1 || spoil_scaled(d, at, k);
}

/* In floats: not to be cut. */
static mpnum_status dot_light(const law_piece *at) {
  *AT(2) = mpnum_bits_f32(mpnum_dot_light_f32(
      (const float *)at->at[0], (const float *)at->at[1], at->rows ? at->columns : 0));
  return MPNUM_OK;
}
static void draw_dot_light(law_draw *d) {
  draw_reduction(d);
  d->column_unit = 0;
}

/* --- Steps of optimizers: results begin as copies of what the step changes --- */

/* Scales of moments of 8 bits lie, both in one word, where their block begins. */
enum { O_GRADIENT, O_BEFORE, O_AFTER = O_BEFORE + 5, O_COPY = O_AFTER + 5, O_LOSSES };
static void draw_optimizer(law_draw *d) {
  static const mpnum_type small[] = {MPNUM_TYPE_BF16, MPNUM_TYPE_F16};
  static const mpnum_type moments[] = {MPNUM_TYPE_F32, MPNUM_TYPE_BF16, MPNUM_TYPE_E4M3};
  static const mpnum_type copies[] = {MPNUM_TYPE_BF16, MPNUM_TYPE_F16, MPNUM_TYPE_E4M3,
                                      MPNUM_TYPE_E5M2};
  int has_remainder;
  d->rows = 1;
  d->columns = law_size(d, 1024, 5000);
  d->column_tile = 1024;
  d->choice[0] = (int)law_below(d, 5); /* kind; SGD with a momentum, too */
  d->choice[1] = (int)law_below(d, 2); /* nesterov */
  d->choice[2] = (int)law_below(d, 2); /* to nearest */
  d->types[0] = gradient_types[law_below(d, 5)];
  d->types[1] = law_below(d, 2) ? MPNUM_TYPE_F32 : law_pick(d, small);
  d->types[2] = law_pick(d, moments);
  d->column_unit = d->types[2] == MPNUM_TYPE_E4M3 ? MPNUM_OPTIMIZER_BLOCK : 1;
  d->types[3] = law_pick(d, copies);
  has_remainder = d->types[1] != MPNUM_TYPE_F32 && law_below(d, 2);
  if (d->types[1] == MPNUM_TYPE_F16) d->choice[2] = 0;
  if (d->types[1] == MPNUM_TYPE_BF16 && !has_remainder) d->choice[2] = 0;
  d->number[0] = law_below(d, 2) ? 1 : 0x1p-7f;
  d->number[1] = d->types[3] == MPNUM_TYPE_BF16 || d->types[3] == MPNUM_TYPE_F16 ? 1 : 8;
  d->word[0] = law_random(d);
  d->word[1] = 1 + law_random(d) % 3000;
  law_input(d, OF_ELEMENTS, d->types[0], 0);
  law_input(d, OF_ELEMENTS, d->types[1], 0);
  if (has_remainder)
    law_input(d, OF_ELEMENTS, d->types[1], 0);
  else
    law_none(d);
  law_input(d, OF_ELEMENTS, d->types[2], 0);
  law_input(d, OF_ELEMENTS, d->types[2], 0);
  law_codes(d, OF_ELEMENTS, 16, 0);
  law_result(d, OF_ELEMENTS, law_bits(d->types[1]), 0);
  if (has_remainder)
    law_result(d, OF_ELEMENTS, law_bits(d->types[1]), 0);
  else
    law_none(d);
  law_result(d, OF_ELEMENTS, law_bits(d->types[2]), 0);
  law_result(d, OF_ELEMENTS, law_bits(d->types[2]), 0);
  law_result(d, OF_ELEMENTS, 16, 0);
  if (law_below(d, 2))
    law_result(d, OF_ELEMENTS, law_bits(d->types[3]), 0);
  else
    law_none(d);
  law_words(d, OF_CALL, 64, 0, 1, sizeof(mpnum_quantize_losses) / 8);
  d->operands[O_LOSSES].is_result = 1;
  d->operands[O_LOSSES].alignment = 8;
  d->operands[O_GRADIENT].is_needed = 1;
  for (int i = 0; i < d->count; ++i)
    if (i != O_GRADIENT) d->operands[i].is_needed = 0;
}
static mpnum_optimizer_tensor optimized_of(const law_piece *at) {
  const law_draw *d = at->draw;
  const size_t n = at->rows ? at->columns : 0;
  mpnum_optimizer_tensor tensor = mpnum_optimizer_tensor_of(
      n, d->types[0], at->at[O_GRADIENT], d->types[1], at->at[O_AFTER], d->types[2],
      at->at[O_AFTER + 2], at->at[O_AFTER + 3]);
  tensor.remainder = at->at[O_AFTER + 1];
  tensor.copy = at->at[O_COPY];
  tensor.copy_type = d->types[3];
  tensor.copy_scale = d->number[1];
  tensor.losses = (mpnum_quantize_losses *)at->at[O_LOSSES];
  tensor.first = 12345 + at->column;
  return tensor;
}
static mpnum_optimizer optimizer_of(const law_draw *d) {
  mpnum_optimizer made = mpnum_optimizer_default(
      d->choice[0] == 4 ? MPNUM_OPTIMIZER_SGD : (mpnum_optimizer_kind)d->choice[0]);
  if (d->choice[0] == 4) made.beta1 = 0.9;
  made.nesterov = d->choice[1];
  made.weight_decay = 0.1;
  if (d->choice[2]) made.rounding = MPNUM_ROUND_NEAREST_EVEN;
  made.seed = d->word[0];
  return made;
}
static void begin_optimizer(const law_piece *at) {
  const law_draw *d = at->draw;
  for (int i = 0; i < 5; ++i)
    if (at->at[O_AFTER + i] && at->at[O_BEFORE + i])
      memcpy(at->at[O_AFTER + i], at->at[O_BEFORE + i],
             (at->rows ? at->columns : 0) *
                 (size_t)(i == 4 ? 2 : law_bits(d->types[i < 2 ? 1 : 2]) / 8));
}
typedef struct block_scales {
  mpnum_e8m0 of[2][32];
} block_scales;
static size_t word_at(size_t i) { return 2 * i * MPNUM_OPTIMIZER_BLOCK; }
/* Scales up to 2^63, as codes are any. */
static void take_scales(const law_piece *at, block_scales *scales,
                        mpnum_optimizer_tensor *tensor) {
  const uint8_t *words = (const uint8_t *)at->at[O_BEFORE + 4];
  for (size_t i = 0; i * MPNUM_OPTIMIZER_BLOCK < tensor->n; ++i)
    for (size_t k = 0; k < 2; ++k)
      scales->of[k][i].bits = words[word_at(i) + k] % 190;
  tensor->moment1_scales = scales->of[0];
  tensor->moment2_scales = scales->of[1];
}
static void put_scales(const law_piece *at, const mpnum_optimizer_tensor *tensor) {
  uint8_t *words = (uint8_t *)at->at[O_AFTER + 4];
  if (tensor->moment_type != MPNUM_TYPE_E4M3) return;
  for (size_t i = 0; i * MPNUM_OPTIMIZER_BLOCK < tensor->n; ++i) {
    words[word_at(i)] = tensor->moment1_scales[i].bits;
    words[word_at(i) + 1] = tensor->moment2_scales[i].bits;
  }
}
/* What a call that is refused must not write was copied there before: by its status. */
static mpnum_status optimizer_step(const law_piece *at) {
  const mpnum_optimizer optimizer = optimizer_of(at->draw);
  mpnum_optimizer_tensor tensor = optimized_of(at);
  block_scales scales;
  mpnum_status status = MPNUM_OK;
  take_scales(at, &scales, &tensor);
  status =
      mpnum_optimizer_step(&optimizer, &tensor, 1, at->draw->word[1], at->draw->number[0],
                           MPNUM_GRAD_SKIP); /* whether it would be refused */
  if (status != MPNUM_OK) return status;
  begin_optimizer(at);
  status = mpnum_optimizer_step(&optimizer, &tensor, 1, at->draw->word[1],
                                at->draw->number[0], MPNUM_GRAD_APPLY);
  put_scales(at, &tensor);
  return status;
}
/* The same as a list of three tensors. */
static mpnum_status optimizer_list(const law_piece *at) {
  const mpnum_optimizer optimizer = optimizer_of(at->draw);
  mpnum_optimizer_tensor tensors[3];
  const law_draw *d = at->draw;
  size_t begin = 0;
  mpnum_optimizer_tensor whole = optimized_of(at);
  block_scales scales;
  mpnum_status status = MPNUM_OK;
  take_scales(at, &scales, &whole);
  for (size_t i = 0; i < 3; ++i) {
    const size_t cut = whole.n * (i + 1) / 3 / d->column_unit * d->column_unit;
    const size_t end = i == 2 ? whole.n : cut;
    law_piece part = *at;
    part.column += begin;
    part.columns = end - begin;
    for (int k = 0; k < O_LOSSES; ++k)
      if (part.at[k])
        part.at[k] = (uint8_t *)part.at[k] + begin * (size_t)(d->operands[k].bits / 8);
    tensors[i] = optimized_of(&part);
    tensors[i].moment1_scales = whole.moment1_scales + begin / MPNUM_OPTIMIZER_BLOCK;
    tensors[i].moment2_scales = whole.moment2_scales + begin / MPNUM_OPTIMIZER_BLOCK;
    begin = end;
  }
  begin_optimizer(at);
  status = mpnum_optimizer_step(&optimizer, tensors, 3, d->word[1], d->number[0],
                                MPNUM_GRAD_APPLY);
  put_scales(at, &whole);
  return status;
}
static int spoil_optimizer(law_draw *d, law_piece *at, int k) {
  (void)at;
  if (k == 0) d->types[0] = MPNUM_TYPE_E2M1;
  if (k == 1) d->types[1] = MPNUM_TYPE_E4M3;
  if (k == 2) d->word[1] = 0;
  if (k == 3) d->number[0] = mpnum_from_bits_f32(0x7fc00000u);
  return k < 4;
}

/* --- Steps of Adafactor: the same, and averages of rows and columns --- */

enum { F_GRADIENT, F_BEFORE, F_AFTER = F_BEFORE + 4, F_COPY = F_AFTER + 4 };
static void draw_adafactor(law_draw *d) {
  static const mpnum_type parameters[] = {MPNUM_TYPE_F32, MPNUM_TYPE_BF16,
                                          MPNUM_TYPE_F16};
  int has_remainder;
  d->rows = law_size(d, 64, 200);
  d->columns = law_size(d, 1024, 2500);
  if (d->rows * d->columns > 60000) d->rows = 1 + law_below(d, 20);
  d->choice[0] = (int)law_below(d, 2); /* is_scaled */
  d->choice[1] = (int)law_below(d, 2); /* no clip */
  d->types[0] = gradient_types[law_below(d, 5)];
  d->types[1] = law_pick(d, parameters);
  d->types[2] = MPNUM_TYPE_F32;
  has_remainder = d->types[1] != MPNUM_TYPE_F32 && law_below(d, 2);
  d->number[0] = law_below(d, 2) ? 1 : 0x1p-7f;
  d->word[0] = law_random(d);
  d->word[1] = 1 + law_random(d) % 3000;
  law_input(d, OF_ELEMENTS, d->types[0], 0);
  for (int after = 0; after < 2; ++after) {
    const int bits = law_bits(d->types[1]);
    if (after) {
      law_result(d, OF_ELEMENTS, bits, 0);
    } else {
      law_input(d, OF_ELEMENTS, d->types[1], 0);
    }
    if (!has_remainder) {
      law_none(d);
    } else if (after) {
      law_result(d, OF_ELEMENTS, bits, 0);
    } else {
      law_input(d, OF_ELEMENTS, d->types[1], 0);
    }
    if (after) {
      law_result(d, OF_ROWS, 32, 0);
      law_result(d, OF_COLUMNS, 32, 0);
    } else {
      law_input(d, OF_ROWS, MPNUM_TYPE_F32, 0);
      law_input(d, OF_COLUMNS, MPNUM_TYPE_F32, 0);
    }
  }
  if (law_below(d, 2))
    law_result(d, OF_ELEMENTS, 16, 0);
  else
    law_none(d);
  for (int i = 0; i < d->count; ++i)
    d->operands[i].is_needed = i == F_GRADIENT;
}
static void begin_adafactor(const law_piece *at) {
  const size_t all = at->rows * at->columns;
  const size_t size = (size_t)(law_bits(at->draw->types[1]) / 8);
  const size_t bytes[4] = {all * size, all * size, 4 * at->rows, 4 * at->columns};
  for (int i = 0; i < 4; ++i)
    if (at->at[F_AFTER + i] && at->at[F_BEFORE + i])
      memcpy(at->at[F_AFTER + i], at->at[F_BEFORE + i], bytes[i]);
}
static mpnum_status adafactor_steps(const law_piece *at, size_t empty) {
  const law_draw *d = at->draw;
  mpnum_adafactor adafactor = mpnum_adafactor_default();
  mpnum_optimizer_tensor tensors[2];
  mpnum_status status = MPNUM_OK;
  adafactor.is_scaled = d->choice[0];
  if (d->choice[1]) adafactor.clip = 1e300;
  adafactor.weight_decay = 0.1;
  adafactor.seed = d->word[0];
  tensors[0] = tensors[1] = mpnum_optimizer_tensor_of(
      at->rows * at->columns, d->types[0], at->at[F_GRADIENT], d->types[1],
      at->at[F_AFTER], d->types[2], at->at[F_AFTER + 2], at->at[F_AFTER + 3]);
  if (empty) tensors[0].n = 0;
  tensors[empty].remainder = at->at[F_AFTER + 1];
  tensors[empty].columns = at->columns;
  tensors[empty].copy = at->at[F_COPY];
  status = mpnum_adafactor_step(&adafactor, tensors, 1 + empty, d->word[1], d->number[0],
                                MPNUM_GRAD_SKIP); /* whether it would be refused */
  if (status != MPNUM_OK) return status;
  begin_adafactor(at);
  return mpnum_adafactor_step(&adafactor, tensors, 1 + empty, d->word[1], d->number[0],
                              MPNUM_GRAD_APPLY);
}
static mpnum_status adafactor_step(const law_piece *at) { return adafactor_steps(at, 0); }
/* Behind a tensor without elements. */
static mpnum_status adafactor_list(const law_piece *at) { return adafactor_steps(at, 1); }
static int spoil_adafactor(law_draw *d, law_piece *at, int k) {
  (void)at;
  if (k == 0) d->types[0] = MPNUM_TYPE_E2M1;
  if (k == 1) d->types[2] = MPNUM_TYPE_E4M3;
  if (k == 2) d->word[1] = 0;
  if (k == 3) d->choice[0] = 2;
  return k < 4;
}

#define REDUCTION_LAWS (MEMORY_LAWS | HOLDS(LAW_SPLIT) | HOLDS(LAW_EMPTY))
#define GRAD_LAWS      (REDUCTION_LAWS | HOLDS(LAW_STRIDED) | HOLDS(LAW_REFUSED))
#define ENTRY(name, T, NAME, sources) \
 static const int entry_##name##_##T[] = {MPNUM_TYPE_##NAME, sources};
#define ROW(name, T, NAME, sources)                                         \
 {"mpnum_" #name "_" #T, draw_reduction, name##_##T,        REDUCTION_LAWS, \
  {{LAW_TWIN, NULL}},    NULL,           entry_##name##_##T},
#define THREE_OF(DO, name, sources) \
 DO(name, f32, F32, sources)        \
 DO(name, bf16, BF16, sources)      \
 DO(name, f16, F16, sources)
#define FIVE_OF(DO, name, sources) \
 THREE_OF(DO, name, sources) DO(name, e5m2, E5M2, sources) DO(name, e4m3, E4M3, sources)
#define ALL(DO)                  \
 FIVE_OF(DO, first_nonfinite, 1) \
 FIVE_OF(DO, all_finite, 1)      \
 FIVE_OF(DO, amax, 1)            \
 FIVE_OF(DO, stats, 1)           \
 THREE_OF(DO, sum, 1) THREE_OF(DO, norm, 1) THREE_OF(DO, dot, 2)
ALL(ENTRY)

#define NO_TWIN      \
 {                   \
  { LAW_TWIN, NULL } \
 }
static const law_subject subjects[] = {
    ALL(ROW) /**/
    {"mpnum_exact_sum_add", draw_total, total_add, REDUCTION_LAWS | HOLDS(LAW_REFUSED),
     NO_TWIN, spoil_total, NULL},
    {"mpnum_exact_sum_add_squares", draw_total, total_squares,
     REDUCTION_LAWS | HOLDS(LAW_REFUSED), NO_TWIN, spoil_total, NULL},
    {"mpnum_exact_sum_add_products", draw_products, total_products,
     REDUCTION_LAWS | HOLDS(LAW_REFUSED), NO_TWIN, spoil_total, NULL},
    {"mpnum_count_lost", draw_total, count_lost, REDUCTION_LAWS | HOLDS(LAW_REFUSED),
     NO_TWIN, spoil_total, NULL},
    {"mpnum_grad_multiply",
     draw_gradients,
     grad_multiply,
     GRAD_LAWS | HOLDS(LAW_IN_PLACE),
     {{LAW_TWIN, grad_multiply_rows}},
     spoil_gradients,
     NULL},
    {"mpnum_grad_read", draw_read, grad_read, GRAD_LAWS, NO_TWIN, spoil_read, NULL},
    {"mpnum_grad_scaler_check",
     draw_checked,
     scaler_check,
     GRAD_LAWS,
     {{LAW_TWIN, grad_read}},
     spoil_scaled,
     NULL},
    {"mpnum_grad_scaler_unscale",
     draw_unscaled,
     scaler_unscale,
     GRAD_LAWS | HOLDS(LAW_IN_PLACE),
     {{LAW_TWIN, grad_multiply}, {LAW_TWIN, unscale_no_clip_step}},
     spoil_scaled,
     NULL},
    {"mpnum_grad_scaler_clip",
     draw_clipped,
     unscale_then_clip,
     (GRAD_LAWS | HOLDS(LAW_IN_PLACE)) & ~(HOLDS(LAW_SPLIT) | HOLDS(LAW_STRIDED)),
     {{LAW_TWIN, unscale_clip_step}},
     spoil_scaled,
     NULL},
    {"mpnum_grad_scaler_unscale_clip_step",
     draw_clipped,
     unscale_clip_step,
     (GRAD_LAWS | HOLDS(LAW_IN_PLACE)) & ~(HOLDS(LAW_SPLIT) | HOLDS(LAW_STRIDED)),
     {{LAW_TWIN, unscale_then_clip}},
     spoil_clipped,
     NULL},
    {"mpnum_dot_light_f32", draw_dot_light, dot_light, REDUCTION_LAWS & ~HOLDS(LAW_SPLIT),
     NO_TWIN, NULL, entry_dot_f32},
    {"mpnum_optimizer_step",
     draw_optimizer,
     optimizer_step,
     (REDUCTION_LAWS | HOLDS(LAW_REFUSED) | DRAWN(3)) & ~HOLDS(LAW_EMPTY),
     {{LAW_TWIN, optimizer_list}},
     spoil_optimizer,
     NULL},
    {"mpnum_adafactor_step",
     draw_adafactor,
     adafactor_step,
     MEMORY_LAWS | HOLDS(LAW_REFUSED),
     {{LAW_TWIN, adafactor_list}},
     spoil_adafactor,
     NULL},
};

int main(int argc, char **argv) {
  return laws_main(argc, argv, subjects, sizeof subjects / sizeof subjects[0],
                   force_all_isa, 120);
}
