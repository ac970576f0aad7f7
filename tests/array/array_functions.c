/* SPDX-License-Identifier: MIT */
/* Every function of array.h by its name, with the scalar function that says what an
 * element becomes. */
#include "array_functions.h"
#include "../harness/float_bits.h"
#include "array_conversions.h"

#include <mpnum/array/array.h>

#include <string.h>

/* What the names of sources and results stand for. */
#define STORAGE(name, TYPE, bits, width) \
 typedef mpnum_##name storage_##name;    \
 enum { type_##name = MPNUM_TYPE_##TYPE, bits_##name = bits };
ARRAY_TYPES(STORAGE)
typedef float storage_f32;
typedef double storage_f64;
/* clang-format off */
enum { type_f32 = MPNUM_TYPE_F32, bits_f32 = 32, type_f64 = MPNUM_TYPE_F64, bits_f64 = 64 };
/* clang-format on */

/* The value of a source element. */
static float value_f32(uint64_t element) { return float_of((uint32_t)element); }
static double value_f64(uint64_t element) { return double_of(element); }
static float value_f16(uint64_t element) {
  return mpnum_f16_to_f32(mpnum_from_bits_f16((uint32_t)element));
}
static float value_bf16(uint64_t element) {
  return mpnum_bf16_to_f32(mpnum_from_bits_bf16((uint32_t)element));
}

#define CONVERT(function, src, dst)                                     \
 static void convert_##function(void *to, const void *from, size_t n) { \
  function((storage_##dst *)to, (const storage_##src *)from, n);        \
 }
#define DEFINE_NARROW(function, src, dst, scalar)      \
 CONVERT(function, src, dst)                           \
 static uint32_t scalar_##function(uint64_t element) { \
  return scalar(value_##src(element)).bits;            \
 }
#define DEFINE_TO_F32(function, scalar)                \
 CONVERT(function, f64, f32)                           \
 static uint32_t scalar_##function(uint64_t element) { \
  return bits_of_float(scalar(value_f64(element)));    \
 }
#define DEFINE_WIDEN(function, src, scalar, from_bits)        \
 CONVERT(function, src, f32)                                  \
 static uint32_t scalar_##function(uint64_t element) {        \
  return bits_of_float(scalar(from_bits((uint32_t)element))); \
 }
ARRAY_CONVERSIONS(DEFINE_NARROW, DEFINE_TO_F32, DEFINE_WIDEN)
ARRAY_CONVERSIONS_TOO(DEFINE_NARROW, DEFINE_TO_F32)

#define ROW(function, src, dst)                                           \
 {#function,  (mpnum_type)type_##src, (mpnum_type)type_##dst, bits_##src, \
  bits_##dst, convert_##function,     scalar_##function},
#define ROW_NARROW(function, src, dst, scalar)      ROW(function, src, dst)
#define ROW_TO_F32(function, scalar)                ROW(function, f64, f32)
#define ROW_WIDEN(function, src, scalar, from_bits) ROW(function, src, f32)
const array_function array_functions[] = {ARRAY_CONVERSIONS(
    ROW_NARROW, ROW_TO_F32, ROW_WIDEN) ARRAY_CONVERSIONS_TOO(ROW_NARROW, ROW_TO_F32)};
const size_t array_function_count = sizeof array_functions / sizeof array_functions[0];

#define DEFINE_STOCHASTIC(function, dst, scalar)                                     \
 static void convert_##function(void *to, const void *from, size_t n, uint64_t seed, \
                                uint64_t offset) {                                   \
  function((storage_##dst *)to, (const float *)from, n, seed, offset);               \
 }                                                                                   \
 static uint32_t scalar_##function(float x, uint32_t random) {                       \
  return scalar(x, random).bits;                                                     \
 }
ARRAY_STOCHASTIC(DEFINE_STOCHASTIC)
#define ROW_STOCHASTIC(function, dst, scalar) \
 {#function, (mpnum_type)type_##dst, bits_##dst, convert_##function, scalar_##function},
const stochastic_function stochastic_functions[] = {ARRAY_STOCHASTIC(ROW_STOCHASTIC)};
const size_t stochastic_function_count =
    sizeof stochastic_functions / sizeof stochastic_functions[0];

#include "array_entries.inc"
