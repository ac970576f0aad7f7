/* SPDX-License-Identifier: MIT */
/* Activations of rows with a bias before and a factor after, in one pass, to floats or
 * to 8 bits with a scale: what a transformer layer does between its two products. Their
 * gradients: activation_backward.h.
 *
 *     mpnum_activation_options options = mpnum_activation_default();
 *     options.factor = mpnum_const_matrix_of(MPNUM_TYPE_BF16, up, rows, n);
 *     mpnum_activation_quantize_rows(
 *         MPNUM_ACTIVATION_SILU, mpnum_matrix_of(MPNUM_TYPE_E4M3, codes, rows, n),
 *         mpnum_const_matrix_of(MPNUM_TYPE_BF16, gate, rows, n), &options, scale,
 * &losses);
 *
 * y = activation(x + bias) factor; SwiGLU is SILU with a factor (Shazeer 2020). With a
 * limit x + bias is at most that, and the factor from -limit to limit; then the offset is
 * added to the factor. SILU with an alpha is x / (1 + e^(-alpha x)), as silu(alpha x)
 * times 1 / alpha. The SwiGLU of gpt-oss has limit 7, alpha 1.702 and offset 1. Each step
 * is rounded to a float, the result once more to its type. A function of the caller
 * may take the place of the activation (options). With is_interleaved src has twice the
 * columns of dst, x and factor of each by turns, as gpt-oss has them, and the options no
 * factor; a bias then is for all columns of src, so that the factor gets its own.
 * Domain: rows (matrix.h) of f32, f16, bf16, e5m2 or e4m3; dst, src and factor have one
 *   shape and each its own type; gate and factor may be halves of one matrix, by their
 *   stride. dst may be src or factor if both have the same type and stride, but not src
 *   that has both; otherwise arrays must not overlap.
 * Error: that of the function (docs/errors.md), and half a place for each other step.
 * NaN: canonical. Bits: the same from every instruction set, and for a row in any batch.
 * Status: MPNUM_ERROR_TYPE; MPNUM_ERROR_SHAPE: rows or columns differ;
 *   MPNUM_ERROR_STRIDE: the stride of dst is below its columns; MPNUM_ERROR_NULL: no
 *   data, but elements; MPNUM_ERROR_OVERLAP: dst overlaps another, or has the same place
 *   and another type or stride; MPNUM_ERROR_ARGUMENT: an unknown activation, or a number
 *   in the options that is not allowed. Nothing is written then. Without elements
 *   pointers may be anything. Host only. */
#ifndef MPNUM_ROWS_ACTIVATION_ROWS_H
#define MPNUM_ROWS_ACTIVATION_ROWS_H

#include "../array/matrix.h"
#include "detail/activation_loops.h"
#include "../array/detail/scale_loops.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* SILU: x / (1 + e^-x). GELU: x times the normal distribution below x. GELU_TANH: its
 * usual approximation by tanh. RELU: x above 0, else +0. RELU_SQUARED: its square. */
typedef enum mpnum_activation {
  MPNUM_ACTIVATION_SILU = 0,
  MPNUM_ACTIVATION_GELU = 1,
  MPNUM_ACTIVATION_GELU_TANH = 2,
  MPNUM_ACTIVATION_RELU = 3,
  MPNUM_ACTIVATION_RELU_SQUARED = 4
} mpnum_activation;

/* Begin with mpnum_activation_default(). All zeros mean the same. */
typedef struct mpnum_activation_options {
  const float *bias; /* NULL, or a float for each column of src, added to it first */
  mpnum_const_matrix factor; /* multiplies the result; without data: 1 */
  /* NULL, or an array function of f32 in the place of the activation, such as
   * mpnum_silu_light_f32_array (light.h): dst[i] of src[i] alone, and dst is src. */
  mpnum_array_of_floats_ *function;
  float limit;  /* above 0 and finite; or 0: no bounds */
  float alpha;  /* of SILU: silu(alpha x) / alpha; from 2^-64 to 2^64, 0 meaning 1 */
  float offset; /* finite */
  int adds;     /* of gradients: 1 adds them to what is there; else 0 */
  int is_interleaved; /* 1: src has x and factor by turns, twice the columns; else 0 */
} mpnum_activation_options;

/* Returns no bias, factor or function, limit or offset. */
MPNUM_HOST mpnum_activation_options mpnum_activation_default(void) {
  mpnum_activation_options options;
  options.bias = 0;
  options.factor = mpnum_const_matrix_of(MPNUM_TYPE_F32, 0, 0, 0);
  options.function = 0;
  options.limit = options.alpha = options.offset = 0;
  options.adds = options.is_interleaved = 0;
  return options;
}

/* The bits of a number of the options, of -0 those of 0: where compilers may ignore signs
 * of zeros they make either of a 0. */
MPNUM_HOST uint32_t mpnum_activation_bits_(float number) {
  const uint32_t bits = mpnum_bits_f32(number);
  return bits == 0x80000000u ? 0 : bits;
}
/* Whether SILU has an alpha, which 0 and 1 are not. */
MPNUM_HOST int mpnum_activation_has_alpha_(const mpnum_activation_options *options) {
  const uint32_t alpha = mpnum_activation_bits_(options->alpha);
  return alpha != 0 && alpha != 0x3f800000u;
}
/* What bounds x, from above alone, or a factor. */
MPNUM_HOST mpnum_gate_map_
mpnum_activation_bounds_(const mpnum_activation_options *options, int is_factor) {
  const uint32_t limit = mpnum_activation_bits_(options->limit);
  const uint32_t high = limit ? limit : 0x7f800000u;
  const uint32_t offset = mpnum_bits_f32(options->offset);
  mpnum_gate_map_ map;
  map.kind = MPNUM_GATE_BOUNDED_;
  map.high = mpnum_from_bits_f32(high);
  map.low = mpnum_from_bits_f32((is_factor ? high : 0x7f800000u) | 0x80000000u);
  map.number = mpnum_from_bits_f32(is_factor && offset ? offset : 0x80000000u);
  return map;
}
MPNUM_HOST int mpnum_activation_moves_factor_(const mpnum_activation_options *options) {
  return ((mpnum_bits_f32(options->limit) | mpnum_bits_f32(options->offset)) &
          0x7fffffffu) != 0;
}
MPNUM_HOST float mpnum_activation_inverse_(float alpha) {
  return mpnum_div_scalar_(mpnum_from_bits_f32(0x3f800000u), alpha);
}
/* The activation of floats that are bounded; y may be x. */
MPNUM_HOST void mpnum_activation_of_(mpnum_activation activation, float *y,
                                     const float *x, size_t n,
                                     const mpnum_activation_options *options) {
  const int has_alpha = mpnum_activation_has_alpha_(options);
  if (options->function) {
    if (y != x) MPNUM_MEMCPY_(y, x, n * sizeof *y);
    (*options->function)(y, y, n);
  } else if (activation == MPNUM_ACTIVATION_GELU) {
    MPNUM_RUN_F32_(gelu, y, x, x, n, MPNUM_OVERFLOW_IEEE, 0);
  } else if (activation == MPNUM_ACTIVATION_GELU_TANH) {
    MPNUM_RUN_F32_(gelu_tanh, y, x, x, n, MPNUM_OVERFLOW_IEEE, 0);
  } else if (activation == MPNUM_ACTIVATION_RELU) {
    mpnum_gate_apply_(MPNUM_GATE_RELU_, y, x, n);
  } else if (activation == MPNUM_ACTIVATION_RELU_SQUARED) {
    mpnum_gate_apply_(MPNUM_GATE_RELU_SQUARED_, y, x, n);
  } else {
    if (has_alpha) {
      mpnum_gate_scale_(options->alpha, y, x, n);
      x = y;
    }
    MPNUM_RUN_F32_(silu, y, x, x, n, MPNUM_OVERFLOW_IEEE, 0);
    if (has_alpha) mpnum_gate_scale_(mpnum_activation_inverse_(options->alpha), y, y, n);
  }
}

/* Elements done at a time, of which a tile holds two where they lie by turns. */
MPNUM_HOST_INLINE_ size_t
mpnum_activation_most_(const mpnum_activation_options *options) {
  return options->is_interleaved ? MPNUM_TILE_ / 2 : MPNUM_TILE_;
}
/* x with its bias, and where they lie by turns the factor, for some elements of a row; no
 * more than mpnum_activation_most_. */
MPNUM_HOST void mpnum_activation_inputs_(float *x, float *factor, mpnum_const_matrix src,
                                         const mpnum_activation_options *options,
                                         size_t row, size_t first, size_t n) {
  MPNUM_ALIGNED_ float pairs[MPNUM_TILE_];
  const size_t each = options->is_interleaved ? 2 : 1;
  float *const to = options->is_interleaved ? pairs : x;
  mpnum_floats_from_(src.type, to, mpnum_rows_at_(src, row, each * first), each * n);
  if (options->bias) mpnum_norm_pairs_(0, to, to, options->bias + each * first, each * n);
  if (options->is_interleaved) mpnum_gate_apart_(x, factor, pairs, n);
}
/* Computes y for some elements of a row, as floats. */
MPNUM_HOST void mpnum_activation_tile_(mpnum_activation activation, float *y,
                                       mpnum_const_matrix src,
                                       const mpnum_activation_options *options,
                                       size_t row, size_t first, size_t n) {
  MPNUM_ALIGNED_ float factor[MPNUM_TILE_];
  mpnum_gate_map_ bounds;
  mpnum_activation_inputs_(y, factor, src, options, row, first, n);
  if (mpnum_activation_bits_(options->limit) != 0) {
    bounds = mpnum_activation_bounds_(options, 0);
    mpnum_gate_map_of_(&bounds, y, y, n);
  }
  mpnum_activation_of_(activation, y, y, n, options);
  if (options->factor.data)
    mpnum_floats_from_(options->factor.type, factor,
                       mpnum_rows_at_(options->factor, row, first), n);
  else if (!options->is_interleaved)
    return;
  if (mpnum_activation_moves_factor_(options)) {
    bounds = mpnum_activation_bounds_(options, 1);
    mpnum_gate_map_of_(&bounds, factor, factor, n);
  }
  mpnum_norm_pairs_(1, y, y, factor, n);
}
/* Whether an activation is known, and the numbers of the options are allowed. */
MPNUM_HOST int mpnum_activation_is_known_(mpnum_activation activation, float limit,
                                          float alpha, float offset) {
  const uint32_t finite = 0x7f7fffffu, alpha_bits = mpnum_activation_bits_(alpha);
  const int is_plain = activation != MPNUM_ACTIVATION_SILU;
  return (unsigned)activation <= (unsigned)MPNUM_ACTIVATION_RELU_SQUARED &&
         mpnum_activation_bits_(limit) <= finite &&
         (alpha_bits == 0 || (alpha_bits >= 0x1f800000u && alpha_bits <= 0x5f800000u)) &&
         (mpnum_bits_f32(offset) & 0x7fffffffu) <= finite &&
         !(is_plain && alpha_bits != 0 && alpha_bits != 0x3f800000u);
}
/* Whether results lie on biases, a float for each of so many columns. */
MPNUM_HOST int mpnum_rows_lie_on_(mpnum_matrix dst, const float *bias, size_t columns) {
  return dst.data && dst.rows && dst.columns &&
         mpnum_floats_overlap_(bias, columns, mpnum_rows_read_(dst));
}
/* Checks all but the type and the place of dst. adds: what that option may be, or 0. */
MPNUM_HOST mpnum_status mpnum_activation_check_(mpnum_activation activation,
                                                mpnum_matrix dst, mpnum_const_matrix src,
                                                const mpnum_activation_options *options,
                                                int adds) {
  const mpnum_const_matrix factor = options->factor;
  const int by_turns = options->is_interleaved;
  const int is_known = mpnum_activation_is_known_(activation, options->limit,
                                                  options->alpha, options->offset) &&
                       !(options->function && mpnum_activation_has_alpha_(options)) &&
                       (options->adds == 0 || options->adds == adds) &&
                       (by_turns == 0 || (by_turns == 1 && !factor.data));
  mpnum_status status = mpnum_source_check_(src);
  if (status == MPNUM_OK && !is_known) status = MPNUM_ERROR_ARGUMENT;
  if (status == MPNUM_OK && by_turns && src.columns % 2) status = MPNUM_ERROR_SHAPE;
  if (by_turns) src.columns /= 2;
  if (status == MPNUM_OK) status = mpnum_shape_check_(dst, src);
  if (status != MPNUM_OK || !factor.data) return status;
  if (!mpnum_has_rows_(factor.type)) return MPNUM_ERROR_TYPE;
  return factor.rows != src.rows || factor.columns != src.columns ? MPNUM_ERROR_SHAPE
                                                                  : MPNUM_OK;
}
/* The place of dst, that of codes if is_codes: on no bias, and where it may share rows.
 */
MPNUM_HOST mpnum_status mpnum_activation_place_(mpnum_matrix dst, mpnum_const_matrix src,
                                                const mpnum_activation_options *options,
                                                int is_codes) {
  mpnum_status status = MPNUM_OK;
  if (options->bias && mpnum_rows_lie_on_(dst, options->bias, src.columns))
    return MPNUM_ERROR_OVERLAP;
  if ((is_codes || options->is_interleaved) &&
      (mpnum_rows_overlap_(dst, src) || mpnum_rows_overlap_(dst, options->factor)))
    return MPNUM_ERROR_OVERLAP;
  if (is_codes) return MPNUM_OK;
  if (!mpnum_has_rows_(dst.type)) return MPNUM_ERROR_TYPE;
  if (!options->is_interleaved) status = mpnum_rows_check_(dst, src);
  if (status == MPNUM_OK && options->factor.data)
    status = mpnum_rows_check_(dst, options->factor);
  return status;
}

/* Whether rows lie one behind the other without a bias, so that all are like one row. */
MPNUM_HOST int mpnum_is_one_row_(mpnum_matrix dst, mpnum_const_matrix src,
                                 const mpnum_activation_options *options) {
  const mpnum_const_matrix factor = options->factor;
  return !options->bias && dst.stride == dst.columns && src.stride == src.columns &&
         (!factor.data || factor.stride == factor.columns);
}

/* Computes the activations. options NULL: the defaults, the activation alone. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_activation_rows(mpnum_activation activation, mpnum_matrix dst,
                      mpnum_const_matrix src, const mpnum_activation_options *options) {
  const mpnum_activation_options usual = mpnum_activation_default();
  const mpnum_activation_options *chosen = options ? options : &usual;
  MPNUM_ALIGNED_ float y[MPNUM_TILE_];
  const size_t most = mpnum_activation_most_(chosen);
  size_t rows = dst.rows, columns = dst.columns, i = 0, k = 0;
  uint64_t saved = 0;
  mpnum_status status = mpnum_activation_check_(activation, dst, src, chosen, 0);
  if (status == MPNUM_OK) status = mpnum_activation_place_(dst, src, chosen, 0);
  if (status != MPNUM_OK) return status;
  if (mpnum_is_one_row_(dst, src, chosen)) {
    columns *= rows;
    rows = rows > 0;
  }
  saved = mpnum_fenv_save_();
  for (; i < rows; ++i)
    for (k = 0; k < columns; k += most) {
      const size_t n = columns - k < most ? columns - k : most;
      mpnum_activation_tile_(activation, y, src, chosen, i, k, n);
      mpnum_floats_to_(dst.type, mpnum_rows_to_(dst, i, k), y, n);
    }
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}
/* The floats that rows of f32 would get become codes as by mpnum_quantize_array
 * (scale.h), bit for bit: times scale, to nearest even, saturating. dst: e4m3, e5m2 or
 * another signed type of at most 8 bits, one code in a byte, not in the place of another
 * array. losses, unless NULL, are added to; their amax is the largest finite magnitude
 * before scale. Status: MPNUM_ERROR_ARGUMENT also for a scale that is not finite or not
 * above 0; MPNUM_ERROR_OVERLAP also in place. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_activation_quantize_rows(
    mpnum_activation activation, mpnum_matrix dst, mpnum_const_matrix src,
    const mpnum_activation_options *options, float scale, mpnum_quantize_losses *losses) {
  const mpnum_activation_options usual = mpnum_activation_default();
  const mpnum_activation_options *chosen = options ? options : &usual;
  MPNUM_ALIGNED_ float y[MPNUM_TILE_];
  const size_t most = mpnum_activation_most_(chosen);
  size_t rows = dst.rows, columns = dst.columns, i = 0, k = 0;
  uint64_t saved = 0;
  mpnum_status status = mpnum_activation_check_(activation, dst, src, chosen, 0);
  if (!mpnum_is_scaled_type_(dst.type)) return MPNUM_ERROR_TYPE;
  if (!mpnum_is_scale_(scale)) return MPNUM_ERROR_ARGUMENT;
  if (status == MPNUM_OK) status = mpnum_activation_place_(dst, src, chosen, 1);
  if (status != MPNUM_OK) return status;
  if (mpnum_is_one_row_(dst, src, chosen)) {
    columns *= rows;
    rows = rows > 0;
  }
  saved = mpnum_fenv_save_();
  for (; i < rows; ++i)
    for (k = 0; k < columns; k += most) {
      const size_t n = columns - k < most ? columns - k : most;
      mpnum_activation_tile_(activation, y, src, chosen, i, k, n);
      mpnum_quantize_by_(dst.type, (uint8_t *)dst.data + i * dst.stride + k,
                         MPNUM_TYPE_F32, y, n, scale, losses);
    }
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}

#endif
MPNUM_C_END_
#endif
