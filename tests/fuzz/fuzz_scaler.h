/* SPDX-License-Identifier: MIT */
#ifndef MPNUM_TESTS_FUZZ_SCALER_H
#define MPNUM_TESTS_FUZZ_SCALER_H

#include <stddef.h>
#include <stdint.h>

/* 1 if the bytes, or bytes like them, are a scaler. Aborts where a promise is broken. */
int fuzz_scaler(const uint8_t *data, size_t size);

#endif
