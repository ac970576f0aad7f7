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

# Rows of all kinds beside: without a sign, FN, FNUZ and IEEE, of other biases, of 5 to 16 bits, on which loops of arrays
# once made assumptions. (tests/laws/test_laws_arrays.c draws all that a row can say.)
ROWS = """\
ROW(e5m3, E5M3, 0, 5, 3, 15, FN, 0xff)
ROW(e4m3u, E4M3U, 0, 4, 3, 7, FN, 0x7f)
ROW(e5m2fn, E5M2FN, 1, 5, 2, 15, FN, 0x7f)
ROW(e6m1, E6M1, 1, 6, 1, 31, IEEE, 0x7f)
ROW(e5m2b, E5M2B, 1, 5, 2, 17, IEEE, 0x7f)
ROW(e5m1, E5M1, 1, 5, 1, 15, IEEE, 0x3f)
ROW(e3m3, E3M3, 1, 3, 3, 3, IEEE, 0x3f)
ROW(e3m1, E3M1, 1, 3, 1, 3, FN, 0xf)
ROW(e4m1fnuz, E4M1FNUZ, 1, 4, 1, 8, FNUZ, 0x20)
ROW(e7m0, E7M0, 1, 7, 0, 63, FN, 0x7f)
ROW(e6m9, E6M9, 1, 6, 9, 31, IEEE, 0x7fff)
"""
NUMBERS_OF_ROWS = ["0.0", "1.0", "-1.5", "0.1", "448.0", "57344.0", "65536.0", "98304.0", "-122880.0", "1e30", "-1e-30",
                   "3.0e9", "0.0625", "-0.03125", "2.5", "3.5", "0.001", "1e-9"]

ROWS_PROGRAM = r"""#include <mpnum/mpnum.h>
#include <stdio.h>
#include <string.h>
static const float numbers[] = {%s};
enum { N = sizeof numbers / sizeof *numbers, MOST = 1 << 16 };
static uint16_t words[MOST];
static uint8_t bytes[MOST];
static float got[MOST];
static void decode_all(const char *name, mpnum_format format, int bits) {
  const mpnum_isa isa = mpnum_isa_in_use();
  int code;
  for (code = 0; code < 1 << bits; ++code) {
    const uint32_t want = mpnum_bits_f32(mpnum_decode(format, (uint32_t)code));
    if (mpnum_bits_f32(got[code]) != want)
      printf("%%s %%s: code %%x is %%x, not %%x\n", mpnum_isa_name(isa), name, (unsigned)code,
             (unsigned)mpnum_bits_f32(got[code]), (unsigned)want);
  }
}
#define TRY(name, NAME, width, sat)                                                                           \
  {                                                                                                           \
    const mpnum_format format = mpnum_format_of(MPNUM_TYPE_##NAME);                                           \
    const void *codes = width == 8 ? (const void *)bytes : (const void *)words;                               \
    mpnum_##name made[N * 5];                                                                                 \
    float x[N * 5];                                                                                           \
    mpnum_##name##_to_f32_array(got, (const mpnum_##name *)codes, (size_t)1 << width);                        \
    decode_all(#name, format, width);                                                                         \
    memset(got, 0, sizeof got);                                                                               \
    if (mpnum_convert_array(MPNUM_TYPE_F32, got, MPNUM_TYPE_##NAME, codes, (size_t)1 << width,                \
                            MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0) != MPNUM_OK)                 \
      printf(#name " is no type\n");                                                                          \
    decode_all("convert_array of " #name, format, width);                                                     \
    for (i = 0; i < N * 5; ++i)                                                                               \
      x[i] = numbers[i %% N];                                                                                 \
    mpnum_f32_to_##name##sat##_array(made, x, N * 5);                                                         \
    for (i = 0; i < N * 5; ++i)                                                                               \
      if (made[i].bits != mpnum_f32_to_##name##sat(x[i]).bits)                                                \
        printf("%%s " #name ": of %%g %%x\n", mpnum_isa_name((mpnum_isa)k), (double)x[i], (unsigned)made[i].bits); \
  }
int main(void) {
  size_t i;
  int k;
  for (i = 0; i < MOST; ++i)
    words[i] = (uint16_t)i, bytes[i] = (uint8_t)i;
  for (k = 0; mpnum_isa_name((mpnum_isa)k); ++k) {
    if (mpnum_isa_force((mpnum_isa)k) != MPNUM_OK) continue;
%s  }
%s  return 0;
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

def add_rows(root):
    table, family = root / "include/mpnum/core/format.h", root / "include/mpnum/types/fp8.h"
    text, includes = table.read_text(), ""
    for number, row in enumerate(ROWS.splitlines(), 18):
        name, NAME, *numbers = re.findall(r"\w+", row)[1:]
        last = re.findall(r"MPNUM_TYPE_\w+ = \d+(?=\n)", text)[-1]
        text = text.replace(f"{last}\n", f"{last},\n  MPNUM_TYPE_{NAME} = {number}\n")
        last = re.findall(r"\n ROW\((?!ue).*\)(?=\n)", text)[-1]  # below are types of scales
        text = text.replace(f"{last}\n", f"{last} \\\n {row}\n")
        bits = 16 if sum(map(int, numbers[:3])) > 8 else 8
        text = text.replace("typedef struct mpnum_e2m5 {", f"typedef struct mpnum_{name} {{\n  uint{bits}_t bits;\n}} "
                            f"mpnum_{name};\ntypedef struct mpnum_e2m5 {{")
        includes += f'#include "{name}.h"\n'
    table.write_text(text)
    family.write_text(family.read_text().replace('#include "e2m5.h"\n', '#include "e2m5.h"\n' + includes))

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

def value_of(row, code):
    """The value of a code of a row as a fraction, "inf" or "nan"."""
    sign_bits, exponent_bits, mantissa_bits, bias = map(int, row[2:6])
    specials, width = row[6], sum(map(int, row[2:5]))
    code %= 2 ** width
    magnitude = code % 2 ** (exponent_bits + mantissa_bits)
    exponent, mantissa = divmod(magnitude, 2 ** mantissa_bits)
    ones = 2 ** (exponent_bits + mantissa_bits) - 1
    if specials == "FNUZ" and code == ones + 1 or specials == "FN" and magnitude == ones:
        return "nan"
    if specials == "IEEE" and exponent == 2 ** exponent_bits - 1:
        return "nan" if mantissa else "-inf" if code > ones else "inf"
    whole = mantissa + (2 ** mantissa_bits if exponent else 0)
    return Fraction(whole) * Fraction(2) ** (max(exponent, 1) - bias - mantissa_bits) * (-1 if code > ones else 1)

def rows_of_all_kinds_convert(root):
    """With every instruction set, by their own functions and by convert_array, as the scalar functions; and these give
    the values that follow from the row."""
    add_rows(root)
    check(sys.executable, "tools/wrappers", "--update", cwd=root)
    rows = [re.findall(r"\w+", row)[1:] for row in ROWS.splitlines()]
    bits = {row[0]: 16 if sum(map(int, row[2:5])) > 8 else 8 for row in rows}
    tries = "".join(f"    TRY({name}, {NAME}, {bits[name]}, )\n    TRY({name}, {NAME}, {bits[name]}, _sat)\n"
                    for name, NAME, *_ in rows)
    prints = "".join(f'  for (i = 0; i < {2 ** bits[name]}; ++i) printf("%.9g\\n", (double)mpnum_{name}_to_f32('
                     f"mpnum_from_bits_{name}((uint32_t)i)));\n" for name, *_ in rows)
    source = root / "rows.c"
    source.write_text(ROWS_PROGRAM % (", ".join(number + "f" for number in NUMBERS_OF_ROWS), tries, prints))
    said = compile_and_run(root, "rows", source).stdout.splitlines()
    count = sum(2 ** bits[row[0]] for row in rows)
    assert len(said) == count, "\n".join(["", *said[:20]])
    for row in rows:
        lines, said = said[:2 ** bits[row[0]]], said[2 ** bits[row[0]]:]
        for code, line in enumerate(lines):
            want = value_of(row, code)
            # %.9g of a float: the nearest decimal of 9 digits
            same = line == want if isinstance(want, str) else line == "%.9g" % want or (want == 0 and float(line) == 0)
            assert same, f"{row[0]} {code:x} is {line}, not {want}"

def in_tests(root, name):
    return next((root / "tests").rglob(name))


def two_files_and_a_row_of_tests_are_a_format():
    assert [name for name in dict.fromkeys(name for name, _ in changes())] == [
        "include/mpnum/core/format.h", "include/mpnum/types/fp8.h", "tests/reference/format_rows.h"]


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
        check(*compiler(root), "-fsyntax-only", *(in_tests(root, name) for name in ("bits.c", "test_rng.c", "sweep.c")))
        done = compile_and_run(root, "queries", in_tests(root, "test_queries.c"))
        assert done.returncode == 0 and "e2m5" in done.stdout, done.stdout[-2000:]
        rows_of_all_kinds_convert(root)


sys.exit(tap.run(two_files_and_a_row_of_tests_are_a_format, the_document_adds_a_format))
