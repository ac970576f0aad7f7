/* SPDX-License-Identifier: MIT */
/* What formats do by the functions that take a format, under the names that these have,
 * or would have, for one type, so that a test has one body for all. */
#ifndef MPNUM_TESTS_GENERIC_FORMS_H
#define MPNUM_TESTS_GENERIC_FORMS_H

#include "format_lists.h"

#include <mpnum/mpnum.h>

#define FORM_OF(NAME) mpnum_format_of(MPNUM_TYPE_##NAME)
#define FORM_CLASS(name, NAME, query)                      \
 MPNUM_INLINE int mpnum_##query##_##name(mpnum_##name x) { \
  return mpnum_##query(FORM_OF(NAME), x.bits);             \
 }
#define FORM_STEP(name, NAME, query)                                   \
 MPNUM_INLINE mpnum_##name mpnum_##query##_##name(mpnum_##name x) {    \
  return mpnum_from_bits_##name(mpnum_##query(FORM_OF(NAME), x.bits)); \
 }
#define FORM_PAIR(name, NAME, query, result)                                  \
 MPNUM_INLINE result mpnum_##query##_##name(mpnum_##name a, mpnum_##name b) { \
  return mpnum_##query(FORM_OF(NAME), a.bits, b.bits);                        \
 }
#define FORM_ROUNDED(name, suffix, OVERFLOW)                                            \
 MPNUM_INLINE mpnum_##name mpnum_f64_to_##name##suffix(double x) {                      \
  return mpnum_f64_to_##name##_round(x, MPNUM_ROUND_NEAREST_EVEN,                       \
                                     MPNUM_OVERFLOW_##OVERFLOW, 0);                     \
 }                                                                                      \
 MPNUM_INLINE mpnum_##name mpnum_f32_to_##name##_sr##suffix(float x, uint32_t random) { \
  return mpnum_f32_to_##name##_round(x, MPNUM_ROUND_STOCHASTIC,                         \
                                     MPNUM_OVERFLOW_##OVERFLOW, random);                \
 }
#define FORM_PLAIN_IEEE(name)   FORM_ROUNDED(name, , IEEE)
#define FORM_PLAIN_FN(name)     FORM_ROUNDED(name, , IEEE)
#define FORM_PLAIN_FNUZ(name)   FORM_ROUNDED(name, , IEEE)
#define FORM_PLAIN_E8M0(name)   FORM_ROUNDED(name, , IEEE)
#define FORM_PLAIN_FINITE(name) /* _sat names only */
#define FORMS(name, NAME, SPECIALS, ...)                                            \
 MPNUM_INLINE mpnum_##name mpnum_f64_to_##name##_round(                             \
     double x, mpnum_rounding rounding, mpnum_overflow overflow, uint32_t random) { \
  return mpnum_from_bits_##name(                                                    \
      mpnum_encode_f64(FORM_OF(NAME), x, rounding, overflow, random));              \
 }                                                                                  \
 MPNUM_INLINE double mpnum_##name##_to_f64(mpnum_##name x) {                        \
  return mpnum_decode_f64(FORM_OF(NAME), x.bits);                                   \
 }                                                                                  \
 FORM_ROUNDED(name, _sat, SATURATE)                                                 \
 FORM_PLAIN_##SPECIALS(name)
#define QUERIES(name, NAME, SPECIALS, ...)             \
 FORM_CLASS(name, NAME, isnan)                         \
 FORM_CLASS(name, NAME, isinf)                         \
 FORM_CLASS(name, NAME, isfinite)                      \
 FORM_STEP(name, NAME, next_up)                        \
 FORM_STEP(name, NAME, next_down)                      \
 MPNUM_INLINE float mpnum_ulp_##name(mpnum_##name x) { \
  return mpnum_ulp(FORM_OF(NAME), x.bits);             \
 }
/* Which no type has. */
#define MORE_QUERIES(name, NAME, SPECIALS, ...) \
 FORM_CLASS(name, NAME, isnormal)               \
 FORM_CLASS(name, NAME, issubnormal)            \
 FORM_CLASS(name, NAME, iszero)                 \
 FORM_CLASS(name, NAME, signbit)                \
 FORM_PAIR(name, NAME, ulp_distance, uint32_t)  \
 FORM_PAIR(name, NAME, compare, int)            \
 FORM_PAIR(name, NAME, total_order, int)
OTHER_FORMATS(FORMS)
OTHER_FORMATS(QUERIES)
QUERIES(tf32, TF32, IEEE, RZ_RNA, NONE)
MAIN_FORMATS(MORE_QUERIES)
OTHER_FORMATS(MORE_QUERIES)
#undef MORE_QUERIES
#undef QUERIES
#undef FORMS
#undef FORM_PLAIN_FINITE
#undef FORM_PLAIN_E8M0
#undef FORM_PLAIN_FNUZ
#undef FORM_PLAIN_FN
#undef FORM_PLAIN_IEEE
#undef FORM_ROUNDED
#undef FORM_PAIR
#undef FORM_STEP
#undef FORM_CLASS
#undef FORM_OF

#endif
