/* SPDX-License-Identifier: MIT */
/* Gradients of layer norm and RMS norm of rows in device memory. Rules: norm_rows.cuh,
 * rows.cuh, kernels.cuh.
 *
 *     // void *workspace of mpnum_launch_normalize_backward_bytes(rows, n) bytes
 *     mpnum_launch_normalize_backward_rows(
 *         MPNUM_NORM_RMS, mpnum::norm_gradients_of(mpnum::matrix_of(dx, rows, n), dw, 0),
 *         mpnum::matrix_of(dy, rows, n), mpnum::matrix_of(x, rows, n), &options, stream,
 *         workspace);
 *
 * What each does is said in normalize_backward.h. Of the rows the bits are those of the
 * host's function. Of weight and bias, whose terms are added as doubles in chunks of
 * rows, chunk after chunk, they are wherever that sum of doubles is the one of row after
 * row.
 */
#ifndef MPNUM_ROWS_NORM_BACKWARD_ROWS_CUH
#define MPNUM_ROWS_NORM_BACKWARD_ROWS_CUH

#include "norm_rows.cuh"
MPNUM_C_BEGIN_

namespace mpnum {

enum : unsigned {
  norm_chunks_ = 64,
  norm_chunk_rows_ = 64,
  norm_strip_ = 128,    /* threads */
  norm_neighbours_ = 4, /* columns of each */
  norm_at_once_ = 4,    /* rows that are loaded before the first is used */
  norm_end_loads_ = 16  /* sums of chunks, likewise */
};

/* A gradient times weight and the row, normalised; of kept ones, both. */
template <class Dy, class Src> struct norm_slope_loader_ {
  typedef slope_ result;
  norm_loader_<Src> y;
  norm_loader_<Dy> dy;
  const float *weight;
  const float *kept, *kept_y; /* after the first pass */
  mpnum_norm_map_ map;
  unsigned columns;
  __device__ __forceinline__ bool is_kept() const { return kept != 0; }
  /* Both rows may have been kept as they are. */
  __device__ __forceinline__ bool takes_whole() const {
    return (y.is_kept() || (y.takes_whole() && dy.takes_whole())) &&
           row_is_aligned_(weight);
  }
  template <class Part>
  __device__ __forceinline__ slope_ operator()(size_t i, Part part) const {
    pair_ w = {{0, 0}};
    slope_ both;
    if (Part::is_kept || (!Part::is_whole && kept)) {
      both.dy = row_kept_pair_(kept, i);
      both.y = row_kept_pair_(kept_y, i);
      return both;
    }
    both.y = y.is_kept() ? row_kept_pair_(y.kept, i) : y(i, part);
    both.dy = dy.is_kept() ? row_kept_pair_(dy.kept, i) : dy(i, part);
    if (weight) w = row_load_(weight, i, columns, part);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 2; ++j) {
      both.y.at[j] = mpnum_canonical_(mpnum_normed_(&map, both.y.at[j]));
      if (weight) both.dy.at[j] = mpnum_mul_scalar_(both.dy.at[j], w.at[j]);
    }
    return both;
  }
};
struct norm_slope_adder_ {
  norm_lanes_ values, products;
  float *kept, *kept_y;
  int has_values;
  unsigned columns;
  __device__ __forceinline__ bool takes_whole() const { return true; }
  template <class Part>
  __device__ __forceinline__ void operator()(size_t i, const slope_ &both, Part) {
    if (kept) {
      row_keep_pair_(kept, i, both.dy);
      row_keep_pair_(kept_y, i, both.y);
    }
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 2; ++j) {
      const double wide = mpnum_widen_f32_(both.dy.at[j]);
      if (!Part::is_whole && i + j >= columns) continue;
      if (has_values) values.at[j] = mpnum_add_f64_(values.at[j], wide);
      products.at[j] = norm_fma_(wide, mpnum_widen_f32_(both.y.at[j]), products.at[j]);
    }
  }
};
/* Both sums of a row, tiles added as doubles from first to last. */
template <class Load>
static __device__ __forceinline__ void
norm_slope_sums_(const row_place_ &place, const Load &load, norm_slope_adder_ &adder,
                 norm_scratch_ *scratch, double sums[2]) {
  const norm_lanes_ zeros = {{0, 0}};
  const unsigned tiles = (place.columns + row_tile_ - 1) / row_tile_;
  unsigned tile = 0;
  double total = 0;
  do {
    double value = 0, product = 0;
    row_hide_(tile);
    adder.values = adder.products = zeros;
    if ((tile + place.warp) * row_tile_ < place.columns)
      row_each_<2>(place, tile + place.warp, place.columns, load, adder);
    value = norm_folded_(place, adder.values);
    product = norm_folded_(place, adder.products);
    if (place.warps == 1) {
      sums[0] = mpnum_add_f64_(0, value);
      sums[1] = mpnum_add_f64_(0, product);
      return;
    }
    if (place.lane == 0) {
      scratch->tiles[0][place.warp] = value;
      scratch->tiles[1][place.warp] = product;
    }
    __syncthreads();
    if (place.lane == 0 && place.warp < 2)
      for (unsigned i = 0; i < place.warps && i < tiles - tile; ++i)
        total = mpnum_add_f64_(total, scratch->tiles[place.warp][i]);
    __syncthreads();
    tile += place.warps;
  } while (tile < tiles);
  if (place.lane == 0 && place.warp < 2) scratch->sums[place.warp] = total;
  __syncthreads();
  sums[0] = scratch->sums[0];
  sums[1] = scratch->sums[1];
  __syncthreads();
}
/* ((g - mean) + y along) inverse power, added to what is there or written. */
template <class Dx> struct norm_slope_writer_ {
  Dx *dst;
  unsigned columns;
  int adds;
  float mean, along, inverse, power;
  __device__ __forceinline__ void begin(const mpnum_norm_map_ &map, const double sums[2],
                                        double count, int adds_to_old) {
    adds = adds_to_old;
    mean = mpnum_narrow_f64_(mpnum_div_f64_(sums[0], count));
    along = mpnum_from_bits_f32(
        mpnum_bits_f32(mpnum_narrow_f64_(mpnum_div_f64_(sums[1], count))) ^ 0x80000000u);
    inverse = map.inverse;
    power = map.power;
  }
  __device__ __forceinline__ float any_nan(float dy, float y, float old) const {
    float x = mpnum_sub_scalar_(dy, mean);
    x = mpnum_fma_scalar_(y, along, x);
    x = mpnum_mul_scalar_(mpnum_mul_scalar_(x, inverse), power);
    return adds ? mpnum_add_scalar_(x, old) : x;
  }
  __device__ __forceinline__ float of(float dy, float y, float old) const {
    return mpnum_canonical_(any_nan(dy, y, old));
  }
  __device__ __forceinline__ bool takes_whole() const { return row_is_aligned_(dst); }
  template <class Part>
  __device__ __forceinline__ void operator()(size_t i, const slope_ &both,
                                             Part part) const {
    pair_ x, old = {{0, 0}};
    if (adds) old = row_load_(dst, i, columns, part);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 2; ++j)
      x.at[j] = of(both.dy.at[j], both.y.at[j], old.at[j]);
    row_store_(dst, i, columns, x, part);
  }
  template <unsigned size> __device__ __forceinline__ bool takes_vectors() const {
    return row_is_aligned_<size>(dst);
  }
  template <unsigned size, class Part>
  __device__ __forceinline__ void vector(size_t i, const slopes_<size> &both,
                                         Part part) const {
    mpnum_lanes<float, size> x, old = mpnum_lanes<float, size>();
    if (adds) old = row_floats_(row_fetch_vector_<size>(dst, i, columns, part));
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size; ++j)
      x.at[j] = of(both.dy.at[j], both.y.at[j], old.at[j]);
    row_store_vector_(dst, i, columns, x, part);
  }
};

template <class Dx, class Dy, class Src> struct norm_slope_job_ {
  norm_source_<Src> from; /* its mean and inverse are NULL */
  const float *mean, *inverse;
  const Dy *dy;
  Dx *dx;
  mpnum_norm_map_ *maps; /* NULL, or where each row's goes */
  size_t dy_stride, dx_stride;
  int adds;
};
/* What was saved serves unless it is near the ends of what a float holds. */
template <class Dx, class Dy, class Src, class Place>
static __device__ __forceinline__ int norm_saved_(const norm_slope_job_<Dx, Dy, Src> &job,
                                                  const Place &place,
                                                  mpnum_norm_map_ *map) {
  uint32_t bits = 0;
  if (!place.exists) return 1;
  if (!job.inverse || (job.from.kind == MPNUM_NORM_LAYER && !job.mean)) return 0;
  bits = mpnum_bits_f32(job.inverse[place.number]);
  if (bits - 0x0d800000u > 0x64000000u) return 0; /* 2^-100 to 2^100 */
  mpnum_norm_shift_(map, 1, 0);
  if (job.from.kind == MPNUM_NORM_LAYER) map->mean = job.mean[place.number];
  map->inverse = mpnum_from_bits_f32(bits);
  return 1;
}
template <class Dx, class Dy, class Src>
static __device__ __forceinline__ void
norm_slope_row_(const norm_slope_job_<Dx, Dy, Src> &job, const row_place_ &place,
                norm_scratch_ *scratch) {
  const size_t number = place.exists ? place.number : 0;
  const double columns = static_cast<double>(job.from.columns);
  norm_row_<Src> row = norm_row_of_(job.from, place);
  norm_slope_loader_<Dy, Src> load;
  norm_slope_adder_ adder;
  norm_slope_writer_<Dx> writer;
  double sums[2];
  int is_saved = 0;
  if (job.dx) row_prefetch_(place, job.dy + number * job.dy_stride, place.columns);
  mpnum_norm_shift_(&load.map, 1, 0);
  is_saved = norm_saved_(job, place, &load.map);
  if (__any_sync(0xffffffffu, !is_saved)) {
    norm_find_(row, job.from, place, scratch);
    if (!is_saved) load.map = row.found.map;
  }
  if (job.maps && row_is_first_(place)) job.maps[number] = load.map;
  if (!job.dx) return;
  load.y = row.load;
  load.dy.src = job.dy + number * job.dy_stride;
  load.dy.residual = 0;
  load.dy.sum = 0;
  load.dy.kept = 0;
  load.dy.columns = place.columns;
  load.dy.is_stored = 0;
  load.weight = job.from.weight;
  load.kept = load.kept_y = 0;
  load.columns = place.columns;
  adder.kept = adder.kept_y = place.kept;
  if (place.kept) adder.kept += job.from.kept / 2;
  if (!load.y.kept) norm_keep_(place, load.y, adder.kept_y);
  norm_keep_(place, load.dy, adder.kept);
  adder.has_values = job.from.kind == MPNUM_NORM_LAYER;
  adder.columns = place.columns;
  norm_slope_sums_(place, load, adder, scratch, sums);
  load.kept = adder.kept;
  load.kept_y = adder.kept_y;
  writer.dst = job.dx + number * job.dx_stride;
  writer.columns = place.columns;
  writer.begin(load.map, sums, columns, job.adds);
  if (place.kept) {
    const row_kept_slopes_ kept = {{load.kept}, {load.kept_y}};
    __syncwarp();
    row_each_vector_<row_vector_<Dx>::size, 1>(place, kept, writer);
  } else {
    row_each_<2>(place, place.columns, load, writer);
  }
}

enum : unsigned { held_slope_size_ = 2 };
/* Both sums of a row, tiles added as doubles from first to last. */
template <bool is_plain, bool has_values, class Dy, class Src, unsigned size>
static __device__ __forceinline__ void
held_slope_sums_(const held_<Dy, size> &dy, const held_<Src, size> &src,
                 const float *weight, const held_place_ &place,
                 const mpnum_norm_map_ &map, held_scratch_ *scratch, double sums[2]) {
  held_sums_<size> values = held_sums_<size>(), products = values;
  MPNUM_UNROLL_
  for (unsigned k = 0; k < held_steps_; k += held_batch_) {
    mpnum_lanes<float, size> w[held_batch_];
    MPNUM_UNROLL_
    for (unsigned m = 0; m < held_batch_; ++m)
      w[m] = held_factors_<is_plain, size>(weight, k + m, place, 1);
    MPNUM_UNROLL_
    for (unsigned m = 0; m < held_batch_; ++m) {
      const mpnum_lanes<float, size> x = held_floats_(src.at[k + m]);
      const mpnum_lanes<float, size> g = held_floats_(dy.at[k + m]);
      if (!is_plain && !held_has_(place, k + m)) continue;
      MPNUM_UNROLL_
      for (unsigned j = 0; j < size; ++j) {
        const double wide = mpnum_widen_f32_(mpnum_mul_scalar_(g.at[j], w[m].at[j]));
        const double y = mpnum_widen_f32_(mpnum_normed_(&map, x.at[j]));
        if (has_values) values.at[j] = mpnum_add_f64_(values.at[j], wide);
        products.at[j] = norm_fma_(wide, y, products.at[j]);
      }
    }
  }
  sums[0] = has_values ? mpnum_add_f64_(0, held_folded_(values)) : 0;
  sums[1] = mpnum_add_f64_(0, held_folded_(products));
  if (place.tiles < 2) return;
  held_share_(place, row_lanes_ / size, scratch, sums);
  sums[0] = sums[1] = 0;
  MPNUM_NO_UNROLL_
  for (unsigned i = 0; i < place.tiles; ++i) {
    sums[0] = mpnum_add_f64_(sums[0], scratch->tiles[0][place.team + i]);
    sums[1] = mpnum_add_f64_(sums[1], scratch->tiles[1][place.team + i]);
  }
}
/* The second sums of a row and its results. is_plain: tiles are whole, there is a weight,
 * and nothing to add to. */
template <bool is_plain, bool is_layer, unsigned size, class Dx, class Dy, class Src>
static __device__ __forceinline__ void
held_slope_write_(const norm_slope_job_<Dx, Dy, Src> &job, held_<Dy, size> &dy,
                  held_<Src, size> &src, const held_place_ &place,
                  const mpnum_norm_map_ &map, held_scratch_ *scratch) {
  const double columns = static_cast<double>(job.from.columns);
  const float *const weight = job.from.weight ? job.from.weight + place.column : 0;
  Dx *const dst = job.dx + place.number * job.dx_stride + place.column;
  norm_slope_writer_<Dx> writer;
  double sums[2];
  held_slope_sums_<is_plain, is_layer>(dy, src, weight, place, map, scratch, sums);
  held_forget_(src);
  held_forget_(dy);
  writer.begin(map, sums, columns, is_plain ? 0 : job.adds);
  MPNUM_UNROLL_
  for (unsigned k = 0; k < held_steps_; k += held_batch_) {
    mpnum_lanes<float, size> w[held_batch_], old[held_batch_];
    MPNUM_UNROLL_
    for (unsigned m = 0; m < held_batch_; ++m) {
      w[m] = held_factors_<is_plain, size>(weight, k + m, place, 1);
      old[m] = mpnum_lanes<float, size>();
      if (!is_plain && writer.adds && held_has_(place, k + m))
        old[m] = row_floats_(
            row_fetch_vector_<size>(dst, (k + m) * row_lanes_, size, row_whole_pair_()));
    }
    MPNUM_UNROLL_
    for (unsigned m = 0; m < held_batch_; ++m) {
      mpnum_lanes<float, size> x = held_floats_(src.at[k + m]);
      const mpnum_lanes<float, size> g = held_floats_(dy.at[k + m]);
      MPNUM_UNROLL_
      for (unsigned j = 0; j < size; ++j)
        x.at[j] = writer.any_nan(mpnum_mul_scalar_(g.at[j], w[m].at[j]),
                                 mpnum_normed_(&map, x.at[j]), old[m].at[j]);
      if (is_plain || held_has_(place, k + m)) held_store_(dst + (k + m) * row_lanes_, x);
    }
  }
}
template <unsigned size, bool is_layer, class Dx, class Dy, class Src>
static __device__ __forceinline__ void
held_slope_(const norm_slope_job_<Dx, Dy, Src> &job, held_scratch_ *scratch) {
  const held_place_ place = held_place_of_<size>(job.from.rows, job.from.columns);
  held_<Src, size> src;
  held_<Dy, size> dy;
  mpnum_norm_map_ map;
  int is_saved = 0;
  held_load_(src, job.from.data + place.number * job.from.stride + place.column, place);
  if (job.dx) held_load_(dy, job.dy + place.number * job.dy_stride + place.column, place);
  mpnum_norm_shift_(&map, 1, 0);
  is_saved = norm_saved_(job, place, &map);
  if (__any_sync(0xffffffffu, !is_saved)) {
    const mpnum_norm_map_ found = held_find_<is_layer>(src, job.from, place, scratch);
    if (!is_saved) map = found;
  }
  if (job.maps && place.is_first) job.maps[place.number] = map;
  if (!job.dx) return;
  if (place.is_whole && job.from.weight && !job.adds)
    held_slope_write_<true, is_layer>(job, dy, src, place, map, scratch);
  else
    held_slope_write_<false, is_layer>(job, dy, src, place, map, scratch);
}

} // namespace mpnum

/* Rows in registers: both are 64 of a thread's 128. */
template <bool is_layer, class Dx, class Dy, class Src>
static __global__ void __launch_bounds__(512, 1)
    mpnum_norm_backward_held_kernel_(mpnum::norm_slope_job_<Dx, Dy, Src> job) {
  mpnum_begin_kernel_();
  __shared__ mpnum::held_scratch_ scratch;
  mpnum::held_slope_<mpnum::held_slope_size_, is_layer>(job, &scratch);
}
/* As the other kernels of rows. */
template <class Dx, class Dy, class Src>
static __global__ void __launch_bounds__(512, 1)
    mpnum_norm_backward_rows_kernel_(mpnum::norm_slope_job_<Dx, Dy, Src> job) {
  mpnum_begin_kernel_();
  __shared__ mpnum::norm_scratch_ scratch;
  mpnum::norm_slope_row_(job, mpnum::row_place_in_(job.from), &scratch);
}
namespace mpnum {

/* What a thread has of a chunk of rows: neighbouring columns and their sums. */
template <class Dy, class Src> struct norm_columns_ {
  const mpnum_norm_map_ *maps;
  const Dy *dy;
  const Src *src;
  size_t dy_stride, src_stride;
  unsigned left; /* columns */
  double products[norm_neighbours_], sums[norm_neighbours_];
  __device__ __forceinline__ bool takes_whole() const {
    return left >= norm_neighbours_ && dy_stride % norm_neighbours_ == 0 &&
           src_stride % norm_neighbours_ == 0 && row_is_aligned_<norm_neighbours_>(dy) &&
           row_is_aligned_<norm_neighbours_>(src);
  }
  template <unsigned rows, class Part>
  __device__ __forceinline__ void add(size_t first, Part part) {
    mpnum_lanes<Dy, norm_neighbours_> y[rows];
    mpnum_lanes<Src, norm_neighbours_> x[rows];
    MPNUM_UNROLL_
    for (unsigned r = 0; r < rows; ++r) {
      y[r] = row_fetch_vector_<norm_neighbours_>(dy + (first + r) * dy_stride, 0, left,
                                                 part);
      x[r] = row_fetch_vector_<norm_neighbours_>(src + (first + r) * src_stride, 0, left,
                                                 part);
    }
    MPNUM_UNROLL_
    for (unsigned r = 0; r < rows; ++r) {
      const mpnum_norm_map_ map = maps[first + r];
      MPNUM_UNROLL_
      for (unsigned j = 0; j < norm_neighbours_; ++j) {
        const double wide = mpnum_widen_f32_(row_any_nan_<Dy>::in(y[r].at[j]));
        const double normed =
            mpnum_widen_f32_(mpnum_normed_(&map, row_any_nan_<Src>::in(x[r].at[j])));
        products[j] = norm_fma_(wide, normed, products[j]);
        sums[j] = mpnum_add_f64_(sums[j], wide);
      }
    }
  }
  template <class Part> __device__ __forceinline__ void add_all(size_t rows, Part part) {
    const unsigned at_once = Part::is_whole ? +norm_at_once_ : 2u;
    size_t row = 0;
    for (; row + at_once <= rows; row += at_once)
      add<at_once>(row, part);
    for (; row < rows; ++row)
      add<1>(row, part);
  }
};

} // namespace mpnum

/* A thread for some neighbouring columns, x counts strips of them and y chunks of rows:
 * sums of dy y and of dy. Before the rows' own gradients, which may take the place of
 * what is read. Four blocks a multiprocessor leave a thread 128 registers. */
template <class Dy, class Src>
static __global__ void __launch_bounds__(mpnum::norm_strip_, 4)
    mpnum_norm_columns_kernel_(double *sums, const mpnum_norm_map_ *maps, const Dy *dy,
                               const Src *src, size_t dy_stride, size_t src_stride,
                               size_t rows, unsigned columns) {
  mpnum_begin_kernel_();
  const size_t chunk = (rows + gridDim.y - 1) / gridDim.y;
  const size_t first = blockIdx.y * chunk;
  const size_t end = rows - first < chunk ? rows : first + chunk;
  const unsigned column =
      (blockIdx.x * blockDim.x + threadIdx.x) * mpnum::norm_neighbours_;
  double *const to = sums + 2 * blockIdx.y * static_cast<size_t>(columns) + column;
  if (column >= columns || first >= rows) return;
  mpnum::norm_columns_<Dy, Src> part = {maps + first,
                                        dy + first * dy_stride + column,
                                        src + first * src_stride + column,
                                        dy_stride,
                                        src_stride,
                                        columns - column,
                                        {},
                                        {}};
  if (part.takes_whole())
    part.add_all(end - first, mpnum::row_whole_pair_());
  else
    part.add_all(end - first, mpnum::row_any_());
  MPNUM_UNROLL_
  for (unsigned j = 0; j < mpnum::norm_neighbours_; ++j) {
    if (j >= part.left) continue;
    to[j] = part.products[j];
    to[columns + j] = part.sums[j];
  }
}
/* The sums of all chunks, a thread for each column; y is 0 for weights, 1 for biases. */
template <class T>
static __global__ void __launch_bounds__(mpnum::norm_strip_)
    mpnum_norm_columns_end_kernel_(T *weight, T *bias, const double *sums,
                                   unsigned chunks, unsigned columns, int adds) {
  mpnum_begin_kernel_();
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  const double *const from = sums + blockIdx.y * static_cast<size_t>(columns) + column;
  T *const to = blockIdx.y ? bias : weight;
  double sum = 0;
  if (column >= columns || !to) return;
  for (unsigned i = 0; i < chunks; i += mpnum::norm_end_loads_) {
    double some[mpnum::norm_end_loads_];
    MPNUM_UNROLL_
    for (unsigned k = 0; k < mpnum::norm_end_loads_; ++k)
      some[k] = i + k < chunks ? from[2 * (i + k) * static_cast<size_t>(columns)] : 0;
    MPNUM_UNROLL_
    for (unsigned k = 0; k < mpnum::norm_end_loads_; ++k)
      if (i + k < chunks) sum = mpnum_add_f64_(sum, some[k]);
  }
  if (adds) sum = mpnum_add_f64_(sum, mpnum_widen_f32_(to[column]));
  to[column] = mpnum_canonical_(mpnum_narrow_f64_(sum));
}

#if !MPNUM_HAS_NVRTC_

static inline unsigned mpnum_norm_chunks_of_(size_t rows) {
  const size_t chunks = (rows + mpnum::norm_chunk_rows_ - 1) / mpnum::norm_chunk_rows_;
  const size_t most = mpnum::norm_chunks_;
  return static_cast<unsigned>(chunks < most ? chunks : most);
}
/* Bytes of device memory, aligned to 16, that gradients of weight or bias take while they
 * are found. */
static inline size_t mpnum_launch_normalize_backward_bytes(size_t rows, size_t columns) {
  return rows * sizeof(mpnum_norm_map_) +
         2 * sizeof(double) * mpnum_norm_chunks_of_(rows) * columns;
}
/* Whether gradients of columns are apart from rows. */
template <class T>
static inline bool mpnum_norm_avoids_(const float *floats, const T *src, size_t stride,
                                      size_t rows, size_t columns) {
  return !floats || !src || rows == 0 || columns == 0 ||
         !mpnum_overlap_(floats, columns * sizeof(float), src,
                         mpnum_extent_(rows, columns, stride, 8 * sizeof(T)));
}
/* Launches over rows that are held: none of other types. */
template <bool is_possible> struct mpnum_norm_held_slopes_ {
  template <class Dx, class Dy, class Src>
  static cudaError_t launch(mpnum::norm_slope_job_<Dx, Dy, Src> &job,
                            cudaStream_t stream) {
    return mpnum_launch_held_<mpnum::held_slope_size_>(
        job.from.kind == MPNUM_NORM_LAYER
            ? mpnum_norm_backward_held_kernel_<true, Dx, Dy, Src>
            : mpnum_norm_backward_held_kernel_<false, Dx, Dy, Src>,
        job, job.from.rows, job.from.columns, stream);
  }
};
template <> struct mpnum_norm_held_slopes_<false> {
  template <class Job> static cudaError_t launch(Job &, cudaStream_t) {
    return cudaErrorInvalidValue;
  }
};
template <class Dx, class Dy, class Src>
static inline cudaError_t
mpnum_launch_norm_slopes_(mpnum::norm_slope_job_<Dx, Dy, Src> &job, cudaStream_t stream) {
  const unsigned size = mpnum::held_slope_size_;
  const bool is_possible = sizeof(Src) == 2 && sizeof(Dy) == 2;
  if (is_possible && mpnum_norm_is_held_<size>(job.from) &&
      mpnum_has_held_vectors_<size>(job.dy, job.dy_stride) &&
      mpnum_has_held_vectors_<size>(job.dx, job.dx_stride))
    return mpnum_norm_held_slopes_<is_possible>::launch(job, stream);
  return mpnum_launch_rows_(mpnum_norm_backward_rows_kernel_<Dx, Dy, Src>, job, job.from,
                            2, stream);
}
template <class Dx, class Dy, class Src>
static inline cudaError_t
mpnum_launch_norm_backward_(mpnum_norm_kind kind, Dx *dx, size_t dx_stride, float *weight,
                            float *bias, const Dy *dy, size_t dy_stride, const Src *src,
                            size_t src_stride, size_t rows, size_t columns,
                            const mpnum_normalize_options *options, int adds,
                            void *workspace, cudaStream_t stream) {
  const bool has_columns = weight || bias;
  const void *to = dx;
  const bool is_in_place = dx && (to == dy || to == src); /* rows then come last */
  const unsigned chunks = mpnum_norm_chunks_of_(rows);
  mpnum_normalize_options chosen = options ? *options : mpnum_normalize_default();
  mpnum::norm_slope_job_<Dx, Dy, Src> job;
  cudaError_t error = cudaSuccess;
  static_assert(mpnum::has_rows_<Dy>::value, "float, f16, bf16, e5m2 or e4m3");
  job.mean = chosen.mean;
  job.inverse = chosen.inverse;
  chosen.mean = chosen.inverse = 0;
  chosen.residual.data = 0;
  chosen.sum.data = 0;
  if (!mpnum_norm_source_of_(job.from, kind, src, src_stride, rows, columns, &chosen) ||
      (dx && (!mpnum_rows_fit_(dx, dx_stride, dy, dy_stride, rows, columns) ||
              !mpnum_rows_fit_(dx, dx_stride, src, src_stride, rows, columns))) ||
      (rows && columns && (!dy || (has_columns && !workspace))) ||
      (weight && bias &&
       mpnum_overlap_(weight, columns * sizeof(float), bias, columns * sizeof(float))))
    return cudaErrorInvalidValue;
  for (const float *floats : {weight, bias})
    if (!mpnum_norm_avoids_(floats, dx, dx_stride, rows, columns) ||
        !mpnum_norm_avoids_(floats, dy, dy_stride, rows, columns) ||
        !mpnum_norm_avoids_(floats, src, src_stride, rows, columns))
      return cudaErrorInvalidValue;
  if (columns == 0 || (rows == 0 && !has_columns) || (!dx && !has_columns))
    return cudaSuccess;
  job.dy = dy;
  job.dx = has_columns && is_in_place ? 0 : dx;
  job.maps = has_columns ? static_cast<mpnum_norm_map_ *>(workspace) : 0;
  job.dy_stride = dy_stride;
  job.dx_stride = dx ? dx_stride : 0;
  job.adds = adds;
  if (rows) error = mpnum_launch_norm_slopes_(job, stream);
  if (!has_columns || error != cudaSuccess) return error;
  double *sums = reinterpret_cast<double *>(job.maps + rows);
  const unsigned strips = (job.from.columns - 1) / mpnum::norm_strip_ + 1;
  const unsigned wide_strips =
      (job.from.columns - 1) / (mpnum::norm_strip_ * mpnum::norm_neighbours_) + 1;
  if (rows) {
    const mpnum_norm_map_ *maps = job.maps;
    unsigned shared = job.from.columns;
    void *pointers[] = {&sums, &maps, &dy, &src, &dy_stride, &src_stride, &rows, &shared};
    error = mpnum_launch_kernel_(mpnum_norm_columns_kernel_<Dy, Src>,
                                 dim3(wide_strips, chunks), dim3(mpnum::norm_strip_),
                                 pointers, 0, stream);
  }
  if (error == cudaSuccess) {
    unsigned shared = job.from.columns, number = chunks;
    const double *from = sums;
    void *pointers[] = {&weight, &bias, &from, &number, &shared, &adds};
    error = mpnum_launch_kernel_(mpnum_norm_columns_end_kernel_<float>, dim3(strips, 2),
                                 dim3(mpnum::norm_strip_), pointers, 0, stream);
  }
  if (error != cudaSuccess || !is_in_place || !rows) return error;
  job.dx = dx;
  job.maps = 0;
  return mpnum_launch_norm_slopes_(job, stream);
}
namespace mpnum {

/* Where gradients go, beside mpnum_norm_gradients of hosts; what is NULL is not found. */
template <class T> struct norm_gradients {
  matrix<T> input;      /* of rows; may be dy or src */
  float *weight, *bias; /* of columns */
  int adds;             /* 1: to what is there; 0: overwrites */
};
template <class T>
static inline norm_gradients<T> norm_gradients_of(matrix<T> input, float *weight,
                                                  float *bias, int adds = 0) {
  const norm_gradients<T> made = {input, weight, bias, adds};
  return made;
}

} // namespace mpnum

/* mpnum_normalize_backward_rows: the gradients of rows, of weight and of bias, from that
 * of the results, dy, and what was normalised, src. kind: MPNUM_NORM_LAYER or
 * MPNUM_NORM_RMS. options: those of the forward call, whose mean and inverse are read.
 * workspace: bytes as above, aligned to 16, or NULL where neither weight nor bias is
 * wanted. */
template <class Dx, class Dy, class Src>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_normalize_backward_rows(mpnum_norm_kind kind, mpnum::norm_gradients<Dx> to,
                                     mpnum::matrix<Dy> dy, mpnum::matrix<Src> src,
                                     const mpnum_normalize_options *options,
                                     cudaStream_t stream, void *workspace = 0) {
  if (!mpnum_is_norm_of_devices_(kind) || !mpnum_have_one_shape_(dy, src) ||
      (to.input.data && !mpnum_have_one_shape_(to.input, src)))
    return cudaErrorInvalidValue;
  return mpnum_launch_norm_backward_(
      kind, to.input.data, to.input.stride, to.weight, to.bias, dy.data, dy.stride,
      src.data, src.stride, src.rows, src.columns, options, to.adds, workspace, stream);
}

#endif

MPNUM_C_END_
#endif
