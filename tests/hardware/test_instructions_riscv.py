#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Conversions of RISC-V against riscv.py.

    test_instructions_riscv.py PATH-OF-INSTRUCTIONS-LIBRARY [--all]
"""

import sys
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "harness")]

import riscv
import tap
from manuals import ARGUMENT, OK, Control, agree, codes_for, names, run, some

NAMES = [name for name in names() if name.startswith(("fcvt.", "vfncvt", "vfwcvt"))]
assert len(NAMES) == 21, NAMES


def compare(wanted):
    for name in NAMES:
        of, to, _ = riscv.types(name)
        if not wanted(of, to):
            continue
        for frm in range(5):
            codes = some(codes_for(of, to), frm > 0)
            rows = [[code & 0xffffffff, code >> 32] if of == "f64" else [code] for code in codes]
            want = [riscv.element(name, code, frm) for code in codes]
            want = [[code & 0xffffffff, code >> 32] if to == "f64" else [code] for code in want]
            agree(name, rows, want, len(want[0]), [0xffffffff] * len(rows), Control(frm=frm))


def scalars_and_halves():
    compare(lambda of, to: "e" not in of + to)


def fp8():
    compare(lambda of, to: "e" in of + to)


def reserved_roundings():
    for name in NAMES:
        reads = run(name, [[0, 0]], 2, [0], Control(frm=0))[0][0] == OK and not name.startswith("vfwcvt") and ".rod." not in name
        reads = reads and name not in ("fcvt.s.h", "fcvt.d.h", "fcvt.s.bf16")
        for frm in (5, 6, 7):
            assert run(name, [[0, 0]], 2, [0], Control(frm=frm))[0][0] == (ARGUMENT if reads else OK), name


sys.exit(tap.run(scalars_and_halves, fp8, reserved_roundings))
