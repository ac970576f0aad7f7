/* SPDX-License-Identifier: MIT */
/* A list of gradients in device memory, planned once on the host, and what the blocks of
 * a pass over it (grad.cuh) share. CUDA C++11, NVRTC too. */
#ifndef MPNUM_TRAINING_GRAD_LIST_CUH
#define MPNUM_TRAINING_GRAD_LIST_CUH

#include "../mpnum.h"
MPNUM_C_BEGIN_

/* A list of tensors, as launchers take it. */
typedef struct mpnum_grad_list {
  const mpnum_grad_tensor *tensors; /* the caller's, in device memory */
  const uint64_t *tiles_before;     /* of each tensor, and of the end; the same */
  uint64_t count;                   /* what mpnum_grad_plan found */
  uint64_t tiles, elements;
  uint32_t can_clip; /* 1: every dst is there, and cut as its src is */
  uint32_t unused;
} mpnum_grad_list;

/* What the blocks of a pass add up, in device memory. All bytes 0 before the first pass,
 * and after each but squares and norm. Where blocks was not, or launches of two streams
 * meet in it, what was found is more NaNs than elements, so that a step is skipped, and a
 * clip is refused; and so it is of all that follow, until all of it is set to zero. */
typedef struct mpnum_grad_workspace {
  mpnum_exact_sum before_carry, after_carry; /* as on the host, which carries at times */
  uint64_t zeros, subnormals, infs, nans;
  uint64_t first;          /* 2048 times the tile and the element, inverted; 0: none */
  uint32_t max, min;       /* min: the smallest nonzero magnitude less 1, inverted */
  uint64_t blocks;         /* that are done, and of which launch */
  mpnum_exact_sum squares; /* what the last pass found, for a clip of the same */
  float norm;              /* their root */
} mpnum_grad_workspace;

enum { MPNUM_GRAD_TILE_ = 2048 };

/* How a tensor is cut. Rows without gaps are one. */
typedef struct mpnum_grad_shape_ {
  uint64_t rows, columns, tiles_of_row;
} mpnum_grad_shape_;
MPNUM_MATH_ mpnum_grad_shape_ mpnum_grad_shape_of_(const mpnum_grad_tensor &t) {
  mpnum_grad_shape_ shape = {t.rows, t.columns, 0};
  if (t.src_stride == t.columns && (!t.dst || t.dst_stride == t.columns)) {
    shape.rows = t.rows != 0;
    shape.columns = static_cast<uint64_t>(t.rows) * t.columns;
  }
  shape.tiles_of_row = (shape.columns + MPNUM_GRAD_TILE_ - 1) / MPNUM_GRAD_TILE_;
  return shape;
}
/* As a clip sees it: dst to dst. */
MPNUM_MATH_ mpnum_grad_tensor mpnum_grad_in_place_(mpnum_grad_tensor t) {
  t.src = t.dst;
  t.src_type = t.dst_type;
  t.src_stride = t.dst_stride;
  t.histogram = 0;
  return t;
}

#if MPNUM_HAS_ARRAYS_

/* Plans a pass over tensors that have addresses of the device: writes count + 1 words to
 * tiles_before, and the list but for its two pointers, which are the caller's to set once
 * tensors and words are in device memory. Host only. flags: 0 or MPNUM_GRAD_NARROW.
 * Status codes: those of mpnum_grad_multiply; MPNUM_ERROR_ARGUMENT: an address that is
 * not aligned for its type; 2^52 elements or more. Nothing is written then. */
MPNUM_MUST_CHECK static inline mpnum_status
mpnum_grad_plan(mpnum_grad_list *list, uint64_t *tiles_before,
                const mpnum_grad_tensor *tensors, size_t count, uint32_t flags) {
  const uint64_t limit = static_cast<uint64_t>(1) << 52;
  mpnum_grad_list planned = {0, 0, count, 0, 0, 1, 0};
  const mpnum_status status =
      mpnum_grad_tensors_check_(MPNUM_GRAD_SCALE_, tensors, count, flags);
  if (status != MPNUM_OK) return status;
  for (size_t i = 0; i < count; ++i) {
    const mpnum_grad_tensor &t = tensors[i];
    const mpnum_grad_shape_ shape = mpnum_grad_shape_of_(t);
    const size_t src_bytes = static_cast<size_t>(mpnum_type_bits_(t.src_type)) / 8;
    const size_t dst_bytes = static_cast<size_t>(mpnum_type_bits_(t.dst_type)) / 8;
    if (t.rows == 0 || t.columns == 0) continue;
    if (t.columns > limit / t.rows) return MPNUM_ERROR_ARGUMENT;
    if (reinterpret_cast<size_t>(t.src) % src_bytes != 0 ||
        reinterpret_cast<size_t>(t.dst) % dst_bytes != 0)
      return MPNUM_ERROR_ARGUMENT;
    planned.tiles += shape.rows * shape.tiles_of_row;
    planned.elements += static_cast<uint64_t>(t.rows) * t.columns;
    if (planned.elements >= limit) return MPNUM_ERROR_ARGUMENT;
    if (!t.dst || mpnum_grad_shape_of_(mpnum_grad_in_place_(t)).rows != shape.rows)
      planned.can_clip = 0;
  }
  uint64_t tiles = 0;
  for (size_t i = 0; i < count; ++i) {
    const mpnum_grad_shape_ shape = mpnum_grad_shape_of_(tensors[i]);
    tiles_before[i] = tiles;
    tiles += shape.rows * shape.tiles_of_row;
  }
  tiles_before[count] = tiles;
  *list = planned;
  return MPNUM_OK;
}

#endif

MPNUM_C_END_
#endif
