# SPDX-License-Identifier: MIT
"""Changes of one token anywhere in the headers, each run against the C programs that run the line until one fails. Called by
tools/mutants --tokens.

The tests are built once with gcov's counters (line_coverage.py), which say what each program runs. A mutant is a random
token of a random line of code: a comparison, an operator, a logical connective, a small number, a condition's truth. Of a program
only the objects that run the line are compiled. What does not compile, and what leaves objects as they were without or with
optimisation, is no mutant. Short programs come first, of the quick tier its builds of bits.c (tests/bits) last, which
alone is optimised and so runs what __builtin_constant_p chooses."""

import random
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import line_coverage

ROOT = Path(__file__).resolve().parent.parent
TOKENS = {"<": ["<=", ">="], "<=": ["<"], ">": [">=", "<="], ">=": [">"], "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"],
          "+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["/"], "&": ["|"], "|": ["&"], "<<": [">>"], ">>": ["<<"],
          "+=": ["-="], "-=": ["+="], "|=": ["&="], "++": ["--"]}
TOKEN = re.compile(r"(?<![\w.])\d+u?(?![\w.])|[<>=!+\-*/%&|^]+|\w+|\S")
BITS = "bits"  # a test in Python
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


class Mutants:
    """Which header lines each program runs, by which of its objects, and what a changed header, in a copy of all, does to it."""

    def __init__(self, folder, suites):
        self.programs = line_coverage.Programs(ROOT, folder, suites)
        self.build, self.scratch = self.programs.build, tempfile.TemporaryDirectory(dir=self.programs.build)
        self.changed = Path(self.scratch.name)
        shutil.copytree(ROOT / "include", self.changed / "include")
        self.cost, self.run_by, self.compiled, self.original = {}, {}, {}, {}
        for test in self.programs.tests:
            self.cost[test], objects = self.programs.counted(test)
            for item, headers in objects.items():
                for header, lines in headers.items():
                    for line, parts in lines.items():
                        self.compiled.setdefault(header, {})[line] = item
                        if any(count for _, count, _ in parts):
                            self.run_by.setdefault((header, line), {}).setdefault(test, set()).add(item)

    def compile(self, item, level="-O0"):
        """The bytes of an object, None where it does not compile. Without counters, which would say that a line moved."""
        words = [word for word in shlex.split(self.programs.commands[item]) if word not in ("--coverage", "-MD", "-O0")]
        for option in ("-MQ", "-MF", "-o"):
            del words[words.index(option):words.index(option) + 2]
        made = self.changed / "one.o"
        done = subprocess.run([words[0], "-I", self.changed / "include", *words[1:], level, "-o", made], cwd=self.build, capture_output=True)
        return made.read_bytes() if done.returncode == 0 else None

    def seconds_to_compile(self, items):
        """About so many."""
        return sum((self.build / item).stat().st_size for item in items) / 7e5

    def is_as_it_was(self, item, data, header, text, level="-O0"):
        """Whether an object is what the header as it was makes."""
        if (item, level) not in self.original:
            path = self.changed / header
            changed = path.read_text()
            path.write_text(text)
            self.original[item, level] = self.compile(item, level)
            path.write_text(changed)
        return data == self.original[item, level]

    def link(self, program, objects):
        """A program with these objects in place of its own: before the libraries that hold them otherwise."""
        words = [word for word in shlex.split(self.programs.ninja("commands", program)[-1]) if word not in objects]
        at = words.index("-o")
        words[at:at + 2] = ["-o", self.changed / "program", *(self.changed / f"{number}.o" for number in range(len(objects)))]
        for number, data in enumerate(objects.values()):
            (self.changed / f"{number}.o").write_bytes(data)
        subprocess.run(words, cwd=self.build, check=True, capture_output=True)

    def tests_of(self, header, line, text):
        """(an object that compiles a line, {test: objects} that run it). gcov knows a statement by its first line; what is of no
        function all run that use the header."""
        known = max((known for known in self.compiled[header] if known <= line), default=0)
        if known and not any(between.startswith("}") for between in text.splitlines()[known - 1:line - 1]):
            return self.compiled[header][known], self.run_by.get((header, known), {})
        found = {}
        for (of_header, _), tests in self.run_by.items():
            for test, items in tests.items() if of_header == header else ():
                found.setdefault(test, set()).update(items)
        return next(iter(self.compiled[header].values())), found

    def passes(self, test, objects):
        if test != BITS:
            self.link(self.programs.tests[test][1], objects)
            return self.programs.run(test, self.changed / "program", timeout=20 + 10 * self.cost[test])
        program = self.changed / "bits"
        subprocess.run(["gcc", "-std=c99", "-O1", "-w", "-I", self.changed / "include", ROOT / "tests/bits/bits.c", "-o", program, "-lm"], check=True)
        said = subprocess.run([program, "default"], capture_output=True, text=True).stdout.splitlines()
        return set(said) == {line for line in (ROOT / "tests/bits/bits.txt").read_text().splitlines() if not line.startswith("#")}

    def killer(self, header, mutated, original, line):
        """(tier, name of the test that fails), ("", "") where none does, None where nothing changes or it does not compile."""
        first, tests = self.tests_of(header, line, original)
        tier = {BITS: "quick", **{test: self.programs.tests[test][0] for test in tests}}
        order = sorted(tests, key=lambda test: (tier[test] != "quick", self.cost[test] + self.seconds_to_compile(tests[test])))
        order.insert(sum(tier[test] == "quick" for test in order), BITS)
        path = self.changed / header
        path.write_text(mutated)
        try:
            made = {}
            for item in [first, *(item for test in order[:1] for item in sorted(tests.get(test, ())))]:
                made[item] = self.compile(item)
                if made[item] is None or self.is_as_it_was(item, made[item], header, original):
                    return None
            for test in order:
                for item in sorted(tests.get(test, set()) - set(made)):
                    made[item] = self.compile(item)
                if None in made.values() or not self.passes(test, {item: made[item] for item in sorted(tests.get(test, ()))}):
                    return tier[test], test
            if all(self.is_as_it_was(item, self.compile(item, "-O1"), header, original, "-O1") for item in made):
                return None
            return "", ""
        finally:
            path.write_text(original)


def run(count, seed, folder, parts, suites=("quick",)):
    """Prints each mutant and what killed it, and how many live. parts: of paths; without any all headers that a program runs."""
    mutants = Mutants(folder, suites)
    print(f"{len(mutants.programs.tests)} programs, {sum(mutants.cost.values()):.0f} s to run", flush=True)
    choose = random.Random(seed)
    texts = {header: (ROOT / header).read_text() for header in sorted(mutants.compiled) if not parts or any(part in header for part in parts)}
    all_places = [(header, place) for header, text in texts.items() for place in places(text)]
    print(f"{len(all_places)} tokens in {len(texts)} files", flush=True)
    done, killed = 0, {}
    while done < count:
        header, (start, end, others) = choose.choice(all_places)
        text, other = texts[header], choose.choice(others)
        line = text.count("\n", 0, start) + 1
        found = mutants.killer(header, text[:start] + other + text[end:], text, line)
        if found is None:
            continue
        done, (tier, test) = done + 1, found
        killed[tier] = killed.get(tier, 0) + 1
        print(f"{header}:{line}: {text[start:end] or 'if'} became {other.strip() or 'nothing'}: "
              f"{test or 'LIVES: ' + text.splitlines()[line - 1].strip()}", flush=True)
    for tier in suites:
        print(f"{killed.get(tier, 0)} of {count} killed by programs of {tier}")
