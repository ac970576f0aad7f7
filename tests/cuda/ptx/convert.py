# SPDX-License-Identifier: MIT
"""The cvt instruction, as the PTX ISA has it.

What the ISA leaves open is filled with what would hurt most: the low 13 bits of a tf32 result are not zero, a NaN as
tf32 has its payload only there, widening keeps a NaN's payload, and bits above a 6-bit source are an error. A
conversion that relies on more is caught.
"""

from fractions import Fraction

from ptx.arithmetic import flush, multiply_numbers, saturated
from ptx.values import FINITE, FORMATS, INFINITE, NAN, WIDTHS, finite, signed

TF32_DIRT = 0x0a51
TF32_NAN = 0xff800000 | TF32_DIRT

# Bits of one element of a packed type in its register; 6-bit numbers have a byte each.
PACKED = {"e4m3x2": 8, "e5m2x2": 8, "e2m3x2": 8, "e3m2x2": 8, "ue8m0x2": 8, "e2m1x2": 4, "f16x2": 16, "bf16x2": 16}
FLOAT_ROUNDINGS = ("rn", "rna", "rz", "rm", "rp")

# (target, source): modifiers that must be there, and those that may. Sources: the PTX ISA's list of forms.
FLOAT_PAIRS = {
    **{(f"{kind}{wide}", "f32"): (["rn", "rz"], ["relu", "satfinite"]) for kind in ("f16", "bf16")
       for wide in ("", "x2")},
    ("tf32", "f32"): (["rn", "rz", "rna"], ["relu", "satfinite"]),
    **{(kind, source): (["rn"], ["satfinite!", "relu"])
       for kind in ("e4m3x2", "e5m2x2", "e2m1x2", "e2m3x2", "e3m2x2") for source in ("f32", "f16x2", "bf16x2")},
    **{("f16x2", kind): (["rn"], ["relu"]) for kind in ("e4m3x2", "e5m2x2", "e2m1x2", "e2m3x2", "e3m2x2")},
    **{("ue8m0x2", source): (["rz", "rp"], ["satfinite"]) for source in ("f32", "bf16x2")},
    ("bf16x2", "ue8m0x2"): (["rn"], []),
    ("f16", "f64"): (["rn", "rz", "rm", "rp"], []),
    ("bf16", "f64"): (["rn", "rz", "rm", "rp"], []),
    ("f32", "f64"): (["rn", "rz", "rm", "rp"], ["sat"]),
}
FLOAT_PAIRS[("f16", "f32")] = FLOAT_PAIRS[("bf16", "f32")] = (["rn", "rz", "rm", "rp"], ["relu", "satfinite", "sat"])
SCALED = "scaled::n2::ue8m0"
SCALED_SOURCES = ("e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "e2m1x2")
SCALED_DIRT = 0xff81
WIDENING = {("f32", "f16"), ("f32", "bf16"), ("f64", "f16"), ("f64", "f32"), ("f64", "bf16")}


def encoder(target, rounding, saturate, relu):
    """From a Number to the bits of one element of a target."""
    form = FORMATS[target]

    def run(number):
        if relu and number.kind != NAN and number.negative:
            number = finite(False, 0, 0)
        if target == "tf32":
            if number.kind == NAN:
                return TF32_NAN
            return form.encode(number, rounding, saturate) << 13 | TF32_DIRT
        return form.encode(number, rounding, saturate)
    return run


def element(kind):
    return FORMATS[kind[:-2] if kind.endswith("x2") else kind]


def from_floats(target, source, rounding, modifiers):
    """Narrowing: packed or not. A packed target takes its upper element from the first operand."""
    encode = encoder(element(target).name, rounding, "satfinite" in modifiers, "relu" in modifiers)
    form = element(source)
    keeps_nan = (target, source) == ("bf16", "f64")  # as an H100 does, which the ISA does not say
    flushes = "ftz" in modifiers
    clamps = "sat" in modifiers

    def one(bits):
        if bits >> form.width:
            raise ValueError(f"bits above a number of {form.width} bits")
        if keeps_nan and form.decode(bits).kind == NAN:
            return 0x7fc0 | bits >> 48 & 0x8000 | bits >> 45 & 0x3f
        result = encode(form.decode(flush(form, bits) if flushes else bits))
        return saturated(FORMATS[target], result) if clamps else result

    if target not in PACKED:
        return one
    width = PACKED[target]
    if source not in PACKED:
        return lambda upper, lower: one(upper) << width | one(lower)
    mask = (1 << PACKED[source]) - 1
    return lambda pair: one(pair >> PACKED[source] & mask) << width | one(pair & mask)


def scaled(source):
    """Two codes times two scales as bf16. "Inputs are converted to destination type and then multiplied"; of what is no number
    or becomes none the ISA says nothing."""
    form, brain, scales = element(source), FORMATS["bf16"], FORMATS["ue8m0"]
    width = PACKED[source]
    mask = (1 << width) - 1

    def one(bits, scale):
        if bits >> form.width:
            raise ValueError(f"bits above a number of {form.width} bits")
        product = multiply_numbers(form.decode(bits), scales.decode(scale))
        result = brain.encode(product)
        return SCALED_DIRT if product.kind != FINITE or brain.decode(result).kind != FINITE else result
    return lambda pair, factors: one(pair >> width & mask, factors >> 8 & 0xff) << 16 | one(pair & mask, factors & 0xff)


def widen(target, source, flushes, clamps):
    """Exact, but a NaN keeps its sign and payload, moved to the top of the mantissa."""
    wide, narrow = FORMATS[target], FORMATS[source]
    up = wide.mantissa_bits - narrow.mantissa_bits

    def run(bits):
        number = narrow.decode(flush(narrow, bits) if flushes and source == "f32" else bits)
        if number.kind == NAN and not clamps:
            sign = wide.sign_bit if bits & narrow.sign_bit else 0
            return sign | wide.infinity | (bits & ((1 << narrow.mantissa_bits) - 1)) << up
        result = wide.encode(number)
        return saturated(wide, result) if clamps else result
    return run


def from_integer(target, source, rounding):
    form, width, is_signed = FORMATS[target], WIDTHS[source], source[0] == "s"

    def run(bits):
        value = signed(bits, width) if is_signed else bits & ((1 << width) - 1)
        return form.encode(finite(value < 0, abs(value), 0), rounding)
    return run


def to_integer(target, source, flushes):
    """Toward zero, to the nearest that the target has; a NaN is 0."""
    form, mask = FORMATS[source], (1 << WIDTHS[target]) - 1
    low, high = (-(mask + 1) // 2, mask // 2) if target[0] == "s" else (0, mask)

    def run(bits):
        number = form.decode(flush(form, bits) if flushes else bits)
        if number.kind == NAN:
            return 0
        size = high + 1 if number.kind == INFINITE else int(number.significand * Fraction(2) ** number.exponent)
        return max(low, min(high, -size if number.negative else size)) & mask
    return run


def integer(target, source, saturate):
    """Truncation or extension; the result has the width of the target, as an unsigned number."""
    width, mask = WIDTHS[source], (1 << WIDTHS[target]) - 1
    low, high = (-(mask + 1) // 2, mask // 2) if target[0] == "s" else (0, mask)

    def run(bits):
        value = signed(bits, width) if source[0] == "s" else bits & ((1 << width) - 1)
        return (max(low, min(high, value)) if saturate else value) & mask
    return run


def converter(modifiers):
    """A function from operands to the result, for the modifiers of a cvt: [..., target, source]. ValueError for a
    form that the ISA does not have or this interpreter does not."""
    *given, target, source = modifiers
    rounding = [name for name in given if name in FLOAT_ROUNDINGS]
    rest = [name for name in given if name not in FLOAT_ROUNDINGS]
    if len(rounding) > 1 or len(set(rest)) < len(rest):
        raise ValueError("modifiers repeat")

    def takes(*allowed):
        unknown = set(rest) - set(allowed)
        if unknown:
            raise ValueError(f"unknown modifiers {sorted(unknown)}")

    if target == "bf16x2" and source in SCALED_SOURCES and SCALED in rest:
        takes(SCALED)
        if rounding != ["rn"]:
            raise ValueError("a rounding is missing or not for these types")
        return scaled(source)
    if (target, source) in FLOAT_PAIRS:
        roundings, optional = FLOAT_PAIRS[target, source]
        takes(*[name.rstrip("!") for name in optional], *(["ftz"] if "f32" in (source, target) and rounding else []))
        if not rounding or rounding[0] not in roundings:
            raise ValueError("a rounding is missing or not for these types")
        if any(name.endswith("!") and name[:-1] not in rest for name in optional):
            raise ValueError("satfinite is missing")
        return from_floats(target, source, rounding[0], rest)
    if (target, source) in WIDENING and not rounding:
        takes("ftz", "sat")
        return widen(target, source, "ftz" in rest, "sat" in rest)
    if source[0] in "us" and source in WIDTHS and target in ("f16", "bf16", "f32", "f64") and rounding:
        takes()
        return from_integer(target, source, rounding[0])
    if target in ("s32", "u32") and source == "f32" and rest[:1] == ["rzi"]:
        takes("rzi", "ftz")
        return to_integer(target, source, "ftz" in rest)
    if source[0] in "us" and target[0] in "us" and {source, target} <= set(WIDTHS) and not rounding:
        takes("sat")
        return integer(target, source, "sat" in rest)
    raise ValueError("unknown types or rounding")
