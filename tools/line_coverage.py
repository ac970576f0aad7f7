# SPDX-License-Identifier: MIT
"""The C programs of the host's tests, or those that run kernels in the simulator, built without optimisation and with gcov's
counters, each run by itself: which lines of the headers each runs, and by which object file. Called by tools/coverage and
tools/mutants --tokens."""

import json
import os
import re
import shutil
import subprocess
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OTHER_BUILD = re.compile(r"-fsanitize|-ffast-math|-O[1-3]")
SIMULATED = "-std=c++17 -O"  # of tests/cuda/simt
PIECE = "all_functions"  # of no program: every function of every header, called or not


class Programs:
    """tests: {test: (tier, program, arguments, environment)} of the plain builds of a source tree; of devices those of the
    simulator."""

    def __init__(self, source, build, suites, names=(), is_device=False):
        for tool in ("meson", "ninja", "gcov", "gcc"):
            if not shutil.which(tool):
                raise SystemExit(f"coverage: {tool} was not found")
        self.source, self.build = Path(source).resolve(), Path(build).resolve()
        if not (self.build / "build.ninja").exists():
            subprocess.run(["meson", "setup", "-Dtests=true", "-Dbench=false", "-Dexamples=false", "-Dcuda=disabled", "-Doptimization=0",
                            "-Ddebug=false", *(f"-D{language}_args=--coverage -w" for language in ("c", "cpp")),
                            *(f"-D{language}_link_args=--coverage" for language in ("c", "cpp")), self.build, self.source],
                           check=True, stdout=subprocess.DEVNULL, env={**os.environ, "CC": "gcc", "CXX": "g++"})
            rules = self.build / "build.ninja"
            rules.write_text(rules.read_text().replace(f"{SIMULATED}1", f"{SIMULATED}0"))
        targets = {target["filename"][0]: target["target_sources"] for target in self.introspect("targets") if target["filename"]}
        self.tests = {}
        for suite in suites:
            for test in self.introspect("tests"):
                sources = [part for part in targets.get(test["cmd"][0], []) if "language" in part]
                flags = " ".join(flag for part in sources for flag in part["parameters"])
                is_plain = not OTHER_BUILD.search(flags.replace(f"{SIMULATED}1", "")) and (
                    SIMULATED in flags if is_device else all(part["language"] == "c" for part in sources))
                if sources and is_plain and test["is_parallel"] and (not names or test["name"] in names) and any(of.split(":")[-1] == suite for of in test["suite"]):
                    program = str(Path(test["cmd"][0]).relative_to(self.build))
                    self.tests[test["name"]] = (suite, program, test["cmd"][1:], test["env"])
        if not self.tests or set(names) - set(self.tests):
            raise SystemExit(f"coverage: no such program of {' or '.join(suites)}: {' '.join(sorted(set(names) - set(self.tests)))}")
        subprocess.run(["ninja", "-C", self.build, *{program for _, program, _, _ in self.tests.values()}], check=True,
                       stdout=subprocess.DEVNULL)
        self.commands = {of["output"]: of["command"] for of in json.loads((self.build / "compile_commands.json").read_text())}
        self.objects = {program: [part for part in self.ninja("inputs", program) if part.endswith(".o")]
                        for _, program, _, _ in self.tests.values()}

    def introspect(self, what):
        return json.loads(subprocess.run(["meson", "introspect", f"--{what}", self.build], check=True, capture_output=True).stdout)

    def ninja(self, tool, target):
        return subprocess.run(["ninja", "-C", self.build, "-t", tool, target], check=True, capture_output=True,
                              text=True).stdout.splitlines()

    def run(self, test, program=None, counters="unused", timeout=3600):
        """Whether a test passes; it ends at the first property that does not. counters: the folder for what it counts."""
        _, usual, arguments, environment = self.tests[test]
        with subprocess.Popen([self.build / (program or usual), *arguments], cwd=self.build, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace",
                              env={**os.environ, **environment, "GCOV_PREFIX": str(self.build / counters)}) as running:
            timer = threading.Timer(timeout, running.kill)
            timer.start()
            try:
                if any(line.startswith("not ok") for line in running.stdout):
                    running.kill()
            finally:
                timer.cancel()
        return running.returncode == 0

    def counted(self, test):
        """(seconds of a processor, {object: {header: {line: [(function, count, [count of a branch])]}}}) of a run of a test, from a
        file where this program ran before."""
        known, program = self.build / f"{test}.known.json", self.build / self.tests[test][1]
        if not known.exists() or known.stat().st_mtime < program.stat().st_mtime:
            known.write_text(json.dumps(self.count(test)))
        seconds, objects = json.loads(known.read_text())
        return seconds, {item: {header: {int(line): parts for line, parts in lines.items()} for header, lines in headers.items()}
                         for item, headers in objects.items()}

    def count(self, test):
        counters = self.build / "counters" / test
        shutil.rmtree(counters, ignore_errors=True)
        start = os.times().children_user
        assert self.run(test, counters=counters), f"{test} fails"
        seconds = os.times().children_user - start
        found = {}
        for item in self.objects[self.tests[test][1]]:
            data = Path(f"{counters}{self.build}/{item}").with_suffix(".gcda")
            if data.exists():
                shutil.copy((self.build / item).with_suffix(".gcno"), data.parent)
                found[item] = self.gcov(data)
        return seconds, found

    def gcov(self, data):
        said = subprocess.run(["gcov", "--json-format", "--branch-probabilities", "--stdout", data], cwd=self.build, check=True,
                              capture_output=True, text=True).stdout
        lines = {}
        for file in json.loads(said)["files"]:
            path = (self.build / file["file"]).resolve()
            if path.is_relative_to(self.source / "include"):
                of_file = lines.setdefault(str(path.relative_to(self.source)), {})
                for line in file["lines"]:
                    of_file.setdefault(line["line_number"], []).append(
                        (line["function_name"], line["count"], counts_of(line["branches"])))
        return lines

    def all_functions(self):
        """The lines of every function, whether a program calls it or not, none of them run."""
        source = self.build / f"{PIECE}.c"
        headers = sorted((self.source / "include").glob("mpnum/*.h")) + sorted((self.source / "include").glob("mpnum/*/*.h"))
        source.write_text("".join(f"#include <{path.relative_to(self.source / 'include')}>\n" for path in headers))
        subprocess.run(["gcc", "-std=c99", "-O0", "--coverage", "-w", "-fkeep-inline-functions", "-fkeep-static-functions", "-I",
                        self.source / "include", "-c", source, "-o", source.with_suffix(".o")], check=True, cwd=self.build)
        return self.gcov(source.with_suffix(".gcno"))


def counts_of(branches):
    """Those of C++'s calls, which return or throw, are none."""
    throws = {k for k, branch in enumerate(branches) if branch["throw"]}
    return [branch["count"] for k, branch in enumerate(branches) if not throws & {k, k + 1}]


def add(total, lines):
    """total: {header: {line: [count, {how many branches: [their counts]}]}}. What is compiled once for each instruction set, or in
    several programs, is one line."""
    for header, of_file in lines.items():
        into = total.setdefault(header, {})
        for line, parts in of_file.items():
            merged = into.setdefault(line, [0, {}])
            for _, count, branches in parts:
                merged[0] += count
                if branches:
                    known = merged[1].setdefault(len(branches), [0] * len(branches))
                    known[:] = [a + b for a, b in zip(known, branches)]


def branches_of(merged):
    """(taken, all) of a line: of the build of it that most is known of."""
    return max(((sum(map(bool, counts)), len(counts)) for counts in merged[1].values()), default=(0, 0))
