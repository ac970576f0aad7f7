# SPDX-License-Identifier: MIT
"""Copies of the headers in which something is different."""

import shutil
from pathlib import Path

from toolchain import INCLUDE


def replaced(text, *changes):
    """The text with each old part, which stands there once, in its new form."""
    for old, new in changes:
        assert text.count(old) == 1, f"{text.count(old)} times: {old}"
        text = text.replace(old, new)
    return text


def changed(folder, name, *changes):
    """The headers, copied into a folder, of which one has changes."""
    shutil.copytree(INCLUDE, f"{folder}/include")
    path = Path(folder, "include/mpnum", name)
    path.write_text(replaced(path.read_text(), *changes))
    return f"{folder}/include"
