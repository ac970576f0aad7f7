/* SPDX-License-Identifier: MIT */
/* Rows of launchers: time beside the limit, and agreement with the CPU. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels.cuh"

#include "fill.cuh"

namespace {

const size_t matrix_columns = 4096;
const uint64_t seed = 3, other_seed = 4, weight_seed = 6;
/* Of checks: rows as long as those timed, and matrices that no tile divides. */
const size_t checked_rows = 4, checked_values = 5001;
const size_t checked_height = 40, checked_width = 160;

__global__ void targets_kernel(int64_t *targets, size_t rows, size_t columns) {
  for (size_t i = mpnum_grid_index(); i < rows; i += mpnum_grid_size())
    targets[i] = i % 50 == 49 ? -100 : static_cast<int64_t>(7919 * i % columns);
}
__global__ void side_kernel(float *side, size_t n) {
  uint64_t *const offsets = reinterpret_cast<uint64_t *>(side + GPU_OFFSETS);
  for (unsigned i = 0; i < GPU_PARTS; ++i)
    side[GPU_PART_SCALES + i] = 30 + static_cast<float>(i);
  for (unsigned i = 0; i <= GPU_PARTS; ++i)
    offsets[i] = gpu_part_begin(n, i);
  side[GPU_SCALE] = 60;
  side[GPU_SCALE_INV] = 0.0166f;
  side[GPU_TENSOR_SCALE] = 0.002f;
}

/* The arrays of a case beside values, codes and result, which are as large as floats. */
struct stage {
  gpu_buffer side, weight, targets, workspace;
  void *values, *codes, *result;
  gpu_case made;

  size_t side_bytes() const { return 4 * (GPU_LOSSES + made.rows); }
  bool open(gpu_run *run, const gpu_kernel_row *row, size_t rows, size_t columns);
  bool fill(gpu_run *run, const gpu_kernel_row *row);
};

bool stage::open(gpu_run *run, const gpu_kernel_row *row, size_t rows, size_t columns) {
  const size_t bytes =
      row->layout == GPU_ROWS
          ? 8 * columns + mpnum_launch_normalize_backward_bytes(rows, columns)
          : static_cast<size_t>(GPU_WORKSPACE);
  made = gpu_case();
  made.type = row->type;
  made.rows = rows;
  made.columns = columns;
  if (!run->done(side.make(side_bytes()), "memory") ||
      !run->done(weight.make(4 * columns), "memory") ||
      !run->done(targets.make(8 * rows), "memory") ||
      !run->done(workspace.make(bytes), "memory"))
    return false;
  made.x = made.y = values;
  made.out = result;
  made.side = side.as<float>();
  made.weight = weight.as<float>();
  made.targets = targets.as<int64_t>();
  made.workspace = workspace.at;
  return true;
}

template <class T> cudaError_t halves(stage *s, size_t n) {
  T *const to = static_cast<T *>(s->codes);
  const float *const from = static_cast<const float *>(s->values);
  float *const other = static_cast<float *>(s->result);
  cudaError_t error = mpnum_launch_convert_sat(to, from, n, 0);
  s->made.x = to;
  s->made.y = to + n;
  if (error == cudaSuccess) error = gpu_fill_normal(other, n, other_seed);
  if (error == cudaSuccess) error = mpnum_launch_convert_sat(to + n, other, n, 0);
  return error;
}

/* y differs from x. */
bool stage::fill(gpu_run *run, const gpu_kernel_row *row) {
  const size_t n = made.rows * made.columns;
  float *const floats = static_cast<float *>(values);
  cudaError_t error = gpu_fill_normal(floats, n, seed);
  if (error == cudaSuccess)
    error = gpu_fill_normal(weight.as<float>(), made.columns, weight_seed);
  if (error == cudaSuccess) error = cudaMemset(side.at, 0, side_bytes());
  if (error == cudaSuccess) error = gpu_launch(side_kernel, 1, 1, made.side, n);
  if (error == cudaSuccess)
    error = gpu_launch(targets_kernel, gpu_fill_blocks(made.rows), GPU_FILL_THREADS,
                       targets.as<int64_t>(), made.rows, made.columns);
  if (error == cudaSuccess && row->type == MPNUM_TYPE_F16)
    error = halves<mpnum_f16>(this, n);
  if (error == cudaSuccess && row->type == MPNUM_TYPE_BF16)
    error = halves<mpnum_bf16>(this, n);
  if (error == cudaSuccess && row->type == MPNUM_TYPE_F32) {
    made.y = codes;
    error = gpu_fill_normal(static_cast<float *>(codes), n, other_seed);
  }
  if (error == cudaSuccess && row->make) error = row->make(&made, 0);
  if (error == cudaSuccess && row->make)
    error = cudaMemcpy(codes, result, 4 * n, cudaMemcpyDeviceToDevice);
  if (row->make) {
    made.x = codes;
    made.y = values;
  }
  if (error == cudaSuccess && row->prepare) error = row->prepare(&made);
  return run->done(error, "filling arrays");
}

struct start {
  const gpu_kernel_row *row;
  const gpu_case *on;
};
cudaError_t run_start(void *context) {
  const start *self = static_cast<const start *>(context);
  return self->row->start(self->on, 0);
}

/* A small case of its own, then the same on the host in copies of its arrays. */
struct host_case {
  size_t n, side_bytes;
  gpu_host_array<unsigned char> x, y, ours, theirs;
  gpu_host_array<float> our_side, their_side, weight, workspace;
  gpu_host_array<int64_t> targets;
  explicit host_case(const stage &s)
      : n(4 * s.made.rows * s.made.columns), side_bytes(s.side_bytes()), x(n), y(n),
        ours(n), theirs(n), our_side(side_bytes / 4), their_side(side_bytes / 4),
        weight(s.made.columns), workspace(n / 4), targets(s.made.rows) {}
  bool complete() const {
    return x.at && y.at && ours.at && theirs.at && our_side.at && their_side.at &&
           weight.at && workspace.at && targets.at;
  }
};

bool copy_down(gpu_run *run, void *to, const void *from, size_t bytes) {
  return run->done(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copying back");
}

/* x and y are half as large where they are of 16 bits. */
bool compare_with_host(gpu_run *run, const gpu_kernel_row *row, const stage &s,
                       gpu_match *match) {
  host_case host(s);
  gpu_case ours = s.made;
  const bool is_small = row->type != MPNUM_TYPE_F32 && !row->make;
  const size_t bytes = is_small ? host.n / 2 : host.n;
  if (!host.complete()) return refuse(&run->why, "out of memory");
  if (!copy_down(run, host.x.at, s.made.x, bytes) ||
      !copy_down(run, host.y.at, s.made.y, is_small ? bytes : host.n) ||
      !copy_down(run, host.our_side.at, s.made.side, host.side_bytes) ||
      !copy_down(run, host.weight.at, s.made.weight, 4 * s.made.columns) ||
      !copy_down(run, host.targets.at, s.made.targets, 8 * s.made.rows) ||
      !run->done(cudaMemset(s.made.out, 0, host.n), "clearing") ||
      !run->done(row->start(&s.made, 0), row->name) ||
      !copy_down(run, host.theirs.at, s.made.out, host.n) ||
      !copy_down(run, host.their_side.at, s.made.side, host.side_bytes))
    return false;
  ours.x = host.x.at;
  ours.y = host.y.at;
  ours.out = host.ours.at;
  ours.side = host.our_side.at;
  ours.weight = host.weight.at;
  ours.targets = host.targets.at;
  ours.workspace = host.workspace.at;
  row->expect(&ours);
  gpu_compare(match, host.ours.at, host.theirs.at, host.n);
  gpu_compare(match, host.our_side.at, host.their_side.at, host.side_bytes);
  return true;
}

bool check(gpu_run *run, const gpu_kernel_row *row, gpu_match *match) {
  const bool is_matrix = row->layout == GPU_MATRIX;
  const size_t rows = row->layout == GPU_ROWS ? checked_rows
                      : is_matrix             ? checked_height
                                              : 1;
  const size_t columns = row->layout == GPU_ROWS ? row->columns
                         : is_matrix             ? checked_width
                                                 : checked_values;
  const size_t bytes = 4 * rows * columns;
  gpu_buffer values, codes, result;
  stage s;
  if (!run->done(values.make(bytes), "memory") ||
      !run->done(codes.make(bytes), "memory") || !run->done(result.make(bytes), "memory"))
    return false;
  s.values = values.at;
  s.codes = codes.at;
  s.result = result.at;
  return s.open(run, row, rows, columns) && s.fill(run, row) &&
         compare_with_host(run, row, s, match);
}

bool measure_row(gpu_run *run, const gpu_kernel_row *row, gpu_kernel *made) {
  if (!run->need_arrays()) return false;
  const gpu_arrays *arrays = &run->arrays;
  const size_t columns = row->layout == GPU_ARRAY    ? arrays->count
                         : row->layout == GPU_MATRIX ? matrix_columns
                                                     : row->columns;
  const size_t rows = arrays->count / columns;
  start self = {row, nullptr};
  stage s;
  if (rows == 0) {
    snprintf(made->why, sizeof made->why, "a row is longer than the arrays");
    return true;
  }
  s.values = arrays->values.at;
  s.codes = arrays->codes.at;
  s.result = arrays->result.at;
  if (!s.open(run, row, rows, columns) || !s.fill(run, row)) return false;
  self.on = &s.made;
  const gpu_contender contender = {run_start, &self, gpu_time()};
  return gpu_time_kernel(run, arrays, contender,
                         row->bytes * static_cast<double>(rows * columns), made) &&
         check(run, row, &made->match);
}

} // namespace

void gpu_compare(gpu_match *match, const void *ours, const void *theirs, size_t bytes) {
  const unsigned char *a = static_cast<const unsigned char *>(ours);
  const unsigned char *b = static_cast<const unsigned char *>(theirs);
  for (size_t i = 0; i < bytes; i += 4)
    match->wrong += memcmp(a + i, b + i, bytes - i < 4 ? bytes - i : 4) != 0;
  match->checked += (bytes + 3) / 4;
}

gpu_kernel *gpu_kernel_add(gpu_run *run, const char *name, gpu_bound bound) {
  gpu_results *results = run->results;
  gpu_kernel *made = &results->kernels[results->kernel_count++];
  *made = gpu_kernel(); /* which may have been another row's */
  snprintf(made->name, sizeof made->name, "%s", name);
  made->bound = bound;
  return made;
}

bool gpu_time_kernel(gpu_run *run, const gpu_arrays *arrays, gpu_contender self,
                     double bytes, gpu_kernel *row) {
  const size_t all = 4 * arrays->count;
  const bool is_copy = row->bound == GPU_BY_COPY;
  gpu_copy copy = {arrays->result.at, arrays->codes.at, all};
  gpu_move move = run->move(arrays->result.at, arrays->codes.at, all);
  gpu_contender list[] = {self,
                          {is_copy ? gpu_run_move : gpu_run_read, &move, gpu_time()},
                          {gpu_run_copy, &copy, gpu_time()}};
  if (!is_copy) move.shape = run->read_shape;
  if (!gpu_time_cold(run, list, is_copy ? 3 : 2, "launchers on the GPU")) return false;
  const double best = is_copy ? fmin(list[1].time.ms, list[2].time.ms) : list[1].time.ms;
  row->bytes = bytes;
  row->speed.time = list[0].time;
  row->speed.rate = bytes / (list[0].time.ms * 1e6);
  row->speed.limit = (is_copy ? 2.0 : 1.0) * static_cast<double>(all) / (best * 1e6);
  row->state = GPU_MEASURED;
  return true;
}

/* Row `index` of all tables, or null. */
static const gpu_kernel_row *table_row(unsigned index) {
  const gpu_kernel_table tables[] = {gpu_scaled_kernels(), gpu_block_kernels(),
                                     gpu_fused_kernels(),  gpu_softmax_kernels(),
                                     gpu_norm_kernels(),   gpu_activation_kernels()};
  for (const gpu_kernel_table &table : tables) {
    if (index < table.count) return &table.rows[index];
    index -= table.count;
  }
  return nullptr;
}
static unsigned table_rows() {
  unsigned count = 0;
  while (table_row(count))
    ++count;
  return count;
}
/* Those that are no rows of tables come behind them: of gradients, chains, optimizers. */
static bool name_list(unsigned index, char *name, size_t size) {
  if (index < gpu_grad_rows()) return gpu_grad_name(index, name, size);
  index -= gpu_grad_rows();
  return index < gpu_chain_rows()
             ? gpu_chain_name(index, name, size)
             : gpu_optimizer_name(index - gpu_chain_rows(), name, size);
}
static bool measure_list(gpu_run *run, unsigned index, gpu_kernel *made) {
  if (index < gpu_grad_rows()) return gpu_measure_grad_kernel(run, index, made);
  index -= gpu_grad_rows();
  return index < gpu_chain_rows()
             ? gpu_measure_chain(run, index, made)
             : gpu_measure_optimizer(run, index - gpu_chain_rows(), made);
}

bool gpu_kernel_name(unsigned index, char *name, size_t size) {
  const gpu_kernel_row *row = table_row(index);
  if (!row) return name_list(index - table_rows(), name, size);
  snprintf(name, size, row->layout == GPU_ROWS ? "%s x %zu" : "%s", row->name,
           row->columns);
  return true;
}

gpu_kernel *gpu_measure_kernel(gpu_run *run, unsigned index) {
  const gpu_kernel_row *row = table_row(index);
  gpu_kernel *made = gpu_kernel_add(run, "", row ? row->bound : GPU_BY_COPY);
  gpu_kernel_name(index, made->name, sizeof made->name);
  gpu_row_alone(run, made, [&] {
    return row ? measure_row(run, row, made)
               : measure_list(run, index - table_rows(), made);
  });
  return made;
}

void gpu_measure_kernels(gpu_run *run) {
  char name[sizeof run->results->kernels[0].name];
  for (unsigned i = 0; gpu_kernel_name(i, name, sizeof name); ++i)
    gpu_measure_kernel(run, i);
}
