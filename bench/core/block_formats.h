/* SPDX-License-Identifier: MIT */
/* The block formats that inspect and the bench rank, by name. */
#ifndef MPNUM_BENCH_BLOCK_FORMATS_H
#define MPNUM_BENCH_BLOCK_FORMATS_H

#include <mpnum/array/losses.h>
#include <mpnum/array/matrix.h>
#include <mpnum/blocks/blockscale_format.h>

/* ROW(name, what tables of times call it, bits of a code, format) */
#define BLOCK_MX(type) mpnum_blockscale_mx(MPNUM_TYPE_##type, MPNUM_BLOCKSCALE_RCEIL)
#define BLOCK_FORMAT_ROWS(ROW)                                                \
 ROW(mx_e4m3, "mx e4m3", 8, BLOCK_MX(E4M3))                                   \
 ROW(mx_e5m2, "mx e5m2", 8, BLOCK_MX(E5M2))                                   \
 ROW(mx_e2m3, "mx e2m3", 6, BLOCK_MX(E2M3))                                   \
 ROW(mx_e3m2, "mx e3m2", 6, BLOCK_MX(E3M2))                                   \
 ROW(mx_e2m1, "mx e2m1", 4, BLOCK_MX(E2M1))                                   \
 ROW(mx_int8, "mx int8", 8, mpnum_blockscale_mx_int8(MPNUM_BLOCKSCALE_RCEIL)) \
 ROW(nvfp4, "nvfp4 1x16", 4, mpnum_blockscale_nvfp4_1x16())                   \
 ROW(deepseek, "e4m3 1x128", 8, mpnum_blockscale_fp8_1x128())

#define BLOCK_NUMBER(name, shown, bits, format) BLOCK_##name,
enum { BLOCK_FORMAT_ROWS(BLOCK_NUMBER) BLOCK_FORMATS };
#undef BLOCK_NUMBER

typedef struct block_format {
  const char *name;
  mpnum_blockscale_format format; /* blocks in a row */
} block_format;

/* Number 0 to BLOCK_FORMATS - 1. */
block_format block_format_of(unsigned number);

/* mpnum_quantize_blocks and mpnum_dequantize_blocks, compiled once. */
mpnum_status to_blocks(const mpnum_blockscale_format *format, mpnum_blockscaled dst,
                       mpnum_const_matrix src, mpnum_quantize_losses *losses);
mpnum_status from_blocks(const mpnum_blockscale_format *format, mpnum_matrix dst,
                         mpnum_blockscaled src);

#endif
