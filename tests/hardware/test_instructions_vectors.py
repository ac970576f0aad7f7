#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""conformance/instructions.jsonl against the library.

    test_instructions_vectors.py PATH-OF-INSTRUCTIONS-LIBRARY
"""

import json
import sys
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "harness")]

import tap
from manuals import Control, agree, names

FILE = Path(__file__).resolve().parents[2] / "conformance/instructions.jsonl"


def columns(line, key):
    """The words of each case."""
    found = [line[f"{key}{i}"].split() for i in range(8) if f"{key}{i}" in line]
    return [[int(word, 16) for word in case] for case in zip(*found)]


def vectors_agree():
    seen = set()
    for text in FILE.read_text(encoding="utf-8").splitlines()[1:]:
        line = json.loads(text)
        control = Control(**{field: int(value, 16) for field, value in line.get("control", {}).items()})
        want = columns(line, "out")
        agree(line["instruction"], columns(line, "in"), want, len(want[0]), [int(word, 16) for word in line["random"].split()], control)
        seen.add(line["instruction"])
    assert {name for name in names() if "pk32" not in name and "pk16" not in name} == seen


sys.exit(tap.run(vectors_agree))
