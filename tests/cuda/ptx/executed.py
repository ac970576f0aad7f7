# SPDX-License-Identifier: MIT
"""How often SASS is executed. ptxas is told a line for each instruction of PTX, its own, which changes nothing of what it
makes; the interpreter (machine.py) says how often a warp executes each line. A block of SASS is executed as often as the
lines that most of its instructions are of: others came there out of a loop, or from a branch that became a predicate."""

import re
from collections import Counter
from dataclasses import replace

from ptx import hot, pipes

LABEL = re.compile(r"\.L_x_\d+")
CODE = re.compile(r"\s+(?:@!?%p\d+ )?([a-z][\w.:]*\s*[^;]*);")


def with_lines(ptx):
    """The text for ptxas -lineinfo."""
    text = []
    for number, line in enumerate(ptx.splitlines(), 1):
        if CODE.match(line):
            text.append(f".loc 1 {number} 0")
        text.append(line)
        if line.startswith(".address_size"):
            text.append('.file 1 "ptx"')
    return "\n".join(text) + "\n"


def reachable(blocks):
    """Those of the kernel, not of functions behind it, whose calls are for what is special."""
    by_label = {label: block for block in blocks for label in block.instructions[0].labels}
    found, left = set(), blocks[:1]
    while left:
        block = left.pop()
        if block.place not in found:
            found.add(block.place)
            left += block.next
            left += [by_label[label] for one in block.instructions if one.opcode == "BRX" for label in LABEL.findall(one.text)]
    return [block for block in blocks if block.place in found]


def executed(instructions, times):
    """[(how often, block)] of the blocks that are, where times has that for lines."""
    found = []
    for block in reachable(hot.blocks_of(instructions, "sass")):
        often, _ = Counter(times.get(one.line, 0) for one in block.instructions).most_common(1)[0]
        if often:
            found.append((often, block))
    return found


def part_of_accesses(ptx, blocks, times):
    """Of the bytes of global memory that executed PTX moves, the part that these blocks do. ptxas joins ends of branches that are
    the same, so that some may be missing."""
    lines = ptx.splitlines()
    found = sum(times.get(one.line, 0) * hot.moved_bytes(one, "sass") for _, block in blocks for one in block.instructions)
    codes = ((often, CODE.match(lines[line - 1])) for line, often in times.items())
    return found / sum(often * hot.moved_bytes(hot.Instruction(code[1], False, []), "ptx") for often, code in codes if code)


def opcodes(blocks):
    found = Counter()
    for often, block in blocks:
        for one in block.instructions:
            found[one.opcode] += often
    return found


def bytes_in_flight(blocks, times):
    """As pipes has them, of what is executed: only where a loop begins may another way have used a register."""
    path, heads = [], {after.place for _, block in blocks for after in block.next if after.place <= block.place}
    for _, block in blocks:
        run = [replace(one, labels=[]) for one in block.instructions if pipes.LOAD.match(one.text) is None or times.get(one.line)]
        if block.place in heads and run:
            run[0] = replace(run[0], labels=["loop"])
        path += run
    return pipes.bytes_in_flight(path)
