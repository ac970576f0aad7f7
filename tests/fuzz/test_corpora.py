#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every input of the corpora of fuzzers through its target, built without libFuzzer: no promise is broken.

usage: test_corpora.py NAME PROGRAM..."""

import os
import sys
import tempfile

import targets
from targets import tap
from toolchain import named, run
from tree import check


def replay(name, program):
    with tempfile.TemporaryDirectory() as folder:
        corpus = os.path.join(folder, "corpus")
        inputs = targets.unpack_corpus(name, corpus)
        assert len(inputs) > 20, f"{len(inputs)} inputs"
        environment = {"cwd": corpus, "env": {**os.environ, "TMPDIR": folder}}
        if run(program, *inputs, **environment).returncode != 0:
            for one in inputs:  # the first says which
                check(program, one, **environment)
            check(program, *inputs, **environment)


WORDS = sys.argv[1:]
sys.exit(tap.run(*[named(f"the_corpus_of_{name}_breaks_no_promise", replay, name, os.path.abspath(program))
                   for name, program in zip(WORDS[::2], WORDS[1::2], strict=True)]))
