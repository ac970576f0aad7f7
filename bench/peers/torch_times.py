#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PyTorch's passes over f32 gradients on the CPU, timed as bench/core/timing.c times.

usage: torch_times.py THREADS BYTES ROUNDS [BYTES ROUNDS]...

Prints JSON: version, and rows by operation, for each size bytes, ns_per_value and noise; or missing,
the reason why there are none.
"""

import gc
import importlib
import json
import math
import statistics
import sys
import time
import warnings

SAMPLE_SECONDS, WARM_SECONDS = 200e-6, 10e-3
SMALL, TILE = 671, 1 << 20  # as in sections/grad/operations.c and sections/arrays/source.c


def operations(torch, count):
    """The name of each operation, and a function of one pass; and the gradients, which are read between samples."""
    gradients = torch.randn(min(count, TILE)).repeat(max(1, count // TILE))
    whole, small = [gradients], list(gradients.split(SMALL))
    parameter = torch.nn.Parameter(gradients.detach())
    parameter.grad = gradients
    one, two, found = torch.tensor(1.0), torch.tensor(2.0), torch.zeros(1)
    unscale, norm = torch._amp_foreach_non_finite_check_and_unscale_, torch.nn.utils.get_total_norm
    clip = torch.nn.utils.clip_grad_norm_
    return {
        "unscale f32": lambda: (unscale(whole, found, one), norm(whole)),
        "unscale f32 small": lambda: (unscale(small, found, one), norm(small)),
        "multiply f32": lambda: unscale(whole, found, one),
        "unscale and clip f32": lambda: (unscale(whole, found, two), clip(parameter, 1.0)),
        "check f32": lambda: norm(whole),
    }, gradients


def seconds_of(function, passes):
    start = time.perf_counter()
    for _ in range(passes):
        function()
    return time.perf_counter() - start


def time_in_turns(passes, rounds, read):
    """Seconds of one pass and noise of each; they take turns, and read() reads between samples what they use."""
    repeats, samples, is_short = {}, {name: [] for name in passes}, {}
    for name, function in passes.items():
        once = seconds_of(function, 1)
        once = seconds_of(function, 1) if once < WARM_SECONDS else once
        repeats[name], is_short[name] = math.ceil(SAMPLE_SECONDS / once), once < WARM_SECONDS
    for _ in range(rounds):
        for name, function in passes.items():
            if is_short[name]:
                function()
            samples[name].append(seconds_of(function, repeats[name]))
            read()
    for name, taken in samples.items():
        low, median, high = statistics.quantiles(taken, n=4, method="inclusive")
        yield name, median / repeats[name], (high - low) / 2 / median


def time_sizes(torch, operations, plan):
    """By operation, for each size bytes, ns for a value and noise."""
    rows = {}
    for size, rounds in zip(plan[::2], plan[1::2]):
        count = size // 4
        passes, values = operations(torch, count)
        for name, seconds, noise in time_in_turns(passes, rounds, values.sum):
            rows.setdefault(name, []).append({"bytes": size, "ns_per_value": 1e9 * seconds / count, "noise": noise})
    return rows


def result(module, measure, threads):
    try:
        import torch
        named = importlib.import_module(module)
        torch.set_num_threads(threads)
        with torch.no_grad():
            rows = measure(torch)
    except (ImportError, AttributeError) as reason:  # not every version has every function
        return {"missing": str(reason)}
    return {"version": named.__version__, "rows": rows}


def report(module, measure):
    """Prints what measure(torch, numbers) gives of the numbers behind that of threads."""
    threads, *numbers = map(int, sys.argv[1:])
    warnings.simplefilter("ignore")
    gc.disable()
    json.dump(result(module, lambda torch: measure(torch, numbers), threads), sys.stdout)


def main(module, operations):
    report(module, lambda torch, plan: time_sizes(torch, operations, plan))


if __name__ == "__main__":
    main("torch", operations)
