/* SPDX-License-Identifier: MIT */
/* What a target takes from the bytes of a fuzzer. */
#ifndef MPNUM_TESTS_FUZZ_BYTES_H
#define MPNUM_TESTS_FUZZ_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct fuzz_bytes {
  const uint8_t *at;
  size_t left;
} fuzz_bytes;

/* The next bytes as a number, the least first; zeros past the last one. */
static inline uint64_t take(fuzz_bytes *from, int bytes) {
  uint64_t word = 0;
  for (int i = 0; i < bytes && from->left > 0; ++i, --from->left)
    word |= (uint64_t)*from->at++ << 8 * i;
  return word;
}
static inline uint32_t take_below(fuzz_bytes *from, uint32_t limit) {
  return (uint32_t)take(from, limit <= 256 ? 1 : 4) % limit;
}
static inline void demand(int condition) {
  if (!condition) abort();
}

/* As zlib and PNG have it. */
static inline uint32_t crc32_of(const uint8_t *bytes, size_t size) {
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < size; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit)
      crc = crc & 1 ? 0xedb88320u ^ crc >> 1 : crc >> 1;
  }
  return ~crc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
