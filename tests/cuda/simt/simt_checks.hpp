/* SPDX-License-Identifier: MIT */
/* For tests that run kernels in every order of threads. */
#ifndef MPNUM_TESTS_SIMT_CHECKS_HPP
#define MPNUM_TESTS_SIMT_CHECKS_HPP

#include "launch.hpp"

#include "../../harness/tap.h"

namespace {

/* CHECK that a launch in the active schedule went well. */
#define CHECK_LAUNCH(...)                                                  \
 CHECK((__VA_ARGS__) == cudaSuccess, "%s: %s", simt::active_schedule.name, \
       simt::last_fault().text.c_str())

template <class F> void in_every_schedule(F body) {
  for (const simt::schedule &schedule : simt::schedules) {
    simt::use(schedule);
    body();
  }
}

} // namespace

#endif
