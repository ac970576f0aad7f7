/* SPDX-License-Identifier: MIT */
/* CRC-32, the one of zip and PNG: of files that may be damaged, of ranks that should hold
 * the same. */
#ifndef EXAMPLES_CHECKSUM_H
#define EXAMPLES_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Of bytes that follow others, whose checksum is before; 0 if there are none. */
static inline uint32_t checksum(uint32_t before, const void *bytes, size_t size) {
  const uint8_t *at = (const uint8_t *)bytes;
  uint32_t crc = ~before;
  for (size_t i = 0; i < size; ++i) {
    crc ^= at[i];
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1)));
  }
  return ~crc;
}

#endif
