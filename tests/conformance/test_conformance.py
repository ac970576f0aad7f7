#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The files of conformance/ are what tools/conformance makes of the slow references."""

import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from tree import ROOT, check

TOOL = ROOT / "tools/conformance"


def files_are_those_of_the_references():
    check(TOOL, "--check")


def files_are_small():
    total = sum(path.stat().st_size for path in (ROOT / "conformance").iterdir())
    assert total <= 8 << 20, total


def what_is_not_understood_is_refused():
    for arguments, said in ((["no_such_topic"], "no topic no_such_topic"), (["--no-such-option"], "usage: tools/conformance")):
        done = subprocess.run([TOOL, *arguments], capture_output=True, text=True)
        assert done.returncode == 2 and said in done.stderr and not done.stdout, done


if __name__ == "__main__":
    sys.exit(tap.run(files_are_those_of_the_references, files_are_small, what_is_not_understood_is_refused))
