/* SPDX-License-Identifier: MIT */
/* The host path of the CUDA headers. */
#include "peers.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

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
