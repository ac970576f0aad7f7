#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/realworld/run: its patches, what it refuses, and how it counts. The projects themselves are run by command."""

import functools
import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from tree import ROOT, check, need

HERE = ROOT / "tests/realworld"
sys.dont_write_bytecode = True


@functools.lru_cache(maxsize=None)
def driver():
    loader = importlib.machinery.SourceFileLoader("run", str(HERE / "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run", loader))
    loader.exec_module(module)
    return module


def patch_of(name):
    return (HERE / name / "mpnum.patch").read_text()


def patched_files(text):
    """Of each file of a patch the lines that it expects, by number."""
    expected = {}
    for line in text[text.index("\n--- ") + 1:].splitlines():
        if line.startswith("+++ "):
            lines = expected.setdefault(line[6:], {})
        elif line.startswith("@@"):
            at = int(re.match(r"@@ -(\d+)", line)[1])
        elif not line.startswith(("+", "--- ")):
            lines[at] = line[1:]
            at += 1
    return expected


def as_checkout(files, folder):
    """A checkout of files that have these lines, and nothing else but empty ones."""
    need("git")
    for name, lines in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(lines.get(at, "") + "\n" for at in range(1, max(lines, default=0) + 9)))
    git = ["git", "-C", folder, "-c", "user.name=-", "-c", "user.email=-"]
    check(*git, "init", "-q")
    check(*git, "add", "-A")
    check(*git, "commit", "-q", "-m", "-")
    return check(*git, "rev-parse", "HEAD").strip()


def refused(*arguments):
    """What the driver says, which must be one line, and its exit status."""
    with tempfile.TemporaryDirectory() as work:
        done = subprocess.run([HERE / "run", *arguments], capture_output=True, text=True, env={"PATH": os.environ["PATH"], "TMPDIR": work})
        assert not list(Path(work).iterdir()), "it leaves files"
    assert done.stdout == "" and "Traceback" not in done.stderr, done
    return done.returncode, done.stderr.strip().splitlines()[-1]


def patches_bring_lines_and_take_none():
    """A line of context on either side, or two, which is all that there is of the other project."""
    for name, project in driver().PROJECTS.items():
        text = patch_of(name)
        hunks = [hunk.splitlines()[1:] for hunk in re.split(r"^(?=@@ )", re.sub(r"^(---|\+\+\+) .*\n", "", text, flags=re.M), flags=re.M)[1:]]
        assert len(hunks) >= 5 and f" of {project.repository}: " in text, name
        for hunk in hunks:
            kinds = "".join(line[:1] or " " for line in hunk)
            assert re.fullmatch(r" {1,2}\++( {1,4}\++)* {1,2}", kinds), (name, hunk)
        assert "#if 0 /* mpnum */" in text and text.count("+#if 0 /* mpnum */") == text.count("\n+#endif"), name


def patches_fit_what_they_expect():
    """A checkout is copied twice, patched once, and left as it was."""
    for name, project in driver().PROJECTS.items():
        with tempfile.TemporaryDirectory() as folder:
            folder, work = Path(folder) / "it", Path(folder) / "work"
            folder.mkdir(), work.mkdir()
            files = patched_files(patch_of(name))
            for place in project.submodules:
                (folder / place).mkdir()
                as_checkout({"it": {}}, folder / place)
            commit = as_checkout({**{place if Path(place).suffix else f"{place}/it": {} for place in project.files}, **files}, folder)
            assert driver().checkout(folder, name, work).startswith(f"{commit} of 20"), commit
            assert not check("git", "-C", folder, "status", "--porcelain")
            for file in files:
                assert (work / "before" / file).read_text() == (folder / file).read_text(), file
                assert "#if 0 /* mpnum */" in (work / "after" / file).read_text(), file
            brought, gone = driver().lines_in_and_out(name, work / "after")
            assert brought > 4 and gone >= 4, (brought, gone)


def what_it_cannot_use_is_one_line():
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        other = folder / "other"
        (other / "below").mkdir(parents=True)
        (folder / "empty").mkdir()
        commit = as_checkout({"include/fp16/fp16.h": {1: "int another;"}, "below/it": {}}, other)
        for arguments, status, words in (
                (("fp17", other), 2, "invalid choice: 'fp17'"),
                (("fp16",), 2, "required: folder"),
                (("fp16", folder / "none"), 1, "is no folder"),
                (("fp16", folder / "empty"), 1, "is no checkout by git"),
                (("fp16", other / "below"), 1, "not all of it"),
                (("fp16", other), 1, f"does not fit commit {commit}"),
                (("onnxruntime", other), 1, f"commit {commit} of ")):
            got, line = refused(*arguments)
            if "not installed:" in line:
                raise tap.Skip(line)
            assert got == status and words in line, (arguments, got, line)


def lines_are_counted_without_comments():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "include/fp16/fp16.h"
        path.parent.mkdir(parents=True)
        path.write_text("int a;\n#if 0 /* mpnum */\n/* two\nlines */\nint b; // here\n#if X\nint c;\n#endif\n\n#endif\nint d;\n")
        assert driver().lines_in_and_out("fp16", Path(folder))[1] == 4  # b, #if, c, #endif


def differing_results_are_found():
    """Of two libraries that add 1 to words of 32 bits, the second one not to some; a cause is that of the first text that says so."""
    run = driver()
    run.WIDTHS["few"] = 4, 4
    run.INPUTS["few"] = lambda: run.array("I", range(0, 977 * 8, 977)).tobytes()

    class Library:
        def __init__(self, *kept):
            self.kept = kept

        def row(self, given, into, count):
            words = run.array("I", given)
            assert count.value == len(words), count
            into.raw = run.array("I", [word + (word // 977 not in self.kept) for word in words]).tobytes()

    whys = ("odd", lambda words, pairs: words[0] // 977 % 2 == 1 and pairs[0][0] == pairs[0][1] + 1),
    for per, kept, want in ((1, (), (8, {})), (1, (3, 5, 6), (8, {"odd": (2, 3), run.UNEXPLAINED: (1, 6)})), (4, (5,), (2, {run.UNEXPLAINED: (1, 4)}))):
        cases, causes = run.differences(run.Function("row", "few", 4 * per, per, whys=whys), [Library(), Library(*kept)])
        assert (cases, {why: (count, words[0] // 977) for why, (count, words, _) in causes.items()}) == want, (cases, causes)
        assert all(pairs == [(977 * kept[-1] + 1, 977 * kept[-1])] for why, (_, _, pairs) in causes.items() if why == run.UNEXPLAINED), causes


def floats_are_measured_by_exact_ones():
    """Of two libraries that are 3 and 1 off, counted in halves, by what is promised; NaN is no small error."""
    run = driver()
    run.WIDTHS["few floats"] = 4, 4
    run.INPUTS["few floats"] = lambda: run.array("f", range(8)).tobytes()

    class Library:
        def __init__(self, off):
            self.off = off

        def row(self, given, into, count):
            into.raw = run.array("f", [2 * x + self.off for x in run.array("f", given)]).tobytes()

    for offs, promised, why in (((3, -1), 2, "off by at most 6 halves there, 2 here"), ((3, -1), 1.9, run.UNEXPLAINED),
                                ((1, float("nan")), 2, run.UNEXPLAINED), ((1, 1), 0, None)):
        function = run.Function("row", "few floats", 16, 4, near=("halves", promised, lambda x: [(2 * value, 0.5) for value in x]))
        cases, causes = run.differences(function, [Library(off) for off in offs])
        assert cases == 2 and {text: count for text, (count, _, _) in causes.items()} == ({why: 2} if why else {}), causes


def calls_are_timed_in_turn():
    """Of 64 Ki values and more; the first pair of calls does not count."""
    run = driver()
    said = []

    class Library:
        def row(self, given, into, count):
            assert len(given) == 4 * count.value and len(into) == 2 * count.value >= 2 * 65536, count
            said.append(self)

    project = run.PROJECTS["fp16"]._replace(functions=[run.Function("row", "small", 2)])
    run.INPUTS["small"] = lambda: bytes(4 * 256)
    libraries = [Library(), Library()]
    found = list(run.timed_calls(project, libraries))
    assert said == libraries * (run.TURNS + 1) and [side for _, side, _ in found] == ["before", "after"] * run.TURNS, found
    assert all(name == "row" and taken > 0 for name, _, taken in found), found


def what_a_benchmark_says_is_read():
    run = driver()
    assert list(run.said_by_benchmark("name,iterations,real_time,cpu_time,time_unit\n\"to/65536\",10,3,65536,ns\nto/8,1,4,3,ms\n")) == [("to", 1.0)]
    text = "half -> float Old:    1 (0.1 ns) New:         12 (2.5e+01 ns) (        -3)\n"
    assert list(run.said_by_half_perf(text)) == [("half -> float", 25)]
    cycles = "    64 values (0.25 MB)\n      min cycles/32 vals   :   {}\n      avg cycles/32 vals   :   99\n      float32 throughput   :  2.00 GB/s\n\n"
    text = f"f16\n  quantize_row_q_reference\n{cycles.format(64)}  dequantize_row_q\n{cycles.format(32)}bf16\n  dequantize_row_q\n{cycles.format(8)}"
    assert list(run.said_by_quantize_perf(text)) == [
        ("f16, quantize_row_q_reference, cycles", 2), ("f16, dequantize_row_q, cycles", 1), ("bf16, dequantize_row_q, cycles", 0.25)]


def results_are_of_the_commit_of_the_patch():
    """All of their tests that passed before pass after, and each difference is explained."""
    for name, project in driver().PROJECTS.items():
        text = (HERE / name / "results.txt").read_text()
        commit = re.search(r"^For commit (\w{12}) ", patch_of(name), re.M)[1]
        assert re.search(rf"^{project.repository}, commit {commit}\w{{28}} of 20", text, re.M), name
        ends = re.findall(r"^\S+ +(\S+) +(\S+)$", text[text.index("their test"):text.index("results, in bits")], re.M)[1:]
        assert (ends or project.tests is None) and all(pair == ("passed", "passed") for pair in ends), ends
        assert "not explained" not in text and all(function.name in text for function in project.functions), name


if __name__ == "__main__":
    sys.exit(tap.run(patches_bring_lines_and_take_none, patches_fit_what_they_expect, what_it_cannot_use_is_one_line,
                     lines_are_counted_without_comments, differing_results_are_found, floats_are_measured_by_exact_ones, calls_are_timed_in_turn, what_a_benchmark_says_is_read,
                     results_are_of_the_commit_of_the_patch))
