#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What every file of the project keeps to: format, licence line, no path that leads out of it."""

import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from tree import ROOT, need, text_of, tracked_files

C_SUFFIXES = (".h", ".c", ".cpp", ".hpp", ".inc", ".cu", ".cuh")
CLANG_FORMAT_MAJOR = "14"  # another version formats some lines otherwise

WITHOUT_COMMENTS = {".svg", ".json", ".csv", ".npy", ".safetensors"}
STANDARD_FOLDERS = set("bin boot cdrom dev etc lib lib32 lib64 libx32 lost+found media mnt opt proc run sbin snap "
                       "srv sys tmp usr var".split())


# Formats of others that allow none.
FILES_WITHOUT_COMMENTS = {"LICENSE", "tools/packaging/debian/changelog", "tools/packaging/debian/source/format"}


def name(path):
    return str(path.relative_to(ROOT))


def sources_are_formatted():
    tool = need(f"clang-format-{CLANG_FORMAT_MAJOR}", "clang-format")
    version = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"version (\d+)", version)[1]
    if found != CLANG_FORMAT_MAJOR:
        raise tap.Skip(f"clang-format {CLANG_FORMAT_MAJOR} is not installed, only {found}")
    done = subprocess.run([tool, "--dry-run", *tracked_files(*C_SUFFIXES)], cwd=ROOT, capture_output=True, text=True)
    wrong = sorted(set(re.findall(r"^(.*?):\d+:\d+: warning", done.stderr, re.M)))
    assert not wrong and done.returncode == 0, f"run {tool} -i on {' '.join(wrong) or done.stderr}"


def files_carry_the_licence_line():
    missing = []
    for path in tracked_files():
        text = text_of(path)
        if text is None or name(path) in FILES_WITHOUT_COMMENTS or path.suffix in WITHOUT_COMMENTS or name(path).startswith("bench/results/"):
            continue
        if not any("SPDX-License-Identifier: MIT" in line for line in text.splitlines()[:3]):
            missing.append(name(path))
    assert not missing, missing


def paths_stay_inside_the_project():
    foreign = {entry.name for entry in Path("/").iterdir() if entry.is_dir()} - STANDARD_FOLDERS | {"home", "root"}
    absolute = re.compile(r"(?<![\w.~$})\]*-])/(?:%s)(?![\w-])" % "|".join(map(re.escape, sorted(foreign))))
    upward = re.compile(r"(?<![\w./])(?:\.\./)+\w[\w./-]*")
    found = []
    for path in tracked_files():
        for number, line in enumerate((text_of(path) or "").splitlines(), 1):
            found += [f"{name(path)}:{number}: {match[0]}" for match in absolute.finditer(line)]
            for match in upward.finditer(line):
                targets = [Path(os.path.normpath(base / match[0])) for base in (path.parent, ROOT)]
                if not any(target.exists() and target.is_relative_to(ROOT) for target in targets):
                    found.append(f"{name(path)}:{number}: {match[0]}")
    assert not found, found


def text_has_no_trailing_blanks():
    found = [f"{name(path)}:{number}" for path in tracked_files()
             for number, line in enumerate((text_of(path) or "").split("\n"), 1) if line != line.rstrip()]
    assert not found, found


def modules_of_the_bench_include_without_circles():
    """A module is a header and its source."""
    below = {}
    for path in tracked_files(*C_SUFFIXES):
        if path.is_relative_to(ROOT / "bench"):
            found = {(path.parent / included).resolve() for included in re.findall(r'#include "([^"]+)"', text_of(path))}
            below.setdefault(path.with_suffix(""), set()).update(other.with_suffix("") for other in found if other.exists())
    assert len(below) > 50, len(below)
    while True:  # those that stand on nothing that is left go
        free = [module for module, others in below.items() if not (others & below.keys()) - {module}]
        if not free:
            break
        for module in free:
            del below[module]
    assert not below, f"circles, or what stands on one: {' '.join(sorted(map(name, below)))}"


sys.exit(tap.run(
    sources_are_formatted,
    files_carry_the_licence_line,
    paths_stay_inside_the_project,
    text_has_no_trailing_blanks,
    modules_of_the_bench_include_without_circles,
))
