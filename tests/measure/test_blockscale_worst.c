/* SPDX-License-Identifier: MIT */
/* What a block format does at worst: against a search of all amaxes of a binade and all
 * magnitudes below them; and against figures worked out by hand. */
#include "block_values.h"
#include "../harness/tap.h"

#include <mpnum/types/preset.h>

#include <math.h>

enum { FINE = 1024 };

/* The values of elements, and the scale as it is stored, with rules as they are written
 * in the specifications. */
typedef struct searched {
  const double *values; /* not below 0, ascending */
  int count, emax, mantissa_bits, is_linear;
  double max;
} searched;

static double nearest(const searched *about, double x) {
  int i = 0;
  while (i + 2 < about->count && about->values[i + 1] <= x)
    ++i;
  return x - about->values[i] <= about->values[i + 1] - x ? about->values[i]
                                                          : about->values[i + 1];
}
/* The three bits behind the leading one, to nearest even. */
static double to_e4m3(double x) {
  int exponent = 0;
  const double y = frexp(x, &exponent) * 16, low = floor(y);
  const double up = y - low > 0.5 || (y - low == 0.5 && fmod(low, 2) == 1);
  return ldexp(low + up, exponent - 4);
}
static double scale_for(const searched *about, mpnum_blockscale_rule rule, double amax) {
  const double power = floor(log2(amax));
  switch (rule) {
  case MPNUM_BLOCKSCALE_FLOOR: return exp2(power - about->emax);
  case MPNUM_BLOCKSCALE_CEIL: return exp2(ceil(log2(amax)) - about->emax);
  case MPNUM_BLOCKSCALE_EVEN: {
    const double unit = exp2(power - about->mantissa_bits);
    return exp2(floor(log2(floor(amax / unit + 0.5) * unit)) - about->emax);
  }
  case MPNUM_BLOCKSCALE_TWO_LEVEL: return to_e4m3(amax / about->max);
  case MPNUM_BLOCKSCALE_AMAX: return amax / about->max;
  default: return exp2(ceil(log2(amax / about->max)));
  }
}

static void search(const char *name, const mpnum_blockscale_format *format,
                   const searched *about) {
  const mpnum_blockscale_errors got = mpnum_blockscale_worst(format);
  const double fine = about->is_linear ? 1.0 / 512 : 1.0 / 64; /* of the last distance */
  const double step = (about->values[about->count - 1] - about->values[about->count - 2]);
  double clip = 0, error = 0;
  int exceeding = 0, i = 0, k = 0;
  for (; i < FINE; ++i) {
    const double amax = 1 + (i + 0.5) / FINE;
    const double scale = scale_for(about, format->rule, amax);
    const double most = amax / scale;
    exceeding += most > about->max * (1 + 1e-12);
    if (most > about->max) clip = fmax(clip, (most - about->max) / most);
    for (k = 0; k < 256; ++k) { /* downwards from the largest */
      const double x = most - k * fine * step;
      if (x < 0) break;
      error = fmax(error, fabs(x - fmin(nearest(about, x), about->max)) / most);
    }
    for (k = 0; k + 2 < about->count; ++k) { /* at midpoints */
      const double x = (about->values[k] + about->values[k + 1]) / 2;
      if (x <= most) error = fmax(error, (x - about->values[k]) / most);
    }
  }
  /* The binade of a scale of e4m3 is not that of the amax. */
  CHECK(fabs((double)got.exceeding_share - (double)exceeding / FINE) <
            (format->rule == MPNUM_BLOCKSCALE_TWO_LEVEL ? 0.02 : 2e-3),
        "%s: share %g, searched %g", name, (double)got.exceeding_share,
        (double)exceeding / FINE);
  CHECK(fabs((double)got.clip - clip) < 2e-3 && (double)got.clip >= clip - 1e-7,
        "%s: clip %g, searched %g", name, (double)got.clip, clip);
  CHECK(fabs((double)got.error - error) < 2e-3 && (double)got.error >= error - 1e-7,
        "%s: error %g, searched %g", name, (double)got.error, error);
}

static void check_case(const char *name, const char *element,
                       mpnum_blockscale_format format) {
  static double values[600];
  searched about = {values, 0, 0, 6, element == NULL, 0};
  int i = 0;
  if (element) {
    const ref_format *reference = ref_format_named(element);
    about.mantissa_bits = reference->mantissa_bits;
    for (; i <= (int)reference->max_code + 1; ++i) /* one past the largest */
      values[about.count++] = mpnum_from_bits_f64(ref_value(reference, (uint32_t)i));
  } else {
    const double unit = format.scale_type == MPNUM_TYPE_E8M0 ? 1.0 / 64 : 1;
    for (; i <= 128; ++i)
      values[about.count++] = i * unit;
  }
  about.max = values[about.count - 2];
  about.emax = (int)floor(log2(about.max));
  search(name, &format, &about);
}

static void all_rules_of_all_formats(void) {
  static const char *const names[] = {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"};
  static const mpnum_type types[] = {MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2, MPNUM_TYPE_E3M2,
                                     MPNUM_TYPE_E2M3, MPNUM_TYPE_E2M1};
  int k = 0, rule = 0;
  for (rule = 0; rule < 4; ++rule) {
    char name[32];
    for (k = 0; k < 5; ++k) {
      snprintf(name, sizeof name, "%s, rule %d", names[k], rule);
      check_case(name, names[k],
                 mpnum_blockscale_mx(types[k], (mpnum_blockscale_rule)rule));
    }
    snprintf(name, sizeof name, "int8, rule %d", rule);
    check_case(name, NULL, mpnum_blockscale_mx_int8((mpnum_blockscale_rule)rule));
  }
  for (k = 11; k < BLOCK_CASES; ++k) {
    const block_case about = block_case_of(k);
    check_case(about.name, about.element, about.format);
  }
}

static void figures_by_hand(void) {
  mpnum_blockscale_format format =
      mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_FLOOR);
  mpnum_blockscale_errors worst = mpnum_blockscale_worst(&format);
  CHECK(worst.exceeding_share == 0.25f && worst.clip == 0.125f && worst.error == 0.125f,
        "e4m3 floor");
  format.rule = MPNUM_BLOCKSCALE_EVEN;
  worst = mpnum_blockscale_worst(&format);
  CHECK(worst.exceeding_share == 0.1875f && worst.clip == 3.0f / 31, "e4m3 even");
  format.rule = MPNUM_BLOCKSCALE_RCEIL; /* 17 of 16 and 18 */
  worst = mpnum_blockscale_worst(&format);
  CHECK(worst.exceeding_share == 0 && worst.clip == 0 && worst.error == 1.0f / 17,
        "e4m3 rceil");
  format = mpnum_blockscale_mx(MPNUM_TYPE_E2M1, MPNUM_BLOCKSCALE_FLOOR);
  worst = mpnum_blockscale_worst(&format);
  CHECK(worst.exceeding_share == 0.5f && worst.clip == 0.25f, "e2m1 floor");
  format.rule = MPNUM_BLOCKSCALE_EVEN;
  worst = mpnum_blockscale_worst(&format);
  CHECK(worst.exceeding_share == 0.25f && worst.clip == 1.0f / 7 && worst.error == 0.2f,
        "e2m1 even");
  format = mpnum_blockscale_nvfp4_1x16(); /* 5 of an amax of 6 * 8.5 / 9 */
  worst = mpnum_blockscale_worst(&format);
  CHECK(worst.clip == 1.0f / 17 && worst.error == 3.0f / 17, "nvfp4");
  format.rounding = MPNUM_ROUND_STOCHASTIC; /* 4 becomes nearly 6 */
  worst = mpnum_blockscale_worst(&format);
  CHECK(worst.error == 6.0f / 17, "nvfp4, stochastic: %g", (double)worst.error);
}

/* Elements without mantissa, and with one bit of exponent. */
static void formats_of_ones_own(void) {
  mpnum_blockscale_format format =
      mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_FLOOR);
  mpnum_blockscale_errors worst;
  CHECK(mpnum_format_init(&format.element, 1, 4, 0, 7, MPNUM_SPECIALS_FINITE) == MPNUM_OK,
        "e4m0");
  worst = mpnum_blockscale_worst(&format); /* powers of two: 3 of 2 and 4 */
  CHECK(worst.exceeding_share == 1 && worst.clip == 0.5f && worst.error == 0.5f,
        "e4m0 floor %g %g %g", (double)worst.exceeding_share, (double)worst.clip,
        (double)worst.error);
  format.rounding = MPNUM_ROUND_STOCHASTIC; /* 1, of 2 to 4 */
  worst = mpnum_blockscale_worst(&format);
  CHECK(worst.error == 0.5f, "e4m0 floor, stochastic %g", (double)worst.error);
  format.rounding = MPNUM_ROUND_NEAREST_EVEN;
  format.rule = MPNUM_BLOCKSCALE_RCEIL;
  worst = mpnum_blockscale_worst(&format);
  CHECK(worst.clip == 0 && worst.error == 1.0f / 3, "e4m0 rceil %g", (double)worst.error);
  CHECK(mpnum_format_init(&format.element, 1, 1, 2, 0, MPNUM_SPECIALS_FINITE) == MPNUM_OK,
        "e1m2");
  worst = mpnum_blockscale_worst(&format); /* halves: 0.25 of 1.75, half of 3.5 */
  CHECK(worst.clip == 0 && worst.error == 1.0f / 7, "e1m2 %g", (double)worst.error);
  format.rule = MPNUM_BLOCKSCALE_CEIL; /* the largest of a block becomes 1 to 2 */
  CHECK(mpnum_format_init(&format.element, 1, 2, 1, 1, MPNUM_SPECIALS_IEEE) == MPNUM_OK,
        "e2m1");
  worst = mpnum_blockscale_worst(&format); /* 0 0.5 1 1.5 2 3: 0.25 of 1.25 */
  CHECK(worst.clip == 0 && worst.error == 0.2f, "e2m1 %g", (double)worst.error);
}

int main(void) {
  TAP_RUN(figures_by_hand);
  TAP_RUN(formats_of_ones_own);
  TAP_RUN(all_rules_of_all_formats);
  return tap_done();
}
