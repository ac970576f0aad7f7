/* SPDX-License-Identifier: MIT */
/* The matrix product in each format: time with and without converting the operands,
 * error, and what other sizes, results, sums and a batch make of it. */
#include <stdio.h>

#include "measure.cuh"

#include "gpu.h"
#include "work.cuh"

namespace {

struct variant_row {
  const char *what;
  unsigned more; /* than multiples of 16, in sizes */
  blas_result result;
  bool is_fast;
};
const variant_row variant_rows[] = {{"multiples of 16", 0, BLAS_TO_F32, false},
                                    {"multiples of 8", 8, BLAS_TO_F32, false},
                                    {"odd", 1, BLAS_TO_F32, false},
                                    {"f16 result", 0, BLAS_TO_F16, false},
                                    {"bf16 result", 0, BLAS_TO_BF16, false},
                                    {"fast", 0, BLAS_TO_F32, true},
                                    {"fast, bf16", 0, BLAS_TO_BF16, true},
                                    {"batch of 8", 0, BLAS_TO_F32, false}};
const unsigned batch_index = GPU_VARIANTS - 1;

/* Scales of blocks are left out of the batch: how they lie there is not told. */
bool has_variant(const gpu_format_row *how, unsigned index) {
  const variant_row *variant = &variant_rows[index];
  if (!how->varies) return false;
  if (index < GPU_SHAPES) return true;
  if (index == batch_index) return how->kind < BLAS_MXFP8;
  if (variant->is_fast) return how->is_fp8();
  return how->kind >= BLAS_E4M3 ||
         how->kind == (variant->result == BLAS_TO_F16 ? BLAS_F16 : BLAS_BF16);
}

struct total {
  gpu_work *product;
  const gpu_operands *all;
};
cudaError_t run_total(void *context) {
  const total *both = static_cast<const total *>(context);
  const cudaError_t error = both->all->convert();
  return error == cudaSuccess ? gpu_run_work(both->product) : error;
}

/* The product of x and w; and the same after converting them unless `first` is NULL.
 * False after an error that ends the run. */
bool measure_product(gpu_workbench *bench, const gpu_format_row *how,
                     const blas_problem &problem, gpu_part *part, gpu_product *first) {
  const uint64_t others = problem.batch - 1;
  const gpu_operands all = {bench, how, false};
  const gpu_factor a = {&bench->x, how->x, false, others * problem.m};
  const gpu_factor b = {&bench->w, how->w, false, others * problem.n};
  gpu_work one;
  total both = {&one, &all};
  gpu_contender list[] = {{gpu_run_work, &one, gpu_time()},
                          {run_total, &both, gpu_time()}};
  bool good = true;
  if (one.begin(bench, a, b, problem)) {
    if (!all.lay_out(problem.batch * problem.m, problem.batch * problem.n, problem.k) ||
        !one.choose() || !gpu_time_cold(bench->run, list, first ? 2 : 1, gpu_of_products))
      one.fail();
    else
      good = one.check();
  }
  *part = one.result;
  part->time = list[0].time;
  if (first) {
    first->total = list[1].time;
    first->bytes = all.bytes();
  }
  return good;
}

bool measure_variant(gpu_workbench *bench, const gpu_format_row *how, unsigned index,
                     gpu_product *row) {
  const gpu_variant *at = &bench->run->results->variants[index];
  const variant_row *variant = &variant_rows[index];
  blas_problem problem = gpu_problem(how->kind, variant->result, at->m, at->n, at->k);
  problem.is_fast = variant->is_fast;
  problem.batch = at->batch;
  return measure_product(bench, how, problem, &row->variants[index], nullptr);
}

bool measure_row(gpu_workbench *bench, const gpu_format_row *how, gpu_product *row) {
  const gpu_plan *plan = &bench->run->results->plan;
  const unsigned variants = plan->step_shapes ? GPU_VARIANTS : GPU_SHAPES;
  gpu_part first = gpu_part();
  if (!measure_product(bench, how,
                       gpu_problem(how->kind, BLAS_TO_F32, plan->m, plan->n, plan->k),
                       &first, row))
    return false;
  row->state = first.state;
  row->product = first.time;
  row->error = first.error;
  gpu_set_text(row->why, sizeof row->why, first.why);
  for (unsigned i = 0; i < variants; ++i)
    if (has_variant(how, i) && !measure_variant(bench, how, i, row)) return false;
  return bench->run->done(cudaDeviceSynchronize(), gpu_of_products);
}

void measure_format(gpu_workbench *bench, unsigned index) {
  gpu_run *const run = bench->run;
  gpu_product *row = &run->results->products[index];
  const gpu_format_row &how = gpu_format_rows[index];
  row->name = how.name;
  row->bits = how.bits;
  if (run->results->product_count <= index) run->results->product_count = index + 1;
  if (how.is_had_by(run->results->device))
    return gpu_row_alone(run, row, [&] { return measure_row(bench, &how, row); });
  row->state = GPU_UNSUPPORTED;
  snprintf(row->why, sizeof row->why, "needs compute capability %d.%d",
           how.capability / 10, how.capability % 10);
  for (unsigned i = 0; i < GPU_SHAPES; ++i)
    if (has_variant(&how, i)) row->variants[i].state = GPU_UNSUPPORTED;
}

uint64_t multiple_of_16(uint64_t size) { return size < 16 ? 16 : size / 16 * 16; }

/* The sizes asked for, rounded down to multiples of 16, and a little more. The matrices
 * of a batch have an eighth of the rows. */
void list_variants(gpu_results *results) {
  const gpu_plan *plan = &results->plan;
  for (unsigned i = 0; i < GPU_VARIANTS; ++i) {
    const bool is_size = i < GPU_SHAPES, is_batch = i == batch_index;
    const unsigned parts = is_batch ? GPU_BATCH : 1, more = variant_rows[i].more;
    gpu_variant *made = &results->variants[i];
    made->what = variant_rows[i].what;
    made->batch = parts;
    made->m = is_size || is_batch ? multiple_of_16(plan->m / parts) + more : plan->m;
    made->n = is_size || is_batch ? multiple_of_16(plan->n / parts) + more : plan->n;
    made->k = is_size ? multiple_of_16(plan->k) + more : plan->k;
  }
}

uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* From one format to before another, with room for the sizes asked for and for every
 * variant. */
bool measure_formats(gpu_run *run, blas *library, unsigned begin, unsigned end) {
  gpu_results *results = run->results;
  uint64_t m = results->plan.m, n = results->plan.n, k = results->plan.k;
  gpu_workbench bench = {run, library, {}, {}, {}, {}, {}};
  bool good;
  list_variants(results);
  for (const gpu_variant &variant : results->variants) {
    m = larger(m, variant.batch * variant.m);
    n = larger(n, variant.batch * variant.n);
    k = larger(k, variant.k);
  }
  run->release_arrays();
  if (!bench.has_room(bench.make(m, n, k, m * n), "matrix products", &good)) return good;
  for (unsigned i = begin; i < end; ++i)
    measure_format(&bench, i);
  return true;
}

struct opened {
  blas *library;
  ~opened() { blas_close(library); }
};

/* What is no row's failure is a note. */
void measure(gpu_run *run, unsigned begin, unsigned end, bool steps) {
  gpu_results *results = run->results;
  refusal why;
  gpu_state state;
  char text[sizeof why.text];
  static_assert(sizeof variant_rows / sizeof *variant_rows == GPU_VARIANTS, "all");
  const opened own = {blas_open(&why)};
  if (!own.library) return gpu_note(results, "no matrix products: %s", why.text);
  snprintf(results->blas, sizeof results->blas, "%s", blas_version(own.library));
  if (!measure_formats(run, own.library, begin, end)) {
    run->fail(&state, text, sizeof text);
    gpu_note(results, "no matrix products: %s", text);
  }
  if (steps) gpu_measure_steps(run, own.library);
}

} // namespace

void gpu_measure_product(gpu_run *run, unsigned index) {
  measure(run, index, index + 1, false);
}
void gpu_measure_products(gpu_run *run) { measure(run, 0, GPU_PRODUCTS, true); }
