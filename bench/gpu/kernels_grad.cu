/* SPDX-License-Identifier: MIT */
/* Launchers of grad.cuh, and the update of scales: lists of tensors and structs. */
#include <stdio.h>
#include <stdlib.h>

#include "kernels.cuh"

#include "fill.cuh"
#include "../core/message.h"

namespace {

const uint64_t seed = 3;
const size_t histories = 1000, history_room = 16;
const unsigned graph_launches = 64, ranks = 8;

/* What lies in device memory beside the tensors. */
struct grad_state {
  mpnum_grad_findings findings[ranks];
  mpnum_grad_scaler scaler;
  mpnum_grad_optimizer optimizer, ready;
  mpnum_grad_workspace workspace;
  uint32_t apply;
};

struct grad_work {
  gpu_buffer state, tensors, words;
  mpnum_grad_list list;
  float max_norm;
  grad_state *at() const { return state.as<grad_state>(); }
};

/* Scaled so that the inverse is 1/2, or 1, with which values stay what they are. */
bool make_state(gpu_run *run, grad_work *work, float scale) {
  gpu_host_array<grad_state> made(1);
  if (!made.at) return refuse(&run->why, "out of memory");
  must(mpnum_grad_scaler_init(&made.at->scaler, mpnum_grad_scaler_static(scale)));
  made.at->ready = mpnum_grad_optimizer_of(&made.at->scaler);
  made.at->optimizer = made.at->ready;
  return gpu_put(run, &work->state, made.at, 1);
}

/* Tensors of `each` elements one behind the other. No results: they are only read. */
void list_tensors(mpnum_grad_tensor *tensors, size_t count, size_t each, void *values,
                  mpnum_type src, mpnum_type dst, void *results) {
  for (size_t i = 0; i < count; ++i) {
    char *const from =
        static_cast<char *>(values) + i * each * (src == MPNUM_TYPE_F32 ? 4 : 2);
    char *const to = results ? static_cast<char *>(results) + 4 * i * each : nullptr;
    tensors[i] = mpnum_grad_tensor_of(src, from, each, dst, to);
  }
}

bool make_list(gpu_run *run, grad_work *work, const mpnum_grad_tensor *tensors,
               size_t count) {
  gpu_host_array<uint64_t> words(count + 1);
  if (!words.at) return refuse(&run->why, "out of memory");
  const mpnum_status status = mpnum_grad_plan(&work->list, words.at, tensors, count, 0);
  if (status != MPNUM_OK)
    return refuse(&run->why, "planning gradients: %s", mpnum_status_string(status));
  if (!gpu_put(run, &work->tensors, tensors, count) ||
      !gpu_put(run, &work->words, words.at, count + 1))
    return false;
  work->list.tensors = work->tensors.as<mpnum_grad_tensor>();
  work->list.tiles_before = work->words.as<uint64_t>();
  return true;
}

cudaError_t run_pass(void *context) {
  const grad_work *work = static_cast<const grad_work *>(context);
  grad_state *const at = work->at();
  return mpnum_launch_grad_pass(at->findings, work->list, &at->scaler, &at->workspace, 0);
}
/* Each clip finds an optimizer that has not clipped. */
cudaError_t run_clip(void *context) {
  const grad_work *work = static_cast<const grad_work *>(context);
  grad_state *const at = work->at();
  const cudaError_t error = cudaMemcpyAsync(&at->optimizer, &at->ready, sizeof at->ready,
                                            cudaMemcpyDeviceToDevice, 0);
  if (error != cudaSuccess) return error;
  return mpnum_launch_grad_clip(&at->optimizer, &at->scaler, at->findings, work->list,
                                work->max_norm, &at->workspace, 0);
}
cudaError_t start_step(void *context, unsigned, cudaStream_t stream) {
  grad_state *const at = static_cast<const grad_work *>(context)->at();
  return mpnum_launch_grad_step(&at->scaler, &at->optimizer, at->findings, &at->apply,
                                stream);
}
cudaError_t start_merge(void *context, unsigned, cudaStream_t stream) {
  grad_state *const at = static_cast<const grad_work *>(context)->at();
  return mpnum_launch_grad_merge(at->findings, at->findings + 1, ranks - 1, stream);
}

/* A small list on both sides: findings and values. */
bool check_pass(gpu_run *run, bool stores, gpu_match *match) {
  const size_t count = 3, each = 2500, n = count * each;
  mpnum_grad_tensor tensors[count];
  gpu_host_array<float> ours(n), theirs(n);
  mpnum_grad_findings found[2];
  gpu_buffer values;
  grad_work work;
  if (!ours.at || !theirs.at) return refuse(&run->why, "out of memory");
  if (!run->done(values.make(4 * n), "memory") ||
      !run->done(gpu_fill_normal(values.as<float>(), n, seed), "random values") ||
      !run->done(cudaMemcpy(ours.at, values.at, 4 * n, cudaMemcpyDeviceToHost),
                 "copying back"))
    return false;
  list_tensors(tensors, count, each, values.at, MPNUM_TYPE_F32, MPNUM_TYPE_F32,
               stores ? values.at : nullptr);
  if (!make_state(run, &work, 2) || !make_list(run, &work, tensors, count) ||
      !run->done(run_pass(&work), "grad_pass") ||
      !run->done(cudaMemcpy(theirs.at, values.at, 4 * n, cudaMemcpyDeviceToHost),
                 "copying back") ||
      !run->done(cudaMemcpy(&found[1], work.at()->findings, sizeof found[1],
                            cudaMemcpyDeviceToHost),
                 "copying back"))
    return false;
  list_tensors(tensors, count, each, ours.at, MPNUM_TYPE_F32, MPNUM_TYPE_F32,
               stores ? ours.at : nullptr);
  gpu_expect_grad(tensors, count, &found[0]);
  gpu_compare(match, ours.at, theirs.at, 4 * n);
  gpu_compare(match, &found[0], &found[1], sizeof found[0]);
  return true;
}

struct grad_row {
  const char *what;
  size_t count, bytes; /* of tensors, as they are read */
  mpnum_type src;
  bool clips, is_read; /* is_read: nothing is stored */
};
const grad_row grad_rows[] = {
    {"grad_pass f32, read alone", 1000, 64 << 10, MPNUM_TYPE_F32, false, true},
    {"grad_pass f32 in place", 1000, 64 << 10, MPNUM_TYPE_F32, false, false},
    {"grad_pass f32 in place", 100000, 1 << 10, MPNUM_TYPE_F32, false, false},
    {"grad_pass bf16 to f32", 1000, 64 << 10, MPNUM_TYPE_BF16, false, false},
    {"grad_clip f32", 1000, 64 << 10, MPNUM_TYPE_F32, true, false}};
const unsigned grad_row_count = sizeof grad_rows / sizeof *grad_rows;

bool measure_pass(gpu_run *run, const grad_row *row, gpu_kernel *made) {
  if (!run->need_arrays()) return false;
  const gpu_arrays *arrays = &run->arrays;
  const bool is_float = row->src == MPNUM_TYPE_F32;
  const size_t size = is_float ? 4 : 2, each = row->bytes / size;
  const size_t room = arrays->count / each;
  const size_t count = row->count < room ? row->count : room;
  const double n = static_cast<double>(count * each);
  gpu_host_array<mpnum_grad_tensor> tensors(count);
  void *const values = is_float ? arrays->values.at : arrays->codes.at;
  grad_work work;
  snprintf(made->name, sizeof made->name, "%s, %zu of %zu KiB", row->what, count,
           row->bytes >> 10);
  if (count == 0) {
    snprintf(made->why, sizeof made->why, "a tensor is longer than the arrays");
    return true;
  }
  if (!tensors.at) return refuse(&run->why, "out of memory");
  made->bound = row->is_read ? GPU_BY_READ : GPU_BY_COPY;
  list_tensors(tensors.at, count, each, values, row->src, MPNUM_TYPE_F32,
               row->is_read ? nullptr
               : is_float   ? values
                            : arrays->result.at);
  cudaError_t error = gpu_fill_normal(arrays->values.as<float>(), arrays->count, seed);
  if (error == cudaSuccess && !is_float)
    error = mpnum_launch_convert_sat(arrays->codes.as<mpnum_bf16>(),
                                     arrays->values.as<float>(), arrays->count, 0);
  if (!run->done(error, "random values") || !make_state(run, &work, 1) ||
      !make_list(run, &work, tensors.at, count))
    return false;
  gpu_contender self = {run_pass, &work, gpu_time()};
  if (row->clips) {
    mpnum_grad_findings found;
    if (!run->done(run_pass(&work), "grad_pass") ||
        !run->done(
            cudaMemcpy(&found, work.at()->findings, sizeof found, cudaMemcpyDeviceToHost),
            "grad_pass"))
      return false;
    work.max_norm = 0.999f * mpnum_grad_norm(&found); /* values stay of their size */
    self.run = run_clip;
  }
  return gpu_time_kernel(run, arrays, self, (row->is_read ? 4.0 : size + 4.0) * n,
                         made) &&
         (row->clips || check_pass(run, !row->is_read, &made->match));
}

struct scale_work {
  gpu_buffer histories, rings, amax;
  mpnum_fp8_recipe recipe;
};
cudaError_t start_update(void *context, unsigned, cudaStream_t stream) {
  const scale_work *work = static_cast<const scale_work *>(context);
  return mpnum_launch_scale_update(work->histories.as<mpnum_amax_history>(),
                                   work->rings.as<float>(), work->amax.as<float>(),
                                   histories, &work->recipe, stream);
}
bool make_histories(gpu_run *run, scale_work *work) {
  gpu_host_array<mpnum_amax_history> made(histories);
  float ring[history_room];
  if (!made.at) return refuse(&run->why, "out of memory");
  work->recipe = mpnum_fp8_recipe_delayed();
  work->recipe.history_length = history_room;
  for (size_t i = 0; i < histories; ++i)
    must(mpnum_amax_history_init(&made.at[i], ring, history_room, 448, &work->recipe));
  return gpu_put(run, &work->histories, made.at, histories) &&
         run->done(work->rings.make(sizeof ring * histories), "memory") &&
         run->done(work->amax.make(4 * histories), "memory") &&
         run->done(cudaMemset(work->rings.at, 0, sizeof ring * histories), "histories") &&
         run->done(gpu_fill_normal(work->amax.as<float>(), histories, seed), "histories");
}

bool measure_latency(gpu_run *run, gpu_kernel *made, void *context,
                     cudaError_t (*start)(void *, unsigned, cudaStream_t)) {
  const gpu_series series = {start, context, graph_launches};
  made->bound = GPU_BY_TIME;
  return gpu_time_series(run, &series, "launchers on the GPU", &made->speed.time,
                         nullptr);
}
const char *const latencies[] = {"grad_step", "grad_merge, 7 ranks",
                                 "scale_update, 1000 tensors"};
const unsigned latency_count = sizeof latencies / sizeof *latencies;

} // namespace

unsigned gpu_grad_rows() { return grad_row_count + latency_count; }

/* A plan holds fewer tensors where the arrays are small. */
bool gpu_grad_name(unsigned index, char *name, size_t size) {
  if (index >= gpu_grad_rows()) return false;
  if (index < grad_row_count)
    snprintf(name, size, "%s, %zu of %zu KiB", grad_rows[index].what,
             grad_rows[index].count, grad_rows[index].bytes >> 10);
  else
    snprintf(name, size, "%s", latencies[index - grad_row_count]);
  return true;
}

bool gpu_measure_grad_kernel(gpu_run *run, unsigned index, gpu_kernel *made) {
  grad_work work;
  scale_work scales;
  if (index < grad_row_count) return measure_pass(run, &grad_rows[index], made);
  switch (index - grad_row_count) {
  case 0:
    return make_state(run, &work, 1) && measure_latency(run, made, &work, start_step);
  case 1:
    return make_state(run, &work, 1) && measure_latency(run, made, &work, start_merge);
  default:
    return make_histories(run, &scales) &&
           measure_latency(run, made, &scales, start_update);
  }
}
