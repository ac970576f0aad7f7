#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The scaler, its handles, what they save and load, and the core's tables access no memory that is not theirs, read no
member that is not set, and make no shift or signed sum that C does not define, of any bytes and members: Frama-C's
Eva, an abstract interpreter, raises no alarm in memory.c but those below, which other proofs refute.

usage: tests/proof/test_memory.py
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from headers import changed
from toolchain import INCLUDE, named
from tree import check

HERE = Path(__file__).resolve().parent
# What Eva, which keeps an interval for each value but no relation between two, cannot exclude; why it does not happen.
REFUTED = {
    ("round.h", "invalid RHS operand for shift. assert 0 ≤ moved < 32;"): "decode, in test_proof.py",
    ("wide.h", "invalid RHS operand for shift. assert 0 ≤ down < 64;"): "wide_sum, in test_proof.py",
    ("scaler.h", "signed overflow. assert -2147483648 ≤ config.growth_interval - 1;"): "scaler_configure, in test_proof.py",
    ("stored.h", "signed overflow. assert -((int32_t)((uint32_t)(~bits))) ≤ 2147483647;"):
        "the top bit of bits is set there, so that of ~bits is not",
}


def alarms(include):
    share = check("frama-c", "-print-share-path")
    said = check("frama-c", "-machdep", "gcc_x86_64", "-cpp-command", f"gcc -E -C -I {include} -DMPNUM_NO_SIMD=1 "
                 f"-D__builtin_memcpy=memcpy -nostdinc -I {share}/libc", "-cpp-frama-c-compliant", "-kernel-warn-key",
                 "CERT:EXP:46=inactive", "-eva", "-eva-precision", "1", "-warn-special-float", "none", HERE / "memory.c")
    assert "ANALYSIS SUMMARY" in said, said[-2000:]
    found = re.findall(r"^\[eva:alarm\] (\S+):\d+: Warning: \n((?:  .*\n)+)", said, re.M)
    return {(Path(name).name, " ".join(text.split())) for name, text in found}, said


def nothing_undefined_is_left():
    found, said = alarms(INCLUDE)
    assert found == set(REFUTED), found ^ set(REFUTED)
    reached = int(re.search(r"(\d+) functions analyzed", said)[1])
    assert reached > 120, f"{reached} functions only"


# What would write behind a copy and behind bytes, and read behind an array.
FAULTS = [
    ("training/scaler_io.h", "uint8_t copy[MPNUM_GRAD_SCALER_BYTES] =", "uint8_t copy[MPNUM_GRAD_SCALER_BYTES - 4] ="),
    ("training/scaler_io.h", "mpnum_stored_seal_(bytes, MPNUM_GRAD_OPTIMIZER_BYTES);", "mpnum_stored_seal_(bytes, 128);"),
    ("training/scaler_io.h", "for (; i < 2; ++i) {", "for (; i <= 2; ++i) {"),
]


def is_found(name, *change):
    with tempfile.TemporaryDirectory() as folder:
        found, _ = alarms(changed(folder, name, change))
    assert found - set(REFUTED), "not seen"
    print(f"# {found - set(REFUTED)}")


if __name__ == "__main__":
    if not shutil.which("frama-c"):
        print("1..0 # SKIP not found: frama-c")
        sys.exit()
    faults = [named(f"fault_{number}_is_found", is_found, *fault) for number, fault in enumerate(FAULTS, 1)]
    sys.exit(tap.run(nothing_undefined_is_left, *faults))
