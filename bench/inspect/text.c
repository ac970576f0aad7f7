/* SPDX-License-Identifier: MIT */
/* The table, and the totals below it. A column in which no row has anything is left out,
 * so that most models fit 80 columns. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <mpnum/core/query.h>

#include "inspect.h"

enum { NOTES = 4 };

typedef struct listed {
  const inspection *run;
  const row *about;
  const fit *best; /* NULL: none */
} listed;

typedef struct column {
  const char *heading;
  void (*show)(char *cell, const listed *at);
  const char *nothing; /* left out where every row shows this */
  bool gives_way;      /* to block formats, for the width */
} column;

void show_shape(char *dst, size_t size, const tensor *values) {
  size_t used = 0;
  snprintf(dst, size, "scalar");
  for (unsigned i = 0; i < values->rank && used < size; ++i)
    used += (size_t)snprintf(dst + used, size - used, i ? "x%" PRIu64 : "%" PRIu64,
                             values->shape[i]);
}

void show_place(char *dst, size_t size, const tensor *values, uint64_t index) {
  uint64_t at[RANK_LIMIT];
  for (unsigned i = 0; i < values->rank; ++i) {
    const unsigned d = values->fortran_order ? i : values->rank - 1 - i;
    at[d] = index % values->shape[d];
    index /= values->shape[d];
  }
  size_t used = (size_t)snprintf(dst, size, "[");
  for (unsigned i = 0; i < values->rank && used < size; ++i)
    used +=
        (size_t)snprintf(dst + used, size - used, i ? ", %" PRIu64 : "%" PRIu64, at[i]);
  if (used < size) snprintf(dst + used, size - used, "]");
}

void show_share(char cell[CELL], double part, double whole) {
  const double share = 100 * part / whole;
  if (part <= 0) {
    snprintf(cell, CELL, "0");
  } else if (share < 0.01) {
    snprintf(cell, CELL, "<.01");
  } else if (share >= 99.95 && part < whole) {
    snprintf(cell, CELL, ">99");
  } else {
    snprintf(cell, CELL, share < 10 ? "%.2f" : share < 99.95 ? "%.1f" : "%.0f", share);
  }
}

static void show_type(char *cell, const listed *at) {
  snprintf(cell, CELL, "%s", stored_name(at->about->values));
}

static void show_row_shape(char *cell, const listed *at) {
  char whole[24 * RANK_LIMIT];
  show_shape(whole, sizeof whole, at->about->values);
  shorten(cell, CELL, at->run->chosen->wide ? CELL - 1 : 15, whole);
}

void show_magnitude(char cell[CELL], double amax) {
  snprintf(cell, CELL, amax > 0 && (amax < 1e-3 || amax >= 1e5) ? "%.1e" : "%.4g", amax);
}

static void show_amax(char *cell, const listed *at) {
  show_magnitude(cell, at->about->found.amax);
}

static void show_zeros(char *cell, const listed *at) {
  show_share(cell, (double)at->about->found.zeros, (double)at->about->values->count);
}

static void show_subnormals(char *cell, const listed *at) {
  show_share(cell, (double)at->about->found.subnormals, (double)at->about->values->count);
}

/* 3@17: three of them, the first at index 17 */
static void show_nonfinite(char *cell, const listed *at) {
  const findings *found = &at->about->found;
  snprintf(cell, CELL, "-");
  if (found->infs + found->nans > 0)
    snprintf(cell, CELL, "%" PRIu64 "@%" PRIu64, found->infs + found->nans,
             found->first_nonfinite);
}

static void show_best(char *cell, const listed *at) {
  snprintf(cell, CELL, "%s", choice_name(&at->run->all, &at->about->chosen));
}

static void show_scale(char *cell, const listed *at) {
  snprintf(cell, CELL, at->best ? "2^%d" : "-", at->best ? at->best->scale_exponent : 0);
}

static void show_quality(char *cell, double sqnr) {
  if (isnan(sqnr)) {
    snprintf(cell, CELL, "-");
  } else if (sqnr >= 100) { /* no error, or one value that outweighs all others */
    snprintf(cell, CELL, isinf(sqnr) ? "exact" : ">99");
  } else {
    snprintf(cell, CELL, "%.1f", sqnr);
  }
}

static void show_sqnr(char *cell, const listed *at) {
  show_quality(cell, at->best ? at->best->sqnr : (double)NAN);
}

static void show_clipped(char *cell, const listed *at) {
  show_share(cell, at->best ? at->best->clipped : 0, nonzero_of(at->about));
}

static void show_flushed(char *cell, const listed *at) {
  show_share(cell, at->best ? at->best->flushed : 0, nonzero_of(at->about));
}

/* What is wrong with it, or nothing. */
static void show_survival(char *cell, const row *about, const fit *what) {
  snprintf(cell, CELL, "%s",
           survives(about, what) ? "ok"
           : what->clipped > 0   ? "clips"
                                 : "flush");
}

static void show_f16(char *cell, const listed *at) {
  show_survival(cell, at->about, fit_of_f16(at->run, at->about));
}

static void show_bf16(char *cell, const listed *at) {
  show_survival(cell, at->about, fit_of_bf16(at->run, at->about));
}

static void show_block(char *cell, const listed *at) {
  const char *name = shown_block(at->run, &at->about->chosen);
  snprintf(cell, CELL, "%s", name ? name : "-");
}

static void show_block_sqnr(char *cell, const listed *at) {
  const int block = at->run->chosen->blocks ? at->about->chosen.block : -1;
  show_quality(cell, block < 0 ? (double)NAN : at->about->blocks[block].sqnr[0]);
}

static const column columns_of_rows[] = {
    {"type", show_type, NULL, false},      {"shape", show_row_shape, NULL, false},
    {"amax", show_amax, NULL, false},      {"zero%", show_zeros, "0", false},
    {"subn%", show_subnormals, "0", true}, {"Inf/NaN", show_nonfinite, "-", false},
    {"best", show_best, NULL, false},      {"scale", show_scale, NULL, false},
    {"SQNR", show_sqnr, NULL, false},      {"clip%", show_clipped, "0", false},
    {"flush%", show_flushed, "0", false},  {"f16", show_f16, NULL, true},
    {"bf16", show_bf16, NULL, true},       {"blocks", show_block, "-", false},
    {"SQNR", show_block_sqnr, "-", false},
};
enum { COLUMNS = sizeof columns_of_rows / sizeof *columns_of_rows };

/* --- the table */

typedef struct layout {
  size_t widths[COLUMNS]; /* 0: left out */
  size_t name_width;
} layout;

size_t screen_width(void) {
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < USUAL_WIDTH)
    return USUAL_WIDTH;
  return size.ws_col;
}

static listed listed_of(const inspection *run, size_t index) {
  const row *about = run->order[index];
  return (listed){run, about, best_of(about)};
}

static void fit_columns(const inspection *run, layout *made) {
  size_t i, c, rest = 0, longest = 4;
  memset(made, 0, sizeof *made);
  for (c = 0; c < COLUMNS; ++c) {
    const column *about = &columns_of_rows[c];
    bool has_any = !about->nothing;
    for (i = 0; i < run->shown; ++i) {
      char cell[CELL];
      const listed at = listed_of(run, i);
      about->show(cell, &at);
      has_any = has_any || strcmp(cell, about->nothing) != 0;
      if (strlen(cell) > made->widths[c]) made->widths[c] = strlen(cell);
    }
    if (strlen(about->heading) > made->widths[c])
      made->widths[c] = strlen(about->heading);
    if (about->gives_way && run->chosen->blocks) has_any = false;
    if (!has_any) made->widths[c] = 0;
    rest += has_any ? made->widths[c] + 1 : 0;
  }
  for (i = 0; i < run->shown; ++i) {
    const size_t width = columns(run->order[i]->values->name);
    if (width > longest) longest = width;
  }
  made->name_width = longest;
  if (run->chosen->wide || longest + rest <= screen_width()) return;
  made->name_width =
      screen_width() > rest + NAME_LEAST ? screen_width() - rest : NAME_LEAST;
}

/* Of the rows shown, in their order; NULL when out of memory. */
static char **short_names(const inspection *run, size_t width) {
  const char **whole = malloc((run->shown + 1) * sizeof *whole);
  char **made = NULL;
  for (size_t i = 0; i < run->shown && whole; ++i)
    whole[i] = run->order[i]->values->name;
  if (whole) made = shorten_apart(whole, run->shown, width);
  free(whole);
  return made;
}

/* Red: Inf, NaN, or nothing of 8 bits; yellow: not in f16 or bf16. */
static const char *colour_of(const inspection *run, const row *about) {
  if (about->found.infs + about->found.nans > 0 || !is_narrow(about)) return "\033[31m";
  if (!survives(about, fit_of_f16(run, about)) ||
      !survives(about, fit_of_bf16(run, about)))
    return "\033[33m";
  return "";
}

static bool print_table(const inspection *run, FILE *to) {
  const bool coloured = wants_colour(STDOUT_FILENO);
  layout made;
  fit_columns(run, &made);
  char **names = short_names(run, made.name_width);
  if (!names) return false;
  fprintf(to, "%-*s", (int)made.name_width, "tensor");
  for (size_t c = 0; c < COLUMNS; ++c) {
    if (made.widths[c] > 0)
      fprintf(to, " %*s", (int)made.widths[c], columns_of_rows[c].heading);
  }
  fputc('\n', to);
  for (size_t i = 0; i < run->shown; ++i) {
    const listed at = listed_of(run, i);
    const char *colour = coloured ? colour_of(run, at.about) : "";
    fputs(colour, to);
    fprintf(to, "%s%*s", names[i], (int)(made.name_width - columns(names[i])), "");
    for (size_t c = 0; c < COLUMNS; ++c) {
      char cell[CELL];
      columns_of_rows[c].show(cell, &at);
      if (made.widths[c] > 0) fprintf(to, " %*s", (int)made.widths[c], cell);
    }
    fputs(colour[0] ? "\033[0m\n" : "\n", to);
  }
  if (run->shown < run->large)
    fprintf(to, "... and %zu more (--top %zu)\n", run->large - run->shown, run->shown);
  shorten_free(names, run->shown);
  return true;
}

/* --- totals */

typedef struct totals {
  size_t tensors, nonfinite, f32, none, not_f16, not_bf16, sampled;
  size_t by_candidate[FIT_LIMIT];
  uint64_t values, bytes;
  double amax;
} totals;

/* Of the rows from one on in their order; file: NULL for all */
static totals total_of(const inspection *run, size_t first, const input *file) {
  totals sum;
  memset(&sum, 0, sizeof sum);
  for (size_t i = first; i < run->all.count; ++i) {
    const row *about = run->order[i];
    if (file && about->file != file) continue;
    ++sum.tensors;
    sum.values += about->values->count;
    sum.bytes += stored_bytes(about->values);
    sum.nonfinite += about->found.infs + about->found.nans > 0;
    sum.f32 += about->chosen.best == F32_ALONE;
    sum.none += about->chosen.best == NOT_KNOWN;
    sum.not_f16 += !survives(about, fit_of_f16(run, about));
    sum.not_bf16 += !survives(about, fit_of_bf16(run, about));
    sum.sampled += about->sampled;
    if (about->chosen.best >= 0) ++sum.by_candidate[about->chosen.best];
    if (about->found.amax > sum.amax) sum.amax = about->found.amax;
  }
  return sum;
}

void show_size(char cell[SIZE_CELL], uint64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double size = (double)bytes;
  size_t unit = 0;
  for (; size >= 1024 && unit < 4; ++unit)
    size /= 1024;
  snprintf(cell, SIZE_CELL, unit ? "%.1f %s" : "%.0f %s", size, units[unit]);
}

static void print_totals(const inspection *run, const char *name, const totals *sum,
                         FILE *to) {
  char shown[4 * USUAL_WIDTH + 4], size[CELL];
  shorten(shown, sizeof shown, USUAL_WIDTH - 2, name);
  show_size(size, sum->bytes);
  fprintf(to, "\n%s\n  %zu tensor%s, %" PRIu64 " values, %s, amax %.4g\n  best:", shown,
          sum->tensors, sum->tensors == 1 ? "" : "s", sum->values, size, sum->amax);
  for (unsigned i = 0; i < run->all.candidate_count; ++i) {
    if (sum->by_candidate[i] > 0 || i + 2 < run->all.candidate_count)
      fprintf(to, " %s %zu,", element_name(run->all.types[i]), sum->by_candidate[i]);
  }
  if (sum->f32 > 0) fprintf(to, " f32 %zu,", sum->f32);
  fprintf(to, " none %zu; Inf or NaN in %zu; not in f16 %zu, bf16 %zu\n", sum->none,
          sum->nonfinite, sum->not_f16, sum->not_bf16);
}

/* Of one kind, with --details of each candidate. */
static void print_verdict(const inspection *run, const verdict *about, FILE *to) {
  char line[256];
  if (about->tensors + about->small + about->empty == 0) return;
  verdict_line(line, sizeof line, &run->all, about);
  fprintf(to, "%s\n", line);
  if (about->made.block >= 0 && run->chosen->blocks && !run->chosen->details) {
    candidate_line(line, sizeof line, &run->all, block_name(&about->made),
                   &about->made.blocks[about->made.block]);
    fprintf(to, "  in blocks %s\n", line);
  }
  if (!run->chosen->details || about->tensors == 0) return;
  for (unsigned f = 0; f < run->all.candidate_count; ++f) {
    candidate_line(line, sizeof line, &run->all, element_name(run->all.types[f]),
                   &about->made.of[f]);
    fprintf(to, "  %s\n", line);
  }
  for (unsigned f = 0; f < BLOCK_FORMATS && about->made.blocks[f].worst; ++f) {
    candidate_line(line, sizeof line, &run->all, block_format_of(f).name,
                   &about->made.blocks[f]);
    fprintf(to, "  %s\n", line);
  }
}

static void print_verdicts(const inspection *run, FILE *to) {
  fputc('\n', to);
  for (int k = 0; k < KINDS; ++k)
    print_verdict(run, &run->kinds[k], to);
}

/* Those that have no rows; else that some rows decide nothing. */
static void print_small(const inspection *run, FILE *to) {
  const totals sum = total_of(run, run->large, NULL);
  char line[80], size[CELL];
  small_line(line, sizeof line, run->kinds);
  if (sum.tensors > 0) {
    show_size(size, sum.bytes);
    fprintf(to, "Small: %zu tensor%s of fewer than %d values, %s, amax %.4g", sum.tensors,
            sum.tensors == 1 ? "" : "s", (int)LEAST_VALUES, size, sum.amax);
    fprintf(to, "; not in f16 %zu, bf16 %zu\n", sum.not_f16, sum.not_bf16);
  } else if (line[0]) {
    fprintf(to, "Tensors: %s\n", line);
  }
}

void print_notes(const input *file, FILE *to) {
  for (size_t n = 0; n < file->note_count && n < NOTES; ++n)
    fprintf(to, "  %s\n", file->notes[n]);
  if (file->note_count > NOTES)
    fprintf(to, "  ... and %zu more left out\n", file->note_count - NOTES);
}

bool print_text(const inspection *run, FILE *to) {
  const totals all = total_of(run, 0, NULL);
  if (run->all.count == 0)
    fputs("no floating-point values, so no verdict\n", to);
  else if (!run->chosen->details && !print_table(run, to))
    return false;
  for (size_t n = 0; n < run->shown && run->chosen->details; ++n)
    print_details(run, run->order[n], to);
  for (size_t f = 0; f < run->from.count; ++f) {
    const input *file = &run->from.files[f];
    const totals sum = total_of(run, 0, file);
    if (sum.tensors > 0) print_totals(run, file->path, &sum, to);
    print_notes(file, to);
  }
  if (run->from.count > 1) print_totals(run, "All files", &all, to);
  print_verdicts(run, to);
  print_small(run, to);
  print_whole(run, to);
  if (all.sampled > 0)
    fprintf(to,
            "\nSQNR and flush%% of %zu tensor%s come from a sample of %d values;\n"
            "--exact reads all of them again.\n",
            all.sampled, all.sampled == 1 ? "" : "s", SAMPLE);
  return !ferror(to);
}

/* --- details */

enum { BAR_AND_MARKS = 64, MARK = 6, LINES = 24 };

/* How a format, at its scale, holds magnitudes from 2^exponent: '|' normal, ':' with
 * fewer bits, ' ' not at all. */
static char mark_of(const fit *what, int exponent) {
  const mpnum_format format = mpnum_format_of(what->type);
  const int scaled = exponent + what->scale_exponent;
  int least;
  if (scaled >= mpnum_format_max_exp(format)) return ' ';
  if (scaled >= mpnum_format_min_exp(format) - 1) return '|';
  frexpf(mpnum_format_true_min(format), &least);
  return scaled >= least - 2 ? ':' : ' ';
}

static void print_fit(const row *about, unsigned f, FILE *to) {
  char sqnr[CELL], product[CELL], clipped[CELL], flushed[CELL], scale[CELL], why[CELL];
  const double count = nonzero_of(about);
  const fit *what = &about->fits[f];
  const bool is_best = (int)f == about->chosen.best;
  show_broken(why, sizeof why, &about->chosen.of[f]);
  show_quality(sqnr, what->sqnr);
  show_quality(product, what->product);
  show_share(clipped, what->clipped, count);
  show_share(flushed, what->flushed, count);
  snprintf(scale, sizeof scale, "2^%d", what->scale_exponent);
  fprintf(to, "  %-8s %6s %8s %8s %6s %7s  %s\n", element_name(what->type), scale, sqnr,
          product, clipped, flushed, is_best ? "best" : why);
}

/* Best first, by blocks in rows. */
static void print_blocks(const row *about, FILE *to) {
  const double count = nonzero_of(about), values = (double)about->values->count;
  bool printed[BLOCK_FORMATS] = {false};
  if (!about->has_blocks) return;
  fprintf(to, "\n  %-8s %5s %8s %6s %7s %10s\n", "blocks", "bits", "SQNR dB", "clip%",
          "flush%", "in columns");
  for (unsigned k = 0; k < BLOCK_FORMATS; ++k) {
    char sqnr[CELL], columns_sqnr[CELL], clipped[CELL], flushed[CELL], why[CELL];
    unsigned next = BLOCK_FORMATS;
    for (unsigned f = 0; f < BLOCK_FORMATS; ++f) {
      if (!printed[f] && (next == BLOCK_FORMATS ||
                          about->blocks[f].sqnr[0] > about->blocks[next].sqnr[0]))
        next = f;
    }
    printed[next] = true;
    const block_fit *what = &about->blocks[next];
    show_quality(sqnr, what->sqnr[0]);
    show_quality(columns_sqnr, what->sqnr[1]);
    show_share(clipped, what->clipped[0], count);
    show_share(flushed, what->flushed[0], count);
    show_broken(why, sizeof why, &about->chosen.blocks[next]);
    fprintf(to, "  %-8s %5.2f %8s %6s %7s %10s  %s\n", block_format_of(next).name,
            8 * what->bytes / values, sqnr, clipped, flushed, columns_sqnr,
            (int)next == about->chosen.block ? "best" : why);
  }
}

/* Of the counts from `low` on; the marks are those of the highest exponent that occurs.
 */
static void print_bin(const inspection *run, const row *about, int low, int step,
                      uint64_t most, FILE *to) {
  const uint64_t *counts = about->found.histogram.counts;
  const int width = BAR_AND_MARKS - MARK * (int)run->all.candidate_count;
  char label[CELL], share[CELL];
  uint64_t sum = 0;
  int k, shown = low, length;
  for (k = low; k < low + step && k < 255; ++k) {
    sum += counts[k];
    if (counts[k] > 0) shown = k;
  }
  length = (int)(width * ((double)sum / (double)most) + 0.5);
  if (sum > 0 && length == 0) length = 1;
  snprintf(label, sizeof label, "2^%d", low - 127);
  show_share(share, (double)sum, (double)about->values->count);
  fprintf(to, "  %7s %5s ", label, share);
  for (k = 0; k < width; ++k)
    fputc(k < length ? '#' : ' ', to);
  for (unsigned f = 0; f < run->all.candidate_count; ++f)
    fprintf(to, "%*c", MARK, mark_of(&about->fits[f], shown - 127));
  fputc('\n', to);
}

static void print_histogram(const inspection *run, const row *about, FILE *to) {
  const uint64_t *counts = about->found.histogram.counts;
  int low = 0, high = 254, step, k, at;
  uint64_t most = 0, sum;
  while (low < 255 && counts[low] == 0)
    ++low;
  while (high > low && counts[high] == 0)
    --high;
  if (low == 255) return;
  step = (high - low) / LINES + 1;
  for (k = low; k <= high; k += step) {
    for (sum = 0, at = k; at < k + step && at < 255; ++at)
      sum += counts[at];
    if (sum > most) most = sum;
  }
  fprintf(to, "\n  %7s %5s %-*s", "from", "%",
          BAR_AND_MARKS - MARK * (int)run->all.candidate_count, "");
  for (unsigned f = 0; f < run->all.candidate_count; ++f)
    fprintf(to, "%*.5s", MARK, element_name(about->fits[f].type));
  fputc('\n', to);
  for (k = high - (high - low) % step; k >= low; k -= step)
    print_bin(run, about, k, step, most, to);
}

/* In full. */
static void print_name(const char *name, FILE *to) {
  char *shown = copy_text(name);
  if (!shown) return;
  clean_text(shown);
  fputs(shown, to);
  free(shown);
}

void print_details(const inspection *run, const row *about, FILE *to) {
  const findings *found = &about->found;
  char place[24 * RANK_LIMIT], shape[24 * RANK_LIMIT];
  char zeros[CELL], subnormals[CELL];
  show_shape(shape, sizeof shape, about->values);
  print_name(about->values->name, to);
  fprintf(to, "\n  %s %s, %" PRIu64 " values, amax %.6g", stored_name(about->values),
          shape, about->values->count, found->amax);
  show_share(zeros, (double)found->zeros, (double)about->values->count);
  show_share(subnormals, (double)found->subnormals, (double)about->values->count);
  fprintf(to, "\n  %s %% zeros, %s %% subnormals", zeros, subnormals);
  if (found->infs + found->nans > 0) {
    show_place(place, sizeof place, about->values, found->first_nonfinite);
    fprintf(to, ", %" PRIu64 " Inf, %" PRIu64 " NaN, the first at %s", found->infs,
            found->nans, place);
  }
  if (found->too_large > 0) fprintf(to, ", %" PRIu64 " past f32", found->too_large);
  fprintf(to, "\n\n  %-8s %6s %8s %8s %6s %7s\n", "format", "scale", "SQNR dB", "product",
          "clip%", "flush%");
  for (unsigned f = 0; f < run->all.candidate_count; ++f)
    print_fit(about, f, to);
  print_blocks(about, to);
  print_histogram(run, about, to);
  fputc('\n', to);
}
