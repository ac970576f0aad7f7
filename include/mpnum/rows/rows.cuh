/* SPDX-License-Identifier: MIT */
/* Softmax, log-softmax and log-sum-exp of rows in device memory. Rules of all launchers:
 * kernels.cuh. Losses and gradients: loss_rows.cuh; norms: norm_rows.cuh. CUDA C++11;
 * NVRTC for the kernels alone.
 *
 *     mpnum_softmax_options options = mpnum_softmax_default();
 *     options.scale = 0.125f;
 *     mpnum_launch_softmax_rows(mpnum::matrix_of(weights, rows, n),
 *                               mpnum::matrix_of(scores, rows, n), &options, NULL,
 *                               stream);
 *
 * What each does is said in softmax.h, and the bits are those of the host's functions:
 * sums go through the same lanes and tiles.
 * Domain: T is float, mpnum_f16, mpnum_bf16, mpnum_e5m2 or mpnum_e4m3, of each array its
 *   own. A stride counts elements from row to row: of what is written columns at least,
 *   of what is read any, as in matrix.h, 0 for one row that repeats. Options are the
 *   host's, and read before a launcher returns; NULL means the defaults. Arrays in them,
 *   and row_status, are in device memory. A length past the columns counts as columns, of
 *   which there are fewer than 2^31; slopes and sinks, of rows below 2^32, are what
 *   softmax.h says, and not looked at. dst may be src where both have one type and
 *   stride; otherwise they do not overlap.
 * Bits: batch invariance: a row has the same ones alone and in any batch.
 * Status: cudaErrorInvalidValue, and nothing is launched, where the host's function has
 *   an error, but for what only the device can read, and for a cap, which
 *   softmax_cap.cuh takes. Without elements pointers may be anything.
 * Speed: a row is read once where threads can hold it: with 1024 to 32768 columns of 16
 *   bits and 2049 to 32768 floats, neither masked nor biased, each row aligned to two
 *   elements. Other rows are where their floats fit into the shared memory that a block
 *   can have, 12032 of them on every GPU, 16128 on sm_75, 25088 on sm_86, 89 and 120,
 *   41472 on sm_80, 57856 on sm_90 and 100; longer rows once for each step, from the
 *   second on out of the caches, from sm_80 on while it computes. */
#ifndef MPNUM_ROWS_ROWS_CUH
#define MPNUM_ROWS_ROWS_CUH

#include "detail/row_held.cuh"
#include "softmax.h"
#include "../array/matrix.cuh"
MPNUM_C_BEGIN_

namespace mpnum {

template <class T> struct has_rows_ {
  static constexpr mpnum_type type = type_of<T>::value;
  static constexpr bool value = type == MPNUM_TYPE_F32 || type == MPNUM_TYPE_F16 ||
                                type == MPNUM_TYPE_BF16 || type == MPNUM_TYPE_E5M2 ||
                                type == MPNUM_TYPE_E4M3;
};

/* The rows of a launch, and which of their elements count. */
template <class T> struct row_source_ {
  const T *data;
  size_t rows, stride;
  unsigned columns, kept; /* kept: floats of each row */
  size_t ahead;           /* which row is asked for while this one is summed; 0: none */
  const uint8_t *mask;
  const size_t *lengths;
  const void *bias;
  const float *slopes, *sinks;
  size_t mask_stride, bias_stride;
  unsigned heads, head_rows;
  int64_t first_length, length_step;
  mpnum_type bias_type;
  float scale;
  int is_causal, is_masked, takes_limit, adds, has_stages;
};

/* A bias of a row, times the slope of its head. */
struct row_bias_ {
  const unsigned char *at; /* NULL: none */
  mpnum_type type;
  float slope;
  __device__ __forceinline__ float operator()(size_t i) const {
    if (type == MPNUM_TYPE_F32)
      return mpnum_mul_scalar_(reinterpret_cast<const float *>(at)[i], slope);
    const uint32_t code = reinterpret_cast<const uint16_t *>(at)[i];
    return mpnum_mul_scalar_(type == MPNUM_TYPE_F16
                                 ? to_float(from_bits<mpnum_f16>(code))
                                 : to_float(from_bits<mpnum_bf16>(code)),
                             slope);
  }
};

/* What becomes of elements that are read, before biases: nothing (softmax_cap.cuh). */
struct row_uncapped_ {
  __device__ __forceinline__ float operator()(float x) const { return x; }
};

/* Pairs of a row as floats, what is masked as -Inf; or those that were kept. Of a NaN the
 * bits are lost. */
template <class T, class Cap = row_uncapped_> struct row_loader_ {
  typedef pair_ result;
  static constexpr unsigned staged_size = sizeof(T);
  const T *src;
  const uint8_t *mask;
  row_bias_ bias;
  const float *kept;
  unsigned count;
  int is_plain; /* aligned, and neither masked nor biased */
  float scale;
  Cap cap;
  __device__ __forceinline__ bool is_kept() const { return kept != 0; }
  __device__ __forceinline__ bool takes_whole() const { return is_plain; }
  __device__ __forceinline__ const row_loader_ &source() const { return *this; }
  __device__ __forceinline__ bool can_be_staged() const {
    return is_plain && row_is_aligned_<16 / sizeof(T)>(src);
  }
  template <class Part>
  __device__ __forceinline__ pair_ operator()(size_t i, Part part) const {
    pair_ x;
    if (Part::is_kept || (!Part::is_whole && kept)) return row_kept_pair_(kept, i);
    x = row_load_as_<row_any_nan_<T>>(src, i, count, part);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 2; ++j) {
      const bool is_in = Part::is_whole || i + j < count;
      x.at[j] = cap(x.at[j]);
      if (!Part::is_whole && bias.at && is_in)
        x.at[j] = mpnum_fma_scalar_(x.at[j], scale, bias(i + j));
      if (!is_in || (!Part::is_whole && mask && !mask[i + j]))
        x.at[j] = mpnum_from_bits_f32(0xff800000u);
    }
    return x;
  }
};

/* Vectors of a row that is neither masked nor biased. */
template <class T, class Cap> struct row_vector_loader_ {
  template <unsigned size, unsigned batch> struct vectors {
    mpnum_lanes<T, size> x[batch];
  };
  const T *src;
  unsigned count;
  Cap cap;
  template <unsigned size> __device__ __forceinline__ bool takes_vectors() const {
    return row_is_aligned_<size>(src);
  }
  template <unsigned size, unsigned batch, class Part>
  __device__ __forceinline__ void fetch(vectors<size, batch> &fetched, const unsigned *at,
                                        Part part) const {
    MPNUM_UNROLL_
    for (unsigned b = 0; b < batch; ++b)
      fetched.x[b] = row_fetch_vector_<size>(src, at[b], count, part);
  }
  template <unsigned size, unsigned batch>
  __device__ __forceinline__ mpnum_lanes<float, size>
  floats(const vectors<size, batch> &fetched, unsigned b) const {
    mpnum_lanes<float, size> x;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size; ++j)
      x.at[j] = cap(row_any_nan_<T>::in(fetched.x[b].at[j]));
    return x;
  }
};

/* Keeps vectors of a row. */
struct row_keeper_ {
  float *kept;
  template <unsigned size> __device__ __forceinline__ bool takes_vectors() const {
    return true;
  }
  template <unsigned size, class Part>
  __device__ __forceinline__ void vector(size_t i, const mpnum_lanes<float, size> &x,
                                         Part) const {
    row_keep_vector_(kept, i, x);
  }
};

/* mpnum_exponent_ of a scale that is not 0. */
static __device__ __forceinline__ float row_exponent_(float x, float max, float scale) {
  return mpnum_mul_scalar_(mpnum_sub_scalar_(x, max), scale);
}

struct row_looker_ {
  float largest;
  float *kept;
  unsigned count;
  __device__ __forceinline__ bool takes_whole() const { return true; }
  template <class Part>
  __device__ __forceinline__ void operator()(size_t i, pair_ x, Part) {
    if (kept) row_keep_pair_(kept, i, x);
    largest = mpnum_larger_(largest, mpnum_larger_(x.at[0], x.at[1]));
  }
  template <unsigned size> __device__ __forceinline__ bool takes_vectors() const {
    return true;
  }
  template <unsigned size, class Part>
  __device__ __forceinline__ void vector(size_t i, mpnum_lanes<float, size> x, Part) {
    if (!Part::is_whole && i + 1 == count) x.at[1] = mpnum_from_bits_f32(0xff800000u);
    if (kept) row_keep_vector_(kept, i, x);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size; ++j)
      largest = mpnum_larger_(largest, x.at[j]);
  }
};
/* Sums e^t, and keeps it instead of x; of what is masked, if that is asked, as -0. */
struct row_adder_ {
  pair_ sum;
  float max, scale;
  float *kept;
  int marks;
  __device__ __forceinline__ bool takes_whole() const { return !marks; }
  __device__ __forceinline__ pair_ add(pair_ x) {
    pair_ y;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 2; ++j) {
      y.at[j] = mpnum_exp_of_negative_scalar_(row_exponent_(x.at[j], max, scale));
      sum.at[j] = mpnum_add_scalar_(sum.at[j], y.at[j]);
    }
    return y;
  }
  template <class Part>
  __device__ __forceinline__ void operator()(size_t i, pair_ x, Part) {
    pair_ y = add(x);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 2; ++j)
      if (!Part::is_whole && marks && mpnum_bits_f32(x.at[j]) == 0xff800000u)
        y.at[j] = mpnum_from_bits_f32(0x80000000u);
    if (!Part::is_staged && kept) row_keep_pair_(kept, i, y);
  }
};
struct row_infinities_ {
  uint32_t count;
  __device__ __forceinline__ bool takes_whole() const { return true; }
  template <class Part>
  __device__ __forceinline__ void operator()(size_t, pair_ x, Part) {
    count += mpnum_bits_f32(x.at[0]) == 0x7f800000u;
    count += mpnum_bits_f32(x.at[1]) == 0x7f800000u;
  }
};

/* A row of which all threads know the largest element and the status. */
template <class T, class Cap = row_uncapped_> struct row_ {
  row_place_ place;
  row_loader_<T, Cap> load;
  unsigned count; /* elements that are not past its length */
  float max, scale;
  mpnum_row_status status;
};
template <class T>
static __device__ __forceinline__ unsigned row_length_(const row_source_<T> &from,
                                                       const row_place_ &place) {
  unsigned length = place.columns;
  if (!place.exists) return 0;
  if (from.lengths && from.lengths[place.number] < length)
    length = static_cast<unsigned>(from.lengths[place.number]);
  if (from.is_causal)
    length = static_cast<unsigned>(
        mpnum_causal_length_(from.first_length, from.length_step, place.number, length));
  return length;
}
template <class T>
static __device__ __forceinline__ unsigned row_head_(const row_source_<T> &from,
                                                     size_t number) {
  return static_cast<unsigned>(number) / from.head_rows % from.heads;
}
template <class T, class Cap = row_uncapped_>
static __device__ __forceinline__ row_<T, Cap>
row_of_(const row_source_<T> &from, const row_place_ &place, const Cap &cap = Cap()) {
  const size_t number = place.exists ? place.number : 0;
  row_<T, Cap> row;
  row.place = place;
  row.count = row_length_(from, place);
  row.load.src = from.data + number * from.stride;
  row.load.mask = from.mask ? from.mask + number * from.mask_stride : 0;
  row.load.bias.at = 0;
  row.load.bias.type = from.bias_type;
  row.load.bias.slope = mpnum_from_bits_f32(0x3f800000u);
  if (from.bias)
    row.load.bias.at =
        static_cast<const unsigned char *>(from.bias) +
        number * from.bias_stride * (from.bias_type == MPNUM_TYPE_F32 ? 4 : 2);
  if (from.slopes) row.load.bias.slope = from.slopes[row_head_(from, number)];
  row.load.kept = 0;
  row.load.count = row.count;
  row.load.is_plain = !from.mask && !from.bias && row_is_aligned_(row.load.src);
  row.load.scale = from.scale;
  row.load.cap = cap;
  row.scale = from.bias ? mpnum_from_bits_f32(0x3f800000u) : from.scale;
  return row;
}
/* What the largest element of a row makes of it. */
template <class T, class Cap>
static __device__ __forceinline__ void row_judge_(row_<T, Cap> &row,
                                                  const row_source_<T> &from,
                                                  unsigned count, uint32_t largest) {
  row.max = mpnum_from_ordered_f32_(largest);
  const uint32_t bits = mpnum_bits_f32(row.max);
  row.status = MPNUM_ROW_OK;
  if (bits == 0xff800000u)
    row.status = from.is_masked || count == 0 ? MPNUM_ROW_EMPTY : MPNUM_ROW_NEGATIVE_INF;
  if (bits == 0x7f800000u) row.status = MPNUM_ROW_INF;
  if (bits == 0x7fffffffu) row.status = MPNUM_ROW_NAN;
}
/* Finds max and status, and keeps the row. All threads of a warp. */
template <class T, class Cap>
static __device__ __forceinline__ void row_look_(row_<T, Cap> &row,
                                                 const row_source_<T> &from,
                                                 unsigned count, uint32_t *scratch) {
  row_looker_ looker = {mpnum_from_bits_f32(0xff800000u), row.place.kept, count};
  row_prefetch_(row.place, row.load.src, count);
  if (sizeof(T) < 4 && row.load.is_plain) { /* pairs of floats are 8 bytes */
    const row_vector_loader_<T, Cap> load = {row.load.src, count, row.load.cap};
    row_place_ place = row.place;
    place.columns = count;
    row_each_vector_<row_vector_<T>::size, 4>(place, load, looker);
  } else {
    row_each_<4>(row.place, count, row.load, looker);
  }
  __syncwarp();
  row.load.kept = row.place.kept;
  row_judge_(row, from, count,
             row_max_(row.place, mpnum_ordered_f32_(looker.largest), scratch));
}
/* The sum of e^t, of an ordinary row. */
template <class T, class Cap>
static __device__ __forceinline__ double
row_powers_f64_(const row_<T, Cap> &row, int keeps, int marks, uint32_t *scratch) {
  const unsigned count = row.status == MPNUM_ROW_OK ? row.count : 0;
  row_adder_ adder = {{{0, 0}}, row.max, row.scale, keeps ? row.place.kept : 0, marks};
  return row_sum_(row.place, count, row.load, adder, scratch);
}
template <class T, class Cap>
static __device__ __forceinline__ float row_powers_(const row_<T, Cap> &row, int keeps,
                                                    int marks, uint32_t *scratch) {
  return mpnum_f64_to_f32(row_powers_f64_(row, keeps, marks, scratch));
}

/* What becomes of elements, or of kept e^t. */
enum softmax_step_ { softmax_fill_, softmax_limit_, softmax_usual_ };
template <class Dst, bool is_log> struct softmax_writer_ {
  Dst *dst;
  unsigned count, columns;
  softmax_step_ step;
  int has_powers;
  float max, scale, number, none;
  __device__ __forceinline__ bool takes_whole() const {
    return count == columns && row_is_aligned_(dst) && step == softmax_usual_;
  }
  template <class Part> __device__ __forceinline__ float of(float x, Part) const {
    if (!Part::is_whole && step == softmax_fill_) return number;
    if (!Part::is_whole && step == softmax_limit_) {
      const bool is_infinite = mpnum_bits_f32(x) == 0x7f800000u;
      return mpnum_from_bits_f32(is_infinite ? mpnum_bits_f32(number)
                                             : mpnum_bits_f32(none));
    }
    if (is_log) return mpnum_sub_scalar_(row_exponent_(x, max, scale), number);
    if (Part::is_staged || (!Part::is_kept && !has_powers))
      x = mpnum_exp_of_negative_scalar_(row_exponent_(x, max, scale));
    return mpnum_mul_scalar_(x, number);
  }
  template <class Part>
  __device__ __forceinline__ void operator()(size_t i, pair_ x, Part part) const {
    pair_ y;
    y.at[0] = of(x.at[0], part);
    y.at[1] = of(x.at[1], part);
    if (!Part::is_whole && step != softmax_fill_ && i + 1 >= count) {
      if (i >= count) y.at[0] = none;
      y.at[1] = none;
    }
    row_store_(dst, i, columns, y, part);
  }
  /* Of rows that are kept and end nowhere before. */
  template <unsigned size> __device__ __forceinline__ bool takes_vectors() const {
    return row_is_aligned_<size>(dst);
  }
  template <unsigned size, class Part>
  __device__ __forceinline__ void vector(size_t i, mpnum_lanes<float, size> x,
                                         Part part) const {
    MPNUM_UNROLL_
    for (unsigned j = 0; j < size; ++j)
      x.at[j] = of(x.at[j], row_whole_kept_());
    row_store_vector_(dst, i, columns, x, part);
  }
};
/* All pairs of a row, those past its length too, which are not read. */
template <class T, class Cap = row_uncapped_> struct row_whole_ {
  typedef pair_ result;
  static constexpr unsigned staged_size = sizeof(T);
  row_loader_<T, Cap> load;
  int reads;
  __device__ __forceinline__ const row_loader_<T, Cap> &source() const { return load; }
  __device__ __forceinline__ bool is_kept() const { return reads && load.is_kept(); }
  __device__ __forceinline__ bool takes_whole() const {
    return reads && load.takes_whole();
  }
  template <class Part>
  __device__ __forceinline__ pair_ operator()(size_t i, Part part) const {
    const pair_ nothing = {{0, 0}};
    return Part::is_whole || (reads && i < load.count) ? load(i, part) : nothing;
  }
};

/* Of a row that is +Inf somewhere: how many elements are. */
template <class T, class Cap>
static __device__ __forceinline__ uint32_t row_infinite_(const row_<T, Cap> &row,
                                                         uint32_t *scratch) {
  row_infinities_ infinities = {0};
  row_each_<1>(row.place, row.status == MPNUM_ROW_INF ? row.count : 0, row.load,
               infinities);
  return row_count_(row.place, infinities.count, scratch);
}

template <class Dst, class Src> struct softmax_job_ {
  row_source_<Src> from;
  Dst *dst;
  size_t stride;
  mpnum_row_status *status;
};
/* What e^t are multiplied by, or what is taken off t: 1 / sum, or log sum. */
template <bool is_log>
static __device__ __forceinline__ float softmax_number_(float sum) {
  return is_log ? mpnum_log_scalar_(sum)
                : mpnum_div_scalar_(mpnum_from_bits_f32(0x3f800000u), sum);
}
template <bool is_log, class T, class Cap>
static __device__ __forceinline__ float
softmax_sunk_(const row_source_<T> &from, const row_<T, Cap> &row, double sum) {
  const size_t number = row.place.exists ? row.place.number : 0;
  const mpnum_row_sunk_ sunk =
      mpnum_row_sink_(sum, row.max, row.scale, from.sinks[row_head_(from, number)]);
  return is_log ? mpnum_sunk_log_(&sunk) : mpnum_sunk_share_(&sunk);
}
template <bool is_log, class Dst, class Src, class Cap>
static __device__ __forceinline__ void
softmax_row_(const softmax_job_<Dst, Src> &job, const Cap &cap, const row_place_ &place,
             uint32_t *scratch) {
  const uint32_t none = is_log ? 0xff800000u : 0;
  row_<Src, Cap> row = row_of_(job.from, place, cap);
  softmax_writer_<Dst, is_log> writer;
  row_whole_<Src, Cap> whole;
  double sum = 0;
  row_look_(row, job.from, row.count, scratch);
  sum = row_powers_f64_(row, !is_log, 0, scratch);
  if (job.status && row_is_first_(place)) job.status[place.number] = row.status;
  writer.dst = job.dst + (place.exists ? place.number : 0) * job.stride;
  writer.count = row.count;
  writer.columns = place.columns;
  writer.max = row.max;
  writer.scale = row.scale;
  writer.none = mpnum_from_bits_f32(none);
  writer.has_powers = row.load.kept != 0;
  writer.step = softmax_usual_;
  writer.number = job.from.sinks ? softmax_sunk_<is_log>(job.from, row, sum)
                                 : softmax_number_<is_log>(mpnum_f64_to_f32(sum));
  if (row.status != MPNUM_ROW_OK) {
    writer.step = softmax_fill_;
    writer.number =
        mpnum_from_bits_f32(row.status == MPNUM_ROW_EMPTY ? none : 0x7fffffffu);
  }
  if (job.from.takes_limit) { /* of all rows, as rows may share a warp */
    const float infinite = static_cast<float>(row_infinite_(row, scratch));
    float share = mpnum_div_scalar_(mpnum_from_bits_f32(0x3f800000u), infinite);
    if (is_log) /* the sign by its bit: of one +0, not -0 */
      share = mpnum_from_bits_f32(
          mpnum_bits_f32(mpnum_log_scalar_(infinite)) |
          (mpnum_bits_f32(infinite) == 0x3f800000u ? 0 : 0x80000000u));
    if (row.status == MPNUM_ROW_INF) {
      writer.step = softmax_limit_;
      writer.number = share;
    }
  }
  whole.load = row.load;
  whole.reads = writer.step != softmax_fill_;
  __syncwarp();
  if (sizeof(Dst) < 4 && whole.is_kept() && writer.takes_whole()) {
    const row_kept_loader_ kept = {row.load.kept};
    row_each_vector_<row_vector_<Dst>::size, 1>(place, kept, writer);
  } else {
    row_each_staged_<2>(place, place.columns, whole, writer);
  }
}

/* How many pairs of a thread are floats in registers, of the kernels of rows that are
 * held: so many that no register is spilled. */
template <class T> struct row_registers_ {
  /* log-softmax of 16 bits keeps codes alone */
  template <bool is_log> struct softmax {
    static constexpr unsigned count = sizeof(T) == 4 ? 12 : is_log ? +row_pairs_ : 8;
  };
  static constexpr unsigned logsumexp = row_pairs_;
  static constexpr unsigned loss = sizeof(T) == 2 ? 4 : 0;
};

/* Asks for this warp's tile of a later row, which comes while this one is summed. Where
 * rows are written, too, those of all multiprocessors have no place in the L2 cache. */
template <class T>
static __device__ __forceinline__ void row_held_ahead_(const row_source_<T> &from,
                                                       const row_place_ &place) {
  const size_t number = place.number + from.ahead;
  const unsigned first = place.warp * row_tile_;
  if (from.ahead && place.lane == 0 && number < from.rows && first < from.columns)
    mpnum_prefetch_(
        from.data + number * from.stride + first,
        (from.columns - first < row_tile_ ? from.columns - first : row_tile_) *
            sizeof(T));
}
/* The sums of e^t by lanes, of a thread's pairs, which powers keep, if that is asked. */
template <bool keeps, class T, class Held, class Hand, class Powers>
static __device__ __forceinline__ pair_ row_held_powers_(const row_<T> &row,
                                                         const row_tile_place_ &tile,
                                                         const Held &held,
                                                         const Hand &hand,
                                                         Powers &powers) {
  row_adder_ adder = {{{0, 0}}, row.max, row.scale, 0, 0};
  if (row.status != MPNUM_ROW_OK) return adder.sum;
  MPNUM_UNROLL_
  for (unsigned k = 0; k < row_pairs_; k += row_group_) {
    if (!row_group_begins_(k, tile.left)) break;
    MPNUM_UNROLL_
    for (unsigned j = k; j < k + row_group_; ++j) {
      const pair_ y = adder.add(held.get(hand, j));
      if (keeps) powers.put(j, y);
    }
  }
  return adder.sum;
}
/* Softmax from e^t, log-softmax from x. */
template <bool is_log, class Src, unsigned in_registers> struct softmax_held_of_ {
  const row_held_<Src, in_registers> &held;
  const row_hand_<in_registers> &hand;
  float max, scale, number;
  template <class Part>
  __device__ __forceinline__ row_four_ operator()(unsigned k, Part) const {
    row_four_ y;
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 2 * row_group_; ++j) {
      const pair_ both = is_log ? held.get(hand, k + j / 2) : hand.get(k + j / 2);
      const float x = both.at[j % 2];
      y.at[j / 2].at[j % 2] =
          is_log ? mpnum_sub_scalar_(row_exponent_(x, max, scale), number)
                 : mpnum_mul_scalar_(x, number);
    }
    return y;
  }
};
/* The same of rows that threads hold. */
template <bool is_log, class Dst, class Src>
static __device__ __forceinline__ void
softmax_held_row_(const softmax_job_<Dst, Src> &job, const row_place_ &place,
                  row_shared_ *shared) {
  constexpr unsigned in_registers = row_registers_<Src>::template softmax<is_log>::count;
  const uint32_t none = is_log ? 0xff800000u : 0;
  row_<Src> row = row_of_(job.from, place);
  row_tile_place_ tile = row_tile_place_of_(place, row.count);
  row_hand_<in_registers> hand;
  row_held_<Src, in_registers> held;
  softmax_held_of_<is_log, Src, in_registers> of = {held, hand, 0, row.scale, 0};
  hand.begin();
  const float largest = held.load(hand, row.load.src, tile);
  row_judge_(row, job.from, row.count,
             row_held_max_(place, mpnum_ordered_f32_(largest), shared));
  const row_held_total_ sum = row_held_sum_(
      place, row_held_powers_<!is_log>(row, tile, held, hand, hand), shared, 0);
  if (!place.exists) return;
  if (job.status && row_is_first_(place)) job.status[place.number] = row.status;
  of.max = row.max;
  of.number = job.from.sinks ? softmax_sunk_<is_log>(job.from, row, sum.f64())
                             : softmax_number_<is_log>(sum.f32());
  if (row.status != MPNUM_ROW_OK) tile.left = 0;
  row_held_store_(
      job.dst + place.number * job.stride, tile,
      mpnum_from_bits_f32(row.status == MPNUM_ROW_OK || row.status == MPNUM_ROW_EMPTY
                              ? none
                              : 0x7fffffffu),
      of);
}

template <class Src> struct logsumexp_job_ {
  row_source_<Src> from;
  float *dst;
  mpnum_row_status *status;
};
/* For the first thread of a row. */
template <class Src, class Cap>
static __device__ __forceinline__ void
logsumexp_end_(const logsumexp_job_<Src> &job, const row_<Src, Cap> &row, double sum) {
  float result = row.max, sink = row.max;
  if (job.status) job.status[row.place.number] = row.status;
  if (job.from.sinks) sink = job.from.sinks[row_head_(job.from, row.place.number)];
  if (row.status == MPNUM_ROW_EMPTY && job.from.sinks) {
    result = sink;
  } else if (row.status == MPNUM_ROW_OK && job.from.sinks) {
    const mpnum_row_sunk_ sunk = mpnum_row_sink_(sum, row.max, row.scale, sink);
    result = mpnum_sunk_all_(&sunk, row.max, row.scale, sink);
  } else if (row.status == MPNUM_ROW_OK) {
    result = mpnum_add_scalar_(mpnum_mul_scalar_(row.max, row.scale),
                               mpnum_log_scalar_(mpnum_f64_to_f32(sum)));
  }
  job.dst[row.place.number] = result;
}

template <class Src, class Cap>
static __device__ __forceinline__ void
logsumexp_row_(const logsumexp_job_<Src> &job, const Cap &cap, const row_place_ &place,
               uint32_t *scratch) {
  row_<Src, Cap> row = row_of_(job.from, place, cap);
  row_look_(row, job.from, row.count, scratch);
  const double sum = row_powers_f64_(row, 0, 0, scratch);
  if (row_is_first_(place)) logsumexp_end_(job, row, sum);
}
template <class Src>
static __device__ __forceinline__ void logsumexp_held_row_(const logsumexp_job_<Src> &job,
                                                           const row_place_ &place,
                                                           row_shared_ *shared) {
  constexpr unsigned in_registers = row_registers_<Src>::logsumexp;
  row_<Src> row = row_of_(job.from, place);
  const row_tile_place_ tile = row_tile_place_of_(place, row.count);
  row_hand_<in_registers> hand;
  row_held_<Src, in_registers> held;
  hand.begin();
  const float largest = held.load(hand, row.load.src, tile);
  row_judge_(row, job.from, row.count,
             row_held_max_(place, mpnum_ordered_f32_(largest), shared));
  row_held_ahead_(job.from, place);
  const row_held_total_ sum = row_held_sum_(
      place, row_held_powers_<false>(row, tile, held, hand, hand), shared, 0);
  if (row_is_first_(place)) logsumexp_end_(job, row, sum.f64());
}

} // namespace mpnum

/* Blocks as row_shape_of_ has them. */
template <bool is_log, class Dst, class Src>
static __global__ void __launch_bounds__(512, 2)
    mpnum_softmax_rows_kernel_(mpnum::softmax_job_<Dst, Src> job) {
  mpnum_begin_kernel_();
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  mpnum::softmax_row_<is_log>(job, mpnum::row_uncapped_(),
                              mpnum::row_staged_place_in_(job.from), scratch);
}
/* Blocks of a warp for each tile of a row, or of 8 rows of a tile. */
template <bool is_log, class Dst, class Src>
static __global__ void __launch_bounds__(512, 2)
    mpnum_softmax_held_kernel_(mpnum::softmax_job_<Dst, Src> job) {
  mpnum_begin_kernel_();
  __shared__ mpnum::row_shared_ shared;
  mpnum::softmax_held_row_<is_log>(job, mpnum::row_place_in_(job.from), &shared);
}
template <class Src>
static __global__ void __launch_bounds__(512, 1)
    mpnum_logsumexp_held_kernel_(mpnum::logsumexp_job_<Src> job) {
  mpnum_begin_kernel_();
  __shared__ mpnum::row_shared_ shared;
  mpnum::logsumexp_held_row_(job, mpnum::row_place_in_(job.from), &shared);
}
template <class Src>
static __global__ void __launch_bounds__(512, 2)
    mpnum_logsumexp_rows_kernel_(mpnum::logsumexp_job_<Src> job) {
  mpnum_begin_kernel_();
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  mpnum::logsumexp_row_(job, mpnum::row_uncapped_(),
                        mpnum::row_staged_place_in_(job.from), scratch);
}

#if !MPNUM_HAS_NVRTC_

/* The source of a launch, and whether the options are what softmax.h allows. */
template <class T>
static inline bool mpnum_row_source_of_(mpnum::row_source_<T> &from, const T *src,
                                        size_t stride, size_t rows, size_t columns,
                                        const mpnum_softmax_options *options,
                                        int more_flags) {
  const mpnum_softmax_options usual = mpnum_softmax_default();
  const mpnum_softmax_options &chosen = options ? *options : usual;
  const int known = MPNUM_SOFTMAX_MASKED | MPNUM_SOFTMAX_LIMIT | more_flags;
  static_assert(mpnum::has_rows_<T>::value, "float, f16, bf16, e5m2 or e4m3");
  from.data = src;
  from.rows = rows;
  from.columns = static_cast<unsigned>(columns);
  /* no address is made that nothing is read at */
  from.stride = columns ? stride : 0;
  from.mask = columns ? chosen.mask : 0;
  from.lengths = chosen.lengths;
  from.bias = columns ? chosen.bias : 0;
  from.bias_type = chosen.bias_type;
  from.slopes = chosen.slopes;
  from.sinks = chosen.sinks;
  from.heads = chosen.slopes || chosen.sinks ? static_cast<unsigned>(chosen.heads) : 0;
  from.head_rows = static_cast<unsigned>(chosen.head_rows);
  from.mask_stride = chosen.mask_stride;
  from.bias_stride = chosen.bias_stride;
  from.first_length = chosen.first_length;
  from.length_step = chosen.length_step;
  from.scale = chosen.scale;
  from.is_causal = chosen.first_length != 0 || chosen.length_step != 0;
  from.is_masked = chosen.mask || chosen.lengths || chosen.bias || chosen.sinks ||
                   from.is_causal || (chosen.flags & MPNUM_SOFTMAX_MASKED) != 0;
  from.takes_limit = (chosen.flags & MPNUM_SOFTMAX_LIMIT) != 0;
  from.adds = (chosen.flags & MPNUM_SOFTMAX_ACCUMULATE) != 0;
  from.kept = 0;
  from.has_stages = 0;
  from.ahead = 0;
  return mpnum_is_scale_(chosen.scale) && (chosen.flags & ~known) == 0 && !chosen.cap &&
         (!chosen.bias || mpnum_has_floats_(chosen.bias_type)) &&
         ((!chosen.slopes && !chosen.sinks) ||
          (chosen.heads && chosen.head_rows && rows <= 0xffffffffu &&
           chosen.heads <= 0xffffffffu && chosen.head_rows <= 0xffffffffu)) &&
         columns <= mpnum::row_columns_ && (src || rows == 0 || columns == 0);
}
/* Whether two matrices, of as many rows, have no byte in common. Rows of one may lie
 * between those of the other where both are as far apart. */
template <class A, class B>
static inline bool mpnum_rows_are_apart_(const A *a, size_t a_stride, const B *b,
                                         size_t b_stride, size_t rows, size_t a_columns,
                                         size_t b_columns) {
  const size_t x = reinterpret_cast<size_t>(a), y = reinterpret_cast<size_t>(b);
  const size_t pitch = a_stride * sizeof(A);
  if (!a || !b || rows == 0 || a_columns == 0 || b_columns == 0) return true;
  if (pitch != 0 && pitch == b_stride * sizeof(B)) {
    const size_t between = x >= y ? (x - y) % pitch : pitch - 1 - (y - x - 1) % pitch;
    if (between >= b_columns * sizeof(B) && pitch - between >= a_columns * sizeof(A))
      return true;
  }
  const size_t a_bytes = mpnum_extent_(rows, a_columns, a_stride, 8 * sizeof(A));
  const size_t b_bytes = mpnum_extent_(rows, b_columns, b_stride, 8 * sizeof(B));
  return a_bytes && b_bytes && !mpnum_overlap_(a, a_bytes, b, b_bytes);
}
/* The same of rows of as many elements. */
template <class A, class B>
static inline bool mpnum_rows_are_apart_(const A *a, size_t a_stride, const B *b,
                                         size_t b_stride, size_t rows, size_t columns) {
  return mpnum_rows_are_apart_(a, a_stride, b, b_stride, rows, columns, columns);
}
/* Whether a float of each row is none of the rows' bytes. */
template <class T>
static inline bool mpnum_floats_are_apart_(const float *floats, const T *src,
                                           size_t stride, size_t rows, size_t columns) {
  return rows == 0 || columns == 0 ||
         !mpnum_overlap_(floats, rows * sizeof(float), src,
                         mpnum_extent_(rows, columns, stride, 8 * sizeof(T)));
}
/* Whether rows may go from src to dst. */
template <class Dst, class Src>
static inline bool mpnum_rows_fit_(const Dst *dst, size_t dst_stride, const Src *src,
                                   size_t src_stride, size_t rows, size_t columns) {
  const bool is_in_place =
      dst && rows && columns &&
      static_cast<const void *>(dst) == static_cast<const void *>(src);
  const bool has_one_type =
      mpnum::type_of<Dst>::value == static_cast<int>(mpnum::type_of<Src>::value);
  static_assert(mpnum::has_rows_<Dst>::value, "float, f16, bf16, e5m2 or e4m3");
  if (dst_stride < columns || (!dst && rows && columns)) return false;
  return is_in_place
             ? has_one_type && dst_stride == src_stride
             : mpnum_rows_are_apart_(dst, dst_stride, src, src_stride, rows, columns);
}

/* The jobs of launches, and whether all is what softmax.h allows. */
template <class Dst, class Src>
static inline bool mpnum_softmax_job_of_(mpnum::softmax_job_<Dst, Src> &job, Dst *dst,
                                         size_t dst_stride, const Src *src,
                                         size_t src_stride, size_t rows, size_t columns,
                                         const mpnum_softmax_options *options,
                                         mpnum_row_status *row_status) {
  job.dst = dst;
  job.stride = columns ? dst_stride : 0;
  job.status = row_status;
  return mpnum_row_source_of_(job.from, src, src_stride, rows, columns, options, 0) &&
         mpnum_rows_fit_(dst, dst_stride, src, src_stride, rows, columns);
}
template <class Src>
static inline bool mpnum_logsumexp_job_of_(mpnum::logsumexp_job_<Src> &job, float *dst,
                                           const Src *src, size_t src_stride, size_t rows,
                                           size_t columns,
                                           const mpnum_softmax_options *options,
                                           mpnum_row_status *row_status) {
  job.dst = dst;
  job.status = row_status;
  return mpnum_row_source_of_(job.from, src, src_stride, rows, columns, options, 0) &&
         (dst || !rows || !columns) &&
         mpnum_floats_are_apart_(dst, src, src_stride, rows, columns);
}

namespace mpnum {
/* Kernels of rows that are held, of types that can be. */
template <bool exist> struct held_kernels_ {
  template <bool is_log, class Dst, class Src>
  static void (*softmax())(softmax_job_<Dst, Src>) {
    return mpnum_softmax_held_kernel_<is_log, Dst, Src>;
  }
  template <class Src> static void (*logsumexp())(logsumexp_job_<Src>) {
    return mpnum_logsumexp_held_kernel_<Src>;
  }
};
template <> struct held_kernels_<false> {
  template <bool is_log, class Dst, class Src>
  static void (*softmax())(softmax_job_<Dst, Src>) {
    return 0;
  }
  template <class Src> static void (*logsumexp())(logsumexp_job_<Src>) { return 0; }
};
} // namespace mpnum

/* Whether threads may hold rows: pairs are aligned, and neither masked nor biased. */
template <class T, class Dst>
static inline bool mpnum_rows_may_be_held_(const mpnum::row_source_<T> &from,
                                           const Dst *dst, size_t dst_stride) {
  return from.columns >= (sizeof(T) == 2 ? 1024u : mpnum::row_tile_ + 1) && !from.mask &&
         !from.bias && !from.takes_limit &&
         mpnum_pairs_are_aligned_(from.data, from.stride) &&
         mpnum_pairs_are_aligned_(dst, dst_stride);
}

template <bool is_log, class Dst, class Src>
static inline cudaError_t
mpnum_launch_softmax_(Dst *dst, size_t dst_stride, const Src *src, size_t src_stride,
                      size_t rows, size_t columns, const mpnum_softmax_options *options,
                      mpnum_row_status *row_status, cudaStream_t stream) {
  mpnum::softmax_job_<Dst, Src> job;
  if (!mpnum_softmax_job_of_(job, dst, dst_stride, src, src_stride, rows, columns,
                             options, row_status))
    return cudaErrorInvalidValue;
  if (rows == 0) return cudaSuccess;
  return mpnum_launch_held_or_(
      mpnum::held_kernels_<mpnum::is_held_<Src>::value>::template softmax<is_log, Dst,
                                                                          Src>(),
      mpnum::row_registers_<Src>::template softmax<is_log>::count, 0,
      mpnum_rows_may_be_held_(job.from, dst, dst_stride),
      mpnum_softmax_rows_kernel_<is_log, Dst, Src>, job, job.from, 1, stream);
}
template <class Src>
static inline cudaError_t
mpnum_launch_logsumexp_(float *dst, const Src *src, size_t src_stride, size_t rows,
                        size_t columns, const mpnum_softmax_options *options,
                        mpnum_row_status *row_status, cudaStream_t stream) {
  mpnum::logsumexp_job_<Src> job;
  if (!mpnum_logsumexp_job_of_(job, dst, src, src_stride, rows, columns, options,
                               row_status))
    return cudaErrorInvalidValue;
  if (rows == 0 || !dst) return cudaSuccess;
  return mpnum_launch_held_or_(
      mpnum::held_kernels_<mpnum::is_held_<Src>::value>::template logsumexp<Src>(),
      mpnum::row_registers_<Src>::logsumexp, 640,
      mpnum_rows_may_be_held_(job.from, src, 0), mpnum_logsumexp_rows_kernel_<Src>, job,
      job.from, 1, stream);
}
/* mpnum_softmax_rows and mpnum_log_softmax_rows; row_status may be NULL. */
template <class Dst, class Src>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_softmax_rows(mpnum::matrix<Dst> dst, mpnum::matrix<Src> src,
                          const mpnum_softmax_options *options,
                          mpnum_row_status *row_status, cudaStream_t stream) {
  if (!mpnum_have_one_shape_(dst, src)) return cudaErrorInvalidValue;
  return mpnum_launch_softmax_<false>(dst.data, dst.stride, src.data, src.stride,
                                      src.rows, src.columns, options, row_status, stream);
}
template <class Dst, class Src>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_log_softmax_rows(mpnum::matrix<Dst> dst, mpnum::matrix<Src> src,
                              const mpnum_softmax_options *options,
                              mpnum_row_status *row_status, cudaStream_t stream) {
  if (!mpnum_have_one_shape_(dst, src)) return cudaErrorInvalidValue;
  return mpnum_launch_softmax_<true>(dst.data, dst.stride, src.data, src.stride, src.rows,
                                     src.columns, options, row_status, stream);
}
/* mpnum_logsumexp_rows: a float a row. */
template <class Src>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_logsumexp_rows(float *dst, mpnum::matrix<Src> src,
                            const mpnum_softmax_options *options,
                            mpnum_row_status *row_status, cudaStream_t stream) {
  return mpnum_launch_logsumexp_(dst, src.data, src.stride, src.rows, src.columns,
                                 options, row_status, stream);
}

#endif

MPNUM_C_END_
#endif
