/* SPDX-License-Identifier: MIT */
/* Each preset of blockscale.h from and to f32 and bf16, and arrays with one scale. */
#include "blocks.h"

#include <stdio.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include <mpnum/array/array.h>
#include <mpnum/blocks/blockscale.h>
#include <mpnum/array/reduce.h>
#include <mpnum/array/scale.h>

#include "../../core/block_formats.h"

/* Matrices have at least LEAST_ROWS rows and at most MOST_COLUMNS columns; the largest
 * has MOST values. */
enum { LEAST_ROWS = 32, MOST_COLUMNS = 2048, MOST = 64 << 20 };
static const float block_scale = 448.0f; /* S of NVFP4: the amax is 6 */

/* ROW(id, name, bits of a code, format); those whose blocks do not turn come second. */
#define TURNING(ROW)    \
 BLOCK_FORMAT_ROWS(ROW) \
 ROW(int8_row, "int8 row", 8, mpnum_blockscale_int8_row())
#define SQUARE(ROW)                                                   \
 ROW(nvfp4_16x16, "nvfp4 16x16", 4, mpnum_blockscale_nvfp4_16x16())   \
 ROW(e4m3_128x128, "e4m3 128x128", 8, mpnum_blockscale_fp8_128x128()) \
 ROW(int8_tensor, "int8 tensor", 8, mpnum_blockscale_int8_tensor())

#define PRESET(id, name, bits, format) PRESET_##id,
enum { TURNING(PRESET) SQUARES, LAST_TURNING = SQUARES - 1, SQUARE(PRESET) PRESETS };
typedef char all_presets[(int)PRESETS == (int)BLOCK_PRESETS ? 1 : -1];

#define NAME(id, name, bits, format) name,
static const char *const names[BLOCK_PRESETS] = {TURNING(NAME) SQUARE(NAME)};

const char *block_preset_name(int preset) { return names[preset]; }
bool block_preset_turns(int preset) { return preset < SQUARES; }

static mpnum_blockscale_format format_of(int preset, bool turned) {
  mpnum_blockscale_format format = mpnum_blockscale_int8_tensor();
  switch (preset) {
#define CASE(id, name, bits, made) \
 case PRESET_##id: format = made; break;
    TURNING(CASE) SQUARE(CASE)
  }
  return turned ? mpnum_blockscale_transposed(format) : format;
}

/* What is refused is not measured as if it were done. */
static void insist(mpnum_status status) {
  if (status == MPNUM_OK) return;
  fprintf(stderr, "mpnum bench: blocks: %s\n", mpnum_status_string(status));
  abort();
}

static size_t columns_of(size_t count) {
  return count / LEAST_ROWS < MOST_COLUMNS ? count / LEAST_ROWS : MOST_COLUMNS;
}

static mpnum_blockscaled blockscaled_of(const mpnum_blockscale_format *format,
                                        void *codes, void *scales, size_t rows,
                                        size_t columns) {
  mpnum_blockscaled made = {codes, columns, scales, 0, 0, block_scale};
  made.scale_inv_bytes = mpnum_blockscale_scale_bytes(format, rows, columns, 0);
  return made;
}

/* Scales lie behind the codes. */
static void quantize(int preset, bool turned, bool counts, mpnum_type type, void *dst,
                     const void *src, size_t count) {
  const mpnum_blockscale_format format = format_of(preset, turned);
  const size_t columns = columns_of(count), rows = count / columns;
  unsigned char *codes = dst;
  static const mpnum_quantize_losses none;
  mpnum_quantize_losses losses = none;
  insist(mpnum_quantize_blocks(
      &format,
      blockscaled_of(&format, codes,
                     codes + mpnum_blockscale_code_bytes(&format, rows, columns), rows,
                     columns),
      mpnum_const_matrix_of(type, src, rows, columns), NULL, counts ? &losses : NULL));
}

/* Rows and columns of blocks of one reading; codes of both, then scales of both. */
static void quantize_both(int preset, mpnum_type type, void *dst, const void *src,
                          size_t count) {
  const mpnum_blockscale_format across = format_of(preset, false);
  const mpnum_blockscale_format down = format_of(preset, true);
  const size_t columns = columns_of(count), rows = count / columns;
  const size_t bytes = mpnum_blockscale_code_bytes(&across, rows, columns);
  unsigned char *codes = dst, *scales = codes + 2 * bytes;
  const size_t first = mpnum_blockscale_scale_bytes(&across, rows, columns, 0);
  insist(mpnum_quantize_blocks_both(
      &across, blockscaled_of(&across, codes, scales, rows, columns), &down,
      blockscaled_of(&down, codes + bytes, scales + first, rows, columns),
      mpnum_const_matrix_of(type, src, rows, columns), NULL, NULL));
}

/* Scales that no code makes Inf or a subnormal: as e4m3 32 to 416, as e8m0 2^-31 to 2^-2.
 */
static void *scales_of(const mpnum_blockscale_format *format) {
  static unsigned char bytes[MOST / 16];
  static float floats[MOST / LEAST_ROWS];
  if (!bytes[0]) {
    for (size_t i = 0; i < sizeof bytes; ++i)
      bytes[i] = (unsigned char)(0x60 + i % 30);
    for (size_t i = 0; i < sizeof floats / sizeof *floats; ++i)
      floats[i] = 1 + (float)(i % 8) / 8;
  }
  return format->scale_type == MPNUM_TYPE_F32 ? (void *)floats : (void *)bytes;
}

static void dequantize(int preset, bool turned, mpnum_type type, void *dst,
                       const void *src, size_t count) {
  const mpnum_blockscale_format format = format_of(preset, turned);
  const size_t columns = columns_of(count), rows = count / columns;
  void *codes;
  memcpy(&codes, &src, sizeof codes); /* which are only read */
  insist(mpnum_dequantize_blocks(
      &format, mpnum_matrix_of(type, dst, rows, columns),
      blockscaled_of(&format, codes, scales_of(&format), rows, columns)));
}

#define LOOP(name, call) \
 static void name(void *dst, const void *src, size_t count) { call; }
#define LOOPS_OF(id, suffix, TYPE)                                             \
 LOOP(id##_from_##suffix,                                                      \
      quantize(PRESET_##id, false, false, MPNUM_TYPE_##TYPE, dst, src, count)) \
 LOOP(id##_into_##suffix,                                                      \
      dequantize(PRESET_##id, false, MPNUM_TYPE_##TYPE, dst, src, count))
#define LOOPS(id, name, bits, format) LOOPS_OF(id, f32, F32) LOOPS_OF(id, bf16, BF16)
#define TURNED_LOOPS_OF(id, suffix, TYPE)                                     \
 LOOP(id##_down_from_##suffix,                                                \
      quantize(PRESET_##id, true, false, MPNUM_TYPE_##TYPE, dst, src, count)) \
 LOOP(id##_both_from_##suffix,                                                \
      quantize_both(PRESET_##id, MPNUM_TYPE_##TYPE, dst, src, count))         \
 LOOP(id##_down_into_##suffix,                                                \
      dequantize(PRESET_##id, true, MPNUM_TYPE_##TYPE, dst, src, count))
#define TURNED_LOOPS(id, name, bits, format) \
 TURNED_LOOPS_OF(id, f32, F32) TURNED_LOOPS_OF(id, bf16, BF16)
TURNING(LOOPS)
SQUARE(LOOPS)
TURNING(TURNED_LOOPS)
LOOP(mx_e4m3_counting,
     quantize(PRESET_mx_e4m3, false, true, MPNUM_TYPE_F32, dst, src, count))
LOOP(nvfp4_counting, quantize(PRESET_nvfp4, false, true, MPNUM_TYPE_F32, dst, src, count))

/* Scales that need none of the tensor. */
static void nvfp4_ue5m3(void *dst, const void *src, size_t count) {
  const size_t columns = columns_of(count), rows = count / columns;
  mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  mpnum_blockscaled to;
  format.scale_type = MPNUM_TYPE_UE5M3;
  to = blockscaled_of(&format, dst, (char *)dst + count / 2, rows, columns);
  to.scale = 1;
  insist(mpnum_quantize_blocks(&format, to,
                               mpnum_const_matrix_of(MPNUM_TYPE_F32, src, rows, columns),
                               NULL, NULL));
}

/* S of the amax of these values, which are then read twice. */
static void nvfp4_of_amax(void *dst, const void *src, size_t count) {
  const size_t columns = columns_of(count), rows = count / columns;
  const size_t bytes = count / 2, scale_bytes = count / 16;
  float scale;
  insist(mpnum_quantize_nvfp4((mpnum_e2m1x2 *)dst, (mpnum_e4m3 *)((char *)dst + bytes),
                              scale_bytes, &scale, src, rows, columns));
}

static void scaled_by(mpnum_type type, void *dst, const void *src, size_t count,
                      float scale, mpnum_quantize_losses *losses) {
  insist(mpnum_quantize_array(MPNUM_TYPE_E4M3, dst, type, src, count, scale, losses));
}

static void descaled(mpnum_type type, void *dst, const void *src, size_t count) {
  static float volatile scale_inv = 0.0078125f;
  insist(mpnum_dequantize_array(type, dst, MPNUM_TYPE_E4M3, src, count, scale_inv));
}

static void scaled(mpnum_type type, bool counts, void *dst, const void *src,
                   size_t count) {
  static const mpnum_quantize_losses none;
  static float volatile scale = 128;
  mpnum_quantize_losses losses = none;
  scaled_by(type, dst, src, count, scale, counts ? &losses : NULL);
}

/* Current scaling, and what it is made of without a product. */
static float amax_of(mpnum_type type, const void *src, size_t count) {
  return type == MPNUM_TYPE_F32 ? mpnum_amax_f32(src, count)
                                : mpnum_amax_bf16(src, count);
}

static void current(mpnum_type type, void *dst, const void *src, size_t count) {
  const float scale = MPNUM_E4M3_MAX / amax_of(type, src, count);
  const bool is_scale = scale > 0 && scale <= FLT_MAX; /* unless amax is Inf or NaN */
  scaled_by(type, dst, src, count, is_scale ? scale : 1, NULL);
}

static void amax_and_conversion(mpnum_type type, void *dst, const void *src,
                                size_t count) {
  float volatile amax = amax_of(type, src, count);
  (void)amax;
  if (type == MPNUM_TYPE_F32)
    mpnum_f32_to_e4m3_sat_array(dst, src, count);
  else
    mpnum_bf16_to_e4m3_sat_array(dst, src, count);
}

#define SCALED_LOOPS(suffix, TYPE)                                             \
 LOOP(scaled_from_##suffix, scaled(MPNUM_TYPE_##TYPE, false, dst, src, count)) \
 LOOP(scaled_into_##suffix, descaled(MPNUM_TYPE_##TYPE, dst, src, count))      \
 LOOP(counted_from_##suffix, scaled(MPNUM_TYPE_##TYPE, true, dst, src, count)) \
 LOOP(current_from_##suffix, current(MPNUM_TYPE_##TYPE, dst, src, count))      \
 LOOP(plain_from_##suffix, amax_and_conversion(MPNUM_TYPE_##TYPE, dst, src, count))
SCALED_LOOPS(f32, F32)
SCALED_LOOPS(bf16, BF16)

static const char quantizes[] = "mpnum_quantize_blocks";
static const char quantizes_both[] = "mpnum_quantize_blocks_both";
static const char dequantizes[] = "mpnum_dequantize_blocks";

#define ROW(name, function, source, src_bits, dst_bits, run) \
 { name, function, SOURCE_##source, {src_bits, dst_bits, 0}, run }
#define ROWS_OF(id, name, bits, type, TYPE, width)                       \
 ROW(#type " to " name, quantizes, TYPE, width, bits, id##_from_##type), \
     ROW(name " to " #type, dequantizes, SCALED, bits, width, id##_into_##type),
#define ROWS(id, name, bits, format) \
 ROWS_OF(id, name, bits, f32, F32, 32) ROWS_OF(id, name, bits, bf16, BF16, 16)
#define TURNED_ROWS_OF(id, name, bits, type, TYPE, width)                                \
 ROW(#type " to " name " columns", quantizes, TYPE, width, bits, id##_down_from_##type), \
     ROW(#type " to " name " both", quantizes_both, TYPE, width, 2 * bits,               \
         id##_both_from_##type),                                                         \
     ROW(name " columns to " #type, dequantizes, SCALED, bits, width,                    \
         id##_down_into_##type),
#define TURNED_ROWS(id, name, bits, format)   \
 ROWS(id, name, bits, format)                 \
 TURNED_ROWS_OF(id, name, bits, f32, F32, 32) \
 TURNED_ROWS_OF(id, name, bits, bf16, BF16, 16)
#define SCALED_ROWS(type, TYPE, width)                                                 \
 ROW(#type " to e4m3 scaled", "mpnum_quantize_array", TYPE, width, 8,                  \
     scaled_from_##type),                                                              \
     ROW(#type " to e4m3 scaled losses", "mpnum_quantize_array", TYPE, width, 8,       \
         counted_from_##type),                                                         \
     ROW(#type " to e4m3 current", "mpnum_amax_" #type ", mpnum_quantize_array", TYPE, \
         width, 8, current_from_##type),                                               \
     ROW(#type " to e4m3 amax, plain",                                                 \
         "mpnum_amax_" #type ", mpnum_" #type "_to_e4m3_sat_array", TYPE, width, 8,    \
         plain_from_##type),                                                           \
     ROW("e4m3 scaled to " #type, "mpnum_dequantize_array", SCALED, 8, width,          \
         scaled_into_##type),

static const array_operation operations[] = {
    TURNING(TURNED_ROWS) SQUARE(ROWS)
        ROW("f32 to mx e4m3 losses", quantizes, F32, 32, 8, mx_e4m3_counting),
    ROW("f32 to nvfp4 1x16 losses", quantizes, F32, 32, 4, nvfp4_counting),
    ROW("f32 to nvfp4 ue5m3", quantizes, F32, 32, 4, nvfp4_ue5m3),
    ROW("f32 to nvfp4 1x16 amax", "mpnum_quantize_nvfp4", F32, 32, 4, nvfp4_of_amax),
    SCALED_ROWS(f32, F32, 32) SCALED_ROWS(bf16, BF16, 16)};

static bool force_isa(int isa) { return mpnum_isa_force((mpnum_isa)isa) == MPNUM_OK; }
static const char *isa(void) { return mpnum_isa_name(mpnum_isa_in_use()); }

const array_code block_functions = {operations, sizeof operations / sizeof *operations,
                                    force_isa, isa};

bool block_round_trip(int preset, bool turned, float *dst, const float *src, size_t rows,
                      size_t columns, block_losses *losses) {
  static const mpnum_quantize_losses none;
  const mpnum_blockscale_format format = format_of(preset, turned);
  const mpnum_const_matrix from =
      mpnum_const_matrix_of(MPNUM_TYPE_F32, src, rows, columns);
  const size_t code_bytes = mpnum_blockscale_code_bytes(&format, rows, columns);
  const size_t scale_bytes = mpnum_blockscale_scale_bytes(&format, rows, columns, 0);
  void *codes = malloc(1 + code_bytes), *scales = malloc(1 + scale_bytes);
  mpnum_quantize_losses counted = none;
  const bool good = rows && columns && codes && scales;
  if (good) {
    mpnum_blockscaled made = blockscaled_of(&format, codes, scales, rows, columns);
    made.stride = code_bytes / rows * 8 / (size_t)format.element_bits;
    insist(mpnum_finite_amax_rows(&made.scale, from));
    made.scale = mpnum_nvfp4_scale(made.scale);
    insist(mpnum_quantize_blocks(&format, made, from, NULL, &counted));
    insist(mpnum_dequantize_blocks(
        &format, mpnum_matrix_of(MPNUM_TYPE_F32, dst, rows, columns), made));
  }
  free(codes);
  free(scales);
  losses->bits =
      8 * (double)(code_bytes + scale_bytes) / ((double)rows * (double)columns);
  losses->saturated = counted.saturated;
  losses->underflowed = counted.underflowed;
  return good;
}
