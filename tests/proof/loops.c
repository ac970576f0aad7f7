/* SPDX-License-Identifier: MIT */
/* What the loops of arrays do to one float whose format is numbers in registers: their
 * steps, taken from vector.inc (steps.inc, which the test writes), of vectors of one lane
 * and operations as every ISA has them. */
#include "core.c"
#undef MPNUM_HOST_ONCE_ /* all is one function */
#undef MPNUM_HOST_COLD_
#define MPNUM_HOST_ONCE_ MPNUM_INLINE
#define MPNUM_HOST_COLD_ MPNUM_INLINE
#include <mpnum/simd/detail/codings.h>

#define MPNUM_VECTOR_ static inline
typedef uint32_t mpnumv_vector;
typedef int mpnumv_mask;
MPNUM_VECTOR_ uint32_t mpnumv_splat(uint32_t x) { return x; }
MPNUM_VECTOR_ uint32_t mpnumv_min(uint32_t a, uint32_t b) { return a < b ? a : b; }
MPNUM_VECTOR_ uint32_t mpnumv_max(uint32_t a, uint32_t b) { return a > b ? a : b; }
MPNUM_VECTOR_ int mpnumv_greater(uint32_t a, uint32_t b) { return (int)a > (int)b; }
MPNUM_VECTOR_ int mpnumv_less(uint32_t a, uint32_t b) { return a < b; }
MPNUM_VECTOR_ int mpnumv_equal(uint32_t a, uint32_t b) { return a == b; }
MPNUM_VECTOR_ int mpnumv_is_nan(uint32_t x) { return (x & 0x7fffffffu) > 0x7f800000u; }
MPNUM_VECTOR_ uint32_t mpnumv_select(int mask, uint32_t a, uint32_t b) {
  return mask ? a : b;
}
MPNUM_VECTOR_ uint32_t mpnumv_shl(uint32_t x, uint32_t count) {
  return count < 32 ? x << count : 0;
}
MPNUM_VECTOR_ uint32_t mpnumv_shr(uint32_t x, uint32_t count) {
  return count < 32 ? x >> count : 0;
}
MPNUM_VECTOR_ uint32_t mpnumv_shl_by(uint32_t x, int count) { return x << count; }
MPNUM_VECTOR_ uint32_t mpnumv_shr_by(uint32_t x, int count) { return x >> count; }
#include "steps.inc"

/* is_bounded: another float of the vector is past the largest value. */
uint32_t loop_f32(FORMAT, uint32_t x, RULES, uint32_t is_bounded) {
  const mpnum_any_encoding_ any =
      mpnum_any_encoding_of_(make(s, e, m, bias, specials, nan, policy),
                             (mpnum_rounding)rounding, (mpnum_overflow)overflow);
  const uint32_t code =
      mpnumv_rounded_magnitude(&any, x & 0x7fffffffu, mpnumv_sign_mask(x), random);
  return (is_bounded || code > any.max_code ? mpnumv_bounded(&any, x, code)
                                            : mpnumv_with_sign(&any, x, code))
         << any.storage_shift;
}

uint32_t cut_f32(FORMAT, uint32_t x, RULES) {
  const mpnum_any_encoding_ any =
      mpnum_any_encoding_of_(make(s, e, m, bias, specials, nan, policy),
                             (mpnum_rounding)rounding, (mpnum_overflow)overflow);
  const uint32_t magnitude = x & 0x7fffffffu;
  if (!any.has_cut || (magnitude && magnitude < any.least) || magnitude > any.most)
    return encode_f32(s, e, m, bias, specials, nan, policy, x, rounding, overflow,
                      random);
  return mpnumv_with_sign(&any, x, mpnumv_cut_magnitude(&any, magnitude, random))
         << any.storage_shift;
}
