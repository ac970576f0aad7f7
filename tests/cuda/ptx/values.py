# SPDX-License-Identifier: MIT
"""Number formats of PTX: what bits mean, and rounding a number to bits, in exact integer arithmetic.

A number is a Number: finite ones are (-1)^negative * significand * 2^exponent, with integers of any size.
"""

from dataclasses import dataclass
from typing import NamedTuple

FINITE, INFINITE, NAN = "finite", "infinite", "NaN"


class Number(NamedTuple):
    kind: str
    negative: bool
    significand: int
    exponent: int

    @property
    def is_zero(self):
        return self.kind == FINITE and self.significand == 0


NOT_A_NUMBER = Number(NAN, False, 0, 0)


def infinity(negative):
    return Number(INFINITE, negative, 0, 0)


def finite(negative, significand, exponent):
    return Number(FINITE, negative, significand, exponent)


@dataclass(frozen=True)
class Format:
    """specials: "ieee" (the top exponent field holds Inf and NaN), "nan" (all ones is NaN, no Inf), "none"."""
    name: str
    exponent_bits: int
    mantissa_bits: int
    bias: int
    specials: str
    canonical_nan: int

    @property
    def width(self):
        return 1 + self.exponent_bits + self.mantissa_bits

    @property
    def sign_bit(self):
        return 1 << (self.exponent_bits + self.mantissa_bits)

    @property
    def infinity(self):
        return ((1 << self.exponent_bits) - 1) << self.mantissa_bits

    @property
    def largest(self):
        """The code of the largest finite number."""
        return {"ieee": self.infinity - 1, "nan": self.sign_bit - 2, "none": self.sign_bit - 1}[self.specials]

    def decode(self, bits):
        negative = bool(bits & self.sign_bit)
        magnitude = bits & (self.sign_bit - 1)
        if magnitude > self.largest:
            return infinity(negative) if self.specials == "ieee" and magnitude == self.infinity else NOT_A_NUMBER
        field, mantissa = magnitude >> self.mantissa_bits, magnitude & ((1 << self.mantissa_bits) - 1)
        if field == 0:
            return finite(negative, mantissa, 1 - self.bias - self.mantissa_bits)
        return finite(negative, mantissa | 1 << self.mantissa_bits, field - self.bias - self.mantissa_bits)

    def encode(self, number, rounding="rn", saturate=False):
        """Rounds once. saturate is .satfinite: what is above the largest number becomes it, Inf too."""
        kind, negative, significand, exponent = number
        if kind == NAN:
            return self.largest if self.specials == "none" else self.canonical_nan
        sign = self.sign_bit if negative else 0
        if kind == INFINITE:
            return sign | self.overflow("rn", negative, saturate)
        if significand == 0:
            return sign
        # The exponent of the last place of the result, then how many of those places the number holds.
        least = 1 - self.bias
        lead = max(significand.bit_length() - 1 + exponent, least)
        places = round_shift(significand, lead - self.mantissa_bits - exponent, rounding, negative)
        # One place past the top of a binade, places carries into the exponent field by itself.
        magnitude = ((lead - least) << self.mantissa_bits) + places
        return sign | (magnitude if magnitude <= self.largest else self.overflow(rounding, negative, saturate))

    def overflow(self, rounding, negative, saturate):
        to_largest = rounding == "rz" or (rounding == "rp" and negative) or (rounding == "rm" and not negative)
        if saturate or to_largest or self.specials == "none":
            return self.largest
        return self.infinity if self.specials == "ieee" else self.canonical_nan

    def is_subnormal(self, bits):
        magnitude = bits & (self.sign_bit - 1)
        return 0 < magnitude < 1 << self.mantissa_bits


def round_shift(significand, shift, rounding, negative=False):
    """significand / 2^shift, rounded to an integer: rn rna (nearest, ties to even or away), rz, rp and rm (up and
    down in value, which is away from zero for one of the signs)."""
    if shift <= 0:
        return significand << -shift
    whole, rest, half = significand >> shift, significand & ((1 << shift) - 1), 1 << (shift - 1)
    if rounding == "rn":
        return whole + (rest > half or (rest == half and whole & 1))
    if rounding == "rna":
        return whole + (rest >= half)
    if rounding == "rp":
        return whole + (rest > 0 and not negative)
    if rounding == "rm":
        return whole + (rest > 0 and negative)
    if rounding == "rz":
        return whole
    raise ValueError(f"no such rounding: {rounding}")


class Scale:
    """ue8m0: code b is 2^(b - 127), ff is NaN; no sign, no zero. What is at or below 2^-127 gives 00. The ISA does not
    say what a negative number gives: here it is NaN."""
    name, width, canonical_nan, largest = "ue8m0", 8, 0xff, 0xfe

    @staticmethod
    def decode(bits):
        return NOT_A_NUMBER if bits == 0xff else finite(False, 1, bits - 127)

    @staticmethod
    def encode(number, rounding, saturate=False):
        if number.kind == NAN or number.negative:
            return 0xff
        if number.kind == INFINITE:
            return 0xfe if saturate else 0xff
        if number.significand == 0:
            return 0
        lead = number.significand.bit_length() - 1
        exact = number.significand == 1 << lead
        code = lead + number.exponent + 127
        if rounding == "rp":
            code += not exact
        elif rounding != "rz":
            raise ValueError(f"no such rounding: {rounding}")
        return max(0, code) if code < 0xff else 0xfe if saturate else 0xff


FORMATS = {form.name: form for form in (
    Format("f64", 11, 52, 1023, "ieee", 0x7fffffffffffffff),
    Format("f32", 8, 23, 127, "ieee", 0x7fffffff),
    Format("f16", 5, 10, 15, "ieee", 0x7fff),
    Format("bf16", 8, 7, 127, "ieee", 0x7fff),
    Format("tf32", 8, 10, 127, "ieee", 0x3ffff),
    Format("e5m2", 5, 2, 15, "ieee", 0x7f),
    Format("e4m3", 4, 3, 7, "nan", 0x7f),
    Format("e3m2", 3, 2, 3, "none", 0),
    Format("e2m3", 2, 3, 1, "none", 0),
    Format("e2m1", 2, 1, 1, "none", 0),
    Scale)}

# Bits of each type that a register or a place in memory may have.
WIDTHS = {"pred": 1, **{f"{letter}{width}": width for letter in "bus" for width in (8, 16, 32, 64)},
          "b128": 128, "f16": 16, "bf16": 16, "f32": 32, "f64": 64, "f16x2": 32, "bf16x2": 32, "f32x2": 64, "tf32": 32}


def signed(value, width):
    """The two's complement number in the low bits of a value."""
    sign = 1 << (width - 1)
    return ((value & (2 * sign - 1)) ^ sign) - sign
