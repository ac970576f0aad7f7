#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/gpu-shares: its rule, that docs/cuda.md has what it prints, and that what it reads is of the kernels that the counts are of."""

import math
import re
import subprocess
import sys
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[1] / room) for room in ("harness", "cuda")]

import tap
import toolchain
from ptx import executed, hot, pipes
from tree import ROOT

TOOL = ROOT / "tools/gpu-shares"
COUNTS, ROW_COUNTS = ROOT / "tests/cuda/ptx/counts.txt", ROOT / "tests/cuda/ptx/row_counts.txt"
tool = toolchain.load_tool("gpu-shares")


def counted(path, title):
    """(targets, {name: {target: cell}}) of what follows a title."""
    lines = path.read_text().split(title)[1].splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines if line[:1].isalpha()}
    head = next(line for line in path.read_text().splitlines()[::-1] if line.startswith("# kernel")).split()[2:]
    return {name: dict(zip(head, cells)) for name, cells in rows.items()}


def the_least_of_the_bounds_is_the_share():
    """A GPU that issues 8 a byte issues 40 for 5, of which 0.85 count. 32 KiB of a multiprocessor are 16 bytes of 2048 threads."""
    assert tool.share("32/0/0/64/32", 5, 8, 32, 228) == (0.92, "")
    for cell, why in (("68/0/0/64/32", "issue"), ("34/34/0/64/32", "integers"), ("34/0/8.5/64/32", "special")):
        share, bound = tool.share(cell, 5, 8, 32, 228)
        assert bound == why and math.isclose(share, 0.5), (cell, share, bound)
    assert tool.share("1/0/0/4/32", 5, 8, 32, 228) == (tool.read_share(0.25), "flight")


def blocks_load_and_compute_in_turn():
    """Of 40 instructions 34 count. 17 take half the time of memory, of which two blocks hide a half, 68 twice that, of which
    memory's comes to 1 / blocks. 2 blocks: by threads, by registers, by shared memory, of which a byte more leaves room for one."""
    for launch, blocks in (("32/1024/0", 2), ("64/512/0", 2), ("32/256/115712", 2), ("32/256/115713", 1), ("32/32/0", 32), ("33/64/0", 25)):
        for count, pipe, shorter, bound in ((17, 1, 0.5, "turns"), (68, 2, 1, "issue")):
            share, found = tool.share(f"{count}/0/0/64/{launch}", 5, 8, 1, 228)
            assert found == (bound if share < tool.REACHED else ""), (launch, count, found)
            assert math.isclose(share, min(tool.REACHED, 1 / (max(1, pipe) + shorter / blocks))), (launch, count, share)
    assert tool.share("17/0/0/64/32", 5, 8, 1, 228) == (0.92, "")


def threads_are_those_with_registers():
    """128 leave 512 threads, 65 take 72 and leave 896."""
    assert math.isclose(tool.bounds("1/0/0/16/128", 4, 8, 32, 228)["flight"], tool.read_share(512 * 16 / 32768))
    assert math.isclose(tool.bounds("1/0/0/16/65", 4, 8, 32, 228)["flight"], tool.read_share(896 * 16 / 32768))
    assert math.isclose(tool.bounds("1/0/0/16/65/512/0", 4, 8, 32, 228)["flight"], tool.read_share(512 * 16 / 32768))


def what_is_on_the_way_is_the_h100s():
    """By its file of results: the clocks, lanes and bytes of a multiprocessor, too."""
    text = tool.RESULTS.read_text()
    rates = {int(kib): int(rate) for kib, rate in re.findall(r"^read, (\d+) KiB on the way, 16 bytes a thread: (\d+) ", text, re.M)}
    assert math.isclose(tool.read_share(8 / 32), rates[8] / rates[32]) and tool.read_share(2) == 1
    assert math.isclose(tool.read_share(10 / 32), (rates[8] + rates[12]) / 2 / rates[32])
    count, megahertz = map(int, re.search(r"(\d+) multiprocessors, .*: (\d+) MHz at most", text).groups())
    copied = int(re.search(r"^limits, copy +- +- +(\d+) ", text, re.M)[1])
    _, issued, needed, _ = tool.GPUS["H100"]
    assert issued == round(128 * count * megahertz * 1e6 / (copied * 1e9)) and needed == max(rates)


def what_was_measured_has_its_prediction():
    """Every row that a kernel names is one that the benchmark has, and every figure of the file is read."""
    assert set(tool.MEASURED) <= {name for name, _ in tool.kernels()}
    for gpu, path in tool.MEASURED_ON.items():
        shares = tool.results(gpu)
        assert gpu == "H100" or set(tool.MEASURED.values()) <= set(shares), set(tool.MEASURED.values()) - set(shares)
        figures = [line for line in path.read_text().splitlines() if re.search(r"\d%  +\d+ +[\d.]+ %", line)]
        assert len(shares) == len(figures), len(shares)
        lines = tool.errors(gpu).splitlines()
        rows = sum(row in shares for row in tool.MEASURED.values())
        assert len(lines) == rows + 3 and rows == sum(int(line.split()[0]) for line in lines[-2:]), lines[-2:]


def what_is_read_is_of_the_kernels_that_are_counted():
    """Instructions and registers of SASS, registers of kernels of rows, are those of the counts."""
    arrays, rows = counted(COUNTS, "# Kernels over arrays"), counted(ROW_COUNTS, "# Rows and gradients")
    found = dict(tool.kernels())
    assert list(found) == [*arrays, *rows], set(found) ^ {*arrays, *rows}
    for name, cells in found.items():
        for target, *_ in tool.GPUS.values():
            numbers = cells[target].split("/")
            want = (arrays if name in arrays else rows)[name].get(target, "").split("/")  # not all targets have counts of rows
            assert want == [""] or numbers[4] == want[2], f"{name} on {target}: registers. Run tools/gpu-shares --count."
            assert len(numbers) == (5 if name in arrays else 7), f"{name} on {target}: run tools/gpu-shares --count."
            assert name in rows or numbers[0] == want[0], f"{name} on {target}: {numbers[0]}, counted {want[0]}: run it with --count."


def rows_and_gradients_move_what_they_read_and_write():
    """Gradients of rows read those of the results and either the results or the source."""
    want = {"softmax_f32": 8, "cross_entropy_f16": 4, "softmax_backward_f16": 6, "rms_norm_f16_to_e4m3": 3,
            "grad_f32_in_place": 8, "grad_bf16_to_f32": 6, "grad_f16_to_f32_apart": 6, "adamw_f32": 28, "adamw_f32_bf16_copy": 28,
            "adamw_bf16_8bit_moments": 10, "swiglu_f16": 6, "swiglu_backward_f16": 10,
            "sat_f32_to_e4m3": 5, "plain_e2m1x2_to_f32": 4.5, "mx_tile_f32_to_e4m3": 6, "scaled_back_bf16_to_e4m3": 3}
    assert {name: tool.described(name)[1] for name in want} == want


def kernels_have_one_goal_each():
    """All but optimizers; what misses a goal stands in the table of kernels, with its bound."""
    for name, _ in tool.kernels():
        found = [what for what, _, names in tool.GOALS if re.match(names, name)]
        assert len(found) == (not name.startswith("adamw")), (name, found)
    lines, table = tool.goals().splitlines()[2:], tool.table()
    assert len(lines) == len(tool.GOALS)
    for line in lines:
        for reached, all_of, least in re.findall(r"(\d+) of (\d+)(?:, least (.*?) \|)?", line):
            assert (reached == all_of) == (not least), line
            assert not least or f"| {least.partition(': ')[2]}" in table and least.partition(":")[0] in table, line


def instructions(text):
    return [hot.Instruction(line.strip(), False, ["L"] if line.startswith("L:") else []) for line in text.strip().splitlines()]


def bytes_are_in_flight_until_one_is_used():
    loads = "LDG.E.128 R8, desc[UR6][R36.64]\nLDG.E.64 R12, desc[UR6][R36.64+0x200]\n"
    for text, want in ((loads, 24), (loads.replace("\n", "\nFADD R1, R11, R2\n", 1), 16),
                       (loads.replace("\n", "\nFADD R1, R14, R2\n", 1), 24),
                       (loads + "LDG.E.U16 R3, desc[UR6][R36.64]", 26), (loads + "LDG.E R3, desc[UR6][R12.64]", 24),
                       (loads + "STG.E.128 desc[UR6][R2.64], R8\n" + loads, 24),
                       ("LDG.E.ENL2.256 R16, R20, desc[UR6][R24.64]\nLDG.E.ENL2.256 R8, R12, desc[UR6][R24.64]", 64),
                       ("LDG.E.ENL2.256 R16, R20, desc[UR6][R24.64]\nFADD R1, R23, R2\nLDG.E R8, [R24.64]", 32)):
        assert pipes.bytes_in_flight(instructions(text)) == want, (text, pipes.bytes_in_flight(instructions(text)))


def pipes_are_told_by_their_opcodes():
    sass = {"LOP3.LUT": 2, "FFMA": 3, "MUFU.RCP": 1, "IMAD.MOV.U32": 1, "F2FP.BF16.F32.PACK_AB": 1, "HADD2.F32": 1, "LDG.E.128": 1,
            "I2FP.F32.S32": 1}
    assert pipes.of_opcodes(sass) == [11, 4, 1]


SASS = """
.text.kernel:
	//## File "ptx", line 3
        /*0000*/                   MOV R20, 0x3f800000 ;
	//## File "ptx", line 1
        /*0010*/                   S2R R0, SR_TID.X ;
        /*0020*/                   LDG.E.128 R4, [R2.64] ;
.L_x_0:
	//## File "ptx", line 4
        /*0030*/              @!P1 LDG.E.128 R12, [R2.64+0x20] ;
	//## File "ptx", line 3
        /*0040*/                   LDG.E.64 R8, [R2.64+0x10] ;
        /*0050*/                   FADD R16, R9, R20 ;
        /*0060*/               @P0 BRA `(.L_x_0) ;
	//## File "ptx", line 6
        /*0070*/                   BRX R30 -0x70                        (*"BRANCH_TARGETS .L_x_3,.L_x_1"*);
.L_x_3:
	//## File "ptx", line 7
        /*0080*/                   MUFU.RCP R16, R16 ;
        /*0090*/                   EXIT ;
.L_x_1:
	//## File "ptx", line 8
        /*00a0*/                   FADD R18, R4, R16 ;
        /*00b0*/                   EXIT ;
.L_x_2:
        /*00c0*/                   BRA `(.L_x_2);
        /*00d0*/                   NOP;
"""


def sass_is_executed_as_often_as_its_lines():
    """A loop 5 times, with a load of a branch that is not taken and became a predicate; its constant once. What follows EXIT, never."""
    times = {1: 1, 3: 5, 4: 0, 6: 1, 7: 0, 8: 1}
    blocks = executed.executed(hot.kernels_of(SASS, "sass")["kernel"], times)
    assert executed.opcodes(blocks) == {"S2R": 1, "LDG.E.128": 1 + 5, "MOV": 1, "LDG.E.64": 5, "FADD": 5 + 1, "BRA": 5, "BRX": 1,
                                         "EXIT": 1}
    ptx = ["\tld.global.v4.u32 \t{%r1, %r2, %r3, %r4}, [%rd1];", "", "\t@%p1 ld.global.v2.u32 \t{%r5, %r6}, [%rd1+16];"]
    assert executed.part_of_accesses("\n".join(ptx + [""] * 9), blocks, times) == 1
    assert executed.part_of_accesses("\n".join(ptx + [""] * 4 + ["\tst.global.u64 \t[%rd2], %rd3;"]), blocks, {**times, 8: 7}) == 0.5
    assert executed.bytes_in_flight(blocks, times) == 16
    assert executed.bytes_in_flight(blocks, {**times, 4: 1}) == 24


def ptx_has_a_line_for_each_instruction():
    text = ".address_size 64\n.global .u32 x;\n.entry f()\n{\n\t.reg .b32 %r<2>;\n\tmov.u32 %r1, 1;\n$L:\n\t@%p1 bra $L;\n\tret;\n}\n"
    found = executed.with_lines(text).splitlines()
    assert found[1] == '.file 1 "ptx"'
    assert [(found[at], found[at + 1]) for at, line in enumerate(found) if line.startswith(".loc")] == [
        (".loc 1 6 0", "\tmov.u32 %r1, 1;"), (".loc 1 8 0", "\t@%p1 bra $L;"), (".loc 1 9 0", "\tret;")]


def the_page_has_what_is_printed():
    page = tool.PAGE.read_text()
    assert tool.with_table(page) == page, "Where this is meant, run tools/gpu-shares --update."


def other_arguments_are_refused():
    done = subprocess.run([TOOL, "--update", "x"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done


sys.exit(tap.run(the_least_of_the_bounds_is_the_share, blocks_load_and_compute_in_turn, threads_are_those_with_registers, what_is_on_the_way_is_the_h100s,
                 what_was_measured_has_its_prediction,
                 what_is_read_is_of_the_kernels_that_are_counted, kernels_have_one_goal_each, rows_and_gradients_move_what_they_read_and_write,
                 bytes_are_in_flight_until_one_is_used, pipes_are_told_by_their_opcodes, sass_is_executed_as_often_as_its_lines,
                 ptx_has_a_line_for_each_instruction,
                 the_page_has_what_is_printed, other_arguments_are_refused))
