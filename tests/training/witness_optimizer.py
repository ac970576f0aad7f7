#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Steps of optimizers beside PyTorch's, on a CPU: 100 steps of AdamW, Adam and SGD, by foreach, fused and for each tensor; of
Adafactor beside fairseq's formulas in its tensors, and PyTorch's own where it has one (2.5 and newer).

The python3 that TORCH_PYTHON names has PyTorch, else the one on PATH.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
import toolchain
from tree import check

STEPS, ELEMENTS = 100, 5000
SOURCE = """
#include <mpnum/training/adafactor.h>
#include <mpnum/training/optimizer.h>
int adafactor_step(size_t rows, size_t columns, double decay, double weight_decay, const float *gradient, float *parameter,
                   float *row_averages, float *column_averages, uint64_t number) {
  mpnum_adafactor adafactor = mpnum_adafactor_default();
  mpnum_optimizer_tensor matrix = mpnum_optimizer_tensor_of(
      rows * columns, MPNUM_TYPE_F32, gradient, MPNUM_TYPE_F32, parameter, MPNUM_TYPE_F32, row_averages, column_averages);
  matrix.columns = columns;
  adafactor.decay = decay;
  adafactor.weight_decay = weight_decay;
  return (int)mpnum_adafactor_step(&adafactor, &matrix, 1, number, 1.0f, MPNUM_GRAD_APPLY);
}
int step(int kind, int nesterov, double rate, double beta1, double decay, size_t n, const float *gradient, float *parameter,
         float *moment1, float *moment2, uint64_t number) {
  mpnum_optimizer optimizer = mpnum_optimizer_default((mpnum_optimizer_kind)kind);
  const mpnum_optimizer_tensor tensor = mpnum_optimizer_tensor_of(
      n, MPNUM_TYPE_F32, gradient, MPNUM_TYPE_F32, parameter, MPNUM_TYPE_F32, moment1, moment2);
  optimizer.learning_rate = rate;
  optimizer.beta1 = beta1;
  optimizer.weight_decay = decay;
  optimizer.nesterov = nesterov;
  return (int)mpnum_optimizer_step(&optimizer, &tensor, 1, number, 1.0f, MPNUM_GRAD_APPLY);
}
"""
# name, kind, nesterov, rate, beta1, decay, PyTorch's optimizer
CASES = [
    ("AdamW", 0, 0, 1e-3, 0.9, 0.01, lambda p, **how: torch.optim.AdamW(p, lr=1e-3, **how)),
    ("AdamW with a large decay", 0, 0, 1e-2, 0.9, 0.3, lambda p, **how: torch.optim.AdamW(p, lr=1e-2, weight_decay=0.3, **how)),
    ("Adam with a penalty", 1, 0, 1e-3, 0.9, 0.1, lambda p, **how: torch.optim.Adam(p, lr=1e-3, weight_decay=0.1, **how)),
    ("SGD", 2, 0, 1e-1, 0.0, 0.01, lambda p, **how: torch.optim.SGD(p, lr=1e-1, weight_decay=0.01, **how)),
    ("SGD with momentum", 2, 0, 1e-1, 0.9, 0.01,
     lambda p, **how: torch.optim.SGD(p, lr=1e-1, momentum=0.9, weight_decay=0.01, **how)),
    ("SGD of Nesterov", 2, 1, 1e-1, 0.9, 0.01,
     lambda p, **how: torch.optim.SGD(p, lr=1e-1, momentum=0.9, weight_decay=0.01, nesterov=True, **how)),
]


def pointer(values):
    return ctypes.c_void_p(values.data_ptr())


def agrees(case, how):
    name, kind, nesterov, rate, beta1, decay, make = case
    generator = torch.Generator().manual_seed(kind + nesterov)
    ours = torch.randn(ELEMENTS, generator=generator)
    theirs = torch.nn.Parameter(ours.clone())
    begin = ours.clone()
    moments = [torch.zeros(ELEMENTS) for _ in range(2)]
    largest = begin.abs().clamp(min=1e-3)
    optimizer = make([theirs], **how)
    for number in range(1, STEPS + 1):
        gradient = torch.randn(ELEMENTS, generator=generator) * 10.0 ** (torch.arange(ELEMENTS) % 9 - 6.0)
        theirs.grad = gradient.clone()
        optimizer.step()
        status = LIBRARY.step(kind, nesterov, ctypes.c_double(rate), ctypes.c_double(beta1), ctypes.c_double(decay),
                              ctypes.c_size_t(ELEMENTS), pointer(gradient), pointer(ours), *map(pointer, moments),
                              ctypes.c_uint64(number))
        assert status == 0, status
        largest = torch.maximum(largest, theirs.detach().abs())
        if kind == 2 and beta1 > 0:  # a moment's unit goes into 1 / (1 - beta1) steps
            largest = torch.maximum(largest, rate * moments[0].abs() / (1 - beta1))
    theirs = theirs.detach()
    moved = (theirs - begin).abs()
    # Each step rounds the parameter once here, up to three times there: half a unit each.
    unit = 2.0 ** -23 * largest
    error = (ours - theirs).abs()
    bound = 2.0 * STEPS * unit + 1e-5 * moved
    print(f"# {name}, {how}: largest difference {error.max().item():.2g}, {(error / unit).max().item():.0f} units; "
          f"{(error == 0).float().mean().item() * 100:.0f} % the same; moved by up to {moved.max().item():.2g}")
    assert bool((error <= bound).all()), (name, error.max().item(), (error / bound).max().item())
    assert (error / unit).median().item() <= STEPS / 4, "more than roundings"


class Fairseq:
    """Adafactor as fairseq and Hugging Face compute it, with their defaults, in PyTorch's f32: of matrices and vectors."""

    def __init__(self, parameter, decay, weight_decay):
        self.parameter, self.decay, self.weight_decay = parameter.data, decay, weight_decay
        self.averages = [torch.zeros_like(parameter.data.mean(dim=d)) for d in range(-1, -1 - parameter.dim(), -1)]
        if parameter.dim() == 1:
            self.averages = [torch.zeros_like(parameter.data)]
        self.steps = 0

    def step(self, gradient):
        self.steps += 1
        kept = 1 - self.steps ** -self.decay
        squares = gradient ** 2 + 1e-30
        means = [squares] if squares.dim() == 1 else [squares.mean(dim=-1), squares.mean(dim=-2)]
        for average, mean in zip(self.averages, means):
            average.mul_(kept).add_(mean, alpha=1 - kept)
        if squares.dim() == 1:
            update = self.averages[0].rsqrt() * gradient
        else:
            rows, columns = self.averages
            update = (rows / rows.mean()).rsqrt()[:, None] * columns.rsqrt() * gradient
        update /= max(1.0, float(update.square().mean().sqrt()))
        rate = max(1e-3, float(self.parameter.square().mean().sqrt())) * min(1e-2, self.steps ** -0.5)
        self.parameter.add_(self.parameter, alpha=-self.weight_decay * rate).add_(update, alpha=-rate)


def adafactor_agrees(shape, weight_decay, of_pytorch):
    generator = torch.Generator().manual_seed(len(shape))
    decay = 0.8
    theirs = torch.nn.Parameter(0.05 * torch.randn(shape, generator=generator))
    ours, begin = theirs.detach().clone(), theirs.detach().clone()
    rows, columns = shape if len(shape) == 2 else (1, shape[0])
    averages = torch.zeros(rows), torch.zeros(columns)
    optimizer = torch.optim.Adafactor([theirs], eps=(1e-30, 1e-3)) if of_pytorch else Fairseq(theirs, decay, weight_decay)
    for number in range(1, STEPS + 1):
        gradient = torch.randn(shape, generator=generator) * torch.exp(torch.randn(shape[:1], generator=generator))[
            (slice(None),) + (None,) * (len(shape) - 1)]
        if of_pytorch:
            theirs.grad = gradient.clone()
            optimizer.step()
        else:
            optimizer.step(gradient)
        status = LIBRARY.adafactor_step(ctypes.c_size_t(rows), ctypes.c_size_t(columns), ctypes.c_double(decay),
                                        ctypes.c_double(weight_decay), pointer(gradient), pointer(ours),
                                        *map(pointer, averages), ctypes.c_uint64(number))
        assert status == 0, status
    error, moved = (ours - theirs.detach()).abs(), (theirs.detach() - begin).abs()
    unit = 2.0 ** -23 * torch.maximum(begin.abs(), theirs.detach().abs()).clamp(min=1e-3)
    print(f"# Adafactor, {shape}: largest difference {error.max().item():.2g}, {(error / unit).max().item():.0f} units; "
          f"moved by up to {moved.max().item():.2g}")
    assert bool((error <= 1.0 * STEPS * unit + 1e-5 * moved).all()), (error.max().item(), (error / unit).max().item())


def main():
    python = os.environ.get("TORCH_PYTHON") or "python3"
    try:
        found = subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0
    except OSError:
        found = False
    if not found:
        return print(f"1..0 # SKIP {python} has no PyTorch (TORCH_PYTHON names another python3)")
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "step.c"), Path(folder, "step.so")
        source.write_text(SOURCE)
        check(*toolchain.cc(), "-O2", "-shared", "-fPIC", "-I", toolchain.INCLUDE, source, "-o", library)
        return subprocess.run([python, __file__, "checks", library]).returncode


if __name__ == "__main__":
    if sys.argv[1:2] != ["checks"]:
        sys.exit(main())
    import torch
    LIBRARY = ctypes.CDLL(sys.argv[2])
    WORDS = {"foreach": "all at once", "fused": "fused", "neither": "each alone"}
    HOW = [("neither", {"foreach": False}), ("foreach", {"foreach": True}), ("fused", {"fused": True})]
    PROPERTIES = []
    for case in CASES:
        for way, how in HOW:
            def test(case=case, way=way, how=how):
                try:
                    agrees(case, how)
                except (RuntimeError, TypeError) as refusal:
                    if way != "fused" or "fused" not in str(refusal):
                        raise
                    raise tap.Skip(f"PyTorch {torch.__version__} has none on a CPU: {str(refusal).splitlines()[0]}")
            test.__name__ = f"{case[0]} of PyTorch, {WORDS[way]}".replace(" ", "_")
            PROPERTIES.append(test)
    for shape in [(70, 300), (1300,), (9, 2000)]:
        for weight_decay, of_pytorch in [(0.0, False), (0.1, False), (0.0, True)]:
            def factored(shape=shape, weight_decay=weight_decay, of_pytorch=of_pytorch):
                if of_pytorch and not hasattr(torch.optim, "Adafactor"):
                    raise tap.Skip(f"PyTorch {torch.__version__} has no Adafactor")
                adafactor_agrees(shape, weight_decay, of_pytorch)
            size = "_".join(map(str, shape))
            factored.__name__ = f"Adafactor_of_{'PyTorch' if of_pytorch else 'fairseq'}_{size}_decay_{weight_decay}"
            PROPERTIES.append(factored)
    sys.exit(tap.run(*PROPERTIES))
