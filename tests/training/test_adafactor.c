/* SPDX-License-Identifier: MIT */
/* Steps of Adafactor: beside the paper's algorithm 4 and its fifth section in long double
 * (Shazeer, Stern, arXiv:1804.04235), as one matrix after the other; what parameters of
 * 16 bits keep; what is refused. */
#include "../harness/must.h"
#include "../harness/tap.h"

#include <mpnum/training/adafactor.h>

#include <math.h>
#include <string.h>

enum { MOST = 70 * 1500 };
static float gradient[MOST], parameter[MOST], row_averages[MOST], column_averages[MOST];

static uint64_t state = 3;
static double unit(void) {
  state += 1;
  return ((double)mpnum_random(9, state) + 0.5) * 0x1p-32;
}
static double normal_value(void) {
  return sqrt(-2 * log(unit())) * cos(6.283185307179586 * unit());
}

/* The paper, in long double: V = R C / (1 R), by sums that are means here. */
static long double p[MOST], u[MOST], r[MOST], c[MOST];
static long double rms(const long double *x, size_t n) {
  long double sum = 0;
  for (size_t i = 0; i < n; ++i)
    sum += x[i] * x[i];
  return sqrtl(sum / (long double)n);
}
static void averages(const mpnum_adafactor *a, size_t rows, size_t columns, int step) {
  const long double kept = 1 - powl(step, -(long double)a->decay);
  for (size_t i = 0; i < rows; ++i)
    r[i] *= kept;
  for (size_t j = 0; j < columns; ++j)
    c[j] *= kept;
  for (size_t k = 0; k < rows * columns; ++k) {
    const long double g = (long double)gradient[k];
    const long double square = (1 - kept) * (g * g + (long double)a->epsilon1);
    r[k / columns] += square / (long double)columns;
    c[k % columns] += square / (long double)rows;
  }
}
static void paper(const mpnum_adafactor *a, size_t rows, size_t columns, int step) {
  const size_t n = rows * columns;
  long double mean = 0, rate = (long double)a->learning_rate, size = 0;
  averages(a, rows, columns, step);
  for (size_t i = 0; i < rows; ++i)
    mean += r[i] / (long double)rows;
  for (size_t k = 0; k < n; ++k)
    u[k] = (long double)gradient[k] / sqrtl(r[k / columns] * c[k % columns] / mean);
  if (a->is_relative && rate > 1 / sqrtl(step)) rate = 1 / sqrtl(step);
  size = rms(p, n);
  if (size < (long double)a->epsilon2) size = (long double)a->epsilon2;
  if (a->is_scaled) rate *= size;
  size = rms(u, n) / (long double)a->clip;
  for (size_t k = 0; k < n; ++k)
    p[k] -=
        rate * (long double)a->weight_decay * p[k] + rate * u[k] / (size > 1 ? size : 1);
}

static mpnum_optimizer_tensor matrix_of(size_t rows, size_t columns) {
  mpnum_optimizer_tensor made =
      mpnum_optimizer_tensor_of(rows * columns, MPNUM_TYPE_F32, gradient, MPNUM_TYPE_F32,
                                parameter, MPNUM_TYPE_F32, row_averages, column_averages);
  made.columns = columns;
  return made;
}
static int begins_subnormal; /* whether parameters of the first 16 columns do */
static void begin(size_t rows, size_t columns) {
  for (size_t k = 0; k < rows * columns; ++k) {
    parameter[k] =
        begins_subnormal && k % columns < 16 ? 0x1p-130f : (float)(0.05 * normal_value());
    p[k] = (long double)parameter[k];
  }
  for (size_t i = 0; i < rows; ++i)
    row_averages[i] = 0, r[i] = 0;
  for (size_t j = 0; j < columns; ++j)
    column_averages[j] = 0, c[j] = 0;
}
/* Log-normal over rows and columns, and now and then large, so that updates are clipped.
 */
static void draw(size_t rows, size_t columns, int step) {
  const double size = step % 5 == 4 ? 0.3 : 0.01;
  for (size_t k = 0; k < rows * columns; ++k)
    gradient[k] =
        (float)(size * normal_value() *
                exp(sin((double)(k / columns)) + cos(7.0 * (double)(k % columns))));
}
/* The largest difference, of how far a parameter went. */
static double difference_after(const mpnum_adafactor *a, size_t rows, size_t columns,
                               int steps) {
  const mpnum_optimizer_tensor tensor = matrix_of(rows, columns);
  double largest = 0;
  begin(rows, columns);
  for (int step = 1; step <= steps; ++step) {
    draw(rows, columns, step);
    paper(a, rows, columns, step);
    must(mpnum_adafactor_step(a, &tensor, 1, (uint64_t)step, 1, MPNUM_GRAD_APPLY));
  }
  for (size_t k = 0; k < rows * columns; ++k) {
    const double off = fabs((double)((long double)parameter[k] - p[k]));
    const double unit_of = fabs((double)p[k]) + 0.05;
    if (!(off / unit_of <= largest)) largest = off / unit_of;
  }
  for (size_t i = 0; i < rows; ++i)
    CHECK(fabsl((long double)row_averages[i] / r[i] - 1) < 2e-6L, "row %zu: %g, not %Lg",
          i, (double)row_averages[i], r[i]);
  for (size_t j = 0; j < columns; ++j)
    CHECK(fabsl((long double)column_averages[j] / c[j] - 1) < 2e-6L,
          "column %zu: %g, not %Lg", j, (double)column_averages[j], c[j]);
  return largest;
}
static void steps_are_those_of_the_paper(void) {
  static const size_t shapes[][2] = {{5, 7}, {1, 3000}, {300, 1}, {70, 1500}, {130, 33}};
  for (int k = 0; k < 5; ++k)
    for (int how = 0; how < 4; ++how) {
      const int steps = k == 3 ? 4 : 30;
      mpnum_adafactor a = mpnum_adafactor_default();
      double off = 0;
      if (how == 1) a.is_relative = a.is_scaled = 0, a.learning_rate = 1e-3;
      if (how == 2)
        a.weight_decay = 0.1, a.clip = 0.5, a.decay = 0.5, a.learning_rate = 1;
      if (how == 3)
        a.clip = mpnum_from_bits_f64(UINT64_C(0x7ff) << 52), a.epsilon1 = 1e-5,
        a.epsilon2 = 0.2;
      off = difference_after(&a, shapes[k][0], shapes[k][1], steps);
      CHECK(off < 2e-7 * steps + 1e-6, "%zu x %zu, %d: %g", shapes[k][0], shapes[k][1],
            how, off);
    }
}
/* Other optimizers keep subnormals, which these columns show, in steps of their own. */
static void subnormals_take_the_same_step(void) {
  mpnum_adafactor a = mpnum_adafactor_default();
  double off = 0;
  a.weight_decay = 0.1, a.learning_rate = 1;
  begins_subnormal = 1;
  off = difference_after(&a, 5, 700, 1);
  begins_subnormal = 0;
  CHECK(off < 2e-6, "%g", off);
}
/* The paper's section 9, algorithm 7: alpha = max(1e-3, RMS(x)) min(1e-2, 1 / sqrt(t)), 1
 * - t^-0.8, 1e-30, d = 1. */
static void defaults_are_those_of_the_paper(void) {
  const mpnum_adafactor a = mpnum_adafactor_default();
  CHECK(a.learning_rate == 0.01 && a.decay == 0.8 && a.epsilon1 == 1e-30 &&
            a.epsilon2 == 1e-3 && a.clip == 1 && a.weight_decay == 0,
        "%g %g %g %g %g %g", a.learning_rate, a.decay, a.epsilon1, a.epsilon2, a.clip,
        a.weight_decay);
  CHECK(a.is_relative == 1 && a.is_scaled == 1 && a.seed == 0 &&
            a.rounding == MPNUM_ROUND_STOCHASTIC,
        "%d %d %d", (int)a.is_relative, (int)a.is_scaled, (int)a.rounding);
}
/* As the paper's second section has it: a gradient of rank 1 is made signs of. */
static void what_has_rank_1_becomes_signs(void) {
  mpnum_adafactor a = mpnum_adafactor_default();
  const mpnum_optimizer_tensor tensor = matrix_of(20, 30);
  a.is_scaled = 0;
  begin(20, 30);
  for (int k = 0; k < 600; ++k) {
    gradient[k] = (float)(ldexp(1, k / 30) * (k % 30 - 15.5));
    parameter[k] = 0;
  }
  must(mpnum_adafactor_step(&a, &tensor, 1, 1, 1, MPNUM_GRAD_APPLY));
  for (int k = 0; k < 600; ++k)
    CHECK(fabs(fabs((double)parameter[k]) - 0.01) < 1e-8 &&
              (parameter[k] < 0) == (gradient[k] > 0),
          "%d: %g", k, (double)parameter[k]);
}
/* columns 0 is one row; a list is its tensors; SKIP writes nothing; a multiplier is that
 * of the gradient. */
static void lists_and_vectors(void) {
  const mpnum_adafactor a = mpnum_adafactor_default();
  static float kept[600];
  mpnum_optimizer_tensor two[2];
  begin(1, 600);
  draw(20, 30, 1);
  mpnum_optimizer_tensor tensor = matrix_of(1, 600);
  must(mpnum_adafactor_step(&a, &tensor, 1, 3, 0.5f, MPNUM_GRAD_APPLY));
  memcpy(kept, column_averages, sizeof kept);
  begin(1, 600);
  for (int k = 0; k < 600; ++k)
    gradient[k] /= 2;
  tensor.columns = 0;
  must(mpnum_adafactor_step(&a, &tensor, 1, 3, 1, MPNUM_GRAD_SKIP));
  CHECK(column_averages[0] == 0, "a skipped step");
  must(mpnum_adafactor_step(&a, &tensor, 1, 3, 1, MPNUM_GRAD_APPLY));
  CHECK(memcmp(kept, column_averages, sizeof kept) == 0, "no columns");
  begin(20, 60);
  memcpy(kept, parameter, sizeof kept);
  two[0] = two[1] = matrix_of(10, 30);
  two[1].gradient = gradient + 300;
  two[1].parameter = parameter + 300;
  two[1].moment1 = row_averages + 10;
  two[1].moment2 = column_averages + 30;
  must(mpnum_adafactor_step(&a, two, 2, 1, 1, MPNUM_GRAD_APPLY));
  for (int k = 0; k < 2; ++k) {
    static float both[600];
    if (k == 0) memcpy(both, parameter, sizeof both);
    memcpy(parameter, kept, sizeof kept);
    memset(row_averages, 0, 20 * sizeof *row_averages);
    memset(column_averages, 0, 60 * sizeof *column_averages);
    must(mpnum_adafactor_step(&a, two + k, 1, 1, 1, MPNUM_GRAD_APPLY));
    CHECK(memcmp(both + 300 * k, parameter + 300 * k, 300 * sizeof *both) == 0,
          "matrix %d of a list", k);
  }
}
/* A decay of 1e-5 a step, of bf16 with a remainder and without, as of floats. */
static void parameters_of_16_bits_keep_small_steps(void) {
  static mpnum_bf16 codes[600], lacks[600], copies[600];
  for (int has_remainder = 0; has_remainder < 2; ++has_remainder) {
    mpnum_adafactor a = mpnum_adafactor_default();
    mpnum_optimizer_tensor tensor = matrix_of(20, 30);
    double sum = 0;
    a.is_scaled = a.is_relative = 0;
    a.learning_rate = 1e-4;
    a.weight_decay = 0.1;
    tensor.parameter_type = MPNUM_TYPE_BF16;
    tensor.parameter = codes;
    tensor.remainder = has_remainder ? lacks : NULL;
    tensor.copy = copies;
    begin(20, 30);
    for (int k = 0; k < 600; ++k) {
      codes[k] = mpnum_f32_to_bf16(1);
      lacks[k] = mpnum_f32_to_bf16(0);
      gradient[k] = 0;
    }
    for (int step = 1; step <= 5000; ++step)
      must(mpnum_adafactor_step(&a, &tensor, 1, (uint64_t)step, 1, MPNUM_GRAD_APPLY));
    for (int k = 0; k < 600; ++k) {
      sum += (double)mpnum_bf16_to_f32(codes[k]) + (double)mpnum_bf16_to_f32(lacks[k]);
      CHECK(copies[k].bits == codes[k].bits, "copy %d", k);
    }
    CHECK(fabs(sum / 600 - exp(-0.05)) < (has_remainder ? 1e-4 : 3e-3), "%g", sum / 600);
  }
}

static void refused(const mpnum_adafactor *a, const mpnum_optimizer_tensor *t,
                    mpnum_status want, const char *what) {
  static float before[3][600];
  const float *arrays[3] = {parameter, row_averages, column_averages};
  for (int k = 0; k < 3; ++k)
    memcpy(before[k], arrays[k], sizeof before[k]);
  const mpnum_status got = mpnum_adafactor_step(a, t, 1, 1, 1, MPNUM_GRAD_APPLY);
  CHECK(got == want, "%s: %s", what, mpnum_status_string(got));
  for (int k = 0; k < 3; ++k)
    CHECK(memcmp(before[k], arrays[k], sizeof before[k]) == 0, "%s: written", what);
}
static void misuse_is_refused(void) {
  const double bad[] = {mpnum_from_bits_f64(UINT64_C(0x7ff8) << 48), -1e-3, 3e38};
  const mpnum_adafactor fine = mpnum_adafactor_default();
  mpnum_optimizer_tensor tensor = matrix_of(20, 30);
  begin(20, 30);
  draw(20, 30, 1);
  for (int k = 0; k < 3; ++k) {
    mpnum_adafactor a = fine;
#define IS_REFUSED(field) \
 a = fine;                \
 a.field = bad[k];        \
 refused(&a, &tensor, MPNUM_ERROR_ARGUMENT, #field);
    IS_REFUSED(learning_rate)
    IS_REFUSED(decay)
    IS_REFUSED(epsilon1)
    IS_REFUSED(epsilon2)
    IS_REFUSED(weight_decay)
#undef IS_REFUSED
    a = fine;
    a.clip = k == 2 ? 0 : bad[k];
    refused(&a, &tensor, MPNUM_ERROR_ARGUMENT, "clip");
  }
  mpnum_adafactor a = fine;
  a.is_relative = 2;
  refused(&a, &tensor, MPNUM_ERROR_ARGUMENT, "is_relative");
  a = fine;
  a.is_scaled = -1;
  refused(&a, &tensor, MPNUM_ERROR_ARGUMENT, "is_scaled");
  a = fine;
  a.rounding = MPNUM_ROUND_UP;
  refused(&a, &tensor, MPNUM_ERROR_ARGUMENT, "rounding");
  CHECK(mpnum_adafactor_step(&fine, &tensor, 1, 1, 1, (mpnum_grad_verdict)-1) ==
            MPNUM_ERROR_ARGUMENT,
        "a verdict that is none");
  refused(NULL, &tensor, MPNUM_ERROR_ARGUMENT, "no options");
  refused(&fine, NULL, MPNUM_ERROR_NULL, "no tensors");
#define WITH(field, value, want)                      \
 do {                                                 \
  tensor = matrix_of(20, 30);                         \
  tensor.field = value;                               \
  refused(&fine, &tensor, want, #field " = " #value); \
 } while (0)
  WITH(columns, 31, MPNUM_ERROR_ARGUMENT);
  WITH(columns, 601, MPNUM_ERROR_ARGUMENT);
  WITH(moment1, NULL, MPNUM_ERROR_NULL);
  WITH(moment2, NULL, MPNUM_ERROR_NULL);
  WITH(parameter, NULL, MPNUM_ERROR_NULL);
  WITH(gradient, NULL, MPNUM_ERROR_NULL);
  WITH(moment_type, MPNUM_TYPE_BF16, MPNUM_ERROR_TYPE);
  WITH(gradient_type, MPNUM_TYPE_F64, MPNUM_ERROR_TYPE);
  WITH(moment1, column_averages + 29, MPNUM_ERROR_OVERLAP);
  WITH(moment2, parameter + 599, MPNUM_ERROR_OVERLAP);
  WITH(moment2, row_averages + 19, MPNUM_ERROR_OVERLAP);
#undef WITH
  tensor = matrix_of(0, 30);
  tensor.gradient = tensor.parameter = tensor.moment1 = tensor.moment2 = NULL;
  must(mpnum_adafactor_step(&fine, &tensor, 1, 1, 1, MPNUM_GRAD_APPLY));
}

/* Zeros of either sign are one option, and finite gradients that are far apart in size
 * give finite steps. */
static void zeros_have_no_sign(void) {
  static float want[12];
  for (int k = 0; k < 2; ++k)
    for (int sign = 0; sign < 2; ++sign) {
      const mpnum_optimizer_tensor tensor = matrix_of(3, 4);
      const double zero = mpnum_from_bits_f64((uint64_t)sign << 63);
      mpnum_adafactor a = mpnum_adafactor_default();
      if (k == 0) a.learning_rate = zero;
      if (k == 1) a.epsilon2 = zero;
      begin(3, 4);
      state = 99;
      draw(3, 4, 1);
      for (int i = 0; i < 12; ++i)
        parameter[i] = 1 + 0.25f * (float)i;
      must(mpnum_adafactor_step(&a, &tensor, 1, 1, 1, MPNUM_GRAD_APPLY));
      if (sign == 0) memcpy(want, parameter, sizeof want);
      CHECK(memcmp(want, parameter, sizeof want) == 0, "option %d, -0: %g, not %g", k,
            (double)parameter[0], (double)want[0]);
      for (int i = 0; i < 12; ++i)
        CHECK((parameter[i] == 1 + 0.25f * (float)i) == (k == 0), "option %d: %g", k,
              (double)parameter[i]);
    }
}
static void rows_far_apart_in_size_are_no_nan(void) {
  const mpnum_adafactor a = mpnum_adafactor_default();
  const mpnum_optimizer_tensor tensor = matrix_of(2, 4);
  begin(2, 4);
  for (int i = 0; i < 8; ++i)
    gradient[i] = i < 4 ? 0 : 1e15f;
  must(mpnum_adafactor_step(&a, &tensor, 1, 1, 1, MPNUM_GRAD_APPLY));
  for (int i = 0; i < 8; ++i)
    CHECK(fabsf(parameter[i]) < 1, "%d: %g", i, (double)parameter[i]);
}

int main(void) {
  TAP_RUN(defaults_are_those_of_the_paper);
  TAP_RUN(steps_are_those_of_the_paper);
  TAP_RUN(subnormals_take_the_same_step);
  TAP_RUN(what_has_rank_1_becomes_signs);
  TAP_RUN(lists_and_vectors);
  TAP_RUN(parameters_of_16_bits_keep_small_steps);
  TAP_RUN(zeros_have_no_sign);
  TAP_RUN(rows_far_apart_in_size_are_no_nan);
  TAP_RUN(misuse_is_refused);
  return tap_done();
}
