/* SPDX-License-Identifier: MIT */
#include "limit.h"

#include <string.h>

#if defined(__x86_64__)
# include <immintrin.h>
#endif

static void copy_bytes(void *dst, const void *src, size_t count) {
  memcpy(dst, src, 4 * count);
}

/* ROW(bits of an element that are read, written, and both, loop) */
#define LIMIT_SHAPES(ROW)        \
 ROW(64, 32, 0, half)            \
 ROW(64, 16, 0, quarter)         \
 ROW(32, 32, 0, same)            \
 ROW(32, 16, 0, half)            \
 ROW(32, 12, 0, three_eighths)   \
 ROW(32, 8, 0, quarter)          \
 ROW(32, 6, 0, three_sixteenths) \
 ROW(32, 4, 0, eighth)           \
 ROW(16, 32, 0, twofold)         \
 ROW(16, 16, 0, same)            \
 ROW(16, 12, 0, three_quarters)  \
 ROW(16, 8, 0, half)             \
 ROW(16, 6, 0, three_eighths)    \
 ROW(16, 4, 0, quarter)          \
 ROW(8, 32, 0, fourfold)         \
 ROW(8, 16, 0, twofold)          \
 ROW(6, 32, 0, sixteen_thirds)   \
 ROW(6, 16, 0, eight_thirds)     \
 ROW(4, 32, 0, eightfold)        \
 ROW(4, 16, 0, fourfold)         \
 ROW(32, 32, 32, same)           \
 ROW(32, 0, 0, read)             \
 ROW(16, 16, 16, same)           \
 ROW(16, 0, 0, read)             \
 ROW(8, 0, 0, read)              \
 ROW(128, 96, 96, step_4_3)      \
 ROW(128, 112, 96, step_8_7)     \
 ROW(96, 80, 80, step_6_5)       \
 ROW(96, 64, 64, step_3_2)       \
 ROW(80, 48, 48, step_5_3)       \
 ROW(64, 32, 32, step_2_1)

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

unsigned stored_bits(byte_shape shape) {
  return shape.in_place ? shape.src_bits + shape.dst_bits - shape.in_place
                        : shape.src_bits;
}

size_t copy_loops(byte_shape shape, copy_loop list[COPY_LOOP_LIMIT]) {
  const copy_loop plain = {{32, 32, 0}, false, copy_bytes};
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
