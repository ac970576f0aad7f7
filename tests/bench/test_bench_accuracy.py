#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The accuracy that `mpnum bench` tells of each format, against exact arithmetic.
test_bench_accuracy.py PROGRAM"""

import fractions
import math
import struct
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
import tensor_files
from bench_program import FORMATS, measured, result_of, tensors
from tensor_files import entry, floats, npy, safetensors

# What a value becomes, in exact arithmetic: nearest even on the format's own grid.

def floor_log2(x):
    """Of a positive Fraction."""
    power = x.numerator.bit_length() - x.denominator.bit_length()
    return power if fractions.Fraction(2) ** power <= x else power - 1


def rounded_power_of_two(x):
    """e8m0: ties to the even code, exponent plus 127."""
    x = max(x, fractions.Fraction(2) ** -127)
    power = floor_log2(x)
    middle = fractions.Fraction(3, 2) * fractions.Fraction(2) ** power
    up = x > middle or (x == middle and (power + 127) % 2 == 1)
    return fractions.Fraction(2) ** (power + up)


def quantise(name, x):
    """(value, overflowed) of a Fraction, saturating; overflow as if the exponent had no bound."""
    _, _, mantissa, bias, top, _, _ = FORMATS[name]
    magnitude = abs(x)
    if name == "e8m0":
        value, sign = rounded_power_of_two(magnitude), 1
    else:
        sign = -1 if x < 0 else 1
        power = max(floor_log2(magnitude), 1 - bias)
        step = fractions.Fraction(2) ** (power - mantissa)
        value = round(magnitude / step) * step  # a Fraction rounds ties to even
    return sign * min(value, fractions.Fraction(top)), value > top


def expected_row(name, values, scaled):
    """The figures of the bench for finite nonzero Fractions."""
    top = fractions.Fraction(FORMATS[name][4])
    power = floor_log2(top / max(abs(x) for x in values)) if scaled else 0
    factor = fractions.Fraction(2) ** power
    relative, noise, signal, over, under = [], 0, 0, 0, 0
    for x in values:
        result, overflowed = quantise(name, x * factor)
        x = abs(x) if name == "e8m0" else x
        error = result / factor - x
        if result != 0 and not overflowed:
            relative.append(abs(error / x))
        noise, signal = noise + error ** 2, signal + x ** 2
        over, under = over + overflowed, under + (result == 0)
    return {
        **({"scale_exponent": power} if scaled else {}),
        **({"max_relative_error": float(max(relative)),
            "rms_relative_error": math.sqrt(sum(r * r for r in relative) / len(relative))} if relative else {}),
        "sqnr": math.inf if noise * 10 ** 30 < signal else 10 * math.log10(signal / noise),
        "overflow_share": over / len(values),
        "underflow_share": under / len(values),
    }


def same(got, wanted):
    return math.isclose(got, wanted, rel_tol=1e-9, abs_tol=1e-300)


def check_rows(about, values):
    """Every figure of a tensor against exact arithmetic on the finite nonzero values."""
    rows = {(row["format"], row["scale"]): row for row in about["rows"]}
    named = {name for name, _ in rows}
    assert named == set(FORMATS), f"FORMATS of bench_program.py and the rows differ in {' '.join(named ^ set(FORMATS))}"
    assert len(rows) == 2 * len(FORMATS), len(rows)
    for (name, scale), row in rows.items():
        expected = expected_row(name, values, scale == "amax")
        assert set(row) == {"format", "scale", *expected}, row
        for metric, wanted in expected.items():
            assert same(row[metric], wanted), (about["tensor"], name, scale, metric, row[metric], wanted)


def pseudo_random_bits(count, width):
    """A linear congruential generator with Knuth's constants; its top bits."""
    state, result = 20240229, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        result.append(state >> (64 - width))
    return result


def split(values):
    """(zeros, non-finite, the others as Fractions)."""
    finite = [x for x in values if math.isfinite(x)]
    others = [fractions.Fraction(x) for x in finite if x != 0]
    return len(finite) - len(others), len(values) - len(finite), others


def check_tensor(about, values):
    zeros, nonfinite, others = split(values)
    got = (about["values"], about["zeros"], about["non_finite"], about["amax"])
    assert got == (len(values), zeros, nonfinite, float(max(map(abs, others)))), (about["tensor"], got)
    check_rows(about, others)


def f32_figures_are_exact():
    words = struct.pack("<300I", *pseudo_random_bits(300, 32))
    near_one = floats(*((bits - 128) / 7 for bits in pseudo_random_bits(300, 8)))
    ties = floats(464, 464.00003, 480, 61440, 61439, 65520, 65519, 7, -7, 30, 7.75, 15.75, 1.5, 3, 6, 2 ** -10,
                  -3 * 2.0 ** -11, 0.25, 0.75, 1.25, 2.5, 1.5 * 2.0 ** 127, 2.0 ** -127, 2.0 ** -149, 3e38)
    same_fraction_as_max = floats(3, -1.7, 0.1), floats(448, 0.3), floats(-1.9375, 1e-3), floats(2.0 ** -127)
    for data in (words, near_one, ties, *same_fraction_as_max):
        values = struct.unpack(f"<{len(data) // 4}f", data)
        found = measured(npy("'<f4'", f"({len(values)},)", data), "values.npy")
        check_tensor(found["values.npy"], values)


def f16_and_bf16_figures_are_exact():
    codes = pseudo_random_bits(300, 16)
    data = struct.pack("<300H", *codes)
    blob = safetensors({"h": entry("F16", [300], 0, 600), "b": entry("BF16", [30, 10], 600, 1200)}, data + data)
    found = measured(blob, "codes.safetensors")
    check_tensor(found["h"], struct.unpack("<300e", data))
    check_tensor(found["b"], [struct.unpack("<f", struct.pack("<I", code << 16))[0] for code in codes])
    assert (found["h"]["type"], found["b"]["type"]) == ("f16", "bf16"), found["h"]["type"]


def f16_agrees_with_the_struct_module():
    """A second witness: CPython's own half precision."""
    values = [x / 1024 for x in pseudo_random_bits(300, 22) if x]
    data = floats(*values)
    values = struct.unpack(f"<{len(values)}f", data)
    halves = struct.unpack(f"<{len(values)}e", struct.pack(f"<{len(values)}e", *values))
    worst = max(abs(h - x) / x for h, x in zip(halves, values))
    row = measured(npy("'<f4'", f"({len(values)},)", data), "v.npy")["v.npy"]["rows"]
    row = next(r for r in row if r["format"] == "f16" and r["scale"] == "none")
    assert same(row["max_relative_error"], worst), (row["max_relative_error"], worst)


def distributions_are_what_they_say():
    figures, _ = result_of("--accuracy", "--scale", "none")
    subjects = {about["tensor"]: about for about in tensors(figures)}
    count = 2 ** 20
    # Shares of values that become zero, |x| <= half the smallest value, from the laws' distribution functions.
    u = 0.25 / math.sqrt(3)
    flushed = {"normal": ("e2m1", math.erf(0.25 / math.sqrt(2))),
               "gradients": ("e4m3", 0.5 * math.erfc(-(math.log10(2.0 ** -10) + 6) / 2 / math.sqrt(2))),
               "activations": ("e2m1", 2 / math.pi * (u / (1 + u * u) + math.atan(u)))}
    for name, (target, share) in flushed.items():
        row = next(r for r in subjects[name]["rows"] if r["format"] == target)
        deviation = math.sqrt(share * (1 - share) / count)
        assert abs(row["underflow_share"] - share) < 5 * deviation, (name, row["underflow_share"], share)
        assert subjects[name]["values"] == count
    assert 4 < subjects["normal"]["amax"] < 7, subjects["normal"]["amax"]


def scale_is_chosen():
    for choice, scales in (("none", {"none"}), ("amax", {"amax"}), ("both", {"none", "amax"})):
        found = measured(tensor_files.GOOD["plain.npy"], "p.npy", "--scale", choice)
        assert {row["scale"] for row in found["p.npy"]["rows"]} == scales


sys.exit(tap.run(
    f32_figures_are_exact,
    f16_and_bf16_figures_are_exact,
    f16_agrees_with_the_struct_module,
    distributions_are_what_they_say,
    scale_is_chosen))
