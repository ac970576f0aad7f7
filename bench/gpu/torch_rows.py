#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What PyTorch takes on the GPU for the work of the benchmark's rows: lines of JSON for tools/gpu-run.

Arrays of 64 Mi elements, median of 11 runs between events. A rate counts what has to be read and written once.
"""

import json
import statistics

COUNT = 1 << 26
ROUNDS = 11
COLUMNS = 4096


def main():
    import torch
    import torch.nn.functional as functional

    def measure(name, moved, work):
        try:
            for _ in range(3):
                work()
            times = []
            for _ in range(ROUNDS):
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                begin.record()
                work()
                end.record()
                torch.cuda.synchronize()
                times.append(begin.elapsed_time(end))
            taken = statistics.median(times)
            found = {"us": round(1000 * taken, 1), "rate": round(moved / taken / 1e6)}
        except (RuntimeError, AttributeError, NotImplementedError) as error:
            found = {"why": str(error).splitlines()[0][:100]}
        print(json.dumps({"peer": f"torch {torch.__version__}", "row": name, **found}), flush=True)

    def values(kind, *shape):
        return torch.randn(*shape, device="cuda").to(kind)

    def conversions():
        x = values(torch.float32, COUNT)
        for name, kind, size in (("bf16", torch.bfloat16, 2), ("f16", torch.float16, 2), ("e4m3", torch.float8_e4m3fn, 1)):
            codes = torch.empty(COUNT, device="cuda", dtype=kind)
            back = torch.empty_like(x)
            measure(f"f32 to {name}", (4 + size) * COUNT, lambda: codes.copy_(x))
            measure(f"{name} to f32", (4 + size) * COUNT, lambda: back.copy_(codes))
        measure("all_finite f32", 4 * COUNT, lambda: torch.isfinite(x).all())
        measure("amax f32", 4 * COUNT, lambda: torch.linalg.vector_norm(x, ord=float("inf")))

    def lists():
        tensors = [values(torch.float32, 16384) for _ in range(1000)]
        found, scale = torch.zeros(1, device="cuda"), torch.ones(1, device="cuda")
        measure("grad_pass f32 in place, 1000 of 64 KiB, without norm", 8 * 16384 * 1000,
                lambda: torch._amp_foreach_non_finite_check_and_unscale_(tensors, found, scale))
        parameters = [torch.nn.Parameter(values(torch.float32, COUNT // 64)) for _ in range(16)]
        for one in parameters:
            one.grad = torch.randn_like(one)
        measure("optimizer_step adamw f32", 28 * COUNT // 4, torch.optim.AdamW(parameters, fused=True).step)

    def rows(name, kind, size, columns):
        x = values(kind, COUNT // columns, columns)
        dy = values(kind, COUNT // columns, columns)
        moved = size * COUNT
        title = f"{name} x {columns}"
        measure(f"softmax_rows {title}", 2 * moved, lambda: torch.softmax(x, -1))
        measure(f"log_softmax_rows {title}", 2 * moved, lambda: torch.log_softmax(x, -1))
        y = torch.softmax(x, -1)
        measure(f"softmax_backward_rows {title}", 3 * moved, lambda: torch._softmax_backward_data(dy, y, -1, kind))
        measure(f"logsumexp_rows {title}", moved, lambda: torch.logsumexp(x, -1))
        if columns == COLUMNS:
            norms(title, kind, moved, x, dy)
        else:
            loss(title, moved, x)

    def norms(title, kind, moved, x, dy):
        weight, bias = values(kind, COLUMNS), values(kind, COLUMNS)
        measure(f"layer_norm_rows {title}", 2 * moved, lambda: functional.layer_norm(x, (COLUMNS,), weight, bias))
        measure(f"rms_norm_rows {title}", 2 * moved, lambda: functional.rms_norm(x, (COLUMNS,), weight))
        _, mean, inverse = torch.native_layer_norm(x, (COLUMNS,), weight, bias, 1e-5)
        measure(f"layer_norm_backward_rows {title}", 3 * moved,
                lambda: torch.ops.aten.native_layer_norm_backward(dy, x, (COLUMNS,), mean, inverse, weight, bias, [True] * 3))
        measure(f"silu_rows {title}", 2 * moved, lambda: functional.silu(x))
        measure(f"gelu_tanh_rows {title}", 2 * moved, lambda: functional.gelu(x, approximate="tanh"))
        measure(f"swiglu_rows {title}, two kernels", 3 * moved, lambda: functional.silu(x) * dy)
        measure(f"dropout_rows {title}", 2 * moved, lambda: functional.dropout(x, 0.125))

    def loss(title, moved, x):
        targets = torch.randint(0, x.shape[1], (x.shape[0],), device="cuda")
        wanted = x.detach().requires_grad_(True)

        def both():
            wanted.grad = None
            functional.cross_entropy(wanted, targets).backward()
        measure(f"cross_entropy_rows {title}, gradient", 2 * moved, both)

    conversions()
    lists()
    for name, kind, size in (("f32", torch.float32, 4), ("bf16", torch.bfloat16, 2)):
        for columns in (COLUMNS, 32768):
            rows(name, kind, size, columns)


if __name__ == "__main__":
    main()
