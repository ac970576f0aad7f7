/* SPDX-License-Identifier: MIT */
#include "limit.h"

#include <string.h>

#if defined(__x86_64__)
# include <emmintrin.h>
#endif

static void copy_bytes(void *dst, const void *src, size_t count) {
  memcpy(dst, src, 4 * count);
}

#define LIMIT_NAME(shape) baseline_##shape
#define LIMIT_TARGET
#define LIMIT_SIZE                 16
#define LIMIT_STORE(place, vector) (*(place) = (vector))
#include "limit.inc"

#if defined(__x86_64__)
/* Past the last-level cache a store that bypasses it saves reading the line first. */
# define LIMIT_NAME(shape) stream_##shape
# define LIMIT_TARGET
# define LIMIT_SIZE 16
# define LIMIT_STORE(place, vector) \
  _mm_stream_si128((__m128i *)(place), (__m128i)(vector))
# include "limit.inc"

# define LIMIT_NAME(shape)          avx2_##shape
# define LIMIT_TARGET               __attribute__((target("avx2")))
# define LIMIT_SIZE                 32
# define LIMIT_STORE(place, vector) (*(place) = (vector))
# include "limit.inc"

# define LIMIT_NAME(shape)          avx512_##shape
# define LIMIT_TARGET               __attribute__((target("avx512f")))
# define LIMIT_SIZE                 64
# define LIMIT_STORE(place, vector) (*(place) = (vector))
# include "limit.inc"
#endif

size_t copy_loops(copy_loop list[COPY_LOOP_LIMIT]) {
  const copy_loop plain = {4, 4, copy_bytes};
  size_t count = baseline_list(list);
  list[count++] = plain;
#if defined(__x86_64__)
  count += stream_list(list + count);
  if (__builtin_cpu_supports("avx2")) count += avx2_list(list + count);
  if (__builtin_cpu_supports("avx512f")) count += avx512_list(list + count);
#endif
  return count;
}

double copy_limit(const copy_loop *list, const contender *measured, size_t count,
                  unsigned src_size, unsigned dst_size) {
  double best = 0;
  size_t i;
  for (i = 0; i < count; ++i) {
    double rate = (src_size + dst_size) / measured[i].ns;
    if (list[i].src_size == src_size && list[i].dst_size == dst_size && rate > best)
      best = rate;
  }
  return best;
}
