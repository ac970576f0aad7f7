#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`mpnum bench --math`: functions of arrays and softmax, beside libm, SLEEF, ggml and PyTorch.
test_bench_math.py PROGRAM"""

import functools
import importlib.util
import math
import os
import platform
import re
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import bench_sections
import function_rows
import tap
from bench_program import bench, result_of

FUNCTIONS = list(function_rows.rows("TIMED_FUNCTIONS"))
SLEEF_HAS = ["exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "sqrt", "tanh", "erf"]
LIGHT = ["exp", "sigmoid", "tanh", "silu", "gelu", "gelu_tanh"]
MATRICES = [(64, 64), (4, 1000), (1, 32000), (1, 1000000), (262, 1000)]  # 4096 values, one row, 1 MiB


OF_A_TIME = {"time_per_value", "noise", "ratio_to_mpnum"}


@functools.cache
def quick_run():
    return bench_sections.quick_run("math")


def missing(library):
    return quick_run()[0].get("math", library, metric="missing")


def functions_of(figures):
    """Of each function by library and type: its metrics."""
    found = {}
    for section, library, name, kind in figures.places:
        if section == "math" and name:
            found.setdefault(name, {})[library, kind] = figures.metrics(section, library, name, kind)
    return found


def matrices_of(figures):
    """Of each matrix by library: its metrics."""
    return {name: {library: figures.metrics("softmax", library, name)
                   for library in figures.all_of("source", "softmax", None, name)}
            for name in figures.all_of("name", "softmax")}


def every_function_has_a_row():
    found = functions_of(quick_run()[0])
    assert list(found) == FUNCTIONS
    for name, got in found.items():
        wanted = {("mpnum", "f32"), ("mpnum", "f16"), ("mpnum", "bf16"), ("libm", "f32")}
        if not missing("SLEEF") and name in SLEEF_HAS:
            wanted.add(("SLEEF", "f32"))
        if name in LIGHT:
            wanted.add(("mpnum", "light"))
        assert set(got) == wanted, (name, set(got) ^ wanted)
        for (library, kind), row in got.items():
            assert row["time_per_value"] > 0 and row["noise"] >= 0, (name, row)
            assert set(row) == {"function", *OF_A_TIME, *(["max_ulp_error"] if kind in ("f32", "light") else [])}, (name, row)
            if library == "mpnum":
                form = "light_f32" if kind == "light" else kind
                assert row["function"] == f"mpnum_{name}_{form}_array", row
                if kind == "light":  # another function, by docs/functions.md off by 4 places at most
                    assert got["mpnum", "f32"]["max_ulp_error"] < row["max_ulp_error"] <= 4.5, row


def every_matrix_has_a_row():
    found = matrices_of(quick_run()[0])
    assert list(found) == [f"{rows} x {columns}" for rows, columns in MATRICES]
    peers = ["loop", *(name for name in ("reference avx512", "ggml") if not missing(name))]
    for name, got in found.items():
        wanted = ["mpnum", *(peers if name != list(found)[-1] else []), "memcpy"]
        assert list(got) == wanted, (name, list(got))
        for library, row in got.items():
            assert row["time_per_value"] > 0 and row["noise"] >= 0, row
            assert set(row) == {*OF_A_TIME, *(["max_relative_error"] if library != "memcpy" else [])}, (library, row)


ROWS = ["softmax", "log-softmax", "cross-entropy, gradient", "softmax backward", "SwiGLU", "SwiGLU, e4m3", "SwiGLU backward",
        "dropout", "layer norm", "RMS norm", "l2", "layer norm backward", "RMS norm backward", "sum, RMS norm", "sum, RMS norm, e4m3"]


SHAPES = [(64, 64), (4, 1000), (1, 4096)]  # wider rows have more than 4096 values


def names_of(kinds):
    return [f"{kind}, {rows} x {columns}" for kind in kinds for rows, columns in SHAPES]


def every_function_of_rows_has_a_row():
    figures = quick_run()[0]
    names = names_of(ROWS)
    assert list(figures.all_of("name", "rows")) == names, list(figures.all_of("name", "rows"))
    for name in names:
        wanted = {("mpnum", "f32"), ("mpnum", "f16"), ("mpnum", "bf16"), ("memcpy", "f32")}
        if name.split(",")[0] in ("layer norm", "RMS norm"):
            wanted.add(("loop", "f32"))
        got = {(library, kind): figures.metrics("rows", library, name, kind)
               for section, library, place, kind in figures.places if section == "rows" and place == name}
        assert set(got) == wanted, (name, set(got) ^ wanted)
        for row in got.values():
            assert set(row) == OF_A_TIME and row["time_per_value"] > 0 and row["noise"] >= 0, (name, row)
            ratio = row["time_per_value"] / got["mpnum", "f32"]["time_per_value"]
            assert math.isclose(row["ratio_to_mpnum"], ratio, rel_tol=1e-9), row


def the_table_of_rows_is_the_figures():
    figures, out = quick_run()
    lines = lines_of(out, "rows: ")
    for name in figures.all_of("name", "rows"):
        row = figures.metrics("rows", "mpnum", name, "f32")
        assert any(" ".join(line).startswith(f"{name} {shown_time(row)} ") for line in lines), name


def ratios_follow_from_times():
    figures = quick_run()[0]
    for got in functions_of(figures).values():
        for row in got.values():
            ratio = row["time_per_value"] / got["mpnum", "f32"]["time_per_value"]
            assert math.isclose(row["ratio_to_mpnum"], ratio, rel_tol=1e-9), row
    for got in matrices_of(figures).values():
        for row in got.values():
            ratio = row["time_per_value"] / got["mpnum"]["time_per_value"]
            assert math.isclose(row["ratio_to_mpnum"], ratio, rel_tol=1e-9), row


# Where x is below zero these cancel: x * 0.5f * (1 + erff(...)), written as it is in many a program.
CANCELS = ["gelu", "gelu_tanh"]


def errors_are_those_of_good_functions():
    """0.5 ulp and up is what a rounded result may be off; libm, SLEEF's u10 and mpnum are within a few."""
    for name, got in functions_of(quick_run()[0]).items():
        for (library, kind), row in got.items():
            if kind == "f32" and (library != "libm" or name not in CANCELS):
                limit = 1.1 if library == "SLEEF" else 10
                assert 0.4 < row["max_ulp_error"] < limit, (name, library, row)


def softmax_errors_are_those_of_its_difference():
    """x - max is rounded to 2^-19 at the most, as abs(x) < 10: half of that in e^(x - max), which is 16 2^-24."""
    for name, got in matrices_of(quick_run()[0]).items():
        for library, row in got.items():
            limit = {"mpnum": 16 + 8, "loop": math.inf}.get(library, 16 + 16)
            if library != "memcpy":
                assert 1 < row["max_relative_error"] * 2 ** 24 < limit, (name, library, row)


def peers_are_measured_or_named_absent():
    figures, out = quick_run()
    for library in ("SLEEF", "loop", "reference avx512", "ggml"):
        assert (missing(library) is None) != (f"\nAbsent: {library}, {missing(library)}\n" in out), library
        assert (missing(library) is None) == any(
            row["source"] == library for row in figures.select(None, None, None, None, "time_per_value")), library
    why, isa = missing("SLEEF"), figures.get("math", "SLEEF", metric="isa")
    assert (isa is None) == (why is not None), (isa, why)
    assert why is None or "libsleef-dev" in why or platform.machine() != "x86_64", why
    for got in functions_of(figures).values():
        row = got.get(("SLEEF", "f32"))
        assert row is None or re.fullmatch(r"Sleef_\w+f\d+_(u10)?" + isa, row["function"]), row


def lines_of(out, title):
    """The lines of a table, split at spaces."""
    table = out.split(f"\nMath, {title}")[1].split("\n\n")[0]
    return [line.split() for line in table.splitlines()]


def shown_time(row):
    time = row["time_per_value"]
    return f"{time:.{3 if time < 9.9995 else 2 if time < 99.995 else 1 if time < 999.95 else 0}f}"


def shown_ratio(row):
    return bench_sections.shown_three(row["ratio_to_mpnum"])


def shown(error):
    """How the tables show a number that does not exist, is beyond measure, large or small."""
    if error is None:
        return "-"
    return ">9999" if error > 9999 else f"{error:.{2 if error < 100 else 0}f}"


def the_functions_table_is_the_figures():
    figures, out = quick_run()
    lines = {words[0]: words for words in lines_of(out, "functions") if words and words[0] in FUNCTIONS}
    assert list(lines) == FUNCTIONS, list(lines)
    for name, got in functions_of(figures).items():
        peers = ["libm"] if missing("SLEEF") else ["libm", "SLEEF"]
        wanted = [shown_time(got["mpnum", kind]) for kind in ("f32", "f16", "bf16")]
        wanted.append(shown_ratio(got["mpnum", "f16"]))
        light = got.get(("mpnum", "light"))
        wanted.append(shown_time(light) if light else "-")
        for peer in peers:
            row = got.get((peer, "f32"))
            wanted += [shown_time(row), shown_ratio(row)] if row else ["-", "-"]
        errors = [("mpnum", "f32"), ("mpnum", "light"), *((peer, "f32") for peer in peers)]
        wanted += [shown(got.get(place, {}).get("max_ulp_error")) for place in errors]
        assert lines[name][1:] == wanted, (lines[name], wanted)


def the_softmax_table_is_the_figures():
    figures, out = quick_run()
    lines = [words for words in lines_of(out, "softmax") if words and words[0].isdigit()]
    wanted = []
    for name, got in matrices_of(figures).items():
        for library, row in got.items():
            error = row.get("max_relative_error")
            wanted.append([*name.split(), *library.split(), shown_time(row),
                           shown_ratio(row), shown(error and error * 2 ** 24)])
    assert lines == wanted, [pair for pair in zip(lines, wanted) if pair[0] != pair[1]]


OF_PYTORCH = ["softmax", "log-softmax", "cross-entropy, gradient", "SwiGLU", "layer norm", "RMS norm", "l2"]
TYPES = ["f32", "f16", "bf16"]


def given_times(names, types=TYPES):
    return {name: {"function": f"torch.{name[:9]}",
                   **{kind: {"ns_per_value": 0.5 + i + k, "noise": 0.01 * i} for k, kind in enumerate(types)}}
            for i, name in enumerate(names)}


def torch_lines(out):
    """The lines of the table below its headings."""
    table = out.split("\nMath, PyTorch ")[1].split("\n\n")[0].splitlines()
    return table[next(i for i, line in enumerate(table) if line.startswith("function or rows")) + 1:]


def check_pytorch(figures, out):
    """A ratio is that of times of the same type, and the table has all figures."""
    lines = torch_lines(out)
    names = figures.all_of("name", "math_torch")
    assert len(lines) == len(names) > 0, (lines, names)
    for name, line in zip(names, lines):
        words = [*name.split(), *figures.get("math_torch", "PyTorch", name, metric="function").split()]
        for kind in TYPES:
            row = figures.metrics("math_torch", "PyTorch", name, kind)
            if not row:
                words += ["-", "-"]
                continue
            assert set(row) == OF_A_TIME and row["time_per_value"] > 0 and row["noise"] >= 0, (name, row)
            own = figures.metrics("math" if name in FUNCTIONS else "rows", "mpnum", name, kind)["time_per_value"]
            assert math.isclose(row["ratio_to_mpnum"], row["time_per_value"] / own, rel_tol=1e-9), (name, kind, row, own)
            words += [shown_time(row), shown_ratio(row)]
        assert line.split() == words, (line, words)


def pytorch_is_absent_with_its_reason():
    figures, out = quick_run()
    assert figures.metrics("math_torch", "PyTorch") == {"missing": bench_sections.ABSENT_WHY}
    assert f"\nAbsent: PyTorch, {bench_sections.ABSENT_WHY}\n" in out and "Math, PyTorch" not in out
    assert not figures.all_of("name", "math_torch")


def the_times_that_pytorch_gives_are_reported():
    """Those of this plan: a thread, values, rounds, rows and columns. A function that mpnum has not is no row."""
    names = ["exp", "gelu_tanh", "softmax, 64 x 64", "l2, 1 x 4096"]
    said = {"version": "9.8.7+cpu", "rows": {**given_times(names[1:]), **given_times(["exp", "digamma"], ["f32", "bf16"])}}
    plan = ["1", "4096", "3", *(str(number) for shape in SHAPES for number in shape)]
    asked = f"sys.argv[1].endswith('/bench/peers/torch_math_times.py') and sys.argv[2:] == {plan}"
    figures, out = bench_sections.run_with("math", f"json.dump({said} if {asked} else sys.argv, sys.stdout)")
    assert figures.metrics("math_torch", "PyTorch") == {"version": "9.8.7"} and "\nMath, PyTorch 9.8.7: " in out
    assert list(figures.all_of("name", "math_torch")) == names, figures.all_of("name", "math_torch")
    for name in names:
        for kind in TYPES:
            row, given = figures.metrics("math_torch", "PyTorch", name, kind), said["rows"][name].get(kind)
            assert bool(row) == bool(given), (name, kind)
            assert not row or (row["time_per_value"], row["noise"]) == (given["ns_per_value"], given["noise"]), (name, row)
    check_pytorch(figures, out)


def what_is_no_answer_of_pytorch_is_a_reason():
    none = {"function": "f", "f32": {"ns_per_value": 0.0, "noise": 0.0}}
    no_time = {"version": "1", "rows": {**given_times(["exp"]), "tanh": none}}
    cases = {"json.dump({'missing': 'no\\nluck'}, sys.stdout)": "no?luck",
             "json.dump({'version': '1', 'rows': {}}, sys.stdout)": "no times",
             "json.dump({'version': '1', 'rows': {'exp': {}}}, sys.stdout)": "no times of exp",
             f"json.dump({no_time}, sys.stdout)": "no times of tanh"}
    for program, why in cases.items():
        figures, out = bench_sections.run_with("math", program)
        about = figures.metrics("math_torch", "PyTorch")
        assert set(about) == {"missing"} and about["missing"].startswith(f"{why} (TORCH_PYTHON "), (program, about)
        assert f"\nAbsent: PyTorch, {about['missing']}\n" in out and not figures.all_of("name", "math_torch")


def pytorch_is_measured_where_it_is():
    if importlib.util.find_spec("torch") is None:
        raise tap.Skip("no module torch")
    figures, out = bench_sections.quick_run("math", env={**os.environ, "TORCH_PYTHON": sys.executable})
    about = figures.metrics("math_torch", "PyTorch")
    assert "missing" not in about and re.fullmatch(r"\d+(\.\w+)+", about["version"]), about
    assert list(figures.all_of("name", "math_torch")) == [name for name in FUNCTIONS if name != "exp10"] + names_of(OF_PYTORCH)
    assert all(figures.metrics("math_torch", "PyTorch", name, "f32") for name in figures.all_of("name", "math_torch"))
    check_pytorch(figures, out)


def every_isa_of_the_cpu_can_be_forced():
    best = quick_run()[0].get("math", "mpnum", metric="isa")
    names = ["scalar", "sse2", "avx2", "avx512", "avx512vbmi"] if platform.machine() == "x86_64" else ["scalar", best]
    errors = {}
    for name in names[:names.index(best) + 1]:
        figures, out = result_of("--math", "--quick", "--isa", name)
        assert figures.get("math", "mpnum", metric="isa") == name and f"Math, functions: {name}" in out
        own = [got["mpnum", "f32"]["max_ulp_error"] for got in functions_of(figures).values()]
        own += [got["mpnum"]["max_relative_error"] for got in matrices_of(figures).values()]
        errors[name] = own
    assert len({tuple(own) for own in errors.values()}) == 1, "not the same bits"


sys.exit(tap.run(
    every_function_has_a_row,
    every_matrix_has_a_row,
    every_function_of_rows_has_a_row,
    the_table_of_rows_is_the_figures,
    ratios_follow_from_times,
    errors_are_those_of_good_functions,
    softmax_errors_are_those_of_its_difference,
    peers_are_measured_or_named_absent,
    the_functions_table_is_the_figures,
    the_softmax_table_is_the_figures,
    pytorch_is_absent_with_its_reason,
    the_times_that_pytorch_gives_are_reported,
    what_is_no_answer_of_pytorch_is_a_reason,
    pytorch_is_measured_where_it_is,
    every_isa_of_the_cpu_can_be_forced,
    bench_sections.no_default("Math")))
