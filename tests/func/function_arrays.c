/* SPDX-License-Identifier: MIT */
/* Every function of func_array.h with one source, in place of the conversions of
 * array_functions.c: the tests of these then test those. */
#include "../array/array_functions.h"
#include "../harness/control_word.h"
#include "function_rows.h"

#include <mpnum/array/array.h>
#include <mpnum/func/func_array.h>
#include <mpnum/func/light.h>

/* The scalar functions of f32 promise their bits in the default environment alone. */
static uint32_t in_default_environment(float (*function)(float), uint64_t element) {
  return mpnum_bits_f32(
      called_by_default(function, mpnum_from_bits_f32((uint32_t)element)));
}
#define DEFINE_F32(name)                                            \
 static void name##_f32(void *dst, const void *src, size_t n) {     \
  mpnum_##name##_f32_array((float *)dst, (const float *)src, n);    \
 }                                                                  \
 static float f32_##name(float x) { return mpnum_##name##_f32(x); } \
 static uint32_t scalar_##name##_f32(uint64_t element) {            \
  return in_default_environment(f32_##name, element);               \
 }
#define DEFINE(name, ...)                                                   \
 DEFINE_F32(name)                                                           \
 static void name##_f16(void *dst, const void *src, size_t n) {             \
  mpnum_##name##_f16_array((mpnum_f16 *)dst, (const mpnum_f16 *)src, n);    \
 }                                                                          \
 static void name##_bf16(void *dst, const void *src, size_t n) {            \
  mpnum_##name##_bf16_array((mpnum_bf16 *)dst, (const mpnum_bf16 *)src, n); \
 }                                                                          \
 static uint32_t scalar_##name##_f16(uint64_t element) {                    \
  return mpnum_##name##_f16(mpnum_from_bits_f16((uint32_t)element)).bits;   \
 }                                                                          \
 static uint32_t scalar_##name##_bf16(uint64_t element) {                   \
  return mpnum_##name##_bf16(mpnum_from_bits_bf16((uint32_t)element)).bits; \
 }
#define DEFINE_SAT(name, NAME, forms, ...) IF_SATURATING_##forms(DEFINE(name##_sat, ))
MPNUM_FUNCTION_ROWS_(DEFINE)
MPNUM_FUNCTION_ROWS_(DEFINE_SAT)
#define DEFINE_LIGHT(name) DEFINE_F32(name##_light)
MPNUM_LIGHT_ROWS_(DEFINE_LIGHT)

#define ROW(name, type, TYPE, bits)  \
 {"mpnum_" #name "_" #type "_array", \
  MPNUM_TYPE_##TYPE,                 \
  MPNUM_TYPE_##TYPE,                 \
  bits,                              \
  bits,                              \
  name##_##type,                     \
  scalar_##name##_##type},
#define ROWS(name, ...) \
 ROW(name, f32, F32, 32) ROW(name, f16, F16, 16) ROW(name, bf16, BF16, 16)
#define ROWS_SAT(name, NAME, forms, ...) IF_SATURATING_##forms(ROWS(name##_sat, ))
#define ROW_LIGHT(name)                  ROW(name##_light, f32, F32, 32)
const array_function array_functions[] = {MPNUM_FUNCTION_ROWS_(ROWS) MPNUM_FUNCTION_ROWS_(
    ROWS_SAT) MPNUM_LIGHT_ROWS_(ROW_LIGHT)};
const size_t array_function_count = sizeof array_functions / sizeof array_functions[0];

/* None of these. */
const stochastic_function stochastic_functions[] = {
    {NULL, MPNUM_TYPE_F32, 0, NULL, NULL}};
const size_t stochastic_function_count = 0;
#include "../array/array_entries.inc"
