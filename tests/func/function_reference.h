/* SPDX-License-Identifier: MIT */
/* What the functions of func.h must give, by MPFR at 300 bits: a double that is the value
 * rounded toward zero and then to odd, from which ref_encode makes the code nearest to
 * the value itself. */
#ifndef MPNUM_TESTS_FUNCTION_REFERENCE_H
#define MPNUM_TESTS_FUNCTION_REFERENCE_H

#include <mpfr.h>
#include <stdint.h>

typedef void function_of_mpfr(mpfr_t y, const mpfr_t x);

typedef enum function_domain { ANY, POSITIVE, ABOVE_MINUS_1 } function_domain;

/* A row of function_rows.h. */
typedef struct function_reference {
  const char *name;
  function_of_mpfr *value;
  function_domain domain;
  double at_minus_zero, at_zero, at_minus_inf, at_inf;
  double places;
  int has_root;
} function_reference;

/* The functions in the order of function_table.h; the last one is null. */
extern const function_reference *const function_references[];
const function_reference *function_reference_named(const char *name);

/* Bits of the double for a function at a double that any type holds. */
uint64_t reference_of_function(const function_reference *function, double x);
/* The same by the formula alone, which some special arguments make NaN of. */
uint64_t formula_of_function(const function_reference *function, double x);
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
