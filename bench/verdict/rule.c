/* SPDX-License-Identifier: MIT */
/* From what was measured to a verdict. Weights and activations are judged by the error of
 * the product that they enter, gradients by what is lost; sources of both rules are in
 * docs/choosing-a-format.md. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpnum/core/query.h>

#include "verdict.h"

/* --- kinds */

static const char *const kind_names[] = {"weights", "activations", "gradients", "values",
                                         "left_out"};
/* Parts of names, in lower case; the first that is found decides. What layers are named
 * by, too (`input_conv`), says what a tensor is only as its last word. */
static const struct {
  const char *part;
  kind is;
  bool is_last;
} marks[] = {
    {"grad", GRADIENTS, false},    {"exp_avg", LEFT_OUT, false},
    {"moment", LEFT_OUT, false},   {"optim", LEFT_OUT, false},
    {"weight", WEIGHTS, false},    {"bias", WEIGHTS, false},
    {"kernel", WEIGHTS, false},    {"embed", WEIGHTS, false},
    {"proj", WEIGHTS, false},      {"activ", ACTIVATIONS, false},
    {"input", ACTIVATIONS, true},  {"output", ACTIVATIONS, true},
    {"hidden", ACTIVATIONS, true}, {"logit", ACTIVATIONS, true},
};
enum { MARKS = sizeof marks / sizeof *marks };

/* The length of a part that the text begins with; 0: it does not. */
static size_t begins_with(const char *text, const char *part) {
  size_t i = 0;
  while (part[i] && tolower((unsigned char)text[i]) == part[i])
    ++i;
  return part[i] ? 0 : i;
}

/* What may follow the last word: "s", "_states", numbers, and that it is a gradient. */
static bool ends_name(const char *rest) {
  size_t length = begins_with(rest, "s");
  rest += length;
  length = begins_with(rest, "_state");
  rest += length > 0 ? length + begins_with(rest + length, "s") : 0;
  while (*rest && strchr("._/:-", *rest)) {
    ++rest;
    length = strspn(rest, "0123456789");
    if (length == 0 && begins_with(rest, "grad")) length = strcspn(rest, "._/:-");
    if (length == 0) return false;
    rest += length;
  }
  return *rest == 0;
}

static bool has_part(const char *name, const char *part, bool is_last) {
  for (const char *at = name; *at; ++at) {
    const size_t length = begins_with(at, part);
    if (length == 0) continue;
    if (!is_last) return true;
    if ((at == name || !isalpha((unsigned char)at[-1])) && ends_name(at + length))
      return true;
  }
  return false;
}

static kind kind_from(const char *name, size_t mark) {
  for (; mark < MARKS; ++mark) {
    if (has_part(name, marks[mark].part, marks[mark].is_last)) return marks[mark].is;
  }
  return VALUES;
}

kind kind_of(const char *name) { return kind_from(name, 0); }
kind kind_of_operand(const char *name) { return kind_from(name, 1); }
const char *kind_name(kind is) { return kind_names[is]; }
const char *kind_mark(unsigned index) { return index < MARKS ? marks[index].part : NULL; }

/* --- names of what is multiplied */

/* Whether names are one but for their last parts, which are these. */
static bool are_paired(const char *weight, const char *operand) {
  const char *end = strrchr(weight, '.'), *other = strrchr(operand, '.');
  return end && other && end - weight == other - operand && strcmp(end, ".weight") == 0 &&
         strcmp(other, ".input") == 0 &&
         strncmp(weight, operand, (size_t)(end - weight)) == 0;
}

void pair_rows(verdict_run *run) {
  for (size_t i = 0; i < run->count; ++i) {
    row *operand = &run->rows[i];
    uint64_t rows, columns, others;
    if (operand->is != ACTIVATIONS) continue;
    matrix_of(operand, &rows, &columns);
    for (size_t k = 0; k < run->count; ++k) {
      row *weight = &run->rows[k];
      if (weight->is != WEIGHTS || weight->partner ||
          !are_paired(weight->values->name, operand->values->name))
        continue;
      matrix_of(weight, &rows, &others);
      if (others != columns) continue;
      weight->partner = operand;
      operand->partner = weight;
    }
  }
}

/* --- the rule */

bool is_by_losses(kind is) { return is == GRADIENTS || is == LEFT_OUT; }

static bool is_finite(const row *about) {
  return about->found.infs + about->found.nans < about->values->count;
}

double nonzero_of(const row *about) {
  const findings *found = &about->found;
  return (double)(about->values->count - found->zeros - found->infs - found->nans);
}

static double share_of(const row *about, double part) {
  return part > 0 ? part / nonzero_of(about) : 0;
}

static unsigned bits_of(mpnum_type type) {
  const mpnum_format format = mpnum_format_of(type);
  return (unsigned)(format.sign_bits + format.exponent_bits + format.mantissa_bits);
}

/* Of decibels the share of the power, and back. */
static double power_of(double sqnr) { return isinf(sqnr) ? 0 : pow(10, -sqnr / 10); }
static double decibels(double power) {
  return power > 0 || isnan(power) ? -10 * log10(power) : (double)INFINITY;
}

/* What is measured of one tensor, whatever the format. */
typedef struct measured {
  double sqnr, product, clipped, flushed;
} measured;

/* The rule that it breaks, and the figure that does. */
static broken check(kind is, const row *about, const measured *what, double *figure) {
  const double lost = share_of(about, what->clipped + what->flushed);
  const double too_small = (double)about->found.too_small;
  *figure = lost;
  if (about->found.too_large > 0 || share_of(about, too_small) > LOST_SHARE)
    return BROKE_RANGE;
  if (is_by_losses(is)) return lost > LOST_SHARE ? BROKE_LOST : KEPT;
  if (lost > VANISHED_SHARE) return BROKE_MOST;
  *figure = what->sqnr;
  if (power_of(what->sqnr) > LOST_SHARE) return BROKE_SQNR;
  *figure = what->product;
  return !isnan(what->product) && power_of(what->product) > LOST_SHARE ? BROKE_PRODUCT
                                                                       : KEPT;
}

/* Sums over the tensors of a choice. */
typedef struct pool {
  double values, noise, product_values, product_noise;
} pool;

static void add_row(outcome *to, pool *all, kind is, const row *about,
                    const measured *what, int scale) {
  const double count = (double)about->values->count;
  const double lost = share_of(about, what->clipped + what->flushed);
  double figure;
  const broken why = check(is, about, what, &figure);
  all->noise += count * power_of(what->sqnr);
  if (!isnan(what->product)) {
    all->product_values += count;
    all->product_noise += count * power_of(what->product);
  }
  if (!to->worst || scale < to->least_scale) to->least_scale = scale;
  if (!to->worst || scale > to->most_scale) to->most_scale = scale;
  if (!to->worst || (to->why == KEPT && (why != KEPT || lost > to->lost)))
    to->worst = about;
  if (to->why == KEPT && why != KEPT) {
    to->why = why;
    to->figure = figure;
  }
  to->clipped = fmax(to->clipped, share_of(about, what->clipped));
  to->flushed = fmax(to->flushed, share_of(about, what->flushed));
  to->lost = fmax(to->lost, lost);
  all->values += count;
}

static void end_outcome(outcome *to, const pool *all) {
  to->sqnr = decibels(all->noise / all->values);
  to->product = all->product_values > 0
                    ? decibels(all->product_noise / all->product_values)
                    : (double)NAN;
}

static outcome outcome_of(const row *const *rows, size_t count, kind is, unsigned f) {
  outcome made;
  pool all;
  memset(&made, 0, sizeof made);
  memset(&all, 0, sizeof all);
  for (size_t i = 0; i < count; ++i) {
    const fit *from = &rows[i]->fits[f];
    const measured what = {from->sqnr, from->product, from->clipped, from->flushed};
    made.bits = bits_of(from->type);
    if (is_finite(rows[i]))
      add_row(&made, &all, is, rows[i], &what, from->scale_exponent);
  }
  end_outcome(&made, &all);
  return made;
}

/* Of those with blocks; worst: none has. */
static outcome blocks_of(const row *const *rows, size_t count, kind is, unsigned f) {
  outcome made;
  pool all;
  double bytes = 0;
  memset(&made, 0, sizeof made);
  memset(&all, 0, sizeof all);
  for (size_t i = 0; i < count; ++i) {
    const block_fit *from = &rows[i]->blocks[f];
    const measured what = {from->sqnr[0], (double)NAN, from->clipped[0],
                           from->flushed[0]};
    if (!rows[i]->has_blocks) continue;
    add_row(&made, &all, is, rows[i], &what, 0);
    bytes += from->bytes;
  }
  end_outcome(&made, &all);
  made.bits = 8 * bytes / all.values;
  made.is_blocks = true;
  return made;
}

/* As good as its values and their product are. */
static double quality_of(const outcome *of) {
  return isnan(of->product) ? of->sqnr : fmin(of->sqnr, of->product);
}

static double range_of(mpnum_type type) {
  const mpnum_format format = mpnum_format_of(type);
  return (double)mpnum_format_max(format) / (double)mpnum_format_true_min(format);
}

/* Why b is to be taken before a; KEPT: it is not. */
static broken is_behind(const verdict_run *run, const choice *made, kind is, unsigned a,
                        unsigned b) {
  const outcome *left = &made->of[a], *right = &made->of[b];
  if (left->bits > right->bits) return MORE_BITS;
  if (left->bits < right->bits) return KEPT;
  if (is_by_losses(is))
    return range_of(run->types[a]) < range_of(run->types[b]) ? LESS_RANGE : KEPT;
  return quality_of(left) < quality_of(right) ? LESS_SQNR : KEPT;
}

static void choose_format(const verdict_run *run, const row *const *rows, size_t count,
                          kind is, choice *made) {
  made->best = F32_ALONE;
  for (unsigned f = 0; f < run->type_count; ++f)
    made->of[f] = outcome_of(rows, count, is, f);
  for (unsigned f = 0; f < run->candidate_count; ++f) {
    if (made->of[f].why == BROKE_RANGE) made->best = NOT_KNOWN;
    if (made->of[f].why == KEPT &&
        (made->best < 0 || is_behind(run, made, is, (unsigned)made->best, f) != KEPT))
      made->best = (int)f;
  }
  for (unsigned f = 0; f < run->candidate_count && made->best >= 0; ++f) {
    const unsigned best = (unsigned)made->best;
    if (made->of[f].why != KEPT || f == best) continue;
    made->of[f].why = is_behind(run, made, is, f, best);
    if (made->of[f].why == KEPT) /* as good, and later in the list */
      made->of[f].why = is_by_losses(is) ? LESS_RANGE : LESS_SQNR;
  }
}

static bool is_worse_block(const outcome *a, const outcome *b, bool by_bits) {
  if (by_bits && a->bits != b->bits) return a->bits > b->bits;
  return a->sqnr < b->sqnr;
}

/* The fewest bits that are as good as the format of 8 bits that was chosen; where none
 * was, the highest SQNR. */
static void choose_block(const verdict_run *run, const row *const *rows, size_t count,
                         kind is, choice *made) {
  const outcome *best = made->best >= 0 ? &made->of[made->best] : NULL;
  const bool by_bits = best && best->bits <= 8;
  made->block = -1;
  for (unsigned f = 0; f < BLOCK_FORMATS && run->blocks; ++f) {
    outcome *of = &made->blocks[f];
    if (run->is_left_out[f]) continue;
    *of = blocks_of(rows, count, is, f);
    if (!of->worst) return;
    if (by_bits && of->why == KEPT && of->sqnr < best->sqnr - BLOCK_SLACK) {
      of->why = BROKE_SLACK;
      of->figure = of->sqnr;
    }
    if (of->why == KEPT &&
        (made->block < 0 || is_worse_block(&made->blocks[made->block], of, by_bits)))
      made->block = (int)f;
  }
  for (unsigned f = 0; f < BLOCK_FORMATS && made->block >= 0; ++f) {
    outcome *of = &made->blocks[f];
    if (!of->worst || of->why != KEPT || (int)f == made->block) continue;
    of->why =
        by_bits && of->bits > made->blocks[made->block].bits ? MORE_BITS : LESS_SQNR;
  }
}

void choose_for(const verdict_run *run, const row *const *rows, size_t count, kind is,
                choice *made) {
  size_t i, finite = 0;
  memset(made, 0, sizeof *made);
  made->best = NOT_KNOWN;
  made->block = -1;
  for (i = 0; i < count; ++i)
    finite += is_finite(rows[i]);
  if (finite == 0) return;
  choose_format(run, rows, count, is, made);
  choose_block(run, rows, count, is, made);
}

void verdict_candidates(verdict_run *run, const mpnum_type *types, unsigned count) {
  memcpy(run->types, types, count * sizeof *types);
  run->types[count] = MPNUM_TYPE_F16;
  run->types[count + 1] = MPNUM_TYPE_BF16;
  run->candidate_count = run->type_count = count + 2;
}

bool verdict_of(const verdict_run *run, kind is, verdict *found, refusal *why) {
  const row **list = malloc((run->count + 1) * sizeof(void *));
  memset(found, 0, sizeof *found);
  if (!list) return refuse(why, "out of memory");
  found->is = is;
  for (size_t i = 0; i < run->count; ++i) {
    const row *about = &run->rows[i];
    if (about->is != is) continue;
    if (about->values->count < LEAST_VALUES)
      ++found->small;
    else if (!is_finite(about))
      ++found->empty;
    else
      list[found->tensors++] = about;
  }
  choose_for(run, list, found->tensors, is, &found->made);
  free(list);
  return true;
}
