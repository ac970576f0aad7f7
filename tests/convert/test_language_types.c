/* SPDX-License-Identifier: MIT */
/* The compiler's own 16-bit types against the codes of mpnum: every code both ways, and
 * values as the compiler converts them. C and C++. */
#include <mpnum/array/array.h>
#include <mpnum/types/language_types.h>

#include "../harness/tap.h"

#include <string.h>

#if defined(__cplusplus) && __cplusplus > 202002L && defined(__has_include)
# if __has_include(<stdfloat>)
#  include <stdfloat>
#  include <type_traits>
# endif
#endif

/* Of clang before 17 and gcc before 13 __bf16 has no arithmetic and no conversions. */
#if defined(__clang__)
# define CONVERTS_BFLOAT16 (__clang_major__ >= 17)
#else
# define CONVERTS_BFLOAT16 (__GNUC__ >= 13)
#endif

#if MPNUM_HAS_FLOAT16
__extension__ typedef _Float16 float16;

static void every_float16_keeps_its_bits(void) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const float16 x = mpnum_to_float16(mpnum_from_bits_f16(code));
    uint16_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    CHECK(bits == code, "%04x became %04x", (unsigned)code, (unsigned)bits);
    CHECK(mpnum_from_float16(x).bits == code, "%04x and back", (unsigned)code);
  }
}
static void float16_has_the_values_of_f16(void) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const mpnum_f16 ours = mpnum_from_bits_f16(code);
    const float theirs = (float)mpnum_to_float16(ours);
    if (mpnum_isnan_f16(ours)) {
      CHECK(mpnum_isnan_f32(theirs), "%04x is NaN", (unsigned)code);
    } else {
      CHECK(mpnum_bits_f32(theirs) == mpnum_bits_f32(mpnum_f16_to_f32(ours)), "%04x: %g",
            (unsigned)code, (double)theirs);
      CHECK(mpnum_from_float16((float16)mpnum_f16_to_f32(ours)).bits == code, "%04x",
            (unsigned)code);
    }
  }
}
static void arrays_of_float16_are_taken_by_a_cast(void) {
  const float16 halves[3] = {(float16)1.5f, (float16)-2.0f, (float16)65504.0f};
  float values[3] = {0};
  mpnum_f16_to_f32_array(values, (const mpnum_f16 *)(const void *)halves, 3);
  CHECK(values[0] == 1.5f && values[1] == -2.0f && values[2] == 65504.0f, "%g %g %g",
        (double)values[0], (double)values[1], (double)values[2]);
}
#endif

#if MPNUM_HAS_BFLOAT16
__extension__ typedef __bf16 bfloat16;

static void every_bfloat16_keeps_its_bits(void) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const bfloat16 x = mpnum_to_bfloat16(mpnum_from_bits_bf16(code));
    uint16_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    CHECK(bits == code, "%04x became %04x", (unsigned)code, (unsigned)bits);
    CHECK(mpnum_from_bfloat16(x).bits == code, "%04x and back", (unsigned)code);
  }
}
# if CONVERTS_BFLOAT16
static void bfloat16_has_the_values_of_bf16(void) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const mpnum_bf16 ours = mpnum_from_bits_bf16(code);
    const float theirs = (float)mpnum_to_bfloat16(ours);
    if (mpnum_isnan_bf16(ours)) {
      CHECK(mpnum_isnan_f32(theirs), "%04x is NaN", (unsigned)code);
    } else {
      CHECK(mpnum_bits_f32(theirs) == code << 16, "%04x: %g", (unsigned)code,
            (double)theirs);
    }
  }
}
# endif
#endif

#if defined(__cplusplus) && MPNUM_HAS_CONSTEXPR
# if MPNUM_HAS_FLOAT16
static_assert(mpnum_from_float16(mpnum_to_float16(mpnum_f32_to_f16(1.5f))).bits == 0x3e00,
              "a constant expression");
# endif
# if MPNUM_HAS_BFLOAT16
static_assert(mpnum_from_bfloat16(mpnum_to_bfloat16(mpnum_f32_to_bf16(1.5f))).bits ==
                  0x3fc0,
              "a constant expression");
# endif
#endif

#if defined(__STDCPP_FLOAT16_T__)
static void float16_is_that_of_the_standard(void) {
  static_assert(std::is_same<std::float16_t, float16>::value, "std::float16_t");
  const mpnum_f16 code = mpnum_from_float16(std::float16_t(-0.375f));
  CHECK(code.bits == 0xb600, "%04x", (unsigned)code.bits);
}
#endif
#if defined(__STDCPP_BFLOAT16_T__)
static void bfloat16_is_that_of_the_standard(void) {
  static_assert(std::is_same<std::bfloat16_t, bfloat16>::value, "std::bfloat16_t");
  const mpnum_bf16 code = mpnum_from_bfloat16(std::bfloat16_t(-0.375f));
  CHECK(code.bits == 0xbec0, "%04x", (unsigned)code.bits);
}
#endif

int main(void) {
#if MPNUM_HAS_FLOAT16
  TAP_RUN(every_float16_keeps_its_bits);
  TAP_RUN(float16_has_the_values_of_f16);
  TAP_RUN(arrays_of_float16_are_taken_by_a_cast);
#else
  TAP_SKIP("every_float16_keeps_its_bits", "this compiler has no _Float16 here");
#endif
#if MPNUM_HAS_BFLOAT16
  TAP_RUN(every_bfloat16_keeps_its_bits);
# if CONVERTS_BFLOAT16
  TAP_RUN(bfloat16_has_the_values_of_bf16);
# else
  TAP_SKIP("bfloat16_has_the_values_of_bf16", "__bf16 has no conversions here");
# endif
#else
  TAP_SKIP("every_bfloat16_keeps_its_bits", "this compiler has no __bf16 here");
#endif
#if defined(__STDCPP_FLOAT16_T__)
  TAP_RUN(float16_is_that_of_the_standard);
#else
  TAP_SKIP("float16_is_that_of_the_standard", "no std::float16_t here");
#endif
#if defined(__STDCPP_BFLOAT16_T__)
  TAP_RUN(bfloat16_is_that_of_the_standard);
#else
  TAP_SKIP("bfloat16_is_that_of_the_standard", "no std::bfloat16_t here");
#endif
  return tap_done();
}
