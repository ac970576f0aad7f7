/* SPDX-License-Identifier: MIT */
/* The stand-in for CUDA that tests run device code on, with global memory as weak as CUDA
 * lets it be: what blocks see of each other, against the memory model of the PTX manual.
 */
#define SIMT_WEAK_MEMORY
#include "simt_checks.hpp"

using simt::launch;

namespace {

/* What a block does before it looks at what the blocks before it did. */
enum steps { NOTHING = 0, FENCE_BEFORE = 1, FENCE_AFTER = 2, IS_READ = 4 };

struct words {
  int stored, added, counter, seen[3], seen_added[3], order[3];
};

__global__ void meet(words *all, unsigned what) {
  const unsigned block = blockIdx.x;
  if (threadIdx.x == 0) {
    all->stored += 1;
    if (what & IS_READ)
      all->order[block] = atomicAdd(&all->added, 10);
    else
      atomicAdd(&all->added, 10);
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    if (what & FENCE_BEFORE) __threadfence();
    atomicAdd(&all->counter, 1);
    if (what & FENCE_AFTER) __threadfence();
    all->seen[block] = all->stored;
    all->seen_added[block] = all->added;
  }
}

const words &met(unsigned what) {
  words &all = placed(words{});
  CHECK_LAUNCH(launch(meet, {3, 64}, &all, what));
  return all;
}

void a_block_sees_itself(void) {
  in_every_schedule([] {
    const words &all = met(NOTHING);
    for (int block = 0; block < 3; ++block)
      CHECK(all.seen[block] == 1 && all.seen_added[block] == 10, "%d: %d, %d", block,
            all.seen[block], all.seen_added[block]);
    /* Each block stored 1 and added 10, and both were its own until the end. */
    CHECK(all.stored == 1 && all.added == 30 && all.counter == 3, "%d %d %d", all.stored,
          all.added, all.counter);
  });
}

void a_fence_shows_and_lets_see(void) {
  in_every_schedule([] {
    const words &both = met(FENCE_BEFORE | FENCE_AFTER);
    CHECK(both.seen_added[2] == 30, "%d", both.seen_added[2]);
    /* The first store of a block comes before it may see another's. */
    CHECK(both.seen[2] == 1 && both.stored == 1, "%d %d", both.seen[2], both.stored);
    const words &after = met(FENCE_AFTER);
    CHECK(after.seen_added[1] == 20 && after.seen_added[2] == 30, "%d %d",
          after.seen_added[1], after.seen_added[2]);
  });
}

__global__ void hand_on(int *word, int *seen, bool shows, bool looks) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *word = 7;
    if (shows) __threadfence();
  } else {
    if (looks) __threadfence();
    *seen = *word;
  }
}

void a_store_needs_a_fence_on_both_sides(void) {
  in_every_schedule([] {
    for (int fences = 0; fences < 4; ++fences) {
      int &word = placed(5), &seen = placed(0);
      CHECK_LAUNCH(launch(hand_on, {2, 32}, &word, &seen, fences & 1, fences >> 1));
      CHECK(seen == (fences == 3 ? 7 : 5) && word == 7, "fences %d: %d", fences, seen);
    }
  });
}

void an_atomic_whose_result_is_read_is_of_all(void) {
  in_every_schedule([] {
    const words &read = met(IS_READ);
    CHECK(read.order[0] == 0 && read.order[1] == 10 && read.order[2] == 20, "%d %d %d",
          read.order[0], read.order[1], read.order[2]);
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
                   {TEST(a_block_sees_itself), TEST(a_fence_shows_and_lets_see),
                    TEST(a_store_needs_a_fence_on_both_sides),
                    TEST(an_atomic_whose_result_is_read_is_of_all),
                    TEST(one_block_and_the_next_grid_see_all)});
}
