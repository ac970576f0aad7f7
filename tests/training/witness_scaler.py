#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PyTorch as a witness of the loss scaler and of the pass over gradients.

    witness_scaler.py PATH-OF-CODES-LIBRARY

Skipped where PyTorch is not installed. Where the two differ on purpose, the exact condition is
written at the property and in its checks.
"""

import ctypes
import sys
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[1] / room) for room in ["harness", "convert"]]

import tap
from witness_python import library, load, pointer

LEAST = 2.0**-126  # of our scales; PyTorch's may become smaller
OPTIMIZERS = 2


def load_torch():
    torch = load("torch")
    for name in ("_amp_update_scale_", "_amp_foreach_non_finite_check_and_unscale_"):
        if not hasattr(torch, name) or not hasattr(torch.amp, "GradScaler"):
            raise tap.Skip(f"PyTorch {torch.__version__} does not scale losses on the CPU")
    torch.set_num_threads(1)
    return torch, load("numpy")


class Trace:
    """What our scaler does with the patterns of two optimizers."""

    def __init__(self, np, growth, backoff, interval, init, found):
        updates = len(found)
        self.scales, self.inverses = np.empty(updates, np.float32), np.empty(updates, np.float32)
        self.applied = np.empty((updates, OPTIMIZERS), np.uint8)
        library.codes_scale_trace(
            ctypes.c_double(growth), ctypes.c_double(backoff), interval, ctypes.c_float(init), pointer(found),
            ctypes.c_size_t(updates), pointer(self.scales), pointer(self.inverses), pointer(self.applied))


def random_scale(np, generator):
    """A float from 2^-126 on: of any size, or of usual size, or a power of two."""
    kind = generator.integers(3)
    if kind == 0:
        return float(generator.integers(0x00800000, 0x7F800000, dtype=np.uint32).view(np.float32))
    return float(np.float32(generator.uniform(1, 1e6))) if kind == 1 else 2.0 ** int(generator.integers(-126, 128))


def inverse_of(scale):
    """As torch.amp.GradScaler computes it."""
    return scale.double().reciprocal().float()


def follow(torch, np, generator):
    """One trace, up to where PyTorch's scale is below ours, which then is the smallest. Returns the updates compared, and
    how the trace ended."""
    growth = generator.choice([2.0, 4.0, 1.5, 2.7182818284590451, 1 + 2.0**-20, 1e10, 1e37])
    backoff = generator.choice([0.5, 0.25, 0.9, 1 / 3, 1 - 2.0**-20, 1e-10, 1e-37])
    interval, init = int(generator.integers(1, 9)), random_scale(np, generator)
    found = (generator.random((60, OPTIMIZERS)) < generator.choice([0, 0.02, 0.2, 0.5, 1])).astype(np.uint8)
    ours = Trace(np, growth, backoff, interval, init, found)
    scale, tracker = torch.tensor(init), torch.zeros((), dtype=torch.int32)
    for update, is_found in enumerate(found.any(axis=1)):
        torch._amp_update_scale_(scale, tracker, torch.full((), float(is_found)), growth, backoff, interval)
        theirs, wanted = scale.item(), max(scale.item(), LEAST)
        what = f"growth {growth}, backoff {backoff}, interval {interval}, init {init!r}, update {update}"
        assert ours.scales[update] == wanted, f"{what}: {ours.scales[update]!r}, PyTorch {theirs!r}"
        if theirs != wanted:
            return update + 1, "leaves"
        assert ours.inverses[update] == inverse_of(scale).item(), f"{what}: inverse {ours.inverses[update]!r}"
    return len(found), "done"


def scales_follow_pytorch():
    torch, np = load_torch()
    generator = np.random.default_rng(2026)
    ends, compared = {"leaves": 0, "done": 0}, 0
    for _ in range(4000):
        updates, end = follow(torch, np, generator)
        ends[end] += 1
        compared += updates
    assert compared > 100000 and min(ends.values()) > 50, (compared, ends)


def steps_follow_a_grad_scaler():
    """torch.amp.GradScaler as a whole, with two optimizers: gradients, verdicts, scales."""
    torch, np = load_torch()
    generator = np.random.default_rng(7)
    for _ in range(150):
        growth, backoff = generator.choice([1.5, 2, 2.7182818284590451]), generator.choice([0.5, 0.9, 1 / 3])
        interval, init = int(generator.integers(1, 8)), float(np.float32(generator.uniform(1, 1e6)))
        found = (generator.random((40, OPTIMIZERS)) < generator.choice([0.05, 0.3, 0.7])).astype(np.uint8)
        ours = Trace(np, growth, backoff, interval, init, found)
        scaler = torch.amp.GradScaler("cpu", init, growth, backoff, interval)
        scaler.scale(torch.zeros(()))  # makes its tensors
        weights = [torch.nn.Parameter(torch.zeros(64)) for _ in range(OPTIMIZERS)]
        optimizers = [torch.optim.SGD([weight], lr=1.0) for weight in weights]
        inverse = np.float32(1 / np.float64(init))
        for update in range(len(found)):
            for weight, optimizer, is_found, applied in zip(weights, optimizers, found[update], ours.applied[update]):
                gradient = (generator.standard_normal(64) * 100).astype(np.float32)
                weight.detach().zero_()
                weight.grad = torch.from_numpy(gradient.copy())
                if is_found:
                    weight.grad[7] = float("inf")
                scaler.unscale_(optimizer)
                rest = np.arange(64) != 7
                assert (weight.grad.numpy() == gradient * inverse)[rest].all(), f"unscaled, update {update}"
                scaler.step(optimizer)
                assert bool((weight != 0).any()) == bool(applied), f"verdict {update}"
            scaler.update()
            assert scaler.get_scale() == ours.scales[update], f"{update}: {scaler.get_scale()}, {ours.scales[update]}"
            inverse = ours.inverses[update]


def random_gradients(torch, np, generator, dtype):
    """Any bits; or those whose products hardly overflow; with or without Inf and NaN."""
    size = torch.empty(0, dtype=dtype).element_size()
    words = generator.integers(0, 256, int(generator.integers(1, 4000)) * size, np.uint8)
    gradients = torch.from_numpy(words).view(dtype)
    if generator.integers(2):
        gradients = torch.from_numpy(generator.standard_normal(gradients.numel())).to(dtype)
    finite = torch.where(torch.isfinite(gradients), gradients, torch.zeros((), dtype=dtype))
    gradients = gradients if generator.integers(4) == 0 else finite
    if generator.integers(3) == 0:
        gradients[generator.integers(gradients.numel())] = generator.choice([np.inf, -np.inf, np.nan])
    return gradients.contiguous()


def random_sizes(np, generator, count):
    """Of tensors, some of them empty, that have so many elements."""
    cuts = np.sort(generator.integers(0, count + 1, int(generator.integers(0, 20))))
    return np.diff(np.concatenate([[0], cuts, [count]])).astype(np.uintp)


def check_unscale(torch, np, source, sizes, scale, name):
    """Result for result: the same bits, or both NaN. PyTorch asks for Inf and NaN in the gradients, we in the results
    (those of f64 as f32): we find more exactly where a finite gradient has a result that is not. Returns whether."""
    ours, theirs, theirs_found = source.clone(), source.clone(), torch.zeros(1)
    found = library.codes_unscale(name.encode(), ctypes.c_void_p(ours.data_ptr()), pointer(sizes),
                                  ctypes.c_size_t(sizes.size), ctypes.c_float(scale))
    torch._amp_foreach_non_finite_check_and_unscale_(list(theirs.split([int(size) for size in sizes])), theirs_found,
                                                     inverse_of(torch.tensor(scale)))
    bits = {2: torch.int16, 4: torch.int32, 8: torch.int64}[source.element_size()]
    differ = (ours.view(bits) != theirs.view(bits)) & ~(torch.isnan(ours) & torch.isnan(theirs))
    examples = [(source[i].item(), ours[i].item(), theirs[i].item()) for i in differ.nonzero().flatten()[:5]]
    assert not differ.any(), f"{name} at scale {scale!r}: {int(differ.sum())} differ: gradient, ours, theirs {examples}"
    results = theirs.float()
    overflows = bool((torch.isfinite(source) & ~torch.isfinite(results)).any())
    assert found == (bool(theirs_found) or overflows), f"{name} at scale {scale!r}: found {found}, {theirs_found}"
    return overflows and not theirs_found


def unscaling_agrees_with_pytorch():
    torch, np = load_torch()
    generator = np.random.default_rng(11)
    types = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}
    for name, dtype in types.items():
        more = 0
        for _ in range(1500):
            source = random_gradients(torch, np, generator, dtype)
            sizes = random_sizes(np, generator, source.numel())
            more += check_unscale(torch, np, source, sizes, random_scale(np, generator), name)
        assert 50 < more < 1000, f"{name}: we alone find something in {more} of 1500 lists"


def every_half_agrees_with_pytorch():
    """All f16 and bf16 gradients, the finite ones apart, at the scales of training."""
    torch, np = load_torch()
    for name, dtype in {"f16": torch.float16, "bf16": torch.bfloat16}.items():
        every = torch.arange(1 << 16, dtype=torch.int32).to(torch.int16).view(dtype)
        for source in (every, every[torch.isfinite(every)].contiguous()):
            sizes = np.array([source.numel()], np.uintp)
            for scale in [1.0, 3.0, *(2.0**k for k in range(-4, 33))]:
                check_unscale(torch, np, source, sizes, scale, name)


if __name__ == "__main__":
    sys.exit(tap.run(
        scales_follow_pytorch,
        steps_follow_a_grad_scaler,
        unscaling_agrees_with_pytorch,
        every_half_agrees_with_pytorch,
    ))
