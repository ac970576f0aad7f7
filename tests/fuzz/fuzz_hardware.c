/* SPDX-License-Identifier: MIT */
/* Conversion instructions by any name and number, and products of units, named or with
 * members changed. */
#include "fuzz_bytes.h"

#include <mpnum/hardware/instruction.h>
#include <mpnum/hardware/product.h>

#include <math.h>
#include <string.h>

static void fuzz_instruction(fuzz_bytes *from) {
  enum { WORDS = 72 }; /* more than any has */
  uint32_t src[WORDS], dst[WORDS], again[WORDS];
  mpnum_instruction_control control;
  char text[80];
  const uint32_t number = (uint32_t)take(from, 2), random = (uint32_t)take(from, 4);
  const char *name = mpnum_instruction_name(number);
  if (name) demand(mpnum_instruction_of(name) == number);
  /* The name of a number with a byte changed, or cut off. */
  strncpy(text, name ? name : "cvt", sizeof text - 1);
  text[sizeof text - 1] = 0;
  text[take_below(from, (uint32_t)strlen(text))] = (char)take(from, 1);
  const uint32_t found = mpnum_instruction_of(text);
  if (found) demand(strcmp(mpnum_instruction_name(found), text) == 0);
  memset(&control, 0, sizeof control);
  control.fpmr = take(from, 8);
  control.fpcr = (uint32_t)take(from, 4);
  control.mxcsr = (uint32_t)take(from, 4);
  control.imm8 = (uint32_t)take(from, 1);
  control.frm = (uint32_t)take(from, 1);
  control.mode = (uint32_t)take(from, 4);
  for (int i = 0; i < WORDS; ++i)
    src[i] = (uint32_t)take(from, 4);
  memset(dst, 77, sizeof dst);
  memset(again, 77, sizeof again);
  const mpnum_status status =
      mpnum_instruction_convert(number, dst, src, random, &control);
  if (status != MPNUM_OK) {
    demand(memcmp(dst, again, sizeof dst) == 0);
    demand(name || status == MPNUM_ERROR_ARGUMENT);
    return;
  }
  demand(name != NULL);
  /* In place the same words, and no others are written. */
  memcpy(again, src, sizeof src);
  demand(mpnum_instruction_convert(number, again, again, random, &control) == MPNUM_OK);
  for (int i = 0; i < WORDS; ++i)
    demand(again[i] == dst[i] || (dst[i] == 0x4d4d4d4du && again[i] == src[i]));
}

enum { ROWS = 3, MOST = 96 };
typedef struct operands {
  size_t rows, columns;
  mpnum_type type;
  uint8_t a[4 * ROWS * MOST], b[4 * ROWS * MOST];
} operands;

/* Columns first to first + count of one row of each, or of all. */
static mpnum_status product_of(const operands *of, const mpnum_product_unit *unit,
                               double *dst, size_t row, size_t rows, size_t first,
                               size_t count, const double *start, int is_bound) {
  const size_t bytes = of->type == MPNUM_TYPE_TF32 || of->type == MPNUM_TYPE_F32   ? 4
                       : of->type == MPNUM_TYPE_F16 || of->type == MPNUM_TYPE_BF16 ? 2
                                                                                   : 1;
  const size_t at = bytes * (row * of->columns + first);
  mpnum_const_matrix a = mpnum_const_matrix_of(of->type, of->a + at, rows, count);
  mpnum_const_matrix b = mpnum_const_matrix_of(of->type, of->b + at, rows, count);
  a.stride = b.stride = of->columns;
  const mpnum_const_matrix from =
      mpnum_const_matrix_of(MPNUM_TYPE_F64, start, rows, rows);
  const mpnum_matrix to = mpnum_matrix_of(MPNUM_TYPE_F64, dst, rows, rows);
  return (is_bound ? mpnum_product_bound
                   : mpnum_product)(to, *unit, mpnum_product_operand_of(a),
                                    mpnum_product_operand_of(b), start ? &from : NULL);
}
static int same_bits(double x, double y) {
  return mpnum_bits_f64(x) == mpnum_bits_f64(y);
}

static void fuzz_product(fuzz_bytes *from) {
  operands of;
  double got[ROWS * ROWS], bound[ROWS * ROWS], exact[ROWS * ROWS], start[ROWS * ROWS],
      one[1];
  const double untouched = 77;
  mpnum_product_unit unit = mpnum_product_unit_of("exact");
  int units = 0;
  while (mpnum_product_unit_name(units))
    ++units;
  unit = mpnum_product_unit_of(
      mpnum_product_unit_name((int)take_below(from, (uint32_t)units)));
  const int is_named = (take(from, 1) & 3) != 0;
  if (!is_named) { /* any member */
    int *const members[] = {&unit.products,   &unit.bits,  &unit.kept,  &unit.is_nearest,
                            &unit.least,      &unit.run,   &unit.joins, &unit.is_fused,
                            &unit.is_flushed, &unit.scales};
    for (uint32_t changes = 1 + take_below(from, 3); changes > 0; --changes)
      *members[take_below(from, 10)] = (int)take(from, 1) - 128;
    unit.promotion = take_below(from, 200);
  }
  of.rows = 1 + take_below(from, ROWS);
  of.columns = 1 + take_below(from, MOST);
  of.type = (mpnum_type)take_below(from, 17);
  for (int tries = 0; tries < 17 && is_named && !(unit.types >> of.type & 1); ++tries)
    of.type = (mpnum_type)((of.type + 1) % 17);
  if (of.type == MPNUM_TYPE_F64) return;
  for (size_t i = 0; i < sizeof of.a; ++i) { /* what there is, again and again */
    if (i < 4 * of.rows * of.columns && from->left) {
      of.a[i] = (uint8_t)take(from, 1);
      of.b[i] = (uint8_t)take(from, 1);
    } else {
      of.a[i] = i > 12 ? of.a[i - 12] : 0;
      of.b[i] = i > 20 ? of.b[i - 20] : 0x38;
    }
  }
  const int begins = of.a[0] & 1;
  const size_t all = of.rows * of.rows;
  for (size_t i = 0; i < ROWS * ROWS; ++i) {
    start[i] = (int8_t)of.b[i];
    got[i] = bound[i] = untouched;
  }
  const mpnum_status status =
      product_of(&of, &unit, got, 0, of.rows, 0, of.columns, begins ? start : NULL, 0);
  demand(product_of(&of, &unit, bound, 0, of.rows, 0, of.columns, begins ? start : NULL,
                    1) == status);
  if (status != MPNUM_OK) {
    for (size_t i = 0; i < ROWS * ROWS; ++i)
      demand(same_bits(got[i], untouched) && same_bits(bound[i], untouched));
    return;
  }
  const mpnum_product_unit by = mpnum_product_unit_of("exact");
  demand(product_of(&of, &by, exact, 0, of.rows, 0, of.columns, begins ? start : NULL,
                    0) == MPNUM_OK);
  for (size_t i = 0; i < all; ++i) {
    demand(!(bound[i] < 0));
    if (isfinite(exact[i]) && !isinf(bound[i]))
      demand(fabs(got[i] - exact[i]) <= bound[i]);
  }
  /* One element alone, and in two parts of whole steps. */
  const size_t row = of.rows - 1;
  const double *const begin = begins ? &start[row * of.rows + row] : NULL;
  const double whole = got[row * of.rows + row];
  demand(product_of(&of, &unit, one, row, 1, 0, of.columns, begin, 0) == MPNUM_OK);
  demand(same_bits(one[0], whole));
  if (unit.products == 0 || unit.promotion || unit.sum == MPNUM_TYPE_F64) return;
  const size_t step = (size_t)unit.products;
  const size_t first = of.columns / step / 2 * step;
  if (first == 0) return;
  demand(product_of(&of, &unit, one, row, 1, 0, first, begin, 0) == MPNUM_OK);
  const double part = one[0];
  demand(product_of(&of, &unit, one, row, 1, first, of.columns - first, &part, 0) ==
         MPNUM_OK);
  demand(same_bits(one[0], whole));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes from = {data, size};
  if (take(&from, 1) & 1)
    fuzz_product(&from);
  else
    fuzz_instruction(&from);
  return 0;
}
