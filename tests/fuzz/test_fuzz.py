#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libFuzzer on the readers of tensor files, from the seeds of fuzz/make-seeds, and of saved states.
test_fuzz.py [SECONDS]  for each target, 6 without it. A failing input is printed in base64."""

import os
import shlex
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from toolchain import INCLUDE, named, run
from tree import ROOT, check, need

SECONDS = int(sys.argv[1]) if len(sys.argv) > 1 else 6
SOURCES = [ROOT / "tests/fuzz/fuzz_reader.c",
           ROOT / "bench/core/message.c",
           *(ROOT / "bench/input" / name for name in ("foreign.c", "ggml_blocks.c", "gguf.c", "input.c", "npy.c", "npz.c",
                                                      "safetensors.c"))]

def need_libfuzzer(folder):
    """clang, or a visible skip where it comes without libFuzzer."""
    empty = os.path.join(folder, "empty.c")
    with open(empty, "w") as file:
        file.write("int LLVMFuzzerTestOneInput(const char *data, unsigned long size);\n"
                   "int LLVMFuzzerTestOneInput(const char *data, unsigned long size) { return !data && size; }\n")
    clang = need("clang")
    if run(clang, "-fsanitize=fuzzer", empty, "-o", os.path.join(folder, "empty")).returncode != 0:
        raise tap.Skip("this clang has no libFuzzer")
    return clang

def build(name, folder, *arguments):
    program = os.path.join(folder, name)
    check(need_libfuzzer(folder), "-std=c99", "-O1", "-g", "-fsanitize=fuzzer,address,undefined",
          "-fno-sanitize-recover=all", "-D_GNU_SOURCE", f"-I{INCLUDE}", "-o", program, *arguments)
    return program

def fuzz(program, folder, *seeds):
    corpus = os.path.join(folder, "corpus")
    os.mkdir(corpus)
    check(program, f"-max_total_time={SECONDS}", "-max_len=8192", "-timeout=20", "-rss_limit_mb=2048",
          "-print_final_stats=1", f"-artifact_prefix={folder}/", corpus, *seeds)

def fuzz_reader(kind):
    with tempfile.TemporaryDirectory() as folder:
        need_libfuzzer(folder)
        found = shlex.split(check(need("pkg-config"), "--cflags", "--libs", "jansson", "zlib"))
        program = build(kind, folder, f'-DFUZZ_NAME="fuzz.{kind}"', "-DBENCH_HAVE_JANSSON=1", "-DBENCH_HAVE_ZLIB=1",
                        f"-I{ROOT / 'bench'}", *SOURCES, *found)
        seeds = os.path.join(folder, "seeds")
        check(sys.executable, ROOT / "tests/fuzz/make-seeds", seeds)
        fuzz(program, folder, os.path.join(seeds, kind))

def saved_scalers_survive_libfuzzer():
    with tempfile.TemporaryDirectory() as folder:
        fuzz(build("scaler", folder, ROOT / "tests/fuzz/fuzz_scaler.c", "-lm"), folder)

def saved_histories_survive_libfuzzer():
    with tempfile.TemporaryDirectory() as folder:
        fuzz(build("history", folder, ROOT / "tests/fuzz/fuzz_history.c", "-lm"), folder)

READERS = [named(f"{kind}_reader_survives_libfuzzer", fuzz_reader, kind) for kind in ("gguf", "npy", "npz", "safetensors")]
sys.exit(tap.run(*READERS, saved_scalers_survive_libfuzzer, saved_histories_survive_libfuzzer))
