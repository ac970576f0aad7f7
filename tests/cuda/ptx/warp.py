# SPDX-License-Identifier: MIT
"""Instructions in which threads take part together: their Python source, and what they give.

A thread yields a Request and waits; machine.py answers when all that must take part have come.
"""

from functools import reduce
from typing import NamedTuple

from ptx.operations import opcode
from ptx.syntax import Pair, PtxError
from ptx.values import signed

ALL_LANES = 0xffffffff


class Request(NamedTuple):
    """What a thread waits for. A warp operation has mask, a barrier of the block has number and count (0: all)."""
    name: str        # the opcode with all its modifiers: what other threads must do as well
    line: int
    place: int       # among the instructions of its function
    operands: tuple
    mask: int = None
    number: int = None
    count: int = 0
    is_aligned: bool = False
    waits: bool = True


class Undefined:
    """A value that the ISA calls unpredictable: it may be copied, but computing with it is an error."""

    def __init__(self, why):
        self.why = why

    def fail(self, *_):
        raise PtxError(f"use of an undefined value: {self.why}")

    __bool__ = __index__ = __int__ = fail
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __and__ = __rand__ = __or__ = __ror__ = fail
    __xor__ = __rxor__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __invert__ = __neg__ = fail
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = fail
    __mod__ = __rmod__ = __divmod__ = __rdivmod__ = fail
    __hash__ = None
    to_bytes = bit_length = bit_count = fail


def request(context, operands, mask=None, **others):
    instruction = context.instruction
    name = ".".join([instruction.opcode, *instruction.modifiers])
    extra = "".join(f", {key}={value}" for key, value in others.items())
    listed = ", ".join([*operands, ""])
    return f"(yield Request({name!r}, {instruction.line}, {context.place}, ({listed}), {mask}{extra}))"


@opcode("shfl")
def shuffle(_name, modifiers, operands, context):
    modifiers.one_of("sync")
    mode = modifiers.one_of("up", "down", "bfly", "idx")
    modifiers.kind("b32")
    target, *sources = operands
    value, offset, clamp, mask = [context.value(operand, 32) for operand in sources]
    answer = request(context, [repr(mode), value, offset, clamp], mask)
    if not isinstance(target, Pair):
        return [f"{context.target(target, 32)} = {answer}[0]"]
    lines = [f"answer = {answer}"]
    for register, width, place in ((target.first, 32, 0), (target.second, 1, 1)):
        if register:
            lines.append(f"{context.target(register, width)} = answer[{place}]")
    return lines


@opcode("vote")
def vote(_name, modifiers, operands, context):
    modifiers.one_of("sync")
    mode = modifiers.one_of("all", "any", "uni", "ballot")
    modifiers.kind("b32" if mode == "ballot" else "pred")
    answer = request(context, [context.value(operands[1], 1)], context.value(operands[2], 32))
    return [f"{context.target(operands[0], 32 if mode == 'ballot' else 1)} = {answer}"]


@opcode("redux")
def reduce_warp(_name, modifiers, operands, context):
    modifiers.one_of("sync")
    action = modifiers.one_of("add", "min", "max", "and", "or", "xor")
    kind = modifiers.kind("u32", "s32", "b32")
    if (action in ("and", "or", "xor")) != (kind == "b32"):
        raise ValueError("unknown type")
    answer = request(context, [repr(action), repr(kind), context.value(operands[1], 32)], context.value(operands[2], 32))
    return [f"{context.target(operands[0], 32)} = {answer}"]


@opcode("activemask")
def active_mask(*_):
    raise ValueError("what it gives depends on the schedule")


@opcode("bar", "barrier")
def barrier(name, modifiers, operands, context):
    if modifiers.flag("warp"):
        modifiers.one_of("sync")
        return [request(context, [], context.value(operands[0], 32))]
    modifiers.flag("cta")
    mode = modifiers.one_of("sync", "arrive", "red")
    aligned = modifiers.flag("aligned") or name == "bar"
    action, target, operands = "", None, list(operands)
    source = []
    if mode == "red":
        action = modifiers.one_of("popc", "and", "or")
        modifiers.kind("u32" if action == "popc" else "pred")
        target = operands.pop(0)
        source = [context.value(operands.pop(), 1)]
    number, *count = [context.value(operand, 32) for operand in operands]
    if mode == "arrive" and not count:
        raise ValueError("a thread count is missing")
    answer = request(context, source, number=number, count=count[0] if count else 0, is_aligned=aligned,
                     waits=mode != "arrive")
    if target is None:
        return [answer]
    return [f"{context.target(target, 32 if action == 'popc' else 1)} = {answer}"]


def shuffled(lanes):
    """{lane: Request} to {lane: (value, predicate)}: the loop of the ISA's description of shfl."""
    answers = {}
    for lane, asked in lanes.items():
        mode, value, b, c = asked.operands
        offset, clamp, segment = b & 31, c & 31, c >> 8 & 31
        most, least = lane & segment | clamp & ~segment & 31, lane & segment
        source, inside = {"up": (lane - offset, lane - offset >= most), "down": (lane + offset, lane + offset <= most),
                          "bfly": (lane ^ offset, lane ^ offset <= most),
                          "idx": (least | offset & ~segment, least | offset & ~segment <= most)}[mode]
        if not inside:
            source = lane
        if source not in lanes:
            value = Undefined(f"shfl took it from lane {source}, which takes no part")
        elif inside:
            value = lanes[source].operands[1]
        answers[lane] = (value, inside)
    return answers


def voted(mode, lanes):
    values = {lane: bool(asked.operands[0]) for lane, asked in lanes.items()}
    if mode == "ballot":
        return sum(1 << lane for lane, value in values.items() if value)
    return {"all": all(values.values()), "any": any(values.values()), "uni": len(set(values.values())) == 1}[mode]


def reduced(lanes):
    action, kind, _ = next(iter(lanes.values())).operands
    values = [asked.operands[2] for asked in lanes.values()]
    key = (lambda value: signed(value, 32)) if kind == "s32" else (lambda value: value)
    function = {"add": lambda a, b: a + b & ALL_LANES, "min": lambda a, b: min(a, b, key=key),
                "max": lambda a, b: max(a, b, key=key), "and": lambda a, b: a & b, "or": lambda a, b: a | b,
                "xor": lambda a, b: a ^ b}[action]
    return reduce(function, values)


def perform(lanes):
    """{lane: Request} of threads that do the same warp operation, to {lane: what it gives}."""
    name = next(iter(lanes.values())).name
    opcode_name, *words = name.split(".")
    if opcode_name == "shfl":
        return shuffled(lanes)
    if opcode_name == "vote":
        return dict.fromkeys(lanes, voted(words[1], lanes))
    if opcode_name == "redux":
        return dict.fromkeys(lanes, reduced(lanes))
    return dict.fromkeys(lanes)


def barrier_result(asked, requests):
    """What bar gives: for .red over the predicates of all threads that waited."""
    words = asked.name.split(".")
    if "red" not in words:
        return None
    values = [bool(one.operands[0]) for one in requests if one.operands]
    return sum(values) if "popc" in words else all(values) if "and" in words else any(values)
