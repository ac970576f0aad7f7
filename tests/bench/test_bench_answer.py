#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The first screen of `mpnum bench`: which format it chooses for data whose losses are known, what it says of it, and
its pictures. test_bench_answer.py PROGRAM"""

import math
import os
import random
import re
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from bench_program import FORMATS, PROGRAM, Folder, bench, result_of, terminal_output
from tensor_files import entry, floats, npy, safetensors
from tree import ROOT

SVG = "{http://www.w3.org/2000/svg}"


def tensor_file(**tensors):
    """A file of f32 tensors."""
    table, data = {}, b""
    for name, values in tensors.items():
        table[name] = entry("F32", [len(values)], len(data), len(data) + 4 * len(values))
        data += floats(*values)
    return safetensors(table, data)


def mostly_ones(small, count):
    """2000 values, of which `count` of 1000 are small."""
    return [1.1] * (2000 - 2 * count) + [small] * 2 * count


def chosen(blob):
    figures, out = result_of("--quick", "m.safetensors", **{"m.safetensors": blob})
    found = {kind: figures.get("advice", kind, metric="format") for kind in figures.all_of("source", "advice")}
    for kind, name in found.items():
        assert re.search(rf"^{kind} +{name}[ :]", out, re.M), (kind, name, out)
    return found, figures, out


def kinds_have_rules_of_their_own():
    # At amax 1.1 e4m3 is taken times 2^8 and flushes up to 2^-18, e5m2 times 2^15 up to 2^-32; f16 up to 2^-25, bf16 2^-134.
    cases = [("weight", 2.0 ** -17, 600, "e4m3"), ("weight", 2.0 ** -18, 20, "e4m3"), ("weight", 2.0 ** -18, 500, "e4m3"),
             ("weight", 2.0 ** -18, 501, "e5m2"), ("weight", 2.0 ** -32, 501, "bf16"), ("weight", 2.0 ** -140, 501, "f32"),
             ("grad", 2.0 ** -18, 11, "e5m2"), ("grad", 2.0 ** -32, 10, "e5m2"), ("grad", 2.0 ** -32, 11, "bf16"),
             ("grad", 2.0 ** -140, 11, "f32"), ("hidden", 2.0 ** -18, 501, "e5m2"), ("something", 2.0 ** -18, 500, "e4m3")]
    kinds = {"weight": "weights", "grad": "gradients", "hidden": "activations", "something": "values"}
    for name, small, count, wanted in cases:
        found, figures, _ = chosen(tensor_file(**{name: mostly_ones(small, count)}))
        assert found == {kinds[name]: wanted}, (name, small, count, found)
        row = figures.metrics("advice", kinds[name], "e5m2")
        assert row["lost_share"] == (count / 1000 if small <= 2.0 ** -32 else 0), (name, small, row)
        assert row["least_scale_exponent"] == row["most_scale_exponent"] == 15, row


def one_tensor_may_break_a_rule():
    found, figures, out = chosen(tensor_file(
        **{"a.weight": [1.1] * 2000, "b.weight": mostly_ones(2.0 ** -18, 600), "c.weight": [4.4] * 2000}))
    assert found == {"weights": "e5m2"}, found
    e4m3 = figures.metrics("advice", "weights", "e4m3")
    assert (e4m3["worst"], e4m3["lost_share"], e4m3["underflow_share"]) == ("b.weight", 0.6, 0.6), e4m3
    assert (e4m3["least_scale_exponent"], e4m3["most_scale_exponent"]) == (6, 8), e4m3
    assert e4m3["why_not"] == "vanished" and e4m3["is_candidate"] == 1, e4m3
    assert "\nweights     e5m2 x 2^13..15: SQNR 20.8 dB, lost 0; e4m3 32.9: 60 % lost > 50 %\n" in out, out


def without_speed(screen):
    """The lines of a screen but for version, machine, speeds and why there is no GPU."""
    screen = re.sub(r"^mpnum [\d.]+ on .*", "mpnum", screen, flags=re.M)
    screen = re.sub(r"^No GPU: .*?(\. Tensor)", r"No GPU\1", screen, flags=re.M)
    return re.sub(r"^(\w+ +\d+) +\d+ +\d+ +[\d.]+ ", r"\1 ", screen, flags=re.M).splitlines()


def the_screen_of_the_documentation_is_what_is_printed():
    """The documented one is that of a machine without a GPU, as this program's."""
    code, out, _ = bench("--quick")
    for page in ("docs/bench.md", "README.md"):
        shown = re.search(r"^```\n(mpnum .*?)^```", (ROOT / page).read_text(), re.M | re.S)[1]
        assert code == 0 and without_speed(out) == without_speed(shown), out


def names_tell_kinds():
    ones = [1.0] * 1024
    found, figures, out = chosen(tensor_file(**{
        "fc.WEIGHT": ones, "fc.bias": ones, "q_proj": ones, "fc.weight.grad": ones, "layer.input": ones, "x": ones,
        "adam.exp_avg.weight": ones, "layer.output.weight": ones}))
    assert set(found) == {"weights", "gradients", "activations", "values"}, found
    counts = {kind: figures.get("advice", kind, metric="tensors") for kind in found}
    assert counts == {"weights": 4, "gradients": 1, "activations": 1, "values": 1}, counts
    assert "m.safetensors: tensors of weights 4, activations 1, gradients 1, values 1, left out 1\n" in out, out


def first_screen_fits():
    wide = tensor_file(**{name: mostly_ones(2.0 ** -18, 20) for name in ("weight", "grad", "hidden", "x", "optim")})
    for files in ({}, {"m.safetensors": wide, "n.safetensors": wide}):
        with Folder(**files) as folder:
            code, out, errors = bench("--quick", *files, folder=folder)
        lines = out.splitlines()
        assert code == 0 and errors == "" and len(lines) <= 24, (len(lines), out)
        assert max(map(len, lines)) <= 80, max(lines, key=len)
        assert not [line for line in lines if line != line.rstrip()], out
        rows = [line.split()[0] for line in lines if line.split()[:1] and line.split()[0] in FORMATS]
        assert rows == [name for name in FORMATS if name != "e8m0"], rows
        assert "\x1b" not in out


def large_files_are_measured_in_part():
    """The largest value is that of all, the errors those of a part."""
    count = 2 ** 24  # halves: 1.0625, which e4m3 has not, and one of 4 at the end
    figures, _ = result_of("--quick", "x.npy", **{
        "x.npy": npy("'<f2'", f"({count},)", b"\x40\x3c" * (count - 1) + b"\0\x44")})
    row = figures.metrics("advice", "values", "e4m3")
    assert row["least_scale_exponent"] == 6 and math.isclose(row["sqnr"], 20 * math.log10(17)), row


def zeros_are_exact():
    found, _, out = chosen(tensor_file(weight=[0.0] * 1024))
    assert found == {"weights": "e4m3"} and "e4m3 x 2^0: SQNR exact, lost 0" in out, (found, out)


def colour_is_for_terminals():
    for settings, wanted in (({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False),
                             ({"TERM": "dumb"}, False)):
        environment = {name: text for name, text in os.environ.items() if name not in ("NO_COLOR", "TERM")}
        text = terminal_output([PROGRAM, "--quick"], "stdout", env={**environment, **settings})
        assert ("\x1b[1m" in text) == wanted, (settings, text[:200])


def why_shows_every_candidate():
    blob = tensor_file(weight=mostly_ones(2.0 ** -18, 600))
    _, out = result_of("--quick", "--why", "m.safetensors", **{"m.safetensors": blob})
    rules = out.split("\nHow it was chosen")[1]
    assert re.search(r"^  e4m3     x 2\^8: SQNR .*, lost 60 %: 60 % lost > 50 % of weight$", rules, re.M), rules
    assert re.search(r"^  e5m2     x 2\^15: SQNR 20\.8 dB, lost 0: chosen$", rules, re.M), rules
    assert re.search(r"^  bf16     as it is: SQNR .*, lost 0: more bits$", rules, re.M) and "  e3m4 " not in rules, rules
    assert max(map(len, out.splitlines())) <= 80, max(out.splitlines(), key=len)


def why_asks_for_block_formats():
    source = random.Random(4)
    values = [source.gauss(0, 0.02) for _ in range(1024)]
    table = {"weight": entry("F32", [16, 64], 0, 4096), "bias": entry("F32", [64], 4096, 4352)}
    blob = safetensors(table, floats(*values, *values[:64]))
    figures, out = result_of("--quick", "m.safetensors", **{"m.safetensors": blob})
    assert figures.get("advice", "weights", metric="block_format") is None and "in blocks" not in out, out
    figures, out = result_of("--quick", "--why", "m.safetensors", **{"m.safetensors": blob})
    assert figures.get("advice", "weights", metric="block_format") == "mx_e2m3", out
    assert re.search(r"^in blocks   weights mx_e2m3$", out, re.M), out
    assert len(re.findall(r"^  (?:mx_e[45235]m[1-3]|mx_int8|nvfp4|deepseek) +[\d.]+ bits: SQNR ", out, re.M)) == 8, out
    row = figures.metrics("advice", "weights", "mx_e2m3")
    assert row["bits"] == 6.25 and row["gpu_applies_scales"] == 0, row
    assert 29 < row["sqnr"] < 32, row


def tiny_noise_is_exact_and_flushed_values_are_apart():
    figures, _ = result_of("--accuracy", "--quick", "x.npy", **{
        "x.npy": npy("'<f4'", "(3,)", floats(1.0, 2.0 ** -100, 1.5))})
    source = next(name for name in figures.all_of("source", "accuracy") if name.startswith("x.npy"))
    row = figures.metrics("accuracy", source, "e5m2", "times 2^k")
    assert row["sqnr"] == float("inf") and row["max_relative_error"] == 0 and row["underflow_share"] == 1 / 3, row


def drawn(*arguments, **files):
    with Folder(**files) as folder:
        assert bench(*arguments, "--svg", "s.svg", folder=folder)[0] == 0
        return xml.parse(os.path.join(folder, "s.svg")).getroot()


def names_stay_with_their_dots():
    for files in ({}, {"m.safetensors": tensor_file(weight=mostly_ones(0.3, 500))}):
        root = drawn("--quick", *files, **files)
        dots = [(float(dot.get("cx")), float(dot.get("cy")), dot.find(SVG + "title").text.split(":")[0])
                for dot in root.iter(SVG + "circle")]
        names = {at.text: (float(at.get("x")), float(at.get("y")) - 4) for at in root.iter(SVG + "text")
                 if at.get("class") == "name"}
        leaders = {tuple(float(at.get(key)) for key in ("x1", "y1", "x2", "y2")) for at in root.iter(SVG + "line")
                   if at.get("class") == "leader"}
        assert len(dots) >= 8 and {name for *_, name in dots} == set(names), (dots, names)
        for x, y, name in dots:
            name_x, name_y = names[name]
            assert name_x == x + 16 and abs(name_y - y) < 45, (name, y, name_y)
            assert abs(name_y - y) <= 1.01 or (x, y, x + 14, name_y) in leaders, (name, y, name_y, leaders)
        places = sorted(names.values())
        for (x, y), (next_x, next_y) in zip(places, places[1:]):
            assert x != next_x or next_y - y > 11, (x, y, next_y)
        title = "".join(root.itertext())
        assert "Error against bits: weights" in title, title


def ranges_are_those_of_the_formats():
    root = drawn("--formats")
    bars = [(bar.find(SVG + "title").text, float(bar.get("x")), float(bar.get("width"))) for bar in
            root.iter(SVG + "rect") if bar.get("class") == "range"]
    wanted = [(name, part) for name in FORMATS if name != "e8m0" for part in ("subnormal", "normal")]
    assert [tuple(title.split(":")[0].split()) for title, *_ in bars] == wanted, bars
    powers = {(name, "normal"): (math.log2(low), math.log2(top)) for name, (*_, top, low, _) in FORMATS.items()}
    powers |= {(name, "subnormal"): (math.log2(least), math.log2(low)) for name, (*_, low, least) in FORMATS.items()}
    (_, x0, width0), (low0, high0) = bars[1], powers[("tf32", "normal")]
    scale = width0 / (high0 - low0)
    for title, x, width in bars:
        low, high = powers[tuple(title.split(":")[0].split())]
        assert abs(x - x0 - scale * (low - low0)) < 0.05 and abs(width - scale * (high - low)) < 0.05, (title, x, width)


def the_picture_of_the_docs_is_current():
    with Folder() as folder:
        assert bench("--formats", "--svg", "s.svg", folder=folder)[0] == 0
        got = Path(folder, "s.svg").read_text()
    assert got == Path(ROOT, "docs/formats.svg").read_text(), "./mpnum bench --formats --svg docs/formats.svg"


sys.exit(tap.run(
    kinds_have_rules_of_their_own,
    one_tensor_may_break_a_rule,
    the_screen_of_the_documentation_is_what_is_printed,
    names_tell_kinds,
    first_screen_fits,
    large_files_are_measured_in_part,
    zeros_are_exact,
    colour_is_for_terminals,
    why_shows_every_candidate,
    why_asks_for_block_formats,
    tiny_noise_is_exact_and_flushed_values_are_apart,
    names_stay_with_their_dots,
    ranges_are_those_of_the_formats,
    the_picture_of_the_docs_is_current))
