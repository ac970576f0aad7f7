# SPDX-License-Identifier: MIT
"""Files of counts: a row for each name, a column for each target, and the version of nvcc whose counts they are."""

import re

import tap
from ptx import calls


def lines_of(title, targets, rows):
    """Lines of a table; rows are lists of cells, the name first."""
    rows = [[f"# {title}", *[f"sm_{arch}" for arch in targets]], *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [" ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def recorded(text, names):
    """{name: cells} of a table; skipped where they are another nvcc's."""
    version = re.search(r"nvcc ([\d.]+?)\.?$", text, re.M)
    if not version or version[1] != calls.nvcc_version():
        raise tap.Skip(f"the counts are of nvcc {version and version[1]}, this is {calls.nvcc_version()}")
    found = {line.split()[0]: line.split()[1:] for line in text.splitlines() if not line.startswith("#")}
    assert set(found) == set(names), set(found) ^ set(names)
    return found


def compare(problems, script):
    assert not problems, "\n".join(problems[:60]) + (
        f"\n{len(problems)} have other counts: look at why, then run tests/cuda/ptx/{script} --update")
