/* SPDX-License-Identifier: MIT */
/* Every function of array.h by its name, with the scalar function that says what an
 * element becomes. */
#include "array_functions.h"

#include <mpnum/array.h>

#include <string.h>

/* NARROW(array function, source, result, scalar function of the value); WIDEN(array
 * function, source, scalar function, its struct from a word). */
/* clang-format off */
#define ARRAY_FUNCTIONS(NARROW, NARROW_TO_F32, WIDEN) \
 NARROW(mpnum_f32_to_tf32_array, f32, tf32, mpnum_f32_to_tf32) \
 NARROW(mpnum_f32_to_tf32_sat_array, f32, tf32, mpnum_f32_to_tf32_sat) \
 NARROW(mpnum_f32_to_bf16_array, f32, bf16, mpnum_f32_to_bf16) \
 NARROW(mpnum_f32_to_bf16_sat_array, f32, bf16, mpnum_f32_to_bf16_sat) \
 NARROW(mpnum_f32_to_f16_array, f32, f16, mpnum_f32_to_f16) \
 NARROW(mpnum_f32_to_f16_sat_array, f32, f16, mpnum_f32_to_f16_sat) \
 NARROW(mpnum_f32_to_e5m2_array, f32, e5m2, mpnum_f32_to_e5m2) \
 NARROW(mpnum_f32_to_e5m2_sat_array, f32, e5m2, mpnum_f32_to_e5m2_sat) \
 NARROW(mpnum_f32_to_e4m3_array, f32, e4m3, mpnum_f32_to_e4m3) \
 NARROW(mpnum_f32_to_e4m3_sat_array, f32, e4m3, mpnum_f32_to_e4m3_sat) \
 NARROW(mpnum_f32_to_e5m2fnuz_array, f32, e5m2fnuz, mpnum_f32_to_e5m2fnuz) \
 NARROW(mpnum_f32_to_e5m2fnuz_sat_array, f32, e5m2fnuz, mpnum_f32_to_e5m2fnuz_sat) \
 NARROW(mpnum_f32_to_e4m3fnuz_array, f32, e4m3fnuz, mpnum_f32_to_e4m3fnuz) \
 NARROW(mpnum_f32_to_e4m3fnuz_sat_array, f32, e4m3fnuz, mpnum_f32_to_e4m3fnuz_sat) \
 NARROW(mpnum_f32_to_e3m4_array, f32, e3m4, mpnum_f32_to_e3m4) \
 NARROW(mpnum_f32_to_e3m4_sat_array, f32, e3m4, mpnum_f32_to_e3m4_sat) \
 NARROW(mpnum_f32_to_e8m0_array, f32, e8m0, mpnum_f32_to_e8m0) \
 NARROW(mpnum_f32_to_e8m0_sat_array, f32, e8m0, mpnum_f32_to_e8m0_sat) \
 NARROW(mpnum_f32_to_e3m2_sat_array, f32, e3m2, mpnum_f32_to_e3m2_sat) \
 NARROW(mpnum_f32_to_e2m3_sat_array, f32, e2m3, mpnum_f32_to_e2m3_sat) \
 NARROW(mpnum_f32_to_e2m1_sat_array, f32, e2m1, mpnum_f32_to_e2m1_sat) \
 NARROW(mpnum_f32_to_e3m2x4_sat_array, f32, e3m2x4, mpnum_f32_to_e3m2_sat) \
 NARROW(mpnum_f32_to_e2m3x4_sat_array, f32, e2m3x4, mpnum_f32_to_e2m3_sat) \
 NARROW(mpnum_f32_to_e2m1x2_sat_array, f32, e2m1x2, mpnum_f32_to_e2m1_sat) \
 NARROW(mpnum_f16_to_e5m2_array, f16, e5m2, mpnum_f32_to_e5m2) \
 NARROW(mpnum_f16_to_e5m2_sat_array, f16, e5m2, mpnum_f32_to_e5m2_sat) \
 NARROW(mpnum_f16_to_e4m3_array, f16, e4m3, mpnum_f32_to_e4m3) \
 NARROW(mpnum_f16_to_e4m3_sat_array, f16, e4m3, mpnum_f32_to_e4m3_sat) \
 NARROW(mpnum_f16_to_e5m2fnuz_array, f16, e5m2fnuz, mpnum_f32_to_e5m2fnuz) \
 NARROW(mpnum_f16_to_e5m2fnuz_sat_array, f16, e5m2fnuz, mpnum_f32_to_e5m2fnuz_sat) \
 NARROW(mpnum_f16_to_e4m3fnuz_array, f16, e4m3fnuz, mpnum_f32_to_e4m3fnuz) \
 NARROW(mpnum_f16_to_e4m3fnuz_sat_array, f16, e4m3fnuz, mpnum_f32_to_e4m3fnuz_sat) \
 NARROW(mpnum_f16_to_e3m4_array, f16, e3m4, mpnum_f32_to_e3m4) \
 NARROW(mpnum_f16_to_e3m4_sat_array, f16, e3m4, mpnum_f32_to_e3m4_sat) \
 NARROW(mpnum_f16_to_e8m0_array, f16, e8m0, mpnum_f32_to_e8m0) \
 NARROW(mpnum_f16_to_e8m0_sat_array, f16, e8m0, mpnum_f32_to_e8m0_sat) \
 NARROW(mpnum_f16_to_e3m2_sat_array, f16, e3m2, mpnum_f32_to_e3m2_sat) \
 NARROW(mpnum_f16_to_e2m3_sat_array, f16, e2m3, mpnum_f32_to_e2m3_sat) \
 NARROW(mpnum_f16_to_e2m1_sat_array, f16, e2m1, mpnum_f32_to_e2m1_sat) \
 NARROW(mpnum_f16_to_e3m2x4_sat_array, f16, e3m2x4, mpnum_f32_to_e3m2_sat) \
 NARROW(mpnum_f16_to_e2m3x4_sat_array, f16, e2m3x4, mpnum_f32_to_e2m3_sat) \
 NARROW(mpnum_f16_to_e2m1x2_sat_array, f16, e2m1x2, mpnum_f32_to_e2m1_sat) \
 NARROW(mpnum_bf16_to_e5m2_array, bf16, e5m2, mpnum_f32_to_e5m2) \
 NARROW(mpnum_bf16_to_e5m2_sat_array, bf16, e5m2, mpnum_f32_to_e5m2_sat) \
 NARROW(mpnum_bf16_to_e4m3_array, bf16, e4m3, mpnum_f32_to_e4m3) \
 NARROW(mpnum_bf16_to_e4m3_sat_array, bf16, e4m3, mpnum_f32_to_e4m3_sat) \
 NARROW(mpnum_bf16_to_e5m2fnuz_array, bf16, e5m2fnuz, mpnum_f32_to_e5m2fnuz) \
 NARROW(mpnum_bf16_to_e5m2fnuz_sat_array, bf16, e5m2fnuz, mpnum_f32_to_e5m2fnuz_sat) \
 NARROW(mpnum_bf16_to_e4m3fnuz_array, bf16, e4m3fnuz, mpnum_f32_to_e4m3fnuz) \
 NARROW(mpnum_bf16_to_e4m3fnuz_sat_array, bf16, e4m3fnuz, mpnum_f32_to_e4m3fnuz_sat) \
 NARROW(mpnum_bf16_to_e3m4_array, bf16, e3m4, mpnum_f32_to_e3m4) \
 NARROW(mpnum_bf16_to_e3m4_sat_array, bf16, e3m4, mpnum_f32_to_e3m4_sat) \
 NARROW(mpnum_bf16_to_e8m0_array, bf16, e8m0, mpnum_f32_to_e8m0) \
 NARROW(mpnum_bf16_to_e8m0_sat_array, bf16, e8m0, mpnum_f32_to_e8m0_sat) \
 NARROW(mpnum_bf16_to_e3m2_sat_array, bf16, e3m2, mpnum_f32_to_e3m2_sat) \
 NARROW(mpnum_bf16_to_e2m3_sat_array, bf16, e2m3, mpnum_f32_to_e2m3_sat) \
 NARROW(mpnum_bf16_to_e2m1_sat_array, bf16, e2m1, mpnum_f32_to_e2m1_sat) \
 NARROW(mpnum_bf16_to_e3m2x4_sat_array, bf16, e3m2x4, mpnum_f32_to_e3m2_sat) \
 NARROW(mpnum_bf16_to_e2m3x4_sat_array, bf16, e2m3x4, mpnum_f32_to_e2m3_sat) \
 NARROW(mpnum_bf16_to_e2m1x2_sat_array, bf16, e2m1x2, mpnum_f32_to_e2m1_sat) \
 NARROW(mpnum_f64_to_bf16_array, f64, bf16, mpnum_f64_to_bf16) \
 NARROW(mpnum_f64_to_bf16_sat_array, f64, bf16, mpnum_f64_to_bf16_sat) \
 NARROW(mpnum_f64_to_f16_array, f64, f16, mpnum_f64_to_f16) \
 NARROW(mpnum_f64_to_f16_sat_array, f64, f16, mpnum_f64_to_f16_sat) \
 NARROW_TO_F32(mpnum_f64_to_f32_array, mpnum_f64_to_f32) \
 NARROW_TO_F32(mpnum_f64_to_f32_sat_array, mpnum_f64_to_f32_sat) \
 WIDEN(mpnum_tf32_to_f32_array, tf32, mpnum_tf32_to_f32, mpnum_from_bits_tf32) \
 WIDEN(mpnum_bf16_to_f32_array, bf16, mpnum_bf16_to_f32, mpnum_from_bits_bf16) \
 WIDEN(mpnum_f16_to_f32_array, f16, mpnum_f16_to_f32, mpnum_from_bits_f16) \
 WIDEN(mpnum_e5m2_to_f32_array, e5m2, mpnum_e5m2_to_f32, mpnum_from_bits_e5m2) \
 WIDEN(mpnum_e4m3_to_f32_array, e4m3, mpnum_e4m3_to_f32, mpnum_from_bits_e4m3) \
 WIDEN(mpnum_e5m2fnuz_to_f32_array, e5m2fnuz, mpnum_e5m2fnuz_to_f32, mpnum_from_bits_e5m2fnuz) \
 WIDEN(mpnum_e4m3fnuz_to_f32_array, e4m3fnuz, mpnum_e4m3fnuz_to_f32, mpnum_from_bits_e4m3fnuz) \
 WIDEN(mpnum_e3m4_to_f32_array, e3m4, mpnum_e3m4_to_f32, mpnum_from_bits_e3m4) \
 WIDEN(mpnum_e8m0_to_f32_array, e8m0, mpnum_e8m0_to_f32, mpnum_from_bits_e8m0) \
 WIDEN(mpnum_e3m2_to_f32_array, e3m2, mpnum_e3m2_to_f32, mpnum_from_bits_e3m2) \
 WIDEN(mpnum_e2m3_to_f32_array, e2m3, mpnum_e2m3_to_f32, mpnum_from_bits_e2m3) \
 WIDEN(mpnum_e2m1_to_f32_array, e2m1, mpnum_e2m1_to_f32, mpnum_from_bits_e2m1) \
 WIDEN(mpnum_e3m2x4_to_f32_array, e3m2x4, mpnum_e3m2_to_f32, mpnum_from_bits_e3m2) \
 WIDEN(mpnum_e2m3x4_to_f32_array, e2m3x4, mpnum_e2m3_to_f32, mpnum_from_bits_e2m3) \
 WIDEN(mpnum_e2m1x2_to_f32_array, e2m1x2, mpnum_e2m1_to_f32, mpnum_from_bits_e2m1)

#define STOCHASTIC_FUNCTIONS(STOCHASTIC) \
 STOCHASTIC(mpnum_f32_to_tf32_sr_array, tf32, mpnum_f32_to_tf32_sr) \
 STOCHASTIC(mpnum_f32_to_tf32_sr_sat_array, tf32, mpnum_f32_to_tf32_sr_sat) \
 STOCHASTIC(mpnum_f32_to_bf16_sr_array, bf16, mpnum_f32_to_bf16_sr) \
 STOCHASTIC(mpnum_f32_to_bf16_sr_sat_array, bf16, mpnum_f32_to_bf16_sr_sat) \
 STOCHASTIC(mpnum_f32_to_f16_sr_array, f16, mpnum_f32_to_f16_sr) \
 STOCHASTIC(mpnum_f32_to_f16_sr_sat_array, f16, mpnum_f32_to_f16_sr_sat) \
 STOCHASTIC(mpnum_f32_to_e5m2_sr_array, e5m2, mpnum_f32_to_e5m2_sr) \
 STOCHASTIC(mpnum_f32_to_e5m2_sr_sat_array, e5m2, mpnum_f32_to_e5m2_sr_sat) \
 STOCHASTIC(mpnum_f32_to_e4m3_sr_array, e4m3, mpnum_f32_to_e4m3_sr) \
 STOCHASTIC(mpnum_f32_to_e4m3_sr_sat_array, e4m3, mpnum_f32_to_e4m3_sr_sat) \
 STOCHASTIC(mpnum_f32_to_e5m2fnuz_sr_array, e5m2fnuz, mpnum_f32_to_e5m2fnuz_sr) \
 STOCHASTIC(mpnum_f32_to_e5m2fnuz_sr_sat_array, e5m2fnuz, mpnum_f32_to_e5m2fnuz_sr_sat) \
 STOCHASTIC(mpnum_f32_to_e4m3fnuz_sr_array, e4m3fnuz, mpnum_f32_to_e4m3fnuz_sr) \
 STOCHASTIC(mpnum_f32_to_e4m3fnuz_sr_sat_array, e4m3fnuz, mpnum_f32_to_e4m3fnuz_sr_sat) \
 STOCHASTIC(mpnum_f32_to_e3m4_sr_array, e3m4, mpnum_f32_to_e3m4_sr) \
 STOCHASTIC(mpnum_f32_to_e3m4_sr_sat_array, e3m4, mpnum_f32_to_e3m4_sr_sat) \
 STOCHASTIC(mpnum_f32_to_e8m0_sr_array, e8m0, mpnum_f32_to_e8m0_sr) \
 STOCHASTIC(mpnum_f32_to_e8m0_sr_sat_array, e8m0, mpnum_f32_to_e8m0_sr_sat) \
 STOCHASTIC(mpnum_f32_to_e3m2_sr_sat_array, e3m2, mpnum_f32_to_e3m2_sr_sat) \
 STOCHASTIC(mpnum_f32_to_e2m3_sr_sat_array, e2m3, mpnum_f32_to_e2m3_sr_sat) \
 STOCHASTIC(mpnum_f32_to_e2m1_sr_sat_array, e2m1, mpnum_f32_to_e2m1_sr_sat)
/* clang-format on */

/* What the names of sources and results above stand for. */
#define STORAGE(name, TYPE, bits)     \
 typedef mpnum_##name storage_##name; \
 enum { type_##name = MPNUM_TYPE_##TYPE, bits_##name = bits };
/* clang-format off */
STORAGE(tf32, TF32, 32) STORAGE(bf16, BF16, 16) STORAGE(f16, F16, 16)
STORAGE(e5m2, E5M2, 8) STORAGE(e4m3, E4M3, 8) STORAGE(e5m2fnuz, E5M2FNUZ, 8)
STORAGE(e4m3fnuz, E4M3FNUZ, 8) STORAGE(e3m4, E3M4, 8) STORAGE(e8m0, E8M0, 8)
STORAGE(e3m2, E3M2, 8) STORAGE(e2m3, E2M3, 8) STORAGE(e2m1, E2M1, 8)
STORAGE(e3m2x4, E3M2, 6) STORAGE(e2m3x4, E2M3, 6) STORAGE(e2m1x2, E2M1, 4)
typedef float storage_f32;
typedef double storage_f64;
enum { type_f32 = MPNUM_TYPE_F32, bits_f32 = 32, type_f64 = MPNUM_TYPE_F64, bits_f64 = 64 };
/* clang-format on */

/* The value of a source element. memcpy, not arithmetic: a signalling NaN passes. */
static float value_f32(uint64_t element) {
  const uint32_t bits = (uint32_t)element;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static double value_f64(uint64_t element) {
  double x;
  memcpy(&x, &element, sizeof x);
  return x;
}
static float value_f16(uint64_t element) {
  return mpnum_f16_to_f32(mpnum_from_bits_f16((uint32_t)element));
}
static float value_bf16(uint64_t element) {
  return mpnum_bf16_to_f32(mpnum_from_bits_bf16((uint32_t)element));
}
static uint32_t word_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

#define CONVERT(function, src, dst)                                     \
 static void convert_##function(void *to, const void *from, size_t n) { \
  function((storage_##dst *)to, (const storage_##src *)from, n);        \
 }
#define DEFINE_NARROW(function, src, dst, scalar)      \
 CONVERT(function, src, dst)                           \
 static uint32_t scalar_##function(uint64_t element) { \
  return scalar(value_##src(element)).bits;            \
 }
#define DEFINE_NARROW_TO_F32(function, scalar)         \
 CONVERT(function, f64, f32)                           \
 static uint32_t scalar_##function(uint64_t element) { \
  return word_of(scalar(value_f64(element)));          \
 }
#define DEFINE_WIDEN(function, src, scalar, from_bits)  \
 CONVERT(function, src, f32)                            \
 static uint32_t scalar_##function(uint64_t element) {  \
  return word_of(scalar(from_bits((uint32_t)element))); \
 }
ARRAY_FUNCTIONS(DEFINE_NARROW, DEFINE_NARROW_TO_F32, DEFINE_WIDEN)

#define ROW(function, src, dst)                                           \
 {#function,  (mpnum_type)type_##src, (mpnum_type)type_##dst, bits_##src, \
  bits_##dst, convert_##function,     scalar_##function},
#define ROW_NARROW(function, src, dst, scalar)      ROW(function, src, dst)
#define ROW_NARROW_TO_F32(function, scalar)         ROW(function, f64, f32)
#define ROW_WIDEN(function, src, scalar, from_bits) ROW(function, src, f32)
const array_function array_functions[] = {
    ARRAY_FUNCTIONS(ROW_NARROW, ROW_NARROW_TO_F32, ROW_WIDEN)};
const size_t array_function_count = sizeof array_functions / sizeof array_functions[0];

#define DEFINE_STOCHASTIC(function, dst, scalar)                                     \
 static void convert_##function(void *to, const void *from, size_t n, uint64_t seed, \
                                uint64_t offset) {                                   \
  function((storage_##dst *)to, (const float *)from, n, seed, offset);               \
 }                                                                                   \
 static uint32_t scalar_##function(float x, uint32_t random) {                       \
  return scalar(x, random).bits;                                                     \
 }
STOCHASTIC_FUNCTIONS(DEFINE_STOCHASTIC)
#define ROW_STOCHASTIC(function, dst, scalar) \
 {#function, (mpnum_type)type_##dst, bits_##dst, convert_##function, scalar_##function},
const stochastic_function stochastic_functions[] = {STOCHASTIC_FUNCTIONS(ROW_STOCHASTIC)};
const size_t stochastic_function_count =
    sizeof stochastic_functions / sizeof stochastic_functions[0];

#include "array_entries.inc"
