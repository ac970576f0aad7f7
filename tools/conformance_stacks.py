# SPDX-License-Identifier: MIT
"""Other stacks before the vectors of conformance/: what each gives, where it differs, and which clause says otherwise.

A stack is a function that returns its version and rows: (from, to, overflow, rounding, a function from a list of words to
a list of codes). It raises Missing, with the reason, where it is not there."""

import ctypes
import functools
import importlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from conformance_vectors import FORMATS, MX_RULES, OVERFLOWS, ROOT, ROUNDINGS, SOURCES, encoded, float_of, format_named, reference, widened, width_of

PEERS = ROOT / "bench/peers"


class Missing(Exception):
    """Why a stack is skipped."""


def load(name):
    try:
        return importlib.import_module(name)
    except (ImportError, AttributeError) as reason:  # the latter by one that wants a newer module of another
        raise Missing(f"no {name} for this Python: {reason}") from None


def numpy():
    np = load("numpy")
    np.seterr(all="ignore")
    return np


def floats(words, source):
    """Words as an array of NumPy; of bf16 as float32, which holds it."""
    np = numpy()
    if source == "bf16":
        return (np.array(words, np.uint32) << 16).view(np.float32)
    return np.array(words, f"u{width_of(source) // 8}").view({"f16": np.float16, "f32": np.float32, "f64": np.float64}[source])


def codes_of(array):
    """The bits of an array, whatever its type."""
    return array.view(f"u{array.dtype.itemsize}").tolist()


# Stacks of Python.


def in_numpy():
    np = numpy()
    return np.__version__, [(source, to, "ieee", "nearest_even", lambda words, source=source, dtype=dtype: codes_of(floats(words, source).astype(dtype)))
                            for source, to, dtype in (("f32", "f16", np.float16), ("f64", "f16", np.float16), ("f64", "f32", np.float32))]


ML_DTYPES = {"bfloat16": "bf16", "float8_e5m2": "e5m2", "float8_e4m3fn": "e4m3", "float8_e5m2fnuz": "e5m2fnuz",
             "float8_e4m3fnuz": "e4m3fnuz", "float8_e3m4": "e3m4", "float8_e8m0fnu": "e8m0", "float6_e3m2fn": "e3m2",
             "float6_e2m3fn": "e2m3", "float4_e2m1fn": "e2m1"}


def in_ml_dtypes():
    module = load("ml_dtypes")
    return module.__version__, [
        (source, to, "saturate" if to in ("e3m2", "e2m3", "e2m1") else "ieee", "nearest_even",
         lambda words, source=source, dtype=getattr(module, name): codes_of(floats(words, source).astype(dtype)))
        for name, to in ML_DTYPES.items() for source in ("f32", "f64", "f16", "bf16") if source != to]


def in_gfloat():
    """Its functions for single values: those for arrays are others, and are compared by tests/convert/witness_python.py."""
    gfloat, formats = load("gfloat"), load("gfloat.formats")
    modes = {"nearest_even": "TiesToEven", "toward_zero": "TowardZero", "up": "TowardPositive", "down": "TowardNegative",
             "nearest_away": "TiesToAway"}
    names = {"binary16": "f16", "bfloat16": "bf16", "ocp_e5m2": "e5m2", "ocp_e4m3": "e4m3", "ocp_e3m2": "e3m2",
             "ocp_e2m3": "e2m3", "ocp_e2m1": "e2m1", "ocp_e8m0": "e8m0"}

    def convert(words, source, info, mode, saturates):
        made = []
        for x in floats(words, source).astype("f8"):
            try:
                made.append(int(gfloat.encode_float(info, gfloat.round_float(info, float(x), mode, saturates))))
            except (ValueError, AssertionError, OverflowError):
                made.append(None)
        return made

    return load("importlib.metadata").version("gfloat"), [
        (source, to, overflow, rounding,
         lambda words, source=source, info=getattr(formats, f"format_info_{name}"), mode=getattr(gfloat.RoundMode, mode),
         overflow=overflow: convert(words, source, info, mode, overflow == "saturate"))
        for name, to in names.items() for rounding, mode in modes.items()
        for overflow in OVERFLOWS if overflow == "saturate" or to not in ("e3m2", "e2m3", "e2m1")
        for source in ("f64",)]


ONNX_FP8 = {"FLOAT8E4M3FN": "e4m3", "FLOAT8E4M3FNUZ": "e4m3fnuz", "FLOAT8E5M2": "e5m2", "FLOAT8E5M2FNUZ": "e5m2fnuz"}


def in_onnx():
    onnx = load("onnx")
    cast_to = load("onnx.reference.ops.op_cast").cast_to
    names = {**ONNX_FP8, "FLOAT16": "f16", "BFLOAT16": "bf16", "FLOAT4E2M1": "e2m1"}
    rows = []
    for name, to in names.items():
        for overflow in OVERFLOWS if name in ONNX_FP8 else ["saturate"] if to == "e2m1" else ["ieee"]:
            for source in ("f32", "f16"):
                if source != to:
                    rows.append((source, to, overflow, "nearest_even", lambda words, source=source, name=name, overflow=overflow: codes_of(
                        cast_to(floats(words, source), getattr(onnx.TensorProto, name), overflow == "saturate"))))
    return onnx.__version__, rows


def codes_by_value(to):
    """From values to codes, as bits of f64; of NaN one code."""
    format = format_named(to)
    shift = format.contents.storage_shift
    words = [code << shift for code in range(1 << (width_of(to) - shift))]
    return {reference.ref_decode(format, word): word for word in reversed(words)}


def in_onnxruntime():
    """The operator Cast on a CPU, and back to f32, which is exact."""
    onnx, ort, np = load("onnx"), load("onnxruntime"), numpy()

    def convert(words, source, name, overflow, table):
        helper, types = onnx.helper, onnx.TensorProto
        given = {"f32": types.FLOAT, "f16": types.FLOAT16}[source]
        saturate = {"saturate": int(overflow == "saturate")} if name in ONNX_FP8 else {}
        graph = helper.make_graph(
            [helper.make_node("Cast", ["x"], ["y"], to=getattr(types, name), **saturate), helper.make_node("Cast", ["y"], ["z"], to=types.FLOAT)], "g",
            [helper.make_tensor_value_info("x", given, [None])], [helper.make_tensor_value_info("z", types.FLOAT, [None])])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL  # the two casts are not folded
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        back = session.run(None, {"x": floats(words, source)})[0].astype(np.float64)
        back[np.isnan(back)] = np.array([0x7fffffffffffffff], np.uint64).view(np.float64)[0]
        return [table[bits] for bits in codes_of(back)]

    return ort.__version__, [
        (source, to, overflow, "nearest_even",
         lambda words, source=source, name=name, overflow=overflow, table=codes_by_value(to): convert(words, source, name, overflow, table))
        for name, to in {**ONNX_FP8, "FLOAT16": "f16", "BFLOAT16": "bf16"}.items() for source in ("f32", "f16") if source != to
        for overflow in (OVERFLOWS if name in ONNX_FP8 else ["ieee"])]


def in_torch():
    torch = load("torch")
    names = {"float16": "f16", "bfloat16": "bf16", "float8_e5m2": "e5m2", "float8_e4m3fn": "e4m3", "float8_e5m2fnuz": "e5m2fnuz",
             "float8_e4m3fnuz": "e4m3fnuz", "float8_e8m0fnu": "e8m0"}

    def convert(words, source, dtype):
        rounded = torch.from_numpy(floats(words, source)).to(dtype)
        return codes_of(rounded.view({1: torch.uint8, 2: torch.int16}[rounded.element_size()]).numpy())

    return torch.__version__, [
        (source, to, None, "nearest_even", lambda words, source=source, dtype=getattr(torch, name): convert(words, source, dtype))
        for name, to in names.items() if hasattr(torch, name) for source in ("f32", "f64", "f16") if source != to]


def in_jax():
    """Compiled by XLA for the CPU, which has no types of 6 bits."""
    jax = load("jax")
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    module, np = load("ml_dtypes"), numpy()
    names = {"float16": "f16", **{name: to for name, to in ML_DTYPES.items() if to not in ("e3m2", "e2m3")}}

    def convert(words, source, dtype):
        array = floats(words, source)
        if source == "bf16":
            array = np.array(words, np.uint16).view(module.bfloat16)
        return codes_of(np.asarray(jax.jit(lambda x: x.astype(dtype))(array)))

    return jax.__version__, [
        (source, to, "saturate" if to == "e2m1" else "ieee", "nearest_even",
         lambda words, source=source, dtype=getattr(module, name, np.float16): convert(words, source, dtype))
        for name, to in names.items() for source in ("f32", "f64", "f16", "bf16") if source != to]


def in_numkong():
    numkong = load("numkong")
    np = numpy()
    return numkong.__version__, [
        ("f32", to, None, "nearest_even", lambda words, name=name: np.asarray(numkong.astype(floats(words, "f32"), name)).reshape(-1).view(
            np.uint16 if name.endswith("16") else np.uint8).tolist())
        for name, to in {"float16": "f16", "bfloat16": "bf16", "e4m3": "e4m3", "e5m2": "e5m2", "e3m2": "e3m2", "e2m3": "e2m3"}.items()]


# Stacks of C and C++.


class Row(ctypes.Structure):
    """conversion of conformance_stacks.cpp."""
    _fields_ = [(name, ctypes.c_char_p) for name in ("source", "to", "overflow", "rounding")] + [("function", ctypes.c_void_p)]


class Loop(ctypes.Structure):
    """array_peer_loop of bench/peers/peers.h."""
    _fields_ = [("operation", ctypes.c_char_p), ("function", ctypes.c_char_p), ("run", ctypes.c_void_p)]


class Peer(ctypes.Structure):
    """array_peer."""
    _fields_ = [("name", ctypes.c_char_p), ("missing", ctypes.c_char_p), ("loops", ctypes.POINTER(Loop)), ("count", ctypes.c_size_t),
                ("present", ctypes.CFUNCTYPE(ctypes.c_int))]


def built(compiler, folder, arguments):
    """A shared object; Missing says what the compiler says first."""
    if not shutil.which(compiler):
        raise Missing(f"no {compiler}")
    made = Path(folder) / "stack.so"
    done = subprocess.run([compiler, "-O2", "-fPIC", "-shared", *map(str, arguments), "-o", str(made)], capture_output=True, text=True)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if "error" in line] or ["it cannot be compiled"]
        raise Missing(said[0].split("error: ")[-1])
    try:
        return ctypes.CDLL(str(made))
    except OSError as reason:
        raise Missing(str(reason)) from None


def rows_of_stack(compiler, stack, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        library = built(compiler, folder, ["-std=c++17", f"-DSTACK_{stack}", *arguments, ROOT / "tools/conformance_stacks.cpp"])
    rows = ctypes.POINTER(Row).in_dll(library, "stack_rows")
    count = ctypes.c_size_t.in_dll(library, "stack_count").value
    version = ctypes.POINTER(ctypes.c_int).in_dll(library, "stack_version")
    call = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64)
    found = [(*(getattr(row, name).decode() for name in ("source", "to", "overflow", "rounding")),
              lambda words, function=call(row.function), keep=library: [function(word) for word in words]) for row in rows[:count]]
    return f"{version[0]}.{version[1]}", found


def in_cuda():
    """The host path of the headers."""
    return rows_of_stack("g++", "cuda", "-isystem", os.environ.get("CUDA_INCLUDE", "/usr/local/cuda/include"))


def in_f16c():
    if " f16c " not in Path("/proc/cpuinfo").read_text():
        raise Missing("this CPU has no F16C")
    return "instruction VCVTPS2PH", rows_of_stack("g++", "f16c", "-mf16c")[1]


def in_gcc():
    return rows_of_stack("g++", "compiler")


def in_clang():
    names = sorted((name for name in os.listdir("/usr/bin") if name.startswith("clang++-")), key=lambda name: int(name[8:]))
    return rows_of_stack(names[-1] if names else "clang++", "compiler")


def in_peer(peer, compiler, arguments, version):
    """What ./mpnum bench times: one row for each of its loops that narrows. Whether it saturates, it says by what it gives."""
    source = next(PEERS.glob(f"{peer}.c*"))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "peers").mkdir()
        (Path(folder) / "peers/array_peers.h").write_text(f"#define ARRAY_PEERS(PEER) PEER({peer})\n")
        library = built(compiler, folder, ["-I", PEERS, "-I", PEERS.parent, "-I", folder, source, *arguments])
    table = Peer.in_dll(library, f"peer_{peer}")
    if table.present and not table.present():
        raise Missing("this CPU cannot run it")
    rows = []
    for loop in table.loops[:table.count]:
        source, _, to = loop.operation.decode().partition(" to ")
        if {source, to} <= {"f16", "bf16", "f32", "f64", "e4m3", "e5m2"} and to != "f64" and width_of(source) > width_of(to):
            rows.append((source, to, None, "nearest_even",
                         lambda words, source=source, to=to, run=loop.run, keep=library: run_loop(run, words, source, to)))
    return version, rows


def run_loop(run, words, source, to):
    count = (len(words) + 255) // 256 * 256
    given = (getattr(ctypes, f"c_uint{width_of(source)}") * count)(*words)
    made = (getattr(ctypes, f"c_uint{width_of(to)}") * count)()
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)(run)(made, given, count)
    return list(made)[:len(words)]


def in_package(peer, package, compiler="g++"):
    """A library that pkg-config knows."""
    def stack():
        asked = [subprocess.run(["pkg-config", option, package], capture_output=True, text=True) if shutil.which("pkg-config") else None
                 for option in ("--modversion", "--cflags", "--libs")]
        if None in asked or asked[0].returncode:
            raise Missing(f"pkg-config knows no {package}")
        version, flags, libraries = (done.stdout.split() for done in asked)
        return in_peer(peer, compiler, flags + libraries, version[0])
    return stack


def in_folder(peer, variable, parts, library=None):
    """A library in a folder that an environment variable names."""
    def stack():
        folder = os.environ.get(variable)
        if not folder:
            raise Missing(f"{variable}=FOLDER names it")
        libraries = sorted(Path(folder).rglob(f"lib{library}.so")) if library else []
        if library and not libraries:
            raise Missing(f"no lib{library}.so in {variable}")
        linked = [argument for path in libraries[:1] for argument in (path, f"-Wl,-rpath,{path.parent}")]
        return in_peer(peer, "cc", [argument for part in parts for argument in ("-isystem", Path(folder) / part)] + linked,
                       version_of(folder))
    return stack


# Precision, exponents and whether it has an Inf, of formats whose codes with the largest exponent are all numbers, or none.
CPFLOAT = {"f16": (11, -14, 15, True), "bf16": (8, -126, 127, True), "tf32": (11, -126, 127, True), "e5m2": (3, -14, 15, True),
           "e3m4": (5, -2, 3, True), "e3m2": (3, -2, 4, False), "e2m3": (4, 0, 2, False), "e2m1": (2, 0, 2, False)}


def in_cpfloat():
    """It rounds values, in f32 and in f64, to those of a format."""
    folder, np = os.environ.get("CPFLOAT"), numpy()
    if not folder:
        raise Missing("CPFLOAT=FOLDER names it")
    with tempfile.TemporaryDirectory() as made:
        library = built("cc", made, ["-w", "-I", Path(folder) / "src", ROOT / "tools/conformance_cpfloat.c", "-lm"])
    modes = {"nearest_even": 1, "toward_zero": 4, "up": 2, "down": 3, "nearest_away": -1, "to_odd": 7}

    def convert(words, source, format, saturates, mode, table):
        given = floats(words, source)
        back = np.zeros_like(given)
        run = getattr(library, f"round_{source}")
        if run(ctypes.c_void_p(back.ctypes.data), ctypes.c_void_p(given.ctypes.data), ctypes.c_size_t(len(given)), *format[:3], saturates, mode):
            return [None] * len(given)
        back = back.astype(np.float64)
        back[np.isnan(back)] = np.array([0x7fffffffffffffff], np.uint64).view(np.float64)[0]
        return [table.get(bits) for bits in codes_of(back)]

    return version_of(folder), [
        (source, to, overflow, rounding, lambda words, source=source, format=format, overflow=overflow, mode=mode, table=codes_by_value(to):
         convert(words, source, format, overflow == "saturate", mode, table))
        for to, format in CPFLOAT.items() for overflow in OVERFLOWS if format[3] or overflow == "saturate"
        for source in ("f32", "f64") for rounding, mode in modes.items()]


# Blocks: rows of (element, rule, a function from an array of blocks to arrays of values, or of scales and of codes).


def blocks_in_gfloat():
    block, formats = load("gfloat.block"), load("gfloat.formats")
    np = numpy()
    names = {"e4m3": "mxfp8_e4m3", "e5m2": "mxfp8_e5m2", "e3m2": "mxfp6_e3m2", "e2m3": "mxfp6_e2m3", "e2m1": "mxfp4_e2m1", "int8": "mxint8"}

    def convert(row, info):
        try:
            return block.quantize_block(info, row.astype(np.float64), block.compute_scale_amax).astype(np.float32)
        except (ValueError, OverflowError):
            return None

    return load("importlib.metadata").version("gfloat"), [
        (element, "floor", lambda x, info=getattr(formats, f"format_info_{name}"): ([convert(row, info) for row in x],)) for element, name in names.items()]


def blocks_in_microxcaling():
    torch, ops = load("torch"), load("mx.mx_ops")
    names = {"e4m3": "fp8_e4m3", "e5m2": "fp8_e5m2", "e3m2": "fp6_e3m2", "e2m3": "fp6_e2m3", "e2m1": "fp4_e2m1", "int8": "int8"}

    def convert(x, name):
        return ops._quantize_mx(torch.from_numpy(x.copy()), 8, name, axes=[-1], block_size=32, round="even").numpy()

    return version_of(Path(ops.__file__).parent), [(element, "floor", lambda x, name=name: (convert(x, name),)) for element, name in names.items()]


def blocks_in_torchao():
    torch, torchao = load("torch"), load("torchao")
    try:
        tensor = load("torchao.prototype.mx_formats.mx_tensor")
        unpack = tensor.unpack_uint4
        modes = getattr(tensor, "ScaleCalculationMode", None) or load("torchao.prototype.mx_formats.config").ScaleCalculationMode
        names = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "e3m2": "fp6_e3m2", "e2m3": "fp6_e2m3",
                 "e2m1": getattr(torch, "float4_e2m1fn_x2", "fp4_e2m1")}
    except AttributeError as reason:
        raise Missing(f"PyTorch {torch.__version__} is too old for it ({reason})") from None

    def convert(x, element, rule):
        scales, codes = tensor.to_mx(torch.from_numpy(x.copy()), names[element], 32, getattr(modes, rule.upper()))
        codes = codes.view(torch.uint8)
        if element == "e2m1":  # two a byte, of which the first one is the lower or, in older ones, the upper half
            codes = unpack(codes)
        return scales.view(torch.uint8).numpy().reshape(-1), codes.numpy().reshape(x.shape)

    return torchao.__version__, [(element, rule, lambda x, element=element, rule=rule: convert(x, element, rule))
                                 for element in names for rule in MX_RULES if hasattr(modes, rule.upper())]


def blocks_in_ggml():
    """Its MXFP4, there and back by its reference functions: 16 bytes behind a scale."""
    folder, np = os.environ.get("GGML"), numpy()
    found = sorted(Path(folder).rglob("libggml-base.so")) if folder else []
    if not found:
        raise Missing("no libggml-base.so in GGML" if folder else "GGML=FOLDER names it")
    library = ctypes.CDLL(str(found[0]))

    def convert(x):
        coded, back = np.zeros((len(x), 17), np.uint8), np.zeros(x.shape, np.float32)
        pointer, n = lambda array: ctypes.c_void_p(array.ctypes.data), ctypes.c_int64(x.size)
        library.quantize_row_mxfp4_ref(pointer(np.ascontiguousarray(x)), pointer(coded), n)
        library.dequantize_row_mxfp4(pointer(coded), pointer(back), n)
        return (back,)

    return version_of(folder), [("e2m1", "floor", convert)]


def version_of(folder):
    """The commit of a checkout."""
    done = subprocess.run(["git", "-C", folder, "log", "-1", "--format=%h"], capture_output=True, text=True)
    return f"commit {done.stdout.strip()}" if done.returncode == 0 else "no commit"


BLOCK_STACKS = {"gfloat, blocks": blocks_in_gfloat, "microxcaling, blocks": blocks_in_microxcaling, "torchao, blocks": blocks_in_torchao,
                "ggml, blocks": blocks_in_ggml}

STACKS = {
    "NumPy": in_numpy, "ml_dtypes": in_ml_dtypes, "gfloat": in_gfloat, "onnx.reference": in_onnx, "ONNX Runtime": in_onnxruntime,
    "PyTorch": in_torch, "JAX": in_jax, "NumKong": in_numkong, "CUDA headers": in_cuda, "F16C": in_f16c, "GCC": in_gcc, "clang": in_clang,
    "Eigen": in_package("eigen", "eigen3"), "Highway": in_package("highway", "libhwy"), "Imath": in_package("imath", "Imath", "cc"),
    "FP16": in_folder("fp16", "FP16", ["", "include"]), "ggml": in_folder("ggml", "GGML", ["include"], "ggml-cpu"),
    "CPFloat": in_cpfloat, **BLOCK_STACKS,
}


# Comparing.

CAUSES = {
    "no NaN": "the format has no NaN, and OCP MX 1.0 leaves open what becomes of one; here the largest value",
    "through f32": "rounds twice, by way of f32: IEEE 754-2019, 5.1, rounds the exact value once",
    "through f16": "rounds twice, by way of f16: IEEE 754-2019, 5.1, rounds the exact value once",
    "clips first": "takes what is above the largest value for an overflow before it is rounded: IEEE 754-2019, 7.4, judges the rounded one",
    "saturates": "the largest value where Inf or NaN is asked: OCP OFP8 1.0, conversion without saturation",
    "Inf stays": "Inf or NaN where the largest value is asked: OCP OFP8 1.0, conversion with saturation",
    "NaN is lost": "a NaN becomes a number or Inf: IEEE 754-2019, 6.2",
    "NaN for Inf": "a NaN where the format has an Inf: IEEE 754-2019, 7.4; OCP OFP8 1.0, conversion without saturation",
    "adds one half": "rounds up just below the middle, as adding one half rounds: IEEE 754-2019, 4.3.1",
    "flushes": "subnormal numbers become zero: IEEE 754-2019, 3.3 and 7.5, keeps them",
    "negative or zero to e8m0": "NaN, or nothing, for what e8m0 has no code of: OCP MX 1.0 leaves it open; here the magnitude, 0 as 2^-127",
    "ties away": "ties away from zero: IEEE 754-2019, 4.3.1, to the even code; OCP MX 1.0 names no rounding to e8m0",
    "below the least": "another code for what is below 2^-127 or between it and 2^-126: OCP MX 1.0 names no rounding to e8m0",
    "truncates": "cuts the mantissa off: IEEE 754-2019, 4.3.1",
    "sign of zero": "a zero of the other sign: IEEE 754-2019, 6.3",
    "Inf and NaN": "a block with Inf or NaN: OCP MX 1.0 leaves it open; here its scale is a NaN",
    "-128": "-128 of int8: OCP MX 1.0 leaves it open; here int8 is symmetric",
    "least scale": "another scale than 2^-127, the least, or another divisor: OCP MX 1.0, 6.3, divides by the scale",
    "logarithm": "the exponent by a logarithm in f32, which is wrong next to a power of two: OCP MX 1.0, 6.3, the largest power of two up to it",
    "tie": "a tie to the code that is not even: IEEE 754-2019, 4.3.1",
    "zero": "the sign of a zero, of which OCP MX 1.0 says nothing",
}


LEAST_NORMAL = 897 << 52  # of f32, 2^-126, as the bits of a double


def is_nan(name, word):
    if name == "f64":
        return word & (1 << 63) - 1 > 0x7ff << 52
    return bool(reference.ref_is_nan(format_named(name), word))


def cause(row, word, got, want):
    """Why a code differs: a key of CAUSES, or None."""
    source, to, overflow, rounding = row
    overflow, format = OVERFLOWS.index(overflow), format_named(to)
    bits, mode = widened(source, word), ROUNDINGS.index(rounding)
    magnitude = bits & (1 << 63) - 1
    source_nan, infinite = is_nan(source, word), magnitude == 0x7ff << 52
    largest = reference.ref_value(format, format.contents.max_code)

    def by_way_of(name, mode=mode):
        step = encoded(name, bits, mode, 0)
        return encoded(to, reference.ref_decode(format_named(name), step), mode, overflow)

    if source_nan:
        return "NaN is lost" if format.contents.nan_code else "no NaN"
    if to == "e8m0" and (bits >> 63 or magnitude == 0):
        return "negative or zero to e8m0"
    if to == "e8m0" and magnitude < LEAST_NORMAL:
        return "below the least"
    if got is None:
        return None
    away = ROUNDINGS.index("nearest_away")
    if mode == away and got == encoded(to, bits + 1, mode, overflow):
        return "adds one half"
    toward_zero = encoded(to, bits, ROUNDINGS.index("toward_zero"), overflow)
    if not (reference.ref_decode(format, got) | reference.ref_decode(format, want)) & (1 << 63) - 1:
        return "sign of zero"
    if not got & (1 << width_of(to) - 1) - 1 and (source == "f64" or got != toward_zero) and reference.ref_decode(format, want) & (1 << 63) - 1 <= LEAST_NORMAL:
        return "flushes" if got != by_way_of("f32") or source != "f64" else "through f32"
    if source == "f64" and got in (by_way_of("f32"), to == "e8m0" and by_way_of("f32", away)):
        return "through f32"
    if mode == 0 and got == encoded(to, bits, away, overflow):
        return "ties away"
    if got == encoded(to, bits, mode, 1 - overflow):
        return "saturates" if overflow == 0 else "Inf stays"
    if is_nan(to, got) and format.contents.infinity_code and overflow == 0 and want == encoded(to, 0x7ff << 52 | bits & 1 << 63, mode, 0):
        return "NaN for Inf"
    if overflow == 1 and is_nan(to, got):
        return "Inf stays"
    if overflow == 0 and largest < magnitude and got == encoded(to, 0x7ff << 52 | bits & 1 << 63, mode, 0):
        return "clips first"
    if not infinite and got == toward_zero:
        return "truncates"
    if width_of(to) < 16 and got == by_way_of("f16"):
        return "through f16"
    return None


@functools.cache
def vectors_of(source):
    with open(ROOT / f"conformance/convert_{source}.jsonl", encoding="utf-8") as lines:
        next(lines)
        return [json.loads(line) for line in lines]


class Result:
    """What one stack gave."""

    def __init__(self, name, version):
        self.name, self.version, self.missing = name, version, None
        self.rows, self.cases, self.differing = 0, 0, {}  # {(from, to, overflow, cause): [count, first input, got, want, roundings]}

    def add(self, source, to, overflow, why, rounding, word, got, want):
        entry = self.differing.setdefault((source, to, overflow, why), [0, word, got, want, []])
        entry[0] += 1
        entry[4] += [rounding] if rounding not in entry[4] else []

    @property
    def count(self):
        return sum(entry[0] for entry in self.differing.values())


def differences(row, lines, convert):
    source, to, overflow, rounding = row
    words, want = [], []
    for line in lines:
        if line["to"] == to and line["overflow"] in (overflow, "any"):
            words += [int(word, 16) for word in line["in"].split()]
            want += [int(word, 16) for word in line[rounding].split()]
    got = convert(words)
    assert len(got) == len(words), f"{row}: {len(got)} results of {len(words)}"
    mask = (1 << width_of(to)) - 1
    wrong = [(word, a if a is None else a & mask, b) for word, a, b in zip(words, got, want)
             if a is None or a & mask != b and not (is_nan(to, a & mask) and is_nan(to, b))]
    return len(words), wrong


def block_cause(line, amax, key, x, got, want):
    """Why a block differs: by its largest magnitude, the first element that differs, and both results, of which one may be None."""
    scale = int(line["scale"], 16)
    if amax >= 0x7f800000:
        return "Inf and NaN"
    if got is None:
        return None
    if key == "back" and not (got | want) & 0x7fffffff:
        return "zero"
    if line["element"] == "int8" and key == "back" and float_of(want) == -127 / 64 * 2.0 ** (scale - 127):
        return "-128"
    if scale == 0:
        return "least scale"
    if key == "back" and abs(float_of(x) - float_of(got)) == abs(float_of(x) - float_of(want)):
        return "tie"
    mantissa = amax & 0x7fffff
    return "logarithm" if min(mantissa, (1 << 23) - mantissa) < 128 else None


def compare_blocks(result, rows):
    np = numpy()
    with open(ROOT / "conformance/blocks.jsonl", encoding="utf-8") as lines:
        blocks = [line for line in map(json.loads, lines) if line.get("kind") == "mx_block"]
    array = lambda words: np.array([int(word, 16) for word in words.split()], np.uint32)
    for element, rule, convert in rows:
        chosen = [line for line in blocks if (line["element"], line["rule"]) == (element, rule)]
        x = np.array([array(line["in"]) for line in chosen])
        made = convert(x.view(np.float32))
        result.rows, result.cases = result.rows + 1, result.cases + len(chosen)
        keys = {"back": "MX values"} if len(made) == 1 else {"scale": "MX scales", "codes": "MX codes"}
        for i, line in enumerate(chosen):
            for (key, name), given in zip(keys.items(), made):
                want = array(line[key])
                amax, at, got = int((x[i] & 0x7fffffff).max()), 0, None if given[i] is None else np.atleast_1d(given[i])
                if got is not None:
                    got = got.view(np.uint32) if key == "back" else got.astype(np.uint32)
                    both_nan = (key == "back") & (want & 0x7fffffff > 0x7f800000) & (got & 0x7fffffff > 0x7f800000)
                    wrong = np.flatnonzero((got != want) & ~both_nan)
                    if not wrong.size:
                        continue
                    at = wrong[0]
                differs = int(x[i][at]) if key != "scale" else amax, None if got is None else int(got[at]), int(want[at])
                result.add(element, name, rule, block_cause(line, amax, key, *differs), "nearest_even", *differs)
                break
    return result


def compare(name):
    result = Result(name, "")
    try:
        result.version, rows = STACKS[name]()
    except Missing as reason:
        result.missing = str(reason)
        return result
    if name in BLOCK_STACKS:
        return compare_blocks(result, rows)
    assert rows, f"{name} converts nothing"
    for source, to, overflow, rounding, convert in rows:
        # A stack that has one rule alone is taken at the one that it keeps better.
        rules = [overflow] if overflow else OVERFLOWS if width_of(to) == 8 else ["ieee"] if width_of(to) > 8 else ["saturate"]
        tried = [(differences((source, to, rule, rounding), vectors_of(source), convert), rule) for rule in rules]
        (cases, wrong), overflow = min(tried, key=lambda one: len(one[0][1]))
        result.rows, result.cases = result.rows + 1, result.cases + cases
        for word, got, want in wrong:
            why = cause((source, to, overflow, rounding), word, got, want)
            result.add(source, to, overflow, why, rounding, word, got, want)
    return result


# What is printed, and written into docs/conformance.md.


def code_text(code, name):
    digits = {"MX values": 8, "MX scales": 2, "MX codes": 2}.get(name) or (width_of(name) + 3) // 4
    return "nothing" if code is None else f"{code:0{digits}x}"


def summary_table(results):
    lines = ["| stack | version | conversions | cases | differ |", "|---|---|---|---|---|"]
    for result in results:
        if result.missing:
            lines.append(f"| {result.name} | SKIP: {result.missing} | | | |")
        else:
            lines.append(f"| {result.name} | {result.version} | {result.rows} | {result.cases} | {result.count} |")
    return lines


def listed(keys, order):
    """Each key once, in that order, others after it."""
    keys = list(keys)
    return ", ".join(sorted(set(keys), key=[*order, *keys].index))


def such_as(source, word, to):
    """An input; of a block the element that differs, or its amax."""
    return f"{word:08x} in a block of {source}" if to.startswith("MX") else f"{source} {code_text(word, source)} to {to}"


def difference_table(results):
    """A row for each cause of each stack."""
    lines = ["| stack | from | to | rules | differ | such as | it gives | expected | why |", "|---|---|---|---|---|---|---|---|---|"]
    for result in results:
        for why in dict.fromkeys(key[3] for key in result.differing):
            found = {key: entry for key, entry in result.differing.items() if key[3] == why}
            (source, to, *_), (_, word, got, want, _) = next(iter(found.items()))
            rules = listed((key[2] for key in found), [*OVERFLOWS, *MX_RULES])
            roundings = listed((rounding for entry in found.values() for rounding in entry[4]), ROUNDINGS)
            lines.append(f"| {result.name} | {listed((key[0] for key in found), SOURCES)} | {listed((key[1] for key in found), FORMATS)} | "
                         f"{rules}{'' if roundings == ROUNDINGS[0] else '; ' + roundings} | {sum(entry[0] for entry in found.values())} | "
                         f"{such_as(source, word, to)} | {code_text(got, to)} | {code_text(want, to)} | {CAUSES.get(why, 'unexplained')} |")
    return lines


BEGIN, END = "<!-- Written by tools/conformance --against --page. -->\n", "<!-- End of what tools/conformance wrote. -->\n"


def tables(results):
    """What was compared, then what differs, as the page has them."""
    differing = difference_table(results) if any(result.differing for result in results) else []
    return "\n".join([*summary_table(results), *([""] if differing else []), *differing]) + "\n"


def unexplained(results):
    """Whether a difference has no cause that is known."""
    return any(key[3] is None for result in results for key in result.differing)


def write_page(path, text):
    page = path.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    path.write_text(before + BEGIN + text + END + rest.split(END)[1], encoding="utf-8")
