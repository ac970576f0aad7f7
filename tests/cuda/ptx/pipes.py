# SPDX-License-Identifier: MIT
"""What a kernel asks of a multiprocessor: instructions by the pipe that takes them, and bytes that a thread has on the way from
memory before it uses the first of them. For tools/gpu-shares.

Pipes, by NVIDIA's tables of throughput (CUDA C++ programming guide, "Arithmetic instructions") and what an H100 measured
(bench/gpu/machine.cu): of 128 lanes that are issued a clock the integer pipe takes 64 (logic, shifts, comparisons, selects,
smallest and largest, packing of narrow floats, floats of s32) and the special one 16 (reciprocals, exponentials, logarithms, bit
counts, conversions of doubles and of floats to integers). Steps of floats go elsewhere, at the rate of issue; multiplications of
integers, too, at half of it and their upper halves at a quarter, which is not counted."""

import re
from collections import Counter

from ptx import hot

INTEGER = re.compile(r"(LOP3|PLOP3|SHF|SHL|SHR|IADD3?|VIADD\w*|VI?H?MNMX\w*|IMNMX|FMNMX3?|HMNMX2|ISETP|FSETP|HSETP2|SEL|FSEL|LEA|PRMT"
                     r"|F2FP|I2FP|IABS|BMSK|SGXT|R2P|P2R|FSET|ISET|FCHK)\b")
SPECIAL = re.compile(r"(MUFU|F2F|F2I|I2F|FLO|POPC|BREV)\b")
REGISTER = re.compile(r"\bR(\d+)\b")
LOAD = re.compile(r"LDG\S*\s+R(\d+),(?:\s+R(\d+),)?")  # of 32 bytes to two places


def of_opcodes(opcodes):
    """(all, integer, special) of {opcode of SASS: how often}."""
    found = [0, 0, 0]
    for opcode, times in opcodes.items():
        found[0] += times
        found[1] += times * bool(INTEGER.match(opcode))
        found[2] += times * bool(SPECIAL.match(opcode))
    return found


def of_path(path):
    return of_opcodes(Counter(one.opcode for one in path))


def bytes_in_flight(instructions):
    """Of SASS: the most that one thread has asked for before it needs some of it. A label ends a run, as another way there may
    have used it."""
    most, waiting = 0, {}
    for one in instructions:
        if one.labels:
            waiting = {}
        load = LOAD.match(one.text)
        used = {int(number) for number in REGISTER.findall(one.text[load.end():] if load else one.text)}
        wide = re.match(r"ST\w+\S*\.(64|128|256)\b", one.opcode)
        if wide:
            used |= {number + i for number in used for i in range(int(wide[1]) // 32)}
        if any(used & set(range(first, first + (count + 3) // 4)) for first, count in waiting.items()):
            waiting = {}
        if load:
            places = [int(place) for place in load.groups() if place]
            waiting.update({place: hot.moved_bytes(one, "sass") // len(places) for place in places})
            most = max(most, sum(waiting.values()))
    return most
