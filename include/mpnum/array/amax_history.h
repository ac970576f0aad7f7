/* SPDX-License-Identifier: MIT */
/* FP8 with a scale for each tensor: scales from amaxes, histories of amaxes, recipes.
 * Host and device; scale.h quantises arrays on hosts.
 *
 *     mpnum_fp8_recipe recipe = mpnum_fp8_recipe_delayed();
 *     mpnum_amax_history history; // of one tensor, its amaxes in the caller's memory
 *     float amaxes[1024];
 *     mpnum_amax_history_init(&history, amaxes, 1024, 448, &recipe);
 *     for (;;) {
 *       quantise(tensor, history.scale, &losses); // x * scale becomes a code
 *       multiply(codes, history.scale_inv);       // code * scale_inv is x again
 *       mpnum_amax_history_update(&history, amaxes, losses.amax);
 *     }
 *
 * Values are multiplied by scale before they become codes, codes by scale_inv
 * afterwards. An amax is the largest magnitude of a tensor, without its sign. Histories
 * and recipes have no pointers and no padding: copy them, put them into device memory,
 * compare the copies of two ranks byte for byte.
 * Bits: made by integers, so the same on hosts and devices, whatever the flags and the
 *   floating-point environment.
 * Source: Micikevicius et al., FP8 Formats for Deep Learning, 2022; names are those of
 *   Transformer Engine where it has them. */
#ifndef MPNUM_ARRAY_AMAX_HISTORY_H
#define MPNUM_ARRAY_AMAX_HISTORY_H

#include "losses.h"
#include "../simd/detail/f32_ops.h"
MPNUM_C_BEGIN_

/* Returns the magnitude of x as a word. Words of finite values have the order of the
 * values, the word of Inf is above them, and 0x7fffffff, the one word of all NaNs, above
 * that. So a maximum of integers, signed or not, merges amaxes in any order: atomicMax,
 * MPI_MAX, ncclMax (a maximum of floats may drop a NaN). mpnum_from_bits_f32 turns the
 * word into an amax. */
MPNUM_REAL_ uint32_t mpnum_amax_word(float x) {
  const uint32_t magnitude = mpnum_bits_of_scalar_(x) & 0x7fffffffu;
  return magnitude > 0x7f800000u ? 0x7fffffffu : magnitude;
}
/* Returns the amax of both: NaN (0x7fffffff) if one is NaN, else the larger magnitude. */
MPNUM_REAL_ float mpnum_amax_merge(float a, float b) {
  const uint32_t word_a = mpnum_amax_word(a), word_b = mpnum_amax_word(b);
  return mpnum_f32_of_scalar_(word_a > word_b ? word_a : word_b);
}
/* Adds what was lost of two tensors, or on two ranks. */
MPNUM_MATH_ mpnum_quantize_losses mpnum_quantize_losses_merge(mpnum_quantize_losses a,
                                                              mpnum_quantize_losses b) {
  a.saturated += b.saturated;
  a.underflowed += b.underflowed;
  a.nonfinite += b.nonfinite;
  a.amax = mpnum_amax_merge(a.amax, b.amax);
  return a;
}

/* How a scale is made of an amax. */
typedef struct mpnum_scale_options {
  int32_t
      power_of_two; /* 1: the scale is a power of two, so that scaling rounds nothing */
  int32_t margin;   /* leaves room for values 2^margin times the amax; -126 to 126 */
  float fallback;   /* the scale if amax is 0, Inf or NaN */
} mpnum_scale_options;

/* Returns no power of two, margin 0, fallback 1. */
MPNUM_MATH_ mpnum_scale_options mpnum_scale_default(void) {
  const mpnum_scale_options options = {0, 0, 1.0f};
  return options;
}

/* Returns max 2^-margin / amax: the scale that takes amax to max, the largest value of a
 * format (448 for e4m3; mpnum_format_max for any). It is rounded once, to nearest, or
 * down to a power of two with power_of_two. It is never 0 nor Inf: FLT_TRUE_MIN and
 * FLT_MAX, or 2^127, stand for these. options NULL: the defaults. A margin beyond 126
 * counts as 126; a max that is 0, Inf or NaN gives the fallback. */
MPNUM_MATH_ float mpnum_scale_from_amax(float amax, float max,
                                        const mpnum_scale_options *options) {
  const mpnum_scale_options chosen = options ? *options : mpnum_scale_default();
  const uint32_t divisor = mpnum_amax_word(amax), largest = mpnum_amax_word(max);
  const int margin = chosen.margin < -126  ? -126
                     : chosen.margin > 126 ? 126
                                           : (int)chosen.margin;
  mpnum_wide_ quotient = {0, 0, 0};
  uint32_t bits = 0;
  if (divisor - 1 >= 0x7f7fffffu || largest - 1 >= 0x7f7fffffu) return chosen.fallback;
  quotient = mpnum_wide_scaled_(
      mpnum_wide_div_(mpnum_wide_f32_(largest), mpnum_wide_f32_(divisor)), -margin);
  if (chosen.power_of_two) {
    const int exponent = quotient.exponent + 63;
    return mpnum_pow2_(exponent < -149 ? -149 : exponent > 127 ? 127 : exponent);
  }
  bits = mpnum_bits_f32(mpnum_wide_rounded_f32_(quotient));
  return mpnum_from_bits_f32(bits == 0 ? 1 : bits >= 0x7f800000u ? 0x7f7fffffu : bits);
}

/* Returns 1 / scale, rounded to nearest, which codes of this scale are multiplied by.
 * FLT_MAX for scales up to 2^-128; NaN for what is no scale (0, negative, Inf, NaN). */
MPNUM_MATH_ float mpnum_scale_inv(float scale) {
  const uint32_t bits = mpnum_bits_f32(scale);
  uint32_t inverse = 0x7fffffffu;
  if (bits - 1 < 0x7f7fffffu) {
    inverse = mpnum_bits_f32(mpnum_wide_rounded_f32_(
        mpnum_wide_div_(mpnum_wide_int_(1), mpnum_wide_f32_(bits))));
    if (inverse >= 0x7f800000u) inverse = 0x7f7fffffu;
  }
  return mpnum_from_bits_f32(inverse);
}

/* When the scale of a tensor is found. */
typedef enum mpnum_fp8_scaling {
  MPNUM_FP8_CURRENT = 0, /* from the tensor's own amax, so it is read twice */
  MPNUM_FP8_DELAYED = 1  /* from the amaxes of earlier iterations, so it is read once */
} mpnum_fp8_scaling;

/* Which amax of a history makes the scale. */
typedef enum mpnum_amax_algorithm {
  MPNUM_AMAX_MAX = 0, /* the largest one */
  MPNUM_AMAX_MOST_RECENT = 1
} mpnum_amax_algorithm;

/* How to train with FP8 tensors. */
typedef struct mpnum_fp8_recipe {
  int32_t forward,
      backward;            /* enum mpnum_type of activations and weights, of gradients */
  int32_t scaling;         /* enum mpnum_fp8_scaling */
  int32_t algorithm;       /* enum mpnum_amax_algorithm */
  uint32_t history_length; /* amaxes in a history, 1 to 2^28 */
  mpnum_scale_options options; /* fallback: the scale before the first amax, too */
} mpnum_fp8_recipe;

/* delayed: e4m3 forward and e5m2 backward (HYBRID), the largest of 1024 amaxes, like
 * DelayedScaling of Transformer Engine. current: the same types, like its
 * Float8CurrentScaling. For a single type set both to it. */
MPNUM_MATH_ mpnum_fp8_recipe mpnum_fp8_recipe_delayed(void) {
  const mpnum_fp8_recipe recipe = {
      MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2, MPNUM_FP8_DELAYED, MPNUM_AMAX_MAX, 1024,
      {0, 0, 1.0f}};
  return recipe;
}
MPNUM_MATH_ mpnum_fp8_recipe mpnum_fp8_recipe_current(void) {
  mpnum_fp8_recipe recipe = mpnum_fp8_recipe_delayed();
  recipe.scaling = MPNUM_FP8_CURRENT;
  recipe.algorithm = MPNUM_AMAX_MOST_RECENT;
  recipe.history_length = 1;
  return recipe;
}

/* Whether a number is a signed type of 8 bits. */
MPNUM_FUNC int mpnum_is_fp8_(int32_t type) {
  mpnum_format format = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  if (!mpnum_is_type_((uint32_t)type)) return 0;
  format = mpnum_format_of((mpnum_type)type);
  return format.sign_bits && format.exponent_bits + format.mantissa_bits == 7;
}
/* Returns the name of the wrong member of options, or NULL. */
MPNUM_MATH_ const char *mpnum_scale_wrong_(const mpnum_scale_options *options) {
  if (options->power_of_two != 0 && options->power_of_two != 1) return "power_of_two";
  if (options->margin < -126 || options->margin > 126) return "margin";
  return mpnum_bits_f32(options->fallback) - 1 < 0x7f7fffffu ? 0 : "fallback";
}
/* Checks a recipe: signed types of 8 bits, a fallback that is finite and above 0.
 * Status codes: MPNUM_ERROR_NULL: no recipe; MPNUM_ERROR_ARGUMENT: *field, unless field
 *   is NULL, is then the name of the wrong member; else it is NULL. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status
mpnum_fp8_recipe_validate(const mpnum_fp8_recipe *recipe, const char **field) {
  const char *wrong = 0;
  if (!recipe) return MPNUM_ERROR_NULL;
  wrong = mpnum_scale_wrong_(&recipe->options);
  if (recipe->history_length - 1 >= (uint32_t)1 << 28) wrong = "history_length";
  if (recipe->algorithm < 0 || recipe->algorithm > MPNUM_AMAX_MOST_RECENT)
    wrong = "algorithm";
  if (recipe->scaling < 0 || recipe->scaling > MPNUM_FP8_DELAYED) wrong = "scaling";
  if (!mpnum_is_fp8_(recipe->backward)) wrong = "backward";
  if (!mpnum_is_fp8_(recipe->forward)) wrong = "forward";
  if (field) *field = wrong;
  return wrong ? MPNUM_ERROR_ARGUMENT : MPNUM_OK;
}

/* Delayed scaling of one tensor: its current scale and what leads to the next one. Its
 * last amaxes are a ring of `length` floats in the caller's memory, which each call
 * names. In an array of these that begins at a multiple of 16 bytes each scale_inv is at
 * one, where cuBLASLt 13 wants the scales that it reads. */
typedef struct mpnum_amax_history {
  mpnum_scale_options options;
  float scale, scale_inv;
  float max;         /* the largest value of the format */
  int32_t algorithm; /* enum mpnum_amax_algorithm */
  uint32_t length;
  uint64_t pushed;    /* amaxes that entered the ring, each replacing the oldest */
  uint64_t zeros;     /* amaxes that did not because they were 0 */
  uint64_t nonfinite; /* amaxes that did not because they were Inf or NaN */
  uint64_t reserved;  /* 0 */
} mpnum_amax_history;

/* Makes a new history; amaxes has room for `room` floats, of which it takes
 * recipe->history_length. The scale is the fallback. max:
 * mpnum_format_max(mpnum_format_of(type)), or that of a format of your own.
 * Status codes: MPNUM_ERROR_NULL; MPNUM_ERROR_RANGE: room is too small;
 *   MPNUM_ERROR_ARGUMENT: max is not finite or not above 0, or the recipe is wrong
 *   (mpnum_fp8_recipe_validate says how) or not for delayed scaling. Nothing is written
 *   then. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status
mpnum_amax_history_init(mpnum_amax_history *history, float *amaxes, uint64_t room,
                        float max, const mpnum_fp8_recipe *recipe) {
  uint32_t i = 0;
  if (!history || !amaxes || !recipe) return MPNUM_ERROR_NULL;
  if (mpnum_fp8_recipe_validate(recipe, 0) != MPNUM_OK ||
      recipe->scaling != MPNUM_FP8_DELAYED || mpnum_bits_f32(max) - 1 >= 0x7f7fffffu)
    return MPNUM_ERROR_ARGUMENT;
  if (room < recipe->history_length) return MPNUM_ERROR_RANGE;
  history->options = recipe->options;
  history->max = max;
  history->algorithm = recipe->algorithm;
  history->length = recipe->history_length;
  history->scale = recipe->options.fallback;
  history->scale_inv = mpnum_scale_inv(history->scale);
  history->pushed = history->zeros = history->nonfinite = history->reserved = 0;
  for (; i < history->length; ++i)
    amaxes[i] = 0.0f;
  return MPNUM_OK;
}
/* Returns the amax that makes the scale: 0 before the first one. Unused places hold 0. */
MPNUM_MATH_ float mpnum_amax_history_amax(const mpnum_amax_history *history,
                                          const float *amaxes) {
  uint32_t word = 0, i = 0;
  if (history->algorithm == MPNUM_AMAX_MOST_RECENT && history->pushed == 0) return 0;
  if (history->algorithm == MPNUM_AMAX_MOST_RECENT)
    return amaxes[(history->pushed - 1) % history->length];
  for (; i < history->length; ++i) {
    const uint32_t other = mpnum_bits_f32(amaxes[i]);
    word = other > word ? other : word;
  }
  return mpnum_f32_of_scalar_(word);
}
/* Takes the amax of an iteration (that of all ranks, if there are several) and returns
 * the scale of the next one. An amax that is 0, Inf or NaN is counted but does not enter
 * the ring, and the scale stays. */
MPNUM_MATH_ float mpnum_amax_history_update(mpnum_amax_history *history, float *amaxes,
                                            float amax) {
  const uint32_t word = mpnum_amax_word(amax);
  if (word >= 0x7f800000u) {
    history->nonfinite += 1;
  } else if (word == 0) {
    history->zeros += 1;
  } else {
    amaxes[history->pushed % history->length] = mpnum_f32_of_scalar_(word);
    history->pushed += 1;
    history->scale = mpnum_scale_from_amax(mpnum_amax_history_amax(history, amaxes),
                                           history->max, &history->options);
    history->scale_inv = mpnum_scale_inv(history->scale);
  }
  return history->scale;
}

MPNUM_C_END_
#endif
