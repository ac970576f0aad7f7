/* SPDX-License-Identifier: MIT */
/* Sums of units, bit for bit: a slow model in MPFR, whose numbers are written out of the
 * papers (docs/product.md), takes the same steps in another way; cases of Fasi, Higham,
 * Mikaitis and Pranesh; the units in f32 beside loops of floats. */
#include "../harness/control_word.h"
#include "../harness/tap.h"
#include "../reference/conversion_inputs.h"
#include "../reference/reference.h"

#include <mpnum/hardware/product.h>

#include <math.h>
#include <mpfr.h>

enum { MOST = 160, PRECISION = 700 };
static uint64_t state = 7;

/* --- the slow model --- */

/* What is added at once, and how: aligned with the sum so far, or without it and then in
 * the type of sums; as AMD's; pairs of pairs, where subnormals are 0; exactly. */
typedef enum way { ALIGNED, APART, AMD, AMD_EVEN_ODD, PAIRS, EXACT } way;
typedef struct model {
  const char *name, *type;
  int products, bits, kept, is_nearest, is_half, least;
  way how;
} model;
static const model models[] = {
    {"v100.f16", "f16", 4, 23, 23, 0, 0, -9999, ALIGNED},
    {"v100.f16.f16", "f16", 4, 23, 10, 1, 1, -19, ALIGNED},
    {"t4.f16", "f16", 8, 24, 23, 0, 0, -132, ALIGNED},
    {"t4.f16.f16", "f16", 8, 24, 10, 1, 1, -20, ALIGNED},
    {"a100.f16", "f16", 8, 24, 23, 0, 0, -132, ALIGNED},
    {"a100.f16.f16", "f16", 8, 24, 10, 1, 1, -20, ALIGNED},
    {"a100.bf16", "bf16", 8, 24, 23, 0, 0, -132, ALIGNED},
    {"a100.tf32", "tf32", 4, 24, 23, 0, 0, -132, ALIGNED},
    {"ada.f16", "f16", 8, 24, 23, 0, 0, -132, ALIGNED},
    {"ada.f16.f16", "f16", 8, 24, 10, 1, 1, -20, ALIGNED},
    {"ada.bf16", "bf16", 8, 24, 23, 0, 0, -132, ALIGNED},
    {"ada.tf32", "tf32", 4, 24, 23, 0, 0, -132, ALIGNED},
    {"ada.fp8", "e4m3", 16, 13, 13, 0, 0, -132, ALIGNED},
    {"ada.fp8.f16", "e5m2", 16, 13, 10, 1, 1, -132, ALIGNED},
    {"h100.f16", "f16", 16, 25, 23, 0, 0, -133, ALIGNED},
    {"h100.f16.f16", "f16", 16, 25, 10, 1, 1, -21, ALIGNED},
    {"h100.bf16", "bf16", 16, 25, 23, 0, 0, -133, ALIGNED},
    {"h100.tf32", "tf32", 8, 25, 23, 0, 0, -133, ALIGNED},
    {"h100.fp8", "e5m2", 32, 13, 13, 0, 0, -133, ALIGNED},
    {"h100.fp8.f16", "e4m3", 32, 13, 10, 1, 1, -133, ALIGNED},
    {"h100.mma.fp8", "e4m3", 32, 25, 23, 0, 0, -133, APART},
    {"h100.mma.fp8.f16", "e5m2", 32, 25, 10, 1, 1, -21, APART},
    {"b200.f16", "f16", 16, 25, 23, 0, 0, -133, ALIGNED},
    {"b200.f16.f16", "f16", 16, 25, 10, 1, 1, -21, ALIGNED},
    {"b200.bf16", "bf16", 16, 25, 23, 0, 0, -133, ALIGNED},
    {"b200.tf32", "tf32", 8, 25, 23, 0, 0, -133, ALIGNED},
    {"b200.fp8", "e2m3", 32, 25, 23, 0, 0, -133, ALIGNED},
    {"b200.fp8.f16", "e4m3", 32, 25, 10, 1, 1, -133, ALIGNED},
    {"b200.mma.fp8", "e5m2", 32, 25, 23, 0, 0, -133, APART},
    {"b200.mma.fp8.f16", "e4m3", 32, 25, 10, 1, 1, -21, APART},
    {"mi100.f16", "f16", 4, 0, 23, 1, 0, 0, EXACT},
    {"mi100.bf16", "bf16", 2, 0, 23, 1, 0, 0, EXACT},
    {"mi250.f16", "f16", 4, 0, 23, 1, 0, 0, PAIRS},
    {"mi250.bf16", "bf16", 2, 0, 23, 1, 0, 0, PAIRS},
    {"mi250.bf16_1k", "bf16", 4, 0, 23, 1, 0, 0, PAIRS},
    {"mi300.f16", "f16", 8, 24, 23, 1, 0, 0, AMD},
    {"mi300.bf16", "bf16", 8, 24, 23, 1, 0, 0, AMD},
    {"mi300.tf32", "tf32", 4, 24, 23, 1, 0, 0, AMD},
    {"mi300.fp8", "e4m3fnuz", 16, 24, 23, 1, 0, 0, AMD_EVEN_ODD}};
enum { MODELS = sizeof models / sizeof *models };

typedef struct numbers {
  const ref_format *format;
  double values[MOST];
  uint32_t codes[MOST];
} numbers;

static double double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static int least_of(const ref_format *format) { return 1 - format->bias; }
/* The exponent of a value of a format: that of subnormals is the least one. */
static int exponent_of(double x, int least) {
  int exponent;
  if (x == 0) return -99999;
  frexp(x, &exponent);
  return exponent - 1 < least ? least : exponent - 1;
}
static int larger(int a, int b) { return a > b ? a : b; }
/* x cut at the place 2^place, toward zero or minus infinity, or rounded to even. */
static void cut(mpfr_t x, int place, mpfr_rnd_t how) {
  mpfr_mul_2si(x, x, -place, MPFR_RNDN);
  if (how == MPFR_RNDN)
    mpfr_rint_roundeven(x, x, MPFR_RNDN);
  else if (how == MPFR_RNDD)
    mpfr_floor(x, x);
  else
    mpfr_trunc(x, x);
  mpfr_mul_2si(x, x, place, MPFR_RNDN);
}
/* A sum as a unit keeps it. */
static double kept(const model *unit, mpfr_t sum) {
  const int least = unit->is_half ? -14 : -126;
  double value;
  if (mpfr_zero_p(sum)) return 0;
  cut(sum, larger((int)mpfr_get_exp(sum) - 1, least) - unit->kept,
      unit->is_nearest ? MPFR_RNDN : MPFR_RNDZ);
  value = mpfr_get_d(sum, MPFR_RNDN);
  if (fabs(value) >= (unit->is_half ? 0x1p16 : 0x1p128)) return copysign(INFINITY, value);
  return value == 0 ? 0 : value;
}
static void product_of(mpfr_t to, const numbers *a, const numbers *b, int k) {
  mpfr_set_d(to, a->values[k], MPFR_RNDN);
  mpfr_mul_d(to, to, b->values[k], MPFR_RNDN);
}
/* Some elements of a step. */
typedef struct picks {
  int at[64], count;
} picks;
static picks every(int first, int end, int run, int part) {
  picks made = {{0}, 0};
  int k = first;
  for (; k < end; ++k)
    if (run == 0 || (k - first) / run % 2 == part) made.at[made.count++] = k;
  return made;
}
/* Their largest exponent. */
static int most_of(const numbers *a, const numbers *b, const picks *from) {
  int most = -99999, i;
  for (i = 0; i < from->count; ++i) {
    const double x = a->values[from->at[i]], y = b->values[from->at[i]];
    if (x != 0 && y != 0)
      most = larger(most, exponent_of(x, least_of(a->format)) +
                              exponent_of(y, least_of(b->format)));
  }
  return most;
}
static void add_cut(mpfr_t sum, const numbers *a, const numbers *b, const picks *from,
                    int place) {
  mpfr_t x;
  int i;
  mpfr_init2(x, PRECISION);
  for (i = 0; i < from->count; ++i) {
    product_of(x, a, b, from->at[i]);
    cut(x, place, MPFR_RNDZ);
    mpfr_add(sum, sum, x, MPFR_RNDN);
  }
  mpfr_clear(x);
}
static double aligned(const model *unit, const numbers *a, const numbers *b, picks from,
                      double c) {
  const int c_exponent = exponent_of(c, unit->is_half ? -14 : -126);
  const int most = larger(larger(most_of(a, b, &from), c_exponent), unit->least);
  double value;
  mpfr_t sum, x;
  mpfr_inits2(PRECISION, sum, x, (mpfr_ptr)0);
  mpfr_set_d(sum, c, MPFR_RNDN);
  cut(sum, most - unit->bits, MPFR_RNDZ);
  add_cut(sum, a, b, &from, most - unit->bits);
  value = kept(unit, sum);
  mpfr_clears(sum, x, (mpfr_ptr)0);
  return value;
}
/* Sums of products are cut 24 bits behind the point, to minus infinity where sums of even
 * and odd ones meet; then 31 bits, and c to 24. */
static double amd(const model *unit, const numbers *a, const numbers *b, int first,
                  int end, double c) {
  const int run = unit->how == AMD_EVEN_ODD, sums = 1 + run;
  const int c_exponent = c == 0 ? -126 : exponent_of(c, -126);
  int most[2] = {-99999, -99999}, both, i;
  double value;
  mpfr_t total, part;
  mpfr_inits2(PRECISION, total, part, (mpfr_ptr)0);
  mpfr_set_zero(total, 1);
  for (i = 0; i < sums; ++i) {
    const picks from = every(first, end, run, i);
    most[i] = most_of(a, b, &from);
  }
  both = larger(most[0], most[1]);
  for (i = 0; i < sums; ++i) {
    const picks from = every(first, end, run, i);
    if (most[i] == -99999) continue;
    mpfr_set_zero(part, 1);
    add_cut(part, a, b, &from, most[i] - 24);
    cut(part, both - 24, MPFR_RNDD);
    mpfr_add(total, total, part, MPFR_RNDN);
  }
  both = larger(both, c_exponent);
  cut(total, both - 31, MPFR_RNDD);
  mpfr_set_d(part, c, MPFR_RNDN);
  cut(part, both - 24, MPFR_RNDD);
  if (run && c_exponent < both - 25) mpfr_set_zero(part, 1);
  mpfr_add(total, total, part, MPFR_RNDN);
  value = kept(unit, total);
  mpfr_clears(total, part, (mpfr_ptr)0);
  return value;
}
static float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }
static double pairs(const numbers *a, const numbers *b, int first, int end, double c) {
  volatile float sums[4] = {0, 0, 0, 0}, sum = flushed((float)c);
  int k;
  for (k = first; k < end; ++k) {
    const int is_low = fabs(a->values[k]) < ldexp(1, least_of(a->format)) ||
                       fabs(b->values[k]) < ldexp(1, least_of(b->format));
    sums[k - first] = is_low ? 0 : flushed((float)(a->values[k] * b->values[k]));
  }
  sums[0] = flushed(sums[0] + sums[1]);
  sums[2] = flushed(sums[2] + sums[3]);
  sums[0] = flushed(sums[0] + sums[2]);
  sum = sum + sums[0];
  return (double)flushed(sum);
}
static double exact(const model *unit, const numbers *a, const numbers *b, int first,
                    int end, double c) {
  double value;
  mpfr_t sum, x;
  mpfr_inits2(PRECISION, sum, x, (mpfr_ptr)0);
  mpfr_set_d(sum, c, MPFR_RNDN);
  for (; first < end; ++first) {
    product_of(x, a, b, first);
    mpfr_add(sum, sum, x, MPFR_RNDN);
  }
  value = kept(unit, sum);
  mpfr_clears(sum, x, (mpfr_ptr)0);
  return value;
}
static double step(const model *unit, const numbers *a, const numbers *b, int first,
                   int end, double c) {
  int is_up = c == (double)INFINITY, is_down = c == (double)-INFINITY, k;
  if (isnan(c)) return c;
  for (k = first; k < end && unit->how >= AMD && unit->how <= AMD_EVEN_ODD; ++k) {
    is_up |= a->values[k] * b->values[k] >= 0x1p128;
    is_down |= a->values[k] * b->values[k] <= -0x1p128;
  }
  if ((is_up || is_down) && unit->how != APART) {
    if (unit->how == PAIRS) return pairs(a, b, first, end, c);
    return is_up && is_down ? (double)NAN : is_up ? (double)INFINITY : (double)-INFINITY;
  }
  switch (unit->how) {
  case ALIGNED: return aligned(unit, a, b, every(first, end, 0, 0), c);
  case AMD:
  case AMD_EVEN_ODD: return amd(unit, a, b, first, end, c);
  case PAIRS: return pairs(a, b, first, end, c);
  case EXACT: return exact(unit, a, b, first, end, c);
  case APART: break;
  }
  {
    const double one = aligned(unit, a, b, every(first, end, 2, 0), 0);
    model sums = *unit;
    double own = aligned(unit, a, b, every(first, end, 2, 1), one);
    mpfr_t sum;
    if (isinf(one)) own = one;
    if (isinf(own) || isinf(c)) return own + c;
    mpfr_init2(sum, PRECISION);
    mpfr_set_d(sum, own, MPFR_RNDN);
    mpfr_add_d(sum, sum, c, MPFR_RNDN);
    sums.is_nearest = 1;
    own = kept(&sums, sum);
    mpfr_clear(sum);
    return own;
  }
}

/* --- inputs --- */

static int below(int n) { return (int)(random_bits(&state) % (uint64_t)n); }
static void set_number(numbers *to, int k, uint32_t code) {
  to->codes[k] = code << to->format->storage_shift;
  to->values[k] = double_of(ref_decode(to->format, to->codes[k]));
}
/* A finite code: of all exponents, near 1, powers of two, subnormal or 0. */
static uint32_t draw(const ref_format *format, int kind) {
  const int m = format->mantissa_bits;
  const uint32_t sign = (uint32_t)below(2) << (format->exponent_bits + m);
  uint32_t code = (uint32_t)random_bits(&state) % (format->max_code + 1);
  if (kind == 1)
    code = ((uint32_t)(format->bias - 2 + below(4)) << m) + (code & ((1u << m) - 1));
  if (kind == 2) code = (uint32_t)below((int)(format->max_code >> m)) << m;
  if (kind == 3 && below(4) < 3) code &= (1u << m) - 1;
  if (kind == 4)
    code =
        ((uint32_t)(format->bias - 6 + below(12) > 0 ? format->bias - 6 + below(12) : 1)
         << m) |
        (code & ((1u << m) - 1));
  if (code > format->max_code) code = format->max_code;
  if (code == 0 && !format->has_negative_zero) return 0;
  return sign | code;
}
static void draw_pair(numbers *a, numbers *b, int n, int kind) {
  int k;
  for (k = 0; k < n; ++k) {
    set_number(a, k, draw(a->format, kind));
    set_number(b, k, draw(b->format, kind));
    if (kind == 5 && k % 2) { /* pairs that cancel, nearly or not at all */
      b->codes[k] = b->codes[k - 1];
      b->values[k] = b->values[k - 1];
      a->codes[k] =
          a->codes[k - 1] ^ 1u << (a->format->exponent_bits + a->format->mantissa_bits +
                                   a->format->storage_shift);
      a->values[k] = -a->values[k - 1];
      if (!a->format->has_negative_zero && a->values[k] == 0) a->codes[k] = 0;
    }
  }
}
static float draw_start(int kind) {
  const float sign = below(2) ? 1 : -1;
  const float mantissa = 1 + (float)below(1 << 23) * 0x1p-23f;
  if (below(3) == 0) return 0;
  if (kind == 0) return sign * ldexpf(mantissa, below(250) - 125);
  if (kind == 3) return sign * ldexpf(mantissa, -110 - below(40));
  return sign * ldexpf(mantissa, below(40) - 20);
}

/* --- calls --- */

static mpnum_product_operand row_of(const numbers *from, int n) {
  static unsigned char bytes[2][MOST * 4];
  static int turn;
  const ref_format *f = from->format;
  const int width = 1 + f->exponent_bits + f->mantissa_bits;
  const size_t size = width > 16 ? 4 : width > 8 ? 2 : 1;
  mpnum_type type = (mpnum_type)MPNUM_TYPE_TF32;
  int k;
  turn = !turn;
  for (k = 0; k < n; ++k) {
    const uint16_t half = (uint16_t)from->codes[k];
    const uint8_t byte = (uint8_t)from->codes[k];
    memcpy(bytes[turn] + (size_t)k * size,
           size == 4   ? (const void *)&from->codes[k]
           : size == 2 ? (const void *)&half
                       : (const void *)&byte,
           size);
  }
  while (strcmp(mpnum_type_name(type), f->name) != 0)
    type = (mpnum_type)(type + 1);
  return mpnum_product_operand_of(mpnum_const_matrix_of(type, bytes[turn], 1, (size_t)n));
}
static float multiply(mpnum_product_unit unit, const numbers *a, const numbers *b, int n,
                      const float *start) {
  const mpnum_const_matrix begin = mpnum_const_matrix_of(MPNUM_TYPE_F32, start, 1, 1);
  float got = 0;
  const mpnum_product_operand x = row_of(a, n), y = row_of(b, n);
  const mpnum_status status = mpnum_product(mpnum_matrix_of(MPNUM_TYPE_F32, &got, 1, 1),
                                            unit, x, y, start ? &begin : NULL);
  CHECK(status == MPNUM_OK, "status %d", (int)status);
  return got;
}
static int is_same(float got, double want) {
  const uint32_t bits = mpnum_bits_f32(got);
  if (isnan(want)) return bits == 0x7fffffff;
  return bits == mpnum_bits_f32((float)want);
}
static double half_of(double x) {
  return double_of(ref_decode(ref_format_named("f16"),
                              ref_encode(ref_format_named("f16"), mpnum_bits_f64(x),
                                         REF_NEAREST_EVEN, REF_IEEE, 0)));
}

static void units_take_the_published_steps(void) {
  int i, round, first;
  for (i = 0; i < MODELS; ++i) {
    const model *const unit = &models[i];
    const mpnum_product_unit how = mpnum_product_unit_of(unit->name);
    for (round = 0; round < 360; ++round) {
      const int kind = round % 6,
                n = round % 7 == 0 ? 1 + below(unit->products) : 1 + below(MOST);
      numbers a = {ref_format_named(unit->type), {0}, {0}}, b = a;
      float start = draw_start(kind);
      double sum, total = 0;
      mpnum_product_unit promoted = how;
      draw_pair(&a, &b, n, kind);
      sum = unit->is_half ? half_of((double)start) : (double)start;
      if (round % 4 == 3) { /* promoted every second step */
        promoted.promotion = 2 * (uint64_t)unit->products;
        total = sum;
        sum = 0;
      }
      for (first = 0; first < n; first += unit->products) {
        const int end = first + unit->products < n ? first + unit->products : n;
        volatile float added;
        sum = step(unit, &a, &b, first, end, sum);
        if (!promoted.promotion || (first / unit->products % 2 == 0 && end < n)) continue;
        added = (float)total + (float)sum;
        total = (double)added;
        sum = 0;
      }
      if (promoted.promotion) sum = total;
      {
        const float got = multiply(promoted, &a, &b, n, &start);
        CHECK(is_same(got, sum), "%s, kind %d, %d elements, from %a: %a, model %a",
              unit->name, kind, n, (double)start, (double)got, sum);
      }
    }
  }
}
static void every_unit_has_a_model(void) {
  int number = 0, plain = 0;
  const char *name;
  for (; (name = mpnum_product_unit_name(number)) != NULL; ++number) {
    int i = 0;
    while (i < MODELS && strcmp(name, models[i].name) != 0)
      ++i;
    plain += i == MODELS;
  }
  CHECK(plain == 7 && number == MODELS + 7, "%d of %d have none", plain, number);
}

/* --- what papers show --- */

static float sum_of(const char *unit, const double *x, const double *y, int n, float c) {
  const ref_format *const format = ref_format_named(strstr(unit, "bf16")   ? "bf16"
                                                    : strstr(unit, "tf32") ? "tf32"
                                                                           : "f16");
  numbers a = {format, {0}, {0}}, b = a;
  int k;
  for (k = 0; k < n; ++k) {
    set_number(&a, k,
               ref_encode(format, mpnum_bits_f64(x[k]), REF_NEAREST_EVEN, REF_IEEE, 0) >>
                   format->storage_shift);
    set_number(&b, k,
               ref_encode(format, mpnum_bits_f64(y[k]), REF_NEAREST_EVEN, REF_IEEE, 0) >>
                   format->storage_shift);
  }
  return multiply(mpnum_product_unit_of(unit), &a, &b, n, &c);
}
#define EQUAL(got, want) \
 CHECK((got) == (want), "%s: %a, not %a", unit, (double)(got), (double)(want))
/* Fasi, Higham, Mikaitis, Pranesh 2021: what V100, T4 and A100 gave. Sums of 16 bits have
 * their own, below. */
static void cases_of_fasi_and_others(void) {
  static const char *const units[] = {"v100.f16", "t4.f16", "a100.f16", "a100.bf16",
                                      "a100.tf32"};
  const double ones[4] = {1, 1, 1, 1}, minus[4] = {-1, -1, -1, -1};
  int i, k;
  for (i = 0; i < 5; ++i) {
    const char *const unit = units[i];
    const int is_v100 = i == 0, is_half = i < 3;
    const double low = 0x1p-24, just[4] = {low, low, low, low};
    double x[4] = {0, 0, 0, 0}, y[4] = {0, 0, 0, 0};
    /* A: subnormals come in and go out */
    x[0] = 0x1p-24, y[0] = 4;
    EQUAL(sum_of(unit, x, y, 4, 0), 0x1p-22f);
    EQUAL(sum_of(unit, y + 2, x, 1, 0x1p-149f), 0x1p-149f);
    x[0] = 0x1p-14, y[0] = 1;
    EQUAL(sum_of(unit, x, y, 1, -0x1p-15f), 0x1p-15f);
    /* B: products are exact; sums begin with the largest term */
    if (is_half) {
      const double below_one[4] = {1 - 0x1p-11, 1 - 0x1p-11, 1 - 0x1p-11, 1 - 0x1p-11};
      EQUAL(sum_of(unit, below_one, below_one, 1, 0), 1 - 0x1p-10f + 0x1p-22f);
      EQUAL(sum_of(unit, below_one, below_one, 4, 0), 4 * (1 - 0x1p-10f + 0x1p-22f));
    }
    for (k = 0; k < 4; ++k)
      x[k] = 0.5, y[k] = 0x1p-24;
    EQUAL(sum_of(unit, x, y, 4, 1), is_v100 ? 1.0f : 1.0f + 0); /* 2^-25 each: lost */
    for (k = 0; k < 4; ++k) {
      int j;
      for (j = 0; j < 4; ++j)
        x[j] = j == k ? 1 : 0.5, y[j] = j == k ? 1 : 0x1p-24;
      EQUAL(sum_of(unit, x, y, 4, 0x1p-25f), 1.0f);
    }
    /* C: toward zero */
    x[0] = 1, x[1] = 1, y[0] = 2, y[1] = 0x1p-23 + 0x1p-24;
    EQUAL(sum_of(unit, x, y, 2, 0), 2.0f);
    y[0] = -2, y[1] = -0x1p-23 - 0x1p-24;
    EQUAL(sum_of(unit, x, y, 2, 0), -2.0f);
    /* D: a guard bit, none on V100; not normalised in between; carries */
    y[0] = 1;
    EQUAL(sum_of(unit, x, y, 1, -1 + 0x1p-24f), is_v100 ? 0x1p-23f : 0x1p-24f);
    EQUAL(sum_of(unit, ones, just, 4, 1 - 0x1p-24f), 1 + 0x1p-23f);
    y[0] = 1, y[1] = -0x1p-24;
    EQUAL(sum_of(unit, x, y, 2, -1 + 0x1p-24f), is_v100 ? 0x1p-23f : 0);
    for (k = 0; k < 4; ++k) {
      double z[4] = {1, 1, 1, 1};
      z[k] = 0x1p-23;
      EQUAL(sum_of(unit, ones, z, 4, 1 + 0x1p-22f + 0x1p-23f), 4 + 0x1p-21f);
    }
    {
      const double z[4] = {1, 1.5, 1.75, 1.875};
      EQUAL(sum_of(unit, ones, z, 4, 1.875f), 8.0f);
    }
    EQUAL(sum_of(unit, ones, ones, 4, 1 + 0x1p-22f + 0x1p-23f), 5.0f);
    EQUAL(sum_of(unit, ones, minus, 4, -1 - 0x1p-22f - 0x1p-23f), -5.0f);
    { /* not monotonic */
      const double halves[4] = {0.5, 0.5, 0.5, 0.5};
      const double small[4] = {low, low, low, 0x1p-23 + 0x1p-24};
      const float c = 1 - 0x1p-24f;
      const float less =
          is_v100 ? sum_of(unit, ones, just, 4, c) : sum_of(unit, halves, small, 4, c);
      const float more =
          is_v100 ? sum_of(unit, ones, just, 4, 1) : sum_of(unit, halves, small, 4, 1);
      CHECK(more < less, "%s: %a, %a", unit, (double)less, (double)more);
    }
  }
}
/* Khattak and Mikaitis: nothing is aligned to an exponent below -133, so that with 25
 * bits all below 2^-158 is lost. */
static void alignment_has_a_least_exponent(void) {
  const char *const unit = "h100.bf16";
  double x[16], y[16];
  int k;
  for (k = 0; k < 16; ++k)
    x[k] = 0x1p-80, y[k] = 0x1p-80;
  y[0] = 255 * 0x1p-77; /* 2^-149 - 2^-157, and 15 * 2^-160, which is more */
  EQUAL(sum_of(unit, x, y, 16, 0), 0.0f);
  for (k = 1; k < 16; ++k)
    y[k] = 0x1p-78;
  EQUAL(sum_of(unit, x, y, 16, 0), 0x1p-149f);
}
/* MMA-Sim: the sum so far is cut toward minus infinity, and of 8 bits left out where it
 * is more than 25 places below. */
static void sums_of_amd_go_to_minus_infinity(void) {
  numbers a = {ref_format_named("e4m3fnuz"), {0}, {0}};
  const float starts[] = {-0x1.8p-25f, -0x1.8p-26f, 0x1.8p-25f};
  const char *unit = "mi300.f16";
  const double one = 1;
  EQUAL(sum_of(unit, &one, &one, 1, -0x1p-149f), 1 - 0x1p-24f);
  EQUAL(sum_of(unit, &one, &one, 1, 0x1p-149f), 1.0f);
  unit = "mi300.fp8";
  set_number(&a, 0, 0x40); /* 1 */
  EQUAL(multiply(mpnum_product_unit_of(unit), &a, &a, 1, &starts[0]), 1 - 0x1p-24f);
  EQUAL(multiply(mpnum_product_unit_of(unit), &a, &a, 1, &starts[1]), 1.0f);
  EQUAL(multiply(mpnum_product_unit_of(unit), &a, &a, 1, &starts[2]), 1.0f);
}
static void sums_of_16_bits_are_rounded_to_nearest(void) {
  static const char *const units[] = {"v100.f16.f16", "t4.f16.f16", "a100.f16.f16"};
  int i;
  for (i = 0; i < 3; ++i) {
    const char *const unit = units[i];
    const double x[2] = {1 - 0x1p-11, 1 - 0x1p-11}, y[2] = {1 - 0x1p-11, 0x1p-11};
    const double tiny[2] = {0x1p-24, 0x1p-24}, parts[2] = {0.5, 0.25};
    EQUAL(sum_of(unit, x, y, 2, 0), 1 - 0x1p-10f + 0x1p-11f);
    EQUAL(sum_of(unit, tiny, parts, 2, 0), 0x1p-24f);
    EQUAL(sum_of(unit, tiny, parts, 1, 0), 0.0f); /* a tie */
  }
}

/* --- units of software --- */

static void sums_in_f32_are_those_of_loops(void) {
  int round, k, level;
  for (round = 0; round < 300; ++round) {
    const int n = 1 + below(MOST), kind = round % 6;
    numbers a = {ref_format_named("bf16"), {0}, {0}}, b = a;
    const float start = draw_start(kind);
    volatile float sum = start, fused = start, product = 0, tree[256];
    volatile double wide = (double)start;
    mpfr_t whole, x;
    mpfr_inits2(PRECISION, whole, x, (mpfr_ptr)0);
    mpfr_set_d(whole, (double)start, MPFR_RNDN);
    draw_pair(&a, &b, n, kind);
    for (k = 0; k < n; ++k) {
      volatile double exact_product = a.values[k] * b.values[k];
      product = (float)exact_product;
      sum = sum + product;
      fused = fmaf((float)a.values[k], (float)b.values[k], fused);
      wide = wide + exact_product;
      tree[k] = product;
      product_of(x, &a, &b, k);
      mpfr_add(whole, whole, x, MPFR_RNDN);
    }
    for (level = 1; level < n; level *= 2) /* neighbours, what has none goes up */
      for (k = 0; k + level < n; k += 2 * level)
        tree[k] = tree[k] + tree[k + level];
    tree[0] = tree[0] + start;
    CHECK(is_same(multiply(mpnum_product_unit_of("f32"), &a, &b, n, &start), (double)sum),
          "f32, %d", round);
    CHECK(is_same(multiply(mpnum_product_unit_of("f32.fma"), &a, &b, n, &start),
                  (double)fused),
          "fma, %d", round);
    CHECK(
        is_same(multiply(mpnum_product_unit_of("f32.pairwise"), &a, &b, n, &start) + 0.0f,
                (double)tree[0]),
        "pairwise, %d: %a", round, (double)tree[0]);
    CHECK(is_same(multiply(mpnum_product_unit_of("f64"), &a, &b, n, &start), wide),
          "f64, %d", round);
    CHECK(is_same(multiply(mpnum_product_unit_of("exact"), &a, &b, n, &start),
                  (double)mpfr_get_flt(whole, MPFR_RNDN)),
          "exact, %d", round);
    mpfr_clears(whole, x, (mpfr_ptr)0);
  }
}
static void what_is_not_finite_follows_ieee(void) {
  int i;
  for (i = 0; i < MODELS; ++i) {
    const ref_format *const f = ref_format_named(models[i].type);
    numbers a = {f, {0}, {0}}, b = a;
    const mpnum_product_unit unit = mpnum_product_unit_of(models[i].name);
    const uint32_t one = (uint32_t)f->bias << f->mantissa_bits;
    const uint32_t minus = one | 1u << (f->exponent_bits + f->mantissa_bits);
    const float infinity = INFINITY, nan = NAN, down = -INFINITY;
    int k;
    for (k = 0; k < 3; ++k) {
      set_number(&a, k, one);
      set_number(&b, k, one);
    }
    CHECK(is_same(multiply(unit, &a, &b, 3, &infinity), INFINITY), "%s", models[i].name);
    CHECK(is_same(multiply(unit, &a, &b, 3, &down), -INFINITY), "%s", models[i].name);
    CHECK(is_same(multiply(unit, &a, &b, 3, &nan), NAN), "%s", models[i].name);
    if (f->infinity_code) {
      set_number(&a, 1, f->infinity_code);
      CHECK(is_same(multiply(unit, &a, &b, 3, NULL), INFINITY), "%s", models[i].name);
      CHECK(is_same(multiply(unit, &a, &b, 3, &down), NAN), "%s", models[i].name);
      set_number(&b, 1, minus);
      CHECK(is_same(multiply(unit, &a, &b, 3, &down), -INFINITY), "%s", models[i].name);
      set_number(&b, 1, 0);
      CHECK(is_same(multiply(unit, &a, &b, 3, NULL), NAN), "%s: Inf * 0", models[i].name);
    }
    if (f->nan_code) {
      set_number(&a, 1, f->nan_code);
      CHECK(is_same(multiply(unit, &a, &b, 3, NULL), NAN), "%s", models[i].name);
    }
  }
}

/* --- matrices --- */

static void parts_and_tiles_add_up(void) {
  enum { ROWS = 13, COLUMNS = 9, K = 320, CUT = 128 };
  static uint16_t x[ROWS * K], y[COLUMNS * K];
  static float whole[ROWS * COLUMNS], parts[ROWS * (COLUMNS + 2)], one;
  static const char *const units[] = {"h100.f16",  "v100.f16",  "a100.f16.f16",
                                      "mi100.f16", "mi250.f16", "mi300.f16",
                                      "f32",       "f32.fma"};
  size_t i, j, u;
  for (i = 0; i < ROWS * K; ++i)
    x[i] = (uint16_t)draw(ref_format_named("f16"), 4);
  for (i = 0; i < COLUMNS * K; ++i)
    y[i] = (uint16_t)draw(ref_format_named("f16"), 4);
  for (u = 0; u < sizeof units / sizeof *units; ++u) {
    const mpnum_product_unit unit = mpnum_product_unit_of(units[u]);
    mpnum_const_matrix a = mpnum_const_matrix_of(MPNUM_TYPE_F16, x, ROWS, K);
    mpnum_const_matrix b = mpnum_const_matrix_of(MPNUM_TYPE_F16, y, COLUMNS, K);
    mpnum_matrix dst = mpnum_matrix_of(MPNUM_TYPE_F32, parts, ROWS, COLUMNS);
    mpnum_const_matrix start;
    mpnum_status status =
        mpnum_product(mpnum_matrix_of(MPNUM_TYPE_F32, whole, ROWS, COLUMNS), unit,
                      mpnum_product_operand_of(a), mpnum_product_operand_of(b), NULL);
    dst.stride = COLUMNS + 2;
    start = mpnum_const_matrix_of(MPNUM_TYPE_F32, parts, ROWS, COLUMNS);
    start.stride = dst.stride;
    a.columns = b.columns = CUT;
    if (status == MPNUM_OK)
      status = mpnum_product(dst, unit, mpnum_product_operand_of(a),
                             mpnum_product_operand_of(b), NULL);
    a.columns = b.columns = K - CUT;
    a.data = x + CUT;
    b.data = y + CUT;
    if (status == MPNUM_OK)
      status = mpnum_product(dst, unit, mpnum_product_operand_of(a),
                             mpnum_product_operand_of(b), &start);
    CHECK(status == MPNUM_OK, "%s: %d", units[u], (int)status);
    for (i = 0; i < ROWS; ++i)
      for (j = 0; j < COLUMNS; ++j) {
        const float got = parts[i * dst.stride + j];
        mpnum_const_matrix row = mpnum_const_matrix_of(MPNUM_TYPE_F16, x + i * K, 1, K),
                           column =
                               mpnum_const_matrix_of(MPNUM_TYPE_F16, y + j * K, 1, K);
        CHECK(mpnum_bits_f32(got) == mpnum_bits_f32(whole[i * COLUMNS + j]), "%s %d %d",
              units[u], (int)i, (int)j);
        status = mpnum_product(mpnum_matrix_of(MPNUM_TYPE_F32, &one, 1, 1), unit,
                               mpnum_product_operand_of(row),
                               mpnum_product_operand_of(column), NULL);
        CHECK(status == MPNUM_OK && mpnum_bits_f32(one) == mpnum_bits_f32(got),
              "%s: one of %d %d", units[u], (int)i, (int)j);
      }
  }
}

/* A bound of one sum. */
static double bound_of(const char *name, mpnum_product_operand a, mpnum_product_operand b,
                       const mpnum_const_matrix *start) {
  double bound = -1;
  CHECK(mpnum_product_bound(mpnum_matrix_of(MPNUM_TYPE_F64, &bound, 1, 1),
                            mpnum_product_unit_of(name), a, b, start) == MPNUM_OK,
        "%s", name);
  return bound;
}
/* 2048 and 32 times 1, of which f16 keeps none; then 16393, 16393, 16369 and 16346,
 * scaled by 2^-10 afterwards: 65501 is below the largest f16, but up 7, 7, 15 it is past
 * it. */
static void bounds_hold_where_f16_loses(void) {
  enum { STEPS = 32, COLUMNS = 32 * STEPS };
  static const float terms[][4] = {
      {128, 128, 9, 1}, {128, 128, 9, 1}, {128, 120, 9 * 16, 7}, {128, 120, 15, 64}};
  static mpnum_e4m3 a[COLUMNS], b[COLUMNS];
  const float first = 2048;
  float small = 0x1p-10f, one = 1;
  const mpnum_blockscale_format format = mpnum_blockscale_amax(MPNUM_TYPE_E4M3, 1, 128);
  const mpnum_blockscaled x = {a, 128, &small, 4, 0, 1}, y = {b, 128, &one, 4, 0, 1};
  const mpnum_const_matrix start = mpnum_const_matrix_of(MPNUM_TYPE_F32, &first, 1, 1);
  const mpnum_product_operand ones =
      mpnum_product_operand_of(mpnum_const_matrix_of(MPNUM_TYPE_E4M3, a, 1, COLUMNS));
  const mpnum_product_operand left = mpnum_product_blocks_of(&format, x, 1, 128),
                              right = mpnum_product_blocks_of(&format, y, 1, 128);
  float got = 0;
  size_t i = 0;
  for (; i < COLUMNS; i += 32)
    a[i] = mpnum_f32_to_e4m3(1);
  CHECK(mpnum_product(mpnum_matrix_of(MPNUM_TYPE_F32, &got, 1, 1),
                      mpnum_product_unit_of("h100.mma.fp8.f16"), ones, ones,
                      &start) == MPNUM_OK &&
            got >= 2048 && got <= 2048,
        "%g", (double)got);
  CHECK(bound_of("h100.mma.fp8.f16", ones, ones, &start) >= STEPS, "ties");
  for (i = 0; i < 128; ++i)
    a[i] = b[i] = mpnum_f32_to_e4m3(0);
  for (i = 0; i < 8; ++i) {
    a[16 * i] = mpnum_f32_to_e4m3(terms[i / 2][2 * (i % 2)]);
    b[16 * i] = mpnum_f32_to_e4m3(terms[i / 2][2 * (i % 2) + 1]);
  }
  a[72] = b[72] = mpnum_f32_to_e4m3(1); /* 16369 = 15360 + 1008 + 1 */
  a[104] = mpnum_f32_to_e4m3(13);       /* 16346 = 15360 + 960 + 26 */
  b[104] = mpnum_f32_to_e4m3(2);
  CHECK(mpnum_product(mpnum_matrix_of(MPNUM_TYPE_F32, &got, 1, 1),
                      mpnum_product_unit_of("b200.fp8.f16"), left, right,
                      NULL) == MPNUM_OK &&
            isinf(got),
        "%g", (double)got);
  CHECK(isinf(bound_of("b200.fp8.f16", left, right, NULL)), "past f16");
}

/* --- bad input --- */

static float out[4];
static void refused(mpnum_product_unit unit, mpnum_const_matrix a, mpnum_matrix dst,
                    const mpnum_const_matrix *start, mpnum_status want,
                    const char *what) {
  const mpnum_product_operand x = mpnum_product_operand_of(a);
  const mpnum_status made = mpnum_product(dst, unit, x, x, start);
  const mpnum_status bounded = mpnum_product_bound(dst, unit, x, x, start);
  CHECK(made == want && bounded == want, "%s: %d, %d", what, (int)made, (int)bounded);
  CHECK(out[0] == 3 && out[3] == 3, "%s: something was written", what);
}
static void bad_input_changes_nothing(void) {
  static uint16_t values[64];
  const mpnum_const_matrix a = mpnum_const_matrix_of(MPNUM_TYPE_F16, values, 2, 32);
  const mpnum_matrix dst = mpnum_matrix_of(MPNUM_TYPE_F32, out, 2, 2);
  const mpnum_product_unit good = mpnum_product_unit_of("h100.f16");
  mpnum_const_matrix x = a, start = mpnum_const_matrix_of(MPNUM_TYPE_F32, out, 2, 2);
  mpnum_matrix to = dst;
  mpnum_product_unit unit;
  int i;
  for (i = 0; i < 4; ++i)
    out[i] = 3;
  unit = mpnum_product_unit_of("h100.f17");
  CHECK(!unit.types && !unit.sum && !unit.products && !unit.bits && !unit.kept &&
            !unit.is_nearest && !unit.least && !unit.run && !unit.joins &&
            !unit.is_fused && !unit.is_flushed && !unit.scales && !unit.promotion,
        "a unit without a name");
  refused(unit, a, dst, NULL, MPNUM_ERROR_ARGUMENT, "a name");
  refused(mpnum_product_unit_of(NULL), a, dst, NULL, MPNUM_ERROR_ARGUMENT, "no name");
  refused(mpnum_product_unit_of(""), a, dst, NULL, MPNUM_ERROR_ARGUMENT, "an empty name");
#define WRONG(change) \
 unit = good, change, refused(unit, a, dst, NULL, MPNUM_ERROR_ARGUMENT, #change)
#define WRONG_IN(name, change)               \
 unit = mpnum_product_unit_of(name), change, \
 refused(unit, a, dst, NULL, MPNUM_ERROR_ARGUMENT, name ", " #change)
  WRONG(unit.products = 65);
  WRONG(unit.products = -1);
  WRONG(unit.products = 0);
  WRONG(unit.bits = 41);
  WRONG(unit.bits = -2);
  WRONG(unit.kept = 24);
  WRONG(unit.kept = 0);
  WRONG(unit.sum = MPNUM_TYPE_BF16);
  WRONG(unit.is_nearest = 2);
  WRONG(unit.joins = 3);
  WRONG(unit.joins = -1);
  WRONG(unit.run = 5);
  WRONG_IN("h100.mma.fp8", unit.run = -2);
  WRONG(unit.scales = 3);
  WRONG(unit.scales = -1);
  WRONG(unit.promotion = 17);
  WRONG(unit.types = 0);
  WRONG(unit.types |= 1u << MPNUM_TYPE_F64);
  WRONG(unit.types |= 1u); /* int8, of blocks */
  WRONG(unit.is_fused = 1);
  WRONG(unit.least = 1);
  WRONG_IN("exact", unit.is_fused = 1);
  WRONG_IN("exact", unit.is_flushed = 1);
  WRONG_IN("exact", unit.products = 4);
  WRONG_IN("exact", (unit.sum = MPNUM_TYPE_F32, unit.kept = 23));
  WRONG_IN("exact", unit.types |= 1u << MPNUM_TYPE_F64);
  WRONG_IN("f32", unit.types |= 1u << MPNUM_TYPE_F64);
  WRONG_IN("f32.fma", unit.products = 4);
  WRONG_IN("f64", unit.products = 4);
  WRONG_IN("f64", unit.is_fused = 1);
  WRONG_IN("f64", unit.is_flushed = 1);
  refused(mpnum_product_unit_of("h100.bf16"), a, dst, NULL, MPNUM_ERROR_TYPE, "elements");
  refused(mpnum_product_unit_of("b200.mx"), a, dst, NULL, MPNUM_ERROR_TYPE, "no scales");
  x.type = (mpnum_type)99;
  refused(good, x, dst, NULL, MPNUM_ERROR_TYPE, "an unknown type");
  x = a;
  x.data = NULL;
  refused(good, x, dst, NULL, MPNUM_ERROR_NULL, "no elements");
  x = a;
  x.columns = 0;
  refused(good, x, dst, NULL, MPNUM_ERROR_SHAPE, "no columns");
  x.columns = x.stride = (size_t)-1 / 4;
  refused(good, x, dst, NULL, MPNUM_ERROR_SHAPE, "columns beyond memory");
  x = a;
  x.rows = 3;
  refused(good, x, dst, NULL, MPNUM_ERROR_SHAPE, "rows");
  to.type = MPNUM_TYPE_F16;
  refused(good, a, to, NULL, MPNUM_ERROR_TYPE, "results");
  to = dst;
  to.stride = 1;
  refused(good, a, to, NULL, MPNUM_ERROR_STRIDE, "stride");
  to = dst;
  to.data = NULL;
  refused(good, a, to, NULL, MPNUM_ERROR_NULL, "no results");
  to = dst;
  to.data = (char *)values + 4;
  refused(good, a, to, NULL, MPNUM_ERROR_OVERLAP, "elements are written");
  start.data = (const char *)out + 4;
  refused(good, a, dst, &start, MPNUM_ERROR_OVERLAP, "the start is written");
  start.data = NULL;
  refused(good, a, dst, &start, MPNUM_ERROR_NULL, "no start");
  start.data = values;
  start.rows = 1;
  refused(good, a, dst, &start, MPNUM_ERROR_SHAPE, "the start's shape");
  CHECK(values[2] == 0, "elements were written");
  x.rows = 0;
  refused(good, x, dst, NULL, MPNUM_OK, "no rows");
}

int main(void) {
  /* Without what -ffast-math sets. */
  set_control_word(control_word_of(FE_TONEAREST));
  TAP_RUN(units_take_the_published_steps);
  TAP_RUN(every_unit_has_a_model);
  TAP_RUN(cases_of_fasi_and_others);
  TAP_RUN(alignment_has_a_least_exponent);
  TAP_RUN(sums_of_amd_go_to_minus_infinity);
  TAP_RUN(sums_of_16_bits_are_rounded_to_nearest);
  TAP_RUN(sums_in_f32_are_those_of_loops);
  TAP_RUN(what_is_not_finite_follows_ieee);
  TAP_RUN(parts_and_tiles_add_up);
  TAP_RUN(bounds_hold_where_f16_loses);
  TAP_RUN(bad_input_changes_nothing);
  return tap_done();
}
