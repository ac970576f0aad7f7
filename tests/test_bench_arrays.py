#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`mpnum bench --arrays`: array functions at three sizes, beside copies and other libraries.
test_bench_arrays.py PROGRAM"""

import csv
import functools
import json
import math
import os
import platform
import re
import sys

import tap
from bench_program import FORMATS, Folder, bench, result_of

PEERS = ["CUDA headers", "F16C", "Highway", "Imath", "Eigen", "FP16", "NumKong", "ggml", "CPFloat"]
# Bits of an element, other than the type's own; small types that stand alone take a byte.
BITS = {"f64": 64, "f32": 32, "tf32": 32, "f16": 16, "bf16": 16, "e3m2x4": 6, "e2m3x4": 6, "e2m1x2": 4}
QUICK_SIZES = [4096, 16384, 65536]


@functools.cache
def quick_run():
    """(the section, the table, the lines of the CSV) of one run."""
    with Folder() as folder:
        code, out, errors = bench("--arrays", "--quick", "--json", "j", "--csv", "c", folder=folder)
        assert code == 0 and errors == "", (code, errors)
        with open(os.path.join(folder, "j")) as file:
            result = json.load(file)
        with open(os.path.join(folder, "c"), newline="") as file:
            return result["arrays"], out, list(csv.DictReader(file))


def shape_of(row):
    return row["src_bits"], row["dst_bits"], row["in_place"]


GRADIENTS = {"unscale f32": (32, 32, True), "unscale f32 small": (32, 32, True), "unscale f32 in passes": (32, 32, True),
             "unscale bf16": (16, 16, True), "unscale f16 to f32": (16, 32, False),
             "unscale bf16 to f32": (16, 32, False), "check f32": (32, 0, False)}
REDUCTIONS = ("all_finite", "first_nonfinite", "count_nonfinite", "amax", "stats", "norm", "sum", "dot")


def every_function_has_a_row():
    names = {row["operation"] for row in quick_run()[0]["rows"]}
    small = [name for name in FORMATS if BITS.get(name, 8) < 16]
    packed = ["e3m2x4", "e2m3x4", "e2m1x2"]
    wanted = {f"f32 to {name}" for name in [*FORMATS, *packed]} | {f"{name} to f32" for name in [*FORMATS, *packed]}
    wanted |= {f"{source} to {name}" for source in ("f16", "bf16") for name in [*small, *packed]}
    wanted |= {"f64 to f32", "f64 to f16", "f64 to bf16"}
    wanted |= {"f32 to bf16 sr", "f32 to e4m3 sr", "f16 to e4m3 any", "f16 to e4m3 2d"}
    wanted |= {"round to e4m3", "round to e4m3 rz", "round to e4m3 sr"}
    wanted |= {f"{what} {name}" for what in REDUCTIONS for name in ("f32", "bf16", "f16", "e5m2", "e4m3")}
    wanted |= {"amax e2m1", "stats e2m1", *GRADIENTS}
    assert names == wanted, names ^ wanted


def bytes_are_those_of_the_types():
    for row in quick_run()[0]["rows"]:
        words = row["operation"].split()
        wanted = (32, 32, True)
        if row["operation"] in GRADIENTS:
            wanted = GRADIENTS[row["operation"]]
        elif words[0] in REDUCTIONS:
            wanted = (BITS.get(words[1], 8), 0, False)
            assert row["function"] == f"mpnum_{words[0]}_{words[1]}", row["function"]
        elif words[0] != "round":
            wanted = (BITS.get(words[0], 8), BITS.get(words[2], 8), False)
            assert f"mpnum_{words[0]}_to_{words[2]}" in row["function"] or words[-1] in ("any", "2d"), row["function"]
        assert shape_of(row) == wanted, (row["operation"], shape_of(row))


def check_figures(row, name, limits):
    """A rate follows from the time, a share from the rates, the limit from the copies."""
    assert [figure["bytes"] for figure in row["sizes"]] == QUICK_SIZES, row["sizes"]
    for figure, limit in zip(row["sizes"], limits["sizes"]):
        rate = (limits["src_bits"] + limits["dst_bits"]) / 8 / figure["ns_per_value"]
        best = max(limit["regular_gb_per_s"], limit["streaming_gb_per_s"] or 0)
        assert math.isclose(figure["gb_per_s"], rate, rel_tol=1e-9), (name, figure, rate)
        assert math.isclose(figure["limit_gb_per_s"], best, rel_tol=1e-9), (name, figure, best)
        assert math.isclose(figure["share_of_limit"], rate / best, rel_tol=1e-9), (name, figure)
        assert figure["noise"] >= 0, (name, figure)


def figures_follow_from_times():
    found = quick_run()[0]
    limits = {shape_of(limit): limit for limit in found["limits"]}
    rows = {row["operation"]: row for row in found["rows"]}
    for name, row in rows.items():
        check_figures(row, name, limits[shape_of(row)])
    for peer in found["peers"]:
        for row in peer["rows"]:
            own = rows[row["operation"]]
            check_figures(row, (peer["library"], row["operation"]), limits[shape_of(own)])
            for ours, theirs in zip(own["sizes"], row["sizes"]):
                speedup = theirs["ns_per_value"] / ours["ns_per_value"]
                assert math.isclose(theirs["mpnum_speedup"], speedup, rel_tol=1e-9), (peer["library"], row)


def limits_have_every_byte_shape():
    found = quick_run()[0]["limits"]
    shapes = {shape_of(limit) for limit in found}
    assert {(32, 4, False), (4, 32, False), (64, 32, False), (32, 32, True), (32, 0, False)} <= shapes, shapes
    for limit in found:
        streams = platform.machine() == "x86_64" and not limit["in_place"] and limit["dst_bits"] > 0
        for figure in limit["sizes"]:
            assert figure["regular_gb_per_s"] > 0, limit
            assert (figure["streaming_gb_per_s"] is not None) == streams, limit


def peers_are_measured_or_named_absent():
    found, out, _ = quick_run()
    assert [peer["library"] for peer in found["peers"]] == PEERS
    for peer in found["peers"]:
        line = f"Peer absent: {peer['library']}, {peer['missing']}\n"
        assert (peer["missing"] is None) != (line in out), peer["library"]
        wanted = 0 if peer["missing"] else peer["functions"]
        assert len(peer["rows"]) == wanted, (peer["library"], "a loop is for no operation, or was left out")
        assert peer["missing"] or wanted > 0, peer["library"]


def exact_peers_agree_with_mpnum():
    """These round as IEEE 754 does: another result would be a mistake in how one of the two is called."""
    for peer in quick_run()[0]["peers"]:
        for row in peer["rows"]:
            words = row["operation"].split()
            if words[-1] == "f32" or (peer["library"] in ("F16C", "FP16", "Imath", "CUDA headers") and "f16" in words):
                assert row["same_results"], (peer["library"], row["operation"])


def the_table_is_the_json():
    found, out, _ = quick_run()
    table = out.split("\nArrays: ")[1].split("\n\n")[0].splitlines()
    for row in found["rows"]:
        line = next(line for line in table if line.startswith(row["operation"] + "  "))
        figures = re.findall(r"\d+(?:\.\d)?%?|>99%", line[len(row["operation"]):])
        for i, figure in enumerate(row["sizes"]):
            assert figures[3 * i] == f"{figure['gb_per_s']:.1f}", (line, figure)
            assert figures[3 * i + 2] == f"{100 * figure['share_of_limit']:.0f}%", (line, figure)
        peers = [p["library"] for p in found["peers"] for r in p["rows"] if r["operation"] == row["operation"]]
        assert any(peer in line for peer in peers) or (not peers and line.rstrip().endswith("-")), line
    assert max(map(len, out.splitlines())) <= 110, max(out.splitlines(), key=len)


def csv_lines_are_the_json():
    found, _, lines = quick_run()
    table = {(r["section"], r["source"], r["name"], r["variant"], r["metric"]): r["value"] for r in lines}
    assert len(table) == len(lines), "a place stands twice"
    sources = [("arrays", found["isa"], found["rows"])]
    sources += [("arrays_peer", peer["library"], peer["rows"]) for peer in found["peers"]]
    for section, source, rows in sources:
        for row in rows:
            for figure in row["sizes"]:
                place = (section, source, row["operation"], str(figure["bytes"]))
                for metric, field in (("rate", "gb_per_s"), ("share_of_limit",) * 2, ("noise",) * 2):
                    assert float(table.pop((*place, metric))) == figure[field], (place, metric)
    assert {metric for *_, metric in table} == {"time_per_value", "limit_rate"}, "a line of nothing in the JSON"


def every_isa_of_the_cpu_can_be_forced():
    best = quick_run()[0]["isa"]
    names = ["scalar", "sse2", "avx2", "avx512"] if platform.machine() == "x86_64" else ["scalar", best]
    for name in names[:names.index(best) + 1]:
        assert result_of("--arrays", "--quick", "--isa", name)[0]["arrays"]["isa"] == name


def threads_split_the_arrays():
    found, out = result_of("--arrays", "--quick", "--threads", "3")
    assert found["arrays"]["threads"] == 3 and "3 threads" in out
    assert all(figure["gb_per_s"] > 0 for row in found["arrays"]["rows"] for figure in row["sizes"])


def wrong_settings_are_refused():
    absent = "neon" if platform.machine() == "x86_64" else "avx512"
    cases = {("--isa", "mmx"): "--isa takes scalar, sse2, avx2, avx512 or neon, not 'mmx'",
             ("--isa", ""): "--isa takes scalar, sse2, avx2, avx512 or neon, not ''",
             ("--isa", absent): "--isa: this CPU has no such instructions",
             ("--threads", "0"): "--threads takes 1 to 256, not '0'",
             ("--threads", "257"): "--threads takes 1 to 256, not '257'",
             ("--threads", "-1"): "--threads takes 1 to 256, not '-1'",
             ("--threads", "2x"): "--threads takes 1 to 256, not '2x'"}
    for arguments, why in cases.items():
        code, out, errors = bench("--arrays", "--quick", *arguments)
        assert (code, out, errors) == (2, "", f"mpnum bench: {why}\n"), (arguments, code, errors)


def it_is_no_default_section():
    code, out, _ = bench("--quick", "--cpu")
    assert code == 0 and "Arrays" not in out


sys.exit(tap.run(
    every_function_has_a_row,
    bytes_are_those_of_the_types,
    figures_follow_from_times,
    limits_have_every_byte_shape,
    peers_are_measured_or_named_absent,
    exact_peers_agree_with_mpnum,
    the_table_is_the_json,
    csv_lines_are_the_json,
    every_isa_of_the_cpu_can_be_forced,
    threads_split_the_arrays,
    wrong_settings_are_refused,
    it_is_no_default_section))
