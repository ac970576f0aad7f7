/* SPDX-License-Identifier: MIT */
/* All ways to compute a function take turns over the same inputs, as do those of softmax
 * over one matrix and of rows of one length. Errors are taken once, after the times. */
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpnum/mpnum.h>

#include "../../core/timing.h"
#include "../arrays/arrays.h"

enum { TURNS = 6, SOFTMAX_MATRICES = 5 };

const char *const math_types[MATH_TYPES] = {"f32", "f16", "bf16"};

/* Those that take turns, with their places among the figures; the first is mpnum's of
 * floats. */
typedef struct turns {
  const char *section, *name, *label; /* label: of the progress bar */
  contender list[TURNS];
  const char *libraries[TURNS], *types[TURNS];
  const char *functions[TURNS]; /* that are called; NULL: not told */
  bool has_error[TURNS];
  size_t count;
  const char *metric, *unit; /* of errors */
  double (*error)(const contender *timed, const void *about);
  const void *about;
} turns;

static contender *add_turn(turns *to, const char *library, const char *type, void *dst,
                           const void *src, size_t count) {
  contender *made = &to->list[to->count];
  memset(made, 0, sizeof *made);
  made->dst = dst;
  made->src = src;
  made->count = count;
  made->dst_bytes = count * sizeof(float);
  to->libraries[to->count] = library;
  to->types[to->count++] = type;
  return made;
}

static bool take_turns(figures *to, turns *all, unsigned rounds, progress *bar) {
  if (!timing_measure(all->list, all->count, rounds, bar, all->label)) return false;
  for (size_t i = 0; i < all->count; ++i) {
    const contender *timed = &all->list[i];
    figures_at(to, all->section, all->libraries[i], all->name, all->types[i]);
    if (all->functions[i]) figures_say(to, "function", "%s", all->functions[i]);
    figures_add(to, "time_per_value", timed->ns, "ns");
    figures_add(to, "noise", timed->noise, "");
    figures_add(to, "ratio_to_mpnum", timed->ns / all->list[0].ns, "");
    if (all->has_error[i])
      figures_add(to, all->metric, all->error(timed, all->about), all->unit);
  }
  return true;
}

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
  for (size_t i = 0; made && i < count; ++i)
    made[i] *= 2;
  return made;
}

/* --- functions */

/* The same values in each type. */
typedef struct inputs {
  void *of[MATH_TYPES];
} inputs;

static bool make_inputs(inputs *made, size_t count, bool is_positive) {
  float *values = draw(count);
  mpnum_f16 *f16 = timing_buffer(count * sizeof *f16);
  mpnum_bf16 *bf16 = timing_buffer(count * sizeof *bf16);
  made->of[0] = values;
  made->of[1] = f16;
  made->of[2] = bf16;
  if (!values || !f16 || !bf16) return false;
  for (size_t i = 0; i < count; ++i) {
    if (is_positive) values[i] = fabsf(values[i]);
    f16[i] = mpnum_f32_to_f16(values[i]);
    bf16[i] = mpnum_f32_to_bf16(values[i]);
  }
  return true;
}

static void free_inputs(inputs *made) {
  for (int type = 0; type < MATH_TYPES; ++type)
    free(made->of[type]);
}

static double function_error(const contender *timed, const void *about) {
  const math_function *function = about;
  const float *x = timed->src, *y = timed->dst;
  double worst = 0;
  memset(timed->dst, 0xff, timed->dst_bytes); /* what another left is not its result */
  timed->array(timed->dst, timed->src, timed->count);
  for (size_t i = 0; i < timed->count; ++i)
    worst = worse(worst, ulp_error(y[i], function->exact((double)x[i])));
  return worst;
}

static bool measure_function(figures *to, const math_function *function,
                             const inputs *from, void *dst, const math_plan *plan,
                             progress *bar) {
  static const char *const libraries[] = {"mpnum", "mpnum", "mpnum", "libm", "SLEEF"};
  const array_peer_loop *sleef = math_sleef_loop(function);
  turns all = {
      .section = "math", .name = function->name, .label = "functions and softmax"};
  all.metric = "max_ulp_error";
  all.unit = "ulp";
  all.error = function_error;
  all.about = function;
  for (int way = 0; way <= MATH_SLEEF; ++way) {
    const int type = way < MATH_TYPES ? way : 0;
    if (way == MATH_SLEEF && !sleef) continue;
    all.functions[way] = way == MATH_SLEEF ? sleef->function : function->called[way];
    all.has_error[way] = type == 0;
    contender *next = add_turn(&all, libraries[way], math_types[type], dst,
                               from->of[type], plan->values);
    next->pass = array_pass;
    next->array = way == MATH_SLEEF ? sleef->run : function->loops[way];
    if (type > 0) next->dst_bytes /= 2;
  }
  if (math_light_loop(function)) {
    all.functions[all.count] = math_light_name(function);
    all.has_error[all.count] = true;
    contender *next = add_turn(&all, "mpnum", "light", dst, from->of[0], plan->values);
    next->pass = array_pass;
    next->array = math_light_loop(function);
  }
  return take_turns(to, &all, plan->rounds, bar);
}

static bool measure_functions(figures *to, const math_plan *plan, progress *bar) {
  inputs any, positive;
  float *dst = timing_buffer(plan->values * sizeof *dst);
  bool done = make_inputs(&any, plan->values, false);
  done = make_inputs(&positive, plan->values, true) && done && dst;
  for (size_t i = 0; i < MATH_FUNCTIONS && done; ++i) {
    const math_function *function = &math_functions[i];
    done = measure_function(to, function, function->is_positive ? &positive : &any, dst,
                            plan, bar);
  }
  free_inputs(&any);
  free_inputs(&positive);
  free(dst);
  return done;
}

/* --- softmax */

typedef struct matrix {
  size_t rows, columns;
  size_t checked; /* rows that errors are taken over */
  double *exact;  /* these, in double */
  bool is_largest;
} matrix;

/* What a contender runs. */
typedef struct softmax_job {
  const softmax_way *way;
  const matrix *on;
} softmax_job;

static void softmax_pass(const contender *self) {
  const softmax_job *how = self->more;
  how->way->run(self->dst, self->src, how->on->rows, how->on->columns);
}

static double *exact_rows(const float *src, size_t rows, size_t columns) {
  double *made = malloc(rows * columns * sizeof *made);
  for (size_t i = 0; made && i < rows; ++i) {
    const float *x = src + i * columns;
    double *y = made + i * columns, max = -(double)INFINITY, sum = 0;
    for (size_t k = 0; k < columns; ++k)
      max = fmax(max, (double)x[k]);
    for (size_t k = 0; k < columns; ++k)
      sum += y[k] = exp((double)x[k] - max);
    for (size_t k = 0; k < columns; ++k)
      y[k] /= sum;
  }
  return made;
}

static double softmax_error(const contender *timed, const void *about) {
  const softmax_job *how = timed->more;
  const matrix *on = about;
  const size_t count = on->checked * on->columns;
  const float *y = timed->dst;
  double worst = 0;
  memset(timed->dst, 0xff, count * sizeof *y);
  how->way->run(timed->dst, timed->src, on->checked, on->columns);
  for (size_t i = 0; i < count; ++i)
    worst = worse(worst, fabs((double)y[i] - on->exact[i]) / on->exact[i]);
  return worst;
}

/* Only mpnum and the copy see the largest matrix. */
static bool is_run(const softmax_way *way, bool is_largest) {
  if (softmax_missing(way)) return false;
  return !is_largest || way == softmax_ways[0] || way->only_copies;
}

static bool time_matrix(figures *to, const matrix *on, const float *src, float *dst,
                        const math_plan *plan, progress *bar) {
  turns all = {.section = "softmax", .label = "functions and softmax"};
  softmax_job jobs[SOFTMAX_WAYS];
  char name[ROW_NAME];
  snprintf(name, sizeof name, "%zu x %zu", on->rows, on->columns);
  all.name = name;
  all.metric = "max_relative_error";
  all.unit = "";
  all.error = softmax_error;
  all.about = on;
  for (int way = 0; way < SOFTMAX_WAYS; ++way) {
    softmax_job *how = &jobs[all.count];
    if (!is_run(softmax_ways[way], on->is_largest)) continue;
    how->way = softmax_ways[way];
    how->on = on;
    all.has_error[all.count] = !how->way->only_copies;
    contender *next =
        add_turn(&all, how->way->name, "", dst, src, on->rows * on->columns);
    next->pass = softmax_pass;
    next->more = how;
  }
  return take_turns(to, &all, plan->rounds, bar);
}

static bool measure_matrix(figures *to, matrix *on, const math_plan *plan,
                           progress *bar) {
  const size_t count = on->rows * on->columns;
  float *src = draw(count), *dst = timing_buffer(count * sizeof *dst);
  on->exact = src ? exact_rows(src, on->checked, on->columns) : NULL;
  const bool done = dst && on->exact && time_matrix(to, on, src, dst, plan, bar);
  free(src);
  free(dst);
  free(on->exact);
  return done;
}

static void plan_matrices(matrix made[SOFTMAX_MATRICES], const math_plan *plan) {
  static const size_t columns[SOFTMAX_MATRICES] = {64, 1000, 32000, 1000000, 1000};
  for (int i = 0; i < SOFTMAX_MATRICES; ++i) {
    made[i].columns = columns[i];
    made[i].checked = columns[i] < plan->values ? plan->values / columns[i] : 1;
    made[i].is_largest = i + 1 == SOFTMAX_MATRICES;
    made[i].rows = made[i].is_largest ? plan->matrix_bytes / columns[i] / sizeof(float)
                                      : made[i].checked;
  }
}

/* --- rows */

int math_widths(const math_plan *plan, size_t columns[ROW_WIDTHS]) {
  static const size_t all[ROW_WIDTHS] = {64, 1000, 4096, 32000, 50257};
  int count = 0;
  for (; count < ROW_WIDTHS && all[count] <= plan->values; ++count)
    columns[count] = all[count];
  return count;
}

void row_name(char name[ROW_NAME], size_t operation, size_t rows, size_t columns) {
  snprintf(name, ROW_NAME, "%s, %zu x %zu", row_operations[operation].name, rows,
           columns);
}

typedef struct row_job {
  const row_operation *operation;
  row_call call;
  row_way way;
} row_job;

static void row_pass(const contender *self) {
  const row_job *how = self->more;
  if (how->way == ROW_COPY) {
    memcpy(how->call.dst, how->call.src, self->count * sizeof(float));
  } else if (how->way == ROW_LOOP) {
    how->operation->loop(&how->call);
  } else {
    how->operation->run(&how->call, how->way);
  }
}

static bool time_rows(figures *to, size_t operation, size_t columns,
                      const row_call calls[ROW_WAYS], const math_plan *plan,
                      progress *bar) {
  static const char *const libraries[] = {"mpnum", "mpnum", "mpnum", "loop", "memcpy"};
  const size_t rows = plan->values / columns;
  turns all = {.section = "rows", .label = "rows"};
  row_job jobs[ROW_WAYS];
  char name[ROW_NAME];
  row_name(name, operation, rows, columns);
  all.name = name;
  for (int way = 0; way < ROW_WAYS; ++way) {
    row_job *how = &jobs[all.count];
    if (way == ROW_LOOP && !row_operations[operation].loop) continue;
    how->operation = &row_operations[operation];
    how->call = calls[way];
    how->call.rows = rows;
    how->call.columns = columns;
    how->way = (row_way)way;
    contender *next =
        add_turn(&all, libraries[way], math_types[way < MATH_TYPES ? way : 0],
                 how->call.dst, how->call.src, rows * columns);
    next->pass = row_pass;
    next->more = how;
    next->dst_bytes = next->count; /* of e4m3; all others have more */
  }
  return take_turns(to, &all, plan->rounds, bar);
}

/* Three types of rows, and one dst for all. */
static bool make_calls(row_call calls[ROW_WAYS], size_t values) {
  const size_t bytes = values * sizeof(float);
  float *src = source_make(SOURCE_F32, 32, values);
  float *columns = timing_buffer(2 * bytes), *ones = timing_buffer(bytes);
  int32_t *targets = timing_buffer(bytes); /* 0 */
  void *dst = timing_buffer(bytes);
  bool good = src && columns && ones && targets && dst;
  for (size_t i = 0; good && i < values; ++i)
    ones[i] = 1;
  for (int way = 0; way < ROW_WAYS; ++way) {
    row_call *made = &calls[way];
    made->src = way == ROW_F32 ? src : timing_buffer(bytes);
    made->other = timing_buffer(bytes);
    good = good && made->src && made->other;
    if (good && way != ROW_F32) row_convert(made->src, (row_way)way, src, values);
    if (good) row_convert(made->other, (row_way)way, src, values);
    made->dst = dst;
    made->weight = ones;
    made->of_weight = made->of_rows = columns;
    made->targets = targets;
  }
  return good;
}

static void free_calls(row_call calls[ROW_WAYS]) {
  for (int way = 0; way < ROW_WAYS; ++way) {
    free(calls[way].src);
    free(calls[way].other);
  }
  free(calls[0].dst);
  free(calls[0].weight);
  free(calls[0].of_weight);
  free(calls[0].targets);
}

/* Figures are in the order of operations. */
static bool measure_rows(figures *to, const math_plan *plan, progress *bar) {
  row_call calls[ROW_WAYS];
  size_t columns[ROW_WIDTHS];
  const int widths = math_widths(plan, columns);
  bool good = make_calls(calls, plan->values);
  for (size_t i = 0; i < ROW_OPERATIONS; ++i)
    for (int width = 0; width < widths && good; ++width)
      good = time_rows(to, i, columns[width], calls, plan, bar);
  free_calls(calls);
  return good;
}

/* --- all */

/* Contenders, all in all. */
static uint64_t count_work(const math_plan *plan) {
  size_t columns[ROW_WIDTHS];
  const size_t widths = (size_t)math_widths(plan, columns);
  uint64_t count = MATH_FUNCTIONS * MATH_SLEEF + math_sleef()->count;
  for (int i = 0; i < SOFTMAX_MATRICES; ++i)
    for (int way = 0; way < SOFTMAX_WAYS; ++way)
      count += is_run(softmax_ways[way], i + 1 == SOFTMAX_MATRICES);
  for (int i = 0; i < ROW_OPERATIONS; ++i)
    count += widths * (row_operations[i].loop ? ROW_WAYS : ROW_WAYS - 1);
  return count;
}

static void add_plan(figures *to, const math_plan *plan) {
  const math_library *sleef = math_sleef();
  figures_at(to, "math", "mpnum", "", "");
  figures_say(to, "isa", "%s", math_isa());
  figures_add(to, "values", (double)plan->values, "");
  figures_add(to, "rounds", plan->rounds, "");
  figures_add(to, "matrix_bytes", (double)plan->matrix_bytes, "byte");
  figures_at(to, "math", "SLEEF", "", "");
  if (sleef->missing) figures_say(to, "missing", "%s", sleef->missing);
  if (sleef->isa) figures_say(to, "isa", "%s", sleef->isa);
  for (int i = 0; i < SOFTMAX_WAYS; ++i) {
    const char *missing = softmax_missing(softmax_ways[i]);
    figures_at(to, "math", softmax_ways[i]->name, "", "");
    if (missing) figures_say(to, "missing", "%s", missing);
  }
}

bool math_measure(figures *to, const math_plan *plan, progress *bar) {
  matrix matrices[SOFTMAX_MATRICES];
  plan_matrices(matrices, plan);
  add_plan(to, plan);
  progress_begin(bar, count_work(plan) * plan->rounds);
  bool done = measure_functions(to, plan, bar);
  for (int i = 0; i < SOFTMAX_MATRICES && done; ++i)
    done = measure_matrix(to, &matrices[i], plan, bar);
  done = done && measure_rows(to, plan, bar);
  progress_end(bar);
  if (done) math_measure_torch(to, plan);
  return done;
}
