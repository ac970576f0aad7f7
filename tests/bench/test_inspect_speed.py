#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How fast `mpnum inspect` reads and how soon a new clone answers. test_inspect_speed.py PROGRAM"""

import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from bench_program import PROGRAM
from tensor_files import entry, floats, safetensors
from tree import ROOT, tracked_files

GIB = 2 ** 30
TENSORS = 16
SHARE = 0.8
ATTEMPTS = 40


def make_file(path):
    """2 GiB of normal values in f32, in the page cache from then on."""
    source = random.Random(1)
    block = floats(*(source.gauss(0, 0.02) for _ in range(2 ** 20)))
    size = 2 * GIB // TENSORS
    header = {f"layers.{i}.weight": entry("F32", [1024, size // 4096], i * size, (i + 1) * size)
              for i in range(TENSORS)}
    with open(path, "wb") as file:
        file.write(safetensors(header))
        for _ in range(2 * GIB // len(block)):
            file.write(block)


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read_seconds(path):
    """One thread that copies out of the page cache."""
    buffer = bytearray(2 ** 18)
    with open(path, "rb", buffering=0) as file:
        begin = time.thread_time()
        while file.readinto(buffer):
            pass
        return time.thread_time() - begin


def inspect_seconds(path):
    """Of two processors that share the work."""
    begin = cpu_seconds()
    subprocess.run([PROGRAM, path], check=True, stdout=subprocess.DEVNULL)
    return (cpu_seconds() - begin) / 2


def a_file_is_read_at_the_speed_of_the_page_cache():
    """By processor time, as others use the machine, too: the best of some turns."""
    if os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 4 * GIB:
        raise tap.Skip("less than 4 GiB of memory are free")
    with tempfile.TemporaryDirectory() as folder:
        if shutil.disk_usage(folder).free < 3 * GIB:
            raise tap.Skip("less than 3 GiB of disk are free")
        path = os.path.join(folder, "model.safetensors")
        make_file(path)
        shares = []
        while len(shares) < ATTEMPTS and max(shares, default=0) < SHARE:
            shares.append(read_seconds(path) / inspect_seconds(path))
    print(f"# {max(shares):.2f} of the page cache's speed, in {len(shares)} attempts")
    assert max(shares) >= SHARE, shares


def a_new_clone_answers_in_30_seconds():
    """By processor time, of which a machine with no one else on it needs no more by the clock."""
    with tempfile.TemporaryDirectory() as folder:
        for path in tracked_files():
            copy = Path(folder) / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)
        before = cpu_seconds()
        done = subprocess.run(["./mpnum", "--no-install", "inspect", "bench/input/sample/digits.safetensors"],
                              cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if "nothing is installed, because of --no-install" in done.stderr:
            raise tap.Skip("the packages of the bench are not installed")
        used = cpu_seconds() - before
    assert done.returncode == 0 and "fc1.weight" in done.stdout, done
    print(f"# {used:.1f} s of processor time")
    assert used < 30, used


sys.exit(tap.run(
    a_file_is_read_at_the_speed_of_the_page_cache,
    a_new_clone_answers_in_30_seconds))
