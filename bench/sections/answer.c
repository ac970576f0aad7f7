/* SPDX-License-Identifier: MIT */
#include "answer.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include <mpnum/advice.h>

#include "../core/formats.h"
#include "../input/block_fits.h"

enum { WIDTH = 80, NAME_WIDTH = 26 };
static const char section[] = "advice";

/* A candidate is taken where no tensor of its kind loses more. */
static const double lost_share = 0.01;

/* What a tensor is by its name, and the formats it might be kept in, best first. */
typedef enum kind { WEIGHTS, ACTIVATIONS, GRADIENTS, VALUES, KINDS, LEFT_OUT } kind;
enum { CANDIDATES = 4 };
typedef struct kind_about {
  const char *name, *heading;
  mpnum_type candidates[CANDIDATES]; /* F32 ends them: it is what there is */
} kind_about;
static const kind_about kinds[KINDS] = {
    {"weights",
     "weights",
     {MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2, MPNUM_TYPE_F16, MPNUM_TYPE_BF16}},
    {"activations",
     "activ.",
     {MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2, MPNUM_TYPE_F16, MPNUM_TYPE_BF16}},
    {"gradients",
     "grads",
     {MPNUM_TYPE_E5M2, MPNUM_TYPE_F16, MPNUM_TYPE_BF16, MPNUM_TYPE_F32}},
    {"values",
     "values",
     {MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2, MPNUM_TYPE_F16, MPNUM_TYPE_BF16}},
};
/* Parts of names, in lower case; the first that is found decides. */
static const struct {
  const char *part;
  kind is;
} marks[] = {
    {"grad", GRADIENTS},     {"exp_avg", LEFT_OUT},  {"moment", LEFT_OUT},
    {"optim", LEFT_OUT},     {"weight", WEIGHTS},    {"bias", WEIGHTS},
    {"kernel", WEIGHTS},     {"embed", WEIGHTS},     {"proj", WEIGHTS},
    {"activ", ACTIVATIONS},  {"input", ACTIVATIONS}, {"output", ACTIVATIONS},
    {"hidden", ACTIVATIONS}, {"logit", ACTIVATIONS},
};

static kind kind_of(const char *title) {
  char name[256];
  size_t i;
  for (i = 0; title[i] != 0 && i + 1 < sizeof name; ++i)
    name[i] = (char)tolower((unsigned char)title[i]);
  name[i] = 0;
  for (i = 0; i < sizeof marks / sizeof *marks; ++i) {
    if (strstr(name, marks[i].part)) return marks[i].is;
  }
  return VALUES;
}

const char *answer_kind(const char *title) {
  const kind is = kind_of(title);
  return is == LEFT_OUT ? NULL : kinds[is].name;
}

/* A format for all tensors of a kind: the worst of each figure. */
typedef struct outcome {
  unsigned tensors;
  double sqnr, overflow, underflow, lost, least_scale, most_scale;
  const char *worst; /* the tensor that loses most */
} outcome;

static bool is_scaled(mpnum_type type) { return mpnum_needs_loss_scaling(type) != 0; }

static double figure_of(const figures *from, const char *source, mpnum_type type,
                        const char *metric) {
  const char *variant = is_scaled(type) ? "times 2^k" : "as they are";
  const figure *found =
      figures_find(from, "accuracy", source, mpnum_type_name(type), variant, metric);
  return found ? found->value : (double)NAN;
}

static void add_tensor(outcome *all, const figures *from, const figure *about,
                       mpnum_type type) {
  const char *source = about->source;
  const double sqnr = figure_of(from, source, type, "sqnr");
  const double overflow = figure_of(from, source, type, "overflow_share");
  const double underflow = figure_of(from, source, type, "underflow_share");
  double scale = is_scaled(type) ? figure_of(from, source, type, "scale_exponent") : 0;
  if (isnan(sqnr)) return; /* nothing but zeros, or that scaling was not wanted */
  if (all->tensors++ == 0) {
    all->sqnr = sqnr;
    all->least_scale = all->most_scale = scale;
    all->worst = about->words;
  }
  if (overflow + underflow > all->lost) all->worst = about->words;
  all->sqnr = fmin(all->sqnr, sqnr);
  all->overflow = fmax(all->overflow, overflow);
  all->underflow = fmax(all->underflow, underflow);
  all->lost = fmax(all->lost, overflow + underflow);
  all->least_scale = fmin(all->least_scale, scale);
  all->most_scale = fmax(all->most_scale, scale);
}

static bool is_tensor(const figure *row) {
  return strcmp(row->section, "accuracy") == 0 && strcmp(row->metric, "tensor") == 0 &&
         strncmp(row->source, "synthetic: ", 11) != 0;
}

static outcome outcome_of(const figures *from, kind wanted, mpnum_type type) {
  static const outcome none;
  outcome all = none;
  size_t i;
  for (i = 0; i < from->count; ++i) {
    if (is_tensor(&from->rows[i]) && kind_of(from->rows[i].words) == wanted)
      add_tensor(&all, from, &from->rows[i], type);
  }
  return all;
}

static unsigned tensors_of(const figures *from, kind wanted) {
  unsigned count = 0;
  size_t i;
  for (i = 0; i < from->count; ++i)
    count += is_tensor(&from->rows[i]) && kind_of(from->rows[i].words) == wanted;
  return count;
}

static void add_outcome(figures *to, const outcome *all) {
  figures_add(to, "sqnr", all->sqnr, "dB");
  figures_add(to, "overflow_share", all->overflow, "");
  figures_add(to, "underflow_share", all->underflow, "");
  figures_add(to, "lost_share", all->lost, "");
  figures_add(to, "least_scale_exponent", all->least_scale, "");
  figures_add(to, "most_scale_exponent", all->most_scale, "");
  figures_say(to, "worst", "%s", all->worst);
}

static void choose(figures *to, kind wanted) {
  const kind_about *about = &kinds[wanted];
  mpnum_type chosen = MPNUM_TYPE_F32;
  int i;
  for (i = 0; i < CANDIDATES && about->candidates[i] != MPNUM_TYPE_F32; ++i) {
    const outcome all = outcome_of(to, wanted, about->candidates[i]);
    if (all.tensors == 0) continue;
    figures_at(to, section, about->name, mpnum_type_name(about->candidates[i]), "");
    add_outcome(to, &all);
    if (chosen == MPNUM_TYPE_F32 && all.lost <= lost_share) chosen = about->candidates[i];
  }
  figures_at(to, section, about->name, "", "");
  figures_add(to, "tensors", tensors_of(to, wanted), "");
  figures_say(to, "format", "%s", mpnum_type_name(chosen));
}

void answer_choose(figures *to) {
  int i;
  for (i = 0; i < KINDS; ++i) {
    if (tensors_of(to, (kind)i) > 0) choose(to, (kind)i);
  }
}

/* "2^9", "2^21 to 2^23" */
static void show_scale(char *text, size_t size, double least, double most) {
  if (least < most)
    snprintf(text, size, "2^%.0f to 2^%.0f", least, most);
  else
    snprintf(text, size, "2^%.0f", least);
}
static void show_share(char *text, size_t size, double share) {
  if (share <= 0)
    snprintf(text, size, "0");
  else if (share < 0.0001)
    snprintf(text, size, "<0.01 %%");
  else
    snprintf(text, size, "%.3g %%", 100 * share);
}
static void show_sqnr(char *text, size_t size, double sqnr) {
  if (isinf(sqnr))
    snprintf(text, size, "exact");
  else
    snprintf(text, size, "%.1f dB", sqnr);
}

static void print_data(const figures *from, FILE *to) {
  unsigned left_out = tensors_of(from, LEFT_OUT), files = 0;
  const char *file = "";
  size_t i;
  int k, listed = 0;
  char name[4 * NAME_WIDTH];
  for (i = 0; i < from->count; ++i) {
    const figure *row = &from->rows[i];
    if (strcmp(row->section, "accuracy") != 0 || strcmp(row->metric, "file") != 0 ||
        strcmp(row->words, "synthetic") == 0 || strcmp(row->words, file) == 0)
      continue;
    file = row->words;
    ++files;
  }
  if (files == 0) return;
  shorten(name, sizeof name, NAME_WIDTH,
          strrchr(file, '/') ? strrchr(file, '/') + 1 : file);
  if (files == 1)
    fprintf(to, "%s: tensors of", name);
  else
    fprintf(to, "%u files: tensors of", files);
  for (k = 0; k < KINDS; ++k) {
    const unsigned count = tensors_of(from, (kind)k);
    if (count > 0) fprintf(to, "%s %s %u", listed++ ? "," : "", kinds[k].name, count);
  }
  if (left_out > 0) fprintf(to, "%s left out %u", listed ? "," : "", left_out);
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

/* Whether more than the share is lost, which a star behind the cell before says. */
static bool print_quality(const figures *from, kind wanted, mpnum_type type, FILE *to) {
  const outcome all = outcome_of(from, wanted, type);
  char text[16];
  snprintf(text, sizeof text, isinf(all.sqnr) ? "exact" : "%.1f", all.sqnr);
  fprintf(to, "%8s", all.tensors == 0 ? "-" : text);
  return all.lost > lost_share;
}

static const char *bold(bool colour) { return colour ? "\x1b[1m" : ""; }
static const char *plain(bool colour) { return colour ? "\x1b[0m" : ""; }

static bool is_chosen(const figures *from, const char *format) {
  int k;
  for (k = 0; k < KINDS; ++k) {
    const figure *chosen = figures_find(from, section, kinds[k].name, "", "", "format");
    if (chosen && strcmp(chosen->words, format) == 0) return true;
  }
  return false;
}

static void print_table(const figures *from, bool colour, FILE *to) {
  device devices[] = {{"CPU arrays, GB/s", "speed", false},
                      {"GPU arrays, GB/s", "gpu_conversion", false}};
  bool is_lossy = false, has_data = false, star = false;
  int i, k, d;
  fprintf(to, "\n%13s", "");
  for (d = 0; d < 2; ++d) {
    devices[d].is_here = figures_find(from, devices[d].section, NULL, NULL, NULL, "rate");
    if (devices[d].is_here) fprintf(to, "%16s%7s", devices[d].title, "of");
  }
  for (k = 0; k < KINDS; ++k)
    has_data = has_data || tensors_of(from, (kind)k) > 0;
  fprintf(to, "%s\n%-9s%4s", has_data ? "   SQNR, dB, of the worst tensor" : "", "format",
          "bits");
  for (d = 0; d < 2; ++d) {
    if (devices[d].is_here) fprintf(to, "%8s%8s%7s", "encode", "decode", "copy");
  }
  for (k = 0; k < KINDS; ++k) {
    if (tensors_of(from, (kind)k) > 0) fprintf(to, " %8s", kinds[k].heading);
  }
  fputc('\n', to);
  for (i = 0; i < FORMAT_COUNT; ++i) {
    const mpnum_type type = bench_formats[i].type;
    const char *name = mpnum_type_name(type);
    if (type == MPNUM_TYPE_E8M0) continue; /* scales, not values */
    fprintf(to, "%s%-9s%4u", bold(colour && is_chosen(from, name)), name,
            format_bits(mpnum_format_of(type)));
    for (d = 0; d < 2; ++d) {
      if (devices[d].is_here) print_rates(from, &devices[d], name, to);
    }
    for (k = 0, star = false; k < KINDS; ++k) {
      if (tensors_of(from, (kind)k) == 0) continue;
      fputs(star ? "*" : " ", to);
      star = print_quality(from, (kind)k, type, to);
      is_lossy = is_lossy || star;
    }
    fprintf(to, "%s%s\n", star ? "*" : "", plain(colour && is_chosen(from, name)));
  }
  if (is_lossy)
    fprintf(to,
            "* more than %g %% of the values of a tensor become zero or are clipped\n",
            100 * lost_share);
}

static void print_verdict(const figures *from, kind about, bool colour, FILE *to) {
  const char *name = kinds[about].name;
  const figure *chosen = figures_find(from, section, name, "", "", "format");
  char scale[48], sqnr[24], over[24], under[24];
  outcome all;
  int i;
  if (!chosen) return;
  fprintf(to, "%s%-11s %s", bold(colour), name, chosen->words);
  for (i = 0; i < FORMAT_COUNT; ++i) {
    if (strcmp(mpnum_type_name(bench_formats[i].type), chosen->words) == 0) break;
  }
  if (i == FORMAT_COUNT) {
    fprintf(to, ":%s whatever is narrower loses more than %g %% of some tensor\n",
            plain(colour), 100 * lost_share);
    return;
  }
  all = outcome_of(from, about, bench_formats[i].type);
  show_scale(scale, sizeof scale, all.least_scale, all.most_scale);
  show_sqnr(sqnr, sizeof sqnr, all.sqnr);
  show_share(over, sizeof over, all.overflow);
  show_share(under, sizeof under, all.underflow);
  if (is_scaled(bench_formats[i].type))
    fprintf(to, " times %s:%s SQNR %s, clipped %s, flushed %s\n", scale, plain(colour),
            sqnr, over, under);
  else
    fprintf(to, " as they are:%s SQNR %s, clipped %s, flushed %s\n", plain(colour), sqnr,
            over, under);
}

/* In place of a line that is empty. */
static void print_blocks(const figures *from, FILE *to) {
  int k, listed = 0;
  for (k = 0; k < KINDS; ++k) {
    const figure *chosen =
        figures_find(from, section, kinds[k].name, "", "", "block_format");
    if (!chosen) continue;
    fprintf(to, "%s%s %s", listed++ ? ", " : "in blocks   ", kinds[k].heading,
            chosen->words);
  }
  fputc('\n', to);
}

void answer_print(const figures *from, bool colour, FILE *to) {
  int k;
  print_data(from, to);
  print_table(from, colour, to);
  print_blocks(from, to);
  for (k = 0; k < KINDS; ++k)
    print_verdict(from, (kind)k, colour, to);
}

/* A line for each candidate: what the tensor that loses most would lose. */
static void print_candidates(const figures *from, kind about, FILE *to) {
  const char *name = kinds[about].name;
  const figure *chosen = figures_find(from, section, name, "", "", "format");
  int i;
  if (!chosen) return;
  fprintf(to, "\n%s\n", name);
  for (i = 0; i < CANDIDATES && kinds[about].candidates[i] != MPNUM_TYPE_F32; ++i) {
    const char *format = mpnum_type_name(kinds[about].candidates[i]);
    const outcome all = outcome_of(from, about, kinds[about].candidates[i]);
    char scale[48], lost[24], worst[4 * NAME_WIDTH];
    if (all.tensors == 0) continue;
    show_scale(scale, sizeof scale, all.least_scale, all.most_scale);
    show_share(lost, sizeof lost, all.lost);
    shorten(worst, sizeof worst, NAME_WIDTH, all.worst);
    fprintf(to, "  %-5s times %-14s loses %8s of %s%s\n", format, scale, lost, worst,
            strcmp(format, chosen->words) == 0 ? ": chosen" : "");
  }
  answer_why_blocks(from, name, to);
}

void answer_why(const figures *from, FILE *to) {
  size_t i;
  int k;
  fprintf(
      to,
      "\nHow it was chosen (the rules of mpnum/advice.h)\n"
      "Of each kind the first candidate of which no tensor loses more than %g %% of its\n"
      "nonzero values, by becoming zero or by being clipped: mpnum_best_type. A format\n"
      "with fewer exponent bits than f32 takes each tensor times a power of two of its\n"
      "own, the largest that clips nothing: mpnum_best_scale. SQNR is 10 log10 of the\n"
      "sum of squares over that of the errors.\n"
      "Of block formats the one with the fewest bits whose SQNR is at most %d dB below\n"
      "that of the format chosen. Without --why the verdict names those alone whose\n"
      "scales the GPU applies: mpnum_gpu_block_support.\n"
      "A kind is told by the first of these parts of a tensor's name:\n ",
      100 * lost_share, BLOCK_SLACK);
  for (i = 0; i < sizeof marks / sizeof *marks; ++i)
    fprintf(to, " %s%s", marks[i].part,
            i == sizeof marks / sizeof *marks / 2 ? "\n " : "");
  fprintf(to,
          "\n  (exp_avg, moment, optim: states of an optimizer, which are left out)\n");
  for (k = 0; k < KINDS; ++k)
    print_candidates(from, (kind)k, to);
}
