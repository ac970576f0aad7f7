/* SPDX-License-Identifier: MIT */
/* swiglu and geglu of f16 and bf16 give the code nearest to the value, alone and in
 * arrays: of some gates and all values, with -DTEST_ALL_PAIRS at all 2^32 pairs.
 *
 * What is expected: silu or gelu of the gate, by MPFR at 300 bits, is the sum of a double
 * of 42 bits, cut off, and another. A value has 11 bits at most, so the first product is
 * exact, and so is what it has beyond the last place of the code; the second product, off
 * by a 2^52nd of itself, says on which side of the middle the value is. As silu and gelu
 * are irrational no value is in the middle; where the two parts cancel to less than a
 * 2^40th of the second, MPFR decides. */
#include "function_reference.h"
#include "../harness/tap.h"
#include "../reference/reference.h"

#include <mpnum/func.h>
#include <mpnum/func_array.h>

#include <math.h>
#include <string.h>

#ifdef TEST_ALL_PAIRS
enum { EVERY_GATE = 1 };
#elif defined(TEST_GATE_STEP)
enum { EVERY_GATE = TEST_GATE_STEP };
#else
enum { EVERY_GATE = 1021 };
#endif
enum { CODES = 65536 };

typedef struct small_type {
  const char *name;
  int mantissa_bits, least_exponent;
} small_type;
static const small_type types[] = {{"f16", 10, -24}, {"bf16", 7, -133}};
static const char *const gates[] = {"silu", "gelu"};

static double values[CODES]; /* of all codes of a type */
static uint16_t every_code[CODES], gate_codes[CODES];
static uint16_t want[CODES], got[CODES], in_array[CODES];
static unsigned long undecided;

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
static double power_of_two(int exponent) {
  const uint64_t bits = (uint64_t)(1023 + exponent) << 52;
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static void find_values(const small_type *type) {
  for (uint32_t code = 0; code < CODES; ++code) {
    const uint64_t bits = ref_decode(ref_format_named(type->name), code);
    memcpy(&values[code], &bits, sizeof bits);
    every_code[code] = (uint16_t)code;
  }
}
static const function_reference *reference_named(const char *name) {
  const function_reference *reference = function_references;
  while (strcmp(reference->name, name) != 0)
    ++reference;
  return reference;
}

/* silu or gelu of a gate in two parts; zeros, Inf and NaN as they are. What is below
 * 2^-700 makes a zero of any value, as that does. */
typedef struct factor {
  double high, low;
} factor;
static factor factor_of(const function_reference *function, double gate) {
  factor parts = {gate, 0};
  uint64_t bits;
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
    parts.high = -power_of_two(-700);
  } else {
    parts.high = mpfr_get_d(y, MPFR_RNDZ);
    bits = bits_of(parts.high) & ~UINT64_C(0x7ff);
    memcpy(&parts.high, &bits, sizeof bits);
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
static uint16_t special_code(const small_type *type, double product) {
  const uint32_t infinity = ((UINT32_C(1) << (15 - type->mantissa_bits)) - 1)
                            << type->mantissa_bits;
  if (isnan(product)) return 0x7fff;
  return (uint16_t)((signbit(product) ? 0x8000 : 0) | (isinf(product) ? infinity : 0));
}
static uint16_t by_mpfr(const small_type *type, const function_reference *function,
                        double gate, double value) {
  ++undecided;
  return (uint16_t)ref_encode(ref_format_named(type->name),
                              reference_of_product(function, gate, value),
                              REF_NEAREST_EVEN, REF_IEEE, 0);
}
static uint16_t expected_code(const small_type *type, const function_reference *function,
                              double gate, factor parts, double value) {
  const double product = parts.high * value, rest = parts.low * value;
  const uint32_t infinity = ((UINT32_C(1) << (15 - type->mantissa_bits)) - 1)
                            << type->mantissa_bits;
  const uint32_t sign = (uint32_t)(bits_of(product) >> 63) << 15;
  int exponent = (int)(bits_of(product) >> 52 & 0x7ff) - 1023 - type->mantissa_bits;
  if (isinf(value) && fabs(parts.high) < 0x1p-150)
    return special_code(type, 0 * value); /* it is no float */
  if (isnan(product) || isinf(product) || product == 0)
    return special_code(type, product);
  if (exponent < type->least_exponent) exponent = type->least_exponent;
  const double place = power_of_two(-exponent);
  const double scaled = fabs(product) * place;
  const double more = (product < 0 ? -rest : rest) * place;
  const uint32_t floor_of_it = (uint32_t)scaled;
  const double beyond = scaled - floor_of_it - 0.5, side = beyond + more;
  if (fabs(side) <= fabs(more) * 0x1p-40) return by_mpfr(type, function, gate, value);
  uint32_t code = ((uint32_t)(exponent - type->least_exponent) << type->mantissa_bits) +
                  floor_of_it + (side > 0);
  if (code > infinity) code = infinity;
  return (uint16_t)(sign | code);
}

static void run(int type, int which, uint16_t gate) {
  for (uint32_t k = 0; k < CODES; ++k)
    gate_codes[k] = gate;
  if (type == 0) {
    const mpnum_f16 x = {gate};
    for (uint32_t k = 0; k < CODES; ++k) {
      const mpnum_f16 y = {(uint16_t)k};
      got[k] = which ? mpnum_geglu_f16(x, y).bits : mpnum_swiglu_f16(x, y).bits;
    }
    (which ? mpnum_geglu_f16_array
           : mpnum_swiglu_f16_array)((mpnum_f16 *)in_array, (const mpnum_f16 *)gate_codes,
                                     (const mpnum_f16 *)every_code, CODES);
  } else {
    const mpnum_bf16 x = {gate};
    for (uint32_t k = 0; k < CODES; ++k) {
      const mpnum_bf16 y = {(uint16_t)k};
      got[k] = which ? mpnum_geglu_bf16(x, y).bits : mpnum_swiglu_bf16(x, y).bits;
    }
    (which ? mpnum_geglu_bf16_array : mpnum_swiglu_bf16_array)(
        (mpnum_bf16 *)in_array, (const mpnum_bf16 *)gate_codes,
        (const mpnum_bf16 *)every_code, CODES);
  }
}
static void check_pairs(int type, int which) {
  const function_reference *function = reference_named(gates[which]);
  unsigned long pairs = 0;
  find_values(&types[type]);
  undecided = 0;
  for (uint32_t gate = 0; gate < CODES; gate += EVERY_GATE, pairs += CODES) {
    const factor parts = factor_of(function, values[gate]);
    for (uint32_t k = 0; k < CODES; ++k)
      want[k] = expected_code(&types[type], function, values[gate], parts, values[k]);
    run(type, which, (uint16_t)gate);
    if (memcmp(got, want, sizeof got) == 0 && memcmp(in_array, want, sizeof want) == 0)
      continue;
    for (uint32_t k = 0; k < CODES; ++k)
      CHECK(got[k] == want[k] && in_array[k] == want[k],
            "%s(%a) times %a in %s: got %04x, in an array %04x, want %04x", gates[which],
            values[gate], values[k], types[type].name, got[k], in_array[k], want[k]);
  }
  printf("# %lu pairs, of which MPFR decided %lu\n", pairs, undecided);
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
