/* SPDX-License-Identifier: MIT */
/* Checks, amax and statistics of arrays: each against a loop over scalar decodes, for
 * every instruction set, length and address, in every floating-point environment. */

#include "reduce_inputs.h"

typedef struct type_case {
  const char *name;
  mpnum_type type;
  size_t size;
  int (*all_finite)(const void *, size_t);
  size_t (*first)(const void *, size_t);
  float (*amax)(const void *, size_t);
  mpnum_stats (*stats)(const void *, size_t);
} type_case;

#define ANY_TYPE(name, type)                                  \
 static float amax_##name(const void *src, size_t n) {        \
  return mpnum_amax_##name((const type *)src, n);             \
 }                                                            \
 static mpnum_stats stats_##name(const void *src, size_t n) { \
  return mpnum_stats_##name((const type *)src, n);            \
 }
#define CHECKED_TYPE(name, type)                             \
 ANY_TYPE(name, type)                                        \
 static int all_finite_##name(const void *src, size_t n) {   \
  return mpnum_all_finite_##name((const type *)src, n);      \
 }                                                           \
 static size_t first_##name(const void *src, size_t n) {     \
  return mpnum_first_nonfinite_##name((const type *)src, n); \
 }
CHECKED_TYPE(f32, float)
CHECKED_TYPE(bf16, mpnum_bf16)
CHECKED_TYPE(f16, mpnum_f16)
CHECKED_TYPE(e5m2, mpnum_e5m2)
CHECKED_TYPE(e4m3, mpnum_e4m3)

#define CASE(name, NAME, size)                                                  \
 {                                                                              \
#  name, MPNUM_TYPE_##NAME, size, all_finite_##name, first_##name, amax_##name, \
      stats_##name                                                              \
 }
static const type_case types[] = {CASE(f32, F32, 4), CASE(bf16, BF16, 2),
                                  CASE(f16, F16, 2), CASE(e5m2, E5M2, 1),
                                  CASE(e4m3, E4M3, 1)};
enum { TYPES = sizeof types / sizeof *types };

static uint32_t code_at(const type_case *type, const uint8_t *src, size_t i) {
  uint32_t code32 = 0;
  uint16_t code16 = 0;
  if (type->size == 1) return src[i];
  if (type->size == 2) {
    memcpy(&code16, src + 2 * i, 2);
    return code16;
  }
  memcpy(&code32, src + 4 * i, 4);
  return code32;
}
static void set_code(const type_case *type, uint8_t *dst, size_t i, uint32_t code) {
  const uint16_t code16 = (uint16_t)code;
  const uint8_t code8 = (uint8_t)code;
  memcpy(dst + type->size * i,
         type->size == 4   ? (const void *)&code
         : type->size == 2 ? (const void *)&code16
                           : (const void *)&code8,
         type->size);
}

typedef struct expected {
  size_t first, count;
  uint32_t amax;
  mpnum_stats stats;
} expected;

static expected expected_of(const type_case *type, const uint8_t *src, size_t n) {
  const mpnum_format format = mpnum_format_of(type->type);
  expected want = {n, 0, 0, mpnum_stats_empty()};
  size_t i = 0;
  for (; i < n; ++i) {
    const uint32_t code = code_at(type, src, i);
    const float x = mpnum_decode(format, code);
    const uint32_t magnitude = mpnum_bits_f32(x) & 0x7fffffffu;
    if (magnitude >= 0x7f800000u) {
      if (want.first == n) want.first = i;
      ++want.count;
    }
    if (magnitude > want.amax) want.amax = magnitude;
    want.stats = mpnum_stats_add(want.stats, format, code);
  }
  if (want.amax > 0x7f800000u) want.amax = 0x7fffffffu;
  return want;
}

static int same_stats(mpnum_stats a, mpnum_stats b) {
  return a.count == b.count && a.zeros == b.zeros && a.subnormals == b.subnormals &&
         a.infs == b.infs && a.nans == b.nans &&
         mpnum_bits_f32(a.amax) == mpnum_bits_f32(b.amax) &&
         mpnum_bits_f32(a.min_nonzero) == mpnum_bits_f32(b.min_nonzero);
}

static void check_all(const char *isa, const type_case *type, const uint8_t *src,
                      size_t n, expected want) {
  const mpnum_stats stats = type->stats(src, n);
  const uint32_t amax = mpnum_bits_f32(type->amax(src, n));
  CHECK(amax == want.amax, "%s, %s, %zu: amax %08x, want %08x", isa, type->name, n,
        (unsigned)amax, (unsigned)want.amax);
  CHECK(same_stats(stats, want.stats),
        "%s, %s, %zu: %d zeros, %d subnormals, %d Infs, %d NaNs, %a to %a", isa,
        type->name, n, (int)stats.zeros, (int)stats.subnormals, (int)stats.infs,
        (int)stats.nans, (double)stats.min_nonzero, (double)stats.amax);
  CHECK(type->first(src, n) == want.first, "%s, %s, %zu: first %zu, want %zu", isa,
        type->name, n, type->first(src, n), want.first);
  CHECK(type->all_finite(src, n) == (want.count == 0), "%s, %s, %zu: finite", isa,
        type->name, n);
  CHECK(stats.infs + stats.nans == want.count, "%s, %s, %zu: not finite, want %zu", isa,
        type->name, n, want.count);
}
static void check(const char *isa, const type_case *type, const uint8_t *src, size_t n) {
  check_all(isa, type, src, n, expected_of(type, src, n));
}

/* Arrays of a few sorts: any bits; numbers between 1 and 2; the same with zeros; with
 * subnormals; all special. */
enum { SORTS = 5 };
static void fill(const type_case *type, int sort, uint8_t *dst, size_t n) {
  const mpnum_format format = mpnum_format_of(type->type);
  const uint32_t one = (uint32_t)format.bias << format.mantissa_bits;
  const uint32_t below = ((uint32_t)1 << format.mantissa_bits) - 1;
  size_t i = 0;
  for (; i < n; ++i) {
    const uint32_t bits = random_bits();
    const uint32_t sign = type->size == 4 ? bits & 0x80000000u : 0;
    uint32_t code = sort == 0 ? bits : one | (bits & below);
    if (sort == 2 && random_bits() % 4 == 0) code = 0;
    if (sort == 3 && random_bits() % 4 == 0) code = bits & below;
    if (sort == 4) code = format.max_code + random_bits() % 4;
    set_code(type, dst, i, code | sign);
  }
}

static void check_lengths(const char *isa) {
  int k = 0, sort = 0;
  for (; k < TYPES; ++k) {
    for (sort = 0; sort < SORTS; ++sort) {
      size_t n = 0;
      for (; n <= 300; ++n) {
        uint8_t *end = array_before_end(n * types[k].size, 0);
        uint8_t *start = array_after_start(0);
        fill(&types[k], sort, end, n);
        memcpy(start, end, n * types[k].size);
        check(isa, &types[k], end, n);
        check(isa, &types[k], start, n);
      }
    }
  }
}
static void any_length_between_pages(void) { for_isas(check_lengths); }

/* Blocks of every instruction set, and the 60 that are counted together: of all sorts, of
 * any bits, and with Inf in the first of them alone. */
static void check_long(const char *isa) {
  static const size_t bytes[] = {1024, 2048, 3840, 4096, 7680, 15360, 30720, 32768};
  size_t i = 0;
  int k = 0, off = 0;
  for (; k < TYPES; ++k) {
    for (i = 0; i < sizeof bytes / sizeof *bytes; ++i) {
      for (off = -1; off <= 1; ++off) {
        const size_t n = bytes[i] / types[k].size + (size_t)off;
        uint8_t *src = array_before_end(n * types[k].size, 0);
        fill(&types[k], (int)(i + 1) % SORTS, src, n);
        check(isa, &types[k], src, n);
        fill(&types[k], 0, src, n);
        check(isa, &types[k], src, n);
        fill(&types[k], 3, src, n);
        set_code(&types[k], src, 0, mpnum_format_of(types[k].type).max_code + 1);
        check(isa, &types[k], src, n);
      }
    }
  }
}
static void long_arrays(void) { for_isas(check_long); }

/* All of one kind: no count of a lane is larger. */
static void check_uniform(const char *isa) {
  int k = 0, which = 0;
  for (; k < TYPES; ++k) {
    const mpnum_format format = mpnum_format_of(types[k].type);
    const uint32_t codes[] = {0, 1, format.max_code, format.max_code + 1};
    for (which = 0; which < 4; ++which) {
      const size_t n = 32768 / types[k].size;
      uint8_t *src = array_before_end(n * types[k].size, 0);
      size_t i = 0;
      for (; i < n; ++i)
        set_code(&types[k], src, i, codes[which]);
      check(isa, &types[k], src, n);
    }
  }
}
static void uniform_arrays(void) { for_isas(check_uniform); }

/* One that is not finite, or is small, or is -0, in each place of numbers near 1. */
static void check_places(const char *isa) {
  int k = 0;
  for (; k < TYPES; ++k) {
    const type_case *type = &types[k];
    const mpnum_format format = mpnum_format_of(type->type);
    const uint32_t sign = (uint32_t)1 << (format.exponent_bits + format.mantissa_bits);
    const uint32_t special[] = {format.inf_code,
                                sign | format.inf_code,
                                format.nan_code,
                                sign | format.nan_code,
                                format.max_code,
                                sign,
                                1,
                                sign | (format.inf_code + 1)};
    const size_t n = 530 / type->size;
    uint8_t *src = array_before_end(n * type->size, 3);
    size_t which = 0, place = 0;
    fill(type, 1, src, n);
    for (; which < sizeof special / sizeof *special; ++which) {
      for (place = 0; place < n; ++place) {
        const uint32_t kept = code_at(type, src, place);
        set_code(type, src, place, special[which]);
        check(isa, type, src, n);
        set_code(type, src, place, kept);
      }
    }
  }
}
static void every_place_is_looked_at(void) { for_isas(check_places); }

/* 0, Inf and NaN by the value, not only as the loop above has them. */
static void amax_says_what_is_promised(void) {
  const uint32_t words[] = {0xff800000u, 0x3f800000u, 0xffc12345u, 0x80000000u,
                            0xff7fffffu};
  float x[5];
  memcpy(x, words, sizeof x);
  CHECK(mpnum_bits_f32(mpnum_amax_f32(x, 0)) == 0, "of none");
  CHECK(mpnum_bits_f32(mpnum_amax_f32(x, 2)) == 0x7f800000u, "Inf");
  CHECK(mpnum_bits_f32(mpnum_amax_f32(x, 5)) == 0x7fffffffu, "NaN is canonical");
  CHECK(mpnum_bits_f32(mpnum_amax_f32(x + 3, 1)) == 0, "-0");
  CHECK(mpnum_bits_f32(mpnum_amax_f32(x + 3, 2)) == 0x7f7fffffu, "the largest float");
  CHECK(mpnum_all_finite_f32(x, 0) == 1 && mpnum_all_finite_f32(x + 3, 2) == 1, "finite");
  CHECK(mpnum_first_nonfinite_f32(x + 1, 4) == 1, "the NaN");
  CHECK(mpnum_stats_f32(x, 5).nans == 1 && mpnum_stats_f32(x, 5).infs == 1, "apart");
}

int main(void) {
  TAP_RUN(amax_says_what_is_promised);
  TAP_RUN(any_length_between_pages);
  TAP_RUN(long_arrays);
  TAP_RUN(uniform_arrays);
  TAP_RUN(every_place_is_looked_at);
  return tap_done();
}
