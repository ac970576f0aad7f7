/* SPDX-License-Identifier: MIT */
/* The laws of functions of two arrays, and of sine and cosine together. */
#include <mpnum/func/func_array.h>

#include "../harness/control_word.h"
#include "laws.h"

typedef struct pair_function {
  mpnum_type type;
  int is_sincos;
  void (*call)(void *first, void *second, const void *a, const void *b, size_t n);
  uint32_t (*scalar)(uint32_t a, uint32_t b); /* of sincos: the sine */
} pair_function;

static float of_bits(uint32_t bits) { return mpnum_from_bits_f32(bits); }
static uint32_t bits_f16(mpnum_f16 x) { return x.bits; }
static uint32_t bits_bf16(mpnum_bf16 x) { return x.bits; }

#define PAIR(name, T, TYPE, real, from, to)                                        \
 static void name##_##T(void *dst, void *unused, const void *a, const void *b,     \
                        size_t n) {                                                \
  (void)unused;                                                                    \
  mpnum_##name##_##T##_array((real *)dst, (const real *)a, (const real *)b, n);    \
 }                                                                                 \
 static uint32_t scalar_##name##_##T(uint32_t a, uint32_t b) {                     \
  return to(mpnum_##name##_##T(from(a), from(b)));                                 \
 }                                                                                 \
 static const pair_function pair_##name##_##T = {MPNUM_TYPE_##TYPE, 0, name##_##T, \
                                                 scalar_##name##_##T};
#define SINCOS(T, TYPE, real, from, to)                                          \
 static void sincos_##T(void *sine, void *cosine, const void *a, const void *b,  \
                        size_t n) {                                              \
  (void)b;                                                                       \
  mpnum_sincos_##T##_array((real *)sine, (real *)cosine, (const real *)a, n);    \
 }                                                                               \
 static uint32_t scalar_sincos_##T(uint32_t a, uint32_t is_cosine) {             \
  real sine, cosine;                                                             \
  mpnum_sincos_##T(from(a), &sine, &cosine);                                     \
  return is_cosine ? to(cosine) : to(sine);                                      \
 }                                                                               \
 static const pair_function pair_sincos_##T = {MPNUM_TYPE_##TYPE, 1, sincos_##T, \
                                               scalar_sincos_##T};
#define TYPES(DO, name)                                       \
 DO(name, f32, F32, float, of_bits, mpnum_bits_f32)           \
 DO(name, f16, F16, mpnum_f16, mpnum_from_bits_f16, bits_f16) \
 DO(name, bf16, BF16, mpnum_bf16, mpnum_from_bits_bf16, bits_bf16)
TYPES(PAIR, logaddexp)
TYPES(PAIR, swiglu)
TYPES(PAIR, geglu)
TYPES(PAIR, pow)
SINCOS(f32, F32, float, of_bits, mpnum_bits_f32)
SINCOS(f16, F16, mpnum_f16, mpnum_from_bits_f16, bits_f16)
SINCOS(bf16, BF16, mpnum_bf16, mpnum_from_bits_bf16, bits_bf16)

static void draw_pair(law_draw *d) { /* a, b or nothing, result, another of sincos */
  const pair_function *f = (const pair_function *)d->entry;
  d->rows = 1;
  d->columns = law_size(d, 960, 3000);
  d->column_unit = 1;
  law_input(d, OF_ELEMENTS, f->type, 0);
  if (f->is_sincos) {
    law_none(d);
  } else {
    law_input(d, OF_ELEMENTS, f->type, 0);
  }
  law_result(d, OF_ELEMENTS, law_bits(f->type), 0);
  if (f->is_sincos) law_result(d, OF_ELEMENTS, law_bits(f->type), 0);
  d->operands[2].lies_on = f->is_sincos || law_below(d, 2) ? 1 : 2;
}
static mpnum_status pair(const law_piece *at) {
  const pair_function *f = (const pair_function *)at->draw->entry;
  f->call(at->at[2], f->is_sincos ? at->at[3] : NULL, at->at[0], at->at[1],
          at->rows ? at->columns : 0);
  return MPNUM_OK;
}
/* The scalar functions of f32 promise their bits in the default environment alone. */
static mpnum_status pair_elements(const law_piece *at) {
  const pair_function *f = (const pair_function *)at->draw->entry;
  const int bits = law_bits(f->type);
  const uint64_t before = control_word();
  set_control_word(control_word_of(FE_TONEAREST));
  for (size_t i = 0; i < at->columns; ++i) {
    const uint32_t a = (uint32_t)law_get(bits, at->at[0], i);
    const uint32_t b = f->is_sincos ? 0 : (uint32_t)law_get(bits, at->at[1], i);
    law_set(bits, at->at[2], i, f->scalar(a, b));
    if (f->is_sincos) law_set(bits, at->at[3], i, f->scalar(a, 1));
  }
  set_control_word(before);
  return MPNUM_OK;
}

#define ROW(name, T, TYPE, real, from, to)                                 \
 {"mpnum_" #name "_" #T "_array",                                          \
  draw_pair,                                                               \
  pair,                                                                    \
  MEMORY_LAWS | HOLDS(LAW_SPLIT) | HOLDS(LAW_IN_PLACE) | HOLDS(LAW_EMPTY), \
  {{LAW_ELEMENTS, pair_elements}},                                         \
  NULL,                                                                    \
  &pair_##name##_##T},
static const law_subject subjects[] = {TYPES(ROW, logaddexp) TYPES(ROW, swiglu) TYPES(
    ROW, geglu) TYPES(ROW, pow) TYPES(ROW, sincos)};

int main(int argc, char **argv) {
  return laws_main(argc, argv, subjects, sizeof subjects / sizeof subjects[0],
                   mpnum_isa_force, 40);
}
