/* SPDX-License-Identifier: MIT */
/* What the kernels of cuda/ share: elements of arrays, packed ones too, and the launch.
 */
#ifndef MPNUM_CUDA_DETAIL_LAUNCH_CUH
#define MPNUM_CUDA_DETAIL_LAUNCH_CUH

#include "../device.cuh"
#include "../../mpnum.hpp"
MPNUM_C_BEGIN_

enum {
  MPNUM_LAUNCH_THREADS_ = 256,
  MPNUM_LAUNCH_WARPS_ = MPNUM_LAUNCH_THREADS_ / 32,
  MPNUM_LAUNCH_VECTORS_ = 4, /* of each thread, in flight together */
  /* Of a multiprocessor: what any GPU holds at a time if a thread has 64 registers, so
   * that a grid is one wave, and what is enough to keep its memory busy. */
  MPNUM_LAUNCH_BLOCKS_ = 4,
  /* The same where each tile is to have its block: what writes more than it reads is
   * faster so than by blocks that go through the array together. */
  MPNUM_LAUNCH_TILES_ = 65536
};

/* What every kernel begins with. Where MPNUM_PROGRAMMATIC_LAUNCH is 1, the next kernel of
 * the stream may be put onto the device from here on, and what earlier ones wrote is
 * waited for. */
static __device__ __forceinline__ void mpnum_begin_kernel_() {
#if MPNUM_PROGRAMMATIC_LAUNCH && MPNUM_DEVICE_ARCH_ >= 900
  asm volatile("griddepcontrol.launch_dependents;\n griddepcontrol.wait;" ::: "memory");
#endif
}

namespace mpnum {

/* A float as an element of T, which may be a float. */
MPNUM_INLINE float element_of_(float x, float *) { return x; }
template <class T> MPNUM_INLINE T element_of_(float x, T *) { return from_float<T>(x); }

/* The scalar conversion from Src to Dst by name: exact where Dst is float or double and
 * wider, through float, exactly, between two small types. */
template <class Dst, class Src> struct cast_ {
  MPNUM_INLINE Dst plain(Src x) { return from_float<Dst>(to_float(x)); }
  MPNUM_INLINE Dst sat(Src x) { return from_float_sat<Dst>(to_float(x)); }
  MPNUM_INLINE Dst rounded(Src x, mpnum_rounding rounding, mpnum_overflow overflow,
                           uint32_t random) {
    return (round<Dst>)(to_float(x), rounding, overflow, random);
  }
};
template <class Dst> struct cast_<Dst, float> {
  MPNUM_INLINE Dst plain(float x) { return from_float<Dst>(x); }
  MPNUM_INLINE Dst sat(float x) { return from_float_sat<Dst>(x); }
  MPNUM_INLINE Dst rounded(float x, mpnum_rounding rounding, mpnum_overflow overflow,
                           uint32_t random) {
    return (round<Dst>)(x, rounding, overflow, random);
  }
};
template <class Dst> struct cast_<Dst, double> {
  MPNUM_INLINE Dst plain(double x) { return from_double<Dst>(x); }
  MPNUM_INLINE Dst sat(double x) { return from_double_sat<Dst>(x); }
  MPNUM_INLINE Dst rounded(double x, mpnum_rounding rounding, mpnum_overflow overflow,
                           uint32_t random) {
    return (round<Dst>)(x, rounding, overflow, random);
  }
};
template <class Src> struct cast_<float, Src> {
  MPNUM_INLINE float plain(Src x) { return to_float(x); }
};
template <class Src> struct cast_<double, Src> {
  MPNUM_INLINE double plain(Src x) { return to_double(x); }
};
template <> struct cast_<double, float> {
  MPNUM_INLINE double plain(float x) { return mpnum_f32_to_f64(x); }
};
template <> struct cast_<float, double> {
  MPNUM_INLINE float plain(double x) { return mpnum_f64_to_f32(x); }
  MPNUM_INLINE float sat(double x) { return mpnum_f64_to_f32_sat(x); }
  MPNUM_INLINE float rounded(double x, mpnum_rounding rounding, mpnum_overflow overflow,
                             uint32_t random) {
    return mpnum_f64_to_f32_round(x, rounding, overflow, random);
  }
};

/* Of words of f32, or two f16 or bf16: the larger magnitude of `most`, which has no
 * signs, and a word, in each part. NaN is never dropped. */
template <class T, unsigned size = sizeof(T)> struct larger_magnitudes_ {
  MPNUM_REAL_ uint32_t larger(uint32_t most, uint32_t word) {
#if MPNUM_HAS_HW_BF16_
    asm("{\n .reg .f32 x;\n abs.f32 x, %1;\n max.NaN.f32 %0, %2, x;\n}"
        : "=r"(most)
        : "r"(word), "r"(most));
    return most;
#else
    const uint32_t x = word & 0x7fffffffu;
    return x > most ? x : most;
#endif
  }
};
template <class T> struct larger_magnitudes_<T, 2> {
  MPNUM_REAL_ uint32_t larger(uint32_t most, uint32_t word) {
#if MPNUM_HAS_HW_BF16_
    if (type_of<T>::value == MPNUM_TYPE_BF16)
      asm("{\n .reg .b32 x;\n abs.bf16x2 x, %1;\n max.NaN.bf16x2 %0, %2, x;\n}"
          : "=r"(most)
          : "r"(word), "r"(most));
    else
      asm("{\n .reg .b32 x;\n abs.f16x2 x, %1;\n max.NaN.f16x2 %0, %2, x;\n}"
          : "=r"(most)
          : "r"(word), "r"(most));
    return most;
#else
    const uint32_t x = word & 0x7fff7fffu, low = x & 0xffffu, low_most = most & 0xffffu;
    return ((x | 0xffffu) > most ? x & ~0xffffu : most & ~0xffffu) |
           (low > low_most ? low : low_most);
#endif
  }
};

/* Elements of an array: one each, or several packed in one. */
template <class T> struct packed_ {
  typedef T element;
  enum { count = 1 };
  MPNUM_INLINE T pack(const T *codes) { return codes[0]; }
  MPNUM_INLINE T unpack(T packed, unsigned) { return packed; }
};
#define MPNUM_PACKED_(name, number, ...)                                        \
 template <> struct packed_<mpnum_##name##x##number> {                          \
  typedef mpnum_##name element;                                                 \
  enum { count = number };                                                      \
  MPNUM_INLINE mpnum_##name##x##number pack(const element *codes) {             \
   return mpnum_pack_##name##_x##number(__VA_ARGS__);                           \
  }                                                                             \
  MPNUM_INLINE element unpack(mpnum_##name##x##number packed, unsigned index) { \
   return mpnum_unpack_##name##_x##number(packed, static_cast<int>(index));     \
  }                                                                             \
 };
MPNUM_PACKED_(e2m1, 2, codes[0], codes[1])
MPNUM_PACKED_(e3m2, 4, codes[0], codes[1], codes[2], codes[3])
MPNUM_PACKED_(e2m3, 4, codes[0], codes[1], codes[2], codes[3])
#undef MPNUM_PACKED_

} // namespace mpnum

/* Blocks of a launch that meet in device memory count themselves in a word there, which
 * is 0 at rest: those that are done and, times 2^32, a sum to which each adds the number
 * of its launch when it begins and again when it is done. Where something else was in the
 * word, or another launch adds to it, the sum is another one when as many blocks are done
 * as the launch has, or more are. The word then stays as it is, so that launches after
 * that see it, too, until someone sets it to 0. Launches of the same arguments have the
 * same number. */
enum mpnum_meeting_state_ {
  MPNUM_MEETING_EARLIER_, /* others are still to come */
  MPNUM_MEETING_LAST_,    /* all are done, and what they left is sound */
  MPNUM_MEETING_UNSOUND_
};
struct mpnum_meeting_ {
  unsigned long long *word;
  uint32_t number;
  __device__ __forceinline__ mpnum_meeting_(uint64_t *word_, const void *to,
                                            const void *from, uint64_t n)
      : word(reinterpret_cast<unsigned long long *>(word_)) {
    const uint64_t odd = static_cast<uint64_t>(0x9e3779b9u) << 32 | 0x7f4a7c15u;
    uint64_t mixed = reinterpret_cast<size_t>(to) * odd + reinterpret_cast<size_t>(from);
    mixed = (mixed ^ mixed >> 29) * odd + n;
    number = static_cast<uint32_t>((mixed ^ mixed >> 32) * odd >> 32) | 1u;
  }
  /* Before and after a block adds to what is there, by the same thread of it; a fence
   * comes before the second one, and one after it if it returns LAST. */
  __device__ __forceinline__ void begin() const {
    atomicAdd(word, static_cast<unsigned long long>(number) << 32);
  }
  __device__ __forceinline__ mpnum_meeting_state_ end() const {
    const unsigned long long before =
        atomicAdd(word, static_cast<unsigned long long>(number) << 32 | 1u);
    const uint32_t blocks = static_cast<uint32_t>(before);
    const uint32_t sum = static_cast<uint32_t>(before >> 32) + number;
    if (blocks < gridDim.x - 1) return MPNUM_MEETING_EARLIER_;
    return blocks == gridDim.x - 1 && sum == 2 * gridDim.x * number
               ? MPNUM_MEETING_LAST_
               : MPNUM_MEETING_UNSOUND_;
  }
  __device__ __forceinline__ void rest() const { atomicExch(word, 0ull); }
};

/* The tensor of a list that a tile is of, from one on that begins before it or with it:
 * by steps that double, then by halving. */
template <class List>
static __device__ __forceinline__ uint64_t mpnum_list_tensor_at_(const List &list,
                                                                 uint64_t tile,
                                                                 uint64_t from) {
  uint64_t low = from, step = 1;
  while (low + step < list.count && list.tiles_before[low + step] <= tile) {
    low += step;
    step *= 2;
  }
  uint64_t high = low + step < list.count ? low + step : list.count;
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    if (list.tiles_before[middle] <= tile)
      low = middle;
    else
      high = middle;
  }
  return low;
}

#if !MPNUM_HAS_NVRTC_

/* How many blocks share tiles, one at least, and at most so many a multiprocessor: by
 * default what all of them hold at once. 0 multiprocessors: the runtime says how many the
 * current device has, which is no wait and may be captured. */
static inline cudaError_t
mpnum_launch_blocks_(size_t *blocks, size_t tiles, int multiprocessors,
                     size_t blocks_of_each = MPNUM_LAUNCH_BLOCKS_) {
  if (multiprocessors <= 0) {
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
      error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount,
                                     device);
    if (error != cudaSuccess) return error;
  }
  *blocks = static_cast<size_t>(multiprocessors) * blocks_of_each;
  if (tiles < *blocks) *blocks = tiles > 0 ? tiles : 1;
  return cudaSuccess;
}

/* Every launch is by this one. */
# if MPNUM_PROGRAMMATIC_LAUNCH
#  if !defined(__CUDA_ARCH_LIST__)
#   error "MPNUM_PROGRAMMATIC_LAUNCH needs nvcc, which says the targets"
#  else
#   define MPNUM_FIRST_OF_(first, ...) first
#   define MPNUM_FIRST_(...)           MPNUM_FIRST_OF_(__VA_ARGS__, 0)
#   if MPNUM_FIRST_(__CUDA_ARCH_LIST__) < 900
#    error "MPNUM_PROGRAMMATIC_LAUNCH needs compute capability 9.0 of every target"
#   endif
#   undef MPNUM_FIRST_
#   undef MPNUM_FIRST_OF_
#  endif
# endif
template <class... Parameters>
static inline cudaError_t mpnum_launch_kernel_(void (*kernel)(Parameters...), dim3 grid,
                                               dim3 block, void **arguments,
                                               size_t shared_bytes, cudaStream_t stream) {
# if MPNUM_PROGRAMMATIC_LAUNCH
  cudaLaunchAttribute attribute = cudaLaunchAttribute();
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = cudaLaunchConfig_t();
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelExC(&config, reinterpret_cast<const void *>(kernel), arguments);
# else
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
# endif
}

/* A grid of so many blocks, one at least, or some more: those of its first row come
 * first. */
static inline dim3 mpnum_grid_of_(size_t blocks) {
  const size_t limit = 0x7fffffff; /* blocks of a grid, across */
  const size_t across = blocks < limit ? blocks : limit;
  return dim3(static_cast<unsigned>(across),
              static_cast<unsigned>((blocks - 1) / across + 1));
}

template <class T> struct mpnum_same_ { typedef T type; };
template <class... Parameters>
static inline cudaError_t
mpnum_launch_grid_(void (*kernel)(Parameters...), dim3 grid, unsigned threads,
                   cudaStream_t stream,
                   typename mpnum_same_<Parameters>::type... arguments) {
  void *pointers[] = {&arguments...};
  return mpnum_launch_kernel_(kernel, grid, dim3(threads), pointers, 0, stream);
}
template <class... Parameters>
static inline cudaError_t
mpnum_launch_(void (*kernel)(Parameters...), size_t blocks, unsigned threads,
              cudaStream_t stream, typename mpnum_same_<Parameters>::type... arguments) {
  return mpnum_launch_grid_(kernel, dim3(static_cast<unsigned>(blocks)), threads, stream,
                            arguments...);
}

#endif

MPNUM_C_END_
#endif
