#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Other machines, one of them big-endian, one of 32 bits, print the lines of tests/bits/bits.txt and pass the C tests:
cross-compiled, statically linked, run under qemu-user.

usage: tests/project/test_cross.py [slow]

With slow it runs the programs that take an emulator minutes, and only these.
"""

import os
import platform
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[1] / room) for room in ["harness", "bits"]]

import tap
import test_bits
from toolchain import INCLUDE, named
from tree import ROOT, check, need

# x87 registers make signalling NaNs quiet on their way out of a function; SSE, as here, does not.
FLAGS = {"i686": ["-msse2", "-mfpmath=sse"]}

# (machine, its emulators, one of which is enough, whether it runs the C tests too, which take minutes; others are slow)
MACHINES = [
    ("aarch64", ["qemu-aarch64", "qemu-aarch64-static"], True),
    ("s390x", ["qemu-s390x", "qemu-s390x-static"], True),
    ("riscv64", ["qemu-riscv64", "qemu-riscv64-static"], False),
    ("i686", [] if platform.machine() == "x86_64" else ["qemu-i386", "qemu-i386-static"], False),
]
PROGRAMS = ["test_fma", "test_scale"]
# What only one of them has: instructions, bytes in another order.
OWN_PROGRAMS = {"aarch64": ["test_instructions_run"], "s390x": ["test_packed", "test_scaler_io", "test_scale_io", "test_stored"]}
MORE_SOURCES = {"test_scaler_io": ["fuzz_scaler"], "test_scale_io": ["fuzz_history"],
                **{f"test_block_{name}": ["block_reference"] for name in ("calls", "properties", "values")}}
ENVIRONMENTS = ["default"]  # of bits.c; emulators take half a minute for each
BITS_FLAGS = {"s390x": ["-O1", "-Wno-maybe-uninitialized"]}  # two thirds of the time of -O2, which is slower here
# All in bits.txt, too.
SLOW_PROGRAMS = ["test_decoding", "test_rng", "test_scaler_rule", "test_scaler_calls", "test_health", "test_block_calls", "test_cross_entropy", "test_grad", "test_advice", "test_disagreements", "test_scaler_verdicts", "test_scale_array", "test_block_values", "test_queries", "test_hadamard", "test_normalize", "test_conversions", "test_user_formats",
                 "test_text_parse", "test_text_print", "test_block_properties", "test_normalize_backward",
                 "test_normalize_fused", "test_row_options", "test_activation_rows", "test_activation_backward", "test_dropout"]
REFERENCE = ["reference", "conversion_inputs"]
# What programs call, compiled once for each machine, and the programs: with NEON on aarch64. Slow; bits.txt has arrays, too.
ARRAY_PROGRAMS = {"array_functions": ["test_array_values", "test_array_any", "test_array_stochastic"],
                  "function_arrays": ["test_array_values"]}

def programs_of(machine, is_slow):
    return SLOW_PROGRAMS if is_slow else PROGRAMS + OWN_PROGRAMS.get(machine, [])

def source_of(name):
    """A program lies in the room of what it tests."""
    return next((ROOT / "tests").glob(f"*/{name}.c"))

def compiler(machine):
    return f"{machine}-linux-gnu-gcc"

def flags(machine):
    return ["-std=c99", "-O2", "-static", *FLAGS.get(machine, [])]

def build_and_run(machine, emulators, name, *more):
    sources = [source_of(source) for source in [name, *REFERENCE]]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / name
        check(compiler(machine), *flags(machine), "-I", INCLUDE, "-I", ROOT / "tests", *sources, *more, "-o", program, "-lm",
              "-pthread")
        said = check(need(*emulators), program)
    assert "ok 1 " in said, said
    return said

def passes(machine, emulators, name):
    need(compiler(machine))
    build_and_run(machine, emulators, name, *[source_of(more) for more in MORE_SOURCES.get(name, [])])

def arrays_pass(machine, emulators, functions):
    """One after the other, as they share what takes longest to compile."""
    need(compiler(machine))
    with tempfile.TemporaryDirectory() as folder:
        compiled = Path(folder) / f"{functions}.o"
        check(compiler(machine), *flags(machine), "-I", INCLUDE, "-c", source_of(functions), "-o", compiled)
        said = "".join(build_and_run(machine, emulators, name, compiled) for name in ARRAY_PROGRAMS[functions])
    neon = [line for line in said.splitlines() if " - neon " in line]
    assert (machine == "aarch64") == any("# SKIP" not in line for line in neon), "\n".join(neon)

def main():
    if sys.argv[1:] not in ([], ["slow"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    is_slow = sys.argv[1:] == ["slow"]
    tests = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for machine, emulators, runs_tests in MACHINES:
            for functions in ARRAY_PROGRAMS if runs_tests and is_slow else []:
                done = pool.submit(arrays_pass, machine, emulators, functions)
                tests.append(named(f"{functions} on {machine}", done.result))
        for machine, emulators, runs_tests in MACHINES:
            for name in programs_of(machine, is_slow) if runs_tests else []:
                done = pool.submit(passes, machine, emulators, name)
                tests.append(named(f"{name} on {machine}", done.result))
        for machine, emulators, runs_tests in MACHINES:
            if not (runs_tests or is_slow):
                continue
            environments = [name for name in test_bits.ALL if not runs_tests or (name not in ENVIRONMENTS) == is_slow]
            tests += test_bits.properties(pool, machine, environments, compiler(machine),
                                         [*flags(machine), *([] if is_slow else BITS_FLAGS.get(machine, []))], emulators)
        return tap.run(*tests)

if __name__ == "__main__":
    sys.exit(main())
