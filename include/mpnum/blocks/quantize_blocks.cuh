/* SPDX-License-Identifier: MIT */
/* MX, NVFP4 and DeepSeek's FP8 on devices: matrices in device memory to codes with a
 * scale for each block, and back, as blockscale.h does on hosts. Rules of all launchers:
 * kernels.cuh. CUDA C++11; NVRTC for the kernels alone.
 *
 *     const mpnum_blockscale_format format =
 *         mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
 *     mpnum_blockscaled by_row = {codes, columns, scales, scale_bytes, 1, 0};
 *     mpnum_launch_quantize_mx<mpnum_e4m3>(&by_row, NULL,
 *                                          mpnum::matrix_of(x, rows, columns),
 *                                          MPNUM_BLOCKSCALE_RCEIL,
 *                                          MPNUM_QUANTIZE_ROWS, stream);
 *
 * mpnum_blockscaled is blockscale.h's, its pointers to device memory; `scale` is not
 * looked at. by_row has blocks along rows of src, 1x32, by_column blocks along its
 * columns, 32x1, and `what` says which of the two are made, both from one read of src;
 * the other one may be NULL.
 *
 * By column, codes lie where their elements do, or with MPNUM_QUANTIZE_TRANSPOSED as rows
 * of the transposed matrix, `stride` being that of its rows. Scales of 32x1 blocks: a row
 * of them for each 32 rows of src, as mpnum_blockscale_transposed has it on hosts; those
 * of the transposed matrix where that is made. Swizzled: those of the operand as it is
 * multiplied, as on hosts (mpnum_blockscale_scale_bytes); padding is written as zeros.
 *
 * src, an mpnum::matrix of f32, f16 or bf16, or what is computed of some
 * (quantize_computed.cuh): row r begins at element r * stride. rows and columns may be
 * any number: a block at an end is short. Nothing past the columns is written. Inf and
 * NaN: as MPNUM_BLOCKSCALE_PROPAGATE. Bits: mpnum_quantize_blocks. Errors:
 * cudaErrorInvalidValue, nothing is launched: what blockscale.h refuses with a status,
 * arrays that overlap, no or unknown bits in `what`, scales that are floats at an odd
 * address. rows or columns 0: cudaSuccess, nothing is launched. */
#ifndef MPNUM_BLOCKS_QUANTIZE_BLOCKS_CUH
#define MPNUM_BLOCKS_QUANTIZE_BLOCKS_CUH

#include "blockscale_format.h"
#include "../array/matrix.cuh"
#include "detail/dequantize_blocks.cuh"
#include "detail/quantize_tiles.cuh"
MPNUM_C_BEGIN_

#define MPNUM_QUANTIZE_ROWS    1
#define MPNUM_QUANTIZE_COLUMNS 2
#define MPNUM_QUANTIZE_TRANSPOSED                      \
 4 /* codes by column as rows of the transposed matrix \
    */
static_assert(MPNUM_QUANTIZE_ROWS == MPNUM_SIDE_ROWS_ &&
                  MPNUM_QUANTIZE_COLUMNS == MPNUM_SIDE_COLUMNS_ &&
                  MPNUM_QUANTIZE_TRANSPOSED == MPNUM_SIDE_TRANSPOSED_,
              "what kernels are told");

#if !MPNUM_HAS_NVRTC_

/* Makes a side of a job: codes by row, or by column. False if it is none. format: of
 * blocks along rows. bytes: those of codes and of scales. */
static inline bool mpnum_quantize_side_of_(mpnum_quantize_side_ *side, size_t bytes[2],
                                           const mpnum_blockscale_format &format,
                                           const mpnum_blockscaled *codes, int what,
                                           size_t rows, size_t columns) {
  if (!codes) return false;
  const bool is_by_column = (what & MPNUM_QUANTIZE_COLUMNS) != 0;
  const bool is_transposed = (what & MPNUM_QUANTIZE_TRANSPOSED) != 0;
  const bool is_turned = is_transposed || (is_by_column && codes->is_swizzled &&
                                           format.rows != format.columns);
  const mpnum_blockscale_format lying =
      is_by_column && !is_transposed ? mpnum_blockscale_transposed(format) : format;
  const size_t high = is_transposed ? columns : rows;
  const size_t wide = is_transposed ? rows : columns;
  mpnum_blockscaled checked = *codes; /* what a host refuses */
  checked.scale = 1;
  if (mpnum_blockscaled_check_(&lying, &checked, high, wide, bytes) != MPNUM_OK ||
      (format.scale_type == MPNUM_TYPE_F32 &&
       reinterpret_cast<size_t>(codes->scale_inv) % 4 != 0))
    return false;
  side->codes = static_cast<uint8_t *>(codes->codes);
  side->scale_inv = static_cast<uint8_t *>(codes->scale_inv);
  side->pitch =
      mpnum::dense_bytes_(static_cast<unsigned>(format.element_bits), codes->stride);
  side->is_swizzled = codes->is_swizzled;
  side->is_turned = is_turned;
  side->across = is_turned ? mpnum_blocks_along_(rows, format.columns)
                           : mpnum_blocks_along_(columns, lying.columns);
  size_t swizzled[2] = {0, 0};
  mpnum_swizzled_size_(&lying, swizzled, high, wide);
  side->down = swizzled[0];
  side->cleared =
      codes->is_swizzled && swizzled[0] * swizzled[1] != bytes[1] ? bytes[1] : 0;
  return true;
}
/* Whether neither codes nor scales of a side are in memory that a source reads. */
template <class Matrix>
static inline bool mpnum_side_avoids_(const mpnum_quantize_side_ &side,
                                      const size_t bytes[2], const Matrix &src) {
  return src.is_apart(side.codes, bytes[0]) && src.is_apart(side.scale_inv, bytes[1]);
}
static inline cudaError_t mpnum_clear_scales_(const mpnum_quantize_side_ &side,
                                              cudaStream_t stream) {
  if (side.cleared == 0) return cudaSuccess;
  return cudaMemsetAsync(side.scale_inv, 0, side.cleared, stream);
}

/* Cuts a matrix into tiles of 1 << log2_vectors vectors, rows of 1 << shift, at most
 * most_shift, so that few of those are past its end: not of 512 or more but for a whole
 * tile, with which the vectors of a thread have no one distance. bytes: those of the
 * codes of a vector. False: too many for a grid. */
static inline bool mpnum_quantize_tiles_(dim3 *grid, mpnum_quantize_job_ *job,
                                         mpnum_quantize_side_ *side, size_t lanes,
                                         size_t bytes, unsigned least_shift,
                                         unsigned most_shift, bool is_aligned,
                                         unsigned log2_vectors) {
  const size_t vectors = job->width / lanes + (job->width % lanes != 0);
  const size_t limit = 0x7fffffff;
  unsigned shift = most_shift;
  while (shift > least_shift &&
         ((shift > 8 && shift < log2_vectors) ||
          ((vectors - 1) >> shift) + 1 > (vectors + vectors / 8) >> shift))
    --shift;
  const size_t across = ((vectors - 1) >> shift) + 1;
  const size_t down = ((job->height - 1) >> (log2_vectors - shift)) + 1;
  const size_t rows = MPNUM_LAUNCH_THREADS_ >> shift;
  if (across > limit / down) return false;
  job->shift = shift;
  job->whole_across = is_aligned ? static_cast<unsigned>(job->width / lanes >> shift) : 0;
  job->whole_down = static_cast<unsigned>(job->height >> (log2_vectors - shift));
  job->step = rows ? rows * job->stride : MPNUM_LAUNCH_THREADS_ * lanes;
  side->step = rows ? rows * side->pitch : MPNUM_LAUNCH_THREADS_ * bytes;
  *grid = mpnum_tile_grid_(across, down);
  return true;
}

/* Squares have no kernel for rows alone. */
template <class Blocks, class T, bool is_square> struct mpnum_launch_row_blocks_ {
  template <class Source>
  static cudaError_t launch(Source, mpnum_quantize_job_, bool, cudaStream_t) {
    return cudaErrorInvalidValue;
  }
};
template <class Blocks, class T> struct mpnum_launch_row_blocks_<Blocks, T, false> {
  template <class Source>
  static cudaError_t launch(Source src, mpnum_quantize_job_ job, bool is_aligned,
                            cudaStream_t stream) {
    const unsigned n = mpnum_neighbours_<T, Source>::count;
    dim3 grid(1);
    if (!mpnum_quantize_tiles_(
            &grid, &job, &job.rows, n, n * Blocks::bits / 8,
            mpnum::log2_<Blocks::edge / mpnum_neighbours_<T, Source>::count>::value,
            mpnum_origin_<Source>::shares_columns
                ? mpnum::log2_<MPNUM_LAUNCH_THREADS_>::value
                : +MPNUM_TILE_LOG2_VECTORS_,
            is_aligned, MPNUM_TILE_LOG2_VECTORS_))
      return cudaErrorInvalidValue;
    const cudaError_t error = mpnum_clear_scales_(job.rows, stream);
    if (error != cudaSuccess) return error;
    return mpnum_launch_grid_(mpnum_quantize_rows_kernel_<Blocks, T, Source>, grid,
                              MPNUM_LAUNCH_THREADS_, stream, src, job);
  }
};

/* The job of a launch, false where it is refused. is_aligned: vectors are. */
template <class Blocks, class Matrix>
static inline bool mpnum_quantize_job_of_(mpnum_quantize_job_ &job, bool &is_aligned,
                                          const mpnum_blockscale_format &format,
                                          const mpnum_blockscaled *by_row,
                                          const mpnum_blockscaled *by_column,
                                          const Matrix &src, const float *scale,
                                          int what) {
  typedef mpnum_geometry_<typename Matrix::element, Blocks::edge, typename Matrix::source>
      tile;
  const size_t rows = src.rows, columns = src.columns;
  const size_t vector = alignof(mpnum_lanes<uint8_t, tile::n * Blocks::bits / 8>);
  const int turned = MPNUM_QUANTIZE_COLUMNS | MPNUM_QUANTIZE_TRANSPOSED;
  job = mpnum_quantize_job_();
  size_t bytes[2] = {0, 0}, others[2] = {0, 0};
  if (what & ~(MPNUM_QUANTIZE_ROWS | turned) ||
      !(what & (MPNUM_QUANTIZE_ROWS | MPNUM_QUANTIZE_COLUMNS)) ||
      (what & turned) == MPNUM_QUANTIZE_TRANSPOSED ||
      (Blocks::family == mpnum::TWO_LEVEL_FAMILY_ && !scale) || !src.is_valid())
    return false;
  if (rows == 0 || columns == 0) return true;
  if (!src.is_readable()) return false;
  is_aligned = src.is_aligned();
  if (what & MPNUM_QUANTIZE_ROWS) {
    if (!mpnum_quantize_side_of_(&job.rows, bytes, format, by_row, MPNUM_QUANTIZE_ROWS,
                                 rows, columns) ||
        !mpnum_side_avoids_(job.rows, bytes, src))
      return false;
    is_aligned &= mpnum_launch_aligned_(job.rows.codes, job.rows.pitch, vector);
  }
  if (what & MPNUM_QUANTIZE_COLUMNS) {
    if (!mpnum_quantize_side_of_(&job.columns, others, format, by_column, what & turned,
                                 rows, columns) ||
        !mpnum_side_avoids_(job.columns, others, src))
      return false;
    if (!(what & MPNUM_QUANTIZE_TRANSPOSED))
      is_aligned &= mpnum_launch_aligned_(job.columns.codes, job.columns.pitch, vector);
  }
  if (what & MPNUM_QUANTIZE_ROWS && what & MPNUM_QUANTIZE_COLUMNS) {
    const mpnum_quantize_side_ &a = job.rows, &b = job.columns;
    if (mpnum_overlap_(a.codes, bytes[0], b.codes, others[0]) ||
        mpnum_overlap_(a.codes, bytes[0], b.scale_inv, others[1]) ||
        mpnum_overlap_(a.scale_inv, bytes[1], b.codes, others[0]) ||
        mpnum_overlap_(a.scale_inv, bytes[1], b.scale_inv, others[1]))
      return false;
  }
  job.height = rows;
  job.width = columns;
  job.stride = src.stride;
  job.rule = mpnum::block_rule_(format, 1.0f);
  job.scale = scale;
  job.rounding = format.rounding;
  job.what = what;
  return true;
}
/* Squares, columns, and both; rows alone have a kernel of their own. */
template <class Blocks, class Matrix>
static inline cudaError_t mpnum_launch_job_(const Matrix &src, mpnum_quantize_job_ &job,
                                            bool is_aligned, cudaStream_t stream) {
  typedef typename Matrix::element T;
  typedef typename Matrix::source source;
  typedef mpnum_geometry_<T, Blocks::edge, source> tile;
  const size_t rows = src.rows, columns = src.columns;
  const size_t limit = 0x7fffffff;
  if (job.what == MPNUM_QUANTIZE_ROWS && !Blocks::is_square &&
      !mpnum_launch_around_<Matrix>::is_summed)
    return mpnum_launch_row_blocks_<Blocks, T, Blocks::is_square>::launch(
        src.on_device(), job, is_aligned, stream);
  const size_t across = (columns - 1) / tile::columns + 1;
  const size_t down = (rows - 1) / tile::rows + 1;
  if (across > limit / down) return cudaErrorInvalidValue;
  job.whole_across = is_aligned ? static_cast<unsigned>(columns / tile::columns) : 0;
  job.whole_down = static_cast<unsigned>(rows / tile::rows);
  cudaError_t error = mpnum_clear_scales_(job.rows, stream);
  if (error == cudaSuccess) error = mpnum_clear_scales_(job.columns, stream);
  if (error != cudaSuccess) return error;
  return mpnum_launch_grid_(mpnum_quantize_tile_kernel_<Blocks, T, source>,
                            mpnum_tile_grid_(across, down), MPNUM_LAUNCH_THREADS_, stream,
                            src.on_device(), job);
}
template <class Blocks, class Matrix>
static inline cudaError_t mpnum_launch_quantize_blocks_(
    const mpnum_blockscale_format &format, const mpnum_blockscaled *by_row,
    const mpnum_blockscaled *by_column, const Matrix &src, const float *scale, int what,
    uint64_t seed, uint64_t offset, cudaStream_t stream) {
  mpnum_quantize_job_ job;
  bool is_aligned = false;
  if (!mpnum_quantize_job_of_<Blocks>(job, is_aligned, format, by_row, by_column, src,
                                      scale, what))
    return cudaErrorInvalidValue;
  if (src.rows == 0 || src.columns == 0) return cudaSuccess;
  job.seed = seed;
  job.offset = offset;
  cudaError_t error = mpnum_launch_around_<Matrix>::begin(src, stream);
  if (error != cudaSuccess) return error;
  error = mpnum_launch_job_<Blocks>(src, job, is_aligned, stream);
  return error == cudaSuccess ? mpnum_launch_around_<Matrix>::finish(src, stream) : error;
}
template <class Blocks, class T>
static inline cudaError_t mpnum_launch_dequantize_blocks_(
    const mpnum_blockscale_format &format, const mpnum::matrix<T> &dst,
    const mpnum_blockscaled *codes, const float *scale, int what, cudaStream_t stream) {
  const size_t n = 16 / sizeof(T);
  mpnum_quantize_job_ job = mpnum_quantize_job_();
  mpnum_quantize_side_ *const side =
      what == MPNUM_QUANTIZE_COLUMNS ? &job.columns : &job.rows;
  if ((what != MPNUM_QUANTIZE_ROWS && what != MPNUM_QUANTIZE_COLUMNS) ||
      (Blocks::family == mpnum::TWO_LEVEL_FAMILY_ && !scale))
    return cudaErrorInvalidValue;
  size_t bytes[2];
  if (dst.rows == 0 || dst.columns == 0) return cudaSuccess;
  const mpnum::in_memory_<T> to = quantizable_(dst);
  if (!to.is_valid() || !to.is_readable() ||
      !mpnum_quantize_side_of_(side, bytes, format, codes, what, dst.rows, dst.columns) ||
      !mpnum_side_avoids_(*side, bytes, to))
    return cudaErrorInvalidValue;
  job.height = dst.rows;
  job.width = dst.columns;
  job.stride = dst.stride;
  job.scale = scale;
  job.what = what;
  typedef mpnum_codes_back_<Blocks, T> back;
  const bool is_aligned =
      to.is_aligned() &&
      mpnum_launch_aligned_(side->codes, side->pitch, alignof(typename back::unit));
  dim3 grid(1);
  if (!mpnum_quantize_tiles_(&grid, &job, side, n, back::bytes, back::least_shift,
                             back::log2_vectors, is_aligned, back::log2_vectors))
    return cudaErrorInvalidValue;
  return mpnum_launch_grid_(mpnum_dequantize_blocks_kernel_<Blocks, T>, grid,
                            MPNUM_LAUNCH_THREADS_, stream, dst.data, job);
}

/* MX: Code is mpnum_e4m3, e5m2, e3m2, e2m3 or e2m1, dense as mpnum_blockscale_mx has it;
 * rule is FLOOR, CEIL, EVEN or RCEIL. */
template <class Code, class Matrix>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_quantize_mx(const mpnum_blockscaled *by_row,
                         const mpnum_blockscaled *by_column, const Matrix &src,
                         mpnum_blockscale_rule rule, int what, cudaStream_t stream) {
  const mpnum_blockscale_format format =
      mpnum_blockscale_mx(mpnum::type_of<Code>::value, rule);
  if (mpnum_blockscale_validate(&format, 0) != MPNUM_OK) return cudaErrorInvalidValue;
  return mpnum_launch_quantize_blocks_<mpnum::blocks_<Code, mpnum::MX_FAMILY_, 32>>(
      format, by_row, by_column, quantizable_(src), 0, what, 0, 0, stream);
}
/* Back: codes with scales by row, MPNUM_QUANTIZE_ROWS, or by column, _COLUMNS, of a
 * matrix that is not transposed; one that is has codes by row. T: f32, f16 or bf16. Bits:
 * mpnum_dequantize_blocks. */
template <class Code, class T>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_dequantize_mx(mpnum::matrix<T> dst, const mpnum_blockscaled *src, int what,
                           cudaStream_t stream) {
  const mpnum_blockscale_format format =
      mpnum_blockscale_mx(mpnum::type_of<Code>::value, MPNUM_BLOCKSCALE_RCEIL);
  return mpnum_launch_dequantize_blocks_<mpnum::blocks_<Code, mpnum::MX_FAMILY_, 32>>(
      format, dst, src, 0, what, stream);
}

template <class Matrix>
static inline cudaError_t mpnum_launch_nvfp4_scale_(float *scale, const Matrix &src,
                                                    cudaStream_t stream) {
  typedef typename Matrix::element T;
  mpnum_quantize_job_ job = mpnum_quantize_job_();
  const size_t tile = MPNUM_LAUNCH_THREADS_ * MPNUM_LAUNCH_VECTORS_ * (16 / sizeof(T));
  const bool is_empty = src.rows == 0 || src.columns == 0;
  cudaError_t error;
  if (!scale || !src.is_valid() || (!is_empty && !src.is_readable()))
    return cudaErrorInvalidValue;
  error = cudaMemsetAsync(scale, 0, sizeof *scale, stream);
  if (error == cudaSuccess && !is_empty) {
    const Matrix flat = src.flat();
    job.height = flat.rows;
    job.width = flat.columns;
    job.stride = flat.stride;
    job.whole_across = flat.is_aligned(); /* vectors of tiles are */
    const size_t tiles = (job.width - 1) / tile + 1;
    size_t limit = 0;
    error = mpnum_launch_blocks_(&limit, tiles * job.height, 0);
    if (error != cudaSuccess) return error;
    const size_t wide = tiles < limit ? tiles : limit;
    error =
        mpnum_launch_grid_(mpnum_finite_amax_kernel_<T, typename Matrix::source>,
                           mpnum_tile_grid_(wide, limit / wide), MPNUM_LAUNCH_THREADS_,
                           stream, scale, flat.on_device(), job);
  }
  if (error != cudaSuccess) return error;
  return mpnum_launch_(mpnum_nvfp4_scale_kernel_<float>, 1, 1, stream, scale);
}
/* NVFP4's S, into *scale: that of the largest finite magnitude of a matrix, which is read
 * for it. Bits: mpnum_nvfp4_scale of mpnum_finite_amax_rows. Without rows or columns:
 * 1. */
template <class Matrix>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_nvfp4_scale(float *scale, const Matrix &src, cudaStream_t stream) {
  return mpnum_launch_nvfp4_scale_(scale, quantizable_(src), stream);
}
/* NVFP4, with scales of one type. */
template <mpnum_type scale_type>
static inline mpnum_blockscale_format mpnum_nvfp4_format_(size_t high) {
  mpnum_blockscale_format format = mpnum_blockscale_nvfp4_(high);
  static_assert(scale_type == MPNUM_TYPE_E4M3 || scale_type == MPNUM_TYPE_UE5M3,
                "e4m3 or ue5m3");
  format.scale_type = scale_type;
  return format;
}
/* NVFP4 in blocks of 1x16, or of 16x16 where high is 16; scale is S, in device memory;
 * what is none (0, Inf, NaN), makes every block NaN. Blocks of 16x16 are the same by row
 * and by column. scale_type: of the blocks, MPNUM_TYPE_E4M3 or MPNUM_TYPE_UE5M3. */
template <unsigned high = 1, mpnum_type scale_type = MPNUM_TYPE_E4M3, class Matrix>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_quantize_nvfp4(const mpnum_blockscaled *by_row,
                            const mpnum_blockscaled *by_column, const Matrix &src,
                            const float *scale, int what, cudaStream_t stream) {
  static_assert(high == 1 || high == 16, "1x16 or 16x16");
  typedef mpnum::blocks_<mpnum_e2m1, mpnum::two_level_<scale_type>::family, 16,
                         high == 16>
      blocks;
  return mpnum_launch_quantize_blocks_<blocks>(mpnum_nvfp4_format_<scale_type>(high),
                                               by_row, by_column, quantizable_(src),
                                               scale, what, 0, 0, stream);
}
/* The same, elements rounded stochastically: element (r, c) of src takes random word
 * offset + r * stride + c of the seed. rounding: one of mpnum_rounding_stochastic. */
template <unsigned high = 1, mpnum_type scale_type = MPNUM_TYPE_E4M3, class Matrix>
MPNUM_MUST_CHECK static inline cudaError_t mpnum_launch_quantize_nvfp4_sr(
    const mpnum_blockscaled *by_row, const mpnum_blockscaled *by_column,
    const Matrix &src, const float *scale, int what, uint64_t seed, uint64_t offset,
    cudaStream_t stream, mpnum_rounding rounding = MPNUM_ROUND_STOCHASTIC) {
  static_assert(high == 1 || high == 16, "1x16 or 16x16");
  typedef mpnum::blocks_<mpnum_e2m1, mpnum::two_level_<scale_type>::family, 16,
                         high == 16, true>
      blocks;
  mpnum_blockscale_format format = mpnum_nvfp4_format_<scale_type>(high);
  format.rounding = rounding;
  if (!mpnum_is_stochastic_(rounding)) return cudaErrorInvalidValue;
  return mpnum_launch_quantize_blocks_<blocks>(
      format, by_row, by_column, quantizable_(src), scale, what, seed, offset, stream);
}
template <unsigned high = 1, mpnum_type scale_type = MPNUM_TYPE_E4M3, class T>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_dequantize_nvfp4(mpnum::matrix<T> dst, const mpnum_blockscaled *src,
                              const float *scale, int what, cudaStream_t stream) {
  static_assert(high == 1 || high == 16, "1x16 or 16x16");
  typedef mpnum::blocks_<mpnum_e2m1, mpnum::two_level_<scale_type>::family, 16,
                         high == 16>
      blocks;
  return mpnum_launch_dequantize_blocks_<blocks>(mpnum_nvfp4_format_<scale_type>(high),
                                                 dst, src, scale, what, stream);
}

/* DeepSeek's: Code, mpnum_e4m3 say, in blocks of 1x128, or of 128x128 where high is 128,
 * with scales that are floats. rule: AMAX or AMAX_POW2; amax_floor: as in
 * mpnum_blockscale_format, 0 for none. */
template <class Code, unsigned high = 1, class Matrix>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_quantize_fp8(const mpnum_blockscaled *by_row,
                          const mpnum_blockscaled *by_column, const Matrix &src,
                          mpnum_blockscale_rule rule, float amax_floor, int what,
                          cudaStream_t stream) {
  static_assert(high == 1 || high == 128, "1x128 or 128x128");
  typedef mpnum::blocks_<Code, mpnum::AMAX_FAMILY_, 128, high == 128> blocks;
  mpnum_blockscale_format format = mpnum_blockscale_amax(MPNUM_TYPE_E4M3, high, 128);
  format.element = mpnum_format_of(mpnum::type_of<Code>::value);
  format.element_bits = blocks::bits;
  format.rule = rule;
  format.amax_floor = amax_floor;
  if (mpnum_blockscale_validate(&format, 0) != MPNUM_OK) return cudaErrorInvalidValue;
  return mpnum_launch_quantize_blocks_<blocks>(format, by_row, by_column,
                                               quantizable_(src), 0, what, 0, 0, stream);
}
template <class Code, unsigned high = 1, class T>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_dequantize_fp8(mpnum::matrix<T> dst, const mpnum_blockscaled *src, int what,
                            cudaStream_t stream) {
  static_assert(high == 1 || high == 128, "1x128 or 128x128");
  typedef mpnum::blocks_<Code, mpnum::AMAX_FAMILY_, 128, high == 128> blocks;
  mpnum_blockscale_format format = mpnum_blockscale_amax(MPNUM_TYPE_E4M3, high, 128);
  format.element = mpnum_format_of(mpnum::type_of<Code>::value);
  format.element_bits = blocks::bits;
  return mpnum_launch_dequantize_blocks_<blocks>(format, dst, src, 0, what, stream);
}

#endif

MPNUM_C_END_
#endif
