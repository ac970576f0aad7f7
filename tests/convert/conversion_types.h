/* SPDX-License-Identifier: MIT */
/* Every scalar conversion of the library, callable through one signature: the code goes
 * in and out as a word, and a random word is passed even where the function takes none.
 */
#ifndef MPNUM_TESTS_CONVERSION_TYPES_H
#define MPNUM_TESTS_CONVERSION_TYPES_H

#include "generic_forms.h"
#include "../harness/float_bits.h"
#include "../reference/reference.h"

#include <stddef.h>
#include <string.h>

typedef uint32_t from_f32_function(float x, uint32_t random);
typedef uint32_t from_f64_function(double x, uint32_t random);

typedef struct conversion_type {
  const char *name;
  mpnum_type type;
  /* The functions named for a rounding, and that rounding saturating; null where none is.
   */
  from_f32_function *from_f32[REF_ROUNDINGS][REF_OVERFLOWS];
  from_f64_function *from_f64[REF_ROUNDINGS][REF_OVERFLOWS];
  uint32_t (*round_f32)(float x, mpnum_rounding, mpnum_overflow, uint32_t random);
  uint32_t (*round_f64)(double x, mpnum_rounding, mpnum_overflow, uint32_t random);
  float (*to_f32)(uint32_t code);
  double (*to_f64)(uint32_t code);
} conversion_type;

static const mpnum_rounding roundings[REF_ROUNDINGS] = {
    MPNUM_ROUND_NEAREST_EVEN, MPNUM_ROUND_TOWARD_ZERO,  MPNUM_ROUND_UP,
    MPNUM_ROUND_DOWN,         MPNUM_ROUND_NEAREST_AWAY, MPNUM_ROUND_TO_ODD,
    MPNUM_ROUND_STOCHASTIC,
};
static const mpnum_overflow overflows[REF_OVERFLOWS] = {MPNUM_OVERFLOW_IEEE,
                                                        MPNUM_OVERFLOW_SATURATE};

/* FROM_F32(e4m3, _sat) defines f32_to_e4m3_sat, which calls mpnum_f32_to_e4m3_sat. */
#define FROM_F32(name, suffix)                                            \
 static inline uint32_t f32_to_##name##suffix(float x, uint32_t random) { \
  (void)random;                                                           \
  return mpnum_f32_to_##name##suffix(x).bits;                             \
 }
#define FROM_F64(name, suffix)                                             \
 static inline uint32_t f64_to_##name##suffix(double x, uint32_t random) { \
  (void)random;                                                            \
  return mpnum_f64_to_##name##suffix(x).bits;                              \
 }
#define FROM_F32_RANDOM(name, suffix)                                     \
 static inline uint32_t f32_to_##name##suffix(float x, uint32_t random) { \
  return mpnum_f32_to_##name##suffix(x, random).bits;                     \
 }

/* What every format has. */
#define EVERY(name, NAME, SPECIALS, ...)                                            \
 FROM_F32(name, _sat)                                                               \
 FROM_F64(name, _sat)                                                               \
 FROM_F32_RANDOM(name, _sr_sat)                                                     \
 static inline uint32_t f32_to_##name##_round(                                      \
     float x, mpnum_rounding rounding, mpnum_overflow overflow, uint32_t random) {  \
  return mpnum_f32_to_##name##_round(x, rounding, overflow, random).bits;           \
 }                                                                                  \
 static inline uint32_t f64_to_##name##_round(                                      \
     double x, mpnum_rounding rounding, mpnum_overflow overflow, uint32_t random) { \
  return mpnum_f64_to_##name##_round(x, rounding, overflow, random).bits;           \
 }                                                                                  \
 static inline float name##_to_f32(uint32_t code) {                                 \
  return mpnum_##name##_to_f32(mpnum_from_bits_##name(code));                       \
 }                                                                                  \
 static inline double name##_to_f64(uint32_t code) {                                \
  return mpnum_##name##_to_f64(mpnum_from_bits_##name(code));                       \
 }
MAIN_FORMATS(EVERY)
OTHER_FORMATS(EVERY)
#undef EVERY

/* clang-format off */
/* What the formats that do not always saturate have. */
#define PLAIN_IEEE(name) FROM_F32(name, ) FROM_F64(name, ) FROM_F32_RANDOM(name, _sr)
#define PLAIN_FN(name)   PLAIN_IEEE(name)
#define PLAIN_FNUZ(name) PLAIN_IEEE(name)
#define PLAIN_E8M0(name) PLAIN_IEEE(name)
#define PLAIN_FINITE(name)
#define PLAIN(name, NAME, SPECIALS, ...) PLAIN_##SPECIALS(name)
MAIN_FORMATS(PLAIN)
OTHER_FORMATS(PLAIN)
#undef PLAIN
#undef PLAIN_FINITE
#undef PLAIN_E8M0
#undef PLAIN_FNUZ
#undef PLAIN_FN
#undef PLAIN_IEEE

/* The roundings that only some formats have a name for. */
#define NAMED_NONE(name)
#define NAMED_RZ(name)     FROM_F32(name, _rz) FROM_F32(name, _rz_sat)
#define NAMED_RZ_RNA(name) NAMED_RZ(name) FROM_F32(name, _rna) FROM_F32(name, _rna_sat)
#define NAMED_RU_RZ(name)  NAMED_RZ(name) FROM_F32(name, _ru) FROM_F32(name, _ru_sat)
#define NAMED(name, NAME, SPECIALS, ROUNDINGS, ...) NAMED_##ROUNDINGS(name)
MAIN_FORMATS(NAMED)
OTHER_FORMATS(NAMED)
#undef NAMED
#undef NAMED_RU_RZ
#undef NAMED_RZ_RNA
#undef NAMED_RZ
#undef NAMED_NONE
#undef FROM_F32
#undef FROM_F64
#undef FROM_F32_RANDOM

/* f32 is a target for doubles alone, and its values are floats, not codes in a struct. */
static inline double f32_to_f64(uint32_t bits) { return mpnum_f32_to_f64(float_of(bits)); }
/* clang-format on */
static inline uint32_t f64_to_f32(double x, uint32_t random) {
  (void)random;
  return bits_of_float(mpnum_f64_to_f32(x));
}
static inline uint32_t f64_to_f32_sat(double x, uint32_t random) {
  (void)random;
  return bits_of_float(mpnum_f64_to_f32_sat(x));
}
static inline uint32_t f64_to_f32_round(double x, mpnum_rounding rounding,
                                        mpnum_overflow overflow, uint32_t random) {
  return bits_of_float(mpnum_f64_to_f32_round(x, rounding, overflow, random));
}

#define NONE \
 { NULL, NULL }
#define PAIR(function) \
 { function, function##_sat }
#define SAT(function) \
 { NULL, function##_sat }
/* Columns: nearest even, toward zero, up, down, nearest away, to odd, stochastic. */
#define TYPE(name, NAME, NEAREST, ...)                                      \
 {#name,                                                                    \
  MPNUM_TYPE_##NAME,                                                        \
  {NEAREST(f32_to_##name), __VA_ARGS__, NONE, NEAREST(f32_to_##name##_sr)}, \
  {NEAREST(f64_to_##name), NONE, NONE, NONE, NONE, NONE, NONE},             \
  f32_to_##name##_round,                                                    \
  f64_to_##name##_round,                                                    \
  name##_to_f32,                                                            \
  name##_to_f64},
#define ROUNDS_IEEE   PAIR
#define ROUNDS_FN     PAIR
#define ROUNDS_FNUZ   PAIR
#define ROUNDS_E8M0   PAIR
#define ROUNDS_FINITE SAT
/* Toward zero, up, down and nearest away. */
#define NAMED_NONE(name)   NONE, NONE, NONE, NONE
#define NAMED_RZ(name)     PAIR(f32_to_##name##_rz), NONE, NONE, NONE
#define NAMED_RZ_RNA(name) PAIR(f32_to_##name##_rz), NONE, NONE, PAIR(f32_to_##name##_rna)
#define NAMED_RU_RZ(name)  PAIR(f32_to_##name##_rz), PAIR(f32_to_##name##_ru), NONE, NONE
#define TYPE_ROW(name, NAME, SPECIALS, ROUNDINGS, ...) \
 TYPE(name, NAME, ROUNDS_##SPECIALS, NAMED_##ROUNDINGS(name))
static const conversion_type conversion_types[] = {
    MAIN_FORMATS(TYPE_ROW) OTHER_FORMATS(TYPE_ROW) /* and f32: */
    {"f32",
     MPNUM_TYPE_F32,
     {NONE, NONE, NONE, NONE, NONE, NONE, NONE},
     {PAIR(f64_to_f32), NONE, NONE, NONE, NONE, NONE, NONE},
     NULL,
     f64_to_f32_round,
     float_of,
     f32_to_f64},
};
#undef TYPE_ROW
#undef NAMED_RU_RZ
#undef NAMED_RZ_RNA
#undef NAMED_RZ
#undef NAMED_NONE
#undef ROUNDS_FINITE
#undef ROUNDS_E8M0
#undef ROUNDS_FNUZ
#undef ROUNDS_FN
#undef ROUNDS_IEEE
#undef TYPE
#undef SAT
#undef PAIR
#undef NONE

#define CONVERSION_TYPES (sizeof conversion_types / sizeof conversion_types[0])

#endif
