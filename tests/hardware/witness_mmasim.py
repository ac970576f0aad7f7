#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""MMA-Sim as a witness of sums: MMASIM names a checkout of microsoft/MMA-Sim (docs/product.md), which needs PyTorch.

    witness_mmasim.py PATH-OF-test_product_vectors [COUNT]   so many sums a unit are compared
    witness_mmasim.py --update                               conformance/products.jsonl and .xz are written

Left out is what docs/product.md names: MI100, products that are 0 beside large ones, a sum of 0 beside products below
2^-126.
"""

import array
import functools
import json
import lzma
import math
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))
sys.path.append(str(Path(__file__).resolve().parent))

import scalar_torch
import tap
from tree import ROOT
from witness import load

# unit: class, architecture, qualifier
MMA, BLOCKS, WGMMA, TCGEN05, MFMA = "mma", "tcgen05mma_block_scale", "wgmma", "tcgen05mma", "mfma"
UNITS = [("v100.f16", MMA, "Volta", "m8n8k4.f32.f16.f16.f32"), ("v100.f16.f16", MMA, "Volta", "m8n8k4.f16.f16.f16.f16"),
         ("t4.f16", MMA, "Turing", "m16n8k8.f32.f16.f16.f32"), ("t4.f16.f16", MMA, "Turing", "m16n8k8.f16.f16.f16.f16")]
for name, arch in (("a100", "Ampere"), ("ada", "Ada Lovelace"), ("h100", "Hopper"), ("b200", "Blackwell")):
    UNITS += [(f"{name}.f16", MMA, arch, "m16n8k16.f32.f16.f16.f32"), (f"{name}.f16.f16", MMA, arch, "m16n8k16.f16.f16.f16.f16"),
              (f"{name}.bf16", MMA, arch, "m16n8k16.f32.bf16.bf16.f32"), (f"{name}.tf32", MMA, arch, "m16n8k8.f32.tf32.tf32.f32")]
UNITS += [("ada.fp8", MMA, "Ada Lovelace", "m16n8k32.f32.e4m3.e5m2.f32"), ("ada.fp8.f16", MMA, "Ada Lovelace", "m16n8k32.f16.e5m2.e4m3.f16"),
          ("h100.fp8", WGMMA, "Hopper", "m64n8k32.f32.e4m3.e5m2"), ("h100.fp8.f16", WGMMA, "Hopper", "m64n8k32.f16.e4m3.e4m3"),
          ("b200.fp8", TCGEN05, "Blackwell", "m64n8k32.f32.e5m2.e4m3"), ("b200.fp8.f16", TCGEN05, "Blackwell", "m64n8k32.f16.e4m3.e4m3"),
          ("b200.f16", TCGEN05, "Blackwell", "m64n8k16.f32.f16.f16"),
          ("b200.mx", BLOCKS, "Blackwell", "m128n8k32.block32.f32.e4m3.e5m2.ue8m0"),
          ("b200.fp4", BLOCKS, "Blackwell", "m128n8k64.block16.f32.e2m1.e2m1.ue4m3"),
          ("b200.fp4", BLOCKS, "Blackwell", "m128n8k64.block32.f32.e2m1.e2m1.ue8m0"),
          ("mi250.f16", MFMA, "CDNA2", "f32_16x16x16f16"), ("mi250.bf16", MFMA, "CDNA2", "f32_16x16x8bf16"),
          ("mi250.bf16_1k", MFMA, "CDNA2", "f32_16x16x16bf16_1k"), ("mi300.f16", MFMA, "CDNA3", "f32_16x16x16_f16"),
          ("mi300.bf16", MFMA, "CDNA3", "f32_16x16x16_bf16"), ("mi300.tf32", MFMA, "CDNA3", "f32_16x16x8_xf32"),
          ("mi300.fp8", MFMA, "CDNA3", "f32_16x16x32_fp8_bf8")]
# type: exponent bits, mantissa bits, bias, zeros below the code, the largest code of a finite magnitude
FORMATS = {"f16": (5, 10, 15, 0, 0x7bff), "bf16": (8, 7, 127, 0, 0x7f7f), "tf32": (8, 10, 127, 13, 0x3fbff), "e4m3": (4, 3, 7, 0, 0x7e),
           "e5m2": (5, 2, 15, 0, 0x7b), "e4m3fnuz": (4, 3, 8, 0, 0x7f), "e5m2fnuz": (5, 2, 16, 0, 0x7f), "e2m1": (2, 1, 1, 0, 7),
           "e8m0": (8, 0, 127, 0, 0xfe)}
def types_of(cls, qualifier):
    """Of a and b; what scales are, and of how many elements."""
    if cls == MFMA:
        last = qualifier.replace("_1k", "").split("_")[1:]
        words = [word for word in last if not word[0].isdigit() or "f" in word] or last
        names = {"fp8": "e4m3fnuz", "bf8": "e5m2fnuz", "xf32": "tf32"}
        kind = [next((t for t in ("xf32", "bf16", "f16", "fp8", "bf8") if word.endswith(t)), None) for word in words]
        kind = [names.get(word, word) for word in kind if word]
        return kind[0], kind[-1], "none", 0
    words = qualifier.split(".")
    if cls == BLOCKS:
        return words[3], words[4], words[5].removeprefix("u"), int(words[1][5:])
    return words[2], words[3], "none", 0



PACKING = {"format": lzma.FORMAT_XZ, "check": lzma.CHECK_CRC32, "filters": [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 0, "lp": 2, "pb": 2}]}
PYTORCH, CHUNK, KEPT, FOLDER = 256, 4096, 10000, ROOT / "conformance"
RULES = {
    "word": "word i of case c: z = 0x9e3779b97f4a7c15 (65536 c + i + 1), all modulo 2^64; z = (z ^ z >> 30) 0xbf58476d1ce4e5b9; "
            "z = (z ^ z >> 27) 0x94d049bb133111eb; z ^ z >> 31: SplitMix64. high = word >> 32; kind = c mod 4",
    "elements": "of a by words 0, 2, 4, ..., of b by words 1, 3, 5, ... E, M: bits of exponent and mantissa. Kind 2 and E < 8: "
                "magnitude = 1 + high mod max. Else spread = 2 for kinds 0 and 2, otherwise 20 if E = 8, 6 if not; field = bias - spread + "
                "high mod (2 spread + 1), at least 0, at most max >> M; magnitude = field 2^M + word mod 2^M, at least 1, at most max. "
                "The sign is bit 31 of the word. Kind 3: for odd n < elements / 2, element n of a is that before with the other sign, of b that before",
    "start": "by word 128; 0 for kind 3 and where high mod 5 = 0. Else sign by bit 31, exponent = low + (word >> 40) mod (1 + up - low), "
             "low and up = -20 and 20 for kind 1 (-14 and 10 where the sum is f16, -36 and 20 with scales), otherwise -8 and 8; mantissa the low 23 bits of the word, of f16 the low 13 of them 0",
    "scales": "of block t of a by word 129 + 2 t, of b by word 130 + 2 t: e8m0 120 + high mod 15, e4m3 32 + high mod 57",
    "results": "bits of f32, little end first, all cases of a line behind those of the line before, in products.xz",
    "source": "microsoft/MMA-Sim, commit c785138 (MIT licence)",
}
FIELDS = {"unit": "as docs/product.md has it", "a, b": "formats of elements", "sum": "format of the sum", "scale": "format of scales, or none",
          "block": "elements with a scale", "elements": "of a sum", "cases": "from 0 on"}
GAMMA, FIRST, SECOND = (constant - (1 << 64) for constant in (0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb))


def words_of(torch, cases, count):
    """Of each case so many words, as int64: SplitMix64."""
    shifted = lambda z, by: z >> by & (1 << 64 - by) - 1
    z = (cases[:, None] * 65536 + torch.arange(1, count + 1)) * GAMMA
    z = (z ^ shifted(z, 30)) * FIRST
    z = (z ^ shifted(z, 27)) * (SECOND)
    return z ^ shifted(z, 31)


def draw_elements(torch, words, kinds, name, is_left):
    exponent, mantissa, bias, shift, largest = FORMATS[name]
    high, kinds = words >> 32 & 0xffffffff, kinds[:, None]
    spread = torch.where(kinds % 2 == 0, 2, 20 if exponent == 8 else 6)
    field = (bias - spread + high % (2 * spread + 1)).clamp(0, largest >> mantissa)
    near = (field << mantissa | words & (1 << mantissa) - 1).clamp(1, largest)
    magnitude = torch.where(kinds == 2, 1 + high % largest, near) if exponent < 8 else near
    codes = magnitude | (words >> 31 & 1) << exponent + mantissa
    pairs = codes.clone()
    half = codes.shape[1] // 2
    pairs[:, 1:half:2] = codes[:, 0:half:2][:, :pairs[:, 1:half:2].shape[1]] ^ (1 << exponent + mantissa if is_left else 0)
    return torch.where(kinds == 3, pairs, codes) << shift


def draw(torch, unit, first, count):
    """Codes of a and b, starts as floats, scales of both, of cases from first on."""
    cases = torch.arange(first, first + count)
    kinds = cases % 4
    words = words_of(torch, cases, 129 + 8)
    k = unit.elements
    left = draw_elements(torch, words[:, 0:2 * k:2], kinds, unit.a, True)
    right = draw_elements(torch, words[:, 1:2 * k:2], kinds, unit.b, False)
    word = words[:, 128]
    up = torch.where(kinds == 1, 10 if unit.sum == "f16" else 20, 8)
    low = torch.where(kinds == 1, -14 if unit.sum == "f16" else -36 if unit.block else -20, -8)
    fraction = word & (0x7fe000 if unit.sum == "f16" else 0x7fffff)
    start = (word >> 31 & 1) << 31 | (127 + low + (word >> 40 & 0xffffff) % (1 + up - low)) << 23 | fraction
    start = torch.where((kinds == 3) | ((word >> 32 & 0xffffffff) % 5 == 0), 0, start)
    start = (start - (start >> 31 << 32)).to(torch.int32).view(torch.float32)
    blocks = k // unit.block if unit.block else 0
    least, range_of = {"e8m0": (120, 15), "e4m3": (32, 57), "none": (0, 1)}[unit.scale]
    scales = least + (words[:, 129:129 + 2 * blocks] >> 32 & 0xffffffff) % range_of
    return left, right, start, scales[:, 0::2], scales[:, 1::2]


def packed(torch, codes, name):
    """As MMA-Sim takes them."""
    if name == "tf32":
        return (codes - (codes >> 31 << 32)).to(torch.int32).view(torch.float32)
    if name == "e2m1":
        return (codes[:, 0::2] | codes[:, 1::2] << 4).to(torch.uint8)
    if name == "e8m0":
        return (2.0 ** (codes.double() - 127)).to(torch.float8_e8m0fnu)
    if name in ("f16", "bf16"):
        return codes.to(torch.int32).to(torch.int16).view(KINDS(torch)[name])
    return codes.to(torch.uint8).view(KINDS(torch)[name])


def KINDS(torch):
    return {"f16": torch.float16, "bf16": torch.bfloat16, "tf32": torch.float32, "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2,
            "e4m3fnuz": torch.float8_e4m3fnuz, "e5m2fnuz": torch.float8_e5m2fnuz, "e8m0": torch.float8_e8m0fnu, "e2m1": torch.uint8}


@functools.cache
def number(name, kind, code):
    """Of a finite code, its value and that as a tensor."""
    exponent, mantissa, bias, shift, _ = FORMATS[name]
    field, fraction = code >> shift + mantissa & (1 << exponent) - 1, code >> shift & (1 << mantissa) - 1
    sign = -1 if code >> shift + exponent + mantissa else 1
    x = 2.0 ** (code - bias) if mantissa == 0 else sign * math.ldexp(fraction + ((field > 0) << mantissa), max(field, 1) - bias - mantissa)
    return x, scalar_torch.Tensor([x], kind)


def vector(name, codes, is_row):
    """A row or a column."""
    kind, shape = KINDS(scalar_torch)[name], (1, len(codes)) if is_row else (len(codes), 1)
    if name == "e2m1":
        return scalar_torch.Tensor([low | high << 4 for low, high in zip(codes[0::2], codes[1::2])], kind, (shape[0] + 1 >> 1, shape[1] + 1 >> 1))
    values, items = zip(*[number(name, kind, code) for code in codes])
    return scalar_torch.Tensor(list(values), kind, shape, items)


def scalar_results(simulator, unit, drawn):
    """Of one sum at a time, without PyTorch."""
    instruction = instruction_of(simulator, unit)
    for left, right, start, *scales in zip(*(part.tolist() for part in drawn)):
        made = [vector(unit.a, left, True), vector(unit.b, right, False), scalar_torch.Tensor([start], instruction.d_type, (1, 1))]
        if unit.block:
            made += [vector(unit.scale, scales[0], True), vector(unit.scale, scales[1], False)]
        yield instruction(*made).item()


def torch_results(torch, simulator, unit, drawn):
    instruction = instruction_of(simulator, unit)
    left, right = packed(torch, drawn[0], unit.a), packed(torch, drawn[1], unit.b)
    for i in range(len(left)):
        arguments = [left[i:i + 1], right[i:i + 1].T, drawn[2][i:i + 1, None].to(instruction.d_type)]
        if unit.block:
            scales = [packed(torch, part[i:i + 1], unit.scale) for part in drawn[3:]]
            arguments += [scales[0], scales[1].T]
        yield instruction(*arguments).item()


class Unit:
    def __init__(self, name, cls, arch, qualifier):
        self.name, self.cls, self.arch, self.qualifier = name, cls, arch, qualifier
        self.a, self.b, self.scale, self.block = types_of(cls, qualifier)


def instruction_of(simulator, unit):
    made = getattr(simulator[unit.cls == MFMA], unit.cls)(unit.arch, unit.qualifier)
    made.m = made.n = 1
    return made


def simulator_with(torch):
    """MMA-Sim on this torch."""
    for name in [name for name in sys.modules if name.split(".")[0] == "mmasim"]:
        del sys.modules[name]
    real, sys.modules["torch"] = sys.modules["torch"], torch
    from mmasim.simulator import amd, arithmetic, nv_ptx
    sys.modules["torch"] = real
    pairs = amd.pairwise_dot  # which at that commit takes floats alone
    amd.pairwise_dot = lambda x, y, flushes: pairs(x.float(), y.float(), flushes)
    return nv_ptx, amd, arithmetic


def scalar_simulator():
    """On scalar_torch; what is asked of the same number again and again is kept."""
    nv_ptx, amd, arithmetic = made = simulator_with(scalar_torch)
    take_apart, unpack = arithmetic.extract_significand_exponent, nv_ptx.unpack_fp4_tensor
    pair = functools.cache(lambda byte: unpack(scalar_torch.Tensor([byte], scalar_torch.uint8, (1,))).values)

    def extract(x, dtype=None):
        if dtype:
            return take_apart(x, dtype)
        if x.parts is None:
            x.parts = take_apart(x)
        return x.parts

    def unpacked(x):
        values = [value for byte in x.values for value in pair(byte)]
        return scalar_torch.Tensor(values, scalar_torch.float32, (len(values),))

    arithmetic.extract_significand_exponent, nv_ptx.unpack_fp4_tensor = extract, unpacked
    return made


def bits(results):
    return array.array("I", struct.pack(f"{len(results)}f", *results))


def load_simulators():
    folder = os.environ.get("MMASIM")
    if not folder:
        raise tap.Skip("MMASIM is not set")
    torch = load("torch")
    if not hasattr(torch, "float8_e8m0fnu"):  # before 2.7; scales are powers of two in it
        torch.float8_e8m0fnu = torch.float64
    sys.path.insert(0, folder)
    simulator, light = simulator_with(torch), scalar_simulator()
    units = [Unit(*row) for row in UNITS]
    for unit in units:
        instruction = instruction_of(light, unit)
        unit.elements, unit.sum = instruction.k, "f16" if instruction.d_type == scalar_torch.float16 else "f32"
    return torch, simulator, light, units


def write_results(to, count):
    """Of all units, the first sums by PyTorch, too. What differs in its architecture's name alone is run once."""
    torch, simulator, light, units = load_simulators()
    torch.set_num_threads(1)
    known = {}
    for unit in units:
        members = {**vars(instruction_of(light, unit)), "arch": unit.cls}
        done = known.setdefault(repr(sorted(members.items())), [])
        for first in range(len(done) * CHUNK, count, CHUNK):
            drawn = draw(torch, unit, first, min(CHUNK, count - first))
            done.append(bits(list(scalar_results(light, unit, drawn))))
        few = bits(list(torch_results(torch, simulator, unit, draw(torch, unit, 0, min(PYTORCH, count)))))
        assert few == done[0][:PYTORCH], unit.name
        for results in done:
            results = results[:]
            if sys.byteorder == "big":
                results.byteswap()
            results.tofile(to)
        to.flush()
    return units


def mma_sim_gives_the_same_sums():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else PYTORCH
    with tempfile.NamedTemporaryFile(suffix=".bin") as results:
        write_results(results, count)
        done = subprocess.run([sys.argv[1], results.name, str(count)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
        print("#", done.stdout.splitlines()[-1])


def update():
    with tempfile.TemporaryFile() as results:
        units = write_results(results, KEPT)
        results.seek(0)
        packed_results = lzma.compress(results.read(), **PACKING)
    lines = [{"schema": "mpnum conformance vectors: products", "version": 1, "licence": "SPDX-License-Identifier: MIT OR CC0-1.0", "fields": FIELDS, "rules": RULES}]
    lines += [{"unit": unit.name, "a": unit.a, "b": unit.b, "sum": unit.sum, "scale": unit.scale, "block": unit.block, "elements": unit.elements,
               "cases": KEPT} for unit in units]
    (FOLDER / "products.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="ascii")
    (FOLDER / "products.xz").write_bytes(packed_results)
    print(f"products.xz: {len(packed_results)} bytes")


if sys.argv[1] == "--update":
    update()
else:
    sys.exit(tap.run(mma_sim_gives_the_same_sums))
