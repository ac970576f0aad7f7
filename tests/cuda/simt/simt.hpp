/* SPDX-License-Identifier: MIT */
/* CUDA device code as plain C++ on the CPU, for tests: include this first, then the
 * device headers, and launch their kernels. It is one OS thread: the blocks of a grid run
 * one after another, the threads of a block as fibers that switch where CUDA's may (at
 * barriers, warp functions and atomics), in an order that a test chooses.
 *
 *   for (const simt::schedule &schedule : simt::schedules) {
 *     simt::use(schedule);
 *     void *arguments[] = {&n, &x};
 *     CHECK(cudaLaunchKernel(kernel, 8, 256, arguments, 0, 0) == cudaSuccess, "%s",
 *           simt::last_fault().text.c_str());
 *   }
 *
 * A kernel that breaks a rule of CUDA's ends with cudaErrorLaunchFailure, and
 * simt::last_fault() says which rule: see faults.hpp. What is not a matter of threads is
 * left to the sanitizers: addresses, alignment, bounds of arrays.
 *
 * Shared memory. Static: __shared__ in any function, and every block finds it filled with
 * the schedule's byte. Dynamic: `extern __shared__ T name[]` as in CUDA, and once in the
 * test, in the same namespace:
 *
 *   SIMT_DYNAMIC_SHARED(T, name);
 *
 * The namespace has a name or is the global one, and the declaration stands in it or in a
 * function, but not in a template, where gcc 12 gets it wrong.
 *
 * Needs C++17, Linux with ELF, and a program that has its symbols. */
#ifndef MPNUM_TESTS_SIMT_SIMT_HPP
#define MPNUM_TESTS_SIMT_SIMT_HPP

#include "faults.hpp"
#include "fiber.hpp"
#include "language.hpp"
#include "shared.hpp"
#include "block.hpp"
#include "warp.hpp"
#include "device.hpp"
#include "runtime.hpp"

#endif
