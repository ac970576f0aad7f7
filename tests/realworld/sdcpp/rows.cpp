/* SPDX-License-Identifier: MIT */
#include <cstdint>
#include <cstring>

void f8_e4m3_to_f16_vec(uint8_t *src, uint16_t *dst, int64_t n);
void f8_e5m2_to_f16_vec(uint8_t *src, uint16_t *dst, int64_t n);

/* In place, as they may be called. */
#define ROW(NAME)                                                   \
 extern "C" __attribute__((visibility("default"))) void NAME##_row( \
     const uint8_t *x, uint16_t *y, int64_t n) {                    \
  memcpy(y, x, n);                                                  \
  NAME##_vec((uint8_t *)y, y, n);                                   \
 }
ROW(f8_e4m3_to_f16)
ROW(f8_e5m2_to_f16)
