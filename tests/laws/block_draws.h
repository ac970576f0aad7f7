/* SPDX-License-Identifier: MIT */
/* How calls of blocks, and of tensors with a scale, are drawn, and how a piece of one is
 * made on the host: for the laws of the host's functions and for those of their
 * launchers. SOURCE_TYPES and CODE_TYPES list fewer types. */
#ifndef MPNUM_TESTS_BLOCK_DRAWS_H
#define MPNUM_TESTS_BLOCK_DRAWS_H

#include <mpnum/array/amax_history.h>
#include <mpnum/blocks/blockscale.h>
#include <mpnum/array/scale.h>

#include "../harness/linked.h"
#include "laws.h"

#include <stdlib.h>
#include <string.h>

#ifndef SOURCE_TYPES
# define SOURCE_TYPES MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16
# define CODE_TYPES \
  MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2, MPNUM_TYPE_E4M3FNUZ, MPNUM_TYPE_E3M2, MPNUM_TYPE_E2M1
#endif
static const mpnum_type source_types[] = {SOURCE_TYPES};
static const mpnum_type mx_types[] = {MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2, MPNUM_TYPE_E3M2,
                                      MPNUM_TYPE_E2M3, MPNUM_TYPE_E2M1};

/* The one or two formats of a draw, which words of it choose. */
static mpnum_blockscale_format format_of(const law_draw *d, int which) {
  const int *choice = d->choice + 3 * which; /* preset, rule or shape, turned */
  const mpnum_blockscale_rule rule = (mpnum_blockscale_rule)(choice[1] % 4);
  mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  if (choice[0] < 5) format = mpnum_blockscale_mx(mx_types[choice[0]], rule);
  if (choice[0] == 5) format = mpnum_blockscale_mx_int8(rule);
  if (choice[0] == 7 || choice[0] == 14) format = mpnum_blockscale_nvfp4_16x16();
  if (choice[0] >= 13) format.scale_type = MPNUM_TYPE_UE5M3;
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
  if (d->choice[7] && !format.is_int8) format.rounding = (mpnum_rounding)d->choice[7];
  return format;
}
static void draw_format(law_draw *d, int which) {
  d->choice[3 * which] =
      law_below(d, 4) ? (int)law_below(d, 12) : 12 + (law_below(d, 4) == 0);
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
  d->operands[k].is_result = d->operands[k].may_overlap = 1;
  d->operands[k].alignment = 8;
}
/* A matrix, and codes of the format that is chosen. */
static void draw_quantize_to(law_draw *d) {
  mpnum_blockscale_format format;
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
static void draw_quantize(law_draw *d) {
  draw_size(d, 16000);
  draw_format(d, 0);
  d->choice[7] = law_below(d, 6) ? 0 : (int)law_stochastic(d);
  draw_quantize_to(d);
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
static mpnum_const_matrix source_of(const law_piece *at) {
  mpnum_const_matrix made =
      mpnum_const_matrix_of(at->draw->types[0], at->at[SRC], at->rows, at->columns);
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
static mpnum_status both(const law_piece *at) {
  const mpnum_blockscale_format first = format_of(at->draw, 0);
  const mpnum_blockscale_format second = format_of(at->draw, 1);
  return mpnum_quantize_blocks_both(&first, codes_of(at, 0), &second, codes_of(at, 1),
                                    source_of(at), NULL,
                                    (mpnum_quantize_losses *)at->at[LOSSES]);
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
  mpnum_matrix to =
      mpnum_matrix_of(at->draw->types[0], at->at[SRC], at->rows, at->columns);
  to.stride = at->stride[SRC];
  return mpnum_dequantize_blocks(&format, to, codes_of(at, 0));
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

/* --- A scale for each tensor or channel --- */

enum { T_SRC, T_DST, T_SCALES, T_LOSSES };
static const mpnum_type code_types[] = {CODE_TYPES};
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
    d->operands[T_SCALES].is_needed = d->operands[T_SCALES].may_overlap = 1;
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

#endif
