/* SPDX-License-Identifier: MIT */
/* The laws of small formats with scales: of blocks, tensors and channels, and of what
 * measures them. */
#include <mpnum/amax_history.h>
#include <mpnum/blockscale.h>
#include <mpnum/measure.h>
#include <mpnum/scale.h>

#include "laws.h"

#include <stdlib.h>
#include <string.h>

static const mpnum_type source_types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16,
                                          MPNUM_TYPE_BF16};
static const mpnum_type mx_types[] = {MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2, MPNUM_TYPE_E3M2,
                                      MPNUM_TYPE_E2M3, MPNUM_TYPE_E2M1};

/* The one or two formats of a draw, which words of it choose. */
static mpnum_blockscale_format format_of(const law_draw *d, int which) {
  const int *choice = d->choice + 3 * which; /* preset, rule or shape, turned */
  const mpnum_blockscale_rule rule = (mpnum_blockscale_rule)(choice[1] % 4);
  mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  if (choice[0] < 5) format = mpnum_blockscale_mx(mx_types[choice[0]], rule);
  if (choice[0] == 5) format = mpnum_blockscale_mx_int8(rule);
  if (choice[0] == 7) format = mpnum_blockscale_nvfp4_16x16();
  if (choice[0] == 8) format = mpnum_blockscale_fp8_1x128();
  if (choice[0] == 9) format = mpnum_blockscale_fp8_128x128();
  if (choice[0] == 10) format = mpnum_blockscale_int8_row();
  if (choice[0] == 11) format = mpnum_blockscale_int8_tensor();
  if (choice[0] >= 8 && choice[0] < 10 && choice[1] % 2)
    format.rule = MPNUM_BLOCKSCALE_AMAX_POW2;
  if (choice[0] == 12) { /* of a user's making */
    static const size_t sizes[] = {1, 3, 4, 5, 12, 20, 48, 100, 256};
    format = mpnum_blockscale_mx(mx_types[choice[1] % 5], rule);
    format.rows = sizes[choice[1] / 5 % 9];
    format.columns = sizes[choice[1] / 45 % 9];
    if (format.element_bits != 8 && format.columns != 1) format.columns *= 4;
  }
  if (choice[2]) {
    const mpnum_blockscale_format turned = mpnum_blockscale_transposed(format);
    if (mpnum_blockscale_validate(&turned, NULL) == MPNUM_OK) format = turned;
  }
  if (d->choice[7] && !format.is_int8) format.rounding = MPNUM_ROUND_STOCHASTIC;
  return format;
}
static void draw_format(law_draw *d, int which) {
  d->choice[3 * which] = law_below(d, 4) ? (int)law_below(d, 12) : 12;
  d->choice[3 * which + 1] = (int)law_below(d, 5 * 81);
  d->choice[3 * which + 2] = (int)law_below(d, 2);
}
static void draw_size(law_draw *d, size_t most) {
  const int is_wide = law_below(d, 8) == 0;
  d->rows = law_below(d, 71);
  d->columns = law_size(d, 512, 1100);
  if (is_wide) d->columns = 4000 + law_below(d, 22000);
  while (d->rows * d->columns > most)
    d->rows /= 2;
  if (d->rows == 0 && law_below(d, 8)) d->rows = 1;
  if (d->columns == 0 && law_below(d, 8)) d->columns = 1;
  d->row_tile = 16;
  d->column_tile = 64;
}
static size_t scale_bytes(const law_draw *d, int which) {
  const mpnum_blockscale_format format = format_of(d, which);
  const int is_swizzled = which == 0 ? (int)d->word[1] & 1 : 0;
  return mpnum_blockscale_scale_bytes(&format, d->rows, d->columns, is_swizzled);
}
static int can_swizzle(const law_draw *d) { /* what hardware multiplies */
  return d->choice[0] <= 4 || d->choice[0] == 6 || d->choice[0] == 7;
}
/* All of a draw, where its values were filled in. */
static law_piece whole_of(const law_draw *d) {
  law_piece at;
  memset(&at, 0, sizeof at);
  at.draw = d;
  at.rows = d->rows;
  at.columns = d->columns;
  for (int k = 0; k < d->count; ++k) {
    const int bits = d->operands[k].bits;
    const size_t group = bits == 4 ? 2 : bits == 6 ? 4 : 1;
    at.at[k] = d->operands[k].values;
    at.stride[k] = (d->columns + group - 1) / group * group;
  }
  return at;
}
/* Source, codes, scales, losses. */
enum { SRC, CODES, SCALES, LOSSES, MORE_CODES, MORE_SCALES };
static int draw_codes(law_draw *d, int which) {
  const mpnum_blockscale_format format = format_of(d, which);
  const int k = law_result(d, OF_ELEMENTS, format.element_bits, 0);
  const int scales = law_result(d, OF_CALL, 8, scale_bytes(d, which));
  d->operands[scales].is_needed = 1;
  d->operands[scales].alignment = 4;
  return k;
}
static void draw_losses(law_draw *d) {
  const int k = law_words(d, OF_CALL, 64, 0, 1, 4);
  d->operands[k].is_result = 1;
  d->operands[k].alignment = 8;
}
static void draw_quantize(law_draw *d) {
  mpnum_blockscale_format format;
  draw_size(d, 16000);
  draw_format(d, 0);
  d->choice[7] = law_below(d, 6) == 0; /* stochastic */
  d->word[1] = can_swizzle(d) && law_below(d, 3) == 0;
  d->types[0] = law_pick(d, source_types);
  law_input(d, OF_ELEMENTS, d->types[0], 0);
  d->operands[SRC].alignment = law_bits(d->types[0]) / 8;
  if (d->choice[7]) d->operands[SRC].has_stride = 0; /* it counts for the words */
  draw_codes(d, 0);
  draw_losses(d);
  d->number[0] = 0x1.5p+4f;
  d->word[0] = law_random(d);
  format = format_of(d, 0);
  d->row_unit = d->word[1] ? 0 : format.rows ? format.rows : 0;
  d->can_be_alone = 1;
}
static mpnum_blockscaled codes_of(const law_piece *at, int which) {
  const law_draw *d = at->draw;
  const mpnum_blockscale_format format = format_of(d, which);
  const int codes = which ? MORE_CODES : CODES;
  const size_t rows = format.rows ? format.rows : d->rows;
  const size_t wide = format.columns ? format.columns : d->columns;
  const size_t across = wide ? (d->columns + wide - 1) / wide : 0;
  const size_t size = format.scale_type == MPNUM_TYPE_F32 ? 4 : 1;
  const size_t before = rows ? at->row / rows * across * size : 0;
  mpnum_blockscaled made;
  made.codes = at->at[codes];
  made.stride = at->stride[codes];
  made.scale_inv = at->at[codes + 1] ? (uint8_t *)at->at[codes + 1] + before : NULL;
  made.scale_inv_bytes = scale_bytes(d, which) - before;
  made.is_swizzled = which ? 0 : (int)d->word[1];
  made.scale = d->number[0];
  return made;
}
static mpnum_const_rows source_of(const law_piece *at) {
  mpnum_const_rows made =
      mpnum_const_rows_of(at->draw->types[0], at->at[SRC], at->rows, at->columns);
  made.stride = at->stride[SRC];
  return made;
}
static mpnum_quantize_options words_of(const law_piece *at) {
  mpnum_quantize_options options;
  options.seed = at->draw->word[0];
  options.offset = at->row * at->stride[SRC];
  return options;
}
static mpnum_status quantize(const law_piece *at) {
  const mpnum_blockscale_format format = format_of(at->draw, 0);
  const mpnum_quantize_options options = words_of(at);
  return mpnum_quantize_blocks(&format, codes_of(at, 0), source_of(at), &options,
                               (mpnum_quantize_losses *)at->at[LOSSES]);
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
  status = mpnum_quantize_blocks(&turned, turned_to,
                                 mpnum_const_rows_of(d->types[0], source, columns, rows),
                                 NULL, (mpnum_quantize_losses *)at->at[LOSSES]);
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
static mpnum_status both(const law_piece *at) {
  const mpnum_blockscale_format first = format_of(at->draw, 0);
  const mpnum_blockscale_format second = format_of(at->draw, 1);
  return mpnum_quantize_blocks_both(&first, codes_of(at, 0), &second, codes_of(at, 1),
                                    source_of(at), NULL,
                                    (mpnum_quantize_losses *)at->at[LOSSES]);
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
/* Back: codes and scales as a quantiser has left them. */
static void draw_dequantize(law_draw *d) {
  law_piece at;
  mpnum_status status;
  draw_quantize(d);
  at = whole_of(d);
  status = quantize(&at);
  if (status != MPNUM_OK) abort();
  d->operands[CODES].is_result = d->operands[SCALES].is_result = 0;
  memset(d->operands[LOSSES].values, 0, 32);
  d->operands[SRC].is_result = 1; /* what comes back goes there */
  d->operands[SRC].has_stride = 1;
}
static mpnum_status dequantize(const law_piece *at) {
  const mpnum_blockscale_format format = format_of(at->draw, 0);
  mpnum_rows to = mpnum_rows_of(at->draw->types[0], at->at[SRC], at->rows, at->columns);
  to.stride = at->stride[SRC];
  return mpnum_dequantize_blocks(&format, to, codes_of(at, 0));
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
static int spoil_blocks(law_draw *d, law_piece *at, int k) {
  if (k == 0) d->types[0] = MPNUM_TYPE_F64;
  if (k == 1 && d->rows > 1) at->stride[CODES] = d->columns - 1;
  if (k == 1 && d->rows < 2) d->types[0] = MPNUM_TYPE_E8M0;
  if (k == 2) at->at[SCALES] = at->at[CODES];
  if (k == 3) at->at[CODES] = at->at[SRC];
  return k < 4;
}
static int spoil_both(law_draw *d, law_piece *at, int k) {
  if (k == 4) at->at[MORE_CODES] = at->at[CODES];
  if (k == 5) at->at[MORE_SCALES] = at->at[SCALES];
  if (k == 6) at->at[MORE_SCALES] = at->at[CODES];
  return k < 4 ? spoil_blocks(d, at, k) : k < 7;
}

/* --- Presets by their names --- */

static mpnum_blockscale_format preset_of(const law_draw *d) {
  const int which = ((const int *)d->entry)[0];
  return which == 6   ? mpnum_blockscale_nvfp4_1x16()
         : which == 5 ? mpnum_blockscale_mx_int8(MPNUM_BLOCKSCALE_RCEIL)
                      : mpnum_blockscale_mx(mx_types[which], MPNUM_BLOCKSCALE_RCEIL);
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
      mpnum_const_rows_of(MPNUM_TYPE_F32, at.at[P_SRC], d->rows, d->columns), NULL, NULL);
  if (status != MPNUM_OK) abort();
  d->operands[P_CODES].is_result = d->operands[P_SCALES].is_result = 0;
  d->operands[P_SRC].is_result = 1;
}
#define PRESET(T, codes, number)                                                         \
 static const int entry_##T = number;                                                    \
 static mpnum_status quantize_##T(const law_piece *at) {                                 \
  return mpnum_mx_quantize_##T((codes *)at->at[P_CODES], (mpnum_e8m0 *)at->at[P_SCALES], \
                               preset_scales(at), (const float *)at->at[P_SRC],          \
                               at->rows, at->columns);                                   \
 }                                                                                       \
 static mpnum_status dequantize_##T(const law_piece *at) {                               \
  return mpnum_mx_dequantize_##T((float *)at->at[P_SRC], (const codes *)at->at[P_CODES], \
                                 (const mpnum_e8m0 *)at->at[P_SCALES],                   \
                                 preset_scales(at), at->rows, at->columns);              \
 }
PRESET(e4m3, mpnum_e4m3, 0)
PRESET(e5m2, mpnum_e5m2, 1)
PRESET(e3m2, mpnum_e3m2x4, 2)
PRESET(e2m3, mpnum_e2m3x4, 3)
PRESET(e2m1, mpnum_e2m1x2, 4)
PRESET(int8, int8_t, 5)
static const int entry_nvfp4 = 6;
static mpnum_status quantize_nvfp4(const law_piece *at) {
  return mpnum_nvfp4_quantize(
      (mpnum_e2m1x2 *)at->at[P_CODES], (mpnum_e4m3 *)at->at[P_SCALES], preset_scales(at),
      (float *)at->at[P_SCALE], (const float *)at->at[P_SRC], at->rows, at->columns);
}
static mpnum_status dequantize_nvfp4(const law_piece *at) {
  return mpnum_nvfp4_dequantize((float *)at->at[P_SRC],
                                (const mpnum_e2m1x2 *)at->at[P_CODES],
                                (const mpnum_e4m3 *)at->at[P_SCALES], preset_scales(at),
                                2.5f, at->rows, at->columns);
}
static mpnum_status preset_by_format(const law_piece *at) {
  const mpnum_blockscale_format format = preset_of(at->draw);
  float scale = 1;
  if (*(const int *)at->draw->entry == 6) {
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
      mpnum_const_rows_of(MPNUM_TYPE_F32, at->at[P_SRC], at->rows, at->columns), NULL,
      NULL);
}
static mpnum_status preset_back_by_format(const law_piece *at) {
  const mpnum_blockscale_format format = preset_of(at->draw);
  return mpnum_dequantize_blocks(
      &format, mpnum_rows_of(MPNUM_TYPE_F32, at->at[P_SRC], at->rows, at->columns),
      preset_codes(at, 2.5f));
}

/* The largest finite magnitude of rows, or of those so far. */
static void draw_amax(law_draw *d) {
  draw_size(d, 9000);
  d->types[0] = law_pick(d, source_types);
  law_input(d, OF_ELEMENTS, d->types[0], 0);
  law_words(d, OF_CALL, 32, 0, 1, 1);
  d->operands[1].is_result = d->operands[1].is_needed = 1;
  d->operands[1].alignment = 4;
  d->row_unit = 1;
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

/* --- A scale for each tensor or channel --- */

enum { T_SRC, T_DST, T_SCALES, T_LOSSES };
static const mpnum_type code_types[] = {MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2,
                                        MPNUM_TYPE_E4M3FNUZ, MPNUM_TYPE_E3M2,
                                        MPNUM_TYPE_E2M1};
static void draw_scaled(law_draw *d, int is_back, int has_channels) {
  const int specials = d->has_specials;
  d->columns = law_size(d, 512, 3000);
  d->rows = !has_channels ? 1 : d->columns > 300 ? law_below(d, 6) : law_below(d, 30);
  d->types[0] = law_pick(d, source_types);
  d->types[1] = law_pick(d, code_types);
  if (is_back) {
    law_words(d, OF_ELEMENTS, 8, 0, 16, 0);
    d->operands[T_SRC].is_needed = 1;
    law_result(d, OF_ELEMENTS, law_bits(d->types[0]), 0);
  } else {
    law_input(d, OF_ELEMENTS, d->types[0], 0);
    law_result(d, OF_ELEMENTS, 8, 0);
  }
  d->has_specials = 0;
  if (has_channels) {
    law_words(d, OF_ROWS, 32, 0x3f000000u, 0x43000000u, 0);
    d->operands[T_SCALES].is_needed = 1;
    d->row_unit = 1;
    d->can_be_alone = 1;
  } else {
    law_none(d);
    d->column_unit = 1;
  }
  d->has_specials = specials;
  draw_losses(d);
  d->number[0] = (float)(1 + law_below(d, 300));
}
static void draw_quantize_array(law_draw *d) { draw_scaled(d, 0, 0); }
static void draw_dequantize_array(law_draw *d) { draw_scaled(d, 1, 0); }
static void draw_quantize_channels(law_draw *d) { draw_scaled(d, 0, 1); }
static void draw_dequantize_channels(law_draw *d) { draw_scaled(d, 1, 1); }
static mpnum_status quantize_array(const law_piece *at) {
  return mpnum_quantize_array(at->draw->types[1], at->at[T_DST], at->draw->types[0],
                              at->at[T_SRC], at->rows ? at->columns : 0,
                              at->draw->number[0],
                              (mpnum_quantize_losses *)at->at[T_LOSSES]);
}
static mpnum_status dequantize_array(const law_piece *at) {
  return mpnum_dequantize_array(at->draw->types[0], at->at[T_DST], at->draw->types[1],
                                at->at[T_SRC], at->rows ? at->columns : 0,
                                at->draw->number[0]);
}
static mpnum_status quantize_channels(const law_piece *at) {
  return mpnum_quantize_channels(at->draw->types[1], at->at[T_DST], at->stride[T_DST],
                                 source_of(at), (const float *)at->at[T_SCALES],
                                 (mpnum_quantize_losses *)at->at[T_LOSSES]);
}
static mpnum_status quantize_channels_one_by_one(const law_piece *at) {
  mpnum_status status = MPNUM_OK;
  for (size_t r = 0; r < at->rows && status == MPNUM_OK; ++r) {
    const float scale = mpnum_from_bits_f32((uint32_t)law_get(32, at->at[T_SCALES], r));
    status = mpnum_quantize_array(
        at->draw->types[1], (uint8_t *)at->at[T_DST] + r * at->stride[T_DST],
        at->draw->types[0],
        (const uint8_t *)at->at[T_SRC] +
            r * at->stride[T_SRC] * (size_t)law_bits(at->draw->types[0]) / 8,
        at->columns, scale, (mpnum_quantize_losses *)at->at[T_LOSSES]);
  }
  return status;
}
static mpnum_status dequantize_channels(const law_piece *at) {
  mpnum_rows to = mpnum_rows_of(at->draw->types[0], at->at[T_DST], at->rows, at->columns);
  to.stride = at->stride[T_DST];
  return mpnum_dequantize_channels(to, at->draw->types[1], at->at[T_SRC],
                                   at->stride[T_SRC], (const float *)at->at[T_SCALES]);
}
static int spoil_scaled(law_draw *d, law_piece *at, int k) {
  if (k == 0) d->types[0] = MPNUM_TYPE_E8M0;
  if (k == 1) d->types[1] = MPNUM_TYPE_F32;
  if (k == 2) at->at[T_DST] = at->at[T_SRC];
  if (k == 3 && !d->row_unit) d->number[0] = 0;
  if (k == 3 && d->row_unit) at->at[T_SCALES] = NULL;
  return k < 4;
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
  mpnum_const_rows result =
      mpnum_const_rows_of(at->draw->types[1], at->at[M_RESULT], at->rows, at->columns);
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
  d->choice[2] = 0;
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
static mpnum_status product(const law_piece *at) {
  const mpnum_blockscale_format format = format_of(at->draw, 0);
  mpnum_blockscale_operand a;
  memset(&a, 0, sizeof a);
  a.format = &format;
  a.values = codes_of(at, 0);
  a.rows = at->rows;
  a.columns = at->columns;
  return mpnum_reference_product(
      (double *)at->at[R_PRODUCT], (double *)at->at[R_BOUNDS], a, a,
      at->draw->choice[1] % 2 ? MPNUM_TYPE_F32 : MPNUM_TYPE_F64);
}

#define BLOCK_LAWS \
 (MEMORY_LAWS | HOLDS(LAW_STRIDED) | HOLDS(LAW_EMPTY) | HOLDS(LAW_REFUSED))
#define CUT_LAWS    (BLOCK_LAWS | HOLDS(LAW_SPLIT) | HOLDS(LAW_ALONE))
#define PRESET_LAWS (BLOCK_LAWS & ~HOLDS(LAW_STRIDED))
#define NO_TWIN      \
 {                   \
  { LAW_TWIN, NULL } \
 }
#define PRESETS(T)                                                        \
 {"mpnum_mx_quantize_" #T,        draw_preset, quantize_##T, PRESET_LAWS, \
  {{LAW_TWIN, preset_by_format}}, NULL,        &entry_##T},               \
     {"mpnum_mx_dequantize_" #T,                                          \
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
     DRAWN(2) | CUT_LAWS,
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
    PRESETS(e4m3) PRESETS(e5m2) PRESETS(e3m2) PRESETS(e2m3) PRESETS(e2m1)
        PRESETS(int8) /**/
    {"mpnum_nvfp4_quantize",
     draw_preset,
     quantize_nvfp4,
     PRESET_LAWS,
     {{LAW_TWIN, preset_by_format}},
     NULL,
     &entry_nvfp4},
    {"mpnum_nvfp4_dequantize",
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
    {"mpnum_quantize_array", draw_quantize_array, quantize_array,
     (CUT_LAWS & ~(HOLDS(LAW_ALONE) | HOLDS(LAW_STRIDED))), NO_TWIN, spoil_scaled, NULL},
    {"mpnum_dequantize_array", draw_dequantize_array, dequantize_array,
     (CUT_LAWS & ~(HOLDS(LAW_ALONE) | HOLDS(LAW_STRIDED))), NO_TWIN, spoil_scaled, NULL},
    {"mpnum_quantize_channels",
     draw_quantize_channels,
     quantize_channels,
     CUT_LAWS,
     {{LAW_TWIN, quantize_channels_one_by_one}},
     spoil_scaled,
     NULL},
    {"mpnum_dequantize_channels", draw_dequantize_channels, dequantize_channels, CUT_LAWS,
     NO_TWIN, spoil_scaled, NULL},
    {"mpnum_measure_rows", draw_measure, measure_rows, BLOCK_LAWS, NO_TWIN, spoil_measure,
     NULL},
    {"mpnum_measure_blocks", draw_measure_blocks, measure_blocks, BLOCK_LAWS, NO_TWIN,
     NULL, NULL},
    {"mpnum_reference_product", draw_product, product, BLOCK_LAWS & ~HOLDS(LAW_EMPTY),
     NO_TWIN, NULL, NULL},
};

int main(int argc, char **argv) {
  return laws_main(argc, argv, subjects, sizeof subjects / sizeof subjects[0],
                   mpnum_isa_force, 60);
}
