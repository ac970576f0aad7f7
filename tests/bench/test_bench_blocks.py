#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`mpnum bench --blocks`: block formats and scaled arrays at three sizes, and what they do to tensors.
test_bench_blocks.py PROGRAM [TIER]"""

import functools
import importlib.util
import math
import os
import random
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import bench_sections
import tap
from bench_program import bench, full_run, result_of
from bench_sections import shape_of
from block_reference import CODE_BITS, PRESETS, SQUARE, f32, figures_of
from tensor_files import floats, npy

WIDTHS = {"f32": 32, "bf16": 16}
TURNING = [name for name in PRESETS if name not in SQUARE]
GGML = ["MXFP4", "NVFP4", "Q4_0", "Q8_0"]
OF_TORCHAO = ["f32 to mx e4m3", "mx e4m3 to f32", "f32 to mx e5m2", "mx e5m2 to f32", "f32 to mx e2m1",
              "mx e2m1 to f32", "f32 to nvfp4 1x16", "nvfp4 1x16 to f32", "bf16 to mx e4m3", "mx e4m3 to bf16"]
ADDED = [*((f"f32 to {name} columns", f"f32 to {name}") for name in TURNING),
         ("f32 to mx e4m3 both", "f32 to mx e4m3"), ("f32 to mx e4m3 losses", "f32 to mx e4m3"),
         ("f32 to nvfp4 1x16 losses", "f32 to nvfp4 1x16"),
         ("f32 to nvfp4 1x16 amax", "f32 to nvfp4 1x16"),
         *((f"{source} to e4m3 current", f"{source} to e4m3 amax, plain") for source in WIDTHS)]
LAWS = ["normal", "gradients", "activations"]
COLUMNS = 42  # blocks of 16 and 32 are short at the end, and so are groups of packed codes

@functools.cache
def quick_run():
    return bench_sections.quick_run("blocks")


@functools.cache
def run_with_times():
    return bench_sections.run_with_times("blocks", "torchao_times.py", OF_TORCHAO)


def every_preset_has_its_rows():
    """Quantising and dequantising f32 and bf16, in rows; in columns and in both at once where these differ."""
    wanted = {}
    for preset, (element, *_) in PRESETS.items():
        bits = CODE_BITS.get(element, 8)
        for source, width in WIDTHS.items():
            wanted[f"{source} to {preset}"] = (width, bits, False)
            wanted[f"{preset} to {source}"] = (bits, width, False)
            if preset in TURNING:
                wanted[f"{source} to {preset} columns"] = (width, bits, False)
                wanted[f"{source} to {preset} both"] = (width, 2 * bits, False)
                wanted[f"{preset} columns to {source}"] = (bits, width, False)
    wanted.update({"f32 to mx e4m3 losses": (32, 8, False), "f32 to nvfp4 1x16 losses": (32, 4, False),
                   "f32 to nvfp4 ue5m3": (32, 4, False), "f32 to nvfp4 1x16 amax": (32, 4, False)})
    for source, width in WIDTHS.items():
        wanted.update({f"{source} to e4m3 {how}": (width, 8, False)
                       for how in ("scaled", "scaled losses", "current", "amax, plain")})
        wanted[f"e4m3 scaled to {source}"] = (8, width, False)
    figures = quick_run()[0]
    got = {name: shape_of(figures, "blocks", name) for name in bench_sections.operations(figures, "blocks")}
    assert got == wanted, {name for name in {*got, *wanted} if got.get(name) != wanted.get(name)}


def functions_are_those_of_the_rows():
    figures = quick_run()[0]
    for name in bench_sections.operations(figures, "blocks"):
        function = figures.get("blocks", "mpnum", name, "", "function")
        target = name.split(" to ")[1]
        wanted = ("mpnum_amax_" if target.endswith((" current", " amax, plain")) else
                  "mpnum_quantize_nvfp4" if target.endswith(" amax") else
                  "mpnum_quantize_array" if "scaled" in target else
                  "mpnum_dequantize_array" if "scaled" in name else
                  "mpnum_dequantize_blocks" if target in WIDTHS else
                  "mpnum_quantize_blocks_both" if target.endswith(" both") else "mpnum_quantize_blocks")
        assert function.startswith(wanted) and (wanted.endswith("_") or function == wanted), (name, function)


def peers_are_measured_or_named_absent():
    figures, out = quick_run()
    assert bench_sections.peers(figures, "blocks") == [*GGML, "torchao"]
    bench_sections.check_peers(figures, "blocks", out)
    assert figures.get("blocks", "torchao", metric="missing") == bench_sections.ABSENT_WHY, figures.metrics("blocks", "torchao")


def the_times_that_torchao_gives_are_reported():
    bench_sections.check_times_given("blocks", "torchao", OF_TORCHAO, *run_with_times())


def torchao_is_measured_where_it_is():
    if importlib.util.find_spec("torch") is None or importlib.util.find_spec("torchao") is None:
        raise tap.Skip("no modules torch and torchao")
    figures, _ = bench_sections.quick_run("blocks", env={**os.environ, "TORCH_PYTHON": sys.executable})
    assert "missing" not in figures.metrics("blocks", "torchao"), figures.metrics("blocks", "torchao")
    bench_sections.check_all_figures(figures, "blocks")


def what_is_added_follows_from_times():
    figures, out = quick_run()
    bench_sections.check_added(figures, "blocks", out, "Blocks", ADDED)


def ways_of(preset):
    return ["rows", "columns"] if preset in TURNING else ["rows"]


def accuracy_of(figures, tensor):
    """By preset and way: the metrics of the tensor of this name."""
    sources = [row["source"] for row in figures.select("blocks_accuracy", None, "", "", "tensor")
               if row["value"] == tensor]
    assert len(sources) == 1, (tensor, sources)
    return sources[0], {(preset, way): figures.metrics("blocks_accuracy", sources[0], preset, way)
                        for preset in figures.all_of("name", "blocks_accuracy", sources[0])
                        for way in figures.all_of("variant", "blocks_accuracy", sources[0], preset)}


def sample_matrix(rows):
    """Normal values, rows and columns of other magnitudes, a row of zeros."""
    chance = random.Random(17)
    return [[f32(chance.gauss(0, 1) * 2.0 ** (i % 5 - j % 3)) if i != 7 else 0.0 for j in range(COLUMNS)]
            for i in range(rows)]


def check_errors(figures, tensor, matrix):
    _, got = accuracy_of(figures, tensor)
    assert list(got) == [(preset, way) for preset in PRESETS for way in ways_of(preset)], list(got)
    for (preset, way), row in got.items():
        wanted = figures_of(matrix, preset, way == "columns")
        assert set(row) == set(wanted), (preset, row)
        for metric, value in wanted.items():
            assert math.isclose(row[metric], value, rel_tol=1e-9, abs_tol=1e-9), (preset, way, metric, row, wanted)


@functools.cache
def run_of_files():
    """One run over several matrices: as it is, transposed in memory, with what is not finite, of zeros, of one row."""
    matrix = sample_matrix(36)
    flat = [x for row in matrix for x in row]
    turned = [row[j] for j in range(COLUMNS) for row in matrix]
    shape = f"(36, {COLUMNS})"
    broken = list(flat)
    broken[5], broken[100], broken[101] = math.inf, -math.inf, math.nan
    header = "{'descr': '<f4', 'fortran_order': True, 'shape': %s, }" % shape
    files = {"plain.npy": npy("'<f4'", shape, floats(*flat)), "fortran.npy": npy("", "", floats(*turned), header=header),
             "broken.npy": npy("'<f4'", shape, floats(*broken)), "zeros.npy": npy("'<f4'", "(2, 8)", bytes(64)),
             "deep.npy": npy("'<f4'", f"(6, 6, {COLUMNS})", floats(*flat)),
             "vector.npy": npy("'<f4'", f"({COLUMNS},)", floats(*matrix[0])),
             "scalar.npy": npy("'<f4'", "()", floats(1.5))}
    return matrix, *result_of("--blocks", "--quick", *files, **files)


def file_figures(name):
    """The figures of one file of that run."""
    matrix, figures, _ = run_of_files()
    source = next(source for source in figures.all_of("source", "blocks_accuracy") if source.startswith(f"{name}: "))
    return matrix, figures, figures.metrics("blocks_accuracy", source)["tensor"], source


def errors_are_those_of_the_definitions():
    for name in ("plain.npy", "deep.npy", "vector.npy"):
        matrix, figures, tensor, source = file_figures(name)
        about = figures.metrics("blocks_accuracy", source)
        used = matrix[:1] if name == "vector.npy" else matrix
        if name == "deep.npy":  # all axes but the first in one row, as kernels are multiplied
            used = [sum(matrix[i:i + 6], []) for i in range(0, 36, 6)]
        assert (about["rows"], about["columns"], about["non_finite"]) == (len(used), len(used[0]), 0), about
        check_errors(figures, tensor, used)


def a_transposed_file_is_the_same_matrix():
    """But for bits: rows in memory begin at whole bytes."""
    _, figures, _, source = file_figures("fortran.npy")
    _, _, _, plain = file_figures("plain.npy")
    about, wanted = (figures.metrics("blocks_accuracy", one) for one in (source, plain))
    assert (about["rows"], about["columns"]) == (wanted["rows"], wanted["columns"]), about
    for preset in PRESETS:
        for way in ways_of(preset):
            one, other = (figures.metrics("blocks_accuracy", at, preset, way) for at in (source, plain))
            assert one["underflow_share"] == other["underflow_share"], (preset, way, one, other)
            assert math.isclose(one["sqnr"], other["sqnr"], rel_tol=1e-9), (preset, way, one, other)


def what_is_not_finite_counts_as_0():
    matrix, figures, tensor, source = file_figures("broken.npy")
    assert figures.metrics("blocks_accuracy", source)["non_finite"] == 3
    matrix = [list(row) for row in matrix]
    for index in (5, 100, 101):
        matrix[index // COLUMNS][index % COLUMNS] = 0.0
    check_errors(figures, tensor, matrix)
    assert f"{tensor}: 36 x {COLUMNS}, 3 not finite, which count as 0\n" in run_of_files()[2]


def zeros_have_no_errors():
    _, figures, tensor, source = file_figures("zeros.npy")
    assert figures.all_of("name", "blocks_accuracy", source) == []
    assert f"\n{tensor}: 2 x 8\nno nonzero finite value, so no errors\n" in run_of_files()[2]


def the_distributions_and_the_sample_are_measured():
    figures, out = quick_run()
    tensors = [row["value"] for row in figures.select("blocks_accuracy", None, "", "", "tensor")]
    assert tensors[:3] == LAWS and "fc1.weight" in tensors and "fc2.input.grad" in tensors, tensors
    for tensor in tensors:
        _, got = accuracy_of(figures, tensor)
        assert list(got) == [(preset, way) for preset in PRESETS for way in ways_of(preset)], (tensor, list(got))
        assert all(row["sqnr"] > 10 for row in got.values()), (tensor, got)
    assert "\nBlocks, accuracy: synthetic distributions\n\nnormal: 64 x 64\n" in out


def shown_share(share):
    return "0" if share == 0 else "<0.01" if share < 0.00005 else f"{100 * share:.2f}"


def the_accuracy_table_is_the_figures():
    figures, out = quick_run()
    _, got = accuracy_of(figures, "normal")
    lines = out.split("\nnormal: 64 x 64\n")[1].split("\n\n")[0].splitlines()
    for preset in PRESETS:
        wanted = []
        for way in ("rows", "columns"):
            row = got.get((preset, way))
            wanted += [f"{row['bits']:.2f}", f"{row['sqnr']:.1f}", shown_share(row["overflow_share"]),
                       shown_share(row["underflow_share"])] if row else ["-"] * 4
        line = next(line for line in lines if line.startswith(preset + "  "))
        assert line[len(preset):].split() == wanted, (line, wanted)


def wrong_settings_and_files_are_refused():
    cases = {("--isa", "mmx"): "--isa takes scalar, sse2, avx2, avx512, avx512vbmi or neon, not 'mmx'",
             ("--blockz",): None, ("--blocks=1",): None, ("no-such.npy",): None}
    for arguments, why in cases.items():
        code, out, errors = bench("--blocks", "--quick", *arguments)
        assert (code, out) == (2, "") and errors.startswith("mpnum bench: ") and errors.count("\n") == 1, errors
        assert why is None or errors == f"mpnum bench: {why}\n", (arguments, errors)


def one_thread_measures_whatever_is_asked():
    figures, out = full_run("--blocks", "--quick", "--threads", "3")
    assert figures.get("blocks", "mpnum", metric="threads") == 1 and ", 1 thread." in out


def blocks_of_inf_and_nan_are_measured():
    """Where the largest magnitude is Inf or NaN there is no current scale, which was refused."""
    for data in ("special", "bits"):
        figures, _ = full_run("--blocks", "--quick", "--data", data)
        assert figures.get("blocks", "mpnum", "f32 to e4m3 current", "4 KiB", "time_per_value") > 0


quick = [
    every_preset_has_its_rows,
    functions_are_those_of_the_rows,
    peers_are_measured_or_named_absent,
    the_times_that_torchao_gives_are_reported,
    what_is_added_follows_from_times,
    errors_are_those_of_the_definitions,
    a_transposed_file_is_the_same_matrix,
    what_is_not_finite_counts_as_0,
    zeros_have_no_errors,
    the_distributions_and_the_sample_are_measured,
    the_accuracy_table_is_the_figures,
    wrong_settings_and_files_are_refused,
]
full = [one_thread_measures_whatever_is_asked, blocks_of_inf_and_nan_are_measured, torchao_is_measured_where_it_is]
*common, forced, no_default = bench_sections.common("blocks", "Blocks", quick_run, run_with_times)
full += [forced, no_default]
sys.exit(tap.run(*quick, *common, *(full if sys.argv[2:] == ["full"] else [])))
