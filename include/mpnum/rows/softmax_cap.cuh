/* SPDX-License-Identifier: MIT */
/* Softmax, log-softmax, log-sum-exp and cross-entropy of rows in device memory whose
 * logits are softly capped, and gradients through that. Rules of all launchers:
 * kernels.cuh; of rows: rows.cuh, loss_rows.cuh. CUDA C++11; NVRTC for the kernels alone.
 * Opt-in.
 *
 *     const mpnum_softmax_cap cap = mpnum_softmax_cap_of(50);
 *     options.cap = &cap;
 *     mpnum_launch_softmax_capped_rows(mpnum::matrix_of(weights, rows, n),
 *                                      mpnum::matrix_of(scores, rows, n), &options, NULL,
 *                                      stream);
 *
 * What each does is said in softmax_cap.h, and the bits are those of the host's
 * functions. They are launchers of their own, as tanh would take registers from those of
 * rows.cuh; without a cap in the options they give the same bytes as these.
 * Domain: that of rows.cuh; cap and scale / cap finite and above 0. The cap is read
 *   before a launcher returns.
 * Status: cudaErrorInvalidValue where the host's function has an error.
 * Speed: tanh is taken once of each element of a row that is kept, twice or three times
 *   of those of longer rows, and once more for the gradient of a loss. */
#ifndef MPNUM_ROWS_SOFTMAX_CAP_CUH
#define MPNUM_ROWS_SOFTMAX_CAP_CUH

#include "loss_rows.cuh"
#include "softmax_cap.h"
MPNUM_C_BEGIN_

namespace mpnum {

/* tanh of elements times a factor; 0: nothing becomes of them. */
struct row_capped_ {
  float factor;
  __device__ __forceinline__ float operator()(float x) const {
    return mpnum_bits_f32(factor) ? mpnum_tanh_scalar_(mpnum_mul_scalar_(x, factor)) : x;
  }
};
template <class Job> struct capped_job_ {
  Job job;
  row_capped_ cap;
};

/* The derivative at a pair of elements; times it, unless the factor is 0. Elements are
 * read from memory, not from what is kept of a row. */
struct slope_pair_ {
  pair_ x;
  float factor;
  __device__ __forceinline__ float times(unsigned j, float slope) const {
    if (!mpnum_bits_f32(factor)) return slope;
    return mpnum_canonical_(mpnum_mul_scalar_(
        slope, mpnum_tanh_derivative_scalar_(mpnum_mul_scalar_(x.at[j], factor))));
  }
};
template <class X> struct slope_capped_ {
  const X *src;
  float factor;
  __device__ __forceinline__ bool takes_whole() const { return row_is_aligned_(src); }
  template <class Part>
  __device__ __forceinline__ slope_pair_ at(size_t i, unsigned count, Part part) const {
    slope_pair_ made = {{{0, 0}}, factor};
    if (Part::is_whole || i < count) made.x = row_load_(src, i, count, part);
    return made;
  }
};
template <class Dx, class Dy, class Y, class X> struct capped_slope_job_ {
  slope_job_<Dx, Dy, Y> job;
  const X *src;
  size_t stride;
  float factor;
};

} // namespace mpnum

/* As the kernels of rows.cuh and loss_rows.cuh; of 64 registers tanh would spill some. */
template <bool is_log, class Dst, class Src>
static __global__ void __launch_bounds__(512, 1) mpnum_softmax_capped_rows_kernel_(
    mpnum::capped_job_<mpnum::softmax_job_<Dst, Src>> made) {
  mpnum_begin_kernel_();
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  mpnum::softmax_row_<is_log>(made.job, made.cap, mpnum::row_place_in_(made.job.from),
                              scratch);
}
template <class Src>
static __global__ void __launch_bounds__(512, 1) mpnum_logsumexp_capped_rows_kernel_(
    mpnum::capped_job_<mpnum::logsumexp_job_<Src>> made) {
  mpnum_begin_kernel_();
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  mpnum::logsumexp_row_(made.job, made.cap, mpnum::row_place_in_(made.job.from), scratch);
}
template <class Dx, class Dy, class Y, class X>
static __global__ void __launch_bounds__(512, 2)
    mpnum_softmax_capped_backward_kernel_(mpnum::capped_slope_job_<Dx, Dy, Y, X> made) {
  mpnum_begin_kernel_();
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  const mpnum::row_place_ place = mpnum::row_place_in_(made.job.y);
  const size_t number = place.exists ? place.number : 0;
  const mpnum::slope_capped_<X> x = {made.src + number * made.stride, made.factor};
  mpnum::slope_row_(made.job, x, place, scratch);
}
template <class G, class Src, class Index>
static __global__ void __launch_bounds__(512, 1) mpnum_cross_entropy_capped_rows_kernel_(
    mpnum::capped_job_<mpnum::loss_job_<G, Src, Index>> made) {
  mpnum_begin_kernel_();
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  const mpnum::row_place_ place = mpnum::row_place_in_(made.job.from);
  const size_t number = place.exists ? place.number : 0;
  const mpnum::slope_capped_<Src> x = {made.job.from.data + number * made.job.from.stride,
                                       made.cap.factor};
  mpnum::loss_row_(made.job, made.cap, x, place, scratch);
}

#if !MPNUM_HAS_NVRTC_

/* The options without their cap, and its factor, 0 where there is none; whether a cap
 * goes with the scale. The scale becomes the cap where `scales`. */
static inline bool mpnum_uncapped_(mpnum_softmax_options *plain, float *factor,
                                   const mpnum_softmax_options *options, bool scales) {
  *plain = options ? *options : mpnum_softmax_default();
  *factor = 0;
  if (!plain->cap) return true;
  if (!mpnum_is_scale_(plain->scale) || !mpnum_is_cap_(plain)) return false;
  const uint64_t saved = mpnum_fenv_save_();
  *factor = mpnum_cap_factor_(plain);
  mpnum_fenv_restore_(saved);
  if (scales) plain->scale = plain->cap->cap;
  plain->cap = 0;
  return true;
}
/* Of the types of elements, whether or not views are of const ones. */
template <bool is_log, class Dst, class Src>
static inline cudaError_t
mpnum_launch_softmax_capped_(Dst *dst, size_t dst_stride, const Src *src,
                             size_t src_stride, size_t rows, size_t columns,
                             const mpnum_softmax_options *options,
                             mpnum_row_status *row_status, cudaStream_t stream) {
  mpnum::capped_job_<mpnum::softmax_job_<Dst, Src>> made = {};
  mpnum_softmax_options plain;
  if (!mpnum_uncapped_(&plain, &made.cap.factor, options, true) ||
      !mpnum_softmax_job_of_(made.job, dst, dst_stride, src, src_stride, rows, columns,
                             &plain, row_status))
    return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  return mpnum_launch_rows_(mpnum_softmax_capped_rows_kernel_<is_log, Dst, Src>, made,
                            made.job.from, 1, stream);
}
template <class Src>
static inline cudaError_t
mpnum_launch_logsumexp_capped_(float *dst, const Src *src, size_t src_stride, size_t rows,
                               size_t columns, const mpnum_softmax_options *options,
                               mpnum_row_status *row_status, cudaStream_t stream) {
  mpnum::capped_job_<mpnum::logsumexp_job_<Src>> made = {};
  mpnum_softmax_options plain;
  if (!mpnum_uncapped_(&plain, &made.cap.factor, options, true) ||
      !mpnum_logsumexp_job_of_(made.job, dst, src, src_stride, rows, columns, &plain,
                               row_status))
    return cudaErrorInvalidValue;
  if (rows == 0 || !dst) return cudaSuccess;
  return mpnum_launch_rows_(mpnum_logsumexp_capped_rows_kernel_<Src>, made, made.job.from,
                            1, stream);
}
template <class Dx, class Dy, class Y, class X>
static inline cudaError_t
mpnum_launch_capped_slope_(Dx *dx, size_t dx_stride, const Dy *dy, size_t dy_stride,
                           const Y *y, size_t y_stride, const X *x, size_t x_stride,
                           size_t rows, size_t columns,
                           const mpnum_softmax_options *options, cudaStream_t stream) {
  const void *to = dx;
  mpnum::capped_slope_job_<Dx, Dy, Y, X> made = {};
  mpnum_softmax_options plain;
  static_assert(mpnum::has_rows_<X>::value, "float, f16, bf16, e5m2 or e4m3");
  if (!mpnum_uncapped_(&plain, &made.factor, options, false) ||
      !mpnum_slope_job_of_(made.job, 0, dx, dx_stride, dy, dy_stride, y, y_stride, rows,
                           columns, &plain) ||
      !mpnum_rows_fit_(dx, dx_stride, x, x_stride, rows, columns) ||
      (rows && columns && (!x || (made.job.y.adds && to == x))))
    return cudaErrorInvalidValue;
  if (rows == 0 || columns == 0) return cudaSuccess;
  made.src = x;
  made.stride = x_stride;
  return mpnum_launch_rows_(mpnum_softmax_capped_backward_kernel_<Dx, Dy, Y, X>, made,
                            made.job.y, 2, stream);
}
template <class G, class Src, class Index>
static inline cudaError_t
mpnum_launch_cross_entropy_capped_(float *loss, G *gradient, size_t gradient_stride,
                                   const Src *src, size_t src_stride,
                                   const Index *targets, size_t rows, size_t columns,
                                   const mpnum_cross_entropy_options *options,
                                   mpnum_row_status *row_status, cudaStream_t stream) {
  const mpnum_cross_entropy_options usual = mpnum_cross_entropy_default();
  const mpnum_cross_entropy_options &chosen = options ? *options : usual;
  mpnum::capped_job_<mpnum::loss_job_<G, Src, Index>> made = {};
  mpnum_softmax_options plain;
  if (!mpnum_uncapped_(&plain, &made.cap.factor, &chosen.softmax, true) ||
      !mpnum_loss_job_of_(made.job, loss, gradient, gradient_stride, src, src_stride,
                          targets, rows, columns, chosen, plain, row_status))
    return cudaErrorInvalidValue;
  cudaError_t error = mpnum_launch_count_targets_(made.job, chosen, stream);
  if (error == cudaSuccess && made.job.from.rows)
    error = mpnum_launch_rows_(mpnum_cross_entropy_capped_rows_kernel_<G, Src, Index>,
                               made, made.job.from, 1, stream);
  if (error == cudaSuccess) error = mpnum_launch_reduce_losses_(made.job, chosen, stream);
  return error;
}

/* mpnum_softmax_rows and mpnum_log_softmax_rows with a cap; row_status may be NULL. */
template <class Dst, class Src>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_softmax_capped_rows(mpnum::matrix<Dst> dst, mpnum::matrix<Src> src,
                                 const mpnum_softmax_options *options,
                                 mpnum_row_status *row_status, cudaStream_t stream) {
  if (!mpnum_have_one_shape_(dst, src)) return cudaErrorInvalidValue;
  return mpnum_launch_softmax_capped_<false>(dst.data, dst.stride, src.data, src.stride,
                                             src.rows, src.columns, options, row_status,
                                             stream);
}
template <class Dst, class Src>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_log_softmax_capped_rows(mpnum::matrix<Dst> dst, mpnum::matrix<Src> src,
                                     const mpnum_softmax_options *options,
                                     mpnum_row_status *row_status, cudaStream_t stream) {
  if (!mpnum_have_one_shape_(dst, src)) return cudaErrorInvalidValue;
  return mpnum_launch_softmax_capped_<true>(dst.data, dst.stride, src.data, src.stride,
                                            src.rows, src.columns, options, row_status,
                                            stream);
}
/* mpnum_logsumexp_rows with a cap: a float a row. */
template <class Src>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_logsumexp_capped_rows(float *dst, mpnum::matrix<Src> src,
                                   const mpnum_softmax_options *options,
                                   mpnum_row_status *row_status, cudaStream_t stream) {
  return mpnum_launch_logsumexp_capped_(dst, src.data, src.stride, src.rows, src.columns,
                                        options, row_status, stream);
}
/* mpnum_softmax_capped_backward_rows. */
template <class Dx, class Dy, class Y, class X>
MPNUM_MUST_CHECK static inline cudaError_t mpnum_launch_softmax_capped_backward_rows(
    mpnum::matrix<Dx> dx, mpnum::matrix<Dy> dy, mpnum::matrix<Y> y, mpnum::matrix<X> x,
    const mpnum_softmax_options *options, cudaStream_t stream) {
  if (!mpnum_have_one_shape_(dx, dy) || !mpnum_have_one_shape_(dx, y) ||
      !mpnum_have_one_shape_(dx, x))
    return cudaErrorInvalidValue;
  return mpnum_launch_capped_slope_(dx.data, dx.stride, dy.data, dy.stride, y.data,
                                    y.stride, x.data, x.stride, y.rows, y.columns,
                                    options, stream);
}
/* mpnum_cross_entropy_rows with a cap; all else is as of mpnum_launch_cross_entropy_rows.
 */
template <class G, class Src, class Index>
MPNUM_MUST_CHECK static inline cudaError_t mpnum_launch_cross_entropy_capped_rows(
    float *loss, mpnum::matrix<G> gradient, mpnum::matrix<Src> src, const Index *targets,
    const mpnum_cross_entropy_options *options, mpnum_row_status *row_status,
    cudaStream_t stream) {
  if (gradient.data && !mpnum_have_one_shape_(gradient, src))
    return cudaErrorInvalidValue;
  return mpnum_launch_cross_entropy_capped_(loss, gradient.data, gradient.stride,
                                            src.data, src.stride, targets, src.rows,
                                            src.columns, options, row_status, stream);
}

#endif

MPNUM_C_END_
#endif
