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

/* The report is the first member of what is written. */
static const inspection *inspection_of(const report *about) {
  return (const inspection *)(const void *)about;
}

/* --- JSON
 * ------------------------------------------------------------------------------- */

/* JSON has neither Inf nor NaN: an exact result is "inf", none is null. */
static json_t *real_of(double value) {
  if (isnan(value)) return json_null();
  return isinf(value) ? json_string("inf") : json_real(value);
}

static json_t *integer_of(uint64_t value) { return json_integer((json_int_t)value); }

static json_t *shape_of(const tensor *values) {
  json_t *list = json_array();
  unsigned i;
  for (i = 0; i < values->rank; ++i)
    json_array_append_new(list, integer_of(values->shape[i]));
  return list;
}

/* The rule that a candidate broke, null for the one that was chosen. */
static json_t *why_of(const outcome *of) {
  return of->why == KEPT ? json_null() : json_string(broken_name(of->why));
}

static json_t *fit_of(const fit *what, const outcome *of) {
  json_t *made = json_object();
  if (of) {
    json_object_set_new(made, "format", json_string(element_name(what->type)));
    json_object_set_new(made, "scale_exponent", json_integer(what->scale_exponent));
    json_object_set_new(made, "sqnr", real_of(what->sqnr));
    json_object_set_new(made, "product", real_of(what->product));
    json_object_set_new(made, "why_not", why_of(of));
  }
  json_object_set_new(made, "clipped", json_real(what->clipped));
  json_object_set_new(made, "flushed", json_real(what->flushed));
  return made;
}

/* [[exponent, count], ...] without zeros */
static json_t *exponents_of(const mpnum_histogram *histogram) {
  json_t *list = json_array();
  int k;
  for (k = 0; k < 255; ++k) {
    if (histogram->counts[k] > 0)
      json_array_append_new(
          list, json_pack("[i, I]", k - 127, (json_int_t)histogram->counts[k]));
  }
  return list;
}

static void set_survival(json_t *to, const row *about, const fit *what) {
  json_t *made = fit_of(what, NULL);
  json_object_set_new(made, "survives", json_boolean(survives(about, what)));
  json_object_set_new(to, element_name(what->type), made);
}

static void set_findings(json_t *to, const row *about) {
  const findings *found = &about->found;
  char place[24 * RANK_LIMIT];
  json_object_set_new(to, "amax", real_of(found->amax));
  json_object_set_new(to, "zeros", integer_of(found->zeros));
  json_object_set_new(to, "subnormals", integer_of(found->subnormals));
  json_object_set_new(to, "infs", integer_of(found->infs));
  json_object_set_new(to, "nans", integer_of(found->nans));
  json_object_set_new(to, "first_nonfinite", json_null());
  json_object_set_new(to, "first_nonfinite_at", json_null());
  if (found->first_nonfinite == UINT64_MAX) return;
  show_place(place, sizeof place, about->values, found->first_nonfinite);
  json_object_set_new(to, "first_nonfinite", integer_of(found->first_nonfinite));
  json_object_set_new(to, "first_nonfinite_at", json_loads(place, 0, NULL));
}

static void set_best(json_t *to, const inspection *run, const row *about) {
  const fit *best = best_of(about);
  json_object_set_new(to, "kind", json_string(kind_name(about->is)));
  json_object_set_new(to, "best",
                      about->chosen.best == NOT_KNOWN
                          ? json_null()
                          : json_string(choice_name(&run->all, &about->chosen)));
  json_object_set_new(to, "scale_exponent",
                      best ? json_integer(best->scale_exponent) : json_null());
  json_object_set_new(to, "sqnr", real_of(best ? best->sqnr : (double)NAN));
  json_object_set_new(to, "product", real_of(best ? best->product : (double)NAN));
  json_object_set_new(to, "clipped", real_of(best ? best->clipped : (double)NAN));
  json_object_set_new(to, "flushed", real_of(best ? best->flushed : (double)NAN));
  json_object_set_new(to, "sampled", json_boolean(about->sampled));
}

static json_t *blocking_of(const block_fit *what, int way) {
  json_t *made = json_object();
  json_object_set_new(made, "sqnr", real_of(what->sqnr[way]));
  json_object_set_new(made, "clipped", real_of(what->clipped[way]));
  json_object_set_new(made, "flushed", real_of(what->flushed[way]));
  return made;
}

static json_t *blocks_of(const row *about) {
  json_t *list = json_array();
  unsigned f;
  for (f = 0; f < BLOCK_FORMATS; ++f) {
    const block_fit *what = &about->blocks[f];
    json_t *made = json_object();
    json_object_set_new(made, "format", json_string(block_format_of(f).name));
    json_object_set_new(made, "bits", json_real(about->chosen.blocks[f].bits));
    json_object_set_new(made, "why_not", why_of(&about->chosen.blocks[f]));
    json_object_set_new(made, "rows", blocking_of(what, 0));
    json_object_set_new(made, "columns", blocking_of(what, 1));
    json_array_append_new(list, made);
  }
  return list;
}

static json_t *row_of(const inspection *run, const row *about) {
  json_t *made = json_object();
  json_object_set_new(made, "file", json_text(about->file->path));
  json_object_set_new(made, "tensor", json_text(about->values->name));
  json_object_set_new(made, "type", json_string(element_name(about->values->type)));
  json_object_set_new(made, "shape", shape_of(about->values));
  json_object_set_new(made, "values", integer_of(about->values->count));
  set_findings(made, about);
  set_best(made, run, about);
  set_survival(made, about, fit_of_f16(run, about));
  set_survival(made, about, fit_of_bf16(run, about));
  json_object_set_new(
      made, "block_format",
      about->chosen.block < 0
          ? json_null()
          : json_string(block_format_of((unsigned)about->chosen.block).name));
  if (run->chosen->details) {
    json_t *list = json_array();
    unsigned f;
    for (f = 0; f < run->all.candidate_count; ++f)
      json_array_append_new(list, fit_of(&about->fits[f], &about->chosen.of[f]));
    json_object_set_new(made, "formats", list);
  }
  if (about->has_blocks) json_object_set_new(made, "blocks", blocks_of(about));
  json_object_set_new(made, "exponents", exponents_of(&about->found.histogram));
  return made;
}

static json_t *outcome_of(const char *name, const outcome *of) {
  json_t *made = json_object();
  json_object_set_new(made, "format", json_string(name));
  json_object_set_new(made, "bits", json_real(of->bits));
  json_object_set_new(made, "sqnr", real_of(of->sqnr));
  json_object_set_new(made, "product", real_of(of->product));
  json_object_set_new(made, "clipped_share", real_of(of->clipped));
  json_object_set_new(made, "flushed_share", real_of(of->flushed));
  json_object_set_new(made, "lost_share", real_of(of->lost));
  json_object_set_new(made, "why_not", why_of(of));
  json_object_set_new(made, "worst", json_text(of->worst->values->name));
  return made;
}

/* Of all tensors of a kind. */
static json_t *verdict_json(const inspection *run, const verdict *about) {
  const choice *of = &about->made;
  json_t *made = json_object(), *list = json_array(), *blocks = json_array();
  unsigned f;
  for (f = 0; f < run->all.candidate_count && of->of[f].worst; ++f)
    json_array_append_new(list, outcome_of(element_name(run->all.types[f]), &of->of[f]));
  for (f = 0; f < BLOCK_FORMATS && of->blocks[f].worst; ++f)
    json_array_append_new(blocks, outcome_of(block_format_of(f).name, &of->blocks[f]));
  json_object_set_new(made, "kind", json_string(kind_name(about->is)));
  json_object_set_new(made, "tensors", integer_of(about->tensors));
  json_object_set_new(made, "small", integer_of(about->small));
  json_object_set_new(made, "empty", integer_of(about->empty));
  json_object_set_new(made, "format", json_string(choice_name(&run->all, of)));
  json_object_set_new(made, "block_format",
                      of->block < 0
                          ? json_null()
                          : json_string(block_format_of((unsigned)of->block).name));
  json_object_set_new(made, "formats", list);
  json_object_set_new(made, "blocks", blocks);
  return made;
}

static json_t *texts_of(char *const *texts, size_t count) {
  json_t *list = json_array();
  size_t i;
  for (i = 0; i < count; ++i)
    json_array_append_new(list, json_text(texts[i]));
  return list;
}

/* On one line; takes the value. */
static bool put(FILE *to, const char *before, json_t *value) {
  const bool good = value && fputs(before, to) != EOF &&
                    json_dumpf(value, to, JSON_COMPACT | JSON_ENCODE_ANY) == 0;
  json_decref(value);
  return good;
}

bool write_json(const report *about, FILE *to) {
  const inspection *run = inspection_of(about);
  size_t count = 0, i;
  bool good;
  while (about->options[count])
    ++count;
  good = put(to, "{\"schema\":", json_integer(SCHEMA)) &&
         put(to, ",\n\"mpnum\":",
             json_sprintf("%d.%d.%d", MPNUM_VERSION_MAJOR, MPNUM_VERSION_MINOR,
                          MPNUM_VERSION_PATCH)) &&
         put(to, ",\n\"options\":", texts_of(about->options, count)) &&
         fputs(",\n\"files\":[", to) != EOF;
  for (i = 0; good && i < run->from.count; ++i) {
    const input *file = &run->from.files[i];
    good = put(to, i ? ",\n" : "\n",
               json_pack("{s:o, s:o}", "file", json_text(file->path), "notes",
                         texts_of(file->notes, file->note_count)));
  }
  good = good && fputs("\n],\n\"verdicts\":[", to) != EOF;
  for (i = 0, count = 0; good && i < KINDS; ++i) {
    const verdict *of = &run->kinds[i];
    if (of->tensors + of->small + of->empty > 0)
      good = put(to, count++ ? ",\n" : "\n", verdict_json(run, of));
  }
  good = good && fputs("\n],\n\"tensors\":[", to) != EOF;
  for (i = 0; good && i < run->all.count; ++i)
    good = put(to, i ? ",\n" : "\n", row_of(run, run->order[i]));
  return good && fputs("\n]}\n", to) != EOF;
}

/* --- CSV
 * -------------------------------------------------------------------------------- */

/* RFC 4180, without characters that drive a terminal or start a line. */
static void put_text(FILE *to, const char *text) {
  const bool quoted = strpbrk(text, ",\"\r\n") != NULL;
  char *clean = copy_text(text), *at;
  if (!clean) return;
  clean_text(clean);
  if (quoted) fputc('"', to);
  for (at = clean; *at; ++at) {
    if (*at == '"') fputc('"', to);
    fputc(*at, to);
  }
  if (quoted) fputc('"', to);
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
  const fit *best = best_of(about);
  const fit *const wide[] = {fit_of_f16(run, about), fit_of_bf16(run, about)};
  char shape[24 * RANK_LIMIT];
  int i;
  show_shape(shape, sizeof shape, about->values);
  put_text(to, about->file->path);
  fputc(',', to);
  put_text(to, about->values->name);
  fprintf(to, ",%s,%s", element_name(about->values->type), shape);
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
  put_real(to, best ? best->sqnr : (double)NAN);
  put_real(to, best ? best->clipped : (double)NAN);
  put_real(to, best ? best->flushed : (double)NAN);
  fprintf(to, ",%d", about->sampled);
  for (i = 0; i < 2; ++i) {
    fprintf(to, ",%d", survives(about, wide[i]));
    put_real(to, wide[i]->clipped);
    put_real(to, wide[i]->flushed);
  }
  fprintf(to, ",%s\n",
          about->chosen.block < 0 ? ""
                                  : block_format_of((unsigned)about->chosen.block).name);
}

bool write_csv(const report *about, FILE *to) {
  const inspection *run = inspection_of(about);
  size_t i;
  fputs("file,tensor,type,shape,values,amax,zeros,subnormals,infs,nans,"
        "first_nonfinite,best,scale_exponent,sqnr,clipped,flushed,sampled,"
        "f16,f16_clipped,f16_flushed,bf16,bf16_clipped,bf16_flushed,block_format\n",
        to);
  for (i = 0; i < run->all.count; ++i)
    put_row(to, run, run->order[i]);
  return !ferror(to);
}
