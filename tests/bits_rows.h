/* SPDX-License-Identifier: MIT */
/* For bits.c: lines for the functions of rows. They promise their bits in every
 * environment where the library can set its own, else in the default one. */
#ifndef MPNUM_TESTS_BITS_ROWS_H
#define MPNUM_TESTS_BITS_ROWS_H

#include "bits_functions.h"

enum { ROW = 2500 };
static float row_values[ROW], row_results[ROW], row_losses[1];

/* Of 1 to 2500 elements, multiples of 2^-9, the last few near each other. */
static void make_row(uint32_t n) {
  for (uint32_t i = 0; i < n; ++i)
    row_values[i] = (float)((int)(mix(i) % (i % 9 ? 8192 : 64)) - 4096) / 512;
}
static void put_row(uint32_t n) {
  for (uint32_t i = 0; i < n; ++i)
    put_f32(row_results[i]);
}
#define FOR_ROWS for (uint32_t n = 1; n <= ROW; n = n < 100 ? n + 9 : n + 600)
#define ROWS(function, call) \
 HASH(function, FOR_ROWS, {  \
make_row(n);                 \
call;                        \
put_row(n);                  \
 })
#define F32_ROW MPNUM_TYPE_F32, row_results, n, MPNUM_TYPE_F32, row_values, n, 1, n

static void print_rows(void) {
#if defined(__GNUC__) && (defined(__SSE2__) || defined(__aarch64__))
  const int has_rows = 1;
#else
  const int has_rows = has_f32_functions;
#endif
  const int64_t target = 0;
  if (!has_rows) {
    printf("mpnum_softmax_rows -\nmpnum_log_softmax_rows -\nmpnum_logsumexp_rows -\n"
           "mpnum_cross_entropy_rows -\nmpnum_layer_norm_rows -\nmpnum_rms_norm_rows -\n"
           "mpnum_l2_normalize_rows -\n");
    return;
  }
  ROWS(mpnum_softmax_rows, mpnum_softmax_rows(F32_ROW, NULL, NULL));
  ROWS(mpnum_log_softmax_rows, mpnum_log_softmax_rows(F32_ROW, NULL, NULL));
  ROWS(mpnum_logsumexp_rows, mpnum_logsumexp_rows(row_results, MPNUM_TYPE_F32, row_values,
                                                  n, 1, n, NULL, NULL));
  ROWS(mpnum_cross_entropy_rows, {
    mpnum_cross_entropy_rows(row_losses, F32_ROW, &target, NULL, NULL);
    put_f32(row_losses[0]);
  });
  ROWS(mpnum_layer_norm_rows, mpnum_layer_norm_rows(F32_ROW, NULL, NULL, 1.0f / 65536));
  ROWS(mpnum_rms_norm_rows, mpnum_rms_norm_rows(F32_ROW, NULL, 1.0f / 65536));
  ROWS(mpnum_l2_normalize_rows, mpnum_l2_normalize_rows(F32_ROW, 0));
}

#endif
