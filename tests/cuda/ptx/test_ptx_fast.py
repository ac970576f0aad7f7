#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions by approximate instructions (fast.h), and the gradients that quantize_computed.cuh makes of them, keep to their
bounds where these instructions are as far off as the PTX ISA lets them be, either way, and by turns: PTX as nvcc makes it, in
the interpreter of tests/cuda/ptx. Values come from decimal, to 50 digits.
"""

import math
import random
import struct
import sys
from array import array
from decimal import Context, Decimal, setcontext
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[2] / room) for room in ["harness", "cuda"]]

import tap
from ptx import arithmetic, calls
from ptx.machine import Machine
from ptx.snippets import f32
from toolchain import named

BUILDS = [("75",), ("90", "-use_fast_math")]
FUNCTIONS = ["exp", "sigmoid", "tanh", "silu", "gelu_tanh"]
SLOPES = ["silu", "gelu_tanh"]
CALLS = ([calls.Call(name, name, ["float"], "float", 4, 1, f"*out = mpnum_{name}_fast_f32(get_float(in[0]));") for name in FUNCTIONS]
         + [calls.Call(f"{name}_slope", name, ["float"], "float", 4, 1,
                       f"*out = mpnum::gate_slope_<mpnum::gate_fast_{name}_>(mpnum::gate_(), get_float(in[0]));") for name in SLOPES])
# The interpreter has no functions of PTX: what is never inlined is inlined here.
BEGIN = """\
#include <mpnum/core/detail/config.h>
#undef MPNUM_RARE_
#define MPNUM_RARE_ MPNUM_INLINE
#include <mpnum/blocks/quantize_computed.cuh>
"""
setcontext(Context(prec=50, Emax=10 ** 9, Emin=-10 ** 9))
PI = Decimal("3.14159265358979323846264338327950288419716939937510582")
ROOT = (8 / PI).sqrt()
U, LEAST, MOST = Decimal(2) ** -24, Decimal(2) ** -126, Decimal(2) ** 128
ALWAYS = {"forward": lambda _bits: 1, "back": lambda _bits: -1,
          "by turns": lambda bits: random.Random(bits).uniform(-1, 1)}
WAYS = [(one, two) for one in ALWAYS for two in ALWAYS if (one == "by turns") == (two == "by turns")]


def value_of(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def power_of_e(x):
    return max(Decimal(-9999), min(x, Decimal(9999))).exp()


def inner(name, x):
    """What the logistic function is of, and its derivative."""
    if name == "gelu_tanh":
        return ROOT * (x + Decimal("0.044715") * x ** 3), ROOT * (1 + 3 * Decimal("0.044715") * x * x)
    return x, Decimal(1)


def exact(name, x):
    """(the value, what it may be off, relatively, and absolutely)"""
    x = Decimal(x)
    below = max(-x, Decimal(0))
    if name == "exp":
        return power_of_e(x), (Decimal("5.1") + Decimal("1.25") * abs(x)) * U, 2 * LEAST
    if name == "tanh":
        power = power_of_e(2 * x)
        return (x if abs(x) < Decimal(2) ** -30 else (power - 1) / (power + 1)), Decimal(2) ** -11, Decimal(0)
    base = name.removesuffix("_slope")
    v, slope = inner(base, x)
    part = 1 / (1 + power_of_e(-v))
    if name != base:
        return part + x * slope * part * (1 - part), Decimal(0), Decimal(2) ** (-17 if base == "silu" else -16)
    if name == "gelu_tanh":
        return x * part, (Decimal("10.1") + Decimal("3.2") * max(-v, Decimal(0))) * U, LEAST * 2 ** 4
    more = Decimal("1.25") * below
    return (part, (Decimal("9.1") + more) * U, 2 * LEAST) if name == "sigmoid" else (x * part, (Decimal("10.1") + more) * U, LEAST * 2 ** 7)


def specials(name):
    """{operand: result}, both as bits."""
    one = f32(1.0)
    return {"exp": {0: one, 0x80000000: one, f32(math.inf): f32(math.inf), f32(-math.inf): 0, 0x42b17219: f32(math.inf), f32(-200.0): 0},
            "sigmoid": {f32(-math.inf): 0, f32(-200.0): 0},
            "tanh": {0: 0, 0x80000000: 0x80000000, f32(math.inf): one, f32(-math.inf): f32(-1.0), 1: 1},
            "silu": {0: 0, 0x80000000: 0x80000000, f32(math.inf): f32(math.inf), f32(-math.inf): 0x80000000, 0xff7fffff: 0x80000000},
            "gelu_tanh": {0: 0, 0x80000000: 0x80000000, f32(math.inf): f32(math.inf), f32(-math.inf): 0x80000000, 0xff7fffff: 0x80000000},
            }.get(name, {f32(-math.inf): 0x80000000, 0xff7fffff: 0x80000000, f32(-200.0): 0x80000000})


def astray(name, x):
    """How far what goes into ex2 is off, to float, in units of that of its value: steps as the code has them."""
    def rounded(y):
        return struct.unpack("<f", struct.pack("<f", y))[0]
    if name.startswith("gelu"):
        by = 0.044715 * x * x
        factor = rounded(rounded(x * x) * value_of(0xbdd2d3e8) + value_of(0xc0135761))
        made, true = rounded(x * factor), -x * (1 + by) * float(ROOT) / math.log(2)
    else:
        made, true = rounded(x * value_of(0x3fb8aa3b)), x / math.log(2)
    return made / true - 1


def operands(name):
    generator = random.Random(name)
    numbers = [generator.uniform(-most, most) for most in (1, 10, 100) for _ in range(60)]
    numbers += [sign * 2 ** generator.uniform(-140, 127) for sign in (1, -1) for _ in range(20)]
    numbers += [sign * (least + k / 40) for least in (86.5, 4.9, 9.8, 19.9) for k in range(60 if least > 80 else 12) for sign in (1, -1)]
    found = [f32(x) for x in numbers]
    drawn = [value_of(f32(generator.uniform(-11 if "gelu" in name else -88, 0))) for _ in range(4000)]
    drawn += [value_of(f32(-44.361419555836 - k * 2.0 ** -18)) for k in range(400)]  # 64 and a bit more
    drawn.sort(key=lambda x: astray(name, x))
    found += [f32(x) for x in drawn[:60] + drawn[-60:]]
    found += [0x42b17217, 0x42b17218, 0x7f7fffff, 0xff7fffff, 0x00800000, 0x80800000, 0x007fffff, 0x3f800000, 0xbf800000]
    return found


def keeps_to_its_bound(machine, call):
    given, special, largest = operands(call.name), specials(call.name), Decimal(0)
    records = array("Q", [*given, *special, 0x7fc00000, 0xffffffff])
    wanted = [exact(call.name, value_of(bits)) for bits in given]
    for one, two in WAYS:
        arithmetic.ASTRAY.update(ex2=ALWAYS[one], rcp=ALWAYS[two], tanh=ALWAYS[one])
        try:
            made = struct.unpack(f"<{len(records)}I", calls.run_on(machine, call, records))
        finally:
            arithmetic.ASTRAY.clear()
        for bits, got, (want, relative, absolute) in zip(given, made, wanted):
            says = f"{call.name} of {value_of(bits)!r} is {value_of(got)!r}, ex2 {one}, rcp {two}"
            if got == f32(math.inf):
                assert want * (1 + relative) > MOST * (1 - U), says
                continue
            assert got & 0x7fffffff < 0x7f800000, says
            off, most = abs(Decimal(value_of(got)) - want), relative * abs(want) + absolute
            assert off <= most, f"{says}, off by {off / most:.3f} of what it may be"
            largest = max(largest, off / most)
        for (bits, want), got in zip(special.items(), made[len(given):]):
            assert got == want, f"{call.name} of {bits:#x} is {got:#x}"
        assert all(got & 0x7fffffff > 0x7f800000 for got in made[-2:]), f"{call.name} of NaN: {made[-2:]}"
    print(f"# off by {largest:.3f} of what it may be")


def properties(folder, known):
    text = BEGIN + calls.source(None, CALLS)
    for build in BUILDS:
        if build[0] not in known:
            continue
        machine = Machine(calls.compile_ptx(text, folder, *build))
        yield from [named(f"sm_{' '.join(build)}: {call.name} keeps to its bound", keeps_to_its_bound, machine, call) for call in CALLS]


def main():
    return calls.run("functions by approximate instructions keep to their bounds", properties)


if __name__ == "__main__":
    sys.exit(main())
