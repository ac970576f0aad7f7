/* SPDX-License-Identifier: MIT */
/* A verdict in words, the same in both programs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verdict.h"

const char *broken_name(broken why) {
  static const char *const names[] = {
      "",     "past_f32",       "sqnr",      "product",   "vanished",
      "lost", "sqnr_of_blocks", "more_bits", "less_sqnr", "less_range"};
  return names[why];
}

const char *choice_name(const verdict_run *run, const choice *of) {
  if (of->best >= 0) return element_name(run->types[of->best]);
  return of->best == F32_ALONE ? "f32" : "none";
}

const char *block_name(const choice *of) {
  return of->block < 0 ? NULL : block_format_of((unsigned)of->block).name;
}

void show_broken(char *text, size_t size, const outcome *of) {
  switch (of->why) {
  case BROKE_RANGE: snprintf(text, size, "values past f32"); break;
  case BROKE_SQNR: snprintf(text, size, "SQNR %.2f < 20", of->figure); break;
  case BROKE_PRODUCT: snprintf(text, size, "product %.2f < 20", of->figure); break;
  case BROKE_MOST:
    snprintf(text, size, "%.3g %% lost > %g %%", 100 * of->figure, 100 * VANISHED_SHARE);
    break;
  case BROKE_LOST:
    snprintf(text, size, "%.3g %% lost > %g %%", 100 * of->figure, 100 * LOST_SHARE);
    break;
  case BROKE_SLACK: snprintf(text, size, "over %d dB below", BLOCK_SLACK); break;
  case MORE_BITS: snprintf(text, size, "more bits"); break;
  case LESS_SQNR: snprintf(text, size, "less SQNR"); break;
  case LESS_RANGE: snprintf(text, size, "less range"); break;
  default: snprintf(text, size, "chosen"); break;
  }
}

static void show_scales(char *text, size_t size, const outcome *of) {
  if (of->least_scale < of->most_scale)
    snprintf(text, size, "2^%d..%d", of->least_scale, of->most_scale);
  else
    snprintf(text, size, "2^%d", of->least_scale);
}

static void show_decibels(char *text, size_t size, double sqnr) {
  snprintf(text, size, isinf(sqnr) ? "exact" : "%.1f dB", sqnr);
}

static void show_lost(char *text, size_t size, double share) {
  if (share <= 0)
    snprintf(text, size, "0");
  else
    snprintf(text, size, share < 1e-4 ? "<0.01 %%" : "%.3g %%", 100 * share);
}

/* "; e4m3 31.4: less range" of each candidate with more SQNR at as many bits; brief: of
 * "2 % lost > 1 %" the first half. */
static void add_passed_over(char *line, size_t size, const verdict_run *run,
                            const choice *made, bool is_brief) {
  const outcome *best = &made->of[made->best];
  size_t used = strlen(line);
  char why[48], sqnr[24];
  for (unsigned f = 0; f < run->candidate_count && used < size; ++f) {
    const outcome *of = &made->of[f];
    if (of->bits != best->bits || of->sqnr <= best->sqnr) continue;
    show_broken(why, sizeof why, of);
    snprintf(sqnr, sizeof sqnr, isinf(of->sqnr) ? "exact" : "%.1f", of->sqnr);
    used += (size_t)snprintf(line + used, size - used, "; %s %s: %.*s",
                             element_name(run->types[f]), sqnr,
                             is_brief ? (int)strcspn(why, "<>") : (int)sizeof why, why);
    while (line[used - 1] == ' ')
      line[--used] = 0;
  }
}

static const char *why_none(const verdict *about) {
  if (about->tensors > 0) return "of some tensor f32 has not got the values";
  return about->empty > 0 ? "no finite value in a tensor of 1024 values or more"
                          : "every tensor has fewer than 1024 values";
}

/* "x 2^9: SQNR 31.5 dB, product 31.6, lost 0"; brief: "x 2^9: 31.5 dB, lost 0" */
static void show_outcome(char *text, size_t size, const outcome *of, bool is_brief) {
  char scales[32] = "as it is", sqnr[24], product[40] = "", lost[24];
  if (of->bits <= 8) {
    strcpy(scales, "x ");
    show_scales(scales + 2, sizeof scales - 2, of);
  }
  show_decibels(sqnr, sizeof sqnr, of->sqnr);
  show_lost(lost, sizeof lost, of->lost);
  if (!isnan(of->product) && !is_brief)
    snprintf(product, sizeof product,
             isinf(of->product) ? ", product exact" : ", product %.1f", of->product);
  snprintf(text, size, "%s:%s %s%s, lost %s", scales, is_brief ? "" : " SQNR", sqnr,
           product, lost);
}

void verdict_line(char *line, size_t size, const verdict_run *run, const verdict *about) {
  const choice *made = &about->made;
  char text[128];
  if (made->best == NOT_KNOWN) {
    snprintf(line, size, "%-11s none: %s", kind_name(about->is), why_none(about));
    return;
  }
  if (made->best == F32_ALONE) {
    show_broken(text, sizeof text, &made->of[run->candidate_count - 1]);
    snprintf(line, size, "%-11s f32: no narrower one keeps the rules (%s: %s)",
             kind_name(about->is), element_name(run->types[run->candidate_count - 1]),
             text);
    return;
  }
  for (int is_brief = 0; is_brief < 2; ++is_brief) {
    show_outcome(text, sizeof text, &made->of[made->best], is_brief > 0);
    snprintf(line, size, "%-11s %s %s", kind_name(about->is),
             element_name(run->types[made->best]), text);
    add_passed_over(line, size, run, made, is_brief > 0);
    if (strlen(line) <= 80) return;
  }
}

void small_line(char *line, size_t size, const verdict *kinds) {
  size_t small = 0, k;
  *line = 0;
  for (k = 0; k < KINDS; ++k)
    small += kinds[k].small;
  if (small > 0)
    snprintf(line, size, "%zu with fewer than %d values decide nothing", small,
             (int)LEAST_VALUES);
}

void candidate_line(char *line, size_t size, const verdict_run *run, const char *name,
                    const outcome *of) {
  const bool is_of_one = of->why >= BROKE_RANGE && of->why <= BROKE_LOST;
  char text[128], why[48];
  if (of->is_blocks) {
    show_decibels(why, sizeof why, of->sqnr);
    snprintf(text, sizeof text, "%.2f bits: SQNR %s", of->bits, why);
  } else {
    show_outcome(text, sizeof text, of, false);
  }
  show_broken(why, sizeof why, of);
  snprintf(line, size, "%-8s %s: %s%s%s", name, text, why, is_of_one ? " of " : "",
           is_of_one ? run->names[of->worst - run->rows] : "");
}
