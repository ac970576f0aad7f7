/* SPDX-License-Identifier: MIT */
/* Dot products as tensor cores take them: inputs that tell their sums apart, the same on
 * every machine, and a model of the sums. A tile is one product of an instruction: A has
 * ROWS rows and B COLS columns of WORDS words, each word with one, two or four numbers.
 *
 * The model: the products of a group and what was summed before are exact; each is cut
 * toward zero to `bits` bits behind the point of the largest exponent among them (of a
 * product that of its factors, added); their sum is exact and cut toward zero to the 23
 * bits of f32, or the `kept` ones; results of f16 are then rounded to nearest even, of
 * `bits` alone. Subnormals count, a result of zero is +0, overflow is Inf, a NaN
 * canonical. Where a GPU has no such unit for 8 bits, the numbers become f16, the first
 * two of each word and then the others, are summed from zero, and c is added to that in
 * f32. */
#ifndef MPNUM_TESTS_GPU_TENSOR_CORES_HPP
#define MPNUM_TESTS_GPU_TENSOR_CORES_HPP

#include <cstdint>
#include <cstring>

namespace tensor {

enum { ROWS = 64, COLS = 8, WORDS = 8, KINDS = 16, DOTS = ROWS * COLS };

struct type {
  const char *name;
  int exponent, mantissa, bias, lanes;
  bool has_inf;
  int width() const { return 1 + exponent + mantissa; }
  int numbers() const { return WORDS * lanes; }
  int largest() const { return (1 << exponent) - (has_inf ? 2 : 1); }
};
enum { F16, BF16, TF32, E4M3, E5M2 };
static const type types[] = {{"f16", 5, 10, 15, 2, true},
                             {"bf16", 8, 7, 127, 2, true},
                             {"tf32", 8, 10, 127, 1, true},
                             {"e4m3", 4, 3, 7, 4, false},
                             {"e5m2", 5, 2, 15, 4, true}};
static const type f32_type = {"f32", 8, 23, 127, 1, true};

/* What is summed, and how. */
struct unit {
  const char *name;
  int of;       /* of types */
  bool is_half; /* sums are f16 */
  int bits, kept, groups;
  bool is_emulated;
};
/* As an H100 has them: compute capability 9.0. */
enum { H100_UNITS = 13 };
static const unit h100[H100_UNITS] = {
    {"mma.sync f16", F16, false, 25, 23, 1, false},
    {"mma.sync bf16", BF16, false, 25, 23, 1, false},
    {"mma.sync tf32", TF32, false, 25, 23, 1, false},
    {"mma.sync e4m3", E4M3, false, 25, 23, 2, true},
    {"mma.sync e5m2", E5M2, false, 25, 23, 2, true},
    {"mma.sync f16 to f16", F16, true, 25, 23, 1, false},
    {"wgmma f16", F16, false, 25, 23, 1, false},
    {"wgmma bf16", BF16, false, 25, 23, 1, false},
    {"wgmma tf32", TF32, false, 25, 23, 1, false},
    {"wgmma e4m3", E4M3, false, 13, 13, 1, false},
    {"wgmma e5m2", E5M2, false, 13, 13, 1, false},
    {"wgmma f16 to f16", F16, true, 25, 23, 1, false},
    {"wgmma e4m3 to f16", E4M3, true, 13, 23, 1, false}};
enum { WGMMA = 6 }; /* the first one by wgmma */

/* --- numbers --- */

enum class kind { FINITE, INFINITE, NOT_A_NUMBER };
/* significand * 2^(exponent - mantissa of its type) */
struct number {
  kind what;
  bool is_negative;
  int64_t significand;
  int exponent;
};
inline number decode(const type &of, uint32_t bits) {
  const uint32_t m = bits & ((1u << of.mantissa) - 1);
  const int top = (1 << of.exponent) - 1;
  const int e = static_cast<int>(bits >> of.mantissa) & top;
  number made = {kind::FINITE, (bits >> (of.width() - 1) & 1) != 0, m, 1 - of.bias};
  if (e == top && (of.has_inf || m == (1u << of.mantissa) - 1))
    made.what = of.has_inf && m == 0 ? kind::INFINITE : kind::NOT_A_NUMBER;
  if (e == 0) return made;
  made.significand |= int64_t{1} << of.mantissa;
  made.exponent = e - of.bias;
  return made;
}
/* Number k of words; tf32 lies in the upper bits of its word. */
inline number number_at(const type &of, const uint32_t *words, int k) {
  const int width = 32 / of.lanes;
  const uint32_t bits =
      of.lanes == 1 ? words[k] >> 13 : words[k / of.lanes] >> (k % of.lanes * width);
  return decode(of, bits & ((1u << of.width()) - 1));
}

/* --- sums --- */

/* value * 2^shift toward zero; left shifts of what is not 0 stay small. */
inline int64_t cut(int64_t value, int shift) {
  if (value == 0) return 0;
  if (shift >= 0) return value * (int64_t{1} << shift);
  return shift < -62 ? 0 : value < 0 ? -(-value >> -shift) : value >> -shift;
}
inline int top_of(uint64_t value) {
  int top = -1;
  for (; value; value >>= 1)
    ++top;
  return top;
}
/* sum * 2^point as a number of `to`: its first `kept` bits toward zero, or all of them to
 * nearest even. */
inline uint32_t encode(const type &to, int64_t sum, int point, int kept,
                       bool is_nearest) {
  const uint32_t sign = sum < 0 ? 1u << (to.width() - 1) : 0;
  const uint64_t size = static_cast<uint64_t>(sum < 0 ? -sum : sum);
  if (size == 0) return 0;
  const int least = 1 - to.bias;
  int e = top_of(size) + point;
  if (e < least) e = least;
  const int down = e - to.mantissa - point; /* bits that are lost */
  uint64_t code = down > 62 ? 0 : down > 0 ? size >> down : size << -down;
  if (is_nearest && down > 0 && down < 63) {
    const uint64_t rest = size - (code << down), middle = uint64_t{1} << (down - 1);
    code += rest > middle || (rest == middle && (code & 1));
  }
  if (kept < to.mantissa) code = code >> (to.mantissa - kept) << (to.mantissa - kept);
  code += static_cast<uint64_t>(e - least)
          << to.mantissa; /* a carry is one more binade */
  const uint64_t infinite = ((uint64_t{1} << to.exponent) - 1) << to.mantissa;
  if (code == 0) return 0;
  return sign | static_cast<uint32_t>(code < infinite ? code : infinite);
}

struct special {
  bool is_nan = false, is_up = false, is_down = false;
  void take(kind what, bool is_negative) {
    is_nan = is_nan || what == kind::NOT_A_NUMBER;
    is_up = is_up || (what == kind::INFINITE && !is_negative);
    is_down = is_down || (what == kind::INFINITE && is_negative);
  }
  bool is_any() const { return is_nan || is_up || is_down; }
  uint32_t code(const type &to) const {
    const uint32_t infinite = ((1u << to.exponent) - 1) << to.mantissa;
    if (is_nan || (is_up && is_down)) return (1u << (to.width() - 1)) - 1;
    return is_down ? infinite | 1u << (to.width() - 1) : infinite;
  }
};

inline kind product_kind(const number &a, const number &b) {
  if (a.what == kind::NOT_A_NUMBER || b.what == kind::NOT_A_NUMBER)
    return kind::NOT_A_NUMBER;
  if (a.what == kind::FINITE && b.what == kind::FINITE) return kind::FINITE;
  const bool has_zero = (a.what == kind::FINITE && a.significand == 0) ||
                        (b.what == kind::FINITE && b.significand == 0);
  return has_zero ? kind::NOT_A_NUMBER : kind::INFINITE;
}

/* c and the products of numbers begin to begin + count, in the order of `places`. */
inline uint32_t sum_group(const unit &how, const uint32_t *a, const uint32_t *b,
                          const int *places, int count, uint32_t c) {
  const type &of = types[how.of], &to = how.is_half ? types[F16] : f32_type;
  const number before = decode(to, c);
  special odd;
  odd.take(before.what, before.is_negative);
  int64_t products[64];
  int exponents[64], most = -100000;
  if (before.what == kind::FINITE && before.significand) most = before.exponent;
  for (int i = 0; i < count; ++i) {
    const number x = number_at(of, a, places[i]), y = number_at(of, b, places[i]);
    const bool is_negative = x.is_negative != y.is_negative;
    odd.take(product_kind(x, y), is_negative);
    products[i] = x.significand * y.significand * (is_negative ? -1 : 1);
    exponents[i] = x.exponent + y.exponent;
    if (products[i] && exponents[i] > most) most = exponents[i];
  }
  if (odd.is_any()) return odd.code(to);
  const int point = most - how.bits;
  int64_t sum = cut(before.is_negative ? -before.significand : before.significand,
                    before.exponent - to.mantissa - point);
  for (int i = 0; i < count; ++i)
    sum += cut(products[i], exponents[i] - 2 * of.mantissa - point);
  return encode(to, sum, point, how.kept, how.is_half);
}

inline uint32_t add_f32(uint32_t a, uint32_t b) {
  float x, y;
  uint32_t bits;
  std::memcpy(&x, &a, sizeof x);
  std::memcpy(&y, &b, sizeof y);
  x += y;
  std::memcpy(&bits, &x, sizeof bits);
  return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : bits;
}

/* The sum of a row of A, a column of B and c. */
inline uint32_t dot(const unit &how, const uint32_t *a, const uint32_t *b, uint32_t c) {
  const int all = types[how.of].numbers(), each = all / how.groups;
  int places[64], n = 0;
  for (int half = 0; half < 2; ++half)
    for (int k = 0; k < all; ++k)
      if (how.is_emulated ? k % 4 / 2 == half : half == 0) places[n++] = k;
  uint32_t sum = how.is_emulated ? 0 : c;
  for (int group = 0; group < how.groups; ++group)
    sum = sum_group(how, a, b, places + group * each, each, sum);
  return how.is_emulated ? add_f32(sum, c) : sum;
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
      if (!is_finite || decode(of, bits).what == kind::FINITE) return bits;
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
  const number from = decode(f32_type, c);
  const uint32_t sign = c >> 31;
  if (from.what != kind::FINITE) {
    special odd;
    odd.take(from.what, sign != 0);
    return from.what == kind::NOT_A_NUMBER ? sign << 15 | 0x7e00 : odd.code(types[F16]);
  }
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
    made.c[i] = how.is_half ? sum_of_half(from.draw_sum()) : from.draw_sum();
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

} // namespace tensor

#endif
