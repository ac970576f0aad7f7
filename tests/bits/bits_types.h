/* SPDX-License-Identifier: MIT */
/* For bits.c: a line for each function of one small type. */
#ifndef MPNUM_TESTS_BITS_TYPES_H
#define MPNUM_TESTS_BITS_TYPES_H

#include "../convert/format_lists.h"
#include "bits_inputs.h"

/* Functions that every small type has. */
#define EVERY_TYPE(name, NAME)                                  \
 HASH(mpnum_from_bits_##name, FOR_PAIRS, put(LEFT(name).bits)); \
 HASH(mpnum_f32_to_##name##_round, FOR_ROUND(f32_edges),        \
      put(mpnum_f32_to_##name##_round(f32_at(i), MODE).bits));  \
 HASH(mpnum_f32_to_##name##_sat, FOR_F32,                       \
      put(mpnum_f32_to_##name##_sat(f32_at(i)).bits));          \
 HASH(mpnum_##name##_to_f32, FOR_CODES(name),                   \
      put_f32(mpnum_##name##_to_f32(CODE(name))));              \
 CONSTANT(MPNUM_TYPE_##NAME, put_int)                           \
 CONSTANT(MPNUM_##NAME##_MAX, put_f32)

/* What the main ones have beside them. */
#define MAIN_TYPE(name, NAME)                                         \
 HASH(mpnum_f64_to_##name##_round, FOR_ROUND(f64_edges),              \
      put(mpnum_f64_to_##name##_round(f64_at(i), MODE).bits));        \
 HASH(mpnum_f64_to_##name##_sat, FOR_F64,                             \
      put(mpnum_f64_to_##name##_sat(f64_at(i)).bits));                \
 HASH(mpnum_f32_to_##name##_sr_sat, FOR_F32,                          \
      put(mpnum_f32_to_##name##_sr_sat(f32_at(i), word_at(i)).bits)); \
 HASH(mpnum_##name##_to_f64, FOR_CODES(name),                         \
      put_f64(mpnum_##name##_to_f64(CODE(name))));                    \
 CONSTANT(MPNUM_##NAME##_MIN, put_f32)                                \
 CONSTANT(MPNUM_##NAME##_TRUE_MIN, put_f32)                           \
 CONSTANT(MPNUM_##NAME##_EPSILON, put_f32)
#define QUERIES(name)                                                                \
 HASH(mpnum_isnan_##name, FOR_CODES(name), put_int(mpnum_isnan_##name(CODE(name)))); \
 HASH(mpnum_isinf_##name, FOR_CODES(name), put_int(mpnum_isinf_##name(CODE(name)))); \
 HASH(mpnum_isfinite_##name, FOR_CODES(name),                                        \
      put_int(mpnum_isfinite_##name(CODE(name))));                                   \
 HASH(mpnum_next_up_##name, FOR_CODES(name),                                         \
      put(mpnum_next_up_##name(CODE(name)).bits));                                   \
 HASH(mpnum_next_down_##name, FOR_CODES(name),                                       \
      put(mpnum_next_down_##name(CODE(name)).bits));                                 \
 HASH(mpnum_ulp_##name, FOR_CODES(name), put_f32(mpnum_ulp_##name(CODE(name))));

/* Functions of types in which an overflow can give Inf or NaN. */
#define OVERFLOWING_TYPE(name) \
 HASH(mpnum_f32_to_##name, FOR_F32, put(mpnum_f32_to_##name(f32_at(i)).bits));
#define TYPE_IEEE(name)   OVERFLOWING_TYPE(name)
#define TYPE_FN(name)     OVERFLOWING_TYPE(name)
#define TYPE_FNUZ(name)   OVERFLOWING_TYPE(name)
#define TYPE_E8M0(name)   OVERFLOWING_TYPE(name)
#define TYPE_FINITE(name) /* _sat names only */
#define OVERFLOWING_MAIN_TYPE(name)                                            \
 HASH(mpnum_f64_to_##name, FOR_F64, put(mpnum_f64_to_##name(f64_at(i)).bits)); \
 HASH(mpnum_f32_to_##name##_sr, FOR_F32,                                       \
      put(mpnum_f32_to_##name##_sr(f32_at(i), word_at(i)).bits));
#define MAIN(name, NAME) MAIN_TYPE(name, NAME) OVERFLOWING_MAIN_TYPE(name)
#define MAIN_tf32        MAIN(tf32, TF32)
#define MAIN_bf16        MAIN(bf16, BF16) QUERIES(bf16)
#define MAIN_f16         MAIN(f16, F16) QUERIES(f16)
#define MAIN_e5m2        MAIN(e5m2, E5M2) QUERIES(e5m2)
#define MAIN_e4m3        MAIN(e4m3, E4M3) QUERIES(e4m3)

/* A rounding mode with names of its own. */
#define ROUNDED_TYPE(name, mode)                          \
 HASH(mpnum_f32_to_##name##_##mode, FOR_F32,              \
      put(mpnum_f32_to_##name##_##mode(f32_at(i)).bits)); \
 HASH(mpnum_f32_to_##name##_##mode##_sat, FOR_F32,        \
      put(mpnum_f32_to_##name##_##mode##_sat(f32_at(i)).bits));

#define MODES_NONE(name)
#define MODES_RZ(name)     ROUNDED_TYPE(name, rz)
#define MODES_RZ_RNA(name) ROUNDED_TYPE(name, rz) ROUNDED_TYPE(name, rna)
#define MODES_RU_RZ(name)  ROUNDED_TYPE(name, ru) ROUNDED_TYPE(name, rz)

/* Packed forms. The word of four is their bits, or their bytes, the first one lowest. */
#define FOUR_IN_WORD(name) \
 static uint32_t word_##name(mpnum_##name##x4 four) { return four.bits; }
#define FOUR_IN_BYTES(name)                                                            \
 static uint32_t word_##name(mpnum_##name##x4 four) {                                  \
  return four.bytes[0] | (uint32_t)four.bytes[1] << 8 | (uint32_t)four.bytes[2] << 16; \
 }
/* Two and four codes of any kind in one. */
#define PACK_X2(name) pair_##name(i)
#define PACK_X4(name)                                                                \
 mpnum_pack_##name##_x4(LEFT(name), RIGHT(name), mpnum_from_bits_##name(word_at(i)), \
                        mpnum_from_bits_##name((uint32_t)mix(i)))
#define PAIR(name)                                        \
 static mpnum_##name##x2 pair_##name(uint32_t i) {        \
  return mpnum_pack_##name##_x2(LEFT(name), RIGHT(name)); \
 }
#define PACK_OF_NONE(name)
#define PACK_OF_PAIRS(name)                              PAIR(name)
#define PACK_OF_FOURS(name)                              PAIR(name) FOUR_IN_WORD(name)
#define PACK_OF_BYTES(name)                              PAIR(name) FOUR_IN_BYTES(name)
#define PACK_OF(name, NAME, SPECIALS, ROUNDINGS, PACKED) PACK_OF_##PACKED(name)
MAIN_FORMATS(PACK_OF)
OTHER_FORMATS(PACK_OF)

#define PACKED_X2(name)                                            \
 HASH(mpnum_pack_##name##_x2, FOR_PAIRS, put(PACK_X2(name).bits)); \
 HASH(mpnum_unpack_##name##_x2, FOR_PAIRS,                         \
      put(mpnum_unpack_##name##_x2(PACK_X2(name), i & 1).bits));   \
 HASH(mpnum_##name##_to_f32_x2, FOR_PAIRS,                         \
      put_f32x2(mpnum_##name##_to_f32_x2(PACK_X2(name))));
#define PACKED_X4(name)                                                        \
 HASH(mpnum_pack_##name##_x4, FOR_PAIRS, put(word_##name(PACK_X4(name))));     \
 HASH(mpnum_unpack_##name##_x4, FOR_PAIRS,                                     \
      put(mpnum_unpack_##name##_x4(PACK_X4(name), (int)(mix(i) >> 62)).bits)); \
 HASH(mpnum_##name##_to_f32_x4, FOR_PAIRS,                                     \
      put_f32x4(mpnum_##name##_to_f32_x4(PACK_X4(name))));
#define TO_X2(name, mode)                          \
 HASH(mpnum_f32_to_##name##mode##x2, FOR_SOME_F32, \
      put(mpnum_f32_to_##name##mode##x2(f32_at(i), f32_at(i + 3)).bits));
#define TO_X4(name, mode)                                                     \
 HASH(mpnum_f32_to_##name##mode##x4, FOR_SOME_F32,                            \
      put(word_##name(mpnum_f32_to_##name##mode##x4(f32_at(i), f32_at(i + 1), \
                                                    f32_at(i + 2), f32_at(i + 3)))));
#define PACKED_ALL(name) \
 PACKED_X2(name)         \
 TO_X2(name, _) TO_X2(name, _sat_) PACKED_X4(name) TO_X4(name, _) TO_X4(name, _sat_)
#define PACKED_SAT(name) \
 PACKED_X2(name) TO_X2(name, _sat_) PACKED_X4(name) TO_X4(name, _sat_)

#define F16_PAIRS(name)                                      \
 HASH(mpnum_f16_to_##name##_x2, FOR_PAIRS,                   \
      put(mpnum_f16_to_##name##_x2(PACK_X2(f16)).bits));     \
 HASH(mpnum_f16_to_##name##_sat_x2, FOR_PAIRS,               \
      put(mpnum_f16_to_##name##_sat_x2(PACK_X2(f16)).bits)); \
 HASH(mpnum_##name##_to_f16_x2, FOR_PAIRS,                   \
      put(mpnum_##name##_to_f16_x2(PACK_X2(name)).bits));

/* By packed forms and special values. */
#define PACKED_PAIRS_IEEE(name) PACKED_X2(name) TO_X2(name, _) TO_X2(name, _sat_)
#define PACKED_FOURS_IEEE(name) PACKED_ALL(name) F16_PAIRS(name)
#define PACKED_FOURS_FN(name)   PACKED_ALL(name) F16_PAIRS(name)
#define PACKED_PAIRS_E8M0(name) \
 PACKED_X2(name) TO_X2(name, _ru_sat_) TO_X2(name, _rz_sat_)
#define PACKED_FOURS_FINITE(name) PACKED_SAT(name)
#define PACKED_BYTES_FINITE(name) PACKED_SAT(name)
#define PACKED_NONE_IEEE(name)
#define PACKED_NONE_FN(name)
#define PACKED_NONE_FNUZ(name)
#define PACKED_NONE_E8M0(name)
#define PACKED_NONE_FINITE(name)

#define TYPE_FUNCTION(name, NAME, main, SPECIALS, ROUNDINGS, PACKED)                    \
 static void print_##name(void) {                                                       \
  const mpnum_format format = mpnum_format_of(MPNUM_TYPE_##NAME);                       \
  collect(format.exponent_bits, format.mantissa_bits, format.bias);                     \
  EVERY_TYPE(name, NAME)                                                                \
  main TYPE_##SPECIALS(name) MODES_##ROUNDINGS(name) PACKED_##PACKED##_##SPECIALS(name) \
 }
#define MAIN_FUNCTION(name, NAME, SPECIALS, ROUNDINGS, PACKED) \
 TYPE_FUNCTION(name, NAME, MAIN_##name, SPECIALS, ROUNDINGS, PACKED)
#define OTHER_FUNCTION(name, NAME, SPECIALS, ROUNDINGS, PACKED) \
 TYPE_FUNCTION(name, NAME, , SPECIALS, ROUNDINGS, PACKED)
#define TYPE_FUNCTIONS MAIN_FORMATS(MAIN_FUNCTION) OTHER_FORMATS(OTHER_FUNCTION)

#endif
