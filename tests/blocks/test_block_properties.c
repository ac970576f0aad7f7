/* SPDX-License-Identifier: MIT */
/* What holds of every block format, whatever its numbers: the error of a block, codes
 * that come back, order. */
#include "block_checks.h"
#include "../harness/float_bits.h"

#include <math.h>

enum { ROWS = 37, COLUMNS = 290, ELEMENTS = ROWS * COLUMNS };
static uint32_t src[ELEMENTS];

static double value_of(uint32_t bits) { return double_of(ref_widen(bits)); }

static void fill(int kind) {
  uint64_t state = (uint64_t)kind + 20;
  switch (kind % 4) {
  case 0: fill_random(src, ELEMENTS, -8, 12, &state); break;
  case 1: fill_random(src, ELEMENTS, -126, 250, &state); break;
  case 2: fill_random(src, ELEMENTS, -1, 1, &state); break;
  default: /* rows of one binade each, from the least to the largest */
    for (int row = 0; row < ROWS; ++row)
      fill_random(src + row * COLUMNS, COLUMNS, -126 + 7 * row, 3, &state);
  }
}
enum { KINDS = 4 };

static size_t block_of(const block_format *format, size_t row, size_t column) {
  const size_t height = format->format.rows ? format->format.rows : ROWS;
  const size_t width = format->format.columns ? format->format.columns : COLUMNS;
  return row / height * blocks_in_a_row(format, COLUMNS) + column / width;
}
/* The largest magnitude of each block. */
static void find_amaxes(const block_format *format, uint32_t *amaxes) {
  memset(amaxes, 0, ELEMENTS * sizeof *amaxes);
  for (size_t i = 0; i < ELEMENTS; ++i) {
    uint32_t *amax = &amaxes[block_of(format, i / COLUMNS, i % COLUMNS)];
    if ((src[i] & ~F32_SIGN) > *amax) *amax = src[i] & ~F32_SIGN;
  }
}
/* The gap between values of the format around a magnitude. */
static double gap_at(const ref_format *element, double magnitude) {
  const double least = double_of(ref_value(element, 1));
  const uint32_t low = ref_locate(element, bits_of_double(magnitude)).low;
  const double gap =
      double_of(ref_value(element, low + 1)) - double_of(ref_value(element, low));
  return gap > least ? gap : least;
}

/* The share of a number that a rule may clip, that of f32's rounding aside. Of the other
 * rules max times the scale is amax or more; a scale of e4m3 is off by 1/17 at most. */
static double most_clipped(const block_format *format) {
  const ref_format *element = &format->reference.element;
  const double max = double_of(ref_value(element, element->max_code));
  const double next_power = ldexp(1, ilogb(max) + 1);
  const double halfway =
      next_power -
      ldexp(1, ilogb(max) - 1 - (format->format.is_int8 ? 6 : element->mantissa_bits));
  if (format->reference.rule == REF_FLOOR) return 1 - max / next_power;
  if (format->reference.rule == REF_EVEN) return halfway > max ? 1 - max / halfway : 0;
  return format->reference.rule == REF_TWO_LEVEL ? 1.0 / 17 : 0;
}

/* |x - y| is at most half a gap of the elements times the scale, or what is clipped. The
 * f32 steps of the rules add a little. A value past FLT_MAX is Inf. */
static void check_errors(const block_format *format) {
  static uint32_t values[ELEMENTS], amaxes[ELEMENTS];
  const ref_format *element = &format->reference.element;
  const double max = double_of(ref_value(element, element->max_code));
  const uint32_t scale = tensor_scale_of(format, src, ELEMENTS);
  const int is_two_level = format->reference.rule == REF_TWO_LEVEL;
  block_words words = allocate_words(format, ROWS, COLUMNS);
  quantize_here(&words, format, src, scale);
  dequantize_here(values, &words, format, scale);
  find_amaxes(format, amaxes);
  for (size_t i = 0; i < ELEMENTS; ++i) {
    const size_t k = block_of(format, i / COLUMNS, i % COLUMNS);
    const double x = value_of(src[i] & ~F32_SIGN), amax = value_of(amaxes[k]);
    const double step = value_of(ref_scale_value(&format->reference, words.scales[k])) /
                        (is_two_level ? value_of(scale) : 1);
    /* Past the largest value the distance to it, else half a gap. */
    const int is_clipped = x > max * step,
              is_infinite = (values[i] & ~F32_SIGN) == F32_INFINITY;
    const double clipped = is_clipped ? x - max * step : 0;
    const double half_gap =
        step > 0 && !is_clipped ? gap_at(element, x / step) / 2 * step : 0;
    const double little = amax * 0x1p-21 + 0x1p-149;
    const double y = is_infinite ? x : value_of(values[i] & ~F32_SIGN);
    /* The block scale of two levels has fewer bits below 2^-6, that of f32 below 2^-126.
     */
    const int is_normal =
        is_two_level ? words.scales[k] >= 8 : amax > 0x1p-100 && step < 0x1p127;
    if (fabs(x - y) > clipped + half_gap + little ||
        (is_infinite && x + half_gap < 0x1p128 - 0x1p103) ||
        (is_normal && clipped > most_clipped(format) * x + little)) {
      CHECK(0, "%s: %a became %a, scale %a", format->name, x, y, step);
      break;
    }
  }
  free_words(words);
}
static void errors_are_within_their_bound(void) {
  for (int kind = 0; kind < KINDS; ++kind) {
    fill(kind);
    for (int f = 0; f < format_count; ++f)
      check_errors(&formats[f]);
  }
}

/* Codes that come back from their values. Where the largest code of a block is the
 * largest of its binade, all rules give the scale again; CEIL, RCEIL and AMAX_POW2 halve
 * it where amax was rounded down to half of the largest value, and the values are the
 * same. AMAX may give the next float as its scale. TWO_LEVEL: of e2m1 alone, whose
 * largest value is reached though its scale was rounded, and unless the block scale is
 * subnormal. */
static int scale_may_come_back(ref_rule rule, uint32_t before, uint32_t after,
                               int has_same_code) {
  const uint32_t half = rule == REF_AMAX_POW2 ? UINT32_C(1) << 23 : 1;
  if (rule == REF_AMAX) return before - after + 1 <= 2;
  if (rule == REF_FLOOR || rule == REF_EVEN || rule == REF_TWO_LEVEL)
    return before == after;
  return before == after ? has_same_code : before == after + half;
}
static void quantised_values_come_back(void) {
  for (int f = 0; f < format_count; ++f)
    for (int kind = 0; kind < KINDS; ++kind) {
      const block_format *format = &formats[f];
      const ref_rule rule = format->reference.rule;
      const int is_exact = rule == REF_FLOOR || rule == REF_EVEN;
      block_words first = allocate_words(format, ROWS, COLUMNS);
      block_words second = allocate_words(format, ROWS, COLUMNS);
      static uint32_t values[ELEMENTS], again[ELEMENTS];
      uint32_t scale = 0;
      fill(kind);
      if (rule >= REF_AMAX) /* a subnormal scale has lost bits of its own */
        for (size_t i = 0; i < ELEMENTS; ++i)
          if ((src[i] & ~F32_SIGN) < 0x0c000000) src[i] = 0;
      scale = tensor_scale_of(format, src, ELEMENTS);
      quantize_here(&first, format, src, scale);
      dequantize_here(values, &first, format, scale);
      for (size_t i = 0; i < ELEMENTS; ++i)
        if ((values[i] & ~F32_SIGN) == F32_INFINITY) {
          src[i] = 0; /* no block with these */
          values[i] = 0;
        }
      quantize_here(&first, format, src, scale);
      dequantize_here(values, &first, format, scale);
      quantize_here(&second, format, values, scale);
      dequantize_here(again, &second, format, scale);
      for (size_t i = 0; i < ELEMENTS; ++i) {
        const size_t k = block_of(format, i / COLUMNS, i % COLUMNS);
        const uint32_t a = first.scales[k], b = second.scales[k];
        const int is_zero = (values[i] & ~F32_SIGN) == 0;
        if (rule == REF_TWO_LEVEL && (a < 8 || format->format.element_bits != 4))
          continue;
        if ((is_exact || rule == REF_AMAX || rule == REF_TWO_LEVEL) && !is_zero &&
            first.codes[i] != second.codes[i]) {
          CHECK(0, "%s: code %" PRIx32 " came back as %" PRIx32, format->name,
                first.codes[i], second.codes[i]);
          break;
        }
        if (rule != REF_AMAX && again[i] != values[i] && !is_zero) {
          CHECK(0,
                "%s: %08" PRIx32 " came back as %08" PRIx32 " scales %" PRIx32
                " %" PRIx32,
                format->name, values[i], again[i], a, b);
          break;
        }
        if (!scale_may_come_back(rule, a, b, first.codes[i] == second.codes[i])) {
          CHECK(0, "%s: scale %08" PRIx32 " came back as %08" PRIx32, format->name, a, b);
          break;
        }
      }
      free_words(first);
      free_words(second);
    }
}

/* Values in order have codes in order. */
static int by_value(const void *a, const void *b) {
  int32_t x, y;
  memcpy(&x, a, 4);
  memcpy(&y, b, 4);
  x = x < 0 ? INT32_MIN - x : x;
  y = y < 0 ? INT32_MIN - y : y;
  return (x > y) - (x < y);
}
static void order_is_kept(void) {
  for (int f = 0; f < format_count; ++f)
    for (int kind = 0; kind < KINDS; ++kind) {
      const block_format *format = &formats[f];
      const size_t width = format->format.columns ? format->format.columns : COLUMNS;
      block_words words = allocate_words(format, 1, COLUMNS);
      static uint32_t values[ELEMENTS];
      uint32_t scale = 0;
      fill(kind);
      for (size_t at = 0; at < COLUMNS; at += width)
        qsort(src + at, COLUMNS - at < width ? COLUMNS - at : width, 4, by_value);
      scale = tensor_scale_of(format, src, COLUMNS);
      quantize_here(&words, format, src, scale);
      dequantize_here(values, &words, format, scale);
      for (size_t i = 1; i < COLUMNS; ++i)
        if (i % width && value_of(values[i - 1]) > value_of(values[i])) {
          CHECK(0,
                "%s: %08" PRIx32 " and %08" PRIx32 " became %08" PRIx32 " and %08" PRIx32,
                format->name, src[i - 1], src[i], values[i - 1], values[i]);
          break;
        }
      free_words(words);
    }
}

int main(void) {
  add_block_formats();
  add_user_formats();
  TAP_RUN(errors_are_within_their_bound);
  TAP_RUN(quantised_values_come_back);
  TAP_RUN(order_is_kept);
  return tap_done();
}
