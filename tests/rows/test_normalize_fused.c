/* SPDX-License-Identifier: MIT */
/* Residuals of normalize.h: what is done in one pass is what the steps do one after the
 * other. */
#include "row_checks.h"
#include "../harness/must.h"

#include <mpnum/array/array.h>
#include <mpnum/rows/normalize.h>

enum { ROWS = 3, MOST = 5000 };
static const mpnum_norm_kind kinds[] = {MPNUM_NORM_LAYER, MPNUM_NORM_RMS, MPNUM_NORM_L2};
static const size_t lengths[] = {1, 7, 64, 130, 2048, MOST};
static float floats[2][ROWS * MOST], y[ROWS * MOST], weight[MOST];
static uint8_t src[4 * ROWS * MOST], residual[4 * ROWS * MOST], sum[4 * ROWS * MOST];
static uint8_t got[4 * ROWS * MOST], want[4 * ROWS * MOST];

static void fill(float *dst, size_t n, double from, double to) {
  for (size_t i = 0; i < n; ++i)
    dst[i] = (float)uniform(from, to);
}
static void convert(mpnum_type to, void *dst, mpnum_type from, const void *of, size_t n) {
  must(mpnum_convert_array(to, dst, from, of, n, MPNUM_ROUND_NEAREST_EVEN,
                           MPNUM_OVERFLOW_IEEE, 0, 0));
}
/* Elements of both types, as bytes and as the floats that they are. */
static void make(mpnum_type type, mpnum_type other, size_t n) {
  fill(weight, MOST, -2, 2);
  fill(floats[0], n, -3, 3);
  fill(floats[1], n, -2, 4);
  convert(type, src, MPNUM_TYPE_F32, floats[0], n);
  convert(other, residual, MPNUM_TYPE_F32, floats[1], n);
  convert(MPNUM_TYPE_F32, floats[0], type, src, n);
  convert(MPNUM_TYPE_F32, floats[1], other, residual, n);
}
static void a_residual_is_added_and_stored(void) {
  for (int k = 0; k < 6 * 25; ++k) {
    const mpnum_type type = row_types[k % 5], other = row_types[k / 5 % 5];
    const mpnum_type stored = row_types[(k + k / 5) % 5];
    const mpnum_norm_kind kind = kinds[k % 3];
    const size_t n = lengths[k / 25], count = ROWS * n;
    mpnum_normalize_options options = mpnum_normalize_default();
    static uint8_t sums[4 * ROWS * MOST];
    make(type, other, count);
    options.weight = weight;
    for (size_t i = 0; i < count; ++i)
      y[i] = floats[0][i] + floats[1][i];
    for (int is_stored = 0; is_stored < 2; ++is_stored) {
      mpnum_normalize_options plain = options, added = options;
      if (is_stored) {
        convert(stored, sums, MPNUM_TYPE_F32, y, count);
        convert(MPNUM_TYPE_F32, y, stored, sums, count);
        added.sum = mpnum_matrix_of(stored, sum, ROWS, n);
      }
      added.residual = mpnum_const_matrix_of(other, residual, ROWS, n);
      must(mpnum_normalize_rows(kind, mpnum_matrix_of(MPNUM_TYPE_F32, want, ROWS, n),
                                mpnum_const_matrix_of(MPNUM_TYPE_F32, y, ROWS, n),
                                &plain));
      CHECK(mpnum_normalize_rows(kind, mpnum_matrix_of(MPNUM_TYPE_F32, got, ROWS, n),
                                 mpnum_const_matrix_of(type, src, ROWS, n),
                                 &added) == MPNUM_OK,
            "status");
      CHECK(memcmp(got, want, 4 * count) == 0, "%s and %s, %zu columns, %d",
            mpnum_type_name(type), mpnum_type_name(other), n, is_stored);
    }
    CHECK(memcmp(sum, sums, count * size_of(stored)) == 0, "the sum, as %s",
          mpnum_type_name(stored));
    /* The sum in the place of the residual, the result in that of src. */
    options.residual = mpnum_const_matrix_of(other, residual, ROWS, n);
    options.sum = mpnum_matrix_of(other, sum, ROWS, n);
    must(mpnum_normalize_rows(kind, mpnum_matrix_of(type, want, ROWS, n),
                              mpnum_const_matrix_of(type, src, ROWS, n), &options));
    options.sum.data = residual;
    must(mpnum_normalize_rows(kind, mpnum_matrix_of(type, src, ROWS, n),
                              mpnum_const_matrix_of(type, src, ROWS, n), &options));
    CHECK(memcmp(src, want, count * size_of(type)) == 0 &&
              memcmp(residual, sum, count * size_of(other)) == 0,
          "in place, %s and %s", mpnum_type_name(type), mpnum_type_name(other));
  }
}

int main(void) {
  RUN_FOR_EACH_ISA(a_residual_is_added_and_stored);
  return tap_done();
}
