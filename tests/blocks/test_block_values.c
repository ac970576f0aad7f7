/* SPDX-License-Identifier: MIT */
/* What blocks become, bit for bit: golden values, blocks at every boundary against the
 * slow reference, and what has gone wrong in other libraries. With every instruction set.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */ /* NOLINT(bugprone-reserved-identifier) */
#include "block_checks.h"
#include "../harness/control_word.h"
#include "../harness/float_bits.h"

/* Of what takes long, one of so many; scales of a tensor; random matrices. */
#ifdef TEST_ALL_BLOCKS
enum { SOME = 1, SCALES = 10, MATRICES = 9 };
#else
enum { SOME = 13, SCALES = 3, MATRICES = 2 };
#endif

static block_format *format_named(const char *name) {
  for (int i = 0; i < format_count; ++i)
    if (strcmp(formats[i].name, name) == 0) return &formats[i];
  abort();
}

/* A block of one row: amax first, then zeros. */
static uint32_t scale_of(const char *name, uint32_t amax, uint32_t tensor_scale) {
  const block_format *format = format_named(name);
  uint32_t src[32] = {0}, scale = 0;
  block_words words = allocate_words(format, 1, 16);
  src[3] = amax;
  quantize_here(&words, format, src, tensor_scale);
  CHECK(words.status == MPNUM_OK, "%s: status %d", name, (int)words.status);
  scale = words.scales[0];
  free_words(words);
  return scale;
}

static void golden_scales_of_mx(void) {
  static const struct {
    const char *element;
    float amax;
    uint32_t codes[4]; /* FLOOR, CEIL, EVEN, RCEIL */
  } cases[] = {{"e4m3", 1.75f, {119, 120, 119, 119}},
               {"e2m1", 1.75f, {125, 126, 126, 126}},
               {"e4m3", 480.0f, {127, 128, 127, 128}},
               {"e4m3", 0x1.fffffep127f, {246, 247, 247, 247}},
               {"e4m3", 0.0f, {0, 0, 0, 0}},
               {"e2m1", -0.0f, {0, 0, 0, 0}},
               {"int8", 0x1.fffffep127f, {254, 254, 254, 254}}};
  static const char *const rules[] = {"FLOOR", "CEIL", "EVEN", "RCEIL"};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    for (int rule = 0; rule < 4; ++rule) {
      char name[64];
      uint32_t got = 0;
      snprintf(name, sizeof name, "mx %s %s", cases[i].element, rules[rule]);
      got = scale_of(name, bits_of_float(cases[i].amax), F32_ONE);
      CHECK(got == cases[i].codes[rule], "%s of %a: got %u, want %u", name,
            (double)cases[i].amax, got, cases[i].codes[rule]);
    }
}

static void golden_scales_of_nvfp4(void) {
  static const struct {
    float amax;
    uint32_t code;
  } cases[] = {{1, 0x7e},       {0.1f, 0x63},    {1e-3f, 0x2e}, {1.0f / 28672, 0x08},
               {2.2e-6f, 0x01}, {1.08e-6f, 0x00}};
  const uint32_t scale = bits_of_float(mpnum_nvfp4_scale(1.0f));
  CHECK(scale == bits_of_float(2688.0f), "%08x", scale);
  CHECK(bits_of_float(mpnum_nvfp4_scale(0.0f)) == F32_ONE, "of 0");
  CHECK(bits_of_float(mpnum_nvfp4_scale(mpnum_from_bits_f32(F32_INFINITY))) == F32_ONE,
        "Inf");
  CHECK(bits_of_float(mpnum_nvfp4_scale(mpnum_from_bits_f32(0x7fc00000u))) == F32_ONE,
        "NaN");
  CHECK(bits_of_float(mpnum_nvfp4_scale(mpnum_from_bits_f32(1))) == F32_MAX, "TRUE_MIN");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const uint32_t got = scale_of("nvfp4 1x16", bits_of_float(cases[i].amax), scale);
    CHECK(got == cases[i].code, "amax %g: got %02x, want %02x", (double)cases[i].amax,
          got, cases[i].code);
  }
}

/* Elements that are not finite at the beginning, in the middle and in what is left of a
 * row, and the largest of the others in each place that they leave. */
static void check_finite_amax(const char *isa) {
  enum { COLUMNS = 4169, ROWS = 2, COUNT = ROWS * COLUMNS };
  static const int others[] = {0, 70, 2300, 4168};
  static const int places[] = {1,    63,   64,   2047,    2048,
                               4095, 4096, 4167, COLUMNS, COUNT - 1};
  static float src[COUNT];
  for (int o = 0; o < 4; ++o)
    for (int p = 0; p < 10; ++p) {
      float got = -1;
      for (int i = 0; i < COUNT; ++i)
        src[i] = i % 2 ? -0x1p-130f : 1.5f;
      src[others[o]] =
          mpnum_from_bits_f32(o % 2 ? F32_INFINITY | 0x80000000u : 0x7f800001u);
      src[others[o] + COLUMNS - 5 * o] = mpnum_from_bits_f32(F32_INFINITY);
      src[places[p]] = -0x1.fffffep127f;
      CHECK(mpnum_finite_amax_rows(&got, mpnum_const_matrix_of(MPNUM_TYPE_F32, src, ROWS,
                                                               COLUMNS)) == MPNUM_OK &&
                bits_of_float(got) == F32_MAX,
            "%s: %d, %d: %a", isa, o, places[p], (double)got);
    }
  for (int i = 0; i < COUNT; ++i)
    src[i] = mpnum_from_bits_f32(F32_INFINITY + (uint32_t)i);
  float none = -1;
  CHECK(mpnum_finite_amax_rows(&none, mpnum_const_matrix_of(MPNUM_TYPE_F32, src, ROWS,
                                                            COLUMNS)) == MPNUM_OK &&
            bits_of_float(none) == 0,
        "%s: of none: %a", isa, (double)none);
}
static void finite_amaxes_pass_over_nan_and_inf(void) {
  const mpnum_isa before = isa_in_use();
  for (size_t k = 0; k < ISAS; ++k)
    if (force_isa(isas[k]) == MPNUM_OK) check_finite_amax(mpnum_isa_name(isas[k]));
  force_isa(before);
}

/* Codes of a block of one row that begins with some numbers; zeros follow. */
static void check_codes(const char *name, const float *values, int count,
                        uint32_t tensor_scale, uint32_t scale, const uint32_t *codes) {
  const block_format *format = format_named(name);
  uint32_t src[32] = {0};
  block_words words = allocate_words(format, 1, 16);
  for (int i = 0; i < count; ++i)
    src[i] = bits_of_float(values[i]);
  quantize_here(&words, format, src, tensor_scale);
  CHECK(words.scales[0] == scale, "%s: scale %" PRIx32 ", want %" PRIx32, name,
        words.scales[0], scale);
  for (int i = 0; i < count; ++i)
    CHECK(words.codes[i] == codes[i], "%s: %a: got %" PRIx32 ", want %" PRIx32, name,
          (double)values[i], words.codes[i], codes[i]);
  free_words(words);
}

static void ties_of_e2m1_go_to_even(void) {
  static const float values[] = {6,    0.25f, 0.75f, 1.25f, 1.75f,
                                 2.5f, 3.5f,  5,     -5,    -0.25f};
  static const uint32_t codes[] = {7, 0, 2, 2, 4, 4, 6, 6, 0xe, 8};
  check_codes("mx e2m1 RCEIL", values, 10, F32_ONE, 127, codes);
  /* S is 448 and d 448: the elements are the values. */
  check_codes("nvfp4 1x16", values, 10, bits_of_float(448), 0x7e, codes);
}

/* Regressions seen elsewhere. */

static void elements_are_divided_by_the_scale_as_stored(void) {
  /* 0.1 * 448 is rounded to d = 44. 0.0825 is 5.04 times d / S, and so 6; it would
   * be 4.95 times the scale before rounding, and so 4. */
  static const float values[] = {0.1f, 0.0825f};
  static const uint32_t codes[] = {7, 7};
  /* 1/448 becomes 2^-8: 1 is 256 of it, not 448. */
  static const float one[] = {1};
  static const uint32_t code_of_256[] = {0x78}, code_of_448[] = {0x7e};
  check_codes("nvfp4 1x16", values, 2, bits_of_float(2688), 0x63, codes);
  check_codes("deepseek 1x128 pow2", one, 1, F32_ONE, bits_of_float(0x1p-8f),
              code_of_256);
  check_codes("deepseek 1x128", one, 1, F32_ONE, bits_of_float(1.0f / 448), code_of_448);
}

static void exponents_are_no_rounded_logarithms(void) {
  /* log2f of the float below a power of two is that power's. */
  for (uint32_t field = 16; field < 254; ++field) {
    const uint32_t below = (field << 23) - 1, above = (field << 23) + 1;
    const uint32_t floor_below = scale_of("mx e4m3 FLOOR", below, F32_ONE);
    const uint32_t ceil_above = scale_of("mx e4m3 CEIL", above, F32_ONE);
    CHECK(floor_below == field - 9, "%08x: FLOOR %u", below, floor_below);
    CHECK(ceil_above == field - 7, "%08x: CEIL %u", above, ceil_above);
  }
}

static const uint32_t nonfinite[] = {0x7f800000, 0xff800000, 0x7f800001, 0xff800001,
                                     0x7fc00000, 0xffffffff, 0x7fbfffff, 0xffc12345};

static void one_nan_or_inf_marks_its_block_and_no_other(void) {
  for (int f = 0; f < format_count; ++f) {
    const block_format *format = &formats[f];
    const size_t width = format->format.columns ? format->format.columns : 20;
    const size_t columns = format->format.columns ? 3 * width - 1 : width;
    uint32_t *src = (uint32_t *)allocate(columns * 4);
    uint64_t state = 7;
    fill_random(src, columns, -3, 6, &state);
    for (size_t at = 0; at < columns; at += at < 40 || at + 40 > columns ? 1 : 13) {
      const uint32_t before = src[at];
      src[at] = nonfinite[at % 8];
      check_against_reference(format, src, 1, columns,
                              tensor_scale_of(format, src, columns));
      src[at] = before;
    }
    free(src);
  }
}

static void no_finite_block_becomes_nan(void) {
  static const uint32_t magnitudes[] = {F32_MAX,    0x7f7ffffe, 0x7f700000, 0x7f780000,
                                        0x7f7c0000, 0x7f000000, 0x7effffff};
  for (int f = 0; f < format_count; ++f)
    for (size_t i = 0; i < sizeof magnitudes / sizeof magnitudes[0]; ++i) {
      const block_format *format = &formats[f];
      uint32_t src[64];
      block_words words = allocate_words(format, 1, 64);
      for (int k = 0; k < 64; ++k)
        src[k] = k % 3 ? magnitudes[i] | (uint32_t)k << 31 : (uint32_t)k << 20;
      quantize_here(&words, format, src, tensor_scale_of(format, src, 64));
      for (size_t k = 0; k < words.blocks; ++k) {
        const uint32_t value = ref_scale_value(&format->reference, words.scales[k]);
        CHECK(value < F32_INFINITY, "%s of %08" PRIx32 ": scale %" PRIx32, format->name,
              magnitudes[i], words.scales[k]);
      }
      for (size_t k = 0; k < 64; ++k)
        CHECK(format->format.is_int8 ||
                  mpnum_isfinite(format->format.element, words.codes[k]),
              "%s of %08" PRIx32 ": code %" PRIx32, format->name, magnitudes[i],
              words.codes[k]);
      check_against_reference(format, src, 1, 64, tensor_scale_of(format, src, 64));
      free_words(words);
    }
}

static void a_block_has_the_scale_of_its_own_amax(void) {
  /* Each block has another amax, larger and smaller ones beside it, one row at a time and
   * where the stride is wider than the matrix, with the largest float in between. */
  for (int f = 0; f < format_count; ++f) {
    const block_format *format = &formats[f];
    enum { ROWS = 5, COLUMNS = 300, STRIDE = 317 };
    static uint32_t dense[ROWS * COLUMNS], strided[ROWS * STRIDE];
    block_words got = allocate_words(format, ROWS, COLUMNS);
    block_words want = allocate_words(format, ROWS, COLUMNS);
    mpnum_blockscaled blocks;
    uint32_t tensor_scale = 0;
    mpnum_const_matrix rows =
        mpnum_const_matrix_of(MPNUM_TYPE_F32, strided, ROWS, COLUMNS);
    for (size_t i = 0; i < ROWS * STRIDE; ++i)
      strided[i] = F32_MAX;
    for (size_t i = 0; i < ROWS * COLUMNS; ++i) {
      const uint32_t row = (uint32_t)(i / COLUMNS), column = (uint32_t)(i % COLUMNS);
      dense[i] = (90 + (column * 7 + row * 31) % 60) << 23 | (uint32_t)i << 31 |
                 (column * 12345 & 0x7fffff);
      strided[row * STRIDE + column] = dense[i];
    }
    tensor_scale = tensor_scale_of(format, dense, ROWS * COLUMNS);
    quantize_there(&want, format, dense, tensor_scale);
    blocks = allocate_blocks(format, ROWS, COLUMNS, 0, tensor_scale);
    rows.stride = STRIDE;
    CHECK(mpnum_quantize_blocks(&format->format, blocks, rows, NULL, NULL) == MPNUM_OK,
          "%s", format->name);
    read_words(&got, format, blocks);
    check_words(format->name, &got, &want, dense);
    free_blocks(blocks);
    free_words(got);
    free_words(want);
  }
}

/* Boundaries against the reference: rows of one block each. */

enum { WIDTH = 128, ROWS_ROOM = 4096 };
static uint32_t batch[ROWS_ROOM * WIDTH];
static size_t batch_rows;
static size_t batch_width; /* of a block */

static uint32_t *next_row(void) {
  if (batch_rows == ROWS_ROOM) abort();
  return (uint32_t *)memset(&batch[batch_rows++ * batch_width], 0, batch_width * 4);
}
/* A block for each row of the batch in one matrix, each alone where that cannot be. Where
 * there is a scale of the tensor, with scales of every kind, and some rows with the one
 * made for them. */
static void check_batch(const block_format *format) {
  static const uint32_t scales[10] = {0x45280000 /* 2688 */,
                                      0x3eaaaaab,
                                      0x04fc0000,
                                      0x00800000,
                                      0x7f000000,
                                      F32_MAX,
                                      F32_ONE,
                                      0x007fffff,
                                      0x42f6e979,
                                      1};
  const int is_two_level = format->reference.rule == REF_TWO_LEVEL;
  for (size_t k = 0; k < (is_two_level ? SCALES : 1); ++k) {
    if (format->reference.rows == 1)
      check_against_reference(format, batch, batch_rows, batch_width, scales[k]);
    else if (format->reference.columns)
      check_against_reference(format, batch, 1, batch_rows * batch_width, scales[k]);
    else
      for (size_t row = 0; row < batch_rows; row += SOME)
        check_against_reference(format, batch + row * batch_width, 1, batch_width,
                                scales[k]);
  }
  for (size_t row = 0; is_two_level && row < batch_rows; row += 3 * SOME) {
    const uint32_t *src = batch + row * batch_width;
    check_against_reference(format, src, 1, batch_width,
                            tensor_scale_of(format, src, batch_width));
  }
}
/* Wide blocks of one row may be short ones. */
static void begin_batch(const block_format *format) {
  batch_rows = 0;
  batch_width = format->format.columns ? format->format.columns : 33;
  if (SOME > 1 && format->format.rows == 1 && batch_width > 33) batch_width = 33;
}

static void blocks_of_zeros_and_one_number(void) {
  static const uint32_t values[] = {F32_ONE,    1,          F32_MAX,    0x00800000,
                                    0x007fffff, 0x3f7fffff, 0x40e00000, 0xc2fe0000};
  for (int f = 0; f < format_count; ++f) {
    begin_batch(&formats[f]);
    next_row();
    for (size_t i = 0, n = batch_width; i < n; ++i)
      batch[i] = F32_SIGN; /* -0 */
    for (int kind = 0; kind < 2; ++kind) {
      uint32_t *row = next_row();
      for (size_t i = 0; i < batch_width; ++i)
        row[i] = kind && i % 2 ? F32_SIGN : 0;
    }
    for (size_t at = 0; at < batch_width; ++at) {
      uint32_t *row = next_row();
      row[at] = values[at % 8];
      row = next_row();
      row[at] = values[(at + 3) % 8] | F32_SIGN;
      row[at / 2] |= F32_SIGN; /* a -0 or the same */
    }
    for (int k = 0; k < 8; ++k) {
      uint32_t *row = next_row();
      for (size_t i = 0; i < batch_width; ++i)
        row[i] = values[k] ^ (uint32_t)i << 31;
    }
    check_batch(&formats[f]);
  }
}

/* A finite f32 times a power of two, or 0 if that is none. */
static uint32_t shifted(uint64_t value, int exponent) {
  uint32_t bits = 0;
  const uint64_t moved = value ? value + ((uint64_t)(int64_t)exponent << 52) : 0;
  return ref_narrow(moved, &bits) ? bits : 0;
}

static void every_tie_of_the_elements(void) {
  static const int exponents[] = {0, -1, 3, 50, -60};
  for (int f = 0; f < format_count; ++f) {
    const ref_format *element = &formats[f].reference.element;
    for (size_t k = 0; k < sizeof exponents / sizeof exponents[0]; ++k) {
      uint32_t *row = NULL;
      size_t at = 0;
      begin_batch(&formats[f]);
      for (uint32_t code = 0; code <= element->max_code; ++code)
        for (int beside = -1; beside <= 1; ++beside) {
          const uint32_t tie = shifted(ref_midpoint(element, code), exponents[k]);
          const uint32_t value = shifted(ref_value(element, code), exponents[k]);
          if (tie == 0) continue;
          if (!row || at + 2 > batch_width) {
            row = next_row();
            row[0] = shifted(ref_value(element, element->max_code), exponents[k]);
            at = batch_width > 2;
          }
          row[at++] = (tie + (uint32_t)beside) ^ (uint32_t)(code + k) << 31;
          if (at < batch_width)
            row[at++] = (value ? value + (uint32_t)beside : 0) | (uint32_t)beside << 31;
        }
      if (batch_rows) check_batch(&formats[f]);
    }
  }
}

static void amax_at_every_power_of_two(void) {
  for (int f = 0; f < format_count; ++f) {
    const ref_format *element = &formats[f].reference.element;
    const uint32_t max_mantissa =
        shifted(ref_value(element, element->max_code), 0) & 0x7fffff;
    const int mantissa_bits =
        formats[f].format.is_int8 ? 6 : formats[f].reference.element.mantissa_bits;
    begin_batch(&formats[f]);
    for (uint32_t field = 0; field<256; field += batch_width> 33 ? SOME : 1)
      for (int i = 0; i < 9; ++i) {
        const uint32_t mantissas[] = {
            0, max_mantissa, UINT32_C(0x800000) - (UINT32_C(1) << (22 - mantissa_bits))};
        const uint32_t amax = (field << 23) + mantissas[i / 3] + (uint32_t)(i % 3) - 1;
        uint32_t *row = NULL;
        if (amax - 1 >= F32_INFINITY - 1 || (i > 2 && field % SOME)) continue;
        row = next_row();
        for (size_t at = 0; at < batch_width; ++at) {
          /* Each with the sign and the magnitude of amax, or below it by some steps. */
          const uint32_t less = (uint32_t)at * 0x00134567u & 0x03ffffffu;
          row[at] = (amax > less ? amax - less : amax >> (at % 24)) | (uint32_t)at << 31;
        }
      }
    check_batch(&formats[f]);
  }
}

static void subnormals_keep_their_bits(void) {
  for (int f = 0; f < format_count; ++f) {
    uint64_t state = 3;
    begin_batch(&formats[f]);
    for (int k = 0; k < 48; ++k) {
      uint32_t *row = next_row();
      for (size_t i = 0; i < batch_width; ++i)
        row[i] = (uint32_t)random_bits(&state) & (F32_SIGN | UINT32_C(0xffffff) >> k / 2);
    }
    check_batch(&formats[f]);
  }
}

static void random_matrices(void) {
  uint64_t state = 11;
  for (int f = 0; f < format_count; ++f)
    for (int k = 0; k < MATRICES; ++k) {
      const size_t rows = 1 + (size_t)k * 43 % 130, columns = 1 + (size_t)k * 129 % 300;
      const int exponents = k % 2 ? 250 : 12;
      uint32_t *src = (uint32_t *)allocate(rows * columns * 4);
      fill_random(src, rows * columns, k % 2 ? -126 : -8, exponents, &state);
      check_against_reference(&formats[f], src, rows, columns,
                              tensor_scale_of(&formats[f], src, rows * columns));
      free(src);
    }
}

/* Words of random bits go to elements by their place in the source. */
static void stochastic_rounding_is_the_reference_s(void) {
  uint64_t state = 12;
  for (int f = 0; f < format_count; ++f) {
    block_format format = formats[f];
    enum { ROWS = 9, COLUMNS = 150 };
    static uint32_t src[ROWS * COLUMNS];
    if (format.format.is_int8) continue; /* has no stochastic rounding */
    format.format.rounding = MPNUM_ROUND_STOCHASTIC;
    fill_random(src, ROWS * COLUMNS, -8, 12, &state);
    for (int k = 0; k < 4; ++k) {
      static const int bits[] = {11, 31, 7};
      if (k > 0) set_few_bits(&format, "ABC"[k - 1], bits[k - 1]);
      check_against_reference(&format, src, ROWS, COLUMNS,
                              tensor_scale_of(&format, src, ROWS * COLUMNS));
    }
  }
}

/* Codes and scales of any kind, those that quantising never gives, too: a row of a block
 * for each scale. Inf under a scale of zero is left out: a NaN of the machine's choice.
 */
static const uint32_t f32_scales[] = {1,          0x007fffff, 0x00800000, 0x0b924925,
                                      0x3b124925, F32_ONE,    0x3f800001, 0x7f000000,
                                      F32_MAX,    0x7fc00000, 0x7fffffff};
enum {
  F32_SCALES = sizeof f32_scales / sizeof f32_scales[0],
  SCALE_STEP = SOME > 1 ? 5 : 1
};
static void fill_any_words(const block_format *format, block_words *words,
                           uint32_t first_code) {
  const size_t width = words->columns / words->blocks;
  const int has_infinity = format->reference.element.infinity_code != 0;
  for (uint32_t k = 0; k < words->blocks; ++k) {
    const uint32_t code = (255 - k * SCALE_STEP) & 255;
    words->scales[k] = scale_size(&format->format) == 4    ? f32_scales[k]
                       : (code & 127) == 0 && has_infinity ? 1
                                                           : code;
  }
  for (size_t i = 0; i < words->columns; ++i)
    words->codes[i] =
        (first_code + (uint32_t)(i % width)) & element_mask(&format->format);
}
static void check_any_words(const block_format *format) {
  const size_t width = format->format.columns;
  const size_t blocks =
      scale_size(&format->format) == 4 ? F32_SCALES : 255 / SCALE_STEP + 1;
  block_words words = allocate_words(format, 1, width * blocks);
  uint32_t *want = (uint32_t *)allocate(width * blocks * 4);
  for (uint32_t first = 0; first <= element_mask(&format->format);
       first += (uint32_t)width) {
    fill_any_words(format, &words, first);
    ref_dequantize(&format->reference, want, words.codes, words.scales, 1, words.columns,
                   0x45280000);
    for (size_t k = 0; k < ISAS; ++k)
      if (force_isa(isas[k]) == MPNUM_OK)
        check_values(format->name, format, &words, want, 0x45280000);
  }
  free_words(words);
  free(want);
}
static void every_code_under_every_scale(void) {
  for (int f = 0; f < format_count; ++f)
    if (formats[f].format.columns) check_any_words(&formats[f]);
}

/* The scalars, too, whatever the environment: the bits of nearest. */
static void scales_are_those_of_nearest_in_every_environment(void) {
  enum { AMAXES = 400 };
  static uint32_t amaxes[AMAXES], tensors[AMAXES], want[FORMATS_ROOM][AMAXES];
  static uint32_t got[FORMATS_ROOM][AMAXES], got_tensors[AMAXES];
  uint64_t words[CONTROL_WORDS], random = 8;
  const int count = all_control_words(words);
  const uint64_t before = control_word();
  for (int i = 0; i < AMAXES; ++i) {
    amaxes[i] = i < 255 ? (uint32_t)i << 23 : (uint32_t)random_bits(&random) & F32_MAX;
    if (i % 3 == 1) amaxes[i] |= (uint32_t)random_bits(&random) & 0x7fffffu;
    tensors[i] =
        amaxes[i] < F32_INFINITY ? ref_tensor_scale(amaxes[i], F32_SIX) : F32_ONE;
  }
  amaxes[0] = 0x40a00000;  /* 5 */
  tensors[0] = 0x44066666; /* 0x1.0cccccp+9 */
  amaxes[1] = 0x44e00000;  /* 1792: 81 by RCEIL of e4m3 */
  tensors[1] = ref_tensor_scale(amaxes[1], F32_SIX);
  for (int f = 0; f < format_count; ++f)
    for (int i = 0; i < AMAXES; ++i)
      want[f][i] = ref_block_scale(
          &formats[f].reference, amaxes[i],
          formats[f].reference.rule == REF_TWO_LEVEL ? tensors[AMAXES - 1 - i] : F32_ONE);
  for (int k = 0; k < count; ++k) {
    set_control_word(words[k]);
    for (int i = 0; i < AMAXES; ++i) {
      const float amax = mpnum_from_bits_f32(amaxes[i]);
      got_tensors[i] = mpnum_bits_f32(mpnum_nvfp4_scale(amax));
      for (int f = 0; f < format_count; ++f)
        got[f][i] = mpnum_blockscale_scale(&formats[f].format, amax,
                                           mpnum_from_bits_f32(tensors[AMAXES - 1 - i]));
    }
    set_control_word(before);
    for (int i = 0; i < AMAXES; ++i) {
      CHECK(got_tensors[i] == tensors[i],
            "environment %d: S of %08" PRIx32 ": %08" PRIx32, k, amaxes[i],
            got_tensors[i]);
      for (int f = 0; f < format_count; ++f)
        CHECK(got[f][i] == want[f][i],
              "environment %d: %s of %08" PRIx32 ": got %" PRIx32 ", want %" PRIx32, k,
              formats[f].name, amaxes[i], got[f][i], want[f][i]);
    }
  }
}

int main(void) {
  const mpnum_isa best = isa_in_use();
  add_block_formats();
  TAP_RUN(golden_scales_of_mx);
  TAP_RUN(golden_scales_of_nvfp4);
  TAP_RUN(finite_amaxes_pass_over_nan_and_inf);
  TAP_RUN(ties_of_e2m1_go_to_even);
  TAP_RUN(elements_are_divided_by_the_scale_as_stored);
  TAP_RUN(exponents_are_no_rounded_logarithms);
  TAP_RUN(scales_are_those_of_nearest_in_every_environment);
  add_user_formats();
  TAP_RUN(one_nan_or_inf_marks_its_block_and_no_other);
  TAP_RUN(no_finite_block_becomes_nan);
  TAP_RUN(a_block_has_the_scale_of_its_own_amax);
  TAP_RUN(blocks_of_zeros_and_one_number);
  TAP_RUN(every_tie_of_the_elements);
  TAP_RUN(amax_at_every_power_of_two);
  TAP_RUN(subnormals_keep_their_bits);
  TAP_RUN(random_matrices);
  TAP_RUN(stochastic_rounding_is_the_reference_s);
  TAP_RUN(every_code_under_every_scale);
  force_isa(best);
  report_isas();
  return tap_done();
}
