/* SPDX-License-Identifier: MIT */
/* What is found of values that come in parts: statistics, histograms, softmax, losses,
 * where the first Inf was. However they are cut, and whichever part is the first, it is
 * what is found of them by other means. */
#include "../harness/float_bits.h"
#include "../reference/reference.h"
#include "fuzz_bytes.h"

#include <mpnum/array/amax_history.h>
#include <mpnum/array/histogram.h>
#include <mpnum/array/stats.h>
#include <mpnum/rows/softmax_state.h>
#include <mpnum/training/probe.h>

#include <math.h>
#include <string.h>

enum { MOST = 64 };

static void check_stats(fuzz_bytes from) {
  const mpnum_type type = (mpnum_type)(MPNUM_TYPE_F32 + take_below(&from, 15));
  const mpnum_format format = mpnum_format_of(type);
  const ref_format *reference = ref_format_named(mpnum_type_name(type));
  const int bits = reference->exponent_bits + reference->mantissa_bits;
  const uint32_t mask = (uint32_t)((UINT64_C(1) << (bits + reference->sign_bits)) - 1);
  const uint32_t min_code = UINT32_C(1) << reference->mantissa_bits;
  mpnum_stats parts[2] = {mpnum_stats_empty(), mpnum_stats_empty()}, merged;
  mpnum_stats want = mpnum_stats_empty();
  while (from.left > 0) {
    const int part = (int)take(&from, 1) & 1;
    const uint32_t code = (uint32_t)take(&from, (bits + 8) / 8) & mask;
    const uint32_t magnitude = code & ((UINT32_C(1) << bits) - 1);
    const uint32_t word = code << reference->storage_shift;
    const double x = fabs(double_of(ref_decode(reference, word)));
    parts[part] = mpnum_stats_add(parts[part], format, word);
    ++want.count;
    want.nans += isnan(x) != 0;
    want.infs += isinf(x) != 0;
    want.zeros += x == 0;
    want.subnormals += reference->has_zero && x > 0 && magnitude < min_code;
    if (isfinite(x) && x > (double)want.amax) want.amax = (float)x;
    if (x > 0 && x < (double)want.min_nonzero) want.min_nonzero = (float)x;
  }
  merged = mpnum_stats_merge(parts[0], parts[1]);
  demand(memcmp(&merged, &want, sizeof want) == 0);
  merged = mpnum_stats_merge(parts[1], parts[0]);
  demand(memcmp(&merged, &want, sizeof want) == 0);
}

static void check_histogram(fuzz_bytes from) {
  static mpnum_histogram parts[2], want;
  parts[0] = parts[1] = mpnum_histogram_empty();
  memset(&want, 0, sizeof want);
  while (from.left > 0) {
    const int part = (int)take(&from, 1) & 1;
    const float x = float_of((uint32_t)take(&from, 4));
    mpnum_histogram_add(&parts[part], x);
    if (x == 0)
      ++want.zeros;
    else
      ++want.counts[!isfinite(x) ? 255 : isnormal(x) ? ilogbf(x) + 127 : 0];
  }
  mpnum_histogram_merge(&parts[0], &parts[1]);
  demand(memcmp(&parts[0], &want, sizeof want) == 0);
}

static void check_losses(fuzz_bytes *from) {
  mpnum_quantize_losses parts[2], merged, other;
  for (int i = 0; i < 2; ++i) {
    parts[i].saturated = take(from, 4);
    parts[i].underflowed = take(from, 4);
    parts[i].nonfinite = take(from, 4);
    parts[i].amax = float_of((uint32_t)take(from, 4));
  }
  merged = mpnum_quantize_losses_merge(parts[0], parts[1]);
  other = mpnum_quantize_losses_merge(parts[1], parts[0]);
  demand(bits_of_float(merged.amax) == bits_of_float(other.amax));
  demand(merged.saturated == parts[0].saturated + parts[1].saturated);
  demand(merged.underflowed == parts[0].underflowed + parts[1].underflowed);
  demand(merged.nonfinite == parts[0].nonfinite + parts[1].nonfinite);
  if (isnan(parts[0].amax) || isnan(parts[1].amax))
    demand(isnan(merged.amax));
  else
    demand(merged.amax == fmaxf(fabsf(parts[0].amax), fabsf(parts[1].amax)));
}

static void check_probe(fuzz_bytes from) {
  uint64_t word = mpnum_probe_empty(), first = UINT64_MAX;
  while (from.left > 0) {
    const uint32_t step = take_below(&from, 8), site = (uint32_t)take(&from, 1);
    const float x = float_of((uint32_t)take(&from, 1) << 24 | 0x00800000u);
    const uint64_t here = (uint64_t)step << 32 | site;
    mpnum_probe(&word, step, site, x);
    if (!isfinite(x) && here < first) first = here;
  }
  demand(word == first);
  demand(mpnum_probe_step(word) == (uint32_t)(first >> 32));
  demand(mpnum_probe_site(word) == (uint32_t)first);
}

static int is_near(float got, double want) {
  return isfinite(want) ? fabs((double)got - want) <= 1e-4 * (1 + fabs(want))
                        : (double)got == want;
}
/* Elements up to 127 and a scale up to 8, so that no product overflows; or -Inf, masked.
 */
static void check_softmax(fuzz_bytes from) {
  const float scale = (float)take(&from, 1) / 32;
  mpnum_softmax_state parts[2] = {mpnum_softmax_state_empty(),
                                  mpnum_softmax_state_empty()};
  mpnum_softmax_state state, other;
  float x[MOST] = {0}, tile[2][MOST];
  int count = 0, counts[2] = {0, 0}, is_nan = 0, is_inf = 0;
  double max = (double)-INFINITY, sum = 0, log_sum;
  const int is_by_tile = (int)take(&from, 1) & 1;
  while (from.left > 0 && count < MOST) {
    const uint32_t kind = (uint32_t)take(&from, 1), part = kind & 1;
    x[count] = kind < 8     ? -INFINITY
               : kind == 8  ? INFINITY
               : kind == 10 ? NAN
                            : (float)(int8_t)take(&from, 1) + (float)kind / 256;
    tile[part][counts[part]++] = x[count];
    if (!is_by_tile) parts[part] = mpnum_softmax_add(parts[part], x[count], scale);
    is_nan |= isnan(x[count]) != 0;
    is_inf |= x[count] == INFINITY;
    max = fmax(max, (double)x[count++]);
  }
  for (int i = 0; is_by_tile && i < 2; ++i)
    parts[i] = mpnum_softmax_add_tile(parts[i], tile[i], counts[i], scale);
  state = mpnum_softmax_merge(parts[0], parts[1], scale);
  other = mpnum_softmax_merge(parts[1], parts[0], scale);
  demand(memcmp(&state, &other, sizeof state) == 0);
  if (is_nan || is_inf) {
    const float got = mpnum_softmax_logsumexp(state, scale);
    demand(is_nan ? isnan(got) : got == INFINITY);
    demand(isnan(mpnum_softmax_weight(state, x[0], scale)));
    demand(isnan(mpnum_softmax_loss(state, x[0], scale)));
    return;
  }
  for (int i = 0; i < count; ++i)
    if (isfinite(x[i])) sum += exp(((double)x[i] - max) * (double)scale);
  log_sum = sum > 0 ? log(sum) + max * (double)scale : (double)-INFINITY;
  demand(is_near(mpnum_softmax_logsumexp(state, scale), log_sum));
  for (int i = 0; i < count; ++i) {
    const int is_masked = !isfinite(x[i]);
    const double loss =
        is_masked ? (double)INFINITY : log_sum - (double)x[i] * (double)scale;
    demand(is_near(mpnum_softmax_weight(state, x[i], scale), is_masked ? 0 : exp(-loss)));
    demand(is_near(mpnum_softmax_loss(state, x[i], scale), loss));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes from = {data, size};
  switch (take(&from, 1) % 5) {
  case 0: check_stats(from); break;
  case 1: check_histogram(from); break;
  case 2: check_losses(&from); break;
  case 3: check_probe(from); break;
  default: check_softmax(from);
  }
  return 0;
}
