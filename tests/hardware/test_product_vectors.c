/* SPDX-License-Identifier: MIT */
/* Sums that another program computed, a line each, in the file named or in mmasim.txt:
 * unit, types of the elements and of scales, how many elements, c and the sum as floats,
 * elements of a and b, and their scales, all in hexadecimal digits. */
#include "../harness/tap.h"

#include <mpnum/blocks/blockscale.h>
#include <mpnum/hardware/product.h>

enum { MOST = 64, LINE = 4096 };
static const char *path = MMASIM_VECTORS;

static uint32_t digits(const char *text, int width) {
  char one[9] = "";
  memcpy(one, text, (size_t)width);
  return (uint32_t)strtoul(one, NULL, 16);
}
static mpnum_type type_named(const char *name) {
  int type = MPNUM_TYPE_F64;
  for (; type <= MPNUM_TYPE_E2M1; ++type)
    if (strcmp(name, mpnum_type_name((mpnum_type)type)) == 0) return (mpnum_type)type;
  return (mpnum_type)0;
}
/* So many elements of 2, 4 or 8 digits, in bytes, or packed as blocks of e2m1 are. */
static void put_elements(unsigned char *to, const char *text, int n, int width,
                         int packs) {
  int k;
  for (k = 0; k < n; ++k) {
    const uint32_t code = digits(text + k * width, width);
    const uint16_t half = (uint16_t)code;
    if (packs)
      to[k / 2] = (unsigned char)(k % 2 ? to[k / 2] | code << 4 : code);
    else if (width == 8)
      memcpy(to + 4 * k, &code, 4);
    else if (width == 4)
      memcpy(to + 2 * k, &half, 2);
    else
      to[k] = (unsigned char)code;
  }
}
static mpnum_product_operand operand(unsigned char *bytes, mpnum_type type, size_t n,
                                     const char *scale_type, unsigned char *scales,
                                     mpnum_blockscale_format *format) {
  mpnum_blockscaled values;
  if (scale_type[0] == '-')
    return mpnum_product_operand_of(mpnum_const_matrix_of(type, bytes, 1, n));
  *format = scale_type[1] == '4' ? mpnum_blockscale_nvfp4_1x16()
                                 : mpnum_blockscale_mx(type, MPNUM_BLOCKSCALE_FLOOR);
  values = mpnum_blockscaled_of(format, bytes, scales, 4, n);
  values.scale = 1;
  return mpnum_product_blocks_of(format, values, 1, n);
}
static void every_sum_is_the_same(void) {
  static char line[LINE], unit[32], types[2][16], scale_type[8], text[2][MOST * 8 + 1],
      scales[2][16];
  FILE *from = fopen(path, "r");
  int lines = 0, wrong = 0;
  CHECK(from != NULL, "%s cannot be read", path);
  while (from && fgets(line, sizeof line, from)) {
    unsigned char bytes[2][MOST * 4], own[2][4];
    mpnum_blockscale_format formats[2];
    mpnum_product_operand sides[2];
    unsigned start_bits, want;
    float start, got = 0;
    mpnum_const_matrix begin = mpnum_const_matrix_of(MPNUM_TYPE_F32, &start, 1, 1);
    mpnum_status status;
    int n, k;
    if (line[0] == '#') continue;
    if (sscanf(line, "%31s %15s %15s %7s %d %x %x %512s %512s %15s %15s", unit, types[0],
               types[1], scale_type, &n, &start_bits, &want, text[0], text[1], scales[0],
               scales[1]) < 9 ||
        n < 1 || n > MOST) {
      CHECK(0, "not a line: %s", line);
      break;
    }
    for (k = 0; k < 2; ++k) {
      const int width = (int)strlen(text[k]) / n;
      const int packs = scale_type[0] != '-' && strcmp(types[k], "e2m1") == 0;
      put_elements(bytes[k], text[k], n, width, packs);
      if (scale_type[0] != '-')
        put_elements(own[k], scales[k], (int)strlen(scales[k]) / 2, 2, 0);
      sides[k] = operand(bytes[k], type_named(types[k]), (size_t)n, scale_type, own[k],
                         &formats[k]);
    }
    start = mpnum_from_bits_f32(start_bits);
    status = mpnum_product(mpnum_matrix_of(MPNUM_TYPE_F32, &got, 1, 1),
                           mpnum_product_unit_of(unit), sides[0], sides[1], &begin);
    wrong += mpnum_bits_f32(got) != want;
    CHECK(status == MPNUM_OK && mpnum_bits_f32(got) == want,
          "%s: status %d, %08x, not %08x: %s", unit, (int)status,
          (unsigned)mpnum_bits_f32(got), want, line);
    ++lines;
  }
  if (from) fclose(from);
  CHECK(lines >= 1000, "%d lines", lines);
  printf("# %d sums, %d differ\n", lines, wrong);
}

int main(int count, char **arguments) {
  if (count > 1) path = arguments[1];
  TAP_RUN(every_sum_is_the_same);
  return tap_done();
}
