/* SPDX-License-Identifier: MIT */
/* Calls of array functions with random arguments on random elements, the same in every
 * run:  random_arrays [CALLS]  20000 without it.
 * A stand-in for libFuzzer in the quick suite; faults show through abort and the
 * sanitizers. */
#include "fuzz_array.h"

#include <stdlib.h>

#include "../reference/conversion_inputs.h"
#include "../harness/tap.h"

static unsigned long calls;

/* Elements are any bytes, or bytes of few kinds, of which zeros, Inf and NaNs are made.
 */
static void random_calls_give_the_scalar_bits(void) {
  static const uint8_t telling[] = {0x00, 0x7f, 0x80, 0xff, 0xf0, 0x7c, 0x3f, 0x01};
  static uint8_t bytes[2000];
  uint64_t state = 1;
  for (unsigned long i = 0; i < calls; ++i) {
    const size_t size = (size_t)(random_bits(&state) % sizeof bytes);
    const int is_telling = i % 3 == 0;
    for (size_t j = 0; j < size; ++j) {
      const uint64_t word = random_bits(&state);
      bytes[j] = is_telling && j > 26 ? telling[word % sizeof telling] : (uint8_t)word;
    }
    LLVMFuzzerTestOneInput(bytes, size);
  }
}

int main(int argc, char **argv) {
  calls = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
  TAP_RUN(random_calls_give_the_scalar_bits);
  return tap_done();
}
