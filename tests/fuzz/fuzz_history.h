/* SPDX-License-Identifier: MIT */
#ifndef MPNUM_TESTS_FUZZ_HISTORY_H
#define MPNUM_TESTS_FUZZ_HISTORY_H

#include <stddef.h>
#include <stdint.h>

/* 1 if the bytes, or bytes like them, are an amax history or a recipe. Aborts where a
 * promise is broken. */
int fuzz_history(const uint8_t *data, size_t size);

#endif
