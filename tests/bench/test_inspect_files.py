#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The files that `mpnum inspect` reads, against other writers and readers of them.  test_inspect_files.py PROGRAM"""

import math
import random
import re
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
import tensor_files
from bench_program import Folder, bench, json_of
from tensor_files import GGML, entry, floats, gauss, gguf, npy, npz, safetensors


def module(name):
    try:
        return __import__(name)
    except ImportError as error:
        raise tap.Skip(f"no Python package {name}") from error


def rows_of(*arguments, **files):
    with Folder(**files) as folder:
        code, out, errors = bench(*arguments, "--json", "j", folder=folder)
        assert code == 0 and errors == "", (arguments, code, errors)
        return {row["tensor"]: row for row in json_of(folder / "j")["tensors"]}, out


def same_values(row, other):
    """All that was found of them but what they are called and stored as."""
    for key in row.keys() - {"file", "tensor", "type", "kind"}:
        assert row[key] == other[key], (key, row, other)


# --- GGUF --------------------------------------------------------------------------------------------------

FOUR_BITS = [0, 0.5, 1, 1.5, 2, 3, 4, 6]


def e2m1(code):
    return math.copysign(FOUR_BITS[code & 7], -1 if code & 8 else 1)


def e4m3(code):
    exponent, mantissa = divmod(code & 0x7f, 8)
    return math.ldexp(mantissa + 8 * (exponent > 0), max(exponent, 1) - 10)


def halves(data):
    return [byte & 15 for byte in data] + [byte >> 4 for byte in data]


def block_values(kind, block):
    """The values of a block, by ggml-common.h and ggml-quants.c of ggml."""
    if kind == "q8_0":
        scale, *codes = struct.unpack("<e32b", block)
        return [scale * code for code in codes]
    if kind == "q4_0":
        scale, = struct.unpack("<e", block[:2])
        return [scale * (code - 8) for code in halves(block[2:])]
    if kind == "mxfp4":
        return [math.ldexp(e2m1(code), block[0] - 127) for code in halves(block[1:])]
    return [e4m3(block[k]) * e2m1(code) for k in range(4) for code in halves(block[4 + 8 * k:12 + 8 * k])]


def random_block(kind, source):
    size = GGML[kind][2]
    raw = bytearray(source.randbytes(size))
    if kind in ("q8_0", "q4_0"):
        raw[:2] = struct.pack("<e", source.gauss(0, 0.01))
    elif kind == "mxfp4":
        raw[0] = source.randrange(100, 140)
    else:
        raw[:4] = bytes(source.randrange(0x20, 0x60) for _ in range(4))
    return bytes(raw)


def blocks_of_gguf_are_decoded():
    source = random.Random(5)
    tensors, arrays = [], {}
    for kind in ("q8_0", "q4_0", "mxfp4", "nvfp4"):
        for rows in (3, 700):  # of 192: alone, and in more pieces than are read at once
            count = rows * 192 // GGML[kind][1]
            blocks = [random_block(kind, source) for _ in range(count)]
            name = f"{kind}_{rows}"
            tensors.append((name, kind, [rows, 192], b"".join(blocks)))
            arrays[name] = floats(*(x for block in blocks for x in block_values(kind, block)))
    rows, out = rows_of("a.gguf", "--blocks", **{"a.gguf": gguf(tensors)})
    wanted, _ = rows_of(*(f"{name}.npy" for name in arrays), "--blocks", **{
        f"{name}.npy": npy("'<f4'", f"({len(data) // 768}, 192)", data) for name, data in arrays.items()})
    for name, kind, shape, raw in tensors:
        assert rows[name]["type"] == kind and rows[name]["shape"] == shape, rows[name]
        same_values(rows[name], wanted[f"{name}.npy"])
    assert f"{sum(len(tensor[3]) for tensor in tensors) / 1024:.1f} KiB" in out, out


def plain_types_of_gguf_are_read():
    values = gauss(1536)
    data = {"f32": struct.pack("<1536f", *values), "f16": struct.pack("<1536e", *values),
            "f64": struct.pack("<1536d", *values), "bf16": b"".join(struct.pack("<f", x)[2:] for x in values)}
    descr = {"f32": "<f4", "f16": "<f2", "f64": "<f8", "bf16": "<V2"}
    for version in (2, 3):
        rows, _ = rows_of("a.gguf", **{"a.gguf": gguf([(kind, kind, [3, 512], raw) for kind, raw in data.items()],
                                                      tensor_files.KEYS, version=version)})
        for kind, raw in data.items():
            wanted, _ = rows_of("a.npy", **{"a.npy": npy(f"'{descr[kind]}'", "(3, 512)", raw)})
            assert rows[kind]["type"] == kind, rows
            same_values(rows[kind], wanted["a.npy"])
    rows, out = rows_of("others.gguf", **{"others.gguf": tensor_files.GOOD["others.gguf"]})
    assert set(rows) == {"d", "g"} and "'a' left out: q5_0 is none of" in out and "type 99 is not known" in out, out
    rows, _ = rows_of("others.gguf", "--as", "e4m3", **{"others.gguf": tensor_files.GOOD["others.gguf"]})
    assert rows["f"]["type"] == "e4m3" and rows["f"]["values"] == 4, rows


def gguf_of_its_own_package_is_read():
    """Written by the package gguf, whose quants make the blocks and take them apart."""
    numpy, package = module("numpy"), module("gguf")
    from gguf import quants
    values = (numpy.random.default_rng(2).standard_normal((48, 256)) * 0.02).astype(numpy.float32)
    known = [package.GGMLQuantizationType[kind] for kind in ("Q8_0", "Q4_0", "MXFP4", "BF16", "Q5_0")]
    with Folder() as folder:
        writer = package.GGUFWriter(folder / "a.gguf", "llama")
        writer.add_array("tokenizer.ggml.tokens", ["a", "bc", ""] * 4000)
        writer.add_uint32("llama.block_count", 2)
        writer.add_tensor("half.weight", values.astype(numpy.float16))
        for kind in known:
            writer.add_tensor(kind.name, quants.quantize(values, kind), raw_dtype=kind)
            numpy.save(folder / f"{kind.name}.npy", quants.dequantize(quants.quantize(values, kind), kind))
        for write in ("header", "kv_data", "tensors"):
            getattr(writer, f"write_{write}_to_file")()
        writer.close()
        code, out, errors = bench("a.gguf", *(f"{kind.name}.npy" for kind in known[:-1]), "--json", "j", folder=folder)
        assert code == 0, errors
        rows = {row["tensor"]: row for row in json_of(folder / "j")["tensors"]}
    assert "tensor 'Q5_0' left out" in out and rows["half.weight"]["type"] == "f16", out
    for kind in known[:-2]:
        same_values(rows[kind.name], rows[f"{kind.name}.npy"])
    bf16, wanted = rows["BF16"], rows["BF16.npy"]
    assert (bf16["amax"], bf16["exponents"]) == (wanted["amax"], wanted["exponents"]), bf16
    sizes = {kind.name.lower(): size for kind, size in package.GGML_QUANT_SIZES.items()}
    text = (Path(__file__).resolve().parents[2] / "bench/input/ggml_blocks.c").read_text()
    for number, name, count, size in re.findall(r'(?:OTHER|READ)\((\d+), "(\w+)", (\d+), (\d+)', text):
        assert sizes[name] == (int(count), int(size)), name
        assert package.GGMLQuantizationType(int(number)).name.lower() == name, name


# --- npz ---------------------------------------------------------------------------------------------------

def arrays_of_npz_are_those_of_npy():
    values = gauss(50000)
    members = {"a": npy("'<f4'", "(50000,)", floats(*values)), "b/c": npy("'>f2'", "(4, 500)", struct.pack(">2000e", *values[:2000])),
               "f": npy("", "", floats(*values[:2000]), header="{'descr':'<f4','fortran_order':True,'shape':(500,4)}")}
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        data = npz([(f"{name}.npy", raw) for name, raw in members.items()], method)
        rows, _ = rows_of("a.npz", "--blocks", **{"a.npz": data})
        assert set(rows) == set(members), rows
        for name, raw in members.items():
            wanted, _ = rows_of("x.npy", "--blocks", **{"x.npy": raw})
            same_values(rows[name], wanted["x.npy"])
    rows, _ = rows_of("wide.npz", **{"wide.npz": tensor_files.GOOD["wide.npz"]})  # sizes of 64 bits in the directory
    assert set(rows) == {"a", "f"} and rows["a"]["amax"] == tensor_files.F32_MOST, rows
    rows, out = rows_of("others.npz", **{"others.npz": tensor_files.GOOD["others.npz"]})
    assert set(rows) == {"a", "f"} and "'readme.txt' left out: it is no .npy file" in out, out
    assert "'i.npy' left out: '<i4' is none of" in out and "'e.npy' left out: it has no values" in out, out
    for descr, count in (("<c8", 3), ("<U4", 2), ("|V1", 5)):  # one that is not read leaves the others
        rows, out = rows_of("a.npz", **{"a.npz": npz([("t.npy", npy(repr(descr), f"({count},)", bytes(24))),
                                                      ("a.npy", npy("'<f4'", "(2000,)", floats(*values[:2000])))])})
        assert set(rows) == {"a"} and f"'t.npy' left out: npy type '{descr}' is " in out, (rows, out)


def npz_of_numpy_is_read():
    numpy = module("numpy")
    values = (numpy.random.default_rng(2).standard_normal((300, 100))).astype(numpy.float32)
    with Folder() as folder:
        numpy.save(folder / "w.npy", values)
        numpy.savez(folder / "s.npz", w=values, half=values.astype(numpy.float16), n=numpy.arange(5))
        numpy.savez_compressed(folder / "c.npz", w=values, half=values.astype(numpy.float16), n=numpy.arange(5))
        for name in ("s.npz", "c.npz"):
            code, _, errors = bench(name, "w.npy", "--json", "j", folder=folder)
            assert code == 0, errors
            rows = {row["tensor"]: row for row in json_of(folder / "j")["tensors"]}
            assert set(rows) == {"w", "half", "w.npy"}, rows
            same_values(rows["w"], rows["w.npy"])


def deflated_members_leave_no_file():
    with Folder(**{"deflated.npz": tensor_files.GOOD["deflated.npz"]}) as folder, Folder() as scratch:
        code, _, errors = bench("deflated.npz", folder=folder, env={"TMPDIR": str(scratch)})
        assert code == 0 and list(scratch.iterdir()) == [], errors
        code, _, errors = bench("deflated.npz", folder=folder, env={"TMPDIR": str(scratch / "none")})
        assert (code, errors) == (2, "mpnum inspect: deflated.npz: cannot be unpacked: No such file or directory\n"), errors


# --- what is wrong, and where -------------------------------------------------------------------------------

REASONS = {
    "cut_values.gguf": "tensor 'a' is to have 24 bytes from byte 64 on, the file 87 in all",
    "cut_counts.gguf": "ends inside its GGUF header: byte 16 asks for 8 more",
    "wrong_magic.gguf": "is not a GGUF file: it does not start with GGUF at byte 0",
    "big_endian.gguf": "GGUF: at byte 4 the version is big-endian, which is not read",
    "version9.gguf": "GGUF: at byte 4 version 9 is none of 2, 3",
    "many.gguf": "GGUF: at byte 8 1152921504606846976 tensors, for which the file is too short",
    "key_type.gguf": "GGUF: at byte 37 a value of type 13, which is none",
    "array_long.gguf": "GGUF: at byte 37 an array has more than 2^64 bytes",
    "array_deep.gguf": "GGUF: at byte 133 arrays lie too deep in arrays",
    "name_zero.gguf": "GGUF: at byte 24 a name has a zero byte in it",
    "alignment_3.gguf": "GGUF: at byte 53 general.alignment is no power of two",
    "sizes_5.gguf": "GGUF: at byte 33 a tensor has more than 4 sizes",
    "sizes_wrap.gguf": "GGUF: at byte 33 a tensor has more than 2^64 elements",
    "bytes_wrap.gguf": "GGUF: at byte 24 a tensor has more than 2^64 bytes",
    "offset.gguf": "GGUF: at byte 49 an offset is not aligned",
    "offset_far.gguf": "tensor 'a' is to have 24 bytes from byte 18446744073709551615 on, the file 88 in all",
    "overlap.gguf": "tensor 'b' begins inside another, at byte 96",
    "twice.gguf": "two tensors are named 'a', at bytes 24 and 57",
    "no_blocks.gguf": "GGUF: at byte 53 rows of 16 are no blocks of q8_0",
    "cut_end.npz": "is not an npz file: at byte 401 no ZIP archive ends",
    "count.npz": "npz: at byte 380 there are more members than entries",
    "count_less.npz": "npz: at byte 329 the directory holds more than its entries",
    "directory_far.npz": "npz: at byte 380 the directory is said to lie outside the file",
    "entry_local.npz": "npz: at byte 5 no member begins",
    "entry_far.npz": "npz: at byte 2147483648 a member is said to begin, past the last one",
    "entry_64.npz": "npz: at byte 278 an entry lacks its sizes of 64 bits",
    "encrypted.npz": "npz: at byte 0 a member is encrypted",
    "method.npz": "npz: at byte 0 a member is packed by method 12, not 0 or 8",
    "sizes.npz": "npz: at byte 0 a stored member has two sizes",
    "packed.npz": "npz: at byte 0 a member ends inside the directory",
    "crc.npz": "npz: at byte 0 the checksum of a member is wrong",
    "size_more.npz": "npz: at byte 0 a member has other sizes than its entry says",
    "size_less.npz": " a member is no deflated data of its size",
    "size_huge.npz": "npz: at byte 0 a member is said to be larger than it can be",
    "twice.npz": "npz: at byte 278 the directory names 'a' twice",
    "member.npz": "npz: 'a.npy' at byte 55: holds 23 bytes of values where its shape asks for more",
    "cut_header.safetensors": "ends inside its safetensors header, at byte 40",
    "unfinished.safetensors": "safetensors header is not valid JSON: '}' expected near end of file, at byte 29",
    "cut_header.npy": "ends inside its npy header, at byte 30",
    "truth.npy": "npy header: no comma or brace after a field, at byte 49",
    "shape_list.npy": "npy header: the shape is not a tuple, at byte 60",
}


def what_is_wrong_is_said_with_its_byte():
    with Folder(**{name: tensor_files.HOSTILE[name] for name in REASONS}) as folder:
        for name, wanted in REASONS.items():
            code, out, errors = bench(name, folder=folder)
            assert code == 2 and out == "" and errors.startswith(f"mpnum inspect: {name}: "), (name, code, errors)
            assert errors.endswith(f"{wanted}\n"), (name, errors)


# --- what is not read --------------------------------------------------------------------------------------

def advice_for(name):
    with Folder(**{name: b"\x80\x02}"}) as folder:
        code, out, errors = bench(name, folder=folder)
    head, *lines = errors.splitlines()
    assert code == 2 and out == "" and head.startswith(f"mpnum inspect: {name}: is a") and len(lines) == 3, errors
    assert all(line.startswith("  ") and len(line) <= 100 for line in lines), errors
    return "\n".join(line.strip() for line in lines)


def pickles_and_graphs_are_refused_with_what_converts_them():
    assert advice_for("m.pt") == advice_for("m.pth") == advice_for("pytorch_model.bin")
    compile(advice_for("m.onnx"), "advice", "exec")
    torch, _ = module("torch"), module("safetensors")
    with Folder() as folder:
        tied = torch.arange(12.0).reshape(3, 4)
        torch.save({"w": tied, "same": tied, "turned": tied.T}, folder / "model.pt")
        subprocess.run([sys.executable, "-c", advice_for("m.pt")], cwd=folder, check=True)
        code, _, errors = bench("model.safetensors", "--json", "j", folder=folder)
        assert code == 0, errors
        rows = {row["tensor"]: row for row in json_of(folder / "j")["tensors"]}
    assert {name: (row["shape"], row["amax"]) for name, row in rows.items()} == {
        "w": ([3, 4], 11), "same": ([3, 4], 11), "turned": ([4, 3], 11)}, rows


def onnx_is_converted_by_its_lines():
    onnx, numpy, _ = module("onnx"), module("numpy"), module("safetensors")
    values = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
    graph = onnx.helper.make_graph([], "g", [], [], [onnx.numpy_helper.from_array(values, "w")])
    with Folder() as folder:
        onnx.save(onnx.helper.make_model(graph), str(folder / "model.onnx"))
        subprocess.run([sys.executable, "-c", advice_for("m.onnx")], cwd=folder, check=True)
        code, _, errors = bench("model.safetensors", "--json", "j", folder=folder)
        assert code == 0 and json_of(folder / "j")["tensors"][0]["amax"] == 11, errors


# --- names -------------------------------------------------------------------------------------------------

def named(*names, count=1024):
    header = {name: entry("F32", [count], 4 * count * i, 4 * count * (i + 1)) for i, name in enumerate(names)}
    return safetensors(header, floats(*gauss(count)) * len(names))


def a_part_is_claimed_by_the_last_word_alone():
    kinds = {"fc.input": "activations", "fc.input.0": "activations", "model/fc1_output:0": "activations",
             "hidden_states": "activations", "logits": "activations", "fc.input.grad": "gradients", "Hidden": "activations",
             "input_conv/filter": "values", "x/input_2/Read_1:0": "values", "output_gate": "values", "reinput": "values",
             "hidden_size": "values", "inputs.mask": "values", "activation_3": "activations", "output.weight": "weights",
             "input_layernorm.weight": "weights", "jax2tf_f_/input_proj/kernel:0": "weights"}
    rows, _ = rows_of("a.safetensors", **{"a.safetensors": named(*kinds)})
    assert {name: rows[name]["kind"] for name in kinds} == kinds


def names_are_cut_where_they_are_alike():
    names = [f"jax2tf_magika_convert_to_saved_model_/{part}_{i}/weights_of_the_layer_const_{end}_st_2:0"
             for part, end in (("conv", "a"), ("dense", "b")) for i in range(12)]
    _, out = rows_of("a.safetensors", **{"a.safetensors": named(*names)})
    shown = [line.split()[0] for line in out.splitlines()[1:25]]
    assert len(set(shown)) == 24 and max(map(len, out.splitlines())) <= 80, out
    for name in shown:
        assert re.search(r"(conv|dense)_\d+(/|\.\.\.)", name) and "..." in name and "~" not in name, name
    names = [f"the_network_layer_{i}_{part}_of_a_model_that_has_long_names_of_tensors" for part in ("q", "k") for i in range(9)]
    _, out = rows_of("a.safetensors", **{"a.safetensors": named(*names)})
    for line in out.splitlines()[1:19]:
        assert re.match(r"the_network_layer_\d_[qk]", line), line


def bytes_that_are_no_utf8_become_question_marks():
    """Each of what Unicode's table of well-formed bytes leaves out; 9b alone begins a command to some terminals."""
    for name, shown in ((b"w\x9b31m", "w?31m"), (b"\xffw\xc3", "?w?"), ("w\u00e9\u20ac\U0001d11e".encode(), "w\u00e9\u20ac\U0001d11e"),
                        (b"w\xe0\x9f\xbfx", "w???x"), (b"w\xed\xa0\x80x", "w???x"), (b"w\xf0\x8f\xbf\xbf", "w????"),
                        (b"w\xf4\x90\x80\x80", "w????"), (b"w\xc1\xbf\xf5", "w???"), (b"w\xe2\x82.", "w??."),
                        (b"w\xf0\x9d\x84.", "w???."), ("w\u0080.".encode(), "w??."), ("w\u00a0.".encode(), "w\u00a0.")):
        with Folder(**{"a.gguf": gguf([(name, "f32", [32, 32], floats(*gauss(1024)))])}) as folder:
            for arguments in ([], ["--tensor", "*"]):
                code, out, errors = bench(*arguments, "a.gguf", folder=folder)
                assert code == 0 and errors == "" and shown in out, (name, code, out, errors)


def small_tensors_have_one_line():
    values = floats(*gauss(2048))
    files = {"a.safetensors": safetensors({
        "fc.weight": entry("F32", [32, 64], 0, 8192), "fc.bias": entry("F32", [32], 8192, 8320),
        "norm.weight": entry("F32", [1023], 8320, 12412), "bad": entry("F32", [2], 12412, 12420)},
        values + floats(*gauss(31), 70000.0) + floats(*gauss(1023)) + floats(math.nan, 1.0))}
    rows, out = rows_of("a.safetensors", **files)
    assert set(rows) == {"fc.weight", "fc.bias", "norm.weight", "bad"}, rows
    shown = [line.split()[0] for line in out.split("\n\n")[0].splitlines()[1:]]
    assert shown == ["bad", "fc.weight"], out
    assert "\nSmall: 2 tensors of fewer than 1024 values, 4.1 KiB, amax 7e+04; not in f16 1, bf16 0\n" in out, out
    _, out = rows_of("a.safetensors", "--tensor", "fc*", **files)  # asked for
    assert {line.split()[0] for line in out.splitlines()[1:3]} == {"fc.bias", "fc.weight"}, out


sys.exit(tap.run(
    blocks_of_gguf_are_decoded,
    plain_types_of_gguf_are_read,
    gguf_of_its_own_package_is_read,
    arrays_of_npz_are_those_of_npy,
    npz_of_numpy_is_read,
    deflated_members_leave_no_file,
    what_is_wrong_is_said_with_its_byte,
    pickles_and_graphs_are_refused_with_what_converts_them,
    onnx_is_converted_by_its_lines,
    a_part_is_claimed_by_the_last_word_alone,
    names_are_cut_where_they_are_alike,
    bytes_that_are_no_utf8_become_question_marks,
    small_tensors_have_one_line))
