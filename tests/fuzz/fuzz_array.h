/* SPDX-License-Identifier: MIT */
#ifndef MPNUM_TESTS_FUZZ_ARRAY_H
#define MPNUM_TESTS_FUZZ_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* Aborts where an array function errs. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
