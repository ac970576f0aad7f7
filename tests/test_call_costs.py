#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What one call of an array function costs a user: bytes of code in the object of a file with that call alone, which
stand for the time and memory of its compilation and do not depend on the machine. docs/arrays.md says how a loop stays
this small."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import tap
from toolchain import INCLUDE, named
from tree import check, need

COMPILERS = {"gcc": r"\(.*?\) 12\.", "clang": r"version 14\."}  # others lay code out in their own way
# One of each kind of loop: (code, most bytes at -O2, at -O0).
CALLS = {
    "mpnum_f32_to_f16_array":
        ("void f(mpnum_f16 *y, const float *x, size_t n) { mpnum_f32_to_f16_array(y, x, n); }", 4 << 10, 36 << 10),
    "mpnum_f32_to_bf16_sat_array":
        ("void f(mpnum_bf16 *y, const float *x, size_t n) { mpnum_f32_to_bf16_sat_array(y, x, n); }", 4608, 36 << 10),
    "mpnum_f32_to_e4m3_sat_array":
        ("void f(mpnum_e4m3 *y, const float *x, size_t n) { mpnum_f32_to_e4m3_sat_array(y, x, n); }", 6656, 48 << 10),
    "no function": ("typedef int none;", 0, 0),
}
LEVELS = ["-O2", "-O0"]


def text_bytes(compiler, level, code):
    with tempfile.TemporaryDirectory() as folder:
        source, compiled = Path(folder, "call.c"), Path(folder, "call.o")
        source.write_text(f"#include <mpnum/array.h>\n{code}\n")
        check(compiler, level, "-I", INCLUDE, "-c", source, "-o", compiled)
        return int(check("size", compiled).splitlines()[1].split()[0])


def a_call_is_small(compiler, level):
    need(compiler)
    need("size")
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    if not re.search(COMPILERS[compiler], version):
        raise tap.Skip(f"the limits are those of another version: {version}")
    sizes = {call: text_bytes(compiler, level, code) for call, (code, *_) in CALLS.items()}
    print("#", compiler, level, sizes)
    large = [f"{call}: {size}" for call, size in sizes.items() if size > CALLS[call][1 + LEVELS.index(level)]]
    assert not large, f"more bytes than allowed: {', '.join(large)}"


sys.exit(tap.run(*[named(f"a call is small, {compiler} {level}", a_call_is_small, compiler, level)
                   for compiler in COMPILERS for level in LEVELS]))
