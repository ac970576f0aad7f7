/* SPDX-License-Identifier: MIT */
/* The pass over all values: threads take chunks that fit a second-level cache, so that
 * what the kernel has copied is counted while it is near. */
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpnum/array/array.h>
#include <mpnum/types/f32.h>
#include <mpnum/array/reduce.h>

#include "../core/message.h"
#include "../core/progress.h"
#include "verdict.h"

enum { CHUNK = 256 << 10, TILE = 4096, THREAD_LIMIT = 8, TABLES = 4 };

typedef struct work {
  verdict_run *run;
  pthread_mutex_t lock; /* of all that follows, and of the rows' findings */
  size_t next_row;
  uint64_t next_value; /* of that row */
  progress bar;
  bool failed;
  refusal why;
  const char *subject;
} work;

static findings no_findings(void) {
  findings none;
  memset(&none, 0, sizeof none);
  none.first_nonfinite = UINT64_MAX;
  return none;
}

static void merge(findings *all, const findings *part) {
  all->zeros += part->zeros;
  all->subnormals += part->subnormals;
  all->infs += part->infs;
  all->nans += part->nans;
  all->too_large += part->too_large;
  all->too_small += part->too_small;
  if (part->first_nonfinite < all->first_nonfinite)
    all->first_nonfinite = part->first_nonfinite;
  if (part->amax > all->amax) all->amax = part->amax;
  mpnum_histogram_merge(&all->histogram, &part->histogram);
}

/* --- reading */

static void to_floats(float *dst, mpnum_type type, const void *src, size_t count) {
  must(mpnum_convert_array(MPNUM_TYPE_F32, dst, type, src, count,
                           MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0));
}

bool read_floats(const input *file, const tensor *values, uint64_t first, void *raw,
                 float *dst, size_t count, refusal *why) {
  if (!input_values(file, values, first, raw, count, why)) return false;
  to_floats(dst, values->type, raw, count);
  return true;
}

/* --- counting */

typedef uint32_t exponent_tables[TABLES][256];

/* Neighbours count in tables of their own: an increment need not wait for the last one.
 * The exponent of a bf16 is that of its float. */
#define COUNT_EXPONENTS(name, word, shift)                                 \
 static void name(exponent_tables tables, const void *raw, size_t count) { \
  const unsigned char *at = raw;                                           \
  size_t i;                                                                \
  word bits[TABLES];                                                       \
  for (i = 0; i + TABLES <= count; i += TABLES) {                          \
   memcpy(bits, at + i * sizeof *bits, sizeof bits);                       \
   ++tables[0][bits[0] >> shift & 0xff];                                   \
   ++tables[1][bits[1] >> shift & 0xff];                                   \
   ++tables[2][bits[2] >> shift & 0xff];                                   \
   ++tables[3][bits[3] >> shift & 0xff];                                   \
  }                                                                        \
  for (; i < count; ++i) {                                                 \
   memcpy(bits, at + i * sizeof *bits, sizeof *bits);                      \
   ++tables[0][bits[0] >> shift & 0xff];                                   \
  }                                                                        \
 }
COUNT_EXPONENTS(count_32, uint32_t, 23)
COUNT_EXPONENTS(count_16, uint16_t, 7)

/* By way of floats. */
static void count_tiles(exponent_tables tables, mpnum_type type, const unsigned char *raw,
                        size_t count) {
  float values[TILE];
  size_t now;
  for (size_t i = 0; i < count; i += now) {
    now = count - i < TILE ? count - i : TILE;
    to_floats(values, type, raw + i * element_size(type), now);
    count_32(tables, values, now);
  }
}

static uint64_t in_tables(exponent_tables tables, int k) {
  return (uint64_t)tables[0][k] + tables[1][k] + tables[2][k] + tables[3][k];
}

/* Zeros are among entry 0. */
static void fold_tables(findings *part, exponent_tables tables, uint64_t zeros) {
  for (int k = 0; k < 256; ++k)
    part->histogram.counts[k] += in_tables(tables, k);
  part->histogram.counts[0] -= zeros;
  part->histogram.zeros += zeros;
}

static void take_stats(findings *part, mpnum_stats stats) {
  part->zeros = stats.zeros;
  part->subnormals = stats.subnormals;
  part->infs = stats.infs;
  part->nans = stats.nans;
  part->amax = (double)stats.amax;
}

/* The counts tell whether more than amax is to be found out, which takes longer. */
#define COUNT_TYPE(type, count_words)                                      \
 static void count_##type(findings *part, const void *raw, size_t count) { \
  exponent_tables tables = {{0}};                                          \
  count_words(tables, raw, count);                                         \
  if (in_tables(tables, 0) + in_tables(tables, 255) == 0)                  \
   part->amax = (double)mpnum_amax_##type(raw, count);                     \
  else                                                                     \
   take_stats(part, mpnum_stats_##type(raw, count));                       \
  if (part->infs + part->nans > 0)                                         \
   part->first_nonfinite = mpnum_first_nonfinite_##type(raw, count);       \
  fold_tables(part, tables, part->zeros);                                  \
 }
COUNT_TYPE(f32, count_32)
COUNT_TYPE(bf16, count_16)

/* Its zeros are all that have exponent field 0 as floats, its subnormals, up to 2^-14,
 * those below field 113 = 127 - 14. */
static void count_f16(findings *part, const void *raw, size_t count) {
  exponent_tables tables = {{0}};
  count_tiles(tables, MPNUM_TYPE_F16, raw, count);
  if (in_tables(tables, 255) == 0) {
    part->amax = (double)mpnum_amax_f16(raw, count);
    part->zeros = in_tables(tables, 0);
    for (int k = 1; k < 113; ++k)
      part->subnormals += in_tables(tables, k);
  } else {
    take_stats(part, mpnum_stats_f16(raw, count));
    part->first_nonfinite = mpnum_first_nonfinite_f16(raw, count);
  }
  fold_tables(part, tables, part->zeros);
}

/* f32 may make Inf or 0 of a double that is neither, which is then told apart. */
static void classify_f64(findings *part, const double *values, size_t count) {
  const uint64_t infinity = UINT64_C(0x7ff0000000000000);
  const uint64_t least_normal = UINT64_C(0x0010000000000000);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t narrow = mpnum_bits_f32(mpnum_f64_to_f32(values[i])) & 0x7fffffffu;
    uint64_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    bits &= INT64_MAX;
    part->zeros += bits == 0;
    part->subnormals += bits - 1 < least_normal - 1;
    part->infs += bits == infinity;
    part->nans += bits > infinity;
    part->too_small += narrow == 0 && bits != 0;
    part->too_large += narrow == 0x7f800000u && bits != infinity;
    if (bits >= infinity && part->first_nonfinite == UINT64_MAX)
      part->first_nonfinite = i;
  }
}

static void count_f64(findings *part, const void *raw, size_t count) {
  const double *values = raw;
  exponent_tables tables = {{0}};
  count_tiles(tables, MPNUM_TYPE_F64, raw, count);
  if (in_tables(tables, 0) + in_tables(tables, 255) > 0)
    classify_f64(part, values, count);
  for (size_t i = 0; i < count; ++i) {
    const double magnitude = fabs(values[i]);
    if (magnitude > part->amax && magnitude <= DBL_MAX) part->amax = magnitude;
  }
  fold_tables(part, tables, part->zeros + part->too_small);
}

static bool is_finite_code(mpnum_format format, uint32_t code) {
  return isfinite(mpnum_decode(format, code));
}

/* One count for each code says it all. */
static void count_8(findings *part, mpnum_type type, const unsigned char *raw,
                    size_t count) {
  const mpnum_format format = mpnum_format_of(type);
  exponent_tables tables = {{0}};
  size_t i;
  for (i = 0; i + TABLES <= count; i += TABLES) {
    ++tables[0][raw[i]];
    ++tables[1][raw[i + 1]];
    ++tables[2][raw[i + 2]];
    ++tables[3][raw[i + 3]];
  }
  for (; i < count; ++i)
    ++tables[0][raw[i]];
  for (uint32_t code = 0; code < 256; ++code) {
    const uint64_t found = in_tables(tables, (int)code);
    const double magnitude = fabs((double)mpnum_decode(format, code));
    if (found == 0) continue;
    if (isnan(magnitude)) {
      part->nans += found;
    } else if (isinf(magnitude)) {
      part->infs += found;
    } else if (magnitude <= 0) {
      part->zeros += found;
      part->histogram.zeros += found;
      continue;
    } else {
      if (mpnum_issubnormal(format, code)) part->subnormals += found;
      if (magnitude > part->amax) part->amax = magnitude;
    }
    part->histogram.counts[mpnum_bits_f32(mpnum_decode(format, code)) >> 23 & 0xff] +=
        found;
  }
  for (i = 0; part->infs + part->nans > 0 && part->first_nonfinite == UINT64_MAX; ++i) {
    if (!is_finite_code(format, raw[i])) part->first_nonfinite = i;
  }
}

static findings count_chunk(mpnum_type type, const void *raw, uint64_t first,
                            size_t count) {
  findings part = no_findings();
  switch (type) {
  case MPNUM_TYPE_F64: count_f64(&part, raw, count); break;
  case MPNUM_TYPE_F32: count_f32(&part, raw, count); break;
  case MPNUM_TYPE_F16: count_f16(&part, raw, count); break;
  case MPNUM_TYPE_BF16: count_bf16(&part, raw, count); break;
  default: count_8(&part, type, raw, count); break;
  }
  if (part.first_nonfinite != UINT64_MAX) part.first_nonfinite += first;
  return part;
}

/* --- threads */

static void fail(work *self, const input *file, const refusal *why) {
  pthread_mutex_lock(&self->lock);
  if (!self->failed) {
    self->failed = true;
    self->why = *why;
    self->subject = file ? file->path : NULL;
  }
  pthread_mutex_unlock(&self->lock);
}

/* The next chunk; NULL when there is none, or another thread has failed. */
static row *take_chunk(work *self, uint64_t *first, size_t *count) {
  row *taken = NULL;
  pthread_mutex_lock(&self->lock);
  if (!self->failed && self->next_row < self->run->count) {
    taken = &self->run->rows[self->next_row];
    size_t most = CHUNK / element_size(taken->values->type);
    uint64_t left = taken->values->count - self->next_value;
    *first = self->next_value;
    *count = left < most ? (size_t)left : most;
    self->next_value += *count;
    if (self->next_value == taken->values->count) {
      self->next_value = 0;
      ++self->next_row;
    }
    progress_step(&self->bar, *count, taken->values->name);
  }
  pthread_mutex_unlock(&self->lock);
  return taken;
}

static void *count_chunks(void *place) {
  work *self = place;
  refusal why;
  uint64_t first = 0;
  size_t count = 0;
  row *about;
  void *raw = malloc(CHUNK);
  if (!raw) {
    refuse(&why, "out of memory");
    fail(self, NULL, &why);
    return NULL;
  }
  while ((about = take_chunk(self, &first, &count)) != NULL) {
    if (!input_values(about->file, about->values, first, raw, count, &why)) {
      fail(self, about->file, &why);
      break;
    }
    findings part = count_chunk(about->values->type, raw, first, count);
    pthread_mutex_lock(&self->lock);
    merge(&about->found, &part);
    pthread_mutex_unlock(&self->lock);
  }
  free(raw);
  return NULL;
}

static row *take_row(work *self) {
  row *taken = NULL;
  pthread_mutex_lock(&self->lock);
  if (!self->failed && self->next_row < self->run->count) {
    taken = &self->run->rows[self->next_row++];
    progress_step(&self->bar, measure_work(self->run, taken), taken->values->name);
  }
  pthread_mutex_unlock(&self->lock);
  return taken;
}

static void *measure_rows(void *place) {
  work *self = place;
  refusal why;
  row *about;
  while ((about = take_row(self)) != NULL) {
    const row *alone = about;
    if (measure_row(self->run, about, &why))
      choose_for(self->run, &alone, 1, about->is, &about->chosen);
    else
      fail(self, about->file, &why);
  }
  return NULL;
}

/* That this process may use. */
static unsigned processors(void) {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) count = CPU_COUNT(&set);
#endif
  return count < 1 ? 1 : (unsigned)count;
}

/* In as many threads as there are processors; this one is one of them. */
static void in_threads(work *self, void *(*step)(void *)) {
  pthread_t others[THREAD_LIMIT];
  unsigned count = processors(), started = 0, i;
  count = count > THREAD_LIMIT ? THREAD_LIMIT : count;
  self->next_row = 0;
  self->next_value = 0;
  while (started + 1 < count && pthread_create(&others[started], NULL, step, self) == 0)
    ++started;
  step(self);
  for (i = 0; i < started; ++i)
    pthread_join(others[i], NULL);
}

enum { NAME_WIDTH = 32 };

/* What they are, and what each is multiplied by: `fc.weight` and `fc.input`. */
static bool begin_rows(verdict_run *run) {
  const char **names = malloc((run->count + 1) * sizeof *names);
  for (size_t i = 0; i < run->count && names; ++i) {
    names[i] = run->rows[i].values->name;
    run->rows[i].is = kind_of(names[i]);
    run->rows[i].found = no_findings();
  }
  run->names = names ? shorten_apart(names, run->count, NAME_WIDTH) : NULL;
  free(names);
  pair_rows(run);
  return run->names != NULL;
}

void verdict_free(verdict_run *run) {
  shorten_free(run->names, run->count);
  free(run->rows);
}

bool verdict_measure(verdict_run *run, const char **subject, refusal *why) {
  work all;
  uint64_t values = 0;
  memset(&all, 0, sizeof all);
  all.run = run;
  *subject = NULL;
  if (!begin_rows(run)) return refuse(why, "out of memory");
  pthread_mutex_init(&all.lock, NULL);
  for (size_t i = 0; i < run->count; ++i) {
    values += run->rows[i].values->count + measure_work(run, &run->rows[i]);
#if defined(POSIX_FADV_SEQUENTIAL)
    if (i == 0 || run->rows[i].file != run->rows[i - 1].file)
      posix_fadvise(run->rows[i].file->descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
  }
  progress_begin(&all.bar, values);
  in_threads(&all, count_chunks);
  if (!all.failed) in_threads(&all, measure_rows);
  progress_end(&all.bar);
  pthread_mutex_destroy(&all.lock);
  *subject = all.subject;
  *why = all.why;
  return !all.failed;
}
