/* SPDX-License-Identifier: MIT */
/* Two witnesses for f16 that are neither this library nor the CPU's integer unit.
 *
 * F16C (x86): VCVTPS2PH in its four directions and VCVTPH2PS. Numbers and Inf agree with
 * mpnum_f32_to_f16_round; with MPNUM_PRESET_F16C NaNs agree bit for bit too.
 *
 * _Float16: the compiler's own conversion from double, which for most targets is
 * libgcc's or compiler-rt's __truncdfhf2: rounded once, in the direction of fesetround.
 *
 * By default every 383rd float is tried and all floats whose low 12 bits are at an edge:
 * f16 keeps 10 mantissa bits of 23, so that all ties and all exact normal values have low
 * 12 bits of zero. The argument --all tries all 2^32.
 */
#include "mpnum/mpnum.h"

#include "../harness/tap.h"

#include <string.h>

#if (defined(__x86_64__) || defined(__i386__)) && MPNUM_HAS_GNU_
# define HAVE_F16C 1
# include <cpuid.h>
# include <immintrin.h>
#else
# define HAVE_F16C 0
#endif

/* clang defines __FLT16_MANT_DIG__ on targets that lack the type; it has it on x86 from
 * version 15 on. */
#if defined(__FLT16_MANT_DIG__) && (!defined(__clang__) || __clang_major__ >= 15)
# define HAVE_FLOAT16 1
# include <fenv.h>
#else
# define HAVE_FLOAT16 0
#endif

static uint32_t stride = 383;

static const mpnum_rounding roundings[4] = {MPNUM_ROUND_NEAREST_EVEN, MPNUM_ROUND_DOWN,
                                            MPNUM_ROUND_UP, MPNUM_ROUND_TOWARD_ZERO};
static const char *const rounding_names[4] = {"nearest even", "down", "up",
                                              "toward zero"};

#if HAVE_F16C

enum { BATCH = 8 };

static int cpu_has_f16c(void) {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  /* The AVX test asks the operating system too, which F16C needs as well. */
  if (!__builtin_cpu_supports("avx")) return 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C);
}

/* The codes of eight floats in the four directions of the instruction. */
__attribute__((target("avx,f16c"))) static void
convert_by_f16c(const uint32_t bits[BATCH], uint16_t codes[4][BATCH]) {
  float values[BATCH];
  __m256 x;
  memcpy(values, bits, sizeof values);
  x = _mm256_loadu_ps(values);
  _mm_storeu_si128((__m128i *)(void *)codes[0],
                   _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
  _mm_storeu_si128((__m128i *)(void *)codes[1],
                   _mm256_cvtps_ph(x, _MM_FROUND_TO_NEG_INF));
  _mm_storeu_si128((__m128i *)(void *)codes[2],
                   _mm256_cvtps_ph(x, _MM_FROUND_TO_POS_INF));
  _mm_storeu_si128((__m128i *)(void *)codes[3], _mm256_cvtps_ph(x, _MM_FROUND_TO_ZERO));
}

__attribute__((target("avx,f16c"))) static void widen_by_f16c(const uint16_t codes[BATCH],
                                                              uint32_t bits[BATCH]) {
  __m128i packed;
  memcpy(&packed, codes, sizeof packed);
  _mm256_storeu_si256((__m256i *)(void *)bits,
                      _mm256_castps_si256(_mm256_cvtph_ps(packed)));
}

static void check_batch(const uint32_t bits[BATCH]) {
  const mpnum_format preset = mpnum_preset_format(MPNUM_PRESET_F16C, MPNUM_TYPE_F16);
  uint16_t codes[4][BATCH];
  int direction = 0, i = 0;
  convert_by_f16c(bits, codes);
  for (i = 0; i < BATCH; ++i) {
    const float x = mpnum_from_bits_f32(bits[i]);
    const int is_nan = (bits[i] & 0x7fffffffu) > 0x7f800000u;
    for (direction = 0; direction < 4; ++direction) {
      const mpnum_rounding rounding = roundings[direction];
      const uint32_t want = codes[direction][i];
      const uint32_t preset_code =
          mpnum_encode(preset, x, rounding, MPNUM_OVERFLOW_IEEE, 0);
      const uint32_t code =
          mpnum_f32_to_f16_round(x, rounding, MPNUM_OVERFLOW_IEEE, 0).bits;
      CHECK(preset_code == want, "preset, %08x %s: got %04x, F16C %04x", bits[i],
            rounding_names[direction], preset_code, want);
      CHECK(code == (is_nan ? 0x7fff : want), "%08x %s: got %04x, F16C %04x", bits[i],
            rounding_names[direction], code, want);
    }
  }
}

static void f32_to_f16_agrees_with_f16c(void) {
  static const uint32_t edges[BATCH] = {0x000, 0x001, 0x002, 0x7ff,
                                        0x800, 0x801, 0xffe, 0xfff};
  uint32_t bits[BATCH];
  uint64_t next = 0;
  uint32_t high = 0;
  int i = 0;
  for (high = 0; high < 0x100000; ++high) {
    for (i = 0; i < BATCH; ++i)
      bits[i] = high << 12 | edges[i];
    check_batch(bits);
  }
  while (next < UINT64_C(1) << 32) {
    for (i = 0; i < BATCH; ++i) {
      bits[i] = (uint32_t)next;
      next += next < UINT64_C(1) << 32 ? stride : 0;
    }
    check_batch(bits);
  }
}

static void f16_to_f32_agrees_with_f16c(void) {
  const mpnum_format preset = mpnum_preset_format(MPNUM_PRESET_F16C, MPNUM_TYPE_F16);
  uint32_t first = 0;
  for (first = 0; first < 0x10000; first += BATCH) {
    uint16_t codes[BATCH];
    uint32_t bits[BATCH];
    uint32_t i = 0;
    for (i = 0; i < BATCH; ++i)
      codes[i] = (uint16_t)(first + i);
    widen_by_f16c(codes, bits);
    for (i = 0; i < BATCH; ++i) {
      const int is_nan = (codes[i] & 0x7fff) > 0x7c00;
      const uint32_t got = mpnum_bits_f32(mpnum_decode(preset, codes[i]));
      const uint32_t plain =
          mpnum_bits_f32(mpnum_f16_to_f32(mpnum_from_bits_f16(codes[i])));
      CHECK(got == bits[i], "preset, %04x: got %08x, F16C %08x", codes[i], got, bits[i]);
      CHECK(plain == (is_nan ? 0x7fffffff : bits[i]), "%04x: got %08x, F16C %08x",
            codes[i], plain, bits[i]);
    }
  }
}

static void run_f16c(void) {
  if (cpu_has_f16c()) {
    TAP_RUN(f32_to_f16_agrees_with_f16c);
    TAP_RUN(f16_to_f32_agrees_with_f16c);
  } else {
    TAP_SKIP("f32_to_f16_agrees_with_f16c", "this CPU has no F16C");
    TAP_SKIP("f16_to_f32_agrees_with_f16c", "this CPU has no F16C");
  }
}

#else

static void run_f16c(void) {
  (void)stride;
  TAP_SKIP("f32_to_f16_agrees_with_f16c", "F16C is an x86 instruction set");
  TAP_SKIP("f16_to_f32_agrees_with_f16c", "F16C is an x86 instruction set");
}

#endif

#if HAVE_FLOAT16

__extension__ typedef _Float16 half;

/* Read and written through volatile: the compiler must not convert at compile time, where
 * it knows of no fesetround. */
static uint32_t narrow_by_compiler(double x) {
  volatile double source = x;
  volatile half result = (half)source;
  const half copy = result;
  uint16_t code = 0;
  memcpy(&code, &copy, sizeof code);
  return code;
}

static uint64_t widen_by_compiler(uint32_t code) {
  const uint16_t bits = (uint16_t)code;
  volatile half source;
  volatile double result;
  half copy;
  memcpy(&copy, &bits, sizeof copy);
  source = copy;
  result = (double)source;
  return mpnum_bits_f64(result);
}

static void check_double(uint64_t bits, int direction) {
  const mpnum_format preset = mpnum_preset_format(MPNUM_PRESET_F16C, MPNUM_TYPE_F16);
  const mpnum_rounding rounding = roundings[direction];
  const double x = mpnum_from_bits_f64(bits);
  const int is_nan = (bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
  const uint32_t want = narrow_by_compiler(x);
  const uint32_t preset_code =
      mpnum_encode_f64(preset, x, rounding, MPNUM_OVERFLOW_IEEE, 0);
  const uint32_t code = mpnum_f64_to_f16_round(x, rounding, MPNUM_OVERFLOW_IEEE, 0).bits;
  CHECK(preset_code == want, "preset, %016llx %s: got %04x, _Float16 %04x",
        (unsigned long long)bits, rounding_names[direction], preset_code, want);
  CHECK(code == (is_nan ? 0x7fff : want), "%016llx %s: got %04x, _Float16 %04x",
        (unsigned long long)bits, rounding_names[direction], code, want);
}

static void check_doubles(int direction) {
  uint64_t state = 1;
  uint32_t code = 0;
  int i = 0;
  /* At and beside all values and all points halfway between two, on both sides. */
  for (code = 0; code < 0x10000; ++code) {
    const uint64_t value =
        mpnum_bits_f64(mpnum_f16_to_f64(mpnum_from_bits_f16(code & 0x7fff))) |
        (uint64_t)(code >> 15) << 63;
    /* Half of a normal's gap: the highest of the 42 bits that f16 drops. Below 2^-14 the
     * gap is 2^-24, and the numbers there are taken by the sum. */
    const int is_small = (code & 0x7fff) < 0x0400;
    const double middle =
        ((double)(code & 0x7fff) + 0.5) * 0x1p-24 * (code >> 15 ? -1 : 1);
    const uint64_t halfway =
        is_small ? mpnum_bits_f64(middle) : value | (uint64_t)1 << 41;
    check_double(value, direction);
    check_double(value + 1, direction);
    check_double(value - 1, direction);
    check_double(halfway, direction);
    check_double(halfway + 1, direction);
    check_double(halfway - 1, direction);
  }
  for (i = 0; i < 1000000; ++i) {
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    check_double(z, direction);
    /* The same with an exponent from 2^-27 to 2^17. */
    check_double((z & 0x800fffffffffffffu) | (996 + (z >> 52) % 45) << 52, direction);
  }
}

static void f64_to_f16_agrees_with_the_compiler(void) { check_doubles(0); }

/* libgcc and hardware do, compiler-rt always rounds to nearest. */
static int compiler_heeds_fesetround(void) {
  const int heeds =
      fesetround(FE_UPWARD) == 0 && narrow_by_compiler(0x1.00001p0) == 0x3c01;
  fesetround(FE_TONEAREST);
  return heeds;
}

static void f64_to_f16_agrees_with_the_compiler_in_every_direction(void) {
  static const int directions[4] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
  int direction = 0;
  if (!compiler_heeds_fesetround()) {
    tap_skip_reason = "the compiler's conversion does not heed fesetround";
    return;
  }
  for (direction = 1; direction < 4; ++direction) {
    fesetround(directions[direction]);
    check_doubles(direction);
  }
  fesetround(FE_TONEAREST);
}

static void f16_to_f64_agrees_with_the_compiler(void) {
  uint32_t code = 0;
  for (code = 0; code < 0x10000; ++code) {
    const uint64_t want =
        (code & 0x7fff) > 0x7c00 ? UINT64_C(0x7fffffffffffffff) : widen_by_compiler(code);
    const uint64_t got = mpnum_bits_f64(mpnum_f16_to_f64(mpnum_from_bits_f16(code)));
    CHECK(got == want, "%04x: got %016llx, _Float16 %016llx", code,
          (unsigned long long)got, (unsigned long long)want);
  }
}

static void run_float16(void) {
  TAP_RUN(f64_to_f16_agrees_with_the_compiler);
  TAP_RUN(f64_to_f16_agrees_with_the_compiler_in_every_direction);
  TAP_RUN(f16_to_f64_agrees_with_the_compiler);
}

#else

static void run_float16(void) {
  TAP_SKIP("f64_to_f16_agrees_with_the_compiler", "this compiler has no _Float16 here");
  TAP_SKIP("f64_to_f16_agrees_with_the_compiler_in_every_direction",
           "this compiler has no _Float16 here");
  TAP_SKIP("f16_to_f64_agrees_with_the_compiler", "this compiler has no _Float16 here");
}

#endif

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "--all") == 0) stride = 1;
  run_f16c();
  run_float16();
  return tap_done();
}
