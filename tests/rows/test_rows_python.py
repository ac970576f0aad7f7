#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""conformance/rows.py finds functions whose rows depend on what is around them, each by the ways that can see it."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))
sys.path.append(str(Path(__file__).resolve().parents[2] / "conformance"))

import rows
import tap

try:
    import numpy
except ImportError:
    numpy = None

WAYS = ["again", "alone", "in batches", "in reverse", "padded", "beside NaN"]


def batch():
    if numpy is None:
        raise tap.Skip("no Python package numpy")
    return numpy.random.default_rng(1).standard_normal((67, 64)).astype(numpy.float32)


def differing(function):
    return [finding.way for finding in rows.check(function, batch()) if finding.differing]


def copies_differ_nowhere():
    findings = rows.check(lambda x: x.copy(), batch())
    assert [finding.way for finding in findings] == WAYS, findings
    for finding in findings:
        assert finding.rows >= 67 and finding.differing == 0 and finding.row == -1, finding


def what_is_around_a_row_is_found():
    calls = []

    def counts_calls(x):
        calls.append(1)
        return x + numpy.float32(len(calls))

    def knows_the_batch(x): return x + numpy.float32(len(x) % 3 == 2)
    def knows_the_number(x): return x + numpy.arange(len(x), dtype=x.dtype)[:, None] // 33
    def reads_the_next(x): return numpy.where(numpy.isnan(numpy.roll(x, -1, axis=0)), numpy.roll(x, -1, axis=0), x)
    def knows_the_stride(x): return x + x.dtype.type(x.strides[0] != 4 * x.shape[1])

    assert differing(counts_calls) == WAYS
    assert differing(knows_the_batch) == ["in batches"]
    assert differing(knows_the_number) == ["alone", "in batches", "in reverse"]
    assert differing(reads_the_next) == ["beside NaN"]
    assert differing(knows_the_stride) == ["padded"]


def the_second_of_two_arrays_counts():
    def with_the_largest_of_all(x): return x, x.max(keepdims=True).repeat(len(x), axis=0)
    assert differing(with_the_largest_of_all) == ["alone", "in batches", "beside NaN"]


def the_first_difference_is_named():
    def wrong_in_one(x):
        y = x.copy()
        if len(x) == 1 and x[0, 5] == batch()[9, 5]:
            y[0, 3] = -y[0, 3]
        return y

    found, = [finding for finding in rows.check(wrong_in_one, batch()) if finding.differing]
    assert (found.way, found.rows, found.differing, found.row, found.byte) == ("alone", 67, 1, 9, 15), found
    assert found.expected ^ found.found == 0x80 and str(found).startswith("alone: 1 of 67 differ, first row 9 at byte 15"), found


sys.exit(tap.run(
    copies_differ_nowhere,
    what_is_around_a_row_is_found,
    the_second_of_two_arrays_counts,
    the_first_difference_is_named))
