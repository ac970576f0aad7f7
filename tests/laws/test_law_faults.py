#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Faults that the laws have to find with the draws of the quick tier: defects that were once there, and others of their
kind. Each is put into a copy of the headers, and the program of its laws, or one function of it, has to fail.

usage: test_law_faults.py [NAME...]
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
import toolchain
from tree import ROOT

ARRAYS = ["array/array_functions.c"]

# (name, header, what stands there, what the fault puts in its place, program, more sources, function)
FAULTS = [
    # Once there.
    ("both_in_chunks_of_odd_width", "blocks/detail/blockscale_pass.h",
     "if (across) across = mpnum_common_multiple_(across, 4);", "", "blocks", [], "mpnum_quantize_blocks_both"),
    ("fillers_of_stale_factors", "blocks/detail/blockscale_pass.h", "scales->factors[c] = scales->factors[n - 1];",
     "scales->factors[c] = mpnum_from_bits_f32(0x7fffffffu); /* as memory may have it */", "blocks", [], "mpnum_quantize_blocks_both"),
    ("tensor_scale_in_the_callers_rounding", "blocks/blockscale_format.h",
     "scale = mpnum_block_quotient_(largest, bits);",
     "scale = mpnum_bits_f32(mpnum_from_bits_f32(largest) / mpnum_from_bits_f32(bits));", "blocks", [], "mpnum_quantize_nvfp4"),
    ("swizzled_columns_lie_as_rows", "blocks/blockscale_format.h", "return MPNUM_SCALES_TURNED_;", "return MPNUM_SCALES_OF_ROWS_;",
     "blocks", [], "mpnum_quantize_blocks"),
    ("padding_of_swizzled_scales_is_left", "blocks/detail/blockscale_pass.h", "if (all == high * wide) return;",
     "if (all || high || wide) return;", "blocks", [], "mpnum_quantize_blocks"),
    ("a_stored_sum_keeps_its_nan", "rows/detail/norm_backward.inc", "mpnumv_norm_unless_nan(made)", "made", "rows", [],
     "mpnum_normalize_rows"),
    ("masked_gradients_of_nan_rows", "rows/cross_entropy.h", "float gradient = is_out ? 0 : nan_result;",
     "float gradient = nan_result;", "rows", [], "mpnum_contrastive_loss"),
    ("the_first_nan_has_its_own_bits", "training/detail/grad_pass.h",
     "mpnum_bits_f32(mpnum_canonical_(mpnum_float_at_(results, first)))",
     "mpnum_bits_f32(mpnum_float_at_(results, first))", "gradients", [], "mpnum_grad_read"),
    ("a_row_has_the_specials_of_f16", "simd/detail/codings.h",
     "format.exponent_bits == 5 && format.mantissa_bits == 2 && format.bias == 15 &&\n         "
     "format.inf_code == 0x7c && format.sign_bits;", "format.exponent_bits == 5;", "arrays", ARRAYS,
     "mpnum_convert_array_formats"),
    ("a_row_without_a_sign_is_shifted_by_it", "simd/detail/codings.h", "decoding.left = 8 - format.sign_bits - sign_shift;",
     "decoding.left = (7 - sign_shift) & 31;", "arrays", ARRAYS, "mpnum_convert_array_formats"),
    # Of their kinds.
    ("masks_of_the_first_row", "rows/softmax.h", "options->mask + number * options->mask_stride", "options->mask", "rows", [],
     "mpnum_softmax_rows"),
    ("biases_of_the_first_row", "rows/softmax.h", "options->bias, number * options->bias_stride)", "options->bias, 0)", "rows", [],
     "mpnum_log_softmax_rows"),
    ("words_of_each_chunk_begin_anew", "array/detail/convert_loops.h", "    conversion.offset += count;\n", "", "arrays", ARRAYS,
     "mpnum_f32_to_e4m3_sr_array"),
    ("gradients_at_the_stride_of_the_source", "training/detail/grad_pass.h",
     "mpnum_row_to_(t->dst_type, t->dst, row * t->dst_stride)", "mpnum_row_to_(t->dst_type, t->dst, row * t->src_stride)",
     "gradients", [], "mpnum_grad_multiply"),
    ("activations_in_the_callers_rounding", "rows/activation_rows.h", "  saved = mpnum_fenv_save_();\n", "  saved = 0;\n", "rows", [],
     "mpnum_activation_rows"),
    ("factors_of_the_first_row", "rows/activation_rows.h", "mpnum_rows_at_(options->factor, row, first)",
     "mpnum_rows_at_(options->factor, 0, first)", "rows", [], "mpnum_activation_rows"),
    ("the_larger_of_avx2_is_the_smaller", "simd/detail/avx2.h", "_mm256_max_ps((__m256)a, (__m256)b)",
     "_mm256_min_ps((__m256)a, (__m256)b)", "rows", [], "mpnum_logsumexp_rows"),
    ("channels_of_the_first_scale", "array/scale.h", "mpnum_float_at_(scales_inv, i));\n  return", "mpnum_float_at_(scales_inv, 0));\n  return",
     "blocks", [], "mpnum_dequantize_channels"),
    ("a_sum_of_rows_of_pairs_by_scalars_alone", "rows/detail/norm_backward.inc",
     "mpnum_canonical_(is_product ? mpnum_mul_scalar_(x, y) : mpnum_add_scalar_(x, y));",
     "is_product ? mpnum_mul_scalar_(x, y) : mpnum_add_scalar_(x, y);", "rows", [], "mpnum_normalize_rows"),
    ("a_residual_of_the_first_row", "rows/detail/norm_pass.h", "mpnum_rows_at_(residual, row, first)",
     "mpnum_rows_at_(residual, 0, first)", "rows", [], "mpnum_normalize_rows"),
    ("a_stride_is_not_looked_at", "array/detail/views.h", "dst.stride < dst.columns", "0", "rows", [], "mpnum_softmax_rows"),
    ("words_of_blocks_count_columns", "blocks/detail/blockscale_pass.h", "job->offset + (row + r) * job->src.stride + column + c",
     "job->offset + r * job->src.stride + column + c", "blocks", [], "mpnum_quantize_blocks"),
    ("what_is_before_the_first_is_found", "training/detail/grad_pass.h", "findings->first_element = element + first;",
     "findings->first_element = first;", "gradients", [], "mpnum_grad_multiply"),
    ("a_residual_may_be_overlapped", "rows/detail/norm_pass.h", "return mpnum_rows_overlap_(dst, options->residual) ||",
     "return", "rows", [], "mpnum_normalize_rows"),
    ("a_gate_may_be_overlapped", "rows/activation_rows.h",
     "(mpnum_rows_overlap_(dst, src) || mpnum_rows_overlap_(dst, options->factor))", "mpnum_rows_overlap_(dst, src)", "rows", [],
     "mpnum_activation_quantize_rows"),
    ("a_length_of_one_too_many", "rows/softmax.h", "if (options->lengths[i] > src.columns)",
     "if (options->lengths[i] > src.columns + 1)", "rows", [], "mpnum_softmax_rows"),
    ("exceptions_leave_their_flags", "core/detail/environment.h", "if (now != before)", "if ((now ^ before) & 0xffc0u)", "gradients", [],
     "mpnum_sum_f32"),
    ("exceptions_trap", "core/detail/environment.h", "if ((saved & 0xffc0u) != usual)", "if ((saved & 0xe040u) != 0)", "rows", [],
     "mpnum_logsumexp_rows"),
    # Of devices.
    ("a_launcher_takes_the_mask_of_the_first_row", "rows/rows.cuh", "from.mask + number * from.mask_stride", "from.mask",
     "device_rows", [], "mpnum_launch_softmax_rows"),
    ("a_gradient_stored_on_a_device_keeps_its_nan", "training/detail/grad_pass.cuh", "y[k] = mpnum_canonical_(x[k]);", "y[k] = x[k];",
     "device_arrays", [], "mpnum_launch_grad_pass"),
    ("padding_of_swizzled_scales_is_left_on_devices", "blocks/quantize_blocks.cuh",
     "if (side.cleared == 0) return cudaSuccess;", "return cudaSuccess;", "device_blocks", [], "mpnum_launch_quantize_mx"),
]


def program(folder, include, name, more):
    tests = ROOT / "tests"
    flags = ["-O1", "-w", "-D_FILE_OFFSET_BITS=64", "-I", include]
    if name.startswith("device"):
        engine = folder / "laws.o"
        subprocess.run([*toolchain.cc(), "-std=c99", *flags, "-c", tests / "laws/laws.c", "-o", engine], check=True)
        command = [*toolchain.cpp_compiler(), "-std=c++17", *flags, "-rdynamic", tests / f"laws/test_laws_{name}.cpp", engine]
    else:
        command = [*toolchain.cc(), "-std=c99", *flags, tests / f"laws/test_laws_{name}.c", tests / "laws/laws.c",
                   *(tests / source for source in more)]
    subprocess.run([*command, "-lm", "-o", folder / name], check=True)
    return folder / name


def found(fault):
    name, header, before, after, laws, more, subject = fault

    def property():
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            shutil.copytree(ROOT / "include", folder / "include")
            path = folder / "include/mpnum" / header
            text = path.read_text()
            assert text.count(before) >= 1, f"{header} has no longer: {before}"
            path.write_text(text.replace(before, after, 1))
            run = subprocess.run([program(folder, folder / "include", laws, more), f"--only={subject}"], capture_output=True, text=True)
            assert run.returncode != 0, f"{name}: no law is broken"
            assert "not ok" in run.stdout, run.stdout[-2000:]

    property.__name__ = name
    return property


if __name__ == "__main__":
    wanted = sys.argv[1:]
    sys.exit(tap.run(*(found(fault) for fault in FAULTS if not wanted or fault[0] in wanted)))
