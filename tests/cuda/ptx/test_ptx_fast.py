#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions by approximate instructions (fast.h), and the gradients that activations of rows make of them, keep to their
bounds where these instructions are as far off as the PTX ISA lets them be, either way, and by turns: PTX as nvcc makes it, in
the interpreter of tests/cuda/ptx. Values come from decimal, to 50 digits. Rows have these values and gradients, rounded.
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
from ptx.launches import Program
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


COLUMNS = 520  # a vector of each thread of a warp, twice, and one more
ROWS = """
extern "C" int rows_NAME(void **at) {
  const mpnum_activation kind = MPNUM_ACTIVATION_NAME;
  mpnum_activation_options how = mpnum_activation_default();
  const auto x = mpnum::matrix_of((const mpnum_bf16 *)at[0], 1, COLUMNS), dy = mpnum::matrix_of((const mpnum_bf16 *)at[2], 1, COLUMNS);
  const auto halves = [&](int i) { return mpnum::matrix_of((mpnum_bf16 *)at[i], 1, COLUMNS); };
  const auto bytes = [&](int i) { return mpnum::matrix_of((mpnum_e4m3 *)at[i], 1, COLUMNS); };
  const float *const scale = (const float *)at[9];
  how.factor = mpnum_const_matrix_of(MPNUM_TYPE_BF16, at[1], 1, COLUMNS);
  int error = mpnum_launch_activation_rows<true>(kind, halves(3), x, &how, nullptr);
  if (!error) error = mpnum_launch_activation_backward_rows<true>(kind, halves(4), halves(5), dy, x, &how, nullptr);
  if (!error) error = mpnum_launch_activation_quantize_rows<true>(kind, bytes(6), x, &how, scale, (float *)at[10], nullptr);
  if (!error)
    error = mpnum_launch_activation_backward_quantize_rows<true>(kind, bytes(7), bytes(8), dy, x, &how, scale, (float *)at[11], nullptr);
  return error;
}
""".replace("COLUMNS", str(COLUMNS))
E4M3 = [(8 + code % 8) * 2.0 ** (code // 8 - 10) if code > 7 else code * 2.0 ** -9 for code in range(127)]
SCALE = 4.0


def to_float(x):
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def to_bf16(x):
    bits = f32(x)
    return 0x7fff if x != x else bits + 0x7fff + (bits >> 16 & 1) >> 16


def to_e4m3(x):
    if x != x:
        return 0x7f
    code = min(range(127), key=lambda one: (abs(E4M3[one] - min(abs(x), 448)), one % 2))
    return code | (math.copysign(1, x) < 0) << 7


def rows_have_their_values(program, values, slopes, name):
    """Those of functions that were called one by one, and products with factors and dy."""
    generator = random.Random(name)
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, -3e38, 3e38, 1e-40, -1e-40, -128.0, -127.0, -90.0, -20.0]
    x = [value_of(to_bf16(one) << 16) for one in (*special, *(value_of(bits) for bits in operands(name)[:COLUMNS - 2 * len(special)]), *special)]
    x += [value_of(to_bf16(generator.uniform(-9, 9)) << 16) for _ in range(COLUMNS - len(x))]
    factor, dy = ([value_of(to_bf16(generator.uniform(-3, 3)) << 16) for _ in x] for _ in range(2))
    arithmetic.ASTRAY.update(ex2=ALWAYS["by turns"], rcp=ALWAYS["by turns"])
    try:
        value, slope = (struct.unpack(f"<{COLUMNS}f", calls.run_on(program.machine, call, array("Q", map(f32, x)))) for call in (values, slopes))
        given = [struct.pack(f"<{COLUMNS}H", *map(to_bf16, one)) for one in (x, factor, dy)]
        sizes = [2 * COLUMNS] * 3 + [COLUMNS] * 3
        memory = [program.machine.allocate(one) for one in (*given, *map(bytes, sizes), struct.pack("<f", SCALE), bytes(4), bytes(4))]
        assert program.call(f"rows_{name.upper()}", [one.address for one in memory]) == 0
    finally:
        arithmetic.ASTRAY.clear()
    y = [to_float(a * b) for a, b in zip(value, factor)]
    of_x = [to_float(to_float(a * b) * c) for a, b, c in zip(dy, factor, slope)]
    of_factor = [to_float(a * b) for a, b in zip(dy, value)]
    for k, want in enumerate([y, of_x, of_factor, y, of_x, of_factor]):
        codes = [to_bf16(one) if k < 3 else to_e4m3(to_float(SCALE * one)) for one in want]
        got = struct.unpack(f"<{COLUMNS}{'H' if k < 3 else 'B'}", bytes(memory[3 + k].data))
        for i, (a, b) in enumerate(zip(got, codes)):
            assert a == b, f"result {k} of {x[i]!r} at {i} is {a:#x}, not {b:#x}, factor {factor[i]!r}, dy {dy[i]!r}"
    for place, found in ((10, y), (11, of_x + of_factor)):
        amax, = struct.unpack("<f", bytes(memory[place].data))
        assert amax == max(abs(one) for one in found if math.isfinite(one)), f"amax {amax!r}"


def properties(folder, known):
    text = BEGIN + calls.source(None, CALLS)
    for build in BUILDS:
        if build[0] not in known:
            continue
        machine = Machine(calls.compile_ptx(text, folder, *build))
        yield from [named(f"sm_{' '.join(build)}: {call.name} keeps to its bound", keeps_to_its_bound, machine, call) for call in CALLS]
    program = Program(text + "".join(ROWS.replace("NAME", name.upper()) for name in SLOPES), folder, "90")
    by_name = {call.name: call for call in CALLS}
    yield from [named(f"rows of {name} have its values", rows_have_their_values, program, by_name[name], by_name[f"{name}_slope"], name)
                for name in SLOPES]


def main():
    return calls.run("functions by approximate instructions keep to their bounds", properties)


if __name__ == "__main__":
    sys.exit(main())
