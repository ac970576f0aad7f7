/* SPDX-License-Identifier: MIT */
/* Dropout of a matrix or an activation while it is quantised, and of the gradient that
 * an activation's gradient is computed of, on devices: what launchers of quantisers take
 * as they take those (quantize_computed.cuh), summed, too (quantize_summed.cuh). Opt-in.
 * Rules: kernels.cuh. CUDA C++11; NVRTC for the kernels alone.
 *
 *     const auto y = mpnum::activation_of<MPNUM_ACTIVATION_GELU>(x, &options);
 *     mpnum_launch_quantize_mx<mpnum_e4m3>(
 *         &by_row, NULL, mpnum::dropped_of(y, 0.9f, seed, offset),
 *         MPNUM_BLOCKSCALE_RCEIL, MPNUM_QUANTIZE_ROWS, stream);
 *     // and back:
 *     mpnum::activation_backward_of<MPNUM_ACTIVATION_GELU>(
 *         mpnum::dropped_of(dy, 0.9f, seed, offset), x, &options)
 *
 * keep, seed and offset are those of mpnum_dropout_rows: element (r, c) of a matrix of C
 * columns takes random word offset + r * C + c, wherever its rows lie.
 * Domain: matrices as quantize_computed.cuh takes them.
 * Bits: mpnum_dropout_rows to f32 of the floats of the activation, or of the matrix; of
 *   gradients, mpnum_activation_backward_rows of the dropped dy; then the quantiser.
 * Errors: of the launcher: cudaErrorInvalidValue, and nothing is launched, where
 *   mpnum_dropout_rows has one.
 * Speed: four words of a counter for each four elements; where columns or offset are no
 *   multiple of 4, eight. */
#ifndef MPNUM_BLOCKS_QUANTIZE_DROPPED_CUH
#define MPNUM_BLOCKS_QUANTIZE_DROPPED_CUH

#include "../rows/detail/dropout_loops.h"
#include "quantize_computed.cuh"
MPNUM_C_BEGIN_

namespace mpnum {

/* Which are dropped of the results of an activation, or of dy. */
struct drops_ {
  struct row {
    size_t number;
    __device__ __forceinline__ void set(size_t of) { number = of; }
  };
  mpnum_dropout_ how;
  mpnum_random_keys_ keys;
  template <unsigned N, class Elements>
  __device__ __forceinline__ void apply(const Elements &from, mpnum_lanes<float, N> &y,
                                        row of, size_t column) const {
    const uint64_t first = how.offset + of.number * from.job.columns;
    const bool has_neighbours =
        !Elements::is_back || (!from.job.by_turns && from.job.columns % N == 0);
    uint32_t words[N];
    if (has_neighbours) {
      mpnum_quantize_words_(words, keys, first + from.pair(column));
    } else {
      MPNUM_UNROLL_
      for (unsigned j = 0; j < N; ++j)
        words[j] = mpnum_random(how.seed, first + from.pair(column + j));
    }
    MPNUM_UNROLL_
    for (unsigned j = 0; j < N; ++j)
      y.at[j] = mpnum_dropped_(&how, y.at[j], words[j]);
  }
};

#if !MPNUM_HAS_NVRTC_

/* What is computed, with some of it dropped. */
template <int kind, bool is_back, class Dy, class Src>
static inline computed<gate_elements_<kind, is_back, Dy, Src, drops_>>
dropped_(const computed<gate_elements_<kind, is_back, Dy, Src>> &of,
         const mpnum_dropout_ &how, bool is_known) {
  auto made = computed<gate_elements_<kind, is_back, Dy, Src, drops_>>();
  made.elements.job = of.elements.job;
  made.elements.has_factor = of.elements.has_factor;
  made.elements.is_plain = of.elements.is_plain;
  made.elements.drop.how = how;
  made.elements.drop.keys = mpnum_random_keys_of_(how.seed);
  made.rows = of.rows;
  made.columns = of.columns;
  made.stride = of.stride;
  made.is_known = of.is_known && is_known;
  return made;
}
/* An activation of which each element is kept with probability keep and multiplied by 1 /
 * keep; others become 0. */
template <int kind, class Src>
static inline computed<gate_elements_<kind, false, Src, Src, drops_>>
dropped_of(const computed<gate_elements_<kind, false, Src, Src>> &src, float keep,
           uint64_t seed, uint64_t offset) {
  const uint64_t saved = mpnum_fenv_save_();
  volatile float kept = keep; /* read between these */
  const mpnum_dropout_ how = mpnum_dropout_of_(kept, seed, offset);
  mpnum_fenv_restore_(saved);
  return dropped_(src, how, mpnum_is_keep_(keep) != 0);
}
/* The same of a matrix. */
template <class Src>
static inline computed<gate_elements_<gate_identity_, false, typename element_<Src>::type,
                                      typename element_<Src>::type, drops_>>
dropped_of(const matrix<Src> &src, float keep, uint64_t seed, uint64_t offset) {
  typedef typename element_<Src>::type type;
  computed<gate_elements_<gate_identity_, false, type, type>> made;
  made = computed_gate_<gate_identity_, false>(matrix<type>(), elements_(src), 0);
  return dropped_of(made, keep, seed, offset);
}
/* The gradient of an activation whose dy are dropped. */
template <mpnum_activation activation, class Dy, class Src>
static inline computed<
    gate_elements_<activation, true, Dy, typename element_<Src>::type, drops_>>
activation_backward_of(
    const computed<gate_elements_<gate_identity_, false, Dy, Dy, drops_>> &dy,
    const matrix<Src> &src, const mpnum_activation_options *options) {
  const auto &job = dy.elements.job;
  const matrix<const Dy> view = matrix_of(job.src, dy.rows, dy.columns, job.src_stride);
  return dropped_(activation_backward_of<activation>(view, src, options),
                  dy.elements.drop.how, dy.is_known != 0);
}

#endif

} // namespace mpnum

MPNUM_C_END_
#endif
