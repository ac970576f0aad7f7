# SPDX-License-Identifier: MIT
"""PTX text to a Module: variables and functions, a function being a list of instructions with its names resolved.

Registers and labels of nested { } scopes, as inline assembly opens them, get names of their own.
"""

import re
from bisect import bisect

from ptx.syntax import (Address, Function, Instruction, Module, Negated, Pair, PtxError, Register, Variable,
                        Vector)
from ptx.values import WIDTHS

NAME = r"[A-Za-z_$%][\w$]*"
DECLARATION = re.compile(
    rf"(?:\.(?:visible|extern|weak|common)\s+)*\.(shared|global|const|local|param)\s+(?:\.align\s+(\d+)\s+)?"
    rf"(?:\.attribute\([^)]*\)\s*)?(?:\.ptr(?:\s+\.\w+)?\s*(?:\.align\s+\d+)?\s*)?\.(\w+)\s+"
    rf"(?:\.ptr\s*(?:\.(?:global|shared|const|local|param)\s*)?(?:\.align\s+\d+\s*)?)?"
    rf"({NAME})"
    rf"\s*((?:\[\s*\d*\s*\])*)\s*(?:=\s*(.*))?", re.S)


def parse(text):
    return Parser(text).module


class Parser:
    def __init__(self, text):
        blank = re.sub(r"/\*.*?\*/", lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.S)
        blank = re.sub(r"//[^\n]*|^\s*\.(?:loc|file)\b[^\n]*", "", blank, flags=re.M)
        self.text, self.place = blank, 0
        self.line_ends = [match.start() for match in re.finditer("\n", blank)]
        target = re.search(r"\.target\s+(\w+)", blank)
        self.module = Module(target[1] if target else "", {}, {})
        while self.skip_space() < len(self.text):
            self.read_top_level()

    def skip_space(self):
        self.place = re.compile(r"\s*").match(self.text, self.place).end()
        return self.place

    def take(self, pattern):
        match = re.compile(pattern, re.S).match(self.text, self.place)
        if match:
            self.place = match.end()
        return match

    def line(self, place):
        return bisect(self.line_ends, place - 1) + 1

    def fail(self, what):
        here = " ".join(self.text[self.place:self.place + 60].split())
        raise PtxError(f"line {self.line(self.place)}: {what}: {here}")

    def read_top_level(self):
        if self.take(r"\.(version|target|address_size)[^\n]*|\.(pragma|alias)[^;]*;|\.section[^{]*\{[^}]*\}"):
            return
        if self.take(r"(?:\.(?:visible|extern|weak)\s+)*\.(?=entry)"):
            self.read_function()
            return
        statement = self.take(r"([^;{]*(?:\{[^}]*\})?)\s*;")
        variable = statement and read_variable(statement[1].strip())
        if not variable:
            self.fail("no top-level statement that is known")
        self.module.variables[variable.name] = variable

    def read_function(self):
        self.take(r"entry\s*")
        name = self.take(rf"\s*({NAME})\s*")[1]
        function = Function(name, self.read_parameters())
        self.take(r"(?:\s|\.(?:noreturn|maxntid|minnctapersm|maxnreg|reqntid|pragma|blocksareclusters)\b[^;{.]*)*")
        if self.take(r"\s*;"):
            return  # a declaration
        if not self.take(r"\s*\{"):
            self.fail("no function body")
        start = self.place

        def read_body():
            self.place = start
            Body(self, function).read()
        function.read_body = read_body
        self.module.functions[name] = function
        self.skip_body()

    def skip_body(self):
        depth = 1
        for brace in re.compile(r"[{}]").finditer(self.text, self.place):
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                self.place = brace.end()
                return
        self.fail("a function body without an end")

    def read_parameters(self):
        match = self.take(r"\s*\(([^)]*)\)")
        parts = [part.strip() for part in match[1].split(",") if part.strip()] if match else []
        found = [read_variable(part) for part in parts]
        if None in found:
            self.fail(f"parameters that are not known: {parts}")
        return found


def read_variable(text):
    match = DECLARATION.fullmatch(text)
    if not match or match[3] not in WIDTHS:
        return None
    space, align, kind, name, dimensions, value = match.groups()
    element = WIDTHS[kind] // 8
    size = element
    for dimension in re.findall(r"\[\s*(\d*)\s*\]", dimensions):
        size *= int(dimension or 0)
    data = b""
    if value:
        values = re.findall(r"0[fFdD][0-9a-fA-F]+|-?\w+", value)
        numbers = [read_immediate(item) for item in values]
        if None in numbers:
            raise PtxError(f"an initial value that is not known: {text[:80]}")
        data = b"".join((number & ((1 << 8 * element) - 1)).to_bytes(element, "little") for number in numbers)
        size = size or len(data)
    return Variable(name, space, size, int(align or element), data, ".extern" in text)


def read_immediate(text):
    """The bits of a constant, negative for a negative integer; None if it is none."""
    if re.fullmatch(r"0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}", text):
        return int(text[2:], 16)
    if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?", text):
        digits = text.rstrip("U")
        if re.fullmatch(r"-?0\d+", digits):
            return int(digits, 8)
        return int(digits, 0)
    return {"WARP_SZ": 32}.get(text)


class Body:
    """The statements of one function."""

    def __init__(self, parser, function):
        self.parser, self.function = parser, function
        self.scopes, self.scope_count = [], 0
        self.pending = []  # (instruction, operand texts, guard text, the scopes it is in)

    def read(self):
        self.open_scope()
        while self.scopes:
            self.read_statement()
        for instruction, operands, guard, scopes in self.pending:
            self.scopes = scopes
            if guard:
                instruction.is_guard_negated = guard[0] == "!"
                instruction.guard = self.register(guard.lstrip("!"), instruction)
            instruction.operands = [self.operand(text, instruction) for text in operands]

    def open_scope(self):
        self.scopes = self.scopes + [{"suffix": f"__{self.scope_count}" if self.scope_count else "",
                                      "registers": {}, "ranges": {}, "names": {}}]
        self.scope_count += 1

    def read_statement(self):
        parser = self.parser
        parser.skip_space()
        start = parser.place
        if parser.take(r"\{"):
            self.open_scope()
        elif parser.take(r"\}"):
            self.scopes = self.scopes[:-1]
        elif parser.take(r";"):
            pass
        elif label := parser.take(rf"({NAME})\s*:(?!:)"):
            self.function.labels[self.own_name(label[1])] = len(self.pending)
        elif declared := parser.take(r"\.reg\s+\.(\w+)\s+([^;]*);"):
            self.declare(declared[1], declared[2])
        elif parser.take(r"\.pragma[^;]*;"):
            pass
        elif statement := parser.take(r"(\.[^;]*);"):
            variable = read_variable(statement[1].strip())
            if not variable:
                parser.fail("no declaration that is known")
            variable.name = self.own_name(variable.name)
            self.function.variables[variable.name] = variable
        elif statement := parser.take(r"([^;]*);"):
            self.read_instruction(statement[1], parser.line(start))
        else:
            parser.fail("no statement")

    def own_name(self, name):
        """A label's or variable's name, told from the same name in other scopes."""
        own = name + self.scopes[-1]["suffix"]
        self.scopes[-1]["names"][name] = own
        return own

    def declare(self, kind, names):
        if kind not in WIDTHS:
            self.parser.fail(f"no register type that is known: {kind}")
        scope = self.scopes[-1]
        for name in (item.strip() for item in names.split(",")):
            many = re.fullmatch(rf"({NAME})<(\d+)>", name)
            if many:
                scope["ranges"][many[1]] = (kind, int(many[2]))
            else:
                scope["registers"][name] = self.new_register(name, kind, scope)

    def new_register(self, name, kind, scope):
        register = Register(re.sub(r"\W", "_", name.lstrip("%")) + scope["suffix"], kind)
        self.function.registers.append(register)
        return register

    def read_instruction(self, text, line):
        text = " ".join(text.split())
        match = re.fullmatch(r"(?:@(!?%?[\w$]+) )?([a-z][\w.:]*)(?: (.*)|)", text)
        if not match:
            raise PtxError(f"line {line}: no instruction: {text}")
        opcode, *modifiers = match[2].split(".")
        instruction = Instruction(opcode, modifiers, [], text=text, line=line)
        operands = [part.strip() for part in split_operands(match[3] or "")]
        self.pending.append((instruction, operands, match[1], self.scopes))
        self.function.instructions.append(instruction)

    def find(self, name):
        """A register by its name, from the innermost scope out."""
        for scope in reversed(self.scopes):
            if name in scope["registers"]:
                return scope["registers"][name]
            numbered = re.fullmatch(r"(.*?)(0|[1-9]\d*)", name)
            if numbered and numbered[1] in scope["ranges"]:
                kind, count = scope["ranges"][numbered[1]]
                if int(numbered[2]) < count:
                    return scope["registers"].setdefault(name, self.new_register(name, kind, scope))
        return None

    def register(self, name, instruction):
        found = self.find(name)
        if not found:
            raise PtxError(f"line {instruction.line}: {instruction.text}: no register {name}")
        return found

    def operand(self, text, instruction):
        """A Register, an immediate int, or one of the classes above; other names stay strings."""
        if text.startswith("{"):
            return Vector([self.operand(part.strip(), instruction) for part in text[1:-1].split(",")])
        if text.startswith("["):
            return self.address(text[1:-1].strip(), instruction)
        if text.startswith("!"):
            return Negated(self.register(text[1:].strip(), instruction))
        if "|" in text:
            return Pair(*[None if part.strip() == "_" else self.register(part.strip(), instruction)
                          for part in text.split("|")])
        number = read_immediate(text)
        if number is not None:
            return number
        return self.find(text) or self.name(text, instruction)

    def name(self, text, instruction):
        for scope in reversed(self.scopes):
            if text in scope["names"]:
                return scope["names"][text]
        if text.startswith("%") and not re.fullmatch(r"%\w+(\.\w+)?", text):
            raise PtxError(f"line {instruction.line}: {instruction.text}: no operand {text}")
        return text

    def address(self, text, instruction):
        match = re.fullmatch(rf"({NAME}|\d\w*)\s*(?:([+-])\s*(-?\w+))?", text)
        offset = read_immediate(match[3]) if match and match[3] else 0
        if not match or offset is None:
            raise PtxError(f"line {instruction.line}: no address: {text}")
        base = self.operand(match[1], instruction)
        offset = -offset if match[2] == "-" else offset
        return Address(None, base + offset) if isinstance(base, int) else Address(base, offset)


def split_operands(text):
    """At commas outside brackets."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return parts + [text[start:]] if text.strip() else []
