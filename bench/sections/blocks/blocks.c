/* SPDX-License-Identifier: MIT */
/* The set of operations, and the peers: those of this build and those that it did not
 * find. */
#include "blocks.h"

#include "../../core/block_formats.h"
#include "../../peers/blocks.h"
#include "../../peers/torch.h"

#if !BENCH_HAVE_GGML
# define ABSENT "libggml-cpu was not found (GGML=FOLDER names where it is installed)"
const array_peer peer_ggml_q8_0 = {"Q8_0", ABSENT, NULL, 0, NULL};
const array_peer peer_ggml_q4_0 = {"Q4_0", ABSENT, NULL, 0, NULL};
#else
# define ABSENT "this ggml has it not"
#endif
#if !BENCH_HAVE_GGML_MXFP4
const array_peer peer_ggml_mxfp4 = {"MXFP4", ABSENT, NULL, 0, NULL};
#endif
#if !BENCH_HAVE_GGML_NVFP4
const array_peer peer_ggml_nvfp4 = {"NVFP4", ABSENT, NULL, 0, NULL};
#endif

/* What torchao_times.py calls for an operation of ours. */
static const array_peer_loop loops[] = {
    {"f32 to mx e4m3", "to_mx", NULL},
    {"mx e4m3 to f32", "to_dtype", NULL},
    {"f32 to mx e5m2", "to_mx", NULL},
    {"mx e5m2 to f32", "to_dtype", NULL},
    {"f32 to mx e2m1", "to_mx", NULL},
    {"mx e2m1 to f32", "to_dtype", NULL},
    {"f32 to nvfp4 1x16", "nvfp4_quantize", NULL},
    {"nvfp4 1x16 to f32", "NVFP4Tensor.dequantize", NULL},
    {"bf16 to mx e4m3", "to_mx", NULL},
    {"mx e4m3 to bf16", "to_dtype", NULL},
};
static array_peer torchao = {"torchao", NULL, loops, PEER_COUNT(loops), NULL};
static torch_peer measured = {&torchao, "torchao_times.py", "", {"", NULL}};

static void measure_torchao(array_results *found) { torch_measure(&measured, found); }

enum { PEERS = 5 };
static const array_peer *const peers[PEERS] = {
    &peer_ggml_mxfp4, &peer_ggml_nvfp4, &peer_ggml_q4_0, &peer_ggml_q8_0, &torchao};

#define COLUMNS(id, name, bits, format) \
 {name ", columns to rows", "f32 to " name " columns", "f32 to " name},
static const array_addition additions[] = {
    BLOCK_FORMAT_ROWS(COLUMNS){"int8 row, columns to rows", "f32 to int8 row columns",
                               "f32 to int8 row"},
    {"mx e4m3, both to rows", "f32 to mx e4m3 both", "f32 to mx e4m3"},
    {"mx e4m3, losses to none", "f32 to mx e4m3 losses", "f32 to mx e4m3"},
    {"nvfp4, losses to none", "f32 to nvfp4 1x16 losses", "f32 to nvfp4 1x16"},
    {"nvfp4, own amax to a given S", "f32 to nvfp4 1x16 amax", "f32 to nvfp4 1x16"},
    {"f32, current scaling to amax and conversion", "f32 to e4m3 current",
     "f32 to e4m3 amax, plain"},
    {"bf16, current scaling to amax and conversion", "bf16 to e4m3 current",
     "bf16 to e4m3 amax, plain"},
};

const array_set blocks_set = {
    "Blocks",
    "blocks",
    "blocks_limit",
    "MXFP4, NVFP4, Q4_0 and Q8_0 are ggml's. x: the peer's time over mpnum's.\n*: other "
    "bytes "
    "than mpnum's. torchao is called from Python, after all others",
    &block_functions,
    peers,
    PEERS,
    measured.version,
    measure_torchao,
    "blocks_added",
    additions,
    sizeof additions / sizeof *additions,
    NULL,
    NULL,
    NULL};
