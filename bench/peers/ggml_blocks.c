/* SPDX-License-Identifier: MIT */
/* ggml's block formats, of its backend for CPUs: scales lie between the codes of blocks,
 * 8.5 or 4.5 bits a value, 4.25 of MXFP4. NVFP4 has none for the tensor. */
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
#define PEER(id, name, ours)                                                            \
 static const array_peer_loop loops_##id[] = {{"f32 to " ours, "from_float", to_##id},  \
                                              {ours " to f32", "to_float", from_##id}}; \
 const array_peer peer_ggml_##id = {name, NULL, loops_##id, PEER_COUNT(loops_##id),     \
                                    prepare};

FORMAT(q4_0, GGML_TYPE_Q4_0)
PEER(q4_0, "Q4_0", "mx e2m1")
FORMAT(q8_0, GGML_TYPE_Q8_0)
PEER(q8_0, "Q8_0", "mx int8")
#if BENCH_HAVE_GGML_MXFP4
FORMAT(mxfp4, GGML_TYPE_MXFP4)
PEER(mxfp4, "MXFP4", "mx e2m1")
#endif
#if BENCH_HAVE_GGML_NVFP4
FORMAT(nvfp4, GGML_TYPE_NVFP4)
PEER(nvfp4, "NVFP4", "nvfp4 1x16")
#endif
