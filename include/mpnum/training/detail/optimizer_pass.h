/* SPDX-License-Identifier: MIT */
/* The pass of optimizer.h over a list of tensors, and what it refuses. */
#ifndef MPNUM_TRAINING_DETAIL_OPTIMIZER_PASS_H
#define MPNUM_TRAINING_DETAIL_OPTIMIZER_PASS_H

#include "../../types/f32.h"
#include "optimizer_loops.h"
#include "../optimizer_tensor.h"
MPNUM_C_BEGIN_

#if MPNUM_ON_DEVICE_ || MPNUM_HAS_ARRAYS_

/* By bits, whatever the environment. */
MPNUM_MATH_ int mpnum_optimizer_has_momentum_(const mpnum_optimizer *optimizer) {
  return mpnum_bits_f64(optimizer->beta1) << 1 != 0;
}
MPNUM_MATH_ mpnum_optimizer_step_
mpnum_optimizer_step_of_(const mpnum_optimizer *optimizer) {
  if (optimizer->kind == MPNUM_OPTIMIZER_LION) return MPNUM_OPTIMIZER_STEP_LION_;
  if (optimizer->kind != MPNUM_OPTIMIZER_SGD) return MPNUM_OPTIMIZER_STEP_ADAM_;
  if (!mpnum_optimizer_has_momentum_(optimizer)) return MPNUM_OPTIMIZER_STEP_SGD_;
  return optimizer->nesterov ? MPNUM_OPTIMIZER_STEP_NESTEROV_
                             : MPNUM_OPTIMIZER_STEP_MOMENTUM_;
}
/* How many moments there are. */
MPNUM_MATH_ int mpnum_optimizer_step_moments_(int32_t step) {
  return step == MPNUM_OPTIMIZER_STEP_ADAM_  ? 2
         : step == MPNUM_OPTIMIZER_STEP_SGD_ ? 0
                                             : 1;
}
MPNUM_MATH_ int mpnum_optimizer_moments_(const mpnum_optimizer *optimizer) {
  return mpnum_optimizer_step_moments_((int32_t)mpnum_optimizer_step_of_(optimizer));
}
/* Whether a number is 0 or more, and below another one: not NaN. */
MPNUM_MATH_ int mpnum_optimizer_is_below_(double x, uint64_t limit) {
  const uint64_t bits = mpnum_bits_f64(x);
  return bits < limit || bits == (uint64_t)1 << 63; /* -0 */
}
MPNUM_MATH_ mpnum_status mpnum_optimizer_check_(const mpnum_optimizer *optimizer,
                                                uint64_t step, float multiplier) {
  const uint64_t one = (uint64_t)0x3ff << 52, infinite = (uint64_t)0x7ff << 52;
  if (!optimizer || step == 0 || (uint32_t)optimizer->kind > MPNUM_OPTIMIZER_LION ||
      (optimizer->rounding != MPNUM_ROUND_STOCHASTIC &&
       optimizer->rounding != MPNUM_ROUND_NEAREST_EVEN) ||
      !mpnum_optimizer_is_below_(optimizer->beta1, one) ||
      !mpnum_optimizer_is_below_(optimizer->learning_rate, infinite) ||
      !mpnum_optimizer_is_below_(optimizer->weight_decay, infinite) ||
      !mpnum_isfinite_f32(multiplier))
    return MPNUM_ERROR_ARGUMENT;
  if (optimizer->kind != MPNUM_OPTIMIZER_SGD &&
      !mpnum_optimizer_is_below_(optimizer->beta2, one))
    return MPNUM_ERROR_ARGUMENT;
  if (optimizer->kind <= MPNUM_OPTIMIZER_ADAM &&
      !mpnum_optimizer_is_below_(optimizer->epsilon, infinite))
    return MPNUM_ERROR_ARGUMENT;
  return MPNUM_OK;
}
/* The factors of a step; MPNUM_ERROR_ARGUMENT where one is past the floats. */
MPNUM_MATH_ mpnum_status mpnum_optimizer_factors_of_(mpnum_optimizer_factors_ *made,
                                                     const mpnum_optimizer *optimizer,
                                                     uint64_t step, float multiplier) {
  const int is_adam = optimizer->kind <= MPNUM_OPTIMIZER_ADAM;
  const int is_apart =
      optimizer->kind == MPNUM_OPTIMIZER_ADAMW || optimizer->kind == MPNUM_OPTIMIZER_LION;
  const double rate = optimizer->learning_rate, decay = optimizer->weight_decay;
  const double left1 =
      mpnum_add_f64_(1.0, -mpnum_optimizer_power_(optimizer->beta1, step));
  const double left2 =
      mpnum_add_f64_(1.0, -mpnum_optimizer_power_(optimizer->beta2, step));
  made->multiplier = multiplier;
  made->decay = is_apart ? 0.0f : mpnum_narrow_f64_(decay);
  made->shrink = is_apart ? mpnum_narrow_f64_(mpnum_mul_f64_(rate, decay)) : 0.0f;
  made->beta1 = mpnum_narrow_f64_(optimizer->beta1);
  made->rest1 = mpnum_narrow_f64_(mpnum_add_f64_(1.0, -optimizer->beta1));
  made->beta2 = mpnum_narrow_f64_(optimizer->beta2);
  made->rest2 = mpnum_narrow_f64_(mpnum_add_f64_(1.0, -optimizer->beta2));
  made->epsilon = is_adam ? mpnum_narrow_f64_(optimizer->epsilon) : 0.0f;
  made->inverse =
      mpnum_div_scalar_(1.0f, mpnum_sqrt_raw_scalar_(mpnum_narrow_f64_(left2)));
  made->rate = mpnum_narrow_f64_(is_adam ? mpnum_div_f64_(rate, left1) : rate);
  return mpnum_isfinite_f32(made->rate) && mpnum_isfinite_f32(made->shrink) &&
                 mpnum_isfinite_f32(made->decay) && mpnum_isfinite_f32(made->epsilon)
             ? MPNUM_OK
             : MPNUM_ERROR_ARGUMENT;
}

#endif

#if MPNUM_HAS_ARRAYS_

MPNUM_HOST int mpnum_optimizer_is_small_(mpnum_type type) {
  return type == MPNUM_TYPE_BF16 || type == MPNUM_TYPE_F16;
}
/* Whether arrays of a tensor that it writes share memory with another one, where its
 * moments take so many bytes. */
MPNUM_HOST_COLD_ int mpnum_optimizer_overlaps_(const mpnum_optimizer_tensor *t,
                                               size_t bytes1, size_t bytes2) {
  const int has_scales = t->moment_type == MPNUM_TYPE_E4M3;
  const void *const all[9] = {t->parameter,
                              t->remainder,
                              t->copy,
                              bytes1 ? t->moment1 : 0,
                              bytes2 ? t->moment2 : 0,
                              t->losses,
                              has_scales && bytes1 ? t->moment1_scales : 0,
                              has_scales && bytes2 ? t->moment2_scales : 0,
                              t->gradient};
  const void *arrays[9];
  size_t sizes[9], bytes[9], count = 0, i = 0, k = 0;
  sizes[0] = sizes[1] = t->n * (size_t)(mpnum_type_bits_(t->parameter_type) / 8);
  sizes[2] = t->n * (size_t)(mpnum_type_bits_(t->copy_type) / 8);
  sizes[3] = bytes1, sizes[4] = bytes2;
  sizes[5] = sizeof *t->losses;
  sizes[6] = sizes[7] =
      t->n / MPNUM_OPTIMIZER_BLOCK + (t->n % MPNUM_OPTIMIZER_BLOCK != 0);
  sizes[8] = t->n * (size_t)(mpnum_type_bits_(t->gradient_type) / 8);
  for (; i < 9; ++i)
    if (all[i]) arrays[count] = all[i], bytes[count++] = sizes[i];
  for (i = 0; i + 1 < count; ++i) /* the gradient is the last one */
    for (k = i + 1; k < count; ++k)
      if (mpnum_overlap_(arrays[i], bytes[i], arrays[k], bytes[k])) return 1;
  return 0;
}
MPNUM_HOST_ONCE_ mpnum_status mpnum_optimizer_tensor_check_(
    const mpnum_optimizer *optimizer, const mpnum_optimizer_tensor *t) {
  const int moments = mpnum_optimizer_moments_(optimizer);
  const int is_small = mpnum_optimizer_is_small_(t->parameter_type);
  const int has_bytes = t->copy && mpnum_is_scaled_type_(t->copy_type);
  const int has_scales = moments && t->moment_type == MPNUM_TYPE_E4M3;
  const size_t bytes = t->n * (size_t)(mpnum_type_bits_(t->moment_type) / 8);
  const uint32_t scale = mpnum_bits_f32(t->copy_scale);
  if (!mpnum_has_rows_(t->gradient_type) ||
      (!is_small && t->parameter_type != MPNUM_TYPE_F32) ||
      (moments && t->moment_type != MPNUM_TYPE_F32 && t->moment_type != MPNUM_TYPE_BF16 &&
       !has_scales) ||
      (t->copy && !has_bytes && !mpnum_optimizer_is_small_(t->copy_type)) ||
      (t->remainder && !is_small))
    return MPNUM_ERROR_TYPE;
  if (t->copy && (has_bytes ? scale - 1 >= 0x7f7fffffu : scale != 0x3f800000u))
    return MPNUM_ERROR_ARGUMENT;
  if (is_small && (!t->remainder || t->parameter_type == MPNUM_TYPE_F16) &&
      optimizer->rounding != MPNUM_ROUND_STOCHASTIC)
    return MPNUM_ERROR_NARROW;
  if (t->n == 0) return MPNUM_OK;
  if (!t->gradient || !t->parameter || (moments > 0 && !t->moment1) ||
      (moments > 1 && !t->moment2) || (has_scales && !t->moment1_scales) ||
      (has_scales && moments > 1 && !t->moment2_scales))
    return MPNUM_ERROR_NULL;
  return mpnum_optimizer_overlaps_(t, moments > 0 ? bytes : 0, moments > 1 ? bytes : 0)
             ? MPNUM_ERROR_OVERLAP
             : MPNUM_OK;
}
MPNUM_HOST mpnum_status
mpnum_optimizer_tensors_check_(const mpnum_optimizer *optimizer,
                               const mpnum_optimizer_tensor *tensors, size_t count) {
  mpnum_status status = tensors || count == 0 ? MPNUM_OK : MPNUM_ERROR_NULL;
  size_t i = 0;
  for (; i < count && status == MPNUM_OK; ++i)
    status = mpnum_optimizer_tensor_check_(optimizer, tensors + i);
  return status;
}

/* A step, over tiles. */
typedef struct mpnum_optimizer_pass_ {
  mpnum_optimizer_run_ step, join, split;
  mpnum_optimizer_flushed_ *keep; /* NULL: nothing is ever flushed */
  int32_t kind;                   /* a mpnum_optimizer_step_ */
  mpnum_optimizer_factors_ factors;
  uint64_t seeds[3];
  int moments, is_stochastic;
} mpnum_optimizer_pass_;

MPNUM_HOST_ONCE_ mpnum_status mpnum_optimizer_pass_of_(mpnum_optimizer_pass_ *pass,
                                                       const mpnum_optimizer *optimizer,
                                                       uint64_t step, float multiplier) {
  const mpnum_isa isa = mpnum_isa_in_use();
  mpnum_status status = MPNUM_OK;
  uint32_t i = 0;
  MPNUM_OPTIMIZER_RUN_(&pass->join, isa, join);
  MPNUM_OPTIMIZER_RUN_(&pass->split, isa, split);
  pass->kind = (int32_t)mpnum_optimizer_step_of_(optimizer);
  switch (pass->kind) {
  case MPNUM_OPTIMIZER_STEP_ADAM_: MPNUM_OPTIMIZER_RUN_(&pass->step, isa, adam); break;
  case MPNUM_OPTIMIZER_STEP_LION_: MPNUM_OPTIMIZER_RUN_(&pass->step, isa, lion); break;
  case MPNUM_OPTIMIZER_STEP_SGD_: MPNUM_OPTIMIZER_RUN_(&pass->step, isa, sgd); break;
  case MPNUM_OPTIMIZER_STEP_MOMENTUM_:
    MPNUM_OPTIMIZER_RUN_(&pass->step, isa, momentum);
    break;
  default: MPNUM_OPTIMIZER_RUN_(&pass->step, isa, nesterov);
  }
  for (; i < 3; ++i)
    pass->seeds[i] = mpnum_optimizer_seed_(optimizer->seed, step, i);
  pass->moments = mpnum_optimizer_moments_(optimizer);
  pass->is_stochastic = optimizer->rounding == MPNUM_ROUND_STOCHASTIC;
  status = mpnum_optimizer_factors_of_(&pass->factors, optimizer, step, multiplier);
  pass->keep = mpnum_optimizer_keeps_(&pass->factors)
                   ? MPNUM_PICK_(isa, optimizer_keep, WIDE, (mpnum_optimizer_flushed_ *)0)
                   : (mpnum_optimizer_flushed_ *)0;
  return status;
}
/* The step of a tile: flushed, where that is worth it. */
MPNUM_HOST_ONCE_ void mpnum_optimizer_step_over_(const mpnum_optimizer_pass_ *pass,
                                                 const mpnum_optimizer_tile_ *tile,
                                                 size_t n) {
  const size_t whole = n / 16 * 16; /* of the widest vectors */
  if (whole < MPNUM_FLUSHED_ || !pass->keep ||
      !(*pass->keep)(&pass->factors, tile, pass->kind, pass->step.vectors, whole)) {
    mpnum_optimizer_run_over_(&pass->step, &pass->factors, tile, n);
  } else if (whole != n) {
    (*pass->step.each)(&pass->factors, tile, whole, n);
  }
}
/* Floats of n elements: where they are, or in a buffer. */
MPNUM_HOST_ONCE_ uint8_t *mpnum_optimizer_floats_(mpnum_type type, void *memory,
                                                  size_t first, float *buffer, size_t n) {
  uint8_t *const at = mpnum_row_to_(type, memory, first);
  if (type == MPNUM_TYPE_F32) return at;
  mpnum_floats_from_(type, buffer, at, n);
  return (uint8_t *)(void *)buffer;
}
/* And back. */
MPNUM_HOST_ONCE_ void mpnum_optimizer_store_(mpnum_type type, void *memory, size_t first,
                                             const void *floats, size_t n,
                                             int is_stochastic, uint64_t seed,
                                             uint64_t index) {
  uint8_t *const at = mpnum_row_to_(type, memory, first);
  if (type == MPNUM_TYPE_F32) return;
  if (is_stochastic) {
    mpnum_stochastic_array_(type, MPNUM_OVERFLOW_IEEE, at, (const float *)floats, n, seed,
                            index);
  } else {
    mpnum_floats_to_(type, at, (const float *)floats, n);
  }
}
/* Moments: where they are, or in a buffer. */
MPNUM_HOST uint8_t *mpnum_optimizer_moment_(const mpnum_optimizer_tensor *t,
                                            int is_second, size_t first, float *buffer,
                                            size_t n) {
  void *const moment = is_second ? t->moment2 : t->moment1;
  const mpnum_e8m0 *const scales = is_second ? t->moment2_scales : t->moment1_scales;
  if (t->moment_type != MPNUM_TYPE_E4M3)
    return mpnum_optimizer_floats_(t->moment_type, moment, first, buffer, n);
  mpnum_moments_floats_(is_second, (uint8_t *)(void *)buffer, (uint8_t *)moment + first,
                        scales + first / MPNUM_OPTIMIZER_BLOCK, n);
  return (uint8_t *)(void *)buffer;
}
MPNUM_HOST_ONCE_ void mpnum_optimizer_store_moments_(const mpnum_optimizer_pass_ *pass,
                                                     const mpnum_optimizer_tensor *t,
                                                     const mpnum_optimizer_tile_ *tile,
                                                     size_t first, size_t n) {
  const uint64_t index = t->first + first;
  int k = 0;
  if (t->moment_type == MPNUM_TYPE_E4M3) {
    MPNUM_ALIGNED_ uint8_t buffer[4 * (MPNUM_OPTIMIZED_ + 132)];
    const uint8_t *const words = mpnum_random_words_(
        pass->seeds[MPNUM_OPTIMIZER_MOMENT1_WORDS_], index, buffer, n);
    const size_t block = first / MPNUM_OPTIMIZER_BLOCK;
    mpnum_moments_codes_(0, (uint8_t *)t->moment1 + first, t->moment1_scales + block,
                         tile->moment1, words, n);
    if (pass->moments > 1)
      mpnum_moments_codes_(1, (uint8_t *)t->moment2 + first, t->moment2_scales + block,
                           tile->moment2, words, n);
    return;
  }
  for (; k < pass->moments; ++k)
    mpnum_optimizer_store_(t->moment_type, k ? t->moment2 : t->moment1, first,
                           k ? tile->moment2 : tile->moment1, n, 1,
                           pass->seeds[MPNUM_OPTIMIZER_MOMENT1_WORDS_ + k], index);
}
/* Elements first to first + n, at most a tile, by floats of their gradient. */
MPNUM_HOST_ONCE_ void mpnum_optimizer_tile_of_(const mpnum_optimizer_pass_ *pass,
                                               const mpnum_optimizer_tensor *t,
                                               const uint8_t *gradient, size_t first,
                                               size_t n) {
  MPNUM_ALIGNED_ float parameter[MPNUM_OPTIMIZED_], other[MPNUM_OPTIMIZED_];
  MPNUM_ALIGNED_ float moment1[MPNUM_OPTIMIZED_], moment2[MPNUM_OPTIMIZED_];
  const mpnum_type type = t->parameter_type;
  const int is_small = type != MPNUM_TYPE_F32;
  const uint64_t index = t->first + first, *seeds = pass->seeds;
  const uint8_t *stored = 0;
  mpnum_optimizer_tile_ tile;
  tile.parameter = mpnum_optimizer_floats_(type, t->parameter, first, parameter, n);
  if (t->remainder) {
    tile.gradient = mpnum_optimizer_floats_(type, t->remainder, first, other, n);
    tile.moment1 = tile.moment2 = 0;
    mpnum_optimizer_run_over_(&pass->join, &pass->factors, &tile, n);
  }
  tile.gradient = gradient;
  tile.moment1 = tile.moment2 = 0;
  if (pass->moments > 0) tile.moment1 = mpnum_optimizer_moment_(t, 0, first, moment1, n);
  if (pass->moments > 1) tile.moment2 = mpnum_optimizer_moment_(t, 1, first, moment2, n);
  mpnum_optimizer_step_over_(pass, &tile, n);
  if (pass->moments) mpnum_optimizer_store_moments_(pass, t, &tile, first, n);
  mpnum_optimizer_store_(type, t->parameter, first, tile.parameter, n,
                         pass->is_stochastic && !t->remainder,
                         seeds[MPNUM_OPTIMIZER_PARAMETER_WORDS_], index);
  stored = tile.parameter;
  if (is_small && (t->remainder || t->copy))
    stored = mpnum_optimizer_floats_(type, t->parameter, first, other, n);
  if (t->remainder) {
    tile.gradient = stored;
    tile.moment1 = (uint8_t *)(void *)moment1;
    mpnum_optimizer_run_over_(&pass->split, &pass->factors, &tile, n);
    mpnum_optimizer_store_(type, t->remainder, first, tile.moment1, n,
                           pass->is_stochastic, seeds[MPNUM_OPTIMIZER_PARAMETER_WORDS_],
                           index);
  }
  if (t->copy && mpnum_optimizer_is_small_(t->copy_type)) {
    mpnum_floats_to_(t->copy_type, (uint8_t *)t->copy + 2 * first,
                     (const float *)(const void *)stored, n);
  } else if (t->copy) {
    mpnum_quantize_by_(t->copy_type, (uint8_t *)t->copy + first, MPNUM_TYPE_F32, stored,
                       n, t->copy_scale, t->losses);
  }
}
MPNUM_HOST void mpnum_optimizer_tile_step_(const mpnum_optimizer_pass_ *pass,
                                           const mpnum_optimizer_tensor *t, size_t first,
                                           size_t n) {
  MPNUM_ALIGNED_ float buffer[MPNUM_OPTIMIZED_];
  const uint8_t *gradient = mpnum_row_at_(t->gradient_type, t->gradient, first);
  if (t->gradient_type != MPNUM_TYPE_F32) {
    mpnum_floats_from_(t->gradient_type, buffer, gradient, n);
    gradient = (const uint8_t *)(const void *)buffer;
  }
  mpnum_optimizer_tile_of_(pass, t, gradient, first, n);
}
MPNUM_HOST void mpnum_optimizer_tensors_(const mpnum_optimizer_pass_ *pass,
                                         const mpnum_optimizer_tensor *tensors,
                                         size_t count) {
  size_t i = 0, k = 0;
  for (; i < count; ++i)
    for (k = 0; k < tensors[i].n; k += MPNUM_OPTIMIZED_)
      mpnum_optimizer_tile_step_(pass, tensors + i, k,
                                 tensors[i].n - k < MPNUM_OPTIMIZED_ ? tensors[i].n - k
                                                                     : MPNUM_OPTIMIZED_);
}

#endif
MPNUM_C_END_
#endif
