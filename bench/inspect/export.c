/* SPDX-License-Identifier: MIT */
/* All rows, those that --top leaves out too, in full precision. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <mpnum/core/detail/config.h>

#include "inspect.h"
#include "../report/escape.h"

enum { SCHEMA = 1 };

/* Where no format was chosen. */
static const fit no_fit = {.clipped = (double)NAN,
                           .flushed = (double)NAN,
                           .sqnr = (double)NAN,
                           .product = (double)NAN};

/* The report is the first member of what is written. */
static const inspection *inspection_of(const report *about) {
  return (const inspection *)(const void *)about;
}

/* --- JSON */

/* JSON has neither Inf nor NaN: an exact result is "inf", none is null. */
static json_t *real_of(double value) {
  if (isnan(value)) return json_null();
  return isinf(value) ? json_string("inf") : json_real(value);
}

static json_t *shape_of(const tensor *values) {
  json_t *list = json_array();
  for (unsigned i = 0; i < values->rank; ++i)
    json_array_append_new(list, json_integer((json_int_t)values->shape[i]));
  return list;
}

/* The rule that a candidate broke, NULL for the one that was chosen. */
static const char *why_of(const outcome *of) {
  return of->why == KEPT ? NULL : broken_name(of->why);
}

static json_t *fit_of(const fit *what, const outcome *of) {
  return json_pack("{s:s, s:i, s:o, s:o, s:s?, s:f, s:f}", "format",
                   element_name(what->type), "scale_exponent", what->scale_exponent,
                   "sqnr", real_of(what->sqnr), "product", real_of(what->product),
                   "why_not", why_of(of), "clipped", what->clipped, "flushed",
                   what->flushed);
}

/* [[exponent, count], ...] without zeros */
static json_t *exponents_of(const mpnum_histogram *histogram) {
  json_t *list = json_array();
  for (int k = 0; k < 255; ++k) {
    if (histogram->counts[k] > 0)
      json_array_append_new(
          list, json_pack("[i, I]", k - 127, (json_int_t)histogram->counts[k]));
  }
  return list;
}

static json_t *survival_of(const row *about, const fit *what) {
  return json_pack("{s:f, s:f, s:b}", "clipped", what->clipped, "flushed", what->flushed,
                   "survives", survives(about, what));
}

static json_t *first_of(const row *about) {
  const uint64_t first = about->found.first_nonfinite;
  return first == UINT64_MAX ? json_null() : json_integer((json_int_t)first);
}

static json_t *first_place_of(const row *about) {
  char place[24 * RANK_LIMIT];
  if (about->found.first_nonfinite == UINT64_MAX) return json_null();
  show_place(place, sizeof place, about->values, about->found.first_nonfinite);
  return json_loads(place, 0, NULL);
}

static json_t *blocking_of(const block_fit *what, int way) {
  return json_pack("{s:o, s:o, s:o}", "sqnr", real_of(what->sqnr[way]), "clipped",
                   real_of(what->clipped[way]), "flushed", real_of(what->flushed[way]));
}

static json_t *blocks_of(const row *about) {
  json_t *list = json_array();
  for (unsigned f = 0; f < BLOCK_FORMATS; ++f) {
    const block_fit *what = &about->blocks[f];
    const outcome *of = &about->chosen.blocks[f];
    json_array_append_new(
        list, json_pack("{s:s, s:f, s:s?, s:o, s:o}", "format", block_format_of(f).name,
                        "bits", of->bits, "why_not", why_of(of), "rows",
                        blocking_of(what, 0), "columns", blocking_of(what, 1)));
  }
  return list;
}

static json_t *row_of(const inspection *run, const row *about) {
  const findings *found = &about->found;
  const fit *best = best_of(about), *shown = best ? best : &no_fit;
  const char *name = choice_name(&run->all, &about->chosen);
  json_t *made = json_pack(
      "{s:o, s:o, s:s, s:o, s:I, s:o, s:I, s:I, s:I, s:I, s:o, s:o}", "file",
      json_text(about->file->path), "tensor", json_text(about->values->name), "type",
      stored_name(about->values), "shape", shape_of(about->values), "values",
      (json_int_t)about->values->count, "amax", real_of(found->amax), "zeros",
      (json_int_t)found->zeros, "subnormals", (json_int_t)found->subnormals, "infs",
      (json_int_t)found->infs, "nans", (json_int_t)found->nans, "first_nonfinite",
      first_of(about), "first_nonfinite_at", first_place_of(about));
  json_t *more = json_pack(
      "{s:s, s:s?, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:s?}", "kind",
      kind_name(about->is), "best", about->chosen.best == NOT_KNOWN ? NULL : name,
      "scale_exponent", best ? json_integer(best->scale_exponent) : json_null(), "sqnr",
      real_of(shown->sqnr), "product", real_of(shown->product), "clipped",
      real_of(shown->clipped), "flushed", real_of(shown->flushed), "sampled",
      about->sampled, "f16", survival_of(about, fit_of_f16(run, about)), "bf16",
      survival_of(about, fit_of_bf16(run, about)), "block_format",
      shown_block(run, &about->chosen));
  json_object_update(made, more);
  json_decref(more);
  if (run->chosen->details) {
    json_t *list = json_array();
    for (unsigned f = 0; f < run->all.candidate_count; ++f)
      json_array_append_new(list, fit_of(&about->fits[f], &about->chosen.of[f]));
    json_object_set_new(made, "formats", list);
  }
  if (about->has_blocks && run->chosen->blocks)
    json_object_set_new(made, "blocks", blocks_of(about));
  json_object_set_new(made, "exponents", exponents_of(&about->found.histogram));
  return made;
}

static json_t *outcome_of(const char *name, const outcome *of) {
  return json_pack("{s:s, s:f, s:o, s:o, s:o, s:o, s:o, s:s?, s:o}", "format", name,
                   "bits", of->bits, "sqnr", real_of(of->sqnr), "product",
                   real_of(of->product), "clipped_share", real_of(of->clipped),
                   "flushed_share", real_of(of->flushed), "lost_share", real_of(of->lost),
                   "why_not", why_of(of), "worst", json_text(of->worst->values->name));
}

/* Of all tensors of a kind. */
static json_t *verdict_json(const inspection *run, const verdict *about) {
  const choice *of = &about->made;
  json_t *list = json_array(), *blocks = json_array();
  for (unsigned f = 0; f < run->all.candidate_count && of->of[f].worst; ++f)
    json_array_append_new(list, outcome_of(element_name(run->all.types[f]), &of->of[f]));
  for (unsigned f = 0; f < BLOCK_FORMATS && run->chosen->blocks && of->blocks[f].worst;
       ++f)
    json_array_append_new(blocks, outcome_of(block_format_of(f).name, &of->blocks[f]));
  return json_pack("{s:s, s:I, s:I, s:I, s:s, s:s?, s:o, s:o}", "kind",
                   kind_name(about->is), "tensors", (json_int_t)about->tensors, "small",
                   (json_int_t)about->small, "empty", (json_int_t)about->empty, "format",
                   choice_name(&run->all, of), "block_format", shown_block(run, of),
                   "formats", list, "blocks", blocks);
}

static json_t *texts_of(char *const *texts, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; ++i)
    json_array_append_new(list, json_text(texts[i]));
  return list;
}

bool json_head(const report *about, FILE *to) {
  size_t count = 0;
  while (about->options[count])
    ++count;
  return json_put(to, "{\"schema\":", json_integer(SCHEMA)) &&
         json_put(to, ",\n\"mpnum\":",
                  json_sprintf("%d.%d.%d", MPNUM_VERSION_MAJOR, MPNUM_VERSION_MINOR,
                               MPNUM_VERSION_PATCH)) &&
         json_put(to, ",\n\"options\":", texts_of(about->options, count));
}

bool write_json(const report *about, FILE *to) {
  const inspection *run = inspection_of(about);
  enum { PLANS = 3 };
  const plan *const plans[PLANS] = {&run->plain, &run->blocks, &run->asked};
  size_t count = 0, i;
  bool good = json_head(about, to) && fputs(",\n\"files\":[", to) != EOF;
  for (i = 0; good && i < run->from.count; ++i) {
    const input *file = &run->from.files[i];
    good = json_put(to, i ? ",\n" : "\n",
                    json_pack("{s:o, s:o}", "file", json_text(file->path), "notes",
                              texts_of(file->notes, file->note_count)));
  }
  good = good && fputs("\n],\n\"verdicts\":[", to) != EOF;
  for (i = 0, count = 0; good && i < KINDS; ++i) {
    const verdict *of = &run->kinds[i];
    if (of->tensors + of->small + of->empty > 0)
      good = json_put(to, count++ ? ",\n" : "\n", verdict_json(run, of));
  }
  good = good && fputs("\n],\n\"plans\":[", to) != EOF;
  for (i = 0, count = 0; good && i < PLANS; ++i) {
    if (plans[i]->count > 0)
      good = json_put(to, count++ ? ",\n" : "\n", plan_json(run, plans[i]));
  }
  good = good && fputs("\n],\n\"tensors\":[", to) != EOF;
  for (i = 0; good && i < run->all.count; ++i)
    good = json_put(to, i ? ",\n" : "\n", row_of(run, run->order[i]));
  return good && fputs("\n]}\n", to) != EOF;
}

/* --- CSV */

void put_text(FILE *to, const char *text) {
  char *clean = copy_text(text);
  if (!clean) return;
  clean_text(clean);
  csv_text(to, clean);
  free(clean);
}

/* 17 digits give the same double back; nothing for what is not. */
static void put_real(FILE *to, double value) {
  fputc(',', to);
  if (!isnan(value)) fprintf(to, "%.17g", value);
}

static void put_count(FILE *to, uint64_t value) { fprintf(to, ",%" PRIu64, value); }

static void put_row(FILE *to, const inspection *run, const row *about) {
  const findings *found = &about->found;
  const fit *best = best_of(about), *shown = best ? best : &no_fit;
  const fit *const wide[] = {fit_of_f16(run, about), fit_of_bf16(run, about)};
  const char *block = shown_block(run, &about->chosen);
  char shape[24 * RANK_LIMIT];
  show_shape(shape, sizeof shape, about->values);
  put_text(to, about->file->path);
  fputc(',', to);
  put_text(to, about->values->name);
  fprintf(to, ",%s,%s", stored_name(about->values), shape);
  put_count(to, about->values->count);
  put_real(to, found->amax);
  put_count(to, found->zeros);
  put_count(to, found->subnormals);
  put_count(to, found->infs);
  put_count(to, found->nans);
  fputc(',', to);
  if (found->first_nonfinite != UINT64_MAX)
    fprintf(to, "%" PRIu64, found->first_nonfinite);
  fprintf(to, ",%s,", choice_name(&run->all, &about->chosen));
  if (best) fprintf(to, "%d", best->scale_exponent);
  put_real(to, shown->sqnr);
  put_real(to, shown->clipped);
  put_real(to, shown->flushed);
  fprintf(to, ",%d", about->sampled);
  for (int i = 0; i < 2; ++i) {
    fprintf(to, ",%d", survives(about, wide[i]));
    put_real(to, wide[i]->clipped);
    put_real(to, wide[i]->flushed);
  }
  fprintf(to, ",%s\n", block ? block : "");
}

bool write_csv(const report *about, FILE *to) {
  const inspection *run = inspection_of(about);
  fputs("file,tensor,type,shape,values,amax,zeros,subnormals,infs,nans,"
        "first_nonfinite,best,scale_exponent,sqnr,clipped,flushed,sampled,"
        "f16,f16_clipped,f16_flushed,bf16,bf16_clipped,bf16_flushed,block_format\n",
        to);
  for (size_t i = 0; i < run->all.count; ++i)
    put_row(to, run, run->order[i]);
  return !ferror(to);
}
