#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR CC0-1.0
"""run.py convert_f64.jsonl f16 ieee nearest_even

Runs a conversion from f64 against the vectors: put yours in the place of this one."""

import json
import struct
import sys


def yours(bits):
    x = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
    try:
        code = struct.unpack("<H", struct.pack("<e", x))[0]
    except OverflowError:  # Inf, by IEEE 754
        code = 0xfc00 if x < 0 else 0x7c00
    return 0x7fff if x != x else code


name, to, overflow, rounding = sys.argv[1:]
cases, differ = 0, []
with open(name, encoding="utf-8") as lines:
    next(lines)  # it describes the others
    for vector in map(json.loads, lines):
        if vector["to"] == to and vector["overflow"] in (overflow, "any"):
            for source, want in zip(vector["in"].split(), vector[rounding].split()):
                cases += 1
                if yours(int(source, 16)) != int(want, 16):
                    differ.append(f"{source}: {yours(int(source, 16)):x}, want {want}")
print("\n".join(differ[:5] + [f"{cases} cases, {len(differ)} differ"]))
sys.exit(not cases or bool(differ))
