/* SPDX-License-Identifier: MIT */
/* The peers, those of this build and those that it did not find. */
#include "arrays.h"

#if !BENCH_HAVE_CUDA
const array_peer peer_cuda = {"CUDA headers", "cuda_fp8.h was not found", NULL, 0, NULL};
#endif
#if !BENCH_HAVE_F16C
const array_peer peer_f16c = {"F16C", "this is no x86-64", NULL, 0, NULL};
#endif
#if !BENCH_HAVE_HIGHWAY
const array_peer peer_highway = {"Highway", "libhwy was not found (Debian: libhwy-dev)",
                                 NULL, 0, NULL};
#endif
#if !BENCH_HAVE_IMATH
const array_peer peer_imath = {"Imath", "Imath was not found (Debian: libimath-dev)",
                               NULL, 0, NULL};
#endif
#if !BENCH_HAVE_EIGEN
const array_peer peer_eigen = {"Eigen", "eigen3 was not found (Debian: libeigen3-dev)",
                               NULL, 0, NULL};
#endif
#if !BENCH_HAVE_FP16
const array_peer peer_fp16 = {
    "FP16", "fp16.h was not found (FP16=FOLDER names its folder)", NULL, 0, NULL};
#endif
#if !BENCH_HAVE_NUMKONG
const array_peer peer_numkong = {
    "NumKong", "numkong/cast.h was not found (NUMKONG=FOLDER names its folder)", NULL, 0,
    NULL};
#endif
#if !BENCH_HAVE_GGML
const array_peer peer_ggml = {
    "ggml", "libggml-cpu was not found (GGML=FOLDER names where it is installed)", NULL,
    0, NULL};
#endif
#if !BENCH_HAVE_CPFLOAT
const array_peer peer_cpfloat = {
    "CPFloat", "cpfloat_binary32.h was not found (CPFLOAT=FOLDER names its folder)", NULL,
    0, NULL};
#endif

enum { PEERS = 9 };
static const array_peer *const peers[PEERS] = {
    &peer_cuda, &peer_f16c,    &peer_highway, &peer_imath,   &peer_eigen,
    &peer_fp16, &peer_numkong, &peer_ggml,    &peer_cpfloat,
};

const array_set arrays_set = {
    "Arrays",
    "arrays",
    "arrays_limit",
    "plain -O2, as many threads. x: the peer's time over mpnum's. *: "
    "other results\nthan mpnum's on these data",
    &array_functions,
    peers,
    PEERS,
    "",
    NULL,
    NULL,
    NULL,
    0,
    "arrays_threads",
    "f32 to e4m3"};

const char *arrays_missing(const array_peer *peer) {
  if (peer->missing) return peer->missing;
  return peer->present && !peer->present() ? "this CPU has it not" : NULL;
}
