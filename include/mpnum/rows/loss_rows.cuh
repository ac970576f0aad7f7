/* SPDX-License-Identifier: MIT */
/* Cross-entropy of rows of logits in device memory with its gradient, and gradients
 * through softmax and log-softmax. Rules: rows.cuh, kernels.cuh.
 *
 *     mpnum_cross_entropy_options options = mpnum_cross_entropy_default();
 *     options.factor = 1.0f / (float)rows;
 *     mpnum_launch_cross_entropy_rows(loss, gradient, n, logits, n, targets, rows, n,
 *                                     &options, NULL, stream);
 *
 * What each does is said in cross_entropy.h and softmax_backward.h, and the bits are
 * those of the host's functions, but for the reduced loss.
 */
#ifndef MPNUM_ROWS_LOSS_ROWS_CUH
#define MPNUM_ROWS_LOSS_ROWS_CUH

#include "rows.cuh"
#include "cross_entropy.h"
#include "softmax_backward.h"
MPNUM_C_BEGIN_

namespace mpnum {

/* The sum of log s - t over what is not masked, of a row whose max and s are known. */
struct row_spread_ {
  pair_ sum;
  float max, scale, log_sum;
  unsigned count;
  int is_masked;
  uint32_t counted;
  __device__ __forceinline__ bool takes_whole() const { return !is_masked; }
  template <class Part>
  __device__ __forceinline__ void operator()(size_t i, pair_ x, Part) {
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 2; ++j) {
      const float t = row_exponent_(x.at[j], max, scale);
      if (!Part::is_whole &&
          (i + j >= count || (is_masked && mpnum_bits_f32(x.at[j]) == 0xff800000u)))
        continue;
      sum.at[j] = mpnum_add_scalar_(sum.at[j], mpnum_sub_scalar_(log_sum, t));
      ++counted;
    }
  }
};

/* What a gradient is multiplied by when it is complete: nothing (softmax_cap.cuh). */
struct slope_straight_ {
  __device__ __forceinline__ bool takes_whole() const { return true; }
  template <class Part>
  __device__ __forceinline__ slope_straight_ at(size_t, unsigned, Part) const {
    return *this;
  }
  __device__ __forceinline__ float times(unsigned, float x) const { return x; }
};

/* Gradients of a row: (e^t a - b) c, but own at the target; or, with fills, number. 0
 * where an element is masked, whatever it holds. Past count they are 0, or left alone. */
template <class G, class Through> struct loss_writer_ {
  G *dst;
  unsigned count, columns, target;
  int fills, has_powers, is_masked, adds, has_own;
  float max, scale, a, b, c, own, number;
  Through through;
  __device__ __forceinline__ bool takes_whole() const {
    return count == columns && !is_masked && !fills && row_is_aligned_(dst) &&
           through.takes_whole();
  }
  template <class Part> __device__ __forceinline__ float of(float x, Part) const {
    const uint32_t bits = mpnum_bits_f32(x);
    const bool is_out = !Part::is_whole && is_masked &&
                        bits == (has_powers && !fills ? 0x80000000u : 0xff800000u);
    if (is_out) return 0;
    if (!Part::is_whole && fills) return number;
    if (Part::is_staged || !has_powers)
      x = mpnum_exp_of_negative_scalar_(row_exponent_(x, max, scale));
    return mpnum_mul_scalar_(mpnum_sub_scalar_(mpnum_mul_scalar_(x, a), b), c);
  }
  template <class By, class Part>
  __device__ __forceinline__ float through_of(const By &by, size_t i, unsigned j, float x,
                                              Part part) const {
    const float y = has_own && i + j == target ? own : of(x, part);
    return mpnum_iszero_u31_(mpnum_bits_f32(y) & 0x7fffffffu) ? y : by.times(j % 2, y);
  }
  template <class Part>
  __device__ __forceinline__ void operator()(size_t i, pair_ x, Part part) const {
    const unsigned end = adds ? count : columns;
    pair_ y;
    if (!Part::is_whole && i >= end) return;
    const auto by = through.at(i, count, part);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 2; ++j) {
      y.at[j] = through_of(by, i, j, x.at[j], part);
      if (!Part::is_whole && i + j >= count) y.at[j] = 0;
    }
    if (adds) {
      const pair_ old = row_load_(dst, i, end, part);
      y.at[0] = mpnum_canonical_(mpnum_add_scalar_(old.at[0], y.at[0]));
      y.at[1] = mpnum_canonical_(mpnum_add_scalar_(old.at[1], y.at[1]));
    }
    row_store_(dst, i, end, y, part);
  }
  /* Of rows that are kept, end nowhere before and are not added to. */
  template <unsigned size> __device__ __forceinline__ bool takes_vectors() const {
    return row_is_aligned_<size>(dst);
  }
  template <unsigned size, class Part>
  __device__ __forceinline__ void vector(size_t i, mpnum_lanes<float, size> x,
                                         Part part) const {
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size; j += 2) {
      const auto by = through.at(i + j, count, part);
      x.at[j] = through_of(by, i, j, x.at[j], row_whole_kept_());
      x.at[j + 1] = through_of(by, i, j + 1, x.at[j + 1], row_whole_kept_());
    }
    row_store_vector_(dst, i, columns, x, part);
  }
};

template <class G, class Src, class Index> struct loss_job_ {
  row_source_<Src> from;
  float *loss;
  G *gradient;
  size_t stride;
  const Index *targets;
  mpnum_row_status *status;
  const size_t *counted; /* of a mean, else NULL */
  int64_t ignore_index;
  float smoothing, factor;
};

/* The loss of an ordinary row, t that of its target. */
static __device__ __forceinline__ float loss_of_(float log_sum, float t, float smoothing,
                                                 double spread, uint32_t counted) {
  float loss = mpnum_sub_scalar_(log_sum, t);
  if (mpnum_bits_f32(smoothing) != 0) {
    const float kept = mpnum_sub_scalar_(mpnum_from_bits_f32(0x3f800000u), smoothing);
    const float rest = mpnum_mul_scalar_(
        smoothing,
        mpnum_canonical_(mpnum_f64_to_f32(spread / static_cast<double>(counted))));
    loss = mpnum_iszero_u31_(mpnum_bits_f32(kept))
               ? rest
               : mpnum_add_scalar_(mpnum_mul_scalar_(kept, loss), rest);
  }
  return mpnum_canonical_(loss);
}
/* The target of a row. */
struct loss_target_ {
  unsigned index;
  bool is_ignored, is_used; /* used: a class that is not ignored */
};
template <class G, class Src, class Index>
static __device__ __forceinline__ loss_target_
loss_target_of_(const loss_job_<G, Src, Index> &job, const row_place_ &place) {
  const int64_t index =
      place.exists ? static_cast<int64_t>(job.targets[place.number]) : 0;
  loss_target_ target;
  target.index = static_cast<unsigned>(index);
  target.is_ignored = index == job.ignore_index;
  target.is_used =
      index >= 0 && static_cast<uint64_t>(index) < place.columns && !target.is_ignored;
  return target;
}
template <class Src, class Cap>
static __device__ __forceinline__ float loss_logit_(const row_<Src, Cap> &row,
                                                    const loss_target_ &target) {
  if (!target.is_used || target.index >= row.count)
    return mpnum_from_bits_f32(0xff800000u);
  const pair_ both = row.load(target.index & ~1u, row_any_());
  return target.index & 1 ? both.at[1] : both.at[0];
}
/* The loss of any row, for its first thread. */
template <class G, class Src, class Index, class Cap>
static __device__ __forceinline__ void
loss_store_(const loss_job_<G, Src, Index> &job, const row_<Src, Cap> &row, float log_sum,
            float t, double spread, uint32_t counted) {
  float loss = mpnum_from_bits_f32(0x7fffffffu);
  if (row.status == MPNUM_ROW_OK)
    loss = loss_of_(log_sum, t, job.smoothing, spread, counted);
  if (row.status == MPNUM_ROW_EMPTY) loss = mpnum_from_bits_f32(0x7f800000u);
  if (row.status == MPNUM_ROW_IGNORED) loss = 0;
  job.loss[row.place.number] = loss;
  if (job.status) job.status[row.place.number] = row.status;
}
/* Gradients are (e^t a - b) c, and where a row has none as they are, number. */
struct loss_factors_ {
  float a, b, c, number;
};
/* Of a row of which counted elements are not masked. */
template <class G, class Src, class Index, class Cap>
static __device__ __forceinline__ loss_factors_
loss_factors_of_(const loss_job_<G, Src, Index> &job, const row_<Src, Cap> &row,
                 float sum, uint32_t counted) {
  loss_factors_ by;
  by.a = mpnum_div_scalar_(mpnum_from_bits_f32(0x3f800000u), sum);
  by.b = mpnum_bits_f32(job.smoothing) != 0
             ? mpnum_div_scalar_(job.smoothing, static_cast<float>(counted))
             : 0;
  by.c = job.factor;
  if (job.counted) by.c = mpnum_div_scalar_(job.factor, static_cast<float>(*job.counted));
  by.number = mpnum_from_bits_f32(
      row.status == MPNUM_ROW_EMPTY || row.status == MPNUM_ROW_IGNORED ? 0 : 0x7fffffffu);
  return by;
}
/* That of the target. */
static __device__ __forceinline__ float loss_own_(const loss_factors_ &by, float t,
                                                  float smoothing) {
  const float rest = mpnum_sub_scalar_(mpnum_from_bits_f32(0x3f800000u), smoothing);
  const float share = mpnum_mul_scalar_(mpnum_exp_of_negative_scalar_(t), by.a);
  return mpnum_mul_scalar_(mpnum_sub_scalar_(mpnum_sub_scalar_(share, rest), by.b), by.c);
}
template <class G, class Src, class Index, class Cap, class Through>
static __device__ __forceinline__ void
loss_row_(const loss_job_<G, Src, Index> &job, const Cap &cap, const Through &through,
          const row_place_ &place, uint32_t *scratch) {
  const loss_target_ target = loss_target_of_(job, place);
  const bool has_smoothing = mpnum_bits_f32(job.smoothing) != 0;
  row_<Src, Cap> row = row_of_(job.from, place, cap);
  row_whole_<Src, Cap> whole;
  row_spread_ spread = {{{0, 0}}, 0, row.scale, 0, row.count, job.from.is_masked, 0};
  float sum = 0, log_sum = 0, t = loss_logit_(row, target);
  double spread_sum = 0;
  const bool is_out = job.from.is_masked && mpnum_bits_f32(t) == 0xff800000u;
  row_look_(row, job.from, target.is_ignored ? 0 : row.count, scratch);
  if (!target.is_used)
    row.status = target.is_ignored ? MPNUM_ROW_IGNORED : MPNUM_ROW_NO_CLASS;
  const int has_powers = row.place.kept && !has_smoothing && job.gradient;
  sum = row_powers_(row, has_powers, job.from.is_masked, scratch);
  log_sum = mpnum_log_scalar_(sum);
  t = mpnum_exponent_(t, row.max, row.scale);
  if (has_smoothing) {
    spread.max = row.max;
    spread.log_sum = log_sum;
    spread_sum = row_sum_(place, row.status == MPNUM_ROW_OK ? row.count : 0, row.load,
                          spread, scratch);
    spread.counted = row_count_(place, spread.counted, scratch);
  }
  if (row_is_first_(place)) loss_store_(job, row, log_sum, t, spread_sum, spread.counted);
  if (!job.gradient) return;
  const loss_factors_ by = loss_factors_of_(job, row, sum, spread.counted);
  loss_writer_<G, Through> writer;
  writer.dst = job.gradient + (place.exists ? place.number : 0) * job.stride;
  writer.count = row.count;
  writer.columns = place.columns;
  writer.target = target.index;
  writer.is_masked = job.from.is_masked;
  writer.adds = job.from.adds;
  writer.max = row.max;
  writer.scale = row.scale;
  writer.a = by.a;
  writer.b = by.b;
  writer.c = by.c;
  writer.number = by.number;
  writer.has_powers = has_powers;
  writer.has_own = row.status == MPNUM_ROW_OK && writer.target < row.count && !is_out;
  writer.own = loss_own_(by, t, job.smoothing);
  writer.fills = row.status != MPNUM_ROW_OK;
  writer.through = through;
  if (row.status == MPNUM_ROW_IGNORED) {
    writer.is_masked = 0;
    if (writer.adds) writer.columns = 0; /* nothing to add */
  }
  whole.load = row.load;
  whole.reads = !writer.fills || writer.is_masked;
  __syncwarp();
  if (sizeof(G) < 4 && whole.is_kept() && writer.takes_whole() && !writer.adds) {
    const row_kept_loader_ kept = {row.load.kept};
    row_each_vector_<row_vector_<G>::size, 1>(place, kept, writer);
  } else {
    row_each_staged_<2>(place, writer.columns, whole, writer);
  }
}

/* Gradients from e^t. */
template <unsigned in_registers> struct loss_held_of_ {
  const row_hand_<in_registers> &powers;
  loss_factors_ by;
  template <class Part>
  __device__ __forceinline__ row_four_ operator()(unsigned k, Part) const {
    row_four_ y;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 2 * row_group_; ++j) {
      const float power = powers.get(k + j / 2).at[j % 2];
      y.at[j / 2].at[j % 2] = mpnum_mul_scalar_(
          mpnum_sub_scalar_(mpnum_mul_scalar_(power, by.a), by.b), by.c);
    }
    return y;
  }
};
/* The sums of log s - t by lanes, of a thread's pairs. */
template <class Src, class Held, class Hand>
static __device__ __forceinline__ pair_ loss_held_spread_(const row_<Src> &row,
                                                          const row_tile_place_ &tile,
                                                          const Held &held,
                                                          const Hand &hand,
                                                          float log_sum) {
  row_spread_ spread = {{{0, 0}}, row.max, row.scale, log_sum, tile.left, 0, 0};
  MPNUM_UNROLL_
  for (unsigned k = 0; k < row_pairs_; k += row_group_) {
    if (row_group_is_whole_(k, tile.left)) {
      MPNUM_UNROLL_
      for (unsigned j = k; j < k + row_group_; ++j)
        spread(0, held.get(hand, j), row_whole_pair_());
    } else if (row_group_begins_(k, tile.left)) {
      MPNUM_UNROLL_
      for (unsigned j = k; j < k + row_group_; ++j)
        spread(tile.lane + j * row_lanes_, held.get(hand, j), row_any_());
    } else {
      break;
    }
  }
  return spread.sum;
}
/* The same of rows that threads hold, with a gradient, neither masked nor added to. */
template <class G, class Src, class Index>
static __device__ __forceinline__ void loss_held_row_(const loss_job_<G, Src, Index> &job,
                                                      const row_place_ &place,
                                                      row_shared_ *shared) {
  constexpr unsigned in_registers = row_registers_<Src>::loss;
  const loss_target_ target = loss_target_of_(job, place);
  row_<Src> row = row_of_(job.from, place);
  if (target.is_ignored) row.count = 0;
  row_tile_place_ tile = row_tile_place_of_(place, row.count);
  row_hand_<row_pairs_> hand;
  row_hand_<in_registers> powers;
  row_held_<Src, row_pairs_> held;
  double spread = 0;
  powers.begin();
  const float largest = held.load(hand, row.load.src, tile);
  float t = loss_logit_(row, target); /* after loads that do not wait for it */
  row_judge_(row, job.from, row.count,
             row_held_max_(place, mpnum_ordered_f32_(largest), shared));
  if (!target.is_used)
    row.status = target.is_ignored ? MPNUM_ROW_IGNORED : MPNUM_ROW_NO_CLASS;
  const pair_ sums = row_held_powers_<true>(row, tile, held, hand, powers);
  if (row.status != MPNUM_ROW_OK) tile.left = 0;
  const float sum = row_held_sum_(place, sums, shared, 0).f32();
  const float log_sum = mpnum_log_scalar_(sum);
  if (mpnum_bits_f32(job.smoothing) != 0)
    spread =
        row_held_sum_(place, loss_held_spread_(row, tile, held, hand, log_sum), shared, 1)
            .f64();
  t = mpnum_exponent_(t, row.max, row.scale);
  if (row_is_first_(place)) loss_store_(job, row, log_sum, t, spread, row.count);
  if (!place.exists) return;
  const loss_held_of_<in_registers> of = {powers,
                                          loss_factors_of_(job, row, sum, row.count)};
  G *const gradient = job.gradient + place.number * job.stride;
  __syncwarp(); /* in place all lanes have read the target's logit */
  row_held_store_(gradient, tile, of.by.number, of);
  /* read again, as registers are few */
  const unsigned index = static_cast<unsigned>(job.targets[place.number]);
  const unsigned own = index - tile.first;
  if (own < tile.left && own % row_lanes_ / 2 == place.lane)
    gradient[index] = row_element_<G>::out(loss_own_(of.by, t, job.smoothing));
}

} // namespace mpnum

/* Blocks as row_shape_of_ has them. */
template <class G, class Src, class Index>
static __global__ void __launch_bounds__(512, 1)
    mpnum_cross_entropy_rows_kernel_(mpnum::loss_job_<G, Src, Index> job) {
  mpnum_begin_kernel_();
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  mpnum::loss_row_(job, mpnum::row_uncapped_(), mpnum::slope_straight_(),
                   mpnum::row_staged_place_in_(job.from), scratch);
}

/* Of 16 bits two blocks share a multiprocessor where that has room for them: not before
 * sm_80, nor from sm_120 on. */
#if MPNUM_DEVICE_ARCH_ && (MPNUM_DEVICE_ARCH_ < 800 || MPNUM_DEVICE_ARCH_ >= 1200)
# define MPNUM_LOSS_BLOCKS_(Src) 1
#else
# define MPNUM_LOSS_BLOCKS_(Src) (sizeof(Src) == 2 ? 2 : 1)
#endif
template <class G, class Src, class Index>
static __global__ void __launch_bounds__(512, MPNUM_LOSS_BLOCKS_(Src))
    mpnum_cross_entropy_held_kernel_(mpnum::loss_job_<G, Src, Index> job) {
  mpnum_begin_kernel_();
  __shared__ mpnum::row_shared_ shared;
  mpnum::loss_held_row_(job, mpnum::row_place_in_(job.from), &shared);
}

/* How many targets are not ignore_index. One block of a multiple of 32 threads. */
template <class Index>
static __global__ void __launch_bounds__(512, 1)
    mpnum_count_targets_kernel_(size_t *counted, const Index *targets, size_t rows,
                                int64_t ignore_index) {
  mpnum_begin_kernel_();
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  uint32_t count = 0, low = 0, high = 0;
  for (size_t i = threadIdx.x; i < rows; i += blockDim.x)
    count += static_cast<int64_t>(targets[i]) != ignore_index;
  low = mpnum_block_sum_u32_(count & 0xffffu, scratch);
  high = mpnum_block_sum_u32_(count >> 16, scratch);
  if (threadIdx.x == 0) *counted = static_cast<size_t>(high) * 65536 + low;
}
/* loss[0] becomes the sum of all, or that over *counted. One block of a multiple of 32
 * threads, 512 at most: each adds doubles, lanes add up in pairs 16, 8, 4, 2, 1 apart,
 * then warps one after the other. */
template <class Count>
static __global__ void __launch_bounds__(512, 1)
    mpnum_reduce_losses_kernel_(float *loss, size_t rows, const Count *counted) {
  mpnum_begin_kernel_();
  __shared__ double warps[16];
  double sum = 0;
  for (size_t i = threadIdx.x; i < rows; i += blockDim.x)
    sum += mpnum_f32_to_f64(loss[i]);
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned i = 1; i < blockDim.x / 32; ++i)
    sum += warps[i];
  if (counted) sum /= static_cast<double>(*counted);
  loss[0] = mpnum_canonical_(mpnum_f64_to_f32(sum));
}

namespace mpnum {

/* What is masked is 0 and nothing. */
template <class Dy, class Y> struct slope_loader_ {
  typedef slope_ result;
  static constexpr unsigned staged_size = 0; /* no fewer instructions, and long code */
  const Dy *dy;
  const Y *y;
  const uint8_t *mask;
  const float *kept, *kept_y;
  unsigned count;
  float none;
  __device__ __forceinline__ bool is_kept() const { return kept != 0; }
  __device__ __forceinline__ bool takes_whole() const {
    return !mask && row_is_aligned_(dy) && row_is_aligned_(y);
  }
  template <class Part>
  __device__ __forceinline__ slope_ operator()(size_t i, Part part) const {
    slope_ both;
    if (Part::is_kept || (!Part::is_whole && kept)) {
      both.dy = row_kept_pair_(kept, i);
      both.y = row_kept_pair_(kept_y, i);
      return both;
    }
    both.dy = row_load_(dy, i, count, part);
    both.y = row_load_(y, i, count, part);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 2; ++j)
      if (!Part::is_whole && (i + j >= count || (mask && !mask[i + j]))) {
        both.dy.at[j] = 0;
        both.y.at[j] = none;
      }
    return both;
  }
};
struct slope_adder_ {
  pair_ sum;
  float *kept, *kept_y;
  int is_log;
  __device__ __forceinline__ bool takes_whole() const { return true; }
  template <class Part>
  __device__ __forceinline__ void operator()(size_t i, const slope_ &both, Part) {
    if (kept) {
      row_keep_pair_(kept, i, both.dy);
      row_keep_pair_(kept_y, i, both.y);
    }
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 2; ++j)
      sum.at[j] = is_log ? mpnum_add_scalar_(sum.at[j], both.dy.at[j])
                         : mpnum_fma_scalar_(both.dy.at[j], both.y.at[j], sum.at[j]);
  }
};
template <class Dx, class Through> struct slope_writer_ {
  Dx *dst;
  const uint8_t *mask;
  unsigned count, columns;
  int is_log, adds;
  float inner, scale;
  Through through;
  __device__ __forceinline__ bool takes_whole() const {
    return count == columns && !mask && row_is_aligned_(dst) && through.takes_whole();
  }
  __device__ __forceinline__ float of(float dy, float y) const {
    if (is_log) {
      if (!mpnum_isnan_f32(y)) y = mpnum_exp_of_negative_scalar_(y);
      dy = mpnum_sub_scalar_(dy, mpnum_mul_scalar_(y, inner));
    } else {
      dy = mpnum_mul_scalar_(mpnum_sub_scalar_(dy, inner), y);
    }
    return mpnum_canonical_(mpnum_mul_scalar_(dy, scale));
  }
  template <class Part>
  __device__ __forceinline__ void operator()(size_t i, const slope_ &both,
                                             Part part) const {
    const unsigned end = adds ? count : columns;
    pair_ x;
    if (!Part::is_whole && i >= end) return;
    const auto by = through.at(i, count, part);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 2; ++j) {
      x.at[j] = by.times(j, of(both.dy.at[j], both.y.at[j]));
      if (!Part::is_whole && (i + j >= count || (mask && !mask[i + j]))) x.at[j] = 0;
    }
    if (adds) {
      const pair_ old = row_load_(dst, i, end, part);
      x.at[0] = mpnum_canonical_(mpnum_add_scalar_(old.at[0], x.at[0]));
      x.at[1] = mpnum_canonical_(mpnum_add_scalar_(old.at[1], x.at[1]));
    }
    row_store_(dst, i, end, x, part);
  }
  /* Of rows that are kept, end nowhere before and are not added to. */
  template <unsigned size> __device__ __forceinline__ bool takes_vectors() const {
    return row_is_aligned_<size>(dst);
  }
  template <unsigned size, class Part>
  __device__ __forceinline__ void vector(size_t i, const slopes_<size> &both,
                                         Part part) const {
    mpnum_lanes<float, size> x;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size; j += 2) {
      const auto by = through.at(i + j, count, part);
      x.at[j] = by.times(0, of(both.dy.at[j], both.y.at[j]));
      x.at[j + 1] = by.times(1, of(both.dy.at[j + 1], both.y.at[j + 1]));
    }
    row_store_vector_(dst, i, columns, x, part);
  }
};
/* Keeps both planes of a row, by vectors; they are not masked. All threads of a warp. */
template <class Dy, class Y>
static __device__ __forceinline__ void slope_keep_(const row_place_ &place,
                                                   slope_loader_<Dy, Y> &load,
                                                   float *kept, float *kept_y) {
  const row_vector_loader_<Dy, row_uncapped_> dy = {load.dy, load.count, row_uncapped_()};
  const row_vector_loader_<Y, row_uncapped_> y = {load.y, load.count, row_uncapped_()};
  const row_keeper_ keeper = {kept}, keeper_y = {kept_y};
  row_place_ counted = place;
  counted.columns = load.count;
  if (kept && !load.mask) {
    row_each_vector_<row_vector_<Dy>::size, 4>(counted, dy, keeper);
    row_each_vector_<row_vector_<Y>::size, 4>(counted, y, keeper_y);
    load.kept = kept;
    load.kept_y = kept_y;
  }
  __syncwarp();
}
/* Pairs past the length, too, which are not read. */
template <class Dy, class Y> struct slope_whole_ {
  typedef slope_ result;
  slope_loader_<Dy, Y> load;
  __device__ __forceinline__ bool is_kept() const { return load.is_kept(); }
  __device__ __forceinline__ bool takes_whole() const { return load.takes_whole(); }
  template <class Part>
  __device__ __forceinline__ slope_ operator()(size_t i, Part part) const {
    const slope_ nothing = {{{0, 0}}, {{0, 0}}};
    return Part::is_whole || i < load.count ? load(i, part) : nothing;
  }
};

template <class Dx, class Dy, class Y> struct slope_job_ {
  row_source_<Y> y;
  const Dy *dy;
  Dx *dx;
  size_t dy_stride, dx_stride;
  int is_log;
};
template <class Dx, class Dy, class Y, class Through>
static __device__ __forceinline__ void
slope_row_(const slope_job_<Dx, Dy, Y> &job, const Through &through,
           const row_place_ &place, uint32_t *scratch) {
  const size_t number = place.exists ? place.number : 0;
  const unsigned count = row_length_(job.y, place);
  slope_adder_ adder = {{{0, 0}}, place.kept, place.kept, job.is_log};
  slope_writer_<Dx, Through> writer;
  slope_whole_<Dy, Y> whole;
  whole.load.dy = job.dy + number * job.dy_stride;
  whole.load.y = job.y.data + number * job.y.stride;
  row_prefetch_(place, whole.load.dy, count);
  row_prefetch_(place, whole.load.y, count);
  whole.load.mask = job.y.mask ? job.y.mask + number * job.y.mask_stride : 0;
  whole.load.kept = whole.load.kept_y = 0;
  whole.load.count = count;
  whole.load.none = mpnum_from_bits_f32(job.is_log ? 0xff800000u : 0);
  if (place.kept) adder.kept_y += job.y.kept / 2;
  float *const kept = adder.kept, *const kept_y = adder.kept_y;
  if (sizeof(Dy) < 4 && sizeof(Y) < 4) {
    slope_keep_(place, whole.load, kept, kept_y);
    if (whole.load.kept) adder.kept = adder.kept_y = 0;
  }
  writer.inner = mpnum_f64_to_f32(row_sum_(place, count, whole.load, adder, scratch));
  whole.load.kept = kept;
  whole.load.kept_y = kept_y;
  writer.dst = job.dx + number * job.dx_stride;
  writer.mask = whole.load.mask;
  writer.count = count;
  writer.columns = place.columns;
  writer.is_log = job.is_log;
  writer.adds = job.y.adds;
  writer.scale = job.y.scale;
  writer.through = through;
  __syncwarp();
  if (sizeof(Dx) < 4 && kept && writer.takes_whole() && !writer.adds) {
    const row_kept_slopes_ planes = {{kept}, {kept_y}};
    row_each_vector_<row_vector_<Dx>::size, 1>(place, planes, writer);
  } else {
    row_each_<2>(place, place.columns, whole, writer);
  }
}

template <bool is_log, class Dy, class Y> struct slope_held_of_ {
  const row_words_<Dy> &dy;
  const row_words_<Y> &y;
  slope_writer_<float, slope_straight_> writer;
  template <class Part>
  __device__ __forceinline__ row_four_ operator()(unsigned k, Part) const {
    row_four_ x;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < row_group_; ++j) {
      const pair_ a = dy.get(k + j), b = y.get(k + j);
      x.at[j].at[0] = writer.of(a.at[0], b.at[0]);
      x.at[j].at[1] = writer.of(a.at[1], b.at[1]);
    }
    return x;
  }
};
/* The same of rows that threads hold, neither masked nor added to. */
template <bool is_log, class Dx, class Dy, class Y>
static __device__ __forceinline__ void slope_held_row_(const slope_job_<Dx, Dy, Y> &job,
                                                       const row_place_ &place,
                                                       row_shared_ *shared) {
  const size_t number = place.exists ? place.number : 0;
  const row_tile_place_ tile = row_tile_place_of_(place, row_length_(job.y, place));
  row_words_<Dy> dy;
  row_words_<Y> y;
  slope_held_of_<is_log, Dy, Y> of = {dy, y, slope_writer_<float, slope_straight_>()};
  slope_adder_ adder = {{{0, 0}}, 0, 0, is_log};
  dy.load(job.dy + number * job.dy_stride, tile, 0);
  y.load(job.y.data + number * job.y.stride, tile, 0);
  MPNUM_UNROLL_
  for (unsigned k = 0; k < row_pairs_; k += row_group_) {
    if (!row_group_begins_(k, tile.left)) break;
    MPNUM_UNROLL_
    for (unsigned j = k; j < k + row_group_; ++j) {
      const slope_ both = {dy.get(j), y.get(j)};
      adder(0, both, row_whole_pair_());
    }
  }
  dy.hide(tile);
  y.hide(tile);
  of.writer.inner = row_held_sum_(place, adder.sum, shared, 0).f32();
  of.writer.is_log = is_log;
  of.writer.scale = job.y.scale;
  if (place.exists) row_held_store_(job.dx + number * job.dx_stride, tile, 0, of);
}

} // namespace mpnum

/* As the other kernels of rows. */
template <class Dx, class Dy, class Y>
static __global__ void __launch_bounds__(512, 2)
    mpnum_softmax_backward_rows_kernel_(mpnum::slope_job_<Dx, Dy, Y> job) {
  mpnum_begin_kernel_();
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  mpnum::slope_row_(job, mpnum::slope_straight_(), mpnum::row_place_in_(job.y), scratch);
}

template <bool is_log, class Dx, class Dy, class Y>
static __global__ void __launch_bounds__(512, 1)
    mpnum_softmax_backward_held_kernel_(mpnum::slope_job_<Dx, Dy, Y> job) {
  mpnum_begin_kernel_();
  __shared__ mpnum::row_shared_ shared;
  mpnum::slope_held_row_<is_log>(job, mpnum::row_place_in_(job.y), &shared);
}

#if !MPNUM_HAS_NVRTC_

namespace mpnum {
template <bool exist> struct held_losses_ {
  template <class G, class Src, class Index>
  static void (*kernel())(loss_job_<G, Src, Index>) {
    return mpnum_cross_entropy_held_kernel_<G, Src, Index>;
  }
};
template <> struct held_losses_<false> {
  template <class G, class Src, class Index>
  static void (*kernel())(loss_job_<G, Src, Index>) {
    return 0;
  }
};
} // namespace mpnum

/* The job of a launch, and whether all is what cross_entropy.h allows; softmax: the
 * options of the rows, whose scale may be a cap. */
template <class G, class Src, class Index>
static inline bool
mpnum_loss_job_of_(mpnum::loss_job_<G, Src, Index> &job, float *loss, G *gradient,
                   size_t gradient_stride, const Src *src, size_t src_stride,
                   const Index *targets, size_t rows, size_t columns,
                   const mpnum_cross_entropy_options &options,
                   const mpnum_softmax_options &softmax, mpnum_row_status *row_status) {
  const uint32_t smoothing = mpnum_bits_f32(options.label_smoothing);
  const bool is_mean = options.reduction == MPNUM_REDUCTION_MEAN;
  const bool is_in_place =
      gradient && static_cast<const void *>(gradient) == static_cast<const void *>(src);
  static_assert(sizeof(Index) == 4 || sizeof(Index) == 8, "classes of 32 or 64 bits");
  {
    const uint64_t saved = mpnum_fenv_save_();
    volatile float factor = options.factor; /* read between these */
    job.factor = mpnum_mul_scalar_(factor, options.softmax.scale);
    mpnum_fenv_restore_(saved);
  }
  if (!mpnum_row_source_of_(job.from, src, src_stride, rows, columns, &softmax,
                            MPNUM_SOFTMAX_ACCUMULATE) ||
      softmax.sinks ||
      (gradient &&
       !mpnum_rows_fit_(gradient, gradient_stride, src, src_stride, rows, columns)) ||
      (is_in_place && job.from.adds && rows && columns) || (!loss && rows && columns) ||
      !mpnum_floats_are_apart_(loss, src, src_stride, rows, columns) ||
      (gradient &&
       !mpnum_floats_are_apart_(loss, gradient, gradient_stride, rows, columns)) ||
      (!targets && rows && columns) ||
      (smoothing > 0x3f800000u && smoothing != 0x80000000u) ||
      (mpnum_bits_f32(job.factor) & 0x7fffffffu) >= 0x7f800000u ||
      static_cast<int>(options.reduction) < 0 ||
      options.reduction > MPNUM_REDUCTION_MEAN || (is_mean && !options.counted))
    return false;
  if (columns == 0 && (!loss || !targets)) job.from.rows = 0;
  job.loss = loss;
  job.gradient = gradient;
  job.stride = gradient && columns ? gradient_stride : 0;
  job.targets = targets;
  job.status = row_status;
  job.counted = is_mean ? options.counted : 0;
  job.ignore_index = options.ignore_index;
  job.smoothing = mpnum_from_bits_f32(smoothing & 0x7fffffffu);
  return true;
}
/* What is launched before the rows of a job, and after them. */
template <class G, class Src, class Index>
static inline cudaError_t
mpnum_launch_count_targets_(const mpnum::loss_job_<G, Src, Index> &job,
                            const mpnum_cross_entropy_options &options,
                            cudaStream_t stream) {
  if (!options.counted) return cudaSuccess;
  return mpnum_launch_(mpnum_count_targets_kernel_<Index>, 1, 512, stream,
                       options.counted, job.targets, job.from.rows, job.ignore_index);
}
template <class G, class Src, class Index>
static inline cudaError_t
mpnum_launch_reduce_losses_(const mpnum::loss_job_<G, Src, Index> &job,
                            const mpnum_cross_entropy_options &options,
                            cudaStream_t stream) {
  if (options.reduction == MPNUM_REDUCTION_NONE || !job.loss) return cudaSuccess;
  return mpnum_launch_(mpnum_reduce_losses_kernel_<size_t>, 1, 512, stream, job.loss,
                       job.from.rows, job.counted);
}

template <class G, class Src, class Index>
static inline cudaError_t
mpnum_launch_cross_entropy_(float *loss, G *gradient, size_t gradient_stride,
                            const Src *src, size_t src_stride, const Index *targets,
                            size_t rows, size_t columns,
                            const mpnum_cross_entropy_options *options,
                            mpnum_row_status *row_status, cudaStream_t stream) {
  const mpnum_cross_entropy_options usual = mpnum_cross_entropy_default();
  const mpnum_cross_entropy_options &chosen = options ? *options : usual;
  mpnum::loss_job_<G, Src, Index> job;
  if (!mpnum_loss_job_of_(job, loss, gradient, gradient_stride, src, src_stride, targets,
                          rows, columns, chosen, chosen.softmax, row_status))
    return cudaErrorInvalidValue;
  cudaError_t error = mpnum_launch_count_targets_(job, chosen, stream);
  if (error == cudaSuccess && job.from.rows)
    error = mpnum_launch_held_or_(
        mpnum::held_losses_<mpnum::is_held_<Src>::value>::template kernel<G, Src,
                                                                          Index>(),
        mpnum::row_registers_<Src>::loss, 0,
        gradient && !job.from.is_masked && !job.from.adds &&
            mpnum_rows_may_be_held_(job.from, gradient, gradient_stride),
        mpnum_cross_entropy_rows_kernel_<G, Src, Index>, job, job.from, 1, stream);
  if (error == cudaSuccess) error = mpnum_launch_reduce_losses_(job, chosen, stream);
  return error;
}

/* mpnum_cross_entropy_rows: a loss for each row and, unless gradient has no data, its
 * gradient, in one pass. Targets are int64_t or int32_t, in device memory, as loss and
 * options->counted are. A target that is no class and not ignore_index makes loss and
 * gradient of its row NaN, its status MPNUM_ROW_NO_CLASS.
 * Reduced, loss holds rows floats, too: the first becomes the sum or mean, in doubles
 * whose order is not the host's, the others stay losses. A mean needs options->counted.
 */
template <class G, class Src, class Index>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_cross_entropy_rows(float *loss, mpnum::matrix<G> gradient,
                                mpnum::matrix<Src> src, const Index *targets,
                                const mpnum_cross_entropy_options *options,
                                mpnum_row_status *row_status, cudaStream_t stream) {
  if (gradient.data && !mpnum_have_one_shape_(gradient, src))
    return cudaErrorInvalidValue;
  return mpnum_launch_cross_entropy_(loss, gradient.data, gradient.stride, src.data,
                                     src.stride, targets, src.rows, src.columns, options,
                                     row_status, stream);
}

/* The job of a launch, and whether all is what softmax_backward.h allows. */
template <class Dx, class Dy, class Y>
static inline bool mpnum_slope_job_of_(mpnum::slope_job_<Dx, Dy, Y> &job, int is_log,
                                       Dx *dx, size_t dx_stride, const Dy *dy,
                                       size_t dy_stride, const Y *y, size_t y_stride,
                                       size_t rows, size_t columns,
                                       const mpnum_softmax_options *options) {
  const void *to = dx;
  static_assert(mpnum::has_rows_<Dy>::value, "float, f16, bf16, e5m2 or e4m3");
  if (!mpnum_row_source_of_(job.y, y, y_stride, rows, columns, options,
                            MPNUM_SOFTMAX_ACCUMULATE) ||
      !mpnum_rows_fit_(dx, dx_stride, dy, dy_stride, rows, columns) ||
      !mpnum_rows_fit_(dx, dx_stride, y, y_stride, rows, columns) ||
      (rows && columns && (!dy || (job.y.adds && (to == dy || to == y)))))
    return false;
  job.y.bias = 0;
  job.y.heads = 0;
  job.dy = dy;
  job.dx = dx;
  job.dy_stride = dy_stride;
  job.dx_stride = dx_stride;
  job.is_log = is_log;
  return true;
}
namespace mpnum {
template <bool exist> struct held_slopes_ {
  template <bool is_log, class Dx, class Dy, class Y>
  static void (*kernel())(slope_job_<Dx, Dy, Y>) {
    return mpnum_softmax_backward_held_kernel_<is_log, Dx, Dy, Y>;
  }
};
template <> struct held_slopes_<false> {
  template <bool is_log, class Dx, class Dy, class Y>
  static void (*kernel())(slope_job_<Dx, Dy, Y>) {
    return 0;
  }
};
} // namespace mpnum

template <bool is_log, class Dx, class Dy, class Y>
static inline cudaError_t
mpnum_launch_slope_(Dx *dx, size_t dx_stride, const Dy *dy, size_t dy_stride, const Y *y,
                    size_t y_stride, size_t rows, size_t columns,
                    const mpnum_softmax_options *options, cudaStream_t stream) {
  mpnum::slope_job_<Dx, Dy, Y> job;
  if (!mpnum_slope_job_of_(job, is_log, dx, dx_stride, dy, dy_stride, y, y_stride, rows,
                           columns, options))
    return cudaErrorInvalidValue;
  if (rows == 0 || columns == 0) return cudaSuccess;
  constexpr bool are_words = mpnum::is_held_<Dy>::value && mpnum::is_held_<Y>::value &&
                             sizeof(Dy) == 2 && sizeof(Y) == 2;
  return mpnum_launch_held_or_(
      mpnum::held_slopes_<are_words>::template kernel<is_log, Dx, Dy, Y>(),
      mpnum::row_pairs_, 0,
      !job.y.adds && mpnum_rows_may_be_held_(job.y, dx, dx_stride) &&
          mpnum_pairs_are_aligned_(dy, dy_stride),
      mpnum_softmax_backward_rows_kernel_<Dx, Dy, Y>, job, job.y, 2, stream);
}
/* mpnum_softmax_backward_rows and mpnum_log_softmax_backward_rows. */
template <class Dx, class Dy, class Y>
MPNUM_MUST_CHECK static inline cudaError_t mpnum_launch_softmax_backward_rows(
    mpnum::matrix<Dx> dx, mpnum::matrix<Dy> dy, mpnum::matrix<Y> y,
    const mpnum_softmax_options *options, cudaStream_t stream) {
  if (!mpnum_have_one_shape_(dx, dy) || !mpnum_have_one_shape_(dx, y))
    return cudaErrorInvalidValue;
  return mpnum_launch_slope_<false>(dx.data, dx.stride, dy.data, dy.stride, y.data,
                                    y.stride, y.rows, y.columns, options, stream);
}
template <class Dx, class Dy, class Y>
MPNUM_MUST_CHECK static inline cudaError_t mpnum_launch_log_softmax_backward_rows(
    mpnum::matrix<Dx> dx, mpnum::matrix<Dy> dy, mpnum::matrix<Y> y,
    const mpnum_softmax_options *options, cudaStream_t stream) {
  if (!mpnum_have_one_shape_(dx, dy) || !mpnum_have_one_shape_(dx, y))
    return cudaErrorInvalidValue;
  return mpnum_launch_slope_<true>(dx.data, dx.stride, dy.data, dy.stride, y.data,
                                   y.stride, y.rows, y.columns, options, stream);
}

#endif

MPNUM_C_END_
#endif
