/* SPDX-License-Identifier: MIT */
/* Dot products as tensor cores take them: inputs that tell their sums apart, the same on
 * every machine, and their sums by a unit of hardware/product.h. A tile is one product of
 * an instruction: A has ROWS rows and B COLS columns of WORDS words, each word with one,
 * two or four numbers. */
#ifndef MPNUM_TESTS_GPU_TENSOR_CORES_HPP
#define MPNUM_TESTS_GPU_TENSOR_CORES_HPP

#include <mpnum/core/query.h>
#include <mpnum/hardware/detail/product_step.h>
#include <mpnum/types/f16.h>

#include <cstdint>

#include <vector>

namespace tensor {

enum { ROWS = 64, COLS = 8, WORDS = 8, KINDS = 16, DOTS = ROWS * COLS };

struct type {
  mpnum_type number; /* of the library */
  int exponent, mantissa, bias, lanes;
  bool has_inf;
  int width() const { return 1 + exponent + mantissa; }
  int numbers() const { return WORDS * lanes; }
  int largest() const { return (1 << exponent) - (has_inf ? 2 : 1); }
  mpnum_format format() const { return mpnum_format_of(number); }
  bool is_finite(uint32_t bits) const {
    return mpnum_isfinite(format(), bits << (lanes == 1 ? 13 : 0)) != 0;
  }
};
enum { F16, BF16, TF32, E4M3, E5M2 };
static const type types[] = {{MPNUM_TYPE_F16, 5, 10, 15, 2, true},
                             {MPNUM_TYPE_BF16, 8, 7, 127, 2, true},
                             {MPNUM_TYPE_TF32, 8, 10, 127, 1, true},
                             {MPNUM_TYPE_E4M3, 4, 3, 7, 4, false},
                             {MPNUM_TYPE_E5M2, 5, 2, 15, 4, true}};
static const type f32_type = {MPNUM_TYPE_F32, 8, 23, 127, 1, true};

/* An instruction: its elements, of types, and how it sums. */
struct instruction {
  const char *name;
  int of;
  const char *unit;
};
/* As an H100 has them: compute capability 9.0. */
enum { H100_UNITS = 13 };
static const instruction h100[H100_UNITS] = {{"mma.sync f16", F16, "h100.f16"},
                                             {"mma.sync bf16", BF16, "h100.bf16"},
                                             {"mma.sync tf32", TF32, "h100.tf32"},
                                             {"mma.sync e4m3", E4M3, "h100.mma.fp8"},
                                             {"mma.sync e5m2", E5M2, "h100.mma.fp8"},
                                             {"mma.sync f16 to f16", F16, "h100.f16.f16"},
                                             {"wgmma f16", F16, "h100.f16"},
                                             {"wgmma bf16", BF16, "h100.bf16"},
                                             {"wgmma tf32", TF32, "h100.tf32"},
                                             {"wgmma e4m3", E4M3, "h100.fp8"},
                                             {"wgmma e5m2", E5M2, "h100.fp8"},
                                             {"wgmma f16 to f16", F16, "h100.f16.f16"},
                                             {"wgmma e4m3 to f16", E4M3, "h100.fp8.f16"}};
struct unit {
  const char *name;
  int of;
  mpnum_product_unit how;
  bool is_half() const { return how.sum == MPNUM_TYPE_F16; }
};
inline unit unit_of(const instruction &from) {
  const unit made = {from.name, from.of, mpnum_product_unit_of(from.unit)};
  return made;
}

/* --- sums --- */

/* Number k of words; tf32 lies in the upper bits of its word. */
inline mpnum_term_ number_at(const type &of, const uint32_t *words, int k) {
  const int width = 32 / of.lanes;
  const uint32_t bits =
      of.lanes == 1 ? words[k] : words[k / of.lanes] >> (k % of.lanes * width);
  const uint32_t code = of.lanes == 1 ? bits : bits & ((1u << of.width()) - 1);
  const double value = static_cast<double>(mpnum_decode(of.format(), code));
  return mpnum_term_of_(value, of.mantissa, 1 - of.bias);
}
/* The sum of a row of A, a column of B and c. */
inline uint32_t dot(const unit &from, const uint32_t *a, const uint32_t *b, uint32_t c) {
  const type &of = types[from.of];
  const int step = from.how.products;
  const mpnum_f16 half = {static_cast<uint16_t>(c)};
  double sum = static_cast<double>(from.is_half() ? mpnum_f16_to_f32(half)
                                                  : mpnum_from_bits_f32(c));
  mpnum_term_ x[64], y[64];
  for (int k = 0; k < of.numbers(); ++k) {
    x[k] = number_at(of, a, k);
    y[k] = number_at(of, b, k);
  }
  for (int k = 0; k < of.numbers(); k += step)
    sum = mpnum_fused_step_(&from.how, x + k, y + k, step, 2 * of.mantissa, 0, sum);
  return from.is_half() ? mpnum_f64_to_f16(sum).bits
                        : mpnum_bits_f32(mpnum_f64_to_f32(sum));
}

/* --- inputs --- */

struct random_words { /* SplitMix64 */
  uint64_t state;
  uint32_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return static_cast<uint32_t>((z ^ z >> 31) >> 32);
  }
  int in(int low, int high) {
    return low + static_cast<int>(next() % static_cast<uint32_t>(high - low + 1));
  }
};

/* A finite number: an exponent beyond those of the type is its first or last one. */
inline uint32_t pack(const type &to, uint32_t sign, int e, uint32_t m) {
  e = e < 0 ? 0 : e > to.largest() ? to.largest() : e;
  m &= (1u << to.mantissa) - 1;
  if (!to.has_inf && e == to.largest() && m == (1u << to.mantissa) - 1) --m;
  return sign << (to.width() - 1) | static_cast<uint32_t>(e) << to.mantissa | m;
}

/* The numbers of one tile, by its kind: tile % KINDS. */
struct maker {
  const type &of;
  int kind;
  random_words random;

  uint32_t near_one(int low, int high) {
    const uint32_t sign = random.next() & 1;
    const int e = of.bias + random.in(low, high);
    return pack(of, sign, e, random.next());
  }
  uint32_t any(bool is_finite) {
    for (;;) {
      const uint32_t bits = random.next() & ((1u << of.width()) - 1);
      if (!is_finite || of.is_finite(bits)) return bits;
    }
  }
  uint32_t special() {
    const uint32_t all = (1u << (of.width() - 1)) - 1;
    return of.has_inf ? ((1u << of.exponent) - 1) << of.mantissa : all;
  }
  int wide() const { return of.exponent == 4 ? 6 : of.exponent == 5 ? 12 : 14; }
  uint32_t draw(bool is_a, int row, int k);
  uint32_t draw_edge();
  uint32_t draw_sum();
};
/* Largest, subnormal results, any bits. */
inline uint32_t maker::draw_edge() {
  const bool is_wide = of.exponent == 8;
  uint32_t sign;
  int e;
  switch (kind) {
  case 10:
    sign = random.next() % 4 == 0;
    e = of.largest() - random.in(0, is_wide ? 70 : 3);
    return pack(of, sign, e, random.next());
  case 11:
    sign = random.next() & 1;
    e = is_wide ? random.in(of.bias - 80, of.bias - 62) : random.in(0, 2);
    return pack(of, sign, e, random.next());
  case 12: return any(true);
  case 13: return any(false);
  default: e = of.bias + random.in(-2, 1); return pack(of, 0, e, random.next());
  }
}
inline uint32_t maker::draw(bool is_a, int row, int k) {
  uint32_t sign;
  int e;
  switch (kind) {
  case 0:
  case 1: return near_one(-2, 1);
  case 2:
  case 3:
  case 14: return near_one(-wide() / 2, wide() / 2);
  case 4:
  case 5: return near_one(-3, 3);
  case 6: /* one product alone, beside c */
    if (!is_a) return near_one(-2, 2);
    return k == row % of.numbers() ? near_one(-wide(), wide()) : 0;
  case 7: /* all exponents, many mantissas of ones */
    sign = random.next() & 1;
    e = random.in(0, of.largest());
    return pack(of, sign, e, random.next() & 1 ? ~0u : random.next());
  case 8: /* subnormal numbers */
    if (random.next() & 1) {
      sign = random.next() & 1;
      return pack(of, sign, 0, random.next());
    }
    if (is_a) return near_one(-3, 3);
    sign = random.next() & 1;
    e = random.in(0, 3);
    return pack(of, sign, e, random.next());
  case 9:
    if (random.in(0, 199) == 0) return any(false);
    return random.in(0, 399) == 0 ? special() : near_one(-2, 2);
  default: return draw_edge();
  }
}
/* c, of f32. */
inline uint32_t maker::draw_sum() {
  const type &to = f32_type;
  const bool is_wide = of.exponent == 8;
  int low = 0, high = 0;
  switch (kind) {
  case 1: low = 125, high = 135; break;
  case 3:
  case 14: low = 127 - wide(), high = 127 + wide(); break;
  case 5: low = 123, high = 141; break;
  case 6: low = 97, high = 157; break;
  case 7: low = 0, high = 254; break;
  case 8: low = 0, high = 2; break;
  case 9: return random.in(0, 99) == 0 ? 0x7f800000u | (random.next() & 0x80400001u) : 0;
  case 10: low = 251, high = 254; break;
  case 11: low = is_wide ? 0 : 87, high = is_wide ? 4 : 117; break;
  case 12:
  case 13: return random.next() & 1 ? 0 : random.next();
  default: return 0;
  }
  const uint32_t sign = random.next() & 1;
  const int e = random.in(low, high);
  return pack(to, sign, e, random.next());
}

/* Sums of f16 from those of f32: the upper bits of the mantissa, the exponent as far as
 * there is one. */
inline uint32_t sum_of_half(uint32_t c) {
  const uint32_t sign = c >> 31, size = c & 0x7fffffff;
  if (size > 0x7f800000) return sign << 15 | 0x7e00;
  if (size == 0x7f800000) return sign << 15 | 0x7c00;
  return pack(types[F16], sign,
              (c >> 23 & 255) ? static_cast<int>(c >> 23 & 255) - 112 : 0, c >> 13);
}

struct tile {
  uint32_t a[ROWS * WORDS], b[COLS * WORDS], c[DOTS];
};
inline void put(const type &of, uint32_t *words, int k, uint32_t bits) {
  const int width = 32 / of.lanes;
  uint32_t *const word = words + k / of.lanes;
  if (k % of.lanes == 0) *word = 0;
  *word |= of.lanes == 1 ? bits << 13 : bits << (k % of.lanes * width);
}
/* Pairs of products that cancel, but for the last ones, which are small. */
inline void cancel(const type &of, maker &from, uint32_t *a, uint32_t *b) {
  const int n = of.numbers();
  for (int k = 0; k + 1 < n - n / 4; k += 2) {
    for (int i = 0; i < ROWS; ++i)
      a[i * n + k + 1] = a[i * n + k] ^ 1u << (of.width() - 1);
    for (int j = 0; j < COLS; ++j)
      b[j * n + k + 1] = b[j * n + k];
  }
  for (int i = 0; i < ROWS; ++i)
    for (int k = n - n / 4; k < n; ++k)
      a[i * n + k] = from.near_one(of.exponent == 8 ? -20 : -6, -2);
}
inline tile make_tile(const unit &how, unsigned number) {
  const type &of = types[how.of];
  const int n = of.numbers();
  maker from = {
      of,
      static_cast<int>(number % KINDS),
      {1234567u + 1000003u * number + 77777777u * static_cast<unsigned>(how.of)}};
  uint32_t a[ROWS * WORDS * 4], b[COLS * WORDS * 4];
  tile made;
  for (int i = 0; i < ROWS * n; ++i)
    a[i] = from.draw(true, i / n, i % n);
  for (int i = 0; i < COLS * n; ++i)
    b[i] = from.draw(false, i / n, i % n);
  if (from.kind == 4 || from.kind == 5) cancel(of, from, a, b);
  for (int i = 0; i < ROWS * n; ++i)
    put(of, made.a, i, a[i]);
  for (int i = 0; i < COLS * n; ++i)
    put(of, made.b, i, b[i]);
  for (int i = 0; i < DOTS; ++i)
    made.c[i] = how.is_half() ? sum_of_half(from.draw_sum()) : from.draw_sum();
  return made;
}

/* How many of the results of a tile the model does not give. */
inline unsigned count_wrong(const unit &how, const tile &from, const uint32_t *results) {
  unsigned wrong = 0;
  for (int i = 0; i < DOTS; ++i)
    wrong += dot(how, from.a + i / COLS * WORDS, from.b + i % COLS * WORDS, from.c[i]) !=
             results[i];
  return wrong;
}

/* The model that gives most results: the known one, or another with other groups, bits
 * and rounding. wrong: how many it does not give. */
inline unit find_model(const unit &known, const std::vector<tile> &tiles,
                       const std::vector<uint32_t> &results, unsigned *wrong) {
  unit best = known, other = known;
  *wrong = ~0u;
  for (int number = -1; number < 4 * 21 * 4 && *wrong; ++number) {
    unsigned found = 0;
    if (number >= 0) {
      const int bits = 10 + number / 4 % 21, most = known.is_half() ? 10 : 23;
      other.how.products = types[known.of].numbers() >> number / 84;
      other.how.bits = bits;
      other.how.kept = number % 2 && bits < most ? bits : most;
      other.how.is_nearest = number / 2 % 2;
      other.how.run = other.how.joins = 0;
    }
    for (size_t i = 0; i < tiles.size() && found < *wrong; ++i)
      found += count_wrong(other, tiles[i], results.data() + i * DOTS);
    if (found >= *wrong) continue;
    *wrong = found;
    best = other;
  }
  return best;
}

} // namespace tensor

#endif
