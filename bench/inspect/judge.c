/* SPDX-License-Identifier: MIT */
/* From what was found to a verdict, by the rules of mpnum/advice.h. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpnum/advice.h>
#include <mpnum/array.h>
#include <mpnum/rng.h>

#include "inspect.h"
#include "../core/message.h"

/* A sample is read in blocks. */
enum { BLOCK = 1 << 10, BLOCKS = SAMPLE / BLOCK, SEED = 20240229, LANES = 8 };

/* Sums over the values read, for one format, and what all values say of them. */
typedef struct tally {
  double scale, unscale;
  float flush_limit;      /* magnitudes up to this one become 0 */
  float clip_limit;       /* from this one on they are past the largest value */
  mpnum_lost least, most; /* bounds that the histogram gives */
  bool is_counted;        /* losses are to be counted: the bounds differ */
  bool is_measured;       /* its error is wanted */
  double noise;
  uint64_t clipped, flushed;
} tally;

typedef struct buffers {
  unsigned char raw[BLOCK * 8];
  float values[BLOCK], scaled[BLOCK], back[BLOCK];
  double errors[BLOCK];
  unsigned char codes[BLOCK * 2];
} buffers;

/* Half the smallest value ties to 0. Half a gap above the largest one ties past it where
 * its code is odd. */
static tally begin_tally(const findings *found, const fit *what) {
  const mpnum_format format = mpnum_format_of(what->type);
  const double top = ldexp(1, mpnum_format_max_exp(format) - 1);
  const double half_past_max =
      (double)mpnum_format_max(format) + ldexp(top, -format.mantissa_bits - 1);
  tally made;
  memset(&made, 0, sizeof made);
  made.scale = ldexp(1, what->scale_exponent);
  made.unscale = ldexp(1, -what->scale_exponent);
  made.flush_limit = (float)((double)mpnum_format_true_min(format) / 2 * made.unscale);
  made.clip_limit = (float)(half_past_max * made.unscale);
  if (!(format.max_code & 1)) made.clip_limit = nextafterf(made.clip_limit, INFINITY);
  mpnum_histogram_lost(&found->histogram, format, (float)made.scale, &made.least,
                       &made.most);
  if (found->amax < (double)made.clip_limit) made.most.overflows = 0;
  if (found->amax >= (double)made.clip_limit && found->too_large == 0 &&
      made.least.overflows == 0)
    made.least.overflows = 1;
  made.is_counted = made.least.overflows != made.most.overflows ||
                    made.least.underflows != made.most.underflows;
  return made;
}

/* Of a block: counts as wide as the values, so that both are in vectors. */
static void count_losses(tally *sums, const float *values, size_t count) {
  const float clip_limit = sums->clip_limit, flush_limit = sums->flush_limit;
  uint32_t clipped = 0, flushed = 0, zeros = 0;
  size_t i;
  for (i = 0; i < count; ++i) {
    const float magnitude = fabsf(values[i]);
    clipped += magnitude >= clip_limit;
    flushed += magnitude <= flush_limit;
    zeros += magnitude <= 0;
  }
  sums->clipped += clipped;
  sums->flushed += flushed - zeros;
}

/* In lanes, which the compiler makes a vector of. */
static double sum_of_squares(const double *values, size_t count) {
  double lanes[LANES] = {0}, sum = 0;
  size_t i, lane;
  for (i = 0; i + LANES <= count; i += LANES) {
    for (lane = 0; lane < LANES; ++lane)
      lanes[lane] += values[i + lane] * values[i + lane];
  }
  for (; i < count; ++i)
    sum += values[i] * values[i];
  for (lane = 0; lane < LANES; ++lane)
    sum += lanes[lane];
  return sum;
}

static void measure_error(tally *sums, mpnum_type type, buffers *at, size_t count) {
  const float scale = (float)sums->scale;
  size_t i;
  for (i = 0; i < count; ++i)
    at->scaled[i] = at->values[i] * scale;
  must(mpnum_convert_array(type, at->codes, MPNUM_TYPE_F32, at->scaled, count,
                           MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0, 0));
  must(mpnum_convert_array(MPNUM_TYPE_F32, at->back, type, at->codes, count,
                           MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0, 0));
  for (i = 0; i < count; ++i)
    at->errors[i] = (double)at->back[i] * sums->unscale - (double)at->values[i];
  sums->noise += sum_of_squares(at->errors, count);
}

static bool add_block(const inspection *run, const row *about, tally *tallies,
                      double *signal, buffers *at, uint64_t first, size_t count,
                      refusal *why) {
  unsigned f;
  size_t i;
  if (!read_floats(about->file, about->values, first, at->raw, at->values, count, why))
    return false;
  for (i = 0; i < count; ++i)
    at->values[i] = fabsf(at->values[i]) <= FLT_MAX ? at->values[i] : 0;
  for (i = 0; i < count; ++i)
    at->errors[i] = (double)at->values[i]; /* against nothing at all */
  *signal += sum_of_squares(at->errors, count);
  for (f = 0; f < run->fit_count; ++f) {
    if (tallies[f].is_counted) count_losses(&tallies[f], at->values, count);
    if (tallies[f].is_measured)
      measure_error(&tallies[f], about->fits[f].type, at, count);
  }
  return true;
}

/* Part `block` of BLOCKS begins somewhere in it, so that no period of rows is hit. */
static uint64_t block_start(uint64_t count, unsigned block) {
  const uint64_t part = count / BLOCKS;
  return block * part + mpnum_random(SEED, block) % (part - BLOCK + 1);
}

static bool is_sampled(const inspection *run, const tensor *values) {
  return values->count > SAMPLE && !run->chosen->exact;
}

uint64_t judge_work(const inspection *run, const tensor *values) {
  return is_sampled(run, values) ? SAMPLE : values->count;
}

static bool read_blocks(const inspection *run, row *about, tally *tallies, double *signal,
                        refusal *why) {
  const uint64_t count = about->values->count;
  buffers *at = malloc(sizeof *at);
  bool good = true;
  uint64_t first;
  unsigned block;
  if (!at) return refuse(why, "out of memory");
  about->sampled = is_sampled(run, about->values);
  for (block = 0; about->sampled && good && block < BLOCKS; ++block)
    good =
        add_block(run, about, tallies, signal, at, block_start(count, block), BLOCK, why);
  for (first = 0; !about->sampled && good && first < count; first += BLOCK)
    good = add_block(run, about, tallies, signal, at, first,
                     count - first < BLOCK ? (size_t)(count - first) : BLOCK, why);
  free(at);
  return good;
}

/* A count of part of the values for all of them, where the bounds let it be. */
static double between(double value, uint64_t least, uint64_t most) {
  if (value < (double)least) return (double)least;
  return value > (double)most ? (double)most : value;
}

static void end_tally(const row *about, const tally *sums, double signal, fit *what) {
  const double factor = about->sampled ? (double)about->values->count / SAMPLE : 1;
  what->clipped = between((double)sums->clipped * factor, sums->least.overflows,
                          sums->most.overflows) +
                  (double)about->found.too_large;
  what->flushed = between((double)sums->flushed * factor, sums->least.underflows,
                          sums->most.underflows) +
                  (double)about->found.too_small;
  what->sqnr = (double)NAN;
  if (sums->is_measured && about->found.too_large == 0)
    what->sqnr = sums->noise > 0 ? 10 * log10(signal / sums->noise) : (double)INFINITY;
}

static int exponent_of(float power) {
  int exponent;
  frexpf(power, &exponent);
  return exponent - 1;
}

/* Whether there is a finite value, and f32 holds as many as a format has to. */
static bool is_judged(const row *about) {
  const findings *found = &about->found;
  return found->infs + found->nans < about->values->count && found->too_large == 0 &&
         (double)found->too_small <= LOST_SHARE * (double)about->values->count;
}

static void choose_scales(const inspection *run, row *about) {
  const inspect_options *chosen = run->chosen;
  const findings *found = &about->found;
  float unused;
  unsigned i;
  const mpnum_type best =
      mpnum_best_type(&found->histogram, chosen->candidates, (int)chosen->candidate_count,
                      (float)LOST_SHARE, 0, &unused);
  about->best = -1;
  for (i = 0; i < run->fit_count; ++i) {
    fit *what = &about->fits[i];
    what->type = i < chosen->candidate_count    ? chosen->candidates[i]
                 : i == chosen->candidate_count ? MPNUM_TYPE_F16
                                                : MPNUM_TYPE_BF16;
    if (i >= chosen->candidate_count) continue;
    if (found->too_large == 0)
      what->scale_exponent = exponent_of(
          mpnum_best_scale(mpnum_format_of(what->type), (float)found->amax, 0));
    if (what->type == best && is_judged(about)) about->best = (int)i;
  }
}

bool judge(const inspection *run, row *about, refusal *why) {
  tally tallies[FIT_LIMIT];
  double signal = 0;
  unsigned i;
  choose_scales(run, about);
  for (i = 0; i < run->fit_count; ++i) {
    tallies[i] = begin_tally(&about->found, &about->fits[i]);
    tallies[i].is_measured = run->chosen->details || (int)i == about->best;
  }
  if (!read_blocks(run, about, tallies, &signal, why)) return false;
  for (i = 0; i < run->fit_count; ++i)
    end_tally(about, &tallies[i], signal, &about->fits[i]);
  return true;
}

/* --- order
 * ------------------------------------------------------------------------------ */

const fit *best_of(const row *about) {
  return about->best < 0 ? NULL : &about->fits[about->best];
}

const fit *fit_of_f16(const inspection *run, const row *about) {
  return &about->fits[run->fit_count - 2];
}

const fit *fit_of_bf16(const inspection *run, const row *about) {
  return &about->fits[run->fit_count - 1];
}

bool survives(const row *about, const fit *what) {
  return what->clipped <= 0 && what->flushed <= LOST_SHARE * (double)about->values->count;
}

static double lost_share(const row *about) {
  const fit *best = best_of(about);
  return best ? (best->clipped + best->flushed) / (double)about->values->count : 2;
}

/* Inf and NaN first, then what no candidate holds, then what f16 does not hold, each by
 * signal over noise. */
static double trouble(const inspection *run, const row *about) {
  const fit *best = best_of(about);
  const double sqnr = best && isfinite(best->sqnr) ? best->sqnr : best ? 999 : -999;
  const findings *found = &about->found;
  return 8e4 * (found->infs + found->nans > 0) +
         4e4 * !survives(about, fit_of_bf16(run, about)) + 2e4 * !best +
         1e4 * !survives(about, fit_of_f16(run, about)) - sqnr;
}

/* More comes first. */
static double key_of(const inspection *run, const row *about) {
  const fit *best = best_of(about);
  switch (run->chosen->sort) {
  case SORT_TROUBLE: return trouble(run, about);
  case SORT_SIZE: return (double)about->values->count;
  case SORT_AMAX: return about->found.amax;
  case SORT_SQNR: return best ? -best->sqnr : (double)INFINITY;
  case SORT_LOST: return lost_share(about);
  default: return 0;
  }
}

typedef struct entry {
  double key;
  size_t place; /* as in the files */
  row *about;
} entry;

static int compare_keys(const void *a, const void *b) {
  const entry *left = a, *right = b;
  if (left->key > right->key) return -1;
  if (left->key < right->key) return 1;
  return left->place < right->place ? -1 : left->place > right->place;
}

static int compare_names(const void *a, const void *b) {
  const entry *left = a, *right = b;
  const int order = strcmp(left->about->values->name, right->about->values->name);
  return order != 0 ? order : compare_keys(a, b);
}

bool sort_rows(inspection *run) {
  entry *list = malloc((run->count + 1) * sizeof *list);
  size_t i;
  if (!list) return false;
  for (i = 0; i < run->count; ++i) {
    list[i].key = key_of(run, &run->rows[i]);
    list[i].place = i;
    list[i].about = &run->rows[i];
  }
  qsort(list, run->count, sizeof *list,
        run->chosen->sort == SORT_NAME ? compare_names : compare_keys);
  for (i = 0; i < run->count; ++i)
    run->order[i] = list[i].about;
  free(list);
  return true;
}
