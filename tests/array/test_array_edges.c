/* SPDX-License-Identifier: MIT */
/* Where arrays lie: every length from 0 to 300 next to pages that cannot be touched,
 * every misalignment, in place, nowhere (NULL), with every instruction set. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */ /* NOLINT(bugprone-reserved-identifier) */
#include "array_checks.h"
#include "array_pages.h"

enum { LONGEST = 300, MARGIN = 64, MARK = 0x5c };

static guarded_pages src_pages, dst_pages;
static expectation *some; /* LONGEST elements for each function */

/* What a dense array of n elements ends with: codes past the last one are 0. */
static void want_of(const array_function *function, const expectation *made, size_t n,
                    uint8_t *want) {
  memcpy(want, made->want, bytes_of(function->dst_bits, n));
  for (size_t i = n; function->dst_bits < 8 && i % 4; ++i)
    if (bytes_of(function->dst_bits, i + 1) == bytes_of(function->dst_bits, n))
      set_element(function->dst_bits, want, i, 0);
}

/* Converts n elements at src to dst and looks at dst and the bytes beside it, as far as
 * these are in its pages. */
static void convert_between(const array_function *function, const expectation *made,
                            size_t n, uint8_t *src, uint8_t *dst) {
  uint8_t want[8 * LONGEST];
  const size_t src_size = bytes_of(function->src_bits, n);
  const size_t dst_size = bytes_of(function->dst_bits, n);
  uint8_t *before = dst - dst_pages.start < MARGIN ? dst_pages.start : dst - MARGIN;
  uint8_t *after = dst + dst_size;
  uint8_t *end = dst_pages.end - after < MARGIN ? dst_pages.end : after + MARGIN;
  want_of(function, made, n, want);
  memcpy(src, made->src, src_size);
  memset(before, MARK, (size_t)(end - before));
  function->convert(dst, src, n);
  check_elements(function->name, function->src_bits, src, function->dst_bits, dst, want,
                 n);
  for (; before < end; ++before) {
    if (before == dst) before = after;
    if (before == end) break;
    CHECK(*before == MARK, "%s: %zu elements, a byte %td from the start was written",
          function->name, n, before - dst);
  }
  CHECK(memcmp(src, made->src, src_size) == 0, "%s: the source was written",
        function->name);
}

static void every_length_stays_within_its_pages(void) {
  for (size_t i = 0; i < array_function_count; ++i) {
    const array_function *function = &array_functions[i];
    for (size_t n = 0; n <= LONGEST; ++n) {
      uint8_t *src_last = src_pages.end - bytes_of(function->src_bits, n);
      uint8_t *dst_last = dst_pages.end - bytes_of(function->dst_bits, n);
      convert_between(function, &some[i], n, src_last, dst_last);
      convert_between(function, &some[i], n, src_pages.start, dst_pages.start);
    }
  }
}

/* Of source and result, so that they differ. */
static void every_misalignment_gives_the_same(void) {
  static const size_t lengths[] = {1, 15, 64, 131, LONGEST};
  for (size_t i = 0; i < array_function_count; ++i)
    for (size_t at = 0; at < 64; ++at)
      for (size_t j = 0; j < sizeof lengths / sizeof lengths[0]; ++j)
        convert_between(&array_functions[i], &some[i], lengths[j],
                        src_pages.start + (at * 29 + 3) % 64, dst_pages.start + at);
}

static void one_array_may_be_source_and_result(void) {
  int functions = 0;
  for (size_t i = 0; i < array_function_count; ++i) {
    const array_function *function = &array_functions[i];
    if (function->src_bits != function->dst_bits) continue;
    ++functions;
    for (size_t n = 1; n <= LONGEST; ++n) {
      uint8_t *array = dst_pages.end - bytes_of(function->dst_bits, n);
      memcpy(array, some[i].src, bytes_of(function->src_bits, n));
      function->convert(array, array, n);
      check_elements(function->name, function->src_bits, some[i].src, function->dst_bits,
                     array, some[i].want, n);
    }
  }
  /* of conversions f32 to tf32 and back; of functions of arrays all */
  CHECK(functions == 3 || functions == (int)array_function_count, "%d functions",
        functions);
}

static void nothing_may_be_nowhere(void) {
  for (size_t i = 0; i < array_function_count; ++i)
    array_functions[i].convert(NULL, NULL, 0);
  for (size_t i = 0; i < stochastic_function_count; ++i)
    for (uint64_t offset = 0; offset < 5; ++offset)
      stochastic_functions[i].convert(NULL, NULL, 0, 1, offset);
}

/* The same for the functions that take types as arguments, of 64 to 8 bits. */
static void any_types_stay_within_their_pages(void) {
  static const mpnum_type types[] = {MPNUM_TYPE_F64, MPNUM_TYPE_F32, MPNUM_TYPE_F16,
                                     MPNUM_TYPE_E4M3};
  static const int bits[] = {64, 32, 16, 8};
  for (int i = 0; i < 16; ++i) {
    const int s = i / 4, d = i % 4;
    for (size_t n = 0; n <= LONGEST; ++n) {
      uint8_t *src = src_pages.end - bytes_of(bits[s], n);
      uint8_t *dst = dst_pages.end - bytes_of(bits[d], n);
      dst[-1] = MARK;
      memset(src, 0x42, bytes_of(bits[s], n));
      for (int mode = 0; mode <= MPNUM_ROUND_STOCHASTIC; mode += MPNUM_ROUND_STOCHASTIC)
        convert_array(types[d], dst, types[s], src, n, (mpnum_rounding)mode,
                      MPNUM_OVERFLOW_IEEE, 1, n);
      CHECK(dst[-1] == MARK, "%s to %s, %zu elements: wrote before the first",
            mpnum_type_name(types[s]), mpnum_type_name(types[d]), n);
    }
  }
}
static void stochastic_arrays_stay_within_their_pages(void) {
  for (size_t i = 0; i < stochastic_function_count; ++i) {
    const stochastic_function *function = &stochastic_functions[i];
    for (size_t n = 0; n <= LONGEST; ++n) {
      uint8_t *src = src_pages.end - bytes_of(32, n);
      uint8_t *dst = dst_pages.end - bytes_of(function->dst_bits, n);
      dst[-1] = MARK;
      function->convert(dst, src, n, 1, n);
      CHECK(dst[-1] == MARK, "%s, %zu elements", function->name, n);
      function->convert(dst_pages.start, src_pages.start, n, 1, n);
    }
  }
}

int main(void) {
  src_pages = map_guarded_pages(8 * LONGEST + 2 * MARGIN);
  dst_pages = map_guarded_pages(8 * LONGEST + 2 * MARGIN);
  some = (expectation *)allocate(array_function_count * sizeof *some);
  for (size_t i = 0; i < array_function_count; ++i)
    some[i] = expect_some(&array_functions[i], LONGEST);
  RUN_FOR_EACH_ISA(every_length_stays_within_its_pages);
  RUN_FOR_EACH_ISA(every_misalignment_gives_the_same);
  RUN_FOR_EACH_ISA(one_array_may_be_source_and_result);
  RUN_FOR_EACH_ISA(nothing_may_be_nowhere);
  RUN_FOR_EACH_ISA(any_types_stay_within_their_pages);
  RUN_FOR_EACH_ISA(stochastic_arrays_stay_within_their_pages);
  for (size_t i = 0; i < array_function_count; ++i)
    free_expectation(some[i]);
  free(some);
  unmap_guarded_pages(src_pages);
  unmap_guarded_pages(dst_pages);
  return tap_done();
}
