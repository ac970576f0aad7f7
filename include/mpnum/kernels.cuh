/* SPDX-License-Identifier: MIT */
/* Kernels over arrays in device memory, and the functions that launch them: conversions
 * between any two types, all_finite, amax and statistics; quantisers; the gradient pass;
 * rows through softmax, losses, norms, activations and dropout. Opt-in, CUDA C++11.
 *
 *     mpnum_launch_convert_sat(codes, values, n, stream); // float * to mpnum_e4m3 *
 *
 * Launchers take the stream last, before what may be left out, allocate nothing, wait for
 * nothing and may be captured in a graph. They return what the runtime returns for the
 * launch; an error inside a kernel shows where the caller next synchronises. n may be 0
 * or above 2^31. Pointers are to device memory, aligned for their type; arrays are moved
 * 16 bytes at a time, those that are aligned unlike each other 4 from one and 16 to the
 * other. dst may be src only where both types have the same size and hold as many
 * elements; otherwise arrays do not overlap.
 *
 * cudaErrorInvalidValue, and no launch: NULL for an array that has elements, arrays that
 * overlap otherwise than the launcher allows, rows that are written closer to each other
 * than they are long. n, rows or columns 0 are no error.
 *
 * Where a launch fails, nothing has changed that is only read, nor a workspace or
 * scratch, and the next call works. Nothing is written either, but by launchers that are
 * several launches: mpnum_launch_quantize_current, _nvfp4_scale, _cross_entropy_rows with
 * a count or a reduced loss, gradients of norms with those of weight or bias, quantisers
 * that sum columns or normalise by column, reductions without scratch. Their results are
 * undefined then, also what they add to, or write in the place of a source. The steps of
 * scalers, optimizers and histories are one launch each.
 *
 * Every element is the scalar conversion of mpnum.h, bit for bit. T is float, double or
 * any storage struct (mpnum_f16, mpnum_e4m3, ...); in conversions the packed
 * mpnum_e2m1x2, mpnum_e3m2x4 and mpnum_e2m3x4, too.
 *
 * NVRTC has no runtime: there it is the kernels alone, named for nvrtcAddNameExpression
 * as the launchers below name them, grid and block as there.
 */
#ifndef MPNUM_KERNELS_CUH
#define MPNUM_KERNELS_CUH

#include "array/convert.cuh"
#include "training/grad.cuh"
#include "array/quantize.cuh"
#include "blocks/quantize_blocks.cuh"
#include "rows/activation_rows.cuh"
#include "rows/loss_rows.cuh"
#include "rows/norm_backward_rows.cuh"
#include "rows/norm_rows.cuh"
#include "array/reduce.cuh"
#include "rows/rows.cuh"

#endif
