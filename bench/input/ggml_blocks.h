/* SPDX-License-Identifier: MIT */
/* Types of ggml, by their numbers in GGUF files. */
#ifndef MPNUM_BENCH_GGML_BLOCKS_H
#define MPNUM_BENCH_GGML_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#include <mpnum/core/format.h>

typedef struct ggml_type {
  unsigned number;
  const char *name;
  unsigned values, bytes; /* of a block */
  mpnum_type type;        /* of an element that is alone; 0: there is none */
  int layout;             /* mpnum_stored_layout of blocks; negative: not read */
} ggml_type;

/* NULL: not known. */
const ggml_type *ggml_type_of(unsigned number);
/* The floats of so many blocks of a layout that is read. */
void ggml_to_floats(const ggml_type *type, float *dst, void *src, size_t blocks);

#endif
