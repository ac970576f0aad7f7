#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""types/vocabulary.h has the names and numbers of others: those of their sources, written down here, and those of what is
installed.

usage: tests/project/test_vocabulary.py"""
import importlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "harness"))

import tap
import tree

# safetensors 0.8 (Dtype), NumPy with ml_dtypes 0.6, MLIR's built-in types, ONNX 1.23 (TensorProto.DataType), CUDA 13.4
# (library_types.h), gguf (GGMLQuantizationType), DLPack 1.1 (DLDataTypeCode, bits), MLIR's classes (BuiltinTypes.h).
EXPECTED = {
    "F64": ("F64", "float64", "f64", ("DOUBLE", 11), ("CUDA_R_64F", 1), ("F64", 28), (2, 64), "Float64Type"),
    "F32": ("F32", "float32", "f32", ("FLOAT", 1), ("CUDA_R_32F", 0), ("F32", 0), (2, 32), "Float32Type"),
    "TF32": (None, None, "tf32", None, None, None, None, "FloatTF32Type"),
    "BF16": ("BF16", "bfloat16", "bf16", ("BFLOAT16", 16), ("CUDA_R_16BF", 14), ("BF16", 30), (4, 16), "BFloat16Type"),
    "F16": ("F16", "float16", "f16", ("FLOAT16", 10), ("CUDA_R_16F", 2), ("F16", 1), (2, 16), "Float16Type"),
    "E5M2": ("F8_E5M2", "float8_e5m2", "f8E5M2", ("FLOAT8E5M2", 19), ("CUDA_R_8F_E5M2", 29), None, (12, 8), "Float8E5M2Type"),
    "E4M3": ("F8_E4M3", "float8_e4m3fn", "f8E4M3FN", ("FLOAT8E4M3FN", 17), ("CUDA_R_8F_E4M3", 28), None, (10, 8), "Float8E4M3FNType"),
    "E5M2FNUZ": ("F8_E5M2FNUZ", "float8_e5m2fnuz", "f8E5M2FNUZ", ("FLOAT8E5M2FNUZ", 20), None, None, (13, 8), "Float8E5M2FNUZType"),
    "E4M3FNUZ": ("F8_E4M3FNUZ", "float8_e4m3fnuz", "f8E4M3FNUZ", ("FLOAT8E4M3FNUZ", 18), None, None, (11, 8), "Float8E4M3FNUZType"),
    "E3M4": (None, "float8_e3m4", "f8E3M4", None, None, None, (7, 8), "Float8E3M4Type"),
    "E8M0": ("F8_E8M0", "float8_e8m0fnu", "f8E8M0FNU", ("FLOAT8E8M0", 24), ("CUDA_R_8F_UE8M0", 30), None, (14, 8), "Float8E8M0FNUType"),
    "E3M2": ("F6_E3M2", "float6_e3m2fn", "f6E3M2FN", ("FLOAT6E3M2", 28), ("CUDA_R_6F_E3M2", 32), None, (16, 6), "Float6E3M2FNType"),
    "E2M3": ("F6_E2M3", "float6_e2m3fn", "f6E2M3FN", ("FLOAT6E2M3", 27), ("CUDA_R_6F_E2M3", 31), None, (15, 6), "Float6E2M3FNType"),
    "E2M1": ("F4", "float4_e2m1fn", "f4E2M1FN", ("FLOAT4E2M1", 23), ("CUDA_R_4F_E2M1", 33), None, (17, 4), "Float4E2M1FNType"),
    "UE5M3": (None, None, None, None, ("CUDA_R_8F_UE5M3", 34), None, None, None),
    "UE4M3": (None, None, None, None, ("CUDA_R_8F_UE4M3", 28), None, None, None),
}
VOCABULARIES = ("SAFETENSORS", "NUMPY", "MLIR", "ONNX", "CUDA", "GGUF", "DLPACK", "MLIR_CLASS")
DLPACK_NAMES = {7: "Float8_e3m4", 10: "Float8_e4m3fn", 11: "Float8_e4m3fnuz", 12: "Float8_e5m2", 13: "Float8_e5m2fnuz", 14: "Float8_e8m0fnu",
                15: "Float6_e2m3fn", 16: "Float6_e3m2fn", 17: "Float4_e2m1fn", 2: "Float", 4: "Bfloat"}
PROGRAM = """
#include <mpnum/types/vocabulary.h>
#include <stdio.h>
int main(void) {
  int v, t;
  for (v = -1; v < 9; ++v)
    for (t = 0; t < 18; ++t) {
      const char *name = mpnum_type_name_in((mpnum_vocabulary)v, (mpnum_type)t);
      int32_t number = -7;
      mpnum_type by_name = (mpnum_type)99, by_number = (mpnum_type)99;
      const int has_number = mpnum_type_number_in((mpnum_vocabulary)v, (mpnum_type)t, &number) == MPNUM_OK;
      const int named = mpnum_type_of_name((mpnum_vocabulary)v, name ? name : "none", &by_name);
      const int numbered = mpnum_type_of_number((mpnum_vocabulary)v, number, &by_number);
      printf("%d %d %s %d %d %d %d %d %d\\n", v, t, name ? name : "-", has_number, (int)number, named, (int)by_name, numbered,
             (int)by_number);
    }
  return 0;
}
"""
UNKNOWN = """
#include <mpnum/types/vocabulary.h>
int main(void) {
  mpnum_type type = MPNUM_TYPE_F16;
  int32_t number = 5;
  int wrong = mpnum_type_of_name(MPNUM_VOCABULARY_NUMPY, "float8_e4m3", &type) != MPNUM_ERROR_TYPE;
  wrong |= mpnum_type_of_name(MPNUM_VOCABULARY_MLIR, "f8E4M3", &type) != MPNUM_ERROR_TYPE;
  wrong |= mpnum_type_of_name(MPNUM_VOCABULARY_MLIR_CLASS, "Float8E4M3Type", &type) != MPNUM_ERROR_TYPE;
  wrong |= mpnum_type_of_name(MPNUM_VOCABULARY_SAFETENSORS, "F8_E4M3F", &type) != MPNUM_ERROR_TYPE;
  wrong |= mpnum_type_of_name(MPNUM_VOCABULARY_SAFETENSORS, "F8_E4M", &type) != MPNUM_ERROR_TYPE;
  wrong |= mpnum_type_of_name(MPNUM_VOCABULARY_SAFETENSORS, "", &type) != MPNUM_ERROR_TYPE;
  wrong |= mpnum_type_of_number(MPNUM_VOCABULARY_ONNX, 2, &type) != MPNUM_ERROR_TYPE;
  wrong |= mpnum_type_of_number(MPNUM_VOCABULARY_ONNX, -1, &type) != MPNUM_ERROR_TYPE;
  wrong |= mpnum_type_of_number(MPNUM_VOCABULARY_SAFETENSORS, 0, &type) != MPNUM_ERROR_TYPE;
  wrong |= mpnum_type_of_number(MPNUM_VOCABULARY_DLPACK, 10 + 256 * 8 + 2 * 65536, &type) != MPNUM_ERROR_TYPE;
  wrong |= mpnum_type_number_in(MPNUM_VOCABULARY_GGUF, MPNUM_TYPE_E4M3, &number) != MPNUM_ERROR_TYPE;
  wrong |= type != MPNUM_TYPE_F16 || number != 5; /* nothing is written then */
  wrong |= mpnum_type_of_name(MPNUM_VOCABULARY_NUMPY, 0, &type) != MPNUM_ERROR_NULL;
  wrong |= mpnum_type_of_name(MPNUM_VOCABULARY_NUMPY, "float16", 0) != MPNUM_ERROR_NULL;
  wrong |= mpnum_type_of_number(MPNUM_VOCABULARY_ONNX, 1, 0) != MPNUM_ERROR_NULL;
  wrong |= mpnum_type_number_in(MPNUM_VOCABULARY_ONNX, MPNUM_TYPE_F32, 0) != MPNUM_ERROR_NULL;
  wrong |= mpnum_type_of_number(MPNUM_VOCABULARY_CUDA, 28, &type) != MPNUM_OK || type != MPNUM_TYPE_E4M3;
  return wrong;
}
"""


def run_of(text, compiler="gcc", *options):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "vocabulary.c"
        source.write_text(text)
        tree.check(tree.need(compiler), *options, "-Wall", "-Wextra", "-Werror", "-I", tree.ROOT / "include", source, "-o", f"{folder}/program")
        return tree.check(f"{folder}/program")


def names_and_numbers_are_those_of_the_sources():
    enumerated = re.findall(r"^  MPNUM_TYPE_(\w+) = (\d+)", (tree.ROOT / "include/mpnum/core/format.h").read_text(), re.M)
    names = {int(number): name for name, number in enumerated}
    assert sorted(names.values()) == sorted(EXPECTED), names
    seen = 0
    for text in (run_of(PROGRAM, "gcc", "-std=c99"), run_of(PROGRAM, "g++", "-x", "c++", "-std=c++17")):
        for line in text.splitlines():
            vocabulary, kind, name, has_number, number, named, by_name, numbered, by_number = line.split()
            entry = EXPECTED[names[int(kind)]][int(vocabulary)] if int(kind) in names and 0 <= int(vocabulary) < 8 else None
            if vocabulary == "6":
                wanted = (None, entry[0] + 256 * entry[1] + 65536) if entry else (None, None)
            else:
                wanted = entry if isinstance(entry, tuple) else (entry, None)
            assert (None if name == "-" else name) == wanted[0], line
            assert (int(number) if has_number == "1" else None) == wanted[1], line
            assert (int(by_name) if named == "0" else None) == (int(kind) if wanted[0] else None), line
            signed = next((one for one in names if names[one] == "E4M3"), None) if wanted[1] == 28 and vocabulary == "4" else int(kind)
            assert (int(by_number) if numbered == "0" else None) == (None if wanted[1] is None else signed), line
            seen += 1
    assert seen == 2 * 10 * 18, seen


def what_is_unknown_is_a_status(): run_of(UNKNOWN)


def column(name):
    return [entry[VOCABULARIES.index(name)] for entry in EXPECTED.values() if entry[VOCABULARIES.index(name)]]


def package(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        raise tap.Skip(f"no Python package {name}") from None


def numpy_has_these_names():
    numpy, ml_dtypes = package("numpy"), package("ml_dtypes")
    for name in column("NUMPY"):
        kind = getattr(ml_dtypes, name, None) or getattr(numpy, name)
        assert numpy.dtype(kind).name == name, name


def onnx_has_these_numbers():
    numbers = dict(package("onnx").TensorProto.DataType.items())
    for name, number in column("ONNX"):
        assert numbers.get(name, number if name.startswith("FLOAT6") else None) == number, name  # FLOAT6 is newer than others


def gguf_has_these_numbers():
    for name, number in column("GGUF"):
        assert package("gguf").GGMLQuantizationType[name] == number, name


def cuda_has_these_numbers():
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    header = pathlib.Path(nvcc).resolve().parents[1] / "include/library_types.h"
    if not header.exists():
        raise tap.Skip("no library_types.h")
    text = header.read_text()
    if "CUDA_R_4F_E2M1" not in text:
        raise tap.Skip("a CUDA without types of 4 bits")
    numbers = dict(re.findall(r"^\s*(CUDA_R_\w+)\s*=\s*(\w+)", text, re.M))
    for name, number in column("CUDA"):
        if name in numbers or name != "CUDA_R_8F_UE5M3":  # which came with 13.4
            assert int(numbers.get(numbers[name], numbers[name])) == number, name


def dlpack_has_these_codes():
    header = pathlib.Path(package("torch").__file__).parent / "include/ATen/dlpack.h"
    numbers = {name: int(number) for name, number in re.findall(r"^\s*kDL(\w+) = (\d+)U,", header.read_text(), re.M)}
    if "Float8_e4m3fn" not in numbers:
        raise tap.Skip("DLPack before 1.1")
    assert {code: numbers[DLPACK_NAMES[code]] for code, _ in column("DLPACK")} == {code: code for code, _ in column("DLPACK")}


def mlir_has_these_classes():
    """Its Python module has the names of C++ but for those of 16 to 64 bits, which it calls F16Type."""
    classes = package("jaxlib.mlir.ir")
    for name in column("MLIR_CLASS"):
        assert hasattr(classes, name.replace("BFloat", "BF").replace("Float16", "F16").replace("Float32", "F32").replace("Float64", "F64")), name


def safetensors_has_these_names():
    """Each is the dtype of an empty tensor that its own reader takes."""
    read = package("safetensors").deserialize
    for name in column("SAFETENSORS"):
        head = f'{{"x":{{"dtype":"{name}","shape":[0],"data_offsets":[0,0]}}}}'.encode()
        assert read(len(head).to_bytes(8, "little") + head)[0][1]["dtype"] == name, name


sys.exit(tap.run(names_and_numbers_are_those_of_the_sources, what_is_unknown_is_a_status, numpy_has_these_names, onnx_has_these_numbers,
                 gguf_has_these_numbers, cuda_has_these_numbers, dlpack_has_these_codes, mlir_has_these_classes,
                 safetensors_has_these_names))
