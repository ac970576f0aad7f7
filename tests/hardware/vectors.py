# SPDX-License-Identifier: MIT
"""Vectors of conversion instructions, from the transcriptions beside this file; tools/conformance writes them."""

import random
import re
from pathlib import Path

import amd
import arm
import ptx
import riscv
import x86
from exact import FORMATS, boundaries
from ptx import Cvt

TABLES = Path(__file__).resolve().parents[2] / "include/mpnum/hardware/detail"
CASES = 12
VARIANT_CASES = 4


def names(vendor):
    return ptx.names() if vendor == "ptx" else re.findall(r'ROW\(\s*"([^"]+)"', (TABLES / f"instruction_{vendor}.h").read_text())


def codes_of(of, to, draw, cases=CASES):
    """Some of the hard inputs, special ones first."""
    if of == "s2f6":
        return [draw.randrange(256) for _ in range(cases)]
    format = FORMATS[of]
    if format.width <= 8:
        return [draw.randrange(1 << format.width) for _ in range(cases)]
    hard = boundaries(of, to if to in FORMATS and FORMATS[to].width < format.width else "e4m3")
    top = format.max + 1
    return draw.sample([top, top + 1, 1 << format.top | top - 1, 1 << format.top, 1], min(cases, 5)) + draw.sample(hard, max(cases - 5, 0))


def split(code, of):
    return [code & 0xffffffff, code >> 32] if of == "f64" else [code]


def joined(codes, width):
    return sum(code << width * i for i, code in enumerate(codes))


def line(name, rows, randoms, want, control=None):
    """Operand words, the first of all cases, the second of all cases; cases that the manual leaves open are left out."""
    kept = [(row, r, out) for row, r, out in zip(rows, randoms, want) if not isinstance(out, str)]
    if not kept:
        return None
    rows, randoms, want = zip(*kept)
    made = {"instruction": name}
    if control:
        made["control"] = {field: f"{value:x}" for field, value in control.items()}
    made |= {f"in{i}": " ".join(f"{word:08x}" for word in column) for i, column in enumerate(zip(*rows))}
    made["random"] = " ".join(f"{word:08x}" for word in randoms)
    return made | {f"out{i}": " ".join(f"{word:08x}" for word in column) for i, column in enumerate(zip(*want))}


def ptx_lines():
    for name in names("ptx"):
        draw = random.Random(name)
        cvt = Cvt(name)
        codes = [codes_of(cvt.of, cvt.to, draw, VARIANT_CASES if cvt.is_variant else CASES) for _ in range(cvt.lanes)]
        rows = [[joined(case, cvt.of_slot)] if cvt.is_packed else [word for code in case for word in split(code, cvt.of)] for case in zip(*codes)]
        rows = [row + [draw.choice([0x7f7f, 0x807e, 0x7fff])] * cvt.is_scaled for row in rows]
        randoms = [draw.getrandbits(32) if cvt.rounding == "rs" else 0 for _ in rows]
        yield line(name, rows, randoms, [cvt.run(row, r) for row, r in zip(rows, randoms)])


def x86_lines():
    for name in names("x86"):
        draw = random.Random(name)
        of, lanes = x86.source_of(name), 2 if name.startswith(("vcvt2", "vcvtne2")) else 1
        width = 16 if name in x86.WIDE else 8
        to = x86.WIDE[name][1] if name in x86.WIDE else "e5m2" if "bf8" in name else "e4m3"
        for control in [{}] + ([{"mxcsr": 0x2040, "imm8": 4}, {"mxcsr": 0x4000, "imm8": 4}] if name in x86.WIDE else []):
            rows = [list(case) for case in zip(*[codes_of(of, to, draw) for _ in range(lanes)])]
            randoms = [draw.getrandbits(8) if "bias" in name else 0 for _ in rows]
            want = [joined([x86.element(name, code, r, control.get("mxcsr", 0), control.get("imm8", 0)) for code in row[::-1]], width)
                    for row, r in zip(rows, randoms)]
            yield line(name, [[word for code in row for word in split(code, of)] for row in rows], randoms,
                       [split(word, x86.WIDER.get(name)) for word in want], control)


def arm_lines():
    for name in names("arm"):
        draw = random.Random(name)
        of, to = arm.WIDE.get(name) or (arm.NARROW.get(name) or "e4m3", "e4m3")
        controls = [{}, {"fpcr": 0x1400000}, {"fpcr": 0x2800000}] if name in arm.WIDE else [{}, {"fpmr": 0x5_fe05_8049}, {"fpmr": 0x3_0203_0000}]
        for control in controls:
            rows = [list(case) for case in zip(*[codes_of(of, to, draw) for _ in range(2 if name in arm.NARROW else 1)])]
            want = [joined(arm.result(name, row, control.get("fpcr", 0), control.get("fpmr", 0)), 8) for row in rows]
            yield line(name, [[word for code in row for word in split(code, of)] for row in rows], [0] * len(rows),
                       [split(word, to) for word in want], control)


def amd_lines():
    for name in names("amd"):
        draw = random.Random(name)
        made = amd.Instruction(name)
        if made.lanes == 32:
            continue
        for control in [{}, {"mode": 1 << 23}] if made.to_bits == 8 else [{}, {"mode": 12}] if made.reads_round else [{}]:
            codes = zip(*[codes_of(made.of, made.to, draw) for _ in range(made.lanes)])
            rows = [[joined(case, made.of_bits) >> 32 * i & 0xffffffff for i in range(made.operand_words() - made.is_scaled)] for case in codes]
            rows = [row + [draw.randrange(120, 135) << 23] * made.is_scaled for row in rows]
            randoms = [draw.getrandbits(32) if made.is_random else 0 for _ in rows]
            yield line(name, rows, randoms, [made.run(row, r, control.get("mode", 0)) for row, r in zip(rows, randoms)], control)


def riscv_lines():
    for name in names("riscv"):
        draw = random.Random(name)
        of, to, _ = riscv.types(name)
        for frm in (0, 1, 4):
            codes = codes_of(of, to, draw)
            yield line(name, [split(code, of) for code in codes], [0] * len(codes), [split(riscv.element(name, code, frm), to) for code in codes],
                       {"frm": frm} if frm else None)


def lines():
    for make in (ptx_lines, x86_lines, arm_lines, amd_lines, riscv_lines):
        yield from (made for made in make() if made)
