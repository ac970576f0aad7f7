/* SPDX-License-Identifier: MIT */
/* The library's conversions of arrays as a shared object, for tests in other languages.
 * Formats are opaque: codes_format_size() bytes, written by the first three functions. */
#include "mpnum/array/p3109.h"
#include "mpnum/core/stochastic.h"
#include "mpnum/mpnum.h"
#include "../harness/must.h"

#include <stddef.h>
#include <string.h>

size_t codes_format_size(void);
int codes_format_named(mpnum_format *dst, const char *name);
int codes_format_make(mpnum_format *dst, int sign_bits, int exponent_bits,
                      int mantissa_bits, int bias, int specials);
int codes_preset_named(mpnum_format *dst, int preset, const char *name);
void codes_encode_f32(const mpnum_format *format, const float *src, uint32_t *dst,
                      size_t count, int rounding, int overflow, const uint32_t *random);
void codes_encode_f64(const mpnum_format *format, const double *src, uint32_t *dst,
                      size_t count, int rounding, int overflow, const uint32_t *random);
uint32_t codes_stochastic_f32(const mpnum_format *format, float x, char variant, int bits,
                              int overflow, uint32_t random);
uint32_t codes_stochastic_f64(const mpnum_format *format, double x, char variant,
                              int bits, int overflow, uint32_t random);
void codes_decode_f32(const mpnum_format *format, const uint32_t *src, float *dst,
                      size_t count);
void codes_decode_f64(const mpnum_format *format, const uint32_t *src, double *dst,
                      size_t count);
size_t codes_p3109_size(void);
int codes_p3109_make(mpnum_p3109 *dst, const char *format, const char *rounding,
                     const char *saturation);
void codes_p3109_format(const mpnum_p3109 *src, mpnum_format *dst);
int codes_p3109_parameters(mpnum_format *dst, int width, int precision, int is_signed,
                           int is_extended);
void codes_p3109_encode(const mpnum_p3109 *to, const double *src, const uint32_t *random,
                        uint32_t *dst, size_t count);
int codes_p3109_array(const mpnum_p3109 *to, void *dst, const mpnum_format *src_format,
                      const void *src, size_t count, uint64_t seed, uint64_t offset);
uint32_t codes_random(uint64_t seed, uint64_t index);
int codes_rounding(char variant, int bits);
int codes_isa_force(int isa);
int codes_array_formats(const mpnum_format *format, void *dst, const float *src,
                        size_t count, int rounding, int overflow, uint64_t seed,
                        uint64_t offset);
int codes_array(const char *type, void *dst, const char *src_type, const void *src,
                size_t count, int rounding, int overflow, uint64_t seed, uint64_t offset);

enum { OPTIMIZERS = 2, MOST_TENSORS = 32 };
void codes_scale_trace(double growth, double backoff, int interval, float init,
                       const uint8_t *found, size_t count, float *scales, float *inverses,
                       uint8_t *applied);
int codes_unscale(const char *type, uint8_t *gradients, const size_t *sizes, size_t count,
                  float scale);
void codes_scales_of(const float *amaxes, size_t count, float max, int power_of_two,
                     int margin, float *scales, float *inverses);
int codes_amax_trace(const float *amaxes, size_t count, uint32_t length, int algorithm,
                     float max, int power_of_two, int margin, float *scales,
                     float *inverses);

size_t codes_format_size(void) { return sizeof(mpnum_format); }

static mpnum_type type_named(const char *name) {
  int type = MPNUM_TYPE_F64;
  for (; mpnum_type_name((mpnum_type)type); ++type)
    if (strcmp(mpnum_type_name((mpnum_type)type), name) == 0) break;
  return (mpnum_type)type;
}

int codes_format_named(mpnum_format *dst, const char *name) {
  *dst = mpnum_format_of(type_named(name));
  return dst->exponent_bits == 0;
}

int codes_format_make(mpnum_format *dst, int sign_bits, int exponent_bits,
                      int mantissa_bits, int bias, int specials) {
  return (int)mpnum_format_init(dst, sign_bits, exponent_bits, mantissa_bits, bias,
                                (mpnum_specials)specials);
}

/* Returns the preset's overflow. */
int codes_preset_named(mpnum_format *dst, int preset, const char *name) {
  *dst = mpnum_preset_format((mpnum_preset)preset, type_named(name));
  return (int)mpnum_preset_overflow((mpnum_preset)preset, type_named(name));
}

void codes_encode_f32(const mpnum_format *format, const float *src, uint32_t *dst,
                      size_t count, int rounding, int overflow, const uint32_t *random) {
  size_t i = 0;
  for (; i < count; ++i)
    dst[i] = mpnum_encode(*format, src[i], (mpnum_rounding)rounding,
                          (mpnum_overflow)overflow, random ? random[i] : 0);
}

void codes_encode_f64(const mpnum_format *format, const double *src, uint32_t *dst,
                      size_t count, int rounding, int overflow, const uint32_t *random) {
  size_t i = 0;
  for (; i < count; ++i)
    dst[i] = mpnum_encode_f64(*format, src[i], (mpnum_rounding)rounding,
                              (mpnum_overflow)overflow, random ? random[i] : 0);
}

uint32_t codes_stochastic_f32(const mpnum_format *format, float x, char variant, int bits,
                              int overflow, uint32_t random) {
  return mpnum_encode_stochastic(*format, x, variant, bits, (mpnum_overflow)overflow,
                                 random);
}

uint32_t codes_stochastic_f64(const mpnum_format *format, double x, char variant,
                              int bits, int overflow, uint32_t random) {
  return mpnum_encode_stochastic_f64(*format, x, variant, bits, (mpnum_overflow)overflow,
                                     random);
}

void codes_decode_f32(const mpnum_format *format, const uint32_t *src, float *dst,
                      size_t count) {
  size_t i = 0;
  for (; i < count; ++i)
    dst[i] = mpnum_decode(*format, src[i]);
}

void codes_decode_f64(const mpnum_format *format, const uint32_t *src, double *dst,
                      size_t count) {
  size_t i = 0;
  for (; i < count; ++i)
    dst[i] = mpnum_decode_f64(*format, src[i]);
}

/* Formats and projections of P3109, opaque: codes_p3109_size() bytes. */
size_t codes_p3109_size(void) { return sizeof(mpnum_p3109); }

int codes_p3109_make(mpnum_p3109 *dst, const char *format, const char *rounding,
                     const char *saturation) {
  return (int)mpnum_p3109_init(dst, format, rounding, saturation);
}

void codes_p3109_format(const mpnum_p3109 *src, mpnum_format *dst) { *dst = src->format; }

int codes_p3109_parameters(mpnum_format *dst, int width, int precision, int is_signed,
                           int is_extended) {
  return (int)mpnum_p3109_format(dst, width, precision, is_signed, is_extended);
}

void codes_p3109_encode(const mpnum_p3109 *to, const double *src, const uint32_t *random,
                        uint32_t *dst, size_t count) {
  for (size_t i = 0; i < count; ++i)
    dst[i] = mpnum_p3109_encode(*to, src[i], random[i]);
}

int codes_p3109_array(const mpnum_p3109 *to, void *dst, const mpnum_format *src_format,
                      const void *src, size_t count, uint64_t seed, uint64_t offset) {
  return (int)mpnum_p3109_convert_array(*to, dst, *src_format, src, count, seed, offset);
}

uint32_t codes_random(uint64_t seed, uint64_t index) { return mpnum_random(seed, index); }

int codes_rounding(char variant, int bits) {
  return (int)mpnum_rounding_stochastic(variant, bits);
}

int codes_isa_force(int isa) { return (int)mpnum_isa_force((mpnum_isa)isa); }

int codes_array_formats(const mpnum_format *format, void *dst, const float *src,
                        size_t count, int rounding, int overflow, uint64_t seed,
                        uint64_t offset) {
  return (int)mpnum_convert_array_formats(*format, dst, mpnum_format_of(MPNUM_TYPE_F32),
                                          src, count, (mpnum_rounding)rounding,
                                          (mpnum_overflow)overflow, seed, offset);
}

int codes_array(const char *type, void *dst, const char *src_type, const void *src,
                size_t count, int rounding, int overflow, uint64_t seed,
                uint64_t offset) {
  return (int)mpnum_convert_array(type_named(type), dst, type_named(src_type), src, count,
                                  (mpnum_rounding)rounding, (mpnum_overflow)overflow,
                                  seed, offset);
}

static mpnum_grad_scaler scaler_of(double growth, double backoff, int interval,
                                   float init) {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_torch();
  mpnum_grad_scaler scaler;
  memset(&scaler, 0, sizeof scaler);
  config.growth_factor = growth;
  config.backoff_factor = backoff;
  config.growth_interval = interval;
  config.init_scale = init;
  must(mpnum_grad_scaler_init(&scaler, config)); /* else all 0, which no test expects */
  return scaler;
}

/* PyTorch's rule with OPTIMIZERS optimizers: what each found in each update gives who
 * applies a step, and the scale and its inverse afterwards. */
void codes_scale_trace(double growth, double backoff, int interval, float init,
                       const uint8_t *found, size_t count, float *scales, float *inverses,
                       uint8_t *applied) {
  mpnum_grad_scaler scaler = scaler_of(growth, backoff, interval, init);
  for (size_t i = 0; i < count; ++i) {
    mpnum_grad_optimizer optimizers[OPTIMIZERS], *all[OPTIMIZERS];
    for (size_t k = 0; k < OPTIMIZERS; ++k) {
      const size_t place = OPTIMIZERS * i + k;
      mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
      all[k] = &optimizers[k];
      optimizers[k] = mpnum_grad_optimizer_of(&scaler);
      must(mpnum_grad_scaler_report_unscaled(&scaler, &optimizers[k], found[place],
                                             MPNUM_GRAD_NORM_UNKNOWN));
      must(mpnum_grad_scaler_step(&scaler, &optimizers[k], &verdict));
      applied[place] = verdict == MPNUM_GRAD_APPLY;
    }
    must(mpnum_grad_scaler_update_all(&scaler, all, OPTIMIZERS));
    scales[i] = scaler.scale;
    inverses[i] = scaler.inverse;
  }
}

/* Divides gradients of a type by a scale, in place: tensors of these sizes, one after
 * the other. Returns whether Inf or NaN was found, or -1 where it is refused. */
int codes_unscale(const char *type, uint8_t *gradients, const size_t *sizes, size_t count,
                  float scale) {
  const mpnum_grad_scaler scaler = scaler_of(2, 0.5, 1, scale);
  const mpnum_type named = type_named(type);
  const size_t bytes = (size_t)mpnum_type_bits_(named) / 8;
  mpnum_grad_optimizer optimizer = mpnum_grad_optimizer_of(&scaler);
  mpnum_grad_tensor tensors[MOST_TENSORS];
  if (count > MOST_TENSORS) return -1;
  for (size_t i = 0; i < count; ++i) {
    tensors[i] = mpnum_grad_tensor_of(named, gradients, sizes[i], named, gradients);
    gradients += bytes * sizes[i];
  }
  if (mpnum_grad_scaler_unscale(&scaler, &optimizer, tensors, count, MPNUM_GRAD_NARROW,
                                NULL) != MPNUM_OK)
    return -1;
  return (int)optimizer.found_inf;
}

/* The scale of each amax, and its inverse. */
void codes_scales_of(const float *amaxes, size_t count, float max, int power_of_two,
                     int margin, float *scales, float *inverses) {
  mpnum_scale_options options = mpnum_scale_default();
  options.power_of_two = power_of_two;
  options.margin = margin;
  for (size_t i = 0; i < count; ++i) {
    scales[i] = mpnum_scale_from_amax(amaxes[i], max, &options);
    inverses[i] = mpnum_scale_inv(scales[i]);
  }
}

/* Delayed scaling: scale and inverse after each amax. Returns a status. */
int codes_amax_trace(const float *amaxes, size_t count, uint32_t length, int algorithm,
                     float max, int power_of_two, int margin, float *scales,
                     float *inverses) {
  float ring[2048];
  mpnum_amax_history history;
  mpnum_fp8_recipe recipe = mpnum_fp8_recipe_delayed();
  recipe.history_length = length;
  recipe.algorithm = algorithm;
  recipe.options.power_of_two = power_of_two;
  recipe.options.margin = margin;
  const mpnum_status status =
      mpnum_amax_history_init(&history, ring, sizeof ring / sizeof ring[0], max, &recipe);
  if (status != MPNUM_OK) return (int)status;
  for (size_t i = 0; i < count; ++i) {
    scales[i] = mpnum_amax_history_update(&history, ring, amaxes[i]);
    inverses[i] = history.scale_inv;
  }
  return MPNUM_OK;
}
