#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Scales of amaxes, their inverses and delayed scaling: against exact arithmetic, and against Transformer Engine.

    test_scale_exact.py PATH-OF-CODES-LIBRARY

The functions of Transformer Engine that find scales are PyTorch alone. The package cannot be imported without a GPU, so they
are taken out of its files; skipped where it or PyTorch is not installed. Where the two differ on purpose, the exact
condition is written at the property.
"""

import ast
import ctypes
import importlib.util
import random
import struct
import sys
from fractions import Fraction
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap

INF, LARGEST, NAN = 0x7F800000, 0x7F7FFFFF, 0x7FFFFFFF
E4M3, E5M2 = 448.0, 57344.0
MAX, MOST_RECENT = range(2)

library = ctypes.CDLL(sys.argv[1])


def to_float(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def to_bits(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def floats_of(words):
    """Memory with the floats of these bits."""
    return (ctypes.c_uint32 * len(words))(*words)


def exact(bits):
    """The value of a finite positive float: significand and exponent."""
    field, fraction = bits >> 23, bits & 0x7FFFFF
    return (fraction | 0x800000, field - 150) if field else (fraction, -149)


def log2_floor(top, bottom):
    exponent = top.bit_length() - bottom.bit_length()
    return exponent - (top << max(-exponent, 0) < bottom << max(exponent, 0))


def rounded(top, bottom):
    """The bits of the float nearest to top / bottom, ties to even; at least FLT_TRUE_MIN, at most FLT_MAX."""
    exponent = max(log2_floor(top, bottom), -126)
    shift = 23 - exponent
    top, bottom = top << max(shift, 0), bottom << max(-shift, 0)
    kept, rest = divmod(top, bottom)
    kept += 2 * rest + (kept & 1) > bottom
    return min(max((exponent + 126 << 23) + kept, 1), LARGEST)


def below(top, bottom):
    """The bits of the largest power of two up to top / bottom that is a float; 2^-149 where there is none."""
    exponent = min(max(log2_floor(top, bottom), -149), 127)
    return exponent + 127 << 23 if exponent >= -126 else 1 << exponent + 149


def scale_of(amax, largest, power_of_two, margin):
    (a, a_exponent), (m, m_exponent) = exact(amax), exact(largest)
    exponent = m_exponent - a_exponent - margin
    return (below if power_of_two else rounded)(m << max(exponent, 0), a << max(-exponent, 0))


def inverse_of(scale):
    significand, exponent = exact(scale)
    return rounded(1 << max(-exponent, 0), significand << max(exponent, 0))


def amaxes():
    """Every power of two and its two neighbours, the ends, what is as 448, and random ones; bits, all above 0, finite."""
    generator = random.Random(17)
    powers = [1 << k for k in range(23)] + [k << 23 for k in range(1, 255)]
    edges = [1, 2, 3, 0x007FFFFF, 0x00800000, 0x00800001, LARGEST - 1, LARGEST]
    like = [(k << 23 | 0x600000) + d for k in range(1, 255, 11) for d in (-1, 0, 1)]
    every = {power + d for power in powers for d in (-1, 0, 1)} | set(edges) | set(like)
    return sorted(every - {0}) + [generator.randrange(1, INF) for _ in range(400)]


def check_scales(largest, margins):
    words = amaxes()
    count = ctypes.c_size_t(len(words))
    scales, inverses = floats_of([0] * len(words)), floats_of([0] * len(words))
    for margin in margins:
        for power_of_two in (0, 1):
            library.codes_scales_of(floats_of(words), count, ctypes.c_float(to_float(largest)), power_of_two, margin,
                                    scales, inverses)
            for amax, scale, inverse in zip(words, scales, inverses):
                what = f"amax {amax:08x}, max {largest:08x}, power of two {power_of_two}, margin {margin}"
                want = scale_of(amax, largest, power_of_two, margin)
                assert scale == want, f"{what}: {scale:08x}, want {want:08x}"
                assert inverse == inverse_of(scale), f"{what}: inverse {inverse:08x}, want {inverse_of(scale):08x}"
                if power_of_two and scale > 1:
                    (a, ae), (s, se), (m, me) = exact(amax), exact(scale), exact(largest)
                    assert Fraction(a * s) * Fraction(2) ** (ae + se + margin) <= Fraction(m) * Fraction(2) ** me, what


def scales_of_fp8_are_exact():
    for largest in (E4M3, E5M2):
        check_scales(to_bits(largest), (0, 1, 7))


def scales_of_other_formats_are_exact():
    for largest in (240.0, 30.0, 7.5, 1.0, 6.0):
        check_scales(to_bits(largest), (0,))


def scales_at_the_ends_are_exact():
    check_scales(to_bits(E4M3), (-126, 126))
    for largest in (1, 0x00800000, LARGEST):
        check_scales(largest, (126, -126))


def amaxes_of_training(generator, count):
    """A random walk of normal sizes."""
    exponent, words = 0.0, []
    for _ in range(count):
        exponent = min(max(exponent + generator.gauss(0, 1.5), -60), 60)
        words.append(to_bits(generator.uniform(1, 2) * 2.0**exponent))
    return words


def trace(words, length, algorithm, largest, power_of_two, margin):
    scales, inverses = floats_of([0] * len(words)), floats_of([0] * len(words))
    status = library.codes_amax_trace(floats_of(words), ctypes.c_size_t(len(words)), ctypes.c_uint32(length), algorithm,
                                      ctypes.c_float(largest), power_of_two, margin, scales, inverses)
    assert status == 0, status
    return list(scales), list(inverses)


def delayed_scaling_is_exact():
    """Zeros, Inf and NaN are left out of the window; the scale then stays."""
    generator = random.Random(5)
    for _ in range(60):
        length, algorithm = generator.choice([1, 2, 3, 8, 50]), generator.randrange(2)
        power_of_two, margin, largest = generator.randrange(2), generator.randrange(-3, 4), generator.choice([E4M3, E5M2])
        words = amaxes_of_training(generator, 150)
        for place in range(len(words)):
            if generator.random() < 0.1:
                words[place] = generator.choice([0, 0x80000000, INF, 0xFF800000, NAN, 0xFFC00000])
        scales, inverses = trace(words, length, algorithm, largest, power_of_two, margin)
        window, want = [], to_bits(1.0)
        for place, word in enumerate(words):
            if 0 < word & 0x7FFFFFFF < INF:
                window.append(word)
                amax = max(window[-length:]) if algorithm == MAX else word
                want = scale_of(amax, to_bits(largest), power_of_two, margin)
            assert scales[place] == want, f"length {length}, step {place}: {scales[place]:08x}, want {want:08x}"
            assert inverses[place] == inverse_of(want)


class TransformerEngine:
    """Functions of one of its files, which need PyTorch alone, without their decorators."""

    def __init__(self, path, *names):
        spec = importlib.util.find_spec("transformer_engine")
        if spec is None or not spec.origin:
            raise tap.Skip("no transformer_engine")
        source = Path(spec.origin).parent / path
        if not source.exists():
            raise tap.Skip(f"this transformer_engine has no {path}")
        try:
            self.torch = importlib.import_module("torch")
        except ImportError as reason:
            raise tap.Skip(f"no torch: {reason}") from None
        self.torch.set_num_threads(1)
        wanted = [node for node in ast.parse(source.read_text()).body
                  if isinstance(node, ast.FunctionDef) and node.name in names]
        if len(wanted) != len(names):
            raise tap.Skip(f"{path} of this transformer_engine has other functions")
        for node in wanted:
            node.decorator_list = []
        scope = {"torch": self.torch, "Tuple": tuple}
        exec(compile(ast.Module(wanted, []), str(source), "exec"), scope)
        self.functions = [scope[name] for name in names]


def delayed_scaling_agrees_with_transformer_engine():
    """Bit for bit, for amaxes above 0 and finite whose quotients are normal floats, with the largest value as a tensor: PyTorch
    divides a number by a tensor in two steps, reciprocal and product, which is one unit in the last place away at most.
    Zeros take a place in the window there; here they do not enter it."""
    engine = TransformerEngine("pytorch/quantization.py", "_update_amax_history", "_default_get_amax_and_update_history",
                               "_default_sf_compute")
    torch = engine.torch
    _, get_amax, compute_scale = engine.functions
    generator = random.Random(8)
    for _ in range(100):
        length, algorithm = generator.choice([1, 2, 3, 16, 100]), generator.randrange(2)
        margin, largest = generator.randrange(-2, 4), generator.choice([E4M3, E5M2])
        words = amaxes_of_training(generator, 200)
        scales, inverses = trace(words, length, algorithm, largest, 0, margin)
        history, scale = torch.zeros(length, 1), torch.ones(1)
        for place, word in enumerate(words):
            history[0] = to_float(word)
            history, amax = get_amax(history, ("max", "most_recent")[algorithm])
            in_two_steps = to_bits(compute_scale(amax, scale.clone(), largest, margin).item())
            scale = compute_scale(amax, scale, torch.tensor(largest), margin)
            assert abs(in_two_steps - scales[place]) <= 1, f"step {place}: {in_two_steps:08x} by a reciprocal"
            assert to_bits(scale.item()) == scales[place], f"step {place}: {scales[place]:08x}, theirs {scale.item()}"
            assert to_bits((1.0 / scale).item()) == inverses[place], f"inverse, step {place}"


def an_inf_pins_the_scale_of_transformer_engine_alone():
    """Until it has left the window there. Here it does not enter it."""
    engine = TransformerEngine("pytorch/quantization.py", "_update_amax_history", "_default_get_amax_and_update_history",
                               "_default_sf_compute")
    torch = engine.torch
    _, get_amax, compute_scale = engine.functions
    amaxes_, length = [1.0, float("inf"), 4.0, 4.0, 4.0, 4.0], 4
    history, scale, theirs = torch.zeros(length, 1), torch.ones(1), []
    for amax in amaxes_:
        history[0] = amax
        history, chosen = get_amax(history, "max")
        scale = compute_scale(chosen, scale, E4M3, 0)
        theirs.append(scale.item())
    ours = [to_float(bits) for bits in trace([to_bits(x) for x in amaxes_], length, MAX, E4M3, 0, 0)[0]]
    assert ours == [448, 448, 112, 112, 112, 112], ours
    assert theirs == [448, 448, 448, 448, 448, 112], theirs


def current_scaling_agrees_with_transformer_engine():
    """Its reference for scales of a tensor's own amax: all amaxes above 0 and finite, powers of two or not. There an amax of Inf
    gives a scale of 0, and one of NaN NaN; here the fallback."""
    engine = TransformerEngine("pytorch/custom_recipes/reference_current_scaling.py", "_scale_from_amax_tensor")
    torch, (scale_from_amax,) = engine.torch, engine.functions
    words = amaxes()
    tensor = torch.tensor([word for word in words], dtype=torch.int32).view(torch.float32)
    for dtype, largest in ((torch.float8_e4m3fn, E4M3), (torch.float8_e5m2, E5M2)):
        for power_of_two in (0, 1):
            scales, inverses = floats_of([0] * len(words)), floats_of([0] * len(words))
            library.codes_scales_of(floats_of(words), ctypes.c_size_t(len(words)), ctypes.c_float(largest), power_of_two, 0,
                                    scales, inverses)
            theirs, their_inverses, _ = scale_from_amax(torch.float32, amax=tensor, quant_dtype=dtype, eps=0.0,
                                                        pow_2_scales=bool(power_of_two))
            for ours, their in ((scales, theirs), (inverses, their_inverses)):
                differ = [f"{word:08x}: {a:08x}, theirs {b & 0xFFFFFFFF:08x}"
                          for word, a, b in zip(words, ours, their.view(torch.int32).tolist()) if a != b]
                assert not differ, f"{dtype}, power of two {power_of_two}: {len(differ)} differ: {differ[:5]}"


if __name__ == "__main__":
    sys.exit(tap.run(
        scales_of_fp8_are_exact,
        scales_of_other_formats_are_exact,
        scales_at_the_ends_are_exact,
        delayed_scaling_is_exact,
        delayed_scaling_agrees_with_transformer_engine,
        an_inf_pins_the_scale_of_transformer_engine_alone,
        current_scaling_agrees_with_transformer_engine,
    ))
