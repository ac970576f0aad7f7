/* SPDX-License-Identifier: MIT */
/* The array functions that are measured: one row each. Where a conversion has two forms,
 * it is the one that is used most; the other runs the same loop with another constant. */
#include "arrays.h"
#include "../math/measure.h"
#include "../../core/message.h"
#include "../../../tests/array/array_conversions.h"

#include <string.h>

#include <mpnum/array/array.h>
#include <mpnum/array/reduce.h>
#include <mpnum/func/func_array.h>
#include <mpnum/rows/hadamard.h>

enum { SEED = 20240229, COLUMNS = 256 };

/* What the sources of conversions hold: values, or codes of every kind. Their bits. */
enum {
  values_f64 = SOURCE_F64,
  values_f32 = SOURCE_F32,
  values_f16 = SOURCE_F16,
  values_bf16 = SOURCE_BF16,
  bits_f32 = 32,
  bits_f64 = 64
};
#define TYPE(name, TYPE, bits, width)           \
 enum {                                         \
   bits_##name = bits,                          \
   codes_##name = width == bits ? SOURCE_BITS   \
                  : width == 4  ? SOURCE_CODES4 \
                  : width == 6  ? SOURCE_CODES6 \
                                : SOURCE_TF32   \
 };
ARRAY_TYPES(TYPE)

#define CONVERSION_FUNCTION(function)                                   \
 static void run_##function(void *dst, const void *src, size_t count) { \
  function(dst, src, count);                                            \
 }
#define NARROW_FUNCTION(function, src, dst, scalar)      CONVERSION_FUNCTION(function)
#define TO_F32_FUNCTION(function, scalar)                CONVERSION_FUNCTION(function)
#define WIDEN_FUNCTION(function, src, scalar, from_bits) CONVERSION_FUNCTION(function)
ARRAY_CONVERSIONS(NARROW_FUNCTION, TO_F32_FUNCTION, WIDEN_FUNCTION)

static void f32_to_bf16_sr(void *dst, const void *src, size_t count) {
  mpnum_f32_to_bf16_sr_array(dst, src, count, SEED, 0);
}

static void f32_to_e4m3_sr_sat(void *dst, const void *src, size_t count) {
  mpnum_f32_to_e4m3_sr_sat_array(dst, src, count, SEED, 0);
}

/* Types that the compiler does not know. */
static mpnum_type volatile from_type = MPNUM_TYPE_F16, to_type = MPNUM_TYPE_E4M3,
                           wide_type = MPNUM_TYPE_BF16;

static void convert(void *dst, const void *src, size_t count) {
  must(mpnum_convert_array(to_type, dst, from_type, src, count, MPNUM_ROUND_NEAREST_EVEN,
                           MPNUM_OVERFLOW_SATURATE, 0, 0));
}

static void convert_back(void *dst, const void *src, size_t count) {
  must(mpnum_convert_array(wide_type, dst, to_type, src, count, MPNUM_ROUND_NEAREST_EVEN,
                           MPNUM_OVERFLOW_SATURATE, 0, 0));
}

static void convert_2d(void *dst, const void *src, size_t count) {
  must(mpnum_convert_array_2d(to_type, dst, COLUMNS, from_type, src, COLUMNS,
                              count / COLUMNS, COLUMNS, MPNUM_ROUND_NEAREST_EVEN,
                              MPNUM_OVERFLOW_SATURATE, 0, 0));
}

static void round_values(void *dst, const void *src, size_t count,
                         mpnum_rounding rounding) {
  must(mpnum_round_array(dst, src, count, mpnum_format_of(to_type), rounding,
                         MPNUM_OVERFLOW_SATURATE, SEED, 0));
}

static void round_nearest(void *dst, const void *src, size_t count) {
  round_values(dst, src, count, MPNUM_ROUND_NEAREST_EVEN);
}

static void round_toward_zero(void *dst, const void *src, size_t count) {
  round_values(dst, src, count, MPNUM_ROUND_TOWARD_ZERO);
}

static void round_stochastic(void *dst, const void *src, size_t count) {
  round_values(dst, src, count, MPNUM_ROUND_STOCHASTIC);
}

/* Rows of the Hadamard transform. */
enum { HADAMARD_COLUMNS = 256 }; /* so that parts of an array are whole rows */

static void run_hadamard(mpnum_type type, void *dst, const void *src, size_t count, int n,
                         int is_inverse) {
  const size_t rows = count / HADAMARD_COLUMNS;
  const mpnum_matrix to = mpnum_matrix_of(type, dst, rows, HADAMARD_COLUMNS);
  const mpnum_const_matrix from =
      mpnum_const_matrix_of(type, src, rows, HADAMARD_COLUMNS);
  if (is_inverse) {
    must(mpnum_hadamard_inverse_rows(to, from, n, 20240229));
  } else {
    must(mpnum_hadamard_rows(to, from, n, 20240229));
  }
}

/* ROW(C name, name, function, source, bits, in place, type, n, whether inverse) */
#define HADAMARD_ROWS(ROW)                                                              \
 ROW(hadamard_16_f32, "hadamard 16 f32", "mpnum_hadamard_rows", SOURCE_F32, 32, 0, F32, \
     16, 0)                                                                             \
 ROW(hadamard_64_f32, "hadamard 64 f32", "mpnum_hadamard_rows", SOURCE_F32, 32, 0, F32, \
     64, 0)                                                                             \
 ROW(unhadamard_16_f32, "unhadamard 16 f32", "mpnum_hadamard_inverse_rows", SOURCE_F32, \
     32, 32, F32, 16, 1)                                                                \
 ROW(hadamard_16_bf16, "hadamard 16 bf16", "mpnum_hadamard_rows", SOURCE_BF16, 16, 16,  \
     BF16, 16, 0)                                                                       \
 ROW(hadamard_64_bf16, "hadamard 64 bf16", "mpnum_hadamard_rows", SOURCE_BF16, 16, 16,  \
     BF16, 64, 0)

#define HADAMARD_FUNCTION(c_name, name, function, source, bits, in_place, type, n, \
                          inverse)                                                 \
 static void c_name(void *dst, const void *src, size_t count) {                    \
  run_hadamard(MPNUM_TYPE_##type, dst, src, count, n, inverse);                    \
 }
HADAMARD_ROWS(HADAMARD_FUNCTION)
#define HADAMARD_ROW(c_name, name, function, source, bits, in_place, type, n, inverse) \
 {name, function, source, {bits, bits, in_place}, c_name},

/* Functions of one value, most of them by the loops of --math. ROW(function, type, its
 * place in math_types, what src holds, its bits) */
#define IN_EACH_TYPE(ROW, name)    \
 ROW(name, f32, 0, SOURCE_F32, 32) \
 ROW(name, f16, 1, SOURCE_F16, 16) \
 ROW(name, bf16, 2, SOURCE_BF16, 16)
#define MAGNITUDES(ROW)                    \
 ROW(log, f32, 0, SOURCE_STATES_F32, 32)   \
 ROW(log, bf16, 2, SOURCE_STATES_BF16, 16) \
 ROW(sqrt, f32, 0, SOURCE_STATES_F32, 32)
#define FUNCTIONS_OF_TYPES(ROW) \
 IN_EACH_TYPE(ROW, exp)         \
 IN_EACH_TYPE(ROW, tanh)        \
 IN_EACH_TYPE(ROW, gelu)        \
 IN_EACH_TYPE(ROW, silu)        \
 IN_EACH_TYPE(ROW, reciprocal)  \
 MAGNITUDES(ROW)
#define FUNCTION_OF_TYPE(name, type, place, source, bits)                    \
 static void run_##name##_##type(void *dst, const void *src, size_t count) { \
  math_functions[place_of_##name].loops[place](dst, src, count);             \
 }
FUNCTIONS_OF_TYPES(FUNCTION_OF_TYPE)
#define SINE(name, type, place, source, bits) \
 CONVERSION_FUNCTION(mpnum_##name##_##type##_array)
IN_EACH_TYPE(SINE, sin)
#define FUNCTION_ROW(name, type, place, source, bits) \
 {#name " " #type,                                    \
  "mpnum_" #name "_" #type "_array",                  \
  source,                                             \
  {bits, bits, 0},                                    \
  run_##name##_##type},
#define SINE_ROW(name, type, place, source, bits) \
 {#name " " #type,                                \
  "mpnum_" #name "_" #type "_array",              \
  source,                                         \
  {bits, bits, 0},                                \
  run_mpnum_##name##_##type##_array},

/* Functions of two values, of the halves of an array. */
#define FUNCTIONS_OF_TWO(ROW) IN_EACH_TYPE(ROW, swiglu) IN_EACH_TYPE(ROW, logaddexp)
#define FUNCTION_OF_TWO(name, type, place, source, bits)                                \
 static void run_##name##_##type(void *dst, const void *src, size_t count) {            \
  mpnum_##name##_##type##_array(                                                        \
      dst, src, (const void *)((const char *)src + bits / 8 * (count / 2)), count / 2); \
 }
FUNCTIONS_OF_TWO(FUNCTION_OF_TWO)
#define ROW_OF_TWO(name, type, place, source, bits) \
 {#name " " #type,                                  \
  "mpnum_" #name "_" #type "_array",                \
  source,                                           \
  {bits, bits / 2, 0},                              \
  run_##name##_##type},

/* Rows of 256, likewise, without weights. A gradient has the array for both of its
 * sources. */
static void run_rows(size_t operation, row_way way, void *dst, const void *src,
                     size_t count) {
  float sums[2 * COLUMNS];
  row_call call = {.rows = count / COLUMNS, .columns = COLUMNS, .dst = dst};
  call.src = call.other = (void *)(uintptr_t)src;
  call.of_weight = sums;
  row_operations[operation].run(&call, way);
}
#define ROWS_OF_TYPES(ROW)                                                       \
 ROW(softmax_f32, "softmax rows f32", "mpnum_softmax_rows", SOFTMAX, F32, 32)    \
 ROW(softmax_bf16, "softmax rows bf16", "mpnum_softmax_rows", SOFTMAX, BF16, 16) \
 ROW(layer_f32, "layer rows f32", "mpnum_layer_norm_rows", LAYER_NORM, F32, 32)  \
 ROW(rms_f32, "rms rows f32", "mpnum_rms_norm_rows", RMS_NORM, F32, 32)          \
 ROW(rms_bf16, "rms rows bf16", "mpnum_rms_norm_rows", RMS_NORM, BF16, 16)       \
 ROW(layer_backward_f32, "layer back rows f32", "mpnum_normalize_backward_rows", \
     LAYER_NORM_BACKWARD, F32, 32)
#define ROWS_FUNCTION(c_name, name, function, place, type, bits)       \
 static void rows_##c_name(void *dst, const void *src, size_t count) { \
  run_rows(ROW_##place, ROW_##type, dst, src, count);                  \
 }
ROWS_OF_TYPES(ROWS_FUNCTION)
#define ROWS_ROW(c_name, name, function, place, type, bits) \
 {name, function, SOURCE_##type, {bits, bits, 0}, rows_##c_name},

/* Reductions, which read only; finite values. A dot product takes the halves of its
 * array. ROW(function, result, name, what src holds, its bits) */
#define REDUCTIONS(ROW)                                                            \
 ROW(mpnum_all_finite_f32, int, "all_finite f32", SOURCE_F32, 32)                  \
 ROW(mpnum_all_finite_bf16, int, "all_finite bf16", SOURCE_BF16, 16)               \
 ROW(mpnum_all_finite_f16, int, "all_finite f16", SOURCE_F16, 16)                  \
 ROW(mpnum_all_finite_e5m2, int, "all_finite e5m2", SOURCE_CODES6, 8)              \
 ROW(mpnum_all_finite_e4m3, int, "all_finite e4m3", SOURCE_CODES6, 8)              \
 ROW(mpnum_first_nonfinite_f32, size_t, "first_nonfinite f32", SOURCE_F32, 32)     \
 ROW(mpnum_first_nonfinite_bf16, size_t, "first_nonfinite bf16", SOURCE_BF16, 16)  \
 ROW(mpnum_first_nonfinite_f16, size_t, "first_nonfinite f16", SOURCE_F16, 16)     \
 ROW(mpnum_first_nonfinite_e5m2, size_t, "first_nonfinite e5m2", SOURCE_CODES6, 8) \
 ROW(mpnum_first_nonfinite_e4m3, size_t, "first_nonfinite e4m3", SOURCE_CODES6, 8) \
 ROW(mpnum_amax_f32, float, "amax f32", SOURCE_F32, 32)                            \
 ROW(mpnum_amax_bf16, float, "amax bf16", SOURCE_BF16, 16)                         \
 ROW(mpnum_amax_f16, float, "amax f16", SOURCE_F16, 16)                            \
 ROW(mpnum_amax_e5m2, float, "amax e5m2", SOURCE_CODES6, 8)                        \
 ROW(mpnum_amax_e4m3, float, "amax e4m3", SOURCE_CODES6, 8)                        \
 ROW(mpnum_stats_f32, mpnum_stats, "stats f32", SOURCE_F32, 32)                    \
 ROW(mpnum_stats_bf16, mpnum_stats, "stats bf16", SOURCE_BF16, 16)                 \
 ROW(mpnum_stats_f16, mpnum_stats, "stats f16", SOURCE_F16, 16)                    \
 ROW(mpnum_stats_e5m2, mpnum_stats, "stats e5m2", SOURCE_CODES6, 8)                \
 ROW(mpnum_stats_e4m3, mpnum_stats, "stats e4m3", SOURCE_CODES6, 8)                \
 ROW(mpnum_norm_f32, float, "norm f32", SOURCE_F32, 32)                            \
 ROW(mpnum_norm_bf16, float, "norm bf16", SOURCE_BF16, 16)                         \
 ROW(mpnum_norm_f16, float, "norm f16", SOURCE_F16, 16)                            \
 ROW(mpnum_sum_f32, float, "sum f32", SOURCE_F32, 32)                              \
 ROW(mpnum_sum_bf16, float, "sum bf16", SOURCE_BF16, 16)                           \
 ROW(mpnum_sum_f16, float, "sum f16", SOURCE_F16, 16)
#define DOT_PRODUCTS(ROW)                                     \
 ROW(mpnum_dot_f32, float, "dot f32", SOURCE_F32, 32)         \
 ROW(mpnum_dot_bf16, mpnum_bf16, "dot bf16", SOURCE_BF16, 16) \
 ROW(mpnum_dot_f16, mpnum_f16, "dot f16", SOURCE_F16, 16)     \
 ROW(mpnum_dot_light_f32, float, "dot light f32", SOURCE_F32, 32)

#define REDUCTION_FUNCTION(function, type, name, source, bits)          \
 static void run_##function(void *dst, const void *src, size_t count) { \
  const type result = function(src, count);                             \
  memcpy(dst, &result, sizeof result);                                  \
 }
REDUCTIONS(REDUCTION_FUNCTION)
#define DOT_FUNCTION(function, type, name, source, bits)                \
 static void run_##function(void *dst, const void *src, size_t count) { \
  const type *half = src;                                               \
  const float result = function(half, half + count / 2, count / 2);     \
  memcpy(dst, &result, sizeof result);                                  \
 }
DOT_PRODUCTS(DOT_FUNCTION)
#define REDUCTION_ROW(function, type, name, source, bits) \
 {name, #function, source, {bits, 0, 0}, run_##function},

#define CONVERSION_ROW(function, source, src, dst) \
 {#src " to " #dst,                                \
  #function,                                       \
  (array_source)source##_##src,                    \
  {bits_##src, bits_##dst, 0},                     \
  run_##function},
#define NARROW_ROW(function, src, dst, scalar) CONVERSION_ROW(function, values, src, dst)
#define TO_F32_ROW(function, scalar)           CONVERSION_ROW(function, values, f64, f32)
#define WIDEN_ROW(function, src, scalar, from_bits) \
 CONVERSION_ROW(function, codes, src, f32)

#define TO(src_bits, dst_bits) \
 { src_bits, dst_bits, 0 }
#define IN_PLACE \
 { 32, 32, 32 }

static const array_operation operations[] = {
    ARRAY_CONVERSIONS(NARROW_ROW, TO_F32_ROW, WIDEN_ROW) //
    {"f32 to bf16 sr", "mpnum_f32_to_bf16_sr_array", SOURCE_F32, TO(32, 16),
     f32_to_bf16_sr},
    {"f32 to e4m3 sr", "mpnum_f32_to_e4m3_sr_sat_array", SOURCE_F32, TO(32, 8),
     f32_to_e4m3_sr_sat},
    {"f16 to e4m3 any", "mpnum_convert_array", SOURCE_F16, TO(16, 8), convert},
    {"e4m3 to bf16 any", "mpnum_convert_array", SOURCE_BITS, TO(8, 16), convert_back},
    {"f16 to e4m3 2d", "mpnum_convert_array_2d", SOURCE_F16, TO(16, 8), convert_2d},
    {"round to e4m3", "mpnum_round_array", SOURCE_F32, IN_PLACE, round_nearest},
    {"round to e4m3 rz", "mpnum_round_array", SOURCE_F32, IN_PLACE, round_toward_zero},
    {"round to e4m3 sr", "mpnum_round_array", SOURCE_F32, IN_PLACE, round_stochastic},
    FUNCTIONS_OF_TYPES(FUNCTION_ROW) IN_EACH_TYPE(SINE_ROW, sin)
        FUNCTIONS_OF_TWO(ROW_OF_TWO) ROWS_OF_TYPES(ROWS_ROW) HADAMARD_ROWS(HADAMARD_ROW)
            REDUCTIONS(REDUCTION_ROW) DOT_PRODUCTS(REDUCTION_ROW)};

static bool force_isa(int isa) { return mpnum_isa_force((mpnum_isa)isa) == MPNUM_OK; }
static const char *isa(void) { return mpnum_isa_name(mpnum_isa_in_use()); }

const array_code array_functions = {operations, sizeof operations / sizeof *operations,
                                    force_isa, isa};
