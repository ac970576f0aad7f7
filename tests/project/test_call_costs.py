#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What one call of an array function costs a user: bytes of code in the object of a file with that call alone, which
stand for the time and memory of its compilation and do not depend on the machine. docs/arrays.md says how a loop stays
this small."""

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from toolchain import INCLUDE, named
from tree import check, need

COMPILERS = {"gcc": r"\(.*?\) 12\.", "clang": r"version 14\."}  # others lay code out in their own way
# One of each kind of loop: (code, most KiB at -O2, at -O0), which is what it is and up to a tenth.
CALLS = {
    "mpnum_f32_to_f16_array": ("void f(mpnum_f16 *y, const float *x, size_t n) { mpnum_f32_to_f16_array(y, x, n); }", 5.5, 43),
    "mpnum_f32_to_bf16_sat_array":
        ("void f(mpnum_bf16 *y, const float *x, size_t n) { mpnum_f32_to_bf16_sat_array(y, x, n); }", 6.5, 43),
    "mpnum_f32_to_e4m3_sat_array":
        ("void f(mpnum_e4m3 *y, const float *x, size_t n) { mpnum_f32_to_e4m3_sat_array(y, x, n); }", 8.5, 57),
    "mpnum_e4m3_to_f32_array": ("void f(float *y, const mpnum_e4m3 *x, size_t n) { mpnum_e4m3_to_f32_array(y, x, n); }", 12.5, 61),
    "mpnum_f16_to_e4m3_sat_array":
        ("void f(mpnum_e4m3 *y, const mpnum_f16 *x, size_t n) { mpnum_f16_to_e4m3_sat_array(y, x, n); }", 15, 64),
    "mpnum_f64_to_f32_array": ("void f(float *y, const double *x, size_t n) { mpnum_f64_to_f32_array(y, x, n); }", 4.5, 38),
    "mpnum_f32_to_e4m3_sr_sat_array":
        ("void f(mpnum_e4m3 *y, const float *x, size_t n) { mpnum_f32_to_e4m3_sr_sat_array(y, x, n, 1, 2); }", 23, 92),
    "mpnum_convert_array":
        ("int f(mpnum_type to, void *y, mpnum_type from, const void *x, size_t n, mpnum_rounding rounding) "
         "{ return mpnum_convert_array(to, y, from, x, n, rounding, MPNUM_OVERFLOW_SATURATE, 1, 2) == MPNUM_OK; }", 84, 201),
    "mpnum_exp_f32_array": ("void f(float *y, const float *x, size_t n) { mpnum_exp_f32_array(y, x, n); }", 10, 53),
    "mpnum_gelu_bf16_array": ("void f(mpnum_bf16 *y, const mpnum_bf16 *x, size_t n) { mpnum_gelu_bf16_array(y, x, n); }", 23, 128),
    "mpnum_amax_bf16": ("float f(const mpnum_bf16 *x, size_t n) { return mpnum_amax_bf16(x, n); }", 3.5, 35),
    "mpnum_norm_f16": ("float f(const mpnum_f16 *x, size_t n) { return mpnum_norm_f16(x, n); }", 15.5, 56),
    "mpnum_softmax_rows":
        ("int f(mpnum_matrix y, mpnum_const_matrix x) { return mpnum_softmax_rows(y, x, 0, 0) == MPNUM_OK; }", 92, 227),
    "mpnum_hadamard_rows":
        ("int f(mpnum_matrix y, mpnum_const_matrix x) { return mpnum_hadamard_rows(y, x, 16, 5) == MPNUM_OK; }", 38, 74),
    "mpnum_grad_multiply":
        ("int f(const mpnum_grad_tensor *x, size_t n) { return mpnum_grad_multiply(x, n, 2, 0, 0) == MPNUM_OK; }", 66, 207),
    "mpnum_quantize_array":
        ("int f(void *y, const float *x, size_t n) { return mpnum_quantize_array(MPNUM_TYPE_E4M3, y, MPNUM_TYPE_F32, x, n, 2, 0) "
         "== MPNUM_OK; }", 15, 118),
    "mpnum_quantize_mx_e4m3":
        ("int f(mpnum_e4m3 *y, mpnum_e8m0 *s, const float *x) { return mpnum_quantize_mx_e4m3(y, s, 99, x, 1, 3168) == MPNUM_OK; }",
         75, 200),
    "mpnum_quantize_blocks":
        ("int f(const mpnum_blockscale_format *f, mpnum_blockscaled y, mpnum_const_matrix x) "
         "{ return mpnum_quantize_blocks(f, y, x, 0, 0) == MPNUM_OK; }", 103, 265),
    "mpnum_dequantize_blocks":
        ("int f(const mpnum_blockscale_format *f, mpnum_matrix y, mpnum_blockscaled x) "
         "{ return mpnum_dequantize_blocks(f, y, x) == MPNUM_OK; }", 62, 150),
    "no function": ("typedef int none;", 0, 20),
}
LEVELS = ["-O2", "-O0"]
QUICK = ["mpnum_f32_to_f16_array", "mpnum_f32_to_e4m3_sat_array", "mpnum_convert_array", "mpnum_gelu_bf16_array",
         "mpnum_grad_multiply", "mpnum_quantize_blocks", "no function"]


def text_bytes(compiler, level, code):
    with tempfile.TemporaryDirectory() as folder:
        source, compiled = Path(folder, "call.c"), Path(folder, "call.o")
        source.write_text(f"#include <mpnum/mpnum.h>\n{code}\n")
        check(compiler, level, "-I", INCLUDE, "-c", source, "-o", compiled)
        return int(check("size", compiled).splitlines()[1].split()[0])


def a_call_is_small(compiler, level):
    need(compiler)
    need("size")
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    if not re.search(COMPILERS[compiler], version):
        raise tap.Skip(f"the limits are those of another version: {version}")
    calls = {name: CALLS[name] for name in CALLS if sys.argv[1:] or name in QUICK}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        sizes = dict(zip(calls, pool.map(lambda call: text_bytes(compiler, level, call[0]), calls.values())))
    print("#", compiler, level, sizes)
    large = [f"{call}: {size}" for call, size in sizes.items() if size > 1024 * CALLS[call][1 + LEVELS.index(level)]]
    assert not large, f"more bytes than allowed: {', '.join(large)}"


# Some calls with gcc -O2 without an argument; with full all calls and both compilers, with exhaustive without optimisation,
# too.
BUILDS = [(compiler, level) for level in LEVELS for compiler in COMPILERS]
BUILDS = {"": BUILDS[:1], "full": BUILDS[:2], "exhaustive": BUILDS}["".join(sys.argv[1:])]
sys.exit(tap.run(*[named(f"a call is small, {compiler} {level}", a_call_is_small, compiler, level)
                   for compiler, level in BUILDS]))
