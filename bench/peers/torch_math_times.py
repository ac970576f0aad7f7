#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PyTorch's functions of arrays and of rows on the CPU, timed as bench/core/timing.c times.

usage: torch_math_times.py THREADS VALUES ROUNDS [ROWS COLUMNS]...

Prints JSON: version, and rows by name as `bench --math` has them, each with what it calls and, for each type,
ns_per_value and noise; or missing, the reason why there are none. A type that it cannot compute with is left out.
"""

import torch_times

POSITIVE = ["log", "log2", "log10", "log1p", "sqrt", "rsqrt"]  # as in sections/math/functions.c
FUNCTIONS = {**{name: f"torch.{name}" for name in
                ("exp", "exp2", "expm1", *POSITIVE, "reciprocal", "sigmoid", "tanh", "erf")},
             "softplus": "F.softplus", "silu": "F.silu", "gelu": "F.gelu", "gelu_tanh": 'F.gelu(..., "tanh")'}
ROWS = {"softmax": "torch.softmax", "log-softmax": "torch.log_softmax", "cross-entropy, gradient": "F.cross_entropy, grad",
        "softmax backward": "grad of softmax", "layer norm backward": "grad of F.layer_norm", "RMS norm backward": "grad of F.rms_norm",
        "SwiGLU": "F.silu, *", "SwiGLU backward": "grad of F.silu, *", "dropout": "F.dropout",
        "layer norm": "F.layer_norm", "RMS norm": "F.rms_norm", "l2": "F.normalize"}


def function_of(torch, name):
    functional = torch.nn.functional
    if name == "gelu_tanh":
        return lambda x: functional.gelu(x, approximate="tanh")
    return getattr(functional if FUNCTIONS[name].startswith("F.") else torch, name)


def row_function_of(torch, name, x):
    """A function of no arguments: one pass over the rows of x."""
    functional, columns = torch.nn.functional, x.shape[1:]
    ones, other = torch.ones(columns, dtype=x.dtype), x.clone()
    targets, variable = torch.zeros(len(x), dtype=torch.int64), x.clone().requires_grad_()

    def cross_entropy():
        with torch.enable_grad():
            return torch.autograd.grad(functional.cross_entropy(variable, targets, reduction="sum"), variable)

    def gradient_of(function, *inputs):
        """Of all inputs, by what autograd has kept."""
        inputs = [each.clone().requires_grad_() for each in inputs]
        with torch.enable_grad():
            result = function(*inputs)
        return lambda: torch.autograd.grad(result, inputs, other, retain_graph=True)

    gradients = {
        "softmax backward": lambda: gradient_of(lambda x: torch.softmax(x, -1), x),
        "layer norm backward": lambda: gradient_of(lambda x, weight, bias: functional.layer_norm(x, columns, weight, bias, 1e-5),
                                                   x, ones, ones),
        "RMS norm backward": lambda: gradient_of(lambda x, weight: functional.rms_norm(x, columns, weight, 1e-5), x, ones),
        "SwiGLU backward": lambda: gradient_of(lambda gate, up: functional.silu(gate) * up, x, x),
    }
    if name in gradients:
        return gradients[name]()
    return {
        "softmax": lambda: torch.softmax(x, -1),
        "log-softmax": lambda: torch.log_softmax(x, -1),
        "cross-entropy, gradient": cross_entropy,
        "SwiGLU": lambda: functional.silu(x) * other,
        "dropout": lambda: functional.dropout(x, 0.1),
        "layer norm": lambda: functional.layer_norm(x, columns, ones, ones, 1e-5),
        "RMS norm": lambda: functional.rms_norm(x, columns, ones, 1e-5),
        "l2": lambda: functional.normalize(x, dim=-1, eps=1e-5),
    }[name]


def time_types(torch, values, pass_of, rounds):
    """ns_per_value and noise by type, of the types that PyTorch has the function for."""
    inputs = {"f32": values, "f16": values.half(), "bf16": values.bfloat16()}
    passes, found = {}, {}
    for name, x in inputs.items():
        try:
            passes[name] = pass_of(x)
            passes[name]()
        except (RuntimeError, AttributeError):  # AttributeError: what an older version has not
            passes.pop(name, None)
    for name, seconds, noise in torch_times.time_in_turns(passes, rounds, values.sum):
        found[name] = {"ns_per_value": 1e9 * seconds / values.numel(), "noise": noise}
    return found


def measure(torch, numbers):
    count, rounds, *shapes = numbers
    normal = torch.randn(max([count, *(rows * columns for rows, columns in zip(shapes[::2], shapes[1::2]))]))
    rows = {}

    def add(name, called, values, pass_of):
        rows[name] = {"function": called, **time_types(torch, values, pass_of, rounds)}

    for name, called in FUNCTIONS.items():
        function, values = function_of(torch, name), 2 * normal[:count]
        add(name, called, values.abs() if name in POSITIVE else values, lambda x, call=function: lambda: call(x))
    for name, called in ROWS.items():
        for shape in zip(shapes[::2], shapes[1::2]):
            add(f"{name}, {shape[0]} x {shape[1]}", called, normal[:shape[0] * shape[1]].view(shape),
                lambda x, name=name: row_function_of(torch, name, x))
    return rows


if __name__ == "__main__":
    torch_times.report("torch", measure)
