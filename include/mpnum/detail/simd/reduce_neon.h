/* SPDX-License-Identifier: MIT */
/* The words of reduce.inc beside those of neon.h, as explained in reduce_x86.h,
 * for NEON. */
#ifndef MPNUM_DETAIL_SIMD_REDUCE_NEON_H
#define MPNUM_DETAIL_SIMD_REDUCE_NEON_H

#include "convert_loops.h"

#if MPNUM_HAS_NEON

# include <arm_neon.h>

MPNUM_NEON_ mpnum_vector_neon_ mpnum_max_codes_neon_(int bits, mpnum_vector_neon_ a,
                                                     mpnum_vector_neon_ b) {
  if (bits == 8) return (mpnum_vector_neon_)vmaxq_u8((uint8x16_t)a, (uint8x16_t)b);
  if (bits == 16) return (mpnum_vector_neon_)vmaxq_u16((uint16x8_t)a, (uint16x8_t)b);
  return (mpnum_vector_neon_)vmaxq_u32((uint32x4_t)a, (uint32x4_t)b);
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_min_nonzero_neon_(int bits, mpnum_vector_neon_ least,
                                                       mpnum_vector_neon_ x) {
  if (bits == 8)
    return (mpnum_vector_neon_)vminq_u8(
        (uint8x16_t)least, vorrq_u8((uint8x16_t)x, vceqzq_u8((uint8x16_t)x)));
  if (bits == 16)
    return (mpnum_vector_neon_)vminq_u16(
        (uint16x8_t)least, vorrq_u16((uint16x8_t)x, vceqzq_u16((uint16x8_t)x)));
  return (mpnum_vector_neon_)vminq_u32(
      (uint32x4_t)least, vorrq_u32((uint32x4_t)x, vceqzq_u32((uint32x4_t)x)));
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_count_above_neon_(int bits, mpnum_vector_neon_ count,
                                                       mpnum_vector_neon_ x,
                                                       mpnum_vector_neon_ limit) {
  const mpnum_vector_neon_ above = mpnum_above_neon_(bits, x, limit);
  if (bits == 8)
    return (mpnum_vector_neon_)vsubq_u8((uint8x16_t)count, (uint8x16_t)above);
  if (bits == 16)
    return (mpnum_vector_neon_)vsubq_u16((uint16x8_t)count, (uint16x8_t)above);
  return (mpnum_vector_neon_)vsubq_u32((uint32x4_t)count, (uint32x4_t)above);
}
MPNUM_NEON_ mpnum_vector_neon_ mpnum_wide_counts_neon_(int bits,
                                                       mpnum_vector_neon_ count) {
  if (bits == 8) return (mpnum_vector_neon_)vpaddlq_u16(vpaddlq_u8((uint8x16_t)count));
  if (bits == 16) return (mpnum_vector_neon_)vpaddlq_u16((uint16x8_t)count);
  return count;
}

typedef double mpnum_doubles_neon_ __attribute__((__vector_size__(16)));

MPNUM_NEON_ mpnum_doubles_neon_ mpnum_set_doubles_neon_(double x) {
  return (mpnum_doubles_neon_)vdupq_n_f64(x);
}
MPNUM_NEON_ mpnum_doubles_neon_ mpnum_load_doubles_neon_(const uint8_t *src) {
  return (mpnum_doubles_neon_)vcvt_f64_f32((float32x2_t)vld1_u8(src));
}

MPNUM_NEON_ mpnum_doubles_neon_ mpnum_plus_doubles_neon_(mpnum_doubles_neon_ a,
                                                         mpnum_doubles_neon_ b) {
  mpnum_doubles_neon_ sum = a + b;
  __asm__("" : "+w"(sum));
  return sum;
}
MPNUM_NEON_ mpnum_doubles_neon_ mpnum_plus_product_neon_(mpnum_doubles_neon_ sum,
                                                         mpnum_doubles_neon_ x,
                                                         mpnum_doubles_neon_ y) {
  sum = (mpnum_doubles_neon_)vfmaq_f64((float64x2_t)sum, (float64x2_t)x, (float64x2_t)y);
  __asm__("" : "+w"(sum));
  return sum;
}
MPNUM_NEON_ double mpnum_sum_of_doubles_neon_(mpnum_doubles_neon_ x) {
  return mpnum_plus_f64_(vgetq_lane_f64((float64x2_t)x, 0),
                         vgetq_lane_f64((float64x2_t)x, 1));
}

#endif
#endif
