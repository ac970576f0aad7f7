/* SPDX-License-Identifier: MIT */
/* conformance/rows.h: kernels whose rows depend on what is around them are found, each by
 * the ways that can see it, and every count, place and byte is the one counted by hand.
 */
#include "../harness/tap.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The allocation that fails: the first is 0. */
static int fails_at = -1;
static void *limited(size_t size) { return fails_at-- == 0 ? NULL : malloc(size); }
#define malloc limited
#include "../../conformance/rows.h"
#undef malloc

enum { ROWS = 67, FLOATS = 64, BYTES = 4 * FLOATS };
static float values[ROWS * FLOATS];

/* Kernels that copy rows of 64 floats; the wrong ones are wrong in one way each. */
static int copy(void *context, const rows_call *call) {
  (void)context;
  for (size_t i = 0; i < call->rows; ++i)
    memcpy((char *)call->dst + i * call->dst_stride,
           (const char *)call->src + i * call->src_stride, BYTES);
  return 0;
}
static uint32_t word_at(const void *row) {
  uint32_t word;
  memcpy(&word, row, sizeof word);
  return word;
}
static int counts_calls(void *calls, const rows_call *call) {
  copy(NULL, call);
  *(float *)call->dst = (float)++*(int *)calls;
  return 0;
}
static int knows_the_batch(void *context, const rows_call *call) {
  copy(context, call);
  if (call->rows % 3 == 2) *(float *)call->dst += 1;
  return 0;
}
static int knows_the_number(void *context, const rows_call *call) {
  copy(context, call);
  for (size_t i = 0; i < call->rows; ++i)
    *(float *)(void *)((char *)call->dst + i * call->dst_stride) += (float)(i / 33);
  return 0;
}
static int reads_the_next(void *context, const rows_call *call) {
  copy(context, call);
  for (size_t i = 0; i + 1 < call->rows; ++i)
    if (word_at((const char *)call->src + (i + 1) * call->src_stride) == 0xffffffffu)
      *((char *)call->dst + i * call->dst_stride) ^= 1;
  return 0;
}
static int reads_behind(void *context, const rows_call *call) {
  copy(context, call);
  for (size_t i = 0; i < call->rows; ++i)
    if (call->src_stride > BYTES &&
        word_at((const char *)call->src + i * call->src_stride + BYTES) == 0xffffffffu)
      *((char *)call->dst + i * call->dst_stride + 7) ^= 1;
  return 0;
}
static int writes_behind(void *context, const rows_call *call) {
  copy(context, call);
  if (call->dst_stride > BYTES) *((char *)call->dst + BYTES) = 1;
  return 0;
}
static int fails_with_two(void *context, const rows_call *call) {
  copy(context, call);
  return call->rows == 2 ? 7 : 0;
}

static rows_findings check(rows_kernel *kernel, void *context) {
  const rows_batch batch = {values, ROWS, BYTES, BYTES, 4};
  for (int i = 0; i < ROWS * FLOATS; ++i)
    values[i] = (float)i;
  return rows_check(kernel, context, &batch);
}
/* 15 of the sizes are smaller than 67, padding is of 6 widths, and beside NaN are first
 * the even rows, then the odd ones. Without padding no byte is outside. */
static const size_t tried[ROWS_WAYS] = {67, 67, 15 * 67, 67, 6 * 67, 67, 6 * 67};

/* How many rows differ each way; ANY where it depends on the order of calls. */
enum { ANY = 9999 };
static void wrong_kernels_are_found(void) {
  static const struct {
    rows_kernel *run;
    const char *name;
    size_t differing[ROWS_WAYS];
  } kernels[] = {
      {copy, "copies", {0, 0, 0, 0, 0, 0, 0}},
      /* row 0 has the call's number, and in reverse the last row, too */
      {counts_calls, "counts calls", {1, 67, ANY, 2, 6, 2, 0}},
      /* batches of 2, 5, 8, 17, 32 and 65: 33 + 13 + 8 + 3 + 2 + 1, and the last of those
       * of 5, 31 and 65 */
      {knows_the_batch, "knows the batch", {0, 0, 63, 0, 0, 0, 0}},
      /* row 33 is the same in reverse; beside NaN the odd rows are one further */
      {knows_the_number, "knows the number", {0, 34, ANY, 66, 0, 1, 0}},
      {reads_the_next, "reads the next", {0, 0, 0, 0, 0, 33 + 33, 0}},
      {reads_behind, "reads behind", {0, 0, 0, 0, 6 * 67, 0, 0}},
      {writes_behind, "writes behind", {0, 0, 0, 0, 0, 0, 6}}};
  for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; ++k) {
    int calls = 0;
    const rows_findings found = check(kernels[k].run, &calls);
    CHECK(!found.error, "%s: error %d", kernels[k].name, found.error);
    for (int way = 0; way < ROWS_WAYS; ++way) {
      const rows_way that = found.ways[way];
      const size_t differing = kernels[k].differing[way];
      CHECK(that.rows == tried[way] &&
                (differing == ANY ? that.differing > 0 : that.differing == differing),
            "%s, %s: %zu of %zu differ", kernels[k].name, rows_way_names[way],
            that.differing, that.rows);
    }
  }
}
static void the_first_difference_is_named(void) {
  rows_findings found = check(reads_behind, NULL);
  rows_way first = found.ways[ROWS_PADDED];
  const unsigned expected = ((const unsigned char *)values)[7];
  CHECK(first.row == 0 && first.byte == 7 && first.expected == expected &&
            first.found == (expected ^ 1),
        "row %zu, byte %zu: %02x, not %02x", first.row, first.byte, first.found,
        first.expected);
  found = check(knows_the_number, NULL);
  first = found.ways[ROWS_ALONE];
  CHECK(first.row == 33, "row %zu", first.row);
  found = check(writes_behind, NULL);
  first = found.ways[ROWS_OUTSIDE];
  CHECK(first.row == 0 && first.byte == 0 && first.expected == 0xa5 && first.found == 1,
        "row %zu, byte %zu: %02x, not %02x", first.row, first.byte, first.found,
        first.expected);
}
static void an_error_ends_it(void) {
  rows_findings found = check(fails_with_two, NULL);
  CHECK(found.error == 7, "error %d", found.error);
  CHECK(found.ways[ROWS_ALONE].rows == ROWS && !found.ways[ROWS_BATCHES].rows &&
            !found.ways[ROWS_ORDER].rows,
        "went on");
  for (int k = 0; k < 4; ++k) {
    fails_at = k;
    found = check(copy, NULL);
    CHECK(found.error == -1, "allocation %d fails: error %d", k, found.error);
    CHECK(found.ways[ROWS_AGAIN].rows == (k < 3 ? 0 : 67) &&
              !found.ways[ROWS_PADDED].rows,
          "allocation %d fails: went on", k);
  }
  fails_at = -1;
}

/* Rows of 5 bytes become 3. What is around src is ones, what is around dst one value. */
typedef struct places {
  size_t alignment, src_least, src_most, dst_least, dst_most;
} places;
static int is_all(const unsigned char *bytes, size_t n, unsigned value) {
  for (size_t i = 0; i < n; ++i)
    if (bytes[i] != value) return 0;
  return 1;
}
static int looks_around(void *context, const rows_call *call) {
  enum { AROUND = 512, FROM = 5, TO = 3 };
  places *const seen = (places *)context;
  unsigned char *const dst = (unsigned char *)call->dst;
  const unsigned char *const src = (const unsigned char *)call->src;
  const size_t last = call->rows - 1;
#define EXTEND(least, most, stride)              \
 if (seen->least > stride) seen->least = stride; \
 if (seen->most < stride) seen->most = stride
  EXTEND(src_least, src_most, call->src_stride);
  EXTEND(dst_least, dst_most, call->dst_stride);
#undef EXTEND
  if ((uintptr_t)src % seen->alignment || (uintptr_t)dst % seen->alignment) return 1;
  if (call->src_stride % seen->alignment || call->dst_stride % seen->alignment) return 2;
  if (!is_all(src - AROUND, AROUND, 0xff) || !is_all(dst - AROUND, AROUND, 0xa5))
    return 3;
  if (!is_all(src + last * call->src_stride + FROM, AROUND, 0xff) ||
      !is_all(dst + last * call->dst_stride, AROUND, 0xa5))
    return 4;
  for (size_t i = 0; i <= last; ++i)
    memcpy(dst + i * call->dst_stride, src + i * call->src_stride, TO);
  return 0;
}
static void strides_are_aligned_and_padding_is_ones(void) {
  static const struct {
    size_t alignment;
    places seen;
  } expected[] = {{4, {4, 8, 8 + 16 * 4, 4, 4 + 16 * 4}},
                  {1, {1, 5, 5 + 16, 3, 3 + 16}},
                  {0, {1, 5, 5 + 16, 3, 3 + 16}},
                  {64, {64, 64, 17 * 64, 64, 17 * 64}},
                  {4096, {4096, 4096, 17 * 4096, 4096, 17 * 4096}}};
  for (int k = 0; k < 5; ++k) {
    places seen = {expected[k].seen.alignment, 9999, 0, 9999, 0};
    const rows_batch batch = {values, 9, 5, 3, expected[k].alignment};
    const rows_findings found = rows_check(looks_around, &seen, &batch);
    CHECK(!found.error, "alignment %zu: error %d", batch.alignment, found.error);
    CHECK(memcmp(&seen, &expected[k].seen, sizeof seen) == 0,
          "alignment %zu: strides %zu to %zu and %zu to %zu", batch.alignment,
          seen.src_least, seen.src_most, seen.dst_least, seen.dst_most);
    for (int way = 0; way < ROWS_WAYS; ++way)
      CHECK(!found.ways[way].differing, "alignment %zu, %s: %zu differ", batch.alignment,
            rows_way_names[way], found.ways[way].differing);
  }
}
/* The last byte before the next row: of 8189 behind 3 the second piece of 4096. */
static int writes_before_the_next(void *context, const rows_call *call) {
  (void)context;
  memset(call->dst, 0, 3);
  if (call->dst_stride > 4096) ((unsigned char *)call->dst)[call->dst_stride - 1] = 1;
  return 0;
}
static void far_bytes_are_looked_at(void) {
  const rows_batch batch = {values, 1, 5, 3, 4096};
  const rows_findings found = rows_check(writes_before_the_next, NULL, &batch);
  const rows_way outside = found.ways[ROWS_OUTSIDE];
  CHECK(outside.differing == 6 && outside.byte == 8191 - 3 - 4096, "%zu differ, byte %zu",
        outside.differing, outside.byte);
}

/* How often which number of rows was asked for. */
static int counts_sizes(void *calls_of, const rows_call *call) {
  ++((int *)calls_of)[call->rows];
  return copy(NULL, call);
}
static void batches_have_these_sizes(void) {
  static const size_t sizes[] = {2,  3,  4,  5,  7,  8,  15,  16,  17,
                                 31, 32, 33, 63, 64, 65, 127, 128, 129};
  static float many[131 * FLOATS];
  for (size_t rows = 128; rows <= 131; ++rows) {
    int calls[132] = {0}, expected[132] = {0};
    const rows_batch batch = {many, rows, BYTES, BYTES, 4};
    const rows_findings found = rows_check(counts_sizes, calls, &batch);
    expected[rows] = 1 + 1 + 1 + 6 + 1; /* first, again, in reverse, padded, beside NaN */
    expected[rows - 1] += 1;            /* and from row 1 on */
    expected[1] += (int)rows;
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0] && sizes[k] < rows; ++k) {
      expected[sizes[k]] += (int)(rows / sizes[k]);
      if (rows % sizes[k]) ++expected[rows % sizes[k]];
    }
    CHECK(!found.error, "error %d", found.error);
    for (size_t k = 0; k < 132; ++k)
      CHECK(calls[k] == expected[k], "of %zu rows %zu: %d calls, not %d", rows, k,
            calls[k], expected[k]);
  }
}

static void print_says_what_differs(void) {
  static const char lines[] =
      "k: 0 of 76 differ\n"
      "k, alone: 2 of 67 differ, first row 5 at byte 9: ff, not 0a\n"
      "k: error 7\n";
  rows_findings found;
  char said[sizeof lines + 1] = "";
  FILE *const file = tmpfile();
  size_t differing;
  if (!file) {
    tap_skip_reason = "no temporary file";
    return;
  }
  memset(&found, 0, sizeof found);
  found.ways[ROWS_AGAIN].rows = 9;
  found.ways[ROWS_ALONE].rows = 67;
  CHECK(rows_print(file, "k", &found) == 0, "0 differ");
  found.ways[ROWS_ALONE].differing = 2;
  found.ways[ROWS_ALONE].row = 5;
  found.ways[ROWS_ALONE].byte = 9;
  found.ways[ROWS_ALONE].expected = 0x0a;
  found.ways[ROWS_ALONE].found = 0xff;
  differing = rows_print(file, "k", &found);
  CHECK(differing == 2, "%zu", differing);
  found.ways[ROWS_ALONE].differing = 0;
  found.error = 7;
  CHECK(rows_print(file, "k", &found) == 0, "0 differ");
  rewind(file);
  CHECK(fread(said, 1, sizeof said - 1, file) == sizeof lines - 1, "said %s", said);
  CHECK(strcmp(said, lines) == 0, "said %s", said);
  fclose(file);
}

int main(void) {
  TAP_RUN(wrong_kernels_are_found);
  TAP_RUN(the_first_difference_is_named);
  TAP_RUN(an_error_ends_it);
  TAP_RUN(strides_are_aligned_and_padding_is_ones);
  TAP_RUN(far_bytes_are_looked_at);
  TAP_RUN(batches_have_these_sizes);
  TAP_RUN(print_says_what_differs);
  return tap_done();
}
