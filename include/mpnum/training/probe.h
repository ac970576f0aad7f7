/* SPDX-License-Identifier: MIT */
/* Where Inf or NaN came first: one word that a training step's kernels and loops share.
 *
 *     uint64_t word = mpnum_probe_empty();         // in device memory, for kernels
 *     mpnum_probe(&word, step, 7, hidden[i]);      // site 7: a layer, say
 *     if (word != mpnum_probe_empty())
 *       printf("step %u, site %u\n", mpnum_probe_step(word), mpnum_probe_site(word));
 *
 * The word keeps the earliest step and the smallest site in it, whatever the order of
 * threads. Later steps do not replace it: set it to mpnum_probe_empty() once it has been
 * read. On devices the call is an atomic minimum in global or shared memory, and does
 * nothing if value is finite; on hosts one thread at a time may call it. */
#ifndef MPNUM_TRAINING_PROBE_H
#define MPNUM_TRAINING_PROBE_H

#include "../types/f32.h"
MPNUM_C_BEGIN_

/* The word that says that nothing was found. */
MPNUM_FUNC uint64_t mpnum_probe_empty(void) { return ~(uint64_t)0; }
/* The step and the site in a word; 2^32 - 1 for an empty one. */
MPNUM_FUNC uint32_t mpnum_probe_step(uint64_t word) { return (uint32_t)(word >> 32); }
MPNUM_FUNC uint32_t mpnum_probe_site(uint64_t word) {
  return (uint32_t)(word & 0xffffffffu);
}

/* Notes step and site if value is Inf or NaN. */
MPNUM_MATH_ void mpnum_probe(uint64_t *word, uint32_t step, uint32_t site, float value) {
  const uint64_t found = (uint64_t)step << 32 | site;
  if (mpnum_isfinite_f32(value)) return;
#if MPNUM_ON_DEVICE_ && defined(__clang__)
  (void)__nvvm_atom_min_gen_ull((unsigned long long *)word, (unsigned long long)found);
#elif MPNUM_ON_DEVICE_
  atomicMin((unsigned long long *)word, (unsigned long long)found);
#else
  if (found < *word) *word = found;
#endif
}

MPNUM_C_END_
#endif
