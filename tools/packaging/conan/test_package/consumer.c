/* SPDX-License-Identifier: MIT */
#include <mpnum/mpnum.h>

int main(void) {
  return mpnum_f32_to_e4m3_sat(1000.0f).bits == 0x7e ? 0 : 1; /* 448, the largest */
}
