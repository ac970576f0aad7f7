#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`mpnum bench --headers`: what a header and a call cost a compile. Scripts stand for the compilers, which would take
minutes; each call is compiled once by a real one. test_bench_headers.py PROGRAM"""

import collections
import contextlib
import functools
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import bench_sections
import tap
import toolchain
from bench_program import PROGRAM, Folder, bench, terminal_output
from tree import need

TOOL = toolchain.load_tool("include-cost")
COMPILERS = ["gcc", "clang", "g++", "clang++"]
GROUPS = [(compiler, level) for compiler in ("gcc", "clang") for level in ("-O0", "-O2")]
CALLS = [("immintrin.h", "no call"), *(("mpnum", name) for name in TOOL.CALLS), ("NumKong", "nk_cast"),
         ("Highway", "DemoteTo")]
ABSENT = {"immintrin.h": "no immintrin.h that compiles, so there are no multiples of it",
          "NumKong": "no numkong/numkong.h that compiles (NUMKONG=FOLDER names its folder)",
          "Highway": "no hwy/highway.h that compiles (Debian: libhwy-dev)"}
# Fields of a row, what a table divides them by, digits there.
FIGURES = [("seconds", 1, 2), ("ratio_to_immintrin", 1, 1), ("peak_bytes", 2 ** 20, 0)]
# Metric and unit of the CSV, field of the JSON.
METRICS = [("compile_time", "s", "seconds"), ("ratio_to_immintrin", "", "ratio_to_immintrin"),
           ("peak_memory", "byte", "peak_bytes")]
# Notes its arguments. Waits over one file, computes over another; without ALL finds no header of others.
COMPILER = """#!/bin/sh
printf '%s %s\\n' "${0##*/}" "$*" >>"$LOG"
for word; do
  case $word in *.c | *.cpp) source=$word ;; esac
done
{ read -r included; read -r code; } <"$source"
case $included in *immintrin.h* | *numkong.h* | *highway.h*) [ "$ALL" ] || exit 1 ;; esac
case $1$code in
-O0*mpnum_gelu_bf16_array*) /bin/sleep 0.25 ;;
-O2*mpnum_grad_findings*) i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done ;;
esac
exit 0
"""


@contextlib.contextmanager
def compilers(*names, headers=True, text=COMPILER):
    """An environment with Python and these compilers, and no other program."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "python3").symlink_to(sys.executable)
        for name in names:
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        yield {**os.environ, "PATH": str(folder), "LOG": str(folder / "log"), "ALL": "1" if headers else ""}


@functools.cache
def quick_run(*names, headers=True):
    with compilers(*names, headers=headers) as env:
        return bench_sections.quick_run("headers", env=env)


def all_runs():
    return [quick_run(*COMPILERS), quick_run(*COMPILERS, headers=False), quick_run("gcc", "clang")]


def every_call_has_a_row():
    found = quick_run(*COMPILERS)[0]
    rows = [(row["library"], row["call"], row["compiler"], row["optimization"]) for row in found["calls"]]
    assert rows == [(*call, *group) for call in CALLS for group in GROUPS], rows
    headers = {(row["header"], row["compiler"]) for row in found["rows"]}
    assert headers >= {("mpnum/mpnum.h", name) for name in COMPILERS}, headers
    assert found["rounds"] == found["call_rounds"] == 1, found


def multiples_are_those_of_the_same_compiler_and_level():
    calls = quick_run(*COMPILERS)[0]["calls"]
    unit = {(row["compiler"], row["optimization"]): row["seconds"] for row in calls if row["library"] == "immintrin.h"}
    for row in calls:
        wanted = row["seconds"] / unit[row["compiler"], row["optimization"]]
        assert row["missing"] is None and math.isclose(row["ratio_to_immintrin"], wanted, rel_tol=1e-9), row


def seconds_are_of_the_cpu_and_peaks_in_bytes():
    for row in quick_run(*COMPILERS)[0]["calls"]:
        assert 2 ** 19 < row["peak_bytes"] < 2 ** 32, row
        if row["call"] == "mpnum_grad_multiply" and row["optimization"] == "-O2":
            assert row["seconds"] > 0.03, row
        else:
            assert 0 < row["seconds"] < 0.2, row


def what_is_missing_has_rows_that_say_so():
    found, out, _ = quick_run(*COMPILERS, headers=False)
    for row in found["calls"]:
        assert row["missing"] == ABSENT.get(row["library"]), row
        assert (row["seconds"] is None) == (row["peak_bytes"] is None) == (row["missing"] is not None), row
        assert row["ratio_to_immintrin"] is None, row
    for library, why in ABSENT.items():
        assert out.count(f"Absent: {library}, {why}\n") == 1, out


def compilers_that_are_not_there_are_left_out():
    found, out, _ = quick_run("gcc", "clang")
    reasons = {(row["compiler"], row["missing"]) for row in found["calls"] if row["library"] == "Highway"}
    assert reasons == {("gcc", "g++ was not found"), ("clang", "clang++ was not found")}, reasons
    assert "Absent: Highway, g++ was not found\nAbsent: Highway, clang++ was not found\n" in out, out
    found, out, _ = quick_run("clang")
    assert {row["compiler"] for row in found["calls"]} == {"clang"} and "gcc -O" not in out, out
    found, out, _ = quick_run("g++")
    assert found["calls"] == [] and found["rows"] and "one call to" not in out, out


def the_table_is_the_json():
    for found, out, _ in all_runs():
        calls = found["calls"]
        table = out.split("\nCalls: ")[1].split("Absent: ")[0].splitlines()[2:]
        assert re.findall(r"\w+ -O\d", table[0]) == [" ".join(group) for group in GROUPS], table[0]
        assert len(table) == 2 + len(CALLS), table
        for at, line in enumerate(table[2:]):
            rows = calls[4 * at:4 * at + 4]
            library, name = CALLS[at]
            figures = [("-" if row[field] is None else f"{row[field] / unit:.{digits}f}") for row in rows
                       for field, unit, digits in FIGURES]
            name = name if library == "mpnum" else f"{library} {name}"
            assert line.startswith(name + "  ") and line[len(name):].split() == figures, (line, figures)
        assert max(map(len, out.splitlines())) <= 110, max(out.splitlines(), key=len)


def csv_lines_are_the_json():
    for found, _, lines in all_runs():
        keys = ("section", "source", "name", "variant", "metric", "unit")
        table = {tuple(line[key] for key in keys): line["value"] for line in lines}
        assert len(table) == len(lines), "a place stands twice"
        for row in found["rows"]:
            place = ("headers", "", row["header"], row["compiler"], "compile_time", "s")
            assert float(table.pop(place)) == row["seconds"], place
        for row in found["calls"]:
            place = ("calls", row["library"], row["call"], f"{row['compiler']} {row['optimization']}")
            for metric, unit, field in METRICS:
                value = table.pop((*place, metric, unit))
                assert (float(value) if value else None) == row[field], (place, metric, value)
        assert not table, table


def rounds_are_interleaved():
    with compilers(*COMPILERS) as env:
        done = subprocess.run([TOOL.__file__, "--json", "--rounds", "0", "--call-rounds", "3"], env=env,
                              capture_output=True, text=True)
        assert done.returncode == 0 and done.stderr == "", done
        runs = [line for line in Path(env["LOG"]).read_text().splitlines() if "-fsyntax-only" not in line]
    found = json.loads(done.stdout)
    assert found["call_rounds"] == 3 and found["rows"] == [], found
    round_size = len(CALLS) * len(GROUPS)
    assert len(set(runs)) == round_size and runs == 3 * runs[:round_size], runs
    drivers = collections.Counter(tuple(line.split()[:2]) for line in runs[:round_size])
    assert drivers["gcc", "-O0"] == drivers["clang", "-O2"] == len(CALLS) - 1 and drivers["g++", "-O0"] == 1, drivers


def the_tool_prints_tables_of_its_own():
    with compilers(*COMPILERS, headers=False) as env:
        done = subprocess.run([TOOL.__file__, "--rounds", "1", "--call-rounds", "1"], env=env, capture_output=True,
                              text=True)
    assert done.returncode == 0 and done.stderr == "", done
    headers, calls = done.stdout.split("\n\none call to ")
    assert re.search(r"^mpnum/mpnum.h( +-?\d+\.\d){4}$", headers, re.M), headers
    assert re.search(r"^mpnum_norm_f16( +\d+\.\d\d +- +\d+){4}$", calls, re.M), calls
    assert re.search(rf"^Highway DemoteTo( +-){{4}} {re.escape(ABSENT['Highway'])}$", calls, re.M), calls


def a_call_that_does_not_compile_is_an_error():
    text = COMPILER.replace("exit 0", 'case $code in *mpnum_norm_f16*) echo no luck; exit 1 ;; esac')
    with compilers(*COMPILERS, text=text) as env:
        done = subprocess.run([TOOL.__file__, "--rounds", "0", "--call-rounds", "1"], env=env, capture_output=True,
                              text=True)
        assert done.returncode == 1 and done.stdout == "" and done.stderr.endswith(" failed: no luck\n"), done
        code, out, errors = bench("--headers", "--quick", env=env)
        assert code == 1 and out == "" and errors.endswith("mpnum bench: tools/include-cost: failed\n"), (code, errors)


def progress_is_shown_on_a_terminal():
    with compilers(*COMPILERS) as env:
        text = terminal_output([PROGRAM, "--headers", "--quick"], env=env)
    assert f"\rcompiling calls, round 1 of 1, 1 of {len(CALLS) * len(GROUPS)}\x1b[K" in text, text[:300]
    assert text.endswith("\r\x1b[K"), text[-50:]


def real_calls_compile():
    """Without a warning, all in one file."""
    code = "".join(text.replace("call(", f"call_{number}(") + "\n" for number, text in enumerate(TOOL.CALLS.values()))
    for name in TOOL.CALLS:
        assert name == "no call" or f"{name}(" in TOOL.CALLS[name], name
    with Folder(**{"calls.c": f"#include <mpnum/mpnum.h>\n{code}".encode()}) as folder:
        done = toolchain.run(*toolchain.cc(), "-std=c99", *toolchain.WARNINGS, *toolchain.C_WARNINGS, "-fsyntax-only",
                             "-I", toolchain.INCLUDE, Path(folder, "calls.c"))
    assert done.returncode == 0, done.stdout


def calls_of_peers_compile(library):
    call, = [call for call in TOOL.all_calls(os.environ.get("NUMKONG", "")) if call.library == library]
    line = [need(*TOOL.LANGUAGES[call.language]["compilers"]), "-fsyntax-only", *call.arguments]
    suffix = TOOL.LANGUAGES[call.language]["suffix"]
    first, text = call.text.splitlines(True)[0].encode(), call.text.encode()
    with Folder(**{"first" + suffix: first, "call" + suffix: text}) as folder:
        if toolchain.run(*line, Path(folder, "first" + suffix)).returncode != 0:
            raise tap.Skip(call.absent)
        done = toolchain.run(*line, Path(folder, "call" + suffix))
    assert done.returncode == 0, done.stdout


sys.exit(tap.run(
    every_call_has_a_row,
    multiples_are_those_of_the_same_compiler_and_level,
    seconds_are_of_the_cpu_and_peaks_in_bytes,
    what_is_missing_has_rows_that_say_so,
    compilers_that_are_not_there_are_left_out,
    the_table_is_the_json,
    csv_lines_are_the_json,
    rounds_are_interleaved,
    the_tool_prints_tables_of_its_own,
    a_call_that_does_not_compile_is_an_error,
    progress_is_shown_on_a_terminal,
    real_calls_compile,
    *[toolchain.named(f"the call of {library} compiles", calls_of_peers_compile, library)
      for library in ("NumKong", "Highway")]))
