#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A function of one value is five files, as CONTRIBUTING.md says: a copy of the sources gets cbrt, which nobody has, by
following the recipe; the functions that follow are right by MPFR, and all lists of functions have it."""

import re
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import scratch
import tap
import toolchain
from tree import ROOT, check

BODY = """\
/* Newton's steps, y + (x / y^2 - y) / 3, from a third of the bits. */
MPNUM_VECTOR_ mpnumv_f32 mpnumv_cbrt(mpnumv_f32 x) {
  const mpnumv_vector magnitude = mpnumv_magnitude_of(x);
  const mpnumv_f32 third = mpnumv_constant(0x3eaaaaabu);
  const mpnumv_vector raised = mpnumv_bits_of( /* subnormals times 2^24 */
      mpnumv_mul(mpnumv_f32_of(magnitude), mpnumv_constant(0x4b800000u)));
  const mpnumv_f32 t =
      mpnumv_f32_of(MPNUM_IF_GREATER_(magnitude, 0x007fffffu, magnitude, raised));
  mpnumv_f32 y = mpnumv_f32_of(mpnumv_bits_of(t) / 3u + 0x2a5119f2u);
  y = mpnumv_fma(mpnumv_sub(mpnumv_div(t, mpnumv_mul(y, y)), y), third, y);
  y = mpnumv_fma(mpnumv_sub(mpnumv_div(t, mpnumv_mul(y, y)), y), third, y);
  y = mpnumv_fma(mpnumv_sub(mpnumv_div(t, mpnumv_mul(y, y)), y), third, y);
  y = mpnumv_f32_of(MPNUM_IF_GREATER_(
      magnitude, 0x007fffffu, mpnumv_bits_of(y),
      mpnumv_bits_of(mpnumv_mul(y, mpnumv_constant(0x3b800000u))))); /* 2^-8 */
  return mpnumv_within(
      x, 0x7f7fffffu, 0xff800000u, 0x7f800000u,
      mpnumv_f32_of(MPNUM_IF_GREATER_(
          magnitude, 0, mpnumv_bits_of(y) | (mpnumv_bits_of(x) & 0x80000000u),
          mpnumv_bits_of(x))));
}
"""
WIDE = """\
/* By e^(log x / 3), and one of Newton's steps. */
MPNUM_MATH_ mpnum_wide_ mpnum_wide_cbrt_(mpnum_wide_ x) {
  const mpnum_wide_ magnitude = mpnum_wide_make_(x.significand, x.exponent, 0);
  const mpnum_wide_ third = mpnum_wide_div_(mpnum_wide_int_(1), mpnum_wide_int_(3));
  mpnum_wide_ y = mpnum_wide_exp_(mpnum_wide_mul_(mpnum_wide_log_(magnitude), third));
  y = mpnum_wide_mul_(
      mpnum_wide_add_(mpnum_wide_scaled_(y, 1),
                      mpnum_wide_div_(magnitude, mpnum_wide_mul_(y, y))),
      third);
  return mpnum_wide_make_(y.significand, y.exponent, x.negative);
}
"""
ROW_OF_TESTS = """\
 ROW(cbrt, mpfr_cbrt(y, x, MPFR_RNDN), cbrt(x), cbrtf(x), \\
     ANY, -0.0, 0, -INF, INF, 2.0, 0) \\
"""
# [(file, a line that stands there once, what goes before it)]
PLACES = [
    ("include/mpnum/func/detail/function_table.h", "  /* Activations: 1 / (1 + e^-x)",
     "  /* The cube root. */ \\\n  ROW(cbrt, CBRT, PLAIN, F32, 9, 9, 0, 0, 0x7fff) \\\n"),
    ("include/mpnum/func/detail/func.inc", "#ifndef MPNUM_FUNC_HEAD_\n", BODY),
    ("include/mpnum/simd/detail/wide.h", "/* x > -1 */\n", WIDE),
    ("tests/func/function_rows.h", " ROW(sigmoid, ", ROW_OF_TESTS),
    ("docs/functions.md", "| `log1p`, `sqrt`, `erf` |", "| `cbrt` | | |\n"),
    ("docs/functions.md", "| `tanh`, `erf` | -0, 0 |", "| `cbrt` | -0, 0 | -Inf | Inf | |\n"),
]
COMMANDS = [["tools/wrappers", "--update"], ["tools/api", "--update"], ["tools/reference", "--update"],
            ["tools/function-errors", "--step", "65521", "cbrt"]]

# Arrays of every instruction set have the elements of the scalar function, which functions_small compares with MPFR.
ARRAYS = r"""#include <mpnum/mpnum.h>
#include <stdio.h>
#include <string.h>
static float x[65536], y[65536];
static mpnum_f16 half[65536];
static mpnum_bf16 brain[65536];
int main(void) {
  uint32_t i, k, wrong = 0, count = 0;
  for (k = 0; mpnum_isa_name((mpnum_isa)k); ++k) {
    if (mpnum_isa_force((mpnum_isa)k) != MPNUM_OK) continue;
    ++count;
    for (i = 0; i < 65536; ++i) {
      x[i] = mpnum_from_bits_f32(i * 65537 + 12345);
      half[i] = mpnum_from_bits_f16(i);
      brain[i] = mpnum_from_bits_bf16(i);
    }
    mpnum_cbrt_f32_array(y, x, 65536);
    mpnum_cbrt_f16_array(half, half, 65536);
    mpnum_cbrt_bf16_array(brain, brain, 65536);
    for (i = 0; i < 65536; ++i)
      wrong += mpnum_bits_f32(y[i]) != mpnum_bits_f32(mpnum_cbrt_f32(x[i])) ||
               half[i].bits != mpnum_cbrt_f16(mpnum_from_bits_f16(i)).bits ||
               brain[i].bits != mpnum_cbrt_bf16(mpnum_from_bits_bf16(i)).bits;
  }
  printf("%u wrong of %u\n", (unsigned)wrong, (unsigned)count);
  return wrong != 0 || count == 0;
}
"""
# What enumerates functions, and a name that it then has.
LISTS = {"tests/bits/bits.c": "mpnum_cbrt_bf16", "tests/func/function_arrays.c": "mpnum_cbrt_f16_array",
         "tests/func/test_functions_bytes.c": "mpnum_cbrt_f32", "bench/sections/math/functions.c": "mpnum_cbrt_f32_array"}


def compiler(root):
    return [*toolchain.cc(), "-std=gnu11", *toolchain.WARNINGS, "-Wno-unused-function", "-I", root / "include", "-I", root]


def run_test(root, name, *flags):
    """A test of functions, with the reference by MPFR."""
    sources = [root / part for part in (f"tests/func/test_{name}.c", "tests/func/function_reference.c",
                                        "tests/reference/reference.c")]
    check(*compiler(root), "-O1", *flags, *sources, "-lmpfr", "-lm", "-o", root / name)
    said = check(root / name)
    assert "\nnot ok" not in said and "ok 1 " in said, said[-2000:]


def documented(root):
    """{function: how many tables of docs/functions.md name it in their first column}"""
    names = re.findall(r"^  ROW\((\w+),", (root / "include/mpnum/func/detail/function_table.h").read_text(), re.M)
    rows = re.findall(r"^\| ([^|]*) \|", (root / "docs/functions.md").read_text(), re.M)
    return {name: sum(f"`{name}" in row for row in rows) for name in names}


def every_function_is_in_the_tables_of_docs():
    """That of names, where derivatives are a column, and that of special arguments."""
    for name, count in documented(ROOT).items():
        assert count >= (1 if name.endswith("_derivative") or name in ("swiglu", "geglu") else 2), (name, count)


def five_files_make_a_function():
    with tempfile.TemporaryDirectory() as folder:
        root = scratch.copy(folder)
        scratch.follow_recipe(root, "A function of one value", PLACES, 5)
        for command in COMMANDS[:3]:
            check(sys.executable, *command, cwd=root)
        for name in ("f32", "f16", "bf16"):
            assert f"mpnum_cbrt_{name}_array" in (root / "docs/api.txt").read_text()
            assert f"mpnum_cbrt_{name}_array" in (root / "docs/reference/func_array.md").read_text()
        assert documented(root)["cbrt"] == 2
        source = root / "arrays.c"
        source.write_text(ARRAYS)
        check(*compiler(root), "-O1", source, "-o", root / "arrays")
        check(root / "arrays")
        (root / "peers").mkdir()
        (root / "peers/array_peers.h").touch()  # of a build folder
        for path, name in LISTS.items():
            done = toolchain.run(*compiler(root), "-Wno-undef", "-E", root / path)
            if "mpfr.h" in done.stdout[-500:]:
                raise tap.Skip("no MPFR")
            assert done.returncode == 0, done.stdout[-1000:]
            assert name in done.stdout, f"{path} has no {name}"
        run_test(root, "functions_special")
        run_test(root, "functions_small", "-DTEST_EVERY=499")
        check(sys.executable, *COMMANDS[3], cwd=root)
        rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", (root / "docs/errors.md").read_text(), re.M)
        assert [name for name, _ in rows].index("cbrt") == [name for name, _ in rows].index("sigmoid") - 1, rows
        assert 0.5 < float(dict(rows[:len(rows) // 2])["cbrt"]) <= 2.0, rows


sys.exit(tap.run(every_function_is_in_the_tables_of_docs, five_files_make_a_function))
