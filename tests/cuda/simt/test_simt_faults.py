#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Faults planted in the device headers are seen: with each of them, a test that runs kernels on the CPU fails. A test
of the programs in tests/cuda/simt that PROGRAMS names.

usage: tests/cuda/simt/test_simt_faults.py [full]

Without an argument a few faults are planted, with full the others.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "harness"))

import tap
import toolchain
from toolchain import INCLUDE, cpp_compiler, named, run
from tree import ROOT

# Three types and short programs: these builds only have to fail.
FLAGS = ["-std=c++17", "-O1"]
FEW_TYPES = "-DTEST_TYPES=float,mpnum_e4m3,mpnum_e3m2x4"
# The headers under test, the program that tests them, flags to build with.
LAUNCH, QUANTIZE, VECTORS = "cuda/detail/launch.cuh", "cuda/detail/quantize.cuh", "cuda/detail/vectors.cuh"
GRAD_PASS = "training/detail/grad_pass.cuh"
SOME = ["-DTEST_TYPES=float", "-O0"]
PROGRAMS = {
    "collectives": (["cuda/block.cuh", "cuda/device.cuh"], "test_collectives", []),
    "convert": (["array/convert.cuh", LAUNCH, VECTORS, "cuda/detail/convert_four.cuh"], "test_kernels_convert",
                [FEW_TYPES]),
    "reduce": (["array/reduce.cuh", LAUNCH], "test_kernels_reduce", [FEW_TYPES]),
    "quantize": (["array/quantize.cuh", "cuda/block.cuh", QUANTIZE], "test_kernels_quantize", SOME),
    "blocks": (["blocks/quantize_blocks.cuh", "blocks/detail/quantize_tiles.cuh", "blocks/detail/dequantize_blocks.cuh", QUANTIZE], "test_kernels_quantize_blocks", SOME),
    "rows": (["rows/detail/row_tiles.cuh", "rows/detail/row_staged.cuh", "rows/detail/row_held.cuh", "rows/rows.cuh", "rows/loss_rows.cuh"], "test_kernels_rows", ["-DTEST_TYPES"]),
    "norm": (["rows/norm_rows.cuh", "rows/norm_backward_rows.cuh", "rows/detail/row_tiles.cuh", "rows/detail/held_rows.cuh"],
             "test_kernels_norm", ["-DTEST_TYPES"]),
    "activation": (["rows/activation_rows.cuh", "rows/detail/activation_tiles.cuh", QUANTIZE], "test_kernels_activation",
                   ["-DTEST_TYPES"]),
    "grad": ([GRAD_PASS, "training/grad.cuh", "training/grad_list.cuh", LAUNCH], "test_kernels_grad", [FEW_TYPES]),
    "optimizer": (["training/detail/optimizer_pass.cuh"], "test_kernels_optimizer", ["-O0"]),
    "graph": (["training/grad.cuh"], "test_grad_graph", [FEW_TYPES]),
    "health": (["training/health.cuh"], "test_kernels_reduce", [FEW_TYPES]),
}
ATOMIC_SUM = """
    __shared__ float sum_of_team[MPNUM_GRAD_TEAMS_];
    sum_of_team[team] = 0;
    __syncwarp(mask);
    atomicAdd(sum_of_team + team, static_cast<float>(seen.sums[0] + seen.sums[1] + seen.sums[2] + seen.sums[3]));
    __syncwarp(mask);
    const_cast<double &>(sum) = sum_of_team[team];"""
# Codes by the scale of a block before that is rounded to what is stored.
UNROUNDED = """
  if (Blocks::family == TWO_LEVEL_FAMILY_ && amax != 0)
    scale.factor = 6.0f / mpnum_f32_of_scalar_(amax);"""
SM_80, WIDE = "-DTEST_DEVICE_ARCH=800", "-DMPNUM_ACCESS_BYTES_=32"  # as on sm_100
WEAK = "-DSIMT_WEAK_MEMORY"  # what blocks leave for others needs a fence
ALIGNED = "-fsanitize=alignment"  # where the processor takes any address

# What is wrong, who sees it, what to replace in the headers, by what, and flags to build with. The first match is
# replaced; (?s:.*?) skips what is before it.
# One of each kind that kernels like these are known for.
QUICK_FAULTS = [
    ("a dropped barrier in a kernel of rows", "rows", r"(scratch\[1\] = .*\n  }\n)  __syncthreads\(\);", r"\1"),
    ("a swizzle off by one tile", "blocks", r"mpnum_scale_place\(r, c, side\.across\)",
     "mpnum_scale_place(r, c, side.across + 4)"),
    ("a scale stored after rounding the codes", "blocks", r"(scale\.code = is_number \? scale\.code : rule\.nan_code;)",
     r"\1" + UNROUNDED),
    ("an unordered float atomic", "grad", r"(?=\n *if \(lane == 0\)\n? *mpnum_grad_add_square_)",
     ATOMIC_SUM),
    ("a tail chunk counted twice", "grad", r"i \+= 64;", "i += 32;"),
    ("a lost last tensor", "grad", r"number < end;",
     "number < end && number < list.tiles_before[list.count - (list.count > 1)];"),
    ("a peel of the wrong length", "convert", r"before / bytes", "(before + bytes) / bytes"),
    ("no fence before a block counts itself", "reduce", r"__threadfence\(\);", "", WEAK),
    ("a wave of blocks that never runs", "convert", r"if \(tiles < \*blocks\) \*blocks = tiles",
     "if (tiles > 1) *blocks = tiles - 1; else *blocks = tiles"),
]
MORE_FAULTS = [
    ("no barrier before the read of the warps' words", "collectives", r"__syncthreads\(\);", ""),
    ("a mask without the last lane", "collectives", r"(MPNUM_ALL_LANES_ )0xffffffffu", r"\g<1>0x7fffffffu"),
    ("a load of one element too many", "collectives", r"i < left\) values", "i <= left) values"),
    ("an array taken for aligned", "convert", r"mpnum_is_aligned_\(src [^)]*\)", "true", ALIGNED),
    ("no fence before a block of gradients counts itself", "grad", r"__threadfence\(\);", "", WEAK),
    ("a block that counts itself twice", "reduce", r"number\) << 32 \| 1u", "number) << 32 | 2u"),
    ("no barrier before the codes of a transpose are read", "quantize",
     r"(?s)(mpnum_put_turned_<8.*?)__syncthreads\(\);", r"\1"),
    ("a lost last element", "rows", r"\? count : first \+ row_tile_", "? (count & ~1u) : first + row_tile_"),
    ("no wait for the copies of a row", "rows", r"__pipeline_wait_prior\(0\);", ";"),
    ("no barrier behind the wait for copies", "rows", r"(mpnum_copies_wait_\(\);\n\s*)__syncwarp\(\);", r"\1"),
    ("one stage in place of two by turns", "rows", r"first / piece % 2", "0"),
    ("sums of tiles that are not cleared", "norm",
     r"scratch->totals\[place\.warp\] = mpnum_exact_sum_empty\(\);", ";"),
    ("no barrier before the sums of teams are read", "norm", r"(?s)(held_share_\(.*?)held_meet_\(\);", r"\1"),
    ("no barrier after the sums of teams are read", "norm", r"(?s)(held_total_\(.*?)held_meet_\(\);", r"\1"),
    ("tiles far apart that are added as others", "norm", r"if \(!\(lost == 0\)\) is_found = false;", ""),
    ("a pass too few over tiles far apart", "norm", r"pass = 1; pass < count", "pass = 2; pass < count - 1"),
    ("a vector of a row in registers that is left out", "norm", r"k \* row_lanes_ < place\.left", "k * row_lanes_ + 64 < place.left"),
    ("a largest magnitude that is infinite", "norm", r"finite_ = 0x01000000u", "finite_ = 0"),
    ("a peel to 16 bytes where accesses are of 32", "convert",
     r"(0 - reinterpret_cast<size_t>\(address\)\) %\s*)sizeof\(mpnum_access_\)", r"\g<1>16", WIDE, ALIGNED),
    ("a list without its last tile", "grad", r"number < end;", "number + (end == list.tiles) < end;"),
    ("no barrier after the read of the warps' words", "collectives",
     r"(__syncthreads\(\);(?s:.*?))__syncthreads\(\);", r"\1"),
    ("a sum of floats that goes one way", "collectives", r"(?s)(mpnum_warp_sum_f32\(.*?)__shfl_xor_sync",
     r"\1__shfl_down_sync"),
    ("another reduction for the largest", "collectives", "__reduce_max_sync", "__reduce_min_sync", SM_80),
    ("words of warps that do not exist", "collectives", r"lane < warps \? scratch\[lane\] : identity", "scratch[lane]"),
    ("a largest value that drops NaN", "collectives", r"if \(mpnum_isnan_f32\(x\)\) return 0xffffffffu;", ""),
    ("a load that takes any address", "collectives", r" && reinterpret_cast<size_t>\(src\) % alignof\(lanes\) == 0", "",
     ALIGNED),
    ("a store of one element too many", "collectives", r"i < left\) dst", "i <= left) dst"),
    ("no barrier before codes are stored", "convert", r"(?s)(if \(tile::is_staged\).*?)__syncwarp\(\);", r"\1"),
    ("one element too many reduced", "reduce", r"last < n\)", "last <= n)"),
    ("scratch that is not zero again", "reduce", r"meeting\.rest\(\);", ""),
    ("a tail of an array that ends early", "quantize",
     r"n - i < Array::tile \? n : i", "n - i < Array::tile ? n - 1 : i"),
    ("a state that is not rescaled", "collectives", r"mpnum_rescaled_\(state\.sum, state\.max, max, scale\)", "state.sum"),
    ("no barrier before the sums of a block are added", "grad",
     r"(?s)(mpnum_grad_end_\(mpnum_grad_shared_.*?)__syncthreads\(\);", r"\1"),
    ("a barrier in a branch", "collectives", r"(?=__syncthreads\(\);)", "if (lane < 16) "),
    ("a mask of lanes that do not come", "collectives", r"(mpnum_warp_sum_u32_\(uint32_t value\) {)",
     r"\1 if (threadIdx.x % 32 == 31) return value;"),
    ("a sum of words that begins at half a warp", "collectives", r"(?s)(mpnum_warp_sum_u32_.*?step = )16", r"\g<1>8"),
    ("a largest word that begins at half a warp", "collectives", r"(?s)(mpnum_warp_max_u32_.*?step = )16", r"\g<1>8"),
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
    ("a second vector that is the first", "convert", r"\(src \+ i \* step\)", "(src)"),
    ("vectors of neighbours that overlap", "convert", r"src \+ lane \* apart", "src + (lane ^ 1) * apart"),
    ("a grid that strides too far", "convert", r"step = gridDim\.x", "step = 2 * gridDim.x"),
    ("a reduction that strides too far", "reduce", r"step = static_cast<size_t>\(gridDim\.x\)", "step = 2 * static_cast<size_t>(gridDim.x)"),
    ("codes that stride too far", "quantize",
     r"(?s)(mpnum_run_tiles_\(.*?)step = gridDim\.x", r"\1step = 2 * gridDim.x"),
    ("codes that stride one too far", "quantize",
     r"(?s)(mpnum_run_tiles_\(.*?)step = gridDim\.x", r"\1step = (gridDim.x + 1)"),
    ("gradients that stride too far", "grad", r"number < end; \+\+number", "number < end; number += 2"),
    ("steps of an optimizer that stride too far", "optimizer", r"tile \+= gridDim\.x", "tile += 2 * gridDim.x"),
    ("a random word for all elements", "convert",
     r"random_four_\(options\.keys, index\)", "random_four_(options.keys, 0)"),
    ("random words that begin elsewhere", "convert", r"index % 4 == 1 \? by_1", "index % 4 == 1 ? by_2"),
    ("words of another shift", "convert", r"8 \* bytes", "8 * (bytes ^ 1)"),
    ("no barrier after the codes are in shared memory", "convert",
     r"(?s)(stage\[32 \* i \+ lane\] = loaded\[i\];\s*)__syncwarp\(\);", r"\1"),
    ("a barrier of some lanes", "convert", r"__syncwarp\(\);", "if (lane > 3) __syncwarp();"),
    ("a head that is not converted", "convert", r"if \(first == 0\) mpnum_convert_rest_", "if (false) mpnum_convert_rest_"),
    ("a launch without blocks", "convert", r"if \(n == 0\) return cudaSuccess;", ""),
    ("a reduction without its head", "reduce", r"if \(threadIdx\.x < head\)", "if (false)"),
    ("a reduction without the rest of its vectors", "reduce", r"v < count(; \+\+v\) {\n *const size_t at)", r"v < 1\1"),
    ("a reduction of whole tiles too many", "reduce", r"i \+ mpnum_vector_place_\(count - 1, blockDim\.x\) < whole",
     "i < whole", ALIGNED),
    ("finite if one is not", "reduce", "!__syncthreads_and", "__syncthreads_and"),
    ("fields that carry into each other", "reduce", r"high = ones << \(bits - 1\)", "high = ones << (bits - 2)"),
    ("a limit of another code", "reduce", r"\(f\.max_code \+ 1\)", "(f.max_code + 2)"),
    ("the half of a word that is forgotten", "reduce", r"lowest = larger_\(lowest, x << 16\)", "lowest = 0",
     "-DTEST_TYPES=float,mpnum_f16"),
    ("subnormals that are zeros", "reduce", r"lows - zeros", "lows"),
    ("the largest for the smallest", "reduce", r"smallest = smaller_\(smallest, x\)", "smallest = larger_(smallest, x)"),
    ("vectors that are not looked at again", "reduce", r"if \(!is_special\) return;", "return;"),
    ("counts of every block but the last", "reduce", r"blocks < gridDim\.x - 1", "blocks == gridDim.x - 1"),
    ("a reduction that begins with what was there", "reduce", r"(?s)(mpnum_reduce_nothing_kernel_.*?)\*result = ", r"\1(void)*result, (void)"),
    ("no barrier before scratch is used again", "quantize", r"(place, scratch\);\s*)__syncthreads\(\);", r"\1"),
    ("no barrier between a scale and its readers", "quantize", r"(?s)(mpnum_scale_inv\(shared\);\s*\}\s*)__syncthreads\(\);",
     r"\1"),
    ("an amax of a vector alone", "quantize", r"most = magnitudes::larger\(most, words\[i\]\)", "most = magnitudes::larger(0, words[i])"),
    ("a peel of the wrong length", "quantize", r"(before = mpnum_bytes_before_vectors_\(dst\)) % array::lanes", r"\1"
     " % array::lanes / 2", ALIGNED),
    ("a head that is left", "quantize", r"if \(blockIdx\.x == 0\) own\.rest\(0, head\);", ""),
    ("scales of the other half of the lanes", "blocks", r"is_upper \? words\[i \+ half\] : words\[i\]", "is_upper ? words[i] : words[i + half]"),
    ("a factor of another block", "blocks", r"int>\(i / kept \* holders\)", "int>((i / kept + 1) * holders)"),
    ("a scale that is none", "quantize", r"const float factor = mpnum::scale_or_nan_\(scale\.get\(\)\)",
     "const float factor = scale.get()"),
    ("a history that takes NaN", "quantize", r"is_pushed = word - 1 < 0x7f7fffffu", "is_pushed = word != 0"),
    ("a history without its last tensor", "quantize", r"if \(i >= count\) return;", "if (i + 1 >= count) return;"),
    ("a ring without the new amax", "quantize", r"k == place \? word : ", ""),
    ("a launcher that reads memory of the device", "quantize", r"if \(count == 0\) return cudaSuccess;(?=\n  return mpnum_launch_\(mpnum_scale_update)",
     "if (count == 0 || amax[0] < -1) return cudaSuccess;"),
    ("an amax that stays", "quantize", r"amaxes\[i\] = mpnum_f32_of_scalar_\(0\);", ""),
    ("a tile with rows of another", "quantize", r"at \+ v \* src_stride, job", "at + v / 2 * src_stride, job"),
    ("blocks of half the lanes", "quantize", r"mpnum_lanes_max_<Blocks::edge / N>", "mpnum_lanes_max_<Blocks::edge / N / 2>"),
    ("a matrix that is taken for aligned", "blocks", r"\(reinterpret_cast<size_t>\(x\) \| pitch\) % bytes == 0", "true", ALIGNED),
    ("scales that are turned the other way", "blocks", r"is_turned \? block : row", "row"),
    ("a scale that is not the one applied", "blocks", r"(mpnum_put_scale_<Blocks>\(job\.columns, row, column, scale\.code)\)",
     r"\1 + 1)"),
    ("a scale of rows past the end", "blocks", r"row \* Blocks::edge >= job\.height \|\| ", ""),
    ("no barrier before the factors of a tile", "blocks",
     r"(?s)(mpnum_put_scale_<Blocks>\(job\.rows, row, column, scale\.code\);\s*\}\s*)__syncthreads\(\);", r"\1"),
    ("no barrier before the largest magnitudes", "blocks", r"(parts == 1\);\s*\}\s*)__syncthreads\(\);", r"\1"),
    ("no barrier after they are cleared", "blocks", r"(?s)(amax\[i\] = 0;\s*)__syncthreads\(\);", r"\1"),
    ("no barrier before the turned codes", "blocks",
     r"(MPNUM_SIDE_TRANSPOSED_\)\) return;\s*)__syncthreads\(\);", r"\1"),
    ("columns of half the rows of a warp", "blocks", r"if \(tile::lanes != 32\)(\s*most)", r"if (false)\1"),
    ("zeros that keep their signs", "blocks", r"amax == 0 \? 0 :", "false ? 0 :"),
    ("random words of the first row", "blocks",
     r"\(row \+ v\) \* job\.stride \+ column\)", "row * job.stride + column)"),
    ("a division by S that is left out", "blocks", r"y = mpnum_div_scalar_\(y, tensor\);", "y = y;"),
    ("a first index that is the last", "collectives", r"own == most \? ~index : 0", "own == most ? index : 0"),
    ("a merge that drops NaN", "collectives", r"  if \(mpnum_isnan_f32\(max\)\) return max;\n", ""),
    ("a -0 that is below +0", "collectives", r"mpnum_bits_f32\(value\) == minus_zero \? 0 : ", ""),
    ("shared memory that was not asked for", "rows", r"return shape->kept \?", "return false ?"),
    ("shared memory that the kernel has already", "rows", r"row_scratch_ = 1024", "row_scratch_ = 0"),
    ("more of it than the device has", "rows", r"bytes -= .*", ""),
    ("pairs taken for whole at any address", "rows", r"return reinterpret_cast<size_t>\(row\) .*", "return 1;", ALIGNED),
    ("masked pairs that are taken for whole", "rows", r"row\.load\.is_plain = !from\.mask && ", "row.load.is_plain = "),
    ("whole pairs past the length", "rows", r"return count == columns && row_is_aligned_\(dst\)", "return row_is_aligned_(dst)"),
    ("a pair too many that is taken for whole", "rows", r"\* row_lanes_ \+ 2 <= end", "* row_lanes_ + 1 <= end"),
    ("rows of a block that are kept in one place", "rows", r"threadIdx\.y \* kept", "0 * kept"),
    ("a launch without its last rows", "rows", r"\(from\.rows - 1\) / shape\.rows \+ 1", "(from.rows + shape.rows - 2) / shape.rows"),
    ("tiles that are added as floats", "rows", r"mpnum_add_f64_\(total, mpnum_f32", "mpnum_add_f64_(mpnum_f64_to_f32(total), mpnum_f32"),
    ("a sum whose lanes are neighbours", "rows", r"(row_folded_(?s:.*?))place\.lanes / 2; step > 0; step /= 2",
     r"\g<1>1; step < place.lanes; step *= 2"),
    ("words of the tiles that the next round writes", "rows", r"(uint32_t word = 0;)", r"static uint32_t word = 0;"),
    ("a largest element of one warp alone", "rows", r"  if \(place\.warps > 1\) return mpnum_block_max_u32_.*\n", ""),
    ("a length that is not one", "rows", r"from\.lengths\[place\.number\] < length", "false"),
    ("masks of the first row", "rows", r"from\.mask \+ number \* from\.mask_stride", "from.mask"),
    ("a mask that is not read", "rows", r"\(mask && !mask\[i \+ j\]\)", "false"),
    ("a bias that is added after it was rounded", "rows", r"mpnum_fma_scalar_\(x\.at\[j\], scale, bias\(i \+ j\)\)",
     "mpnum_add_scalar_(mpnum_mul_scalar_(x.at[j], scale), bias(i + j))"),
    ("masked elements that are not marked", "rows", r"if \(!Part::is_whole && marks && ", "if (false && "),
    ("a limit that others have, too", "rows", r"is_infinite \? mpnum_bits_f32\(number\)", "true ? mpnum_bits_f32(number)"),
    ("a target one further", "rows", r"i \+ j == target \?", "i + j + 1 == target ?"),
    ("smoothing over masked classes", "rows", r"\(is_masked && mpnum_bits_f32\(x\.at\[j\]\) == 0xff800000u\)", "false"),
    ("a factor that is not divided by the count", "rows", r"if \(job\.counted\)", "if (false)"),
    ("gradients that are not added", "rows", r"old\.at\[1\], y\.at\[1\]", "0.0f, y.at[1]"),
    ("a class past the columns", "rows", r"static_cast<uint64_t>\(index\) < place\.columns", "true"),
    ("a mean whose count is of all", "rows", r"count \+= static_cast<int64_t>\(targets\[i\]\) != ignore_index", "++count"),
    ("a dropped barrier of rows that are held", "rows", r"(shared->sums\[turn\]\[place\.warp\] = .*\n)  __syncthreads\(\);", r"\1"),
    ("a held row without its last tile", "rows", r"if \(warp >= place\.warps\) break", "if (warp + 1 >= place.warps) break"),
    ("threads that hold pairs in one place", "rows", r"thread / 32 \* \(in_shared \* 32\)", "0u"),
    ("an element past a held row's length", "rows", r"i \+ 1 >= tile\.left\) y", "i > tile.left) y"),
    ("a held row whose target is one of many", "rows", r"own < tile\.left && own % row_lanes_ / 2 == place\.lane", "false"),
    ("a gradient without its inner product", "rows", r"mpnum_sub_scalar_\(dy, inner\)", "dy"),
    ("tiles that are read before they are there", "norm", r"(unsigned tiles\) {\n)  __syncthreads\(\);", r"\1"),
    ("a variance by differences alone", "norm", r"__any_sync\(0xffffffffu, step == 2\)", "false"),
    ("a sum that is not rounded to its type", "norm", r"x\.at\[1\] = row_element_<T>::in\(row_element_<T>::out\(x\.at\[1\]\)\);", ""),
    ("gradients of tiles that are read before they are there", "norm",
     r"(tiles\[1\]\[place\.warp\] = product;\n    }\n)    __syncthreads\(\);", r"\1"),
    ("a chunk of rows that is counted twice", "norm", r"rows - first < chunk \? rows : first \+ chunk", "rows"),
    ("rows that are summed before they are kept", "norm", r"(row\.kept = kept;\n)  __syncwarp\(\);", r"\1"),
    ("pairs that end a row and are left", "norm", r"i = rest \+ 2 \* place\.lane; i < end", "i = rest + 2 * place.lane; i + 2 < end"),
    ("vectors without their residual", "norm", r"if \(!residual\) return x;", "return x;"),
    ("a kept sum that is not rounded", "norm", r"x\.at\[j\] = row_element_<T>::in\(row_element_<T>::out\(x\.at\[j\]\)\);", "x.at[j] += 0;"),
    ("a vector past the last one", "norm", r"at\[b\] = i \+ b \* step < rest \? i \+ b \* step : i;", "at[b] = i + b * step;"),
    ("vectors at any address", "norm", r"return reinterpret_cast<size_t>\(row\) .*", "return 1;", ALIGNED),
    ("a residual of the first row", "norm", r"number \* from\.residual_stride", "0"),
    ("a sum of lanes in another order", "grad", r"met_\(sum, 2, mask\), 1, mask", "met_(sum, 1, mask), 2, mask"),
    ("no barrier after a block's sums are made empty", "grad",
     r"(mpnum_grad_begin_\(shared, list\);\s*)__syncthreads\(\);", r"\1"),
    ("a workspace that is not left empty", "grad", r"atomicExch\(all \+ i, 0ull\)", "all[i]"),
    ("a workspace that counts on", "grad", r"meeting\.rest\(\);", "(void)0;"),
    ("a first block that takes itself for the last", "grad",
     r"(?s)blocks < gridDim\.x - 1(.*?)blocks == gridDim\.x - 1 && sum == .*?number", r"blocks != 0\1true"),
    ("a total that is never carried", "grad", r"tiles < 65536", "true"),
    ("a tensor found one too late", "grad", r"tiles_before\[low \+ at\] <= tile", "tiles_before[low + at] < tile"),
    ("a NaN that is made canonical", "grad", r"bits \| 0x00400000u", "0x7fffffffu"),
    ("zeros that are not there counted", "grad", r"seen\.zeros -= missing;", ""),
    ("subnormals squared as normal numbers", "grad", r"least >= 0x007fffffu", "true"),
    ("bins that are not emptied", "grad", r"bins\[k\] = 0;", ""),
    ("gaps between rows that are skipped twice", "grad", r"row \* t\.src_stride \+ column",
     "row * (t.src_stride + 1) + column"),
    ("four elements from any address", "grad", r"way\.is_apart =[^;]*;", "way.is_apart = false;", ALIGNED),
    ("a head of another length", "grad", r"/ size % 4\)", "/ size % 3)", ALIGNED),
    ("a head that is left out", "grad", r"has_head = way\.head != 0", "has_head = false"),
    ("a head of which four are counted", "grad", r"atomicAdd\(bins \+ 256, 0u - missing\);", ""),
    ("a head in lanes of the next four", "grad", r"way\.head != 0 && lane == MPNUM_GRAD_TEAM_ - 1", "way.head != 0 && lane == 0"),
    ("a clip of what was clipped less", "grad", r"mpnum_bits_f32\(max_norm\) < mpnum_bits_f32\(optimizer->clipped_to\)",
     "true"),
    ("a clip that does not say what it left", "grad", r"(?s)if \(is_clip\) \{.*?max_norm\);\s*\}", ""),
    ("a merge that is never carried", "grad", r"mpnum_exact_sum_settle_\(&all\.squares\);", ""),
    ("a list that says it can be clipped", "grad", r"planned\.can_clip = 0;", "planned.can_clip = 1;"),
    ("a launcher that reads the scaler", "graph", r"if \(!scaler \|\| ", "if (!scaler || scaler->updates == 77 || "),
    ("a step that applies what a status refused", "grad", r"static_cast<uint32_t>\(status\) << 1", "1u"),
    ("a clip of a stale handle", "grad", r"if \(status == MPNUM_OK\) status = mpnum_grad_scaler_can_clip\(scaler, optimizer\);", ""),
    ("a step after a clip that was refused", "grad", r"mpnum_grad_is_refused_clip_\(\*optimizer\)\)", "false)"),
    ("a launcher that allocates", "norm", r"(cudaError_t\s+mpnum_launch_norm_codes_(?s:.*?)\{)",
     r"\1 ::operator delete(::operator new(4));"),
    ("a launcher that reads what was found", "graph", r"(cudaError_t\s+mpnum_launch_grad_clip(?s:.*?)\{)",
     r"\1 if (findings->stats.nans == 77) return cudaErrorInvalidValue;"),
    ("a step without an update", "graph", r"mpnum_grad_scaler_update_all\(&next, pointers, step\.count\)", "MPNUM_OK"),
    ("an update after each optimizer", "graph", r"(\*apply = static_cast<uint32_t>\(verdict\);)",
     r"\1 if (status == MPNUM_OK) status = mpnum_grad_scaler_update(scaler, optimizer);"),
    ("an optimizer that was not used", "graph", r"if \(step\.findings\[i\] && ", "if ("),
    ("an update without the last optimizer", "graph", r"&next, pointers, step\.count", "&next, pointers, step.count > 1 ? step.count - 1 : 1"),
    ("a histogram of one warp", "health", r"warp < blockDim\.x / 32", "warp < 1"),
    ("no barrier before a histogram is added", "health", r"__syncthreads\(\);(\s*for \(unsigned k = threadIdx)", r"\1"),
    ("losses of what is past the largest value", "health", r" && x <= format\.max_code", ""),
    ("an activation of the first tile alone", "activation", r"unit % tiles", "unit % 1"),
    ("rows past the last one", "activation", r"if \(place\.row\.exists\)(?=\s+gate_each_<batch>)", "if (true)"),
    ("an alpha that the derivative forgets", "activation", r"gate\.has_alpha \? mpnum_mul_scalar_\(x, gate\.alpha\)\s*: x", "x"),
    ("a sum that overwrites", "activation", r"if \(adds\) gate_add_\(there", "if (false) gate_add_(there"),
    ("an amax of one of two gradients", "activation",
     r"(put\(to_factor, i, columns, of_factor, part\);)", r"{ float before = amax; \1 amax = before; }"),
    ("words of one counter", "activation", r"\(index - skipped \+ j\) / 4", "(index - skipped) / 4"),
    ("a sum of doubles in another order", "collectives", r"(?s)(mpnum_warp_sum_f64_\(.*?)step = 16; step > 0; step /= 2",
     r"\1step = 1; step < 32; step *= 2"),
    ("no barrier before a total is carried", "collectives",
     r"__syncthreads\(\);(\s*if \(mpnum_thread_index_\(\) == 0\) mpnum_exact_sum_settle_)", r"\1"),
    ("a first tensor with the element of another", "collectives", r"if \(own\.first_tensor == \*tensor\)", ""),
]


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


def every_fault_has_a_place():
    lost = []
    for what, who, pattern, replacement, *_ in QUICK_FAULTS + MORE_FAULTS:
        texts = [(INCLUDE / "mpnum" / header).read_text() for header in PROGRAMS[who][0]]
        if all(re.sub(pattern, replacement, text, count=1) == text for text in texts):
            lost.append(f"{PROGRAMS[who][1]} with {what}")
    assert not lost, "nothing to change: " + ", ".join(lost)


def tests_pass_without_a_fault(who, *flags):
    failed = failure_with(who, lambda paths: None, *flags)
    assert not failed, failed


def seen(faults):
    for what, who, *fault in faults:
        yield named(f"{PROGRAMS[who][0]} with {what} fails", fault_is_seen, who, *fault)


def quick_properties():
    """Without a fault the quick tier runs these programs, with other flags."""
    yield every_fault_has_a_place
    yield from seen(QUICK_FAULTS)


def full_properties():
    yield named("test_collectives passes without a fault on sm_80", tests_pass_without_a_fault, "collectives", SM_80)
    yield named("test_kernels_convert passes without a fault by 32 bytes", tests_pass_without_a_fault, "convert", WIDE,
                ALIGNED)
    for who in PROGRAMS:
        yield named(f"{PROGRAMS[who][1]} passes without a fault", tests_pass_without_a_fault, who)
    yield from seen(MORE_FAULTS)


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["full"]):
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(2)
    sys.exit(toolchain.run_on_all_cores(list(full_properties() if sys.argv[1:] else quick_properties())))
