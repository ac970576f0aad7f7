/* SPDX-License-Identifier: MIT */
/* Conversions as out-of-line calls. A code is a uint32_t, so that one loop drives them
 * all. Each peer is built only where its header was found; see meson.build. */
#ifndef MPNUM_BENCH_PEERS_H
#define MPNUM_BENCH_PEERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* calls.c */
uint32_t call_f32_to_f16(float x);
uint32_t call_f32_to_bf16(float x);
uint32_t call_f32_to_e4m3_sat(float x);
uint32_t call_f32_to_e5m2_sat(float x);
float call_f16_to_f32(uint32_t code);
float call_bf16_to_f32(uint32_t code);
float call_e4m3_to_f32(uint32_t code);

/* peer_fp16.c */
uint32_t fp16_f32_to_f16(float x);
float fp16_f16_to_f32(uint32_t code);

/* peer_f16c.c */
int f16c_present(void);
uint32_t f16c_f32_to_f16(float x);
float f16c_f16_to_f32(uint32_t code);

/* peer_cuda.cpp */
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
