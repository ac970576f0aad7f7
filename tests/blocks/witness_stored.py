#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ggml as a witness of the blocks that it stores: the reference functions of an installed libggml-base.

    witness_stored.py PATH-OF-BLOCKS-LIBRARY

The environment variable GGML names the folder where it is installed. Blocks that docs/stored-blocks.md names are left
out, and all others have to agree, byte for byte.
"""

import ctypes
import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from witness import load, pointer

# Layout, its name there, elements of a block.
LAYOUTS = [(0, "mxfp4", 32), (1, "nvfp4", 64), (2, "q8_0", 32), (3, "q4_0", 32)]
BLOCKS = 4096

library = ctypes.CDLL(sys.argv[1])
library.stored_bytes.restype = ctypes.c_size_t


def ggml():
    folder = os.environ.get("GGML")
    if not folder:
        raise tap.Skip("GGML=FOLDER names where ggml is installed")
    found = sorted(Path(folder).rglob("libggml-base.so*"))
    if not found:
        raise tap.Skip(f"no libggml-base.so in {folder}")
    return ctypes.CDLL(str(found[0]))


def theirs(name):
    try:
        return getattr(ggml(), name)
    except AttributeError:
        raise tap.Skip(f"this ggml has no {name}") from None


def inputs(wide):
    """Rows of blocks: any exponents, those near 1, few bits, next to powers of two, zeros."""
    np = load("numpy")
    random = np.random.default_rng(3)
    for round in range(24):
        low, high = [(2, 250), (110, 130), (124, 128)][round % 3]
        top = random.integers(low, high, (BLOCKS, 1))
        exponent = np.maximum(top - random.integers(0, 8, (BLOCKS, wide)), 0)
        significand = random.integers(0, 1 << 23, (BLOCKS, wide))
        kind = random.integers(0, 12, (BLOCKS, wide))
        significand = np.where(kind < 3, significand & 0x780000, significand)
        significand = np.where(kind == 3, 0x7FFFFF - significand % 60, significand)
        bits = exponent << 23 | significand | random.integers(0, 2, (BLOCKS, wide)) << 31
        x = np.where(kind == 4, bits & 0x80000000, bits).astype(np.uint32).view(np.float32)
        x[::97] = 0
        yield np.ascontiguousarray(x)


def is_followed(layout, x):
    """Blocks in which the rule of ggml is kept."""
    np = load("numpy")
    amax = np.abs(x).max(1)
    if layout == 0:
        return (amax == 0) | (amax >= 2.0**-125)
    if layout == 1:
        return amax / np.float32(6) < 248
    return (amax == 0) | (amax > (127 if layout == 2 else 8) * 2.0**-128)


def blocks_have_the_bytes_of_ggml():
    np = load("numpy")
    for layout, name, wide in LAYOUTS:
        quantize, seen = theirs(f"quantize_row_{name}_ref"), 0
        for x in inputs(wide):
            n = ctypes.c_size_t(x.size)
            size = library.stored_bytes(layout, n)
            got, want = np.zeros((BLOCKS, size // BLOCKS), np.uint8), np.zeros((BLOCKS, size // BLOCKS), np.uint8)
            assert library.stored_quantize(layout, pointer(got), pointer(x), n) == 0
            quantize(pointer(x), pointer(want), ctypes.c_int64(x.size))
            kept = is_followed(layout, x)
            wrong = kept & (got != want).any(1)
            assert not wrong.any(), f"{name}: {got[wrong][0].tobytes().hex()}, not {want[wrong][0].tobytes().hex()}"
            seen += kept.sum()
        print(f"# {name}: {seen} blocks")


def blocks_come_back_as_with_ggml():
    np = load("numpy")
    for layout, name, wide in LAYOUTS:
        dequantize = theirs(f"dequantize_row_{name}")
        for x in inputs(wide):
            n = ctypes.c_size_t(x.size)
            data = np.zeros(library.stored_bytes(layout, n), np.uint8)
            got, want = np.zeros(x.size, np.float32), np.zeros(x.size, np.float32)
            assert library.stored_quantize(layout, pointer(data), pointer(x), n) == 0
            assert library.stored_dequantize(layout, pointer(got), pointer(data), n) == 0
            dequantize(pointer(data), pointer(want), ctypes.c_int64(x.size))
            same = (got.view(np.uint32) == want.view(np.uint32)) | (np.isnan(got) & np.isnan(want))
            assert same.all(), f"{name}: {got[~same][0]}, not {want[~same][0]}"


if __name__ == "__main__":
    sys.exit(tap.run(blocks_have_the_bytes_of_ggml, blocks_come_back_as_with_ggml))
