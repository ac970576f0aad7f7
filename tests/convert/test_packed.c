/* SPDX-License-Identifier: MIT */
/* The packed forms x2 and x4 are the scalars side by side, element 0 lowest: lanes of 16,
 * 8 or 4 bits, and for the 6-bit types of 8 bits in x2 and 6 bits in x4. */
#include "../reference/conversion_inputs.h"
#include "conversion_types.h"
#include "../harness/tap.h"

#include <inttypes.h>
#include <stdlib.h>

static uint64_t bits_of_u32(uint32_t bits) { return bits; }
static uint64_t bits_of_bytes(const uint8_t *bytes) {
  return bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16;
}

/* A packed form through one signature: the packed word, and the floats back from one. */
typedef struct packed_form {
  const char *name;
  const char *type;
  int count, lane_bits;
  ref_rounding rounding;
  ref_overflow overflow;
  uint64_t (*pack)(const float *x);              /* mpnum_f32_to_T..._xN */
  uint64_t (*pack_codes)(const uint32_t *codes); /* mpnum_pack_T_xN */
  void (*to_f32)(const uint32_t *codes, float *values);
  uint32_t (*unpack)(const uint32_t *codes, int index);
} packed_form;

#define PACK_2(name, WORD)                                               \
 static mpnum_##name##x2 name##x2_of(const uint32_t *codes) {            \
  return mpnum_pack_##name##_x2(mpnum_from_bits_##name(codes[0]),        \
                                mpnum_from_bits_##name(codes[1]));       \
 }                                                                       \
 static uint64_t name##x2_pack(const uint32_t *codes) {                  \
  return WORD(name##x2_of(codes));                                       \
 }                                                                       \
 static void name##x2_to_f32(const uint32_t *codes, float *values) {     \
  const mpnum_f32x2 pair = mpnum_##name##_to_f32_x2(name##x2_of(codes)); \
  values[0] = pair.x;                                                    \
  values[1] = pair.y;                                                    \
 }                                                                       \
 static uint32_t name##x2_unpack(const uint32_t *codes, int index) {     \
  return mpnum_unpack_##name##_x2(name##x2_of(codes), index).bits;       \
 }
#define PACK_4(name, WORD)                                                 \
 static mpnum_##name##x4 name##x4_of(const uint32_t *codes) {              \
  return mpnum_pack_##name##_x4(                                           \
      mpnum_from_bits_##name(codes[0]), mpnum_from_bits_##name(codes[1]),  \
      mpnum_from_bits_##name(codes[2]), mpnum_from_bits_##name(codes[3])); \
 }                                                                         \
 static uint64_t name##x4_pack(const uint32_t *codes) {                    \
  return WORD(name##x4_of(codes));                                         \
 }                                                                         \
 static void name##x4_to_f32(const uint32_t *codes, float *values) {       \
  const mpnum_f32x4 four = mpnum_##name##_to_f32_x4(name##x4_of(codes));   \
  values[0] = four.x;                                                      \
  values[1] = four.y;                                                      \
  values[2] = four.z;                                                      \
  values[3] = four.w;                                                      \
 }                                                                         \
 static uint32_t name##x4_unpack(const uint32_t *codes, int index) {       \
  return mpnum_unpack_##name##_x4(name##x4_of(codes), index).bits;         \
 }
#define FROM_2(name, suffix, WORD)                            \
 static uint64_t f32_to_##name##suffix##_x2(const float *x) { \
  return WORD(mpnum_f32_to_##name##suffix##_x2(x[0], x[1]));  \
 }
#define FROM_4(name, suffix, WORD)                                       \
 static uint64_t f32_to_##name##suffix##_x4(const float *x) {            \
  return WORD(mpnum_f32_to_##name##suffix##_x4(x[0], x[1], x[2], x[3])); \
 }
#define IN_BITS(packed)       bits_of_u32((packed).bits)
#define IN_BYTES(packed)      bits_of_bytes((packed).bytes)
#define FROM_24(name, suffix) FROM_2(name, suffix, IN_BITS) FROM_4(name, suffix, IN_BITS)
#define PACK_24(name)         PACK_2(name, IN_BITS) PACK_4(name, IN_BITS)

/* clang-format off */
PACK_2(f16, IN_BITS) FROM_2(f16, , IN_BITS) FROM_2(f16, _sat, IN_BITS)
PACK_2(bf16, IN_BITS) FROM_2(bf16, , IN_BITS) FROM_2(bf16, _sat, IN_BITS)
PACK_24(e5m2) FROM_24(e5m2, ) FROM_24(e5m2, _sat)
PACK_24(e4m3) FROM_24(e4m3, ) FROM_24(e4m3, _sat)
PACK_2(e8m0, IN_BITS) FROM_2(e8m0, _ru_sat, IN_BITS) FROM_2(e8m0, _rz_sat, IN_BITS)
PACK_2(e3m2, IN_BITS) FROM_2(e3m2, _sat, IN_BITS)
PACK_2(e2m3, IN_BITS) FROM_2(e2m3, _sat, IN_BITS)
PACK_4(e3m2, IN_BYTES) FROM_4(e3m2, _sat, IN_BYTES)
PACK_4(e2m3, IN_BYTES) FROM_4(e2m3, _sat, IN_BYTES)
PACK_24(e2m1) FROM_24(e2m1, _sat)

#define FORM(name, suffix, count, lane_bits, rounding, overflow) \
  {#name #suffix "_x" #count, #name, count, lane_bits, rounding, overflow, \
   f32_to_##name##suffix##_x##count, name##x##count##_pack, name##x##count##_to_f32, \
   name##x##count##_unpack}
#define BOTH(name, count, lane_bits) \
  FORM(name, , count, lane_bits, REF_NEAREST_EVEN, REF_IEEE), \
  FORM(name, _sat, count, lane_bits, REF_NEAREST_EVEN, REF_SATURATE)
static const packed_form forms[] = {
  BOTH(f16, 2, 16), BOTH(bf16, 2, 16),
  BOTH(e5m2, 2, 8), BOTH(e5m2, 4, 8), BOTH(e4m3, 2, 8), BOTH(e4m3, 4, 8),
  FORM(e8m0, _ru_sat, 2, 8, REF_UP, REF_SATURATE),
  FORM(e8m0, _rz_sat, 2, 8, REF_TOWARD_ZERO, REF_SATURATE),
  FORM(e3m2, _sat, 2, 8, REF_NEAREST_EVEN, REF_SATURATE),
  FORM(e3m2, _sat, 4, 6, REF_NEAREST_EVEN, REF_SATURATE),
  FORM(e2m3, _sat, 2, 8, REF_NEAREST_EVEN, REF_SATURATE),
  FORM(e2m3, _sat, 4, 6, REF_NEAREST_EVEN, REF_SATURATE),
  FORM(e2m1, _sat, 2, 4, REF_NEAREST_EVEN, REF_SATURATE),
  FORM(e2m1, _sat, 4, 4, REF_NEAREST_EVEN, REF_SATURATE),
};
/* clang-format on */

static const packed_form *form;

/* Codes at random: each in its lane, and each back from it as code and as float. */
static void check_codes(const ref_format *reference, uint64_t *state) {
  const uint32_t mask = (UINT32_C(1) << (reference->sign_bits + reference->exponent_bits +
                                         reference->mantissa_bits)) -
                        1;
  uint32_t codes[4];
  float values[4];
  uint64_t want = 0;
  for (int i = 0; i < form->count; ++i) {
    codes[i] = (uint32_t)random_bits(state) & mask;
    want |= (uint64_t)codes[i] << i * form->lane_bits;
  }
  CHECK(form->pack_codes(codes) == want, "packed as %" PRIx64 ", want %" PRIx64,
        form->pack_codes(codes), want);
  form->to_f32(codes, values);
  for (int i = 0; i < form->count; ++i) {
    CHECK(form->unpack(codes, i) == codes[i], "lane %d of %" PRIx64, i, want);
    CHECK(bits_of_float(values[i]) == ref_decode_f32(reference, codes[i]),
          "lane %d of %" PRIx64, i, want);
  }
}

static void lanes_hold_the_scalars(void) {
  const ref_format *reference = ref_format_named(form->type);
  input_list f32, f64;
  uint64_t state = 7;
  collect_inputs(reference, 1000, &f32, &f64);
  for (size_t i = 0; i < f32.count; ++i) {
    float x[4];
    uint64_t want = 0;
    for (int j = 0; j < form->count; ++j) {
      /* The input in turn in each lane, others drawn from the list. */
      const size_t k =
          j == (int)(i % (size_t)form->count) ? i : random_bits(&state) % f32.count;
      const uint32_t bits = (uint32_t)(f32.bits[k] | (random_bits(&state) & 1) << 31);
      x[j] = float_of(bits);
      want |= (uint64_t)ref_encode(reference, ref_widen(bits), form->rounding,
                                   form->overflow, 0)
              << j * form->lane_bits;
    }
    CHECK(form->pack(x) == want, "got %" PRIx64 ", want %" PRIx64, form->pack(x), want);
    check_codes(reference, &state);
  }
  free(f32.bits);
  free(f64.bits);
}

/* All f16 beside each other, to two 8-bit codes; all pairs of codes back to f16. */
#define F16_PAIRS(name)                                                               \
 static void f16_pairs_become_##name##_pairs(void) {                                  \
  const ref_format *f16 = ref_format_named("f16"), *type = ref_format_named(#name);   \
  for (uint32_t low = 0; low < 65536; ++low) {                                        \
   const uint32_t high =                                                              \
       (low * 40503u + 1) & 0xffffu; /* odd factor: all, out of step */               \
   const mpnum_f16x2 values = {low | high << 16};                                     \
   const uint64_t a = ref_widen(ref_decode_f32(f16, low));                            \
   const uint64_t b = ref_widen(ref_decode_f32(f16, high));                           \
   const uint32_t want = ref_encode(type, a, REF_NEAREST_EVEN, REF_IEEE, 0) |         \
                         ref_encode(type, b, REF_NEAREST_EVEN, REF_IEEE, 0) << 8;     \
   const uint32_t want_sat = ref_encode(type, a, REF_NEAREST_EVEN, REF_SATURATE, 0) | \
                             ref_encode(type, b, REF_NEAREST_EVEN, REF_SATURATE, 0)   \
                                 << 8;                                                \
   const uint32_t got = mpnum_f16_to_##name##_x2(values).bits;                        \
   const uint32_t got_sat = mpnum_f16_to_##name##_sat_x2(values).bits;                \
   CHECK(got == want, "%04x %04x: got %04x, want %04x", low, high, got, want);        \
   CHECK(got_sat == want_sat, "%04x %04x saturating: got %04x, want %04x", low, high, \
         got_sat, want_sat);                                                          \
  }                                                                                   \
 }                                                                                    \
 static void name##_pairs_become_f16_pairs(void) {                                    \
  const ref_format *f16 = ref_format_named("f16"), *type = ref_format_named(#name);   \
  for (uint32_t codes = 0; codes < 65536; ++codes) {                                  \
   const mpnum_##name##x2 packed = {(uint16_t)codes};                                 \
   const uint64_t low = ref_widen(ref_decode_f32(type, codes & 0xffu));               \
   const uint64_t high = ref_widen(ref_decode_f32(type, codes >> 8));                 \
   const uint32_t want = ref_encode(f16, low, REF_NEAREST_EVEN, REF_IEEE, 0) |        \
                         ref_encode(f16, high, REF_NEAREST_EVEN, REF_IEEE, 0) << 16;  \
   const uint32_t got = mpnum_##name##_to_f16_x2(packed).bits;                        \
   CHECK(got == want, "%04x: got %08x, want %08x", codes, got, want);                 \
  }                                                                                   \
 }
F16_PAIRS(e4m3)
F16_PAIRS(e5m2)

int main(void) {
  TAP_RUN(f16_pairs_become_e4m3_pairs);
  TAP_RUN(f16_pairs_become_e5m2_pairs);
  TAP_RUN(e4m3_pairs_become_f16_pairs);
  TAP_RUN(e5m2_pairs_become_f16_pairs);
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i) {
    char name[80];
    form = &forms[i];
    snprintf(name, sizeof name, "%s lanes hold the scalars", form->name);
    tap_run(name, lanes_hold_the_scalars);
  }
  return tap_done();
}
