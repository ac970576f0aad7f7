/* SPDX-License-Identifier: MIT */
/* mpnum_product_bound: no result is farther from the exact sum, which is taken here in
 * integers of 128 bits, in random dot products and in some that lose as much as they can;
 * these reach an eighth of it. TEST_MILLIONS dot products. */
#include "../harness/control_word.h"
#include "../harness/tap.h"
#include "../reference/conversion_inputs.h"
#include "../reference/reference.h"

#include <mpnum/hardware/product.h>

#include <math.h>

#ifndef TEST_MILLIONS
# define TEST_MILLIONS 1
#endif

enum { ROWS = 64, MOST = 4096, UNITS = 28, PLACE = 60 };
__extension__ typedef __int128 wide;
static uint64_t state = 11;
static const char *const units[UNITS] = {
    "f32",         "f32.fma",      "f32.pairwise", "v100.f16",         "v100.f16.f16",
    "t4.f16",      "a100.f16.f16", "a100.bf16",    "a100.tf32",        "ada.fp8",
    "ada.fp8.f16", "h100.f16",     "h100.f16.f16", "h100.bf16",        "h100.tf32",
    "h100.fp8",    "h100.fp8.f16", "h100.mma.fp8", "h100.mma.fp8.f16", "b200.fp8",
    "mi100.f16",   "mi250.f16",    "mi250.bf16",   "mi300.f16",        "mi300.tf32",
    "mi300.fp8",   "b200.mx",      "b200.fp4"};

typedef struct operand {
  const ref_format *format;
  mpnum_type type;
  size_t rows, columns;
  double values[ROWS * 64 > 2 * MOST ? ROWS * 64 : 2 * MOST];
  unsigned char bytes[4 * (ROWS * 64 > 2 * MOST ? ROWS * 64 : 2 * MOST)];
  mpnum_blockscale_format blocks; /* columns 0: none */
  const ref_format *scale_format;
  unsigned char scales[ROWS * 4 > MOST / 8 ? ROWS * 4 : MOST / 8];
} operand;
static operand a, b;
static double got[ROWS * ROWS], bounds[ROWS * ROWS], starts[ROWS * ROWS];

static int below(int n) { return (int)(random_bits(&state) % (uint64_t)n); }
static double double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static unsigned char *scale_at(operand *of, size_t at) {
  const size_t width = of->blocks.columns, in_row = (of->columns + width - 1) / width;
  return &of->scales[at / of->columns * in_row + at % of->columns / width];
}
static double factor_at(operand *of, size_t at) {
  return of->blocks.columns ? double_of(ref_decode(of->scale_format, *scale_at(of, at)))
                            : 1;
}
/* A value that the format is to hold, or its neighbour, times the scale of its block. */
static void set_value(operand *to, size_t at, double x) {
  const uint32_t code =
      ref_encode(to->format, mpnum_bits_f64(x), REF_NEAREST_EVEN, REF_SATURATE, 0);
  const int width = 1 + to->format->exponent_bits + to->format->mantissa_bits;
  const uint16_t half = (uint16_t)code;
  to->values[at] = double_of(ref_decode(to->format, code)) * factor_at(to, at);
  if (width == 4) { /* a row begins at a whole byte */
    const size_t column = at % to->columns;
    unsigned char *const byte =
        &to->bytes[at / to->columns * ((to->columns + 1) / 2) + column / 2];
    *byte = (unsigned char)(column % 2 ? (*byte & 15) | code << 4 : (*byte & 240) | code);
  } else if (width > 16)
    memcpy(to->bytes + 4 * at, &code, 4);
  else if (width > 8)
    memcpy(to->bytes + 2 * at, &half, 2);
  else
    to->bytes[at] = (unsigned char)code;
}
/* The elements that a unit takes: the widest, but f32, whose sums would be long. */
static void set_types(const mpnum_product_unit *unit, operand *to) {
  int type = unit->types >> MPNUM_TYPE_F16 & 1 ? MPNUM_TYPE_F16 : MPNUM_TYPE_TF32;
  while (!(unit->types >> type & 1))
    ++type;
  to->type = (mpnum_type)type;
  to->format = ref_format_named(mpnum_type_name(to->type));
  to->blocks.columns = 0;
}
/* Blocks of MX, or of NVFP4, with scales of 2^-6 to 2^6, or of 1 alone. */
static void set_blocks(operand *to, int is_nvfp4, int spread) {
  size_t k;
  to->blocks = is_nvfp4 ? mpnum_blockscale_nvfp4_1x16()
                        : mpnum_blockscale_mx(to->type, MPNUM_BLOCKSCALE_FLOOR);
  to->scale_format = ref_format_named(is_nvfp4 ? "e4m3" : "e8m0");
  for (k = 0; k < sizeof to->scales; ++k)
    to->scales[k] = (unsigned char)(is_nvfp4 ? 0x38 - 4 * spread + below(8 * spread + 1)
                                             : 127 - spread + below(2 * spread + 1));
}
static mpnum_product_operand view_of(operand *from) {
  if (from->blocks.columns) {
    mpnum_blockscaled values = {0, 0, 0, 0, 0, 1};
    values.codes = from->bytes;
    values.stride = from->columns;
    if (from->blocks.element_bits == 4) values.stride += values.stride % 2;
    values.scale_inv = from->scales;
    values.scale_inv_bytes = sizeof from->scales;
    return mpnum_product_blocks_of(&from->blocks, values, from->rows, from->columns);
  }
  return mpnum_product_operand_of(
      mpnum_const_matrix_of(from->type, from->bytes, from->rows, from->columns));
}
static void multiply(const mpnum_product_unit *unit, int begins) {
  const mpnum_const_matrix start =
      mpnum_const_matrix_of(MPNUM_TYPE_F64, starts, a.rows, b.rows);
  const mpnum_const_matrix *const from = begins ? &start : NULL;
  const mpnum_status made =
      mpnum_product(mpnum_matrix_of(MPNUM_TYPE_F64, got, a.rows, b.rows), *unit,
                    view_of(&a), view_of(&b), from);
  const mpnum_status bounded =
      mpnum_product_bound(mpnum_matrix_of(MPNUM_TYPE_F64, bounds, a.rows, b.rows), *unit,
                          view_of(&a), view_of(&b), from);
  CHECK(made == MPNUM_OK && bounded == MPNUM_OK, "%d, %d", (int)made, (int)bounded);
}
/* The distance of a result from the exact sum. */
static double error_of(size_t i, size_t j, int begins) {
  wide sum = begins ? (wide)ldexp(starts[i * b.rows + j], PLACE) : 0;
  size_t k;
  if (!isfinite(got[i * b.rows + j])) return INFINITY;
  for (k = 0; k < a.columns; ++k)
    sum += (wide)ldexp(a.values[i * a.columns + k] * b.values[j * a.columns + k], PLACE);
  sum -= (wide)ldexp(got[i * b.rows + j], PLACE);
  return ldexp((double)(sum < 0 ? -sum : sum), -PLACE);
}
/* All but those whose bound says nothing. */
static int check_all(const char *name, int begins) {
  size_t i, j;
  int infinite = 0;
  for (i = 0; i < a.rows; ++i)
    for (j = 0; j < b.rows; ++j) {
      const double most = bounds[i * b.rows + j], error = error_of(i, j, begins);
      infinite += isinf(most) != 0;
      CHECK(error <= most, "%s, %d columns: %g off, bound %g", name, (int)a.columns,
            error, most);
    }
  return infinite;
}

/* Values that integers of 2^-PLACE hold the products of. */
static double draw(int kind) {
  const double sign = below(2) ? 1 : -1, mantissa = 1 + below(1024) * 0x1p-10;
  if (kind == 1) return sign * ldexp(mantissa, below(12) - 9);
  if (kind == 2) return ldexp(mantissa, -below(3));
  if (kind == 3) return below(8) ? sign * ldexp(1, -below(10)) : sign * 2;
  return sign * ldexp(mantissa, -below(3));
}
/* A matrix of rows x rows sums of a unit; how many bounds are Inf. */
static int check_random(int round, size_t rows, size_t columns) {
  const char *const name = units[round % UNITS];
  mpnum_product_unit unit = mpnum_product_unit_of(name);
  const int kind = round / UNITS % 4, begins = below(2);
  size_t k;
  set_types(&unit, &a);
  set_types(&unit, &b);
  a.rows = b.rows = rows;
  a.columns = b.columns = columns;
  if (unit.products && below(4) == 0) unit.promotion = 2 * (uint64_t)unit.products;
  if (unit.scales) {
    const int is_nvfp4 = unit.scales == 2 && below(2);
    set_blocks(&a, is_nvfp4, 6);
    set_blocks(&b, is_nvfp4, 6);
  }
  for (k = 0; k < a.rows * a.columns; ++k) {
    set_value(&a, k, draw(kind));
    set_value(&b, k, draw(kind));
    if (kind == 0 && k % a.columns % 2)
      set_value(&a, k, -a.values[k - 1] / factor_at(&a, k)),
          set_value(&b, k, b.values[k - 1] / factor_at(&b, k));
  }
  for (k = 0; k < rows * rows; ++k)
    starts[k] = unit.sum == MPNUM_TYPE_F16
                    ? draw(0)
                    : (double)(float)(draw(1) * (1 + below(1 << 20) * 0x1p-23));
  multiply(&unit, begins);
  return check_all(name, begins);
}
static void no_random_product_is_past_its_bound(void) {
  const long rounds = (TEST_MILLIONS * 1000000L + ROWS * ROWS - 1) / (ROWS * ROWS);
  long infinite = 0;
  int round = 0;
  for (; round < rounds; ++round)
    infinite += check_random(round, ROWS, 1 + (size_t)below(64));
  CHECK(infinite == 0, "%ld bounds are Inf", infinite);
}
/* 4 sums of every unit and kind a million. */
static void no_long_random_product_is_past_its_bound(void) {
  long infinite = 0;
  int round = 0;
  for (; round < TEST_MILLIONS * UNITS * 4; ++round)
    infinite += check_random(round, 2, MOST);
  CHECK(infinite == 0, "%ld bounds are Inf", infinite);
}

/* Of a unit whose blocks are exact: a power of two and a start that is lost, then steps
 * that are. */
static double reached_by_steps(const mpnum_product_unit *unit, size_t columns) {
  const size_t first = columns < 64 ? columns : 64;
  size_t sum = 1;
  double most = 0;
  int down, shape;
  while (sum < first)
    sum *= 2;
  for (down = 8; down <= 30; ++down)
    for (shape = 0; shape < 2; ++shape) {
      size_t k;
      double share;
      set_blocks(&a, 0, 0);
      set_blocks(&b, 0, 0);
      for (k = 0; k < columns; ++k) {
        if (k >= first) *scale_at(&a, k) = (unsigned char)(127 - down);
        set_value(&a, k, k < sum - first ? 2 : k >= first && shape ? 1.5 : 1);
        set_value(&b, k, 1);
      }
      starts[0] = ldexp(1 - 0x1p-8, ilogb((double)sum) - 23);
      multiply(unit, 1);
      share = error_of(0, 0, 1) / bounds[0];
      CHECK(share <= 1, "%d columns: %g of the bound", (int)columns, share);
      if (isfinite(share) && share > most) most = share;
    }
  return most;
}

/* Dot products that a unit flushes, or whose sums are no floats, by hand: (a, b) n times,
 * and the exact sum. */
static void what_underflows_is_within_the_bound(void) {
  static const struct lost {
    const char *unit;
    double a, b;
    size_t n;
    double exact;
  } lost[] = {{"mi250.f16", 0x1p-20, 1, 3, 0x3p-20}, /* a subnormal element */
              {"mi250.f16", 1, 0x3p-24, 5, 0xfp-24},
              {"mi250.bf16", 0x1p-64, 0x1p-63, 2, 0x1p-126}, /* subnormal products */
              {"mi250.bf16_1k", 0x1p-130, 1, 4, 0x1p-128},
              {"mi100.bf16", 0x1.8p-88, 0x1.4p-88, 1, 0x1.ep-176},
              {"f32", 0x1p-100, 0x1p-60, 7, 0x7p-160}};
  for (size_t i = 0; i < sizeof lost / sizeof *lost; ++i) {
    const mpnum_product_unit unit = mpnum_product_unit_of(lost[i].unit);
    set_types(&unit, &a);
    set_types(&unit, &b);
    if (strcmp(lost[i].unit, "f32") == 0) {
      a.type = b.type = MPNUM_TYPE_BF16;
      a.format = b.format = ref_format_named("bf16");
    }
    a.rows = b.rows = 1;
    a.columns = b.columns = lost[i].n;
    for (size_t k = 0; k < lost[i].n; ++k) {
      set_value(&a, k, lost[i].a);
      set_value(&b, k, lost[i].b);
    }
    multiply(&unit, 0);
    CHECK(got[0] == 0 && lost[i].exact <= bounds[0] &&
              bounds[0] < 5 * lost[i].exact + 0x1p-122,
          "%s: %g, not %g, bound %g", lost[i].unit, got[0], lost[i].exact, bounds[0]);
  }
}

/* A power of two, and then products that are all lost, or most of them: where a tie goes
 * to the even one, just less than what is kept, half of that... The largest share of the
 * bound. */
static double reached(const char *name, size_t columns) {
  mpnum_product_unit unit = mpnum_product_unit_of(name);
  double most = 0;
  int down, shape;
  set_types(&unit, &a);
  set_types(&unit, &b);
  a.rows = b.rows = 1;
  a.columns = b.columns = columns;
  if (unit.scales == 2) return reached_by_steps(&unit, columns);
  if (unit.scales) {
    set_blocks(&a, 0, 0);
    set_blocks(&b, 0, 0);
    starts[0] = ldexp(1 - 0x1p-8, -unit.bits); /* all of it is cut */
  }
  for (down = 8; down <= 30; ++down)
    for (shape = 0; shape < 3; ++shape) {
      const double full = 2 - ldexp(1, -a.format->mantissa_bits);
      const int is_narrow = a.format->exponent_bits < 5;
      const int large = !is_narrow ? 0 : unit.sum == MPNUM_TYPE_F16 ? 6 : 7;
      const int first = down / 2;
      size_t k;
      double share;
      for (k = 0; k < columns; ++k) {
        const double least = ldexp(shape ? full : 1, large - first);
        set_value(&a, k, k == 0 ? ldexp(shape == 2 ? 1.5 : 1, large) : least);
        set_value(&b, k, ldexp(1, k == 0 ? large : large + first - down));
      }
      multiply(&unit, unit.scales != 0);
      share = error_of(0, 0, unit.scales != 0) / bounds[0];
      CHECK(share <= 1, "%s, %d columns: %g of the bound", name, (int)columns, share);
      if (isfinite(share) && share > most) most = share;
    }
  return most;
}
static void bounds_are_within_8_times_of_what_is_lost(void) {
  static const size_t columns[] = {2, 7, 16, 33, 64, MOST};
  int i, k;
  for (i = 0; i < UNITS; ++i)
    for (k = 0; k < 6; ++k) {
      const double share = reached(units[i], columns[k]);
      printf("# %s, %d columns: %.2f of the bound\n", units[i], (int)columns[k], share);
      CHECK(share >= 0.125, "%s, %d columns: %.3f of the bound", units[i],
            (int)columns[k], share);
    }
}

/* --- what a test with these bounds sees --- */

static double nearly_normal(void) {
  double sum = -6;
  int k;
  for (k = 0; k < 12; ++k)
    sum += below(1 << 20) * 0x1p-20;
  return sum;
}
static float as_bf16(float x) {
  const ref_format *const bf16 = ref_format_named("bf16");
  return (float)double_of(ref_decode(
      bf16, ref_encode(bf16, mpnum_bits_f64((double)x), REF_NEAREST_EVEN, REF_IEEE, 0)));
}
/* A kernel in f32 that sums from the last product to the first, and what goes wrong. */
enum { RIGHT, ZEROS, LANE_DROPPED, BF16_INSIDE };
static float kernel(size_t i, size_t j, int wrong) {
  volatile float sum = 0;
  size_t k;
  for (k = a.columns; k-- > 0 && wrong != ZEROS;) {
    if (wrong == LANE_DROPPED && k == 17) continue;
    sum = sum + (float)(a.values[i * a.columns + k] * b.values[j * a.columns + k]);
    if (wrong == BF16_INSIDE) sum = as_bf16(sum);
  }
  return sum;
}
/* A layer's size: activations of 0.1, weights of 0.02, 64 products. docs/product.md has
 * these numbers. */
static void bounds_see_what_a_guess_does_not(void) {
  static const char *const names[] = {"right", "zeros", "a lane dropped", "bf16 inside"};
  const mpnum_product_unit f32 = mpnum_product_unit_of("f32");
  const mpnum_product_unit exact = mpnum_product_unit_of("exact");
  size_t k;
  int wrong;
  a.format = b.format = ref_format_named("f16");
  a.type = b.type = MPNUM_TYPE_F16;
  a.blocks.columns = b.blocks.columns = 0;
  a.rows = b.rows = ROWS;
  a.columns = b.columns = 64;
  for (k = 0; k < (size_t)ROWS * 64; ++k) {
    set_value(&a, k, 0.1 * nearly_normal());
    set_value(&b, k, 0.02 * nearly_normal());
  }
  multiply(&exact, 0);
  CHECK(mpnum_product_bound(mpnum_matrix_of(MPNUM_TYPE_F64, bounds, ROWS, ROWS), f32,
                            view_of(&a), view_of(&b), NULL) == MPNUM_OK,
        "bound");
  for (wrong = RIGHT; wrong <= BF16_INSIDE; ++wrong) {
    int guessed = 0, seen = 0;
    for (k = 0; k < (size_t)ROWS * ROWS; ++k) {
      const double off = fabs((double)kernel(k / ROWS, k % ROWS, wrong) - got[k]);
      guessed += off > 0.1 + 0.01 * fabs(got[k]);
      seen += off > bounds[k];
    }
    printf("# %s: past the guess %d, past the bound %d of %d\n", names[wrong], guessed,
           seen, ROWS * ROWS);
    CHECK(guessed == 0 && (wrong == RIGHT ? seen == 0 : seen > ROWS * ROWS * 9 / 10),
          "%s: %d, %d", names[wrong], guessed, seen);
  }
}

int main(void) {
  /* Without what -ffast-math sets. */
  set_control_word(control_word_of(FE_TONEAREST));
  TAP_RUN(no_random_product_is_past_its_bound);
  TAP_RUN(no_long_random_product_is_past_its_bound);
  TAP_RUN(what_underflows_is_within_the_bound);
  TAP_RUN(bounds_see_what_a_guess_does_not);
  TAP_RUN(bounds_are_within_8_times_of_what_is_lost);
  return tap_done();
}
