/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpnum/core/query.h>

/* The rule's 20 dB, as an error of LOST_SHARE of the power. */
#define RULE_FLOOR 20
/* So much fewer bytes are no reason to take a format of less SQNR. */
#define BYTES_SLACK 0.05

static bool is_unsigned(mpnum_type type) {
  return type != MPNUM_TYPE_F64 && mpnum_format_of(type).sign_bits == 0;
}

/* --- one tensor */

/* What is measured of it in the format. */
static const outcome *outcome_of(const row *about, const plan *of, double *sqnr,
                                 double *product) {
  if (of->is_blocks) {
    *sqnr = about->blocks[of->number].sqnr[0];
    *product = (double)NAN;
    return &about->chosen.blocks[of->number];
  }
  *sqnr = about->fits[of->number].sqnr;
  *product = about->fits[of->number].product;
  return &about->chosen.of[of->number];
}

static stay stay_of_shape(const row *about, const plan *of, double *figure) {
  const tensor *values = about->values;
  if (values->count < LEAST_VALUES) return STAYS_SMALL;
  if (about->found.infs + about->found.nans > 0) return STAYS_NONFINITE;
  if (about->is == LEFT_OUT) return STAYS_STATE;
  if (is_unsigned(values->type)) return STAYS_UNSIGNED;
  if (about->is == WEIGHTS && values->rank < 2) return STAYS_ONE_AXIS;
  if (of->is_blocks) {
    const size_t block = block_format_of(of->number).format.columns;
    *figure = (double)values->shape[values->rank - 1];
    if (values->fortran_order && values->rank > 1) return STAYS_AXIS;
    if (values->shape[values->rank - 1] % block != 0) return STAYS_AXIS;
  }
  return QUANTISED;
}

static stay stay_of(const row *about, const plan *of, double least, planned *made) {
  double product;
  stay why = stay_of_shape(about, of, &made->figure);
  const outcome *found = outcome_of(about, of, &made->sqnr, &product);
  const double floor = least >= 0 ? least : RULE_FLOOR;
  if (why != QUANTISED) return why;
  if (of->is_blocks && !about->has_blocks && !(about->found.amax > 0)) return STAYS_ZERO;
  made->broke = found->worst ? found->why : BROKE_RANGE;
  made->figure = found->figure;
  if (!found->worst || found->why == BROKE_RANGE || found->why == BROKE_MOST ||
      found->why == BROKE_LOST)
    return STAYS_BY_RULE;
  if (is_by_losses(about->is) && least < 0) return QUANTISED;
  made->figure = made->sqnr;
  if (made->sqnr < floor) return STAYS_SQNR;
  made->figure = product;
  return product < floor ? STAYS_PRODUCT : QUANTISED;
}

/* Of f16 and bf16, which end the candidates, the one that holds it with more SQNR; what
 * has 16 bits or fewer and what none holds stays as it is, blocks as their values. */
static mpnum_type type_of_rest(const verdict_run *run, const row *about, stay why) {
  const mpnum_type own = about->values->type;
  const double lost = LOST_SHARE * nonzero_of(about);
  const fit *best = NULL;
  if (element_size(own) <= 2 || (why >= STAYS_SMALL && why <= STAYS_UNSIGNED)) return own;
  for (unsigned f = run->candidate_count - 2; f < run->candidate_count; ++f) {
    const fit *what = &about->fits[f];
    if (what->clipped > 0 || what->flushed > lost || isnan(what->sqnr)) continue;
    if (!best || what->sqnr > best->sqnr) best = what;
  }
  return best ? best->type : own;
}

static planned planned_of(const verdict_run *run, const row *about, const plan *of,
                          double least) {
  planned made;
  memset(&made, 0, sizeof made);
  made.about = about;
  made.why = stay_of(about, of, least, &made);
  if (made.why != QUANTISED) {
    made.type = type_of_rest(run, about, made.why);
    made.bytes = about->values->count * element_size(made.type);
  } else if (of->is_blocks) {
    made.bytes = (uint64_t)about->blocks[of->number].bytes;
  } else {
    made.bytes = about->values->count + 4; /* the scale, a float */
  }
  return made;
}

/* --- a format */

bool plan_for(const verdict_run *run, bool is_blocks, unsigned number, double least,
              plan *made) {
  double values = 0, noise = 0;
  memset(made, 0, sizeof *made);
  made->is_blocks = is_blocks;
  made->number = number;
  made->format =
      is_blocks ? block_format_of(number).name : element_name(run->types[number]);
  made->count = run->count;
  made->parts = calloc(run->count + 1, sizeof *made->parts);
  if (!made->parts) return false;
  for (size_t i = 0; i < run->count; ++i) {
    planned *of = &made->parts[i];
    *of = planned_of(run, &run->rows[i], made, least);
    made->bytes += of->bytes;
    if (of->why != QUANTISED) continue;
    ++made->quantised;
    values += (double)of->about->values->count;
    noise += (double)of->about->values->count *
             (isinf(of->sqnr) ? 0 : pow(10, -of->sqnr / 10));
    if (!made->worst || of->sqnr < made->worst->sqnr) made->worst = of;
  }
  made->sqnr = noise > 0 ? -10 * log10(noise / values) : (double)INFINITY;
  return true;
}

void plan_free(plan *made) {
  free(made->parts);
  memset(made, 0, sizeof *made);
}

/* Whether most bytes are judged by what is lost. */
static bool is_of_gradients(const verdict_run *run) {
  double all = 0, by_losses = 0;
  for (size_t i = 0; i < run->count; ++i) {
    const double bytes = (double)stored_bytes(run->rows[i].values);
    if (run->rows[i].is == LEFT_OUT) continue;
    all += bytes;
    by_losses += is_by_losses(run->rows[i].is) ? bytes : 0;
  }
  return 2 * by_losses > all;
}

static double range_of(mpnum_type type) {
  const mpnum_format format = mpnum_format_of(type);
  return (double)mpnum_format_max(format) / (double)mpnum_format_true_min(format);
}

/* Whether b is to be taken instead of a. */
static bool is_better(const verdict_run *run, const plan *a, const plan *b,
                      const plan *plain, double least) {
  const double fewer = (double)a->bytes - (double)b->bytes;
  if (b->quantised == 0 || a->quantised == 0) return b->quantised > 0;
  if (a->is_blocks && least < 0) {
    /* As in the verdict of a kind: as good as the plain one, then the fewest bytes. */
    const bool has_plain = plain && plain->quantised > 0;
    const double wanted = has_plain ? plain->sqnr - BLOCK_SLACK : (double)INFINITY;
    if ((a->sqnr >= wanted) != (b->sqnr >= wanted)) return b->sqnr >= wanted;
    if (b->sqnr < wanted) return b->sqnr > a->sqnr;
  }
  if (fabs(fewer) > BYTES_SLACK * (double)a->bytes) return fewer > 0;
  if (!a->is_blocks && is_of_gradients(run))
    return range_of(run->types[b->number]) > range_of(run->types[a->number]);
  return b->sqnr > a->sqnr;
}

bool plan_best(const verdict_run *run, bool is_blocks, const plan *plain, double least,
               plan *made) {
  const unsigned count = is_blocks ? BLOCK_FORMATS : run->candidate_count - 2;
  memset(made, 0, sizeof *made);
  for (unsigned f = 0; f < count; ++f) {
    plan other;
    if (!plan_for(run, is_blocks, f, least, &other)) return plan_free(made), false;
    if (!made->parts || is_better(run, made, &other, plain, least)) {
      plan_free(made);
      *made = other;
    } else {
      plan_free(&other);
    }
  }
  return true;
}

/* --- in words */

const char *stay_name(const planned *of) {
  static const char *const names[] = {"",         "small",    "nonfinite", "state",
                                      "unsigned", "one_axis", "axis",      "zeros",
                                      "",         "sqnr",     "product"};
  return of->why == STAYS_BY_RULE ? broken_name(of->broke) : names[of->why];
}

void show_stay(char *text, size_t size, const planned *of, double least) {
  const double floor = least >= 0 ? least : RULE_FLOOR;
  outcome broke;
  memset(&broke, 0, sizeof broke);
  broke.why = of->broke;
  broke.figure = of->figure;
  switch (of->why) {
  case STAYS_SMALL: snprintf(text, size, "small"); break;
  case STAYS_NONFINITE: snprintf(text, size, "Inf or NaN"); break;
  case STAYS_STATE: snprintf(text, size, "state of an optimizer"); break;
  case STAYS_UNSIGNED: snprintf(text, size, "scales"); break;
  case STAYS_ONE_AXIS: snprintf(text, size, "one axis"); break;
  case STAYS_AXIS: snprintf(text, size, "rows of %.0f are no blocks", of->figure); break;
  case STAYS_ZERO: snprintf(text, size, "zeros alone"); break;
  case STAYS_SQNR: snprintf(text, size, "SQNR %.2f < %g", of->figure, floor); break;
  case STAYS_PRODUCT: snprintf(text, size, "product %.2f < %g", of->figure, floor); break;
  default: show_broken(text, size, &broke); break;
  }
}
