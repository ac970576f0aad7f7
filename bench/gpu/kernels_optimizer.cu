/* SPDX-License-Identifier: MIT */
/* The launchers of optimizer.cuh and adafactor.cuh: steps over a list of tensors. */
#include <stdio.h>

#include <mpnum/training/adafactor.cuh>
#include <mpnum/training/optimizer.cuh>

#include "kernels.cuh"

#include "fill.cuh"
#include "../core/message.h"

namespace {

const uint64_t seed = 3, other_seed = 4;

struct optimizer_row {
  const char *name;
  mpnum_type gradient, parameter, moment;
  bool has_copy;  /* of bf16 */
  double bytes;   /* moved for an element: each array but gradients and copies twice */
  size_t columns; /* of Adafactor, which has gradients from memory three times, and once
                     out of the L2 cache, parameters too; 0: AdamW */
};
const optimizer_row rows[] = {
    {"optimizer_step adamw f32", MPNUM_TYPE_F32, MPNUM_TYPE_F32, MPNUM_TYPE_F32, false,
     4 + 8 + 16, 0},
    {"optimizer_step adamw f32, bf16 gradient and copy", MPNUM_TYPE_BF16, MPNUM_TYPE_F32,
     MPNUM_TYPE_F32, true, 2 + 8 + 16 + 2, 0},
    {"optimizer_step adamw bf16, stochastic, bf16 moments", MPNUM_TYPE_BF16,
     MPNUM_TYPE_BF16, MPNUM_TYPE_BF16, false, 2 + 4 + 8, 0},
    {"optimizer_step adamw bf16, stochastic, 8-bit moments", MPNUM_TYPE_BF16,
     MPNUM_TYPE_BF16, MPNUM_TYPE_E4M3, false, 2 + 4 + 4, 0},
    {"adafactor_step f32", MPNUM_TYPE_F32, MPNUM_TYPE_F32, MPNUM_TYPE_F32, false,
     3 * 4 + 3 * 4, 1024},
    {"adafactor_step bf16, stochastic", MPNUM_TYPE_BF16, MPNUM_TYPE_BF16, MPNUM_TYPE_F32,
     false, 3 * 2 + 3 * 2, 1024}};
const unsigned row_count = sizeof rows / sizeof *rows;

size_t size_of(mpnum_type type) {
  return type == MPNUM_TYPE_F32 ? 4 : type == MPNUM_TYPE_E4M3 ? 1 : 2;
}

/* `count` tensors of `each` elements; the arrays of a kind lie one behind the other. */
struct arrays_of {
  gpu_buffer gradient, parameter, moment1, moment2, scales1, scales2, copy;

  bool make(gpu_run *run, const optimizer_row *row, size_t n) {
    const size_t moment = size_of(row->moment) * n;
    const size_t scales = n / MPNUM_OPTIMIZER_BLOCK + 1;
    return run->done(gradient.make(4 * n), "memory") &&
           run->done(parameter.make(4 * n), "memory") &&
           run->done(moment1.make(moment), "memory") &&
           run->done(moment2.make(moment), "memory") &&
           run->done(scales1.make(scales), "memory") &&
           run->done(scales2.make(scales), "memory") &&
           run->done(copy.make(2 * n), "memory") &&
           run->done(fill(row, n, moment, scales), "filling arrays");
  }
  cudaError_t fill(const optimizer_row *row, size_t n, size_t moment, size_t scales) {
    void *const clear[] = {moment1.at, moment2.at, scales1.at, scales2.at, copy.at};
    const size_t bytes[] = {moment, moment, scales, scales, 2 * n};
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < 5 && error == cudaSuccess; ++i)
      error = cudaMemset(clear[i], 0, bytes[i]);
    if (error == cudaSuccess) error = values(gradient, row->gradient, n, seed);
    if (error == cudaSuccess) error = values(parameter, row->parameter, n, other_seed);
    return error;
  }
  /* bf16 in place of floats: through the array of copies. */
  cudaError_t values(const gpu_buffer &to, mpnum_type type, size_t n, uint64_t from) {
    cudaError_t error = gpu_fill_normal(to.as<float>(), n, from);
    if (error != cudaSuccess || type == MPNUM_TYPE_F32) return error;
    error = mpnum_launch_convert_sat(copy.as<mpnum_bf16>(), to.as<float>(), n, 0);
    return error == cudaSuccess
               ? cudaMemcpy(to.at, copy.at, 2 * n, cudaMemcpyDeviceToDevice)
               : error;
  }
};

char *behind(const gpu_buffer &array, size_t bytes) { return array.as<char>() + bytes; }
mpnum_optimizer_tensor tensor_of(const optimizer_row *row, const arrays_of &all,
                                 size_t begin, size_t n) {
  const size_t moment = size_of(row->moment) * begin;
  mpnum_optimizer_tensor made = mpnum_optimizer_tensor_of(
      n, row->gradient, behind(all.gradient, size_of(row->gradient) * begin),
      row->parameter, behind(all.parameter, size_of(row->parameter) * begin), row->moment,
      behind(all.moment1, moment), behind(all.moment2, moment));
  made.first = begin;
  made.columns = row->columns;
  if (row->has_copy) made.copy = behind(all.copy, 2 * begin);
  if (row->moment == MPNUM_TYPE_E4M3) {
    made.moment1_scales = all.scales1.as<mpnum_e8m0>() + begin / MPNUM_OPTIMIZER_BLOCK;
    made.moment2_scales = all.scales2.as<mpnum_e8m0>() + begin / MPNUM_OPTIMIZER_BLOCK;
  }
  return made;
}

struct step_work {
  mpnum_optimizer optimizer;
  mpnum_adafactor adafactor;
  gpu_buffer tensors, words, progress, workspace;
  mpnum_optimizer_list list; /* of Adafactor: in host memory */

  bool make(gpu_run *run, const mpnum_optimizer_tensor *from, size_t count) {
    const mpnum_optimizer_progress none = mpnum_optimizer_progress();
    optimizer = mpnum_optimizer_default(MPNUM_OPTIMIZER_ADAMW);
    adafactor = mpnum_adafactor_default();
    list.tensors = from;
    list.count = count;
    if (!gpu_put(run, &progress, &none, 1)) return false;
    if (from->columns)
      return run->done(workspace.make(mpnum_launch_adafactor_bytes(from, count)),
                       "memory");
    gpu_host_array<uint64_t> tiles(count + 1);
    if (!tiles.at) return refuse(&run->why, "out of memory");
    const mpnum_status status =
        mpnum_optimizer_plan(&list, tiles.at, &optimizer, from, count);
    if (status != MPNUM_OK)
      return refuse(&run->why, "planning tensors: %s", mpnum_status_string(status));
    if (!gpu_put(run, &tensors, from, count) ||
        !gpu_put(run, &words, tiles.at, count + 1))
      return false;
    list.tensors = tensors.as<mpnum_optimizer_tensor>();
    list.tiles_before = words.as<uint64_t>();
    return true;
  }
};
bool fetch(gpu_run *run, void *to, const gpu_buffer *from, size_t bytes) {
  return run->done(cudaMemcpy(to, from->at, bytes, cudaMemcpyDeviceToHost),
                   "copying back");
}
cudaError_t run_step(void *context) {
  const step_work *work = static_cast<const step_work *>(context);
  if (work->workspace.at)
    return mpnum_launch_adafactor_step(&work->adafactor, work->list.tensors,
                                       work->list.count,
                                       work->progress.as<mpnum_optimizer_progress>(),
                                       nullptr, nullptr, nullptr, work->workspace.at, 0);
  return mpnum_launch_optimizer_step(&work->optimizer, work->list,
                                     work->progress.as<mpnum_optimizer_progress>(),
                                     nullptr, nullptr, nullptr, 0);
}

/* One step of a small tensor on both sides: all that it writes. */
bool check_step(gpu_run *run, const optimizer_row *row, gpu_match *match) {
  const size_t n = row->columns ? 5 * row->columns : 5001,
               scales = n / MPNUM_OPTIMIZER_BLOCK + 1;
  const size_t moment = size_of(row->moment) * n;
  arrays_of there;
  step_work work;
  if (!there.make(run, row, n)) return false;
  mpnum_optimizer_tensor tensor = tensor_of(row, there, 0, n);
  const bool has_scales = tensor.moment1_scales != nullptr;
  const struct {
    const gpu_buffer *from;
    size_t bytes;
  } parts[] = {{&there.gradient, size_of(row->gradient) * n},
               {&there.parameter, size_of(row->parameter) * n},
               {&there.moment1, moment},
               {&there.moment2, moment},
               {&there.scales1, scales},
               {&there.scales2, scales},
               {&there.copy, 2 * n}};
  const unsigned part_count = sizeof parts / sizeof *parts;
  gpu_host_array<char> ours(part_count * 4 * n), theirs(4 * n);
  if (!ours.at || !theirs.at) return refuse(&run->why, "out of memory");
  char *const own = ours.at; /* part i is at 4 n i */
  for (unsigned i = 0; i < part_count; ++i)
    if (!fetch(run, own + 4 * n * i, parts[i].from, parts[i].bytes)) return false;
  if (!work.make(run, &tensor, 1) || !run->done(run_step(&work), row->name)) return false;
  tensor.gradient = own;
  tensor.parameter = own + 4 * n;
  tensor.moment1 = own + 8 * n;
  tensor.moment2 = own + 12 * n;
  if (has_scales) tensor.moment1_scales = reinterpret_cast<mpnum_e8m0 *>(own + 16 * n);
  if (has_scales) tensor.moment2_scales = reinterpret_cast<mpnum_e8m0 *>(own + 20 * n);
  if (tensor.copy) tensor.copy = own + 24 * n;
  if (row->columns)
    gpu_expect_adafactor(&work.adafactor, &tensor);
  else
    gpu_expect_step(&work.optimizer, &tensor);
  for (unsigned i = 1; i < part_count; ++i) {
    if (!fetch(run, theirs.at, parts[i].from, parts[i].bytes)) return false;
    gpu_compare(match, own + 4 * n * i, theirs.at, parts[i].bytes);
  }
  return true;
}

} // namespace

bool gpu_optimizer_name(unsigned index, char *name, size_t size) {
  if (index >= row_count) return false;
  snprintf(name, size, "%s", rows[index].name);
  return true;
}

/* 16 tensors, a quarter of the arrays' elements in all; of small arrays matrices are
 * narrower. */
bool gpu_measure_optimizer(gpu_run *run, unsigned index, gpu_kernel *made) {
  optimizer_row chosen = rows[index];
  const optimizer_row *row = &chosen;
  if (!run->need_arrays()) return false;
  const size_t count = 16, most = run->arrays.count / 4 / count;
  while (chosen.columns > most)
    chosen.columns /= 2;
  const size_t block = chosen.columns ? chosen.columns : MPNUM_OPTIMIZER_BLOCK;
  const size_t each = most / block * block, n = each * count;
  mpnum_optimizer_tensor tensors[count];
  arrays_of all;
  step_work work;
  if (each == 0) {
    snprintf(made->why, sizeof made->why, "a tensor is longer than the arrays");
    return true;
  }
  if (!all.make(run, row, n)) return false;
  for (size_t i = 0; i < count; ++i)
    tensors[i] = tensor_of(row, all, i * each, each);
  if (!work.make(run, tensors, count)) return false;
  const gpu_contender self = {run_step, &work, gpu_time()};
  return gpu_time_kernel(run, &run->arrays, self, row->bytes * static_cast<double>(n),
                         made) &&
         check_step(run, row, &made->match);
}
