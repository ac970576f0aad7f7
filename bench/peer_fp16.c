/* SPDX-License-Identifier: MIT */
/* Maratyszcza's FP16. */
#include "peers.h"

#include <fp16.h>

uint32_t fp16_f32_to_f16(float x) { return fp16_ieee_from_fp32_value(x); }
float fp16_f16_to_f32(uint32_t code) { return fp16_ieee_to_fp32_value((uint16_t)code); }
