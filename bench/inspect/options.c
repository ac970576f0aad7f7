/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../input/input.h"

void inspect_options_help(void) {
  fputs(
      "Usage: mpnum inspect [OPTION]... FILE...\n"
      "\n"
      "  mpnum inspect model.safetensors           # a row per tensor, the worst first\n"
      "  mpnum inspect model.safetensors.index.json --top 20 --svg model.svg\n"
      "  mpnum inspect *.npy --details --tensor '*grad*'\n"
      "\n"
      "Says of each tensor of .npy and .safetensors files which format is best for it,\n"
      "at which scale and with what loss, whether f16 and bf16 hold it as it is, and\n"
      "where the first Inf or NaN is. Files may be larger than memory. Shards: all\n"
      "named, or the index.json that names them.\n"
      "\n"
      "Which tensors\n"
      "  --tensor GLOB   those whose name matches ('model.*.weight'); repeatable\n"
      "  --sort KEY      trouble (default), name, file, size, amax, sqnr or lost\n"
      "  --top N         the first N alone, after sorting; totals are of all\n"
      "  --as TYPE       I8 and U8 are codes of e4m3, e5m2, e4m3fnuz, e5m2fnuz, e3m4\n"
      "                  or e8m0\n"
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
      "Output\n"
      "  --json FILE     all of it, in full precision\n"
      "  --csv FILE      a line per tensor\n"
      "  --svg FILE      a picture: exponents of the tensors, ranges of the formats\n"
      "  --help, --version\n"
      "\n"
      "Weights and activations are judged by the error of their product, gradients by\n"
      "what is lost: docs/choosing-a-format.md. Columns and fields: docs/inspect.md.\n"
      "Exit status: 0 done; 1 no results, or they could not be written; 2 wrong option\n"
      "or input file.\n",
      stdout);
}

enum {
  OPTION_HELP = 256,
  OPTION_VERSION,
  OPTION_TENSOR,
  OPTION_SORT,
  OPTION_TOP,
  OPTION_AS,
  OPTION_FORMATS,
  OPTION_BLOCKS,
  OPTION_DETAILS,
  OPTION_EXACT,
  OPTION_WIDE,
  OPTION_JSON,
  OPTION_CSV,
  OPTION_SVG
};

static const struct option long_options[] = {
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {"tensor", required_argument, NULL, OPTION_TENSOR},
    {"sort", required_argument, NULL, OPTION_SORT},
    {"top", required_argument, NULL, OPTION_TOP},
    {"as", required_argument, NULL, OPTION_AS},
    {"formats", required_argument, NULL, OPTION_FORMATS},
    {"blocks", no_argument, NULL, OPTION_BLOCKS},
    {"details", no_argument, NULL, OPTION_DETAILS},
    {"exact", no_argument, NULL, OPTION_EXACT},
    {"wide", no_argument, NULL, OPTION_WIDE},
    {"json", required_argument, NULL, OPTION_JSON},
    {"csv", required_argument, NULL, OPTION_CSV},
    {"svg", required_argument, NULL, OPTION_SVG},
    {NULL, 0, NULL, 0},
};

/* An 8-bit type by the first `length` characters of a text; 0: none. */
static mpnum_type byte_type(const char *text, size_t length) {
  int type;
  for (type = MPNUM_TYPE_F64; type <= MPNUM_TYPE_E2M1; ++type) {
    const char *name = mpnum_type_name((mpnum_type)type);
    if (strlen(name) == length && memcmp(name, text, length) == 0 &&
        is_byte_type((mpnum_type)type))
      return (mpnum_type)type;
  }
  return (mpnum_type)0;
}

static bool read_formats(inspect_options *chosen, const char *text) {
  chosen->candidate_count = 0;
  for (;;) {
    const size_t length = strcspn(text, ",");
    const mpnum_type type = byte_type(text, length);
    unsigned i;
    if (type == 0 || type == MPNUM_TYPE_E8M0) return false;
    for (i = 0; i < chosen->candidate_count; ++i) {
      if (chosen->candidates[i] == type) return false;
    }
    chosen->candidates[chosen->candidate_count++] = type;
    if (text[length] == 0) return true;
    text += length + 1;
  }
}

static bool read_sort(const char *text, sort_key *dst) {
  static const char *const names[] = {"trouble", "name", "file", "size",
                                      "amax",    "sqnr", "lost"};
  size_t i;
  for (i = 0; i < sizeof names / sizeof *names; ++i) {
    if (strcmp(text, names[i]) != 0) continue;
    *dst = (sort_key)i;
    return true;
  }
  return false;
}

static bool read_top(const char *text, size_t *dst) {
  char *end;
  unsigned long value;
  if (*text < '0' || *text > '9') return false;
  errno = 0;
  value = strtoul(text, &end, 10);
  *dst = value;
  return errno == 0 && *end == 0 && value > 0;
}

static bool read_option(inspect_options *chosen, int option, char **argv, refusal *why) {
  switch (option) {
  case OPTION_HELP: chosen->help = true; return true;
  case OPTION_VERSION: chosen->version = true; return true;
  case OPTION_BLOCKS: chosen->blocks = true; return true;
  case OPTION_DETAILS: chosen->details = chosen->blocks = true; return true;
  case OPTION_EXACT: chosen->exact = true; return true;
  case OPTION_WIDE: chosen->wide = true; return true;
  case OPTION_TENSOR: chosen->globs[chosen->glob_count++] = optarg; return true;
  case OPTION_JSON: chosen->json = optarg; return true;
  case OPTION_CSV: chosen->csv = optarg; return true;
  case OPTION_SVG: chosen->svg = optarg; return true;
  case OPTION_SORT:
    return read_sort(optarg, &chosen->sort) ||
           refuse(why,
                  "--sort takes trouble, name, file, size, amax, sqnr or lost, not '%s'",
                  optarg);
  case OPTION_TOP:
    return read_top(optarg, &chosen->top) ||
           refuse(why, "--top takes a number of rows, not '%s'", optarg);
  case OPTION_AS:
    chosen->codes = byte_type(optarg, strlen(optarg));
    return chosen->codes != 0 ||
           refuse(why,
                  "--as takes e4m3, e5m2, e4m3fnuz, e5m2fnuz, e3m4 or e8m0, not '%s'",
                  optarg);
  case OPTION_FORMATS:
    return read_formats(chosen, optarg) ||
           refuse(why,
                  "--formats takes some of e4m3,e5m2,e4m3fnuz,e5m2fnuz,e3m4, each once, "
                  "not '%s'",
                  optarg);
  case ':': return refuse(why, "%s needs a value; see --help", argv[optind - 1]);
  default: return refuse(why, "no such option: '%s'; see --help", argv[optind - 1]);
  }
}

bool inspect_options_read(inspect_options *chosen, int argc, char **argv, refusal *why) {
  int option;
  memset(chosen, 0, sizeof *chosen);
  read_formats(chosen, "e4m3,e5m2");
  chosen->paths = calloc((size_t)argc + 1, sizeof *chosen->paths);
  chosen->globs = calloc((size_t)argc + 1, sizeof *chosen->globs);
  if (!chosen->paths || !chosen->globs) return refuse(why, "out of memory");
  opterr = 0;
  while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
    if (!read_option(chosen, option, argv, why)) return false;
  }
  while (optind < argc)
    chosen->paths[chosen->path_count++] = argv[optind++];
  if (chosen->path_count > 0 || chosen->help || chosen->version) return true;
  return refuse(why, "no file named; see --help");
}

void inspect_options_free(inspect_options *chosen) {
  free(chosen->paths);
  free(chosen->globs);
}
