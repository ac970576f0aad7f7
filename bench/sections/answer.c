/* SPDX-License-Identifier: MIT */
#include "sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpnum/training/advice.h>

#include "../core/formats.h"
#include "../verdict/verdict.h"

enum { NAME_WIDTH = 26, LINE = 256 };
static const char section[] = "advice";
static const mpnum_type narrow[] = {MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2};
static const char *const headings[KINDS] = {"weights", "activ.", "grads", "values"};

/* --- what is chosen */

/* 100 for "10.0"; 0: no GPU. */
static int capability_of(const figures *from) {
  int major = 0, minor = 0;
  const figure *found = figures_find(from, NULL, NULL, NULL, NULL, "compute_capability");
  if (!found || !found->words || sscanf(found->words, "%d.%d", &major, &minor) != 2)
    return 0;
  return 10 * major + minor;
}

static bool applies_scales(unsigned number, int capability) {
  const mpnum_blockscale_format format = block_format_of(number).format;
  return (mpnum_gpu_block_support(&format, capability) & MPNUM_GPU_BLOCK_SCALES) != 0;
}

/* All tensors of the files, and all formats: candidates first. */
static bool begin(verdict_run *run, const input *files, size_t file_count) {
  size_t i, t, total = 0;
  unsigned c;
  verdict_candidates(run, narrow, sizeof narrow / sizeof *narrow);
  for (unsigned f = 0; f < FORMAT_COUNT; ++f) {
    const mpnum_type type = bench_formats[f].type;
    for (c = 0; c < run->candidate_count && run->types[c] != type; ++c)
      ;
    if (c == run->candidate_count && type != MPNUM_TYPE_E8M0) /* scales, not values */
      run->types[run->type_count++] = type;
  }
  for (i = 0; i < file_count; ++i)
    total += files[i].tensor_count;
  run->rows = calloc(total + 1, sizeof *run->rows);
  for (i = 0; i < file_count && run->rows; ++i) {
    for (t = 0; t < files[i].tensor_count; ++t) {
      run->rows[run->count].file = &files[i];
      run->rows[run->count++].values = &files[i].tensors[t];
    }
  }
  return run->rows != NULL;
}

static void add_outcome(figures *to, const verdict_run *run, const char *name,
                        const outcome *of) {
  char line[LINE];
  candidate_line(line, sizeof line, run, name, of);
  figures_add(to, "bits", of->bits, "bit");
  figures_add(to, "sqnr", of->sqnr, "dB");
  figures_add(to, "product", of->product, "dB");
  figures_add(to, "overflow_share", of->clipped, "");
  figures_add(to, "underflow_share", of->flushed, "");
  figures_add(to, "lost_share", of->lost, "");
  if (!of->is_blocks) {
    figures_add(to, "least_scale_exponent", of->least_scale, "");
    figures_add(to, "most_scale_exponent", of->most_scale, "");
  }
  figures_say(to, "worst", "%s", of->worst->values->name);
  if (of->why != KEPT) figures_say(to, "why_not", "%s", broken_name(of->why));
  figures_say(to, "line", "%s", line);
}

static void add_verdict(figures *to, const verdict_run *run, const verdict *about,
                        int capability) {
  const char *title = kind_name(about->is);
  const choice *made = &about->made;
  char line[LINE];
  if (about->tensors + about->small + about->empty == 0) return;
  verdict_line(line, sizeof line, run, about);
  figures_at(to, section, title, "", "");
  figures_add(to, "tensors", (double)about->tensors, "");
  figures_add(to, "small", (double)about->small, "");
  figures_add(to, "empty", (double)about->empty, "");
  figures_say(to, "format", "%s", choice_name(run, made));
  if (run->blocks)
    figures_say(to, "block_format", "%s", made->block < 0 ? "-" : block_name(made));
  figures_say(to, "line", "%s", line);
  for (unsigned f = 0; f < run->type_count && made->of[f].worst; ++f) {
    const char *name = mpnum_type_name(run->types[f]);
    figures_at(to, section, title, name, "");
    add_outcome(to, run, name, &made->of[f]);
    figures_add(to, "is_candidate", f < run->candidate_count, "");
  }
  for (unsigned f = 0; f < BLOCK_FORMATS; ++f) {
    if (!made->blocks[f].worst) continue;
    figures_at(to, section, title, block_format_of(f).name, "");
    add_outcome(to, run, block_format_of(f).name, &made->blocks[f]);
    figures_add(to, "gpu_applies_scales", applies_scales(f, capability), "");
  }
}

/* False where a file could not be read. */
static bool judge(figures *to, verdict_run *run, int capability) {
  verdict kinds[KINDS];
  const char *subject = NULL;
  char line[LINE];
  refusal why;
  bool good = verdict_measure(run, &subject, &why);
  size_t i, left_out = 0;
  for (i = 0; i < KINDS && good; ++i)
    good = verdict_of(run, (kind)i, &kinds[i], &why);
  if (!good) return complain(subject, why.text), false;
  for (i = 0; i < KINDS; ++i)
    add_verdict(to, run, &kinds[i], capability);
  for (i = 0; i < run->count; ++i)
    left_out += run->rows[i].is == LEFT_OUT;
  small_line(line, sizeof line, kinds);
  figures_at(to, section, "", "", "");
  figures_add(to, "left_out", (double)left_out, "");
  if (line[0]) figures_say(to, "line", "%s", line);
  if (run->count == 0) figures_say(to, "line", "no floating-point values, so no verdict");
  return true;
}

bool answer_choose(figures *to, const input *files, size_t file_count, bool are_asked) {
  const int capability = capability_of(to);
  verdict_run run;
  memset(&run, 0, sizeof run);
  run.blocks = are_asked;
  for (unsigned f = 0; f < BLOCK_FORMATS; ++f) {
    run.is_left_out[f] = !are_asked && !applies_scales(f, capability);
    run.blocks = run.blocks || !run.is_left_out[f];
  }
  figures_at(to, section, "", "", "");
  if (file_count == 1) figures_say(to, "file", "%s", files->path);
  figures_add(to, "files", (double)file_count, "");
  bool good = begin(&run, files, file_count) ? judge(to, &run, capability)
                                             : (complain(NULL, "out of memory"), false);
  verdict_free(&run);
  return good;
}

/* --- the screen */

static const figure *of_kind(const figures *from, int k, const char *metric) {
  return figures_find(from, section, kind_name((kind)k), "", "", metric);
}

static bool has_verdict(const figures *from, int k) {
  const figure *tensors = of_kind(from, k, "tensors");
  return tensors && tensors->value > 0;
}

static void print_data(const figures *from, FILE *to) {
  const figure *left_out = figures_find(from, section, "", "", "", "left_out");
  const char *file = figures_words(from, section, "file");
  char name[4 * NAME_WIDTH];
  int k, listed = 0;
  shorten(name, sizeof name, NAME_WIDTH, base_name(file));
  if (!file[0])
    snprintf(name, sizeof name, "%.0f files", figures_value(from, section, "files"));
  fprintf(to, "%s: tensors of", name);
  for (k = 0; k < KINDS; ++k) {
    const figure *count = of_kind(from, k, "tensors");
    const double all = !count ? 0
                              : count->value + of_kind(from, k, "small")->value +
                                    of_kind(from, k, "empty")->value;
    if (all > 0) fprintf(to, "%s %s %.0f", listed++ ? "," : "", kind_name((kind)k), all);
  }
  if (left_out && left_out->value > 0)
    fprintf(to, "%s left out %.0f", listed ? "," : "", left_out->value);
  fputc('\n', to);
}

/* Rates of one device, and the share of a copy that both ways reach. */
typedef struct device {
  const char *title, *section;
  bool is_here;
} device;

static double rate_of(const figures *from, const device *of, const char *format,
                      const char *variant, const char *metric) {
  const figure *found = figures_find(from, of->section, NULL, format, variant, metric);
  return found ? found->value : (double)NAN;
}

static void print_cell(FILE *to, int width, int digits, double value) {
  if (isnan(value))
    fprintf(to, "%*s", width, "-");
  else
    fprintf(to, "%*.*f", width, digits, value);
}

static void print_rates(const figures *from, const device *of, const char *format,
                        FILE *to) {
  const double encode = rate_of(from, of, format, "encode", "share_of_copy");
  const double decode = rate_of(from, of, format, "decode", "share_of_copy");
  print_cell(to, 8, 0, rate_of(from, of, format, "encode", "rate"));
  print_cell(to, 8, 0, rate_of(from, of, format, "decode", "rate"));
  print_cell(to, 7, 2,
             isnan(encode) || isnan(decode) ? (double)NAN : fmin(encode, decode));
}

/* Whether a rule is broken, which a star behind the cell before says. */
static bool print_quality(const figures *from, int k, const char *format, FILE *to) {
  const figure *sqnr =
      figures_find(from, section, kind_name((kind)k), format, "", "sqnr");
  const figure *why =
      figures_find(from, section, kind_name((kind)k), format, "", "why_not");
  char text[16];
  snprintf(text, sizeof text, "-");
  if (sqnr)
    snprintf(text, sizeof text, isinf(sqnr->value) ? "exact" : "%.1f", sqnr->value);
  fprintf(to, "%8s", text);
  return why && strncmp(why->words, "less", 4) != 0 &&
         strncmp(why->words, "more", 4) != 0;
}

static const char *bold(bool colour) { return colour ? "\x1b[1m" : ""; }
static const char *plain(bool colour) { return colour ? "\x1b[0m" : ""; }

static bool is_chosen(const figures *from, const char *format) {
  for (int k = 0; k < KINDS; ++k) {
    const figure *chosen = of_kind(from, k, "format");
    if (chosen && strcmp(chosen->words, format) == 0) return true;
  }
  return false;
}

static void print_heading(const figures *from, const device *devices, FILE *to) {
  bool has_data = false;
  fprintf(to, "%13s", "");
  for (int d = 0; d < 2; ++d) {
    if (devices[d].is_here) fprintf(to, "%16s%7s", devices[d].title, "of");
  }
  for (int k = 0; k < KINDS; ++k)
    has_data = has_data || has_verdict(from, k);
  fprintf(to, "%s\n%-9s%4s", has_data ? "   SQNR, dB, of all tensors" : "", "format",
          "bits");
  for (int d = 0; d < 2; ++d) {
    if (devices[d].is_here) fprintf(to, "%8s%8s%7s", "encode", "decode", "copy");
  }
  for (int k = 0; k < KINDS; ++k) {
    if (has_verdict(from, k)) fprintf(to, " %8s", headings[k]);
  }
  fputc('\n', to);
}

static void print_table(const figures *from, bool colour, FILE *to) {
  device devices[] = {{"CPU arrays, GB/s", "speed", false},
                      {"GPU arrays, GB/s", "gpu_conversion", false}};
  bool is_lossy = false, star = false;
  int k;
  for (int d = 0; d < 2; ++d)
    devices[d].is_here = figures_find(from, devices[d].section, NULL, NULL, NULL, "rate");
  print_heading(from, devices, to);
  for (int i = 0; i < FORMAT_COUNT; ++i) {
    const mpnum_type type = bench_formats[i].type;
    const char *name = mpnum_type_name(type);
    if (type == MPNUM_TYPE_E8M0) continue;
    fprintf(to, "%s%-9s%4u", bold(colour && is_chosen(from, name)), name,
            format_bits(mpnum_format_of(type)));
    for (int d = 0; d < 2; ++d) {
      if (devices[d].is_here) print_rates(from, &devices[d], name, to);
    }
    for (k = 0, star = false; k < KINDS; ++k) {
      if (!has_verdict(from, k)) continue;
      fputs(star ? "*" : " ", to);
      star = print_quality(from, k, name, to);
      is_lossy = is_lossy || star;
    }
    fprintf(to, "%s%s\n", star ? "*" : "", plain(colour && is_chosen(from, name)));
  }
  if (is_lossy) fputs("* in some tensor too much is lost, by the rules of --why\n", to);
}

/* In place of a line that is empty. */
static void print_blocks(const figures *from, FILE *to) {
  int k, listed = 0;
  for (k = 0; k < KINDS; ++k) {
    const figure *chosen = of_kind(from, k, "block_format");
    if (!chosen) continue;
    fprintf(to, "%s%s %s", listed++ ? ", " : "in blocks   ", headings[k], chosen->words);
  }
  fputc('\n', to);
}

void answer_print(const figures *from, bool colour, FILE *to) {
  const figure *small = figures_find(from, section, "", "", "", "line");
  print_data(from, to);
  fprintf(to, "%s\n", small ? small->words : "");
  print_table(from, colour, to);
  print_blocks(from, to);
  for (int k = 0; k < KINDS; ++k) {
    const figure *line = of_kind(from, k, "line");
    if (!line) continue;
    fprintf(to, "%s%.*s%s%s\n", bold(colour), (int)strcspn(line->words, ":"), line->words,
            plain(colour), line->words + strcspn(line->words, ":"));
  }
}

void answer_why(const figures *from, FILE *to) {
  const char *part, *title = "";
  fprintf(
      to,
      "\nHow it was chosen (docs/choosing-a-format.md)\n"
      "Weights, activations and values: of the formats with the fewest bits the one\n"
      "with the highest SQNR, of the values and of their product, where the error of\n"
      "no tensor has more than %g %% of the power (20 dB) and no more than half of its\n"
      "values is lost. Gradients: of the formats with the fewest bits the one with the\n"
      "widest range, where of no tensor more than %g %% of the values becomes zero or "
      "is\n"
      "clipped. Shares are of values that are not 0; tensors with fewer than %d\n"
      "values decide nothing. What has 8 bits takes each tensor times the largest\n"
      "power of two that clips nothing, f16 and bf16 hold it as it is.\n"
      "Of block formats the one with the fewest bits whose SQNR is at most %d dB below\n"
      "that of a chosen format of 8 bits, else the highest SQNR. Without --why the\n"
      "verdict names those alone whose scales the GPU applies. No candidates: e3m4 and\n"
      "fnuz, which no GPU of NVIDIA multiplies, 6 and 4 bits with one scale for all.\n"
      "A kind is told by the first of these parts of a tensor's name, by input, output,\n"
      "hidden and logit where they are its last word:\n ",
      100 * LOST_SHARE, 100 * LOST_SHARE, (int)LEAST_VALUES, BLOCK_SLACK);
  for (unsigned m = 0; (part = kind_mark(m)) != NULL; ++m)
    fprintf(to, "%s %s", m == 7 ? "\n " : "", part);
  fprintf(to,
          "\n  (exp_avg, moment, optim: states of an optimizer, which are left out)\n");
  for (size_t i = 0; i < from->count; ++i) {
    const figure *at = &from->rows[i];
    const figure *candidate =
        figures_find(from, section, at->source, at->name, "", "is_candidate");
    if (strcmp(at->section, section) != 0 || strcmp(at->metric, "line") != 0 ||
        !at->name[0] || (candidate && candidate->value <= 0))
      continue;
    if (strcmp(title, at->source) != 0) fprintf(to, "\n%s\n", title = at->source);
    fprintf(to, "  %s\n", at->words);
  }
}
