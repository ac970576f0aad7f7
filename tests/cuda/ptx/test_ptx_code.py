#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What nvcc makes of each conversion: the conversion instruction of the target where it has one and integer arithmetic
where it has none, no spills, and for those from and to f32 as many instructions and registers as
tests/cuda/ptx/counts.txt says.

usage: tests/cuda/ptx/test_ptx_code.py [--update]

--update writes counts.txt.
"""

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[2] / room) for room in ["harness", "cuda"]]

import toolchain
from ptx import calls, counts
from ptx.parser import parse
from toolchain import named
from tree import ROOT, check

ARCHS = ["75", "80", "89", "90", "120a"]
COUNTS = ROOT / "tests/cuda/ptx/counts.txt"
HEADER = """\
# SPDX-License-Identifier: MIT
# Instructions of PTX / registers of ptxas for a kernel that calls a function once and for its load and store.
# tests/cuda/ptx/test_ptx_code.py compares, and writes this with --update.
"""

# The MPNUM_HAS_HW_..._ macro behind a conversion: the least architecture, and whether only a and f targets have it.
CAPABILITIES = {"F16": (53, False), "F16X2": (80, False), "BF16": (80, False), "SAT_X2": (80, False), "BF16_F64": (90, False),
                "TF32_RNA": (80, False), "TF32": (90, False), "FP8": (89, False), "FP6": (100, True),
                "FP4": (100, True), "E8M0": (100, True)}
IN_KERNELS = {"SCALED", "NARROW", "F32X2"}  # test_ptx_every_code.py; the first two from CUDA 13.2 on

# Functions, the capability, the instructions without "cvt."; of the rows for a function the first counts whose
# capability the target has. Where no row counts, a conversion has no floating-point instruction.
HARDWARE = [
    *[(rf"f32_to_{name}{suffix}_sat{more}", "SAT_X2", f"{rounding}.satfinite.{name}x2.f32") for name in ("f16", "bf16")
      for rounding, suffix, more in (("rn", "", "(_x2)?"), ("rz", "_rz", ""))],
    *[(rf"f32_to_{name}{suffix}{more}", capability, f"{rounding}.{name}x2.f32")
      for name, capability in (("f16", "F16X2"), ("bf16", "BF16"))
      for rounding, suffix, more in (("rn", "", "(_x2)?"), ("rz", "_rz", ""))],
    (r"f32_to_f16_round(_constants)?", "SAT_X2", "rn.f16x2.f32 rz.f16x2.f32 rn.satfinite.f16x2.f32 "
     "rz.satfinite.f16x2.f32 rp.f16.f32 rm.f16.f32"),
    (r"f32_to_bf16_round(_constants)?", "SAT_X2", "rn.bf16x2.f32 rz.bf16x2.f32 rn.satfinite.bf16x2.f32 "
     "rz.satfinite.bf16x2.f32"),
    (r"f32_to_f16(_sat)?(_x2)?", "F16", "rn.f16.f32"),
    (r"f32_to_f16_rz(_sat)?", "F16", "rz.f16.f32"),
    (r"f32_to_f16_round(_constants)?", "F16", "rn.f16.f32 rz.f16.f32 rp.f16.f32 rm.f16.f32"),
    (r"f16_to_f32(_x2)?", "F16", "f32.f16"),
    (r"f64_to_bf16(_sat|_round|_round_constants)?", "BF16_F64", "rn.bf16.f64"),
    (r"f32_to_tf32(_sat)?", "TF32", "rn.tf32.f32"),
    (r"f32_to_tf32_rz(_sat)?", "TF32", "rz.tf32.f32"),
    (r"f32_to_tf32_rna(_sat)?", "TF32_RNA", "rna.tf32.f32"),
    (r"f32_to_tf32_round(_constants)?", "TF32", "rn.tf32.f32 rz.tf32.f32 rna.tf32.f32"),
    (r"f32_to_tf32_round(_constants)?", "TF32_RNA", "rna.tf32.f32"),
    (r"f32_to_(e4m3|e5m2)(_sat)?(_x[24])?", "FP8", r"rn.satfinite.\1x2.f32"),
    (r"f32_to_(e4m3|e5m2)_round(_constants)?", "FP8", r"rn.satfinite.\1x2.f32"),
    (r"f16_to_(e4m3|e5m2)(_sat)?_x2", "FP8", r"rn.satfinite.\1x2.f16x2"),
    (r"f16_to_(e4m3|e5m2)(_sat)?_x2", "F16", r"f32.f16"),
    (r"(e4m3|e5m2)_to_f16_x2", "FP8", r"rn.f16x2.\1x2"),
    (r"(e4m3|e5m2)_to_f16_x2", "F16X2", r"rn.f16x2.f32"),
    (r"(e4m3|e5m2)_to_f16_x2", "F16", r"rn.f16.f32"),
    (r"(e4m3|e5m2)_to_f32(_x[24])?", "FP8", r"rn.f16x2.\1x2 f32.f16"),
    (r"f32_to_(e3m2|e2m3)(_sat|_round|_round_constants)(_x[24])?", "FP6", r"rn.satfinite.\1x2.f32"),
    (r"(e3m2|e2m3)_to_f32(_x[24])?", "FP6", r"rn.f16x2.\1x2 f32.f16"),
    (r"f32_to_e2m1(_sat|_round|_round_constants)(_x[24])?", "FP4", "rn.satfinite.e2m1x2.f32"),
    (r"e2m1_to_f32(_x[24])?", "FP4", "rn.f16x2.e2m1x2 f32.f16"),
    (r"f32_to_e8m0_ru", "E8M0", "rp.ue8m0x2.f32"),
    (r"f32_to_e8m0_ru_sat(_x2)?", "E8M0", "rp.satfinite.ue8m0x2.f32"),
    (r"f32_to_e8m0_rz", "E8M0", "rz.ue8m0x2.f32"),
    (r"f32_to_e8m0_rz_sat(_x2)?", "E8M0", "rz.satfinite.ue8m0x2.f32"),
    (r"f32_to_e8m0_round(_constants)?", "E8M0",
     "rp.ue8m0x2.f32 rp.satfinite.ue8m0x2.f32 rz.ue8m0x2.f32 rz.satfinite.ue8m0x2.f32"),
]
# Whose counts are kept; other forms are made of the same functions.
COUNTED = re.compile(r"mpnum_(f32_to_[a-z0-9]+(_sat|_sr|_round)?|[a-z0-9]+_to_f32)(_x2)?")
FLOATING = re.compile(r"(tf32|bf16|f16|f32|f64|e\dm\d)(x2)?$")
MOVES = ("ld", "st", "mov", "selp")


def has(arch, capability):
    least, is_specific = CAPABILITIES[capability]
    return int(arch.rstrip("af")) >= least and (arch[-1] in "af" or not is_specific)


def expected_instructions(name, arch):
    for pattern, capability, instructions in HARDWARE:
        match = re.fullmatch(f"mpnum_{pattern}", name)
        if match and has(arch, capability):
            return {f"cvt.{match.expand(word)}" for word in instructions.split()}
    return set()


def floating_instructions(function):
    """What touches floating-point values, moves aside: cvt, arithmetic, comparisons."""
    return {".".join([one.opcode, *one.modifiers]) for one in function.instructions
            if one.opcode not in MOVES and any(FLOATING.search(word) for word in one.modifiers)}


class Code:
    """PTX and the report of ptxas for one architecture."""

    def __init__(self, arch, source, folder):
        self.arch = arch
        module = parse(calls.compile_ptx(source, folder, arch))
        self.functions = {name.removeprefix("call_"): module.function(name) for name in module.functions}
        ptx = folder / f"sm_{arch}.ptx"
        said = check(calls.nvcc(), "-cubin", f"-arch=sm_{arch}", "-Xptxas", "-v", ptx, "-o", folder / f"{arch}.cubin")
        parts = re.findall(r"Compiling entry function 'call_(\w+)'.*?(\d+) bytes stack frame, "
                           r"(\d+) bytes spill stores, (\d+) bytes spill loads.*?Used (\d+) registers", said, re.S)
        self.registers = {name: int(registers) for name, *_, registers in parts}
        self.spills = {name: tuple(map(int, spills)) for name, *spills, _ in parts}

    def count(self, name):
        return f"{len(self.functions[name].instructions)}/{self.registers[name]}"


def every_capability_has_a_row(api):
    config = (ROOT / "include/mpnum/core/detail/config.h").read_text()
    named_in_config = set(re.findall(r"^# *define MPNUM_HAS_HW_(\w+)_ ", config, re.M))
    used = {capability for _, capability, _ in HARDWARE}
    assert named_in_config - IN_KERNELS == set(CAPABILITIES) == used, named_in_config ^ set(CAPABILITIES) | used ^ set(CAPABILITIES)


def has_the_conversion_instructions(code):
    wrong = []
    for name, function in code.functions.items():
        found, expected = floating_instructions(function), expected_instructions(name, code.arch)
        if found != expected:
            wrong.append(f"{name}: {sorted(found)}, not {sorted(expected)}")
    assert not wrong, "\n".join(wrong)


def keeps_to_registers(code):
    assert set(code.spills) == set(code.functions), set(code.functions) ^ set(code.spills)
    spilled = {name: spills for name, spills in code.spills.items() if any(spills)}
    assert not spilled, f"stack, spill stores, spill loads: {spilled}"
    for name, function in code.functions.items():
        local = [one.text for one in function.instructions if "local" in one.modifiers or one.opcode == "call"]
        assert not local, f"{name}: {local}"


def never_flushes(code):
    for name, function in code.functions.items():
        flushing = [one.text for one in function.instructions if "ftz" in one.modifiers]
        assert not flushing, f"{name}: {flushing}"


def table(codes, names):
    rows = [[name, *[code.count(name) for code in codes]] for name in names]
    lines = counts.lines_of("function", [code.arch for code in codes], rows)
    return HEADER + f"# nvcc {calls.nvcc_version()}\n" + "\n".join(lines) + "\n"


def split_counts():
    """counts.txt: the part of the functions, and that of test_kernel_code.py."""
    functions, title, kernels = COUNTS.read_text().partition("# Kernels over arrays")
    return functions, title + kernels


def counts_are_as_recorded(codes, names):
    old = counts.recorded(split_counts()[0], names)
    counts.compare([f"{name} on sm_{code.arch}: {now}, was {was}" for name in names
                    for code, was in zip(codes, old[name]) if (now := code.count(name)) != was], "test_ptx_code.py")


def properties(folder, known):
    api = toolchain.load_api().Api()
    every = calls.conversions(api)
    source = calls.source(api, every)
    titles = ["{} has the conversion instructions", "{} keeps to registers", "{} never flushes subnormals"]
    tests = [has_the_conversion_instructions, keeps_to_registers, never_flushes]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        codes = list(pool.map(lambda arch: Code(arch, source, folder),
                              [arch for arch in ARCHS if arch.rstrip("af") in known]))
    names = [call.name for call in every if COUNTED.fullmatch(call.name)]
    if len(sys.argv) > 1:
        COUNTS.write_text(table(codes, names) + split_counts()[1])
        return 0
    found = [named(title.format(f"sm_{code.arch}"), test, code) for code in codes
             for title, test in zip(titles, tests)]
    found.append(named("every capability has a row", every_capability_has_a_row, api))
    if len(codes) < len(ARCHS):
        found.append(named("counts are as recorded", calls.skip, "this nvcc does not compile for all targets"))
    else:
        found.append(named("counts are as recorded", counts_are_as_recorded, codes, names))
    return found


def main():
    if sys.argv[1:] not in ([], ["--update"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return calls.run("the code of the conversions", properties)


if __name__ == "__main__":
    sys.exit(main())
