/* SPDX-License-Identifier: MIT */
/* CPFloat for tools/conformance, as a shared object: values rounded to those of a format
 * whose exponents go from emin to emax. */
#include <cpfloat_binary32.h>
#include <cpfloat_binary64.h>

static void choose(optstruct *options, int precision, int emin, int emax, int saturates,
                   int rounding) {
  options->precision = (cpfloat_precision_t)precision;
  options->emin = emin;
  options->emax = emax;
  options->explim = CPFLOAT_EXPRANGE_TARG;
  options->infinity = CPFLOAT_INF_USE;
  options->round = (cpfloat_rounding_t)rounding;
  options->saturation = saturates ? CPFLOAT_SAT_USE : CPFLOAT_SAT_NO;
  options->subnormal = CPFLOAT_SUBN_USE;
  options->flip = CPFLOAT_SOFTERR_NO;
}

/* Returns 0, or what CPFloat refuses it with. */
#define ROUND(name, type, function)                                                \
 int name(type *dst, const type *src, size_t n, int precision, int emin, int emax, \
          int saturates, int rounding);                                            \
 int name(type *dst, const type *src, size_t n, int precision, int emin, int emax, \
          int saturates, int rounding) {                                           \
  optstruct *options = init_optstruct();                                           \
  int refused = 0;                                                                 \
  choose(options, precision, emin, emax, saturates, rounding);                     \
  refused = function(dst, src, n, options);                                        \
  free_optstruct(options);                                                         \
  return refused;                                                                  \
 }
ROUND(round_f32, float, cpfloatf)
ROUND(round_f64, double, cpfloat)
