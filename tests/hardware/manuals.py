# SPDX-License-Identifier: MIT
"""Compares the library's instructions with a transcription of their manual, on all inputs of 16 bits and on those of 32
and 64 that are hard; the transcription of each vendor is a module beside this file."""

import ctypes
import random
import sys
from array import array

from exact import FORMATS, boundaries

OK, ARGUMENT, NONFINITE, NULL, TYPE = 0, 1, 7, 10, 11
UNTOUCHED = 0x5a5a5a5a
OPEN = {"open": NONFINITE, "unsigned": ARGUMENT}  # what a transcription says of a case that its manual leaves open


class Control(ctypes.Structure):
    """mpnum_instruction_control."""
    _fields_ = [("fpmr", ctypes.c_uint64)] + [(name, ctypes.c_uint32) for name in ("fpcr", "mxcsr", "imm8", "frm", "mode")]


library = ctypes.CDLL(sys.argv[1])
library.instructions_name.restype = ctypes.c_char_p
library.instructions_run.restype = ctypes.c_size_t


def names():
    number = 1
    while (name := library.instructions_name(number)) is not None:
        yield name.decode()
        number += 1


def run(name, rows, dst_words, randoms, control=None):
    """(status, words) of each row of operand words; each row with a word more, that nothing may read."""
    width = len(rows[0])
    src = array("I", [word for row in rows for word in row])
    dst = array("I", [UNTOUCHED]) * (len(rows) * dst_words)
    statuses = (ctypes.c_uint8 * len(rows))()
    size = library.instructions_run(
        name.encode(), None if control is None else ctypes.byref(control), (ctypes.c_uint32 * 1).from_buffer(src), ctypes.c_size_t(width),
        (ctypes.c_uint32 * 1).from_buffer(dst), ctypes.c_size_t(dst_words), (ctypes.c_uint32 * len(rows))(*randoms), statuses,
        ctypes.c_size_t(len(rows)))
    assert size == ctypes.sizeof(Control)
    return [(status, dst[i * dst_words:(i + 1) * dst_words].tolist()) for i, status in enumerate(statuses)]


def agree(name, rows, want, dst_words, randoms, control=None):
    """want: the words of each result, or one of OPEN, for which a status is due and nothing written."""
    for row, r, (status, got), expected in zip(rows, randoms, run(name, rows, dst_words, randoms, control), want):
        due = (OPEN[expected], [UNTOUCHED] * dst_words) if isinstance(expected, str) else (OK, expected)
        assert (status, got) == due, f"{name} of {[f'{word:x}' for word in row]}, random {r:x}, control {fields(control)}: " \
            f"status {status}, {[f'{word:x}' for word in got]}, by the manual {due[0]}, {[f'{word:x}' for word in due[1]]}"


def fields(control):
    return control and {name: hex(getattr(control, name)) for name, _ in Control._fields_ if getattr(control, name)}


def codes_for(source, target):
    """All codes of at most 16 bits, else those that are hard."""
    width = FORMATS[source].width if source in FORMATS else 8
    return list(range(1 << width)) if width <= 16 else boundaries(source, target)


def some(codes, is_variant):
    """All of a form; of one that differs in an option alone the ends and each 19th between, unless --all is asked for."""
    if not is_variant or len(codes) < 1000 or "--all" in sys.argv:
        return codes
    middle = len(codes) // 2
    return codes[:16] + codes[middle:middle + 16] + codes[32:-16:19] + codes[-16:]


def lanes_of(codes, lanes):
    """Elements that instructions take at once: each code in some lane, some in all."""
    codes = list(codes) * (1 if len(codes) > 6000 else lanes)
    random.Random(1).shuffle(codes)
    return zip(*[codes[lane::lanes] for lane in range(lanes)])
