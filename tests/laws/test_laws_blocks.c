/* SPDX-License-Identifier: MIT */
/* The laws of small formats with scales: of blocks, tensors and channels, and of what
 * measures them. */
#include <mpnum/blocks/block.h>
#include <mpnum/blocks/least_error.h>
#include <mpnum/blocks/measure.h>
#include <mpnum/hardware/product.h>

#include "block_draws.h"
#include "stored_draws.h"

static void draw_both(law_draw *d) {
  mpnum_blockscale_format first, second;
  draw_size(d, 16000);
  if (law_below(d, 6) == 0) { /* what several bands of chunks need */
    d->columns = 24000;
    d->rows = 1 + law_below(d, 30);
  }
  draw_format(d, 0);
  draw_format(d, 1);
  if (law_below(d, 2)) { /* columns of packed codes beside other columns */
    static const int packed[] = {2, 3, 4, 6, 12};
    d->choice[0] = law_pick(d, packed);
    d->choice[2] = d->choice[5] = 1;
  }
  d->types[0] = law_pick(d, source_types);
  law_input(d, OF_ELEMENTS, d->types[0], 0);
  d->operands[SRC].alignment = law_bits(d->types[0]) / 8;
  draw_codes(d, 0);
  draw_losses(d);
  draw_codes(d, 1);
  d->number[0] = 0x1.5p+4f;
  first = format_of(d, 0);
  second = format_of(d, 1);
  d->row_unit = first.rows && second.rows ? first.rows * second.rows : 0;
}
static mpnum_status both_by_two(const law_piece *at) {
  const mpnum_blockscale_format first = format_of(at->draw, 0);
  const mpnum_blockscale_format second = format_of(at->draw, 1);
  const mpnum_status status =
      mpnum_quantize_blocks(&first, codes_of(at, 0), source_of(at), NULL,
                            (mpnum_quantize_losses *)at->at[LOSSES]);
  return status != MPNUM_OK
             ? status
             : mpnum_quantize_blocks(&second, codes_of(at, 1), source_of(at), NULL, NULL);
}
static mpnum_status finite_amax(const law_piece *at) {
  float amax = 0;
  const mpnum_status status =
      mpnum_finite_amax_rows(at->at[1] ? &amax : NULL, source_of(at));
  if (status == MPNUM_OK && at->at[1])
    law_set(32, at->at[1], 0,
            mpnum_bits_f32(mpnum_amax_merge(
                mpnum_from_bits_f32((uint32_t)law_get(32, at->at[1], 0)), amax)));
  return status;
}
static int spoil_amax(law_draw *d, law_piece *at, int k) {
  (void)at;
  d->types[0] = MPNUM_TYPE_F64;
  return k == 0;
}
static int spoil_scaled(law_draw *d, law_piece *at, int k) {
  static const mpnum_type no_wide[] = {MPNUM_TYPE_F64, MPNUM_TYPE_TF32, MPNUM_TYPE_E8M0,
                                       MPNUM_TYPE_E4M3, (mpnum_type)0};
  static const mpnum_type no_codes[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_E8M0,
                                        (mpnum_type)0};
  d->refusal = k < 2    ? MPNUM_ERROR_TYPE
               : k == 2 ? MPNUM_ERROR_OVERLAP
               : k == 3 ? MPNUM_ERROR_ARGUMENT
                        : MPNUM_ERROR_STRIDE;
  if (k == 0) d->types[0] = law_pick(d, no_wide);
  if (k == 1) d->types[1] = law_pick(d, no_codes);
  if (k == 2) at->at[T_DST] = at->at[T_SRC];
  if (k == 3 && !d->row_unit) d->number[0] = law_no_scale(d);
  if (k == 3 && d->row_unit) {
    static float scales[32]; /* of fewer rows */
    for (size_t r = 0; r < d->rows; ++r)
      scales[r] = 1;
    scales[law_below(d, d->rows)] = law_no_scale(d);
    at->at[T_SCALES] = scales;
  }
  if (k == 4 && d->rows > 1) at->stride[T_DST] = d->columns - 1;
  return k < 4 || (k == 4 && d->rows > 1);
}
/* By the transposed matrix, whose blocks lie the other way; codes and scales are turned
 * back, but for swizzled scales, which are those of the operand as it is multiplied. */
static mpnum_status quantize_transposed(const law_piece *at) {
  const law_draw *d = at->draw;
  const mpnum_blockscale_format format = format_of(d, 0);
  const mpnum_blockscale_format turned = mpnum_blockscale_transposed(format);
  const int bits = law_bits(d->types[0]), element_bits = format.element_bits;
  const size_t rows = at->rows, columns = at->columns;
  const size_t stride = (rows + 3) / 4 * 4, line = law_bytes(element_bits, stride);
  mpnum_status status = mpnum_blockscale_validate(&turned, NULL);
  if (status != MPNUM_OK || d->choice[7] || rows == 0 || columns == 0 ||
      (d->word[1] && format.rows == format.columns))
    return quantize(at);
  uint8_t *source = (uint8_t *)malloc(rows * columns * (size_t)bits / 8);
  uint8_t *codes = (uint8_t *)calloc(columns, line);
  mpnum_blockscaled to = codes_of(at, 0);
  const size_t room =
      mpnum_blockscale_scale_bytes(&turned, columns, rows, to.is_swizzled);
  uint8_t *scales = (uint8_t *)calloc(room, 1);
  if (!source || !codes || !scales) abort();
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c)
      law_set(
          bits, source, c * rows + r,
          law_get(bits,
                  (const uint8_t *)at->at[SRC] + r * at->stride[SRC] * (size_t)bits / 8,
                  c));
  const mpnum_blockscaled turned_to = {codes, stride,         scales,
                                       room,  to.is_swizzled, to.scale};
  status = mpnum_quantize_blocks(
      &turned, turned_to, mpnum_const_matrix_of(d->types[0], source, columns, rows), NULL,
      (mpnum_quantize_losses *)at->at[LOSSES]);
  if (status == MPNUM_OK) { /* what fills up bytes is that of rows */
    law_piece plain = *at;
    plain.at[LOSSES] = NULL;
    status = quantize(&plain);
  }
  if (status == MPNUM_OK) {
    const size_t size = format.scale_type == MPNUM_TYPE_F32 ? 4 : 1;
    const size_t high = format.rows ? format.rows : rows;
    const size_t wide = format.columns ? format.columns : columns;
    const size_t down = (rows + high - 1) / high, across = (columns + wide - 1) / wide;
    for (size_t i = 0; i < down && !to.is_swizzled; ++i)
      for (size_t k = 0; k < across; ++k)
        memcpy((uint8_t *)to.scale_inv + (i * across + k) * size,
               scales + (k * down + i) * size, size);
    if (to.is_swizzled) memcpy(to.scale_inv, scales, room);
    for (size_t r = 0; r < rows; ++r) {
      uint8_t *row = (uint8_t *)to.codes + r * to.stride * (size_t)element_bits / 8;
      uint64_t last = 0;
      for (size_t c = 0; c < columns; ++c) {
        last = law_get(element_bits, codes + c * line, r);
        law_set(element_bits, row, c, last);
      }
    }
  }
  free(source);
  free(codes);
  free(scales);
  return status;
}

static mpnum_status measure_blocks(const law_piece *at) {
  const mpnum_blockscale_format format = format_of(at->draw, 0);
  mpnum_measure measure = mpnum_measure_empty();
  const mpnum_status status =
      mpnum_measure_blocks(&measure, source_of(at), &format, codes_of(at, 0));
  if (status == MPNUM_OK && sizeof measure <= 8 * 64)
    memcpy(at->at[MORE_CODES], &measure, sizeof measure);
  return status;
}
static void draw_measure_blocks(law_draw *d) {
  draw_dequantize(d);
  d->operands[SRC].is_result = 0;
  d->operands[SRC].has_stride = 1;
  d->row_unit = 0;
  const int k = law_words(d, OF_CALL, 64, 0, 1, 64);
  d->operands[k].is_result = 1;
  d->operands[k].alignment = 8;
}
/* --- One block inline --- */

static void draw_block(law_draw *d) {
  size_t most = 256;
  mpnum_blockscale_format format;
  draw_format(d, 0);
  format = format_of(d, 0);
  if (format.columns && format.columns < most) most = format.columns;
  d->rows = 1;
  d->columns = law_below(d, 3) ? most : law_below(d, most + 1);
  d->row_tile = 1;
  d->column_tile = 8;
  d->types[0] = law_pick(d, source_types);
  law_input(d, OF_ELEMENTS, d->types[0], 0);
  d->operands[SRC].alignment = law_bits(d->types[0]) / 8;
  draw_codes(d, 0);
  d->operands[SRC].has_stride = d->operands[CODES].has_stride = 0;
  d->number[0] = 0x1.5p+4f;
}
static mpnum_status quantize_one(const law_piece *at) {
  const mpnum_blockscaled to = codes_of(at, 0);
  return mpnum_quantize_block(format_of(at->draw, 0), to.codes, to.scale_inv, to.scale,
                              at->draw->types[0], at->at[SRC],
                              at->rows ? at->columns : 0);
}
static mpnum_status quantize_one_by_matrix(const law_piece *at) {
  const mpnum_blockscale_format format = format_of(at->draw, 0);
  return mpnum_quantize_blocks(&format, codes_of(at, 0), source_of(at), NULL, NULL);
}
static void draw_block_back(law_draw *d) {
  law_piece at;
  mpnum_status status;
  draw_block(d);
  at = whole_of(d);
  status = quantize_one_by_matrix(&at);
  if (status != MPNUM_OK) abort();
  d->operands[CODES].is_result = d->operands[SCALES].is_result = 0;
  d->operands[SRC].is_result = 1;
}
static mpnum_status dequantize_one(const law_piece *at) {
  const mpnum_blockscaled from = codes_of(at, 0);
  return mpnum_dequantize_block(format_of(at->draw, 0), at->draw->types[0], at->at[SRC],
                                from.codes, from.scale_inv, from.scale,
                                at->rows ? at->columns : 0);
}
/* MX and NVFP4 in rows of blocks, by the least squared error. */
static void draw_least_error(law_draw *d) {
  static const int presets[] = {0, 1, 2, 3, 4, 5, 6, 13};
  draw_size(d, 6000);
  draw_format(d, 0);
  d->choice[0] = presets[law_below(d, 8)];
  d->choice[2] = d->choice[7] = 0;
  draw_quantize_to(d);
}
static mpnum_status quantize_least_error(const law_piece *at) {
  const mpnum_blockscale_format format = format_of(at->draw, 0);
  return mpnum_quantize_least_error(&format, codes_of(at, 0), source_of(at),
                                    1 + (int)(at->draw->word[0] % 8),
                                    (mpnum_quantize_losses *)at->at[LOSSES]);
}

/* --- Presets by their names --- */

static mpnum_blockscale_format preset_of(const law_draw *d) {
  const int which = ((const int *)d->entry)[0];
  return which == MPNUM_TYPE_F32
             ? mpnum_blockscale_nvfp4_1x16()
             : mpnum_blockscale_mx((mpnum_type)which, MPNUM_BLOCKSCALE_RCEIL);
}
enum { P_SRC, P_CODES, P_SCALES, P_SCALE };
static void draw_preset(law_draw *d) {
  mpnum_blockscale_format format;
  draw_size(d, 9000);
  format = preset_of(d);
  law_input(d, OF_ELEMENTS, MPNUM_TYPE_F32, 0);
  law_result(d, OF_ELEMENTS, format.element_bits, 0);
  law_result(d, OF_CALL, 8,
             mpnum_blockscale_scale_bytes(&format, d->rows, d->columns, 0));
  law_words(d, OF_CALL, 32, 0, 1, 1);
  for (int k = 0; k < 3; ++k)
    d->operands[k].has_stride = 0;
  d->operands[P_SRC].alignment = 4;
  d->operands[P_SCALES].is_needed = 1;
  d->operands[P_SCALE].is_result = 1;
  d->operands[P_SCALE].alignment = 4;
}
static size_t preset_scales(const law_piece *at) {
  const mpnum_blockscale_format format = preset_of(at->draw);
  return mpnum_blockscale_scale_bytes(&format, at->rows, at->columns, 0);
}
static mpnum_blockscaled preset_codes(const law_piece *at, float scale) {
  mpnum_blockscaled made;
  made.codes = at->at[P_CODES];
  made.stride = at->stride[P_CODES];
  made.scale_inv = at->at[P_SCALES];
  made.scale_inv_bytes = preset_scales(at);
  made.is_swizzled = 0;
  made.scale = scale;
  return made;
}
static void draw_preset_back(law_draw *d) {
  law_piece at;
  mpnum_status status;
  mpnum_blockscale_format format;
  draw_preset(d);
  format = preset_of(d);
  at = whole_of(d);
  status = mpnum_quantize_blocks(
      &format, preset_codes(&at, 2.5f),
      mpnum_const_matrix_of(MPNUM_TYPE_F32, at.at[P_SRC], d->rows, d->columns), NULL,
      NULL);
  if (status != MPNUM_OK) abort();
  d->operands[P_CODES].is_result = d->operands[P_SCALES].is_result = 0;
  d->operands[P_SRC].is_result = 1;
}
#define PRESET(T, codes, type)                                                           \
 static const int entry_##T = type;                                                      \
 static mpnum_status quantize_##T(const law_piece *at) {                                 \
  return mpnum_quantize_mx_##T((codes *)at->at[P_CODES], (mpnum_e8m0 *)at->at[P_SCALES], \
                               preset_scales(at), (const float *)at->at[P_SRC],          \
                               at->rows, at->columns);                                   \
 }                                                                                       \
 static mpnum_status dequantize_##T(const law_piece *at) {                               \
  return mpnum_dequantize_mx_##T((float *)at->at[P_SRC], (const codes *)at->at[P_CODES], \
                                 (const mpnum_e8m0 *)at->at[P_SCALES],                   \
                                 preset_scales(at), at->rows, at->columns);              \
 }
PRESET(e4m3, mpnum_e4m3, MPNUM_TYPE_E4M3)
PRESET(e2m1, mpnum_e2m1x2, MPNUM_TYPE_E2M1)
static const int entry_nvfp4 = MPNUM_TYPE_F32; /* no type of MX */
static mpnum_status quantize_nvfp4(const law_piece *at) {
  return mpnum_quantize_nvfp4(
      (mpnum_e2m1x2 *)at->at[P_CODES], (mpnum_e4m3 *)at->at[P_SCALES], preset_scales(at),
      (float *)at->at[P_SCALE], (const float *)at->at[P_SRC], at->rows, at->columns);
}
static mpnum_status dequantize_nvfp4(const law_piece *at) {
  return mpnum_dequantize_nvfp4((float *)at->at[P_SRC],
                                (const mpnum_e2m1x2 *)at->at[P_CODES],
                                (const mpnum_e4m3 *)at->at[P_SCALES], preset_scales(at),
                                2.5f, at->rows, at->columns);
}
static mpnum_status preset_by_format(const law_piece *at) {
  const mpnum_blockscale_format format = preset_of(at->draw);
  float scale = 1;
  if (at->draw->entry == &entry_nvfp4) {
    uint32_t amax = 0;
    for (size_t i = 0; i < at->rows * at->columns; ++i) {
      const uint32_t bits = (uint32_t)law_get(32, at->at[P_SRC], i) & 0x7fffffffu;
      if (bits < 0x7f800000u && bits > amax) amax = bits;
    }
    scale = mpnum_nvfp4_scale(mpnum_from_bits_f32(amax));
    law_set(32, at->at[P_SCALE], 0, mpnum_bits_f32(scale));
  }
  return mpnum_quantize_blocks(
      &format, preset_codes(at, scale),
      mpnum_const_matrix_of(MPNUM_TYPE_F32, at->at[P_SRC], at->rows, at->columns), NULL,
      NULL);
}
static mpnum_status preset_back_by_format(const law_piece *at) {
  const mpnum_blockscale_format format = preset_of(at->draw);
  return mpnum_dequantize_blocks(
      &format, mpnum_matrix_of(MPNUM_TYPE_F32, at->at[P_SRC], at->rows, at->columns),
      preset_codes(at, 2.5f));
}

/* --- A scale for each channel --- */

static void draw_quantize_channels(law_draw *d) { draw_scaled(d, 0, 1); }
static void draw_dequantize_channels(law_draw *d) { draw_scaled(d, 1, 1); }
static mpnum_status quantize_channels(const law_piece *at) {
  return mpnum_quantize_channels(at->draw->types[1], at->at[T_DST], at->stride[T_DST],
                                 source_of(at), (const float *)at->at[T_SCALES],
                                 (mpnum_quantize_losses *)at->at[T_LOSSES]);
}
static mpnum_status channels_one_by_one(const law_piece *at) {
  const law_draw *d = at->draw;
  mpnum_status status = MPNUM_OK;
  for (size_t r = 0; r < at->rows && status == MPNUM_OK; ++r) {
    const float scale = mpnum_from_bits_f32((uint32_t)law_get(32, at->at[T_SCALES], r));
    const uint8_t *src = (const uint8_t *)at->at[T_SRC] +
                         r * at->stride[T_SRC] * (size_t)d->operands[T_SRC].bits / 8;
    uint8_t *dst = (uint8_t *)at->at[T_DST] +
                   r * at->stride[T_DST] * (size_t)d->operands[T_DST].bits / 8;
    status = d->operands[T_SRC].bits == 8
                 ? mpnum_dequantize_array(d->types[0], dst, d->types[1], src, at->columns,
                                          scale)
                 : mpnum_quantize_array(d->types[1], dst, d->types[0], src, at->columns,
                                        scale, (mpnum_quantize_losses *)at->at[T_LOSSES]);
  }
  return status;
}
static mpnum_status dequantize_channels(const law_piece *at) {
  mpnum_matrix to =
      mpnum_matrix_of(at->draw->types[0], at->at[T_DST], at->rows, at->columns);
  to.stride = at->stride[T_DST];
  return mpnum_dequantize_channels(to, at->draw->types[1], at->at[T_SRC],
                                   at->stride[T_SRC], (const float *)at->at[T_SCALES]);
}
/* --- Measures and products --- */

enum { M_SRC, M_RESULT, M_MEASURE };
static void draw_measure(law_draw *d) {
  d->columns = law_size(d, 512, 3000);
  d->rows = d->columns > 300 ? law_below(d, 6) : law_below(d, 30);
  d->types[0] = law_pick(d, source_types);
  d->types[1] = law_pick(d, source_types);
  law_input(d, OF_ELEMENTS, d->types[0], 0);
  law_input(d, OF_ELEMENTS, d->types[1], 0);
  law_words(d, OF_CALL, 64, 0, 1, 64);
  d->operands[M_MEASURE].is_result = 1;
  d->operands[M_MEASURE].alignment = 8;
}
static mpnum_status measure_rows(const law_piece *at) {
  mpnum_measure measure = mpnum_measure_empty();
  mpnum_const_matrix result =
      mpnum_const_matrix_of(at->draw->types[1], at->at[M_RESULT], at->rows, at->columns);
  mpnum_status status;
  result.stride = at->stride[M_RESULT];
  status = mpnum_measure_rows(&measure, source_of(at), result, 100);
  if (status == MPNUM_OK && sizeof measure <= 8 * 64)
    memcpy(at->at[M_MEASURE], &measure, sizeof measure);
  return status;
}
static int spoil_measure(law_draw *d, law_piece *at, int k) {
  (void)at;
  d->types[k] = MPNUM_TYPE_E8M0;
  return k < 2;
}
/* a of the first format times itself. */
enum { R_PRODUCT = MORE_CODES, R_BOUNDS };
static void draw_product(law_draw *d) {
  do
    draw_format(d, 0);
  while (d->choice[0] == 9 || d->choice[0] == 7 || d->choice[0] > 10);
  d->choice[2] = d->choice[3] = 0;
  d->rows = 1 + law_below(d, 12);
  d->columns = 1 + law_below(d, 300);
  d->row_tile = 4;
  d->column_tile = 64;
  d->types[0] = MPNUM_TYPE_F32;
  law_input(d, OF_ELEMENTS, MPNUM_TYPE_F32, 0);
  draw_codes(d, 0);
  draw_losses(d);
  d->number[0] = 4;
  {
    law_piece at;
    mpnum_status status;
    at = whole_of(d);
    status = quantize(&at);
    if (status != MPNUM_OK) abort();
  }
  d->operands[CODES].is_result = d->operands[SCALES].is_result = 0;
  memset(d->operands[LOSSES].values, 0, 32);
  d->operands[SRC].is_needed = 0;
  for (int k = 0; k < 2; ++k) {
    const int made = law_result(d, OF_CALL, 64, d->rows * d->rows);
    d->operands[made].alignment = 8;
  }
  d->operands[R_PRODUCT].is_needed = 1;
}
/* Units that there are not: by other steps, of types that cannot be aligned. */
enum { UNITS = 5 };
static mpnum_product_unit unit_without_steps(int k) {
  mpnum_product_unit unit = mpnum_product_unit_of(k < 3 ? "h100.f16" : "exact");
  if (k == 0) unit.types |= 1; /* int8 */
  if (k == 1) unit.scales = -1;
  if (k == 2) unit.joins = -1;
  if (k == 3) unit.is_fused = 1;
  if (k == 4) unit.products = 4;
  return unit;
}
static int spoil_unit(law_draw *d, law_piece *at, int k) {
  (void)at;
  d->choice[3] = 1 + k;
  d->refusal = MPNUM_ERROR_ARGUMENT;
  return k < UNITS;
}
static mpnum_status product(const law_piece *at) {
  const int spoilt = at->draw->choice[3];
  const mpnum_blockscale_format format = format_of(at->draw, 0);
  const mpnum_product_operand a =
      mpnum_product_blocks_of(&format, codes_of(at, 0), at->rows, at->columns);
  const mpnum_product_unit unit =
      spoilt ? unit_without_steps(spoilt - 1)
             : mpnum_product_unit_of(at->draw->choice[1] % 2 ? "f32" : "f64");
  mpnum_matrix dst =
      mpnum_matrix_of(MPNUM_TYPE_F64, at->at[R_PRODUCT], at->rows, at->rows);
  const mpnum_status made = mpnum_product(dst, unit, a, a, NULL);
  dst.data = at->at[R_BOUNDS];
  return made == MPNUM_OK ? mpnum_product_bound(dst, unit, a, a, NULL) : made;
}

#define BLOCK_LAWS \
 (MEMORY_LAWS | HOLDS(LAW_STRIDED) | HOLDS(LAW_EMPTY) | HOLDS(LAW_REFUSED))
#define CUT_LAWS (BLOCK_LAWS | HOLDS(LAW_SPLIT) | HOLDS(LAW_ALONE))
#define SCALED_LAWS \
 ((CUT_LAWS | HOLDS(LAW_APART)) & ~(HOLDS(LAW_ALONE) | HOLDS(LAW_STRIDED)))
#define PRESET_LAWS (BLOCK_LAWS & ~HOLDS(LAW_STRIDED))
#define NO_TWIN      \
 {                   \
  { LAW_TWIN, NULL } \
 }
#define PRESETS(T)                                                        \
 {"mpnum_quantize_mx_" #T,        draw_preset, quantize_##T, PRESET_LAWS, \
  {{LAW_TWIN, preset_by_format}}, NULL,        &entry_##T},               \
     {"mpnum_dequantize_mx_" #T,                                          \
      draw_preset_back,                                                   \
      dequantize_##T,                                                     \
      PRESET_LAWS,                                                        \
      {{LAW_TWIN, preset_back_by_format}},                                \
      NULL,                                                               \
      &entry_##T},

static const law_subject subjects[] = {
    {"mpnum_quantize_blocks",
     draw_quantize,
     quantize,
     DRAWN(4) | CUT_LAWS,
     {{LAW_TRANSPOSED, quantize_transposed}},
     spoil_blocks,
     NULL},
    {"mpnum_quantize_blocks_both",
     draw_both,
     both,
     DRAWN(3) | BLOCK_LAWS | HOLDS(LAW_SPLIT),
     {{LAW_BOTH, both_by_two}},
     spoil_both,
     NULL},
    {"mpnum_dequantize_blocks", draw_dequantize, dequantize, CUT_LAWS, NO_TWIN,
     spoil_blocks, NULL},
    {"mpnum_quantize_block",
     draw_block,
     quantize_one,
     DRAWN(4) | PRESET_LAWS,
     {{LAW_TWIN, quantize_one_by_matrix}},
     spoil_blocks,
     NULL},
    {"mpnum_dequantize_block",
     draw_block_back,
     dequantize_one,
     DRAWN(4) | PRESET_LAWS,
     {{LAW_TWIN, dequantize}},
     spoil_blocks,
     NULL},
    {"mpnum_quantize_least_error", draw_least_error, quantize_least_error, CUT_LAWS,
     NO_TWIN, spoil_blocks, NULL},
    PRESETS(e4m3) PRESETS(e2m1) /**/
    {"mpnum_quantize_nvfp4",
     draw_preset,
     quantize_nvfp4,
     PRESET_LAWS,
     {{LAW_TWIN, preset_by_format}},
     NULL,
     &entry_nvfp4},
    {"mpnum_dequantize_nvfp4",
     draw_preset_back,
     dequantize_nvfp4,
     PRESET_LAWS,
     {{LAW_TWIN, preset_back_by_format}},
     NULL,
     &entry_nvfp4},
    {"mpnum_finite_amax_rows", draw_amax, finite_amax,
     MEMORY_LAWS | HOLDS(LAW_SPLIT) | HOLDS(LAW_STRIDED) | HOLDS(LAW_EMPTY) |
         HOLDS(LAW_REFUSED),
     NO_TWIN, spoil_amax, NULL},
    {"mpnum_quantize_array", draw_quantize_array, quantize_array, SCALED_LAWS, NO_TWIN,
     spoil_scaled, NULL},
    {"mpnum_dequantize_array", draw_dequantize_array, dequantize_array, SCALED_LAWS,
     NO_TWIN, spoil_scaled, NULL},
    {"mpnum_quantize_channels",
     draw_quantize_channels,
     quantize_channels,
     CUT_LAWS | HOLDS(LAW_APART),
     {{LAW_TWIN, channels_one_by_one}},
     spoil_scaled,
     NULL},
    {"mpnum_dequantize_channels",
     draw_dequantize_channels,
     dequantize_channels,
     CUT_LAWS | HOLDS(LAW_APART),
     {{LAW_TWIN, channels_one_by_one}},
     spoil_scaled,
     NULL},
    {"mpnum_measure_rows", draw_measure, measure_rows, BLOCK_LAWS, NO_TWIN, spoil_measure,
     NULL},
    {"mpnum_measure_blocks", draw_measure_blocks, measure_blocks, BLOCK_LAWS, NO_TWIN,
     NULL, NULL},
    {"mpnum_quantize_stored", draw_quantize_stored, quantize_stored,
     DRAWN(3) | BLOCK_LAWS | HOLDS(LAW_APART), NO_TWIN, spoil_stored, NULL},
    {"mpnum_dequantize_stored", draw_dequantize_stored, dequantize_stored,
     DRAWN(3) | BLOCK_LAWS | HOLDS(LAW_APART), NO_TWIN, spoil_stored, NULL},
    {"mpnum_stored_from_blocks", draw_stored_from_blocks, stored_from_blocks,
     BLOCK_LAWS | HOLDS(LAW_APART), NO_TWIN, spoil_move, NULL},
    {"mpnum_stored_to_blocks", draw_stored_to_blocks, stored_to_blocks,
     BLOCK_LAWS | HOLDS(LAW_APART), NO_TWIN, spoil_move, NULL},
    {"mpnum_product", draw_product, product, BLOCK_LAWS & ~HOLDS(LAW_EMPTY), NO_TWIN,
     spoil_unit, NULL},
};

int main(int argc, char **argv) {
  return laws_main(argc, argv, subjects, sizeof subjects / sizeof subjects[0],
                   force_all_isa, 60);
}
