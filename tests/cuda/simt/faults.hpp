/* SPDX-License-Identifier: MIT */
/* The rules that a kernel can break, and how a test learns of it. */
#ifndef MPNUM_TESTS_SIMT_FAULTS_HPP
#define MPNUM_TESTS_SIMT_FAULTS_HPP

#include <cstdarg>
#include <cstdio>
#include <string>

namespace simt {

enum class rule {
  none,
  barrier_is_reached_by_all, /* __syncthreads in a branch, or after some have returned */
  caller_is_in_mask,         /* a warp function whose mask lacks the calling lane */
  mask_names_live_lanes,    /* a mask with lanes that returned, or past the block's end */
  masks_agree,              /* lanes that wait for each other with unlike masks */
  operations_agree,         /* lanes that wait for each other in unlike functions */
  source_is_in_mask,        /* a shuffle that reads a lane outside the mask */
  width_is_a_power_of_two,  /* of a shuffle: 1, 2, 4, 8, 16 or 32 */
  waiting_ends,             /* lanes that wait for each other in a circle */
  spinning_ends,            /* atomics in a loop that no thread is left to end */
  copies_are_aligned,       /* asynchronous ones, of 4, 8 or 16 bytes */
  copies_keep_their_source, /* which changes before they are waited for */
  copies_are_waited_for,    /* by the thread that began them, before it returns */
  dynamic_shared_is_in_bounds, /* a write past the bytes that the launch asked for */
  memory_is_managed,           /* a pointer to memory that only the host has */
  no_exception                 /* a C++ exception left the kernel */
};

struct fault {
  simt::rule rule = rule::none;
  std::string text; /* which thread, what it did, and where */
};

/* The first fault of the latest launch, rule::none if it had none. */
inline fault latest_fault;
inline const fault &last_fault() { return latest_fault; }

inline bool has_fault() { return latest_fault.rule != rule::none; }

__attribute__((format(printf, 2, 3))) inline void report(rule broken, const char *format,
                                                         ...) {
  if (has_fault()) return;
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  latest_fault.rule = broken;
  latest_fault.text = text;
}

/* Unwinds a thread whose block ends early. */
struct cancelled {};

} // namespace simt

#endif
