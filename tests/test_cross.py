#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Other machines, one of them big-endian, one of 32 bits, print the lines of tests/bits.txt and pass the C tests:
cross-compiled, statically linked, run under qemu-user.

usage: tests/test_cross.py
"""

import os
import platform
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tap
import test_bits
from toolchain import INCLUDE, named
from tree import ROOT, check, need

# x87 registers make signalling NaNs quiet on their way out of a function; SSE, as here, does not.
FLAGS = {"i686": ["-msse2", "-mfpmath=sse"]}

# (machine, its emulators, one of which is enough, whether it runs the C tests too, which take minutes)
MACHINES = [
    ("aarch64", ["qemu-aarch64", "qemu-aarch64-static"], True),
    ("s390x", ["qemu-s390x", "qemu-s390x-static"], True),
    ("riscv64", ["qemu-riscv64", "qemu-riscv64-static"], False),
    ("i686", [] if platform.machine() == "x86_64" else ["qemu-i386", "qemu-i386-static"], False),
]
PROGRAMS = ["test_conversions", "test_text_parse", "test_text_print", "test_user_formats", "test_queries",
            "test_decoding", "test_disagreements", "test_packed", "test_rng"]
REFERENCE = ["reference.c", "conversion_inputs.c"]


def compiler(machine):
    return f"{machine}-linux-gnu-gcc"


def flags(machine):
    return ["-std=c99", "-O2", "-static", *FLAGS.get(machine, [])]


def passes(machine, emulators, name):
    need(compiler(machine))
    sources = [ROOT / "tests" / source for source in [f"{name}.c", *REFERENCE]]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / name
        check(compiler(machine), *flags(machine), "-I", INCLUDE, *sources, "-o", program, "-lm")
        said = check(need(*emulators), program)
    assert "ok 1 " in said, said


def main():
    tests = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name in PROGRAMS:
            for machine, emulators, runs_tests in MACHINES:
                if runs_tests:
                    done = pool.submit(passes, machine, emulators, name)
                    tests.append(named(f"{name} on {machine}", done.result))
        for machine, emulators, _ in MACHINES:
            tests += test_bits.properties(pool, machine, test_bits.ALL, compiler(machine), flags(machine), emulators)
        return tap.run(*tests)


if __name__ == "__main__":
    sys.exit(main())
