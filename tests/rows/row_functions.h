/* SPDX-License-Identifier: MIT */
/* Functions of rows that the build compiles once for all tests: see
 * harness/linked.h. */
#ifndef MPNUM_TESTS_ROW_FUNCTIONS_H
#define MPNUM_TESTS_ROW_FUNCTIONS_H

#include <mpnum/rows/activation_backward.h>
#include <mpnum/rows/activation_rows.h>
#include <mpnum/rows/contrastive_embeddings.h>
#include <mpnum/rows/cross_entropy.h>
#include <mpnum/rows/dropout.h>
#include <mpnum/rows/hadamard.h>
#include <mpnum/rows/normalize.h>
#include <mpnum/rows/normalize_backward.h>
#include <mpnum/rows/normalize_quantize.h>
#include <mpnum/rows/softmax.h>
#include <mpnum/rows/softmax_backward.h>
#include <mpnum/rows/softmax_cap.h>
#include <mpnum/simd/isa.h>

#include "../harness/linked_function.h"

LINKED_FUNCTION_AS(row_functions_force_isa, mpnum_isa_force);
LINKED_FUNCTION(mpnum_activation_rows);
LINKED_FUNCTION(mpnum_activation_quantize_rows);
LINKED_FUNCTION(mpnum_activation_backward_rows);
LINKED_FUNCTION(mpnum_activation_backward_quantize_rows);
LINKED_FUNCTION(mpnum_sum_columns);
LINKED_FUNCTION(mpnum_contrastive_loss);
LINKED_FUNCTION(mpnum_contrastive_loss_of_embeddings);
LINKED_FUNCTION(mpnum_cross_entropy_rows);
LINKED_FUNCTION(mpnum_cross_entropy_rows_i32);
LINKED_FUNCTION(mpnum_soft_cross_entropy_rows);
LINKED_FUNCTION(mpnum_dropout_rows);
LINKED_FUNCTION(mpnum_hadamard_rows);
LINKED_FUNCTION(mpnum_hadamard_inverse_rows);
LINKED_FUNCTION(mpnum_layer_norm_rows);
LINKED_FUNCTION(mpnum_rms_norm_rows);
LINKED_FUNCTION(mpnum_l2_normalize_rows);
LINKED_FUNCTION(mpnum_normalize_rows);
LINKED_FUNCTION(mpnum_normalize_backward_rows);
LINKED_FUNCTION(mpnum_normalize_quantize_rows);
LINKED_FUNCTION(mpnum_softmax_rows);
LINKED_FUNCTION(mpnum_log_softmax_rows);
LINKED_FUNCTION(mpnum_logsumexp_rows);
LINKED_FUNCTION(mpnum_softmax_backward_rows);
LINKED_FUNCTION(mpnum_log_softmax_backward_rows);
LINKED_FUNCTION(mpnum_softmax_add_tile);
LINKED_FUNCTION(mpnum_softmax_capped_backward_rows);

#define mpnum_activation_rows          linked_mpnum_activation_rows
#define mpnum_activation_quantize_rows linked_mpnum_activation_quantize_rows
#define mpnum_activation_backward_rows linked_mpnum_activation_backward_rows
#define mpnum_activation_backward_quantize_rows \
 linked_mpnum_activation_backward_quantize_rows
#define mpnum_sum_columns                    linked_mpnum_sum_columns
#define mpnum_contrastive_loss               linked_mpnum_contrastive_loss
#define mpnum_contrastive_loss_of_embeddings linked_mpnum_contrastive_loss_of_embeddings
#define mpnum_cross_entropy_rows             linked_mpnum_cross_entropy_rows
#define mpnum_cross_entropy_rows_i32         linked_mpnum_cross_entropy_rows_i32
#define mpnum_soft_cross_entropy_rows        linked_mpnum_soft_cross_entropy_rows
#define mpnum_dropout_rows                   linked_mpnum_dropout_rows
#define mpnum_hadamard_rows                  linked_mpnum_hadamard_rows
#define mpnum_hadamard_inverse_rows          linked_mpnum_hadamard_inverse_rows
#define mpnum_layer_norm_rows                linked_mpnum_layer_norm_rows
#define mpnum_rms_norm_rows                  linked_mpnum_rms_norm_rows
#define mpnum_l2_normalize_rows              linked_mpnum_l2_normalize_rows
#define mpnum_normalize_rows                 linked_mpnum_normalize_rows
#define mpnum_normalize_backward_rows        linked_mpnum_normalize_backward_rows
#define mpnum_normalize_quantize_rows        linked_mpnum_normalize_quantize_rows
#define mpnum_softmax_rows                   linked_mpnum_softmax_rows
#define mpnum_log_softmax_rows               linked_mpnum_log_softmax_rows
#define mpnum_logsumexp_rows                 linked_mpnum_logsumexp_rows
#define mpnum_softmax_backward_rows          linked_mpnum_softmax_backward_rows
#define mpnum_log_softmax_backward_rows      linked_mpnum_log_softmax_backward_rows
#define mpnum_softmax_add_tile               linked_mpnum_softmax_add_tile

#define mpnum_softmax_capped_backward_rows linked_mpnum_softmax_capped_backward_rows

#endif
