/* SPDX-License-Identifier: MIT */
/* Advice on formats: which one fits values and at which scale, what a GPU can do with it,
 * what it costs, when to leave it and when to come back. Opt-in. Nothing here acts: the
 * caller decides. operation_policy.h tells which type suits an operation.
 *
 *     const mpnum_type candidates[] = {MPNUM_TYPE_E5M2, MPNUM_TYPE_F16, MPNUM_TYPE_BF16};
 *     float scale;
 *     mpnum_type type = mpnum_best_type(&histogram, candidates, 3, 0.01f, 1, &scale);
 *     if (!(mpnum_gpu_support(type, 80) & MPNUM_GPU_TENSOR_CORES)) ...
 *
 * Bits: computed in integers, so the same on hosts and devices, whatever the flags and
 *   the floating-point environment. */
#ifndef MPNUM_TRAINING_ADVICE_H
#define MPNUM_TRAINING_ADVICE_H

#include "../blocks/blockscale_format.h"
#include "health.h"
MPNUM_C_BEGIN_

/* 1 if gradients of common models underflow in a type, so that the loss needs scaling:
 * its exponent has fewer bits than that of f32. */
MPNUM_FUNC int mpnum_needs_loss_scaling(mpnum_type type) {
  const mpnum_format format = mpnum_format_of(type);
  return format.max_code != 0 && format.exponent_bits < 8;
}

/* Bits of an element that is stored densely; 0 for an unknown type. */
MPNUM_FUNC int mpnum_dense_bits_(mpnum_type type) {
  const mpnum_format format = mpnum_format_of(type);
  if (type == MPNUM_TYPE_F64) return 64;
  if (type == MPNUM_TYPE_TF32) return 32;
  if (type == MPNUM_TYPE_UE4M3) return 8;
  return format.sign_bits + format.exponent_bits + format.mantissa_bits;
}

/* The largest power of two, from 2^-126 to 2^126, by which amax may be multiplied so that
 * 2^headroom times the product is within a format. 1 if amax is 0, Inf or NaN. */
MPNUM_MATH_ float mpnum_best_scale(mpnum_format format, float amax, int headroom) {
  const uint32_t magnitude = mpnum_bits_f32(amax) & 0x7fffffffu;
  const mpnum_wide_ largest = mpnum_wide_f32_(mpnum_bits_f32(mpnum_format_max(format)));
  int exponent = 0;
  if (magnitude - 1 < 0x7f7fffffu && format.max_code != 0) {
    const mpnum_wide_ x = mpnum_wide_f32_(magnitude);
    exponent = largest.exponent - x.exponent - (x.significand > largest.significand);
    headroom = headroom < -300 ? -300 : headroom > 300 ? 300 : headroom;
    exponent -= headroom;
  }
  return mpnum_pow2_(exponent < -126 ? -126 : exponent > 126 ? 126 : exponent);
}

/* For gradients: returns the first of count candidates that loses at most lost_share of
 * the counted values at its scale, by the upper bounds; f32, at scale 1, if there is
 * none. *scale is mpnum_best_scale of the largest value if the type needs loss scaling,
 * else 1. List candidates in order of preference; e8m0 has neither signs nor 0. A
 * histogram does not tell how coarse a type is: judge weights and activations by the
 * measured error of their product (docs/choosing-a-format.md). */
MPNUM_MATH_ mpnum_type mpnum_best_type(const mpnum_histogram *histogram,
                                       const mpnum_type *candidates, int count,
                                       float lost_share, int headroom, float *scale) {
  uint32_t top = 254;
  int i = 0;
  while (top > 0 && histogram->counts[top] == 0)
    --top;
  for (; i < count; ++i) {
    const mpnum_format format = mpnum_format_of(candidates[i]);
    const float amax = mpnum_from_bits_f32(
        top != 0 || histogram->counts[0] != 0 ? top << 23 | 0x7fffffu : 0);
    mpnum_lost least, most;
    if (mpnum_dense_bits_(candidates[i]) == 0) continue; /* an unknown type */
    *scale = 1.0f;
    if (mpnum_needs_loss_scaling(candidates[i]))
      *scale = mpnum_best_scale(format, amax, headroom);
    mpnum_histogram_lost(histogram, format, *scale, &least, &most);
    if (!mpnum_is_above_(mpnum_share_(most.underflows + most.overflows,
                                      mpnum_histogram_total_(histogram)),
                         lost_share))
      return candidates[i];
  }
  *scale = 1.0f;
  return MPNUM_TYPE_F32;
}

/* An upper bound on the magnitude of a sum of k products and of its partial sums:
 * k amax_a amax_b, rounded up; Inf beyond the floats. An amax of Inf or NaN gives Inf. */
MPNUM_MATH_ float mpnum_dot_bound(uint64_t k, float amax_a, float amax_b) {
  const uint32_t a = mpnum_bits_f32(amax_a) & 0x7fffffffu;
  const uint32_t b = mpnum_bits_f32(amax_b) & 0x7fffffffu;
  if (a >= 0x7f800000u || b >= 0x7f800000u) return mpnum_from_bits_f32(0x7f800000u);
  if (k == 0 || a == 0 || b == 0) return 0.0f;
  return mpnum_f64_to_f32_round(
      mpnum_wide_odd_f64_(
          mpnum_wide_mul_(mpnum_wide_normal_(k, 0, 0),
                          mpnum_wide_mul_(mpnum_wide_f32_(a), mpnum_wide_f32_(b)))),
      MPNUM_ROUND_UP, MPNUM_OVERFLOW_IEEE, 0);
}
/* 1 if a sum of k products may exceed the largest value of a format; one without fields
 * (f64) counts as f32. The sum is in a wider type, as in tensor cores: if each partial
 * sum is rounded to the format, it may overflow sooner. */
MPNUM_MATH_ int mpnum_dot_may_overflow(mpnum_format format, uint64_t k, float amax_a,
                                       float amax_b) {
  if (format.max_code == 0) format = mpnum_format_of(MPNUM_TYPE_F32);
  return mpnum_is_above_(mpnum_dot_bound(k, amax_a, amax_b), mpnum_format_max(format));
}

/* What a GPU has instructions for, or-ed. capability: 10 times the major plus the minor
 * number, 89 for 8.9. Formats of 6 and 4 bits and e8m0 need code that is compiled for the
 * architecture's own target (sm_100a, ...). Source: the PTX ISA, CUDA's programming
 * guide. */
typedef enum mpnum_gpu {
  MPNUM_GPU_CONVERTS = 1,
  MPNUM_GPU_ARITHMETIC = 2,
  MPNUM_GPU_TENSOR_CORES = 4, /* as operands; e8m0, ue4m3: as scales of blocks */
  MPNUM_GPU_BLOCK_SCALES = 8  /* tensor cores or a cuBLASLt product apply them */
} mpnum_gpu;
MPNUM_FUNC uint32_t mpnum_gpu_support(mpnum_type type, int capability) {
  int converts = 1000, computes = 1000, multiplies = 1000; /* first capability that can */
  switch (type) {
  case MPNUM_TYPE_F64:
    converts = computes = 0;
    multiplies = 80;
    break;
  case MPNUM_TYPE_F32: converts = computes = 0; break;
  case MPNUM_TYPE_TF32: converts = multiplies = 80; break;
  case MPNUM_TYPE_BF16: converts = computes = multiplies = 80; break;
  case MPNUM_TYPE_F16:
    converts = 0;
    computes = 53;
    multiplies = 70;
    break;
  case MPNUM_TYPE_E5M2:
  case MPNUM_TYPE_E4M3: converts = multiplies = 89; break;
  case MPNUM_TYPE_E8M0:
  case MPNUM_TYPE_E3M2:
  case MPNUM_TYPE_E2M3:
  case MPNUM_TYPE_E2M1: converts = multiplies = 100; break;
  case MPNUM_TYPE_UE4M3: multiplies = 100; break;
  default: break;
  }
  return (uint32_t)(capability >= converts) * MPNUM_GPU_CONVERTS |
         (uint32_t)(capability >= computes) * MPNUM_GPU_ARITHMETIC |
         (uint32_t)(capability >= multiplies) * MPNUM_GPU_TENSOR_CORES;
}

/* Rounds n up to what tensor cores take at full speed along a dimension: a multiple of 16
 * bytes, which are 8 elements of f16 and bf16, 16 of fp8, 32 of fp4; 128 elements of 6
 * bits (96 bytes). Returns 0 for an unknown type, and if the result is past SIZE_MAX.
 * Source: NVIDIA's matrix multiplication guide, the tensor maps of the CUDA driver
 * API. */
MPNUM_FUNC size_t mpnum_round_up_dim(mpnum_type type, size_t n) {
  const int bits = mpnum_dense_bits_(type);
  const size_t multiple = bits == 6 ? 128 : bits == 0 ? 1 : (size_t)(128 / bits);
  if (bits == 0) return 0;
  return (n + (multiple - 1)) / multiple * multiple; /* past SIZE_MAX: 0 */
}

#if !MPNUM_NO_STDINT

/* The type of a block format's elements; 0 for int8 and for a user-made format. */
MPNUM_FUNC mpnum_type mpnum_element_type_(const mpnum_blockscale_format *format) {
  const mpnum_format a = format->element;
  int type = MPNUM_TYPE_E5M2;
  for (; mpnum_is_type_((uint32_t)type) && !format->is_int8; ++type) {
    const mpnum_format b = mpnum_format_of((mpnum_type)type);
    if (a.exponent_bits == b.exponent_bits && a.mantissa_bits == b.mantissa_bits &&
        a.bias == b.bias && a.max_code == b.max_code && a.nan_code == b.nan_code)
      return (mpnum_type)type;
  }
  return (mpnum_type)0;
}
/* What a GPU does with a valid block format: mpnum_gpu_support of its elements, and
 * BLOCK_SCALES if the scales need no kernel of one's own: MX (blocks of 32, e8m0) and
 * NVFP4 (blocks of 16; a 16x16 block's scale is repeated for each row) from 10.0 on,
 * DeepSeek's blocks of 128 with f32 scales on 9.0, in cuBLASLt from CUDA 12.9 on. Without
 * BLOCK_SCALES a kernel applies the scales to sums of blocks in f32: DeepSeek's own
 * kernels, int8. Blocks lie along the dimension that is summed. Source: the PTX ISA (mma
 * and tcgen05.mma with .block_scale, wmma of .s8), cuBLAS's documentation (scaling modes
 * of cublasLtMatmul). */
MPNUM_FUNC uint32_t mpnum_gpu_block_support(const mpnum_blockscale_format *format,
                                            int capability) {
  const mpnum_type type = mpnum_element_type_(format);
  const size_t along = format->rows > format->columns ? format->rows : format->columns;
  const int is_mx =
      format->scale_type == MPNUM_TYPE_E8M0 && along == 32 &&
      (type == MPNUM_TYPE_E4M3 || type == MPNUM_TYPE_E5M2 || type == MPNUM_TYPE_E3M2 ||
       type == MPNUM_TYPE_E2M3 || type == MPNUM_TYPE_E2M1);
  const int is_nvfp4 = format->rule == MPNUM_BLOCKSCALE_TWO_LEVEL && along == 16 &&
                       format->scale_type != MPNUM_TYPE_UE5M3 && type == MPNUM_TYPE_E2M1;
  const int is_deepseek = format->scale_type == MPNUM_TYPE_F32 && along == 128 &&
                          (type == MPNUM_TYPE_E4M3 || type == MPNUM_TYPE_E5M2);
  const uint32_t support =
      format->is_int8
          ? MPNUM_GPU_CONVERTS | (uint32_t)(capability >= 72) * MPNUM_GPU_TENSOR_CORES
          : mpnum_gpu_support(type, capability);
  const uint32_t applies = ((is_mx || is_nvfp4) && capability >= 100) ||
                           (is_deepseek && capability >= 90 && capability < 100);
  return support | applies * MPNUM_GPU_BLOCK_SCALES;
}
/* Rounds n, the length of the dimension that is summed, up to whole blocks and 16 bytes
 * of elements (mpnum_round_up_dim): to multiples of 32 for MX in 8 and 4 bits and for
 * NVFP4, 128 for MX in 6 bits and for DeepSeek's, 16 for int8. Returns 0 past
 * SIZE_MAX. */
MPNUM_FUNC size_t mpnum_round_up_block_dim(const mpnum_blockscale_format *format,
                                           size_t n) {
  const size_t along = format->rows > format->columns ? format->rows : format->columns;
  const size_t bits = (size_t)format->element_bits;
  const size_t bytes = bits == 6 ? 128 : 128 / bits; /* elements in 16 bytes */
  size_t multiple = along ? along : 1;
  while (multiple % bytes != 0)
    multiple += along ? along : 1;
  return (n + (multiple - 1)) / multiple * multiple; /* past SIZE_MAX: 0 */
}

#endif

/* 1 if the type `by` has every value of another type, including Inf, NaN and -0. */
MPNUM_MATH_ int mpnum_is_held_(mpnum_type type, mpnum_type by) {
  const mpnum_format a = mpnum_format_of(type), b = mpnum_format_of(by);
  if (by == MPNUM_TYPE_F64 || type == by) return 1;
  return type != MPNUM_TYPE_F64 && a.mantissa_bits <= b.mantissa_bits &&
         !mpnum_is_above_(mpnum_format_max(a), mpnum_format_max(b)) &&
         !mpnum_is_above_(mpnum_format_true_min(b), mpnum_format_true_min(a)) &&
         a.sign_bits <= b.sign_bits && a.has_negative_zero <= b.has_negative_zero &&
         (a.inf_code == 0 || b.inf_code != 0) && (a.nan_code == 0 || b.nan_code != 0);
}
/* The type that holds operands of two types without loss: the first of a, b, f16, bf16,
 * f32, f64 that has all values of both; f16 and bf16 give f32, as in PyTorch and JAX,
 * e4m3 and e5m2 give f16. 0 for an unknown type. */
MPNUM_MATH_ mpnum_type mpnum_promote(mpnum_type a, mpnum_type b) {
  const mpnum_type types[6] = {
      a, b, MPNUM_TYPE_F16, MPNUM_TYPE_BF16, MPNUM_TYPE_F32, MPNUM_TYPE_F64};
  int i = 0;
  if (mpnum_dense_bits_(a) == 0 || mpnum_dense_bits_(b) == 0) return (mpnum_type)0;
  while (!mpnum_is_held_(a, types[i]) || !mpnum_is_held_(b, types[i]))
    ++i;
  return types[i];
}

/* When to leave a format, to return to it, to keep a snapshot and to roll back to it. */
typedef struct mpnum_fallback_config {
  mpnum_type narrow, wide;
  int32_t bad_steps;      /* after so many bad steps in a row: wide; 1 or more */
  int32_t calm_steps;     /* after so many good steps in a row: narrow; 0: never */
  int32_t stable_steps;   /* so many good steps in a row: a stable state; 1 or more */
  int32_t rollback_steps; /* after so many bad steps in a row: roll back; 1 or more */
} mpnum_fallback_config;

/* The state machine: how many steps in a row were bad or good, and the present type. */
typedef struct mpnum_fallback {
  mpnum_fallback_config config;
  int32_t bad_run, good_run; /* bad and good steps since the last one of the other kind */
  int32_t is_wide, has_snapshot;
} mpnum_fallback;

/* What to do with the next step. */
typedef struct mpnum_fallback_advice {
  mpnum_type type;   /* of the next step */
  int32_t snapshot;  /* 1: the state is stable: keep a copy */
  int32_t roll_back; /* 1: return to the last copy that was advised */
} mpnum_fallback_advice;

/* f16; bf16 after 3 bad steps in a row, f16 again after 2000 good ones; stable after 20
 * good ones, a roll back after 5 bad ones. A loss scaler that looks for its first scale
 * skips more than 3 steps: give it a fitting scale to begin with, or a larger bad_steps
 * here. */
MPNUM_FUNC mpnum_fallback_config mpnum_fallback_default(void) {
  const mpnum_fallback_config config = {MPNUM_TYPE_F16, MPNUM_TYPE_BF16, 3, 2000, 20, 5};
  return config;
}
MPNUM_FUNC int mpnum_fallback_is_valid_(mpnum_fallback_config config) {
  return mpnum_dense_bits_(config.narrow) != 0 && mpnum_dense_bits_(config.wide) != 0 &&
         config.narrow != config.wide && config.bad_steps >= 1 &&
         config.calm_steps >= 0 && config.stable_steps >= 1 && config.rollback_steps >= 1;
}
/* Starts a state machine. Status codes: MPNUM_ERROR_TYPE: an unknown type;
 * MPNUM_ERROR_ARGUMENT: narrow and wide are the same, or a number of steps is outside its
 * range; the machine is then unchanged. */
MPNUM_MUST_CHECK MPNUM_FUNC mpnum_status
mpnum_fallback_init(mpnum_fallback *fallback, mpnum_fallback_config config) {
  if (!mpnum_dense_bits_(config.narrow) || !mpnum_dense_bits_(config.wide))
    return MPNUM_ERROR_TYPE;
  if (!mpnum_fallback_is_valid_(config)) return MPNUM_ERROR_ARGUMENT;
  fallback->config = config;
  fallback->bad_run = fallback->good_run = 0;
  fallback->is_wide = fallback->has_snapshot = 0;
  return MPNUM_OK;
}
MPNUM_FUNC int32_t mpnum_next_run_(int32_t run) {
  return run < 0x7fffffff ? run + 1 : run;
}
/* Call it after each step. is_bad: the step was skipped, or its loss was not finite. */
MPNUM_FUNC mpnum_fallback_advice mpnum_fallback_step(mpnum_fallback *fallback,
                                                     int is_bad) {
  const mpnum_fallback_config config = fallback->config;
  mpnum_fallback_advice advice = {MPNUM_TYPE_F32, 0, 0};
  fallback->bad_run = is_bad ? mpnum_next_run_(fallback->bad_run) : 0;
  fallback->good_run = is_bad ? 0 : mpnum_next_run_(fallback->good_run);
  if (is_bad) {
    if (fallback->bad_run >= config.bad_steps) fallback->is_wide = 1;
    advice.roll_back =
        fallback->has_snapshot && fallback->bad_run % config.rollback_steps == 0;
  } else {
    advice.snapshot = fallback->good_run % config.stable_steps == 0;
    fallback->has_snapshot |= advice.snapshot;
    if (fallback->is_wide && config.calm_steps != 0 &&
        fallback->good_run >= config.calm_steps)
      fallback->is_wide = 0;
  }
  advice.type = fallback->is_wide ? config.wide : config.narrow;
  return advice;
}

/* A state machine as bytes that are the same on every computer (stored.h): "mpFB" and the
 * members. Status codes: those of mpnum_health_save and mpnum_health_load. */
#define MPNUM_FALLBACK_BYTES    52
#define MPNUM_FALLBACK_VERSION_ 1
/* A number that is no type loads as 0, which is no type either. */
MPNUM_FUNC void mpnum_stored_type_(mpnum_stored_ *stored, mpnum_type *type) {
  uint32_t number = (uint32_t)*type;
  mpnum_stored_u32_(stored, &number);
  *type = mpnum_is_type_(number) ? (mpnum_type)number : (mpnum_type)0;
}
MPNUM_FUNC void mpnum_stored_fallback_(mpnum_stored_ *stored, mpnum_fallback *fallback) {
  mpnum_fallback_config *config = &fallback->config;
  mpnum_stored_type_(stored, &config->narrow);
  mpnum_stored_type_(stored, &config->wide);
  mpnum_stored_i32_(stored, &config->bad_steps);
  mpnum_stored_i32_(stored, &config->calm_steps);
  mpnum_stored_i32_(stored, &config->stable_steps);
  mpnum_stored_i32_(stored, &config->rollback_steps);
  mpnum_stored_i32_(stored, &fallback->bad_run);
  mpnum_stored_i32_(stored, &fallback->good_run);
  mpnum_stored_i32_(stored, &fallback->is_wide);
  mpnum_stored_i32_(stored, &fallback->has_snapshot);
}
MPNUM_FUNC int mpnum_fallback_is_sound_(const mpnum_fallback *fallback) {
  return mpnum_fallback_is_valid_(fallback->config) && fallback->bad_run >= 0 &&
         fallback->good_run >= 0 && (fallback->bad_run == 0 || fallback->good_run == 0) &&
         (fallback->is_wide == 0 || fallback->is_wide == 1) &&
         (fallback->has_snapshot == 0 || fallback->has_snapshot == 1);
}
/* Writes MPNUM_FALLBACK_BYTES bytes. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status
mpnum_fallback_save(uint8_t *bytes, const mpnum_fallback *fallback) {
  mpnum_fallback copy = *fallback;
  mpnum_stored_ out;
  if (!mpnum_fallback_is_sound_(fallback)) return MPNUM_ERROR_CORRUPT;
  out = mpnum_stored_begin_(bytes, 0x4246706du, MPNUM_FALLBACK_VERSION_);
  mpnum_stored_fallback_(&out, &copy);
  mpnum_stored_seal_(bytes, MPNUM_FALLBACK_BYTES);
  return MPNUM_OK;
}
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status mpnum_fallback_load(mpnum_fallback *fallback,
                                                              const uint8_t *bytes,
                                                              uint64_t size) {
  uint8_t copy[MPNUM_FALLBACK_BYTES] = {0};
  mpnum_stored_ in = {copy, 1};
  mpnum_fallback loaded = {mpnum_fallback_default(), 0, 0, 0, 0};
  uint32_t version = 0;
  const mpnum_status status =
      mpnum_stored_open_(&in, bytes, size, MPNUM_FALLBACK_BYTES, 0x4246706du,
                         MPNUM_FALLBACK_VERSION_, &version);
  if (status != MPNUM_OK) return status;
  mpnum_stored_fallback_(&in, &loaded);
  if (!mpnum_fallback_is_sound_(&loaded)) return MPNUM_ERROR_CORRUPT;
  *fallback = loaded;
  return MPNUM_OK;
}

MPNUM_C_END_
#endif
