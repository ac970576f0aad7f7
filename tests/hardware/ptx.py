# SPDX-License-Identifier: MIT
"""cvt as the PTX ISA has it, 9.1: syntax, Description, Semantics, Floating-point notes. An instruction is read from its
name. What the ISA leaves open is OPEN; what was measured is named where it stands."""

import functools

from exact import DOWN, FORMATS, INF, NAN, NEAREST_AWAY, NEAREST_EVEN, TOWARD_ZERO, UP, goes_to_max, rounded, tabled, times

OPEN = "open"
ROUNDINGS = {"rn": NEAREST_EVEN, "rz": TOWARD_ZERO, "rm": DOWN, "rp": UP, "rna": NEAREST_AWAY}
# The canonical NaNs; formats without one give MAX_NORM, positive.
NANS = {"f16": 0x7fff, "bf16": 0x7fff, "f32": 0x7fffffff, "tf32": 0x3ffff, "e4m3": 0x7f, "e5m2": 0x7f, "ue8m0": 0xff, "e2m3": 0x1f,
        "e3m2": 0x1f, "e2m1": 7}
# Conversions of whose NaNs the ISA says nothing, or that they are unspecified.
NANS_OPEN = {("tf32", "rna")} | {(to, of) for to, of in [("f16", "f64"), ("bf16", "f64"), ("bf16", "f16"), ("f16", "bf16"), ("f32", "f64"), ("f32", "bf16"), ("f64", "f32"), ("f64", "f16"), ("f64", "bf16")]}


class Cvt:
    def __init__(self, name):
        words = name.split(".")
        assert words[0] == "cvt"
        self.to, self.source = words[-2], words[-1]
        self.lanes = int(self.to[-1]) if self.to[-2] == "x" else 1
        self.of = self.source[:-2] if self.source[-2] == "x" else self.source
        self.to = self.to[:-2] if self.lanes > 1 else self.to
        self.is_packed = self.source[-2] == "x"  # one operand has all elements
        self.relu, self.sat, self.ftz = "relu" in words, "satfinite" in words, "ftz" in words
        self.rounding = next((word for word in words if word in {*ROUNDINGS, "rs"}), None)
        self.is_scaled = "scaled::n2::ue8m0" in words
        self.slot = {"e2m1": 4, "e2m3": 8, "e3m2": 8, "s2f6": 8, "ue8m0": 8}.get(self.to) or (32 if self.to == "tf32" else FORMATS[self.to].width)
        self.of_slot = {"e2m1": 4, "s2f6": 8}.get(self.of) or (8 if self.is_packed and FORMATS[self.of].width < 8 else FORMATS[self.of].width)
        self.widens = self.to in ("f64", "f32", "f16", "bf16") and self.of_slot < self.slot

    def words(self):
        """Words of the operands, without rbits, and of the result."""
        return (max(1, self.lanes * self.of_slot // 32) if self.is_packed else self.lanes * max(1, self.of_slot // 32)) + self.is_scaled, \
            max(1, self.lanes * self.slot // 32)

    def elements(self, src):
        """The operands' codes, a first."""
        if self.is_packed:
            mask = (1 << self.of_slot) - 1
            return [src[0] >> self.of_slot * i & mask for i in reversed(range(self.lanes))]
        if self.of == "f64":
            return [src[0] | src[1] << 32]
        return list(src[:self.lanes])

    def random_bits(self, rbits):
        """(bits, random) of each element, a first. x4: measured on a B200 (docs/instructions.md): the first of two that
        share 16 bits reads them from the last to the first."""
        high, low = rbits >> 16, rbits & 0xffff
        if self.to == "f16":
            return [(13, high & 0x1fff), (13, low & 0x1fff)]
        if self.to == "bf16":
            return [(16, high), (16, low)]
        if self.to == "e2m1":
            high, low = high & 0xff00 | low >> 8, (high & 0xff) << 8 | low & 0xff
        return [(16, int(f"{high:016b}"[::-1], 2)), (16, high), (16, int(f"{low:016b}"[::-1], 2)), (16, low)]

    def run(self, src, rbits=0):
        """The words of the result, or OPEN."""
        codes = self.elements(src)
        scales = [src[-1] >> 8 & 0xff, src[-1] & 0xff] if self.is_scaled else [127] * self.lanes
        randoms = self.random_bits(rbits) if self.rounding == "rs" else [None] * self.lanes
        d = 0
        for code, scale, random in zip(codes, scales, randoms):
            result = self.convert(code, scale, random)
            if result == OPEN:
                return OPEN
            d = d << self.slot | result
        return [d >> 32 * i & 0xffffffff for i in range(self.words()[1])]

    def convert(self, code, scale, random):
        if self.of in ("f16", "bf16") and scale == 127 and not self.ftz:
            result = table(self.of, self.to, self.rounding, self.sat)[code]
        else:
            result = converted(self.of, self.to, self.rounding, self.ftz, self.sat, self.widens, code, scale, random)
        return result if result == OPEN or not self.relu else relu(self.to, result)


@functools.cache
def table(of, to, how, sat):
    return tabled(FORMATS[of], lambda code: converted(of, to, how, False, sat, False, code, 127, None))


def relu(to, code):
    """Negative results are 0; NaNs have no sign."""
    if to == "s2f6":
        return 0 if code >> 7 else code
    return 0 if code >> (31 if to == "tf32" else FORMATS[to].top) else code


@functools.lru_cache(maxsize=1 << 18)
def converted(of, to, how, ftz, sat, widens, code, scale, random):
    value = signed_byte(code) if of == "s2f6" else FORMATS[of].value(code)
    if ftz and value != NAN and value[1] != INF and value[1].bit_length() + value[2] <= -126:
        value = value[0], 0, 0
    if scale == 255:
        value = NAN
    value = times(value, scale - 127 if widens else 127 - scale)
    if value == NAN:
        if {(to, of), (to, how)} & NANS_OPEN:
            return OPEN
        return 127 if to == "s2f6" else NANS[to] << (13 if to == "tf32" else 0)
    if to == "s2f6":
        return fixed(value)
    format = FORMATS[to]
    rounding = random or ROUNDINGS[how or "rn"]
    value = (value[0] * format.sign, *value[1:])  # of a negative ue8m0 the magnitude, in CUDA's headers
    sign = value[0] << format.top
    magnitude = None if value[1] == INF else rounded(format, value, rounding)
    if magnitude is None:
        is_max = sat or format.specials == "finite" or (value[1] != INF and goes_to_max(rounding, value[0]))
        magnitude = format.max if is_max else NANS[to] if format.inf is None else format.inf
    return (sign | magnitude) << (13 if to == "tf32" else 0)


def signed_byte(code):
    """The value of an s2f6, two's complement in 1/64."""
    return code >> 7, 256 - code if code >> 7 else code, -6


def fixed(value):
    """To s2f6, saturating."""
    if value[1] == INF:
        return 0x80 if value[0] else 0x7f
    sign, m, e = value
    units, rest = (m << e + 6, 0) if e + 6 >= 0 else divmod(m, 1 << -e - 6)
    one = 1 << max(-e - 6, 0)
    units += 2 * rest > one or (2 * rest == one and units & 1)
    return -min(units, 128) & 0xff if sign else min(units, 127)
