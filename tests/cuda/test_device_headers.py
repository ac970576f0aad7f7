#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Device code may call every function: nvcc, NVRTC with no include path but ours, and clang without a CUDA toolkit
compile a kernel for each header, without a warning and to integer arithmetic and cvt alone. No GPU is needed.

usage: tests/cuda/test_device_headers.py [full | exhaustive]

Without an argument one architecture runs, with full another one in other dialects, with exhaustive every architecture
in every dialect.
"""

import ctypes
import ctypes.util
import importlib.metadata
import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
import toolchain
from toolchain import INCLUDE, INCLUDE_OF_NVCC, named, run
from tree import check, need

api = toolchain.load_api().Api()
FUNCTIONS = {header: [name for name in api.functions_of(header) if name not in api.host_only]
             for header in api.headers}

STANDARDS = ["c++11", "c++14", "c++17", "c++20"]
QUICK_ARCHS = os.environ.get("MPNUM_GPU_ARCHS", "75 90 120").split()
FULL_ARCHS = ["80", "89", "100a"]  # with the quick ones every #if of the headers
MORE_ARCHS = ["90a", "100a", "100f", "103a", "110a", "120a", "120f", "121a"]  # beside all that nvcc lists

# get makes an argument of any type from memory, put keeps the compiler from dropping a result.
PREAMBLE = """\
#if defined(__clang__) && !defined(__host__)
# define __host__ __attribute__((host))
# define __device__ __attribute__((device))
# define __global__ __attribute__((global))
#endif
template <class T> __host__ __device__ T get(const uint32_t *in) {
  T value;
  unsigned char *bytes = reinterpret_cast<unsigned char *>(&value);
  for (unsigned i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<unsigned char>(in[i / 4] >> i % 4 * 8);
  return value;
}
template <class T> __host__ __device__ void put(uint32_t *out, T value) {
  const unsigned char *bytes = reinterpret_cast<const unsigned char *>(&value);
  for (unsigned i = 0; i < sizeof(T); ++i) *out = *out * 31u + bytes[i];
}
"""


def caller_of(header):
    return "use_" + re.sub(r"\W", "_", header)


def call(name):
    """A statement that calls a function with arguments from memory; a pointer points to memory too."""
    result, parameters = api.functions[name]
    arguments = []
    for place, (kind, _) in enumerate(parameters):
        if kind.endswith("*"):
            memory = "in" if kind.startswith("const") and kind.count("*") == 1 else "out"
            arguments.append(f"reinterpret_cast<{kind}>({memory} + {8 * place})")
        else:
            arguments.append(f"get<{kind}>(in + {8 * place})")
    made = f"{name}({', '.join(arguments)})"
    if result == "void":
        return f"  {made};"
    return f"  put(out, {'*' if result.endswith('*') else ''}{made});"


def kernels():
    lines = [f"#include <mpnum/{header}>" for header in api.headers if header.endswith((".h", ".hpp"))] + [PREAMBLE]
    for header in filter(FUNCTIONS.get, api.headers):
        name = caller_of(header)
        lines += [f"__host__ __device__ void {name}(const uint32_t *in, uint32_t *out) {{",
                  "  (void)in, (void)out;  // where no function has a parameter, or a result",
                  *[call(function) for function in FUNCTIONS[header]], "}",
                  # clang without a toolkit cannot build the host's half of a kernel.
                  "#if !defined(__clang__) || defined(__CUDA_ARCH__)",
                  f"__global__ void {name}_kernel(const uint32_t *in, uint32_t *out) {{ {name}(in, out); }}", "#endif"]
    return "\n".join(lines) + "\n"


def nvcc():
    return os.environ.get("MPNUM_NVCC") or need("nvcc", "/usr/local/cuda/bin/nvcc")


def archs_of_nvcc():
    """The numbers of all architectures that this nvcc compiles for."""
    return [line.strip().replace("compute_", "") for line in check(nvcc(), "--list-gpu-arch").splitlines()]


def nvcc_compiles(arch, *flags):
    if arch.rstrip("af") not in archs_of_nvcc():
        raise tap.Skip(f"this nvcc does not compile for sm_{arch}")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernels.cu"
        source.write_text(kernels())
        target = [f"-arch=compute_{arch}"] if "-ptx" in flags else [f"-gencode=arch=compute_{arch},code=sm_{arch}"]
        check(nvcc(), *flags, "-Werror", "all-warnings", "-I", INCLUDE_OF_NVCC, *target, source, "-o", Path(folder) / "kernels.out")


def file_of_package(package, pattern):
    """The path of a file of an installed Python package; None where it is not installed."""
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    found = [Path(file.locate()) for file in files if file.match(pattern)]
    return found[0] if found else None


class Nvrtc:
    """The library: that of a path, or found next to nvcc or by its name."""

    def __init__(self, path=None):
        names = [str(path)] if path else ["libnvrtc.so"]
        if path:
            return self.open(names)
        for home in (Path(os.path.realpath(nvcc())).parents[1], Path("/usr/local/cuda")):
            for folder in ("lib64", "lib", "targets/*/lib"):
                names += [str(path) for path in home.glob(f"{folder}/libnvrtc.so*")]
        names.append(ctypes.util.find_library("nvrtc"))
        self.open(names)

    def open(self, names):
        for name in filter(None, names):
            try:
                # It opens its builtins by name, which works outside the loader's folders when they are loaded.
                for builtins in Path(name).parent.glob("libnvrtc-builtins.so*") if "/" in name else []:
                    ctypes.CDLL(str(builtins), ctypes.RTLD_GLOBAL)
                self.library = ctypes.CDLL(name)
                return
            except OSError:
                pass
        raise tap.Skip("no libnvrtc")

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        assert status == 0, f"{name} returned {status}"

    def archs(self):
        count = ctypes.c_int()
        self.call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        numbers = (ctypes.c_int * count.value)()
        self.call("nvrtcGetSupportedArchs", numbers)
        return [str(number) for number in numbers]

    def compile(self, source, *options, instances=()):
        """Returns (status, log, PTX); instances are kernels of templates that the PTX is to hold."""
        program = ctypes.c_void_p()
        self.call("nvrtcCreateProgram", ctypes.byref(program), source.encode(), b"kernels.cu", 0, None, None)
        for instance in instances:
            self.call("nvrtcAddNameExpression", program, instance.encode())
        given = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        status = self.library.nvrtcCompileProgram(program, len(options), given)
        texts = []
        for what in ("ProgramLog", "PTX"):
            size = ctypes.c_size_t()
            self.call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
            text = ctypes.create_string_buffer(size.value)
            if size.value:
                self.call(f"nvrtcGet{what}", program, text)
            texts.append(text.value.decode())
        self.call("nvrtcDestroyProgram", ctypes.byref(program))
        return (status, *texts)


def nvrtc_compiles(arch, standard, *flags):
    nvrtc = Nvrtc()
    if arch.rstrip("af") not in nvrtc.archs():
        raise tap.Skip(f"this NVRTC does not compile for sm_{arch}")
    status, log, ptx = nvrtc.compile(kernels(), f"--gpu-architecture=compute_{arch}", f"--std={standard}",
                                     f"--include-path={INCLUDE}", *flags)
    assert status == 0 and not log, f"status {status}\n{log[:4000]}"
    assert all(f"{caller_of(header)}_kernel" in ptx for header in filter(FUNCTIONS.get, FUNCTIONS))
    # setp and abs are fine: a compiler that makes them of a test of bits keeps its meaning. cvt is the hardware's.
    # Assembly (of f32_ops.h, environment.h, softmax_state.h and fast.h) says itself how it rounds and what it flushes.
    compiled = re.sub(r"// begin inline asm\n.*?// end inline asm", "", ptx, flags=re.S)
    arithmetic = re.findall(r"^\s*((?:add|sub|mul|fma|div|min|max|sqrt|rcp|ex2|lg2)\.[\w.]*f(?:16|32|64)\b.*|cvt\.[\w.]*ftz.*)",
                            compiled, re.M)
    assert not arithmetic, f"results may depend on flags such as -use_fast_math: {arithmetic[:5]}"


def clang_compiles(standard, *half):
    clang = need("clang++")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernels.cu"
        source.write_text(kernels())
        command = [clang, "-x", "cuda", f"-std={standard}", "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_75", "-O2",
                   "-Wall", "-Wextra", "-Werror", "-Wno-unknown-cuda-version", "-I", INCLUDE, *half]
        probe = Path(folder) / "probe.cu"
        probe.write_text("__attribute__((device)) int x;\n")
        if run(*command, "-S", probe, "-o", Path(folder) / "probe.s").returncode:
            raise tap.Skip("this clang++ has no CUDA target")
        check(*command, "-S", source, "-o", Path(folder) / "kernels.s")


def quick_properties():
    last = QUICK_ARCHS[-1]
    yield named(f"nvcc compiles every function for sm_{last}", nvcc_compiles, last, "-std=c++11", "-cubin")


def all_archs():
    try:
        return archs_of_nvcc() + MORE_ARCHS
    except tap.Skip:
        return QUICK_ARCHS  # each says why it is skipped


def full_properties():
    """The dialects and -use_fast_math are a matter of the compiler before ptxas. What depends on the architecture are
    conversions, of which ptx/test_ptx_code.py has all, and kernels, of which test_cuda_headers.py has all."""
    yield named("NVRTC compiles every function for sm_75 with --use_fast_math", nvrtc_compiles, "75", "c++17",
                "--use_fast_math")
    yield named("nvcc compiles every function for host and device", nvcc_compiles, "75", "-std=c++20", "-c", "-Xptxas", "-O0",
                "-Xcompiler", "-fsyntax-only")  # the host's half is read: its code, 40 s, is that of other tests
    yield named("clang compiles every function for a device", clang_compiles, "c++11", "--cuda-device-only")
    yield named("clang reads every function for the host of a device", clang_compiles, "c++17", "--cuda-host-only",
                "-fsyntax-only")


def exhaustive_properties():
    """Every architecture in every dialect, with and without -use_fast_math."""
    for arch in all_archs():
        for standard in STANDARDS:
            for flags in ([], ["-use_fast_math"]):
                yield named(" ".join([f"nvcc compiles every function for sm_{arch} in {standard}", *flags]),
                            nvcc_compiles, arch, f"-std={standard}", "-cubin", *flags)
        yield named(f"NVRTC compiles every function for sm_{arch}", nvrtc_compiles, arch, "c++17")
    for standard in STANDARDS:
        yield named(f"NVRTC compiles every function in {standard}", nvrtc_compiles, "90", standard)
        for half in ("--cuda-device-only", "--cuda-host-only"):
            yield named(f"clang compiles every function in {standard} with {half}", clang_compiles, standard, half)


PROPERTIES = {"quick": quick_properties, "full": full_properties, "exhaustive": exhaustive_properties}
if __name__ == "__main__":
    tier = sys.argv[1] if sys.argv[1:] else "quick"
    if tier not in PROPERTIES:
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(2)
    sys.exit(toolchain.run_on_all_cores(list(PROPERTIES[tier]())))
