/* SPDX-License-Identifier: MIT */
/* Sums, dot products and norms: against the tiles and lanes that reduce.h describes,
 * added here in doubles and then bit by bit; and against the exact sum, within the error
 * that it states. */

#include "reduce_inputs.h"
#include "../harness/must.h"
#include <math.h>

/* A sum in as many bits as it takes, each a number of its own until carries are done: bit
 * i counts 2^(i - 320). */
enum { BITS = 768, ZERO_PLACE = 320 };
typedef struct exact {
  int64_t bit[BITS];
  int has_nan, has_plus, has_minus; /* Infs */
} exact;

static void add_exact(exact *sum, double x, int sign) {
  const uint64_t bits = mpnum_bits_f64(x);
  const int field = (int)(bits >> 52 & 0x7ff);
  const uint64_t fraction = bits << 12 >> 12;
  uint64_t significand = fraction | (uint64_t)(field != 0) << 52;
  int place = field - 1075 + ZERO_PLACE;
  if (bits >> 63) sign = -sign;
  if (field == 0x7ff) {
    sum->has_nan |= fraction != 0;
    sum->has_plus |= fraction == 0 && sign > 0;
    sum->has_minus |= fraction == 0 && sign < 0;
    return;
  }
  for (; significand != 0; significand >>= 1, ++place)
    if (significand & 1) sum->bit[place] += sign;
}

/* Carries; returns the sign, and leaves bits of 0 and 1, those of the magnitude. */
static int settle_exact(exact *sum) {
  int sign = 1, turn = 0, i = 0;
  for (; turn < 2; ++turn) {
    int64_t carry = 0;
    for (i = 0; i < BITS; ++i) {
      const int64_t digit = sum->bit[i] + carry;
      const int64_t low = digit % 2 != 0;
      carry = (digit - low) / 2;
      sum->bit[i] = low;
    }
    if (carry == 0) return sign;
    sign = -1; /* the magnitude: all bits the other way, and one more */
    for (i = 0; i < BITS; ++i)
      sum->bit[i] = 1 - sum->bit[i];
    sum->bit[0] += 1;
  }
  return sign;
}

/* The bits of the float nearest to it, ties to even. */
static uint32_t round_exact(exact sum) {
  const int lowest = ZERO_PLACE - 149;
  int sign = 1, top = BITS - 1, last = 0, i = 0, above = 0, half = 0;
  uint32_t result = 0;
  if (sum.has_nan || (sum.has_plus && sum.has_minus)) return 0x7fffffffu;
  if (sum.has_plus) return 0x7f800000u;
  if (sum.has_minus) return 0xff800000u;
  sign = settle_exact(&sum);
  while (top > 0 && sum.bit[top] == 0)
    --top;
  if (sum.bit[top] == 0) return 0;
  last = top - 23 > lowest ? top - 23 : lowest;
  for (i = top; i >= last; --i)
    result = result << 1 | (uint32_t)sum.bit[i];
  half = last > 0 && sum.bit[last - 1] != 0;
  for (i = 0; i < last - 1; ++i)
    above |= sum.bit[i] != 0;
  result += half && (above || (result & 1));
  /* The leading one of a normal number adds 1 to the exponent. */
  result += (uint32_t)(last - lowest) << 23;
  if (result > 0x7f800000u) result = 0x7f800000u;
  return result | (sign < 0 ? 0x80000000u : 0);
}

/* The kinds of sums, and their terms. */
enum { SUM, DOT, NORM, KINDS };
static const char *const kind_names[KINDS] = {"sum", "dot", "norm"};

static double product(int kind, const float *a, const float *b, size_t i) {
  const double x = mpnum_f32_to_f64(a[i]);
  if (kind == SUM) return x;
  return x * (kind == NORM ? x : mpnum_f32_to_f64(b[i]));
}

/* By the description: 64 lanes a tile, halved six times, tiles exactly. volatile, so that
 * -ffast-math keeps the order. */
static void model(int kind, const float *a, const float *b, size_t n, exact *sum) {
  size_t start = 0, i = 0;
  memset(sum, 0, sizeof *sum);
  for (; start < n; start += 2048) {
    volatile double lanes[64] = {0};
    size_t half = 32;
    for (i = start; i < n && i < start + 2048; ++i)
      lanes[i % 64] = lanes[i % 64] + product(kind, a, b, i);
    for (; half > 0; half /= 2)
      for (i = 0; i < half; ++i)
        lanes[i] = lanes[i] + lanes[i + half];
    add_exact(sum, lanes[0], 1);
  }
}

/* Whether root is the float nearest to the root of the sum: the squares of the points
 * halfway to its neighbours, which are exact, lie on both sides of the sum. */
static int is_root(const exact *sum, uint32_t root) {
  exact below = *sum, above = *sum, copy = *sum;
  const double x = mpnum_f32_to_f64(mpnum_from_bits_f32(root));
  const double next =
      root >= 0x7f7fffffu ? 0x1p128 : mpnum_f32_to_f64(mpnum_from_bits_f32(root + 1));
  const double before = root ? mpnum_f32_to_f64(mpnum_from_bits_f32(root - 1)) : 0;
  const double low = (before + x) / 2, high = (x + next) / 2;
  if (sum->has_nan) return root == 0x7fffffffu;
  if (sum->has_plus) return root == 0x7f800000u;
  if (root > 0x7f800000u) return 0;
  if (round_exact(copy) == 0 && root == 0) {
    int i = 0;
    settle_exact(&copy);
    for (; i < BITS; ++i)
      if (copy.bit[i]) return 0;
    return 1;
  }
  add_exact(&below, low * low, -1);
  if (settle_exact(&below) < 0) return 0;
  if (root == 0x7f800000u) return 1;
  add_exact(&above, high * high, -1);
  return settle_exact(&above) < 0 || round_exact(above) == 0;
}

/* One of the types, each with the three functions. */
typedef struct type_case {
  const char *name;
  mpnum_type type;
  size_t size;
  float (*calls[KINDS])(const void *, const void *, size_t);
} type_case;
#define TYPE(name, type)                                            \
 static float sum_##name(const void *a, const void *b, size_t n) {  \
  (void)b;                                                          \
  return mpnum_sum_##name((const type *)a, n);                      \
 }                                                                  \
 static float dot_##name(const void *a, const void *b, size_t n) {  \
  return mpnum_dot_##name((const type *)a, (const type *)b, n);     \
 }                                                                  \
 static float norm_##name(const void *a, const void *b, size_t n) { \
  (void)b;                                                          \
  return mpnum_norm_##name((const type *)a, n);                     \
 }
TYPE(f32, float)
TYPE(bf16, mpnum_bf16)
TYPE(f16, mpnum_f16)
/* No names of their own: by exact sums. */
#define BY_EXACT_SUM(name, NAME)                                          \
 static float sum_##name(const void *a, const void *b, size_t n) {        \
  mpnum_exact_sum total = mpnum_exact_sum_empty();                        \
  (void)b;                                                                \
  must(mpnum_exact_sum_add(&total, MPNUM_TYPE_##NAME, a, n));             \
  return mpnum_exact_sum_value(total);                                    \
 }                                                                        \
 static float dot_##name(const void *a, const void *b, size_t n) {        \
  mpnum_exact_sum total = mpnum_exact_sum_empty();                        \
  must(mpnum_exact_sum_add_products(&total, MPNUM_TYPE_##NAME, a, b, n)); \
  return mpnum_exact_sum_value(total);                                    \
 }                                                                        \
 static float norm_##name(const void *a, const void *b, size_t n) {       \
  mpnum_exact_sum total = mpnum_exact_sum_empty();                        \
  (void)b;                                                                \
  must(mpnum_exact_sum_add_squares(&total, MPNUM_TYPE_##NAME, a, n));     \
  return mpnum_exact_sum_root(total);                                     \
 }
BY_EXACT_SUM(e5m2, E5M2)
BY_EXACT_SUM(e4m3, E4M3)
static const type_case types[] = {
    {"f32", MPNUM_TYPE_F32, 4, {sum_f32, dot_f32, norm_f32}},
    {"bf16", MPNUM_TYPE_BF16, 2, {sum_bf16, dot_bf16, norm_bf16}},
    {"f16", MPNUM_TYPE_F16, 2, {sum_f16, dot_f16, norm_f16}},
    {"e5m2", MPNUM_TYPE_E5M2, 1, {sum_e5m2, dot_e5m2, norm_e5m2}},
    {"e4m3", MPNUM_TYPE_E4M3, 1, {sum_e4m3, dot_e4m3, norm_e4m3}}};
enum { TYPES = sizeof types / sizeof *types, MOST = 6200 };

/* The elements of the two arrays, as they are in memory and as floats. */
static float values_a[MOST], values_b[MOST];

static void set_element(const type_case *type, uint8_t *dst, float *value, size_t i,
                        uint32_t bits) {
  uint16_t half = (uint16_t)bits;
  uint8_t byte = (uint8_t)bits;
  if (type->size == 4) {
    memcpy(dst + 4 * i, &bits, 4);
    value[i] = mpnum_from_bits_f32(bits);
    return;
  }
  memcpy(dst + type->size * i, type->size == 2 ? (void *)&half : (void *)&byte,
         type->size);
  value[i] = mpnum_decode(mpnum_format_of(type->type), type->size == 2 ? half : byte);
}

/* Sorts of arrays: any finite numbers; near 1; huge and tiny in turn, with signs; the
 * smallest; the largest; any bits; and lanes where what is added is rounded, then all
 * else is taken away. */
enum { SORTS = 7 };
static uint32_t element_of(const type_case *type, int sort, size_t i) {
  const mpnum_format format = mpnum_format_of(type->type);
  const int width = format.exponent_bits + format.mantissa_bits;
  const uint32_t ones = ((uint32_t)1 << width) - 1;
  const uint32_t sign = (random_bits() & 1) << width;
  const uint32_t bits = random_bits();
  const uint32_t fraction = bits & (((uint32_t)1 << format.mantissa_bits) - 1);
  switch (sort) {
  case 0: return sign | bits % (format.max_code + 1);
  case 1: return sign | (uint32_t)format.bias << format.mantissa_bits | fraction;
  case 2:
    return (i & 2 ? sign ^ 1u << width : sign) |
           (i & 1 ? format.max_code - bits % 9 : bits % 9);
  case 3: return sign | bits % 3;
  case 4: return format.max_code - bits % 3;
  case 5: return sign | (bits & ones);
  default:
    if (i / 64 % 2 == 0)
      return (uint32_t)(i / 128 % 2) << width | (format.max_code - (uint32_t)(i % 64));
    return sign | (uint32_t)format.bias << format.mantissa_bits | fraction;
  }
}
static void fill(const type_case *type, int sort, uint8_t *a, uint8_t *b, size_t n) {
  size_t i = 0;
  for (; i < n; ++i) {
    set_element(type, a, values_a, i, element_of(type, sort, i));
    set_element(type, b, values_b, i, element_of(type, sort, i));
  }
}

static mpnum_exact_sum total_of(int kind, const type_case *type, const void *a,
                                const void *b, size_t n) {
  mpnum_exact_sum total = mpnum_exact_sum_empty();
  mpnum_status status = MPNUM_OK;
  if (kind == SUM) status = mpnum_exact_sum_add(&total, type->type, a, n);
  if (kind == DOT) status = mpnum_exact_sum_add_products(&total, type->type, a, b, n);
  if (kind == NORM) status = mpnum_exact_sum_add_squares(&total, type->type, a, n);
  CHECK(status == MPNUM_OK, "%s is refused", type->name);
  return total;
}

/* Whether a total is the sum to its last bit. */
static int is_total(const exact *sum, const mpnum_exact_sum *total) {
  exact difference = *sum;
  int i = 0;
  if ((total->nans != 0) != sum->has_nan ||
      (total->positive_infs != 0) != sum->has_plus ||
      (total->negative_infs != 0) != sum->has_minus)
    return 0;
  for (; i < 20; ++i)
    difference.bit[32 * i + ZERO_PLACE - 298] -= total->limbs[i];
  (void)settle_exact(&difference);
  for (i = 0; i < BITS; ++i)
    if (difference.bit[i] != 0) return 0;
  return 1;
}

static void check(const char *isa, const type_case *type, const uint8_t *a,
                  const uint8_t *b, size_t n) {
  static exact sum;
  int kind = 0;
  for (; kind < KINDS; ++kind) {
    const uint32_t got = mpnum_bits_f32(type->calls[kind](a, b, n));
    const mpnum_exact_sum total = total_of(kind, type, a, b, n);
    model(kind, values_a, values_b, n, &sum);
    CHECK(is_total(&sum, &total), "%s, %s, total for the %s of %zu", isa, type->name,
          kind_names[kind], n);
    if (kind == NORM) {
      CHECK(is_root(&sum, got), "%s, %s, norm of %zu: %08x", isa, type->name, n,
            (unsigned)got);
    } else {
      const uint32_t want = round_exact(sum);
      CHECK(got == want, "%s, %s, %s of %zu: %08x, want %08x", isa, type->name,
            kind_names[kind], n, (unsigned)got, (unsigned)want);
    }
  }
}

static void check_lengths(const char *isa) {
  static const size_t lengths[] = {300, 2047, 2048, 2049, 4095, 4096, 4097, 6143, 6200};
  size_t i = 0, n = 0;
  int k = 0, sort = 0;
  for (; k < TYPES; ++k) {
    for (n = 0; n < 200; ++n) {
      uint8_t *a = array_before_end(n * types[k].size, 0), *b = array_after_start(0);
      fill(&types[k], (int)n % SORTS, a, b, n);
      check(isa, &types[k], a, b, n);
    }
    for (i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
      for (sort = 0; sort < SORTS; ++sort) {
        const size_t bytes = lengths[i] * types[k].size;
        uint8_t *a = array_after_start(0), *b = array_before_end(bytes, 0);
        fill(&types[k], sort, a, b, lengths[i]);
        check(isa, &types[k], a, b, lengths[i]);
      }
    }
  }
}
static void any_length_between_pages(void) { for_isas(check_lengths); }

/* A NaN and Infs in each place. */
static void check_places(const char *isa) {
  const type_case *f32 = &types[0];
  uint8_t *a = array_after_start(4), *b = array_before_end(4 * 140, 0);
  size_t place = 0;
  for (; place < 140; ++place) {
    fill(f32, 1, a, b, 140);
    set_element(f32, a, values_a, place, 0xff800000u);
    check(isa, f32, a, b, 140);
    set_element(f32, b, values_b, place, 0); /* Inf * 0 */
    check(isa, f32, a, b, 140);
    set_element(f32, a, values_a, (place + 64) % 140, 0x7f800000u);
    check(isa, f32, a, b, 140);
    set_element(f32, a, values_a, place, 0x7f800001u);
    check(isa, f32, a, b, 140);
  }
}
static void special_values_in_every_place(void) { for_isas(check_places); }

static void check_extremes(const char *isa) {
  float x[3000];
  size_t i = 0;
  for (; i < 3000; ++i)
    x[i] = 1e38f;
  CHECK(mpnum_norm_f32(x, 4) == 2e38f, "%s: norm near the largest float", isa);
  CHECK(mpnum_bits_f32(mpnum_norm_f32(x, 3000)) == 0x7f800000u, "%s: norm too large",
        isa);
  CHECK(mpnum_bits_f32(mpnum_sum_f32(x, 3000)) == 0x7f800000u, "%s: sum too large", isa);
  x[1] = -1e38f;
  x[2] = -1e38f;
  x[3] = 3e38f;
  x[4] = -3e38f;
  CHECK(mpnum_sum_f32(x, 5) == -1e38f, "%s: sum that is large for a while", isa);
  for (i = 0; i < 3000; ++i)
    x[i] = mpnum_from_bits_f32(1);
  CHECK(mpnum_bits_f32(mpnum_norm_f32(x, 2500)) == 50, "%s: norm of the smallest", isa);
  CHECK(mpnum_bits_f32(mpnum_sum_f32(x, 3000)) == 3000, "%s: sum of the smallest", isa);
  CHECK(mpnum_bits_f32(mpnum_dot_f32(x, x, 3000)) == 0, "%s: dot below all floats", isa);
  x[0] = x[1] = mpnum_from_bits_f32(0x80000000u);
  CHECK(mpnum_bits_f32(mpnum_sum_f32(x, 2)) == 0, "%s: -0 and -0", isa);
  CHECK(mpnum_bits_f32(mpnum_sum_f32(x, 0)) == 0, "%s: sum of none", isa);
  CHECK(mpnum_bits_f32(mpnum_norm_f32(x, 0)) == 0, "%s: norm of none", isa);
}
static void neither_overflow_nor_underflow(void) { for_isas(check_extremes); }

/* In floats, each step rounded once: a fma into sum i % 64, then halves. */
static void check_light(const char *isa) {
  uint8_t *a = array_after_start(0), *b = array_before_end(4 * 6200, 0);
  static const size_t sizes[] = {0, 1, 63, 64, 65, 1000, 2048, 2049, 4096, 6200};
  for (int turn = 0; turn < 8; ++turn) {
    fill(&types[0], turn % 4, a, b, 6200);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
      float sums[64] = {0}, x = 0, y = 0;
      const size_t n = sizes[k];
      for (size_t i = 0; i < (n + 63) / 64 * 64; ++i) {
        x = y = 0; /* what fills up the last 64 */
        if (i < n) memcpy(&x, a + 4 * i, 4);
        if (i < n) memcpy(&y, b + 4 * i, 4);
        sums[i % 64] = fmaf(x, y, sums[i % 64]);
      }
      for (size_t width = 32; width > 0; width /= 2)
        for (size_t i = 0; i < width; ++i) {
          volatile float sum = sums[i] + sums[width + i];
          sums[i] = sum;
        }
      const float got =
          mpnum_dot_light_f32((const float *)(void *)a, (const float *)(void *)b, n);
      const uint32_t want =
          mpnum_isnan_f32(sums[0]) ? 0x7fffffffu : mpnum_bits_f32(sums[0]);
      CHECK(mpnum_bits_f32(got) == want, "%s, %zu: %a, not %a", isa, n, (double)got,
            (double)sums[0]);
    }
  }
}
static void a_light_dot_product_is_that_of_its_order(void) { for_isas(check_light); }

/* The error stated, against the exact sum: 39 * 2^-53 of the magnitudes, and half a place
 * of the result. */
static void check_error(const char *isa) {
  static exact difference;
  uint8_t *a = array_after_start(0), *b = array_before_end(4 * 6200, 0);
  int turn = 0, kind = 0;
  for (; turn < 12; ++turn) {
    fill(&types[0], turn % 4, a, b, 6200);
    for (kind = SUM; kind <= DOT; ++kind) {
      const float got = types[0].calls[kind](a, b, 6200);
      double magnitudes = 0, bound = 0;
      size_t i = 0;
      if (!mpnum_isfinite_f32(got)) continue;
      memset(&difference, 0, sizeof difference);
      for (; i < 6200; ++i) {
        const double x = product(kind, values_a, values_b, i);
        add_exact(&difference, x, 1);
        magnitudes += x < 0 ? -x : x;
      }
      add_exact(&difference, mpnum_f32_to_f64(got), -1);
      bound = magnitudes * 39.01 * 0x1p-53 +
              mpnum_f32_to_f64(
                  mpnum_ulp(mpnum_format_of(MPNUM_TYPE_F32), mpnum_bits_f32(got))) /
                  2;
      (void)settle_exact(&difference);
      add_exact(&difference, bound, -1);
      CHECK(settle_exact(&difference) < 0, "%s, %s: error above the bound", isa,
            kind_names[kind]);
    }
  }
}
static void error_is_as_stated(void) { for_isas(check_error); }

/* Parts cut at tiles, in any order and grouping, by merging or by adding words. */
static void check_merging(const char *isa) {
  static const size_t order[] = {2, 0, 3, 1};
  uint8_t *a = array_after_start(0), *b = array_before_end(4 * 6200, 0);
  int turn = 0;
  for (; turn < 12; ++turn) {
    mpnum_exact_sum sum = mpnum_exact_sum_empty(), squares = sum, products = sum,
                    words = sum;
    size_t i = 0, w = 0;
    fill(&types[0], turn % SORTS, a, b, 6200);
    for (; i < 4; ++i) {
      const size_t start = order[i] * 2048, n = order[i] == 3 ? 6200 - 6144 : 2048;
      mpnum_exact_sum part = mpnum_exact_sum_empty();
      int64_t *to = (int64_t *)&words;
      const int64_t *from = (const int64_t *)&part;
      must(mpnum_exact_sum_add(&part, MPNUM_TYPE_F32, a + 4 * start, n));
      sum = i & 1 ? mpnum_exact_sum_merge(part, sum) : mpnum_exact_sum_merge(sum, part);
      for (w = 0; w < sizeof part / 8; ++w)
        to[w] += from[w];
      must(mpnum_exact_sum_add_squares(&squares, MPNUM_TYPE_F32, a + 4 * start, n));
      must(mpnum_exact_sum_add_products(&products, MPNUM_TYPE_F32, a + 4 * start,
                                        b + 4 * start, n));
    }
    CHECK(mpnum_bits_f32(mpnum_exact_sum_value(sum)) ==
              mpnum_bits_f32(types[0].calls[SUM](a, b, 6200)),
          "%s: merged", isa);
    CHECK(sum.terms == 4 && words.terms == 4, "%s: terms are not counted", isa);
    CHECK(mpnum_bits_f32(mpnum_exact_sum_value(words)) ==
              mpnum_bits_f32(types[0].calls[SUM](a, b, 6200)),
          "%s: words added", isa);
    CHECK(mpnum_bits_f32(mpnum_exact_sum_root(squares)) ==
              mpnum_bits_f32(types[0].calls[NORM](a, b, 6200)),
          "%s: squares", isa);
    CHECK(mpnum_bits_f32(mpnum_exact_sum_value(products)) ==
              mpnum_bits_f32(types[0].calls[DOT](a, b, 6200)),
          "%s: products", isa);
  }
}
static void parts_merge_to_the_same_bits(void) { for_isas(check_merging); }

/* One element a time is exact: the sum of many, past the point where carries are due. */
static void totals_are_exact(void) {
  static exact sum;
  mpnum_exact_sum total = mpnum_exact_sum_empty();
  int i = 0;
  memset(&sum, 0, sizeof sum);
  for (; i < 200000; ++i) {
    const uint32_t bits =
        i % 7 ? element_of(&types[0], i % 5, (size_t)i)
              : mpnum_bits_f32(mpnum_exact_sum_value(total)) ^ 0x80000000u;
    const float x =
        mpnum_from_bits_f32(mpnum_isfinite_f32(mpnum_from_bits_f32(bits)) ? bits : 1);
    if (i < 70000) {
      must(mpnum_exact_sum_add(&total, MPNUM_TYPE_F32, &x, 1));
      add_exact(&sum, mpnum_f32_to_f64(x), 1);
    } else {
      must(mpnum_exact_sum_add_squares(&total, MPNUM_TYPE_F32, &x, 1));
      add_exact(&sum, mpnum_f32_to_f64(x) * mpnum_f32_to_f64(x), 1);
    }
    if (i % 501 == 0)
      CHECK(mpnum_bits_f32(mpnum_exact_sum_value(total)) == round_exact(sum), "after %d",
            i);
  }
  CHECK(total.terms < 1 << 16, "carries are never done");
  CHECK(is_root(&sum, mpnum_bits_f32(mpnum_exact_sum_root(total))), "root");
}

/* Halfway between two floats, or their squares, and the smallest bit more or less. */
static void ties_are_decided_by_the_last_bit(void) {
  const float steps[] = {0x1p-149f, 0, -0x1p-149f};
  const uint32_t values[] = {0x3f800001u, 0x3f800000u, 0x3f800000u};
  int i = 0, k = 0;
  for (; i < 3; ++i) {
    const float terms[] = {1, 0x1p-24f, 1, 0x1p-23f, 0x1p-48f};
    mpnum_exact_sum total = mpnum_exact_sum_empty(), square = total;
    for (k = 0; k < 5; ++k)
      must(mpnum_exact_sum_add(k < 2 ? &total : &square, MPNUM_TYPE_F32, &terms[k], 1));
    must(mpnum_exact_sum_add(&total, MPNUM_TYPE_F32, &steps[i], 1));
    must(mpnum_exact_sum_add(&square, MPNUM_TYPE_F32, &steps[i], 1));
    CHECK(mpnum_bits_f32(mpnum_exact_sum_value(total)) == values[i], "value %d", i);
    CHECK(mpnum_bits_f32(mpnum_exact_sum_root(square)) == values[i], "root %d", i);
  }
}

static void totals_of_other_types_are_refused(void) {
  mpnum_exact_sum total = mpnum_exact_sum_empty();
  const float x = 1;
  CHECK(mpnum_exact_sum_add(&total, MPNUM_TYPE_E8M0, &x, 1) == MPNUM_ERROR_TYPE, "e8m0");
  CHECK(total.terms == 0, "something was added");
  must(mpnum_exact_sum_add(&total, MPNUM_TYPE_F32, &x, 1));
  total = mpnum_exact_sum_merge(mpnum_exact_sum_empty(), total);
  CHECK(mpnum_exact_sum_value(total) == 1, "one");
  total.limbs[9] = -total.limbs[9]; /* 2^-10 and up: where 1 is */
  CHECK(mpnum_exact_sum_value(total) == -1, "minus one");
  CHECK(mpnum_bits_f32(mpnum_exact_sum_root(total)) == 0x7fffffffu, "root of minus one");
}

int main(void) {
  TAP_RUN(a_light_dot_product_is_that_of_its_order);
  TAP_RUN(neither_overflow_nor_underflow);
  TAP_RUN(any_length_between_pages);
  TAP_RUN(special_values_in_every_place);
  TAP_RUN(error_is_as_stated);
  TAP_RUN(parts_merge_to_the_same_bits);
  TAP_RUN(totals_are_exact);
  TAP_RUN(ties_are_decided_by_the_last_bit);
  TAP_RUN(totals_of_other_types_are_refused);
  return tap_done();
}
