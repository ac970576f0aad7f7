# SPDX-License-Identifier: MIT
"""Presets of block formats that differ in the type of their elements alone (blockscale.h)."""

from .layout import fill

# (name, elements in memory, format): the two that models are stored in; mpnum_quantize_blocks takes the others.
PRESETS = [(T, f"mpnum_{codes}", f"mpnum_blockscale_mx(MPNUM_TYPE_{T.upper()}, MPNUM_BLOCKSCALE_RCEIL)")
           for T, codes in (("e4m3", "e4m3"), ("e2m1", "e2m1x2"))]

BOTH_WAYS = """\
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_quantize_mx_$T($codes *codes, mpnum_e8m0 *scale_inv, size_t scale_inv_bytes, \
const float *src, size_t rows, size_t columns) {
  return mpnum_quantize_floats_as_($format, codes, scale_inv, scale_inv_bytes, 1, src, rows, columns);
}
MPNUM_MUST_CHECK MPNUM_HOST mpnum_status mpnum_dequantize_mx_$T(float *dst, const $codes *codes, const mpnum_e8m0 *scale_inv, \
size_t scale_inv_bytes, size_t rows, size_t columns) {
  return mpnum_dequantize_floats_as_($format, dst, codes, scale_inv, scale_inv_bytes, 1, rows, columns);
}
"""


def text():
    return "".join(fill(BOTH_WAYS, T=T, codes=codes, format=made) for T, codes, made in PRESETS)
