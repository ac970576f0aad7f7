/* SPDX-License-Identifier: MIT */
/* mpnum inspect. As in the bench, all inputs are checked before anything is read through,
 * and all is read before anything is written: what goes wrong leaves one line on stderr.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpnum/core/detail/config.h>

#include "../report/report.h"
#include "diff.h"
#include "inspect.h"
#include "trend.h"

enum { DONE = 0, NO_RESULT = 1, WRONG_INPUT = 2 };

static bool list_rows(inspection *run) {
  size_t f, t, total = 0;
  for (f = 0; f < run->from.count; ++f)
    total += run->from.files[f].tensor_count;
  run->all.rows = calloc(total + 1, sizeof *run->all.rows);
  run->order = calloc(total + 1, sizeof(void *));
  if (!run->all.rows || !run->order) return complain(NULL, "out of memory"), false;
  for (f = 0; f < run->from.count; ++f) {
    const input *file = &run->from.files[f];
    for (t = 0; t < file->tensor_count; ++t) {
      if (!is_wanted(run->chosen, file->tensors[t].name)) continue;
      run->all.rows[run->all.count].file = file;
      run->all.rows[run->all.count++].values = &file->tensors[t];
    }
  }
  return run->all.count > 0 || total == 0 ||
         (complain("--tensor", "no tensor has such a name"), false);
}

static bool judge(inspection *run, const char **subject, refusal *why) {
  const inspect_options *chosen = run->chosen;
  verdict_candidates(&run->all, chosen->candidates, chosen->candidate_count);
  run->all.exact = chosen->exact;
  run->all.blocks = true; /* the verdict on all needs them */
  if (!verdict_measure(&run->all, subject, why)) return false;
  for (int k = 0; k < KINDS; ++k) {
    if (!verdict_of(&run->all, (kind)k, &run->kinds[k], why)) return false;
  }
  return make_plans(run, subject, why);
}

static int perform(inspection *run) {
  const inspect_options *chosen = run->chosen;
  const output outputs[OUTPUTS] = {
      {"JSON", chosen->json, write_json, false},
      {"CSV", chosen->csv, write_csv, false},
      {"SVG", chosen->svg, write_svg, false},
      {"--emit", chosen->emit, write_emitted, !chosen->force}};
  const char *subject = NULL;
  refusal why, unwritten = {"", NULL};
  run->about.refused = &unwritten;
  if (!inputs_open(&run->from, chosen->paths, chosen->path_count, chosen->codes, &why))
    return complain_why(run->from.refused, &why), WRONG_INPUT;
  if (!outputs_check(outputs, run->from.files, run->from.count) || !list_rows(run))
    return WRONG_INPUT;
  if (!judge(run, &subject, &why)) return complain(subject, why.text), WRONG_INPUT;
  if (!sort_rows(run)) return complain(NULL, "out of memory"), NO_RESULT;
  return finish_output(print_text(run, stdout)) && outputs_write(outputs, &run->about)
             ? DONE
             : NO_RESULT;
}

/* Of two files; other names and shapes are listed, the rest compared. */
static int perform_diff(const inspect_options *chosen, char *const *arguments) {
  static difference made;
  const output outputs[OUTPUTS] = {{"JSON", chosen->json, write_difference, false}};
  const char *subject = NULL;
  refusal why;
  int status = WRONG_INPUT;
  made.about.options = arguments;
  made.chosen = chosen;
  if (!differ(&made, &subject, &why)) {
    complain_why(subject, &why);
  } else if (outputs_check(outputs, made.sets[0].files, made.sets[0].count) &&
             outputs_check(outputs, made.sets[1].files, made.sets[1].count)) {
    status = NO_RESULT;
    if (finish_output(print_difference(&made, stdout)) &&
        outputs_write(outputs, &made.about) && made.remark_count == 0)
      status = DONE;
  }
  differ_free(&made);
  return status;
}

/* Of a file each; one is open at a time, beside the first. */
static int perform_trend(const inspect_options *chosen, char *const *arguments) {
  static trend made;
  const output outputs[OUTPUTS] = {{"JSON", chosen->json, write_trend_json, false},
                                   {"CSV", chosen->csv, write_trend_csv, false},
                                   {"SVG", chosen->svg, write_trend_svg, false}};
  const char *subject = NULL;
  refusal why;
  int status = WRONG_INPUT;
  made.about.options = arguments;
  made.chosen = chosen;
  if (trend_follow(&made, outputs, &subject, &why)) {
    status = NO_RESULT;
    if (finish_output(print_trend(&made, stdout)) &&
        outputs_write(outputs, &made.about) && made.remark_count == 0)
      status = DONE;
  } else if (why.text[0]) {
    complain_why(subject, &why);
  }
  trend_free(&made);
  return status;
}

int main(int argc, char **argv) {
  static inspection run;
  inspect_options chosen;
  refusal why;
  int status = WRONG_INPUT;
  program_title = "mpnum inspect";
  signal(SIGXFSZ, SIG_IGN); /* a file past its limit is an error of the write */
  run.about.options = argv + 1;
  run.chosen = &chosen;
  if (!inspect_options_read(&chosen, argc, argv, &why)) {
    complain(NULL, why.text);
  } else if (chosen.help || chosen.version) {
    if (chosen.help) inspect_options_help();
    if (!chosen.help)
      printf("mpnum inspect %d.%d.%d\n", MPNUM_VERSION_MAJOR, MPNUM_VERSION_MINOR,
             MPNUM_VERSION_PATCH);
    status = finish_output(true) ? DONE : NO_RESULT;
  } else if (chosen.diff) {
    status = perform_diff(&chosen, argv + 1);
  } else if (chosen.trend) {
    status = perform_trend(&chosen, argv + 1);
  } else {
    status = perform(&run);
  }
  plan_free(&run.plain);
  plan_free(&run.blocks);
  plan_free(&run.asked);
  verdict_free(&run.all);
  free(run.order);
  inputs_close(&run.from);
  inspect_options_free(&chosen);
  return status;
}
