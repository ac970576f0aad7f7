/* SPDX-License-Identifier: MIT */
/* Matrix products with the sums of a unit of hardware, bit for bit, on any CPU, and
 * bounds on their distance from the exact products: for checking kernels.
 *
 *     mpnum_matrix c = mpnum_matrix_of(MPNUM_TYPE_F32, sums, rows, columns);
 *     status = mpnum_product(c, mpnum_product_unit_of("h100.fp8"),
 *                            mpnum_product_operand_of(x), mpnum_product_operand_of(w),
 * NULL);
 *
 * C is the product of A and the transpose of B: element (i, j) is the sum over k of
 * a(i, k) b(j, k), so that rows of both are what is summed along; with one row each it is
 * a dot product. A unit adds products as its hardware does, in the order of k.
 * Bits     the same for every ISA, flags and floating-point environment. NaN: canonical.
 * Status   MPNUM_ERROR_ARGUMENT: no unit has these members, or no name; a wrong format of
 *   blocks; MPNUM_ERROR_TYPE: the unit does not take these elements or scales, or dst is
 *   neither f32 nor f64; MPNUM_ERROR_SHAPE: rows or columns do not go together, columns
 * of A are 0, more than memory can hold, or blocks are taller than wide and so lie across
 *   the sum; MPNUM_ERROR_STRIDE; MPNUM_ERROR_NULL; MPNUM_ERROR_RANGE: scale_inv_bytes is
 *   too small; MPNUM_ERROR_OVERLAP: dst overlaps what is read. Nothing is written then.
 * Host only; a step, mpnum_fused_step_, is for devices, too. docs/product.md. */
#ifndef MPNUM_HARDWARE_PRODUCT_H
#define MPNUM_HARDWARE_PRODUCT_H

#include "detail/product_bounds.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Multiplies. dst: f32 or f64, which every result of a unit but "exact" and "f64" is
 * exact in. start: what the sums begin with, rounded to their type, or NULL: 0. It may be
 * dst itself. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_product(mpnum_matrix dst,
                                                       mpnum_product_unit unit,
                                                       mpnum_product_operand a,
                                                       mpnum_product_operand b,
                                                       const mpnum_const_matrix *start) {
  const mpnum_product_way_ way = {0, mpnum_product_part_, mpnum_product_end_};
  return mpnum_product_run_(dst, &unit, &a, &b, start, &way);
}
/* Writes an upper bound on the distance of each result of mpnum_product from the exact
 * one, as "exact" gives it in f64: Inf where the magnitudes may overflow. It holds for
 * products in any order. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status
mpnum_product_bound(mpnum_matrix dst, mpnum_product_unit unit, mpnum_product_operand a,
                    mpnum_product_operand b, const mpnum_const_matrix *start) {
  const mpnum_product_way_ way = {1, mpnum_bound_part_, mpnum_bound_end_};
  return mpnum_product_run_(dst, &unit, &a, &b, start, &way);
}

#endif
MPNUM_C_END_
#endif
