#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`mpnum inspect --diff`: two files beside each other, against figures made here.  test_inspect_diff.py PROGRAM"""

import json
import math
import re
import struct
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from bench_program import Folder, bench, json_of
from tensor_files import file_of, floats, gauss, gguf, npy, npz, safetensors
from tree import ROOT


def bf16(values):
    """Cut, not rounded: the bytes, and what they stand for."""
    raw = b"".join(struct.pack("<f", x)[2:] for x in values)
    return raw, [struct.unpack("<f", b"\0\0" + raw[i:i + 2])[0] for i in range(0, len(raw), 2)]


def diff(*arguments, code=0, **files):
    """(rows by tensor, remarks by tensor, the output)."""
    with Folder(**files) as folder:
        names = list(files)[:2]
        got, out, errors = bench("--diff", *names, *arguments, "--json", "j", folder=folder)
        assert got == code and errors == "", (got, out, errors)
        result = json_of(folder / "j")
    assert max(map(len, out.splitlines())) <= 80, out
    remarks = {remark["tensor"]: remark["remark"] for remark in result["remarks"]}
    assert len(remarks) == len(result["remarks"]) and list(result) == ["schema", "mpnum", "options", "remarks", "differences"], result
    return {row["tensor"]: row for row in result["differences"]}, remarks, out


def place(index, shape):
    at = []
    for size in reversed(shape):
        index, k = divmod(index, size)
        at.insert(0, k)
    return at


def check(row, left, right, shape, equal):
    """Of values as they are compared."""
    pairs = [(x, y) for x, y in zip(left, right) if math.isfinite(x) and math.isfinite(y)]
    errors = [abs(y - x) if math.isfinite(x) and math.isfinite(y) else -1 for x, y in zip(left, right)]
    noise, signal = math.fsum((x - y) ** 2 for x, y in pairs), math.fsum(x * x for x, _ in pairs)
    sqnr = 10 * math.log10(signal / noise) if noise else "inf"
    assert row["sqnr"] == sqnr or math.isclose(row["sqnr"], sqnr, rel_tol=1e-9), (row, sqnr)
    cosine = math.fsum(x * y for x, y in pairs) / math.sqrt(signal * math.fsum(y * y for _, y in pairs))
    assert math.isclose(row["cosine"], cosine, rel_tol=1e-12), (row, cosine)
    most = max(errors)
    assert row["largest_error"] == most and row["values"] == len(left), (row, most)
    assert row["largest_error_at"] == (place(errors.index(most), shape) if most else None), (row, errors.index(most))
    new = [i for i, (x, y) in enumerate(zip(left, right)) if math.isfinite(x) and not math.isfinite(y)]
    assert (row["new_nans"], row["new_infs"]) == (sum(math.isnan(right[i]) for i in new), sum(math.isinf(right[i]) for i in new)), row
    assert row["first_new_at"] == (place(new[0], shape) if new else None), (row, new)
    assert row["gone"] == sum(not math.isfinite(x) and math.isfinite(y) for x, y in zip(left, right)), row
    assert row["equal"] == equal, (row, equal)


def what_changed_is_measured():
    """Past a piece of 16,384 values; -0 is not 0, nor one NaN another."""
    left = gauss(20000)
    right = [x * (1 + 2.0 ** -10) if i % 3 else x for i, x in enumerate(left)]
    right[17000] += 0.5
    right[18000], left[18001], left[18002], left[18003] = math.nan, math.inf, 0.0, math.inf
    right[18002], right[19000], right[5] = -0.0, -math.inf, math.nan
    right[18003] = math.inf
    shape = [100, 200]
    right = list(struct.unpack("<20000f", floats(*right)))
    nans = (struct.pack("<I", 0x7fc00000), struct.pack("<I", 0x7fc00001))
    raw = [floats(*values[:-1]) + nan for values, nan in zip((left, right), nans)]
    left[-1] = right[-1] = math.nan
    rows, remarks, out = diff(**{"a.safetensors": file_of(w=("F32", shape, raw[0]), same=("F32", shape, raw[0])),
                                 "b.safetensors": file_of(w=("F32", shape, raw[1]), same=("F32", shape, raw[0]))})
    equal = sum(raw[0][i:i + 4] == raw[1][i:i + 4] for i in range(0, 80000, 4))
    check(rows["w"], left, right, shape, equal)
    assert rows["w"]["new_nans"] == 2 and rows["w"]["new_infs"] == 1 and rows["w"]["gone"] == 1 and remarks == {}, rows
    check(rows["same"], left, left, shape, 20000)
    assert " 3@5 " in out.splitlines()[1] and len(out.split("\n\n")[0].splitlines()) == 2, out
    assert "\n  2 tensors, 40000 values; 1 equal in all bits\n" in out, out
    assert "; new NaN 2, new Inf 1, gone 1\n" in out, out


def types_may_differ():
    w = gauss(64 * 32)
    w[0], w[1], w[2] = -0.0, 0.0, math.nan
    cut, rounded = bf16(w)
    cut, rounded[1] = cut[:2] + b"\0\x80" + cut[4:], -0.0
    assert math.isnan(rounded[2])
    equal = 2 + sum(x == y for x, y in zip(w[3:], rounded[3:]))  # -0 and NaN, not 0 and -0
    codes, q = [i % 255 - 127 for i in range(2048)], b""
    for i in range(0, 2048, 32):
        q += struct.pack("<e32b", 0.5, *codes[i:i + 32])
    doubles = [x + 2.0 ** -40 for x in w]
    changed = [*doubles[:100], doubles[100] + 1, *doubles[101:]]
    rows, _, _ = diff(**{name: npy("'<f8'", "(64, 32)", struct.pack("<2048d", *values)) for name, values in (
        ("a.npy", doubles), ("b.npy", changed))})
    check(rows["a.npy"], doubles, changed, [64, 32], 2047)
    rows, _, out = diff(**{"a.gguf": gguf([("w", "f32", [64, 32], floats(*w)), ("d", "f32", [64, 32], floats(*w)),
                                          ("q", "q8_0", [64, 32], q)]),
                           "b.safetensors": file_of(w=("BF16", [64, 32], cut), d=("F64", [64, 32], struct.pack("<2048d", *doubles)),
                                                    q=("F32", [64, 32], floats(*(x / 2 for x in codes))))})
    check(rows["w"], w, rounded, [64, 32], equal)
    check(rows["d"], w, doubles, [64, 32], 1)
    assert rows["q"]["sqnr"] == "inf" and rows["q"]["equal"] == 2048 and rows["q"]["type"] == "q8_0", rows["q"]
    assert " f32>bf16 " in out and " f32>f64 " in out, out


def a_difference_too_small_to_square_is_not_exact():
    w = [1e-200] * 2000
    rows, _, out = diff(**{name: npy("'<f8'", "(2000,)", struct.pack("<2000d", *values)) for name, values in (
        ("a.npy", w), ("b.npy", [*w[:1999], 3e-200]))})
    assert rows["a.npy"]["sqnr"] is None and rows["a.npy"]["equal"] == 1999 and rows["a.npy"]["largest_error"] == 2e-200, rows
    assert "  SQNR -, " in out and "exact" not in out, out


def codes_are_worth_their_scales():
    """As --emit writes them: the SQNR is that of the verdict, past a piece of 16,384 values."""
    w, h = gauss(64 * 288), gauss(2 * 16 * 64, 3.0, 2)
    with Folder(**{"a.safetensors": file_of(w=("F32", [64, 288], floats(*w)), h=("F32", [2, 16, 64], floats(*h)))}) as folder:
        for kind in ("e4m3", "e5m2", "mx_e4m3", "mx_e2m3", "mx_e2m1", "nvfp4"):
            code, _, errors = bench("a.safetensors", "--to", kind, "--emit", f"{kind}.safetensors", "--keep-below", "0", "--json", "j",
                                    folder=folder)
            assert code == 0, errors
            verdict = {plan["format"]: plan for plan in json_of(folder / "j")["plans"]}[kind]
            code, out, errors = bench("--diff", "a.safetensors", f"{kind}.safetensors", "--json", "d", folder=folder)
            assert code == 0 and errors == "", (out, errors)
            rows = {row["tensor"]: row for row in json_of(folder / "d")["differences"]}
            assert set(rows) == {"w", "h"} and rows["w"]["second_type"] == kind, rows
            worst = min(rows, key=lambda name: rows[name]["sqnr"])
            assert (worst, math.isclose(rows[worst]["sqnr"], verdict["worst_sqnr"], rel_tol=1e-9)) == (verdict["worst"], True), rows
            shares = sum(row["values"] * 10 ** (-row["sqnr"] / 10) for row in rows.values())
            assert math.isclose(-10 * math.log10(shares / (len(w) + len(h))), verdict["sqnr"], rel_tol=1e-9), (rows, verdict)
            code, out, _ = bench("--diff", f"{kind}.safetensors", f"{kind}.safetensors", folder=folder)
            assert code == 0 and "2 equal in all bits" in out, out


def codes_without_their_scales_are_bytes():
    w, codes = ("F32", [2, 32], floats(*gauss(64))), bytes(range(32))
    scale = ("U8", [2, 1], b"\x7f\x80")
    for packed, more in ((("U8", [2, 16], codes), {}), (("U8", [2, 16], codes), {"w_scale": ("U8", [3, 1], b"abc")}),
                         (("U8", [2, 8], codes), {"w_scale": scale}), (("I8", [2, 16], codes), {"w_scale": scale}),
                         (("U8", [2, 2 ** 62], codes), {"w_scale": scale}), (("U8", [2, 16], codes), {"w_scale": scale, "w": w})):
        rows, remarks, _ = diff(code=1, **{"a.safetensors": file_of(w=w, v=w),
                                           "b.safetensors": file_of(v=w, w_packed=packed, **more)})
        assert set(rows) == {"v"} | ({"w"} & set(more)), rows
        assert set(remarks) == {"w_packed", *more} - {"w"} | ({"w"} - set(more)), remarks
    rows, remarks, _ = diff(**{"a.safetensors": file_of(w=w, v=w), "b.safetensors": file_of(v=w, w_packed=("U8", [2, 16], codes), w_scale=scale)})
    assert rows["w"]["second_type"] == "mx_e2m1" and remarks == {}, rows
    eight = ("F8_E4M3", [2, 32], bytes(range(64)))
    rows, remarks, _ = diff(code=1, **{"a.safetensors": file_of(w=w), "b.safetensors": file_of(w=eight, w_scale=("U8", [3], b"abc"))})
    assert rows["w"]["second_type"] == "e4m3" and set(remarks) == {"w_scale"}, (rows, remarks)
    rows, _, _ = diff(**{f"{name}.safetensors": file_of(w=eight, w_scale=("U8", [2, 1], raw)) for name, raw in (
        ("a", b"\x7f\x7f"), ("b", b"\x7f\x80"))})  # one code, two values
    assert rows["w"]["equal"] == 32, rows


def arrays_of_two_files_are_one_pair():
    a, b = gauss(12), gauss(12, seed=2)
    rows, _, _ = diff(**{"a.npy": npy("'<f4'", "(3, 4)", floats(*a)), "b.npy": npy("'>f4'", "(3, 4)", struct.pack(">12f", *b))})
    check(rows["a.npy"], a, b, [3, 4], 0)
    turned = {"a.npy": npy("'<f4'", "(3, 4)", floats(*a)),
              "b.npy": npy("", "", floats(*b), header="{'descr':'<f4','fortran_order':True,'shape':(3,4)}")}
    rows, remarks, _ = diff(code=1, **turned)
    assert rows == {} and remarks == {"a.npy": "is stored in two orders"}, remarks
    rows, remarks, _ = diff(**{"a.npz": npz([("x.npy", turned["a.npy"])], 8), "b.npy": turned["a.npy"]})
    assert rows["x"]["equal"] == 12 and remarks == {}, rows


def what_differs_in_name_or_shape_is_listed():
    w, ids = floats(*gauss(12)), struct.pack("<3q", 1, 2, 3)
    rows, remarks, out = diff(code=1, **{
        "a.safetensors": file_of(both=("F32", [3, 4], w), turned=("F32", [3, 4], w), left=("F32", [3, 4], w), ids=("I64", [3], ids),
                                 old=("I64", [3], ids), few=("I64", [3], ids), kept=("I32", [6], ids)),
        "b.safetensors": file_of(both=("F32", [3, 4], w), turned=("F32", [4, 3], w), right=("F32", [3, 4], w), kept=("I32", [6], ids),
                                 ids=("I64", [3], ids[::-1]), new=("I64", [3], ids), few=("I64", [2], ids[:16]))})
    assert set(rows) == {"both"} and rows["both"]["equal"] == 12, rows
    assert remarks == {"turned": "has shapes [3, 4] and [4, 3]", "left": "is only in the first", "right": "is only in the second",
                       "ids": "is not read, and its bytes differ", "old": "is only in the first", "new": "is only in the second",
                       "few": "has shapes [3] and [2]"}, remarks
    assert "\n  turned has shapes [3, 4] and [4, 3]\n" in out and "\n  3 that are not read, compared byte by byte\n" in out, out
    rows, remarks, _ = diff("--tensor", "both", **{"a.safetensors": file_of(both=("F32", [3, 4], w), left=("F32", [3, 4], w)),
                                                   "b.safetensors": file_of(both=("F32", [3, 4], w), ids=("I64", [3], ids))})
    assert set(rows) == {"both"} and remarks == {}, remarks


def the_worst_come_first():
    w = gauss(1000)
    noisy = {f"n{k}": [x + 2.0 ** -k for x in w] for k in range(4, 10)}
    left = file_of(**{name: ("F32", [1000], floats(*w)) for name in (*noisy, "same", "nan")})
    right = file_of(**{name: ("F32", [1000], floats(*values)) for name, values in noisy.items()},
                    same=("F32", [1000], floats(*w)), nan=("F32", [1000], floats(*w[:-1], math.inf)))
    _, _, out = diff(**{"a.safetensors": left, "b.safetensors": right})
    assert re.findall(r"^(n\w+) ", out, re.M) == ["nan", "n4", "n5", "n6", "n7", "n8", "n9"], out
    rows, _, out = diff("--top", "2", **{"a.safetensors": left, "b.safetensors": right})
    assert re.findall(r"^(n\w+) ", out, re.M) == ["nan", "n4"] and "... and 5 more (--top 2)" in out and len(rows) == 8, out


def models_of_several_shards_are_compared():
    w = floats(*gauss(12))
    files = {"m.safetensors.index.json": json.dumps({"weight_map": {"a": "1.safetensors", "b": "2.safetensors"}}).encode(),
             "one.safetensors": file_of(a=("F32", [12], w), b=("F32", [12], w)),
             "1.safetensors": file_of(a=("F32", [12], w)), "2.safetensors": file_of(b=("F32", [12], w))}
    rows, remarks, out = diff(**files)
    assert {name: row["equal"] for name, row in rows.items()} == {"a": 12, "b": 12} and remarks == {}, rows
    assert "2 equal in all bits" in out, out


def wrong_calls_are_refused():
    w = floats(*gauss(12))
    with Folder(**{"a.npy": npy("'<f4'", "(12,)", w), "cut.npy": npy("'<f4'", "(12,)", w)[:-1]}) as folder:
        for arguments, wanted in ((["a.npy"], "--diff takes two files, not 1"), (["a.npy"] * 3, "--diff takes two files, not 3"),
                                  (["a.npy", "none.npy"], "none.npy: cannot be opened"), (["cut.npy", "a.npy"], "cut.npy: holds 47 bytes"),
                                  (["a.npy", "cut.npy"], "cut.npy: holds 47 bytes"),
                                  (["a.npy", "a.npy", "--json", "a.npy"], "a.npy: is an input; it is not overwritten"),
                                  *((["a.npy", "a.npy", *more], "--diff goes with") for more in (
                                      ["--csv", "c"], ["--svg", "s"], ["--emit", "e"], ["--details"], ["--exact"], ["--blocks"],
                                      ["--to", "e4m3"], ["--keep-below", "0"], ["--sort", "size"]))):
            code, out, errors = bench("--diff", *arguments, folder=folder)
            assert code == 2 and out == "" and errors.startswith(f"mpnum inspect: {wanted}"), (arguments, code, errors)
            assert errors.count("\n") == 1, errors
        code, _, errors = bench("--diff", "a.npy", "a.npy", "--json", "/dev/full", folder=folder)
        assert (code, errors) == (1, "mpnum inspect: /dev/full: cannot be written: No space left on device\n"), errors


def every_field_is_documented():
    known = set(re.findall(r"`(\w+)`", (ROOT / "docs/inspect.md").read_text()))
    w = floats(*gauss(12))
    rows, _, _ = diff(**{"a.npy": npy("'<f4'", "(12,)", w), "b.npy": npy("'<f4'", "(12,)", w)})
    fields = {*rows["a.npy"], "remarks", "differences"}
    assert fields <= known, fields - known


sys.exit(tap.run(
    what_changed_is_measured,
    types_may_differ,
    a_difference_too_small_to_square_is_not_exact,
    codes_are_worth_their_scales,
    codes_without_their_scales_are_bytes,
    arrays_of_two_files_are_one_pair,
    what_differs_in_name_or_shape_is_listed,
    the_worst_come_first,
    models_of_several_shards_are_compared,
    wrong_calls_are_refused,
    every_field_is_documented))
