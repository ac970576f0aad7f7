/* SPDX-License-Identifier: MIT */
/* The slow reference for block formats, against the CPU's own arithmetic and figures
 * taken by hand from OCP MX 1.0 and the definitions of docs/blocks.md. */
#include "block_reference.h"
#include "conversion_inputs.h"
#include "../harness/control_word.h"
#include "../harness/float_bits.h"
#include "../harness/tap.h"

#include <inttypes.h>
#include <string.h>

/* volatile: one instruction each, in the environment that is set. */
static uint32_t product_of(uint32_t a, uint32_t b) {
  volatile float x = float_of(a), y = float_of(b), z = x * y;
  return bits_of_float(z);
}
static uint32_t quotient_of(uint32_t a, uint32_t b) {
  volatile float x = float_of(a), y = float_of(b), z = x / y;
  return bits_of_float(z);
}
static int same(uint32_t got, uint32_t want) {
  return got == want || ((want & UINT32_C(0x7fffffff)) > UINT32_C(0x7f800000) &&
                         got == UINT32_C(0x7fffffff));
}

static void check_arithmetic(uint32_t a, uint32_t b) {
  const uint64_t before = control_word();
  set_control_word(control_word_of(FE_TONEAREST));
  const uint32_t product = product_of(a, b), quotient = quotient_of(a, b);
  set_control_word(before);
  CHECK(same(ref_multiply(a, b), product), "%08x * %08x: %08x, CPU %08x", a, b,
        ref_multiply(a, b), product);
  CHECK(same(ref_divide(a, b), quotient), "%08x / %08x: %08x, CPU %08x", a, b,
        ref_divide(a, b), quotient);
}

static void f32_operations_are_those_of_the_cpu(void) {
  static const uint32_t edges[] = {
      0,          1,          2,          3,          0x007fffff, 0x00800000, 0x00800001,
      0x00ffffff, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fc00000, 0x43e00000, 0x7effffff,
      0x7f000000, 0x7f7ffffe, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x40c00000};
  enum { EDGES = sizeof edges / sizeof edges[0] };
  uint64_t state = 1;
  for (int i = 0; i < EDGES * EDGES; ++i)
    for (int signs = 0; signs < 4; ++signs)
      check_arithmetic(edges[i / EDGES] | (uint32_t)signs << 31,
                       edges[i % EDGES] | (uint32_t)(signs >> 1) << 31);
  for (int i = 0; i < 300000; ++i) {
    const uint64_t word = random_bits(&state), more = random_bits(&state);
    uint32_t a = (uint32_t)word, b = (uint32_t)(word >> 32);
    /* Half of them with few bits: ties; a quarter with results near the subnormals. */
    if (more & 1) a &= UINT32_C(0xfffff000), b &= UINT32_C(0xfffff800);
    if ((more & 6) == 0) b = (b & UINT32_C(0x807fffff)) | (127 - (a >> 23 & 127)) << 23;
    check_arithmetic(a, b);
  }
}

static ref_blocks make(const char *element, ref_rule rule) {
  ref_blocks blocks;
  memset(&blocks, 0, sizeof blocks);
  blocks.is_int8 = strcmp(element, "int8") == 0;
  blocks.element = blocks.is_int8 ? ref_int8(rule) : *ref_format_named(element);
  blocks.rule = rule;
  blocks.rows = 1;
  blocks.columns = 32;
  return blocks;
}

static void shared_exponents_are_as_by_hand(void) {
  static const struct {
    const char *element;
    uint32_t amax;
    uint32_t codes[4]; /* FLOOR, CEIL, EVEN, RCEIL */
  } cases[] = {
      {"e4m3", 0x3fe00000, {119, 120, 119, 119}}, /* 1.75 */
      {"e2m1", 0x3fe00000, {125, 126, 126, 126}},
      {"e4m3", 0x43f00000, {127, 128, 127, 128}}, /* 480 */
      {"e4m3", 0x7f7fffff, {246, 247, 247, 247}},
      {"e5m2", 0x3f800000, {112, 112, 112, 112}}, /* 1 = 2^-15 * 2^15 */
      {"e3m2", 0x41e00000, {127, 128, 127, 127}}, /* 28, the largest */
      {"e2m3", 0x40f00000, {127, 128, 127, 127}}, /* 7.5 */
      {"e2m3", 0x40f00001, {127, 128, 127, 128}},
      {"int8", 0x3ffe0000, {127, 128, 127, 127}}, /* 127/64 */
      {"int8", 0x3fff0000, {127, 128, 128, 128}}, /* 127.5/64, a tie */
      {"int8", 0x7f7fffff, {254, 254, 254, 254}}, /* 2^128 has no code */
      {"int8", 0x00000001, {0, 0, 0, 0}},
      {"e5m2", 0x00800000, {0, 0, 0, 0}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    for (int rule = REF_FLOOR; rule <= REF_RCEIL; ++rule) {
      const ref_blocks blocks = make(cases[i].element, (ref_rule)rule);
      const uint32_t got = ref_block_scale(&blocks, cases[i].amax, 0);
      CHECK(got == cases[i].codes[rule], "%s, rule %d, amax %08x: got %u, want %u",
            cases[i].element, rule, cases[i].amax, got, cases[i].codes[rule]);
    }
}

static void two_level_scales_are_as_by_hand(void) {
  static const struct {
    float amax;
    uint32_t code;
  } cases[] = {{1, 0x7e},         {0.1f, 0x63},    {1e-3f, 0x2e},
               {1.0f / 28672, 8}, {2.2e-6f, 0x01}, {1.08e-6f, 0x00}};
  const ref_blocks blocks = make("e2m1", REF_TWO_LEVEL);
  const uint32_t scale = ref_tensor_scale(bits_of_float(1), UINT32_C(0x40c00000));
  CHECK(scale == UINT32_C(0x45280000), "2688 is %08x", scale);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const uint32_t got = ref_block_scale(&blocks, bits_of_float(cases[i].amax), scale);
    CHECK(got == cases[i].code, "amax %g: got %02x, want %02x", (double)cases[i].amax,
          got, cases[i].code);
  }
  /* ue5m3 under 1: 1 / 6 is 1.333 2^-3, to 1.375; 6 2^-17 one step; 6 114688 the last. */
  static const struct {
    float amax;
    uint32_t code;
  } wide[] = {{1, 0x63},          {6, 0x78},      {0x1.8p-15f, 0x01},
              {0x1.7p-16f, 0x00}, {688128, 0xfe}, {1e30f, 0xfe}};
  ref_blocks ue5m3 = blocks;
  ue5m3.scale = "ue5m3";
  for (size_t i = 0; i < sizeof wide / sizeof wide[0]; ++i) {
    const uint32_t got =
        ref_block_scale(&ue5m3, bits_of_float(wide[i].amax), bits_of_float(1));
    CHECK(got == wide[i].code, "amax %g: got %02x, want %02x", (double)wide[i].amax, got,
          wide[i].code);
  }
}

static void a_block_is_as_by_hand(void) {
  /* 6 and its scale 1: ties to even, both zeros, past the largest, small ones lost. */
  const uint32_t src[8] = {0x40c00000, 0x3f400000, 0x3fe00000, 0xc0600000,
                           0x80000000, 0x00000000, 0x3e7fffff, 0xbe800001};
  const uint32_t want[8] = {0x7, 0x2, 0x4, 0xe, 0x8, 0x0, 0x0, 0x9};
  uint32_t codes[8], scale = 0, values[8];
  ref_losses losses = {0, 0, 0, 0};
  const ref_blocks blocks = make("e2m1", REF_RCEIL);
  ref_quantize(&blocks, codes, &scale, src, 1, 8, 0, NULL, &losses);
  CHECK(scale == 127, "%u", scale);
  for (int i = 0; i < 8; ++i)
    CHECK(codes[i] == want[i], "%d: got %x, want %x", i, codes[i], want[i]);
  CHECK(losses.saturated == 0 && losses.underflowed == 1 && losses.nonfinite == 0 &&
            losses.amax == src[0],
        "losses %" PRIu64 " %" PRIu64, losses.saturated, losses.underflowed);
  ref_dequantize(&blocks, values, codes, &scale, 1, 8, 0);
  CHECK(values[3] == UINT32_C(0xc0800000) && values[4] == UINT32_C(0x80000000), "%08x",
        values[3]);
}

int main(void) {
  TAP_RUN(f32_operations_are_those_of_the_cpu);
  TAP_RUN(shared_exponents_are_as_by_hand);
  TAP_RUN(two_level_scales_are_as_by_hand);
  TAP_RUN(a_block_is_as_by_hand);
  return tap_done();
}
