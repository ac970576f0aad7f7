# SPDX-License-Identifier: MIT
"""One instruction to Python source. Registers are Python variables that hold unsigned numbers of their width;
predicates are bools. Every function here takes all modifiers that it knows and fails on what is left.
"""

from ptx import arithmetic, bits
from ptx.convert import converter
from ptx.syntax import Pair, Register, Vector
from ptx.values import WIDTHS

DIRT = 0x5a5aa5a55aa55a5a  # of a register that nothing sets
FLOATS = ("f16", "bf16", "f32", "f64", "f16x2", "bf16x2", "f32x2")
ROUNDINGS = ("rn", "rz", "rm", "rp")
WRITERS = {}


def opcode(*names):
    def register(function):
        WRITERS.update(dict.fromkeys(names, function))
        return function
    return register


class Modifiers:
    """The words after the opcode, taken one by one."""

    def __init__(self, names):
        self.left = list(names)

    def flag(self, name):
        found = name in self.left
        if found:
            self.left.remove(name)
        return found

    def one_of(self, *names, default=None):
        for name in names:
            if self.flag(name):
                return name
        if default is None:
            raise ValueError(f"one of {', '.join(names)} is missing")
        return default

    def kind(self, *allowed):
        """The last word: a type."""
        if not self.left or (allowed and self.left[-1] not in allowed) or self.left[-1] not in WIDTHS:
            raise ValueError("unknown type")
        return self.left.pop()

    def done(self):
        if self.left:
            raise ValueError(f"unknown modifiers {self.left}")


def write(instruction, context):
    """Lines of Python for one instruction, without its guard."""
    writer = WRITERS.get(instruction.opcode)
    if not writer:
        raise ValueError("unknown instruction")
    modifiers = Modifiers(instruction.modifiers)
    lines = writer(instruction.opcode, modifiers, instruction.operands, context)
    modifiers.done()
    return lines


def as_signed(text, width):
    sign = 1 << (width - 1)
    return f"(({text} ^ {sign:#x}) - {sign:#x})"


def integer_kinds(*widths, letters="us"):
    return [f"{letter}{width}" for letter in letters for width in widths]


def typed(texts, kind):
    """Operands as numbers of a type: signed ones with their sign."""
    return [as_signed(text, WIDTHS[kind]) for text in texts] if kind[0] == "s" else texts


def assign(context, target, width, expression, wraps=True):
    mask = f" & {(1 << width) - 1:#x}" if wraps else ""
    return [f"{context.target(target, width)} = ({expression}){mask}"]


@opcode("add", "sub", "mul", "mad", "fma", "div", "min", "max", "abs", "neg", "sqrt", "rcp", "rsqrt", "ex2", "tanh")
def arithmetic_operation(name, modifiers, operands, context):
    kind = modifiers.kind()
    if kind in FLOATS:
        return float_operation(name, kind, modifiers, operands, context)
    width = WIDTHS[kind]
    if kind[0] == "b":
        raise ValueError("unknown type")
    if name in ("mul", "mad"):
        return multiply(name, kind, modifiers, operands, context)
    texts = [context.value(operand, width) for operand in operands[1:]]
    a, *rest = typed(texts, kind)
    expressions = {"add": "{} + {}", "sub": "{} - {}", "min": "min({}, {})", "max": "max({}, {})", "abs": "abs({})",
                   "neg": "-{}", "div": "quotient({}, {})"}
    if name not in expressions:
        raise ValueError("unknown type")
    if name in ("add", "sub"):
        a, *rest = texts
    return assign(context, operands[0], width, expressions[name].format(a, *rest))


@opcode("copysign")
def sign_of_another(_name, modifiers, operands, context):
    """The first source gives the sign, the second one the rest."""
    width = WIDTHS[modifiers.kind("f32", "f64")]
    sign, size = [context.value(operand, width) for operand in operands[1:]]
    top = 1 << width - 1
    return assign(context, operands[0], width, f"{sign} & {top:#x} | {size} & {top - 1:#x}", False)


@opcode("rem")
def remainder(_name, modifiers, operands, context):
    kind = modifiers.kind(*integer_kinds(16, 32, 64))
    a, b = typed([context.value(operand, WIDTHS[kind]) for operand in operands[1:]], kind)
    return assign(context, operands[0], WIDTHS[kind], f"{a} - quotient({a}, {b}) * {b}")


def multiply(name, kind, modifiers, operands, context):
    part = modifiers.one_of("lo", "hi", "wide")
    width = WIDTHS[kind]
    result = 2 * width if part == "wide" else width
    a, b = typed([context.value(operand, width) for operand in operands[1:3]], kind)
    expression = f"({a} * {b} >> {width})" if part == "hi" else f"{a} * {b}"
    if name == "mad":
        expression += f" + {context.value(operands[3], result)}"
    return assign(context, operands[0], result, expression)


def float_operation(name, kind, modifiers, operands, context):
    flushes, saturates = modifiers.flag("ftz"), modifiers.flag("sat")
    scalar, width = kind.removesuffix("x2"), WIDTHS[kind]
    if kind == "f32x2" and name not in ("add", "sub", "mul", "fma"):
        raise ValueError("unknown type")
    if name in ("min", "max"):
        function = arithmetic.extreme(name, scalar, modifiers.flag("NaN"), flushes)
        if modifiers.flag("xorsign"):
            if scalar != "f32" or not modifiers.flag("abs"):
                raise ValueError("unknown modifier")
            function = arithmetic.with_signs_xored(function, scalar)
    elif name in ("abs", "neg"):
        function = arithmetic.sign_operation(name, scalar, flushes)
    elif name in arithmetic.APPROXIMATED:
        if not modifiers.flag("approx"):
            raise ValueError("unknown modifier")
        function = arithmetic.approximation(name, scalar, flushes)
    else:
        default = "rn" if name in ("add", "sub", "mul") else None
        rounding = modifiers.one_of(*ROUNDINGS, default=default)
        function = arithmetic.operation(name, scalar, rounding, flushes, saturates)
        saturates = False
    if saturates:
        raise ValueError("unknown modifier sat")
    if kind.endswith("x2"):
        function = arithmetic.pairwise(function, width // 2)
    texts = [context.value(operand, width) for operand in operands[1:]]
    return [f"{context.target(operands[0], width)} = {context.helper(function)}({', '.join(texts)})"]


@opcode("and", "or", "xor", "not")
def logic(name, modifiers, operands, context):
    kind = modifiers.kind("pred", "b16", "b32", "b64")
    width = WIDTHS[kind]
    texts = [context.value(operand, width) for operand in operands[1:]]
    if name == "not":
        return assign(context, operands[0], width, f"not {texts[0]}" if kind == "pred" else f"~{texts[0]}",
                      kind != "pred")
    sign = {"and": "&", "or": "|", "xor": "^"}[name]
    return [f"{context.target(operands[0], width)} = {texts[0]} {sign} {texts[1]}"]


@opcode("shl", "shr")
def shift(name, modifiers, operands, context):
    """Counts above the width act as the width."""
    kind = modifiers.kind(*integer_kinds(16, 32, 64, letters="bus"))
    width = WIDTHS[kind]
    value = typed([context.value(operands[1], width)], kind)[0]
    count = context.value(operands[2], 32)
    count = str(min(int(count, 0), width)) if count[0].isdigit() else f"({count} if {count} < {width} else {width})"
    return assign(context, operands[0], width, f"{value} {'<<' if name == 'shl' else '>>'} {count}")


@opcode("shf")
def funnel(_name, modifiers, operands, context):
    modifiers.kind("b32")
    direction, mode = modifiers.one_of("l", "r"), modifiers.one_of("clamp", "wrap")
    low, high, count = [context.value(operand, 32) for operand in operands[1:]]
    count = f"min({count}, 32)" if mode == "clamp" else f"({count} & 31)"
    both = f"({high} << 32 | {low})"
    return assign(context, operands[0], 32, f"{both} << {count} >> 32" if direction == "l" else f"{both} >> {count}")


@opcode("lop3")
def logic_of_three(_name, modifiers, operands, context):
    modifiers.kind("b32")
    texts = [context.value(operand, 32) for operand in operands[1:]]
    return assign(context, operands[0], 32, f"{context.helper(bits.of_three)}({', '.join(texts)})", False)


@opcode("popc", "clz", "bfe", "bfi", "prmt")
def bit_operation(name, modifiers, operands, context):
    kind = modifiers.kind(*integer_kinds(32, 64, letters="bus"))
    width, is_signed = WIDTHS[kind], kind[0] == "s"
    if name in ("popc", "clz"):
        value = context.value(operands[1], width)
        expression = f"({value}).bit_count()" if name == "popc" else f"{width} - ({value}).bit_length()"
        return assign(context, operands[0], 32, expression, False)
    if name in ("bfe", "bfi"):
        wide = 1 if name == "bfe" else 2
        texts = [context.value(operand, width) for operand in operands[1:1 + wide]]
        texts += [context.value(operand, 32) for operand in operands[1 + wide:]]
        call = context.helper(bits.extract if name == "bfe" else bits.insert)
        extra = f", {is_signed}" if name == "bfe" else ""
        return assign(context, operands[0], width, f"{call}({', '.join(texts)}, {width}{extra})", False)
    texts = [context.value(operand, 32) for operand in operands[1:]]
    return assign(context, operands[0], 32, f"{context.helper(bits.permute)}({', '.join(texts)})", False)


def comparison(relation, kind, flushes, operands, context):
    """A Python expression that is true when the relation holds."""
    width = WIDTHS[kind]
    texts = [context.value(operand, width) for operand in operands]
    if kind in FLOATS:
        return f"{context.helper(arithmetic.comparison(relation, kind, flushes))}({texts[0]}, {texts[1]})"
    signs = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
    unsigned_signs = {"lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
    if relation in unsigned_signs and kind[0] == "u":
        relation = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}[relation]
    if relation not in signs or (kind[0] == "b" and relation not in ("eq", "ne")):
        raise ValueError("unknown comparison")
    if kind[0] == "s" and relation not in ("eq", "ne"):
        texts = [f"({text} ^ {1 << (width - 1):#x})" for text in texts]
    return f"({texts[0]} {signs[relation]} {texts[1]})"


@opcode("setp")
def compare(_name, modifiers, operands, context):
    kind = modifiers.kind(*integer_kinds(16, 32, 64, letters="bus"), "f16", "bf16", "f32", "f64")
    flushes = modifiers.flag("ftz")
    relation, *logic_word = modifiers.left
    modifiers.left = []
    truth = comparison(relation, kind, flushes, operands[1:3], context)
    signs = {"and": "&", "or": "|", "xor": "^"}
    if logic_word:
        if len(logic_word) != 1 or logic_word[0] not in signs or len(operands) != 4:
            raise ValueError("unknown modifiers")
    elif len(operands) != 3:
        raise ValueError("unknown operands")

    def combined(text):
        return f"{text} {signs[logic_word[0]]} {context.value(operands[3], 1)}" if logic_word else text

    if not isinstance(operands[0], Pair):
        return [f"{context.target(operands[0], 1)} = {combined(truth)}"]
    lines = [f"truth = {truth}"]
    for register, text in ((operands[0].first, "truth"), (operands[0].second, "(not truth)")):
        if register:
            lines.append(f"{context.target(register, 1)} = {combined(text)}")
    return lines


@opcode("selp")
def select(_name, modifiers, operands, context):
    width = WIDTHS[modifiers.kind(*integer_kinds(16, 32, 64, letters="bus"), "f32", "f64")]
    yes, no = [context.value(operand, width) for operand in operands[1:3]]
    return [f"{context.target(operands[0], width)} = {yes} if {context.value(operands[3], 1)} else {no}"]


@opcode("mov")
def move(_name, modifiers, operands, context):
    kind = modifiers.kind()
    width = WIDTHS[kind]
    target, source = operands
    if isinstance(target, Vector):
        part = width // len(target.elements)
        return [f"{context.target(element, part)} = {context.value(source, width)} >> {place * part} & "
                f"{(1 << part) - 1:#x}" for place, element in enumerate(target.elements) if element != "_"]
    if isinstance(source, Vector):
        part = width // len(source.elements)
        values = [context.value(one, part) if not isinstance(one, Register) or context.is_set(one) else str(DIRT & ((1 << part) - 1))
                  for one in source.elements]
        parts = [f"{value} << {place * part}" for place, value in enumerate(values)]
        return [f"{context.target(target, width)} = {' | '.join(parts)}"]
    return [f"{context.target(target, width)} = {context.value(source, width)}"]


@opcode("cvt")
def convert(_name, modifiers, operands, context):
    words = list(modifiers.left)
    function = converter(words)
    modifiers.left = []
    target, *sources = operands
    # A source register may be wider than its type, a target register too: signed results are extended to it.
    texts = [context.loose_value(operand) for operand in sources]
    result, source = words[-2:]
    if {result[0], source[0]} <= set("us") and result in WIDTHS:
        width, least = WIDTHS[result], min(WIDTHS[result], WIDTHS[source])
        if result[0] == source[0] == "u" and "sat" not in words:
            return [f"{context.loose_target(target, width)} = {texts[0]} & {(1 << least) - 1:#x}"]
    else:
        width = WIDTHS.get(result, 8 if result == "e2m1x2" else 16)
    return context.extended(target, width, f"{context.helper(function)}({', '.join(texts)})", result[0] == "s")
