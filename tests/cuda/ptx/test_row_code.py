#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What functions, kernels of rows and the gradient pass execute: instructions of PTX an element, and of each thread for a
row beside its elements, counted by the interpreter of tests/cuda/ptx as the difference of a long row and a short one, and
registers and spilled bytes of ptxas; accesses to global memory by size. None grows beyond what tests/cuda/ptx/row_counts.txt
says. SASS of the functions needs nvdisasm (see hot.py).

usage: tests/cuda/ptx/test_row_code.py [all | --update]

Without an argument the last target is compiled, with one all of them; --update writes row_counts.txt.
"""

import re
import struct
import sys
from collections import Counter
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[2] / room) for room in ["harness", "cuda"]]

import toolchain
from ptx import calls, counts, executed, hot, pipes
from ptx.machine import Machine
from toolchain import named
from tree import ROOT, check

ARCHS = ["75", "90"]
COUNTS = ROOT / "tests/cuda/ptx/row_counts.txt"
HEADER = """\
# SPDX-License-Identifier: MIT
# Kernels of rows and gradients: instructions of PTX an element / of a thread for a row or tile beside them / registers /
# spilled bytes / accesses to global memory in all of the kernel's PTX, by size: 2x8 is two of 8 bytes. Functions: the same
# up to registers, then instructions of SASS an element. What is beside elements is of a call and of its kernel, 8 elements.
# tests/cuda/ptx/test_row_code.py compares, and writes this with --update. Of nvcc {version}.
"""
SHORT, LONG = 512, 1024
COLUMNS = {"softmax_f16": 1024, "cross_entropy_f16": 32768}  # of rows that are counted whole, as the benchmark has them; 4096 of others
HELD = {"normalize_held": 16, "norm_backward_held": 32}  # Kernels of rows in registers: threads of a tile.
TILE, OPTIMIZER_TILE, THREADS, TEAMS = 2048, 1024, 256, 16  # teams of the gradient pass take a tile each
# Pairs of a thread that rows which threads hold keep in registers, of 32; the others are in shared memory.
PAIRS = {"softmax_held": "row_registers_<{src}>::softmax<{first}>::count", "cross_entropy_held": "row_registers_<{src}>::loss",
         "softmax_backward_held": "row_pairs_"}
TITLE = "# Rows and gradients"  # Between the functions and them; tools/gpu-shares reads what follows.

# Kernel: its template arguments, those of its job, and what the job is made of; a to d are memory.
ROWS = {
    "softmax_f32": ("softmax_held", "false, float, float", "softmax_job_", "{rows<float>(a, n), (float *)b, n, 0}"),
    "softmax_f16": ("softmax_held", "false, mpnum_f16, mpnum_f16", "softmax_job_", "{rows<mpnum_f16>(a, n), (mpnum_f16 *)b, n, 0}"),
    "log_softmax_f16": ("softmax_held", "true, mpnum_f16, mpnum_f16", "softmax_job_",
                        "{rows<mpnum_f16>(a, n), (mpnum_f16 *)b, n, 0}"),
    "softmax_kept_f16": ("softmax_rows", "false, mpnum_f16, mpnum_f16", "softmax_job_",
                         "{rows<mpnum_f16>(a, n), (mpnum_f16 *)b, n, 0}"),
    "cross_entropy_f16": ("cross_entropy_held", "mpnum_f16, mpnum_f16, int", "loss_job_",
                          "{rows<mpnum_f16>(a, n), (float *)c, (mpnum_f16 *)b, n, (const int *)d, 0, 0, -100, 0, 1}"),
    "softmax_backward_f16": ("softmax_backward_held", "false, mpnum_f16, mpnum_f16, mpnum_f16", "slope_job_",
                             "{rows<mpnum_f16>(a, n, 2), (const mpnum_f16 *)c, (mpnum_f16 *)b, n, n, 0}"),
    "softmax_capped_f16": ("softmax_capped_rows", "false, mpnum_f16, mpnum_f16", "capped_softmax_",
                           "{{rows<mpnum_f16>(a, n), (mpnum_f16 *)b, n, 0}, {0.02f}}"),
    "softmax_capped_backward_f16": ("softmax_capped_backward", "mpnum_f16, mpnum_f16, mpnum_f16, mpnum_f16", "capped_slope_job_",
                                    "{{rows<mpnum_f16>(a, n, 2), (const mpnum_f16 *)c, (mpnum_f16 *)b, n, n, 0}, "
                                    "(const mpnum_f16 *)a, n, 0.02f}"),
    "cross_entropy_capped_f16": ("cross_entropy_capped_rows", "mpnum_f16, mpnum_f16, int", "capped_loss_",
                                 "{{rows<mpnum_f16>(a, n), (float *)c, (mpnum_f16 *)b, n, (const int *)d, 0, 0, -100, 0, 1}, "
                                 "{0.02f}}"),
    "layer_norm_f32": ("normalize_rows", "mpnum::norm_plain_<float>, float", "norm_job_",
                       "{norm<float>(a, n, 1, MPNUM_NORM_LAYER), {(float *)b, n}}"),
    "layer_norm_f16": ("normalize_held", "true, mpnum::norm_plain_<mpnum_f16>, mpnum_f16", "norm_job_",
                       "{norm<mpnum_f16>(a, n, 1, MPNUM_NORM_LAYER, d), {(mpnum_f16 *)b, n}}"),
    "rms_norm_f16": ("normalize_held", "false, mpnum::norm_plain_<mpnum_f16>, mpnum_f16", "norm_job_",
                     "{norm<mpnum_f16>(a, n, 1, MPNUM_NORM_RMS, d), {(mpnum_f16 *)b, n}}"),
    "rms_norm_f16_to_e4m3": ("normalize_held", "false, mpnum::norm_codes_<mpnum_e4m3>, mpnum_f16", "norm_job_",
                             "{norm<mpnum_f16>(a, n, 1, MPNUM_NORM_RMS, c), {(mpnum_e4m3 *)b, n, (float *)c, (const float *)d}}"),
    "layer_norm_backward_f32": ("norm_backward_rows", "float, float, float", "norm_slope_job_",
                                "{norm<float>(a, n, 2, MPNUM_NORM_LAYER), 0, 0, (const float *)c, (float *)b, 0, n, n, 0}"),
    "layer_norm_backward_f16": ("norm_backward_held", "true, mpnum_f16, mpnum_f16, mpnum_f16", "norm_slope_job_",
                                "{norm<mpnum_f16>(a, n, 2, MPNUM_NORM_LAYER, d), 0, 0, (const mpnum_f16 *)c, (mpnum_f16 *)b, "
                                "0, n, n, 0}"),
    "swiglu_f16": ("activation_rows", "0, mpnum::norm_plain_<mpnum_f16>, mpnum_f16", "gate_job_",
                   "gated<mpnum_f16>(a, (mpnum_f16 *)b, 0, 0, d, n)"),
    "swiglu_backward_f16": ("activation_backward_rows", "0, mpnum::norm_plain_<mpnum_f16>, mpnum_f16, mpnum_f16", "gate_job_",
                            "gated<mpnum_f16>(a, (mpnum_f16 *)b, (mpnum_f16 *)b + n, c, d, n)"),
    "dropout_f16": ("dropout_rows", "mpnum_f16, mpnum_f16", "dropout_job_",
                    "{(mpnum_f16 *)b, (const mpnum_f16 *)a, 1, (n + 2047) / 2048, n, n, n, {0xe0000000u, 1.14f, 0, 1, 0}}"),
}
SOURCE = """\
#include <mpnum/kernels.cuh>
#include <mpnum/rows/softmax_cap.cuh>
#include <mpnum/rows/softmax_state.h>
#include <mpnum/training/optimizer.cuh>
namespace mpnum {
template <class Dst, class Src> using capped_softmax_ = capped_job_<softmax_job_<Dst, Src>>;
template <class G, class Src, class Index> using capped_loss_ = capped_job_<loss_job_<G, Src, Index>>;
}
template <class T> __device__ mpnum::row_source_<T> rows(const void *data, unsigned n, unsigned planes = 1) {
  mpnum::row_source_<T> from = mpnum::row_source_<T>();
  from.data = static_cast<const T *>(data);
  from.rows = 1;
  from.stride = from.columns = n;
  from.kept = planes * n;
  from.scale = 1;
  return from;
}
template <class T> __device__ mpnum::norm_source_<T> norm(const void *data, unsigned n, unsigned planes, mpnum_norm_kind kind,
                                                          const void *weight = 0) {
  mpnum::norm_source_<T> from = mpnum::norm_source_<T>();
  from.data = static_cast<const T *>(data);
  from.weight = static_cast<const float *>(weight);
  from.rows = 1;
  from.stride = from.columns = n;
  from.kept = planes * n;
  from.epsilon = 1e-5f;
  from.kind = kind;
  return from;
}
template <class T> __device__ mpnum::gate_job_<mpnum::norm_plain_<T>, T, T> gated(const void *src, T *to, T *to_factor,
                                                                                 const void *dy, const void *factor, unsigned n) {
  mpnum::gate_job_<mpnum::norm_plain_<T>, T, T> job = mpnum::gate_job_<mpnum::norm_plain_<T>, T, T>();
  job.to.dst = to;
  job.to_factor.dst = to_factor;
  job.src = static_cast<const T *>(src);
  job.factor = static_cast<const T *>(factor);
  job.dy = static_cast<const T *>(dy);
  job.rows = 1;
  job.tiles = (n + 2047) / 2048;
  job.columns = n;
  job.gate.source.kind = MPNUM_GATE_BOUNDED_;
  job.gate.source.low = -__int_as_float(0x7f800000);
  job.gate.source.high = __int_as_float(0x7f800000);
  job.gate.source.number = -0.0f;
  job.gate.factor = job.gate.source;
  return job;
}
"""
# Functions: what becomes of an element or a state, in registers; whether SASS is counted: of a state that takes elements one
# by one, no path is all elements' path.
FUNCTIONS = {**{f"{name}_f32": (f"x[i] = mpnum_{name}_f32(x[i]);", 2, True) for name in ("exp", "log", "tanh", "gelu")},
             "softmax_add": ("state = mpnum_softmax_add(state, x[i], scale);", 1, False),
             "softmax_add_tile": ("if (i == 0) state = mpnum_softmax_add_tile(state, x, N, scale);", 1, True)}
FUNCTION = """\
template <int N> __device__ void NAME_of(float *data, mpnum_softmax_state *kept, float scale) {
  float x[N];
  mpnum_softmax_state state = *kept;
# pragma unroll
  for (int i = 0; i < N; ++i) x[i] = data[i];
# pragma unroll
  for (int i = 0; i < N; ++i) { BODY }
# pragma unroll
  for (int i = 0; i < N; ++i) if (IS_STORED) data[i] = x[i];
  *kept = state;
}
extern "C" __global__ void NAME_8(float *data, mpnum_softmax_state *kept, float scale) { NAME_of<8>(data, kept, scale); }
extern "C" __global__ void NAME_16(float *data, mpnum_softmax_state *kept, float scale) { NAME_of<16>(data, kept, scale); }
"""
# Gradients: types, bytes by which src and dst are misaligned; dst None: in place.
GRADIENTS = {"grad_f32_in_place": ("F32", None, 0, 0), "grad_bf16_to_f32": ("BF16", "F32", 0, 0),
             "grad_f16_to_f32": ("F16", "F32", 0, 0), "grad_f32_in_place_misaligned": ("F32", None, 4, 4),
             "grad_f16_to_f32_apart": ("F16", "F32", 2, 8)}
# Steps of AdamW, those of the benchmark: the types of gradients, parameters and moments, whether there is a copy in bf16.
OPTIMIZERS = {"adamw_f32": ("F32", "F32", "F32", False), "adamw_f32_bf16_copy": ("BF16", "F32", "F32", True),
              "adamw_bf16_stochastic": ("BF16", "BF16", "BF16", False), "adamw_bf16_8bit_moments": ("BF16", "BF16", "E4M3", False)}
SIZES = {"F32": 4, "BF16": 2, "F16": 2}
MANGLED = {"false": "Lb0E", "true": "Lb1E", "0": "Li0E", "mpnum::norm_plain_<mpnum_f16>": "N5mpnum11norm_plain_",
           "mpnum::norm_codes_<mpnum_e4m3>": "N5mpnum11norm_codes_", "mpnum::norm_plain_<float>": "N5mpnum11norm_plain_"}
TYPES = toolchain.load_api().Api().enumerators


def source():
    text, kernels = [SOURCE], ["mpnum_grad_pass_kernel_<mpnum_grad_findings>",
                               "mpnum_optimizer_kernel_<mpnum_optimizer_progress>"]
    for name, (kernel, arguments, job, made) in ROWS.items():
        instance = f"mpnum_{kernel}_kernel_<{arguments}>"
        types = re.sub(r"^(false|true|\d), ", "", arguments)
        if kernel == "activation_rows":  # whose job has a type of dy
            types += ", mpnum_f16"
        text.append(f'extern "C" __global__ void {name}(void *job, void *a, void *b, void *c, void *d, unsigned n) {{\n'
                    f"  typedef mpnum::{job}<{types}> type;\n  const type made = {made};\n"
                    f"  *static_cast<type *>(job) = made;\n}}\n"
                    f'extern "C" __device__ unsigned size_of_{name} = sizeof(mpnum::{job}<{types}>);\n')
        kernels.append(instance)
        if kernel in PAIRS:
            first, *others = arguments.split(", ")
            pairs = PAIRS[kernel].format(first=first, src=others[0])
            text.append(f'extern "C" __device__ unsigned pairs_of_{name} = mpnum::{pairs};')
    for name, (body, moves, _) in FUNCTIONS.items():
        text.append(FUNCTION.replace("NAME", name).replace("BODY", body).replace("IS_STORED", str(moves - 1)))
    text.append("extern const void *const kernels[];\nconst void *const kernels[] = {")
    text += [f"  reinterpret_cast<const void *>({kernel})," for kernel in dict.fromkeys(kernels)]
    return "\n".join([*text, "};"]) + "\n"


class Code:
    def __init__(self, arch, folder, is_profiled=False):
        self.arch, self.is_profiled = arch, is_profiled
        self.text = calls.compile_ptx(source(), folder, arch)
        ptx, cubin = folder / f"{arch}.ptx", folder / f"{arch}.cubin"
        ptx.write_text(executed.with_lines(self.text) if is_profiled else self.text)
        said = check(calls.nvcc(), "-cubin", f"-arch=sm_{arch}", "-Xptxas", "-v,-lineinfo" if is_profiled else "-v", ptx, "-o", cubin)
        self.reports, self.shared = {}, {}
        for name, report in re.findall(r"Compiling entry function '(\w+)'(.*?Used \d+ registers[^\n]*)", said, re.S):
            own = report[report.index(f"properties for {name}"):]
            self.reports[name] = (int(re.search(r"Used (\d+)", own)[1]), int(re.search(r"(\d+) bytes spill stores", own)[1]))
            self.shared[name] = int(next(iter(re.findall(r"(\d+) bytes smem", own)), 0))
        self.instructions = hot.kernels_of(self.text, "ptx")
        program = hot.nvdisasm()
        self.sass = hot.kernels_of(check(program, "-c", *["-g"] * is_profiled, cubin), "sass") if program else {}
        self.cells = {}

    def machine(self):
        self.latest = Machine(self.text, self.is_profiled)
        return self.latest

    def pipes(self, name):
        """Of SASS: instructions an element, those of the integer and of the special pipe, bytes in flight a thread; registers;
        threads and bytes of shared memory of a block. Of a whole row, with what is beside its elements; of the gradient pass and
        of optimizers of one more tile."""
        kernel, issued, columns = self.kernel(name), Counter(), 0
        if name in ROWS:
            columns = elements = COLUMNS.get(name, 2 * TILE)
            self.row(name, columns)
            issued = Counter(self.latest.issued(kernel))
        else:
            measure, of = (self.optimizer, OPTIMIZER_TILE) if name in OPTIMIZERS else (self.gradients, TILE)
            tiles = 1 if name in OPTIMIZERS else TEAMS
            for times, run in ((1, issued.subtract), (2, issued.update)):
                measure(name, times * tiles)
                run(self.latest.issued(kernel))
            elements = tiles * of
        blocks = executed.executed(self.sass[kernel], issued)
        part = executed.part_of_accesses(self.text, blocks, issued)
        assert part > 0.9, f"{name}: blocks that move {part:.2f} of its bytes are found"
        opcodes = executed.opcodes(blocks)
        flight = executed.bytes_in_flight(blocks, issued)
        if any(one.startswith("UBLKPF") for one in opcodes):  # which asks for all of a tile or row, of so many elements a thread
            flight = max(flight, (64 if name in ROWS else 128) * source_bytes(name))
        threads, shared = self.shape(name, columns)
        return [*(round(32 * one / elements, 2) for one in pipes.of_opcodes(opcodes)), flight, self.registers(name),
                threads, shared + self.shared[kernel]]

    def shape(self, name, columns):
        """Threads of a block, and the bytes of shared memory that a launch gives it."""
        kernel, tiles = ROWS[name][0] if name in ROWS else "", -(-columns // TILE)
        if kernel in HELD:
            threads = HELD[kernel] * tiles
            return 128 if threads <= 32 else threads, 0
        if not kernel or kernel.startswith(("activation", "dropout")):
            return THREADS, 0
        threads, planes = THREADS if tiles == 1 else 32 * tiles, 2 if "backward" in name else 1
        if kernel not in PAIRS:
            return threads, 4 * planes * columns * threads // (32 * tiles)
        pairs = struct.unpack("<I", bytes(self.latest.module.variables[f"pairs_of_{name}"].data))[0]
        return threads, 8 * (TILE // 64 - pairs) * threads

    def function(self, name):
        """Instructions of PTX an element and beside them, registers, and instructions of SASS an element."""
        _, moves, has_sass = FUNCTIONS[name]
        executed = []
        for count in (8, 16):
            machine = self.machine()
            data = machine.allocate(struct.pack(f"<{count}f", *((place * 37 % 16 - 7) / 4 for place in range(count))))
            kept = machine.allocate(struct.pack("<2f", 0.5, 3))
            machine.launch(f"{name}_{count}", 1, 1, [data.address, kept.address, struct.pack("<f", 0.75)])
            executed.append(machine.executed)
        each = (executed[1] - executed[0]) / 8
        sass = "-"
        if self.sass and has_sass:
            few, many = (len(hot.straight_path(self.sass[f"{name}_{count}"], "sass", is_fma)) for count in (8, 16))
            sass = round((many - few) / 8 - moves, 2)
        return [round(each - moves, 2), round(executed[0] - 8 * each), self.reports[f"{name}_8"][0], sass]

    def registers(self, name):
        return self.reports[self.kernel(name)][0]

    def kernel(self, name):
        """The mangled name of the kernel of a row."""
        if name not in ROWS:
            part = "optimizer_kernel" if name in OPTIMIZERS else "grad_pass_kernel"
            return next(found for found in self.reports if part in found)
        kernel, arguments = ROWS[name][:2]
        first = "".join(MANGLED.get(one, "") for one in arguments.split(", ")[:2])
        found = [one for one in self.reports if f"mpnum_{kernel}_kernel_I{first}" in one]
        found = [one for one in found if kernel != "softmax_held" or ("Eff" in one) == arguments.endswith("float")]
        assert len(found) == 1, (name, found)
        return found[0]

    def row(self, name, columns):
        """Instructions that a row of so many columns takes, of all threads."""
        arguments = ROWS[name][1]
        machine = self.machine()
        values = [(i * 37 % 256 - 128) / 32 for i in range(columns)]
        elements = struct.pack(f"<{columns}{'e' if 'f16' in arguments else 'f'}", *values).ljust(4 * columns, b"\0")
        is_norm, is_gate = name.startswith(("layer", "rms")), "swiglu" in name
        data, one, two = (machine.allocate(elements) for _ in range(3))
        out, job = (machine.allocate(bytes(4 * columns)) for _ in range(2))
        if is_norm:  # weights
            (one if "e4m3" in name else two).data[:] = struct.pack(f"<{columns}f", *values)
        if "e4m3" in name:
            two.data[:4] = struct.pack("<f", 1.0)
        elif not (is_norm or is_gate):  # a target
            two.data[:4] = struct.pack("<i", 5)
        machine.launch(name, 1, 1, [job.address, data.address, out.address, one.address, two.address, columns])
        size = struct.unpack("<I", bytes(machine.module.variables[f"size_of_{name}"].data))[0]
        before = machine.executed
        planes = 2 if "backward" in name else 1
        kernel, tiles = ROWS[name][0], -(-columns // TILE)
        is_tiles = kernel.startswith(("activation", "dropout"))  # a warp each
        shape = (HELD[kernel] * tiles, 1) if kernel in HELD else (32, tiles) if is_tiles else (32 * tiles, 1)
        machine.launch(self.kernel(name), 1, shape, [bytes(job.data[:size])], dynamic_shared=max(4 * columns * planes, 8192))
        return machine.executed - before

    def gradients(self, name, tiles):
        src_type, dst_type, src_by, dst_by = GRADIENTS[name]
        n = tiles * TILE
        machine = self.machine()
        pattern = {"F32": b"\0\0\x80\x3f", "BF16": b"\x80\x3f", "F16": b"\0\x3c"}[src_type]
        src = machine.allocate(bytes(src_by) + pattern * n)
        dst = machine.allocate(bytes(dst_by) + bytes(n * SIZES[dst_type])) if dst_type else src
        tensors = machine.allocate(struct.pack("<6Q2i2Q", src.address + src_by, dst.address + dst_by, 1, n, n, n,
                                               TYPES[f"MPNUM_TYPE_{src_type}"], TYPES[f"MPNUM_TYPE_{dst_type or src_type}"], 0, 1))
        before = machine.allocate(struct.pack("<2Q", 0, tiles))
        made = struct.pack("<5Q2I", tensors.address, before.address, 1, tiles, n, 1, 0)
        workspace, findings = machine.allocate(bytes(640)), machine.allocate(264)
        pass_kernel, = [one for one in machine.module.functions if "grad_pass_kernel" in one]
        machine.launch(pass_kernel, 1, 256, [findings.address, made, 0, workspace.address])
        return machine.executed

    def optimizer(self, name, tiles):
        gradient_name, type_name, moment_name, has_copy = OPTIMIZERS[name]
        n, bf16 = tiles * OPTIMIZER_TILE, TYPES["MPNUM_TYPE_BF16"]
        kinds = [TYPES[f"MPNUM_TYPE_{one}"] for one in (gradient_name, type_name, moment_name)]
        machine = self.machine()
        one = {"F32": b"\0\0\x80\x3f", "BF16": b"\x80\x3f", "E4M3": b"\x38"}
        gradient, parameter = (machine.allocate(one[of] * n).address for of in (gradient_name, type_name))
        moment1, moment2 = (machine.allocate(one[moment_name] * n).address for _ in range(2))
        scales1, scales2 = (machine.allocate(b"\x7f" * (n // 256)).address for _ in range(2))
        copy = machine.allocate(bytes(2 * n)).address if has_copy else 0
        tensors = machine.allocate(struct.pack("<Q4i8Qfi3Q", n, *kinds, bf16, gradient, parameter, 0, moment1, moment2,
                                               copy, 0, 0, 1, 0, scales1, scales2, 0))
        before = machine.allocate(struct.pack("<2Q", 0, tiles))
        made = struct.pack("<4Q2i", tensors.address, before.address, 1, tiles, 0, 1)
        factors = struct.pack("<10f", 1, 0, 1e-5, 0.1, 0.9, 0.999, 0.001, 1, 1e-8, 1e-3)
        progress = machine.allocate(struct.pack("<4Q", 1, 2, 3, 4) + factors + struct.pack("<iI", 0, 1))
        kernel, = [found for found in machine.module.functions if "optimizer_kernel" in found]
        machine.launch(kernel, 1, 256, [made, progress.address])
        return machine.executed

    def cell(self, name):
        if name not in self.cells:
            if name in FUNCTIONS:
                numbers, report = self.function(name), []
            elif name in ROWS:
                short, long = sizes_of(name)
                few, many = self.row(name, short), self.row(name, long)
                each = (many - few) / (long - short)
                beside = "-" if short > SHORT else round((few - each * short) / 32)
                report = [*self.reports[self.kernel(name)], hot.accesses(self.instructions[self.kernel(name)], "ptx")]
                numbers = [round(each, 2), beside]
            elif name in OPTIMIZERS:
                numbers = [round((self.optimizer(name, 2) - self.optimizer(name, 1)) / OPTIMIZER_TILE, 2), "-"]
                report = self.reports[self.kernel(name)]
            else:
                numbers = [round((self.gradients(name, 2) - self.gradients(name, 1)) / TILE, 2), "-"]
                report = self.reports[self.kernel(name)]
            self.cells[name] = "/".join(one if isinstance(one, str) else f"{one:g}" for one in [*numbers, *report])
        return self.cells[name]


def sizes_of(name):
    """Elements of two rows of which the difference counts: of rows in registers whole tiles, each with its threads."""
    return (2 * TILE, 4 * TILE) if ROWS[name][0] in HELD else (SHORT, LONG)


def source_bytes(name):
    return SIZES[re.search(r"_(b?f\d+)", name)[1].upper()]


def is_fma(instruction, _dialect):
    return instruction.opcode.startswith("FFMA")


NAMES = [*FUNCTIONS, *ROWS, *GRADIENTS, *OPTIMIZERS]


def table(codes):
    rows = [[name, *[code.cell(name) for code in codes]] for name in NAMES]
    lines = counts.lines_of("kernel", [code.arch for code in codes], rows)
    lines.insert(1 + len(FUNCTIONS), TITLE)
    return HEADER.format(version=calls.nvcc_version()) + "\n".join(lines) + "\n"


def counts_do_not_grow(code, place):
    old = counts.recorded(COUNTS.read_text(), NAMES)
    counts.compare([f"{name} on sm_{code.arch}: {now}, was {was}" for name in NAMES
                    if hot.has_grown(was := old[name][place], now := code.cell(name))], "test_row_code.py")


def properties(folder, known):
    if sys.argv[1:] == ["--update"]:
        COUNTS.write_text(table([Code(arch, folder) for arch in ARCHS]))
        return 0
    return [
        named(f"sm_{arch}: counts do not grow", lambda arch=arch, place=place:
              counts_do_not_grow(Code(arch, folder), place)) if arch in known else
        named(f"sm_{arch}: counts do not grow", calls.skip, f"this nvcc does not compile for sm_{arch}")
        for place, arch in enumerate(ARCHS) if sys.argv[1:] or arch == ARCHS[-1]]


def main():
    if sys.argv[1:] not in ([], ["all"], ["--update"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return calls.run("the code of kernels of rows", properties)


if __name__ == "__main__":
    sys.exit(main())
