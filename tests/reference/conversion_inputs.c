/* SPDX-License-Identifier: MIT */
#include "conversion_inputs.h"

#include <stdlib.h>

#define F32_INFINITY UINT32_C(0x7f800000)
#define F64_INFINITY UINT64_C(0x7ff0000000000000)

uint64_t random_bits(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static void add(input_list *list, uint64_t bits) {
  if (list->count == list->room) {
    list->room = list->room ? 2 * list->room : 4096;
    uint64_t *grown = (uint64_t *)realloc(list->bits, list->room * sizeof *grown);
    if (!grown) abort();
    list->bits = grown;
  }
  list->bits[list->count++] = bits;
}

static void add_with_neighbours(input_list *list, uint64_t bits) {
  if (bits > 0) add(list, bits - 1);
  add(list, bits);
  add(list, bits + 1);
}

/* A point of the format, and what each source has next to it. */
static void add_point(uint64_t point, input_list *f32, input_list *f64) {
  uint32_t narrow = 0;
  add_with_neighbours(f64, point);
  if (!ref_narrow(point, &narrow)) return;
  add_with_neighbours(f32, narrow);
  add(f64, point + (UINT64_C(1) << 28)); /* a half behind the places of f32 */
  if (narrow > 0) add(f64, ref_widen(narrow - 1));
  if (narrow < F32_INFINITY) add(f64, ref_widen(narrow + 1));
}

static void add_code(const ref_format *format, uint32_t code, input_list *f32,
                     input_list *f64) {
  add_point(ref_value(format, code), f32, f64);
  add_point(ref_midpoint(format, code), f32, f64);
}

static void add_codes(const ref_format *format, uint32_t most_codes, input_list *f32,
                      input_list *f64) {
  uint32_t step = format->max_code / most_codes | 1; /* odd: even and odd codes alike */
  for (uint32_t code = 0; code < format->max_code; code += step)
    add_code(format, code, f32, f64);
  /* The least codes, the first normals, and the last ones with the value past max. */
  uint32_t normal = UINT32_C(1) << format->mantissa_bits;
  for (uint32_t i = 0; i < 4; ++i) {
    if (i <= format->max_code + 1) add_code(format, i, f32, f64);
    if (normal + i >= 2 && normal + i - 2 <= format->max_code)
      add_code(format, normal + i - 2, f32, f64);
    if (format->max_code + 1 >= i) add_code(format, format->max_code + 1 - i, f32, f64);
  }
}

static void add_source_edges(input_list *f32, input_list *f64) {
  static const uint32_t singles[] = {
      0x00000000, 0x00000001, 0x00000002, 0x00008001, 0x00400000, 0x00400001, 0x007fffff,
      0x00800000, 0x7effffff, 0x7f000000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7f800fff,
      0x7f801fff, 0x7f802000, 0x7f80ffff, 0x7fa5a5a5, 0x7fbfffff, 0x7fc00000, 0x7fffffff};
  static const uint64_t doubles[] = {
      0x0000000000000000, 0x0000000000000001, 0x0008000000000000, 0x000fffffffffffff,
      0x0010000000000000, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff0000000000001,
      0x7ff000001fffffff, 0x7ff0000020000000, 0x7ff00000ffffffff, 0x7ff0000100000000,
      0x7ff5a5a5a5a5a5a5, 0x7ff7ffffffffffff, 0x7ff8000000000000, 0x7fffffffffffffff};
  for (size_t i = 0; i < sizeof singles / sizeof singles[0]; ++i) {
    add(f32, singles[i]);
    add(f64, ref_widen(singles[i]));
  }
  for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; ++i)
    add(f64, doubles[i]);
}

static void add_powers_of_two(input_list *f32, input_list *f64) {
  for (uint32_t bit = 0; bit < 23; ++bit)
    add_with_neighbours(f32, UINT32_C(1) << bit);
  for (uint32_t field = 1; field < 255; ++field) {
    add_with_neighbours(f32, field << 23);
    add_with_neighbours(f32, field << 23 | UINT32_C(0x400000)); /* 1.5 times it */
  }
  for (uint32_t bit = 0; bit < 52; ++bit)
    add_with_neighbours(f64, UINT64_C(1) << bit);
  for (uint64_t field = 1; field < 2047; ++field) {
    add_with_neighbours(f64, field << 52);
    add_with_neighbours(f64, field << 52 | UINT64_C(0x8000000000000));
  }
}

/* Any bits at all, and any bits between one value of the format and the next. */
static void add_random(const ref_format *format, input_list *f32, input_list *f64) {
  uint64_t state = UINT64_C(0x6d706e756d) + format->max_code;
  for (int i = 0; i < 4000; ++i) {
    uint32_t code = (uint32_t)(random_bits(&state) % (format->max_code + UINT64_C(1)));
    uint64_t low = ref_value(format, code), next = ref_value(format, code + 1);
    uint64_t between = low + random_bits(&state) % (next - low);
    uint32_t narrow = 0;
    add(f64, between);
    if (ref_narrow(between & ~UINT64_C(0x1fffffff), &narrow)) add(f32, narrow);
    add(f64, random_bits(&state) >> 1);
    add(f32, random_bits(&state) >> 33);
  }
}

void collect_inputs(const ref_format *format, uint32_t most_codes, input_list *f32,
                    input_list *f64) {
  static const input_list empty = {NULL, 0, 0};
  *f32 = *f64 = empty;
  add_source_edges(f32, f64);
  add_powers_of_two(f32, f64);
  add_codes(format, most_codes, f32, f64);
  add_random(format, f32, f64);
}
