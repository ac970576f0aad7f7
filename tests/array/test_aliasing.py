#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Array functions read and write bytes: tests/array/aliasing.c, where memory is of a caller's own types, with everything
inlined, under strict aliasing.

usage: tests/array/test_aliasing.py [full]

Without an argument gcc's scalar loops, with full clang's and those of each instruction set of the compiler's flags.
"""

import platform
import re
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import toolchain
from toolchain import INCLUDE, named
from tree import ROOT, check, need

SCALAR = ["-D", "MPNUM_NO_SIMD=1"]
VECTORS = {"x86_64": {"avx2": ["-mavx2", "-mfma", "-mf16c"]}, "aarch64": {"neon": []}}.get(platform.machine(), {})


def reads_and_writes_bytes(compiler, flags):
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "aliasing"
        check(need(compiler), "-std=c99", "-O3", "-fstrict-aliasing", *flags, "-I", INCLUDE, ROOT / "tests/array/aliasing.c",
              "-o", program, "-lm")
        check(program)


# Loops behind a pointer to elements; what they take apart is memory of their own.
LOOPS = ["simd/detail/codings.h", "array/array.h", "array/reduce.h", "func/func_array.h",
         *("array/detail/" + name for name in ("convert_loops.h", "convert.inc", "decode.inc", "encode.inc", "reduce.inc",
                                               "reduce_loops.h", "reduce_loops.inc")),
         "func/detail/func_loops.h", "func/detail/func_loops.inc"]
OWN_MEMORY = {"mpnum_put_right_", "mpnum_exact_sum_add_f64_", "mpnum_find_encoding_", "mpnum_find_decoding_"}


def functions_of(text):
    """(name, parameters, body) of each function, those in macros too."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S).replace("\\\n", " ")
    for match in re.finditer(r"([\w#()]+)\s*\(([^(){};]*\*[^(){};]*)\)\s*\{", text):
        depth, end = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield match[1], match[2], text[match.end():end]


def no_element_is_taken_through_its_own_type():
    """Pointers to floats, doubles and storage structs are handed on, and read as bytes. (Structs whose names end in an
    underscore are the library's own.)"""
    seen = 0
    for header in LOOPS:
        for name, parameters, body in functions_of((INCLUDE / "mpnum" / header).read_text()):
            pointers = re.findall(r"\b(?:float|double|mpnum_\w*[^\W_])\s*\*\s*(\w+)", parameters)
            seen += len(pointers)
            for pointer in pointers if name not in OWN_MEMORY else []:
                taken = re.search(rf"\b{pointer}\s*(?:\[|->)|(?:[=(,;{{]|return)\s*\*\s*{pointer}\b", body)
                known = pointer in ("result", "total", "tile", "sums", "codes")  # what a function makes
                assert known or not taken, f"{header}: {name} takes {taken[0]}"
    assert seen > 150, seen


def properties(tier):
    if tier == "quick":
        yield no_element_is_taken_through_its_own_type
    builds = [("gcc", "scalar", SCALAR)]
    if tier == "full":
        builds = [("clang", "scalar", SCALAR)]
        builds += [(compiler, isa, ["-D", "MPNUM_NO_DISPATCH=1", *flags])
                   for compiler in ("gcc", "clang") for isa, flags in VECTORS.items()]
    for compiler, isa, flags in builds:
        yield named(f"memory of a caller's types is read and written as bytes, {compiler} {isa}", reads_and_writes_bytes,
                    compiler, flags)


if __name__ == "__main__":
    tier = sys.argv[1] if sys.argv[1:] else "quick"
    if tier not in ("quick", "full"):
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(2)
    sys.exit(toolchain.run_on_all_cores(list(properties(tier))))
