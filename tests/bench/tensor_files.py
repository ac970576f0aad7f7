# SPDX-License-Identifier: MIT
"""Tensor files made by hand: good ones, and ones that a reader of files must refuse.

GOOD and HOSTILE map a file name to its bytes. They feed the tests/test_bench_*.py and, through
tests/fuzz/make-seeds, the fuzzers."""

import json
import struct


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


SPECIALS = struct.pack("<6I", 0x7F800001, 0xFFC12345, 0x7F800000, 0xFF800000, 0x80000000, 0x00000001)
ORDINARY = floats(1.5, -2.25, 1e-9, 3e38, 449.0, 0.0)
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
         "empty": entry("F32", [0, 4], 16, 16)},
        struct.pack("<2eq2H", 1.5, -0.25, 7, 0x3FC0, 0xC010)),
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


HOSTILE = {**hostile_npy(), **hostile_safetensors()}
