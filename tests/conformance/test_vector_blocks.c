/* SPDX-License-Identifier: MIT */
/* The vectors of blocks in conformance/ against the headers: scales, elements, where
 * scales lie, dense codes. */
#include "vector_lines.h"

#include <mpnum/blocks/block.h>
#include <mpnum/blocks/blockscale.h>
#include <mpnum/mpnum.h>

#include "../harness/linked.h"
#include "../harness/must.h"

enum { MOST = 2400, ELEMENTS = 32 };
static uint64_t in[MOST], want[MOST], codes[MOST];
static const char *const rules[] = {"floor", "ceil", "even", "rceil"};

/* Codes of 6 and 4 bits in bytes of their own. */
static mpnum_blockscale_format mx_of(const char *line, int rule) {
  static const mpnum_type types[] = {MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2, MPNUM_TYPE_E3M2,
                                     MPNUM_TYPE_E2M3, MPNUM_TYPE_E2M1};
  mpnum_blockscale_format format = mpnum_blockscale_mx_int8((mpnum_blockscale_rule)rule);
  char name[16];
  text_of(line, "element", name, sizeof name);
  for (int i = 0; i < 5; ++i)
    if (strcmp(mpnum_type_name(types[i]), name) == 0)
      format = mpnum_blockscale_mx(types[i], (mpnum_blockscale_rule)rule);
  CHECK(!format.is_int8 || strcmp(name, "int8") == 0, "%s is no element", name);
  format.element_bits = 8;
  return format;
}
static float number_of(const char *line, const char *key) {
  uint64_t word = 0;
  CHECK(words_of(line, key, &word, 1) == 1, "%.40s: no %s", line, key);
  return mpnum_from_bits_f32((uint32_t)word);
}

static void check_scales(const char *line, const char *key,
                         mpnum_blockscale_format format, float tensor_scale) {
  const size_t n = words_of(line, "in", in, MOST);
  CHECK(n > 0 && words_of(line, key, want, MOST) == n, "%.60s: %s", line, key);
  for (size_t i = 0; i < n; ++i, ++cases) {
    const uint32_t got = mpnum_blockscale_scale(
        &format, mpnum_from_bits_f32((uint32_t)in[i]), tensor_scale);
    CHECK(got == want[i], "%.60s, %s of %08x: %02x, want %02x", line, key,
          (uint32_t)in[i], got, (uint32_t)want[i]);
  }
}
static void check_tensor_scale(const char *line) {
  const size_t n = words_of(line, "in", in, MOST);
  CHECK(n > 0 && words_of(line, "scales", want, MOST) == n, "%.60s", line);
  for (size_t i = 0; i < n; ++i, ++cases) {
    const uint32_t got =
        mpnum_bits_f32(mpnum_nvfp4_scale(mpnum_from_bits_f32((uint32_t)in[i])));
    CHECK(got == want[i], "S of %08x: %08x, want %08x", (uint32_t)in[i], got,
          (uint32_t)want[i]);
  }
}
static void check_block(const char *line, mpnum_blockscale_format format, float scale) {
  float x[ELEMENTS], back[ELEMENTS];
  uint8_t got[ELEMENTS], scale_inv = 0;
  uint64_t want_scale = 0;
  const size_t n = words_of(line, "in", in, ELEMENTS);
  CHECK(n == format.columns && words_of(line, "codes", codes, n) == n &&
            words_of(line, "back", want, n) == n &&
            words_of(line, "scale", &want_scale, 1) == 1,
        "%.60s", line);
  for (size_t i = 0; i < n; ++i)
    x[i] = mpnum_from_bits_f32((uint32_t)in[i]);
  mpnum_blockscaled dst = mpnum_blockscaled_of(&format, got, &scale_inv, 1, n);
  dst.scale = scale;
  must(mpnum_quantize_blocks(&format, dst, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, n),
                             NULL, NULL));
  must(
      mpnum_dequantize_blocks(&format, mpnum_matrix_of(MPNUM_TYPE_F32, back, 1, n), dst));
  CHECK(scale_inv == want_scale, "%.60s: scale %02x, want %02x", line, scale_inv,
        (uint32_t)want_scale);
  for (size_t i = 0; i < n; ++i, ++cases) {
    CHECK(got[i] == codes[i], "%.60s, element %d: %02x, want %02x", line, (int)i, got[i],
          (uint32_t)codes[i]);
    CHECK(mpnum_bits_f32(back[i]) == want[i], "%.60s, element %d: back %08x, want %08x",
          line, (int)i, mpnum_bits_f32(back[i]), (uint32_t)want[i]);
  }
}
static void check_places(const char *line) {
  char text[16];
  text_of(line, "rows", text, sizeof text);
  const size_t rows = strtoul(text, NULL, 10);
  text_of(line, "columns", text, sizeof text);
  const size_t columns = strtoul(text, NULL, 10);
  const char *at = values_of(line, "places");
  for (size_t i = 0; i < rows * columns; ++i, ++cases) {
    CHECK(next_text(&at, text, sizeof text), "places end early");
    const size_t got = mpnum_scale_place(i / columns, i % columns, columns);
    CHECK(got == strtoul(text, NULL, 10), "%d x %d, %d: %d, want %s", (int)rows,
          (int)columns, (int)i, (int)got, text);
  }
}
/* The bytes of four codes from the i-th on, or of two. */
#define CODE(name, i) mpnum_from_bits_##name((uint32_t)codes[i])
#define FOUR(name, i)                                                        \
 mpnum_pack_##name##_x4(CODE(name, i), CODE(name, i + 1), CODE(name, i + 2), \
                        CODE(name, i + 3))
static void pack(const char *name, size_t i, uint8_t bytes[3]) {
  const mpnum_e3m2x4 e3m2 = FOUR(e3m2, i);
  const mpnum_e2m3x4 e2m3 = FOUR(e2m3, i);
  memcpy(bytes, strcmp(name, "e3m2") == 0 ? e3m2.bytes : e2m3.bytes, 3);
  if (strcmp(name, "e2m1") == 0)
    bytes[0] = mpnum_pack_e2m1_x2(CODE(e2m1, i), CODE(e2m1, i + 1)).bits;
}
static void check_packed(const char *line) {
  char name[8];
  text_of(line, "element", name, sizeof name);
  const size_t n = words_of(line, "codes", codes, MOST - 4);
  const size_t group = strcmp(name, "e2m1") == 0 ? 2 : 4, size = group - 1;
  CHECK(n > 0 && words_of(line, "bytes", want, MOST) == n / group * size, "%s", name);
  for (size_t i = 0; i < n; i += group, ++cases) {
    uint8_t bytes[3];
    pack(name, i, bytes);
    for (size_t k = 0; k < size; ++k)
      CHECK(bytes[k] == want[i / group * size + k], "%s, %d, byte %d: %02x", name, (int)i,
            (int)k, bytes[k]);
  }
}

static const char *wanted_kind;
static int seen;
static void check_line(const char *line) {
  char kind[32], rule[16];
  text_of(line, "kind", kind, sizeof kind);
  if (strcmp(kind, wanted_kind) != 0) return;
  ++seen;
  if (strcmp(kind, "mx_scale") == 0) {
    for (int i = 0; i < 4; ++i)
      check_scales(line, rules[i], mx_of(line, i), 0);
  } else if (strcmp(kind, "mx_block") == 0) {
    int i = 0;
    text_of(line, "rule", rule, sizeof rule);
    while (i < 3 && strcmp(rules[i], rule) != 0)
      ++i;
    check_block(line, mx_of(line, i), 0);
  } else if (strcmp(kind, "swizzle") == 0) {
    check_places(line);
  } else if (strcmp(kind, "pack") == 0) {
    check_packed(line);
  } else if (strcmp(kind, "nvfp4_tensor_scale") == 0) {
    check_tensor_scale(line);
  } else {
    mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
    format.element_bits = 8;
    if (strcmp(kind, "nvfp4_scale") == 0)
      check_scales(line, "scales", format, number_of(line, "tensor_scale"));
    else
      check_block(line, format, number_of(line, "tensor_scale"));
  }
}
static void check_kind(const char *kind, int least) {
  wanted_kind = kind;
  seen = 0;
  CHECK(each_line("blocks", check_line) > seen && seen >= least, "%d lines of %s", seen,
        kind);
}
static void scales_of_mx(void) { check_kind("mx_scale", 60); }
static void blocks_of_mx(void) { check_kind("mx_block", 1000); }
static void scales_of_nvfp4(void) {
  check_kind("nvfp4_tensor_scale", 1);
  check_kind("nvfp4_scale", 12);
}
static void blocks_of_nvfp4(void) { check_kind("nvfp4_block", 88); }
static void places_of_scales(void) { check_kind("swizzle", 5); }
static void dense_codes(void) { check_kind("pack", 3); }

int main(void) {
  TAP_RUN(scales_of_mx);
  TAP_RUN(blocks_of_mx);
  TAP_RUN(scales_of_nvfp4);
  TAP_RUN(blocks_of_nvfp4);
  TAP_RUN(places_of_scales);
  TAP_RUN(dense_codes);
  printf("# %lld cases\n", cases);
  return tap_done();
}
