#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Codes to floats by the launchers, every code at each of four places: what nvcc makes of their kernels in the PTX interpreter
of tests/cuda/ptx, beside the host's functions. The targets are those whose ways differ.

usage: tests/cuda/ptx/test_ptx_every_code.py
"""

import sys
from functools import lru_cache
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[2] / room) for room in ["harness", "cuda"]]

from ptx import calls
from test_ptx_launchers import Case, compiled, out, runs_as_on_the_host
from toolchain import named

ARCHS = ["75", "80"]
COUNT = 4 * 256 * 64  # of elements: more than a tile by vectors
EVERY_CODE = bytes((place + place // 256) % 256 for place in range(COUNT))
KINDS = {"f32": "float", "bf16": "mpnum_bf16"}


def converted(to):
    return Case(f"e4m3_to_{to}", {"y": (KINDS[to], out(COUNT)), "codes": ("mpnum_e4m3", EVERY_CODE)},
                f"mpnum_launch_convert(y, codes, {COUNT}, 0)",
                f"mpnum_convert_array(MPNUM_TYPE_{to.upper()}, y, MPNUM_TYPE_E4M3, codes, {COUNT}, MPNUM_ROUND_NEAREST_EVEN, "
                "MPNUM_OVERFLOW_IEEE, 0, 0); return 0;")


CASES = [converted("f32"), converted("bf16")]


def properties(folder, known):
    found = []
    for arch in ARCHS:
        if arch not in known:
            found.append(named(f"sm_{arch}", calls.skip, f"this nvcc does not compile for sm_{arch}"))
            continue
        program = lru_cache(lambda arch=arch: compiled(CASES, folder, arch))
        found += [named(f"sm_{arch}: {case.name}", lambda one=case, program=program: runs_as_on_the_host(program(), one))
                  for case in CASES]
    return found


if __name__ == "__main__":
    sys.exit(calls.run("codes to floats in the PTX interpreter", properties))
