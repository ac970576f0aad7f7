#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The coefficients and constants that tools/function-coefficients computes stand in include/mpnum/func/detail, some
with the other sign.

usage: tests/func/test_function_coefficients.py
"""

import re
import sys
from importlib.util import find_spec
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
import toolchain
from tree import ROOT

# Constants in parts, and how many of those the functions take.
PARTS = {"2 / ln 2": 2, "2 / (3 ln 2)": 2, "ln 2": 2, "pi / 2": 3, "2 / pi": 1}
CONSTANT = re.compile(r"\b0x([0-9a-f]{8})u\b")


def all_of_them_stand_in_the_headers():
    said = toolchain.run(sys.executable, ROOT / "tools/function-coefficients")
    assert said.returncode == 0, said.stderr
    there = {int(bits, 16) & 0x7fffffff for path in (ROOT / "include/mpnum").glob("*/detail/*")
             for bits in CONSTANT.findall(path.read_text())}
    missing, name = [], ""
    for line in said.stdout.splitlines():
        name = name if line.startswith(" ") else line
        wanted = CONSTANT.findall(line)[:PARTS.get(name.split(":")[0])]
        missing += [f"{bits} of {name}" for bits in wanted if int(bits, 16) & 0x7fffffff not in there]
    assert name.split(":")[0] in PARTS and not missing, "\n".join(missing)


if not find_spec("mpmath"):
    print("1..0 # SKIP not found: mpmath")
    sys.exit()
sys.exit(tap.run(all_of_them_stand_in_the_headers))
