#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR CC0-1.0
"""Whether a function of rows gives a row the same bits whatever is around it: again, alone, in batches of other sizes, in
reverse, as a part of wider rows, beside rows of NaN, with one thread. rows.h is the same for C.

    import rows
    for finding in rows.check(my_softmax, numpy_or_torch_array): print(finding)

A function takes an array of two dimensions and returns one with as many rows, or a tuple of such arrays. As a program it
tries those of numpy, and of torch where it is installed."""

from typing import NamedTuple

SIZES = 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129


class Finding(NamedTuple):
    way: str
    rows: int  # that were tried
    differing: int
    row: int  # the first that differs, or -1
    byte: int
    expected: int
    found: int

    def __str__(self):
        text = f"{self.way}: {self.differing} of {self.rows} differ"
        if self.differing:
            text += f", first row {self.row} at byte {self.byte}: {self.found:02x}, not {self.expected:02x}"
        return text


def row_bytes(results):
    """Of each row the bytes of all arrays."""
    rows = None
    for array in results if isinstance(results, (tuple, list)) else [results]:
        if hasattr(array, "detach"):
            import torch
            array = array.detach().cpu().contiguous()
            part = [bytes(row.reshape(-1).view(torch.uint8).tolist()) for row in array]
        else:
            part = [row.tobytes() for row in array]
        rows = part if rows is None else [a + b for a, b in zip(rows, part)]
    return rows


def copy_of(array):
    return array.clone() if hasattr(array, "clone") else array.copy()


def padded(array, extra):
    """The same rows as a part of wider ones, whose other elements are NaN."""
    count, columns = array.shape
    if hasattr(array, "new_full"):
        wide = array.new_full((count, columns + extra), float("nan"))
    else:
        import numpy
        wide = numpy.full((count, columns + extra), float("nan"), array.dtype)
    wide[:, extra // 2:extra // 2 + columns] = array
    return wide[:, extra // 2:extra // 2 + columns]


def check(function, rows):
    """The findings of all ways; rows has two dimensions, of numpy or torch."""
    count = len(rows)
    whole = row_bytes(function(copy_of(rows)))
    assert len(whole) == count, f"{count} rows became {len(whole)}"
    findings = []

    def compare(way, pieces):
        """Of pieces, each the numbers of rows, the array, and which rows of it count."""
        tried, first, differing = 0, None, 0
        for numbers, results in pieces:
            for number, got in zip(numbers, row_bytes(results)):
                if number is None:
                    continue
                tried += 1
                if got != whole[number]:
                    differing += 1
                    first = first or (number, got)
        row, byte, expected, found = -1, -1, 0, 0
        if first:
            row, got = first
            byte = next(i for i, (a, b) in enumerate(zip(got, whole[row])) if a != b)
            expected, found = whole[row][byte], got[byte]
        findings.append(Finding(way, tried, differing, row, byte, expected, found))

    def part(begin, end):
        return range(begin, end), function(copy_of(rows[begin:end]))

    everything = range(count)
    compare("again", [(everything, function(copy_of(rows)))])
    compare("alone", (part(i, i + 1) for i in everything))
    compare("in batches", (part(i, min(i + size, count)) for size in SIZES if size < count for i in range(0, count, size)))
    backwards = list(reversed(everything))
    compare("in reverse", [(backwards, function(copy_of(rows[backwards])))])
    compare("padded", ((everything, function(padded(rows, extra))) for extra in (2, 6, 16)))
    beside = []
    for parity in 0, 1:
        mixed = copy_of(rows)
        mixed[1 - parity::2] = float("nan")
        beside.append(([i if i % 2 == parity else None for i in everything], function(mixed)))
    compare("beside NaN", beside)
    if hasattr(rows, "detach"):
        import torch
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        compare("one thread", [(everything, function(copy_of(rows)))])
        torch.set_num_threads(threads)
    return findings


def numpy_functions(numpy):
    def softmax(x):
        powers = numpy.exp(x - x.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    def log_softmax(x):
        shifted = x - x.max(axis=1, keepdims=True)
        return shifted - numpy.log(numpy.exp(shifted).sum(axis=1, keepdims=True))

    def rms_norm(x):
        return x / numpy.sqrt((x * x).mean(axis=1, keepdims=True) + x.dtype.type(1e-5))

    def layer_norm(x):
        centred = x - x.mean(axis=1, keepdims=True)
        return centred / numpy.sqrt((centred * centred).mean(axis=1, keepdims=True) + x.dtype.type(1e-5))

    def silu(x):
        return x / (1 + numpy.exp(-x))

    return [softmax, log_softmax, rms_norm, layer_norm, silu]


def torch_functions(torch):
    functional = torch.nn.functional

    def softmax(x): return torch.softmax(x, 1)
    def log_softmax(x): return torch.log_softmax(x, 1)
    def logsumexp(x): return torch.logsumexp(x, 1, keepdim=True)
    def rms_norm(x): return functional.rms_norm(x, x.shape[1:])
    def layer_norm(x): return functional.layer_norm(x, x.shape[1:])
    def silu(x): return functional.silu(x)
    def gelu(x): return functional.gelu(x)
    def linear(x): return x @ torch.ones(x.shape[1], 64, dtype=x.dtype) / 3
    def float8_e4m3fn(x): return x.to(torch.float8_e4m3fn)

    return [softmax, log_softmax, logsumexp, rms_norm, layer_norm, silu, gelu, linear, float8_e4m3fn]


def report(stack, version, functions, batches):
    for function in functions:
        for name, rows in batches:
            findings = check(function, rows)
            differing = [str(finding) for finding in findings if finding.differing]
            tried = sum(finding.rows for finding in findings)
            print(f"{stack} {version} {function.__name__} {name}: " + ("; ".join(differing) or f"0 of {tried} differ"), flush=True)


def main():
    try:
        import numpy
    except ImportError:
        raise SystemExit("SKIP rows: no numpy")
    source = numpy.random.default_rng(1)
    shapes = [(70, 64), (70, 1000), (20, 4099)]
    arrays = [source.standard_normal(shape).astype(numpy.float32) * 4 for shape in shapes]
    batches = [(f"{kind.__name__} {x.shape[0]} x {x.shape[1]}", x.astype(kind))
               for kind in (numpy.float32, numpy.float16) for x in arrays]
    with numpy.errstate(all="ignore"):
        report("numpy", numpy.__version__, numpy_functions(numpy), batches)
    try:
        import torch
    except ImportError:
        print("SKIP torch: not installed")
        return
    report("torch", torch.__version__, torch_functions(torch),
           [(f"{str(kind)[6:]} {x.shape[0]} x {x.shape[1]}", torch.from_numpy(x).to(kind))
            for kind in (torch.float32, torch.bfloat16) for x in arrays])


if __name__ == "__main__":
    main()
