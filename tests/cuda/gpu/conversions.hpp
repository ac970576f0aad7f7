/* SPDX-License-Identifier: MIT */
/* Every conversion as a function from a word to a word, the same on host and device.
 * Those that take a rounding have it as a member, so that no compiler knows which it is.
 */
#ifndef MPNUM_TESTS_GPU_CONVERSIONS_HPP
#define MPNUM_TESTS_GPU_CONVERSIONS_HPP

#include "../../convert/generic_forms.h"

#define FUNCTION(function, result)                                           \
 struct function {                                                           \
  static const char *name() { return #function; }                            \
  static __host__ __device__ uint32_t at(uint32_t word) { return (result); } \
 };

static __host__ __device__ float float_at(uint32_t word) {
  return mpnum_from_bits_f32(word);
}
/* A double near that float: its mantissa goes on with hashed bits, with a single one, or
 * with none. */
static __host__ __device__ double double_at(uint32_t word) {
  const uint32_t hash = word * 0x9e3779b1u ^ word >> 15;
  const uint64_t tail = hash & 1 ? hash >> 3 : hash >> 1 & 1;
  return mpnum_from_bits_f64(mpnum_bits_f64(mpnum_f32_to_f64(float_at(word))) | tail);
}
/* A double of any size, with a mantissa of its own: the word is its upper half. */
static __host__ __device__ double any_double_at(uint32_t word) {
  const uint32_t hash = word * 0x85ebca6bu ^ word >> 13;
  return mpnum_from_bits_f64(static_cast<uint64_t>(word) << 32 |
                             (hash & 3 ? hash : hash >> 2 & 1));
}
/* Another float, to stand beside one. */
static __host__ __device__ float partner_at(uint32_t word) {
  return mpnum_from_bits_f32(word * 0x9e3779b1u + 0x3c6ef372u);
}

static __host__ __device__ uint32_t bits_of(float x) { return mpnum_bits_f32(x); }
template <class T> static __host__ __device__ uint32_t bits_of(T x) { return x.bits; }
/* A random word: both ends, and others. */
static __host__ __device__ uint32_t random_at(uint32_t word) {
  const uint32_t hash = (word ^ word >> 15) * 0x2c1b3c6du;
  const uint32_t other = (hash ^ hash >> 13) * 0x297a2d39u;
  return hash & 0xe0000000 ? other : 0 - (other & 1);
}

#define FROM_F64(name, suffix)                                    \
 FUNCTION(f64_to_##name##suffix,                                  \
          bits_of(mpnum_f64_to_##name##suffix(double_at(word))) + \
              bits_of(mpnum_f64_to_##name##suffix(any_double_at(word))) * 0x9e3779b1u)
#define FROM_FLOATS(name, suffix)                                                  \
 FUNCTION(f32_to_##name##suffix, mpnum_f32_to_##name##suffix(float_at(word)).bits) \
 FROM_F64(name, suffix)
#define FROM_F32(name, suffix) \
 FUNCTION(f32_to_##name##suffix, mpnum_f32_to_##name##suffix(float_at(word)).bits)
#define TO_F32(name)                                                                  \
 FUNCTION(name##_to_f32,                                                              \
          mpnum_bits_f32(mpnum_##name##_to_f32(mpnum_from_bits_##name(word))))        \
 FUNCTION(                                                                            \
     name##_to_f64,                                                                   \
     (uint32_t)(mpnum_bits_f64(mpnum_##name##_to_f64(mpnum_from_bits_##name(word))) * \
                    0x9e3779b1u >>                                                    \
                32))
#define X2(name, suffix)              \
 FUNCTION(f32_to_##name##suffix##_x2, \
          mpnum_f32_to_##name##suffix##_x2(float_at(word), partner_at(word)).bits)
#define X4(name, suffix)                                                             \
 FUNCTION(f32_to_##name##suffix##_x4,                                                \
          mpnum_f32_to_##name##suffix##_x4(float_at(word), partner_at(word),         \
                                           partner_at(word + 1), float_at(word + 2)) \
              .bits)
#define TO_F32_X2(name, word_type)                                \
 static __host__ __device__ uint32_t name##_pair(uint32_t word) { \
  const mpnum_##name##x2 packed = {(word_type)word};              \
  const mpnum_f32x2 values = mpnum_##name##_to_f32_x2(packed);    \
  return mpnum_bits_f32(values.x) + 3 * mpnum_bits_f32(values.y); \
 }                                                                \
 FUNCTION(name##_to_f32_x2, name##_pair(word))
#define TO_F32_X4(name, word_type)                                    \
 static __host__ __device__ uint32_t name##_four(uint32_t word) {     \
  const mpnum_##name##x4 packed = {(word_type)word};                  \
  const mpnum_f32x4 values = mpnum_##name##_to_f32_x4(packed);        \
  return mpnum_bits_f32(values.x) + 3 * mpnum_bits_f32(values.y) +    \
         5 * mpnum_bits_f32(values.z) + 7 * mpnum_bits_f32(values.w); \
 }                                                                    \
 FUNCTION(name##_to_f32_x4, name##_four(word))
/* Four codes in three bytes, and back. */
#define DENSE_X4(name)                                                             \
 static __host__ __device__ uint32_t name##_dense(uint32_t word) {                 \
  const mpnum_##name##x4 packed = mpnum_f32_to_##name##_sat_x4(                    \
      float_at(word), partner_at(word), partner_at(word + 1), float_at(word + 2)); \
  const mpnum_f32x4 values = mpnum_##name##_to_f32_x4(packed);                     \
  const uint32_t codes = packed.bytes[0] | (uint32_t)packed.bytes[1] << 8 |        \
                         (uint32_t)packed.bytes[2] << 16;                          \
  return codes + 3 * mpnum_bits_f32(values.x) + 5 * mpnum_bits_f32(values.y) +     \
         7 * mpnum_bits_f32(values.z) + 9 * mpnum_bits_f32(values.w);              \
 }                                                                                 \
 FUNCTION(name##_sat_x4_and_back, name##_dense(word))
#define F16_PAIRS(name)                                                           \
 static __host__ __device__ mpnum_f16x2 name##_halves(uint32_t word) {            \
  const mpnum_f16x2 halves = {word};                                              \
  return halves;                                                                  \
 }                                                                                \
 static __host__ __device__ uint32_t name##_to_halves(uint32_t word) {            \
  const mpnum_##name##x2 packed = {(uint16_t)word};                               \
  return mpnum_##name##_to_f16_x2(packed).bits;                                   \
 }                                                                                \
 FUNCTION(f16_to_##name##_x2, mpnum_f16_to_##name##_x2(name##_halves(word)).bits) \
 FUNCTION(f16_to_##name##_sat_x2,                                                 \
          mpnum_f16_to_##name##_sat_x2(name##_halves(word)).bits)                 \
 FUNCTION(name##_to_f16_x2, name##_to_halves(word))
#define STOCHASTIC(name, suffix)      \
 FUNCTION(f32_to_##name##_sr##suffix, \
          mpnum_f32_to_##name##_sr##suffix(float_at(word), random_at(word)).bits)
#define ROUND(format)                                                       \
 struct f32_to_##format##_round {                                           \
  mpnum_rounding rounding;                                                  \
  mpnum_overflow overflow;                                                  \
  __host__ __device__ uint32_t at(uint32_t word) const {                    \
   return mpnum_f32_to_##format##_round(float_at(word), rounding, overflow, \
                                        random_at(word))                    \
       .bits;                                                               \
  }                                                                         \
 };
/* From double each word has a rounding of its own. */
#define ROUND_F64(format)                                                             \
 static __host__ __device__ uint32_t f64_to_##format##_rounded(double x,              \
                                                               uint32_t hash) {       \
  return bits_of(mpnum_f64_to_##format##_round(x, (mpnum_rounding)(hash % 7),         \
                                               (mpnum_overflow)(hash / 7 % 2),        \
                                               hash * 0x9e3779b1u));                  \
 }                                                                                    \
 FUNCTION(f64_to_##format##_round,                                                    \
          f64_to_##format##_rounded(double_at(word), random_at(~word) >> 4) +         \
              f64_to_##format##_rounded(any_double_at(word), random_at(~word) >> 3) * \
                  0x9e3779b1u)
#define ROUNDED(name, mode, rounding) \
 FUNCTION(                            \
     f32_to_##name##_round_##mode,    \
     mpnum_f32_to_##name##_round(float_at(word), rounding, MPNUM_OVERFLOW_IEEE, 0).bits)

/* Types that have a form which does not saturate; forms with other roundings, and packed
 * ones. */
/* clang-format off */
#define PLAIN_TYPES(X) \
 X(tf32) X(bf16) X(f16) X(e5m2) X(e4m3) X(e5m2fnuz) X(e4m3fnuz) X(e3m4) X(e8m0)
#define WITH_RZ(X)                                                  \
 X(f16, _rz) X(f16, _rz_sat) X(bf16, _rz) X(bf16, _rz_sat)          \
 X(tf32, _rz) X(tf32, _rz_sat) X(tf32, _rna) X(tf32, _rna_sat)      \
 X(e8m0, _ru) X(e8m0, _ru_sat) X(e8m0, _rz) X(e8m0, _rz_sat)
#define WITH_X2(X)                                                  \
 X(f16, ) X(f16, _sat) X(bf16, ) X(bf16, _sat)                      \
 X(e5m2, ) X(e5m2, _sat) X(e4m3, ) X(e4m3, _sat)                    \
 X(e8m0, _ru_sat) X(e8m0, _rz_sat) X(e3m2, _sat) X(e2m3, _sat) X(e2m1, _sat)
#define WITH_X4(X) X(e5m2, ) X(e5m2, _sat) X(e4m3, ) X(e4m3, _sat) X(e2m1, _sat)
/* clang-format on */

FROM_F64(f32, )
FROM_F64(f32, _sat)
ROUND_F64(f32)
ROUNDED(f16, up, MPNUM_ROUND_UP)
ROUNDED(f16, down, MPNUM_ROUND_DOWN)
ROUNDED(f16, away, MPNUM_ROUND_NEAREST_AWAY)
ROUNDED(f16, odd, MPNUM_ROUND_TO_ODD)
#define OF_PLAIN_TYPE(name) FROM_FLOATS(name, ) STOCHASTIC(name, )
PLAIN_TYPES(OF_PLAIN_TYPE)
WITH_RZ(FROM_F32)
#define OF_EVERY_TYPE(name, NAME, sign, exponent, mantissa, bias, specials, nan) \
 FROM_FLOATS(name, _sat) TO_F32(name) STOCHASTIC(name, _sat) ROUND(name) ROUND_F64(name)
MPNUM_FORMATS(OF_EVERY_TYPE)
WITH_X2(X2)
WITH_X4(X4)
F16_PAIRS(e4m3)
F16_PAIRS(e5m2)
TO_F32_X2(f16, uint32_t)
TO_F32_X2(bf16, uint32_t)
TO_F32_X2(e5m2, uint16_t)
TO_F32_X2(e4m3, uint16_t)
TO_F32_X2(e3m2, uint16_t)
TO_F32_X2(e2m3, uint16_t)
TO_F32_X2(e2m1, uint8_t)
TO_F32_X2(e8m0, uint16_t)
DENSE_X4(e3m2)
DENSE_X4(e2m3)
TO_F32_X4(e5m2, uint32_t)
TO_F32_X4(e4m3, uint32_t)
TO_F32_X4(e2m1, uint16_t)

#endif
