/* SPDX-License-Identifier: MIT */
/* Warp functions: lanes wait until all that the mask names have called the same function
 * with the same mask, then each gets its result. */
#ifndef MPNUM_TESTS_SIMT_WARP_HPP
#define MPNUM_TESTS_SIMT_WARP_HPP

#include "block.hpp"
#include "faults.hpp"

#include <cstdint>
#include <cstring>

namespace simt {

inline bool is_in(std::uint32_t mask, unsigned lane) { return mask >> lane & 1; }

/* Whether all lanes of this one's mask have come, or a fault if they never will. */
inline bool all_have_come(const warp &lanes, unsigned lane) {
  const thread &caller = lanes[lane];
  const call &mine = caller.call;
  for (unsigned other = 0; other < 32; ++other) {
    if (!is_in(mine.mask, other)) continue;
    if (other >= lanes.size || lanes[other].state == state::exited) {
      report(rule::mask_names_live_lanes, "%s, but lane %u %s", describe(caller).c_str(),
             other, other < lanes.size ? "has returned" : "is past the block's end");
      return false;
    }
    if (lanes[other].state != state::at_warp_function) return false;
    const call &theirs = lanes[other].call;
    if (theirs.mask != mine.mask) {
      /* Unless both wait for each other, the other one may get on and come later. */
      if (is_in(theirs.mask, lane))
        report(rule::masks_agree, "%s, but %s", describe(caller).c_str(),
               describe(lanes[other]).c_str());
      return false;
    }
    if (theirs.result != mine.result || theirs.width != mine.width) {
      report(rule::operations_agree, "%s of width %u, but %s of width %u",
             describe(caller).c_str(), mine.width, describe(lanes[other]).c_str(),
             theirs.width);
      return false;
    }
  }
  return true;
}

inline bool complete_warp_functions(const warp &lanes) {
  bool any = false;
  for (unsigned lane = 0; lane < lanes.size && !has_fault(); ++lane) {
    if (lanes[lane].state != state::at_warp_function || !all_have_come(lanes, lane))
      continue;
    const std::uint32_t mask = lanes[lane].call.mask;
    for (unsigned i = 0; i < lanes.size; ++i)
      if (is_in(mask, i)) lanes[i].result = lanes[i].call.result(lanes, i);
    for (unsigned i = 0; i < lanes.size; ++i)
      if (is_in(mask, i)) lanes[i].state = state::ready;
    any = true;
  }
  return any;
}

/* What the calling lane gets of a warp function. */
inline std::uint64_t meet(const call &mine) {
  machine &m = the_machine();
  thread &self = *m.current;
  self.call = mine;
  if (!is_in(mine.mask, self.number % 32)) {
    self.state = state::at_warp_function;
    report(rule::caller_is_in_mask, "%s, which lacks its lane %u", describe(self).c_str(),
           self.number % 32);
    throw cancelled();
  }
  if (mine.width == 0 || mine.width > 32 || (mine.width & (mine.width - 1)) != 0) {
    report(rule::width_is_a_power_of_two, "thread %u calls %s of width %u", self.number,
           mine.function, mine.width);
    throw cancelled();
  }
  stop(state::at_warp_function);
  return self.result;
}

/* How many threads of the block have come with a value that is not 0. */
inline unsigned meet_at_barrier(const char *function, place where, bool predicate) {
  thread &self = *the_machine().current;
  self.call = {function, where, 0, predicate, 0, 0, nullptr};
  stop(state::at_barrier);
  return static_cast<unsigned>(self.result);
}

/* The source lanes of shuffles as the PTX manual has them: of the argument 5 bits count,
 * and a lane whose source is out of its part of the warp reads itself. */
enum class shuffle { index, down, exclusive_or };

template <shuffle kind>
unsigned source_of(unsigned lane, unsigned argument, unsigned width) {
  const unsigned first = lane & ~(width - 1), last = first + width - 1,
                 by = argument & 31;
  switch (kind) {
  case shuffle::index: return first | (by & (width - 1));
  case shuffle::down: return lane + by > last ? lane : lane + by;
  case shuffle::exclusive_or: return (lane ^ by) > last ? lane : lane ^ by;
  }
  return lane;
}

template <shuffle kind> std::uint64_t shuffled_value(const warp &lanes, unsigned lane) {
  const call &mine = lanes[lane].call;
  const unsigned source = source_of<kind>(lane, mine.argument, mine.width);
  if (!is_in(mine.mask, source)) {
    report(rule::source_is_in_mask, "%s reads lane %u", describe(lanes[lane]).c_str(),
           source);
    return 0;
  }
  return lanes[source].call.value;
}

inline std::uint64_t nothing(const warp &, unsigned) { return 0; }

inline std::uint64_t ballot(const warp &lanes, unsigned lane) {
  const std::uint32_t mask = lanes[lane].call.mask;
  std::uint32_t votes = 0;
  for (unsigned i = 0; i < lanes.size; ++i)
    if (is_in(mask, i) && lanes[i].call.value != 0) votes |= 1u << i;
  return votes;
}

/* Of the lanes' values as T, by an operation of two. */
template <class T, T operation(T, T)>
std::uint64_t reduction(const warp &lanes, unsigned lane) {
  const std::uint32_t mask = lanes[lane].call.mask;
  T total = static_cast<T>(lanes[lane].call.value);
  for (unsigned i = 0; i < lanes.size; ++i)
    if (i != lane && is_in(mask, i))
      total = operation(total, static_cast<T>(lanes[i].call.value));
  return static_cast<std::uint32_t>(total);
}

/* Values travel as 64 bits. */
template <class T> std::uint64_t to_word(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "CUDA shuffles 32 and 64 bits");
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  return word;
}
template <class T> T from_word(std::uint64_t word) {
  T value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

} // namespace simt

#endif
