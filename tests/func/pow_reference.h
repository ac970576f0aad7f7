/* SPDX-License-Identifier: MIT */
/* What pow must give: the codes of a small type, fast enough for every pair of them, and
 * doubles by MPFR at 300 bits. After start_function_references of function_reference.h.
 */
#ifndef MPNUM_TESTS_POW_REFERENCE_H
#define MPNUM_TESTS_POW_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

typedef struct pow_format {
  int mantissa_bits, least_exponent; /* the smallest value is 2^least_exponent */
} pow_format;

/* want[i]: the code nearest to x^y[i]. In double where that is far from the middle of two
 * codes, else by MPFR. Returns how often that was. */
uint64_t pow_codes(pow_format format, uint16_t *want, double x, const double *y,
                   size_t n);

#endif
