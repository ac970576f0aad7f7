/* SPDX-License-Identifier: MIT */
/* Steps of optimizers over tensors in device memory: those of optimizer.h, with the
 * loss scaler, the number of the step and, if wanted, the learning rate in device memory,
 * too. Rules of all launchers: kernels.cuh. CUDA C++11; NVRTC for the kernels alone.
 * Opt-in.
 *
 *     // Once, on the host; tensors with addresses of the device.
 *     mpnum_optimizer_plan(&list, tiles_before, &adamw, tensors, count);
 *     list.tensors = copy_of_tensors;           // in device memory
 *     list.tiles_before = copy_of_tiles_before; // count + 1 words, the same
 *     mpnum_launch_scratch_init(workspace, stream); // and progress, but of a checkpoint
 *     // Each iteration, or once while a graph is captured. No dst in gradients: they are
 *     // read, and stay as they are.
 *     mpnum_launch_grad_pass(findings, gradients, scaler, workspace, stream);
 *     mpnum_launch_grad_multiplier(multiplier, handle, scaler, findings, 1.0f, stream);
 *     mpnum_launch_grad_step(scaler, handle, findings, apply, stream);
 *     mpnum_launch_optimizer_step(&adamw, list, progress, 0, multiplier, apply, stream);
 *
 * Parameters, moments, remainders, copies and losses are the bytes that
 * mpnum_optimizer_step gives on the host; domain, rounding and NaN are those of
 * optimizer.h, but an element is aligned for its type. A thread moves 4 elements at a
 * time where an array is aligned for that, else one. */
#ifndef MPNUM_TRAINING_OPTIMIZER_CUH
#define MPNUM_TRAINING_OPTIMIZER_CUH

#include "optimizer.h"
#include "detail/optimizer_pass.cuh"
MPNUM_C_BEGIN_

/* One thread: the number of the step and its factors, before the pass. */
template <class Progress>
static __global__ void
mpnum_optimizer_begin_kernel_(Progress *progress, mpnum_optimizer optimizer,
                              const double *learning_rate, const float *multiplier,
                              const uint32_t *apply) {
  mpnum_begin_kernel_();
  const float factor =
      multiplier ? *multiplier : mpnum_from_bits_f32(0x3f800000u); /* 1 */
  mpnum_optimizer_progress next = *progress;
  if (learning_rate) optimizer.learning_rate = *learning_rate;
  next.is_applied = 0;
  next.status = mpnum_optimizer_check_(&optimizer, next.steps + 1, factor);
  if (next.status == MPNUM_OK)
    next.status =
        mpnum_optimizer_factors_of_(&next.factors, &optimizer, next.steps + 1, factor);
  if (next.status == MPNUM_OK && (!apply || *apply == MPNUM_GRAD_APPLY)) {
    next.is_applied = 1;
    next.steps += 1;
    for (uint32_t i = 0; i < 3; ++i)
      next.seeds[i] = mpnum_optimizer_seed_(optimizer.seed, next.steps, i);
  }
  *progress = next;
}
/* Grids of one dimension, blocks of MPNUM_LAUNCH_THREADS_. */
template <class Progress>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_, MPNUM_OPTIMIZER_BLOCKS_)
    mpnum_optimizer_kernel_(mpnum_optimizer_list list, const Progress *progress) {
  mpnum_begin_kernel_();
  __shared__ mpnum_optimizer_shared_ shared;
  if (progress->is_applied) mpnum_optimizer_tiles_(list, *progress, &shared);
}
/* One thread: computes the multiplier by a handle that is reported as checked, and leaves
 * the optimizer's own to the step. Where there is none, the norm and the bound that stay
 * in the handle tell the step, which refuses them as it does a clip. */
template <class Optimizer>
static __global__ void
mpnum_grad_multiplier_kernel_(float *multiplier, Optimizer *optimizer,
                              const mpnum_grad_scaler *scaler,
                              const mpnum_grad_findings *findings, float max_norm) {
  mpnum_begin_kernel_();
  __shared__ mpnum_exact_sum squares;
  const uint32_t found_inf = static_cast<uint32_t>(mpnum_grad_found_inf(findings));
  mpnum_grad_optimizer handle = *optimizer, checked = handle;
  float product = mpnum_from_bits_f32(0x7fffffffu);
  mpnum_status status = MPNUM_OK;
  squares = findings->squares;
  status = mpnum_grad_scaler_report_checked(
      scaler, &checked, found_inf, mpnum_root_(mpnum_exact_sum_take_odd_(&squares)));
  if (status == MPNUM_OK)
    status = mpnum_grad_scaler_multiplier(scaler, &checked, max_norm, &product);
  if (status == MPNUM_ERROR_NORM_UNKNOWN || status == MPNUM_ERROR_UNREPRESENTABLE)
    status = mpnum_grad_scaler_report_unscaled(scaler, &handle, found_inf,
                                               MPNUM_GRAD_NORM_UNKNOWN);
  else if (status != MPNUM_ERROR_ALREADY_UNSCALED)
    status = MPNUM_ERROR_ARGUMENT; /* none, or one that the step has, too */
  if (status == MPNUM_OK || status == MPNUM_ERROR_ALREADY_UNSCALED) {
    handle.norm = MPNUM_GRAD_NORM_UNKNOWN;
    handle.clipped_to = mpnum_from_bits_f32(1);
    *optimizer = handle;
  }
  *multiplier = product;
}

#if !MPNUM_HAS_NVRTC_

/* Launchers are templates so that only files that call them compile their kernels. */

/* Takes the next step of all tensors of a planned list, two launches for any number of
 * them. optimizer is read before this returns. learning_rate: NULL, or in device memory,
 * instead of the one in optimizer, as for a graph that is launched again. multiplier:
 * NULL, 1, or in device memory. apply: NULL, or in device memory; where it is not
 * MPNUM_GRAD_APPLY nothing is written but progress. progress->steps grows by one where a
 * step was taken, is 0 before the first and what a checkpoint says after that;
 * progress->status is what mpnum_optimizer_step would return, and where it is not
 * MPNUM_OK nothing else was written. Where the second launch fails steps has grown.
 * cudaErrorInvalidValue, and no launch: NULL for optimizer or progress, a list without
 * its pointers, an option that is refused, another kind of step (AdamW and Adam have one)
 * or rounding than the list was planned for. */
template <class Progress = mpnum_optimizer_progress>
MPNUM_MUST_CHECK static inline cudaError_t mpnum_launch_optimizer_step(
    const mpnum_optimizer *optimizer, const mpnum_optimizer_list &list,
    mpnum_optimizer_progress *progress, const double *learning_rate,
    const float *multiplier, const uint32_t *apply, cudaStream_t stream) {
  if (!optimizer || !progress || (list.tiles && !(list.tensors && list.tiles_before)) ||
      mpnum_optimizer_check_(optimizer, 1, 1.0f) != MPNUM_OK ||
      list.step != mpnum_optimizer_step_of_(optimizer) ||
      list.is_stochastic != (optimizer->rounding == MPNUM_ROUND_STOCHASTIC))
    return cudaErrorInvalidValue;
  size_t blocks = 0;
  cudaError_t error = mpnum_launch_blocks_(&blocks, static_cast<size_t>(list.tiles), 0,
                                           MPNUM_OPTIMIZER_BLOCKS_);
  if (error == cudaSuccess)
    error = mpnum_launch_(mpnum_optimizer_begin_kernel_<Progress>, 1, 1, stream, progress,
                          *optimizer, learning_rate, multiplier, apply);
  if (error != cudaSuccess) return error;
  return mpnum_launch_(mpnum_optimizer_kernel_<Progress>, blocks, MPNUM_LAUNCH_THREADS_,
                       stream, list, progress);
}
/* For gradients that stay as they are: mpnum_grad_scaler_report_checked of the findings,
 * then mpnum_grad_scaler_multiplier. *multiplier, in device memory, becomes the inverse
 * of the scale times the clip coefficient, 0 if the step will be skipped, or, where one
 * of the two returns a status, NaN, with which mpnum_launch_optimizer_step writes
 * nothing. Before mpnum_launch_grad_step, which reports the findings itself, and, where
 * the multiplier is NaN, refuses the step (MPNUM_ERROR_NORM_UNKNOWN for one); a handle
 * that it has refused stays so until mpnum_grad_scaler_discard.
 * cudaErrorInvalidValue, and no launch: a NULL, max_norm not above 0 (Inf: no limit). */
template <class Optimizer = mpnum_grad_optimizer>
MPNUM_MUST_CHECK static inline cudaError_t mpnum_launch_grad_multiplier(
    float *multiplier, mpnum_grad_optimizer *optimizer, const mpnum_grad_scaler *scaler,
    const mpnum_grad_findings *findings, float max_norm, cudaStream_t stream) {
  if (!multiplier || !optimizer || !scaler || !findings ||
      mpnum_bits_f32(max_norm) - 1 >= 0x7f800000u)
    return cudaErrorInvalidValue;
  return mpnum_launch_(mpnum_grad_multiplier_kernel_<Optimizer>, 1, 1, stream, multiplier,
                       optimizer, scaler, findings, max_norm);
}

#endif

MPNUM_C_END_
#endif
