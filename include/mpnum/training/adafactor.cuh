/* SPDX-License-Identifier: MIT */
/* Steps of Adafactor over tensors in device memory: those of adafactor.h, with the loss
 * scaler, the number of the step and, if wanted, the learning rate in device memory, too.
 * Rules of all launchers: kernels.cuh. CUDA C++11; NVRTC for the kernels alone. Opt-in.
 *
 *     // tensors: on the host, with addresses of the device
 *     cudaMalloc(&workspace, mpnum_launch_adafactor_bytes(tensors, count));
 *     ...
 *     mpnum_launch_adafactor_step(&adafactor, tensors, count, progress, 0, multiplier,
 *                                 apply, workspace, stream);
 *
 * progress, multiplier and apply are those of optimizer.cuh. Parameters, averages,
 * remainders, copies and losses are the bytes that mpnum_adafactor_step gives on the
 * host; domain, rounding and NaN are those of adafactor.h, but an element is aligned for
 * its type, and averages are 0 or more, as steps leave them.
 * Speed: six launches for each tensor, four without a clip. Gradients are read four
 * times, three without a clip, once out of the L2 cache, parameters twice if the rate is
 * scaled. */
#ifndef MPNUM_TRAINING_ADAFACTOR_CUH
#define MPNUM_TRAINING_ADAFACTOR_CUH

#include "adafactor.h"
#include "detail/adafactor_pass.cuh"
MPNUM_C_BEGIN_

/* One thread: the number of the step and its factors, before all matrices. */
template <class Progress>
static __global__ void
mpnum_adafactor_begin_kernel_(Progress *progress, mpnum_adafactor_state_ *state,
                              mpnum_adafactor adafactor, const double *learning_rate,
                              const float *multiplier, const uint32_t *apply) {
  mpnum_begin_kernel_();
  const float factor =
      multiplier ? *multiplier : mpnum_from_bits_f32(0x3f800000u); /* 1 */
  mpnum_optimizer_progress next = *progress;
  mpnum_optimizer steps;
  if (learning_rate) adafactor.learning_rate = *learning_rate;
  next.is_applied = 0;
  next.status = mpnum_adafactor_check_(&adafactor, &steps, next.steps + 1, factor);
  if (next.status == MPNUM_OK)
    next.status = mpnum_optimizer_factors_of_(&state->factors.steps, &steps,
                                              next.steps + 1, factor);
  if (next.status == MPNUM_OK && (!apply || *apply == MPNUM_GRAD_APPLY)) {
    next.is_applied = 1;
    next.steps += 1;
    mpnum_adafactor_factors_of_(&state->factors, &adafactor, next.steps);
    next.factors = state->factors.steps;
    for (uint32_t i = 0; i < 3; ++i)
      next.seeds[i] = mpnum_optimizer_seed_(steps.seed, next.steps, i);
    state->parameters = state->averages = state->updates = mpnum_exact_sum_empty();
  }
  *progress = next;
}
/* Grids of one dimension, blocks of MPNUM_LAUNCH_THREADS_. */
template <class Progress>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_, MPNUM_OPTIMIZER_BLOCKS_)
    mpnum_adafactor_sums_kernel_(mpnum_adafactor_job_ job, const Progress *progress) {
  mpnum_begin_kernel_();
  __shared__ mpnum_exact_sum own;
  if (progress->is_applied) mpnum_adafactor_sums_(job, &own);
}
template <class Progress>
static __global__ void mpnum_adafactor_averages_kernel_(mpnum_adafactor_job_ job,
                                                        const Progress *progress) {
  mpnum_begin_kernel_();
  __shared__ mpnum_exact_sum own;
  if (progress->is_applied) mpnum_adafactor_averages_of_(job, &own);
}
template <class Progress>
static __global__ void mpnum_adafactor_rows_kernel_(mpnum_adafactor_job_ job,
                                                    const Progress *progress) {
  mpnum_begin_kernel_();
  __shared__ mpnum_exact_sum own;
  __shared__ float root;
  if (progress->is_applied) mpnum_adafactor_rows_of_(job, &own, &root);
}
template <class Progress>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_, MPNUM_OPTIMIZER_BLOCKS_)
    mpnum_adafactor_sizes_kernel_(mpnum_adafactor_job_ job, const Progress *progress) {
  mpnum_begin_kernel_();
  __shared__ mpnum_exact_sum own;
  if (progress->is_applied) mpnum_adafactor_sizes_(job, &own);
}
template <class Progress> /* one thread */
static __global__ void mpnum_adafactor_clip_kernel_(mpnum_adafactor_job_ job,
                                                    const Progress *progress) {
  mpnum_begin_kernel_();
  if (progress->is_applied) mpnum_adafactor_clip_(job);
}
template <class Progress>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_, MPNUM_OPTIMIZER_BLOCKS_)
    mpnum_adafactor_step_kernel_(mpnum_adafactor_job_ job, const Progress *progress) {
  mpnum_begin_kernel_();
  if (progress->is_applied) mpnum_adafactor_steps_(job, *progress);
}

#if !MPNUM_HAS_NVRTC_

/* The job of a tensor that was checked, in a workspace; the bytes that it takes there. */
static inline size_t mpnum_adafactor_job_of_(mpnum_adafactor_job_ *job,
                                             const mpnum_optimizer_tensor &t,
                                             void *workspace) {
  const mpnum_adafactor_matrix_ matrix = mpnum_adafactor_matrix_of_(&t);
  const size_t at = reinterpret_cast<size_t>(workspace); /* NULL to count */
  size_t bytes = (sizeof(mpnum_adafactor_state_) + 15) / 16 * 16;
  job->t = t;
  job->state = static_cast<mpnum_adafactor_state_ *>(workspace);
  job->rows = matrix.rows;
  job->columns = matrix.columns;
  job->tiles = (matrix.columns + MPNUM_OPTIMIZER_TILE_ - 1) / MPNUM_OPTIMIZER_TILE_;
  job->chunks = (matrix.rows + MPNUM_ADAFACTOR_ROWS_ - 1) / MPNUM_ADAFACTOR_ROWS_;
  job->squares = reinterpret_cast<double *>(at + bytes);
  bytes += 8 * static_cast<size_t>(job->rows * job->tiles);
  job->by_row = reinterpret_cast<float *>(at + bytes);
  bytes += 4 * matrix.rows;
  job->by_column = reinterpret_cast<float *>(at + bytes);
  bytes += 4 * matrix.columns;
  job->sums = reinterpret_cast<float *>(at + bytes);
  return bytes + 4 * static_cast<size_t>(job->chunks * job->columns);
}
/* Bytes of device memory, aligned to 16, that steps of these tensors take: of the largest
 * one 1/64 of it as floats, 8 to 12 bytes a row and 8 a column, so of a vector twice its
 * size. */
static inline size_t mpnum_launch_adafactor_bytes(const mpnum_optimizer_tensor *tensors,
                                                  size_t count) {
  size_t most = sizeof(mpnum_adafactor_state_);
  for (size_t i = 0; tensors && i < count; ++i) {
    mpnum_adafactor_job_ job;
    const size_t bytes =
        tensors[i].n == 0 ? 0 : mpnum_adafactor_job_of_(&job, tensors[i], 0);
    if (bytes > most) most = bytes;
  }
  return most;
}
/* Whether a tensor is what a launch takes: a total has fewer terms than its limbs hold.
 */
static inline bool mpnum_adafactor_fits_(const mpnum_optimizer_tensor &t) {
  const size_t limit = static_cast<size_t>(1) << 30;
  mpnum_adafactor_job_ job;
  (void)mpnum_adafactor_job_of_(&job, t, 0);
  return t.n == 0 || (job.rows * job.tiles < limit && mpnum_optimizer_are_aligned_(t, 2));
}
/* The launches of one tensor. */
template <class Progress>
static inline cudaError_t
mpnum_launch_adafactor_(const mpnum_adafactor_job_ &job, bool clips, size_t most,
                        const Progress *progress, cudaStream_t stream) {
  const auto launch = [&](void (*kernel)(mpnum_adafactor_job_, const Progress *),
                          uint64_t tiles, unsigned threads) {
    const size_t blocks = tiles < most ? static_cast<size_t>(tiles) : most;
    return mpnum_launch_(kernel, blocks, threads, stream, job, progress);
  };
  const unsigned threads = MPNUM_LAUNCH_THREADS_;
  cudaError_t error =
      launch(mpnum_adafactor_sums_kernel_<Progress>, job.chunks * job.tiles, threads);
  if (error == cudaSuccess)
    error = launch(mpnum_adafactor_averages_kernel_<Progress>,
                   (job.rows + job.columns - 1) / threads + 1, threads);
  if (error == cudaSuccess)
    error = launch(mpnum_adafactor_rows_kernel_<Progress>, (job.rows - 1) / threads + 1,
                   threads);
  if (error == cudaSuccess && clips)
    error = launch(mpnum_adafactor_sizes_kernel_<Progress>,
                   (job.rows * job.tiles - 1) / MPNUM_GRAD_TEAMS_ + 1, threads);
  if (error == cudaSuccess && clips)
    error = launch(mpnum_adafactor_clip_kernel_<Progress>, 1, 1);
  if (error != cudaSuccess) return error;
  return launch(mpnum_adafactor_step_kernel_<Progress>,
                (job.t.n - 1) / MPNUM_OPTIMIZER_TILE_ + 1, threads);
}
/* Takes the next step of all tensors, which are read, with adafactor, before this
 * returns. learning_rate: NULL, or in device memory, instead of the one in adafactor.
 * multiplier: NULL, 1, or in device memory. apply: NULL, or in device memory; where it is
 * not MPNUM_GRAD_APPLY nothing is written but progress and the workspace.
 * progress->status is what mpnum_adafactor_step would return. workspace: of
 * mpnum_launch_adafactor_bytes, with anything in it, apart from all tensors and from
 * progress, which is not checked; launches of one stream may share it.
 * cudaErrorInvalidValue, and no launch: a NULL where none may be, an option or a tensor
 * that mpnum_adafactor_step refuses, an address that is not aligned for its type, 2^30
 * rows or tiles of 1024 columns. Where a later launch fails tensors are undefined. */
template <class Progress = mpnum_optimizer_progress>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_adafactor_step(const mpnum_adafactor *adafactor,
                            const mpnum_optimizer_tensor *tensors, size_t count,
                            mpnum_optimizer_progress *progress,
                            const double *learning_rate, const float *multiplier,
                            const uint32_t *apply, void *workspace, cudaStream_t stream) {
  mpnum_optimizer steps;
  size_t most = 0;
  if (!progress || !workspace || reinterpret_cast<size_t>(workspace) % 16 != 0 ||
      mpnum_adafactor_check_(adafactor, &steps, 1, 1.0f) != MPNUM_OK ||
      mpnum_adafactor_tensors_check_(&steps, tensors, count) != MPNUM_OK)
    return cudaErrorInvalidValue;
  for (size_t i = 0; i < count; ++i)
    if (!mpnum_adafactor_fits_(tensors[i])) return cudaErrorInvalidValue;
  const bool clips = mpnum_bits_f32(mpnum_f64_to_f32(adafactor->clip)) < 0x7f800000u;
  cudaError_t error =
      mpnum_launch_blocks_(&most, ~static_cast<size_t>(0), 0, MPNUM_OPTIMIZER_BLOCKS_);
  if (error == cudaSuccess)
    error = mpnum_launch_(mpnum_adafactor_begin_kernel_<Progress>, 1, 1, stream, progress,
                          static_cast<mpnum_adafactor_state_ *>(workspace), *adafactor,
                          learning_rate, multiplier, apply);
  for (size_t i = 0; i < count && error == cudaSuccess; ++i) {
    mpnum_adafactor_job_ job = {};
    if (tensors[i].n == 0) continue;
    (void)mpnum_adafactor_job_of_(&job, tensors[i], workspace);
    job.is_stochastic = steps.rounding == MPNUM_ROUND_STOCHASTIC;
    error = mpnum_launch_adafactor_<Progress>(job, clips, most, progress, stream);
  }
  return error;
}

#endif

MPNUM_C_END_
#endif
