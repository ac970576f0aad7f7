#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""MMA-Sim as a witness of sums: MMASIM names a checkout of microsoft/MMA-Sim (docs/product.md), which needs PyTorch.

    witness_mmasim.py PATH-OF-test_product_vectors [COUNT]   so many sums a unit are compared
    witness_mmasim.py --write FILE COUNT                     they are written, as tests/hardware/mmasim.txt has them

Left out is what docs/product.md names: MI100, products that are 0 beside large ones, a sum of 0 beside products below
2^-126.
"""

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
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
           "e5m2": (5, 2, 15, 0, 0x7b), "e4m3fnuz": (4, 3, 8, 0, 0x7f), "e5m2fnuz": (5, 2, 16, 0, 0x7f), "e2m1": (2, 1, 1, 0, 7)}
WIDTHS = {"f16": 4, "bf16": 4, "tf32": 8}


def draw(name, kind):
    """A finite code that is not 0: near 1, of many exponents, or any."""
    exponent, mantissa, bias, shift, largest = FORMATS[name]
    sign = random.getrandbits(1) << (exponent + mantissa)
    spread = (2, 20 if exponent == 8 else 6)[kind % 2]
    if kind == 2 and exponent < 8:
        code = random.randint(1, largest)
    else:
        field = min(max(bias + random.randint(-spread, spread), 0), largest >> mantissa)
        code = min(field << mantissa | random.getrandbits(mantissa), largest) or 1
    return (sign | code) << shift


def draw_sum(torch, is_half, kind):
    if kind == 3 or random.random() < 0.2:
        return 0.0
    value = random.choice((1, -1)) * (1 + random.getrandbits(23) * 2.0**-23) * 2.0**random.randint(*((-8, 8), (-20, 20) if not is_half else (-16, 10))[kind % 2])
    return torch.tensor(value, dtype=torch.float16).item() if is_half else value


def types_of(cls, qualifier):
    """Of a and b; what scales are, and of how many elements."""
    if cls == MFMA:
        last = qualifier.replace("_1k", "").split("_")[1:]
        words = [word for word in last if not word[0].isdigit() or "f" in word] or last
        names = {"fp8": "e4m3fnuz", "bf8": "e5m2fnuz", "xf32": "tf32"}
        kind = [next((t for t in ("xf32", "bf16", "f16", "fp8", "bf8") if word.endswith(t)), None) for word in words]
        kind = [names.get(word, word) for word in kind if word]
        return kind[0], kind[-1], "-", 0
    words = qualifier.split(".")
    if cls == BLOCKS:
        return words[3], words[4], words[5].removeprefix("u"), int(words[1][5:])
    return words[2], words[3], "-", 0


def tensor(torch, codes, name):
    """Of rows of codes, as MMA-Sim takes them."""
    if name == "tf32":
        return torch.tensor(codes, dtype=torch.int64).to(torch.int32).view(torch.float32)
    if name == "e2m1":
        return torch.tensor([[row[k] | row[k + 1] << 4 for k in range(0, len(row), 2)] for row in codes], dtype=torch.uint8)
    kind = {"f16": torch.float16, "bf16": torch.bfloat16, "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2,
            "e4m3fnuz": torch.float8_e4m3fnuz, "e5m2fnuz": torch.float8_e5m2fnuz}[name]
    if WIDTHS.get(name) == 4:
        return torch.tensor(codes, dtype=torch.int32).to(torch.int16).view(kind)
    return torch.tensor(codes, dtype=torch.uint8).view(kind)


def bits_of(torch, value):
    return torch.tensor(value, dtype=torch.float32).view(torch.int32).item() & 0xffffffff


def signed(codes, name):
    """Codes of tf32 as they fit an int32."""
    return [[code - (1 << 32) if name == "tf32" and code >> 31 else code for code in row] for row in codes]


def lines_of(torch, simulator, unit, cls, arch, qualifier, count):
    instruction = getattr(simulator, cls)(arch, qualifier)
    a, b, scale, block = types_of(cls, qualifier)
    m, n, k = min(instruction.m, 16), instruction.n, instruction.k
    instruction.m = m
    is_half = instruction.d_type == torch.float16
    done, lines = 0, []
    while done < count:
        kind = random.randrange(4)
        left = [[draw(a, kind) for _ in range(k)] for _ in range(m)]
        right = [[draw(b, kind) for _ in range(k)] for _ in range(n)]
        if kind == 3:  # they cancel, but for the last ones
            sign = sum(FORMATS[a][:2]) + FORMATS[a][3]
            for row in left:
                row[1:k // 2:2] = [code ^ 1 << sign for code in row[0:k // 2:2]][:len(row[1:k // 2:2])]
            for row in right:
                row[1:k // 2:2] = row[0:k // 2:2][:len(row[1:k // 2:2])]
        sums = [[draw_sum(torch, is_half, kind) for _ in range(n)] for _ in range(m)]
        begin = torch.tensor(sums, dtype=instruction.d_type)
        arguments = [tensor(torch, signed(left, a), a), tensor(torch, signed(right, b), b).T, begin]
        scales = [[], []]
        if block:
            count_of = k // block
            low, high = (120, 134) if scale == "e8m0" else (0x20, 0x58)
            scales = [[[random.randint(low, high) for _ in range(count_of)] for _ in range(rows)] for rows in (m, n)]
            for rows in scales:
                values = torch.tensor(rows, dtype=torch.uint8)
                if scale == "e8m0":
                    values = (2.0 ** (values.double() - 127)).to(torch.float8_e8m0fnu)
                else:
                    values = values.view(torch.float8_e4m3fn)
                arguments.append(values if rows is scales[0] else values.T)
        result = instruction(*arguments)
        for i in range(m):
            for j in range(n):
                words = [unit, a, b, scale, str(k), f"{bits_of(torch, begin[i, j].item()):08x}",
                         f"{bits_of(torch, result[i, j].item()):08x}"]
                words += ["".join(f"{code:0{WIDTHS.get(name, 2)}x}" for code in row) for row, name in ((left[i], a), (right[j], b))]
                if block:
                    words += ["".join(f"{code:02x}" for code in row) for row in (scales[0][i], scales[1][j])]
                lines.append(" ".join(words))
        done += m * n
    return random.sample(lines, count)


def write(path, count):
    folder = os.environ.get("MMASIM")
    if not folder:
        raise tap.Skip("MMASIM is not set")
    torch = load("torch")
    if not hasattr(torch, "float8_e8m0fnu"):  # before 2.7; scales are powers of two in it
        torch.float8_e8m0fnu = torch.float64
    sys.path.insert(0, folder)
    from mmasim.simulator import amd, nv_ptx
    pairs = amd.pairwise_dot  # which at that commit takes floats alone
    amd.pairwise_dot = lambda x, y, flushes: pairs(x.float(), y.float(), flushes)
    random.seed(36)
    with open(path, "w", encoding="ascii") as to:
        to.write("# SPDX-License-Identifier: MIT\n# Sums that microsoft/MMA-Sim, commit c785138, computes of drawn elements: witness_mmasim.py --write.\n")
        for unit, cls, arch, qualifier in UNITS:
            for line in lines_of(torch, amd if cls == MFMA else nv_ptx, unit, cls, arch, qualifier, count):
                to.write(line + "\n")


def mma_sim_gives_the_same_sums():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 256
    with tempfile.NamedTemporaryFile(suffix=".txt") as vectors:
        write(vectors.name, count)
        done = subprocess.run([sys.argv[1], vectors.name], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


if sys.argv[1] == "--write":
    write(sys.argv[2], int(sys.argv[3]))
else:
    sys.exit(tap.run(mma_sim_gives_the_same_sums))
