#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every host function of arrays, rows, blocks and gradients is a subject of a program of laws, or stands here with the
reason why no law is about it.

usage: test_law_table.py PROGRAM...
"""

import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
import toolchain

# Pattern of the end of a name, and why.
LEFT_OUT = {
    "mpnum_isa_name": "of no array",
    "mpnum_isa_in_use": "of no array",
    "mpnum_isa_force": "of no array",
}
# What makes a value that others take: no array is read.
MAKERS = ("_of", "_none", "_default", "_empty")


def subjects():
    names = []
    for program in sys.argv[1:]:
        names += subprocess.run([program, "--names"], check=True, capture_output=True, text=True).stdout.split()
    return names


def every_function_obeys_laws():
    api, known = toolchain.load_api().Api(), set(subjects())
    wanted = {name for name in api.host_only & set(api.functions)
              if name not in LEFT_OUT and not name.endswith(MAKERS) and not api.homes[name] == "language_types.h"}
    missing, unknown = wanted - known, known - set(api.functions)
    assert not missing, f"in no table of tests/laws: {' '.join(sorted(missing))}"
    assert not unknown, f"no public function: {' '.join(sorted(unknown))}"


def no_function_has_two_rows():
    names = subjects()
    assert len(names) == len(set(names)), sorted(name for name in set(names) if names.count(name) > 1)


sys.exit(tap.run(every_function_obeys_laws, no_function_has_two_rows))
