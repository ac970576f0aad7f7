#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Steps of optimizers beside PyTorch's, on a CPU: 100 steps of AdamW, Adam and SGD, by foreach and for each tensor.

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
#include <mpnum/training/optimizer.h>
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
    HOW = [{"foreach": False}, {"foreach": True}]
    PROPERTIES = []
    for case in CASES:
        for how in HOW:
            def test(case=case, how=how):
                agrees(case, how)
            test.__name__ = f"{case[0]} of PyTorch, {'all at once' if how['foreach'] else 'each alone'}".replace(" ", "_")
            PROPERTIES.append(test)
    sys.exit(tap.run(*PROPERTIES))
