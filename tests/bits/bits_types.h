/* SPDX-License-Identifier: MIT */
/* For bits.c: a line for each function of one small type. */
#ifndef MPNUM_TESTS_BITS_TYPES_H
#define MPNUM_TESTS_BITS_TYPES_H

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
#define MAIN_e5m2fnuz
#define MAIN_e4m3fnuz
#define MAIN_e3m4
#define MAIN_e8m0
#define MAIN_e3m2
#define MAIN_e2m3
#define MAIN_e2m1

/* A rounding mode with names of its own. */
#define ROUNDED_TYPE(name, mode)                          \
 HASH(mpnum_f32_to_##name##_##mode, FOR_F32,              \
      put(mpnum_f32_to_##name##_##mode(f32_at(i)).bits)); \
 HASH(mpnum_f32_to_##name##_##mode##_sat, FOR_F32,        \
      put(mpnum_f32_to_##name##_##mode##_sat(f32_at(i)).bits));

#define MODES_tf32 ROUNDED_TYPE(tf32, rz) ROUNDED_TYPE(tf32, rna)
#define MODES_bf16 ROUNDED_TYPE(bf16, rz)
#define MODES_f16  ROUNDED_TYPE(f16, rz)
#define MODES_e5m2
#define MODES_e4m3
#define MODES_e5m2fnuz
#define MODES_e4m3fnuz
#define MODES_e3m4
#define MODES_e8m0 ROUNDED_TYPE(e8m0, ru) ROUNDED_TYPE(e8m0, rz)
#define MODES_e3m2
#define MODES_e2m3
#define MODES_e2m1

/* Packed forms. The word of four is their bits, or their bytes, the first one lowest. */
#define FOUR_IN_WORD(name) \
 static uint32_t word_##name(mpnum_##name##x4 four) { return four.bits; }
#define FOUR_IN_BYTES(name)                                                            \
 static uint32_t word_##name(mpnum_##name##x4 four) {                                  \
  return four.bytes[0] | (uint32_t)four.bytes[1] << 8 | (uint32_t)four.bytes[2] << 16; \
 }
FOUR_IN_WORD(e5m2)
FOUR_IN_WORD(e4m3)
FOUR_IN_BYTES(e3m2)
FOUR_IN_BYTES(e2m3)
FOUR_IN_WORD(e2m1)

/* Two and four codes of any kind in one. */
#define PACK_X2(name) pair_##name(i)
#define PACK_X4(name)                                                                \
 mpnum_pack_##name##_x4(LEFT(name), RIGHT(name), mpnum_from_bits_##name(word_at(i)), \
                        mpnum_from_bits_##name((uint32_t)mix(i)))
#define PAIR(name)                                        \
 static mpnum_##name##x2 pair_##name(uint32_t i) {        \
  return mpnum_pack_##name##_x2(LEFT(name), RIGHT(name)); \
 }
PAIR(bf16)
PAIR(f16)
PAIR(e5m2)
PAIR(e4m3)
PAIR(e8m0)
PAIR(e3m2)
PAIR(e2m3)
PAIR(e2m1)

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

#define PACKED_tf32
#define PACKED_bf16 PACKED_X2(bf16) TO_X2(bf16, _) TO_X2(bf16, _sat_)
#define PACKED_f16  PACKED_X2(f16) TO_X2(f16, _) TO_X2(f16, _sat_)
#define PACKED_e5m2 PACKED_ALL(e5m2) F16_PAIRS(e5m2)
#define PACKED_e4m3 PACKED_ALL(e4m3) F16_PAIRS(e4m3)
#define PACKED_e5m2fnuz
#define PACKED_e4m3fnuz
#define PACKED_e3m4
#define PACKED_e8m0 PACKED_X2(e8m0) TO_X2(e8m0, _ru_sat_) TO_X2(e8m0, _rz_sat_)
#define PACKED_e3m2 PACKED_SAT(e3m2)
#define PACKED_e2m3 PACKED_SAT(e2m3)
#define PACKED_e2m1 PACKED_SAT(e2m1)

#define TYPE_FUNCTIONS(name, NAME, sign_bits, exponent_bits, mantissa_bits, bias, \
                       specials, nan)                                             \
 static void print_##name(void) {                                                 \
  collect(exponent_bits, mantissa_bits, bias);                                    \
  EVERY_TYPE(name, NAME)                                                          \
  MAIN_##name TYPE_##specials(name) MODES_##name PACKED_##name                    \
 }

#endif
