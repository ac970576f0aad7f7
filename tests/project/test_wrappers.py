#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/wrappers: the headers hold what it writes."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from tree import ROOT

TOOL = "tools/wrappers"
WORD = "mpnum_f32_to_e4m3_sat(float x)"


def wrappers(root, *arguments):
    return subprocess.run([sys.executable, root / TOOL, *arguments], capture_output=True, text=True)


def scratch_copy(folder):
    """What the tool reads and writes, elsewhere."""
    root = Path(folder)
    for name in ("include", "tools", "tests"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    return root


def headers_are_as_written():
    done = wrappers(ROOT)
    assert done.returncode == 0, f"\n{done.stdout[:4000]}{done.stderr}Where this is meant, run tools/wrappers --update."


def a_changed_line_is_shown_and_written_anew():
    with tempfile.TemporaryDirectory() as folder:
        root = scratch_copy(folder)
        header = root / "include/mpnum/types/e4m3.h"
        text = header.read_text()
        assert text.count(WORD) == 1, f"{WORD} is not in e4m3.h"
        header.write_text(text.replace(WORD, WORD.replace("float", "double")))
        done = wrappers(root)
        assert done.returncode == 1, done.stdout
        changed = [line for line in done.stdout.splitlines() if re.match(r"[-+]MPNUM", line)]
        assert len(changed) == 2 and WORD in changed[1], done.stdout
        done = wrappers(root, "--update")
        assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
        assert header.read_text() == text


def a_kind_without_a_place_is_told():
    with tempfile.TemporaryDirectory() as folder:
        root = scratch_copy(folder)
        header = root / "include/mpnum/types/e4m3.h"
        header.write_text(header.read_text().replace("(format e4m3)", "(format e4m4)"))
        for arguments in ([], ["--update"]):
            done = wrappers(root, *arguments)
            assert done.returncode == 1, done.stdout
            assert "format e4m3" in done.stderr and "format e4m4" in done.stderr, done.stderr


def a_wrong_argument_is_told():
    done = wrappers(ROOT, "--check")
    assert done.returncode == 2 and "usage: tools/wrappers" in done.stderr, done.stderr


sys.exit(tap.run(headers_are_as_written, a_changed_line_is_shown_and_written_anew, a_kind_without_a_place_is_told,
                 a_wrong_argument_is_told))
