/* SPDX-License-Identifier: MIT */
/* hadamard.h: exact on integers against the matrix itself, the order of its roundings
 * against steps in double, its inverse within the bound it states, what becomes of Inf
 * and NaN. */
#include "row_checks.h"
#include "../harness/control_word.h"
#include "../harness/must.h"
#include "../reference/reference.h"

#include <mpnum/rows/hadamard.h>

#include <math.h>

enum { MOST = 5 * 4160 };
static float x[MOST], y[MOST], z[MOST];
static uint16_t x16[MOST], y16[MOST];
static const int orders[] = {16, 64};

static mpnum_status transform(int is_inverse, mpnum_matrix dst, mpnum_const_matrix src,
                              int n, uint64_t seed) {
  return is_inverse ? mpnum_hadamard_inverse_rows(dst, src, n, seed)
                    : mpnum_hadamard_rows(dst, src, n, seed);
}
/* One row of floats. */
static void transform_row(int is_inverse, float *dst, const float *src, size_t columns,
                          int n, uint64_t seed) {
  CHECK(transform(is_inverse, mpnum_matrix_of(MPNUM_TYPE_F32, dst, 1, columns),
                  mpnum_const_matrix_of(MPNUM_TYPE_F32, src, 1, columns), n,
                  seed) == MPNUM_OK,
        "%d, %zu columns", n, columns);
}

/* Whether an element of the matrix is -1: by the bits that both indices have set. */
static int is_minus(size_t row, size_t column) {
  int count = 0;
  for (size_t both = row & column; both; both &= both - 1)
    ++count;
  return count % 2;
}
static int is_flipped(uint64_t seed, size_t column) {
  return (int)(mpnum_random(seed, column) >> 31);
}

/* Sums of so small integers are exact in any order, as are the quotients. */
static void integers_are_products_with_the_matrix(void) {
  for (int k = 0; k < 2; ++k)
    for (int is_inverse = 0; is_inverse < 2; ++is_inverse) {
      const size_t n = (size_t)orders[k], columns = 9 * n;
      const uint64_t seed = UINT64_C(0x123456789abcdef0) + (uint64_t)k;
      for (size_t i = 0; i < columns; ++i)
        x[i] = (float)(int)uniform(-5000, 5000);
      transform_row(is_inverse, y, x, columns, (int)n, seed);
      for (size_t i = 0; i < columns; ++i) {
        const size_t first = i / n * n;
        int64_t sum = 0;
        for (size_t j = first; j < first + n; ++j) {
          const int is_negative =
              is_minus(i - first, j - first) ^ is_flipped(seed, is_inverse ? i : j);
          sum += is_negative ? -(int64_t)x[j] : (int64_t)x[j];
        }
        CHECK((double)y[i] * (n == 64 ? 8 : 4) == (double)sum,
              "%zu, inverse %d, element %zu: %a, sum %" PRId64, n, is_inverse, i,
              (double)y[i], sum);
      }
    }
}

/* The words of seeds 0 and 1 begin with those that test_rng.c has from the outside. */
static void signs_are_the_top_bits_of_random_words(void) {
  static const uint32_t words[2][8] = {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8,
                                        0xf8e4cca4, 0x5cb200db, 0xb1a574eb, 0x097eff67},
                                       {0xe3e80670, 0xe50a0ebc, 0x95f222c0, 0xb615aa27}};
  for (int k = 0; k < 2; ++k)
    for (size_t seed = 0; seed < 2; ++seed)
      for (size_t j = 0; j < (seed ? 4 : 8); ++j) {
        const size_t n = (size_t)orders[k];
        const float sign = words[seed][j] >> 31 ? -1 : 1;
        memset(x, 0, n * sizeof *x);
        x[j] = (float)n;
        transform_row(0, y, x, n, (int)n, seed);
        for (size_t i = 0; i < n; ++i)
          CHECK(y[i] * (is_minus(i, j) ? -1 : 1) == sign * (n == 64 ? 8 : 4),
                "seed %zu, element %zu of %zu: %a", seed, j, i, (double)y[i]);
      }
}

/* A float nearest to a double, in the default environment: sums of two floats as doubles
 * and products with 1/4 and 1/8 are exact, or have twice the digits and two more. */
static float nearest(double value) {
  volatile double kept = value;
  volatile float rounded = (float)kept;
  return rounded;
}
/* Of each n elements what is written above: signs, stages one after another, factor. */
static uint32_t steps_of(float *block, size_t i, int n, uint64_t seed, size_t column,
                         int is_inverse) {
  float all[64] = {0}, next[64] = {0};
  uint32_t bits = 0;
  for (int j = 0; j < n; ++j) {
    const uint32_t sign = (uint32_t)is_flipped(seed, column + (size_t)j) << 31;
    all[j] = special(bits_of(block[j]) ^ (is_inverse ? 0 : sign));
  }
  for (int stride = 1; stride < n; stride *= 2) {
    for (int j = 0; j < n; ++j)
      next[j] = (j & stride) ? nearest((double)all[j - stride] - (double)all[j])
                             : nearest((double)all[j] + (double)all[j + stride]);
    memcpy(all, next, sizeof all);
  }
  bits = bits_of(nearest((double)all[i] * (n == 64 ? 0.125 : 0.25)));
  if (is_inverse) bits ^= (uint32_t)is_flipped(seed, column + i) << 31;
  return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : bits;
}

/* Numbers of every size; in some blocks of 64 huge ones, subnormals, zeros, Inf, NaN. */
static void fill_with_anything(float *dst, size_t count) {
  static const uint32_t specials[] = {0x7f800000u, 0xff800000u, 0xffc12345u, 0x7f800001u,
                                      0x80000000u, 0x00000000u, 0x7f7fffffu, 0xff7fffffu,
                                      0x7fffffffu, 0xffffffffu};
  for (size_t i = 0; i < count; ++i) {
    const int kind = (int)(i / 64 % 8);
    uint32_t bits = bits_of((float)uniform(-2, 2));
    if (kind == 1) bits = (uint32_t)uniform(0, 4294967295.0); /* NaN among them */
    if (kind == 2) bits = (bits & 0x80000000u) | (uint32_t)uniform(0, 0x01000000);
    if (kind == 3) bits = 0x7f000000u - (uint32_t)uniform(0, 0x03000000);
    if (kind == 3 && i % 3) bits |= 0x80000000u;
    if (kind == 4) bits = i % 5 ? 0 : 0x80000000u;
    if (kind == 5 && uniform(0, 1) < 0.04) bits = specials[(int)uniform(0, 10)];
    if (kind == 6) bits = (bits & 0x80000000u) | (uint32_t)uniform(0, 0x7f800000);
    dst[i] = special(bits);
  }
}
static void each_stage_rounds_once_in_the_order_of_strides(void) {
  static const size_t columns_of[] = {64, 192, 2048, 4160};
  for (int i = 0; i < 2 * 2 * 4; ++i) {
    const int n = orders[i % 2], is_inverse = i / 2 % 2;
    const size_t columns = columns_of[i / 4], rows = 3;
    const uint64_t seed = (uint64_t)i << 40;
    fill_with_anything(x, rows * columns);
    transform(is_inverse, mpnum_matrix_of(MPNUM_TYPE_F32, y, rows, columns),
              mpnum_const_matrix_of(MPNUM_TYPE_F32, x, rows, columns), n, seed);
    for (size_t j = 0; j < rows * columns; ++j) {
      const size_t in_block = j % (size_t)n;
      const uint32_t want = steps_of(x + (j - in_block), in_block, n, seed,
                                     j % columns - in_block, is_inverse);
      CHECK(bits_of(y[j]) == want, "%d, inverse %d, element %zu: %08x, want %08x", n,
            is_inverse, j, (unsigned)bits_of(y[j]), (unsigned)want);
    }
  }
}

/* Of 64 one group of 16 in each place. */
static void sixteen_small_ones_among_others_are_rounded(void) {
  const size_t columns = 256;
  for (size_t part = 0; part < 4; ++part) {
    for (size_t i = 0; i < columns; ++i) {
      const uint32_t bits = bits_of((float)uniform(-2, 2));
      const uint32_t small = (bits & 0x80000000u) | (uint32_t)uniform(0, 0x00c00000);
      x[i] = special(i % 64 / 16 == part ? small : bits);
    }
    transform_row(0, y, x, columns, 16, part);
    for (size_t i = 0; i < columns; ++i) {
      const uint32_t want = steps_of(x + i / 16 * 16, i % 16, 16, part, i / 16 * 16, 0);
      CHECK(bits_of(y[i]) == want, "part %zu, element %zu: %08x, want %08x", part, i,
            (unsigned)bits_of(y[i]), (unsigned)want);
    }
  }
}

/* From f32 and bf16 to both. */
static void types_are_rounded_once(void) {
  const ref_format *bf16 = ref_format_named("bf16");
  for (int i = 0; i < 4; ++i) {
    const int n = orders[i % 2], is_inverse = i / 2;
    const size_t rows = 5, columns = 16 * 13 * 4;
    const uint64_t seed = 77;
    fill_with_anything(x, rows * columns);
    for (size_t j = 0; j < rows * columns; ++j) {
      if (j % 3) x[j] = special(bits_of(x[j]) & 0xffff0000u); /* ties, too */
      x16[j] = (uint16_t)(bits_of(x[j]) >> 16);
      z[j] = special((uint32_t)x16[j] << 16);
    }
    transform(is_inverse, mpnum_matrix_of(MPNUM_TYPE_BF16, y16, rows, columns),
              mpnum_const_matrix_of(MPNUM_TYPE_F32, x, rows, columns), n, seed);
    transform(is_inverse, mpnum_matrix_of(MPNUM_TYPE_F32, y, rows, columns),
              mpnum_const_matrix_of(MPNUM_TYPE_F32, x, rows, columns), n, seed);
    for (size_t j = 0; j < rows * columns; ++j)
      CHECK(y16[j] ==
                ref_encode(bf16, ref_widen(bits_of(y[j])), REF_NEAREST_EVEN, REF_IEEE, 0),
            "f32 to bf16, element %zu: %04x of %08x", j, y16[j], (unsigned)bits_of(y[j]));
    transform(is_inverse, mpnum_matrix_of(MPNUM_TYPE_F32, y, rows, columns),
              mpnum_const_matrix_of(MPNUM_TYPE_BF16, x16, rows, columns), n, seed);
    transform(is_inverse, mpnum_matrix_of(MPNUM_TYPE_F32, z, rows, columns),
              mpnum_const_matrix_of(MPNUM_TYPE_F32, z, rows, columns), n, seed);
    CHECK(memcmp(y, z, rows * columns * sizeof *y) == 0, "bf16 to f32, in place");
    transform(is_inverse, mpnum_matrix_of(MPNUM_TYPE_BF16, x16, rows, columns),
              mpnum_const_matrix_of(MPNUM_TYPE_BF16, x16, rows, columns), n, seed);
    for (size_t j = 0; j < rows * columns; ++j)
      CHECK(x16[j] ==
                ref_encode(bf16, ref_widen(bits_of(y[j])), REF_NEAREST_EVEN, REF_IEEE, 0),
            "bf16 in place, element %zu: %04x of %08x", j, x16[j],
            (unsigned)bits_of(y[j]));
  }
}

/* What a kernel calls gives the bits of a row. */
static void blocks_in_registers_are_those_of_rows(void) {
  enum { COLUMNS = 64 * 30 };
  for (int i = 0; i < 4; ++i) {
    const int n = orders[i % 2], is_inverse = i / 2;
    const uint64_t seed = UINT64_C(0xfedcba9876543210);
    fill_with_anything(x, COLUMNS);
    transform_row(is_inverse, y, x, COLUMNS, n, seed);
    memcpy(z, x, sizeof z);
    for (size_t j = 0; j < COLUMNS / (size_t)n; ++j) {
      float *block = z + j * (size_t)n;
      if (n == 16 && !is_inverse) mpnum_hadamard_16(block, seed, j);
      if (n == 64 && !is_inverse) mpnum_hadamard_64(block, seed, j);
      if (n == 16 && is_inverse) mpnum_hadamard_inverse_16(block, seed, j);
      if (n == 64 && is_inverse) mpnum_hadamard_inverse_64(block, seed, j);
    }
    CHECK(memcmp(y, z, COLUMNS * sizeof *y) == 0, "%d, inverse %d", n, is_inverse);
  }
}

/* From 24 MiB on stores go past the caches, where rows begin at lines of these. */
static void large_matrices_are_those_of_their_parts(void) {
  enum { PARTS = 3, PART = 700, COLUMNS = 2048 + 48, STRIDE = 2112 };
  static MPNUM_ALIGNED_ float src[PARTS * PART * STRIDE],
      dst[PARTS * PART * (STRIDE + 1)];
  static uint8_t want[PART * COLUMNS * sizeof(float)];
  for (size_t i = 0; i < PARTS * PART * STRIDE; ++i)
    src[i] = special(0x3f000000u + (uint32_t)(i * 2654435761u >> 7));
  for (int i = 0; i < 2 * 3; ++i) {
    const mpnum_type type = i % 2 ? MPNUM_TYPE_BF16 : MPNUM_TYPE_F32;
    const size_t size = size_of(type), stride = STRIDE + (i / 2 == 1);
    const uint8_t *got = (uint8_t *)(dst + (i / 2 == 2));
    memset(dst, 0x5c, sizeof dst);
    CHECK(mpnum_hadamard_rows(
              dst_rows(type, dst + (i / 2 == 2), PARTS * PART, COLUMNS, stride),
              src_rows(MPNUM_TYPE_F32, src, PARTS * PART, COLUMNS, STRIDE), 16,
              5) == MPNUM_OK,
          "way %d", i);
    for (size_t part = 0; part < PARTS; ++part) {
      must(mpnum_hadamard_rows(
          mpnum_matrix_of(type, want, PART, COLUMNS),
          src_rows(MPNUM_TYPE_F32, src + part * PART * STRIDE, PART, COLUMNS, STRIDE), 16,
          5));
      for (size_t row = 0; row < PART; ++row, got += stride * size) {
        CHECK(memcmp(got, want + row * COLUMNS * size, COLUMNS * size) == 0,
              "way %d, part %zu, row %zu", i, part, row);
        CHECK(got[COLUMNS * size] == 0x5c, "way %d, behind row %zu", i, row);
      }
    }
  }
}

static double length_of(const float *row, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i)
    sum += (double)row[i] * (double)row[i];
  return sqrt(sum);
}
/* Within the bound for both directions: length is kept, and what was there comes back. */
static void the_inverse_brings_back_what_was_there(void) {
  for (int i = 0; i < 2 * 500; ++i) {
    const int n = orders[i % 2];
    const double bound = (n == 64 ? 6 : 4) * 0x1p-24 * (1 + 0x1p-20);
    float difference[64] = {0};
    double size = 0;
    for (int j = 0; j < n; ++j)
      x[j] = (float)(uniform(-1, 1) * exp2(uniform(-20, 20)));
    size = length_of(x, (size_t)n);
    transform_row(0, y, x, (size_t)n, n, (uint64_t)i);
    CHECK(fabs(length_of(y, (size_t)n) - size) <= bound * size, "length %a, was %a",
          length_of(y, (size_t)n), size);
    transform_row(1, z, y, (size_t)n, n, (uint64_t)i);
    for (int j = 0; j < n; ++j)
      difference[j] = z[j] - x[j];
    CHECK(length_of(difference, (size_t)n) <= 2 * bound * size, "%d: off by %a of %a", n,
          length_of(difference, (size_t)n), size);
  }
}

static void inf_and_nan_stay_in_their_block(void) {
  for (int i = 0; i < 2 * 3; ++i) {
    const int n = orders[i % 2], kind = i / 2;
    const size_t columns = 64 * 3, at = 64 + 5;
    const size_t first = at / (size_t)n * (size_t)n;
    for (size_t j = 0; j < columns; ++j)
      z[j] = x[j] = (float)uniform(-1, 1);
    x[at] = special(kind == 0 ? 0xffc12345u : kind == 1 ? 0x7f800000u : 0xff800000u);
    transform_row(0, y, x, columns, n, 3);
    transform_row(0, z, z, columns, n, 3);
    for (size_t j = 0; j < columns; ++j) {
      const int is_negative =
          is_minus(j - first, at - first) ^ is_flipped(3, at) ^ (kind == 2);
      const uint32_t inf = is_negative ? 0xff800000u : 0x7f800000u;
      const int is_hit = j >= first && j < first + (size_t)n;
      const uint32_t want = !is_hit ? bits_of(z[j]) : kind == 0 ? 0x7fffffffu : inf;
      CHECK(bits_of(y[j]) == want, "%d, kind %d, element %zu: %08x, want %08x", n, kind,
            j, (unsigned)bits_of(y[j]), (unsigned)want);
    }
  }
}
static void below_the_largest_float_by_n_nothing_overflows(void) {
  for (int i = 0; i < 2; ++i) {
    const int n = orders[i];
    const uint64_t seed = 11;
    for (size_t j = 0; j < (size_t)n; ++j) /* all add up in the first element */
      x[j] = special((n == 64 ? 0x7c7fffffu : 0x7d7fffffu) | (uint32_t)is_flipped(seed, j)
                                                                 << 31);
    transform_row(0, y, x, (size_t)n, n, seed);
    CHECK(bits_of(y[0]) == (n == 64 ? 0x7dffffffu : 0x7e7fffffu), "%a", (double)y[0]);
    for (size_t j = 0; j < (size_t)n; ++j)
      x[j] *= 2;
    transform_row(0, y, x, (size_t)n, n, seed);
    CHECK(bits_of(y[0]) == 0x7f800000u, "%a", (double)y[0]);
  }
}

int main(void) {
  set_control_word(control_word_of(FE_TONEAREST)); /* -ffast-math has another */
  RUN_FOR_EACH_ISA(integers_are_products_with_the_matrix);
  RUN_FOR_EACH_ISA(signs_are_the_top_bits_of_random_words);
  RUN_FOR_EACH_ISA(each_stage_rounds_once_in_the_order_of_strides);
  RUN_FOR_EACH_ISA(sixteen_small_ones_among_others_are_rounded);
  RUN_FOR_EACH_ISA(types_are_rounded_once);
  RUN_FOR_EACH_ISA(blocks_in_registers_are_those_of_rows);
  RUN_FOR_EACH_ISA(large_matrices_are_those_of_their_parts);
  RUN_FOR_EACH_ISA(the_inverse_brings_back_what_was_there);
  RUN_FOR_EACH_ISA(inf_and_nan_stay_in_their_block);
  RUN_FOR_EACH_ISA(below_the_largest_float_by_n_nothing_overflows);
  return tap_done();
}
