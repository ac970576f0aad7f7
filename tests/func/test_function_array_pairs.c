/* SPDX-License-Identifier: MIT */
/* The functions of func_array.h with two sources, with every instruction set: each
 * element is that of the scalar function, whatever the length, also in place of either
 * source. Of those with one, special codes alone. */
#include "../array/array_checks.h"

#include <mpnum/func/func_array.h>

#include <stdlib.h>
#include <string.h>

enum { MOST = 3000 };
static float a32[MOST], b32[MOST], got32[MOST];
static mpnum_f16 a16[MOST], b16[MOST], got16[MOST];
static mpnum_bf16 ab[MOST], bb[MOST], gotb[MOST];
/* What each function has to give. */
typedef struct wanted_results {
  float f32[MOST];
  mpnum_f16 f16[MOST];
  mpnum_bf16 bf16[MOST];
} wanted_results;
#define DECLARE(name, ...) static wanted_results want_##name;
MPNUM_FUNCTION_ROWS_OF_TWO_(DECLARE)

mpnum_status force_isa(mpnum_isa isa) { return mpnum_isa_force(isa); }
mpnum_isa isa_in_use(void) { return mpnum_isa_in_use(); }

/* Floats of any kind: every exponent, Inf, NaN, zeros; pairs near each other and far. */
static void make_inputs(void) {
  static const float special[] = {0.0f,  -0.0f,   1.0f,  -1.0f,
                                  88.0f, -104.0f, 3e38f, -3e38f};
  uint32_t state = 1;
  for (int i = 0; i < MOST; ++i) {
    state = state * 1664525u + 1013904223u;
    const uint32_t word = (state ^ state >> 15) * 2246822519u;
    const float x = mpnum_from_bits_f32(word);
    const float near_x = (float)((double)(word % 40000) / 2000 - 10);
    a32[i] = i % 3 == 0 ? x : i % 3 == 1 ? near_x : special[word % 8];
    state = state * 1664525u + 1013904223u;
    b32[i] =
        i % 2 ? mpnum_from_bits_f32(state) : (float)((double)(state >> 16) / 4000 - 8);
    if (i % 50 == 0) a32[i] = mpnum_from_bits_f32(i % 100 ? 0x7f800000u : 0xff800000u);
    if (i % 50 == 1) b32[i] = mpnum_from_bits_f32(i % 100 ? 0xff800000u : 0x7fc00000u);
    a16[i] = mpnum_f32_to_f16(a32[i]);
    b16[i] = mpnum_f32_to_f16(b32[i]);
    ab[i] = mpnum_f32_to_bf16(a32[i]);
    bb[i] = mpnum_f32_to_bf16(b32[i]);
#define WANT(name, ...)                                   \
 want_##name.f32[i] = mpnum_##name##_f32(a32[i], b32[i]); \
 want_##name.f16[i] = mpnum_##name##_f16(a16[i], b16[i]); \
 want_##name.bf16[i] = mpnum_##name##_bf16(ab[i], bb[i]);
    MPNUM_FUNCTION_ROWS_OF_TWO_(WANT)
  }
}

static void check(const char *name, size_t n, const void *got, const void *want,
                  size_t size) {
  for (size_t i = 0; i < n * size; ++i) {
    const int is_same = ((const uint8_t *)got)[i] == ((const uint8_t *)want)[i];
    CHECK(is_same, "%s: element %zu of %zu", name, i / size, n);
    if (!is_same) return;
  }
}
static void elements_are_the_scalar_ones(void) {
  for (size_t n = 0; n <= MOST; n += n < 100 ? 1 : 290) {
#define CHECK_ARRAYS(name, ...)                      \
 memset(got32, 0x5c, sizeof got32);                  \
 mpnum_##name##_f32_array(got32, a32, b32, n);       \
 mpnum_##name##_f16_array(got16, a16, b16, n);       \
 mpnum_##name##_bf16_array(gotb, ab, bb, n);         \
 check(#name "_f32", n, got32, want_##name.f32, 4);  \
 check(#name "_f16", n, got16, want_##name.f16, 2);  \
 check(#name "_bf16", n, gotb, want_##name.bf16, 2); \
 CHECK(n == MOST || mpnum_bits_f32(got32[n]) == 0x5c5c5c5cu, "written past %zu", n);
    MPNUM_FUNCTION_ROWS_OF_TWO_(CHECK_ARRAYS)
  }
}
static void the_result_may_be_a_source(void) {
#define CHECK_IN_PLACE(name, ...)                      \
 memcpy(got32, a32, sizeof got32);                     \
 memcpy(got16, b16, sizeof got16);                     \
 mpnum_##name##_f32_array(got32, got32, b32, MOST);    \
 mpnum_##name##_f16_array(got16, a16, got16, MOST);    \
 check(#name "_f32", MOST, got32, want_##name.f32, 4); \
 check(#name "_f16", MOST, got16, want_##name.f16, 2);
  MPNUM_FUNCTION_ROWS_OF_TWO_(CHECK_IN_PLACE)
}

/* Sizes up to 2^127, so that both ways to reduce an angle meet in one vector. */
static void sincos_is_the_scalar_one(void) {
  static float sine32[MOST], cosine32[MOST], want_sine[MOST], want_cosine[MOST];
  static mpnum_f16 sine16[MOST], cosine16[MOST], sines16[MOST], cosines16[MOST];
  static mpnum_bf16 sineb[MOST], cosineb[MOST], sinesb[MOST], cosinesb[MOST];
  for (size_t i = 0; i < MOST; ++i) {
    mpnum_sincos_f32(a32[i], &want_sine[i], &want_cosine[i]);
    mpnum_sincos_f16(a16[i], &sines16[i], &cosines16[i]);
    mpnum_sincos_bf16(ab[i], &sinesb[i], &cosinesb[i]);
  }
  for (size_t n = 0; n <= MOST; n += n < 40 ? 1 : 370) {
    memset(sine32, 0x5c, sizeof sine32);
    memset(cosine32, 0x5c, sizeof cosine32);
    mpnum_sincos_f32_array(sine32, cosine32, a32, n);
    mpnum_sincos_f16_array(sine16, cosine16, a16, n);
    mpnum_sincos_bf16_array(sineb, cosineb, ab, n);
    check("sin_f32", n, sine32, want_sine, 4);
    check("cos_f32", n, cosine32, want_cosine, 4);
    check("sin_f16", n, sine16, sines16, 2);
    check("cos_f16", n, cosine16, cosines16, 2);
    check("sin_bf16", n, sineb, sinesb, 2);
    check("cos_bf16", n, cosineb, cosinesb, 2);
    CHECK(n == MOST || (mpnum_bits_f32(sine32[n]) == 0x5c5c5c5cu &&
                        mpnum_bits_f32(cosine32[n]) == 0x5c5c5c5cu),
          "written past %zu", n);
  }
  memcpy(sine32, a32, sizeof sine32);
  mpnum_sincos_f32_array(sine32, cosine32, sine32, MOST);
  check("sin_f32 in place", MOST, sine32, want_sine, 4);
  check("cos_f32 of it", MOST, cosine32, want_cosine, 4);
  memcpy(cosine32, a32, sizeof cosine32);
  mpnum_sincos_f32_array(sine32, cosine32, cosine32, MOST);
  check("sin_f32 of the other", MOST, sine32, want_sine, 4);
  check("cos_f32 in place", MOST, cosine32, want_cosine, 4);
  memcpy(sine16, a16, sizeof sine16);
  mpnum_sincos_f16_array(sine16, cosine16, sine16, MOST);
  check("sin_f16 in place", MOST, sine16, sines16, 2);
  check("cos_f16 of it", MOST, cosine16, cosines16, 2);
  memcpy(cosineb, ab, sizeof cosineb);
  mpnum_sincos_bf16_array(sineb, cosineb, cosineb, MOST);
  check("sin_bf16 of the other", MOST, sineb, sinesb, 2);
  check("cos_bf16 in place", MOST, cosineb, cosinesb, 2);
}

/* Of one argument: each special code alone among ones, as loops look at whole vectors. */
static void special_codes_may_be_alone(void) {
  static const uint16_t tops[2][6] = {{0, 1, 0x8001, 0x7c00, 0x7e00, 0xbc00},
                                      {0, 1, 0x8001, 0x7f80, 0x7fc0, 0xbf80}};
  for (int k = 0; k < 12; ++k)
    for (size_t at = 0; at < 64; at += 21) {
      const uint16_t flip = k < 6 ? 0 : 0x8000;
      for (size_t i = 0; i < 64; ++i) {
        a16[i].bits = i == at ? (uint16_t)(tops[0][k % 6] ^ flip) : 0x3c00;
        ab[i].bits = i == at ? (uint16_t)(tops[1][k % 6] ^ flip) : 0x3f80;
      }
#define ALONE(name, ...)                                                               \
 mpnum_##name##_f16_array(got16, a16, 64);                                             \
 mpnum_##name##_bf16_array(gotb, ab, 64);                                              \
 CHECK(got16[at].bits == mpnum_##name##_f16(a16[at]).bits, #name "_f16 of %04x: %04x", \
       a16[at].bits, got16[at].bits);                                                  \
 CHECK(gotb[at].bits == mpnum_##name##_bf16(ab[at]).bits, #name "_bf16 of %04x: %04x", \
       ab[at].bits, gotb[at].bits);
      MPNUM_FUNCTION_ROWS_(ALONE)
    }
}

int main(void) {
  make_inputs();
  RUN_FOR_EACH_ISA(elements_are_the_scalar_ones);
  RUN_FOR_EACH_ISA(the_result_may_be_a_source);
  RUN_FOR_EACH_ISA(sincos_is_the_scalar_one);
  RUN_FOR_EACH_ISA(special_codes_may_be_alone);
  return tap_done();
}
