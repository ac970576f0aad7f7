#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/adding-a-format.md is true: in a copy of the sources its changes are made and its commands are run, and the
format that is new then converts numbers. What they become is worked out here with fractions."""

import re
import shutil
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
import toolchain
from tree import ROOT, check

TEXT = (ROOT / "docs/adding-a-format.md").read_text()
# Decimal numbers: of the middle of the range, ties, subnormals, past the largest, of both signs.
NUMBERS = ["0", "1", "-1", "0.1", "3.14159265", "-2.71828", "1.015625", "1.046875", "2.03125", "5.0625", "-5.1875",
           "0.015625", "0.0156251", "0.01", "-0.046875", "0.97", "0.984375", "0.999", "7.75", "7.81", "-7.84", "7.875",
           "8", "1000", "-1e30", "1e-30"]

PROGRAM = """\
#include <mpnum/mpnum.h>
#include <stdio.h>
int main(void) {
  const float numbers[] = {%s};
  mpnum_e2m5 codes[%d];
  float back[%d];
  unsigned code;
  size_t i, n = sizeof numbers / sizeof *numbers;
  mpnum_f32_to_e2m5_sat_array(codes, numbers, n);
  mpnum_e2m5_to_f32_array(back, codes, n);
  for (i = 0; i < n; ++i)
    printf("%%02x %%02x %%02x\\n", mpnum_f32_to_e2m5(numbers[i]).bits, mpnum_f32_to_e2m5_sat(numbers[i]).bits,
           back[i] == mpnum_e2m5_to_f32(codes[i]) ? codes[i].bits : 0x100u);
  for (code = 0; code < 256; ++code)
    printf("%%.9g\\n", (double)mpnum_e2m5_to_f32(mpnum_from_bits_e2m5(code)));
  printf("%%s %%d\\n", mpnum_type_name(MPNUM_TYPE_E2M5), mpnum_format_mant_dig(mpnum_format_of(MPNUM_TYPE_E2M5)));
  return 0;
}
"""


def changes():
    """[(the file named last before a diff, the diff)]"""
    name = None
    for named, diff in re.findall(r"`([\w/.-]+)`|^```diff\n(.*?)^```", TEXT, re.M | re.S):
        if diff:
            yield name, diff
        elif "/" in named:
            name = named


def apply(text, diff):
    for hunk in diff.split("...\n"):
        lines = hunk.splitlines()
        before = "".join(line[1:] + "\n" for line in lines if line[0] != "+")
        after = "".join(line[1:] + "\n" for line in lines if line[0] != "-")
        assert text.count(before) == 1, f"not once in the file:\n{before}"
        text = text.replace(before, after)
    return text


def added(folder):
    """The copy of the sources in which the document was followed."""
    root = Path(folder)
    for name in ("include", "tools", "tests", "docs"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name, diff in changes():
        path = root / name
        path.write_text(apply(path.read_text(), diff))
    for command in "".join(re.findall(r"^```sh\n(.*?)^```", TEXT, re.M | re.S)).splitlines():
        check(sys.executable, *command.split(), cwd=root)
    return root


def value(code):
    """Of a magnitude: 2 bits of exponent, 5 of mantissa, bias 1."""
    exponent, mantissa = divmod(code, 32)
    return Fraction(mantissa, 32) if exponent == 0 else Fraction(32 + mantissa, 32) * 2 ** (exponent - 1)


def nearest(number, saturates):
    x, sign = Fraction(number), 0x80 if number.startswith("-") else 0
    codes = sorted(range(0x80), key=lambda code: (abs(value(code) - abs(x)), code % 2))
    # 7f would be 8, the next value: what rounds there has overflowed and is the NaN.
    return sign | (codes[0] if codes[0] < 0x7f else 0x7e if saturates else 0x7f)


def compiler(root):
    return [*toolchain.cc(), "-std=c99", *toolchain.WARNINGS, "-I", root / "include", "-I", root / "tests"]


def compile_and_run(root, output, *sources):
    check(*compiler(root), "-O1", *sources, "-lm", "-o", root / output)
    return subprocess.run([root / output], capture_output=True, text=True)


def in_tests(root, name):
    return next((root / "tests").rglob(name))


def the_document_adds_a_format():
    with tempfile.TemporaryDirectory() as folder:
        root = added(folder)
        source = root / "program.c"
        count = len(NUMBERS)
        literals = ", ".join(number + ("" if re.search(r"[.e]", number) else ".0") + "f" for number in NUMBERS)
        source.write_text(PROGRAM % (literals, count, count))
        said = compile_and_run(root, "program", source).stdout.splitlines()
        for number, line in zip(NUMBERS, said):
            plain, saturated = nearest(number, False), nearest(number, True)
            want = f"{plain:02x} {saturated:02x} {saturated:02x}"
            assert line == want, f"{number}: {line}, not {want}"
        for code, line in enumerate(said[count:count + 256]):
            want = value(code & 0x7f) * (-1 if code & 0x80 else 1)
            assert line == "nan" if code & 0x7f == 0x7f else Fraction(line) == want, f"{code:02x} is {line}, not {want}"
        assert said[count + 256:] == ["e2m5 6"], said[count + 256:]
        assert "e2m5" in (root / "docs/api.txt").read_text()
        # The tests of the project know it; one of them is run.
        done = compile_and_run(root, "decoding", *[in_tests(root, name) for name in (
            "test_decoding.c", "reference.c", "conversion_inputs.c")])
        assert done.returncode == 0 and "e2m5" in done.stdout, done.stdout[-2000:]
        check(*compiler(root), "-fsyntax-only", in_tests(root, "bits.c"), in_tests(root, "test_queries.c"))


sys.exit(tap.run(the_document_adds_a_format))
