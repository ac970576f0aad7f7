#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `mpnum bench` takes and gives: its options, sections, JSON and CSV, and what it says where it cannot write.
test_bench_output.py PROGRAM"""

import csv
import json
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
from bench_program import FORMATS, PROGRAM, Folder, bench, result_of, terminal_output
from tensor_files import floats, npy

SECTIONS = ["formats", "speed", "scalar", "accuracy"]


def wrong_options_are_refused():
    cases = [["--no-such-option"], ["-x"], ["--scale", "some"], ["--scale"], ["--size", "0"], ["--size", "-1"],
             ["--size", "4X"], ["--size", "2G"], ["--size", "99999999999999999999"], ["--size", "1KK"],
             ["--json", "out", "--csv", "out"], ["--json", ""], ["--json", "no/such/folder/x"], ["--json", "."],
             ["--json", "in.npy", "in.npy"]]
    for arguments in cases:
        with Folder(**{"in.npy": tensor_files.GOOD["plain.npy"]}) as folder:
            code, out, errors = bench("--quick", "--formats", *arguments, folder=folder)
            assert code == 2 and out == "", (arguments, code, out)
            assert errors.count("\n") == 1 and errors.startswith("mpnum bench: "), (arguments, errors)
            assert os.listdir(folder) == ["in.npy"], os.listdir(folder)


def help_names_every_option():
    code, out, errors = bench("--help")
    assert code == 0 and errors == ""
    for option in ("input", "formats", "speed", "scalar", "accuracy", "arrays", "grad", "math", "headers", "gpu", "cpu",
                   "all", "scale", "size", "isa", "threads", "quick", "json", "csv", "help"):
        assert f"--{option}" in out, option
    assert max(map(len, out.splitlines())) <= 90, max(out.splitlines(), key=len)


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
        with open(os.path.join(folder, "old")) as file:
            assert file.read() == "old"


def results_replace_whole_files():
    with Folder(**{"old.json": b"old"}) as folder:
        os.symlink("old.json", os.path.join(folder, "link.json"))
        code, _, _ = bench("--formats", "--json", "link.json", "--csv", "/dev/null", folder=folder)
        assert code == 0 and sorted(os.listdir(folder)) == ["link.json", "old.json"], os.listdir(folder)
        assert os.path.islink(os.path.join(folder, "link.json"))
        with open(os.path.join(folder, "old.json")) as file:
            assert json.load(file)["schema"] == 1
        assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def default_run_has_every_section_of_every_format():
    with Folder() as folder:
        code, out, errors = bench("--quick", "--json", "j", "--csv", "c", folder=folder)
        assert code == 0 and errors == "", errors
        with open(os.path.join(folder, "j")) as file:
            result = json.load(file)
        with open(os.path.join(folder, "c"), newline="") as file:
            rows = list(csv.DictReader(file))
    assert [key for key in result if key in SECTIONS] == SECTIONS, list(result)
    assert [row["format"] for row in result["formats"]] == list(FORMATS)
    assert len(result["speed"]["rows"]) == 2 * len(FORMATS)
    subjects = result["accuracy"]
    assert [row["name"] for row in subjects[:3]] == ["normal", "gradients", "activations"]
    assert {row["type"] for row in subjects[3:]} == {"f32", "f16", "bf16"}, "the sample has every type"
    assert all(len(row["rows"]) == 2 * len(FORMATS) for row in subjects)
    assert max(map(len, out.splitlines())) <= 100, max(out.splitlines(), key=len)
    assert {row["section"] for row in rows if not row["section"].startswith("gpu_")} == set(SECTIONS)
    check_csv_is_the_json(rows, result)


def check_csv_is_the_json(rows, result):
    table = {(r["section"], r["source"], r["name"], r["variant"], r["metric"]): r["value"] for r in rows}
    assert len(table) == len(rows), "a place stands twice"
    for row in result["speed"]["rows"]:
        place = ("speed", "", row["format"], row["operation"])
        assert float(table[(*place, "time_per_value")]) == row["ns_per_value"], place
        assert float(table[(*place, "share_of_copy")]) == row["share_of_copy"], place
    for row in result["formats"]:
        assert float(table["formats", "", row["format"], "", "max"]) == row["max"], row
    for about in result["accuracy"]:
        for row in about["rows"]:
            place = ("accuracy", about["source"], about["name"], f"{row['format']} {row['scale']}")
            for metric, key in (("sqnr", "sqnr_db"), ("max_relative_error",) * 2, ("underflow_share",) * 2):
                number = float(table[(*place, metric)])
                assert number == (math.inf if row[key] is None else row[key]), (place, metric, number)


def limits_are_those_of_the_standards():
    rows = result_of("--formats")[0]["formats"]
    for row in rows:
        got = tuple(row[key] for key in ("sign_bits", "exponent_bits", "mantissa_bits", "bias", "max", "min_normal",
                                         "smallest"))
        assert got == FORMATS[row["format"]], (row["format"], got)
        assert row["epsilon"] == 2.0 ** -row["mantissa_bits"]
    assert {row["format"] for row in rows if row["has_inf"]} == {"tf32", "bf16", "f16", "e5m2", "e3m4"}
    assert {row["format"] for row in rows if not row["has_nan"]} == {"e3m2", "e2m3", "e2m1"}


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
    result, out = result_of("--scalar", "--quick")
    rows = result["scalar"]["rows"]
    for row in rows:
        assert (row["ns_per_call"] is None) == (row["missing"] is not None), row
        assert row["library"] in out and (row["missing"] or row["function"]) in out, row
    own = [row["operation"] for row in rows if row["library"] == "mpnum"]
    assert own == ["f32 to f16", "f32 to bf16", "f32 to e4m3", "f32 to e5m2", "f16 to f32", "bf16 to f32",
                   "e4m3 to f32"], own


sys.exit(tap.run(
    limits_are_those_of_the_standards,
    wrong_options_are_refused,
    help_names_every_option,
    an_output_that_fails_is_told,
    a_result_that_cannot_be_written_leaves_nothing,
    results_replace_whole_files,
    default_run_has_every_section_of_every_format,
    scalar_calls_name_their_peers,
    long_inputs_have_a_progress_bar_on_a_terminal))
