# SPDX-License-Identifier: MIT
"""Conversions of Arm as the pseudo-code of the Arm Architecture Reference Manual for A-profile has them, DDI 0487 M.a.a: J1.3,
FPConvert, FPConvertNaN, FPConvertBF, FPConvertFP8, FP8Round, FP8ConvertFP. FPCR.AH, AHP and FIZ are 0."""

import functools

from exact import DOWN, FORMATS, INF, NAN, NEAREST_EVEN, TO_ODD, TOWARD_ZERO, UP, goes_to_max, rounded, tabled, times

RMODE = [NEAREST_EVEN, UP, DOWN, TOWARD_ZERO]
FP8 = {0: "e5m2", 1: "e4m3"}
UNSUPPORTED = "unsupported"
# name: source, result; rounding where FPCR does not say
WIDE = {"fcvt hd, sn": ("f32", "f16"), "fcvt hd, dn": ("f64", "f16"), "fcvt sd, dn": ("f64", "f32"), "fcvt sd, hn": ("f16", "f32"),
        "fcvt dd, hn": ("f16", "f64"), "fcvt dd, sn": ("f32", "f64"), "fcvtxn sd, dn": ("f64", "f32"),
        "bfcvt hd, sn": ("f32", "bf16"), "bfcvtn vd.4h, vn.4s": ("f32", "bf16")}
NARROW = {"fcvtn vd.8b, vn.4h, vm.4h": "f16", "fcvtn vd.8b, vn.4s, vm.4s": "f32", "fcvtn zd.b, {zn1.h-zn2.h}": "f16",
          "bfcvtn zd.b, {zn1.h-zn2.h}": "bf16"}
WIDENING = {f"{b}f{n}{tail}": ("bf16" if b else "f16", n == 2) for b in ("", "b") for n in (1, 2) for tail in ("cvtl vd.8h, vn.8b", "cvt zd.h, zn.b")}


def bits(value, high, low):
    return value >> low & ((1 << high - low + 1) - 1)


def signed(value, width):
    return value - (1 << width) if value >> width - 1 else value


def default_nan(format):
    return format.inf | 1 << format.mantissa - 1


def convert(of, to, code, fpcr, is_odd):
    """FPConvert and FPConvertBF; bf16 is the upper half of an f32 that is rounded there, so that FZ flushes it as an f32."""
    source, target = FORMATS[of], FORMATS[to]
    fz, dn, rmode = bits(fpcr, 24, 24), bits(fpcr, 25, 25), RMODE[bits(fpcr, 23, 22)]
    value = source.value(code)
    sign = code >> source.top << target.top
    if value == NAN:
        if dn:
            return default_nan(target)
        payload = code & ((1 << source.mantissa - 1) - 1)  # below the quiet bit
        shift = source.mantissa - target.mantissa
        return sign | default_nan(target) | (payload >> shift if shift > 0 else payload << -shift)
    if value[1] == INF:
        return sign | target.inf
    is_subnormal = code >> source.mantissa & ((1 << source.exponent) - 1) == 0
    if value[1] == 0 or (fz and of != "f16" and is_subnormal):
        return sign
    exponent = value[1].bit_length() - 1 + value[2]
    if fz and to != "f16" and exponent < 1 - target.bias:
        return sign  # FPRoundBase: flushed before it is rounded
    rounding = TO_ODD if is_odd else rmode
    magnitude = rounded(target, value, rounding)
    if magnitude is None:
        magnitude = target.max if goes_to_max(rounding, value[0]) else target.inf
    return sign | magnitude


def narrow(of, code, fpmr):
    """FPConvertFP8, of a bf16 by way of f32."""
    to = FP8.get(bits(fpmr, 8, 6))
    if to is None:
        return UNSUPPORTED
    source, target = FORMATS[of], FORMATS[to]
    value = source.value(code)
    if value == NAN:
        return 0x7f if to == "e4m3" else 0x7e
    scale = signed(bits(fpmr, 28, 24), 5) if of == "f16" else signed(bits(fpmr, 31, 24), 8)
    magnitude = None if value[1] == INF else rounded(target, times(value, scale), NEAREST_EVEN)
    if magnitude is None:
        infinity = 0x7f if to == "e4m3" else 0x7c
        magnitude = target.max if bits(fpmr, 15, 15) else infinity
    return value[0] << 7 | magnitude


def narrowed(of, fpmr, code):
    return narrow(of, code, fpmr) if of == "f32" else table(of, fpmr)[code]


@functools.lru_cache(maxsize=4)
def table(of, fpmr):
    return tabled(FORMATS[of], lambda code: narrow(of, code, fpmr))


def widen(to, is_second, code, fpmr):
    """FP8ConvertFP."""
    of = FP8.get(bits(fpmr, 5, 3) if is_second else bits(fpmr, 2, 0))
    if of is None:
        return UNSUPPORTED
    source, target = FORMATS[of], FORMATS[to]
    value = source.value(code)
    if value == NAN:
        return default_nan(target)
    sign = value[0] << target.top
    if value[1] == INF:
        return sign | target.inf
    low = 32 if is_second else 16
    scale = bits(fpmr, low + 3, low) if to == "f16" else bits(fpmr, low + 5, low)
    return sign | rounded(target, times(value, -scale), NEAREST_EVEN)


def result(name, codes, fpcr, fpmr):
    """Elements of the result, the lowest first: of two operands that of the first."""
    if name in WIDE:
        return [convert(*WIDE[name], code, fpcr, name.startswith("fcvtxn")) for code in codes]
    if name in NARROW:
        return [narrowed(NARROW[name], fpmr, code) for code in codes]
    return [widen(*WIDENING[name], code, fpmr) for code in codes]
