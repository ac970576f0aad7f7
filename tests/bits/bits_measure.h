/* SPDX-License-Identifier: MIT */
/* For bits.c: measures of quantised matrices, products of their first rows, and the worst
 * of formats, as figures and bounds in full. */
#ifndef MPNUM_TESTS_BITS_MEASURE_H
#define MPNUM_TESTS_BITS_MEASURE_H

#include "bits_blocks.h"

#include <mpnum/blocks/measure.h>
#include <mpnum/hardware/product.h>

static void put_measure(const mpnum_measure *measure) {
  const mpnum_measure_figures figures = mpnum_measure_summary(measure);
  put(measure->count);
  put(measure->unequal);
  put(measure->clipped);
  put(measure->flushed);
  put(measure->source_nonfinite);
  put(measure->result_nonfinite);
  put_f64(figures.sqnr);
  put_f64(figures.cosine);
  put_f64(figures.rms_error);
  put_f64(figures.max_error);
  put_f64(figures.max_relative_error);
  put_f64(figures.bias);
}
static void put_products(mpnum_product_operand operand, const char *name) {
  static double dst[BLOCK_ROWS * BLOCK_ROWS], bounds[BLOCK_ROWS * BLOCK_ROWS];
  const mpnum_product_unit unit = mpnum_product_unit_of(name);
  mpnum_matrix to = mpnum_matrix_of(MPNUM_TYPE_F64, dst, BLOCK_ROWS, BLOCK_ROWS);
  put_int((int)mpnum_product(to, unit, operand, operand, NULL));
  to.data = bounds;
  put_int((int)mpnum_product_bound(to, unit, operand, operand, NULL));
  for (int i = 0; i < BLOCK_ROWS * BLOCK_ROWS; ++i) {
    put_f64(dst[i]);
    put_f64(bounds[i]);
  }
}
/* Of the first rows, as each type that some unit takes. */
static void print_products(int has_steps) {
  static unsigned char codes[4 * BLOCK_ROWS * BLOCK_COLUMNS];
  const char *name;
  for (int number = 0; (name = mpnum_product_unit_name(number)) != NULL; ++number) {
    const mpnum_product_unit unit = mpnum_product_unit_of(name);
    mpnum_type type = MPNUM_TYPE_F32;
    char line[60];
    if (unit.scales) continue;
    snprintf(line, sizeof line, "product_%s", name);
    if (!has_steps && !unit.bits) {
      printf("%s -\n", line);
      continue;
    }
    while (!(unit.types >> (int)type & 1))
      type = (mpnum_type)((int)type + 1);
    put_int((int)mpnum_convert_array(type, codes, MPNUM_TYPE_F32, block_src,
                                     BLOCK_ROWS * BLOCK_COLUMNS, MPNUM_ROUND_NEAREST_EVEN,
                                     MPNUM_OVERFLOW_SATURATE, 0, 0));
    put_products(mpnum_product_operand_of(
                     mpnum_const_matrix_of(type, codes, BLOCK_ROWS, BLOCK_COLUMNS)),
                 name);
    print_line(line);
  }
}
static void print_measures(void) {
  static const char *const names[] = {"mx_e4m3", "mx_e3m2",  "mx_int8",
                                      "nvfp4",   "deepseek", "int8"};
  const mpnum_blockscale_format formats[] = {
      mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_FLOOR),
      mpnum_blockscale_mx(MPNUM_TYPE_E3M2, MPNUM_BLOCKSCALE_RCEIL),
      mpnum_blockscale_mx_int8(MPNUM_BLOCKSCALE_EVEN),
      mpnum_blockscale_nvfp4_1x16(),
      mpnum_blockscale_fp8_128x128(),
      mpnum_blockscale_int8_row()};
#if defined(__GNUC__) && (defined(__SSE2__) || defined(__aarch64__))
  const int has_blocks = 1;
#else
  const int has_blocks = has_f32_functions;
#endif
  for (int i = 0; i < 6; ++i) {
    const mpnum_blockscaled blocks = {
        block_codes, BLOCK_COLUMNS, block_scales, sizeof block_scales, 0, 2688};
    const mpnum_product_operand operand =
        mpnum_product_blocks_of(&formats[i], blocks, BLOCK_ROWS, BLOCK_COLUMNS);
    const mpnum_const_matrix source =
        mpnum_const_matrix_of(MPNUM_TYPE_F32, block_src, BLOCK_ROWS, BLOCK_COLUMNS);
    mpnum_measure measure = mpnum_measure_empty();
    mpnum_blockscale_errors worst;
    char line[40];
    if (has_blocks) {
      worst = mpnum_blockscale_worst(&formats[i]);
      put_f32(worst.exceeding_share);
      put_f32(worst.clip);
      put_f32(worst.error);
      put_blocks(formats[i], MPNUM_TYPE_F32, 0);
      put_int((int)mpnum_measure_blocks(&measure, source, &formats[i], blocks));
      put_measure(&measure);
      measure = mpnum_measure_empty();
      put_int((int)mpnum_measure_rows(&measure, source, source, 1));
      put_measure(&measure);
      put_products(operand, "f32");
      put_products(operand, "f64");
      snprintf(line, sizeof line, "measure_%s_blocks", names[i]);
      print_line(line);
    } else {
      printf("measure_%s_blocks -\n", names[i]);
    }
  }
  print_products(has_blocks);
}

#endif
