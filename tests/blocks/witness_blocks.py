#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gfloat, torchao and microxcaling as witnesses of block formats.

    witness_blocks.py PATH-OF-BLOCKS-LIBRARY

Those that are not installed are skipped, each with its reason. torchao needs PyTorch, and
microxcaling, the module mx, is not on PyPI: both come where python3 finds them. What a witness does
otherwise is written at its property, and in docs/block-witnesses.md: the blocks that are left out are
named there, and all others have to agree.
"""

import ctypes
import importlib
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from witness import load, pointer

FLOOR, CEIL, EVEN, RCEIL, TWO_LEVEL = range(5)
RULES = {"FLOOR": FLOOR, "CEIL": CEIL, "EVEN": EVEN, "RCEIL": RCEIL}
# Exponent of the largest value, and that value.
EMAX = {"e4m3": 8, "e5m2": 15, "e3m2": 4, "e2m3": 2, "e2m1": 2, "int8": 0}
MAX = {"e4m3": 448.0, "e5m2": 57344.0, "e3m2": 28.0, "e2m3": 7.5, "e2m1": 6.0, "int8": 127 / 64}
MANTISSA_BITS = {"e4m3": 3, "e5m2": 2, "e3m2": 2, "e2m3": 3, "e2m1": 1, "int8": 6}

library = ctypes.CDLL(sys.argv[1])
library.blocks_scale_bytes.restype = ctypes.c_size_t
library.blocks_nvfp4_scale.restype = ctypes.c_float
library.blocks_nvfp4_scale.argtypes = [ctypes.c_float]


def quantize(element, rule, x, scale=1.0, block=32, is_swizzled=False):
    """Codes, a byte each, and scales as they are stored."""
    np = load("numpy")
    x = np.ascontiguousarray(x, np.float32)
    rows, columns = x.shape
    sizes = ctypes.c_size_t(rows), ctypes.c_size_t(columns)
    name, width = element.encode(), ctypes.c_size_t(block)
    scales = np.zeros(library.blocks_scale_bytes(name, rule, width, *sizes, int(is_swizzled)), np.uint8)
    codes = np.zeros(x.shape, np.uint8)
    status = library.blocks_quantize(name, rule, width, pointer(x), *sizes, ctypes.c_float(scale),
                                     int(is_swizzled), pointer(codes), pointer(scales),
                                     ctypes.c_size_t(scales.size))
    assert status == 0, f"{element}: status {status}"
    return codes, scales


def dequantize(element, rule, codes, scales, scale=1.0, block=32):
    np = load("numpy")
    values = np.zeros(codes.shape, np.float32)
    sizes = ctypes.c_size_t(codes.shape[0]), ctypes.c_size_t(codes.shape[1])
    status = library.blocks_dequantize(element.encode(), rule, ctypes.c_size_t(block), pointer(values),
                                       *sizes, ctypes.c_float(scale), 0, pointer(codes),
                                       pointer(scales), ctypes.c_size_t(scales.size))
    assert status == 0, f"{element}: status {status}"
    return values


def blocks_of(element, width=32, count=3000):
    """Rows of a block each: with amax at and beside every power of two, the largest value times it
    and what rounds to the next one; random ones; zeros. No Inf, no NaN."""
    np = load("numpy")
    generator = np.random.default_rng(5)
    exponents = np.arange(-149, 128)
    mantissas = np.array([1, MAX[element] / 2.0 ** EMAX[element], 2 - 2.0 ** -(MANTISSA_BITS[element] + 1)])
    amax = (mantissas * 2.0 ** exponents[:, None]).astype(np.float32).ravel()
    amax = np.concatenate([amax, np.nextafter(amax, np.float32(0)), np.nextafter(amax, np.float32(np.inf))])
    amax = amax[np.isfinite(amax) & (amax > 0)]
    below = generator.uniform(-1, 1, (amax.size, width))
    edges = np.where(generator.random(below.shape) < 0.5, below,
                     below * 2.0 ** generator.integers(-12, 1, below.shape)) * amax[:, None]
    edges[np.arange(amax.size), generator.integers(0, width, amax.size)] = amax
    random = generator.standard_normal((count, width)) * 2.0 ** generator.uniform(-40, 40, (count, 1))
    ties = np.round(random / np.abs(random).max(1, keepdims=True) * 64) / 64 * 2.0 ** 3
    zeros = np.zeros((2, width))
    zeros[1] = -0.0
    return np.concatenate([edges, random, ties, zeros]).astype(np.float32)


def agree(got, want, x, what):
    """Equal numbers row by row; NaN equals NaN."""
    np = load("numpy")
    same = (got == want) | ((got != got) & (want != want))
    wrong = np.flatnonzero(~same.all(1))
    examples = []
    for row in wrong[:4]:
        column = np.flatnonzero(~same[row])[0]
        examples.append(f"amax {float(np.abs(x[row]).max()).hex()}, {float(x[row, column]).hex()}: "
                        f"got {got[row, column]!r}, want {want[row, column]!r}")
    assert wrong.size == 0, f"{what}: {wrong.size} of {len(x)} blocks differ: " + "; ".join(examples)


def amax_of(x):
    np = load("numpy")
    return np.abs(x.astype(np.float64)).max(1)


# gfloat: FLOOR in float64.

GFLOAT = {"e4m3": "mxfp8_e4m3", "e5m2": "mxfp8_e5m2", "e3m2": "mxfp6_e3m2", "e2m3": "mxfp6_e2m3",
          "e2m1": "mxfp4_e2m1", "int8": "mxint8"}


def mx_blocks_agree_with_gfloat():
    """Left out: -128 of gfloat's int8, where the library stops at -127."""
    gfloat = load("gfloat")
    np = load("numpy")
    block = importlib.import_module("gfloat.block")
    formats = importlib.import_module("gfloat.formats")
    for element, theirs in GFLOAT.items():
        info = getattr(formats, f"format_info_{theirs}")
        x = blocks_of(element, count=60)[::7]
        want = np.array([block.quantize_block(info, row.astype(np.float64), block.compute_scale_amax)
                         for row in x])
        got = dequantize(element, FLOOR, *quantize(element, FLOOR, x)).astype(np.float64)
        if element == "int8":
            scale = 2.0 ** np.clip(np.frexp(amax_of(x))[1] - 1, -127, 127)
            lowest = want == -2 * scale[:, None]
            assert lowest.any(), "no -128"
            assert (got == -127 / 64 * scale[:, None])[lowest].all(), "for -128"
            want[lowest] = got[lowest]
        agree(got, want, x, element)


# torchao: codes and scales of all four rules, NVFP4, the layout of scales.

TORCHAO = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e3m2": "fp6_e3m2", "e2m3": "fp6_e2m3",
           "e2m1": "float4_e2m1fn_x2"}


def load_torchao(name):
    load("torch")
    load("torchao")
    return importlib.import_module(f"torchao.prototype.mx_formats.{name}")


def torchao_mx(element, rule, x):
    """Codes and scales of to_mx."""
    torch = load("torch")
    np = load("numpy")
    tensor, config = load_torchao("mx_tensor"), load_torchao("config")
    theirs = TORCHAO[element]
    theirs = theirs if theirs.startswith("fp6") else getattr(torch, theirs)
    scales, codes = tensor.to_mx(torch.from_numpy(x), theirs, 32, config.ScaleCalculationMode[rule])
    codes = codes.view(torch.uint8).numpy().reshape(len(x), -1)
    if element == "e2m1":
        codes = np.stack([codes & 15, codes >> 4], -1).reshape(x.shape)
    return codes, scales.view(torch.uint8).numpy().reshape(-1)


def beside_a_power(amax, factor):
    """How far amax is from the next lower power of two times a factor, and from the next one, as
    shares of it: logarithms of floats do not see either where it is small."""
    np = load("numpy")
    fraction = np.frexp(amax / factor)[0] * 2
    return fraction - 1, 2 - fraction


def mx_blocks_agree_with_torchao():
    """Left out: codes of blocks whose scale is 2^-127, for which torchao divides by 2^-126 (and by
    nothing with RCEIL); scales of RCEIL where its log2 of a float just above a power of two is that
    power's."""
    load_torchao("mx_tensor")
    np = load("numpy")
    for element in TORCHAO:
        x = blocks_of(element)
        for rule, number in RULES.items():
            want, want_scales = torchao_mx(element, rule, x)
            got, got_scales = quantize(element, number, x)
            above, _ = beside_a_power(amax_of(x), MAX[element])
            unseen = (above > 0) & (above < 2.0**-17) if rule == "RCEIL" else np.zeros(len(x), bool)
            least = got_scales == 0
            agree(got_scales[~unseen, None], want_scales[~unseen, None], x[~unseen],
                  f"scales of {element} {rule}")
            kept = ~least & ~unseen
            agree(got[kept], want[kept], x[kept], f"codes of {element} {rule}")
            assert kept.mean() > 0.9, kept.mean()
            assert (want[least] != got[least]).any(), f"{element} {rule}: 2^-127 is no difference any more"
            if rule == "RCEIL":
                short = want_scales[unseen] + 1 == got_scales[unseen]
                assert short.any(), f"{element}: no difference above a power of two"


def torchao_has_scales_for_inf():
    """Inf is taken as a number of the binade above the largest, or, with RCEIL, has the largest scale;
    of a NaN the scale is NaN, and codes of the others are those of zeros, but for RCEIL."""
    load_torchao("mx_tensor")
    np = load("numpy")
    for element in TORCHAO:
        nan = 0x7f if element.startswith(("e4", "e5")) else None
        for value in (np.nan, np.inf, -np.inf):
            x = np.ones((2, 32), np.float32)
            x[:, 5] = value
            for rule, number in RULES.items():
                codes, scales = torchao_mx(element, rule, x)
                got, got_scales = quantize(element, number, x)
                infinite = 254 if rule == "RCEIL" else 255 - EMAX[element]
                assert (got_scales == 255).all() and (got == got[0, 0]).all(), f"{element} {rule}"
                assert (scales == (255 if value != value else infinite)).all(), f"{element} {rule}: {scales}"
                if value != value and rule != "RCEIL":
                    assert (codes[:, 0] == 0).all() and nan in (None, codes[0, 5]), f"{element} {rule}"


def nvfp4_blocks_agree_with_torchao():
    """Left out: block scales below 2^-6, which torchao does not give, and ties of e4m3, as its
    operations are others: (amax / 6) / (g / 2688). Where the scales are the same, so are the codes."""
    nvfp4 = load_torchao("nvfp4_tensor")
    torch = load("torch")
    np = load("numpy")
    generator = np.random.default_rng(6)
    random = generator.standard_normal((4000, 16)) * 2.0 ** generator.uniform(-14, 0, (4000, 1))
    significands = 16 + generator.integers(0, 16, (2000, 1)) + 0.0  # of d with four bits: half are ties
    ties = generator.uniform(-1, 1, (2000, 16))
    ties[:, :1] = 1
    for g in (448.0, 3.3, 1e-3, 1e30):
        tie_amax = significands * 2.0 ** generator.integers(-10, 3, (2000, 1)) * g / 448
        x = np.concatenate([random / np.abs(random).max() * g, ties * np.minimum(tie_amax, g)]).astype(np.float32)
        x[0, 0] = g
        scale = library.blocks_nvfp4_scale(np.abs(x).max())
        want_scales, packed = nvfp4.nvfp4_quantize(
            torch.from_numpy(x), 16, nvfp4.per_tensor_amax_to_scale(torch.tensor(np.abs(x).max())))
        packed = packed.view(torch.uint8).numpy().reshape(len(x), -1)
        want = np.stack([packed & 15, packed >> 4], -1).reshape(x.shape)
        want_scales = want_scales.view(torch.uint8).numpy().reshape(-1)
        got, got_scales = quantize("e2m1", TWO_LEVEL, x, scale, 16)
        normal = got_scales >= 8
        same = normal & (got_scales == want_scales)
        assert (want_scales[~normal] == 8).all(), "a block scale below 2^-6"
        assert (np.abs(got_scales.astype(int) - want_scales)[normal] <= 1).all(), "not the next scale"
        is_tie = np.arange(len(x)) >= len(random)
        agree(got_scales[normal & ~is_tie, None], want_scales[normal & ~is_tie, None], x[normal & ~is_tie], "scales")
        agree(got[same], want[same], x[same], "codes")
        other = (~same & normal & is_tie).sum()
        print(f"# {other} of {is_tie.sum()} with another scale")
        assert other <= 0.3 * is_tie.sum(), other


def scales_lie_where_torchao_puts_them():
    utils = load_torchao("utils")
    torch = load("torch")
    np = load("numpy")
    generator = np.random.default_rng(7)
    for rows, columns in ((1, 32), (128, 128), (129, 160), (300, 544), (33, 96)):
        x = generator.standard_normal((rows, columns)) * 2.0 ** generator.integers(-60, 60, (rows, columns))
        _, scales = quantize("e4m3", RCEIL, x)
        _, swizzled = quantize("e4m3", RCEIL, x, is_swizzled=True)
        want = utils.to_blocked(torch.from_numpy(scales.reshape(rows, -1))).numpy().reshape(-1)
        assert (swizzled == want).all(), f"{rows} x {columns}"


# microxcaling: values of FLOOR, in f32.

MICROXCALING = {"e4m3": "fp8_e4m3", "e5m2": "fp8_e5m2", "e3m2": "fp6_e3m2", "e2m3": "fp6_e2m3",
                "e2m1": "fp4_e2m1", "int8": "int8"}


def mx_blocks_agree_with_microxcaling():
    """Left out: blocks whose amax is just below a power of two, whose log2 in float32 is that power's
    exponent."""
    torch = load("torch")
    mx_ops = load("mx.mx_ops")
    np = load("numpy")
    for element, theirs in MICROXCALING.items():
        x = blocks_of(element)
        want = mx_ops._quantize_mx(torch.from_numpy(x.copy()), 8, theirs, axes=[-1], block_size=32,
                                   round="even").numpy()
        got = dequantize(element, FLOOR, *quantize(element, FLOOR, x))
        _, below = beside_a_power(amax_of(x), 1)
        unseen = (below > 0) & (below < 2.0**-17)
        agree(got[~unseen], want[~unseen], x[~unseen], element)
        assert (got[unseen] != want[unseen]).any(), f"{element}: no difference below a power of two"
        assert unseen.mean() < 0.1, unseen.mean()


if __name__ == "__main__":
    sys.exit(tap.run(
        mx_blocks_agree_with_gfloat,
        mx_blocks_agree_with_torchao,
        torchao_has_scales_for_inf,
        nvfp4_blocks_agree_with_torchao,
        scales_lie_where_torchao_puts_them,
        mx_blocks_agree_with_microxcaling,
    ))
