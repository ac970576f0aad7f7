/* SPDX-License-Identifier: MIT */
/* A chain of short launches, in its two ways of being launched. */
#ifndef MPNUM_BENCH_GPU_CHAIN_H
#define MPNUM_BENCH_GPU_CHAIN_H

enum { GPU_CHAIN_LAYERS = 4, GPU_CHAIN_ROWS = 64, GPU_CHAIN_COLUMNS = 256 };

/* In device memory: x, which becomes what comes out of the chain, and what it needs. */
struct gpu_chain {
  float *x, *y;
  void *codes; /* one byte each */
  float *scale_inv, *amax;
};

/* Starts a chain, whose context is a gpu_chain; 5 launches a layer. */
cudaError_t gpu_start_chain(void *context, unsigned number, cudaStream_t stream);
cudaError_t gpu_start_programmatic_chain(void *context, unsigned number,
                                         cudaStream_t stream);
/* Whether the second one is another one: its targets allow it. */
bool gpu_has_programmatic_chain();

#endif
