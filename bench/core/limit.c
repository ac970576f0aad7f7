/* SPDX-License-Identifier: MIT */
#include "limit.h"

#include <string.h>

#if defined(__x86_64__)
# include <immintrin.h>
#endif

static void copy_bytes(void *dst, const void *src, size_t count) {
  memcpy(dst, src, 4 * count);
}

/* ROW(bits of an element that is read and written, whether in place, loop) */
#define LIMIT_SHAPES(ROW)            \
 ROW(64, 32, false, half)            \
 ROW(64, 16, false, quarter)         \
 ROW(32, 32, false, same)            \
 ROW(32, 16, false, half)            \
 ROW(32, 12, false, three_eighths)   \
 ROW(32, 8, false, quarter)          \
 ROW(32, 6, false, three_sixteenths) \
 ROW(32, 4, false, eighth)           \
 ROW(16, 32, false, twofold)         \
 ROW(16, 16, false, same)            \
 ROW(16, 12, false, three_quarters)  \
 ROW(16, 8, false, half)             \
 ROW(16, 6, false, three_eighths)    \
 ROW(16, 4, false, quarter)          \
 ROW(8, 32, false, fourfold)         \
 ROW(8, 16, false, twofold)          \
 ROW(6, 32, false, sixteen_thirds)   \
 ROW(6, 16, false, eight_thirds)     \
 ROW(4, 32, false, eightfold)        \
 ROW(4, 16, false, fourfold)         \
 ROW(32, 32, true, same)             \
 ROW(32, 0, false, read)             \
 ROW(16, 16, true, same)             \
 ROW(16, 0, false, read)             \
 ROW(8, 0, false, read)

#define LIMIT_NAME(loop) baseline_##loop
#define LIMIT_TARGET
#define LIMIT_SIZE                 16
#define LIMIT_STREAMS              false
#define LIMIT_STORE(place, vector) (*(place) = (vector))
#include "limit.inc"

#if defined(__x86_64__)
/* Past the last-level cache a store that bypasses it saves reading the line first. */
# define LIMIT_NAME(loop) baseline_stream_##loop
# define LIMIT_TARGET
# define LIMIT_SIZE    16
# define LIMIT_STREAMS true
# define LIMIT_STORE(place, vector) \
  _mm_stream_si128((__m128i *)(place), (__m128i)(vector))
# include "limit.inc"

# define LIMIT_NAME(loop)           avx2_##loop
# define LIMIT_TARGET               __attribute__((target("avx2")))
# define LIMIT_SIZE                 32
# define LIMIT_STREAMS              false
# define LIMIT_STORE(place, vector) (*(place) = (vector))
# include "limit.inc"

# define LIMIT_NAME(loop) avx2_stream_##loop
# define LIMIT_TARGET     __attribute__((target("avx2")))
# define LIMIT_SIZE       32
# define LIMIT_STREAMS    true
# define LIMIT_STORE(place, vector) \
  _mm256_stream_si256((__m256i *)(place), (__m256i)(vector))
# include "limit.inc"

# define LIMIT_NAME(loop)           avx512_##loop
# define LIMIT_TARGET               __attribute__((target("avx512f")))
# define LIMIT_SIZE                 64
# define LIMIT_STREAMS              false
# define LIMIT_STORE(place, vector) (*(place) = (vector))
# include "limit.inc"

# define LIMIT_NAME(loop) avx512_stream_##loop
# define LIMIT_TARGET     __attribute__((target("avx512f")))
# define LIMIT_SIZE       64
# define LIMIT_STREAMS    true
# define LIMIT_STORE(place, vector) \
  _mm512_stream_si512((__m512i *)(place), (__m512i)(vector))
# include "limit.inc"
#endif

bool same_shape(byte_shape a, byte_shape b) {
  return a.src_bits == b.src_bits && a.dst_bits == b.dst_bits && a.in_place == b.in_place;
}

size_t copy_loops(byte_shape shape, copy_loop list[COPY_LOOP_LIMIT]) {
  const copy_loop plain = {{32, 32, false}, false, copy_bytes};
  size_t count = baseline_find(shape, list);
  if (same_shape(shape, plain.shape)) list[count++] = plain;
#if defined(__x86_64__)
  count += baseline_stream_find(shape, list + count);
  if (__builtin_cpu_supports("avx2")) {
    count += avx2_find(shape, list + count);
    count += avx2_stream_find(shape, list + count);
  }
  if (__builtin_cpu_supports("avx512f")) {
    count += avx512_find(shape, list + count);
    count += avx512_stream_find(shape, list + count);
  }
#endif
  return count;
}

double shape_rate(byte_shape shape, double ns) {
  return (shape.src_bits + shape.dst_bits) / 8.0 / ns;
}

double copy_limit(const copy_loop *list, const contender *measured, size_t count,
                  byte_shape shape) {
  double best = 0;
  for (size_t i = 0; i < count; ++i) {
    double rate = shape_rate(shape, measured[i].ns);
    if (same_shape(list[i].shape, shape) && rate > best) best = rate;
  }
  return best;
}
