# SPDX-License-Identifier: MIT
"""The short names of operations and loops (simd/detail/operations.inc): all that the headers use."""

import re

NAME = re.compile(r"(?<!##)\bmpnumv_(\w+)\b(?!##)")


def text(include):
    names = set()
    for path in include.glob("*/detail/*"):
        if path.name != "operations.inc":
            names.update(NAME.findall(re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)))
    width = max(map(len, names))
    return "".join(f"#define mpnumv_{name:<{width}} MPNUM_V_({name})\n" for name in sorted(names))
