/* SPDX-License-Identifier: MIT */
/* Other libraries, each built only where it was found; see meson.build. */
#ifndef MPNUM_BENCH_PEERS_H
#define MPNUM_BENCH_PEERS_H

#include <stddef.h>
#include <stdint.h>

#include <peers/array_peers.h> /* of the build folder */

#ifdef __cplusplus
extern "C" {
#endif

/* An operation on `count` elements, a multiple of 256. */
typedef void (*array_loop)(void *dst, const void *src, size_t count);

typedef struct array_peer_loop {
  const char *operation; /* the name of an array_operation */
  const char *function;  /* what it calls */
  array_loop run;
} array_peer_loop;

typedef struct array_peer {
  const char *name;
  const char *missing; /* why it was not built, or NULL */
  const array_peer_loop *loops;
  size_t count;
  int (*present)(void); /* NULL, or whether this CPU can run it */
} array_peer;

/* Those of the list in meson.build, found or not. */
#define DECLARE_PEER(id) extern const array_peer peer_##id;
ARRAY_PEERS(DECLARE_PEER)
#undef DECLARE_PEER

/* steps.c: of optimizers, as one loop in C. */
extern const array_peer peer_plain_steps;

/* Gradient, parameter, moments and copy lie one after the other, so many bytes apart, for
 * which an array has room of so many elements. Arrays a power of two apart share sets of
 * the caches and banks of memory: AdamW past the caches takes 3 times as long, and as a
 * plain loop 12 times (Zen 4). */
enum { STEP_GAP = 4416, STEP_ROOM = 2048 };

/* The loop that a user would write around a function for one element. */
#define PEER_LOOP(name, from_type, to_type, call)             \
 static void name(void *dst, const void *src, size_t count) { \
  const from_type *from = (const from_type *)src;             \
  to_type *to = (to_type *)dst;                               \
  size_t i;                                                   \
  for (i = 0; i < count; ++i)                                 \
   to[i] = (to_type)call(from[i]);                            \
 }
#define PEER_COUNT(loops) (sizeof(loops) / sizeof *(loops))

/* Conversions as out-of-line calls. A code is a uint32_t, so that one loop drives them
 * all. */

/* calls.c */
uint32_t call_f32_to_f16(float x);
uint32_t call_f32_to_bf16(float x);
uint32_t call_f32_to_e4m3_sat(float x);
uint32_t call_f32_to_e5m2_sat(float x);
float call_f16_to_f32(uint32_t code);
float call_bf16_to_f32(uint32_t code);
float call_e4m3_to_f32(uint32_t code);

/* loops.c */
void loop_f32_to_f16(uint16_t *dst, const float *src, size_t count);
void loop_f32_to_bf16(uint16_t *dst, const float *src, size_t count);
void loop_f32_to_e4m3_sat(uint8_t *dst, const float *src, size_t count);
void loop_f32_to_e5m2_sat(uint8_t *dst, const float *src, size_t count);
void loop_f16_to_f32(float *dst, const uint16_t *src, size_t count);
void loop_bf16_to_f32(float *dst, const uint16_t *src, size_t count);
void loop_e4m3_to_f32(float *dst, const uint8_t *src, size_t count);

/* Blocks of MX e4m3 and NVFP4, each with the byte of its scale behind its codes: by
 * mpnum_quantize_block and mpnum_dequantize_block in calls.c, in loops.c likewise, and in
 * calls.c by array calls for one block each. */
#define DECLARE_BLOCK_LOOPS(way)                                       \
 void way##_f32_to_mx_e4m3(void *dst, const void *src, size_t blocks); \
 void way##_mx_e4m3_to_f32(void *dst, const void *src, size_t blocks); \
 void way##_f32_to_nvfp4(void *dst, const void *src, size_t blocks);   \
 void way##_nvfp4_to_f32(void *dst, const void *src, size_t blocks);
DECLARE_BLOCK_LOOPS(inlined)
DECLARE_BLOCK_LOOPS(loop)
DECLARE_BLOCK_LOOPS(array)
#undef DECLARE_BLOCK_LOOPS

/* fp16.c */
uint32_t fp16_f32_to_f16(float x);
float fp16_f16_to_f32(uint32_t code);

/* f16c.c */
int f16c_present(void);
uint32_t f16c_f32_to_f16(float x);
float f16c_f16_to_f32(uint32_t code);

/* cuda.cpp */
uint32_t cuda_f32_to_f16(float x);
uint32_t cuda_f32_to_bf16(float x);
uint32_t cuda_f32_to_e4m3_sat(float x);
uint32_t cuda_f32_to_e5m2_sat(float x);
float cuda_f16_to_f32(uint32_t code);
float cuda_bf16_to_f32(uint32_t code);
float cuda_e4m3_to_f32(uint32_t code);

#ifdef __cplusplus
}
#endif

#endif
