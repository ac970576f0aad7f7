/* SPDX-License-Identifier: MIT */
/* For the laws of launchers: each is the subject and runs in the simulator, in an order
 * of threads that the draw chooses; the host's function is the other that gives the same
 * bytes. Types are few, since each set of them is a kernel to compile: float, a narrow
 * one and one of codes. */
#ifndef MPNUM_TESTS_DEVICE_LAWS_HPP
#define MPNUM_TESTS_DEVICE_LAWS_HPP

/* The host's bits are those of its scalar loops, which compile faster. */
#define MPNUM_NO_SIMD 1

#include "../cuda/simt/launch.hpp"

#include <mpnum/kernels.cuh>

#include "laws.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define DEVICE_LAWS \
 (HOLDS(LAW_ADDRESS) | HOLDS(LAW_GUARDED) | HOLDS(LAW_EMPTY) | HOLDS(LAW_REFUSED))
#define BESIDE(host)   \
 {                     \
  { LAW_DEVICE, host } \
 }

/* The narrow type and that of codes: NAME in mpnum_NAME, and in MPNUM_TYPE_NAME. */
#ifndef LAW_NARROW
# define LAW_NARROW      bf16
# define LAW_NARROW_TYPE MPNUM_TYPE_BF16
# define LAW_CODE        e4m3
# define LAW_CODE_TYPE   MPNUM_TYPE_E4M3
#endif
#define LAW_JOINED_(a, b) a##b
#define LAW_JOINED(a, b)  LAW_JOINED_(a, b)

namespace {

typedef LAW_JOINED(mpnum_, LAW_NARROW) narrow;
typedef LAW_JOINED(mpnum_, LAW_CODE) code_type;

template <class T> struct kind { typedef T type; };

inline void choose_order(const law_piece *at) {
  const std::size_t count = sizeof simt::schedules / sizeof simt::schedules[0];
  simt::use(simt::schedules[at->draw->seed % count]);
}
inline mpnum_status status_of(cudaError_t error) {
  if (error == cudaErrorLaunchFailure)
    std::printf("# %s\n", simt::last_fault().text.c_str());
  return error == cudaSuccess ? MPNUM_OK : MPNUM_ERROR_ARGUMENT;
}
/* Arrays of a type lie where it may. */
inline void align_operands(law_draw *d) {
  for (int k = 0; k < d->count; ++k)
    if (d->operands[k].bits > 8)
      d->operands[k].alignment = (d->operands[k].bits >> (d->pairs >> k & 1)) / 8;
}
/* Before another try at a draw. */
inline void forget_operands(law_draw *d) {
  for (int k = 0; k < d->count; ++k)
    std::free(d->operands[k].values);
  std::memset(d->operands, 0, sizeof d->operands);
  d->count = 0;
  d->pairs = 0;
}
template <class T> T *data(const law_piece *at, int k) {
  return static_cast<T *>(at->at[k]);
}

template <class T> mpnum::matrix<T> matrix_at(const law_piece *at, int k) {
  const size_t each = at->draw->pairs >> k & 1 ? 2 : 1;
  return mpnum::matrix_of(data<T>(at, k), at->rows, each * at->columns,
                          each * at->stride[k]);
}

} // namespace

#endif
