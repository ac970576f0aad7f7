/* SPDX-License-Identifier: MIT */
/* The threads of a block: who runs next, the block's barrier, and what to say when nobody
 * can go on.
 *
 * A warp runs as far ahead of the others as it can, and in a warp a lane ahead of the
 * other lanes, so that a missing barrier puts the most work between a write and a read
 * that must not pass each other. Forward and backward orders do it for either direction;
 * the shuffled order also stops warps half-way. */
#ifndef MPNUM_TESTS_SIMT_BLOCK_HPP
#define MPNUM_TESTS_SIMT_BLOCK_HPP

#include "faults.hpp"
#include "fiber.hpp"
#include "language.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace simt {

enum class order { forward, backward, shuffled };

struct schedule {
  const char *name;
  simt::order order;
  unsigned char poison; /* fills shared memory: a float NaN, or one of 3.4e38 */
  unsigned seed;
};

constexpr schedule schedules[] = {
    {"forward, shared memory ff", order::forward, 0xff, 0},
    {"forward, shared memory 7f", order::forward, 0x7f, 0},
    {"backward, shared memory ff", order::backward, 0xff, 0},
    {"backward, shared memory 7f", order::backward, 0x7f, 0},
    {"shuffled, shared memory ff", order::shuffled, 0xff, 1},
    {"shuffled, shared memory 7f", order::shuffled, 0x7f, 2},
};

inline schedule active_schedule = schedules[0];

/* A place in the device code. As the default value of a parameter it is the caller's. */
struct place {
  const char *file;
  int line;
};
#define SIMT_HERE \
 { __builtin_FILE(), __builtin_LINE() }

/* A barrier or a warp function that a thread called, and waits in. */
struct call {
  const char *function;
  simt::place place;
  std::uint32_t mask;
  std::uint64_t value;
  unsigned argument;
  unsigned width;
  std::uint64_t (*result)(const struct warp &, unsigned lane);
};

enum class state { ready, at_barrier, at_warp_function, exited };

/* An asynchronous copy that its thread has not waited for; group: commits before it. */
struct copy {
  char *to;
  const char *from;
  unsigned size, group;
  char bytes[16]; /* of the source when it began */
};

struct thread {
  explicit thread(unsigned place_in_block)
      : number(place_in_block), stack(run, this, place_in_block) {}
  static void run(void *self);

  unsigned number;
  uint3 index = {0, 0, 0};
  simt::state state = state::exited;
  simt::call call = {};
  std::uint64_t result = 0;
  std::vector<copy> copies;
  unsigned groups = 0; /* that it committed */
  fiber stack;
};

/* All that a launch knows. Threads are kept for the next one. */
struct machine {
  std::function<void()> kernel;
  std::vector<std::unique_ptr<thread>> threads;
  unsigned size = 0;         /* of the block, in threads */
  thread *current = nullptr; /* the one that runs */
  bool cancelling = false;   /* the block ends early */
  unsigned spins = 0;        /* passes over a warp in which lanes only went round */
  std::mt19937 random;
};

inline machine &the_machine() {
  static machine only;
  return only;
}

/* For the launches that follow. */
inline void use(const schedule &chosen) {
  active_schedule = chosen;
  the_machine().random.seed(chosen.seed);
}

/* One warp of the block that runs. */
struct warp {
  unsigned first, size;
  thread &operator[](unsigned lane) const { return *the_machine().threads[first + lane]; }
};

inline void thread::run(void *self) {
  machine &m = the_machine();
  try {
    if (!m.cancelling) m.kernel();
    if (!m.cancelling && !m.current->copies.empty())
      report(rule::copies_are_waited_for, "thread %u returns before its copies are done",
             m.current->number);
  } catch (const cancelled &) {
  } catch (...) {
    report(rule::no_exception, "thread %u left the kernel by a C++ exception",
           m.current->number);
  }
  static_cast<thread *>(self)->state = state::exited;
}

/* Lets the others run until this thread is ready again. */
inline void stop(state waiting) {
  machine &m = the_machine();
  thread &self = *m.current;
  self.state = waiting;
  self.stack.suspend();
  if (m.cancelling) throw cancelled();
}

inline void resume(thread &next) {
  the_machine().current = &next;
  threadIdx = next.index;
  next.stack.resume();
}

inline std::string describe(const thread &t) {
  std::string text = "thread " + std::to_string(t.number);
  if (t.state == state::exited) return text + " has returned";
  if (t.state == state::ready) return text + " runs";
  text += std::string(" waits in ") + t.call.function + " at " + t.call.place.file + ":" +
          std::to_string(t.call.place.line);
  if (t.state == state::at_barrier) return text;
  char mask[32];
  std::snprintf(mask, sizeof mask, " with mask %08x", t.call.mask);
  return text + mask;
}

inline bool same_barrier(const call &a, const call &b) {
  return a.place.line == b.place.line && std::strcmp(a.place.file, b.place.file) == 0 &&
         std::strcmp(a.function, b.function) == 0;
}

/* Lets all go on if all threads of the block have come to the same barrier. */
inline bool complete_barrier() {
  machine &m = the_machine();
  unsigned count = 0;
  for (unsigned i = 0; i < m.size; ++i) {
    const thread &t = *m.threads[i];
    if (t.state != state::at_barrier || !same_barrier(t.call, m.threads[0]->call))
      return false;
    count += t.call.value != 0;
  }
  for (unsigned i = 0; i < m.size; ++i) {
    m.threads[i]->state = state::ready;
    m.threads[i]->result = count;
  }
  m.spins = 0;
  return true;
}

/* Nobody can go on: two threads that show why. */
inline void report_standstill() {
  machine &m = the_machine();
  const auto first = m.threads.begin(), last = first + m.size;
  const auto in = [](state wanted) {
    return [wanted](const std::unique_ptr<thread> &t) { return t->state == wanted; };
  };
  const auto at_barrier = std::find_if(first, last, in(state::at_barrier));
  if (at_barrier == last) {
    const auto waits = std::find_if(first, last, in(state::at_warp_function));
    report(rule::waiting_ends, "all threads wait: %s", describe(**waits).c_str());
    return;
  }
  const auto other = std::find_if(first, last, [&](const std::unique_ptr<thread> &t) {
    return t->state != state::at_barrier || !same_barrier(t->call, (*at_barrier)->call);
  });
  report(rule::barrier_is_reached_by_all, "%s, but %s", describe(**at_barrier).c_str(),
         describe(**other).c_str());
}

enum class progress { none, spin, some };

bool complete_warp_functions(const warp &);

/* Each ready lane runs to its next stop, then the warp functions that all have come to
 * are done. A lane that stopped ready is in an atomic, which may be a loop's. */
inline progress pass(const warp &lanes) {
  machine &m = the_machine();
  unsigned sequence[32];
  for (unsigned i = 0; i < lanes.size; ++i)
    sequence[i] = active_schedule.order == order::backward ? lanes.size - 1 - i : i;
  if (active_schedule.order == order::shuffled)
    std::shuffle(sequence, sequence + lanes.size, m.random);
  progress made = progress::none;
  for (unsigned i = 0; i < lanes.size; ++i) {
    thread &t = lanes[sequence[i]];
    if (t.state != state::ready) continue;
    resume(t);
    if (has_fault()) return progress::none;
    made = std::max(made, t.state == state::ready ? progress::spin : progress::some);
  }
  return complete_warp_functions(lanes) ? progress::some : made;
}

/* The warp's turn: as long as it gets on, or for a while if it spins. */
inline bool run_warp(const warp &lanes) {
  constexpr unsigned spins_in_a_turn = 64, spins_at_most = 1 << 16;
  machine &m = the_machine();
  bool ran = false;
  unsigned spins = 0;
  while (!has_fault() && spins < spins_in_a_turn) {
    const progress made = pass(lanes);
    if (made == progress::none) break;
    ran = true;
    spins = made == progress::spin ? spins + 1 : 0;
    m.spins = made == progress::spin ? m.spins + 1 : 0;
    if (m.spins > spins_at_most)
      report(rule::spinning_ends, "warp %u spins and no thread gets on",
             lanes.first / 32);
    if (active_schedule.order == order::shuffled && m.random() % 4 == 0) break;
  }
  return ran;
}

/* All fibers come to their end, so that nothing is left on their stacks. */
inline void cancel_block() {
  machine &m = the_machine();
  m.cancelling = true;
  for (unsigned i = 0; i < m.size; ++i)
    if (m.threads[i]->state != state::exited) resume(*m.threads[i]);
  m.cancelling = false;
}

inline void run_block() {
  machine &m = the_machine();
  std::vector<warp> warps;
  for (unsigned first = 0; first < m.size; first += 32)
    warps.push_back({first, std::min(32u, m.size - first)});
  if (active_schedule.order == order::backward) std::reverse(warps.begin(), warps.end());
  for (unsigned i = 0; i < m.size; ++i) {
    m.threads[i]->state = state::ready;
    m.threads[i]->copies.clear();
  }
  m.spins = 0;

  for (;;) {
    if (active_schedule.order == order::shuffled)
      std::shuffle(warps.begin(), warps.end(), m.random);
    bool ran = false;
    for (const warp &lanes : warps)
      ran |= run_warp(lanes);
    if (has_fault()) break;
    if (ran || complete_barrier()) continue;
    if (std::all_of(
            m.threads.begin(), m.threads.begin() + m.size,
            [](const std::unique_ptr<thread> &t) { return t->state == state::exited; }))
      return;
    report_standstill();
    break;
  }
  cancel_block();
}

} // namespace simt

#endif
