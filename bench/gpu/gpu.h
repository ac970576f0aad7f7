/* SPDX-License-Identifier: MIT */
/* What one GPU does with the library: results as plain numbers, measured by the .cu files
 * beside, written by the report files beside. No CUDA header is needed to read them. */
#ifndef MPNUM_BENCH_GPU_H
#define MPNUM_BENCH_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../core/figures.h"
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
  GPU_PRODUCTS = 9,
  GPU_SHAPES = 3,   /* sizes near those asked for */
  GPU_VARIANTS = 8, /* those, then other results, sums and a batch */
  GPU_BATCH = 8,
  GPU_STEP_SHAPES = 8, /* that can be asked for */
  GPU_STEPS = 8 * GPU_STEP_SHAPES,
  GPU_KERNELS = 96,    /* room for rows of launchers */
  GPU_SWEEP_SIZES = 8, /* that can be asked for */
  GPU_SWEEP = 5 * GPU_SWEEP_SIZES,
  GPU_NOTES = 16,
  GPU_ROUNDS_LIMIT = 64
};

/* What is asked for. */
typedef struct gpu_plan {
  int device;
  bool all;          /* each launcher and size, too: not on the first screen */
  size_t size;       /* bytes of the f32 array in the timings */
  unsigned rounds;   /* at most GPU_ROUNDS_LIMIT */
  uint64_t patterns; /* random floats that each encode is checked with */
  uint64_t m, n, k;  /* of the matrix product */
  /* M, N and K of training steps: of M rows, N outputs and K inputs of a layer. None: no
   * other results, sums and batch of the product, either. */
  unsigned step_shapes;
  uint64_t steps[GPU_STEP_SHAPES][3];
  size_t sweep[GPU_SWEEP_SIZES]; /* bytes of f32, 0 from the first that is none */
} gpu_plan;

/* Of runs that each begin with nothing of theirs in the L2 cache. */
typedef struct gpu_time {
  double ms;    /* median */
  double noise; /* half of what lies between the quartiles, over the median */
} gpu_time;

typedef struct gpu_speed {
  gpu_time time;
  double rate;  /* GB/s, bytes read and written */
  double limit; /* GB/s of the better copy, or of reading, that took turns with it */
} gpu_speed;

/* Results that were compared with the CPU's. */
typedef struct gpu_match {
  uint64_t checked, wrong;
} gpu_match;

typedef enum gpu_state {
  GPU_NOT_RUN,
  GPU_MEASURED,
  GPU_UNSUPPORTED, /* by this GPU or by cuBLASLt */
  GPU_FAILED       /* an error, or a product that is not that of its operands */
} gpu_state;

typedef struct gpu_conversion {
  mpnum_type type;
  gpu_state state;
  char why[80];  /* of any state but GPU_MEASURED */
  bool packed;   /* several values share bytes */
  bool hardware; /* the encoding is an instruction of the target */
  double bytes;  /* of one value */
  gpu_speed encode, decode;
  gpu_match encode_match, decode_match;
} gpu_conversion;

typedef struct gpu_reduction {
  const char *operation; /* "all_finite", "amax", "stats" */
  mpnum_type type;
  gpu_state state;
  char why[80]; /* of any state but GPU_MEASURED */
  gpu_speed speed;
  gpu_match match;
} gpu_reduction;

/* A product other than the first of its format. */
typedef struct gpu_part {
  gpu_state state;
  char why[80]; /* of any state but GPU_MEASURED */
  gpu_time time;
  double error; /* as that of gpu_product */
} gpu_part;

typedef struct gpu_product {
  const char *name; /* "f32", "e4m3", "nvfp4" */
  double bits;      /* of one value of the operands, with its share of block scales */
  gpu_state state;
  char why[80];     /* of any state but GPU_MEASURED */
  gpu_time product; /* of operands in the format */
  gpu_time total;   /* the same with both operands converted from f32 before */
  double bytes;     /* that converting moves */
  double error;     /* root of sum((d - exact)^2) / sum(exact^2), exact from the f32 */
  gpu_part variants[GPU_VARIANTS];
} gpu_product;

/* The products of a linear layer in training: forward, and the gradients of its input and
 * of its weight. */
enum { GPU_FORWARD, GPU_INPUT_GRADIENT, GPU_WEIGHT_GRADIENT, GPU_STEP_PARTS };
typedef struct gpu_step {
  const char *name; /* of the format */
  unsigned shape;   /* of the plan */
  gpu_state state;
  char why[80];
  gpu_time parts[GPU_STEP_PARTS];
  gpu_time converting; /* input, weight and gradient from f32; ms 0: nothing to do */
  gpu_time whole;
  double bytes; /* that converting moves */
  double error; /* of the worst part */
} gpu_step;

typedef struct gpu_variant {
  const char *what; /* "multiples of 16", "bf16 result" */
  uint64_t m, n, k;
  unsigned batch;
} gpu_variant;

/* What memory gives, GB/s read and written, L2 flushed before. */
typedef struct gpu_limits {
  double api;  /* of cudaMemcpy on the device */
  double copy; /* of the best of some kernels, whose name is copy_shape */
  double read; /* of the best that only reads */
  const char *copy_shape, *read_shape;
  double warm_ms; /* that copies ran before the first timing */
  bool steady;    /* when they ended, times stayed within 1 % */
} gpu_limits;

/* What NVML tells while copies run. */
typedef struct gpu_clocks {
  char missing[120];   /* why nothing is known; empty if something is */
  double sm, sm_limit; /* MHz */
  double memory, memory_limit;
  double power, power_limit; /* W */
  double celsius;
  char reasons[120]; /* that hold the clocks down, "none" */
} gpu_clocks;

/* What a row's GB/s are held against. */
typedef enum gpu_bound { GPU_BY_COPY, GPU_BY_READ, GPU_BY_TIME } gpu_bound;

/* One launcher on one kind of data. */
typedef struct gpu_kernel {
  char name[64];   /* "softmax_rows f32 x 1024" */
  gpu_bound bound; /* GPU_BY_TIME: so little data that microseconds alone count */
  gpu_state state;
  char why[80];    /* of any state but GPU_MEASURED */
  double bytes;    /* that one launch moves */
  gpu_speed speed; /* no rate and limit with GPU_BY_TIME */
  gpu_match match;
  gpu_time torch;       /* the same by PyTorch; ms 0: not measured */
  char torch_calls[48]; /* what that calls */
} gpu_kernel;

/* One operation at one size, in graphs of many launches. */
typedef struct gpu_sweep_row {
  const char *operation; /* "f32 to e4m3" */
  size_t size;           /* bytes of the f32 array */
  double bytes;          /* that one launch moves */
  unsigned launches;     /* in the graph */
  gpu_time warm, cold;   /* of one launch, on data that is in the L2 cache and not */
} gpu_sweep_row;

typedef struct gpu_device {
  char name[96];
  int major, minor;           /* compute capability */
  int code_major, code_minor; /* of the code in this program that it runs */
  int multiprocessors;
  double memory, cache; /* bytes, of the GPU and of its L2 */
  int driver, runtime;  /* CUDA versions, 13000 for 13.0 */
  int others;           /* further GPUs, not measured */
  char bus[24];         /* "0000:01:00.0" */
} gpu_device;

typedef struct gpu_results {
  char absent[320]; /* why nothing was measured; empty if something was */
  bool failed;      /* a row or a part failed, which its state or a note tells */
  gpu_plan plan;    /* size is that measured, which memory may have reduced */
  gpu_device device;
  gpu_clocks before, after;
  gpu_limits limits;
  unsigned conversion_count, reduction_count, product_count; /* rows that are measured */
  unsigned kernel_count, sweep_count, step_count;
  gpu_conversion conversions[GPU_CONVERSIONS];
  gpu_reduction reductions[GPU_REDUCTIONS];
  gpu_kernel kernels[GPU_KERNELS];
  gpu_sweep_row sweep[GPU_SWEEP];
  char torch[200]; /* "PyTorch 2.9.0", or why it was not measured; "" */
  bool has_torch;
  char blas[48]; /* "cuBLASLt 13.1.0" */
  gpu_product products[GPU_PRODUCTS];
  gpu_variant variants[GPU_VARIANTS];
  gpu_step steps[GPU_STEPS];
  char notes[GPU_NOTES][320];
  unsigned note_count;
} gpu_results;

/* Measures on the GPU of the plan. Where there is none, results->absent says so. */
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
double gpu_step_speedup(const gpu_results *results, const gpu_step *row);

/* A note where a GPU runs code of another target than its own; has_small: whether that
 * code has the instructions of e2m1, which plain targets of 10.0 and up lack. */
void gpu_note_code(gpu_results *results, bool has_small);

/* What a format costs: the sums of its steps of all shapes, of its product where no step
 * was measured. Milliseconds. */
typedef struct gpu_cost {
  const char *name;
  double products, converting, whole;
  double bytes; /* that converting moves */
  double error; /* the largest one */
} gpu_cost;

/* False where a part of it was not measured. */
bool gpu_cost_of(const gpu_results *results, const char *name, gpu_cost *cost);
/* Those of f32 and of the fastest other format, conversions included; false where one of
 * them is missing. */
bool gpu_fastest(const gpu_results *results, gpu_cost *f32, gpu_cost *cost);
/* What bounds it: "the products", "converting, at copy speed" or "conversion-bound":
 * converting costs what the products save over those of f32, or a tenth of the time and a
 * quarter more than a copy of its bytes. */
const char *gpu_bound_of(const gpu_results *results, const gpu_cost *f32,
                         const gpu_cost *cost);

/* What a speed-up over f32 is worth: "stay" below 1.1, "optional" up to 1.5, "use" up to
 * 2.5, "excellent" above; "-" for NaN. */
const char *gpu_verdict(double speedup);

const char *gpu_state_name(gpu_state state); /* "MEASURED", "UNSUPPORTED", ... */

/* "e2m1", or "e2m1 packed". */
void gpu_conversion_name(char *dst, size_t size, const gpu_conversion *row);

/* The results as figures, and their tables. */
void gpu_figures(figures *to, const gpu_results *found);
bool gpu_print(const figures *from, FILE *to);
/* PyTorch's times of what it has, where TORCH_PYTHON or python3 has it, or why not. */
void gpu_measure_torch(gpu_results *results);

/* Clocks of a GPU through libnvidia-ml.so.1, which is looked for when the program runs.
 */
/* bus: as cudaDeviceGetPCIBusId has it. What is not known is NaN. begin, if there is one,
 * is called when the library has started, which takes long, right before it is asked. */
void nvml_read(gpu_clocks *clocks, const char *bus, void (*begin)(void *context),
               void *context);

/* The bits of nvmlDeviceGetCurrentClocksThrottleReasons in words. */
void nvml_reasons(char *dst, size_t size, unsigned long long bits);

/* The parts that only `--gpu` runs; a program without them has no_kernels.c. */
struct gpu_run;
struct blas;
void gpu_measure_kernels(struct gpu_run *run);
void gpu_measure_sweep(struct gpu_run *run);
void gpu_measure_steps(struct gpu_run *run, struct blas *library);

#ifdef __cplusplus
}
#endif

#endif
