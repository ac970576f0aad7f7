/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.cuh"

const char *const gpu_of_products = "matrix products on the GPU";

const gpu_format_row gpu_format_rows[GPU_PRODUCTS] = {
    {"f32", 32, 0, BLAS_F32, BLAS_F32, &gpu_f32_operand, &gpu_f32_operand,
     &gpu_f32_operand, BLAS_TO_F32, true},
    {"tf32", 19, 80, BLAS_TF32, BLAS_TF32, &gpu_f32_operand, &gpu_f32_operand,
     &gpu_f32_operand, BLAS_TO_F32, true},
    {"f16", 16, 0, BLAS_F16, BLAS_F16, &gpu_f16_operand, &gpu_f16_operand,
     &gpu_f16_operand, BLAS_TO_F16, true},
    {"bf16", 16, 80, BLAS_BF16, BLAS_BF16, &gpu_bf16_operand, &gpu_bf16_operand,
     &gpu_bf16_operand, BLAS_TO_BF16, true},
    {"e4m3", 8, 89, BLAS_E4M3, BLAS_E5M2_E4M3, &gpu_e4m3_operand, &gpu_e4m3_operand,
     &gpu_e5m2_operand, BLAS_TO_BF16, true},
    {"e4m3 delayed", 8, 89, BLAS_E4M3, BLAS_E5M2_E4M3, &gpu_e4m3_delayed_operand,
     &gpu_e4m3_delayed_operand, &gpu_e5m2_delayed_operand, BLAS_TO_BF16, false},
    {"e5m2 e4m3", 8, 89, BLAS_E5M2_E4M3, BLAS_E5M2_E4M3, &gpu_e5m2_operand,
     &gpu_e4m3_operand, nullptr, BLAS_TO_BF16, true},
    {"mxfp8", 8.25, 100, BLAS_MXFP8, BLAS_MXFP8, &gpu_mxfp8_operand, &gpu_mxfp8_operand,
     &gpu_mxfp8_operand, BLAS_TO_BF16, true},
    {"nvfp4", 4.5, 100, BLAS_NVFP4, BLAS_NVFP4, &gpu_nvfp4_operand, &gpu_nvfp4_operand,
     &gpu_nvfp4_operand, BLAS_TO_BF16, true},
};
namespace {

const size_t workspace_bytes = size_t{32} << 20;
/* A product that is further from that of its own operands is no result: rounding in the
 * accumulation and of the result stays well below, a wrong scale or layout is far above.
 */
const double most_error = 0.02;

/* Part of a product in double on the CPU: some rows of a by some rows of b. */
enum { SAMPLE_ROWS = 16, SAMPLE_COLUMNS = 64 };

struct sample {
  uint64_t m, n, k;
  gpu_host_array<float> a, b;     /* sampled rows of k values */
  gpu_host_array<double> product; /* of a and b, rows first */
  gpu_host_array<float> result;   /* the GPU's, likewise */
  sample(uint64_t rows, uint64_t columns, uint64_t depth)
      : m(rows), n(columns), k(depth), a(SAMPLE_ROWS * depth), b(SAMPLE_COLUMNS * depth),
        product(SAMPLE_ROWS * SAMPLE_COLUMNS), result(SAMPLE_ROWS * SAMPLE_COLUMNS) {}
  bool complete() const { return a.at && b.at && product.at && result.at; }
};

/* Number `index` of `count` places, spread over `size`. */
uint64_t place(uint64_t index, uint64_t count, uint64_t size) {
  return count > 1 ? index * (size - 1) / (count - 1) : 0;
}

/* Row `row` of a factor, k codes without gaps. */
bool read_row(gpu_run *run, void *dst, const gpu_factor *from, size_t row, uint64_t k) {
  const unsigned char *const src = static_cast<const unsigned char *>(from->codes());
  const size_t bytes = k * from->format->bits / 8, one = from->format->bits / 8;
  const cudaError_t error =
      from->lies_turned()
          ? cudaMemcpy2D(dst, one, src + row * one, from->of->columns * one, one, k,
                         cudaMemcpyDeviceToHost)
          : cudaMemcpy(dst, src + row * bytes, bytes, cudaMemcpyDeviceToHost);
  return run->done(error, "reading an operand");
}

bool read_rows(gpu_run *run, float *dst, uint64_t count, uint64_t size, uint64_t k,
               const gpu_factor *from) {
  const gpu_operand_format *const format = from->format;
  gpu_host_array<unsigned char> codes(k * format->bits / 8);
  gpu_host_array<unsigned char> scales(from->scale_bytes());
  if (!codes.at || !scales.at) return refuse(&run->why, "out of memory");
  if (format->scale && !run->done(cudaMemcpy(scales.at, from->scales(),
                                             from->scale_bytes(), cudaMemcpyDeviceToHost),
                                  "reading scales"))
    return false;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t row = from->first + place(i, count, size);
    if (!read_row(run, codes.at, from, row, k)) return false;
    for (uint64_t at = 0; at < k; ++at) {
      const float scale = format->scale ? format->scale(scales.at, row, at, k) : 1;
      dst[i * k + at] = scale * format->decode(codes.at, at);
    }
  }
  return true;
}

float value_of(const void *values, uint64_t index, blas_result type) {
  switch (type) {
  case BLAS_TO_F16: return mpnum::to_float(static_cast<const mpnum_f16 *>(values)[index]);
  case BLAS_TO_BF16:
    return mpnum::to_float(static_cast<const mpnum_bf16 *>(values)[index]);
  case BLAS_TO_F32: break;
  }
  return static_cast<const float *>(values)[index];
}

bool take(gpu_run *run, sample *part, const gpu_factor *a, const gpu_factor *b) {
  const uint64_t k = part->k;
  if (!read_rows(run, part->a.at, SAMPLE_ROWS, part->m, k, a) ||
      !read_rows(run, part->b.at, SAMPLE_COLUMNS, part->n, k, b))
    return false;
  for (unsigned row = 0; row < SAMPLE_ROWS; ++row) {
    for (unsigned column = 0; column < SAMPLE_COLUMNS; ++column) {
      const float *left = part->a.at + row * k, *right = part->b.at + column * k;
      double sum = 0; /* of exact products: 48 bits fit in a double */
      for (uint64_t i = 0; i < k; ++i)
        sum += static_cast<double>(left[i]) * static_cast<double>(right[i]);
      part->product.at[row * SAMPLE_COLUMNS + column] = sum;
    }
  }
  return true;
}

bool read_result(gpu_run *run, sample *part, const void *d, blas_result type) {
  const size_t bytes = part->m * (type == BLAS_TO_F32 ? 4 : 2);
  gpu_host_array<unsigned char> values(bytes);
  if (!values.at) return refuse(&run->why, "out of memory");
  for (unsigned column = 0; column < SAMPLE_COLUMNS; ++column) {
    const unsigned char *const src = static_cast<const unsigned char *>(d) +
                                     place(column, SAMPLE_COLUMNS, part->n) * bytes;
    if (!run->done(cudaMemcpy(values.at, src, bytes, cudaMemcpyDeviceToHost),
                   "reading a product"))
      return false;
    for (unsigned row = 0; row < SAMPLE_ROWS; ++row)
      part->result.at[row * SAMPLE_COLUMNS + column] =
          value_of(values.at, place(row, SAMPLE_ROWS, part->m), type);
  }
  return true;
}

double error_of(const sample *part) {
  double noise = 0, signal = 0;
  for (unsigned i = 0; i < SAMPLE_ROWS * SAMPLE_COLUMNS; ++i) {
    const double exact = part->product.at[i];
    const double apart = static_cast<double>(part->result.at[i]) - exact;
    noise += apart * apart;
    signal += exact * exact;
  }
  return sqrt(noise / signal);
}
cudaError_t convert_one(gpu_operand *operand, const gpu_operand_format *format,
                        bool turned_too) {
  return format->convert ? format->convert(operand, turned_too) : cudaSuccess;
}
double bytes_of(const gpu_operand *operand, const gpu_operand_format *format, double bits,
                bool turned_too) {
  const double values = static_cast<double>(operand->rows * operand->columns);
  const double written = turned_too && format->turns ? 2 * bits / 8 : bits / 8;
  return format->convert ? values * (4 * format->reads + written) : 0;
}
cudaError_t lay_one(gpu_operand *operand, const gpu_operand_format *format, size_t rows,
                    size_t columns) {
  operand->rows = rows;
  operand->columns = columns;
  return format->prepare ? format->prepare(operand) : cudaSuccess;
}

} // namespace

cudaError_t gpu_workbench::make(uint64_t m, uint64_t n, uint64_t k, uint64_t results) {
  cudaError_t error = gpu_operand_make(&x, m, k, 21);
  if (error == cudaSuccess) error = gpu_operand_make(&w, n, k, 22);
  if (error == cudaSuccess) error = d.make(results * sizeof(float));
  if (error == cudaSuccess) error = workspace.make(workspace_bytes);
  return error;
}

bool gpu_workbench::has_room(cudaError_t error, const char *of, bool *good) const {
  *good = true;
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    gpu_note(run->results, "no %s: memory for their sizes is not free", of);
    return false;
  }
  *good = run->done(error, "memory for matrix products");
  return *good;
}

cudaError_t gpu_operands::convert() const {
  cudaError_t error = convert_one(&bench->x, how->x, turned_too);
  if (error == cudaSuccess) error = convert_one(&bench->w, how->w, turned_too);
  if (error == cudaSuccess && turned_too) error = convert_one(&bench->dy, how->dy, true);
  return error;
}

double gpu_operands::bytes() const {
  const double both = bytes_of(&bench->x, how->x, how->bits, turned_too) +
                      bytes_of(&bench->w, how->w, how->bits, turned_too);
  return turned_too ? both + bytes_of(&bench->dy, how->dy, how->bits, true) : both;
}

bool gpu_operands::lay_out(uint64_t m, uint64_t n, uint64_t k) const {
  cudaError_t error = lay_one(&bench->x, how->x, m, k);
  if (error == cudaSuccess) error = lay_one(&bench->w, how->w, n, k);
  if (error == cudaSuccess && turned_too) error = lay_one(&bench->dy, how->dy, m, n);
  if (error == cudaSuccess) error = convert();
  return bench->run->done(error, "converting");
}

blas_problem gpu_problem(blas_kind kind, blas_result result, uint64_t m, uint64_t n,
                         uint64_t k) {
  blas_problem made = blas_problem();
  made.kind = kind;
  made.result = result;
  made.batch = 1;
  made.m = m;
  made.n = n;
  made.k = k;
  return made;
}

void gpu_work::fail() {
  result.state = GPU_FAILED;
  gpu_set_text(result.why, sizeof result.why,
               why.text[0] ? why.text : bench->run->why.text);
}

bool gpu_work::begin(gpu_workbench *with, const gpu_factor &left, const gpu_factor &right,
                     const blas_problem &asked) {
  bool supported = false;
  bench = with;
  a = left;
  b = right;
  problem = asked;
  problem.a_is_turned = a.lies_turned();
  problem.b_is_turned = b.lies_turned();
  problem.a = a.codes();
  problem.b = b.codes();
  problem.d = bench->d.at;
  problem.a_scale = a.scales();
  problem.b_scale = b.scales();
  problem.workspace = bench->workspace.at;
  problem.workspace_size = workspace_bytes;
  if (problem.k % a.format->block != 0)
    refuse(&why, "K is not a multiple of %u, the values that share a scale",
           a.format->block);
  else
    plan = blas_plan_make(bench->library, &problem, &supported, &why);
  result.state = GPU_MEASURED;
  if (plan) return true;
  fail();
  if (!supported) result.state = GPU_UNSUPPORTED;
  return false;
}

cudaError_t gpu_run_work(void *context) {
  gpu_work *one = static_cast<gpu_work *>(context);
  return blas_run(one->plan, one->algorithm, &one->why) ? cudaSuccess : cudaErrorUnknown;
}

/* Of those proposed, of two runs after one that loads its code. One that cannot be run is
 * passed over. */
bool gpu_work::choose() {
  const unsigned count = blas_plan_count(plan);
  double best = INFINITY, ms;
  unsigned chosen = 0;
  for (algorithm = 0; algorithm < count; ++algorithm) {
    const gpu_contender self = {gpu_run_work, this, gpu_time()};
    for (unsigned run = 0; run < 3; ++run) {
      if (!gpu_time_once(bench->run, &self, gpu_of_products, &ms)) break;
      if (run == 0 || ms >= best) continue;
      best = ms;
      chosen = algorithm;
    }
  }
  algorithm = chosen;
  if (best < INFINITY) return true;
  fail();
  return false;
}

bool gpu_work::check() {
  gpu_run *const run = bench->run;
  const size_t before = (problem.batch - 1) * problem.m * problem.n;
  const char *const d = static_cast<const char *>(problem.d) +
                        before * (problem.result == BLAS_TO_F32 ? 4 : 2);
  gpu_factor left = a, right = b;
  sample part(problem.m, problem.n, problem.k);
  if (!part.complete()) return refuse(&run->why, "out of memory");
  if (!read_result(run, &part, d, problem.result) || !take(run, &part, &left, &right))
    return false;
  const double apart = error_of(&part);
  left.format = right.format = &gpu_f32_operand;
  if (!take(run, &part, &left, &right)) return false;
  result.error = error_of(&part);
  if (apart <= most_error) return true; /* false for a NaN */
  result.state = GPU_FAILED;
  snprintf(result.why, sizeof result.why, "the product is %.2g from that of its operands",
           apart);
  return true;
}
