/* SPDX-License-Identifier: MIT */
/* Products of f32 as products of bf16, f16 and tf32, by the sums of an H100: how near
 * they are, as docs/split.md has it. */
#include "../harness/tap.h"

#include <mpnum/array/split.h>
#include <mpnum/hardware/product.h>

#include <math.h>

enum { ROWS = 8, K = 4096 };
static float a[ROWS][K], b[ROWS][K], c[ROWS][ROWS];
static double exact[ROWS][ROWS];
static uint32_t parts_of_a[3][ROWS * K], parts_of_b[3][ROWS * K];

/* Pairs of parts, the small ones first, of which a recipe takes the last. */
static const int pairs[9][2] = {{2, 2}, {2, 1}, {1, 2}, {2, 0}, {0, 2},
                                {1, 1}, {1, 0}, {0, 1}, {0, 0}};
static const struct recipe {
  const char *unit;
  mpnum_type type;
  uint64_t promotion;
  int parts, count;
  double want; /* error of all results, of their size: docs/split.md */
} recipes[] = {{"h100.bf16", MPNUM_TYPE_BF16, 0, 1, 1, 2.2e-3},
               {"h100.bf16", MPNUM_TYPE_BF16, 0, 2, 3, 7.7e-6},
               {"h100.bf16", MPNUM_TYPE_BF16, 0, 3, 6, 5.2e-6},
               {"h100.bf16", MPNUM_TYPE_BF16, 0, 3, 9, 5.2e-6},
               {"h100.bf16", MPNUM_TYPE_BF16, 128, 3, 6, 1.6e-7},
               {"h100.f16", MPNUM_TYPE_F16, 0, 2, 3, 5.6e-6},
               {"h100.f16", MPNUM_TYPE_F16, 128, 2, 3, 2.3e-7},
               {"h100.tf32", MPNUM_TYPE_TF32, 0, 1, 1, 2.9e-4},
               {"h100.tf32", MPNUM_TYPE_TF32, 0, 2, 3, 1.1e-5},
               {"h100.tf32", MPNUM_TYPE_TF32, 128, 2, 3, 3.6e-7}};

/* A sum of 12 numbers of one size is about normal. */
static void draw(float (*values)[K]) {
  static uint64_t state = 36;
  for (int i = 0; i < ROWS * K; ++i) {
    float sum = 0;
    for (int k = 0; k < 12; ++k) {
      state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
      sum += (float)(state >> 40) * 0x1p-24f - 0.5f;
    }
    values[i / K][i % K] = sum;
  }
}

static mpnum_product_operand floats(float (*values)[K]) {
  return mpnum_product_operand_of(mpnum_const_matrix_of(MPNUM_TYPE_F32, values, ROWS, K));
}

static void split(mpnum_type type, uint32_t (*parts)[ROWS * K], int count,
                  float (*values)[K]) {
  mpnum_matrix views[3];
  for (int k = 0; k < count; ++k)
    views[k] = mpnum_matrix_of(type, parts[k], ROWS, K);
  CHECK(mpnum_split_matrix(views, (size_t)count,
                           mpnum_const_matrix_of(MPNUM_TYPE_F32, values, ROWS, K), 0,
                           0) == MPNUM_OK,
        "split");
}

static double error(void) {
  double errors = 0, size = 0;
  for (int i = 0; i < ROWS * ROWS; ++i) {
    const double want = exact[i / ROWS][i % ROWS];
    errors +=
        ((double)c[i / ROWS][i % ROWS] - want) * ((double)c[i / ROWS][i % ROWS] - want);
    size += want * want;
  }
  return sqrt(errors / size);
}

static void products_of_parts_are_as_near_as_the_page_says(void) {
  const mpnum_matrix sums = mpnum_matrix_of(MPNUM_TYPE_F32, c, ROWS, ROWS);
  const mpnum_const_matrix before = mpnum_const_matrix_of(MPNUM_TYPE_F32, c, ROWS, ROWS);
  draw(a);
  draw(b);
  CHECK(mpnum_product(mpnum_matrix_of(MPNUM_TYPE_F64, exact, ROWS, ROWS),
                      mpnum_product_unit_of("exact"), floats(a), floats(b),
                      NULL) == MPNUM_OK,
        "exact");
  for (size_t r = 0; r < sizeof recipes / sizeof *recipes; ++r) {
    const struct recipe *recipe = &recipes[r];
    mpnum_product_unit unit = mpnum_product_unit_of(recipe->unit);
    unit.promotion = recipe->promotion;
    split(recipe->type, parts_of_a, recipe->parts, a);
    split(recipe->type, parts_of_b, recipe->parts, b);
    for (int k = 0; k < recipe->count; ++k)
      CHECK(mpnum_product(
                sums, unit,
                mpnum_product_operand_of(mpnum_const_matrix_of(
                    recipe->type, parts_of_a[pairs[9 - recipe->count + k][0]], ROWS, K)),
                mpnum_product_operand_of(mpnum_const_matrix_of(
                    recipe->type, parts_of_b[pairs[9 - recipe->count + k][1]], ROWS, K)),
                k ? &before : NULL) == MPNUM_OK,
            "%s", recipe->unit);
    printf("# %s, %d products, promotion %d: %.1e\n", recipe->unit, recipe->count,
           (int)recipe->promotion, error());
    CHECK(fabs(error() / recipe->want - 1) < 0.05, "%s, %d products: %.2e, not %.1e",
          recipe->unit, recipe->count, error(), recipe->want);
  }
}

int main(void) {
  TAP_RUN(products_of_parts_are_as_near_as_the_page_says);
  return tap_done();
}
