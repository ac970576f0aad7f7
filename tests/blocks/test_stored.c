/* SPDX-License-Identifier: MIT */
/* Matrices as ggml, bitsandbytes, AWQ and GPTQ store them (blocks/stored_matrix.h): the
 * bytes of their rules, written down again in doubles, and of examples by hand; moves
 * between layouts; what is refused. */
#include "stored_rules.h"

#include "../harness/linked.h"
#include "../harness/must.h"
#include "../harness/tap.h"

#include <mpnum/blocks/blockscale.h>
#include <mpnum/blocks/stored_matrix.h>

enum { ROWS = 16, COLUMNS = 256, BLOCKS = ROWS * COLUMNS / 32 };

static float x[ROWS * COLUMNS], y[ROWS * COLUMNS];
static uint8_t data[ROWS * COLUMNS * 2], want[ROWS * COLUMNS * 2];
static uint8_t scales[ROWS * COLUMNS], zeros[ROWS * COLUMNS];
static uint64_t state = 7;

static uint32_t random_word(void) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(state >> 32);
}
static uint32_t below(uint32_t n) {
  return (uint32_t)((uint64_t)random_word() * n >> 32);
}

static mpnum_stored stored_of(mpnum_stored_layout layout, size_t rows, size_t columns,
                              size_t block) {
  mpnum_stored made = mpnum_stored_of(layout, rows, columns, block);
  made.data = data;
  if (made.scales_bytes) made.scales = scales;
  if (made.zeros_bytes) made.zeros = zeros;
  return made;
}

/* --- Inputs --- */

/* Groups of 16 with exponents up to their own, short significands for ties, values next
 * to powers of two, zeros. */
static void fill(uint32_t least, uint32_t most) {
  for (size_t i = 0; i < ROWS * COLUMNS; i += 16) {
    const uint32_t top = least + below(most - least + 1), is_zero = below(40) == 0;
    for (size_t k = 0; k < 16; ++k) {
      const uint32_t down = below(8), exponent = down < top ? top - down : 0;
      uint32_t significand = random_word() >> 9;
      if (below(3) == 0) significand &= 0x780000;
      if (below(6) == 0) significand = 0x7fffff - below(50);
      if (below(20) == 0) significand &= 3;
      x[i + k] = float_of(below(2) << 31 | exponent << 23 | significand);
      if (is_zero || below(30) == 0) x[i + k] = float_of(below(2) << 31);
    }
  }
}
/* Makes x what a type holds, and returns its elements. */
static mpnum_const_matrix as_type(mpnum_type type, size_t rows, size_t columns) {
  static uint16_t codes[ROWS * COLUMNS];
  const ref_format *format = ref_format_named(type == MPNUM_TYPE_F16    ? "f16"
                                              : type == MPNUM_TYPE_BF16 ? "bf16"
                                                                        : "f32");
  if (type == MPNUM_TYPE_F32) return mpnum_const_matrix_of(type, x, rows, columns);
  for (size_t i = 0; i < rows * columns; ++i) {
    const uint32_t code = ref_encode(format, ref_widen(bits_of_float(x[i])),
                                     REF_TOWARD_ZERO, REF_SATURATE, 0);
    codes[i] = (uint16_t)code;
    x[i] = float_of(ref_decode_f32(format, code));
  }
  return mpnum_const_matrix_of(type, codes, rows, columns);
}
static const mpnum_type types[3] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16};

/* --- ggml --- */

typedef void ggml_rule(uint8_t *to, const float *from);
static ggml_rule *const rules[4] = {rule_mxfp4, rule_nvfp4, rule_q8_0, rule_q4_0};
static const size_t wide[4] = {32, 64, 32, 32}, bytes[4] = {17, 36, 34, 18};
static const char *const names[4] = {"MXFP4", "NVFP4", "Q8_0", "Q4_0"};

static void check_ggml(int layout, mpnum_const_matrix src) {
  const mpnum_stored dst =
      stored_of((mpnum_stored_layout)layout, src.rows, src.columns, 0);
  const size_t blocks = src.rows * src.columns / wide[layout];
  memset(data, 0x5c, sizeof data);
  must(mpnum_quantize_stored(dst, src));
  for (size_t b = 0; b < blocks; ++b)
    rules[layout](want + b * bytes[layout], x + b * wide[layout]);
  for (size_t i = 0; i < blocks * bytes[layout]; ++i)
    CHECK(data[i] == want[i], "%s, block %zu, byte %zu: %02x, not %02x", names[layout],
          i / bytes[layout], i % bytes[layout], data[i], want[i]);
  CHECK(dst.data_bytes == blocks * bytes[layout], "%s: %zu bytes", names[layout],
        dst.data_bytes);
  CHECK(data[dst.data_bytes] == 0x5c, "%s: a byte past the end", names[layout]);
}
static void ggml_blocks_have_the_bytes_of_its_rules(void) {
  for (int layout = 0; layout < 4; ++layout)
    for (int round = 0; round < 60; ++round) {
      fill(round % 3 == 0 ? 100 : round % 3 == 1 ? 2 : 126, round % 3 == 1 ? 252 : 136);
      if (layout == MPNUM_STORED_NVFP4 && round % 3 == 1) fill(60, 180);
      check_ggml(layout, as_type(types[round / 3 % 3], ROWS, COLUMNS));
    }
}
/* A block with this amax. */
static void fill_block(float amax) {
  for (int i = 0; i < 64; ++i)
    x[i] = amax * ((float)(i % 9) * 0.125f);
}
static void mxfp4_scales_are_those_of_a_rounded_logarithm(void) {
  for (int n = -148; n <= 127; ++n)
    for (int steps = -3; steps < 60; ++steps) {
      const uint32_t power = bits_of_float((float)ldexp(1, n));
      fill_block(float_of(power - (uint32_t)steps));
      if (power - (uint32_t)steps < 0x7f800000u)
        check_ggml(MPNUM_STORED_MXFP4, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 64));
    }
  fill_block(float_of(0x7f7fffff));
  check_ggml(MPNUM_STORED_MXFP4, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 64));
}
static void nvfp4_scales_are_those_of_its_rule(void) {
  for (uint32_t code = 0; code < 0x7f; ++code)
    for (int k = -3; k <= 3; ++k) {
      const double low = value_of("e4m3", code);
      const double high = code == 0x7e ? 480 : value_of("e4m3", code + 1);
      const float middle = (float)(3 * (low + high)); /* 6 times the mean */
      fill_block(float_of(bits_of_float(middle) + (uint32_t)k));
      check_ggml(MPNUM_STORED_NVFP4, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 64));
    }
}
/* Its code wraps to 255, and stays at 448 from 248 on. */
static void two_scales_of_ggml_are_not_followed(void) {
  fill_block(0x1p-126f);
  must(mpnum_quantize_stored(stored_of(MPNUM_STORED_MXFP4, 1, 64, 0),
                             mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 64)));
  CHECK(data[0] == 0x00, "2^-126 has the scale %02x", data[0]);
  CHECK((data[1 + 8] & 15) == 4, "2^-126 is code %x of 2^-127", data[1 + 8] & 15);
  fill_block(6 * 256.0f);
  must(mpnum_quantize_stored(stored_of(MPNUM_STORED_NVFP4, 1, 64, 0),
                             mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 64)));
  CHECK(data[0] == 0x78, "1536 has the scale %02x, 256 is 78", data[0]);
  fill_block(0x1p100f);
  must(mpnum_quantize_stored(stored_of(MPNUM_STORED_NVFP4, 1, 64, 0),
                             mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 64)));
  CHECK(data[0] == 0x7e && (data[4] >> 4 & 15) == 7, "2^100: %02x %02x", data[0],
        data[4]);
}
static void zeros_are_zeros_in_every_block_of_ggml(void) {
  static const uint8_t first[4] = {0, 0, 0, 0}, second[4] = {0, 0, 0, 0x80};
  static const uint8_t last[4] = {0, 0, 0, 0x88};
  for (int layout = 0; layout < 4; ++layout) {
    for (int i = 0; i < 64; ++i)
      x[i] = i % 3 ? 0.0f : -0.0f;
    check_ggml(layout, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 64));
    CHECK(data[0] == first[layout] && data[1] == second[layout] &&
              data[bytes[layout] - 1] == last[layout],
          "%s: %02x %02x .. %02x", names[layout], data[0], data[1],
          data[bytes[layout] - 1]);
  }
}

/* The scale is 1: what lies below one half goes to 0. */
static void q8_0_goes_away_from_zero_from_one_half_on(void) {
  fill_block(0);
  for (int i = 0; i < 32; ++i)
    x[i] = float_of(bits_of_float((float)(i % 8) + 0.5f) - (uint32_t)(i / 8 % 2)) *
           (i < 16 ? 1.0f : -1.0f);
  x[31] = -127;
  check_ggml(MPNUM_STORED_Q8_0, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 64));
  CHECK(data[2] == 1 && data[2 + 8] == 0, "0.5 is %d, below it %d", data[2], data[10]);
}
static void one_code_in_a_block_of_zeros_comes_back(void) {
  const mpnum_stored src = stored_of(MPNUM_STORED_MXFP4, 1, 32, 0);
  for (int i = 0; i < 16; ++i) {
    memset(data, 0, 17);
    data[1 + i] = 0x20;
    must(mpnum_dequantize_stored(mpnum_matrix_of(MPNUM_TYPE_F32, y, 1, 32), src));
    CHECK(bits_of_float(y[16 + i]) == 0x00400000, "byte %d: %a", i, (double)y[16 + i]);
  }
}

/* Any bytes, by one element of a block after the other. */
static double ggml_value(int layout, const uint8_t *block, size_t i) {
  const double f16 = value_of("f16", block[0] + 256u * block[1]);
  const uint8_t *nibbles = block + (layout == MPNUM_STORED_MXFP4 ? 1 : 2);
  int nibble = i < 16 ? nibbles[i] & 15 : nibbles[i - 16] >> 4;
  if (layout == MPNUM_STORED_Q8_0) return ((block[2 + i] ^ 0x80) - 128) * f16;
  if (layout == MPNUM_STORED_Q4_0) return (nibble - 8) * f16;
  if (layout == MPNUM_STORED_MXFP4)
    return value_of("e2m1", (uint32_t)nibble) * value_of("e8m0", block[0]);
  nibbles = block + 4 + i / 16 * 8;
  nibble = i % 16 < 8 ? nibbles[i % 8] & 15 : nibbles[i % 8] >> 4;
  return value_of("e2m1", (uint32_t)nibble) * value_of("e4m3", block[i / 16]);
}
static int same_value(float got, double expected) {
  if (isnan(expected)) return bits_of_float(got) == 0x7fffffffu;
  return bits_of_float(got) == bits_of_float((float)expected) ||
         (got == 0 && expected == 0);
}
static void any_bytes_of_ggml_come_back_as_their_values(void) {
  for (int round = 0; round < 40; ++round)
    for (int layout = 0; layout < 4; ++layout) {
      const mpnum_stored src = stored_of((mpnum_stored_layout)layout, ROWS, COLUMNS, 0);
      for (size_t i = 0; i < src.data_bytes; ++i)
        data[i] = (uint8_t)(below(20) ? random_word() : 0x7c00u >> i % 2 * 8);
      must(mpnum_dequantize_stored(mpnum_matrix_of(MPNUM_TYPE_F32, y, ROWS, COLUMNS),
                                   src));
      for (size_t i = 0; i < ROWS * COLUMNS; ++i) {
        const size_t b = i / wide[layout];
        const double expected =
            ggml_value(layout, data + b * bytes[layout], i % wide[layout]);
        CHECK(same_value(y[i], expected), "%s, element %zu: %a, not %a", names[layout], i,
              (double)y[i], expected);
      }
    }
}
/* The order of two blocks by hand: 6 5 4 ... of scale 1. */
static void examples_have_these_bytes(void) {
  static const float ramp[4] = {6.0f, -4.0f, 0.25f, -0.75f};
  for (int i = 0; i < 64; ++i)
    x[i] = i % 16 < 4 ? ramp[i % 16] : (float)(i % 32 / 16);
  must(mpnum_quantize_stored(stored_of(MPNUM_STORED_MXFP4, 1, 64, 0),
                             mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 64)));
  /* Scale 2^0; 6 and 6 are 7, -4 is e; 0.25 and -0.75 lie between 0 and .5, .5 and 1. */
  CHECK(data[0] == 127 && data[1] == 0x77 && data[2] == 0xee && data[3] == 0x00 &&
            data[4] == 0x99 && data[5] == 0x20,
        "MXFP4: %02x %02x %02x %02x %02x %02x", data[0], data[1], data[2], data[3],
        data[4], data[5]);
  must(mpnum_quantize_stored(stored_of(MPNUM_STORED_NVFP4, 1, 64, 0),
                             mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 64)));
  CHECK(data[0] == 0x38 && data[4] == 0x07 && data[5] == 0x0e && data[12] == 0x27,
        "NVFP4: %02x, %02x %02x, %02x", data[0], data[4], data[5], data[12]);
}

/* --- bitsandbytes --- */

static void check_book(int is_nf4, mpnum_const_matrix src, size_t block) {
  const mpnum_stored dst = stored_of(is_nf4 ? MPNUM_STORED_NF4 : MPNUM_STORED_FP4,
                                     src.rows, src.columns, block);
  const size_t n = src.rows * src.columns;
  memset(data, 0x5c, sizeof data);
  memset(y, 0x5c, sizeof y);
  must(mpnum_quantize_stored(dst, src));
  must(mpnum_dequantize_stored(mpnum_matrix_of(MPNUM_TYPE_F32, y, src.rows, src.columns),
                               dst));
  CHECK(n == sizeof y / sizeof *y || bits_of_float(y[n]) == 0x5c5c5c5c,
        "a float past the end");
  for (size_t i = 0; i < n; i += dst.block) {
    const size_t size = n - i < dst.block ? n - i : dst.block;
    const double absmax = rule_book(is_nf4, want + i / 2, x + i, size);
    float got;
    memcpy(&got, scales + i / dst.block * 4, 4);
    CHECK((double)got == absmax, "block %zu: absmax %a, not %a", i, (double)got, absmax);
    for (size_t k = i; k < i + size; ++k) {
      const int code = k % 2 ? want[k / 2] & 15 : want[k / 2] >> 4;
      CHECK(same_value(y[k], stepped(book_value(is_nf4, code) * absmax)),
            "element %zu came back as %a", k, (double)y[k]);
    }
  }
  for (size_t i = 0; i < (n + 1) / 2; ++i)
    CHECK(data[i] == want[i], "%s, byte %zu: %02x, not %02x", is_nf4 ? "NF4" : "FP4", i,
          data[i], want[i]);
  CHECK(data[(n + 1) / 2] == 0x5c, "a byte past the end");
}
static void code_books_have_the_bytes_of_their_rules(void) {
  static const size_t blocks[] = {0, 16, 32, 64, 128, 256};
  for (int round = 0; round < 60; ++round)
    for (int is_nf4 = 0; is_nf4 < 2; ++is_nf4) {
      fill(round % 4 == 0 ? 1 : 110, round % 4 == 1 ? 253 : 130);
      check_book(is_nf4, as_type(types[round % 3], ROWS, COLUMNS), blocks[round % 6]);
    }
}
/* A tensor of no whole number of blocks is one row. */
static void code_books_take_a_short_last_block(void) {
  for (size_t n = 1; n < 200; n += 1 + n / 20) {
    fill(120, 128);
    check_book(n % 2 == 0, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, n), 64);
    check_book(n % 2 == 1, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, n), 128);
  }
}
/* Next to each threshold; absmax is 1. */
static void code_books_turn_where_bitsandbytes_does(void) {
  for (int is_nf4 = 0; is_nf4 < 2; ++is_nf4)
    for (int k = -4; k <= 4; ++k) {
      size_t n = 0;
      x[n++] = 1;
      for (int i = 0; i < 15; ++i) {
        const double middle =
            is_nf4 ? (double)nf4_middles[i] : fp4_middles[i % 7] * (i < 7 ? 1 : -1);
        x[n++] = float_of(bits_of_float((float)middle) + (uint32_t)k);
      }
      check_book(is_nf4, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, n), 64);
    }
}

/* --- AWQ, GPTQ --- */

static int nibble_of(const uint8_t *words, size_t word, int place) {
  return words[4 * word + (size_t)place / 2] >> place % 2 * 4 & 15;
}
static int place_of(const int *order, int element) {
  int place = 0;
  while (order[place] != element)
    ++place;
  return place;
}
/* Code and zero point of an element by the layout of qweight and qzeros. */
static int code_at(int is_awq, size_t rows, size_t r, size_t c) {
  if (is_awq)
    return nibble_of(data, c * (rows / 8) + r / 8, place_of(awq_order, (int)(r % 8)));
  return nibble_of(data, c / 8 * rows + r, (int)(c % 8));
}
static int zero_at(int is_awq, size_t rows, size_t r, size_t group) {
  const size_t word = group * (rows / 8) + r / 8;
  if (is_awq) return nibble_of(zeros, word, place_of(awq_order, (int)(r % 8)));
  return (nibble_of(zeros, word, (int)(r % 8)) + 1) % 16;
}
static void check_group(int is_awq, size_t rows, size_t columns, size_t r, size_t c,
                        size_t block) {
  const size_t at = c / block * rows + r;
  uint8_t scale_bytes[2];
  uint16_t stored;
  int zero = 0, code[COLUMNS];
  const double scale = rule_group(is_awq, &zero, code, x + r * columns + c, block);
  memcpy(&stored, scales + 2 * at, 2);
  put_f16(scale_bytes, scale);
  CHECK(stored == scale_bytes[0] + 256 * scale_bytes[1], "row %zu: scale %04x of %a", r,
        stored, scale);
  CHECK(zero_at(is_awq, rows, r, c / block) == zero, "row %zu: zero point %d, not %d", r,
        zero_at(is_awq, rows, r, c / block), zero);
  for (size_t i = 0; i < block; ++i) {
    const double step = value_of("f16", stored);
    CHECK(code_at(is_awq, rows, r, c + i) == code[i], "row %zu, column %zu: %d, not %d",
          r, c + i, code_at(is_awq, rows, r, c + i), code[i]);
    CHECK(same_value(y[r * columns + c + i], (code[i] - zero) * step),
          "row %zu, column %zu came back as %a", r, c + i,
          (double)y[r * columns + c + i]);
  }
}
static void check_groups(int is_awq, mpnum_const_matrix src, size_t block) {
  const mpnum_stored dst = stored_of(is_awq ? MPNUM_STORED_AWQ : MPNUM_STORED_GPTQ,
                                     src.rows, src.columns, block);
  memset(data, 0x5c, sizeof data);
  memset(zeros, 0x5c, sizeof zeros);
  memset(scales, 0x5c, sizeof scales);
  must(mpnum_quantize_stored(dst, src));
  must(mpnum_dequantize_stored(mpnum_matrix_of(MPNUM_TYPE_F32, y, src.rows, src.columns),
                               dst));
  for (size_t r = 0; r < src.rows; ++r)
    for (size_t c = 0; c < src.columns; c += dst.block)
      check_group(is_awq, src.rows, src.columns, r, c, dst.block);
  CHECK(data[dst.data_bytes] == 0x5c && scales[dst.scales_bytes] == 0x5c &&
            zeros[dst.zeros_bytes] == 0x5c,
        "bytes past the end");
}
static void groups_have_the_codes_of_their_rules(void) {
  static const size_t blocks[] = {0, 8, 24, 32, 64, 128};
  for (int round = 0; round < 60; ++round)
    for (int is_awq = 0; is_awq < 2; ++is_awq) {
      const size_t block = blocks[round % 6], columns = block == 24 ? 240 : COLUMNS;
      fill(round % 5 == 0 ? 1 : 110, round % 5 == 1 ? 250 : 130);
      for (size_t i = 0; i < ROWS * COLUMNS && round % 5 == 2; ++i)
        x[i] = fabsf(x[i]) + (float)(i % COLUMNS / 128); /* ranges without 0 */
      check_groups(is_awq, as_type(types[round / 2 % 3], ROWS, columns), block);
    }
}
/* Whose scale is 0 as a float, or as f16. */
static void groups_of_the_smallest_floats_have_no_codes(void) {
  for (uint32_t largest = 0; largest < 40; largest += 1 + largest / 8) {
    for (uint32_t i = 0; i < 8 * 16; ++i)
      x[i] = float_of((i & 1) << 31 | (i % 5 == 0 ? largest : 0));
    check_groups(0, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 8, 16), 16);
    check_groups(1, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 8, 16), 16);
  }
}
/* One word of each, by hand: 8 rows of the codes 0 to 7, of which row 0 is 0 in all. */
static void words_have_this_order(void) {
  static const uint8_t awq[4] = {0x20, 0x64, 0x31, 0x75},
                       gptq[4] = {0x10, 0x32, 0x54, 0x76};
  for (size_t r = 0; r < 8; ++r)
    for (size_t c = 0; c < 16; ++c)
      x[16 * r + c] = c == 15 ? 15.0f : c == 14 ? 0.0f : (float)r;
  must(mpnum_quantize_stored(stored_of(MPNUM_STORED_AWQ, 8, 16, 16),
                             mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 8, 16)));
  CHECK(memcmp(data, awq, 4) == 0, "AWQ: %02x %02x %02x %02x", data[0], data[1], data[2],
        data[3]);
  for (size_t i = 0; i < 128; ++i)
    x[i] = i % 16 == 15 ? 15.0f : (float)(i % 16);
  must(mpnum_quantize_stored(stored_of(MPNUM_STORED_GPTQ, 8, 16, 16),
                             mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 8, 16)));
  CHECK(memcmp(data, gptq, 4) == 0, "GPTQ: %02x %02x %02x %02x", data[0], data[1],
        data[2], data[3]);
  CHECK(zeros[0] == 0xff, "a zero point of 0 is stored as %02x", zeros[0]);
}

/* --- Moves --- */

static mpnum_blockscaled blocks_of(uint8_t *codes, uint8_t *scale_inv, size_t size,
                                   size_t stride, int is_swizzled) {
  mpnum_blockscaled made;
  made.codes = codes;
  made.stride = stride;
  made.scale_inv = scale_inv;
  made.scale_inv_bytes = size;
  made.is_swizzled = is_swizzled;
  made.scale = 1;
  return made;
}
/* Each code and each scale is where it belongs, and everything comes back. */
static void check_move(int layout, size_t rows, size_t columns, size_t stride,
                       int is_swizzled) {
  static uint8_t codes[ROWS * COLUMNS], scale_inv[8192], again[ROWS * COLUMNS];
  const mpnum_stored src = stored_of((mpnum_stored_layout)layout, rows, columns, 0);
  const size_t each = layout == MPNUM_STORED_MXFP4 ? 32 : 16, across = columns / each;
  const mpnum_blockscaled blocks =
      blocks_of(codes, scale_inv, sizeof scale_inv, stride, is_swizzled);
  mpnum_stored back = src;
  back.data = again;
  for (size_t i = 0; i < src.data_bytes; ++i)
    data[i] = (uint8_t)random_word();
  memset(codes, 0x5c, sizeof codes);
  memset(scale_inv, 0x5c, sizeof scale_inv);
  must(mpnum_stored_to_blocks(blocks, src));
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c) {
      const size_t b = r * across + c / each, i = c % each, half = each / 2;
      const uint8_t *block = data + b / (wide[layout] / each) * bytes[layout];
      const uint8_t *nibbles =
          layout == MPNUM_STORED_MXFP4 ? block + 1 : block + 4 + b % 4 * 8;
      const int expected = i < half ? nibbles[i] & 15 : nibbles[i - half] >> 4;
      const int got = codes[(r * stride + c) / 2] >> c % 2 * 4 & 15;
      const size_t at = is_swizzled ? mpnum_scale_place(r, c / each, across) : b;
      CHECK(got == expected, "row %zu, column %zu: %x, not %x", r, c, (unsigned)got,
            (unsigned)expected);
      CHECK(scale_inv[at] == block[layout == MPNUM_STORED_MXFP4 ? 0 : b % 4],
            "the scale of row %zu, column %zu", r, c);
    }
  CHECK(!is_swizzled || scale_inv[511] == 0, "padding is %02x", scale_inv[511]);
  must(mpnum_stored_from_blocks(back, blocks));
  CHECK(memcmp(data, again, src.data_bytes) == 0, "%s: not the bytes that were moved",
        names[layout]);
}
static void moves_change_no_code_and_no_scale(void) {
  for (int layout = 0; layout < 2; ++layout)
    for (int is_swizzled = 0; is_swizzled < 2; ++is_swizzled) {
      check_move(layout, 5, 128, 128, is_swizzled);
      check_move(layout, 5, 192, 194, is_swizzled);
      check_move(layout, 1, 64, 65, is_swizzled);
    }
}
/* A matrix comes back the same way by either form. */
static void moved_blocks_have_the_same_values(void) {
  static uint8_t codes[ROWS * COLUMNS / 2], scale_inv[ROWS * COLUMNS / 16];
  static float other[ROWS * COLUMNS];
  for (int layout = 0; layout < 2; ++layout) {
    const mpnum_blockscale_format format =
        layout ? mpnum_blockscale_nvfp4_1x16()
               : mpnum_blockscale_mx(MPNUM_TYPE_E2M1, MPNUM_BLOCKSCALE_RCEIL);
    const mpnum_blockscaled blocks =
        blocks_of(codes, scale_inv, sizeof scale_inv, COLUMNS, 0);
    const mpnum_stored src = stored_of((mpnum_stored_layout)layout, ROWS, COLUMNS, 0);
    for (size_t i = 0; i < src.data_bytes; ++i)
      data[i] = (uint8_t)random_word();
    must(mpnum_stored_to_blocks(blocks, src));
    must(mpnum_dequantize_blocks(
        &format, mpnum_matrix_of(MPNUM_TYPE_F32, other, ROWS, COLUMNS), blocks));
    must(mpnum_dequantize_stored(mpnum_matrix_of(MPNUM_TYPE_F32, y, ROWS, COLUMNS), src));
    for (size_t i = 0; i < ROWS * COLUMNS; ++i)
      CHECK(bits_of_float(y[i]) == bits_of_float(other[i]), "%s, element %zu: %a, %a",
            names[layout], i, (double)y[i], (double)other[i]);
  }
}

/* --- Types, sizes, what is refused --- */

static void values_are_rounded_to_the_type_of_the_matrix(void) {
  static uint16_t codes[ROWS * COLUMNS];
  fill(110, 130);
  for (int layout = 0; layout < 8; ++layout)
    for (int k = 1; k < 3; ++k) {
      const mpnum_stored stored =
          stored_of((mpnum_stored_layout)layout, ROWS, COLUMNS, 0);
      const ref_format *format = ref_format_named(k == 1 ? "f16" : "bf16");
      must(mpnum_quantize_stored(
          stored, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, ROWS, COLUMNS)));
      must(mpnum_dequantize_stored(mpnum_matrix_of(MPNUM_TYPE_F32, y, ROWS, COLUMNS),
                                   stored));
      must(mpnum_dequantize_stored(mpnum_matrix_of(types[k], codes, ROWS, COLUMNS),
                                   stored));
      for (size_t i = 0; i < ROWS * COLUMNS; ++i)
        CHECK(codes[i] == ref_encode(format, ref_widen(bits_of_float(y[i])),
                                     REF_NEAREST_EVEN, REF_IEEE, 0),
              "layout %d, element %zu: %04x of %a", layout, i, codes[i], (double)y[i]);
    }
}
static void what_does_not_fit_has_no_bytes(void) {
  CHECK(mpnum_stored_of(MPNUM_STORED_Q8_0, (size_t)-1 / 64, 128, 0).data_bytes == 0 &&
            mpnum_stored_of(MPNUM_STORED_Q8_0, 1, 48, 0).data_bytes == 0 &&
            mpnum_stored_of(MPNUM_STORED_AWQ, 4, 128, 0).scales_bytes == 0 &&
            mpnum_stored_of((mpnum_stored_layout)8, 8, 128, 0).data_bytes == 0,
        "bytes of no matrix");
}
static void sizes_are_those_of_the_formats(void) {
  static const size_t sizes[8][3] = {
      {17 * 16, 0, 0}, {36 * 8, 0, 0},  {34 * 16, 0, 0},    {18 * 16, 0, 0},
      {256, 4 * 8, 0}, {256, 4 * 8, 0}, {4 * 64, 2 * 8, 4}, {4 * 64, 2 * 8, 4}};
  for (int layout = 0; layout < 8; ++layout) {
    const mpnum_stored made =
        mpnum_stored_of((mpnum_stored_layout)layout, 8, 64, layout < 4 ? 0 : 64);
    CHECK(made.data_bytes == sizes[layout][0] && made.scales_bytes == sizes[layout][1] &&
              made.zeros_bytes == sizes[layout][2],
          "layout %d: %zu %zu %zu", layout, made.data_bytes, made.scales_bytes,
          made.zeros_bytes);
  }
}
/* All that is wrong with a call of a layout, one after the other. */
static mpnum_status spoil(int layout, int k, mpnum_stored *stored, mpnum_matrix *rows) {
  const int has_scales = layout >= MPNUM_STORED_NF4,
            has_zeros = layout >= MPNUM_STORED_AWQ;
  switch (k) {
  case 0: stored->data = NULL; return MPNUM_ERROR_NULL;
  case 1: rows->data = NULL; return MPNUM_ERROR_NULL;
  case 2: stored->layout = (mpnum_stored_layout)8; return MPNUM_ERROR_ARGUMENT;
  case 3: stored->block = 0; return MPNUM_ERROR_ARGUMENT;
  case 4: stored->block = layout < 4 ? 128 : 12; return MPNUM_ERROR_ARGUMENT;
  case 5: rows->type = MPNUM_TYPE_E4M3; return MPNUM_ERROR_TYPE;
  case 6: rows->rows -= 1; return MPNUM_ERROR_SHAPE;
  case 7: rows->columns = stored->columns -= 4; return MPNUM_ERROR_SHAPE;
  case 8: stored->data_bytes -= 1; return MPNUM_ERROR_RANGE;
  case 9: rows->data = stored->data; return MPNUM_ERROR_OVERLAP;
  case 10:
    if (has_scales) stored->scales = NULL;
    return has_scales ? MPNUM_ERROR_NULL : MPNUM_OK;
  case 11:
    if (has_scales) stored->scales_bytes -= 1;
    return has_scales ? MPNUM_ERROR_RANGE : MPNUM_OK;
  case 12:
    if (has_scales) stored->scales = (uint8_t *)stored->data + 1;
    return has_scales ? MPNUM_ERROR_OVERLAP : MPNUM_OK;
  case 13:
    if (has_zeros) stored->zeros = NULL;
    return has_zeros ? MPNUM_ERROR_NULL : MPNUM_OK;
  case 14:
    if (has_zeros) stored->zeros_bytes -= 1;
    return has_zeros ? MPNUM_ERROR_RANGE : MPNUM_OK;
  case 15:
    if (has_zeros) stored->zeros = stored->scales;
    return has_zeros ? MPNUM_ERROR_OVERLAP : MPNUM_OK;
  case 16: stored->rows = rows->rows = (size_t)-1 / 64; return MPNUM_ERROR_SHAPE;
  case 17:
    if (has_zeros) stored->rows = rows->rows = 9;
    return has_zeros ? MPNUM_ERROR_SHAPE : MPNUM_OK;
  default: return MPNUM_OK;
  }
}
enum { WRONG = 18 };
static void check_untouched(const char *what, int layout, int k) {
  for (size_t i = 0; i < sizeof data; ++i)
    if (data[i] != 0x5c ||
        (i < sizeof scales && (scales[i] != 0x5c || zeros[i] != 0x5c)) ||
        (i < ROWS * COLUMNS && bits_of_float(y[i]) != 0x5c5c5c5cu)) {
      CHECK(0, "%s, layout %d, case %d has written", what, layout, k);
      return;
    }
}
static void what_is_wrong_is_refused(void) {
  memset(data, 0x5c, sizeof data);
  memset(scales, 0x5c, sizeof scales);
  memset(zeros, 0x5c, sizeof zeros);
  memset(y, 0x5c, sizeof y);
  for (int layout = 0; layout < 8; ++layout)
    for (int k = 0; k < WRONG; ++k) {
      mpnum_stored stored = stored_of((mpnum_stored_layout)layout, 8, 128, 0);
      mpnum_matrix rows = mpnum_matrix_of(MPNUM_TYPE_F32, y, 8, 128);
      mpnum_const_matrix src;
      const mpnum_status expected = spoil(layout, k, &stored, &rows);
      mpnum_status got;
      if (expected == MPNUM_OK) continue;
      src = mpnum_const_matrix_of(rows.type, rows.data, rows.rows, rows.columns);
      src.stride = rows.stride;
      got = mpnum_quantize_stored(stored, src);
      CHECK(got == expected, "quantising, layout %d, case %d: %d", layout, k, (int)got);
      got = mpnum_dequantize_stored(rows, stored);
      CHECK(got == expected, "back, layout %d, case %d: %d", layout, k, (int)got);
      check_untouched("a call", layout, k);
    }
}
static void inf_and_nan_are_refused(void) {
  static const uint32_t rare[] = {0x7f800000u, 0xff800000u, 0x7fc00000u, 0xff800001u};
  for (int layout = 0; layout < 8; ++layout)
    for (int k = 0; k < 4; ++k)
      for (int type = 0; type < 3; ++type) {
        mpnum_const_matrix src;
        mpnum_status got;
        memset(x, 0, sizeof x);
        src = as_type(types[type], 8, 128);
        if (type == 0) x[8 * 128 - 1] = float_of(rare[k]);
        if (type != 0)
          ((uint16_t *)(uintptr_t)src.data)[8 * 128 - 1] = k % 2 ? 0xffff : 0x7fff;
        memset(data, 0x5c, sizeof data);
        memset(scales, 0x5c, sizeof scales);
        memset(zeros, 0x5c, sizeof zeros);
        memset(y, 0x5c, sizeof y);
        got =
            mpnum_quantize_stored(stored_of((mpnum_stored_layout)layout, 8, 128, 0), src);
        CHECK(got == MPNUM_ERROR_NONFINITE, "layout %d: status %d", layout, (int)got);
        check_untouched("Inf or NaN", layout, k);
      }
}
static void moves_refuse_what_is_wrong(void) {
  static uint8_t codes[64 * 8], scale_inv[64];
  for (int k = 0; k < 11; ++k) {
    static const mpnum_status expected[11] = {
        MPNUM_ERROR_NULL,     MPNUM_ERROR_NULL,    MPNUM_ERROR_NULL,
        MPNUM_ERROR_ARGUMENT, MPNUM_ERROR_STRIDE,  MPNUM_ERROR_RANGE,
        MPNUM_ERROR_OVERLAP,  MPNUM_ERROR_OVERLAP, MPNUM_ERROR_STRIDE,
        MPNUM_ERROR_ARGUMENT, MPNUM_ERROR_SHAPE};
    mpnum_stored stored =
        stored_of(k == 3 ? MPNUM_STORED_Q4_0 : MPNUM_STORED_MXFP4, 8, 64, 0);
    mpnum_blockscaled blocks =
        blocks_of(codes, scale_inv, sizeof scale_inv, 64, k == 9 ? 2 : 0);
    mpnum_status got;
    memset(data, 0x5c, sizeof data);
    memset(codes, 0x5c, sizeof codes);
    if (k == 0) stored.data = NULL;
    if (k == 1) blocks.codes = NULL;
    if (k == 2) blocks.scale_inv = NULL;
    if (k == 4) blocks.stride = 62;
    if (k == 5) blocks.scale_inv_bytes = 15;
    if (k == 6) blocks.codes = data + 100;
    if (k == 7) blocks.scale_inv = codes + 8;
    if (k == 8) blocks.stride = 65;
    if (k == 10) blocks.stride = (size_t)-2;
    got = mpnum_stored_to_blocks(blocks, stored);
    CHECK(got == expected[k], "to blocks, case %d: %d", k, (int)got);
    got = mpnum_stored_from_blocks(stored, blocks);
    CHECK(got == expected[k], "from blocks, case %d: %d", k, (int)got);
    CHECK(data[0] == 0x5c && data[100] == 0x5c && codes[0] == 0x5c && codes[8] == 0x5c,
          "case %d has written", k);
  }
}
static void without_elements_all_is_well(void) {
  const mpnum_stored none = mpnum_stored_of(MPNUM_STORED_Q8_0, 0, 64, 0);
  const mpnum_blockscaled blocks = blocks_of(NULL, NULL, 0, 0, 0);
  CHECK(mpnum_quantize_stored(none, mpnum_const_matrix_of(MPNUM_TYPE_F32, NULL, 0, 64)) ==
                MPNUM_OK &&
            mpnum_dequantize_stored(mpnum_matrix_of(MPNUM_TYPE_F32, NULL, 0, 64), none) ==
                MPNUM_OK &&
            mpnum_stored_to_blocks(blocks, none) == MPNUM_OK &&
            mpnum_stored_from_blocks(none, blocks) == MPNUM_OK,
        "refused");
}

int main(void) {
  TAP_RUN(ggml_blocks_have_the_bytes_of_its_rules);
  TAP_RUN(mxfp4_scales_are_those_of_a_rounded_logarithm);
  TAP_RUN(nvfp4_scales_are_those_of_its_rule);
  TAP_RUN(two_scales_of_ggml_are_not_followed);
  TAP_RUN(zeros_are_zeros_in_every_block_of_ggml);
  TAP_RUN(q8_0_goes_away_from_zero_from_one_half_on);
  TAP_RUN(one_code_in_a_block_of_zeros_comes_back);
  TAP_RUN(any_bytes_of_ggml_come_back_as_their_values);
  TAP_RUN(examples_have_these_bytes);
  TAP_RUN(code_books_have_the_bytes_of_their_rules);
  TAP_RUN(code_books_take_a_short_last_block);
  TAP_RUN(code_books_turn_where_bitsandbytes_does);
  TAP_RUN(groups_have_the_codes_of_their_rules);
  TAP_RUN(groups_of_the_smallest_floats_have_no_codes);
  TAP_RUN(words_have_this_order);
  TAP_RUN(moves_change_no_code_and_no_scale);
  TAP_RUN(moved_blocks_have_the_same_values);
  TAP_RUN(values_are_rounded_to_the_type_of_the_matrix);
  TAP_RUN(what_does_not_fit_has_no_bytes);
  TAP_RUN(sizes_are_those_of_the_formats);
  TAP_RUN(what_is_wrong_is_refused);
  TAP_RUN(inf_and_nan_are_refused);
  TAP_RUN(moves_refuse_what_is_wrong);
  TAP_RUN(without_elements_all_is_well);
  return tap_done();
}
