/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <mpnum/training/advice.h>

#include "inspect.h"
#include "trend.h"

/* Powers of two that a loss scale leaves to larger gradients of steps to come. */
enum { HEADROOM = 1, F16_NORMAL = 127 - 14 };

const char *const series_names[SERIES] = {"zeros", "subnormal in f16", "lost in e4m3",
                                          "lost in e5m2"};

/* --- the order of steps */

/* The index-th number in a text; false where there are fewer, or it is past 2^53. */
static bool number_in(const char *text, size_t index, uint64_t *number) {
  for (;; --index) {
    char *end;
    while (*text && !isdigit((unsigned char)*text))
      ++text;
    if (!*text) return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    if (index == 0) return errno == 0 && *number >> 53 == 0; /* a double has it */
    text = end;
  }
}

/* By the first number of their names that is not the same in all. */
static bool number_steps(trend *made, const char *(*name_of)(const char *path)) {
  for (size_t index = 0;; ++index) {
    bool differs = made->step_count == 1;
    for (size_t i = 0; i < made->step_count; ++i) {
      step *at = &made->steps[i];
      if (!number_in(name_of(at->path), index, &at->number)) return false;
      differs = differs || at->number != made->steps[0].number;
    }
    if (differs) return true;
  }
}

static const char *whole_path(const char *path) { return path; }

/* Equal numbers stay as given. */
static int compare_steps(const void *a, const void *b) {
  const step *left = a, *right = b;
  if (left->number != right->number) return left->number < right->number ? -1 : 1;
  return left->place < right->place ? -1 : 1;
}

static bool list_steps(trend *made, refusal *why) {
  const size_t count = made->chosen->path_count;
  made->steps = calloc(count, sizeof *made->steps);
  if (!made->steps) return refuse(why, "out of memory");
  for (made->step_count = 0; made->step_count < count; ++made->step_count) {
    made->steps[made->step_count].path = made->chosen->paths[made->step_count];
    made->steps[made->step_count].place = made->step_count;
  }
  made->is_numbered = number_steps(made, base_name) || number_steps(made, whole_path);
  if (!made->is_numbered) return true;
  qsort(made->steps, count, sizeof *made->steps, compare_steps);
  for (size_t i = 0; i < count; ++i)
    snprintf(made->steps[i].digits, sizeof made->steps[i].digits, "%" PRIu64,
             made->steps[i].number);
  return true;
}

const char *step_name(const trend *made, size_t index) {
  return made->is_numbered ? made->steps[index].digits : made->steps[index].path;
}

/* --- what is followed */

/* The first wanted tensors: later files are compared with these. */
static bool list_tracks(trend *made, const char **subject, refusal *why) {
  size_t room = 1, total = 0;
  for (size_t f = 0; f < made->first.count; ++f)
    total += made->first.files[f].tensor_count;
  made->tracks = calloc(total + 1, sizeof *made->tracks);
  if (!made->tracks) return refuse(why, "out of memory");
  for (size_t f = 0; f < made->first.count; ++f) {
    const input *file = &made->first.files[f];
    for (size_t t = 0; t < file->tensor_count; ++t) {
      if (is_wanted(made->chosen, file->tensors[t].name))
        made->tracks[room++].of = &file->tensors[t];
    }
  }
  made->track_count = room;
  for (size_t t = 0; t < room; ++t) {
    made->tracks[t].at = calloc(made->step_count, sizeof(moment));
    if (!made->tracks[t].at) return refuse(why, "out of memory");
  }
  if (room > 1) return true;
  *subject = total > 0 ? "--tensor" : made->steps[0].path;
  return refuse(why, total > 0 ? "no tensor of the first step has such a name"
                               : "holds no floating-point values to follow");
}

static bool add_remark(trend_remark **list, size_t *count, size_t in, const char *name,
                       const char *text, refusal *why) {
  trend_remark *grown = realloc(*list, (*count + 1) * sizeof *grown);
  char *copy = copy_text(name); /* its file will be closed */
  if (grown) *list = grown;
  if (!grown || !copy) return free(copy), refuse(why, "out of memory");
  grown += (*count)++;
  grown->in = in;
  grown->name = copy;
  snprintf(grown->text, REMARK, "%s", text);
  return true;
}

static const tensor *find_tensor(const input_set *set, const char *name,
                                 const input **file) {
  for (size_t f = 0; f < set->count; ++f) {
    *file = &set->files[f];
    for (size_t t = 0; t < (*file)->tensor_count; ++t) {
      if (strcmp((*file)->tensors[t].name, name) == 0) return &(*file)->tensors[t];
    }
  }
  return NULL;
}

static bool is_alone(const input_set *set) {
  return set->count == 1 && set->files[0].tensor_count == 1;
}

/* Rows of the tensors that the first file has, too, and remarks on others; the track of
 * each row. */
static bool list_rows(trend *made, size_t in, verdict_run *run, size_t *tracks,
                      refusal *why) {
  const input_set *set = in == 0 ? &made->first : &made->now;
  const bool by_place =
      is_alone(&made->first) && is_alone(set); /* step1.npy, step2.npy */
  const input *file = NULL;
  char text[REMARK];
  for (size_t t = 1; t < made->track_count; ++t) {
    const tensor *first = made->tracks[t].of;
    const tensor *of =
        by_place ? (file = set->files)->tensors : find_tensor(set, first->name, &file);
    if (of && have_one_shape(first->rank, first->shape, of->rank, of->shape)) {
      tracks[run->count] = t;
      run->rows[run->count].file = file;
      run->rows[run->count++].values = of;
      continue;
    }
    snprintf(text, sizeof text, "is missing");
    if (of) show_shapes(text, first->rank, first->shape, of->rank, of->shape);
    if (!add_remark(&made->remarks, &made->remark_count, in, of ? of->name : first->name,
                    text, why))
      return false;
  }
  for (size_t f = 0; f < set->count && !by_place; ++f) {
    for (size_t t = 0; t < set->files[f].tensor_count; ++t) {
      const char *name = set->files[f].tensors[t].name;
      if (is_wanted(made->chosen, name) && !find_tensor(&made->first, name, &file) &&
          !add_remark(&made->remarks, &made->remark_count, in, name,
                      "is not in the first step", why))
        return false;
    }
  }
  return true;
}

/* --- what a step has */

static moment moment_of(const row *about) {
  const findings *found = &about->found;
  moment made;
  memset(&made, 0, sizeof made);
  made.is_there = true;
  made.sampled = about->sampled;
  made.values = about->values->count;
  made.infs = found->infs;
  made.nans = found->nans;
  made.first_nonfinite = found->first_nonfinite;
  made.amax = found->amax;
  made.counts[ZEROS] = (double)found->zeros;
  made.counts[F16_SUBNORMALS] = (double)found->too_small;
  for (int k = 0; k < F16_NORMAL; ++k)
    made.counts[F16_SUBNORMALS] += (double)found->histogram.counts[k];
  for (int f = 0; f < 2; ++f)
    made.counts[E4M3_LOST + f] = about->fits[f].clipped + about->fits[f].flushed;
  return made;
}

static void add_moment(moment *sum, const moment *of) {
  const bool is_first = !sum->is_there;
  sum->is_there = true;
  sum->sampled = sum->sampled || of->sampled;
  sum->values += of->values;
  sum->infs += of->infs;
  sum->nans += of->nans;
  sum->first_nonfinite = is_first ? of->first_nonfinite : UINT64_MAX;
  if (of->amax > sum->amax) sum->amax = of->amax;
  for (int s = 0; s < SERIES; ++s)
    sum->counts[s] += of->counts[s];
}

static bool note_nonfinite(trend *made, size_t in, const row *about, refusal *why) {
  const findings *found = &about->found;
  char place[24 * RANK_LIMIT], text[REMARK];
  if (found->infs + found->nans == 0) return true;
  show_place(place, sizeof place, about->values, found->first_nonfinite);
  snprintf(text, sizeof text, "has %" PRIu64 " Inf, %" PRIu64 " NaN, the first at %.60s",
           found->infs, found->nans, place);
  return add_remark(&made->nonfinite, &made->nonfinite_count, in, about->values->name,
                    text, why);
}

static bool measure_step(trend *made, size_t in, verdict_run *run, const size_t *tracks,
                         const char **subject, refusal *why) {
  const mpnum_type *types = made->chosen->candidates;
  verdict_candidates(run, types, made->chosen->candidate_count);
  run->exact = made->chosen->exact;
  if (!verdict_measure(run, subject, why)) return false;
  for (size_t i = 0; i < run->count; ++i) {
    moment *at = &made->tracks[tracks[i]].at[in];
    *at = moment_of(&run->rows[i]);
    add_moment(&made->tracks[0].at[in], at);
    if (!note_nonfinite(made, in, &run->rows[i], why)) return false;
  }
  return true;
}

static bool open_step(trend *made, size_t in, const char **subject, refusal *why) {
  step *at = &made->steps[in];
  input_set *set = in == 0 ? &made->first : &made->now;
  struct stat status;
  if (!inputs_open(set, &at->path, 1, made->chosen->codes, why))
    return *subject = set->refused, false;
  *subject = at->path;
  if (fstat(set->files[0].descriptor, &status) != 0)
    return refuse(why, "cannot be examined: %s", strerror(errno));
  at->device = status.st_dev;
  at->inode = status.st_ino;
  for (size_t i = 0; i < in; ++i) {
    if (made->steps[i].device == at->device && made->steps[i].inode == at->inode)
      return refuse(why, "is given twice");
  }
  return true;
}

static bool read_step(trend *made, size_t in, const char **subject, refusal *why) {
  verdict_run run;
  memset(&run, 0, sizeof run);
  size_t *tracks = calloc(made->track_count, sizeof *tracks);
  run.rows = calloc(made->track_count, sizeof *run.rows);
  bool good = (tracks && run.rows) || refuse(why, "out of memory");
  good = good && list_rows(made, in, &run, tracks, why) &&
         measure_step(made, in, &run, tracks, subject, why);
  verdict_free(&run);
  free(tracks);
  return good;
}

/* --- the whole */

double trend_share(const moment *at, series which) {
  const double finite = (double)(at->values - at->infs - at->nans);
  const double whole =
      which < E4M3_LOST ? (double)at->values : finite - at->counts[ZEROS];
  return at->is_there && whole > 0 ? at->counts[which] / whole : (double)NAN;
}

bool trend_scale(const moment *at, int *exponent) {
  const float amax = (float)at->amax;
  if (at->infs + at->nans > 0 || !(amax > 0) || !(amax <= FLT_MAX)) return false;
  frexpf(mpnum_best_scale(mpnum_format_of(MPNUM_TYPE_F16), amax, HEADROOM), exponent);
  --*exponent;
  return true;
}

size_t trend_shown(const trend *made) {
  const size_t tensors = made->track_count - 1, top = made->chosen->top;
  return tensors == 1 ? 1 : 1 + (top > 0 && top < tensors ? top : tensors);
}

static int compare_tracks(const void *a, const void *b) {
  const track *left = a, *right = b;
  if (left->trouble < right->trouble || left->trouble > right->trouble)
    return left->trouble < right->trouble ? 1 : -1;
  return left->of < right->of ? -1 : left->of > right->of; /* as in their file */
}

/* All together stay first. */
static void sort_tracks(trend *made) {
  for (size_t t = 1; t < made->track_count; ++t) {
    track *of = &made->tracks[t];
    for (size_t i = 0; i < made->step_count; ++i) {
      const moment *at = &of->at[i];
      const double lost = at->counts[ZEROS] + at->counts[E4M3_LOST];
      of->trouble = fmax(of->trouble, at->infs + at->nans > 0 ? 2
                                      : at->values > 0        ? lost / (double)at->values
                                                              : 0);
    }
  }
  qsort(made->tracks + 1, made->track_count - 1, sizeof *made->tracks, compare_tracks);
}

bool trend_follow(trend *made, const output outputs[OUTPUTS], const char **subject,
                  refusal *why) {
  bool good = list_steps(made, why);
  for (size_t i = 0; good && i < made->step_count; ++i) {
    const input_set *set = i == 0 ? &made->first : &made->now;
    good = open_step(made, i, subject, why);
    if (good && !outputs_check(outputs, set->files, set->count)) {
      why->text[0] = 0; /* it was told */
      good = false;
    }
    good = good && (i > 0 || list_tracks(made, subject, why)) &&
           read_step(made, i, subject, why);
    if (good) inputs_close(&made->now); /* else why may be about its path */
  }
  if (good) sort_tracks(made);
  return good;
}

static void free_remarks(trend_remark *list, size_t count) {
  for (size_t i = 0; i < count; ++i)
    free(list[i].name);
  free(list);
}

void trend_free(trend *made) {
  for (size_t t = 0; t < made->track_count; ++t)
    free(made->tracks[t].at);
  free(made->tracks);
  free_remarks(made->nonfinite, made->nonfinite_count);
  free_remarks(made->remarks, made->remark_count);
  free(made->steps);
  inputs_close(&made->first);
  inputs_close(&made->now);
}
