# SPDX-License-Identifier: MIT
"""cvt as the PTX ISA has it, 9.4: syntax, Description, Semantics, Floating-point notes. An instruction is read from its
name. What the ISA leaves open is OPEN, or UNSIGNED where it is the sign of a zero; what was measured, and what ptxas makes
of constants, is named where it stands."""

import functools
import itertools
import re

from exact import (DOWN, FORMATS, INF, NAN, NEAREST_AWAY, NEAREST_EVEN, TOWARD_ZERO, UP, Format, goes_to_max, integral, rounded, tabled,
                   times)

OPEN, UNSIGNED = "open", "unsigned"
# All that ptxas 13.5 takes for sm_100a (first part) and sm_107a; a bare cvt from f16 to bf16 and back, which does not say
# how it rounds, is left out.
SYNTAX = """
cvt{.rni,.rzi,.rmi,.rpi,}{.sat,}{.f64.f64,.f16.f16}
cvt{.rni,.rzi,.rmi,.rpi,}{.ftz,}{.sat,}.f32.f32
cvt{.rni,.rzi,.rmi,.rpi,}.bf16.bf16
cvt{.ftz,}{.sat,}{.f32.f16,.f64.f32}
cvt{.sat,}.f64.f16
cvt{.rn,.rz,.rm,.rp,}{.ftz,}.f32.bf16
cvt{.rn,.rz,.rm,.rp,}.f64.bf16
cvt{.rn,.rz,.rm,.rp}{.ftz,}{.sat,}{.f16.f32,.f32.f64}
cvt{.rn,.rz,.rm,.rp}{.ftz,}.bf16.f32
cvt{.rn,.rz,.rm,.rp}{.sat,}.f16.f64
cvt{.rn,.rz,.rm,.rp}{.bf16.f64,.bf16.f16,.f16.bf16}

cvt{.rn,.rz}{.relu,}{.satfinite,}{.pzo,}{.f16,.f16x2,.bf16,.bf16x2}.f32
cvt{.rm,.rp}{.pzo,}{.f16,.bf16}.f32
cvt.rs{.relu,}{.satfinite,}{.f16x2,.bf16x2}.f32
cvt.rna{.satfinite,}.tf32.f32
cvt{.rn,.rz}{.satfinite,}{.relu,}{.pzo,}.tf32.f32
cvt{.rn,.rz}.satfinite{.relu,}{.pzo,}{.scaled::n1::ue8m0,}{.e4m3x2,.e5m2x2,.e2m3x2,.e3m2x2,.e2m1x2}{.f32,.f16x2,.bf16x2}
cvt.rn{.relu,}.f16x2{.e4m3x2,.e5m2x2,.e2m3x2,.e3m2x2,.e2m1x2}
cvt.rn{.relu,}{.satfinite,}{.scaled::n2::ue8m0,}.bf16x2{.e4m3x2,.e5m2x2,.e2m3x2,.e3m2x2,.e2m1x2}
cvt.rs{.relu,}.satfinite{.e4m3x4,.e5m2x4,.e2m3x4,.e3m2x4,.e2m1x4}.f32
cvt{.rz,.rp}{.satfinite,}.ue8m0x2{.f32,.bf16x2}
cvt.rn.bf16x2.ue8m0x2
cvt{.rn,.rz}.satfinite{.relu,}{.scaled::n2::ue8m0,}.s2f6x2{.f32,.bf16x2}
cvt.rn{.satfinite,}{.relu,}{.scaled::n2::ue8m0,}.bf16x2.s2f6x2
cvt{.rn,.rz,.rp}{.satfinite,}.ue5m3x2{.f32,.f16x2,.bf16x2}
cvt{.rn,.rz}{.satfinite,}.scaled::n1::ue8m0.ue5m3x2{.f32,.f16x2,.bf16x2}
cvt.rn.f16x2.ue5m3x2
cvt.rn{.satfinite,}{.scaled::n2::ue8m0,}.bf16x2.ue5m3x2
"""
INTEGRAL = {"rni": NEAREST_EVEN, "rzi": TOWARD_ZERO, "rmi": DOWN, "rpi": UP}
ROUNDINGS = {"rn": NEAREST_EVEN, "rz": TOWARD_ZERO, "rm": DOWN, "rp": UP, "rna": NEAREST_AWAY}
# The canonical NaNs; formats without one give MAX_NORM, positive.
NANS = {"f16": 0x7fff, "bf16": 0x7fff, "f32": 0x7fffffff, "tf32": 0x3ffff, "e4m3": 0x7f, "e5m2": 0x7f, "ue8m0": 0xff, "ue5m3": 0xff,
        "e2m3": 0x1f, "e3m2": 0x1f, "e2m1": 7}
# Conversions of whose NaNs the ISA says nothing, or that they are unspecified.
NANS_OPEN = {("tf32", "rna")} | {(to, of) for to, of in [("f16", "f64"), ("bf16", "f64"), ("bf16", "f16"), ("f16", "bf16"), ("f32", "f64"), ("f32", "bf16"), ("f64", "f32"), ("f64", "f16"), ("f64", "bf16"), ("f64", "f64"), ("f32", "f32"), ("f16", "f16"), ("bf16", "bf16")]}
# f32 without a least exponent.
UNBOUNDED = Format("unbounded", 1, 12, 23, 2047, "ieee")


def names():
    """All forms, each once."""
    made = {}
    for line in SYNTAX.split():
        choices = [part.split(",") for part in re.split("[{}]", line)]
        made |= dict.fromkeys("".join(parts) for parts in itertools.product(*choices))
    return list(made)


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
        self.unit, self.pzo = "sat" in words, "pzo" in words
        self.rounding = next((word for word in words if word in {*ROUNDINGS, *INTEGRAL, "rs"}), None)
        self.has_one_scale = "scaled::n1::ue8m0" in words
        self.is_scaled = self.has_one_scale or "scaled::n2::ue8m0" in words
        self.slot = {"e2m1": 4, "e2m3": 8, "e3m2": 8, "s2f6": 8, "ue8m0": 8}.get(self.to) or (32 if self.to == "tf32" else FORMATS[self.to].width)
        self.of_slot = {"e2m1": 4, "s2f6": 8}.get(self.of) or (8 if self.is_packed and FORMATS[self.of].width < 8 else FORMATS[self.of].width)
        # A form that differs from another in an option alone, or changes nothing: a few inputs show it.
        self.is_variant = self.pzo or self.unit or self.has_one_scale or self.rounding in INTEGRAL or self.of == self.to \
            or (self.rounding == "rz" and self.slot <= 8) or (self.to == "ue5m3" and (self.sat or self.of == "f16")) \
            or (self.of == "bf16" and self.slot > 16 and self.rounding is not None)
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
        scales = [src[-1] >> (0 if self.has_one_scale else 8) & 0xff, src[-1] & 0xff] if self.is_scaled else [127] * self.lanes
        randoms = self.random_bits(rbits) if self.rounding == "rs" else [None] * self.lanes
        d = 0
        for code, scale, random in zip(codes, scales, randoms):
            result = self.convert(code, scale, random)
            if result in (OPEN, UNSIGNED):
                return result
            d = d << self.slot | result
        return [d >> 32 * i & 0xffffffff for i in range(self.words()[1])]

    def convert(self, code, scale, random):
        if self.has_one_scale and scale != 255:
            value = FORMATS[self.of].value(code)
            if value != NAN and value[1] != INF and 0 < value[1] < 1 << FORMATS[self.of].mantissa:  # subnormals have no leading 1
                if code >> FORMATS[self.of].top and not (self.relu or self.pzo or self.to == "ue5m3"):
                    return UNSIGNED
                code = 0
        if self.of in ("f16", "bf16") and scale == 127 and not (self.ftz or self.is_variant):
            result = table(self.of, self.to, self.rounding, self.sat)[code]
        else:
            result = converted(self.of, self.to, self.rounding, self.ftz, self.sat, self.unit, self.widens, code, scale, random)
        if result == OPEN:
            return OPEN
        if self.pzo and result == 1 << (31 if self.to == "tf32" else FORMATS[self.to].top):
            return 0
        return relu(self.to, result) if self.relu else result


@functools.cache
def table(of, to, how, sat):
    return tabled(FORMATS[of], lambda code: converted(of, to, how, False, sat, False, False, code, 127, None))


def relu(to, code):
    """Negative results are 0; NaNs have no sign."""
    if to == "s2f6":
        return 0 if code >> 7 else code
    return 0 if code >> (31 if to == "tf32" else FORMATS[to].top) else code


@functools.lru_cache(maxsize=1 << 18)
def converted(of, to, how, ftz, sat, unit, widens, code, scale, random):
    value = signed_byte(code) if of == "s2f6" else FORMATS[of].value(code)
    if value == NAN and unit:
        return 0
    if ftz and is_tiny(value) and of != "f64":
        value = value[0], 0, 0
    if ftz and is_tiny(value) and is_tiny(UNBOUNDED.value(rounded(UNBOUNDED, value, ROUNDINGS[how]))):
        value = value[0], 0, 0  # ptxas rounds constants so, and its code for sm_90 does
    if how in INTEGRAL and value != NAN and value[1] != INF:
        value, how = integral(value, INTEGRAL[how]), None
    if unit and value != NAN:
        value = limited(value)
    if scale == 255:
        value = NAN
    value = times(value, scale - 127 if widens else 127 - scale)
    if value == NAN:
        if {(to, of), (to, how)} & NANS_OPEN:
            return OPEN
        return 127 if to == "s2f6" else NANS[to] << (13 if to == "tf32" else 0)
    rounding = random or ROUNDINGS.get(how, NEAREST_EVEN)
    if to == "s2f6":
        return fixed(value, rounding)
    format = FORMATS[to]
    value = (value[0] * format.sign, *value[1:])  # of a negative one for ue8m0 and ue5m3 the magnitude, in CUDA's headers
    sign = value[0] << format.top
    magnitude = None if value[1] == INF else rounded(format, value, rounding)
    if magnitude is None:
        is_max = sat or format.specials == "finite" or (value[1] != INF and goes_to_max(rounding, value[0]))
        magnitude = format.max if is_max else NANS[to] if format.inf is None else format.inf
    return (sign | magnitude) << (13 if to == "tf32" else 0)


def is_tiny(value):
    """A value below 2^-126, where f32 has subnormals."""
    return value != NAN and value[1] != INF and value[1].bit_length() + value[2] <= -126


def limited(value):
    """.sat; -0 becomes 0, as ptxas makes of constants and by FADD.SAT RZ, x, its code."""
    if value[0] or value[1] == 0:
        return 0, 0, 0
    return (0, 1, 0) if value[1] == INF or value[1].bit_length() + value[2] > 0 else value


def signed_byte(code):
    """The value of an s2f6, two's complement in 1/64."""
    return code >> 7, 256 - code if code >> 7 else code, -6


def fixed(value, rounding):
    """To s2f6, saturating."""
    if value[1] == INF:
        return 0x80 if value[0] else 0x7f
    sign, m, e = value
    units, rest = (m << e + 6, 0) if e + 6 >= 0 else divmod(m, 1 << -e - 6)
    one = 1 << max(-e - 6, 0)
    units += rounding == NEAREST_EVEN and (2 * rest > one or (2 * rest == one and units & 1))
    return -min(units, 128) & 0xff if sign else min(units, 127)
