/* SPDX-License-Identifier: MIT */
/* Peers of PyTorch, each a program of its own, which is Python's. */
#ifndef MPNUM_BENCH_TORCH_H
#define MPNUM_BENCH_TORCH_H

#include "../core/message.h"
#include "../sections/arrays/arrays.h"

typedef struct torch_peer {
  array_peer *peer;   /* of loops without run; gets the reason where it is missing */
  const char *script; /* beside torch.c */
  char version[40];   /* result, or "" */
  refusal missing;    /* result */
} torch_peer;

/* Adds the rows of the peer, or says why there are none. */
void torch_measure(torch_peer *self, array_results *found);

#endif
