#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/gpu-shares: its rule, and that docs/cuda.md has what it prints."""

import math
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
import toolchain
from tree import ROOT

TOOL = ROOT / "tools/gpu-shares"
tool = toolchain.load_tool("gpu-shares")


def shares_fall_beyond_what_can_be_issued():
    """An H200 issues 8 a byte: 28 instructions for 5 bytes are 5.6, 0.7 of that; twice as many reach half."""
    assert tool.share(28, 5, 8) == tool.share(1, 5, 8) == 0.92
    assert math.isclose(tool.share(56, 5, 8), 0.46) and math.isclose(tool.share(56, 5, 16), 0.92)


def every_kernel_of_the_counts_has_a_row():
    rows = [line for line in tool.table(True).splitlines()[2:]]
    counted = tool.COUNTS.read_text().split(tool.TITLE)[1].splitlines()
    counted += tool.ROW_COUNTS.read_text().split(tool.ROW_TITLE)[1].splitlines()
    assert len(rows) == sum(line[:1].isalpha() for line in counted) > 40, len(rows)


def rows_and_gradients_move_what_they_read_and_write():
    """Gradients of rows read those of the results and either the results or the source."""
    moved = {what: count for what, count, _ in tool.row_kernels()}
    want = {"softmax f32": 8, "cross entropy f16": 4, "softmax backward f16": 6, "rms norm f16 to e4m3": 3,
            "grad f32 in place": 8, "grad bf16 to f32": 6, "grad f16 to f32 apart": 6}
    assert {name: moved[name + ", PTX"] for name in want} == want, moved


def the_page_has_what_is_printed():
    page = tool.PAGE.read_text()
    assert tool.with_table(page) == page, "Where this is meant, run tools/gpu-shares --update."


def other_arguments_are_refused():
    done = subprocess.run([TOOL, "--update", "x"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done


sys.exit(tap.run(shares_fall_beyond_what_can_be_issued, every_kernel_of_the_counts_has_a_row,
                 rows_and_gradients_move_what_they_read_and_write,
                 the_page_has_what_is_printed, other_arguments_are_refused))
