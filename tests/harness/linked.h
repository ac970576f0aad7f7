/* SPDX-License-Identifier: MIT */
/* Conversions by type, functions of rows, blocks and gradients take the compiler most of
 * the time of a test. Where the build links a program with those that are compiled once
 * for all (LINKED_row_functions and its like), their names stand for pointers to these;
 * elsewhere a program compiles its own. Each file that compiles functions has its own
 * choice of an instruction set: force_all_isa is mpnum_isa_force of all. */
#ifndef MPNUM_TESTS_LINKED_H
#define MPNUM_TESTS_LINKED_H

#include <mpnum/simd/isa.h>

#ifdef LINKED_convert_functions
# include "../array/convert_functions.h"
#endif
#ifdef LINKED_row_functions
# include "../rows/row_functions.h"
#endif
#ifdef LINKED_block_functions
# include "../blocks/block_functions.h"
#endif
#ifdef LINKED_grad_functions
# include "../training/grad_functions.h"
#endif

static inline mpnum_status force_all_isa(mpnum_isa isa) {
  mpnum_status made = mpnum_isa_force(isa);
#ifdef LINKED_convert_functions
  if (made == MPNUM_OK) made = linked_convert_functions_force_isa(isa);
#endif
#ifdef LINKED_row_functions
  if (made == MPNUM_OK) made = linked_row_functions_force_isa(isa);
#endif
#ifdef LINKED_block_functions
  if (made == MPNUM_OK) made = linked_block_functions_force_isa(isa);
#endif
#ifdef LINKED_grad_functions
  if (made == MPNUM_OK) made = linked_grad_functions_force_isa(isa);
#endif
  return made;
}

#endif
