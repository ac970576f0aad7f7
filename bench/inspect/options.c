/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <fnmatch.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../core/command.h"
#include "emit.h"
#include "../input/input.h"

void inspect_options_help(void) {
  fputs(
      "Usage: mpnum inspect [OPTION]... FILE...\n"
      "       mpnum inspect --diff [OPTION]... FILE FILE\n"
      "       mpnum inspect --trend [OPTION]... FILE...\n"
      "\n"
      "  mpnum inspect model.safetensors           # a row per tensor, the worst first\n"
      "  mpnum inspect model.safetensors.index.json --top 20 --svg model.svg\n"
      "  mpnum inspect *.npy --details --tensor '*grad*'\n"
      "\n"
      "Says of each tensor of .safetensors, .gguf, .npy and .npz files which format is\n"
      "best for it, at which scale and with what loss, whether f16 and bf16 hold it as\n"
      "it is, and where the first Inf or NaN is. Files may be larger than memory.\n"
      "Shards: all named, or the index.json that names them.\n"
      "\n"
      "Which tensors\n"
      "  --tensor GLOB   those whose name matches ('model.*.weight'); repeatable\n"
      "  --sort KEY      trouble (default), name, file, size, amax, sqnr or lost\n"
      "  --top N         the first N alone, after sorting; totals are of all\n"
      "  --as TYPE       I8 and U8 are codes of e4m3, e5m2, e4m3fnuz, e5m2fnuz, e3m4,\n"
      "                  e8m0, ue4m3 or ue5m3\n"
      "\n"
      "What of them\n"
      "  --formats LIST  the 8-bit formats to choose from, before f16 and bf16\n"
      "                  (default e4m3,e5m2; also e3m4, e4m3fnuz, e5m2fnuz)\n"
      "  --blocks        formats with a scale for each block, too (MX, NVFP4, DeepSeek)\n"
      "  --details       of each tensor: all formats, those of blocks too, with the\n"
      "                  rule that each broke, and a histogram of its exponents\n"
      "  --exact         errors and losses over all values, not over a sample of a\n"
      "                  large tensor\n"
      "  --wide          names in full, rows as long as they get\n"
      "\n"
      "Two files beside each other\n"
      "  --diff          of each tensor in both: new Inf and NaN of the second, SQNR,\n"
      "                  cosine, the largest error and where, the share equal in bits;\n"
      "                  goes with --json, --tensor, --top, --wide and --as\n"
      "\n"
      "Gradients over time\n"
      "  --trend         a file is a step, in the order of the numbers in their names:\n"
      "                  of each the shares of zeros, of what is subnormal in f16, of\n"
      "                  what e4m3 and e5m2 lose, amax, a loss scale, Inf and NaN; goes\n"
      "                  with --svg, --json, --csv, --tensor, --top, --exact, --wide\n"
      "                  and --as\n"
      "\n"
      "All of them in one format\n"
      "  --keep-below DB what has less SQNR stays in 16 bits (default 20, gradients by\n"
      "                  what is lost)\n"
      "  --to FORMAT     e4m3, e5m2, mx_e4m3, mx_e2m3, mx_e2m1 or nvfp4, beside those\n"
      "                  that are best\n"
      "  --emit FILE     the tensors in it, or in the best of e4m3 and e5m2, as\n"
      "                  safetensors; names as in compressed-tensors (docs/inspect.md)\n"
      "  --force         --emit over a file that is there, never over an input\n"
      "\n"
      "Output\n"
      "  --json FILE     all of it, in full precision\n"
      "  --csv FILE      a line per tensor\n"
      "  --svg FILE      a picture: exponents of the tensors, ranges of the formats\n"
      "  --help, --version\n"
      "\n"
      "Weights and activations are judged by the error of their product, gradients by\n"
      "what is lost: docs/choosing-a-format.md. Columns and fields: docs/inspect.md.\n"
      "Exit status: 0 done; 1 no results, or they could not be written, or --diff or\n"
      "--trend found other names or shapes; 2 wrong option or input file, or --emit\n"
      "over a file.\n",
      stdout);
}

/* An 8-bit type by the first `length` characters of a text; 0: none. */
static mpnum_type byte_type(const char *text, size_t length) {
  for (int type = MPNUM_TYPE_F64; mpnum_type_name((mpnum_type)type); ++type) {
    const char *name = mpnum_type_name((mpnum_type)type);
    if (strlen(name) == length && memcmp(name, text, length) == 0 &&
        is_byte_type((mpnum_type)type))
      return (mpnum_type)type;
  }
  return (mpnum_type)0;
}

static bool read_formats(void *place, const char *text, refusal *why) {
  inspect_options *chosen = place;
  (void)why;
  chosen->candidate_count = 0;
  for (;;) {
    const size_t length = strcspn(text, ",");
    const mpnum_type type = byte_type(text, length);
    if (type == 0 || !mpnum_format_of(type).sign_bits) return false; /* scales */
    for (unsigned i = 0; i < chosen->candidate_count; ++i) {
      if (chosen->candidates[i] == type) return false;
    }
    chosen->candidates[chosen->candidate_count++] = type;
    if (text[length] == 0) return true;
    text += length + 1;
  }
}

static bool read_sort(void *chosen, const char *text, refusal *why) {
  static const char *const names[] = {"trouble", "name", "file", "size",
                                      "amax",    "sqnr", "lost"};
  (void)why;
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (strcmp(text, names[i]) != 0) continue;
    ((inspect_options *)chosen)->sort = (sort_key)i;
    return true;
  }
  return false;
}

static bool read_top(void *chosen, const char *text, refusal *why) {
  unsigned long rows;
  (void)why;
  if (!read_number(text, 1, ULONG_MAX, &rows)) return false;
  ((inspect_options *)chosen)->top = rows;
  return true;
}

static bool read_codes(void *chosen, const char *text, refusal *why) {
  mpnum_type *codes = &((inspect_options *)chosen)->codes;
  (void)why;
  *codes = byte_type(text, strlen(text));
  return *codes != 0;
}

static bool read_floor(void *chosen, const char *text, refusal *why) {
  char *end;
  const double floor = strtod(text, &end);
  (void)why;
  if (!(*text >= '0' && *text <= '9') || *end != 0 || !(floor <= 200)) return false;
  ((inspect_options *)chosen)->keep_below = floor;
  return true;
}

static bool read_to(void *chosen, const char *text, refusal *why) {
  (void)why;
  ((inspect_options *)chosen)->to = text;
  return emits(text);
}

static bool read_glob(void *place, const char *text, refusal *why) {
  inspect_options *chosen = place;
  (void)why;
  chosen->globs[chosen->glob_count++] = text;
  return true;
}

static bool choose_details(void *place, const char *none, refusal *why) {
  inspect_options *chosen = place;
  (void)none;
  (void)why;
  return chosen->details = chosen->blocks = true;
}

#define FLAG(member) COMMAND_FLAG(inspect_options, member)
#define TEXT(member) COMMAND_TEXT(inspect_options, member)
static const command_option options[] = {
    FLAG(help),
    FLAG(version),
    FLAG(blocks),
    FLAG(exact),
    FLAG(wide),
    TEXT(json),
    TEXT(csv),
    TEXT(svg),
    TEXT(emit),
    FLAG(force),
    FLAG(diff),
    FLAG(trend),
    {"keep-below", "a number of dB from 0 to 200", 0, read_floor},
    {"to", "e4m3, e5m2, mx_e4m3, mx_e2m3, mx_e2m1 or nvfp4", 0, read_to},
    {"details", NULL, 0, choose_details},
    {"tensor", "", 0, read_glob},
    {"sort", "trouble, name, file, size, amax, sqnr or lost", 0, read_sort},
    {"top", "a number of rows", 0, read_top},
    {"as", "e4m3, e5m2, e4m3fnuz, e5m2fnuz, e3m4, e8m0, ue4m3 or ue5m3", 0, read_codes},
    {"formats", "some of e4m3,e5m2,e4m3fnuz,e5m2fnuz,e3m4, each once,", 0, read_formats},
};

/* What says something of one file has no meaning for two. */
static bool check_diff(const inspect_options *chosen, refusal *why) {
  if (chosen->path_count != 2)
    return refuse(why, "--diff takes two files, not %zu", chosen->path_count);
  if (chosen->details || chosen->exact || chosen->blocks || chosen->sort || chosen->csv ||
      chosen->svg || chosen->emit || chosen->to || chosen->keep_below >= 0)
    return refuse(why, "--diff goes with --json, --tensor, --top, --wide and --as alone");
  return true;
}

static bool check_trend(const inspect_options *chosen, refusal *why) {
  const mpnum_type *types = chosen->candidates;
  if (chosen->details || chosen->blocks || chosen->sort || chosen->emit || chosen->to ||
      chosen->keep_below >= 0 || chosen->candidate_count != 2 ||
      types[0] != MPNUM_TYPE_E4M3 || types[1] != MPNUM_TYPE_E5M2)
    return refuse(why,
                  "--trend goes with --svg, --json, --csv, --tensor, --top, --exact, "
                  "--wide and --as alone");
  return true;
}

bool is_wanted(const inspect_options *chosen, const char *name) {
  for (size_t i = 0; i < chosen->glob_count; ++i) {
    if (fnmatch(chosen->globs[i], name, 0) == 0) return true;
  }
  return chosen->glob_count == 0;
}

bool inspect_options_read(inspect_options *chosen, int argc, char **argv, refusal *why) {
  memset(chosen, 0, sizeof *chosen);
  read_formats(chosen, "e4m3,e5m2", why);
  chosen->keep_below = NO_FLOOR;
  chosen->paths = calloc((size_t)argc + 1, sizeof *chosen->paths);
  chosen->globs = calloc((size_t)argc + 1, sizeof *chosen->globs);
  if (!chosen->paths || !chosen->globs) return refuse(why, "out of memory");
  if (!command_read(options, sizeof options / sizeof *options, argc, argv, chosen, why))
    return false;
  while (optind < argc)
    chosen->paths[chosen->path_count++] = argv[optind++];
  if (chosen->help || chosen->version) return true;
  if (chosen->path_count == 0) return refuse(why, "no file named; see --help");
  if (chosen->diff && chosen->trend)
    return refuse(why, "--diff and --trend exclude each other");
  if (chosen->diff) return check_diff(chosen, why);
  if (chosen->trend) return check_trend(chosen, why);
  if (chosen->emit && chosen->glob_count > 0)
    return refuse(why, "--emit writes all tensors and goes without --tensor");
  return true;
}

void inspect_options_free(inspect_options *chosen) {
  free(chosen->paths);
  free(chosen->globs);
}
