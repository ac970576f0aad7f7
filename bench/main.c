/* SPDX-License-Identifier: MIT */
/* mpnum bench. All inputs are checked before anything is measured, all is measured before
 * anything is written: what goes wrong leaves one line on stderr and nothing else. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpnum/core/detail/config.h>

#include <folders.h> /* of the build folder */

#include "core/formats.h"
#include "core/host.h"
#include "core/options.h"
#include "gpu/gpu.h"
#include "report/report.h"
#include "sections/sections.h"

enum { DONE = 0, NO_RESULT = 1, WRONG_INPUT = 2 };
enum {
  ROUNDS = 21,
  QUICK_ROUNDS = 3,
  HEADER_ROUNDS = 11,
  CALL_ROUNDS = 3,
  VALUES = 1 << 20,
  QUICK_VALUES = 4096,
  GPU_PATTERNS = 1 << 24,
  GPU_QUICK_PATTERNS = 1 << 18
};

/* A run. */
typedef struct work {
  const bench_options *chosen;
  input *files;
  size_t file_count;
  bool gpu_failed;
  output outputs[OUTPUTS];
  progress bar;
  report about;
} work;

static bool open_inputs(work *run, const char **paths, size_t count) {
  refusal why;
  run->files = calloc(count + 1, sizeof *run->files);
  if (!run->files) return complain(NULL, "out of memory"), false;
  for (size_t i = 0; i < count; ++i) {
    if (!input_open(&run->files[i], paths[i], &why))
      return complain_why(paths[i], &why), false;
    ++run->file_count;
  }
  return true;
}

static int measure_accuracy(work *run) {
  const uint64_t drawn = run->chosen->quick ? QUICK_VALUES : VALUES;
  return accuracy_measure(&run->about.found, run->files, run->file_count, drawn,
                          run->chosen->scaling, &run->bar)
             ? DONE
             : WRONG_INPUT;
}

static int measure_times(work *run) {
  const bench_options *chosen = run->chosen;
  figures *to = &run->about.found;
  unsigned rounds = chosen->quick ? QUICK_ROUNDS : ROUNDS;
  size_t calls = chosen->quick ? QUICK_VALUES : SCALAR_VALUES;
  bool good = true;
  progress_begin(&run->bar, (chosen->speed ? speed_work(rounds) : 0) +
                                (chosen->scalar ? scalar_work(rounds) : 0));
  if (chosen->speed) good = speed_measure(to, chosen->size, rounds, &run->bar);
  if (chosen->scalar) good = good && scalar_measure(to, calls, rounds, &run->bar);
  progress_end(&run->bar);
  return good ? DONE : (complain(NULL, "out of memory"), NO_RESULT);
}

static int measure_headers(work *run) {
  refusal why;
  bool quick = run->chosen->quick;
  if (headers_measure(&run->about.found, quick ? 1 : HEADER_ROUNDS,
                      quick ? 1 : CALL_ROUNDS, &why))
    return DONE;
  return complain("tools/include-cost", why.text), NO_RESULT;
}

/* Without a GPU the others' results stand, with a line that says so. */
static int measure_gpu(work *run) {
  static gpu_results found;
  const bench_options *chosen = run->chosen;
  gpu_plan plan;
  refusal why;
  memset(&plan, 0, sizeof plan);
  plan.device = chosen->device;
  plan.all = !chosen->answer;
  memcpy(plan.sweep, chosen->gpu_sizes, sizeof plan.sweep);
  plan.size = chosen->gpu_size;
  plan.rounds = chosen->quick ? QUICK_ROUNDS : ROUNDS;
  plan.patterns = chosen->quick ? GPU_QUICK_PATTERNS : GPU_PATTERNS;
  plan.m = chosen->mnk[0][0];
  plan.n = chosen->mnk[0][1];
  plan.k = chosen->mnk[0][2];
  plan.step_shapes = chosen->answer ? 0 : chosen->mnk_count;
  memcpy(plan.steps, chosen->mnk, sizeof plan.steps);
  gpu_measure(&found, &plan, &run->bar);
  if (found.kernel_count > 0) gpu_measure_torch(&found);
  gpu_figures(&run->about.found, &found);
  run->gpu_failed = found.failed;
  if (!chosen->gpu_alone || !found.absent[0]) return DONE;
  refuse(&why, "%s; where there is one, it measures conversions, launchers and products",
         found.absent);
  return complain("GPU", why.text), NO_RESULT;
}

/* What was left out of the input files. */
static void add_notes(work *run) {
  char number[24];
  for (size_t i = 0; i < run->file_count; ++i) {
    for (size_t n = 0; n < run->files[i].note_count; ++n) {
      snprintf(number, sizeof number, "%zu", n + 1);
      figures_at(&run->about.found, "input", run->files[i].path, "", number);
      figures_say(&run->about.found, "note", "%s", run->files[i].notes[n]);
    }
  }
}

static int measure(work *run) {
  const bench_options *chosen = run->chosen;
  int status = DONE;
  run->about.answer = chosen->answer;
  run->about.why = chosen->why;
  run->about.tables = chosen->details;
  host_cpu(run->about.cpu, sizeof run->about.cpu);
  if (chosen->formats) formats_list(&run->about.found);
  if (chosen->accuracy) status = measure_accuracy(run);
  if (status == DONE && chosen->product &&
      !product_measure(&run->about.found, run->files, run->file_count, &run->bar))
    status = WRONG_INPUT;
  if (status == DONE) status = measure_times(run);
  if (status == DONE &&
      !long_measure(&run->about.found, chosen, run->files, run->file_count, &run->bar))
    status = NO_RESULT;
  if (status == DONE && chosen->headers) status = measure_headers(run);
  if (status == DONE && chosen->gpu) status = measure_gpu(run);
  if (chosen->answer && status == DONE &&
      !answer_choose(&run->about.found, run->files, run->file_count, chosen->why))
    status = WRONG_INPUT;
  add_notes(run);
  if (status != DONE || !run->about.found.failed) return status;
  return complain(NULL, "out of memory"), NO_RESULT;
}

static int perform(work *run, const bench_options *chosen) {
  static const char *sample[] = {BENCH_SOURCE_ROOT
                                 "/bench/input/sample/digits.safetensors"};
  bool given = chosen->input_count > 0;
  const char **paths = given ? chosen->inputs : sample;
  size_t count =
      given ? chosen->input_count
            : chosen->answer || chosen->accuracy || chosen->product || chosen->blocks;
  run->chosen = chosen;
  if (chosen->isa >= 0 &&
      !(long_force_isa(chosen->isa) && formats_force_isa(chosen->isa)))
    return complain("--isa", "this CPU has no such instructions"), WRONG_INPUT;
  run->outputs[0] = (output){"JSON", chosen->json, report_json, false};
  run->outputs[1] = (output){"CSV", chosen->csv, report_csv, false};
  run->outputs[2] = (output){"SVG", chosen->svg, report_svg, false};
  if (!open_inputs(run, paths, count) ||
      !outputs_check(run->outputs, run->files, run->file_count))
    return WRONG_INPUT;
  int status = measure(run);
  if (status == DONE && !(finish_output(sections_print(&run->about, stdout)) &&
                          outputs_write(run->outputs, &run->about)))
    status = NO_RESULT;
  /* An error on the GPU is in the report. */
  return status == DONE && chosen->gpu_alone && run->gpu_failed ? NO_RESULT : status;
}

static void release(work *run) {
  for (size_t i = 0; i < run->file_count; ++i)
    input_close(&run->files[i]);
  free(run->files);
  figures_free(&run->about.found);
}

int main(int argc, char **argv) {
  static work run;
  bench_options chosen;
  refusal why;
  int status = DONE;
  run.about.options = argv + 1;
  if (!options_read(&chosen, argc, argv, &why)) {
    complain(NULL, why.text);
    status = WRONG_INPUT;
  } else if (chosen.help || chosen.version) {
    if (chosen.help)
      options_help();
    else
      printf("mpnum %d.%d.%d\n", MPNUM_VERSION_MAJOR, MPNUM_VERSION_MINOR,
             MPNUM_VERSION_PATCH);
    status = finish_output(true) ? DONE : NO_RESULT;
  } else {
    status = perform(&run, &chosen);
  }
  release(&run);
  options_free(&chosen);
  return status;
}
