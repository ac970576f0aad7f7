# SPDX-License-Identifier: MIT
"""As much of PyTorch as MMA-Sim calls for one sum, on lists of Python's floats: a tenth of the time. A tensor has one row or one
column, or is one number; witness_mmasim.py compares with PyTorch itself."""

import ctypes
import math
import operator
import struct

float64, float32, float16, bfloat16 = "float64", "float32", "float16", "bfloat16"
float8_e8m0fnu, float8_e5m2, float8_e4m3fn = "float8_e8m0fnu", "float8_e5m2", "float8_e4m3fn"
float8_e5m2fnuz, float8_e4m3fnuz = "float8_e5m2fnuz", "float8_e4m3fnuz"
uint8, uint16, uint32, int32 = "uint8", "uint16", "uint32", "int32"
dtype = str
PACKED = {float32: "f", int32: "i", uint32: "I", float16: "e", uint16: "H"}


def rounded(x, kind):
    if kind == float32:
        return ctypes.c_float(x).value
    if kind == float16 and math.isfinite(x):
        try:
            return struct.unpack("e", struct.pack("e", x))[0]
        except OverflowError:
            return math.copysign(math.inf, x)
    return x


class Tensor:
    """`items` are a vector's numbers as tensors, `parts` what MMA-Sim takes a number apart into: made once."""

    __slots__ = ("values", "dtype", "shape", "items", "parts")

    def __init__(self, values, kind, shape=(), items=None):
        self.values, self.dtype, self.shape, self.items, self.parts = values, kind, shape, items, None

    def of(self, values, kind=None):
        return Tensor(values, kind or self.dtype, (len(values),))

    def __getitem__(self, key):
        if type(key) is tuple:  # of one row or column
            key = key[0] if type(key[1]) is int else key[1]
        elif type(key) is int and len(self.shape) == 2:
            return self
        if type(key) is int:
            return self.items[key] if self.items else Tensor([self.values[key]], self.dtype)
        if type(key) is slice:
            values = self.values[key]
            return Tensor(values, self.dtype, (len(values),), self.items and self.items[key])
        return self.of([x for x, is_meant in zip(self.values, key.values) if is_meant])

    def __setitem__(self, key, value):
        if isinstance(key, Tensor):
            new = iter(value.values) if isinstance(value, Tensor) else None
            self.values = [x if not is_meant else next(new) if new else value for x, is_meant in zip(self.values, key.values)]
            self.items = self.parts = None
        else:
            at = sum(key) if type(key) is tuple else key
            self.values[at] = rounded(value.item() if isinstance(value, Tensor) else value, self.dtype)

    def __mul__(self, other):
        if type(other) is Tensor and other.shape:
            made = list(map(operator.mul, self.values, other.values))
        else:
            factor = other.values[0] if type(other) is Tensor else other
            made = self.values if factor == 1 else [x * factor for x in self.values]
        if self.dtype != float64:
            made = [rounded(x, self.dtype) for x in made]
        return Tensor(made, self.dtype, self.shape)

    def __add__(self, other):
        right = other.item() if isinstance(other, Tensor) else other
        return Tensor([rounded(x + right, self.dtype) for x in self.values], self.dtype, self.shape)

    def __lt__(self, bound):
        return self.of([x < bound for x in self.values])

    def __ge__(self, bound):
        return self.values[0] >= bound

    def __le__(self, bound):
        return self.values[0] <= bound

    def __and__(self, mask):
        return self.of([x & mask for x in self.values])

    def __rshift__(self, count):
        return Tensor([x >> count for x in self.values], self.dtype, self.shape)

    def __lshift__(self, count):
        return Tensor([((x << count) + (1 << 31) & 0xffffffff) - (1 << 31) for x in self.values], self.dtype, self.shape)

    def view(self, kind):
        packed = struct.pack(f"{len(self.values)}{PACKED[self.dtype]}", *self.values)
        return Tensor(list(struct.unpack(f"{len(self.values)}{PACKED[kind]}", packed)), kind, self.shape)

    def to(self, dtype):
        return Tensor([rounded(x, dtype) for x in self.values], dtype, self.shape)

    def cpu(self):
        return self

    def double(self):
        return Tensor(self.values, float64, self.shape)

    def float(self):
        return self.to(float32)

    def abs(self):
        return Tensor([abs(x) for x in self.values], self.dtype, self.shape)

    def sum(self):
        return Tensor([rounded(sum(self.values), self.dtype)], self.dtype)

    def any(self):
        return any(self.values)

    def numel(self):
        return len(self.values)

    def item(self):
        return self.values[0]


def tensor(value, dtype=float32):
    return Tensor([rounded(value, dtype)], dtype)


def zeros(shape, dtype=float32):
    shape = shape if type(shape) in (tuple, list) else (shape,)
    return Tensor([0.0] * math.prod(shape), dtype, tuple(shape))


def isnan(x):
    return x.of([value != value for value in x.values])


def isinf(x):
    return x.of([value in (math.inf, -math.inf) for value in x.values])
