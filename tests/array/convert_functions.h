/* SPDX-License-Identifier: MIT */
/* Conversions of arrays by types and formats that the build compiles once for all tests:
 * see harness/linked.h. */
#ifndef MPNUM_TESTS_CONVERT_FUNCTIONS_H
#define MPNUM_TESTS_CONVERT_FUNCTIONS_H

#include <mpnum/array/array.h>
#include <mpnum/simd/isa.h>

#include "../harness/linked_function.h"

LINKED_FUNCTION_AS(convert_functions_force_isa, mpnum_isa_force);
LINKED_FUNCTION(mpnum_convert_array);
LINKED_FUNCTION(mpnum_convert_array_2d);
LINKED_FUNCTION(mpnum_convert_array_formats);
LINKED_FUNCTION(mpnum_round_array);

#define mpnum_convert_array         linked_mpnum_convert_array
#define mpnum_convert_array_2d      linked_mpnum_convert_array_2d
#define mpnum_convert_array_formats linked_mpnum_convert_array_formats
#define mpnum_round_array           linked_mpnum_round_array

#endif
