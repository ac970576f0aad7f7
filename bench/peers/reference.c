/* SPDX-License-Identifier: MIT */
/* Softmax in three passes of AVX-512, as fast as it goes without regard to NaN, to rows
 * of nothing but -Inf or to the same bits elsewhere: the mark for mpnum's. */
#include "../sections/math/measure.h"
#include "reference.h"

#if defined(__x86_64__)

# include <immintrin.h>
# include <math.h>

# define WIDE __attribute__((target("avx512f")))

enum { LANES = 16, UNROLLED = 4 * LANES };

int reference_present(void) { return __builtin_cpu_supports("avx512f") != 0; }

/* Those of the lanes that the `left` last elements fill. */
static __mmask16 last_lanes(size_t left) {
  return (__mmask16)(left < LANES ? (1u << left) - 1 : 0xffffu);
}

/* e^t for t <= 0, within 2 ulp: 2^n e^r with n the integer nearest to t / log 2. The
 * polynomial is the best one of degree 5 for e^r where abs(r) <= log(2) / 2, with a
 * relative error of 1.3 2^-24 (Remez). Of t below -104 the result would vanish. */
WIDE static inline __m512 exp_of(__m512 t) {
  const __m512 log2_e = _mm512_set1_ps(0x1.715476p+0f);
  const __m512 high = _mm512_set1_ps(0x1.62e430p-1f); /* log 2 is high + low */
  const __m512 low = _mm512_set1_ps(-0x1.05c610p-29f);
  t = _mm512_max_ps(t, _mm512_set1_ps(-104));
  __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(t, log2_e), 0);
  __m512 r = _mm512_fnmadd_ps(n, low, _mm512_fnmadd_ps(n, high, t));
  __m512 p = _mm512_set1_ps(0x1.0fe57ap-7f);
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.575f72p-5f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.555a1ap-3f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.fffd18p-2f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.fffff6p-1f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0x1.000002p+0f));
  return _mm512_scalef_ps(p, n);
}

WIDE float reference_max(const float *src, size_t count) {
  __m512 a = _mm512_set1_ps(-INFINITY), b = a, c = a, d = a;
  size_t i = 0;
  for (; i + UNROLLED <= count; i += UNROLLED) {
    a = _mm512_max_ps(a, _mm512_loadu_ps(src + i));
    b = _mm512_max_ps(b, _mm512_loadu_ps(src + i + LANES));
    c = _mm512_max_ps(c, _mm512_loadu_ps(src + i + 2 * LANES));
    d = _mm512_max_ps(d, _mm512_loadu_ps(src + i + 3 * LANES));
  }
  for (; i < count; i += LANES) {
    const __mmask16 lanes = last_lanes(count - i);
    a = _mm512_mask_max_ps(a, lanes, a, _mm512_maskz_loadu_ps(lanes, src + i));
  }
  return _mm512_reduce_max_ps(_mm512_max_ps(_mm512_max_ps(a, b), _mm512_max_ps(c, d)));
}

WIDE static inline __m512 store_exp(float *dst, const float *src, __m512 max) {
  const __m512 result = exp_of(_mm512_sub_ps(_mm512_loadu_ps(src), max));
  _mm512_storeu_ps(dst, result);
  return result;
}

/* Of the differences from max; returns their sum. */
WIDE static float exp_pass(float *dst, const float *src, size_t count, float largest) {
  const __m512 max = _mm512_set1_ps(largest);
  __m512 a = _mm512_setzero_ps(), b = a, c = a, d = a;
  size_t i = 0;
  for (; i + UNROLLED <= count; i += UNROLLED) {
    a = _mm512_add_ps(a, store_exp(dst + i, src + i, max));
    b = _mm512_add_ps(b, store_exp(dst + i + LANES, src + i + LANES, max));
    c = _mm512_add_ps(c, store_exp(dst + i + 2 * LANES, src + i + 2 * LANES, max));
    d = _mm512_add_ps(d, store_exp(dst + i + 3 * LANES, src + i + 3 * LANES, max));
  }
  for (; i < count; i += LANES) {
    const __mmask16 lanes = last_lanes(count - i);
    const __m512 x = _mm512_maskz_loadu_ps(lanes, src + i);
    const __m512 result = exp_of(_mm512_sub_ps(x, max));
    _mm512_mask_storeu_ps(dst + i, lanes, result);
    a = _mm512_mask_add_ps(a, lanes, a, result);
  }
  return _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(a, b), _mm512_add_ps(c, d)));
}

WIDE void reference_scale(float *dst, size_t count, float factor) {
  const __m512 by = _mm512_set1_ps(factor);
  size_t i = 0, k;
  for (; i + UNROLLED <= count; i += UNROLLED) {
    for (k = i; k < i + UNROLLED; k += LANES)
      _mm512_storeu_ps(dst + k, _mm512_mul_ps(_mm512_loadu_ps(dst + k), by));
  }
  for (; i < count; i += LANES) {
    const __mmask16 lanes = last_lanes(count - i);
    const __m512 x = _mm512_maskz_loadu_ps(lanes, dst + i);
    _mm512_mask_storeu_ps(dst + i, lanes, _mm512_mul_ps(x, by));
  }
}

static void run(float *dst, const float *src, size_t rows, size_t columns) {
  for (size_t i = 0; i < rows; ++i, dst += columns, src += columns) {
    const float max = reference_max(src, columns);
    const float sum = exp_pass(dst, src, columns, max);
    reference_scale(dst, columns, 1 / sum);
  }
}

const softmax_way softmax_reference = {"reference avx512", NULL, run, false,
                                       reference_present};

#else

int reference_present(void) { return 0; }
float reference_max(const float *src, size_t count) { return count ? *src : 0; }
void reference_scale(float *dst, size_t count, float factor) {
  if (count) *dst *= factor;
}
const softmax_way softmax_reference = {"reference avx512", "this is no x86-64", NULL,
                                       false, NULL};

#endif
