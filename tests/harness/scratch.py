# SPDX-License-Identifier: MIT
"""A copy of the sources in which a recipe of CONTRIBUTING.md is followed."""

import re
from pathlib import Path

from tree import ROOT, tracked_files


def copy(folder):
    root = Path(folder) / "copy"
    for path in tracked_files():
        made = root / path.relative_to(ROOT)
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_bytes(path.read_bytes())
        made.chmod(path.stat().st_mode)
    return root


def steps(recipe):
    """The numbered steps of a recipe, which begins with its name in bold."""
    text = re.search(rf"^\*\*{recipe}\*\*.*?(?=^\*\*|^## )", (ROOT / "CONTRIBUTING.md").read_text(), re.M | re.S)[0]
    return re.findall(r"^\d\. (.*?)(?=^\d\. |\n\n|\Z)", text, re.M | re.S)


def insert(path, before, text):
    """Text before the line that begins so, the only one."""
    whole = path.read_text()
    assert ("\n" + whole).count("\n" + before) == 1, f"{path.name}: {before}"
    place = ("\n" + whole).index("\n" + before)
    path.write_text(whole[:place] + text + whole[place:])


def follow(root, places):
    """Makes the changes (file, line, text before it); a file that is not there yet has no line. Returns the files."""
    for name, before, text in places:
        if before is None:
            (root / name).write_text(text)
        else:
            insert(root / name, before, text)
    return list(dict.fromkeys(name for name, _, _ in places))


def follow_recipe(root, recipe, places, files):
    """Makes the changes in a copy: as many files as the recipe has steps, each named by its step."""
    changed, said = follow(root, places), steps(recipe)
    assert len(changed) == files == len(said), (changed, said)
    for path, step in zip(changed, said):
        assert f"`{path}`" in step, f"{step} does not name {path}"
