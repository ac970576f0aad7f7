/* SPDX-License-Identifier: MIT */
/* CUDA's device functions. What CUDA leaves undefined is a fault or is left to
 * sanitizers. */
#ifndef MPNUM_TESTS_SIMT_DEVICE_HPP
#define MPNUM_TESTS_SIMT_DEVICE_HPP

#include "block.hpp"
#include "language.hpp"
#include "warp.hpp"
#include "weak.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#if defined(__clang__)
# pragma clang diagnostic push
# pragma clang diagnostic ignored "-Wreserved-identifier"
#endif

/* Barriers: one in the source is one barrier, others are others. */

inline void __syncthreads(simt::place where = SIMT_HERE) {
  simt::meet_at_barrier("__syncthreads", where, false);
}
inline int __syncthreads_and(int predicate, simt::place where = SIMT_HERE) {
  return simt::meet_at_barrier("__syncthreads_and", where, predicate != 0) ==
         simt::the_machine().size;
}
inline int __syncthreads_or(int predicate, simt::place where = SIMT_HERE) {
  return simt::meet_at_barrier("__syncthreads_or", where, predicate != 0) != 0;
}

/* Copies to shared memory that go on while their thread does, cuda_pipeline.h's. What is
 * written may be there from the call on, so that what was there is lost, or only once the
 * thread has waited; until then it is poison. What is read may be read at either time. */

inline void __pipeline_memcpy_async(void *to, const void *from, std::size_t size) {
  simt::thread &self = *simt::the_machine().current;
  simt::copy made = {static_cast<char *>(to),
                     static_cast<const char *>(from),
                     static_cast<unsigned>(size),
                     self.groups,
                     {}};
  if ((size != 4 && size != 8 && size != 16) ||
      (reinterpret_cast<std::size_t>(to) | reinterpret_cast<std::size_t>(from)) % size) {
    simt::report(simt::rule::copies_are_aligned,
                 "thread %u copies %zu bytes from %p to %p", self.number, size, from, to);
    throw simt::cancelled();
  }
  std::memcpy(made.bytes, from, size);
  std::memset(to, simt::active_schedule.poison, size);
  self.copies.push_back(made);
}
inline void __pipeline_commit() { ++simt::the_machine().current->groups; }
/* For all groups that are committed but the last few. */
inline void __pipeline_wait_prior(std::size_t few) {
  simt::thread &self = *simt::the_machine().current;
  std::vector<simt::copy> left;
  for (const simt::copy &one : self.copies) {
    if (one.group + few >= self.groups) {
      left.push_back(one);
      continue;
    }
    if (std::memcmp(one.bytes, one.from, one.size) != 0)
      simt::report(simt::rule::copies_keep_their_source,
                   "thread %u copies %p, which changes before it has waited", self.number,
                   static_cast<const void *>(one.from));
    std::memcpy(one.to, one.bytes, one.size);
  }
  self.copies = std::move(left);
}

/* Warp functions. */

inline void __syncwarp(unsigned mask = 0xffffffffu, simt::place where = SIMT_HERE) {
  simt::meet({"__syncwarp", where, mask, 0, 0, 32, simt::nothing});
}

#define SIMT_SHUFFLE(name, kind, integer)                                          \
 template <class T>                                                                \
 T name(unsigned mask, T value, integer argument, int width = 32,                  \
        simt::place where = SIMT_HERE) {                                           \
  return simt::from_word<T>(simt::meet(                                            \
      {#name, where, mask, simt::to_word(value), static_cast<unsigned>(argument),  \
       static_cast<unsigned>(width), simt::shuffled_value<simt::shuffle::kind>})); \
 }
SIMT_SHUFFLE(__shfl_sync, index, int)
SIMT_SHUFFLE(__shfl_down_sync, down, unsigned)
SIMT_SHUFFLE(__shfl_xor_sync, exclusive_or, int)
#undef SIMT_SHUFFLE

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              simt::place where = SIMT_HERE) {
  return static_cast<unsigned>(
      simt::meet({"__ballot_sync", where, mask, predicate != 0, 0, 32, simt::ballot}));
}
inline int __any_sync(unsigned mask, int predicate, simt::place where = SIMT_HERE) {
  return simt::meet({"__any_sync", where, mask, predicate != 0, 0, 32, simt::ballot}) !=
         0;
}
inline int __all_sync(unsigned mask, int predicate, simt::place where = SIMT_HERE) {
  return simt::meet({"__all_sync", where, mask, predicate != 0, 0, 32, simt::ballot}) ==
         mask;
}

namespace simt {
template <class T> T add(T a, T b) {
  return static_cast<T>(static_cast<unsigned long long>(a) +
                        static_cast<unsigned long long>(b));
}
template <> inline float add(float a, float b) { return a + b; }
template <> inline double add(double a, double b) { return a + b; }
template <class T> T least(T a, T b) { return b < a ? b : a; }
template <class T> T greatest(T a, T b) { return a < b ? b : a; }
template <class T> T both(T a, T b) { return a & b; }
template <class T> T either(T a, T b) { return a | b; }
template <class T> T second(T, T b) { return b; }
} // namespace simt

/* On devices of sm_80 and later. */
#define SIMT_REDUCE(name, T, operation)                                              \
 inline T name(unsigned mask, T value, simt::place where = SIMT_HERE) {              \
  return static_cast<T>(simt::meet({#name, where, mask, simt::to_word(value), 0, 32, \
                                    simt::reduction<T, simt::operation<T>>}));       \
 }
SIMT_REDUCE(__reduce_add_sync, unsigned, add)
SIMT_REDUCE(__reduce_add_sync, int, add)
SIMT_REDUCE(__reduce_min_sync, unsigned, least)
SIMT_REDUCE(__reduce_max_sync, unsigned, greatest)
SIMT_REDUCE(__reduce_max_sync, int, greatest)
SIMT_REDUCE(__reduce_or_sync, unsigned, either)
#undef SIMT_REDUCE

/* Atomics: each returns what was there before. Other threads may come in just before it,
 * so a thread that waits for another one by atomics lets it run; in the shuffled order it
 * goes on as often, so that it runs ahead of others, too. The words may be those of a
 * float, hence the copies. */
namespace simt {
inline void before_atomic() {
  if (active_schedule.order != order::shuffled || the_machine().random() % 2)
    stop(state::ready);
}
template <class T> T strong_atomic(T *address, T value, T (*operation)(T, T)) {
  T old;
  std::memcpy(&old, address, sizeof old);
  const T made = operation(old, value);
  std::memcpy(address, &made, sizeof made);
  return old;
}

#ifdef SIMT_WEAK_MEMORY
/* Done when its result is read, or when it is known that nobody reads it. */
template <class T, T (*operation)(T, T)> class atomic_result {
  T *address;
  T value;
  bool is_read = false;

public:
  atomic_result(T *word, T operand) : address(word), value(operand) {}
  atomic_result(const atomic_result &) = delete;
  operator T() {
    is_read = true;
    return weak.has(address) ? weak.update(address, value, operation)
                             : strong_atomic(address, value, operation);
  }
  ~atomic_result() {
    if (is_read) return;
    if (weak.has(address))
      weak.reduce<T, operation>(address, value);
    else
      strong_atomic(address, value, operation);
  }
};
# define SIMT_ATOMIC_RESULT(T, operation) simt::atomic_result<T, simt::operation<T>>
# define SIMT_ATOMIC_OF(T, operation)     SIMT_ATOMIC_RESULT(T, operation)(address, value)
#else
# define SIMT_ATOMIC_RESULT(T, operation) T
# define SIMT_ATOMIC_OF(T, operation) \
  simt::strong_atomic(address, value, simt::operation<T>)
#endif
} // namespace simt

#define SIMT_ATOMIC(name, T, operation)                              \
 inline SIMT_ATOMIC_RESULT(T, operation) name(T *address, T value) { \
  simt::before_atomic();                                             \
  return SIMT_ATOMIC_OF(T, operation);                               \
 }
#define SIMT_ATOMICS(T)                                            \
 SIMT_ATOMIC(atomicAdd, T, add)                                    \
 SIMT_ATOMIC(atomicMin, T, least)                                  \
 SIMT_ATOMIC(atomicMax, T, greatest)                               \
 SIMT_ATOMIC(atomicAnd, T, both)                                   \
 SIMT_ATOMIC(atomicOr, T, either)                                  \
 SIMT_ATOMIC(atomicExch, T, second)                                \
 inline T atomicCAS(T *address, T expected, T value) {             \
  simt::before_atomic();                                           \
  T old;                                                           \
  std::memcpy(&old, address, sizeof old);                          \
  if (old == expected) std::memcpy(address, &value, sizeof value); \
  return old;                                                      \
 }
SIMT_ATOMICS(int)
SIMT_ATOMICS(unsigned)
SIMT_ATOMICS(unsigned long long)
SIMT_ATOMIC(atomicAdd, float, add)
SIMT_ATOMIC(atomicAdd, double, add)
SIMT_ATOMIC(atomicExch, float, second)
#undef SIMT_ATOMICS
#undef SIMT_ATOMIC

/* Threads of one OS thread see each other's writes. */
inline void __threadfence() {
#ifdef SIMT_WEAK_MEMORY
  simt::weak.fence();
#endif
}

/* Bits. */
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }

/* Arithmetic that no option contracts or reorders: each result is rounded and stored. */
inline double __dadd_rn(double x, double y) {
  const volatile double sum = x + y;
  return sum;
}
inline double __dmul_rn(double x, double y) {
  const volatile double product = x * y;
  return product;
}
inline double __fma_rn(double x, double y, double z) { return std::fma(x, y, z); }

#if defined(__clang__)
# pragma clang diagnostic pop
#endif

#endif
