# SPDX-License-Identifier: MIT
"""Changes of one token anywhere in the headers, each run against the programs that include the file until one fails. Called by
tools/mutants --tokens.

A copy of the tree is configured once; ninja knows what each program includes. A mutant is a random token of a random line of
code: a comparison, an operator, a logical connective, a small number, a condition's truth. What does not compile, and what
leaves every object as it was, is no mutant. Programs of the file's room come first, then short ones."""

import json
import random
import re
import shutil
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOKENS = {"<": ["<=", ">="], "<=": ["<"], ">": [">=", "<="], ">=": [">"], "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"],
          "+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["/"], "&": ["|"], "|": ["&"], "<<": [">>"], ">>": ["<<"],
          "+=": ["-="], "-=": ["+="], "|=": ["&="], "++": ["--"]}
TOKEN = re.compile(r"(?<![\w.])\d+u?(?![\w.])|[<>=!+\-*/%&|^]+|\w+|\S")
BITS = "bits"
NOT_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.S | re.M)


def places(text):
    """(where a token begins, where it ends, what may stand there instead) of all of a file."""
    blank = NOT_CODE.sub(lambda found: re.sub(r"\S", " ", found[0]), text)
    for found in TOKEN.finditer(blank):
        word = found[0]
        if word in TOKENS:
            before = blank[:found.start()].rstrip()[-1:]
            if word in ("*", "&", "-", "+") and not re.match(r"[\w)\]]", before):  # a pointer, a sign
                continue
            if word == "*" and not re.match(r" [\w(]", blank[found.end():]):
                continue
            yield found.start(), found.end(), TOKENS[word]
        elif re.fullmatch(r"\d+u?", word):
            number, unsigned = int(word.rstrip("u")), "u" * word.endswith("u")
            yield found.start(), found.end(), [f"{number + 1}{unsigned}", *([f"{number - 1}{unsigned}"] if number else [])]
        elif word == "!":
            yield found.start(), found.end(), [""]
        elif word == "if" and blank[found.end():].startswith(" ("):
            yield found.end() + 2, found.end() + 2, ["!!0 && ", "1 || "]


class Build:
    """A copy of the tree, its build and what each program includes."""

    def __init__(self, folder, suites):
        self.tree = Path(folder)
        if not self.tree.exists():
            subprocess.run(["git", "clone", "-q", ROOT, self.tree], check=True)
            subprocess.run(["meson", "setup", "-Dtests=true", "-Dbench=false", self.tree / "build", self.tree], check=True,
                           stdout=subprocess.DEVNULL)
        self.build = self.tree / "build"
        known = {target["filename"][0]: target for target in self.introspect("targets") if target["filename"]}
        self.tests = {}
        for test in self.introspect("tests"):
            program = test["cmd"][0]
            if not any(suite.split(":")[-1] in suites for suite in test["suite"]):
                continue
            if program in known:
                self.tests.setdefault(program, test["cmd"])
            elif test["name"] == "bits":  # it compiles what it runs
                self.tests[BITS] = test["cmd"]
        self.names = {program: BITS if program == BITS else str(Path(program).relative_to(self.build)) for program in self.tests}
        self.make(*self.tests)
        self.cost = {}
        for program, command in self.tests.items():
            start = time.monotonic()
            done = subprocess.run(command, cwd=self.build, capture_output=True, timeout=600)
            assert done.returncode == 0, f"{self.names[program]} fails without a mutant"
            self.cost[program] = time.monotonic() - start
        self.read_dependencies()

    def introspect(self, what):
        return json.loads(subprocess.run(["meson", "introspect", f"--{what}", self.build], check=True, capture_output=True).stdout)

    def make(self, *programs, check=True):
        targets = [self.names[program] for program in programs if program != BITS]
        return not targets or subprocess.run(["ninja", "-C", self.build, *targets], capture_output=True, text=True,
                                             check=check).returncode == 0

    def read_dependencies(self):
        objects, seen = {}, None
        for line in subprocess.run(["ninja", "-C", self.build, "-t", "deps"], check=True, capture_output=True,
                                   text=True).stdout.splitlines():
            if not line.startswith(" "):
                seen = objects.setdefault(line.split(":")[0], set())
            elif line.strip():
                seen.add((self.build / line.strip()).resolve())
        self.includes = {}
        for program, name in self.names.items():
            if program == BITS:
                self.includes[program] = set((self.tree / "include/mpnum").resolve().rglob("*.h"))
                continue
            made = subprocess.run(["ninja", "-C", self.build, "-t", "inputs", name], check=True, capture_output=True,
                                  text=True).stdout.split()
            self.includes[program] = set().union(*(objects.get(item, set()) for item in made))

    def programs_of(self, path):
        room = path.relative_to(self.tree / "include/mpnum").parts[0]
        chosen = [program for program in self.tests if path.resolve() in self.includes[program]]
        rooms = {"simd": "array", "core": "convert", "types": "convert"}

        def order(program):
            inputs = self.names[program]
            return (rooms.get(room, room) not in str(self.includes_own_room(program)), self.cost[program], inputs)
        return sorted(chosen, key=order)

    def includes_own_room(self, program):
        return sorted({path.parts[-2] for path in self.includes[program] if "tests" in path.parts})


def killer(build, path, mutated, original):
    """The name of the program that fails, "" where none does, None where it does not compile."""
    path.write_text(mutated)
    try:
        for number, program in enumerate(build.programs_of(path)):
            if not build.make(program, check=False):
                return None if number == 0 else build.names[program] + " (does not compile)"
            try:
                done = subprocess.run(build.tests[program], cwd=build.build, capture_output=True,
                                      timeout=20 + 10 * build.cost[program])
            except subprocess.TimeoutExpired:
                return build.names[program] + " (does not end)"
            if done.returncode:
                return build.names[program]
        return ""
    finally:
        path.write_text(original)


def run(count, seed, folder, files, suites=("quick",)):
    """Prints each mutant and what killed it, and how many live. files: parts of paths; without any all headers."""
    if not shutil.which("ninja"):
        raise SystemExit("mutants: ninja was not found")
    build = Build(folder, suites)
    print(f"{len(build.tests)} programs, {sum(build.cost.values()):.0f} s to run", flush=True)
    choose = random.Random(seed)
    texts = {path: path.read_text() for path in sorted((build.tree / "include/mpnum").rglob("*.*"))}
    texts = {path: text for path, text in texts.items() if build.programs_of(path) and
             (not files or any(part in str(path.relative_to(build.tree)) for part in files))}
    all_places = [(path, place) for path, text in texts.items() for place in places(text)]
    print(f"{len(all_places)} tokens in {len(texts)} files", flush=True)
    done, killed = 0, 0
    while done < count:
        path, (start, end, others) = choose.choice(all_places)
        text, other = texts[path], choose.choice(others)
        by = killer(build, path, text[:start] + other + text[end:], text)
        if by is None:
            continue
        done, killed = done + 1, killed + bool(by)
        line = text.count("\n", 0, start)
        print(f"{path.relative_to(build.tree)}:{line + 1}: {text[start:end] or 'if'} became {other.strip() or 'nothing'}: "
              f"{by or 'LIVES: ' + text.splitlines()[line].strip()}", flush=True)
    print(f"{killed} of {count} killed")
