#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernels of mpnum/cuda run in the PTX interpreter of tests/cuda/ptx as nvcc compiles them: reductions of warps and blocks,
conversions of arrays with any tail and alignment, reductions of arrays, blocks of MX by row and of the transposed matrix. No thread reads or writes past an end, reads
what nothing has written, or races with another.
"""

import random
import struct
import sys
import tempfile
from array import array
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[2] / room) for room in ["harness", "cuda"]]

import tap
import toolchain
from ptx import arithmetic, calls
from ptx.machine import Machine
from ptx.values import FORMATS

ARCHS = ["75", "90", "120a"]
SOURCE = """\
#include <mpnum/kernels.cuh>

/* Every thread takes its word as an integer and as a float. */
extern "C" __global__ void collectives(const uint32_t *in, uint32_t *out) {
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  const unsigned i = mpnum_thread_index_();
  const uint32_t word = in[i];
  const float x = mpnum_from_bits_f32(word);
  out += 12 * i;
  out[0] = mpnum_warp_sum_u32_(word);
  out[1] = mpnum_warp_max_u32_(word);
  out[2] = mpnum_bits_f32(mpnum_warp_sum_f32(x));
  out[3] = mpnum_bits_f32(mpnum_warp_max_f32(x));
  out[4] = mpnum_bits_f32(mpnum_warp_amax_f32(x));
  out[5] = mpnum_warp_all_finite_f32(x);
  out[6] = mpnum_block_sum_u32_(word, scratch);
  out[7] = mpnum_block_max_u32_(word, scratch);
  out[8] = mpnum_bits_f32(mpnum_block_sum_f32(x, scratch));
  out[9] = mpnum_bits_f32(mpnum_block_max_f32(x, scratch));
  out[10] = mpnum_bits_f32(mpnum_block_amax_f32(x, scratch));
  out[11] = mpnum_block_all_finite_f32(x);
}

template <class T> struct use {
  static void reductions() {
    (void)mpnum_launch_amax((float *)0, (const T *)0, 1, 0);
    (void)mpnum_launch_all_finite((int *)0, (const T *)0, 1, 0);
    (void)mpnum_launch_stats((mpnum_stats *)0, (const T *)0, 1, 0);
  }
};
void instantiate() {
  use<float>::reductions();
  use<mpnum_f16>::reductions();
  use<mpnum_e4m3>::reductions();
  (void)mpnum_launch_convert((mpnum_e4m3 *)0, (const float *)0, 1, 0);
  (void)mpnum_launch_convert((float *)0, (const mpnum_e4m3 *)0, 1, 0);
  (void)mpnum_launch_convert_sat((mpnum_e2m1x2 *)0, (const float *)0, 1, 0);
  (void)mpnum_launch_convert_round((mpnum_bf16 *)0, (const float *)0, 1, MPNUM_ROUND_STOCHASTIC,
                                   MPNUM_OVERFLOW_IEEE, 0, 0, 0);
}
"""
# Alone, for one target: the others need not compile it.
BLOCKS = """\
#include <mpnum/kernels.cuh>
void instantiate() {
  (void)mpnum_launch_quantize_mx<mpnum_e4m3>((const mpnum_blockscaled *)0, (const mpnum_blockscaled *)0, mpnum::matrix_of((const float *)0, 1, 1), MPNUM_BLOCKSCALE_FLOOR, 1, 0);
}
"""
BLOCKS_ARCH = "90"
INFINITY, NAN, CANONICAL = 0x7f800000, 0xffa00001, 0x7fffffff
ROUND_STOCHASTIC = 6
add = arithmetic.operation("add", "f32")
largest = arithmetic.extreme("max", "f32", nan=True)


class Kernels:
    def __init__(self, folder):
        self.folder = folder
        api = toolchain.load_api().Api()
        wanted = ("mpnum_f32_to_e4m3", "mpnum_f32_to_e4m3_sat", "mpnum_e4m3_to_f32", "mpnum_f32_to_e2m1_sat", "mpnum_f32_to_bf16_sr")
        self.calls = {call.name: call for call in calls.conversions(api) if call.name in wanted}
        self.calls["random"] = calls.Call("random", "mpnum_random", ["uint64_t", "uint64_t"], "uint32_t", 4, 1,
                                          "*out = mpnum_random(in[0], in[1]);")
        self.host = calls.Host(calls.source(api, self.calls.values()), folder)
        self.texts = {}

    def machine(self, arch):
        if arch not in self.texts:
            self.texts[arch] = calls.compile_ptx(SOURCE, self.folder, arch)
        return Machine(self.texts[arch])

    def on_host(self, name, records):
        """What a function of one number gives for each record, as numbers."""
        call = self.calls[name]
        words = [word for record in records for word in (record if isinstance(record, tuple) else (record,))]
        data = self.host.run(call, array("Q", words))
        return [int.from_bytes(data[place:place + call.size], "little") for place in range(0, len(data), call.size)]


KERNELS = None


def entry(machine, *parts):
    """The one kernel whose mangled name has all the parts."""
    found = [name for name in machine.module.functions if all(part in name for part in parts)]
    assert len(found) == 1, (parts, found, list(machine.module.functions))
    return found[0]


def sum_of_warp(lanes):
    for apart in (16, 8, 4, 2, 1):
        lanes = [add(lanes[lane], lanes[lane ^ apart]) for lane in range(32)]
    return lanes[0]


def is_finite(bits):
    return bits & 0x7fffffff < INFINITY


def summary(words, warps):
    """The six results for all lanes of a warp, or, over several warps, for all threads of a block."""
    sums = [sum_of_warp(warp) for warp in warps]
    total = sums[0] if len(warps) == 1 else sum_of_warp(sums + [0x80000000] * (32 - len(sums)))
    return [sum(words) & 0xffffffff, max(words), total, largest(*words),
            largest(*[word & 0x7fffffff for word in words]), int(all(map(is_finite, words)))]


def collectives_agree(arch):
    generator = random.Random(arch)
    finite = [generator.getrandbits(32) & 0xbfffffff | 0x20000000 for _ in range(1024)]
    cases = {"finite": finite, "negative": [word | 0x80000000 for word in finite],
             "zeros": [generator.choice((0, 0x80000000)) for _ in finite],
             "infinite": [*finite[:40], INFINITY, *finite[41:]],
             "opposite": [INFINITY, *finite[1:9], INFINITY | 1 << 31, *finite[10:]],
             "NaN": [*finite[:33], NAN, *finite[34:]]}
    for shape in (32, 96, (8, 4, 4), 1024):
        threads = shape if isinstance(shape, int) else shape[0] * shape[1] * shape[2]
        for title, words in cases.items():
            if threads == 1024 and title not in ("finite", "NaN"):
                continue
            words = words[:threads]
            warps = [words[place:place + 32] for place in range(0, threads, 32)]
            block = summary(words, warps if len(warps) > 1 else [words])
            if len(warps) == 1:
                block[2] = sum_of_warp([block[2]] + [0x80000000] * 31)
            expected = [number for warp in warps for _ in warp for number in summary(warp, [warp]) + block]
            machine = KERNELS.machine(arch)
            source = machine.allocate(struct.pack(f"<{threads}I", *words))
            target = machine.allocate(48 * threads)
            machine.launch("collectives", 1, shape, [source.address, target.address],
                           order="reverse" if title == "finite" else "forward")
            got = list(struct.unpack(f"<{12 * threads}I", target.data))
            wrong = [(place // 12, place % 12, f"{got[place]:#x}", f"{expected[place]:#x}")
                     for place in range(12 * threads) if got[place] != expected[place]]
            assert not wrong, f"{title}, {shape}: thread, result, got, expected: {wrong[:4]}"


def numbers(count):
    generator = random.Random(count)
    special = [0, 0x80000000, 1, INFINITY, NAN, 0x43e80000, 0x43e80001, 0x7f7fffff]
    return [generator.choice(special) if generator.random() < 0.1 else
            struct.unpack("<I", struct.pack("<f", generator.gauss(0, 8)))[0] for _ in range(count)]


def converted(arch, parts, source, size, count, shifts, grid, how):
    """The size bytes that a conversion of an array writes; the arrays begin some bytes after an aligned address."""
    machine = KERNELS.machine(arch)
    before, after = shifts
    source = machine.allocate(bytes(before) + source)
    target = machine.allocate(after + size)
    machine.launch(entry(machine, "convert_kernel", *parts), grid, 32,
                   [target.address + after, source.address + before, count, how])
    assert target.undefined == b"\1" * after + bytes(size), "written: not what should be"
    return bytes(target.data[after:])


def arrays_convert(arch):
    plain = struct.pack("<IIQQ", 0, 0, 0, 0)
    for count, every in ((1, True), (17, True), (600, True), *([(2600, False)] if arch == "90" else [])):
        words = numbers(count)
        floats = struct.pack(f"<{count}I", *words)
        codes = KERNELS.on_host("mpnum_f32_to_e4m3", words)
        for shifts, grid in (((0, 0), 1), ((4, 0), 2), ((0, 1), 3), ((12, 3), 1), ((4, 2), 1))[:None if every else 2]:
            got = converted(arch, ["cast_plain", "e4m3fEES"], floats, count, count, shifts, grid, plain)
            assert got == bytes(codes), (count, shifts, grid)
        values = struct.pack(f"<{count}I", *KERNELS.on_host("mpnum_e4m3_to_f32", codes))
        for shifts, grid in (((0, 0), 1), ((1, 0), 1), ((3, 4), 2))[:None if every else 1]:
            got = converted(arch, ["cast_plain", "If10mpnum_e4m3"], bytes(codes), 4 * count, count, shifts, grid, plain)
            assert got == values, (count, shifts, grid)
        got = converted(arch, ["cast_sat", "e2m1x2"], floats, (count + 1) // 2, count, (0, 0), 2, plain)
        nibbles = KERNELS.on_host("mpnum_f32_to_e2m1_sat", words) + [0]
        assert got == bytes(nibbles[place] | nibbles[place + 1] << 4 for place in range(0, count, 2)), count
        for offset, shifts in ((4, (0, 0)), (5, (4, 0))):
            how = struct.pack("<IIQQ", ROUND_STOCHASTIC, 0, 77, offset)
            got = converted(arch, ["cast_rounded", "bf16", "rounding6"], floats, 2 * count, count, shifts, 2, how)
            random_words = KERNELS.on_host("random", [(77, offset + place) for place in range(count)])
            codes16 = KERNELS.on_host("mpnum_f32_to_bf16_sr", list(zip(words, random_words)))
            assert got == struct.pack(f"<{count}H", *codes16), (count, offset)


def found_in(codes, kind):
    """What the reductions give: all_finite, amax, and the fields of mpnum_stats."""
    format = FORMATS[kind]
    wide = [FORMATS["f32"].encode(format.decode(code)) for code in codes]
    magnitudes = [word & 0x7fffffff for word in wide]
    finite = [word for word in magnitudes if word < INFINITY]
    bits, least = {"f32": (32, 1 << 23), "f16": (16, 1 << 10), "e4m3": (8, 1 << 3)}[kind]
    small = [code & (1 << (bits - 1)) - 1 for code in codes]
    stats = [len(codes), small.count(0), sum(0 < code < least for code in small), magnitudes.count(INFINITY),
             sum(word > INFINITY for word in magnitudes)]
    extremes = [max(finite, default=0), min((word for word in finite if word), default=INFINITY)]
    return int(len(finite) == len(codes)), largest(0, *magnitudes), struct.pack("<5Q2I", *stats, *extremes)


def arrays_reduce(arch):
    """Without scratch into the result of no elements, and with scratch, which becomes zero again."""
    narrow = {"f16": FORMATS["f16"], "e4m3": FORMATS["e4m3"]}
    for kind, mangled, size in (("f32", "_IfE", 4), ("f16", "mpnum_f16", 2), ("e4m3", "mpnum_e4m3", 1)):
        for count in (0, 1, 100, 2900 // size):
            for special in ((), (INFINITY, 0, 1), (NAN, 0x80000000)):
                words = ([word for word in numbers(count) if is_finite(word)] + list(special))[:count]
                codes = words if kind == "f32" else [narrow[kind].encode(FORMATS["f32"].decode(word)) for word in words]
                content = b"".join(code.to_bytes(size, "little") for code in codes)
                machine = KERNELS.machine(arch)
                source = machine.allocate(bytes(size) + content)
                all_finite, amax, stats = found_in(codes, kind)
                for name, empty, expected in (
                        ("amax", struct.pack("<I", 0), struct.pack("<I", amax)),
                        ("finite", struct.pack("<I", 1), struct.pack("<I", all_finite)),
                        ("stats", struct.pack("<5Q2I", len(codes), 0, 0, 0, 0, 0, INFINITY), stats)):
                    scratch = machine.allocate(bytes(48))
                    for given in (0, scratch.address):
                        target = machine.allocate(b"\xb5" * len(empty) if given else empty)
                        machine.launch(entry(machine, "reduce_kernel", f"reduce_{name}_", mangled), 2, 64,
                                       [target.address, source.address + size, len(codes), given])
                        assert target.data == expected, (
                            f"{name} of {count} {kind}: {target.data.hex()}, not {expected.hex()}")
                    assert not any(scratch.data), f"scratch of {name}"


def side_of(codes, scales, pitch, step, across, *flags):
    return struct.pack("<7Qiii4x", codes, scales, pitch, step, across, 0, 0, *flags)


def job_of(rows, columns, shape, what, shift):
    """mpnum_quantize_job_ of e4m3 with FLOOR: e8m0 from the exponent of an amax, 8 less."""
    rule = struct.pack("<11I4x", 0, 0, 0, 0, 8, 0x3f800000, 0, 0, 0, 0, 0xff)
    return rows + columns + struct.pack("<4Q", *shape) + rule + struct.pack("<QQQiIII", 0, 0, 0, what, shift, 0, 0)


def floor_blocks(words):
    """A line of codes and its scales, as OCP MX 1.0 has it, the codes by the scalar conversion."""
    scales, scaled = [], []
    for first in range(0, len(words), 32):
        block = words[first:first + 32]
        amax = max(word & 0x7fffffff for word in block)
        scale = 0xff if amax >= INFINITY else max((amax >> 23) - 8, 0)
        scales.append(scale)
        for word in block:
            x = struct.unpack("<f", struct.pack("<I", word))[0]
            scaled.append(NAN if scale == 0xff else 0 if amax == 0 else
                          struct.unpack("<I", struct.pack("<f", x * 2.0**(127 - scale)))[0])
    return KERNELS.on_host("mpnum_f32_to_e4m3_sat", scaled), scales


def blocks_quantise(arch):
    text = calls.compile_ptx(BLOCKS, KERNELS.folder, arch)
    for height, width, ld in ((3, 70, 72), (66, 33, 33)):
        words = numbers(height * ld)
        words[:width] = [word & 0x80000000 for word in words[:width]]
        lines = [words[row * ld:row * ld + width] for row in range(height)]
        turned = [list(line) for line in zip(*lines)]
        for kernel in ("rows_kernel", "tile_kernel"):
            machine = Machine(text)
            source = machine.allocate(struct.pack(f"<{len(words)}I", *words))
            across, down = (width + 31) // 32, (height + 31) // 32
            memory = [machine.allocate(size) for size in (height * width, height * across, width * height, width * down)]
            # Tiles of 64 vectors in each of 16 rows, or of 64 rows of 64 elements. A thread goes on 4 rows below.
            job = job_of(side_of(memory[0].address, memory[1].address, width, 4 * width, across, 0, 0, 0),
                         side_of(memory[2].address, memory[3].address, height, 0, down, 0, 1, 0),
                         (height, width, ld, 4 * ld), 1 if kernel == "rows_kernel" else 7, 6)
            grid = (1, (height + 15) // 16) if kernel == "rows_kernel" else ((width + 63) // 64, (height + 63) // 64)
            machine.launch(entry(machine, kernel), grid, 256, [source.address, job])
            for side, expected in ((0, lines), (2, turned)):
                if kernel == "rows_kernel" and side == 2:
                    continue
                made = [floor_blocks(line) for line in expected]
                for place, name in ((0, "codes"), (1, "scales")):
                    want = bytes(number for line in made for number in line[place])
                    assert bytes(memory[side + place].data) == want, f"{name} {side} of {height} x {width}, {kernel}"


def main():
    global KERNELS
    titles = {"sm_{}: reductions of warps and blocks": collectives_agree, "sm_{}: arrays convert": arrays_convert,
              "sm_{}: arrays reduce": arrays_reduce}
    with tempfile.TemporaryDirectory() as folder:
        try:
            known = calls.archs_of_nvcc()
        except tap.Skip as reason:
            return tap.run(toolchain.named("kernels run in the PTX interpreter", skip, str(reason)))
        KERNELS = Kernels(Path(folder))
        return tap.run(*[
            toolchain.named(title.format(arch), test, arch) if arch.rstrip("af") in known else
            toolchain.named(title.format(arch), skip, f"this nvcc does not compile for sm_{arch}")
            for arch, title, test in [*((arch, title, test) for arch in ARCHS for title, test in titles.items()),
                                      (BLOCKS_ARCH, "sm_{}: blocks quantise", blocks_quantise)]])


def skip(reason):
    raise tap.Skip(reason)


if __name__ == "__main__":
    sys.exit(main())
