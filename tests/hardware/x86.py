# SPDX-License-Identifier: MIT
"""Conversions of x86 as Intel's manuals have them: Software Developer's Manual, volume 2 (VCVTPS2PH, VCVTPH2PS, VCVTPS2PHX
and their like, VCVTNEPS2BF16), and the AVX10.2 architecture specification, 361050-007, 5.1 and 9 (FP8). The pseudo-code of 5.1 is in
bits, as there."""

from exact import DOWN, FORMATS, INF, NAN, NEAREST_EVEN, TOWARD_ZERO, UP, goes_to_max, rounded

RC = [NEAREST_EVEN, DOWN, UP, TOWARD_ZERO]


def narrowed(of, to, code, rounding, daz):
    """A NaN keeps sign and leading payload and is made quiet; subnormal sources are zeros under DAZ; results are not flushed."""
    source, target = FORMATS[of], FORMATS[to]
    value = source.value(code)
    sign = code >> source.top << target.top
    if value == NAN:
        payload = code & ((1 << source.mantissa) - 1)
        return sign | target.inf | 1 << target.mantissa - 1 | payload >> source.mantissa - target.mantissa
    if value[1] == INF:
        return sign | target.inf
    if daz and code >> source.mantissa & ((1 << source.exponent) - 1) == 0:
        return sign
    magnitude = rounded(target, value, rounding)
    if magnitude is None:
        magnitude = target.max if goes_to_max(rounding, value[0]) else target.inf
    return sign | magnitude


def widened(of, to, code):
    source, target = FORMATS[of], FORMATS[to]
    value = source.value(code)
    sign = code >> source.top << target.top
    if value == NAN:
        return sign | target.inf | 1 << target.mantissa - 1 | (code & ((1 << source.mantissa) - 1)) << target.mantissa - source.mantissa
    return sign | (target.inf if value[1] == INF else rounded(target, value, NEAREST_EVEN))


def is_inf_16(x):
    return x & 0x7fff == 0x7c00


def is_nan_16(x):
    return x & 0x7c00 == 0x7c00 and x & 0x3ff != 0


def to_bf8(x, is_saturating, bias=None):
    """convert_fp16_to_bf8: the upper byte, after 0x7f and its last bit, or the bias, is added."""
    if is_nan_16(x):
        return x >> 8 | 2
    if not is_inf_16(x):
        x += 0x7f + (x >> 8 & 1) if bias is None else bias
    if x >> 8 & 0x7f == 0x7c and is_saturating:
        return x >> 8 & 0x80 | 0x7b
    return x >> 8


def to_hf8(x, is_saturating, bias=None):
    """convert_fp16_to_hf8: exponents go down by 8, from a bias of 15 to one of 7; what has a field of 8 or less becomes
    subnormal. Of a normal the bias is halved."""
    sign, field, fraction = x >> 8 & 0x80, x >> 10 & 0x1f, x & 0x3ff
    biased = x + (bias >> 1) if bias is not None else x
    biased_field, biased_fraction = biased >> 10 & 0x1f, biased & 0x3ff
    overflow = 0x7e if is_saturating else 0x7f
    if is_nan_16(x):
        return sign | 0x7f
    if is_inf_16(x):
        return sign | overflow
    if bias is None:
        is_over = field > 23 or (field == 23 and fraction > 0x340)
        is_small = field <= 8
    else:
        is_over = biased_field > 23 or (biased_field == 23 and biased_fraction >= 0x380)
        is_small = biased_field <= 8
    if is_over:
        return sign | overflow
    if bias is not None and field == 0:
        return sign | fraction + (bias << 7) >> 15
    if bias is None and x & 0x7fff == 0:
        return sign
    if is_small:
        m = fraction | 0x400 if field else fraction
        field = max(field, 1)
        if bias is not None:
            m = m + (bias << 8 - field) >> 9 - field
            return sign | m >> 10 << 3 | m >> 7 & 7
        shift = 16 - field  # from f16's last place to that of the result, 2^-9
        units, rest = m >> shift, m & ((1 << shift) - 1)
        units += 2 * rest > 1 << shift or (2 * rest == 1 << shift and units & 1)
        return sign | units
    if bias is None:
        biased = (x & 0x7fff) + 0x3f + (fraction >> 7 & 1)
        biased_field, biased_fraction = biased >> 10, biased & 0x3ff
    return sign | biased_field - 8 << 3 | biased_fraction >> 7


def hf8_to_16(code):
    sign, field, fraction = code >> 7 << 15, code >> 3 & 15, code & 7
    if code & 0x7f == 0x7f:
        return sign | 0x7c00 | fraction << 7
    if field == 0 and fraction:
        zeros = 2 if fraction == 1 else 1 if fraction < 4 else 0
        return sign | (8 - zeros) << 10 | (fraction << zeros + 1 & 7) << 7
    return sign | (field + 8 << 10 if code & 0x7f else 0) | fraction << 7


FP8 = {"bf8": to_bf8, "hf8": to_hf8}
# name: source, whether two operands; the first operand is the upper half.
WIDE = {"vcvtps2ph": ("f32", "f16"), "vcvtps2phx": ("f32", "f16"), "vcvtss2sh": ("f32", "f16"), "vcvt2ps2phx": ("f32", "f16"),
        "vcvtpd2ph": ("f64", "f16"), "vcvtsd2sh": ("f64", "f16"), "vcvtneps2bf16": ("f32", "bf16"), "vcvtne2ps2bf16": ("f32", "bf16")}
WIDER = {"vcvtph2ps": "f32", "vcvtph2psx": "f32", "vcvtsh2ss": "f32", "vcvtph2pd": "f64", "vcvtsh2sd": "f64"}


def source_of(name):
    return WIDE[name][0] if name in WIDE else "e4m3" if name == "vcvthf82ph" else "f16"


def element(name, code, random, mxcsr, imm8):
    if name in WIDER:
        return widened("f16", WIDER[name], code)
    if name == "vcvthf82ph":
        return hf8_to_16(code)
    if name in WIDE:
        rounding = RC[imm8 & 3] if name == "vcvtps2ph" and not imm8 & 4 else RC[mxcsr >> 13 & 3]
        if "bf16" in name:  # MXCSR is neither read nor written: nearest even, subnormals are zeros
            return narrowed("f32", "bf16", code, NEAREST_EVEN, True)
        return narrowed(*WIDE[name], code, rounding, mxcsr >> 6 & 1)
    convert = FP8["bf8" if "bf8" in name else "hf8"]
    return convert(code, name.endswith("s"), random & 0xff if "bias" in name else None)
