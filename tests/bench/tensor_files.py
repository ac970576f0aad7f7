# SPDX-License-Identifier: MIT
"""Tensor files made by hand: good ones, and ones that a reader of files must refuse.

GOOD and HOSTILE map a file name to its bytes. They feed the tests/test_bench_*.py and, through
tests/fuzz/make-seeds, the fuzzers."""

import io
import json
import random
import struct
import zipfile


def npy(descr, shape, data, version=1, header=None):
    """shape and descr as Python literals in text; header replaces the whole text."""
    text = header if header is not None else (
        "{'descr': %s, 'fortran_order': False, 'shape': %s, }" % (descr, shape))
    text = text.encode("latin-1") + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + data


def safetensors(header, data=b"", length=None):
    """header: a dict, or its JSON text as bytes; length: what the file claims the text has."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def gauss(count, deviation=0.02, seed=1):
    """Values that f32 has."""
    source = random.Random(seed)
    return list(struct.unpack(f"<{count}f", floats(*(source.gauss(0, deviation) for _ in range(count)))))


def file_of(**tensors):
    """A safetensors of name: (dtype, shape, bytes)."""
    header, data = {}, b""
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = entry(dtype, shape, len(data), len(data) + len(raw))
        data += raw
    return safetensors(header, data)


def text(value):
    """A string of GGUF."""
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(data)) + data


# Types of GGUF: number, values and bytes of a block (gguf.md and ggml-common.h of ggml).
GGML = {"f32": (0, 1, 4), "f16": (1, 1, 2), "q4_0": (2, 32, 18), "q5_0": (6, 32, 22), "q8_0": (8, 32, 34),
        "i8": (24, 1, 1), "i32": (26, 1, 4), "f64": (28, 1, 8), "bf16": (30, 1, 2), "mxfp4": (39, 32, 17),
        "nvfp4": (40, 64, 36)}


def gguf(tensors, keys=b"", key_count=None, version=3, alignment=32, count=None, past=b""):
    """tensors: (name, type, shape as NumPy has it, bytes); a fifth member is the offset. keys: of each its bytes."""
    entries, data = b"", b""
    for name, kind, shape, raw, *offset in tensors:
        data += bytes(-len(data) % alignment)
        number = GGML[kind][0] if kind in GGML else kind
        entries += text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
        entries += struct.pack("<IQ", number, offset[0] if offset else len(data))
        data += raw
    keys = [keys] if keys and isinstance(keys, bytes) else list(keys)
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors) if count is None else count,
                                 len(keys) if key_count is None else key_count) + b"".join(keys) + entries
    return head + bytes(-len(head) % alignment) + data + past


def key(name, kind, value):
    return text(name) + struct.pack("<I", kind) + value


def npz(members, method=zipfile.ZIP_STORED, **settings):
    """A ZIP archive of these files, by Python's own writer."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method, **settings) as archive:
        for name, data in members:
            with archive.open(zipfile.ZipInfo(name) if method == zipfile.ZIP_STORED else name, "w", force_zip64=True) as to:
                to.write(data)
    return made.getvalue()


def wide_npz(members):
    """With sizes and places of 64 bits, as of an archive past 4 GiB."""
    limit, zipfile.ZIP64_LIMIT = zipfile.ZIP64_LIMIT, 10
    try:
        return npz(members)
    finally:
        zipfile.ZIP64_LIMIT = limit


SPECIALS = struct.pack("<6I", 0x7F800001, 0xFFC12345, 0x7F800000, 0xFF800000, 0x80000000, 0x00000001)
ORDINARY = floats(1.5, -2.25, 1e-9, 3e38, 449.0, 0.0)
F32_MOST, = struct.unpack("<f", floats(3e38))
TWO = {"a": entry("F32", [3], 0, 12), "b": entry("F32", [3], 12, 24)}

GOOD = {
    "plain.npy": npy("'<f4'", "(2, 3)", ORDINARY),
    "version2.npy": npy("'<f4'", "(6,)", ORDINARY, version=2),
    "version3.npy": npy("'<f4'", "(6,)", ORDINARY, version=3),
    "scalar.npy": npy("'<f4'", "()", floats(1.5)),
    "big_endian.npy": npy("'>f4'", "(2,)", struct.pack(">2f", 1.5, -2.25)),
    "half.npy": npy("'<f2'", "(3,)", struct.pack("<3e", 1.5, 65504, 6e-8)),
    "big_endian_half.npy": npy("'>f2'", "(1,)", struct.pack(">e", 1.5)),
    "bfloat16.npy": npy("'<V2'", "(2,)", struct.pack("<2H", 0x3FC0, 0xC010)),
    "fortran.npy": npy("", "", ORDINARY, header='{"shape":(3,2), "fortran_order":True,"descr":"<f4"}'),
    "double.npy": npy("'<f8'", "(3,)", struct.pack("<3d", 1.5, -2.25, 1e300)),
    "big_endian_double.npy": npy("'>f8'", "(1,)", struct.pack(">d", 1.5)),
    "rank_64.npy": npy("'<f4'", "(" + "1," * 64 + ")", floats(1.5)),
    "specials.npy": npy("'<f4'", "(6,)", SPECIALS),
    "zeros.npy": npy("'<f4'", "(2,)", floats(0.0, -0.0)),
    "plain.safetensors": safetensors(TWO, ORDINARY),
    "out_of_order.safetensors": safetensors({"b": TWO["b"], "a": TWO["a"]}, ORDINARY),
    "metadata.safetensors": safetensors({"__metadata__": {"format": "pt"}, **TWO}, ORDINARY),
    "padded.safetensors": safetensors(json.dumps(TWO).encode() + b"   ", ORDINARY),
    "types.safetensors": safetensors(
        {"h": entry("F16", [2], 0, 4), "i": entry("I64", [1], 4, 12), "b": entry("BF16", [2], 12, 16),
         "empty": entry("F32", [0, 4], 16, 16), "packed": entry("F4", [4], 16, 18)},
        struct.pack("<2eq3H", 1.5, -0.25, 7, 0x3FC0, 0xC010, 0x1234)),
    "bytes.safetensors": safetensors(
        {"e4m3": entry("F8_E4M3", [2], 0, 2), "e5m2": entry("F8_E5M2", [2], 2, 4), "e8m0": entry("F8_E8M0", [2], 4, 6),
         "d": entry("F64", [1], 6, 14), "i8": entry("I8", [1], 14, 15), "u8": entry("U8", [1], 15, 16)},
        bytes([0x38, 0x7e, 0x3c, 0x7b, 0x7f, 0x80]) + struct.pack("<d2B", 0.1, 0x38, 0xb8)),
    "rank_64.safetensors": safetensors({"r": entry("F32", [1] * 64, 0, 4)}, floats(1.5)),
    "u1.npy": npy("'|u1'", "(24,)", ORDINARY),
    "u2.npy": npy("'<u2'", "(12,)", ORDINARY),
    "only_others.safetensors": safetensors({"a": entry("I32", [6], 0, 24)}, ORDINARY),
    "scalar.safetensors": safetensors({"s": entry("F32", [], 0, 4)}, floats(1.5)),
    "forged_name.safetensors": safetensors(
        {"x\n\x1b[31mmpnum bench: \u009b0m\x7f": entry("F32", [1], 0, 4)}, floats(1.5)),
    "long_name.safetensors": safetensors({"n" * 5000: entry("F32", [1], 0, 4)}, floats(1.5)),
}

KEYS = [key("a", kind, bytes(size)) for kind, size in enumerate((1, 1, 2, 2, 4, 4, 4, 1))] + [
    key("s", 8, text("llama")), key("b", 9, struct.pack("<IQ", 5, 3) + bytes(12)),
    key("words", 9, struct.pack("<IQ", 8, 2) + text("a") + text("")),
    key("lists", 9, struct.pack("<IQ", 9, 1) + struct.pack("<IQ", 8, 1) + text("a")),
    *(key("c", kind, bytes(8)) for kind in (10, 11, 12))]
Q8_0 = struct.pack("<e32b", 0.5, *range(-16, 16))
ARRAY = npy("'<f4'", "(2, 3)", ORDINARY)
MEMBERS = [("a.npy", ARRAY), ("f.npy", npy("'<f2'", "(3,)", struct.pack("<3e", 1.5, 65504, 6e-8)))]

GOOD.update({
    "plain.gguf": gguf([("a", "f32", [2, 3], ORDINARY)]),
    "version2.gguf": gguf([("a", "f32", [6], ORDINARY)], version=2),
    "keys.gguf": gguf([("a", "f32", [6], ORDINARY)], KEYS),
    "alignment.gguf": gguf([("a", "f32", [6], ORDINARY), ("b", "f16", [2], bytes(4))],
                           [key("general.alignment", 4, struct.pack("<I", 64))], alignment=64),
    "scalar.gguf": gguf([("a", "f32", [], floats(1.5))]),
    "blocks.gguf": gguf([("q8", "q8_0", [2, 32], Q8_0 * 2), ("q4", "q4_0", [32], struct.pack("<e", 0.5) + bytes(range(16))),
                         ("mx", "mxfp4", [32], bytes([127, *range(16)])),
                         ("nv", "nvfp4", [64], bytes([0x38, 0x40, 0x30, 0x7e, *range(32)]))]),
    "others.gguf": gguf([("a", "q5_0", [32], bytes(22)), ("b", "i32", [6], ORDINARY), ("c", 99, [6], ORDINARY),
                         ("d", "f64", [1], struct.pack("<d", 0.1)), ("e", "f32", [0, 4], b""), ("f", "i8", [4], b"abcd"),
                         ("g", "bf16", [2], struct.pack("<2H", 0x3FC0, 0xC010))]),
    "past.gguf": gguf([("a", "f32", [6], ORDINARY)], past=bytes(8)),
    "forged_name.gguf": gguf([("x\n\x1b[31mz", "q5_0", [32], bytes(22))]),
    "plain.npz": npz(MEMBERS),
    "deflated.npz": npz(MEMBERS, zipfile.ZIP_DEFLATED),
    "others.npz": npz([*MEMBERS, ("readme.txt", b"text"), ("i.npy", npy("'<i4'", "(6,)", ORDINARY)),
                       ("e.npy", npy("'<f4'", "(0,)", b""))]),
    "comment.npz": npz(MEMBERS)[:-2] + b"\x05\0abcde",
    "wide.npz": wide_npz(MEMBERS),
    "level.npz": npz([("a.npy", ARRAY)], zipfile.ZIP_DEFLATED, compresslevel=9),
})

NPY_HEADERS = {
    "not_a_dict": "[1, 2]",
    "empty_dict": "{}",
    "no_shape": "{'descr': '<f4', 'fortran_order': False}",
    "twice": "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}",
    "unknown_key": "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), 'x': 1}",
    "open_word": "{'descr': '<f4",
    "open_dict": "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)",
    "text_after": "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} + 1",
    "escape": "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (6,)}",
    "truth": "{'descr': '<f4', 'fortran_order': Falsehood, 'shape': (6,)}",
    "call": "{'descr': '<f4', 'fortran_order': False, 'shape': __import__('os')}",
    "shape_list": "{'descr': '<f4', 'fortran_order': False, 'shape': [6]}",
    "shape_number": "{'descr': '<f4', 'fortran_order': False, 'shape': (6)}",
    "shape_negative": "{'descr': '<f4', 'fortran_order': False, 'shape': (-6,)}",
    "shape_float": "{'descr': '<f4', 'fortran_order': False, 'shape': (6.0,)}",
    "shape_commas": "{'descr': '<f4', 'fortran_order': False, 'shape': (6,,)}",
    "shape_nested": "{'descr': '<f4', 'fortran_order': False, 'shape': " + "(" * 5000 + "}",
    "shape_ranks": "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "1," * 5000 + ")}",
    "shape_digits": "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "9" * 5000 + ",)}",
    "shape_2_to_64": "{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,)}",
    "shape_overflow": "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
    "bytes_overflow": "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387905,)}",
    "structured": "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (6,)}",
    "pickled": "{'descr': '|O', 'fortran_order': False, 'shape': (6,)}",
    "shape_rank_65": "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "1," * 64 + "6,)}",
    "v1": "{'descr': '|V1', 'fortran_order': False, 'shape': (24,)}",
    "u2_short": "{'descr': '<u2', 'fortran_order': False, 'shape': (13,)}",
    "long_descr": "{'descr': '" + "f" * 500 + "', 'fortran_order': False, 'shape': (6,)}",
    "forged_descr": "{'descr': 'x\n\x1b[31mz', 'fortran_order': False, 'shape': (6,)}",
    "nul": "{'descr': '<f4\0', 'fortran_order': False, 'shape': (6,)}",
    "no_values": "{'descr': '<f4', 'fortran_order': False, 'shape': (0,)}",
}


def hostile_npy():
    files = {f"{name}.npy": npy("", "", b"" if name == "no_values" else ORDINARY, header=text)
             for name, text in NPY_HEADERS.items()}
    plain = GOOD["plain.npy"]
    files.update({
        "empty.npy": b"",
        "magic_only.npy": plain[:6],
        "half_length.npy": plain[:9],
        "cut_header.npy": plain[:30],
        "cut_values.npy": plain[:-1],
        "no_values_at_all.npy": plain[:-len(ORDINARY)],
        "extra_byte.npy": plain + b"\0",
        "wrong_magic.npy": b"\x93NUMPX" + plain[6:],
        "version0.npy": plain[:6] + b"\0" + plain[7:],
        "version9.npy": plain[:6] + b"\x09" + plain[7:],
        "minor_version.npy": plain[:7] + b"\x01" + plain[8:],
        "huge_length.npy": b"\x93NUMPY\x02\0\xff\xff\xff\xff" + plain[10:],
        "huge_length1.npy": b"\x93NUMPY\x01\0\xff\xff" + plain[10:],
        "no_header.npy": b"\x93NUMPY\x01\0\0\0" + ORDINARY,
        "text.npy": b"hello, world\n" * 50,
    })
    return files


def hostile_headers():
    """safetensors headers over ORDINARY, 24 bytes of values."""
    def one(**changes):
        return {"a": {**entry("F32", [6], 0, 24), **changes}}
    deep = 100000
    return {
        "no_json": b"not JSON at all",
        "no_object": b"[]",
        "leading_nul": b"\0" * 16,
        "unfinished": b'{"a": {"dtype": "F32"',
        "bad_utf8": b'{"a\xff\xfe": 1}',
        "nul_in_name": b'{"a\\u0000": 1}',
        "lone_surrogate": b'{"a\\ud800": 1}',
        "deep_lists": b"[" * deep + b"]" * deep,
        "deep_objects": b'{"a":' * deep + b"1" + b"}" * deep,
        "twice": b'{"a": %b, "a": %b}' % ((json.dumps(entry("F32", [6], 0, 24)).encode(),) * 2),
        "key_twice": b'{"a": {"dtype":"F32","dtype":"F32","shape":[6],"data_offsets":[0,24]}}',
        "text_after": json.dumps(one()).encode() + b"}",
        "no_tensors": {},
        "only_metadata": {"__metadata__": {}},
        "metadata_list": {"__metadata__": [], **one()},
        "metadata_number": {"__metadata__": {"a": 1}, **one()},
        "tensor_number": {"a": 5},
        "tensor_list": {"a": []},
        "tensor_empty": {"a": {}},
        "dtype_missing": {"a": {"shape": [6], "data_offsets": [0, 24]}},
        "dtype_number": one(dtype=4),
        "only_empty": {"a": entry("F32", [0], 0, 0)},
        "shape_missing": {"a": {"dtype": "F32", "data_offsets": [0, 24]}},
        "shape_number": one(shape=6),
        "shape_negative": one(shape=[-6]),
        "shape_two_negatives": one(shape=[-2, -3]),
        "shape_float": one(shape=[6.0]),
        "shape_text": one(shape=["6"]),
        "shape_short": one(shape=[5]),
        "shape_rank_65": one(shape=[1] * 64 + [6]),
        "shape_ranks": one(shape=[1] * 5000 + [6]),
        "shape_long": one(shape=[7]),
        "shape_overflow": one(shape=[2 ** 32, 2 ** 32]),
        "shape_wraps": one(shape=[2 ** 62 + 6]),
        "shape_beyond_64": one(shape=[2 ** 64 + 6]),
        "shape_many": one(shape=[1] * 200000),
        "offsets_missing": {"a": {"dtype": "F32", "shape": [6]}},
        "offsets_number": one(data_offsets=24),
        "offsets_one": one(data_offsets=[24]),
        "offsets_three": one(data_offsets=[0, 24, 24]),
        "offsets_float": one(data_offsets=[0, 24.0]),
        "offsets_negative": one(data_offsets=[-24, 0]),
        "offsets_swapped": one(data_offsets=[24, 0]),
        "offsets_outside": one(data_offsets=[0, 28], shape=[7]),
        "offsets_far": one(data_offsets=[2 ** 63 - 25, 2 ** 63 - 1]),
        "offsets_beyond_64": one(data_offsets=[2 ** 64, 2 ** 64 + 24]),
        "offsets_hole": one(data_offsets=[4, 24], shape=[5]),
        "offsets_left_over": one(data_offsets=[0, 20], shape=[5]),
        "overlap": {"a": entry("F32", [4], 0, 16), "b": entry("F32", [4], 8, 24)},
        "same_place": {"a": entry("F32", [6], 0, 24), "b": entry("F32", [6], 0, 24)},
        "hole_between": {"a": entry("F32", [2], 0, 8), "b": entry("F32", [3], 12, 24)},
        "forged_name": {"x\n\x1b[31mforged": entry("F32", [7], 0, 24)},
    }


def hostile_safetensors():
    files = {f"{name}.safetensors": safetensors(header, ORDINARY)
             for name, header in hostile_headers().items()}
    plain = GOOD["plain.safetensors"]
    text = plain[8:-len(ORDINARY)]
    files.update({
        "empty.safetensors": b"",
        "seven_bytes.safetensors": plain[:7],
        "only_length.safetensors": plain[:8],
        "cut_header.safetensors": plain[:40],
        "cut_values.safetensors": plain[:-1],
        "no_values.safetensors": plain[:-len(ORDINARY)],
        "extra_byte.safetensors": plain + b"\0",
        "length_0.safetensors": safetensors(text, ORDINARY, 0),
        "length_short.safetensors": safetensors(text, ORDINARY, len(text) - 1),
        "length_long.safetensors": safetensors(text, ORDINARY, len(text) + 1),
        "length_past_end.safetensors": safetensors(text, ORDINARY, len(text) + 25),
        "length_1_GB.safetensors": safetensors(text, ORDINARY, 10 ** 9),
        "length_2_to_63.safetensors": safetensors(text, ORDINARY, 2 ** 63),
        "length_max.safetensors": safetensors(text, ORDINARY, 2 ** 64 - 1),
        "length_minus_8.safetensors": safetensors(text, ORDINARY, 2 ** 64 - 8),
        "text.safetensors": b"hello, world\n" * 50,
    })
    return files


def hostile_gguf():
    one = [("a", "f32", [6], ORDINARY)]
    plain = gguf(one)
    first = plain.index(b"a", 24) - 8  # of the entry of the tensor
    u32 = lambda value: struct.pack("<I", value)
    deep = struct.pack("<IQ", 9, 1) * 20
    files = {
        "empty": b"", "magic_only": plain[:4], "cut_version": plain[:6], "cut_counts": plain[:20], "cut_name": plain[:first + 8],
        "cut_entry": plain[:first + 20], "cut_values": plain[:-1], "no_values": plain[:-len(ORDINARY)],
        "wrong_magic": b"GGML" + plain[4:], "version1": gguf(one, version=1), "version9": gguf(one, version=9),
        "big_endian": plain[:4] + u32(3)[::-1] + plain[8:], "no_tensors": gguf([]), "many": gguf(one, count=2 ** 60),
        "more": gguf(one, count=2), "many_keys": gguf(one, key_count=2 ** 63), "more_keys": gguf(one, KEYS, key_count=99),
        "key_type": gguf(one, [key("a", 13, bytes(8))]), "array_type": gguf(one, [key("a", 9, struct.pack("<IQ", 77, 4))]),
        "array_long": gguf(one, [key("a", 9, struct.pack("<IQ", 12, 2 ** 61))]),
        "array_far": gguf(one, [key("a", 9, struct.pack("<IQ", 12, 2 ** 20))]),
        "array_deep": gguf(one, [key("a", 9, deep + struct.pack("<IQ", 0, 1) + b"a")]),
        "array_texts": gguf(one, [key("a", 9, struct.pack("<IQ", 8, 2 ** 62))]),
        "text_long": gguf(one, [key("a", 8, struct.pack("<Q", 2 ** 64 - 1))]),
        "name_long": plain[:first] + struct.pack("<Q", 2 ** 63) + plain[first + 8:], "name_zero": gguf([("a\0b", *one[0][1:])]),
        "name_5000": gguf([("n" * 5000, *one[0][1:])]),
        "alignment_0": gguf(one, [key("general.alignment", 4, u32(0))]),
        "alignment_3": gguf(one, [key("general.alignment", 4, u32(3))]),
        "alignment_text": gguf(one, [key("general.alignment", 8, text("32"))]),
        "alignment_huge": gguf(one, [key("general.alignment", 4, u32(2 ** 31))]),
        "sizes_5": gguf([("a", "f32", [1, 1, 1, 1, 6], ORDINARY)]), "sizes_wrap": gguf([("a", "f32", [2 ** 32, 2 ** 32], ORDINARY)]),
        "bytes_wrap": gguf([("a", "f32", [2 ** 62 + 6], ORDINARY)]), "long": gguf([("a", "f32", [7], ORDINARY)]),
        "offset": gguf([("a", "f32", [6], ORDINARY, 16)]), "offset_far": gguf([("a", "f32", [6], ORDINARY, 2 ** 64 - 32)]),
        "offset_past": gguf([("a", "f32", [6], ORDINARY, 32)]),
        "overlap": gguf([("a", "f32", [6], ORDINARY), ("b", "f32", [6], ORDINARY, 0)]),
        "twice": gguf([("a", "f32", [6], ORDINARY), ("a", "f32", [6], ORDINARY)]),
        "no_blocks": gguf([("a", "q8_0", [2, 16], Q8_0)]), "no_block": gguf([("a", "q8_0", [], Q8_0)]),
        "cut_block": gguf([("a", "q8_0", [32], Q8_0[:-1])]), "text": b"hello, world\n" * 50,
        "only_empty": gguf([("a", "f32", [6], b"", 0)]),
    }
    return {f"{name}.gguf": data for name, data in files.items()}


def changed(data, at, fmt, value):
    return data[:at] + struct.pack(fmt, value) + data[at + struct.calcsize(fmt):]


def hostile_npz():
    plain, packed = GOOD["plain.npz"], GOOD["deflated.npz"]
    end, entry_at = plain.rindex(b"PK\5\6"), plain.index(b"PK\1\2")
    packed_entry = packed.index(b"PK\1\2")
    files = {
        "empty": b"", "text": b"hello, world\n" * 50, "only_end": plain[end:-4], "cut_end": plain[:-1], "past_end": plain + b"\0",
        "no_members": npz([]), "cut_middle": plain[:entry_at], "count": changed(plain, end + 10, "<H", 3),
        "count_less": changed(plain, end + 10, "<H", 1), "directory_size": changed(plain, end + 12, "<I", 2 ** 31),
        "directory_place": changed(plain, end + 16, "<I", entry_at + 1), "directory_far": changed(plain, end + 16, "<I", 2 ** 32 - 1),
        "entry_name": changed(plain, entry_at + 28, "<H", 65535), "entry_local": changed(plain, entry_at + 42, "<I", 5),
        "entry_far": changed(plain, entry_at + 42, "<I", 2 ** 31), "entry_64": changed(plain, entry_at + 42, "<I", 2 ** 32 - 1),
        "encrypted": changed(plain, entry_at + 8, "<H", 1), "method": changed(plain, entry_at + 10, "<H", 12),
        "sizes": changed(plain, entry_at + 24, "<I", 9), "packed": changed(plain, entry_at + 20, "<I", 2 ** 31),
        "crc": changed(packed, packed_entry + 16, "<I", 1), "size_more": changed(packed, packed_entry + 24, "<I", len(ARRAY) + 1),
        "size_less": changed(packed, packed_entry + 24, "<I", len(ARRAY) - 1),
        "size_huge": changed(packed, packed_entry + 24, "<I", 2 ** 31),
        "packed_less": changed(packed, packed_entry + 20, "<I", 20), "garbage": packed[:80] + b"\xff" * 20 + packed[100:],
        "twice": plain.replace(b"f.npy", b"a.npy"), "name_zero": plain.replace(b"f.npy", b"\0.npy"),
        "member": npz([("a.npy", ARRAY[:-1])]), "member_text": npz([("a.npy", b"hello")]), "member_empty": npz([("a.npy", b"")]),
        "only_empty": b"PK\5\6" + bytes(18),
    }
    return {f"{name}.npz": data for name, data in files.items()}


HOSTILE = {**hostile_npy(), **hostile_safetensors(), **hostile_gguf(), **hostile_npz()}
