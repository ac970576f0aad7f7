#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Faults planted in the device headers are seen: with each of them, a test that runs kernels on the CPU fails. A test
of tests/cuda/simt/test_collectives.cpp, tests/cuda/simt/test_kernels_convert.cpp and tests/cuda/simt/test_kernels_reduce.cpp.

usage: tests/cuda/simt/test_simt_faults.py [full]

Without an argument a few faults are planted, with full the others.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "harness"))

import tap
import toolchain
from toolchain import INCLUDE, named, run
from tree import ROOT

# Three types and short programs: these builds only have to fail.
FLAGS = ["-std=c++17", "-O1"]
FEW_TYPES = "-DTEST_TYPES=float,mpnum_e4m3,mpnum_e3m2x4"
# The headers under test, the program that tests them, flags to build with.
LAUNCH = "detail/cuda/launch.cuh"
PROGRAMS = {
    "collectives": (["cuda/block.cuh", "cuda/device.cuh"], "test_collectives", []),
    "convert": (["cuda/convert.cuh", LAUNCH, "detail/cuda/convert_four.cuh"], "test_kernels_convert", [FEW_TYPES]),
    "reduce": (["cuda/reduce.cuh", LAUNCH], "test_kernels_reduce", [FEW_TYPES]),
}
SM_80 = "-DTEST_DEVICE_ARCH=800"
ALIGNED = "-fsanitize=alignment"  # where the processor takes any address

# What is wrong, who sees it, what to replace in the headers, by what, and flags to build with. The first match is
# replaced; (?s:.*?) skips what is before it.
QUICK_FAULTS = [
    ("no barrier before the read of the warps' words", "collectives", r"__syncthreads\(\);", ""),
    ("no barrier after the read of the warps' words", "collectives",
     r"(__syncthreads\(\);(?s:.*?))__syncthreads\(\);", r"\1"),
    ("a mask without the last lane", "collectives", r"(MPNUM_ALL_LANES_ )0xffffffffu", r"\g<1>0x7fffffffu"),
    ("a sum of floats that goes one way", "collectives", r"(?s)(mpnum_warp_sum_f32\(.*?)__shfl_xor_sync",
     r"\1__shfl_down_sync"),
    ("another reduction for the largest", "collectives", "__reduce_max_sync", "__reduce_min_sync", SM_80),
    ("words of warps that do not exist", "collectives", r"lane < warps \? scratch\[lane\] : identity", "scratch[lane]"),
    ("a largest value that drops NaN", "collectives", r"if \(mpnum_isnan_f32\(x\)\) return 0xffffffffu;", ""),
    ("a load of one element too many", "collectives", r"i < left\) values", "i <= left) values"),
    ("a load that takes any address", "collectives", r" && reinterpret_cast<size_t>\(src\) % alignof\(lanes\) == 0", "",
     ALIGNED),
    ("a store of one element too many", "collectives", r"i < left\) dst", "i <= left) dst"),
    ("a peel of the wrong length", "convert", r"before / bytes", "(before + bytes) / bytes"),
    ("a wave of blocks that never runs", "convert", r"if \(tiles < \*blocks\) \*blocks = tiles", "if (tiles > 1) *blocks = tiles - 1; else *blocks = tiles"),
    ("no barrier before codes are stored", "convert", r"(?s)(if \(tile::is_staged\).*?)__syncwarp\(\);", r"\1"),
    ("an array taken for aligned", "convert", r"mpnum_is_aligned_\(src [^)]*\)", "true", ALIGNED),
    ("one element too many reduced", "reduce", r"last < n\)", "last <= n)"),
    ("scratch that is not zero again", "reduce", r"atomicExch\(&scratch->blocks, 0u\);", ""),
    ("a block that counts itself twice", "reduce", r"atomicAdd\(&scratch->blocks, 1u\)", "atomicAdd(&scratch->blocks, 2u)"),
]
MORE_FAULTS = [
    ("a barrier in a branch", "collectives", r"(?=__syncthreads\(\);)", "if (lane < 16) "),
    ("a mask of lanes that do not come", "collectives", r"(mpnum_warp_sum_u32\(uint32_t value\) {)",
     r"\1 if (threadIdx.x % 32 == 31) return value;"),
    ("a sum of words that begins at half a warp", "collectives", r"(?s)(mpnum_warp_sum_u32.*?step = )16", r"\g<1>8"),
    ("a largest word that begins at half a warp", "collectives", r"(?s)(mpnum_warp_max_u32.*?step = )16", r"\g<1>8"),
    ("a sum of floats that ends early", "collectives", r"(?s)(mpnum_warp_sum_f32\(.*?step > )0", r"\g<1>1"),
    ("a sum of floats in another order", "collectives",
     r"(?s)(mpnum_warp_sum_f32\(.*?)step = 16; step > 0; step /= 2", r"\1step = 1; step < 32; step *= 2"),
    ("another reduction for sums", "collectives", "__reduce_add_sync", "__reduce_or_sync", SM_80),
    ("a word of one warp too many", "collectives", "lane < warps", "lane <= warps"),
    ("a word of one warp too few", "collectives", "lane < warps", "lane + 1 < warps"),
    ("all warps in one word", "collectives", r"scratch\[warp\] = word", "scratch[lane] = word"),
    ("a sum that loses -0", "collectives", "minus_zero = 0x80000000u", "minus_zero = 0"),
    ("negative values in the wrong order", "collectives", r"bits >> 31 \? ~bits : (bits \| 0x80000000u)", r"\1"),
    ("an amax that keeps a payload", "collectives", r"magnitude > 0x7f800000u \? 0x7fffffffu : magnitude", "magnitude"),
    ("an amax with a sign", "collectives", r"mpnum_bits_f32\(x\) & 0x7fffffffu", "mpnum_bits_f32(x)"),
    ("a sum whose NaN is not canonical", "collectives",
     r"return mpnum_isnan_f32\(value\) \? .*? : value;", "return value;"),
    ("all finite if one is", "collectives", "__syncthreads_and", "__syncthreads_or"),
    ("threads numbered by columns", "collectives", r"threadIdx\.y \+ blockDim\.y \* threadIdx\.z",
     "threadIdx.z + blockDim.z * threadIdx.y"),
    ("a load past the end", "collectives", r"left >= N && (?=reinterpret_cast<size_t>\(src\))", ""),
    ("a store past the end", "collectives", r"left >= N && (?=reinterpret_cast<size_t>\(dst\))", ""),
    ("a store that takes any address", "collectives", r" && reinterpret_cast<size_t>\(dst\) % alignof\(lanes\) == 0",
     "", ALIGNED),
    ("an atomic amax with a sign", "collectives", r"(amax\), )mpnum_bits_f32\(mpnum_amax\(0, x\)\)",
     r"\1mpnum_bits_f32(x)"),
    ("a tail chunk that is left out", "convert", r"n - i < tile::elements \? n : i \+ tile::elements", "i + tile::elements > n ? i : i + tile::elements"),
    ("codes past the end of a packed array", "convert", r"if \(i \+ j < n\) dst", "dst"),
    ("a second vector that is the first", "convert", r"in \+ \(first \+ 32 \* i\)", "in + first"),
    ("vectors of neighbours that overlap", "convert", r"src \+ lane \* \(", "src + (lane ^ 1) * ("),
    ("a grid that strides too far", "convert", r"step = gridDim\.x", "step = 2 * gridDim.x"),
    ("a random word for all elements", "convert", r"random_four_\(options\.seed, index\)", "random_four_(options.seed, 0)"),
    ("random words that begin elsewhere", "convert", r"index % 4 == 1 \? by_1", "index % 4 == 1 ? by_2"),
    ("words of another shift", "convert", r"8 \* bytes", "8 * (bytes ^ 1)"),
    ("no barrier after the codes are in shared memory", "convert",
     r"(?s)(stage\[32 \* i \+ lane\] = loaded\[i\];\s*)__syncwarp\(\);", r"\1"),
    ("a barrier of some lanes", "convert", r"__syncwarp\(\);", "if (lane > 3) __syncwarp();"),
    ("a head that is not converted", "convert", r"if \(first == 0\) mpnum_convert_rest_", "if (false) mpnum_convert_rest_"),
    ("a launch without blocks", "convert", r"if \(n == 0\) return cudaSuccess;", ""),
    ("a reduction without its head", "reduce", r"if \(threadIdx\.x < head\)", "if (false)"),
    ("a reduction without the rest of its vectors", "reduce", r"v < count && i < whole", "v < 1 && i < whole"),
    ("a reduction of whole tiles too many", "reduce", r"\(count - 1\) \* blockDim\.x < whole", "0 * blockDim.x < whole", ALIGNED),
    ("finite if one is not", "reduce", "!__syncthreads_and", "__syncthreads_and"),
    ("fields that carry into each other", "reduce", r"high = ones << \(bits - 1\)", "high = ones << (bits - 2)"),
    ("a limit of another code", "reduce", r"\(f\.max_code \+ 1\)", "(f.max_code + 2)"),
    ("the half of a word that is forgotten", "reduce", r"lowest = larger_\(lowest, x << 16\)", "lowest = 0",
     "-DTEST_TYPES=float,mpnum_f16"),
    ("subnormals that are zeros", "reduce", r"lows - zeros", "lows"),
    ("the largest for the smallest", "reduce", r"smallest = smaller_\(smallest, x\)", "smallest = larger_(smallest, x)"),
    ("vectors that are not looked at again", "reduce", r"if \(!is_special\) return;", "return;"),
    ("counts of every block but the last", "reduce", r"!= gridDim\.x - 1", "== gridDim.x - 1"),
    ("a reduction that begins with what was there", "reduce", r"(?s)(mpnum_reduce_nothing_kernel_.*?)\*result = ", r"\1(void)*result, (void)"),
]


def cpp_compiler():
    for command in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        if command and shutil.which(shlex.split(command)[0]):
            return shlex.split(command)
    raise tap.Skip("no C++ compiler")


def first_failure(program):
    """The first property that fails, which ends the program; None if none does."""
    process = subprocess.Popen([program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               text=True, errors="replace")
    for line in process.stdout:
        if line.startswith("not ok"):
            process.kill()
            process.wait()
            return line.strip()
    status = process.wait()
    return f"exit status {status}" if status else None


def failure_with(who, change, *flags):
    """What fails with the text of a header changed."""
    if not sys.platform.startswith("linux"):
        raise tap.Skip("kernels run on the CPU of Linux only")
    headers, source, program_flags = PROGRAMS[who]
    with tempfile.TemporaryDirectory() as folder:
        include = Path(folder) / "include"
        shutil.copytree(INCLUDE, include)
        change([include / "mpnum" / header for header in headers])
        program = Path(folder) / "program"
        done = run(*cpp_compiler(), *FLAGS, *program_flags, *flags, "-I", include,
                   ROOT / "tests/cuda/simt" / f"{source}.cpp", "-o", program)
        assert done.returncode == 0, done.stdout[:4000]
        return first_failure(program)


def fault_is_seen(who, pattern, replacement, *flags):
    def plant(paths):
        for path in paths:
            text = path.read_text()
            changed = re.sub(pattern, replacement, text, count=1)
            if changed != text:
                return path.write_text(changed)
        raise AssertionError(f"nothing to change: {pattern}")
    assert failure_with(who, plant, "-fno-sanitize-recover=all", *flags), f"{PROGRAMS[who][1]} does not see it"


def tests_pass_without_a_fault(who, *flags):
    failed = failure_with(who, lambda paths: None, *flags)
    assert not failed, failed


def seen(faults):
    for what, who, *fault in faults:
        yield named(f"{PROGRAMS[who][0]} with {what} fails", fault_is_seen, who, *fault)


def quick_properties():
    for who, (_, program, _) in PROGRAMS.items():
        yield named(f"{program} passes without a fault", tests_pass_without_a_fault, who)
    yield from seen(QUICK_FAULTS)


def full_properties():
    yield named("test_collectives passes without a fault on sm_80", tests_pass_without_a_fault, "collectives", SM_80)
    yield from seen(MORE_FAULTS)


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["full"]):
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(2)
    sys.exit(toolchain.run_on_all_cores(list(full_properties() if sys.argv[1:] else quick_properties())))
