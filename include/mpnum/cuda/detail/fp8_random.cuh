/* SPDX-License-Identifier: MIT */
/* e4m3 and e5m2 of floats by random words, for devices that have an instruction for
 * nearest even: by fused multiplications and additions toward zero, of which a
 * multiprocessor does twice as many as of steps on integers. */
#ifndef MPNUM_CUDA_DETAIL_FP8_RANDOM_CUH
#define MPNUM_CUDA_DETAIL_FP8_RANDOM_CUH

#include "launch.cuh"
MPNUM_C_BEGIN_

namespace mpnum {

#if MPNUM_HAS_HW_FP8_ || !MPNUM_ON_DEVICE_
/* a * b + sum, rounded once, toward zero. On hosts a * b has to be exact in a double. */
MPNUM_REAL_ void add_product_(float &sum, float a, float b) {
# if MPNUM_ON_DEVICE_
  asm("fma.rz.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(a), "f"(b));
# else
  const double x = static_cast<double>(a) * static_cast<double>(b);
  const double y = static_cast<double>(sum), total = x + y, of_y = total - x;
  const double error = (x - (total - of_y)) + (y - of_y);
  uint64_t bits = mpnum_bits_f64(total);
  if (total - total == 0) { /* finite */
    bits -= (total < 0 ? error > 0 : error < 0) ? 1u : 0u;
    bits = bits >> 29 << 29;
  }
  sum = mpnum_f64_to_f32(mpnum_from_bits_f64(bits));
# endif
}
/* The same of four, by two at a time where that is an instruction. */
MPNUM_REAL_ void add_products_(float (&sum)[4], const float (&a)[4],
                               const float (&b)[4]) {
# if MPNUM_HAS_HW_F32X2_
  MPNUM_UNROLL_
  for (unsigned k = 0; k < 4; k += 2)
    asm("{\n .reg .b64 c, a, b;\n mov.b64 c, {%0, %1};\n mov.b64 a, {%2, %3};\n"
        " mov.b64 b, {%4, %5};\n fma.rz.f32x2 c, a, b, c;\n mov.b64 {%0, %1}, c;\n}"
        : "+f"(sum[k]), "+f"(sum[k + 1])
        : "f"(a[k]), "f"(a[k + 1]), "f"(b[k]), "f"(b[k + 1]));
# else
  MPNUM_UNROLL_
  for (unsigned k = 0; k < 4; ++k)
    add_product_(sum[k], a[k], b[k]);
# endif
}
MPNUM_REAL_ void add_products_(float (&sum)[4], const float (&a)[4], uint32_t factor) {
  const float b = mpnum_from_bits_f32(factor), all[4] = {b, b, b, b};
  add_products_(sum, a, all);
}
/* The larger or smaller magnitude of a and b, with the sign of a. b is positive. */
template <bool is_larger> MPNUM_REAL_ float with_sign_(float a, float b) {
# if MPNUM_ON_DEVICE_
  if (is_larger)
    asm("max.xorsign.abs.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  else
    asm("min.xorsign.abs.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
# else
  const uint32_t x = mpnum_bits_f32(a), y = mpnum_bits_f32(b), sign = x & 0x80000000u;
  return mpnum_from_bits_f32(((x ^ sign) > y) == is_larger ? x : y | sign);
# endif
}

/* Floats become some that nearest even takes to the codes that they have by random words,
 * or past the largest: each is a code's, and a little more, so that a zero has its sign.
 * The last place of a code is a power of two below that of the float, the unit, or of the
 * least normal number; the float, and the word times 2^-32 of a place, are cut to whole
 * places. The low 9 bits of words come first: beside them only floats below one place
 * have any bits, so that what is cut of their sum changes nothing. The high 23 come with
 * a place more, which is taken off behind the cut. */
template <mpnum_type type>
MPNUM_REAL_ void round_four_by_(float (&x)[4], const mpnum_u32x4 &random) {
  constexpr bool is_e4m3 = type == MPNUM_TYPE_E4M3;
  constexpr uint32_t least = is_e4m3 ? 0x3c800000u : 0x38800000u; /* 2^-6, 2^-14 */
  constexpr uint32_t most = is_e4m3 ? 0x43800000u : 0x47000000u;  /* 2^8, 2^15 */
  constexpr uint32_t place = is_e4m3 ? 0x3e000000u : 0x3e800000u; /* 2^-3, 2^-2 */
  constexpr uint32_t cut = place + (23u << 23); /* times the unit, ends at a place */
  const uint32_t words[4] = {random.x, random.y, random.z, random.w};
  float unit[4], low[4], high[4];
  MPNUM_UNROLL_
  for (unsigned k = 0; k < 4; ++k) {
    unit[k] = mpnum_from_bits_f32(mpnum_bits_f32(x[k]) & 0xff800000u);
    unit[k] = with_sign_<true>(unit[k], mpnum_from_bits_f32(least));
    unit[k] = with_sign_<false>(unit[k], mpnum_from_bits_f32(most));
    /* A subnormal, 2^-149 of each, becomes 2^-32 of a place. */
    low[k] = mpnum_mul_scalar_(mpnum_from_bits_f32(words[k] & 0x1ffu),
                               mpnum_from_bits_f32(place + (117u << 23)));
    high[k] = mpnum_from_bits_f32((words[k] >> 9) + place);
  }
  add_products_(x, low, unit);
  add_products_(x, high, unit);
  add_products_(x, unit, cut);
  add_products_(x, unit, (cut | 0x80000000u) + 1);
  add_products_(x, unit, place - (10u << 23));
}
#endif

} // namespace mpnum

MPNUM_C_END_
#endif
