/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpnum/simd/isa.h>

#include "command.h"

enum { SIZE_DEFAULT = 256 << 10, SIZE_QUICK = 16 << 10, SIZE_STEP = 4 << 10 };
enum { GPU_SIZE_DEFAULT = 256 << 20, GPU_SIZE_QUICK = 4 << 20, GPU_SIZE_STEP = 64 << 10 };
enum { THREADS_LIMIT = 256 };
enum { MNK_DEFAULT = 4096, MNK_QUICK = 512, MNK_LIMIT = 65536 };
static const unsigned long long size_limit = 1ull << 30, gpu_size_limit = 16ull << 30,
                                gpu_sweep_limit = 4ull << 30;

void options_help(void) {
  fputs(
      "Examples\n"
      "  mpnum bench                       which format to use, on the shipped sample\n"
      "  mpnum bench model.safetensors     the same for your tensors\n"
      "  mpnum bench --arrays --isa avx2   array functions beside other libraries\n"
      "\n"
      "Usage: mpnum bench [OPTION]... [FILE]...\n"
      "Without a section it prints one screen: how fast this CPU and its GPU convert to\n"
      "and from each small float format, what that costs the data, and which to use.\n"
      "\n"
      "Input\n"
      "  --input FILE   a .npy, .npz, .safetensors or .gguf file; may be repeated, a\n"
      "                 bare FILE is the same. Default: the shipped sample\n"
      "\n"
      "The first screen\n"
      "  --why          the rules behind the choice, and what each candidate would lose\n"
      "  --details      with the tables of --cpu and --gpu below\n"
      "\n"
      "Sections, whose tables are printed instead\n"
      "  --formats      limits of each format\n"
      "  --speed        conversion of arrays against the copy limit of the same run\n"
      "  --scalar       one out-of-line call, beside FP16, F16C and the CUDA headers\n"
      "  --accuracy     error, overflow and underflow of each tensor in each format,\n"
      "                 and of synthetic ones\n"
      "  --product      what is lost in products of rows of each tensor, by format and\n"
      "                 by the sums of GPUs, at its length and at 1024, 4096 and 16384\n"
      "  --arrays       array functions at 4 KiB, 256 KiB and 256 MiB, beside other\n"
      "                 libraries (minutes, 768 MiB of memory)\n"
      "  --blocks       block formats (MX, NVFP4, DeepSeek's, int8) and scaled arrays,\n"
      "                 beside ggml and torchao, and what is lost of each tensor\n"
      "                 (minutes, 512 MiB of memory)\n"
      "  --grad         the pass over gradients and steps of optimizers at the same\n"
      "                 sizes, beside separate passes, plain loops and PyTorch (1.2\n"
      "                 GiB of memory)\n"
      "  --math         functions of arrays, and softmax: time and error, beside libm,\n"
      "                 SLEEF and ggml (512 MiB of memory)\n"
      "  --headers      compile time of each header and of single calls, beside NumKong\n"
      "                 and Highway (runs the compilers, minutes)\n"
      "  --gpu          conversions, reductions, matrix products and every launcher\n"
      "                 on an NVIDIA GPU, beside copies and PyTorch\n"
      "  --cpu          the first four\n"
      "  --all          all eleven\n"
      "\n"
      "Settings\n"
      "  --scale WHICH  none: values as they are; amax: each tensor times the power of\n"
      "                 two that brings its largest magnitude just below the format's;\n"
      "                 both (default)\n"
      "  --size BYTES   f32 bytes of a timed array, 4K to 1G (default 256K: an L2\n"
      "                 cache)\n"
      "  --gpu-size BYTES\n"
      "                 the same on the GPU, 64K to 16G (default 256M)\n"
      "  --gpu-sizes LIST\n"
      "                 f32 bytes of further, smaller and larger arrays on the GPU,\n"
      "                 4K to 4G, up to 8 of them (default 4K,256K,256M)\n"
      "  --device N     number of the GPU (default 0)\n"
      "  --mnk M,N,K    sizes of the matrix product on the GPU, M rows of K values by N\n"
      "                 columns, 1 to 65536 each (default 4096,4096,4096); up to 8\n"
      "                 times: training steps of each, products of the first\n"
      "  --isa NAME     what array functions use: scalar, sse2, avx2, avx512,\n"
      "                 avx512vbmi or neon (default: the best of this CPU)\n"
      "  --data KIND    what a quarter of the values of --arrays, --blocks, --grad and\n"
      "                 --math are: normal, subnormal, tiny, huge, zeros; special: Inf\n"
      "                 and NaN, one in a hundred; bits: all are random bits\n"
      "  --threads N    threads among which --arrays and --grad split each array, 1 to\n"
      "                 256 (default 1)\n"
      "  --quick        little data, few rounds: shows that it runs, measures nothing\n"
      "\n",
      stdout);
  fputs(
      "Output\n"
      "  --json FILE    the same numbers in full precision as JSON\n"
      "  --csv FILE     the same numbers as CSV, one a line\n"
      "  --svg FILE     charts: ranges of formats, bars by format, error by bits and K\n"
      "  --version      the version, and nothing else\n"
      "  --help         this text\n"
      "\n"
      "Conversions are nearest even and saturating (mpnum_f32_to_e4m3_sat, ...).\n"
      "Errors are in double, against decode(encode(x)). Overflow is the share of\n"
      "nonzero finite values that round past the largest finite one, so that without\n"
      "_sat they would become Inf or NaN; underflow the share that become zero.\n"
      "Relative errors are those of the others, SQNR is that of all. e8m0 holds powers\n"
      "of two without a sign: its errors are those of the magnitudes.\n"
      "\n"
      "Exit status: 0 done; 1 no results (--gpu without a GPU is that, too), or they\n"
      "could not be written; 2 wrong option or input file.\n"
      "Fields of the output files: docs/bench.md.\n",
      stdout);
}

/* 4096, 256K, 1M, 1G: up to limit, rounded down to a multiple of step. */
static bool read_size(const char *text, unsigned long long limit, size_t step,
                      size_t *dst) {
  char *end;
  unsigned long long value;
  unsigned shift = 0;
  if (*text < '0' || *text > '9') return false;
  errno = 0;
  value = strtoull(text, &end, 10);
  if (*end == 'K') shift = 10;
  if (*end == 'M') shift = 20;
  if (*end == 'G') shift = 30;
  if (errno != 0 || end[shift != 0] != 0 || value > limit >> shift) return false;
  value <<= shift;
  *dst = (size_t)value / step * step;
  return *dst > 0;
}

/* 4K,256K,256M, with 0 behind the last of fewer than all. */
static bool read_sizes(const char *text, size_t sizes[GPU_SIZES]) {
  char one[24];
  memset(sizes, 0, GPU_SIZES * sizeof *sizes);
  for (int i = 0; i < GPU_SIZES; ++i) {
    const size_t length = strcspn(text, ",");
    if (length >= sizeof one) return false;
    memcpy(one, text, length);
    one[length] = 0;
    if (!read_size(one, gpu_sweep_limit, SIZE_STEP, &sizes[i])) return false;
    if (text[length] == 0) return true;
    text += length + 1;
  }
  return false;
}

/* 4096,1024,512 */
static bool read_sizes_of_product(const char *text, uint64_t mnk[3]) {
  char *end;
  for (int i = 0; i < 3; ++i, text = end + 1) {
    unsigned long long value;
    if (*text < '0' || *text > '9') return false;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno != 0 || value < 1 || value > MNK_LIMIT) return false;
    if (*end != (i < 2 ? ',' : 0)) return false;
    mnk[i] = value;
  }
  return true;
}

static bool read_isa(void *chosen, const char *text, refusal *why) {
  int *dst = &((bench_options *)chosen)->isa;
  const char *name;
  (void)why;
  for (*dst = 0; (name = mpnum_isa_name((mpnum_isa)*dst)) != NULL; ++*dst) {
    if (strcmp(text, name) == 0) return true;
  }
  return false;
}

const char *data_name(int data) {
  static const char *const names[] = {"normal", "subnormal", "tiny", "huge",
                                      "zeros",  "special",   "bits"};
  return data < (int)(sizeof names / sizeof *names) ? names[data] : NULL;
}
static bool read_data(void *chosen, const char *text, refusal *why) {
  int *dst = &((bench_options *)chosen)->data;
  const char *name;
  (void)why;
  for (*dst = 0; (name = data_name(*dst)) != NULL; ++*dst) {
    if (strcmp(text, name) == 0) return true;
  }
  return false;
}

static bool read_scale(void *chosen, const char *text, refusal *why) {
  bool *scaling = ((bench_options *)chosen)->scaling, both = strcmp(text, "both") == 0;
  (void)why;
  scaling[SCALING_NONE] = both || strcmp(text, "none") == 0;
  scaling[SCALING_AMAX] = both || strcmp(text, "amax") == 0;
  return scaling[SCALING_NONE] || scaling[SCALING_AMAX];
}

static bool read_cpu_size(void *chosen, const char *text, refusal *why) {
  (void)why;
  return read_size(text, size_limit, SIZE_STEP, &((bench_options *)chosen)->size);
}

static bool read_gpu_size(void *chosen, const char *text, refusal *why) {
  (void)why;
  return read_size(text, gpu_size_limit, GPU_SIZE_STEP,
                   &((bench_options *)chosen)->gpu_size);
}

static bool read_gpu_sizes(void *chosen, const char *text, refusal *why) {
  (void)why;
  return read_sizes(text, ((bench_options *)chosen)->gpu_sizes);
}

static bool read_device(void *chosen, const char *text, refusal *why) {
  unsigned long number;
  (void)why;
  if (strlen(text) > 3 || !read_number(text, 0, 999, &number)) return false;
  ((bench_options *)chosen)->device = (int)number;
  return true;
}

static bool read_threads(void *chosen, const char *text, refusal *why) {
  unsigned long number;
  (void)why;
  if (!read_number(text, 1, THREADS_LIMIT, &number)) return false;
  ((bench_options *)chosen)->threads = (unsigned)number;
  return true;
}

static bool read_mnk(void *chosen, const char *text, refusal *why) {
  bench_options *to = chosen;
  if (to->mnk_count == GPU_MNK)
    return refuse(why, "--mnk may be given %d times", GPU_MNK);
  return read_sizes_of_product(text, to->mnk[to->mnk_count++]);
}

static bool read_input(void *chosen, const char *text, refusal *why) {
  bench_options *to = chosen;
  (void)why;
  to->inputs[to->input_count++] = text;
  return true;
}

static bool read_json(void *chosen, const char *text, refusal *why) {
  ((bench_options *)chosen)->json = text;
  return BENCH_HAVE_JANSSON ||
         refuse(why, "--json needs jansson, which was not found when this was built");
}

static bool choose_cpu(void *chosen, const char *none, refusal *why) {
  bench_options *to = chosen;
  (void)none;
  (void)why;
  return to->formats = to->speed = to->scalar = to->accuracy = true;
}

static bool choose_all(void *chosen, const char *none, refusal *why) {
  bench_options *to = chosen;
  to->product = to->arrays = to->blocks = to->grad = to->math = to->headers = to->gpu =
      true;
  return choose_cpu(chosen, none, why);
}

#define FLAG(member) COMMAND_FLAG(bench_options, member)
#define TEXT(member) COMMAND_TEXT(bench_options, member)
static const command_option options[] = {
    FLAG(help),
    FLAG(version),
    FLAG(why),
    FLAG(details),
    FLAG(quick),
    FLAG(formats),
    FLAG(speed),
    FLAG(scalar),
    FLAG(accuracy),
    FLAG(product),
    FLAG(arrays),
    FLAG(blocks),
    FLAG(grad),
    FLAG(math),
    FLAG(headers),
    FLAG(gpu),
    {"cpu", NULL, 0, choose_cpu},
    {"all", NULL, 0, choose_all},
    {"input", "", 0, read_input},
    {"json", "", 0, read_json},
    TEXT(csv),
    TEXT(svg),
    {"scale", "none, amax or both", 0, read_scale},
    {"size", "4K to 1G", 0, read_cpu_size},
    {"gpu-size", "64K to 16G", 0, read_gpu_size},
    {"gpu-sizes", "up to 8 of 4K to 4G", 0, read_gpu_sizes},
    {"device", "the number of a GPU, 0 to 999", 0, read_device},
    {"mnk", "M,N,K, each 1 to 65536", 0, read_mnk},
    {"isa", "scalar, sse2, avx2, avx512, avx512vbmi or neon", 0, read_isa},
    {"data", "normal, subnormal, tiny, huge, zeros, special or bits", 0, read_data},
    {"threads", "1 to 256", 0, read_threads},
};

/* Without a section the first screen is made, of what takes seconds. */
static bool set_defaults(bench_options *chosen, refusal *why) {
  bool cpu = chosen->formats || chosen->speed || chosen->scalar || chosen->accuracy ||
             chosen->product || chosen->arrays || chosen->blocks || chosen->grad ||
             chosen->math || chosen->headers;
  chosen->gpu_alone = chosen->gpu && !cpu;
  chosen->answer = !chosen->gpu && !cpu;
  if (!chosen->answer && (chosen->why || chosen->details))
    return refuse(why, "--why and --details belong to the run without a section");
  if (chosen->answer) chosen->formats = chosen->speed = chosen->gpu = true;
  if (chosen->details) chosen->scalar = chosen->accuracy = true;
  if (chosen->size == 0) chosen->size = chosen->quick ? SIZE_QUICK : SIZE_DEFAULT;
  if (chosen->gpu_size == 0)
    chosen->gpu_size = chosen->quick ? GPU_SIZE_QUICK : GPU_SIZE_DEFAULT;
  if (chosen->gpu_sizes[0] == 0)
    (void)read_sizes(chosen->quick ? "4K,256K" : "4K,256K,256M", chosen->gpu_sizes);
  for (int i = 0; chosen->mnk_count == 0 && i < 3; ++i)
    chosen->mnk[0][i] = chosen->quick ? MNK_QUICK : MNK_DEFAULT;
  if (chosen->mnk_count == 0) chosen->mnk_count = 1;
  return true;
}

bool options_read(bench_options *chosen, int argc, char **argv, refusal *why) {
  memset(chosen, 0, sizeof *chosen);
  chosen->scaling[SCALING_NONE] = chosen->scaling[SCALING_AMAX] = true;
  chosen->isa = -1;
  chosen->threads = 1;
  chosen->inputs = calloc((size_t)argc + 1, sizeof *chosen->inputs);
  if (!chosen->inputs) return refuse(why, "out of memory");
  if (!command_read(options, sizeof options / sizeof *options, argc, argv, chosen, why))
    return false;
  while (optind < argc)
    chosen->inputs[chosen->input_count++] = argv[optind++];
  return set_defaults(chosen, why);
}

void options_free(bench_options *chosen) { free(chosen->inputs); }
