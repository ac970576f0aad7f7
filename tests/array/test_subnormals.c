/* SPDX-License-Identifier: MIT */
/* Functions of f32 arrays take no longer for some data: their loops never carry out an
 * operation on a subnormal, or with one as its result, which costs CPUs of Intel some 150
 * cycles. Without a clock: in this build the loops run with the exceptions of both
 * unmasked, so that such an operation traps, unless subnormals are flushed to zero. Steps
 * of AVX-512 suppress exceptions: of its loops, which run in the same environment, the
 * bits are compared. */
#define _GNU_SOURCE                   /* NOLINT(bugprone-reserved-identifier) */
#define MPNUM_MXCSR_USUAL_    0x1680u /* subnormal operands and underflow trap */
#define MPNUM_MXCSR_FLUSHING_ 0x9ec0u /* FTZ, DAZ; subnormal operands would trap */
#include "../harness/control_word.h"
#include "../harness/isas.h"
#include "../harness/tap.h"

#include <mpnum/func/func_array.h>

#include <setjmp.h>
#include <signal.h>
#include <string.h>

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
#undef ONE
#define ONE(name, NAME, forms, light, f16_ties, bf16_ties, flushes) \
 {#name, mpnum_##name##_f32_array, scalar_##name, flushes},
static const function functions[] = {MPNUM_FUNCTION_ROWS_(ONE)};
#undef ONE
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static float x[ELEMENTS], got[ELEMENTS], want[ELEMENTS], b[ELEMENTS];
static uint64_t state;
static uint32_t random32(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 32);
}
/* About a normal distribution. */
static float usual(void) {
  float sum = 0;
  for (int i = 0; i < 6; ++i)
    sum += (float)(random32() >> 8) * 0x1p-24f - 0.5f;
  return 1.4f * sum;
}

typedef enum data { NORMAL, SUBNORMAL, TINY, HUGE_, ZEROS, SPECIAL, BITS, DATA } data;
static const char *const data_names[] = {"normal", "subnormal", "tiny", "huge",
                                         "zeros",  "special",   "bits"};
/* A quarter of the set's own values, one in a hundred of Inf and NaN, among usual ones.
 */
static float element_of(data set) {
  const float value = usual();
  const uint32_t word = random32(), sign = word & 0x80000000u;
  switch (set) {
  case SUBNORMAL: return word % 4 ? value : mpnum_from_bits_f32(random32() & 0x807fffffu);
  case TINY: return word % 4 ? value : value * 0x1p-16f;
  case HUGE_: return word % 4 ? value : value * 0x1p20f;
  case ZEROS: return word % 4 ? value : mpnum_from_bits_f32(sign);
  case SPECIAL:
    return word % 100
               ? value
               : mpnum_from_bits_f32(sign | (word & 64 ? 0x7f800000u : 0x7fc00000u));
  case BITS: return mpnum_from_bits_f32(word);
  default: return value;
  }
}

static sigjmp_buf back;
static void on_trap(int signal_number) {
  (void)signal_number;
  siglongjmp(back, 1);
}
/* Whether a call trapped. */
static int traps(array_of_one *run, size_t n) {
  array_of_one *volatile call = run;
  const uint64_t before = control_word();
  volatile int trapped = 1;
  if (sigsetjmp(back, 1) == 0) {
    call(got, x, n);
    trapped = 0;
  }
  set_control_word(before);
  return trapped;
}

static void check_set(const function *one, data set, mpnum_isa isa) {
  if (!one->flushes) return;
  state = 2 + (uint64_t)set;
  for (int i = 0; i < ELEMENTS; ++i) {
    x[i] = element_of(set);
    want[i] = one->scalar(x[i]);
  }
  CHECK(!traps(one->run, ELEMENTS), "%s traps with %s of %s", one->name,
        mpnum_isa_name(isa), data_names[set]);
  CHECK(memcmp(got, want, sizeof got) == 0, "%s gives other bits with %s of %s",
        one->name, mpnum_isa_name(isa), data_names[set]);
  /* the fewest that are flushed */
  CHECK(!traps(one->run, FEWEST), "%s of %d traps with %s of %s", one->name, FEWEST,
        mpnum_isa_name(isa), data_names[set]);
}
static void no_data_set_makes_a_function_trap(void) {
  const mpnum_isa best = mpnum_isa_in_use();
  for (int k = 0; k < ISAS; ++k) {
    if (isas[k] == MPNUM_ISA_SCALAR || mpnum_isa_force(isas[k]) != MPNUM_OK) continue;
    for (int f = 0; f < FUNCTIONS; ++f)
      for (int set = NORMAL; set < DATA; ++set)
        check_set(&functions[f], (data)set, isas[k]);
  }
  CHECK(mpnum_isa_force(best) == MPNUM_OK, "%s is gone", mpnum_isa_name(best));
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
  CHECK(traps(mpnum_exp_f32_array, FEWEST - 1), "exp of %d does not trap", FEWEST - 1);
  CHECK(!traps(mpnum_exp_f32_array, FEWEST), "exp of %d traps", FEWEST);
  for (int i = 0; i < ELEMENTS; ++i) {
    x[i] = mpnum_from_bits_f32(3);
    b[i] = 0;
  }
  CHECK(traps(logaddexp_with_b, ELEMENTS), "logaddexp of subnormals does not trap");
  CHECK(mpnum_isa_force(best) == MPNUM_OK, "%s is gone", mpnum_isa_name(best));
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_trap;
  sigaction(SIGFPE, &action, NULL);
#if defined(__x86_64__) && MPNUM_HAS_X86_SIMD_
  TAP_RUN(no_data_set_makes_a_function_trap);
  TAP_RUN(what_is_not_flushed_traps);
#else
  (void)no_data_set_makes_a_function_trap;
  (void)what_is_not_flushed_traps;
  TAP_SKIP("no_data_set_makes_a_function_trap", "loops are flushed on x86 alone");
#endif
  return tap_done();
}
