/* SPDX-License-Identifier: MIT */
/* The passes of training/adafactor.cuh over one matrix, in the order of
 * adafactor_pass.h: squares of rows in 64 lanes, 1024 columns at a time, by 16 threads
 * for each row; squares of columns by a thread for four of them, 64 rows at a time. */
#ifndef MPNUM_TRAINING_DETAIL_ADAFACTOR_PASS_CUH
#define MPNUM_TRAINING_DETAIL_ADAFACTOR_PASS_CUH

#include "optimizer_pass.cuh"
#include "../adafactor.h"
MPNUM_C_BEGIN_

/* What a call keeps in device memory: factors of the step, and of the matrix that is on
 * its way its rate and totals of squares, empty between matrices: of parameters, averages
 * of rows and updates. */
struct mpnum_adafactor_state_ {
  mpnum_adafactor_factors_ factors;
  float rate, shrink;
  mpnum_exact_sum parameters, averages, updates;
};
/* A matrix, and room for what is found of it. */
struct mpnum_adafactor_job_ {
  mpnum_optimizer_tensor t;
  mpnum_adafactor_state_ *state;
  double *squares;           /* of each row and tile of it */
  float *sums;               /* of squares of a column, of 64 rows each */
  float *by_row, *by_column; /* what updates multiply by */
  uint64_t rows, columns, tiles, chunks;
  int32_t is_stochastic;
};

#define MPNUM_DEVICE_ static __device__ __forceinline__

/* Four neighbours of a row's gradient, unscaled; 0 past its end. */
MPNUM_DEVICE_ void mpnum_adafactor_gradient_(float (&g)[4],
                                             const mpnum_adafactor_job_ &job,
                                             uint64_t first, unsigned count) {
  const float multiplier = job.state->factors.steps.multiplier;
  mpnum_optimizer_floats_(
      g, job.t.gradient_type,
      mpnum_optimizer_load_(job.t.gradient_type, job.t.gradient, first, count));
  MPNUM_UNROLL_
  for (unsigned j = 0; j < 4; ++j)
    g[j] = mpnum_mul_scalar_(g[j], multiplier);
}
/* A tile of a row, whose 64 lanes are those of 16 threads. */
struct mpnum_adafactor_tile_ {
  uint64_t row, column;
  unsigned width, lane, mask;
};
MPNUM_DEVICE_ mpnum_adafactor_tile_
mpnum_adafactor_tile_at_(const mpnum_adafactor_job_ &job, uint64_t row, uint64_t tile) {
  mpnum_adafactor_tile_ at;
  at.row = row;
  at.column = tile * MPNUM_OPTIMIZER_TILE_;
  const uint64_t left = job.columns - at.column;
  at.width = MPNUM_OPTIMIZER_TILE_;
  if (left < MPNUM_OPTIMIZER_TILE_) at.width = static_cast<unsigned>(left);
  at.lane = threadIdx.x % MPNUM_GRAD_TEAM_;
  at.mask = 0xffffu << (threadIdx.x & MPNUM_GRAD_TEAM_);
  return at;
}
/* The squares of what get makes of four neighbours of it; 0 past the end. */
template <class Get>
MPNUM_DEVICE_ double mpnum_adafactor_squares_(const mpnum_adafactor_job_ &job,
                                              const mpnum_adafactor_tile_ &at,
                                              const Get &get) {
  double sums[4] = {0, 0, 0, 0};
  for (unsigned i = 4 * at.lane; i < at.width; i += MPNUM_GRAD_TEAM_ * 4) {
    const unsigned left = at.width - i;
    float x[4];
    get(x, job, at, i, left < 4 ? left : 4);
    MPNUM_UNROLL_
    for (unsigned k = 0; k < 4; ++k) {
      const double wide = mpnum_widen_bits_(mpnumv_bits_of(x[k]));
      sums[k] = __fma_rn(wide, wide, sums[k]);
    }
  }
  return mpnum_grad_sum_(sums, at.mask);
}
struct mpnum_adafactor_gradients_ {
  __device__ __forceinline__ void operator()(float (&x)[4],
                                             const mpnum_adafactor_job_ &job,
                                             const mpnum_adafactor_tile_ &at, unsigned i,
                                             unsigned count) const {
    mpnum_adafactor_gradient_(x, job, at.row * job.columns + at.column + i, count);
  }
};
struct mpnum_adafactor_parameters_ {
  __device__ __forceinline__ void operator()(float (&x)[4],
                                             const mpnum_adafactor_job_ &job,
                                             const mpnum_adafactor_tile_ &at, unsigned i,
                                             unsigned count) const {
    const uint64_t first = at.row * job.columns + at.column + i;
    mpnum_optimizer_floats_(
        x, job.t.parameter_type,
        mpnum_optimizer_load_(job.t.parameter_type, job.t.parameter, first, count));
  }
};
/* An update before it is clipped. */
MPNUM_DEVICE_ float mpnum_adafactor_update_(float by_row, float by_column, float g) {
  return mpnum_mul_scalar_(mpnum_mul_scalar_(by_row, by_column), g);
}
struct mpnum_adafactor_updates_of_ {
  __device__ __forceinline__ void operator()(float (&x)[4],
                                             const mpnum_adafactor_job_ &job,
                                             const mpnum_adafactor_tile_ &at, unsigned i,
                                             unsigned count) const {
    mpnum_adafactor_gradient_(x, job, at.row * job.columns + at.column + i, count);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 4; ++j)
      if (j < count)
        x[j] = mpnum_adafactor_update_(job.by_row[at.row],
                                       job.by_column[at.column + i + j], x[j]);
  }
};

/* Sums of columns of one tile over 64 rows at most. */
MPNUM_DEVICE_ void mpnum_adafactor_columns_(const mpnum_adafactor_job_ &job,
                                            uint64_t chunk, uint64_t tile) {
  const uint64_t first = chunk * MPNUM_ADAFACTOR_ROWS_;
  const uint64_t column = tile * MPNUM_OPTIMIZER_TILE_ + 4 * threadIdx.x;
  const uint64_t left = column < job.columns ? job.columns - column : 0;
  const unsigned count = left < 4 ? static_cast<unsigned>(left) : 4;
  float sums[4] = {0, 0, 0, 0};
  if (count == 0) return;
  for (uint64_t row = first; row < first + MPNUM_ADAFACTOR_ROWS_ && row < job.rows;
       ++row) {
    float g[4];
    mpnum_adafactor_gradient_(g, job, row * job.columns + column, count);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 4; ++j)
      sums[j] = mpnum_fma_scalar_(g[j], g[j], sums[j]);
  }
  MPNUM_UNROLL_
  for (unsigned j = 0; j < 4; ++j)
    if (j < count) job.sums[chunk * job.columns + column + j] = sums[j];
}
/* An exact sum of a block, in shared memory, empty; joined with one in memory at the end.
 * All threads; both with a sync. */
MPNUM_DEVICE_ void mpnum_adafactor_begin_(mpnum_exact_sum *own) {
  enum { words = sizeof(mpnum_exact_sum) / 8 };
  if (threadIdx.x < words) reinterpret_cast<uint64_t *>(own)[threadIdx.x] = 0;
  __syncthreads();
}
MPNUM_DEVICE_ void mpnum_adafactor_end_(mpnum_exact_sum *all,
                                        const mpnum_exact_sum *own) {
  enum { words = sizeof(mpnum_exact_sum) / 8 };
  __syncthreads();
  if (threadIdx.x < words)
    mpnum_atomic_add_u64_(reinterpret_cast<uint64_t *>(all) + threadIdx.x,
                          reinterpret_cast<const uint64_t *>(own)[threadIdx.x]);
}
/* All squares of gradients, and, where the rate goes by them, of parameters. */
MPNUM_DEVICE_ void mpnum_adafactor_sums_(const mpnum_adafactor_job_ &job,
                                         mpnum_exact_sum *own) {
  const unsigned team = threadIdx.x / MPNUM_GRAD_TEAM_;
  const int is_scaled = job.state->factors.is_scaled;
  mpnum_adafactor_begin_(own);
  for (uint64_t number = blockIdx.x; number < job.chunks * job.tiles;
       number += gridDim.x) {
    const uint64_t chunk = number / job.tiles, tile = number % job.tiles;
    for (unsigned i = team; i < MPNUM_ADAFACTOR_ROWS_; i += MPNUM_GRAD_TEAMS_) {
      const uint64_t row = chunk * MPNUM_ADAFACTOR_ROWS_ + i;
      if (row >= job.rows) break;
      const mpnum_adafactor_tile_ at = mpnum_adafactor_tile_at_(job, row, tile);
      const double squares =
          mpnum_adafactor_squares_(job, at, mpnum_adafactor_gradients_());
      if (at.lane == 0) job.squares[row * job.tiles + tile] = squares;
      if (!is_scaled) continue;
      const double sum = mpnum_adafactor_squares_(job, at, mpnum_adafactor_parameters_());
      if (at.lane == 0) mpnum_grad_add_square_(own, sum);
    }
    mpnum_adafactor_columns_(job, chunk, tile);
  }
  mpnum_adafactor_end_(&job.state->parameters, own);
}
/* The average of one row, which is stored, too, or of one column. */
MPNUM_DEVICE_ float mpnum_adafactor_average_row_(const mpnum_adafactor_job_ &job,
                                                 uint64_t row) {
  float *const averages = static_cast<float *>(job.t.moment1);
  const mpnum_optimizer_factors_ &f = job.state->factors.steps;
  float average = averages[row];
  for (uint64_t tile = 0; tile < job.tiles; ++tile)
    average = mpnum_adafactor_joined_(&f, average, tile == 0,
                                      job.squares[row * job.tiles + tile], job.columns);
  averages[row] = average;
  return average;
}
MPNUM_DEVICE_ void mpnum_adafactor_average_column_(const mpnum_adafactor_job_ &job,
                                                   uint64_t column) {
  float *const averages = static_cast<float *>(job.t.moment2);
  const mpnum_optimizer_factors_ &f = job.state->factors.steps;
  float sum = 0;
  MPNUM_UNROLL_BY_(8) /* loads before sums */
  for (uint64_t chunk = 0; chunk < job.chunks; ++chunk)
    sum = mpnum_add_scalar_(sum, job.sums[chunk * job.columns + column]);
  const float mean =
      mpnum_add_scalar_(mpnum_div_scalar_(sum, static_cast<float>(job.rows)), f.epsilon);
  const float average = mpnum_one_nan_scalar_(
      mpnum_fma_scalar_(f.beta2, averages[column], mpnum_mul_scalar_(f.rest2, mean)));
  averages[column] = average;
  job.by_column[column] = mpnum_div_scalar_(mpnum_from_bits_f32(0x3f800000u),
                                            mpnum_sqrt_raw_scalar_(average));
}
MPNUM_DEVICE_ void mpnum_adafactor_averages_of_(const mpnum_adafactor_job_ &job,
                                                mpnum_exact_sum *own) {
  const uint64_t threads = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  mpnum_adafactor_begin_(own);
  for (; i < job.rows + job.columns; i += threads) {
    if (i < job.rows)
      mpnum_grad_add_square_(own, mpnum_f32_to_f64(mpnum_adafactor_average_row_(job, i)));
    else
      mpnum_adafactor_average_column_(job, i - job.rows);
  }
  mpnum_adafactor_end_(&job.state->averages, own);
}
/* What rows multiply by, and, of the first block, the rate before it is clipped. */
MPNUM_DEVICE_ void mpnum_adafactor_rows_of_(const mpnum_adafactor_job_ &job,
                                            mpnum_exact_sum *own, float *root) {
  const float *const averages = static_cast<const float *>(job.t.moment1);
  mpnum_adafactor_state_ *const state = job.state;
  const uint64_t threads = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  uint64_t row = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) {
    *own = state->averages;
    *root = mpnum_sqrt_raw_scalar_(
        mpnum_narrow_f64_(mpnum_adafactor_mean_of_(own, job.rows)));
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    state->rate = mpnum_adafactor_rate_(&state->factors, &state->parameters, job.t.n);
    state->shrink = mpnum_mul_scalar_(state->rate, state->factors.decay);
    state->parameters = mpnum_exact_sum_empty();
  }
  __syncthreads();
  for (; row < job.rows; row += threads)
    job.by_row[row] = mpnum_div_scalar_(*root, mpnum_sqrt_raw_scalar_(averages[row]));
}
/* Squares of updates. */
MPNUM_DEVICE_ void mpnum_adafactor_sizes_(const mpnum_adafactor_job_ &job,
                                          mpnum_exact_sum *own) {
  const uint64_t teams = static_cast<uint64_t>(gridDim.x) * MPNUM_GRAD_TEAMS_;
  uint64_t number = static_cast<uint64_t>(blockIdx.x) * MPNUM_GRAD_TEAMS_ +
                    threadIdx.x / MPNUM_GRAD_TEAM_;
  mpnum_adafactor_begin_(own);
  for (; number < job.rows * job.tiles; number += teams) {
    const mpnum_adafactor_tile_ at =
        mpnum_adafactor_tile_at_(job, number / job.tiles, number % job.tiles);
    const double sum = mpnum_adafactor_squares_(job, at, mpnum_adafactor_updates_of_());
    if (at.lane == 0) mpnum_grad_add_square_(own, sum);
  }
  mpnum_adafactor_end_(&job.state->updates, own);
}
/* The rate, clipped: one thread. */
MPNUM_DEVICE_ void mpnum_adafactor_clip_(const mpnum_adafactor_job_ &job) {
  mpnum_adafactor_state_ *const state = job.state;
  state->rate =
      mpnum_adafactor_clipped_(&state->factors, state->rate, &state->updates, job.t.n);
  state->updates = mpnum_exact_sum_empty();
}
/* The steps of elements first to first + count, 4 at most. */
MPNUM_DEVICE_ void mpnum_adafactor_four_(const mpnum_adafactor_job_ &job,
                                         const mpnum_optimizer_progress &progress,
                                         uint64_t first, unsigned count) {
  const float rate = job.state->rate, shrink = job.state->shrink;
  const mpnum_parameter_ at = mpnum_parameter_load_(job.t, first, count);
  uint64_t row = first / job.columns, column = first - row * job.columns;
  float g[4], p[4];
  mpnum_adafactor_gradient_(g, job, first, count);
  mpnum_parameter_floats_(p, job.t, at);
  MPNUM_UNROLL_
  for (unsigned j = 0; j < 4; ++j) {
    if (j >= count) continue;
    const float update =
        mpnum_adafactor_update_(job.by_row[row], job.by_column[column], g[j]);
    const float change = mpnum_fma_scalar_(shrink, p[j], mpnum_mul_scalar_(rate, update));
    p[j] = mpnum_one_nan_scalar_(mpnum_sub_scalar_(p[j], change));
    if (++column == job.columns) column = 0, ++row;
  }
  mpnum_optimizer_put_(p, job.is_stochastic != 0, progress, job.t, first, at);
}
MPNUM_DEVICE_ void mpnum_adafactor_steps_(const mpnum_adafactor_job_ &job,
                                          const mpnum_optimizer_progress &progress) {
  if (blockIdx.x == 0 && threadIdx.x == 0) /* read by launches before */
    job.state->averages = mpnum_exact_sum_empty();
  MPNUM_NO_UNROLL_
  for (uint64_t tile = blockIdx.x; tile * MPNUM_OPTIMIZER_TILE_ < job.t.n;
       tile += gridDim.x) {
    const uint64_t first = tile * MPNUM_OPTIMIZER_TILE_ + 4 * threadIdx.x;
    const uint64_t left = first < job.t.n ? job.t.n - first : 0;
    mpnum_adafactor_four_(job, progress, first,
                          left < 4 ? static_cast<unsigned>(left) : 4);
  }
}

#undef MPNUM_DEVICE_

MPNUM_C_END_
#endif
