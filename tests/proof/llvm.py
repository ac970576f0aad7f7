# SPDX-License-Identifier: MIT
"""Functions of LLVM's text form as SMT-LIB terms over bit vectors: what the compiler made of C, without loops
and memory. Each value becomes a define-fun of no arguments; a branch becomes the condition under which its block
runs. An instruction that is not known here is an error, never a guess."""

import re

OPERATIONS = dict(add="bvadd", sub="bvsub", mul="bvmul", shl="bvshl", lshr="bvlshr", ashr="bvashr", udiv="bvudiv", urem="bvurem")
OPERATIONS |= {"and": "bvand", "or": "bvor", "xor": "bvxor"}
LOGIC = {"and": "and", "or": "or", "xor": "xor"}
COMPARISONS = {"ne": "distinct", "eq": "="} | {a + b: f"bv{a}{b}" for a in "us" for b in ("lt", "le", "gt", "ge")}


def sort(kind):
    """The sort of i1, i8, ..., float."""
    return {"i1": "Bool", "float": "Float32", "double": "Float64"}.get(kind) or f"(_ BitVec {kind[1:]})"


def split(text):
    """At commas outside brackets."""
    return [part.strip() for part in re.findall(r"(?:[^,\[\](){}]|\[[^]]*\]|\([^)]*\)|\{[^}]*\})+", text)]


class Function:
    """One function: arguments [(name, kind)], lines of SMT-LIB, and the names of the term of its result and of
    the condition under which a check of undefined behaviour traps, or a float that some environments flush to zero is
    added. Floats are added in any rounding mode."""

    def __init__(self, text, name, prefix=""):
        head, body = re.search(rf"^define [^\n]*@{name}\((.*?)\)[^\n]*{{\n(.*?)^}}", text, re.S | re.M).groups()
        self.prefix, self.lines, self.reach, self.edges, self.pairs = prefix, [], {}, {}, {}
        self.arguments = [(part.split()[-1][1:], part.split()[0]) for part in split(head)]
        self.kinds = dict(self.arguments)
        returns, self.traps = [], []
        blocks = {}
        for line in body.splitlines():
            line = re.sub(r"(, !.*|;.*)$", "", line).strip()
            if line.endswith(":"):
                blocks[line[:-1]] = current = []
            elif not blocks:
                raise ValueError("a first block without a name")
            elif line:
                current.append(line)
        # A switch has a line for each case.
        for label, lines in blocks.items():
            blocks[label] = re.sub(r"\[\n(.*?)\n\]", lambda found: "[ " + found[1].replace("\n", " | ") + " ]", "\n".join(lines), flags=re.S).split("\n")
        for label in self.ordered(blocks):
            here = [condition for (_, to), condition in self.edges.items() if to == label]
            self.reach[label] = self.define(f"reach.{label}", "i1", self.any(here) if here else "true")
            for line in blocks[label]:
                self.instruction(label, line, returns)
        self.kind = returns[0][1]
        term = returns[-1][2]
        for label, _, value in returns[-2::-1]:
            term = f"(ite {self.reach[label]} {value} {term})"
        self.result = self.define("result", self.kind, term)
        self.trap = self.define("trap", "i1", self.any(self.traps))

    @staticmethod
    def any(terms):
        return f"(or {' '.join(terms)})" if len(terms) > 1 else terms[0] if terms else "false"

    def ordered(self, blocks):
        """Each block after all that lead to it; a loop is an error."""
        done, path = [], []

        def visit(label):
            if label in path:
                raise ValueError(f"a loop at {label}")
            if label in done:
                return
            path.append(label)
            for follower in re.findall(r"label %([\w.$-]+)", blocks[label][-1]):
                visit(follower)
            path.pop()
            done.append(label)

        visit(next(iter(blocks)))
        return done[::-1]

    def name(self, name):
        return f"|{self.prefix}{name}|"

    def define(self, name, kind, term):
        self.kinds[name] = kind
        self.lines.append(f"(define-fun {self.name(name)} () {sort(kind)} {term})")
        return self.name(name)

    def value(self, kind, text):
        if text[0] == "%":
            return self.name(text[1:])
        if text in ("undef", "poison"):
            raise ValueError(f"{text} is used")
        if kind == "i1":
            return text
        if kind in ("float", "double"):
            if not text.startswith("0x"):
                text = float(text).hex()
                raise ValueError("a constant float")
        return f"(_ bv{int(text) % 2 ** int(kind[1:])} {kind[1:]})"

    def instruction(self, label, line, returns):
        reach = self.reach[label]
        if line == "unreachable" or "@llvm.assume(" in line:
            return
        if "@llvm.ubsantrap(" in line:
            self.traps.append(reach)
        elif found := re.fullmatch(r"ret (\w+) (\S+)", line):
            returns.append((label, found[1], self.value(*found.groups())))
        elif found := re.fullmatch(r"br label %(\S+)", line):
            self.edge(label, found[1], reach)
        elif found := re.fullmatch(r"br i1 (\S+), label %(\S+), label %(\S+)", line):
            condition = self.value("i1", found[1])
            self.edge(label, found[2], f"(and {reach} {condition})")
            self.edge(label, found[3], f"(and {reach} (not {condition}))")
        elif found := re.fullmatch(r"switch (\w+) (\S+), label %(\S+) \[ (.*) \]", line):
            kind, tested, otherwise, cases = found.groups()
            tested, equal = self.value(kind, tested), []
            for case in cases.split(" | "):
                number, target = re.fullmatch(r"\s*\w+ (\S+), label %(\S+)", case).groups()
                equal.append(f"(= {tested} {self.value(kind, number)})")
                self.edge(label, target, f"(and {reach} {equal[-1]})")
            self.edge(label, otherwise, f"(and {reach} (not {self.any(equal)}))")
        else:
            name, operation = re.fullmatch(r"%(\S+) = (.*)", line).groups()
            term = self.term(name, label, re.sub(r"\b(nuw|nsw|exact|nneg|disjoint|samesign|noundef|tail) ", "", operation))
            if term:
                self.define(name, *term)

    def edge(self, origin, target, condition):
        old = self.edges.get((origin, target))
        self.edges[origin, target] = f"(or {old} {condition})" if old else condition

    def term(self, name, label, text):
        word, rest = text.split(" ", 1)
        if word in OPERATIONS:
            kind, operands = rest.split(" ", 1)
            operation = (LOGIC if kind == "i1" else OPERATIONS)[word]
            return kind, f"({operation} {' '.join(self.value(kind, part) for part in split(operands))})"
        if word == "icmp":
            comparison, kind, operands = rest.split(" ", 2)
            a, b = (self.value(kind, part) for part in split(operands))
            return "i1", f"({COMPARISONS[comparison]} {a} {b})"
        if word == "select":
            condition, a, b = (part.split(" ") for part in split(rest))
            return a[0], f"(ite {self.value(*condition)} {self.value(*a)} {self.value(*b)})"
        if word == "freeze":
            return rest.split(" ")[0], self.value(*rest.split(" "))
        if word in ("zext", "sext", "trunc", "bitcast"):
            kind, value, to = re.fullmatch(r"(\S+) (\S+) to (\S+)", rest).groups()
            value = self.value(kind, value)
            if word == "bitcast" and (kind, to) == ("i32", "float"):
                return to, f"((_ to_fp 8 24) {value})"
            if word == "bitcast" and (kind, to) == ("float", "i32"):
                return self.bits_of(name, value)
            wide = int(to[1:])
            if word == "trunc":
                low = f"((_ extract {wide - 1} 0) {value})"
                return to, f"(= {low} #b1)" if to == "i1" else low
            if kind == "i1":
                ones = 1 if word == "zext" else 2**wide - 1
                return to, f"(ite {value} (_ bv{ones} {wide}) (_ bv0 {wide}))"
            return to, f"((_ {dict(zext='zero', sext='sign')[word]}_extend {wide - int(kind[1:])}) {value})"
        if word in ("fadd", "fsub"):
            kind, operands = rest.split(" ", 1)
            a, b = (self.value(kind, part) for part in split(operands))
            result = f"(fp.{word[1:]} any_rounding {a} {b})"
            flushed = " ".join(f"(fp.isSubnormal {one})" for one in (a, b, result))
            self.traps.append(f"(and {self.reach[label]} (or {flushed}))")
            return kind, result
        if word == "phi":
            kind, choices = re.fullmatch(r"(\{.*?\}|\w+) (.*)", rest).groups()
            choices = [part.strip("[] ").split(", %") for part in split(choices)]
            if kind[0] == "{":
                parts = [self.parts(kind, value) for value, _ in choices]
                self.pairs[name] = [(part[0][0], self.chosen(label, [term for _, term in part],
                                     [origin for _, origin in choices])) for part in zip(*parts)]
                return None
            return kind, self.chosen(label, [self.value(kind, value) for value, _ in choices],
                                     [origin for _, origin in choices])
        if word == "insertvalue":
            whole, value, which = re.fullmatch(r"(\{.*?\} \S+), (.*), (\d)", rest).groups()
            self.pairs[name] = self.parts(*whole.rsplit(" ", 1))
            self.pairs[name][int(which)] = value.split(" ")[0], self.value(*value.split(" "))
            return None
        if word == "extractvalue":
            return self.pairs[re.search(r"%(\S+),", rest)[1]][int(rest[-1])]
        if word == "call":
            return self.call(name, rest)
        raise ValueError(f"no translation of: {text}")

    def parts(self, kind, text):
        """The parts of a struct, each with its kind. What is not set yet is None, which no term may hold."""
        if text[0] == "%":
            return list(self.pairs[text[1:]])
        zero = "(_ bv0 {})" if text == "zeroinitializer" else None
        return [(part, zero and zero.format(part[1:])) for part in split(kind.strip("{} "))]

    def chosen(self, label, terms, origins):
        """A term for what a phi takes, by the edge on which its block is reached."""
        term = terms[-1]
        for other, origin in zip(terms[-2::-1], origins[-2::-1]):
            if (origin, label) in self.edges:
                term = f"(ite {self.edges[origin, label]} {other} {term})"
        return term

    def call(self, name, text):
        kind, called, operands = re.fullmatch(r"(.+?) @([\w.]+)\((.*)\).*", text).groups()
        operands = [part.split(" ") for part in split(operands)]
        values = [self.value(*part) for part in operands]
        kind, bits = operands[0][0], int(operands[0][0][1:])
        if found := re.match(r"llvm\.([us])(max|min)\.", called):
            return kind, f"(ite (bv{found[1]}{dict(max='ge', min='le')[found[2]]} {values[0]} {values[1]}) {values[0]} {values[1]})"
        if called.startswith("llvm.ctlz."):
            term = f"(_ bv{bits} {bits})"
            for place in range(bits):
                term = f"(ite (= ((_ extract {place} {place}) {values[0]}) #b1) (_ bv{bits - 1 - place} {bits}) {term})"
            return kind, term
        if called.startswith("llvm.abs."):
            return kind, f"(ite (bvslt {values[0]} (_ bv0 {bits})) (bvneg {values[0]}) {values[0]})"
        if found := re.match(r"llvm\.fsh([lr])\.", called):
            amount = f"(concat (_ bv0 {bits}) (bvurem {values[2]} (_ bv{bits} {bits})))"
            both = f"(concat {values[0]} {values[1]})"
            if found[1] == "l":
                return kind, f"((_ extract {2 * bits - 1} {bits}) (bvshl {both} {amount}))"
            return kind, f"((_ extract {bits - 1} 0) (bvlshr {both} {amount}))"
        if found := re.match(r"llvm\.([us])(add|sub|mul)\.with\.overflow\.", called):
            a, b = (f"((_ {dict(u='zero', s='sign')[found[1]]}_extend {bits}) {value})" for value in values)
            wide = f"(bv{found[2]} {a} {b})"
            result = f"(bv{found[2]} {values[0]} {values[1]})"
            again = f"((_ {dict(u='zero', s='sign')[found[1]]}_extend {bits}) {result})"
            self.pairs[name] = [(kind, result), ("i1", f"(distinct {wide} {again})")]
            return None
        raise ValueError(f"no translation of a call of {called}")

    def bits_of(self, name, value):
        """Bits of a float: new ones that have its value. A zero's sign is its own; of a NaN nothing is known."""
        bits = self.name(name + ".bits")
        self.lines.append(f"(declare-const {bits} (_ BitVec 32))")
        self.lines.append(f"(assert (= ((_ to_fp 8 24) {bits}) {value}))")
        return "i32", bits
