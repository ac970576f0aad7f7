#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Faults planted in the PTX of real kernels are seen: what runs in the PTX interpreter differs from the host, or is an
error. A test of tests/cuda/ptx/test_ptx.py and of its inputs.
"""

import re
import struct
import sys
from functools import lru_cache
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[2] / room) for room in ["harness", "cuda"]]

import toolchain
from ptx import calls
from ptx.inputs import Inputs
from ptx.machine import Machine
from ptx.syntax import PtxError

FUNCTIONS = [f"mpnum_{name}" for name in (
    "f32_to_e4m3", "f32_to_e4m3_x2", "f32_to_e5m2", "f32_to_f16", "f32_to_bf16", "f16_to_f32", "f32_to_tf32",
    "f32_to_tf32_rna", "e5m2_to_f32", "f32_to_e2m1_sat_x2", "f32_to_e8m0_ru", "e3m2_to_f32_x2",
    "f32_to_e4m3_sr")]

# The sum of a block's floats in two steps, as reductions do it: within warps, then over what the warps left in shared
# memory. Then every thread takes the sum.
REDUCTION = """
extern "C" __global__ void reduce(const int *in, int *out, unsigned count) {
  __shared__ int sums[32];
  unsigned i = threadIdx.x;
  int x = i < count ? in[i] : 0, sum = x;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (i % 32 == 0) sums[i / 32] = sum;
  __syncthreads();
  sum = i < blockDim.x / 32 ? sums[i] : 0;
  if (i < 32) {
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (i == 0) sums[0] = sum;
  }
  __syncthreads();
  if (i < count) out[i] = sums[0] * 1000 + x;
}
"""


class Kernels:
    def __init__(self, folder):
        self.folder = Path(folder)
        api = toolchain.load_api().Api()
        self.calls = {call.name: call for call in calls.conversions(api) if call.name in FUNCTIONS}
        assert len(self.calls) == len(FUNCTIONS), set(FUNCTIONS) ^ set(self.calls)
        self.inputs = Inputs(api)
        self.source = calls.source(api, self.calls.values())
        self.host = calls.Host(self.source, self.folder)

    @lru_cache(maxsize=None)
    def ptx(self, arch):
        return calls.compile_ptx(self.source, self.folder, arch)

    @lru_cache(maxsize=None)
    def reduction(self):
        return calls.compile_ptx(REDUCTION, self.folder, "90")

    def body(self, function, arch):
        """The text of one kernel, from its name on, as a module."""
        head, *entries = self.ptx(arch).split(".visible .entry ")
        return head + next(f".visible .entry {entry}" for entry in entries if entry.startswith(f"call_{function}("))

    def is_wrong(self, function, text):
        """Whether a kernel's text gives other bytes than the host, or is an error."""
        call = self.calls[function]
        records = self.inputs.records(call)
        try:
            got = calls.run_on(Machine(text), call, records)
        except PtxError:
            return True
        return got != self.host.run(call, records)


KERNELS = None


def planted(text, pattern, replacement, count=1):
    changed, times = re.subn(pattern, replacement, text, count=count)
    assert times, f"nothing to change: {pattern}\n{text}"
    return changed


def is_seen(function, arch, pattern, replacement):
    text = KERNELS.body(function, arch)
    assert not KERNELS.is_wrong(function, text), f"{function} on sm_{arch} is wrong without a fault"
    assert KERNELS.is_wrong(function, planted(text, pattern, replacement)), (
        f"not seen in {function} on sm_{arch}: {pattern} -> {replacement}")


def swapped_operands_are_seen():
    swap = r"(cvt\.rn\S*\.{}\s+%?\w+,\s*)(%?\w+),\s*(%?\w+)"
    for function, arch, kind in (("mpnum_f32_to_e4m3_x2", "90", r"e4m3x2\.f32"),
                                 ("mpnum_f32_to_e4m3", "90", r"e4m3x2\.f32"),
                                 ("mpnum_f32_to_e2m1_sat_x2", "120a", r"e2m1x2\.f32")):
        is_seen(function, arch, swap.format(kind), r"\1\3, \2")


def another_rounding_is_seen():
    for function, arch, old, new in (("mpnum_f32_to_f16", "75", r"cvt\.rn", "cvt.rz"),
                                     ("mpnum_f32_to_f16", "75", r"cvt\.rn", "cvt.rp"),
                                     ("mpnum_f32_to_bf16", "90", r"cvt\.rn", "cvt.rz"),
                                     ("mpnum_f32_to_tf32", "90", r"cvt\.rn", "cvt.rna"),
                                     ("mpnum_f32_to_tf32_rna", "80", r"cvt\.rna", "cvt.rn"),
                                     ("mpnum_f32_to_e8m0_ru", "120a", r"cvt\.rp", "cvt.rz"),
                                     ("mpnum_f32_to_e8m0_ru", "120a", r"cvt\.rp", "cvt.rp.satfinite"),
                                     ("mpnum_f32_to_e4m3", "90", "e4m3x2", "e5m2x2")):
        is_seen(function, arch, old, new)


def a_lost_select_or_mask_is_seen():
    take_first, take_second = r"mov.b32 \1, \2;", r"mov.b32 \1, \3;"
    select = r"selp\.[bfs]32\s+(%\w+), (%\w+|0f\w+|\d+), (%\w+|0f\w+|\d+), %p\d+;"
    for function, arch in (("mpnum_f16_to_f32", "75"), ("mpnum_e5m2_to_f32", "90"), ("mpnum_f32_to_tf32", "90")):
        for replacement in (take_first, take_second):
            is_seen(function, arch, select, replacement)
    is_seen("mpnum_f32_to_tf32", "90", r"(and\.b32\s+%\w+, %\w+), -8192|(shl\.b32\s+%\w+, %\w+), 13",
            lambda match: f"{match[1]}, -1" if match[1] else f"{match[2]}, 12")
    # Bits above a 6-bit number.
    is_seen("mpnum_e3m2_to_f32_x2", "120a", r"and\.b16(\s+%\w+, %\w+), 16191", r"and.b16\1, -1")


def numbers_of_the_integer_path_count():
    """Each constant of conversions by integer arithmetic, one more and one less. Some changes mean the same, as of a
    limit so far off that nothing depends on where exactly it is; most do not."""
    for function in ("mpnum_f32_to_e4m3", "mpnum_f32_to_e5m2", "mpnum_f32_to_e4m3_sr"):
        text = KERNELS.body(function, "75")
        survivors, tried = [], 0
        for match in re.finditer(r"^\s*[a-z][^\n]*?, (-?\d+)(?=[,;])[^\n]*", text, re.M):
            for step in (1, -1):
                tried += 1
                changed = f"{text[:match.start(1)]}{int(match[1]) + step}{text[match.end(1):]}"
                if not KERNELS.is_wrong(function, changed):
                    survivors.append(f"{function}: {' '.join(match[0].split())} with {int(match[1]) + step}")
        assert tried >= 20 and 5 * len(survivors) <= tried, "\n".join([f"{tried} changes", *survivors])


def a_tail_off_by_one_is_seen():
    for arch in ("75", "120a"):
        is_seen("mpnum_f32_to_e4m3", arch, r"setp\.ge\.u32(\s+%p1)", r"setp.gt.u32\1")
        is_seen("mpnum_f32_to_f16", arch, r"(mul\.wide\.u32\s+%\w+, %\w+), 8", r"\1, 4")


def reduction_is_wrong(text, threads=1024, count=1000):
    numbers = [(place * 7919) % 1000 for place in range(count)]
    machine = Machine(text)
    source, target = machine.allocate(struct.pack(f"<{count}i", *numbers)), machine.allocate(4 * count)
    try:
        machine.launch("reduce", 1, threads, [source.address, target.address, count])
    except PtxError:
        return True
    expected = struct.pack(f"<{count}i", *[sum(numbers) * 1000 + number for number in numbers])
    return 1 in target.undefined or bytes(target.data) != expected


def a_wrong_reduction_is_seen():
    text = KERNELS.reduction()
    assert not reduction_is_wrong(text)
    barriers = [match.span() for match in re.finditer(r"(bar\.sync|barrier\.sync)[^;]*;", text)]
    assert len(barriers) == 2, barriers
    for start, end in barriers:
        assert reduction_is_wrong(text[:start] + text[end:]), "a barrier less"
    # Five steps of each kind, from an offset of 16 to 1: operands are value, offset, clamp and mask.
    for mode in ("bfly", "down"):
        shuffles = list(re.finditer(rf"(shfl\.sync\.{mode}\.b32\s+[^,]+, %\w+), ([^,]+), ([^,]+), ([^;]+);", text))
        assert len(shuffles) == 5, shuffles
        for step, change in ((0, "{1}, 8, {3}, {4};"), (4, "{1}, 2, {3}, {4};"), (2, "{1}, {2}, 3, {4};"),
                             (3, "{1}, {2}, {3}, 65535;"), (0, "{1}, {2}, 6175, {4};")):
            match = shuffles[step]
            changed = text[:match.start()] + change.format(match[0], *match.groups()) + text[match.end():]
            assert reduction_is_wrong(changed), f"{match[0]} became {change}"
    assert reduction_is_wrong(planted(text, r"shfl\.sync\.bfly", "shfl.sync.up")), "another mode"
    assert reduction_is_wrong(planted(text, r"shfl\.sync\.down", "shfl.sync.up")), "another mode"
    for limit in re.finditer(r"setp\.\w+\.u32\s+%p\d+, %r\d+, (31|32);", text):
        changed = text[:limit.start(1)] + str(int(limit[1]) - 20) + text[limit.end(1):]
        assert reduction_is_wrong(changed), limit[0]


def properties(folder, _known):
    global KERNELS
    KERNELS = Kernels(folder)
    return [swapped_operands_are_seen, another_rounding_is_seen, a_lost_select_or_mask_is_seen,
            numbers_of_the_integer_path_count, a_tail_off_by_one_is_seen, a_wrong_reduction_is_seen]


if __name__ == "__main__":
    sys.exit(calls.run("planted faults are seen", properties))
