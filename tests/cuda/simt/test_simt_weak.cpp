/* SPDX-License-Identifier: MIT */
/* The stand-in for CUDA that tests run device code on, with global memory as weak as CUDA
 * lets it be: what blocks see of each other, against the memory model of the PTX manual.
 */
#define SIMT_WEAK_MEMORY
#include "simt_checks.hpp"

using simt::launch;

namespace {

/* The blocks of a grid, one thread of which does all, but for a store of another warp. */
enum steps { NOTHING = 0, FENCE_BEFORE = 1, FENCE_AFTER = 2, LATE = 4 };

struct words {
  int stored, added, counter, of_block[3];
  int seen[3], seen_added[3], seen_of_first[3], order[3];
};

__global__ void meet(words *all, unsigned what) {
  const unsigned block = blockIdx.x;
  if (threadIdx.x == 0 && !(what & LATE)) {
    all->stored += 1;
    all->of_block[block] = 7;
    atomicAdd(&all->added, 10);
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    if (what & FENCE_BEFORE) __threadfence();
    all->order[block] = atomicAdd(&all->counter, 1);
  }
  __syncthreads();
  if (threadIdx.x == 0 && (what & LATE)) {
    atomicAdd(&all->added, 10);
    if (what & FENCE_BEFORE) __threadfence();
  }
  if (what & FENCE_AFTER) __threadfence();
  if (threadIdx.x == 0) {
    all->seen[block] = all->stored;
    all->seen_added[block] = all->added;
    all->seen_of_first[block] = all->of_block[0];
  }
}

const words &met(unsigned what) {
  words &all = placed(words{});
  CHECK_LAUNCH(launch(meet, {3, 64}, &all, what));
  for (int block = 0; block < 3; ++block)
    CHECK(all.order[block] == block, "what %u: block %d is number %d", what, block,
          all.order[block]);
  /* Whatever was seen: each stored 1, as it saw 0 before, and added 10. */
  CHECK(all.stored == !(what & LATE) && all.added == 30, "what %u: %d, %d", what,
        all.stored, all.added);
  return all;
}

void a_block_sees_itself(void) {
  in_every_schedule([] {
    for (unsigned what : {NOTHING, FENCE_BEFORE, FENCE_AFTER}) {
      const words &all = met(what);
      for (int block = 0; block < 3; ++block)
        CHECK(all.seen[block] == 1 && all.seen_added[block] == 10 &&
                  all.seen_of_first[block] == (block ? 0 : 7),
              "what %u, block %d: %d, %d, %d", what, block, all.seen[block],
              all.seen_added[block], all.seen_of_first[block]);
    }
  });
}

void fences_on_both_sides_of_a_meeting_show_and_let_see(void) {
  in_every_schedule([] {
    const words &all = met(FENCE_BEFORE | FENCE_AFTER);
    for (int block = 0; block < 3; ++block)
      CHECK(all.seen[block] == 1 && all.seen_added[block] == 10 * (block + 1) &&
                all.seen_of_first[block] == 7,
            "block %d: %d, %d, %d", block, all.seen[block], all.seen_added[block],
            all.seen_of_first[block]);
  });
}

void what_comes_after_the_meeting_is_too_late(void) {
  in_every_schedule([] {
    const words &all = met(FENCE_BEFORE | FENCE_AFTER | LATE);
    for (int block = 0; block < 3; ++block)
      CHECK(all.seen_added[block] == 10, "block %d: %d", block, all.seen_added[block]);
  });
}

__global__ void once(int *word) { *word += 1; }

void one_block_and_the_next_grid_see_all(void) {
  int &word = placed(5);
  for (int k = 0; k < 3; ++k)
    CHECK_LAUNCH(launch(once, {1, 1}, &word));
  CHECK(word == 8, "%d", word);
  CHECK_LAUNCH(launch(once, {4, 1}, &word));
  CHECK(word == 9, "%d", word);
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(count, arguments,
                   {TEST(a_block_sees_itself),
                    TEST(fences_on_both_sides_of_a_meeting_show_and_let_see),
                    TEST(what_comes_after_the_meeting_is_too_late),
                    TEST(one_block_and_the_next_grid_see_all)});
}
