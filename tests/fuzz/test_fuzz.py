#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libFuzzer on readers of tensor files, saved states and what else is soon built, or with --all on every target.
test_fuzz.py [--all] [SECONDS]  for each target, 3 without it. A failing input is printed in base64: a line for its
corpus."""

import sys
import tempfile

import targets
from targets import tap
from toolchain import named

ARGUMENTS = sys.argv[1:]
TAKES_ALL = "--all" in ARGUMENTS
SECONDS = int(([word for word in ARGUMENTS if word != "--all"] or ["3"])[0])
SOON = ("gguf", "npy", "npz", "safetensors", "scaler", "history")


def fuzz(name):
    with tempfile.TemporaryDirectory() as folder:
        targets.run_fuzzer(name, targets.build(name, folder), folder, SECONDS)


sys.exit(tap.run(*[named(f"{name}_survives_libfuzzer", fuzz, name) for name in (targets.TARGETS if TAKES_ALL else SOON)]))
