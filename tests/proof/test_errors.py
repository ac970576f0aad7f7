#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exp, log and tanh of f32 are off by no more than docs/proof.md says, in places: Gappa bounds what rounding does to
the steps that exp.g, log.g and tanh.g hold, on pieces of the domain, and series in exact fractions how far the
polynomials are from the functions. The steps are those of the headers: their constants and, at random, their results.

Where y is z rounded to nearest and z is within b places of the value, y is within 1/2 + b places.

usage: tests/proof/test_errors.py exp | log | tanh
"""

import ctypes
import math
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from toolchain import INCLUDE, cc, named
from tree import ROOT, check

HERE = Path(__file__).resolve().parent
LOG2 = sum(Fraction(1, k << k) for k in range(1, 120))  # less 2^-120
HEX = re.compile(r"0x[0-9a-f.]+p-?\d+")
PARTS = {"exp": ["whole_of", "high_of", "rest_of", "exp_slope", "exp_of_clamped"],
         "log": ["logarithm_of", "log_sum", "log_tail", "log"],
         "tanh": ["low_of", "exp_bend"]}
MASKS = {0xffffe000, 0x80000000}


def to_float(x):
    """The nearest float to a fraction, of ties the even one."""
    if not x:
        return x
    last = Fraction(2) ** (max(math.frexp(float(x))[1] - 1, -126) - 23)
    return round(x / last) * last


def place(x):
    """The unit in the last place of a float of x's size."""
    return Fraction(2) ** (math.frexp(float(x))[1] - 24)


def least_place(*values):
    """The place of the smallest of some values, which libm gives to far more than eight digits."""
    return place(Fraction(min(map(abs, values))) * (1 - Fraction(1, 10**8)))


def furthest(terms, low, high, pieces=16):
    """A bound of the magnitude of a polynomial, given by its coefficients, on an interval: on each piece as a
    polynomial around the middle."""
    half, most = (Fraction(high) - Fraction(low)) / (2 * pieces), 0
    for piece in range(pieces):
        moved = list(terms)
        for first in range(len(moved)):
            for k in range(len(moved) - 2, first - 1, -1):
                moved[k] += (low + half * (2 * piece + 1)) * moved[k + 1]
        most = max(most, sum(abs(one) * half**k for k, one in enumerate(moved)))
    return most


class Steps:
    def __init__(self, name):
        self.name, text = name, (HERE / f"{name}.g").read_text()
        self.definitions, self.hints = text.split("# hints\n")
        self.steps = re.findall(r"^(\w+) = (.*);$", self.definitions, re.M)
        self.constants = {name: Fraction(float.fromhex(value)) for name, value in self.steps
                          if re.fullmatch(r"-?" + HEX.pattern, value)}
        self.terms = [self.constants[f"c{k}"] for k in range(9) if f"c{k}" in self.constants]

    def off(self, series, low, high):
        """How far the polynomial is from a function of that power series, whose terms left out are below 2^-60."""
        rest = [-one for one in series]
        for k, term in enumerate(self.terms):
            rest[k] += term
        return furthest(rest, low, high) + Fraction(1, 2**60)

    def bounds(self, given, *asked, **fixed):
        """Intervals of what is asked, of all that is given."""
        fixed = "".join(f"{name} = {float(value).hex()};\n" for name, value in fixed.items())
        claim = f"{{ {given} -> " + " /\\ ".join(f"{one} in ?" for one in asked) + " }\n"
        said = subprocess.run(["gappa"], input=fixed + self.definitions + claim + self.hints, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert said.returncode == 0, said.stdout
        found = {}
        for line in said.stdout.splitlines():
            if match := re.match(r"\s*(.*) in \[(-?\d+)(?:b(-?\d+))?(?: {[^}]*})?, (-?\d+)(?:b(-?\d+))?", line):
                expression, *ends = match.groups()
                found[expression] = [int(a) * Fraction(2) ** int(b or 0) for a, b in zip(ends[::2], ends[1::2])]
        missing = [one for one in asked if one not in found]
        assert not missing, f"no bounds of {missing}: {said.stdout}"
        return [found[one] for one in asked]

    def values(self, **values):
        """Every step of a number."""
        values |= {"rn": to_float, "floor": lambda x: Fraction(math.floor(x)), "constant": Fraction.from_float}
        for name, text in self.steps:
            text = HEX.sub(lambda found: f"constant({float.fromhex(found[0])!r})", text.replace("int<dn>", "floor"))
            values[name] = Fraction(eval(text, values))
        return values

    def has_the_constants_of_the_header(self):
        text, found = (INCLUDE / "mpnum/func/detail/func.inc").read_text(), set()
        for function in PARTS[self.name]:
            body = re.search(rf"^MPNUM_VECTOR_ \w+ mpnumv_{function}\(.*?^}}", text, re.S | re.M)[0]
            found |= {int(bits, 16) for bits in re.findall(r"\b(0x[0-9a-f]{8})u\b", body)} - MASKS
        expected = {abs(Fraction(struct.unpack("<f", struct.pack("<I", bits))[0])) for bits in found}
        assert expected == {abs(value) for value in self.constants.values()}, [float(x).hex() for x in
                            expected ^ {abs(value) for value in self.constants.values()}]


def magnitude(*intervals):
    return max(abs(end) for interval in intervals for end in interval)


def pieces(*ends, each=1):
    """Intervals between ends, divided further."""
    ends = [low + (high - low) * k / each for low, high in zip(ends, ends[1:]) for k in range(each)] + [ends[-1]]
    return list(zip(ends, ends[1:]))


def finer(part, count):
    """An interval, divided into so many for each 1 that it is wide, and at least one."""
    return pieces(*part, each=1 + int(count * (part[1] - part[0])))


def within(low, high):
    return f"[{float(low).hex()}, {float(high).hex()}]".replace("0x0.0p+0", "0")


EXP, LOG, TANH = (Steps(name) for name in ("exp", "log", "tanh"))
EXP.terms.insert(0, Fraction(1))
FACTORIAL = [math.factorial(k) for k in range(20)]
ABOVE, TINY = 1 + 1e-6, 1e-6
REST = 0.3467  # the largest of x less n log 2
# Of n = -150 to 128, what n log 2 in two parts is off.
LOST = 150 * abs(LOG2 - EXP.constants["log2"] + EXP.constants["log2_rest"]) + Fraction(1, 2**100)


def x_is_reduced_to_half_an_octave():
    """And where n is not 0, x is further from n log 2 than what that is off, so that the rest has the right sign."""
    exact, whole = EXP.bounds("t in [-104, 89]", "exact", "n")
    assert magnitude(exact) <= REST and whole == [-150, 128]
    for there in ("[0.34, 89]", "[-104, -0.34]"): # elsewhere n is 0
        assert EXP.bounds(f"t in {there} /\\ far in [-0.3468, 0.3468]", "high - far") == [[0, 0]]
    for n in range(1, 151):
        assert abs(to_float(n * LOG2) - n * LOG2) > 2 * LOST, n


def exp_error():
    """Of normal results."""
    most = 0
    for low, high in pieces(-REST, 0, REST, each=16):
        rounding, value = EXP.bounds(f"rest in {within(low, high)}", "z - polynomial", "polynomial")
        off = EXP.off([Fraction(1, one) for one in FACTORIAL[:16]], low - TINY, high + TINY)
        moved = place(max(-low, high)) / 2 + LOST + Fraction(1, 2**50)  # r is rounded
        error = magnitude(rounding) + off + (magnitude(value) + off) * moved
        most = max(most, error * 2 ** (24 if high <= 0 else 23))
    return most


def log_error():
    most = 0
    # Where n is 0, sums of one float and 0, which are not rounded.
    same = "".join(f" /\\ {one} in [0, 0]" for one in ("sum - (n * log2 + high)", "added - (sum - n * log2)",
                                                     "low - (under + lost)", "lower - (n * -log2_rest + low)"))
    for first, last in [(n, n) for n in range(-3, 4)] + [(-2**k * 2 + 1, -2**k) for k in range(2, 8)] + [
            (2**k, 2**k * 2 - 1) for k in range(2, 8)] + [(128, 128)]:
        least, greatest = -0.3334, 0.3337
        # where the value is a power of two, and a little more
        powers = [sign * ABOVE * 2.0**-k for sign in (-1, 1) for k in range(-8, 26)] if first == last else []
        cuts = sorted(math.expm1(power - first * math.log(2)) for power in powers if abs(power - first * math.log(2)) < 0.5)
        cuts = [cut for cut in cuts if least < cut < greatest]
        parts = pieces(least, *cuts, greatest)
        for low, high in [piece for part in parts for piece in finer(part, 60 if abs(first) < 2 else 1)]:
            if max(abs(low), abs(high)) < 2**-24.5:
                continue  # no f but 0
            error, = LOG.bounds(f"f in {within(low, high)} /\\ n in [{first}, {last}] /\\ @FIX(f, -24) /\\ @FIX(n, 0)"
                                      + ("" if first or last else same), "z - exact")
            off = Fraction(max(-low, high)) ** 3 * LOG.off([Fraction((-1) ** k, k + 3) for k in range(40)], low, high)
            error = magnitude(error) + off + (LOST if first or last else 0)
            values = [n * math.log(2) + math.log1p(f) for n in (first, last) for f in (low, high)]
            most = max(most, error / least_place(*values))
    return most


def tanh_error():
    """Of |x| from 2^-19 to 10."""
    most = 0
    # 2 |x| where the value is a power of two, and a little more
    ends = [2 * math.atanh(ABOVE * 2.0**-k) for k in range(1, 21)]
    for n in range(0, -30, -1):
        middle = -n * math.log(2)
        cuts = [middle - end for end in ends if abs(middle - end) < REST]
        if n == 0:  # where the last place is another
            cuts = sorted(cuts + [-2.0**-k for k in range(2, 20)])
        parts = pieces(-REST, *cuts, *([] if n == 0 else [REST]))
        for low, high in [piece for part in parts for piece in finer(part, 50 if n >= -1 else 1)]:
            # x is a multiple of its last place, and so is the rest
            nearest = middle - high
            fixed = math.frexp(nearest)[1] - 24 if n == 0 else -25
            rounding, value, quotient = TANH.bounds(
                f"rest_of_x in {within(low, high)} /\\ @FIX(high, {fixed}) /\\ @FIX(start, {n}) /\\ @FIX(start_low, {n})"
                + (" /\\ less - (bend * power + both) in [0, 0]" if n == 0 else ""),  # power is 1, both 0
                "sum - exact", "sum", "z - ratio", n=n, power=2.0**n)
            if n:  # r is the rest of x with what is minor, rounded
                low, high = low - TINY, high + TINY
            far = Fraction(max(-low, high))
            off = far**2 * TANH.off([Fraction(1, FACTORIAL[k + 2]) for k in range(16)], low, high)
            if n:  # which weighs e^r - 1, less than |r| + 5/8 r^2 of these r
                off += place(far) / 2 * (far + Fraction(5, 8) * far**2) + 2 * (LOST + Fraction(1, 2**47))
            error = magnitude(rounding) + off * Fraction(2) ** n
            error = magnitude(quotient) + 2 * error / (2 + min(value) - error) ** 2
            most = max(most, error / least_place(math.tanh(nearest / 2)))
    return most


def result_of(name, x):
    """What the steps make of a float."""
    if name == "exp":
        steps = EXP.values(x=x)
        return to_float(to_float(steps["z"]) * Fraction(2) ** int(steps["n"]))
    if name == "log":
        n = math.frexp(x)[1]
        n -= 1 if Fraction(x) / Fraction(2) ** n < Fraction(float.fromhex("0x1.5566dp-1")) else 0
        return to_float(LOG.values(n=Fraction(n), f=Fraction(x) / Fraction(2) ** n - 1)["z"])
    reduced = EXP.values(x=Fraction(-2 * abs(x)))
    n = reduced["n"]
    return to_float(TANH.values(n=n, power=Fraction(2) ** int(n), rest_of_x=reduced["high"])["z"]) * (-1 if x < 0 else 1)


def the_steps_give_its_results(name):
    """Those of the library, of random floats."""
    with tempfile.TemporaryDirectory() as folder:
        check(*cc(), "-O1", "-fPIC", "-shared", "-I", INCLUDE, HERE / "functions.c", "-o", f"{folder}/functions.so")
        function = getattr(ctypes.CDLL(f"{folder}/functions.so"), f"{name}_f32")
    function.restype, function.argtypes = ctypes.c_float, [ctypes.c_float]
    draw = random.Random(1)
    for _ in range(300):
        x = {"exp": lambda: draw.uniform(-87, 88), "log": lambda: math.exp(draw.uniform(-100, 88) * draw.random() ** 4),
             "tanh": lambda: draw.choice((1, -1)) * math.exp(draw.uniform(-25, 2.3))}[name]()
        x = float(to_float(Fraction(x)))
        assert result_of(name, x) == function(x), x.hex()


def is_within_what_is_documented(name, error):
    documented = re.search(rf"^\| `{name}` \|.*\| ([\d.]+) \|$", (ROOT / "docs/proof.md").read_text(), re.M)[1]
    found = error() + Fraction(1, 2)
    print(f"# {float(found):.4f} places")
    assert found <= Fraction(documented), float(found)


def properties(name):
    steps, error = {"exp": (EXP, exp_error), "log": (LOG, log_error), "tanh": (TANH, tanh_error)}[name]
    made = [named(f"{name}_has_the_constants_of_the_header", steps.has_the_constants_of_the_header),
            named(f"the_steps_of_{name}_give_its_results", the_steps_give_its_results, name)]
    if name != "log":
        made.append(x_is_reduced_to_half_an_octave)
    return [*made, named(f"{name}_is_within_what_is_documented", is_within_what_is_documented, name, error)]


if __name__ == "__main__":
    if not shutil.which("gappa"):
        print("1..0 # SKIP not found: gappa")
        sys.exit()
    sys.exit(tap.run(*properties(sys.argv[1])))
