/* SPDX-License-Identifier: MIT */
/* The random words, and stochastic rounding's use of them: for an input the words that
 * round away from zero are exactly the floor(r * 2^32) largest ones, r being the
 * discarded part as a fraction of the gap. That number is found by bisection over the
 * random word and compared with the one computed here in exact doubles. */
#include "../reference/format_rows.h"
#include "generic_forms.h"

#include "../harness/tap.h"

#include <math.h>
#include <stdlib.h>

static uint64_t random_state = 1;

static uint64_t random_word(void) { /* splitmix64 */
  uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* Philox4x32-10 with its whole counter, after figure 2 and table 2 of the paper: a round
 * is two multiplications whose halves change places. The library's has counter words 2
 * and 3 zero, so this is what two of the three published vectors can be given to. */
static void philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  uint32_t left0 = counter[0], right0 = counter[1];
  uint32_t left1 = counter[2], right1 = counter[3];
  uint32_t round_key0 = key[0], round_key1 = key[1];
  int round = 0;
  for (round = 0; round < 10; ++round) {
    const uint64_t wide0 = (uint64_t)left0 * 0xD2511F53u;
    const uint64_t wide1 = (uint64_t)left1 * 0xCD9E8D57u;
    left0 = right0 ^ round_key0 ^ (uint32_t)(wide1 >> 32);
    left1 = right1 ^ round_key1 ^ (uint32_t)(wide0 >> 32);
    right0 = (uint32_t)wide1;
    right1 = (uint32_t)wide0;
    round_key0 += 0x9E3779B9u;
    round_key1 += 0xBB67AE85u;
  }
  out[0] = left0;
  out[1] = right0;
  out[2] = left1;
  out[3] = right1;
}

static void check_words(uint64_t seed, uint64_t counter, const uint32_t want[4]) {
  const mpnum_u32x4 got = mpnum_random_x4(seed, counter);
  CHECK(got.x == want[0] && got.y == want[1] && got.z == want[2] && got.w == want[3],
        "seed %016llx counter %016llx: got %08x %08x %08x %08x, want %08x %08x %08x %08x",
        (unsigned long long)seed, (unsigned long long)counter, got.x, got.y, got.z, got.w,
        want[0], want[1], want[2], want[3]);
}

static void philox_gives_the_published_vectors(void) {
  /* Random123 1.14.0, tests/kat_vectors, "philox4x32 10": counter, key, result. */
  static const uint32_t vectors[3][10] = {
      {0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x6627e8d5,
       0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
      {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d,
       0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
      {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
       0x94fdcceb, 0x5001e420, 0x24126ea1},
  };
  int i = 0, j = 0;
  for (i = 0; i < 3; ++i) {
    uint32_t words[4];
    philox(&vectors[i][0], &vectors[i][4], words);
    for (j = 0; j < 4; ++j)
      CHECK(words[j] == vectors[i][6 + j], "vector %d word %d: %08x", i, j, words[j]);
  }
  check_words(0, 0, &vectors[0][6]); /* the one with counter words 2 and 3 zero */
}

static void random_x4_gives_the_words_of_curand(void) {
  /* curand_Philox4x32_10 of CUDA 13.0 for keys and counters of 64 bits. */
  static const struct {
    uint64_t seed, counter;
    uint32_t words[4];
  } vectors[] = {
      {UINT64_C(0x0000000000000000),
       UINT64_C(0x0000000000000000),
       {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {UINT64_C(0x0000000000000000),
       UINT64_C(0x0000000000000001),
       {0xf8e4cca4, 0x5cb200db, 0xb1a574eb, 0x097eff67}},
      {UINT64_C(0x0000000000000001),
       UINT64_C(0x0000000000000000),
       {0xe3e80670, 0xe50a0ebc, 0x95f222c0, 0xb615aa27}},
      {UINT64_C(0x00000000ffffffff),
       UINT64_C(0x00000000ffffffff),
       {0x472a7617, 0xc1f46764, 0xc08b1bae, 0x193bbd44}},
      {UINT64_C(0x0000000100000000),
       UINT64_C(0x0000000100000000),
       {0x532f1322, 0x36c890fb, 0x6504b937, 0x07bbfef7}},
      {UINT64_C(0xffffffffffffffff),
       UINT64_C(0xffffffffffffffff),
       {0x4d18d7d2, 0x430ac65a, 0xbd2fa22a, 0x0afae10d}},
      {UINT64_C(0x299f31d0a4093822),
       UINT64_C(0x85a308d3243f6a88),
       {0xe69c9c31, 0xb5a3d762, 0xe733bfc1, 0x341a787c}},
      {UINT64_C(0x0123456789abcdef),
       UINT64_C(0x3fffffffffffffff),
       {0x02c86e8c, 0x35fbb187, 0xd39830cb, 0xef9ceea3}},
  };
  size_t i = 0;
  for (i = 0; i < sizeof vectors / sizeof *vectors; ++i)
    check_words(vectors[i].seed, vectors[i].counter, vectors[i].words);
}

static void random_x4_is_philox(void) {
  int i = 0;
  for (i = 0; i < 1000000; ++i) {
    const uint64_t seed = random_word();
    const uint64_t counter = random_word() >> (random_word() & 63);
    const uint32_t words[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t want[4];
    philox(words, key, want);
    check_words(seed, counter, want);
  }
}

static void random_is_a_word_of_random_x4(void) {
  int i = 0;
  for (i = 0; i < 100000; ++i) {
    const uint64_t seed = random_word();
    const uint64_t counter = (random_word() >> 2) >> (random_word() & 63);
    const mpnum_u32x4 words = mpnum_random_x4(seed, counter);
    CHECK(mpnum_random(seed, 4 * counter) == words.x, "word 0");
    CHECK(mpnum_random(seed, 4 * counter + 1) == words.y, "word 1");
    CHECK(mpnum_random(seed, 4 * counter + 2) == words.z, "word 2");
    CHECK(mpnum_random(seed, 4 * counter + 3) == words.w, "word 3");
  }
  CHECK(mpnum_random(7, UINT64_MAX) == mpnum_random_x4(7, UINT64_MAX / 4).w,
        "the last word of a stream");
}

/* Stochastic rounding. */

typedef uint32_t round_f32(float, mpnum_overflow, uint32_t);
typedef uint32_t round_f64(double, mpnum_overflow, uint32_t);

/* A type by its definition; codes are magnitudes before the storage shift. */
typedef struct type_facts {
  const char *name;
  int sign_bits, exponent_bits, mantissa_bits, bias, storage_shift;
  uint32_t max_code, overflow_code; /* of Inf or of the NaN in its place; 0: none */
  int has_zero, has_negative_zero;
  round_f32 *from_f32;
  round_f64 *from_f64;
} type_facts;

/* The typed functions where they exist: the formats without Inf and NaN have only _sat.
 */
#define FROM_F64(name)                                                                  \
 static uint32_t name##_from_f64(double x, mpnum_overflow overflow, uint32_t random) {  \
  return mpnum_f64_to_##name##_round(x, MPNUM_ROUND_STOCHASTIC, overflow, random).bits; \
 }
#define FROM_BOTH(name)                                                               \
 static uint32_t name##_from_f32(float x, mpnum_overflow overflow, uint32_t random) { \
  return overflow == MPNUM_OVERFLOW_SATURATE                                          \
             ? mpnum_f32_to_##name##_sr_sat(x, random).bits                           \
             : mpnum_f32_to_##name##_sr(x, random).bits;                              \
 }                                                                                    \
 FROM_F64(name)
#define FROM_SATURATING(name)                                                         \
 static uint32_t name##_from_f32(float x, mpnum_overflow overflow, uint32_t random) { \
  (void)overflow;                                                                     \
  return mpnum_f32_to_##name##_sr_sat(x, random).bits;                                \
 }                                                                                    \
 FROM_F64(name)

#define FROM_IEEE(name)             FROM_BOTH(name)
#define FROM_FN(name)               FROM_BOTH(name)
#define FROM_FNUZ(name)             FROM_BOTH(name)
#define FROM_E8M0(name)             FROM_BOTH(name)
#define FROM_FINITE(name)           FROM_SATURATING(name)
#define FROM(name, NAME, kind, ...) FROM_##kind(name)
FORMAT_ROWS(FROM)

static uint32_t f32_from_f64(double x, mpnum_overflow overflow, uint32_t random) {
  return mpnum_bits_f32(
      mpnum_f64_to_f32_round(x, MPNUM_ROUND_STOCHASTIC, overflow, random));
}

#define FACTS(name, NAME, kind, S, E, M, bias, shift, max, inf, nan, zero, minus_zero, \
              ...)                                                                     \
 {#name,                                                                               \
  S,                                                                                   \
  E,                                                                                   \
  M,                                                                                   \
  bias,                                                                                \
  shift,                                                                               \
  max,                                                                                 \
  inf ? inf : nan,                                                                     \
  zero,                                                                                \
  minus_zero,                                                                          \
  name##_from_f32,                                                                     \
  name##_from_f64},
static const type_facts types[] = {
    FORMAT_ROWS(FACTS) /* and f32: */
    {"f32", 1, 8, 23, 127, 0, 0x7f7fffff, 0x7f800000, 1, 1, NULL, f32_from_f64},
};

static const type_facts *type; /* the one under test */

/* Value of a magnitude code, exponents continued past the largest. */
static double value_of(uint32_t code) {
  const int field = (int)(code >> type->mantissa_bits);
  const double fraction =
      ldexp((double)(code & ((1u << type->mantissa_bits) - 1)), -type->mantissa_bits);
  if (type->has_zero && field == 0) return ldexp(fraction, 1 - type->bias);
  return ldexp(1 + fraction, field - type->bias);
}

/* The largest code whose value does not exceed x; at most the one after max. */
static uint32_t truncated(double x) {
  uint32_t low = 0, high = type->max_code + 2;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    if (value_of(middle) <= x) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

static uint32_t stored_code(uint32_t code, uint32_t negative, mpnum_overflow overflow) {
  const int sign_shift = type->exponent_bits + type->mantissa_bits;
  if (code > type->max_code)
    code = overflow == MPNUM_OVERFLOW_SATURATE || type->overflow_code == 0
               ? type->max_code
               : type->overflow_code;
  if (negative && type->sign_bits && (code > 0 || type->has_negative_zero))
    code |= UINT32_C(1) << sign_shift;
  return code << type->storage_shift;
}

static uint32_t rounded(double x, int is_f32, mpnum_overflow overflow, uint32_t random) {
  return is_f32 ? type->from_f32((float)x, overflow, random)
                : type->from_f64(x, overflow, random);
}

static void check_threshold(double x, int is_f32, mpnum_overflow overflow) {
  const double least = ldexp(1, -type->bias); /* of a type without zero */
  const double given = fabs(x);
  const double magnitude = type->has_zero || given > least ? given : least;
  const uint32_t low = truncated(magnitude);
  const double gap = value_of(low + 1) - value_of(low);
  /* Both operations are exact: the difference has no bits below those of x, and the gap
   * is a power of two. Past the code after max every word overflows, which looks the same
   * as none. */
  const double ratio = low > type->max_code ? 0 : (magnitude - value_of(low)) / gap;
  const uint64_t fraction = (uint64_t)floor(ldexp(ratio, 32));
  const uint32_t low_code = stored_code(low, signbit(x) != 0, overflow);
  const uint32_t high_code = stored_code(low + 1, signbit(x) != 0, overflow);
  uint64_t below = 0, from = UINT64_C(1) << 32; /* random words: low up to, high from */
  int i = 0;
  CHECK(rounded(x, is_f32, overflow, 0) == low_code,
        "%s of %a, random 0: got %x, want %x", type->name, x,
        rounded(x, is_f32, overflow, 0), low_code);
  if (low_code == high_code) { /* saturated, or both overflow: no word tells */
    CHECK(rounded(x, is_f32, overflow, UINT32_MAX) == low_code, "%s of %a, saturated",
          type->name, x);
    return;
  }
  while (from - below > 1) {
    const uint64_t middle = below + (from - below) / 2;
    if (rounded(x, is_f32, overflow, (uint32_t)middle) == low_code) {
      below = middle;
    } else {
      from = middle;
    }
  }
  CHECK((UINT64_C(1) << 32) - from == fraction,
        "%s of %s %a: %llx of 2^32 words round away, want %llx", type->name,
        is_f32 ? "f32" : "f64", x, (unsigned long long)((UINT64_C(1) << 32) - from),
        (unsigned long long)fraction);
  for (i = 0; i < 8; ++i) { /* and it is a threshold: no other words do */
    const uint32_t random = (uint32_t)random_word();
    const uint32_t want = random >= from ? high_code : low_code;
    const uint32_t got = rounded(x, is_f32, overflow, random);
    CHECK(got == want, "%s of %a, random %08x: got %x, want %x", type->name, x, random,
          got, want);
  }
}

/* A number between the least value's surroundings and the overflow of the type. */
static double random_number(int is_f32) {
  const int least = 1 - type->bias - type->mantissa_bits - 6;
  const int most = (int)(type->max_code >> type->mantissa_bits) - type->bias;
  const int span = most - least + 1;
  const int exponent = least + (int)(random_word() % (unsigned)span);
  const uint64_t word = random_word();
  const double x = ldexp(1 + ldexp((double)(word >> 12), -52), exponent);
  const float narrow = (float)x;
  if (is_f32 && mpnum_isinf_f32(narrow)) return 1.5;
  return (is_f32 ? (double)narrow : x) * (word & 1 ? -1 : 1);
}

static void check_thresholds(int is_f32) {
  const double max = value_of(type->max_code);
  const double past_max = value_of(type->max_code + 1);
  int i = 0;
  for (i = 0; i < 4000; ++i)
    check_threshold(random_number(is_f32), is_f32,
                    i & 1 ? MPNUM_OVERFLOW_SATURATE : MPNUM_OVERFLOW_IEEE);
  /* Between max and the value that would follow it, where Inf or NaN is the upper one. */
  for (i = 0; i < 200; ++i) {
    const double x = max + (past_max - max) * ldexp((double)(random_word() >> 40), -24);
    const double source = is_f32 ? (double)(float)x : x;
    if (source > 0x1.fffffep127 && is_f32) continue;
    check_threshold(source, is_f32, MPNUM_OVERFLOW_IEEE);
    check_threshold(-source, is_f32, MPNUM_OVERFLOW_IEEE);
    check_threshold(source, is_f32, MPNUM_OVERFLOW_SATURATE);
  }
}

static void probability_is_the_discarded_fraction_of_f32(void) { check_thresholds(1); }
static void probability_is_the_discarded_fraction_of_f64(void) { check_thresholds(0); }

/* A value of the type stays itself, whatever the word. */
static void exact_values_never_move(void) {
  const uint32_t step = type->max_code / 5000 + 1;
  uint32_t code = 0;
  for (code = 0; code <= type->max_code; code += step) {
    const double x = value_of(code);
    const uint32_t want = stored_code(code, 0, MPNUM_OVERFLOW_IEEE);
    CHECK(type->from_f64(x, MPNUM_OVERFLOW_IEEE, UINT32_MAX) == want, "%s %a", type->name,
          x);
    CHECK(!type->from_f32 ||
              type->from_f32((float)x, MPNUM_OVERFLOW_IEEE, UINT32_MAX) == want,
          "%s %a from f32", type->name, x);
  }
}

/* 450 lies 1/16 of the way from 448 to 480, which e4m3 does not have: NaN. */
static void e4m3_450_overflows_once_in_16(void) {
  CHECK(mpnum_f32_to_e4m3_sr(450, 0xefffffff).bits == 0x7e, "15 of 16 words give 448");
  CHECK(mpnum_f32_to_e4m3_sr(450, 0xf0000000).bits == 0x7f, "1 of 16 words gives NaN");
  CHECK(mpnum_f32_to_e4m3_sr(-450, 0xf0000000).bits == 0xff, "-450 too");
  CHECK(mpnum_f32_to_e4m3_sr_sat(450, UINT32_MAX).bits == 0x7e, "saturating never");
}

/* The generator and the rounding together: a mean close to the value. 2^20 draws of
 * probability 0.3 have a deviation of sqrt(0.3 * 0.7 * 2^20) = 469 draws. */
static void the_mean_of_many_roundings_is_the_value(void) {
  const float x = 1.0375f; /* 0.3 of the way from 1 to 1.125 */
  int up = 0, i = 0;
  for (i = 0; i < 1 << 20; ++i)
    up += mpnum_f32_to_e4m3_sr(x, mpnum_random(2024, (uint64_t)i)).bits == 0x39;
  CHECK(abs(up - 314573) < 5 * 469, "%d of 2^20 rounded up, want about 314573", up);
}

static void run_named(const char *property, void (*function)(void)) {
  char name[80];
  snprintf(name, sizeof name, "%s_%s", type->name, property);
  tap_run(name, function);
}

int main(void) {
  size_t i = 0;
  TAP_RUN(philox_gives_the_published_vectors);
  TAP_RUN(random_x4_gives_the_words_of_curand);
  TAP_RUN(random_x4_is_philox);
  TAP_RUN(random_is_a_word_of_random_x4);
  for (i = 0; i < sizeof types / sizeof *types; ++i) {
    type = &types[i];
    if (type->from_f32)
      run_named("probability_is_the_discarded_fraction_of_f32",
                probability_is_the_discarded_fraction_of_f32);
    run_named("probability_is_the_discarded_fraction_of_f64",
              probability_is_the_discarded_fraction_of_f64);
    run_named("exact_values_never_move", exact_values_never_move);
  }
  TAP_RUN(e4m3_450_overflows_once_in_16);
  TAP_RUN(the_mean_of_many_roundings_is_the_value);
  return tap_done();
}
