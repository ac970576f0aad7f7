/* SPDX-License-Identifier: MIT */
/* The matrix product in each format: time with and without converting the operands,
 * error, and what sizes that are no multiples of 16 or 8 cost. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure.cuh"

#include "blas.h"
#include "operand.cuh"
#include "sample.cuh"

namespace {

const size_t workspace_bytes = size_t{32} << 20;
/* A product that is further from that of its own operands is no result: rounding in the
 * accumulation stays well below, a wrong scale or layout is far above. */
const double most_error = 0.02;
const char *const what = "matrix products on the GPU";

struct product_row {
  const char *name;
  double bits;
  int capability; /* ten times the compute capability that has it */
  blas_kind kind;
  const gpu_operand_format *a, *b;
};

const product_row rows[] = {
    {"f32", 32, 0, BLAS_F32, &gpu_f32_operand, &gpu_f32_operand},
    {"tf32", 19, 80, BLAS_TF32, &gpu_f32_operand, &gpu_f32_operand},
    {"f16", 16, 0, BLAS_F16, &gpu_f16_operand, &gpu_f16_operand},
    {"bf16", 16, 80, BLAS_BF16, &gpu_bf16_operand, &gpu_bf16_operand},
    {"e4m3", 8, 89, BLAS_E4M3, &gpu_e4m3_operand, &gpu_e4m3_operand},
    {"e5m2 e4m3", 8, 89, BLAS_E5M2_E4M3, &gpu_e5m2_operand, &gpu_e4m3_operand},
    {"mxfp8", 8.25, 100, BLAS_MXFP8, &gpu_mxfp8_operand, &gpu_mxfp8_operand},
    {"nvfp4", 4.5, 100, BLAS_NVFP4, &gpu_nvfp4_operand, &gpu_nvfp4_operand},
};

struct workbench {
  gpu_run *run;
  blas *library;
  gpu_operand a, b;
  gpu_buffer d, workspace;
  ~workbench() { blas_close(library); }
};

struct work {
  workbench *bench;
  const product_row *how;
  uint64_t m, n, k;
  blas_plan *plan;
  unsigned algorithm;
  refusal why; /* of cuBLASLt */
  ~work() { blas_plan_free(plan); }
};

cudaError_t run_product(void *context) {
  work *one = static_cast<work *>(context);
  return blas_run(one->plan, one->algorithm, &one->why) ? cudaSuccess : cudaErrorUnknown;
}
cudaError_t convert_operands(void *context) {
  const work *one = static_cast<const work *>(context);
  cudaError_t error = cudaSuccess;
  if (one->how->a->convert) error = one->how->a->convert(&one->bench->a, one->m, one->k);
  if (error == cudaSuccess && one->how->b->convert)
    error = one->how->b->convert(&one->bench->b, one->n, one->k);
  return error;
}
cudaError_t run_total(void *context) {
  const cudaError_t error = convert_operands(context);
  return error == cudaSuccess ? run_product(context) : error;
}

/* Makes the plan of the product. */
gpu_state begin_work(work *one) {
  workbench *bench = one->bench;
  const unsigned block = one->how->a->block;
  const bool a_original = !one->how->a->convert, b_original = !one->how->b->convert;
  const blas_problem problem = {one->how->kind,
                                one->m,
                                one->n,
                                one->k,
                                a_original ? bench->a.original.at : bench->a.converted.at,
                                b_original ? bench->b.original.at : bench->b.converted.at,
                                bench->d.as<float>(),
                                bench->a.scale.at,
                                bench->b.scale.at,
                                bench->workspace.at,
                                workspace_bytes};
  bool supported;
  if (one->k % block != 0) {
    refuse(&one->why, "K is not a multiple of %u, the values that share a scale", block);
    return GPU_UNSUPPORTED;
  }
  one->plan = blas_plan_make(bench->library, &problem, &supported, &one->why);
  if (one->plan) return GPU_MEASURED;
  return supported ? GPU_FAILED : GPU_UNSUPPORTED;
}

/* The fastest of those proposed, of two runs after one that loads its code. An algorithm
 * that cannot be run is passed over. */
bool choose_algorithm(work *one) {
  const unsigned count = blas_plan_count(one->plan);
  double best = INFINITY, ms;
  unsigned chosen = 0;
  for (one->algorithm = 0; one->algorithm < count; ++one->algorithm) {
    const gpu_contender self = {run_product, one, gpu_time()};
    for (unsigned run = 0; run < 3; ++run) {
      if (!gpu_time_once(one->bench->run, &self, what, &ms)) break;
      if (run == 0 || ms >= best) continue;
      best = ms;
      chosen = one->algorithm;
    }
  }
  one->algorithm = chosen;
  return best < INFINITY;
}

/* False, with the row marked, where cuBLASLt refused to run what it had proposed. */
bool fail_row(work *one, gpu_product *row) {
  row->state = GPU_FAILED;
  gpu_set_text(row->why, sizeof row->why,
               one->why.text[0] ? one->why.text : one->bench->run->why.text);
  return false;
}

bool time_row(work *one, gpu_product *row) {
  gpu_contender list[] = {{run_product, one, gpu_time()}, {run_total, one, gpu_time()}};
  gpu_run *run = one->bench->run;
  if (!run->done(convert_operands(one), "converting") || !choose_algorithm(one) ||
      !gpu_time_cold(run, list, 2, what))
    return fail_row(one, row);
  row->product = list[0].time;
  row->total = list[1].time;
  return true;
}

/* Error against the f32 operands, and a look at whether the product is one at all. */
bool find_error(work *one, gpu_sample *sample, const double *exact, gpu_product *row) {
  workbench *bench = one->bench;
  double apart;
  if (!gpu_sample_result(bench->run, sample, bench->d.as<float>()) ||
      !gpu_sample_take(bench->run, sample, &bench->a, one->how->a, &bench->b,
                       one->how->b))
    return false;
  row->error = gpu_sample_error(sample, exact);
  apart = gpu_sample_error(sample, sample->product.at);
  if (apart <= most_error) return true; /* false for a NaN */
  row->state = GPU_FAILED;
  snprintf(row->why, sizeof row->why, "the product is %.2g from that of its operands",
           apart);
  return true;
}

void measure_shape(workbench *bench, const product_row *how, int index,
                   gpu_product *row) {
  const gpu_shape *shape = &bench->run->results->shapes[index];
  work one = {bench, how, shape->m, shape->n, shape->k, nullptr, 0, refusal()};
  gpu_contender self = {run_product, &one, gpu_time()};
  row->shape_states[index] = begin_work(&one);
  if (row->shape_states[index] != GPU_MEASURED) return;
  if (!bench->run->done(convert_operands(&one), "converting") ||
      !choose_algorithm(&one) || !gpu_time_cold(bench->run, &self, 1, what))
    row->shape_states[index] = GPU_FAILED;
  row->shapes[index] = self.time;
}

/* False after an error that ends the run. */
bool measure_row(workbench *bench, const product_row *how, gpu_sample *sample,
                 const double *exact, gpu_product *row) {
  const gpu_plan *plan = &bench->run->results->plan;
  work one = {bench, how, plan->m, plan->n, plan->k, nullptr, 0, refusal()};
  row->state = begin_work(&one);
  if (row->state != GPU_MEASURED) {
    gpu_set_text(row->why, sizeof row->why, one.why.text);
  } else if (time_row(&one, row) && !find_error(&one, sample, exact, row)) {
    return false;
  }
  for (int i = 0; i < GPU_SHAPES; ++i)
    measure_shape(bench, how, i, row);
  return bench->run->done(cudaDeviceSynchronize(), what);
}

/* True where the row is to be measured. */
bool row_is_possible(const gpu_results *results, const product_row *how,
                     gpu_product *row) {
  row->name = how->name;
  row->bits = how->bits;
  if (10 * results->device.major + results->device.minor < how->capability) {
    row->state = GPU_UNSUPPORTED;
    snprintf(row->why, sizeof row->why, "needs compute capability %d.%d",
             how->capability / 10, how->capability % 10);
  } else {
    return true;
  }
  for (int i = 0; i < GPU_SHAPES; ++i)
    row->shape_states[i] = row->state;
  return false;
}

/* The sizes asked for, rounded down to multiples of 16, and a little more. */
void list_shapes(gpu_results *results) {
  static const char *const names[GPU_SHAPES] = {"multiples of 16", "multiples of 8",
                                                "odd"};
  static const unsigned more[GPU_SHAPES] = {0, 8, 1};
  const gpu_plan *plan = &results->plan;
  for (int i = 0; i < GPU_SHAPES; ++i) {
    gpu_shape *shape = &results->shapes[i];
    shape->what = names[i];
    shape->m = (plan->m < 16 ? 16 : plan->m / 16 * 16) + more[i];
    shape->n = (plan->n < 16 ? 16 : plan->n / 16 * 16) + more[i];
    shape->k = (plan->k < 16 ? 16 : plan->k / 16 * 16) + more[i];
  }
}

uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Room for the sizes asked for and for every shape. */
cudaError_t make_room(workbench *bench) {
  const gpu_results *results = bench->run->results;
  const gpu_shape *largest = &results->shapes[1];
  const uint64_t m = larger(results->plan.m, largest->m);
  const uint64_t n = larger(results->plan.n, largest->n);
  const uint64_t k = larger(results->plan.k, largest->k);
  cudaError_t error = gpu_operand_make(&bench->a, m, k, 21);
  if (error == cudaSuccess) error = gpu_operand_make(&bench->b, n, k, 22);
  if (error == cudaSuccess)
    error = bench->d.make(static_cast<size_t>(m * n) * sizeof(float));
  if (error == cudaSuccess) error = bench->workspace.make(workspace_bytes);
  return error;
}

bool measure_rows(workbench *bench) {
  gpu_run *run = bench->run;
  gpu_results *results = run->results;
  const gpu_plan *plan = &results->plan;
  gpu_sample sample(plan->m, plan->n, plan->k);
  gpu_host_array<double> exact(GPU_SAMPLE_ROWS * GPU_SAMPLE_COLUMNS);
  if (!sample.complete() || !exact.at) return refuse(&run->why, "out of memory");
  if (!gpu_sample_take(run, &sample, &bench->a, &gpu_f32_operand, &bench->b,
                       &gpu_f32_operand))
    return false;
  memcpy(exact.at, sample.product.at,
         GPU_SAMPLE_ROWS * GPU_SAMPLE_COLUMNS * sizeof *exact.at);
  for (unsigned i = 0; i < GPU_PRODUCTS; ++i) {
    gpu_product *row = &results->products[i];
    ++results->product_count;
    if (row_is_possible(results, &rows[i], row) &&
        !measure_row(bench, &rows[i], &sample, exact.at, row))
      return false;
  }
  return true;
}

} // namespace

bool gpu_measure_products(gpu_run *run) {
  gpu_results *results = run->results;
  workbench bench = {run, nullptr, {}, {}, {}, {}};
  refusal why;
  static_assert(sizeof rows / sizeof *rows == GPU_PRODUCTS, "a row for each");
  bench.library = blas_open(&why);
  if (!bench.library) {
    gpu_note(results, "no matrix products: %s", why.text);
    return true;
  }
  snprintf(results->blas, sizeof results->blas, "%s", blas_version(bench.library));
  list_shapes(results);
  const cudaError_t error = make_room(&bench);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    gpu_note(results, "no matrix products: memory for their sizes is not free");
    return true;
  }
  return run->done(error, "memory for matrix products") && measure_rows(&bench);
}
