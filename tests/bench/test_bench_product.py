#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `mpnum bench --product` tells of products, against exact arithmetic. test_bench_product.py PROGRAM"""

import fractions
import math
import re
import struct
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from bench_program import FORMATS, Figures, Folder, bench, json_of, result_of
from tensor_files import entry, floats, npy, safetensors

ROWS, SEED = 8, 36
Fraction = fractions.Fraction


def philox(counter, seed):
    """Philox4x32-10 of Salmon and others, 2011: four words."""
    c, key = [counter & 0xffffffff, counter >> 32, 0, 0], [seed & 0xffffffff, seed >> 32]
    for _ in range(10):
        a, b = 0xd2511f53 * c[0], 0xcd9e8d57 * c[2]
        c = [(b >> 32) ^ c[1] ^ key[0], b & 0xffffffff, (a >> 32) ^ c[3] ^ key[1], a & 0xffffffff]
        key = [(key[0] + 0x9e3779b9) & 0xffffffff, (key[1] + 0xbb67ae85) & 0xffffffff]
    return c


def as_float(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def vectors(length):
    """Rows of sums of 12 words, less 6."""
    words = [word for counter in range(3 * ROWS * length) for word in philox(counter, SEED)]
    values = [as_float(math.fsum([-6] + [word * 2.0**-32 for word in words[12 * i:12 * i + 12]])) for i in range(ROWS * length)]
    return [values[r * length:(r + 1) * length] for r in range(ROWS)]


def rounded(name, x):
    """To nearest even, saturating; exact of f32."""
    if name == "f32" or x == 0:
        return Fraction(x)
    _, _, mantissa, bias, top, _, _ = FORMATS[name]
    power = max(math.frexp(abs(x))[1] - 1, 1 - bias)
    step = Fraction(2) ** (power - mantissa)
    return max(-Fraction(top), min(Fraction(top), round(Fraction(x) / step) * step))


def scale_of(name, rows):
    """Of 8 bits the power of two that brings the largest just below a quarter of the format's largest."""
    if name != "e4m3":
        return Fraction(1)
    return Fraction(2) ** math.floor(math.log2(112.0 / max(abs(x) for row in rows for x in row)))


def sum_of_h100(a, b, step, bits, kept):
    """Terms are cut toward zero behind the point of the largest exponent, and so is their sum."""
    def exponent(x):
        return -10**6 if x == 0 else math.frexp(float(x))[1] - 1

    def cut(x, place):
        unit = Fraction(2) ** place
        return math.trunc(x / unit) * unit

    total = Fraction(0)
    for first in range(0, len(a), step):
        pairs = [(x, y) for x, y in zip(a[first:first + step], b[first:first + step]) if x and y]
        most = max([exponent(total)] + [exponent(x) + exponent(y) for x, y in pairs])
        total = sum((cut(x * y, most - bits) for x, y in pairs), cut(total, most - bits))
        total = cut(total, exponent(total) - kept) if total else total
    return total


def check_rows(figures, source, rows, length):
    """Of no element that is subnormal in its format."""
    others = vectors(length)
    exact = [sum(Fraction(x) * Fraction(y) for x, y in zip(a, b)) for a in rows for b in others]
    signal = sum(x * x for x in exact)
    for name, unit, step, bits, kept in (("f16", "exact", 0, 0, 0), ("e4m3", "exact", 0, 0, 0), ("f16", "h100.f16", 16, 25, 23),
                                         ("bf16", "h100.bf16", 16, 25, 23), ("e4m3", "h100.fp8", 32, 13, 13)):
        left, right = scale_of(name, rows), scale_of(name, others)
        sides = [[[rounded(name, float(x * s)) for x in map(Fraction, row)] for row in side] for side, s in ((rows, left), (others, right))]
        sums = [sum_of_h100(a, b, step, bits, kept) if step else sum(x * y for x, y in zip(a, b)) for a in sides[0] for b in sides[1]]
        errors = [abs(x / (left * right) - y) for x, y in zip(sums, exact)]
        found = figures.metrics("product", source, f"{name} {unit}", f"K = {length}")
        want = 10 * math.log10(signal / sum(x * x for x in errors))
        assert abs(found["sqnr"] - want) < 1e-6, (name, unit, found, want)
        want = float(max(errors)) / math.sqrt(signal / len(exact))
        assert math.isclose(found["worst"], want, rel_tol=1e-9), (name, unit, found, want)


def figures_are_exact():
    rows = [[(((r * 40 + k) * 7919) % 1009 - 504) / 512 + (0.01 if k % 3 else -1.5) for k in range(40)] for r in range(ROWS)]
    rows = [[as_float(x) for x in row] for row in rows]
    data = floats(*(x for row in rows for x in row))
    figures, _ = result_of("--product", "v.npy", **{"v.npy": npy("'<f4'", f"({ROWS}, 40)", data)})
    source = figures.all_of("source", "product")[0]
    assert (figures.get("product", source, metric="rows"), figures.get("product", source, metric="columns")) == (ROWS, 40)
    check_rows(figures, source, rows, 40)


def longer_products_go_on_with_the_next_rows_and_promotion_helps():
    data = floats(*((((i * 7919) % 4001) - 2000) / 1024 for i in range(16 * 128)))
    figures, out = result_of("--product", "v.npy", **{"v.npy": npy("'<f4'", "(16, 128)", data)})
    source = figures.all_of("source", "product")[0]
    assert max(map(len, out.splitlines())) <= 100, out
    at = {name: figures.get("product", source, name, "K = 16384", "sums_sqnr")
          for name in ("e4m3 exact", "e4m3 h100.fp8", "e4m3 h100.fp8 +128", "f16 h100.f16.f16", "f16 h100.f16.f16 +128", "f16 a100.f16", "f16 h100.f16")}
    assert at["e4m3 exact"] == math.inf, at
    assert at["e4m3 h100.fp8 +128"] > at["e4m3 h100.fp8"] and at["f16 h100.f16.f16 +128"] > at["f16 h100.f16.f16"], at
    assert at["f16 h100.f16"] > at["f16 a100.f16"] > at["f16 h100.f16.f16"], at
    assert "h100.fp8 +128" in out, out


def zeros_and_empty_tensors_have_no_errors():
    blob = safetensors({"zero": entry("F32", [4, 8], 0, 128), "none": entry("F32", [0, 8], 128, 128)}, bytes(128))
    figures, out = result_of("--product", "z.safetensors", **{"z.safetensors": blob})
    assert figures.all_of("name", "product") == ["f32 f32"] or not [row for row in figures.rows if row["metric"] == "sqnr"], figures.rows
    assert "no nonzero finite value" in out, out


def a_curve_for_each_sum_that_loses():
    data = floats(*((((i * 7919) % 4001) - 2000) / 1024 for i in range(16 * 128)))
    with Folder(**{"v.npy": npy("'<f4'", "(16, 128)", data)}) as folder:
        code, _, errors = bench("--product", "v.npy", "--svg", "s.svg", "--json", "j", folder=folder)
        assert code == 0, errors
        root = xml.parse(folder / "s.svg").getroot()
        decades = [(int(label.text[2:]), float(label.get("y")) - 4) for label in root if re.fullmatch(r"1e-?\d+", label.text or "")]
        curves = {curve[0].text: [tuple(map(float, point.split(","))) for point in curve.get("points").split()]
                  for curve in root if curve.get("class") == "curve"}
        figures = Figures(json_of(folder / "j"))
    want = {}
    for row in figures.select("product", None, None, None, "sums_sqnr"):
        if math.isfinite(row["value"]):
            want.setdefault(row["name"], []).append((int(row["variant"][4:]), -row["value"] / 20))
    assert set(curves) == set(want) and "f16 h100.f16.f16" in want, (set(curves) ^ set(want))
    (low, bottom), (high, top) = min(decades), max(decades)
    steps = set()
    for name, points in curves.items():
        assert len(points) == len(want[name]), (name, points, want[name])
        lengths, errors = zip(*want[name])
        for (_, y), error in zip(points, errors):
            assert abs(y - bottom - (top - bottom) * (error - low) / (high - low)) < 0.1, (name, points, errors, decades)
        steps |= {round((x - points[0][0]) / math.log2(length / lengths[0]), 1) for (x, _), length in zip(points[1:], lengths[1:])}
    assert max(steps) - min(steps) < 0.11 and min(steps) > 50, steps


sys.exit(tap.run(figures_are_exact, a_curve_for_each_sum_that_loses, longer_products_go_on_with_the_next_rows_and_promotion_helps, zeros_and_empty_tensors_have_no_errors))
