#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cvt of the PTX ISA against ptx.py.

    test_instructions_ptx.py PATH-OF-INSTRUCTIONS-LIBRARY [--all]
"""

import random
import sys
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "harness")]

import ptx
import tap
from manuals import agree, codes_for, lanes_of, names, some
from ptx import FORMATS, INTEGRAL, TOWARD_ZERO, Cvt, rounded

CVTS = [name for name in names() if name.startswith("cvt.")]
RANDOM = random.Random(1)
# f64 about 2^-126, where .ftz of an f32 result begins.
NEAR_TINY = [sign << 63 | code + k for sign in (0, 1) for code in (0x380fffffe0000000, 0x380ffffff0000000, 0x3810000000000000) for k in (-1, 0, 1)]


def few(codes):
    """The ends and 60 between, unless --all is asked for."""
    return codes if "--all" in sys.argv or len(codes) < 100 else codes[:8] + RANDOM.sample(codes[8:-8], 60) + codes[-8:]


def near_integers(format):
    """The first halves, those where the last place is 1/2 and 1, and the neighbours of each."""
    halves = [*range(1, 12), *(k << format.mantissa + place | k for place in (-1, 0, 1) for k in (1, 3)), 2 << format.mantissa]
    codes = [rounded(format, (0, k, -1), TOWARD_ZERO) + step for k in halves for step in (-1, 0, 1)]
    return codes + [code | 1 << format.top for code in codes]


def rows_of(cvt):
    codes = codes_for(cvt.of, "e2m1" if cvt.to == "s2f6" else cvt.to)
    codes = some(codes, cvt.relu or cvt.is_scaled or cvt.rounding in ("rm", "rp", "rz") or cvt.ftz or cvt.to in ("f64", "s2f6"))
    if cvt.is_variant:
        codes = few(codes)
    if cvt.unit or cvt.rounding in INTEGRAL:
        codes += near_integers(FORMATS[cvt.of])
    if cvt.of == "f64" and cvt.to == "f32" and cvt.ftz:
        codes += NEAR_TINY
    if cvt.to == "s2f6" and cvt.of == "f32" and not (cvt.is_variant or cvt.relu):
        codes += [sign << 31 | 0x3c000000 + (k << 14) for k in range(2048) for sign in (0, 1)]
    for elements in lanes_of(codes, cvt.lanes):
        if cvt.is_packed:
            row = [sum(code << cvt.of_slot * i for i, code in enumerate(elements))]
        elif cvt.of == "f64":
            row = [elements[0] & 0xffffffff, elements[0] >> 32]
        else:
            row = list(elements)
        if cvt.is_scaled:
            row.append(RANDOM.choice([0x7f7f, 0x00fe, 0xff7e, RANDOM.getrandbits(16)]))
        yield row


def compare(wanted):
    chosen = [name for name in CVTS if wanted(Cvt(name))]
    assert chosen
    for name in chosen:
        cvt = Cvt(name)
        rows = list(rows_of(cvt))
        randoms = [RANDOM.choice([0, 0xffffffff, RANDOM.getrandbits(32), 1 << RANDOM.randrange(32)]) for _ in rows]
        agree(name, rows, [cvt.run(row, r) for row, r in zip(rows, randoms)], cvt.words()[1], randoms)


def names_are_those_of_the_syntax():
    assert sorted(CVTS) == sorted(ptx.names())


def to_16_bits_and_tf32():
    compare(lambda cvt: cvt.to in ("f16", "bf16", "tf32") and cvt.of == "f32" and cvt.rounding != "rs")


def between_wide_types():
    compare(lambda cvt: cvt.lanes == 1 and (cvt.of, cvt.to) not in [("f32", "f16"), ("f32", "bf16"), ("f32", "tf32")])


def to_8_6_and_4_bits():
    compare(lambda cvt: cvt.to in ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1") and cvt.rounding != "rs")


def from_8_6_and_4_bits():
    compare(lambda cvt: cvt.of in ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1"))


def scales():
    compare(lambda cvt: {"ue8m0", "ue5m3"} & {cvt.of, cvt.to})


def fixed_point():
    compare(lambda cvt: "s2f6" in (cvt.of, cvt.to))


def stochastic():
    compare(lambda cvt: cvt.rounding == "rs")


def each_random_bit_counts():
    """A value 1/2^16 above 1 in units of the gap takes the carry of all bits; each bit alone moves what it should."""
    for name in CVTS:
        cvt = Cvt(name)
        if cvt.rounding != "rs":
            continue
        gap = 23 - {"f16": 10, "bf16": 7, "e4m3": 3, "e5m2": 2, "e2m3": 3, "e3m2": 2, "e2m1": 1}[cvt.to]
        rows, randoms = [], []
        for share in range(gap + 1):
            for bit in range(32):
                rows.append([0x3f800000 + (1 << gap) - (1 << gap - share) if share else 0x3f800001] * cvt.lanes)
                randoms.append(1 << bit)
        agree(name, rows, [cvt.run(row, r) for row, r in zip(rows, randoms)], cvt.words()[1], randoms)


sys.exit(tap.run(names_are_those_of_the_syntax, to_16_bits_and_tf32, between_wide_types, to_8_6_and_4_bits, from_8_6_and_4_bits, scales,
                 fixed_point, stochastic, each_random_bit_counts))
