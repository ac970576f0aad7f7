/* SPDX-License-Identifier: MIT */
/* For bits.c: a line for each function of func.h. Those of f32 promise their bits only
 * where nothing is flushed, rounding is to nearest and -ffast-math is off; elsewhere
 * their lines hold no hash. */
#ifndef MPNUM_TESTS_BITS_FUNCTIONS_H
#define MPNUM_TESTS_BITS_FUNCTIONS_H

#include "bits_inputs.h"

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
#define FUNCTION_AND_SAT(function) \
 FUNCTION(function)                \
 FUNCTION(function##_sat)
#define SMALL_FUNCTION_OF_TWO(function, type) \
 HASH(mpnum_##function##_##type, FOR_PAIRS,   \
      put(mpnum_##function##_##type(LEFT(type), RIGHT(type)).bits));
#define FUNCTION_OF_TWO(function)                                      \
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
  FUNCTION_AND_SAT(exp)
  FUNCTION_AND_SAT(exp2)
  FUNCTION_AND_SAT(exp10)
  FUNCTION_AND_SAT(expm1)
  FUNCTION_AND_SAT(log)
  FUNCTION_AND_SAT(log2)
  FUNCTION_AND_SAT(log10)
  FUNCTION(log1p)
  FUNCTION(sqrt)
  FUNCTION_AND_SAT(rsqrt)
  FUNCTION_AND_SAT(reciprocal)
  FUNCTION(sigmoid)
  FUNCTION(tanh)
  FUNCTION(softplus)
  FUNCTION(silu)
  FUNCTION(gelu)
  FUNCTION(gelu_tanh)
  FUNCTION(erf)
  FUNCTION(sin)
  FUNCTION(cos)
  FUNCTION(sigmoid_derivative)
  FUNCTION(tanh_derivative)
  FUNCTION(silu_derivative)
  FUNCTION(gelu_derivative)
  FUNCTION(gelu_tanh_derivative)
  FUNCTION_OF_TWO(logaddexp)
  FUNCTION_OF_TWO(swiglu)
  FUNCTION_OF_TWO(geglu)
  FUNCTION_OF_TWO(pow)
  if (has_f32_functions)
    HASH(mpnum_pow_near_1_f32, FOR_POW, put_f32(pow_near_1(i)));
  else
    printf("mpnum_pow_near_1_f32 -\n");
}

#endif
