/* SPDX-License-Identifier: MIT */
/* Gradients through activations of rows (activation_rows.h), to floats or to 8 bits with
 * a scale. Opt-in.
 *
 *     mpnum_activation_options options = mpnum_activation_default();
 *     options.factor = mpnum_const_matrix_of(MPNUM_TYPE_BF16, up, rows, n);
 *     mpnum_activation_backward_rows(
 *         MPNUM_ACTIVATION_SILU, mpnum_matrix_of(MPNUM_TYPE_BF16, dgate, rows, n),
 *         mpnum_matrix_of(MPNUM_TYPE_BF16, dup, rows, n),
 *         mpnum_const_matrix_of(MPNUM_TYPE_BF16, dy, rows, n),
 *         mpnum_const_matrix_of(MPNUM_TYPE_BF16, gate, rows, n), &options);
 *
 * src and options are those of the forward call, dy the gradient of its result. With
 * x = src + bias and the factor f, each as it is after bounds and offset, the gradient of
 * src, and of x, is (dy f) activation'(x), that of the factor dy activation(x). Where x
 * is above the limit, or not above 0 under relu, the gradient of src is +0 whatever dy
 * and f are; that of the factor is +0 where the factor was outside -limit to limit. Each
 * step is rounded to a float, the result once more to its type. A function of the caller
 * gives the activation, its derivative is that of the activation it stands for. The
 * gradient of a bias is the sum of columns of that of src: mpnum_sum_columns.
 * Domain: rows (matrix.h) of f32, f16, bf16, e5m2 or e4m3 of one shape, each of its own
 *   type. to_src or to_factor, or both, may be without data (mpnum_matrix_empty): not
 *   wanted. With options.is_interleaved to_src has the shape of src, both gradients by
 *   turns, and to_factor is without data. Each may be dy, src or the factor if both have
 *   the same type, columns and stride, but not with options.adds, which adds gradients to
 *   what is there; otherwise arrays must not overlap.
 * Error: that of the derivative and of the activation (docs/errors.md), and half a place
 *   for each other step.
 * NaN: canonical; of x, of dy and, for the gradient of src, of f. Derivatives at -Inf
 *   are -0, of relu and its square +0; at +Inf 1, of relu squared Inf. Inf in dy times 0
 *   is NaN, but at what is said to be +0 above.
 * Bits: as mpnum_activation_rows.
 * Status: as mpnum_activation_rows, for dy, to_src and to_factor, too;
 *   MPNUM_ERROR_SHAPE also for to_factor without a factor; MPNUM_ERROR_OVERLAP also in
 *   place with options.adds. Nothing is written then. Host only. */
#ifndef MPNUM_ROWS_ACTIVATION_BACKWARD_H
#define MPNUM_ROWS_ACTIVATION_BACKWARD_H

#include "activation_rows.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Elements done at a time, so that all their floats stay in the first cache. */
# define MPNUM_GATE_TILE_ 1024

/* A call, and its current tile. scale 0: rows; else codes with their losses. */
typedef struct mpnum_activation_backward_ {
  mpnum_activation activation;
  const mpnum_activation_options *options;
  mpnum_matrix to_src, to_factor;
  mpnum_const_matrix dy, src;
  float scale;
  mpnum_quantize_losses *losses;
  MPNUM_ALIGNED_ float x[MPNUM_GATE_TILE_];
  MPNUM_ALIGNED_ float bounded[MPNUM_GATE_TILE_];
  MPNUM_ALIGNED_ float factor[MPNUM_GATE_TILE_];
  MPNUM_ALIGNED_ float gradient[MPNUM_GATE_TILE_];
  MPNUM_ALIGNED_ float slope[MPNUM_GATE_TILE_];
  MPNUM_ALIGNED_ float value[MPNUM_GATE_TILE_];
} mpnum_activation_backward_;

/* The derivative of an activation of floats that are bounded; slope may not be x. */
MPNUM_HOST void mpnum_activation_slope_(mpnum_activation activation, float *slope,
                                        const float *x, size_t n,
                                        const mpnum_activation_options *options) {
  if (activation == MPNUM_ACTIVATION_GELU) {
    MPNUM_RUN_F32_(gelu_derivative, slope, x, x, n, MPNUM_OVERFLOW_IEEE, 0);
  } else if (activation == MPNUM_ACTIVATION_GELU_TANH) {
    MPNUM_RUN_F32_(gelu_tanh_derivative, slope, x, x, n, MPNUM_OVERFLOW_IEEE, 0);
  } else if (activation == MPNUM_ACTIVATION_RELU) {
    mpnum_gate_apply_(MPNUM_GATE_RELU_SLOPE_, slope, x, n);
  } else if (activation == MPNUM_ACTIVATION_RELU_SQUARED) {
    mpnum_gate_apply_(MPNUM_GATE_RELU_SQUARED_SLOPE_, slope, x, n);
  } else {
    if (mpnum_activation_has_alpha_(options)) {
      mpnum_gate_scale_(options->alpha, slope, x, n);
      x = slope;
    }
    MPNUM_RUN_F32_(silu_derivative, slope, x, x, n, MPNUM_OVERFLOW_IEEE, 0);
  }
}
/* What a tile reads: elements as they are, or of a foreign type as floats in a buffer. */
MPNUM_HOST const uint8_t *mpnum_activation_read_(mpnum_row_type_ *type, float *buffer,
                                                 mpnum_const_matrix src, size_t row,
                                                 size_t first, size_t n) {
  const uint8_t *const at = mpnum_rows_at_(src, row, first);
  mpnum_row_type_of_(type, src.type);
  if (!type->is_foreign) return at;
  mpnum_row_floats_(type, buffer, at, n);
  mpnum_row_type_of_(type, MPNUM_TYPE_F32);
  return (const uint8_t *)buffer;
}
/* Where its results go: to their place, or to a buffer, from which they are put there. */
MPNUM_HOST int mpnum_activation_is_put_(const mpnum_activation_backward_ *self,
                                        mpnum_matrix to) {
  mpnum_row_type_ type;
  if (mpnum_bits_f32(self->scale) != 0) return 1;
  mpnum_row_type_of_(&type, to.type);
  return type.is_foreign;
}
MPNUM_HOST uint8_t *mpnum_activation_write_(const mpnum_activation_backward_ *self,
                                            mpnum_row_type_ *type, float *buffer,
                                            mpnum_matrix to, size_t row, size_t first) {
  if (!to.data) return 0;
  if (mpnum_activation_is_put_(self, to)) {
    mpnum_row_type_of_(type, MPNUM_TYPE_F32);
    return (uint8_t *)buffer;
  }
  mpnum_row_type_of_(type, to.type);
  return mpnum_rows_to_(to, row, first);
}
/* Both gradients of a tile, to where they lie by turns. */
MPNUM_HOST void mpnum_activation_put_pairs_(mpnum_activation_backward_ *self, size_t row,
                                            size_t first, size_t n) {
  const mpnum_matrix to = self->to_src;
  uint8_t *const dst = mpnum_rows_to_(to, row, 2 * first);
  MPNUM_ALIGNED_ float pairs[2 * MPNUM_GATE_TILE_];
  if (self->options->adds) {
    mpnum_floats_from_(to.type, pairs, dst, 2 * n);
    mpnum_gate_apart_(self->x, self->bounded, pairs, n);
    mpnum_norm_pairs_(0, self->slope, self->slope, self->x, n);
    mpnum_norm_pairs_(0, self->value, self->value, self->bounded, n);
  }
  mpnum_gate_by_turns_(pairs, self->slope, self->value, n);
  if (mpnum_bits_f32(self->scale) != 0)
    mpnum_quantize_by_(to.type, dst, MPNUM_TYPE_F32, pairs, 2 * n, self->scale,
                       self->losses);
  else
    mpnum_floats_to_(to.type, dst, pairs, 2 * n);
}
MPNUM_HOST void mpnum_activation_put_(const mpnum_activation_backward_ *self,
                                      mpnum_matrix to, float *gradients, size_t row,
                                      size_t first, size_t n) {
  uint8_t *const dst = mpnum_rows_to_(to, row, first);
  mpnum_row_type_ type;
  if (mpnum_bits_f32(self->scale) != 0) {
    mpnum_quantize_by_(to.type, dst, MPNUM_TYPE_F32, gradients, n, self->scale,
                       self->losses);
    return;
  }
  mpnum_row_type_of_(&type, to.type);
  mpnum_row_put_foreign_(&type, dst, gradients, n, self->options->adds);
}
/* x, what it is bounded to, derivative and value of a tile. */
MPNUM_HOST void mpnum_activation_look_(mpnum_activation_backward_ *self, size_t row,
                                       size_t first, size_t n) {
  const mpnum_activation_options *options = self->options;
  const float *bounded = self->x;
  mpnum_activation_inputs_(self->x, self->factor, self->src, options, row, first, n);
  if (mpnum_activation_bits_(options->limit) != 0) {
    const mpnum_gate_map_ bounds = mpnum_activation_bounds_(options, 0);
    mpnum_gate_map_of_(&bounds, self->bounded, self->x, n);
    bounded = self->bounded;
  }
  if (self->to_src.data)
    mpnum_activation_slope_(self->activation, self->slope, bounded, n, options);
  if (self->to_factor.data || options->is_interleaved)
    mpnum_activation_of_(self->activation, self->value, bounded, n, options);
}
/* The factor, and where gradients go that lie by turns: to buffers first. */
MPNUM_HOST void mpnum_activation_interleaved_(mpnum_activation_backward_ *self,
                                              mpnum_gate_run_ *run) {
  mpnum_row_type_of_(&run->factor_type, MPNUM_TYPE_F32);
  run->to_src_type = run->to_factor_type = run->factor_type;
  run->factor = (const uint8_t *)self->factor;
  run->to_src = (uint8_t *)self->slope;
  run->to_factor = (uint8_t *)self->value;
  run->src_adds = run->factor_adds = 0;
}
MPNUM_HOST void mpnum_activation_backward_tile_(mpnum_activation_backward_ *self,
                                                size_t row, size_t first, size_t n) {
  const mpnum_activation_options *options = self->options;
  mpnum_gate_run_ run;
  mpnum_activation_look_(self, row, first, n);
  run.map = mpnum_activation_bounds_(options, 1);
  run.is_open = !mpnum_activation_moves_factor_(options) &&
                self->activation < MPNUM_ACTIVATION_RELU;
  run.x = self->x;
  run.slope = self->slope;
  run.value = self->value;
  run.dy = mpnum_activation_read_(&run.dy_type, self->gradient, self->dy, row, first, n);
  if (options->is_interleaved) {
    mpnum_activation_interleaved_(self, &run);
    mpnum_gate_gradients_of_(&run, n);
    mpnum_activation_put_pairs_(self, row, first, n);
    return;
  }
  run.factor = 0;
  if (options->factor.data)
    run.factor = mpnum_activation_read_(&run.factor_type, self->factor, options->factor,
                                        row, first, n);
  run.to_src = mpnum_activation_write_(self, &run.to_src_type, self->slope, self->to_src,
                                       row, first);
  run.to_factor = mpnum_activation_write_(self, &run.to_factor_type, self->value,
                                          self->to_factor, row, first);
  run.src_adds = options->adds && !mpnum_activation_is_put_(self, self->to_src);
  run.factor_adds = options->adds && !mpnum_activation_is_put_(self, self->to_factor);
  mpnum_gate_gradients_of_(&run, n);
  if (self->to_src.data && mpnum_activation_is_put_(self, self->to_src))
    mpnum_activation_put_(self, self->to_src, self->slope, row, first, n);
  if (self->to_factor.data && mpnum_activation_is_put_(self, self->to_factor))
    mpnum_activation_put_(self, self->to_factor, self->value, row, first, n);
}
/* Whether gradients may go to a place: where one of three arrays lies, but for codes and
 * sums. */
MPNUM_HOST_COLD_ mpnum_status
mpnum_activation_place_check_(const mpnum_activation_backward_ *self, mpnum_matrix to) {
  const int is_codes = mpnum_bits_f32(self->scale) != 0;
  mpnum_const_matrix others[3];
  mpnum_status status = MPNUM_OK;
  int i = 0;
  others[0] = self->dy;
  others[1] = self->src;
  others[2] = self->options->factor;
  if (!to.data) return MPNUM_OK;
  if (is_codes ? !mpnum_is_scaled_type_(to.type) : !mpnum_has_rows_(to.type))
    return MPNUM_ERROR_TYPE;
  for (; i < 3 && status == MPNUM_OK; ++i) {
    const int is_half = i == 0 && self->options->is_interleaved; /* dy of pairs */
    if (i == 2 && !others[i].data) break;
    if (!is_half) status = mpnum_shape_check_(to, others[i]);
    if (status == MPNUM_OK && !is_half && !is_codes)
      status = mpnum_rows_check_(to, others[i]);
    if (status == MPNUM_OK && (is_half || is_codes || self->options->adds) &&
        mpnum_rows_overlap_(to, others[i]))
      status = MPNUM_ERROR_OVERLAP;
  }
  if (status == MPNUM_OK && self->options->bias &&
      mpnum_rows_lie_on_(to, self->options->bias, self->src.columns))
    status = MPNUM_ERROR_OVERLAP;
  return status;
}
MPNUM_HOST_COLD_ mpnum_status
mpnum_activation_backward_check_(const mpnum_activation_backward_ *self) {
  const int has_factor = self->options->factor.data != 0;
  mpnum_matrix shape = mpnum_matrix_of(MPNUM_TYPE_F32, 0, self->dy.rows, 0);
  mpnum_status status = mpnum_source_check_(self->dy);
  shape.columns = shape.stride = self->dy.columns;
  if (status == MPNUM_OK && !self->to_src.data && !self->to_factor.data &&
      self->dy.rows && self->dy.columns)
    status = MPNUM_ERROR_NULL;
  shape.data = &shape; /* which is not looked at */
  if (status == MPNUM_OK)
    status = mpnum_activation_check_(self->activation, shape, self->src, self->options,
                                     mpnum_bits_f32(self->scale) == 0);
  if (status == MPNUM_OK && self->to_factor.data && !has_factor)
    status = MPNUM_ERROR_SHAPE;
  if (status == MPNUM_OK) status = mpnum_activation_place_check_(self, self->to_src);
  if (status == MPNUM_OK) status = mpnum_activation_place_check_(self, self->to_factor);
  if (status == MPNUM_OK && self->to_src.data && self->to_factor.data &&
      mpnum_rows_overlap_(self->to_src, mpnum_rows_read_(self->to_factor)))
    status = MPNUM_ERROR_OVERLAP;
  return status;
}
/* Whether all rows are like one row. */
MPNUM_HOST int
mpnum_activation_backward_is_one_row_(const mpnum_activation_backward_ *self) {
  const size_t columns = self->dy.columns;
  return (!self->to_src.data || self->to_src.stride == self->src.columns) &&
         (!self->to_factor.data || self->to_factor.stride == columns) &&
         mpnum_is_one_row_(mpnum_matrix_of(self->dy.type, 0, 1, self->dy.stride),
                           self->src, self->options) &&
         self->dy.stride == columns;
}
MPNUM_HOST mpnum_status mpnum_activation_go_back_(mpnum_activation_backward_ *self) {
  const mpnum_status status = mpnum_activation_backward_check_(self);
  size_t rows = self->dy.rows, columns = self->dy.columns, i = 0, k = 0;
  uint64_t saved = 0;
  if (status != MPNUM_OK) return status;
  if (mpnum_activation_backward_is_one_row_(self)) {
    columns *= rows;
    rows = rows > 0;
  }
  saved = mpnum_fenv_save_();
  for (; i < rows; ++i)
    for (k = 0; k < columns; k += MPNUM_GATE_TILE_)
      mpnum_activation_backward_tile_(
          self, i, k, columns - k < MPNUM_GATE_TILE_ ? columns - k : MPNUM_GATE_TILE_);
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}
MPNUM_HOST void mpnum_activation_backward_of_(mpnum_activation_backward_ *self,
                                              mpnum_matrix to_src, mpnum_matrix to_factor,
                                              mpnum_const_matrix dy,
                                              mpnum_const_matrix src) {
  self->to_src = to_src;
  self->to_factor = to_factor;
  self->dy = dy;
  self->src = src;
  self->scale = 0;
  self->losses = 0;
}

/* Computes the gradients. options NULL: the defaults, the activation alone. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_activation_backward_rows(
    mpnum_activation activation, mpnum_matrix to_src, mpnum_matrix to_factor,
    mpnum_const_matrix dy, mpnum_const_matrix src,
    const mpnum_activation_options *options) {
  const mpnum_activation_options usual = mpnum_activation_default();
  mpnum_activation_backward_ self;
  mpnum_activation_backward_of_(&self, to_src, to_factor, dy, src);
  self.activation = activation;
  self.options = options ? options : &usual;
  return mpnum_activation_go_back_(&self);
}
/* The floats that rows of f32 would get become codes by one scale, as by
 * mpnum_activation_quantize_rows, to_src and to_factor each a signed type of at most 8
 * bits and not in the place of another array. losses, unless NULL, are added to by both;
 * their amax is that of both. Status: as there; MPNUM_ERROR_ARGUMENT also for
 * options.adds. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_activation_backward_quantize_rows(
    mpnum_activation activation, mpnum_matrix to_src, mpnum_matrix to_factor,
    mpnum_const_matrix dy, mpnum_const_matrix src,
    const mpnum_activation_options *options, float scale, mpnum_quantize_losses *losses) {
  const mpnum_activation_options usual = mpnum_activation_default();
  mpnum_activation_backward_ self;
  if (!mpnum_is_scale_(scale)) return MPNUM_ERROR_ARGUMENT;
  mpnum_activation_backward_of_(&self, to_src, to_factor, dy, src);
  self.activation = activation;
  self.options = options ? options : &usual;
  self.scale = scale;
  self.losses = losses;
  return mpnum_activation_go_back_(&self);
}

/* Columns summed at a time, and rows of which a sum is one of floats. */
# define MPNUM_SUMMED_COLUMNS_ 256
# define MPNUM_SUMMED_ROWS_    64

/* The sums of a strip of columns over 64 rows at most, to halves, behind which is room
 * for seven such strips: strip 1 + k holds those of 2^k rows until there are as many
 * more. */
MPNUM_HOST void mpnum_sum_halves_(float *halves, mpnum_const_matrix src, size_t row,
                                  size_t rows, size_t first, size_t n) {
  float *held = halves;
  size_t i = 0, bits = 0;
  int has_any = 0;
  for (; i < rows; ++i) {
    mpnum_floats_from_(src.type, halves, mpnum_rows_at_(src, row + i, first), n);
    held = halves + MPNUM_SUMMED_COLUMNS_;
    for (bits = i; bits & 1; held += MPNUM_SUMMED_COLUMNS_, bits >>= 1)
      mpnum_norm_pairs_(0, halves, held, halves, n);
    MPNUM_MEMCPY_(held, halves, n * sizeof(float));
  }
  held = halves + MPNUM_SUMMED_COLUMNS_;
  for (bits = rows; bits; held += MPNUM_SUMMED_COLUMNS_, bits >>= 1) {
    if (!(bits & 1)) continue;
    if (has_any)
      mpnum_norm_pairs_(0, halves, held, halves, n);
    else
      MPNUM_MEMCPY_(halves, held, n * sizeof(float));
    has_any = 1;
  }
}
/* The sum of each column, to dst[c], as of the gradients of what a bias was added to. Of
 * each 64 rows halves, quarters and so on are added as floats, row 0 to 1, 2 to 3, these
 * sums to each other; what is missing at the end is 0. Sums of 64 rows, from the first
 * on, and last, if adds is 1, what is there are added as doubles and rounded once.
 * Domain: rows of f32, f16, bf16, e5m2 or e4m3. Without elements nothing is
 *   written. dst must not overlap src.
 * Error: 7 2^-24 of the sum of magnitudes, and 2^-52 of it for each 64 rows; Inf where 64
 *   rows or fewer pass the largest float. NaN: canonical, where one or Infs of both signs
 *   are in the column. Bits: the same from every instruction set, whatever is beside a
 *   column.
 * Status: MPNUM_ERROR_TYPE, _NULL, _OVERLAP; MPNUM_ERROR_ARGUMENT: adds. Nothing is
 *   written then. On devices: quantize_summed.cuh. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_sum_columns(float *dst,
                                                           mpnum_const_matrix src,
                                                           int adds) {
  MPNUM_ALIGNED_ float halves[8 * MPNUM_SUMMED_COLUMNS_];
  double sums[MPNUM_SUMMED_COLUMNS_];
  size_t first = 0, row = 0, i = 0;
  uint64_t saved = 0;
  mpnum_status status = mpnum_source_check_(src);
  if (status == MPNUM_OK) status = mpnum_floats_check_(dst, src.columns, src);
  if (status == MPNUM_OK && adds & ~1) status = MPNUM_ERROR_ARGUMENT;
  if (status != MPNUM_OK || src.rows == 0) return status;
  saved = mpnum_fenv_save_();
  for (; first < src.columns; first += MPNUM_SUMMED_COLUMNS_) {
    const size_t left = src.columns - first;
    const size_t n = left < MPNUM_SUMMED_COLUMNS_ ? left : MPNUM_SUMMED_COLUMNS_;
    for (i = 0; i < n; ++i)
      sums[i] = 0;
    for (row = 0; row < src.rows; row += MPNUM_SUMMED_ROWS_) {
      const size_t rows = src.rows - row;
      mpnum_sum_halves_(halves, src, row,
                        rows < MPNUM_SUMMED_ROWS_ ? rows : MPNUM_SUMMED_ROWS_, first, n);
      for (i = 0; i < n; ++i)
        sums[i] = mpnum_add_f64_(sums[i], (double)halves[i]);
    }
    mpnum_norm_sums_to_(dst + first, adds, sums, n);
  }
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}

#endif
MPNUM_C_END_
#endif
