#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The errors of the f32 functions are those of docs/errors.md: a sample finds no larger one (by a tenth where the
table's row is of a sample, too), and special results are exact.

usage: tests/test_function_errors.py PROGRAM [all]

PROGRAM is tests/function_errors.c. With all it measures every float for the rows that say so, which takes hours,
and finds the same numbers.
"""

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import tap
from tree import ROOT

sys.dont_write_bytecode = True
loader = SourceFileLoader("function_errors", str(ROOT / "tools" / "function-errors"))
tool = module_from_spec(spec_from_loader("function_errors", loader))
loader.exec_module(tool)

if len(sys.argv) < 2:
    print("1..0 # SKIP not found: MPFR")
    sys.exit()
PROGRAM = Path(sys.argv[1])
ROWS = tool.table(tool.DOCUMENT.read_text())
STEP = 4093  # a prime: the low bits vary, too


def sampled_errors_are_no_larger():
    found = tool.measure(PROGRAM, STEP)
    assert list(found) == list(ROWS), f"the table has {list(ROWS)}, measured were {list(found)}"
    larger = [f"{name}: {error} at {at:08x}, the table says {ROWS[name][0]}"
              for name, (error, at, _) in found.items()
              if error > float(ROWS[name][0]) * (1 if int(ROWS[name][3]) == 2**32 else 1.1)]
    assert not larger, "\n".join(larger)


def promised_errors_hold():
    """What the README of a function promises: exp 1.01 places, log 0.73."""
    assert float(ROWS["exp"][0]) <= 1.01 and float(ROWS["log"][0]) <= 0.73, ROWS


def all_floats_give_the_table():
    whole = [name for name, row in ROWS.items() if int(row[3]) == 2**32]
    if not whole:
        raise tap.Skip("no row was measured over all floats")
    for name, found in tool.measure(PROGRAM, 1, whole).items():
        assert tool.row(1, *found) == ROWS[name], f"{name}: {tool.row(1, *found)}, the table says {ROWS[name]}"


sys.exit(tap.run(*([all_floats_give_the_table] if sys.argv[2:] == ["all"]
                   else [sampled_errors_are_no_larger, promised_errors_hold])))
