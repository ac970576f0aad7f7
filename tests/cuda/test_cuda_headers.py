#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The headers of include/mpnum/cuda: nvcc compiles each alone and twice, and kernels that use them for every
architecture without a warning, spill or local memory, two units with all of them link, NVRTC compiles block.cuh, and
interop.cuh is a move of bits. No GPU is needed.

usage: tests/cuda/test_cuda_headers.py [full | exhaustive]

Without an argument one architecture runs some kernels, with full another one all and more dialects, with exhaustive each
architecture all.
"""

import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
import test_device_headers
import toolchain
from test_device_headers import FULL_ARCHS, QUICK_ARCHS, STANDARDS, Nvrtc, all_archs, archs_of_nvcc, file_of_package, nvcc
from toolchain import INCLUDE, INCLUDE_OF_NVCC, named
from tree import ROOT, check, need

HEADERS = [name for name in test_device_headers.api.headers if name.endswith(".cuh") and "/detail/" not in name]
ALL_HEADERS = "".join(f"#include <mpnum/{name}>\n" for name in HEADERS)
TYPES = [match[1] for match in re.finditer(r"ROW\((\w+), \w+, \d", test_device_headers.api.macros["MPNUM_FORMATS"][0][1])]
ONLY_SATURATING = ["e3m2", "e2m3", "e2m1"]

# Kernels that call what device.cuh and block.cuh have; no function of the runtime, so that NVRTC takes them.
DEVICE = """\
#include <mpnum/cuda/block.cuh>
__global__ void reduce(float *out, int *flags, uint32_t *words, const float *in, size_t n) {
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  float amax = 0;
  for (size_t i = mpnum_grid_index(); i < n; i += mpnum_grid_size()) amax = mpnum_amax(amax, in[i]);
  const float x = in[mpnum_thread_index_()];
  out[0] = mpnum_warp_sum_f32(x);
  out[1] = mpnum_warp_max_f32(x);
  out[2] = mpnum_warp_amax_f32(x);
  out[3] = mpnum_block_sum_f32(x, scratch);
  out[4] = mpnum_block_max_f32(x, scratch);
  out[5] = mpnum_block_amax_f32(amax, scratch);
  flags[0] = mpnum_block_all_finite_f32(x);
  words[0] = mpnum_block_sum_u32_(words[mpnum_thread_index_()], scratch);
  words[1] = mpnum_block_max_u32_(words[mpnum_thread_index_()], scratch);
  const mpnum_softmax_state state = {x, amax};
  out[8] = mpnum_warp_softmax_merge(state, 0.5f).sum;
  out[9] = mpnum_block_softmax_merge(state, 0.5f, scratch).sum;
  mpnum_lanes<float, 4> row = {{x, amax, x, amax}};
  mpnum_block_layer_norm(row, 3, 4096, 1e-5f, scratch);
  mpnum_block_rms_norm(row, 4, 4096, 1e-5f, scratch);
  out[10] = row.at[0] + row.at[3];
  words[2] = mpnum_block_argmax_f32(x, mpnum_thread_index_(), scratch).index;
  mpnum_atomic_amax(out + 6, x);
  mpnum_atomic_min_magnitude_(out + 7, amax);
}
__global__ void merge(mpnum_grad_findings *all, double *sums, uint64_t *word, const mpnum_grad_findings *own) {
  __shared__ mpnum_grad_findings findings;
  __shared__ mpnum_exact_sum total;
  __shared__ uint32_t scratch[MPNUM_BLOCK_SCRATCH];
  const unsigned i = mpnum_thread_index_();
  mpnum_block_findings(&findings, own[i]);
  mpnum_block_total(&total, own[i].squares);
  sums[i] = mpnum_block_sum_f64(sums[i], scratch);
  mpnum_probe(word, 1, i, static_cast<float>(sums[i]));
  if (i == 0) *all = findings;
  if (i == 1) all[1].squares = total;
}
__global__ void move(mpnum_e4m3 *dst, const float *src, size_t n) {
  const size_t i = 8 * mpnum_grid_index();
  if (i >= n) return;
  const mpnum_lanes<float, 8> in = mpnum_load<8>(src + i, n - i);
  mpnum_lanes<mpnum_e4m3, 8> out;
  for (unsigned j = 0; j < 8; ++j) out.at[j] = mpnum_f32_to_e4m3_sat(in.at[j]);
  mpnum_store(dst + i, out, n - i);
}
__global__ void move_tiles(mpnum_e4m3 *dst, const float *src, size_t n) {
  typedef mpnum_tile<float, 4> tile;
  for (size_t first = blockIdx.x * tile::elements; first < n; first += gridDim.x * tile::elements) {
    const tile in = mpnum_load_tile<4>(src, first, n);
    mpnum_tile<mpnum_e4m3, 4> out;
    for (unsigned k = 0; k < 4 * tile::vectors; ++k)
      out.at[k / 4].at[k % 4] = mpnum_f32_to_e4m3_sat(in.at[k / 4].at[k % 4]);
    mpnum_store_tile(dst, first, n, out);
  }
}
"""


# The step of a training loop; ptxas takes as long for it as for a hundred conversions.
GRADIENTS = """\
#include <mpnum/training/adafactor.cuh>
#include <mpnum/training/grad.cuh>
#include <mpnum/training/optimizer.cuh>
#define LAUNCH(call) if ((error = mpnum_launch_##call) != cudaSuccess) return error;
cudaError_t launch_step(mpnum_grad_list list, mpnum_grad_findings *findings, mpnum_grad_scaler *scaler,
                        mpnum_grad_optimizer *optimizer, uint32_t *apply, mpnum_grad_workspace *workspace,
                        const mpnum_optimizer *adamw, mpnum_optimizer_list parameters, mpnum_optimizer_progress *progress,
                        float *multiplier, const mpnum_adafactor *adafactor, const mpnum_optimizer_tensor *tensors, void *room,
                        cudaStream_t stream);
cudaError_t launch_step(mpnum_grad_list list, mpnum_grad_findings *findings, mpnum_grad_scaler *scaler,
                        mpnum_grad_optimizer *optimizer, uint32_t *apply, mpnum_grad_workspace *workspace,
                        const mpnum_optimizer *adamw, mpnum_optimizer_list parameters, mpnum_optimizer_progress *progress,
                        float *multiplier, const mpnum_adafactor *adafactor, const mpnum_optimizer_tensor *tensors, void *room,
                        cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  LAUNCH(grad_pass(findings, list, scaler, workspace, stream))
  LAUNCH(grad_merge(findings, findings, 2, stream))
  LAUNCH(grad_clip(optimizer, scaler, findings, list, 1.0f, workspace, stream))
  LAUNCH(grad_multiplier(multiplier, optimizer, scaler, findings, 1.0f, stream))
  LAUNCH(grad_step(scaler, optimizer, findings, apply, stream))
  LAUNCH(optimizer_step(adamw, parameters, progress, 0, multiplier, apply, stream))
  LAUNCH(adafactor_step(adafactor, tensors, 2, progress, 0, multiplier, apply, room, stream))
  return error;
}
"""


def launches(types):
    """A unit that launches every kernel for each of these types, and each conversion from and to float."""
    lines = ["#include <mpnum/kernels.cuh>", "#include <mpnum/training/health.cuh>",
             "#define LAUNCH(call) if ((error = mpnum_launch_##call) != cudaSuccess) return error;",
             "cudaError_t launch_all(void *to, const void *from, size_t n, cudaStream_t stream);",
             "cudaError_t launch_all(void *to, const void *from, size_t n, cudaStream_t stream) {",
             "  cudaError_t error = cudaSuccess;"]

    def launch(what, dst, src, more=""):
        lines.append(f"  LAUNCH({what}(static_cast<{dst} *>(to), static_cast<const {src} *>(from), n, {more}stream))")

    rounding = "MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_IEEE, 1, 2, "
    for name in types:
        if name not in ONLY_SATURATING:
            launch("convert", f"mpnum_{name}", "float")
        launch("convert_sat", f"mpnum_{name}", "float")
        launch("convert", "float", f"mpnum_{name}")
        for what, result in (("all_finite", "int"), ("amax", "float"), ("stats", "mpnum_stats")):
            launch(what, result, f"mpnum_{name}")
    launch("convert_round", "mpnum_bf16", "float", rounding)
    launch("convert_sat", "mpnum_e4m3", "double")
    launch("convert_sat", "mpnum_e4m3", "mpnum_f16")
    launch("convert", "double", "mpnum_e5m2")
    launch("convert", "float", "double")
    for packed in ("e2m1x2", "e3m2x4", "e2m3x4"):
        launch("convert_sat", f"mpnum_{packed}", "float")
        launch("convert", "float", f"mpnum_{packed}")
    for what, result in (("all_finite", "int"), ("amax", "float"), ("stats", "mpnum_stats")):
        launch(what, result, "float")
    launch("all_finite", "int", "double")
    for name in ("float", "mpnum_e4m3"):
        launch("histogram", "mpnum_histogram", name)
        launch("count_lost", "mpnum_lost", name, "mpnum_format_of(MPNUM_TYPE_F16), 1.0f, ")
    return "\n".join([*lines, "  return error;", "}"]) + "\n"


QUANTISERS = """\
#include <mpnum/kernels.cuh>
#include <mpnum/array/quantize_groups.cuh>
#include <mpnum/blocks/layout.cuh>
#include <mpnum/blocks/quantize_computed.cuh>
#include <mpnum/blocks/quantize_dropped.cuh>
#include <mpnum/blocks/quantize_hadamard.cuh>
#include <mpnum/blocks/quantize_normed.cuh>
#include <mpnum/blocks/quantize_summed.cuh>
#include <mpnum/blocks/stored_matrix.cuh>
#define LAUNCH(call) if ((error = mpnum_launch_##call) != cudaSuccess) return error;
#define BLOCKS a, b
#define MATRIX(x) mpnum::matrix_of(x, n, n)
cudaError_t quantize_all(float *x, mpnum_bf16 *y, mpnum_e4m3 *codes, float *scale, const mpnum_blockscaled *a,
                         const mpnum_blockscaled *b, const mpnum_stored &stored, size_t n, int what, cudaStream_t stream);
cudaError_t quantize_all(float *x, mpnum_bf16 *y, mpnum_e4m3 *codes, float *scale, const mpnum_blockscaled *a,
                         const mpnum_blockscaled *b, const mpnum_stored &stored, size_t n, int what, cudaStream_t stream) {
  const mpnum_fp8_recipe recipe = mpnum_fp8_recipe_current();
  cudaError_t error = cudaSuccess;
  LAUNCH(quantize_array(codes, y, n, scale, scale, stream))
  LAUNCH(quantize_current(codes, x, n, &recipe, scale, scale, stream))
  LAUNCH(dequantize_array(y, codes, n, scale, stream))
  LAUNCH(quantize_transpose(MATRIX(codes), MATRIX(codes), MATRIX(y), scale, scale, stream))
  LAUNCH(scale_update(static_cast<mpnum_amax_history *>(0), x, scale, n, &recipe, stream))
  LAUNCH(quantize_mx<mpnum_e4m3>(BLOCKS, MATRIX(y), MPNUM_BLOCKSCALE_RCEIL, what, stream))
  LAUNCH(quantize_mx<mpnum_e3m2>(BLOCKS, MATRIX(x), MPNUM_BLOCKSCALE_RCEIL, what, stream))
  LAUNCH(quantize_mx<mpnum_e2m1>(BLOCKS, MATRIX(x), MPNUM_BLOCKSCALE_RCEIL, what, stream))
  LAUNCH(dequantize_mx<mpnum_e3m2>(MATRIX(y), a, what, stream))
  LAUNCH(nvfp4_scale(scale, MATRIX(y), stream))
  LAUNCH(quantize_nvfp4<16>(BLOCKS, MATRIX(y), scale, what, stream))
  error = mpnum_launch_quantize_nvfp4<16, MPNUM_TYPE_UE5M3>(BLOCKS, MATRIX(y), scale, what, stream);
  if (error != cudaSuccess) return error;
  error = mpnum_launch_dequantize_nvfp4<1, MPNUM_TYPE_UE5M3>(MATRIX(y), a, scale, what, stream);
  if (error != cudaSuccess) return error;
  LAUNCH(quantize_nvfp4_sr(BLOCKS, MATRIX(y), scale, what, 1, 2, stream))
  LAUNCH(quantize_stored(stored, MATRIX(x), stream))
  LAUNCH(quantize_stored(stored, MATRIX(y), stream))
  LAUNCH(dequantize_stored(MATRIX(x), stored, stream))
  LAUNCH(dequantize_stored(MATRIX(y), stored, stream))
  LAUNCH(stored_from_blocks(stored, *a, stream))
  LAUNCH(stored_to_blocks(*a, stored, stream))
  const mpnum_blockscale_format mx = mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
  LAUNCH(reorder_scales(&mx, MPNUM_SCALES_SWIZZLED, x, n, MPNUM_SCALES_IN_ROWS, y, n, n, n, stream))
  LAUNCH(dequantize_nvfp4(MATRIX(x), a, scale, what, stream))
  const mpnum_activation_options usual = mpnum_activation_default();
  const auto silu = mpnum::activation_of<MPNUM_ACTIVATION_SILU>(MATRIX(y), &usual);
  LAUNCH(quantize_mx<mpnum_e4m3>(BLOCKS, silu, MPNUM_BLOCKSCALE_RCEIL, what, stream))
  LAUNCH(quantize_transpose(MATRIX(codes), MATRIX(codes),
                            mpnum::activation_backward_of<MPNUM_ACTIVATION_GELU>(MATRIX(y), MATRIX(y), &usual), scale, scale, stream))
  LAUNCH(quantize_mx<mpnum_e4m3>(BLOCKS, mpnum::summed_of(mpnum::dropped_of(MATRIX(y), 1, 2, 3), x, scale), MPNUM_BLOCKSCALE_RCEIL,
                                 what, stream))
  LAUNCH(quantize_nvfp4<1>(BLOCKS, mpnum::hadamard_of<16>(MATRIX(y), 1), scale, what, stream))
  LAUNCH(quantize_nvfp4<1>(BLOCKS, mpnum::normalized_of(MPNUM_NORM_RMS, MATRIX(y), nullptr), scale, what, stream))
  LAUNCH(quantize_nvfp4<1>(BLOCKS, mpnum::normalized_of(MPNUM_NORM_RMS, MATRIX(y), nullptr, x), scale, what, stream))
  mpnum::quantize_list<mpnum_e4m3, mpnum_bf16> list = mpnum::quantize_list<mpnum_e4m3, mpnum_bf16>();
  LAUNCH(quantize_list(list, stream))
  LAUNCH(quantize_groups(codes, y, n, static_cast<const uint64_t *>(nullptr), n, scale, scale,
                         static_cast<mpnum_status *>(nullptr), stream))
  LAUNCH(quantize_fp8<mpnum_e4m3>(BLOCKS, MATRIX(x), MPNUM_BLOCKSCALE_AMAX, 0, what, stream))
  return mpnum_launch_dequantize_fp8<mpnum_e4m3>(MATRIX(x), a, what, stream);
}
"""

# A unit that launches every kernel of rows. Its compilation takes seconds.
ROW_LAUNCHES = """\
#include <mpnum/kernels.cuh>
#include <mpnum/rows/softmax_cap.cuh>
#define LAUNCH(call) if ((error = mpnum_launch_##call) != cudaSuccess) return error;
cudaError_t launch_rows(float *x, mpnum_bf16 *y, mpnum_e4m3 *codes, size_t n, const int64_t *targets, cudaStream_t stream);
cudaError_t launch_rows(float *x, mpnum_bf16 *y, mpnum_e4m3 *codes, size_t n, const int64_t *targets, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  const mpnum::matrix<float> floats = mpnum::matrix_of(x, n, n);
  const mpnum::matrix<mpnum_bf16> halves = mpnum::matrix_of(y, n, n);
  const mpnum::matrix<mpnum_e4m3> bytes = mpnum::matrix_of(codes, n, n);
  LAUNCH(softmax_rows(floats, bytes, nullptr, nullptr, stream))
  LAUNCH(log_softmax_rows(halves, floats, nullptr, nullptr, stream))
  LAUNCH(logsumexp_rows(x, halves, nullptr, nullptr, stream))
  LAUNCH(cross_entropy_rows(x, halves, halves, targets, nullptr, nullptr, stream))
  LAUNCH(softmax_backward_rows(halves, floats, halves, nullptr, stream))
  LAUNCH(log_softmax_backward_rows(floats, floats, floats, nullptr, stream))
  LAUNCH(softmax_capped_rows(halves, halves, nullptr, nullptr, stream))
  LAUNCH(log_softmax_capped_rows(floats, halves, nullptr, nullptr, stream))
  LAUNCH(logsumexp_capped_rows(x, floats, nullptr, nullptr, stream))
  LAUNCH(softmax_capped_backward_rows(halves, halves, halves, floats, nullptr, stream))
  LAUNCH(cross_entropy_capped_rows(x, halves, halves, targets, nullptr, nullptr, stream))
  LAUNCH(normalize_rows(MPNUM_NORM_LAYER, halves, halves, nullptr, stream))
  LAUNCH(normalize_rows(MPNUM_NORM_RMS, floats, floats, nullptr, stream))
  LAUNCH(normalize_backward_rows(MPNUM_NORM_LAYER, mpnum::norm_gradients_of(halves, x, x, 1), halves, halves, nullptr, stream, x))
  LAUNCH(activation_rows(MPNUM_ACTIVATION_SILU, halves, halves, nullptr, stream))
  LAUNCH(activation_quantize_rows(MPNUM_ACTIVATION_GELU, bytes, floats, nullptr, x, x, stream))
  LAUNCH(activation_backward_rows(MPNUM_ACTIVATION_SILU, halves, halves, halves, halves, nullptr, stream))
  LAUNCH(activation_backward_quantize_rows(MPNUM_ACTIVATION_RELU, bytes, mpnum::matrix<mpnum_e4m3>(), halves, halves, nullptr, x, x, stream))
  LAUNCH(dropout_rows(halves, floats, 0.5f, 1, 2, stream))
  LAUNCH(normalize_quantize_rows(MPNUM_NORM_RMS, bytes, halves, nullptr, x, x, stream))
  return error;
}
"""


def compile_text(text, *flags):
    """What nvcc said, and the text of what it made."""
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "unit.cu", Path(folder) / "unit.out"
        source.write_text(text)
        said = check(nvcc(), "-Werror", "all-warnings", "-I", INCLUDE_OF_NVCC, *flags, source, "-o", made)
        return said, made.read_text(errors="replace")


def gencode(arch):
    if arch.rstrip("af") not in archs_of_nvcc():
        raise tap.Skip(f"this nvcc does not compile for sm_{arch}")
    return f"-gencode=arch=compute_{arch},code=sm_{arch}"


def each_header_alone_and_twice(standard):
    for header in HEADERS:
        compile_text(f"#include <mpnum/{header}>\n" * 2, f"-std={standard}", gencode(QUICK_ARCHS[0]), "-c")


def frames_of(text, arch, *flags):
    """What ptxas says of each kernel of a text and of each function that they call: (name, bytes of its stack frame, of
    spill stores and of spill loads); and the registers of each kernel."""
    said, _ = compile_text(text, gencode(arch), "-Xptxas", "-v", "-cubin", *flags)
    frames = [(name, *map(int, sizes)) for name, *sizes in re.findall(
        r"Function properties for (\S+)\n *(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads",
        said)]
    kernels = re.findall(r"Compiling entry function '(\w+)'", said)
    assert set(kernels) <= {name for name, *_ in frames}, said[:4000]
    return frames, dict(zip(kernels, map(int, re.findall(r"Used (\d+) registers", said))))


def no_local_memory(text, arch, *flags):
    """The registers of each kernel of a text, all of which do without."""
    frames, registers = frames_of(text, arch, *flags)
    local = [frame for frame in frames if any(frame[1:])]
    assert not local, f"stack frame, spill stores and loads: {local}"
    return registers


def kernels_need_no_local_memory(arch, *flags):
    kernels = no_local_memory(DEVICE + launches(TYPES) + interop_kernels(), arch, *flags)
    assert len(kernels) > 50 + 2 * len(pairs()), len(kernels)


def some_kernels_need_no_local_memory(arch):
    kernels = no_local_memory(DEVICE + launches(["e4m3"]), arch)
    assert len(kernels) > 25, len(kernels)


def gradient_kernels_need_no_local_memory(arch, *flags):
    registers = no_local_memory(GRADIENTS, arch, *flags)
    assert len(registers) == 14 and max(registers.values()) <= 80, registers  # a multiprocessor holds three blocks


def quantisers_need_no_local_memory(arch, *flags):
    frames, kernels = frames_of(QUANTISERS, arch, "-std=c++11", *flags)
    # A register or four may be spilled, ten by tiles with stochastic rounding; no array lies there.
    bad = [frame for frame in frames
           if frame[1] > (40 if "Lb0ELb1EE" in frame[0] else 16) or frame[1] and not frame[2]]
    assert len(kernels) > 20 and not bad, f"{len(kernels)} kernels, stack and spills: {bad}"


def kernels_of_rows_need_no_local_memory(arch, *flags):
    kernels = no_local_memory(ROW_LAUNCHES, arch, *flags)
    assert len(kernels) >= 9, len(kernels)


def device_header_compiles_with_nvrtc(arch):
    nvrtc = Nvrtc()
    if arch.rstrip("af") not in nvrtc.archs():
        raise tap.Skip(f"this NVRTC does not compile for sm_{arch}")
    status, log, ptx = nvrtc.compile(DEVICE, f"--gpu-architecture=compute_{arch}", f"--include-path={INCLUDE}")
    assert status == 0 and not log, f"status {status}\n{log[:4000]}"
    assert "reduce" in ptx and "move" in ptx


LIMITS = """\
#include <mpnum/types/numeric_limits.hpp>
static_assert(cuda::std::numeric_limits<mpnum_e4m3>::has_denorm == cuda::std::denorm_present, "");
static_assert(cuda::std::numeric_limits<mpnum_e8m0>::has_denorm == cuda::std::denorm_absent, "");
static_assert(cuda::std::numeric_limits<const mpnum_bf16>::round_style == cuda::std::round_to_nearest, "");
template <class T> __global__ void limits(T *x) {
  x[0] = (cuda::std::numeric_limits<T>::max)();
  x[1].bits = cuda::std::numeric_limits<T>::max_exponent;
}
template __global__ void limits(mpnum_e4m3 *);
template __global__ void limits(mpnum_bf16 *);
"""


def has_limits(ptx):
    """e4m3: 448, below 2^9; bf16: 0x7f7f, below 2^128."""
    found = re.findall(r"^\s*(?:mov\.\w+\s+%\w+|st\.global\.\w+\s+\[[^]]*\]), (\d+);", ptx, re.M)
    assert found == ["126", "9", "32639", "128"], ptx


def limits_are_those_of_cuda_std(arch):
    """By nvcc, and by NVRTC, which has neither <limits> nor a way to CUDA's headers of its own."""
    _, ptx = compile_text(LIMITS, "-std=c++17", f"-arch=compute_{arch}", "-ptx")
    has_limits(ptx)
    toolkit = Path(shutil.which(nvcc())).resolve().parents[1] / "include"
    status, log, ptx = Nvrtc().compile(LIMITS, f"--gpu-architecture=compute_{arch}", "--std=c++17", f"--include-path={INCLUDE}",
                                       f"--include-path={toolkit / 'cccl'}", f"--include-path={toolkit}")
    assert status == 0 and not log, f"status {status}\n{log[:4000]}"
    has_limits(ptx)


HEADERS_OF_INSTANCES = """\
#include <mpnum/kernels.cuh>
#include <mpnum/training/health.cuh>
#include <mpnum/array/quantize_groups.cuh>
#include <mpnum/blocks/quantize_computed.cuh>
#include <mpnum/blocks/quantize_dropped.cuh>
#include <mpnum/blocks/quantize_hadamard.cuh>
#include <mpnum/blocks/quantize_normed.cuh>
#include <mpnum/blocks/quantize_summed.cuh>
"""
INSTANCES = ["mpnum_convert_kernel_<mpnum::cast_sat_<mpnum_e4m3, float>, mpnum_e4m3, float>",
             "mpnum_convert_kernel_<mpnum::cast_plain_<float, mpnum_f16>, float, mpnum_f16>",
             "mpnum_convert_kernel_<mpnum::cast_rounded_<mpnum_e2m1, float, MPNUM_ROUND_STOCHASTIC>, mpnum_e2m1x2, float>",
             *[f"mpnum_reduce_kernel_<mpnum::reduce_{what}_<{kind}>, {kind}>"
               for what, kind in (("finite", "double"), ("amax", "mpnum_bf16"), ("stats", "float"))],
             "mpnum_quantize_kernel_<mpnum_e5m2, mpnum_f16, mpnum_scale_current_>",
             "mpnum_quantize_list_kernel_<mpnum_e4m3, mpnum_bf16>",
             "mpnum_quantize_tile_kernel_<mpnum::blocks_<mpnum_e4m3, mpnum::MX_FAMILY_, 32>, float>",
             "mpnum_quantize_rows_kernel_<mpnum::blocks_<mpnum_e4m3, mpnum::MX_FAMILY_, 32>, float, "
             "mpnum::gate_elements_<mpnum::gate_silu_, true, mpnum_bf16, mpnum_bf16>>",
             "mpnum_quantize_rows_kernel_<mpnum::blocks_<mpnum_e2m1, mpnum::TWO_LEVEL_FAMILY_, 16>, float, "
             "mpnum::hadamard_elements_<16, mpnum_bf16>>",
             "mpnum_normalize_blocks_kernel_<mpnum::blocks_<mpnum_e4m3, mpnum::MX_FAMILY_, 32>, mpnum_bf16>",
             "mpnum_normalize_held_blocks_kernel_<mpnum::blocks_<mpnum_e4m3, mpnum::MX_FAMILY_, 32>, false, mpnum_bf16>",
             "mpnum_softmax_rows_kernel_<false, float, mpnum_e4m3>", "mpnum_cross_entropy_rows_kernel_<float, float, int>",
             "mpnum_normalize_rows_kernel_<mpnum::norm_codes_<mpnum_e4m3>, mpnum_bf16>",
             "mpnum_grad_pass_kernel_<mpnum_grad_findings>", "mpnum_grad_clip_kernel_<mpnum_grad_optimizer>",
             "mpnum_grad_step_kernel_<mpnum_grad_scaler>", "mpnum_grad_merge_kernel_<mpnum_grad_findings>",
             "mpnum_histogram_kernel_<mpnum_f16>", "mpnum_count_lost_kernel_<float>"]


def kernels_compile_with_nvrtc(arch):
    """Without the launchers, which are the runtime's."""
    nvrtc = Nvrtc()
    if arch.rstrip("af") not in nvrtc.archs():
        raise tap.Skip(f"this NVRTC does not compile for sm_{arch}")
    headers = HEADERS_OF_INSTANCES * 2
    status, log, ptx = nvrtc.compile(headers, f"--gpu-architecture=compute_{arch}",
                                     f"--include-path={INCLUDE}", instances=INSTANCES)
    assert status == 0 and not log, f"status {status}\n{log[:4000]}"
    assert ptx.count(".entry") == len(INSTANCES), ptx.count(".entry")


def every_kernel_begins_as_all_do():
    found = 0
    for path in sorted((INCLUDE / "mpnum").rglob("*.cuh")):
        for kernel in re.split(r"static __global__ ", path.read_text())[1:]:
            assert re.search(r"\) \{\s+mpnum_begin_kernel_\(\);", kernel.split(";")[0] + ";"), f"{path.name}: {kernel[:200]}"
            found += 1
    assert found > 55, found


TOUCHES_MEMORY = re.compile(r"\b(ld(?!\.param|\.shared|\.local|\.const)|st(?!\.param|\.shared|\.local)|atom|red|cp)\.[\w.:]+")


def programmatic_kernels_touch_no_memory_before_they_wait(arch):
    nvrtc = Nvrtc()
    if arch not in nvrtc.archs():
        raise tap.Skip(f"this NVRTC does not compile for sm_{arch}")
    status, log, ptx = nvrtc.compile(HEADERS_OF_INSTANCES, f"--gpu-architecture=compute_{arch}", f"--include-path={INCLUDE}",
                                     "--define-macro=MPNUM_PROGRAMMATIC_LAUNCH=1", instances=INSTANCES)
    assert status == 0 and not log, f"status {status}\n{log[:4000]}"
    kernels = ptx.split(".entry ")[1:]
    assert len(kernels) == len(INSTANCES), len(kernels)
    for kernel in kernels:
        before, wait, after = kernel.partition("griddepcontrol.wait;")
        assert wait and "griddepcontrol.launch_dependents;" in before, kernel[:300]
        assert not TOUCHES_MEMORY.search(before), before[-2000:]
        assert TOUCHES_MEMORY.search(after), after[:2000]  # which this finds where it is


def programmatic_launches_need_targets_that_have_them():
    text = "#include <mpnum/array/convert.cuh>\n"
    for archs, is_good in ((["80"], False), (["80", "90"], False), (["90"], True)):
        with tempfile.TemporaryDirectory() as folder:
            (source := Path(folder) / "unit.cu").write_text(text)
            made = subprocess.run([nvcc(), "-D", "MPNUM_PROGRAMMATIC_LAUNCH=1", "-I", INCLUDE, *map(gencode, archs), "-c", source,
                                   "-o", Path(folder) / "unit.o"], capture_output=True, text=True)
        said = made.stdout + made.stderr
        assert (made.returncode == 0) == is_good, said
        assert is_good or "MPNUM_PROGRAMMATIC_LAUNCH needs compute capability 9.0 of every target" in said, said


def cuda_12():
    """NVRTC and ptxas of CUDA 12, as Python packages have them; of nvcc there is no package."""
    library = file_of_package("nvidia-cuda-nvrtc-cu12", "libnvrtc.so.12")
    if not library:
        raise tap.Skip("no CUDA 12: install the Python packages nvidia-cuda-nvrtc-cu12 and nvidia-cuda-nvcc-cu12")
    return Nvrtc(library), file_of_package("nvidia-cuda-nvcc-cu12", "bin/ptxas")


def device_code_compiles_with_cuda_12(arch, standard):
    """Every function and the kernels: the compiler's front end is that of nvcc."""
    nvrtc, ptxas = cuda_12()
    source = test_device_headers.kernels() + HEADERS_OF_INSTANCES + DEVICE
    status, log, ptx = nvrtc.compile(source, f"--gpu-architecture=compute_{arch}", f"--std={standard}",
                                     f"--include-path={INCLUDE}", instances=INSTANCES)
    assert status == 0 and not log, f"status {status}\n{log[:4000]}"
    if not ptxas:
        raise tap.Skip("compiled, but there is no ptxas of CUDA 12: install the Python package nvidia-cuda-nvcc-cu12")
    with tempfile.TemporaryDirectory() as folder:
        (text := Path(folder) / "unit.ptx").write_text(ptx.rstrip("\0"))
        check(ptxas, f"-arch=sm_{arch}", "-O0", text, "-o", Path(folder) / "unit.cubin")


# What a host program makes of arrays, rows and sums: every byte of its results, and the instruction set behind them.
HOST_PROGRAM = """\
#include <mpnum/mpnum.h>
#include <stdio.h>
#include <string.h>
enum { COUNT = 1003 };
static float floats[COUNT], back[COUNT];
static double doubles[COUNT];
static unsigned char codes[4 * COUNT];
static uint64_t hash = 1;
static void take(const void *memory, size_t size) {
  const unsigned char *bytes = static_cast<const unsigned char *>(memory);
  for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3u;
}
#define CONVERT(type, form)                                                                \\
  mpnum_f32_to_##type##form##_array(reinterpret_cast<mpnum_##type *>(codes), floats, COUNT); \\
  take(codes, COUNT);                                                                      \\
  mpnum_##type##_to_f32_array(back, reinterpret_cast<mpnum_##type *>(codes), COUNT);       \\
  take(back, sizeof back)
int main() {
  for (uint32_t i = 0; i < COUNT; ++i) {
    const uint32_t bits = i % 5 ? mpnum_random(1, i) : (mpnum_random(1, i) & 0x87ffffffu) | 0x38000000u;
    floats[i] = mpnum_from_bits_f32(bits);
    doubles[i] = mpnum_from_bits_f64(static_cast<uint64_t>(bits) << 32 | i);
  }
  CONVERT(f16, );
  CONVERT(e4m3, _sat);
  CONVERT(e2m1x2, _sat);
  mpnum_f64_to_f16_array(reinterpret_cast<mpnum_f16 *>(codes), doubles, COUNT);
  take(codes, 2 * COUNT);
  const float amax = mpnum_amax_f32(floats, COUNT - 700), sum = mpnum_sum_bf16(reinterpret_cast<mpnum_bf16 *>(codes), 7);
  take(&amax, sizeof amax);
  take(&sum, sizeof sum);
  mpnum_exp_f32_array(back, floats, COUNT);
  take(back, sizeof back);
  printf("%016llx %s\\n", static_cast<unsigned long long>(hash), mpnum_isa_name(mpnum_isa_in_use()));
}
"""
HOST_SIMD = ["-D", "MPNUM_CUDA_HOST_SIMD=1"]


def host_simd_compiles_without_a_warning():
    """Without optimisation, where gcc's intrinsics are macros; what nvcc itself says, without the host's compiler."""
    compile_text("#include <mpnum/mpnum.h>\n#include <mpnum/kernels.cuh>\n", "-std=c++11", *HOST_SIMD, "-cuda")


def host_simd_gives_the_bits_of_the_plain_build():
    said = []
    with tempfile.TemporaryDirectory() as folder:
        (source := Path(folder) / "host.cu").write_text(HOST_PROGRAM)
        for index, flags in enumerate(([], ["-O2", *HOST_SIMD])):
            program = Path(folder) / f"program{index}"
            check(nvcc(), "-Werror", "all-warnings", "-I", INCLUDE_OF_NVCC, gencode(QUICK_ARCHS[0]), *flags, source, "-o", program)
            said.append(check(program).split())
    (plain, scalar), (vectors, isa) = said
    assert plain == vectors and scalar == "scalar", said
    assert isa != "scalar" or platform.machine() not in ("x86_64", "aarch64"), said


def two_units_link(*flags):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "one.cu").write_text(
            ALL_HEADERS + "cudaError_t other(float *result, const float *src);\n"
            "int main() { return mpnum_launch_amax<float>(0, 0, 0, 0) == other(0, 0) ? 0 : 1; }\n")
        (Path(folder) / "two.cu").write_text(
            ALL_HEADERS + "cudaError_t other(float *result, const float *src);\n"
            "cudaError_t other(float *result, const float *src) { return mpnum_launch_amax(result, src, 0, 0); }\n")
        program = Path(folder) / "program"
        check(nvcc(), "-Werror", "all-warnings", "-I", INCLUDE_OF_NVCC, gencode(QUICK_ARCHS[0]), *flags,
              Path(folder) / "one.cu", Path(folder) / "two.cu", "-o", program)
        check(program)  # both get the same error where there is no GPU


def device_code_compiles_with_symbols():
    """Of functions that -G inlines no more, those with assembly, too."""
    _, ptx = compile_text(ALL_HEADERS + DEVICE + GRADIENTS, "-arch=compute_100a", "-G", "-ptx")
    assert "debug" in ptx and ptx.count(".entry") == 10, ptx.count(".entry")


# A kernel whose function is a lambda of the host's, and one that has host functions for constants.
LAMBDA = """\
constexpr unsigned twice(unsigned n) { return 2 * n; }
template <class Function>
__global__ void each(float *x, Function function) {
  for (unsigned i = 0; i < twice(threadIdx.x); ++i) x[i] = function(x[i]);
}
void launch_each(float *x, float scale);
void launch_each(float *x, float scale) {
  each<<<1, 32>>>(x, [=] __host__ __device__(float y) { return mpnum_e4m3_to_f32(mpnum_f32_to_e4m3_sat(y * scale)); });
}
"""
CUDA_TYPES = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n"
PYTORCH = [f"-D__CUDA_NO_{what}__"
           for what in ("HALF_OPERATORS", "HALF_CONVERSIONS", "BFLOAT16_CONVERSIONS", "HALF2_OPERATORS")]


def all_headers_compile(text, *flags):
    """The compilers' front ends alone: what stands before or after, and what flags allow, is nothing to the others."""
    compile_text(text, "-std=c++17", "-arch=compute_75", "-cuda", *flags)


def pairs():
    text = (INCLUDE / "mpnum" / "cuda" / "interop.cuh").read_text()
    rows = re.findall(r"ROW\((__\w+), (mpnum_\w+)\)", text)
    assert len(rows) > 15, rows
    return rows


def interop_kernels():
    lines = ["#include <mpnum/cuda/interop.cuh>"]
    for index, (theirs, ours) in enumerate(pairs()):
        for name, dst, src, call in (("from", ours, theirs, "mpnum_from_cuda"), ("to", theirs, ours, "mpnum_to_cuda")):
            lines += [f"__global__ void {name}_{index}({dst} *dst, const {src} *src) {{",
                      f"  dst[threadIdx.x] = {call}(src[threadIdx.x]);", "}"]
    return "\n".join(lines) + "\n"


def interop_is_a_move_of_bits():
    _, ptx = compile_text(interop_kernels(), gencode(QUICK_ARCHS[-1]).replace("code=sm", "code=compute"), "-ptx")
    body = re.findall(r"^\t(?!\.)(?:@\S+\s+)?([\w.]+)", ptx, re.M)
    moves = re.compile(r"ld\.param\.[ub]64|cvta\.to\.global\.u64|mov\.u32|mul\.wide\.u32|add\.s64|shl\.b64|cvt\.u64\.u32|"
                       r"ld\.global(\.nc)?\.[ub](8|16|32)|st\.global\.[ub](8|16|32)|ret")
    strangers = sorted({word for word in body if not moves.fullmatch(word)})
    assert len(body) > 8 * 2 * len(pairs()) and not strangers, strangers
    loads = sum(word.startswith("ld.global") for word in body)
    assert loads == 2 * len(pairs()), f"{loads} loads for {2 * len(pairs())} kernels"


def interop_is_quiet_whatever_cudas_headers_say(host):
    """As a host compiler sees it, behind nvcc and alone, with CUDA's headers not those of the system."""
    need(host)
    compile_text("#include <mpnum/cuda/interop.cuh>\n", gencode(QUICK_ARCHS[0]), "-c", "-ccbin", host, "-Xcompiler",
                 "-Wextra,-Wunused-parameter,-Wconversion,-Werror")
    with tempfile.TemporaryDirectory() as folder:
        (source := Path(folder) / "unit.cpp").write_text("#include <mpnum/cuda/interop.cuh>\n")
        toolkit = Path(shutil.which(nvcc())).resolve().parents[1] / "include"
        check(host, "-std=c++11", *toolchain.WARNINGS, *(toolchain.CLANG_WARNINGS if "clang" in host else []), "-I", toolkit,
              "-I", INCLUDE, "-fsyntax-only", source)


def quick_properties():
    last = QUICK_ARCHS[-1]
    yield named(f"some kernels need no local memory on sm_{last}", some_kernels_need_no_local_memory, last)
    yield named(f"block.cuh compiles with NVRTC for sm_{last}", device_header_compiles_with_nvrtc, last)
    yield every_kernel_begins_as_all_do


def every_kernel():
    return DEVICE + launches(TYPES) + QUANTISERS + ROW_LAUNCHES + GRADIENTS + interop_kernels()


def clang_compiles(half, *what):
    """clang's own headers for CUDA name textures as no toolkit since CUDA 12 has them: these it does without here."""
    clang = need("clang++")
    toolkit = Path(shutil.which(nvcc())).resolve().parents[1]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "texture_fetch_functions.h").write_text("")
        (source := Path(folder) / "unit.cu").write_text("#include <mpnum/training/health.cuh>\n" + every_kernel())
        check(clang, "-x", "cuda", "-std=c++11", f"--cuda-path={toolkit}", "--cuda-gpu-arch=sm_75",
              f"--cuda-{half}-only", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-cuda-version",
              "-D__CLANG_CUDA_TEXTURE_INTRINSICS_H__", "-I", folder, "-I", INCLUDE, *what, source,
              "-o", Path(folder) / "unit.s")


def programs_for_a_gpu_are_sources_for_one(half):
    """As tests/cuda/gpu/programs.txt lists them. The simulator takes calls from one side to the other, nvcc some of them."""
    clang = need("clang++")
    toolkit = Path(shutil.which(nvcc())).resolve().parents[1]
    table = [line.split() for line in (ROOT / "tests/cuda/gpu/programs.txt").read_text().splitlines() if not line.startswith("#")]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "texture_fetch_functions.h").write_text("")
        for name, source, *flags in table:
            dialect = [flag for flag in flags if flag.startswith(("-std", "-D"))]
            check(clang, "-x", "cuda", *dialect, f"--cuda-path={toolkit}", "--cuda-gpu-arch=sm_75", f"--cuda-{half}-only",
                  "-Wno-unknown-cuda-version", "-D__CLANG_CUDA_TEXTURE_INTRINSICS_H__", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1", "-I", folder,
                  "-I", INCLUDE, "-fsyntax-only", ROOT / "tests/cuda/gpu" / source)
    assert len(table) > 15, table


def clang_makes_an_object_in_three_steps():
    """As docs/cuda.md prints them: clang 14 has no option for the fatbinary of CUDA 13."""
    clang = need("clang++")
    toolkit = Path(shutil.which(nvcc())).resolve().parents[1]
    text = (ROOT / "docs/cuda.md").read_text()
    steps = re.findall(r"^    ((?:clang\+\+|fatbinary) .*)$", text, re.M)
    assert len(steps) == 3, steps
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "texture_fetch_functions.h").write_text("")
        (Path(folder) / "unit.cu").write_text("#include <mpnum/array/reduce.cuh>\ncudaError_t amax(float *to, const float *x) {\n"
                                              "  return mpnum_launch_amax(to, x, 8, 0);\n}\n")
        given = {"clang++": clang, "fatbinary": toolkit / "bin/fatbinary"}
        for step in steps:
            command = [given.get(word, word) for word in step.split()]
            if "..." in command:
                place = command.index("...")
                command[place:place + 1] = ["-std=c++11", f"--cuda-path={toolkit}", "-Wno-unknown-cuda-version",
                                            "-D__CLANG_CUDA_TEXTURE_INTRINSICS_H__", "-I", ".", "-I", INCLUDE]
            check(*command, cwd=folder)
        assert b".nv_fatbin" in (Path(folder) / "unit.o").read_bytes()


def full_properties():
    yield named(f"limits are those of cuda::std on sm_{QUICK_ARCHS[0]}", limits_are_those_of_cuda_std, QUICK_ARCHS[0])
    yield host_simd_compiles_without_a_warning
    yield named("all headers with relaxed constexpr and lambdas", all_headers_compile, ALL_HEADERS + LAMBDA,
                "--expt-relaxed-constexpr", "--extended-lambda")
    ours = ALL_HEADERS.replace("#include <mpnum/cuda/interop.cuh>\n", "")  # which includes CUDA's
    yield named("with PyTorch's flags all headers after CUDA's", all_headers_compile, CUDA_TYPES + ours + interop_kernels(),
                *PYTORCH)
    yield named("clang takes all kernels, half of the device", clang_compiles, "device", "-fsyntax-only")
    yield clang_makes_an_object_in_three_steps
    yield interop_is_a_move_of_bits
    for arch in (QUICK_ARCHS[0], FULL_ARCHS[-1]):
        yield named(f"block.cuh compiles with NVRTC for sm_{arch}", device_header_compiles_with_nvrtc, arch)
    yield named("programmatic kernels touch no memory before they wait, sm_90",
                programmatic_kernels_touch_no_memory_before_they_wait, "90")
    yield programmatic_launches_need_targets_that_have_them
    yield named("device code compiles with CUDA 12 for sm_120a in c++11", device_code_compiles_with_cuda_12, "120a", "c++11")
    yield host_simd_gives_the_bits_of_the_plain_build
    for host in ("g++", "clang++"):
        yield named(f"interop is quiet whatever CUDA's headers say, {host}", interop_is_quiet_whatever_cudas_headers_say, host)


def exhaustive_properties():
    for standard in STANDARDS:
        yield named(f"each header alone and twice in {standard}", each_header_alone_and_twice, standard)
    for arch in all_archs():
        for flags in ([], ["-use_fast_math"]):
            yield named(" ".join([f"kernels need no local memory on sm_{arch}", *flags]),
                        kernels_need_no_local_memory, arch, *flags)
            yield named(" ".join([f"quantisers need no local memory on sm_{arch}", *flags]),
                        quantisers_need_no_local_memory, arch, *flags)
            yield named(" ".join([f"kernels of rows need no local memory on sm_{arch}", *flags]),
                        kernels_of_rows_need_no_local_memory, arch, *flags)
            yield named(" ".join([f"kernels of gradients need no local memory on sm_{arch}", *flags]),
                        gradient_kernels_need_no_local_memory, arch, *flags)
        yield named(f"block.cuh compiles with NVRTC for sm_{arch}", device_header_compiles_with_nvrtc, arch)
    yield two_units_link
    yield named("two units link with -rdc=true", two_units_link, "-rdc=true")
    yield device_code_compiles_with_symbols
    for arch in (QUICK_ARCHS[0], FULL_ARCHS[-1]):
        yield named(f"kernels.cuh compiles with NVRTC for sm_{arch}", kernels_compile_with_nvrtc, arch)
    yield named("clang compiles all kernels", clang_compiles, "device", "-S")
    yield named("clang takes all kernels, half of the host", clang_compiles, "host", "-fsyntax-only")
    for half in ("device", "host"):
        yield named(f"clang takes the tests for a GPU, half of the {half}", programs_for_a_gpu_are_sources_for_one, half)
    ours = ALL_HEADERS.replace("#include <mpnum/cuda/interop.cuh>\n", "")
    yield named("all headers before CUDA's", all_headers_compile, ours + CUDA_TYPES + interop_kernels())
    for arch in ("75", "80", "89", "90"):
        yield named(f"device code compiles with CUDA 12 for sm_{arch} in c++17", device_code_compiles_with_cuda_12, arch, "c++17")


PROPERTIES = {"quick": quick_properties, "full": full_properties, "exhaustive": exhaustive_properties}
if __name__ == "__main__":
    tier = sys.argv[1] if sys.argv[1:] else "quick"
    if tier not in PROPERTIES:
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(2)
    sys.exit(toolchain.run_on_all_cores(list(PROPERTIES[tier]())))
