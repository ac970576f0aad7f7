/* SPDX-License-Identifier: MIT */
/* swiglu and geglu of f16 and bf16 give the code nearest to the value: arrays of some
 * gates and all values, single calls of fewer; with -DTEST_ALL_PAIRS arrays of all 2^32
 * pairs, which takes minutes, and single calls of every 61st gate.
 *
 * What is expected: silu or gelu of the gate, by MPFR at 300 bits, is the sum of a double
 * of 42 bits, the nearest one, and another. A value has 11 bits at most, so the first
 * product is exact, and so is what it has beyond the last place of the code; the second
 * product, off by a 2^52nd of itself, says on which side of the middle the value is. As
 * silu and gelu are irrational no value is in the middle; where the two parts cancel to
 * less than a 2^40th of the second, MPFR decides. A negative value has the code of the
 * positive one with the other sign. */
#include "function_reference.h"
#include "../harness/float_bits.h"
#include "../harness/tap.h"
#include "../reference/reference.h"

#include <mpnum/func/func.h>
#include <mpnum/func/func_array.h>

#include <math.h>
#include <string.h>

#ifdef TEST_ALL_PAIRS
enum { EVERY_GATE = 1, EVERY_CALL = 61 };
#else
enum { EVERY_GATE = 251, EVERY_CALL = 4 * 251 };
#endif
enum { CODES = 65536, SIGN = 0x8000, BLOCK = 64 };

/* The loop over values, for what the CPU has. */
#if defined __x86_64__ && defined __gnu_linux__ && !defined __clang__
# define CLONED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
# define CLONED
#endif

typedef struct small_type {
  const char *name;
  int mantissa_bits, least_exponent;
} small_type;
static const small_type types[] = {{"f16", 10, -24}, {"bf16", 7, -133}};
static const char *const gates[] = {"silu", "gelu"};

static double values[CODES]; /* of all codes of a type */
static uint16_t every_code[CODES], gate_codes[CODES];
static uint16_t want[CODES], results[CODES];
static unsigned long undecided;

static void find_values(const small_type *type) {
  for (uint32_t code = 0; code < CODES; ++code) {
    values[code] = double_of(ref_decode(ref_format_named(type->name), code));
    every_code[code] = (uint16_t)code;
  }
}
/* silu or gelu of a gate in two parts; zeros, Inf and NaN as they are. What is below
 * 2^-700 makes a zero of any value, as that does. */
typedef struct factor {
  double high, low;
} factor;
static factor factor_of(const function_reference *function, double gate) {
  factor parts = {gate, 0};
  mpfr_t x, y;
  if (isnan(gate) || gate == 0) return parts;
  if (isinf(gate)) {
    if (gate < 0) parts.high = -0.0;
    return parts;
  }
  mpfr_inits(x, y, (mpfr_ptr)0);
  mpfr_set_d(x, gate, MPFR_RNDN);
  function->value(y, x);
  if (mpfr_zero_p(y) || mpfr_get_exp(y) < -700) {
    parts.high = -0x1p-700;
  } else {
    mpfr_set_prec(x, 42);
    mpfr_set(x, y, MPFR_RNDN);
    parts.high = mpfr_get_d(x, MPFR_RNDN);
    if (mpfr_cmp_d(y, gate) == 0) /* less than the gate, by no more than 2^-300 */
      parts.low = -gate * 0x1p-100;
    else {
      mpfr_sub_d(y, y, parts.high, MPFR_RNDN);
      parts.low = mpfr_get_d(y, MPFR_RNDN);
    }
  }
  mpfr_clears(x, y, (mpfr_ptr)0);
  return parts;
}
static uint32_t infinity_of(const small_type *type) {
  return ((UINT32_C(1) << (15 - type->mantissa_bits)) - 1) << type->mantissa_bits;
}
static uint16_t special_code(const small_type *type, double product) {
  if (isnan(product)) return 0x7fff;
  return (uint16_t)((signbit(product) ? SIGN : 0) |
                    (isinf(product) ? infinity_of(type) : 0));
}
static uint16_t by_mpfr(const small_type *type, const function_reference *function,
                        double gate, double value) {
  ++undecided;
  return (uint16_t)ref_encode(ref_format_named(type->name),
                              reference_of_product(function, gate, value),
                              REF_NEAREST_EVEN, REF_IEEE, 0);
}
/* The codes of positive parts times BLOCK values, from the first-th on; how many are
 * undecided. */
CLONED static uint32_t find_block(const small_type *type, factor parts, uint32_t first) {
  const int shift = 52 - type->mantissa_bits;
  const uint32_t infinity = infinity_of(type);
  const int64_t normal = (int64_t)(1023 + type->least_exponent + type->mantissa_bits)
                         << 52;
  const int64_t places = (int64_t)(2 * 1023 + type->mantissa_bits) << 52;
  const double *const value = values + first;
  uint16_t *const codes = want + first;
  uint32_t undecided_here = 0;
  for (int k = 0; k < BLOCK; ++k) {
    const double product = parts.high * value[k], rest = parts.low * value[k];
    int64_t power = (int64_t)bits_of_double(product) & INT64_C(0x7ff0000000000000);
    power = power > normal ? power : normal;
    const double place = double_of((uint64_t)(places - power));
    const double scaled = product * place, more = rest * place;
    const int32_t floor_of_it = (int32_t)scaled;
    const double side = scaled - floor_of_it - 0.5 + more;
    const uint32_t code =
        (uint32_t)((power - normal) >> shift) + (uint32_t)floor_of_it + (side > 0);
    undecided_here += fabs(side) <= fabs(more) * 0x1p-40;
    codes[k] = (uint16_t)(code > infinity ? infinity : code);
  }
  return undecided_here;
}
/* Of one gate and all values. */
static void find_codes(const small_type *type, const function_reference *function,
                       double gate) {
  const factor parts = factor_of(function, gate);
  const uint32_t infinity = infinity_of(type);
  const int is_special = !isfinite(parts.high) || parts.high == 0;
  const int is_negative = signbit(parts.high) != 0;
  const factor positive = {is_negative ? -parts.high : parts.high,
                           is_negative ? -parts.low : parts.low};
  for (uint32_t first = 0; !is_special && first < infinity; first += BLOCK) {
    if (find_block(type, positive, first) == 0) continue;
    for (uint32_t k = first; k < first + BLOCK; ++k)
      want[k] = by_mpfr(type, function, gate, values[k]) & (SIGN - 1);
  }
  const uint16_t sign = is_negative ? SIGN : 0;
  for (uint32_t k = 1; k < infinity; ++k) {
    want[SIGN + k] = want[k] | (sign ^ SIGN);
    want[k] |= sign;
  }
  /* a factor that no float can be is 0 to Inf */
  const double factor_of_inf = fabs(parts.high) < 0x1p-150 ? 0 : parts.high;
  for (uint32_t k = 0; k < CODES; ++k) {
    const uint32_t magnitude = k & (SIGN - 1);
    if (is_special || magnitude == 0 || magnitude >= infinity)
      want[k] =
          special_code(type, values[k] * (isinf(values[k]) ? factor_of_inf : parts.high));
  }
}

static void run_array(int type, int which) {
  if (type == 0)
    (which ? mpnum_geglu_f16_array
           : mpnum_swiglu_f16_array)((mpnum_f16 *)results, (const mpnum_f16 *)gate_codes,
                                     (const mpnum_f16 *)every_code, CODES);
  else
    (which ? mpnum_geglu_bf16_array : mpnum_swiglu_bf16_array)(
        (mpnum_bf16 *)results, (const mpnum_bf16 *)gate_codes,
        (const mpnum_bf16 *)every_code, CODES);
}
static uint16_t called(int type, int which, uint16_t gate, uint16_t value) {
  const mpnum_f16 a = {gate}, b = {value};
  const mpnum_bf16 x = {gate}, y = {value};
  if (type == 0) return which ? mpnum_geglu_f16(a, b).bits : mpnum_swiglu_f16(a, b).bits;
  return which ? mpnum_geglu_bf16(x, y).bits : mpnum_swiglu_bf16(x, y).bits;
}
static void compare(const uint16_t *got, const char *how, int type, int which,
                    double gate) {
  if (memcmp(got, want, sizeof want) == 0) return;
  for (uint32_t k = 0; k < CODES; ++k)
    CHECK(got[k] == want[k], "%s(%a) times %a in %s%s: got %04x, want %04x", gates[which],
          gate, values[k], types[type].name, how, got[k], want[k]);
}
/* More of them where gates of bf16 close, from -12 to -192, and powers of two, which are
 * the last of their size for tiny ones. */
static int is_chosen(uint32_t gate) {
  return gate % EVERY_GATE == 0 || (gate % 16 == 0 && gate >= 0xc140 && gate <= 0xc340) ||
         gate % 2048 == 0 || gate == 0x8040 || gate == 0x0040;
}
static void check_pairs(int type, int which) {
  const function_reference *function = function_reference_named(gates[which]);
  unsigned long pairs = 0, calls = 0;
  find_values(&types[type]);
  undecided = 0;
  for (uint32_t gate = 0; gate < CODES; ++gate) {
    if (!is_chosen(gate)) continue;
    pairs += CODES;
    find_codes(&types[type], function, values[gate]);
    for (uint32_t k = 0; k < CODES; ++k)
      gate_codes[k] = (uint16_t)gate;
    run_array(type, which);
    compare(results, " arrays", type, which, values[gate]);
    if (gate % EVERY_CALL) continue;
    calls += CODES;
    for (uint32_t k = 0; k < CODES; ++k)
      results[k] = called(type, which, (uint16_t)gate, (uint16_t)k);
    compare(results, "", type, which, values[gate]);
  }
  printf("# %lu pairs in arrays, %lu alone; MPFR decided %lu\n", pairs, calls, undecided);
}
static void swiglu_of_f16_is_correctly_rounded(void) { check_pairs(0, 0); }
static void swiglu_of_bf16_is_correctly_rounded(void) { check_pairs(1, 0); }
static void geglu_of_f16_is_correctly_rounded(void) { check_pairs(0, 1); }
static void geglu_of_bf16_is_correctly_rounded(void) { check_pairs(1, 1); }

int main(void) {
  start_function_references();
  TAP_RUN(swiglu_of_f16_is_correctly_rounded);
  TAP_RUN(swiglu_of_bf16_is_correctly_rounded);
  TAP_RUN(geglu_of_f16_is_correctly_rounded);
  TAP_RUN(geglu_of_bf16_is_correctly_rounded);
  end_function_references();
  return tap_done();
}
