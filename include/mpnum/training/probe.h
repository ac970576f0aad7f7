/* SPDX-License-Identifier: MIT */
/* Where Inf or NaN came first: one word that a training step's kernels and loops share.
 *
 *     uint64_t word = mpnum_probe_empty();         // in device memory, for kernels
 *     mpnum_probe(&word, step, 7, hidden[i]);      // site 7: a layer, say
 *     if (word != mpnum_probe_empty())
 *       printf("step %u, site %u\n", mpnum_probe_step(word), mpnum_probe_site(word));
 *
 * The earliest step stays, and of it the smallest site, whatever the order of threads. An
 * earlier step's word is not replaced: set it to mpnum_probe_empty() once it has been
 * read. On devices an atomic minimum, of global or shared memory, and nothing where value
 * is finite; on hosts for one thread at a time. */
#ifndef MPNUM_TRAINING_PROBE_H
#define MPNUM_TRAINING_PROBE_H

#include "../types/f32.h"
MPNUM_C_BEGIN_

/* Nothing found. */
MPNUM_FUNC uint64_t mpnum_probe_empty(void) { return ~(uint64_t)0; }
/* What a word says; of an empty one 2^32 - 1. */
MPNUM_FUNC uint32_t mpnum_probe_step(uint64_t word) { return (uint32_t)(word >> 32); }
MPNUM_FUNC uint32_t mpnum_probe_site(uint64_t word) {
  return (uint32_t)(word & 0xffffffffu);
}

/* Notes step and site where value is Inf or NaN. */
MPNUM_MATH_ void mpnum_probe(uint64_t *word, uint32_t step, uint32_t site, float value) {
  const uint64_t found = (uint64_t)step << 32 | site;
  if (mpnum_isfinite_f32(value)) return;
#if MPNUM_ON_DEVICE && defined(__clang__)
  (void)__nvvm_atom_min_gen_ull((unsigned long long *)word, (unsigned long long)found);
#elif MPNUM_ON_DEVICE
  atomicMin((unsigned long long *)word, (unsigned long long)found);
#else
  if (found < *word) *word = found;
#endif
}

MPNUM_C_END_
#endif
