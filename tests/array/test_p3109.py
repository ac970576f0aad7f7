#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Formats and projections of P3109 against the rules of its report of 26 June 2026, written again in integers of Python.

    test_p3109.py PATH-OF-CODES-LIBRARY [all]

P3109 names a clone of github.com/P3109/Public: its tables have the value of each code of each format. "all" takes all codes and,
in formats of 8 bits and fewer, all their surroundings.
"""

import ctypes
import itertools
import math
import os
import random
import struct
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap

OK, WIDTH, RANGE, SYNTAX, NULL, TYPE, OVERLAP, ARGUMENT = 0, 2, 4, 5, 10, 11, 14, 1
ROUNDINGS = ["NearestTiesToEven", "NearestTiesToAway", "TowardPositive", "TowardNegative", "TowardZero", "ToOdd"]
SATURATIONS = ["SatFinite", "SatPropagate", "SatNone"]
INF, NAN = math.inf, math.nan

library = ctypes.CDLL(sys.argv[1])
TAKES_ALL = sys.argv[2:] == ["all"]
library.codes_p3109_size.restype = library.codes_format_size.restype = ctypes.c_size_t
library.codes_random.restype = ctypes.c_uint32


class Format:
    """A format of the report by its parameters; values are pairs of an integer and a power of two, or Inf or NaN."""

    def __init__(self, width, precision, is_signed, is_extended):
        self.width, self.precision, self.is_signed, self.is_extended = width, precision, is_signed, is_extended
        self.name = f"Binary{width}p{precision}{'s' if is_signed else 'u'}{'e' if is_extended else 'f'}"
        self.bias = 1 << (width - precision - 1 if is_signed else width - precision)
        self.nan = 1 << (width - 1) if is_signed else (1 << width) - 1
        self.inf = ((1 << (width - 1)) - 1 if is_signed else (1 << width) - 2) if is_extended else None
        self.largest = (self.nan if self.inf is None else self.inf) - 1
        # Whether each value is a normal float: what mpnum_format holds.
        self.is_held = 1 - self.bias >= -126 and (self.largest >> (precision - 1)) - self.bias <= 127

    def magnitude(self, code):
        """The report's Decode of a code without sign, that is no Inf and no NaN."""
        trailing, exponent = code % (1 << (self.precision - 1)), code >> (self.precision - 1)
        if exponent == 0:
            return trailing, 2 - self.precision - self.bias
        return trailing + (1 << (self.precision - 1)), exponent - self.bias + 1 - self.precision

    def value(self, code):
        if code == self.nan:
            return NAN
        sign = -1 if self.is_signed and code > self.nan else 1
        code -= self.nan if sign < 0 else 0
        if code == self.inf:
            return sign * INF
        number, power = self.magnitude(code)
        return sign * math.ldexp(number, power)

    def project(self, x, rounding, saturation, bits=0, number=0):
        """The report's Project: RoundToPrecision, Saturate, Encode."""
        if x != x:
            return self.nan
        sign = -1 if x < 0 else 1
        if x in (INF, -INF):
            size = None  # infinite
        else:
            over, under = abs(x).as_integer_ratio()
            size = self.round(over, 1 - under.bit_length(), sign, rounding, bits, number) if over else 0
        return self.encode(sign, self.saturate(size, sign, rounding, saturation))

    def round(self, over, power, sign, rounding, bits, number):
        """RoundToPrecision of over * 2^power, as a code that counts on above the largest."""
        place = max(over.bit_length() - 1 + power, 1 - self.bias) - self.precision + 1
        down = place - power
        whole, rest, unit = (over >> down, over & ((1 << down) - 1), 1 << down) if down > 0 else (over << -down, 0, 1)
        if self.precision > 1:
            is_even = whole % 2 == 0
        else:
            is_even = whole == 0 or (place + self.bias) % 2 == 0
        if rounding.startswith("Stochastic"):
            if rounding[10] == "A":
                is_away = (rest << bits) // unit + number >= 1 << bits
            elif rounding[10] == "B":
                is_away = (rest << (bits + 1)) // unit + 2 * number + 1 >= 1 << (bits + 1)
            else:
                floor, twice = (rest << bits) // unit, (rest << bits) % unit * 2
                nearest = floor if twice < unit or (twice == unit and floor % 2 == 0) else floor + 1
                is_away = nearest + number >= 1 << bits
        else:
            is_away = {"TowardZero": False, "TowardPositive": rest > 0 and sign > 0,
                       "TowardNegative": rest > 0 and sign < 0, "NearestTiesToAway": 2 * rest >= unit,
                       "NearestTiesToEven": 2 * rest > unit or (2 * rest == unit and not is_even),
                       "ToOdd": rest > 0 and is_even}[rounding]
        whole += is_away
        if whole < 1 << (self.precision - 1):
            return whole
        exponent = place + self.precision - 1 + whole.bit_length() - self.precision  # of the leading bit
        trailing = (whole >> (whole.bit_length() - self.precision)) - (1 << (self.precision - 1))
        return trailing + ((exponent + self.bias) << (self.precision - 1))

    def saturate(self, size, sign, rounding, saturation):
        """Saturate, its lines in the report's order; None is Inf, "NaN" NaN, size a code."""
        is_inf, is_above = size is None, sign > 0
        lowest = self.largest if self.is_signed else 0
        if not is_inf and size <= (self.largest if is_above else lowest):
            return size
        if saturation == "SatFinite":
            return self.largest if is_above else lowest
        if saturation == "SatPropagate":
            if is_inf and self.is_extended and (is_above or self.is_signed):
                return None
            return self.largest if is_above else lowest
        if is_inf:
            if is_above:
                return None if self.is_extended else self.largest
            if self.is_signed:
                return None if self.is_extended else lowest
            return "NaN"
        if rounding == "ToOdd" and not self.is_signed and self.is_extended and is_above:
            return self.largest
        if rounding in ("TowardZero", "TowardNegative") and is_above:
            return self.largest
        if rounding in ("TowardZero", "TowardPositive") and not is_above:
            return lowest
        if not is_above:
            if not self.is_signed:
                return "NaN"
            return None if self.is_extended else lowest
        return None if self.is_extended else self.largest

    def encode(self, sign, size):
        if size == "NaN":
            return self.nan
        code = self.inf if size is None else size
        return code + (self.nan if sign < 0 and code else 0)


FORMATS = [Format(width, precision, is_signed, is_extended)
           for width in range(3, 17) for is_signed in (True, False)
           for precision in range(1, width + (not is_signed)) for is_extended in (True, False)]
HELD = [format for format in FORMATS if format.is_held]


class Projection:
    def __init__(self, name, rounding="NearestTiesToEven", saturation="SatNone"):
        self.handle = ctypes.create_string_buffer(library.codes_p3109_size())
        self.format = ctypes.create_string_buffer(library.codes_format_size())
        self.status = library.codes_p3109_make(self.handle, *(None if text is None else text.encode("latin-1")
                                                              for text in (name, rounding, saturation)))
        library.codes_p3109_format(self.handle, self.format)

    def encode(self, source, words):
        codes = (ctypes.c_uint32 * len(source))()
        library.codes_p3109_encode(self.handle, (ctypes.c_double * len(source))(*source),
                                   (ctypes.c_uint32 * len(words))(*words), codes, ctypes.c_size_t(len(source)))
        return list(codes)

    def convert(self, format, dst, src, count, seed=0, offset=0):
        return library.codes_p3109_array(self.handle, dst, format, src, ctypes.c_size_t(count), ctypes.c_uint64(seed),
                                         ctypes.c_uint64(offset))


def format_f32():
    handle = ctypes.create_string_buffer(library.codes_format_size())
    assert library.codes_format_named(handle, b"f32") == 0
    return handle


def to_f32(x):
    """x cut to a float, away from Inf."""
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.copysign(struct.unpack("f", b"\xff\xff\x7f\x7f")[0], x)


def sources(format, generator):
    """Doubles at, between and just beside values of the format and beyond, of both signs, and what is special."""
    found = [0.0, -0.0, INF, -INF, NAN, -NAN, 5e-324, -5e-324, 1.7976931348623157e308, -1e300]
    if TAKES_ALL and format.width <= 8:
        codes = range(format.largest + 2)
    else:
        codes = [0, 1, format.largest, format.largest - 1, generator.randrange(format.largest + 2)]
    for code in codes:
        low, high = (math.ldexp(*format.magnitude(one)) for one in (code, code + 1))
        middle = (low + high) / 2
        part = low + (high - low) * generator.getrandbits(10) / 1024
        for x in (low, middle, math.nextafter(middle, 0), math.nextafter(middle, INF), math.nextafter(high, 0), part):
            found.append(x if generator.random() < 0.6 else -x)
    return found


def roundings(generator):
    stochastic = [(f"Stochastic{variant}{bits}", bits) for variant in "ABC" for bits in generator.sample(range(1, 33), 1)]
    return [(rounding, 0) for rounding in ROUNDINGS] + stochastic


def formats_are_those_whose_values_are_normal_floats():
    assert (len(FORMATS), len(HELD)) == (504, 342)
    for format in FORMATS:
        status = Projection(format.name).status
        assert status == (OK if format.is_held else RANGE), (format.name, status)


def parameters_are_as_good_as_names():
    """The same format, or the same status; and numbers that no name has."""
    named = {(format.width, format.precision, format.is_signed, format.is_extended): format for format in FORMATS}
    for key in itertools.product((-1, 0, 1, 2, *range(3, 18), 1 << 30), (-1, *range(18), 1 << 30), (True, False), (True, False)):
        made = ctypes.create_string_buffer(b"\x5a" * library.codes_format_size(), library.codes_format_size())
        status = library.codes_p3109_parameters(made, *(int(one) for one in key))
        format = named.get(key)
        assert status == (WIDTH if not format else OK if format.is_held else RANGE), (key, status)
        if status != OK:
            assert made.raw == b"\x5a" * len(made), key
            continue
        codes = (ctypes.c_uint32 * 256)(*[(1 << format.width) * i // 256 for i in range(256)])
        values = [(ctypes.c_double * 256)() for _ in range(2)]
        for by, to in zip((made, Projection(format.name).format), values):
            library.codes_decode_f64(by, codes, to, ctypes.c_size_t(256))
        assert bytes(values[0]) == bytes(values[1]), key
    assert library.codes_p3109_parameters(None, 8, 4, 1, 1) == NULL


def codes_decode_as_the_formula_says():
    for format in HELD:
        to, every = Projection(format.name), 1 if TAKES_ALL or format.width <= 10 else 61
        near = {code + step for code in (0, format.nan, 1 << format.width) for step in range(-5, 6)}
        chosen = sorted((near | set(range(0, 1 << format.width, every))) & set(range(1 << format.width)))
        count = len(chosen)
        codes, values = (ctypes.c_uint32 * count)(*chosen), (ctypes.c_double * count)()
        library.codes_decode_f64(to.format, codes, values, ctypes.c_size_t(count))
        for code, got in zip(chosen, values):
            want = format.value(code)
            assert struct.pack("d", got) == struct.pack("d", want) or (got != got and want != want), \
                f"{format.name}: {code:#x} is {got!r}, not {want!r}"


def codes_decode_as_the_tables_say():
    folder = os.environ.get("P3109")
    if not folder:
        raise tap.Skip("P3109 names no clone of github.com/P3109/Public")
    tables = {path.stem: path for path in Path(folder).rglob("Binary*p*.csv")}
    assert {format.name for format in FORMATS} <= set(tables), "not all tables are there"
    for format in HELD:
        rows = [line.split(",") for line in tables[format.name].read_text().splitlines()[1:]]
        assert [int(row[0], 16) for row in rows] == list(range(1 << format.width)), format.name
        for code, row in enumerate(rows):
            want, got = float.fromhex(row[1]), format.value(code)
            assert got == want or (got != got and want != want), f"{format.name}: {code:#x} is {got!r}, in the table {want!r}"


def numbers_go_where_the_report_says():
    generator = random.Random(3109)
    for format in HELD:
        for rounding, bits in roundings(generator):
            for saturation in SATURATIONS:
                source = sources(format, generator)
                source = source if TAKES_ALL else generator.sample(source, 14)
                words = [generator.getrandbits(32) if generator.random() < 0.7 else (1 << bits) - 1 for _ in source]
                got = Projection(format.name, rounding, saturation).encode(source, words)
                for x, word, code in zip(source, words, got):
                    want = format.project(x, rounding, saturation, bits, word & ((1 << bits) - 1))
                    assert code == want, f"{format.name} {rounding} {saturation}: {x!r} is {code:#x}, not {want:#x}"


def arrays_go_where_single_numbers_go():
    """From floats and from a format of P3109, in place, too, where that has codes of the same size and of others."""
    generator = random.Random(1)
    f32 = format_f32()
    for format in HELD if TAKES_ALL else HELD[::9] + [one for one in HELD if (one.width, one.precision) == (9, 2)]:
        for (rounding, bits), saturation in itertools.product(roundings(generator), SATURATIONS):
            to = Projection(format.name, rounding, saturation)
            words = ctypes.c_uint8 if format.width <= 8 else ctypes.c_uint16
            seed, offset = generator.getrandbits(64), generator.getrandbits(40)
            source = [to_f32(x) for x in sources(format, generator)]
            count = len(source)
            numbers = [library.codes_random(ctypes.c_uint64(seed), ctypes.c_uint64(offset + i)) >> (32 - bits) if bits else 0
                       for i in range(count)]
            memory = (ctypes.c_float * (count + 1))(*source, 7.0)
            dst = (words * (count + 1))(*[0x5A] * (count + 1))
            assert to.convert(f32, dst, memory, count, seed, offset) == OK
            assert dst[count] == 0x5A
            want = [format.project(x, rounding, saturation, bits, number) for x, number in zip(source, numbers)]
            assert list(dst[:count]) == want, (format.name, rounding, saturation, source)
            cut, wide = generator.randrange(count), ctypes.sizeof(words)
            parts = (words * (count + 1))(*[0x5A] * (count + 1))
            for first, size in ((0, cut), (cut, count - cut)):
                assert to.convert(f32, ctypes.byref(parts, first * wide), ctypes.byref(memory, first * 4), size, seed,
                                  offset + first) == OK
            assert list(parts) == list(dst), f"{format.name} {rounding} {saturation}: cut at {cut}"
            assert to.convert(f32, memory, memory, count, seed, offset) == OK
            assert bytes(memory)[:ctypes.sizeof(words) * count] == bytes(dst)[:ctypes.sizeof(words) * count], format.name
            # From another format, of a byte or two, to where it lies.
            other = generator.choice([one for one in HELD if one.width in (8, 16) and one.precision > one.width - 3])
            codes = [generator.getrandbits(other.width) for _ in range(count)]
            place = (ctypes.c_uint8 * (2 * count))()
            stored = ((ctypes.c_uint8 if other.width == 8 else ctypes.c_uint16) * count).from_buffer(place)
            stored[:] = codes
            assert to.convert(Projection(other.name).format, place, place, count, seed, offset) == OK
            want = [format.project(other.value(code), rounding, saturation, bits, number)
                    for code, number in zip(codes, numbers)]
            assert list((words * count).from_buffer(place)) == want, (format.name, rounding, saturation, other.name)


def arrays_of_other_types_are_rounded_by_few_bits_too():
    """By the sums that define it: an element takes the upper bits of its random word."""
    sys.path.append(str(Path(__file__).resolve().parents[1] / "convert"))
    from test_stochastic import F32_LEAST, FORMATS as TYPES, IEEE, SATURATE, cases, moves
    generator = random.Random(36)
    for type in TYPES:
        if not type.sign or not type.has_minus_zero or type.name == "f32":
            continue
        words = ctypes.c_uint32 if type.storage_shift else ctypes.c_uint16 if type.sign > 128 else ctypes.c_uint8
        places = [case for case in cases(type, generator, 24, F32_LEAST)]
        signs = [generator.random() < 0.5 for _ in places]
        source = [math.copysign(math.ldexp(number, exponent), -1 if is_less else 1) for (number, exponent, *_), is_less in zip(places, signs)]
        count = len(source)
        for variant, saturation in itertools.product("ABC", ("SatFinite", "SatNone")):
            bits, seed, offset = generator.randrange(1, 33), generator.getrandbits(64), generator.getrandbits(40)
            to, overflow = Projection("Binary8p4se", f"Stochastic{variant}{bits}", saturation), IEEE if saturation == "SatNone" else SATURATE
            overflow = overflow if type.name in ("e5m2", "f16", "bf16", "tf32") else SATURATE  # those with Inf
            ctypes.memmove(to.handle, type.handle, library.codes_format_size())
            dst = (words * count)()
            assert to.convert(format_f32(), dst, (ctypes.c_float * count)(*source), count, seed, offset) == OK
            for i, (_, _, code, part, below) in enumerate(places):
                number = library.codes_random(ctypes.c_uint64(seed), ctypes.c_uint64(offset + i)) >> (32 - bits)
                want = type.signed(code + moves(variant, part, below, bits, number), signs[i], overflow)
                assert dst[i] == want, f"{type.name} {variant}{bits} {saturation}: {source[i]!r} is {dst[i]:#x}, not {want:#x}"


def arrays_of_other_types_take_other_roundings_too():
    """f32, tf32 and bf16 are the upper 32, 19 and 16 bits of a float, rounded."""
    generator = random.Random(37)
    bits = [generator.getrandbits(32) & 0xbfffffff | generator.randrange(2) << 30 for _ in range(3000)]
    bits = [one for one in bits if one & 0x7f800000 != 0x7f800000 and one & 0x7fffffff < 0x7f7f0000]
    for (name, dropped, shift), rounding, saturation in itertools.product(
            (("f32", 0, 0), ("tf32", 13, 0), ("bf16", 16, 16)), ("NearestTiesToEven", "TowardZero"), ("SatFinite", "SatNone")):
        to = Projection("Binary8p4se", rounding, saturation)
        assert library.codes_format_named(to.handle, name.encode()) == OK
        dst = ((ctypes.c_uint16 if shift else ctypes.c_uint32) * len(bits))()
        assert to.convert(format_f32(), dst, (ctypes.c_uint32 * len(bits))(*bits), len(bits)) == OK
        for one, got in zip(bits, dst):
            half = (1 << dropped >> 1) - 1 + (one >> dropped & 1) if dropped and rounding == "NearestTiesToEven" else 0
            want = (one + half) >> dropped << dropped >> shift
            assert got == want, f"{name} {rounding} {saturation}: {one:#x} is {got:#x}, not {want:#x}"


def what_is_no_name_is_a_status():
    good = "Binary8p4se", "NearestTiesToEven", "SatNone"
    for place, texts, status in (
            (0, ["", "binary8p4se", "Binary", "Binary8", "Binary8p", "Binary8p4", "Binary8p4s", "Binary8p4se ", "Binary8p4es",
                 "Binary08p4se", "Binary8p04se", "Binary8p4xe", "Binary8p4ux", "Binary+8p4se", "Binary8p-4se", "Binary8q4se",
                 " Binary8p4se", "Binary{8, 4, s, e}", "Binary8p0se", "Binary4294967304p4se", "\xff"], SYNTAX),
            (0, ["Binary2p1se", "Binary1p1uf", "Binary17p4se", "Binary8p8se", "Binary8p9uf", "Binary32p24se"], WIDTH),
            (0, ["Binary16p1se", "Binary9p1uf", "Binary8p1uf", "Binary9p1se"], RANGE),
            (1, ["", "nearesttiestoeven", "NearestTiesToEvenX", "NearestTiesTo", "StochasticA", "StochasticA0", "StochasticA33",
                 "StochasticA321", "StochasticD8", "StochasticA08", "StochasticA8 ", "Stochastic", "StochasticA-1"], SYNTAX),
            (2, ["", "Sat", "satnone", "SatNoneX", "SatFin", "OvfInf"], SYNTAX),
            (0, [None], NULL), (1, [None], NULL), (2, [None], NULL)):
        for text in texts:
            names = list(good)
            names[place] = text
            made = Projection(*names)
            assert made.status == status, (names, made.status)
            assert not any(made.handle.raw), names
    assert library.codes_p3109_make(None, *(text.encode() for text in good)) == NULL


def bad_arrays_are_a_status_and_write_nothing():
    f32 = format_f32()
    for rounding, saturation in itertools.product(("NearestTiesToEven", "StochasticB4"), SATURATIONS):
        to = Projection("Binary8p4ue", rounding, saturation)
        memory = (ctypes.c_float * 8)(*[1.5] * 8)
        before = bytes(memory)
        none = ctypes.create_string_buffer(library.codes_format_size())
        assert to.convert(none, memory, memory, 8) == TYPE
        assert to.convert(f32, None, memory, 8) == to.convert(f32, memory, None, 8) == NULL
        assert to.convert(f32, None, None, 0) == OK
        assert to.convert(f32, ctypes.byref(memory, 3), memory, 8) == OVERLAP
        empty = Projection("", rounding, saturation)
        assert empty.convert(f32, memory, memory, 8) == TYPE
        size = library.codes_format_size()
        for change in b"\x07", b"\x00\x00\x00\x00X":  # a rounding and a saturation that do not exist
            to.handle[size:size + len(change)] = change
            assert to.convert(f32, memory, memory, 8) == ARGUMENT, change
        assert bytes(memory) == before


if __name__ == "__main__":
    sys.exit(tap.run(formats_are_those_whose_values_are_normal_floats, parameters_are_as_good_as_names, codes_decode_as_the_formula_says,
                     codes_decode_as_the_tables_say, numbers_go_where_the_report_says, arrays_go_where_single_numbers_go,
                     arrays_of_other_types_are_rounded_by_few_bits_too, arrays_of_other_types_take_other_roundings_too,
                     what_is_no_name_is_a_status, bad_arrays_are_a_status_and_write_nothing))
