/* SPDX-License-Identifier: MIT */
/* What the functions of func.h must give, by MPFR at 300 bits: a double that is the value
 * rounded toward zero and then to odd, from which ref_encode makes the code nearest to
 * the value itself. */
#ifndef MPNUM_TESTS_FUNCTION_REFERENCE_H
#define MPNUM_TESTS_FUNCTION_REFERENCE_H

#include <mpfr.h>
#include <stdint.h>

typedef void function_of_mpfr(mpfr_t y, const mpfr_t x);

typedef struct function_reference {
  const char *name;
  function_of_mpfr *value;
  /* Where the formula is no help: what C23 Annex F or the limit gives, as doubles. */
  double at_minus_zero, at_inf, at_minus_inf;
  int has_minus_zero, has_inf, has_minus_inf;
} function_reference;

/* The functions in the order of func.h; the name of the last one is null. */
extern const function_reference function_references[];

/* Bits of the double for a function at a double that any type holds. */
uint64_t reference_of_function(const function_reference *function, double x);
/* Of a function at a times b. */
uint64_t reference_of_product(const function_reference *function, double a, double b);
/* log(e^a + e^b) */
uint64_t reference_of_logaddexp(double a, double b);
/* a^b, as C23 has it */
uint64_t reference_of_pow(double a, double b);
/* MPFR's default precision; before any of the others. */
void start_function_references(void);
void end_function_references(void);

#endif
