#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compute-sanitizer finds nothing in the kernels: no access outside an array, no race in shared memory, no use of
memory that nothing wrote, no barrier that some threads miss.

usage: tests/cuda/gpu/test_gpu_sanitizer.py PROGRAM...

MPNUM_GPU_PART holds more arguments of the programs.
"""

import functools
import os
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "harness"))

import tap
from toolchain import named
from tree import need

SECONDS = 600  # of one program under one tool


def sanitizer():
    nvcc = os.environ.get("MPNUM_NVCC")
    return need("compute-sanitizer", *([str(Path(os.path.realpath(nvcc)).parent / "compute-sanitizer")] if nvcc else []))


@functools.cache
def has_gpu():
    return subprocess.run([sys.argv[1], "--tiny", "--only", "no_test_has_this_name"], stdout=subprocess.DEVNULL).returncode != 77


def finds_nothing(tool, program):
    if not has_gpu():
        raise tap.Skip("no GPU")
    done = subprocess.run([sanitizer(), "--tool", tool, "--error-exitcode", "99", program, "--tiny", *os.environ.get("MPNUM_GPU_PART", "").split()],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stdout[-3000:]


def tests():
    for program in sys.argv[1:]:
        name = Path(program).name
        for tool in ("memcheck", "racecheck", "initcheck", "synccheck"):
            yield named(f"{tool}_finds_nothing_in_{name.removeprefix('test_')}", finds_nothing, tool, program)


if __name__ == "__main__":
    sys.exit(tap.run(*tests()))
