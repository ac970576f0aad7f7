# SPDX-License-Identifier: MIT
"""The hot path of a kernel over arrays, in SASS as nvdisasm prints it or in PTX: the shortest way round the loop that
holds the most accesses of 16 bytes and more to global memory, where nothing special is found and no thread strays."""

import heapq
import importlib.metadata
import os
import re
import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

LINES = {"sass": re.compile(r"\s+/\*[0-9a-f]{4,}\*/\s+(?P<guard>@!?U?P\w+\s+)?(?P<text>[A-Z][^;]*?)\s*;"),
         "ptx": re.compile(r"\t(?P<guard>@!?%p\d+ )?(?P<text>[a-z][\w.:]*\s*[^;]*?);")}
LABELS = {"sass": re.compile(r"(\.L_x_\d+):"), "ptx": re.compile(r"(\$L__BB\w+):")}
KERNELS = {"sass": re.compile(r"\.text\.(\w+):"), "ptx": re.compile(r"(?:\.visible )?\.entry (\w+)\(")}
SOURCE_LINE = re.compile(r'\s*//## File ".*", line (\d+)')
TARGET = {"sass": re.compile(r"`\((\.L_x_\d+)\)"), "ptx": re.compile(r"(\$L__BB\w+)")}
WIDE_ACCESS = {"sass": re.compile(r"(LDG|STG)\S*\.(128|256)\b"),
               "ptx": re.compile(r"(ld|st)\.global(?:\.\w+)*?\.v(2|4|8)\.[a-z](32|64)\b")}

ACCESS = {"sass": re.compile(r"(LDG|STG)(?:\.ENL2|\.EF|\.E|\.CONSTANT|\.STRONG\S*)*(?:\.(U8|S8|U16|S16|64|128|256))?"),
          "ptx": re.compile(r"(ld|st)\.global(?:\.nc)?(?:\.v(2|4|8))?\.[a-z](8|16|32|64)\b")}
COPY = {"sass": re.compile(r"LDGSTS(?:\.(?!64|128)\w+)*(?:\.(64|128))?"), "ptx": re.compile(r"cp\.async\.c[ag]\.shared\.global\s.*,\s*(\d+)$")}


@dataclass
class Instruction:
    text: str
    is_guarded: bool
    labels: list
    line: int = 0  # of the source, where nvdisasm -g says so

    @property
    def opcode(self):
        return self.text.split()[0]


@dataclass
class Block:
    place: int
    instructions: list
    next: list = field(default_factory=list)


def nvdisasm():
    """The path of the program: $MPNUM_NVDISASM, on PATH, or of the package nvidia-cuda-nvdisasm; None without one."""
    found = os.environ.get("MPNUM_NVDISASM") or shutil.which("nvdisasm")
    if found:
        return found
    try:
        files = importlib.metadata.files("nvidia-cuda-nvdisasm") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    paths = [Path(file.locate()) for file in files if file.name == "nvdisasm"]
    return str(paths[0]) if paths and os.access(paths[0], os.X_OK) else None


def kernels_of(text, dialect):
    """{kernel: instructions} of what nvdisasm -c prints, or of PTX."""
    found, instructions, labels, number = {}, None, [], 0
    for line in text.splitlines():
        kernel, label, code = (rows[dialect].match(line) for rows in (KERNELS, LABELS, LINES))
        source = SOURCE_LINE.match(line)
        if kernel:
            instructions, labels, number = found.setdefault(kernel[1], []), [], 0
        elif source:
            number = int(source[1])
        elif label and instructions is not None:
            labels.append(label[1])
        elif code and instructions is not None:
            instructions.append(Instruction(code["text"], bool(code["guard"]), labels, number))
            labels = []
    return found


def jump_of(instruction, dialect):
    """(label or None, whether what follows may be next)."""
    opcode = instruction.opcode
    if opcode.split(".")[0] in ("EXIT", "RET", "KILL", "ret", "exit", "trap"):
        return None, instruction.is_guarded
    if opcode.split(".")[0] in ("BRA", "bra", "CALL"):
        label = TARGET[dialect].search(instruction.text)
        is_certain = not instruction.is_guarded and not re.search(r"\b!?U?P\d\b|\.DIV|CALL", instruction.text)
        return label and label[1], not is_certain
    return "", True


def blocks_of(instructions, dialect):
    ends = [place for place, one in enumerate(instructions) if jump_of(one, dialect)[0] != ""]
    starts = sorted({0, *[place + 1 for place in ends],
                     *[place for place, one in enumerate(instructions) if one.labels]} - {len(instructions)})
    blocks = [Block(index, instructions[start:end])
              for index, (start, end) in enumerate(zip(starts, [*starts[1:], len(instructions)]))]
    by_label = {label: block for block in blocks for label in block.instructions[0].labels}
    for block in blocks:
        label, falls = jump_of(block.instructions[-1], dialect)
        if label and label in by_label:
            block.next.append(by_label[label])
        if falls and block.place + 1 < len(blocks):
            block.next.append(blocks[block.place + 1])
    return blocks


def wide_accesses(instructions, dialect):
    return [one for one in instructions if WIDE_ACCESS[dialect].match(one.text)]


def shortest(starts, goal):
    """The blocks of the way from the first of starts to the goal with the fewest instructions, the goal aside."""
    queue = [(len(block.instructions), number, [block]) for number, block in enumerate(starts)]
    heapq.heapify(queue)
    count, done = len(queue), set()
    while queue:
        length, _, way = heapq.heappop(queue)
        if way[-1] is goal:
            return way[:-1]
        if way[-1].place in done:
            continue
        done.add(way[-1].place)
        for block in way[-1].next:
            count += 1
            heapq.heappush(queue, (length + len(block.instructions), count, [*way, block]))
    return None


def hot_path(instructions, dialect):
    """The instructions of the hot path."""
    blocks = blocks_of(instructions, dialect)
    best = []
    for block in sorted(blocks, key=lambda one: -len(wide_accesses(one.instructions, dialect))):
        if not wide_accesses(block.instructions, dialect):
            break
        way = shortest(block.next, block)
        path = [one for part in [block, *(way or [])] for one in part.instructions]
        if way is not None and len(wide_accesses(path, dialect)) > len(wide_accesses(best, dialect)):
            best = path
    assert best, "no loop with accesses of 16 bytes"
    return best


def straight_path(instructions, dialect, weight=None):
    """The instructions from the first one to an end that move the most bytes of global memory, or have the most of another
    weight, and are the fewest that do: the fast path of a kernel without a loop. A loop is gone through once. Wide accesses of
    one block count more: those of the ends of a matrix have a test each, and a store by vector beside one by bytes."""
    weight = weight or moved_bytes
    blocks = blocks_of(instructions, dialect)
    best = {}
    for block in reversed(blocks):
        moved = sum(weight(one, dialect) for one in block.instructions)
        moved += 1000 * max(0, len(wide_accesses(block.instructions, dialect)) - 1)
        ways = [best[after.place] for after in block.next if after.place > block.place]
        after = max(ways, key=lambda way: (way[0], -way[1]), default=(0, 0, ()))
        best[block.place] = (moved + after[0], len(block.instructions) + after[1], (block.place, *after[2]))
    return [one for place in best[0][2] for one in blocks[place].instructions]


def loop_path(instructions, dialect):
    """The instructions round a loop, once, that move the most bytes of global memory, and are the fewest that do."""
    blocks, best = blocks_of(instructions, dialect), (0, 0, ())
    for last in blocks:
        for head in (block for block in last.next if block.place <= last.place):
            ways = {}
            for block in reversed(blocks[head.place:last.place + 1]):
                moved, length = sum(moved_bytes(one, dialect) for one in block.instructions), len(block.instructions)
                after = [ways[one.place] for one in block.next if block.place < one.place in ways] if block is not last else [(0, 0, ())]
                if after:
                    more = max(after, key=lambda way: (way[0], -way[1]))
                    ways[block.place] = (moved + more[0], length + more[1], (block.place, *more[2]))
            best = max(best, ways.get(head.place, best), key=lambda way: (way[0], -way[1]))
    return [one for place in best[2] for one in blocks[place].instructions]


def moved_bytes(instruction, dialect):
    """Of global memory, by a thread; 0 of what is no access."""
    copy = COPY[dialect].match(instruction.text)
    if copy:
        return int(copy[1] or 32) // (8 if dialect == "sass" else 1)
    match = ACCESS[dialect].match(instruction.text)
    if not match:
        return 0
    if dialect == "sass":
        return {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "256": 32}.get(match[2], 4)
    return int(match[3]) // 8 * int(match[2] or 1)


def accesses(instructions, dialect):
    """Accesses to global memory by size: 4x16,1x4 is four of 16 bytes and one of 4."""
    counts = Counter(moved_bytes(one, dialect) for one in instructions)
    return ",".join(f"{counts[size]}x{size}" for size in sorted(counts, reverse=True) if size) or "0x0"


def has_grown(was, now):
    """Whether one of the numbers between slashes has, or the number of accesses; - is none."""
    for pair in zip(was.split("/"), now.split("/")):
        if "-" in pair:
            continue
        old, new = (sum(int(part.split("x")[0]) for part in one.split(",")) if "x" in one else float(one) for one in pair)
        if new > old:
            return True
    return False


def wide_bytes(instructions, dialect, what):
    """Bytes that a thread moves: what is LDG or STG."""
    total = 0
    for one in instructions:
        match = WIDE_ACCESS[dialect].match(one.text)
        if match and match[1] in (what, {"LDG": "ld", "STG": "st"}[what]):
            total += int(match[2]) // 8 if dialect == "sass" else int(match[2]) * int(match[3]) // 8
    return total
