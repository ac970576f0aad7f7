/* SPDX-License-Identifier: MIT */
#include "../row.h"
#include <fp16.h>

ROW(fp16_ieee_from_fp32_value, float, uint16_t)
ROW(fp16_ieee_to_fp32_value, uint16_t, float)
ROW(fp16_ieee_to_fp32_bits, uint16_t, uint32_t)
ROW(fp16_alt_from_fp32_value, float, uint16_t)
ROW(fp16_alt_to_fp32_value, uint16_t, float)
ROW(fp16_alt_to_fp32_bits, uint16_t, uint32_t)
