#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`mpnum bench --arrays`: array functions at three sizes, beside copies and other libraries.
test_bench_arrays.py PROGRAM"""

import functools
import platform
import re
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import bench_sections
import tap
from bench_program import FORMATS, bench, full_run
from bench_sections import shape_of
from tree import ROOT

# Those of the documentation's table.
PEERS = re.search(r"^\| peer \| needs .*\n\|[-|]+\n((?:\|.*\n)+)", (ROOT / "docs/bench.md").read_text(), re.M)[1]
PEERS = sorted(name for row in PEERS.splitlines() for name in row.split("|")[1].strip().split(", "))
# Bits of an element, other than the type's own; small types that stand alone take a byte.
BITS = {"f64": 64, "f32": 32, "tf32": 32, "f16": 16, "bf16": 16, "e3m2x4": 6, "e2m3x4": 6, "e2m1x2": 4}
REDUCTIONS = ("all_finite", "first_nonfinite", "amax", "stats", "norm", "sum", "dot")
FUNCTIONS = ("exp", "tanh", "gelu", "silu", "reciprocal", "log", "sqrt", "sin")
OF_TWO = ("swiglu", "logaddexp")  # of the halves of an array
ROWS = {"softmax rows": "softmax", "layer rows": "layer_norm", "rms rows": "rms_norm",
        "layer back rows": "normalize_backward"}


@functools.cache
def quick_run():
    return bench_sections.quick_run("arrays")


def every_function_has_a_row():
    names = set(bench_sections.operations(quick_run()[0], "arrays"))
    packed = ["e3m2x4", "e2m3x4", "e2m1x2"]  # a code in a byte is mpnum_convert_array's
    types = [name for name in FORMATS if name not in ("e3m2", "e2m3", "e2m1")] + packed
    wanted = {f"f32 to {name}" for name in types} | {f"{name} to f32" for name in types}
    wanted |= {f"{source} to {name}" for source in ("f16", "bf16") for name in ["e5m2", "e4m3", *packed]}
    wanted |= {"f64 to f32", "f64 to f16", "f64 to bf16"}
    wanted |= {"f32 to bf16 sr", "f32 to e4m3 sr", "f16 to e4m3 any", "f16 to e4m3 2d", "e4m3 to bf16 any"}
    wanted |= {"round to e4m3", "round to e4m3 rz", "round to e4m3 sr"}
    wanted |= {f"{what} {name}" for what in REDUCTIONS for name in ("f32", "bf16", "f16", "e5m2", "e4m3")
               if name not in ("e5m2", "e4m3") or what not in ("norm", "sum", "dot")}
    wanted.add("dot light f32")
    wanted |= {f"{what} {name}" for what in FUNCTIONS for name in ("f32", "bf16", "f16")} - {"log f16", "sqrt f16", "sqrt bf16"}
    wanted |= {f"{what} {name}" for what in OF_TWO for name in ("f32", "bf16", "f16")}
    wanted |= {f"{what} f32" for what in ROWS} | {"softmax rows bf16", "rms rows bf16"}
    wanted |= {f"hadamard {n} {name}" for n in (16, 64) for name in ("f32", "bf16")} | {"unhadamard 16 f32"}
    assert names == wanted, names ^ wanted


def bytes_are_those_of_the_types():
    figures = quick_run()[0]
    for name in bench_sections.operations(figures, "arrays"):
        words, function = name.split(), figures.get("arrays", "mpnum", name, "", "function")
        wanted = (32, 32, True)
        if words[0] in REDUCTIONS:
            wanted = (BITS.get(words[-1], 8), 0, False)
            assert function == f"mpnum_{'_'.join(words)}", function
        elif words[0] in FUNCTIONS + OF_TWO:
            wanted = (BITS[words[1]], BITS[words[1]] // (1 + (words[0] in OF_TWO)), False)
            assert function == f"mpnum_{words[0]}_{words[1]}_array", function
        elif " ".join(words[:-1]) in ROWS:
            wanted = (BITS[words[-1]], BITS[words[-1]], False)
            assert function == f"mpnum_{ROWS[' '.join(words[:-1])]}_rows", function
        elif words[0].endswith("hadamard"):
            in_place = words[0] == "unhadamard" or words[2] == "bf16"
            wanted = (BITS[words[2]], BITS[words[2]], in_place)
            assert function == f"mpnum_hadamard_{'inverse_' if words[0] == 'unhadamard' else ''}rows", function
        elif words[0] != "round":
            wanted = (BITS.get(words[0], 8), BITS.get(words[2], 8), False)
            assert f"mpnum_{words[0]}_to_{words[2]}" in function or words[-1] in ("any", "2d"), function
        assert shape_of(figures, "arrays", name) == wanted, (name, shape_of(figures, "arrays", name))


def limits_have_every_byte_shape():
    figures = quick_run()[0]
    bench_sections.check_limits(figures, "arrays")
    shapes = set(bench_sections.limits_of(figures, "arrays"))
    assert {(32, 4, False), (4, 32, False), (64, 32, False), (32, 32, True), (32, 0, False)} <= shapes, shapes


def peers_are_measured_or_named_absent():
    figures, out = quick_run()
    assert sorted(bench_sections.peers(figures, "arrays")) == PEERS
    bench_sections.check_peers(figures, "arrays", out)


def exact_peers_agree_with_mpnum():
    """These round as IEEE 754 does: another result would be a mistake in how one of the two is called."""
    figures = quick_run()[0]
    for row in figures.select("arrays", None, None, None, "same_results"):
        words = row["name"].split()
        assert row["value"] in (0, 1), row
        if words[-1] == "f32" or (row["source"] in ("F16C", "FP16", "Imath", "CUDA headers") and "f16" in words):
            assert row["value"] == 1, row
    functions = figures.select("arrays", None, None, "", "function")
    assert [row for row in functions if row["source"] != "mpnum" and figures.get(
        "arrays", row["source"], row["name"], "", "same_results") is None] == [], "not compared"


def threads_split_the_arrays():
    bench_sections.check_threads("arrays", "f32 to e4m3", quick_run()[0])


def short_calls_have_rows():
    figures, out = quick_run()
    names = [name for name in bench_sections.operations(figures, "arrays")
             if "2d" not in name and "hadamard" not in name and " rows " not in name]
    assert names and figures.all_of("name", "arrays_calls", "mpnum") == names
    for name in names:
        times = [figures.get("arrays_calls", "mpnum", name, str(n), "time_per_call") for n in (1, 4, 16, 64, 256)]
        assert all(time > 0 for time in times), (name, times)
    assert "Arrays, short calls: ns a call" in out


def data_are_what_is_asked_for():
    """Of 4096 floats a quarter, one in a hundred or nearly none are what the name says; 5 deviations are allowed."""
    shares = {"normal": (0, 0, 0), "subnormal": (0.25, 0, 0), "tiny": (0, 0, 0), "huge": (0, 0, 0), "zeros": (0, 0.25, 0),
              "special": (0, 0, 0.01), "bits": (1 / 256, 0, 1 / 256)}
    largest, smallest = {}, {}
    for name, wanted in shares.items():
        figures, out = full_run("--grad", "--quick", "--data", name) if name != "normal" else quick_run()
        section = "arrays" if name == "normal" else "grad"
        assert figures.get(section, "mpnum", metric="data") == name and f"{name} data" in out
        for metric, share in zip(("subnormal_share", "zero_share", "nonfinite_share"), wanted):
            value, room = figures.get(section, "mpnum", metric=metric), 5 * (share * (1 - share) / 4096) ** 0.5
            assert abs(value - share) <= room, (name, metric, value)
        largest[name] = figures.get(section, "mpnum", metric="amax")
        smallest[name] = figures.get(section, "mpnum", metric="min_nonzero")
    assert largest["normal"] < 10 and 2 ** 20 < largest["huge"] < 10 * 2 ** 20 and largest["bits"] > 2 ** 100, largest
    assert smallest["tiny"] < 2 ** -20 and smallest["subnormal"] < 2 ** -126 <= smallest["normal"], smallest


def wrong_settings_are_refused():
    absent = "neon" if platform.machine() == "x86_64" else "avx512"
    cases = {("--isa", "mmx"): "--isa takes scalar, sse2, avx2, avx512, avx512vbmi or neon, not 'mmx'",
             ("--isa", ""): "--isa takes scalar, sse2, avx2, avx512, avx512vbmi or neon, not ''",
             ("--isa", absent): "--isa: this CPU has no such instructions",
             ("--data", "odd"): "--data takes normal, subnormal, tiny, huge, zeros, special or bits, not 'odd'",
             ("--threads", "0"): "--threads takes 1 to 256, not '0'",
             ("--threads", "257"): "--threads takes 1 to 256, not '257'",
             ("--threads", "-1"): "--threads takes 1 to 256, not '-1'",
             ("--threads", "2x"): "--threads takes 1 to 256, not '2x'"}
    for arguments, why in cases.items():
        code, out, errors = bench("--arrays", "--quick", *arguments)
        assert (code, out, errors) == (2, "", f"mpnum bench: {why}\n"), (arguments, code, errors)


sys.exit(tap.run(
    every_function_has_a_row,
    bytes_are_those_of_the_types,
    limits_have_every_byte_shape,
    peers_are_measured_or_named_absent,
    exact_peers_agree_with_mpnum,
    threads_split_the_arrays,
    short_calls_have_rows,
    data_are_what_is_asked_for,
    wrong_settings_are_refused,
    *bench_sections.common("arrays", "Arrays", quick_run)))
