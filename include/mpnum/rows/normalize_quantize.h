/* SPDX-License-Identifier: MIT */
/* Norms of normalize.h to 8 bits with a scale, in one pass: the step between two layers
 * of an inference engine.
 *
 *     mpnum_normalize_options options = mpnum_normalize_default();
 *     options.weight = weight;
 *     options.residual = mpnum_const_matrix_of(MPNUM_TYPE_BF16, hidden, rows, n);
 *     options.sum = mpnum_matrix_of(MPNUM_TYPE_BF16, hidden, rows, n);
 *     mpnum_normalize_quantize_rows(MPNUM_NORM_RMS,
 *                                   mpnum_matrix_of(MPNUM_TYPE_E4M3, codes, rows, n), x,
 *                                   &options, scale, &losses);
 *
 * The floats that mpnum_normalize_rows would store as f32 become codes as by
 * mpnum_quantize_array (scale.h), bit for bit: times scale, to nearest even, saturating.
 * Domain: dst is e4m3, e5m2 or another signed type of at most 8 bits, one code in a
 *   byte, and not in the place of src; all else as in normalize.h. losses, unless NULL,
 *   are added to; their amax is the largest finite magnitude before scale.
 * Status: as normalize.h; MPNUM_ERROR_ARGUMENT also for a scale that is not finite or
 *   not above 0; MPNUM_ERROR_OVERLAP also for dst in the place of src. */
#ifndef MPNUM_ROWS_NORMALIZE_QUANTIZE_H
#define MPNUM_ROWS_NORMALIZE_QUANTIZE_H

#include "normalize_options.h"
#include "detail/norm_pass.h"
#include "../array/detail/scale_loops.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

typedef struct mpnum_norm_codes_ {
  mpnum_scaling_ scaling;
  float scale;
  mpnum_quantize_losses *losses;
} mpnum_norm_codes_;

MPNUM_HOST void mpnum_norm_quantize_(const mpnum_norm_job_ *job, size_t row, size_t first,
                                     const float *y, size_t n) {
  const mpnum_norm_codes_ *codes = (const mpnum_norm_codes_ *)job->more;
  uint8_t *dst = (uint8_t *)job->dst.data + row * job->dst.stride + first;
  mpnum_quantize_floats_(&codes->scaling, dst, y, mpnum_factors_of_(&codes->scale, 31), n,
                         0);
  if (codes->losses)
    mpnum_count_losses_by_(&codes->scaling, codes->losses, dst, y, codes->scale, n);
}

/* Computes the codes. options NULL: the defaults. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_normalize_quantize_rows(
    mpnum_norm_kind kind, mpnum_matrix dst, mpnum_const_matrix src,
    const mpnum_normalize_options *options, float scale, mpnum_quantize_losses *losses) {
  const mpnum_normalize_options usual = mpnum_normalize_default();
  const mpnum_format element = mpnum_format_of(dst.type);
  mpnum_norm_job_ job = mpnum_norm_job_of_(kind, dst, src, options ? options : &usual);
  mpnum_norm_codes_ codes;
  mpnum_status status = mpnum_norm_check_(kind, src, job.options);
  if (!mpnum_is_scaled_type_(dst.type)) return MPNUM_ERROR_TYPE;
  if (!mpnum_is_scale_(scale)) return MPNUM_ERROR_ARGUMENT;
  if (status == MPNUM_OK) status = mpnum_shape_check_(dst, src);
  if (status == MPNUM_OK && mpnum_rows_overlap_(dst, src)) status = MPNUM_ERROR_OVERLAP;
  if (status == MPNUM_OK) status = mpnum_norm_places_(dst, job.options);
  if (status != MPNUM_OK) return status;
  mpnum_find_scaling_(&codes.scaling, &element, 8, MPNUM_ROUND_NEAREST_EVEN);
  codes.scale = scale;
  codes.losses = losses;
  job.finish = mpnum_norm_quantize_;
  job.more = &codes;
  mpnum_norm_add_(&job);
  mpnum_norm_all_(&job);
  return MPNUM_OK;
}

#endif
MPNUM_C_END_
#endif
