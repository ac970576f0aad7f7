/* SPDX-License-Identifier: MIT */
/* What the tests of rows share: views with strides; calls whose arrays lie between pages
 * that cannot be touched or at odd addresses; calls in every floating-point environment.
 * Include it after _GNU_SOURCE is defined. */
#ifndef MPNUM_TESTS_ROW_CHECKS_H
#define MPNUM_TESTS_ROW_CHECKS_H

#include "../array/array_checks.h"
#include "../array/array_pages.h"
#include "../harness/control_word.h"

#include <mpnum/array/matrix.h>

#include <setjmp.h>
#include <signal.h>

static inline mpnum_matrix dst_rows(mpnum_type type, void *data, size_t rows,
                                    size_t columns, size_t stride) {
  mpnum_matrix made = mpnum_matrix_of(type, data, rows, columns);
  made.stride = stride;
  return made;
}
static inline mpnum_const_matrix src_rows(mpnum_type type, const void *data, size_t rows,
                                          size_t columns, size_t stride) {
  mpnum_const_matrix made = mpnum_const_matrix_of(type, data, rows, columns);
  made.stride = stride;
  return made;
}
static inline size_t size_of(mpnum_type type) {
  return type == MPNUM_TYPE_F32                              ? 4
         : type == MPNUM_TYPE_F16 || type == MPNUM_TYPE_BF16 ? 2
                                                             : 1;
}
static const mpnum_type row_types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16,
                                       MPNUM_TYPE_E5M2, MPNUM_TYPE_E4M3};

/* The arrays of a call, each in pages of its own: before the end of these, after their
 * start, or one byte further, but for words that the library reads as such. */
typedef enum row_place { IN_THE_MIDDLE, BEFORE_END, AFTER_START, ODD, PLACES } row_place;
enum { ROW_ARRAYS = 10, ARRAY_BYTES = 1 << 17, MARKED = 0x5c };
typedef struct row_array {
  guarded_pages pages;
  uint8_t *data;
  size_t bytes;
} row_array;
static row_array row_arrays[ROW_ARRAYS];
static int row_arrays_used;
static row_place row_place_used;

static inline uint8_t *array_of_row(size_t bytes, int is_of_words) {
  row_array *array = &row_arrays[row_arrays_used++];
  if (row_arrays_used > ROW_ARRAYS || bytes > ARRAY_BYTES) abort();
  if (!array->pages.start) array->pages = map_guarded_pages(ARRAY_BYTES + 256);
  array->bytes = bytes;
  array->data = array->pages.start + 64;
  if (row_place_used == BEFORE_END) array->data = array->pages.end - bytes;
  if (row_place_used == AFTER_START) array->data = array->pages.start;
  if (row_place_used == ODD) array->data = array->pages.start + !is_of_words;
  return array->data;
}
static inline void *input_row(const void *contents, size_t bytes) {
  return memcpy(array_of_row(bytes, 0), contents, bytes);
}
static inline void *input_words(const void *contents, size_t bytes) {
  return memcpy(array_of_row(bytes, 1), contents, bytes);
}
static inline void *output_row(size_t bytes) {
  return memset(array_of_row(bytes, 0), MARKED, bytes);
}
static inline void *output_words(size_t bytes) {
  return memset(array_of_row(bytes, 1), MARKED, bytes);
}

/* Makes call number i and returns its status; what the arrays then hold, the inputs, too,
 * are its results. Carries out no arithmetic of floats. */
typedef mpnum_status row_call(int i);
typedef struct row_results {
  uint8_t bytes[ROW_ARRAYS * ARRAY_BYTES];
  size_t size;
} row_results;
static inline void results_of_call(row_results *results, row_call *call, int i,
                                   row_place where) {
  row_call *volatile called = call;
  mpnum_status status = MPNUM_OK;
  row_arrays_used = 0;
  row_place_used = where;
  status = called(i);
  results->bytes[0] = (uint8_t)status;
  results->size = 1;
  for (int k = 0; k < row_arrays_used; ++k) {
    memcpy(results->bytes + results->size, row_arrays[k].data, row_arrays[k].bytes);
    results->size += row_arrays[k].bytes;
  }
}
static inline int are_same(const row_results *a, const row_results *b) {
  return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}
static row_results row_want, row_got;

/* A page beside an array is a fault, so all this says is that results are the same. */
static inline void check_places(row_call *call, int calls) {
  for (int i = 0; i < calls; ++i) {
    results_of_call(&row_want, call, i, IN_THE_MIDDLE);
    CHECK(row_want.bytes[0] == MPNUM_OK, "call %d: status %d", i, row_want.bytes[0]);
    for (int where = BEFORE_END; where < PLACES; ++where) {
      results_of_call(&row_got, call, i, (row_place)where);
      CHECK(are_same(&row_got, &row_want), "call %d: other results in place %d", i,
            where);
    }
  }
}

static sigjmp_buf row_trapped;
static inline void on_row_trap(int number) { siglongjmp(row_trapped, number); }

/* Rounding modes, with and without subnormals flushed; where every exception traps, where
 * results or operands alone are flushed, after every exception. */
static inline int row_words(uint64_t *words) {
  static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  int count = 0;
  for (int k = 0; k < 4; ++k) {
    words[count++] = control_word_of(modes[k]);
    if (FLUSHES) words[count++] = control_word_of(modes[k]) | FLUSHES;
  }
#if defined(__x86_64__)
  words[count++] = control_word_of(FE_TONEAREST) & ~UINT64_C(0x1f80);
  words[count++] = 0x9f80;
  words[count++] = 0x1fc0;
  words[count++] = control_word_of(FE_UPWARD) | 0x3f;
#endif
  return count;
}
static inline void check_environments(row_call *call, int calls) {
  static uint64_t words[12];
  static volatile int i, k; /* which a jump leaves as they are */
  const int count = row_words(words);
  const uint64_t before = control_word();
  signal(SIGFPE, on_row_trap);
  for (i = 0; i < calls; ++i) {
    set_control_word(words[0]);
    results_of_call(&row_want, call, i, IN_THE_MIDDLE);
    set_control_word(before);
    for (k = 1; k < count; ++k) {
      uint64_t after = 0;
      if (sigsetjmp(row_trapped, 1)) {
        set_control_word(before);
        CHECK(0, "call %d trapped", i);
        return;
      }
      set_control_word(words[k]);
      results_of_call(&row_got, call, i, IN_THE_MIDDLE);
      after = control_word();
      set_control_word(before);
      CHECK(after == words[k], "call %d left control word %" PRIx64 ", was %" PRIx64, i,
            after, words[k]);
      CHECK(are_same(&row_got, &row_want), "call %d: other results where it is %" PRIx64,
            i, words[k]);
    }
  }
}

#endif
