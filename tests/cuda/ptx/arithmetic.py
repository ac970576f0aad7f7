# SPDX-License-Identifier: MIT
"""Floating-point instructions other than cvt, on bits, rounded once.

A NaN result is the canonical NaN of the format, also where the ISA leaves it open, as in neg and abs.
"""

import math
from decimal import Context, Decimal

from ptx.values import FORMATS, INFINITE, NAN, NOT_A_NUMBER, finite, infinity


def add_numbers(a, b, rounding):
    if NAN in (a.kind, b.kind):
        return NOT_A_NUMBER
    if INFINITE in (a.kind, b.kind):
        if a.kind == b.kind and a.negative != b.negative:
            return NOT_A_NUMBER
        return a if a.kind == INFINITE else b
    exponent = min(a.exponent, b.exponent)
    total = sum((-1 if x.negative else 1) * x.significand << (x.exponent - exponent) for x in (a, b))
    if total == 0:  # an exact zero is negative only as the sum of two negative zeros, or when rounding down
        both = a.is_zero and b.is_zero and a.negative == b.negative
        return finite(a.negative if both else rounding == "rm", 0, 0)
    return finite(total < 0, abs(total), exponent)


def multiply_numbers(a, b):
    negative = a.negative != b.negative
    if NAN in (a.kind, b.kind):
        return NOT_A_NUMBER
    if INFINITE in (a.kind, b.kind):
        return NOT_A_NUMBER if a.is_zero or b.is_zero else infinity(negative)
    return finite(negative, a.significand * b.significand, a.exponent + b.exponent)


def divide_numbers(a, b, _rounding):
    """The quotient with enough bits for one rounding: what is cut off sets the last bit."""
    negative = a.negative != b.negative
    if NAN in (a.kind, b.kind) or a.kind == b.kind == INFINITE or (a.is_zero and b.is_zero):
        return NOT_A_NUMBER
    if a.kind == INFINITE or b.is_zero:
        return infinity(negative)
    if b.kind == INFINITE:
        return finite(negative, 0, 0)
    shift = 130 + b.significand.bit_length()
    quotient, rest = divmod(a.significand << shift, b.significand)
    return finite(negative, quotient << 1 | (rest > 0), a.exponent - b.exponent - shift - 1)


def root_number(a, _rounding):
    if a.kind == NAN or a.is_zero:
        return a
    if a.negative:
        return NOT_A_NUMBER
    if a.kind == INFINITE:
        return a
    shift = 260 + (a.exponent & 1)
    radicand = a.significand << shift
    root = math.isqrt(radicand)
    return finite(False, root << 1 | (root * root < radicand), ((a.exponent - shift) >> 1) - 1)


def subtract_numbers(a, b, rounding):
    return add_numbers(a, b._replace(negative=not b.negative), rounding)


def fused_numbers(a, b, c, rounding):
    return add_numbers(multiply_numbers(a, b), c, rounding)


EXACT = {"add": add_numbers, "sub": subtract_numbers, "mul": lambda a, b, _rounding: multiply_numbers(a, b),
         "fma": fused_numbers, "mad": fused_numbers, "div": divide_numbers, "sqrt": root_number}


def smaller(a, b):
    """-0 is less than +0."""
    def key(x):
        if x.kind == INFINITE:
            return (-1 if x.negative else 1, 0)
        return (0, 0)
    if key(a) != key(b):
        return key(a) < key(b)
    exponent = min(a.exponent, b.exponent)
    left, right = ((-1 if x.negative else 1) * x.significand << (x.exponent - exponent) for x in (a, b))
    return left < right or (left == right and a.negative > b.negative)


def flush(form, bits):
    """A subnormal becomes the zero of its sign."""
    return bits & form.sign_bit if form.is_subnormal(bits) else bits


def operation(name, kind, rounding="rn", flushes=False, saturates=False):
    """A function from the bits of the operands to the bits of the result; kind is f16, bf16, f32 or f64."""
    form = FORMATS[kind]
    exact = EXACT[name]

    def run(*operands):
        if flushes:
            operands = [flush(form, bits) for bits in operands]
        numbers = [form.decode(bits) for bits in operands]
        bits = form.encode(exact(*numbers, rounding), rounding)
        if flushes:
            bits = flush(form, bits)
        return saturated(form, bits) if saturates else bits
    return run


PRECISE = Context(prec=60)
LOG_2 = Decimal(2).ln(PRECISE)
BITS = 120


def of_decimal(value, exponent=0):
    """What is cut off sets the last bit."""
    return finite(value < 0, int(PRECISE.multiply(abs(value), 1 << BITS)) | 1, exponent - BITS)


def power_of_two(a, _rounding):
    if a.kind == NAN or a.kind == INFINITE:
        return finite(False, 0, 0) if a.negative else a
    numerator, denominator = a.significand << max(a.exponent, 0), 1 << max(-a.exponent, 0)
    whole, rest = divmod(-numerator if a.negative else numerator, denominator)
    whole = max(-9999, min(whole, 9999))
    if rest == 0:
        return finite(False, 1, whole)
    return of_decimal(PRECISE.exp(PRECISE.multiply(LOG_2, PRECISE.divide(Decimal(rest), denominator))), whole)


def tangent(a, _rounding):
    if a.kind == NAN or a.is_zero or a.significand.bit_length() + a.exponent < -40:
        return a
    if a.kind == INFINITE or a.significand.bit_length() + a.exponent > 6:
        return finite(a.negative, 1, 0)
    power = PRECISE.exp(PRECISE.multiply(Decimal(2 * a.significand), PRECISE.power(2, a.exponent)))
    return of_decimal(PRECISE.divide(PRECISE.subtract(power, 1), PRECISE.add(power, 1)))._replace(negative=a.negative)


def inverse_root(a, rounding):
    return divide_numbers(finite(False, 1, 0), root_number(a, rounding), rounding)


APPROXIMATED = {"rcp": lambda a, rounding: divide_numbers(finite(False, 1, 0), a, rounding), "rsqrt": inverse_root,
                "ex2": power_of_two, "tanh": tangent}
# How far results are off, by the name of the instruction: a function of the bits of the operand, from -1 to 1, of what the ISA
# allows. That is places from the nearest, and of tanh 2^-11 of the value. Zeros, Inf and NaN are as the ISA has them.
ASTRAY = {}
MOST_PLACES = {"rcp": 1, "ex2": 2}


def approximation(name, kind, flushes=False):
    """rcp, rsqrt, ex2 and tanh with .approx. Unless ASTRAY says how far, an inverse is off by one in the last place, as far as it
    may be, where that is not exact or the significand all ones, of which GPUs have the nearest, and others are the nearest;
    sqrt.rn is made of a root's inverse."""
    form = FORMATS[kind]

    def run(bits):
        bits = flush(form, bits) if flushes else bits
        number = form.decode(bits)
        exact = APPROXIMATED[name](number, "rn")
        nearest, shorter = form.encode(exact, "rn"), form.encode(exact, "rz")
        ones = form.sign_bit - 1 >> form.exponent_bits
        is_normal = ones < nearest & ~form.sign_bit < form.infinity
        if name in ASTRAY and is_normal and number.kind != INFINITE and not number.is_zero:
            lean = ASTRAY[name](bits)
            if name == "tanh":
                more = (1 << 22) + round(lean * 2047)  # of 2048, as the rounding comes on top
                nearest = form.encode(finite(exact.negative, exact.significand * more, exact.exponent - 22))
            else:
                nearest += round(lean * MOST_PLACES[name])
        elif name == "rcp" and exact.kind not in (NAN, INFINITE) and bits & ones != ones and exact.significand & 1:
            nearest = shorter + 1 if nearest == shorter else shorter
        return flush(form, nearest) if flushes else nearest
    return run


def saturated(form, bits):
    """.sat: clamped to [0, 1], NaN to 0."""
    number, one = form.decode(bits), form.encode(finite(False, 1, 0))
    if number.kind == NAN or number.negative:
        return 0
    return min(bits, one)


def extreme(name, kind, nan=False, flushes=False):
    """min and max: a NaN operand loses, with .NaN it wins."""
    form = FORMATS[kind]

    def run(*operands):
        if flushes:
            operands = [flush(form, bits) for bits in operands]
        numbers = [(form.decode(bits), bits) for bits in operands]
        valid = [pair for pair in numbers if pair[0].kind != NAN]
        if not valid or (nan and len(valid) < len(numbers)):
            return form.canonical_nan
        best = valid[0]
        for pair in valid[1:]:
            if smaller(pair[0], best[0]) == (name == "min"):
                best = pair
        return best[1]
    return run


def with_signs_xored(extreme_of, kind):
    """min and max .xorsign.abs: of magnitudes, with both signs xored; a NaN result is canonical."""
    form = FORMATS[kind]

    def run(*operands):
        found = extreme_of(*(bits & ~form.sign_bit for bits in operands))
        if form.decode(found).kind == NAN:
            return form.canonical_nan
        return found | (operands[0] ^ operands[1]) & form.sign_bit
    return run


def sign_operation(name, kind, flushes=False):
    form = FORMATS[kind]

    def run(bits):
        if form.decode(bits).kind == NAN:
            return form.canonical_nan
        if flushes:
            bits = flush(form, bits)
        return bits ^ form.sign_bit if name == "neg" else bits & ~form.sign_bit
    return run


def comparison(name, kind, flushes=False):
    """eq ne lt le gt ge: false with a NaN; with a u at the end true with a NaN; num, nan."""
    form = FORMATS[kind]
    ordered = {"eq": (0,), "ne": (-1, 1), "lt": (-1,), "le": (-1, 0), "gt": (1,), "ge": (0, 1)}
    base = name[:-1] if name.endswith("u") and name[:-1] in ordered else name
    if base not in ordered and name not in ("num", "nan"):
        raise ValueError(f"no such comparison: {name}")

    def run(left, right):
        if flushes:
            left, right = flush(form, left), flush(form, right)
        a, b = form.decode(left), form.decode(right)
        unordered = NAN in (a.kind, b.kind)
        if name in ("num", "nan"):
            return unordered == (name == "nan")
        if unordered:
            return base != name
        order = 0 if left == right or (a.is_zero and b.is_zero) else -1 if smaller(a, b) else 1
        return order in ordered[base]
    return run


def pairwise(function, width):
    """The same for both halves of registers, numbers of that many bits."""
    mask = (1 << width) - 1

    def run(*operands):
        return function(*[bits & mask for bits in operands]) | function(*[bits >> width for bits in operands]) << width
    return run
