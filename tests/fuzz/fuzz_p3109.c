/* SPDX-License-Identifier: MIT */
/* P3109's names, projections and arrays, and splits of floats. */
#include "../reference/reference.h"
#include "fuzz_bytes.h"

#include <mpnum/array/p3109.h>
#include <mpnum/array/split.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const roundings[] = {
    "NearestTiesToEven", "TowardZero",        "TowardPositive",
    "TowardNegative",    "NearestTiesToAway", "ToOdd"}; /* in the order of ref_rounding */

/* A name of the right form, or what a byte makes of it. */
static void take_name(fuzz_bytes *from, char *name, size_t size) {
  const size_t length = strlen(name);
  const uint32_t how = take_below(from, 8);
  if (how == 0 && length > 0)
    name[take_below(from, (uint32_t)length)] = (char)take(from, 1);
  if (how == 1 && length + 1 < size) {
    name[length] = (char)take(from, 1);
    name[length + 1] = 0;
  }
  if (how == 2 && length + 1 < size) { /* a digit more */
    char *const at = name + take_below(from, (uint32_t)length + 1);
    memmove(at + 1, at, strlen(at) + 1);
    *at = '0';
  }
}
/* What is made has the name that it was made by. */
static void check_names(const mpnum_p3109 *to, const char *format, const char *rounding,
                        const char *saturation) {
  char text[40];
  const mpnum_format f = to->format;
  const int precision = f.mantissa_bits + 1;
  snprintf(text, sizeof text, "Binary%dp%d%c%c",
           f.sign_bits + f.exponent_bits + f.mantissa_bits, precision,
           f.sign_bits ? 's' : 'u', f.inf_code ? 'e' : 'f');
  demand(strcmp(text, format) == 0);
  snprintf(text, sizeof text, "Stochastic%c%d", to->variant, to->random_bits);
  demand(strcmp(to->variant ? text : roundings[to->rounding], rounding) == 0);
  demand(strcmp(to->saturation == 'F'   ? "SatFinite"
                : to->saturation == 'P' ? "SatPropagate"
                                        : "SatNone",
                saturation) == 0);
}
static void check_code(const mpnum_p3109 *to, double x, uint32_t code) {
  const mpnum_format f = to->format;
  const ref_format as =
      ref_format_make(f.sign_bits, f.exponent_bits, f.mantissa_bits, f.bias,
                      f.inf_code ? REF_SPECIALS_P3109 : REF_SPECIALS_FNUZ);
  const int is_none = to->saturation == 'N' && f.inf_code;
  if (!f.sign_bits || to->variant || (f.inf_code && to->saturation == 'P') ||
      (is_none && to->rounding == MPNUM_ROUND_TO_ODD))
    return;
  demand(code == ref_encode(&as, mpnum_bits_f64(x), (ref_rounding)to->rounding,
                            is_none ? REF_IEEE : REF_SATURATE, 0));
}

static void fuzz_projection(fuzz_bytes *from) {
  enum { MOST = 40 };
  char format[40], rounding[40];
  const char *const saturations[] = {"SatFinite", "SatPropagate", "SatNone", "Sat"};
  mpnum_p3109 to, before;
  float x[MOST];
  uint16_t codes[MOST], parts[MOST];
  const int width = (int)take_below(from, 18), precision = (int)take_below(from, 18);
  const char *kind = &"se\0uf\0sf\0ue"[3 * take_below(from, 4)];
  snprintf(format, sizeof format, "Binary%dp%d%s", width, precision, kind);
  take_name(from, format, sizeof format);
  if (take(from, 1) & 1)
    snprintf(rounding, sizeof rounding, "%s", roundings[take_below(from, 6)]);
  else
    snprintf(rounding, sizeof rounding, "Stochastic%c%d", "ABCD"[take_below(from, 4)],
             (int)take_below(from, 34));
  take_name(from, rounding, sizeof rounding);
  const char *saturation = saturations[take_below(from, 4)];
  memset(&to, 77, sizeof to);
  before = to;
  if (mpnum_p3109_init(&to, format, rounding, saturation) != MPNUM_OK) {
    demand(memcmp(&to, &before, sizeof to) == 0);
    return;
  }
  check_names(&to, format, rounding, saturation);
  const uint64_t seed = take(from, 4), offset = take(from, 4);
  const size_t n = take_below(from, MOST + 1), first = n ? take_below(from, MOST) % n : 0;
  const int is_wide =
      to.format.sign_bits + to.format.exponent_bits + to.format.mantissa_bits > 8;
  for (size_t i = 0; i < n; ++i)
    x[i] = mpnum_from_bits_f32((uint32_t)take(from, 4));
  const mpnum_format f32 = mpnum_format_of(MPNUM_TYPE_F32);
  demand(mpnum_p3109_convert_array(to, codes, f32, x, n, seed, offset) == MPNUM_OK);
  demand(mpnum_p3109_convert_array(to, parts, f32, x, first, seed, offset) == MPNUM_OK);
  demand(mpnum_p3109_convert_array(to, (uint8_t *)parts + (first << is_wide), f32,
                                   x + first, n - first, seed,
                                   offset + first) == MPNUM_OK);
  demand(memcmp(codes, parts, n << is_wide) == 0);
  for (size_t i = 0; i < n; ++i) {
    const uint32_t random =
        to.random_bits ? mpnum_random(seed, offset + i) >> (32 - to.random_bits) : 0;
    const uint32_t code = is_wide ? codes[i] : ((const uint8_t *)codes)[i];
    demand(code == mpnum_p3109_encode(to, (double)x[i], random));
    check_code(&to, (double)x[i], code);
  }
  const double wide = mpnum_from_bits_f64(take(from, 8));
  check_code(&to, wide, mpnum_p3109_encode(to, wide, 0));
}

/* Each part is what the ones before leave, to the nearest, and exactly what is left. */
static void fuzz_split(fuzz_bytes *from) {
  enum { MOST = 33, PARTS = 4 };
  static const mpnum_type types[] = {MPNUM_TYPE_BF16, MPNUM_TYPE_F16, MPNUM_TYPE_TF32};
  const mpnum_type type = types[take_below(from, 3)];
  const mpnum_format format = mpnum_format_of(type);
  const ref_format *const as = ref_format_named(mpnum_type_name(type));
  const int exponent = (int)take_below(from, 41) - 20, step = (int)take_below(from, 13);
  const size_t parts = 1 + take_below(from, PARTS), n = 1 + take_below(from, MOST);
  const int is_word = type == MPNUM_TYPE_TF32;
  float x[MOST];
  uint32_t words[PARTS][MOST];
  mpnum_matrix views[PARTS];
  for (size_t i = 0; i < n; ++i)
    x[i] = mpnum_from_bits_f32((uint32_t)take(from, 4));
  for (size_t k = 0; k < parts; ++k)
    views[k] = mpnum_matrix_of(type, words[k], 1, n);
  const mpnum_status status = mpnum_split_matrix(
      views, parts, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, n), exponent, step);
  if (status != MPNUM_OK) return;
  for (size_t i = 0; i < n; ++i) {
    uint32_t codes[PARTS];
    double rest = ldexp((double)x[i], exponent);
    mpnum_split(format, x[i], exponent, step, codes, (int)parts);
    for (size_t k = 0; k < parts; ++k) {
      const uint32_t code = is_word ? words[k][i] : ((const uint16_t *)words[k])[i];
      demand(code == codes[k]);
      if (!isfinite(x[i])) continue;
      demand(code == (k > 0 && rest == 0
                          ? 0 /* no -0, which may be a difference */
                          : ref_encode(as, mpnum_bits_f64(rest), REF_NEAREST_EVEN,
                                       REF_SATURATE, 0)));
      rest = ldexp(rest - mpnum_from_bits_f64(ref_decode(as, code)), step);
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes from = {data, size};
  if (take(&from, 1) & 1)
    fuzz_split(&from);
  else
    fuzz_projection(&from);
  return 0;
}
