/* SPDX-License-Identifier: MIT */
/* Maratyszcza's FP16. */
#include "peers.h"

#include <fp16.h>

uint32_t fp16_f32_to_f16(float x) { return fp16_ieee_from_fp32_value(x); }
float fp16_f16_to_f32(uint32_t code) { return fp16_ieee_to_fp32_value((uint16_t)code); }

PEER_LOOP(f32_to_f16, float, uint16_t, fp16_ieee_from_fp32_value)
PEER_LOOP(f16_to_f32, uint16_t, float, fp16_ieee_to_fp32_value)

static const array_peer_loop loops[] = {
    {"f32 to f16", "fp16_ieee_from_fp32_value", f32_to_f16},
    {"f16 to f32", "fp16_ieee_to_fp32_value", f16_to_f32},
};
const array_peer peer_fp16 = {"FP16", NULL, loops, PEER_COUNT(loops), NULL};
