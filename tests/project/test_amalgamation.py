#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/amalgamate: the one file compiles alone and is the headers, nothing else.

usage: tests/project/test_amalgamation.py [full]

Without an argument gcc compiles it, with full clang and nvcc."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path += [str(pathlib.Path(__file__).resolve().parents[1] / room) for room in ["harness", "cuda"]]

import tap
import test_device_headers
import tree

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/amalgamate"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wundef", "-Werror"]


def amalgamate(*headers):
    return subprocess.run([sys.executable, TOOL, *headers], capture_output=True, text=True)


def compiles(compiler, standard, suffix):
    if not shutil.which(compiler):
        raise tap.Skip(f"{compiler} is not installed")
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "one.h").write_text(amalgamate().stdout)
        source = pathlib.Path(folder) / f"twice{suffix}"
        source.write_text('#include "one.h"\n#include "one.h"\n'
                          "unsigned f(float x) { return mpnum_f32_to_e4m3_sat(x).bits; }\n")
        done = subprocess.run([compiler, f"-std={standard}", *WARNINGS, "-fsyntax-only", source],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def compiles_as_c99_with_gcc(): compiles("gcc", "c99", ".c")


def compiles_as_cxx11_with_clang(): compiles("clang++", "c++11", ".cpp")


def holds_every_line_of_every_header():
    lines = set(amalgamate().stdout.splitlines())
    text = (ROOT / "include/mpnum/mpnum.h").read_text()
    for path in (ROOT / "include/mpnum").glob("*.h"):
        if f'"{path.name}"' not in text:
            continue
        own = {line for line in path.read_text().splitlines() if not re.match("#include \"", line)}
        assert own <= lines, (path.name, own - lines)
    assert '#include "' not in "".join(lines)


def one_type_brings_only_what_it_needs():
    text = amalgamate("f16.h").stdout
    assert "mpnum_f32_to_f16(" in text and "mpnum_f32_to_e4m3(" not in text


def cuda_headers_compile_with_nvcc():
    """As the headers do, launchers too; and interop.cuh in plain C++."""
    nvcc = test_device_headers.nvcc()
    with tempfile.TemporaryDirectory() as folder:
        one = pathlib.Path(folder) / "one.cuh"
        one.write_text(amalgamate("cuda/kernels.cuh").stdout)
        assert '#include "' not in one.read_text()
        source = pathlib.Path(folder) / "unit.cu"
        source.write_text('#include "one.cuh"\n#include "one.cuh"\n'
                          "cudaError_t f(mpnum_e4m3 *dst, const float *src, size_t n);\n"
                          "cudaError_t f(mpnum_e4m3 *dst, const float *src, size_t n) {\n"
                          "  return mpnum_launch_convert_sat(dst, src, n, 0);\n}\n")
        tree.check(nvcc, "-Werror", "all-warnings", "-std=c++11", "-c", source, "-o", pathlib.Path(folder) / "unit.o")
        one.write_text(amalgamate("cuda/interop.cuh").stdout)
        source.write_text('#include "one.cuh"\nmpnum_f16 f(__half x);\nmpnum_f16 f(__half x) { return mpnum_from_cuda(x); }\n')
        toolkit = pathlib.Path(shutil.which(nvcc)).resolve().parents[1] / "include"
        tree.check(tree.need("g++"), "-x", "c++", "-std=c++11", *WARNINGS, "-I", toolkit, "-fsyntax-only", source)


def an_unknown_header_is_an_error():
    done = amalgamate("nothing.h")
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1


if __name__ == "__main__":
    quick = [compiles_as_c99_with_gcc, holds_every_line_of_every_header, one_type_brings_only_what_it_needs,
             an_unknown_header_is_an_error]
    full = [compiles_as_cxx11_with_clang, cuda_headers_compile_with_nvcc]
    sys.exit(tap.run(*(full if sys.argv[1:] == ["full"] else quick)))
