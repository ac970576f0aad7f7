#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The examples do what they say.

usage: tests/project/test_examples.py host CONVERT CONTRASTIVE_LOSS
       tests/project/test_examples.py device QUANTIZE_KERNEL|- QUANTIZE_MX|- SOFTMAX_KERNEL|- NVRTC|- TRAIN_STEP|-
"""

import math
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from tree import ROOT

PROGRAMS = sys.argv[2:]
CONVERT, CONTRASTIVE_LOSS = PROGRAMS[:2]
QUANTIZE, QUANTIZE_MX, SOFTMAX, NVRTC, TRAIN_STEP = PROGRAMS if PROGRAMS[2:] else [None] * 5


def run(program, *arguments):
    if program == "-":
        raise tap.Skip("not built: no nvcc or no NVRTC")
    # NVRTC opens a library beside its own by name.
    toolkit = Path(os.path.realpath(os.environ.get("MPNUM_NVCC") or "/usr/local/cuda/bin/nvcc")).parents[1]
    folders = [str(toolkit / folder) for folder in ("lib64", "lib")]
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C", "LD_LIBRARY_PATH": ":".join(folders)})
    return done.returncode, done.stdout, done.stderr


def convert_rounds_the_numbers_it_is_given():
    code, output, _ = run(CONVERT, "500")
    assert code == 0 and "e4m3  code 007e  value 448" in output, output  # 500 is past the largest
    assert run(CONVERT, "five")[::2] == (2, "convert: not a number: five\n")
    assert run(CONVERT)[::2] == (2, "usage: convert NUMBER...\n")


def contrastive_loss_shows_where_the_textbook_overflows():
    code, output, _ = run(CONTRASTIVE_LOSS)
    rows = [tuple(map(float, line.split())) for line in output.splitlines()[1:]]
    assert code == 0 and len(rows) == 8, output
    for temperature, textbook, stable in rows:
        assert 0 <= stable < 5, output
        # e^(1 / temperature) is above 65504 from 1 / 0.09 on
        assert math.isinf(textbook) if temperature < 0.09 else abs(textbook - stable) < 0.005, output


def agrees_with_the_host_or_says_what_is_missing(name, program, agreement):
    code, output, errors = run(program)
    if code == 0:
        assert agreement in output, output
    else:
        assert code == 1 and not output and errors.startswith(f"{name}: ") and errors.count("\n") == 1, errors
        raise tap.Skip("no GPU: " + errors.strip())


def quantize_kernel_agrees_with_the_host_or_says_what_is_missing():
    agrees_with_the_host_or_says_what_is_missing("quantize_kernel", QUANTIZE, "1000003 values, 0 differ from the host")


def quantize_mx_agrees_with_the_host_or_says_what_is_missing():
    agrees_with_the_host_or_says_what_is_missing("quantize_mx", QUANTIZE_MX, ", 0 differ from the host")


def softmax_kernel_agrees_with_the_host_or_says_what_is_missing():
    agrees_with_the_host_or_says_what_is_missing("softmax_kernel", SOFTMAX, " 0 by more than a place")


def nvrtc_compiles_a_kernel_that_includes_mpnum():
    for architecture, instruction in (("compute_80", None), ("compute_90", "cvt.rn.satfinite.e4m3x2.f32")):
        code, output, errors = run(NVRTC, ROOT / "include", architecture)
        assert code == 0 and ".visible .entry quantize" in output, errors
        assert instruction in output if instruction else "satfinite" not in output


def nvrtc_says_what_it_cannot_compile():
    code, output, errors = run(NVRTC, "/nowhere")
    assert code == 1 and not output and "mpnum/mpnum.h" in errors, errors
    assert run(NVRTC)[::2] == (2, "usage: nvrtc INCLUDE_FOLDER [ARCHITECTURE]\n")


def train_step_skips_on_the_device_or_says_what_is_missing():
    assert run(TRAIN_STEP, 0)[::2] == (2, "usage: train_step [STEPS]\n")
    code, output, errors = run(TRAIN_STEP, 1000)
    if code == 0:
        rows = re.findall(r"step (\d+): error (\S+), scale (\S+), (\d+) applied, (\d+) skipped", output)
        assert [row[0] for row in rows] == ["1", "1000"] and float(rows[1][1]) < 0.5 * float(rows[0][1]), output
        assert int(rows[1][3]) + int(rows[1][4]) == 1000 and int(rows[1][4]) >= 10, output
    else:
        assert code == 1 and not output and errors.startswith("train_step: ") and errors.count("\n") == 1, errors
        raise tap.Skip("no GPU: " + errors.strip())


PROPERTIES = {
    "host": [convert_rounds_the_numbers_it_is_given, contrastive_loss_shows_where_the_textbook_overflows],
    "device": [quantize_kernel_agrees_with_the_host_or_says_what_is_missing,
               quantize_mx_agrees_with_the_host_or_says_what_is_missing,
               softmax_kernel_agrees_with_the_host_or_says_what_is_missing,
               nvrtc_compiles_a_kernel_that_includes_mpnum, nvrtc_says_what_it_cannot_compile,
               train_step_skips_on_the_device_or_says_what_is_missing],
}
sys.exit(tap.run(*PROPERTIES[sys.argv[1]]))
