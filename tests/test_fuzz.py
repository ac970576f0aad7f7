#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libFuzzer on the readers of tensor files, from the seeds of fuzz/make-seeds.
test_fuzz.py [SECONDS]  for each reader, 20 without it. A failing input is printed in base64."""

import os
import shlex
import sys
import tempfile

import tap
from toolchain import INCLUDE, named, run
from tree import ROOT, check, need

SECONDS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
SOURCES = [ROOT / "tests/fuzz/fuzz_reader.c",
           *(ROOT / "bench" / name for name in ("input.c", "message.c", "npy.c", "safetensors.c"))]


def build(kind, folder):
    """The target, or a visible skip where clang comes without libFuzzer."""
    empty = os.path.join(folder, "empty.c")
    with open(empty, "w") as file:
        file.write("int LLVMFuzzerTestOneInput(const char *data, unsigned long size);\n"
                   "int LLVMFuzzerTestOneInput(const char *data, unsigned long size) { return !data && size; }\n")
    clang, program = need("clang"), os.path.join(folder, kind)
    if run(clang, "-fsanitize=fuzzer", empty, "-o", program).returncode != 0:
        raise tap.Skip("this clang has no libFuzzer")
    jansson = shlex.split(check(need("pkg-config"), "--cflags", "--libs", "jansson"))
    check(clang, "-std=c99", "-O1", "-g", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all",
          "-D_GNU_SOURCE", f'-DFUZZ_NAME="fuzz.{kind}"', f"-I{INCLUDE}", f"-I{ROOT / 'bench'}", *SOURCES,
          "-o", program, *jansson)
    return program


def fuzz(kind):
    with tempfile.TemporaryDirectory() as folder:
        program = build(kind, folder)
        seeds, corpus = os.path.join(folder, "seeds"), os.path.join(folder, "corpus")
        check(sys.executable, ROOT / "tests/fuzz/make-seeds", seeds)
        os.mkdir(corpus)
        check(program, f"-max_total_time={SECONDS}", "-max_len=8192", "-timeout=20", "-rss_limit_mb=2048",
              "-print_final_stats=1", f"-artifact_prefix={folder}/", corpus, os.path.join(seeds, kind))


sys.exit(tap.run(*(named(f"{kind}_reader_survives_libfuzzer", fuzz, kind) for kind in ("npy", "safetensors"))))
