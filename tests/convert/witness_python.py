#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ml_dtypes, gfloat, NumPy and PyTorch as witnesses of every encoder and decoder they have.

    witness_python.py PATH-OF-CODES-LIBRARY

Those that are not installed are skipped, each with its reason. What a witness does otherwise is
written at its property: a source or a code that is left out is named there.
"""

import ctypes
import importlib
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from witness import load, pointer

NEAREST_EVEN, TOWARD_ZERO, UP, DOWN, NEAREST_AWAY, TO_ODD, STOCHASTIC = range(7)
IEEE, SATURATE = range(2)
SPECIALS_IEEE, SPECIALS_FN, SPECIALS_FNUZ, SPECIALS_FINITE, SPECIALS_P3109 = range(5)
PRESET_CUDA, PRESET_ML_DTYPES, PRESET_PYTORCH_2_11, PRESET_F16C = range(4)

library = ctypes.CDLL(sys.argv[1])
library.codes_format_size.restype = ctypes.c_size_t


class Format:
    """A format of the library, and its sign, exponent and mantissa bits and bias."""

    def __init__(self, sign_bits, exponent_bits, mantissa_bits, bias):
        self.sign_bits, self.exponent_bits = sign_bits, exponent_bits
        self.mantissa_bits, self.bias = mantissa_bits, bias
        self.width = sign_bits + exponent_bits + mantissa_bits
        self.handle = ctypes.create_string_buffer(library.codes_format_size())
        self.overflow = IEEE

    def encode(self, source, rounding=NEAREST_EVEN, overflow=None, random=None):
        import numpy as np

        source = np.ascontiguousarray(source)
        call = {4: library.codes_encode_f32, 8: library.codes_encode_f64}[source.itemsize]
        codes = np.empty(source.size, np.uint32)
        if overflow is None:
            overflow = self.overflow
        call(self.handle, pointer(source), pointer(codes), ctypes.c_size_t(source.size), rounding,
             overflow, None if random is None else pointer(random))
        return codes

    def decode(self, codes, dtype):
        import numpy as np

        call = {4: library.codes_decode_f32, 8: library.codes_decode_f64}[np.dtype(dtype).itemsize]
        codes = np.ascontiguousarray(codes, np.uint32)
        values = np.empty(codes.size, dtype)
        call(self.handle, pointer(codes), pointer(values), ctypes.c_size_t(codes.size))
        return values


# Sign, exponent and mantissa bits, bias: by definition.
NUMBERS = {
    "f32": (1, 8, 23, 127), "bf16": (1, 8, 7, 127), "f16": (1, 5, 10, 15), "e5m2": (1, 5, 2, 15),
    "e4m3": (1, 4, 3, 7), "e5m2fnuz": (1, 5, 2, 16), "e4m3fnuz": (1, 4, 3, 8), "e3m4": (1, 3, 4, 3),
    "e8m0": (0, 8, 0, 127), "e3m2": (1, 3, 2, 3), "e2m3": (1, 2, 3, 1), "e2m1": (1, 2, 1, 1),
}


def named(name):
    format = Format(*NUMBERS[name])
    assert library.codes_format_named(format.handle, name.encode()) == 0
    return format


def preset(which, name):
    format = Format(*NUMBERS[name])
    format.overflow = library.codes_preset_named(format.handle, which, name.encode())
    return format


def made(sign_bits, exponent_bits, mantissa_bits, bias, specials):
    """A format of mpnum_format_init, or None where it makes none."""
    format = Format(sign_bits, exponent_bits, mantissa_bits, bias)
    status = library.codes_format_make(format.handle, sign_bits, exponent_bits, mantissa_bits,
                                       bias, specials)
    return None if status else format


def inputs(format, dtype, random_count=50000):
    """Numbers of dtype: at and beside every value of the format and every midpoint, and random."""
    import numpy as np

    magnitudes = 1 << (format.exponent_bits + format.mantissa_bits)
    codes = np.arange(0, magnitudes + 1, max(1, magnitudes >> 16))
    field = codes >> format.mantissa_bits
    fraction = (codes & ((1 << format.mantissa_bits) - 1)) * 2.0**-format.mantissa_bits
    normal = (1 + fraction) * 2.0 ** (field - format.bias)
    values = np.where(field == 0, fraction * 2.0 ** (1 - format.bias), normal)
    points = np.concatenate([values, (values[1:] + values[:-1]) / 2])
    points = points.astype(dtype)
    points = points[np.isfinite(points)]
    up, down = np.nextafter(points, dtype(np.inf)), np.nextafter(points, dtype(0))
    generator = np.random.default_rng(1)
    words = generator.integers(0, 2**32 if dtype == np.float32 else 2**64, random_count,
                               np.uint32 if dtype == np.float32 else np.uint64)
    anywhere = words.view(dtype)
    exponents = generator.uniform(-format.bias - format.mantissa_bits - 3,
                                  (1 << format.exponent_bits) - format.bias + 1, random_count)
    near = (2.0**exponents).astype(dtype)
    limits = np.finfo(dtype)
    extremes = np.array([0, limits.tiny, limits.smallest_subnormal, limits.max, np.inf], dtype)
    result = np.concatenate([points, up, down, anywhere[~np.isnan(anywhere)], near, extremes])
    return np.concatenate([result, -result])


def agree(got, want, source, what):
    import numpy as np

    wrong = np.flatnonzero(got != want)
    examples = ", ".join(f"{source[i]!r}: got {int(got[i]):x}, want {int(want[i]):x}"
                         for i in wrong[:5])
    assert wrong.size == 0, f"{what}: {wrong.size} of {got.size} differ: {examples}"


def both_dtypes():
    import numpy as np

    return (np.float32, np.float64)


# NumPy: float16, and float32 from float64.


def f16_and_f32_agree_with_numpy():
    np = load("numpy")
    for dtype in both_dtypes():
        source = inputs(named("f16"), dtype)
        want = source.astype(np.float16).view(np.uint16)
        agree(named("f16").encode(source), want, source, f"f16 from {dtype.__name__}")
    source = np.concatenate([inputs(named("f32"), np.float64), inputs(named("bf16"), np.float64)])
    want = source.astype(np.float32).view(np.uint32)
    agree(named("f32").encode(source), want, source, "f32 from float64")
    codes = np.arange(1 << 16, dtype=np.uint16)
    codes = codes[~np.isnan(codes.view(np.float16))]
    for dtype, bits in ((np.float32, np.uint32), (np.float64, np.uint64)):
        want = codes.view(np.float16).astype(dtype).view(bits)
        agree(named("f16").decode(codes, dtype).view(bits), want, codes, f"f16 to {dtype.__name__}")


# ml_dtypes.

ML_DTYPES = {
    "bfloat16": "bf16", "float8_e5m2": "e5m2", "float8_e4m3fn": "e4m3",
    "float8_e5m2fnuz": "e5m2fnuz", "float8_e4m3fnuz": "e4m3fnuz", "float8_e3m4": "e3m4",
    "float6_e3m2fn": "e3m2", "float6_e2m3fn": "e2m3", "float4_e2m1fn": "e2m1",
}


def ml_dtypes_codes(ml_dtypes, name, source):
    np = load("numpy")
    dtype = getattr(ml_dtypes, name)
    return source.astype(dtype).view(f"u{np.dtype(dtype).itemsize}")


def ml_dtypes_inputs(format, dtype):
    """From float64 ml_dtypes goes by way of float32 and so rounds twice: only floats are given."""
    np = load("numpy")
    return inputs(format, dtype).astype(np.float32).astype(dtype)


def conversions_agree_with_ml_dtypes():
    ml_dtypes = load("ml_dtypes")
    for theirs, ours in ML_DTYPES.items():
        for dtype in both_dtypes():
            source = ml_dtypes_inputs(named(ours), dtype)
            want = ml_dtypes_codes(ml_dtypes, theirs, source)
            agree(preset(PRESET_ML_DTYPES, ours).encode(source), want, source,
                  f"{ours} from {dtype.__name__}")
            # Without NaN the preset is the plain format.
            agree(named(ours).encode(source), want, source, f"plain {ours}")


def made_formats_agree_with_ml_dtypes():
    ml_dtypes = load("ml_dtypes")
    shapes = {
        "float8_e4m3": (1, 4, 3, 7, SPECIALS_IEEE),
        "float8_e4m3b11fnuz": (1, 4, 3, 11, SPECIALS_FNUZ),
    }
    for theirs, shape in shapes.items():
        format = made(*shape)
        for dtype in both_dtypes():
            source = ml_dtypes_inputs(format, dtype)
            agree(format.encode(source), ml_dtypes_codes(ml_dtypes, theirs, source), source,
                  f"{theirs} from {dtype.__name__}")


def e8m0_rounds_to_nearest_away_as_ml_dtypes():
    """Zero, negatives, Inf and what is below 2^-126 ml_dtypes treats otherwise."""
    ml_dtypes = load("ml_dtypes")
    np = load("numpy")
    for dtype in both_dtypes():
        source = ml_dtypes_inputs(named("e8m0"), dtype)
        source = source[(source >= 2.0**-126) & np.isfinite(source)]
        agree(named("e8m0").encode(source, NEAREST_AWAY),
              ml_dtypes_codes(ml_dtypes, "float8_e8m0fnu", source), source,
              f"e8m0 from {dtype.__name__}")


def e8m0_differs_from_ml_dtypes_where_documented():
    """docs/conventions.md: ties over an even code, subnormals, zero, negatives; elsewhere the two agree."""
    ml_dtypes = load("ml_dtypes")
    np = load("numpy")
    ties = np.array([0x00c00000, 0x3f400000, 0x3fc00000, 0x40400000, 0x7f400000], np.uint32)
    around = np.concatenate([ties - np.uint32(1), ties, ties + np.uint32(1)])
    low = np.arange(0x003ff000, 0x00800010, 0xff, np.uint32)
    edges = np.array([0, 1, 0x00400000, 0x00400001, 0x00600000, 0x00600001, 0x7f7fffff, 0x7f800000], np.uint32)
    positive = np.concatenate([around, low, edges])
    bits = np.concatenate([positive, positive | np.uint32(1 << 31)])
    source = bits.view(np.float32)
    ours, theirs = named("e8m0").encode(source), ml_dtypes_codes(ml_dtypes, "float8_e8m0fnu", source)
    even_tie = ((bits & 0x7fffff) == 0x400000) & ((bits >> 23) % 2 == 0) & (bits >> 23 > 0) & (bits < 1 << 31)
    subnormal = (bits > 0x00400000) & (bits <= 0x00600000)
    no_power = (bits == 0) | (bits >> 31 == 1)
    documented = even_tie | subnormal | no_power
    agree(ours[~documented], theirs[~documented], source[~documented], "e8m0")
    assert even_tie.sum() == 3 and subnormal.sum() > 1000, (even_tie.sum(), subnormal.sum())
    agree(theirs[even_tie], ours[even_tie] + 1, source[even_tie], "ties of ml_dtypes")
    agree(theirs[subnormal], ours[subnormal] + 1, source[subnormal], "subnormals of ml_dtypes")
    agree(theirs[no_power], np.full(no_power.sum(), 0xff), source[no_power], "zero and negatives in ml_dtypes")


def f64_goes_by_way_of_f32_in_ml_dtypes():
    """1, half a gap and 2^-40, in every small format."""
    ml_dtypes = load("ml_dtypes")
    np = load("numpy")
    for theirs, ours in ML_DTYPES.items():
        format = named(ours)
        source = np.array([1 + 2.0 ** -(format.mantissa_bits + 1) + 2.0**-40])
        one = format.bias << format.mantissa_bits
        assert format.encode(source)[0] == one + 1, ours
        assert format.encode(source.astype(np.float32))[0] == one, ours
        assert ml_dtypes_codes(ml_dtypes, theirs, source)[0] == one, theirs
    below_3 = np.nextafter(np.array([3.0]), 0)
    assert named("e8m0").encode(below_3)[0] == 0x80
    assert ml_dtypes_codes(ml_dtypes, "float8_e8m0fnu", below_3)[0] == 0x81


def nan_sources():
    np = load("numpy")
    f32 = np.array([0x7fc00000, 0x7f800001, 0x7fffffff, 0x7f812345, 0x7fd12345], np.uint32)
    f64 = np.array([0x7ff8 << 48, (0x7ff0 << 48) + 1, (1 << 63) - 1, 0x7ff123456789abcd], np.uint64)
    return (np.concatenate([f32, f32 | np.uint32(1 << 31)]).view(np.float32),
            np.concatenate([f64, f64 | np.uint64(1 << 63)]).view(np.float64))


def nan_codes_agree_with_ml_dtypes():
    """ml_dtypes turns a NaN into a zero of the other sign where a format has none; so does the preset."""
    ml_dtypes = load("ml_dtypes")
    for theirs, ours in ML_DTYPES.items():
        for source in nan_sources():
            agree(preset(PRESET_ML_DTYPES, ours).encode(source),
                  ml_dtypes_codes(ml_dtypes, theirs, source), source, f"{ours} of NaN")


def decoders_agree_with_ml_dtypes():
    ml_dtypes = load("ml_dtypes")
    np = load("numpy")
    for theirs, ours in [*ML_DTYPES.items(), ("float8_e8m0fnu", "e8m0")]:
        dtype = np.dtype(getattr(ml_dtypes, theirs))
        width = named(ours).width
        codes = np.arange(1 << width, dtype=f"u{dtype.itemsize}")
        want = codes.view(dtype).astype(np.float32)
        want64 = codes.view(dtype).astype(np.float64)
        got = preset(PRESET_ML_DTYPES, ours).decode(codes, np.float32)
        got64 = preset(PRESET_ML_DTYPES, ours).decode(codes, np.float64)
        is_nan = np.isnan(want)
        assert (np.isnan(got64) == is_nan).all(), f"{ours} to float64: NaN"
        agree(got64[~is_nan].view(np.uint64), want64[~is_nan].view(np.uint64), codes[~is_nan],
              f"{ours} to float64")
        # e8m0 is outside the presets, so that its NaN is the library's own.
        compared = ~is_nan if ours == "e8m0" else np.full(is_nan.shape, True)
        assert (np.isnan(got) == is_nan).all(), f"{ours} to float32: NaN"
        agree(got[compared].view(np.uint32), want[compared].view(np.uint32), codes[compared],
              f"{ours} to float32")


# gfloat.

GFLOAT = {
    "binary32": "f32", "binary16": "f16", "bfloat16": "bf16", "ocp_e5m2": "e5m2",
    "ocp_e4m3": "e4m3", "ocp_e3m2": "e3m2", "ocp_e2m3": "e2m3", "ocp_e2m1": "e2m1",
    "ocp_e8m0": "e8m0",
}


def gfloat_codes(gfloat, info, source, rounding, saturate, random=None):
    """gfloat computes in float64, exactly for these formats."""
    np = load("numpy")
    mode = {
        NEAREST_EVEN: gfloat.RoundMode.TiesToEven, TOWARD_ZERO: gfloat.RoundMode.TowardZero,
        UP: gfloat.RoundMode.TowardPositive, DOWN: gfloat.RoundMode.TowardNegative,
        NEAREST_AWAY: gfloat.RoundMode.TiesToAway, STOCHASTIC: gfloat.RoundMode.StochasticFastest,
    }[rounding]
    source = source.astype(np.float64)
    if random is None:
        rounded = gfloat.round_ndarray(info, source, mode, saturate)
    else:
        rounded = gfloat.round_ndarray(info, source, mode, saturate, random.astype(np.int64), 32)
    return gfloat.encode_ndarray(info, rounded).astype(np.uint32)


def agree_with_gfloat(gfloat, info, format, source, what, rounding, overflow, random=None):
    """Code for code; where gfloat gives a NaN any NaN will do, as it has but one of each format."""
    np = load("numpy")
    want = gfloat_codes(gfloat, info, source, rounding, overflow == SATURATE, random)
    got = format.encode(source, rounding, overflow, random)
    both_nan = (np.isnan(gfloat.decode_ndarray(info, want))
                & np.isnan(gfloat.decode_ndarray(info, got.astype(np.uint64))))
    agree(np.where(both_nan, 0, got), np.where(both_nan, 0, want), source,
          f"{what}, rounding {rounding}, overflow {overflow}")


def gfloat_format(gfloat, theirs):
    formats = importlib.import_module("gfloat.formats")
    return getattr(formats, f"format_info_{theirs}")


def gfloat_inputs(format, ours, dtype, random_count=50000):
    source = inputs(format, dtype, random_count)
    if ours == "e8m0":  # in gfloat zero, negatives and what is below 2^-127 have no code
        source = source[source >= 2.0**-127]
    return source


def directed_and_nearest_rounding_agrees_with_gfloat():
    gfloat = load("gfloat")
    np = load("numpy")
    for theirs, ours in GFLOAT.items():
        info, format = gfloat_format(gfloat, theirs), named(ours)
        for dtype in both_dtypes() if ours != "f32" else (np.float64,):
            source = gfloat_inputs(format, ours, dtype)
            for rounding in (NEAREST_EVEN, TOWARD_ZERO, UP, DOWN, NEAREST_AWAY):
                # Without NaN and Inf gfloat only saturates.
                saturates = ours in ("e3m2", "e2m3", "e2m1")
                for overflow in (SATURATE,) if saturates else (IEEE, SATURATE):
                    agree_with_gfloat(gfloat, info, format, source,
                                      f"{ours} from {dtype.__name__}", rounding, overflow)


def stochastic_rounding_agrees_with_gfloat():
    """gfloat's StochasticFastest with 32 random bits goes up when fraction + random / 2^32 is 1 or
    more, which for whole random numbers is floor(fraction * 2^32) + random >= 2^32. It adds in
    float64: fractions that are no multiple of 2^-52 are left out, as its sum may be rounded."""
    gfloat = load("gfloat")
    np = load("numpy")
    generator = np.random.default_rng(2)
    for theirs, ours in GFLOAT.items():
        info, format = gfloat_format(gfloat, theirs), named(ours)
        for dtype in both_dtypes() if ours != "f32" else (np.float64,):
            source = gfloat_inputs(format, ours, dtype)
            source = source[np.isfinite(source)]
            exponent = np.frexp(np.abs(source.astype(np.float64)))[1]
            last_place = exponent - (24 if dtype == np.float32 else 53)
            gap = np.maximum(exponent - 1, 1 - format.bias) - format.mantissa_bits
            source = source[last_place - gap >= -52]
            random = generator.integers(0, 2**32, source.size, np.uint32)
            random[::3] = np.uint32(2**32 - 1)
            random[1::7] = 0
            saturating = ours in ("e3m2", "e2m3", "e2m1")
            agree_with_gfloat(gfloat, info, format, source, f"{ours} from {dtype.__name__}",
                              STOCHASTIC, SATURATE if saturating else IEEE, random)


def decoders_agree_with_gfloat():
    gfloat = load("gfloat")
    np = load("numpy")
    for theirs, ours in GFLOAT.items():
        info, format = gfloat_format(gfloat, theirs), named(ours)
        codes = np.arange(1 << min(format.width, 16), dtype=np.uint32)
        if ours == "f32":
            codes = codes << np.uint32(16) | codes
        check_decoder(gfloat, info, format, codes, ours)


def check_decoder(gfloat, info, format, codes, what):
    np = load("numpy")
    want = gfloat.decode_ndarray(info, codes.astype(np.int64))
    got = format.decode(codes, np.float64)
    same = (got.view(np.uint64) == want.view(np.uint64)) | (np.isnan(got) & np.isnan(want))
    agree(same, np.full(same.shape, True), codes, what)


def p3109_formats_agree_with_gfloat():
    """Every signed P3109 format that mpnum_format_init makes: those whose values are floats."""
    gfloat = load("gfloat")
    np = load("numpy")
    formats = importlib.import_module("gfloat.formats")
    count = 0
    for width in range(3, 17):
        for precision in range(1, width):
            for domain, specials in ((gfloat.Domain.Extended, SPECIALS_P3109),
                                     (gfloat.Domain.Finite, SPECIALS_FNUZ)):
                info = formats.format_info_p3109(width, precision, gfloat.Signedness.Signed, domain)
                exponent_bits = width - precision
                format = made(1, exponent_bits, precision - 1, info.bias, specials) \
                    if exponent_bits <= 8 else None
                if format is None:
                    assert exponent_bits > 7 or (exponent_bits, precision) == (1, 1), info.name
                    continue
                count += 1
                codes = np.arange(1 << width, dtype=np.uint32)
                check_decoder(gfloat, info, format, codes, info.name)
                for dtype in both_dtypes():
                    source = inputs(format, dtype, 1000)
                    if source.size > 20000:
                        source = source[:: source.size // 20000]
                    for rounding in (NEAREST_EVEN, TOWARD_ZERO, UP, DOWN, NEAREST_AWAY):
                        for overflow in (IEEE, SATURATE):
                            agree_with_gfloat(gfloat, info, format, source, info.name, rounding,
                                              overflow)
    assert count >= 150, count


# PyTorch, on the CPU, in the version that the preset names.

TORCH = {
    "float16": "f16", "bfloat16": "bf16", "float8_e5m2": "e5m2", "float8_e4m3fn": "e4m3",
    "float8_e5m2fnuz": "e5m2fnuz", "float8_e4m3fnuz": "e4m3fnuz",
}


def load_torch():
    torch = load("torch")
    if not torch.__version__.startswith("2.11."):
        raise tap.Skip(f"the preset is of PyTorch 2.11, this is {torch.__version__}")
    return torch


def torch_codes(torch, name, source):
    rounded = torch.from_numpy(source).to(getattr(torch, name))
    return rounded.view({1: torch.uint8, 2: torch.uint16}[rounded.element_size()]).numpy()


def conversions_agree_with_pytorch():
    torch = load_torch()
    np = load("numpy")
    for theirs, ours in TORCH.items():
        source = inputs(named(ours), np.float32)
        agree(preset(PRESET_PYTORCH_2_11, ours).encode(source), torch_codes(torch, theirs, source),
              source, ours)


def nan_codes_agree_with_pytorch():
    """float16 keeps the payload on x86 and in bfloat16 the vectorized copy gives ffff, so those two
    are asked for one quiet NaN at a time, through a copy that does not vectorize."""
    torch = load_torch()
    np = load("numpy")
    for theirs, ours in TORCH.items():
        source = nan_sources()[0]
        if ours in ("f16", "bf16"):
            source = np.array([np.nan, -np.nan], np.float32)
            strided = torch.from_numpy(np.repeat(source, 2))[::2].to(getattr(torch, theirs))
            want = strided.view(torch.uint16).numpy()
        else:
            want = torch_codes(torch, theirs, source)
        agree(preset(PRESET_PYTORCH_2_11, ours).encode(source), want, source, f"{ours} of NaN")


if __name__ == "__main__":
    sys.exit(tap.run(
        f16_and_f32_agree_with_numpy,
        conversions_agree_with_ml_dtypes,
        made_formats_agree_with_ml_dtypes,
        e8m0_rounds_to_nearest_away_as_ml_dtypes,
        e8m0_differs_from_ml_dtypes_where_documented,
        f64_goes_by_way_of_f32_in_ml_dtypes,
        nan_codes_agree_with_ml_dtypes,
        decoders_agree_with_ml_dtypes,
        directed_and_nearest_rounding_agrees_with_gfloat,
        stochastic_rounding_agrees_with_gfloat,
        decoders_agree_with_gfloat,
        p3109_formats_agree_with_gfloat,
        conversions_agree_with_pytorch,
        nan_codes_agree_with_pytorch,
    ))
