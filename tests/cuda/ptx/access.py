# SPDX-License-Identifier: MIT
"""Instructions that touch memory, to Python source, as operations.py does for arithmetic."""

from ptx import arithmetic
from ptx.memory import LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW
from ptx.operations import FLOATS, opcode
from ptx.syntax import Address, Register, Vector
from ptx.values import WIDTHS, signed

SPACES = ("global", "shared::cta", "shared", "local", "const", "param::entry", "param::func", "param")
SCOPES = ("cta", "cluster", "gpu", "sys")
ORDERS = ("weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "seq_cst", "mmio")
CACHES = ("ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "L1::no_allocate", "L1::evict_last", "L1::evict_first",
          "L1::evict_normal", "L1::evict_unchanged", "L2::64B", "L2::128B", "L2::256B")


def take_hints(modifiers):
    """Memory order and caching change no value here: blocks and threads run one at a time."""
    for names in (ORDERS, SCOPES, CACHES):
        for name in names:
            modifiers.flag(name)


def take_space(modifiers):
    return modifiers.one_of(*SPACES, default="generic").split("::")[0]


def elements_of(modifiers, operand):
    count = int(modifiers.one_of("v2", "v4", "v8", default="v1")[1:])
    elements = operand.elements if isinstance(operand, Vector) else [operand]
    if count != len(elements):
        raise ValueError("the vector has another length")
    return elements


def accessor(space, address, context):
    """(how to call a method of the space, the address in it); the call takes further arguments, and ends in tail."""
    if not isinstance(address, Address):
        raise ValueError("no address")
    if space == "param" and isinstance(address.base, str):
        found = context.parameter(address.base)
        if found:
            return found[0], str(found[1] + address.offset), ""
    text = context.address(address)
    if space == "generic":
        return "t.space_of(where)", text, "+generic"
    if space in ("global", "const"):
        return "memory", text, ""
    if space == "shared":
        return "t.block.shared", text, ", t"
    return f"t.{'params' if space == 'param' else 'local'}", text, ""


def access(space, operand, context, size, count):
    """Lines that set where, then a function that makes the text of a call for an element."""
    target, text, tail = accessor(space, operand, context)
    lines = [f"where = {text}"]
    if tail == "+generic":
        lines.append("space, where, rest = t.resolve(where)")
        target, tail = "space", ", *rest"
    if count > 1:
        lines.append(f"{target}.check(where, {size * count})")

    def call(method, place, *arguments):
        where = f"where + {place * size}" if place else "where"
        return f"{target}.{method}({', '.join([where, str(size), *arguments])}{tail})"
    return lines, call


@opcode("ld", "ldu")
def load(_name, modifiers, operands, context):
    kind = modifiers.kind()
    take_hints(modifiers)
    space = take_space(modifiers)
    elements = elements_of(modifiers, operands[0])
    width = WIDTHS[kind]
    lines, call = access(space, operands[1], context, width // 8, len(elements))
    loaded = [f"loaded{place} = {call('load', place)}" for place in range(len(elements))]
    for place, element in enumerate(elements):
        if element != "_":
            loaded += context.extended(element, width, f"loaded{place}", kind[0] == "s")
    return lines + loaded


@opcode("st")
def store(_name, modifiers, operands, context):
    width = WIDTHS[modifiers.kind()]
    take_hints(modifiers)
    space = take_space(modifiers)
    elements = elements_of(modifiers, operands[1])
    lines, call = access(space, operands[0], context, width // 8, len(elements))
    for place, element in enumerate(elements):
        text = context.loose_value(element)
        if not (isinstance(element, Register) and WIDTHS[element.kind] == width):
            text = f"{text} & {(1 << width) - 1:#x}"
        lines.append(call("store", place, text))
    return lines


def replacement(name, kind):
    """What an atomic operation puts in place of the old value."""
    width = WIDTHS[kind]
    mask = (1 << width) - 1
    if kind in FLOATS:
        if name != "add":
            raise ValueError("unknown atomic operation")
        add = arithmetic.operation("add", kind.removesuffix("x2"))
        return arithmetic.pairwise(add, 16) if kind.endswith("x2") else add

    def key(value):
        return signed(value, width) if kind[0] == "s" else value
    return {"add": lambda old, b: (old + b) & mask, "and": lambda old, b: old & b, "or": lambda old, b: old | b,
            "xor": lambda old, b: old ^ b, "exch": lambda old, b: b, "min": lambda old, b: min(old, b, key=key),
            "max": lambda old, b: max(old, b, key=key),
            "cas": lambda old, b, c: c if old == b else old}[name]


@opcode("atom", "red")
def atomic(name, modifiers, operands, context):
    kind = modifiers.kind("b32", "u32", "s32", "b64", "u64", "s64", "f32", "f64", "f16x2", "bf16x2", "b16", "f16",
                          "bf16")
    action = modifiers.one_of("add", "and", "or", "xor", "exch", "min", "max", "cas")
    if (action in ("add", "min", "max")) == (kind[0] == "b" and kind not in FLOATS):
        raise ValueError("unknown type")
    modifiers.flag("noftz")
    take_hints(modifiers)
    space = take_space(modifiers)
    target, operands = (operands[0], operands[1:]) if name == "atom" else ("_", operands)
    width = WIDTHS[kind]
    if len(operands) != (3 if action == "cas" else 2):
        raise ValueError("unknown operands")
    texts = [context.value(operand, width) for operand in operands[1:]]
    lines, call = access(space, operands[0], context, width // 8, 1)
    function = f"lambda old: {context.helper(replacement(action, kind))}(old, {', '.join(texts)})"
    if target == "_" or not context.is_read(target):
        return lines + [call("reduce", 0, function)]
    return lines + [f"{context.target(target, width)} = {call('atomic', 0, function)}"]


@opcode("cvta")
def convert_address(_name, modifiers, operands, context):
    width = WIDTHS[modifiers.kind("u64", "u32")]
    to_space = modifiers.flag("to")
    space = modifiers.one_of(*SPACES).split("::")[0]
    window = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": PARAM_WINDOW}.get(space, 0)
    text = context.value(operands[1], width)
    if to_space and window:
        text = f"t.inside({text}, {window:#x})"
    elif window:
        text += f" + {window:#x}"
    return [f"{context.target(operands[0], width)} = {text}"]


@opcode("membar", "fence", "prefetch", "prefetchu", "nanosleep")
def nothing(name, modifiers, _operands, _context):
    """No effect on a machine that runs one thread at a time, but that of a fence beyond its block."""
    is_wide = name in ("membar", "fence") and "cta" not in modifiers.left
    if name in ("membar", "fence"):
        modifiers.one_of("sc", "acq_rel", "gl", "sys", "cta", default="acquire")
        take_hints(modifiers)
    modifiers.left = []
    return ["memory.publish()"] if is_wide else []


@opcode("cp")
def copy(_name, modifiers, operands, context):
    """cp.async, its groups and waits; cp.async.bulk.prefetch.L2.global: no effect but that of its addresses."""
    modifiers.one_of("async")
    if modifiers.flag("bulk"):
        for word in ("prefetch", "L2", "global"):
            modifiers.one_of(word)
        address, size = operands
        return [f"memory.check_prefetch({context.address(address)}, {context.value(size, 32)})"]
    if modifiers.flag("commit_group"):
        return ["t.commit_copies()"]
    if modifiers.flag("wait_group"):
        return [f"t.wait_for_copies({int(operands[0])})"]
    if modifiers.flag("wait_all"):
        return ["t.commit_copies()", "t.wait_for_copies(0)"]
    cache = modifiers.one_of("ca", "cg")
    modifiers.one_of("shared", "shared::cta")
    modifiers.one_of("global")
    take_hints(modifiers)
    to, source, size, *read = operands
    if size not in (4, 8, 16) or (cache == "cg" and size != 16):
        raise ValueError("unknown size")
    read = context.value(read[0], 32) if read else str(size)
    return [f"t.begin_copy({context.address(to)}, {context.address(source)}, {size}, {read})"]
