#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/conformance --against: other stacks on the files of conformance/, and why they differ."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from tree import ROOT
from witness import load

TOOL = ROOT / "tools/conformance"


def other_stacks_are_compared():
    """Those of compilers, which are correct, or a reason; and one whose folder nobody names."""
    environment = {name: value for name, value in os.environ.items() if name != "FP16"}
    done = subprocess.run([TOOL, "--against", "GCC", "F16C", "FP16"], capture_output=True, text=True, env=environment)
    rows = done.stdout.splitlines()[2:]
    assert done.returncode == 0 and len(rows) == 3, done
    assert all(re.search(r"\| 0 \|$|SKIP: ", row) for row in rows[:2]) and rows[2].startswith("| FP16 | SKIP: FP16=FOLDER names it"), rows


def load_stacks():
    sys.path.append(str(ROOT / "tools"))
    sys.dont_write_bytecode = True
    import conformance_stacks
    return conformance_stacks


def to_e4m3(change):
    """A stack of one conversion whose expected codes are changed; the input is the bits of an f32."""
    stacks = load_stacks()
    want = {int(word, 16): int(code, 16) for line in stacks.vectors_of("f32") if line["to"] == "e4m3" and line["overflow"] != "saturate"
            for word, code in zip(line["in"].split(), line["nearest_even"].split())}
    stacks.STACKS["changed"] = lambda: ("1", [("f32", "e4m3", "ieee", "nearest_even", lambda words: [change(word, want[word]) for word in words])])
    result = stacks.compare("changed")
    return stacks, result, {key[3]: entry[0] for key, entry in result.differing.items()}


def what_differs_has_its_cause():
    """By hand: where there is nothing else to say, no cause is given, and that is a failure."""
    is_nan = lambda word: word & 0x7fffffff > 0x7f800000
    for change, cause, count in (
            (lambda word, code: code, None, 0),
            (lambda word, code: 0x7e if is_nan(word) else code, "NaN is lost", 8),
            (lambda word, code: 0x7f if word == 0x43e7ffff else code, "clips first", 1),
            (lambda word, code: 0x7e if word == 0x43f00000 else code, "saturates", 1),
            (lambda word, code: 0x38 if word == 0x3f880001 else code, "truncates", 1),
            (lambda word, code: 0x3a if word == 0x3f880001 else code, "unexplained", 1)):
        stacks, result, causes = to_e4m3(change)
        assert result.cases == 1610 and result.count == count, (cause, result.count)
        assert causes == ({} if not count else {None if cause == "unexplained" else cause: count}), causes
        assert stacks.unexplained([result]) == (cause == "unexplained"), cause
        assert (f"| {stacks.CAUSES.get(cause, 'unexplained')} |" in stacks.tables([result])) == bool(count), stacks.tables([result])


def blocks_that_differ_have_their_cause():
    """What is expected, but for zeros without a sign, blocks with Inf and NaN, a scale of 2^-127, and one code."""
    np = load("numpy")
    stacks = load_stacks()
    with open(ROOT / "conformance/blocks.jsonl", encoding="utf-8") as lines:
        blocks = [line for line in map(json.loads, lines) if (line.get("element"), line.get("rule")) == ("e4m3", "floor")]
    words = lambda key: np.array([[int(word, 16) for word in line[key].split()] for line in blocks], np.uint32)
    back, scales, codes = words("back"), words("scale").reshape(-1), words("codes")
    of_nan, zeros, least = (back & 0x7fffffff > 0x7f800000).any(1), back == 1 << 31, (scales == 0) & (codes & 0x7f).any(1)
    assert of_nan.sum() == 96 and zeros.any(1).sum() > 3 and least.sum() > 3, (of_nan.sum(), zeros.any(1).sum(), least.sum())
    changed = np.where(zeros, 0, np.where(of_nan[:, None], 0x7f800000, back)).astype(np.uint32)
    coded = np.where(least[:, None], 0, codes)
    coded[np.flatnonzero(scales > 0)[0], 3] ^= 1
    for made, want in (([back.view(np.float32)], {}),
                       ([changed.view(np.float32)], {"Inf and NaN": 96, "zero": zeros.any(1).sum()}),
                       ([[None] * len(blocks)], {"Inf and NaN": 96, None: len(blocks) - 96}),
                       ([scales, coded], {"least scale": least.sum(), None: 1})):
        stacks.STACKS["changed"] = stacks.BLOCK_STACKS["changed"] = lambda made=made: ("1", [("e4m3", "floor", lambda x: made)])
        result = stacks.compare("changed")
        assert result.cases == len(blocks) and {key[3]: entry[0] for key, entry in result.differing.items()} == want, (result.differing, want)
        assert stacks.unexplained([result]) == (None in want) and stacks.tables([result]).count("| changed |") == 1 + len(want)


if __name__ == "__main__":
    sys.exit(tap.run(other_stacks_are_compared, what_differs_has_its_cause, blocks_that_differ_have_their_cause))
