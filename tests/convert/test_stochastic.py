#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stochastic rounding of 1 to 32 bits against the sums that P3109 defines it by, in integers of Python: of numbers, and of
arrays with each instruction set.

    test_stochastic.py PATH-OF-CODES-LIBRARY
"""

import ctypes
import random
import struct
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap

IEEE, SATURATE = range(2)
STOCHASTIC, ARGUMENT = 6, 1
MOST_BITS = {"A": 32, "B": 31, "C": 8}  # of a rounding
F32_LEAST, F64_LEAST = -149, -1074  # the last place of subnormals
FNUZ, P3109 = 2, 4

library = ctypes.CDLL(sys.argv[1])
library.codes_random.restype = ctypes.c_uint32


class Format:
    """Sign, exponent and mantissa bits, bias, the largest finite code, what is above it and its sign: by definition."""

    def __init__(self, name, sign_bits, exponent_bits, mantissa_bits, bias, max_code, above, signed_above=True,
                 specials=None, has_zero=True, storage_shift=0):
        self.name, self.mantissa_bits, self.bias = name, mantissa_bits, bias
        self.sign = sign_bits << (exponent_bits + mantissa_bits)
        self.max_code, self.above, self.signed_above = max_code, above, signed_above
        self.has_zero, self.storage_shift, self.has_minus_zero = has_zero, storage_shift, specials is None
        self.handle = ctypes.create_string_buffer(library.codes_format_size())
        if specials is None:
            assert library.codes_format_named(self.handle, name.encode()) == 0
        else:
            assert library.codes_format_make(self.handle, sign_bits, exponent_bits, mantissa_bits, bias, specials) == 0

    def value(self, code):
        """An integer and a power of two; codes above the largest count on."""
        field, fraction = code >> self.mantissa_bits, code & ((1 << self.mantissa_bits) - 1)
        is_normal = field > 0 or not self.has_zero
        exponent = (field if is_normal else 1) - self.bias - self.mantissa_bits
        return (fraction | 1 << self.mantissa_bits if is_normal else fraction), exponent

    def signed(self, code, negative, overflow):
        """The stored code."""
        if code > self.max_code:
            if overflow == SATURATE or self.above is None:
                code = self.max_code
            else:
                return (self.above | (self.sign if negative and self.signed_above else 0)) << self.storage_shift
        if code or self.has_minus_zero:
            code |= self.sign if negative else 0
        return code << self.storage_shift


FORMATS = [
    Format("e4m3", 1, 4, 3, 7, 0x7E, 0x7F), Format("e5m2", 1, 5, 2, 15, 0x7B, 0x7C),
    Format("e2m1", 1, 2, 1, 1, 0x7, None), Format("f16", 1, 5, 10, 15, 0x7BFF, 0x7C00),
    Format("bf16", 1, 8, 7, 127, 0x7F7F, 0x7F80), Format("ue4m3", 0, 4, 3, 7, 0x7E, 0x7F),
    Format("tf32", 1, 8, 10, 127, 0x3FBFF, 0x3FC00, storage_shift=13),
    Format("e8m0", 0, 8, 0, 127, 0xFE, 0xFF, has_zero=False), Format("f32", 1, 8, 23, 127, 0x7F7FFFFF, 0x7F800000),
    Format("signed P3109 of 8 bits", 1, 3, 4, 4, 0x7E, 0x7F, specials=P3109),
    Format("one mantissa bit, high", 1, 6, 1, -60, 0x7F, 0x80, False, specials=FNUZ),
    Format("one mantissa bit, low", 1, 6, 1, 120, 0x7F, 0x80, False, specials=FNUZ),
]


ALL_TYPES = [one for one in FORMATS if one.has_minus_zero] + [
    Format("e3m4", 1, 3, 4, 3, 0x6F, 0x70), Format("e3m2", 1, 3, 2, 3, 0x1F, None), Format("e2m3", 1, 2, 3, 1, 0x1F, None),
    Format("e4m3fnuz", 1, 4, 3, 8, 0x7F, 0x80, False), Format("e5m2fnuz", 1, 5, 2, 16, 0x7F, 0x80, False)]
for fnuz in ALL_TYPES[-2:]:
    fnuz.has_minus_zero = False


def moves(variant, part, places, bits, number):
    """Whether part / 2^places of a gap goes up: the report's RoundAway."""
    def floor_of(power):
        return part << power >> places

    if variant == "A":
        return floor_of(bits) + number >= 1 << bits
    if variant == "B":
        return floor_of(bits + 1) + 2 * number + 1 >= 1 << (bits + 1)
    whole, rest = floor_of(bits), (part << bits) & ((1 << places) - 1)
    is_up = 2 * rest > 1 << places or (2 * rest == 1 << places and whole & 1)
    return whole + is_up + number >= 1 << bits


def least_that_moves(variant, part, places, bits):
    low, high = 0, 1 << bits
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if moves(variant, part, places, bits, middle) else (middle + 1, high)
    return low


def near(format, code, generator, digits, least):
    """Numbers from a code to the next, with digits significant binary digits and no place below least: part of the gap and
    places of that part."""
    top, exponent = format.value(code)
    next_top, next_exponent = format.value(code + 1)
    gap_places = min(exponent - least, digits - top.bit_length() if top else 1000)
    places = max(0, gap_places - (next_exponent > exponent and top == 0))
    ones = (1 << places) - 1
    parts = {0, 1 & ones, ones, 1 << max(places - 1, 0) & ones}
    if top == 0:  # far below the smallest: few digits, anywhere
        for _ in range(3):
            width = min(digits, places)
            parts.add(generator.getrandbits(width) >> generator.randrange(width) << generator.randrange(places - width + 1))
        parts = {part for part in parts if (part & -part).bit_length() > part.bit_length() - digits}
    for _ in range(3):
        few = generator.randrange(1, 34)
        if few <= places and top:
            part = generator.getrandbits(few) << (places - few)
            parts |= {part, max(part - 1, 0), part + 1 & ones}
    return [(top << places | part if top else part, exponent - places, part, places) for part in parts]


def cases(format, generator, digits, least):
    """A source, as integer and power of two, its code and what is beyond it of the gap."""
    top = format.max_code
    codes = range(top + 2) if top < 256 else [0, 1, 2, top - 1, top, top + 1, 1 << format.mantissa_bits,
                                             (1 << format.mantissa_bits) - 1] + [generator.randrange(top)
                                                                                for _ in range(25)]
    if not format.has_zero:
        yield from ((1, exponent, 0, 0, 0) for exponent in (-149, -140, -128))
    for code in codes:
        for number, exponent, part, places in near(format, code, generator, digits, least):
            if number.bit_length() + exponent <= 128:
                yield number, exponent, code, part, places


def check(format, digits, least, generator):
    """All sources, each with a variant and a number of bits of chance, near the number where it begins to move."""
    call = library.codes_stochastic_f32 if least == F32_LEAST else library.codes_stochastic_f64
    letter = "f" if least == F32_LEAST else "d"
    for number, exponent, code, part, places in cases(format, generator, digits, least):
        source = float(number) * 2.0 ** max(exponent, -1000) * 2.0 ** min(exponent + 1000, 0)
        assert struct.unpack(letter, struct.pack(letter, source))[0] == source
        for variant in "ABC":
            for bits in generator.sample(range(1, 33), 2):
                if bits == 32 and variant != "A" and format.name == "f32" and code < 1 << 23:
                    continue  # the gap that the header names
                threshold = least_that_moves(variant, part, places, bits)
                negative, overflow = generator.random() < 0.5, generator.randrange(2)
                words = {threshold - 1, threshold, 0, (1 << bits) - 1, generator.getrandbits(bits)}
                for word in words:
                    if not 0 <= word < 1 << bits:
                        continue
                    above = generator.getrandbits(32) >> bits << bits  # not asked for, so without effect
                    got = call(format.handle, (ctypes.c_double if letter == "d" else ctypes.c_float)(
                        -source if negative else source), ctypes.c_char(variant.encode()), bits, overflow,
                        ctypes.c_uint32(word | above))
                    want = format.signed(code + moves(variant, part, places, bits, word), negative, overflow)
                    assert got & 0xFFFFFFFF == want, \
                        f"{format.name} {variant}{bits}: {source!r}, bits {word:#x}: {got & 0xFFFFFFFF:x}, not {want:x}"


def check_all(digits, least):
    generator = random.Random(digits)
    for format in FORMATS:
        if least == F64_LEAST or format.name != "f32":
            check(format, digits, least, generator)


def f32_goes_where_the_sums_say():
    check_all(24, F32_LEAST)


def f64_goes_where_the_sums_say():
    check_all(53, F64_LEAST)


def rounding_of(variant, bits):
    return library.codes_rounding(ctypes.c_char(variant.encode()), bits)


def critical(format, code, variant, bits, number, digits, least, generator):
    """A source above a code, just there, below or above where this number of this many bits begins to move it."""
    top, exponent = format.value(code)
    twice = 2 * ((1 << bits) - number) - (variant != "A")  # of the gap, over 2^(bits + 1)
    digits += -top.bit_length() if top else bits + 1 - twice.bit_length()
    places = max(0, min(exponent - least, digits))
    down = bits + 1 - places
    part = (twice >> down if down > 0 else twice << -down) + generator.choice((-1, 0, 1))
    part = min(max(part, 0), (1 << places) - 1)
    return top << places | part, exponent - places, part, places


def check_array(format, digits, variant, bits, generator):
    """Of f32 or f64: as mpnum_convert_array, of a format alone as mpnum_convert_array_formats, and one by one."""
    least, letter = (F32_LEAST, "f") if digits == 24 else (F64_LEAST, "d")
    rounding, overflow = rounding_of(variant, bits), generator.randrange(2)
    seed, offset, count = generator.getrandbits(64), generator.getrandbits(34), generator.randrange(40, 400)
    words = [library.codes_random(ctypes.c_uint64(seed), ctypes.c_uint64(offset + i)) for i in range(count)]
    source, want = [], []
    for word in words:
        code, number, negative = generator.randrange(format.max_code + 1), word >> (32 - bits), generator.random() < 0.5
        if generator.random() < 0.2:
            code = generator.choice((0, format.max_code))
        value, exponent, part, places = critical(format, code, variant, bits, number, digits, least, generator)
        if letter == "f" and value.bit_length() + exponent > 128:
            code = value = exponent = part = places = 0
            value, exponent = format.value(0)
        x = float(value) * 2.0 ** max(exponent, -1000) * 2.0 ** min(exponent + 1000, 0)
        assert struct.unpack(letter, struct.pack(letter, x))[0] == x
        source.append(-x if negative else x)
        want.append(format.signed(code + moves(variant, part, places, bits, number), negative, overflow))
    is_type = format in ALL_TYPES
    src = ((ctypes.c_float if letter == "f" else ctypes.c_double) * count)(*source)
    encode = library.codes_encode_f32 if letter == "f" else library.codes_encode_f64
    place, width = (ctypes.c_uint32 * count)(), max(format.max_code, format.sign << 1, format.above or 0).bit_length()
    encode(format.handle, src, place, ctypes.c_size_t(count), rounding, overflow, (ctypes.c_uint32 * count)(*words))
    assert list(place) == want, f"{format.name} {variant}{bits} one by one"
    unit = ctypes.c_uint32 if format.storage_shift or format.name == "f32" else ctypes.c_uint16 if width > 9 else ctypes.c_uint8
    where = ctypes.c_size_t(count), rounding, overflow, ctypes.c_uint64(seed), ctypes.c_uint64(offset)
    for isa in range(8):
        if library.codes_isa_force(isa) != 0:
            continue
        for by_format in {False, True} if is_type and letter == "f" else {not is_type}:
            dst = (unit * count)()
            status = library.codes_array_formats(format.handle, dst, src, *where) if by_format else library.codes_array(
                format.name.encode(), dst, b"f32" if letter == "f" else b"f64", src, *where)
            assert status == 0 and list(dst) == want, f"{format.name} {variant}{bits} from {letter}, ISA {isa}: {status}"


def check_arrays(digits):
    generator = random.Random(digits)
    for format in dict.fromkeys(ALL_TYPES + (FORMATS if digits == 24 else [])):
        if digits == 24 and format.name == "f32":
            continue
        for variant, most in MOST_BITS.items():
            for bits in {1, generator.randrange(2, most), most}:
                check_array(format, digits, variant, bits, generator)


def arrays_of_f32_go_where_the_sums_say():
    check_arrays(24)


def arrays_of_f64_go_where_the_sums_say():
    check_arrays(53)


def other_variants_and_bits_are_refused():
    src = (ctypes.c_float * 40)(*[1.1] * 40)
    roundings = [rounding_of(variant, bits) for variant in "ABCD@a\0"
                 for bits in (-2147483648, -1, 0, 33, 64, 2147483647, MOST_BITS.get(variant, 0) + 1)]
    for rounding in roundings + [7, 32, 64, 96, 105, 127, 128, 134, 1 << 20 | 6, -1, -2147483648]:
        dst = (ctypes.c_uint8 * 40)(*range(40))
        for overflow in IEEE, SATURATE:
            where = ctypes.c_size_t(40), rounding, overflow, ctypes.c_uint64(1), ctypes.c_uint64(2)
            assert library.codes_array(b"e4m3", dst, b"f32", src, *where) == ARGUMENT, rounding
            assert library.codes_array_formats(FORMATS[0].handle, dst, src, *where) == ARGUMENT, rounding
            assert list(dst) == list(range(40)), rounding
    assert rounding_of("A", 32) == STOCHASTIC
    taken = {rounding_of(variant, bits) for variant, most in MOST_BITS.items() for bits in range(1, most + 1)}
    assert len(taken) == sum(MOST_BITS.values()), "two variants are one rounding"


def thirty_two_bits_of_a_are_the_usual_rounding():
    generator = random.Random(1)
    for format in FORMATS:
        for _ in range(1000):
            source = struct.unpack("f", struct.pack("I", generator.getrandbits(32)))[0]
            if generator.random() < 0.5:
                source = generator.uniform(-2, 2) * 2.0 ** generator.randrange(-20, 12)
                source = struct.unpack("f", struct.pack("f", source))[0]
            word = ctypes.c_uint32(generator.getrandbits(32))
            overflow = generator.randrange(2)
            usual = ctypes.c_uint32()
            library.codes_encode_f32(format.handle, ctypes.byref(ctypes.c_float(source)), ctypes.byref(usual),
                                     ctypes.c_size_t(1), STOCHASTIC, overflow, ctypes.byref(word))
            got = library.codes_stochastic_f32(format.handle, ctypes.c_float(source), ctypes.c_char(b"A"), 32, overflow,
                                               word)
            assert got & 0xFFFFFFFF == usual.value, f"{format.name}: {source!r}, {word.value:x}"


def numbers_outside_the_domain_are_the_nearest_inside():
    for bits, taken in (0, 1), (-1, 1), (33, 32), (2147483647, 32):
        for word in 0, 1, 0x80000000, 0xFFFFFFFF:
            one, other = (library.codes_stochastic_f32(FORMATS[0].handle, ctypes.c_float(1.1), ctypes.c_char(b"B"), count, IEEE,
                                                       ctypes.c_uint32(word)) for count in (bits, taken))
            assert one == other, (bits, word)


if __name__ == "__main__":
    sys.exit(tap.run(f32_goes_where_the_sums_say, f64_goes_where_the_sums_say, thirty_two_bits_of_a_are_the_usual_rounding,
                     numbers_outside_the_domain_are_the_nearest_inside, arrays_of_f32_go_where_the_sums_say,
                     arrays_of_f64_go_where_the_sums_say, other_variants_and_bits_are_refused))
