# SPDX-License-Identifier: MIT
"""The verdict of `mpnum bench` and `mpnum inspect`, computed another way: numpy's arithmetic and ml_dtypes' formats,
the rule from docs/choosing-a-format.md."""

import math
import re

import ml_dtypes
import numpy as np

FLOATS = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
          "e3m2": ml_dtypes.float6_e3m2fn, "e2m3": ml_dtypes.float6_e2m3fn, "e2m1": ml_dtypes.float4_e2m1fn,
          "e3m4": ml_dtypes.float8_e3m4}
BITS = {"e4m3": 8, "e5m2": 8, "e3m4": 8, "f16": 16, "bf16": 16, "e3m2": 6, "e2m3": 6, "e2m1": 4, "int8": 8}
BLOCKS = {"mx_e4m3": ("e4m3", 32, 1), "mx_e5m2": ("e5m2", 32, 1), "mx_e2m3": ("e2m3", 32, 1), "mx_e3m2": ("e3m2", 32, 1),
          "mx_e2m1": ("e2m1", 32, 1), "mx_int8": ("int8", 32, 1), "nvfp4": ("e2m1", 16, 1), "deepseek": ("e4m3", 128, 4)}
LEFT_OUT = ("exp_avg", "moment", "optim")
WEIGHTS = ("weight", "bias", "kernel", "embed", "proj")
ACTIVATIONS = r"activ|(?<![a-z])(input|output|hidden|logit)s?(_states?)?([._/:-](\d+|grad[^._/:-]*))*$"


def largest(element):
    return 127 / 64 if element == "int8" else 15.5 if element == "e3m4" else float(ml_dtypes.finfo(FLOATS[element]).max)


def smallest(element):
    return float(ml_dtypes.finfo(FLOATS[element]).smallest_subnormal)


def rounded(x, element):
    """(nearest even and saturating, where x rounds past the largest value)."""
    top = largest(element)
    if element == "int8":
        steps = np.rint(x.astype(np.float64) * 64)
        return np.clip(steps, -127, 127) / 64, abs(steps) > 127
    mantissa = ml_dtypes.finfo(FLOATS[element]).nmant if element != "e3m4" else 4
    unit = math.ldexp(1, math.frexp(top)[1] - 1 - mantissa)
    over = (np.rint(np.minimum(abs(x.astype(np.float64)), 4 * top) / unit) * unit > top) & (abs(x) > top)
    return np.clip(x, -top, top).astype(np.float32).astype(FLOATS[element]).astype(np.float64), over


def scale_exponent(element, amax):
    if amax == 0 or BITS[element] > 8:
        return 0
    (amount, power), (top, top_power) = math.frexp(amax), math.frexp(largest(element))
    return max(-126, min(126, top_power - power - (amount > top)))


def decibels(signal, noise):
    return 10 * math.log10(signal / noise) if noise > 0 else math.inf


def philox(counters, seed):
    """Philox4x32-10 of Salmon and others, 2011."""
    c = [counters & 0xffffffff, counters >> 32, np.zeros_like(counters), np.zeros_like(counters)]
    key, mask = [seed & 0xffffffff, seed >> 32], np.uint64(0xffffffff)
    for _ in range(10):
        a, b = np.uint64(0xd2511f53) * c[0], np.uint64(0xcd9e8d57) * c[2]
        c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(key[0]), b & mask, (a >> np.uint64(32)) ^ c[3] ^ np.uint64(key[1]), a & mask]
        key = [(key[0] + 0x9e3779b9) & 0xffffffff, (key[1] + 0xbb67ae85) & 0xffffffff]
    return np.stack(c, axis=-1).reshape(-1)


def random_vectors(columns):
    """Eight for each column, in [-1, 1)."""
    words = philox(np.arange(2 * columns, dtype=np.uint64), 17)
    return ((words >> np.uint64(8)).astype(np.float64) / 2 ** 23 - 1).reshape(columns, 8)


class Tensor:
    def __init__(self, name, values, kind_of_name=None):
        self.name, self.stored = name, values
        lower = name.lower()
        parts = [("gradients", "grad"), ("left_out", "|".join(LEFT_OUT)), ("weights", "|".join(WEIGHTS)),
                 ("activations", ACTIVATIONS)]
        kinds = [kind for kind, marks in parts if re.search(marks, lower)] + ["values"]
        self.kind = kinds[0]
        self.operand = next(kind for kind in kinds if kind != "gradients")
        with np.errstate(over="ignore", under="ignore"):
            self.floats = values.astype(np.float32)
        finite = np.isfinite(values.astype(np.float64))
        self.too_large = int((finite & ~np.isfinite(self.floats)).sum())
        self.too_small = int((finite & (self.floats == 0) & (values.astype(np.float64) != 0)).sum())
        self.finite = int(finite.sum())
        self.nonzero = int((finite & (values.astype(np.float64) != 0)).sum())
        clean = np.where(np.isfinite(self.floats), self.floats, np.float32(0))
        self.amax = float(abs(clean).max()) if clean.size else 0.0
        if values.ndim > 2 and (self.operand != "activations" or values.shape[-1] < 32):
            clean = clean.reshape(values.shape[0], -1)
        self.matrix = clean.reshape(-1, values.shape[-1] if clean.ndim != 2 else clean.shape[-1])
        self.partner = None

    def vectors(self):
        if self.partner is None:
            return random_vectors(self.matrix.shape[1])
        rows = self.partner.matrix
        few = min(8, len(rows))
        return rows[[v * len(rows) // few for v in range(few)]].T.astype(np.float64)

    def sqnr(self, back):
        exact = self.matrix.astype(np.float64)
        return decibels((exact ** 2).sum(), ((back - exact) ** 2).sum())

    def plain(self, element):
        """What a format with one scale makes of it."""
        k = 0 if self.too_large else scale_exponent(element, self.amax)
        with np.errstate(under="ignore"):
            scaled = (self.matrix * np.float32(2.0 ** k)).astype(np.float32)
        codes, over = rounded(scaled, element)
        back = codes * 2.0 ** -k
        product = None
        if min(self.matrix.shape) > 1 and self.kind not in ("gradients", "left_out"):
            vectors = self.vectors()
            signal, noise = self.matrix @ vectors, (back - self.matrix) @ vectors
            if (signal ** 2).sum() > 0:
                product = decibels((signal ** 2).sum(), (noise ** 2).sum())
        flushed = int(((back == 0) & (self.matrix != 0)).sum()) + self.too_small
        return {"bits": BITS[element], "scale": k, "sqnr": self.sqnr(back), "product": product,
                "clipped": int(over.sum()) + self.too_large, "flushed": flushed}

    def blocks(self, name):
        element, size, scale_bytes = BLOCKS[name]
        rows, columns = self.matrix.shape
        padded = np.zeros((rows, -(-columns // size) * size), np.float32)
        padded[:, :columns] = self.matrix
        cut = padded.reshape(rows, -1, size)
        amax = abs(cut).max(axis=2, keepdims=True)
        f32 = np.float32
        with np.errstate(all="ignore"):
            if name.startswith("mx"):
                fraction, power = np.frexp(amax * f32(1 / f32(largest(element))))
                power = np.where(amax > 0, np.maximum(power - (fraction == 0.5), -127), 0)
                stored = np.ldexp(1.0, power)
                codes, over = rounded(cut / stored, element)
                back = codes * stored
            elif name == "nvfp4":
                tensor_scale = min(f32(448 * 6 / self.amax), np.finfo(f32).max)
                stored, _ = rounded(np.minimum(amax * f32(tensor_scale / f32(6)), np.finfo(f32).max), "e4m3")
                factor = np.where(stored > 0, np.minimum(f32(1) / (stored.astype(f32) / tensor_scale), np.finfo(f32).max), 0)
                codes, over = rounded(cut * factor.astype(f32), element)
                back = codes * stored / float(tensor_scale)
            else:
                stored = np.where(amax > 0, amax / f32(448), f32(1)).astype(f32)
                codes, over = rounded(cut / stored, element)
                back = codes * stored
            back = back.astype(f32).astype(np.float64).reshape(padded.shape)[:, :columns]
        lost = ((codes == 0) & (cut != 0)).sum()
        bits = BITS[element]
        group = {4: 2, 6: 4}.get(bits, 1)
        size_in_bytes = rows * (-(-columns // group) * group * bits // 8 + cut.shape[1] * scale_bytes) + 4 * (name == "nvfp4")
        return {"bytes": size_in_bytes, "sqnr": self.sqnr(back), "product": None, "clipped": int(over.sum()),
                "flushed": int(lost)}


def power(sqnr):
    return 0.0 if math.isinf(sqnr) else 10 ** (-sqnr / 10)


def breaks(kind, tensor, found):
    """The rule that a tensor breaks in a format, or None."""
    share = (lambda part: part / tensor.nonzero if part else 0.0)
    lost = share(found["clipped"] + found["flushed"])
    if tensor.too_large or share(tensor.too_small) > 0.01:
        return "past_f32"
    if kind in ("gradients", "left_out"):
        return "lost" if lost > 0.01 else None
    if lost > 0.5:
        return "vanished"
    if found["sqnr"] < 20:
        return "sqnr"
    return "product" if found["product"] is not None and found["product"] < 20 else None


def together(kind, tensors, found):
    """Of all tensors of a kind in a format."""
    sizes = [t.matrix.size for t in tensors]
    with_product = [(n, f["product"]) for n, f in zip(sizes, found) if f["product"] is not None]
    share = [(t.nonzero or 1, f) for t, f in zip(tensors, found)]
    if any(t.too_large for t in tensors):
        with_product = []
    return {"sqnr": None if any(t.too_large for t in tensors) else decibels(1, sum(n * power(f["sqnr"]) for n, f in zip(sizes, found)) / sum(sizes)),
            "product": decibels(1, sum(n * power(p) for n, p in with_product) / sum(n for n, _ in with_product))
            if with_product else None,
            "clipped_share": max(f["clipped"] / n for n, f in share), "flushed_share": max(f["flushed"] / n for n, f in share),
            "lost_share": max((f["clipped"] + f["flushed"]) / n for n, f in share),
            "why_not": next(filter(None, (breaks(kind, t, f) for t, f in zip(tensors, found))), None)}


def choose(kind, tensors, candidates=("e4m3", "e5m2")):
    """(the format, figures of each candidate, the block format, figures of those)."""
    tensors = [t for t in tensors if t.finite]
    if not tensors:
        return "none", {}, None, {}
    by_losses = kind in ("gradients", "left_out")
    made = {name: together(kind, tensors, [t.plain(name) for t in tensors]) for name in (*candidates, "f16", "bf16")}
    for name, row in made.items():
        row["bits"] = BITS[name]
        quality = min(row["sqnr"] or 0, math.inf if row["product"] is None else row["product"])
        row["key"] = (row["bits"], -largest(name) / smallest(name) if by_losses else -quality)
    good = [name for name in made if made[name]["why_not"] is None]
    best = min(good, key=lambda name: made[name]["key"], default=None)
    for name in good:
        if name != best:
            made[name]["why_not"] = ("more_bits" if BITS[name] > BITS[best] else "less_range" if by_losses else "less_sqnr")
    past = any(row["why_not"] == "past_f32" for row in made.values())
    blocked = [t for t in tensors if t.amax > 0 and not t.too_large]
    blocks, block = {}, None
    for name in BLOCKS if blocked else ():
        found = [t.blocks(name) for t in blocked]
        row = blocks[name] = together(kind, blocked, found)
        row["bits"] = 8 * sum(f["bytes"] for f in found) / sum(t.matrix.size for t in blocked)
        if row["why_not"] is None and best and BITS[best] == 8 and row["sqnr"] < made[best]["sqnr"] - 1:
            row["why_not"] = "sqnr_of_blocks"
    good = [name for name in blocks if blocks[name]["why_not"] is None]
    if good:
        by_bits = best is not None and BITS[best] == 8
        block = min(good, key=lambda name: (blocks[name]["bits"] if by_bits else 0, -blocks[name]["sqnr"]))
        for name in good:
            more = by_bits and blocks[name]["bits"] > blocks[block]["bits"]
            if name != block:
                blocks[name]["why_not"] = "more_bits" if more else "less_sqnr"
    return best or ("none" if past else "f32"), made, block, blocks


def pair(tensors):
    for weight in tensors:
        for other in tensors:
            if (weight.kind == "weights" and other.kind == "activations" and weight.name.endswith(".weight")
                    and other.name == weight.name[:-7] + ".input" and weight.matrix.shape[1] == other.matrix.shape[1]):
                weight.partner, other.partner = other, weight


def verdicts(tensors):
    """By kind: (deciding, small, empty, choice)."""
    made = {}
    for kind in ("weights", "activations", "gradients", "values"):
        of_kind = [t for t in tensors if t.kind == kind]
        large = [t for t in of_kind if t.stored.size >= 1024]
        deciding = [t for t in large if t.finite]
        if of_kind:
            made[kind] = (len(deciding), len(of_kind) - len(large), len(large) - len(deciding), choose(kind, deciding))
    return made
