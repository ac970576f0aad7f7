/* SPDX-License-Identifier: MIT */
/* What activation_rows.h and activation_backward.h are made of besides functions of
 * func_loops.h: bounds, relu and its square, and products of gradients. */
#ifndef MPNUM_ROWS_DETAIL_ACTIVATION_LOOPS_H
#define MPNUM_ROWS_DETAIL_ACTIVATION_LOOPS_H

#include "norm_loops.h"
#include "../../func/detail/func_small.h"
MPNUM_C_BEGIN_

/* gate_map: of each float its bounded value plus the offset; relu, its square, or one of
 * their derivatives. dst may be src. */
typedef enum mpnum_gate_kind_ {
  MPNUM_GATE_BOUNDED_,
  MPNUM_GATE_RELU_,
  MPNUM_GATE_RELU_SQUARED_,
  MPNUM_GATE_RELU_SLOPE_,
  MPNUM_GATE_RELU_SQUARED_SLOPE_
} mpnum_gate_kind_;
typedef struct mpnum_gate_map_ {
  mpnum_gate_kind_ kind;
  float low, high; /* below and above 0 */
  float number;    /* that offset, -0 for none */
} mpnum_gate_map_;
#if !MPNUM_HAS_ARRAYS_
# include "../../simd/detail/operations.inc"
# define MPNUM_ISA_HERE_ 0
# include "../../simd/detail/isa_begin.inc"
# include "activation.inc"
#else
/* gate_gradients: of a gradient dy, x, and the derivative at x the gradient of x; with a
 * factor, which map is for, and the value of the activation also that of the factor. dy,
 * factor and results are of no foreign type; a result may be where one of the others is.
 * is_open: bounds and relu let all through, and map changes nothing. */
typedef struct mpnum_gate_run_ {
  mpnum_gate_map_ map;
  int is_open, src_adds, factor_adds; /* whether a result is added to what is there */
  const float *x, *slope, *value;
  mpnum_row_type_ dy_type, factor_type, to_src_type, to_factor_type;
  const uint8_t *dy, *factor;  /* factor may be NULL, */
  uint8_t *to_src, *to_factor; /* and a result */
} mpnum_gate_run_;

# define MPNUM_EACH_ISA_ "../../rows/detail/activation.inc"
# include "../../simd/detail/each_isa.inc"

MPNUM_HOST void mpnum_gate_map_of_(const mpnum_gate_map_ *map, float *dst,
                                   const float *src, size_t n) {
  MPNUM_CALL_(gate_map, (map, dst, src, n));
}
MPNUM_HOST void mpnum_gate_apply_(mpnum_gate_kind_ kind, float *dst, const float *src,
                                  size_t n) {
  mpnum_gate_map_ map;
  map.kind = kind;
  map.low = map.high = map.number = 0;
  mpnum_gate_map_of_(&map, dst, src, n);
}
/* Products of floats with a number. */
MPNUM_HOST void mpnum_gate_scale_(float number, float *dst, const float *src, size_t n) {
  if (dst != src) MPNUM_MEMCPY_(dst, src, n * sizeof *dst);
  mpnum_row_scaled_(dst, n, number);
}
/* Pairs of floats to the first and the second of each, and back; all lie apart. */
MPNUM_HOST void mpnum_gate_apart_(float *even, float *odd, const float *pairs, size_t n) {
  MPNUM_CALL_(gate_apart, (even, odd, pairs, n));
}
MPNUM_HOST void mpnum_gate_by_turns_(float *pairs, const float *even, const float *odd,
                                     size_t n) {
  MPNUM_CALL_(gate_by_turns, (pairs, even, odd, n));
}
MPNUM_HOST void mpnum_gate_gradients_of_(const mpnum_gate_run_ *run, size_t n) {
  MPNUM_CALL_(gate_gradients, (run, n));
}

#endif
MPNUM_C_END_
#endif
