/* SPDX-License-Identifier: MIT */
/* What one GPU does with the library: results as plain numbers, measured by the .cu files
 * beside, written by the report files beside. No CUDA header is needed to read them. */
#ifndef MPNUM_BENCH_GPU_H
#define MPNUM_BENCH_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../core/formats.h"
#include "../core/message.h"
#include "../core/progress.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  GPU_PACKED = 3, /* formats with a packed form: e3m2, e2m3, e2m1 */
  GPU_CONVERSIONS = FORMAT_COUNT + GPU_PACKED,
  GPU_REDUCTIONS = 9,
  GPU_PRODUCTS = 8,
  GPU_SHAPES = 3,
  GPU_NOTES = 16,
  GPU_ROUNDS_LIMIT = 64
};

/* What is asked for. */
typedef struct gpu_plan {
  size_t size;       /* bytes of the f32 array in the timings */
  unsigned rounds;   /* at most GPU_ROUNDS_LIMIT */
  uint64_t patterns; /* random floats that each encode is checked with */
  uint64_t m, n, k;  /* of the matrix product */
} gpu_plan;

/* Of runs that each begin with nothing of theirs in the L2 cache. */
typedef struct gpu_time {
  double ms;    /* median */
  double noise; /* half of what lies between the quartiles, over the median */
} gpu_time;

typedef struct gpu_speed {
  gpu_time time;
  double rate;  /* GB/s, bytes read and written */
  double limit; /* GB/s of the device-to-device copy that took turns with it */
} gpu_speed;

/* Results that were compared with the CPU's. */
typedef struct gpu_match {
  uint64_t checked, wrong;
} gpu_match;

typedef struct gpu_conversion {
  mpnum_type type;
  bool packed;   /* several values share bytes */
  bool hardware; /* the encoding is an instruction of the target */
  double bytes;  /* of one value */
  gpu_speed encode, decode;
  gpu_match encode_match, decode_match;
} gpu_conversion;

typedef struct gpu_reduction {
  const char *operation; /* "all_finite", "amax", "stats" */
  mpnum_type type;
  gpu_speed speed;
  gpu_match match;
} gpu_reduction;

typedef enum gpu_state {
  GPU_NOT_RUN,
  GPU_MEASURED,
  GPU_UNSUPPORTED, /* by this GPU or by cuBLASLt */
  GPU_FAILED       /* an error, or a product that is not that of its operands */
} gpu_state;

typedef struct gpu_product {
  const char *name; /* "f32", "e4m3", "nvfp4" */
  double bits;      /* of one value of the operands, with its share of block scales */
  gpu_state state;
  char why[80];     /* of any state but GPU_MEASURED */
  gpu_time product; /* of operands in the format */
  gpu_time total;   /* the same with both operands converted from f32 before */
  double error;     /* root of sum((d - exact)^2) / sum(exact^2), exact from the f32 */
  gpu_state shape_states[GPU_SHAPES];
  gpu_time shapes[GPU_SHAPES];
} gpu_product;

typedef struct gpu_shape {
  const char *what; /* "multiples of 16" */
  uint64_t m, n, k;
} gpu_shape;

typedef struct gpu_device {
  char name[96];
  int major, minor;           /* compute capability */
  int code_major, code_minor; /* of the code in this program that it runs */
  int multiprocessors;
  double memory, cache; /* bytes, of the GPU and of its L2 */
  int driver, runtime;  /* CUDA versions, 13000 for 13.0 */
  int others;           /* further GPUs, not measured */
} gpu_device;

typedef struct gpu_results {
  char absent[320]; /* why nothing was measured; empty if something was */
  bool failed;      /* an error ended the measuring early: the last note */
  gpu_plan plan;    /* size is that measured, which memory may have reduced */
  gpu_device device;
  unsigned conversion_count, reduction_count, product_count; /* rows that are measured */
  gpu_conversion conversions[GPU_CONVERSIONS];
  gpu_reduction reductions[GPU_REDUCTIONS];
  char blas[48]; /* "cuBLASLt 13.1.0" */
  gpu_product products[GPU_PRODUCTS];
  gpu_shape shapes[GPU_SHAPES];
  char notes[GPU_NOTES][320];
  unsigned note_count;
} gpu_results;

/* Measures on the first GPU. Where there is none, results->absent says so. */
void gpu_measure(gpu_results *results, const gpu_plan *plan, progress *bar);

/* Adds a line to the notes; those past GPU_NOTES are dropped. */
void gpu_note(gpu_results *results, const char *format, ...) BENCH_PRINTF(2, 3);

/* Copies text, cut to fit, with nothing in it that drives a terminal. */
void gpu_set_text(char *dst, size_t size, const char *text);

/* Sorts the samples, milliseconds. */
gpu_time gpu_time_of(double *samples, unsigned count);

/* Derived figures; NaN where there is nothing to derive from. */
double gpu_tflops(uint64_t m, uint64_t n, uint64_t k, gpu_time time);
double gpu_speedup(const gpu_results *results, const gpu_product *row); /* product */
double gpu_total_speedup(const gpu_results *results, const gpu_product *row); /* total */
double gpu_shape_share(const gpu_results *results, const gpu_product *row, int shape);

/* What a speed-up over f32 is worth: "stay" below 1.1, "optional" up to 1.5, "use" up to
 * 2.5, "excellent" above; "-" for NaN. */
const char *gpu_verdict(double speedup);

const char *gpu_state_name(gpu_state state); /* "MEASURED", "UNSUPPORTED", ... */

/* "e2m1", or "e2m1 packed". */
void gpu_conversion_name(char *dst, size_t size, const gpu_conversion *row);

#ifdef __cplusplus
}
#endif

#endif
