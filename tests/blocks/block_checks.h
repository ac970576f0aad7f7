/* SPDX-License-Identifier: MIT */
/* What the tests of blockscale.h share: every preset beside the same format of the slow
 * reference, and a matrix of f32 bits quantised by both. Include it after _GNU_SOURCE is
 * defined. */
#ifndef MPNUM_TESTS_BLOCK_CHECKS_H
#define MPNUM_TESTS_BLOCK_CHECKS_H

#include "../reference/block_reference.h"
#include "../rows/row_checks.h"

#include <mpnum/blocks/blockscale.h>
#include <mpnum/types/preset.h>

#define F32_SIGN     UINT32_C(0x80000000)
#define F32_INFINITY UINT32_C(0x7f800000)
#define F32_MAX      UINT32_C(0x7f7fffff)
#define F32_ONE      UINT32_C(0x3f800000)
#define F32_SIX      UINT32_C(0x40c00000)

typedef struct block_format {
  char name[64];
  mpnum_blockscale_format format;
  ref_blocks reference;
  char variant; /* of stochastic rounding by so many bits, 0: by 32 */
  int bits;
} block_format;
enum { FORMATS_ROOM = 64 };
static block_format formats[FORMATS_ROOM];
static int format_count;

static inline block_format *add_block_format(const char *name,
                                             mpnum_blockscale_format format,
                                             ref_format element, ref_rule rule) {
  block_format *made = &formats[format_count++];
  if (format_count > FORMATS_ROOM) abort();
  memset(&made->reference, 0, sizeof made->reference);
  snprintf(made->name, sizeof made->name, "%s", name);
  made->format = format;
  made->reference.element = element;
  made->reference.is_int8 = format.is_int8;
  made->reference.rule = rule;
  made->reference.rows = format.rows;
  made->reference.columns = format.columns;
  memcpy(&made->reference.amax_floor, &format.amax_floor, 4);
  return made;
}

static inline void add_mx_formats(void) {
  static const mpnum_type elements[] = {MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2, MPNUM_TYPE_E3M2,
                                        MPNUM_TYPE_E2M3, MPNUM_TYPE_E2M1};
  static const char *const rules[] = {"FLOOR", "CEIL", "EVEN", "RCEIL"};
  for (int rule = 0; rule < 4; ++rule) {
    char name[64];
    for (int i = 0; i < 5; ++i) {
      const char *element = mpnum_type_name(elements[i]);
      snprintf(name, sizeof name, "mx %s %s", element, rules[rule]);
      add_block_format(name,
                       mpnum_blockscale_mx(elements[i], (mpnum_blockscale_rule)rule),
                       *ref_format_named(element), (ref_rule)rule);
    }
    snprintf(name, sizeof name, "mx int8 %s", rules[rule]);
    add_block_format(name, mpnum_blockscale_mx_int8((mpnum_blockscale_rule)rule),
                     ref_int8((ref_rule)rule), (ref_rule)rule);
  }
}

/* All presets, and the forms that their fields make of them. */
static inline void add_block_formats(void) {
  const ref_format e2m1 = *ref_format_named("e2m1"), e4m3 = *ref_format_named("e4m3");
  mpnum_blockscale_format format;
  if (format_count) return;
  add_mx_formats();
  add_block_format("nvfp4 1x16", mpnum_blockscale_nvfp4_1x16(), e2m1, REF_TWO_LEVEL);
  add_block_format("nvfp4 16x16", mpnum_blockscale_nvfp4_16x16(), e2m1, REF_TWO_LEVEL);
  for (int i = 0; i < 3; ++i) {
    const mpnum_type type = i == 1 ? MPNUM_TYPE_UE4M3 : MPNUM_TYPE_UE5M3;
    char name[64];
    format = i == 2 ? mpnum_blockscale_nvfp4_16x16() : mpnum_blockscale_nvfp4_1x16();
    format.scale_type = type;
    snprintf(name, sizeof name, "nvfp4 %zux16 %s", format.rows, mpnum_type_name(type));
    add_block_format(name, format, e2m1, REF_TWO_LEVEL)->reference.scale =
        mpnum_type_name(type);
  }
  for (size_t rows = 1; rows <= 128; rows += 127) {
    format = rows == 1 ? mpnum_blockscale_fp8_1x128() : mpnum_blockscale_fp8_128x128();
    add_block_format(rows == 1 ? "deepseek 1x128" : "deepseek 128x128", format, e4m3,
                     REF_AMAX);
    format.rule = MPNUM_BLOCKSCALE_AMAX_POW2;
    add_block_format(rows == 1 ? "deepseek 1x128 pow2" : "deepseek 128x128 pow2", format,
                     e4m3, REF_AMAX_POW2);
  }
  format = mpnum_blockscale_fp8_1x128();
  format.amax_floor = 1e-4f;
  add_block_format("deepseek 1x128 floor", format, e4m3, REF_AMAX);
  add_block_format("int8 rows", mpnum_blockscale_int8_row(), ref_int8(REF_AMAX),
                   REF_AMAX);
  add_block_format("int8 tensor", mpnum_blockscale_int8_tensor(), ref_int8(REF_AMAX),
                   REF_AMAX);
}

/* Formats of the user's own, with blocks of odd sizes; the last one, which no loop
 * decodes, in dense codes. */
static inline void add_user_formats(void) {
  static const struct {
    int exponent_bits, mantissa_bits, bias;
    mpnum_specials specials;
    ref_specials reference;
  } shapes[] = {{3, 4, 3, MPNUM_SPECIALS_IEEE, REF_SPECIALS_IEEE},
                {4, 3, 8, MPNUM_SPECIALS_FNUZ, REF_SPECIALS_FNUZ},
                {5, 2, 15, MPNUM_SPECIALS_P3109, REF_SPECIALS_P3109},
                {3, 0, 3, MPNUM_SPECIALS_FINITE, REF_SPECIALS_FINITE},
                {1, 6, 1, MPNUM_SPECIALS_FINITE, REF_SPECIALS_FINITE},
                {4, 3, 4, MPNUM_SPECIALS_FN, REF_SPECIALS_FN},
                {2, 3, -4, MPNUM_SPECIALS_FINITE, REF_SPECIALS_FINITE},
                {5, 0, 10, MPNUM_SPECIALS_FINITE, REF_SPECIALS_FINITE}};
  static const struct {
    size_t rows, columns;
  } sizes[] = {{1, 32}, {3, 5}, {7, 1}, {0, 17}, {2, 0}};
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i) {
    const ref_format element =
        ref_format_make(1, shapes[i].exponent_bits, shapes[i].mantissa_bits,
                        shapes[i].bias, shapes[i].reference);
    mpnum_blockscale_format format =
        mpnum_blockscale_mx(MPNUM_TYPE_E4M3, (mpnum_blockscale_rule)(i % 4));
    char name[64];
    if (mpnum_format_init(&format.element, 1, shapes[i].exponent_bits,
                          shapes[i].mantissa_bits, shapes[i].bias, shapes[i].specials))
      abort();
    if (shapes[i].exponent_bits == 5 && shapes[i].mantissa_bits == 0)
      format.element_bits = 6;
    format.rows = sizes[i % 5].rows;
    format.columns = sizes[i % 5].columns;
    snprintf(name, sizeof name, "user %zu", i);
    add_block_format(name, format, element, (ref_rule)(i % 4));
    format.rule = i % 2 ? MPNUM_BLOCKSCALE_AMAX : MPNUM_BLOCKSCALE_AMAX_POW2;
    format.scale_type = MPNUM_TYPE_F32;
    snprintf(name, sizeof name, "user %zu by amax", i);
    add_block_format(name, format, element, i % 2 ? REF_AMAX : REF_AMAX_POW2);
    format.rule = MPNUM_BLOCKSCALE_TWO_LEVEL;
    format.scale_type = i % 3 == 1 ? MPNUM_TYPE_UE5M3 : MPNUM_TYPE_E4M3;
    snprintf(name, sizeof name, "user %zu of two levels", i);
    add_block_format(name, format, element, REF_TWO_LEVEL)->reference.scale =
        mpnum_type_name(format.scale_type);
  }
}

/* How many elements begin at a byte's first bit. */
static inline size_t at_a_byte(const mpnum_blockscale_format *format, size_t columns) {
  const size_t unit = format->element_bits == 4 ? 2 : format->element_bits == 6 ? 4 : 1;
  return (columns + unit - 1) / unit * unit;
}
static inline size_t scale_size(const mpnum_blockscale_format *format) {
  return format->scale_type == MPNUM_TYPE_F32 ? 4 : 1;
}
static inline uint32_t element_mask(const mpnum_blockscale_format *format) {
  return (UINT32_C(1) << format->element_bits) - 1;
}

/* What quantising gives, a word for each code and scale. */
typedef struct block_words {
  uint32_t *codes, *scales;
  size_t rows, columns, blocks;
  ref_losses losses;
  mpnum_status status;
} block_words;
static inline block_words allocate_words(const block_format *format, size_t rows,
                                         size_t columns) {
  block_words words;
  memset(&words, 0, sizeof words);
  words.rows = rows;
  words.columns = columns;
  words.blocks = ref_block_count(&format->reference, rows, columns);
  words.codes = (uint32_t *)allocate(rows * columns * 4);
  words.scales = (uint32_t *)allocate(words.blocks * 4);
  return words;
}
static inline void free_words(block_words words) {
  free(words.codes);
  free(words.scales);
}

/* The same in memory, as the library takes it, and back. */
static inline mpnum_blockscaled allocate_blocks(const block_format *format, size_t rows,
                                                size_t columns, int is_swizzled,
                                                uint32_t tensor_scale) {
  mpnum_blockscaled made;
  memset(&made, 0, sizeof made);
  made.stride = at_a_byte(&format->format, columns);
  made.codes = allocate(bytes_of(format->format.element_bits, rows * made.stride));
  made.scale_inv_bytes =
      mpnum_blockscale_scale_bytes(&format->format, rows, columns, is_swizzled);
  made.scale_inv = allocate(made.scale_inv_bytes);
  made.is_swizzled = is_swizzled;
  memcpy(&made.scale, &tensor_scale, 4);
  return made;
}
static inline void free_blocks(mpnum_blockscaled blocks) {
  free(blocks.codes);
  free(blocks.scale_inv);
}
static inline size_t blocks_in_a_row(const block_format *format, size_t columns) {
  const size_t width = format->format.columns;
  return width ? (columns + width - 1) / width : columns != 0;
}
/* Where the scale of a block lies, from the drawing in cuBLASLt's documentation: tiles of
 * 128 rows and 4 columns, 32 rows of 16 bytes, each with rows r, r + 32, r + 64, r + 96.
 */
static inline size_t swizzled_place(size_t row, size_t block, size_t in_a_row) {
  const size_t tiles_in_a_row = (in_a_row + 3) / 4;
  const size_t tile = row / 128 * tiles_in_a_row + block / 4;
  const size_t line = row % 32, group = row / 32 % 4;
  return tile * 512 + line * 16 + group * 4 + block % 4;
}
static inline size_t scale_place(const block_format *format, size_t k, size_t rows,
                                 size_t columns, int is_swizzled) {
  const size_t in_a_row = blocks_in_a_row(format, columns);
  const size_t high = format->format.rows;
  const size_t row = k / in_a_row, block = k % in_a_row;
  if (!is_swizzled) return k;
  if (high == 1) return swizzled_place(row, block, in_a_row);
  if (format->format.columns == 1) /* the transposed operand's */
    return swizzled_place(block, row, (rows + high - 1) / high);
  return swizzled_place(row * high, block, in_a_row); /* a square's first row */
}
/* Presets that hardware multiplies: MX but for int8, NVFP4. */
static inline int is_multiplied(const mpnum_blockscale_format *format) {
  const size_t rows = format->rows, columns = format->columns;
  const size_t along = format->scale_type == MPNUM_TYPE_E8M0 ? 32 : 16;
  if (format->scale_type == MPNUM_TYPE_F32 || format->scale_type == MPNUM_TYPE_UE5M3 ||
      format->is_int8)
    return 0;
  if (along == 16 && rows == 16 && columns == 16) return 1;
  return (rows == 1 && columns == along) || (rows == along && columns == 1);
}
static inline void read_words(block_words *words, const block_format *format,
                              mpnum_blockscaled blocks) {
  const size_t size = scale_size(&format->format);
  for (size_t i = 0; i < words->rows * words->columns; ++i)
    words->codes[i] =
        (uint32_t)get_element(format->format.element_bits, blocks.codes,
                              i / words->columns * blocks.stride + i % words->columns);
  for (size_t k = 0; k < words->blocks; ++k) {
    const uint8_t *at =
        (const uint8_t *)blocks.scale_inv +
        size * scale_place(format, k, words->rows, words->columns, blocks.is_swizzled);
    words->scales[k] = *at;
    if (size == 4) memcpy(&words->scales[k], at, 4);
  }
}
static inline void write_words(const block_words *words, const block_format *format,
                               mpnum_blockscaled blocks) {
  const size_t size = scale_size(&format->format);
  for (size_t i = 0; i < words->rows * words->columns; ++i)
    set_element(format->format.element_bits, blocks.codes,
                i / words->columns * blocks.stride + i % words->columns, words->codes[i]);
  for (size_t k = 0; k < words->blocks; ++k) {
    uint8_t *at =
        (uint8_t *)blocks.scale_inv +
        size * scale_place(format, k, words->rows, words->columns, blocks.is_swizzled);
    if (size == 4) memcpy(at, &words->scales[k], 4);
    if (size == 1) *at = (uint8_t)words->scales[k];
  }
}

static inline uint32_t largest_magnitude(const uint32_t *src, size_t n) {
  uint32_t amax = 0;
  for (size_t i = 0; i < n; ++i) {
    const uint32_t magnitude = src[i] & ~F32_SIGN;
    if (magnitude < F32_INFINITY && magnitude > amax) amax = magnitude;
  }
  return amax;
}
static inline uint32_t largest_element(const block_format *format) {
  const ref_format *element = &format->reference.element;
  uint32_t bits = 0;
  ref_narrow(ref_value(element, element->max_code), &bits);
  return bits;
}
/* The scale of the tensor that a format of two levels wants for a matrix; 1 for others.
 */
static inline uint32_t tensor_scale_of(const block_format *format, const uint32_t *src,
                                       size_t n) {
  if (format->reference.rule != REF_TWO_LEVEL) return F32_ONE;
  return ref_tensor_scale(largest_magnitude(src, n), largest_element(format));
}

static const mpnum_quantize_options block_seed = {UINT64_C(0x123456789), 5};
/* The number of 32 bits that moves what the upper bits of a word do by a variant: that
 * number over 2^bits, for B a half more; for C, which a tie moves to an even number, less
 * than any f32 tells from it if that number is odd. */
static inline uint32_t number_of_word(const block_format *format, uint32_t word) {
  const uint32_t gap = format->bits ? UINT32_C(1) << (32 - format->bits) : 1;
  const uint32_t half = format->variant > 'A' ? gap / 2 : 0;
  return word / gap * gap + half - (format->variant == 'C' && word / gap % 2 != 0);
}
static inline void set_few_bits(block_format *format, char variant, int bits) {
  format->variant = variant;
  format->bits = bits;
  format->format.rounding = mpnum_rounding_stochastic(variant, bits);
}
static inline uint32_t *random_words(const block_format *format, size_t n) {
  uint32_t *words = (uint32_t *)allocate(n * 4);
  for (size_t i = 0; i < n; ++i)
    words[i] =
        number_of_word(format, mpnum_random(block_seed.seed, block_seed.offset + i));
  return words;
}

/* By the library, from a dense matrix of f32 bits. */
static inline void quantize_here(block_words *words, const block_format *format,
                                 const uint32_t *src, uint32_t tensor_scale) {
  mpnum_blockscaled blocks =
      allocate_blocks(format, words->rows, words->columns, 0, tensor_scale);
  mpnum_quantize_losses losses;
  memset(&losses, 0, sizeof losses);
  words->status = mpnum_quantize_blocks(
      &format->format, blocks,
      mpnum_const_matrix_of(MPNUM_TYPE_F32, src, words->rows, words->columns),
      &block_seed, &losses);
  read_words(words, format, blocks);
  words->losses.saturated = losses.saturated;
  words->losses.underflowed = losses.underflowed;
  words->losses.nonfinite = losses.nonfinite;
  memcpy(&words->losses.amax, &losses.amax, 4);
  free_blocks(blocks);
}
static inline void quantize_there(block_words *words, const block_format *format,
                                  const uint32_t *src, uint32_t tensor_scale) {
  uint32_t *random = NULL;
  ref_blocks reference = format->reference;
  reference.is_stochastic = format->format.rounding >= MPNUM_ROUND_STOCHASTIC;
  if (reference.is_stochastic)
    random = random_words(format, words->rows * words->columns);
  ref_quantize(&reference, words->codes, words->scales, src, words->rows, words->columns,
               tensor_scale, random, &words->losses);
  for (size_t i = 0; i < words->rows * words->columns; ++i)
    words->codes[i] &= element_mask(&format->format);
  free(random);
}
static inline mpnum_status dequantize_here(uint32_t *dst, const block_words *words,
                                           const block_format *format,
                                           uint32_t tensor_scale) {
  mpnum_blockscaled blocks =
      allocate_blocks(format, words->rows, words->columns, 0, tensor_scale);
  mpnum_status status = MPNUM_OK;
  write_words(words, format, blocks);
  status = mpnum_dequantize_blocks(
      &format->format, mpnum_matrix_of(MPNUM_TYPE_F32, dst, words->rows, words->columns),
      blocks);
  free_blocks(blocks);
  return status;
}

static inline int same_losses(ref_losses a, ref_losses b) {
  return a.saturated == b.saturated && a.underflowed == b.underflowed &&
         a.nonfinite == b.nonfinite && a.amax == b.amax;
}
static inline void check_losses(const char *name, ref_losses got, ref_losses want) {
  CHECK(same_losses(got, want),
        "%s: saturated %" PRIu64 " underflowed %" PRIu64 " nonfinite %" PRIu64
        " amax %08" PRIx32 ", want %" PRIu64 " %" PRIu64 " %" PRIu64 " %08" PRIx32,
        name, got.saturated, got.underflowed, got.nonfinite, got.amax, want.saturated,
        want.underflowed, want.nonfinite, want.amax);
}
/* The first code and the first scale that differ are reported. */
static inline int check_words(const char *name, const block_words *got,
                              const block_words *want, const uint32_t *src) {
  const size_t n = want->rows * want->columns;
  int same = 1;
  for (size_t k = 0; k < want->blocks && same; ++k)
    if (got->scales[k] != want->scales[k]) {
      CHECK(0, "%s: scale of block %zu: got %" PRIx32 ", want %" PRIx32, name, k,
            got->scales[k], want->scales[k]);
      same = 0;
    }
  for (size_t i = 0; i < n; ++i)
    if (got->codes[i] != want->codes[i]) {
      CHECK(0,
            "%s: row %zu column %zu, %08" PRIx32 ": got code %" PRIx32 ", want %" PRIx32,
            name, i / want->columns, i % want->columns, src[i], got->codes[i],
            want->codes[i]);
      return 0;
    }
  return same;
}

/* Dequantises; the first value that differs is reported. */
static inline void check_values(const char *name, const block_format *format,
                                const block_words *words, const uint32_t *want,
                                uint32_t tensor_scale) {
  const size_t n = words->rows * words->columns;
  uint32_t *got = (uint32_t *)allocate(n * 4);
  CHECK(dequantize_here(got, words, format, tensor_scale) == MPNUM_OK, "%s: dequantising",
        name);
  for (size_t i = 0; i < n; ++i) {
    if (got[i] == want[i]) continue;
    CHECK(0,
          "%s: row %zu column %zu, code %" PRIx32 ": got %08" PRIx32 ", want %08" PRIx32,
          name, i / words->columns, i % words->columns, words->codes[i], got[i], want[i]);
    break;
  }
  free(got);
}
/* Quantises and dequantises a matrix with every instruction set of this machine and
 * compares both with the reference, which is slow and so is asked once. */
static inline void check_against_reference(const block_format *format,
                                           const uint32_t *src, size_t rows,
                                           size_t columns, uint32_t tensor_scale) {
  const mpnum_isa before = isa_in_use();
  block_words got = allocate_words(format, rows, columns);
  block_words want = allocate_words(format, rows, columns);
  uint32_t *want_values = (uint32_t *)allocate(rows * columns * 4);
  quantize_there(&want, format, src, tensor_scale);
  ref_dequantize(&format->reference, want_values, want.codes, want.scales, rows, columns,
                 tensor_scale);
  for (size_t k = 0; k < ISAS; ++k) {
    char name[100];
    if (force_isa(isas[k]) != MPNUM_OK) continue;
    snprintf(name, sizeof name, "%s, %s", format->name, mpnum_isa_name(isas[k]));
    quantize_here(&got, format, src, tensor_scale);
    CHECK(got.status == MPNUM_OK, "%s: status %d", name, (int)got.status);
    check_words(name, &got, &want, src);
    check_losses(name, got.losses, want.losses);
    check_values(name, format, &want, want_values, tensor_scale);
  }
  force_isa(before);
  free_words(got);
  free_words(want);
  free(want_values);
}
/* Which instruction sets those were. */
static inline void report_isas(void) {
  const mpnum_isa before = isa_in_use();
  for (size_t k = 0; k < ISAS; ++k) {
    char name[100];
    snprintf(name, sizeof name, "all of it with %s", mpnum_isa_name(isas[k]));
    tap_errors = 0;
    tap_skip_reason = NULL;
    if (force_isa(isas[k]) != MPNUM_OK)
      tap_skip_reason = "not on this machine or not in this build";
    tap_result(name);
  }
  force_isa(before);
}

/* Floats as tensors have them: signs, magnitudes over some binades, a few zeros. */
static inline void fill_random(uint32_t *src, size_t n, int least_exponent, int exponents,
                               uint64_t *state) {
  for (size_t i = 0; i < n; ++i) {
    const uint64_t word = random_bits(state);
    int field = 127 + least_exponent + (int)(word >> 40) % exponents;
    field = field < 0 ? 0 : field > 254 ? 254 : field;
    src[i] = (uint32_t)field << 23 | (uint32_t)(word & 0x807fffff);
    if ((word >> 32 & 31) == 0) src[i] &= F32_SIGN;
    if ((word >> 32 & 3) == 1) src[i] &= UINT32_C(0xfff00000); /* ties */
  }
}

#endif
