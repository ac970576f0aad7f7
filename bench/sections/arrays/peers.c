/* SPDX-License-Identifier: MIT */
/* The peers, those of this build and those that it did not find. */
#include "arrays.h"

#define ABSENT(id, name, missing) \
 const array_peer peer_##id = {name, missing, NULL, 0, NULL};
ABSENT_ARRAY_PEERS(ABSENT)

#define ADDRESS(id) &peer_##id,
static const array_peer *const peers[] = {ARRAY_PEERS(ADDRESS)};

const array_set arrays_set = {
    "Arrays",
    "arrays",
    "arrays_limit",
    "plain -O2, as many threads. x: the peer's time over mpnum's. *: "
    "other results\nthan mpnum's on these data",
    &array_functions,
    peers,
    PEER_COUNT(peers),
    "",
    NULL,
    NULL,
    NULL,
    0,
    "arrays_threads",
    "f32 to e4m3",
    "arrays_calls"};

const char *arrays_missing(const array_peer *peer) {
  if (peer->missing) return peer->missing;
  return peer->present && !peer->present() ? "this CPU has it not" : NULL;
}
