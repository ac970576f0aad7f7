#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`mpnum inspect --trend`: files of steps, against counts in fractions.  test_inspect_trend.py PROGRAM"""

import importlib.util
import math
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as xml
from fractions import Fraction
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from bench_program import FORMATS, Folder, bench, csv_of, json_of
from tensor_files import file_of, floats, gauss, gguf, npy, npz, safetensors
from tree import ROOT

FIELDS = ["step", "file", "tensor", "values", "amax", "zeros", "f16_subnormals", "e4m3_lost", "e5m2_lost", "sampled",
          "loss_scale_exponent", "infs", "nans", "first_nonfinite"]
SHARES = {"zeros": 0, "f16_subnormals": 0, "e4m3_lost": 1, "e5m2_lost": 1}  # 1: of what is finite and not 0
CURVES = 6  # of a chart: shares, amax, loss scale


def exponent(amax, most):
    """The largest k for which amax times 2^k is at most that, of fractions."""
    k = math.floor(math.log2(most / amax)) + 1
    while amax * Fraction(2) ** k > most:
        k -= 1
    return k


def loss_scale(amax, nonfinite):
    return exponent(2 * amax, Fraction(FORMATS["f16"][4])) if amax and not nonfinite else None


def expected(values):
    """What is found of a tensor; values as f32 has them."""
    finite = [abs(Fraction(x)) for x in values if math.isfinite(x)]
    nonzero, amax = [x for x in finite if x], max(finite, default=Fraction(0))
    made = {"values": len(values), "amax": amax, "zeros": len(finite) - len(nonzero),
            "f16_subnormals": sum(x < Fraction(FORMATS["f16"][5]) for x in nonzero),
            "infs": sum(map(math.isinf, values)), "nans": sum(map(math.isnan, values))}
    for name in ("e4m3", "e5m2"):  # a tie goes to 0, the even one
        scale = Fraction(2) ** exponent(amax, Fraction(FORMATS[name][4])) if amax else 0
        made[name + "_lost"] = sum(x * scale <= Fraction(FORMATS[name][6]) / 2 for x in nonzero)
    made["loss_scale_exponent"] = loss_scale(amax, len(values) - len(finite))
    made["first_nonfinite"] = next((i for i, x in enumerate(values) if not math.isfinite(x)), None)
    return made


def together(parts):
    """The same of several tensors: each has its own amax, the loss that of all."""
    made = {key: sum(part[key] for part in parts) for key in ("values", "infs", "nans", *SHARES)}
    amax = max(part["amax"] for part in parts)
    return {**made, "amax": amax, "loss_scale_exponent": loss_scale(amax, made["infs"] + made["nans"]), "first_nonfinite": None}


def check(row, wanted):
    for key, value in wanted.items():
        assert row[key] == value, (key, row[key], value, row)


def value_of(cell, value):
    """A cell of the CSV as the JSON has it."""
    return None if cell == "" else cell if isinstance(value, str) else float(cell)


def trend(*arguments, code=0, folders=(), **files):
    """(rows, remarks, the output, the picture); the CSV is the JSON."""
    with Folder(**files) as folder:
        for name, data in folders:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(data)
        got, out, errors = bench("--trend", *files, *(name for name, _ in folders), *arguments,
                                 "--json", "j", "--csv", "c", "--svg", "s", folder=folder)
        assert got == code and errors == "", (got, out, errors)
        result, lines, picture = json_of(folder / "j"), csv_of(folder / "c"), xml.parse(folder / "s").getroot()
    assert max(map(len, out.splitlines())) <= 80, out
    assert list(result) == ["schema", "mpnum", "options", "remarks", "trend"], result
    rows = result["trend"]
    for row, line in zip(rows, lines, strict=True):
        assert list(row) == list(line) == FIELDS, (row, line)
        clean = [re.sub(r"[\n\x1b]", "?", value) if isinstance(value, str) else value for value in row.values()]
        assert [value_of(line[key], row[key]) for key in FIELDS] == clean, (row, line)
    return rows, [(remark["file"], remark["tensor"], remark["remark"]) for remark in result["remarks"]], out, picture


def hard(seed, count=3000):
    """Over 45 powers of two, with zeros of both signs, subnormals, and what e4m3 rounds to 0 as a tie and does not past it."""
    values = [x * 2.0 ** (-i % 45) for i, x in enumerate(gauss(count, seed=seed))]
    values[:6] = [0.0, -0.0, 2.0 ** -14, 2.0 ** -14 * (1 - 2.0 ** -24), 2.0 ** -149, -2.0 ** -126]
    most = 448 * 2.0 ** (38 - seed)  # e4m3's at 2^(seed - 38)
    values[6:10] = [most, -2.0 ** (28 - seed), 2.0 ** (28 - seed) * (1 + 2.0 ** -23), -2.0 ** (14 - seed)]
    return list(struct.unpack(f"<{count}f", floats(*values)))


def line_of(out, name):
    return next(line.split() for line in out.splitlines() if line.split()[:1] == [name])


def curves_of(picture):
    return [at for at in picture.iter() if at.get("class") == "curve"]


def marks_of(picture):
    return [at for at in picture.iter() if at.get("class") == "nonfinite"]


def points_of(curve):
    """Lists of points that are joined; the first of each stands twice, so that one alone is a dot."""
    lists = [re.findall(r"[ML]([-\d.]+) ([-\d.]+)", part) for part in re.findall("M[^M]+", curve.get("d"))]
    assert all(points[0] == points[1] for points in lists), lists
    return [[(float(x), float(y)) for x, y in points[1:]] for points in lists]


def slope_of(pairs):
    """Of the line that all pairs are on; pixels second."""
    least, most = min(pairs), max(pairs)
    slope = (most[1] - least[1]) / (most[0] - least[0])
    assert all(abs(least[1] + slope * (x - least[0]) - y) < 0.02 for x, y in pairs), pairs
    return slope


def counts_are_those_of_fractions():
    steps = {k: {"w": hard(k), "v": hard(k + 5, 60)} for k in (1, 2, 10)}
    rows, remarks, _, _ = trend(**{f"step{k}.safetensors": file_of(**{name: ("F32", [3, len(values) // 3], floats(*values))
                                                                     for name, values in tensors.items()})
                                   for k, tensors in reversed(steps.items())})
    assert remarks == [] and [row["step"] for row in rows] == [1, 1, 1, 2, 2, 2, 10, 10, 10], rows
    for row in rows:
        wanted = {name: expected(values) for name, values in steps[row["step"]].items()}
        check(row, wanted[row["tensor"]] if row["tensor"] else together(wanted.values()))
        assert row["file"] == f"step{row['step']}.safetensors" and row["sampled"] is False, row
        assert 0 < row["e5m2_lost"] < row["e4m3_lost"] < row["values"], row


def other_types_and_files_are_steps_too():
    halves = list(struct.unpack("<640e", struct.pack("<640e", *(x / 2 ** 8 for x in gauss(640)))))
    doubles = [1e-300, 0.0, 2.0 ** -14 - 2.0 ** -60, 2.0 ** -14 - 2.0 ** -30, 1e-20, *halves[5:]]
    cut = [struct.unpack("<f", b"\0\0" + floats(x)[2:])[0] for x in halves]
    rows, remarks, _, _ = trend(**{
        "g4.npy": npy("'<f2'", "(640,)", struct.pack("<640e", *halves)),
        "g5.npy": npy("'<f8'", "(640,)", struct.pack("<640d", *doubles)),
        "g6.npz": npz([("x.npy", npy("'>f4'", "(640,)", struct.pack(">640f", *halves)))], 8),
        "g7.gguf": gguf([("y", "bf16", [640], b"".join(floats(x)[2:] for x in halves))])})
    assert remarks == [] and [row["step"] for row in rows] == [4, 5, 6, 7], rows
    amax = Fraction(max(map(abs, doubles)))
    as_floats = list(struct.unpack("<640f", floats(*doubles)))
    assert as_floats[0] == 0 and as_floats[2] == 2.0 ** -14 > as_floats[3], as_floats
    check(rows[1], {**expected([2.0 ** -149, *as_floats[1:]]), "amax": amax})  # what f32 makes 0 of is not 0, subnormal and lost
    for row, values in ((rows[0], halves), (rows[2], halves), (rows[3], cut)):
        check(row, expected(values))
        assert 0 < row["f16_subnormals"] < 640, row


def a_loss_scale_leaves_half_of_the_range():
    most = {1.0: 14, 1.99: 14, 15.99: 11, 15.9921875: 11, 15.993: 10, 16.0: 10, 65504.0: -1, 32752.0: 0, 32768.0: -1,
            2.0 ** -24: 38, 2.0 ** -149: 126, 3e38: -113}
    rows, _, out, _ = trend(**{f"g{i}.npy": npy("'<f4'", "(2,)", floats(x, 0)) for i, x in enumerate(most)})
    assert [row["loss_scale_exponent"] for row in rows] == list(most.values()), rows
    assert line_of(out, "7") == ["7", "3.275e+04", "50.0", "0", "0", "0", "2^0"], out
    rows, _, out, _ = trend(**{"g1.npy": npy("'<f4'", "(1,)", bytes(4)), "g2.npy": npy("'<f8'", "(1,)", struct.pack("<d", 1e300))})
    assert [row["loss_scale_exponent"] for row in rows] == [None] * 2, rows
    assert line_of(out, "1")[1:] == ["0", "100", "0", "-", "-", "-"], out
    assert line_of(out, "2")[1:] == ["1.0e+300", "0", "0", "100", "100", "-"], out


def steps_are_in_the_order_of_their_numbers():
    data = [npy("'<f4'", "(1,)", floats(1 + i)) for i in range(3)]

    def order(*names):
        rows, _, _, _ = trend(folders=list(zip(names, data)))
        assert [row["amax"] for row in rows] == [1 + names.index(row["file"]) for row in rows], rows
        return [row["file"] for row in rows], [row["step"] for row in rows]
    for names in ("step%d.npy", "run3-f16_%03d_rank0.npy", "step%d/g8.npy", "0%d.npy"):
        assert order(*(names % k for k in (10, 2, 9))) == ([names % k for k in (2, 9, 10)], [2, 9, 10]), names
    most = 2 ** 53
    assert order(*(f"{most - k}.npy" for k in (1, 3, 2))) == ([f"{most - k}.npy" for k in (3, 2, 1)], [most - 3, most - 2, most - 1])
    for given in (["c.npy", "a.npy", "b.npy"], ["step2.npy", "step1.npy", "last.npy"], ["y/g1.npy", "x/g1.npy", "z/g1.npy"],
                  [f"{most + k}.npy" for k in (2, 0, 1)], [f"{10 ** 30 + k}.npy" for k in (2, 0, 1)]):
        assert order(*given) == (given, [None] * 3), given
    assert order("x2-9.npy", "y1-5.npy", "x1-4.npy") == (["y1-5.npy", "x1-4.npy", "x2-9.npy"], [1, 1, 2])
    assert order("x1/g9.npy", "x2/g3.npy", "x3/g5.npy") == (["x2/g3.npy", "x3/g5.npy", "x1/g9.npy"], [3, 5, 9])
    assert order("step7.npy") == (["step7.npy"], [7])


def inf_and_nan_are_named_first():
    w = gauss(6)
    bad = [*w[:3], math.nan, -math.inf, math.nan]
    rows, remarks, out, picture = trend(**{
        f"step{k}.safetensors": file_of(v=("F32", [6], floats(*w)), w=("F32", [2, 3], floats(*values)))
        for k, values in ((1, w), (2, bad), (3, w))})
    assert remarks == [] and out.startswith("step2.safetensors: w has 1 Inf, 2 NaN, the first at [1, 0]\n\nstep "), out
    at = {row["tensor"]: row for row in rows if row["step"] == 2}
    check(at[None], together([expected(bad), expected(w)]))
    check(at["w"], expected(bad))
    scale = f"2^{loss_scale(max(map(abs, map(Fraction, w))), 0)}"
    assert [line_of(out, name)[-2:] for name in "123"] == [[scale, "0"], ["-", "3"], [scale, "0"]], out
    assert re.findall(r"^(\w) .* (\d)$", out.split("\n\n")[2], re.M) == [("w", "3"), ("v", "0")], out
    assert "; Inf or NaN in 1\n" in out, out
    marks = [float(mark.get("x")) + float(mark.get("width")) / 2 for mark in marks_of(picture)]
    across = [x for x, _ in points_of(curves_of(picture)[0])[0]]
    assert marks == [across[1]] * 4, (marks, across)  # in both plots of all together and of w
    assert [len(points_of(curve)) for curve in curves_of(picture)] == 2 * [1, 1, 1, 1, 1, 2] + [1] * 6, "no scale in that step"
    files = {f"g{k}.npy": npy("'<f4'", "(6,)", floats(*(bad if k else w))) for k in range(23)}
    _, _, out, _ = trend(**files)
    assert out.startswith("g1.npy has 1 Inf, 2 NaN, the first at [3]\ng2.npy "), out
    assert out.count("has 1 Inf") == 20 and "\n... and 2 more (--json names them)\n\nstep " in out, out


def names_and_shapes_that_differ_are_listed():
    w, ids = ("F32", [2, 3], floats(*gauss(6))), ("I64", [1], bytes(8))
    rows, remarks, out, picture = trend(code=1, **{
        "1.safetensors": file_of(a=w, b=w, ids=ids), "2.safetensors": file_of(a=("F32", [3, 2], w[2]), b=w),
        "3.safetensors": file_of(b=w, c=w), "4.safetensors": file_of(a=w, b=w)})
    assert remarks == [("2.safetensors", "a", "has shapes [2, 3] and [3, 2]"), ("3.safetensors", "a", "is missing"),
                       ("3.safetensors", "c", "is not in the first step")], remarks
    assert [(row["step"], row["tensor"]) for row in rows if row["tensor"]] == [
        (1, "a"), (1, "b"), (2, "b"), (3, "b"), (4, "a"), (4, "b")], rows
    assert [row["values"] for row in rows if not row["tensor"]] == [12, 6, 6, 12], rows
    assert "\n2.safetensors: a has shapes [2, 3] and [3, 2]\n3.safetensors: a is missing\n" in out and "tensor 'ids'" in out, out
    assert [len(points_of(curve)) for curve in curves_of(picture)] == [1] * 6 + [2] * 6 + [1] * 6, "that of a is broken"
    rows, remarks, _, _ = trend("--tensor", "b", **{"1.safetensors": file_of(a=w, b=w), "2.safetensors": file_of(b=w, c=w)})
    assert remarks == [] and [row["tensor"] for row in rows] == [None, None], rows
    rows, remarks, out, _ = trend(code=1, **{"1.npy": npy("'<f4'", "(2,)", bytes(8)), "2.npy": npy("'<f4'", "(3,)", bytes(12)),
                                             "3.npy": npy("'<i4'", "(2,)", bytes(8))})
    assert remarks == [("2.npy", "2.npy", "has shapes [2] and [3]"), ("3.npy", "1.npy", "is missing")] and len(rows) == 3, remarks
    assert line_of(out, "2") == ["2", *"------"] and "\n2.npy has shapes" in out, out


def tensors_in_trouble_come_first():
    one = gauss(100)
    kinds = {"good": one, "zeros": [0.0] * 60 + one[60:], "wide": [1e5] + [1e-9] * 99, "nan": [*one[:99], math.nan]}
    files = {f"{k}.safetensors": file_of(**{name: ("F32", [100], floats(*(values if k == 2 else one))) for name, values in kinds.items()})
             for k in (1, 2, 3)}
    rows, _, out, picture = trend(**files)
    table = out.split("most of a step")[1].split("\n\n")[0]
    assert re.findall(r"^(\w+) ", table, re.M) == ["nan", "wide", "zeros", "good"], out
    assert line_of(table, "zeros")[2] == "60.0" and line_of(out, "1")[2] == "0", out
    scales = [row["loss_scale_exponent"] for row in rows if row["tensor"] == "wide"]
    assert line_of(table, "wide")[-2:] == [f"2^{min(scales)}", "0"] and scales[0] > scales[1], (out, scales)  # the least
    titles = [text.text for text in picture.iter() if text.get("font-weight")]
    assert titles == ["All tensors together", "nan", "wide", "zeros", "good"] and len(curves_of(picture)) == 5 * CURVES, titles
    rows, _, out, picture = trend("--top", "2", **files)
    assert "\n... and 2 more (--top 2)\n" in out and len(curves_of(picture)) == 3 * CURVES and len(rows) == 15, out


def all_of_it_is_counted_if_asked():
    part = hard(1, 1000)
    files = {f"step{k}.npy": npy("'<f4'", "(150000,)", floats(*part * 150)) for k in (1, 2)}
    wanted = expected(part)
    wanted.update({key: 150 * wanted[key] for key in ("values", *SHARES)})
    rows, _, out, _ = trend("--exact", **files)
    check(rows[1], wanted)
    assert rows[1]["sampled"] is False and "--exact" not in out, out
    rows, _, out, _ = trend(**files)
    check(rows[1], {key: wanted[key] for key in ("values", "amax", "zeros", "f16_subnormals", "loss_scale_exponent")})
    assert rows[1]["sampled"] is True and "--exact reads all values again." in out, out
    for key in ("e4m3_lost", "e5m2_lost"):
        assert abs(rows[1][key] - wanted[key]) < 0.02 * wanted["values"], (rows[1], wanted)


def the_picture_has_the_numbers():
    steps = {k: [x / k for x in hard(3, 1000)] for k in (100, 250, 300, 1000)}
    for values, count in zip(steps.values(), (0, 300, 100, 700)):
        values[10:10 + count] = [0.0] * count
    _, _, _, picture = trend(**{f"step{k}.npy": npy("'<f4'", "(1000,)", floats(*values)) for k, values in steps.items()})
    assert picture.get("width") == "640" and marks_of(picture) == [], picture.attrib
    lists = [points_of(curve) for curve in curves_of(picture)]
    assert len(lists) == CURVES and all(len(parts) == 1 for parts in lists), lists
    curves = [parts[0] for parts in lists]
    for points in curves:
        assert slope_of([(k, x) for k, (x, _) in zip(steps, points, strict=True)]) > 0, points
        assert all(0 < x < 640 and 0 < y < float(picture.get("height")) for x, y in points), points
    wanted = [expected(list(struct.unpack("<1000f", floats(*values)))) for values in steps.values()]
    shares = [at[key] / (at["values"] - of_nonzero * at["zeros"]) for key, of_nonzero in SHARES.items() for at in wanted]
    assert slope_of([(share, y) for share, (_, y) in zip(shares, sum(curves[:4], []), strict=True)]) < 0
    powers = [math.log2(at["amax"]) for at in wanted] + [at["loss_scale_exponent"] for at in wanted]
    assert slope_of([(power, y) for power, (_, y) in zip(powers, sum(curves[4:], []), strict=True)]) < 0
    assert len({curve.get("stroke") for curve in curves_of(picture)}) == CURVES, "a colour each"
    texts = {text.text for text in picture.iter() if text.text}
    assert {"zeros", "subnormal in f16", "lost in e4m3", "lost in e5m2", "amax", "loss scale", "step",
            "step100.npy to step1000.npy", "200", "1000"} <= texts, texts


def wrong_calls_are_refused():
    w = floats(*gauss(12))
    files = {"a1.npy": npy("'<f4'", "(12,)", w), "a2.npy": npy("'<f4'", "(12,)", w), "cut3.npy": npy("'<f4'", "(12,)", w)[:-1],
             "ids.npy": npy("'<i4'", "(12,)", w), "old": b"old", "none.safetensors": safetensors({}, b"")}
    others = (["--emit", "e"], ["--details"], ["--blocks"], ["--to", "e4m3"], ["--keep-below", "0"], ["--sort", "size"],
              ["--formats", "e4m3"], ["--formats", "e5m2,e4m3"], ["--formats", "e4m3,e3m4"])
    with Folder(**files) as folder:
        (folder / "link2.npy").symlink_to("a2.npy")
        for arguments, wanted in (
                ([], "no file named"), (["a1.npy", "none4.npy"], "none4.npy: cannot be opened"),
                (["a1.npy", "cut3.npy"], "cut3.npy: holds 47 bytes"), (["a1.npy", "a2.npy", "link2.npy"], "link2.npy: is given twice"),
                (["ids.npy", "a1.npy"], "ids.npy: holds no floating-point values"),
                (["none.safetensors"], "none.safetensors: holds no values"),
                (["a1.npy", "--tensor", "b*"], "--tensor: no tensor"), (["a1.npy", "--diff"], "--diff and --trend"),
                (["a1.npy", "a2.npy", "--svg", "a2.npy"], "a2.npy: is an input; it is not overwritten"),
                (["a1.npy", "--json", "x", "--svg", "x"], "x: is named for JSON and for SVG"),
                (["a1.npy", "--svg", "no/x"], "no/x: cannot be written: No such file"),
                *((["a1.npy", "a2.npy", *more], "--trend goes with") for more in others)):
            code, out, errors = bench("--trend", *arguments, "--csv", "old", folder=folder)
            assert code == 2 and out == "" and errors.startswith(f"mpnum inspect: {wanted}"), (arguments, code, out, errors)
            assert errors.count("\n") == 1, errors
        assert {path.name for path in folder.iterdir()} == {*files, "link2.npy"}, "nothing is written"
        assert all((folder / name).read_bytes() == data for name, data in files.items()), "nor changed"
        for option in ("--json", "--csv", "--svg"):
            code, _, errors = bench("--trend", "a1.npy", option, "/dev/full", folder=folder)
            assert (code, errors) == (1, "mpnum inspect: /dev/full: cannot be written: No space left on device\n"), errors


def names_of_tensors_forge_nothing():
    name = "x\n\x1b[31m&<2"
    rows, _, out, picture = trend(**{f"step{k}.safetensors": file_of(**{name: ("F32", [1], floats(math.inf)), "y": ("F32", [1], floats(k))})
                                     for k in (1, 2)})
    assert "\x1b" not in out and "x??[31m&<2 has 1 Inf" in out and {row["tensor"] for row in rows} == {None, name, "y"}, out
    assert "x??[31m&<2" in [text.text for text in picture.iter()], "cleaned and escaped"


def the_run_of_the_page_gives_its_figures():
    """To 1 %, as sums in another order round otherwise."""
    if not importlib.util.find_spec("numpy"):
        raise tap.Skip("no Python package numpy")
    page = (ROOT / "docs/inspect.md").read_text()
    run, wanted = re.search(r"^```python\n(.*?)^```.*?^```\n(step .*?)^```", page, re.M | re.S).groups()
    with Folder() as folder:
        subprocess.run([sys.executable, "-c", run], cwd=folder, check=True)
        code, out, errors = bench("--trend", *sorted(path.name for path in folder.iterdir()), folder=folder)
    assert code == 0 and errors == "" and out.splitlines()[-1] == wanted.splitlines()[-1], (out, errors)
    rows = re.findall(r"^(\d+|\w+\.grad) .*2\^\d+$", wanted, re.M)
    assert rows == ["0", "50", "400", "hidden.grad", "logits.grad"], wanted
    for name in rows:
        pairs = zip(line_of(wanted, name)[1:], line_of(out, name)[1:], strict=True)
        assert all(math.isclose(*(float(cell.replace("2^", "")) for cell in pair), rel_tol=0.01) for pair in pairs), (name, out)


def every_field_is_documented():
    known = set(re.findall(r"`(\w+)`", (ROOT / "docs/inspect.md").read_text()))
    assert {*FIELDS, "trend", "remarks"} <= known, {*FIELDS, "trend"} - known
    _, out, _ = bench("--help")
    assert "  --trend  " in out and max(map(len, out.splitlines())) <= 80, out


sys.exit(tap.run(
    counts_are_those_of_fractions,
    other_types_and_files_are_steps_too,
    a_loss_scale_leaves_half_of_the_range,
    steps_are_in_the_order_of_their_numbers,
    inf_and_nan_are_named_first,
    names_and_shapes_that_differ_are_listed,
    tensors_in_trouble_come_first,
    all_of_it_is_counted_if_asked,
    the_picture_has_the_numbers,
    wrong_calls_are_refused,
    names_of_tensors_forge_nothing,
    the_run_of_the_page_gives_its_figures,
    every_field_is_documented))
