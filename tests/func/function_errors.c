/* SPDX-License-Identifier: MIT */
/* Measures the functions of func.h for f32: at every step-th of the 2^32 floats, a line
 * for each function with the largest error in units in the last place, where it is, and
 * how many results are not the float nearest to the value.
 *
 * usage: function_errors STEP [NAME...]
 *        function_errors NAME=BITS...
 *
 * The second form measures one float, of these bits in hexadecimal, for each argument.
 *
 * MPNUM_TEST_MODE in the environment: upward, downward, toward_zero or flush, which the
 * functions then run in, one call after the other; else they are those of arrays, which
 * have the same bits. What overflows in a directed mode, and what is below 2^-120
 * where subnormals are flushed, is left out then.
 *
 * The value is libm's in double, a thousandth of a place off at most; MPFR decides where
 * that is too near to the middle of two floats. Results that are special, and those of
 * special arguments, must be exact: the exit status is 1 where one is not. */
#include "../harness/control_word.h"
#include "../harness/float_bits.h"
#include "function_reference.h"
#include "function_rows.h"

#include <mpnum/func/func_array.h>
#include <mpnum/func/light.h>

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TIMED_FUNCTIONS(IN_DOUBLE)
UNTIMED_FUNCTIONS(IN_DOUBLE)

typedef struct measured_function {
  const char *name;
  float (*function)(float);
  void (*array)(float *, const float *, size_t);
  double (*value)(double);
  const char *like; /* the function whose reference is its, too */
  int flushes;      /* 1: results that are subnormal are zeros */
} measured_function;

#define WRAPPED(name, ...) \
 static float name##_f32(float x) { return mpnum_##name##_f32(x); }
#define WRAPPED_LIGHT(name) WRAPPED(name##_light, )
MPNUM_FUNCTION_ROWS_(WRAPPED)
MPNUM_LIGHT_ROWS_(WRAPPED_LIGHT)
#define MEASURED(name, ...) \
 {#name, name##_f32, mpnum_##name##_f32_array, name##_f64, #name, 0},
#define MEASURED_LIGHT(name) \
 {#name "_light", name##_light_f32, mpnum_##name##_light_f32_array, name##_f64, #name, 1},
static const measured_function functions[] = {MPNUM_FUNCTION_ROWS_(MEASURED)
                                                  MPNUM_LIGHT_ROWS_(MEASURED_LIGHT)};
enum { FUNCTIONS = sizeof functions / sizeof functions[0], THREADS = 2 };

typedef struct finding {
  const measured_function *function;
  const function_reference *reference;
  uint64_t first, step;
  double error; /* the largest, in places */
  uint32_t at;
  uint64_t wrong, bad;
  uint32_t bad_at;
} finding;

static pthread_mutex_t mpfr_lock = PTHREAD_MUTEX_INITIALIZER;

static double exact(const finding *found, double x) {
  pthread_mutex_lock(&mpfr_lock);
  const uint64_t bits = reference_of_function(found->reference, x);
  pthread_mutex_unlock(&mpfr_lock);
  return double_of(bits);
}
static double power_of_two(int exponent) {
  return double_of((uint64_t)(1023 + exponent) << 52);
}
/* (frexp and ldexp would take as long as the rest.) */
static double place_of(const finding *found, double value) {
  int exponent = (int)(bits_of_double(value) >> 52 & 0x7ff) - 1022;
  if (found->reference->has_root && exponent < -5) exponent = -5;
  return power_of_two(exponent < -125 ? -149 : exponent - 24);
}
static int is_special(float x) { return isnan(x) || isinf(x) || x == 0; }
static int same_bits(float a, float b) { return memcmp(&a, &b, sizeof a) == 0; }

/* In the mode that was asked for. */
static uint64_t mode;
static int has_mode;
static float called(float (*function)(float), float x) {
  return has_mode ? called_with(mode, function, x) : function(x);
}
/* 0: there is no such mode here. */
static int set_mode(const char *name) {
  const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  const char *const names[] = {"upward", "downward", "toward_zero"};
  has_mode = 1;
  for (int i = 0; i < 3; ++i)
    if (strcmp(name, names[i]) == 0) {
      mode = control_word_of(modes[i]);
      return 1;
    }
  mode = control_word() | FLUSHES;
  return FLUSHES != 0 && strcmp(name, "flush") == 0;
}
/* Whether the mode excuses it: directed rounding stops at the largest float, flushing
 * takes what is subnormal, or is on the way there, for zero. */
static int is_excused(float x, double value, float nearest) {
  if (!has_mode || is_special(x)) return 0;
  return (mode & FLUSHES) == 0 ? isinf(nearest)
                               : fabs((double)x) < 0x1p-120 || fabs(value) < 0x1p-120;
}

static void measure(finding *found, float x, float y) {
  const uint32_t bits = bits_of_float(x);
  double value = found->function->value((double)x);
  if (isnan(value)) {
    const int is_canonical = same_bits(y, float_of(0x7fffffff));
    if (!is_canonical && found->bad++ == 0) found->bad_at = bits;
    return;
  }
  const double place = place_of(found, value);
  const double low = fabs(value) / place - 0.5;
  const double doubt = found->reference->has_root ? 0x1p-18 : 0x1p-16;
  if (isfinite(value) && fabs(low - floor(low + 0.5)) < doubt && !is_special(x))
    value = exact(found, (double)x); /* near a middle */
  if (found->function->flushes && fabs(value) < 0x1p-126) value = copysign(0, value);
  const float nearest = (float)value;
  if (is_excused(x, value, nearest)) return;
  /* log 2 at 0 is a value like others */
  const int is_exact = !has_mode || is_special(nearest);
  if ((is_special(x) && is_exact) || (is_special(nearest) && isinf(value))) {
    if (!same_bits(y, nearest) && found->bad++ == 0) found->bad_at = bits;
    return;
  }
  if (found->function->flushes && nearest == 0) {
    if (!same_bits(y, nearest) && found->bad++ == 0) found->bad_at = bits;
    return;
  }
  found->wrong += !same_bits(y, nearest);
  if (is_special(y) && same_bits(y, nearest)) return;
  const double error = fabs((double)y - value) / place;
  if (!(error <= found->error)) {
    found->error = error;
    found->at = bits;
  }
}
static void *measure_part(void *argument) {
  finding *found = (finding *)argument;
  const measured_function *function = found->function;
  float x[2048], y[2048];
  uint64_t bits = found->first * found->step;
  while (bits >> 32 == 0) {
    size_t count = 0;
    for (; count < sizeof x / sizeof x[0] && bits >> 32 == 0;
         bits += THREADS * found->step)
      x[count++] = float_of((uint32_t)bits);
    if (!has_mode) (*function->array)(y, x, count);
    for (size_t i = 0; i < count; ++i)
      measure(found, x[i], has_mode ? called(function->function, x[i]) : y[i]);
  }
  return NULL;
}
static finding measure_all(int which, uint64_t step) {
  finding parts[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    memset(&parts[i], 0, sizeof parts[i]);
    parts[i].function = &functions[which];
    parts[i].reference = function_reference_named(functions[which].like);
    parts[i].first = (uint64_t)i;
    parts[i].step = step;
    if (pthread_create(&threads[i], NULL, measure_part, &parts[i])) abort();
  }
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
  finding all = parts[0];
  for (int i = 1; i < THREADS; ++i) {
    if (parts[i].error > all.error ||
        (parts[i].error == all.error && parts[i].at < all.at)) { /* NOLINT */
      all.error = parts[i].error;
      all.at = parts[i].at;
    }
    if (parts[i].bad && !all.bad) all.bad_at = parts[i].bad_at;
    all.wrong += parts[i].wrong;
    all.bad += parts[i].bad;
  }
  return all;
}

static int print(const finding *found) {
  printf("%s %.4f %08" PRIx32 " %" PRIu64 "\n", found->function->name, found->error,
         found->at, found->wrong);
  if (found->bad)
    printf("# %s: %" PRIu64 " special results are not exact, the first of %08" PRIx32
           "\n",
           found->function->name, found->bad, found->bad_at);
  fflush(stdout);
  return found->bad != 0;
}
/* NAME=BITS; 2 where that is no function or no number. */
static int measure_one(const char *argument) {
  for (int i = 0; i < FUNCTIONS; ++i) {
    const size_t length = strlen(functions[i].name);
    if (strncmp(argument, functions[i].name, length) != 0 || argument[length] != '=')
      continue;
    char *end;
    const unsigned long long bits = strtoull(argument + length + 1, &end, 16);
    if (end == argument + length + 1 || *end || bits >> 32) break;
    finding found;
    memset(&found, 0, sizeof found);
    found.function = &functions[i];
    found.reference = function_reference_named(functions[i].like);
    const float x = float_of((uint32_t)bits);
    measure(&found, x, called(functions[i].function, x));
    return print(&found);
  }
  fprintf(stderr, "function_errors: not NAME=BITS: %s\n", argument);
  return 2;
}

int main(int argc, char **argv) {
  const int is_single = argc > 1 && strchr(argv[1], '=');
  const uint64_t step = argc > 1 && !is_single ? strtoull(argv[1], NULL, 10) : 0;
  int status = 0;
  if (step == 0 && !is_single) {
    fprintf(
        stderr,
        "usage: function_errors STEP [NAME...]\n       function_errors NAME=BITS...\n");
    return 2;
  }
  const char *mode_name = getenv("MPNUM_TEST_MODE");
  if (mode_name && !set_mode(mode_name)) {
    fprintf(stderr, "function_errors: no such mode here\n");
    return 2;
  }
  start_function_references();
  for (int k = 1; k < argc && is_single && status < 2; ++k) {
    const int one = measure_one(argv[k]);
    status = one > status ? one : status;
  }
  for (int i = 0; i < FUNCTIONS && !is_single; ++i) {
    int is_wanted = argc == 2;
    for (int k = 2; k < argc; ++k)
      is_wanted |= strcmp(argv[k], functions[i].name) == 0;
    if (!is_wanted) continue;
    const finding found = measure_all(i, step);
    status |= print(&found);
  }
  end_function_references();
  return status;
}
