#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""examples/torch_extension builds, and does what PyTorch's own functions do, on a CPU and, where there is one, a GPU.

usage: tests/project/test_torch_extension.py [cuda | simulated]

The python3 that TORCH_PYTHON names has PyTorch, else the one on PATH. cuda: with kernels, which a GPU runs if it is there.
simulated: with these kernels for tensors of CPUs, run by tests/cuda/simt.
"""

import contextlib
import importlib.util
import io
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from tree import ROOT, check

if importlib.util.find_spec("torch"):
    import torch

ROWS = 37
DEVICES = ["cpu"]


def same_bits(a, b):
    a, b = a.detach(), b.detach()
    if a.dtype.is_floating_point:
        words = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[a.element_size()]
        a, b = a.contiguous().view(words), b.contiguous().view(words)
    return a.shape == b.shape and torch.equal(a, b)


def values(device, dtype=None, columns=130, factor=3.0):
    made = torch.randn(ROWS, columns, generator=torch.Generator().manual_seed(columns)) * factor
    return made.to(dtype or torch.float32).to(device)


def one(value, device):
    return torch.tensor(value, device=device)


def codes_are_those_of_pytorch(device):
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        for target, largest in ((torch.float8_e4m3fn, 448.0), (torch.float8_e5m2, 57344.0)):
            x = values(device, dtype, factor=largest)
            codes, amax = mpnum_torch.quantize(x, one(0.5, device), target)
            expected = (x.float() * 0.5).clamp(-largest, largest).to(target)
            assert same_bits(codes, expected) and codes.dtype == target, (dtype, target)
            assert amax.item() == x.abs().max().item() and amax.shape == (), (dtype, target)
            back = mpnum_torch.dequantize(codes, one(2.0, device), dtype)
            assert same_bits(back, (expected.float() * 2.0).to(dtype)), (dtype, target)
    turned = values(device).t()
    assert same_bits(mpnum_torch.quantize(turned, one(1.0, device))[0],
                     mpnum_torch.quantize(turned.contiguous(), one(1.0, device))[0]), "a transposed view"
    codes, amax = mpnum_torch.quantize(torch.empty(0, 3, device=device), one(1.0, device))
    assert codes.shape == (0, 3) and amax.item() == 0
    bad = one([1.0, math.nan, -math.inf], device)
    codes, amax = mpnum_torch.quantize(bad, one(1.0, device))
    assert codes.view(torch.uint8).tolist() == [0x38, 0x7f, 0xfe] and math.isnan(amax.item()), (codes, amax)


def softmax_and_its_gradient_are_those_of_pytorch(device):
    for dtype, tolerance in ((torch.float32, 1e-6), (torch.bfloat16, 0.01)):
        x = values(device, dtype).requires_grad_()
        exact = x.detach().double().requires_grad_()
        upstream = values(device, dtype, 130, 1.0)
        y = mpnum_torch.softmax(x, 0.75)
        wanted = torch.softmax(exact * 0.75, -1)
        y.backward(upstream)
        wanted.backward(upstream.double())
        torch.testing.assert_close(y.double(), wanted, rtol=tolerance, atol=tolerance)
        torch.testing.assert_close(x.grad.double(), exact.grad, rtol=tolerance, atol=tolerance)
    for shape in ((0, 5), (5, 0), (1,)):
        assert same_bits(mpnum_torch.softmax(torch.ones(shape, device=device)), torch.ones(shape, device=device)), shape


def tensors_and_gradients_are_rounded_to_8_bits(device):
    x = values(device).requires_grad_()
    y, amax = mpnum_torch.round8(x, one(16.0, device), one(64.0, device))
    upstream = values(device, factor=1.0)
    y.backward(upstream)
    assert same_bits(y, (x * 16).clamp(-448, 448).to(torch.float8_e4m3fn).float() / 16) and not amax.requires_grad
    assert same_bits(x.grad, (upstream * 64).to(torch.float8_e5m2).float() / 64)


def network(device):
    torch.manual_seed(5)
    layers = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4)).to(device)
    return layers, torch.optim.AdamW(layers.parameters(), lr=0.01, fused=True)


def steps_are_those_of_torch_amp(device):
    ours, our_optimizer = network(device)
    theirs, their_optimizer = network(device)
    how = {"init_scale": 1024.0, "growth_interval": 7}
    our_scaler = mpnum_torch.GradScaler(device, **how)
    their_scaler = torch.amp.GradScaler(device, **how)
    x = values(device, columns=8)
    for step in range(60):
        bad = step % 11 in (3, 4)
        for scaler, layers, optimizer in ((our_scaler, ours, our_optimizer), (their_scaler, theirs, their_optimizer)):
            optimizer.zero_grad()
            scaler.scale(layers(x).square().mean()).backward()
            if bad:
                layers[2].bias.grad[step % 4] = (math.inf, math.nan)[step % 2]
            scaler.step(optimizer)
        their_scaler.update()
        assert our_scaler.get_scale() == their_scaler.get_scale(), step
        for a, b in zip(ours.parameters(), theirs.parameters()):
            assert same_bits(a, b), step
    assert our_scaler.counts() == (48, 12), our_scaler.counts()


def gradients_are_clipped_and_states_saved(device):
    layers, optimizer = network(device)
    scaler = mpnum_torch.GradScaler(device, init_scale=64.0)
    x = values(device, columns=8, factor=50.0)
    scaler.scale(layers(x).square().mean()).backward()
    wanted = [p.grad / 64 for p in layers.parameters()]
    norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in wanted]))
    assert norm > 1
    scaler.step(optimizer, max_norm=0.5)
    for p, g in zip(layers.parameters(), wanted):
        torch.testing.assert_close(p.grad, g * (0.5 / norm), rtol=1e-5, atol=1e-7)
    other = mpnum_torch.GradScaler(device)
    other.load_state_dict(scaler.state_dict())
    assert other.get_scale() == 64 and other.counts() == (1, 0) and same_bits(other.state, scaler.state)


def lists_of_any_length_are_unscaled(device):
    for count in (0, 1, 39, 40, 41, 95):
        for bad in (None, count - 1):
            if bad is not None and count == 0:
                continue
            given = [values(device, (torch.float32, torch.bfloat16, torch.float64)[i % 3], i % 9 + (i == count - 1))
                     for i in range(count)]
            if bad is not None:
                given[bad][ROWS - 1, 0] = -math.inf
            gradients = [x.clone() for x in given]
            scaler = mpnum_torch.GradScaler(device, init_scale=64.0)
            found = mpnum_torch.ops.unscale_(gradients, scaler.state, math.inf)
            assert found.item() == (bad is not None) and scaler.counts() == ((1, 0) if bad is None else (0, 1)), count
            assert all(same_bits(a, b / 64) for a, b in zip(gradients, given)), count


def refused(part, error, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except error as told:
        assert part in str(told).splitlines()[0], str(told)
    else:
        raise AssertionError(f"taken: {part}")


def what_is_wrong_is_refused(device):
    x, scale = values(device), one(1.0, device)
    refused("x is float32, float16 or bfloat16, not Int", TypeError, mpnum_torch.quantize, x.int(), scale)
    refused("codes are float8_e4m3fn or float8_e5m2, not Half", TypeError, mpnum_torch.quantize, x, scale, torch.half)
    refused("scale is one float32", ValueError, mpnum_torch.quantize, x, one([1.0, 2.0], device))
    refused("codes are", TypeError, mpnum_torch.dequantize, x, scale)
    refused("rows are", TypeError, mpnum_torch.softmax, x.long())
    refused("growth_interval", ValueError, mpnum_torch.GradScaler, device, growth_interval=0)
    refused("", ValueError, mpnum_torch.GradScaler, device, init_scale=-1.0)
    scaler = mpnum_torch.GradScaler(device)
    halves = torch.zeros(3, dtype=torch.half, device=device)
    refused("not Half; keep parameters of float16 in float32", TypeError, mpnum_torch.ops.unscale_, [halves], scaler.state,
            1.0)
    refused("state is what", ValueError, mpnum_torch.ops.unscale_, [x], scaler.state[1:], 1.0)
    for norm in (0.0, -1.0, math.nan):
        refused("max_norm is above 0", ValueError, mpnum_torch.ops.unscale_, [x], scaler.state, norm)
    assert same_bits(x, values(device)) and scaler.counts() == (0, 0), "a refusal changes something"
    plain = torch.optim.SGD([torch.nn.Parameter(x)], lr=1.0)
    refused("fused=True", ValueError, scaler.step, plain)


def operators_pass_opcheck(device):
    x, scale, state = values(device), one(0.5, device), mpnum_torch.GradScaler(device).state
    codes = mpnum_torch.quantize(x, scale)[0]
    rows = values(device).requires_grad_()
    for operator, arguments in ((mpnum_torch.ops.quantize, (x, scale, torch.float8_e5m2)),
                                (mpnum_torch.ops.dequantize, (codes, scale, torch.bfloat16)),
                                (mpnum_torch.ops.softmax, (rows, 0.5)),
                                (mpnum_torch.ops.softmax_backward, (x, torch.softmax(x, -1), 0.5)),
                                (mpnum_torch.ops.unscale_, ([x, values(device, torch.bfloat16)], state, 1.0))):
        checks = ["test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"]
        if operator != mpnum_torch.ops.dequantize:  # that check compares inputs, and cannot those of 8 bits
            checks.append("test_schema")
        told = torch.library.opcheck(operator.default, arguments, test_utils=checks)
        assert told == dict.fromkeys(checks, "SUCCESS"), (operator, told)


def compiled_functions_give_the_same_bits(device):
    def block(x, scale):
        rounded, amax = mpnum_torch.round8(x, scale, 2 * scale)
        return mpnum_torch.softmax(rounded @ rounded.t(), 0.125).square().sum() + amax

    compiled = torch.compile(block, fullgraph=True, backend="aot_eager")
    results = []
    for function in (block, compiled):
        x = values(device).requires_grad_()
        result = function(x, one(8.0, device))
        result.backward()
        results.append((result, x.grad))
    assert all(same_bits(a, b) for a, b in zip(*results)), results


def a_step_replayed_from_a_graph_is_that_of_torch_amp(device):
    if device != "cuda":
        raise tap.Skip("CUDA graphs are for GPUs")
    ours, _ = network(device)
    theirs, their_optimizer = network(device)
    optimizer = torch.optim.AdamW(ours.parameters(), lr=0.01, fused=True, capturable=True)
    scaler = mpnum_torch.GradScaler(device, growth_interval=7)
    their_scaler = torch.amp.GradScaler(device, growth_interval=7)
    x, factor = values(device, columns=8), one(1.0, device)

    def step(layers, optimizer, scaler):
        optimizer.zero_grad()
        scaler.scale(layers(x).square().mean() * factor).backward()
        scaler.step(optimizer)

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step(ours, optimizer, scaler)
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step(ours, optimizer, scaler)
    for number in range(103):
        factor.fill_(math.inf if number % 10 == 7 and number > 2 else 1.0)
        if number > 2:
            graph.replay()
        step(theirs, their_optimizer, their_scaler)
        their_scaler.update()
    assert scaler.get_scale() == their_scaler.get_scale() and scaler.counts() == (93, 10), scaler.counts()
    for a, b in zip(ours.parameters(), theirs.parameters()):
        torch.testing.assert_close(a, b)


PROPERTIES = [codes_are_those_of_pytorch, softmax_and_its_gradient_are_those_of_pytorch,
              tensors_and_gradients_are_rounded_to_8_bits, steps_are_those_of_torch_amp,
              gradients_are_clipped_and_states_saved, lists_of_any_length_are_unscaled, what_is_wrong_is_refused,
              operators_pass_opcheck, compiled_functions_give_the_same_bits,
              a_step_replayed_from_a_graph_is_that_of_torch_amp]


def on(device, test):
    def body():
        test(device)
    body.__name__ = f"{test.__name__}_on_{device}"
    return body


# In place of PyTorch's headers for GPUs.
SIMULATED = {
    "c10/cuda/CUDAException.h": """
#define C10_CUDA_CHECK(...)                                             \\
  do {                                                                  \\
    const cudaError_t error = (__VA_ARGS__);                            \\
    TORCH_CHECK(error == cudaSuccess, cudaGetErrorString(error));       \\
  } while (0)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())""",
    "c10/cuda/CUDAGuard.h": "namespace c10::cuda { struct CUDAGuard { explicit CUDAGuard(c10::Device) {} }; }",
    "c10/cuda/CUDAStream.h": "namespace c10::cuda { inline cudaStream_t getCurrentCUDAStream() { return nullptr; } }",
}
LAUNCH = re.compile(r"(\w+)<<<([^,;]+), ([^,;]+?)(?:, [^,;]+, [^>]+?)?>>>\(")
BUILD_SIMULATED = """
import sys, torch
from pathlib import Path
from torch.utils import cpp_extension
folder, library, *includes = sys.argv[1:]
cpp_extension.load("operators", [folder + "/kernels.cpp", folder + "/ops.cpp"], build_directory=library, is_python_module=False,
                   extra_include_paths=includes, extra_cflags=["-O1"])
"""


def build_simulated(python, folder, library, environment):
    """Kernels and what launches them, with no GPU: theirs are the tensors that ops.cpp would take."""
    extension = ROOT / "examples/torch_extension"
    for name, text in SIMULATED.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    kernels, launches = LAUNCH.subn(r"simt::latest_error = simt::launch(\1, {\2, \3}, ",
                                    (extension / "kernels.cu").read_text())
    kernels = kernels.replace("mpnum, CUDA,", "mpnum, CPU,")
    assert launches == 2 and "mpnum, CPU," in kernels, kernels
    (folder / "kernels.cpp").write_text('#include <ATen/core/Tensor.h>\n#include "example.hpp"\n'
                                        "SIMT_DYNAMIC_SHARED(float, mpnum_rows_shared_);\n" + kernels)
    (folder / "ops.cpp").write_text((extension / "ops.cpp").read_text().split("TORCH_LIBRARY_IMPL")[0])
    package = library / "mpnum_torch"
    shutil.copytree(extension / "mpnum_torch", package)
    check(python, "-c", BUILD_SIMULATED, folder, package, folder, extension, ROOT / "include", ROOT / "tests/cuda/simt",
          env=environment)


def build(python, folder, library, environment):
    check(python, ROOT / "examples/torch_extension/setup.py", "-q", "build", "--build-base", folder / "base",
          "--build-lib", library, env=environment)


def build_and_check(how):
    """In the python3 that has PyTorch; this one need not."""
    python = os.environ.get("TORCH_PYTHON") or "python3"
    try:
        found = subprocess.run([python, "-c", "import setuptools, torch; print(torch.version.cuda)"], capture_output=True,
                               text=True)
        version = found.stdout.strip() if found.returncode == 0 else ""
    except OSError:
        version = ""
    if not version:
        return print(f"1..0 # SKIP {python} has no PyTorch with setuptools (TORCH_PYTHON names another python3)")
    if how == "cuda" and (version == "None" or not os.environ.get("MPNUM_NVCC")):
        return print("1..0 # SKIP " + ("no nvcc" if version != "None" else f"PyTorch of {python} has no CUDA"))
    environment = {**os.environ, "MAX_JOBS": "1", "MPNUM_TORCH_CUDA": str(int(how == "cuda"))}
    if how == "cuda":
        environment.setdefault("TORCH_CUDA_ARCH_LIST", "9.0")
        environment.setdefault("CUDA_HOME", str(Path(environment["MPNUM_NVCC"]).resolve().parents[1]))
    with tempfile.TemporaryDirectory() as name:
        folder, library = Path(name), Path(name) / "lib"

        def builds():
            (build_simulated if how == "simulated" else build)(python, folder, library, environment)

        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            failed = tap.run(builds)
        if failed:
            print(told.getvalue(), end="")
            return failed
        return subprocess.run([python, __file__, "checks", library], env=environment).returncode


if __name__ == "__main__":
    if sys.argv[1:2] != ["checks"]:
        sys.exit(build_and_check("".join(sys.argv[1:])))
    sys.path.insert(0, sys.argv[2])
    import mpnum_torch
    if torch.cuda.is_available():
        DEVICES.append("cuda")
    sys.exit(tap.run(*[on(device, test) for device in DEVICES for test in PROPERTIES]))
