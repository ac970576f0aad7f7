#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The kernel of mpnum_launch_grad_pass runs in the PTX interpreter of tests/cuda/ptx as nvcc compiles it: tiles of two
tensors, one whole, one with a tail, NaN, Inf and a subnormal, and every byte of what it writes is that of the sums and counts
that are made here. No thread reads or writes past an end, reads what nothing has written, or races with another.
"""

import math
import random
import struct
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[2] / room) for room in ["harness", "cuda"]]

import tap
import toolchain
from ptx import calls
from ptx.machine import Machine
from ptx.values import FORMATS

ARCHS = ["75"]
SOURCE = """\
#include <mpnum/training/grad.cuh>
void instantiate() {
  (void)mpnum_launch_grad_pass((mpnum_grad_findings *)0, mpnum_grad_list(), 0, 0, 0);
}
"""
FOLDER = None
TYPES = toolchain.load_api().Api().enumerators
NOTHING = (1 << 64) - 1
INFINITY = 0x7f800000


def f32(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def value(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def product(bits, factor):
    """As it is stored: there is one NaN."""
    return 0x7fffffff if bits & 0x7fffffff > INFINITY else f32(value(bits) * factor)


def squares_of(tile):
    """Element i to lane i % 64, then the upper half of the lanes to the lower one."""
    lanes = [0.0] * 64
    for place, bits in enumerate(tile):
        lanes[place % 64] += value(bits) * value(bits)
    while len(lanes) > 1:
        middle = len(lanes) // 2
        lanes = [lanes[place] + lanes[place + middle] for place in range(middle)]
    return lanes[0]


def findings_of(tensors):
    """The bytes of mpnum_grad_findings, of lists of results as bits of floats."""
    limbs, infs, nans, first = [0] * 20, 0, 0, (NOTHING, NOTHING, 0)
    results = [bits & 0x7fffffff for tensor in tensors for bits in tensor]
    for tensor in tensors:
        for start in range(0, len(tensor), 2048):
            square = squares_of(tensor[start:start + 2048])
            if not math.isfinite(square):
                infs += math.isinf(square)
                nans += math.isnan(square)
                continue
            number = Fraction(square) * 2**298
            assert number.denominator == 1
            for place in range(20):
                limbs[place] += int(number) >> 32 * place & 0xffffffff
    for place, tensor in enumerate(tensors):
        bad = [element for element, bits in enumerate(tensor) if bits & 0x7fffffff >= INFINITY]
        if bad and first[0] == NOTHING:
            bits = tensor[bad[0]]
            first = (place, bad[0], 0x7fffffff if bits & 0x7fffffff > INFINITY else bits)
    tiles = sum((len(tensor) + 2047) // 2048 for tensor in tensors)
    finite = [x for x in results if x < INFINITY]
    return struct.pack("<20q4q5Q2I3Q", *limbs, tiles, infs, 0, nans, len(results), results.count(0),
                       sum(0 < x < 0x00800000 for x in results), results.count(INFINITY),
                       sum(x > INFINITY for x in results), max(finite), min(x for x in finite if x), *first)


def gradients_pass(arch):
    half, single = FORMATS["f16"], FORMATS["f32"]
    generator = random.Random(arch)
    whole = [f32(generator.gauss(0, 1)) for _ in range(2048)]
    whole[77], whole[1500] = 0, 0xff812345
    tail = [half.encode(single.decode(f32(generator.gauss(0, 9)))) for _ in range(331)]
    tail[5], tail[300], tail[301] = 0x8000, 0x7c00, 1
    factor = 2.0**-110  # the smallest f16 becomes a subnormal
    machine = Machine(calls.compile_ptx(SOURCE, FOLDER, arch))
    first = machine.allocate(struct.pack("<2048I", *whole))
    second = machine.allocate(struct.pack("<331H", *tail))
    target = machine.allocate(4 * 331)
    histogram = machine.allocate(bytes(8 * 257))

    def tensor(src, src_type, n, dst, counted):
        return struct.pack("<6Q2i2Q", src, dst, 1, n, n, n, TYPES[src_type], TYPES["MPNUM_TYPE_F32"], counted, 1)

    tensors = machine.allocate(tensor(first.address, "MPNUM_TYPE_F32", 2048, first.address, 0) +
                               tensor(second.address, "MPNUM_TYPE_F16", 331, target.address, histogram.address))
    tiles_before = machine.allocate(struct.pack("<3Q", 0, 1, 2))
    made = struct.pack("<5Q2I", tensors.address, tiles_before.address, 2, 2, 2048 + 331, 1, 0)
    scaler = machine.allocate(bytes(60) + struct.pack("<f", factor) + bytes(48))
    workspace = machine.allocate(bytes(440))
    findings = machine.allocate(264)
    name, = [name for name in machine.module.functions if "grad_pass_kernel" in name]
    machine.launch(name, 1, 256, [findings.address, made, scaler.address, workspace.address],
                   order="reverse" if arch == "75" else "forward")
    results = [[product(bits, factor) for bits in whole],
               [single.encode(half.decode(code)) for code in tail]]
    results[1] = [product(bits, factor) for bits in results[1]]
    assert bytes(first.data) == struct.pack("<2048I", *results[0]), "in place"
    assert bytes(target.data) == struct.pack("<331I", *results[1]), "f16 to f32"
    expected = findings_of(results)
    words = [(place // 8, got.hex(), want.hex()) for place in range(0, 264, 8)
             if (got := bytes(findings.data[place:place + 8])) != (want := expected[place:place + 8])]
    assert not words, f"findings: word, got, expected: {words}"
    counts = [0] * 257
    for bits in results[1]:
        magnitude = bits & 0x7fffffff
        counts[1 + (magnitude >> 23) if magnitude else 0] += 1
    assert bytes(histogram.data) == struct.pack("<257Q", *counts), "histogram"
    assert not any(workspace.data), "the workspace is not left empty"


def skip(reason):
    raise tap.Skip(reason)


def main():
    global FOLDER
    with tempfile.TemporaryDirectory() as folder:
        FOLDER = Path(folder)
        try:
            known = calls.archs_of_nvcc()
        except tap.Skip as reason:
            return tap.run(toolchain.named("the gradient pass runs in the PTX interpreter", skip, str(reason)))
        return tap.run(*[
            toolchain.named(f"sm_{arch}: tiles of gradients", gradients_pass, arch) if arch.rstrip("af") in known else
            toolchain.named(f"sm_{arch}: tiles of gradients", skip, f"this nvcc does not compile for sm_{arch}")
            for arch in ARCHS])


if __name__ == "__main__":
    sys.exit(main())
