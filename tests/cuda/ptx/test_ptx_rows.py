#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What threads do to a row in mpnum/rows/rows.cuh, loss_rows.cuh and norm_rows.cuh, the collectives of block.cuh for rows,
and softmax_state.h run in the PTX interpreter of tests/cuda/ptx as nvcc compiles them: every byte is that of the host's
functions, and no thread reads past an end, reads what nothing has written, or races with another.
"""

import ctypes
import random
import struct
import sys
import tempfile
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[2] / room) for room in ["harness", "cuda"]]

import tap
import toolchain
from ptx import calls
from ptx.machine import Machine
from toolchain import INCLUDE, named
from tree import check

ARCHS = ["75", "90", "120a"]
DEVICE = """\
#include <mpnum/kernels.cuh>

template <class Src> __device__ mpnum::row_source_<Src> source(const Src *src, unsigned columns, unsigned kept) {
  mpnum::row_source_<Src> from = mpnum::row_source_<Src>();
  from.data = src;
  from.rows = 3;
  from.stride = from.columns = columns;
  from.kept = kept;
  from.scale = 1.25f;
  return from;
}
#define PLACE() mpnum::row_place_of_(blockIdx.x * blockDim.y + threadIdx.y, 3, columns, kept)

extern "C" __global__ void softmax(mpnum_f16 *dst, const float *src, unsigned columns, unsigned kept, int is_log) {
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  mpnum::softmax_job_<mpnum_f16, float> job = {source(src, columns, kept), dst, columns, 0};
  if (is_log)
    mpnum::softmax_row_<true>(job, PLACE(), scratch);
  else
    mpnum::softmax_row_<false>(job, PLACE(), scratch);
}
extern "C" __global__ void losses(float *loss, float *gradient, const mpnum_e4m3 *src, const int *targets, unsigned columns,
                                  unsigned kept) {
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  mpnum::loss_job_<float, mpnum_e4m3, int> job = {source(src, columns, kept), loss, gradient, columns, targets, 0, 0, -100,
                                                  0.125f, 1.25f};
  mpnum::loss_row_(job, PLACE(), scratch);
}
extern "C" __global__ void backward(float *dx, const float *dy, const float *y, unsigned columns, unsigned kept) {
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  mpnum::slope_job_<float, float, float> job = {source(y, columns, kept), dy, dx, columns, columns, 0};
  mpnum::slope_row_(job, PLACE(), scratch);
}
extern "C" __global__ void layer_norm(float *dst, const float *src, unsigned columns, unsigned kept) {
  __shared__ mpnum::norm_scratch_ scratch;
  mpnum::norm_job_<mpnum::norm_plain_<float>, float> job = mpnum::norm_job_<mpnum::norm_plain_<float>, float>();
  job.from.data = src;
  job.from.rows = 3;
  job.from.stride = job.from.columns = job.to.stride = columns;
  job.from.kept = kept;
  job.from.epsilon = 1e-5f;
  job.from.kind = MPNUM_NORM_LAYER;
  job.to.dst = dst;
  mpnum::norm_one_(job, PLACE(), &scratch);
}
/* Every thread has a state: floats 2 i and 2 i + 1. */
extern "C" __global__ void merge(float *out, const float *in) {
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  const unsigned i = mpnum_thread_index_();
  const mpnum_softmax_state state = {in[2 * i], in[2 * i + 1]};
  const mpnum_softmax_state warp = mpnum_warp_softmax_merge(state, 0.75f);
  const mpnum_softmax_state block = mpnum_block_softmax_merge(state, 0.75f, scratch);
  const mpnum_argmax argmax = mpnum_block_argmax_f32(state.max, i, scratch);
  out += 6 * i;
  out[0] = warp.max;
  out[1] = warp.sum;
  out[2] = block.max;
  out[3] = block.sum;
  out[4] = argmax.max;
  out[5] = static_cast<float>(argmax.index);
}
"""
# Every thread adds 8 of its 16 floats one by one, then 8 as a tile.
ADDED = """\
#include <mpnum/rows/softmax_state.h>
extern "C" __global__ void add(float *out, const float *in, float scale) {
  mpnum_softmax_state state = mpnum_softmax_state_empty();
  in += 16 * threadIdx.x;
  out += 4 * threadIdx.x;
  for (int i = 0; i < 8; ++i) state = mpnum_softmax_add(state, in[i], scale);
  out[0] = state.max;
  out[1] = state.sum;
  state = mpnum_softmax_add_tile(state, in + 8, 8, scale);
  out[2] = state.max;
  out[3] = state.sum;
}
"""
ADDED_BUILDS = [(arch, *more) for arch in ("75", "90") for more in ((), ("-use_fast_math",))]
# The host's functions over 3 rows; merge in the order that block.cuh has.
HOST = """\
#define MPNUM_NO_SIMD 1
#include <mpnum/mpnum.h>
#include <mpnum/rows/softmax_state.h>
#define OF(type, data) mpnum_const_matrix_of(MPNUM_TYPE_##type, data, 3, columns)
#define TO(type, data) mpnum_matrix_of(MPNUM_TYPE_##type, data, 3, columns)
static mpnum_softmax_options scaled(void) {
  mpnum_softmax_options options = mpnum_softmax_default();
  options.scale = 1.25f;
  return options;
}
int softmax(void *dst, const void *src, unsigned columns, int is_log) {
  const mpnum_softmax_options options = scaled();
  return is_log ? mpnum_log_softmax_rows(TO(F16, dst), OF(F32, src), &options, 0)
                : mpnum_softmax_rows(TO(F16, dst), OF(F32, src), &options, 0);
}
int losses(float *loss, void *gradient, const void *src, const int *targets, unsigned columns) {
  mpnum_cross_entropy_options options = mpnum_cross_entropy_default();
  options.softmax = scaled();
  options.label_smoothing = 0.125f;
  return mpnum_cross_entropy_rows_i32(loss, TO(F32, gradient), OF(E4M3, src), targets, &options, 0);
}
int backward(void *dx, const void *dy, const void *y, unsigned columns) {
  const mpnum_softmax_options options = scaled();
  return mpnum_softmax_backward_rows(TO(F32, dx), OF(F32, dy), OF(F32, y), &options);
}
int layer_norm(void *dst, const void *src, unsigned columns) {
  return mpnum_layer_norm_rows(TO(F32, dst), OF(F32, src), 0, 0, 1e-5f);
}
static float sum_of_warp(float *lanes) {
  for (int apart = 16; apart; apart /= 2)
    for (int i = 0; i < apart; ++i) lanes[i] += lanes[i + apart];
  return lanes[0];
}
static mpnum_softmax_state merged(const float *in, int warps) {
  mpnum_softmax_state all = {in[0], 0};
  float sums[32], lanes[32];
  int i, w;
  for (i = 0; i < 32 * warps; ++i)
    if (in[2 * i] > all.max) all.max = in[2 * i];
  for (w = 0; w < 32; ++w) {
    for (i = 0; w < warps && i < 32; ++i) {
      const float *own = in + 2 * (32 * w + i);
      lanes[i] = own[0] == all.max ? own[1]
                                   : own[1] * mpnum_exp_f32((own[0] - all.max) * 0.75f);
    }
    sums[w] = w < warps ? sum_of_warp(lanes) : -0.0f;
  }
  all.sum = warps > 1 ? sum_of_warp(sums) : sums[0];
  return all;
}
void add(float *out, const float *in, unsigned threads, float scale) {
  for (; threads > 0; --threads, in += 16, out += 4) {
    mpnum_softmax_state state = mpnum_softmax_state_empty();
    int i = 0;
    for (; i < 8; ++i) state = mpnum_softmax_add(state, in[i], scale);
    out[0] = state.max;
    out[1] = state.sum;
    state = mpnum_softmax_add_tile(state, in + 8, 8, scale);
    out[2] = state.max;
    out[3] = state.sum;
  }
}
int merge(float *out, const float *in, unsigned threads) {
  const mpnum_softmax_state block = merged(in, (int)threads / 32);
  unsigned i = 0, first = 0;
  while (in[2 * first] != block.max) ++first;
  for (; i < threads; ++i, out += 6) {
    const mpnum_softmax_state warp = merged(in + i / 32 * 64, 1);
    out[0] = warp.max;
    out[1] = warp.sum;
    out[2] = block.max;
    out[3] = block.sum;
    out[4] = block.max;
    out[5] = (float)first;
  }
  return 0;
}
"""
# Columns, threads of a row, rows of a block, floats kept of each.
SHAPES = {"few columns": (6, 4, 8, 6), "a warp a row": (70, 32, 2, 70), "two warps a row": (2115, 64, 1, 2116),
          "two warps a row, read again": (2115, 64, 1, 0)}


class Rows:
    def __init__(self, folder):
        self.folder = folder
        (folder / "host.c").write_text(HOST)
        check(*toolchain.cc(), "-std=c99", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-I", INCLUDE, folder / "host.c",
              "-o", folder / "host.so")
        self.host = ctypes.CDLL(str(folder / "host.so"))
        self.texts = {}

    def machine(self, arch):
        if arch not in self.texts:
            self.texts[arch] = calls.compile_ptx(DEVICE, self.folder, arch)
        return Machine(self.texts[arch])

    def compare(self, arch, name, shape, sizes, inputs, *numbers, planes=1):
        """A kernel with results of so many bytes, what it reads, and numbers behind the columns."""
        columns, threads, rows, kept = SHAPES[shape]
        kept *= planes
        machine = self.machine(arch)
        results = [machine.allocate(size) for size in sizes]
        sources = [machine.allocate(content).address for content in inputs]
        machine.launch(name, -(-3 // rows), (threads, rows), [*(r.address for r in results), *sources, columns, kept, *numbers],
                       dynamic_shared=4 * rows * kept)
        wanted = [ctypes.create_string_buffer(size) for size in sizes]
        status = getattr(self.host, name)(*wanted, *inputs, ctypes.c_uint(columns), *map(ctypes.c_int, numbers))
        assert status == 0, status
        for place, (result, want) in enumerate(zip(results, wanted)):
            assert not any(result.undefined), f"{name}, {shape}: result {place} is not all written"
            assert bytes(result.data) == want.raw, f"{name}, {shape}: result {place} is not the host's"


ROWS = None


def floats(count, seed, special=()):
    generator = random.Random(seed)
    return struct.pack(f"<{count}f", *[*special, *(generator.gauss(0, 3) for _ in range(count - len(special)))])


def rows_agree(arch, shape):
    columns = SHAPES[shape][0]
    count = 3 * columns
    special = [float("-inf"), 3e38, -1e-40] if columns > 6 else []
    for is_log in (0, 1):
        ROWS.compare(arch, "softmax", shape, [2 * count], [floats(count, columns, special)], is_log)
    generator = random.Random(columns)
    codes = bytes(generator.choice([*range(0x50), *range(0x80, 0xd0)]) for _ in range(count))
    targets = struct.pack("<3i", 1, -100, columns - 1)
    ROWS.compare(arch, "losses", shape, [12, 4 * count], [codes, targets])
    ROWS.compare(arch, "backward", shape, [4 * count], [floats(count, 1), floats(count, 2)], planes=2)
    ROWS.compare(arch, "layer_norm", shape, [4 * count], [floats(count, 3, [1000.0] if columns > 6 else [])])


def collectives_agree(arch):
    for threads in (32, 96):
        machine = ROWS.machine(arch)
        content = floats(2 * threads, threads)
        source, target = machine.allocate(content), machine.allocate(24 * threads)
        machine.launch("merge", 1, threads, [target.address, source.address], order="reverse" if threads == 96 else "forward")
        want = ctypes.create_string_buffer(24 * threads)
        ROWS.host.merge(want, content, ctypes.c_uint(threads))
        assert bytes(target.data) == want.raw, f"{threads} threads"


def elements_are_added(build):
    """A tile of each kind: usual, with masked elements, of these alone, with +Inf, NaN, both zeros, far apart, subnormal."""
    text = calls.compile_ptx(ADDED, ROWS.folder, *build)
    generator = random.Random(8)
    kinds = [lambda: generator.gauss(0, 3), lambda: generator.choice((float("-inf"), 1.0)), lambda: float("-inf"),
             lambda: generator.choice((float("inf"), 2.0, -2.0)), lambda: generator.choice((float("nan"), 1.0, 2.0)),
             lambda: generator.choice((0.0, -0.0)), lambda: generator.choice((-3e38, 3e38, 1e-40, -1e-40)),
             lambda: generator.gauss(0, 1) * 1e-38]
    tiles = [(before, tile) for before in kinds for tile in kinds]
    content = struct.pack(f"<{16 * len(tiles)}f", *(kind() for pair in tiles for kind in pair for _ in range(8)))
    for scale in (0.75, 0.0):
        machine = Machine(text)
        source, target = machine.allocate(content), machine.allocate(16 * len(tiles))
        machine.launch("add", 1, len(tiles), [target.address, source.address, struct.pack("<f", scale)])
        want = ctypes.create_string_buffer(16 * len(tiles))
        ROWS.host.add(want, content, ctypes.c_uint(len(tiles)), ctypes.c_float(scale))
        wrong = [place for place in range(4 * len(tiles)) if target.data[4 * place:][:4] != want.raw[4 * place:][:4]]
        assert not wrong, f"scale {scale}: thread and result {[divmod(place, 4) for place in wrong[:4]]}"


def skip(reason):
    raise tap.Skip(reason)


def main():
    global ROWS
    with tempfile.TemporaryDirectory() as folder:
        try:
            known = calls.archs_of_nvcc()
        except tap.Skip as reason:
            return tap.run(named("rows in the PTX interpreter", skip, str(reason)))
        ROWS = Rows(Path(folder))
        properties = []
        for arch in ARCHS:
            # The long shapes take seconds: once each.
            shapes = [shape for place, shape in enumerate(SHAPES) if place < 2 or arch == ("90" if place == 2 else "75")]
            tests = [(f"sm_{arch}: {shape}", rows_agree, arch, shape) for shape in shapes]
            tests.append((f"sm_{arch}: collectives of rows", collectives_agree, arch))
            missing = arch.rstrip("af") not in known
            properties += [named(title, skip, f"this nvcc does not compile for sm_{arch}") if missing else
                           named(title, *test) for title, *test in tests]
        properties += [named(f"sm_{' '.join(build)}: elements and tiles are added", elements_are_added, build)
                       if build[0] in known else named(f"sm_{build[0]}: tiles", skip, "this nvcc does not compile for it")
                       for build in ADDED_BUILDS]
        return tap.run(*properties)


if __name__ == "__main__":
    sys.exit(main())
