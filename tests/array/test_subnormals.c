/* SPDX-License-Identifier: MIT */
/* Functions of f32 arrays take no longer for some data: tests/harness/data_sets.h. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "../harness/data_sets.h"

#include <mpnum/func/light.h>

enum { ELEMENTS = 4096, FEWEST = 256 };
typedef void array_of_one(float *dst, const float *src, size_t n);
typedef struct function {
  const char *name;
  array_of_one *run;
  float (*scalar)(float x);
  int flushes;
} function;
#define ONE(name, ...) \
 static float scalar_##name(float x) { return mpnum_##name##_f32(x); }
MPNUM_FUNCTION_ROWS_(ONE)
#define ONE_LIGHT(name) ONE(name##_light, )
MPNUM_LIGHT_ROWS_(ONE_LIGHT)
#undef ONE_LIGHT
#undef ONE
#define ONE(name, NAME, forms, light, f16_ties, bf16_ties, flushes) \
 {#name, mpnum_##name##_f32_array, scalar_##name, flushes},
#define ONE_LIGHT(name) \
 {#name "_light", mpnum_##name##_light_f32_array, scalar_##name##_light, 1},
static const function functions[] = {MPNUM_FUNCTION_ROWS_(ONE)
                                         MPNUM_LIGHT_ROWS_(ONE_LIGHT)};
#undef ONE_LIGHT
#undef ONE
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static float x[ELEMENTS], got[ELEMENTS], want[ELEMENTS], b[ELEMENTS];
static array_of_one *run;
static size_t count;
static void one_array(void) { run(got, x, count); }
static int array_traps(array_of_one *function_of_array, size_t n) {
  run = function_of_array;
  count = n;
  return traps(one_array);
}

static void check_set(const function *one, data set, mpnum_isa isa) {
  if (!one->flushes) return;
  state = 2 + (uint64_t)set;
  for (int i = 0; i < ELEMENTS; ++i) {
    x[i] = element_of(set);
    want[i] = one->scalar(x[i]);
  }
  CHECK(!array_traps(one->run, ELEMENTS), "%s traps with %s of %s", one->name,
        mpnum_isa_name(isa), data_names[set]);
  CHECK(memcmp(got, want, sizeof got) == 0, "%s gives other bits with %s of %s",
        one->name, mpnum_isa_name(isa), data_names[set]);
  /* the fewest that are flushed */
  CHECK(!array_traps(one->run, FEWEST), "%s of %d traps with %s of %s", one->name, FEWEST,
        mpnum_isa_name(isa), data_names[set]);
}
static void check_functions(mpnum_isa isa) {
  for (int f = 0; f < FUNCTIONS; ++f)
    for (int set = NORMAL; set < DATA; ++set)
      check_set(&functions[f], (data)set, isa);
}
static void no_data_set_makes_a_function_trap(void) {
  for_each_isa(MPNUM_ISA_SSE2, check_functions);
}
/* What shows that the exceptions are unmasked, with an instruction set that raises them.
 */
static void logaddexp_with_b(float *dst, const float *src, size_t n) {
  mpnum_logaddexp_f32_array(dst, src, b, n);
}
static void what_is_not_flushed_traps(void) {
  const mpnum_isa best = mpnum_isa_in_use();
  CHECK(mpnum_isa_force(MPNUM_ISA_SSE2) == MPNUM_OK, "no SSE2");
  for (int i = 0; i < ELEMENTS; ++i)
    x[i] = -100.0f; /* e^x is subnormal */
  CHECK(array_traps(mpnum_exp_f32_array, FEWEST - 1), "exp of %d does not trap",
        FEWEST - 1);
  CHECK(!array_traps(mpnum_exp_f32_array, FEWEST), "exp of %d traps", FEWEST);
  for (int i = 0; i < ELEMENTS; ++i) {
    x[i] = mpnum_from_bits_f32(3);
    b[i] = 0;
  }
  CHECK(array_traps(logaddexp_with_b, ELEMENTS), "logaddexp of subnormals does not trap");
  CHECK(mpnum_isa_force(best) == MPNUM_OK, "%s is gone", mpnum_isa_name(best));
}

int main(void) {
  traps_are_caught();
  RUN_WHERE_FLUSHED(no_data_set_makes_a_function_trap);
  RUN_WHERE_FLUSHED(what_is_not_flushed_traps);
  return tap_done();
}
