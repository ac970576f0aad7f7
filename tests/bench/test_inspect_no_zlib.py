#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`mpnum inspect` built without zlib: arrays that are stored are read.  test_inspect_no_zlib.py PROGRAM"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
import tensor_files
from bench_program import Folder, bench


def stored_members_are_read_and_deflated_ones_refused():
    with Folder(**{name: tensor_files.GOOD[name] for name in ("plain.npz", "deflated.npz")}) as folder:
        code, out, errors = bench("plain.npz", folder=folder)
        assert code == 0 and errors == "" and "2 tensors" in out, (out, errors)
        wanted = "npz: at byte 0 a member is deflated; zlib was not found when this was built"
        assert bench("deflated.npz", folder=folder) == (2, "", f"mpnum inspect: deflated.npz: {wanted}\n")


sys.exit(tap.run(stored_members_are_read_and_deflated_ones_refused))
