/* SPDX-License-Identifier: MIT */
/* mpnum bench. All inputs are checked before anything is measured, all is measured before
 * anything is written: what goes wrong leaves one line on stderr and nothing else. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/host.h"
#include "report/output.h"
#include "report/results.h"

enum { DONE = 0, NO_RESULT = 1, WRONG_INPUT = 2 };
enum {
  ROUNDS = 21,
  QUICK_ROUNDS = 3,
  ARRAY_ROUNDS = 11,
  LONG_ROUNDS = 5,
  HEADER_ROUNDS = 11,
  CALL_ROUNDS = 3,
  VALUES = 1 << 20,
  QUICK_VALUES = 4096,
  GPU_PATTERNS = 1 << 24,
  GPU_QUICK_PATTERNS = 1 << 18
};

static bool open_inputs(results *found, const char **paths, size_t count) {
  size_t i;
  refusal why;
  found->files = calloc(count + 1, sizeof *found->files);
  if (!found->files) return complain(NULL, "out of memory"), false;
  for (i = 0; i < count; ++i) {
    if (!input_open(&found->files[i], paths[i], &why))
      return complain(paths[i], why.text), false;
    ++found->file_count;
  }
  return true;
}

static bool list_subjects(results *found) {
  size_t i, t, count = DISTRIBUTION_COUNT;
  subject *next;
  for (i = 0; i < found->file_count; ++i)
    count += found->files[i].tensor_count;
  next = found->subjects = calloc(count, sizeof *found->subjects);
  if (!next) return complain(NULL, "out of memory"), false;
  found->subject_count = count;
  for (i = 0; i < DISTRIBUTION_COUNT; ++i, ++next) {
    next->law = &distributions[i];
    next->count = found->chosen->quick ? QUICK_VALUES : VALUES;
  }
  for (i = 0; i < found->file_count; ++i) {
    for (t = 0; t < found->files[i].tensor_count; ++t, ++next) {
      next->file = &found->files[i];
      next->values = &found->files[i].tensors[t];
      next->count = next->values->count;
    }
  }
  return true;
}

static bool check_outputs(const results *found) {
  static const char *const kinds[] = {"JSON", "CSV", "SVG"};
  const char *paths[3];
  refusal why;
  size_t i, other;
  paths[0] = found->chosen->json;
  paths[1] = found->chosen->csv;
  paths[2] = found->chosen->svg;
  for (i = 0; i < 3; ++i) {
    if (!paths[i]) continue;
    for (other = 0; other < i; ++other) {
      if (!paths[other] || strcmp(paths[i], paths[other]) != 0) continue;
      refuse(&why, "is named for %s and for %s", kinds[other], kinds[i]);
      return complain(paths[i], why.text), false;
    }
    if (!output_check(paths[i], found, &why)) return complain(paths[i], why.text), false;
  }
  return true;
}

static int measure_accuracy(results *found, progress *bar) {
  size_t i;
  refusal why;
  uint64_t work = 0;
  for (i = 0; i < found->subject_count; ++i)
    work += accuracy_work(&found->subjects[i], found->chosen->scaling);
  progress_begin(bar, work);
  for (i = 0; i < found->subject_count; ++i) {
    subject *about = &found->subjects[i];
    if (accuracy_measure(about, found->chosen->scaling, bar, &why)) continue;
    progress_end(bar);
    return complain(subject_source(about), why.text), WRONG_INPUT;
  }
  progress_end(bar);
  return DONE;
}

static int measure_times(results *found, progress *bar) {
  const options *chosen = found->chosen;
  unsigned rounds = chosen->quick ? QUICK_ROUNDS : ROUNDS;
  size_t calls = chosen->quick ? QUICK_VALUES : SCALAR_VALUES;
  bool good = true;
  progress_begin(bar, (chosen->speed ? speed_work(rounds) : 0) +
                          (chosen->scalar ? scalar_work(rounds) : 0));
  found->scalar_rounds = rounds;
  if (chosen->speed) good = speed_measure(&found->speed, chosen->size, rounds, bar);
  if (chosen->scalar) good = good && scalar_measure(found->scalar, calls, rounds, bar);
  progress_end(bar);
  return good ? DONE : (complain(NULL, "out of memory"), NO_RESULT);
}

static int measure_arrays(results *found, array_results *dst, const array_set *set,
                          progress *bar) {
  static const array_plan full = {
      {4 << 10, 256 << 10, 256 << 20}, {ARRAY_ROUNDS, ARRAY_ROUNDS, LONG_ROUNDS}, 1};
  static const array_plan quick = {
      {4 << 10, 16 << 10, 64 << 10}, {QUICK_ROUNDS, QUICK_ROUNDS, QUICK_ROUNDS}, 1};
  array_plan plan = found->chosen->quick ? quick : full;
  plan.threads = found->chosen->threads;
  if (arrays_measure(dst, set, &plan, bar)) return DONE;
  return complain(NULL, "out of memory, or of threads"), NO_RESULT;
}

static int measure_math(results *found, progress *bar) {
  static const math_plan full = {64 << 10, 256 << 20, ARRAY_ROUNDS};
  static const math_plan quick = {QUICK_VALUES, 1 << 20, QUICK_ROUNDS};
  if (math_measure(&found->math, found->chosen->quick ? &quick : &full, bar)) return DONE;
  return complain(NULL, "out of memory"), NO_RESULT;
}

static int measure_headers(results *found) {
  refusal why;
  bool quick = found->chosen->quick;
  if (headers_measure(&found->headers, quick ? 1 : HEADER_ROUNDS, quick ? 1 : CALL_ROUNDS,
                      &why))
    return DONE;
  return complain("tools/include-cost", why.text), NO_RESULT;
}

/* Without a GPU the others' results stand, with a line that says so. */
static int measure_gpu(results *found, progress *bar) {
  const options *chosen = found->chosen;
  gpu_plan plan;
  plan.size = chosen->gpu_size;
  plan.rounds = chosen->quick ? QUICK_ROUNDS : ROUNDS;
  plan.patterns = chosen->quick ? GPU_QUICK_PATTERNS : GPU_PATTERNS;
  plan.m = chosen->mnk[0];
  plan.n = chosen->mnk[1];
  plan.k = chosen->mnk[2];
  gpu_measure(&found->gpu, &plan, bar);
  if (!chosen->gpu_alone || !found->gpu.absent[0]) return DONE;
  return complain("GPU", found->gpu.absent), NO_RESULT;
}

static int measure(results *found) {
  progress bar;
  int status = DONE;
  host_cpu(found->cpu, sizeof found->cpu);
  if (found->chosen->accuracy) status = measure_accuracy(found, &bar);
  if (status == DONE) status = measure_times(found, &bar);
  if (status == DONE && found->chosen->arrays)
    status = measure_arrays(found, &found->arrays, &arrays_set, &bar);
  if (status == DONE && found->chosen->grad)
    status = measure_arrays(found, &found->grad, &grad_set, &bar);
  if (status == DONE && found->chosen->math) status = measure_math(found, &bar);
  if (status == DONE && found->chosen->headers) status = measure_headers(found);
  if (status == DONE && found->chosen->gpu) status = measure_gpu(found, &bar);
  return status;
}

static bool write_file(const results *found, const char *path,
                       bool (*report)(const results *, FILE *)) {
  refusal why;
  if (!path || output_write(path, report, found, &why)) return true;
  return complain(path, why.text), false;
}

/* Brings out what was printed, all of it if good. */
static bool finish_output(bool good) {
  if (fflush(stdout) == 0 && !ferror(stdout) && good) return true;
  return complain("standard output", strerror(errno)), false;
}

static int write_all(const results *found) {
  if (!finish_output(report_text(found, stdout))) return NO_RESULT;
  return write_file(found, found->chosen->json, report_json) &&
                 write_file(found, found->chosen->csv, report_csv) &&
                 write_file(found, found->chosen->svg, report_svg)
             ? DONE
             : NO_RESULT;
}

static int run(results *found, const options *chosen) {
  static const char *sample[] = {BENCH_SOURCE_ROOT
                                 "/bench/input/sample/digits.safetensors"};
  bool given = chosen->input_count > 0;
  const char **paths = given ? chosen->inputs : sample;
  size_t count = given ? chosen->input_count : chosen->accuracy;
  int status;
  found->chosen = chosen;
  if (chosen->isa >= 0 &&
      !(array_functions.force_isa(chosen->isa) && grad_functions.force_isa(chosen->isa) &&
        math_force_isa(chosen->isa)))
    return complain("--isa", "this CPU has no such instructions"), WRONG_INPUT;
  if (!open_inputs(found, paths, count) || !list_subjects(found) || !check_outputs(found))
    return WRONG_INPUT;
  status = measure(found);
  if (status == DONE) status = write_all(found);
  /* An error on the GPU is in the report. */
  return status == DONE && chosen->gpu_alone && found->gpu.failed ? NO_RESULT : status;
}

static void release(results *found) {
  size_t i;
  for (i = 0; i < found->file_count; ++i)
    input_close(&found->files[i]);
  free(found->files);
  free(found->subjects);
  arrays_free(&found->arrays);
  arrays_free(&found->grad);
  headers_free(&found->headers);
}

int main(int argc, char **argv) {
  static results found;
  options chosen;
  refusal why;
  int status = DONE;
  if (!options_read(&chosen, argc, argv, &why)) {
    complain(NULL, why.text);
    status = WRONG_INPUT;
  } else if (chosen.help) {
    options_help();
    status = finish_output(true) ? DONE : NO_RESULT;
  } else {
    status = run(&found, &chosen);
  }
  release(&found);
  options_free(&chosen);
  return status;
}
