/* SPDX-License-Identifier: MIT */
/* One pass over gradients that divides them by the scale, checks, counts and sums them in
 * one read and at most one write; and the calls of a loss scaler (scaler.h) that make
 * this pass.
 *
 *     const mpnum_type f16 = MPNUM_TYPE_F16, f32 = MPNUM_TYPE_F32;
 *     mpnum_grad_tensor tensors[2];
 *     mpnum_grad_findings findings;
 *     tensors[0] = mpnum_grad_tensor_of(f16, half_gradients, n, f32, gradients);
 *     tensors[1] = mpnum_grad_tensor_of(f32, others, k, f32, others);
 *     must(mpnum_grad_scaler_unscale_clip_step(&scaler, &optimizer, tensors, 2, 1.0f, 0,
 *                                              &findings, &verdict));
 *     if (verdict == MPNUM_GRAD_APPLY) ...
 *     must(mpnum_grad_scaler_update(&scaler, &optimizer)); // stops if it is not MPNUM_OK
 *
 * Domain: lists of tensors, each with its own types; any alignment, strides and sizes, 0
 *   included. A pass is in place where dst is src and both types have one size; otherwise
 *   the memory of all tensors is disjoint.
 * Rounding: to nearest even. An element is widened to f32, which is exact, multiplied,
 *   rounded to f32 and then to the type of dst; f64 is multiplied in f64.
 * Overflow: a result past the largest value becomes Inf, or NaN in e4m3, and counts as
 *   found; so does an f64 result beyond the range of f32.
 * NaN: stays NaN and counts as found.
 * Bits: the same from every instruction set, in every floating-point environment; those
 *   of findings are also the same however a list is cut into lists, and a tensor into
 *   tensors at multiples of 2048 elements.
 * Host only. */
#ifndef MPNUM_TRAINING_GRAD_H
#define MPNUM_TRAINING_GRAD_H

#include "scaler.h"
#include "grad_tensor.h"
#include "detail/grad_pass.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Multiplies gradients by a factor and writes what the results contain to *findings,
 * unless findings is NULL. mpnum_grad_read writes only the findings, as if each dst were
 * NULL.
 * Status codes: MPNUM_ERROR_TYPE: another type; MPNUM_ERROR_STRIDE: a dst_stride is below
 *   columns; MPNUM_ERROR_NARROW: a narrow dst without MPNUM_GRAD_NARROW;
 *   MPNUM_ERROR_NULL: tensors, or the src of a tensor with elements, is NULL;
 *   MPNUM_ERROR_OVERLAP: in place with types of two sizes or with two strides;
 *   MPNUM_ERROR_ARGUMENT: the factor is not finite, another flag, or a histogram_step of
 *   0. Nothing is written then. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_grad_multiply(const mpnum_grad_tensor *tensors, size_t count, float factor,
                    uint32_t flags, mpnum_grad_findings *findings) {
  return mpnum_grad_run_(MPNUM_GRAD_SCALE_, tensors, count, factor, flags, findings);
}
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_grad_read(const mpnum_grad_tensor *tensors,
                                                         size_t count, float factor,
                                                         mpnum_grad_findings *findings) {
  return mpnum_grad_run_(MPNUM_GRAD_SCAN_, tensors, count, factor, MPNUM_GRAD_NARROW,
                         findings);
}

/* Whether each tensor has a dst, unless it is empty. */
MPNUM_HOST int mpnum_grad_have_dst_(const mpnum_grad_tensor *tensors, size_t count) {
  size_t i = 0;
  for (; tensors && i < count; ++i)
    if (!tensors[i].dst && tensors[i].rows != 0 && tensors[i].columns != 0) return 0;
  return 1;
}
/* The loss scaler's passes over the gradients of an optimizer: check reads them, unscale
 * writes each dst. findings may be NULL.
 * Status codes: those of mpnum_grad_scaler_can_unscale, then those of
 *   mpnum_grad_multiply; unscale also returns MPNUM_ERROR_NULL if the dst of a tensor
 *   with elements is NULL. Nothing has changed then. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_grad_scaler_check(
    const mpnum_grad_scaler *scaler, mpnum_grad_optimizer *optimizer,
    const mpnum_grad_tensor *tensors, size_t count, mpnum_grad_findings *findings) {
  mpnum_grad_findings unasked = mpnum_grad_findings_empty();
  mpnum_grad_findings *found = findings ? findings : &unasked;
  mpnum_status status = mpnum_grad_scaler_can_unscale(scaler, optimizer);
  if (status == MPNUM_OK)
    status = mpnum_grad_read(tensors, count, scaler->inverse, found);
  if (status != MPNUM_OK) return status;
  return mpnum_grad_scaler_report_checked(
      scaler, optimizer, (uint32_t)mpnum_grad_found_inf(found), mpnum_grad_norm(found));
}
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_grad_scaler_unscale(
    const mpnum_grad_scaler *scaler, mpnum_grad_optimizer *optimizer,
    const mpnum_grad_tensor *tensors, size_t count, uint32_t flags,
    mpnum_grad_findings *findings) {
  mpnum_grad_findings unasked = mpnum_grad_findings_empty();
  mpnum_grad_findings *found = findings ? findings : &unasked;
  mpnum_status status = mpnum_grad_scaler_can_unscale(scaler, optimizer);
  if (status == MPNUM_OK && !mpnum_grad_have_dst_(tensors, count))
    status = MPNUM_ERROR_NULL;
  if (status == MPNUM_OK)
    status = mpnum_grad_multiply(tensors, count, scaler->inverse, flags, found);
  if (status != MPNUM_OK) return status;
  return mpnum_grad_scaler_report_unscaled(
      scaler, optimizer, (uint32_t)mpnum_grad_found_inf(found), mpnum_grad_norm(found));
}

/* Takes the norm of gradients that no pass has read since the last step, for a scaler
 * that is not enabled. If it is the norm that a clip left, the gradients are the clipped
 * ones. */
MPNUM_HOST mpnum_status mpnum_grad_look_(mpnum_grad_optimizer *optimizer,
                                         const mpnum_grad_tensor *tensors, size_t count) {
  mpnum_grad_findings findings;
  float norm = 0;
  const mpnum_status status = mpnum_grad_run_(MPNUM_GRAD_RESCAN_, tensors, count, 1.0f,
                                              MPNUM_GRAD_NARROW, &findings);
  if (status != MPNUM_OK) return status;
  norm = mpnum_grad_norm(&findings);
  if (mpnum_bits_f32(norm) != mpnum_bits_f32(optimizer->norm))
    mpnum_grad_set_norm_(optimizer, norm, mpnum_from_bits_f32(0x7f800000u));
  optimizer->found_inf = (uint32_t)mpnum_grad_found_inf(&findings);
  return MPNUM_OK;
}
/* Clips unscaled gradients, each dst, to a norm of at most max_norm, apart from the
 * rounding of each element: multiplies them by mpnum_grad_clip_coefficient unless it is
 * 1. Pass all tensors of an optimizer at once, as the handle has the norm of all;
 * afterwards it has the norm of the clipped gradients, and another clip with the same or
 * a larger max_norm does nothing. Gradients that hold Inf or NaN stay as they are, and
 * the verdict will be to skip; so do gradients whose norm overflows, which counts as
 * found. If the scaler is not enabled and no pass has read the gradients since the last
 * step, this function takes their norm first; gradients that hold Inf or NaN, or whose
 * norm overflows, then stay as they are and are applied. Histograms stay as they are.
 * Status codes: those of mpnum_grad_scaler_can_clip; MPNUM_ERROR_ARGUMENT: max_norm is
 *   not above 0 (Inf: no limit); MPNUM_ERROR_NULL: no dst for a tensor with elements;
 *   what mpnum_grad_multiply refuses; MPNUM_ERROR_NORM_UNKNOWN: the norm was reported as
 *   unknown, and max_norm is not Inf. The gradients are then as before. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_grad_scaler_clip(const mpnum_grad_scaler *scaler, mpnum_grad_optimizer *optimizer,
                       const mpnum_grad_tensor *tensors, size_t count, float max_norm) {
  mpnum_grad_findings findings;
  mpnum_status status = mpnum_grad_scaler_can_clip(scaler, optimizer);
  float coefficient = 1;
  if (status == MPNUM_OK && mpnum_bits_f32(max_norm) - 1 >= 0x7f800000u)
    status = MPNUM_ERROR_ARGUMENT;
  if (status == MPNUM_OK)
    status =
        mpnum_grad_tensors_check_(MPNUM_GRAD_RESCALE_, tensors, count, MPNUM_GRAD_NARROW);
  if (status == MPNUM_OK && mpnum_bits_f32(max_norm) != 0x7f800000u &&
      (optimizer->stage == MPNUM_GRAD_READY || optimizer->stage >= MPNUM_GRAD_STEPPED))
    status = mpnum_grad_look_(optimizer, tensors, count);
  if (status != MPNUM_OK || !mpnum_grad_can_clip_(scaler, optimizer, max_norm) ||
      mpnum_bits_f32(max_norm) >= mpnum_bits_f32(optimizer->clipped_to))
    return status;
  status = mpnum_grad_clip_coefficient(optimizer->norm, max_norm, &coefficient);
  if (status != MPNUM_OK || mpnum_bits_f32(coefficient) == 0x3f800000u) return status;
  status = mpnum_grad_run_(MPNUM_GRAD_RESCALE_, tensors, count, coefficient,
                           MPNUM_GRAD_NARROW, &findings);
  if (status == MPNUM_OK)
    mpnum_grad_set_norm_(optimizer, mpnum_grad_norm(&findings), max_norm);
  return status;
}

/* Does everything between a backward pass and apply: unscale, clip to max_norm (above 0;
 * Inf: no limit), step. findings are those of unscale and may be NULL. Status codes:
 * those of unscale, clip and step; the verdict is then MPNUM_GRAD_SKIP, and nothing else
 * has changed. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_grad_scaler_unscale_clip_step(
    mpnum_grad_scaler *scaler, mpnum_grad_optimizer *optimizer,
    const mpnum_grad_tensor *tensors, size_t count, float max_norm, uint32_t flags,
    mpnum_grad_findings *findings, mpnum_grad_verdict *verdict) {
  mpnum_status status = mpnum_grad_scaler_can_unscale(scaler, optimizer);
  *verdict = MPNUM_GRAD_SKIP;
  if (status == MPNUM_OK && mpnum_bits_f32(max_norm) - 1 >= 0x7f800000u)
    status = MPNUM_ERROR_ARGUMENT;
  if (status == MPNUM_OK)
    status =
        mpnum_grad_scaler_unscale(scaler, optimizer, tensors, count, flags, findings);
  if (status == MPNUM_OK)
    status = mpnum_grad_scaler_clip(scaler, optimizer, tensors, count, max_norm);
  if (status != MPNUM_OK) return status;
  return mpnum_grad_scaler_step(scaler, optimizer, verdict);
}

#endif
MPNUM_C_END_
#endif
