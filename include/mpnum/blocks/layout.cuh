/* SPDX-License-Identifier: MIT */
/* Scales of quantised matrices in device memory, from one order to another. Rules of all
 * launchers: kernels.cuh. CUDA C++11; NVRTC for the kernel alone. Opt-in.
 *
 *     // Scales in rows, as a file has them, for cuBLASLt.
 *     mpnum_launch_reorder_scales(&format, MPNUM_SCALES_SWIZZLED, to, to_bytes,
 *                                 MPNUM_SCALES_IN_ROWS, from, from_bytes, rows, n,
 *                                 stream);
 *
 * What it does, and the status, is said in layout.h, and the bytes are the host's. Scales
 *   that are floats are aligned for them.
 * NaN: a float that is no power of two from 2^-127 on, which the host refuses, a device
 *   sees too late: its code is that of NaN.
 * Speed: a thread moves four neighbours of a row. */
#ifndef MPNUM_BLOCKS_LAYOUT_CUH
#define MPNUM_BLOCKS_LAYOUT_CUH

#include "../cuda/detail/launch.cuh"
#include "layout.h"
MPNUM_C_BEGIN_

namespace mpnum {

/* An order of scales: rows of them, of which `repeats` are one row of blocks, and what
 * the memory has with its padding. */
struct scale_order_ {
  uint8_t *memory;
  size_t rows, columns, padded_rows, padded_columns;
  mpnum_scale_order order;
  unsigned repeats;
  int is_turned, is_float; /* turned: a row of scales is a column of blocks */
  __device__ __forceinline__ size_t place(size_t row, size_t column) const {
    if (order == MPNUM_SCALES_SWIZZLED) return mpnum_scale_place(row, column, columns);
    if (order == MPNUM_SCALES_DEEPGEMM)
      return mpnum_deepgemm_place_(padded_rows, row, column);
    return row * columns + column;
  }
};

} // namespace mpnum

/* A grid of one dimension, blocks of MPNUM_LAUNCH_THREADS_. */
template <class Order>
static __global__ void mpnum_reorder_scales_kernel_(Order to, Order from) {
  mpnum_begin_kernel_();
  const size_t fours = (to.padded_columns + 3) / 4;
  const size_t threads = static_cast<size_t>(gridDim.x) * blockDim.x;
  size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < to.padded_rows * fours; i += threads) {
    const size_t row = i / fours, column = i % fours * 4;
    const size_t left = to.padded_columns - column, place = to.place(row, column);
    mpnum_lanes<uint8_t, 4> codes = {{0, 0, 0, 0}};
    mpnum_lanes<uint32_t, 4> floats;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 4; ++j) {
      if (row >= to.rows || column + j >= to.columns) continue;
      const size_t r = to.is_turned ? column + j : row / to.repeats; /* of blocks */
      const size_t c = to.is_turned ? row : column + j;
      const size_t at =
          from.is_turned ? from.place(c, r) : from.place(r * from.repeats, c);
      const uint32_t code =
          from.is_float
              ? mpnum_scale_code_(reinterpret_cast<const uint32_t *>(from.memory)[at])
              : from.memory[at];
      codes.at[j] = static_cast<uint8_t>(code < 0xffu ? code : 0xffu);
    }
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 4; ++j)
      floats.at[j] = mpnum_scale_bits_(codes.at[j]);
    if (to.is_float)
      mpnum_store(reinterpret_cast<uint32_t *>(to.memory) + place, floats, left);
    else
      mpnum_store(to.memory + place, codes, left);
  }
}

#if !MPNUM_HAS_NVRTC_

static inline mpnum::scale_order_
mpnum_scale_order_of_(const mpnum_blockscale_format &format, mpnum_scale_order order,
                      const void *memory, size_t rows, size_t columns) {
  const mpnum_scale_layout_ layout = mpnum_scale_layout_of_(&format);
  size_t size[2] = {mpnum_blocks_along_(rows, format.rows),
                    mpnum_blocks_along_(columns, format.columns)};
  size_t high = 1, wide = 1; /* what pads up to multiples of these */
  mpnum::scale_order_ made = {};
  if (order == MPNUM_SCALES_SWIZZLED) {
    mpnum_swizzled_size_(&format, size, rows, columns);
    high = 128;
    wide = 4;
    made.is_turned = layout == MPNUM_SCALES_TURNED_;
  } else if (order == MPNUM_SCALES_DEEPGEMM) {
    high = wide = 4;
  }
  made.memory = static_cast<uint8_t *>(const_cast<void *>(memory));
  made.rows = size[0];
  made.columns = size[1];
  made.padded_rows = (size[0] + high - 1) / high * high;
  made.padded_columns = (size[1] + wide - 1) / wide * wide;
  made.order = order;
  made.repeats =
      order == MPNUM_SCALES_SWIZZLED && layout == MPNUM_SCALES_OF_SQUARES_ ? 16 : 1;
  made.is_float = order == MPNUM_SCALES_IN_ROWS && format.scale_type == MPNUM_TYPE_F32;
  return made;
}
/* mpnum_reorder_scales. */
template <class Format = mpnum_blockscale_format>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_reorder_scales(const Format *format, mpnum_scale_order dst_order, void *dst,
                            size_t dst_bytes, mpnum_scale_order src_order,
                            const void *src, size_t src_bytes, size_t rows,
                            size_t columns, cudaStream_t stream) {
  size_t blocks = 0;
  if (rows == 0 || columns == 0) return cudaSuccess;
  if (mpnum_scale_orders_check_(format, dst_order, dst, dst_bytes, src_order, src,
                                src_bytes, rows, columns) != MPNUM_OK)
    return cudaErrorInvalidValue;
  const mpnum::scale_order_ to =
      mpnum_scale_order_of_(*format, dst_order, dst, rows, columns);
  const mpnum::scale_order_ from =
      mpnum_scale_order_of_(*format, src_order, src, rows, columns);
  if ((to.is_float && reinterpret_cast<size_t>(dst) % 4 != 0) ||
      (from.is_float && reinterpret_cast<size_t>(src) % 4 != 0))
    return cudaErrorInvalidValue;
  const size_t units = to.padded_rows * ((to.padded_columns + 3) / 4);
  const cudaError_t error =
      mpnum_launch_blocks_(&blocks, (units - 1) / MPNUM_LAUNCH_THREADS_ + 1, 0);
  if (error != cudaSuccess) return error;
  return mpnum_launch_(mpnum_reorder_scales_kernel_<mpnum::scale_order_>, blocks,
                       MPNUM_LAUNCH_THREADS_, stream, to, from);
}

#endif

MPNUM_C_END_
#endif
