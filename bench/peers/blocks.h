/* SPDX-License-Identifier: MIT */
/* Peers of --blocks. Behind what they write and read there is an eighth more room than
 * codes take, for scales between these. */
#ifndef MPNUM_BENCH_PEERS_BLOCKS_H
#define MPNUM_BENCH_PEERS_BLOCKS_H

#include "peers.h"

extern const array_peer peer_ggml_mxfp4, peer_ggml_nvfp4, peer_ggml_q4_0, peer_ggml_q8_0;

#endif
