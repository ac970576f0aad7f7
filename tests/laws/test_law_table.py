#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every host function of arrays, rows, blocks and gradients, and every launcher, is a subject of a program of laws, or
stands here with the reason why no law is about it.

usage: test_law_table.py PROGRAM...
"""

import re
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
import toolchain
from test_law_faults import FAULTS
from tree import ROOT

# Pattern of the end of a name, and why.
LEFT_OUT = {
    "mpnum_isa_name": "of no array",
    "mpnum_isa_in_use": "of no array",
    "mpnum_isa_force": "of no array",
    "mpnum_health_watch": "of the statistics of an array",
    "mpnum_measure_merge": "of no array",
    "mpnum_measure_summary": "of no array",
    **{f"mpnum_{name}": "laws of its own, of random formats and shapes: block_layout"
       for name in ("convert_blocks", "round_blocks", "quantize_two_level", "dequantize_two_level", "reorder_scales",
                    "scale_order_bytes", "transpose_codes")},
    "mpnum_product_bound": "drawn with mpnum_product in laws_blocks, its numbers in product_bound",
    "mpnum_product_unit_name": "of no array",
    "mpnum_p3109_convert_array": "of a format and a rounding by name, its single numbers in p3109",
    "mpnum_split_matrix": "of several results, its single numbers in split",
    "mpnum_quantize_four_over_six": "a formula of its own: block_four_over_six",
    "mpnum_launch_normalize_backward_bytes": "of no array",
    "mpnum_launch_scratch_init": "of no array: kernels_reduce, kernels_grad, kernels_optimizer",
    "mpnum_launch_quantize_groups": "of parts by offsets in device memory, random ones in kernels_quantize_groups",
    "mpnum_launch_quantize_list": "of a list of tensors, random ones in kernels_quantize_groups",
    "mpnum_launch_reorder_scales": "of formats and orders: kernels_quantize_blocks",
    "mpnum_launch_scale_update": "of the state of a scaling: kernels_quantize",
    "mpnum_launch_grad_clip": "of the state of a scaler: kernels_grad",
    "mpnum_launch_grad_multiplier": "of the state of a scaler: kernels_optimizer",
    **{f"mpnum_launch_{name}": "of a list and the number of a step: kernels_optimizer"
       for name in ("optimizer_step", "adafactor_step", "adafactor_bytes")},
    "mpnum_launch_grad_step": "of the state of a scaler: kernels_grad",
    "mpnum_launch_grad_step_all": "of the state of a scaler: kernels_grad",
    "mpnum_launch_grad_merge": "of the state of a scaler: kernels_grad",
}
# With it, a subject's name has more: a call of another kind.
MORE = "/"
# What makes a value that others take: no array is read.
MAKERS = ("_of", "_none", "_default", "_empty")


def subjects():
    names = []
    for program in sys.argv[1:]:
        names += subprocess.run([program, "--names"], check=True, capture_output=True, text=True).stdout.split()
    assert len(names) == len(set(names)), sorted(name for name in set(names) if names.count(name) > 1)
    return {name.split(MORE)[0] for name in names}


def every_function_obeys_laws():
    api, known = toolchain.load_api().Api(), subjects()
    wanted = {name for name in api.host_only & set(api.functions)
              if name not in LEFT_OUT and not name.endswith(MAKERS) and not api.homes[name] == "types/language_types.h"}
    if any(name.startswith("mpnum_launch_") for name in known):  # where the simulator is built
        wanted |= {name for name in api.cpp_names if re.fullmatch("mpnum_launch_[a-z0-9_]*", name)
                   and name not in LEFT_OUT and name not in api.types and name != "mpnum_launch_scratch"}
    missing, unknown = wanted - known, known - set(api.functions) - set(api.cpp_names)
    assert not missing, f"in no table of tests/laws: {' '.join(sorted(missing))}"
    assert not unknown, f"no public function: {' '.join(sorted(unknown))}"


def planted_faults_have_their_place():
    """law_faults, which plants them, seldom runs."""
    stale = [name for name, header, before, *_ in FAULTS if before not in (ROOT / "include/mpnum" / header).read_text()]
    assert not stale, f"no header has what these replace: {' '.join(stale)}"


sys.exit(tap.run(every_function_obeys_laws, planted_faults_have_their_place))
