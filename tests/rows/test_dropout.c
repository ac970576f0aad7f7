/* SPDX-License-Identifier: MIT */
/* dropout.h: each element by its word of mpnum_random, a comparison of doubles, which is
 * exact, and the arithmetic of C. */
#include "row_checks.h"
#include "../harness/must.h"

#include <mpnum/rows/dropout.h>
#include <mpnum/array/array.h>

enum { ROWS = 3, MOST = 2100, COUNT = ROWS * MOST };
static const size_t lengths[] = {1, 2, 7, 64, 130, 1025, MOST};
static const float shares[] = {0.9f,       0.5f,          1, 0, 0x1p-32f, 0.1f, 0.3f,
                               0x1.8p-32f, 0x1.fffffep-1f};
static float x[COUNT], y[COUNT];
static uint8_t src[4 * COUNT], got[4 * COUNT + 16], want[4 * COUNT + 16];

static void convert(mpnum_type to, void *dst, mpnum_type from, const void *of, size_t n) {
  must(mpnum_convert_array(to, dst, from, of, n, MPNUM_ROUND_NEAREST_EVEN,
                           MPNUM_OVERFLOW_IEEE, 0, 0));
}
static float expected(float of, float keep, uint32_t word) {
  const float made = keep > 0 ? product_once(of, quotient_once(1, keep)) : 0;
  if (!((double)word < (double)keep * 4294967296.0)) return 0;
  return mpnum_isnan_f32(made) ? mpnum_from_bits_f32(NAN_BITS) : made;
}
static void elements_are_kept_by_their_words(void) {
  for (int k = 0; k < 500; ++k) {
    const mpnum_type type = row_types[k % 5], to = row_types[k / 5 % 5];
    const size_t n = lengths[k % 7], count = ROWS * n;
    const float keep = shares[k % 9];
    const uint64_t seed = (uint64_t)k * 0x123456789abcdefu;
    const uint64_t offset = k % 3 ? (uint64_t)k * 77 : 0xfffffffffu - (uint64_t)(k % 50);
    for (size_t i = 0; i < count; ++i)
      x[i] = i % 50 == 3 ? A_NAN : i % 50 == 9 ? INF : (float)uniform(-6, 6);
    convert(type, src, MPNUM_TYPE_F32, x, count);
    convert(MPNUM_TYPE_F32, x, type, src, count);
    for (size_t i = 0; i < count; ++i)
      y[i] = expected(x[i], keep, mpnum_random(seed, offset + i));
    memset(got, 0x5c, sizeof got);
    memset(want, 0x5c, sizeof want);
    convert(to, want, MPNUM_TYPE_F32, y, count);
    must(mpnum_dropout_rows(mpnum_matrix_of(to, got, ROWS, n),
                            mpnum_const_matrix_of(type, src, ROWS, n), keep, seed,
                            offset));
    CHECK(memcmp(got, want, sizeof got) == 0, "%s to %s, %zu columns, keep %g",
          mpnum_type_name(type), mpnum_type_name(to), n, (double)keep);
  }
}
/* The words just below and at the limit, of shares that are and that are not a multiple
 * of 2^-32, found in a stream. */
static void the_limit_is_exact(void) {
  const float share = 0x1.000002p-9f; /* 2^23 + 1 words */
  uint64_t i = 0, kept = 0;
  float in = 1, out = 0;
  const uint32_t word = mpnum_random(5, 1234);
  for (; i < 4; ++i) { /* a share that ends beside a word's leading 24 bits */
    const uint32_t lead = (word >> 8) + (uint32_t)i - 1;
    const float keep = (float)lead * 0x1p-24f;
    must(mpnum_dropout_rows(mpnum_matrix_of(MPNUM_TYPE_F32, &out, 1, 1),
                            mpnum_const_matrix_of(MPNUM_TYPE_F32, &in, 1, 1), keep, 5,
                            1234));
    CHECK((out > 0) == ((uint64_t)word < (uint64_t)lead << 8), "lead + %d", (int)i - 1);
  }
  for (i = 0; i < 1 << 20; i += MOST) {
    memset(src, 0, sizeof src);
    for (size_t k = 0; k < MOST; ++k)
      x[k] = 1;
    must(mpnum_dropout_rows(mpnum_matrix_of(MPNUM_TYPE_F32, y, 1, MOST),
                            mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, MOST), share, 5,
                            i));
    for (size_t k = 0; k < MOST; ++k) {
      const uint32_t of_k = mpnum_random(5, i + k);
      kept += y[k] > 0;
      CHECK((y[k] > 0) == (of_k < (1u << 23) + 1), "word %08x", of_k);
    }
  }
  CHECK(kept > 1900 && kept < 2200, "%d kept of 2048", (int)kept);
}
/* Words that a float holds with a half beside: kept by all shares above word 2^-32. */
static void small_words_are_their_own_limit(void) {
  int found = 0;
  for (uint64_t i = 0; i < 1 << 13; ++i) {
    const uint32_t word = mpnum_random(5, i);
    if (word == 0 || word >= 1u << 23) continue;
    ++found;
    for (int halves = -1; halves < 3; ++halves) {
      const float in = 1, keep = (float)((double)word + 0.5 * halves) * 0x1p-32f;
      float out = 7;
      must(mpnum_dropout_rows(mpnum_matrix_of(MPNUM_TYPE_F32, &out, 1, 1),
                              mpnum_const_matrix_of(MPNUM_TYPE_F32, &in, 1, 1), keep, 5,
                              i));
      CHECK(halves > 0 ? out > 1 : out == 0, "word %08x and %d halves: %g",
            (unsigned)word, halves, (double)out);
    }
  }
  CHECK(found > 5, "%d words", found);
}
static mpnum_status run(float *to, const float *of, size_t n, float keep) {
  return mpnum_dropout_rows(mpnum_matrix_of(MPNUM_TYPE_F32, to, 1, n),
                            mpnum_const_matrix_of(MPNUM_TYPE_F32, of, 1, n), keep, 1, 0);
}
/* All are kept: rows of which one side alone has gaps come out as they are. */
static void one_side_may_have_gaps(void) {
  for (int side = 0; side < 2; ++side) {
    const float given[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    float made[8] = {0};
    mpnum_matrix to = mpnum_matrix_of(MPNUM_TYPE_F32, made, 2, 3);
    mpnum_const_matrix from = mpnum_const_matrix_of(MPNUM_TYPE_F32, given, 2, 3);
    if (side) from.stride = 5;
    if (!side) to.stride = 5;
    must(mpnum_dropout_rows(to, from, 1, 1, 0));
    for (size_t i = 0; i < 6; ++i)
      CHECK(made[i / 3 * to.stride + i % 3] == given[i / 3 * from.stride + i % 3],
            "%d: %zu", side, i);
  }
}
static void what_is_refused(void) {
  const float bad[] = {1.0000001f, -0.5f, A_NAN, INF, 0x1p-33f, -0.0f, 0x1p-149f};
  memset(y, 0x11, sizeof y);
  for (int k = 0; k < 7; ++k)
    CHECK(run(y, x, 8, bad[k]) == MPNUM_ERROR_ARGUMENT, "%g", (double)bad[k]);
  CHECK(run(NULL, x, 8, 1) == MPNUM_ERROR_NULL, "no dst");
  CHECK(run(y, NULL, 8, 1) == MPNUM_ERROR_NULL, "no src");
  CHECK(run(y, y + 1, 8, 1) == MPNUM_ERROR_OVERLAP, "overlap");
  CHECK(bits_of(y[0]) == 0x11111111u, "untouched");
  CHECK(run(NULL, NULL, 0, 1) == MPNUM_OK, "no elements");
}

int main(void) {
  RUN_FOR_EACH_ISA(elements_are_kept_by_their_words);
  RUN_FOR_EACH_ISA(the_limit_is_exact);
  TAP_RUN(small_words_are_their_own_limit);
  TAP_RUN(one_side_may_have_gaps);
  TAP_RUN(what_is_refused);
  return tap_done();
}
