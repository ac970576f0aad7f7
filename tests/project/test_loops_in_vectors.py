#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A loop of a user's around a conversion of one value becomes vectors: gcc from 12 on at -O3, clang at -O2, for any x86-64
and for this machine's. Read from the instructions of the object."""

import re
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from toolchain import INCLUDE, named, run_on_all_cores
from tree import check, need

# Name of a loop: type of the result, type of the source, what stands in the loop.
LOOPS = {
    "f32_to_bf16": ("mpnum_bf16", "float", "mpnum_f32_to_bf16(x[i])"),
    "f32_to_bf16_sat": ("mpnum_bf16", "float", "mpnum_f32_to_bf16_sat(x[i])"),
    "f32_to_bf16_rz": ("mpnum_bf16", "float", "mpnum_f32_to_bf16_rz(x[i])"),
    "bf16_to_f32": ("float", "mpnum_bf16", "mpnum_bf16_to_f32(x[i])"),
    "f32_to_f16": ("mpnum_f16", "float", "mpnum_f32_to_f16(x[i])"),
    "f32_to_f16_sat": ("mpnum_f16", "float", "mpnum_f32_to_f16_sat(x[i])"),
    "f32_to_f16_rz": ("mpnum_f16", "float", "mpnum_f32_to_f16_rz(x[i])"),
    "f16_to_f32": ("float", "mpnum_f16", "mpnum_f16_to_f32(x[i])"),
    "f32_to_tf32": ("mpnum_tf32", "float", "mpnum_f32_to_tf32(x[i])"),
    "f32_to_e4m3": ("mpnum_e4m3", "float", "mpnum_f32_to_e4m3(x[i])"),
    "f32_to_e4m3_sat": ("mpnum_e4m3", "float", "mpnum_f32_to_e4m3_sat(x[i])"),
    "e4m3_to_f32": ("float", "mpnum_e4m3", "mpnum_e4m3_to_f32(x[i])"),
    "f32_to_e5m2_sat": ("mpnum_e5m2", "float", "mpnum_f32_to_e5m2_sat(x[i])"),
    "e5m2_to_f32": ("float", "mpnum_e5m2", "mpnum_e5m2_to_f32(x[i])"),
    "f32_to_e4m3fnuz_sat": ("mpnum_e4m3fnuz", "float", "mpnum_f32_to_e4m3fnuz_sat(x[i])"),
    "f32_to_e2m1_sat": ("mpnum_e2m1", "float", "mpnum_f32_to_e2m1_sat(x[i])"),
    "e2m1_to_f32": ("float", "mpnum_e2m1", "mpnum_e2m1_to_f32(x[i])"),
}
# Each value waits for the one before it, which no compiler makes vectors of.
SCALAR = "float scalar(const float *x, size_t n) {\n float y = 0;\n for (size_t i = 0; i < n; ++i)" \
         " y = mpnum_f16_to_f32(mpnum_f32_to_f16(y + x[i]));\n return y;\n}\n"
SOURCE = "#include <stddef.h>\n#include <mpnum/types.h>\n" + SCALAR + "".join(
    f"void {name}({to} *restrict y, const {source} *restrict x, size_t n) {{\n"
    f" for (size_t i = 0; i < n; ++i) y[i] = {call};\n}}\n" for name, (to, source, call) in LOOPS.items())
# Sums, shifts and comparisons of many integers or floats at a time, and zeros between integers.
PACKED = re.compile(r"\t(v?(padd|psub|psll|psra|psrl|pmin|pcmp|punpck)\w*|v?(add|sub)ps)\s.*%[xyz]mm")
COMPILERS = {"gcc": "-O3", "clang": "-O2"}


def need_compiler(compiler):
    need("objdump")
    need(compiler)
    if not check(compiler, "-dumpmachine").startswith("x86_64"):
        raise tap.Skip("which instructions are those of vectors is known here of x86-64")
    if compiler == "gcc" and int(check("gcc", "-dumpversion").split(".")[0]) < 12:
        raise tap.Skip("gcc makes vectors of these loops from 12 on")


def functions_of(listing):
    """The instructions of each function of an object."""
    found = {}
    for line in listing.splitlines():
        head = re.match(r"[0-9a-f]+ <(\w+)>:$", line)
        if head:
            lines = found.setdefault(head[1], [])
        elif found:
            lines.append(line)
    return found


def loops_are_vectors(compiler, flags):
    need_compiler(compiler)
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "loops.c"), Path(folder, "loops.o")
        source.write_text(SOURCE)
        check(compiler, "-std=c99", *flags, "-I", INCLUDE, "-c", source, "-o", made)
        functions = functions_of(check("objdump", "-d", "--no-show-raw-insn", made))
    assert set(functions) == {"scalar", *LOOPS}, sorted(functions)
    packed = {name for name, lines in functions.items() if any(PACKED.search(line) for line in lines)}
    assert "scalar" not in packed, "a loop that cannot be vectors is taken for one"
    assert packed == set(LOOPS), f"no vectors: {sorted(set(LOOPS) - packed)}"
    calls = {name for name, lines in functions.items() if any("\tcall" in line for line in lines)}
    assert not calls, f"calls in {sorted(calls)}"


def main():
    return run_on_all_cores(
        [named(f"{compiler}_makes_vectors_at{level.replace('-', '_')}_{name}", loops_are_vectors, compiler, [level, *more])
         for compiler, level in COMPILERS.items()
         for name, more in {"of_any_x86": [], "with_avx2": ["-march=x86-64-v3"], "of_this_machine": ["-march=native"],
                            "with_fast_math": ["-ffast-math"]}.items()])


if __name__ == "__main__":
    sys.exit(main())
