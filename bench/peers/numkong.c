/* SPDX-License-Identifier: MIT */
/* NumKong's cast: with its library the one that picks kernels for the CPU, without it
 * what plain compiler flags make of the headers. */
#include "peers.h"

#include <numkong/cast.h>

#define CAST(name, from, to)                                  \
 static void name(void *dst, const void *src, size_t count) { \
  nk_cast(src, nk_##from##_k, count, dst, nk_##to##_k);       \
 }
#define CASTS(ROW) \
 ROW(f32, f16)     \
 ROW(f32, bf16)    \
 ROW(f32, e4m3)    \
 ROW(f32, e5m2)    \
 ROW(f32, e3m2)    \
 ROW(f32, e2m3)    \
 ROW(f16, f32)     \
 ROW(bf16, f32)    \
 ROW(e4m3, f32)    \
 ROW(e5m2, f32)    \
 ROW(e3m2, f32)    \
 ROW(e2m3, f32)    \
 ROW(f16, e4m3)    \
 ROW(f16, e5m2)    \
 ROW(bf16, e4m3)   \
 ROW(bf16, e5m2)   \
 ROW(f64, f32)     \
 ROW(f64, bf16)    \
 ROW(f64, f16)

#define CAST_FUNCTION(from, to) CAST(from##_to_##to, from, to)
CASTS(CAST_FUNCTION)

#define CAST_ROW(from, to) {#from " to " #to, "nk_cast", from##_to_##to},
static const array_peer_loop loops[] = {CASTS(CAST_ROW)};
const array_peer peer_numkong = {"NumKong", NULL, loops, PEER_COUNT(loops), NULL};
