#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `mpnum inspect` says of all tensors of a file together, and the file that --emit writes.
test_inspect_emit.py PROGRAM"""

import json
import math
import os
import random
import resource
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import block_reference
import tap
from bench_program import FORMATS, PROGRAM, SECONDS, Folder, bench, json_of
from block_reference import f32, rounded
from tensor_files import entry, file_of, floats, gauss, gguf, npy, safetensors

FORMATS_OF = {"e4m3": "e4m3", "e5m2": "e5m2", "mx_e4m3": "e4m3", "mx_e2m3": "e2m3", "mx_e2m1": "e2m1", "nvfp4": "e2m1"}
BITS = {"mx_e4m3": 8, "mx_e2m3": 6, "mx_e2m1": 4, "nvfp4": 4}
SIZES = {"F64": 8, "I64": 8, "F32": 4, "F16": 2, "BF16": 2, "F8_E4M3": 1, "F8_E5M2": 1, "F8_E8M0": 1, "U8": 1}
ROUNDED = {"f16": ("<e", "F16"), "bf16": (None, "BF16")}


def module(name):
    try:
        return __import__(name)
    except ImportError as error:
        raise tap.Skip(f"no Python package {name}") from error


def tensors_of(path):
    """(dtype, shape, bytes) by name; all lie in a row, at multiples of their elements' sizes."""
    data = Path(path).read_bytes()
    length, = struct.unpack("<Q", data[:8])
    header, values, at = json.loads(data[8:8 + length]), data[8 + length:], 0
    assert length % 8 == 0 and header.pop("__metadata__")["format"] == "pt", header
    made = {}
    for name, about in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = about["data_offsets"]
        size = SIZES[about["dtype"]]
        assert begin == at and begin % size == 0 and end - begin == size * math.prod(about["shape"]), (name, about, at)
        made[name], at = (about["dtype"], about["shape"], values[begin:end]), end
    assert at == len(values), (at, len(values))
    return made


def run(*arguments, **files):
    """(the plans by format, the tensors of the file emitted, the output)."""
    with Folder(**files) as folder:
        code, out, errors = bench(*arguments, "--json", "j", folder=folder)
        assert code == 0 and errors == "", (code, errors)
        made = tensors_of(folder / "out.safetensors") if "--emit" in arguments else None
        result = json_of(folder / "j")
    return {plan["format"]: plan for plan in result["plans"]}, made, out, result


# --- values ------------------------------------------------------------------------------------------------

def value_of(element, code):
    _, exponent_bits, mantissa_bits, bias, *_ = FORMATS[element]
    exponent = code >> mantissa_bits & ((1 << exponent_bits) - 1)
    mantissa = (code & ((1 << mantissa_bits) - 1)) + ((exponent > 0) << mantissa_bits)
    return math.copysign(math.ldexp(mantissa, max(exponent, 1) - bias - mantissa_bits),
                         -1 if code >> (exponent_bits + mantissa_bits) & 1 else 1)


def codes_of(raw, bits):
    """The low bits first."""
    whole = int.from_bytes(raw, "little")
    return [whole >> at & ((1 << bits) - 1) for at in range(0, 8 * len(raw), bits)]


def decoded(made, name, kind):
    """The values of a tensor, by the names of compressed-tensors."""
    element = FORMATS_OF[kind]
    dtype, shape, raw = made[name + ("_packed" if BITS.get(kind, 8) < 8 else "")]
    scale_dtype, scale_shape, scales = made[f"{name}_scale"]
    if kind not in BITS:
        assert (dtype, scale_dtype, scale_shape) == (f"F8_{element.upper()}", "F32", [1]), made
        return [value_of(element, code) * struct.unpack("<f", scales)[0] for code in raw]
    values = [value_of(element, code) for code in codes_of(raw, BITS[kind])]
    block = 16 if kind == "nvfp4" else 32
    assert dtype == ("F8_E4M3" if kind == "mx_e4m3" else "U8") and len(scales) == len(values) // block, made
    assert scale_shape == [*shape[:-1], shape[-1] * 8 // BITS[kind] // block], (shape, scale_shape)
    if kind == "nvfp4":
        assert scale_dtype == "F8_E4M3" and made[f"{name}_global_scale"][:2] == ("F32", [1]), made
        whole, = struct.unpack("<f", made[f"{name}_global_scale"][2])
        return [x * value_of("e4m3", scales[i // block]) / whole for i, x in enumerate(values)]
    assert scale_dtype == "U8", made
    return [math.ldexp(x, scales[i // block] - 127) for i, x in enumerate(values)]


def expected(values, kind):
    """By the definitions; blocks by block_reference."""
    amax, element = max(map(abs, values)), FORMATS_OF[kind]
    if kind not in BITS:
        k = -140
        while math.ldexp(amax, k + 1) <= FORMATS[element][4]:
            k += 1
        return [math.ldexp(rounded(math.ldexp(x, k), element)[0], -k) for x in values]
    block, rule = (16, "nvfp4") if kind == "nvfp4" else (32, "mx")
    return [value for i in range(0, len(values), block)
            for value, _, _ in block_reference.decoded(values[i:i + block], element, rule, f32(448 * 6 / amax))]


def what_is_emitted_has_the_values_of_its_format():
    """Past a piece of 16,384 values, with three axes; from f32, bf16 and a file of blocks."""
    w, h = gauss(64 * 288), gauss(2 * 16 * 64, 3.0, 2)
    half = [struct.unpack("<f", b"\0\0" + struct.pack("<f", x)[2:])[0] for x in h]
    files = {"a.safetensors": file_of(w=("F32", [64, 288], floats(*w)), h=(
        "BF16", [2, 16, 64], b"".join(struct.pack("<f", x)[2:] for x in half)))}
    for kind in FORMATS_OF:
        plans, made, out, _ = run("a.safetensors", "--to", kind, "--emit", "out.safetensors", "--keep-below", "0", **files)
        for name, values in (("w", w), ("h", half)):
            assert decoded(made, name, kind) == expected(values, kind), (kind, name)
        assert f"emits {kind} to out.safetensors\n" in out and plans[kind]["quantised"] == 2, out
        assert plans[kind]["bytes_then"] == sum(len(raw) for _, _, raw in made.values()), plans[kind]
        noise = sum((x - y) ** 2 for x, y in zip(w, expected(w, kind)))
        sqnr = {"w": 10 * math.log10(sum(x * x for x in w) / noise)}
        noise = sum((x - y) ** 2 for x, y in zip(half, expected(half, kind)))
        sqnr["h"] = 10 * math.log10(sum(x * x for x in half) / noise)
        worst = min(sqnr, key=sqnr.get)
        assert plans[kind]["worst"] == worst and math.isclose(plans[kind]["worst_sqnr"], sqnr[worst], rel_tol=1e-6), (plans[kind], sqnr)
        whole = -10 * math.log10((len(w) * 10 ** (-sqnr["w"] / 10) + len(h) * 10 ** (-sqnr["h"] / 10)) / (len(w) + len(h)))
        assert math.isclose(plans[kind]["sqnr"], whole, rel_tol=1e-6), (plans[kind], whole)


# --- what stays --------------------------------------------------------------------------------------------

WIDE = [x * 10.0 ** (i % 12 - 6) for i, x in enumerate(gauss(2048, 1.0, 3))]  # too wide for four bits


def mixed():
    w = gauss(2048)
    return file_of(**{
        "fc.weight": ("F32", [32, 64], floats(*w)), "wide.weight": ("F32", [32, 64], floats(*WIDE)),
        "fc.bias": ("F32", [32], floats(*gauss(32))), "norm.weight": ("F32", [2048], floats(*w)),
        "tiny.weight": ("F32", [2048], floats(*(x / 4096 for x in w))),  # f16 holds it with fewer bits than bf16
        "nan.weight": ("F32", [32, 64], floats(*w[:-1], math.nan)), "fc.weight.exp_avg": ("F32", [32, 64], floats(*w)),
        "odd.weight": ("F16", [64, 33], struct.pack("<2112e", *gauss(2112))), "ids": ("I64", [3], struct.pack("<3q", 1, 2, 3)),
        "scales": ("F8_E8M0", [2048], bytes([127] * 2048)), "none": ("F32", [0, 4], b""), "zero.weight": ("F32", [32, 64], bytes(8192)),
        "huge.weight": ("F64", [32, 64], struct.pack("<2048d", *w[:-1], 1e300)),
        "small.grad": ("F32", [32, 64], floats(*(x * 2.0 ** (-12 * (i % 3)) for i, x in enumerate(w))))})


def what_stays_is_as_it_was_or_in_16_bits():
    data = mixed()
    with Folder(**{"a.safetensors": data}) as folder:
        Path(folder, "out.safetensors").write_bytes(b"")
        before = {}
        header = json.loads(data[8:8 + struct.unpack("<Q", data[:8])[0]])
        values = data[8 + struct.unpack("<Q", data[:8])[0]:]
        for name, about in header.items():
            begin, end = about["data_offsets"]
            before[name] = (about["dtype"], about["shape"], values[begin:end])
    plans, made, out, _ = run("a.safetensors", "--to", "nvfp4", "--emit", "out.safetensors", **{"a.safetensors": data})
    why = {stay["tensor"]: (stay["why"], stay["type"]) for stay in plans["nvfp4"]["stays"]}
    assert why == {"fc.bias": ("small", "f32"), "norm.weight": ("one_axis", "f16"), "tiny.weight": ("one_axis", "bf16"), "nan.weight": ("nonfinite", "f32"),
                   "fc.weight.exp_avg": ("state", "f32"), "odd.weight": ("axis", "f16"), "scales": ("unsigned", "e8m0"),
                   "zero.weight": ("zeros", "f16"), "huge.weight": ("past_f32", "f64"), "wide.weight": ("vanished", "bf16"),
                   "small.grad": ("lost", "bf16")}, why
    for name in ("fc.bias", "nan.weight", "fc.weight.exp_avg", "odd.weight", "scales", "ids", "none", "huge.weight"):
        assert made[name] == before[name], name
    floats_in = struct.unpack("<2048f", before["norm.weight"][2])
    assert made["norm.weight"] == ("F16", [2048], struct.pack("<2048e", *floats_in)), "to nearest even, as Python does"
    assert made["wide.weight"][:2] == ("BF16", [32, 64]) and made["zero.weight"] == ("F16", [32, 64], bytes(4096)), made
    wide = [struct.unpack("<f", b"\0\0" + made["wide.weight"][2][i:i + 2])[0] for i in range(0, 4096, 2)]
    assert all(abs(x - y) <= abs(x) * 2 ** -8 for x, y in zip(WIDE, wide)), "half a place of 8 bits"
    assert decoded(made, "fc.weight", "nvfp4") == expected(gauss(2048), "nvfp4")
    assert set(made) == set(before) - {"fc.weight"} | {"fc.weight_packed", "fc.weight_scale", "fc.weight_global_scale"}, set(made)
    assert "    wide.weight stays in bf16: 8" in out and " % lost > 50 %\n" in out and "    ... and 2 more stay (--json names them)\n" in out, out
    assert "bias" not in out.split("All tensors")[1] and out.endswith("  emits nvfp4 to out.safetensors\n"), out


def values_below_f32_are_no_zeros():
    data = file_of(**{"low.weight": ("F64", [32, 64], struct.pack("<2048d", *(x * 1e-300 for x in gauss(2048))))})
    plans, _, out, _ = run("a.safetensors", "--to", "nvfp4", **{"a.safetensors": data})
    assert {stay["why"] for plan in plans.values() for stay in plan["stays"]} == {"past_f32"}, plans
    assert "zeros alone" not in out, out


def the_least_sqnr_is_the_users():
    files = {"a.safetensors": mixed()}
    plans, _, out, _ = run("a.safetensors", "--to", "mx_e2m1", **files)
    assert plans["mx_e2m1"]["quantised"] == 0 and "  mx_e2m1  takes none of them\n" in out, out
    figure = {stay["tensor"]: stay for stay in plans["mx_e2m1"]["stays"]}["fc.weight"]
    assert figure["why"] == "sqnr" and 18 < figure["figure"] < 20, figure
    plans, _, _, _ = run("a.safetensors", "--to", "mx_e2m1", "--keep-below", "18", **files)
    assert plans["mx_e2m1"]["quantised"] == 1 and plans["mx_e2m1"]["worst_sqnr"] == figure["figure"], plans
    plans, _, _, _ = run("a.safetensors", "--to", "mx_e2m1", "--keep-below", str(figure["figure"] + 0.001), **files)
    assert plans["mx_e2m1"]["quantised"] == 0, plans
    plans, _, out, _ = run("a.safetensors", "--keep-below", "40", **files)
    assert {plan["quantised"] for plan in plans.values()} <= {0, 1}, plans  # zeros alone are exact
    stay = {stay["tensor"]: stay["why"] for stay in plans["e4m3"]["stays"]}
    assert stay["fc.weight"] == "sqnr" and stay["small.grad"] == "lost", stay


def a_product_that_is_lost_keeps_its_weights():
    """What flows in meets the small columns alone, of which e4m3 has two bits."""
    w = [x * (1 if i % 64 < 32 else 2.0 ** -15) for i, x in enumerate(gauss(2048))]
    h = [0.0 if i % 64 < 32 else x for i, x in enumerate(gauss(2048, 1.0, 2))]
    files = {"a.safetensors": file_of(**{"fc.weight": ("F32", [32, 64], floats(*w)), "fc.input": ("F32", [32, 64], floats(*h))})}
    plans, _, out, _ = run("a.safetensors", "--formats", "e4m3", **files)
    stay = {stay["tensor"]: stay for stay in plans["e4m3"]["stays"]}["fc.weight"]
    assert stay["why"] == "product" and 0 < stay["figure"] < 20 and "fc.weight stays in f16: product " in out or stay["type"] == "bf16", (stay, out)


def the_formats_of_all_follow_the_rule():
    """Of plain ones the fewest bytes, then the most SQNR, of gradients the widest range; of blocks the fewest bytes at
    most 1 dB below; with a least SQNR the fewest bytes that have it."""
    w = floats(*gauss(128 * 256))
    weights = {"a.safetensors": file_of(w=("F32", [128, 256], w), v=("F32", [128, 256], w))}
    plans, _, out, _ = run("a.safetensors", **weights)
    assert list(plans) == ["e4m3", "mx_e2m3"] and plans["e4m3"]["bytes_now"] == 2 * 131072, plans
    assert plans["e4m3"]["bytes_then"] == 2 * (32768 + 4) and plans["mx_e2m3"]["bytes_then"] == 2 * (24576 + 1024), plans
    assert "\nAll tensors, 256.0 KiB now\n  e4m3     64.0 KiB (25 %), SQNR 31.5 dB, lowest 31.5 of " in out, out
    assert "\n  mx_e2m3  50.0 KiB (20 %), SQNR 31.0 dB, lowest 31.0 of " in out, out
    plans, _, _, _ = run("a.safetensors", "--keep-below", "20", **weights)
    assert list(plans) == ["e4m3", "nvfp4"], plans
    plans, _, _, _ = run("a.safetensors", "--keep-below", "18", **weights)
    assert list(plans) == ["e4m3", "mx_e2m1"], plans
    plans, _, _, _ = run("a.safetensors", **{"a.safetensors": file_of(**{"w.grad": ("F32", [128, 256], w)})})
    assert list(plans)[0] == "e5m2", plans
    plans, _, _, result = run("a.safetensors", "--formats", "e5m2", **weights)
    assert list(plans)[0] == "e5m2" and list(plans)[1] == "mx_e2m3", plans
    assert all("blocks" not in row and row["block_format"] is None for row in result["tensors"]), "only with --blocks"


def blocks_of_ggml_become_others():
    """Of q8_0 the values; what stays is written as they are."""
    source = random.Random(4)
    codes = [source.randrange(-127, 128) for _ in range(2048 + 32)]
    raw = b"".join(struct.pack("<e32b", 0.25, *codes[i:i + 32]) for i in range(0, len(codes), 32))
    values = [code * 0.25 for code in codes]
    files = {"a.gguf": gguf([("w.weight", "q8_0", [32, 64], raw[:64 * 34]), ("b", "q8_0", [32], raw[64 * 34:]),
                             ("other", "q5_0", [32], bytes(22))])}
    plans, made, out, _ = run("a.gguf", "--to", "nvfp4", "--emit", "out.safetensors", "--keep-below", "0", **files)
    assert decoded(made, "w.weight", "nvfp4") == expected(values[:2048], "nvfp4")
    assert made["b"] == ("F32", [32], floats(*values[2048:])) and plans["nvfp4"]["bytes_now"] == 65 * 34, plans
    assert "  emits nvfp4 to out.safetensors, without 1 that are not read\n" in out, out


# --- read by others ----------------------------------------------------------------------------------------

def emitted(kind, folder):
    (folder / "a.safetensors").write_bytes(mixed())
    code, _, errors = bench("a.safetensors", "--to", kind, "--emit", f"{kind}.safetensors", "--keep-below", "0", folder=folder)
    assert code == 0, errors
    return folder / f"{kind}.safetensors"


def torch_reads_what_is_emitted():
    torch, _ = module("torch"), module("safetensors")
    from safetensors.torch import load_file
    w = gauss(2048)
    with Folder() as folder:
        for kind in FORMATS_OF:
            made = load_file(emitted(kind, folder))
            assert made["ids"].tolist() == [1, 2, 3] and made["fc.bias"].dtype == torch.float32
            assert made["norm.weight"].tolist() == torch.tensor(w).half().tolist()
            scale = made["fc.weight_scale"]
            if kind in ("e4m3", "e5m2"):
                values = made["fc.weight"].float() * scale
            elif kind == "mx_e4m3":
                values = (made["fc.weight"].double().unflatten(1, (2, 32)) * 2.0 ** (scale.double() - 127)[..., None]).flatten(1)
            else:
                continue
            assert values.flatten().tolist() == expected(w, kind), kind


def compressed_tensors_reads_what_is_emitted():
    """Codes by its own unpacking, scales by its own names."""
    torch, _, _ = module("torch"), module("safetensors"), module("compressed_tensors")
    from compressed_tensors.compressors.mx_utils import decompress_mx_scale
    from compressed_tensors.compressors.mxfp6.helpers import unpack_fp6_from_uint8
    from compressed_tensors.compressors.nvfp4.helpers import unpack_fp4_from_uint8
    from safetensors.torch import load_file
    w = gauss(2048)
    with Folder() as folder:
        for kind in ("mx_e2m3", "mx_e2m1", "nvfp4"):
            made = load_file(emitted(kind, folder))
            unpack = unpack_fp6_from_uint8 if kind == "mx_e2m3" else unpack_fp4_from_uint8
            codes = unpack(made["fc.weight_packed"], 32, 64, torch.float64)
            scale, size = made["fc.weight_scale"], 16 if kind == "nvfp4" else 32
            scale = scale.double() / made["fc.weight_global_scale"].double() if kind == "nvfp4" else decompress_mx_scale(scale).double()
            values = (codes.unflatten(1, (-1, size)) * scale[..., None]).flatten()
            wanted = torch.tensor(expected(w, kind), dtype=torch.float64)
            assert torch.allclose(values, wanted, rtol=1e-15, atol=0), kind


# --- bad input ---------------------------------------------------------------------------------------------

def refused(*arguments, folder, code=2):
    """The line of a call that changes nothing in the folder."""
    before = {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}
    got, out, errors = bench(*arguments, folder=folder)
    after = {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}
    assert got == code and errors.startswith("mpnum inspect: ") and errors.count("\n") == 1, (arguments, got, errors)
    assert before == after, (arguments, set(after) - set(before))
    return errors[len("mpnum inspect: "):-1]


def what_is_there_is_not_overwritten():
    with Folder(**{"a.safetensors": mixed(), "old.safetensors": b"kept"}) as folder:
        (folder / "link.safetensors").symlink_to("a.safetensors")
        (folder / "broken.safetensors").symlink_to("nowhere/x")
        there = "old.safetensors: is there already; --force overwrites it"
        assert refused("a.safetensors", "--emit", "old.safetensors", folder=folder) == there
        for name in ("a.safetensors", "./a.safetensors", "link.safetensors"):
            for force in ([], ["--force"]):
                wanted = f"{name}: is an input; it is not overwritten"
                assert refused("a.safetensors", "--emit", name, *force, folder=folder) == wanted, name
        assert "is there already" in refused("a.safetensors", "--emit", "broken.safetensors", folder=folder)
        assert "cannot be written: No such file" in refused("a.safetensors", "--emit", "no/such.safetensors", folder=folder)
        assert "is named for JSON and for --emit" in refused("a.safetensors", "--emit", "x", "--json", "x", folder=folder)
        assert bench("a.safetensors", "--emit", "old.safetensors", "--force", folder=folder)[0] == 0
        assert "fc.weight_scale" in tensors_of(folder / "old.safetensors")
        cut = (folder / "a.safetensors").read_bytes()[:-1]
        (folder / "cut.safetensors").write_bytes(cut)
        assert "lie outside" in refused("cut.safetensors", "--emit", "new.safetensors", folder=folder)


def wrong_calls_are_refused():
    w = ("F32", [32, 64], floats(*gauss(2048)))
    with Folder(**{"a.safetensors": file_of(**{"x": w, "x_scale": ("F32", [1], floats(1.0))}),
                   "f.npy": npy("", "", w[2], header="{'descr':'<f4','fortran_order':True,'shape':(64,32)}")}) as folder:
        assert refused("a.safetensors", "--emit", "o", folder=folder) == "o: two tensors would be named 'x_scale'"
        assert "'f.npy' is in Fortran's order" in refused("f.npy", "--emit", "o", folder=folder)
        assert "--emit writes all tensors" in refused("a.safetensors", "--emit", "o", "--tensor", "x", folder=folder)
        assert refused("a.safetensors", "--to", "e3m4", folder=folder).startswith("--to takes e4m3, e5m2, mx_e4m3")
        assert refused("a.safetensors", "--to", "e4m3", "--formats", "e5m2", folder=folder) == "--to: e4m3 is not among the --formats"
        assert "e3m4 has no place in safetensors" in refused("a.safetensors", "--formats", "e3m4", "--emit", "o", folder=folder)
        for floor in ("x", "-1", "201", "", "1x", "nan", "inf"):
            assert "--keep-below takes a number of dB" in refused("a.safetensors", "--keep-below", floor, folder=folder), floor


def no_room_leaves_no_half_of_a_file():
    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
    with Folder(**{"a.safetensors": mixed()}) as folder:
        full = bench("a.safetensors", "--emit", "/dev/full", folder=folder)
        assert (full[0], full[2]) == (1, "mpnum inspect: /dev/full: cannot be written: No space left on device\n"), full
        code, _, errors = bench("a.safetensors", "--emit", "o.safetensors", folder=folder, preexec_fn=limited)
        assert (code, errors) == (1, "mpnum inspect: o.safetensors: cannot be written: File too large\n"), (code, errors)
        assert os.listdir(folder) == ["a.safetensors"], os.listdir(folder)


def an_input_that_is_cut_leaves_no_half_of_a_file():
    """While it is written: nothing but zeros, which take no room."""
    size = 2 ** 28

    def has_begun():
        try:
            return any(other.stat().st_size > 2 ** 16 for other in folder.glob("o.safetensors.*"))
        except FileNotFoundError:  # renamed just now
            return False

    with Folder(**{"a.safetensors": safetensors({"w": entry("F32", [size // 16384, 4096], 0, size)})}) as folder:
        path = folder / "a.safetensors"
        os.truncate(path, path.stat().st_size + size)
        child = subprocess.Popen([PROGRAM, path, "--to", "e4m3", "--emit", "o.safetensors"], cwd=folder, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True)
        while child.poll() is None and not has_begun():
            time.sleep(0.001)
        cut = child.poll() is None
        os.truncate(path, 2 ** 20)
        errors = child.communicate(timeout=SECONDS)[1]
        if not cut:
            raise tap.Skip("it was written before it could be cut")
        assert (child.returncode, errors) == (
            1, "mpnum inspect: o.safetensors: cannot be written: an input became shorter while it was read\n"), errors
        assert os.listdir(folder) == ["a.safetensors"], os.listdir(folder)


sys.exit(tap.run(
    what_is_emitted_has_the_values_of_its_format,
    what_stays_is_as_it_was_or_in_16_bits,
    values_below_f32_are_no_zeros,
    the_least_sqnr_is_the_users,
    a_product_that_is_lost_keeps_its_weights,
    the_formats_of_all_follow_the_rule,
    blocks_of_ggml_become_others,
    torch_reads_what_is_emitted,
    compressed_tensors_reads_what_is_emitted,
    what_is_there_is_not_overwritten,
    wrong_calls_are_refused,
    no_room_leaves_no_half_of_a_file,
    an_input_that_is_cut_leaves_no_half_of_a_file))
