/* SPDX-License-Identifier: MIT */
/* Calls of blockscale.h: any shape, stride, type and address against the slow reference,
 * the layout of scales that cuBLASLt reads; what is refused. */
#include "block_checks.h"
#include "../harness/must.h"

#include <stddef.h>

#ifndef TEST_BLOCK_CALLS
# ifdef TEST_ALL_BLOCKS
#  define TEST_BLOCK_CALLS 5000
# else
#  define TEST_BLOCK_CALLS 500
# endif
#endif

/* Without what fills it up. */
enum { LOSSES_BYTES = offsetof(mpnum_quantize_losses, amax) + sizeof(float) };

static uint64_t state = 99;
static size_t below(size_t bound) { return (size_t)(random_bits(&state) % bound); }

/* The arrays of a call, at odd addresses. */
enum { CALL_ARRAYS = 4, ARRAY_BYTES = 1 << 19, MARKED = 0x5c };
static int arrays_used;
static void *output_row(size_t bytes) {
  static uint8_t arrays[CALL_ARRAYS][ARRAY_BYTES];
  if (arrays_used == CALL_ARRAYS || bytes >= ARRAY_BYTES) abort();
  return memset(arrays[arrays_used++] + 1, MARKED, bytes);
}
static void *input_row(const void *contents, size_t bytes) {
  return memcpy(output_row(bytes), contents, bytes);
}

/* One call: a matrix, its formats, where everything lies. */
typedef struct block_call {
  block_format format;
  mpnum_type type; /* of the matrix and of what comes back */
  size_t rows, columns, stride, codes_stride;
  int is_swizzled;
  uint32_t scale;
  uint32_t *src; /* dense f32 bits */
  mpnum_quantize_options options;
} block_call;

static void choose_blocks(block_format *format) {
  static const size_t sizes[] = {0, 1, 2, 3, 4, 8, 12, 16, 20, 32, 33, 64, 100, 128};
  const mpnum_blockscale_format before = format->format;
  do {
    format->format = before;
    format->format.rows = sizes[below(14)];
    format->format.columns = sizes[below(14)];
  } while (mpnum_blockscale_validate(&format->format, NULL) != MPNUM_OK);
  format->reference.rows = format->format.rows;
  format->reference.columns = format->format.columns;
}
/* Of numbers that the type has. */
static void choose_numbers(block_call *call) {
  static const uint32_t rare[] = {0x7f800000, 0xff800000, 0x7fc00000, 0xff800001,
                                  1,          0x80000000, 0x7f7fffff, 0x00800000};
  const ref_format *format = ref_format_named(mpnum_type_name(call->type));
  const size_t n = call->rows * call->columns;
  const int is_rare = below(3) == 0;
  const int least = below(2) ? -8 : -126 + (int)below(240);
  fill_random(call->src, n, least, below(2) ? 10 : 40, &state);
  for (size_t i = 0; i < n; ++i) {
    if (is_rare && below(100) == 0) call->src[i] = rare[below(8)];
    if (call->type != MPNUM_TYPE_F32)
      call->src[i] = ref_decode_f32(format, ref_encode(format, ref_widen(call->src[i]),
                                                       REF_NEAREST_EVEN, REF_IEEE, 0));
  }
}
/* Wide: longer rows than the library reads at once, of blocks for which it reads less. */
static block_call choose_call(int is_wide) {
  static const mpnum_type types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16};
  block_call call;
  memset(&call, 0, sizeof call);
  call.format = formats[below((size_t)format_count)];
  if (is_wide) {
    do
      choose_blocks(&call.format);
    while (call.format.format.rows > 0 && call.format.format.rows < 33);
  } else if (below(3) == 0) {
    choose_blocks(&call.format);
  } else if (below(2)) {
    call.format.format = mpnum_blockscale_transposed(call.format.format);
    if (mpnum_blockscale_validate(&call.format.format, NULL) != MPNUM_OK)
      call.format.format = mpnum_blockscale_transposed(call.format.format);
    call.format.reference.rows = call.format.format.rows;
    call.format.reference.columns = call.format.format.columns;
  }
  call.type = types[below(3)];
  call.rows = 1 + below(below(3) ? 9 : 66);
  call.columns = 1 + below(below(2) ? 40 : 400);
  if (is_wide) {
    call.rows = 33 + below(4);
    call.columns = 2100 + below(40);
  }
  call.stride = call.columns + (below(2) ? below(20) : 0);
  call.codes_stride =
      at_a_byte(&call.format.format, call.columns + (below(2) ? below(20) : 0));
  call.is_swizzled = is_multiplied(&call.format.format) && below(3) == 0;
  if (!call.format.format.is_int8 && below(3) == 0)
    call.format.format.rounding = MPNUM_ROUND_STOCHASTIC;
  if (call.format.format.rounding == MPNUM_ROUND_STOCHASTIC && below(2))
    set_few_bits(&call.format, "ABC"[below(3)], 1 + (int)below(8));
  call.options.seed = random_bits(&state);
  call.options.offset = below(2) ? below(9) : random_bits(&state);
  call.src = (uint32_t *)allocate(call.rows * call.columns * 4);
  choose_numbers(&call);
  call.scale = below(4)
                   ? tensor_scale_of(&call.format, call.src, call.rows * call.columns)
                   : 1 + (uint32_t)below(F32_MAX);
  return call;
}

static size_t extent(size_t rows, size_t columns, size_t stride) {
  return (rows - 1) * stride + columns;
}
static int bits_of_type(mpnum_type type) { return (int)size_of(type) * 8; }

/* What the slow reference makes of it. */
static void expect_words(const block_call *call, block_words *want) {
  const size_t n = call->rows * call->columns;
  ref_blocks reference = call->format.reference;
  uint32_t *random = (uint32_t *)allocate(n * 4);
  for (size_t i = 0; i < n; ++i)
    random[i] =
        number_of_word(&call->format, mpnum_random(call->options.seed,
                                                   call->options.offset +
                                                       i / call->columns * call->stride +
                                                       i % call->columns));
  reference.is_stochastic = call->format.format.rounding >= MPNUM_ROUND_STOCHASTIC;
  ref_quantize(&reference, want->codes, want->scales, call->src, call->rows,
               call->columns, call->scale, random, &want->losses);
  for (size_t i = 0; i < n; ++i)
    want->codes[i] &= element_mask(&call->format.format);
  free(random);
}

/* The bytes between rows; codes of 6 bits are written four at a time. */
static void check_between(const char *name, const uint8_t *data, int bits, size_t rows,
                          size_t columns, size_t stride) {
  for (size_t row = 0; row + 1 < rows; ++row)
    for (size_t byte = row * stride * (size_t)bits / 8 + bytes_of(bits, columns);
         byte < (row + 1) * stride * (size_t)bits / 8; ++byte)
      if (data[byte] != MARKED) {
        CHECK(0, "%s: a byte past the columns of row %zu was written", name, row);
        return;
      }
}

static mpnum_blockscaled place_blocks(const block_call *call) {
  const int bits = call->format.format.element_bits;
  mpnum_blockscaled blocks;
  memset(&blocks, 0, sizeof blocks);
  blocks.stride = call->codes_stride;
  blocks.is_swizzled = call->is_swizzled;
  blocks.scale_inv_bytes = mpnum_blockscale_scale_bytes(&call->format.format, call->rows,
                                                        call->columns, call->is_swizzled);
  memcpy(&blocks.scale, &call->scale, 4);
  blocks.codes =
      output_row(bytes_of(bits, extent(call->rows, call->columns, blocks.stride)));
  blocks.scale_inv = output_row(blocks.scale_inv_bytes);
  return blocks;
}

static void check_quantize(const block_call *call, const block_words *want) {
  const mpnum_blockscale_format *format = &call->format.format;
  const int bits = bits_of_type(call->type);
  const ref_format *source = ref_format_named(mpnum_type_name(call->type));
  const size_t elements = extent(call->rows, call->columns, call->stride);
  uint8_t *memory = (uint8_t *)allocate(elements * (size_t)bits / 8);
  block_words got = allocate_words(&call->format, call->rows, call->columns);
  mpnum_const_matrix view =
      mpnum_const_matrix_of(call->type, NULL, call->rows, call->columns);
  const int counts = below(2) == 0;
  mpnum_quantize_losses losses;
  mpnum_blockscaled blocks;
  memset(&losses, 0, sizeof losses);
  for (size_t i = 0; i < elements; ++i) /* NaN between the rows */
    set_element(bits, memory, i, ~UINT64_C(0) >> (64 - bits));
  for (size_t i = 0; i < call->rows * call->columns; ++i)
    set_element(
        bits, memory, i / call->columns * call->stride + i % call->columns,
        ref_encode(source, ref_widen(call->src[i]), REF_NEAREST_EVEN, REF_IEEE, 0));
  arrays_used = 0;
  view.data = input_row(memory, elements * (size_t)bits / 8);
  view.stride = call->stride;
  blocks = place_blocks(call);
  CHECK(mpnum_quantize_blocks(format, blocks, view, &call->options,
                              counts ? &losses : NULL) == MPNUM_OK,
        "%s", call->format.name);
  read_words(&got, &call->format, blocks);
  got.losses.saturated = losses.saturated;
  got.losses.underflowed = losses.underflowed;
  got.losses.nonfinite = losses.nonfinite;
  memcpy(&got.losses.amax, &losses.amax, 4);
  check_words(call->format.name, &got, want, call->src);
  if (counts) check_losses(call->format.name, got.losses, want->losses);
  CHECK(memcmp(view.data, memory, elements * (size_t)bits / 8) == 0, "%s: source",
        call->format.name);
  check_between(call->format.name, (const uint8_t *)blocks.codes, format->element_bits,
                call->rows, call->columns, blocks.stride);
  free_words(got);
  free(memory);
}

static void check_dequantize(const block_call *call, const block_words *want) {
  const int bits = bits_of_type(call->type);
  const ref_format *result = ref_format_named(mpnum_type_name(call->type));
  const size_t n = call->rows * call->columns;
  uint32_t *values = (uint32_t *)allocate(n * 4);
  mpnum_matrix view = mpnum_matrix_of(call->type, NULL, call->rows, call->columns);
  mpnum_blockscaled blocks;
  ref_dequantize(&call->format.reference, values, want->codes, want->scales, call->rows,
                 call->columns, call->scale);
  arrays_used = 0;
  blocks = place_blocks(call);
  write_words(want, &call->format, blocks);
  view.data =
      output_row(extent(call->rows, call->columns, call->stride) * (size_t)bits / 8);
  view.stride = call->stride;
  CHECK(mpnum_dequantize_blocks(&call->format.format, view, blocks) == MPNUM_OK, "%s",
        call->format.name);
  for (size_t i = 0; i < n; ++i) {
    const uint64_t got = get_element(
        bits, view.data, i / call->columns * call->stride + i % call->columns);
    const uint32_t value =
        ref_encode(result, ref_widen(values[i]), REF_NEAREST_EVEN, REF_IEEE, 0);
    if (got == value) continue;
    CHECK(0, "%s to %s: %" PRIx32 ": got %" PRIx64 ", want %" PRIx32, call->format.name,
          result->name, want->codes[i], got, value);
    break;
  }
  check_between(call->format.name, (const uint8_t *)view.data, bits, call->rows,
                call->columns, call->stride);
  free(values);
}

/* Long rows of codes of any bits, whose scales make subnormals of them, or numbers, or
 * Inf: they share tables, and are done in different ways. */
static void codes_of_any_bits_come_back(void) {
  static const mpnum_type types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16};
  for (int i = 0; i < format_count * (int)ISAS * 3; ++i) {
    const mpnum_isa isa = isas[i / 3 % (int)ISAS];
    block_call call;
    block_words words;
    memset(&call, 0, sizeof call);
    call.format = formats[i / 3 / (int)ISAS];
    if (call.format.format.scale_type != MPNUM_TYPE_E8M0 || call.format.format.is_int8 ||
        force_isa(isa) != MPNUM_OK)
      continue;
    call.type = types[i % 3];
    call.rows = 6;
    call.columns = 1100;
    call.stride = call.codes_stride = 1104;
    words = allocate_words(&call.format, call.rows, call.columns);
    for (size_t k = 0; k < call.rows * call.columns; ++k)
      words.codes[k] = (uint32_t)random_bits(&state) & element_mask(&call.format.format);
    for (size_t k = 0; k < words.blocks; ++k)
      words.scales[k] = (uint32_t)(k * 6 / words.blocks % 3 == 0   ? 110 + below(30)
                                   : k * 6 / words.blocks % 3 == 1 ? below(30)
                                                                   : 226 + below(30));
    check_dequantize(&call, &words);
    free_words(words);
  }
}

/* Long rows of bf16, each block near a power of two of its own, of zeros, or with a NaN;
 * some rows where no subnormal counts. */
static uint32_t bf16_of_block(size_t row, size_t block) {
  const uint32_t exponent =
      (uint32_t)(row == 1 ? block * 37 % 255 : 40 + block * 37 % 215);
  const uint32_t sign = (uint32_t)below(2) << 31;
  if (block % 11 == 3 || below(50) == 0) return sign;
  if (block % 23 == 7 && below(20) == 0) return 0x7fc00000;
  if (below(3) == 0 || exponent < 12)
    return sign | exponent << 23 | (uint32_t)below(128) << 16;
  return sign | (exponent - (uint32_t)below(12)) << 23 | (uint32_t)below(128) << 16;
}
static void long_rows_of_bf16_are_the_reference_s(void) {
  for (int f = 0; f < format_count; ++f) {
    block_call call;
    block_words want;
    memset(&call, 0, sizeof call);
    call.format = formats[f];
    if (call.format.format.scale_type != MPNUM_TYPE_E8M0) continue;
    call.type = MPNUM_TYPE_BF16;
    call.rows = 3;
    call.columns = 2200;
    call.stride = call.codes_stride = 2204;
    call.src = (uint32_t *)allocate(call.rows * call.columns * 4);
    for (size_t i = 0; i < call.rows * call.columns; ++i)
      call.src[i] = bf16_of_block(i / call.columns, i % call.columns / 32);
    want = allocate_words(&call.format, call.rows, call.columns);
    expect_words(&call, &want);
    for (size_t i = 0; i < 2 * ISAS; ++i)
      if (force_isa(isas[i / 2]) == MPNUM_OK) check_quantize(&call, &want);
    free_words(want);
    free(call.src);
  }
}

static void any_call_is_the_reference_s(void) {
  enum { WIDE_CALLS = 4 };
  for (int i = 0; i < TEST_BLOCK_CALLS + WIDE_CALLS; ++i) {
    block_call call = choose_call(i >= TEST_BLOCK_CALLS);
    block_words want = allocate_words(&call.format, call.rows, call.columns);
    const int errors = tap_errors;
    if (i % 16 == 0) force_isa(isas[below(ISAS)]);
    expect_words(&call, &want);
    check_quantize(&call, &want);
    check_dequantize(&call, &want);
    CHECK(tap_errors == errors,
          "call %d, %s: %zu x %zu of %s, stride %zu, codes %zu, blocks %zu x %zu, %s", i,
          mpnum_isa_name(isa_in_use()), call.rows, call.columns,
          mpnum_type_name(call.type), call.stride, call.codes_stride,
          call.format.format.rows, call.format.format.columns,
          call.is_swizzled ? "swizzled" : "in rows");
    free_words(want);
    free(call.src);
  }
}

/* Descriptors of any fields: refused by the name of one, with nothing written, or carried
 * out alike by all instruction sets. */

static mpnum_format any_element(void) {
  mpnum_format made = mpnum_format_of((mpnum_type)below(16));
  if (below(3) == 0)
    may(mpnum_format_init(&made, (int)below(2), (int)below(9), (int)below(9),
                          (int)below(60) - 30, (mpnum_specials)below(6)));
  return made;
}
static mpnum_blockscale_format any_format(void) {
  static const int bits[] = {8, 8, 6, 4, 5, 0, -4, 16};
  static const mpnum_type scale_types[] = {MPNUM_TYPE_E8M0,  MPNUM_TYPE_E4M3,
                                           MPNUM_TYPE_F32,   MPNUM_TYPE_BF16,
                                           MPNUM_TYPE_UE5M3, MPNUM_TYPE_UE4M3};
  mpnum_blockscale_format format = formats[below((size_t)format_count)].format;
  const uint32_t floor_bits = (uint32_t)random_bits(&state);
  for (size_t change = 1 + below(3); change > 0; --change)
    switch (below(9)) {
    case 0: format.element = any_element(); break;
    case 1: format.is_int8 = (int)below(4) - 1; break;
    case 2: format.element_bits = bits[below(8)]; break;
    case 3: format.rows = below(40); break;
    case 4: format.columns = below(70); break;
    case 5: format.scale_type = scale_types[below(6)]; break;
    case 6: format.rule = (mpnum_blockscale_rule)((int)below(9) - 1); break;
    case 7: format.rounding = (mpnum_rounding)below(8); break;
    default: memcpy(&format.amax_floor, &floor_bits, 4);
    }
  return format;
}
enum { ANY_ROWS = 9, ANY_COLUMNS = 72, ANY = ANY_ROWS * ANY_COLUMNS };
typedef struct any_results {
  uint8_t codes[ANY], scales[4 * ANY], values[4 * ANY];
} any_results;
static mpnum_status carry_out(const mpnum_blockscale_format *format, const float *src,
                              any_results *results) {
  mpnum_blockscaled blocks;
  mpnum_status status;
  memset(results, MARKED, sizeof *results);
  blocks.codes = results->codes;
  blocks.stride = ANY_COLUMNS;
  blocks.scale_inv = results->scales;
  blocks.scale_inv_bytes = sizeof results->scales;
  blocks.is_swizzled = 0;
  blocks.scale = 336;
  status = mpnum_quantize_blocks(
      format, blocks, mpnum_const_matrix_of(MPNUM_TYPE_F32, src, ANY_ROWS, ANY_COLUMNS),
      &block_seed, NULL);
  if (status == MPNUM_OK)
    status = mpnum_dequantize_blocks(
        format, mpnum_matrix_of(MPNUM_TYPE_F32, results->values, ANY_ROWS, ANY_COLUMNS),
        blocks);
  return status;
}
static void any_descriptor_is_sound_or_refused(void) {
  static any_results got, want, untouched;
  static float src[ANY];
  static uint32_t bits[ANY];
  int sound = 0, refused = 0;
  memset(&untouched, MARKED, sizeof untouched);
  for (int i = 0; i < 2 * TEST_BLOCK_CALLS; ++i) {
    const mpnum_blockscale_format format = any_format();
    const char *field = NULL;
    const mpnum_status status = mpnum_blockscale_validate(&format, &field);
    if (i % 50 == 0) fill_random(bits, ANY, -20 + (int)below(20), 20, &state);
    memcpy(src, bits, sizeof src);
    if (i % 50 == 0) force_isa(isas[below(ISAS)]);
    if (status != MPNUM_OK) {
      ++refused;
      CHECK(field != NULL, "descriptor %d: no field is named", i);
      CHECK(carry_out(&format, src, &got) == MPNUM_ERROR_ARGUMENT, "descriptor %d", i);
      CHECK(memcmp(&got, &untouched, sizeof got) == 0, "descriptor %d: written", i);
      continue;
    }
    ++sound;
    CHECK(carry_out(&format, src, &got) == MPNUM_OK, "descriptor %d, status", i);
    if (i % 10) continue;
    {
      const mpnum_isa before = isa_in_use();
      force_isa(isas[below(ISAS)]);
      CHECK(carry_out(&format, src, &want) == MPNUM_OK, "descriptor %d, status", i);
      CHECK(memcmp(&got, &want, sizeof got) == 0, "descriptor %d: %s is not %s", i,
            mpnum_isa_name(before), mpnum_isa_name(isa_in_use()));
    }
  }
  CHECK(sound > 50 && refused > 50, "%d sound, %d refused", sound, refused);
}

/* What fills up the last byte, or group of four, of a row whose last block is NaN: of
 * stochastic rounding 0, and of any the same from every instruction set. */
static void check_fill(mpnum_type element, mpnum_rounding rounding, size_t n) {
  mpnum_blockscale_format format = mpnum_blockscale_mx(element, MPNUM_BLOCKSCALE_FLOOR);
  const mpnum_quantize_options options = {1, 0};
  const int bits = format.element_bits, is_random = rounding == MPNUM_ROUND_STOCHASTIC;
  const size_t bytes = mpnum_blockscale_code_bytes(&format, 1, n);
  float x[64];
  uint8_t want[64] = {0};
  int is_first = 1;
  format.rounding = rounding;
  for (size_t i = 0; i < n; ++i)
    x[i] = i == n / 2 ? mpnum_from_bits_f32(0x7fc00000u) : (float)(i + 1);
  for (size_t k = 0; k < ISAS; ++k) {
    uint8_t codes[64] = {0}, scales[2];
    if (force_isa(isas[k]) != MPNUM_OK) continue;
    CHECK(mpnum_quantize_blocks(
              &format, mpnum_blockscaled_of(&format, codes, scales, 2, n),
              mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, n), &options, NULL) == MPNUM_OK,
          "status");
    if (is_first) memcpy(want, codes, sizeof want);
    is_first = 0;
    CHECK(memcmp(codes, want, sizeof want) == 0, "%s %d, %zu elements: %s is another",
          mpnum_type_name(element), (int)rounding, n, mpnum_isa_name(isas[k]));
    for (size_t at = n * (size_t)bits; is_random && at < 8 * bytes; ++at)
      CHECK((codes[at / 8] >> at % 8 & 1) == 0, "%s, %zu elements, %s: bit %zu",
            mpnum_type_name(element), n, mpnum_isa_name(isas[k]), at);
  }
}
static void fill_is_that_of_every_isa(void) {
  const mpnum_type elements[] = {MPNUM_TYPE_E2M1, MPNUM_TYPE_E3M2, MPNUM_TYPE_E2M3};
  for (size_t n = 1; n < 64; ++n)
    for (int e = 0; e < 3; ++e) {
      check_fill(elements[e], MPNUM_ROUND_NEAREST_EVEN, n);
      check_fill(elements[e], MPNUM_ROUND_STOCHASTIC, n);
    }
}

/* Scales as cuBLASLt reads them. */

static void scales_lie_as_cublaslt_has_them(void) {
  /* The first bytes of the drawing in its documentation, "1D Block Scaling Factors
   * Layout": a line has the scales of rows 0, 32, 64 and 96, four columns of each. */
  static const struct {
    size_t row, block, place;
  } drawn[] = {{0, 0, 0},   {0, 1, 1},  {0, 3, 3},   {32, 0, 4},   {64, 0, 8},
               {96, 3, 15}, {1, 0, 16}, {33, 2, 22}, {31, 3, 499}, {127, 3, 511}};
  for (size_t i = 0; i < sizeof drawn / sizeof drawn[0]; ++i)
    CHECK(mpnum_scale_place(drawn[i].row, drawn[i].block, 4) == drawn[i].place,
          "row %zu, column %zu", drawn[i].row, drawn[i].block);
  for (size_t columns = 1; columns < 14; ++columns) {
    const size_t across = (columns + 3) / 4 * 4, bytes = 384 * across;
    uint8_t *seen = (uint8_t *)allocate(bytes);
    for (size_t row = 0; row < 384; ++row)
      for (size_t block = 0; block < across; ++block) {
        const size_t place = mpnum_scale_place(row, block, columns);
        CHECK(place == swizzled_place(row, block, columns), "%zu %zu", row, block);
        if (place < bytes) ++seen[place];
      }
    for (size_t i = 0; i < bytes; ++i)
      CHECK(seen[i] == 1, "place %zu of %zu columns is taken %d times", i, columns,
            seen[i]);
    free(seen);
  }
}

/* Scales of operands: what an index formula makes of those that lie one behind the other,
 * in an array of zeros. */
enum { OPERAND_ROWS = 300, OPERAND_COLUMNS = 300, OPERAND_SCALES = 1 << 17 };
typedef struct operand_scales {
  uint8_t plain[OPERAND_SCALES], got[OPERAND_SCALES], want[OPERAND_SCALES];
} operand_scales;
static operand_scales of_operand, of_other;
static uint8_t operand_codes[OPERAND_ROWS * OPERAND_COLUMNS * 2];
static float operand_src[OPERAND_ROWS * OPERAND_COLUMNS];
static float operand_turned[OPERAND_ROWS * OPERAND_COLUMNS];

static mpnum_blockscaled operand_blocks(const mpnum_blockscale_format *format,
                                        uint8_t *scales, size_t rows, size_t columns,
                                        int is_swizzled) {
  mpnum_blockscaled made;
  made.codes = operand_codes;
  made.stride = at_a_byte(format, columns);
  made.scale_inv = scales;
  made.scale_inv_bytes = mpnum_blockscale_scale_bytes(format, rows, columns, is_swizzled);
  made.is_swizzled = is_swizzled;
  made.scale = 97;
  return made;
}
/* Quantises, plainly and swizzled; gives the bytes of the latter. */
static size_t operand_of(operand_scales *scales, const mpnum_blockscale_format *format,
                         const float *src, size_t rows, size_t columns) {
  const mpnum_const_matrix view =
      mpnum_const_matrix_of(MPNUM_TYPE_F32, src, rows, columns);
  const mpnum_blockscaled blocks = operand_blocks(format, scales->got, rows, columns, 1);
  memset(scales, MARKED, sizeof *scales);
  must(mpnum_quantize_blocks(
      format, operand_blocks(format, scales->plain, rows, columns, 0), view, NULL, NULL));
  must(mpnum_quantize_blocks(format, blocks, view, NULL, NULL));
  return blocks.scale_inv_bytes;
}
static void expect_operand(operand_scales *scales, const mpnum_blockscale_format *format,
                           size_t rows, size_t columns, size_t bytes) {
  const size_t high = format->rows, wide = format->columns;
  const size_t across = (columns + wide - 1) / wide, down = (rows + high - 1) / high;
  memset(scales->want, 0, bytes);
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c) {
      const size_t place = wide == 1 ? swizzled_place(c, r / high, down)
                                     : swizzled_place(r, c / wide, across);
      scales->want[place] = scales->plain[r / high * across + c / wide];
    }
}
static void check_operand(const char *name, const mpnum_blockscale_format *format,
                          size_t rows, size_t columns) {
  const mpnum_blockscale_format transposed = mpnum_blockscale_transposed(*format);
  const size_t bytes = operand_of(&of_operand, format, operand_src, rows, columns);
  size_t other = 0;
  expect_operand(&of_operand, format, rows, columns, bytes);
  CHECK(memcmp(of_operand.got, of_operand.want, OPERAND_SCALES) == 0,
        "%s, %zu x %zu: not where the formula has them", name, rows, columns);
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c)
      operand_turned[c * rows + r] = operand_src[r * columns + c];
  other = operand_of(&of_other, &transposed, operand_turned, columns, rows);
  if (format->rows == format->columns) {
    expect_operand(&of_other, &transposed, columns, rows, other);
    CHECK(memcmp(of_other.got, of_other.want, OPERAND_SCALES) == 0, "%s, %zu x %zu", name,
          columns, rows);
    return;
  }
  CHECK(bytes == other && memcmp(of_other.got, of_operand.got, OPERAND_SCALES) == 0,
        "%s, %zu x %zu: not those of the transposed matrix", name, columns, rows);
}
/* Two parts, cut where a tile ends, and both formats at once. */
static void check_operand_parts(const mpnum_blockscale_format *format) {
  const size_t rows = 200, columns = 200, cut = 128, stride = 200;
  const int is_turned = format->columns == 1;
  const size_t whole = operand_of(&of_operand, format, operand_src, rows, columns);
  const size_t r = is_turned ? rows : cut, c = is_turned ? cut : columns;
  mpnum_const_matrix view = mpnum_const_matrix_of(MPNUM_TYPE_F32, operand_src, r, c);
  mpnum_blockscaled first = operand_blocks(format, of_other.got, r, c, 1), second = first;
  view.stride = first.stride = second.stride = stride;
  memset(&of_other, MARKED, sizeof of_other);
  second.scale_inv = of_other.got + first.scale_inv_bytes;
  second.scale_inv_bytes = whole - first.scale_inv_bytes;
  for (int part = 1; part >= 0; --part) { /* the last one first */
    const size_t begin = part ? cut : 0;
    view.data = operand_src + begin * (is_turned ? 1 : stride);
    view.rows = is_turned || !part ? r : rows - cut;
    view.columns = !is_turned || !part ? c : columns - cut;
    must(mpnum_quantize_blocks(format, part ? second : first, view, NULL, NULL));
  }
  CHECK(memcmp(of_other.got, of_operand.got, OPERAND_SCALES) == 0,
        "%zu x %zu blocks: two parts are not the whole", format->rows, format->columns);
}
static void swizzled_scales_are_those_of_the_operand(void) {
  static const size_t sizes[][2] = {{1, 1},   {31, 33},  {32, 128},  {128, 256},
                                    {5, 300}, {300, 17}, {129, 161}, {17, 130},
                                    {64, 64}, {200, 200}};
  static uint32_t bits[OPERAND_ROWS * OPERAND_COLUMNS];
  mpnum_blockscale_format made[4];
  made[0] = mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
  made[1] = mpnum_blockscale_mx(MPNUM_TYPE_E2M1, MPNUM_BLOCKSCALE_FLOOR);
  made[2] = mpnum_blockscale_nvfp4_1x16();
  made[3] = mpnum_blockscale_nvfp4_16x16();
  fill_random(bits, OPERAND_ROWS * OPERAND_COLUMNS, -8, 10, &state);
  memcpy(operand_src, bits, sizeof operand_src);
  for (int f = 0; f < 4; ++f) {
    const mpnum_blockscale_format turned = mpnum_blockscale_transposed(made[f]);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i)
      check_operand(f < 2 ? "mx" : "nvfp4", &made[f], sizes[i][0], sizes[i][1]);
    check_operand_parts(&made[f]);
    check_operand_parts(&turned);
  }
  { /* The figures that cuBLASLt's layout gives. */
    const mpnum_blockscale_format turned = mpnum_blockscale_transposed(made[0]);
    CHECK(mpnum_blockscale_scale_bytes(&turned, 128, 256, 1) == 1024, "32x1 of 128x256");
    CHECK(mpnum_blockscale_scale_bytes(&made[3], 256, 64, 1) == 1024, "16x16 of 256x64");
  }
}

/* Sizes. */

static void sizes_are_those_of_the_blocks(void) {
  for (int f = 0; f < format_count; ++f)
    for (size_t rows = 0; rows < 300; rows += 1 + rows / 5)
      for (size_t columns = 0; columns < 600; columns += 1 + columns / 4) {
        const mpnum_blockscale_format *format = &formats[f].format;
        const size_t count = ref_block_count(&formats[f].reference, rows, columns);
        const size_t code_bytes =
            rows * (at_a_byte(format, columns) * (size_t)format->element_bits / 8);
        const size_t across = blocks_in_a_row(&formats[f], columns);
        CHECK(mpnum_blockscale_count(format, rows, columns) == count,
              "%s: %zu x %zu: %zu blocks, want %zu", formats[f].name, rows, columns,
              mpnum_blockscale_count(format, rows, columns), count);
        CHECK(mpnum_blockscale_scale_bytes(format, rows, columns, 0) ==
                  count * scale_size(format),
              "%s: %zu x %zu", formats[f].name, rows, columns);
        CHECK(mpnum_blockscale_code_bytes(format, rows, columns) == code_bytes,
              "%s: %zu x %zu", formats[f].name, rows, columns);
        CHECK(mpnum_blockscale_scale_bytes(format, rows, columns, 1) ==
                  (is_multiplied(format) ? (rows + 127) / 128 * 512 * ((across + 3) / 4)
                                         : 0),
              "%s: %zu x %zu", formats[f].name, rows, columns);
      }
}

/* What is refused: nothing is written. */

typedef struct refused_call {
  mpnum_blockscale_format format;
  mpnum_blockscaled blocks;
  mpnum_matrix rows;
} refused_call;
static uint8_t refused_memory[3][4096];
static refused_call sound_call(int preset) {
  refused_call call;
  call.format = formats[preset].format;
  call.rows = mpnum_matrix_of(MPNUM_TYPE_F32, refused_memory[0], 2, 64);
  call.blocks.codes = refused_memory[1];
  call.blocks.stride = 64;
  call.blocks.scale_inv = refused_memory[2];
  call.blocks.scale_inv_bytes = mpnum_blockscale_scale_bytes(&call.format, 2, 64, 0);
  call.blocks.is_swizzled = 0;
  call.blocks.scale = 1;
  return call;
}
/* Which of the two refuse it; both by default. */
enum { QUANTIZE = 1, DEQUANTIZE = 2, BOTH = 3 };
static void check_refused(const char *what, const refused_call *call, int calls,
                          mpnum_status want) {
  static uint8_t before[sizeof refused_memory];
  mpnum_quantize_losses losses = {7, 8, 9, 10}, unchanged = losses;
  mpnum_const_matrix src = mpnum_const_matrix_of(call->rows.type, call->rows.data,
                                                 call->rows.rows, call->rows.columns);
  mpnum_status got = want;
  src.stride = call->rows.stride;
  memcpy(before, refused_memory, sizeof before);
  if (calls & QUANTIZE)
    got = mpnum_quantize_blocks(&call->format, call->blocks, src, NULL, &losses);
  CHECK(got == want, "%s: quantising gives status %d, want %d", what, (int)got,
        (int)want);
  if (calls & DEQUANTIZE)
    got = mpnum_dequantize_blocks(&call->format, call->rows, call->blocks);
  CHECK(got == want, "%s: dequantising gives status %d, want %d", what, (int)got,
        (int)want);
  CHECK(memcmp(before, refused_memory, sizeof before) == 0, "%s: something was written",
        what);
  CHECK(memcmp(&losses, &unchanged, LOSSES_BYTES) == 0, "%s: losses", what);
}
#define REFUSED(what, preset, change, calls, status) \
 do {                                                \
  refused_call call = sound_call(preset);            \
  change;                                            \
  check_refused(what, &call, calls, status);         \
 } while (0)

static int preset_named(const char *name) {
  for (int f = 0; f < format_count; ++f)
    if (strcmp(formats[f].name, name) == 0) return f;
  abort();
}
static void set_word(void *at, uint32_t word) { memcpy(at, &word, 4); }

static void bad_calls_are_refused(void) {
  const int mx = preset_named("mx e4m3 RCEIL"), fp4 = preset_named("nvfp4 1x16");
  const int fp6 = preset_named("mx e3m2 RCEIL"), deep = preset_named("deepseek 1x128");
  const mpnum_status argument = MPNUM_ERROR_ARGUMENT, range = MPNUM_ERROR_RANGE;
  memset(refused_memory, 0x3f, sizeof refused_memory);
  REFUSED("no rows", mx, call.rows.rows = 0, BOTH, MPNUM_OK);
  REFUSED("no columns", mx, call.rows.columns = 0, BOTH, MPNUM_OK);
  REFUSED("no matrix", mx, call.rows.data = NULL, BOTH, MPNUM_ERROR_NULL);
  REFUSED("no matrix of no size", mx, (call.rows.data = NULL, call.rows.rows = 0), BOTH,
          MPNUM_OK);
  REFUSED("no codes", mx, call.blocks.codes = NULL, BOTH, MPNUM_ERROR_NULL);
  REFUSED("no scales", mx, call.blocks.scale_inv = NULL, BOTH, MPNUM_ERROR_NULL);
  REFUSED("a narrow stride of values", mx, call.rows.stride = 63, DEQUANTIZE,
          MPNUM_ERROR_STRIDE);
  REFUSED("a narrow stride of codes", mx, call.blocks.stride = 63, BOTH,
          MPNUM_ERROR_STRIDE);
  REFUSED("rows of 4 bits that begin in a byte", fp4, call.blocks.stride = 65, BOTH,
          MPNUM_ERROR_STRIDE);
  REFUSED("rows of 6 bits that begin in a byte", fp6, call.blocks.stride = 66, BOTH,
          MPNUM_ERROR_STRIDE);
  REFUSED("a short array of scales", mx, --call.blocks.scale_inv_bytes, BOTH, range);
  REFUSED("a short array of f32 scales", deep, --call.blocks.scale_inv_bytes, BOTH,
          range);
  REFUSED("a short array of tiles", mx,
          (call.blocks.is_swizzled = 1, call.blocks.scale_inv_bytes = 511), BOTH, range);
  REFUSED("tiles of f32 scales", deep,
          (call.blocks.is_swizzled = 1, call.blocks.scale_inv_bytes = 4096), BOTH,
          argument);
  REFUSED("tiles of MXINT8", preset_named("mx int8 RCEIL"),
          (call.blocks.is_swizzled = 1, call.blocks.scale_inv_bytes = 4096), BOTH,
          argument);
  REFUSED("tiles of blocks that no hardware multiplies", mx,
          (call.blocks.is_swizzled = 1, call.blocks.scale_inv_bytes = 4096,
           call.format.rows = 2),
          BOTH, argument);
  REFUSED("a layout that is none", mx, call.blocks.is_swizzled = 2, BOTH, argument);
  REFUSED("a matrix of f64", mx, call.rows.type = MPNUM_TYPE_F64, BOTH, MPNUM_ERROR_TYPE);
  REFUSED("a matrix of e4m3", mx, call.rows.type = MPNUM_TYPE_E4M3, BOTH,
          MPNUM_ERROR_TYPE);
  REFUSED("a type that is none", mx, call.rows.type = (mpnum_type)99, BOTH,
          MPNUM_ERROR_TYPE);
  REFUSED("codes over the matrix", mx, call.blocks.codes = refused_memory[0] + 511, BOTH,
          MPNUM_ERROR_OVERLAP);
  REFUSED("scales over the matrix", mx, call.blocks.scale_inv = refused_memory[0] + 508,
          BOTH, MPNUM_ERROR_OVERLAP);
  REFUSED("scales over the codes", mx, call.blocks.scale_inv = refused_memory[1] + 127,
          BOTH, MPNUM_ERROR_OVERLAP);
  REFUSED("scale 0", fp4, call.blocks.scale = 0, BOTH, argument);
  REFUSED("scale 0 and a narrow stride", fp4,
          (call.blocks.scale = 0, call.blocks.stride = 62), BOTH, argument);
  REFUSED("scale -0", fp4, set_word(&call.blocks.scale, F32_SIGN), BOTH, argument);
  REFUSED("scale -1", fp4, call.blocks.scale = -1, BOTH, argument);
  REFUSED("scale Inf", fp4, set_word(&call.blocks.scale, F32_INFINITY), BOTH, argument);
  REFUSED("scale NaN", fp4, set_word(&call.blocks.scale, 0x7fc00000), BOTH, argument);
  set_word(refused_memory[2] + 4, 0);
  REFUSED("scale_inv 0", deep, (void)0, DEQUANTIZE, argument);
  set_word(refused_memory[2] + 4, F32_INFINITY);
  REFUSED("scale_inv Inf", deep, (void)0, DEQUANTIZE, argument);
  set_word(refused_memory[2] + 4, 0xbf800000);
  REFUSED("scale_inv -1", deep, (void)0, DEQUANTIZE, argument);
  const refused_call sound = sound_call(mx);
  const mpnum_const_matrix src =
      mpnum_const_matrix_of(MPNUM_TYPE_F32, sound.rows.data, 2, 64);
  CHECK(mpnum_quantize_blocks(NULL, sound.blocks, src, NULL, NULL) == MPNUM_ERROR_NULL &&
            mpnum_dequantize_blocks(NULL, sound.rows, sound.blocks) == MPNUM_ERROR_NULL &&
            mpnum_blockscale_validate(NULL, NULL) == MPNUM_ERROR_NULL &&
            mpnum_quantize_blocks_both(NULL, sound.blocks, &sound.format, sound.blocks,
                                       src, NULL, NULL) == MPNUM_ERROR_NULL,
        "no format");
  REFUSED("rows without end", mx, call.rows.rows = SIZE_MAX / 64, BOTH,
          MPNUM_ERROR_SHAPE);
}

/* MX has four rules and five types, and int8. */
static void mx_of_another_rule_or_type_is_none(void) {
  for (int i = 0; i < 40; ++i)
    for (int rule = -1; rule < 9; ++rule) {
      const mpnum_type type = (mpnum_type)i;
      const int has_mx = type == MPNUM_TYPE_E4M3 || type == MPNUM_TYPE_E5M2 ||
                         type == MPNUM_TYPE_E3M2 || type == MPNUM_TYPE_E2M3 ||
                         type == MPNUM_TYPE_E2M1;
      const int is_rule = rule >= 0 && rule < 4;
      refused_call call = sound_call(preset_named("mx e4m3 RCEIL"));
      const char *field = "none", *want = !has_mx ? "element" : "rule";
      call.format = mpnum_blockscale_mx(type, (mpnum_blockscale_rule)rule);
      if (has_mx && is_rule) {
        CHECK(mpnum_blockscale_validate(&call.format, NULL) == MPNUM_OK, "%d %d", i,
              rule);
        continue;
      }
      CHECK(mpnum_blockscale_validate(&call.format, &field) == MPNUM_ERROR_ARGUMENT &&
                strcmp(field, want) == 0,
            "type %d, rule %d: named %s", i, rule, field);
      check_refused("mx of none", &call, BOTH, MPNUM_ERROR_ARGUMENT);
      CHECK(mpnum_blockscale_scale_bytes(&call.format, 64, 64, 1) == 0, "swizzled");
      call.format = mpnum_blockscale_mx_int8((mpnum_blockscale_rule)rule);
      CHECK(mpnum_blockscale_validate(&call.format, &field) ==
                    (is_rule ? MPNUM_OK : MPNUM_ERROR_ARGUMENT) &&
                (is_rule || strcmp(field, "rule") == 0),
            "int8, rule %d: named %s", rule, field);
    }
}
/* S is NVFP4's: 0, which is not set, is refused there, and not looked at elsewhere. */
static void a_scale_that_is_not_set_is_refused(void) {
  static const char *const names[] = {"mx e4m3 RCEIL", "deepseek 1x128", "int8 rows"};
  refused_call call = sound_call(preset_named("nvfp4 1x16"));
  call.blocks.scale = 0;
  check_refused("nvfp4", &call, BOTH, MPNUM_ERROR_ARGUMENT);
  for (int i = 0; i < 3; ++i) {
    call = sound_call(preset_named(names[i]));
    call.blocks.scale = 0;
    CHECK(mpnum_quantize_blocks(
              &call.format, call.blocks,
              mpnum_const_matrix_of(MPNUM_TYPE_F32, refused_memory[0], 2, 64), NULL,
              NULL) == MPNUM_OK,
          "%s", names[i]);
    CHECK(mpnum_dequantize_blocks(&call.format, call.rows, call.blocks) == MPNUM_OK, "%s",
          names[i]);
  }
}
static void bad_formats_are_named(void) {
  const struct {
    const char *field;
    size_t offset, size;
    int64_t value;
  } bad[] = {
#define FIELD(field) \
 offsetof(mpnum_blockscale_format, field), sizeof((mpnum_blockscale_format *)0)->field
      {"is_int8", FIELD(is_int8), 2},
      {"element_bits", FIELD(element_bits), 7},
      {"element_bits", FIELD(element_bits), 0},
      {"element_bits", FIELD(element_bits), 4},
      {"element_bits", FIELD(element_bits), -8},
      {"rule", FIELD(rule), 7},
      {"rule", FIELD(rule), -1},
      {"scale_type", FIELD(scale_type), MPNUM_TYPE_F32},
      {"scale_type", FIELD(scale_type), 0},
      {"policy", FIELD(policy), 2},
      {"rounding", FIELD(rounding), MPNUM_ROUND_UP},
      {"rounding", FIELD(rounding), MPNUM_ROUND_STOCHASTIC + 1},
      {"rounding", FIELD(rounding), 105}, /* C of 9 bits, had it that many */
      {"amax_floor", FIELD(amax_floor), 0x3f800000},
      {"amax_floor", FIELD(amax_floor), 0x7fc00000},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    refused_call call = sound_call(preset_named("mx e4m3 RCEIL"));
    const char *field = "none";
    const int32_t value = (int32_t)bad[i].value;
    if (bad[i].size != 4) abort();
    memcpy((uint8_t *)&call.format + bad[i].offset, &value, 4);
    CHECK(mpnum_blockscale_validate(&call.format, &field) == MPNUM_ERROR_ARGUMENT &&
              strcmp(field, bad[i].field) == 0,
          "%s: named %s", bad[i].field, field);
    check_refused(bad[i].field, &call, BOTH, MPNUM_ERROR_ARGUMENT);
  }
  {
    refused_call call = sound_call(preset_named("nvfp4 1x16"));
    const char *field = "none";
    call.format.columns = 18;
    CHECK(mpnum_blockscale_validate(&call.format, &field) == MPNUM_ERROR_ARGUMENT &&
              strcmp(field, "columns") == 0,
          "columns: named %s", field);
    call = sound_call(preset_named("mx e4m3 RCEIL"));
    memset(&call.format.element, 0, sizeof call.format.element);
    CHECK(mpnum_blockscale_validate(&call.format, &field) == MPNUM_ERROR_ARGUMENT &&
              strcmp(field, "element") == 0,
          "element: named %s", field);
    call.format.element = mpnum_format_of(MPNUM_TYPE_F16);
    CHECK(mpnum_blockscale_validate(&call.format, NULL) == MPNUM_ERROR_ARGUMENT, "f16");
  }
  for (int f = 0; f < format_count; ++f) {
    const mpnum_blockscale_policy policy =
        (mpnum_blockscale_policy)formats[f].format.policy;
    CHECK(mpnum_blockscale_validate(&formats[f].format, NULL) == MPNUM_OK &&
              policy == MPNUM_BLOCKSCALE_PROPAGATE,
          "%s", formats[f].name);
  }
}

/* The largest value of an element is from 1 to 2^63, its smallest at least 2^-99: of 7
 * bits of exponent and of 4, each at and past its limit. */
static void elements_have_limits(void) {
  static const struct {
    int exponent_bits, mantissa_bits, bias, is_fine;
  } rows[] = {{7, 0, 100, 1}, {7, 0, 101, 0}, {7, 0, 64, 1}, {7, 0, 63, 0},
              {4, 3, 15, 1},  {4, 3, 16, 0},  {4, 0, 15, 1}};
  for (int i = 0; i < 7; ++i) {
    mpnum_blockscale_format format =
        mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_FLOOR);
    const char *field = "none";
    must(mpnum_format_init(&format.element, 1, rows[i].exponent_bits,
                           rows[i].mantissa_bits, rows[i].bias, MPNUM_SPECIALS_FINITE));
    CHECK((mpnum_blockscale_validate(&format, &field) == MPNUM_OK) == rows[i].is_fine &&
              strcmp(field, rows[i].is_fine ? "none" : "element") == 0,
          "%d: %s", i, field);
  }
}

static void not_a_number_can_be_an_error(void) {
  for (int f = 0; f < format_count; ++f)
    for (size_t at = 0; at < 128; at += 9) {
      refused_call call = sound_call(f);
      mpnum_quantize_losses losses = {1, 2, 3, 4};
      static uint8_t before[sizeof refused_memory];
      mpnum_status status;
      call.format.policy = MPNUM_BLOCKSCALE_ERROR;
      memset(refused_memory, 0x3f, sizeof refused_memory);
      set_word(refused_memory[0] + 4 * at, at % 2 ? 0x7f800001 : 0xff800000);
      set_word(refused_memory[0], 0x7fc00000);
      memcpy(before, refused_memory, sizeof before);
      status = mpnum_quantize_blocks(
          &call.format, call.blocks,
          mpnum_const_matrix_of(MPNUM_TYPE_F32, refused_memory[0], 2, 64), NULL, &losses);
      CHECK(status == MPNUM_ERROR_NONFINITE, "%s: status %d", formats[f].name,
            (int)status);
      CHECK(memcmp(before, refused_memory, sizeof before) == 0, "%s: written",
            formats[f].name);
      CHECK(losses.nonfinite == (at ? 5u : 4u) && losses.saturated == 1 &&
                losses.underflowed == 2,
            "%s: losses", formats[f].name);
      set_word(refused_memory[0], F32_ONE);
      set_word(refused_memory[0] + 4 * at, F32_ONE);
      status = mpnum_quantize_blocks(
          &call.format, call.blocks,
          mpnum_const_matrix_of(MPNUM_TYPE_F32, refused_memory[0], 2, 64), NULL, NULL);
      CHECK(status == MPNUM_OK, "%s: finite, status %d", formats[f].name, (int)status);
    }
}

int main(void) {
  const mpnum_isa best = isa_in_use();
  add_block_formats();
  add_user_formats();
  TAP_RUN(any_call_is_the_reference_s);
  TAP_RUN(any_descriptor_is_sound_or_refused);
  TAP_RUN(codes_of_any_bits_come_back);
  TAP_RUN(long_rows_of_bf16_are_the_reference_s);
  TAP_RUN(fill_is_that_of_every_isa);
  force_isa(best);
  TAP_RUN(scales_lie_as_cublaslt_has_them);
  TAP_RUN(swizzled_scales_are_those_of_the_operand);
  TAP_RUN(sizes_are_those_of_the_blocks);
  TAP_RUN(bad_calls_are_refused);
  TAP_RUN(bad_formats_are_named);
  TAP_RUN(mx_of_another_rule_or_type_is_none);
  TAP_RUN(a_scale_that_is_not_set_is_refused);
  TAP_RUN(elements_have_limits);
  TAP_RUN(not_a_number_can_be_an_error);
  return tap_done();
}
