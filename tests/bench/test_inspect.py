#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`mpnum inspect`: what it finds against counts made here, its verdicts, its outputs, and what it refuses.
test_inspect.py PROGRAM"""

import json
import math
import os
import random
import re
import struct
import subprocess
import sys
import time
import xml.etree.ElementTree
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
import tensor_files
from bench_program import PROGRAM, SECONDS, Folder, bench, csv_of, json_of, terminal_output
from block_reference import losses_of
from tensor_files import entry, floats, gauss, npy, safetensors
from tree import ROOT


# --- values of formats, from their definitions ---------------------------------------------------------

def values_of(exponent_bits, mantissa_bits, bias, is_special):
    """The value of each code from 0 to 127 of an 8-bit format: Inf, NaN or finite."""
    values = []
    for code in range(128):
        exponent, mantissa = code >> mantissa_bits, code & ((1 << mantissa_bits) - 1)
        if is_special(code):
            values.append(is_special(code))
        elif exponent == 0:
            values.append(math.ldexp(mantissa, 1 - bias - mantissa_bits))
        else:
            values.append(math.ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits))
    return values


MAGNITUDES = {
    "e4m3": values_of(4, 3, 7, lambda code: math.nan if code == 0x7f else None),
    "e5m2": values_of(5, 2, 15, lambda code: None if code < 0x7c else math.inf if code == 0x7c else math.nan),
}
FINITE = {name: [x for x in values if math.isfinite(x)] for name, values in MAGNITUDES.items()}
SUBNORMAL = {"e4m3": 2.0 ** -6, "e5m2": 2.0 ** -14, "f16": 2.0 ** -14, "bf16": 2.0 ** -126, "f32": 2.0 ** -126,
             "f64": 2.0 ** -1022, "e8m0": 0, "ue4m3": 2.0 ** -6, "ue5m3": 2.0 ** -14}


def byte_value(name, code):
    if name == "e8m0":
        return math.nan if code == 255 else 2.0 ** (code - 127)
    if name == "ue4m3":
        return MAGNITUDES["e4m3"][code & 0x7f]
    if name == "ue5m3":
        exponent, mantissa = divmod(code, 8)
        return math.nan if code == 255 else (mantissa + 8 * (exponent > 0)) * 2.0 ** (max(exponent, 1) - 18)
    return math.copysign(MAGNITUDES[name][code & 0x7f], -1 if code & 0x80 else 1)


def rounded(name, x):
    """Nearest even, saturating."""
    table = FINITE[name]
    magnitude = min(abs(x), table[-1])
    code = min(range(len(table)), key=lambda code: (abs(table[code] - magnitude), code & 1))
    return math.copysign(table[code], x)


def decode(name, data):
    if name in ("f64", "f32", "f16"):
        letter = {"f64": "d", "f32": "f", "f16": "e"}[name]
        return [x[0] for x in struct.iter_unpack("<" + letter, data)]
    if name == "bf16":
        return [struct.unpack("<f", b"\0\0" + data[i:i + 2])[0] for i in range(0, len(data), 2)]
    return [byte_value(name, code) for code in data]


def floats_of(values):
    """As f32."""
    found = []
    for x in values:
        try:
            found.append(struct.unpack("<f", struct.pack("<f", x))[0])
        except OverflowError:
            found.append(math.copysign(math.inf, x))
    return found


def exponents(values):
    counts = {}
    for x in floats_of(values):
        if math.isfinite(x) and x != 0:
            exponent = max(math.frexp(x)[1] - 1, -127)
            counts[exponent] = counts.get(exponent, 0) + 1
    return sorted([exponent, count] for exponent, count in counts.items())


def check_findings(row, name, values):
    finite = [abs(x) for x in values if math.isfinite(x)]
    bad = [i for i, x in enumerate(values) if not math.isfinite(x)]
    wanted = {"type": name, "values": len(values), "amax": max(finite, default=0.0),
              "zeros": sum(x == 0 for x in finite), "subnormals": sum(0 < x < SUBNORMAL[name] for x in finite),
              "infs": sum(map(math.isinf, values)), "nans": sum(map(math.isnan, values)),
              "first_nonfinite": bad[0] if bad else None, "exponents": exponents(values)}
    got = {key: row[key] for key in wanted}
    assert got == wanted, (got, wanted)


# --- runs ------------------------------------------------------------------------------------------------

def inspect(*arguments, files=None, **settings):
    """(rows by tensor, output) of a run in a folder with these files; its CSV is its JSON."""
    with Folder(**(files or {})) as folder:
        code, out, errors = bench(*arguments, "--json", "j", "--csv", "c", folder=folder, **settings)
        assert code == 0 and errors == "", (code, errors)
        result, lines = json_of(folder / "j"), csv_of(folder / "c")
    assert result["schema"] == 1 and len(lines) == len(result["tensors"]), result
    for line, row in zip(lines, result["tensors"]):
        same_row(line, row)
    return {row["tensor"]: row for row in result["tensors"]}, out


def same_row(line, row):
    for key in ("values", "zeros", "subnormals", "infs", "nans", "first_nonfinite", "scale_exponent", "amax", "clipped",
                "flushed", "sqnr"):
        wanted = row[key]
        assert (line[key] == "" if wanted is None else float(line[key]) == float(wanted)), (key, line, row)
    assert line["type"] == row["type"] and line["best"] == (row["best"] or "none"), (line, row)
    assert line["shape"] == ("x".join(map(str, row["shape"])) or "scalar"), (line, row)
    for name in ("f16", "bf16"):
        assert int(line[name]) == row[name]["survives"], (line, row)
        assert float(line[f"{name}_flushed"]) == row[name]["flushed"], (line, row)
    assert line["block_format"] == (row["block_format"] or ""), (line, row)


def refused(*arguments, files=None):
    """The one line that a wrong call gives, with status 2 and nothing written."""
    with Folder(**(files or {})) as folder:
        before = sorted(os.listdir(folder))
        code, out, errors = bench("--json", "j", "--csv", "c", "--svg", "s", *arguments, folder=folder)
        assert code == 2 and out == "", (arguments, code, out, errors)
        assert errors.startswith("mpnum inspect: ") and errors.count("\n") == 1, errors
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", errors) and len(errors) < 700, errors
        assert sorted(os.listdir(folder)) == before, os.listdir(folder)
    return errors


SMALL = gauss(500)
DATA = {
    "F64": struct.pack("<506d", *SMALL, 0.0, -0.0, 5e-324, math.inf, math.nan, 1e300),
    "F32": struct.pack("<500f5I", *SMALL, 0x80000000, 1, 0x7fffff, 0xff800000, 0x7fc12345),
    "F16": struct.pack("<500e5H", *SMALL, 0x8000, 1, 0x3ff, 0xfc00, 0x7e01),
    "BF16": b"".join(struct.pack("<f", x)[2:] for x in SMALL) + struct.pack("<5H", 0x8000, 1, 0x7f, 0xff80, 0x7fc1),
    "F8_E4M3": bytes(range(256)) * 3,
    "F8_E5M2": bytes(range(256)) * 3,
    "F8_E8M0": bytes(range(256)) * 3,
}
FINITE_DATA = {
    "F64_finite": struct.pack("<500d", *SMALL),
    "F32_finite": struct.pack("<500f", *SMALL),
    "F16_finite": struct.pack("<502e", *(x / 1000 for x in SMALL), 2.0 ** -14, 2.0 ** -15),
    "BF16_finite": DATA["BF16"][:1000],
}
NAMES = {"F64": "f64", "F32": "f32", "F16": "f16", "BF16": "bf16", "F8_E4M3": "e4m3", "F8_E5M2": "e5m2",
         "F8_E8M0": "e8m0"}
SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}


def all_types():
    header, data = {}, b""
    for name, raw in (DATA | FINITE_DATA).items():
        kind = name.removesuffix("_finite")
        header[name] = entry(kind, [len(raw) // SIZES.get(kind, 1)], len(data), len(data) + len(raw))
        data += raw
    return safetensors(header, data)


# --- properties --------------------------------------------------------------------------------------------

def every_type_is_counted():
    rows, _ = inspect("a.safetensors", files={"a.safetensors": all_types()})
    assert set(rows) == set(DATA | FINITE_DATA)
    for name, raw in (DATA | FINITE_DATA).items():
        kind = NAMES[name.removesuffix("_finite")]
        check_findings(rows[name], kind, decode(kind, raw))
    big = {"<f8": ("F64", 8), "<f4": ("F32", 4), "<f2": ("F16", 2)}
    for descr, (kind, size) in big.items():
        raw = DATA[kind]
        swapped = b"".join(raw[i:i + size][::-1] for i in range(0, len(raw), size))
        for order, data in (("<", raw), (">", swapped)):
            rows, _ = inspect("a.npy", files={"a.npy": npy(f"'{order}{descr[1:]}'", f"({len(raw) // size},)", data)})
            check_findings(rows["a.npy"], NAMES[kind], decode(NAMES[kind], raw))


def bytes_are_codes_where_a_type_is_named():
    codes = bytes(range(256))
    files = {"u.npy": npy("'|u1'", "(256,)", codes), "v.npy": npy("'|V1'", "(256,)", codes),
             "s.safetensors": safetensors({"i": entry("I8", [256], 0, 256), "u": entry("U8", [256], 256, 512),
                                           "f": entry("F32", [1], 512, 516)}, codes + codes + floats(1.5))}
    for name in ("e4m3", "e5m2", "e8m0", "ue4m3", "ue5m3"):
        rows, _ = inspect("--as", name, *files, files=files)
        for tensor in ("u.npy", "v.npy", "i", "u"):
            check_findings(rows[tensor], name, [byte_value(name, code) for code in codes])
    rows, out = inspect("s.safetensors", files=files)
    assert list(rows) == ["f"] and "tensor 'i' left out: I8 is none of F64" in out, out
    rows, out = inspect("u.npy", files=files)
    assert rows == {} and "'|u1' is none of f64, f32, f16, bf16; --as e4m3 takes codes" in out, out
    assert "(--as e4m3)" in refused("v.npy", files=files)


def large_tensors_are_counted_whole():
    """Past several chunks, whose borders are nowhere special; alone and in threads."""
    values = gauss(300000)
    for i in (200001, 250000):
        values[i] = math.nan
    values[70000] = -3.0
    raw = struct.pack("<300000f", *values)
    files = {"a.safetensors": safetensors({"a": entry("F32", [300, 1000], 0, len(raw))}, raw)}
    rows, out = inspect("--details", "a.safetensors", files=files)
    check_findings(rows["a"], "f32", decode("f32", raw))
    assert rows["a"]["first_nonfinite_at"] == [200, 1] and "2 NaN, the first at [200, 1]" in out, out
    alone, _ = inspect("--details", "a.safetensors", files=files, preexec_fn=lambda: os.sched_setaffinity(0, {min(
        os.sched_getaffinity(0))}))
    assert rows == alone
    exact, _ = inspect("--details", "--exact", "a.safetensors", files=files)
    assert rows["a"]["sampled"] and not exact["a"]["sampled"]
    for sample, whole in zip(rows["a"]["formats"], exact["a"]["formats"]):
        assert abs(sample["sqnr"] - whole["sqnr"]) < 0.5, (sample, whole)  # the sample may miss the one -3
        assert math.isclose(sample["flushed"], whole["flushed"], rel_tol=0.2, abs_tol=30), (sample, whole)
    fortran = {"f.npy": npy("", "", raw, header="{'descr':'<f4','fortran_order':True,'shape':(1000,300)}")}
    assert inspect("f.npy", files=fortran)[0]["f.npy"]["first_nonfinite_at"] == [1, 200]


def periods_do_not_fool_the_sample():
    """Half of each 2048 values is zero, that where blocks would begin, were they evenly spread."""
    raw = (bytes(4096) + floats(*gauss(1024))) * 256
    row = inspect("a.npy", files={"a.npy": npy("'<f4'", "(524288,)", raw)})[0]["a.npy"]
    assert row["sampled"] and row["zeros"] == 2 ** 18 and 28 < row["sqnr"] < 34, row


def best_scale(name, amax):
    """The largest k with amax * 2^k within the format."""
    most, k = FINITE[name][-1], -140
    while math.ldexp(amax, k + 1) <= most:
        k += 1
    return k


def check_fit(fit, name, values, scale_exponent):
    """Errors and losses of a format at a scale, from its table of values."""
    values = [x for x in floats_of(values) if math.isfinite(x)]
    back = [math.ldexp(rounded(name, math.ldexp(x, scale_exponent)), -scale_exponent) for x in values]
    noise = sum((y - x) ** 2 for x, y in zip(values, back))
    sqnr = 10 * math.log10(sum(x * x for x in values) / noise) if noise else "inf"
    assert fit["sqnr"] == sqnr or math.isclose(fit["sqnr"], sqnr, rel_tol=1e-9), (fit, sqnr)
    assert fit["flushed"] == sum(x != 0 and y == 0 for x, y in zip(values, back)), fit
    assert fit["clipped"] == 0, fit


def verdicts_follow_the_rules():
    source = random.Random(3)
    wide = [10 ** source.gauss(-6, 1.6) for _ in range(2000)]  # too wide for gradients in e4m3, not in e5m2
    wider = [10 ** source.gauss(-6, 8) for _ in range(2000)]
    values = {"narrow": gauss(2000), "wide": wide, "wide.grad": wide, "wider": wider, "exact": [1.5, -0.25, 0.0, 448.0],
              "zeros": [0.0, 0.0], "sparse": [0.0] * 900 + gauss(100), "half": [2.0 ** -9, 2.0 ** -10, 3e-3, 448.0]}
    files = {f"{name}.npy": npy("'<f4'", f"({len(xs)},)", floats(*xs)) for name, xs in values.items()}
    rows, _ = inspect("--details", *files, files=files)
    wanted = {"narrow": "e4m3", "wide": "e4m3", "wide.grad": "e5m2", "wider": "bf16", "exact": "e4m3", "zeros": "e4m3",
              "sparse": "e4m3", "half": "e5m2"}
    for name, xs in values.items():
        row = rows[f"{name}.npy"]
        assert row["best"] == wanted[name], (name, row)
        for fit in row["formats"][:2]:
            k = best_scale(fit["format"], max(map(abs, floats_of(xs)))) if any(xs) else 0
            assert fit["scale_exponent"] == k, (name, fit, k)
            check_fit(fit, fit["format"], xs, k)
            if fit["format"] == row["best"]:
                assert [row[key] for key in ("scale_exponent", "sqnr", "flushed", "clipped")] == [
                    fit[key] for key in ("scale_exponent", "sqnr", "flushed", "clipped")], row
    rows, out = inspect("--formats", "e5m2,e4m3", "narrow.npy", files=files)  # the order is that of the rule
    assert rows["narrow.npy"]["best"] == "e4m3" and "best: e5m2 0, e4m3 1, none 0" in out, out
    rows, out = inspect("--formats", "e3m4,e4m3", "--details", "narrow.npy", files=files)
    assert rows["narrow.npy"]["best"] == "e3m4" and re.search(r"^  e4m3 .*  less SQNR$", out, re.M), out


# --- block formats, from their definitions -----------------------------------------------------------------

BLOCK_BITS = {"mx_e4m3": 8, "mx_e5m2": 8, "mx_e2m3": 6, "mx_e3m2": 6, "mx_e2m1": 4, "mx_int8": 8, "nvfp4": 4, "deepseek": 8}
PRESET_OF = {"nvfp4": "nvfp4 1x16", "deepseek": "e4m3 1x128"}
BLOCK_SCALES = {"nvfp4": (16, 8, 32), "deepseek": (128, 32, 0)}


def check_blocks(row, matrix):
    """All formats, both ways; the one chosen has the fewest bits of those that are good enough."""
    count = len(matrix) * len(matrix[0])
    assert [fit["format"] for fit in row["blocks"]] == list(BLOCK_BITS), row
    for fit in row["blocks"]:
        name = fit["format"]
        size, bits, more = BLOCK_SCALES.get(name, (32, 8, 0))
        group = {4: 2, 6: 4, 8: 1}[BLOCK_BITS[name]]
        wide = -(-len(matrix[0]) // group) * group
        wanted = (len(matrix) * (wide * BLOCK_BITS[name] + -(-len(matrix[0]) // size) * bits) + more) / count
        assert math.isclose(fit["bits"], wanted), (fit, wanted)
        for way, turned in (("rows", matrix), ("columns", list(zip(*matrix)))):
            got = fit[way]
            if way == "columns" and len(matrix) == 1:
                assert got == {"sqnr": None, "clipped": None, "flushed": None}, fit
                continue
            sqnr, clipped, flushed, _ = losses_of(turned, PRESET_OF.get(name, name.replace("_", " ")))
            sqnr = "inf" if math.isinf(sqnr) else sqnr
            assert got["sqnr"] == sqnr or math.isclose(got["sqnr"], sqnr, rel_tol=1e-9), (name, way, got, sqnr)
            assert (got["clipped"], got["flushed"]) == (clipped, flushed), (name, way, got, clipped, flushed)
    nonzero = sum(x != 0 for line in matrix for x in line)
    kept = [fit for fit in row["blocks"] if fit["rows"]["sqnr"] >= 20 and
            (fit["rows"]["clipped"] + fit["rows"]["flushed"]) / nonzero <= 0.5]
    narrow = row["best"] in ("e4m3", "e5m2")
    good = [fit for fit in kept if not narrow or fit["rows"]["sqnr"] >= row["sqnr"] - 1]
    best = min(good, key=lambda fit: (fit["bits"] if narrow else 0, -fit["rows"]["sqnr"]))
    assert row["block_format"] == best["format"] and best["why_not"] is None, (row["block_format"], best)


FORTRAN = "{'descr': '<f4', 'fortran_order': True, 'shape': (40, 70), }"


def block_formats_are_measured_both_ways():
    source = random.Random(7)
    xs = floats_of(10 ** source.gauss(-1, 1) * source.choice((-1, 1)) for _ in range(40 * 70))
    xs = floats_of(x * (1e-4 if 700 <= i < 1400 else 1) for i, x in enumerate(xs))  # nvfp4 clips: subnormal scales
    matrix = [xs[i:i + 70] for i in range(0, 2800, 70)]
    long = xs * 6
    turned = floats(*(matrix[i][j] for j in range(70) for i in range(40)))
    files = {"c.npy": npy("'<f4'", "(40, 70)", floats(*xs)), "f.npy": npy("", "", turned,
                                                                                header=FORTRAN),
             "deep.npy": npy("'<f4'", "(4, 10, 70)", floats(*xs)), "line.npy": npy("'<f4'", "(2800,)", floats(*xs)),
             "tiles.npy": npy("'<f4'", "(2, 8400)", floats(*long)), "zeros.npy": npy("'<f4'", "(5,)", bytes(20)),
             "none.npy": npy("'<f4'", "(1,)", floats(math.inf))}
    rows, _ = inspect("--blocks", *files, files=files)
    check_blocks(rows["c.npy"], matrix)
    check_blocks(rows["f.npy"], list(zip(*matrix)))
    check_blocks(rows["deep.npy"], [xs[i:i + 700] for i in range(0, 2800, 700)])  # as kernels are multiplied
    check_blocks(rows["line.npy"], [xs])
    check_blocks(rows["tiles.npy"], [long[:8400], long[8400:]])
    assert [fit["rows"]["clipped"] for fit in rows["c.npy"]["blocks"] if fit["format"] == "nvfp4"] != [0], rows["c.npy"]
    for name in ("zeros.npy", "none.npy"):
        assert rows[name]["block_format"] is None and "blocks" not in rows[name], rows[name]
    rows, _ = inspect("c.npy", files=files)
    assert rows["c.npy"]["block_format"] is None and "blocks" not in rows["c.npy"], rows


def large_matrices_are_sampled_in_whole_blocks():
    block = floats(*gauss(8192))
    for shape in ("(1024, 512)", "(3, 174848)", "(131072, 4)", "(524544,)"):
        count = math.prod(int(n) for n in re.findall(r"\d+", shape))
        files = {"a.npy": npy("'<f4'", shape, (block * 65)[:4 * count])}
        few, all_values = (inspect(*options, "a.npy", files=files)[0]["a.npy"]
                           for options in (["--blocks"], ["--blocks", "--exact"]))
        assert few["sampled"] and not all_values["sampled"], few
        for a, b in zip(few["blocks"], all_values["blocks"]):
            assert a["bits"] == b["bits"] and abs(a["rows"]["sqnr"] - b["rows"]["sqnr"]) < 0.3, (shape, a, b)
            if "," in shape and not shape.endswith(",)"):
                assert abs(a["columns"]["sqnr"] - b["columns"]["sqnr"]) < 0.3, (shape, a, b)


def f16_and_bf16_survive_or_not():
    cases = {"max": ([65504.0, 65519.0], True, True), "past": ([65520.0, 1.0], False, True),
             "tiny": ([2.0 ** -25, 2.0 ** -40, 1.0], False, True), "few": ([2.0 ** -30] + [1.0] * 99, True, True),
             "least": ([2.0 ** -24, 1.0000001 * 2.0 ** -25], True, True), "huge": ([3.4e38, 1.0], False, False),
             "nothing": ([2.0 ** -140, 1.0], False, False)}
    files = {f"{name}.npy": npy("'<f4'", f"({len(xs)},)", floats(*xs)) for name, (xs, _, _) in cases.items()}
    rows, _ = inspect(*files, files=files)
    for name, (_, f16, bf16) in cases.items():
        row = rows[f"{name}.npy"]
        assert (row["f16"]["survives"], row["bf16"]["survives"]) == (f16, bf16), row
    assert rows["past.npy"]["f16"]["clipped"] == 1 and rows["tiny.npy"]["f16"]["flushed"] == 2, rows
    double = {"d.npy": npy("'<f8'", "(3,)", struct.pack("<3d", 1e300, 1e-300, 1.0))}
    row = inspect("d.npy", files=double)[0]["d.npy"]
    assert (row["best"], row["amax"], row["bf16"]) == (None, 1e300, {"clipped": 1, "flushed": 1, "survives": False})


def what_nothing_holds_has_no_best_format():
    files = {"nan.npy": npy("'<f4'", "(3,)", floats(math.nan, math.inf, math.nan)),
             "tiny.npy": npy("'<f8'", "(2,)", struct.pack("<2d", 1e-300, -1e-310)),
             "large.npy": npy("'<f8'", "(2,)", struct.pack("<2d", 1e300, 1.0)),
             "small.npy": npy("'<f4'", "(2,)", struct.pack("<2I", 1, 2))}  # past the largest scale
    rows, out = inspect(*files, "--details", "--svg", "s", files=files)
    best = {name: row["best"] for name, row in rows.items()}
    assert best == {"nan.npy": None, "tiny.npy": None, "large.npy": None, "small.npy": "f32"}, best
    assert out.count("none 1;") == 3 and " f32 1, none 0;" in out, out


def names_in(out):
    return [line.split()[0] for line in out.split("\n\n")[0].splitlines()[1:]]


MIXED = {"good.npy": npy("'<f4'", "(2000,)", floats(*gauss(2000))),
         "nan.npy": npy("'<f4'", "(3,)", floats(1.0, math.nan, 2.0)),
         "large.npy": npy("'<f4'", "(1028,)", floats(1e6, 1e5, 2e5, 1e6) * 257),
         "wide.npy": npy("'<f4'", "(1026,)", floats(1e38, 1e-38, 1.0) * 342)}


def trouble_comes_first():
    out = inspect(*MIXED, files=MIXED)[1]
    assert names_in(out) == ["nan.npy", "wide.npy", "large.npy", "good.npy"], out
    assert "1@1" in out and "Inf or NaN in 1; not in f16 2, bf16 0" in out, out
    for key, wanted in (("name", "good large nan wide"), ("file", "good nan large wide"),
                        ("size", "good large wide nan"), ("amax", "wide large nan good"),
                        ("lost", "good nan large wide"), ("sqnr", "good large wide nan")):
        got = [name[:-4] for name in names_in(inspect("--sort", key, *MIXED, files=MIXED)[1])]
        assert got == wanted.split(), (key, got)


def tensors_are_chosen_by_name():
    rows, out = inspect("--tensor", "?[ao]*", "--top", "1", *MIXED, files=MIXED)
    assert set(rows) == {"nan.npy", "large.npy", "good.npy"}, rows  # the files have them all
    assert names_in(out) == ["nan.npy", "..."] and "... and 2 more" in out, out
    rows, _ = inspect("--tensor", "nan*", "--tensor", "wide*", *MIXED, files=MIXED)
    assert set(rows) == {"nan.npy", "wide.npy"}, rows
    assert refused("--tensor", "none*", "nan.npy", files=MIXED) == "mpnum inspect: --tensor: no tensor has such a name\n"


def a_table_fits_80_columns():
    long = {f"model.layers.{i}.self_attention.query_key_value.weight": entry("F32", [8, 16], 512 * i, 512 * i + 512)
            for i in range(5)}
    files = {"a.safetensors": safetensors(long, floats(*gauss(640)))}
    for arguments in ([], ["--details"]):
        out = inspect(*arguments, "a.safetensors", files=files)[1]
        assert max(map(len, out.splitlines())) <= 80, out
    out = inspect("--wide", "a.safetensors", files=files)[1]
    assert set(names_in(out)) == set(long), out
    assert "zero%" not in out and "Inf/NaN" not in out, out


def names_cannot_forge_output():
    for name in ("forged_name.safetensors", "long_name.safetensors"):
        with Folder(**{name: tensor_files.GOOD[name]}) as folder:
            code, out, errors = bench(name, "--details", "--csv", "c", "--svg", "s", "--json", "j", folder=folder)
            texts = [out, *((folder / kind).read_text("utf-8") for kind in "cs")]
            tensor = json_of(folder / "j")["tensors"][0]["tensor"]
        assert code == 0 and errors == "", errors
        assert tensor in ("n" * 5000, "x\n\x1b[31mmpnum bench: \u009b0m\x7f"), tensor
        for text in texts:
            assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text), text
            assert "\nmpnum bench:" not in text


def shards(**changes):
    """A model of two shards and its index."""
    one = safetensors({"a": entry("F32", [6], 0, 24)}, floats(*SMALL[:6]))
    two = safetensors({"b": entry("F32", [6], 0, 24), "i": entry("I64", [0], 24, 24)}, floats(*SMALL[6:12]))
    files = {"m-1.safetensors": one, "m-2.safetensors": two,
             "index": {"a": "m-1.safetensors", "b": "m-2.safetensors", "i": "m-2.safetensors"}, **changes}
    index = files.pop("index")
    files["m.safetensors.index.json"] = index if isinstance(index, bytes) else json.dumps(
        {"metadata": {}, "weight_map": index}).encode()
    return {name: data for name, data in files.items() if data is not None}


def shards_are_read_by_their_index():
    named, out = inspect("m-1.safetensors", "m-2.safetensors", files=shards())
    by_index, same = inspect("m.safetensors.index.json", files=shards())
    assert named == by_index and out == same and set(named) == {"a", "b"}, (named, by_index)
    assert "\nAll files\n  2 tensors, 12 values" in out, out
    with Folder(**shards()) as folder:  # from elsewhere
        code, _, errors = bench(os.path.join(folder, "m.safetensors.index.json"))
        assert code == 0, errors


def wrong_shards_are_refused():
    index = "m.safetensors.index.json"
    usual = {"a": "m-1.safetensors", "b": "m-2.safetensors", "i": "m-2.safetensors"}
    both = safetensors({"a": entry("F32", [3], 0, 12), "b": entry("F32", [3], 12, 24)}, floats(*SMALL[:6]))
    cases = [
        ({"m-2.safetensors": None}, "m-2.safetensors: cannot be opened: No such file"),
        ({"m-2.safetensors": b"x" * 100}, "m-2.safetensors: "),
        ({"index": {**usual, "c": "m-1.safetensors"}}, "tensor 'c' is not in shard 'm-1.safetensors'"),
        ({"index": {"a": "m-1.safetensors"}, "m-1.safetensors": both}, "holds tensor 'b', which the index does not name"),
        ({"m-1.safetensors": both}, "holds tensor 'b', which the index has in another shard"),
        ({"index": {**usual, "b": "m-2.npy"}}, "shard 'm-2.npy' is not a .safetensors file"),
        ({"index": {**usual, "b": "up/m-2.safetensors"}}, "shard 'up/m-2.safetensors' is not in the folder"),
        ({"index": {**usual, "b": "/etc/x.safetensors"}}, "shard '/etc/x.safetensors' is not in the folder"),
        ({"index": {**usual, "b": 5}}, "weight_map names something that is no text"),
        ({"index": {**usual, "b": "x\n\x1b[31m.safetensors"}}, "cannot be opened"),
        ({"index": {}}, "has no weight_map"), ({"index": b"[]"}, "has no weight_map"),
        ({"index": b'{"weight_map": 3}'}, "has no weight_map"), ({"index": b"{"}, "not valid JSON"),
        ({"index": b""}, "not valid JSON"),
        ({"index": b'{"weight_map": {"a": "m-1.safetensors", "a": "m-1.safetensors"}}'}, "duplicate object key")]
    for changes, wanted in cases:
        line = refused(index, files=shards(**changes))
        assert wanted in line, (changes, line)
    files = shards()
    assert "m-1.safetensors: is given twice" in refused("m-1.safetensors", "./m-1.safetensors", files=files)
    assert "m-1.safetensors: is given twice" in refused(index, "m-1.safetensors", files=files)
    assert "cannot be opened" in refused("missing.json", files=files)
    with Folder() as folder:
        os.mkfifo(os.path.join(folder, "fifo.json"))
        code, _, errors = bench("fifo.json", folder=folder)
        assert (code, errors) == (2, "mpnum inspect: fifo.json: is not a regular file\n"), errors


def hostile_files_are_refused():
    with Folder(**tensor_files.HOSTILE) as folder:
        for name in tensor_files.HOSTILE:
            code, out, errors = bench(name, folder=folder)
            assert code == 2 and out == "" and errors.startswith(f"mpnum inspect: {name}: "), (name, code, errors)
            assert errors.count("\n") == 1 and not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", errors), errors


def a_file_that_shrinks_is_refused():
    """Long enough that it is cut while it is read: 8 GiB of nothing, which take no room."""
    size = 2 ** 33
    with Folder(**{"a.safetensors": safetensors({"a": entry("F32", [size // 4], 0, size)})}) as folder:
        path = os.path.join(folder, "a.safetensors")
        try:
            os.truncate(path, os.path.getsize(path) + size)
        except OSError as error:
            raise tap.Skip(f"no file of 8 GiB: {error}") from error
        child = subprocess.Popen([PROGRAM, path, "--json", os.path.join(folder, "j")], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        time.sleep(0.2)
        os.truncate(path, 2 ** 20)
        out, errors = child.communicate(timeout=SECONDS)
        assert child.returncode == 2 and out == "", (child.returncode, out, errors)
        assert errors == f"mpnum inspect: {path}: became shorter while it was read\n", errors
        assert os.listdir(folder) == ["a.safetensors"], os.listdir(folder)


def wrong_options_are_refused():
    files = {"in.npy": tensor_files.GOOD["plain.npy"]}
    for arguments in (["--no-such"], ["-x"], ["--top", "0"], ["--top", "x"], ["--top", "-1"], ["--sort", "colour"],
                      ["--as", "f16"], ["--as", "e2m3"], ["--formats", "e8m0"], ["--formats", "ue5m3"], ["--formats", "e4m3,e4m3"],
                      ["--formats", ""], ["--formats", "e4m3,"], ["--formats", "bf16"], ["--json"], ["--json", ""],
                      ["--json", "in.npy"], ["--csv", "x", "--svg", "x"], ["--svg", "no/such/x"], ["--json", "."]):
        refused("in.npy", *arguments, files=files)
    assert "no file named" in refused(files=files)
    assert "no such option: '-x'" in refused("in.npy", "-xy", files=files)  # of letters the one that is wrong


def help_names_every_option():
    code, out, errors = bench("--help")
    # What ./mpnum says without building the program.
    assert subprocess.run([ROOT / "mpnum", "inspect", "--help"], capture_output=True, text=True).stdout == out
    assert code == 0 and errors == "" and max(map(len, out.splitlines())) <= 80, out
    with open(os.path.join(ROOT, "bench/inspect/options.c")) as file:
        options = re.findall(r'^    (?:FLAG\(|TEXT\(|\{")(\w+)', file.read(), re.M)
    assert len(options) == 20 and all(f"--{name}" in out for name in options), options
    assert re.fullmatch(r"mpnum inspect \d+\.\d+\.\d+\n", bench("--version")[1])


def an_output_that_fails_is_told():
    files = {"in.npy": tensor_files.GOOD["plain.npy"]}
    with Folder(**files) as folder:
        for arguments in (["in.npy"], ["--help"], ["in.npy", "--details"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, cwd=folder)
            assert done.returncode == 1, done
            assert done.stderr == "mpnum inspect: standard output: No space left on device\n", done
        for kind in ("json", "csv", "svg"):
            code, _, errors = bench("in.npy", f"--{kind}", "/dev/full", folder=folder)
            assert code == 1 and errors == "mpnum inspect: /dev/full: cannot be written: No space left on device\n", errors


def boxes(root, kind):
    return [box.attrib for box in root.iter() if box.get("class") == kind]


def the_picture_is_the_histogram():
    """Bars as high as their counts, at their exponents; ranges from the least to the largest value of formats."""
    files = {"a.npy": npy("'<f4'", "(2000,)", floats(*gauss(2000))), "b.npy": npy("'<f4'", "(3,)", floats(1, 2, 0))}
    with Folder(**files) as folder:
        code, _, errors = bench(*files, "--svg", "s", "--json", "j", folder=folder)
        assert code == 0, errors
        root = xml.etree.ElementTree.parse(os.path.join(folder, "s")).getroot()
        code, _, _ = bench(*files, "--svg", "s", "--details", folder=folder)
        parts = xml.etree.ElementTree.parse(os.path.join(folder, "s")).getroot()
        rows = json_of(folder / "j")["tensors"]
    counts = {}
    for row in rows:
        for exponent, count in row["exponents"]:
            counts[exponent] = counts.get(exponent, 0) + count
    bars = boxes(root, "bar")
    assert {int(bar["data-exponent"]): int(bar["data-count"]) for bar in bars} == counts, bars
    most = max(counts.values())
    for bar in bars:
        assert math.isclose(float(bar["height"]), 190 * int(bar["data-count"]) / most, abs_tol=1e-3), bar
    places = {int(bar["data-exponent"]): float(bar["x"]) for bar in bars}
    least, largest = min(places), max(places)
    step = (places[largest] - places[least]) / (largest - least)
    assert all(math.isclose(x, places[least] + step * (e - least), abs_tol=0.02) for e, x in places.items()), places
    ranges = {box["data-format"]: box for box in boxes(root, "range")}
    assert list(ranges) == ["e4m3", "e5m2", "f16", "bf16"], ranges
    wanted = {"e4m3": (-9 - 7, 448 / 128), "e5m2": (-16 - 14, 57344 / 2 ** 14), "f16": (-24, 65504)}
    for name, (low, high) in wanted.items():
        assert (int(ranges[name]["data-least"]), float(ranges[name]["data-max"])) == (low, high), ranges[name]
        for x, exponent in ((float(ranges[name]["x"]), low),
                            (float(ranges[name]["x"]) + float(ranges[name]["width"]), math.log2(high))):
            drawn = places[least] + step * (exponent - least)
            assert abs(x - min(max(drawn, 70), 870)) < 1, (name, x, drawn)
    assert len(boxes(parts, "range")) == 3 * 4, "a chart of all and one of each"


def colours_are_for_terminals():
    with Folder(**MIXED) as folder:
        environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | {"TERM": "xterm"}
        command = [PROGRAM, *MIXED]
        shown = terminal_output(command, "stdout", cwd=folder, env=environment)
        assert "\x1b[31mnan.npy" in shown and "\x1b[33mlarge.npy" in shown and "\x1b[0m" in shown, shown
        assert "\x1b" not in terminal_output(command, "stdout", cwd=folder, env=environment | {"NO_COLOR": "1"})
        assert "\x1b" not in bench(*MIXED, folder=folder)[1]


def long_inputs_have_a_progress_bar_on_a_terminal():
    """Of f64, which takes longest, on one processor."""
    size = 2 ** 31
    with Folder(**{"a.safetensors": safetensors({"a": entry("F64", [size // 8], 0, size)})}) as folder:
        path = os.path.join(folder, "a.safetensors")
        os.truncate(path, os.path.getsize(path) + size)
        text = terminal_output([PROGRAM, path], preexec_fn=lambda: os.sched_setaffinity(0, {min(
            os.sched_getaffinity(0))}))
        assert re.search(r"\r\[#*\.*\] +\d+ %  a", text) and text.endswith("\r\x1b[K"), text[-200:]


def every_field_is_documented():
    with open(os.path.join(ROOT, "docs/inspect.md")) as file:
        known = set(re.findall(r"`(\w+)`", file.read()))
    with Folder(**{"a.safetensors": all_types()}) as folder:
        bench("a.safetensors", "--json", "j", folder=folder)
        plans = json_of(folder / "j")["plans"]
    fields = {key for plan in plans for key in (*plan, *plan["stays"][0])} | {stay["why"] for stay in plans[0]["stays"]}
    assert fields <= known, fields - known
    rows, _ = inspect("--details", "a.safetensors", files={"a.safetensors": all_types()})
    fields = {key for row in rows.values() for key in row} | {"survives", "format", "notes", "files"}
    fields |= set(rows["F32"]["blocks"][0])
    assert fields <= known, fields - known
    fields = {"f16_clipped", "f16_flushed", "bf16_clipped", "bf16_flushed"}
    assert fields <= known, fields - known


sys.exit(tap.run(
    every_type_is_counted,
    bytes_are_codes_where_a_type_is_named,
    large_tensors_are_counted_whole,
    periods_do_not_fool_the_sample,
    verdicts_follow_the_rules,
    block_formats_are_measured_both_ways,
    large_matrices_are_sampled_in_whole_blocks,
    f16_and_bf16_survive_or_not,
    what_nothing_holds_has_no_best_format,
    trouble_comes_first,
    tensors_are_chosen_by_name,
    a_table_fits_80_columns,
    names_cannot_forge_output,
    shards_are_read_by_their_index,
    wrong_shards_are_refused,
    hostile_files_are_refused,
    a_file_that_shrinks_is_refused,
    wrong_options_are_refused,
    help_names_every_option,
    an_output_that_fails_is_told,
    the_picture_is_the_histogram,
    colours_are_for_terminals,
    long_inputs_have_a_progress_bar_on_a_terminal,
    every_field_is_documented))
