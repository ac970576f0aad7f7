#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a public header brings into a user's file: the lines of mpnum's own that the preprocessor leaves of it and of
what it includes, blank ones apart, against the limits of tests/project/header_lines.txt. Lines of the system's headers do not
count, so that the number is that of the headers, not of the machine.

usage: tests/project/test_header_lines.py [--update]

--update writes tests/project/header_lines.txt: what was measured now, and 3 % more."""

import re
import subprocess
import sys
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[1] / room) for room in ["harness", "bits"]]

import tap
from test_bits import read_lines
from toolchain import INCLUDE
from tree import ROOT, check, need

OWN = INCLUDE / "mpnum"
LIMITS = ROOT / "tests/project/header_lines.txt"
HEADER = """\
# SPDX-License-Identifier: MIT
# The most lines of mpnum's own that each header may be after preprocessing. See tests/project/test_header_lines.py.
"""
# The macros of one user: plain C99, every instruction set.
FLAGS = ["-E", "-std=c99", "-DMPNUM_NO_SIMD=0", "-DMPNUM_NO_DISPATCH=0"]
MARKER = re.compile(r'# \d+ "(.*)"')


def own_lines(text):
    """Lines that are not blank, after a marker that names a file of mpnum."""
    count, own = 0, False
    for line in text.splitlines():
        marker = MARKER.match(line)
        if marker:
            own = marker[1].startswith("./mpnum/")
        else:
            count += own and not line.isspace() and line != ""
    return count


def measure():
    """{header: its lines}"""
    need("gcc")
    target = check("gcc", "-dumpmachine").strip()
    if not target.startswith("x86_64"):
        raise tap.Skip(f"the limits are those of x86-64, and gcc compiles for {target}")
    lines = {}
    for path in sorted(OWN.rglob("*.h")):
        # From there: in the markers special characters of its path would have escapes.
        done = subprocess.run(["gcc", *FLAGS, "-I", ".", "-x", "c", "-"], input=f"#include <mpnum/{path.relative_to(OWN)}>\n",
                              capture_output=True, text=True, cwd=INCLUDE)
        assert done.returncode == 0, f"{path}: {done.stderr}"
        lines[str(path.relative_to(OWN))] = own_lines(done.stdout)
    return lines


def headers_stay_within_their_lines():
    limits, lines = {name: int(limit) for name, limit in read_lines(LIMITS.read_text()).items()}, measure()
    problems = [f"{name}: {count} lines, {limits.get(name, 'none')} allowed" for name, count in lines.items()
                if count > limits.get(name, -1)]
    problems += [f"{name}: a limit without a header" for name in limits if name not in lines]
    assert not problems, "\n".join([
        "", *problems,
        "Every user compiles these lines. If they are meant, tests/project/test_header_lines.py --update raises the limits;",
        "say in the commit what they are for."])


def only_lines_of_mpnum_count():
    """Of a text as gcc prints it: neither the system's lines, nor blank ones, nor markers."""
    text = '# 1 "<stdin>"\nint a;\n# 1 "./mpnum/a.h" 1\nint b;\n\n  \n# 2 "./mpnum/cuda/c.h" 1 3\nint c;\nint d;\n' \
           '# 1 "./other.h" 1\nint e;\n# 9 "./mpnum/a.h" 2\nint f;\n# 2 "<stdin>" 2\nint g;\n'
    assert own_lines(text) == 4, own_lines(text)


def with_room(lines):
    """3 % more, up to a multiple of 10."""
    return -(-lines * 103 // 1000) * 10


def main():
    if sys.argv[1:] == ["--update"]:
        LIMITS.write_text(HEADER + "".join(f"{name} {with_room(lines)}\n" for name, lines in measure().items()))
        return 0
    if len(sys.argv) > 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return tap.run(only_lines_of_mpnum_count, headers_stay_within_their_lines)


if __name__ == "__main__":
    sys.exit(main())
