# SPDX-License-Identifier: MIT
"""A fault at every fence, atomic, barrier, mask, shuffle and stride of the device headers, one at a time, against the programs
that run kernels in the simulator of tests/cuda/simt, and the laws of launchers, which include the header, with global memory as
weak as CUDA allows. Called by tools/mutants --device.

A fault is

    left out       a fence, a barrier, an atomic, a wait for copies
    torn           an atomic as a load and a store, between which other threads run
    a lane less    a mask without lane 31
    one further    a shuffle from one lane further, a stride of one block or thread more
    one votes      a thread that says yes whatever it found

All faults of all headers, with --since COMMIT of the lines that differ from it, are in each program, which the environment tells
which of them to be, and which says which of them it meets."""

import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Timer

ROOT = Path(__file__).resolve().parent.parent
SIMT = ROOT / "tests/cuda/simt"
sys.path += [str(SIMT), str(ROOT / "tests/harness")]

import test_simt_faults
from token_mutants import NOT_CODE
from toolchain import cpp_compiler

SUPPORT = """\
#ifndef MPNUM_DEVICE_MUTANTS_H
#define MPNUM_DEVICE_MUTANTS_H
#include <cstdio>
#include <cstdlib>
#include <cstring>
namespace mpnum_mutants {
inline unsigned char met[1 << 14];
inline const int chosen = [] {
  const char *number = std::getenv("MPNUM_MUTANT");
  if (!number) std::atexit([] {
    for (int k = 0; k < static_cast<int>(sizeof met); ++k)
      if (met[k]) std::printf("# met %d\\n", k);
  });
  return number ? std::atoi(number) : 0;
}();
inline unsigned is(int k) { return met[k] = 1, chosen == k; }
template <class T, class U, class Operation> T torn(T *word, U value, Operation operation) {
  T old;
  std::memcpy(&old, word, sizeof old);
  simt::stop(simt::state::ready);
  const T made = operation(old, static_cast<T>(value));
  std::memcpy(word, &made, sizeof made);
  return old;
}
}
#endif
"""
OPERATIONS = {"Add": "a + b", "Min": "b < a ? b : a", "Max": "a < b ? b : a", "And": "a & b", "Or": "a | b", "Exch": "b"}
PLACE = re.compile(r"\b(__threadfence|__syncthreads|__syncwarp|__pipeline_wait_prior|__syncthreads_(?:and|or|count)|"
                   r"__(?:shfl|reduce|ballot|any|all)\w*_sync|atomic(?:Add|Min|Max|And|Or|Exch))(?=\()|\b(gridDim|blockDim)\.([xyz])\b")


def parts_of(code, opening):
    """The places of the arguments of a call whose ( stands at opening, and that of its )."""
    depth, start, found = 0, opening + 1, []
    for place in range(opening, len(code)):
        if code[place] in "([{":
            depth += 1
        elif code[place] in ")]}":
            depth -= 1
            if depth == 0:
                return [*found, (start, place)], place
        elif code[place] == "," and depth == 1:
            found.append((start, place))
            start = place + 1
    raise AssertionError("a call that does not end")


class Faults:
    def __init__(self, lines=None):
        """lines: where there are faults, None: everywhere."""
        self.names, self.lines = {}, lines

    def add(self, where, what):
        if self.lines is not None and where not in self.lines:
            return "false"
        self.names[len(self.names) + 1] = f"{where}: {what}"
        return f"mpnum_mutants::is({len(self.names)})"

    def of_call(self, text, code, found, where):
        """(where the text of a call begins, where it ends, what stands there instead)."""
        name, start = found[1], found.start()
        parts, end = parts_of(code, found.end())
        arguments = [text[slice(*part)].strip() for part in parts]
        whole, says = text[start:end + 1], lambda what: self.add(where, f"{what}: {' '.join(text[start:end + 1].split())[:90]}")
        before = code[:start].rstrip()
        is_statement = code[end + 1:end + 2] == ";" and (before[-1:] in ";{})" or before.endswith("else"))
        if name in ("__threadfence", "__syncthreads", "__syncwarp", "__pipeline_wait_prior"):
            return start, end + 2, f"{{ if (!{says('left out')}) {whole}; }}"
        if name.startswith("__syncthreads_"):
            return start, end + 1, f"{name}(({arguments[0]}) || {says('one votes')})"
        if name.startswith("atomic"):
            word, value = arguments
            torn = (f"mpnum_mutants::torn({word}, {value}, [](auto a, auto b) {{ return static_cast<decltype(a)>("
                    f"{OPERATIONS[name[6:]]}); }})")
            if is_statement:
                return start, end + 2, f"{{ if ({says('torn')}) {torn}; else if (!{says('left out')}) {whole}; }}"
            return start, end + 1, f"({says('torn')} ? {torn} : {whole})"
        arguments[0] = f"(({arguments[0]}) & ~({says('a lane less')} << 31))"
        if name.startswith("__shfl"):
            arguments[2] = f"(({arguments[2]}) + static_cast<int>({says('one further')}))"
        elif name.startswith(("__ballot", "__any", "__all")):
            arguments[1] = f"(({arguments[1]}) || {says('one votes')})"
        return start, end + 1, f"{name}({', '.join(arguments)})"

    def into(self, path, root):
        text = path.read_text()
        code = NOT_CODE.sub(lambda one: re.sub(r"\S", " ", one[0]), text)
        changes = []
        for found in PLACE.finditer(code):
            where = f"{path.relative_to(root)}:{text.count(chr(10), 0, found.start()) + 1}"
            if found[1]:
                changes.append(self.of_call(text, code, found, where))
            else:
                line = text.splitlines()[text.count("\n", 0, found.start())].strip()
                more = self.add(where, f"one further: {found[0]} in {line}")
                changes.append((found.start(), found.end(), f"({found[0]} + {more})"))
        for start, end, other in reversed(nothing_inside(changes)):
            text = text[:start] + other + text[end:]
        if changes:
            path.write_text("#include <device_mutants.h>\n" + text)


def changed_lines(commit):
    """{path:line} of the headers that a commit has not."""
    done = subprocess.run(["git", "diff", "-U0", "--relative", commit, "--", "*.cuh"], cwd=ROOT / "include/mpnum", capture_output=True,
                          text=True)
    if done.returncode:
        raise SystemExit(f"mutants: git has no diff from {commit}: {done.stderr.splitlines()[0]}")
    found, path = set(), None
    for line in done.stdout.splitlines():
        if line.startswith("+++ b/"):
            path = line[6:]
        if at := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))?", line):
            found |= {f"{path}:{int(at[1]) + k}" for k in range(int(at[2] or 1))}
    return found


def nothing_inside(changes):
    """Without changes of what stands within another change."""
    kept = []
    for change in sorted(changes):
        if not kept or change[0] >= kept[-1][1]:
            kept.append(change)
    return kept


class Program:
    """One of the simulator's, with all faults in it."""

    def __init__(self, folder, source, flags):
        self.path, self.name = folder / source.stem, source.stem
        subprocess.run([*compile_words(folder, flags), source, folder / "laws.o", "-o", self.path], check=True)
        start = time.monotonic()
        done = subprocess.run([self.path], capture_output=True, text=True, errors="replace")
        assert done.returncode == 0, f"{self.name} fails without a fault:\n{done.stdout[-2000:]}"
        self.cost = time.monotonic() - start
        self.met = {int(number) for number in re.findall(r"^# met (\d+)$", done.stdout, re.M)}

    def failure(self, fault):
        """What fails with a fault, None where nothing does."""
        with subprocess.Popen([self.path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              errors="replace", env={**os.environ, "MPNUM_MUTANT": str(fault)}) as running:
            limit = Timer(20 + 5 * self.cost, running.kill)
            limit.start()
            for line in running.stdout:
                if line.startswith("not ok"):
                    running.kill()
                    limit.cancel()
                    return f"{self.name}, {line.strip()}"
            limit.cancel()
            running.wait()
        return f"{self.name}, status {running.returncode}" if running.returncode else None


def compile_words(folder, flags):
    return [*cpp_compiler(), *test_simt_faults.FLAGS, *flags, "-w", "-DSIMT_WEAK_MEMORY", "-I", folder / "include", "-I", folder,
            "-include", SIMT / "simt.hpp"]


def includes(folder, source, headers):
    """Whether a program includes one of the headers, so that it can meet a fault there."""
    said = subprocess.run([*compile_words(folder, []), "-MM", source], check=True, capture_output=True, text=True).stdout
    met = set(map(os.path.normpath, said.split()))  # headers of another room are included by way of their own
    return any(str(header) in met for header in headers)


def programs(folder, headers, pool):
    kinds = {path: [] for path in (ROOT / "tests/laws").glob("test_laws_device_*.cpp")}
    for _, source, flags in test_simt_faults.PROGRAMS.values():
        kinds.setdefault(SIMT / f"{source}.cpp", flags)
    for source in SIMT.glob("test_kernels_*.cpp"):
        kinds.setdefault(source, ["-O0"])
    kinds = {source: flags for source, flags in kinds.items() if includes(folder, source, headers)}
    compiler = shutil.which("cc") or "gcc"
    subprocess.run([compiler, "-O1", "-w", "-I", ROOT / "include", "-c", ROOT / "tests/laws/laws.c", "-o", folder / "laws.o"], check=True)
    return sorted(pool.map(lambda kind: Program(folder, *kind), kinds.items()), key=lambda one: one.cost)


def run(folder, wanted, since=None):
    """Prints each fault that no program sees and how many are seen. wanted: parts of the paths of headers; without any all."""
    shutil.copytree(ROOT / "include", folder / "include")
    (folder / "device_mutants.h").write_text(SUPPORT)
    faults = Faults(changed_lines(since) if since else None)
    headers = [path for path in sorted((folder / "include/mpnum").rglob("*.cuh")) if not wanted or any(part in str(path) for part in wanted)]
    for path in headers:
        faults.into(path, folder / "include/mpnum")
    headers = [path for path in headers if any(name.startswith(f"{path.relative_to(folder / 'include/mpnum')}:") for name in faults.names.values())]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        made = programs(folder, headers, pool)
        print(f"{len(faults.names)} faults, {len(made)} programs, {sum(one.cost for one in made):.0f} s to run", flush=True)

        def seen(fault):
            return next(filter(None, (one.failure(fault) for one in made if fault in one.met)), None)
        found = dict(zip(faults.names, pool.map(seen, faults.names)))
    for fault, by in found.items():
        if not by:
            is_met = any(fault in one.met for one in made)
            print(f"{faults.names[fault]}: {'LIVES' if is_met else 'no program comes there'}")
    print(f"{sum(map(bool, found.values()))} of {len(found)} faults are seen")
