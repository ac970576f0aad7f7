# SPDX-License-Identifier: MIT
"""The rows of tests/func/function_rows.h."""

import re

from tree import ROOT


def rows(which):
    """{name: the places that are promised} of TIMED_FUNCTIONS or UNTIMED_FUNCTIONS"""
    text = (ROOT / "tests/func/function_rows.h").read_text()
    table = re.search(rf"#define {which}\(ROW\)((?:.*\\\n)*.*\n)", text)[1]
    found = re.findall(r"\bROW\((\w+),.*?, ([\d.]+), [01]\)", table, re.S)
    assert len(found) == table.count("ROW("), found
    return {name: float(places) for name, places in found}
