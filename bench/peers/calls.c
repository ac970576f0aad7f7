/* SPDX-License-Identifier: MIT */
/* mpnum's conversions as functions of their own, in a file of their own: no caller
 * inlines them. */
#include "peers.h"

#include <mpnum/mpnum.h>

uint32_t call_f32_to_f16(float x) { return mpnum_f32_to_f16(x).bits; }
uint32_t call_f32_to_bf16(float x) { return mpnum_f32_to_bf16(x).bits; }
uint32_t call_f32_to_e4m3_sat(float x) { return mpnum_f32_to_e4m3_sat(x).bits; }
uint32_t call_f32_to_e5m2_sat(float x) { return mpnum_f32_to_e5m2_sat(x).bits; }
float call_f16_to_f32(uint32_t code) {
  return mpnum_f16_to_f32(mpnum_from_bits_f16(code));
}
float call_bf16_to_f32(uint32_t code) {
  return mpnum_bf16_to_f32(mpnum_from_bits_bf16(code));
}
float call_e4m3_to_f32(uint32_t code) {
  return mpnum_e4m3_to_f32(mpnum_from_bits_e4m3(code));
}
