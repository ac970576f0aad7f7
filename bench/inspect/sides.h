/* SPDX-License-Identifier: MIT */
/* The tensors of one of two files, with codes and scales that --emit writes as what they
 * are worth together. */
#ifndef MPNUM_BENCH_INSPECT_SIDES_H
#define MPNUM_BENCH_INSPECT_SIDES_H

#include "../core/block_formats.h"
#include "../input/shards.h"

/* Codes of blocks, and where they and their scales begin. */
typedef struct blocked {
  unsigned number; /* of the block format */
  const input *codes_file, *scales_file;
  uint64_t codes, scales;
  float scale;   /* of the whole */
  tensor values; /* what they stand for, if no tensor of the file has the name */
} blocked;

typedef struct side {
  const input *file;
  const tensor *values;
  double factor;         /* of codes that have one scale */
  const blocked *blocks; /* NULL: it is not in blocks */
  bool is_scale;         /* of another */
} side;

typedef struct side_list {
  side *sides; /* by name */
  size_t count;
  blocked **blocks; /* count of them */
  size_t block_count;
  const unread **taken; /* bytes that are codes or scales, two for each of blocks */
  size_t taken_count;
} side_list;

/* Inputs stay open while the list is used. False with the reason; sides_free. */
bool sides_of(const input_set *set, side_list *made, refusal *why);
void sides_free(side_list *made);
const char *type_of_side(const side *of); /* "f32", "q8_0", "nvfp4", ... */
side *find_side(const side_list *from, const char *name); /* NULL: there is none */
bool is_taken(const side_list *from, const unread *bytes);

/* Values in doubles; of whole blocks. raw has room for 8 bytes a value, floats for all.
 */
bool side_values(const side *from, uint64_t first, double *dst, size_t count,
                 unsigned char *raw, float *floats, refusal *why);

#endif
