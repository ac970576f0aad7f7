/* SPDX-License-Identifier: MIT */
#ifndef MPNUM_TESTS_FUZZ_READER_H
#define MPNUM_TESTS_FUZZ_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the bytes are a file with tensors. Aborts where the reader errs. */
bool fuzz_reader(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
