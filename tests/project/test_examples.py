#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The examples do what they say.

usage: tests/project/test_examples.py host CONVERT CONTRASTIVE_LOSS THREAD_POOL|-
       tests/project/test_examples.py device QUANTIZE_KERNEL|- QUANTIZE_MX|- SOFTMAX_KERNEL|- NVRTC|- TRAIN_STEP|- \
                                        cublaslt|-
       tests/project/test_examples.py simulated

simulated: those for CUDA as C++ on the CPU, with what tests/cuda/simt has in place of the runtime.
"""

import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from toolchain import INCLUDE, cpp_compiler
from tree import ROOT, check

PROGRAMS = sys.argv[2:]
CONVERT, CONTRASTIVE_LOSS, THREAD_POOL = (PROGRAMS + [None] * 3)[:3]
QUANTIZE, QUANTIZE_MX, SOFTMAX, NVRTC, TRAIN_STEP, CUBLASLT = PROGRAMS if PROGRAMS[3:] else [None] * 6


def run(program, *arguments):
    if program == "-":
        raise tap.Skip("not built: no nvcc or no NVRTC")
    # NVRTC opens a library beside its own by name.
    toolkit = Path(os.path.realpath(os.environ.get("MPNUM_NVCC") or "/usr/local/cuda/bin/nvcc")).parents[1]
    folders = [str(toolkit / folder) for folder in ("lib64", "lib")]
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C", "LD_LIBRARY_PATH": ":".join(folders)})
    return done.returncode, done.stdout, done.stderr


def convert_rounds_the_numbers_it_is_given():
    code, output, _ = run(CONVERT, "500")
    assert code == 0 and "e4m3  code 007e  value 448" in output, output  # 500 is past the largest
    assert run(CONVERT, "five")[::2] == (2, "convert: not a number: five\n")
    assert run(CONVERT)[::2] == (2, "usage: convert NUMBER...\n")


def contrastive_loss_shows_where_the_textbook_overflows():
    code, output, _ = run(CONTRASTIVE_LOSS)
    rows = [tuple(map(float, line.split())) for line in output.splitlines()[1:]]
    assert code == 0 and len(rows) == 8, output
    for temperature, textbook, stable in rows:
        assert 0 <= stable < 5, output
        # e^(1 / temperature) is above 65504 from 1 / 0.09 on
        assert math.isinf(textbook) if temperature < 0.09 else abs(textbook - stable) < 0.005, output


def thread_pool_gives_the_bits_of_one_thread_and_a_table():
    if THREAD_POOL == "-":
        raise tap.Skip("not built: no pthread.h")
    for threads in (2, 7):
        code, output, _ = run(THREAD_POOL, threads)
        assert code == 0 and output.startswith(f"{threads} threads give the bits of one: yes\n"), output
        sizes = re.findall(r"^ *(\d+) +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+$", output, re.M)
        assert sizes == [str(4 ** i) for i in range(6, 13)] * 2, output
    for wrong in (["1"], ["65"], ["two"], ["2", "3"]):
        assert run(THREAD_POOL, *wrong)[::2] == (2, "usage: thread_pool [THREADS], 2 to 64\n")


def the_gallery_shows_the_numbers_of_today():
    code, output, errors = run(ROOT / "tools/gallery", "--check")
    assert code == 0, output + errors


def agrees_with_the_host_or_says_what_is_missing(name, program, agreement):
    code, output, errors = run(program)
    if code == 0:
        assert agreement in output, output
    else:
        assert code == 1 and not output and errors.startswith(f"{name}: ") and errors.count("\n") == 1, errors
        raise tap.Skip("no GPU: " + errors.strip())


def quantize_kernel_agrees_with_the_host_or_says_what_is_missing():
    agrees_with_the_host_or_says_what_is_missing("quantize_kernel", QUANTIZE, "1000003 values, 0 differ from the host")


def quantize_mx_agrees_with_the_host_or_says_what_is_missing():
    agrees_with_the_host_or_says_what_is_missing("quantize_mx", QUANTIZE_MX, ", 0 differ from the host")


def softmax_kernel_agrees_with_the_host_or_says_what_is_missing():
    agrees_with_the_host_or_says_what_is_missing("softmax_kernel", SOFTMAX, " 0 by more than a place")


def nvrtc_compiles_a_kernel_that_includes_mpnum():
    for architecture, instruction in (("compute_80", None), ("compute_90", "cvt.rn.satfinite.e4m3x2.f32")):
        code, output, errors = run(NVRTC, ROOT / "include", architecture)
        assert code == 0 and ".visible .entry quantize" in output, errors
        assert instruction in output if instruction else "satfinite" not in output


def nvrtc_says_what_it_cannot_compile():
    code, output, errors = run(NVRTC, "/nowhere")
    assert code == 1 and not output and "mpnum/mpnum.h" in errors, errors
    assert run(NVRTC)[::2] == (2, "usage: nvrtc INCLUDE_FOLDER [ARCHITECTURE]\n")


TRAIN_STEP_ROW = r"^(\w+) +\S+ +(\S+) +(\S+) +(\S+) +(\d+) +(\d+) +(\d) of 5$"


def training_goes_well(output, steps, skipped):
    """Errors shrink in every format, to much the same, and steps with Inf are left out."""
    rows = {row[0]: [float(word) for word in row[1:]] for row in re.findall(TRAIN_STEP_ROW, output, re.M)}
    assert list(rows) == ["f32", "bf16", "f16", "fp8"], output
    for first, last, scale, applied, skips, _ in rows.values():
        assert last < 0.2 * first and (applied, skips) == (steps - skipped, skipped), output
    assert abs(rows["f16"][1] - rows["f32"][1]) < 0.1 * rows["f32"][1] != 0, output
    assert rows["fp8"][1] < 4 * rows["f32"][1] and rows["fp8"][0] != rows["f32"][0], output
    assert rows["f32"][2] == rows["bf16"][2] == 1 and rows["f16"][2] == rows["fp8"][2] > 1, output


def train_step_skips_on_the_device_or_says_what_is_missing():
    code, output, errors = run(TRAIN_STEP, "--compare", "--steps", 1000)
    if code == 0:
        training_goes_well(output, 1000, 10)
    else:
        assert code == 1 and not output and errors.startswith("train_step: ") and errors.count("\n") == 1, errors
        raise tap.Skip("no GPU: " + errors.strip())


def train_step_takes_products_of_cublaslt():
    if CUBLASLT == "-":
        raise tap.Skip("train_step is built without cuBLASLt, which was not found")
    assert b"cublasLtMatmulAlgoGetHeuristic" in Path(TRAIN_STEP).read_bytes()


def train_step_says_what_is_wrong_on_its_command_line(program=TRAIN_STEP):
    wrong = "train_step: --hidden takes a multiple of 16 from 16 to 16384, not"
    assert run(program, "--hidden", "33")[::2] == (2, f"{wrong} 33\n")
    assert run(program, "--hidden")[::2] == (2, f"{wrong} nothing\n")
    assert run(program, "--steps", "1e3")[::2] == (2, "train_step: --steps takes a number from 2 to 100000000, not 1e3\n")
    code, output, errors = run(program, "fp7")
    assert code == 2 and not output and errors.startswith("usage: train_step ") and errors.count("\n") == 1, errors


LAUNCH = re.compile(r"(\w+)<<<([^,;]+), ([^,;]+?)(?:, [^,;]+, \w+)?>>>\(")


def simulated(name, *files):
    """A program of a CUDA example for the CPU: kernels are launched by a function."""
    if not sys.platform.startswith("linux"):
        raise tap.Skip("kernels run on the CPU of Linux only")
    folder = Path(tempfile.mkdtemp(dir=SIMULATED))
    launches = 0
    for file in (f"{name}.cu", *files):
        text, count = LAUNCH.subn(r"simt::latest_error = simt::launch(\1, {\2, \3}, ",
                                  (ROOT / "examples" / file).read_text())
        (folder / file).write_text(text)
        launches += count
    assert launches or name == "quantize_mx", "no kernel is launched"
    (folder / "main.cpp").write_text(f'#include "example.hpp"\n#include "{name}.cu"\n')
    check(*cpp_compiler(), "-std=c++17", "-O1", "-DEXAMPLES_PLAIN_PRODUCTS", "-I", INCLUDE, "-I",
          ROOT / "tests/cuda/simt", folder / "main.cpp", "-o", folder / name)
    return folder / name


def simulated_quantize_kernel_agrees_with_the_host():
    assert run(simulated("quantize_kernel"))[:2] == (0, "amax 3.99999, scale 112, 1000003 values, 0 differ from the host\n")


def simulated_quantize_mx_agrees_with_the_host():
    code, output, errors = run(simulated("quantize_mx"))
    assert code == 0 and output.endswith(", 0 differ from the host\n"), output + errors


def simulated_softmax_kernel_is_within_a_place_of_the_host():
    code, output, errors = run(simulated("softmax_kernel"))
    assert code == 0 and output.endswith(", 0 by more than a place\n"), output + errors


def random_float(index):
    """From Philox4x32-10, as in the paper, with the key 1."""
    words, key = [index >> 2 & 0xffffffff, index >> 34, 0, 0], [1, 0]
    for _ in range(10):
        first, second = 0xd2511f53 * words[0], 0xcd9e8d57 * words[2]
        words = [second >> 32 ^ words[1] ^ key[0], second & 0xffffffff, first >> 32 ^ words[3] ^ key[1], first & 0xffffffff]
        key = [key[0] + 0x9e3779b9 & 0xffffffff, key[1] + 0xbb67ae85 & 0xffffffff]
    return (words[index & 3] >> 8) / 2**23 - 1


def product(a, b):
    """a b transposed."""
    return [[sum(map(float.__mul__, row, other)) for other in b] for row in a]


def turned(a):
    return list(map(list, zip(*a)))


def errors_of_training(steps, samples, hidden, every):
    """What train_step computes, in doubles: the error of each step."""
    inputs, outputs = 64, 16
    x = [[random_float(i * inputs + j) for j in range(inputs)] for i in range(samples)]
    target = [[row[j] * row[-1] for j in range(outputs)] for row in x]
    w = [0.1 * random_float(2**30 + i) for i in range(hidden * (inputs + outputs))]
    mean, square, applied, errors = [0.0] * len(w), [0.0] * len(w), 0, []
    for step in range(1, steps + 1):
        w1 = [w[i * inputs:(i + 1) * inputs] for i in range(hidden)]
        w2 = [w[hidden * (inputs + i):hidden * (inputs + i + 1)] for i in range(outputs)]
        h = [[max(value, 0.0) for value in row] for row in product(x, w1)]
        error = [[a - b for a, b in zip(*rows)] for rows in zip(product(h, w2), target)]
        errors.append(sum(value**2 for row in error for value in row) / (samples * outputs))
        if step % every == 0:
            continue
        delta = [[2 / (samples * outputs) * value for value in row] for row in error]
        delta_h = [[d if a > 0 else 0.0 for d, a in zip(*rows)] for rows in zip(product(delta, turned(w2)), h)]
        gradient = sum(product(turned(delta_h), turned(x)) + product(turned(delta), turned(h)), [])
        clip = min(1.0, 1 / (math.hypot(*gradient) + 1e-6))
        applied += 1
        for i, g in enumerate(gradient):
            mean[i] = 0.9 * mean[i] + 0.1 * clip * g
            square[i] = 0.999 * square[i] + 0.001 * (clip * g)**2
            root = math.sqrt(square[i] / (1 - 0.999**applied)) + 1e-8
            w[i] -= 0.001 * (mean[i] / (1 - 0.9**applied) / root + 0.01 * w[i])
    return errors


def simulated_train_step_learns_and_skips():
    program = simulated("train_step", "products.cuh")
    small = ["--samples", 32, "--hidden", 32]
    code, output, errors = run(program, "--compare", "--steps", 200, "--inject", 60, *small)
    assert code == 0, output + errors
    training_goes_well(output, 200, 3)
    code, output, errors = run(program, "f16", "--steps", 60, "--inject", 0, *small)
    assert code == 0 and re.findall(TRAIN_STEP_ROW, output, re.M)[0][3:6] == ("131072", "60", "0"), output + errors
    code, output, errors = run(program, "f32", "--steps", 9, "--inject", 4, "--samples", 16, "--hidden", 16)
    wanted = errors_of_training(9, 16, 16, 4)
    row = re.findall(TRAIN_STEP_ROW, output, re.M)[0]
    assert code == 0 and row[4:6] == ("7", "2") and wanted[-1] < 0.95 * wanted[0], output + errors
    assert all(abs(float(got) - value) < 2e-6 for got, value in zip(row[1:3], (wanted[0], wanted[-1]))), (output, wanted)
    train_step_says_what_is_wrong_on_its_command_line(program)


PROPERTIES = {
    "host": [convert_rounds_the_numbers_it_is_given, contrastive_loss_shows_where_the_textbook_overflows,
             thread_pool_gives_the_bits_of_one_thread_and_a_table, the_gallery_shows_the_numbers_of_today],
    "device": [quantize_kernel_agrees_with_the_host_or_says_what_is_missing,
               quantize_mx_agrees_with_the_host_or_says_what_is_missing,
               softmax_kernel_agrees_with_the_host_or_says_what_is_missing,
               nvrtc_compiles_a_kernel_that_includes_mpnum, nvrtc_says_what_it_cannot_compile,
               train_step_skips_on_the_device_or_says_what_is_missing,
               train_step_takes_products_of_cublaslt, train_step_says_what_is_wrong_on_its_command_line],
    "simulated": [simulated_quantize_kernel_agrees_with_the_host, simulated_quantize_mx_agrees_with_the_host,
                  simulated_softmax_kernel_is_within_a_place_of_the_host, simulated_train_step_learns_and_skips],
}
with tempfile.TemporaryDirectory() as SIMULATED:
    sys.exit(tap.run(*PROPERTIES[sys.argv[1]]))
