/* SPDX-License-Identifier: MIT */
/* All ways to compute a function take turns over the same inputs, as do those of softmax
 * over one matrix. Errors are taken once, after the times. */
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpnum/mpnum.h>

#include "../arrays/source.h"
#include "../../core/timing.h"

static const char label[] = "functions and softmax";

/* The same values in each type. */
typedef struct inputs {
  float *f32;
  mpnum_f16 *f16;
  mpnum_bf16 *bf16;
} inputs;

/* In units in the last place of the exact value's binade, which are never less than the
 * smallest subnormal. */
static double ulp_error(float got, double exact) {
  int exponent;
  if (!isfinite(exact))
    return (double)got == exact || (isnan(got) && isnan(exact)) ? 0 : (double)INFINITY;
  frexp(exact, &exponent);
  if (exponent < -125) exponent = -125; /* of 2^-126, the least normal: 0.5 2^-125 */
  return fabs((double)got - exact) * ldexp(1, 24 - exponent);
}

/* The larger of two errors; a NaN is a result that should be none. */
static double worse(double worst, double error) {
  if (isnan(error)) return (double)INFINITY;
  return error > worst ? error : worst;
}

/* Normal deviates times 2. */
static float *draw(size_t count) {
  float *made = source_make(SOURCE_F32, 32, count);
  size_t i;
  for (i = 0; made && i < count; ++i)
    made[i] *= 2;
  return made;
}

static bool make_inputs(inputs *made, size_t count, bool is_positive) {
  size_t i;
  made->f32 = draw(count);
  made->f16 = timing_buffer(count * sizeof *made->f16);
  made->bf16 = timing_buffer(count * sizeof *made->bf16);
  if (!made->f32 || !made->f16 || !made->bf16) return false;
  for (i = 0; i < count; ++i) {
    if (is_positive) made->f32[i] = fabsf(made->f32[i]);
    made->f16[i] = mpnum_f32_to_f16(made->f32[i]);
    made->bf16[i] = mpnum_f32_to_bf16(made->f32[i]);
  }
  return true;
}

static void free_inputs(inputs *made) {
  free(made->f32);
  free(made->f16);
  free(made->bf16);
}

static math_figure figure_of(const contender *timed) {
  math_figure found;
  found.measured = true;
  found.ns = timed->ns;
  found.noise = timed->noise;
  found.error = (double)NAN;
  return found;
}

static double function_error(const math_function *function, const contender *timed) {
  const float *x = timed->src, *y = timed->dst;
  double worst = 0;
  size_t i;
  memset(timed->dst, 0xff, timed->dst_bytes); /* what another left is not its result */
  timed->array(timed->dst, timed->src, timed->count);
  for (i = 0; i < timed->count; ++i)
    worst = worse(worst, ulp_error(y[i], function->exact((double)x[i])));
  return worst;
}

/* Lists the ways that there are, and for each its place in the row. */
static size_t list_ways(contender list[MATH_WAYS], int places[MATH_WAYS],
                        const math_function *function, const inputs *from, void *dst,
                        size_t count) {
  const array_peer_loop *sleef = math_sleef_loop(function);
  size_t used = 0;
  int way;
  memset(list, 0, MATH_WAYS * sizeof *list);
  for (way = 0; way < MATH_WAYS; ++way) {
    const bool is_half = way == MATH_F16 || way == MATH_BF16;
    contender *next = &list[used];
    if (way == MATH_SLEEF && !sleef) continue;
    next->pass = array_pass;
    next->array = way == MATH_SLEEF ? sleef->run : function->loops[way];
    next->dst = dst;
    next->src = way == MATH_F16    ? (const void *)from->f16
                : way == MATH_BF16 ? (const void *)from->bf16
                                   : (const void *)from->f32;
    next->count = count;
    next->dst_bytes = count * (is_half ? sizeof(mpnum_f16) : sizeof(float));
    places[used++] = way;
  }
  return used;
}

static bool measure_function(math_results *found, size_t index, const inputs *from,
                             void *dst, progress *bar) {
  const math_function *function = &math_functions[index];
  contender list[MATH_WAYS];
  int places[MATH_WAYS];
  size_t i, used = list_ways(list, places, function, from, dst, found->plan.values);
  if (!timing_measure(list, used, found->plan.rounds, bar, label)) return false;
  for (i = 0; i < used; ++i) {
    math_figure *shown = &found->functions[index][places[i]];
    *shown = figure_of(&list[i]);
    if (list[i].src == from->f32) shown->error = function_error(function, &list[i]);
  }
  return true;
}

static bool measure_functions(math_results *found, progress *bar) {
  const size_t count = found->plan.values;
  inputs any, positive;
  float *dst = timing_buffer(count * sizeof *dst);
  bool done = make_inputs(&any, count, false);
  size_t i;
  done = make_inputs(&positive, count, true) && done && dst;
  for (i = 0; i < MATH_FUNCTIONS && done; ++i)
    done = measure_function(found, i, math_functions[i].is_positive ? &positive : &any,
                            dst, bar);
  free_inputs(&any);
  free_inputs(&positive);
  free(dst);
  return done;
}

/* What a contender runs. */
typedef struct job {
  const softmax_way *way;
  size_t rows, columns;
} job;

static void softmax_pass(const contender *self) {
  const job *how = self->more;
  how->way->run(self->dst, self->src, how->rows, how->columns);
}

/* The first rows in double: those that errors are taken over. */
static double *exact_rows(const float *src, size_t rows, size_t columns) {
  double *made = malloc(rows * columns * sizeof *made);
  size_t i, k;
  for (i = 0; made && i < rows; ++i) {
    const float *x = src + i * columns;
    double *y = made + i * columns, max = -(double)INFINITY, sum = 0;
    for (k = 0; k < columns; ++k)
      max = fmax(max, (double)x[k]);
    for (k = 0; k < columns; ++k)
      sum += y[k] = exp((double)x[k] - max);
    for (k = 0; k < columns; ++k)
      y[k] /= sum;
  }
  return made;
}

static double softmax_error(const contender *timed, size_t rows, const double *exact) {
  const job *how = timed->more;
  const size_t count = rows * how->columns;
  const float *y = timed->dst;
  double worst = 0;
  size_t i;
  memset(timed->dst, 0xff, count * sizeof *y);
  how->way->run(timed->dst, timed->src, rows, how->columns);
  for (i = 0; i < count; ++i)
    worst = worse(worst, fabs((double)y[i] - exact[i]) / exact[i]);
  return worst;
}

/* Only mpnum and the copy see the largest matrix. */
static bool is_run(const softmax_matrix *matrix, const softmax_matrix *last, int way) {
  if (softmax_missing(softmax_ways[way])) return false;
  return matrix != last || way == SOFTMAX_MPNUM || softmax_ways[way]->only_copies;
}

/* So many rows have the values of an array. */
static size_t usual_rows(const math_results *found, size_t columns) {
  return columns < found->plan.values ? found->plan.values / columns : 1;
}

static bool time_matrix(math_results *found, softmax_matrix *matrix, const float *src,
                        float *dst, const double *exact, progress *bar) {
  const softmax_matrix *last = &found->matrices[SOFTMAX_MATRICES - 1];
  const size_t checked = usual_rows(found, matrix->columns);
  contender list[SOFTMAX_WAYS];
  job jobs[SOFTMAX_WAYS];
  math_figure *places[SOFTMAX_WAYS];
  size_t i, used = 0;
  int way;
  memset(list, 0, sizeof list);
  for (way = 0; way < SOFTMAX_WAYS; ++way) {
    contender *next = &list[used];
    if (!is_run(matrix, last, way)) continue;
    jobs[used].way = softmax_ways[way];
    jobs[used].rows = matrix->rows;
    jobs[used].columns = matrix->columns;
    next->pass = softmax_pass;
    next->more = &jobs[used];
    next->dst = dst;
    next->src = src;
    next->count = matrix->rows * matrix->columns;
    next->dst_bytes = next->count * sizeof *dst;
    places[used++] = &matrix->ways[way];
  }
  if (!timing_measure(list, used, found->plan.rounds, bar, label)) return false;
  for (i = 0; i < used; ++i) {
    *places[i] = figure_of(&list[i]);
    if (!jobs[i].way->only_copies)
      places[i]->error = softmax_error(&list[i], checked, exact);
  }
  return true;
}

static bool measure_matrix(math_results *found, softmax_matrix *matrix, progress *bar) {
  const size_t count = matrix->rows * matrix->columns;
  float *src = draw(count), *dst = timing_buffer(count * sizeof *dst);
  double *exact =
      src ? exact_rows(src, usual_rows(found, matrix->columns), matrix->columns) : NULL;
  const bool done =
      src && dst && exact && time_matrix(found, matrix, src, dst, exact, bar);
  free(src);
  free(dst);
  free(exact);
  return done;
}

static void plan_matrices(math_results *found) {
  static const size_t columns[SOFTMAX_MATRICES] = {64, 1000, 32000, 1000000, 1000};
  const size_t bytes = found->plan.matrix_bytes;
  int i;
  for (i = 0; i < SOFTMAX_MATRICES; ++i) {
    softmax_matrix *made = &found->matrices[i];
    made->columns = columns[i];
    made->rows = i + 1 < SOFTMAX_MATRICES ? usual_rows(found, columns[i])
                                          : bytes / columns[i] / sizeof(float);
  }
}

/* Contenders, all in all. */
static uint64_t count_work(const math_results *found) {
  const softmax_matrix *last = &found->matrices[SOFTMAX_MATRICES - 1], *matrix;
  uint64_t count = MATH_FUNCTIONS * MATH_SLEEF + math_sleef()->count;
  int way;
  for (matrix = found->matrices; matrix <= last; ++matrix) {
    for (way = 0; way < SOFTMAX_WAYS; ++way)
      count += is_run(matrix, last, way);
  }
  return count;
}

bool math_measure(math_results *found, const math_plan *plan, progress *bar) {
  bool done;
  int i;
  found->plan = *plan;
  found->isa = math_isa();
  plan_matrices(found);
  rows_plan(&found->rows_timed, plan->values);
  progress_begin(bar,
                 (count_work(found) + rows_count(&found->rows_timed)) * plan->rounds);
  done = measure_functions(found, bar);
  for (i = 0; i < SOFTMAX_MATRICES && done; ++i)
    done = measure_matrix(found, &found->matrices[i], bar);
  done = done && rows_measure(&found->rows_timed, plan->values, plan->rounds, bar);
  progress_end(bar);
  if (done) math_measure_torch(found);
  return done;
}
