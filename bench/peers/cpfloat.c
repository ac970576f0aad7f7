/* SPDX-License-Identifier: MIT */
/* CPFloat, which rounds floats to the values of a narrower format. */
#include "peers.h"

/* Without the PCG library it takes rand() and warns of it. */
#if !defined(__clang__)
# pragma GCC diagnostic ignored "-Wcpp"
#endif
#include <cpfloat_binary32.h>

/* e4m3: 4 bits of precision, largest exponent 8; saturating, without infinities. */
static void round_values(void *dst, const void *src, size_t count,
                         cpfloat_rounding_t rounding) {
  optstruct *options = init_optstruct();
  options->precision = 4;
  options->emin = -6;
  options->emax = 8;
  options->explim = CPFLOAT_EXPRANGE_TARG;
  options->infinity = CPFLOAT_INF_NO;
  options->round = rounding;
  options->saturation = CPFLOAT_SAT_USE;
  options->subnormal = CPFLOAT_SUBN_USE;
  options->flip = CPFLOAT_SOFTERR_NO;
  cpfloatf((float *)dst, (const float *)src, count, options);
  free_optstruct(options);
}

static void round_nearest(void *dst, const void *src, size_t count) {
  round_values(dst, src, count, CPFLOAT_RND_NE);
}

static void round_toward_zero(void *dst, const void *src, size_t count) {
  round_values(dst, src, count, CPFLOAT_RND_TZ);
}

static void round_stochastic(void *dst, const void *src, size_t count) {
  round_values(dst, src, count, CPFLOAT_RND_SP);
}

static const array_peer_loop loops[] = {
    {"round to e4m3", "cpfloatf", round_nearest},
    {"round to e4m3 rz", "cpfloatf", round_toward_zero},
    {"round to e4m3 sr", "cpfloatf", round_stochastic},
};
const array_peer peer_cpfloat = {"CPFloat", NULL, loops, PEER_COUNT(loops), NULL};
