/* SPDX-License-Identifier: MIT */
/* Layer norm and RMS norm of rows in device memory, also to 8 bits with a scale, and the
 * gradients of their rows, weights and biases. Rules: rows.cuh, kernels.cuh.
 *
 *     mpnum_normalize_options options = mpnum_normalize_default();
 *     options.weight = weight;
 *     mpnum_launch_normalize_rows(MPNUM_NORM_RMS, mpnum::matrix_of(y, rows, n),
 *                                 mpnum::matrix_of(x, rows, n), &options, stream);
 *
 * What each does is said in normalize.h, normalize_quantize.h and normalize_backward.h,
 * and the bits are those of the host's functions: sums are doubles in the same lanes and
 * tiles. Two steps of doubles an element, one for RMS norm, which GPUs with few units for
 * doubles (sm_75, 86, 89, 120) are bound by where elements have 16 bits.
 * Domain: as rows.cuh. residual and sum of the options are rows of the type of src, as
 *   many of as many columns.
 * Status: cudaErrorInvalidValue, and nothing is launched, where the host's function has
 *   an error. */
#ifndef MPNUM_ROWS_NORM_ROWS_CUH
#define MPNUM_ROWS_NORM_ROWS_CUH

#include "rows.cuh"
#include "detail/held_rows.cuh"
#include "detail/norm_row.h"
#include "../array/exact_sum.h"
#include "../cuda/detail/quantize.cuh"
MPNUM_C_BEGIN_

namespace mpnum {

/* The rows of a launch; NULL is absent. */
template <class T> struct norm_source_ {
  const T *data, *residual;
  T *sum;
  size_t rows, stride, residual_stride, sum_stride;
  unsigned columns, kept;
  const float *weight, *bias;
  float *mean, *inverse;
  float epsilon;
  mpnum_norm_kind kind;
};

/* Pairs of a row as floats: kept ones, a stored sum, or src and residual, whose sum is
 * stored first. */
template <class T> struct norm_loader_ {
  typedef pair_ result;
  const T *src, *residual;
  T *sum;
  const float *kept;
  unsigned columns;
  int is_stored;
  __device__ __forceinline__ bool is_kept() const { return kept != 0; }
  __device__ __forceinline__ bool takes_whole() const {
    return row_is_aligned_(src) && row_is_aligned_(residual) && row_is_aligned_(sum);
  }
  template <class Part>
  __device__ __forceinline__ pair_ operator()(size_t i, Part part) const {
    pair_ x, y;
    if (Part::is_kept || (!Part::is_whole && kept)) return row_kept_pair_(kept, i);
    if (is_stored) return row_load_(sum, i, columns, part);
    x = row_load_(src, i, columns, part);
    if (residual) {
      y = row_load_(residual, i, columns, part);
      x.at[0] = mpnum_add_scalar_(x.at[0], y.at[0]);
      x.at[1] = mpnum_add_scalar_(x.at[1], y.at[1]);
    }
    if (!sum) return x;
    if (type_of<T>::value == MPNUM_TYPE_F32) { /* all others have one NaN */
      x.at[0] = mpnum_canonical_(x.at[0]);
      x.at[1] = mpnum_canonical_(x.at[1]);
    }
    row_store_(sum, i, columns, x, part);
    x.at[0] = row_element_<T>::in(row_element_<T>::out(x.at[0]));
    x.at[1] = row_element_<T>::in(row_element_<T>::out(x.at[1]));
    return x;
  }
};
/* Vectors of a row as floats, plus residual, unless that is NULL. */
template <class T> struct norm_vector_loader_ {
  template <unsigned size, unsigned batch> struct vectors {
    mpnum_lanes<T, size> x[batch], y[batch];
  };
  const T *src, *residual;
  unsigned columns;
  template <unsigned size> __device__ __forceinline__ bool takes_vectors() const {
    return row_is_aligned_<size>(src) && row_is_aligned_<size>(residual);
  }
  template <unsigned size, unsigned batch, class Part>
  __device__ __forceinline__ void fetch(vectors<size, batch> &fetched, const unsigned *at,
                                        Part part) const {
    MPNUM_UNROLL_
    for (unsigned b = 0; b < batch; ++b)
      fetched.x[b] = row_fetch_vector_<size>(src, at[b], columns, part);
    if (!residual) return;
    MPNUM_UNROLL_
    for (unsigned b = 0; b < batch; ++b)
      fetched.y[b] = row_fetch_vector_<size>(residual, at[b], columns, part);
  }
  template <unsigned size, unsigned batch>
  __device__ __forceinline__ mpnum_lanes<float, size>
  floats(const vectors<size, batch> &fetched, unsigned b) const {
    mpnum_lanes<float, size> x = row_floats_(fetched.x[b]), y;
    if (!residual) return x;
    y = row_floats_(fetched.y[b]);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size; ++j)
      x.at[j] = mpnum_add_scalar_(x.at[j], y.at[j]);
    return x;
  }
};
/* Keeps vectors of a row, and stores its sum. */
template <class T> struct norm_keeper_ {
  T *sum;
  float *kept;
  unsigned columns;
  template <unsigned size> __device__ __forceinline__ bool takes_vectors() const {
    return row_is_aligned_<size>(sum);
  }
  template <unsigned size, class Part>
  __device__ __forceinline__ void vector(size_t i, mpnum_lanes<float, size> x,
                                         Part part) const {
    if (sum) {
      MPNUM_UNROLL_
      for (unsigned j = 0; j < size; ++j) /* all others have one NaN */
        if (type_of<T>::value == MPNUM_TYPE_F32) x.at[j] = mpnum_canonical_(x.at[j]);
      row_store_vector_(sum, i, columns, x, part);
      MPNUM_UNROLL_
      for (unsigned j = 0; j < size; ++j)
        x.at[j] = row_element_<T>::in(row_element_<T>::out(x.at[j]));
    }
    row_keep_vector_(kept, i, x);
  }
};
/* Keeps a row, unless kept is NULL. All threads of a warp, each of which has the row
 * then.
 */
template <class T>
static __device__ __forceinline__ void norm_keep_(const row_place_ &place,
                                                  norm_loader_<T> &row, float *kept) {
  const norm_vector_loader_<T> load = {row.src, row.residual, place.columns};
  const norm_keeper_<T> keeper = {row.sum, kept, place.columns};
  if (!kept) return;
  row_each_vector_<row_vector_<T>::size, 4>(place, load, keeper);
  row.kept = kept;
  __syncwarp();
}

static __device__ __forceinline__ double norm_fma_(double a, double b, double c) {
#if MPNUM_ON_DEVICE_
  double x;
  asm("fma.rn.f64 %0, %1, %2, %3;" : "=d"(x) : "d"(a), "d"(b), "d"(c));
  return x;
#else
  return a * b + c; /* products of floats are exact */
#endif
}
struct norm_lanes_ {
  double at[2];
};
/* Sums of elements and of their squares. */
struct norm_adder_ {
  norm_lanes_ values, squares;
  int has_values;
  unsigned columns;
  __device__ __forceinline__ bool takes_whole() const { return true; }
  template <class Part>
  __device__ __forceinline__ void operator()(size_t i, pair_ x, Part) {
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 2; ++j) {
      double wide = 0;
      if (!Part::is_whole && i + j >= columns) continue;
      wide = mpnum_widen_f32_(x.at[j]);
      if (has_values) values.at[j] = mpnum_add_f64_(values.at[j], wide);
      squares.at[j] = norm_fma_(wide, wide, squares.at[j]);
    }
  }
};
/* The same of what a map makes of elements: of few rows, so that it has one loop. */
struct norm_mapped_adder_ {
  norm_adder_ &to;
  const mpnum_norm_map_ &map;
  __device__ __forceinline__ bool takes_whole() const { return false; }
  template <class Part>
  __device__ __forceinline__ void operator()(size_t i, pair_ x, Part part) const {
    x.at[0] = mpnum_normed_(&map, x.at[0]);
    x.at[1] = mpnum_normed_(&map, x.at[1]);
    to(i, x, part);
  }
};

/* The sum of a tile, its 64 lanes by halves. */
static __device__ __forceinline__ double norm_folded_(const row_place_ &place,
                                                      norm_lanes_ lanes) {
  for (int step = place.lanes / 2; step > 0; step /= 2) {
    lanes.at[0] =
        mpnum_add_f64_(lanes.at[0], __shfl_xor_sync(0xffffffffu, lanes.at[0], step));
    lanes.at[1] =
        mpnum_add_f64_(lanes.at[1], __shfl_xor_sync(0xffffffffu, lanes.at[1], step));
  }
  return mpnum_add_f64_(lanes.at[0], lanes.at[1]);
}
/* a + b, and what that sum lacks. */
static __device__ __forceinline__ double norm_two_sum_(double a, double b, double *rest) {
  const double sum = mpnum_add_f64_(a, b);
  const double of_b = mpnum_add_f64_(sum, -a);
  const double of_a = mpnum_add_f64_(sum, -of_b);
  *rest = mpnum_add_f64_(mpnum_add_f64_(a, -of_a), mpnum_add_f64_(b, -of_b));
  return sum;
}
/* A sum and what it lacks, half of its last place at most, rounded to odd: so that a
 * rounding to fewer bits gives what it gives for both. */
static __device__ __forceinline__ double norm_odd_(double sum, double rest) {
  uint64_t bits = mpnum_bits_f64(sum);
  if (rest != 0 && bits % 2 == 0)
    bits += (mpnum_bits_f64(rest) ^ bits) >> 63 ? ~static_cast<uint64_t>(0) : 1;
  return mpnum_from_bits_f64(bits);
}
/* The sum of one tile or more, rounded to odd once. Returns whether it is found: two
 * doubles hold it, unless it is no number or magnitudes of tiles are 2^50 apart. */
static __device__ __forceinline__ bool norm_total_(const double *tiles, unsigned count,
                                                   double *total) {
  double sum = tiles[0], rest = 0, lost = 0;
  bool is_found = true;
  MPNUM_NO_UNROLL_
  for (unsigned i = 1; i < count; ++i) {
    sum = norm_two_sum_(sum, tiles[i], &lost);
    rest = norm_two_sum_(rest, lost, &lost);
    if (!(lost == 0)) is_found = false; /* NaN, too */
  }
  sum = norm_two_sum_(sum, rest, &lost);
  *total = norm_odd_(sum, lost);
  return is_found;
}
/* The same of any tiles, whose places are lost: Bohlender's sum. Each pass leaves the sum
 * as it is and brings larger numbers up: after count - 1 the last number is the sum,
 * rounded, and the next one that is not 0 has the sign of what it lacks. */
static __device__ __forceinline__ double norm_distilled_(double *tiles, unsigned count) {
  double sum = 0, rest = 0;
  MPNUM_NO_UNROLL_
  for (unsigned i = 0; i < count; ++i)
    sum = mpnum_add_f64_(sum, tiles[i]);
  if (!(sum - sum == 0)) /* Inf or NaN: no sum of numbers is past 2^320 */
    return sum == sum ? sum : mpnum_from_bits_f64((uint64_t)0x7fffffffffffffffu);
  MPNUM_NO_UNROLL_
  for (unsigned pass = 1; pass < count; ++pass)
    MPNUM_NO_UNROLL_
  for (unsigned i = 1; i < count; ++i)
    tiles[i] = norm_two_sum_(tiles[i], tiles[i - 1], &tiles[i - 1]);
  MPNUM_NO_UNROLL_
  for (unsigned i = count - 1; i > 0 && rest == 0; --i)
    rest = tiles[i - 1];
  return norm_odd_(tiles[count - 1], rest);
}
/* What warps of a row share: sums of tiles, of which the total is exact. */
struct norm_scratch_ {
  double tiles[2][row_warps_];
  double sums[2];
  mpnum_exact_sum totals[2];
};
static_assert(sizeof(norm_scratch_) <= row_scratch_, "what launches leave room for");
/* Adds what warps found in tiles to totals; the first two warps of more do one each. */
static __device__ __forceinline__ void
norm_add_tiles_(const row_place_ &place, norm_scratch_ *scratch, unsigned tiles) {
  __syncthreads();
  if (place.lane == 0 && place.warp < 2)
    for (unsigned i = 0; i < place.warps && i < tiles; ++i)
      mpnum_exact_sum_add_f64_(&scratch->totals[place.warp],
                               scratch->tiles[place.warp][i]);
  __syncthreads();
}
/* Both sums of a row; of few threads the other lanes are 0. */
template <bool has_map, class Load>
static __device__ __forceinline__ void
norm_sums_(const row_place_ &place, const Load &load, const mpnum_norm_map_ &map,
           norm_adder_ &adder, norm_scratch_ *scratch, double sums[2]) {
  const norm_lanes_ zeros = {{0, 0}};
  norm_mapped_adder_ mapped = {adder, map};
  const unsigned tiles = (place.columns + row_tile_ - 1) / row_tile_;
  unsigned tile = 0;
  if (place.warps > 1 && place.lane == 0 && place.warp < 2)
    scratch->totals[place.warp] = mpnum_exact_sum_empty();
  do {
    double value = 0, square = 0;
    row_hide_(tile); /* lest addresses be made before the loop, in registers */
    adder.values = adder.squares = zeros;
    if ((tile + place.warp) * row_tile_ < place.columns) {
      if (has_map)
        row_each_<1>(place, tile + place.warp, place.columns, load, mapped);
      else
        row_each_<4>(place, tile + place.warp, place.columns, load, adder);
    }
    value = adder.has_values ? norm_folded_(place, adder.values) : 0;
    square = norm_folded_(place, adder.squares);
    if (place.warps == 1) {
      sums[0] = value;
      sums[1] = square;
      return;
    }
    if (place.lane == 0) {
      scratch->tiles[0][place.warp] = value;
      scratch->tiles[1][place.warp] = square;
    }
    if (tiles <= place.warps) { /* for all threads alike */
      bool is_found = true;
      __syncthreads();
      sums[0] = 0;
      if (adder.has_values) is_found = norm_total_(scratch->tiles[0], tiles, &sums[0]);
      is_found = norm_total_(scratch->tiles[1], tiles, &sums[1]) && is_found;
      __syncthreads();
      if (is_found) return;
    }
    norm_add_tiles_(place, scratch, tiles - tile);
    tile += place.warps;
  } while (tile < tiles);
  if (place.lane == 0 && place.warp < 2)
    scratch->sums[place.warp] = mpnum_exact_sum_take_odd_(&scratch->totals[place.warp]);
  __syncthreads();
  sums[0] = scratch->sums[0];
  sums[1] = scratch->sums[1];
  __syncthreads();
}

/* A row and the numbers that normalise it. */
template <class T> struct norm_row_ {
  norm_loader_<T> load;
  mpnum_norm_row_ found;
};
template <class T>
static __device__ __forceinline__ norm_row_<T> norm_row_of_(const norm_source_<T> &from,
                                                            const row_place_ &place) {
  const size_t number = place.exists ? place.number : 0;
  norm_row_<T> row;
  row.load.src = from.data + number * from.stride;
  row_prefetch_(place, row.load.src, place.columns);
  row.load.residual = from.residual ? from.residual + number * from.residual_stride : 0;
  row.load.sum = from.sum ? from.sum + number * from.sum_stride : 0;
  row.load.kept = 0;
  row.load.columns = place.columns;
  row.load.is_stored = 0;
  return row;
}
/* Finds the numbers, and keeps the row. All threads of a warp, as rows may share one. */
template <class T>
static __device__ __forceinline__ void
norm_find_(norm_row_<T> &row, const norm_source_<T> &from, const row_place_ &place,
           norm_scratch_ *scratch) {
  const double columns = static_cast<double>(from.columns);
  const double epsilon = mpnum_widen_f32_(from.epsilon);
  double sums[2], square = 0;
  norm_adder_ adder;
  int step = 0;
  adder.has_values = from.kind == MPNUM_NORM_LAYER;
  adder.columns = place.columns;
  norm_keep_(place, row.load, place.kept);
  norm_sums_<false>(place, row.load, row.found.map, adder, scratch, sums);
  row.load.is_stored = row.load.sum != 0;
  step = mpnum_norm_begin_(from.kind, epsilon, columns, sums, &row.found, &square);
  if (from.kind == MPNUM_NORM_LAYER && __any_sync(0xffffffffu, step == 2)) {
    norm_sums_<true>(place, row.load, row.found.map, adder, scratch, sums);
    if (step == 2) square = mpnum_norm_about_(columns, sums, &row.found);
  }
  if (step != 0) mpnum_norm_end_(from.kind, epsilon, square, &row.found);
  if (!row_is_first_(place)) return;
  if (from.mean) from.mean[place.number] = mpnum_norm_mean_(&row.found);
  if (from.inverse) from.inverse[place.number] = mpnum_norm_inverse_(&row.found);
}

/* Results as floats, to a row of T; or to codes of Q, times scale. */
template <class T> struct norm_plain_ {
  T *dst;
  size_t stride;
  __device__ __forceinline__ void begin() {}
};
template <class Q> struct norm_codes_ {
  Q *dst;
  size_t stride;
  float *amax;
  const float *scale;
  float factor; /* of the device */
  __device__ __forceinline__ void begin() { factor = scale_or_nan_(*scale); }
};
template <class T, unsigned size, class Part>
static __device__ __forceinline__ void
norm_put_(const norm_plain_<T> &to, size_t number, size_t i, unsigned columns,
          const mpnum_lanes<float, size> &y, float &, Part part) {
  row_store_vector_(to.dst + number * to.stride, i, columns, y, part);
}
/* Puts codes of bytes, four at a time where an instruction makes two of them. */
template <class Q, bool by_fours = four_from_floats_<Q>::exists> struct held_codes_ {
  template <unsigned size>
  static __device__ __forceinline__ void put(Q *dst, const mpnum_lanes<float, size> &y) {
    mpnum_lanes<Q, size> codes;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size; ++j)
      codes.at[j] = from_float_sat<Q>(y.at[j]);
    *reinterpret_cast<mpnum_lanes<Q, size> *>(dst) = codes;
  }
};
template <class Q> struct held_codes_<Q, true> {
  template <unsigned size>
  static __device__ __forceinline__ void put(Q *dst, const mpnum_lanes<float, size> &y) {
    mpnum_lanes<uint32_t, size / 4> words; /* bytes would be taken apart */
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size; j += 4) {
      const mpnum_f32x4 x = {y.at[j], y.at[j + 1], y.at[j + 2], y.at[j + 3]};
      words.at[j / 4] = copied_<uint32_t>(four_from_floats_<Q>::sat(x));
    }
    *reinterpret_cast<mpnum_lanes<uint32_t, size / 4> *>(dst) = words;
  }
};
/* Added to twice the bits of a float it orders magnitudes; Inf and NaN leave the word. */
enum : uint32_t { norm_finite_ = 0x01000000u };
template <class Q, unsigned size, class Part>
static __device__ __forceinline__ void
norm_put_(const norm_codes_<Q> &to, size_t number, size_t i, unsigned columns,
          mpnum_lanes<float, size> y, float &amax, Part) {
  Q *dst = to.dst + number * to.stride + i;
  uint32_t most = 2 * mpnum_bits_f32(amax) + norm_finite_;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < size; ++j) {
    const uint32_t other = 2 * mpnum_bits_f32(y.at[j]) + norm_finite_;
    if (Part::is_whole || i + j < columns) most = other > most ? other : most;
    y.at[j] = mpnum_mul_scalar_(y.at[j], to.factor);
  }
  amax = mpnum_from_bits_f32((most - norm_finite_) / 2);
  if (Part::is_whole) {
    held_codes_<Q, four_from_floats_<Q>::exists && size % 4 == 0>::put(dst, y);
  } else {
    mpnum_lanes<Q, size> codes;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size; ++j)
      codes.at[j] = from_float_sat<Q>(y.at[j]);
    mpnum_store(dst, codes, columns - i);
  }
}
template <class T>
static __device__ __forceinline__ void norm_amax_(const norm_plain_<T> &, float) {}
template <class Q>
static __device__ __forceinline__ void norm_amax_(const norm_codes_<Q> &to, float amax) {
  if (!to.amax) return;
  amax = mpnum_warp_amax_f32(amax);
  if (mpnum_thread_index_() % 32 == 0) mpnum_atomic_amax(to.amax, amax);
}
/* Elements become what a map and, unless they are NULL, weights and biases make of
 * them. */
template <unsigned size, class Part>
static __device__ __forceinline__ void
norm_weigh_(mpnum_lanes<float, size> &x, const mpnum_norm_map_ &map, const float *weight,
            const float *bias, size_t i, unsigned columns, Part part) {
  mpnum_lanes<float, size> w = mpnum_lanes<float, size>(), b = w;
  if (weight) w = row_fetch_vector_<size>(weight, i, columns, part);
  if (bias) b = row_fetch_vector_<size>(bias, i, columns, part);
  MPNUM_UNROLL_
  for (unsigned j = 0; j < size; ++j) {
    float y = mpnum_normed_(&map, x.at[j]);
    if (weight && bias) {
      y = mpnum_fma_scalar_(y, w.at[j], b.at[j]);
    } else if (weight) {
      y = mpnum_mul_scalar_(y, w.at[j]);
    } else if (bias) {
      y = mpnum_add_scalar_(y, b.at[j]);
    }
    x.at[j] = mpnum_canonical_(y);
  }
}
template <class To> struct norm_writer_ {
  To to;
  size_t number;
  unsigned columns;
  const float *weight, *bias;
  mpnum_norm_map_ map;
  float amax;
  template <unsigned size> __device__ __forceinline__ bool takes_vectors() const {
    return row_is_aligned_<size>(to.dst + number * to.stride) &&
           row_is_aligned_<size>(weight) && row_is_aligned_<size>(bias);
  }
  template <unsigned size, class Part>
  __device__ __forceinline__ void vector(size_t i, mpnum_lanes<float, size> x,
                                         Part part) {
    norm_weigh_(x, map, weight, bias, i, columns, part);
    norm_put_(to, number, i, columns, x, amax, part);
  }
};
template <class To, class Src> struct norm_job_ {
  norm_source_<Src> from;
  To to;
};
template <class To, class Src>
static __device__ __forceinline__ float norm_one_(const norm_job_<To, Src> &job,
                                                  const row_place_ &place,
                                                  norm_scratch_ *scratch) {
  norm_row_<Src> row = norm_row_of_(job.from, place);
  norm_writer_<To> writer;
  norm_find_(row, job.from, place, scratch);
  writer.to = job.to;
  writer.to.begin();
  writer.number = place.exists ? place.number : 0;
  writer.columns = place.columns;
  writer.weight = job.from.weight;
  writer.bias = job.from.bias;
  writer.map = row.found.map;
  writer.amax = 0;
  if (place.kept) {
    const row_kept_loader_ load = {place.kept};
    row_each_vector_<row_vector_<Src>::size, 1>(place, load, writer);
  } else { /* a stored sum is one of this block, which has met a barrier since */
    const bool is_stored = row.load.sum != 0;
    const norm_vector_loader_<Src> load = {is_stored ? row.load.sum : row.load.src,
                                           is_stored ? 0 : row.load.residual,
                                           place.columns};
    row_each_vector_<row_vector_<Src>::size, 2>(place, load, writer);
  }
  return writer.amax;
}

/* What teams of a block share. */
struct held_scratch_ {
  double tiles[2][held_teams_];
};
/* Gives the sums of tiles to all threads of a row. All of them. */
static __device__ __forceinline__ void held_share_(const held_place_ &place,
                                                   unsigned threads,
                                                   held_scratch_ *scratch,
                                                   const double sums[2]) {
  if (threadIdx.x % threads == 0) {
    scratch->tiles[0][place.team + threadIdx.x / threads] = sums[0];
    scratch->tiles[1][place.team + threadIdx.x / threads] = sums[1];
  }
  held_meet_();
}
/* The sums of a row of many tiles from those of its tiles. All threads of the row. */
template <bool has_values>
static __device__ __forceinline__ void
held_total_(const held_place_ &place, unsigned threads, held_scratch_ *scratch,
            double sums[2]) {
  bool is_found = true;
  held_share_(place, threads, scratch, sums);
  if (has_values)
    is_found = norm_total_(scratch->tiles[0] + place.team, place.tiles, &sums[0]);
  is_found =
      norm_total_(scratch->tiles[1] + place.team, place.tiles, &sums[1]) && is_found;
  held_meet_();
  if (is_found) return; /* all threads of a row alike */
  if (threadIdx.x == 0) {
    MPNUM_NO_UNROLL_
    for (unsigned which = has_values ? 0 : 1; which < 2; ++which) {
      double *const tiles = scratch->tiles[which] + place.team;
      *tiles = norm_distilled_(tiles, place.tiles);
    }
  }
  held_meet_();
  if (has_values) sums[0] = scratch->tiles[0][place.team];
  sums[1] = scratch->tiles[1][place.team];
  held_meet_();
}
/* Both sums of a row from those of a thread. */
template <bool has_values, unsigned size>
static __device__ __forceinline__ void
held_sum_(const held_place_ &place, const held_sums_<size> &values,
          const held_sums_<size> &squares, held_scratch_ *scratch, double sums[2]) {
  sums[0] = has_values ? held_folded_(values) : 0;
  sums[1] = held_folded_(squares);
  if (place.tiles > 1) held_total_<has_values>(place, row_lanes_ / size, scratch, sums);
}
/* Those of elements as they are. */
template <bool has_values, class T, unsigned size>
static __device__ __forceinline__ void
held_find_sums_(const held_<T, size> &row, const held_place_ &place,
                held_scratch_ *scratch, double sums[2]) {
  held_sums_<size> values = held_sums_<size>(), squares = values;
  MPNUM_UNROLL_
  for (unsigned k = 0; k < held_steps_; ++k) {
    const mpnum_lanes<float, size> x = held_floats_(row.at[k]);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size; ++j) {
      const double wide = mpnum_widen_f32_(x.at[j]);
      if (has_values) values.at[j] = mpnum_add_f64_(values.at[j], wide);
      squares.at[j] = norm_fma_(wide, wide, squares.at[j]);
    }
  }
  held_sum_<has_values>(place, values, squares, scratch, sums);
}
/* Those of elements as map makes them; of few rows, which are read again in a loop. src:
 * this thread's first element. */
template <unsigned size, class T>
static __device__ __forceinline__ void
held_map_sums_(const T *src, const held_place_ &place, const mpnum_norm_map_ &map,
               held_scratch_ *scratch, double sums[2]) {
  held_sums_<size> values = held_sums_<size>(), squares = values;
  MPNUM_UNROLL_BY_(2)
  for (unsigned k = 0; k < held_steps_; ++k) {
    if (!held_has_(place, k)) break;
    const mpnum_lanes<float, size> x = held_floats_(
        *reinterpret_cast<const mpnum_lanes<T, size> *>(src + k * row_lanes_));
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size; ++j) {
      const double wide = mpnum_widen_f32_(mpnum_normed_(&map, x.at[j]));
      values.at[j] = mpnum_add_f64_(values.at[j], wide);
      squares.at[j] = norm_fma_(wide, wide, squares.at[j]);
    }
  }
  held_sum_<true>(place, values, squares, scratch, sums);
}
/* Finds the numbers of a row. All threads of a warp, as rows may share one. */
template <bool is_layer, class Src, unsigned size>
static __device__ __forceinline__ mpnum_norm_map_
held_find_(held_<Src, size> &row, const norm_source_<Src> &from, const held_place_ &place,
           held_scratch_ *scratch) {
  const mpnum_norm_kind kind = is_layer ? MPNUM_NORM_LAYER : MPNUM_NORM_RMS;
  const double columns = static_cast<double>(from.columns);
  const double epsilon = mpnum_widen_f32_(from.epsilon);
  double sums[2] = {0, 0}, square = 0;
  mpnum_norm_row_ found;
  int step = 0;
  mpnum_norm_shift_(&found.map, 1, 0);
  held_find_sums_<is_layer>(row, place, scratch, sums);
  held_forget_(row);
  step = mpnum_norm_begin_(kind, epsilon, columns, sums, &found, &square);
  if (is_layer && __any_sync(0xffffffffu, step == 2)) {
    held_map_sums_<size>(from.data + place.number * from.stride + place.column, place,
                         found.map, scratch, sums);
    if (step == 2) square = mpnum_norm_about_(columns, sums, &found);
    held_forget_(row);
  }
  if (step != 0) mpnum_norm_end_(kind, epsilon, square, &found);
  if (place.is_first && from.mean) from.mean[place.number] = mpnum_norm_mean_(&found);
  if (place.is_first && from.inverse)
    from.inverse[place.number] = mpnum_norm_inverse_(&found);
  return found.map;
}

/* Where a thread's results go, from its first one on. */
template <class To> struct held_results_;
template <class T> struct held_results_<norm_plain_<T>> {
  T *dst;
  __device__ __forceinline__ held_results_(const norm_plain_<T> &to, size_t number,
                                           unsigned column)
      : dst(to.dst + number * to.stride + column) {}
  template <unsigned size>
  __device__ __forceinline__ void put(unsigned i, const mpnum_lanes<float, size> &y) {
    held_store_(dst + i, y);
  }
  __device__ __forceinline__ void end() {}
};
template <class Q> struct held_results_<norm_codes_<Q>> {
  Q *dst;
  float factor;
  float *amax;
  uint32_t most; /* twice the bits of the largest finite magnitude, and norm_finite_ */
  __device__ __forceinline__ held_results_(const norm_codes_<Q> &to, size_t number,
                                           unsigned column)
      : dst(to.dst + number * to.stride + column), factor(scale_or_nan_(*to.scale)),
        amax(to.amax), most(0) {}
  template <unsigned size>
  __device__ __forceinline__ void put(unsigned i, mpnum_lanes<float, size> y) {
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size; ++j) {
      const uint32_t other = 2 * mpnum_bits_f32(y.at[j]) + norm_finite_;
      most = other > most ? other : most;
      y.at[j] = mpnum_mul_scalar_(y.at[j], factor);
    }
    held_codes_<Q>::put(dst + i, y);
  }
  __device__ __forceinline__ void end() {
    if (!amax) return;
    most = mpnum_warp_max_u32_(most);
    if (mpnum_thread_index_() % 32 == 0 && most > norm_finite_)
      mpnum_atomic_amax(amax, mpnum_from_bits_f32((most - norm_finite_) / 2));
  }
};
/* A vector of weights or biases, floats or, absent, one that changes no result: 1 and -0.
 * is_plain: it is there. */
template <bool is_plain, unsigned size>
static __device__ __forceinline__ mpnum_lanes<float, size>
held_factors_(const float *factors, unsigned k, const held_place_ &place, float absent) {
  mpnum_lanes<float, size> w;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < size; ++j)
    w.at[j] = absent;
  if (is_plain || (factors && held_has_(place, k)))
    w = *reinterpret_cast<const mpnum_lanes<float, size> *>(factors + k * row_lanes_);
  return w;
}
/* What a row makes of a vector. is_plain: with a weight and without a bias. */
template <bool is_plain, unsigned size>
static __device__ __forceinline__ mpnum_lanes<float, size>
held_weighed_(const mpnum_lanes<float, size> &x, const mpnum_norm_map_ &map,
              const mpnum_lanes<float, size> &w, const mpnum_lanes<float, size> &b) {
  mpnum_lanes<float, size> made;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < size; ++j) {
    const float y = mpnum_normed_(&map, x.at[j]);
    made.at[j] =
        is_plain ? mpnum_mul_scalar_(y, w.at[j]) : mpnum_fma_scalar_(y, w.at[j], b.at[j]);
  }
  return made;
}
/* is_plain: tiles are whole, with a weight and without a bias. */
template <bool is_plain, class To, class Src, unsigned size>
static __device__ __forceinline__ void
held_write_(const norm_job_<To, Src> &job, const held_<Src, size> &row,
            const held_place_ &place, const mpnum_norm_map_ &map) {
  const float *const weight = job.from.weight ? job.from.weight + place.column : 0;
  const float *const bias = job.from.bias ? job.from.bias + place.column : 0;
  held_results_<To> to(job.to, place.number, place.column);
  MPNUM_UNROLL_
  for (unsigned k = 0; k < held_steps_; k += held_batch_) {
    mpnum_lanes<float, size> w[held_batch_], b[held_batch_];
    MPNUM_UNROLL_
    for (unsigned m = 0; m < held_batch_; ++m) {
      w[m] = held_factors_<is_plain, size>(weight, k + m, place, 1);
      b[m] = held_factors_<false, size>(is_plain ? 0 : bias, k + m, place,
                                        mpnum_from_bits_f32(0x80000000u));
    }
    MPNUM_UNROLL_
    for (unsigned m = 0; m < held_batch_; ++m) {
      const mpnum_lanes<float, size> y =
          held_weighed_<is_plain>(held_floats_(row.at[k + m]), map, w[m], b[m]);
      if (is_plain || held_has_(place, k + m)) to.put((k + m) * row_lanes_, y);
    }
  }
  to.end();
}
template <unsigned size, bool is_layer, class To, class Src>
static __device__ __forceinline__ void held_norm_(const norm_job_<To, Src> &job,
                                                  held_scratch_ *scratch) {
  const held_place_ place = held_place_of_<size>(job.from.rows, job.from.columns);
  held_<Src, size> row;
  held_load_(row, job.from.data + place.number * job.from.stride + place.column, place);
  const mpnum_norm_map_ map = held_find_<is_layer>(row, job.from, place, scratch);
  if (place.is_whole && job.from.weight && !job.from.bias)
    held_write_<true>(job, row, place, map);
  else
    held_write_<false>(job, row, place, map);
}

} // namespace mpnum

/* Rows in registers: 64 of a thread's. */
template <bool is_layer, class To, class Src>
static __global__ void __launch_bounds__(mpnum::held_resident_, 1)
    mpnum_normalize_held_kernel_(mpnum::norm_job_<To, Src> job) {
  mpnum_begin_kernel_();
  __shared__ mpnum::held_scratch_ scratch;
  mpnum::held_norm_<mpnum::held_size_, is_layer>(job, &scratch);
}
/* As the other kernels of rows. */
template <class To, class Src>
static __global__ void __launch_bounds__(512, 1)
    mpnum_normalize_rows_kernel_(mpnum::norm_job_<To, Src> job) {
  mpnum_begin_kernel_();
  __shared__ mpnum::norm_scratch_ scratch;
  mpnum::norm_amax_(job.to,
                    mpnum::norm_one_(job, mpnum::row_place_in_(job.from), &scratch));
}

#if !MPNUM_HAS_NVRTC_

/* The source of a launch, and whether the options are what normalize.h allows. */
template <class T>
static inline bool mpnum_norm_source_of_(mpnum::norm_source_<T> &from,
                                         mpnum_norm_kind kind, const T *src,
                                         size_t stride, size_t rows, size_t columns,
                                         const mpnum_normalize_options *options) {
  const mpnum_normalize_options usual = mpnum_normalize_default();
  const mpnum_normalize_options &chosen = options ? *options : usual;
  const mpnum_type type = mpnum::type_of<T>::value;
  const mpnum_const_matrix &residual = chosen.residual;
  const mpnum_matrix &sum = chosen.sum;
  static_assert(mpnum::has_rows_<T>::value, "float, f16, bf16, e5m2 or e4m3");
  from.data = src;
  from.residual = static_cast<const T *>(residual.data);
  from.sum = static_cast<T *>(sum.data);
  from.rows = rows;
  from.stride = stride;
  from.residual_stride = residual.stride;
  from.sum_stride = sum.stride;
  from.columns = static_cast<unsigned>(columns);
  from.kept = 0;
  from.weight = chosen.weight;
  from.bias = chosen.bias;
  from.mean = chosen.mean;
  from.inverse = chosen.inverse;
  from.epsilon = chosen.epsilon;
  from.kind = kind;
  if (residual.data &&
      (residual.type != type || residual.rows != rows || residual.columns != columns))
    return false;
  if (sum.data && (sum.type != type || sum.rows != rows || sum.columns != columns ||
                   !mpnum_rows_fit_(from.sum, sum.stride, src, stride, rows, columns) ||
                   (residual.data && !mpnum_rows_fit_(from.sum, sum.stride, from.residual,
                                                      residual.stride, rows, columns))))
    return false;
  return mpnum_is_factor_(chosen.epsilon) && columns <= mpnum::row_columns_ &&
         (src || rows == 0 || columns == 0);
}
/* Whether results that go to dst leave a residual and a sum alone. */
template <class Dst, class T>
static inline bool mpnum_norm_fits_(const Dst *dst, size_t stride,
                                    const mpnum::norm_source_<T> &from) {
  return mpnum_rows_are_apart_(dst, stride, from.residual, from.residual_stride,
                               from.rows, from.columns) &&
         mpnum_rows_are_apart_(dst, stride, from.sum, from.sum_stride, from.rows,
                               from.columns);
}
template <unsigned size, class T>
static inline bool mpnum_norm_is_held_(const mpnum::norm_source_<T> &from) {
  return mpnum_is_held_<size, T>(from.columns) && !from.residual && !from.sum &&
         mpnum_has_held_vectors_<size>(from.data, from.stride) &&
         mpnum::row_is_aligned_<size>(from.weight) &&
         mpnum::row_is_aligned_<size>(from.bias);
}
/* Launches over rows that are held: none of other types. */
template <bool is_possible> struct mpnum_norm_held_ {
  template <class To, class Src>
  static cudaError_t launch(mpnum::norm_job_<To, Src> &job, cudaStream_t stream) {
    return mpnum_launch_held_<mpnum::held_size_>(
        job.from.kind == MPNUM_NORM_LAYER ? mpnum_normalize_held_kernel_<true, To, Src>
                                          : mpnum_normalize_held_kernel_<false, To, Src>,
        job, job.from.rows, job.from.columns, stream);
  }
};
template <> struct mpnum_norm_held_<false> {
  template <class Job> static cudaError_t launch(Job &, cudaStream_t) {
    return cudaErrorInvalidValue;
  }
};
template <class To, class Src>
static inline cudaError_t mpnum_launch_norm_(mpnum::norm_job_<To, Src> &job,
                                             cudaStream_t stream) {
  if (job.from.rows == 0 || job.from.columns == 0) return cudaSuccess;
  if (mpnum_norm_is_held_<mpnum::held_size_>(job.from) &&
      mpnum_has_held_vectors_<mpnum::held_size_>(job.to.dst, job.to.stride))
    return mpnum_norm_held_<sizeof(Src) == 2>::launch(job, stream);
  return mpnum_launch_rows_(mpnum_normalize_rows_kernel_<To, Src>, job, job.from, 1,
                            stream);
}
template <class Dst, class Src>
static inline cudaError_t
mpnum_launch_norm_plain_(mpnum_norm_kind kind, Dst *dst, size_t dst_stride,
                         const Src *src, size_t src_stride, size_t rows, size_t columns,
                         const mpnum_normalize_options *options, cudaStream_t stream) {
  mpnum::norm_job_<mpnum::norm_plain_<Dst>, Src> job;
  if (!mpnum_norm_source_of_(job.from, kind, src, src_stride, rows, columns, options) ||
      !mpnum_rows_fit_(dst, dst_stride, src, src_stride, rows, columns) ||
      !mpnum_norm_fits_(dst, dst_stride, job.from))
    return cudaErrorInvalidValue;
  job.to.dst = dst;
  job.to.stride = dst_stride;
  return mpnum_launch_norm_(job, stream);
}
static inline bool mpnum_is_norm_of_devices_(mpnum_norm_kind kind) {
  return kind == MPNUM_NORM_LAYER || kind == MPNUM_NORM_RMS;
}
/* mpnum_normalize_rows. kind: MPNUM_NORM_LAYER or MPNUM_NORM_RMS. */
template <class Dst, class Src>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_normalize_rows(mpnum_norm_kind kind, mpnum::matrix<Dst> dst,
                            mpnum::matrix<Src> src,
                            const mpnum_normalize_options *options, cudaStream_t stream) {
  if (!mpnum_is_norm_of_devices_(kind) || !mpnum_have_one_shape_(dst, src))
    return cudaErrorInvalidValue;
  return mpnum_launch_norm_plain_(kind, dst.data, dst.stride, src.data, src.stride,
                                  src.rows, src.columns, options, stream);
}

template <class Q, class Src>
static inline cudaError_t
mpnum_launch_norm_codes_(mpnum_norm_kind kind, Q *dst, size_t dst_stride, float *amax,
                         const Src *src, size_t src_stride, size_t rows, size_t columns,
                         const mpnum_normalize_options *options, const float *scale,
                         cudaStream_t stream) {
  mpnum::norm_job_<mpnum::norm_codes_<Q>, Src> job;
  if (!mpnum_norm_source_of_(job.from, kind, src, src_stride, rows, columns, options) ||
      dst_stride < columns || !scale || (!dst && rows && columns) ||
      !mpnum_rows_are_apart_(dst, dst_stride, src, src_stride, rows, columns) ||
      !mpnum_norm_fits_(dst, dst_stride, job.from))
    return cudaErrorInvalidValue;
  job.to.dst = dst;
  job.to.stride = dst_stride;
  job.to.amax = amax;
  job.to.scale = scale;
  job.to.factor = 0;
  return mpnum_launch_norm_(job, stream);
}
/* mpnum_normalize_quantize_rows: the floats times *scale, in device memory, become codes
 * of Q, a type of 8 bits or fewer, one in a byte. kind: as above. A scale that is 0,
 * negative, Inf or NaN, which the host refuses, makes all codes NaN. *amax, unless amax
 * is NULL, becomes the larger of what it was, 0 to begin with, and the largest finite
 * magnitude before scale, as the host's losses have it: Inf and NaN are in the codes. */
template <class Q, class Src>
MPNUM_MUST_CHECK static inline cudaError_t mpnum_launch_normalize_quantize_rows(
    mpnum_norm_kind kind, mpnum::matrix<Q> dst, mpnum::matrix<Src> src,
    const mpnum_normalize_options *options, const float *scale, float *amax,
    cudaStream_t stream) {
  if (!mpnum_is_norm_of_devices_(kind) || !mpnum_have_one_shape_(dst, src))
    return cudaErrorInvalidValue;
  return mpnum_launch_norm_codes_(kind, dst.data, dst.stride, amax, src.data, src.stride,
                                  src.rows, src.columns, options, scale, stream);
}

#endif

MPNUM_C_END_
#endif
