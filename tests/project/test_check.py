#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./mpnum check finds in a copy of the sources what a commit breaks, and nothing in one that is whole."""

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import scratch
import tap
from tree import check, need


def faults_are_found():
    need("clang-format-14", "clang-format")
    with tempfile.TemporaryDirectory() as folder:
        root = scratch.copy(folder)
        check("git", "init", "-q", cwd=root)
        check("git", "add", "-A", cwd=root)
        whole = subprocess.run([root / "tools/check"], capture_output=True, text=True)
        assert whole.returncode == 0 and " passed, 0 failed, " in whole.stdout, whole.stdout
        for name, before, after in (
                ("include/mpnum/core/rng.h", "typedef struct mpnum_u32x4 {", "typedef struct  mpnum_u32x4 {"),
                ("include/mpnum/training/probe.h", "mpnum_probe_empty(void)", "mpnum_probe_nothing(void)"),
                ("include/mpnum/array/stats.h", "core/query.h", "core/format.h"),
                ("docs/laws.md", "(cuda.md)", "(cude.md)")):
            text = (root / name).read_text()
            assert before in text, (name, before)
            (root / name).write_text(text.replace(before, after))
        broken = subprocess.run([root / "tools/check"], capture_output=True, text=True)
        for part in ("sources_are_formatted", "api_txt_is_current", "each_header_alone_and_twice", "links_lead_somewhere"):
            assert f"- {part}" in broken.stdout, (part, broken.stdout[-3000:])
        assert broken.returncode == 1, broken


sys.exit(tap.run(faults_are_found))
