/* SPDX-License-Identifier: MIT */
/* The array functions that are measured: one row each. Where a conversion has two forms,
 * it is the one that is used most: IEEE overflow for tf32, bf16 and f16, saturating for
 * narrower types. The other runs the same loop with another constant. */
#include "arrays.h"

#include <string.h>

#include <mpnum/array.h>
#include <mpnum/reduce.h>

enum { SEED = 20240229, COLUMNS = 256 };

/* Expanded once for the functions, once for their rows:
 * ROW(function without mpnum_ and _array, name, what src holds, bits of src and dst) */
#define FROM_F32(ROW)                                           \
 ROW(f32_to_tf32, "f32 to tf32", SOURCE_F32, 32, 32)            \
 ROW(f32_to_bf16, "f32 to bf16", SOURCE_F32, 32, 16)            \
 ROW(f32_to_f16, "f32 to f16", SOURCE_F32, 32, 16)              \
 ROW(f32_to_e5m2_sat, "f32 to e5m2", SOURCE_F32, 32, 8)         \
 ROW(f32_to_e4m3_sat, "f32 to e4m3", SOURCE_F32, 32, 8)         \
 ROW(f32_to_e5m2fnuz_sat, "f32 to e5m2fnuz", SOURCE_F32, 32, 8) \
 ROW(f32_to_e4m3fnuz_sat, "f32 to e4m3fnuz", SOURCE_F32, 32, 8) \
 ROW(f32_to_e3m4_sat, "f32 to e3m4", SOURCE_F32, 32, 8)         \
 ROW(f32_to_e8m0_sat, "f32 to e8m0", SOURCE_F32, 32, 8)         \
 ROW(f32_to_e3m2_sat, "f32 to e3m2", SOURCE_F32, 32, 8)         \
 ROW(f32_to_e2m3_sat, "f32 to e2m3", SOURCE_F32, 32, 8)         \
 ROW(f32_to_e2m1_sat, "f32 to e2m1", SOURCE_F32, 32, 8)         \
 ROW(f32_to_e3m2x4_sat, "f32 to e3m2x4", SOURCE_F32, 32, 6)     \
 ROW(f32_to_e2m3x4_sat, "f32 to e2m3x4", SOURCE_F32, 32, 6)     \
 ROW(f32_to_e2m1x2_sat, "f32 to e2m1x2", SOURCE_F32, 32, 4)
#define TO_F32(ROW)                                          \
 ROW(tf32_to_f32, "tf32 to f32", SOURCE_TF32, 32, 32)        \
 ROW(bf16_to_f32, "bf16 to f32", SOURCE_BITS, 16, 32)        \
 ROW(f16_to_f32, "f16 to f32", SOURCE_BITS, 16, 32)          \
 ROW(e5m2_to_f32, "e5m2 to f32", SOURCE_BITS, 8, 32)         \
 ROW(e4m3_to_f32, "e4m3 to f32", SOURCE_BITS, 8, 32)         \
 ROW(e5m2fnuz_to_f32, "e5m2fnuz to f32", SOURCE_BITS, 8, 32) \
 ROW(e4m3fnuz_to_f32, "e4m3fnuz to f32", SOURCE_BITS, 8, 32) \
 ROW(e3m4_to_f32, "e3m4 to f32", SOURCE_BITS, 8, 32)         \
 ROW(e8m0_to_f32, "e8m0 to f32", SOURCE_BITS, 8, 32)         \
 ROW(e3m2_to_f32, "e3m2 to f32", SOURCE_CODES6, 8, 32)       \
 ROW(e2m3_to_f32, "e2m3 to f32", SOURCE_CODES6, 8, 32)       \
 ROW(e2m1_to_f32, "e2m1 to f32", SOURCE_CODES4, 8, 32)       \
 ROW(e3m2x4_to_f32, "e3m2x4 to f32", SOURCE_BITS, 6, 32)     \
 ROW(e2m3x4_to_f32, "e2m3x4 to f32", SOURCE_BITS, 6, 32)     \
 ROW(e2m1x2_to_f32, "e2m1x2 to f32", SOURCE_BITS, 4, 32)
#define FROM_16(ROW, from, SOURCE)                                \
 ROW(from##_to_e5m2_sat, #from " to e5m2", SOURCE, 16, 8)         \
 ROW(from##_to_e4m3_sat, #from " to e4m3", SOURCE, 16, 8)         \
 ROW(from##_to_e5m2fnuz_sat, #from " to e5m2fnuz", SOURCE, 16, 8) \
 ROW(from##_to_e4m3fnuz_sat, #from " to e4m3fnuz", SOURCE, 16, 8) \
 ROW(from##_to_e3m4_sat, #from " to e3m4", SOURCE, 16, 8)         \
 ROW(from##_to_e8m0_sat, #from " to e8m0", SOURCE, 16, 8)         \
 ROW(from##_to_e3m2_sat, #from " to e3m2", SOURCE, 16, 8)         \
 ROW(from##_to_e2m3_sat, #from " to e2m3", SOURCE, 16, 8)         \
 ROW(from##_to_e2m1_sat, #from " to e2m1", SOURCE, 16, 8)         \
 ROW(from##_to_e3m2x4_sat, #from " to e3m2x4", SOURCE, 16, 6)     \
 ROW(from##_to_e2m3x4_sat, #from " to e2m3x4", SOURCE, 16, 6)     \
 ROW(from##_to_e2m1x2_sat, #from " to e2m1x2", SOURCE, 16, 4)
#define FROM_F64(ROW)                                \
 ROW(f64_to_f32, "f64 to f32", SOURCE_F64, 64, 32)   \
 ROW(f64_to_bf16, "f64 to bf16", SOURCE_F64, 64, 16) \
 ROW(f64_to_f16, "f64 to f16", SOURCE_F64, 64, 16)
#define CONVERSIONS(ROW)         \
 FROM_F32(ROW)                   \
 TO_F32(ROW)                     \
 FROM_16(ROW, f16, SOURCE_F16)   \
 FROM_16(ROW, bf16, SOURCE_BF16) \
 FROM_F64(ROW)

#define CONVERSION_FUNCTION(function, name, source, src_bits, dst_bits) \
 static void function(void *dst, const void *src, size_t count) {       \
  mpnum_##function##_array(dst, src, count);                            \
 }
CONVERSIONS(CONVERSION_FUNCTION)

static void f32_to_bf16_sr(void *dst, const void *src, size_t count) {
  mpnum_f32_to_bf16_sr_array(dst, src, count, SEED, 0);
}

static void f32_to_e4m3_sr_sat(void *dst, const void *src, size_t count) {
  mpnum_f32_to_e4m3_sr_sat_array(dst, src, count, SEED, 0);
}

/* Types that the compiler does not know. */
static mpnum_type volatile from_type = MPNUM_TYPE_F16, to_type = MPNUM_TYPE_E4M3;

static void convert(void *dst, const void *src, size_t count) {
  mpnum_convert_array(to_type, dst, from_type, src, count, MPNUM_ROUND_NEAREST_EVEN,
                      MPNUM_OVERFLOW_SATURATE, 0, 0);
}

static void convert_2d(void *dst, const void *src, size_t count) {
  mpnum_convert_array_2d(to_type, dst, COLUMNS, from_type, src, COLUMNS, count / COLUMNS,
                         COLUMNS, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0,
                         0);
}

static void round_values(void *dst, const void *src, size_t count,
                         mpnum_rounding rounding) {
  mpnum_round_array(dst, src, count, mpnum_format_of(to_type), rounding,
                    MPNUM_OVERFLOW_SATURATE, SEED, 0);
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
 ROW(mpnum_count_nonfinite_f32, size_t, "count_nonfinite f32", SOURCE_F32, 32)     \
 ROW(mpnum_count_nonfinite_bf16, size_t, "count_nonfinite bf16", SOURCE_BF16, 16)  \
 ROW(mpnum_count_nonfinite_f16, size_t, "count_nonfinite f16", SOURCE_F16, 16)     \
 ROW(mpnum_count_nonfinite_e5m2, size_t, "count_nonfinite e5m2", SOURCE_CODES6, 8) \
 ROW(mpnum_count_nonfinite_e4m3, size_t, "count_nonfinite e4m3", SOURCE_CODES6, 8) \
 ROW(mpnum_amax_f32, float, "amax f32", SOURCE_F32, 32)                            \
 ROW(mpnum_amax_bf16, float, "amax bf16", SOURCE_BF16, 16)                         \
 ROW(mpnum_amax_f16, float, "amax f16", SOURCE_F16, 16)                            \
 ROW(mpnum_amax_e5m2, float, "amax e5m2", SOURCE_CODES6, 8)                        \
 ROW(mpnum_amax_e4m3, float, "amax e4m3", SOURCE_CODES6, 8)                        \
 ROW(mpnum_amax_e2m1, float, "amax e2m1", SOURCE_CODES4, 8)                        \
 ROW(mpnum_stats_f32, mpnum_stats, "stats f32", SOURCE_F32, 32)                    \
 ROW(mpnum_stats_bf16, mpnum_stats, "stats bf16", SOURCE_BF16, 16)                 \
 ROW(mpnum_stats_f16, mpnum_stats, "stats f16", SOURCE_F16, 16)                    \
 ROW(mpnum_stats_e5m2, mpnum_stats, "stats e5m2", SOURCE_CODES6, 8)                \
 ROW(mpnum_stats_e4m3, mpnum_stats, "stats e4m3", SOURCE_CODES6, 8)                \
 ROW(mpnum_stats_e2m1, mpnum_stats, "stats e2m1", SOURCE_CODES4, 8)                \
 ROW(mpnum_norm_f32, float, "norm f32", SOURCE_F32, 32)                            \
 ROW(mpnum_norm_bf16, float, "norm bf16", SOURCE_BF16, 16)                         \
 ROW(mpnum_norm_f16, float, "norm f16", SOURCE_F16, 16)                            \
 ROW(mpnum_norm_e5m2, float, "norm e5m2", SOURCE_CODES6, 8)                        \
 ROW(mpnum_norm_e4m3, float, "norm e4m3", SOURCE_CODES6, 8)                        \
 ROW(mpnum_sum_f32, float, "sum f32", SOURCE_F32, 32)                              \
 ROW(mpnum_sum_bf16, float, "sum bf16", SOURCE_BF16, 16)                           \
 ROW(mpnum_sum_f16, float, "sum f16", SOURCE_F16, 16)                              \
 ROW(mpnum_sum_e5m2, float, "sum e5m2", SOURCE_CODES6, 8)                          \
 ROW(mpnum_sum_e4m3, float, "sum e4m3", SOURCE_CODES6, 8)
#define DOT_PRODUCTS(ROW)                                      \
 ROW(mpnum_dot_f32, float, "dot f32", SOURCE_F32, 32)          \
 ROW(mpnum_dot_bf16, mpnum_bf16, "dot bf16", SOURCE_BF16, 16)  \
 ROW(mpnum_dot_f16, mpnum_f16, "dot f16", SOURCE_F16, 16)      \
 ROW(mpnum_dot_e5m2, mpnum_e5m2, "dot e5m2", SOURCE_CODES6, 8) \
 ROW(mpnum_dot_e4m3, mpnum_e4m3, "dot e4m3", SOURCE_CODES6, 8)

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
 {name, #function, source, {bits, 0, false}, run_##function},

#define CONVERSION_ROW(function, name, source, src_bits, dst_bits) \
 {name, "mpnum_" #function "_array", source, {src_bits, dst_bits, false}, function},

static const array_operation operations[] = {
    CONVERSIONS(CONVERSION_ROW){"f32 to bf16 sr",
                                "mpnum_f32_to_bf16_sr_array",
                                SOURCE_F32,
                                {32, 16, false},
                                f32_to_bf16_sr},
    {"f32 to e4m3 sr",
     "mpnum_f32_to_e4m3_sr_sat_array",
     SOURCE_F32,
     {32, 8, false},
     f32_to_e4m3_sr_sat},
    {"f16 to e4m3 any", "mpnum_convert_array", SOURCE_F16, {16, 8, false}, convert},
    {"f16 to e4m3 2d", "mpnum_convert_array_2d", SOURCE_F16, {16, 8, false}, convert_2d},
    {"round to e4m3", "mpnum_round_array", SOURCE_F32, {32, 32, true}, round_nearest},
    {"round to e4m3 rz",
     "mpnum_round_array",
     SOURCE_F32,
     {32, 32, true},
     round_toward_zero},
    {"round to e4m3 sr",
     "mpnum_round_array",
     SOURCE_F32,
     {32, 32, true},
     round_stochastic},
    REDUCTIONS(REDUCTION_ROW) DOT_PRODUCTS(REDUCTION_ROW)};

static bool force_isa(int isa) { return mpnum_isa_force((mpnum_isa)isa) == MPNUM_OK; }
static const char *isa(void) { return mpnum_isa_name(mpnum_isa_in_use()); }

const array_code array_functions = {operations, sizeof operations / sizeof *operations,
                                    force_isa, isa};
