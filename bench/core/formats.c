/* SPDX-License-Identifier: MIT */
#include "formats.h"

#include "message.h"

#include <string.h>

#include <mpnum/mpnum.h>

bool formats_force_isa(int isa) { return mpnum_isa_force((mpnum_isa)isa) == MPNUM_OK; }

/* Formats without Inf and NaN have no array functions of their own but packed ones. */
#define NARROW_IEEE(name, NAME, dst, src, count) \
 mpnum_f32_to_##name##_sat_array(dst, src, count)
#define WIDEN_IEEE(name, NAME, dst, src, count) \
 mpnum_##name##_to_f32_array(dst, src, count)
#define NARROW_FN   NARROW_IEEE
#define WIDEN_FN    WIDEN_IEEE
#define NARROW_FNUZ NARROW_IEEE
#define WIDEN_FNUZ  WIDEN_IEEE
#define NARROW_E8M0 NARROW_IEEE
#define WIDEN_E8M0  WIDEN_IEEE
#define NARROW_FINITE(name, NAME, dst, src, count)                            \
 must(mpnum_convert_array(MPNUM_TYPE_##NAME, dst, MPNUM_TYPE_F32, src, count, \
                          MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0, 0))
#define WIDEN_FINITE(name, NAME, dst, src, count)                             \
 must(mpnum_convert_array(MPNUM_TYPE_F32, dst, MPNUM_TYPE_##NAME, src, count, \
                          MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0, 0))
#define FORMAT_LOOPS(name, NAME, sign_bits, exponent_bits, mantissa_bits, bias,   \
                     specials, nan)                                               \
 static void round_trip_##name(double *dst, const double *src, size_t count) {    \
  size_t i;                                                                       \
  for (i = 0; i < count; ++i)                                                     \
   dst[i] = mpnum_decode_f64(mpnum_format_of(MPNUM_TYPE_##NAME),                  \
                             mpnum_encode_f64(mpnum_format_of(MPNUM_TYPE_##NAME), \
                                              src[i], MPNUM_ROUND_NEAREST_EVEN,   \
                                              MPNUM_OVERFLOW_SATURATE, 0));       \
 }                                                                                \
 static void encode_##name(void *dst, const void *src, size_t count) {            \
  NARROW_##specials(name, NAME, dst, src, count);                                 \
 }                                                                                \
 static void decode_##name(void *dst, const void *src, size_t count) {            \
  WIDEN_##specials(name, NAME, dst, src, count);                                  \
 }

MPNUM_FORMATS(FORMAT_LOOPS)
#undef FORMAT_LOOPS
#undef WIDEN_FINITE
#undef NARROW_FINITE
#undef WIDEN_E8M0
#undef NARROW_E8M0
#undef WIDEN_FNUZ
#undef NARROW_FNUZ
#undef WIDEN_FN
#undef NARROW_FN
#undef WIDEN_IEEE
#undef NARROW_IEEE

#define FORMAT_ENTRY(name, NAME, sign_bits, exponent_bits, mantissa_bits, bias, \
                     specials, nan)                                             \
 {MPNUM_TYPE_##NAME, sizeof(mpnum_##name), round_trip_##name, encode_##name,    \
  decode_##name},

const bench_format bench_formats[FORMAT_COUNT] = {MPNUM_FORMATS(FORMAT_ENTRY)};
#undef FORMAT_ENTRY

unsigned format_bits(mpnum_format format) {
  return (unsigned)(format.sign_bits + format.exponent_bits + format.mantissa_bits);
}

void random_codes(const bench_format *format, void *dst, size_t count) {
  mpnum_format descriptor = mpnum_format_of(format->type);
  uint32_t mask = (UINT32_C(1) << format_bits(descriptor)) - 1;
  unsigned char *to = dst;
  for (size_t i = 0; i < count; ++i) {
    uint32_t code = mpnum_random(1, i) & mask;
    uint8_t narrow = (uint8_t)code;
    uint16_t middle = (uint16_t)code;
    uint32_t wide = code << descriptor.storage_shift;
    const void *from = format->storage_size == 1   ? (const void *)&narrow
                       : format->storage_size == 2 ? (const void *)&middle
                                                   : (const void *)&wide;
    memcpy(to + i * format->storage_size, from, format->storage_size);
  }
}
