/* SPDX-License-Identifier: MIT */
#include <mpnum/blocks/blockscale.h>

#include "block_formats.h"

#include <stdlib.h>

block_format block_format_of(unsigned number) {
  switch (number) {
#define CASE(called, shown, bits, made)       \
 case BLOCK_##called: {                       \
  const block_format found = {#called, made}; \
  return found;                               \
 }
    BLOCK_FORMAT_ROWS(CASE)
  default: abort();
  }
}

mpnum_status to_blocks(const mpnum_blockscale_format *format, mpnum_blockscaled dst,
                       mpnum_const_matrix src, mpnum_quantize_losses *losses) {
  return mpnum_quantize_blocks(format, dst, src, NULL, losses);
}
mpnum_status from_blocks(const mpnum_blockscale_format *format, mpnum_matrix dst,
                         mpnum_blockscaled src) {
  return mpnum_dequantize_blocks(format, dst, src);
}
