#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/amalgamate: the one file compiles alone and is the headers, nothing else."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tap

ROOT = pathlib.Path(__file__).resolve().parent.parent
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


def an_unknown_header_is_an_error():
    done = amalgamate("nothing.h")
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1


if __name__ == "__main__":
    sys.exit(tap.run(compiles_as_c99_with_gcc, compiles_as_cxx11_with_clang,
                     holds_every_line_of_every_header, one_type_brings_only_what_it_needs,
                     an_unknown_header_is_an_error))
