#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`mpnum bench --grad`: the pass over gradients at three sizes, beside what it is made of and PyTorch.
test_bench_grad.py PROGRAM"""

import functools
import importlib.util
import os
import re
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import bench_sections
import tap
from bench_program import bench
from bench_sections import shape_of

IN_PLACE, READ, WIDENED = (32, 32, True), (32, 0, False), (16, 32, False)
ROWS = {"unscale f32": IN_PLACE, "unscale f32 small": IN_PLACE, "unscale f32 in passes": IN_PLACE,
        "multiply f32": IN_PLACE, "unscale and clip f32": IN_PLACE, "unscale f32 histogram": IN_PLACE,
        "unscale f32 histogram/16": IN_PLACE, "count exponents f32": READ, "check f32": READ,
        "unscale bf16": (16, 16, True), "unscale f16 to f32": WIDENED, "unscale bf16 to f32": WIDENED,
        "adamw f32": (128, 96, True), "adamw f32 bf16 copy": (128, 112, True), "adamw bf16 sr": (96, 80, True),
        "sgd momentum f32": (96, 64, True), "8-bit adamw f32": (80, 48, True), "adafactor f32": (64, 32, True)}
STEPS = [name for name in ROWS if name.startswith(("adamw", "sgd"))]
OF_PYTORCH = ["unscale f32", "unscale f32 small", "multiply f32", "unscale and clip f32", "check f32"]
ADDED = [("unscale f32", "multiply f32"), ("unscale f32 in passes", "unscale f32"),
         ("unscale f32 small", "unscale f32"), ("unscale f32 histogram", "unscale f32"),
         ("unscale f32 histogram/16", "unscale f32")]

@functools.cache
def quick_run():
    return bench_sections.quick_run("grad")


@functools.cache
def run_with_times():
    return bench_sections.run_with_times("grad", "torch_times.py", OF_PYTORCH)


def every_pass_has_a_row():
    figures = quick_run()[0]
    names = bench_sections.operations(figures, "grad")
    assert {name: shape_of(figures, "grad", name) for name in names} == ROWS, names


def pytorch_is_absent_with_its_reason():
    figures, out = quick_run()
    assert bench_sections.peers(figures, "grad") == ["plain loop", "PyTorch"]
    assert figures.get("grad", "PyTorch", metric="missing") == bench_sections.ABSENT_WHY, figures.metrics("grad", "PyTorch")
    bench_sections.check_peers(figures, "grad", out)


def steps_of_optimizers_have_a_plain_loop():
    figures = quick_run()[0]
    assert figures.all_of("name", "grad", "plain loop") == STEPS


def the_times_that_pytorch_gives_are_reported():
    bench_sections.check_times_given("grad", "PyTorch", OF_PYTORCH, *run_with_times())


def what_is_no_answer_is_a_reason():
    one_less = {name: bench_sections.times() for name in OF_PYTORCH[:-1]}
    cases = {"json.dump({'missing': 'no\\nluck'}, sys.stdout)": "no?luck",
             "print('rubbish')": "failed", "sys.exit(3)": "failed", "json.dump([], sys.stdout)": "no times",
             f"json.dump({{'version': '1', 'rows': {one_less}}}, sys.stdout)": f"no times of {OF_PYTORCH[-1]}",
             f"json.dump({{'version': '1', 'rows': {{'unscale f32': {bench_sections.times(2)}}}}}, sys.stdout)":
                 "no times of unscale f32"}
    for program, why in cases.items():
        figures, out = bench_sections.run_with("grad", program)
        about = figures.metrics("grad", "PyTorch")
        assert about["missing"].startswith(f"{why} (TORCH_PYTHON ") and "version" not in about, (program, about)
        bench_sections.check_peers(figures, "grad", out)


def pytorch_is_measured_where_it_is():
    if importlib.util.find_spec("torch") is None:
        raise tap.Skip("no module torch")
    figures, out = bench_sections.quick_run("grad", env={**os.environ, "TORCH_PYTHON": sys.executable})
    about = figures.metrics("grad", "PyTorch")
    assert "missing" not in about and re.fullmatch(r"\d+(\.\w+)+", about["version"]), about
    bench_sections.check_all_figures(figures, "grad")
    bench_sections.check_table(figures, "grad", out, "Gradients")


def what_is_added_follows_from_times():
    figures, out = quick_run()
    bench_sections.check_added(figures, "grad", out, "Gradients", ADDED)


def threads_split_the_arrays():
    bench_sections.check_threads("grad", "unscale f32", quick_run()[0])


sys.exit(tap.run(
    every_pass_has_a_row,
    pytorch_is_absent_with_its_reason,
    steps_of_optimizers_have_a_plain_loop,
    the_times_that_pytorch_gives_are_reported,
    what_is_no_answer_is_a_reason,
    pytorch_is_measured_where_it_is,
    what_is_added_follows_from_times,
    threads_split_the_arrays,
    *bench_sections.common("grad", "Gradients", quick_run, run_with_times)))
