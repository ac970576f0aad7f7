#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The hot paths of the kernels over arrays: instructions an element in SASS and in PTX, which do not grow beyond what
tests/cuda/ptx/counts.txt says, and in SASS no global access below 16 bytes (of quantisers no more than counts.txt says of each
size), no local memory, and F2FP where it exists.

usage: tests/cuda/ptx/test_kernel_code.py [all | --update]

Kernels are compiled for three targets, quantisers for two, with "all" for every one. --update writes counts.txt. SASS needs nvdisasm (see
hot.py); without it PTX alone is counted.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[2] / room) for room in ["harness", "cuda"]]

import tap
from ptx import calls, counts, hot, pipes
from toolchain import named
from tree import ROOT, check

ARCHS = ["75", "80", "89", "90", "100a", "120a"]
SHORTER_ARCHS = ["75", "90", "100a"]
COUNTS = ROOT / "tests/cuda/ptx/counts.txt"
TITLE = "# Kernels over arrays"
HEADER = TITLE + """: instructions of SASS / of PTX an element, on the hot path / registers; of quantisers also accesses of a
# thread there to global memory, by size: 4x16,1x4 is four of 16 bytes and one of 4. All those of other kernels have 16 or 32.
# tests/cuda/ptx/test_kernel_code.py compares, and writes this with --update. Also of nvcc {version}.
"""
MOST_REGISTERS = 64  # with which any GPU holds MPNUM_LAUNCH_BLOCKS_ blocks of 256 threads
BYTES = {"f64": 8, "f32": 4, "tf32": 4, "f16": 2, "bf16": 2, "e2m1x2": 0.5, "e3m2x4": 0.75}
SM_WITH = {"f32": 0, "f16": 0, "bf16": 80, "e4m3": 89, "e5m2": 89}  # conversions are instructions from there on


@dataclass
class Kernel:
    form: str  # plain, sat, rz or sr; finite, amax or stats
    src: str
    dst: str = ""

    @property
    def name(self):
        return f"{self.form}_{self.src}" + (f"_to_{self.dst}" if self.dst else "")

    @property
    def instance(self):
        """The kernel as C++ names it, and a part of its mangled name that is no other's."""
        src, dst = c_type(self.src), c_type(self.dst)
        if self.form == "finite_amax":  # of a matrix, for S
            return f"mpnum_finite_amax_kernel_<{src}>", f"_finite_amax_kernel_I{mangled(src)}PK"
        if not self.dst:
            return f"mpnum_reduce_kernel_<mpnum::reduce_{self.form}_<{src}>, {src}>", f"reduce_{self.form}_I{mangled(src)}E"
        from_one, to_one = element(src), element(dst)
        rounding = {"rz": "TOWARD_ZERO", "sr": "STOCHASTIC"}.get(self.form)
        cast = "rounded" if rounding else self.form
        more = f", MPNUM_ROUND_{rounding}" if rounding else ""
        number = {"rz": "L14mpnum_rounding1E", "sr": "L14mpnum_rounding6E"}.get(self.form, "")
        return (f"mpnum_convert_kernel_<mpnum::cast_{cast}_<{to_one}, {from_one}{more}>, {dst}, {src}>",
                f"cast_{cast}_I{mangled(to_one)}{mangled(from_one)}{number}E")

    @property
    def bytes(self):
        return size(self.src) + (size(self.dst) if self.dst else 0)

    def path(self, instructions, dialect):
        return hot.hot_path(instructions, dialect)

    def elements(self, path, dialect):
        """Of a thread on its path."""
        sizes = {"LDG": size(self.src), "STG": size(self.dst) if self.dst else 0}
        wide = "LDG" if sizes["LDG"] >= sizes["STG"] else "STG"
        return hot.wide_bytes(path, dialect, wide) / sizes[wide]

    def has_instruction(self, arch):
        return has_conversion(self.src, arch) and has_conversion(self.dst, arch) and self.form in ("plain", "sat")

    def budget(self, arch):
        """Instructions a byte moved that leave a GPU bound by its memory; None where there is no such claim."""
        if self.form in ("finite", "amax") or (self.dst and self.has_instruction(arch)):
            return 2
        return {"stats": 4, "sr": 6}.get(self.form, 4)


def has_conversion(kind, arch):
    if kind[:4] in ("e2m1", "e3m2", "e2m3"):
        return arch[-1] in "af" and int(arch[:-1]) >= 100
    least = SM_WITH.get(kind)
    return least is not None and int(arch.rstrip("af")) >= least


def size(kind):
    return BYTES.get(kind, 1)


def c_type(kind):
    return {"f32": "float", "f64": "double"}.get(kind, f"mpnum_{kind}")


def element(kind):
    return re.sub(r"x\d$", "", kind)


def mangled(kind):
    return {"float": "f", "double": "d"}.get(kind, f"{len(kind)}{kind}")


KERNELS = [Kernel(form, *pair.split(">")) for form, pairs in {
    "sat": "f32>f16 f32>bf16 f32>e4m3 f32>e4m3fnuz f32>e3m2x4 f32>e2m1x2 f16>e4m3 bf16>e4m3 bf16>e2m1x2",
    "plain": "f32>bf16 f32>e4m3 f64>f32 f16>f32 bf16>f32 e4m3>f32 e5m2>f32 e3m2x4>f32 e2m1x2>f32 e4m3>f16 e4m3>bf16",
    "rz": "f32>bf16", "sr": "f32>bf16 f32>e4m3", "finite": "f32 f16 e4m3", "amax": "f32 f16 e4m3",
    "finite_amax": "f32 bf16",
    "stats": "f32 bf16 e4m3"}.items() for pair in pairs.split()]
# Above the budget: software conversions, of which the scalar form sets the instructions, and Philox.
OVER_BUDGET = {"sat_f32_to_e4m3", "sat_f32_to_e4m3fnuz", "sat_f32_to_e3m2x4", "sat_f16_to_e4m3",
               "sat_bf16_to_e4m3", "sat_bf16_to_e2m1x2", "plain_f32_to_e4m3", "sr_f32_to_bf16", "sr_f32_to_e4m3"}
BARELY_OVER = {"plain_e3m2x4_to_f32"}  # 9.53 of 9.5 on sm_100a


@dataclass
class Quantiser:
    """Of blocks, a kernel without a loop, of 256 threads; four 16-byte vectors of src by each. Of arrays one with a loop."""
    form: str    # rows, tile, transpose or back; array, or back of an array; gate: activations of rows, with a factor
    family: str  # mx, nvfp4 or amax; scaled; rows
    src: str
    code: str
    edge: int = 32
    is_square: bool = False
    is_stochastic: bool = False
    of: str = ""  # silu, or dsilu, its gradient: of src and a factor of its type, fast_ by approximate instructions; summed: with sums of columns; dropped: dropout; normed: norms

    @property
    def name(self):
        if self.of:
            return f"{self.family}_{self.form}_{self.of}_{self.src}_to_{self.code}"
        more = ("_square" if self.is_square else "") + ("_sr" if self.is_stochastic else "")
        return f"{self.family}_{self.form}{more}_{self.src}_to_{self.code}"

    @property
    def instance(self):
        src, dst = c_type(self.src), c_type(self.code)
        if self.form == "transpose":
            return f"mpnum_quantize_transpose_kernel_<{dst}, {src}>", f"transpose_kernel_I{mangled(dst)}{mangled(src)}(PK\\w*)?E"
        if self.form == "array":
            return f"mpnum_quantize_kernel_<{dst}, {src}, mpnum_scale_given_>", f"_quantize_kernel_I{mangled(dst)}{mangled(src)}18"
        if self.form == "back" and self.family == "scaled":
            return f"mpnum_dequantize_kernel_<{src}, {dst}>", f"_dequantize_kernel_I{mangled(src)}{mangled(dst)}E"
        if self.form == "gate":
            to = "plain" if self.code == self.src else "codes"
            kind = {"silu": 0, "gelu_tanh": 2}[self.of.removeprefix("fast_")] + 8 * ("fast" in self.of)
            return (f"mpnum_activation_rows_kernel_<mpnum::gate_{self.of}_, mpnum::norm_{to}_<{dst}>, {src}>",
                    f"_activation_rows_kernel_ILi{kind}EN5mpnum11norm_{to}_I{mangled(dst)}E")
        family, number = {"mx": ("MX", 0), "nvfp4": ("TWO_LEVEL", 1), "amax": ("AMAX", 2)}[self.family]
        flags = [str(flag).lower() for flag in (self.is_square, self.is_stochastic)]
        blocks = f"mpnum::blocks_<{dst}, mpnum::{family}_FAMILY_, {self.edge}, {', '.join(flags)}>"
        kernel = "dequantize_blocks" if self.form == "back" else f"quantize_{self.form}"
        if self.of == "summed":
            return (f"mpnum_{kernel}_kernel_<{blocks}, {src}, mpnum::summed_elements_<const {src} *>>",
                    f"_{kernel}_kernel_I\\w*{mangled(dst)}\\w*_E{number}ELj{self.edge}\\w*16summed_elements_I")
        if self.of == "dropped":
            return (f"mpnum_{kernel}_kernel_<{blocks}, float, mpnum::gate_elements_<mpnum::gate_identity_, false, {src}, {src}, mpnum::drops_>>",
                    f"_{kernel}_kernel_I\\w*EEEfN\\w*14gate_elements_ILi7E")
        if self.of == "normed":
            return f"mpnum_{kernel}_kernel_<{blocks}, float, mpnum::normed_elements_<{src}>>", f"_{kernel}_kernel_I\\w*EEEfN\\w*16normed_elements_I"
        if self.of:
            is_back, is_fast = "dsilu" in self.of, "fast" in self.of
            kind = f"mpnum::gate_{'fast_' * is_fast}silu_"
            return (f"mpnum_{kernel}_kernel_<{blocks}, float, mpnum::gate_elements_<{kind}, {str(is_back).lower()}, {src}, {src}>>",
                    f"_{kernel}_kernel_I\\w*EEEfN\\w*14gate_elements_ILi{8 * is_fast}ELb{int(is_back)}E")
        return (f"mpnum_{kernel}_kernel_<{blocks}, {src}>",
                f"_{kernel}_kernel_I\\w*{mangled(dst)}\\w*_E{number}ELj{self.edge}ELb{int(self.is_square)}"
                f"ELb{int(self.is_stochastic)}EEE{mangled(src)}(PK\\w*)?E")

    def has_instruction(self, arch):
        return has_conversion(self.code, arch)

    def path(self, instructions, dialect):
        if self.family == "scaled" and self.form in ("array", "back"):
            return hot.hot_path(instructions, dialect)
        if self.form == "gate":
            return hot.loop_path(instructions, dialect)
        weight = staged_stores if self.form == "back" else without_bias if self.of else None
        return hot.straight_path(instructions, dialect, weight)

    def elements(self, _path, _dialect):
        if self.form == "gate":
            return 16
        return 32 if self.form == "back" and self.family != "scaled" else 4 * 16 // size(self.src)


def staged_stores(instruction, dialect):
    """Weighs the path of blocks back by row: stores of 16 bytes of what went through shared memory."""
    is_wide = hot.WIDE_ACCESS[dialect].match(instruction.text) and instruction.opcode.startswith(("STG", "st"))
    return 1000 * bool(is_wide) + instruction.opcode.startswith(("LDS", "ld.shared"))


def without_bias(instruction, dialect):
    """Weighs the path of what is computed: all stores, and loads by vectors, not those of a bias, which is seldom there."""
    moved = hot.moved_bytes(instruction, dialect)
    return moved if moved >= 8 or instruction.opcode.startswith(("STG", "st.global")) else 0


QUANTISERS = [Quantiser(*row) for row in (
    ("rows", "mx", "f32", "e4m3"), ("rows", "mx", "bf16", "e4m3"), ("rows", "mx", "bf16", "e2m1"),
    ("rows", "nvfp4", "bf16", "e2m1", 16), ("rows", "amax", "bf16", "e4m3", 128), ("tile", "mx", "f32", "e4m3"),
    ("array", "scaled", "f32", "e4m3"), ("array", "scaled", "bf16", "e4m3"), ("back", "scaled", "f32", "e4m3"),
    ("back", "scaled", "bf16", "e4m3"), ("tile", "mx", "bf16", "e4m3"), ("tile", "nvfp4", "bf16", "e2m1", 16, True),
    ("transpose", "scaled", "f32", "e4m3"),
    ("transpose", "scaled", "bf16", "e4m3"), ("rows", "nvfp4", "bf16", "e2m1", 16, False, True), ("back", "mx", "f32", "e4m3"),
    ("back", "mx", "bf16", "e4m3"), ("back", "mx", "bf16", "e2m1"), ("back", "nvfp4", "f32", "e2m1", 16),
    ("back", "nvfp4", "bf16", "e2m1", 16), ("tile", "nvfp4", "f32", "e2m1", 16), ("tile", "nvfp4", "bf16", "e2m1", 16),
    ("rows", "mx", "bf16", "e4m3", 32, False, False, "silu"), ("tile", "mx", "bf16", "e4m3", 32, False, False, "dsilu"),
    ("rows", "mx", "bf16", "e4m3", 32, False, False, "fast_silu"), ("tile", "mx", "bf16", "e4m3", 32, False, False, "fast_dsilu"),
    ("tile", "mx", "bf16", "e4m3", 32, False, False, "summed"),
    ("rows", "mx", "bf16", "e4m3", 32, False, False, "dropped"),
    ("tile", "mx", "bf16", "e4m3", 32, False, False, "normed"), ("gate", "rows", "bf16", "bf16", 0, False, False, "fast_silu"),
    ("gate", "rows", "bf16", "e4m3", 0, False, False, "gelu_tanh"), ("gate", "rows", "bf16", "e4m3", 0, False, False, "fast_gelu_tanh"))]
QUANTISER_ARCHS = ["90", "100a"]  # in the shorter tier


SCALARS = "scalar_conversions"
SCALARS_SOURCE = f"""\
extern "C" __global__ void {SCALARS}(float *x, mpnum_f16 *half, mpnum_bf16 *brain) {{
  x[0] = mpnum_f16_to_f32(half[0]);
  x[1] = mpnum_bf16_to_f32(brain[0]);
  half[1] = mpnum_f32_to_f16(x[2]);
  half[2] = mpnum_f32_to_f16_sat(x[3]);
  half[3] = mpnum_f32_to_f16_rz(x[4]);
  brain[1] = mpnum_f32_to_bf16(x[5]);
  brain[2] = mpnum_f32_to_bf16_sat(x[6]);
  brain[3] = mpnum_f32_to_bf16_rz(x[7]);
}}"""


def source(kernels):
    lines = ["#include <mpnum/kernels.cuh>", "#include <mpnum/blocks/quantize_computed.cuh>",
             "#include <mpnum/blocks/quantize_dropped.cuh>", "#include <mpnum/blocks/quantize_normed.cuh>",
             "#include <mpnum/blocks/quantize_summed.cuh>", SCALARS_SOURCE, "extern const void *const kernels[];", "const void *const kernels[] = {"]
    lines += [f"  reinterpret_cast<const void *>({kernel.instance[0]})," for kernel in kernels]
    return "\n".join([*lines, "};"]) + "\n"


class Code:
    """What nvcc makes of all kernels for one architecture."""

    def __init__(self, arch, folder, has_quantisers):
        self.arch = arch
        self.kernels = KERNELS + QUANTISERS if has_quantisers else KERNELS
        ptx, cubin = folder / f"{arch}.ptx", folder / f"{arch}.cubin"
        ptx_text = calls.compile_ptx(source(self.kernels), folder, arch)
        ptx.write_text(ptx_text)
        said = check(calls.nvcc(), "-cubin", f"-arch=sm_{arch}", "-Xptxas", "-v", ptx, "-o", cubin)
        self.reports = dict(re.findall(r"Compiling entry function '(\w+)'(.*?Used \d+ registers)", said, re.S))
        self.texts = {"ptx": hot.kernels_of(ptx_text, "ptx"), "sass": {}}
        program = hot.nvdisasm()
        if program:
            self.texts["sass"] = hot.kernels_of(check(program, "-c", cubin), "sass")

    def full_name(self, kernel):
        found = [name for name in self.reports if re.search(kernel.instance[1], name)]
        assert len(found) == 1, (kernel.name, found)
        return found[0]

    def instructions(self, kernel, dialect):
        return self.texts[dialect][self.full_name(kernel)]

    def frame(self, kernel):
        """Bytes of local memory."""
        return int(re.search(r"(\d+) bytes stack frame", self.reports[self.full_name(kernel)])[1])

    def each(self, kernel, dialect):
        """Instructions an element on the hot path."""
        if not self.texts[dialect]:
            return None
        path = kernel.path(self.instructions(kernel, dialect), dialect)
        return round(len(path) / kernel.elements(path, dialect), 2)

    def pipes(self, kernel):
        """All instructions of SASS an element, those of the integer and of the special pipe, and bytes in flight a thread."""
        path = kernel.path(self.instructions(kernel, "sass"), "sass")
        elements = kernel.elements(path, "sass")
        return [round(one / elements, 2) for one in pipes.of_path(path)] + [pipes.bytes_in_flight(path)]

    def registers(self, kernel):
        return int(re.search(r"Used (\d+)", self.reports[self.full_name(kernel)])[1])

    def cell(self, kernel):
        shown = [self.each(kernel, dialect) for dialect in ("sass", "ptx")]
        cell = ["-" if one is None else f"{one:g}" for one in shown] + [str(self.registers(kernel))]
        if kernel in QUANTISERS:
            sass = self.texts["sass"] and self.instructions(kernel, "sass")
            cell.append(hot.accesses(kernel.path(sass, "sass"), "sass") if sass else "-")
        return "/".join(cell)


def reaches_the_budget(code):
    need_sass(code)
    over = []
    for kernel in KERNELS:
        each, budget = code.each(kernel, "sass"), kernel.budget(code.arch) * kernel.bytes
        is_listed = kernel.name in BARELY_OVER or (kernel.name in OVER_BUDGET and not kernel.has_instruction(code.arch))
        if each > budget and not is_listed:
            over.append(f"{kernel.name}: {each:g} instructions an element, of {budget:g}")
    assert not over, "\n".join(over)


def keeps_to_registers(code):
    """Software conversions of tiles and random words take more, of which four may be spilled."""
    for kernel in code.kernels:
        report = code.reports[code.full_name(kernel)]
        has_more = kernel in QUANTISERS and (kernel.is_stochastic or not kernel.has_instruction(code.arch))
        is_long = has_more or getattr(kernel, "of", "")  # what is computed has three blocks a multiprocessor
        assert code.frame(kernel) <= (16 if has_more else 0), f"{kernel.name}: {report}"
        assert code.registers(kernel) <= (2 * MOST_REGISTERS if is_long else MOST_REGISTERS), f"{kernel.name}: {report}"


def moves_sixteen_bytes_at_a_time(code):
    need_sass(code)
    for kernel in KERNELS:
        path = hot.hot_path(code.instructions(kernel, "sass"), "sass")
        memory = [one.text for one in path if re.match(r"(LDG|STG|LD|ST|LDL|STL|ATOM\w*|RED\w*)\.", one.text + ".")]
        narrow = [text for text in memory if not hot.WIDE_ACCESS["sass"].match(text)]
        assert memory and not narrow, f"{kernel.name}: {narrow}"
    for kernel in code.kernels:
        local = [one.text for one in code.instructions(kernel, "sass") if re.match(r"(LDL|STL)\b", one.opcode)]
        assert not local, f"{kernel.name}: {local}"


def quantisers_load_vectors(code):
    """All but the scale of a tensor; codes of a vector are one store, up to 16 bytes that threads side by side put together."""
    need_sass(code)
    for kernel in QUANTISERS:
        if kernel.form == "back" or kernel.of:
            continue
        path = kernel.path(code.instructions(kernel, "sass"), "sass")
        loads = [hot.moved_bytes(one, "sass") for one in path if one.opcode.startswith("LDG")]
        assert loads.count(16) + 2 * loads.count(32) >= 4 and len(loads) - loads.count(16) - loads.count(32) <= 1, (
            f"{kernel.name}: {loads}")


def converts_by_f2fp(code):
    """sm_80 on: F2F, which is slower by far, has no place outside doubles, be it of one value alone."""
    need_sass(code)
    slow = [one.text for one in code.texts["sass"][SCALARS] if one.opcode.startswith("F2F.")]
    assert not slow, f"scalar conversions: {slow}"
    for kernel in code.kernels:
        if "f64" in kernel.name:
            continue
        slow = [one.text for one in code.instructions(kernel, "sass") if one.opcode.startswith("F2F.")]
        assert not slow, f"{kernel.name}: {slow}"
        fast = [one for one in code.instructions(kernel, "sass") if one.opcode.startswith("F2FP.")]
        if kernel.form == "sat" and kernel.has_instruction(code.arch):
            assert fast, f"{kernel.name}: no F2FP"


def converts_without_fadd(code):
    """Of which ptxas before CUDA 13.2 takes a wrong operand in loops like these (pytorch/pytorch#177870)."""
    need_sass(code)
    for kernel in KERNELS:
        if kernel.dst and kernel.form in ("plain", "sat"):
            adds = [one.text for one in code.instructions(kernel, "sass") if one.opcode.startswith("FADD")]
            assert not adds, f"{kernel.name}: {adds}"


def need_sass(code):
    if not code.texts["sass"]:
        raise tap.Skip("no nvdisasm: set MPNUM_NVDISASM, or install the Python package nvidia-cuda-nvdisasm")


def table(codes):
    rows = [[kernel.name, *[code.cell(kernel) for code in codes]] for kernel in KERNELS + QUANTISERS]
    lines = counts.lines_of("kernel", [code.arch for code in codes], rows)
    return HEADER.format(version=calls.nvcc_version()) + "\n".join(lines) + "\n"


def split_counts():
    """counts.txt: what is before the kernels, and their part."""
    before, title, after = COUNTS.read_text().partition(TITLE)
    return before, title + after


def counts_do_not_grow(codes):
    old = counts.recorded(split_counts()[1], [kernel.name for kernel in KERNELS + QUANTISERS])
    counts.compare([f"{kernel.name} on sm_{code.arch}: {now}, was {was}" for code in codes
                    for kernel in code.kernels
                    if hot.has_grown(without_registers(was := old[kernel.name][ARCHS.index(code.arch)]), without_registers(now := code.cell(kernel)))],
                   "test_kernel_code.py")


def without_registers(cell):
    first, second, _, *accesses = cell.split("/")
    return "/".join([first, second, *accesses])


def properties(folder, known):
    is_whole = len(sys.argv) > 1
    chosen = ARCHS if is_whole else SHORTER_ARCHS
    codes = [Code(arch, folder, is_whole or arch in QUANTISER_ARCHS) for arch in chosen if arch.rstrip("af") in known]
    if "--update" in sys.argv:
        if not codes[0].texts["sass"]:
            print("test_kernel_code.py: no nvdisasm, so nothing is written", file=sys.stderr)
            return 1
        COUNTS.write_text(split_counts()[0] + table(codes))
        return 0
    found = []
    for code in codes:
        found += [named(f"sm_{code.arch} reaches the budget", reaches_the_budget, code),
                  named(f"sm_{code.arch} keeps to registers", keeps_to_registers, code),
                  named(f"sm_{code.arch} moves 16 bytes at a time", moves_sixteen_bytes_at_a_time, code)]
        if code.kernels != KERNELS:
            found.append(named(f"sm_{code.arch} loads vectors to quantise", quantisers_load_vectors, code))
        if int(code.arch.rstrip("af")) >= 80:
            found.append(named(f"sm_{code.arch} converts by F2FP", converts_by_f2fp, code))
        if code.arch.startswith("10"):
            found.append(named(f"sm_{code.arch} converts without FADD", converts_without_fadd, code))
    if len(codes) < len(chosen):
        found.append(named("counts do not grow", calls.skip, "this nvcc does not compile for all targets"))
    else:
        found.append(named("counts do not grow", counts_do_not_grow, codes))
    return found


def main():
    if sys.argv[1:] not in ([], ["all"], ["--update"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return calls.run("the code of the kernels", properties)


if __name__ == "__main__":
    sys.exit(main())
