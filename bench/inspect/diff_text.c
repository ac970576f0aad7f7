/* SPDX-License-Identifier: MIT */
#include "diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "../report/escape.h"
#include "inspect.h"

/* --- the table */

static void show_types(char *cell, const compared *of) {
  const char *left = type_of_side(&of->sides[0]);
  const char *right = type_of_side(&of->sides[1]);
  snprintf(cell, CELL, strcmp(left, right) == 0 ? "%s" : "%s>%s", left, right);
}

static void show_sizes(char *cell, const compared *of) {
  char whole[24 * RANK_LIMIT];
  show_shape(whole, sizeof whole, of->sides[0].values);
  shorten(cell, CELL, 15, whole);
}

/* "3@17": three that are new, the first at index 17 */
static void show_new(char *cell, const compared *of) {
  snprintf(cell, CELL, "-");
  if (of->first_new != UINT64_MAX)
    snprintf(cell, CELL, "%" PRIu64 "@%" PRIu64, of->new_nans + of->new_infs,
             of->first_new);
}

static void show_sqnr(char *cell, const compared *of) {
  const double sqnr = sqnr_of_pair(of);
  snprintf(cell, CELL,
           isnan(sqnr)               ? "-"
           : isinf(sqnr) && sqnr > 0 ? "exact"
                                     : "%.1f",
           sqnr);
}

/* 1 only for what rounds to it and is no error. */
static void show_cosine(char *cell, const compared *of) {
  const double cosine = cosine_of_pair(of);
  snprintf(cell, CELL, isnan(cosine) ? "-" : "%.6f", cosine);
  if (cosine < 1 && strcmp(cell, "1.000000") == 0) snprintf(cell, CELL, ">.999999");
}

static void show_error(char *cell, const compared *of) {
  snprintf(cell, CELL, "%.3g@%" PRIu64, of->largest, of->largest_at);
  if (of->largest <= 0) snprintf(cell, CELL, "0");
}

static void show_equal(char *cell, const compared *of) {
  const double share = 100 * (double)of->equal / (double)of->sides[0].values->count;
  snprintf(cell, CELL, "%.1f", share);
  if (!is_unchanged(of) && share >= 99.95) snprintf(cell, CELL, ">99.9");
}

static const struct {
  const char *heading;
  void (*show)(char *cell, const compared *of);
  const char *nothing; /* left out where every row shows this */
} columns_of_pairs[] = {
    {"type", show_types, NULL},    {"shape", show_sizes, NULL},
    {"new", show_new, "-"},        {"SQNR", show_sqnr, NULL},
    {"cosine", show_cosine, NULL}, {"max error", show_error, NULL},
    {"equal%", show_equal, NULL},
};
enum { COLUMNS = sizeof columns_of_pairs / sizeof *columns_of_pairs };

/* Of the first `shown` rows; NULL when out of memory. */
static char **short_names(const difference *made, size_t shown, size_t rest,
                          size_t *width) {
  const char **whole = malloc((shown + 1) * sizeof *whole);
  char **names = NULL;
  *width = 6;
  for (size_t i = 0; i < shown && whole; ++i) {
    whole[i] = made->rows[i].sides[0].values->name;
    if (columns(whole[i]) > *width) *width = columns(whole[i]);
  }
  if (!made->chosen->wide && *width + rest > screen_width())
    *width = screen_width() > rest + NAME_LEAST ? screen_width() - rest : NAME_LEAST;
  if (whole) names = shorten_apart(whole, shown, *width);
  free(whole);
  return names;
}

static bool print_rows(const difference *made, size_t shown, FILE *to) {
  size_t widths[COLUMNS] = {0}, c, i, rest = 0, width;
  char cell[CELL];
  for (c = 0; c < COLUMNS; ++c) {
    bool has_any = !columns_of_pairs[c].nothing;
    widths[c] = strlen(columns_of_pairs[c].heading);
    for (i = 0; i < shown; ++i) {
      columns_of_pairs[c].show(cell, &made->rows[i]);
      has_any = has_any || strcmp(cell, columns_of_pairs[c].nothing) != 0;
      if (strlen(cell) > widths[c]) widths[c] = strlen(cell);
    }
    if (!has_any) widths[c] = 0;
    rest += has_any ? widths[c] + 1 : 0;
  }
  char **names = short_names(made, shown, rest, &width);
  if (!names) return false;
  fprintf(to, "%-*s", (int)width, "tensor");
  for (c = 0; c < COLUMNS; ++c) {
    if (widths[c] > 0) fprintf(to, " %*s", (int)widths[c], columns_of_pairs[c].heading);
  }
  fputc('\n', to);
  for (i = 0; i < shown; ++i) {
    fprintf(to, "%s%*s", names[i], (int)(width - columns(names[i])), "");
    for (c = 0; c < COLUMNS; ++c) {
      columns_of_pairs[c].show(cell, &made->rows[i]);
      if (widths[c] > 0) fprintf(to, " %*s", (int)widths[c], cell);
    }
    fputc('\n', to);
  }
  shorten_free(names, shown);
  return true;
}

/* --- totals */

static void print_remarks(const difference *made, FILE *to) {
  char name[4 * 48 + 4];
  for (size_t i = 0; i < made->remark_count && i < REMARKS_SHOWN; ++i) {
    shorten(name, sizeof name, 48, made->remarks[i].name);
    fprintf(to, "  %s %s\n", name, made->remarks[i].text);
  }
  if (made->remark_count > REMARKS_SHOWN)
    fprintf(to, "  ... and %zu more (--json names them)\n",
            made->remark_count - REMARKS_SHOWN);
}

/* Of all values of all tensors together. */
static compared sum_of(const difference *made, uint64_t *values) {
  compared sum;
  memset(&sum, 0, sizeof sum);
  for (size_t i = 0; i < made->count; ++i) {
    const compared *of = &made->rows[i];
    sum.new_nans += of->new_nans;
    sum.new_infs += of->new_infs;
    sum.gone += of->gone;
    sum.equal += of->equal;
    sum.signal += of->signal;
    sum.other += of->other;
    sum.product += of->product;
    sum.noise += of->noise;
    if (of->largest > sum.largest) sum.largest = of->largest;
    *values += of->sides[0].values->count;
  }
  return sum;
}

static void print_sum(const difference *made, size_t same, FILE *to) {
  char paths[2][4 * USUAL_WIDTH + 4], sqnr[CELL], cosine[CELL];
  uint64_t values = 0;
  const compared sum = sum_of(made, &values);
  for (int which = 0; which < 2; ++which)
    shorten(paths[which], sizeof paths[which], USUAL_WIDTH, made->chosen->paths[which]);
  fprintf(to, "%s\n%s\n  %zu tensor%s, %" PRIu64 " values; %zu equal in all bits\n",
          paths[0], paths[1], made->count, made->count == 1 ? "" : "s", values, same);
  if (made->count > 0) {
    show_sqnr(sqnr, &sum);
    show_cosine(cosine, &sum);
    fprintf(to, "  SQNR %s, cosine %s, equal %.4g %%", sqnr, cosine,
            100 * (double)sum.equal / (double)values);
    fprintf(to, "; new NaN %" PRIu64 ", new Inf %" PRIu64 ", gone %" PRIu64 "\n",
            sum.new_nans, sum.new_infs, sum.gone);
  }
  if (made->unread > 0)
    fprintf(to, "  %zu that are not read, compared byte by byte\n", made->unread);
}

bool print_difference(const difference *made, FILE *to) {
  const size_t top = made->chosen->top;
  size_t changed = 0;
  for (size_t i = 0; i < made->count; ++i)
    changed += !is_unchanged(&made->rows[i]);
  /* Those that are the same are exact, or hold what is not finite: behind all others. */
  const size_t shown = top > 0 && top < changed ? top : changed;
  if (shown > 0 && !print_rows(made, shown, to)) return false;
  if (shown < changed)
    fprintf(to, "... and %zu more (--top %zu)\n", changed - shown, shown);
  if (shown > 0) fputc('\n', to);
  print_sum(made, made->count - changed, to);
  print_remarks(made, to);
  return !ferror(to);
}

/* --- JSON */

static json_t *real_of(double value) {
  if (isnan(value)) return json_null();
  return isinf(value) ? json_string(value < 0 ? "-inf" : "inf") : json_real(value);
}

static json_t *place_of(const compared *of, uint64_t index, bool is_none) {
  char place[24 * RANK_LIMIT];
  if (is_none) return json_null();
  show_place(place, sizeof place, of->sides[0].values, index);
  return json_loads(place, 0, NULL);
}

static json_t *row_json(const compared *of) {
  const tensor *values = of->sides[0].values;
  json_t *made = json_pack(
      "{s:o, s:s, s:s, s:I, s:o, s:o, s:o, s:o}", "tensor", json_text(values->name),
      "type", type_of_side(&of->sides[0]), "second_type", type_of_side(&of->sides[1]),
      "values", (json_int_t)values->count, "sqnr", real_of(sqnr_of_pair(of)), "cosine",
      real_of(cosine_of_pair(of)), "largest_error", real_of(of->largest),
      "largest_error_at", place_of(of, of->largest_at, of->largest <= 0));
  json_t *more =
      json_pack("{s:I, s:I, s:I, s:I, s:o}", "equal", (json_int_t)of->equal, "new_nans",
                (json_int_t)of->new_nans, "new_infs", (json_int_t)of->new_infs, "gone",
                (json_int_t)of->gone, "first_new_at",
                place_of(of, of->first_new, of->first_new == UINT64_MAX));
  json_object_update(made, more);
  json_decref(more);
  return made;
}

bool write_difference(const report *about, FILE *to) {
  const difference *made = (const difference *)(const void *)about;
  json_t *remarks = json_array();
  size_t i;
  for (i = 0; i < made->remark_count; ++i)
    json_array_append_new(remarks, json_pack("{s:o, s:s}", "tensor",
                                             json_text(made->remarks[i].name), "remark",
                                             made->remarks[i].text));
  bool good = json_head(about, to) && json_put(to, ",\n\"remarks\":", remarks) &&
              fputs(",\n\"differences\":[", to) != EOF;
  for (i = 0; good && i < made->count; ++i)
    good = json_put(to, i ? ",\n" : "\n", row_json(&made->rows[i]));
  return good && fputs("\n]}\n", to) != EOF;
}
