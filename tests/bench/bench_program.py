# SPDX-License-Identifier: MIT
"""Runs `mpnum bench` for the tests of it: the program named on the command line, in a folder of its own."""

import json
import os
import select
import subprocess
import sys
import tempfile

from tree import open_terminal

PROGRAM = os.path.abspath(sys.argv[1])
SECONDS = 240

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


def terminal_output(command, **settings):
    """What a command writes to stderr when that is a terminal."""
    ours, theirs = open_terminal()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs,
                             **settings)
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
    """A temporary folder with files in it."""

    def __init__(self, **files):
        super().__init__()
        for name, data in files.items():
            with open(os.path.join(self.name, name), "wb") as file:
                file.write(data)


def result_of(*arguments, **files):
    """The JSON of a run in a folder with these files, and what it printed."""
    with Folder(**files) as folder:
        code, out, errors = bench("--json", "result.json", *arguments, folder=folder)
        assert code == 0 and errors == "", (arguments, code, errors)
        with open(os.path.join(folder, "result.json")) as file:
            return json.load(file), out


def measured(data, name, *arguments):
    """The tensors of an accuracy run over one file, by name."""
    result, _ = result_of("--accuracy", "--quick", name, *arguments, **{name: data})
    return {row["name"]: row for row in result["accuracy"] if row["source"] != "synthetic"}
