/* SPDX-License-Identifier: MIT */
/* Any arguments, each behind a NUL, as those of `mpnum bench` and `mpnum inspect`:
 * refused with one line, or within what the pages of help promise. */
#include "fuzz_bytes.h"

#include <string.h>
#include <unistd.h>

#include <mpnum/simd/isa.h>

#include "core/options.h"
#include "input/input.h"
#include "inspect/options.h"

enum { ARGUMENTS = 24 };

static int is_size(size_t size, size_t least, size_t most, size_t step) {
  return size >= least && size <= most && size % step == 0;
}

static void check_bench(const bench_options *chosen, size_t arguments) {
  const size_t kib = 1024, gib = kib * kib * kib;
  demand(chosen->input_count <= arguments);
  for (size_t i = 0; i < chosen->input_count; ++i)
    demand(chosen->inputs[i] != NULL);
  demand(is_size(chosen->size, 4 * kib, gib, 4 * kib));
  demand(is_size(chosen->gpu_size, 64 * kib, 16 * gib, 64 * kib));
  for (int i = 0; i < GPU_SIZES && (i == 0 || chosen->gpu_sizes[i] > 0); ++i)
    demand(is_size(chosen->gpu_sizes[i], 4 * kib, 4 * gib, 4 * kib));
  demand(chosen->device >= 0 && chosen->device <= 999);
  demand(chosen->threads >= 1 && chosen->threads <= 256);
  demand(chosen->mnk_count >= 1 && chosen->mnk_count <= GPU_MNK);
  for (unsigned i = 0; i < 3 * chosen->mnk_count; ++i)
    demand(chosen->mnk[i / 3][i % 3] - 1 < 65536);
  demand(chosen->isa == -1 || mpnum_isa_name((mpnum_isa)chosen->isa) != NULL);
  demand(data_name(chosen->data) != NULL);
  demand(chosen->scaling[SCALING_NONE] || chosen->scaling[SCALING_AMAX]);
  demand(!(chosen->answer && (chosen->arrays || chosen->blocks || chosen->grad ||
                              chosen->math || chosen->headers)));
}

static void check_inspect(const inspect_options *chosen, size_t arguments) {
  demand(chosen->path_count + chosen->glob_count <= arguments);
  demand(chosen->path_count > 0 || chosen->help || chosen->version);
  demand(chosen->candidate_count >= 1 && chosen->candidate_count <= 5);
  for (unsigned i = 0; i < chosen->candidate_count; ++i) {
    demand(is_byte_type(chosen->candidates[i]) &&
           mpnum_format_of(chosen->candidates[i]).sign_bits);
    for (unsigned k = 0; k < i; ++k)
      demand(chosen->candidates[k] != chosen->candidates[i]);
  }
  demand(chosen->keep_below == NO_FLOOR ||
         (chosen->keep_below >= 0 && chosen->keep_below <= 200));
  demand(chosen->sort <= SORT_LOST);
  demand(chosen->codes == 0 || is_byte_type(chosen->codes));
  for (size_t i = 0; i < chosen->path_count; ++i)
    (void)is_wanted(chosen, chosen->paths[i]);
  if (chosen->help || chosen->version) return;
  demand(!chosen->diff || chosen->path_count == 2);
  demand(!(chosen->diff && chosen->trend));
}

/* One line, which names the argument that it is about. */
static void check_refused(refusal *why) {
  static const char unknown[] = "no such option: '";
  demand(why->text[0] != 0 && strlen(why->text) < sizeof why->text);
  if (strncmp(why->text, unknown, sizeof unknown - 1) == 0)
    demand(why->text[sizeof unknown - 1] == '-');
  clean_text(why->text);
  for (const char *at = why->text; *at; ++at)
    demand((unsigned char)*at >= 0x20);
}

static void read_bench(int argc, char **argv) {
  bench_options chosen;
  refusal why = {"", NULL};
  if (options_read(&chosen, argc, argv, &why))
    check_bench(&chosen, (size_t)argc - 1);
  else
    check_refused(&why);
  options_free(&chosen);
}
static void read_inspect(int argc, char **argv) {
  inspect_options chosen;
  refusal why = {"", NULL};
  if (inspect_options_read(&chosen, argc, argv, &why))
    check_inspect(&chosen, (size_t)argc - 1);
  else
    check_refused(&why);
  inspect_options_free(&chosen);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char program[] = "mpnum", *argv[ARGUMENTS + 2] = {program};
  fuzz_bytes from = {data, size};
  const int is_bench = take(&from, 1) & 1;
  int argc = 1;
  while (from.left > 0 && argc <= ARGUMENTS) {
    const uint8_t *end = (const uint8_t *)memchr(from.at, 0, from.left);
    const size_t length = end ? (size_t)(end - from.at) : from.left;
    char *text = (char *)malloc(length + 1);
    demand(text != NULL);
    memcpy(text, from.at, length);
    text[length] = 0;
    argv[argc++] = text;
    from.at += length + (end != NULL);
    from.left -= length + (end != NULL);
  }
  char *kept[ARGUMENTS + 2]; /* getopt moves them */
  memcpy(kept, argv, sizeof kept);
  optind = 0; /* glibc's word for a new line */
  if (is_bench)
    read_bench(argc, argv);
  else
    read_inspect(argc, argv);
  for (int i = 1; i < argc; ++i)
    free(kept[i]);
  return 0;
}
