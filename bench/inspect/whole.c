/* SPDX-License-Identifier: MIT */
/* The verdict on all tensors together: what the files would take in one format, and what
 * stays out of it. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "../report/escape.h"
#include "emit.h"
#include "inspect.h"

enum { STAYS_SHOWN = 8 };

/* The number of a format that --to names; false: it is not among those measured. */
static bool find_format(const inspection *run, const char *name, bool *is_blocks,
                        unsigned *number) {
  for (*is_blocks = false, *number = 0; *number < run->all.candidate_count; ++*number) {
    if (strcmp(element_name(run->all.types[*number]), name) == 0) return true;
  }
  for (*is_blocks = true, *number = 0; *number < BLOCK_FORMATS; ++*number) {
    if (strcmp(block_format_of(*number).name, name) == 0) return true;
  }
  return false;
}

bool make_plans(inspection *run, const char **subject, refusal *why) {
  const inspect_options *chosen = run->chosen;
  const verdict_run *all = &run->all;
  const double least = chosen->keep_below;
  bool is_blocks;
  unsigned number;
  *subject = chosen->emit;
  if (!plan_best(all, false, NULL, least, &run->plain) ||
      !plan_best(all, true, &run->plain, least, &run->blocks))
    return refuse(why, "out of memory");
  const char *to = chosen->to ? chosen->to : chosen->emit ? run->plain.format : NULL;
  if (!to) return true;
  *subject = "--to";
  if (!find_format(run, to, &is_blocks, &number))
    return refuse(why, "%s is not among the --formats", to);
  if (!plan_for(all, is_blocks, number, least, &run->asked))
    return refuse(why, "out of memory");
  if (!chosen->emit) return true;
  if (!emits(to))
    return refuse(why, "%s has no place in safetensors; --to names another format", to);
  *subject = chosen->emit;
  return emit_check(&run->asked, run->from.files, run->from.count, why);
}

bool write_emitted(const report *about, FILE *to) {
  const inspection *run = (const inspection *)(const void *)about;
  refusal why = {"", NULL};
  if (emit(&run->asked, run->from.files, run->from.count, to, &why)) return true;
  if (why.text[0])
    refuse(about->refused, "cannot be written: %s%.200s",
           strcmp(why.text, "out of memory") == 0 ? "" : "an input ", why.text);
  return false;
}

/* --- text */

static const char *name_of(const inspection *run, const planned *of) {
  return run->all.names[of->about - run->all.rows];
}

static bool is_told(const planned *of) {
  return of->why != QUANTISED && of->why != STAYS_SMALL;
}

static void print_stays(const inspection *run, const plan *of, FILE *to) {
  size_t shown = 0, told = 0;
  for (size_t i = 0; i < of->count; ++i)
    told += is_told(&of->parts[i]);
  for (size_t i = 0; i < of->count && shown < STAYS_SHOWN; ++i) {
    const planned *at = &of->parts[i];
    const bool is_own = at->type == at->about->values->type && !at->about->values->blocks;
    char why[48];
    if (!is_told(at)) continue;
    ++shown;
    show_stay(why, sizeof why, at, run->chosen->keep_below);
    fprintf(to, "    %s stays%s%s: %s\n", name_of(run, at), is_own ? "" : " in ",
            is_own ? "" : element_name(at->type), why);
  }
  if (shown < told)
    fprintf(to, "    ... and %zu more stay (--json names them)\n", told - shown);
}

static void print_plan(const inspection *run, const plan *of, uint64_t now, FILE *to) {
  char size[SIZE_CELL], sqnr[24] = "exact", worst[24] = "exact";
  show_size(size, of->bytes);
  if (of->quantised == 0) {
    fprintf(to, "  %-8s takes none of them\n", of->format);
    return;
  }
  if (isfinite(of->sqnr)) snprintf(sqnr, sizeof sqnr, "%.1f dB", of->sqnr);
  if (isfinite(of->worst->sqnr)) snprintf(worst, sizeof worst, "%.1f", of->worst->sqnr);
  fprintf(to, "  %-8s %s (%.0f %%), SQNR %s, lowest %s of %s\n", of->format, size,
          100 * (double)of->bytes / (double)now, sqnr, worst, name_of(run, of->worst));
  print_stays(run, of, to);
}

static uint64_t bytes_now(const inspection *run) {
  uint64_t sum = 0;
  for (size_t i = 0; i < run->all.count; ++i)
    sum += stored_bytes(run->all.rows[i].values);
  return sum;
}

/* Notes of tensors that no file of safetensors has a copy of. */
static size_t lost_tensors(const inspection *run) {
  size_t sum = 0;
  for (size_t f = 0; f < run->from.count; ++f)
    sum += run->from.files[f].note_count - run->from.files[f].other_count;
  return sum;
}

void print_whole(const inspection *run, FILE *to) {
  const uint64_t now = bytes_now(run);
  const plan *asked = &run->asked;
  char size[SIZE_CELL], path[4 * 48 + 4];
  if (run->all.count == 0) return;
  show_size(size, now);
  fprintf(to, "\nAll tensors, %s now\n", size);
  print_plan(run, &run->plain, now, to);
  print_plan(run, &run->blocks, now, to);
  if (!asked->parts) return;
  if (strcmp(asked->format, run->plain.format) != 0 &&
      strcmp(asked->format, run->blocks.format) != 0)
    print_plan(run, asked, now, to);
  if (!run->chosen->emit) return;
  shorten(path, sizeof path, 48, run->chosen->emit);
  fprintf(to, "  emits %s to %s", asked->format, path);
  if (lost_tensors(run) > 0)
    fprintf(to, ", without %zu that are not read", lost_tensors(run));
  fputc('\n', to);
}

/* --- JSON */

static json_t *real_of(double value) {
  if (isnan(value)) return json_null();
  return isinf(value) ? json_string("inf") : json_real(value);
}

json_t *plan_json(const inspection *run, const plan *of) {
  json_t *stays = json_array();
  for (size_t i = 0; i < of->count; ++i) {
    const planned *at = &of->parts[i];
    const bool has_figure = at->why == STAYS_SQNR || at->why == STAYS_PRODUCT ||
                            at->why == STAYS_BY_RULE || at->why == STAYS_AXIS;
    if (at->why == QUANTISED) continue;
    json_array_append_new(
        stays,
        json_pack("{s:o, s:s, s:s, s:o}", "tensor", json_text(at->about->values->name),
                  "type", element_name(at->type), "why", stay_name(at), "figure",
                  has_figure ? real_of(at->figure) : json_null()));
  }
  return json_pack(
      "{s:s, s:b, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "format", of->format, "is_blocks",
      of->is_blocks, "bytes_now", (json_int_t)bytes_now(run), "bytes_then",
      (json_int_t)of->bytes, "quantised", (json_int_t)of->quantised, "sqnr",
      of->worst ? real_of(of->sqnr) : json_null(), "worst",
      of->worst ? json_text(of->worst->about->values->name) : json_null(), "worst_sqnr",
      of->worst ? real_of(of->worst->sqnr) : json_null(), "stays", stays);
}
