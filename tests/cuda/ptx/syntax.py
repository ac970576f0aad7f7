# SPDX-License-Identifier: MIT
"""What PTX text becomes: modules of functions, functions of instructions."""

from dataclasses import dataclass, field


class PtxError(Exception):
    """The PTX is wrong, does something wrong, or does what this interpreter does not know."""


@dataclass
class Variable:
    """A variable of a state space. A size of 0 with is_external is the dynamic shared memory."""
    name: str
    space: str
    size: int
    alignment: int
    data: bytes = b""
    is_external: bool = False


@dataclass
class Register:
    name: str   # unique in its function
    kind: str   # as declared: b32, pred, ...


@dataclass
class Address:
    """[base + offset]; the base is a Register, a Variable's name, or None for an absolute address."""
    base: object
    offset: int


@dataclass
class Vector:
    elements: list


@dataclass
class Negated:
    """!p"""
    register: Register


@dataclass
class Pair:
    """p|q; either may be None for the sink _."""
    first: Register
    second: Register


@dataclass
class Instruction:
    opcode: str
    modifiers: list
    operands: list
    guard: Register = None
    is_guard_negated: bool = False
    text: str = ""
    line: int = 0


@dataclass
class Function:
    name: str
    parameters: list  # Variables of the space param
    instructions: list = field(default_factory=list)
    labels: dict = field(default_factory=dict)     # name: index of an instruction
    variables: dict = field(default_factory=dict)  # name: Variable, of the function
    registers: list = field(default_factory=list)
    read_body: object = None  # fills in the above when called


@dataclass
class Module:
    target: str
    functions: dict  # name: Function, its body perhaps not read yet
    variables: dict

    def function(self, name):
        function = self.functions[name]
        if function.read_body:
            function.read_body, read = None, function.read_body
            read()
        return function
