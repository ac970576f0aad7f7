/* SPDX-License-Identifier: MIT */
/* The one list of the conversions of array.h, for tests and benchmark. */
#ifndef MPNUM_TESTS_ARRAY_CONVERSIONS_H
#define MPNUM_TESTS_ARRAY_CONVERSIONS_H

/* clang-format off */
/* Written by tools/wrappers (list of conversions): do not edit. */
/* TYPE(name, its format, the bits that an element takes, those of a code) */
#define ARRAY_TYPES(TYPE) \
 TYPE(tf32, TF32, 32, 19) \
 TYPE(bf16, BF16, 16, 16) \
 TYPE(f16, F16, 16, 16) \
 TYPE(e5m2, E5M2, 8, 8) \
 TYPE(e4m3, E4M3, 8, 8) \
 TYPE(e5m2fnuz, E5M2FNUZ, 8, 8) \
 TYPE(e4m3fnuz, E4M3FNUZ, 8, 8) \
 TYPE(e3m4, E3M4, 8, 8) \
 TYPE(e8m0, E8M0, 8, 8) \
 TYPE(e3m2, E3M2, 8, 6) \
 TYPE(e2m3, E2M3, 8, 6) \
 TYPE(e2m1, E2M1, 8, 4) \
 TYPE(e3m2x4, E3M2, 6, 6) \
 TYPE(e2m3x4, E2M3, 6, 6) \
 TYPE(e2m1x2, E2M1, 4, 4)

/* One function for each pair of types: of the two overflows the one used most, IEEE for
 * tf32, bf16 and f16, saturating for narrower types. Then the others.
 * NARROW(array function, source, result, scalar function of the value)
 * TO_F32(array function, scalar function of the double)
 * WIDEN(array function, source, scalar function, its argument from a word) */
#define ARRAY_CONVERSIONS(NARROW, TO_F32, WIDEN) \
 NARROW(mpnum_f32_to_tf32_array, f32, tf32, mpnum_f32_to_tf32) \
 NARROW(mpnum_f32_to_bf16_array, f32, bf16, mpnum_f32_to_bf16) \
 NARROW(mpnum_f32_to_f16_array, f32, f16, mpnum_f32_to_f16) \
 NARROW(mpnum_f32_to_e5m2_sat_array, f32, e5m2, mpnum_f32_to_e5m2_sat) \
 NARROW(mpnum_f32_to_e4m3_sat_array, f32, e4m3, mpnum_f32_to_e4m3_sat) \
 NARROW(mpnum_f32_to_e5m2fnuz_sat_array, f32, e5m2fnuz, mpnum_f32_to_e5m2fnuz_sat) \
 NARROW(mpnum_f32_to_e4m3fnuz_sat_array, f32, e4m3fnuz, mpnum_f32_to_e4m3fnuz_sat) \
 NARROW(mpnum_f32_to_e3m4_sat_array, f32, e3m4, mpnum_f32_to_e3m4_sat) \
 NARROW(mpnum_f32_to_e8m0_sat_array, f32, e8m0, mpnum_f32_to_e8m0_sat) \
 NARROW(mpnum_f32_to_e3m2x4_sat_array, f32, e3m2x4, mpnum_f32_to_e3m2_sat) \
 NARROW(mpnum_f32_to_e2m3x4_sat_array, f32, e2m3x4, mpnum_f32_to_e2m3_sat) \
 NARROW(mpnum_f32_to_e2m1x2_sat_array, f32, e2m1x2, mpnum_f32_to_e2m1_sat) \
 WIDEN(mpnum_tf32_to_f32_array, tf32, mpnum_tf32_to_f32, mpnum_from_bits_tf32) \
 WIDEN(mpnum_bf16_to_f32_array, bf16, mpnum_bf16_to_f32, mpnum_from_bits_bf16) \
 WIDEN(mpnum_f16_to_f32_array, f16, mpnum_f16_to_f32, mpnum_from_bits_f16) \
 WIDEN(mpnum_e5m2_to_f32_array, e5m2, mpnum_e5m2_to_f32, mpnum_from_bits_e5m2) \
 WIDEN(mpnum_e4m3_to_f32_array, e4m3, mpnum_e4m3_to_f32, mpnum_from_bits_e4m3) \
 WIDEN(mpnum_e5m2fnuz_to_f32_array, e5m2fnuz, mpnum_e5m2fnuz_to_f32, mpnum_from_bits_e5m2fnuz) \
 WIDEN(mpnum_e4m3fnuz_to_f32_array, e4m3fnuz, mpnum_e4m3fnuz_to_f32, mpnum_from_bits_e4m3fnuz) \
 WIDEN(mpnum_e3m4_to_f32_array, e3m4, mpnum_e3m4_to_f32, mpnum_from_bits_e3m4) \
 WIDEN(mpnum_e8m0_to_f32_array, e8m0, mpnum_e8m0_to_f32, mpnum_from_bits_e8m0) \
 WIDEN(mpnum_e3m2x4_to_f32_array, e3m2x4, mpnum_e3m2_to_f32, mpnum_from_bits_e3m2) \
 WIDEN(mpnum_e2m3x4_to_f32_array, e2m3x4, mpnum_e2m3_to_f32, mpnum_from_bits_e2m3) \
 WIDEN(mpnum_e2m1x2_to_f32_array, e2m1x2, mpnum_e2m1_to_f32, mpnum_from_bits_e2m1) \
 NARROW(mpnum_f16_to_e5m2_sat_array, f16, e5m2, mpnum_f32_to_e5m2_sat) \
 NARROW(mpnum_f16_to_e4m3_sat_array, f16, e4m3, mpnum_f32_to_e4m3_sat) \
 NARROW(mpnum_f16_to_e3m2x4_sat_array, f16, e3m2x4, mpnum_f32_to_e3m2_sat) \
 NARROW(mpnum_f16_to_e2m3x4_sat_array, f16, e2m3x4, mpnum_f32_to_e2m3_sat) \
 NARROW(mpnum_f16_to_e2m1x2_sat_array, f16, e2m1x2, mpnum_f32_to_e2m1_sat) \
 NARROW(mpnum_bf16_to_e5m2_sat_array, bf16, e5m2, mpnum_f32_to_e5m2_sat) \
 NARROW(mpnum_bf16_to_e4m3_sat_array, bf16, e4m3, mpnum_f32_to_e4m3_sat) \
 NARROW(mpnum_bf16_to_e3m2x4_sat_array, bf16, e3m2x4, mpnum_f32_to_e3m2_sat) \
 NARROW(mpnum_bf16_to_e2m3x4_sat_array, bf16, e2m3x4, mpnum_f32_to_e2m3_sat) \
 NARROW(mpnum_bf16_to_e2m1x2_sat_array, bf16, e2m1x2, mpnum_f32_to_e2m1_sat) \
 TO_F32(mpnum_f64_to_f32_array, mpnum_f64_to_f32) \
 NARROW(mpnum_f64_to_bf16_array, f64, bf16, mpnum_f64_to_bf16) \
 NARROW(mpnum_f64_to_f16_array, f64, f16, mpnum_f64_to_f16)
#define ARRAY_CONVERSIONS_TOO(NARROW, TO_F32) \
 NARROW(mpnum_f32_to_tf32_sat_array, f32, tf32, mpnum_f32_to_tf32_sat) \
 NARROW(mpnum_f32_to_bf16_sat_array, f32, bf16, mpnum_f32_to_bf16_sat) \
 NARROW(mpnum_f32_to_f16_sat_array, f32, f16, mpnum_f32_to_f16_sat) \
 NARROW(mpnum_f32_to_e5m2_array, f32, e5m2, mpnum_f32_to_e5m2) \
 NARROW(mpnum_f32_to_e4m3_array, f32, e4m3, mpnum_f32_to_e4m3) \
 NARROW(mpnum_f32_to_e5m2fnuz_array, f32, e5m2fnuz, mpnum_f32_to_e5m2fnuz) \
 NARROW(mpnum_f32_to_e4m3fnuz_array, f32, e4m3fnuz, mpnum_f32_to_e4m3fnuz) \
 NARROW(mpnum_f32_to_e3m4_array, f32, e3m4, mpnum_f32_to_e3m4) \
 NARROW(mpnum_f32_to_e8m0_array, f32, e8m0, mpnum_f32_to_e8m0) \
 NARROW(mpnum_f16_to_e5m2_array, f16, e5m2, mpnum_f32_to_e5m2) \
 NARROW(mpnum_f16_to_e4m3_array, f16, e4m3, mpnum_f32_to_e4m3) \
 NARROW(mpnum_bf16_to_e5m2_array, bf16, e5m2, mpnum_f32_to_e5m2) \
 NARROW(mpnum_bf16_to_e4m3_array, bf16, e4m3, mpnum_f32_to_e4m3) \
 NARROW(mpnum_f64_to_bf16_sat_array, f64, bf16, mpnum_f64_to_bf16_sat) \
 NARROW(mpnum_f64_to_f16_sat_array, f64, f16, mpnum_f64_to_f16_sat)

/* STOCHASTIC(array function, result, scalar function) */
#define ARRAY_STOCHASTIC(STOCHASTIC) \
 STOCHASTIC(mpnum_f32_to_tf32_sr_array, tf32, mpnum_f32_to_tf32_sr) \
 STOCHASTIC(mpnum_f32_to_tf32_sr_sat_array, tf32, mpnum_f32_to_tf32_sr_sat) \
 STOCHASTIC(mpnum_f32_to_bf16_sr_array, bf16, mpnum_f32_to_bf16_sr) \
 STOCHASTIC(mpnum_f32_to_bf16_sr_sat_array, bf16, mpnum_f32_to_bf16_sr_sat) \
 STOCHASTIC(mpnum_f32_to_f16_sr_array, f16, mpnum_f32_to_f16_sr) \
 STOCHASTIC(mpnum_f32_to_f16_sr_sat_array, f16, mpnum_f32_to_f16_sr_sat) \
 STOCHASTIC(mpnum_f32_to_e5m2_sr_array, e5m2, mpnum_f32_to_e5m2_sr) \
 STOCHASTIC(mpnum_f32_to_e5m2_sr_sat_array, e5m2, mpnum_f32_to_e5m2_sr_sat) \
 STOCHASTIC(mpnum_f32_to_e4m3_sr_array, e4m3, mpnum_f32_to_e4m3_sr) \
 STOCHASTIC(mpnum_f32_to_e4m3_sr_sat_array, e4m3, mpnum_f32_to_e4m3_sr_sat)
/* End of what tools/wrappers wrote. */
/* clang-format on */

#endif
