/* SPDX-License-Identifier: MIT */
/* How calls of blocks/stored_matrix.h are drawn: a layout, a shape and a block that fit
 * it, and its three pieces of memory. */
#ifndef MPNUM_TESTS_STORED_DRAWS_H
#define MPNUM_TESTS_STORED_DRAWS_H

#include <mpnum/blocks/stored_matrix.h>

#include "block_draws.h"

enum { S_SRC, S_DATA, S_SCALES, S_ZEROS };
static mpnum_stored stored_at(const law_piece *at, size_t rows) {
  const law_draw *d = at->draw;
  mpnum_stored made = mpnum_stored_of((mpnum_stored_layout)d->choice[0], rows,
                                      at->columns, (size_t)d->choice[1]);
  made.data = at->at[S_DATA];
  if (made.scales_bytes) made.scales = at->at[S_SCALES];
  if (made.zeros_bytes) made.zeros = at->at[S_ZEROS];
  return made;
}
static void draw_stored_bytes(law_draw *d, size_t bytes) {
  const int k = bytes ? law_result(d, OF_CALL, 8, bytes) : law_none(d);
  d->operands[k].is_needed = bytes != 0;
}
static void draw_stored_shape(law_draw *d, int layouts) {
  d->choice[0] = (int)law_below(d, (size_t)layouts);
  d->choice[1] = d->choice[0] < 4   ? 0
                 : d->choice[0] < 6 ? 16 * (int)(1 + law_below(d, 12))
                                    : 8 * (int)(1 + law_below(d, 20));
  const mpnum_stored_layout layout = (mpnum_stored_layout)d->choice[0];
  const size_t block = mpnum_stored_of(layout, 0, 0, (size_t)d->choice[1]).block;
  d->rows = d->choice[0] < 6 ? law_below(d, 12) : 8 * law_below(d, 4);
  d->columns = block * law_below(d, 1 + 600 / block);
  if ((d->choice[0] == 4 || d->choice[0] == 5) && law_below(d, 3) == 0) {
    d->rows = 1;
    d->columns = law_below(d, 700);
  }
  d->row_tile = 2;
  d->column_tile = 64;
}
static void draw_quantize_stored(law_draw *d) {
  const int specials = d->has_specials;
  draw_stored_shape(d, 8);
  const mpnum_stored made = mpnum_stored_of((mpnum_stored_layout)d->choice[0], d->rows,
                                            d->columns, (size_t)d->choice[1]);
  d->types[0] = law_pick(d, source_types);
  d->has_specials = 0;
  law_input(d, OF_ELEMENTS, d->types[0], 0);
  d->has_specials = specials;
  d->operands[S_SRC].alignment = law_bits(d->types[0]) / 8;
  for (size_t i = 0; i < d->rows * d->columns; ++i) { /* finite ones alone */
    const int bits = law_bits(d->types[0]);
    const uint64_t word = law_get(bits, d->operands[S_SRC].values, i);
    const uint64_t top = d->types[0] == MPNUM_TYPE_F32   ? 0x7f800000
                         : d->types[0] == MPNUM_TYPE_F16 ? 0x7c00
                                                         : 0x7f80;
    if ((word & top) == top) law_set(bits, d->operands[S_SRC].values, i, word & ~top);
  }
  draw_stored_bytes(d, made.data_bytes);
  draw_stored_bytes(d, made.scales_bytes);
  draw_stored_bytes(d, made.zeros_bytes);
}
static mpnum_status quantize_stored(const law_piece *at) {
  return mpnum_quantize_stored(stored_at(at, at->rows), source_of(at));
}
static mpnum_status dequantize_stored(const law_piece *at) {
  mpnum_matrix to =
      mpnum_matrix_of(at->draw->types[0], at->at[S_SRC], at->rows, at->columns);
  to.stride = at->stride[S_SRC];
  return mpnum_dequantize_stored(to, stored_at(at, at->rows));
}
/* Of any bytes. */
static void draw_dequantize_stored(law_draw *d) {
  draw_quantize_stored(d);
  for (int k = S_DATA; k <= S_ZEROS; ++k) {
    operand *o = &d->operands[k];
    if (!o->bits) continue;
    o->is_result = 0;
    for (size_t i = 0; i < o->count; ++i)
      o->values[i] = (uint8_t)law_random(d);
  }
  d->operands[S_SRC].is_result = 1;
}
static int spoil_stored(law_draw *d, law_piece *at, int k) {
  d->refusal = k == 0 ? MPNUM_ERROR_TYPE : MPNUM_ERROR_OVERLAP;
  if (k == 0) d->types[0] = MPNUM_TYPE_E8M0;
  if (k == 1) at->at[S_DATA] = at->at[S_SRC];
  if (k == 2 && at->at[S_SCALES]) at->at[S_SCALES] = at->at[S_DATA];
  return k < 2 || (k == 2 && at->at[S_SCALES]);
}

/* --- Moves --- */

enum { V_CODES, V_DATA, V_SCALES };
static mpnum_blockscaled moved_at(const law_piece *at) {
  const law_draw *d = at->draw;
  mpnum_blockscaled made;
  made.codes = at->at[V_CODES];
  made.stride = at->stride[V_CODES];
  made.scale_inv = at->at[V_SCALES];
  made.scale_inv_bytes = at->at[V_SCALES] ? d->operands[V_SCALES].count : 0;
  made.is_swizzled = (int)d->word[1];
  made.scale = 0;
  return made;
}
static void draw_move(law_draw *d, int is_back) {
  draw_stored_shape(d, 2);
  const mpnum_stored_layout layout = (mpnum_stored_layout)d->choice[0];
  const mpnum_blockscale_format format =
      layout == MPNUM_STORED_NVFP4
          ? mpnum_blockscale_nvfp4_1x16()
          : mpnum_blockscale_mx(MPNUM_TYPE_E2M1, MPNUM_BLOCKSCALE_FLOOR);
  d->word[1] = law_below(d, 2);
  law_words(d, OF_ELEMENTS, 4, 0, 16, 0);
  d->operands[V_CODES].has_stride = 1;
  d->operands[V_CODES].is_needed = 1;
  draw_stored_bytes(d, mpnum_stored_of(layout, d->rows, d->columns, 0).data_bytes);
  draw_stored_bytes(
      d, mpnum_blockscale_scale_bytes(&format, d->rows, d->columns, (int)d->word[1]));
  d->operands[V_CODES].is_result = is_back;
  for (int k = V_DATA; k <= V_SCALES; ++k) {
    operand *o = &d->operands[k];
    if (!o->bits) continue;
    o->is_result = (k == V_DATA) != is_back;
    for (size_t i = 0; i < o->count && !o->is_result; ++i)
      o->values[i] = (uint8_t)law_random(d);
  }
}
static void draw_stored_to_blocks(law_draw *d) { draw_move(d, 1); }
static void draw_stored_from_blocks(law_draw *d) { draw_move(d, 0); }
static mpnum_status stored_to_blocks(const law_piece *at) {
  return mpnum_stored_to_blocks(moved_at(at), stored_at(at, at->rows));
}
static mpnum_status stored_from_blocks(const law_piece *at) {
  return mpnum_stored_from_blocks(stored_at(at, at->rows), moved_at(at));
}
static int spoil_move(law_draw *d, law_piece *at, int k) {
  d->refusal = MPNUM_ERROR_OVERLAP;
  if (k == 0) at->at[V_DATA] = at->at[V_CODES];
  if (k == 1) at->at[V_SCALES] = at->at[V_DATA];
  return k < 2;
}

#endif
