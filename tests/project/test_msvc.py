#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the headers have for MSVC, on a machine without it.

clang, which says that it is none, parses every function for x86_64-pc-windows-msvc, with vectors that are unions without
operators, as MSVC's are. And by MPNUM_ASSUME_MSVC_, with this machine's vectors, tests/bits/bits.c prints the lines of
tests/bits/bits.txt by each instruction set that the CPU has, and tests of arrays pass. docs/platforms.md says what that
proves.

usage: tests/project/test_msvc.py [exhaustive]

Without an argument all is parsed and one program run, with one the others.
"""

import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[1] / room) for room in ["harness", "bits", "project"]]

import tap
import test_bits
import test_compilers
import test_headers
from toolchain import INCLUDE, WARNINGS, named, run_on_all_cores
from tree import ROOT, check, need

AVX2 = ["-mavx2", "-mfma", "-mf16c", "-mxsave"]
AVX512 = [*AVX2, *(f"-mavx512{part}" for part in ["f", "bw", "dq", "vl", "vbmi", "bf16"])]

# Of an <intrin.h> made of declarations. gcc's two are macros.
VECTORS = [f"union alignas({bits // 8}) __m{bits}{kind} {{ unsigned char bytes[{bits // 8}]; }};"
           for bits in (128, 256, 512) for kind in ["", "i", "d", "bh"]]
MASKS = [f"typedef unsigned {word} __mmask{bits};"
         for bits, word in [(8, "char"), (16, "short"), (32, "int"), (64, "long long")]]
MACROS = [f"__m512i {name}({', '.join(words)});"
          for name, words in {"_mm512_setr_epi32": ["int"] * 16, "_mm512_setr_epi64": ["long long"] * 8}.items()]
TYPE = re.compile(r"(?:(?:const|unsigned|void|int|char|short|long|float|double|__m(?:128|256|512)(?:[id]|bh)?|__mmask\d+)\b[ *]*)+")

# What runs: MSVC's words for gcc and clang. Products and sums are not contracted, as MSVC does without /fp:contract.
WORDS = ROOT / "tests/project/msvc"
RUN = ["-DMPNUM_ASSUME_MSVC_=1", "-I", WORDS, "-include", WORDS / "intrin.h", "-ffp-contract=off", *test_bits.CXX17, "-O1",
       "-Wno-sign-conversion"]
COMPILERS = {"g++": ["-Wno-maybe-uninitialized", "-Wno-address"], "clang++": [], "x86_64-w64-mingw32-g++": ["-w", "-static"]}


# Tests of C that go through all instruction sets, and their sources.
REFERENCE = ["reference/reference.c", "reference/conversion_inputs.c"]
PROGRAMS = {
    "array_values": ["array/test_array_values.c", "array/array_functions.c", *REFERENCE],
    "array_any": ["array/test_array_any.c", "array/array_functions.c", *REFERENCE],
    "function_array_values": ["array/test_array_values.c", "func/function_arrays.c", *REFERENCE],
    "subnormals": ["array/test_subnormals.c"],
}


def write_intrin(folder):
    """What gcc's headers have, as far as its types are declared here, and what Windows' have beside it."""
    source = test_headers.write(folder, "all.c", "#include <immintrin.h>")
    said = check(need("gcc"), "-E", "-P", "-O2", *AVX512, source)
    said = re.sub(r"(__m\d+[id]?)_u\b|enum _mm_hint|_MM_PERM_ENUM", lambda word: word[1] or "int", said)
    declared = []
    for kind, name, text in re.findall(
            r"extern __inline\s+([\w ]+?)\s*__attribute__\s*\(\([^;{]*?\)\)\s*(_mm\w+)\s*\(([^)]*)\)", said):
        arguments = [re.sub(r"\s*\w+$", "", word.strip()) for word in text.split(",") if word.strip() != "void"]
        if all(map(TYPE.fullmatch, [kind, *arguments])):
            declared.append(f"{kind} {name}({', '.join(arguments)});")
    headers = "\n".join((INCLUDE / "mpnum" / header).read_text() for header in test_headers.api.headers)
    constants = [f"#define {name} 1" for name in sorted(set(re.findall(r"\b(?:_MM|_CMP)_\w+", headers)))]
    test_headers.write(folder, "intrin.h", "#pragma once", *VECTORS, *MASKS, *constants, 'extern "C" {',
                       "void __cpuidex(int *, int, int);", "unsigned long long _xgetbv(unsigned);",
                       "void _ReadWriteBarrier(void);", "}", *MACROS, *declared)
    for name in ["emmintrin.h", "immintrin.h"]:
        test_headers.write(folder, name, "#include <intrin.h>")
    test_headers.write(folder, "string.h", "#include <stddef.h>", "#if defined(__cplusplus)", 'extern "C"', "#endif",
                       "void *memcpy(void *, const void *, size_t);")


def every_body_parses(standard):
    with tempfile.TemporaryDirectory() as folder:
        write_intrin(folder)
        source = test_headers.write(folder, "table.c", *test_headers.function_table(test_headers.C_HEADERS))
        command = [need("clang++"), "--target=x86_64-pc-windows-msvc", "-fms-compatibility-version=19.20", "-nostdlibinc", "-U__clang__",
                   "-x", "c++" if "++" in standard else "c", f"-std={standard}", "-D_Check_return_=", "-I", folder,
                   "-I", INCLUDE, *WARNINGS, "-Wno-sign-conversion", "-Wno-language-extension-token", source]
        check(*command, "-fsyntax-only")
        gnu = set(re.findall(r"__attribute__|__builtin_\w+|__asm__|__atomic_\w+|#pragma (?:GCC|clang)|\w*vector_size\w*",
                             check(*command, "-E", "-P")))
        assert not gnu, f"GNU's words are left: {sorted(gnu)}"


def cpu_is_asked_as_by_gnu():
    """What this CPU has, AVX512_BF16 included."""
    with tempfile.TemporaryDirectory() as folder:
        source = test_headers.write(folder, "asks.c", *test_headers.include_lines(["simd/isa.h"]), "#include <stdio.h>",
                                    'int main(void) { printf("%x\\n", (unsigned)mpnum_known_cpu_()); return 0; }')
        said = []
        for flags in [[], [*RUN, "-mxsave"]]:
            check(need("g++"), *WARNINGS, *flags, "-x", "c++", "-I", INCLUDE, source, "-o", Path(folder) / "asks")
            said.append(check(Path(folder) / "asks"))
    assert said[0] == said[1], said


def flags_here():
    """All loops, of which mpnum_isa_force picks; where the CPU lacks AVX-512, which these flags let a compiler use
    anywhere, the best it has."""
    cpu = Path("/proc/cpuinfo")
    has = set(cpu.read_text().split()) if cpu.exists() else set()
    if "avx512vbmi" in has:
        return AVX512
    return [*(AVX2 if {"avx2", "fma", "f16c"} <= has else []), "-DMPNUM_NO_DISPATCH=1"]


def program_passes(name):
    """A test of C, by the C++ that there is."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / name
        check(need("g++"), *RUN, *flags_here(), "-std=c++20", "-w", "-fpermissive", "-I", INCLUDE,
              *(ROOT / "tests" / source for source in PROGRAMS[name]), "-o", program, "-lm")
        check(program)


def runs(pool, compiler):
    flags = flags_here()
    environments = [f"{environment}{isa}" for environment in test_bits.SOME
                    for isa in ([" scalar", " sse2", " avx2", " avx512", " avx512vbmi"] if flags == AVX512 else [""])]
    return test_bits.properties(pool, f"what is MSVC's, by {compiler}", environments, compiler,
                                [*RUN, *COMPILERS[compiler], *flags], test_compilers.WINE if "mingw" in compiler else ())


def skip():
    raise tap.Skip("x86-64 alone")


def main():
    if sys.argv[1:] not in ([], ["exhaustive"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    if os.uname().machine != "x86_64":
        return tap.run(named("what is MSVC's", skip))
    programs = [named(f"{name} passes with what is MSVC's", program_passes, name) for name in PROGRAMS]
    if not sys.argv[1:]:
        return run_on_all_cores([cpu_is_asked_as_by_gnu, *programs[:1]] +
                                [named(f"every body parses as MSVC's, {standard}", every_body_parses, standard)
                                 for standard in ["c++14", "c11"]])
    test_compilers.begin_wine(Path(os.environ.get("MPNUM_BUILD") or tempfile.gettempdir()).resolve() / "wine_msvc")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tests = [named(test.__name__, pool.submit(test).result) for test in programs[1:]]
        return tap.run(*tests, *[test for compiler in COMPILERS for test in runs(pool, compiler)])


if __name__ == "__main__":
    sys.exit(main())
