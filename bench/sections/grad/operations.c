/* SPDX-License-Identifier: MIT */
/* The pass over gradients, and what it does, one after the other; steps of optimizers. */
#include "../arrays/arrays.h"
#include "../../core/message.h"

#include <string.h>

#include <mpnum/training/grad.h>
#include <mpnum/training/adafactor.h>
#include <mpnum/training/optimizer.h>
#include <mpnum/array/reduce.h>

/* Of 256 MiB of f32 10^5 tensors. */
enum { SMALL = 671, MOST = 64 };

/* Factors that the compiler does not know. The first leaves gradients as they are. */
static float volatile one = 1, two = 2;

static void unscale(mpnum_type src_type, mpnum_type dst_type, void *dst, const void *src,
                    size_t count) {
  const mpnum_grad_tensor tensor =
      mpnum_grad_tensor_of(src_type, src, count, dst_type, dst);
  mpnum_grad_findings findings;
  must(mpnum_grad_multiply(&tensor, 1, one, MPNUM_GRAD_NARROW, &findings));
}

static void unscale_f32(void *dst, const void *src, size_t count) {
  unscale(MPNUM_TYPE_F32, MPNUM_TYPE_F32, dst, src, count);
}

static void unscale_bf16(void *dst, const void *src, size_t count) {
  unscale(MPNUM_TYPE_BF16, MPNUM_TYPE_BF16, dst, src, count);
}

static void unscale_f16_to_f32(void *dst, const void *src, size_t count) {
  unscale(MPNUM_TYPE_F16, MPNUM_TYPE_F32, dst, src, count);
}

static void unscale_bf16_to_f32(void *dst, const void *src, size_t count) {
  unscale(MPNUM_TYPE_BF16, MPNUM_TYPE_F32, dst, src, count);
}

static void unscale_small_f32(void *dst, const void *src, size_t count) {
  mpnum_grad_tensor tensors[MOST];
  mpnum_grad_findings all = mpnum_grad_findings_empty(), findings;
  size_t done = 0, used = 0;
  while (done < count) {
    const size_t n = count - done < SMALL ? count - done : SMALL;
    tensors[used++] = mpnum_grad_tensor_of(MPNUM_TYPE_F32, (const float *)src + done, n,
                                           MPNUM_TYPE_F32, (float *)dst + done);
    done += n;
    if (used < MOST && done < count) continue;
    must(mpnum_grad_multiply(tensors, used, one, 0, &findings));
    all = mpnum_grad_findings_merge(all, findings);
    used = 0;
  }
}

/* What multiplying costs at least, in vectors of so many bytes. */
#define MULTIPLY(name, target, bytes)                                        \
 typedef float name##_vector __attribute__((vector_size(bytes), may_alias)); \
 target static void name(void *dst, const void *src, size_t count) {         \
  const name##_vector *from = src;                                           \
  const float factor = one;                                                  \
  name##_vector *to = dst;                                                   \
  size_t i;                                                                  \
  for (i = 0; i < count * sizeof(float) / (bytes); i += 4) {                 \
   to[i] = from[i] * factor;                                                 \
   to[i + 1] = from[i + 1] * factor;                                         \
   to[i + 2] = from[i + 2] * factor;                                         \
   to[i + 3] = from[i + 3] * factor;                                         \
  }                                                                          \
 }
MULTIPLY(multiply_16, , 16)
#if defined(__x86_64__)
MULTIPLY(multiply_32, __attribute__((target("avx2"))), 32)
MULTIPLY(multiply_64, __attribute__((target("avx512f"))), 64)
#endif

static void multiply_f32(void *dst, const void *src, size_t count) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    multiply_64(dst, src, count);
    return;
  }
  if (__builtin_cpu_supports("avx2")) {
    multiply_32(dst, src, count);
    return;
  }
#endif
  multiply_16(dst, src, count);
}

static void unscale_in_passes_f32(void *dst, const void *src, size_t count) {
  volatile float norm;
  multiply_f32(dst, src, count);
  if (!mpnum_all_finite_f32(dst, count)) return;
  (void)mpnum_stats_f32(dst, count);
  norm = mpnum_norm_f32(dst, count);
  (void)norm;
}

/* Doubled and clipped to a norm of 1, so that both passes write, time after time. */
static void unscale_and_clip_f32(void *dst, const void *src, size_t count) {
  static const mpnum_grad_scaler half = {.config = {.enabled = 1}, .scale = 0.5f};
  const mpnum_grad_tensor tensor =
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, src, count, MPNUM_TYPE_F32, dst);
  mpnum_grad_scaler scaler = half;
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  scaler.inverse = two;
  must(mpnum_grad_scaler_unscale(&scaler, &optimizer, &tensor, 1, 0, NULL));
  must(mpnum_grad_scaler_clip(&scaler, &optimizer, &tensor, 1, 1));
}

static void check_f32(void *dst, const void *src, size_t count) {
  const mpnum_grad_tensor tensor =
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, src, count, MPNUM_TYPE_F32, NULL);
  mpnum_grad_findings findings;
  must(mpnum_grad_read(&tensor, 1, one, &findings));
  memcpy(dst, &findings.stats.amax, sizeof findings.stats.amax);
}

/* Every step-th 2048 elements are counted. */
static void unscale_counting(void *dst, const void *src, size_t count, size_t step) {
  mpnum_grad_tensor tensor =
      mpnum_grad_tensor_of(MPNUM_TYPE_F32, src, count, MPNUM_TYPE_F32, dst);
  mpnum_histogram histogram = mpnum_histogram_empty();
  mpnum_grad_findings findings;
  tensor.histogram = &histogram;
  tensor.histogram_step = step;
  must(mpnum_grad_multiply(&tensor, 1, one, 0, &findings));
}

static void unscale_counting_all(void *dst, const void *src, size_t count) {
  unscale_counting(dst, src, count, 1);
}

static void unscale_counting_16th(void *dst, const void *src, size_t count) {
  unscale_counting(dst, src, count, 16);
}

/* What counting costs at least. Four tables, since an increment waits for the one before
 * it of the same place. */
static void count_exponents_f32(void *dst, const void *src, size_t count) {
  const float *from = src;
  uint64_t counts[4][256], sum = 0;
  memset(counts, 0, sizeof counts);
  for (size_t i = 0; i < count; i += 4) {
    ++counts[0][mpnum_bits_f32(from[i]) >> 23 & 255];
    ++counts[1][mpnum_bits_f32(from[i + 1]) >> 23 & 255];
    ++counts[2][mpnum_bits_f32(from[i + 2]) >> 23 & 255];
    ++counts[3][mpnum_bits_f32(from[i + 3]) >> 23 & 255];
  }
  for (size_t i = 0; i < 256; ++i)
    sum ^= counts[0][i] + counts[1][i] + counts[2][i] + counts[3][i];
  memcpy(dst, &sum, sizeof sum);
}

/* Arrays lie as STEP_GAP says. */
static void step(mpnum_optimizer_kind kind, mpnum_type type, bool copies, void *states,
                 size_t n) {
  const size_t bytes = type == MPNUM_TYPE_F32 ? 4 : 2;
  unsigned char *parameter = (unsigned char *)states + n * bytes + STEP_GAP;
  unsigned char *moment1 = parameter + n * bytes + STEP_GAP;
  unsigned char *moment2 = moment1 + 4 * n + STEP_GAP;
  mpnum_optimizer optimizer = mpnum_optimizer_default(kind);
  mpnum_optimizer_tensor tensor = mpnum_optimizer_tensor_of(
      n, type, states, type, parameter, MPNUM_TYPE_F32, moment1, NULL);
  optimizer.beta1 = 0.9;
  if (kind == MPNUM_OPTIMIZER_ADAMW) tensor.moment2 = moment2;
  if (copies) tensor.copy = moment2 + 4 * n + STEP_GAP;
  must(mpnum_optimizer_step(&optimizer, &tensor, 1, 1000, one, MPNUM_GRAD_APPLY));
}

static void adamw_f32(void *dst, const void *src, size_t count) {
  (void)src;
  step(MPNUM_OPTIMIZER_ADAMW, MPNUM_TYPE_F32, false, dst, count);
}

static void adamw_f32_copy(void *dst, const void *src, size_t count) {
  (void)src;
  step(MPNUM_OPTIMIZER_ADAMW, MPNUM_TYPE_F32, true, dst, count);
}

static void adamw_bf16(void *dst, const void *src, size_t count) {
  (void)src;
  step(MPNUM_OPTIMIZER_ADAMW, MPNUM_TYPE_BF16, false, dst, count);
}

static void sgd_f32(void *dst, const void *src, size_t count) {
  (void)src;
  step(MPNUM_OPTIMIZER_SGD, MPNUM_TYPE_F32, false, dst, count);
}

/* What a block or a row has is small beside the arrays: here it lies apart, for each
 * thread, and of more elements than there is room for the first ones are taken again. */
enum { SCALES = 1 << 17, ROW = 1024, ROWS = 1 << 16 };

static void adamw_8_bits(void *dst, const void *src, size_t count) {
  static __thread mpnum_e8m0 scales[2][SCALES];
  const mpnum_optimizer optimizer = mpnum_optimizer_default(MPNUM_OPTIMIZER_ADAMW);
  unsigned char *parameter = (unsigned char *)dst + 4 * count + STEP_GAP;
  unsigned char *moment1 = parameter + 4 * count + STEP_GAP;
  (void)src;
  for (size_t i = 0; i < count; i += SCALES * (size_t)MPNUM_OPTIMIZER_BLOCK) {
    const size_t most = SCALES * (size_t)MPNUM_OPTIMIZER_BLOCK;
    mpnum_optimizer_tensor tensor = mpnum_optimizer_tensor_of(
        count - i < most ? count - i : most, MPNUM_TYPE_F32, (float *)dst + i,
        MPNUM_TYPE_F32, parameter + 4 * i, MPNUM_TYPE_E4M3, moment1 + i,
        moment1 + count + STEP_GAP + i);
    tensor.moment1_scales = scales[0];
    tensor.moment2_scales = scales[1];
    must(mpnum_optimizer_step(&optimizer, &tensor, 1, 1000, one, MPNUM_GRAD_APPLY));
  }
}

static void adafactor_f32(void *dst, const void *src, size_t count) {
  static __thread float averages[ROWS + ROW];
  const mpnum_adafactor adafactor = mpnum_adafactor_default();
  unsigned char *parameter = (unsigned char *)dst + 4 * count + STEP_GAP;
  (void)src;
  for (size_t i = 0; i < count; i += ROWS * (size_t)ROW) {
    const size_t left = count - i, most = ROWS * (size_t)ROW;
    const size_t n = left < most ? left : most;
    mpnum_optimizer_tensor tensor = mpnum_optimizer_tensor_of(
        n, MPNUM_TYPE_F32, (float *)dst + i, MPNUM_TYPE_F32, parameter + 4 * i,
        MPNUM_TYPE_F32, averages, averages + ROWS);
    tensor.columns = n < ROW ? n : ROW;
    tensor.n = n / tensor.columns * tensor.columns; /* a rest is left out */
    must(mpnum_adafactor_step(&adafactor, &tensor, 1, 1000, one, MPNUM_GRAD_APPLY));
  }
}

#define IN_PLACE \
 { 32, 32, 32 }
#define READ \
 { 32, 0, 0 }
#define WIDENED \
 { 16, 32, 0 }

static const array_operation operations[] = {
    {"unscale f32", "mpnum_grad_multiply", SOURCE_F32, IN_PLACE, unscale_f32},
    {"unscale f32 small", "mpnum_grad_multiply", SOURCE_F32, IN_PLACE, unscale_small_f32},
    {"unscale f32 in passes",
     "multiply f32, mpnum_all_finite_f32, mpnum_stats_f32, mpnum_norm_f32", SOURCE_F32,
     IN_PLACE, unscale_in_passes_f32},
    {"multiply f32", "x * factor", SOURCE_F32, IN_PLACE, multiply_f32},
    {"unscale and clip f32", "mpnum_grad_scaler_unscale, mpnum_grad_scaler_clip",
     SOURCE_F32, IN_PLACE, unscale_and_clip_f32},
    {"unscale f32 histogram", "mpnum_grad_multiply", SOURCE_F32, IN_PLACE,
     unscale_counting_all},
    {"unscale f32 histogram/16", "mpnum_grad_multiply", SOURCE_F32, IN_PLACE,
     unscale_counting_16th},
    {"count exponents f32", "++counts[bits >> 23 & 255]", SOURCE_F32, READ,
     count_exponents_f32},
    {"check f32", "mpnum_grad_read", SOURCE_F32, READ, check_f32},
    {"unscale bf16", "mpnum_grad_multiply", SOURCE_BF16, {16, 16, 16}, unscale_bf16},
    {"unscale f16 to f32", "mpnum_grad_multiply", SOURCE_F16, WIDENED,
     unscale_f16_to_f32},
    {"unscale bf16 to f32", "mpnum_grad_multiply", SOURCE_BF16, WIDENED,
     unscale_bf16_to_f32},
    {"adamw f32", "mpnum_optimizer_step", SOURCE_STATES_F32, {128, 96, 96}, adamw_f32},
    {"adamw f32 bf16 copy",
     "mpnum_optimizer_step",
     SOURCE_STATES_F32,
     {128, 112, 96},
     adamw_f32_copy},
    {"adamw bf16 sr",
     "mpnum_optimizer_step",
     SOURCE_STATES_BF16,
     {96, 80, 80},
     adamw_bf16},
    {"sgd momentum f32",
     "mpnum_optimizer_step",
     SOURCE_STATES_F32,
     {96, 64, 64},
     sgd_f32},
    {"8-bit adamw f32",
     "mpnum_optimizer_step",
     SOURCE_STATES_F32,
     {80, 48, 48},
     adamw_8_bits},
    {"adafactor f32",
     "mpnum_adafactor_step",
     SOURCE_STATES_F32,
     {64, 32, 32},
     adafactor_f32},
};

static bool force_isa(int isa) { return mpnum_isa_force((mpnum_isa)isa) == MPNUM_OK; }
static const char *isa(void) { return mpnum_isa_name(mpnum_isa_in_use()); }

const array_code grad_functions = {operations, sizeof operations / sizeof *operations,
                                   force_isa, isa};
