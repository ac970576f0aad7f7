#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`mpnum bench`: its numbers against exact arithmetic, its refusal of bad files and options.
test_bench.py PROGRAM"""

import csv
import fractions
import json
import math
import os
import re
import resource
import select
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile

import tap
import tensor_files
from tensor_files import entry, floats, npy, safetensors
from tree import open_terminal

PROGRAM = os.path.abspath(sys.argv[1])
SECONDS = 240

# name: (sign bits, exponent bits, mantissa bits, bias, max, min normal, smallest), from the OCP,
# IEEE and PTX documents; e8m0 has no zero and so no smaller value than its minimum.
FORMATS = {
    "tf32": (1, 8, 10, 127, (2 - 2 ** -10) * 2.0 ** 127, 2.0 ** -126, 2.0 ** -136),
    "bf16": (1, 8, 7, 127, (2 - 2 ** -7) * 2.0 ** 127, 2.0 ** -126, 2.0 ** -133),
    "f16": (1, 5, 10, 15, 65504.0, 2.0 ** -14, 2.0 ** -24),
    "e5m2": (1, 5, 2, 15, 57344.0, 2.0 ** -14, 2.0 ** -16),
    "e4m3": (1, 4, 3, 7, 448.0, 2.0 ** -6, 2.0 ** -9),
    "e5m2fnuz": (1, 5, 2, 16, 57344.0, 2.0 ** -15, 2.0 ** -17),
    "e4m3fnuz": (1, 4, 3, 8, 240.0, 2.0 ** -7, 2.0 ** -10),
    "e3m4": (1, 3, 4, 3, 15.5, 2.0 ** -2, 2.0 ** -6),
    "e8m0": (0, 8, 0, 127, 2.0 ** 127, 2.0 ** -127, 2.0 ** -127),
    "e3m2": (1, 3, 2, 3, 28.0, 0.25, 0.0625),
    "e2m3": (1, 2, 3, 1, 7.5, 1.0, 0.125),
    "e2m1": (1, 2, 1, 1, 6.0, 1.0, 0.5),
}
# What the line must say where another check would refuse the file too.
REASONS = {
    "cut_values.npy": "where its shape asks for more",
    "bytes_overflow.npy": "where its shape asks for more",
    "shape_overflow.npy": "more than 2^64 elements",
    "huge_length.npy": "npy header of 4294967295 bytes, the limit is 65536",
    "cut_header.npy": "ends inside its npy header",
    "f64.npy": "npy type '<f8' is none of f32 (f4), f16 (f2), bf16 (V2)",
    "length_2_to_63.safetensors": "safetensors header of 9223372036854775808 bytes, the limit is 8388608",
    "length_past_end.safetensors": "ends inside its safetensors header",
    "deep_lists.safetensors": "not valid JSON",
    "twice.safetensors": "not valid JSON: duplicate object key",
    "shape_negative.safetensors": "shape is not a list of sizes",
    "shape_two_negatives.safetensors": "shape is not a list of sizes",
    "shape_overflow.safetensors": "more than 2^64 elements",
    "shape_short.safetensors": "its shape does not fit its 24 bytes",
    "offsets_negative.safetensors": "data_offsets is not [begin, end]",
    "offsets_swapped.safetensors": "data_offsets [24, 0] lie outside the 24 bytes of values",
    "offsets_outside.safetensors": "data_offsets [0, 28] lie outside the 24 bytes of values",
    "overlap.safetensors": "tensors overlap at byte 8 of the values",
    "hole_between.safetensors": "tensors leave a hole at byte 12 of the values",
    "only_others.safetensors": "holds no f32, f16 or bf16 values",
}
SECTIONS = ["formats", "speed", "scalar", "accuracy"]


def bench(*arguments, folder=None, **settings):
    done = subprocess.run([PROGRAM, *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=SECONDS, **settings)
    return done.returncode, done.stdout.decode(), done.stderr.decode(errors="surrogateescape")


class Folder(tempfile.TemporaryDirectory):
    """A temporary folder with files in it; `at(name)` is a path."""

    def __init__(self, **files):
        super().__init__()
        for name, data in files.items():
            self.write(name, data)

    def at(self, name):
        return os.path.join(self.name, name)

    def write(self, name, data):
        with open(self.at(name), "wb") as file:
            file.write(data)
        return self.at(name)


def measured(data, name, *arguments):
    """The JSON of an accuracy run over one file."""
    with Folder() as folder:
        at = os.path.join(folder, name)
        with open(at, "wb") as file:
            file.write(data)
        code, _, errors = bench("--accuracy", "--quick", "--json", "out.json", name, *arguments, folder=folder)
        assert code == 0 and errors == "", (name, code, errors)
        with open(os.path.join(folder, "out.json")) as file:
            return json.load(file)


def tensors_of(result):
    return {row["name"]: row for row in result["accuracy"] if row["source"] != "synthetic"}


# What a value becomes, in exact arithmetic: nearest even on the format's own grid.

def floor_log2(x):
    """Of a positive Fraction."""
    power = x.numerator.bit_length() - x.denominator.bit_length()
    return power if fractions.Fraction(2) ** power <= x else power - 1


def rounded_power_of_two(x):
    """e8m0: ties to the even code, exponent plus 127."""
    x = max(x, fractions.Fraction(2) ** -127)
    power = floor_log2(x)
    middle = fractions.Fraction(3, 2) * fractions.Fraction(2) ** power
    up = x > middle or (x == middle and (power + 127) % 2 == 1)
    return fractions.Fraction(2) ** (power + up)


def quantise(name, x):
    """(value, overflowed) of a Fraction, saturating; overflow as if the exponent had no bound."""
    _, _, mantissa, bias, top, _, _ = FORMATS[name]
    magnitude = abs(x)
    if name == "e8m0":
        value, sign = rounded_power_of_two(magnitude), 1
    else:
        sign = -1 if x < 0 else 1
        power = max(floor_log2(magnitude), 1 - bias)
        step = fractions.Fraction(2) ** (power - mantissa)
        value = round(magnitude / step) * step  # a Fraction rounds ties to even
    return sign * min(value, fractions.Fraction(top)), value > top


def expected_row(name, values, scaled):
    """The figures of the bench for finite nonzero Fractions."""
    top = fractions.Fraction(FORMATS[name][4])
    power = floor_log2(top / max(abs(x) for x in values)) if scaled else 0
    factor = fractions.Fraction(2) ** power
    relative, noise, signal, over, under = [], 0, 0, 0, 0
    for x in values:
        result, overflowed = quantise(name, x * factor)
        x = abs(x) if name == "e8m0" else x
        error = result / factor - x
        relative.append(abs(error / x))
        noise, signal = noise + error ** 2, signal + x ** 2
        over, under = over + overflowed, under + (result == 0)
    return {
        "scale_exponent": power,
        "max_relative_error": float(max(relative)),
        "rms_relative_error": math.sqrt(sum(r * r for r in relative) / len(values)),
        "sqnr_db": 10 * math.log10(signal / noise) if noise else None,
        "overflow_share": over / len(values),
        "underflow_share": under / len(values),
    }


def same(got, wanted):
    if got is None or wanted is None:
        return got is wanted
    return math.isclose(got, wanted, rel_tol=1e-9, abs_tol=1e-300)


def check_rows(about, values):
    """Every figure of a tensor against exact arithmetic on the finite nonzero values."""
    rows = {(row["format"], row["scale"]): row for row in about["rows"]}
    assert len(rows) == 2 * len(FORMATS), len(rows)
    for (name, scale), row in rows.items():
        for metric, wanted in expected_row(name, values, scale == "amax").items():
            assert same(row[metric], wanted), (about["name"], name, scale, metric, row[metric], wanted)


def pseudo_random_bits(count, width):
    """A linear congruential generator with Knuth's constants; its top bits."""
    state, result = 20240229, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        result.append(state >> (64 - width))
    return result


def split(values):
    """(zeros, non-finite, the others as Fractions)."""
    finite = [x for x in values if math.isfinite(x)]
    others = [fractions.Fraction(x) for x in finite if x != 0]
    return len(finite) - len(others), len(values) - len(finite), others


def check_tensor(about, values):
    zeros, nonfinite, others = split(values)
    got = (about["values"], about["zeros"], about["non_finite"], about["amax"])
    assert got == (len(values), zeros, nonfinite, float(max(map(abs, others)))), (about["name"], got)
    check_rows(about, others)


def f32_figures_are_exact():
    words = struct.pack("<300I", *pseudo_random_bits(300, 32))
    near_one = floats(*((bits - 128) / 7 for bits in pseudo_random_bits(300, 8)))
    ties = floats(464, 464.00003, 480, 61440, 61439, 65520, 65519, 7, -7, 30, 7.75, 15.75, 1.5, 3, 6, 2 ** -10,
                  -3 * 2.0 ** -11, 0.25, 0.75, 1.25, 2.5, 1.5 * 2.0 ** 127, 2.0 ** -127, 2.0 ** -149, 3e38)
    same_fraction_as_max = floats(3, -1.7, 0.1), floats(448, 0.3), floats(-1.9375, 1e-3), floats(2.0 ** -127)
    for data in (words, near_one, ties, *same_fraction_as_max):
        values = struct.unpack(f"<{len(data) // 4}f", data)
        result = measured(npy("'<f4'", f"({len(values)},)", data), "values.npy")
        check_tensor(tensors_of(result)["values.npy"], values)


def f16_and_bf16_figures_are_exact():
    codes = pseudo_random_bits(300, 16)
    data = struct.pack("<300H", *codes)
    blob = safetensors({"h": entry("F16", [300], 0, 600), "b": entry("BF16", [30, 10], 600, 1200)}, data + data)
    found = tensors_of(measured(blob, "codes.safetensors"))
    check_tensor(found["h"], struct.unpack("<300e", data))
    check_tensor(found["b"], [struct.unpack("<f", struct.pack("<I", code << 16))[0] for code in codes])
    assert (found["h"]["type"], found["b"]["type"]) == ("f16", "bf16"), found["h"]["type"]


def f16_agrees_with_the_struct_module():
    """A second witness: CPython's own half precision."""
    values = [x / 1024 for x in pseudo_random_bits(300, 22) if x]
    data = floats(*values)
    values = struct.unpack(f"<{len(values)}f", data)
    halves = struct.unpack(f"<{len(values)}e", struct.pack(f"<{len(values)}e", *values))
    worst = max(abs(h - x) / x for h, x in zip(halves, values))
    row = tensors_of(measured(npy("'<f4'", f"({len(values)},)", data), "v.npy"))["v.npy"]["rows"]
    row = next(r for r in row if r["format"] == "f16" and r["scale"] == "none")
    assert same(row["max_relative_error"], worst), (row["max_relative_error"], worst)


def good_files_are_read():
    counts = {"types.safetensors": 2, "plain.safetensors": 2, "out_of_order.safetensors": 2,
              "metadata.safetensors": 2, "padded.safetensors": 2}
    for name, data in tensor_files.GOOD.items():
        found = tensors_of(measured(data, name))
        assert len(found) == counts.get(name, 1), (name, list(found))
    specials = tensors_of(measured(tensor_files.GOOD["specials.npy"], "s.npy"))["s.npy"]
    assert (specials["non_finite"], specials["zeros"], specials["amax"]) == (4, 1, 2.0 ** -149), specials
    zeros = tensors_of(measured(tensor_files.GOOD["zeros.npy"], "z.npy"))["z.npy"]
    assert (zeros["rows"], zeros["zeros"]) == ([], 2), zeros
    for big, little in (("big_endian.npy", "<f"), ("bfloat16.npy", "<f"), ("big_endian_half.npy", "<e")):
        amax = tensors_of(measured(tensor_files.GOOD[big], big))[big]["amax"]
        assert amax == (1.5 if "half" in big else 2.25), (big, amax)


def skipped_tensors_are_named():
    with Folder(**{"types.safetensors": tensor_files.GOOD["types.safetensors"]}) as folder:
        code, out, _ = bench("--accuracy", "--quick", "types.safetensors", folder=folder)
    assert code == 0
    assert "tensor 'i' left out: I64 is none of F32, F16, BF16" in out, out
    assert "tensor 'empty' left out: it has no values" in out, out


def names_cannot_forge_output():
    for name in ("forged_name.safetensors", "long_name.safetensors"):
        with Folder(**{name: tensor_files.GOOD[name]}) as folder:
            code, out, errors = bench("--accuracy", "--quick", name, folder=folder)
        assert code == 0 and errors == "", errors
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", out), re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", out)
        assert "\nmpnum bench:" not in out
        assert max(map(len, out.splitlines())) <= 110, max(out.splitlines(), key=len)


def check_refused(folder, path, *arguments):
    """Status 2, one line that names the program and the file, no result file."""
    before = sorted(os.listdir(folder))
    code, out, errors = bench("--accuracy", "--quick", "--json", "out.json", "--csv", "out.csv", *arguments,
                              path, folder=folder)
    lines = errors.split("\n")
    path = path[:80]
    assert code == 2, (path, code, errors)
    assert len(lines) == 2 and lines[1] == "" and lines[0].startswith("mpnum bench: "), (path, errors)
    assert len(errors) < 700 and not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", errors), (path, errors[:2000])
    assert out == "", (path, out)
    assert sorted(os.listdir(folder)) == before, (path, os.listdir(folder))
    return lines[0]


def hostile_files_are_refused():
    with Folder(**tensor_files.HOSTILE) as folder:
        for name in tensor_files.HOSTILE:
            line = check_refused(folder, name)
            assert line.startswith(f"mpnum bench: {name}: "), line
            assert REASONS.get(name, "") in line, line


def a_bad_file_among_good_ones_leaves_no_output():
    with Folder(**{"good.npy": tensor_files.GOOD["plain.npy"], "bad.npy": b"x"}) as folder:
        check_refused(folder, "bad.npy", "--input", "good.npy")


def things_that_are_no_files_are_refused():
    with Folder() as folder:
        at = lambda name: os.path.join(folder, name)
        os.symlink("/dev/zero", at("zero.npy"))
        os.symlink("/dev/urandom", at("random.safetensors"))
        os.symlink("loop.npy", at("loop.npy"))
        os.mkfifo(at("fifo.npy"))
        os.mkdir(at("folder.npy"))
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(at("socket.npy"))
            for name in ("zero.npy", "random.safetensors", "loop.npy", "fifo.npy", "folder.npy", "socket.npy",
                         "missing.npy", "no/such/folder.npy", "/dev/zero", "/dev/null", "/proc/self/mem", "",
                         "x" * 5000 + ".npy"):
                line = check_refused(folder, name)
                assert re.search(r": (cannot be opened: .|is not a regular file$|is empty$)", line), line


def an_unreadable_file_is_refused():
    if os.geteuid() == 0:
        raise tap.Skip("root reads everything")
    with Folder(**{"closed.npy": tensor_files.GOOD["plain.npy"]}) as folder:
        os.chmod(os.path.join(folder, "closed.npy"), 0)
        check_refused(folder, "closed.npy")


def a_huge_sparse_file_is_refused_at_once():
    """Claims 2^40 bytes in its name only: the header decides, nothing of that size is allocated."""
    with Folder(**{"sparse.npy": tensor_files.GOOD["plain.npy"], "sparse.safetensors": b"\xff\xff\x7f"}) as folder:
        for name in ("sparse.npy", "sparse.safetensors"):
            os.truncate(os.path.join(folder, name), 2 ** 40)
            check_refused(folder, name)


def file_names_cannot_forge_lines():
    with Folder(**{"a\n\x1b[31mmpnum bench: b.npy": b"x", "plain.txt": tensor_files.GOOD["plain.npy"]}) as folder:
        check_refused(folder, "a\n\x1b[31mmpnum bench: b.npy")
        check_refused(folder, "plain.txt")
        check_refused(folder, b"\xff\xfe.npy".decode(errors="surrogateescape"))


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
    for option in ("input", "formats", "speed", "scalar", "accuracy", "headers", "all", "scale", "size", "quick",
                   "json", "csv", "help"):
        assert f"--{option}" in out, option
    assert max(map(len, out.splitlines())) <= 90, max(out.splitlines(), key=len)


def an_output_that_fails_is_told():
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROGRAM, "--formats"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done
    code, _, errors = bench("--formats", "--json", "/dev/full")
    assert code == 1 and errors.count("\n") == 1, (code, errors)


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
    with Folder() as folder:
        assert bench("--formats", "--json", "j", folder=folder)[0] == 0
        with open(os.path.join(folder, "j")) as file:
            rows = json.load(file)["formats"]
    for row in rows:
        got = tuple(row[key] for key in ("sign_bits", "exponent_bits", "mantissa_bits", "bias", "max", "min_normal",
                                         "smallest"))
        assert got == FORMATS[row["format"]], (row["format"], got)
        assert row["epsilon"] == 2.0 ** -row["mantissa_bits"]
    assert {row["format"] for row in rows if row["has_inf"]} == {"tf32", "bf16", "f16", "e5m2", "e3m4"}
    assert {row["format"] for row in rows if not row["has_nan"]} == {"e3m2", "e2m3", "e2m1"}


def distributions_are_what_they_say():
    with Folder() as folder:
        assert bench("--accuracy", "--scale", "none", "--json", "j", folder=folder)[0] == 0
        with open(os.path.join(folder, "j")) as file:
            subjects = {row["name"]: row for row in json.load(file)["accuracy"]}
    count = 2 ** 20
    # Shares of values that become zero, |x| <= half the smallest value, from the laws' distribution functions.
    u = 0.25 / math.sqrt(3)
    flushed = {"normal": ("e2m1", math.erf(0.25 / math.sqrt(2))),
               "gradients": ("e4m3", 0.5 * math.erfc(-(math.log10(2.0 ** -10) + 6) / 2 / math.sqrt(2))),
               "activations": ("e2m1", 2 / math.pi * (u / (1 + u * u) + math.atan(u)))}
    for name, (target, share) in flushed.items():
        row = next(r for r in subjects[name]["rows"] if r["format"] == target)
        deviation = math.sqrt(share * (1 - share) / count)
        assert abs(row["underflow_share"] - share) < 5 * deviation, (name, row["underflow_share"], share)
        assert subjects[name]["values"] == count
    assert 4 < subjects["normal"]["amax"] < 7, subjects["normal"]["amax"]


def scale_is_chosen():
    for choice, scales in (("none", {"none"}), ("amax", {"amax"}), ("both", {"none", "amax"})):
        found = tensors_of(measured(tensor_files.GOOD["plain.npy"], "p.npy", "--scale", choice))
        assert {row["scale"] for row in found["p.npy"]["rows"]} == scales


def terminal_output(command):
    """What a command writes to stderr when that is a terminal."""
    ours, theirs = open_terminal()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    text = b""
    try:
        while select.select([ours], [], [], SECONDS)[0]:
            text += os.read(ours, 65536)
    except OSError:  # EIO: the other end is closed
        pass
    os.close(ours)
    assert child.wait(SECONDS) == 0, text
    return text.decode()


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
    with Folder() as folder:
        code, out, _ = bench("--scalar", "--quick", "--json", "j", folder=folder)
        assert code == 0
        with open(os.path.join(folder, "j")) as file:
            rows = json.load(file)["scalar"]["rows"]
    for row in rows:
        assert (row["ns_per_call"] is None) == (row["missing"] is not None), row
        assert row["library"] in out and (row["missing"] or row["function"]) in out, row
    own = [row["operation"] for row in rows if row["library"] == "mpnum"]
    assert own == ["f32 to f16", "f32 to bf16", "f32 to e4m3", "f32 to e5m2", "f16 to f32", "bf16 to f32",
                   "e4m3 to f32"], own


sys.exit(tap.run(
    f32_figures_are_exact,
    f16_and_bf16_figures_are_exact,
    f16_agrees_with_the_struct_module,
    limits_are_those_of_the_standards,
    distributions_are_what_they_say,
    scale_is_chosen,
    good_files_are_read,
    skipped_tensors_are_named,
    names_cannot_forge_output,
    hostile_files_are_refused,
    a_bad_file_among_good_ones_leaves_no_output,
    things_that_are_no_files_are_refused,
    an_unreadable_file_is_refused,
    a_huge_sparse_file_is_refused_at_once,
    file_names_cannot_forge_lines,
    wrong_options_are_refused,
    help_names_every_option,
    an_output_that_fails_is_told,
    a_result_that_cannot_be_written_leaves_nothing,
    results_replace_whole_files,
    default_run_has_every_section_of_every_format,
    scalar_calls_name_their_peers,
    long_inputs_have_a_progress_bar_on_a_terminal))
