#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Codes to floats by the launchers, every code at each of four places, of MX with every scale; every f16 and bf16 to few bits, and
floats near all numbers of e2m1 and e4m3fnuz: what nvcc makes of their kernels in the PTX interpreter of tests/cuda/ptx, beside the
host's functions. The targets are those whose ways differ; the instructions that multiply by a scale and that narrow pairs want nvcc
13.2 (MPNUM_NVCC).

usage: tests/cuda/ptx/test_ptx_every_code.py
"""

import random
import struct
import sys
from functools import lru_cache
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[2] / room) for room in ["harness", "cuda"]]

from ptx import calls
from test_ptx_launchers import Case, compiled, out, runs_as_on_the_host
from toolchain import named

ARCHS = ["75", "80", "90", "100a"]
COUNT = 4 * 256 * 64  # of elements: more than a tile by vectors
EVERY_CODE = bytes((place + place // 256) % 256 for place in range(COUNT))
SIDE = 256      # of a matrix in blocks of 32
TILE_ROWS = 32  # of it
ANY_SCALE = range(SIDE)
USUAL_SCALES = [max(17, min(scale, 239)) for scale in ANY_SCALE]  # those of which products are by the instruction
A_SCALE_FOR_EACH_TILE = [(0, 17, 239, 240, 254, 255, 127, 16)[row // TILE_ROWS] for row in range(SIDE)]
SPECIAL = {"e4m3": 0x7f, "e5m2": 0x7c}  # and what is above: no numbers
KINDS = {"f32": "float", "bf16": "mpnum_bf16", "f16": "mpnum_f16"}


def converted(to):
    return Case(f"e4m3_to_{to}", {"y": (KINDS[to], out(COUNT)), "codes": ("mpnum_e4m3", EVERY_CODE)},
                f"mpnum_launch_convert(y, codes, {COUNT}, 0)",
                f"mpnum_convert_array(MPNUM_TYPE_{to.upper()}, y, MPNUM_TYPE_E4M3, codes, {COUNT}, MPNUM_ROUND_NEAREST_EVEN, "
                "MPNUM_OVERFLOW_IEEE, 0, 0); return 0;")


def numbers(kind, codes):
    """The same codes, 1 where they are none."""
    return bytes(code if code & 0x7f < SPECIAL.get(kind, 0x80) else 0x3c for code in codes)


def one_that_is_none(kind):
    """One code of each tile, in another word of a thread's codes each."""
    codes = bytearray(numbers(kind, EVERY_CODE))
    for tile in range(SIDE // TILE_ROWS):
        codes[SIDE * TILE_ROWS * tile + 5 * SIDE + 4 * tile + tile % 4] = SPECIAL[kind] | 0x80 * (tile % 2)
    return bytes(codes)


def multiplied(name, kind, to, codes, scales):
    code_type = "mpnum_e2m1" if kind == "e2m1" else f"mpnum_{kind}"
    codes = codes[:SIDE * SIDE // 2] if kind == "e2m1" else codes
    by_row = f"const mpnum_blockscaled by_row = {{codes, {SIDE}, scales, {SIDE * 8}, 0, 1}};\n  "
    return Case(f"mx_{kind}_to_{to}_{name}", {"y": (KINDS[to], out(SIDE * SIDE)), "codes": ("char", codes),
                                             "scales": ("char", bytes(scale for scale in scales for _ in range(SIDE // 32)))},
                f"{by_row}return mpnum_launch_dequantize_mx<{code_type}>(mpnum::matrix_of(y, {SIDE}, {SIDE}), &by_row, "
                "MPNUM_QUANTIZE_ROWS, 0);",
                f"""{by_row}const mpnum_blockscale_format format = mpnum_blockscale_mx(MPNUM_TYPE_{kind.upper()}, MPNUM_BLOCKSCALE_RCEIL);
  return mpnum_dequantize_blocks(&format, mpnum_matrix_of(MPNUM_TYPE_{to.upper()}, y, {SIDE}, {SIDE}), by_row);""")


EVERY_HALF = struct.pack("<65536H", *((37 * place) % 65536 for place in range(65536)))  # each once


def narrowed(kind, to, form=""):
    """Packed, if the name ends so."""
    size = 65536 * {"x4": 3, "x2": 2}.get(to[-2:], 4) // 4
    saturates = "MPNUM_OVERFLOW_SATURATE" if form else "MPNUM_OVERFLOW_IEEE"
    floats = f"static float x[65536];\n  mpnum_{kind}_to_f32_array(x, halves, 65536);\n  "
    return Case(f"{kind}_to_{to}{form}", {"codes": (f"mpnum_{to}", bytes(size)), "halves": (f"mpnum_{kind}", EVERY_HALF)},
                f"mpnum_launch_convert{form}(codes, halves, 65536, 0)",
                f"{floats}mpnum_f32_to_{to}{form}_array(codes, x, 65536); return 0;" if to[-2:] in ("x4", "x2") else
                f"mpnum_convert_array(MPNUM_TYPE_{to.upper()}, codes, MPNUM_TYPE_{kind.upper()}, halves, 65536, "
                f"MPNUM_ROUND_NEAREST_EVEN, {saturates}, 0, 0); return 0;")




def near(low, high):
    """Floats of either sign between powers of two whose upper halves are all that there are, each with a lower half of 0, the
    least, one half and all, and as many of anywhere."""
    uppers = [sign | (127 + exponent) << 7 | rest for exponent in range(low, high) for rest in range(128) for sign in (0, 0x8000)]
    words = [upper << 16 | lower for upper in uppers for lower in (0, 1, 0x8000, 0xffff)]
    generator = random.Random(f"{low} {high}")
    words += [generator.randrange(1 << 32) for _ in words]
    words += [sign | word for sign in (0, 1 << 31) for word in (0, 1, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fffffff, 0x7fc12345)]
    return struct.pack(f"<{len(words)}I", *words)


def saturated(to, low, high):
    """Packed, if the name ends so, and from bytes that nothing else has written."""
    floats = near(low, high)
    count = len(floats) // 4
    return Case(f"f32_to_{to}_sat", {"codes": (f"mpnum_{to}", bytes(count // (2 if to.endswith("x2") else 1))), "x": ("float", floats)},
                f"mpnum_launch_convert_sat(codes, x, {count}, 0)", f"mpnum_f32_to_{to}_sat_array(codes, x, {count}); return 0;")


CONVERSIONS = [converted("f32"), converted("bf16")]
SATURATED = [saturated("e2m1x2", -4, 4), saturated("e4m3fnuz", -12, 9)]
NARROWED = [*(narrowed("bf16", to, form) for to in ("e4m3", "e5m2") for form in ("", "_sat")),
            *(narrowed(kind, to, "_sat") for kind in ("f16", "bf16") for to in ("e3m2", "e2m3x4", "e2m1x2")),
            narrowed("bf16", "e3m2x4", "_sat"), narrowed("f16", "e2m3", "_sat")]
PRODUCTS = [multiplied("any", "e4m3", "bf16", EVERY_CODE, ANY_SCALE), multiplied("any", "e2m1", "bf16", EVERY_CODE, ANY_SCALE),
            multiplied("usual", "e4m3", "bf16", numbers("e4m3", EVERY_CODE), USUAL_SCALES),
            multiplied("usual", "e4m3", "f32", numbers("e4m3", EVERY_CODE), USUAL_SCALES),
            multiplied("usual", "e5m2", "f16", numbers("e5m2", EVERY_CODE), USUAL_SCALES),
            multiplied("usual", "e2m1", "bf16", EVERY_CODE, USUAL_SCALES),
            multiplied("tiles", "e5m2", "bf16", numbers("e5m2", EVERY_CODE), A_SCALE_FOR_EACH_TILE),
            multiplied("alone", "e4m3", "bf16", one_that_is_none("e4m3"), USUAL_SCALES),
            multiplied("alone", "e5m2", "bf16", one_that_is_none("e5m2"), USUAL_SCALES)]
TINY = Case("mx_e4m3_of_subnormals", {"x": ("float", struct.pack("<8192I", *(random.Random(1).randrange(1 << 23) for _ in range(8192)))),
                                      "codes": ("char", out(8192)), "scales": ("char", out(256))},
            """const mpnum_blockscaled by_row = {codes, 128, scales, 256, 0, 1};
  return mpnum_launch_quantize_mx<mpnum_e4m3>(&by_row, 0, mpnum::matrix_of(x, 64, 128), MPNUM_BLOCKSCALE_RCEIL, MPNUM_QUANTIZE_ROWS, 0);""",
            """const mpnum_blockscale_format format = mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
  const mpnum_blockscaled by_row = {codes, 128, scales, 256, 0, 1};
  return mpnum_quantize_blocks(&format, by_row, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 64, 128), 0, 0);""")
CASES = {"75": CONVERSIONS + SATURATED[:1], "80": CONVERSIONS + PRODUCTS[:1], "90": PRODUCTS[:2] + SATURATED + [narrowed("bf16", "e2m1x2", "_sat")], "100a": PRODUCTS + [TINY] + NARROWED}


def has_the_newest_instructions(program):
    if tuple(map(int, calls.nvcc_version().split(".")[:2])) < (13, 2):
        raise calls.tap.Skip(f"nvcc {calls.nvcc_version()} has no such instruction")
    for kind in ("e4m3", "e5m2", "e2m1"):
        assert f"cvt.rn.scaled::n2::ue8m0.bf16x2.{kind}x2" in program.text, kind
    for kind in ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1"):
        for pair in ("bf16", "f16")[:1 if kind in ("e4m3", "e5m2") else 2]:
            assert f"cvt.rn.satfinite.{kind}x2.{pair}x2" in program.text, (kind, pair)


def properties(folder, known):
    found = []
    for arch in ARCHS:
        if arch.rstrip("af") not in known:
            found.append(named(f"sm_{arch}", calls.skip, f"this nvcc does not compile for sm_{arch}"))
            continue
        program = lru_cache(lambda arch=arch: compiled(CASES[arch], folder, arch))
        found += [named(f"sm_{arch}: {case.name}", lambda one=case, program=program: runs_as_on_the_host(program(), one))
                  for case in CASES[arch]]
        if arch == "100a":
            found.append(named(f"sm_{arch} has the newest instructions", lambda program=program: has_the_newest_instructions(program())))
    return found


if __name__ == "__main__":
    sys.exit(calls.run("codes to floats in the PTX interpreter", properties))
