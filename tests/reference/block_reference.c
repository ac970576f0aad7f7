/* SPDX-License-Identifier: MIT */
#include "block_reference.h"

#include <string.h>

#define F32_SIGN     UINT32_C(0x80000000)
#define F32_INFINITY UINT32_C(0x7f800000)
#define F32_MAX      UINT32_C(0x7f7fffff)
#define F32_NAN      UINT32_C(0x7fffffff)
#define F64_SIGN     UINT64_C(0x8000000000000000)
#define F64_INFINITY UINT64_C(0x7ff0000000000000)

enum { E8M0_NAN = 255, E4M3_MAX = 126 };

ref_format ref_int8(ref_rule rule) {
  /* One exponent bit gives two binades with one step: every code is a multiple of it. The
   * mantissa's 7 bits and the bias make the step 2^(1 - bias - 7). */
  ref_format format =
      ref_format_make(1, 1, 7, rule <= REF_RCEIL ? 0 : -6, REF_SPECIALS_FINITE);
  format.max_code = 127;
  format.has_negative_zero = 0;
  return format;
}

/* significand * 2^exponent, and a little more where something was cut off, to f32. */
static uint32_t rounded(uint64_t significand, int exponent, int is_cut) {
  uint64_t kept = 0, below = 0, halfway = 0;
  int places = 0, length = 0;
  if (significand == 0) return 0;
  for (uint64_t rest = significand; rest; rest >>= 1)
    ++length;
  /* The unit of the result is 2^-149, or larger if 24 bits are not enough for it. */
  places = length - 24 > -149 - exponent ? length - 24 : -149 - exponent;
  if (places <= 0) {
    kept = significand << -places; /* 24 bits at most */
  } else if (places <= 63) {
    kept = significand >> places;
    below = significand - (kept << places);
    halfway = UINT64_C(1) << (places - 1);
    if (below > halfway || (below == halfway && (is_cut || (kept & 1)))) ++kept;
  }
  exponent += places;
  if (kept < UINT32_C(1) << 23) return (uint32_t)kept; /* subnormal: the unit is 2^-149 */
  /* A carry to 2^24 counts in the exponent's field, as 2^23 does. */
  const int64_t bits = ((int64_t)(exponent + 149) << 23) + (int64_t)kept;
  return bits >= F32_INFINITY ? F32_INFINITY : (uint32_t)bits;
}

static uint64_t significand_of(uint32_t magnitude) {
  const uint32_t mantissa = magnitude & UINT32_C(0x7fffff);
  return magnitude >> 23 ? mantissa | UINT32_C(0x800000) : mantissa;
}
static int exponent_of(uint32_t magnitude) {
  const int field = (int)(magnitude >> 23);
  return (field ? field : 1) - 150;
}

uint32_t ref_multiply(uint32_t a, uint32_t b) {
  const uint32_t sign = (a ^ b) & F32_SIGN;
  a &= ~F32_SIGN;
  b &= ~F32_SIGN;
  if (a > F32_INFINITY || b > F32_INFINITY) return F32_NAN;
  if (a == F32_INFINITY || b == F32_INFINITY)
    return a && b ? sign | F32_INFINITY : F32_NAN;
  return sign | rounded(significand_of(a) * significand_of(b),
                        exponent_of(a) + exponent_of(b), 0);
}

uint32_t ref_divide(uint32_t a, uint32_t b) {
  const uint32_t sign = (a ^ b) & F32_SIGN;
  a &= ~F32_SIGN;
  b &= ~F32_SIGN;
  if (a > F32_INFINITY || b > F32_INFINITY) return F32_NAN;
  if (a == F32_INFINITY) return b < F32_INFINITY ? sign | F32_INFINITY : F32_NAN;
  if (b == 0) return a ? sign | F32_INFINITY : F32_NAN;
  if (a == 0 || b == F32_INFINITY) return sign;
  uint64_t dividend = significand_of(a);
  int exponent = exponent_of(a) - exponent_of(b);
  while (dividend < UINT64_C(1) << 62) { /* so that the quotient has 38 bits or more */
    dividend *= 2;
    --exponent;
  }
  const uint64_t quotient = dividend / significand_of(b);
  return sign | rounded(quotient, exponent, dividend % significand_of(b) != 0);
}

/* 2^exponent as the bits of a double. */
static uint64_t power(int exponent) { return (uint64_t)(exponent + 1023) << 52; }
/* A double times a power of two: all exponents here are far inside its range. */
static uint64_t scaled(uint64_t f64, int exponent) {
  const uint64_t magnitude = f64 & ~F64_SIGN;
  if (magnitude == 0 || magnitude >= F64_INFINITY) return f64;
  return f64 + ((uint64_t)(int64_t)exponent << 52);
}
/* The largest e with 2^e <= value: every number here is a normal double. */
static int floor_log2(uint64_t value) { return (int)(value >> 52) - 1023; }

static uint32_t to_f32(uint64_t f64) {
  const uint64_t magnitude = f64 & ~F64_SIGN, hidden = UINT64_C(1) << 52;
  const uint32_t sign = (uint32_t)(f64 >> 63) << 31;
  if (magnitude == 0) return sign;
  if (magnitude >= F64_INFINITY) return sign | F32_INFINITY;
  return sign |
         rounded((magnitude & (hidden - 1)) | hidden, floor_log2(magnitude) - 52, 0);
}
static uint32_t largest(const ref_format *format) {
  return to_f32(ref_value(format, format->max_code));
}

uint32_t ref_tensor_scale(uint32_t amax, uint32_t element_max) {
  /* 448 times the largest element value: exact for every format of 8 bits. */
  const uint32_t both = ref_multiply(UINT32_C(0x43e00000), element_max);
  uint32_t scale = 0;
  amax &= ~F32_SIGN;
  if (amax == 0 || amax >= F32_INFINITY) return UINT32_C(0x3f800000);
  scale = ref_divide(both, amax);
  return scale < F32_MAX ? scale : F32_MAX;
}

static int shared_exponent(const ref_blocks *blocks, uint64_t amax) {
  const ref_format *format = &blocks->element;
  const int emax = floor_log2(ref_value(format, format->max_code));
  const int e = floor_log2(amax);
  const int is_power = power(e) == amax;
  if (blocks->rule == REF_FLOOR) return e - emax;
  if (blocks->rule == REF_CEIL) return e + !is_power - emax;
  if (blocks->rule == REF_EVEN) {
    /* Half a place of the element's precision more; below 2^-126 that is f32's place. */
    const int mantissa_bits = blocks->is_int8 ? 6 : format->mantissa_bits;
    const uint32_t bits = to_f32(amax);
    uint64_t sum = significand_of(bits) + (UINT64_C(1) << (22 - mantissa_bits));
    int exponent = exponent_of(bits) - emax;
    for (; sum > 1; sum /= 2)
      ++exponent;
    return exponent;
  }
  /* RCEIL: amax times the reciprocal, both rounded to f32, then up. */
  const uint32_t product =
      ref_multiply(to_f32(amax), ref_divide(UINT32_C(0x3f800000), largest(format)));
  if (product == 0) return -300;
  if (product == F32_INFINITY) return 300;
  const uint64_t wide = ref_widen(product);
  return floor_log2(wide) + (power(floor_log2(wide)) != wide);
}

/* The format of scales under a scale of the tensor. */
static const ref_format *two_level_scale(const ref_blocks *blocks) {
  return ref_format_named(blocks->scale ? blocks->scale : "e4m3");
}

uint32_t ref_block_scale(const ref_blocks *blocks, uint32_t amax, uint32_t tensor_scale) {
  const ref_format *format = &blocks->element;
  if (blocks->rule <= REF_RCEIL) {
    int code = amax ? shared_exponent(blocks, ref_widen(amax)) + 127 : 0;
    code = code < 0 ? 0 : code > 254 ? 254 : code;
    return blocks->has_f32_scale ? to_f32(power(code - 127)) : (uint32_t)code;
  }
  if (blocks->rule == REF_TWO_LEVEL) {
    const uint32_t factor = ref_divide(tensor_scale, largest(format));
    uint32_t product = ref_multiply(amax, factor);
    if (product > F32_MAX) product = F32_MAX;
    return ref_encode(two_level_scale(blocks), ref_widen(product), REF_NEAREST_EVEN,
                      REF_SATURATE, 0);
  }
  if (amax < blocks->amax_floor) amax = blocks->amax_floor;
  if (amax == 0) return UINT32_C(0x3f800000);
  uint32_t scale = ref_divide(amax, largest(format));
  if (scale == 0) scale = 1;
  if (scale > F32_MAX) scale = F32_MAX;
  if (blocks->rule == REF_AMAX_POW2) {
    const uint64_t wide = ref_widen(scale);
    int e = floor_log2(wide);
    if (power(e) != wide) ++e;
    scale = to_f32(power(e < -126 ? -126 : e > 127 ? 127 : e)); /* both normal */
  }
  return scale;
}

uint32_t ref_scale_value(const ref_blocks *blocks, uint32_t scale_inv) {
  if (blocks->rule == REF_TWO_LEVEL)
    /* The bit above a code of ue4m3 counts for nothing. */
    return ref_decode_f32(two_level_scale(blocks),
                          blocks->scale && strcmp(blocks->scale, "ue4m3") == 0
                              ? scale_inv & 0x7f
                              : scale_inv);
  if (blocks->rule > REF_RCEIL || blocks->has_f32_scale) return scale_inv;
  return ref_decode_f32(ref_format_named("e8m0"), scale_inv);
}

static uint32_t nan_scale(const ref_blocks *blocks) {
  if (blocks->rule == REF_TWO_LEVEL) return two_level_scale(blocks)->nan_code;
  return blocks->rule > REF_RCEIL || blocks->has_f32_scale ? F32_NAN : E8M0_NAN;
}

/* A magnitude code, or one past the largest. */
static uint32_t magnitude_code(const ref_format *format, uint64_t magnitude,
                               int is_stochastic, uint32_t random) {
  if (magnitude >= F64_INFINITY) return format->max_code + 1;
  const ref_bracket bracket = ref_locate(format, magnitude);
  if (bracket.exact) return bracket.low;
  if (is_stochastic)
    return bracket.low + (uint32_t)(((uint64_t)bracket.fraction + random) >> 32);
  return bracket.low +
         (bracket.side > 0 || (bracket.side == 0 && (bracket.low & 1) != 0));
}

static uint32_t with_sign(const ref_blocks *blocks, uint32_t code, int is_negative) {
  const ref_format *format = &blocks->element;
  if (!is_negative || !format->sign_bits) return code;
  if (blocks->is_int8) return (UINT32_C(0x100) - code) & 0xff;
  if (code == 0 && !format->has_negative_zero) return 0;
  return code | UINT32_C(1) << (format->exponent_bits + format->mantissa_bits);
}

/* The number that is rounded to an element: exact, or by the f32 operations of its rule.
 */
static uint64_t before_rounding(const ref_blocks *blocks, uint32_t x, uint32_t scale_inv,
                                uint32_t tensor_scale) {
  const uint32_t value = ref_scale_value(blocks, scale_inv);
  if (blocks->rule <= REF_RCEIL)
    return scaled(ref_widen(x), -floor_log2(ref_widen(value)));
  if (blocks->rule == REF_TWO_LEVEL) {
    uint32_t factor = ref_divide(UINT32_C(0x3f800000), ref_divide(value, tensor_scale));
    if (factor > F32_MAX) factor = F32_MAX;
    return ref_widen(ref_multiply(x, factor));
  }
  return ref_widen(ref_divide(x, value));
}

static uint32_t element_code(const ref_blocks *blocks, uint32_t x, uint32_t scale_inv,
                             uint32_t tensor_scale, uint32_t random, ref_losses *losses) {
  const ref_format *format = &blocks->element;
  uint32_t code = 0;
  /* A block scale of zero, the least E4M3, leaves nothing. */
  if (blocks->rule != REF_TWO_LEVEL || scale_inv != 0) {
    const uint64_t number = before_rounding(blocks, x, scale_inv, tensor_scale);
    code = magnitude_code(format, number & ~F64_SIGN, blocks->is_stochastic, random);
    /* By definition above the largest value already, where it is chance what comes next.
     */
    losses->saturated += blocks->is_stochastic
                             ? (number & ~F64_SIGN) > ref_value(format, format->max_code)
                             : code > format->max_code;
    if (code > format->max_code) code = format->max_code;
    losses->underflowed += (x & ~F32_SIGN) != 0 && code == 0;
    return with_sign(blocks, code, (x & F32_SIGN) != 0);
  }
  losses->underflowed += (x & ~F32_SIGN) != 0;
  return 0;
}

static size_t length_of(size_t block, size_t all) { return block ? block : all; }
static size_t pieces(size_t block, size_t all) {
  return all ? (all - 1) / length_of(block, all) + 1 : 0;
}

size_t ref_block_count(const ref_blocks *blocks, size_t rows, size_t columns) {
  return pieces(blocks->rows, rows) * pieces(blocks->columns, columns);
}

typedef struct block_place {
  size_t first_row, end_row, first_column, end_column;
} block_place;
static block_place place_of(const ref_blocks *blocks, size_t index, size_t rows,
                            size_t columns) {
  const size_t in_a_row = pieces(blocks->columns, columns);
  const size_t height = length_of(blocks->rows, rows);
  const size_t width = length_of(blocks->columns, columns);
  block_place place = {index / in_a_row * height, 0, index % in_a_row * width, 0};
  place.end_row = rows - place.first_row < height ? rows : place.first_row + height;
  place.end_column =
      columns - place.first_column < width ? columns : place.first_column + width;
  return place;
}
#define FOR_ELEMENTS(place)                                              \
 for (size_t row = (place).first_row; row < (place).end_row; ++row)      \
  for (size_t column = (place).first_column, i = row * columns + column; \
       column < (place).end_column; ++column, ++i)

static void quantize_block(const ref_blocks *blocks, block_place place, uint32_t *codes,
                           uint32_t *scale_inv, const uint32_t *src, size_t columns,
                           uint32_t tensor_scale, const uint32_t *random,
                           ref_losses *losses) {
  const ref_format *format = &blocks->element;
  uint32_t amax = 0, finite = 0;
  FOR_ELEMENTS(place) {
    const uint32_t magnitude = src[i] & ~F32_SIGN;
    losses->nonfinite += magnitude >= F32_INFINITY;
    if (magnitude > amax) amax = magnitude;
    if (magnitude < F32_INFINITY && magnitude > finite) finite = magnitude;
  }
  if (finite > losses->amax) losses->amax = finite;
  if (amax >= F32_INFINITY) {
    *scale_inv = nan_scale(blocks);
    FOR_ELEMENTS(place) codes[i] = format->nan_code ? format->nan_code : format->max_code;
    return;
  }
  *scale_inv = ref_block_scale(blocks, amax, tensor_scale);
  FOR_ELEMENTS(place)
  codes[i] = amax == 0 ? 0
                       : element_code(blocks, src[i], *scale_inv, tensor_scale,
                                      random ? random[i] : 0, losses);
}

void ref_quantize(const ref_blocks *blocks, uint32_t *codes, uint32_t *scales,
                  const uint32_t *src, size_t rows, size_t columns, uint32_t tensor_scale,
                  const uint32_t *random, ref_losses *losses) {
  const size_t count = ref_block_count(blocks, rows, columns);
  for (size_t k = 0; k < count; ++k)
    quantize_block(blocks, place_of(blocks, k, rows, columns), codes, &scales[k], src,
                   columns, tensor_scale, random, losses);
}

static uint64_t element_value(const ref_blocks *blocks, uint32_t code) {
  if (blocks->is_int8) {
    /* -128 is no code that quantising gives, and yet a number. */
    const uint32_t magnitude = code & 0x80 ? 256 - code : code;
    const uint64_t value = ref_value(&blocks->element, magnitude);
    return code & 0x80 ? value | F64_SIGN : value;
  }
  return ref_decode(&blocks->element, code);
}

static uint32_t dequantized(const ref_blocks *blocks, uint32_t code, uint32_t scale_inv,
                            uint32_t tensor_scale) {
  const uint64_t element = element_value(blocks, code);
  const uint32_t value = ref_scale_value(blocks, scale_inv);
  if ((element & ~F64_SIGN) > F64_INFINITY || (value & ~F32_SIGN) > F32_INFINITY)
    return F32_NAN;
  if (blocks->rule <= REF_RCEIL)
    return to_f32(scaled(element, floor_log2(ref_widen(value))));
  const uint32_t product = ref_multiply(to_f32(element), value);
  return blocks->rule == REF_TWO_LEVEL ? ref_divide(product, tensor_scale) : product;
}

void ref_dequantize(const ref_blocks *blocks, uint32_t *dst, const uint32_t *codes,
                    const uint32_t *scales, size_t rows, size_t columns,
                    uint32_t tensor_scale) {
  const size_t count = ref_block_count(blocks, rows, columns);
  for (size_t k = 0; k < count; ++k) {
    const block_place place = place_of(blocks, k, rows, columns);
    FOR_ELEMENTS(place) dst[i] = dequantized(blocks, codes[i], scales[k], tensor_scale);
  }
}
