/* SPDX-License-Identifier: MIT */
/* What the rows of launchers share with the host's functions that they are compared with.
 */
#ifndef MPNUM_BENCH_GPU_KERNELS_H
#define MPNUM_BENCH_GPU_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <mpnum/blocks/blockscale_format.h>
#include <mpnum/blocks/stored_layout.h>
#include <mpnum/rows/cross_entropy.h>
#include <mpnum/training/grad_tensor.h>
#include <mpnum/training/optimizer_tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Places in gpu_case.side, in floats. */
enum {
  GPU_SCALE,        /* that FP8 codes are made with */
  GPU_AMAX,         /* results */
  GPU_SCALE_INV,    /* a result, or what codes are multiplied by */
  GPU_TENSOR_SCALE, /* NVFP4's S */
  GPU_PARTS = 64,   /* of an array, with so many scales and amaxes, and offsets */
  GPU_COUNTS = 64,  /* a histogram, or what is lost */
  GPU_PART_SCALES = 592,
  GPU_PART_AMAX = 656,
  GPU_OFFSETS = 720, /* words of 64 bits */
  GPU_LOSSES = 1024  /* of rows */
};

/* The arrays of one call, all of the device or all of the host: x and y of one type, out
 * as large as floats of them. Of quantised matrices two lie there, codes from bytes 0
 * and n on, their scales from 2 n and 3 n on. */
typedef struct gpu_case {
  mpnum_type type; /* of x and y */
  const void *x, *y;
  void *out;
  float *side;
  const float *weight;    /* columns of them */
  const int64_t *targets; /* rows of them */
  void *workspace;        /* not compared; of the host as many floats as x has */
  uint64_t tiles;         /* of a list of tensors, which lies in the workspace */
  size_t rows, columns;
} gpu_case;

static inline mpnum_blockscaled gpu_codes(const gpu_case *c, const void *at, int second) {
  const size_t n = c->rows * c->columns;
  uint8_t *base; /* launchers take one type for what they write and read */
  mpnum_blockscaled made;
  memcpy(&base, &at, sizeof base);
  base += second ? n : 0;
  made.codes = base;
  made.stride = c->columns;
  made.scale_inv = base + 2 * n;
  made.scale_inv_bytes = n;
  made.is_swizzled = 0;
  made.scale = 1;
  return made;
}

/* The same as other libraries store them, in blocks of 32; their scales are from byte 2 n
 * on, zero points from 3 n. */
static inline mpnum_stored gpu_stored(const gpu_case *c, const void *at,
                                      mpnum_stored_layout layout) {
  const mpnum_blockscaled places = gpu_codes(c, at, 0);
  mpnum_stored made = mpnum_stored_of(layout, c->rows, c->columns, 32);
  made.data = places.codes;
  made.scales = places.scale_inv;
  made.zeros = (uint8_t *)places.scale_inv + c->rows * c->columns;
  return made;
}

/* Options that some rows are called with. */
static inline mpnum_softmax_options gpu_causal(void) {
  mpnum_softmax_options made = mpnum_softmax_default();
  made.scale = 0.125f;
  made.first_length = made.length_step = 1;
  return made;
}
static inline mpnum_cross_entropy_options gpu_smoothing(void) {
  mpnum_cross_entropy_options made = mpnum_cross_entropy_default();
  made.label_smoothing = 0.1f;
  made.factor = 0x1p-10f;
  made.ignore_index = -100;
  return made;
}
enum { GPU_STOCHASTIC_SEED = 5 };
#define GPU_KEEP 0.875f /* of dropout */

/* The host's results, into out and side. */
typedef void gpu_expect(const gpu_case *c);
gpu_expect gpu_expect_softmax, gpu_expect_causal, gpu_expect_log_softmax,
    gpu_expect_logsumexp, gpu_expect_cross_entropy, gpu_expect_softmax_backward,
    gpu_expect_log_softmax_backward, gpu_expect_layer_norm, gpu_expect_rms_norm,
    gpu_expect_layer_norm_codes, gpu_expect_rms_norm_codes,
    gpu_expect_layer_norm_backward, gpu_expect_rms_norm_backward, gpu_expect_scaled,
    gpu_expect_current, gpu_expect_transpose, gpu_expect_dequantized, gpu_expect_mx,
    gpu_expect_mx_both, gpu_expect_mxfp4, gpu_expect_mx_back, gpu_expect_nvfp4,
    gpu_expect_nvfp4_square, gpu_expect_nvfp4_sr, gpu_expect_nvfp4_back,
    gpu_expect_nvfp4_scale, gpu_expect_block, gpu_expect_block_square,
    gpu_expect_block_back, gpu_expect_q4_0, gpu_expect_q4_0_back, gpu_expect_nf4_back,
    gpu_expect_histogram, gpu_expect_lost, gpu_expect_stochastic_e4m3,
    gpu_expect_stochastic_bf16, gpu_expect_silu, gpu_expect_gelu_tanh, gpu_expect_swiglu,
    gpu_expect_swiglu_codes, gpu_expect_groups, gpu_expect_gelu_tanh_backward,
    gpu_expect_swiglu_backward, gpu_expect_dropout, gpu_expect_mx_silu,
    gpu_expect_mx_swiglu, gpu_expect_mx_silu_gradient, gpu_expect_mx_swiglu_gradient,
    gpu_expect_mx_rms_norm, gpu_expect_nvfp4_silu, gpu_expect_nvfp4_hadamard,
    gpu_expect_scaled_copy;

/* mpnum_optimizer_step of one tensor, the first step. */
void gpu_expect_step(const mpnum_optimizer *optimizer,
                     const mpnum_optimizer_tensor *tensor);
/* mpnum_adafactor_step, the same. */
struct mpnum_adafactor;
void gpu_expect_adafactor(const struct mpnum_adafactor *adafactor,
                          const mpnum_optimizer_tensor *tensor);

/* mpnum_grad_multiply by 1/2. */
void gpu_expect_grad(const mpnum_grad_tensor *tensors, size_t count,
                     mpnum_grad_findings *findings);

#ifdef __cplusplus
}
#endif

#endif
