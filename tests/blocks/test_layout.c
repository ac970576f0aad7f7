/* SPDX-License-Identifier: MIT */
/* mpnum/blocks/layout.h: laws of converting and rounding, by the functions that quantise
 * and dequantise matrices, over random formats, shapes and strides; orders of scales and
 * turned codes by their definitions; what is refused. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */ /* NOLINT(bugprone-reserved-identifier) */
#include "../array/array_pages.h"
#include "../rows/row_checks.h"
#include "../harness/must.h"

#include <mpnum/array/array.h>
#include <mpnum/blocks/block.h>
#include <mpnum/blocks/layout.h>

enum { ROOM = 1 << 18, GUARD = 0xb5 };
static uint64_t state = 21;
static size_t below(size_t n) { return (size_t)(random_bits(&state) >> 11) % n; }

/* A quantised matrix in memory of its own. */
typedef struct quantised {
  mpnum_blockscale_format format;
  mpnum_blockscaled at;
  uint8_t codes[ROOM], scales[ROOM];
} quantised;
static quantised source, made, want;
static uint8_t values[4 * ROOM], got_values[4 * ROOM], want_values[4 * ROOM];
static size_t rows, columns;
static int place; /* S is of 2^place, values of 2^-place */

static mpnum_blockscale_format any_format(void) {
  static const mpnum_type types[] = {MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2, MPNUM_TYPE_E3M2,
                                     MPNUM_TYPE_E2M3, MPNUM_TYPE_E2M1};
  static const size_t sizes[] = {1, 3, 4, 5, 12, 20, 48, 100, 256, 3000};
  const mpnum_blockscale_rule rule = (mpnum_blockscale_rule)below(4);
  mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  switch (below(10)) {
  case 0: break;
  case 1: format = mpnum_blockscale_nvfp4_16x16(); break;
  case 2: format = mpnum_blockscale_mx_int8(rule); break;
  case 3: format = mpnum_blockscale_int8_row(); break;
  case 4: format = mpnum_blockscale_int8_tensor(); break;
  case 5: format = mpnum_blockscale_fp8_128x128(); break;
  case 6:
    format = mpnum_blockscale_amax(below(2) ? MPNUM_TYPE_E4M3 : MPNUM_TYPE_E5M2, 1,
                                   sizes[below(10)]);
    break;
  case 7:
    format = mpnum_blockscale_mx(types[below(5)], rule);
    format.rows = sizes[below(10)];
    format.columns = sizes[below(10)];
    if (format.element_bits != 8 && format.columns != 1) format.columns *= 4;
    break;
  default: format = mpnum_blockscale_mx(types[below(5)], rule);
  }
  if (format.rule == MPNUM_BLOCKSCALE_AMAX && below(2))
    format.rule = MPNUM_BLOCKSCALE_AMAX_POW2;
  if (below(3) == 0) {
    const mpnum_blockscale_format turned = mpnum_blockscale_transposed(format);
    if (mpnum_blockscale_validate(&turned, NULL) == MPNUM_OK) format = turned;
  }
  if (below(4) == 0 && !format.is_int8) format.rounding = MPNUM_ROUND_STOCHASTIC;
  return format;
}
static void any_place(quantised *q) {
  const size_t group = mpnum_blockscale_group_(&q->format);
  q->at =
      mpnum_blockscaled_of(&q->format, q->codes, q->scales, sizeof q->scales, columns);
  q->at.stride += below(3) * group;
  q->at.is_swizzled =
      below(2) && mpnum_blockscale_scale_bytes(&q->format, rows, columns, 1) != 0;
  if (q->format.rule == MPNUM_BLOCKSCALE_TWO_LEVEL)
    q->at.scale = mpnum_from_bits_f32((uint32_t)(127 + place) << 23 | 0x480000u);
  memset(q->codes, GUARD, sizeof q->codes);
  memset(q->scales, GUARD, sizeof q->scales);
}
static void any_shape(void) {
  place = below(3) ? 3 : (int)below(253) - 126;
  rows = 1 + below(below(4) ? 6 : 140);
  columns = 1 + below(below(4) ? 300 : 1000);
  if (below(2)) columns = (columns + 31) / 32 * 32;
  if (below(6) == 0) { /* more than a run, which may then begin within a byte */
    rows = 1 + below(4);
    columns = 2000 + below(5000);
  }
}
/* In many binades; at times subnormal, or none. */
static void any_values(mpnum_type type, size_t n) {
  static float floats[ROOM];
  const int odd = below(4) == 0;
  for (size_t i = 0; i < n; ++i) {
    const uint64_t bits = random_bits(&state);
    const int exponent = 121 + (int)(bits >> 40 & 0xffff) % 14 - place;
    uint32_t word = (uint32_t)(bits & 0x807fffffu);
    if (exponent > 0) word |= (uint32_t)(exponent < 254 ? exponent : 254) << 23;
    if (bits >> 60 == 3) word &= 0x80000000u;
    if (odd && bits >> 58 == 5) word = (uint32_t)bits & 0x80ffffffu; /* tiny */
    if (odd && bits >> 50 == 77) word = (uint32_t)bits | 0x7f800000u;
    floats[i] = mpnum_from_bits_f32(word);
  }
  must(mpnum_convert_array(type, values, MPNUM_TYPE_F32, floats, n,
                           MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0));
}
static int is_same_loss(const mpnum_quantize_losses *a, const mpnum_quantize_losses *b) {
  return a->saturated == b->saturated && a->underflowed == b->underflowed &&
         a->nonfinite == b->nonfinite &&
         mpnum_bits_f32(a->amax) == mpnum_bits_f32(b->amax);
}

static void check_conversion(int round) {
  static float floats[ROOM];
  mpnum_quantize_losses losses = {0, 0, 0, 0}, all = {0, 0, 0, 0};
  const mpnum_quantize_options options = {random_bits(&state), random_bits(&state)};
  any_shape();
  source.format = any_format();
  made.format = want.format = any_format();
  any_place(&source);
  any_place(&made);
  any_values(MPNUM_TYPE_F32, rows * columns);
  must(mpnum_quantize_blocks(&source.format, source.at,
                             mpnum_const_matrix_of(MPNUM_TYPE_F32, values, rows, columns),
                             NULL, NULL));
  if (below(6) == 0) made.format.policy = want.format.policy = MPNUM_BLOCKSCALE_ERROR;
  memcpy(want.codes, made.codes, sizeof want.codes);
  memcpy(want.scales, made.scales, sizeof want.scales);
  want.at = made.at;
  want.at.codes = want.codes;
  want.at.scale_inv = want.scales;
  must(mpnum_dequantize_blocks(
      &source.format, mpnum_matrix_of(MPNUM_TYPE_F32, floats, rows, columns), source.at));
  const mpnum_status expected = mpnum_quantize_blocks(
      &want.format, want.at, mpnum_const_matrix_of(MPNUM_TYPE_F32, floats, rows, columns),
      &options, &losses);
  const mpnum_status status =
      mpnum_convert_blocks(&made.format, made.at, &source.format, source.at, rows,
                           columns, &options, round % 2 ? &all : NULL);
  CHECK(status == expected, "%d: %s, not %s", round, mpnum_status_string(status),
        mpnum_status_string(expected));
  CHECK(memcmp(made.codes, want.codes, sizeof made.codes) == 0 &&
            memcmp(made.scales, want.scales, sizeof made.scales) == 0,
        "%d: %zu x %zu: %zu x %zu to %zu x %zu, of %d and %d bits", round, rows, columns,
        source.format.rows, source.format.columns, made.format.rows, made.format.columns,
        source.format.element_bits, made.format.element_bits);
  CHECK(round % 2 == 0 || is_same_loss(&all, &losses), "%d: losses", round);
}
static void converting_is_dequantising_and_quantising(void) {
  for (int round = 0; round < 150; ++round)
    check_conversion(round);
}

static void check_rounding(int round) {
  static const mpnum_type types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16};
  mpnum_quantize_losses losses = {0, 0, 0, 0}, all = {0, 0, 0, 0};
  const mpnum_quantize_options options = {random_bits(&state), random_bits(&state)};
  const mpnum_type from = types[below(3)], to = round % 3 ? types[below(3)] : from;
  any_shape();
  const size_t stride = columns + below(3),
               dst_stride = round % 3 ? columns + below(3) : stride;
  mpnum_const_matrix src = mpnum_const_matrix_of(from, values, rows, columns);
  mpnum_matrix dst = mpnum_matrix_of(to, got_values, rows, columns);
  src.stride = stride;
  dst.stride = dst_stride;
  want.format = any_format();
  any_place(&want);
  any_values(from, rows * stride);
  memset(got_values, GUARD, sizeof got_values);
  if (round % 3 == 0) memcpy(got_values, values, sizeof values);
  memcpy(want_values, got_values, sizeof want_values);
  if (below(6) == 0) want.format.policy = MPNUM_BLOCKSCALE_ERROR;
  const mpnum_status expected =
      mpnum_quantize_blocks(&want.format, want.at, src, &options, &losses);
  if (expected == MPNUM_OK) {
    mpnum_matrix back = dst;
    back.data = want_values;
    must(mpnum_dequantize_blocks(&want.format, back, want.at));
  }
  if (round % 3 == 0) src.data = got_values; /* in place */
  const mpnum_status status = mpnum_round_blocks(&want.format, dst, src, want.at.scale,
                                                 &options, round % 2 ? &all : NULL);
  CHECK(status == expected, "%d: %s, not %s", round, mpnum_status_string(status),
        mpnum_status_string(expected));
  CHECK(memcmp(got_values, want_values, sizeof got_values) == 0,
        "%d: %zu x %zu of %s in %zu x %zu to %s", round, rows, columns,
        mpnum_type_name(from), want.format.rows, want.format.columns,
        mpnum_type_name(to));
  CHECK(round % 2 == 0 || is_same_loss(&all, &losses), "%d: losses", round);
}
static void rounding_is_quantising_and_dequantising(void) {
  for (int round = 0; round < 150; ++round)
    check_rounding(round);
}

/* S: 448 times 6 over amax, whatever the scales of blocks are. */
static float second_scale(float amax) {
  const float most = mpnum_from_bits_f32(0x7f7fffffu);
  return !(amax > 0) ? 1 : amax < 2688 / most ? most : 2688 / amax;
}
static void check_two_levels(int round) {
  static float scales[256], want_scales[256];
  static const mpnum_type types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16};
  const mpnum_type type = types[below(3)];
  mpnum_quantize_losses losses = {0, 0, 0, 0}, all = {0, 0, 0, 0};
  const mpnum_quantize_options options = {random_bits(&state), random_bits(&state)};
  any_shape();
  place = 3;
  want.format = mpnum_blockscale_nvfp4_1x16();
  if (below(3) == 0) want.format = mpnum_blockscale_nvfp4_16x16();
  if (below(3) == 0) want.format.rounding = MPNUM_ROUND_STOCHASTIC;
  if (below(3) == 0) want.format.scale_type = MPNUM_TYPE_UE5M3;
  any_place(&want);
  made.format = want.format;
  made.at = want.at;
  made.at.codes = made.codes;
  made.at.scale_inv = made.scales;
  made.at.scale = 0;
  memcpy(made.codes, want.codes, sizeof made.codes);
  memcpy(made.scales, want.scales, sizeof made.scales);
  size_t group = want.at.is_swizzled ? 128 : want.format.rows * (1 + below(5));
  if (below(3) == 0) group = 0;
  mpnum_const_matrix src = mpnum_const_matrix_of(type, values, rows, columns);
  src.stride += below(3);
  any_values(type, rows * src.stride);
  const size_t across = (columns + 15) / 16, size = type == MPNUM_TYPE_F32 ? 4 : 2;
  const mpnum_status status = mpnum_quantize_two_level(
      &made.format, made.at, scales, group, src, &options, round % 2 ? &all : NULL);
  CHECK(status == MPNUM_OK, "%d: %s", round, mpnum_status_string(status));
  for (size_t r = 0, g = 0; r < rows; r += group ? group : rows, ++g) {
    mpnum_quantize_options own = options;
    mpnum_const_matrix part = src;
    mpnum_blockscaled at = want.at;
    float amax = 0;
    part.rows = group && group < rows - r ? group : rows - r;
    part.data = values + r * src.stride * size;
    own.offset += r * src.stride;
    at.codes = want.codes + r * want.at.stride / 2;
    at.scale_inv = want.scales + (want.at.is_swizzled ? r / 128 * 512 * ((across + 3) / 4)
                                                      : r / want.format.rows * across);
    must(mpnum_finite_amax_rows(&amax, part));
    at.scale = want_scales[g] = second_scale(amax);
    must(mpnum_quantize_blocks(&want.format, at, part, &own, &losses));
    CHECK(mpnum_bits_f32(scales[g]) == mpnum_bits_f32(want_scales[g]), "%d: S of %zu",
          round, g);
    mpnum_matrix back =
        mpnum_matrix_of(type, want_values + r * columns * size, part.rows, columns);
    must(mpnum_dequantize_blocks(&want.format, back, at));
  }
  CHECK(memcmp(made.codes, want.codes, sizeof made.codes) == 0 &&
            memcmp(made.scales, want.scales, sizeof made.scales) == 0,
        "%d: %zu x %zu in groups of %zu", round, rows, columns, group);
  CHECK(round % 2 == 0 || is_same_loss(&all, &losses), "%d: losses", round);
  must(mpnum_dequantize_two_level(&made.format,
                                  mpnum_matrix_of(type, got_values, rows, columns),
                                  made.at, scales, group));
  CHECK(memcmp(got_values, want_values, rows * columns * size) == 0,
        "%d: %zu x %zu in groups of %zu, and back", round, rows, columns, group);
}
static void groups_of_rows_are_matrices_with_their_own_scale(void) {
  for (int round = 0; round < 80; ++round)
    check_two_levels(round);
}

/* S is the same for scales of ue5m3, of which the largest then is 448 again, 1.75 2^(23 -
 * 15), not 114688; they reach further down: 2^-15 is 4 of ue5m3, and no e4m3, of which a
 * scale of 0 has codes of 0. */
static void wider_scales_reach_down_not_up(void) {
  float x[64] = {5376}, scale = 0;
  uint8_t codes[32], scales[4];
  mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  const mpnum_const_matrix src = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 64);
  x[16] = 0x6p-14f;
  x[32] = -0x1.8p-14f; /* -6 times 2^-17, the smallest, over S */
  x[48] = 3;
  for (int i = 0; i < 2; ++i) {
    static const uint8_t wanted[2][4] = {{0x7e, 0, 0, 0x28}, {0xbe, 4, 1, 0x68}};
    const mpnum_blockscaled dst =
        mpnum_blockscaled_of(&format, codes, scales, sizeof scales, 64);
    must(mpnum_quantize_two_level(&format, dst, &scale, 0, src, NULL, NULL));
    CHECK(scale == 0.5f, "%d: S of %g", i, (double)scale);
    CHECK(memcmp(scales, wanted[i], 4) == 0, "%d: %02x %02x %02x %02x", i, scales[0],
          scales[1], scales[2], scales[3]);
    CHECK(codes[0] == 7 && codes[24] == 7 && codes[8] == (i ? 7 : 0) &&
              codes[16] == (i ? 15 : 0),
          "%d: %02x %02x %02x %02x", i, codes[0], codes[8], codes[16], codes[24]);
    format.scale_type = MPNUM_TYPE_UE5M3;
  }
}

/* --- Scales --- */

/* cuBLAS's documentation: a tile is 128 rows of 4 scales, in which rows 32 apart are
 * neighbours. */
static size_t tiled(size_t row, size_t block, size_t across) {
  const size_t tile = row / 128 * ((across + 3) / 4) + block / 4;
  return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + block % 4;
}
/* DeepGEMM: padded with zeros to a multiple of 4 both ways, words of four neighbours, and
 * then the matrix of words turned. */
static size_t worded(size_t row, size_t block) {
  return 4 * (block / 4 * ((rows + 3) / 4 * 4) + row) + block % 4;
}
static void scales_are_where_orders_have_them(void) {
  static uint8_t plain[ROOM], other[ROOM], back[ROOM], expected[ROOM];
  for (int round = 0; round < 300; ++round) {
    const int is_float = round % 3 == 0, is_words = is_float || round % 3 == 1;
    const mpnum_scale_order order =
        is_words ? MPNUM_SCALES_DEEPGEMM : MPNUM_SCALES_SWIZZLED;
    mpnum_blockscale_format format =
        mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_FLOOR);
    if (is_float) format = mpnum_blockscale_fp8_1x128();
    if (order == MPNUM_SCALES_SWIZZLED && round % 2)
      format = mpnum_blockscale_nvfp4_1x16();
    rows = 1 + below(300);
    columns = 1 + below(2000);
    const size_t across = (columns - 1) / format.columns + 1, n = rows * across;
    const size_t bytes = n * (is_float ? 4 : 1);
    const size_t padded = is_words ? (rows + 3) / 4 * 4 * ((across + 3) / 4 * 4)
                                   : (rows + 127) / 128 * 128 * ((across + 3) / 4 * 4);
    memset(expected, 0, padded);
    memset(expected + padded, GUARD, 64);
    memset(other, GUARD, sizeof other);
    memset(back, GUARD, sizeof back);
    for (size_t i = 0; i < n; ++i) {
      const uint8_t code = (uint8_t)random_bits(&state);
      const uint32_t bits = code == 255 ? 0x7fffffffu : (uint32_t)(code ? code : 1) << 23;
      if (is_float)
        memcpy(plain + 4 * i, &bits, 4);
      else
        plain[i] = code;
      expected[is_words ? worded(i / across, i % across)
                        : tiled(i / across, i % across, across)] =
          is_float && code == 0 ? 1 : code;
    }
    CHECK(mpnum_scale_order_bytes(&format, order, rows, columns) == padded, "%d: size",
          round);
    must(mpnum_reorder_scales(&format, order, other, padded, MPNUM_SCALES_IN_ROWS, plain,
                              bytes, rows, columns));
    CHECK(memcmp(other, expected, padded + 64) == 0, "%d: order %d of %zu x %zu", round,
          (int)order, rows, across);
    must(mpnum_reorder_scales(&format, MPNUM_SCALES_IN_ROWS, back, bytes, order, other,
                              padded, rows, columns));
    CHECK(memcmp(back, plain, bytes) == 0 && back[bytes] == GUARD, "%d: and back", round);
  }
}
/* What a quantiser swizzles is what is swizzled later, of all layouts. */
static void scales_swizzled_later_are_those_of_quantising(void) {
  static const int shapes[][2] = {{16, 200}, {130, 32}, {300, 700}, {33, 95}};
  for (int k = 0; k < 4; ++k)
    for (int kind = 0; kind < 6; ++kind) {
      mpnum_blockscale_format format =
          kind % 2 ? mpnum_blockscale_nvfp4_1x16()
                   : mpnum_blockscale_mx(MPNUM_TYPE_E2M1, MPNUM_BLOCKSCALE_RCEIL);
      static uint8_t later[ROOM];
      rows = (size_t)shapes[k][0];
      columns = (size_t)shapes[k][1];
      if (kind / 2 == 1) format = mpnum_blockscale_transposed(format);
      if (kind == 5) format = mpnum_blockscale_nvfp4_16x16();
      any_values(MPNUM_TYPE_F32, rows * columns);
      source.format = made.format = format;
      any_place(&source);
      source.at.is_swizzled = 0;
      made.at = source.at;
      made.at.is_swizzled = 1;
      made.at.codes = made.codes;
      made.at.scale_inv = made.scales;
      const mpnum_const_matrix x =
          mpnum_const_matrix_of(MPNUM_TYPE_F32, values, rows, columns);
      must(mpnum_quantize_blocks(&format, source.at, x, NULL, NULL));
      must(mpnum_quantize_blocks(&format, made.at, x, NULL, NULL));
      const size_t bytes = mpnum_blockscale_scale_bytes(&format, rows, columns, 1);
      must(mpnum_reorder_scales(&format, MPNUM_SCALES_SWIZZLED, later, sizeof later,
                                MPNUM_SCALES_IN_ROWS, source.scales, sizeof source.scales,
                                rows, columns));
      CHECK(memcmp(later, made.scales, bytes) == 0, "%d %d", k, kind);
    }
}

/* Both matrices end where the next byte cannot be touched. */
static void transposed_codes_are_those_of_the_transpose(void) {
  static uint8_t expected[ROOM];
  const guarded_pages sources = map_guarded_pages(ROOM),
                      made_pages = map_guarded_pages(ROOM);
  for (int round = 0; round < 300; ++round) {
    const int bits = round % 3 == 0 ? 8 : round % 3 == 1 ? 4 : 6;
    const size_t group = bits == 8 ? 1 : bits == 4 ? 2 : 4, wide = (size_t)bits;
    rows = 1 + below(90);
    columns = 1 + below(200);
    const size_t stride = (columns + below(9) + group - 1) / group * group;
    const size_t dst_stride = (rows + below(9) + group - 1) / group * group;
    const size_t size = ((rows - 1) * stride + columns) * wide;
    const size_t row_bytes = (rows + group - 1) / group * group * wide / 8;
    const size_t bytes = (columns - 1) * dst_stride * wide / 8 + row_bytes;
    uint8_t *const from = sources.end - (size + 7) / 8;
    uint8_t *const to = made_pages.end - bytes;
    for (uint8_t *at = from; at < sources.end; ++at)
      *at = (uint8_t)random_bits(&state);
    memset(made_pages.start, GUARD, ROOM);
    memset(expected, GUARD, bytes);
    for (size_t c = 0; c < columns; ++c) {
      const size_t begin = c * dst_stride * wide / 8;
      memset(expected + begin, 0, row_bytes);
      for (size_t r = 0; r < rows; ++r)
        for (size_t b = 0; b < wide; ++b) { /* bit by bit */
          const size_t at = (r * stride + c) * wide + b;
          const size_t too = (c * dst_stride + r) * wide + b;
          if (from[at / 8] >> at % 8 & 1)
            expected[too / 8] = (uint8_t)(expected[too / 8] | 1u << too % 8);
        }
    }
    must(mpnum_transpose_codes(to, dst_stride, from, stride, rows, columns, bits));
    CHECK(memcmp(to, expected, bytes) == 0 && to[-1] == GUARD, "%d bits, %zu x %zu", bits,
          rows, columns);
  }
}

/* The status, and nothing written to a. */
static uint8_t a[4096], b[4096];
#define REFUSED(want_status, ...)                                                      \
 do {                                                                                  \
  const mpnum_status status = __VA_ARGS__;                                             \
  size_t i = 0;                                                                        \
  while (i < sizeof a && a[i] == GUARD)                                                \
   ++i;                                                                                \
  CHECK(status == (want_status), "%s: %s", #__VA_ARGS__, mpnum_status_string(status)); \
  CHECK(i == sizeof a, "%s: byte %zu was written", #__VA_ARGS__, i);                   \
 } while (0)
static void misuse_is_refused(void) {
  const mpnum_scale_order in_rows = MPNUM_SCALES_IN_ROWS, tiles = MPNUM_SCALES_SWIZZLED;
  const mpnum_scale_order words = MPNUM_SCALES_DEEPGEMM, none = (mpnum_scale_order)3;
  static float floats[4096];
  const mpnum_blockscale_format mx =
      mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_FLOOR);
  const mpnum_blockscale_format nv = mpnum_blockscale_nvfp4_1x16();
  const mpnum_blockscale_format deep = mpnum_blockscale_fp8_1x128();
  const mpnum_blockscale_format square = mpnum_blockscale_fp8_128x128();
  mpnum_blockscale_format broken = mx;
  broken.element_bits = 5;
#define REORDER(format, to, bytes, from, size) \
 mpnum_reorder_scales(&format, to, a, bytes, from, b, size, 4, 64)
  memset(a, GUARD, sizeof a);
  memset(b, 1, sizeof b);
  REFUSED(MPNUM_ERROR_NULL,
          mpnum_reorder_scales(NULL, tiles, a, 512, in_rows, b, 512, 4, 64));
  REFUSED(MPNUM_ERROR_NULL,
          mpnum_reorder_scales(&mx, tiles, NULL, 512, in_rows, b, 512, 4, 64));
  REFUSED(MPNUM_ERROR_NULL,
          mpnum_reorder_scales(&mx, tiles, a, 512, in_rows, NULL, 512, 4, 64));
  REFUSED(MPNUM_ERROR_ARGUMENT, REORDER(broken, tiles, 512, in_rows, 512));
  REFUSED(MPNUM_ERROR_ARGUMENT, REORDER(mx, none, 512, in_rows, 512));
  REFUSED(MPNUM_ERROR_ARGUMENT, REORDER(nv, words, 512, in_rows, 512)); /* e4m3 */
  REFUSED(MPNUM_ERROR_ARGUMENT,
          REORDER(deep, tiles, 512, in_rows, 512)); /* no hardware */
  REFUSED(MPNUM_ERROR_ARGUMENT,
          REORDER(square, words, 512, in_rows, 512)); /* not of one row */
  REFUSED(MPNUM_ERROR_ARGUMENT,
          REORDER(deep, words, 512, in_rows, 512)); /* no power of two */
  REFUSED(MPNUM_ERROR_RANGE, REORDER(mx, tiles, 511, in_rows, 512));
  REFUSED(MPNUM_ERROR_RANGE, REORDER(mx, tiles, 512, in_rows, 7));
  REFUSED(MPNUM_ERROR_OVERLAP,
          mpnum_reorder_scales(&mx, tiles, a, 512, in_rows, a + 100, 512, 4, 64));
  REFUSED(MPNUM_ERROR_SHAPE,
          mpnum_reorder_scales(&mx, words, a, 16, words, b, 16,
                               ((size_t)1 << (sizeof(size_t) * 8 - 2)) + 4, 32));
  const size_t wide = ((size_t)1 << sizeof(size_t) * 4) - 200; /* wide^2 fits */
  REFUSED(MPNUM_ERROR_SHAPE,
          mpnum_reorder_scales(&mx, words, a, 16, words, b, 16, wide, wide));
  REFUSED(MPNUM_OK, mpnum_reorder_scales(NULL, tiles, NULL, 0, in_rows, NULL, 0, 0, 64));

  REFUSED(MPNUM_ERROR_NULL, mpnum_transpose_codes(NULL, 8, b, 8, 8, 8, 8));
  REFUSED(MPNUM_ERROR_NULL, mpnum_transpose_codes(a, 8, NULL, 8, 8, 8, 8));
  REFUSED(MPNUM_ERROR_ARGUMENT, mpnum_transpose_codes(a, 8, b, 8, 8, 8, 5));
  REFUSED(MPNUM_ERROR_STRIDE, mpnum_transpose_codes(a, 7, b, 8, 8, 8, 8));
  REFUSED(MPNUM_ERROR_STRIDE, mpnum_transpose_codes(a, 8, b, 7, 8, 8, 8));
  REFUSED(MPNUM_ERROR_STRIDE, mpnum_transpose_codes(a, 9, b, 8, 8, 8, 4));
  REFUSED(MPNUM_ERROR_SHAPE, mpnum_transpose_codes(a, (size_t)-1 / 2, b, 8, 8, 8, 8));
  REFUSED(MPNUM_ERROR_OVERLAP, mpnum_transpose_codes(a, 8, a + 63, 8, 8, 8, 8));

  const mpnum_blockscaled from = mpnum_blockscaled_of(&mx, b, b + 1024, 2, 64);
  const mpnum_blockscaled to = mpnum_blockscaled_of(&nv, a, a + 1024, 4, 64);
  mpnum_blockscaled scaled = to;
  scaled.scale = 1;
#define CONVERT(dst, src) mpnum_convert_blocks(&nv, dst, &mx, src, 1, 64, NULL, NULL)
  mpnum_blockscaled bad = from;
  REFUSED(MPNUM_ERROR_ARGUMENT, CONVERT(to, from)); /* S is not set */
  bad.codes = NULL;
  REFUSED(MPNUM_ERROR_NULL, CONVERT(scaled, bad));
  bad = from;
  bad.scale_inv_bytes = 1;
  REFUSED(MPNUM_ERROR_RANGE, CONVERT(scaled, bad));
  bad = from;
  bad.stride = 63;
  REFUSED(MPNUM_ERROR_STRIDE, CONVERT(scaled, bad));
  bad = from;
  bad.codes = a + 8;
  REFUSED(MPNUM_ERROR_OVERLAP, CONVERT(scaled, bad));
  REFUSED(MPNUM_ERROR_NULL,
          mpnum_convert_blocks(NULL, scaled, &mx, from, 1, 64, NULL, NULL));
  memset(b + 1024, 0, 8); /* floats of 0 */
  REFUSED(MPNUM_ERROR_ARGUMENT,
          mpnum_convert_blocks(&nv, scaled, &deep,
                               mpnum_blockscaled_of(&deep, b, b + 1024, 4, 64), 1, 64,
                               NULL, NULL));

#define TWO(format, dst, scales, group) \
 mpnum_quantize_two_level(format, dst, scales, group, y, NULL, NULL)
  float two[4] = {1, 1, -1, 1};
  const mpnum_const_matrix y = mpnum_const_matrix_of(MPNUM_TYPE_F32, floats, 32, 16);
  mpnum_blockscaled dst = mpnum_blockscaled_of(&nv, a, a + 1024, 512, 16);
  const mpnum_blockscale_format squares = mpnum_blockscale_nvfp4_16x16();
  REFUSED(MPNUM_ERROR_NULL, TWO(&nv, dst, NULL, 8));
  REFUSED(MPNUM_ERROR_NULL, TWO(NULL, dst, two, 8));
  REFUSED(MPNUM_ERROR_ARGUMENT, TWO(&mx, dst, two, 8));
  REFUSED(MPNUM_ERROR_ARGUMENT, TWO(&squares, dst, two, 8));
  REFUSED(MPNUM_ERROR_OVERLAP, TWO(&nv, dst, floats + 17, 8));
  REFUSED(MPNUM_ERROR_OVERLAP, TWO(&nv, dst, (float *)(void *)(a + 8), 8));
  dst.codes = a + 12; /* where the last of four scales lies */
  REFUSED(MPNUM_ERROR_OVERLAP, TWO(&nv, dst, (float *)(void *)a, 8));
  dst.codes = a;
  dst.is_swizzled = 1;
  REFUSED(MPNUM_ERROR_ARGUMENT, TWO(&nv, dst, two, 8));
  dst.is_swizzled = 0;
  dst.scale_inv_bytes = 31;
  REFUSED(MPNUM_ERROR_RANGE, TWO(&nv, dst, two, 8));
  const mpnum_blockscaled back = mpnum_blockscaled_of(&nv, b, b + 1024, 512, 16);
  REFUSED(MPNUM_ERROR_ARGUMENT,
          mpnum_dequantize_two_level(&nv, mpnum_matrix_of(MPNUM_TYPE_F32, a, 32, 16),
                                     back, two, 8));
  const float *const within = (const float *)(const void *)(a + 2044);
  REFUSED(MPNUM_ERROR_OVERLAP,
          mpnum_dequantize_two_level(&nv, mpnum_matrix_of(MPNUM_TYPE_F32, a, 32, 16),
                                     back, within, 8));

  const mpnum_matrix out = mpnum_matrix_of(MPNUM_TYPE_F32, a, 4, 64);
  mpnum_const_matrix x = mpnum_const_matrix_of(MPNUM_TYPE_F32, floats, 4, 64);
#define ROUND(format, dst, scale) mpnum_round_blocks(format, dst, x, scale, NULL, NULL)
  mpnum_matrix other = out;
  REFUSED(MPNUM_ERROR_NULL, ROUND(NULL, out, 0));
  REFUSED(MPNUM_ERROR_ARGUMENT, ROUND(&broken, out, 0));
  REFUSED(MPNUM_ERROR_ARGUMENT, ROUND(&nv, out, 0));
  other.rows = 3;
  REFUSED(MPNUM_ERROR_SHAPE, ROUND(&mx, other, 0));
  other = out;
  other.stride = 63;
  REFUSED(MPNUM_ERROR_STRIDE, ROUND(&mx, other, 0));
  other = out;
  other.type = MPNUM_TYPE_E4M3;
  REFUSED(MPNUM_ERROR_TYPE, ROUND(&mx, other, 0));
  other = out;
  other.data = NULL;
  REFUSED(MPNUM_ERROR_NULL, ROUND(&mx, other, 0));
  other = out;
  other.stride = (size_t)-1 / 8;
  REFUSED(MPNUM_ERROR_SHAPE, ROUND(&mx, other, 0));
  x.stride = (size_t)-1 / 8;
  REFUSED(MPNUM_ERROR_SHAPE, ROUND(&mx, out, 0));
  x.stride = 64;
  x.data = a + 4;
  REFUSED(MPNUM_ERROR_OVERLAP, ROUND(&mx, out, 0));
  REFUSED(MPNUM_ERROR_SHAPE,
          mpnum_transpose_codes(a, (size_t)-1 / 8, floats, 64, 4, 64, 8));
  REFUSED(MPNUM_ERROR_SHAPE,
          mpnum_transpose_codes(a, 8, floats, (size_t)-1 / 8, 4, 64, 8));
}
/* One block, its codes at b, its scale behind them, its elements at a; or back. */
static void misuse_of_one_block_is_refused(void) {
  mpnum_blockscale_format mx =
      mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_EVEN);
  const mpnum_blockscale_format nv = mpnum_blockscale_nvfp4_1x16();
  const mpnum_blockscale_format row = mpnum_blockscale_int8_row();
  mpnum_blockscale_format broken = mx;
  static const uint32_t wrong[] = {0, 0x80000000, 0x7f800000, 0xbf800000, 0xff800000};
  static const uint32_t nonfinite[] = {0x7f800000, 0x7fc00000};
  memset(a, GUARD, sizeof a);
  memset(b, 1, sizeof b);
#define BACK(format, type, scale, n) \
 mpnum_dequantize_block(format, type, a, b, b + 512, scale, n)
#define FORTH(format, type, scale, n) \
 mpnum_quantize_block(format, a, a + 512, scale, type, b, n)
#define BOTH_REFUSED(status, format, type, scale, n) \
 REFUSED(status, BACK(format, type, scale, n));      \
 REFUSED(status, FORTH(format, type, scale, n))
  broken.element_bits = 5;
  BOTH_REFUSED(MPNUM_ERROR_ARGUMENT, broken, MPNUM_TYPE_F32, 0, 32);
  broken = mx;
  broken.rounding = MPNUM_ROUND_STOCHASTIC;
  BOTH_REFUSED(MPNUM_ERROR_ARGUMENT, broken, MPNUM_TYPE_F32, 0, 32);
  BOTH_REFUSED(MPNUM_ERROR_ARGUMENT, nv, MPNUM_TYPE_E4M3, 0, 16); /* scale, then type */
  BOTH_REFUSED(MPNUM_ERROR_TYPE, mx, MPNUM_TYPE_E4M3, 0, 32);
  BOTH_REFUSED(MPNUM_ERROR_SHAPE, mx, MPNUM_TYPE_F32, 0, 33);
  BOTH_REFUSED(MPNUM_ERROR_SHAPE, row, MPNUM_TYPE_F16, 0, 257);
  for (int k = 0; k < 5; ++k) {
    BOTH_REFUSED(MPNUM_ERROR_ARGUMENT, nv, MPNUM_TYPE_F32, special(wrong[k]), 16);
    memcpy(b + 512, &wrong[k], 4);
    REFUSED(MPNUM_ERROR_ARGUMENT, BACK(row, MPNUM_TYPE_F32, 0, 8));
  }
  REFUSED(MPNUM_ERROR_ARGUMENT, FORTH(nv, MPNUM_TYPE_F32, special(0x7fc00000), 16));
  mx.policy = MPNUM_BLOCKSCALE_ERROR;
  for (int k = 0; k < 2; ++k) {
    memcpy(b + 4 * 31, &nonfinite[k], 4);
    REFUSED(MPNUM_ERROR_NONFINITE, FORTH(mx, MPNUM_TYPE_F32, 0, 32));
  }
  REFUSED(MPNUM_ERROR_OVERLAP,
          mpnum_quantize_block(mx, a, a + 31, 0, MPNUM_TYPE_F32, b, 32));
  REFUSED(MPNUM_ERROR_OVERLAP,
          mpnum_quantize_block(mx, a, a + 32, 0, MPNUM_TYPE_F32, a + 31, 32));
  REFUSED(MPNUM_ERROR_OVERLAP,
          mpnum_quantize_block(mx, a + 512, a + 127, 0, MPNUM_TYPE_F32, a, 32));
#undef BOTH_REFUSED
#undef FORTH
#undef BACK
}
/* No rows, or no columns: nothing is looked at. */
static void nothing_takes_no_memory(void) {
  for (int k = 0; k < 2; ++k) {
    const size_t r = k == 0 ? 0 : 5, c = 5 - r;
    const mpnum_matrix dst = mpnum_matrix_of(MPNUM_TYPE_F32, NULL, r, c);
    const mpnum_const_matrix src = mpnum_const_matrix_of(MPNUM_TYPE_F32, NULL, r, c);
    mpnum_blockscaled codes;
    memset(&codes, 0, sizeof codes);
    must(mpnum_reorder_scales(NULL, MPNUM_SCALES_IN_ROWS, NULL, 0, MPNUM_SCALES_IN_ROWS,
                              NULL, 0, r, c));
    must(mpnum_transpose_codes(NULL, 0, NULL, 0, r, c, 8));
    must(mpnum_quantize_two_level(NULL, codes, NULL, 0, src, NULL, NULL));
    must(mpnum_dequantize_two_level(NULL, dst, codes, NULL, 0));
    must(mpnum_round_blocks(NULL, dst, src, 0, NULL, NULL));
  }
}

int main(void) {
  RUN_FOR_EACH_ISA(converting_is_dequantising_and_quantising);
  RUN_FOR_EACH_ISA(rounding_is_quantising_and_dequantising);
  RUN_FOR_EACH_ISA(groups_of_rows_are_matrices_with_their_own_scale);
  RUN_FOR_EACH_ISA(wider_scales_reach_down_not_up);
  TAP_RUN(scales_are_where_orders_have_them);
  TAP_RUN(scales_swizzled_later_are_those_of_quantising);
  TAP_RUN(transposed_codes_are_those_of_the_transpose);
  TAP_RUN(misuse_is_refused);
  TAP_RUN(misuse_of_one_block_is_refused);
  TAP_RUN(nothing_takes_no_memory);
  return tap_done();
}
