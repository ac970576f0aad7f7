#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The files that `mpnum bench` reads: good ones in, bad ones refused with a reason, names kept harmless.
test_bench_files.py PROGRAM"""

import os
import re
import socket
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
import tensor_files
from bench_program import Folder, bench, measured

# What the line must say where another check would refuse the file too.
REASONS = {
    "cut_values.npy": "where its shape asks for more",
    "bytes_overflow.npy": "where its shape asks for more",
    "shape_overflow.npy": "more than 2^64 elements",
    "huge_length.npy": "npy header of 4294967295 bytes, the limit is 65536",
    "cut_header.npy": "ends inside its npy header",
    "u2_short.npy": "where its shape asks for more",
    "v1.npy": "npy type '|V1' is bytes; which type they are codes of is to be said",
    "pickled.npy": "npy type '|O' is none of f64 (f8), f32 (f4), f16 (f2), bf16 (V2)",
    "shape_rank_65.npy": "the shape has more than 64 sizes",
    "shape_rank_65.safetensors": "shape has more than 64 sizes",
    "length_2_to_63.safetensors": "safetensors header of 9223372036854775808 bytes, the limit is 33554432",
    "length_past_end.safetensors": "ends inside its safetensors header",
    "deep_lists.safetensors": "not valid JSON",
    "twice.safetensors": "two tensors are named 'a': data_offsets [0, 24] and [0, 24]",
    "key_twice.safetensors": "not valid JSON: duplicate object key",
    "shape_negative.safetensors": "shape is not a list of sizes",
    "shape_two_negatives.safetensors": "shape is not a list of sizes",
    "shape_overflow.safetensors": "more than 2^64 elements",
    "shape_short.safetensors": "its shape does not fit its 24 bytes",
    "offsets_negative.safetensors": "data_offsets is not [begin, end]",
    "offsets_swapped.safetensors": "data_offsets [24, 0] lie outside the 24 bytes of values",
    "offsets_outside.safetensors": "data_offsets [0, 28] lie outside the 24 bytes of values",
    "overlap.safetensors": "tensors overlap at byte 8 of the values",
    "hole_between.safetensors": "tensors leave a hole at byte 12 of the values",
    "no_tensors.safetensors": "holds 24 bytes after its last tensor",
}


def good_files_are_read():
    counts = {"types.safetensors": 2, "plain.safetensors": 2, "out_of_order.safetensors": 2,
              "metadata.safetensors": 2, "padded.safetensors": 2, "bytes.safetensors": 4, "u1.npy": 0, "u2.npy": 0,
              "only_others.safetensors": 0, "alignment.gguf": 2, "blocks.gguf": 4, "others.gguf": 2, "forged_name.gguf": 0,
              "plain.npz": 2, "deflated.npz": 2, "comment.npz": 2, "wide.npz": 2, "others.npz": 2}
    for name, data in tensor_files.GOOD.items():
        found = measured(data, name)
        assert len(found) == counts.get(name, 1), (name, list(found))
    specials = measured(tensor_files.GOOD["specials.npy"], "s.npy")["s.npy"]
    assert (specials["non_finite"], specials["zeros"], specials["amax"]) == (4, 1, 2.0 ** -149), specials
    zeros = measured(tensor_files.GOOD["zeros.npy"], "z.npy")["z.npy"]
    assert (zeros["rows"], zeros["zeros"]) == ([], 2), zeros
    for name, wanted in (("big_endian.npy", 2.25), ("bfloat16.npy", 2.25), ("big_endian_half.npy", 1.5),
                         ("big_endian_double.npy", 1.5)):
        amax = measured(tensor_files.GOOD[name], name)[name]["amax"]
        assert amax == wanted, (name, amax)


def skipped_tensors_are_named():
    with Folder(**{"types.safetensors": tensor_files.GOOD["types.safetensors"]}) as folder:
        code, out, _ = bench("--accuracy", "--quick", "types.safetensors", folder=folder)
    assert code == 0
    assert "tensor 'i' left out: I64 is none of F64, F32, F16, BF16, F8" in out, out
    assert "tensor 'packed' left out: F4 is none of F64" in out, out
    assert "tensor 'empty' left out: it has no values" in out, out


def names_cannot_forge_output():
    for name in ("forged_name.safetensors", "long_name.safetensors"):
        with Folder(**{name: tensor_files.GOOD[name]}) as folder:
            code, out, errors = bench("--accuracy", "--quick", name, folder=folder)
        assert code == 0 and errors == "", errors
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", out), re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", out)
        assert "\nmpnum bench:" not in out
        assert max(map(len, out.splitlines())) <= 100, max(out.splitlines(), key=len)


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
        def at(name):
            return os.path.join(folder, name)
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


sys.exit(tap.run(
    good_files_are_read,
    skipped_tensors_are_named,
    names_cannot_forge_output,
    hostile_files_are_refused,
    a_bad_file_among_good_ones_leaves_no_output,
    things_that_are_no_files_are_refused,
    an_unreadable_file_is_refused,
    a_huge_sparse_file_is_refused_at_once,
    file_names_cannot_forge_lines))
