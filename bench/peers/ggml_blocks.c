/* SPDX-License-Identifier: MIT */
/* ggml's block formats, of its backend for CPUs: scales lie between the codes of blocks,
 * 8.5 or 4.5 bits a value, 4.25 of MXFP4. */
#include "blocks.h"

#include <ggml-cpu.h>
#include <ggml.h>

static int prepare(void) {
  ggml_cpu_init();
  return 1;
}

#define FORMAT(name, TYPE)                                                             \
 static void to_##name(void *dst, const void *src, size_t count) {                     \
  ggml_get_type_traits_cpu(TYPE)->from_float((const float *)src, dst, (int64_t)count); \
 }                                                                                     \
 static void from_##name(void *dst, const void *src, size_t count) {                   \
  ggml_get_type_traits(TYPE)->to_float(src, (float *)dst, (int64_t)count);             \
 }
FORMAT(q4_0, GGML_TYPE_Q4_0)
FORMAT(q8_0, GGML_TYPE_Q8_0)

static const array_peer_loop loops_q4_0[] = {{"f32 to mx e2m1", "from_float", to_q4_0},
                                             {"mx e2m1 to f32", "to_float", from_q4_0}};
static const array_peer_loop loops_q8_0[] = {{"f32 to mx int8", "from_float", to_q8_0},
                                             {"mx int8 to f32", "to_float", from_q8_0}};
const array_peer peer_ggml_q4_0 = {"Q4_0", NULL, loops_q4_0, PEER_COUNT(loops_q4_0),
                                   prepare};
const array_peer peer_ggml_q8_0 = {"Q8_0", NULL, loops_q8_0, PEER_COUNT(loops_q8_0),
                                   prepare};

#if BENCH_HAVE_GGML_MXFP4
FORMAT(mxfp4, GGML_TYPE_MXFP4)
static const array_peer_loop loops_mxfp4[] = {{"f32 to mx e2m1", "from_float", to_mxfp4},
                                              {"mx e2m1 to f32", "to_float", from_mxfp4}};
const array_peer peer_ggml_mxfp4 = {"MXFP4", NULL, loops_mxfp4, PEER_COUNT(loops_mxfp4),
                                    prepare};
#endif
