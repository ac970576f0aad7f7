/* SPDX-License-Identifier: MIT */
/* Peers of PyTorch, each a program of its own, which is Python's. */
#ifndef MPNUM_BENCH_TORCH_H
#define MPNUM_BENCH_TORCH_H

#include <jansson.h>

#include "../core/message.h"
#include "../sections/arrays/arrays.h"

enum { TORCH_NUMBERS = 16, TORCH_VERSION = 40 };

/* What a script beside torch.c prints for these numbers; NULL with the reason. */
json_t *torch_run(const char *script, const size_t *numbers, size_t count, refusal *why);
/* Its rows, a part of root, and the version; NULL with the reason. */
json_t *torch_rows(json_t *root, char version[TORCH_VERSION], refusal *why);
/* The reason in a line of a report. */
void torch_missing(refusal *missing, refusal *why);

/* A peer of array functions. */
typedef struct torch_peer {
  array_peer *peer;   /* of loops without run; gets the reason where it is missing */
  const char *script; /* beside torch.c */
  char version[TORCH_VERSION]; /* result, or "" */
  refusal missing;             /* result */
} torch_peer;

/* Adds the rows of the peer, or says why there are none. */
void torch_measure(torch_peer *self, array_results *found);

#endif
