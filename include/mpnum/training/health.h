/* SPDX-License-Identifier: MIT */
/* Watches the health of gradients, from what a pass over them found (grad.h): what a
 * format would lose, whether zeros are on the rise, and when to raise an alarm. Opt-in.
 *
 *     mpnum_health health = mpnum_health_of(mpnum_health_default());
 *     const mpnum_format e5m2 = mpnum_format_of(MPNUM_TYPE_E5M2); // would it do?
 *     for (;;) {
 *       ...
 *       alarms = mpnum_health_watch(&health, &findings, &histogram, e5m2, scaler.scale);
 *       for (; alarms; alarms &= alarms - 1) puts(mpnum_health_string(alarms));
 *     }
 *
 * The record of a tensor's health is its mpnum_grad_findings and its mpnum_histogram;
 * mpnum_grad_findings_merge and mpnum_histogram_merge merge those of tensors, devices and
 * ranks.
 * Bits: computed in integers, so the same on hosts and devices, whatever the flags and
 *   the floating-point environment. */
#ifndef MPNUM_TRAINING_HEALTH_H
#define MPNUM_TRAINING_HEALTH_H

#include "../array/histogram.h"
#include "../core/detail/stored.h"
#include "../simd/detail/wide.h"
#include "grad.h"
MPNUM_C_BEGIN_

/* How many values a format loses if they are multiplied by a scale, rounded to f32 and
 * then to the format, each time to nearest even. */
typedef struct mpnum_lost {
  uint64_t underflows; /* nonzero values that become 0 */
  uint64_t overflows;  /* finite values that round past the largest one */
} mpnum_lost;

/* Magnitudes, as codes of the format that they are in: up to last_lost they become 0,
 * above last_kept they overflow. */
typedef struct mpnum_loss_limits_ {
  uint32_t last_lost, last_kept;
} mpnum_loss_limits_;

/* The code of a finite magnitude times a scale, with an unbounded exponent. */
MPNUM_MATH_ uint32_t mpnum_scaled_code_(mpnum_format format, uint32_t magnitude,
                                        uint32_t scale) {
  uint32_t product = 0;
  if (magnitude != 0 && scale != 0) {
    product = 0x7f800000u;
    if (scale < 0x7f800000u)
      product = mpnum_bits_f32(mpnum_wide_rounded_f32_(
          mpnum_wide_mul_(mpnum_wide_f32_(magnitude), mpnum_wide_f32_(scale))));
  }
  if (product >= 0x7f800000u) return 0xffffffffu;
  return mpnum_round_aligned_(
      mpnum_align_(format, mpnum_source_f32_(mpnum_from_bits_f32(product)),
                   MPNUM_ROUND_NEAREST_EVEN),
      0, MPNUM_ROUND_NEAREST_EVEN, 0);
}
/* Finds both limits by bisection, as codes grow with magnitudes. */
MPNUM_MATH_ mpnum_loss_limits_ mpnum_loss_limits_of_(mpnum_format src, mpnum_format dst,
                                                     float scale) {
  const uint32_t factor = mpnum_bits_f32(scale) & 0x7fffffffu;
  mpnum_loss_limits_ limits = {0, 0};
  uint32_t bit = (uint32_t)1 << 30;
  if (dst.max_code == 0) dst = mpnum_format_of(MPNUM_TYPE_F32);
  for (; bit != 0; bit >>= 1) {
    const uint32_t last = limits.last_lost | bit, kept = limits.last_kept | bit;
    if (last <= src.max_code && dst.has_zero &&
        mpnum_scaled_code_(dst, mpnum_decode_finite_(src, last), factor) == 0)
      limits.last_lost = last;
    if (kept <= src.max_code &&
        mpnum_scaled_code_(dst, mpnum_decode_finite_(src, kept), factor) <= dst.max_code)
      limits.last_kept = kept;
  }
  return limits;
}

/* Computes bounds on what a format would lose of the counted values: exact except for the
 * exponents that a limit falls into. The sign of the scale is ignored; a NaN scale counts
 * as Inf. A format without fields (f64) counts as f32. */
MPNUM_MATH_ void mpnum_histogram_lost(const mpnum_histogram *histogram,
                                      mpnum_format format, float scale,
                                      mpnum_lost *at_least, mpnum_lost *at_most) {
  const mpnum_loss_limits_ limits =
      mpnum_loss_limits_of_(mpnum_format_of(MPNUM_TYPE_F32), format, scale);
  const mpnum_lost none = {0, 0};
  uint32_t k = 0;
  *at_least = *at_most = none;
  for (; k < 255; ++k) {
    const uint32_t first = k ? k << 23 : 1, last = k << 23 | 0x7fffffu;
    const uint64_t count = histogram->counts[k];
    if (last <= limits.last_lost) at_least->underflows += count;
    if (first <= limits.last_lost) at_most->underflows += count;
    if (first > limits.last_kept) at_least->overflows += count;
    if (last > limits.last_kept) at_most->overflows += count;
  }
}

#if MPNUM_HAS_ARRAYS_

/* How many of n codes have a magnitude above a limit, including NaN. */
MPNUM_HOST_INLINE_ uint64_t mpnum_count_above_(int bits, uint32_t ones, uint32_t limit,
                                               const uint8_t *src, size_t n) {
  const mpnum_limits_ limits = {ones, limit, limit, 0};
  size_t count = 0;
  if (bits == 32) {
    MPNUM_CALL_(count_nonfinite_32, (limits, &count, src, n));
  } else if (bits == 16) {
    MPNUM_CALL_(count_nonfinite_16, (limits, &count, src, n));
  } else {
    MPNUM_CALL_(count_nonfinite_8, (limits, &count, src, n));
  }
  return count;
}
/* Adds what a format would lose of n elements of any alignment, exactly, in one read,
 * piece by piece, which a first-level cache keeps from one count to the next. scale and
 * format are as for mpnum_histogram_lost. Host only.
 * Domain: f32, bf16, f16, e5m2, e4m3.
 * Status: MPNUM_ERROR_TYPE: another type; MPNUM_ERROR_NULL: a pointer is NULL and n is
 *   not 0. Nothing is added then. */
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_count_lost(mpnum_lost *lost,
                                                          mpnum_type src_type,
                                                          const void *src, size_t n,
                                                          mpnum_format format,
                                                          float scale) {
  const mpnum_format from = mpnum_format_of(src_type);
  const mpnum_loss_limits_ limits = mpnum_loss_limits_of_(from, format, scale);
  const int bits = mpnum_type_bits_(src_type);
  const uint32_t ones = mpnum_magnitude_(from, 0xffffffffu);
  size_t i = 0;
  if (src_type != MPNUM_TYPE_F32 && src_type != MPNUM_TYPE_BF16 &&
      src_type != MPNUM_TYPE_F16 && src_type != MPNUM_TYPE_E5M2 &&
      src_type != MPNUM_TYPE_E4M3)
    return MPNUM_ERROR_TYPE;
  if (n && (!lost || !src)) return MPNUM_ERROR_NULL;
  for (; i < n; i += MPNUM_TILE_) {
    const uint8_t *at = (const uint8_t *)src + i * (size_t)(bits / 8);
    const size_t count = mpnum_tile_size_(n, i);
    if (limits.last_lost != 0)
      lost->underflows += mpnum_count_above_(bits, ones, 0, at, count) -
                          mpnum_count_above_(bits, ones, limits.last_lost, at, count);
    if (limits.last_kept < from.max_code)
      lost->overflows += mpnum_count_above_(bits, ones, limits.last_kept, at, count) -
                         mpnum_count_above_(bits, ones, from.max_code, at, count);
  }
  return MPNUM_OK;
}

#endif

/* part / whole, correctly rounded; 0 if one of them is 0. */
MPNUM_MATH_ float mpnum_share_(uint64_t part, uint64_t whole) {
  if (part == 0 || whole == 0) return 0.0f;
  return mpnum_wide_rounded_f32_(
      mpnum_wide_div_(mpnum_wide_normal_(part, 0, 0), mpnum_wide_normal_(whole, 0, 0)));
}

/* Whether x > limit; 0 if one of them is NaN. */
MPNUM_MATH_ int mpnum_is_above_(float x, float limit) {
  return mpnum_compare(mpnum_format_of(MPNUM_TYPE_F32), mpnum_bits_f32(x),
                       mpnum_bits_f32(limit)) == 1;
}
/* The level and the slope of a share, by double exponential smoothing: the line that fits
 * the past best when each value counts 1 - 2^-memory times as much as the next one.
 * Source: Brown, Smoothing, Forecasting and Prediction of Discrete Time Series, 1963. */
typedef struct mpnum_trend {
  int64_t once, twice; /* smoothed, in units of 2^-52 */
  int32_t memory;      /* log2 of how many values count, 1 to 20 */
  uint32_t is_started;
} mpnum_trend;

/* memory: 5 for some 32 values; a number outside 1 to 20 is clamped to this range. */
MPNUM_FUNC mpnum_trend mpnum_trend_start_(int memory) {
  const mpnum_trend trend = {0, 0, memory < 1 ? 1 : memory > 20 ? 20 : memory, 0};
  return trend;
}
/* Adds the next value, part / whole; it is left out if whole is 0. */
MPNUM_FUNC void mpnum_trend_add_(mpnum_trend *trend, uint64_t part, uint64_t whole) {
  const int64_t weight = (int64_t)1 << trend->memory;
  int64_t share = 0;
  if (whole == 0) return;
  for (; whole >> 31 != 0; whole >>= 1)
    part >>= 1;
  share = (int64_t)(((part < whole ? part : whole) << 32) / whole) << 20;
  if (!trend->is_started) trend->once = trend->twice = share;
  trend->is_started = 1;
  trend->once += (share - trend->once) / weight;
  trend->twice += (trend->once - trend->twice) / weight;
}
MPNUM_MATH_ float mpnum_trend_float_(int64_t x, int divisor) {
  const uint64_t magnitude = x < 0 ? (uint64_t)0 - (uint64_t)x : (uint64_t)x;
  uint32_t bits = 0;
  if (magnitude == 0) return 0.0f;
  bits = mpnum_bits_f32(mpnum_wide_rounded_f32_(
      mpnum_wide_div_(mpnum_wide_normal_(magnitude, -52, 0), mpnum_wide_int_(divisor))));
  return mpnum_from_bits_f32(bits | (x < 0 ? 0x80000000u : 0));
}
/* The present value of the line, from 0 to 1, and its slope: the change from one value to
 * the next. */
MPNUM_MATH_ float mpnum_trend_level(const mpnum_trend *trend) {
  const int64_t one = (int64_t)1 << 52;
  const int64_t level = 2 * trend->once - trend->twice;
  return mpnum_trend_float_(level < 0 ? 0 : level > one ? one : level, 1);
}
MPNUM_MATH_ float mpnum_trend_slope(const mpnum_trend *trend) {
  return mpnum_trend_float_(trend->once - trend->twice, (1 << trend->memory) - 1);
}

/* When to raise an alarm. */
typedef struct mpnum_health_limits {
  float zero_share; /* alarm at more zeros among results, 0 to 1 */
  float zero_slope; /* alarm if their share grows by more per call */
  float lost_share; /* alarm if underflows would lose more, or overflows would */
  float min_norm, max_norm;
  int32_t memory; /* of the slope, see mpnum_trend_start_ */
} mpnum_health_limits;

/* The monitor of one tensor, or of all. */
typedef struct mpnum_health {
  mpnum_health_limits limits;
  mpnum_trend zeros;
} mpnum_health;

/* Alarms, each a bit of a word. */
typedef enum mpnum_health_alarm {
  MPNUM_HEALTH_INF = 1,
  MPNUM_HEALTH_NAN = 2,
  MPNUM_HEALTH_ZEROS = 4,
  MPNUM_HEALTH_RISING_ZEROS = 8,
  MPNUM_HEALTH_UNDERFLOWS = 16,
  MPNUM_HEALTH_OVERFLOWS = 32,
  MPNUM_HEALTH_SMALL_NORM = 64,
  MPNUM_HEALTH_LARGE_NORM = 128
} mpnum_health_alarm;

/* The default limits: 5 % zeros, rising by 0.1 % a call over some 32 calls, 5 % lost, any
 * norm. */
MPNUM_FUNC mpnum_health_limits mpnum_health_default(void) {
  const mpnum_health_limits limits = {
      0.05f, 0.001f, 0.05f, 0.0f, mpnum_from_bits_f32(0x7f800000u), 5};
  return limits;
}
MPNUM_FUNC mpnum_health mpnum_health_of(mpnum_health_limits limits) {
  const mpnum_health health = {limits, mpnum_trend_start_(limits.memory)};
  return health;
}

/* A monitor as bytes that are the same on every machine (stored.h): "mpHE", limits,
 * trend.
 * Status codes: MPNUM_ERROR_CORRUPT: save: members hold what no calls can have left;
 *   load: another size, or bytes that save did not write; MPNUM_ERROR_VERSION. The
 *   destination is then unchanged. */
#define MPNUM_HEALTH_BYTES    60
#define MPNUM_HEALTH_VERSION_ 1
MPNUM_MATH_ void mpnum_stored_health_(mpnum_stored_ *stored, mpnum_health *health) {
  mpnum_health_limits *limits = &health->limits;
  mpnum_trend *zeros = &health->zeros;
  mpnum_stored_f32_(stored, &limits->zero_share);
  mpnum_stored_f32_(stored, &limits->zero_slope);
  mpnum_stored_f32_(stored, &limits->lost_share);
  mpnum_stored_f32_(stored, &limits->min_norm);
  mpnum_stored_f32_(stored, &limits->max_norm);
  mpnum_stored_i32_(stored, &limits->memory);
  mpnum_stored_i64_(stored, &zeros->once);
  mpnum_stored_i64_(stored, &zeros->twice);
  mpnum_stored_i32_(stored, &zeros->memory);
  mpnum_stored_u32_(stored, &zeros->is_started);
}
MPNUM_FUNC int mpnum_health_is_sound_(const mpnum_health *health) {
  const mpnum_trend *zeros = &health->zeros;
  const int64_t one = (int64_t)1 << 52;
  return zeros->memory == mpnum_trend_start_(health->limits.memory).memory &&
         zeros->is_started <= 1 && zeros->once >= 0 && zeros->once <= one &&
         zeros->twice >= 0 && zeros->twice <= one &&
         (zeros->is_started || (zeros->once == 0 && zeros->twice == 0));
}
/* Writes MPNUM_HEALTH_BYTES bytes. */
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status mpnum_health_save(uint8_t *bytes,
                                                            const mpnum_health *health) {
  mpnum_health copy = *health;
  mpnum_stored_ out;
  if (!mpnum_health_is_sound_(health)) return MPNUM_ERROR_CORRUPT;
  out = mpnum_stored_begin_(bytes, 0x4548706du, MPNUM_HEALTH_VERSION_);
  mpnum_stored_health_(&out, &copy);
  mpnum_stored_seal_(bytes, MPNUM_HEALTH_BYTES);
  return MPNUM_OK;
}
MPNUM_MUST_CHECK MPNUM_MATH_ mpnum_status mpnum_health_load(mpnum_health *health,
                                                            const uint8_t *bytes,
                                                            uint64_t size) {
  uint8_t copy[MPNUM_HEALTH_BYTES] = {0};
  mpnum_stored_ in = {copy, 1};
  mpnum_health loaded = mpnum_health_of(mpnum_health_default());
  uint32_t version = 0;
  const mpnum_status status = mpnum_stored_open_(
      &in, bytes, size, MPNUM_HEALTH_BYTES, 0x4548706du, MPNUM_HEALTH_VERSION_, &version);
  if (status != MPNUM_OK) return status;
  mpnum_stored_health_(&in, &loaded);
  if (!mpnum_health_is_sound_(&loaded)) return MPNUM_ERROR_CORRUPT;
  *health = loaded;
  return MPNUM_OK;
}

/* One sentence for the lowest alarm among alarms; never NULL. */
MPNUM_FUNC const char *mpnum_health_string(uint32_t alarms) {
  switch (alarms & (0 - alarms)) {
  case 0: return "no alarm";
  case MPNUM_HEALTH_INF: return "a gradient is Inf";
  case MPNUM_HEALTH_NAN: return "a gradient is NaN";
  case MPNUM_HEALTH_ZEROS: return "many gradients are 0";
  case MPNUM_HEALTH_RISING_ZEROS: return "more and more gradients are 0";
  case MPNUM_HEALTH_UNDERFLOWS: return "the format rounds many gradients to 0";
  case MPNUM_HEALTH_OVERFLOWS: return "many gradients are too large for the format";
  case MPNUM_HEALTH_SMALL_NORM: return "the norm of the gradients is small";
  case MPNUM_HEALTH_LARGE_NORM: return "the norm of the gradients is large";
  default: return "unknown alarm";
  }
}

#if MPNUM_HAS_ARRAYS_

/* Returns the alarms, or-ed, for what a pass found. With a histogram of the same results
 * (else NULL) it also tells whether the format would lose them at that scale: these
 * alarms are certain, as they come from the lower bounds. What comes from that very
 * format and scale has had its losses before: watch its zeros instead. A norm that
 * overflows counts as large. The trend covers all calls but those with Inf or NaN, and
 * forgets a jump as slowly as it learns it. */
MPNUM_HOST uint32_t mpnum_health_watch(mpnum_health *health,
                                       const mpnum_grad_findings *findings,
                                       const mpnum_histogram *histogram,
                                       mpnum_format format, float scale) {
  const mpnum_health_limits limits = health->limits;
  const mpnum_stats *stats = &findings->stats;
  const float norm = mpnum_grad_norm(findings);
  uint32_t alarms = 0;
  if (stats->infs) alarms |= MPNUM_HEALTH_INF;
  if (stats->nans) alarms |= MPNUM_HEALTH_NAN;
  if (mpnum_is_above_(mpnum_share_(stats->zeros, stats->count), limits.zero_share))
    alarms |= MPNUM_HEALTH_ZEROS;
  if (!mpnum_grad_found_inf(findings))
    mpnum_trend_add_(&health->zeros, stats->zeros, stats->count);
  if (mpnum_is_above_(mpnum_trend_slope(&health->zeros), limits.zero_slope))
    alarms |= MPNUM_HEALTH_RISING_ZEROS;
  if (stats->count != 0 && mpnum_is_above_(limits.min_norm, norm))
    alarms |= MPNUM_HEALTH_SMALL_NORM;
  if (mpnum_is_above_(norm, limits.max_norm) ||
      (mpnum_bits_f32(norm) == 0x7f800000u && !mpnum_grad_found_inf(findings)))
    alarms |= MPNUM_HEALTH_LARGE_NORM;
  if (histogram) {
    const uint64_t total = mpnum_histogram_total_(histogram);
    mpnum_lost least, most;
    mpnum_histogram_lost(histogram, format, scale, &least, &most);
    if (mpnum_is_above_(mpnum_share_(least.underflows, total), limits.lost_share))
      alarms |= MPNUM_HEALTH_UNDERFLOWS;
    if (mpnum_is_above_(mpnum_share_(least.overflows, total), limits.lost_share))
      alarms |= MPNUM_HEALTH_OVERFLOWS;
  }
  return alarms;
}

#endif
MPNUM_C_END_
#endif
