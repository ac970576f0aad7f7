#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""p3109-cpp as a witness of projections: P3109_CPP names a clone of github.com/awf/p3109-cpp, which needs Boost and MPFR."""

import os
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from toolchain import INCLUDE, cpp_compiler, run


def p3109_cpp_gives_the_same_codes():
    folder = os.environ.get("P3109_CPP")
    if not folder:
        raise tap.Skip("P3109_CPP is not set")
    with tempfile.TemporaryDirectory() as build:
        witness = Path(build) / "witness"
        said = run(*cpp_compiler(), "-std=c++20", "-O1", "-I", INCLUDE, "-I", folder, Path(__file__).with_suffix(".cpp"), "-lmpfr", "-lgmp",
                   "-o", witness).stdout
        if not witness.exists():
            raise tap.Skip(f"it cannot be built: {next((line for line in said.splitlines() if 'error' in line), said)}")
        done = run(witness)
        assert done.returncode == 0, done.stdout
        print("#", done.stdout.splitlines()[-1])


sys.exit(tap.run(p3109_cpp_gives_the_same_codes))
