/* SPDX-License-Identifier: MIT */
/* Rows that are read again and have no room in shared memory: from sm_80 on a warp copies
 * its next elements there (cp.async) while it computes with those before, two stages by
 * turns. Sums are of the same elements in the same order as without. */
#ifndef MPNUM_ROWS_DETAIL_ROW_STAGED_CUH
#define MPNUM_ROWS_DETAIL_ROW_STAGED_CUH

#include "row_tiles.cuh"
MPNUM_C_BEGIN_

#if MPNUM_HAS_CUDA_
# define MPNUM_HAS_ASYNC_COPIES_ (MPNUM_DEVICE_ARCH_ >= 800)
#else
# define MPNUM_HAS_ASYNC_COPIES_ 1 /* by CUDA's function */
#endif

/* 16 bytes of global memory to shared memory, both aligned to them, offset bytes on; they
 * are there once this thread has waited, and for others behind a barrier after that. */
template <unsigned offset>
static __device__ __forceinline__ void mpnum_copy_async_(char *to, const char *from) {
#if MPNUM_HAS_ASYNC_COPIES_ && MPNUM_ON_DEVICE_
  asm volatile("cp.async.cg.shared.global [%0+%2], [%1+%2], 16;"
               :
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(from)), "n"(offset)
               : "memory");
#elif MPNUM_HAS_ASYNC_COPIES_
  __pipeline_memcpy_async(to + offset, from + offset, 16);
#else
  (void)to, (void)from;
#endif
}
/* For all of this thread's copies. */
static __device__ __forceinline__ void mpnum_copies_wait_() {
#if MPNUM_HAS_ASYNC_COPIES_ && MPNUM_ON_DEVICE_
  asm volatile("cp.async.wait_all;" : : : "memory");
#elif MPNUM_HAS_ASYNC_COPIES_
  __pipeline_commit();
  __pipeline_wait_prior(0);
#endif
}

namespace mpnum {

enum : unsigned {
  row_stage_ = 1024, /* bytes; a warp has two of them */
  row_stages_ = 2 * row_stage_ * row_warps_,
  row_unstaged_ = 65536 / 4 /* floats that a block may have at most on sm_75 */
};
/* row_place_in_, of a kernel whose rows may be staged. */
template <class From>
static __device__ __forceinline__ row_place_ row_staged_place_in_(const From &from) {
  row_place_ place = row_place_in_(from);
  place.has_stages = from.has_stages;
  return place;
}

/* Copies a stage of a row. All threads of a warp. */
static __device__ __forceinline__ void row_copy_(char *stage, const void *src,
                                                 unsigned lane) {
  char *const to = stage + 16 * lane;
  const char *const from = static_cast<const char *>(src) + 16 * lane;
  mpnum_copy_async_<0>(to, from);
  mpnum_copy_async_<row_stage_ / 2>(to, from);
}

/* Gives visits the pairs of a row, tile after tile of this thread's warp, as row_each_
 * does. Of a load that can be staged copies go ahead, past the end of a tile, too; size:
 * bytes of its elements, 0 if it never can. */
template <unsigned batch, class Load, unsigned size = Load::staged_size>
struct row_reader_ {
  static constexpr unsigned piece = row_stage_ / size; /* elements of a stage */
  static_assert(row_tile_ % (2 * piece) == 0, "stages take turns across tiles");
  const row_place_ &place;
  const Load &load;
  unsigned count;
  template <class Visit>
  __device__ __forceinline__ row_reader_(const row_place_ &in, unsigned elements,
                                         const Load &from, const Visit &visit)
      : place(in), load(from), count(elements) {
    if (is_staged(visit)) ask(in.warp * row_tile_);
  }
  template <class Visit>
  __device__ __forceinline__ bool is_staged(const Visit &visit) const {
    return MPNUM_HAS_ASYNC_COPIES_ && place.has_stages && visit.takes_whole() &&
           load.source().can_be_staged();
  }
  __device__ __forceinline__ char *stage(unsigned first) const {
    return reinterpret_cast<char *>(mpnum_row_memory_()) + 2 * row_stage_ * place.warp +
           first / piece % 2 * row_stage_;
  }
  __device__ __forceinline__ void ask(unsigned first) const {
    if (first + piece <= count)
      row_copy_(stage(first), load.source().src + first, place.lane);
  }
  template <class Visit>
  __device__ __forceinline__ void tile(unsigned first, Visit &visit) const {
    const unsigned end = row_tile_end_(first, count);
    for (bool is_on = is_staged(visit); is_on && first + piece <= end; first += piece) {
      auto staged = load.source();
      const unsigned next = first + piece;
      staged.src = reinterpret_cast<decltype(staged.src)>(stage(first));
      mpnum_copies_wait_();
      __syncwarp(); /* the other stage was read by all lanes, too */
      ask(next % row_tile_ ? next : next + (place.warps - 1) * row_tile_);
      MPNUM_UNROLL_BY_(8)
      for (unsigned k = 0; k < piece; k += row_lanes_) {
        const size_t i = static_cast<size_t>(first) + 2 * place.lane + k;
        visit(i, staged(2 * place.lane + k, row_whole_staged_()), row_whole_staged_());
      }
    }
    row_each_to_<batch>(first + 2 * place.lane, end, load, visit);
  }
};
template <unsigned batch, class Load> struct row_reader_<batch, Load, 0> {
  const row_place_ &place;
  const Load &load;
  unsigned count;
  template <class Visit>
  __device__ __forceinline__ row_reader_(const row_place_ &in, unsigned elements,
                                         const Load &from, const Visit &)
      : place(in), load(from), count(elements) {}
  template <class Visit>
  __device__ __forceinline__ void tile(unsigned first, Visit &visit) const {
    row_each_to_<batch>(first + 2 * place.lane, row_tile_end_(first, count), load, visit);
  }
};
/* All of a row, for this thread. */
template <unsigned batch, class Load, class Visit>
static __device__ __forceinline__ void row_each_staged_(const row_place_ &place,
                                                        unsigned count, const Load &load,
                                                        Visit &visit) {
  row_reader_<batch, Load> reader(place, count, load, visit);
  for (unsigned first = place.warp * row_tile_; first < count;
       first += place.warps * row_tile_)
    reader.tile(first, visit);
}

/* The sum over a row, tiles added as doubles from first to last: visit adds pairs to
 * visit.sum. For each thread of the row. */
template <class Load, class Visit>
static __device__ __forceinline__ double row_sum_(const row_place_ &place, unsigned count,
                                                  const Load &load, Visit &visit,
                                                  uint32_t *scratch) {
  row_reader_<2, Load> reader(place, count, load, visit);
  unsigned tile = 0;
  double total = 0;
  uint64_t bits = 0;
  do { /* also of one tile, as loads and visits compile once for each place */
    uint32_t word = 0;
    float folded = 0;
    row_hide_(tile);
    visit.sum.at[0] = visit.sum.at[1] = 0;
    if ((tile + place.warp) * row_tile_ < count)
      reader.tile((tile + place.warp) * row_tile_, visit);
    folded = row_folded_(place, visit.sum);
    if (place.warps == 1) return mpnum_f32_to_f64(folded);
    word = mpnum_share_warp_words_(mpnum_bits_f32(folded), 0, scratch);
    for (unsigned warp = 0; place.warp == 0 && warp < place.warps; ++warp)
      total = mpnum_add_f64_(total, mpnum_f32_to_f64(mpnum_from_bits_f32(__shfl_sync(
                                        0xffffffffu, word, static_cast<int>(warp)))));
    tile += place.warps;
  } while (tile * row_tile_ < count);
  bits = mpnum_bits_f64(total);
  if (threadIdx.x == 0) {
    scratch[0] = static_cast<uint32_t>(bits);
    scratch[1] = static_cast<uint32_t>(bits >> 32);
  }
  __syncthreads();
  bits = static_cast<uint64_t>(scratch[1]) << 32 | scratch[0];
  __syncthreads();
  return mpnum_from_bits_f64(bits);
}

} // namespace mpnum

#if !MPNUM_HAS_NVRTC_

/* mpnum_launch_rows_ of a kernel whose rows may be staged, if they have one plane: what
 * blocks have for it lets as many of them share a multiprocessor as their registers do.
 */
template <class Job, class From>
static inline cudaError_t mpnum_launch_staged_(void (*kernel)(Job), Job &job, From &from,
                                               unsigned planes, cudaStream_t stream) {
  mpnum::row_shape_ shape;
  unsigned most = 0;
  size_t bytes = 0;
  const cudaError_t error = mpnum_row_shape_(
      &shape, reinterpret_cast<const void *>(kernel), from.columns, planes, &most);
  if (error != cudaSuccess) return error;
  from.kept = shape.kept;
  from.has_stages = planes == 1 && !shape.kept && most > mpnum::row_unstaged_;
  bytes = from.has_stages ? +mpnum::row_stages_
                          : static_cast<size_t>(shape.rows) * shape.kept * sizeof(float);
  return mpnum_launch_shape_(kernel, job, from, shape, bytes, stream);
}

#endif

MPNUM_C_END_
#endif
