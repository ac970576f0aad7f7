#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One kernel of each family of launchers, and collectives of block.cuh: the host's part as nvcc compiles it, kernels in the
PTX interpreter of tests/cuda/ptx. Each case is about one tile of a kernel, and every byte of all memory is what the host's
functions leave there. No thread reads or writes past an end, reads what nothing has written, or races with another, and what
blocks leave for the last of them passes fences, without which the results are others.

usage: tests/cuda/ptx/test_ptx_launchers.py [all]

Each case runs for one target, which go round by turns; with "all" for each of them.
"""

import ctypes
import random
import re
import struct
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[2] / room) for room in ["harness", "cuda"]]

from ptx import calls
from ptx.launches import Program
from ptx.machine import Machine
from ptx.syntax import PtxError
from toolchain import named

ARCHS = ["75", "90", "100a", "120a"]
SIZES = {"float": 4, "double": 8, "mpnum_f16": 2, "mpnum_bf16": 2, "int": 4, "int64_t": 8, "size_t": 8, "uint64_t": 8,
         "mpnum_stats": 48, "mpnum_launch_scratch": 48, "mpnum_histogram": 2056, "mpnum_grad_scaler": 112,
         "mpnum_grad_optimizer": 40, "mpnum_grad_findings": 264, "mpnum_grad_workspace": 640, "mpnum_grad_tensor": 72,
         "mpnum_row_status": 4, "uint32_t": 4, "mpnum_optimizer_tensor": 120, "mpnum_optimizer_progress": 80,
         "mpnum_quantize_losses": 32}
UNWRITTEN = 0xb5
# Functions of PTX are what the interpreter has not: what is never inlined is inlined here.
BEGIN = """\
#include <mpnum/core/detail/config.h>
#undef MPNUM_RARE_
#define MPNUM_RARE_ MPNUM_INLINE
#include <mpnum/kernels.cuh>
#include <mpnum/blocks/layout.cuh>
#include <mpnum/blocks/quantize_normed.cuh>
#include <mpnum/blocks/quantize_summed.cuh>
#include <mpnum/blocks/stored_matrix.cuh>
#include <mpnum/training/adafactor.cuh>
#include <mpnum/training/optimizer.cuh>
#include <mpnum/rows/softmax_cap.cuh>
#include <mpnum/rows/activation_backward.h>
#include <mpnum/rows/dropout.h>
#define AND_THEN(launch) if (const cudaError_t error = launch) return error
static mpnum_grad_scaler scaler_of_1024() {
  mpnum_grad_scaler_config config = mpnum_grad_scaler_default();
  mpnum_grad_scaler scaler;
  config.init_scale = 1024;
  (void)mpnum_grad_scaler_init(&scaler, config);
  return scaler;
}
/* Floats, a whole tile of them by vectors; bf16 with a remainder, moments in bf16 and a copy in e4m3; floats with moments of 8 bits
   and a copy in bf16. */
struct three_states {
  mpnum_optimizer how;
  mpnum_optimizer_tensor at[3];
  three_states(float *p, float *m, float *v, mpnum_bf16 *small, mpnum_bf16 *q, mpnum_bf16 *lacks, mpnum_bf16 *m_small,
               mpnum_bf16 *v_small, mpnum_e4m3 *bytes, mpnum_quantize_losses *losses, const float *g, const mpnum_f16 *h, float *r,
               mpnum_e4m3 *m_byte, mpnum_e4m3 *v_byte, mpnum_e8m0 *m_scales, mpnum_e8m0 *v_scales)
      : how(mpnum_optimizer_default(MPNUM_OPTIMIZER_ADAMW)) {
    how.seed = 9;
    at[0] = mpnum_optimizer_tensor_of(1030, MPNUM_TYPE_F32, g, MPNUM_TYPE_F32, p, MPNUM_TYPE_F32, m, v);
    at[1] = mpnum_optimizer_tensor_of(101, MPNUM_TYPE_F16, h, MPNUM_TYPE_BF16, q, MPNUM_TYPE_BF16, m_small, v_small);
    at[1].remainder = lacks;
    at[1].copy_type = MPNUM_TYPE_E4M3;
    at[1].copy = bytes;
    at[1].copy_scale = 100;
    at[1].losses = losses;
    at[1].first = 1031;
    at[2] = mpnum_optimizer_tensor_of(523, MPNUM_TYPE_F32, g, MPNUM_TYPE_F32, r, MPNUM_TYPE_E4M3, m_byte, v_byte);
    at[2].copy = small;
    at[2].moment1_scales = m_scales;
    at[2].moment2_scales = v_scales;
    at[2].first = 1200;
  }
};
static cudaError_t list_of(mpnum_optimizer_list *list, const three_states &made, mpnum_optimizer_tensor *tensors, uint64_t *before) {
  uint64_t words[4];
  if (mpnum_optimizer_plan(list, words, &made.how, made.at, 3) != MPNUM_OK) return cudaErrorUnknown;
  list->tensors = tensors;
  list->tiles_before = before;
  AND_THEN(cudaMemcpy(tensors, made.at, sizeof made.at, cudaMemcpyHostToDevice));
  return cudaMemcpy(before, words, sizeof words, cudaMemcpyHostToDevice);
}
/* More tiles than the blocks of one multiprocessor take at once, twice over. */
enum { PIECES = 70, PIECE = 30 };
struct pieces {
  mpnum_grad_tensor at[PIECES];
  explicit pieces(float *x) {
    for (int i = 0; i < PIECES; ++i)
      at[i] = mpnum_grad_tensor_of(MPNUM_TYPE_F32, x + PIECE * i, PIECE, MPNUM_TYPE_F32, x + PIECE * i);
  }
};
static cudaError_t list_of(mpnum_grad_list *list, const pieces &made, mpnum_grad_tensor *tensors, uint64_t *before) {
  uint64_t words[PIECES + 1];
  if (mpnum_grad_plan(list, words, made.at, PIECES, 0) != MPNUM_OK) return cudaErrorUnknown;
  list->tensors = tensors;
  list->tiles_before = before;
  AND_THEN(cudaMemcpy(tensors, made.at, sizeof made.at, cudaMemcpyHostToDevice));
  return cudaMemcpy(before, words, sizeof words, cudaMemcpyHostToDevice);
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


def squares(count, seed=0):
    return struct.pack(f"<{count}f", *(value * value for value in struct.unpack(f"<{count}f", floats(count, seed, ()))))


def narrowed(wide):
    """The upper halves of floats, which are bf16."""
    return b"".join(wide[place + 2:place + 4] for place in range(0, len(wide), 4))


def bfloats(count, seed=0, special=(0.0, -0.0)):
    return narrowed(floats(count, seed, special))


def codes_of_bytes(count, seed=0):
    """Any codes: NaN, subnormals and what has a sign, too."""
    return random.Random(f"{count} {seed} codes").randbytes(count)


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


# Kernels whose last block takes what all have left.
COUNTED = ("stats_and_all_finite", "grad_pass_of_blocks")


def fences_are_needed(program, case):
    """One before the counter of blocks, without which the results are others or are read where there is nothing; and one
    after it, which changes nothing where blocks follow each other."""
    usual, program.launched = program.machine, set()
    runs_as_on_the_host(program, case)
    kernels = {name: [one.opcode for one in usual.module.function(name).instructions] for name in program.launched}
    kernels = {name: opcodes for name, opcodes in kernels.items() if "membar" in opcodes}
    needed = set()
    for name, opcodes in kernels.items():
        atomics = [place for place, one in enumerate(opcodes) if one == "atom"]
        fences = [place for place, one in enumerate(opcodes) if one in ("membar", "fence")]
        assert len(fences) == 2 and any(fences[0] < place < fences[1] for place in atomics), f"{name}: {opcodes}"
        program.machine = Machine(re.sub(rf"(?s)(\.entry {name}\(.*?)membar\.gl;", r"\1", program.text, count=1))
        try:
            runs_as_on_the_host(program, case)
        except (AssertionError, PtxError):
            needed.add(name)
    program.machine = usual
    assert kernels and needed == set(kernels), f"the same without a fence in {set(kernels) - needed}"


WAITING = ("rows_staged",)


def waits_are_needed(program, case):
    """For copies, and for the barrier of the warp behind each wait: without one of them what a kernel reads is not there."""
    usual = program.machine
    for lack in (r"()cp\.async\.wait_all;", r"(?s)(cp\.async\.wait_all;.*?)bar\.warp\.sync[^;]*;"):
        text = re.sub(lack, r"\1", program.text)
        assert text != program.text, "no kernel waits for copies"
        program.machine = Machine(text)
        try:
            runs_as_on_the_host(program, case)
        except PtxError as error:
            assert re.search("uninitialised|race", str(error)), error
        else:
            raise AssertionError(f"the same without {lack}")
    program.machine = usual


OF, TO = "mpnum_const_matrix_of({}, {}, 3, 70)".format, "mpnum_matrix_of({}, {}, 3, 70)".format
F32, F16, BF16 = "MPNUM_TYPE_F32", "MPNUM_TYPE_F16", "MPNUM_TYPE_BF16"
GATED = f"""mpnum_activation_options how = mpnum_activation_default();
  how.factor = {OF(BF16, 'u')};
  how.limit = 2.5f;
  how.alpha = 1.702f;
  how.offset = how.adds = 1;
"""
MADE = """mpnum_activation_options how = mpnum_activation_default();
  how.factor = mpnum_const_matrix_of(MPNUM_TYPE_BF16, u, 64, 64);
  const mpnum_blockscaled by_row = {codes, 128, scales, 256, 0, 1}, by_column = {turned, 64, turned_scales, 256, 0, 1};
"""
CAUSAL = """mpnum_softmax_options how = mpnum_softmax_default();
  how.scale = 1.25f;
  how.first_length = 60;
  how.length_step = 5;
"""
# Rows that no thread holds, for which a block has no room: eight tiles and a piece, which ends in no whole stage.
STAGED = """mpnum_softmax_options how = mpnum_softmax_default();
  how.scale = 1.25f;
  how.flags = MPNUM_SOFTMAX_LIMIT;
"""
CAPPED = CAUSAL + """  const mpnum_softmax_cap cap = mpnum_softmax_cap_of(2);
  mpnum_cross_entropy_options losses = mpnum_cross_entropy_default();
  how.cap = &cap;
"""
NORM = """mpnum_normalize_options how = mpnum_normalize_default();
  how.weight = weight;
"""
SUM = NORM + f"""  how.bias = bias;
  how.inverse = inverse;
  how.residual = {OF(F16, 'hidden')};
  how.sum = {TO(F16, 'hidden')};
"""
LONG = """  how.residual = mpnum_const_matrix_of(MPNUM_TYPE_F16, hidden, 1, 12064);
  how.sum = mpnum_matrix_of(MPNUM_TYPE_F16, hidden, 1, 12064);
"""
LOSS = """mpnum_cross_entropy_options how = mpnum_cross_entropy_default();
  how.label_smoothing = 0.125f;
  how.reduction = MPNUM_REDUCTION_MEAN;
  how.counted = counted;
"""
STORED = """mpnum_stored from[4] = {mpnum_stored_of(MPNUM_STORED_NF4, 8, 64, 0), mpnum_stored_of(MPNUM_STORED_FP4, 8, 64, 0),
                         mpnum_stored_of(MPNUM_STORED_MXFP4, 8, 64, 0), mpnum_stored_of(MPNUM_STORED_AWQ, 8, 64, 64)};
  for (int i = 0; i < 4; ++i) {
    from[i].data = data;
    from[i].scales = i < 2 ? (void *)scales : groups;
    from[i].zeros = zeros;
  }
"""
STORED_TILES = """mpnum_stored a = mpnum_stored_of(MPNUM_STORED_Q8_0, 1, 8256, 0), b = mpnum_stored_of(MPNUM_STORED_Q4_0, 1, 8256, 0),
               c = mpnum_stored_of(MPNUM_STORED_NF4, 1, 8256, 32);
  a.data = q8_0;
  b.data = q4_0;
  c.data = nf4;
  c.scales = scales;
"""
MOVED = """mpnum_stored block = mpnum_stored_of(MPNUM_STORED_NVFP4, 3, 128, 0);
  const mpnum_blockscaled tiles = {codes, 128, scales, 1024, 1, 0};
  const mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  block.data = data;
"""
EACH_STORED = """mpnum_stored to[8];
  void *const data[8] = {mxfp4, nvfp4, q8_0, q4_0, nf4, fp4, awq, gptq};
  for (int i = 0; i < 8; ++i) {
    to[i] = mpnum_stored_of((mpnum_stored_layout)i, 8, 64, i < 4 ? 0 : 64);
    to[i].data = data[i];
    to[i].scales = i == 4 ? (void *)nf4_scales : i == 5 ? (void *)fp4_scales : i == 6 ? (void *)awq_scales : (void *)gptq_scales;
    to[i].zeros = i == 6 ? awq_zeros : gptq_zeros;
  }
"""
FACTORED = """const mpnum_adafactor how = mpnum_adafactor_default();
  mpnum_optimizer_tensor t = mpnum_optimizer_tensor_of(630, MPNUM_TYPE_F32, g, MPNUM_TYPE_BF16, p, MPNUM_TYPE_F32, r, c);
  t.columns = 9;
"""
WEIGHTS = {"weight": ("float", floats(70, 1)), "bias": ("float", floats(70, 2))}
STATES = {"p": ("float", floats(1030)), "m": ("float", floats(1030, 1)), "v": ("float", squares(1030)),
          "small": ("mpnum_bf16", out(523)), "q": ("mpnum_bf16", bfloats(101)), "lacks": ("mpnum_bf16", bytes(202)),
          "m_small": ("mpnum_bf16", bfloats(101, 2)), "v_small": ("mpnum_bf16", narrowed(squares(101, 1))),
          "bytes": ("mpnum_e4m3", out(101)), "losses": ("mpnum_quantize_losses", bytes(32)), "g": ("float", floats(1030, 3)),
          "h": ("mpnum_f16", halves(101)), "r": ("float", floats(523, 4)), "m_byte": ("mpnum_e4m3", codes_of_bytes(523)),
          "v_byte": ("mpnum_e4m3", codes_of_bytes(523, 1)), "m_scales": ("mpnum_e8m0", bytes([120, 127, 0])),
          "v_scales": ("mpnum_e8m0", bytes([118, 0, 125])), "tensors": ("mpnum_optimizer_tensor", out(3)),
          "before": ("uint64_t", out(4)),
          "multiplier": ("float", one(0.125)), "progress": ("mpnum_optimizer_progress", bytes(80))}
TENSORS = {"x": ("float", floats(2100)), "y": ("mpnum_f16", halves(331)), "to": ("float", out(331)),
           "histogram": ("mpnum_histogram", bytes(2056)), "findings": ("mpnum_grad_findings", out(1)),
           "workspace": ("mpnum_grad_workspace", bytes(640)), "tensors": ("mpnum_grad_tensor", out(2)), "before": ("uint64_t", out(3)),
           "scaler": ("mpnum_grad_scaler", out(1)), "handle": ("mpnum_grad_optimizer", out(1)), "apply": ("uint32_t", out(1))}
# One kernel of each family.
CASES = [
    *(Case(f"convert_f32_to_{small}_{overflow.lower()}_stochastic",
           {"codes": (f"mpnum_{small}", out(4200)), "x": ("float", floats(4200, 1, (447.9, 463.0, -479.9, 480.0, 512.0, -1e5, 60000.0, 3e38,
            float("-inf"), float("nan"), -1e-6, 1e-9, -1e-40, 0.0, -0.0, *(2.0 ** -e for e in range(4, 24)))))},
           f"mpnum_launch_convert_round(codes, x, 4200, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_{overflow}, 9, 4, 0)",
           f"""for (size_t i = 0; i < 4200; ++i)
    codes[i] = mpnum_f32_to_{small}_round(x[i], MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_{overflow}, mpnum_random(9, 4 + i));
  return 0;""") for small, overflow in (("e4m3", "SATURATE"), ("e5m2", "IEEE"))),
    Case("convert_f32_to_e4m3", {"codes": ("mpnum_e4m3", out(4200)), "x": ("float", floats(4200, 0, (464.0, 465.0, -1e30)))},
         "mpnum_launch_convert(codes, x, 4200, 0)", "return mpnum_f32_to_e4m3_array(codes, x, 4200), 0;"),
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
    Case("mx_e4m3_summed", {"x": ("mpnum_bf16", bfloats(68 * 128)), "codes": ("char", out(68 * 128)), "scales": ("char", out(272)),
                            "sums": ("float", floats(128, 1)), "own": ("float", out(256))},
         """const mpnum_blockscaled by_row = {codes, 128, scales, 272, 0, 1};
  return mpnum_launch_quantize_mx<mpnum_e4m3>(&by_row, 0, mpnum::summed_of(mpnum::matrix_of(x, 68, 128), sums, own, 1),
                                              MPNUM_BLOCKSCALE_RCEIL, MPNUM_QUANTIZE_ROWS, 0);""",
         """const mpnum_blockscale_format format = mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
  const mpnum_blockscaled by_row = {codes, 128, scales, 272, 0, 1};
  const mpnum_status status = mpnum_quantize_blocks(&format, by_row, mpnum_const_matrix_of(MPNUM_TYPE_BF16, x, 68, 128), 0, 0);
  return status ? status : mpnum_sum_columns(sums, mpnum_const_matrix_of(MPNUM_TYPE_BF16, x, 68, 128), 1);""", "own"),
    Case("mx_e4m3_normed", {"x": ("mpnum_bf16", bfloats(64 * 64)), "codes": ("char", out(64 * 64)), "scales": ("char", out(128)),
                            "weight": ("float", floats(64, 1)), "own": ("float", out(256))},
         NORM + """  const mpnum_blockscaled by_column = {codes, 64, scales, 128, 0, 1};
  return mpnum_launch_quantize_mx<mpnum_e4m3>(0, &by_column, mpnum::normalized_of(MPNUM_NORM_RMS, mpnum::matrix_of(x, 64, 64), &how, own),
                                              MPNUM_BLOCKSCALE_RCEIL, MPNUM_QUANTIZE_COLUMNS, 0);""",
         NORM + """  const mpnum_blockscale_format format = mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL),
                                across = mpnum_blockscale_transposed(format);
  const mpnum_blockscaled by_column = {codes, 64, scales, 128, 0, 1};
  static float made[64 * 64];
  const mpnum_status status = mpnum_normalize_rows(MPNUM_NORM_RMS, mpnum_matrix_of(MPNUM_TYPE_F32, made, 64, 64),
                                                   mpnum_const_matrix_of(MPNUM_TYPE_BF16, x, 64, 64), &how);
  return status ? status : mpnum_quantize_blocks(&across, by_column, mpnum_const_matrix_of(MPNUM_TYPE_F32, made, 64, 64), 0, 0);""", "own"),
    # A row without room in shared memory, whose sum is stored, and read again by other threads.
    Case("mx_e4m3_of_a_long_norm", {"x": ("mpnum_f16", halves(12064)), "hidden": ("mpnum_f16", halves(12064, 1)),
                                    "codes": ("char", out(12064)), "scales": ("char", out(377)), "weight": ("float", floats(12064, 2))},
         NORM + LONG + """  const mpnum_blockscaled by_row = {codes, 12064, scales, 377, 0, 1};
  return mpnum_launch_quantize_mx<mpnum_e4m3>(&by_row, 0, mpnum::normalized_of(MPNUM_NORM_RMS, mpnum::matrix_of(x, 1, 12064), &how),
                                              MPNUM_BLOCKSCALE_RCEIL, MPNUM_QUANTIZE_ROWS, 0);""",
         NORM + LONG + """  const mpnum_blockscale_format format = mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
  const mpnum_blockscaled by_row = {codes, 12064, scales, 377, 0, 1};
  static float made[12064];
  const mpnum_status status = mpnum_normalize_rows(MPNUM_NORM_RMS, mpnum_matrix_of(MPNUM_TYPE_F32, made, 1, 12064),
                                                   mpnum_const_matrix_of(MPNUM_TYPE_F16, x, 1, 12064), &how);
  return status ? status : mpnum_quantize_blocks(&format, by_row, mpnum_const_matrix_of(MPNUM_TYPE_F32, made, 1, 12064), 0, 0);"""),
    Case("nvfp4_ue5m3", {"x": ("mpnum_bf16", bfloats(8 * 128)), "codes": ("char", out(512)), "scales": ("char", out(64)),
                         "one": ("float", one(1)), "y": ("float", out(8 * 128))},
         """const mpnum_blockscaled by_row = {codes, 128, scales, 64, 0, 0};
  const cudaError_t error = mpnum_launch_quantize_nvfp4<1, MPNUM_TYPE_UE5M3>(&by_row, 0, mpnum::matrix_of(x, 8, 128), one, MPNUM_QUANTIZE_ROWS, 0);
  if (error != cudaSuccess) return error;
  return mpnum_launch_dequantize_nvfp4<1, MPNUM_TYPE_UE5M3>(mpnum::matrix_of(y, 8, 128), &by_row, one, MPNUM_QUANTIZE_ROWS, 0);""",
         """mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  const mpnum_blockscaled by_row = {codes, 128, scales, 64, 0, *one};
  format.scale_type = MPNUM_TYPE_UE5M3;
  const mpnum_status status = mpnum_quantize_blocks(&format, by_row, mpnum_const_matrix_of(MPNUM_TYPE_BF16, x, 8, 128), 0, 0);
  return status ? status : mpnum_dequantize_blocks(&format, mpnum_matrix_of(MPNUM_TYPE_F32, y, 8, 128), by_row);"""),
    Case("dequantize_stored", {"y": ("mpnum_bf16", out(4 * 512)), "data": ("char", codes_of_bytes(272)),
                               "scales": ("float", floats(8)), "groups": ("mpnum_f16", halves(8)), "zeros": ("char", codes_of_bytes(4))},
         STORED + """  for (int i = 0; i < 4; ++i)
    AND_THEN(mpnum_launch_dequantize_stored(mpnum::matrix_of(y + 512 * i, 8, 64), from[i], 0));
  return cudaSuccess;""",
         STORED + """  int status = 0;
  for (int i = 0; i < 4; ++i) status |= mpnum_dequantize_stored(mpnum_matrix_of(MPNUM_TYPE_BF16, y + 512 * i, 8, 64), from[i]);
  return status;"""),
    Case("quantize_stored", {"x": ("mpnum_bf16", bfloats(512)), "nf4": ("char", out(256)), "nf4_scales": ("float", out(8)),
                             "fp4": ("char", out(256)), "fp4_scales": ("float", out(8)), "mxfp4": ("char", out(272)),
                             "nvfp4": ("char", out(288)), "q8_0": ("char", out(544)), "q4_0": ("char", out(288)),
                             "awq": ("char", out(256)), "awq_scales": ("mpnum_f16", out(8)), "awq_zeros": ("char", out(4)),
                             "gptq": ("char", out(256)), "gptq_scales": ("mpnum_f16", out(8)), "gptq_zeros": ("char", out(4))},
         EACH_STORED + """  for (int i = 0; i < 8; ++i)
    AND_THEN(mpnum_launch_quantize_stored(to[i], mpnum::matrix_of(x, 8, 64), 0));
  return cudaSuccess;""",
         EACH_STORED + """  int status = 0;
  for (int i = 0; i < 8; ++i) status |= mpnum_quantize_stored(to[i], mpnum_const_matrix_of(MPNUM_TYPE_BF16, x, 8, 64));
  return status;"""),
    Case("stored_tiles", {"x": ("mpnum_bf16", bfloats(8256)), "q8_0": ("char", out(8772)), "q4_0": ("char", out(4644)),
                          "y": ("mpnum_bf16", out(8256)), "z": ("mpnum_f16", out(8256)), "nf4": ("char", codes_of_bytes(4128)),
                          "scales": ("float", floats(258)), "w": ("mpnum_bf16", out(8256))},
         STORED_TILES + """  AND_THEN(mpnum_launch_quantize_stored(a, mpnum::matrix_of(x, 1, 8256), 0));
  AND_THEN(mpnum_launch_quantize_stored(b, mpnum::matrix_of(x, 1, 8256), 0));
  AND_THEN(mpnum_launch_dequantize_stored(mpnum::matrix_of(y, 1, 8256), a, 0));
  AND_THEN(mpnum_launch_dequantize_stored(mpnum::matrix_of(w, 1, 8256), c, 0));
  return mpnum_launch_dequantize_stored(mpnum::matrix_of(z, 1, 8256), b, 0);""",
         STORED_TILES + """  return mpnum_quantize_stored(a, mpnum_const_matrix_of(MPNUM_TYPE_BF16, x, 1, 8256)) ||
         mpnum_quantize_stored(b, mpnum_const_matrix_of(MPNUM_TYPE_BF16, x, 1, 8256)) ||
         mpnum_dequantize_stored(mpnum_matrix_of(MPNUM_TYPE_BF16, y, 1, 8256), a) ||
         mpnum_dequantize_stored(mpnum_matrix_of(MPNUM_TYPE_BF16, w, 1, 8256), c) ||
         mpnum_dequantize_stored(mpnum_matrix_of(MPNUM_TYPE_F16, z, 1, 8256), b);"""),
    Case("moved", {"codes": ("char", codes_of_bytes(192)), "scales": ("char", codes_of_bytes(1024)), "data": ("char", out(216)),
                   "back": ("char", out(192)), "rows": ("char", out(24)), "again": ("char", out(1024))},
         MOVED + """  mpnum_blockscaled other = {back, 128, rows, 24, 0, 0};
  AND_THEN(mpnum_launch_stored_from_blocks(block, tiles, 0));
  AND_THEN(mpnum_launch_stored_to_blocks(other, block, 0));
  return mpnum_launch_reorder_scales(&format, MPNUM_SCALES_SWIZZLED, again, 1024, MPNUM_SCALES_IN_ROWS, rows, 24, 3, 128, 0);""",
         MOVED + """  mpnum_blockscaled other = {back, 128, rows, 24, 0, 0};
  return mpnum_stored_from_blocks(block, tiles) || mpnum_stored_to_blocks(other, block) ||
         mpnum_reorder_scales(&format, MPNUM_SCALES_SWIZZLED, again, 1024, MPNUM_SCALES_IN_ROWS, rows, 24, 3, 128);"""),
    Case("nvfp4_stochastic", {"x": ("mpnum_bf16", bfloats(32 * 256)), "codes": ("char", out(32 * 128)), "scales": ("char", out(32 * 16)),
                              "one": ("float", one(3))},
         """const mpnum_blockscaled by_row = {codes, 256, scales, 512, 0, 0};
  return mpnum_launch_quantize_nvfp4_sr<1>(&by_row, 0, mpnum::matrix_of(x, 32, 256), one, MPNUM_QUANTIZE_ROWS, 5, 4, 0);""",
         """mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  const mpnum_quantize_options how = {5, 4};
  const mpnum_blockscaled by_row = {codes, 256, scales, 512, 0, *one};
  format.rounding = MPNUM_ROUND_STOCHASTIC;
  return mpnum_quantize_blocks(&format, by_row, mpnum_const_matrix_of(MPNUM_TYPE_BF16, x, 32, 256), &how, 0);"""),
    Case("activation_mx", {"x": ("mpnum_bf16", bfloats(64 * 64)), "u": ("mpnum_bf16", bfloats(64 * 64, 1)), "dy": ("mpnum_bf16", bfloats(64 * 64, 2)),
                           "codes": ("char", out(64 * 128)), "scales": ("char", out(256)), "turned": ("char", out(64 * 128)),
                           "turned_scales": ("char", out(256))},
         MADE + """  return mpnum_launch_quantize_mx<mpnum_e4m3>(&by_row, &by_column,
    mpnum::activation_backward_of<MPNUM_ACTIVATION_SILU>(mpnum::matrix_of(dy, 64, 64), mpnum::matrix_of(x, 64, 64), &how),
    MPNUM_BLOCKSCALE_RCEIL, MPNUM_QUANTIZE_ROWS | MPNUM_QUANTIZE_COLUMNS | MPNUM_QUANTIZE_TRANSPOSED, 0);""",
         MADE + """  const mpnum_blockscale_format format = mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
  static float made[64 * 128], other[64 * 128];
  mpnum_matrix to = mpnum_matrix_of(MPNUM_TYPE_F32, made, 64, 64), to_factor = mpnum_matrix_of(MPNUM_TYPE_F32, made + 64, 64, 64);
  to.stride = to_factor.stride = 128;
  mpnum_status status = mpnum_activation_backward_rows(MPNUM_ACTIVATION_SILU, to, to_factor, mpnum_const_matrix_of(MPNUM_TYPE_BF16, dy, 64, 64),
    mpnum_const_matrix_of(MPNUM_TYPE_BF16, x, 64, 64), &how);
  for (int i = 0; i < 64 * 128; ++i) other[i % 128 * 64 + i / 128] = made[i];
  if (!status) status = mpnum_quantize_blocks(&format, by_row, mpnum_const_matrix_of(MPNUM_TYPE_F32, made, 64, 128), 0, 0);
  return status ? status : mpnum_quantize_blocks(&format, by_column, mpnum_const_matrix_of(MPNUM_TYPE_F32, other, 128, 64), 0, 0);"""),
    Case("amax_rows", {"x": ("mpnum_bf16", bfloats(32 * 256)), "codes": ("char", out(32 * 256)), "scales": ("float", out(64))},
         """const mpnum_blockscaled by_row = {codes, 256, scales, 256, 0, 0};
  return mpnum_launch_quantize_fp8<mpnum_e4m3, 1>(&by_row, 0, mpnum::matrix_of(x, 32, 256), MPNUM_BLOCKSCALE_AMAX, 0, MPNUM_QUANTIZE_ROWS, 0);""",
         """const mpnum_blockscale_format format = mpnum_blockscale_fp8_1x128();
  const mpnum_blockscaled by_row = {codes, 256, scales, 256, 0, 1};
  return mpnum_quantize_blocks(&format, by_row, mpnum_const_matrix_of(MPNUM_TYPE_BF16, x, 32, 256), 0, 0);"""),
    Case("activation", {"dx": ("mpnum_bf16", bfloats(210, 3)), "du": ("mpnum_bf16", bfloats(210, 4)), "dy": ("mpnum_bf16", bfloats(210, 1)),
                        "x": ("mpnum_bf16", bfloats(210)), "u": ("mpnum_bf16", bfloats(210, 2))},
         GATED + "  return mpnum_launch_activation_backward_rows(MPNUM_ACTIVATION_SILU, mpnum::matrix_of(dx, 3, 70), mpnum::matrix_of(du, 3, 70), "
         "mpnum::matrix_of(dy, 3, 70), mpnum::matrix_of(x, 3, 70), &how, 0);",
         GATED + f"  return mpnum_activation_backward_rows(MPNUM_ACTIVATION_SILU, {TO(BF16, 'dx')}, {TO(BF16, 'du')}, {OF(BF16, 'dy')}, "
         f"{OF(BF16, 'x')}, &how);"),
    Case("activation_codes", {"codes": ("mpnum_e4m3", out(210)), "scale": ("float", one(30)), "amax": ("float", one(0)), "x": ("float", floats(210))},
         "mpnum_launch_activation_quantize_rows(MPNUM_ACTIVATION_GELU, mpnum::matrix_of(codes, 3, 70), mpnum::matrix_of(x, 3, 70), nullptr, scale, amax, 0)",
         """mpnum_quantize_losses losses = {0, 0, 0, 0};
  const mpnum_status status = mpnum_activation_quantize_rows(MPNUM_ACTIVATION_GELU, mpnum_matrix_of(MPNUM_TYPE_E4M3, codes, 3, 70),
      mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 3, 70), nullptr, *scale, &losses);
  *amax = losses.amax;
  return status;"""),
    Case("dropout", {"y": ("mpnum_f16", out(210)), "x": ("float", floats(210))},
         "mpnum_launch_dropout_rows(mpnum::matrix_of(y, 3, 70), mpnum::matrix_of(x, 3, 70), 0.7f, 3, 5, 0)",
         f"mpnum_dropout_rows({TO(F16, 'y')}, {OF(F32, 'x')}, 0.7f, 3, 5)"),
    Case("softmax", {"y": ("mpnum_f16", out(210)), "status": ("mpnum_row_status", out(3)), "x": ("float", floats(210))},
         CAUSAL + "  return mpnum_launch_softmax_rows(mpnum::matrix_of(y, 3, 70), mpnum::matrix_of(x, 3, 70), &how, status, 0);",
         CAUSAL + f"  return mpnum_softmax_rows({TO(F16, 'y')}, {OF(F32, 'x')}, &how, status);"),
    Case("softmax_capped", {"y": ("mpnum_f16", out(210)), "dx": ("float", out(210)), "dy": ("mpnum_f16", halves(210, 1)),
                            "x": ("float", floats(210)), "loss": ("float", out(3)), "gradient": ("mpnum_bf16", out(210)),
                            "targets": ("int64_t", struct.pack("<3q", 69, -100, 0))},
         CAPPED + """  AND_THEN(mpnum_launch_softmax_capped_rows(mpnum::matrix_of(y, 3, 70), mpnum::matrix_of(x, 3, 70), &how, 0, 0));
  AND_THEN(mpnum_launch_softmax_capped_backward_rows(mpnum::matrix_of(dx, 3, 70), mpnum::matrix_of(dy, 3, 70),
                                                     mpnum::matrix_of(y, 3, 70), mpnum::matrix_of(x, 3, 70), &how, 0));
  losses.softmax = how;
  return mpnum_launch_cross_entropy_capped_rows(loss, mpnum::matrix_of(gradient, 3, 70), mpnum::matrix_of(x, 3, 70), targets,
                                                &losses, 0, 0);""",
         CAPPED + f"""  return mpnum_softmax_rows({TO(F16, 'y')}, {OF(F32, 'x')}, &how, 0) ||
         mpnum_softmax_capped_backward_rows({TO(F32, 'dx')}, {OF(F16, 'dy')}, {OF(F16, 'y')}, {OF(F32, 'x')}, &how) ||
         (losses.softmax = how, mpnum_cross_entropy_rows(loss, {TO(BF16, 'gradient')}, {OF(F32, 'x')}, targets, &losses, 0));"""),
    Case("cross_entropy", {"loss": ("float", out(3)), "gradient": ("mpnum_bf16", out(210)), "counted": ("size_t", out(1)),
                           "x": ("mpnum_bf16", bfloats(210)), "targets": ("int64_t", struct.pack("<3q", 69, -100, 0))},
         LOSS + "  return mpnum_launch_cross_entropy_rows(loss, mpnum::matrix_of(gradient, 3, 70), mpnum::matrix_of(x, 3, 70), targets, &how, 0, 0);",
         LOSS + f"""  how.reduction = MPNUM_REDUCTION_NONE;
  (void)mpnum_cross_entropy_rows(loss, {TO(BF16, 'gradient')}, {OF(BF16, 'x')}, targets, &how, 0);
  how.reduction = MPNUM_REDUCTION_MEAN;
  return mpnum_cross_entropy_rows(loss, {TO(BF16, 'gradient')}, {OF(BF16, 'x')}, targets, &how, 0);"""),
    Case("norms", {"y": ("mpnum_f16", out(210)), "z": ("mpnum_f16", out(210)), "hidden": ("mpnum_f16", halves(210, 1)),
                   "x": ("mpnum_f16", halves(210)), "inverse": ("float", out(3)), **WEIGHTS},
         SUM + """  AND_THEN(mpnum_launch_normalize_rows(MPNUM_NORM_LAYER, mpnum::matrix_of(y, 3, 70), mpnum::matrix_of(x, 3, 70), &how, 0));
  return mpnum_launch_normalize_rows(MPNUM_NORM_RMS, mpnum::matrix_of(z, 3, 70), mpnum::matrix_of(x, 3, 70), &how, 0);""",
         SUM + f"""  return mpnum_normalize_rows(MPNUM_NORM_LAYER, {TO(F16, 'y')}, {OF(F16, 'x')}, &how) ||
         mpnum_normalize_rows(MPNUM_NORM_RMS, {TO(F16, 'z')}, {OF(F16, 'x')}, &how);"""),
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
  workspace->squares = findings->squares;
  workspace->norm = mpnum_grad_norm(findings);
  return status;""", "tensors before"),
    Case("grad_pass_of_blocks", {**TENSORS, "tensors": ("mpnum_grad_tensor", out(70)), "before": ("uint64_t", out(71))},
         """mpnum_grad_list list;
  const pieces made(x);
  const mpnum_grad_scaler begun = scaler_of_1024();
  AND_THEN(list_of(&list, made, tensors, before));
  AND_THEN(cudaMemcpy(scaler, &begun, sizeof begun, cudaMemcpyHostToDevice));
  return mpnum_launch_grad_pass(findings, list, scaler, workspace, 0);""", """const pieces made(x);
  mpnum_grad_optimizer own;
  *scaler = scaler_of_1024();
  own = mpnum_grad_optimizer_of(scaler);
  const int status = mpnum_grad_scaler_unscale(scaler, &own, made.at, PIECES, 0, findings);
  workspace->squares = findings->squares;
  workspace->norm = mpnum_grad_norm(findings);
  return status;""", "tensors before scaler"),
    Case("optimizer_step", STATES, """const three_states made(p, m, v, small, q, lacks, m_small, v_small, bytes, losses, g, h, r,
                                                                m_byte, v_byte, m_scales, v_scales);
  mpnum_optimizer_list list;
  AND_THEN(list_of(&list, made, tensors, before));
  return mpnum_launch_optimizer_step(&made.how, list, progress, 0, multiplier, 0, 0);""", """const three_states made(p, m, v, small, q, lacks, m_small, v_small, bytes, losses, g, h, r,
                                                                m_byte, v_byte, m_scales, v_scales);
  return mpnum_optimizer_step(&made.how, made.at, 3, 1, *multiplier, MPNUM_GRAD_APPLY);""", "tensors before progress"),
    Case("adafactor", {"p": ("mpnum_bf16", bfloats(70 * 9)), "r": ("float", squares(70, 5)), "c": ("float", squares(9, 6)),
                       "g": ("float", floats(70 * 9, 7)), "multiplier": ("float", one(0.125)), "own": ("char", bytes(8192)),
                       "progress": ("mpnum_optimizer_progress", bytes(80))},
         FACTORED + """  if (mpnum_launch_adafactor_bytes(&t, 1) > 8192) return cudaErrorUnknown;
  return mpnum_launch_adafactor_step(&how, &t, 1, progress, 0, multiplier, 0, own, 0);""",
         FACTORED + "  return mpnum_adafactor_step(&how, &t, 1, 1, *multiplier, MPNUM_GRAD_APPLY);", "own progress"),
    Case("rows_staged", {"y": ("mpnum_bf16", out(16520)), "status": ("mpnum_row_status", out(1)), "x": ("mpnum_bf16", bfloats(16520))},
         STAGED + """  shared_most = (65 << 10) + 64;
  const cudaError_t error = mpnum_launch_softmax_rows(mpnum::matrix_of(y, 1, 16520), mpnum::matrix_of(x, 1, 16520), &how, status, 0);
  shared_most = 48 << 10;
  return error;""",
         STAGED + f"""  return mpnum_softmax_rows(mpnum_matrix_of({BF16}, y, 1, 16520), mpnum_const_matrix_of({BF16}, x, 1, 16520), &how,
                            status);""",
         kernel="extern \"C\" int shared_most;\n"),
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
]


def properties(folder, known):
    found = []
    for place, arch in enumerate(ARCHS):
        cases = CASES if sys.argv[1:] else CASES[place::len(ARCHS)]
        if arch.rstrip("af") not in known:
            found.append(named(f"sm_{arch}", calls.skip, f"this nvcc does not compile for sm_{arch}"))
            continue
        program = lru_cache(lambda cases=cases, arch=arch: compiled(cases, folder, arch))
        for title, test, some in (("", runs_as_on_the_host, cases),
                                  (", fences", fences_are_needed, [case for case in cases if case.name in COUNTED]),
                                  (", waits", waits_are_needed, [case for case in cases if case.name in WAITING and arch != "75"])):
            found += [named(f"sm_{arch}: {case.name}{title}", lambda one=case, test=test, program=program: test(program(), one))
                      for case in some]
    return found


def main():
    if sys.argv[1:] not in ([], ["all"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return calls.run("launchers in the PTX interpreter", properties)


def compiled(cases, folder, arch):
    return Program(BEGIN + "".join(case.source() for case in cases), folder, arch)


if __name__ == "__main__":
    sys.exit(main())
