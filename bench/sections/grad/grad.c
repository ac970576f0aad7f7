/* SPDX-License-Identifier: MIT */
#include "../arrays/arrays.h"

#include "../../peers/torch.h"

/* What torch_times.py calls for an operation of ours; unscale_ is the function under that
 * method of torch.amp.GradScaler, _amp_foreach_non_finite_check_and_unscale_. */
static const array_peer_loop loops[] = {
    {"unscale f32", "unscale_, get_total_norm", NULL},
    {"unscale f32 small", "unscale_, get_total_norm", NULL},
    {"multiply f32", "unscale_", NULL},
    {"unscale and clip f32", "unscale_, clip_grad_norm_", NULL},
    {"check f32", "get_total_norm", NULL},
};
static array_peer pytorch = {"PyTorch", NULL, loops, PEER_COUNT(loops), NULL};
static torch_peer measured = {&pytorch, "torch_times.py", "", {"", NULL}};

static void measure_pytorch(array_results *found) { torch_measure(&measured, found); }

static const array_peer *const peers[] = {&peer_plain_steps, &pytorch};

static const array_addition additions[] = {
    {"check, statistics, norm, to a multiplication", "unscale f32", "multiply f32"},
    {"separate passes, to one", "unscale f32 in passes", "unscale f32"},
    {"small tensors, to one", "unscale f32 small", "unscale f32"},
    {"histogram", "unscale f32 histogram", "unscale f32"},
    {"histogram of every 16th tile", "unscale f32 histogram/16", "unscale f32"},
};

const array_set grad_set = {
    "Gradients",
    "grad",
    "grad_limit",
    "PyTorch is called from Python, after all others. x: the peer's\n"
    "time over mpnum's. *: other bits than mpnum's",
    &grad_functions,
    peers,
    PEER_COUNT(peers),
    measured.version,
    measure_pytorch,
    "grad_added",
    additions,
    sizeof additions / sizeof *additions,
    "grad_threads",
    "unscale f32",
    NULL};
