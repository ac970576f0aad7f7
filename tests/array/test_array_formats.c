/* SPDX-License-Identifier: MIT */
/* What a row of MPNUM_FORMATS may say, whether or not one says it: the loops of arrays,
 * with every instruction set, make of each format of 8 bits and fewer, with and without a
 * sign, of all special values and of biases around 0, around those of f16 and of IEEE
 * 754, and at the ends, what mpnum_decode and mpnum_encode make of it; and
 * mpnum_convert_array_formats of these and of wider formats. The scalar functions are
 * proven in test_conversions.c and test_user_formats.c. */
#include <mpnum/mpnum.h>

#include "../harness/isas.h"
#include "../harness/tap.h"
#include "array_functions.h"

#include <string.h>

enum { CODES = 1 << 16, NUMBERS = 1 << 12, ROOM = CODES + 8 };

static uint32_t numbers[NUMBERS], floats[ROOM], wanted_floats[ROOM];
static uint16_t stored[ROOM], wanted_codes[ROOM], made[ROOM];
static uint8_t bytes[ROOM], made_bytes[ROOM];
static size_t formats_tried, decoded_by_loop, encoded_by_loop;

typedef struct user_format {
  mpnum_format format;
  int width;
  char name[60];
} user_format;
static user_format current;

/* Floats that this format tells apart, and their neighbours; then any. */
static void choose_numbers(void) {
  const mpnum_format format = current.format;
  const uint32_t codes = format.max_code + 2;
  const uint32_t step = codes / 500 + 1;
  uint64_t state = 1;
  uint32_t code = 0;
  size_t n = 0;
  for (; code < codes; code += step) {
    const uint32_t low =
        code <= format.max_code ? mpnum_bits_f32(mpnum_decode(format, code)) : 0x7f800000;
    const uint32_t next =
        code < format.max_code ? mpnum_bits_f32(mpnum_decode(format, code + 1)) : low;
    const uint32_t middle = low + (next - low) / 2;
    numbers[n++] = low;
    numbers[n++] = low + 1;
    numbers[n++] = low ? low - 1 : 0x80000000u;
    numbers[n++] = middle;
    numbers[n++] = (middle + 1) | 0x80000000u;
    numbers[n++] = middle ? (middle - 1) : 0xff800001u;
  }
  numbers[n++] = 0xff800000u;
  numbers[n++] = 0x7fffffffu;
  numbers[n++] = 0xffc12345u;
  numbers[n++] = 0x80000000u;
  for (; n < NUMBERS; ++n) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    numbers[n] = (uint32_t)(state >> 32);
  }
}

static void same(const char *what, mpnum_isa isa, const void *got, const void *want,
                 size_t size, size_t n) {
  size_t i = 0;
  if (memcmp(got, want, size * n) == 0) return;
  while (memcmp((const char *)got + size * i, (const char *)want + size * i, size) == 0)
    ++i;
  {
    uint32_t a = 0, b = 0;
    memcpy(&a, (const char *)got + size * i, size);
    memcpy(&b, (const char *)want + size * i, size);
    CHECK(0, "%s: %s, %s, element %u: got %x, want %x", current.name, what,
          mpnum_isa_name(isa), (unsigned)i, (unsigned)a, (unsigned)b);
  }
}

/* All codes, and bits above them, which are ignored. */
static void decodes(void) {
  const size_t n = current.width <= 8 ? 1024 : (size_t)1 << current.width;
  size_t i = 0;
  for (i = 0; i < n; ++i) {
    stored[i] = (uint16_t)(current.width <= 8 ? i * 7 & 0xff : i);
    bytes[i] = (uint8_t)stored[i];
    wanted_floats[i] = mpnum_bits_f32(mpnum_decode(current.format, stored[i]));
  }
  for (i = 0; i < ISAS; ++i) {
    if (force_isa(isas[i]) != MPNUM_OK) continue;
    memset(floats, 0xa5, sizeof *floats * n);
    CHECK(convert_array_formats(
              mpnum_format_of(MPNUM_TYPE_F32), floats, current.format,
              current.width <= 8 ? (const void *)bytes : (const void *)stored, n,
              MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0) == MPNUM_OK,
          "status");
    same("convert_array_formats to f32", isas[i], floats, wanted_floats, 4, n);
    if (current.width > 8) continue;
    memset(floats, 0xa5, sizeof *floats * n);
    if (!decode_as_row(current.format, floats, bytes, n)) continue;
    same("the loop of bytes to f32", isas[i], floats, wanted_floats, 4, n);
    decode_as_row(current.format, floats, bytes, 300); /* no table of VBMI */
    same("a few bytes to f32", isas[i], floats, wanted_floats, 4, 300);
    ++decoded_by_loop;
  }
}

static void encode_bytes_from(mpnum_isa isa, mpnum_type src, mpnum_overflow overflow) {
  size_t i = 0;
  for (i = 0; i < NUMBERS; ++i) {
    uint32_t bits = numbers[i];
    stored[i] = (uint16_t)(numbers[i] >> (i % 2 ? 16 : 0));
    if (src != MPNUM_TYPE_F32)
      bits = mpnum_bits_f32(mpnum_decode(mpnum_format_of(src), stored[i]));
    made_bytes[i] = (uint8_t)mpnum_encode(current.format, mpnum_from_bits_f32(bits),
                                          MPNUM_ROUND_NEAREST_EVEN, overflow, 0);
  }
  memset(bytes, 0xa5, NUMBERS);
  if (!encode_as_row(current.format, overflow, bytes, src,
                     src == MPNUM_TYPE_F32 ? (const void *)numbers : (const void *)stored,
                     NUMBERS))
    return;
  same(src == MPNUM_TYPE_F32   ? "the loop of bytes from f32"
       : src == MPNUM_TYPE_F16 ? "from f16"
                               : "from bf16",
       isa, bytes, made_bytes, 1, NUMBERS);
  ++encoded_by_loop;
}

static void encodes(mpnum_rounding rounding, mpnum_overflow overflow) {
  size_t i = 0;
  for (i = 0; i < NUMBERS; ++i) {
    const uint32_t random = rounding == MPNUM_ROUND_STOCHASTIC ? mpnum_random(7, i) : 0;
    const uint32_t code = mpnum_encode(current.format, mpnum_from_bits_f32(numbers[i]),
                                       rounding, overflow, random);
    wanted_codes[i] = (uint16_t)code;
    made_bytes[i] = (uint8_t)code;
  }
  for (i = 0; i < ISAS; ++i) {
    const int is_byte = current.width <= 8;
    if (force_isa(isas[i]) != MPNUM_OK) continue;
    memset(made, 0xa5, sizeof *made * NUMBERS);
    CHECK(convert_array_formats(current.format, made, mpnum_format_of(MPNUM_TYPE_F32),
                                numbers, NUMBERS, rounding, overflow, 7, 0) == MPNUM_OK,
          "status");
    same("convert_array_formats from f32", isas[i], made,
         is_byte ? (const void *)made_bytes : (const void *)wanted_codes, is_byte ? 1 : 2,
         NUMBERS);
  }
  if (rounding != MPNUM_ROUND_NEAREST_EVEN || current.width > 8) return;
  for (i = 0; i < ISAS; ++i) {
    if (force_isa(isas[i]) != MPNUM_OK) continue;
    encode_bytes_from(isas[i], MPNUM_TYPE_F32, overflow);
    encode_bytes_from(isas[i], MPNUM_TYPE_F16, overflow);
    encode_bytes_from(isas[i], MPNUM_TYPE_BF16, overflow);
  }
}

static void try_format(int sign_bits, int exponent_bits, int mantissa_bits, int bias,
                       mpnum_specials specials) {
  if (mpnum_format_init(&current.format, sign_bits, exponent_bits, mantissa_bits, bias,
                        specials) != MPNUM_OK)
    return;
  current.width = sign_bits + exponent_bits + mantissa_bits;
  snprintf(current.name, sizeof current.name, "%d.%d.%d bias %d specials %d", sign_bits,
           exponent_bits, mantissa_bits, bias, (int)specials);
  choose_numbers();
  decodes();
  encodes(MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE);
  encodes(MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE);
  encodes(formats_tried % 2 ? MPNUM_ROUND_STOCHASTIC : MPNUM_ROUND_TOWARD_ZERO,
          MPNUM_OVERFLOW_IEEE);
  ++formats_tried;
}

/* The biases that a format is tried with: in the quick tier its own and, in turn, one of
 * the others. */
static int biases_of(int exponent_bits, int turn, int all, int *biases) {
  const int ieee = (1 << (exponent_bits - 1)) - 1;
  const int others[] = {ieee + 2, 15,  16,  0,   1,   -1,   99,   100, 112,
                        120,      125, 126, 127, -90, -112, -113, -120};
  const int count = (int)(sizeof others / sizeof others[0]);
  int i = 0;
  biases[0] = ieee;
  if (!all) {
    biases[1] = others[turn % count];
    return 2;
  }
  for (; i < count; ++i)
    biases[i + 1] = others[i];
  return count + 1;
}

static int tries_all;
static void arrays_of_formats_are_scalar(int least_width, int most_width) {
  const mpnum_isa before = isa_in_use();
  int sign = 0, exponent = 0, mantissa = 0, specials = 0, turn = 0, biases[20], i = 0;
  for (sign = 0; sign <= 1; ++sign)
    for (exponent = 1; exponent <= 8; ++exponent)
      for (mantissa = 0; mantissa <= 15; ++mantissa) {
        const int width = sign + exponent + mantissa;
        if (width < least_width || width > most_width) continue;
        for (specials = 0; specials <= MPNUM_SPECIALS_P3109; ++specials) {
          const int count = biases_of(exponent, turn++, tries_all, biases);
          for (i = 0; i < count; ++i)
            try_format(sign, exponent, mantissa, biases[i], (mpnum_specials)specials);
        }
      }
  CHECK(force_isa(before) == MPNUM_OK, "back");
}

static void bytes_of_every_format_are_scalar(void) { arrays_of_formats_are_scalar(2, 8); }
static void wider_formats_are_scalar(void) {
  arrays_of_formats_are_scalar(tries_all ? 9 : 15, 16);
}

/* The rows that decoded wrongly when loops took five bits of exponent for f16's and a
 * sign for given; all biases, as array_formats_all has them of all formats. */
static void rows_that_were_wrong_are_scalar(void) {
  const mpnum_isa before = isa_in_use();
  try_format(0, 5, 3, 15, MPNUM_SPECIALS_FN); /* e5m3 */
  try_format(1, 5, 2, 15, MPNUM_SPECIALS_FN);
  try_format(1, 6, 1, 31, MPNUM_SPECIALS_IEEE);
  try_format(1, 5, 2, 17, MPNUM_SPECIALS_IEEE);
  try_format(1, 5, 1, 15, MPNUM_SPECIALS_IEEE);
  try_format(1, 2, 4, 1, MPNUM_SPECIALS_IEEE);
  try_format(1, 3, 3, 3, MPNUM_SPECIALS_IEEE);
  try_format(1, 4, 2, 7, MPNUM_SPECIALS_IEEE);
  try_format(1, 3, 1, 3, MPNUM_SPECIALS_FN);
  try_format(0, 4, 4, 7, MPNUM_SPECIALS_FN);
  CHECK(force_isa(before) == MPNUM_OK, "back");
}

static void formats_were_many(void) {
  printf("# %zu formats, %zu times decoded and %zu times encoded by loops of bytes\n",
         formats_tried, decoded_by_loop, encoded_by_loop);
  CHECK(formats_tried > 400, "%zu", formats_tried);
#if MPNUM_HAS_VECTORS_
  CHECK(decoded_by_loop > 200 && encoded_by_loop > 500, "%zu, %zu", decoded_by_loop,
        encoded_by_loop);
#endif
}

int main(int argc, char **argv) {
  tries_all = argc > 1 && strcmp(argv[1], "--all") == 0;
  TAP_RUN(rows_that_were_wrong_are_scalar);
  TAP_RUN(bytes_of_every_format_are_scalar);
  TAP_RUN(wider_formats_are_scalar);
  TAP_RUN(formats_were_many);
  return tap_done();
}
