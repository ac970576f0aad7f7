/* SPDX-License-Identifier: MIT */
/* Functions of gradients that the build compiles once for all tests: see
 * harness/linked.h. */
#ifndef MPNUM_TESTS_GRAD_FUNCTIONS_H
#define MPNUM_TESTS_GRAD_FUNCTIONS_H

#include <mpnum/training/grad.h>
#include <mpnum/training/health.h>
#include <mpnum/training/optimizer.h>
#include <mpnum/simd/isa.h>

#include "../harness/linked_function.h"

LINKED_FUNCTION_AS(grad_functions_force_isa, mpnum_isa_force);
LINKED_FUNCTION(mpnum_grad_multiply);
LINKED_FUNCTION(mpnum_grad_read);
LINKED_FUNCTION(mpnum_grad_scaler_check);
LINKED_FUNCTION(mpnum_grad_scaler_unscale);
LINKED_FUNCTION(mpnum_grad_scaler_clip);
LINKED_FUNCTION(mpnum_grad_scaler_unscale_clip_step);
LINKED_FUNCTION(mpnum_count_lost);
LINKED_FUNCTION(mpnum_optimizer_step);

#define mpnum_grad_multiply                 linked_mpnum_grad_multiply
#define mpnum_grad_read                     linked_mpnum_grad_read
#define mpnum_grad_scaler_check             linked_mpnum_grad_scaler_check
#define mpnum_grad_scaler_unscale           linked_mpnum_grad_scaler_unscale
#define mpnum_grad_scaler_clip              linked_mpnum_grad_scaler_clip
#define mpnum_grad_scaler_unscale_clip_step linked_mpnum_grad_scaler_unscale_clip_step
#define mpnum_count_lost                    linked_mpnum_count_lost
#define mpnum_optimizer_step                linked_mpnum_optimizer_step

#endif
