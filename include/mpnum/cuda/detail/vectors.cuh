/* SPDX-License-Identifier: MIT */
/* How threads load the vectors of an array: mpnum_load_tile and all kernels over arrays.
 */
#ifndef MPNUM_CUDA_DETAIL_VECTORS_CUH
#define MPNUM_CUDA_DETAIL_VECTORS_CUH

#include "../../mpnum.h"
MPNUM_C_BEGIN_

/* The hot path of a kernel over arrays: whole tiles, in which consecutive threads take
 * consecutive vectors, MPNUM_LAUNCH_VECTORS_ each before it uses the first. Whether an
 * array is aligned is asked once, what is before the first vector is left to a few
 * threads, and what fills no tile to one block. */
struct alignas(16) mpnum_vector_ {
  uint32_t at[4];
};

/* Bytes of an access: 32 from sm_100 on, where nvcc makes one of them of a struct that is
 * so aligned, from CUDA 13 on. */
#if MPNUM_DEVICE_ARCH_ >= 1000 && defined(__CUDACC_VER_MAJOR__)
# if __CUDACC_VER_MAJOR__ >= 13
#  define MPNUM_ACCESS_BYTES_ 32
# endif
#endif
#ifndef MPNUM_ACCESS_BYTES_
# define MPNUM_ACCESS_BYTES_ 16
#endif
struct alignas(MPNUM_ACCESS_BYTES_) mpnum_access_ {
  mpnum_vector_ at[MPNUM_ACCESS_BYTES_ / 16];
};

MPNUM_INLINE int mpnum_is_aligned_(const void *address) {
  return reinterpret_cast<size_t>(address) % sizeof(mpnum_access_) == 0;
}
/* Bytes before the first place of an array from which accesses may be. */
MPNUM_INLINE unsigned mpnum_bytes_before_vectors_(const void *address) {
  return static_cast<unsigned>(0 - reinterpret_cast<size_t>(address)) %
         sizeof(mpnum_access_);
}
namespace mpnum {

/* The same bytes as another type. */
template <class To, class From> MPNUM_INLINE To copied_(const From &from) {
  static_assert(sizeof(To) == sizeof(From), "the same bytes");
  To copy;
  MPNUM_MEMCPY_(&copy, &from, sizeof copy);
  return copy;
}

} // namespace mpnum

/* Neighbours of an array, some words, as a struct of them; by aligned words if is_aligned
 * is not, which reads up to 3 bytes before them and 4 behind. */
template <bool is_aligned, class Item, class T>
static __device__ __forceinline__ Item mpnum_load_item_(const T *src) {
  if (is_aligned) return *reinterpret_cast<const Item *>(src);
  enum { words = sizeof(Item) / 4, is_whole = sizeof(T) % 4 == 0 };
  const unsigned bytes = is_whole ? 0 : reinterpret_cast<size_t>(src) % 4;
  const uint32_t *word = reinterpret_cast<const uint32_t *>(
      reinterpret_cast<const unsigned char *>(src) - bytes);
  uint32_t given[words + 1], moved[words];
  MPNUM_UNROLL_
  for (unsigned i = 0; i < words + !is_whole; ++i)
    given[i] = word[i];
  MPNUM_UNROLL_
  for (unsigned i = 0; i < words; ++i)
    moved[i] =
        is_whole
            ? given[i]
            : static_cast<uint32_t>(
                  (static_cast<uint64_t>(given[i + 1]) << 32 | given[i]) >> 8 * bytes);
  return mpnum::copied_<Item>(moved);
}

/* Some of them, `step` elements apart: all asked for before the first is used. */
template <bool is_aligned, class Item, unsigned count, class T>
static __device__ __forceinline__ void mpnum_load_items_(Item (&items)[count],
                                                         const T *src, unsigned step) {
  MPNUM_UNROLL_
  for (unsigned i = 0; i < count; ++i)
    items[i] = mpnum_load_item_<is_aligned, Item>(src + i * step);
}

/* Vector i of those that a thread takes, from the first one on: those of one access, then
 * those `stride` accesses further. threads: by how many vectors they are apart. */
enum { MPNUM_THREAD_VECTORS_ = sizeof(mpnum_access_) / sizeof(mpnum_vector_) };
MPNUM_INLINE unsigned mpnum_vector_place_(unsigned i, unsigned stride) {
  const unsigned in_access = MPNUM_THREAD_VECTORS_;
  return i / in_access * in_access * stride + i % in_access;
}
MPNUM_C_END_
#endif
