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
GROUPS = [f"{compiler} {level}" for compiler in ("gcc", "clang") for level in ("-O0", "-O2")]
CALLS = [("immintrin.h", "no call"), *(("mpnum", name) for name in TOOL.CALLS), ("NumKong", "nk_cast"),
         ("Highway", "DemoteTo")]
ABSENT = {"immintrin.h": "no immintrin.h that compiles, so there are no multiples of it",
          "NumKong": "no numkong/numkong.h that compiles (NUMKONG=FOLDER names its folder)",
          "Highway": "no hwy/highway.h that compiles (Debian: libhwy-dev)"}
# Metrics, what a table divides them by, how it shows them.
FIGURES = [("compile_time", 1, bench_sections.shown_three), ("ratio_to_immintrin", 1, "{:.1f}".format),
           ("peak_memory", 2 ** 20, "{:.0f}".format)]
# Notes its arguments. Waits over one file, computes over another; without ALL finds no header of others.
COMPILER = """#!/bin/sh
printf '%s %s\\n' "${0##*/}" "$*" >>"$LOG"
for word; do
  case $word in *.c | *.cpp | *.cu) source=$word ;; esac
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


def calls_of(figures):
    """(library, call, "gcc -O0") of each, with its metrics."""
    return {(source, name, variant): figures.metrics("calls", source, name, variant)
            for section, source, name, variant in figures.places if section == "calls" and name}


def every_call_has_a_row():
    figures = quick_run(*COMPILERS)[0]
    calls = list(calls_of(figures))
    assert calls == [(*call, group) for call in CALLS for group in GROUPS], calls
    headers = {(row["name"], row["variant"]) for row in figures.select("headers", None, None, None, "compile_time")}
    assert headers >= {("mpnum/mpnum.h", name) for name in COMPILERS}, headers
    assert figures.get("headers", metric="rounds") == figures.get("calls", metric="rounds") == 1
    assert {(row["metric"], row["unit"]) for row in figures.select("calls") if row["name"]} == {
        ("compile_time", "s"), ("ratio_to_immintrin", ""), ("peak_memory", "byte")}


def multiples_are_those_of_the_same_compiler_and_level():
    calls = calls_of(quick_run(*COMPILERS)[0])
    unit = {group: row["compile_time"] for (library, _, group), row in calls.items() if library == "immintrin.h"}
    for (*_, group), row in calls.items():
        wanted = row["compile_time"] / unit[group]
        assert "missing" not in row and math.isclose(row["ratio_to_immintrin"], wanted, rel_tol=1e-9), row


def seconds_are_of_the_cpu_and_peaks_in_bytes():
    for (_, call, group), row in calls_of(quick_run(*COMPILERS)[0]).items():
        assert 2 ** 19 < row["peak_memory"] < 2 ** 32, row
        if call == "mpnum_grad_multiply" and group.endswith("-O2"):
            assert row["compile_time"] > 0.03, row
        else:
            assert 0 < row["compile_time"] < 0.2, (call, group, row)


def what_is_missing_has_a_reason():
    figures, out = quick_run(*COMPILERS, headers=False)
    calls = calls_of(figures)
    assert len(calls) == len(CALLS) * len(GROUPS), list(calls)
    for (library, *_), row in calls.items():
        assert row.get("missing") == ABSENT.get(library), (library, row)
        assert set(row) == ({"missing"} if library in ABSENT else {"compile_time", "peak_memory"}), (library, row)
    for library, why in ABSENT.items():
        assert out.count(f"Absent: {library}, {why}\n") == 1, out


def compilers_that_are_not_there_are_left_out():
    figures, out = quick_run("gcc", "clang")
    reasons = {(group[:-4], row["missing"]) for (library, _, group), row in calls_of(figures).items()
               if library == "Highway"}
    assert reasons == {("gcc", "g++ was not found"), ("clang", "clang++ was not found")}, reasons
    assert "Absent: Highway, g++ was not found\nAbsent: Highway, clang++ was not found\n" in out, out
    figures, out = quick_run("clang")
    assert {group[:-4] for *_, group in calls_of(figures)} == {"clang"} and "gcc -O" not in out, out
    figures, out = quick_run("g++")
    assert not calls_of(figures) and figures.all_of("name", "headers") and "one call to" not in out, out


def the_table_is_the_figures():
    for figures, out in all_runs():
        calls = calls_of(figures)
        table = out.split("\nCalls: ")[1].split("\nAbsent: ")[0].rstrip().splitlines()[2:]
        assert re.findall(r"\w+ -O\d", table[0]) == GROUPS, table[0]
        assert len(table) == 2 + len(CALLS), table
        assert table[1].split()[3:] == ["s", "x", "MiB"] * len(GROUPS) or not any(
            "ratio_to_immintrin" in row for row in calls.values()), table[1]
        for (library, name), line in zip(CALLS, table[2:]):
            shown = [metric for metric, *_ in FIGURES if any(metric in row for row in calls.values())]
            figures_shown = ["-" if calls[library, name, group].get(metric) is None
                             else show(calls[library, name, group][metric] / unit)
                             for group in GROUPS for metric, unit, show in FIGURES if metric in shown]
            name = name if library == "mpnum" else f"{library} {name}"
            assert line.startswith(name + "  ") and line[len(name):].split() == figures_shown, (line, figures_shown)


def the_table_of_headers_is_the_figures():
    for figures, out in all_runs():
        names, compilers = figures.all_of("name", "headers"), figures.all_of("variant", "headers")
        table = out.split("\nHeaders: ")[1].split("\n\n")[0].splitlines()[1:]
        assert table[0].split() == ["header", *compilers] and len(table) == 1 + len(names), table
        for name, line in zip(names, table[1:]):
            times = [figures.get("headers", "", name, compiler, "compile_time") for compiler in compilers]
            wanted = ["-" if time is None else f"{max(0, 1000 * time):.1f}" for time in times]
            assert line.startswith(name + "  ") and line[len(name):].split() == wanted, (line, wanted)


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


def every_cuda_header_has_a_row_and_launchers_beside():
    """Of a file of its own; the tool alone does this, and only where it is asked to."""
    options = ["--rounds", "0", "--call-rounds", "0", "--nvcc-rounds", "2"]
    folder = toolchain.INCLUDE / "mpnum"
    headers = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.cuh") if path.parent.name != "detail")
    with compilers("nvcc") as env:
        done = subprocess.run([TOOL.__file__, "--json", *options], env=env, capture_output=True, text=True)
        assert done.returncode == 0 and done.stderr == "", done
        runs = len(Path(env["LOG"]).read_text().splitlines())
        table = subprocess.run([TOOL.__file__, *options], env=env, capture_output=True, text=True).stdout.splitlines()
    found = json.loads(done.stdout)
    rows = ["mpnum/" + name for name in headers]
    assert [row["header"] for row in found["nvcc"]] == rows and len(headers) > 10, found
    with_launcher = [name for name, row in zip(headers, found["nvcc"]) if row["launcher_ratio"]]
    assert sorted(Path(name).stem for name in with_launcher) == sorted(TOOL.LAUNCHERS), with_launcher
    assert runs == 2 * (1 + len(headers) + len(with_launcher)) and found["nvcc_rounds"] == 2, runs
    assert [line.split()[0] for line in table[2:]] == rows, table
    for name in with_launcher:
        launcher = re.match(r"\w+", TOOL.LAUNCHERS[Path(name).stem])[0]
        assert re.search(rf"\b{launcher}\(", (folder / name).read_text()), launcher
    with compilers() as env:
        done = subprocess.run([TOOL.__file__, *options], env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "include-cost: nvcc was not found\n"), done


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
    what_is_missing_has_a_reason,
    compilers_that_are_not_there_are_left_out,
    the_table_is_the_figures,
    the_table_of_headers_is_the_figures,
    rounds_are_interleaved,
    the_tool_prints_tables_of_its_own,
    every_cuda_header_has_a_row_and_launchers_beside,
    a_call_that_does_not_compile_is_an_error,
    progress_is_shown_on_a_terminal,
    real_calls_compile,
    *[toolchain.named(f"the call of {library} compiles", calls_of_peers_compile, library)
      for library in ("NumKong", "Highway")]))
