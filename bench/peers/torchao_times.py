#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""torchao's block formats on the CPU, called eagerly, timed as bench/core/timing.c times.

usage: torchao_times.py THREADS BYTES ROUNDS [BYTES ROUNDS]...

Prints JSON as torch_times.py does; times of dequantising are of what quantising made.
"""

import logging

import torch_times

LEAST_ROWS, MOST_COLUMNS = 32, 2048  # as in sections/blocks/operations.c


def operations(torch, count):
    """The name of each operation, and a function of one pass; and the values, which are read between samples."""
    from torchao.prototype.mx_formats import nvfp4_tensor
    from torchao.prototype.mx_formats.config import ScaleCalculationMode
    from torchao.prototype.mx_formats.mx_tensor import to_dtype, to_mx
    columns = min(count // LEAST_ROWS, MOST_COLUMNS)
    rows = min(count, torch_times.TILE) // columns
    values = torch.randn(rows, columns).repeat(count // columns // rows, 1)
    types = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "e2m1": torch.float4_e2m1fn_x2}
    found = {}

    def add(source, name, element):
        data, rceil = values.to(source), ScaleCalculationMode.RCEIL
        scales, codes = to_mx(data, element, 32, rceil)
        short = {torch.float32: "f32", torch.bfloat16: "bf16"}[source]
        found[f"{short} to mx {name}"] = lambda: to_mx(data, element, 32, rceil)
        found[f"mx {name} to {short}"] = lambda: to_dtype(codes, scales, element, 32, source)

    for name, element in types.items():
        add(torch.float32, name, element)
    add(torch.bfloat16, "e4m3", types["e4m3"])
    scale = nvfp4_tensor.per_tensor_amax_to_scale(values.abs().max())
    made = nvfp4_tensor.NVFP4Tensor.to_nvfp4(values, per_tensor_scale=scale)
    found["f32 to nvfp4 1x16"] = lambda: nvfp4_tensor.nvfp4_quantize(values, 16, scale)
    found["nvfp4 1x16 to f32"] = lambda: made.dequantize(torch.float32)
    return found, values


if __name__ == "__main__":
    logging.disable()
    torch_times.main("torchao", operations)
