# SPDX-License-Identifier: MIT
"""The inputs at which a conversion can go wrong, as records of 64-bit words for the kernels of calls.py: every value
and every midpoint of the target, each with the source's numbers on both sides; the edges of the source; NaNs with
payloads, signalling ones too; powers of two far outside the range; random numbers. Of formats of 16 bits and more
Inputs has some values, and all near their edges; EveryCode has all of one such format, a stretch at a time.
"""

import random
import re
from array import array
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from ptx.calls import OVERFLOWS, ROUNDINGS
from ptx.values import FORMATS, finite

WORD = 0xffffffff
SPECIALS = {
    "f32": [0x00000000, 0x00000001, 0x00000002, 0x00007fff, 0x00008000, 0x00008001, 0x003fffff, 0x00400000, 0x00400001,
            0x007fffff, 0x00800000, 0x7effffff, 0x7f000000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7f801fff, 0x7f802000,
            0x7f80ffff, 0x7f810000, 0x7fa5a5a5, 0x7fbfffff, 0x7fc00000, 0x7fe00000, 0x7fffe000, 0x7fffffff],
    "f64": [0x0000000000000000, 0x0000000000000001, 0x000fffffffffffff, 0x0010000000000000, 0x0010000000000001,
            0x369fffffffffffff, 0x36a0000000000000, 0x36a0000000000001, 0x7fefffffffffffff, 0x7ff0000000000000,
            0x7ff0000000000001, 0x7ff000001fffffff, 0x7ff0000020000000, 0x7ff00000ffffffff, 0x7ff0000100000000,
            0x7ff5a5a5a5a5a5a5, 0x7ff7ffffffffffff, 0x7ff8000000000000, 0x7fffffffffffffff],
    "f16": [0x0000, 0x0001, 0x0002, 0x03ff, 0x0400, 0x7bff, 0x7c00, 0x7c01, 0x7d55, 0x7dff, 0x7e00, 0x7fff],
}


@dataclass(frozen=True)
class Target:
    """A row of the library's table of formats: its numbers by magnitude code, the one past the largest too."""
    name: str
    sign_bits: int
    exponent_bits: int
    mantissa_bits: int
    bias: int
    specials: str

    @property
    def width(self):
        return self.sign_bits + self.exponent_bits + self.mantissa_bits

    @property
    def largest(self):
        ones = (1 << (self.exponent_bits + self.mantissa_bits)) - 1
        return ones - {"IEEE": 1 << self.mantissa_bits, "FN": 1, "E8M0": 1, "FNUZ": 0, "FINITE": 0}[self.specials]

    def twice(self, code):
        """(significand, exponent) of a code, with an even significand."""
        field, mantissa = code >> self.mantissa_bits, code & ((1 << self.mantissa_bits) - 1)
        hidden = int(field > 0 or self.specials == "E8M0") << self.mantissa_bits
        lowest = field if self.specials == "E8M0" else max(field, 1)
        return 2 * (hidden | mantissa), lowest - self.bias - self.mantissa_bits - 1

    def midpoint(self, code):
        """(significand, exponent) halfway to the next code."""
        (low, exponent), (high, next_exponent) = self.twice(code), self.twice(code + 1)
        return (low + (high << (next_exponent - exponent))) // 2, exponent

    def points(self, codes):
        return [point for code in codes for point in (self.twice(code), self.midpoint(code))]

    def codes(self, most, generator):
        """All magnitudes of a small format; else the edges, powers of two and some random ones."""
        if self.largest < 256:
            return range(self.largest + 1)
        normal = 1 << self.mantissa_bits
        found = {edge + step for edge in (0, normal, self.largest) for step in range(-3, 4)}
        found |= {field << self.mantissa_bits for field in range(1 << self.exponent_bits)
                  if field % (1 << self.exponent_bits >> 4) == 0}
        found |= {generator.randrange(self.largest) for _ in range(most)}
        return sorted(code for code in found if 0 <= code <= self.largest)


def targets_of(api):
    """The formats of the table in format.h, and f32."""
    rows = re.findall(r"ROW\((\w+), \w+, (\d+), (\d+), (\d+), (\d+), (\w+), \w+\)", api.macros["MPNUM_FORMATS"][0][1])
    assert rows, "MPNUM_FORMATS is not as expected"
    found = [Target(name, *map(int, numbers), specials) for name, *numbers, specials in rows]
    return {target.name: target for target in [*found, Target("f32", 1, 8, 23, 127, "IEEE")]}


def around(form, points):
    """Bits of a source's number at each point, or below it, and of those next to that."""
    found = [form.encode(finite(False, *point), "rz") for point in points]
    return [bits + step for bits in found for step in (-1, 0, 1)]


def both_signs(form, magnitudes):
    magnitudes = dict.fromkeys(bits for bits in magnitudes if 0 <= bits < form.sign_bit)
    return [bits | sign for bits in magnitudes for sign in (0, form.sign_bit)]


class Inputs:
    """dense: more of everything."""

    def __init__(self, api, is_dense=False):
        self.targets, self.is_dense = targets_of(api), is_dense
        self.enumerators = api.enumerators

    @lru_cache(maxsize=None)
    def reals(self, source, target_name):
        """Bits of source numbers for a target, both signs."""
        target, form = self.targets[target_name], FORMATS[source]
        generator = random.Random(f"{source} to {target_name}")
        points = target.points(target.codes(500 if self.is_dense else 60, generator))
        found = SPECIALS[source] + around(form, points)
        if source == "f64" and self.is_dense:
            narrow = [FORMATS["f32"].encode(finite(False, *point), "rz") for point in points]
            found += [form.encode(FORMATS["f32"].decode(bits + step)) for bits in narrow for step in (0, 1)]
        fields = range(0, 1 << form.exponent_bits, 1 if self.is_dense else 1 << max(form.exponent_bits - 5, 0))
        found += [field << form.mantissa_bits | 1 << form.mantissa_bits >> 1 for field in fields]
        found += [generator.getrandbits(form.width - 1) for _ in range(500 if self.is_dense else 40)]
        # Any bits between one value of the target and the next.
        low, high = [form.encode(finite(False, *target.twice(code)), "rz") for code in (1, target.largest)]
        found += [generator.randint(low, high) for _ in range(500 if self.is_dense else 100)]
        return both_signs(form, found)

    @lru_cache(maxsize=None)
    def codes(self, name):
        """Codes to decode, with bits that are not the format's set as well."""
        if name == "f64":
            return self.reals("f64", "f32")
        if name == "f32":
            return self.reals("f32", "f16")
        target = self.targets[name]
        if target.width <= 8 or (target.width == 16 and self.is_dense):
            return list(range(1 << max(target.width, 8)))
        generator = random.Random(name)
        bits = 16 if target.width == 16 else 32
        low = bits - target.width
        found = [code << low for code in target.codes(400, generator)]
        infinity = target.largest + 1 << low
        found += [infinity, infinity | 1, infinity + (1 << low), infinity | (1 << bits - 1) - 1]
        found += [code | generator.getrandbits(low) for code in found] if low else []
        found = list(dict.fromkeys(found))
        return [code | sign for code in found for sign in (0, 1 << bits - 1)]

    def records(self, call):
        """The words for a call: one for each argument, record after record."""
        records = self.rows(call)
        assert records, f"{call.function}: no inputs for its arguments"
        return array("Q", [word for record in records for word in record])

    def rows(self, call):
        kinds, generator = call.kinds, random.Random(call.function)
        name = re.fullmatch(r"mpnum_(?:(\w+?)_to_(\w+?)|\w+)(_round|_sr|_rz|_ru|_rna)?(_sat)?(_x\d)?", call.function)
        source, target = name[1], name[2]
        if kinds[0] == "mpnum_format":
            return self.generic_rows(call, generator)
        if kinds[-2:] == ["uint64_t", "uint64_t"]:
            return self.block_rows(kinds.count("float"), generator)
        if "_pack_" in call.function or set(kinds) <= {"float", "double"}:
            words = self.scalars(kinds[0], source, target)
            return [[words[(place + lane * (len(words) // len(kinds) + 1)) % len(words)] for lane in range(len(kinds))]
                    for place in range(len(words))]
        if kinds[1:] == ["uint32_t"]:
            ends = [0, 1, WORD, 0x80000000, 0x7fffffff]
            return [[bits, word] for place, bits in enumerate(self.reals(source, target))
                    for word in (ends[place % len(ends)], generator.getrandbits(32))]
        if kinds[1:] == ["mpnum_rounding", "mpnum_overflow", "uint32_t"]:
            return self.mode_rows(call, source, target, generator)
        if len(kinds) == 1:
            return [[word] for word in self.packed(kinds[0], source, target, generator)]
        if kinds[1:] == ["int"]:
            count = int(re.search(r"x(\d)$", kinds[0])[1])
            return [[word, index] for word in self.packed(kinds[0], None, None, generator)[:200]
                    for index in range(count)]
        return []

    def scalars(self, kind, source, target):
        return self.reals(source, target) if kind in ("float", "double") and target in self.targets else self.codes(
            source or ("f32" if kind == "float" else kind.removeprefix("mpnum_")))

    def mode_rows(self, call, source, target, generator):
        """Each input in every mode, for the kernel that takes modes; the constants' kernel has them all by itself."""
        reals = self.reals(source, target)
        if call.results > 1:
            return [[bits, 0, 0, generator.getrandbits(32)] for bits in (reals if self.is_dense else reals[::3])]
        return [[bits, rounding, overflow, generator.getrandbits(32)] for place, bits in enumerate(reals)
                for rounding in range(len(ROUNDINGS)) for overflow in range(len(OVERFLOWS))
                if (place // 2 + rounding) % 2 == overflow]

    def packed(self, kind, source, target, generator):
        """Words of a packed type, or of one small number: each code in each place, with others beside it."""
        shape = re.fullmatch(r"mpnum_(\w+?)(?:x(\d))?", kind)
        codes, count = self.codes(shape[1]), int(shape[2] or 1)
        if source == "f16" and target in self.targets:
            codes = codes if self.is_dense else self.reals("f16", target)
        if count == 1:
            return codes
        width = {"f16": 16, "bf16": 16, "e2m1": 4}.get(shape[1], 8)
        if width < 8 or shape[1] in ("e3m2", "e2m3") and count == 4:
            width = self.targets[shape[1]].width
        codes = sorted({code & ((1 << width) - 1) for code in codes})
        orders = [generator.sample(codes, len(codes)) for _ in range(count)]
        return [sum(order[place] << lane * width for lane, order in enumerate(orders)) for place in range(len(codes))]

    def block_rows(self, count, generator):
        """Floats of a block, a seed and the number of the block: numbers of one size, subnormal ones too; of every size;
        with one or a few that are Inf or NaN."""
        found = []
        for place in range(240 if self.is_dense else 40):
            high = generator.choice([0, 0x00800000, 0x3f800000, 0x7e000000])
            block = [high + generator.getrandbits(23) | generator.getrandbits(1) << 31 for _ in range(count)]
            if place % 4 == 1:
                block = [generator.choice(self.reals("f32", "f16")) for _ in range(count)]
            for _ in range(place % 4 if place % 8 > 4 else 0):
                block[generator.randrange(count)] = generator.choice(SPECIALS["f32"][-8:]) | generator.getrandbits(1) << 31
            found.append([*block, generator.getrandbits(64), generator.getrandbits(generator.choice([4, 64]))])
        return found

    def generic_rows(self, call, generator):
        """mpnum_encode and its kin: formats as run-time arguments."""
        found = []
        for target in self.targets:
            number = self.enumerators[f"MPNUM_TYPE_{target.upper()}"]
            if call.kinds[1] == "uint32_t":
                found += [[number, code & WORD] for code in generator.sample(self.codes(target), 100)]
                continue
            reals = self.reals({"float": "f32", "double": "f64"}[call.kinds[1]], target)
            for bits, (rounding, overflow) in product(
                    generator.sample(reals, 400 if self.is_dense else 30), product(range(7), range(2))):
                found.append([number, bits, rounding, overflow, generator.getrandbits(32)])
        return found


class EveryCode(Inputs):
    """Of a type of 16 bits, or of tf32: each value and each midpoint with the source's numbers on both sides, and each
    code, of a stretch of its magnitudes. Its own calls alone."""

    def __init__(self, api, name, magnitudes):
        super().__init__(api, is_dense=True)
        self.name, self.magnitudes = name, magnitudes

    def takes(self, call):
        own = rf"mpnum_(f(32|64)_to_{self.name}|{self.name}_to|(un)?pack_{self.name})(_|$)"
        return bool(re.match(own, call.function))

    @lru_cache(maxsize=4)
    def reals(self, source, target_name):
        target, form = self.targets[target_name], FORMATS[source]
        codes = [code for code in self.magnitudes if code <= target.largest]
        return both_signs(form, SPECIALS[source] + around(form, target.points(codes)))

    @lru_cache(maxsize=4)
    def codes(self, name):
        """Of tf32 with and without bits below the format's."""
        width = self.targets[name].width
        bits, generator = 16 if width == 16 else 32, random.Random(self.magnitudes.start)
        low = bits - width
        found = [code << low | extra for code in self.magnitudes
                 for extra in ([0, generator.getrandbits(low)] if low else [0])]
        return [code | sign for code in found for sign in (0, 1 << bits - 1)]
