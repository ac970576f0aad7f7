#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The results of every public function are the same for each compiler, flag and floating-point environment:
builds tests/bits/bits.c many ways and compares what it prints with tests/bits/bits.txt.

usage: tests/bits/test_bits.py [full | exhaustive | --update]

Without an argument the quick builds run, with one the others of that tier. --update writes tests/bits/bits.txt; a line that
changes is a change of the API and has its entry under 'Changed bits' in CHANGELOG.md.
"""

import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
import toolchain
from tree import ROOT, check, need

SOURCE = ROOT / "tests/bits/bits.c"
EXPECTED = ROOT / "tests/bits/bits.txt"
HEADER = """\
# SPDX-License-Identifier: MIT
# A hash of all results of each public function, as tests/bits/bits.c prints it. See tests/bits/test_bits.py.
"""
NOT_HERE = 77

DEFAULT = ["default"]
SOME, OTHERS = ["default", "toward_zero", "flush"], ["upward", "downward"]
ALL = [*SOME, *OTHERS]
SANITIZE = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
NATIVE = ["-O3", "-march=native"]
FAST = ["-O3", "-ffast-math"]
FAST_NATIVE = ["-O3", "-march=native", "-ffast-math"]
C99 = ["-std=c99"]
CXX17 = ["-x", "c++", "-std=c++17"]  # conversions are constexpr
CXX11 = ["-x", "c++", "-std=c++11"]  # and here not

# (compiler, flags, environments). -O0 builds are the slow ones; -O1 takes half the time of -O2, and has false alarms.
QUICK = [
    ("gcc", C99 + ["-O1", "-Wno-maybe-uninitialized"], ["default", "upward", "flush"]),
]
FULL = [
    ("clang", C99 + FAST_NATIVE, SOME),
]
EXHAUSTIVE = [
    ("gcc", C99 + ["-O2"], ALL),
    ("clang", C99 + FAST_NATIVE, OTHERS),
    ("gcc", C99 + FAST_NATIVE, ALL),
    ("g++", CXX17 + FAST, ALL),
    ("clang", C99 + SANITIZE, DEFAULT),
    ("clang++", CXX17 + ["-O2"], ALL),
    ("clang", C99 + NATIVE, ALL),
    ("g++", CXX11 + ["-O2"], ALL),
    ("gcc", C99 + ["-O0"], ALL),
    ("gcc", C99 + FAST, ALL),
    ("gcc", C99 + NATIVE, ALL),
    ("gcc", C99 + SANITIZE, DEFAULT),
    ("g++", CXX17 + ["-O0"], ALL),
    ("g++", CXX17 + NATIVE, ALL),
    ("g++", CXX17 + SANITIZE, DEFAULT),
    ("clang", C99 + ["-O0"], ALL),
    ("clang", C99 + ["-O2"], ALL),
    ("clang++", CXX17 + FAST, ALL),
    ("clang++", CXX17 + ["-O0"], ALL),
    ("clang++", CXX17 + SANITIZE, DEFAULT),
    ("clang++", CXX11 + ["-O2"], ALL),
]
TIERS = {"quick": QUICK, "full": FULL, "exhaustive": EXHAUSTIVE}


def read_lines(text):
    return dict(line.split() for line in text.splitlines() if line and not line.startswith("#"))


def compare(printed, promises_f32=True):
    """Fails with the names of the functions whose results are not those of tests/bits/bits.txt. Functions of f32, rows and blocks
    have no hash where they promise none."""
    expected, got = read_lines(EXPECTED.read_text()), read_lines(printed)
    if not promises_f32:
        expected = {name: "-" if got.get(name) == "-" and name.endswith(("_f32", "_rows", "_special", "_blocks")) else line
                    for name, line in expected.items()}
    problems = [f"{name}: {expected.get(name, 'not there')} became {got.get(name, 'not there')}"
                for name in {**expected, **got} if expected.get(name) != got.get(name)]
    shown = problems[:20] + ([f"and {len(problems) - 20} more"] if len(problems) > 20 else [])
    assert not problems, "\n".join([
        "", *shown,
        "If only some builds print this, results depend on the build or its environment: a defect.",
        "If all do, results have changed: a changed line needs a 'changed bits' entry in CHANGELOG.md;",
        "then run tests/bits/test_bits.py --update."])


def run_everywhere(compiler, flags, environments, emulator=()):
    """Builds bits.c and returns {environment: the finished run in it}; after a blank it may name an instruction set."""
    need(compiler)
    command = [need(*emulator)] if emulator else []
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "bits.exe"  # a name that Windows runs, too
        check(compiler, *toolchain.WARNINGS, *flags, "-I", toolchain.INCLUDE, SOURCE, "-o", program, "-lm")
        return {environment: toolchain.run(*command, program, *environment.split()) for environment in environments}


def compare_run(runs, environment, flags):
    result = runs.result()[environment]
    if result.returncode == NOT_HERE:
        raise tap.Skip(result.stdout.strip())
    assert result.returncode == 0, f"exit status {result.returncode}\n{result.stdout[:4000]}"
    compare(result.stdout, environment.split()[0] == "default" and "-ffast-math" not in flags)


def properties(pool, title, environments, compiler, flags, emulator=()):
    """One for each environment of a build, which the pool makes and runs."""
    runs = pool.submit(run_everywhere, compiler, flags, environments, emulator)
    return [toolchain.named(f"same bits from {title} in environment {environment}", compare_run, runs, environment,
                            flags)
            for environment in environments]


def main():
    if sys.argv[1:] == ["--update"]:
        printed = run_everywhere(toolchain.cc()[0], C99 + ["-O2"], DEFAULT)["default"].stdout
        EXPECTED.write_text(HEADER + printed)
        return 0
    tier = (sys.argv[1:] or ["quick"])[0]
    if len(sys.argv) > 2 or tier not in TIERS:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    tests = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for compiler, flags, environments in TIERS[tier]:
            tests += properties(pool, " ".join([compiler, *flags]), environments, compiler, flags)
        return tap.run(*tests)


if __name__ == "__main__":
    sys.exit(main())
