/* SPDX-License-Identifier: MIT */
/* For bits.c: a line for each function of func.h. Those of f32 promise their bits only
 * where nothing is flushed, rounding is to nearest and -ffast-math is off; elsewhere
 * their lines hold no hash. */
#ifndef MPNUM_TESTS_BITS_FUNCTIONS_H
#define MPNUM_TESTS_BITS_FUNCTIONS_H

#include "../func/function_rows.h"
#include "bits_inputs.h"

#include <mpnum/func/fast.h>
#include <mpnum/func/light.h>

static int has_f32_functions;

#define SMALL_FUNCTION(function, type)            \
 HASH(mpnum_##function##_##type, FOR_CODES(type), \
      put(mpnum_##function##_##type(CODE(type)).bits));
#define F32_FUNCTION(function)                      \
 if (has_f32_functions)                             \
  HASH(mpnum_##function##_f32, FOR_FUNCTION_F32,    \
       put_f32(mpnum_##function##_f32(f32_at(i)))); \
 else                                               \
  printf("mpnum_" #function "_f32 -\n");
#define FOR_FUNCTION_F32 for (uint32_t i = 0, n = 2 * f32_count; i < n; i += 13)

#define FUNCTION(function)     \
 F32_FUNCTION(function)        \
 SMALL_FUNCTION(function, f16) \
 SMALL_FUNCTION(function, bf16)
#define FUNCTION_ROW(name, NAME, forms, ...) \
 FUNCTION(name)                              \
 IF_SATURATING_##forms(FUNCTION(name##_sat))
#define LIGHT_FUNCTION(name) F32_FUNCTION(name##_light)
#define SMALL_FUNCTION_OF_TWO(function, type) \
 HASH(mpnum_##function##_##type, FOR_PAIRS,   \
      put(mpnum_##function##_##type(LEFT(type), RIGHT(type)).bits));
#define FUNCTION_OF_TWO(function, ...)                                 \
 SMALL_FUNCTION_OF_TWO(function, f16)                                  \
 SMALL_FUNCTION_OF_TWO(function, bf16)                                 \
 if (has_f32_functions)                                                \
  HASH(mpnum_##function##_f32, FOR_FUNCTION_F32,                       \
       put_f32(mpnum_##function##_f32(f32_at(i), f32_at(n - 1 - i)))); \
 else                                                                  \
  printf("mpnum_" #function "_f32 -\n");

/* x from 1/2 to 2, |y| below 16: results in which every step of pow counts. */
static float pow_near_1(uint32_t i) {
  const uint64_t random = mix(i);
  const float x = mpnum_from_bits_f32(0x3f000000u + (uint32_t)(random & 0x00ffffffu));
  return mpnum_pow_f32(x, (float)((int)(random >> 40) - 8388608) / 524288);
}
#define FOR_POW for (uint32_t i = 0; i < 1u << 18; ++i)

static void print_functions(void) {
  collect_f32();
  MPNUM_FUNCTION_ROWS_(FUNCTION_ROW)
  MPNUM_LIGHT_ROWS_(LIGHT_FUNCTION)
  F32_FUNCTION(exp_fast)
  F32_FUNCTION(sigmoid_fast)
  F32_FUNCTION(tanh_fast)
  F32_FUNCTION(silu_fast)
  F32_FUNCTION(gelu_tanh_fast)
  MPNUM_FUNCTION_ROWS_OF_TWO_(FUNCTION_OF_TWO)
  if (has_f32_functions)
    HASH(mpnum_pow_near_1_f32, FOR_POW, put_f32(pow_near_1(i)));
  else
    printf("mpnum_pow_near_1_f32 -\n");
}

#endif
