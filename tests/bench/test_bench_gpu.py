#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The GPU's part of `mpnum bench`: its options, what it says where there is no GPU, and its reports of made-up
results. Where there is a GPU it runs on it once.
test_bench_gpu.py PROGRAM REPORT, PROGRAM the benchmark, REPORT that of tests/bench/test_bench_gpu_report.c"""

import csv
import io
import json
import math
import os
import re
import subprocess
import sys
import types
import unittest.mock
import xml.etree.ElementTree as xml
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from bench_program import PLACE, Figures, Folder, bench, check_csv, json_of, python_with, tensors
from tree import ROOT

REPORT = os.path.abspath(sys.argv[2])
GPU = 'Fake "GPU" <&> 1'
SVG = "{http://www.w3.org/2000/svg}"
SECONDS = 600
# Made up in test_bench_gpu_report.c: ms of the product, with converting, verdict of the latter over f32's 10 ms.
PRODUCTS = {"f32": (10, 10, "stay"), "tf32": (9, 9.5, "stay"), "f16": (4, 8, "optional"), "bf16": (4, 5, "use"),
            "e4m3": (2, 3, "excellent"), "e4m3 delayed": (2, 2.5, "excellent")}
ALONE = {"f32": "stay", "tf32": "optional", "f16": "use", "bf16": "use", "e4m3": "excellent",
         "e4m3 delayed": "excellent"}  # of the product
VARIANTS = {("f16", "f16 result"): 3.5, ("e4m3", "bf16 result"): 1.8, ("e4m3", "fast, bf16"): 1.5,
            ("e4m3", "batch of 8"): 0.5}  # ms
STEPS = {"4096 x 4096 x 4096": {"f32": 30, "bf16": 12, "e4m3 delayed": 8},
         "65536 x 65536 x 16384": {"f32": 900, "bf16": 300, "e4m3 delayed": 180}}
OTHERS = {"e5m2 e4m3": "UNSUPPORTED", "mxfp8": "UNSUPPORTED", "nvfp4": "FAILED"}


def report(kind, python="no-such-python"):
    return subprocess.run([REPORT, kind], env={**os.environ, "TORCH_PYTHON": python}, capture_output=True, text=True,
                          check=True, timeout=SECONDS).stdout


def report_with(kind, program):
    """What a python3 that runs this program is told to be PyTorch."""
    with Folder() as folder:
        return report(kind, python_with(folder, program))


def absence():
    """Why there is no GPU; skips where there is one."""
    with Folder() as folder:
        code, out, errors = bench("--gpu", "--formats", "--quick", "--json", "j", folder=folder)
        assert code == 0 and errors == "", (code, errors)
        figures = Figures(json_of(folder / "j"))
    why = figures.get("gpu", metric="missing")
    if why is None:
        raise tap.Skip("this machine has a GPU")
    assert f"\nGPU: {why}\n" in out, out
    return why


def wrong_sizes_are_refused():
    cases = [["--mnk", text] for text in ("", "1", "1,2", "1,2,3,4", "0,1,1", "1,,1", "-1,1,1", "1,1,65537", "1,1,1x",
                                          " 1,1,1", "1, 1,1", "1x1x1", "99999999999999999999,1,1")]
    cases += [["--gpu-size", text] for text in ("0", "63K", "17G", "-1", "1T", "18446744073709551617")]
    cases += [["--gpu-sizes", text] for text in ("", "1K", "5G", "4K,", ",4K", "4K,,4K", "4K 8K", ",".join(["4K"] * 9))]
    cases += [["--device", text] for text in ("", "-1", "1000", "0x1", "all", " 0")]
    for option in ("--mnk", "--gpu-size", "--gpu-sizes", "--device", "--svg"):
        cases.append([option])
    cases += [["--mnk", "1,1,1"] * 9]
    cases += [["--json", "out", "--svg", "out"], ["--csv", "out", "--svg", "out"], ["--svg", "no/such/x"]]
    for arguments in cases:
        with Folder() as folder:
            code, out, errors = bench("--formats", *arguments, folder=folder)
            assert code == 2 and out == "", (arguments, code, out)
            assert errors.count("\n") == 1 and errors.startswith("mpnum bench: "), (arguments, errors)
            assert os.listdir(folder) == [], os.listdir(folder)


def right_sizes_are_taken():
    for arguments in (["--mnk", "1,1,1"], ["--mnk", "65536,4096,17"], ["--mnk", "2,2,2"] * 8, ["--gpu-size", "64K"], ["--gpu-size", "16G"],
                      ["--gpu-sizes", "4K,4G"], ["--gpu-sizes", ",".join(["64K"] * 8)], ["--device", "999"]):
        code, _, errors = bench("--formats", *arguments)
        assert code == 0 and errors == "", (arguments, errors)


def help_names_every_option():
    code, out, _ = bench("--help")
    assert code == 0
    for option in ("--gpu ", "--cpu ", "--gpu-size BYTES", "--gpu-sizes LIST", "--device N", "--mnk M,N,K", "--svg FILE"):
        assert option in out, option


def without_a_gpu_only_gpu_alone_fails():
    why = absence()
    with Folder() as folder:
        code, out, errors = bench("--gpu", "--json", "j", "--svg", "s", folder=folder)
        assert (code, out, errors) == (1, "", f"mpnum bench: GPU: {why}; where there is one, it measures "
                                                "conversions, launchers and products\n"), (code, out, errors)
        assert os.listdir(folder) == [], os.listdir(folder)
    code, out, errors = bench("--quick")
    assert code == 0 and errors == "" and f"\nNo GPU: {why}. " in out and "\nSpeed: " not in out, (code, errors)
    code, out, errors = bench("--quick", "--details")
    assert code == 0 and errors == "" and f"\nGPU: {why}\n" in out and "\nSpeed: " in out, (code, errors)
    code, out, _ = bench("--cpu", "--quick")
    assert code == 0 and "GPU: " not in out and "\nSpeed: " in out, code
    code, out, _ = bench("--cpu", "--gpu", "--quick")
    assert code == 0 and f"\nGPU: {why}\n" in out and "\nSpeed: " in out, code


def absence_has_a_reason():
    why = absence()
    assert re.match(r"no NVIDIA driver is loaded$|there is no NVIDIA GPU$|no GPU can be used: .|the GPU cannot be used: ."
                    r"|built without CUDA \((nvcc was not found|the option cuda is disabled|nvcc does not work here"
                    r"|libcudart_static was not found|sanitizers)\)$|.*cannot run the code of this build", why), why


def charts_of_the_cpu_alone():
    with Folder() as folder:
        code, _, errors = bench("--speed", "--accuracy", "--quick", "--svg", "s.svg", "--json", "j", folder=folder)
        assert code == 0 and errors == "", errors
        root = xml.parse(folder / "s.svg").getroot()
        figures = Figures(json_of(folder / "j"))
        first = next(about for about in tensors(figures) if about["file"] != "synthetic")
        assert bench("--scalar", "--quick", "--svg", "f.svg", folder=folder)[0] == 0
        assert "no section with a chart" in "".join(xml.parse(folder / "f.svg").getroot().itertext())
    check_bars(root, [row["value"] for row in figures.select("speed", None, None, None, "rate")])
    check_points(root, [10 ** (-row["sqnr"] / 20) for row in first["rows"]
                        if row["scale"] == "amax" and row["sqnr"] < math.inf])


def check_bars(root, values):
    """The bars are these values, in this order, and as high as they are large."""
    bars = [rect for rect in root.iter(SVG + "rect") if rect.get("class") == "bar"]
    assert len(bars) == len(values), (len(bars), len(values))
    highest = max(float(bar.get("height")) for bar in bars)
    for bar, value in zip(bars, values):
        assert math.isclose(float(bar.get("data-value")), value, rel_tol=1e-6), (bar.attrib, value)
        assert math.isclose(float(bar.get("height")) / highest, value / max(values), abs_tol=1e-4), bar.attrib


def check_points(root, values):
    """Points at equal distances for equal quotients."""
    points = [point for point in root.iter(SVG + "circle") if point.get("class") == "point"]
    got = [float(point.get("data-value")) for point in points]
    assert len(got) == len(values) and all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(got, values)), (got, values)
    heights = [float(point.get("cy")) for point in points]
    scale = (heights[-1] - heights[0]) / math.log(values[-1] / values[0])
    for height, value in zip(heights, values):
        assert math.isclose(height - heights[0], scale * math.log(value / values[0]), abs_tol=1e-3), (height, value)


def text_tells_every_row():
    text = report("text")
    assert max(map(len, text.splitlines())) <= 100, max(text.splitlines(), key=len)
    assert '\nGPU: Fake "GPU" <&> 1, compute capability 9.0, 132 multiprocessors' in text, text
    assert "Driver for CUDA 13.0, runtime 12.8, code compiled for 9.0; 1 more not measured\n" in text, text
    for name, (ms, total, verdict) in PRODUCTS.items():
        line = re.search(rf"^{name} +{verdict} .*$", text, re.M)
        assert line, (name, verdict, text)
        fields = [name] + line[0][len(name):].split()
        flops = 2 * 4096 ** 3 / 1e9
        assert fields[2:6] == [f"{ms:.3f}", "0.4%", f"{flops / ms:.1f}", f"{10 / ms:.2f}"], fields
        assert fields[6:10] == [f"{total:.3f}", "0.4%", f"{flops / total:.1f}", f"{10 / total:.2f}"], fields
    for name, state in OTHERS.items():
        assert re.search(rf"^{name} +{state} +-", text, re.M), (name, text)
    assert "\nAbsent: e5m2 e4m3, needs compute capability 8.9\n" in text, text
    assert re.search(r"^e4m3 +software .* 7 wrong ", text, re.M), text
    assert re.search(r"^tf32 +hardware .* yes .* yes ", text, re.M), text
    assert re.search(r"^e2m1 packed +software ", text, re.M), text
    assert "\nGPU: arrays of 131072 KiB: memory for 262144 KiB is not free\n" in text, text


def text_tells_limits_launchers_and_sizes():
    text = report("text")
    for line in ("Memory, GB/s: cudaMemcpy 4000; best copy kernel 4200 (64 bytes a thread);",
                 "best that reads 4400 (128 bytes a thread, one wave).",
                 "Copies ran 412 ms before, until they were steady to 1 %.", "Clocks before: SM 1980 of 1980 MHz, memory 2619 of 2619 MHz, 640 of 700 W, 58 degrees;",
                 "held down by: power cap", "Clocks after: unknown, NVML does not start",
                 "Absent: softmax_rows f16 x 32768, a row is longer than the arrays",
                 f"PyTorch: {TORCH_ABSENT}",
                 "Verdict: e4m3 delayed, step 4.95 x f32 with converting, error 4.0e-02, conversion-bound",
                 "Absent: 4096 x 4096 x 4096 nvfp4, cuBLASLt: internal error"):
        assert f"\n{line}\n" in text, (line, text)
    rows = {"softmax_rows f32 x 4096": ["100.0", "1.0%", "2684", "67.1", "%", "yes"],
            "histogram f32": ["100.0", "1.0%", "2684", "67.1", "%", "3", "wrong"],
            "grad_step": ["100.0", "1.0%", "-", "-", "-"],
            "f32 to e4m3, 4 KiB": ["2.00", "3", "1.0%", "4.00", "1", "1.0%", "256"],
            "f32 to e4m3, 256 MiB": ["100.00", "3355", "1.0%", "200.00", "1678", "1.0%", "1"]}
    for name, cells in rows.items():
        line = next(line for line in text.splitlines() if line.startswith(f"{name} "))
        assert line[len(name):].split() == cells, (line, cells)


def text_tells_other_products_and_steps():
    text = report("text")
    assert text.endswith(", conversion-bound\n"), text
    line = next(line for line in text.split("with other results")[1].splitlines() if line.startswith("e4m3 "))
    flops = 2 * 4096 ** 3 / 1e9
    assert line.split()[1:] == ["-", "-", f"{flops / 1.8:.1f}", "3.6e-02", f"{flops / 1.5:.1f}", "3.7e-02",
                                f"{flops / 4:.1f}", "3.5e-02"], line
    for shape, formats in STEPS.items():
        for name, ms in formats.items():
            line = next(line for line in text.splitlines() if line.startswith(f"{shape} {name} "))
            assert line.split()[-7:-1] == [f"{ms:.3f}", f"{formats['f32'] / ms:.2f}", *[f"{ms / 4:.3f}"] * 4], line
    assert re.search("^4096 x 4096 x 4096 nvfp4 +FAILED ", text, re.M), text


TORCH_ABSENT = "cannot be run; it needs no-such-python (TORCH_PYTHON names another python3)"
TIMES = {"version": "9.9.1+cu", "rows": {"softmax_rows f32 x 4096": {"function": "soft\nmax", "ms": 0.25, "noise": 0.1}}}


def times_of_pytorch_are_reported_or_why_not():
    text = report_with("text", f"json.dump({TIMES}, sys.stdout)")
    assert re.search(r"^softmax_rows f32 x 4096 .* 2\.50$", text, re.M), text
    assert "\nx PyTorch: time of PyTorch 9.9.1 over ours\n" in text and "\nPyTorch: " not in text, text
    figures = Figures(json.loads(report_with("json", f"json.dump({TIMES}, sys.stdout)")))
    row = figures.metrics("gpu_kernel", GPU, "softmax_rows f32 x 4096")
    assert (row["torch_time"], row["torch_noise"], row["speedup_over_torch"]) == (0.25, 0.1, 2.5), row
    assert row["torch_calls"] == "soft?max", row
    asked = report_with("text", "json.dump({'missing': ' '.join(sys.argv[2:])}, sys.stdout)")
    assert f"\nPyTorch: 1 0 21 {256 << 20} 100000000 (TORCH_PYTHON names another python3)\n" in asked, asked
    wrong = {**TIMES, "rows": {"histogram f32": {"function": "x", "ms": 0, "noise": 0.1}}}
    for program, why in {f"json.dump({wrong}, sys.stdout)": "no times of histogram f32", "sys.exit(3)": "failed",
                         "json.dump([], sys.stdout)": "no times"}.items():
        text = report_with("text", program)
        assert f"\nPyTorch: {why}" in text and "x PyTorch" not in text, (program, text)


def quantisers_of_transformer_engine_are_found_where_it_is():
    """By stand-ins of its modules: of an older one, without blocks of 128 and NVFP4."""
    made = []

    class Quantizer:
        def __init__(self, *arguments, **options):
            self.is_both = options["columnwise"]

        def make_empty(self, shape, **_):
            return list(shape)

        def update_quantized(self, x, memory):
            made.append((type(self).__name__, x.dtype, self.is_both, memory))

    class Array(types.SimpleNamespace):
        def new_full(self, *_):
            return self

        new_zeros = new_full

    names = {"float8_tensor": ["Float8Quantizer", "Float8CurrentScalingQuantizer"], "mxfp8_tensor": ["MXFP8Quantizer"]}
    modules = {f"transformer_engine.pytorch.tensor.{module}":
               types.SimpleNamespace(**{name: type(name, (Quantizer,), {}) for name in kinds}) for module, kinds in names.items()}
    package = types.ModuleType("transformer_engine")
    package.__path__ = []
    modules |= {"transformer_engine": package, "transformer_engine.pytorch": package,
                "transformer_engine.pytorch.tensor": package,
                "transformer_engine_torch": types.SimpleNamespace(DType=types.SimpleNamespace(kFloat8E4M3="e4m3"))}
    sys.path.append(str(ROOT / "bench" / "peers"))
    import torch_gpu_times
    x, half = Array(dtype="f32", shape=(2, 3), device="gpu"), Array(dtype="bf16", shape=(2, 3), device="gpu")
    with unittest.mock.patch.dict(sys.modules, {"transformer_engine": None}):
        assert torch_gpu_times.quantisers_of(x, half) == {}
    with unittest.mock.patch.dict(sys.modules, modules):
        passes = torch_gpu_times.quantisers_of(x, half)
    for _, function in passes.values():
        function()
    rows = "".join(path.read_text() for path in (ROOT / "bench" / "gpu").glob("kernels*.cu"))
    assert [name for name in passes if f'{{"{name}", ' not in rows] == [], passes
    assert passes["quantize_mx bf16 to e4m3, both"][0] == "TransformerEngine MXFP8Quantizer"
    scaled, current, mx = "Float8Quantizer", "Float8CurrentScalingQuantizer", "MXFP8Quantizer"
    assert made == [(kind, dtype, is_both, [2, 3]) for kind, dtype, is_both in (
        (scaled, "f32", False), (scaled, "bf16", False), (current, "bf16", False), (scaled, "f32", True),
        (scaled, "bf16", True), (mx, "bf16", False), (mx, "bf16", True))], made


def figures_are_those_of_the_results():
    figures = Figures(json.loads(report("json")))
    check_csv(list(csv.DictReader(io.StringIO(report("csv")))), figures)
    assert figures.all_of("source") == [GPU]
    assert all(row["source"] == GPU for row in figures.rows)
    about = figures.metrics("gpu", GPU)
    assert "missing" not in about and about["failed"] == 0
    assert about["compute_capability"] == about["code"] == "9.0" and about["runtime"] == "12.8"
    conversions = figures.all_of("name", "gpu_conversion")
    assert len(conversions) == 15 and len(figures.all_of("name", "gpu_reduction")) == 9
    assert conversions[-1] == "e2m1 packed", conversions
    for at, name in enumerate(conversions):
        assert figures.get("gpu_conversion", GPU, name, "", "path") == ("hardware" if at < 3 else "software"), name
        for way, ms in (("encode", 0.1 + 0.01 * at), ("decode", 0.09 + 0.01 * at)):
            row = figures.metrics("gpu_conversion", GPU, name, way)
            assert math.isclose(row["time"], ms) and math.isclose(row["rate"], 335.54432 / ms), (name, row)
            assert row["wrong"] == (7 if name == "e4m3" and way == "encode" else 0), (name, row)
            assert row["exact"] == (f"{row['wrong']:.0f} wrong" if row["wrong"] else "yes") and row["checked"] > 0, row
            assert math.isclose(row["share_of_copy"], row["rate"] / 4000), row
    for name in figures.all_of("name", "gpu_reduction"):
        row = figures.metrics("gpu_reduction", GPU, name)
        assert math.isclose(row["rate"], 268.435456 / 0.07) and row["exact"] == "yes", (name, row)
        assert row["read_rate"] == 4000 and math.isclose(row["share_of_read"], row["rate"] / 4000), row
    assert figures.metrics("gpu_limit", GPU, "copy") == {"rate": 4200, "shape": "64 bytes a thread"}
    assert figures.metrics("gpu_limit", GPU, "", "") == {"warm_up": 412, "steady": 1}
    assert figures.metrics("gpu_clocks", GPU, "after") == {"missing": "NVML does not start"}
    assert figures.get("gpu_clocks", GPU, "before", "", "held_down_by") == "power cap"
    assert figures.all_of("name", "gpu_kernel")[-2:] == ["grad_step", "softmax_rows f16 x 32768"]
    step = figures.metrics("gpu_kernel", GPU, "grad_step")
    assert "rate" not in step and "bytes" not in step and step["time"] == 0.1, step
    assert figures.get("gpu_kernel", GPU, "", "", "torch_missing") == TORCH_ABSENT
    assert figures.get("gpu_sweep", GPU, "f32 to e4m3, 4 KiB", "cold", "time") == 0.004
    best = figures.metrics("gpu_product", GPU, "")
    assert (best["best"], best["best_of_steps"], best["best_error"]) == ("e4m3 delayed", 1, 0.04), best
    assert math.isclose(best["best_speedup"], 930 / 188) and best["limited_by"] == "conversion-bound", best
    assert figures.all_of("name", "gpu_product") == [*PRODUCTS, *OTHERS]
    assert figures.all_of("name", "gpu_shape") == [name for name in (*PRODUCTS, *OTHERS) if name != "e4m3 delayed"]
    for (name, variant), ms in VARIANTS.items():
        row = figures.metrics("gpu_variant", GPU, name, variant)
        flops = 2 * 4096 ** 3 / (8 if variant == "batch of 8" else 1)
        assert row["time"] == ms and math.isclose(row["rate"], flops / ms / 1e9) and row["error"] > 0, row
    assert figures.metrics("gpu_variant", GPU, "", "batch of 8") == {"m": 512, "n": 512, "k": 4096, "batch": 8}
    for shape, formats in STEPS.items():
        for name, ms in formats.items():
            row = figures.metrics("gpu_step", GPU, f"{shape} {name}")
            assert (row["format"], row["time"], row["state"]) == (name, ms, "MEASURED"), row
            assert math.isclose(row["speedup"], formats["f32"] / ms) and row["converting_time"] == ms / 4, row
    for name, (ms, total, verdict) in PRODUCTS.items():
        about, plain, whole = (figures.metrics("gpu_product", GPU, name, variant)
                               for variant in ("", "product", "with converting"))
        assert about["state"] == "MEASURED" and "missing" not in about, about
        assert (plain["time"], whole["time"], about["verdict"]) == (ms, total, verdict), (name, about)
        assert math.isclose(plain["speedup"], 10 / ms) and math.isclose(whole["speedup"], 10 / total), (plain, whole)
        assert math.isclose(plain["rate"], 2 * 4096 ** 3 / ms / 1e9), plain
        assert math.isclose(whole["rate"], 2 * 4096 ** 3 / total / 1e9), whole
        assert plain["verdict"] == ALONE[name], (name, plain)
        assert about["error"] > 0 and about["bits"] in (8, 16, 19, 32), about
        if name == "e4m3 delayed":
            continue
        odd = figures.metrics("gpu_shape", GPU, name, "odd")
        assert math.isclose(odd["share_of_first"], (4097 / 4096) ** 3 / 3), odd
        assert odd["state"] == "MEASURED" and odd["time"] == 3 * ms, odd
    assert [figures.get("gpu_shape", GPU, "", variant, "m") for variant in figures.all_of(
        "variant", "gpu_shape")] == [4096, 4104, 4097]
    for name, state in OTHERS.items():
        about = figures.metrics("gpu_product", GPU, name)
        assert about == {"bits": 8, "state": state, "missing": about["missing"]} and about["missing"], about
        assert figures.all_of("variant", "gpu_product", GPU, name) == [], name
        assert {row["metric"] for row in figures.select("gpu_shape", GPU, name)} == {"state"}, name
    notes = [row["value"] for row in figures.select("gpu", GPU, None, None, "note")]
    assert notes == ["arrays of 131072 KiB: memory for 262144 KiB is not free"]


def charts_show_what_was_measured():
    text = report("svg")
    root = xml.fromstring(text.encode())
    figures = Figures(json.loads(report("json")))
    charts = [xml.Element("g"), xml.Element("g")]
    bars = [rect for rect in root.iter(SVG + "rect") if rect.get("class") == "bar"]
    charts[0].extend(bars[:30])
    charts[1].extend(bars[30:])
    check_bars(charts[0], [row["value"] for row in figures.select("gpu_conversion", GPU, None, None, "rate")])
    check_bars(charts[1], [row["value"] for row in figures.select("gpu_product", GPU, None, None, "rate")])
    check_points(root, [row["value"] for row in figures.select("gpu_product", GPU, None, None, "error")])
    assert "Fake &quot;GPU&quot; &lt;&amp;&gt; 1" in text and GPU in "".join(root.itertext())


def a_gpu_agrees_with_the_cpu():
    with Folder() as folder:
        code, out, errors = bench("--gpu", "--quick", "--json", "j", folder=folder)
        if code == 1 and "GPU: " in errors:
            raise tap.Skip(errors.split("GPU: ", 1)[1].strip())
        assert code == 0 and errors == "", (code, errors, out)
        figures = Figures(json_of(folder / "j"))
    checked = figures.select("gpu_conversion", None, None, None, "wrong")
    checked += figures.select("gpu_reduction", None, None, None, "wrong")
    checked += figures.select("gpu_kernel", None, None, None, "wrong")
    assert checked and all(figures.get(*(row[key] for key in PLACE[:4]), "exact") == "yes" for row in checked), out
    assert "FAILED" not in [row["value"] for row in figures.select("gpu_product", None, None, None, "state")], out


sys.exit(tap.run(
    wrong_sizes_are_refused,
    right_sizes_are_taken,
    help_names_every_option,
    absence_has_a_reason,
    without_a_gpu_only_gpu_alone_fails,
    charts_of_the_cpu_alone,
    text_tells_every_row,
    text_tells_limits_launchers_and_sizes,
    text_tells_other_products_and_steps,
    times_of_pytorch_are_reported_or_why_not,
    quantisers_of_transformer_engine_are_found_where_it_is,
    figures_are_those_of_the_results,
    charts_show_what_was_measured,
    a_gpu_agrees_with_the_cpu))
