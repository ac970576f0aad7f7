/* SPDX-License-Identifier: MIT */
/* A row for each step, of several tensors also one for each; CSV and JSON have each in
 * each. */
#include "trend.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../report/escape.h"
#include "inspect.h"

/* --- the table */

/* Of a step, or of all steps of a tensor: then the largest of each, and the least scale.
 */
typedef struct line {
  const char *name;
  double amax, shares[SERIES];
  bool has_scale;
  int exponent;
  uint64_t values, nonfinite;
} line;

static line line_of(const char *name, const moment *at, size_t count) {
  line made = {.name = name,
               .shares = {(double)NAN, (double)NAN, (double)NAN, (double)NAN}};
  for (size_t i = 0; i < count; ++i) {
    int exponent;
    made.amax = fmax(made.amax, at[i].amax);
    made.values += at[i].values;
    made.nonfinite += at[i].infs + at[i].nans;
    for (int s = 0; s < SERIES; ++s)
      made.shares[s] = fmax(made.shares[s], trend_share(&at[i], (series)s));
    if (!trend_scale(&at[i], &exponent)) continue;
    if (!made.has_scale || exponent < made.exponent) made.exponent = exponent;
    made.has_scale = true;
  }
  return made;
}

enum { AMAX, SHARES, SCALE = SHARES + SERIES, NONFINITE, COLUMNS };
static const char *const headings[COLUMNS] = {
    "amax", "zero%", "f16 subn%", "e4m3 lost%", "e5m2 lost%", "loss scale", "Inf/NaN"};

static void show_cell(char cell[CELL], const line *of, int column) {
  snprintf(cell, CELL, "-");
  if (column == AMAX) {
    if (of->values > 0) show_magnitude(cell, of->amax);
  } else if (column < SCALE) {
    const double share = of->shares[column - SHARES];
    if (!isnan(share)) show_share(cell, share, 1);
  } else if (column == SCALE) {
    if (of->has_scale) snprintf(cell, CELL, "2^%d", of->exponent);
  } else {
    snprintf(cell, CELL, "%" PRIu64, of->nonfinite);
  }
}

/* Of the names, which are shortened, if need be, to `width`; NULL when out of memory. */
static char **short_names(const line *lines, size_t count, size_t width) {
  enum { LEAST = 8 }; /* shorten_apart's */
  const char **whole = malloc(count * sizeof *whole);
  char **names = NULL;
  for (size_t i = 0; i < count && whole; ++i)
    whole[i] = lines[i].name;
  if (whole) names = shorten_apart(whole, count, width < LEAST ? LEAST : width);
  free(whole);
  return names;
}

/* The last column is left out where nothing is Inf or NaN, and not coloured. */
static bool print_lines(const char *heading, const line *lines, size_t count,
                        bool is_wide, FILE *to) {
  const bool coloured = wants_colour(STDOUT_FILENO);
  size_t widths[COLUMNS], width = strlen(heading), rest = 0, i;
  int c, used = NONFINITE;
  char cell[CELL];
  for (i = 0; i < count; ++i) {
    if (lines[i].nonfinite > 0) used = COLUMNS;
    if (columns(lines[i].name) > width) width = columns(lines[i].name);
  }
  for (c = 0; c < used; ++c) {
    widths[c] = strlen(headings[c]);
    for (i = 0; i < count; ++i) {
      show_cell(cell, &lines[i], c);
      if (strlen(cell) > widths[c]) widths[c] = strlen(cell);
    }
    rest += widths[c] + 1;
  }
  if (!is_wide && width + rest > screen_width())
    width = screen_width() > rest + NAME_LEAST ? screen_width() - rest : NAME_LEAST;
  char **names = short_names(lines, count, width);
  if (!names) return false;
  fprintf(to, "%-*s", (int)width, heading);
  for (c = 0; c < used; ++c)
    fprintf(to, " %*s", (int)widths[c], headings[c]);
  fputc('\n', to);
  for (i = 0; i < count; ++i) {
    const bool is_red = coloured && lines[i].nonfinite > 0;
    fprintf(to, "%s%s%*s", is_red ? "\033[31m" : "", names[i],
            (int)(width - columns(names[i])), "");
    for (c = 0; c < used; ++c) {
      show_cell(cell, &lines[i], c);
      fprintf(to, " %*s", (int)widths[c], cell);
    }
    fputs(is_red ? "\033[0m\n" : "\n", to);
  }
  shorten_free(names, count);
  return true;
}

static bool print_steps(const trend *made, FILE *to) {
  line *lines = malloc(made->step_count * sizeof *lines);
  bool good = lines != NULL;
  for (size_t i = 0; i < made->step_count && lines; ++i)
    lines[i] = line_of(step_name(made, i), &made->tracks[0].at[i], 1);
  good = good && print_lines("step", lines, made->step_count, made->chosen->wide, to);
  free(lines);
  return good;
}

static bool print_tensors(const trend *made, FILE *to) {
  const size_t shown = trend_shown(made) - 1, all = made->track_count - 1;
  line *lines = malloc((shown + 1) * sizeof *lines);
  bool good = lines != NULL;
  if (shown > 0) fputc('\n', to);
  for (size_t i = 0; i < shown && lines; ++i)
    lines[i] =
        line_of(made->tracks[i + 1].of->name, made->tracks[i + 1].at, made->step_count);
  good = good && (shown == 0 ||
                  print_lines("most of a step", lines, shown, made->chosen->wide, to));
  free(lines);
  if (shown > 0 && shown < all)
    fprintf(to, "... and %zu more (--top %zu)\n", all - shown, shown);
  return good;
}

static void print_remarks(const trend *made, const trend_remark *list, size_t count,
                          FILE *to) {
  char path[4 * 24 + 4], name[4 * 24 + 4];
  for (size_t i = 0; i < count && i < REMARKS_SHOWN; ++i) {
    const char *whole = made->steps[list[i].in].path;
    shorten(path, sizeof path, 24, whole);
    shorten(name, sizeof name, 24, list[i].name);
    if (strcmp(list[i].name, base_name(whole)) == 0) /* of .npy */
      fprintf(to, "%s %s\n", path, list[i].text);
    else
      fprintf(to, "%s: %s %s\n", path, name, list[i].text);
  }
  if (count > REMARKS_SHOWN)
    fprintf(to, "... and %zu more (--json names them)\n", count - REMARKS_SHOWN);
}

static void print_sum(const trend *made, FILE *to) {
  const size_t tensors = made->track_count - 1;
  uint64_t values = 0;
  size_t nonfinite = 0;
  bool is_sampled = false;
  for (size_t i = 0; i < made->step_count; ++i) {
    const moment *at = &made->tracks[0].at[i];
    values += at->values;
    nonfinite += at->infs + at->nans > 0;
    is_sampled = is_sampled || at->sampled;
  }
  fprintf(to, "\n%zu step%s, %zu tensor%s, %" PRIu64 " values; Inf or NaN in %zu\n",
          made->step_count, made->step_count == 1 ? "" : "s", tensors,
          tensors == 1 ? "" : "s", values, nonfinite);
  if (is_sampled)
    fputs("What large tensors lose comes from samples; --exact reads all values again.\n",
          to);
}

bool print_trend(const trend *made, FILE *to) {
  print_remarks(made, made->nonfinite, made->nonfinite_count, to);
  if (made->nonfinite_count > 0) fputc('\n', to);
  if (!print_steps(made, to) || !print_tensors(made, to)) return false;
  print_sum(made, to);
  for (size_t f = 0; f < made->first.count; ++f)
    print_notes(&made->first.files[f], to);
  print_remarks(made, made->remarks, made->remark_count, to);
  return !ferror(to);
}

/* --- JSON and CSV */

static json_t *or_null(bool is_there, int64_t value) {
  return is_there ? json_integer((json_int_t)value) : json_null();
}

static json_t *row_of(const trend *made, const track *of, size_t in) {
  const moment *at = &of->at[in];
  const step *from = &made->steps[in];
  int exponent = 0;
  const bool has_scale = trend_scale(at, &exponent);
  json_t *fields = json_pack(
      "{s:o, s:o, s:o, s:I, s:f, s:I, s:I}", "step",
      or_null(made->is_numbered, (int64_t)from->number), "file", json_text(from->path),
      "tensor", of->of ? json_text(of->of->name) : json_null(), "values",
      (json_int_t)at->values, "amax", at->amax, "zeros", (json_int_t)at->counts[ZEROS],
      "f16_subnormals", (json_int_t)at->counts[F16_SUBNORMALS]);
  json_t *more =
      json_pack("{s:f, s:f, s:b, s:o, s:I, s:I, s:o}", "e4m3_lost", at->counts[E4M3_LOST],
                "e5m2_lost", at->counts[E5M2_LOST], "sampled", at->sampled,
                "loss_scale_exponent", or_null(has_scale, exponent), "infs",
                (json_int_t)at->infs, "nans", (json_int_t)at->nans, "first_nonfinite",
                or_null(at->first_nonfinite != UINT64_MAX && at->infs + at->nans > 0,
                        (int64_t)at->first_nonfinite));
  json_object_update(fields, more);
  json_decref(more);
  return fields;
}

/* All that are there, step by step; put: takes its fields. */
static bool put_rows(const trend *made, FILE *to,
                     bool (*put)(FILE *to, json_t *fields, bool is_first)) {
  const size_t tracks = made->track_count == 2 ? 1 : made->track_count;
  bool good = true, is_first = true;
  for (size_t i = 0; i < made->step_count; ++i) {
    for (size_t t = 0; t < tracks && good; ++t) {
      if (t > 0 && !made->tracks[t].at[i].is_there) continue;
      good = put(to, row_of(made, &made->tracks[t], i), is_first);
      is_first = false;
    }
  }
  return good;
}

static bool put_json_row(FILE *to, json_t *fields, bool is_first) {
  return json_put(to, is_first ? "\n" : ",\n", fields);
}

bool write_trend_json(const report *about, FILE *to) {
  const trend *made = (const trend *)(const void *)about;
  json_t *remarks = json_array();
  for (size_t i = 0; i < made->remark_count; ++i) {
    const trend_remark *of = &made->remarks[i];
    json_array_append_new(
        remarks, json_pack("{s:o, s:o, s:s}", "file", json_text(made->steps[of->in].path),
                           "tensor", json_text(of->name), "remark", of->text));
  }
  return json_head(about, to) && json_put(to, ",\n\"remarks\":", remarks) &&
         fputs(",\n\"trend\":[", to) != EOF && put_rows(made, to, put_json_row) &&
         fputs("\n]}\n", to) != EOF;
}

static void put_value(FILE *to, const json_t *value) {
  if (json_is_string(value)) put_text(to, json_string_value(value));
  if (json_is_boolean(value)) fprintf(to, "%d", json_is_true(value));
  if (json_is_integer(value)) fprintf(to, "%lld", (long long)json_integer_value(value));
  if (json_is_real(value)) fprintf(to, "%.17g", json_real_value(value));
}

/* The fields of the JSON, its names before the first. */
static bool put_csv_row(FILE *to, json_t *fields, bool is_first) {
  const char *key, *before = "";
  json_t *value;
  if (!fields) return false;
  json_object_foreach(fields, key, value) {
    if (is_first) fprintf(to, "%s%s", before, key);
    before = ",";
  }
  if (is_first) fputc('\n', to);
  before = "";
  json_object_foreach(fields, key, value) {
    fputs(before, to);
    put_value(to, value);
    before = ",";
  }
  fputc('\n', to);
  json_decref(fields);
  return !ferror(to);
}

bool write_trend_csv(const report *about, FILE *to) {
  return put_rows((const trend *)(const void *)about, to, put_csv_row);
}
