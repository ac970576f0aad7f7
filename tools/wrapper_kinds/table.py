# SPDX-License-Identifier: MIT
"""The formats: rows of MPNUM_FORMATS, and what these do not say."""

import math
import re
from string import Template

# The formats that have every form under a name of its own. The others have conversions from and to f32 and what an
# instruction or a dense layout is for; the functions that take a format do the rest.
MAIN = ("tf32", "bf16", "f16", "e5m2", "e4m3")
# Roundings beside nearest even that have functions of their own, where hardware or practice has them.
ROUNDINGS = {"tf32": ["rz", "rna"], "bf16": ["rz"], "f16": ["rz"], "e8m0": ["ru", "rz"]}
# Types that hold several codes: {how many: bits of one}.
PACKED = {"bf16": {2: 16}, "f16": {2: 16}, "e5m2": {2: 8, 4: 8}, "e4m3": {2: 8, 4: 8}, "e8m0": {2: 8}}
PACKED_BY_WIDTH = {6: {2: 8, 4: 6}, 4: {2: 4, 4: 4}}
HEADERS = {"e2m1": "fp4.h"}  # which are not named after their format

OVERFLOWS = (("", "IEEE"), ("_sat", "SATURATE"))

LISTS = """\
/* ROW(name, NAME, special values, roundings with names, packed forms): the formats with
 * every form under a name of its own. Packed: PAIRS, FOURS too in a word, or in BYTES. */
#define MAIN_FORMATS(ROW)$main
/* The others. */
#define OTHER_FORMATS(ROW)$others
"""


class Format:
    def __init__(self, row):
        self.name, self.NAME, *numbers, self.specials, nan = (word.strip() for word in row.split(","))
        self.sign_bits, self.exponent_bits, self.mantissa_bits, self.bias = map(int, numbers)
        self.width = self.sign_bits + self.exponent_bits + self.mantissa_bits
        self.bits = next(bits for bits in (8, 16, 32) if self.width <= bits)  # of its storage
        self.is_main = self.name in MAIN
        self.has_queries = self.is_main and self.name != "tf32"  # a value of which is a float, with a float's queries
        self.header = "types/" + HEADERS.get(self.name, f"{self.name}.h")
        self.roundings = ROUNDINGS.get(self.name, [])
        self.packed = PACKED.get(self.name, PACKED_BY_WIDTH.get(self.width, {}))
        self.dense = {4: f"{self.name}x2", 6: f"{self.name}x4"}.get(self.width)
        # The suffixes and enumerators of overflow: a format without Inf and NaN always saturates.
        self.overflows = OVERFLOWS[1:] if self.specials == "FINITE" else OVERFLOWS
        self.words = {"T": self.name, "NAME": self.NAME}

    def packing(self):
        """In a word, for lists."""
        if 4 not in self.packed:
            return "PAIRS" if self.packed else "NONE"
        return "BYTES" if self.width == 6 else "FOURS"

    def limits(self):
        """The macros of float.h: {word: text}."""
        ones = 2 ** (self.exponent_bits + self.mantissa_bits) - 1
        has_zero = self.specials != "E8M0"
        past_largest = {"IEEE": 2 ** self.mantissa_bits, "FN": 1, "E8M0": 1, "FNUZ": 0, "FINITE": 0}[self.specials]
        largest = self.value(ones - past_largest)
        smallest = self.value(2 ** self.mantissa_bits if has_zero else 0)
        if not self.is_main:
            return {"MAX": float_text(largest)}
        return {"MAX": float_text(largest), "MIN": float_text(smallest),
                "TRUE_MIN": float_text(self.value(1 if has_zero else 0)),
                "EPSILON": float_text(2.0 ** -self.mantissa_bits)}

    def value(self, code):
        exponent, mantissa = divmod(code, 2 ** self.mantissa_bits)
        implicit = 2 ** self.mantissa_bits
        if exponent == 0 and self.specials != "E8M0":
            exponent, implicit = 1, 0
        return math.ldexp(implicit + mantissa, exponent - self.bias - self.mantissa_bits)


def float_text(x):
    """A literal that gives x exactly: all digits where they are few, else the 9 that a float needs."""
    return (repr(x) if len(repr(x).partition("e")[0]) <= 13 else f"{x:.8e}") + "f"


def read(include):
    """The rows of MPNUM_FORMATS."""
    text = next(include.rglob("format.h")).read_text()
    rows = re.search(r"#define MPNUM_FORMATS\(ROW\)((?:.*\\\n)*.*\n)", text)[1]
    return [Format(row) for row in re.findall(r"ROW\(([^()]*)\)", rows)]


def x_macro(rows):
    return "".join(f" \\\n {row}" for row in rows)


def lists_text(formats):
    """The X-macros of the formats, for whoever enumerates them."""
    def rows(is_main):
        return x_macro(f"ROW({f.name}, {f.NAME}, {f.specials}, {'_'.join(f.roundings).upper() or 'NONE'}, {f.packing()})"
                       for f in formats if f.is_main == is_main)
    return Template(LISTS).substitute(main=rows(True), others=rows(False))
