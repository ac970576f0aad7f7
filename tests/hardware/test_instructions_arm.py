#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Conversions of Arm against arm.py.

    test_instructions_arm.py PATH-OF-INSTRUCTIONS-LIBRARY [--all]
"""

import random
import sys
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "harness")]

import arm
import tap
from manuals import TYPE, Control, agree, codes_for, lanes_of, names, run, some

RANDOM = random.Random(1)
ALL = {**arm.WIDE, **arm.NARROW, **arm.WIDENING}
assert set(ALL) <= set(names()) and sum("," in name for name in names()) == len(ALL)


def compare(name, codes, fpcr=0, fpmr=0):
    of, to = arm.WIDE.get(name) or (arm.NARROW.get(name) or "e4m3", None)
    lanes = 2 if name in arm.NARROW else 1
    rows, want = [], []
    for elements in lanes_of(codes, lanes):
        rows.append([elements[0] & 0xffffffff, elements[0] >> 32] if of == "f64" else list(elements))
        results = arm.result(name, elements, fpcr, fpmr)
        word = results[0] if lanes == 1 else results[0] | results[1] << 8
        want.append([word & 0xffffffff, word >> 32] if to == "f64" else [word])
    agree(name, rows, want, len(want[0]), [RANDOM.getrandbits(32) for _ in rows], Control(fpcr=fpcr, fpmr=fpmr))


def between_wide_types():
    """Each direction, FZ, DN, and bits that are not read: AH, traps, FZ16."""
    for name, (of, to) in arm.WIDE.items():
        for state in range(16):
            fpcr = (state & 3) << 22 | (state >> 2 & 1) << 24 | state >> 3 << 25
            compare(name, some(codes_for(of, to), state > 0), fpcr | RANDOM.choice([0, 1 << 19, 0x9f00]))


def to_fp8():
    """Both formats, with and without saturation, scales of all kinds."""
    for name, of in arm.NARROW.items():
        for fp8, to in arm.FP8.items():
            for osc in (0, 1):
                for nscale in (0, 1, 0xff, 8, 0x10, 0x78, 0x80, 0x7f, RANDOM.randrange(256)):
                    fpmr = fp8 << 6 | osc << 15 | nscale << 24 | RANDOM.choice([0, 0x3f << 32 | 0x7f << 16 | 0x3f])
                    compare(name, some(codes_for(of, to), nscale > 0 or (osc and of == "f16")), fpmr=fpmr)


def from_fp8():
    for name in arm.WIDENING:
        for fp8 in (0, 1):
            for scale in (0, 1, 5, 15, 16, 63, 127):
                for second in (0, 1):
                    fields = [(fp8, scale), (1 - fp8, 127 - scale)][::1 - 2 * second]
                    fpmr = fields[0][0] | fields[1][0] << 3 | fields[0][1] << 16 | (fields[1][1] & 63) << 32
                    compare(name, range(256), fpmr=fpmr)


def formats_that_do_not_exist():
    for name in [*arm.NARROW, *arm.WIDENING]:
        for fp8 in range(2, 8):
            assert run(name, [[0, 0]], 1, [0], Control(fpmr=fp8 << 6 | fp8 << 3 | fp8)) == [(TYPE, [0x5a5a5a5a])]


sys.exit(tap.run(between_wide_types, to_fp8, from_fp8, formats_that_do_not_exist))
