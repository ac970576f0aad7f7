/* SPDX-License-Identifier: MIT */
/* Tensor files: .npy, .npz, .safetensors and .gguf. A file is checked whole before any
 * value is read, and read in pieces with pread: a file that shrinks under a mapping would
 * end the process. */
#ifndef MPNUM_BENCH_INPUT_H
#define MPNUM_BENCH_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <mpnum/core/format.h>

#include "../core/message.h"

enum { RANK_LIMIT = 64 };

typedef struct tensor {
  char *name;
  mpnum_type type; /* of the elements as they are read: f32 of blocks */
  unsigned blocks; /* of ggml, that they are stored in: their number there; 0: none */
  bool big_endian;
  bool fortran_order; /* the first index runs fastest */
  unsigned rank;
  uint64_t *shape;  /* rank of them */
  bool is_inflated; /* lies in file->inflated */
  uint64_t offset;  /* of its first byte in the file */
  uint64_t count;   /* of elements */
} tensor;

/* A tensor of a type that is not read, which can be copied. */
typedef struct unread {
  char *name, *dtype; /* dtype: as the file names it */
  unsigned rank;
  uint64_t *shape;
  uint64_t offset, bytes;
} unread;

typedef struct input {
  const char *path;
  int descriptor;
  uint64_t size;
  FILE *inflated;   /* what was compressed, in a file without a name; NULL: nothing */
  mpnum_type codes; /* that plain bytes are codes of; 0: they are left out */
  tensor *tensors;
  size_t tensor_count;
  unread *others; /* of a safetensors file, what was left out */
  size_t other_count;
  char **names; /* of all tensors of a safetensors file, those left out too */
  size_t name_count;
  char **notes; /* what was left out and why, one line each */
  size_t note_count;
} input;

/* Opens a regular file and reads its table of tensors; the name ends in .npy, .npz,
 * .safetensors or .gguf. On failure nothing stays open and why says why. */
bool input_open(input *file, const char *path, refusal *why);
/* The same, but bytes (I8, U8) are codes of a type of 8 bits. */
bool input_open_codes(input *file, const char *path, mpnum_type codes, refusal *why);
void input_close(input *file);

/* The same for an open descriptor, which the input then owns. */
bool input_open_descriptor(input *file, const char *path, int descriptor, refusal *why);

/* Elements [first, first + count) of a tensor in its type, as this machine has them. */
bool input_values(const input *file, const tensor *source, uint64_t first, void *dst,
                  size_t count, refusal *why);
/* The same as f32, which holds each of them exactly
 * but those of f64, which are rounded to nearest. */
bool input_floats(const input *file, const tensor *source, uint64_t first, float *dst,
                  size_t count, refusal *why);

const char *element_name(mpnum_type type); /* "f32", "f16", "bf16", ... */
unsigned element_size(mpnum_type type);    /* bytes */
int element_width(mpnum_type type);        /* bits */
const char *stored_name(const tensor *of); /* "f32", "q8_0", ... */
uint64_t stored_bytes(const tensor *of);   /* that it takes in its file */
/* Whether its codes have 8 bits. */
bool is_byte_type(mpnum_type type);
bool ends_in(const char *text, const char *ending);
const char *base_name(const char *path); /* what follows its last slash */

/* For the readers, each of which fills in the table of a file whose size is known. */
bool npy_read(input *file, refusal *why);
bool npz_read(input *file, refusal *why);
bool safetensors_read(input *file, refusal *why);
bool gguf_read(input *file, refusal *why);
/* An npy file in a part of the file, or of what was inflated. */
typedef struct npy_part {
  bool is_inflated;
  uint64_t begin, size;
  const char *name;  /* of the tensor */
  const char *shown; /* before a note: "a: "; else "" */
} npy_part;
bool npy_read_part(input *file, const npy_part *from, refusal *why);
/* Whether a name is that of a file that runs code or has no plain tensors: a pickle of
 * PyTorch, or ONNX. why then says so, with the lines of Python that convert it. */
bool refuse_foreign(const char *path, refusal *why);
bool input_bytes(const input *file, uint64_t offset, void *dst, size_t size,
                 refusal *why);
/* The same of what was inflated. */
bool part_bytes(const input *file, bool is_inflated, uint64_t offset, void *dst,
                size_t size, refusal *why);
bool input_add(input *file, const char *name, const tensor *found, refusal *why);
bool input_add_other(input *file, const char *name, const char *dtype,
                     const tensor *found, uint64_t bytes, refusal *why);
bool input_add_name(input *file, const char *name, refusal *why);
bool input_note(input *file, refusal *why, const char *format, ...) BENCH_PRINTF(3, 4);

/* *product = a * b, false where that is over 2^64 - 1. */
bool multiply(uint64_t a, uint64_t b, uint64_t *product);

#endif
