/* SPDX-License-Identifier: MIT */
/* Gradients in device memory: the pass of grad.h and the steps of a loss scaler that is
 * in device memory, too, and that no host reads. Rules of all launchers: kernels.cuh.
 * CUDA C++11; NVRTC for the kernels alone.
 *
 *     // Once, on the host; tensors with addresses of the device.
 *     mpnum_grad_plan(&list, tiles_before, tensors, count, 0);
 *     list.tensors = copy_of_tensors;           // in device memory
 *     list.tiles_before = copy_of_tiles_before; // count + 1 words, the same
 *     mpnum_launch_scratch_init(workspace, stream);
 *     // Each iteration, or once while a graph is captured.
 *     mpnum_launch_grad_pass(findings, list, scaler, workspace, stream);
 *     mpnum_launch_grad_clip(optimizer, scaler, findings, list, 1.0f, workspace, stream);
 *     mpnum_launch_grad_step(scaler, optimizer, findings, apply, stream);
 *     update<<<...>>>(parameters, gradients, apply); // returns if *apply is not 1
 *
 * What is written, findings, scaler and handle are the bytes that grad.h and scaler.h
 * give on the host. Domain, rounding, overflow and NaN are those of grad.h, but an
 * element is aligned for its type. A workspace is of one stream: two passes at the same
 * time want two. A tensor is cut into tiles of 2048 elements, as grad.h sums squares;
 * sixteen threads take a tile. They move 4 elements at a time where the tile is aligned
 * for that, and where src is no f64 and dst f32, bf16, f16 or NULL; else one. Squares are
 * one multiplication and addition in f64 each, of floats that integers have made doubles.
 * GPUs that do two of them a clock in a multiprocessor (sm_75, 86, 89, 103, 120) take
 * half a clock for an element, see docs/cuda.md. */
#ifndef MPNUM_TRAINING_GRAD_CUH
#define MPNUM_TRAINING_GRAD_CUH

#include "detail/grad_pass.cuh"
#include "grad_list.cuh"
MPNUM_C_BEGIN_

/* Grids of one dimension, blocks of MPNUM_LAUNCH_THREADS_. */
template <class Findings>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_, MPNUM_GRAD_BLOCKS_)
    mpnum_grad_pass_kernel_(Findings *findings, mpnum_grad_list list,
                            const mpnum_grad_scaler *scaler,
                            mpnum_grad_workspace *workspace) {
  mpnum_begin_kernel_();
  __shared__ mpnum_grad_shared_ shared;
  const float factor = scaler ? scaler->inverse : 1.0f;
  if (mpnum_iszero_u31_(mpnum_bits_f32(factor) & 0x7fffffffu))
    list.tiles = list.elements = 0; /* a scaler of zeros */
  const mpnum_meeting_ meeting(&workspace->blocks, findings, list.tensors, list.elements);
  if (threadIdx.x == 0) meeting.begin();
  mpnum_grad_begin_(shared, list);
  __syncthreads();
  mpnum_grad_tiles_<false>(shared, list, factor);
  const mpnum_meeting_state_ state = mpnum_grad_end_(shared, workspace, meeting);
  if (threadIdx.x != 0) return;
  if (state == MPNUM_MEETING_UNSOUND_) mpnum_grad_unsound_(findings, list);
  if (state != MPNUM_MEETING_LAST_) return;
  mpnum_grad_total_(shared, list);
  findings->squares = shared.own.after_carry;
  workspace->squares = shared.own.after_carry;
  workspace->norm = mpnum_root_(mpnum_exact_sum_take_odd_(&shared.own.after_carry));
  mpnum_grad_found_(findings, shared.own, list, factor);
}

/* The root of the squares of findings, as their pass left it where they are of one pass
 * and not merged; of the first lane of a warp, all lanes of which call it. room is lost.
 */
static __device__ __forceinline__ float
mpnum_grad_norm_of_(const mpnum_grad_findings *findings,
                    const mpnum_grad_workspace *workspace, mpnum_exact_sum *room) {
  const uint64_t *found = reinterpret_cast<const uint64_t *>(&findings->squares);
  const uint64_t *left = reinterpret_cast<const uint64_t *>(&workspace->squares);
  const unsigned lane = threadIdx.x % 32;
  const int is_left = lane >= sizeof *room / 8 || found[lane] == left[lane];
  if (__all_sync(0xffffffffu, is_left)) return workspace->norm;
  if (lane != 0) return 0;
  *room = findings->squares;
  return mpnum_root_(mpnum_exact_sum_take_odd_(room));
}

/* What mpnum_grad_scaler_clip would do: reports what a pass found, unless an earlier clip
 * did, and returns the coefficient, or 1 where nothing is to be multiplied. is_reported
 * becomes 1 where the handle has changed. A clip that wants a norm that is unknown is
 * refused: the bound that stays in the handle tells the step. */
static __device__ __forceinline__ float
mpnum_grad_clip_factor_(mpnum_grad_optimizer *optimizer, int *is_reported,
                        const mpnum_grad_scaler *scaler,
                        const mpnum_grad_findings *findings, float norm, float max_norm) {
  float coefficient = 1.0f;
  mpnum_status status = MPNUM_OK;
  *is_reported = 0;
  if (optimizer->stage != MPNUM_GRAD_UNSCALED)
    status = mpnum_grad_scaler_report_unscaled(
        scaler, optimizer, static_cast<uint32_t>(mpnum_grad_found_inf(findings)), norm);
  if (status == MPNUM_OK) status = mpnum_grad_scaler_can_clip(scaler, optimizer);
  if (status != MPNUM_OK) return coefficient;
  *is_reported = 1;
  if (mpnum_grad_can_clip_(scaler, optimizer, max_norm) &&
      mpnum_bits_f32(max_norm) < mpnum_bits_f32(optimizer->clipped_to)) {
    status = mpnum_grad_clip_coefficient(optimizer->norm, max_norm, &coefficient);
    if (status == MPNUM_ERROR_NORM_UNKNOWN) optimizer->clipped_to = max_norm;
  }
  return coefficient;
}
/* All blocks read the handle; the last one, when they have, writes it. */
template <class Optimizer>
static __global__ void __launch_bounds__(MPNUM_LAUNCH_THREADS_, MPNUM_GRAD_BLOCKS_)
    mpnum_grad_clip_kernel_(Optimizer *optimizer, const mpnum_grad_scaler *scaler,
                            const mpnum_grad_findings *findings, mpnum_grad_list list,
                            float max_norm, mpnum_grad_workspace *workspace) {
  mpnum_begin_kernel_();
  __shared__ mpnum_grad_shared_ shared;
  __shared__ mpnum_grad_optimizer next;
  const mpnum_meeting_ meeting(&workspace->blocks, optimizer, list.tensors,
                               mpnum_bits_f32(max_norm));
  if (threadIdx.x == 0) meeting.begin();
  mpnum_grad_begin_(shared, list);
  __syncthreads();
  const float norm =
      threadIdx.x < 32 ? mpnum_grad_norm_of_(findings, workspace, &shared.own.after_carry)
                       : 0;
  if (threadIdx.x == 0) {
    mpnum_grad_optimizer handle = *optimizer;
    shared.factor = mpnum_grad_clip_factor_(&handle, &shared.is_reported, scaler,
                                            findings, norm, max_norm);
    shared.own.after_carry = mpnum_exact_sum_empty();
    next = handle;
  }
  __syncthreads();
  const float factor = shared.factor;
  const int is_clip = mpnum_bits_f32(factor) != 0x3f800000u;
  if (is_clip) mpnum_grad_tiles_<true>(shared, list, factor);
  const mpnum_meeting_state_ state = mpnum_grad_end_(shared, workspace, meeting);
  if (threadIdx.x != 0 || state == MPNUM_MEETING_EARLIER_) return;
  if (state == MPNUM_MEETING_UNSOUND_) {
    mpnum_grad_set_norm_(&next, MPNUM_GRAD_NORM_UNKNOWN, mpnum_from_bits_f32(1));
    *optimizer = next;
    return;
  }
  if (is_clip) {
    mpnum_grad_total_(shared, list);
    mpnum_grad_set_norm_(
        &next, mpnum_root_(mpnum_exact_sum_take_odd_(&shared.own.after_carry)), max_norm);
  }
  if (shared.is_reported) *optimizer = next;
}

/* The optimizers of a scaler that a launch takes at most. */
#define MPNUM_GRAD_OPTIMIZERS 32
typedef struct mpnum_grad_step_ {
  mpnum_grad_optimizer *optimizers[MPNUM_GRAD_OPTIMIZERS];
  const mpnum_grad_findings *findings[MPNUM_GRAD_OPTIMIZERS];
  int count;
} mpnum_grad_step_;

/* Whether a clip wanted a norm that was unknown. */
static __device__ __forceinline__ bool
mpnum_grad_is_refused_clip_(const mpnum_grad_optimizer &optimizer) {
  return mpnum_grad_is_unknown_(optimizer.norm) && !optimizer.found_inf &&
         mpnum_bits_f32(optimizer.clipped_to) != 0x7f800000u;
}
/* Reports what was found, unless a clip did, and takes the step. */
static __device__ __forceinline__ mpnum_status mpnum_grad_one_step_(
    mpnum_grad_scaler *scaler, mpnum_grad_optimizer *optimizer,
    const mpnum_grad_findings *findings, mpnum_exact_sum *squares, uint32_t *apply) {
  mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
  mpnum_status status = MPNUM_OK;
  *squares = findings->squares;
  *apply = MPNUM_GRAD_SKIP;
  if (optimizer->stage != MPNUM_GRAD_UNSCALED)
    status = mpnum_grad_scaler_report_unscaled(
        scaler, optimizer, static_cast<uint32_t>(mpnum_grad_found_inf(findings)),
        mpnum_root_(mpnum_exact_sum_take_odd_(squares)));
  if (status == MPNUM_OK && mpnum_grad_is_refused_clip_(*optimizer))
    status = MPNUM_ERROR_NORM_UNKNOWN;
  if (status == MPNUM_OK) status = mpnum_grad_scaler_step(scaler, optimizer, &verdict);
  *apply = static_cast<uint32_t>(verdict);
  return status;
}
/* Of one thread, on copies: a status changes nothing. */
template <class Scaler>
static __global__ void mpnum_grad_step_kernel_(Scaler *scaler, mpnum_grad_step_ step,
                                               uint32_t *apply) {
  mpnum_begin_kernel_();
  __shared__ mpnum_exact_sum squares;
  __shared__ mpnum_grad_optimizer handles[MPNUM_GRAD_OPTIMIZERS];
  __shared__ mpnum_grad_optimizer *pointers[MPNUM_GRAD_OPTIMIZERS];
  mpnum_grad_scaler next = *scaler;
  mpnum_status status = MPNUM_OK;
  for (int i = 0; i < step.count; ++i) {
    handles[i] = *step.optimizers[i];
    pointers[i] = handles + i;
    apply[i] = MPNUM_GRAD_SKIP;
    if (step.findings[i] && status == MPNUM_OK)
      status =
          mpnum_grad_one_step_(&next, handles + i, step.findings[i], &squares, apply + i);
  }
  if (status == MPNUM_OK)
    status = mpnum_grad_scaler_update_all(&next, pointers, step.count);
  if (status == MPNUM_OK) *scaler = next;
  for (int i = 0; i < step.count; ++i) {
    if (status == MPNUM_OK)
      *step.optimizers[i] = handles[i];
    else
      apply[i] = static_cast<uint32_t>(status) << 1;
  }
}

/* Of one warp: a lane adds a word of the totals. */
template <class Findings>
static __global__ void mpnum_grad_merge_kernel_(Findings *findings,
                                                const mpnum_grad_findings *others,
                                                size_t count) {
  mpnum_begin_kernel_();
  __shared__ mpnum_grad_findings all;
  int64_t *words = reinterpret_cast<int64_t *>(&all.squares);
  if (threadIdx.x == 0) all = mpnum_grad_findings_empty();
  for (size_t k = 0; k < count; ++k) {
    const mpnum_grad_findings *other = others + k;
    __syncwarp();
    if (threadIdx.x < sizeof all.squares / 8)
      words[threadIdx.x] +=
          reinterpret_cast<const int64_t *>(&other->squares)[threadIdx.x];
    __syncwarp();
    if (threadIdx.x == 0) {
      mpnum_exact_sum_settle_(&all.squares);
      all.stats = mpnum_stats_merge(all.stats, other->stats);
      mpnum_grad_findings_first_(&all, other);
    }
  }
  if (threadIdx.x == 0) *findings = all;
}

#if !MPNUM_HAS_NVRTC_

/* Launchers are templates so that only files that call them compile their kernels. */

/* Enough blocks for a list, or what all multiprocessors hold. */
static inline cudaError_t mpnum_grad_blocks_(size_t *blocks,
                                             const mpnum_grad_list &list) {
  const uint64_t needed = (list.tiles + MPNUM_GRAD_TEAMS_ - 1) / MPNUM_GRAD_TEAMS_;
  return mpnum_launch_blocks_(blocks, static_cast<size_t>(needed), 0, MPNUM_GRAD_BLOCKS_);
}
static inline bool mpnum_grad_has_list_(const mpnum_grad_list &list) {
  return list.tiles == 0 || (list.tensors && list.tiles_before);
}

/* Multiplies every tensor of a planned list by the inverse of the scale, and writes what
 * was found: mpnum_grad_multiply with scaler->inverse. scaler NULL: by 1. With one that
 * was never initialised it leaves the tensors as they are and finds nothing, and
 * mpnum_launch_grad_step tells. One launch for any number of tensors.
 * cudaErrorInvalidValue, and no launch: findings or workspace NULL, a list without its
 * pointers. */
template <class Findings = mpnum_grad_findings>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_grad_pass(mpnum_grad_findings *findings, const mpnum_grad_list &list,
                       const mpnum_grad_scaler *scaler, mpnum_grad_workspace *workspace,
                       cudaStream_t stream) {
  if (!findings || !workspace || !mpnum_grad_has_list_(list))
    return cudaErrorInvalidValue;
  size_t blocks = 0;
  const cudaError_t error = mpnum_grad_blocks_(&blocks, list);
  if (error != cudaSuccess) return error;
  return mpnum_launch_(mpnum_grad_pass_kernel_<Findings>, blocks, MPNUM_LAUNCH_THREADS_,
                       stream, findings, list, scaler, workspace);
}
/* Clips what a pass has unscaled: mpnum_grad_scaler_report_unscaled of the findings,
 * which may be of several passes or ranks, then mpnum_grad_scaler_clip of every dst.
 * Where one of them returns a status no gradient is changed, and mpnum_launch_grad_step
 * will say it. cudaErrorInvalidValue, and no launch: a NULL, max_norm not above 0 (Inf:
 * no limit), a list without its pointers, or with a tensor that is not empty and has no
 * dst, or whose dst has gaps between its rows and src none, or the other way about. (Plan
 * a list of dst to dst then.)
 */
template <class Optimizer = mpnum_grad_optimizer>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_grad_clip(mpnum_grad_optimizer *optimizer, const mpnum_grad_scaler *scaler,
                       const mpnum_grad_findings *findings, const mpnum_grad_list &list,
                       float max_norm, mpnum_grad_workspace *workspace,
                       cudaStream_t stream) {
  if (!optimizer || !scaler || !findings || !workspace || !mpnum_grad_has_list_(list) ||
      !list.can_clip || mpnum_bits_f32(max_norm) - 1 >= 0x7f800000u)
    return cudaErrorInvalidValue;
  size_t blocks = 0;
  const cudaError_t error = mpnum_grad_blocks_(&blocks, list);
  if (error != cudaSuccess) return error;
  return mpnum_launch_(mpnum_grad_clip_kernel_<Optimizer>, blocks, MPNUM_LAUNCH_THREADS_,
                       stream, optimizer, scaler, findings, list, max_norm, workspace);
}
/* The rest of an iteration: for each optimizer mpnum_grad_scaler_report_unscaled, unless
 * a clip did it, and mpnum_grad_scaler_step, then mpnum_grad_scaler_update_all.
 * optimizers and findings are arrays of the host, read before this returns, of pointers
 * to device memory, count of each; name all handles of the scaler. No findings, NULL:
 * that optimizer was not used, and takes no step. apply[i], in device memory, becomes the
 * verdict: MPNUM_GRAD_APPLY, 1, or MPNUM_GRAD_SKIP, 0; or each becomes twice the status
 * that one of the functions returned, as of a handle that is stale, and nothing else
 * changes. So: apply if it is 1. cudaErrorInvalidValue, and no launch: a NULL, a count
 * below 1 or above MPNUM_GRAD_OPTIMIZERS, a handle that is named twice. */
template <class Scaler = mpnum_grad_scaler>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_grad_step_all(mpnum_grad_scaler *scaler,
                           mpnum_grad_optimizer *const *optimizers,
                           const mpnum_grad_findings *const *findings, uint32_t *apply,
                           int count, cudaStream_t stream) {
  mpnum_grad_step_ step = mpnum_grad_step_();
  if (!scaler || !optimizers || !findings || !apply || count < 1 ||
      count > MPNUM_GRAD_OPTIMIZERS)
    return cudaErrorInvalidValue;
  step.count = count;
  for (int i = 0; i < count; ++i) {
    step.optimizers[i] = optimizers[i];
    step.findings[i] = findings[i];
    if (!optimizers[i]) return cudaErrorInvalidValue;
    for (int k = 0; k < i; ++k)
      if (optimizers[k] == optimizers[i]) return cudaErrorInvalidValue;
  }
  return mpnum_launch_(mpnum_grad_step_kernel_<Scaler>, 1, 1, stream, scaler, step,
                       apply);
}
/* The same for one optimizer, which was used. */
template <class Scaler = mpnum_grad_scaler>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_grad_step(mpnum_grad_scaler *scaler, mpnum_grad_optimizer *optimizer,
                       const mpnum_grad_findings *findings, uint32_t *apply,
                       cudaStream_t stream) {
  if (!findings) return cudaErrorInvalidValue;
  return mpnum_launch_grad_step_all<Scaler>(scaler, &optimizer, &findings, apply, 1,
                                            stream);
}
/* *findings becomes mpnum_grad_findings_merge of all others, as of ranks, one after the
 * other; of none, empty. It may be one of them. cudaErrorInvalidValue: a NULL. */
template <class Findings = mpnum_grad_findings>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_grad_merge(mpnum_grad_findings *findings, const mpnum_grad_findings *others,
                        size_t count, cudaStream_t stream) {
  if (!findings || (count != 0 && !others)) return cudaErrorInvalidValue;
  return mpnum_launch_(mpnum_grad_merge_kernel_<Findings>, 1, 32, stream, findings,
                       others, count);
}

#endif

MPNUM_C_END_
#endif
