/* SPDX-License-Identifier: MIT */
/* Array functions of mpnum at three sizes, beside the fastest copy of the same bytes and
 * beside other libraries. */
#ifndef MPNUM_BENCH_ARRAYS_H
#define MPNUM_BENCH_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "../../core/figures.h"
#include "../../core/limit.h"
#include "../../core/message.h"
#include "../../peers/peers.h"
#include "../../core/progress.h"

enum { ARRAY_SIZES = 3, ARRAY_SHAPES = 31, CALL_SIZES = 5 };
/* Of the table of threads: 1, 2, 4, ... 128 and the number asked for. */
enum { THREAD_SIZES = 6, THREAD_ROWS = 9 };

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
  SOURCE_SCALED, /* random codes, none of them NaN, and an eighth more for scales of peers
                  */
  SOURCE_STATES_F32,  /* magnitudes: gradients, parameters and moments, array by array */
  SOURCE_STATES_BF16, /* the same for bf16 with f32 moments */
  SOURCE_COUNT
} array_source;

/* What a quarter of the values are in place of normal ones: of "special" one in a hundred
 * is Inf or NaN, of "bits" all have random bits. Codes are random in any case. Names:
 * data_name of options.h. */
typedef enum array_data {
  DATA_NORMAL,
  DATA_SUBNORMAL, /* of the type */
  DATA_TINY,      /* times 2^-16 */
  DATA_HUGE,      /* times 2^20 */
  DATA_ZEROS,
  DATA_SPECIAL,
  DATA_BITS
} array_data;
/* What sources hold from then on; normal values before. */
void source_hold(array_data data);
array_data source_held(void);

/* `count` elements of `bits`, 64-byte aligned, released with free; NULL when out of
 * memory. They repeat after 2^20 elements. */
void *source_make(array_source source, unsigned bits, size_t count);

typedef struct array_operation {
  const char *name;     /* "f32 to e4m3" */
  const char *function; /* "mpnum_f32_to_e4m3_sat_array" */
  array_source source;
  byte_shape shape;
  array_loop run;
} array_operation;

/* Operations of one compiled file, which have an instruction set in use. */
typedef struct array_code {
  const array_operation *operations;
  size_t count;
  bool (*force_isa)(int isa); /* false where this CPU has it not */
  const char *(*isa)(void);   /* in use */
} array_code;

/* What an operation takes more time than another one. */
typedef struct array_addition {
  const char *what, *operation, *over;
} array_addition;

/* A section: operations, and who else does the same. */
struct array_results;
typedef struct array_set {
  const char *title; /* "Arrays" */
  const char *section, *limit_section;
  const char *peer_note; /* how they run, what the columns are */
  const array_code *own;
  const array_peer *const *peers;
  size_t peer_count;
  const char *version; /* of the last peer, or "" */
  /* NULL, or adds the rows of peers that are programs of their own. */
  void (*measure_outside)(struct array_results *results);
  const char *added_section;
  const array_addition *additions;
  size_t addition_count;
  const char *threads_section, *threads_operation; /* NULL: it is not split */
  const char *calls_section;                       /* of short calls; NULL: none */
} array_set;

extern const array_code array_functions, block_functions, grad_functions;
extern const array_set arrays_set, blocks_set, grad_set; /* of grad: beside PyTorch */

/* Why a peer is not measured, or NULL. */
const char *arrays_missing(const array_peer *peer);

typedef struct array_plan {
  size_t sizes[ARRAY_SIZES]; /* bytes of as many f32 as an array has elements */
  unsigned rounds[ARRAY_SIZES];
  unsigned threads; /* that each array is split among */
  size_t thread_sizes[THREAD_SIZES];
} array_plan;

typedef struct array_figure {
  double ns;    /* for one element; median */
  double noise; /* half of what lies between the quartiles, over the median */
  double rate;  /* GB/s, read and written */
  double limit; /* GB/s of the fastest copy of the same bytes */
} array_figure;

typedef struct array_row {
  array_figure sizes[ARRAY_SIZES];
  double calls[CALL_SIZES]; /* ns a call of so many elements; 0 where there are none */
} array_row;
extern const size_t call_sizes[CALL_SIZES];

typedef struct array_peer_row {
  size_t operation; /* index of the set's operations */
  const array_peer *peer;
  const array_peer_loop *loop; /* without run: of another program */
  bool differs;                /* gives other results than mpnum */
  array_row row;
} array_peer_row;

/* One operation, split. */
typedef struct array_thread_row {
  unsigned threads;
  array_figure sizes[THREAD_SIZES];
} array_thread_row;

/* Fastest copies in GB/s, 0 where there are none. */
typedef struct array_limit {
  byte_shape shape;
  double regular[ARRAY_SIZES], streaming[ARRAY_SIZES];
} array_limit;

typedef struct array_results {
  const array_set *set;
  array_plan plan;
  const char *isa;
  array_row *rows; /* one for each operation */
  array_peer_row *peers;
  size_t peer_count;
  array_limit limits[ARRAY_SHAPES]; /* of the shapes that operations have */
  size_t limit_count;
  array_thread_row threads[THREAD_ROWS];
  size_t thread_row_count; /* 0 where plan.threads is 1 */
} array_results;

/* False when out of memory. arrays_free in either case. */
bool arrays_measure(array_results *results, const array_set *set, const array_plan *plan,
                    progress *bar);
void arrays_free(array_results *results);
/* The index of an operation; the number of them for a name that there is not. */
size_t arrays_find(const array_set *set, const char *name);
/* One more row of a peer, for measure_outside; NULL where there is no such operation. */
array_peer_row *arrays_add_peer(array_results *results, const array_peer *peer,
                                const array_peer_loop *loop);

void arrays_figures(figures *to, const array_results *found);
bool arrays_print(const array_set *set, const figures *from, FILE *to);

#endif
