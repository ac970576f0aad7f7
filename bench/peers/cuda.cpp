/* SPDX-License-Identifier: MIT */
/* The host path of the CUDA headers. */
#include "peers.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#ifdef __has_include
# if __has_include(<cuda_fp4.h>)
#  include <cuda_fp4.h>
#  define HAVE_FP4 1
# endif
#endif
#ifndef HAVE_FP4
# define HAVE_FP4 0
#endif

uint32_t cuda_f32_to_f16(float x) { return __half_raw(__float2half_rn(x)).x; }

uint32_t cuda_f32_to_bf16(float x) { return __nv_bfloat16_raw(__float2bfloat16_rn(x)).x; }

uint32_t cuda_f32_to_e4m3_sat(float x) {
  return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
}

uint32_t cuda_f32_to_e5m2_sat(float x) {
  return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2);
}

float cuda_f16_to_f32(uint32_t code) {
  __half_raw raw;
  raw.x = static_cast<unsigned short>(code);
  return __half2float(__half(raw));
}

float cuda_bf16_to_f32(uint32_t code) {
  __nv_bfloat16_raw raw;
  raw.x = static_cast<unsigned short>(code);
  return __bfloat162float(__nv_bfloat16(raw));
}

float cuda_e4m3_to_f32(uint32_t code) {
  __nv_fp8_storage_t storage = static_cast<__nv_fp8_storage_t>(code);
  return __half2float(__half(__nv_cvt_fp8_to_halfraw(storage, __NV_E4M3)));
}

namespace {

inline uint32_t f16_to_e4m3(uint16_t code) {
  __half_raw raw;
  raw.x = code;
  return __nv_cvt_halfraw_to_fp8(raw, __NV_SATFINITE, __NV_E4M3);
}

inline uint32_t bf16_to_e4m3(uint16_t code) {
  __nv_bfloat16_raw raw;
  raw.x = code;
  return __nv_cvt_bfloat16raw_to_fp8(raw, __NV_SATFINITE, __NV_E4M3);
}

inline float e5m2_to_f32(uint8_t code) {
  return __half2float(__half(__nv_cvt_fp8_to_halfraw(code, __NV_E5M2)));
}

PEER_LOOP(f32_to_f16_array, float, uint16_t, cuda_f32_to_f16)
PEER_LOOP(f32_to_bf16_array, float, uint16_t, cuda_f32_to_bf16)
PEER_LOOP(f32_to_e4m3_array, float, uint8_t, cuda_f32_to_e4m3_sat)
PEER_LOOP(f32_to_e5m2_array, float, uint8_t, cuda_f32_to_e5m2_sat)
PEER_LOOP(f16_to_f32_array, uint16_t, float, cuda_f16_to_f32)
PEER_LOOP(bf16_to_f32_array, uint16_t, float, cuda_bf16_to_f32)
PEER_LOOP(e4m3_to_f32_array, uint8_t, float, cuda_e4m3_to_f32)
PEER_LOOP(e5m2_to_f32_array, uint8_t, float, e5m2_to_f32)
PEER_LOOP(f16_to_e4m3_array, uint16_t, uint8_t, f16_to_e4m3)
PEER_LOOP(bf16_to_e4m3_array, uint16_t, uint8_t, bf16_to_e4m3)

#if HAVE_FP4
void f32_to_e2m1x2_array(void *dst, const void *src, size_t count) {
  const float *from = static_cast<const float *>(src);
  __nv_fp4x2_storage_t *to = static_cast<__nv_fp4x2_storage_t *>(dst);
  for (size_t i = 0; i < count / 2; ++i) {
    const float2 pair = {from[2 * i], from[2 * i + 1]};
    to[i] = __nv_cvt_float2_to_fp4x2(pair, __NV_E2M1, cudaRoundNearest);
  }
}

void e2m1x2_to_f32_array(void *dst, const void *src, size_t count) {
  const __nv_fp4x2_storage_t *from = static_cast<const __nv_fp4x2_storage_t *>(src);
  float *to = static_cast<float *>(dst);
  for (size_t i = 0; i < count / 2; ++i) {
    const __half2 pair = __half2(__nv_cvt_fp4x2_to_halfraw2(from[i], __NV_E2M1));
    to[2 * i] = __low2float(pair);
    to[2 * i + 1] = __high2float(pair);
  }
}
#endif

const array_peer_loop loops[] = {
    {"f32 to f16", "__float2half_rn", f32_to_f16_array},
    {"f32 to bf16", "__float2bfloat16_rn", f32_to_bf16_array},
    {"f32 to e4m3", "__nv_cvt_float_to_fp8", f32_to_e4m3_array},
    {"f32 to e5m2", "__nv_cvt_float_to_fp8", f32_to_e5m2_array},
    {"f16 to f32", "__half2float", f16_to_f32_array},
    {"bf16 to f32", "__bfloat162float", bf16_to_f32_array},
    {"e4m3 to f32", "__nv_cvt_fp8_to_halfraw", e4m3_to_f32_array},
    {"e5m2 to f32", "__nv_cvt_fp8_to_halfraw", e5m2_to_f32_array},
    {"f16 to e4m3", "__nv_cvt_halfraw_to_fp8", f16_to_e4m3_array},
    {"bf16 to e4m3", "__nv_cvt_bfloat16raw_to_fp8", bf16_to_e4m3_array},
#if HAVE_FP4
    {"f32 to e2m1x2", "__nv_cvt_float2_to_fp4x2", f32_to_e2m1x2_array},
    {"e2m1x2 to f32", "__nv_cvt_fp4x2_to_halfraw2", e2m1x2_to_f32_array},
#endif
};

} // namespace

const array_peer peer_cuda = {"CUDA headers", NULL, loops, PEER_COUNT(loops), NULL};
