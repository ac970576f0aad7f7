/* SPDX-License-Identifier: MIT */
/* Products of matrices in block formats: the steps that the header states, taken here in
 * floats and doubles with values of the slow reference; against exact sums of MPFR within
 * the bounds, which sums in other orders have to stay within, too. */
#include "../measure/block_values.h"
#include "../harness/control_word.h"
#include "../harness/must.h"
#include "../harness/tap.h"

#include <mpnum/hardware/product.h>

#include <math.h>
#include <mpfr.h>

enum { PRECISION = 1000, A_ROWS = 3, B_ROWS = 5, COLUMNS_AT_MOST = 650 };
static uint64_t state = 23;
static const uint64_t infinity = UINT64_C(0x7ff) << 52;
static block_matrix a, b;
static float source[PLACES];
static double got[A_ROWS * B_ROWS], bounds[A_ROWS * B_ROWS], whole[A_ROWS * B_ROWS];

static void fill(block_matrix *matrix, int k, size_t rows, size_t columns, float size) {
  const block_case about = block_case_of(k);
  float amax = 0;
  size_t i = 0;
  for (i = 0; i < rows * columns; ++i) {
    source[i] = random_float(&state) * size * (i / 37 % 3 == 1 ? 0x1p-9f : 1);
    amax = amax > source[i] ? amax : source[i];
    amax = amax > -source[i] ? amax : -source[i];
  }
  CHECK(quantise(matrix, about, source, rows, columns, mpnum_nvfp4_scale(amax)) ==
            MPNUM_OK,
        "%s", about.name);
}
static mpnum_product_operand operand_of(const block_matrix *matrix) {
  return mpnum_product_blocks_of(&matrix->about.format, matrix->view, matrix->rows,
                                 matrix->columns);
}
/* Products to got, or their bounds. */
static mpnum_status multiply(double *to, mpnum_product_operand x, mpnum_product_operand y,
                             const char *unit) {
  return mpnum_product(mpnum_matrix_of(MPNUM_TYPE_F64, to, A_ROWS, B_ROWS),
                       mpnum_product_unit_of(unit), x, y, NULL);
}
static mpnum_status bound(mpnum_product_operand x, mpnum_product_operand y,
                          const char *unit) {
  return mpnum_product_bound(mpnum_matrix_of(MPNUM_TYPE_F64, bounds, A_ROWS, B_ROWS),
                             mpnum_product_unit_of(unit), x, y, NULL);
}
static int is_two_level(const block_matrix *matrix) {
  return matrix->about.format.rule == MPNUM_BLOCKSCALE_TWO_LEVEL;
}

/* Each step in its own variable, so that it is rounded to it, once. */
static double step_by_step(size_t i, size_t j, int is_f32) {
  volatile float sum = 0, total = 0, product = 0;
  volatile double wide_sum = 0, wide_total = 0, wide_product = 0;
  size_t k = 0;
  for (k = 0; k < a.columns; ++k) {
    const double x = element_value(&a, i, k), y = element_value(&b, j, k);
    const double s = scale_value(&a, i, k), t = scale_value(&b, j, k);
    const size_t next = k + 1;
    const size_t wide_a = a.about.format.columns, wide_b = b.about.format.columns;
    product = (float)x * (float)y;
    sum = sum + product;
    wide_product = x * y;
    wide_sum = wide_sum + wide_product;
    if (next < a.columns && !(wide_a && next % wide_a == 0) &&
        !(wide_b && next % wide_b == 0))
      continue;
    sum = sum * (float)s;
    sum = sum * (float)t;
    total = total + sum;
    wide_sum = wide_sum * s;
    wide_sum = wide_sum * t;
    wide_total = wide_total + wide_sum;
    sum = 0;
    wide_sum = 0;
  }
  if (is_two_level(&a)) {
    total = total / a.view.scale;
    wide_total = wide_total / (double)a.view.scale;
  }
  if (is_two_level(&b)) {
    total = total / b.view.scale;
    wide_total = wide_total / (double)b.view.scale;
  }
  return is_f32 ? (double)total : wide_total;
}
/* As kernels do: decoded values, backwards or by halves, with an fma or without. */
static double value_of(const block_matrix *matrix, size_t row, size_t column) {
  return element_value(matrix, row, column) * scale_value(matrix, row, column);
}
static float other_order(size_t i, size_t j, int kind) {
  volatile float parts[4] = {0, 0, 0, 0}, product = 0;
  size_t k = 0;
  for (k = a.columns; k-- > 0;) {
    volatile float x = (float)value_of(&a, i, k), y = (float)value_of(&b, j, k);
    volatile float *const sum = &parts[kind == 0 ? 0 : k % 4];
    if (is_two_level(&a)) x = x / a.view.scale;
    if (is_two_level(&b)) y = y / b.view.scale;
    product = x * y;
    *sum = kind == 2 ? (float)((double)x * (double)y + (double)*sum) : *sum + product;
  }
  product = parts[0] + parts[1];
  parts[2] = parts[2] + parts[3];
  return product + parts[2];
}
static void exact(mpfr_t sum, mpfr_t magnitudes, size_t i, size_t j) {
  mpfr_t x;
  size_t k = 0;
  mpfr_init2(x, PRECISION);
  mpfr_set_ui(sum, 0, MPFR_RNDN);
  mpfr_set_ui(magnitudes, 0, MPFR_RNDN);
  for (k = 0; k < a.columns; ++k) {
    mpfr_set_d(x, element_value(&a, i, k), MPFR_RNDN);
    mpfr_mul_d(x, x, scale_value(&a, i, k), MPFR_RNDN);
    mpfr_mul_d(x, x, element_value(&b, j, k), MPFR_RNDN);
    mpfr_mul_d(x, x, scale_value(&b, j, k), MPFR_RNDN);
    mpfr_add(sum, sum, x, MPFR_RNDN);
    mpfr_abs(x, x, MPFR_RNDN);
    mpfr_add(magnitudes, magnitudes, x, MPFR_RNDN);
  }
  if (is_two_level(&a)) {
    mpfr_div_d(sum, sum, (double)a.view.scale, MPFR_RNDN);
    mpfr_div_d(magnitudes, magnitudes, (double)a.view.scale, MPFR_RNDN);
  }
  if (is_two_level(&b)) {
    mpfr_div_d(sum, sum, (double)b.view.scale, MPFR_RNDN);
    mpfr_div_d(magnitudes, magnitudes, (double)b.view.scale, MPFR_RNDN);
  }
  mpfr_clear(x);
}
static int is_within(double value, const mpfr_t want, double bound) {
  mpfr_t difference;
  int good = 0;
  mpfr_init2(difference, PRECISION);
  mpfr_sub_d(difference, want, value, MPFR_RNDN);
  mpfr_abs(difference, difference, MPFR_RNDN);
  good = mpfr_cmp_d(difference, bound) <= 0;
  mpfr_clear(difference);
  return good;
}

static void check_product(const char *unit) {
  const int is_f32 = unit[1] == '3';
  char name[80];
  mpfr_t want, magnitudes;
  size_t at = 0;
  int kind = 0;
  mpfr_inits2(PRECISION, want, magnitudes, (mpfr_ptr)0);
  snprintf(name, sizeof name, "%s %s and %s, %d columns, %s", a.about.name,
           a.about.element ? a.about.element : "", b.about.name, (int)a.columns, unit);
  CHECK(multiply(got, operand_of(&a), operand_of(&b), unit) == MPNUM_OK &&
            bound(operand_of(&a), operand_of(&b), unit) == MPNUM_OK &&
            multiply(whole, operand_of(&a), operand_of(&b), "exact") == MPNUM_OK,
        "%s", name);
  for (at = 0; at < a.rows * b.rows; ++at) {
    const size_t i = at / b.rows, j = at % b.rows;
    const double steps = step_by_step(i, j, is_f32);
    double most = 0;
    exact(want, magnitudes, i, j);
    CHECK(got[at] == steps, "%s: %.17g, step by step %.17g", name, got[at], steps);
    CHECK(is_within(whole[at], want, fabs(whole[at]) * 0x1p-50 + 0x1p-1000),
          "%s: exact %.17g, MPFR %.17g", name, whole[at], mpfr_get_d(want, MPFR_RNDN));
    CHECK(is_within(got[at], want, bounds[at]), "%s: %.17g, exact %.17g, bound %.17g",
          name, got[at], mpfr_get_d(want, MPFR_RNDN), bounds[at]);
    for (kind = 0; kind < 3 && is_f32; ++kind)
      CHECK(is_within((double)other_order(i, j, kind), want, bounds[at]),
            "%s: order %d is past the bound", name, kind);
    /* and what the exact product is rounded by */
    most = (double)(a.columns + 13) * power_of_two(is_f32 ? -24 : -53) *
               mpfr_get_d(magnitudes, MPFR_RNDN) +
           (is_f32 ? power_of_two(-120) : 0);
    CHECK(bounds[at] <= most, "%s: bound %g for %g", name, bounds[at], most);
  }
  mpfr_clears(want, magnitudes, (mpfr_ptr)0);
}
static void check_formats(int first, int second, size_t columns, float size) {
  fill(&a, first, A_ROWS, columns, size);
  fill(&b, second, B_ROWS, columns, size);
  check_product("f32");
  check_product("f64");
}

static void each_format_with_itself(void) {
  int k = 0;
  for (; k < BLOCK_CASES; ++k)
    check_formats(k, k, COLUMNS_AT_MOST, 1);
}
static void formats_with_others(void) {
  int k = 0;
  for (; k < BLOCK_CASES; ++k) /* short blocks at the end, blocks of different widths */
    check_formats(k, (k * 5 + 3) % BLOCK_CASES, 1 + (size_t)k * 31, 1);
}
/* Where f32 underflows, and where it is near to its end. */
static void sizes_of_all_kinds(void) {
  static const int kinds[] = {0, 4, 11, 13, 15};
  static const float sizes[] = {0x1p-118f, 0x1p-75f, 0x1p-40f, 0x1p50f};
  size_t i = 0, k = 0;
  for (; i < 4; ++i)
    for (k = 0; k < 5; ++k)
      check_formats(kinds[k], kinds[k], 200, sizes[i]);
}
/* Scales whose product no float holds, of which the sum of both is one. */
static void scales_far_apart(void) {
  size_t i = 0;
  fill(&a, 0, A_ROWS, 96, 0x1p-115f);
  fill(&b, 0, B_ROWS, 96, 0x1p100f);
  check_product("f32");
  check_product("f64");
  fill(&a, 0, A_ROWS, 96, 0x1p100f);
  fill(&b, 0, B_ROWS, 96, 0x1p100f);
  CHECK(multiply(got, operand_of(&a), operand_of(&b), "f32") == MPNUM_OK &&
            bound(operand_of(&a), operand_of(&b), "f32") == MPNUM_OK,
        "too large");
  for (i = 0; i < A_ROWS * B_ROWS; ++i)
    CHECK((mpnum_bits_f64(bounds[i]) & ~(UINT64_C(1) << 63)) == infinity &&
              mpnum_bits_f64(got[i]) << 1 >= infinity << 1,
          "%g, %g", got[i], bounds[i]);
  check_product("f64");
}

static void nan_blocks_make_their_sums_nan(void) {
  size_t i = 0;
  fill(&b, 0, B_ROWS, 96, 1);
  fill(&a, 0, A_ROWS, 96, 1);
  a.scales[4] = 0xff; /* of row 1 */
  CHECK(multiply(got, operand_of(&a), operand_of(&b), "f32") == MPNUM_OK &&
            bound(operand_of(&a), operand_of(&b), "f32") == MPNUM_OK,
        "NaN");
  for (i = 0; i < A_ROWS * B_ROWS; ++i) {
    const int is_nan = mpnum_bits_f64(got[i]) == UINT64_C(0x7fffffffffffffff);
    CHECK(is_nan == (i / B_ROWS == 1), "element %d", (int)i);
    CHECK((mpnum_bits_f64(bounds[i]) == infinity) == is_nan, "bound %d", (int)i);
  }
}

static void refused(mpnum_product_operand x, mpnum_product_operand y, mpnum_status want,
                    const char *what) {
  const mpnum_status made = multiply(got, x, y, "f32"), bounded = bound(x, y, "f32");
  CHECK(made == want && bounded == want, "%s: %d, %d", what, (int)made, (int)bounded);
}
static void bad_input_changes_nothing(void) {
  mpnum_product_operand x, y, good_x, good_y;
  mpnum_blockscale_format across, longer;
  fill(&a, 0, A_ROWS, 64, 1);
  fill(&b, 13, B_ROWS, 64, 1);
  x = good_x = operand_of(&a);
  y = good_y = operand_of(&b);
  memset(got, 0x5a, sizeof got);
  memset(bounds, 0x5a, sizeof bounds);
  y.matrix.columns = 63;
  refused(x, y, MPNUM_ERROR_SHAPE, "columns");
  y = good_y;
  CHECK(multiply(NULL, x, y, "f32") == MPNUM_ERROR_NULL, "NULL");
  CHECK(multiply(got, x, y, "h100.f16") == MPNUM_ERROR_TYPE, "elements");
  CHECK(multiply(got, x, y, "b200.mx") == MPNUM_ERROR_TYPE, "scales");
  x.values.scale_inv_bytes = 5;
  refused(x, y, MPNUM_ERROR_RANGE, "scales");
  x = good_x;
  x.matrix.rows = 0;
  refused(x, y, MPNUM_OK, "no rows");
  x = good_x;
  x.matrix.columns = y.matrix.columns = 0;
  refused(x, y, MPNUM_ERROR_SHAPE, "no columns");
  x = good_x;
  y = good_y;
  x.format = NULL;
  refused(x, y, MPNUM_ERROR_NULL, "no format and no data");
  across = mpnum_blockscale_transposed(*good_x.format);
  x = good_x;
  x.format = &across;
  refused(x, y, MPNUM_ERROR_SHAPE, "blocks across the sum");
  x = good_x;
  x.values.codes = (uint8_t *)got + 8;
  CHECK(multiply(got, x, y, "f32") == MPNUM_ERROR_OVERLAP, "codes");
  x = good_x;
  y.values.is_swizzled = 1; /* of floats */
  refused(x, y, MPNUM_ERROR_ARGUMENT, "swizzled floats");
  y = good_y;
  memset(b.scales, 0, 4); /* a scale of 0 */
  refused(x, y, MPNUM_ERROR_ARGUMENT, "scale 0");
  fill(&a, 4, A_ROWS, 64, 1); /* MX of e2m1, with scales for longer blocks */
  fill(&b, 4, B_ROWS, 64, 1);
  longer = a.about.format;
  longer.columns = 64;
  x = operand_of(&a);
  y = operand_of(&b);
  x.format = y.format = &longer;
  CHECK(multiply(got, x, y, "b200.fp4") == MPNUM_ERROR_TYPE, "blocks of 64");
  CHECK(multiply(got, x, y, "b200.mx") == MPNUM_ERROR_TYPE, "blocks of 64 to MX");
  fill(&a, 11, A_ROWS, 64, 1);
  CHECK(multiply(got, operand_of(&a), operand_of(&b), "b200.fp4") == MPNUM_ERROR_TYPE,
        "NVFP4 with MX");
  x = operand_of(&a); /* NVFP4: its scale is looked at before its stride */
  x.values.scale = 0;
  x.values.stride = 1;
  refused(x, x, MPNUM_ERROR_ARGUMENT, "scale of the tensor");
  x = operand_of(&a);
  x.values.stride = 1;
  refused(x, x, MPNUM_ERROR_STRIDE, "stride");
  CHECK(*(uint8_t *)got == 0x5a && *(uint8_t *)bounds == 0x5a, "something was written");
}

int main(void) {
  /* Without what -ffast-math sets. */
  set_control_word(control_word_of(FE_TONEAREST));
  TAP_RUN(each_format_with_itself);
  TAP_RUN(formats_with_others);
  TAP_RUN(sizes_of_all_kinds);
  TAP_RUN(scales_far_apart);
  TAP_RUN(nan_blocks_make_their_sums_nan);
  TAP_RUN(bad_input_changes_nothing);
  return tap_done();
}
