/* SPDX-License-Identifier: MIT */
#include "block_formats.h"

static block_format mx(const char *name, mpnum_type element) {
  const block_format made = {name, mpnum_blockscale_mx(element, MPNUM_BLOCKSCALE_RCEIL)};
  return made;
}

block_format block_format_of(unsigned number) {
  block_format made = {"deepseek", mpnum_blockscale_deepseek(1)};
  switch (number) {
  case 0: return mx("mx_e4m3", MPNUM_TYPE_E4M3);
  case 1: return mx("mx_e5m2", MPNUM_TYPE_E5M2);
  case 2: return mx("mx_e2m3", MPNUM_TYPE_E2M3);
  case 3: return mx("mx_e3m2", MPNUM_TYPE_E3M2);
  case 4: return mx("mx_e2m1", MPNUM_TYPE_E2M1);
  case 5:
    made.name = "mx_int8";
    made.format = mpnum_blockscale_mx_int8(MPNUM_BLOCKSCALE_RCEIL);
    break;
  case 6:
    made.name = "nvfp4";
    made.format = mpnum_blockscale_nvfp4(1);
    break;
  default: break;
  }
  return made;
}
