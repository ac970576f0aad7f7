#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Conversions of AMD's GPUs against amd.py.

    test_instructions_amd.py PATH-OF-INSTRUCTIONS-LIBRARY [--all]
"""

import random
import sys
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "harness")]

import tap
from amd import FORMATS, Instruction
from exact import NAN
from manuals import ARGUMENT, Control, agree, codes_for, lanes_of, names, run, some

RANDOM = random.Random(1)
NAMES = [name for name in names() if name.startswith("v_")]
OVFL = 1 << 23


def compare(wanted):
    chosen = [name for name in NAMES if wanted(Instruction(name))]
    assert chosen
    for name in chosen:
        instruction = Instruction(name)
        codes = some(codes_for(instruction.of, instruction.to), instruction.lanes > 2 or instruction.is_random or "4" in instruction.to
                     or (instruction.is_wide and not instruction.reads_round))
        if instruction.to_bits < 8:  # a NaN among 32 elements refuses them all
            codes = [code for code in codes if FORMATS[instruction.of].value(code) != NAN] + codes[-1:]
        rows = []
        for elements in lanes_of(codes, instruction.lanes):
            if instruction.by_turns:
                elements = elements[::2] + elements[1::2]
            whole = sum(code << instruction.of_bits * i for i, code in enumerate(elements))
            rows.append([whole >> 32 * i & 0xffffffff for i in range(instruction.operand_words() - instruction.is_scaled)])
            if instruction.is_scaled:
                rows[-1].append(RANDOM.choice([0x3f800000, 0xbfffffff, RANDOM.randrange(100, 150) << 23, RANDOM.randrange(255) << 23]))
        randoms = [RANDOM.choice([0, 0xffffffff, RANDOM.getrandbits(32), 1 << RANDOM.randrange(32)]) for _ in rows]
        for mode, step in ((0, 1), (OVFL, 3), (0xff, 19), *((field, 7) for field in (4, 8, 12, 12 | OVFL) if instruction.reads_round)):
            want = [instruction.run(row, r, mode) for row, r in zip(rows[::step], randoms[::step])]
            agree(name, rows[::step], want, instruction.result_words(), randoms[::step], Control(mode=mode))


def between_floats():
    compare(lambda instruction: instruction.is_wide)


def fp8_of_floats():
    compare(lambda instruction: not instruction.is_wide and not instruction.is_scaled and instruction.narrows)


def floats_of_fp8():
    compare(lambda instruction: not instruction.is_wide and not instruction.is_scaled and not instruction.narrows)


def scaled_narrowing():
    compare(lambda instruction: instruction.is_scaled and instruction.narrows and instruction.lanes < 32)


def scaled_widening():
    compare(lambda instruction: instruction.is_scaled and not instruction.narrows and instruction.lanes < 32)


def of_32_elements():
    compare(lambda instruction: instruction.lanes == 32)


def scales_that_are_no_number():
    for name in NAMES:
        instruction = Instruction(name)
        if instruction.is_scaled:
            row = [0] * (instruction.operand_words() - 1) + [0x7f800000]
            status, words = run(name, [row], instruction.result_words(), [0])[0]
            assert status == ARGUMENT and set(words) == {0x5a5a5a5a}, name


sys.exit(tap.run(between_floats, fp8_of_floats, floats_of_fp8, scaled_narrowing, scaled_widening, of_32_elements, scales_that_are_no_number))
