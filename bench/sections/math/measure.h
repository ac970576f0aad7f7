/* SPDX-License-Identifier: MIT */
/* Functions of arrays and softmax of rows: time and error, beside libm and other
 * libraries. */
#ifndef MPNUM_BENCH_MATH_MEASURE_H
#define MPNUM_BENCH_MATH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "../../core/figures.h"
#include "../../peers/peers.h"
#include "../../peers/torch.h"
#include "../../core/progress.h"
#include "rows.h"

enum { MATH_FUNCTIONS = 18, SOFTMAX_MATRICES = 5 };

/* What a function is measured as. */
typedef enum math_way {
  MATH_F32, /* mpnum's, here and in the next two */
  MATH_F16,
  MATH_BF16,
  MATH_LIBM,
  MATH_SLEEF,
  MATH_WAYS
} math_way;

typedef struct math_function {
  const char *name;               /* "exp" */
  bool is_positive;               /* so are its inputs */
  array_loop loops[MATH_SLEEF];   /* all but SLEEF's */
  const char *called[MATH_SLEEF]; /* "mpnum_exp_f32_array", "expf(x)" */
  double (*exact)(double x);
} math_function;

extern const math_function math_functions[MATH_FUNCTIONS];

/* SLEEF's loops for the widest vectors of this CPU, or why there are none. */
typedef struct math_library {
  const char *missing; /* NULL: they are there */
  const char *isa;
  const array_peer_loop *loops; /* `operation` is the name of a math_function */
  size_t count;
} math_library;

const math_library *math_sleef(void);
/* NULL if it has no such function. */
const array_peer_loop *math_sleef_loop(const math_function *function);

/* Softmax of each row; rows lie one after another. */
typedef struct softmax_way {
  const char *name;
  const char *missing; /* why it was not built, or NULL */
  void (*run)(float *dst, const float *src, size_t rows, size_t columns);
  bool only_copies;
  int (*present)(void); /* NULL, or whether this CPU can run it */
} softmax_way;

enum { SOFTMAX_MPNUM, SOFTMAX_WAYS = 5 };
extern const softmax_way *const softmax_ways[SOFTMAX_WAYS];
extern const softmax_way softmax_mpnum, softmax_loop, softmax_reference, softmax_ggml,
    softmax_memcpy;
/* Why it is not measured, or NULL. */
const char *softmax_missing(const softmax_way *way);

typedef struct math_plan {
  size_t values;       /* in an array, and in a matrix unless one row has more */
  size_t matrix_bytes; /* of the largest matrix */
  unsigned rounds;
} math_plan;

typedef struct math_figure {
  bool measured;
  double ns;    /* for one element; median */
  double noise; /* half of what lies between the quartiles, over the median */
  double error; /* the largest: of f32 functions in ulp, of softmax relative; or NaN */
} math_figure;

typedef struct softmax_matrix {
  size_t rows, columns;
  math_figure ways[SOFTMAX_WAYS];
} softmax_matrix;

/* PyTorch's times of a function of arrays or of rows. */
enum { MATH_TYPES = 3, MATH_TORCH_ROWS = MATH_FUNCTIONS + ROW_OPERATIONS * ROW_WIDTHS };
typedef struct math_torch_row {
  char name[ROW_NAME], function[ROW_NAME];
  math_figure types[MATH_TYPES]; /* f32, f16, bf16 */
  double own[MATH_TYPES];        /* mpnum's ns */
} math_torch_row;
typedef struct math_torch {
  char version[TORCH_VERSION];
  refusal missing; /* why there are none, or "" */
  size_t count;
  math_torch_row rows[MATH_TORCH_ROWS];
} math_torch;

typedef struct math_results {
  math_plan plan;
  const char *isa;
  math_figure functions[MATH_FUNCTIONS][MATH_WAYS];
  softmax_matrix matrices[SOFTMAX_MATRICES];
  row_results rows_timed;
  math_torch torch;
} math_results;

/* Has the functions measured here use an instruction set; false where this CPU has it
 * not. */
bool math_force_isa(int isa);
const char *math_isa(void); /* in use */

/* False when out of memory. */
bool math_measure(math_results *found, const math_plan *plan, progress *bar);
/* After all others, in a process of Python's. */
void math_measure_torch(math_results *found);
void math_torch_figures(figures *to, const math_torch *found);
bool math_torch_print(const figures *from, FILE *to);

void math_figures(figures *to, const math_results *found);
bool math_print(const figures *from, FILE *to);

#endif
