/* SPDX-License-Identifier: MIT */
/* Every float through one array function, with every instruction set, against the scalar
 * function:
 *
 *   sweep_array TYPE plain|sat [--stride N]
 *
 * A block of consecutive floats is converted by the scalar function once and by each
 * instruction set. --stride N takes every Nth block. */
#include <mpnum/array/array.h>

#include "../harness/must.h"
#include "../harness/isas.h"
#include "../harness/tap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 14 };

typedef struct conversion {
  const char *name;
  size_t size; /* of a result */
  void (*array)(void *dst, const float *src, size_t n);
  void (*scalar)(void *dst, const float *src, size_t n);
} conversion;

#define CONVERSION(name, suffix)                                            \
 static void array_##name##suffix(void *dst, const float *src, size_t n) {  \
  mpnum_f32_to_##name##suffix##_array((mpnum_##name *)dst, src, n);         \
 }                                                                          \
 static void scalar_##name##suffix(void *dst, const float *src, size_t n) { \
  for (size_t i = 0; i < n; ++i)                                            \
   ((mpnum_##name *)dst)[i] = mpnum_f32_to_##name##suffix(src[i]);          \
 }
#define mpnum_f32_to_e2m1_sat_array(dst, src, n)                        \
 must(mpnum_convert_array(MPNUM_TYPE_E2M1, dst, MPNUM_TYPE_F32, src, n, \
                          MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0, 0))
/* clang-format off */
CONVERSION(tf32, ) CONVERSION(bf16, ) CONVERSION(f16, ) CONVERSION(e5m2, )
CONVERSION(e4m3, ) CONVERSION(e8m0, )
CONVERSION(tf32, _sat) CONVERSION(bf16, _sat) CONVERSION(f16, _sat)
CONVERSION(e5m2, _sat) CONVERSION(e4m3, _sat) CONVERSION(e8m0, _sat)
CONVERSION(e2m1, _sat)
#define ROW(name, suffix) \
 {#name #suffix, sizeof(mpnum_##name), array_##name##suffix, scalar_##name##suffix}
static const conversion conversions[] = {
  ROW(tf32, ), ROW(bf16, ), ROW(f16, ), ROW(e5m2, ), ROW(e4m3, ), ROW(e8m0, ),
  ROW(tf32, _sat), ROW(bf16, _sat), ROW(f16, _sat), ROW(e5m2, _sat), ROW(e4m3, _sat),
  ROW(e8m0, _sat), ROW(e2m1, _sat)};
/* clang-format on */

static const conversion *tested;
static uint32_t stride = 1;

/* What an instruction set gave. */
typedef struct tally {
  mpnum_isa isa;
  int runs; /* this machine and this build have it */
  uint64_t floats, wrong;
  uint32_t source, got, want; /* of the first wrong one */
} tally;
static tally tallies[ISAS]; /* the first, the scalar one, is not used */

static uint32_t src[BLOCK], wanted[BLOCK], got[BLOCK];

/* A result as it lies in memory, whatever the order of its bytes. */
static uint32_t result_at(const void *array, size_t i) {
  uint8_t bytes[4] = {0};
  uint32_t word;
  memcpy(bytes, (const uint8_t *)array + i * tested->size, tested->size);
  memcpy(&word, bytes, 4);
  return word;
}

static void compare(tally *set) {
  set->floats += BLOCK;
  if (memcmp(got, wanted, BLOCK * tested->size) == 0) return;
  for (size_t i = 0; i < BLOCK; ++i) {
    if (result_at(got, i) == result_at(wanted, i)) continue;
    if (set->wrong++) continue;
    set->source = src[i];
    set->got = result_at(got, i);
    set->want = result_at(wanted, i);
  }
}

static void sweep(void) {
  const float *floats = (const float *)(const void *)src;
  for (uint32_t block = 0; block < (UINT64_C(1) << 32) / BLOCK; block += stride) {
    for (uint32_t i = 0; i < BLOCK; ++i)
      src[i] = block * BLOCK + i;
    tested->scalar(wanted, floats, BLOCK);
    for (size_t i = 1; i < ISAS; ++i) {
      if (!tallies[i].runs) continue;
      memset(got, 0xa5, BLOCK * tested->size);
      must(mpnum_isa_force(tallies[i].isa));
      tested->array(got, floats, BLOCK);
      compare(&tallies[i]);
    }
  }
}

static const tally *reported;
static void every_float_is_as_the_scalar_function(void) {
  const uint64_t blocks = ((UINT64_C(1) << 32) / BLOCK - 1) / stride + 1;
  CHECK(reported->wrong == 0,
        "%" PRIu64 " floats, the first %08" PRIx32 ": got %" PRIx32 ", want %" PRIx32,
        reported->wrong, reported->source, reported->got, reported->want);
  CHECK(reported->floats == blocks * BLOCK, "%" PRIu64 " floats", reported->floats);
}

static int usage(void) {
  fprintf(stderr, "usage: sweep_array TYPE plain|sat [--stride N]\n");
  return 2;
}

static int parse(int count, char **arguments) {
  char name[40];
  if (count != 3 && count != 5) return 0;
  snprintf(name, sizeof name, "%.20s%s", arguments[1],
           strcmp(arguments[2], "sat") == 0 ? "_sat" : "");
  if (count == 5 && strcmp(arguments[3], "--stride") == 0)
    stride = (uint32_t)strtoul(arguments[4], NULL, 10);
  for (size_t i = 0; i < sizeof conversions / sizeof conversions[0]; ++i)
    if (strcmp(name, conversions[i].name) == 0) tested = &conversions[i];
  return tested && stride > 0;
}

int main(int count, char **arguments) {
  if (!parse(count, arguments)) return usage();
  for (size_t i = 1; i < ISAS; ++i)
    tallies[i].isa = isas[i];
  for (size_t i = 1; i < ISAS; ++i)
    tallies[i].runs = mpnum_isa_force(tallies[i].isa) == MPNUM_OK;
  sweep();
  for (size_t i = 1; i < ISAS; ++i) {
    char name[80];
    reported = &tallies[i];
    snprintf(name, sizeof name, "%s every_float_is_as_the_scalar_function",
             mpnum_isa_name(reported->isa));
    if (reported->runs) {
      tap_run(name, every_float_is_as_the_scalar_function);
    } else {
      tap_skip(name, "not on this machine or not in this build");
    }
  }
  return tap_done();
}
