#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Conversions of x86 against x86.py.

    test_instructions_x86.py PATH-OF-INSTRUCTIONS-LIBRARY [--all]
"""

import random
import sys
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "harness")]

import tap
import x86
from exact import FORMATS
from manuals import Control, agree, codes_for, lanes_of, names, some

RANDOM = random.Random(1)
NAMES = [name for name in names() if name.startswith("vcvt")]
assert len(NAMES) == 26, NAMES


def compare(name, codes, mxcsr=0, imm8=0, randoms=None):
    of, lanes = x86.source_of(name), 2 if name.startswith(("vcvt2", "vcvtne2")) else 1
    rows, want = [], []
    randoms = randoms or [RANDOM.getrandbits(32) for _ in codes]
    for elements, r in zip(lanes_of(codes, lanes), randoms):
        rows.append([elements[0] & 0xffffffff, elements[0] >> 32] if of == "f64" else list(elements))
        results = [x86.element(name, code, r, mxcsr, imm8) for code in elements]
        width = FORMATS["f16"].width if name in x86.WIDE else 8
        word = results[0] if lanes == 1 else results[0] << width | results[1]
        want.append([word & 0xffffffff, word >> 32] if x86.WIDER.get(name) == "f64" else [word])
    agree(name, rows, want, len(want[0]), randoms[:len(rows)], Control(mxcsr=mxcsr, imm8=imm8))


def of_16_bits_and_less():
    for name in NAMES:
        if name not in x86.WIDE:
            compare(name, codes_for(x86.source_of(name), "f16"))


def of_32_and_64_bits():
    """Each direction of MXCSR and imm8, DAZ and what is not read: FTZ, masks and flags."""
    for name in NAMES:
        if name in x86.WIDE:
            codes = codes_for(*x86.WIDE[name])
            for rc in range(4):
                for mxcsr in (rc << 13, rc << 13 | 1 << 6, rc << 13 | 0x9fbf):
                    compare(name, some(codes, mxcsr != rc << 13), mxcsr, RANDOM.choice([0, 4, 7, 8 | rc, 3 - rc]))


def biases():
    """Random ones of all magnitudes, and of those about 2^-6, where the rule for e4m3 changes, and the largest."""
    codes = [code | sign for sign in (0, 0x8000) for code in [*range(0, 0x7c01, 0x55), *range(0x1f80, 0x2480), *range(0x5e00, 0x6000, 3), 0x7c01, 0x7fff]]
    codes *= 40 if "--all" in sys.argv else 4
    for name in NAMES:
        if "bias" in name:
            compare(name, codes, randoms=[RANDOM.getrandbits(32) for _ in codes])


sys.exit(tap.run(of_16_bits_and_less, of_32_and_64_bits, biases))
