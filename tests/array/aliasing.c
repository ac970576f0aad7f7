/* SPDX-License-Identifier: MIT */
/* Codes and floats in memory of a caller's own types: words of 16, 32 and 64 bits and a
 * struct, cast to the library's pointers. A compiler that inlines the loops may see that
 * nobody reads or writes an mpnum_f16 or a float there; it must see that bytes are. For
 * every length from 0 to 70, so that each tail runs. tests/array/test_aliasing.py builds
 * it. (Vector loops lie between barriers, which hide such a fault from most of these
 * cases.)
 */
#include <mpnum/mpnum.h>

#include "../harness/must.h"
#include "../harness/tap.h"

#include <string.h>

/* With all it calls inlined. */
#define ALONE __attribute__((noinline, flatten))

enum { LONGEST = 70, ROOM = LONGEST + 10 };
enum { UNTOUCHED = 0x5bad };

/* What a user has of a library of his own. */
typedef struct own_half {
  uint16_t code;
} own_half;

static uint32_t random_word(size_t i) { return mpnum_random(7, i) & 0x87ffffffu; }
/* Finite floats of f16's range, and doubles. */
static uint32_t float_word(size_t i) { return random_word(i) + 0x38000000u; }
static uint64_t double_word(size_t i) {
  return mpnum_bits_f64((double)mpnum_from_bits_f32(float_word(i)) * (1 + 1e-9));
}
static uint16_t half_word(size_t i) { return (uint16_t)(random_word(i) % 0x7000); }

/* The results, by the scalar functions, before anything is inlined into anything. */
static struct {
  uint16_t f16[ROOM], bf16[ROOM], noisy[ROOM], exp16[ROOM], sixteen[ROOM];
  uint32_t f32[ROOM], exp32[ROOM], rounded[ROOM];
} want;

static void fill_wanted(void) {
  const mpnum_format e4m3 = mpnum_format_of(MPNUM_TYPE_E4M3);
  for (size_t i = 0; i < ROOM; ++i) {
    const float x = mpnum_from_bits_f32(float_word(i));
    const mpnum_f16 half = mpnum_from_bits_f16(half_word(i));
    want.f16[i] = mpnum_f32_to_f16(x).bits;
    want.noisy[i] = mpnum_f32_to_bf16_sr(x, mpnum_random(3, i)).bits;
    want.bf16[i] = mpnum_f64_to_bf16(mpnum_from_bits_f64(double_word(i))).bits;
    want.f32[i] = mpnum_bits_f32(mpnum_f16_to_f32(half));
    want.exp16[i] = mpnum_exp_f16(half).bits;
    want.exp32[i] = mpnum_bits_f32(mpnum_exp_f32(x));
    want.sixteen[i] = mpnum_f32_to_bf16(mpnum_f16_to_f32(half)).bits;
    want.rounded[i] = mpnum_bits_f32(mpnum_decode(
        e4m3, mpnum_encode(e4m3, x, MPNUM_ROUND_UP, MPNUM_OVERFLOW_SATURATE, 0)));
  }
}

/* Memory as the caller fills it, and how much of it is wrong afterwards. Macros, so that
 * the accesses are in the function that calls the library. */
#define FILL(array, word)          \
 for (size_t i = 0; i < ROOM; ++i) \
 array[i] word
/* One element just before the call, and the same just after: what a compiler keeps in a
 * register if it takes the call for none that writes there. */
#define TOUCH(array, member) array[0] member = UNTOUCHED
#define WRONG(array, member, wanted, n)        \
 bad += n > 0 && array[0] member != wanted[0]; \
 for (size_t i = 0; i < ROOM; ++i)             \
 bad += array[i] member != (i < (n) ? wanted[i] : UNTOUCHED)

static ALONE int narrows(size_t n) {
  own_half codes[ROOM];
  uint32_t floats[ROOM];
  int bad = 0;
  FILL(floats, = float_word(i));
  FILL(codes, .code = UNTOUCHED);
  TOUCH(codes, .code);
  mpnum_f32_to_f16_array((mpnum_f16 *)codes, (const float *)floats, n);
  WRONG(codes, .code, want.f16, n);
  return bad;
}
static ALONE int widens(size_t n) {
  own_half codes[ROOM];
  uint32_t floats[ROOM];
  int bad = 0;
  FILL(codes, .code = half_word(i));
  FILL(floats, = UNTOUCHED);
  TOUCH(floats, );
  mpnum_f16_to_f32_array((float *)floats, (const mpnum_f16 *)codes, n);
  WRONG(floats, , want.f32, n);
  return bad;
}
static ALONE int narrows_words_of_64_bits(size_t n) {
  uint16_t codes[ROOM];
  uint64_t doubles[ROOM];
  int bad = 0;
  FILL(doubles, = double_word(i));
  FILL(codes, = UNTOUCHED);
  TOUCH(codes, );
  mpnum_f64_to_bf16_array((mpnum_bf16 *)codes, (const double *)doubles, n);
  WRONG(codes, , want.bf16, n);
  return bad;
}
static ALONE int rounds_stochastically(size_t n) {
  own_half codes[ROOM];
  uint32_t floats[ROOM];
  int bad = 0;
  FILL(floats, = float_word(i));
  FILL(codes, .code = UNTOUCHED);
  TOUCH(codes, .code);
  mpnum_f32_to_bf16_sr_array((mpnum_bf16 *)codes, (const float *)floats, n, 3, 0);
  WRONG(codes, .code, want.noisy, n);
  return bad;
}
static ALONE int converts_any(size_t n) {
  own_half codes[ROOM];
  int bad = 0;
  FILL(codes, .code = half_word(i));
  must(mpnum_convert_array(MPNUM_TYPE_BF16, codes, MPNUM_TYPE_F16, codes, n,
                           MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0));
  for (size_t i = n; i < ROOM; ++i) {
    bad += codes[i].code != half_word(i);
    codes[i].code = UNTOUCHED;
  }
  WRONG(codes, .code, want.sixteen, n);
  return bad;
}
static ALONE int converts_formats(size_t n) {
  own_half codes[ROOM];
  uint32_t floats[ROOM];
  int bad = 0;
  FILL(codes, .code = half_word(i));
  FILL(floats, = UNTOUCHED);
  TOUCH(floats, );
  must(mpnum_convert_array_formats(mpnum_format_of(MPNUM_TYPE_F32), floats,
                                   mpnum_preset_format(MPNUM_PRESET_F16C, MPNUM_TYPE_F16),
                                   codes, n, MPNUM_ROUND_NEAREST_EVEN,
                                   MPNUM_OVERFLOW_IEEE, 0, 0));
  WRONG(floats, , want.f32, n);
  return bad;
}
static ALONE int rounds(size_t n) {
  uint32_t floats[ROOM];
  int bad = 0;
  FILL(floats, = i < n ? float_word(i) : UNTOUCHED);
  floats[0] = n ? float_word(0) : UNTOUCHED;
  must(mpnum_round_array((float *)floats, (const float *)floats, n,
                         mpnum_format_of(MPNUM_TYPE_E4M3), MPNUM_ROUND_UP,
                         MPNUM_OVERFLOW_SATURATE, 0, 0));
  WRONG(floats, , want.rounded, n);
  return bad;
}
static ALONE int takes_functions_of_halves(size_t n) {
  own_half codes[ROOM], results[ROOM];
  int bad = 0;
  FILL(codes, .code = half_word(i));
  FILL(results, .code = UNTOUCHED);
  TOUCH(results, .code);
  mpnum_exp_f16_array((mpnum_f16 *)results, (const mpnum_f16 *)codes, n);
  WRONG(results, .code, want.exp16, n);
  return bad;
}
static ALONE int takes_functions_of_floats(size_t n) {
  uint32_t floats[ROOM], results[ROOM];
  int bad = 0;
  FILL(floats, = float_word(i));
  FILL(results, = UNTOUCHED);
  TOUCH(results, );
  mpnum_exp_f32_array((float *)results, (const float *)floats, n);
  WRONG(results, , want.exp32, n);
  return bad;
}
/* The last element is not finite, and the largest of all but it is known. */
static ALONE int reduces_halves(size_t n) {
  own_half codes[ROOM];
  mpnum_stats stats;
  size_t first = 0;
  FILL(codes, .code = (uint16_t)(i + 1));
  first = mpnum_first_nonfinite_f16((const mpnum_f16 *)codes, n);
  codes[n].code = 0x7c00;
  stats = mpnum_stats_f16((const mpnum_f16 *)codes, n + 1);
  codes[0].code = 0x7e00;
  return (first != n) +
         (mpnum_first_nonfinite_f16((const mpnum_f16 *)codes, n + 1) != 0) +
         (mpnum_stats_f16((const mpnum_f16 *)codes, n + 1).nans != 1) +
         (stats.infs != 1) + (stats.count != n + 1) +
         !mpnum_isnan_f32(mpnum_amax_f16((const mpnum_f16 *)codes, n + 1));
}
static ALONE int reduces_floats(size_t n) {
  uint32_t floats[ROOM];
  float sum = 0, norm = 0;
  FILL(floats, = 0x40000000u);
  sum = mpnum_sum_f32((const float *)floats, n);
  FILL(floats, = 0x40800000u);
  norm = mpnum_dot_f32((const float *)floats, (const float *)floats, n);
  return (mpnum_bits_f32(sum) != mpnum_bits_f32((float)(2 * n))) +
         (mpnum_bits_f32(norm) != mpnum_bits_f32((float)(16 * n)));
}

static const struct {
  const char *name;
  int (*run)(size_t n);
} cases[] = {
#define CASE(name) \
 { #name, name }
    CASE(narrows),
    CASE(widens),
    CASE(narrows_words_of_64_bits),
    CASE(rounds_stochastically),
    CASE(converts_any),
    CASE(converts_formats),
    CASE(rounds),
    CASE(takes_functions_of_halves),
    CASE(takes_functions_of_floats),
    CASE(reduces_halves),
    CASE(reduces_floats),
#undef CASE
};
static size_t current;

static void reads_and_writes_bytes(void) {
  for (size_t n = 0; n <= LONGEST; ++n) {
    const int bad = cases[current].run(n);
    CHECK(bad == 0, "%s: %d wrong of %zu elements", cases[current].name, bad, n);
  }
}

int main(void) {
  fill_wanted();
  for (current = 0; current < sizeof cases / sizeof cases[0]; ++current)
    tap_run(cases[current].name, reads_and_writes_bytes);
  return tap_done();
}
