#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The linters find nothing to say. They see the C files as the build folder in MPNUM_BUILD compiles them.

usage: tests/project/test_lint.py [all]

The programs of tests and the sections of the bench, which see the headers once more each, are spared, as all are the checks
of paths (clang-analyzer), which take five times as long as the others, and cppcheck the vector code; with the argument all files
have all checks."""

import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
import toolchain
from tree import ROOT, check, need, text_of, tracked_files

CLANG_TIDY_MAJOR = "14"  # newer versions bring new checks


def commands():
    """The compile commands of the C files, one for each file, with one that sees the headers alone. The vector code
    is linted with that and with array_functions.c; the others are spared it."""
    build = os.environ.get("MPNUM_BUILD")
    if not build:
        raise tap.Skip("MPNUM_BUILD names no build folder")
    listed = json.loads((Path(build) / "compile_commands.json").read_text())
    by_file = {os.path.realpath(os.path.join(entry["directory"], entry["file"])): entry
               for entry in reversed(listed)}
    headers = SCRATCH / "headers.c"
    headers.write_text("".join(f"#include <{path.relative_to(ROOT / 'include')}>\n"
                               for path in sorted((ROOT / "include/mpnum").rglob("*.h"))))
    by_file[str(headers)] = {"directory": build, "file": str(headers),
                             "command": f"cc -std=c99 -I{os.path.relpath(ROOT / 'include', build)} -c '{headers}'"}
    for path, entry in by_file.items():
        if path not in (str(headers), str(ROOT / "tests/array/array_functions.c")):
            entry["command"] += " -DMPNUM_NO_SIMD=1"
    chosen = [{**entry, "file": path, "command": entry["command"].replace(" -Wno-maybe-uninitialized", "")}  # gcc's alone
              for path, entry in by_file.items() if path.endswith(".c")]
    (SCRATCH / "compile_commands.json").write_text(json.dumps(chosen))
    return sorted(entry["file"] for entry in chosen)


def is_spared(path):
    return re.match(r"bench/sections/|tests/(?!fuzz/)", os.path.relpath(path, ROOT))


def cppcheck_is_silent():
    need("cppcheck")
    seen = commands()
    if "all" not in sys.argv:
        entries = json.loads((SCRATCH / "compile_commands.json").read_text())
        # The vector code, which takes a minute, is clang-tidy's alone; the headers are seen once, and where their tables are used.
        for entry in entries:
            entry["command"] += " -DMPNUM_NO_SIMD=1"
            if Path(entry["file"]).parent != SCRATCH and not re.search(r"^ *MPNUM_\w+\(", Path(entry["file"]).read_text(), re.M):
                entry["command"] = re.sub(r" -I\S*\binclude(?= )", "", entry["command"])
        seen = [entry for entry in entries if not is_spared(entry["file"])]
        (SCRATCH / "compile_commands.json").write_text(json.dumps(seen))
    assert len(seen) > 30, len(seen)
    check("cppcheck", "-q", "-j2", f"--project={SCRATCH / 'compile_commands.json'}", "--inline-suppr",
          "--enable=warning,portability,performance", "--error-exitcode=1")


def clang_tidy_is_silent():
    tool = need(f"clang-tidy-{CLANG_TIDY_MAJOR}", "clang-tidy")
    version = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"version (\d+)", version)[1]
    if found != CLANG_TIDY_MAJOR:
        raise tap.Skip(f"clang-tidy {CLANG_TIDY_MAJOR} is not installed, only {found}")
    seen = [path for path in commands() if "all" in sys.argv or not is_spared(path)]
    checks = [] if "all" in sys.argv else ["--checks=-clang-analyzer-*"]
    # One file a process: several in one confuse the analyzer of va_list.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outputs = pool.map(lambda path: toolchain.run(tool, "--quiet", f"--config-file={ROOT / '.clang-tidy'}", *checks,
                                                      "-p", SCRATCH, path), seen)
        failed = [done.stdout for done in outputs if done.returncode != 0]
    findings = sorted(set(re.findall(r".*: (?:error|warning): .*", "".join(failed))))
    assert not failed, "\n".join(findings or failed)


def shell_scripts_are_clean():
    need("shellcheck")
    scripts = [path for path in tracked_files() if re.match(r"#!/bin/(ba)?sh", text_of(path) or "")]
    assert ROOT / "mpnum" in scripts, scripts
    check("shellcheck", *scripts)


with tempfile.TemporaryDirectory() as folder:
    SCRATCH = Path(folder)
    status = tap.run(*([cppcheck_is_silent, clang_tidy_is_silent] if "all" in sys.argv
                       else [cppcheck_is_silent, clang_tidy_is_silent, shell_scripts_are_clean]))
sys.exit(status)
