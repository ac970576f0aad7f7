/* SPDX-License-Identifier: MIT */
/* What the tests of arrays share: elements of any width in memory, read and written bit
 * by bit; inputs with what a scalar function makes of each; a property once for each
 * instruction set. */
#ifndef MPNUM_TESTS_ARRAY_CHECKS_H
#define MPNUM_TESTS_ARRAY_CHECKS_H

#include "array_functions.h"
#include "../reference/conversion_inputs.h"
#include "../harness/isas.h"
#include "../harness/tap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Runs a property for each instruction set, named by it; one that this machine or this
 * build has not is skipped in a line for the whole program. */
static inline void run_for_each_isa(const char *what, void (*property)(void)) {
  static int is_told[ISAS];
  const mpnum_isa before = isa_in_use();
  for (size_t i = 0; i < ISAS; ++i) {
    char name[160];
    const char *isa_name = mpnum_isa_name(isas[i]);
    snprintf(name, sizeof name, "%s %s", isa_name ? isa_name : "?", what);
    if (force_isa(isas[i]) == MPNUM_OK) {
      tap_run(name, property);
    } else if (!is_told[i]) {
      tap_skip(isa_name, "not on this machine or not in this build");
      is_told[i] = 1;
    }
  }
  force_isa(before);
}
#define RUN_FOR_EACH_ISA(property) run_for_each_isa(#property, property)

/* A random number between two, the next one of a sequence of this program. */
static inline double uniform(double from, double to) {
  static uint64_t state = 1;
  return from + (to - from) * (double)(random_bits(&state) >> 11) * 0x1p-53;
}

/* Bytes of n elements of bits each: two in a byte, four in three bytes. */
static inline size_t bytes_of(int bits, size_t n) {
  if (bits == 4) return (n + 1) / 2;
  if (bits == 6) return (n + 3) / 4 * 3;
  return n * (size_t)bits / 8;
}

static inline int is_little_endian(void) {
  const uint16_t one = 1;
  uint8_t first;
  memcpy(&first, &one, 1);
  return first;
}
/* Element i of an array is bits i * bits and up of its bytes, the lowest first; the bytes
 * of a wide one are in the order of the machine. */
static inline uint8_t *element_byte(int bits, uint8_t *array, size_t i, int bit) {
  const size_t at = i * (size_t)bits + (size_t)bit, size = (size_t)bits / 8;
  if (bits <= 8 || is_little_endian()) return array + at / 8;
  return array + i * size + size - 1 - (size_t)bit / 8;
}
static inline void set_element(int bits, void *array, size_t i, uint64_t word) {
  if (bits == 8) {
    ((uint8_t *)array)[i] = (uint8_t)word;
    return;
  }
  for (int bit = 0; bit < bits; bit += 2) { /* two bits never part */
    uint8_t *byte = element_byte(bits, (uint8_t *)array, i, bit);
    const size_t place = (i * (size_t)bits + (size_t)bit) % 8;
    *byte = (uint8_t)((*byte & ~(3u << place)) | (unsigned)(word >> bit & 3) << place);
  }
}
static inline uint64_t get_element(int bits, const void *array, size_t i) {
  uint64_t word = 0;
  for (int bit = 0; bit < bits; bit += 2) {
    uint8_t byte;
    const size_t at = i * (size_t)bits + (size_t)bit, size = (size_t)bits / 8;
    const size_t index =
        bits <= 8 || is_little_endian() ? at / 8 : i * size + size - 1 - (size_t)bit / 8;
    memcpy(&byte, (const uint8_t *)array + index, 1);
    word |= (uint64_t)((unsigned)byte >> at % 8 & 3u) << bit;
  }
  return word;
}

/* Source elements, and what they become, both as the bytes of an array. */
typedef struct expectation {
  uint8_t *src, *want, *got;
  size_t n;
} expectation;

static inline void *allocate(size_t size) {
  void *memory = calloc(size + 64, 1);
  if (!memory) abort();
  return memory;
}
static inline expectation allocate_expectation(int src_bits, int dst_bits, size_t n) {
  expectation made = {NULL, NULL, NULL, n};
  made.src = (uint8_t *)allocate(bytes_of(src_bits, n));
  made.want = (uint8_t *)allocate(bytes_of(dst_bits, n));
  made.got = (uint8_t *)allocate(bytes_of(dst_bits, n));
  return made;
}
static inline void free_expectation(expectation made) {
  free(made.src);
  free(made.want);
  free(made.got);
}

/* Whether count elements are as expected; the first that is not is reported. */
static inline int check_elements(const char *name, int src_bits, const void *src,
                                 int dst_bits, const void *got, const void *want,
                                 size_t count) {
  if (memcmp(got, want, bytes_of(dst_bits, count)) == 0) return 1;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t one = get_element(dst_bits, got, i);
    const uint64_t other = get_element(dst_bits, want, i);
    if (one == other) continue;
    CHECK(0, "%s: element %zu of %zu, %" PRIx64 ": got %" PRIx64 ", want %" PRIx64, name,
          i, count, get_element(src_bits, src, i), one, other);
    return 0;
  }
  CHECK(0, "%s: bits past the last of %zu elements are not 0", name, count);
  return 0;
}

/* The list of inputs for a conversion, as words; free(list.bits). From f32 and f64: where
 * rounding to the result's format turns, both signs, then any words at all. From narrower
 * types: every word, then words in any order. */
static inline input_list inputs_of(mpnum_type src, int src_bits, mpnum_type dst,
                                   uint32_t most_codes, size_t random_words) {
  const mpnum_type format = src == MPNUM_TYPE_TF32 ? src : dst;
  input_list f32 = {NULL, 0, 0}, f64 = {NULL, 0, 0}, list = {NULL, 0, 0};
  uint64_t state = (uint64_t)src * 16 + (uint64_t)dst;
  const uint64_t sign = (uint64_t)1 << (src_bits - 1);
  size_t i = 0;
  if (src_bits >= 32) {
    const mpnum_type near = format == MPNUM_TYPE_F64 ? MPNUM_TYPE_F32 : format;
    collect_inputs(ref_format_named(mpnum_type_name(near)), most_codes, &f32, &f64);
  }
  const input_list *points = src_bits == 64 ? &f64 : &f32;
  const size_t every = src_bits >= 32 ? 2 * points->count : (size_t)1 << src_bits;
  list.room = every + random_words;
  list.bits = (uint64_t *)allocate(list.room * sizeof *list.bits);
  for (; i < every; ++i)
    list.bits[i] = src_bits < 32 ? i : points->bits[i / 2] | (i % 2 ? sign : 0);
  for (; i < list.room; ++i)
    list.bits[i] = random_bits(&state) >> (64 - src_bits);
  list.count = list.room;
  free(f32.bits);
  free(f64.bits);
  return list;
}

/* Inputs of a function and what its scalar one makes of them. */
static inline expectation expect(const array_function *function, uint32_t most_codes,
                                 size_t random_words) {
  input_list list = inputs_of(function->src, function->src_bits, function->dst,
                              most_codes, random_words);
  expectation made =
      allocate_expectation(function->src_bits, function->dst_bits, list.count);
  for (size_t i = 0; i < list.count; ++i) {
    set_element(function->src_bits, made.src, i, list.bits[i]);
    set_element(function->dst_bits, made.want, i, function->scalar(list.bits[i]));
  }
  free(list.bits);
  return made;
}

#endif
