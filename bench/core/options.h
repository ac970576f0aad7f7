/* SPDX-License-Identifier: MIT */
#ifndef MPNUM_BENCH_OPTIONS_H
#define MPNUM_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "message.h"

enum { GPU_SIZES = 8, GPU_MNK = 8 };
enum { SCALING_NONE, SCALING_AMAX, SCALING_COUNT };

typedef struct bench_options {
  bool help, version, quick;
  bool answer, why, details; /* no section is named: the first screen; more of it */
  bool formats, speed, scalar, accuracy, product, arrays, blocks, grad, math, headers,
      gpu;        /* sections to run */
  bool gpu_alone; /* no section but the GPU's: without one there is no result */
  bool scaling[SCALING_COUNT];
  size_t size;                 /* bytes of the f32 array in the timings */
  size_t gpu_size;             /* the same on the GPU */
  size_t gpu_sizes[GPU_SIZES]; /* of the sweep; 0 from the first that is none */
  int device;                  /* number of the GPU */
  unsigned mnk_count;          /* at least 1 */
  uint64_t mnk[GPU_MNK][3];    /* sizes of the matrix products on the GPU */
  int isa;             /* mpnum_isa of the array functions; negative: the CPU's best */
  int data;            /* array_data of the arrays that sections time */
  unsigned threads;    /* that each array is split among */
  const char **inputs; /* input_count of them, in argv; none: the shipped sample */
  size_t input_count;
  const char *json, *csv, *svg; /* NULL: not written */
} bench_options;

/* False with the reason when the command line is wrong. options_free in either case. */
bool options_read(bench_options *chosen, int argc, char **argv, refusal *why);
void options_free(bench_options *chosen);
void options_help(void);
const char *data_name(int data); /* of an array_data; NULL past the last one */

#endif
