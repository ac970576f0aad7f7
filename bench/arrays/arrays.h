/* SPDX-License-Identifier: MIT */
/* The array functions of mpnum at three sizes, beside the fastest copy of the same bytes
 * and beside other libraries. */
#ifndef MPNUM_BENCH_ARRAYS_H
#define MPNUM_BENCH_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>

#include "../limit.h"
#include "../message.h"
#include "../peers.h"
#include "../progress.h"

enum { ARRAY_SIZES = 3, ARRAY_SHAPES = 19, ARRAY_PEERS = 9 };

/* What an array holds before an operation. */
typedef enum array_source {
  SOURCE_F32, /* normal values, here and in the next three */
  SOURCE_F64,
  SOURCE_F16,
  SOURCE_BF16,
  SOURCE_TF32,
  SOURCE_BITS,   /* random bits: codes of 8 and 16 bits, packed codes */
  SOURCE_CODES6, /* random codes, one a byte */
  SOURCE_CODES4,
  SOURCE_COUNT
} array_source;

typedef struct array_operation {
  const char *name;     /* "f32 to e4m3" */
  const char *function; /* "mpnum_f32_to_e4m3_sat_array" */
  array_source source;
  byte_shape shape;
  array_loop run;
} array_operation;

extern const array_operation array_operations[];
extern const size_t array_operation_count;

extern const array_peer *const array_peers[ARRAY_PEERS];
/* Why a peer is not measured, or NULL. */
const char *arrays_missing(const array_peer *peer);

typedef struct array_plan {
  size_t sizes[ARRAY_SIZES]; /* bytes of as many f32 as an array has elements */
  unsigned rounds[ARRAY_SIZES];
  unsigned threads; /* that each array is split among */
} array_plan;

typedef struct array_figure {
  double ns;    /* for one element; median */
  double noise; /* half of what lies between the quartiles, over the median */
  double rate;  /* GB/s, read and written */
  double limit; /* GB/s of the fastest copy of the same bytes */
} array_figure;

typedef struct array_row {
  array_figure sizes[ARRAY_SIZES];
} array_row;

typedef struct array_peer_row {
  size_t operation; /* index of array_operations */
  const array_peer *peer;
  const array_peer_loop *loop;
  bool differs; /* gives other results than mpnum */
  array_row row;
} array_peer_row;

/* Fastest copies in GB/s, 0 where there are none. */
typedef struct array_limit {
  byte_shape shape;
  double regular[ARRAY_SIZES], streaming[ARRAY_SIZES];
} array_limit;

typedef struct array_results {
  array_plan plan;
  const char *isa;
  array_row *rows; /* one for each operation */
  array_peer_row *peers;
  size_t peer_count;
  array_limit limits[ARRAY_SHAPES];
} array_results;

/* Has mpnum's array functions use an instruction set; false where this CPU has it not. */
bool arrays_force_isa(int isa);
const char *arrays_isa(void); /* in use */

/* False when out of memory. arrays_free in either case. */
bool arrays_measure(array_results *results, const array_plan *plan, progress *bar);
void arrays_free(array_results *results);

/* The fastest peer of an operation at a size, of those with mpnum's results if there are
 * any; or NULL. */
const array_peer_row *arrays_best_peer(const array_results *results, size_t operation,
                                       int size);

#endif
