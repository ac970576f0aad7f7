# SPDX-License-Identifier: MIT
"""What tools/conformance writes into conformance/: topics of vectors from the slow references of tests/reference, which
share nothing with the headers, and from exact arithmetic here."""

import ctypes
import functools
import json
import lzma
import math
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = 1
ROUNDINGS = ["nearest_even", "toward_zero", "up", "down", "nearest_away", "to_odd"]
STOCHASTIC = 6
IEEE, SATURATE = 0, 1
OVERFLOWS = ["ieee", "saturate"]
IN_A_LINE = 256

# format: bits of a code, where it is defined
FORMATS = {
    "f32": (32, "IEEE 754-2019, 3.6, binary32"),
    "tf32": (32, "PTX ISA, alternate floating-point data formats: binary32 with 10 bits of mantissa, the low 13 bits 0"),
    "bf16": (16, "the upper half of binary32; PTX ISA, alternate floating-point data formats"),
    "f16": (16, "IEEE 754-2019, 3.6, binary16"),
    "e5m2": (8, "OCP OFP8 1.0, E5M2"),
    "e4m3": (8, "OCP OFP8 1.0, E4M3"),
    "e5m2fnuz": (8, "Noune et al., 8-bit Numerical Formats for Deep Neural Networks, 2022; float8_e5m2fnuz of ml_dtypes"),
    "e4m3fnuz": (8, "Noune et al., 8-bit Numerical Formats for Deep Neural Networks, 2022; float8_e4m3fnuz of ml_dtypes"),
    "e3m4": (8, "IEEE 754-2019, 3.4, in 8 bits; float8_e3m4 of ml_dtypes"),
    "e8m0": (8, "OCP MX 1.0, E8M0"),
    "e3m2": (6, "OCP MX 1.0, FP6 E3M2"),
    "e2m3": (6, "OCP MX 1.0, FP6 E2M3"),
    "e2m1": (4, "OCP MX 1.0, FP4 E2M1"),
    "ue5m3": (8, "__nv_fp8_ue5m3 of CUDA"),
    "ue4m3": (8, "PTX ISA, alternate floating-point data formats: e4m3 without sign"),
}
SOURCES = ["f32", "f64", "f16", "bf16"]
RULES = {
    "nearest_even": "IEEE 754-2019, 4.3.1, roundTiesToEven",
    "toward_zero": "IEEE 754-2019, 4.3.2, roundTowardZero",
    "up": "IEEE 754-2019, 4.3.2, roundTowardPositive",
    "down": "IEEE 754-2019, 4.3.2, roundTowardNegative",
    "nearest_away": "IEEE 754-2019, 4.3.1, roundTiesToAway",
    "to_odd": "Boldo and Melquiond, Emulation of FMA and Correctly Rounded Sums, 2008: an inexact value takes the neighbour "
              "with the odd code; a finite one never overflows",
    "stochastic": "away from zero exactly when floor(r 2^32) + random >= 2^32, r the discarded part as a share of the gap: "
                  "IEEE P3109, StochasticA",
    "ieee": "IEEE 754-2019, 7.4; OCP OFP8 1.0, conversion without saturation: NaN, with the sign of the value, stands for "
            "Inf where a format has none; formats without either saturate",
    "saturate": "OCP OFP8 1.0, conversion with saturation: the largest finite value of the sign, for Inf, too",
    "NaN": "the canonical quiet NaN, sign and payload dropped (PTX ISA, cvt); the largest value where there is none",
    "unsigned": "e8m0, ue5m3, ue4m3: of the magnitude, in all roundings; e8m0 has 2^-127 for what is below",
}


class Format(ctypes.Structure):
    """ref_format of tests/reference/reference.h."""
    _fields_ = ([("name", ctypes.c_char_p)]
                + [(name, ctypes.c_int) for name in ("sign_bits", "exponent_bits", "mantissa_bits", "bias", "storage_shift")]
                + [(name, ctypes.c_uint32) for name in ("max_code", "infinity_code", "nan_code")]
                + [(name, ctypes.c_int) for name in ("has_zero", "has_negative_zero", "keeps_payload")]
                + [("table", ctypes.c_void_p)])


class Bracket(ctypes.Structure):
    """ref_bracket."""
    _fields_ = [("low", ctypes.c_uint32), ("exact", ctypes.c_int), ("side", ctypes.c_int), ("fraction", ctypes.c_uint32)]


class Blocks(ctypes.Structure):
    """ref_blocks of tests/reference/block_reference.h."""
    _fields_ = [("element", Format), ("is_int8", ctypes.c_int), ("rule", ctypes.c_int), ("rows", ctypes.c_size_t),
                ("columns", ctypes.c_size_t), ("has_f32_scale", ctypes.c_int), ("is_stochastic", ctypes.c_int),
                ("amax_floor", ctypes.c_uint32), ("scale", ctypes.c_char_p)]


class Losses(ctypes.Structure):
    """ref_losses."""
    _fields_ = [(name, ctypes.c_uint64) for name in ("saturated", "underflowed", "nonfinite")] + [("amax", ctypes.c_uint32)]


def compiled(folder, name, sources, *more):
    """Sources of the tests as a shared object."""
    made = Path(folder) / f"{name}.so"
    subprocess.run(["cc", "-std=c11", "-O2", "-shared", "-fPIC", "-I", ROOT / "include", "-o", made,
                    *[ROOT / "tests" / source for source in sources], *more], check=True)
    return ctypes.CDLL(str(made))


def load_reference():
    with tempfile.TemporaryDirectory() as folder:
        made = compiled(folder, "reference", ["reference/reference.c", "reference/block_reference.c"])
    made.ref_format_named.restype = ctypes.POINTER(Format)
    for name in ("ref_value", "ref_midpoint", "ref_decode", "ref_widen"):
        getattr(made, name).restype = ctypes.c_uint64
    for name in ("ref_encode", "ref_fraction", "ref_block_scale", "ref_tensor_scale"):
        getattr(made, name).restype = ctypes.c_uint32
    made.ref_locate.restype = Bracket
    format, u32, u64, blocks = ctypes.POINTER(Format), ctypes.c_uint32, ctypes.c_uint64, ctypes.POINTER(Blocks)
    for name, arguments in {
        "ref_value": [format, u32], "ref_midpoint": [format, u32], "ref_locate": [format, u64], "ref_fraction": [format, u64],
        "ref_encode": [format, u64, ctypes.c_int, ctypes.c_int, u32], "ref_decode": [format, u32], "ref_widen": [u32],
        "ref_block_scale": [blocks, u32, u32], "ref_tensor_scale": [u32, u32],
    }.items():
        getattr(made, name).argtypes = arguments
    made.ref_int8.restype = Format
    return made


reference = load_reference()
SIGN_64, INFINITY_64 = 1 << 63, 0x7ff << 52


@functools.cache
def format_named(name):
    return reference.ref_format_named(name.encode())


def width_of(name):
    return 64 if name == "f64" else FORMATS[name][0]


def words(codes, name):
    """Bits in hexadecimal, each with all its digits."""
    one = f"%0{(width_of(name) + 3) // 4}x"
    return " ".join([one % code for code in codes])


def double_of(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def bits_of_double(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def bits_of_float(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def float_of(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def widened(source, word):
    """A number of a source as the bits of a double."""
    if source == "f64":
        return word
    return reference.ref_widen(word) if source == "f32" else reference.ref_decode(format_named(source), word)


# Formats.


def some_codes(format):
    """Magnitudes up to the one that would follow the largest: all of 8 bits and fewer; of others the first, middle and last
    of each binade, those of subnormals among them."""
    last = format.max_code + 1
    if last <= 256:
        return list(range(last + 1))
    m = format.mantissa_bits
    codes = {0, last - 1, last}
    for k in range(m):
        codes |= {1 << k, (1 << k) + (1 << k >> 1), (2 << k) - 1}
    for first in range(1 << m, last + 1, 1 << m):
        codes |= {first, first + (1 << m - 1), first + (1 << m) - 1}
    return sorted(code for code in codes if code <= last)


def nan_magnitudes(format):
    """Codes of NaN, or at the ends and in the middle of them where they are many."""
    sign = 1 << format.exponent_bits + format.mantissa_bits
    if format.nan_code == 0 or format.nan_code == sign:
        return []
    first, last = max(format.max_code, format.infinity_code) + 1, sign - 1
    middle = 1 << format.mantissa_bits - 1 if format.mantissa_bits else 0
    few = {first, last, format.nan_code, first - 1 + middle, first - 1 + middle - 1, first + middle}
    return sorted({code for code in few if first <= code <= last} if last - first > 256 else range(first, last + 1))


def value_text(name, word):
    x = double_of(reference.ref_decode(format_named(name), word))
    return "nan" if math.isnan(x) else "inf" if x == math.inf else "-inf" if x == -math.inf else hexfloat(x)


def hexfloat(x):
    """As %a of C has it, without zeros at the end."""
    sign, rest = ("-", x.hex()[1:]) if x.hex().startswith("-") else ("", x.hex())
    mantissa, exponent = rest.split("p")
    whole = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{sign}{whole if whole != '0x' else '0x0'}p{exponent}"


def formats_topic():
    yield {"fields": {"format": "its name", "source": "where it is defined", "bits": "of a code", "shape": "bits of sign, exponent and mantissa", "bias": "of the exponent",
                      "codes": "in hexadecimal", "values": "what they stand for, exactly, as hexadecimal floats of C99",
                      "max, min, true_min": "largest, smallest normal and smallest positive value",
                      "epsilon": "from 1 to the next value", "inf, nan": "codes of Inf, and of the NaN that conversions give; null: none"}}
    for name, (bits, source) in FORMATS.items():
        format = format_named(name).contents
        sign = 1 << format.exponent_bits + format.mantissa_bits if format.sign_bits else 0
        magnitudes = [code for code in some_codes(format) if code <= format.max_code]
        magnitudes += [format.infinity_code] * bool(format.infinity_code) + nan_magnitudes(format)
        codes = magnitudes + [sign | code for code in magnitudes if sign]
        shift = format.storage_shift
        codes = [code << shift for code in codes]
        value = lambda code: hexfloat(double_of(reference.ref_value(format_named(name), code)))
        yield {"format": name, "source": source, "bits": bits,
               "shape": f"{format.sign_bits}.{format.exponent_bits}.{format.mantissa_bits}", "bias": format.bias,
               "max": value(format.max_code), "min": value((1 << format.mantissa_bits) * format.has_zero),
               "true_min": value(format.has_zero), "epsilon": hexfloat(2.0 ** -format.mantissa_bits),
               "inf": words([format.infinity_code << shift], name) if format.infinity_code else None,
               "nan": words([format.nan_code << shift], name) if format.nan_code else None,
               "codes": words(codes, name), "values": " ".join(value_text(name, code) for code in codes)}


# Conversions.

NAN_OF_SOURCE = {
    "f64": [0x7ff8 << 48, (0x7ff0 << 48) + 1, (1 << 63) - 1, 0x7ff123456789abcd],
    "f32": [0x7fc00000, 0x7f800001, 0x7fffffff, 0x7f812345],
    "f16": [0x7e00, 0x7c01, 0x7fff, 0x7d2a],
    "bf16": [0x7fc0, 0x7f81, 0x7fff, 0x7fa5],
}


def neighbours(source, point):
    """Magnitudes of a source at or around a point, which is the bits of a double."""
    if source == "f64":
        return {point - 1, point, point + 1} - {-1, INFINITY_64 + 1}
    format = format_named(source)
    found = reference.ref_locate(format, point)
    if found.low > format.contents.max_code:
        return {format.contents.max_code}
    around = {found.low, found.low + 1} | ({found.low - 1} if found.exact and found.low else set())
    return {code for code in around if code <= format.contents.max_code}


def source_edges(source):
    """Zero, subnormals, one, the largest, Inf, and powers of two over the whole range."""
    if source == "f64":
        exponent_bits, m = 11, 52
    else:
        exponent_bits, m = format_named(source).contents.exponent_bits, format_named(source).contents.mantissa_bits
    top = ((1 << exponent_bits) - 1) << m
    step = max(1, (1 << exponent_bits) // 32)
    return {0, 1, 2, (1 << m) - 1, 1 << m, top - 1, top} | {field << m for field in range(step, 1 << exponent_bits, step)}


def magnitudes_for(name, source):
    format = format_named(name)
    points = set()
    for code in some_codes(format.contents):
        points |= {reference.ref_value(format, code), reference.ref_midpoint(format, code)}
    found = source_edges(source)
    for point in points:
        found |= neighbours(source, point)
    return sorted(found)


def inputs_for(name, source):
    sign = 1 << width_of(source) - 1
    magnitudes = magnitudes_for(name, source) + NAN_OF_SOURCE[source]
    return magnitudes + [sign | code for code in magnitudes]


def encoded(name, bits, rounding, overflow, random=0):
    return reference.ref_encode(format_named(name), bits, rounding, overflow, random)


def pieces(sequence, size=IN_A_LINE):
    return [sequence[i:i + size] for i in range(0, len(sequence), size)]


def convert_topic(source):
    yield {"fields": {"from, to": "formats", "overflow": "the rule of overflow; any: both give these results", "in": "bits of the source",
                      **{rule: "codes in that rounding" for rule in ROUNDINGS}}, "rules": RULES}
    for name in FORMATS:
        if name == source or (name == "f32" and source != "f64"):
            continue
        groups = {"any": [], "ieee": [], "saturate": []}
        for word in inputs_for(name, source):
            bits = widened(source, word)
            both = [[encoded(name, bits, rounding, overflow) for rounding in range(len(ROUNDINGS))] for overflow in (IEEE, SATURATE)]
            if both[0] == both[1]:
                groups["any"].append((word, both[0]))
            else:
                groups["ieee"].append((word, both[0]))
                groups["saturate"].append((word, both[1]))
        for overflow, cases in groups.items():
            for piece in pieces(cases):
                yield {"from": source, "to": name, "overflow": overflow, "in": words([word for word, _ in piece], source),
                       **{rule: words([codes[i] for _, codes in piece], name) for i, rule in enumerate(ROUNDINGS)}}


def stochastic_topic():
    """Beside each threshold: the word that just moves a value, and the one below it."""
    yield {"fields": {"from, to": "formats", "in": "bits of the source", "random": "32 random bits for each", "ieee, saturate": "codes"},
           "rules": {rule: RULES[rule] for rule in ("stochastic", "ieee", "saturate", "NaN", "unsigned")}}
    for name in FORMATS:
        for source in ("f32", "f64"):
            if name == source:
                continue
            step = 23 if width_of(name) > 8 else 1 if source == "f32" else 5
            cases = []
            for word in inputs_for(name, source)[::step]:
                bits = widened(source, word)
                fraction = reference.ref_fraction(format_named(name), bits & ~SIGN_64)
                cases += [(word, random) for random in ({0xffffffff - fraction, (1 << 32) - fraction} if fraction else {0xffffffff})]
            for piece in pieces(cases):
                yield {"from": source, "to": name, "in": words([word for word, _ in piece], source),
                       "random": words([random for _, random in piece], "f32"),
                       **{rule: words([encoded(name, widened(source, word), STOCHASTIC, overflow, random) for word, random in piece], name)
                          for overflow, rule in enumerate(OVERFLOWS)}}


# Presets: what stacks make of NaN, Inf and what is too large.

CANONICAL, KEEPS_SIGN, KEEPS_PAYLOAD, ZERO = range(4)
# preset: {format: (the code of NaN, what becomes of its sign and payload, overflow)}
PRESETS = {
    "cuda": {**{name: (None, CANONICAL, "ieee") for name in ("f16", "bf16", "tf32")},
             **{name: (None, CANONICAL, "saturate") for name in ("e5m2", "e4m3", "e3m2", "e2m3", "e2m1")}},
    "ml_dtypes": {"f16": (0x7e00, KEEPS_SIGN, "ieee"), "bf16": (0x7fc0, KEEPS_SIGN, "ieee"), "e5m2": (0x7e, KEEPS_SIGN, "ieee"),
                  "e4m3": (0x7f, KEEPS_SIGN, "ieee"), "e3m4": (0x78, KEEPS_SIGN, "ieee"),
                  "e5m2fnuz": (0x80, CANONICAL, "ieee"), "e4m3fnuz": (0x80, CANONICAL, "ieee"),
                  **{name: (None, ZERO, "saturate") for name in ("e3m2", "e2m3", "e2m1")}},
    "pytorch_2_11": {"f16": (0x7e00, KEEPS_SIGN, "ieee"), "bf16": (0x7fc0, CANONICAL, "ieee"), "e5m2": (0x7f, KEEPS_SIGN, "ieee"),
                     "e4m3": (0x7f, KEEPS_SIGN, "ieee"), "e5m2fnuz": (0x80, CANONICAL, "ieee"), "e4m3fnuz": (0x80, CANONICAL, "ieee")},
    "f16c": {"f16": (None, KEEPS_PAYLOAD, "ieee")},
}
PRESET_SOURCES = {
    "cuda": "cuda_fp16.h, cuda_bf16.h; __NV_SATFINITE of cuda_fp8.h, cuda_fp6.h, cuda_fp4.h",
    "ml_dtypes": "ml_dtypes 0.5; float16 of NumPy",
    "pytorch_2_11": "c10::Half, c10::BFloat16, c10::Float8_e5m2 and its like, one value at a time",
    "f16c": "VCVTPS2PH of the Intel manual; IEEE 754-2019, 6.2.3",
}


def preset_nan(name, word, code, policy):
    """What becomes of a NaN of f32."""
    format = format_named(name).contents
    sign = word >> 31
    sign_code = 1 << format.exponent_bits + format.mantissa_bits
    code = format.nan_code if code is None else code
    if policy == ZERO:
        return 0 if sign else sign_code
    if policy == CANONICAL:
        return (code or format.max_code) << format.storage_shift
    if policy == KEEPS_PAYLOAD:
        payload = (word & 0x7fffff) >> 23 - format.mantissa_bits
        code = format.infinity_code | 1 << format.mantissa_bits - 1 | payload
    return code | sign_code * sign


def preset_line(preset, name, code, policy, overflow):
    format, sign = format_named(name), 1 << 31
    largest = format.contents.max_code
    points = [reference.ref_value(format, largest), reference.ref_midpoint(format, largest), reference.ref_value(format, largest + 1)]
    magnitudes = sorted(set().union(*(neighbours("f32", point) for point in points), {0, 0x3f800000, 0x7f800000}))
    numbers = [word | side for side in (0, sign) for word in magnitudes]
    nans = [word | side for side in (0, sign) for word in NAN_OF_SOURCE["f32"]]
    codes = [encoded(name, widened("f32", word), 0, OVERFLOWS.index(overflow)) for word in numbers]
    codes += [preset_nan(name, word, code, policy) for word in nans]
    return {"preset": preset, "source": PRESET_SOURCES[preset], "from": "f32", "to": name, "overflow": overflow,
            "in": words(numbers + nans, "f32"), "nearest_even": words(codes, name)}


def presets_topic():
    yield {"fields": {"preset": "whose rules", "source": "where they are", "from, to": "formats", "overflow": "the rule of overflow that goes with it",
                      "in": "bits of the source", "nearest_even": "codes"}}
    for preset, rows in PRESETS.items():
        for name, (code, policy, overflow) in rows.items():
            yield preset_line(preset, name, code, policy, overflow)


# Blocks.

MX_RULES = ["floor", "ceil", "even", "rceil"]
TWO_LEVEL = 4
MX_ELEMENTS = ["e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "int8"]
BLOCK_RULES = {
    "floor": "OCP MX 1.0, 6.3: 2^(E - emax), E the exponent of the largest magnitude, emax that of the largest element",
    "ceil": "CEIL of torchao's ScaleCalculationMode: as floor, of the next power of two from amax on",
    "even": "EVEN of torchao's ScaleCalculationMode: as floor, of amax plus half a place of the element's mantissa",
    "rceil": "cuBLAS and Transformer Engine, RCEIL of torchao's ScaleCalculationMode: amax (1 / max), both rounded to f32, up to a "
             "power of two",
    "scale": "from 2^-127 to 2^127, as stored; elements are divided by it exactly, rounded to nearest even and saturated",
    "int8": "OCP MX 1.0, MXINT8: codes in 64ths, two's complement, -127 to 127",
    "nvfp4": "S = 2688 / amax of the tensor; a block's scale is e4m3(amax (S / 6)), saturating; an element e2m1(x / (scale / S)) by "
             "its reciprocal: each step rounded once to f32; 0 where the scale is 0. NVFP4 of cuBLAS and Transformer Engine",
    "nonfinite": "a block with Inf or NaN has a NaN as its scale and as each code, the largest value where elements have no NaN: OCP MX "
                 "1.0 leaves it to implementations",
    "swizzle": "cuBLAS, 1D block scaling factors layout: tiles of 128 rows and 4 columns; places[row * columns + column]",
    "pack": "element 0 in the lowest bits, bytes in rising order",
}


def blocks_of(element, rule, columns):
    is_int8 = element == "int8"
    format = reference.ref_int8(rule) if is_int8 else format_named(element).contents
    return Blocks(format, is_int8, rule, 1, columns, 0, 0, 0, None)


def words_in(values):
    return (ctypes.c_uint32 * len(values))(*values)


def block_line(kind, element, rule, row, tensor_scale=0):
    blocks, n = blocks_of(element, rule, len(row)), len(row)
    codes, scale, back, losses = words_in([0] * n), words_in([0]), words_in([0] * n), Losses()
    sizes = ctypes.c_size_t(1), ctypes.c_size_t(n), ctypes.c_uint32(tensor_scale)
    reference.ref_quantize(ctypes.byref(blocks), codes, scale, words_in(row), *sizes, None, ctypes.byref(losses))
    reference.ref_dequantize(ctypes.byref(blocks), back, codes, scale, *sizes)
    how = {"element": element, "rule": MX_RULES[rule]} if rule < TWO_LEVEL else {"tensor_scale": words([tensor_scale], "f32")}
    return {"kind": kind, **how, "in": words(row, "f32"), "scale": words(scale, "e8m0"),
            "codes": words(codes, "e4m3" if element == "int8" else element), "back": words(back, "f32")}


def around_powers(factors):
    """A float at each power of two times each factor, and its two neighbours."""
    found = {word + step for exponent in range(-149, 128) for factor in factors if factor * 2.0 ** exponent < 2.0 ** 128
             for word in [bits_of_float(factor * 2.0 ** exponent)] for step in (-1, 0, 1)}
    return sorted(word for word in found if 0 < word < 0x7f800000)


def ties(element, count, exponent, generator):
    """Elements' values and the middles between them, of either sign, times a power of two."""
    if element == "int8":
        points = [i / 128 for i in range(255)]
    else:
        format = format_named(element)
        points = [double_of(point(format, code)) for code in range(format.contents.max_code + 1)
                  for point in (reference.ref_value, reference.ref_midpoint)]
    top = math.frexp(points[-1])[1]
    chosen = [generator.choice(points) * generator.choice([-1, 1]) * 2.0 ** (exponent - top) for _ in range(count)]
    return [bits_of_float(x) for x in chosen]


def anywhere(count, exponent, generator):
    """Floats of any bits in some binades below one."""
    return [generator.getrandbits(1) << 31 | max(0, min(254, 127 + exponent - generator.randrange(9))) << 23 | generator.getrandbits(23)
            for _ in range(count)]


def plain_blocks(element, count, seed):
    generator = random.Random(seed)
    for exponent in (-150, -133, -126, -60, -3, 0, 9, 100, 127):
        yield ties(element, count, min(exponent, 126), generator) if exponent > -140 else [generator.getrandbits(3) for _ in range(count)]
        yield anywhere(count, exponent, generator)
    for power in (bits_of_float(2.0 ** exponent) for exponent in (-100, 0, 100)):
        for amax in (power - 1, power, power + 1):
            yield [amax] + anywhere(count - 1, (power >> 23) - 128, generator)
    yield [0, 1 << 31] * (count // 2)
    yield [0x7f7fffff, 0xff7fffff, 1, 0x80000001] * (count // 4)


def blocks_topic():
    yield {"fields": {"kind": "of a line", "in": "bits of f32: amaxes of blocks, or elements of one", "floor, ceil, even, rceil": "scales in e8m0",
                      "scale, scales": "as stored", "codes": "of elements", "back": "bits of f32: code times scale", "tensor_scale": "bits of S",
                      "places": "where each scale lies", "bytes": "of codes side by side"}, "rules": BLOCK_RULES}
    for element in MX_ELEMENTS:
        largest = 127 / 64 if element == "int8" else double_of(reference.ref_value(format_named(element), format_named(element).contents.max_code))
        fraction = math.frexp(largest)[0] * 2
        mantissa_bits = 6 if element == "int8" else format_named(element).contents.mantissa_bits
        for piece in pieces([0] + around_powers([1, fraction, 2 - 2.0 ** -(mantissa_bits + 1)])):
            scales = [[reference.ref_block_scale(ctypes.byref(blocks_of(element, rule, 32)), amax, 0) for amax in piece] for rule in range(4)]
            yield {"kind": "mx_scale", "element": element, "in": words(piece, "f32"),
                   **{rule: words(codes, "e8m0") for rule, codes in zip(MX_RULES, scales)}}
        for rule in range(4):
            for row in plain_blocks(element, 32, f"{element} {rule}"):
                yield block_line("mx_block", element, rule, row)
        for place in range(32):
            for number, special in enumerate((0x7f800000, 0x7fc00000, 0x7f800001)):
                row = anywhere(32, 4, random.Random(f"{element} {place}"))
                row[place] = special | (place + number & 1) << 31
                yield block_line("mx_block", element, 0, row)
    yield {"kind": "nvfp4_tensor_scale", "in": words(amaxes := [0] + around_powers([1])[::2], "f32"),
           "scales": words([reference.ref_tensor_scale(amax, 0x40c00000) for amax in amaxes], "f32")}
    generator = random.Random("nvfp4")
    for tensor_scale in (0x3f800000, reference.ref_tensor_scale(bits_of_float(3.3), 0x40c00000), bits_of_float(2.0 ** -100), bits_of_float(2688.0)):
        scale = float_of(tensor_scale)
        points = {bits_of_float(double_of(point) * 6 / scale) for code in range(127)
                  for point in (reference.ref_value(format_named("e4m3"), code), reference.ref_midpoint(format_named("e4m3"), code))}
        near = sorted({word + step for word in points for step in (-1, 0, 1)} - {-1})
        for piece in pieces([word for word in near if word < 0x7f800000]):
            blocks = blocks_of("e2m1", TWO_LEVEL, 16)
            yield {"kind": "nvfp4_scale", "tensor_scale": words([tensor_scale], "f32"), "in": words(piece, "f32"),
                   "scales": words([reference.ref_block_scale(ctypes.byref(blocks), amax, tensor_scale) for amax in piece], "e4m3")}
        unit = math.frexp(scale)[1]
        for exponent in (-12, -8, -6, -2, 0, 3, 8, 11, 13):
            for row in (ties("e2m1", 16, exponent - unit, generator), anywhere(16, exponent - unit, generator)):
                yield block_line("nvfp4_block", "e2m1", TWO_LEVEL, row, tensor_scale)
    for place in range(16):
        row = anywhere(16, 2, generator)
        row[place] = 0x7fc00000 if place & 1 else 0xff800000
        yield block_line("nvfp4_block", "e2m1", TWO_LEVEL, row, 0x3f800000)
    for rows, columns in ((1, 1), (33, 3), (128, 4), (130, 5), (260, 9)):
        yield {"kind": "swizzle", "rows": rows, "columns": columns, "places": " ".join(map(str, swizzled(rows, columns)))}
    for element, bits, group in (("e3m2", 6, 4), ("e2m3", 6, 4), ("e2m1", 4, 2)):
        codes = list(range(1 << bits)) + [generator.getrandbits(bits) for _ in range(64)]
        packed = b"".join(sum(code << bits * i for i, code in enumerate(codes[k:k + group])).to_bytes(bits * group // 8, "little")
                          for k in range(0, len(codes), group))
        yield {"kind": "pack", "element": element, "codes": words(codes, element), "bytes": words(packed, "e4m3")}


def swizzled(rows, columns):
    """Tiles of 128 by 4 one after the other; in a tile 32 rows of 16 bytes, of which each holds four rows of the matrix."""
    tiles_across = (columns + 3) // 4
    order = [(128 * tile_row + 32 * part + row, 4 * tile_column + column)
             for tile_row in range((rows + 127) // 128) for tile_column in range(tiles_across)
             for row in range(32) for part in range(4) for column in range(4)]
    place = {at: i for i, at in enumerate(order)}
    return [place[row, column] for row in range(rows) for column in range(columns)]


# State: a scale after each update. Products are of doubles, rounded to f32.


def rounded(x):
    return float_of(bits_of_float(x)) if x < 2.0 ** 127 else math.inf


def torch_scaler(config, found):
    """torch._amp_update_scale_."""
    scale, good = config["init_scale"], 0
    for overflow in found:
        good = 0 if overflow else good + 1
        if overflow:
            scale = rounded(scale * config["backoff_factor"])
        elif good == config["growth_interval"]:
            scale, good = rounded(scale * config["growth_factor"]), 0
        yield scale


def apex_scaler(config, found):
    """Apex's update_scale_hysteresis: an overflow counts from the hysteresis-th in a row on."""
    scale, good, left = config["init_scale"], 0, config["hysteresis"]
    for overflow in found:
        left = left - 1 if overflow else config["hysteresis"]
        good = 0 if overflow else good + 1
        if overflow and left <= 0:
            scale = rounded(scale * config["backoff_factor"])
        if good == config["growth_interval"]:
            scale, good = rounded(scale * config["growth_factor"]), 0
        yield scale


def megatron_scaler(config, found):
    """DynamicGradScaler of Megatron-LM: a growth gives the lives back."""
    scale, good, left = config["init_scale"], 0, config["hysteresis"]
    for overflow in found:
        good = 0 if overflow else good + 1
        left -= overflow
        if overflow and left <= 0:
            scale = max(rounded(scale * config["backoff_factor"]), config["min_scale"])
        if good == config["growth_interval"]:
            scale, good, left = rounded(scale * config["growth_factor"]), 0, config["hysteresis"]
        yield scale


def deepspeed_scaler(config, found):
    """DynamicLossScaler of DeepSpeed; hysteresis is its delayed_shift."""
    scale, left, last = config["init_scale"], config["hysteresis"], -1
    for iteration, overflow in enumerate(found):
        stable = iteration - last - 1
        grows = not overflow and stable > 0 and stable % config["growth_interval"] == 0
        if overflow:
            last = iteration
            if left == 1:
                scale = max(rounded(scale * config["backoff_factor"]), config["min_scale"])
            else:
                left -= 1
        elif config["consecutive_hysteresis"] or grows:
            left = config["hysteresis"]
        if grows:
            scale = rounded(scale * config["growth_factor"])
        yield scale


def flax_scaler(config, found):
    """DynamicScale of Flax: it grows in the update after as many good ones."""
    scale, good = config["init_scale"], 0
    for overflow in found:
        grows = not overflow and good == config["growth_interval"]
        if overflow:
            scale = max(rounded(scale * config["backoff_factor"]), config["min_scale"])
        elif grows:
            scale = rounded(scale * config["growth_factor"])
        good = 0 if overflow or grows else good + 1
        yield scale


def jmp_scaler(config, found):
    """DynamicLossScale of JMP: its counter goes on in a circle."""
    scale, counter = config["init_scale"], 0
    for overflow in found:
        if overflow:
            scale = max(rounded(scale * config["backoff_factor"]), config["min_scale"])
        elif counter == config["growth_interval"] - 1:
            scale = rounded(scale * config["growth_factor"])
        counter = 0 if overflow else (counter + 1) % config["growth_interval"]
        yield scale


SCALERS = {"torch": torch_scaler, "apex": apex_scaler, "megatron": megatron_scaler, "deepspeed": deepspeed_scaler,
           "flax": flax_scaler, "jmp": jmp_scaler}


def scaler_topic():
    yield {"fields": {"framework": "whose rule", "growth_factor, backoff_factor": "as hexadecimal floats", "found": "1: Inf or NaN was found in that update",
                      "scales": "bits of f32 after each update"}, "rules": {name: scaler.__doc__.replace("\n", " ") for name, scaler in SCALERS.items()}}
    generator = random.Random("scaler")
    for name, scaler in SCALERS.items():
        by_powers = name in ("deepspeed", "jmp")  # they divide by the factor that they multiply by
        for number in range(16):
            growth = generator.choice([2.0, 4.0, 8.0]) if by_powers else generator.choice([2.0, 1.5, 1.1, 1 + 2.0 ** -20, 2.7182818284590451])
            config = {"init_scale": generator.choice([1.0, 16.0, 65536.0, 1000.0]), "growth_factor": growth,
                      "backoff_factor": 1 / growth if by_powers else generator.choice([0.5, 0.25, 0.9, 1 / 3]),
                      "growth_interval": generator.choice([1, 2, 3, 5, 20]), "min_scale": 2.0 ** -126 if name in ("torch", "apex") else generator.choice([1.0, 2.0 ** -20]),
                      "hysteresis": generator.choice([1, 2, 3]) if name in ("apex", "megatron", "deepspeed") else 1,
                      "consecutive_hysteresis": number % 2 if name == "deepspeed" else 0}
            often = generator.choice([0.05, 0.2, 0.5])
            found = [int(generator.random() < often) for _ in range(200)]
            scales = list(scaler(config, found))
            # Up to where a framework leaves what all of them agree on: the ends of f32, and the least scale of some.
            end = next((i for i, scale in enumerate(scales) if not config["min_scale"] <= scale <= 2.0 ** 126), len(scales))
            yield {"framework": name, **{key: hexfloat(value) if isinstance(value, float) else value for key, value in config.items()},
                   "found": " ".join(map(str, found[:end])), "scales": words([bits_of_float(scale) for scale in scales[:end]], "f32")}


def delayed_topic():
    """Quotients by the reference, which rounds once."""
    yield {"fields": {"max": "bits of f32: the largest value of the format", "history_length, algorithm, margin": "those of a recipe of Transformer Engine",
                      "amaxes": "bits of f32, one for each iteration", "scales": "bits of f32, after each of them"},
           "rules": {"scale": "max 2^-margin / amax of the history, rounded once; Micikevicius et al., FP8 Formats for Deep Learning, 2022; "
                              "DelayedScaling of Transformer Engine"}}
    reference.ref_divide.restype = ctypes.c_uint32
    generator = random.Random("delayed")
    for number in range(24):
        length, margin = generator.choice([1, 2, 3, 8, 50]), generator.choice([0, 0, 1, -2, 3])
        largest, algorithm = generator.choice([448.0, 57344.0, 240.0]), ["max", "most_recent"][number % 2]
        amaxes = [bits_of_float(math.ldexp(1 + generator.random(), generator.randrange(-30, 30))) for _ in range(100)]
        scales = []
        for i in range(len(amaxes)):
            amax = max(amaxes[max(0, i + 1 - length):i + 1]) if algorithm == "max" else amaxes[i]
            scales.append(reference.ref_divide(ctypes.c_uint32(bits_of_float(largest * 2.0 ** -margin)), ctypes.c_uint32(amax)))
        yield {"max": words([bits_of_float(largest)], "f32"), "history_length": length, "algorithm": algorithm, "margin": margin,
               "amaxes": words(amaxes, "f32"), "scales": words(scales, "f32")}


# Functions of f16 and bf16: results at all codes, 16 bits each, little end first.

FUNCTION_TYPES = ["f16", "bf16"]
PACKING = {"format": lzma.FORMAT_XZ, "filters": [{"id": lzma.FILTER_DELTA, "dist": 2}, {"id": lzma.FILTER_LZMA2, "preset": 9, "lc": 0, "pb": 1}]}


class FunctionReference(ctypes.Structure):
    """function_reference of tests/func/function_reference.h; its name is all that is looked at."""
    _fields_ = [("name", ctypes.c_char_p)]


@functools.cache
def functions():
    """By name what gives the bits of a double, by MPFR at 300 bits, rounded so that one more rounding is right; None without MPFR."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            made = compiled(folder, "functions", ["func/function_reference.c"], "-lmpfr", "-lm")
        except (subprocess.CalledProcessError, OSError):
            return None
    made.start_function_references()
    call = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p, ctypes.c_double)(("reference_of_function", made))
    named, i = {}, 0
    every = (ctypes.c_void_p * 256).in_dll(made, "function_references")
    while every[i]:
        name = ctypes.cast(every[i], ctypes.POINTER(FunctionReference)).contents.name.decode()
        named[name] = functools.partial(call, every[i])
        i += 1
    return named


def function_code(function, name, code):
    return encoded(name, function(double_of(reference.ref_decode(format_named(name), code))), 0, IEEE)


# Instructions.

def instructions_topic():
    sys.path.append(str(ROOT / "tests/hardware"))
    import vectors

    yield {"fields": {"instruction": "its name, as docs/instructions.md has it", "control": "registers other than 0",
                      "in0, in1, ...": "operands, a word of 32 bits each, an f64 two; the n-th words of all belong together",
                      "random": "random bits or the bias", "out0, out1": "words of the result"},
           "rules": {"sources": "the manuals that docs/instructions.md names; what they leave open is left out"}}
    yield from vectors.lines()


def texts(topic, lines):
    """The lines of a file: the first says what the others are."""
    first = {"schema": f"mpnum conformance vectors: {topic}", "version": VERSION,
             "licence": "SPDX-License-Identifier: MIT OR CC0-1.0"}
    for number, line in enumerate(lines):
        yield json.dumps({**first, **line} if number == 0 else line) + "\n"


TOPICS = {
    "formats": formats_topic,
    **{f"convert_{source}": (lambda source=source: convert_topic(source)) for source in SOURCES},
    "convert_stochastic": stochastic_topic,
    "presets": presets_topic,
    "blocks": blocks_topic,
    "scaler": scaler_topic,
    "delayed_scaling": delayed_topic,
    "instructions": instructions_topic,
}
