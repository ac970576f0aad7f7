#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`mpnum bench --math`: functions of arrays and softmax, beside libm, SLEEF and ggml.
test_bench_math.py PROGRAM"""

import csv
import functools
import json
import math
import os
import platform
import re
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from bench_program import Folder, bench, result_of

FUNCTIONS = ["exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "sigmoid",
             "tanh", "softplus", "silu", "gelu", "gelu_tanh", "erf"]
SLEEF_LACKS = ["rsqrt", "reciprocal", "sigmoid", "softplus", "silu", "gelu", "gelu_tanh"]
MATRICES = [(64, 64), (4, 1000), (1, 32000), (1, 1000000), (262, 1000)]  # 4096 values, one row, 1 MiB


@functools.cache
def quick_run():
    """(the section, the output, the lines of the CSV) of one run."""
    with Folder() as folder:
        code, out, errors = bench("--math", "--quick", "--json", "j", "--csv", "c", folder=folder)
        assert code == 0 and errors == "", (code, errors)
        with open(os.path.join(folder, "j")) as file:
            result = json.load(file)
        with open(os.path.join(folder, "c"), newline="") as file:
            return result["math"], out, list(csv.DictReader(file))


def contenders_of(row):
    return {(c["library"], c.get("type")): c for c in row["contenders"]}


def is_there(library):
    return next(peer["missing"] is None for peer in quick_run()[0]["peers"] if peer["library"] == library)


def every_function_has_a_row():
    found = quick_run()[0]
    assert [row["operation"] for row in found["functions"]] == FUNCTIONS
    for row in found["functions"]:
        wanted = {("mpnum", "f32"), ("mpnum", "f16"), ("mpnum", "bf16"), ("libm", "f32")}
        if is_there("SLEEF") and row["operation"] not in SLEEF_LACKS:
            wanted.add(("SLEEF", "f32"))
        got = contenders_of(row)
        assert set(got) == wanted, (row["operation"], set(got) ^ wanted)
        for (library, kind), figure in got.items():
            assert figure["ns_per_value"] > 0 and figure["noise"] >= 0, (row["operation"], figure)
            assert (figure["max_ulp_error"] is None) == (kind != "f32"), (row["operation"], figure)
            if library == "mpnum":
                assert figure["function"] == f"mpnum_{row['operation']}_{kind}_array", figure


def every_matrix_has_a_row():
    found = quick_run()[0]
    assert [(row["rows"], row["columns"]) for row in found["softmax"]] == MATRICES
    peers = ["loop", *(name for name in ("reference avx512", "ggml") if is_there(name))]
    for row in found["softmax"]:
        wanted = ["mpnum", *(peers if row is not found["softmax"][-1] else []), "memcpy"]
        assert [c["library"] for c in row["contenders"]] == wanted, row
        for figure in row["contenders"]:
            assert figure["ns_per_value"] > 0 and figure["noise"] >= 0, figure
            assert (figure["max_relative_error"] is None) == (figure["library"] == "memcpy"), figure


def ratios_follow_from_times():
    found = quick_run()[0]
    for row in found["functions"] + found["softmax"]:
        own = row["contenders"][0]["ns_per_value"]
        for figure in row["contenders"]:
            assert math.isclose(figure["ratio_to_mpnum"], figure["ns_per_value"] / own, rel_tol=1e-9), (row, figure)


# Where x is below zero these cancel: x * 0.5f * (1 + erff(...)), written as it is in many a program.
CANCELS = ["gelu", "gelu_tanh"]


def errors_are_those_of_good_functions():
    """0.5 ulp and up is what a rounded result may be off; libm, SLEEF's u10 and mpnum are within a few."""
    for row in quick_run()[0]["functions"]:
        for (library, kind), figure in contenders_of(row).items():
            if kind == "f32" and (library != "libm" or row["operation"] not in CANCELS):
                limit = 1.1 if library == "SLEEF" else 10
                assert 0.4 < figure["max_ulp_error"] < limit, (row["operation"], library, figure)


def softmax_errors_are_those_of_its_difference():
    """x - max is rounded to 2^-19 at the most, as abs(x) < 10: half of that in e^(x - max), which is 16 2^-24."""
    for row in quick_run()[0]["softmax"]:
        for figure in row["contenders"]:
            limit = {"mpnum": 16 + 8, "loop": math.inf}.get(figure["library"], 16 + 16)
            if figure["max_relative_error"] is not None:
                assert 1 < figure["max_relative_error"] * 2 ** 24 < limit, (row["columns"], figure)


def peers_are_measured_or_named_absent():
    found, out, _ = quick_run()
    assert [peer["library"] for peer in found["peers"]] == ["SLEEF", "loop", "reference avx512", "ggml"]
    for peer in found["peers"]:
        line = f"Peer absent: {peer['library']}, {peer['missing']}\n"
        assert (peer["missing"] is None) != (line in out), peer
    sleef = found["peers"][0]
    assert (sleef["isa"] is None) == (sleef["missing"] is not None), sleef
    assert sleef["missing"] is None or "libsleef-dev" in sleef["missing"] or platform.machine() != "x86_64", sleef
    for row in found["functions"]:
        figure = contenders_of(row).get(("SLEEF", "f32"))
        assert figure is None or re.fullmatch(r"Sleef_\w+f\d+_(u10)?" + sleef["isa"], figure["function"]), figure


def lines_of(out, title):
    """The lines of a table, split at spaces."""
    table = out.split(f"\nMath, {title}")[1].split("\n\n")[0]
    return [line.split() for line in table.splitlines()]


def shown(error):
    """How the tables show a number that does not exist, is beyond measure, large or small."""
    if error is None:
        return "-"
    return ">99999" if error > 99999 else f"{error:.{2 if error < 100 else 0}f}"


def the_functions_table_is_the_json():
    found, out, _ = quick_run()
    lines = {words[0]: words for words in lines_of(out, "functions") if words and words[0] in FUNCTIONS}
    assert list(lines) == FUNCTIONS, list(lines)
    for row in found["functions"]:
        got = contenders_of(row)
        own, libm, sleef = got["mpnum", "f32"], got["libm", "f32"], got.get(("SLEEF", "f32"))
        wanted = [f"{got['mpnum', kind]['ns_per_value']:.3f}" for kind in ("f32", "f16", "bf16")]
        wanted.append(f"{got['mpnum', 'f16']['ratio_to_mpnum']:.2f}")
        for peer in (libm, sleef):
            wanted += [f"{peer['ns_per_value']:.3f}", f"{peer['ratio_to_mpnum']:.2f}"] if peer else ["-", "-"]
        wanted += [shown(peer and peer["max_ulp_error"]) for peer in (own, libm, sleef)]
        assert lines[row["operation"]][1:] == wanted, (lines[row["operation"]], wanted)
    assert max(map(len, out.splitlines())) <= 100, max(out.splitlines(), key=len)


def the_softmax_table_is_the_json():
    found, out, _ = quick_run()
    lines = [words for words in lines_of(out, "softmax") if words and words[0].isdigit()]
    wanted = []
    for row in found["softmax"]:
        for figure in row["contenders"]:
            error = figure["max_relative_error"]
            wanted.append([str(row["rows"]), str(row["columns"]), *figure["library"].split(),
                           f"{figure['ns_per_value']:.3f}", f"{figure['ratio_to_mpnum']:.2f}",
                           shown(error and error * 2 ** 24)])
    assert lines == wanted, [pair for pair in zip(lines, wanted) if pair[0] != pair[1]]


def csv_lines_are_the_json():
    found, _, lines = quick_run()
    table = {(r["section"], r["source"], r["name"], r["variant"], r["metric"]): r["value"] for r in lines}
    assert len(table) == len(lines), "a place stands twice"
    places = [("math", row["operation"], figure["type"], "max_ulp_error", figure)
              for row in found["functions"] for figure in row["contenders"]]
    places += [("softmax", str(row["columns"]), str(row["rows"]), "max_relative_error", figure)
               for row in found["softmax"] for figure in row["contenders"]]
    for section, name, variant, error, figure in places:
        own = figure["library"] == "mpnum"
        place = (section if own else f"{section}_peer", found["isa"] if own else figure["library"], name, variant)
        for metric, field in (("time_per_value", "ns_per_value"), ("noise",) * 2, ("ratio_to_mpnum",) * 2, (error,) * 2):
            value = table.pop((*place, metric))
            assert (float(value) if value else None) == figure[field], (place, metric, value)
    assert not table, table


def every_isa_of_the_cpu_can_be_forced():
    best = quick_run()[0]["isa"]
    names = ["scalar", "sse2", "avx2", "avx512", "avx512vbmi"] if platform.machine() == "x86_64" else ["scalar", best]
    errors = {}
    for name in names[:names.index(best) + 1]:
        found, out = result_of("--math", "--quick", "--isa", name)
        assert found["math"]["isa"] == name and f"Math, functions: {name}" in out
        own = [contenders_of(row)["mpnum", "f32"]["max_ulp_error"] for row in found["math"]["functions"]]
        own += [row["contenders"][0]["max_relative_error"] for row in found["math"]["softmax"]]
        errors[name] = own
    assert len({tuple(own) for own in errors.values()}) == 1, "not the same bits"


def it_is_no_default_section():
    code, out, _ = bench("--quick", "--cpu")
    assert code == 0 and "Math" not in out


sys.exit(tap.run(
    every_function_has_a_row,
    every_matrix_has_a_row,
    ratios_follow_from_times,
    errors_are_those_of_good_functions,
    softmax_errors_are_those_of_its_difference,
    peers_are_measured_or_named_absent,
    the_functions_table_is_the_json,
    the_softmax_table_is_the_json,
    csv_lines_are_the_json,
    every_isa_of_the_cpu_can_be_forced,
    it_is_no_default_section))
