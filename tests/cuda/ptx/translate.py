# SPDX-License-Identifier: MIT
"""One function of PTX to one function of Python, which is then run once for each thread.

Registers become local variables, so that Python itself reports the use of one that was never written. Control flow
becomes a loop over blocks, found by bisection of their number. A function in which threads wait for each other becomes
a generator.
"""

from bisect import bisect
from collections import Counter

from ptx import access, operations, warp
from ptx.syntax import Negated, PtxError, Register
from ptx.values import WIDTHS

COLLECTIVES = ("shfl", "vote", "redux", "bar", "barrier")
INSTRUCTIONS = (operations, access, warp)  # modules that add to the table of operations.py
ENDS = ("bra", "ret", "exit", "trap")
MOST_INSTRUCTIONS = 50_000_000  # of one thread; more is taken for an endless loop

SPECIAL = {
    **{f"%{name}.{axis}": f"t.{path}[{place}]" for place, axis in enumerate("xyz") for name, path in
       (("tid", "tid"), ("ntid", "block.shape"), ("ctaid", "block.place"), ("nctaid", "block.grid"))},
    "%laneid": "t.lane", "%warpid": "t.warp.number", "%nwarpid": "len(t.block.warps)",
    "%lanemask_eq": "(1 << t.lane)", "%lanemask_lt": "((1 << t.lane) - 1)", "%lanemask_le": "((2 << t.lane) - 1)",
    "%lanemask_gt": "(0xffffffff & -2 << t.lane)", "%lanemask_ge": "(0xffffffff & -1 << t.lane)",
    "%dynamic_smem_size": "t.block.dynamic_size"}


def quotient(a, b):
    """Toward zero, as PTX divides; by zero the ISA says nothing."""
    if b == 0:
        raise PtxError("division by zero")
    return -(-a // b) if (a < 0) != (b < 0) and a % b else a // b


def registers_of(operand):
    """All registers in an operand, or in a list of them."""
    if isinstance(operand, Register):
        yield operand
    elif isinstance(operand, list):
        for one in operand:
            yield from registers_of(one)
    elif operand is not None and hasattr(operand, "__dict__"):
        yield from registers_of(list(vars(operand).values()))


class Translation:
    """code is the Python function's source; helpers are the objects that it names."""

    def __init__(self, function, module, addresses, is_profiled=False):
        self.function, self.module, self.addresses = function, module, addresses
        self.helpers = {"quotient": quotient, "Request": warp.Request}
        self.lines, self.instructions = [], {}  # the instruction of each line of Python
        self.instruction, self.place = None, 0  # the one that is being written
        self.uses = Counter()
        self.given = set()  # registers that some instruction sets
        self.depth = 0
        self.is_profiled = is_profiled  # whether threads count how often they come to the blocks that begin there
        self.is_generator = any(one.opcode in COLLECTIVES for one in function.instructions)
        self.write()

    # What operations.py, access.py and warp.py ask for.

    def helper(self, function):
        name = f"{getattr(function, '__name__', 'helper').strip('<>')}_{len(self.helpers)}"
        self.helpers[name] = function
        return name

    def is_read(self, register):
        """Whether an instruction has the register but the one that sets it."""
        if not self.uses:
            for instruction in self.function.instructions:
                self.uses.update(one.name for one in registers_of([*instruction.operands, instruction.guard]))
        return self.uses[register.name] > 1

    def is_set(self, register):
        """Whether an instruction may set the register: nvcc packs one that none does, and overwrites it."""
        if not self.given:
            self.given.update(one.name for instruction in self.function.instructions for one in registers_of(instruction.operands[:1]))
        return register.name in self.given

    def target(self, operand, width):
        if operand == "_":
            return "_"
        if isinstance(operand, str):
            raise ValueError(f"no register {operand}")
        if not isinstance(operand, Register) or WIDTHS[operand.kind] != width:
            raise ValueError(f"the target is no register of {width} bits")
        return f"r_{operand.name}"

    def loose_target(self, operand, width):
        if not isinstance(operand, Register) or operand.kind == "pred" or WIDTHS[operand.kind] < width:
            raise ValueError(f"the target is no register of {width} bits or more")
        return f"r_{operand.name}"

    def extended(self, operand, width, text, is_signed):
        """Lines that assign a value of some bits to a register that may be wider."""
        target = self.loose_target(operand, width)
        wide = WIDTHS[operand.kind]
        if is_signed and wide > width:
            text = f"{operations.as_signed(f'({text})', width)} & {(1 << wide) - 1:#x}"
        return [f"{target} = {text}"]

    def value(self, operand, width):
        if isinstance(operand, Negated) and width == 1:
            return f"(not {self.value(operand.register, 1)})"
        if isinstance(operand, Register):
            if WIDTHS[operand.kind] != width:
                raise ValueError(f"{operand.name} has {WIDTHS[operand.kind]} bits, not {width}")
            return f"r_{operand.name}"
        if isinstance(operand, int):
            return str(bool(operand)) if width == 1 else str(operand & ((1 << width) - 1))
        if operand in SPECIAL:
            return SPECIAL[operand]
        if isinstance(operand, str):
            return self.symbol(operand)
        raise ValueError(f"no operand: {operand}")

    def loose_value(self, operand):
        return self.value(operand, WIDTHS[operand.kind] if isinstance(operand, Register) else 64)

    def symbol(self, name):
        """The address of a variable."""
        if name in self.addresses:
            return str(self.addresses[name])
        variable = self.function.variables.get(name) or self.module.variables.get(name)
        if variable and variable.space in ("shared", "local"):
            return f"t.{'block.shared_addresses' if variable.space == 'shared' else 'local_addresses'}[{name!r}]"
        raise ValueError(f"unknown name {name}")

    def address(self, address):
        if address.base is None:
            return str(address.offset)
        base = address.base
        text = self.value(base, WIDTHS[base.kind]) if isinstance(base, Register) else self.symbol(base)
        return f"{text} + {address.offset}" if address.offset else text

    def parameter(self, name):
        """(the buffer, the address) of a parameter of the kernel; None for another name."""
        return ("t.params", self.addresses[name]) if name in self.addresses else None

    # The function.

    def emit(self, text):
        self.lines.append("  " * self.depth + text)
        if self.instruction:
            self.instructions[len(self.lines)] = self.instruction

    def write(self):
        function = self.function
        self.emit("def run(t):")
        self.depth = 1
        self.emit("count = 0")
        starts = self.block_starts()
        back = {self.target_block(starts, instruction) for place, instruction in enumerate(function.instructions)
                if instruction.opcode == "bra"
                and self.function.labels.get(instruction.operands[0], -1) <= place}
        if len(starts) > 1:
            self.emit("at = 0")
            self.emit("while True:")
            self.depth += 1
        self.tree(starts, back, 0, len(starts))

    def block_starts(self):
        instructions = self.function.instructions
        starts = {0, *self.function.labels.values()}
        starts |= {place + 1 for place, instruction in enumerate(instructions) if instruction.opcode == "bra"}
        return sorted(start for start in starts if start < len(instructions)) or [0]

    def target_block(self, starts, instruction):
        label = instruction.operands[0]
        if label not in self.function.labels:
            raise PtxError(f"line {instruction.line}: {instruction.text}: no label {label}")
        return self.block_of(starts, self.function.labels[label])

    def block_of(self, starts, place):
        """The number of the block at an instruction; past the last one is the end of the function."""
        return bisect(starts, place) - 1 if place < len(self.function.instructions) else len(starts)

    def tree(self, starts, back, low, high):
        if high - low == 1:
            end = starts[high] if high < len(starts) else len(self.function.instructions)
            self.block(starts, low, self.function.instructions[starts[low]:end], low in back)
            return
        middle = (low + high) // 2
        for condition, first, last in ((f"if at < {middle}:", low, middle), ("else:", middle, high)):
            self.emit(condition)
            self.depth += 1
            self.tree(starts, back, first, last)
            self.depth -= 1

    def block(self, starts, number, instructions, is_loop):
        self.emit(f"count += {len(instructions)}")
        if self.is_profiled:
            self.emit(f"t.visits[{starts[number]}] += 1")
        if is_loop:
            self.emit(f"if count > {MOST_INSTRUCTIONS}: t.fail('an endless loop, it seems')")
        for place, instruction in enumerate(instructions, starts[number]):
            self.instruction, self.place = instruction, place
            if instruction.opcode == "bra":
                self.branch(starts, number, instruction)
                self.instruction = None
                return
            self.guarded(instruction, lambda: self.one(starts, instruction))
        self.instruction = None
        if instructions and instructions[-1].opcode in ENDS and not instructions[-1].guard:
            return
        if len(starts) == 1 or number + 1 == len(starts):
            self.leave()
        else:
            self.emit(f"at = {number + 1}")

    def guard_text(self, instruction):
        return ("not " if instruction.is_guard_negated else "") + self.value(instruction.guard, 1)

    def guarded(self, instruction, write):
        if not instruction.guard:
            write()
            return
        self.emit(f"if {self.guard_text(instruction)}:")
        self.depth += 1
        before = len(self.lines)
        write()
        if len(self.lines) == before:
            self.emit("pass")
        self.depth -= 1

    def branch(self, starts, number, instruction):
        check_words(instruction, "uni")
        there = self.target_block(starts, instruction)
        for place, needed in ((there, True), (number + 1, bool(instruction.guard))):
            if place == len(starts) and needed:
                raise PtxError(f"line {instruction.line}: {instruction.text}: it runs past the end")
        if instruction.guard:
            self.emit(f"at = {there} if {self.guard_text(instruction)} else {number + 1}")
        else:
            self.emit(f"at = {there}")
        if len(starts) == 1:
            self.emit("t.fail('an endless loop')")

    def one(self, starts, instruction):
        if instruction.opcode in ("ret", "exit"):
            check_words(instruction, "uni")
            self.leave()
        elif instruction.opcode == "trap":
            self.emit("t.fail('trap')")
        else:
            try:
                lines = operations.write(instruction, self)
            except (ValueError, KeyError, IndexError, TypeError) as error:
                raise PtxError(f"{self.function.name}, line {instruction.line}: {instruction.text}: {error}") from error
            for line in lines:
                self.emit(line)

    def leave(self):
        self.emit("t.block.machine.executed += count")
        self.emit("return")



def check_words(instruction, *known):
    if set(instruction.modifiers) - set(known):
        raise PtxError(f"line {instruction.line}: {instruction.text}: unknown modifiers")
