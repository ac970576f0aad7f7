#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PyTorch's part of `mpnum bench --gpu`: the work of launchers on arrays of the same sizes, timed as
bench/gpu/measure.cu times, with CUDA events and the L2 cache flushed before each run. Where TransformerEngine can be
imported, its quantisers take the place of what PyTorch has.

usage: torch_gpu_times.py THREADS DEVICE ROUNDS BYTES FLUSH

BYTES are those of the f32 array, FLUSH those read before each run. Prints JSON: version, and rows by the names of
`mpnum bench --gpu`, each with what it calls, ms and noise; or missing, the reason why there are none.
"""

import importlib

import torch_times

COLUMNS = 4096


def gradients(torch, values, count, size):
    """As many tensors of `size` bytes as there is room for, up to count, and their name."""
    each = size // 4
    count = min(count, values.numel() // each)
    return f"{count} of {size // 1024} KiB", list(values[:count * each].split(each))


def quantisers_of(values, half):
    """TransformerEngine's, by the launchers that do the same: what is called, and a function that does it once, into
    memory of before, as launchers do. None where there is no TransformerEngine."""
    try:
        import transformer_engine.pytorch  # noqa: F401, brings the module below
        import transformer_engine_torch
    except Exception:  # what a library for another PyTorch or GPU raises is of any kind
        return {}
    e4m3, e2m1 = (getattr(transformer_engine_torch.DType, name, None) for name in ("kFloat8E4M3", "kFloat4E2M1"))
    scale, amax = values.new_full((1,), 60), values.new_zeros(1)
    both = {"rowwise": True, "columnwise": True}
    rows = {"rowwise": True, "columnwise": False}
    wanted = [
        ("quantize_scaled f32 to e4m3", values, "float8_tensor", "Float8Quantizer", (scale, amax, e4m3), rows),
        ("quantize_scaled bf16 to e4m3", half, "float8_tensor", "Float8Quantizer", (scale, amax, e4m3), rows),
        ("quantize_current bf16 to e4m3", half, "float8_tensor", "Float8CurrentScalingQuantizer", (e4m3, half.device), rows),
        ("quantize_transpose f32 to e4m3", values, "float8_tensor", "Float8Quantizer", (scale, amax, e4m3), both),
        ("quantize_transpose bf16 to e4m3", half, "float8_tensor", "Float8Quantizer", (scale, amax, e4m3), both),
        ("quantize_mx bf16 to e4m3", half, "mxfp8_tensor", "MXFP8Quantizer", (e4m3,), rows),
        ("quantize_mx bf16 to e4m3, both", half, "mxfp8_tensor", "MXFP8Quantizer", (e4m3,), both),
        ("quantize_block bf16 to e4m3, 1x128", half, "float8_blockwise_tensor", "Float8BlockQuantizer", (e4m3,),
         {**rows, "block_scaling_dim": 1}),
        ("quantize_block bf16 to e4m3, 128x128", half, "float8_blockwise_tensor", "Float8BlockQuantizer", (e4m3,),
         {**rows, "block_scaling_dim": 2}),
        ("quantize_nvfp4 bf16", half, "nvfp4_tensor", "NVFP4Quantizer", (e2m1,), rows),
    ]
    passes = {}
    for name, x, module, kind, arguments, options in wanted:
        try:
            of_kind = importlib.import_module(f"transformer_engine.pytorch.tensor.{module}")
            quantizer = getattr(of_kind, kind)(*arguments, **options)
            made = quantizer.make_empty(x.shape, dtype=x.dtype, device=x.device)
        except (AssertionError, AttributeError, ImportError, RuntimeError, TypeError, ValueError):  # not in every version
            continue
        passes[name] = f"TransformerEngine {kind}", lambda x=x, q=quantizer, made=made: q.update_quantized(x, made)
    return passes


def passes_of(torch, count):
    """By name: what is called, and a function of no arguments that does it once."""
    functional = torch.nn.functional
    values = torch.randn(count, device="cuda")
    one, found = torch.ones((), device="cuda"), torch.zeros(1, device="cuda")
    passes = {}

    def rows(columns, dtype=torch.float32):
        return values[:count // columns * columns].view(-1, columns).to(dtype)

    def add(name, called, function):
        passes[name] = called, function

    for number, size in ((1000, 64 << 10), (100000, 1 << 10)):
        what, tensors = gradients(torch, values, number, size)
        if tensors and tensors[0].numel():
            add(f"grad_pass f32 in place, {what}", "_amp_foreach_..._unscale_, _foreach_norm",
                lambda list_=tensors: (torch._amp_foreach_non_finite_check_and_unscale_(list_, found, one),
                                       torch._foreach_norm(list_)))
    for columns in (1024, 4096, 32768):
        if count >= columns:
            x = rows(columns)
            add(f"softmax_rows f32 x {columns}", "softmax", lambda x=x: torch.softmax(x, -1))
    for columns in (1024, 32768):
        if count >= columns:
            x = rows(columns, torch.float16)
            add(f"softmax_rows f16 x {columns}", "softmax", lambda x=x: torch.softmax(x, -1))
    if count < COLUMNS:
        return passes
    x, half = rows(COLUMNS), rows(COLUMNS, torch.bfloat16)
    other = torch.randn_like(x)
    weight, weight16 = torch.ones(COLUMNS, device="cuda"), torch.ones(COLUMNS, device="cuda", dtype=torch.bfloat16)
    e4m3 = torch.float8_e4m3fn
    add(f"log_softmax_rows f32 x {COLUMNS}", "log_softmax", lambda: torch.log_softmax(x, -1))
    add(f"logsumexp_rows f32 x {COLUMNS}", "logsumexp", lambda: torch.logsumexp(x, -1))
    add(f"softmax_backward_rows f32 x {COLUMNS}", "_softmax_backward_data",
        lambda: torch._softmax_backward_data(other, x, -1, torch.float32))
    add(f"layer_norm_rows f32 x {COLUMNS}", "layer_norm", lambda: functional.layer_norm(x, (COLUMNS,), weight))
    add(f"layer_norm_rows bf16 x {COLUMNS}", "layer_norm",
        lambda: functional.layer_norm(half, (COLUMNS,), weight16))
    add(f"rms_norm_rows f32 x {COLUMNS}", "rms_norm", lambda: functional.rms_norm(x, (COLUMNS,), weight))
    add(f"rms_norm_rows bf16 x {COLUMNS}", "rms_norm", lambda: functional.rms_norm(half, (COLUMNS,), weight16))
    add("quantize_scaled f32 to e4m3", "(x * 60).to(float8_e4m3fn)", lambda: (values * 60).to(e4m3))
    add("quantize_scaled bf16 to e4m3", "(x * 60).to(float8_e4m3fn)", lambda: (half * 60).to(e4m3))
    passes.update(quantisers_of(x, half))
    passes.update(gradients_of_rows(torch, half))
    passes.update(activations_of(torch, x, half))
    passes.update(steps_of(torch, count))
    for name, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16)):
        if count >= 32768:
            passes.update(losses_of(torch, name, rows(32768, dtype)))
    return passes


def gradients_of_rows(torch, x):
    """Of norms with their means and roots, which mpnum's launchers find again."""
    aten, weight = torch.ops.aten, torch.ones(COLUMNS, device="cuda", dtype=x.dtype)
    y, dy = torch.softmax(x, -1), torch.randn_like(x)
    _, mean, inverse = torch.native_layer_norm(x, (COLUMNS,), weight, weight, 1e-5)
    made = {f"softmax_backward_rows bf16 x {COLUMNS}":
            ("_softmax_backward_data", lambda: torch._softmax_backward_data(dy, y, -1, x.dtype)),
            f"layer_norm_backward_rows bf16 x {COLUMNS}":
            ("native_layer_norm_backward",
             lambda: aten.native_layer_norm_backward(dy, x, (COLUMNS,), mean, inverse, weight, weight, [True] * 3))}
    if hasattr(aten, "_fused_rms_norm_backward"):
        _, root = aten._fused_rms_norm(x, (COLUMNS,), weight, 1e-5)
        made[f"rms_norm_backward_rows bf16 x {COLUMNS}"] = (
            "_fused_rms_norm_backward", lambda: aten._fused_rms_norm_backward(dy, x, (COLUMNS,), root, weight, [True] * 2))
    return made


def activations_of(torch, x, half):
    functional, up = torch.nn.functional, torch.randn_like(half)
    return {f"silu_rows f32 x {COLUMNS}": ("silu", lambda: functional.silu(x)),
            f"gelu_tanh_rows bf16 x {COLUMNS}": ("gelu", lambda: functional.gelu(half, approximate="tanh")),
            f"swiglu_rows bf16 x {COLUMNS}": ("silu(x) * y", lambda: functional.silu(half) * up),
            f"gelu_tanh_backward_rows bf16 x {COLUMNS}":
            ("gelu_backward", lambda: torch.ops.aten.gelu_backward(up, half, approximate="tanh")),
            f"dropout_rows bf16 x {COLUMNS}": ("dropout", lambda: functional.dropout(half, 0.125))}


def steps_of(torch, count):
    """As in bench/gpu/kernels_optimizer.cu: 16 tensors, a quarter of the elements."""
    made = {}
    for name, kind in (("f32", torch.float32), ("bf16, stochastic, bf16 moments", torch.bfloat16)):
        tensors = [torch.randn(count // 64, device="cuda").to(kind).requires_grad_() for _ in range(16)]
        for each in tensors:
            each.grad = torch.randn_like(each)
        made[f"optimizer_step adamw {name}"] = "AdamW(fused)", torch.optim.AdamW(tensors, fused=True).step
    return made


def losses_of(torch, name, logits):
    logits.requires_grad_()
    targets = torch.arange(len(logits), device="cuda") * 7919 % 32768

    def cross_entropy():
        with torch.enable_grad():
            loss = torch.nn.functional.cross_entropy(logits, targets, label_smoothing=0.1, reduction="sum")
            return torch.autograd.grad(loss, logits)

    return {f"cross_entropy_rows {name}, gradient x 32768": ("cross_entropy, autograd.grad", cross_entropy)}


def milliseconds(torch, function, flush):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    flush.sum()
    begin.record()
    function()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def measure(torch, numbers):
    device, rounds, size, flushed = numbers
    if not torch.cuda.is_available():
        raise ImportError("PyTorch has no GPU")
    torch.cuda.set_device(device)
    flush = torch.zeros(flushed // 4, device="cuda")
    rows = {}
    for name, (called, function) in passes_of(torch, size // 4).items():
        try:
            function()
            function()
        except (AssertionError, AttributeError, RuntimeError, ValueError):  # not every version has every function
            continue
        taken = sorted(milliseconds(torch, function, flush) for _ in range(rounds))
        low, median, high = (taken[int(share * (len(taken) - 1))] for share in (0.25, 0.5, 0.75))
        rows[name] = {"function": called, "ms": median, "noise": (high - low) / 2 / median}
    return rows


if __name__ == "__main__":
    torch_times.report("torch", measure)
