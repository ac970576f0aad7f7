# SPDX-License-Identifier: MIT
"""Formats, values and roundings in whole numbers, plain and slow: what the transcriptions of manuals beside this file
are made of. Nothing here is taken from the library."""

NEAREST_EVEN, TOWARD_ZERO, UP, DOWN, NEAREST_AWAY, TO_ODD = "nearest even", "toward zero", "up", "down", "nearest away", "to odd"
NAN, INF = "nan", "inf"


class Format:
    """Sign, exponent and mantissa bits, bias; specials: ieee, fn (all ones is NaN), fnuz (the code of -0 is NaN), finite,
    or e8m0 (no sign, no zero, all ones is NaN)."""

    def __init__(self, name, sign, exponent, mantissa, bias, specials):
        self.name, self.sign, self.exponent, self.mantissa, self.bias, self.specials = name, sign, exponent, mantissa, bias, specials
        self.width = sign + exponent + mantissa
        self.top = exponent + mantissa  # the sign's place
        ones = (1 << self.top) - 1
        self.inf = ones & ~((1 << mantissa) - 1) if specials == "ieee" else None
        self.max = {"ieee": (self.inf or 0) - 1, "fn": ones - 1, "e8m0": ones - 1, "fnuz": ones, "finite": ones}[specials]

    def is_nan(self, code):
        magnitude = code & ((1 << self.top) - 1)
        if self.specials == "fnuz":
            return code == 1 << self.top
        return self.specials != "finite" and magnitude > (self.max if self.inf is None else self.inf)

    def value(self, code):
        """NAN, (sign, INF) or (sign, m, e): (-1)^sign m 2^e."""
        sign, magnitude = code >> self.top & self.sign, code & ((1 << self.top) - 1)
        if self.is_nan(code):
            return NAN
        if magnitude == self.inf:
            return sign, INF
        field, fraction = magnitude >> self.mantissa, magnitude & ((1 << self.mantissa) - 1)
        if self.specials == "e8m0":
            return 0, 1, field - self.bias
        if field == 0:
            return sign, fraction, 1 - self.bias - self.mantissa
        return sign, fraction | 1 << self.mantissa, field - self.bias - self.mantissa


FORMATS = {row[0]: Format(*row) for row in [
    ("f64", 1, 11, 52, 1023, "ieee"), ("f32", 1, 8, 23, 127, "ieee"), ("tf32", 1, 8, 10, 127, "ieee"), ("bf16", 1, 8, 7, 127, "ieee"),
    ("f16", 1, 5, 10, 15, "ieee"), ("e5m2", 1, 5, 2, 15, "ieee"), ("e4m3", 1, 4, 3, 7, "fn"), ("e5m2fnuz", 1, 5, 2, 16, "fnuz"),
    ("e4m3fnuz", 1, 4, 3, 8, "fnuz"), ("e3m2", 1, 3, 2, 3, "finite"), ("e2m3", 1, 2, 3, 1, "finite"),
    ("e2m1", 1, 2, 1, 1, "finite"), ("ue8m0", 0, 8, 0, 127, "e8m0"), ("ue5m3", 0, 5, 3, 15, "fn")]}


def is_up(rounding, sign, odd, rest, one):
    """Whether a magnitude goes up whose discarded part is rest of one; a rounding may be (bits, random), too: the carry
    of the sum of random and the leading bits of what is discarded."""
    if isinstance(rounding, tuple):
        bits, random = rounding
        return (rest << bits) // one + random >= 1 << bits
    return {NEAREST_EVEN: 2 * rest > one or (2 * rest == one and odd), TOWARD_ZERO: False, UP: rest > 0 and not sign,
            DOWN: rest > 0 and bool(sign), NEAREST_AWAY: 2 * rest >= one, TO_ODD: rest > 0 and not odd}[rounding]


def rounded(format, value, rounding):
    """The magnitude's code, or None for one past the largest: (sign, m, e), finite."""
    sign, m, e = value
    if format.specials == "e8m0":
        return rounded_e8m0(format, value, rounding)
    if m == 0:
        return 0
    least = 1 - format.bias
    gap = max(m.bit_length() - 1 + e, least) - format.mantissa  # log2 of the distance of codes there
    one = 1 << max(gap - e, 0)
    units, rest = divmod(m << max(e - gap, 0), one)
    units += is_up(rounding, sign, units & 1, rest, one)
    if units >> (format.mantissa + 1):
        units, gap = units >> 1, gap + 1
    is_normal = units >> format.mantissa
    code = ((gap + format.mantissa - least) << format.mantissa) + units if is_normal else units
    return code if code <= format.max else None


def rounded_e8m0(format, value, rounding):
    """The exponent of a power of two: 2^-127 is the least."""
    _, m, e = value
    top = m.bit_length() - 1 + e
    if m == 0 or top < -format.bias:
        return 0
    code = top + format.bias + (rounding == UP and m & (m - 1) > 0)
    return code if code <= format.max else None


def goes_to_max(rounding, sign):
    """IEEE 754-2019, 7.4: the overflows that give the largest finite value."""
    return rounding in (TOWARD_ZERO, TO_ODD) or (rounding == UP and sign) or (rounding == DOWN and not sign)


def integral(value, rounding):
    """The integer that a finite value rounds to, as (sign, m, 0)."""
    sign, m, e = value
    if e >= 0:
        return sign, m << e, 0
    units, rest = divmod(m, 1 << -e)
    return sign, units + is_up(rounding, sign, units & 1, rest, 1 << -e), 0


def times(value, exponent):
    return value if value == NAN or value[1] == INF else (value[0], value[1], value[2] + exponent)


def tabled(format, convert):
    """convert of each code, as a list. It is monotone between 0 and the largest value of each sign: where both ends of a
    range agree, all of it does."""
    results = [None] * (1 << format.width)
    for sign in range(1 + format.sign):
        first = sign << format.top
        ranges = [(first, first + format.max)]
        while ranges:
            low, high = ranges.pop()
            for code in (low, high):
                results[code] = convert(code) if results[code] is None else results[code]
            if results[low] == results[high]:
                results[low:high] = [results[low]] * (high - low)
            elif high - low > 1:
                ranges += [(low, (low + high) // 2), ((low + high) // 2, high)]
    return [convert(code) if result is None else result for code, result in enumerate(results)]


def boundaries(source, target):
    """Codes of a source that are hard for a target: its codes' values and the midpoints between them, each with its
    neighbours in the source, zeros, subnormals, the largest, Inf, NaNs. Of wide targets the ends of each binade."""
    s, t = FORMATS[source], FORMATS[target]
    codes = set(range(4)) | {s.max - 1, s.max}
    if s.inf is not None:
        codes |= {s.inf, s.inf + 1, s.inf | 1 << (s.mantissa - 1), s.inf | ((1 << s.mantissa) - 1)}
        codes |= {s.inf | 5 << (s.mantissa - 3), 1 << s.mantissa, (1 << s.mantissa) - 1}
    ends = {0, 1, (1 << t.mantissa) - 1} if t.width > 8 else range(1 << t.mantissa)
    for code in [field << t.mantissa | fraction for field in range(1 << t.exponent) for fraction in ends]:
        if code > t.max:
            continue
        _, m, e = t.value(code)
        for point in ((2 * m, e - 1), (2 * m + 1, e - 1)):
            near = rounded(s, (0, *point), TOWARD_ZERO)
            if near is not None:
                codes |= {max(near - 1, 0), near, min(near + 1, s.max)}
    return sorted(codes | {code | 1 << s.top for code in codes})
