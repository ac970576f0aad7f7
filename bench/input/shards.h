/* SPDX-License-Identifier: MIT */
/* Several tensor files that are read as one input: each named, or all the shards that an
 * index names (model.safetensors.index.json):
 *
 *     {"metadata": {"total_size": 48},
 *      "weight_map": {"fc1.weight": "model-00001-of-00002.safetensors", ...}}
 */
#ifndef MPNUM_BENCH_SHARDS_H
#define MPNUM_BENCH_SHARDS_H

#include "input.h"

typedef struct input_set {
  input *files;
  char **paths; /* of the files, which point here */
  size_t count;
  const char *refused; /* the path that a refusal is about */
  char *refused_copy;
} input_set;

/* Opens files and the shards of indices, whose names end in .json. Each shard has to be
 * there, to hold what the index says and nothing else; no file may come twice. On failure
 * set->refused is the path that why is about; inputs_close in either case. */
bool inputs_open(input_set *set, const char *const *paths, size_t count, mpnum_type codes,
                 refusal *why);
void inputs_close(input_set *set);

#endif
