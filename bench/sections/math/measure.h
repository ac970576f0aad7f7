/* SPDX-License-Identifier: MIT */
/* Functions of arrays, softmax and other functions of rows: time and error, beside libm
 * and other libraries. */
#ifndef MPNUM_BENCH_MATH_MEASURE_H
#define MPNUM_BENCH_MATH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../../core/figures.h"
#include "../../core/progress.h"
#include "../../peers/peers.h"
#include "../../../tests/func/function_rows.h"

#define MATH_ROW(...) +1
enum { MATH_FUNCTIONS = 0 TIMED_FUNCTIONS(MATH_ROW), MATH_TYPES = 3 };
extern const char *const math_types[MATH_TYPES]; /* "f32", "f16", "bf16" */

/* What a function is measured as: mpnum's in each type, then f32 of libraries. */
enum { MATH_LIBM = MATH_TYPES, MATH_SLEEF };

typedef struct math_function {
  const char *name;               /* "exp" */
  bool is_positive;               /* so are its inputs */
  array_loop loops[MATH_SLEEF];   /* all but SLEEF's */
  const char *called[MATH_SLEEF]; /* "mpnum_exp_f32_array", "expf(x)" */
  double (*exact)(double x);
} math_function;

#define MATH_PLACE(name, ...) place_of_##name,
enum { TIMED_FUNCTIONS(MATH_PLACE) };
extern const math_function math_functions[MATH_FUNCTIONS]; /* by their places */
/* mpnum's light form of f32, and what is called; NULL where it has none. */
array_loop math_light_loop(const math_function *function);
const char *math_light_name(const math_function *function);

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

enum { SOFTMAX_WAYS = 5 };
extern const softmax_way *const softmax_ways[SOFTMAX_WAYS]; /* mpnum's first */
extern const softmax_way softmax_mpnum, softmax_loop, softmax_reference, softmax_ggml,
    softmax_memcpy;
/* Why it is not measured, or NULL. */
const char *softmax_missing(const softmax_way *way);

/* Losses, norms and activations of rows, their gradients and fused forms: mpnum's in each
 * type, the loop in f32, and the copy of f32. Rows lie one after another. */
typedef struct row_call {
  size_t rows, columns;
  void *src, *dst, *other; /* of 4 or 2 bytes an element */
  float *weight, *of_weight, *of_rows;
  int32_t *targets; /* 0 */
} row_call;

enum {
  ROW_SOFTMAX = 0,
  ROW_LAYER_NORM = 8,
  ROW_RMS_NORM = 9,
  ROW_LAYER_NORM_BACKWARD = 11,
  ROW_OPERATIONS = 15,
  ROW_WIDTHS = 5,
  ROW_NAME = 64
};
typedef enum row_way { ROW_F32, ROW_F16, ROW_BF16, ROW_LOOP, ROW_COPY, ROW_WAYS } row_way;

typedef struct row_operation {
  const char *name;
  void (*run)(const row_call *call, row_way type);
  void (*loop)(const row_call *call); /* or NULL */
} row_operation;
extern const row_operation row_operations[ROW_OPERATIONS]; /* these at their places */
/* The same values in a type of mpnum's. */
void row_convert(void *dst, row_way type, const float *src, size_t count);
/* "softmax, 65 x 1000" */
void row_name(char name[ROW_NAME], size_t operation, size_t rows, size_t columns);

typedef struct math_plan {
  size_t values;       /* in an array, and in a matrix unless one row has more */
  size_t matrix_bytes; /* of the largest matrix */
  unsigned rounds;
} math_plan;

/* Those of the lengths of rows that an array has room for. */
int math_widths(const math_plan *plan, size_t columns[ROW_WIDTHS]);

/* Has the functions measured here use an instruction set; false where this CPU has it
 * not. */
bool math_force_isa(int isa);
const char *math_isa(void); /* in use */

/* Appends the figures; false when out of memory. */
bool math_measure(figures *to, const math_plan *plan, progress *bar);
/* Those of PyTorch, after all others, in a process of Python's. */
void math_measure_torch(figures *to, const math_plan *plan);
bool math_print(const figures *from, FILE *to);

#endif
