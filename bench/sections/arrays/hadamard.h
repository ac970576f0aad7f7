/* SPDX-License-Identifier: MIT */
/* Rows of the Hadamard transform for a list of array operations: static, as each compiled
 * file has an instruction set of its own. Include it once, with <mpnum/rows/hadamard.h>.
 */
#ifndef MPNUM_BENCH_HADAMARD_H
#define MPNUM_BENCH_HADAMARD_H

#include <mpnum/rows/hadamard.h>

#include "../../core/message.h"

enum { HADAMARD_COLUMNS = 256 }; /* so that parts of an array are whole rows */

static void run_hadamard(mpnum_type type, void *dst, const void *src, size_t count, int n,
                         int is_inverse) {
  const size_t rows = count / HADAMARD_COLUMNS;
  const mpnum_matrix to = mpnum_matrix_of(type, dst, rows, HADAMARD_COLUMNS);
  const mpnum_const_matrix from =
      mpnum_const_matrix_of(type, src, rows, HADAMARD_COLUMNS);
  if (is_inverse) {
    must(mpnum_hadamard_inverse_rows(to, from, n, 20240229));
  } else {
    must(mpnum_hadamard_rows(to, from, n, 20240229));
  }
}

/* ROW(C name, name, function, source, bits, whether in place, type, n, whether inverse)
 */
#define HADAMARD_ROWS(ROW)                                                               \
 ROW(hadamard_16_f32, "hadamard 16 f32", "mpnum_hadamard_rows", SOURCE_F32, 32, false,   \
     F32, 16, 0)                                                                         \
 ROW(hadamard_64_f32, "hadamard 64 f32", "mpnum_hadamard_rows", SOURCE_F32, 32, false,   \
     F32, 64, 0)                                                                         \
 ROW(unhadamard_16_f32, "unhadamard 16 f32", "mpnum_hadamard_inverse_rows", SOURCE_F32,  \
     32, true, F32, 16, 1)                                                               \
 ROW(hadamard_16_bf16, "hadamard 16 bf16", "mpnum_hadamard_rows", SOURCE_BF16, 16, true, \
     BF16, 16, 0)                                                                        \
 ROW(hadamard_64_bf16, "hadamard 64 bf16", "mpnum_hadamard_rows", SOURCE_BF16, 16, true, \
     BF16, 64, 0)

#define HADAMARD_FUNCTION(c_name, name, function, source, bits, in_place, type, n, \
                          inverse)                                                 \
 static void c_name(void *dst, const void *src, size_t count) {                    \
  run_hadamard(MPNUM_TYPE_##type, dst, src, count, n, inverse);                    \
 }
HADAMARD_ROWS(HADAMARD_FUNCTION)
#define HADAMARD_ROW(c_name, name, function, source, bits, in_place, type, n, inverse) \
 {name, function, source, {bits, bits, in_place}, c_name},

#endif
