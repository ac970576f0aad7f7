#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One verdict: what `mpnum bench` and `mpnum inspect` choose for the same files is the same, and what numpy and ml_dtypes
choose by the rule of the documentation. test_verdict.py BENCH INSPECT TIER"""

import json
import math
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from bench_program import Figures, Folder
from tensor_files import entry, floats, npy, safetensors
from tree import ROOT

BENCH, INSPECT, TIER = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
try:
    import ml_dtypes
    import numpy as np
    import verdict_oracle as oracle
except ImportError as missing:
    np, lacking = None, str(missing)
SHARES = ("clipped_share", "flushed_share", "lost_share")


# --- files -------------------------------------------------------------------------------------------------

def model(**tensors):
    """A safetensors file of arrays."""
    kinds = {"float32": "F32", "float16": "F16", "bfloat16": "BF16", "float64": "F64", "int64": "I64", "int32": "I32",
             "float8_e4m3fn": "F8_E4M3"}
    header, data = {}, b""
    for name, array in tensors.items():
        raw = array.tobytes()
        header[name] = entry(kinds[array.dtype.name], list(array.shape), len(data), len(data) + len(raw))
        data += raw
    return {"m.safetensors": (safetensors(header, data), tensors)}


def one(array, order="C"):
    """An npy file; rows are what is dense in it."""
    shape = "(" + "".join(f"{n}," for n in array.shape) + ")"
    text = f"{{'descr': '{array.dtype.str}', 'fortran_order': {order == 'F'}, 'shape': {shape}, }}"
    return {"x.npy": (npy("", "", array.tobytes(order), header=text), {"x.npy": array.T if order == "F" else array})}


def draw(seed, *shape):
    return np.random.Generator(np.random.PCG64(seed)).normal(0, 0.02, shape).astype(np.float32)


def heavy(seed, freedom, *shape):
    return np.random.Generator(np.random.PCG64(seed)).standard_t(freedom, shape).astype(np.float32)


def wide(seed, binades, *shape):
    """Spread evenly over so many binades, of either sign."""
    source = np.random.Generator(np.random.PCG64(seed))
    return (2.0 ** -source.uniform(0, binades, shape) * source.choice((-1, 1), shape)).astype(np.float32)


def with_values(array, **places):
    array = array.copy()
    for place, value in places.items():
        array.reshape(-1)[int(place[1:])] = value
    return array


def channels(array, first):
    """With one input, the first, of so many times the others' size."""
    array = array.copy()
    array[:, 0] *= first
    return array


NAMES = [f"model.encoder.{i}.reparam_conv.bias" for i in range(4)]

# name: (the file, what is chosen for its kinds); the first ones are those of the quick tests.
CASES = {
    # A kernel as silero-vad's fourth: e4m3 flushes nearly 1 %, and has more SQNR than e5m2.
    "flushed": (lambda: model(**{"conv4.weight": heavy(25, 1.2, 64, 64, 3)}), {"weights": "e4m3"}),
    "heavy_tails": (lambda: model(**{"fc.weight": heavy(34, 1.2, 64, 256)}), {"weights": "e4m3"}),
    "bias_of_one": (lambda: model(**{"fc.weight": draw(1, 64, 128), "fc.bias": np.float32([0.3])}), {"weights": "e4m3"}),
    "axis_of_3": (lambda: model(**{"conv.weight": draw(2, 64, 32, 3)}), {"weights": "e4m3"}),
    "outlier": (lambda: model(**{"fc.weight": with_values(draw(3, 64, 64), _77=1e6)}), {"weights": "e5m2"}),
    "gradient_under_the_line": (lambda: model(**{"fc.weight.grad": wide(4, 19, 64, 64)}), {"gradients": "e5m2"}),
    "nan": (lambda: model(**{"fc.weight": np.full((64, 64), np.nan, np.float32)}), {"weights": "none"}),
    "integers": (lambda: model(a=np.arange(2048), b=np.arange(5, dtype=np.int32)), {}),
    "all_small": (lambda: model(**{"a.weight": draw(6, 31, 33), "b.bias": draw(7, 9)}), {"weights": "none"}),
    "given_inputs": (lambda: model(**{"fc.weight": channels(draw(8, 64, 128), 3e4), "fc.input": channels(draw(9, 32, 128), 0)}),
                     {"weights": "e5m2", "activations": "e4m3"}),
    # --full
    "sample": (lambda: sample(), {"weights": "e4m3", "activations": "e4m3", "gradients": "e5m2"}),
    "some_nan": (lambda: model(**{"w.weight": with_values(draw(10, 64, 64), _5=np.nan, _9=np.inf, _10=-np.inf)}),
                 {"weights": "e4m3"}),
    "kernel_2d": (lambda: model(**{"conv.weight": draw(11, 32, 16, 3, 3)}), {"weights": "e4m3"}),
    "kernel_of_1": (lambda: model(**{"conv.weight": draw(12, 200, 40, 1, 1)}), {"weights": "e4m3"}),
    "kernel_gradient": (lambda: model(**{"conv.weight.grad": wide(13, 12, 64, 32, 3)}), {"gradients": "e5m2"}),
    "wide_gradient": (lambda: model(**{"fc.weight.grad": wide(14, 34, 64, 64)}), {"gradients": "bf16"}),
    "widest_gradient": (lambda: model(**{"fc.weight.grad": wide(15, 148, 64, 64)}), {"gradients": "f32"}),
    "wide_weights": (lambda: model(**{"fc.weight": wide(16, 100, 64, 64)}), {"weights": "bf16"}),
    "outlier_in_gradient": (lambda: model(**{"a.grad": with_values(draw(17, 64, 64), _9=1e6)}), {"gradients": "e5m2"}),
    "bf16": (lambda: model(**{"w.weight": draw(18, 64, 96).astype(ml_dtypes.bfloat16)}), {"weights": "e4m3"}),
    "f16_npy": (lambda: one(draw(19, 48, 100).astype(np.float16)), {"values": "e4m3"}),
    "fortran": (lambda: one(draw(20, 40, 70), "F"), {"values": "e4m3"}),
    "big_endian": (lambda: one(draw(21, 40, 70).astype(">f4")), {"values": "e4m3"}),
    "line": (lambda: one(draw(22, 5000)), {"values": "e4m3"}),
    "past_f32": (lambda: one(with_values(draw(23, 2000).astype(np.float64), _3=1e300)), {"values": "none"}),
    "under_f32": (lambda: one(draw(24, 2000).astype(np.float64) * 1e-300), {"values": "none"}),
    "subnormals": (lambda: model(**{"w.weight": (draw(25, 64, 64) * np.float32(1e-38))}), {"weights": "e4m3"}),
    "zeros": (lambda: model(**{"w.weight": np.zeros((64, 64), np.float32)}), {"weights": "e4m3"}),
    "ones": (lambda: model(**{"w.weight": np.ones((64, 64), np.float32), "x": np.full(2048, 0.1, np.float32)}),
             {"weights": "e4m3", "values": "e4m3"}),
    "three_axes_of_activations": (lambda: model(**{"layer.output": draw(26, 8, 20, 48)}), {"activations": "e4m3"}),
    "kernel_by_another_name": (lambda: model(**{"conv.input": draw(27, 64, 32, 5, 1)}), {"activations": "e4m3"}),
    # More SQNR of the product alone is not enough: e5m2 has 26.1 dB of it, and 22.6 of the values.
    "lower_of_both": (lambda: model(**{"fc.weight": channels(draw(8, 64, 128), 1e4), "fc.input": channels(draw(9, 32, 128), 0)}),
                      {"weights": "e4m3", "activations": "e4m3"}),
    "activation_gradient": (lambda: model(**{"layer.output.grad": wide(27, 10, 8, 20, 48)}), {"gradients": "e5m2"}),
    "left_out": (lambda: model(**{"w.weight": draw(28, 64, 64), "w.weight.exp_avg_sq": draw(29, 64, 64) ** 2}),
                 {"weights": "e4m3"}),
    "codes": (lambda: model(**{"w.weight": draw(30, 64, 64).astype(ml_dtypes.float8_e4m3fn)}), {"weights": "e4m3"}),
    "least_size": (lambda: model(**{"a.weight": draw(31, 1023), "b.weight": draw(32, 1024)}), {"weights": "e4m3"}),
    "many": (lambda: model(**{"a.weight": draw(33, 100, 33), "b.weight": heavy(34, 2, 64, 500), "c.weight": draw(35, 17, 9, 5, 5),
                              "a.grad": wide(36, 14, 50, 50), "b.grad": wide(37, 6, 50, 50), "h.hidden": draw(38, 60, 60)}),
             {"weights": "e4m3", "gradients": "e5m2", "activations": "e4m3"}),
    "names": (lambda: model(**{name: draw(40 + i, 64, 32) for i, name in enumerate(NAMES)}), {"weights": "e4m3"}),
}
QUICK = 10


def sample():
    path = ROOT / "bench/input/sample/digits.safetensors"
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    kinds = {"F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16}
    tensors = {}
    for name, row in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = (8 + size + offset for offset in row["data_offsets"])
            tensors[name] = np.frombuffer(data[begin:end], kinds[row["dtype"]]).reshape(row["shape"])
    return {"m.safetensors": (data, tensors)}


# --- the programs ------------------------------------------------------------------------------------------

def run(program, *arguments, folder):
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def both(files, *arguments):
    """(what inspect's JSON has, the figures of the bench, what they printed)."""
    with Folder(**files) as folder:
        code, inspected, errors = run(INSPECT, "--details", "--json", "i", *arguments, *files, folder=folder)
        assert (code, errors) == (0, ""), (code, errors)
        code, benched, errors = run(BENCH, "--quick", "--why", "--json", "b", *files, folder=folder)
        assert (code, errors) == (0, ""), (code, errors)
        found, figures = (json.loads(Path(folder, name).read_text()) for name in "ib")
    return found, Figures(figures), inspected, benched


def number(value):
    return math.inf if value == "inf" else value


def the_same_in_both(found, figures):
    """Every figure of the verdicts is the same in both programs."""
    kinds = {verdict["kind"]: verdict for verdict in found["verdicts"]}
    assert set(kinds) == {name for name in figures.all_of("source", "advice") if name}, kinds
    for kind, verdict in kinds.items():
        about = figures.metrics("advice", kind)
        assert {key: about[key] for key in ("tensors", "small", "empty", "format")} == {
            key: verdict[key] for key in ("tensors", "small", "empty", "format")}, (about, verdict)
        assert about["block_format"] == (verdict["block_format"] or "-"), (about, verdict)
        for row in verdict["formats"] + verdict["blocks"]:
            other = figures.metrics("advice", kind, row["format"])
            names = {"clipped_share": "overflow_share", "flushed_share": "underflow_share"}
            for key in ("bits", "sqnr", "product", "worst", "why_not", *SHARES):
                assert other.get(names.get(key, key)) == number(row[key]), (kind, key, row, other)


def close(got, wanted, what):
    got = number(got)
    if wanted is None or got is None or math.isinf(wanted):
        assert got == wanted, (what, got, wanted)
    else:
        assert math.isclose(got, wanted, rel_tol=1e-6, abs_tol=1e-12), (what, got, wanted)


def same_rows(got, wanted, what):
    assert [row["format"] for row in got] == list(wanted), (what, got, wanted)
    for row in got:
        other = wanted[row["format"]]
        for key in ("bits", "sqnr", "product", *SHARES):
            close(row[key], other[key], (what, row["format"], key))
        assert row["why_not"] == other["why_not"], (what, row, other)


def as_the_oracle_has_it(found, arrays):
    tensors = [oracle.Tensor(name, array) for name, array in arrays.items() if array.dtype.kind not in "iu"]
    oracle.pair(tensors)
    wanted = oracle.verdicts(tensors)
    assert [verdict["kind"] for verdict in found["verdicts"]] == list(wanted), (found["verdicts"], wanted)
    for verdict in found["verdicts"]:
        deciding, small, empty, (best, made, block, blocks) = wanted[verdict["kind"]]
        assert (verdict["tensors"], verdict["small"], verdict["empty"]) == (deciding, small, empty), verdict
        assert (verdict["format"], verdict["block_format"]) == (best, block), (verdict, best, block)
        same_rows(verdict["formats"], made, verdict["kind"])
        same_rows(verdict["blocks"], blocks, verdict["kind"])
    rows = {row["tensor"]: row for row in found["tensors"]}
    assert set(rows) == {tensor.name for tensor in tensors}, rows
    for tensor in tensors:
        row = rows[tensor.name]
        best, made, block, _ = oracle.choose(tensor.kind, [tensor])
        assert (row["best"] or "none", row["block_format"], row["kind"]) == (best, block, tensor.kind), (row, best, block)
        for fit in row["formats"] if tensor.finite else []:
            plain = tensor.plain(fit["format"])
            assert fit["why_not"] == made[fit["format"]]["why_not"], (tensor.name, fit, made)
            assert (fit["clipped"], fit["flushed"]) == (plain["clipped"], plain["flushed"]), (tensor.name, fit, plain)
            if not tensor.too_large:
                assert fit["scale_exponent"] == plain["scale"], (tensor.name, fit, plain)
                close(fit["sqnr"], plain["sqnr"], (tensor.name, fit))
                close(fit["product"], plain["product"], (tensor.name, fit))


# --- properties --------------------------------------------------------------------------------------------

def both_choose_what_the_oracle_does():
    if np is None:
        raise tap.Skip(lacking)
    for number_of, (name, (make, wanted)) in enumerate(CASES.items()):
        if TIER == "quick" and number_of >= QUICK:
            break
        files = make()
        found, figures, inspected, benched = both({path: data for path, (data, _) in files.items()})
        try:
            the_same_in_both(found, figures)
            as_the_oracle_has_it(found, {key: array for _, arrays in files.values() for key, array in arrays.items()})
            assert {verdict["kind"]: verdict["format"] for verdict in found["verdicts"]} == wanted, found["verdicts"]
            lines = {kind: figures.get("advice", kind, metric="line") for kind in wanted}
            assert all(len(line) <= 80 and f"\n{line}\n" in benched and f"\n{line}\n" in inspected
                       for line in lines.values()), lines
        except AssertionError as error:
            raise AssertionError(name, *error.args) from None


def weights_of(files):
    found, _, inspected, benched = both({path: data for path, (data, _) in files.items()})
    verdict = next(verdict for verdict in found["verdicts"] if verdict["kind"] == "weights")
    return verdict, {row["format"]: row for row in verdict["formats"] + verdict["blocks"]}, inspected, benched


def weights_that_e4m3_flushes_stay_in_e4m3():
    """Just under and just over 1 % flushed, as a kernel of silero-vad (33.3 dB, .96 %) and heavy tails (31.4 dB, 1.5 %)."""
    if np is None:
        raise tap.Skip(lacking)
    for name, sqnr, flushed in (("flushed", (32, 34), (0.009, 0.01)), ("heavy_tails", (31, 33), (0.01, 0.02))):
        verdict, rows, _, _ = weights_of(CASES[name][0]())
        e4m3, e5m2 = rows["e4m3"], rows["e5m2"]
        assert sqnr[0] < e4m3["sqnr"] < sqnr[1] and flushed[0] < e4m3["flushed_share"] < flushed[1], (name, e4m3)
        assert e5m2["sqnr"] < e4m3["sqnr"] and e5m2["flushed_share"] == 0, (name, e5m2)
        assert verdict["format"] == "e4m3" and e5m2["why_not"] == "less_sqnr", (name, verdict)


def a_product_with_given_activations_decides():
    """The largest weights are those of an input that is 0: the values' SQNR is that of what no product has."""
    if np is None:
        raise tap.Skip(lacking)
    verdict, rows, inspected, benched = weights_of(CASES["given_inputs"][0]())
    assert verdict["format"] == "e5m2" and rows["e4m3"]["why_not"] == "product", verdict
    assert rows["e4m3"]["sqnr"] > 30 > 20 > rows["e4m3"]["product"], rows["e4m3"]
    for out in (inspected, benched):
        assert re.search(r"^weights     e5m2 x 2\^5: 27\.\d dB, lost 0; e4m3 31\.\d: product 19\.\d\d$", out,
                         re.M), out


def small_tensors_and_short_axes_do_not_count():
    """A bias of one value is 48 bits of nvfp4; an axis of 3 makes blocks of 3."""
    if np is None:
        raise tap.Skip(lacking)
    verdict, rows, inspected, benched = weights_of(CASES["bias_of_one"][0]())
    assert (verdict["tensors"], verdict["small"], verdict["block_format"]) == (1, 1, "mx_e2m3"), verdict
    assert rows["mx_e2m3"]["bits"] == 6.25 and math.isclose(rows["nvfp4"]["bits"], 4.5 + 32 / 8192), rows["nvfp4"]
    for out in (inspected, benched):
        assert out.count("1 with fewer than 1024 values decide nothing") == 1, out
    _, rows, _, _ = weights_of(CASES["axis_of_3"][0]())
    assert rows["deepseek"]["bits"] == 8 + 32 / 96 and rows["mx_e4m3"]["bits"] == 8.25, rows["deepseek"]


def what_was_passed_over_has_its_reason_in_the_line():
    if np is None:
        raise tap.Skip(lacking)
    verdict, _, inspected, benched = weights_of(CASES["outlier"][0]())
    for out in (inspected, benched):
        assert re.search(r"^weights     e5m2 x 2\^-5: \d+\.\d dB, .*; e4m3 \d+\.\d: 100 % lost$", out, re.M), out
        assert re.search(r"^  e4m3     x 2\^-12: .*: 100 % lost > 50 % of fc\.weight$", out, re.M), out
        assert re.search(r"^  f16      as it is: .*: SQNR .* < 20 of fc\.weight$", out, re.M), out
    found, _, inspected, benched = both({path: data for path, (data, _) in CASES["gradient_under_the_line"][0]().items()})
    for out in (inspected, benched):
        assert re.search(r"^gradients   e5m2 x 2\^15: SQNR .*, lost 0; e4m3 \d+\.\d: [\d.]+ % lost > 1 %$", out, re.M), out


def a_file_without_a_verdict_says_so():
    """Too small, only NaN, of integers: status 0 and a line."""
    files = {"nan": {"w.npy": npy("'<f4'", "(2000,)", floats(*[math.nan] * 2000))},
             "small": {"w.npy": npy("'<f4'", "(3,)", floats(1, 2, 3))},
             "integers": {"w.npy": npy("'<i4'", "(3,)", struct.pack("<3i", 1, 2, 3))},
             "more": {"w.safetensors": safetensors({"a": entry("I64", [1], 0, 8)}, bytes(8))}}
    lines = {"nan": "values      none: no finite value in a tensor of 1024 values or more",
             "small": "values      none: every tensor has fewer than 1024 values",
             "integers": "no floating-point values, so no verdict", "more": "no floating-point values, so no verdict"}
    for name, blobs in files.items():
        found, _, inspected, benched = both(blobs)
        for out in (inspected, benched):
            assert f"\n{lines[name]}\n" in "\n" + out, (name, out)
        assert [verdict["format"] for verdict in found["verdicts"]] == (["none"] if name in ("nan", "small") else []), found


def two_tensors_of_one_name_are_refused_with_both_places():
    a, b, c = (json.dumps(entry("F32", [1], i, i + 4)) for i in (0, 4, 8))
    for first, second in (("w", "w"), ("\\u0077", "w"), ("q\\\"", "q\\u0022")):
        header = f'{{"o": {c}, "{first}": {a}, "x{{,": {{}}, "{second}": {b}}}'.encode()
        with Folder(**{"m.safetensors": safetensors(header, floats(1, 2, 3))}) as folder:
            for program in (BENCH, INSPECT):
                code, out, errors = run(program, "m.safetensors", folder=folder)
                assert code == 2 and out == "" and errors.count("\n") == 1, (code, out, errors)
                assert re.search(r": two tensors are named '(w|q\")': data_offsets \[0, 4\] and \[4, 8\]$", errors[:-1]), errors


def samples_are_the_same_in_both():
    """Of a large tensor, whose sample is near all of its values."""
    if np is None:
        raise tap.Skip(lacking)
    files = model(**{"a.weight": draw(50, 700, 600), "b.weight": draw(51, 64, 64), "a.weight.grad": wide(52, 12, 600, 700)})
    blobs = {path: data for path, (data, _) in files.items()}
    found, figures, _, _ = both(blobs)
    the_same_in_both(found, figures)
    exact = both(blobs, "--exact")[0]
    assert [row["sampled"] for row in exact["tensors"]] == [False] * 3 and sum(row["sampled"] for row in found["tensors"]) == 2
    for part, whole in zip(found["verdicts"], exact["verdicts"]):
        assert (part["format"], part["block_format"]) == (whole["format"], whole["block_format"]), (part, whole)
        for one, other in zip(part["formats"] + part["blocks"], whole["formats"] + whole["blocks"]):
            assert math.isclose(one["sqnr"], other["sqnr"], abs_tol=0.3) and one["why_not"] == other["why_not"], (one, other)
            assert math.isclose(one["lost_share"], other["lost_share"], abs_tol=0.01), (one, other)
            if one["product"] is not None:
                assert math.isclose(one["product"], other["product"], abs_tol=0.7), (one, other)


def shown_names(out):
    return [line.split()[0] for line in out.split("\n\n")[0].splitlines()[1:]]


def no_name_is_shortened_to_another():
    """Numbers in the middle, at either end, one name that is another's short form, and the same in two files."""
    base = "model.encoder.layers.0.self_attention.query.weight"
    lists = [[f"model.encoder.{i}.reparam_conv.bias" for i in range(4)],
             [f"model.layers.{i}.self_attention.query_key_value.weight" for i in range(40)],
             [base + str(i) for i in range(12)], [str(i) + base for i in range(12)],
             [base, *(base[:k] + "..." + base[-(13 - k):] for k in range(1, 13))],
             [f"{a}.{'m' * 60}.{b}" for a in "abc" for b in "xyz"], [f"a\n{'b' * 40}", f"a\t{'b' * 40}"]]
    for names in lists:
        header = {name: entry("F32", [8, 16], 512 * i, 512 * i + 512) for i, name in enumerate(names)}
        blob = safetensors(header, floats(*[0.5] * (128 * len(names))))
        with Folder(**{"m.safetensors": blob}) as folder:
            code, out, errors = run(INSPECT, "--sort", "file", "m.safetensors", folder=folder)
        assert code == 0 and errors == "", errors
        got = shown_names(out)
        assert len(set(got)) == len(names) == len(got), got
        assert max(map(len, out.splitlines())) <= 80, out


def tables_of_the_bench_keep_names_apart():
    names = [f"model.{'layers' * 12}.{i}.{'weights' * 9}" for i in range(12)]
    header = {name: entry("F32", [4], 16 * i, 16 * i + 16) for i, name in enumerate(names)}
    with Folder(**{"m.safetensors": safetensors(header, floats(*[0.5] * 48))}) as folder:
        code, out, errors = run(BENCH, "--accuracy", "--quick", "m.safetensors", folder=folder)
    assert code == 0 and errors == "", errors
    got = re.findall(r"^(\S+): 4 f32 values", out, re.M)
    assert len(got) == 12 == len(set(got)) and max(map(len, out.splitlines())) <= 100, got


sys.exit(tap.run(
    both_choose_what_the_oracle_does,
    weights_that_e4m3_flushes_stay_in_e4m3,
    a_product_with_given_activations_decides,
    small_tensors_and_short_axes_do_not_count,
    what_was_passed_over_has_its_reason_in_the_line,
    a_file_without_a_verdict_says_so,
    two_tensors_of_one_name_are_refused_with_both_places,
    samples_are_the_same_in_both,
    no_name_is_shortened_to_another,
    tables_of_the_bench_keep_names_apart))
