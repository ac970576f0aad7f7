# SPDX-License-Identifier: MIT
"""Runs `mpnum bench` for the tests of it: the program named on the command line, in a folder of its own."""

import csv
import json
import os
import select
import subprocess
import sys
import tempfile
from pathlib import Path

from tree import open_terminal

PROGRAM = os.path.abspath(sys.argv[1])
SECONDS = 600

# name: (sign bits, exponent bits, mantissa bits, bias, max, min normal, smallest), from the OCP,
# IEEE and PTX documents; e8m0 has no zero and so no smaller value than its minimum.
FORMATS = {
    "tf32": (1, 8, 10, 127, (2 - 2 ** -10) * 2.0 ** 127, 2.0 ** -126, 2.0 ** -136),
    "bf16": (1, 8, 7, 127, (2 - 2 ** -7) * 2.0 ** 127, 2.0 ** -126, 2.0 ** -133),
    "f16": (1, 5, 10, 15, 65504.0, 2.0 ** -14, 2.0 ** -24),
    "e5m2": (1, 5, 2, 15, 57344.0, 2.0 ** -14, 2.0 ** -16),
    "e4m3": (1, 4, 3, 7, 448.0, 2.0 ** -6, 2.0 ** -9),
    "e5m2fnuz": (1, 5, 2, 16, 57344.0, 2.0 ** -15, 2.0 ** -17),
    "e4m3fnuz": (1, 4, 3, 8, 240.0, 2.0 ** -7, 2.0 ** -10),
    "e3m4": (1, 3, 4, 3, 15.5, 2.0 ** -2, 2.0 ** -6),
    "e8m0": (0, 8, 0, 127, 2.0 ** 127, 2.0 ** -127, 2.0 ** -127),
    "e3m2": (1, 3, 2, 3, 28.0, 0.25, 0.0625),
    "e2m3": (1, 2, 3, 1, 7.5, 1.0, 0.125),
    "e2m1": (1, 2, 1, 1, 6.0, 1.0, 0.5),
}


def bench(*arguments, folder=None, **settings):
    done = subprocess.run([PROGRAM, *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=SECONDS, **settings)
    return done.returncode, done.stdout.decode(), done.stderr.decode(errors="surrogateescape")


def terminal_output(command, stream="stderr", **settings):
    """What a command writes to one of its streams when that is a terminal."""
    ours, theirs = open_terminal()
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: theirs}
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, **streams, **settings)
    os.close(theirs)
    text = b""
    try:
        while select.select([ours], [], [], SECONDS)[0]:
            text += os.read(ours, 65536)
    except OSError:  # EIO: the other end is closed
        pass
    os.close(ours)
    assert child.wait(SECONDS) == 0, text
    return text.decode()


class Folder(tempfile.TemporaryDirectory):
    """A temporary folder with files in it; `with` gives its path."""

    def __init__(self, **files):
        super().__init__()
        for name, data in files.items():
            Path(self.name, name).write_bytes(data)

    def __enter__(self):
        return Path(self.name)


def json_of(path):
    return json.loads(path.read_text())


def csv_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def python_with(folder, program):
    """A python3 in this folder that runs a program of its own, whatever it is given."""
    path = folder / "python"
    path.write_text(f"#!{sys.executable}\nimport json, sys\n{program}\n")
    path.chmod(0o755)
    return path


PLACE = ("section", "source", "name", "variant", "metric")


class Figures:
    """The rows of a JSON result. Each has a place of its own, the last member its value: a number or words."""

    def __init__(self, result):
        assert list(result) == ["schema", "mpnum", "cpu", "compiler", "optimization", "options", "figures"]
        assert result["schema"] == 2, result["schema"]
        self.head, self.rows, self.values, self.places, self.parts = result, result["figures"], {}, {}, {}
        for row in self.rows:
            assert tuple(row) == (*PLACE, "value", "unit"), row
            if row["value"] in ("inf", "-inf"):
                row["value"] = float(row["value"])
            place = tuple(row[key] for key in PLACE)
            assert place not in self.values, f"a place stands twice: {place}"
            self.values[place] = row["value"]
            self.places.setdefault(place[:-1], {})[place[-1]] = row["value"]
            for length in (1, 2, 3):
                self.parts.setdefault(place[:length], []).append(row)

    def get(self, section, source="", name="", variant="", metric=None):
        """The value of a place, None where there is none."""
        return self.values.get((section, source, name, variant, metric))

    def metrics(self, section, source="", name="", variant=""):
        """All values of a place, by metric."""
        return dict(self.places.get((section, source, name, variant), {}))

    def select(self, *place):
        """The rows of a place, whose parts may be None: any."""
        known = next((i for i, part in enumerate(place[:3]) if part is None), len(place[:3]))
        return [row for row in (self.parts.get(place[:known], []) if known else self.rows)
                if all(part is None or row[key] == part for key, part in zip(PLACE, place))]

    def all_of(self, key, *place):
        """What rows of a place have as source, name, ...: each once, in their order."""
        return list(dict.fromkeys(row[key] for row in self.select(*place) if row[key]))


def check_csv(lines, figures):
    """The lines of the CSV are the rows of the JSON, to the last bit."""
    assert len(lines) == len(figures.rows) > 0, (len(lines), len(figures.rows))
    for line, row in zip(lines, figures.rows):
        assert tuple(line) == (*PLACE, "value", "unit"), line
        words = isinstance(row["value"], str)
        assert {**line, "value": line["value"] if words else float(line["value"])} == row, (line, row)


def full_run(*arguments, **settings):
    """(the figures, the output) of a run, whose CSV is its JSON."""
    with Folder() as folder:
        code, out, errors = bench(*arguments, "--json", "j", "--csv", "c", folder=folder, **settings)
        assert code == 0 and errors == "", (code, errors)
        figures = Figures(json_of(folder / "j"))
        check_csv(csv_of(folder / "c"), figures)
    assert figures.head["options"] == [*arguments, "--json", "j", "--csv", "c"], figures.head["options"]
    assert max(map(len, out.splitlines())) <= 100, max(out.splitlines(), key=len)
    return figures, out


def result_of(*arguments, **files):
    """The figures of a run in a folder with these files, and what it printed."""
    with Folder(**files) as folder:
        code, out, errors = bench("--json", "result.json", *arguments, folder=folder)
        assert code == 0 and errors == "", (arguments, code, errors)
        return Figures(json_of(folder / "result.json")), out


SCALES = {"as they are": "none", "times 2^k": "amax"}


def tensors(figures):
    """What --accuracy found: of each tensor its own figures, and rows by format and scale."""
    found = []
    for source in figures.all_of("source", "accuracy"):
        about = {**figures.metrics("accuracy", source), "rows": []}
        for variant, scale in SCALES.items():
            for name in figures.all_of("name", "accuracy", source, None, variant):
                metrics = figures.metrics("accuracy", source, name, variant)
                about["rows"].append({"format": name, "scale": scale, **metrics})
        assert source == f"{about['file']}: {about['tensor']}", about
        found.append(about)
    return found


def measured(data, name, *arguments):
    """The tensors of an accuracy run over one file, by name."""
    figures, _ = result_of("--accuracy", "--quick", name, *arguments, **{name: data})
    return {about["tensor"]: about for about in tensors(figures) if about["file"] != "synthetic"}
