#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every launcher of mpnum/cuda, and collectives of block.cuh: the host's part as nvcc compiles it, kernels in the PTX
interpreter of tests/cuda/ptx. Each case is about one tile of a kernel, and every byte of all memory is what the host's
functions leave there. No thread reads or writes past an end, reads what nothing has written, or races with another.

usage: tests/cuda/ptx/test_ptx_launchers.py [all | NAME...]

Each case runs for one target, which go round by turns; with "all" for each of them, and so do further cases of the same
kernels.
"""

import ctypes
import random
import struct
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[2] / room) for room in ["harness", "cuda"]]

import tap
from ptx import calls
from ptx.launches import Program
from toolchain import named

ARCHS = ["75", "90", "100a", "120a"]
SIZES = {"float": 4, "double": 8, "mpnum_f16": 2, "mpnum_bf16": 2, "int": 4, "int64_t": 8, "size_t": 8, "uint64_t": 8,
         "mpnum_stats": 48, "mpnum_launch_scratch": 48, "mpnum_histogram": 2056, "mpnum_lost": 16, "mpnum_grad_scaler": 112,
         "mpnum_grad_optimizer": 40, "mpnum_grad_findings": 264, "mpnum_grad_workspace": 440, "mpnum_grad_tensor": 72,
         "mpnum_amax_history": 56, "mpnum_exact_sum": 192, "mpnum_row_status": 4, "uint32_t": 4}
UNWRITTEN = 0xb5
# Functions of PTX are what the interpreter has not: what is never inlined is inlined here.
BEGIN = """\
#include <mpnum/core/detail/config.h>
#undef MPNUM_RARE_
#define MPNUM_RARE_ MPNUM_INLINE
#include <mpnum/kernels.cuh>
#include <mpnum/training/health.cuh>
#define AND_THEN(launch) if (const cudaError_t error = launch) return error
static inline mpnum_blockscale_format nvfp4_of_sr(size_t rows) {
  mpnum_blockscale_format format = rows == 1 ? mpnum_blockscale_nvfp4_1x16() : mpnum_blockscale_nvfp4_16x16();
  format.rounding = MPNUM_ROUND_STOCHASTIC;
  return format;
}
static const mpnum_quantize_options random_of_9 = {9, 3};
static mpnum_grad_scaler scaler_of_1024() {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_default();
  mpnum_grad_scaler scaler;
  config.init_scale = 1024;
  (void)mpnum_grad_scaler_init(&scaler, config);
  return scaler;
}
struct two_tensors {
  mpnum_grad_tensor at[2];
  two_tensors(float *x, mpnum_f16 *y, float *to, mpnum_histogram *histogram) {
    at[0] = mpnum_grad_tensor_of(MPNUM_TYPE_F32, x, 2100, MPNUM_TYPE_F32, x);
    at[1] = mpnum_grad_tensor_of(MPNUM_TYPE_F16, y, 331, MPNUM_TYPE_F32, to);
    at[1].histogram = histogram;
    at[1].histogram_step = 1;
  }
};
static cudaError_t list_of(mpnum_grad_list *list, const two_tensors &made, mpnum_grad_tensor *tensors, uint64_t *before) {
  uint64_t words[3];
  if (mpnum_grad_plan(list, words, made.at, 2, 0) != MPNUM_OK) return cudaErrorUnknown;
  list->tensors = tensors;
  list->tiles_before = before;
  AND_THEN(cudaMemcpy(tensors, made.at, sizeof made.at, cudaMemcpyHostToDevice));
  return cudaMemcpy(before, words, sizeof words, cudaMemcpyHostToDevice);
}
static mpnum_grad_findings findings_of(unsigned i) {
  float x[3] = {1.0f + i, i % 7 ? 0.0f : -0.25f, i == 5 ? mpnum_from_bits_f32(0x7f800000) : 1e-39f};
  const mpnum_grad_tensor tensor = mpnum_grad_tensor_of(MPNUM_TYPE_F32, x, 3, MPNUM_TYPE_F32, 0);
  mpnum_grad_findings found;
  (void)mpnum_grad_read(&tensor, 1, 1, &found);
  return found;
}
static void findings_of_all(mpnum_grad_findings (&made)[64]) {
  for (unsigned i = 0; i < 64; ++i) made[i] = findings_of(i);
}
"""


def out(count):
    """So many elements that nothing has written."""
    return count


def floats(count, seed=0, special=(0.0, -0.0, 1e-40)):
    generator = random.Random(f"{count} {seed}")
    values = [generator.gauss(0, 3) for _ in range(count)]
    for value in special:
        values[generator.randrange(count)] = value
    return struct.pack(f"<{count}f", *values)


def halves(count, seed=0, special=()):
    values = struct.unpack(f"<{count}f", floats(count, seed, special))
    return struct.pack(f"<{count}e", *values)


def bfloats(count, seed=0, special=(0.0, -0.0)):
    wide = floats(count, seed, special)
    return b"".join(wide[place + 2:place + 4] for place in range(0, 4 * count, 4))


def integers(count, most=50):
    """Small ones, as floats: any order of sums is exact."""
    generator = random.Random(count)
    return struct.pack(f"<{count}f", *(generator.randint(-most, most) for _ in range(count)))


def codes(count, seed=0):
    """Bytes that are finite numbers of any format."""
    generator = random.Random(f"{count} {seed}")
    return bytes(generator.choice((0, 128)) + generator.randrange(0x70) for _ in range(count))


def one(value):
    return struct.pack("<f", value)


@dataclass
class Case:
    name: str
    memory: dict      # name: (type, its bytes, or a number of elements that nothing has written)
    launch: str       # a cudaError_t, or statements that return one
    host: str         # a status, or the same
    own: str = ""     # what the device needs for itself; it is not compared
    kernel: str = ""  # what stands before

    def declared(self):
        return "".join(f"  {kind} *{name} = ({kind} *)at[{place}];\n  (void){name};\n"
                       for place, (name, (kind, _)) in enumerate(self.memory.items()))

    def source(self):
        lines = [self.kernel]
        for side, body in (("launch", self.launch), ("host", self.host)):
            body = body if "return" in body else f"return {body};"
            lines.append(f'extern "C" int {side}_{self.name}(void **at) {{\n{self.declared()}  {body}\n}}\n')
        return "".join(lines)

    def contents(self):
        return [content if isinstance(content, bytes) else bytes([UNWRITTEN]) * (content * SIZES.get(kind, 1))
                for kind, content in self.memory.values()]


def runs_as_on_the_host(program, case):
    contents = case.contents()
    device = [program.machine.allocate(content) for content in contents]
    host = [ctypes.create_string_buffer(content, max(len(content), 1)) for content in contents]
    order = "reverse" if len(case.name) % 2 else "forward"
    error = program.call(f"launch_{case.name}", [buffer.address for buffer in device], order)
    assert error == 0, f"cudaError_t {error}"
    addresses = (ctypes.c_void_p * len(host))(*map(ctypes.addressof, host))
    status = getattr(program.library, f"host_{case.name}")(addresses)
    assert status == 0, f"the host: status {status}"
    for name, got, want in zip(case.memory, device, host):
        program.machine.release(got)
        if name in case.own.split():
            continue
        differing = [place for place, pair in enumerate(zip(got.data, want.raw)) if pair[0] != pair[1]]
        assert not differing, (f"{name}: {len(differing)} bytes of {len(got.data)} are not the host's, first byte "
                               f"{differing[0]}: {got.data[differing[0]]:#x}, not {want.raw[differing[0]]:#x}")
    assert any(got.data != content for got, content in zip(device, contents)), "nothing was written"


def matrix(name, kind, code, format, launch, shape, content, *, more=(), scale="1", options="0", before="", own=""):
    """Blocks of a matrix by row; codes of so many bits, and room for scales as they are and swizzled."""
    rows, columns = shape
    bits = {"e2m1": 4, "e3m2": 6}.get(code, 8)
    memory = {"x": (kind, content), "codes": ("char", rows * (columns * bits + 7) // 8), "scales": ("char", out(1024)), **dict(more)}
    return Case(name, memory, f"""{before}
  const mpnum_blockscale_format format = {format};
  const mpnum_blockscaled to = {{codes, {columns}, scales, 1024, {int("swizzled" in name)}, 1}};
  (void)format;
  return {launch};""", f"""const mpnum_blockscale_format format = {format};
  const mpnum_blockscaled to = {{codes, {columns}, scales, 1024, {int("swizzled" in name)}, {scale}}};
  return mpnum_quantize_blocks(&format, to, mpnum_const_matrix_of({TYPES[kind]}, x, {rows}, {columns}), {options}, 0);""", own)


TYPES = {"float": "MPNUM_TYPE_F32", "mpnum_f16": "MPNUM_TYPE_F16", "mpnum_bf16": "MPNUM_TYPE_BF16"}
MX = "mpnum_blockscale_mx(MPNUM_TYPE_{}, MPNUM_BLOCKSCALE_{})".format
ARRAYS = [
    Case("convert_f32_to_e4m3", {"codes": ("mpnum_e4m3", out(4200)), "x": ("float", floats(4200, 0, (464.0, 465.0, -1e30)))},
         "mpnum_launch_convert(codes, x, 4200, 0)", "return mpnum_f32_to_e4m3_array(codes, x, 4200), 0;"),
    Case("convert_bf16_to_e2m1", {"pairs": ("mpnum_e2m1x2", out(4200)), "x": ("mpnum_bf16", bfloats(8400))},
         "mpnum_launch_convert_sat(pairs, x, 8400, 0)",
         """for (int i = 0; i < 4200; ++i)
    pairs[i] = mpnum_f32_to_e2m1_sat_x2(mpnum_bf16_to_f32(x[2 * i]), mpnum_bf16_to_f32(x[2 * i + 1]));
  return 0;"""),
    Case("convert_f32_to_bf16_stochastic", {"y": ("mpnum_bf16", out(3000)), "x": ("float", floats(3000))},
         "mpnum_launch_convert_round(y, x, 3000, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_SATURATE, 7, 5, 0)",
         """for (int i = 0; i < 3000; ++i) y[i] = mpnum_f32_to_bf16_sr_sat(x[i], mpnum_random(7, 5 + i));
  return 0;"""),
    Case("amax", {"amax": ("float", out(1)), "x": ("mpnum_bf16", bfloats(8300))}, "mpnum_launch_amax(amax, x, 8300, 0)",
         "return *amax = mpnum_amax_bf16(x, 8300), 0;"),
    Case("stats_and_all_finite", {"stats": ("mpnum_stats", out(1)), "all_finite": ("int", out(1)),
                                  "x": ("float", floats(4200, 0, (0.0, float("inf"), float("nan"), 1e-40))),
                                  "scratch": ("mpnum_launch_scratch", bytes(48))},
         """AND_THEN(mpnum_launch_stats(stats, x, 4200, 0, scratch));
  return mpnum_launch_all_finite(all_finite, x, 4200, 0, scratch);""",
         "*stats = mpnum_stats_f32(x, 4200); return *all_finite = mpnum_all_finite_f32(x, 4200), 0;"),
    Case("quantize_scaled", {"codes": ("mpnum_e4m3", out(4200)), "amax": ("float", one(0.25)), "x": ("float", floats(4200)),
                             "scale": ("float", one(37.5))},
         "mpnum_launch_quantize_array(codes, x, 4200, scale, amax, 0)",
         """*amax = mpnum_amax_merge(*amax, mpnum_amax_f32(x, 4200));
  return mpnum_quantize_array(MPNUM_TYPE_E4M3, codes, MPNUM_TYPE_F32, x, 4200, *scale, 0);"""),
    Case("quantize_current", {"codes": ("mpnum_e5m2", out(8300)), "inverse": ("float", out(1)), "amax": ("float", out(1)),
                              "x": ("mpnum_bf16", bfloats(8300))},
         "const mpnum_fp8_recipe recipe = mpnum_fp8_recipe_current();"
         " return mpnum_launch_quantize_current(codes, x, 8300, &recipe, inverse, amax, 0);",
         """const mpnum_fp8_recipe recipe = mpnum_fp8_recipe_current();
  const float scale = mpnum_scale_from_amax(*amax = mpnum_amax_bf16(x, 8300), 57344, &recipe.options);
  *inverse = mpnum_scale_inv(scale);
  return mpnum_quantize_array(MPNUM_TYPE_E5M2, codes, MPNUM_TYPE_BF16, x, 8300, scale, 0);"""),
    Case("dequantize_scaled", {"y": ("mpnum_bf16", out(8300)), "codes": ("mpnum_e4m3", codes(8300)), "inverse": ("float", one(0.3))},
         "mpnum_launch_dequantize_array(y, codes, 8300, inverse, 0)",
         "mpnum_dequantize_array(MPNUM_TYPE_BF16, y, MPNUM_TYPE_E4M3, codes, 8300, *inverse)"),
    Case("quantize_transpose", {"codes": ("mpnum_e4m3", out(64 * 66)), "turned": ("mpnum_e4m3", out(64 * 66)),
                                "amax": ("float", one(0)), "x": ("float", floats(64 * 66)), "scale": ("float", one(20))},
         "mpnum_launch_quantize_transpose(mpnum::matrix_of(codes, 66, 64), mpnum::matrix_of(turned, 64, 66), mpnum::matrix_of(x, 66, 64), scale, amax, 0)",
         """for (int i = 0; i < 66 * 64; ++i)
    turned[i % 64 * 66 + i / 64] = mpnum_f32_to_e4m3_sat(x[i] * *scale);
  *amax = mpnum_amax_f32(x, 66 * 64);
  return mpnum_quantize_array(MPNUM_TYPE_E4M3, codes, MPNUM_TYPE_F32, x, 66 * 64, *scale, 0);"""),
    Case("scale_update", {"histories": ("mpnum_amax_history", out(3)), "rings": ("float", out(3 * 40)),
                          "amaxes": ("float", struct.pack("<3f", 5.0, 0.0, float("inf")))},
         """AND_THEN(histories_of(histories, rings, true));
  return mpnum_launch_scale_update(histories, rings, amaxes, 3, &recipe_of_40, 0);""",
         """histories_of(histories, rings, false);
  for (int i = 0; i < 3; ++i) (void)mpnum_amax_history_update(&histories[i], rings + 40 * i, amaxes[i]), amaxes[i] = 0;
  return 0;""", kernel="""\
static mpnum_fp8_recipe delayed_by_40() {
  mpnum_fp8_recipe recipe = mpnum_fp8_recipe_delayed();
  recipe.history_length = 40;
  return recipe;
}
static const mpnum_fp8_recipe recipe_of_40 = delayed_by_40();
static cudaError_t histories_of(mpnum_amax_history *histories, float *rings, bool is_there) {
  mpnum_amax_history made[3];
  float ring[3 * 40];
  for (int i = 0; i < 3; ++i) {
    (void)mpnum_amax_history_init(made + i, ring + 40 * i, 40, 448, &recipe_of_40);
    for (int k = 0; k < 50; ++k) (void)mpnum_amax_history_update(made + i, ring + 40 * i, 1.0f + k % 17);
  }
  if (is_there) {
    AND_THEN(cudaMemcpy(histories, made, sizeof made, cudaMemcpyHostToDevice));
    return cudaMemcpy(rings, ring, sizeof ring, cudaMemcpyHostToDevice);
  }
  memcpy(histories, made, sizeof made);
  memcpy(rings, ring, sizeof ring);
  return cudaSuccess;
}
"""),
    Case("histogram_and_lost", {"histogram": ("mpnum_histogram", bytes(2056)), "lost": ("mpnum_lost", bytes(16)),
                                "x": ("float", floats(2000, 0, (float("nan"), 1e-40, 0.0, 70000.0)))},
         """AND_THEN(mpnum_launch_histogram(histogram, x, 2000, 0));
  return mpnum_launch_count_lost(lost, x, 2000, mpnum_format_of(MPNUM_TYPE_E4M3), 64, 0);""",
         """for (int i = 0; i < 2000; ++i) mpnum_histogram_add(histogram, x[i]);
  return mpnum_count_lost(lost, MPNUM_TYPE_F32, x, 2000, mpnum_format_of(MPNUM_TYPE_E4M3), 64);"""),
]
# Whole tiles, and what is past their end in one of the two directions.
BLOCKS = [
    matrix("mx_e4m3_swizzled", "float", "e4m3", MX("E4M3", "RCEIL"),
           "mpnum_launch_quantize_mx<mpnum_e4m3>(&to, 0, mpnum::matrix_of(x, 65, 64), MPNUM_BLOCKSCALE_RCEIL, MPNUM_QUANTIZE_ROWS, 0)",
           (65, 64), floats(65 * 64)),
    matrix("mx_e2m1", "mpnum_bf16", "e2m1", MX("E2M1", "FLOOR"),
           "mpnum_launch_quantize_mx<mpnum_e2m1>(&to, 0, mpnum::matrix_of(x, 64, 128), MPNUM_BLOCKSCALE_FLOOR, MPNUM_QUANTIZE_ROWS, 0)",
           (64, 128), bfloats(64 * 128)),
    matrix("mx_e3m2", "mpnum_f16", "e3m2", MX("E3M2", "EVEN"),
           "mpnum_launch_quantize_mx<mpnum_e3m2>(&to, 0, mpnum::matrix_of(x, 16, 80), MPNUM_BLOCKSCALE_EVEN, MPNUM_QUANTIZE_ROWS, 0)",
           (16, 80), halves(16 * 80)),
    Case("mx_e4m3_both", {"x": ("mpnum_bf16", bfloats(64 * 128)), "codes": ("char", out(64 * 128)), "scales": ("char", out(256)),
                          "turned": ("char", out(64 * 128)), "turned_scales": ("char", out(256))},
         """const mpnum_blockscaled by_row = {codes, 128, scales, 256, 0, 1}, by_column = {turned, 64, turned_scales, 256, 0, 1};
  return mpnum_launch_quantize_mx<mpnum_e4m3>(&by_row, &by_column, mpnum::matrix_of(x, 64, 128), MPNUM_BLOCKSCALE_RCEIL, MPNUM_QUANTIZE_ROWS | MPNUM_QUANTIZE_COLUMNS | MPNUM_QUANTIZE_TRANSPOSED, 0);""",
         """const mpnum_blockscale_format format = mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
  const mpnum_blockscaled by_row = {codes, 128, scales, 256, 0, 1}, by_column = {turned, 64, turned_scales, 256, 0, 1};
  static mpnum_bf16 other[64 * 128];
  for (int i = 0; i < 64 * 128; ++i) other[i % 128 * 64 + i / 128] = x[i];
  const mpnum_status status = mpnum_quantize_blocks(&format, by_row, mpnum_const_matrix_of(MPNUM_TYPE_BF16, x, 64, 128), 0, 0);
  return status ? status : mpnum_quantize_blocks(&format, by_column, mpnum_const_matrix_of(MPNUM_TYPE_BF16, other, 128, 64), 0, 0);
"""),
    Case("mx_e5m2_by_column", {"x": ("float", floats(66 * 40)), "codes": ("char", out(66 * 40)), "scales": ("char", out(120))},
         """const mpnum_blockscaled to = {codes, 40, scales, 120, 0, 1};
  return mpnum_launch_quantize_mx<mpnum_e5m2>(0, &to, mpnum::matrix_of(x, 66, 40), MPNUM_BLOCKSCALE_CEIL, MPNUM_QUANTIZE_COLUMNS, 0);""",
         """const mpnum_blockscale_format format =
      mpnum_blockscale_transposed(mpnum_blockscale_mx(MPNUM_TYPE_E5M2, MPNUM_BLOCKSCALE_CEIL));
  const mpnum_blockscaled to = {codes, 40, scales, 120, 0, 1};
  return mpnum_quantize_blocks(&format, to, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 66, 40), 0, 0);"""),
    Case("mx_e4m3_back", {"y": ("mpnum_bf16", out(66 * 128)), "codes": ("char", codes(66 * 128)),
                          "scales": ("char", bytes(100 + place % 60 for place in range(66 * 4)))},
         """const mpnum_blockscaled from = {codes, 128, scales, 264, 0, 1};
  return mpnum_launch_dequantize_mx<mpnum_e4m3>(mpnum::matrix_of(y, 66, 128), &from, MPNUM_QUANTIZE_ROWS, 0);""",
         """const mpnum_blockscale_format format = mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
  const mpnum_blockscaled from = {codes, 128, scales, 264, 0, 1};
  return mpnum_dequantize_blocks(&format, mpnum_matrix_of(MPNUM_TYPE_BF16, y, 66, 128), from);"""),
    Case("nvfp4_scale", {"scale": ("float", out(1)), "x": ("mpnum_bf16", bfloats(30 * 104))},
         "mpnum_launch_nvfp4_scale(scale, mpnum::matrix_of(x, 30, 100, 104), 0)",
         """mpnum_const_matrix rows = mpnum_const_matrix_of(MPNUM_TYPE_BF16, x, 30, 100);
  rows.stride = 104;
  const mpnum_status status = mpnum_finite_amax_rows(scale, rows);
  return *scale = mpnum_nvfp4_scale(*scale), status;"""),
    matrix("nvfp4", "mpnum_bf16", "e2m1", "mpnum_blockscale_nvfp4_1x16()",
           "mpnum_launch_quantize_nvfp4(&to, 0, mpnum::matrix_of(x, 64, 128), scale, MPNUM_QUANTIZE_ROWS, 0)", (64, 128),
           bfloats(64 * 128), more={"scale": ("float", one(200))}, scale="*scale"),
    matrix("nvfp4_square", "mpnum_bf16", "e2m1", "mpnum_blockscale_nvfp4_16x16()",
           "mpnum_launch_quantize_nvfp4<16>(&to, 0, mpnum::matrix_of(x, 64, 128), scale, MPNUM_QUANTIZE_ROWS, 0)", (64, 128),
           bfloats(64 * 128), more={"scale": ("float", one(200))}, scale="*scale"),
    matrix("nvfp4_square_swizzled", "mpnum_bf16", "e2m1", "mpnum_blockscale_nvfp4_16x16()",
           "mpnum_launch_quantize_nvfp4<16>(&to, 0, mpnum::matrix_of(x, 50, 128), scale, MPNUM_QUANTIZE_ROWS, 0)", (50, 128),
           bfloats(50 * 128), more={"scale": ("float", one(200))}, scale="*scale"),
    matrix("nvfp4_stochastic", "float", "e2m1", "nvfp4_of_sr(1)",
           "mpnum_launch_quantize_nvfp4_sr(&to, 0, mpnum::matrix_of(x, 64, 64), scale, MPNUM_QUANTIZE_ROWS, 9, 3, 0)", (64, 64),
           floats(64 * 64), more={"scale": ("float", one(200))}, scale="*scale", options="&random_of_9"),
    Case("nvfp4_stochastic_both", {"x": ("float", floats(66 * 40)), "codes": ("char", out(66 * 20)), "scales": ("char", out(66 * 3)),
                                   "others": ("char", out(66 * 20)), "other_scales": ("char", out(5 * 40)), "scale": ("float", one(200))},
         """const mpnum_blockscaled by_row = {codes, 40, scales, 198, 0, 1}, by_column = {others, 40, other_scales, 200, 0, 1};
  return mpnum_launch_quantize_nvfp4_sr(&by_row, &by_column, mpnum::matrix_of(x, 66, 40), scale, MPNUM_QUANTIZE_ROWS | MPNUM_QUANTIZE_COLUMNS, 9, 3, 0);""",
         """const mpnum_blockscale_format format = nvfp4_of_sr(1), lying = mpnum_blockscale_transposed(format);
  const mpnum_blockscaled by_row = {codes, 40, scales, 198, 0, *scale}, by_column = {others, 40, other_scales, 200, 0, *scale};
  const mpnum_const_matrix rows = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 66, 40);
  const mpnum_status status = mpnum_quantize_blocks(&format, by_row, rows, &random_of_9, 0);
  return status ? status : mpnum_quantize_blocks(&lying, by_column, rows, &random_of_9, 0);"""),
    Case("nvfp4_back", {"y": ("float", out(64 * 64)), "codes": ("char", codes(64 * 32)), "scales": ("char", codes(64 * 4, 1)),
                        "scale": ("float", one(3))},
         """const mpnum_blockscaled from = {codes, 64, scales, 256, 0, 1};
  return mpnum_launch_dequantize_nvfp4(mpnum::matrix_of(y, 64, 64), &from, scale, MPNUM_QUANTIZE_ROWS, 0);""",
         """const mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  const mpnum_blockscaled from = {codes, 64, scales, 256, 0, *scale};
  return mpnum_dequantize_blocks(&format, mpnum_matrix_of(MPNUM_TYPE_F32, y, 64, 64), from);"""),
    matrix("blocks_of_128", "mpnum_bf16", "e4m3", "mpnum_blockscale_fp8_1x128()",
           "mpnum_launch_quantize_fp8<mpnum_e4m3>(&to, 0, mpnum::matrix_of(x, 32, 256), format.rule, format.amax_floor, " "MPNUM_QUANTIZE_ROWS, 0)", (32, 256), bfloats(32 * 256)),
    matrix("squares_of_128", "mpnum_bf16", "e4m3", "mpnum_blockscale_fp8_128x128()",
           "mpnum_launch_quantize_fp8<mpnum_e4m3, 128>(&to, 0, mpnum::matrix_of(x, 128, 128), format.rule, format.amax_floor, " "MPNUM_QUANTIZE_ROWS, 0)", (128, 128), bfloats(128 * 128)),
    Case("blocks_of_128_back", {"y": ("mpnum_f16", out(16 * 256)), "codes": ("char", codes(16 * 256)),
                                "scales": ("float", struct.pack("<32f", *(1 / place for place in range(1, 33))))},
         """const mpnum_blockscaled from = {codes, 256, scales, 128, 0, 1};
  return mpnum_launch_dequantize_fp8<mpnum_e4m3>(mpnum::matrix_of(y, 16, 256), &from, MPNUM_QUANTIZE_ROWS, 0);""",
         """const mpnum_blockscale_format format = mpnum_blockscale_fp8_1x128();
  const mpnum_blockscaled from = {codes, 256, scales, 128, 0, 1};
  return mpnum_dequantize_blocks(&format, mpnum_matrix_of(MPNUM_TYPE_F16, y, 16, 256), from);"""),
]

OF, TO = "mpnum_const_matrix_of({}, {}, 3, 70)".format, "mpnum_matrix_of({}, {}, 3, 70)".format
F32, F16, BF16, E4M3 = "MPNUM_TYPE_F32", "MPNUM_TYPE_F16", "MPNUM_TYPE_BF16", "MPNUM_TYPE_E4M3"
CAUSAL = """mpnum_softmax_options how = mpnum_softmax_default();
  how.scale = 1.25f;
  how.first_length = 60;
  how.length_step = 5;
"""
NORM = """mpnum_normalize_options how = mpnum_normalize_default();
  how.weight = weight;
"""
SUM = NORM + f"""  how.bias = bias;
  how.inverse = inverse;
  how.residual = {OF(F16, 'hidden')};
  how.sum = {TO(F16, 'hidden')};
"""
LOSS = """mpnum_cross_entropy_options how = mpnum_cross_entropy_default();
  how.label_smoothing = 0.125f;
  how.reduction = MPNUM_REDUCTION_MEAN;
  how.counted = counted;
"""
WEIGHTS = {"weight": ("float", floats(70, 1)), "bias": ("float", floats(70, 2))}
ROWS = [
    Case("softmax", {"y": ("mpnum_f16", out(210)), "status": ("mpnum_row_status", out(3)), "x": ("float", floats(210))},
         CAUSAL + "  return mpnum_launch_softmax_rows(mpnum::matrix_of(y, 3, 70), mpnum::matrix_of(x, 3, 70), &how, status, 0);",
         CAUSAL + f"  return mpnum_softmax_rows({TO(F16, 'y')}, {OF(F32, 'x')}, &how, status);"),
    Case("log_softmax", {"y": ("float", out(210)), "x": ("mpnum_bf16", bfloats(210))},
         "mpnum_launch_log_softmax_rows(mpnum::matrix_of(y, 3, 70), mpnum::matrix_of(x, 3, 70), 0, 0, 0)",
         f"mpnum_log_softmax_rows({TO(F32, 'y')}, {OF(BF16, 'x')}, 0, 0)"),
    Case("logsumexp", {"y": ("float", out(3)), "x": ("float", floats(210))},
         "mpnum_launch_logsumexp_rows(y, mpnum::matrix_of(x, 3, 70), 0, 0, 0)", f"mpnum_logsumexp_rows(y, {OF(F32, 'x')}, 0, 0)"),
    # The mean is of two rows, which any order adds alike; on the device the losses of other rows stay.
    Case("cross_entropy", {"loss": ("float", out(3)), "gradient": ("mpnum_bf16", out(210)), "counted": ("size_t", out(1)),
                           "x": ("mpnum_bf16", bfloats(210)), "targets": ("int64_t", struct.pack("<3q", 69, -100, 0))},
         LOSS + "  return mpnum_launch_cross_entropy_rows(loss, mpnum::matrix_of(gradient, 3, 70), mpnum::matrix_of(x, 3, 70), targets, &how, 0, 0);",
         LOSS + f"""  how.reduction = MPNUM_REDUCTION_NONE;
  (void)mpnum_cross_entropy_rows(loss, {TO(BF16, 'gradient')}, {OF(BF16, 'x')}, targets, &how, 0);
  how.reduction = MPNUM_REDUCTION_MEAN;
  return mpnum_cross_entropy_rows(loss, {TO(BF16, 'gradient')}, {OF(BF16, 'x')}, targets, &how, 0);"""),
    # Two launches of one kernel each.
    Case("softmax_backward", {"dx": ("float", out(210)), "other": ("float", out(210)), "dy": ("float", floats(210, 1)),
                              "y": ("mpnum_f16", halves(210, 2))},
         """AND_THEN(mpnum_launch_softmax_backward_rows(mpnum::matrix_of(dx, 3, 70), mpnum::matrix_of(dy, 3, 70), mpnum::matrix_of(y, 3, 70), 0, 0));
  return mpnum_launch_log_softmax_backward_rows(mpnum::matrix_of(other, 3, 70), mpnum::matrix_of(dy, 3, 70), mpnum::matrix_of(y, 3, 70), 0, 0);""",
         f"""return mpnum_softmax_backward_rows({TO(F32, 'dx')}, {OF(F32, 'dy')}, {OF(F16, 'y')}, 0) ||
         mpnum_log_softmax_backward_rows({TO(F32, 'other')}, {OF(F32, 'dy')}, {OF(F16, 'y')}, 0);"""),
    Case("norms", {"y": ("mpnum_f16", out(210)), "z": ("mpnum_f16", out(210)), "hidden": ("mpnum_f16", halves(210, 1)),
                   "x": ("mpnum_f16", halves(210)), "inverse": ("float", out(3)), **WEIGHTS},
         SUM + """  AND_THEN(mpnum_launch_normalize_rows(MPNUM_NORM_LAYER, mpnum::matrix_of(y, 3, 70), mpnum::matrix_of(x, 3, 70), &how, 0));
  return mpnum_launch_normalize_rows(MPNUM_NORM_RMS, mpnum::matrix_of(z, 3, 70), mpnum::matrix_of(x, 3, 70), &how, 0);""",
         SUM + f"""  return mpnum_normalize_rows(MPNUM_NORM_LAYER, {TO(F16, 'y')}, {OF(F16, 'x')}, &how) ||
         mpnum_normalize_rows(MPNUM_NORM_RMS, {TO(F16, 'z')}, {OF(F16, 'x')}, &how);"""),
    Case("norms_to_e4m3", {"y": ("mpnum_e4m3", out(210)), "z": ("mpnum_e4m3", out(210)), "amax": ("float", bytes(8)),
                           "x": ("mpnum_bf16", bfloats(210)), "scale": ("float", one(30)), **WEIGHTS},
         NORM + """  AND_THEN(mpnum_launch_normalize_quantize_rows(MPNUM_NORM_LAYER, mpnum::matrix_of(y, 3, 70), mpnum::matrix_of(x, 3, 70), &how, scale, amax, 0));
  return mpnum_launch_normalize_quantize_rows(MPNUM_NORM_RMS, mpnum::matrix_of(z, 3, 70), mpnum::matrix_of(x, 3, 70), &how, scale, amax + 1, 0);""",
         NORM + f"""  mpnum_quantize_losses first = mpnum_quantize_losses(), second = first;
  const int status =
      mpnum_normalize_quantize_rows(MPNUM_NORM_LAYER, {TO(E4M3, 'y')}, {OF(BF16, 'x')}, &how, *scale, &first) ||
      mpnum_normalize_quantize_rows(MPNUM_NORM_RMS, {TO(E4M3, 'z')}, {OF(BF16, 'x')}, &how, *scale, &second);
  amax[0] = first.amax;
  amax[1] = second.amax;
  return status;"""),
    Case("norms_backward", {"dx": ("float", out(210)), "dweight": ("float", out(70)), "dbias": ("float", out(70)),
                            "other": ("float", floats(210, 9)), "dy": ("float", floats(210, 1)), "x": ("mpnum_bf16", bfloats(210)),
                            "own": ("char", out(4096)), **WEIGHTS},
         NORM + """  AND_THEN(mpnum_launch_normalize_backward_rows(MPNUM_NORM_LAYER, mpnum::norm_gradients_of(mpnum::matrix_of(dx, 3, 70), dweight, dbias, 0), mpnum::matrix_of(dy, 3, 70), mpnum::matrix_of(x, 3, 70), &how, 0, own));
  return mpnum_launch_normalize_backward_rows(MPNUM_NORM_RMS, mpnum::norm_gradients_of(mpnum::matrix_of(other, 3, 70), 0, 0, 1), mpnum::matrix_of(dy, 3, 70), mpnum::matrix_of(x, 3, 70), &how, 0, 0);""",
         NORM + f"""  mpnum_norm_gradients first = mpnum_norm_gradients_empty(), second = first;
  first.input = {TO(F32, 'dx')};
  first.weight = dweight;
  first.bias = dbias;
  second.input = {TO(F32, 'other')};
  second.adds = 1;
  return mpnum_normalize_backward_rows(MPNUM_NORM_LAYER, first, {OF(F32, 'dy')}, {OF(BF16, 'x')}, &how) ||
         mpnum_normalize_backward_rows(MPNUM_NORM_RMS, second, {OF(F32, 'dy')}, {OF(BF16, 'x')}, &how);""", "own"),
]
TENSORS = {"x": ("float", floats(2100)), "y": ("mpnum_f16", halves(331)), "to": ("float", out(331)),
           "histogram": ("mpnum_histogram", bytes(2056)), "findings": ("mpnum_grad_findings", out(1)),
           "workspace": ("mpnum_grad_workspace", bytes(440)), "tensors": ("mpnum_grad_tensor", out(2)), "before": ("uint64_t", out(3)),
           "scaler": ("mpnum_grad_scaler", out(1)), "handle": ("mpnum_grad_optimizer", out(1)), "apply": ("uint32_t", out(1))}
STEPS = [
    Case("grad_pass_clip_step", TENSORS, """mpnum_grad_list list;
  const two_tensors made(x, y, to, histogram);
  const mpnum_grad_scaler begun = scaler_of_1024();
  const mpnum_grad_optimizer ready = mpnum_grad_optimizer_of(&begun);
  AND_THEN(list_of(&list, made, tensors, before));
  AND_THEN(cudaMemcpy(scaler, &begun, sizeof begun, cudaMemcpyHostToDevice));
  AND_THEN(cudaMemcpy(handle, &ready, sizeof ready, cudaMemcpyHostToDevice));
  AND_THEN(mpnum_launch_grad_pass(findings, list, scaler, workspace, 0));
  AND_THEN(mpnum_launch_grad_clip(handle, scaler, findings, list, 0.0625f, workspace, 0));
  return mpnum_launch_grad_step(scaler, handle, findings, apply, 0);""", """const two_tensors made(x, y, to, histogram);
  mpnum_grad_verdict verdict = MPNUM_GRAD_SKIP;
  *scaler = scaler_of_1024();
  *handle = mpnum_grad_optimizer_of(scaler);
  const int status = mpnum_grad_scaler_unscale(scaler, handle, made.at, 2, 0, findings) ||
                     mpnum_grad_scaler_clip(scaler, handle, made.at, 2, 0.0625f) ||
                     mpnum_grad_scaler_step(scaler, handle, &verdict) || mpnum_grad_scaler_update(scaler, handle);
  *apply = verdict;
  return status;""", "tensors before"),
    Case("grad_merge", {"findings": ("mpnum_grad_findings", out(1)), "others": ("mpnum_grad_findings", out(64))},
         """static mpnum_grad_findings made[64];
  findings_of_all(made);
  AND_THEN(cudaMemcpy(others, made, sizeof made, cudaMemcpyHostToDevice));
  return mpnum_launch_grad_merge(findings, others, 64, 0);""",
         """static mpnum_grad_findings made[64];
  findings_of_all(made);
  memcpy(others, made, sizeof made);
  *findings = mpnum_grad_findings_empty();
  for (int i = 0; i < 64; ++i) *findings = mpnum_grad_findings_merge(*findings, others[i]);
  return 0;"""),
]
COLLECTIVES = [
    Case("block_sums", {"sums": ("double", out(64)), "x": ("double", struct.pack("<64d", *(3.0**place / 7 for place in range(-30, 34))))},
         "mpnum_launch_(sum_of_doubles, 1, 64, 0, sums, x)",
         """double warps[2], lanes[32], next[32];
  for (int warp = 0; warp < 2; ++warp) {
    memcpy(lanes, x + 32 * warp, sizeof lanes);
    for (int apart = 16; apart; apart /= 2) {
      for (int i = 0; i < 32; ++i) next[i] = lanes[i] + lanes[i ^ apart];
      memcpy(lanes, next, sizeof lanes);
    }
    warps[warp] = lanes[0];
  }
  for (int i = 0; i < 64; ++i) sums[i] = warps[0] + warps[1];
  return 0;""", kernel="""\
static __global__ void sum_of_doubles(double *sums, const double *x) {
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  sums[threadIdx.x] = mpnum_block_sum_f64(x[threadIdx.x], scratch);
}
"""),
    Case("block_norms", {"layer": ("float", out(256)), "rms": ("float", out(256)), "x": ("float", integers(256))},
         "mpnum_launch_(normalise, 1, 64, 0, layer, rms, x)",
         """const mpnum_const_matrix row = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 256);
  const mpnum_status status = mpnum_layer_norm_rows(mpnum_matrix_of(MPNUM_TYPE_F32, layer, 1, 256), row, 0, 0, 1e-5f);
  return status ? status : mpnum_rms_norm_rows(mpnum_matrix_of(MPNUM_TYPE_F32, rms, 1, 256), row, 0, 1e-5f);""", kernel="""\
static __global__ void normalise(float *layer, float *rms, const float *x) {
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  mpnum_lanes<float, 4> own = mpnum_load<4>(x + 4 * threadIdx.x, 4), other = own;
  mpnum_block_layer_norm(own, 4, 256, 1e-5f, scratch);
  mpnum_block_rms_norm(other, 4, 256, 1e-5f, scratch);
  mpnum_store(layer + 4 * threadIdx.x, own, 4);
  mpnum_store(rms + 4 * threadIdx.x, other, 4);
}
"""),
    Case("block_findings", {"total": ("mpnum_exact_sum", out(1)), "findings": ("mpnum_grad_findings", out(1)),
                            "others": ("mpnum_grad_findings", out(64))},
         """static mpnum_grad_findings made[64];
  findings_of_all(made);
  AND_THEN(cudaMemcpy(others, made, sizeof made, cudaMemcpyHostToDevice));
  return mpnum_launch_(find, 1, 64, 0, total, findings, others);""",
         """static mpnum_grad_findings made[64];
  findings_of_all(made);
  memcpy(others, made, sizeof made);
  *findings = mpnum_grad_findings_empty();
  for (int i = 0; i < 64; ++i) *findings = mpnum_grad_findings_merge(*findings, others[i]);
  *total = findings->squares;
  return 0;""", kernel="""\
static __global__ void find(mpnum_exact_sum *total, mpnum_grad_findings *findings, const mpnum_grad_findings *others) {
  __shared__ mpnum_grad_findings all;
  __shared__ mpnum_exact_sum sum;
  mpnum_block_findings(&all, others[threadIdx.x]);
  mpnum_block_total(&sum, others[threadIdx.x].squares);
  if (threadIdx.x != 0) return;
  *findings = all;
  *total = sum;
}
"""),
    Case("warp_quantisers", {"mx": ("char", out(256)), "mx_scales": ("char", out(8)), "nvfp4": ("char", out(128)),
                             "nvfp4_scales": ("char", out(16)), "x": ("float", floats(256))},
         """mpnum_launch_(quantise, 1, 32, 0, (mpnum_e4m3 *)mx, (mpnum_e8m0 *)mx_scales, (mpnum_e2m1x2 *)nvfp4,
                       (mpnum_e4m3 *)nvfp4_scales, x)""",
         """const mpnum_const_matrix row = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 256);
  const mpnum_blockscale_format first = mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
  const mpnum_blockscale_format second = mpnum_blockscale_nvfp4_1x16();
  const mpnum_blockscaled to_mx = {mx, 256, mx_scales, 8, 0, 1}, to_nvfp4 = {nvfp4, 256, nvfp4_scales, 16, 0, 200};
  const mpnum_status status = mpnum_quantize_blocks(&first, to_mx, row, 0, 0);
  return status ? status : mpnum_quantize_blocks(&second, to_nvfp4, row, 0, 0);""", kernel="""\
static __global__ void quantise(mpnum_e4m3 *mx, mpnum_e8m0 *mx_scales, mpnum_e2m1x2 *nvfp4, mpnum_e4m3 *nvfp4_scales,
                                const float *x) {
  const mpnum_lanes<float, 8> own = mpnum_load<8>(x + 8 * threadIdx.x, 8);
  mpnum_lanes<mpnum_e4m3, 8> codes;
  mpnum_lanes<mpnum_e2m1x2, 4> pairs;
  mpnum_e8m0 scale;
  mpnum_e4m3 other;
  mpnum_warp_quantize_mx(&codes, &scale, own, MPNUM_BLOCKSCALE_RCEIL);
  mpnum_warp_quantize_nvfp4(&pairs, &other, own, 200);
  mpnum_store(mx + 8 * threadIdx.x, codes, 8);
  mpnum_store(nvfp4 + 4 * threadIdx.x, pairs, 4);
  if (threadIdx.x % 4 == 0) mx_scales[threadIdx.x / 4] = scale;
  if (threadIdx.x % 2 == 0) nvfp4_scales[threadIdx.x / 2] = other;
}
"""),
    Case("probe", {"word": ("uint64_t", b"\xff" * 8), "x": ("float", floats(64, 0, (float("inf"), float("nan"))))},
         "mpnum_launch_(probe, 1, 64, 0, word, x)",
         "for (int i = 0; i < 64; ++i) mpnum_probe(word, 5, i, x[i]);\n  return 0;", kernel="""\
static __global__ void probe(uint64_t *word, const float *x) { mpnum_probe(word, 5, threadIdx.x, x[threadIdx.x]); }
"""),
]
# Interpreted by test_ptx_kernels.py, or the kernel template of another case.
FURTHER = ["convert_f32_to_e4m3", "convert_bf16_to_e2m1", "stats_and_all_finite", "mx_e3m2", "mx_e5m2_by_column", "nvfp4_square",
           "nvfp4_square_swizzled", "squares_of_128", "blocks_of_128_back", "nvfp4_back", "log_softmax"]
CASES = ARRAYS + BLOCKS + ROWS + STEPS + COLLECTIVES


def main():
    arguments = sys.argv[1:]
    cases = [case for case in CASES if arguments == ["all"] or case.name in arguments or
             not arguments and case.name not in FURTHER]
    if not cases:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        try:
            known = calls.archs_of_nvcc()
        except tap.Skip as reason:
            return tap.run(named("launchers in the PTX interpreter", skip, str(reason)))
        properties = []
        for place, arch in enumerate(ARCHS):
            chosen = cases if arguments == ["all"] else cases[place::len(ARCHS)]
            if arch.rstrip("af") not in known:
                properties.append(named(f"sm_{arch}", skip, f"this nvcc does not compile for sm_{arch}"))
            elif chosen:
                program = Lazy(chosen, Path(folder), arch)
                properties += [named(f"sm_{arch}: {case.name}", lambda one=case, all=program: runs_as_on_the_host(all.get(), one))
                               for case in chosen]
        return tap.run(*properties)


class Lazy:
    """A program that is compiled when it is first asked for."""

    def __init__(self, cases, folder, arch):
        self.cases, self.folder, self.arch, self.program = cases, folder, arch, None

    def get(self):
        if not self.program:
            self.program = Program(BEGIN + "".join(case.source() for case in self.cases), self.folder, self.arch)
        return self.program


def skip(reason):
    raise tap.Skip(reason)


if __name__ == "__main__":
    sys.exit(main())
