#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `mpnum bench` takes and gives: its options, sections, JSON and CSV, and what it says where it cannot write.
test_bench_output.py PROGRAM"""

import math
import os
import re
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
import tensor_files
from bench_program import FORMATS, PROGRAM, Folder, bench, full_run, json_of, result_of, tensors, terminal_output
from tensor_files import floats, npy
from tree import ROOT


def wrong_options_are_refused():
    cases = [["--no-such-option"], ["-x"], ["--scale", "some"], ["--scale"], ["--size", "0"], ["--size", "-1"],
             ["--size", "4X"], ["--size", "2G"], ["--size", "99999999999999999999"], ["--size", "1KK"],
             ["--json", "out", "--csv", "out"], ["--json", ""], ["--json", "no/such/folder/x"], ["--json", "."],
             ["--json", "in.npy", "in.npy"], ["--why"], ["--details"]]
    for arguments in cases:
        with Folder(**{"in.npy": tensor_files.GOOD["plain.npy"]}) as folder:
            code, out, errors = bench("--quick", "--formats", *arguments, folder=folder)
            assert code == 2 and out == "", (arguments, code, out)
            assert errors.count("\n") == 1 and errors.startswith("mpnum bench: "), (arguments, errors)
            assert os.listdir(folder) == ["in.npy"], os.listdir(folder)


def help_names_every_option():
    code, out, errors = bench("--help")
    # What ./mpnum says without building the program.
    assert subprocess.run([ROOT / "mpnum", "bench", "--help"], capture_output=True, text=True).stdout == out
    assert code == 0 and errors == ""
    for option in ("why", "details", "version", "input", "formats", "speed", "scalar", "accuracy", "product", "arrays", "blocks", "grad", "math",
                   "headers", "gpu", "cpu", "all", "scale", "size", "isa", "threads", "quick", "json", "csv", "help"):
        assert f"--{option}" in out, option
    assert max(map(len, out.splitlines())) <= 80, max(out.splitlines(), key=len)
    assert out.startswith("Examples\n") and out.count("\n  mpnum bench ") == 3, out[:200]


def version_is_that_of_the_headers():
    code, out, errors = bench("--version")
    with open(os.path.join(ROOT, "include/mpnum/core/detail/config.h")) as file:
        numbers = dict(re.findall(r"# *define MPNUM_VERSION_(MAJOR|MINOR|PATCH) +(\d+)", file.read()))
    assert (code, out, errors) == (0, f"mpnum {numbers['MAJOR']}.{numbers['MINOR']}.{numbers['PATCH']}\n", "")


def an_output_that_fails_is_told():
    for arguments in (["--formats"], ["--quick", "--cpu"], ["--help"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 1, (arguments, done)
        assert done.stderr == "mpnum bench: standard output: No space left on device\n", (arguments, done)
        done = subprocess.run([PROGRAM, *arguments], stderr=subprocess.PIPE, text=True, preexec_fn=lambda: os.close(1))
        assert done.returncode == 1 and done.stderr.count("\n") == 1, (arguments, done)
    for kind in ("json", "csv", "svg"):
        code, _, errors = bench("--quick", "--cpu", f"--{kind}", "/dev/full")
        assert code == 1 and errors == "mpnum bench: /dev/full: cannot be written: No space left on device\n", errors


def refuse_long_files():
    """A full disk, as far as the child can tell."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


def a_result_that_cannot_be_written_leaves_nothing():
    with Folder(**{"old": b"old"}) as folder:
        for name in ("new", "old"):
            code, _, errors = bench("--formats", "--json", name, folder=folder, preexec_fn=refuse_long_files)
            assert code == 1 and errors.count("\n") == 1, (code, errors)
            assert os.listdir(folder) == ["old"], os.listdir(folder)
        assert (folder / "old").read_text() == "old"


def results_replace_whole_files():
    with Folder(**{"old.json": b"old"}) as folder:
        os.symlink("old.json", os.path.join(folder, "link.json"))
        code, _, _ = bench("--formats", "--json", "link.json", "--csv", "/dev/null", folder=folder)
        assert code == 0 and sorted(os.listdir(folder)) == ["link.json", "old.json"], os.listdir(folder)
        assert os.path.islink(os.path.join(folder, "link.json"))
        assert json_of(folder / "old.json")["schema"] == 2
        assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def details_have_every_section_of_every_format():
    figures, _ = full_run("--quick", "--details")
    sections = figures.all_of("section")
    of_cpu = [name for name in sections if not name.startswith("gpu")]
    assert of_cpu == ["formats", "accuracy", "speed", "scalar", "advice"] and "gpu" in sections, sections
    assert figures.all_of("name", "formats") == figures.all_of("name", "speed") == list(FORMATS)
    for name in FORMATS:
        assert figures.all_of("variant", "speed", "mpnum", name) == ["encode", "decode"], name
    for about in figures.select("speed", "mpnum", None, None, "time_per_value"):
        row = figures.metrics("speed", "mpnum", about["name"], about["variant"])
        assert set(row) == {"time_per_value", "rate", "copy_rate", "share_of_copy"}, row
        assert math.isclose(row["share_of_copy"], row["rate"] / row["copy_rate"]), row
    subjects = tensors(figures)
    assert [row["tensor"] for row in subjects[:3]] == ["normal", "gradients", "activations"]
    assert {row["type"] for row in subjects[3:]} == {"f32", "f16", "bf16"}, "the sample has every type"
    assert all(len(row["rows"]) == 2 * len(FORMATS) for row in subjects)
    # Exact in the format's own type, and in one that holds it: infinite in the CSV as in the JSON.
    sqnr = {row["sqnr"] for about in subjects for row in about["rows"] if about["type"] == row["format"]}
    assert sqnr == {math.inf}, sqnr


def every_figure_is_documented():
    with open(os.path.join(ROOT, "docs/bench.md")) as file:
        rows = [line.split("|")[1:] for line in file if line.startswith("|")]
    known = {(section, metric) for row in rows if len(row) > 4 for section in re.findall(r"`(\w+)`", row[0])
             for metric in re.findall(r"`(\w+)`", row[4])}
    known |= {(section.replace("arrays", "grad"), metric) for section, metric in known}
    figures, _ = full_run("--quick", "--cpu", "--arrays", "--grad", "--math", "--gpu")
    answer, _ = full_run("--quick")
    found = {(row["section"], row["metric"]) for row in figures.rows + answer.rows} - {("grad", "version")}
    assert found <= known, found - known


def words_of(out, title):
    """The lines of a table, split at spaces."""
    return [line.split() for line in out.split(f"\n{title}")[1].split("\n\n")[0].splitlines()]


def tables_are_the_figures():
    figures, out = full_run("--quick", "--formats", "--speed", "--scalar")
    for words in words_of(out, "Formats: ")[-len(FORMATS):]:
        row = figures.metrics("formats", "", words[0])
        parts = [row[key] for key in ("bits", "sign_bits", "exponent_bits", "mantissa_bits")]
        limits = [row[key] for key in ("max", "min_normal", "smallest", "epsilon")]
        truths = ["yes" if row[key] else "-" for key in ("has_inf", "has_nan", "has_negative_zero")]
        assert words[1:] == [*(f"{x:.0f}" for x in parts), *(f"{x:.7g}" for x in limits), *truths], words
    for words in words_of(out, "Speed: ")[-len(FORMATS):]:
        wanted = []
        for way in ("encode", "decode"):
            row = figures.metrics("speed", "mpnum", words[0], way)
            wanted += [f"{row['time_per_value']:.3f}", f"{row['rate']:.2f}", f"{row['copy_rate']:.1f}",
                       f"{100 * row['share_of_copy']:.1f}", "%"]
        assert words[1:] == wanted, (words, wanted)
    wanted = []
    for about in figures.select("scalar", None, None, "", "function"):
        row = figures.metrics("scalar", about["source"], about["name"])
        times = ["-" if row.get(key) is None else f"{row[key]:.2f}" for key in ("time_per_call", "ratio_to_mpnum")]
        wanted.append([*about["name"].split(), *about["source"].split(), about["value"], *times])
    lines = words_of(out, "Scalar: ")
    assert wanted and lines[len(lines) - len(wanted):] == wanted, (lines, wanted)


def limits_are_those_of_the_standards():
    figures, _ = result_of("--formats")
    rows = {name: figures.metrics("formats", "", name) for name in figures.all_of("name", "formats")}
    for name, row in rows.items():
        got = tuple(row[key] for key in ("sign_bits", "exponent_bits", "mantissa_bits", "bias", "max", "min_normal",
                                         "smallest"))
        assert got == FORMATS[name], (name, got)
        assert row["epsilon"] == 2.0 ** -row["mantissa_bits"]
    assert {name for name, row in rows.items() if row["has_inf"]} == {"tf32", "bf16", "f16", "e5m2", "e3m4"}
    assert {name for name, row in rows.items() if not row["has_nan"]} == {"e3m2", "e2m3", "e2m1"}


def long_inputs_have_a_progress_bar_on_a_terminal():
    count = 2 ** 21
    with Folder(**{"long.npy": npy("'<f4'", f"({count},)", floats(1.1) * count)}) as folder:
        command = [PROGRAM, "--accuracy", os.path.join(folder, "long.npy")]
        text = terminal_output(command)
        assert re.search(r"\r\[#+\.+\] +\d+ %  \S+", text), text[:200]
        assert text.endswith("\r\x1b[K"), text[-50:]
        done = subprocess.run(command, capture_output=True)
        assert done.stderr == b"", done.stderr


def scalar_calls_name_their_peers():
    figures, out = result_of("--scalar", "--quick")
    for about in figures.select("scalar", None, None, "", "function"):
        row = figures.metrics("scalar", about["source"], about["name"])
        assert ("time_per_call" in row) == ("ratio_to_mpnum" in row) == ("missing" not in row), row
        assert about["value"] in out, row
        assert "missing" not in row or f"\nAbsent: {about['source']}, {row['missing']}\n" in out, row
    own = figures.all_of("name", "scalar", "mpnum")
    assert own == ["f32 to f16", "f32 to bf16", "f32 to e4m3", "f32 to e5m2", "f16 to f32", "bf16 to f32",
                   "e4m3 to f32", "f32 to mx e4m3", "mx e4m3 to f32", "f32 to nvfp4", "nvfp4 to f32"], own
    blocks = own[7:]
    for name in blocks:
        functions = [figures.get("scalar", source, name, "", "function")
                     for source in ("mpnum", "mpnum in a loop", "mpnum in a loop, -O3 native")]
        call = "mpnum_dequantize_block" if name.endswith("f32") else "mpnum_quantize_block"
        assert functions == [call + "s", call, call], (name, functions)
        assert figures.get("scalar", "mpnum in a loop", name, "", "time_per_call") > 0, name
    for name in own[:7]:
        row = figures.metrics("scalar", "CUDA headers", name)
        base = figures.get("scalar", "mpnum", name, "", "time_per_call")
        assert "missing" in row or math.isclose(row["ratio_to_mpnum"], row["time_per_call"] / base), row


sys.exit(tap.run(
    limits_are_those_of_the_standards,
    wrong_options_are_refused,
    help_names_every_option,
    version_is_that_of_the_headers,
    an_output_that_fails_is_told,
    a_result_that_cannot_be_written_leaves_nothing,
    results_replace_whole_files,
    details_have_every_section_of_every_format,
    tables_are_the_figures,
    every_figure_is_documented,
    scalar_calls_name_their_peers,
    long_inputs_have_a_progress_bar_on_a_terminal))
