# SPDX-License-Identifier: MIT
"""The targets of fuzzers: what each is made of, how clang's libFuzzer builds it, and its corpus."""

import base64
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from toolchain import INCLUDE, run
from tree import ROOT, check, need

FLAGS = ["-std=c99", "-O1", "-g1", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all", f"-I{INCLUDE}"]
REFERENCE = "tests/reference/reference.c"
CONVERT = "tests/array/convert_functions.c"
READERS = ["bench/core/message.c", *(f"bench/input/{name}.c" for name in (
    "foreign", "ggml_blocks", "gguf", "input", "npy", "npz", "safetensors"))]
COMMANDS = ["bench/core/options.c", "bench/inspect/options.c", "bench/inspect/emit.c", "bench/core/command.c",
            "bench/core/block_formats.c", "bench/core/names.c", "bench/core/progress.c", "bench/core/timing.c",
            "bench/report/escape.c", *(f"bench/verdict/{name}.c" for name in ("measure", "rule", "scan", "words"))]


def of_bench(sources, *flags, longest=8192):
    return sources, ["-D_GNU_SOURCE", "-DBENCH_HAVE_JANSSON=1", "-DBENCH_HAVE_ZLIB=1", "-Ibench", "-pthread", *flags], longest


def of_reader(kind):
    return of_bench(["tests/fuzz/fuzz_reader.c", *READERS], f'-DFUZZ_NAME="fuzz.{kind}"')


def of_laws(program, *functions):
    """What main of the program of laws knows, called from bytes."""
    linked = [f"-DLINKED_{Path(name).stem}" for name in functions]
    return ([f"tests/laws/test_laws_{program}.c", "tests/laws/laws.c", *functions],
            ["-DLAWS_FUZZ", "-Dmain=main_of_laws", *linked], 600)


# What is worth trying in a text.
WORDS = {
    "text": ["inf", "infinity", "nan", "0x", "p+", "p-", "e-", "e+", "0x1.", "00000000000000000000", "99999999999999999999"],
    "names": ["matmul", "mm", "softmax", "cross", "binary_cross_entropy", "BF16", "float8_e4m3fn", "f8E4M3FN", "FLOAT8E5M2",
              "CUDA_R_8F_E4M3", "Float8E5M2Type"],
    "options": [f"--{name}\0" for name in re.findall(r'^    (?:FLAG\(|TEXT\(|\{")([\w-]+)', "".join(
        (ROOT / "bench" / name).read_text() for name in ("core/options.c", "inspect/options.c")), re.M)] + [
            "both\0", "1G\0", "4K,256K\0", "64,64,64\0", "avx2\0", "special\0", "e5m2,e4m3\0", "nvfp4\0", "--\0"],
}

# Sources, flags, the longest input.
TARGETS = {
    **{kind: of_reader(kind) for kind in ("gguf", "npy", "npz", "safetensors")},
    "index": of_bench(["tests/fuzz/fuzz_index.c", "bench/input/shards.c", *READERS], longest=600),
    "options": of_bench(["tests/fuzz/fuzz_options.c", *COMMANDS, *READERS], longest=300),
    "names": (["tests/fuzz/fuzz_names.c"], [], 100),
    "text": (["tests/fuzz/fuzz_text.c", REFERENCE], [], 400),
    "formats": (["tests/fuzz/fuzz_formats.c", REFERENCE], [], 60),
    "hardware": (["tests/fuzz/fuzz_hardware.c"], [], 400),
    "launchers": (["tests/fuzz/fuzz_launchers.cpp"], ["--driver-mode=g++", "-std=c++17", "-Wno-invalid-constexpr"], 200),
    "p3109": (["tests/fuzz/fuzz_p3109.c", REFERENCE], [], 300),
    "scaler": (["tests/fuzz/fuzz_scaler.c"], [], 8192),
    "steps": (["tests/fuzz/fuzz_steps.c"], [], 120),
    "states": (["tests/fuzz/fuzz_states.c"], [], 100),
    "history": (["tests/fuzz/fuzz_history.c"], [], 8192),
    "parts": (["tests/fuzz/fuzz_parts.c", REFERENCE], [], 300),
    "laws_arrays": of_laws("arrays", "tests/array/array_functions.c"),
    "laws_functions": of_laws("arrays", "tests/func/function_arrays.c"),
    "laws_pairs": of_laws("pairs"),
    "laws_rows": of_laws("rows", "tests/rows/row_functions.c", CONVERT),
    "laws_blocks": of_laws("blocks", "tests/blocks/block_functions.c", CONVERT),
    "laws_gradients": of_laws("gradients", "tests/training/grad_functions.c", CONVERT),
}
LARGEST, MOST = 20 << 10, 600  # bytes and inputs of a corpus


def need_libfuzzer(folder):
    """clang, or a visible skip where it comes without libFuzzer."""
    empty = os.path.join(folder, "empty.c")
    with open(empty, "w") as file:
        file.write("int LLVMFuzzerTestOneInput(const char *data, unsigned long size);\n"
                   "int LLVMFuzzerTestOneInput(const char *data, unsigned long size) { return !data && size; }\n")
    clang = need("clang")
    if run(clang, "-fsanitize=fuzzer", empty, "-o", os.path.join(folder, "empty")).returncode != 0:
        raise tap.Skip("this clang has no libFuzzer")
    return clang


def build(name, folder):
    """The program of a target; minutes for those of laws."""
    clang, (sources, flags, _) = need_libfuzzer(folder), TARGETS[name]
    libraries = ["-lm"]
    if "-Ibench" in flags:
        libraries += shlex.split(check(need("pkg-config"), "--cflags", "--libs", "jansson", "zlib"))
    program = os.path.join(folder, name)
    check(clang, *FLAGS, *flags, "-o", program, *sources, *libraries)
    return program


def corpus_file(name):
    return ROOT / "tests/fuzz/corpus" / f"{name}.txt"


def unpack_corpus(name, folder):
    """The inputs of a corpus, each in a file; of readers the files of make-seeds, too."""
    os.makedirs(folder, exist_ok=True)
    if corpus_file(name).exists():
        for number, line in enumerate(corpus_file(name).read_text().splitlines()):
            if not line.startswith("#"):
                Path(folder, f"line_{number + 1}").write_bytes(base64.b64decode(line, validate=True))
    return sorted(os.listdir(folder))


def pack_corpus(name, folder):
    """A line for each input, in base64, as libFuzzer prints one that fails: the shortest first; of too many every
    second, third, ..."""
    inputs = {path.read_bytes() for path in Path(folder).iterdir()} - {b""}
    inputs = sorted(inputs, key=lambda found: (len(found), found))[::len(inputs) // MOST + 1]
    lines = [base64.b64encode(found).decode() for found in inputs]
    corpus_file(name).write_text("# SPDX-License-Identifier: MIT\n" + "".join(line + "\n" for line in lines))


def run_fuzzer(name, program, folder, seconds):
    """libFuzzer from the corpus of a target and the seeds of a reader; what is new is left in folder/new."""
    seeds, new = os.path.join(folder, "seeds"), os.path.join(folder, "new")
    os.makedirs(new, exist_ok=True)
    unpack_corpus(name, os.path.join(folder, "old"))
    check(sys.executable, ROOT / "tests/fuzz/make-seeds", seeds)
    more = [os.path.join(seeds, name)] if name in os.listdir(seeds) else []
    if name in WORDS:  # an empty dictionary is refused
        Path(folder, "words").write_text("".join('"' + word.replace("\0", r"\x00") + '"\n' for word in WORDS[name]))
        more.append(f"-dict={folder}/words")
    return check(program, f"-max_total_time={seconds}", f"-max_len={TARGETS[name][2]}", "-timeout=20", "-rss_limit_mb=2048",
                 "-print_final_stats=1", f"-artifact_prefix={folder}/", new, os.path.join(folder, "old"), *more,
                 env={**os.environ, "TMPDIR": folder})


def merge(name, program, folder):
    """The fewest inputs of folder/old and folder/new that meet the same edges as often, as the corpus of a target; where
    they are large, the same edges."""
    for counters in (1, 0):
        least = os.path.join(folder, f"least_{counters}")
        os.mkdir(least)
        subprocess.run([program, "-merge=1", f"-use_counters={counters}", f"-max_len={TARGETS[name][2]}", least,
                        os.path.join(folder, "old"), os.path.join(folder, "new")], check=True, stdin=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env={**os.environ, "TMPDIR": folder})
        if sum(path.stat().st_size for path in Path(least).iterdir()) <= LARGEST:
            break
    pack_corpus(name, least)
