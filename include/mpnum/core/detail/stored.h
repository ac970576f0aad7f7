/* SPDX-License-Identifier: MIT */
/* States as bytes that are the same on every machine: a name of four letters, a version,
 * the members in their order, CRC-32 (the one of zip and PNG) of all that; each number
 * with its lowest byte first. */
#ifndef MPNUM_CORE_DETAIL_STORED_H
#define MPNUM_CORE_DETAIL_STORED_H

#include "../format.h"
#include "bits.h"
MPNUM_C_BEGIN_

/* A place in the bytes, to which or from which members go. */
typedef struct mpnum_stored_ {
  uint8_t *at;
  int is_loading;
} mpnum_stored_;

MPNUM_FUNC uint64_t mpnum_stored_number_(mpnum_stored_ *stored, uint64_t x, int size) {
  uint64_t loaded = 0;
  int i = 0;
  for (; i < size; ++i) {
    if (stored->is_loading) {
      loaded |= (uint64_t)*stored->at << 8 * i;
    } else {
      *stored->at = (uint8_t)(x >> 8 * i & 0xff);
    }
    stored->at += 1;
  }
  return stored->is_loading ? loaded : x;
}
MPNUM_FUNC void mpnum_stored_u64_(mpnum_stored_ *stored, uint64_t *x) {
  *x = mpnum_stored_number_(stored, *x, 8);
}
MPNUM_FUNC void mpnum_stored_u32_(mpnum_stored_ *stored, uint32_t *x) {
  *x = (uint32_t)mpnum_stored_number_(stored, *x, 4);
}
/* Two's complement, whatever the compiler makes of large numbers. */
MPNUM_FUNC void mpnum_stored_i64_(mpnum_stored_ *stored, int64_t *x) {
  const uint64_t bits = mpnum_stored_number_(stored, (uint64_t)*x, 8);
  *x = bits >> 63 ? -(int64_t)(~bits) - 1 : (int64_t)bits;
}
MPNUM_FUNC void mpnum_stored_i32_(mpnum_stored_ *stored, int32_t *x) {
  const uint32_t bits =
      (uint32_t)mpnum_stored_number_(stored, (uint64_t)(int64_t)*x & 0xffffffffu, 4);
  *x = bits >> 31 ? -(int32_t)(~bits) - 1 : (int32_t)bits;
}
MPNUM_FUNC void mpnum_stored_i16_(mpnum_stored_ *stored, int16_t *x) {
  const uint32_t bits =
      (uint32_t)mpnum_stored_number_(stored, (uint64_t)(int64_t)*x & 0xffffu, 2);
  *x = (int16_t)(bits >> 15 ? (int32_t)bits - 65536 : (int32_t)bits);
}
MPNUM_MATH_ void mpnum_stored_f32_(mpnum_stored_ *stored, float *x) {
  *x = mpnum_from_bits_f32((uint32_t)mpnum_stored_number_(stored, mpnum_bits_f32(*x), 4));
}
MPNUM_MATH_ void mpnum_stored_f64_(mpnum_stored_ *stored, double *x) {
  *x = mpnum_from_bits_f64(mpnum_stored_number_(stored, mpnum_bits_f64(*x), 8));
}

MPNUM_FUNC uint32_t mpnum_crc32_(const uint8_t *bytes, int count) {
  uint32_t crc = 0xffffffffu;
  int i = 0, bit = 0;
  for (; i < count; ++i) {
    crc ^= bytes[i];
    for (bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1)));
  }
  return ~crc;
}
/* Bytes to be written: the place behind name and version; and, when all members are
 * there, the checksum in the last four of size. */
MPNUM_FUNC mpnum_stored_ mpnum_stored_begin_(uint8_t *bytes, uint32_t name,
                                             uint32_t version) {
  mpnum_stored_ stored = {bytes, 0};
  (void)mpnum_stored_number_(&stored, name, 4);
  (void)mpnum_stored_number_(&stored, version, 4);
  return stored;
}
MPNUM_FUNC void mpnum_stored_seal_(uint8_t *bytes, int size) {
  mpnum_stored_ end = {bytes + (size - 4), 0};
  (void)mpnum_stored_number_(&end, mpnum_crc32_(bytes, size - 4), 4);
}
/* Bytes to be read, by way of a copy at stored->at, which has room for wanted of them:
 * the place behind name and version, and the version, from 1 to newest. */
MPNUM_FUNC mpnum_status mpnum_stored_open_(mpnum_stored_ *stored, const uint8_t *bytes,
                                           uint64_t size, int wanted, uint32_t name,
                                           uint32_t newest, uint32_t *version) {
  uint8_t *copy = stored->at;
  mpnum_stored_ end = {copy + (wanted - 4), 1};
  if (size != (uint64_t)wanted) return MPNUM_ERROR_CORRUPT;
  MPNUM_MEMCPY_(copy, bytes, (uint32_t)wanted);
  if (mpnum_stored_number_(stored, 0, 4) != name ||
      mpnum_stored_number_(&end, 0, 4) != mpnum_crc32_(copy, wanted - 4))
    return MPNUM_ERROR_CORRUPT;
  *version = (uint32_t)mpnum_stored_number_(stored, 0, 4);
  return *version - 1 < newest ? MPNUM_OK : MPNUM_ERROR_VERSION;
}

MPNUM_C_END_
#endif
