/* SPDX-License-Identifier: MIT */
#include "limit.h"

#include <string.h>

#if defined(__x86_64__)
# include <immintrin.h>
#endif

static void copy_bytes(void *dst, const void *src, size_t count) {
  memcpy(dst, src, 4 * count);
}

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
