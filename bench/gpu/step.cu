/* SPDX-License-Identifier: MIT */
/* Training steps of a linear layer in each format: y = x w^T, the gradient of x, dy w,
 * and that of w, dy^T x. */
#include <math.h>

#include "measure.cuh"

#include "gpu.h"
#include "work.cuh"

namespace {

struct step {
  const gpu_operands *all;
  gpu_work parts[GPU_STEP_PARTS];
};
cudaError_t run_step(void *context) {
  step *one = static_cast<step *>(context);
  cudaError_t error = one->all->convert();
  for (gpu_work &part : one->parts)
    if (error == cudaSuccess) error = gpu_run_work(&part);
  return error;
}
cudaError_t run_conversions(void *context) {
  return static_cast<const step *>(context)->all->convert();
}

/* These: false with the state of a part that has no result. */
bool take_state(const gpu_work &part, gpu_step *row) {
  row->state = part.result.state;
  gpu_set_text(row->why, sizeof row->why, part.result.why);
  return row->state == GPU_MEASURED;
}
bool fail(gpu_work *part, gpu_step *row) {
  part->fail();
  return take_state(*part, row);
}

/* Fast sums are for the forward product alone, as Transformer Engine has it. */
bool begin(step *one, uint64_t m, uint64_t n, uint64_t k, gpu_step *row) {
  gpu_workbench *const bench = one->all->bench;
  const gpu_format_row *const how = one->all->how;
  const gpu_factor x = {&bench->x, how->x, false, 0}, xt = {&bench->x, how->x, true, 0};
  const gpu_factor w = {&bench->w, how->w, false, 0}, wt = {&bench->w, how->w, true, 0};
  const gpu_factor y = {&bench->dy, how->dy, false, 0},
                   yt = {&bench->dy, how->dy, true, 0};
  blas_problem forward = gpu_problem(how->kind, how->result, m, n, k);
  forward.is_fast = how->is_fp8();
  one->parts[GPU_FORWARD].begin(bench, x, w, forward);
  one->parts[GPU_INPUT_GRADIENT].begin(bench, y, wt,
                                       gpu_problem(how->gradient, how->result, m, k, n));
  one->parts[GPU_WEIGHT_GRADIENT].begin(bench, yt, xt,
                                        gpu_problem(how->gradient, how->result, n, k, m));
  for (const gpu_work &part : one->parts)
    if (!take_state(part, row)) return false;
  if (!one->all->lay_out(m, n, k)) return fail(&one->parts[0], row);
  for (gpu_work &part : one->parts)
    if (!part.choose()) return take_state(part, row);
  return true;
}

bool time_step(step *one, gpu_step *row) {
  const bool converts = one->all->how->x->convert != nullptr;
  gpu_contender list[GPU_STEP_PARTS + 2];
  for (int i = 0; i < GPU_STEP_PARTS; ++i)
    list[i] = {gpu_run_work, &one->parts[i], gpu_time()};
  list[GPU_STEP_PARTS] = {run_step, one, gpu_time()};
  list[GPU_STEP_PARTS + 1] = {run_conversions, one, gpu_time()};
  if (!gpu_time_cold(one->all->bench->run, list, GPU_STEP_PARTS + (converts ? 2 : 1),
                     "training steps on the GPU"))
    return fail(&one->parts[0], row);
  for (int i = 0; i < GPU_STEP_PARTS; ++i)
    row->parts[i] = list[i].time;
  row->whole = list[GPU_STEP_PARTS].time;
  row->converting = list[GPU_STEP_PARTS + 1].time;
  row->bytes = one->all->bytes();
  return true;
}

/* Products share their memory: each is made anew. False after an error that ends the run.
 */
bool check(step *one, gpu_step *row) {
  for (gpu_work &part : one->parts) {
    if (gpu_run_work(&part) != cudaSuccess)
      part.fail();
    else if (!part.check())
      return false;
    row->error = fmax(row->error, part.result.error);
    if (!take_state(part, row)) return true;
  }
  return true;
}

/* False where no row could be begun. */
bool measure_shape(gpu_run *run, blas *library, unsigned shape) {
  gpu_results *results = run->results;
  const uint64_t *mnk = results->plan.steps[shape];
  const uint64_t m = mnk[0], n = mnk[1], k = mnk[2];
  const uint64_t most = m > n ? (n > k ? m * n : m * k) : (m > k ? m * n : n * k);
  gpu_workbench bench = {run, library, {}, {}, {}, {}, {}};
  cudaError_t error = bench.make(m, n, k, most);
  bool good;
  if (error == cudaSuccess) error = gpu_operand_make(&bench.dy, m, n, 23);
  if (!bench.has_room(error, "training steps", &good)) return good;
  for (const gpu_format_row &how : gpu_format_rows) {
    if (!how.dy || !how.is_had_by(results->device)) continue;
    const gpu_operands all = {&bench, &how, true};
    step one = {&all, {}};
    gpu_step *row = &results->steps[results->step_count++];
    row->name = how.name;
    row->shape = shape;
    gpu_row_alone(run, row, [&] {
      return !begin(&one, m, n, k, row) || !time_step(&one, row) ||
             (check(&one, row) && run->done(cudaDeviceSynchronize(), "training steps"));
    });
  }
  return true;
}

} // namespace

void gpu_measure_steps(gpu_run *run, blas *library) {
  gpu_state state;
  char text[sizeof run->why.text];
  for (unsigned i = 0; i < run->results->plan.step_shapes; ++i) {
    if (measure_shape(run, library, i)) continue;
    run->fail(&state, text, sizeof text);
    gpu_note(run->results, "no training steps: %s", text);
  }
}
