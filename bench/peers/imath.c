/* SPDX-License-Identifier: MIT */
/* Imath, the half of OpenEXR. */
#include "peers.h"

#include <half.h>

PEER_LOOP(f32_to_f16, float, uint16_t, imath_float_to_half)
PEER_LOOP(f16_to_f32, uint16_t, float, imath_half_to_float)

static const array_peer_loop loops[] = {
    {"f32 to f16", "imath_float_to_half", f32_to_f16},
    {"f16 to f32", "imath_half_to_float", f16_to_f32},
};
const array_peer peer_imath = {"Imath", NULL, loops, PEER_COUNT(loops), NULL};
