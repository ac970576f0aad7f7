#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A benchmark that was built without jansson: what needs no JSON works, what does is refused in a line.
test_bench_no_jansson.py PROGRAM"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from tree import ROOT, check

PROGRAM = os.path.abspath(sys.argv[1])
SAMPLE = ROOT / "bench/input/sample/digits.safetensors"


def bench(*arguments):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
        return done.returncode, done.stdout, done.stderr, sorted(os.listdir(folder))


def nothing_calls_jansson():
    names = check("nm", "-D", "--undefined-only", PROGRAM).split()
    assert "malloc" in [name.split("@")[0] for name in names]
    strangers = [name for name in names if name.startswith("json_")]
    assert not strangers, f"calls of a file that json_sources in bench/meson.build lacks: {strangers}"



def json_is_refused():
    code, out, errors, made = bench("--formats", "--json", "x.json")
    assert (code, out, made) == (2, "", []), (code, out, made)
    assert errors == "mpnum bench: --json needs jansson, which was not found when this was built\n", errors


def safetensors_are_refused():
    code, out, errors, _ = bench("--accuracy", SAMPLE)
    assert (code, out) == (2, "") and errors.endswith(": needs jansson, which was not found when this was built\n"), errors
    assert errors.count("\n") == 1


def the_rest_works():
    code, out, errors, made = bench("--formats", "--speed", "--quick", "--csv", "x.csv", "--svg", "x.svg")
    assert code == 0 and errors == "" and "\nSpeed: " in out and made == ["x.csv", "x.svg"], (code, errors, made)
    code, out, errors, _ = bench("--gpu")
    assert code == 1 and errors.startswith("mpnum bench: GPU: ") and errors.count("\n") == 1, (code, errors)


if __name__ == "__main__":
    sys.exit(tap.run(nothing_calls_jansson, json_is_refused, safetensors_are_refused, the_rest_works))
