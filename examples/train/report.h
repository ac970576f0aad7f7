/* SPDX-License-Identifier: MIT */
/* What train_f16 says while it trains: on a terminal a line that is written anew each
 * step, elsewhere a line now and then; what happens in lines of their own; every step as
 * JSON. */
#ifndef EXAMPLES_TRAIN_REPORT_H
#define EXAMPLES_TRAIN_REPORT_H

#include <mpnum/training/health.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "options.h"

/* A step that is done. */
typedef struct progress {
  uint64_t step, skipped; /* of all steps so far */
  mpnum_type type;        /* of values, in this step */
  float loss, scale, norm, zero_share;
  float next_scale;
  uint32_t alarms;
  uint32_t skips; /* in a row, with this one; 0: it was applied */
  uint64_t layer; /* the first one with Inf or NaN, if one has */
} progress;

typedef struct report {
  FILE *log; /* NULL: none */
  uint64_t steps, every;
  int is_terminal;
  uint32_t seen; /* alarms that were told */
} report;

/* NULL, or why the log cannot be written. A run that is resumed goes on with its log. */
static inline const char *report_open(report *to, const options *chosen) {
  to->log = NULL;
  to->steps = chosen->steps;
  to->every = chosen->every;
  to->is_terminal = isatty(STDOUT_FILENO);
  to->seen = 0;
  if (chosen->log) to->log = fopen(chosen->log, chosen->resume ? "a" : "w");
  return chosen->log && !to->log ? strerror(errno) : NULL;
}
/* NULL, or what is wrong. */
static inline const char *report_close(report *to) {
  int is_lost = to->log && ferror(to->log);
  if (to->log && fclose(to->log) != 0) is_lost = 1;
  return is_lost ? "it could not be written" : NULL;
}

/* Scales are powers of two here. */
static inline int report_power(float scale) {
  return (int)(mpnum_log2_f32(scale) + 0.5f);
}
#if defined(__GNUC__) /* the compiler then compares the format with what follows */
static inline void report_event(const report *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#endif
/* A line that stays. */
#ifdef __GNUC__
__attribute__((__format__(__printf__, 2, 3)))
#endif
static inline void
report_event(const report *to, const char *format, ...) {
  va_list values;
  if (to->is_terminal) fputs("\r\033[K", stdout); /* over the live line */
  va_start(values, format);
  vprintf(format, values);
  va_end(values);
  putchar('\n');
}
/* JSON knows no Inf and NaN. */
static inline void report_number(FILE *log, const char *name, float x) {
  if (mpnum_isfinite_f32(x)) {
    fprintf(log, ", \"%s\": %.9g", name, (double)x);
  } else {
    fprintf(log, ", \"%s\": null", name);
  }
}
static inline void report_log(FILE *log, const progress *now) {
  fprintf(log, "{\"step\": %llu, \"format\": \"%s\", \"skipped\": %s, \"alarms\": %u",
          (unsigned long long)now->step, mpnum_type_name(now->type),
          now->skips ? "true" : "false", (unsigned)now->alarms);
  report_number(log, "loss", now->loss);
  report_number(log, "scale", now->scale);
  report_number(log, "norm", now->norm);
  report_number(log, "zero_share", now->zero_share);
  fprintf(log, "}\n");
}
static inline void report_step(report *to, const progress *now) {
  uint32_t fresh = now->alarms & ~to->seen;
  to->seen |= fresh;
  if (now->skips > 0 && now->skips <= 3) /* more of them tell nothing new */
    report_event(to, "step %llu: skipped, layer %llu has %s; the scale is now 2^%d",
                 (unsigned long long)now->step, (unsigned long long)now->layer,
                 now->alarms & MPNUM_HEALTH_NAN ? "NaN" : "Inf",
                 report_power(now->next_scale));
  for (; fresh; fresh &= fresh - 1)
    report_event(to, "step %llu: alarm: %s", (unsigned long long)now->step,
                 mpnum_health_string(fresh));
  if (to->log) report_log(to->log, now);
  if (!to->is_terminal && now->step % to->every != 0 && now->step != to->steps) return;
  printf("%sstep %llu/%llu  %s  loss %.4f  scale 2^%d  norm %.1e  zeros %.0f %%  "
         "skipped %llu%s",
         to->is_terminal ? "\r\033[K" : "", (unsigned long long)now->step,
         (unsigned long long)to->steps, mpnum_type_name(now->type), (double)now->loss,
         report_power(now->scale), (double)now->norm, 100 * (double)now->zero_share,
         (unsigned long long)now->skipped,
         to->is_terminal && now->step != to->steps ? "" : "\n");
  fflush(stdout);
}

#endif
