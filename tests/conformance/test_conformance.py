#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The files of conformance/ are what tools/conformance makes of the slow references."""

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from toolchain import WARNINGS, cc, run
from tree import ROOT, check

FOLDER, TOOL = ROOT / "conformance", ROOT / "tools/conformance"


def files_are_those_of_the_references():
    check(TOOL, "--check")


def verdict(done):
    return done.returncode, done.stdout.splitlines()[-1]


def the_runner_in_c_finds_what_differs():
    """To bf16, with nothing but libc; by hand: from 7f7f8000 to Inf saturates, and a tie next to an even code goes away."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "run"
        check(*cc(), "-std=c99", *WARNINGS, FOLDER / "run.c", "-o", program)
        for arguments, want in ((["bf16", "ieee", "nearest_even"], (0, "9384 cases, 0 differ")),
                                (["bf16", "saturate", "nearest_even"], (1, "9384 cases, 8 differ")),
                                (["bf16", "ieee", "nearest_away"], (1, "9384 cases, 1040 differ")),
                                (["bf16", "ieee", "sideways"], (1, "no such file, type, rule or rounding"))):
            assert verdict(run(program, FOLDER / "convert_f32.jsonl", *arguments)) == want, arguments


def the_runner_in_python_finds_what_differs():
    """struct's halves are rounded to nearest even; up they are not."""
    for rounding, want in (("nearest_even", (0, "1504 cases, 0 differ")), ("up", (1, "1504 cases, 629 differ"))):
        assert verdict(run(sys.executable, FOLDER / "run.py", FOLDER / "convert_f64.jsonl", "f16", "ieee", rounding)) == want


def files_are_small():
    total = sum(path.stat().st_size for path in FOLDER.rglob("*"))
    assert total <= 8 << 20, total


def what_is_not_understood_is_refused():
    for arguments, said in ((["no_such_topic"], "no topic no_such_topic"), (["--no-such-option"], "usage: tools/conformance"),
                            (["--against", "no_such_stack"], "no stack no_such_stack"), (["--page"], "usage: ")):
        done = subprocess.run([TOOL, *arguments], capture_output=True, text=True)
        assert done.returncode == 2 and said in done.stderr and not done.stdout, done


if __name__ == "__main__":
    sys.exit(tap.run(files_are_those_of_the_references, the_runner_in_c_finds_what_differs, the_runner_in_python_finds_what_differs,
                     files_are_small, what_is_not_understood_is_refused))
