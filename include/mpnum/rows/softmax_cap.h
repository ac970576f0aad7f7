/* SPDX-License-Identifier: MIT */
/* Soft capping of logits in softmax and its losses, as Gemma 2 and Grok have it, and the
 * gradient through it: x scale becomes cap tanh(x scale / cap), then a bias is added,
 * then elements are masked. Opt-in.
 *
 *     const mpnum_softmax_cap cap = mpnum_softmax_cap_of(50);
 *     options.cap = &cap;
 *     status = mpnum_softmax_rows(y, x, &options, NULL);
 *     status = mpnum_softmax_capped_backward_rows(dx, dy, y, x, &options);
 *
 * A row is what softmax.h says of v = tanh(x factor) with scale cap, factor being scale /
 * cap; factor and product are rounded once, tanh is mpnum_tanh_f32; with a bias of v cap
 * + bias, rounded once. mpnum_softmax_rows, mpnum_log_softmax_rows, mpnum_logsumexp_rows
 * and the three functions of cross_entropy.h take it; sinks count as they are.
 * Domain: cap and scale / cap finite and above 0. An x of +-Inf becomes +-cap: -Inf masks
 *   in the bias alone.
 * Bits: those of mpnum_tanh_f32_array of x factor, and softmax of that with scale cap.
 * Error: that of softmax.h, and 2 |x scale| u + 2 cap u more in each logit, u = 2^-24.
 * Speed: docs/softmax.md. Host only; launchers: softmax_cap.cuh. */
#ifndef MPNUM_ROWS_SOFTMAX_CAP_H
#define MPNUM_ROWS_SOFTMAX_CAP_H

#include "softmax_backward.h"
#include "detail/softmax_cap_loops.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* A cap for options, which hold a pointer to it. */
MPNUM_HOST mpnum_softmax_cap mpnum_softmax_cap_of(float cap) {
  mpnum_softmax_cap made;
  made.cap = cap;
  made.run_ = mpnum_cap_floats_;
  made.map_ = mpnum_row_map_capped_;
  return made;
}

/* Gradients of a row of n elements: those of the softmax in tiles of floats, then times
 * the derivative of v, which what is masked has not. */
MPNUM_HOST void mpnum_capped_slopes_(const mpnum_row_backward_ *how, int adds,
                                     float factor, mpnum_matrix dx, size_t row,
                                     const mpnum_row_pair_ *pair, mpnum_const_matrix x,
                                     size_t n) {
  MPNUM_ALIGNED_ float slopes[MPNUM_TILE_], v[MPNUM_TILE_];
  mpnum_row_type_ f32_type;
  mpnum_row_pair_ part = *pair;
  size_t i = 0, k = 0, count = 0;
  mpnum_row_type_of_(&f32_type, MPNUM_TYPE_F32);
  for (; i < n; i += count) {
    count = mpnum_tile_size_(n, i);
    part.dy.src = pair->dy.src + i * pair->dy.type.size;
    part.y.src = pair->y.src + i * pair->y.type.size;
    part.y.mask = pair->y.mask ? pair->y.mask + i : 0;
    mpnum_row_backward_of_(how, &f32_type, (uint8_t *)slopes, &part, count);
    mpnum_floats_from_(x.type, v, mpnum_rows_at_(x, row, i), count);
    for (k = 0; part.y.mask && k < count; ++k)
      if (!part.y.mask[k]) v[k] = 0;
    mpnum_cap_floats_(v, slopes, count, factor);
    mpnum_row_put_bytes_(dx.type, mpnum_rows_to_(dx, row, i), v, count, adds);
  }
}
/* Computes the gradient of x from that of y, which mpnum_softmax_rows made of x with
 * these options: that of mpnum_softmax_backward_rows, in floats, times the derivative of
 * tanh (mpnum_tanh_derivative_f32) at x factor, a product rounded once; the product of
 * both is rounded once, then to the type of dx. With options->cap NULL it is
 * mpnum_softmax_backward_rows. x has the shape of y and is f32, f16, bf16, e5m2 or e4m3;
 * its masked elements may hold anything. dx may be dy or y as there, and x if both have
 * the same type and stride, but not with MPNUM_SOFTMAX_ACCUMULATE.
 * Status: as mpnum_softmax_backward_rows, of x as of y. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_softmax_capped_backward_rows(
    mpnum_matrix dx, mpnum_const_matrix dy, mpnum_const_matrix y, mpnum_const_matrix x,
    const mpnum_softmax_options *options) {
  const mpnum_softmax_options usual = mpnum_softmax_default();
  const mpnum_softmax_options *chosen = options ? options : &usual;
  const int adds = (chosen->flags & MPNUM_SOFTMAX_ACCUMULATE) != 0;
  mpnum_row_backward_ how = {0, 0, 0, 1};
  mpnum_status status = mpnum_softmax_backward_check_(dx, dy, y, chosen);
  mpnum_row_pair_ pair;
  uint64_t saved = 0;
  float factor = 0;
  size_t i = 0;
  if (status == MPNUM_OK) status = mpnum_rows_check_(dx, x);
  if (status == MPNUM_OK && adds && mpnum_rows_overlap_(dx, x))
    status = MPNUM_ERROR_OVERLAP;
  if (status != MPNUM_OK || y.columns == 0) return status;
  if (!chosen->cap) return mpnum_softmax_backward_rows(dx, dy, y, chosen);
  saved = mpnum_fenv_save_();
  factor = mpnum_cap_factor_(chosen);
  how.scale = chosen->scale;
  mpnum_row_view_of_(&pair.dy, dy.type);
  mpnum_row_view_of_(&pair.y, y.type);
  for (; i < y.rows; ++i) {
    const size_t n = mpnum_softmax_pair_(&pair, &how, dy, y, chosen, i);
    mpnum_capped_slopes_(&how, adds, factor, dx, i, &pair, x, n);
    if (!adds) mpnum_rows_fill_(dx, i, n, 0);
  }
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}

#endif
MPNUM_C_END_
#endif
