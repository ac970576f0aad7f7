#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/threads.md: its programs, as printed, give the bits of one call in one thread.

usage: tests/project/test_threads.py [full]

Without an argument in scalar loops, which compile in a second; with full in vectors, by gcc and clang.
"""

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from toolchain import INCLUDE, WARNINGS, cc, named, run, run_on_all_cores
from tree import ROOT

PIECES = re.findall(r"^```c\n(.*?)^```", (ROOT / "docs/threads.md").read_text(), re.M | re.S)
SCALAR = ["-O1", "-DMPNUM_NO_SIMD=1"]
# The second half of a dot product takes the first one back, over 40 binades, so that what is left shows in which order
# terms were added. Lengths go below one tile a part, and below one row or tensor a part.
MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 100003, COLUMNS = 1001, TENSORS = 11 };
static float a[MOST], b[MOST], results[2][MOST];
static mpnum_e4m3 codes[2][MOST];
static int failures;

static void check(int is_same, const char *what, size_t n) {
  if (!is_same) printf("%s of %zu\\n", what, n);
  failures += !is_same;
}
static int same_findings(const mpnum_grad_findings *x, const mpnum_grad_findings *y) {
  return memcmp(&x->stats, &y->stats, sizeof x->stats) == 0 && x->first_tensor == y->first_tensor &&
         x->first_element == y->first_element && x->first_bits == y->first_bits &&
         mpnum_bits_f32(mpnum_grad_norm(x)) == mpnum_bits_f32(mpnum_grad_norm(y));
}
static void check_arrays(size_t n) {
  float dot = 0;
  mpnum_f32_to_e4m3_sr_sat_array(codes[0], a, n, 7, 0);
  memset(codes[1], 0x55, sizeof codes[1]);
  quantize_KIND(codes[1], a, n, 7);
  check(memcmp(codes[0], codes[1], n) == 0, "quantize", n);
  check(dot_KIND(&dot, a, b, n) == MPNUM_OK && mpnum_bits_f32(mpnum_dot_f32(a, b, n)) == mpnum_bits_f32(dot), "dot", n);
}
static void check_rows(size_t rows) {
  memset(results, 0x55, sizeof results);
  check(mpnum_softmax_rows(mpnum_matrix_of(MPNUM_TYPE_F32, results[0], rows, COLUMNS),
                           mpnum_const_matrix_of(MPNUM_TYPE_F32, b, rows, COLUMNS), NULL, NULL) == MPNUM_OK &&
            softmax_KIND(results[1], b, rows, COLUMNS) == MPNUM_OK,
        "softmax's status", rows);
  check(memcmp(results[0], results[1], sizeof results[0]) == 0, "softmax", rows);
}
/* Infs in tensors 4 and 7, where there are so many. */
static void check_gradients(size_t count) {
  static mpnum_grad_tensor tensors[2][TENSORS];
  mpnum_grad_findings findings[2];
  size_t i, at = 0;
  for (i = 0; i < count; ++i) {
    const size_t n = 1 + i * i * 700 / 5;
    tensors[0][i] = mpnum_grad_tensor_of(MPNUM_TYPE_F32, a + at, n, MPNUM_TYPE_F32, results[0] + at);
    tensors[1][i] = mpnum_grad_tensor_of(MPNUM_TYPE_F32, a + at, n, MPNUM_TYPE_F32, results[1] + at);
    if (i == 4 || i == 7) a[at + i] = mpnum_from_bits_f32(0x7f800000u);
    at += n;
  }
  memset(results, 0x55, sizeof results);
  check(mpnum_grad_multiply(tensors[0], count, 0.125f, 0, &findings[0]) == MPNUM_OK, "status", count);
  check(unscale_KIND(tensors[1], count, 0.125f, &findings[1]) == MPNUM_OK, "unscale's status", count);
  check(memcmp(results[0], results[1], sizeof results[0]) == 0, "unscale", count);
  check(same_findings(&findings[0], &findings[1]), "findings", count);
  check(findings[0].first_tensor == (count > 4 ? 4 : UINT64_MAX), "the first Inf", count);
  if (count == 0) return;
  tensors[1][count - 1].src_type = MPNUM_TYPE_E2M1;
  check(unscale_KIND(tensors[1], count, 0.125f, &findings[1]) == MPNUM_ERROR_TYPE, "a refusal", count);
}
int main(void) {
  static const size_t lengths[] = {0, 1, 2047, 2048, 2049, 16384, 20000, MOST};
  static const size_t counts[] = {0, 1, 7, 8, 9, 11};
  size_t i;
  for (i = 0; i < MOST; ++i) {
    const uint32_t random = mpnum_random(3, i), sign = random & 0x80000000u;
    a[i] = mpnum_from_bits_f32(sign | (107 + random % 40) << 23 | (random >> 8 & 0x7fffff));
    b[i] = mpnum_from_bits_f32(mpnum_random(4, i) & 0x807fffffu | 0x40000000u);
  }
  for (i = 0; i < MOST / 2; ++i) {
    a[MOST - 1 - i] = -a[i];
    b[MOST - 1 - i] = b[i];
  }
  for (i = 0; i < sizeof lengths / sizeof *lengths; ++i)
    check_arrays(lengths[i]);
  for (i = 0; i < sizeof counts / sizeof *counts; ++i)
    check_rows(9 * counts[i]);
  for (i = 0; i < sizeof counts / sizeof *counts; ++i)
    check_gradients(counts[i]);
  printf("%d failures\\n", failures);
  return failures != 0;
}
"""


def build(folder, compiler, flags, piece, kind):
    """The program of a piece of the page; a property that needs what this compiler has not is skipped."""
    probe = "#include <threads.h>\nint main(void) { return thrd_success == thrd_error; }\n" if kind == "c11" else \
        "int main(void) { return 0; }\n"
    extra = {"c11": ["-pthread"], "openmp": ["-fopenmp"], "serial": ["-Wno-unknown-pragmas"]}[kind]
    name = "openmp" if kind == "serial" else kind
    paths = [Path(folder) / word for word in ("probe.c", "program.c", "program")]
    paths[0].write_text(probe)
    if run(*compiler, *extra, paths[0], "-o", paths[2]).returncode:
        raise tap.Skip(f"{compiler[0]} has no {'<threads.h>' if kind == 'c11' else ' '.join(extra)} here")
    paths[1].write_text(piece + MAIN.replace("KIND", name))
    # The main is ours, of C99, too.
    done = run(*compiler, "-std=c99", *WARNINGS, "-Wno-parentheses", *extra, *flags, "-I", INCLUDE, paths[1], "-o", paths[2])
    assert done.returncode == 0, done.stdout
    return paths[2]


def bits_are_those_of_one_thread(compiler, flags, kind, threads=("1", "3", "8")):
    if not shutil.which(compiler[0]):
        raise tap.Skip(f"{compiler[0]} is not installed")
    assert len(PIECES) == 2 and "omp" in PIECES[0] and "thrd_create" in PIECES[1], len(PIECES)
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder, compiler, flags, PIECES[kind == "c11"], kind)
        for count in threads if kind == "openmp" else threads[:1]:
            done = run(program, env={**os.environ, "OMP_NUM_THREADS": count, "OMP_DYNAMIC": "false"})
            assert (done.returncode, done.stdout) == (0, "0 failures\n"), f"{count} threads: {done.stdout}"


def of(kind, name, compiler, flags):
    return named(f"{kind}_gives_the_bits_of_one_thread{name}", bits_are_those_of_one_thread, compiler, flags, kind)


if __name__ == "__main__":
    if "full" in sys.argv:
        sys.exit(run_on_all_cores([*(of(kind, f"_in_vectors_by_{compiler}", [compiler], ["-O2"])
                                     for compiler in ("gcc", "clang") for kind in ("openmp", "c11")),
                                   of("serial", "_without_fopenmp", cc(), SCALAR)]))
    sys.exit(run_on_all_cores([of("openmp", "", cc(), SCALAR), of("c11", "", cc(), SCALAR)]))
