/* SPDX-License-Identifier: MIT */
/* Block formats as a shared object, for tests in other languages: a byte for each code,
 * whatever its bits. Types are named; element "int8" is no float. */
#include <mpnum/blocks/blockscale.h>
#include <mpnum/blocks/stored_matrix.h>

#include <string.h>

int blocks_quantize(const char *element, int rule, size_t block_columns, const float *src,
                    size_t rows, size_t columns, float scale, int is_swizzled,
                    uint8_t *codes, uint8_t *scale_inv, size_t scale_inv_bytes);
int blocks_dequantize(const char *element, int rule, size_t block_columns, float *dst,
                      size_t rows, size_t columns, float scale, int is_swizzled,
                      uint8_t *codes, uint8_t *scale_inv, size_t scale_inv_bytes);
size_t blocks_scale_bytes(const char *element, int rule, size_t block_columns,
                          size_t rows, size_t columns, int is_swizzled);
float blocks_nvfp4_scale(float amax);
/* One row of n elements; the size of the data, and its bytes or elements. */
size_t stored_bytes(int layout, size_t n);
int stored_quantize(int layout, uint8_t *data, const float *src, size_t n);
int stored_dequantize(int layout, float *dst, uint8_t *data, size_t n);

static mpnum_blockscale_format format_of(const char *element, int rule,
                                         size_t block_columns) {
  mpnum_blockscale_format format = mpnum_blockscale_mx_int8((mpnum_blockscale_rule)rule);
  int type = MPNUM_TYPE_F64;
  for (; strcmp(element, "int8") != 0 && type <= MPNUM_TYPE_E2M1; ++type)
    if (strcmp(mpnum_type_name((mpnum_type)type), element) == 0)
      format = mpnum_blockscale_mx((mpnum_type)type, (mpnum_blockscale_rule)rule);
  format.element_bits = 8;
  format.columns = block_columns;
  format.scale_type = rule == MPNUM_BLOCKSCALE_TWO_LEVEL ? MPNUM_TYPE_E4M3
                      : rule >= MPNUM_BLOCKSCALE_AMAX    ? MPNUM_TYPE_F32
                                                         : MPNUM_TYPE_E8M0;
  return format;
}
static mpnum_blockscaled blocks_of(uint8_t *codes, size_t columns, uint8_t *scale_inv,
                                   size_t scale_inv_bytes, int is_swizzled, float scale) {
  mpnum_blockscaled made;
  made.codes = codes;
  made.stride = columns;
  made.scale_inv = scale_inv;
  made.scale_inv_bytes = scale_inv_bytes;
  made.is_swizzled = is_swizzled;
  made.scale = scale;
  return made;
}

int blocks_quantize(const char *element, int rule, size_t block_columns, const float *src,
                    size_t rows, size_t columns, float scale, int is_swizzled,
                    uint8_t *codes, uint8_t *scale_inv, size_t scale_inv_bytes) {
  const mpnum_blockscale_format format = format_of(element, rule, block_columns);
  return (int)mpnum_quantize_blocks(
      &format, blocks_of(codes, columns, scale_inv, scale_inv_bytes, is_swizzled, scale),
      mpnum_const_matrix_of(MPNUM_TYPE_F32, src, rows, columns), NULL, NULL);
}
int blocks_dequantize(const char *element, int rule, size_t block_columns, float *dst,
                      size_t rows, size_t columns, float scale, int is_swizzled,
                      uint8_t *codes, uint8_t *scale_inv, size_t scale_inv_bytes) {
  const mpnum_blockscale_format format = format_of(element, rule, block_columns);
  return (int)mpnum_dequantize_blocks(
      &format, mpnum_matrix_of(MPNUM_TYPE_F32, dst, rows, columns),
      blocks_of(codes, columns, scale_inv, scale_inv_bytes, is_swizzled, scale));
}
size_t blocks_scale_bytes(const char *element, int rule, size_t block_columns,
                          size_t rows, size_t columns, int is_swizzled) {
  const mpnum_blockscale_format format = format_of(element, rule, block_columns);
  return mpnum_blockscale_scale_bytes(&format, rows, columns, is_swizzled);
}
float blocks_nvfp4_scale(float amax) { return mpnum_nvfp4_scale(amax); }

size_t stored_bytes(int layout, size_t n) {
  return mpnum_stored_of((mpnum_stored_layout)layout, 1, n, 0).data_bytes;
}
int stored_quantize(int layout, uint8_t *data, const float *src, size_t n) {
  mpnum_stored dst = mpnum_stored_of((mpnum_stored_layout)layout, 1, n, 0);
  dst.data = data;
  return (int)mpnum_quantize_stored(dst,
                                    mpnum_const_matrix_of(MPNUM_TYPE_F32, src, 1, n));
}
int stored_dequantize(int layout, float *dst, uint8_t *data, size_t n) {
  mpnum_stored src = mpnum_stored_of((mpnum_stored_layout)layout, 1, n, 0);
  src.data = data;
  return (int)mpnum_dequantize_stored(mpnum_matrix_of(MPNUM_TYPE_F32, dst, 1, n), src);
}
