/* SPDX-License-Identifier: MIT */
/* Functions of blocks and of arrays at a scale that the build compiles once for all
 * tests: see
 * harness/linked.h. */
#ifndef MPNUM_TESTS_BLOCK_FUNCTIONS_H
#define MPNUM_TESTS_BLOCK_FUNCTIONS_H

#include <mpnum/array/scale.h>
#include <mpnum/blocks/block.h>
#include <mpnum/blocks/blockscale.h>
#include <mpnum/blocks/four_over_six.h>
#include <mpnum/blocks/layout.h>
#include <mpnum/blocks/least_error.h>
#include <mpnum/blocks/measure.h>
#include <mpnum/blocks/stored_matrix.h>
#include <mpnum/simd/isa.h>

#include "../harness/linked_function.h"

LINKED_FUNCTION_AS(block_functions_force_isa, mpnum_isa_force);
LINKED_FUNCTION(mpnum_quantize_array);
LINKED_FUNCTION(mpnum_dequantize_array);
LINKED_FUNCTION(mpnum_quantize_channels);
LINKED_FUNCTION(mpnum_dequantize_channels);
LINKED_FUNCTION(mpnum_finite_amax_rows);
LINKED_FUNCTION(mpnum_quantize_blocks);
LINKED_FUNCTION(mpnum_quantize_blocks_both);
LINKED_FUNCTION(mpnum_dequantize_blocks);
LINKED_FUNCTION(mpnum_quantize_four_over_six);
LINKED_FUNCTION(mpnum_quantize_least_error);
LINKED_FUNCTION(mpnum_reorder_scales);
LINKED_FUNCTION(mpnum_transpose_codes);
LINKED_FUNCTION(mpnum_convert_blocks);
LINKED_FUNCTION(mpnum_round_blocks);
LINKED_FUNCTION(mpnum_quantize_two_level);
LINKED_FUNCTION(mpnum_dequantize_two_level);
LINKED_FUNCTION(mpnum_quantize_stored);
LINKED_FUNCTION(mpnum_dequantize_stored);
LINKED_FUNCTION(mpnum_stored_from_blocks);
LINKED_FUNCTION(mpnum_stored_to_blocks);
LINKED_FUNCTION(mpnum_measure_rows);
LINKED_FUNCTION(mpnum_measure_blocks);

#define mpnum_quantize_array         linked_mpnum_quantize_array
#define mpnum_dequantize_array       linked_mpnum_dequantize_array
#define mpnum_quantize_channels      linked_mpnum_quantize_channels
#define mpnum_dequantize_channels    linked_mpnum_dequantize_channels
#define mpnum_finite_amax_rows       linked_mpnum_finite_amax_rows
#define mpnum_quantize_blocks        linked_mpnum_quantize_blocks
#define mpnum_quantize_blocks_both   linked_mpnum_quantize_blocks_both
#define mpnum_dequantize_blocks      linked_mpnum_dequantize_blocks
#define mpnum_quantize_four_over_six linked_mpnum_quantize_four_over_six
#define mpnum_quantize_least_error   linked_mpnum_quantize_least_error
#define mpnum_reorder_scales         linked_mpnum_reorder_scales
#define mpnum_transpose_codes        linked_mpnum_transpose_codes
#define mpnum_convert_blocks         linked_mpnum_convert_blocks
#define mpnum_round_blocks           linked_mpnum_round_blocks
#define mpnum_quantize_two_level     linked_mpnum_quantize_two_level
#define mpnum_dequantize_two_level   linked_mpnum_dequantize_two_level
#define mpnum_quantize_stored        linked_mpnum_quantize_stored
#define mpnum_dequantize_stored      linked_mpnum_dequantize_stored
#define mpnum_stored_from_blocks     linked_mpnum_stored_from_blocks
#define mpnum_stored_to_blocks       linked_mpnum_stored_to_blocks
#define mpnum_measure_rows           linked_mpnum_measure_rows
#define mpnum_measure_blocks         linked_mpnum_measure_blocks

#endif
