/* SPDX-License-Identifier: MIT */
/* Arrays larger than caches, whose results are stored past these, and an array of more
 * than 2^32 elements. Little memory is used: a source is one block mapped again and
 * again, so its result repeats, too. */
#define _GNU_SOURCE /* memfd_create */ /* NOLINT(bugprone-reserved-identifier) */
#include "array_checks.h"
#include "../harness/samples.h"

#include <sys/mman.h>
#include <unistd.h>

enum { BLOCK = 3 << 15 };                            /* bytes of source that repeat */
static const size_t result_bytes = (size_t)66 << 20; /* more than a last-level cache */

static uint8_t *result;

/* size bytes of addresses, filled with copies of one block that is shared memory; null
 * where that cannot be had. */
static uint8_t *map_repeated(size_t size, size_t block, uint8_t **first) {
  const int memory = memfd_create("block", 0);
  uint8_t *start = NULL;
  size_t at = 0;
  if (memory < 0) return NULL;
  if (ftruncate(memory, (off_t)block) == 0)
    start = (uint8_t *)mmap(NULL, size, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  for (; start && start != MAP_FAILED && at < size; at += block)
    if (mmap(start + at, block, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory,
             0) == MAP_FAILED)
      break;
  close(memory);
  if (!start || start == MAP_FAILED) return NULL;
  if (at < size) {
    munmap(start, size);
    return NULL;
  }
  *first = start;
  return start;
}

/* The result of a block, again and again; the last one is cut short. */
static void check_repeated(const array_function *function, const uint8_t *got,
                           const uint8_t *src, size_t period, size_t n) {
  const size_t period_bytes = bytes_of(function->dst_bits, period);
  uint8_t *want = (uint8_t *)allocate(period_bytes);
  for (size_t i = 0; i < period; ++i)
    set_element(function->dst_bits, want, i,
                function->scalar(get_element(function->src_bits, src, i)));
  for (size_t i = 0; i < n; i += period) {
    const size_t count = n - i < period ? n - i : period;
    if (!check_elements(function->name, function->src_bits, src, function->dst_bits,
                        got + bytes_of(function->dst_bits, i), want, count))
      break;
  }
  free(want);
}

static void convert_large(const array_function *function) {
  /* Not a whole number of vectors, but of dense groups. */
  const size_t n = result_bytes * 8 / (size_t)function->dst_bits / 4 * 4 - 12;
  const size_t source_bytes = bytes_of(function->src_bits, n);
  const size_t mapped = (source_bytes / BLOCK + 1) * BLOCK;
  uint8_t *first;
  uint8_t *src = map_repeated(mapped, BLOCK, &first);
  uint64_t state = n;
  if (!src) {
    CHECK(0, "%zu bytes cannot be mapped", mapped);
    return;
  }
  for (size_t i = 0; i < BLOCK; i += 4) {
    const uint32_t word = (uint32_t)(random_bits(&state) >> 32);
    memcpy(first + i, &word, 4);
  }
  for (size_t at = 0; at <= 40; at += 40) { /* on a cache line's boundary and off it */
    memset(result + at + bytes_of(function->dst_bits, n), 0xa5, 64);
    function->convert(result + at, src, n);
    check_repeated(function, result + at, first,
                   (size_t)BLOCK * 8 / (size_t)function->src_bits, n);
    CHECK(result[at + bytes_of(function->dst_bits, n)] == 0xa5, "%s wrote past the end",
          function->name);
  }
  munmap(src, mapped);
}

/* One function for each pair of sizes, and each way to store 16 bits. */
static void large_results_are_the_scalar_ones(void) {
  static const char *const names[] = {
      "mpnum_f32_to_tf32_array",       "mpnum_f32_to_bf16_array",
      "mpnum_f32_to_f16_sat_array",    "mpnum_f32_to_e4m3_sat_array",
      "mpnum_f32_to_e2m1x2_sat_array", "mpnum_bf16_to_e5m2_array",
      "mpnum_f16_to_e2m1x2_sat_array", "mpnum_f64_to_f32_array",
      "mpnum_f64_to_bf16_array",       "mpnum_f64_to_f16_array",
      "mpnum_f16_to_f32_array",        "mpnum_e5m2_to_f32_array",
      "mpnum_e2m1x2_to_f32_array",     "mpnum_f32_to_e3m2x4_sat_array"};
  size_t found = 0;
  if (isa_in_use() == MPNUM_ISA_SCALAR) {
    tap_skip_reason = "scalar loops do not depend on the length";
    return;
  }
  for (size_t i = 0; i < array_function_count; ++i)
    for (size_t j = 0; j < sizeof names / sizeof names[0]; ++j) {
      if (strcmp(names[j], array_functions[i].name) != 0) continue;
      convert_large(&array_functions[i]);
      ++found;
    }
  CHECK(found == sizeof names / sizeof names[0], "%zu functions found", found);
}

/* 2^32 + 77 floats to e4m3: 16 GiB and 4 GiB of addresses. The floats are 0 but for the
 * first of each block and the last elements, which lie in a block of their own. */
enum { MANY_BLOCK = 1 << 25, REST = 77 };

static void check_many(const uint8_t *got, size_t n, const uint8_t *want) {
  size_t at = n - REST, wrong = 0;
  for (; at < n; ++at)
    wrong += got[at] != want[at - (n - REST)];
  CHECK(wrong == 0, "%zu of the last elements are wrong", wrong);
  CHECK(got[n] == 0xa5, "the element past the last one was written");
  CHECK(got[0] == 0x38 && got[1] == 0, "first elements %02x %02x", got[0], got[1]);
  CHECK(got[n - REST - 1] == 0, "element %02x before the last", got[n - REST - 1]);
}

static void more_than_2_to_32_elements_are_converted(void) {
  const size_t whole = (size_t)1 << 32, n = whole + REST, one_block = MANY_BLOCK;
  uint8_t want[REST], *source_first, *result_first;
  uint8_t *src = map_repeated(4 * whole + one_block, one_block, &source_first);
  uint8_t *dst = map_repeated(whole + one_block, one_block, &result_first);
  if (!src || !dst) {
    tap_skip_reason = "20 GiB of addresses cannot be mapped";
    return;
  }
  /* Blocks of their own for what lies past 2^32. */
  float *last = (float *)mmap(src + 4 * whole, one_block, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  uint8_t *end = (uint8_t *)mmap(dst + whole, one_block, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if ((void *)last == MAP_FAILED || end == MAP_FAILED) abort();
  *(float *)(void *)source_first = 1.0f; /* 38 */
  memset(end, 0xa5, 2 * REST);
  for (size_t i = 0; i < REST; ++i) {
    last[i] = (float)(i % 2 ? 2 : 448);
    want[i] = i % 2 ? 0x40 : 0x7e;
  }
  for (size_t i = 0; i < array_function_count; ++i)
    if (strcmp(array_functions[i].name, "mpnum_f32_to_e4m3_sat_array") == 0)
      array_functions[i].convert(dst, src, n);
  check_many(dst, n, want);
  munmap(src, 4 * whole + one_block);
  munmap(dst, whole + one_block);
}

int main(int argc, char **argv) {
  read_arguments(argc, argv);
  result = (uint8_t *)mmap(NULL, result_bytes + 4096, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (result == MAP_FAILED) abort();
  RUN_FOR_EACH_ISA(large_results_are_the_scalar_ones);
  if (takes_all && sizeof(size_t) > 4)
    TAP_RUN(more_than_2_to_32_elements_are_converted);
  else if (takes_all)
    TAP_SKIP("more_than_2_to_32_elements_are_converted", "addresses have 32 bits");
  munmap(result, result_bytes + 4096);
  return tap_done();
}
