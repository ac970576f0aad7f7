# SPDX-License-Identifier: MIT
"""Kernels that call every conversion of the library, and the same calls for the host.

One source is compiled twice. Each call reads one record of 64-bit words, a word for each argument, and writes one
result; a call on the device is one thread's, a call on the host one turn of a loop.
"""

import ctypes
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import tap
import toolchain
from tree import check, need

ROUNDINGS = ["NEAREST_EVEN", "TOWARD_ZERO", "UP", "DOWN", "NEAREST_AWAY", "TO_ODD", "STOCHASTIC"]
OVERFLOWS = ["IEEE", "SATURATE"]

PREAMBLE = """\
#include <mpnum/func/light.h>
#include <mpnum/mpnum.h>

#if defined(__CUDACC__)
# define CALL(name, words, results, type, body)                                                    \\
  extern "C" __global__ void call_##name(const uint64_t *in, type *out, uint32_t count) {                 \\
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;                                      \\
    if (i < count) {                                                                               \\
      in += i * words;                                                                             \\
      out += i * results;                                                                          \\
      body                                                                                         \\
    }                                                                                              \\
  }
# define GET static __device__ __forceinline__
#else
# include <string.h>
# define CALL(name, words, results, type, body)                                                    \\
  void call_##name(const uint64_t *in, type *out, uint32_t count) {                                       \\
    for (; count > 0; --count, in += words, out += results) {                                      \\
      body                                                                                         \\
    }                                                                                              \\
  }
# define GET static inline
#endif
"""

# How a word becomes an argument; a struct is the first bytes of its word.
ARGUMENTS = {"float": "mpnum_from_bits_f32((uint32_t)word)", "double": "mpnum_from_bits_f64(word)",
             "int": "(int)word", "uint32_t": "(uint32_t)word", "uint64_t": "word", "mpnum_rounding": "(mpnum_rounding)word",
             "mpnum_overflow": "(mpnum_overflow)word", "mpnum_format": "mpnum_format_of((mpnum_type)word)"}
STRUCT = "GET {0} get_{0}(uint64_t word) {{ {0} x; memcpy(&x, &word, sizeof x); return x; }}"


@dataclass
class Call:
    """One kernel: results holds how many results it writes for each record of its function's arguments."""
    name: str
    function: str
    kinds: list  # the types of the arguments
    result: str  # the type of a result
    size: int    # its bytes
    results: int
    body: str

    @property
    def words(self):
        return len(self.kinds)

    @property
    def symbol(self):
        return f"call_{self.name}"


def is_conversion(name):
    return bool(re.match(r"mpnum_(\w+_to_\w+|(encode|decode)(_f64)?|(un)?pack_\w+)$", name))


def conversions(api):
    """A call for every conversion among the public names; one more with the modes as constants for each _round."""
    found = []
    for name, (result, parameters) in api.functions.items():
        if not is_conversion(name) or name in api.host_only:
            continue
        kinds = [kind for kind, _ in parameters]
        arguments = [f"get_{kind}(in[{place}])" for place, kind in enumerate(kinds)]
        size = api.sizes[result][0]
        found.append(Call(name, name, kinds, result, size, 1, f"*out = {name}({', '.join(arguments)});"))
        if name.endswith("_round"):
            lines = [f"out[{place}] = {name}({arguments[0]}, MPNUM_ROUND_{rounding}, MPNUM_OVERFLOW_{overflow}, "
                     f"{arguments[3]});" for place, (rounding, overflow) in enumerate(modes())]
            found.append(Call(f"{name}_constants", name, kinds, result, size, len(lines), " ".join(lines)))
    return found


def functions(api):
    """A call for every function of floats in func.h and light.h. Those of f16 and bf16 are left out: they call functions of PTX,
    which the interpreter does not have."""
    found = []
    for name in [*api.functions_of("func/func.h"), *api.functions_of("func/light.h")]:
        if name in api.host_only:
            continue
        result, parameters = api.functions[name]
        kinds = [kind for kind, _ in parameters]
        if {result, *kinds} == {"float"}:
            arguments = ", ".join(f"get_float(in[{place}])" for place in range(len(kinds)))
            found.append(Call(name, name, kinds, result, 4, 1, f"*out = {name}({arguments});"))
        elif kinds == ["float", "float *", "float *"]:  # sine and cosine
            found.append(Call(name, name, kinds[:1], "float", 4, 2, f"{name}(get_float(in[0]), out, out + 1);"))
    return found


def transforms(api):
    """A call for every function of hadamard.h for device code: of so many floats in registers, with seed and block."""
    found = []
    for name in api.functions_of("rows/hadamard.h"):
        if name in api.host_only:
            continue
        count = int(name.rpartition("_")[2])
        body = (f"float x[{count}]; int k = 0; for (; k < {count}; ++k) x[k] = get_float(in[k]); "
                f"{name}(x, get_uint64_t(in[{count}]), get_uint64_t(in[{count + 1}])); "
                f"for (k = 0; k < {count}; ++k) out[k] = x[k];")
        found.append(Call(name, name, ["float"] * count + ["uint64_t"] * 2, "float", 4, count, body))
    return found


def modes():
    return [(rounding, overflow) for rounding in ROUNDINGS for overflow in OVERFLOWS]


def source(api, calls):
    lines = [PREAMBLE]
    for kind in sorted({kind for call in calls for kind in call.kinds}):
        lines.append(f"GET {kind} get_{kind}(uint64_t word) {{ return {ARGUMENTS[kind]}; }}"
                     if kind in ARGUMENTS else STRUCT.format(kind))
    lines += [f"CALL({call.name}, {call.words}, {call.results}, {call.result}, {call.body})" for call in calls]
    return "\n".join(lines) + "\n"


def nvcc():
    return os.environ.get("MPNUM_NVCC") or need("nvcc", "/usr/local/cuda/bin/nvcc")


def nvcc_version():
    return re.search(r"V([\d.]+)", check(nvcc(), "--version"))[1]


def archs_of_nvcc():
    """The numbers of all architectures that this nvcc compiles for."""
    return [line.strip().replace("compute_", "") for line in check(nvcc(), "--list-gpu-arch").splitlines()]


def compile_ptx(text, folder, arch, *flags):
    """The PTX that nvcc makes of a CUDA source."""
    name = f"sm_{arch}{''.join(flags)}"
    cuda, ptx = folder / f"{name}.cu", folder / f"{name}.ptx"
    cuda.write_text(text)
    check(nvcc(), "-ptx", "-std=c++17", f"-arch=compute_{arch}", "-Werror", "all-warnings", *flags, "-I",
          toolchain.INCLUDE_OF_NVCC, cuda, "-o", ptx)
    return ptx.read_text()


def skip(reason):
    raise tap.Skip(reason)


def run(title, make):
    """Runs the properties that make(folder, architectures) gives, in a folder of their own; without nvcc one that is
    skipped. An exit status is handed back."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            known = archs_of_nvcc()
        except tap.Skip as reason:
            return tap.run(toolchain.named(title, skip, str(reason)))
        made = make(Path(folder), known)
        return made if isinstance(made, int) else tap.run(*made)


class Host:
    """The same calls as functions of this machine."""

    def __init__(self, text, folder):
        code, library = folder / "calls.c", folder / "calls.so"
        code.write_text(text)
        check(*toolchain.cc(), "-std=c99", "-O2", "-shared", "-fPIC", "-I", toolchain.INCLUDE, code, "-o", library)
        self.library = ctypes.CDLL(str(library))

    def run(self, call, records):
        """The bytes that a call writes for records, an array of 64-bit words."""
        count = len(records) // call.words
        out = ctypes.create_string_buffer(count * call.results * call.size)
        words = (ctypes.c_uint64 * len(records)).from_buffer_copy(records)
        getattr(self.library, call.symbol)(words, out, ctypes.c_uint32(count))
        return out.raw


BLOCK = 128  # threads


def run_on(machine, call, records):
    """The bytes that a call's kernel writes for records."""
    count = len(records) // call.words
    source = machine.allocate(records.tobytes())
    target = machine.allocate(count * call.results * call.size)
    try:
        machine.launch(call.symbol, -(-count // BLOCK), BLOCK, [source.address, target.address, count])
    finally:
        machine.release(source)
        machine.release(target)
    assert 1 not in target.undefined, f"{call.name}: some results were not written"
    return bytes(target.data)


def differences(call, records, got, expected, most):
    """Lines on the first results that differ from the host's."""
    found = []
    if got == expected:
        return found
    for index in range(len(expected) // call.size):
        here = slice(index * call.size, (index + 1) * call.size)
        if got[here] != expected[here]:
            record, result = divmod(index, call.results)
            words = records[record * call.words:(record + 1) * call.words]
            mode = "" if call.results == 1 else f"element {result} "
            if call.name.endswith("_constants"):
                mode = " ".join(modes()[result]) + " "
            found.append(f"{call.function}({', '.join(f'{word:#x}' for word in words)}) {mode}gives "
                         f"{got[here][::-1].hex()}, on the host {expected[here][::-1].hex()}")
        if len(found) == most:
            break
    return found
