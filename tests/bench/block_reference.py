# SPDX-License-Identifier: MIT
"""What block formats make of a matrix, by their definitions, in doubles that hold each step exactly: for the tests of
the figures. Steps that the definitions round to f32 are rounded here."""

import math
import struct

from bench_program import FORMATS

MAX_FLOAT = (2 - 2 ** -23) * 2.0 ** 127
# name: element, rows and columns of a block (0: all), kind of scale
PRESETS = {
    "mx e4m3": ("e4m3", 1, 32, "mx"), "mx e5m2": ("e5m2", 1, 32, "mx"), "mx e2m3": ("e2m3", 1, 32, "mx"),
    "mx e3m2": ("e3m2", 1, 32, "mx"), "mx e2m1": ("e2m1", 1, 32, "mx"), "mx int8": ("int8/64", 1, 32, "mx"),
    "nvfp4 1x16": ("e2m1", 1, 16, "nvfp4"), "e4m3 1x128": ("e4m3", 1, 128, "amax"), "int8 row": ("int8", 1, 0, "amax"),
    "nvfp4 16x16": ("e2m1", 16, 16, "nvfp4"), "e4m3 128x128": ("e4m3", 128, 128, "amax"),
    "int8 tensor": ("int8", 0, 0, "amax"),
}
SQUARE = ("nvfp4 16x16", "e4m3 128x128", "int8 tensor")
CODE_BITS = {"e3m2": 6, "e2m3": 6, "e2m1": 4}
SCALE_BYTES = {"mx": 1, "nvfp4": 1, "amax": 4}


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def largest(element):
    return {"int8": 127.0, "int8/64": 127 / 64}.get(element) or FORMATS[element][4]


def rounded(x, element):
    """(the nearest value, ties to even, and whether x rounds past the largest one)."""
    if element.startswith("int8"):
        unit = 1.0 if element == "int8" else 1 / 64
    else:
        _, _, mantissa_bits, _, _, min_normal, _ = FORMATS[element]
        unit = 2.0 ** (math.frexp(max(abs(x), min_normal))[1] - 1 - mantissa_bits)
    value = round(x / unit) * unit  # of Python: ties to even
    top = largest(element)
    return (math.copysign(top, x), True) if abs(value) > top else (value, False)


def decoded(block, element, kind, scale):
    """(of each value what its code stands for, before it is rounded to f32, whether it saturated, its code's value)."""
    amax = max(map(abs, block))
    if kind == "mx":
        product = f32(amax * f32(1 / largest(element)))
        fraction, exponent = math.frexp(product)
        power = 2.0 ** max(-127, exponent - (fraction == 0.5)) if product else 1.0
        codes = [rounded(x / power, element) for x in block]
        return [(code * power, over, code) for code, over in codes]
    if kind == "nvfp4":
        stored, _ = rounded(min(f32(amax * f32(scale / 6)), MAX_FLOAT), "e4m3")
        factor = min(f32(1 / f32(stored / scale)), MAX_FLOAT) if stored else 0.0
        codes = [rounded(f32(x * factor), element) for x in block]
        return [(code * stored / scale, over, code) for code, over in codes]
    stored = f32(amax / largest(element)) if amax else 1.0
    codes = [rounded(f32(x / stored), element) for x in block]
    return [(code * stored, over, code) for code, over in codes]


def cut(matrix, preset):
    """The blocks of a matrix, each as a list."""
    _, block_rows, block_columns, _ = PRESETS[preset]
    down, across = block_rows or len(matrix), block_columns or len(matrix[0])
    for top in range(0, len(matrix), down):
        for left in range(0, len(matrix[0]), across):
            yield [x for row in matrix[top:top + down] for x in row[left:left + across]]


def losses_of(matrix, preset):
    """(SQNR, values past the largest, values that become 0, values that are not 0) of a list of rows of floats."""
    element, _, _, kind = PRESETS[preset]
    amax = max(abs(x) for row in matrix for x in row)
    scale = min(f32(448 * 6 / amax), MAX_FLOAT)
    signal = noise = saturated = lost = nonzero = 0
    for block in cut(matrix, preset):
        for x, (value, over, code) in zip(block, decoded(block, element, kind, scale)):
            signal, noise = signal + x * x, noise + (f32(value) - x) ** 2
            saturated, nonzero, lost = saturated + over, nonzero + (x != 0), lost + (x != 0 and code == 0)
    return 10 * math.log10(signal / noise) if noise else math.inf, saturated, lost, nonzero


def figures_of(matrix, preset, turned):
    """What the bench says of a matrix, with blocks in rows or in columns."""
    seen = list(zip(*matrix)) if turned else matrix
    sqnr, saturated, lost, nonzero = losses_of(seen, preset)
    element, _, _, kind = PRESETS[preset]
    rows, columns = len(matrix), len(matrix[0])
    group = {4: 2, 6: 4}.get(CODE_BITS.get(element), 1)
    row_bytes = (columns + group - 1) // group * group * CODE_BITS.get(element, 8) // 8
    scales = sum(1 for _ in cut(seen, preset)) * SCALE_BYTES[kind]
    return {"bits": 8 * (rows * row_bytes + scales) / (rows * columns), "sqnr": sqnr,
            "overflow_share": saturated / nonzero, "underflow_share": lost / nonzero}
