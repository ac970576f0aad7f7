# SPDX-License-Identifier: MIT
"""Conversions of RISC-V: F (frm, canonical NaN), Zfh, Zfbfmin, Zvfh, Zvfbfmin, and Zvfofp8min 0.2.1, whose vtype stands after
the mnemonic as vsetvli has it."""

from exact import DOWN, FORMATS, INF, NAN, NEAREST_AWAY, NEAREST_EVEN, TO_ODD, TOWARD_ZERO, UP, goes_to_max, rounded

FRM = [NEAREST_EVEN, TOWARD_ZERO, DOWN, UP, NEAREST_AWAY]
NANS = {"f64": 0x7ff8 << 48, "f32": 0x7fc00000, "f16": 0x7e00, "bf16": 0x7fc0, "e4m3": 0x7f, "e5m2": 0x7f}
SCALARS = {"s": "f32", "d": "f64", "h": "f16", "bf16": "bf16"}


def types(name):
    """Source, result, whether it saturates, and whether frm counts."""
    mnemonic, _, vtype = name.partition(" ")
    if mnemonic.startswith("fcvt."):
        _, to, of = mnemonic.split(".")
        return SCALARS[of], SCALARS[to], False
    fp8 = {"e8": "e4m3", "e8alt": "e5m2"}.get(vtype)
    half = "bf16" if "bf16" in mnemonic else "f16"
    if mnemonic.startswith("vfwcvt"):
        return (fp8, "bf16", False) if fp8 else (half, "f32", False)
    if fp8:
        return "f32" if mnemonic.endswith(".q") else "bf16", fp8, ".sat." in mnemonic
    return "f32", half, False


def element(name, code, frm):
    of, to, is_saturating = types(name)
    source, target = FORMATS[of], FORMATS[to]
    value = source.value(code)
    if value == NAN:
        return NANS[to]
    rounding = TO_ODD if ".rod." in name else FRM[frm]
    magnitude = None if value[1] == INF else rounded(target, value, rounding)
    if magnitude is None:
        if is_saturating or (value[1] != INF and goes_to_max(rounding, value[0])):
            magnitude = target.max
        elif target.inf is None:
            return NANS[to]  # "infinite results are converted to the canonical NaN, 0x7f"
        else:
            magnitude = target.inf
    return value[0] << target.top | magnitude
