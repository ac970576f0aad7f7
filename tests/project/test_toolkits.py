#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/toolkits: what it reads of compilers, what it tells of them. test_toolkits.py [exhaustive], with releases from PyPI."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from toolchain import load_tool
from tree import ROOT

TOOL = ROOT / "tools/toolkits"
tool = load_tool("toolkits")
SAID = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z5firstPf' for 'sm_90'
ptxas info    : Function properties for _Z5firstPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, used 1 barriers
ptxas info    : Compiling entry function '_Z6secondPf' for 'sm_90'
    32 bytes stack frame, 28 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 64 registers
"""
# As nvcc: it says what FAKE_SAYS says, and fails with FAKE_STATUS.
NVCC = """#!/bin/sh
case "$*" in *compute_75*) echo "nvcc fatal: Unsupported gpu architecture 'compute_75'" >&2; exit 1 ;; esac
cat "$(dirname "$0")/says" >&2
"""


def what_ptxas_says_is_read():
    assert tool.read_report(SAID, {"_Z5firstPf": 512}) == {"_Z5firstPf": (24, 0, 512), "_Z6secondPf": (64, 44, 0)}
    assert "kernels_norm" in tool.units() and "blas" not in tool.units() and all((ROOT / f"bench/gpu/{unit}.cu").exists() for unit in tool.units())


def worse_is_what_spills_or_grows():
    first = {"a": (40, 0, 1000), "b": (40, 8, 1000), "c": (40, 0, 1000), "d": (40, 0, 1000), "only": (1, 0, 1)}
    other = {"a": (40, 4, 1000), "b": (40, 8, 1240), "c": (52, 0, 1000), "d": (30, 0, 1300), "new": (255, 99, 1)}
    assert [name for _, _, name, _ in tool.differences(first, other)] == ["a", "d", "c"]


def said_of(versions, *options, folder):
    done = subprocess.run([sys.executable, TOOL, "--folder", folder, "--units", "kernels_norm", *options, *versions], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def releases_are_told_apart():
    with tempfile.TemporaryDirectory() as folder:
        for version, says in (("13.0.1", SAID), ("13.1.1", SAID.replace("28 bytes spill stores", "99 bytes spill stores")),
                              ("13.2.1", SAID + "a.cu(3): warning #177-D: never used\n")):
            place = Path(folder, version, "nvidia/cu13/bin")
            place.mkdir(parents=True)
            (place / "nvcc").write_text(NVCC)
            (place / "nvcc").chmod(0o755)
            (place / "says").write_text(says)
            Path(folder, version, "whole").touch()
        status, said, _ = said_of(("13.0.1", "13.0.1"), "--targets", "90", folder=folder)
        assert status == 0 and said.count("sm_90 by 13.0.1: 2 kernels, 0 KiB of code, 1 spill 44 bytes, 0 warnings") == 1, said
        status, said, _ = said_of(("13.0.1", "13.1.1"), "--targets", "90", folder=folder)
        assert status == 1 and "13.1.1 beside 13.0.1: second: registers 64 to 64, spilled 44 to 115 bytes" in said, said
        status, said, _ = said_of(("13.0.1", "13.2.1"), "--targets", "90", folder=folder)
        assert status == 1 and "1 warnings\n  a.cu(3): warning #177-D: never used" in said, said
        status, said, _ = said_of(("13.0.1",), "--targets", "75", folder=folder)
        assert status == 1 and "Unsupported gpu architecture" in said, said
        for arguments, says in ((("13",), "13 is no release"), (("--units", "none", "13.0.1"), "no unit none: ")):
            status, said, errors = said_of(arguments, folder=folder)
            assert status == 2 and errors.startswith(f"toolkits: {says}") and errors.count("\n") == 1 and not said, errors


def two_releases_compile_the_launchers():
    """For three targets: nothing warns, and the later one spills no more."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, TOOL, "--folder", folder, "--targets", "80,90,100a", "13.0.88", "13.5.37"], capture_output=True, text=True)
    if "cannot be had from PyPI" in done.stderr:
        raise tap.Skip("no nvcc from PyPI")
    print("".join(f"# {line}\n" for line in done.stdout.splitlines()))
    assert done.returncode == 0, done.stderr


TESTS = (what_ptxas_says_is_read, worse_is_what_spills_or_grows, releases_are_told_apart)
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
sys.exit(tap.run(*((two_releases_compile_the_launchers,) if sys.argv[1:] == ["exhaustive"] else TESTS)))
