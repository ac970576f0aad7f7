/* SPDX-License-Identifier: MIT */
#include "sections.h"

#include <stdlib.h>
#include <string.h>

#include <mpnum/mpnum.h>

#include "../core/formats.h"
#include "../peers/peers.h"
#include "../report/view.h"
#include "../core/timing.h"

/* What a call reads that is no single value or code: a block. */
enum { MX_VALUES = 17, MX_BLOCKS, NVFP4_VALUES, NVFP4_BLOCKS };

typedef struct scalar_call {
  const char *operation, *library, *function;
  void (*pass)(const contender *self); /* NULL: not built */
  unsigned reads; /* a code of so many bits, one of the above, or 0: f32 */
} scalar_call;

/* The call stands in the loop by its name: through a pointer it would take 0.8 ns longer.
 */
#define ENCODE_PASS(call)                         \
 static void pass_##call(const contender *self) { \
  const float *from = self->src;                  \
  uint32_t *to = self->dst;                       \
  size_t i, count = self->count;                  \
  for (i = 0; i < count; ++i)                     \
   to[i] = call(from[i]);                         \
 }
#define DECODE_PASS(call)                         \
 static void pass_##call(const contender *self) { \
  const uint32_t *from = self->src;               \
  float *to = self->dst;                          \
  size_t i, count = self->count;                  \
  for (i = 0; i < count; ++i)                     \
   to[i] = call(from[i]);                         \
 }

/* The inline functions in a plain loop, as it stands in a user's file. */
#define INLINE_ENCODE(name)                      \
 static uint32_t inline_f32_to_##name(float x) { \
  return mpnum_f32_to_##name##_sat(x).bits;      \
 }                                               \
 ENCODE_PASS(inline_f32_to_##name)
#define INLINE_DECODE(name)                                   \
 static float inline_##name##_to_f32(uint32_t code) {         \
  return mpnum_##name##_to_f32(mpnum_from_bits_##name(code)); \
 }                                                            \
 DECODE_PASS(inline_##name##_to_f32)
INLINE_ENCODE(f16)
INLINE_ENCODE(bf16)
INLINE_ENCODE(e4m3)
INLINE_ENCODE(e5m2)
INLINE_DECODE(f16)
INLINE_DECODE(bf16)
INLINE_DECODE(e4m3)

/* The same, compiled in a file of its own for this CPU at -O3, to elements of their own
 * size. */
#define LOOP_PASS(call)                           \
 static void pass_##call(const contender *self) { \
  call(self->dst, self->src, self->count);        \
 }
LOOP_PASS(loop_f32_to_f16)
LOOP_PASS(loop_f32_to_bf16)
LOOP_PASS(loop_f32_to_e4m3_sat)
LOOP_PASS(loop_f32_to_e5m2_sat)
LOOP_PASS(loop_f16_to_f32)
LOOP_PASS(loop_bf16_to_f32)
LOOP_PASS(loop_e4m3_to_f32)

ENCODE_PASS(call_f32_to_f16)
ENCODE_PASS(call_f32_to_bf16)
ENCODE_PASS(call_f32_to_e4m3_sat)
ENCODE_PASS(call_f32_to_e5m2_sat)
DECODE_PASS(call_f16_to_f32)
DECODE_PASS(call_bf16_to_f32)
DECODE_PASS(call_e4m3_to_f32)

#if BENCH_HAVE_FP16
ENCODE_PASS(fp16_f32_to_f16)
DECODE_PASS(fp16_f16_to_f32)
# define FP16_PASS(call) pass_##call
#else
# define FP16_PASS(call) NULL
#endif

#if BENCH_HAVE_F16C
ENCODE_PASS(f16c_f32_to_f16)
DECODE_PASS(f16c_f16_to_f32)
# define F16C_PASS(call) pass_##call
#else
# define F16C_PASS(call) NULL
#endif

#if BENCH_HAVE_CUDA
ENCODE_PASS(cuda_f32_to_f16)
ENCODE_PASS(cuda_f32_to_bf16)
ENCODE_PASS(cuda_f32_to_e4m3_sat)
ENCODE_PASS(cuda_f32_to_e5m2_sat)
DECODE_PASS(cuda_f16_to_f32)
DECODE_PASS(cuda_bf16_to_f32)
DECODE_PASS(cuda_e4m3_to_f32)
# define CUDA_PASS(call) pass_##call
#else
# define CUDA_PASS(call) NULL
#endif

/* Blocks, whose scales lie behind their codes. */
#define BLOCK_PASSES(way)        \
 LOOP_PASS(way##_f32_to_mx_e4m3) \
 LOOP_PASS(way##_mx_e4m3_to_f32) \
 LOOP_PASS(way##_f32_to_nvfp4)   \
 LOOP_PASS(way##_nvfp4_to_f32)
BLOCK_PASSES(array)
BLOCK_PASSES(inlined)
BLOCK_PASSES(loop)

static const char section[] = "scalar";
static const char own[] = "mpnum", inlined[] = "mpnum in a loop",
                  native[] = "mpnum in a loop, -O3 native", fp16[] = "FP16",
                  f16c[] = "F16C", cuda[] = "CUDA headers";

/* Blocks: a call of the array function for one, and inlined. */
#define BLOCK_ROWS(operation, function, call, reads)                      \
 {operation, own, function "_blocks", pass_array_##call, reads},          \
     {operation, inlined, function "_block", pass_inlined_##call, reads}, \
     {operation, native, function "_block", pass_loop_##call, reads},

/* Those of an operation start with mpnum's. */
static const scalar_call calls[] = {
    {"f32 to f16", own, "mpnum_f32_to_f16", pass_call_f32_to_f16, 0},
    {"f32 to f16", inlined, "mpnum_f32_to_f16_sat", pass_inline_f32_to_f16, 0},
    {"f32 to f16", native, "mpnum_f32_to_f16", pass_loop_f32_to_f16, 0},
    {"f32 to f16", fp16, "fp16_ieee_from_fp32_value", FP16_PASS(fp16_f32_to_f16), 0},
    {"f32 to f16", f16c, "_cvtss_sh", F16C_PASS(f16c_f32_to_f16), 0},
    {"f32 to f16", cuda, "__float2half_rn", CUDA_PASS(cuda_f32_to_f16), 0},
    {"f32 to bf16", own, "mpnum_f32_to_bf16", pass_call_f32_to_bf16, 0},
    {"f32 to bf16", inlined, "mpnum_f32_to_bf16_sat", pass_inline_f32_to_bf16, 0},
    {"f32 to bf16", native, "mpnum_f32_to_bf16", pass_loop_f32_to_bf16, 0},
    {"f32 to bf16", cuda, "__float2bfloat16_rn", CUDA_PASS(cuda_f32_to_bf16), 0},
    {"f32 to e4m3", own, "mpnum_f32_to_e4m3_sat", pass_call_f32_to_e4m3_sat, 0},
    {"f32 to e4m3", inlined, "mpnum_f32_to_e4m3_sat", pass_inline_f32_to_e4m3, 0},
    {"f32 to e4m3", native, "mpnum_f32_to_e4m3_sat", pass_loop_f32_to_e4m3_sat, 0},
    {"f32 to e4m3", cuda, "__nv_cvt_float_to_fp8", CUDA_PASS(cuda_f32_to_e4m3_sat), 0},
    {"f32 to e5m2", own, "mpnum_f32_to_e5m2_sat", pass_call_f32_to_e5m2_sat, 0},
    {"f32 to e5m2", inlined, "mpnum_f32_to_e5m2_sat", pass_inline_f32_to_e5m2, 0},
    {"f32 to e5m2", native, "mpnum_f32_to_e5m2_sat", pass_loop_f32_to_e5m2_sat, 0},
    {"f32 to e5m2", cuda, "__nv_cvt_float_to_fp8", CUDA_PASS(cuda_f32_to_e5m2_sat), 0},
    {"f16 to f32", own, "mpnum_f16_to_f32", pass_call_f16_to_f32, 16},
    {"f16 to f32", inlined, "mpnum_f16_to_f32", pass_inline_f16_to_f32, 16},
    {"f16 to f32", native, "mpnum_f16_to_f32", pass_loop_f16_to_f32, 16},
    {"f16 to f32", fp16, "fp16_ieee_to_fp32_value", FP16_PASS(fp16_f16_to_f32), 16},
    {"f16 to f32", f16c, "_cvtsh_ss", F16C_PASS(f16c_f16_to_f32), 16},
    {"f16 to f32", cuda, "__half2float", CUDA_PASS(cuda_f16_to_f32), 16},
    {"bf16 to f32", own, "mpnum_bf16_to_f32", pass_call_bf16_to_f32, 16},
    {"bf16 to f32", inlined, "mpnum_bf16_to_f32", pass_inline_bf16_to_f32, 16},
    {"bf16 to f32", native, "mpnum_bf16_to_f32", pass_loop_bf16_to_f32, 16},
    {"bf16 to f32", cuda, "__bfloat162float", CUDA_PASS(cuda_bf16_to_f32), 16},
    {"e4m3 to f32", own, "mpnum_e4m3_to_f32", pass_call_e4m3_to_f32, 8},
    {"e4m3 to f32", inlined, "mpnum_e4m3_to_f32", pass_inline_e4m3_to_f32, 8},
    {"e4m3 to f32", native, "mpnum_e4m3_to_f32", pass_loop_e4m3_to_f32, 8},
    {"e4m3 to f32", cuda, "__nv_cvt_fp8_to_halfraw", CUDA_PASS(cuda_e4m3_to_f32), 8},
    BLOCK_ROWS("f32 to mx e4m3", "mpnum_quantize", f32_to_mx_e4m3, MX_VALUES)   //
    BLOCK_ROWS("mx e4m3 to f32", "mpnum_dequantize", mx_e4m3_to_f32, MX_BLOCKS) //
    BLOCK_ROWS("f32 to nvfp4", "mpnum_quantize", f32_to_nvfp4, NVFP4_VALUES)    //
    BLOCK_ROWS("nvfp4 to f32", "mpnum_dequantize", nvfp4_to_f32, NVFP4_BLOCKS)  //
};

enum { CALL_COUNT = sizeof calls / sizeof *calls };

static const char *missing(const scalar_call *call) {
  if (!call->pass)
    return call->library == f16c ? "not an x86-64 build"
                                 : "header not found by the build";
#if BENCH_HAVE_F16C
  if (call->library == f16c && !f16c_present()) return "this CPU has none";
#endif
  return NULL;
}

typedef struct scalar_sources {
  float *values;
  uint32_t *codes[2]; /* of 8 and 16 bits, in words */
  void *mx, *nvfp4;
} scalar_sources;

/* Elements of a call. */
static size_t block_of(const scalar_call *call) {
  return call->reads >= NVFP4_VALUES ? 16 : call->reads >= MX_VALUES ? 32 : 1;
}

static const void *source_of(const scalar_call *call, const scalar_sources *from) {
  switch (call->reads) {
  case 8: return from->codes[0];
  case 16: return from->codes[1];
  case MX_BLOCKS: return from->mx;
  case NVFP4_BLOCKS: return from->nvfp4;
  default: return from->values;
  }
}

static bool make_sources(scalar_sources *made, size_t count) {
  made->values = speed_values(count);
  made->codes[0] = timing_buffer(count * sizeof(uint32_t));
  made->codes[1] = timing_buffer(count * sizeof(uint32_t));
  made->mx = timing_buffer(2 * count); /* more than codes and scales take */
  made->nvfp4 = timing_buffer(count);
  if (!made->values || !made->codes[0] || !made->codes[1] || !made->mx || !made->nvfp4)
    return false;
  for (size_t i = 0; i < count; ++i) {
    made->codes[0][i] = mpnum_random(2, i) & 0xff;
    made->codes[1][i] = mpnum_random(2, i) & 0xffff;
  }
  array_f32_to_mx_e4m3(made->mx, made->values, count / 32);
  array_f32_to_nvfp4(made->nvfp4, made->values, count / 16);
  return true;
}

static void free_sources(scalar_sources *made) {
  free(made->values);
  free(made->codes[0]);
  free(made->codes[1]);
  free(made->mx);
  free(made->nvfp4);
}

static contender scalar_contender(const scalar_call *call, void *dst,
                                  const scalar_sources *from, size_t count) {
  contender made;
  memset(&made, 0, sizeof made);
  made.pass = call->pass;
  made.dst = dst;
  made.src = source_of(call, from);
  made.count = count / block_of(call);
  made.dst_bytes = 4 * count;
  return made;
}

static void collect(figures *to, const contender *timed) {
  double base = 0;
  for (int i = 0; i < CALL_COUNT; ++i) {
    const scalar_call *call = &calls[i];
    figures_at(to, section, call->library, call->operation, "");
    figures_say(to, "function", "%s", call->function);
    if (missing(call)) {
      figures_say(to, "missing", "%s", missing(call));
      continue;
    }
    if (call->library == own) base = timed->ns;
    figures_add(to, "time_per_call", timed->ns, "ns");
    figures_add(to, "ratio_to_mpnum", timed++->ns / base, "");
  }
}

uint64_t scalar_work(unsigned rounds) {
  uint64_t present = 0;
  for (int i = 0; i < CALL_COUNT; ++i)
    present += !missing(&calls[i]);
  return present * rounds;
}

bool scalar_measure(figures *to, size_t count, unsigned rounds, progress *bar) {
  contender list[CALL_COUNT];
  scalar_sources sources = {NULL, {NULL, NULL}, NULL, NULL};
  void *dst = timing_buffer(count * 4);
  bool done = dst && make_sources(&sources, count);
  size_t used = 0;
  for (int i = 0; i < CALL_COUNT && done; ++i) {
    if (!missing(&calls[i]))
      list[used++] = scalar_contender(&calls[i], dst, &sources, count);
  }
  done = done && timing_measure(list, used, rounds, bar, "scalar calls");
  if (done) {
    figures_at(to, section, "", "", "");
    figures_add(to, "rounds", rounds, "");
    collect(to, list);
  }
  free(dst);
  free_sources(&sources);
  return done;
}

bool scalar_print(const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "operation", .metric = VIEW_NAME},
      {.heading = "library", .metric = VIEW_SOURCE, .left = true},
      {.heading = "function", .metric = "function", .left = true},
      {.heading = "ns/call", .metric = "time_per_call", .format = "%.2f"},
      {.heading = "x mpnum", .metric = "ratio_to_mpnum", .format = "%.2f"},
  };
  static const view shown = {.section = section, VIEW_COLUMNS(columns)};
  const bool good = view_print(
      &shown, from, to,
      "\nScalar: one out-of-line call at a time, and inlined in a plain loop; median of "
      "%.0f rounds.\nOf mx e4m3 and nvfp4 a call is a block of 32 and 16\n",
      figures_value(from, section, "rounds"));
  view_absent(from, section, false, to);
  return good;
}
