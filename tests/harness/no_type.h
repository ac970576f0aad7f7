/* SPDX-License-Identifier: MIT */
/* The first number past those of the types: f64, f32, the rows of MPNUM_FORMATS and those
 * of MPNUM_SCALE_FORMATS_. */
#ifndef MPNUM_TESTS_NO_TYPE_H
#define MPNUM_TESTS_NO_TYPE_H

#include <mpnum/mpnum.h>

#define COUNTED_(name, NAME, sign, exponent, mantissa, bias, specials, nan) +1
enum {
  NO_TYPE = 3 MPNUM_FORMATS(COUNTED_) MPNUM_SCALE_FORMATS_(COUNTED_),
  LAST_TYPE = NO_TYPE - 1
};
#undef COUNTED_

#endif
