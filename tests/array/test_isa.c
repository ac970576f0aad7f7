/* SPDX-License-Identifier: MIT */
/* Which instruction set is used: the best that the system says the CPU has, or the one
 * that was forced, of those that this CPU and this build have; found by any number of
 * threads at once. */
#include <mpnum/array/array.h>

#include "../harness/isas.h"
#include "../harness/tap.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

static const struct {
  mpnum_isa isa;
  const char *name;
} sets[] = {
#define SET(NAME, name, flags) {MPNUM_ISA_##NAME, name},
    ALL_ISAS(SET)};
enum { SETS = sizeof sets / sizeof sets[0] };

/* Before any other call of the library: the CPU is asked by these threads. */
enum { THREADS = 8, ELEMENTS = 1000 };
typedef struct first_call {
  mpnum_isa isa;
  mpnum_e4m3 codes[ELEMENTS];
} first_call;
static first_call calls[THREADS];
static float floats[ELEMENTS];
static int may_start;

static void *call_first(void *argument) {
  first_call *call = (first_call *)argument;
  while (!__atomic_load_n(&may_start, __ATOMIC_ACQUIRE)) {
  }
  mpnum_f32_to_e4m3_array(call->codes, floats, ELEMENTS);
  call->isa = mpnum_isa_in_use();
  return NULL;
}
static void threads_may_call_first_at_once(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < ELEMENTS; ++i)
    floats[i] = (float)(i - 500);
  for (int i = 0; i < THREADS; ++i)
    if (pthread_create(&threads[i], NULL, call_first, &calls[i])) {
      CHECK(0, "thread %d cannot be started", i);
      return;
    }
  __atomic_store_n(&may_start, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; ++i) {
    CHECK(calls[i].isa == mpnum_isa_in_use(), "thread %d used %d", i, (int)calls[i].isa);
    for (int j = 0; j < ELEMENTS; ++j)
      CHECK(calls[i].codes[j].bits == mpnum_f32_to_e4m3(floats[j]).bits,
            "thread %d, element %d", i, j);
  }
}

static void each_isa_has_its_name(void) {
  for (int i = 0; i < SETS; ++i)
    CHECK(strcmp(mpnum_isa_name(sets[i].isa), sets[i].name) == 0, "%s", sets[i].name);
  CHECK(mpnum_isa_name((mpnum_isa)SETS) == NULL, "%d has a name", (int)SETS);
  CHECK(mpnum_isa_name((mpnum_isa)-1) == NULL, "-1 has a name");
}

static void the_forced_set_is_in_use(void) {
  const mpnum_isa best = mpnum_isa_in_use();
  int accepted = 0;
  for (int i = 0; i < SETS; ++i) {
    const mpnum_isa before = mpnum_isa_in_use();
    const mpnum_status status = mpnum_isa_force(sets[i].isa);
    CHECK(status == MPNUM_OK || status == MPNUM_ERROR_ARGUMENT, "status %d", (int)status);
    CHECK(mpnum_isa_in_use() == (status == MPNUM_OK ? sets[i].isa : before),
          "%s: in use %d", sets[i].name, (int)mpnum_isa_in_use());
    accepted += status == MPNUM_OK;
  }
  CHECK(accepted > 0 && mpnum_isa_force(best) == MPNUM_OK, "the best is refused");
}

static void other_sets_are_refused(void) {
  static const int unknown[] = {SETS, SETS + 1, 100, -1};
  static const mpnum_isa elsewhere[] = {ISAS_ELSEWHERE(ISA_VALUE)};
  const mpnum_isa before = mpnum_isa_in_use();
  for (int i = 0; i < 4; ++i)
    CHECK(mpnum_isa_force((mpnum_isa)unknown[i]) == MPNUM_ERROR_ARGUMENT, "%d",
          unknown[i]);
  for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; ++i)
    CHECK(mpnum_isa_force(elsewhere[i]) == MPNUM_ERROR_ARGUMENT, "%s elsewhere",
          mpnum_isa_name(elsewhere[i]));
  CHECK(mpnum_isa_in_use() == before, "something else is in use");
}

#if defined(__x86_64__) && !MPNUM_NO_SIMD && !MPNUM_NO_DISPATCH
/* The flags that Linux lists for the CPU, framed by spaces; "" where it lists none. */
static const char *cpu_flags(void) {
  static char line[16384];
  FILE *from = fopen("/proc/cpuinfo", "r");
  char *end;
  while (from && fgets(line, sizeof line, from)) {
    if (strncmp(line, "flags", 5) != 0) continue;
    fclose(from);
    end = strchr(line, '\n');
    if (end) *end = ' ';
    return line;
  }
  if (from) fclose(from);
  return "";
}
/* Whether each of the names, with a space between them, is a flag. */
static int has_flags(const char *flags, const char *names) {
  while (*names) {
    char framed[40];
    const int length = (int)strcspn(names, " ");
    snprintf(framed, sizeof framed, " %.*s ", length, names);
    if (!strstr(flags, framed)) return 0;
    names += length + (names[length] == ' ');
  }
  return 1;
}
static void the_best_set_of_the_cpu_is_in_use(void) {
# define FLAGS(NAME, name, flags) flags,
  static const char *const needs[] = {"", ISAS_HERE(FLAGS)};
  int place = 0;
  const char *flags = cpu_flags();
  if (!flags[0]) {
    tap_skip_reason = "the system does not list the flags of its CPU";
    return;
  }
  while (place + 1 < ISAS && has_flags(flags, needs[place + 1]))
    ++place;
  const mpnum_isa best = isas[place];
  CHECK(mpnum_isa_in_use() == best, "in use: %s, best: %s",
        mpnum_isa_name(mpnum_isa_in_use()), mpnum_isa_name(best));
  for (int i = 0; i < ISAS; ++i)
    CHECK(mpnum_isa_force(isas[i]) == (i <= place ? MPNUM_OK : MPNUM_ERROR_ARGUMENT),
          "%s", mpnum_isa_name(isas[i]));
  CHECK(mpnum_isa_in_use() == best && mpnum_isa_force(best) == MPNUM_OK, "best");
}
#else
/* One set, that of the compiler's flags. */
static void the_best_set_of_the_cpu_is_in_use(void) {
  CHECK(mpnum_isa_in_use() == ISA_OF_FLAGS, "%d", (int)mpnum_isa_in_use());
}
#endif

/* By the definition: up to 65536, which would follow the largest. */
static double f16_value(int code) {
  return code < 0x400 ? ldexp(code, -24) : ldexp(1024 + code % 1024, code / 1024 - 25);
}
static void f16_is_rounded_to_nearest_even_and_widened(void) {
  enum { CODES = 0x7c00 };
  static float values[CODES], halves[CODES], nearly[CODES], above[CODES], back[65536];
  static mpnum_f16 codes[65536];
  for (int i = 0; i < 65536; ++i)
    codes[i].bits = (uint16_t)i;
  mpnum_f16_to_f32_array(back, codes, 65536);
  for (int i = 0; i < CODES; ++i) {
    values[i] = (float)f16_value(i);
    halves[i] = (float)((f16_value(i) + f16_value(i + 1)) / 2);
    nearly[i] = nextafterf(halves[i], 0);
    above[i] = nextafterf(halves[i], 1e30f);
    CHECK(mpnum_bits_f32(back[i]) == mpnum_bits_f32(values[i]), "%04x", (unsigned)i);
    CHECK(mpnum_bits_f32(back[0x8000 + i]) == (mpnum_bits_f32(values[i]) | 0x80000000u),
          "-%04x", (unsigned)i);
  }
  for (int i = 0x7c00; i < 0x8000; ++i) /* Inf, then NaN */
    CHECK(mpnum_bits_f32(back[i]) == (i == 0x7c00 ? 0x7f800000u : 0x7fffffffu), "%04x",
          (unsigned)i);
  const struct {
    const float *src;
    int up_if; /* by the last bit of the code below: bit 0 even, bit 1 odd */
  } rows[] = {{values, 0}, {nearly, 0}, {halves, 2}, {above, 3}};
  for (int row = 0; row < 4; ++row) {
    mpnum_f32_to_f16_array(codes, rows[row].src, CODES);
    for (int i = 0; i < CODES; ++i)
      CHECK(codes[i].bits == i + (rows[row].up_if >> i % 2 & 1),
            "row %d, code %04x: %04x", row, (unsigned)i, (unsigned)codes[i].bits);
  }
}

int main(void) {
  TAP_RUN(threads_may_call_first_at_once);
  TAP_RUN(the_best_set_of_the_cpu_is_in_use);
  TAP_RUN(each_isa_has_its_name);
  TAP_RUN(the_forced_set_is_in_use);
  TAP_RUN(other_sets_are_refused);
  TAP_RUN(f16_is_rounded_to_nearest_even_and_widened);
  return tap_done();
}
