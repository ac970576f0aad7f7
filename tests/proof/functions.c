/* SPDX-License-Identifier: MIT */
/* What test_errors.py compares its steps with. */
#include <mpnum/func/func.h>

float exp_f32(float x) { return mpnum_exp_f32(x); }
float log_f32(float x) { return mpnum_log_f32(x); }
float tanh_f32(float x) { return mpnum_tanh_f32(x); }
