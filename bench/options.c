/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE_DEFAULT = 256 << 10, SIZE_QUICK = 16 << 10, SIZE_STEP = 4 << 10 };
static const unsigned long long size_limit = 1ull << 30;

void options_help(void) {
  fputs(
      "Usage: mpnum bench [OPTION]... [FILE]...\n"
      "Prints what each small float format holds, how fast this CPU converts to and "
      "from\n"
      "it, and what it does to synthetic and to real tensors.\n"
      "\n"
      "Input\n"
      "  --input FILE   a .npy or .safetensors file of f32, f16 or bf16 values; may be\n"
      "                 repeated, a bare FILE is the same. Default: the shipped sample\n"
      "\n"
      "Sections (default: the first four)\n"
      "  --formats      limits of each format\n"
      "  --speed        conversion of arrays against the copy limit of the same run\n"
      "  --scalar       one out-of-line call, beside FP16, F16C and the CUDA headers\n"
      "  --accuracy     error, overflow and underflow of each tensor in each format\n"
      "  --headers      compile time of each header (runs the compilers)\n"
      "  --all          all five\n"
      "\n"
      "Settings\n"
      "  --scale WHICH  none: values as they are; amax: each tensor times the power of\n"
      "                 two that brings its largest magnitude just below the format's;\n"
      "                 both (default)\n"
      "  --size BYTES   f32 bytes of a timed array, 4K to 1G (default 256K, an L2 "
      "cache)\n"
      "  --quick        little data, few rounds: shows that it runs, measures nothing\n"
      "\n"
      "Output\n"
      "  --json FILE    the same numbers in full precision as JSON\n"
      "  --csv FILE     the same numbers as CSV, one a line\n"
      "  --help         this text\n"
      "\n"
      "Conversions are nearest even and saturating (mpnum_f32_to_e4m3_sat, ...). Errors\n"
      "are over the nonzero finite values, in double, against decode(encode(x)); "
      "overflow\n"
      "is the share of values that round past the largest finite one, so that without\n"
      "_sat they would become Inf or NaN; underflow the share that become zero. e8m0\n"
      "holds powers of two without a sign: its errors are those of the magnitudes.\n"
      "\n"
      "Exit status: 0 done, 1 results could not be written, 2 wrong option or input "
      "file.\n"
      "Fields of the output files: docs/bench.md.\n",
      stdout);
}

/* 4096, 256K, 1M, 1G. */
static bool read_size(const char *text, size_t *dst) {
  char *end;
  unsigned long long value;
  unsigned shift = 0;
  if (*text < '0' || *text > '9') return false;
  errno = 0;
  value = strtoull(text, &end, 10);
  if (*end == 'K') shift = 10;
  if (*end == 'M') shift = 20;
  if (*end == 'G') shift = 30;
  if (errno != 0 || end[shift != 0] != 0 || value > size_limit >> shift) return false;
  value <<= shift;
  *dst = (size_t)(value / SIZE_STEP * SIZE_STEP);
  return *dst > 0;
}

static bool read_scale(const char *text, bool scaling[SCALING_COUNT]) {
  bool both = strcmp(text, "both") == 0;
  scaling[SCALING_NONE] = both || strcmp(text, "none") == 0;
  scaling[SCALING_AMAX] = both || strcmp(text, "amax") == 0;
  return scaling[SCALING_NONE] || scaling[SCALING_AMAX];
}

enum {
  OPTION_HELP = 256,
  OPTION_INPUT,
  OPTION_JSON,
  OPTION_CSV,
  OPTION_SCALE,
  OPTION_SIZE,
  OPTION_QUICK,
  OPTION_FORMATS,
  OPTION_SPEED,
  OPTION_SCALAR,
  OPTION_ACCURACY,
  OPTION_HEADERS,
  OPTION_ALL
};

static const struct option long_options[] = {
    {"help", no_argument, NULL, OPTION_HELP},
    {"input", required_argument, NULL, OPTION_INPUT},
    {"json", required_argument, NULL, OPTION_JSON},
    {"csv", required_argument, NULL, OPTION_CSV},
    {"scale", required_argument, NULL, OPTION_SCALE},
    {"size", required_argument, NULL, OPTION_SIZE},
    {"quick", no_argument, NULL, OPTION_QUICK},
    {"formats", no_argument, NULL, OPTION_FORMATS},
    {"speed", no_argument, NULL, OPTION_SPEED},
    {"scalar", no_argument, NULL, OPTION_SCALAR},
    {"accuracy", no_argument, NULL, OPTION_ACCURACY},
    {"headers", no_argument, NULL, OPTION_HEADERS},
    {"all", no_argument, NULL, OPTION_ALL},
    {NULL, 0, NULL, 0},
};

static void choose_section(options *chosen, int option) {
  bool all = option == OPTION_ALL;
  chosen->formats |= all || option == OPTION_FORMATS;
  chosen->speed |= all || option == OPTION_SPEED;
  chosen->scalar |= all || option == OPTION_SCALAR;
  chosen->accuracy |= all || option == OPTION_ACCURACY;
  chosen->headers |= all || option == OPTION_HEADERS;
}

static bool read_option(options *chosen, int option, char **argv, refusal *why) {
  switch (option) {
  case OPTION_HELP: chosen->help = true; return true;
  case OPTION_QUICK: chosen->quick = true; return true;
  case OPTION_INPUT: chosen->inputs[chosen->input_count++] = optarg; return true;
  case OPTION_JSON: chosen->json = optarg; return true;
  case OPTION_CSV: chosen->csv = optarg; return true;
  case OPTION_SCALE:
    return read_scale(optarg, chosen->scaling) ||
           refuse(why, "--scale takes none, amax or both, not '%s'", optarg);
  case OPTION_SIZE:
    return read_size(optarg, &chosen->size) ||
           refuse(why, "--size takes 4K to 1G, not '%s'", optarg);
  case ':': return refuse(why, "%s needs a value; see --help", argv[optind - 1]);
  case '?': return refuse(why, "no such option: '%s'; see --help", argv[optind - 1]);
  default: choose_section(chosen, option); return true;
  }
}

static void set_defaults(options *chosen) {
  bool any = chosen->formats || chosen->speed || chosen->scalar || chosen->accuracy ||
             chosen->headers;
  if (!any) chosen->formats = chosen->speed = chosen->scalar = chosen->accuracy = true;
  if (chosen->size == 0) chosen->size = chosen->quick ? SIZE_QUICK : SIZE_DEFAULT;
}

bool options_read(options *chosen, int argc, char **argv, refusal *why) {
  int option;
  memset(chosen, 0, sizeof *chosen);
  chosen->scaling[SCALING_NONE] = chosen->scaling[SCALING_AMAX] = true;
  chosen->inputs = calloc((size_t)argc + 1, sizeof *chosen->inputs);
  if (!chosen->inputs) return refuse(why, "out of memory");
  opterr = 0;
  while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
    if (!read_option(chosen, option, argv, why)) return false;
  }
  while (optind < argc)
    chosen->inputs[chosen->input_count++] = argv[optind++];
  set_defaults(chosen);
  return true;
}

void options_free(options *chosen) { free(chosen->inputs); }
