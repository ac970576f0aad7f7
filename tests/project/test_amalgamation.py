#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./mpnum amalgamate: the files compile alone, without a warning, and are the headers, nothing else.

usage: tests/project/test_amalgamation.py [full]

Without an argument gcc compiles them, with full clang, nvcc and NVRTC."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path += [str(pathlib.Path(__file__).resolve().parents[1] / room) for room in ["harness", "cuda"]]

import tap
import test_device_headers
import toolchain
import tree
from toolchain import named

ROOT = tree.ROOT
HEADERS = ROOT / "include/mpnum"
SCRATCH = pathlib.Path(tempfile.mkdtemp(prefix="mpnum single "))
KERNEL = """
extern "C" __global__ void quantize(mpnum_e4m3 *dst, const float *src) { dst[0] = mpnum_f32_to_e4m3_sat(src[0]); }
"""


def amalgamate(*arguments, **options):
    return subprocess.run([ROOT / "mpnum", "amalgamate", *arguments], capture_output=True, text=True, **options)


def written(name, *only):
    """The folder with what these headers gave, or all without any; made once."""
    folder = SCRATCH / name / "made on the way"
    if not folder.exists():
        done = amalgamate(*(["--only", ",".join(only)] if only else []), folder)
        assert done.returncode == 0 and done.stderr == "", done
        assert done.stdout.splitlines() == [str(path) for path in sorted(folder.iterdir())], done.stdout
    return folder


def compiles(compiler, standard, suffix):
    tree.need(compiler)
    source = SCRATCH / f"twice{suffix}"
    source.write_text('#include "mpnum.h"\n#include "mpnum.h"\n'
                      "unsigned f(float x);\nunsigned f(float x) { return mpnum_f32_to_e4m3_sat(x).bits; }\n")
    extra = toolchain.CLANG_WARNINGS if "clang" in compiler else []
    tree.check(compiler, f"-std={standard}", *toolchain.WARNINGS, *extra, "-I", written("all"), "-fsyntax-only", source)


def it_is_the_headers_and_nothing_else():
    """Every line of every header that mpnum.h and cuda/ include, as often as it stands there at least."""
    texts = {path.name: path.read_text() for path in written("all").iterdir()}
    assert list(sorted(texts)) == ["mpnum.h", "mpnum_cuda.cuh"]
    lines = {line for text in texts.values() for line in text.splitlines()}
    opt_in = {"activation_backward.h", "advice.h", "dropout.h", "four_over_six.h", "least_error.h", "operation_policy.h", "scaler_io.h", "scale_io.h", "text.h", "decimal.h",
              "language_types.h", "vocabulary.h", "measure.h", "product.h", "product_unit.h", "numeric_limits.hpp", "stream.hpp", "formatter.hpp",
              "stochastic.h", "p3109.h", "split.h", "instruction.h", "light.h", "light_loops.h", "light_loops.inc"} | {path.name for path in (HEADERS / "hardware/detail").iterdir()}
    own = set()
    for path in HEADERS.rglob("*.*"):
        if path.name not in opt_in and path.name not in ("alone.inc", "each_isa.inc"):
            text = re.sub(r"^#ifndef \w+ /\* compiled alone.*?^#endif\n", "", path.read_text(), flags=re.M | re.S)
            own |= {line for line in text.splitlines()
                    if not re.match(r'#\s*(include ("|MPNUM_EACH_ISA_)|define MPNUM_EACH_ISA_ ")|.*SPDX-License', line)}
    assert own <= lines, own - lines
    assert texts["mpnum.h"].count('#include "') == 0 == texts["mpnum.h"].count("MPNUM_THIS_CUDA_FILE")
    assert re.findall(r'#\s*include "(.*)"', texts["mpnum_cuda.cuh"]) == ["mpnum.h"]
    strangers = {line for line in lines - own if line and not re.match(r"(/\* mpnum/\S+( \*/|, behind)| \*| \*/|/\* mpnum |/\* SPDX)", line)}
    assert {line for line in strangers if not line.startswith("#")} <= {"/* Loops stand here once: this file includes itself for each instruction set, and then all else"}
    assert len(strangers) <= 200, strangers


def preprocessed(compiler, *arguments):
    """The lines that a compiler is left with, in no order."""
    text = tree.check(compiler, "-E", "-P", *arguments)
    return sorted(line.strip() for line in text.splitlines() if line.strip())


def what_is_compiled_is_the_same(compiler, *options):
    """After the preprocessor the file has the lines of the headers, each as often: in another order, as the compiler shows by
    knowing every name where it stands."""
    tree.need(compiler)
    source = SCRATCH / "same.c"
    for folder, include in ((written("all"), '"mpnum.h"'), (HEADERS.parent, "<mpnum/mpnum.h>")):
        source.write_text(f"#include {include}\n")
        lines = preprocessed(compiler, *options, "-I", folder, source)
        assert len(lines) > 10000
        assert folder != HEADERS.parent or lines == before, sorted(set(lines) ^ set(before))[:10]
        before = lines


def each_header_alone_is_the_same():
    """Every header alone, so that no order of the file depends on what else is in it."""
    compiler, source = tree.need("gcc"), SCRATCH / "alone.c"
    for path in sorted(path for path in HEADERS.rglob("*.h") if path.parent.name != "detail"):
        name = str(path.relative_to(HEADERS))
        assert amalgamate("--only", name, SCRATCH / "alone").returncode == 0
        if "MPNUM_THIS_FILE" not in (SCRATCH / "alone/mpnum.h").read_text():
            continue  # in the order of the headers
        source.write_text('#include "alone/mpnum.h"\n')
        lines = preprocessed(compiler, "-std=c99", source)
        tree.check(compiler, "-std=c99", "-Wall", "-Wundef", "-Werror", "-fsyntax-only", source)
        source.write_text(f"#include <mpnum/{name}>\n")
        assert lines == preprocessed(compiler, "-std=c99", "-I", HEADERS.parent, source), name


def it_is_no_larger_than_the_headers():
    """A tenth more than what it holds at most; without private comments less."""
    assert amalgamate("--bare", SCRATCH / "bare").returncode == 0
    for name in ("mpnum.h", "mpnum_cuda.cuh"):
        text = (written("all") / name).read_text()
        inside = set(re.findall(r"^/\* mpnum/(\S+\.\w+)(?: \*/|, behind)", text, re.M)) | {"simd/detail/each_isa.inc"}
        held = sum((HEADERS / part).stat().st_size for part in inside)
        assert len(text) < 1.1 * held, f"{name} has {len(text)} bytes, the headers in it {held}"
        bare = (SCRATCH / "bare" / name).read_text()
        assert len(bare) < len(text) and "/* Returns the number of bytes" not in bare
    source = SCRATCH / "bare.c"
    source.write_text('#include "bare/mpnum.h"\n')
    bare = preprocessed(tree.need("gcc"), source)
    source.write_text("#include <mpnum/mpnum.h>\n")
    assert bare == preprocessed("gcc", "-I", HEADERS.parent, source)


PROGRAM = """
#include <stdio.h>
int main(void) {
  const float x[3] = {1, 2, 3};
  printf("%s %g\\n", mpnum_isa_name(mpnum_isa_in_use()), (double)mpnum_sum_f32(x, 3));
  return 0;
}
"""


def run_of(compiler, *arguments, program=SCRATCH / "program"):
    tree.check(compiler, *arguments, "-o", program, cwd=SCRATCH)
    return tree.check(program)


def it_finds_itself(compiler):
    """In any folder, under any name, beside another mpnum.h, after #line, behind -include, precompiled, in two units."""
    tree.need(compiler)
    source, wanted = SCRATCH / "finds.c", run_of(compiler, "-I", HEADERS.parent, "-include", "mpnum/mpnum.h", "-x", "c", unit(PROGRAM))
    assert not wanted.startswith("scalar") and wanted.endswith(" 6\n"), wanted
    text = (written("sums", "array/reduce") / "mpnum.h").read_text()
    for place in ("a/b", "finds"):
        (SCRATCH / place).mkdir(parents=True, exist_ok=True)
    (SCRATCH / "a/b/mpnum.h").write_text(text)
    (SCRATCH / "finds/numerics.h").write_text(text)
    (SCRATCH / "finds/mpnum.h").write_text("#error another\n")
    source.write_text('#line 7 "nowhere.y"\n#include "a/b/mpnum.h"\n' + PROGRAM)
    assert run_of(compiler, source) == run_of(compiler, f"-ffile-prefix-map={SCRATCH}=elsewhere", source) == wanted
    source.write_text('#include "finds/numerics.h"\n' + PROGRAM)
    assert run_of(compiler, source) == run_of(compiler, "finds.c") == wanted
    assert run_of(compiler, "-DMPNUM_THIS_FILE=\"numerics.h\"", source) == wanted
    assert run_of(compiler, "-include", "a/b/mpnum.h", "-x", "c", unit(PROGRAM)) == wanted
    tree.check(compiler, "-x", "c-header", "a/b/mpnum.h", "-o", "a/b/mpnum.h.gch", cwd=SCRATCH)
    assert run_of(compiler, *(["-include-pch", "a/b/mpnum.h.gch"] if "clang" in compiler else ["-include", "a/b/mpnum.h"]),
                  "-x", "c", unit(PROGRAM)) == wanted
    (SCRATCH / "a/b/mpnum.h.gch").unlink()
    source.write_text('#include "finds/numerics.h"\n' + PROGRAM)
    (SCRATCH / "second.c").write_text('#include "a/b/mpnum.h"\nfloat second(const float *x);\n'
                                      "float second(const float *x) { return mpnum_sum_f32(x, 3); }\n")
    assert run_of(compiler, source, "second.c") == wanted


def unit(text):
    """A file of the program's own, without an #include of mpnum."""
    path = SCRATCH / "unit.c"
    path.write_text(text)
    return path


def text_without_a_file_is_scalar():
    """From standard input, or as the program's own text."""
    tree.need("gcc")
    text = (written("sums", "array/reduce") / "mpnum.h").read_text() + PROGRAM
    assert run_of("gcc", unit(text)) == "scalar 6\n"
    done = subprocess.run(["gcc", "-x", "c", "-", "-o", SCRATCH / "piped"], input=text, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done
    assert tree.check(SCRATCH / "piped") == "scalar 6\n"


def a_name_it_does_not_have_is_an_error():
    """Rather than a file without vectors, or another one of that name."""
    tree.need("gcc")
    (SCRATCH / "wrong").mkdir(exist_ok=True)
    (SCRATCH / "wrong/own.h").write_text((written("sums", "array/reduce") / "mpnum.h").read_text())
    (SCRATCH / "wrong/other.h").write_text("")
    source = SCRATCH / "wrong.c"
    source.write_text('#include "wrong/own.h"\n')
    for name in ("missing.h", "other.h"):
        done = subprocess.run(["gcc", "-fsyntax-only", f'-DMPNUM_THIS_FILE="{name}"', source], capture_output=True, text=True)
        first = next(line for line in done.stderr.splitlines() if "error" in line)
        assert done.returncode and "define MPNUM_THIS_FILE as the name of this file" in first, done.stderr[:1000]
    tree.check("gcc", "-fsyntax-only", '-DMPNUM_THIS_FILE="missing.h"', "-DMPNUM_NO_SIMD=1", source)


def the_top_says_version_and_contents():
    config = (HEADERS / "core/detail/config.h").read_text()
    version = ".".join(re.search(rf"MPNUM_VERSION_{part} (\d+)", config)[1] for part in ("MAJOR", "MINOR", "PATCH"))
    for name, wanted in (("mpnum.h", {"array/array.h", "mpnum.h", "rows/softmax.h"}), ("mpnum_cuda.cuh", {"cuda/device.cuh", "mpnum.hpp"})):
        text = (written("all") / name).read_text()
        top = text[:text.index("MIT License")]
        assert f" {version}," in top.splitlines()[1], top
        listed = set(re.findall(r"\S+\.(?:h|hpp|cuh)\b", top[top.index("Inside:"):]))
        guards = set(re.findall(r"^/\* mpnum/((?:\w+/)?\w+\.\w+) \*/$", text, re.M))
        assert listed == guards and wanted <= listed, listed ^ guards
        assert max(map(len, top.splitlines())) <= 100
        assert "THE SOFTWARE IS PROVIDED" in text[:3000]


def only_some_headers_bring_what_they_need():
    text = (written("f16", "f16") / "mpnum.h").read_text()
    assert "mpnum_f32_to_f16(" in text and "mpnum_f32_to_e4m3(" not in text
    assert [path.name for path in written("f16", "f16").iterdir()] == ["mpnum.h"]
    folder = written("more", "mpnum", "text", "mpnum.hpp", "numeric_limits", "stream", "formatter", "kernels")
    source = SCRATCH / "more.cpp"
    source.write_text('#include "mpnum.h"\n#if !defined(MPNUM_TYPES_TEXT_H) || !defined(MPNUM_MPNUM_HPP) || !defined(MPNUM_TYPES_STREAM_HPP)\n#error\n#endif\n')
    tree.check(tree.need("g++"), "-std=c++11", *toolchain.WARNINGS, "-I", folder, "-fsyntax-only", source)
    assert "mpnum_traits" not in (folder / "mpnum_cuda.cuh").read_text()


def without_a_folder_it_writes_into_build():
    copy = SCRATCH / "copy"
    shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns("build*", ".git", "tests", "bench"))
    done = subprocess.run([copy / "mpnum", "amalgamate"], capture_output=True, text=True, cwd="/")
    assert done.returncode == 0 and str(copy / "build/amalgamated/mpnum.h") in done.stdout, done
    assert (copy / "build/amalgamated/mpnum.h").read_text() == (written("all") / "mpnum.h").read_text()


def what_is_wrong_is_said_in_one_line():
    (SCRATCH / "a file").write_text("in the way")
    for arguments, words in ((["--only", "nothing"], "no header nothing"), (["--only", "array,"], "without a name"),
                             (["--only", "core/detail/bits"], "no header core"), (["--only"], "--only takes"),
                             (["--all"], "unknown option --all"), (["one", "two"], "one FOLDER"), ([""], "one FOLDER"),
                             ([SCRATCH / "a file"], "cannot write"), (["/dev/full/x"], "cannot write")):
        done = amalgamate(*arguments, cwd=SCRATCH)
        assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1 and words in done.stderr, done
    assert (SCRATCH / "a file").read_text() == "in the way"


def toolkit():
    include = pathlib.Path(shutil.which(test_device_headers.nvcc())).resolve().parents[1] / "include"
    if not (include / "cuda_fp16.h").exists():
        raise tap.Skip("no cuda_fp16.h")
    return include


def cuda_file_compiles_with_nvcc():
    """As the headers do, twice, launchers and CUDA's types included; and the latter in plain C++."""
    nvcc = test_device_headers.nvcc()
    source = SCRATCH / "unit.cu"
    source.write_text('#include "mpnum_cuda.cuh"\n#include "mpnum_cuda.cuh"\n'
                      "cudaError_t f(mpnum_e4m3 *dst, const float *src, size_t n);\n"
                      "cudaError_t f(mpnum_e4m3 *dst, const float *src, size_t n) {\n"
                      "  return mpnum_launch_convert_sat(dst, src, n, 0);\n}\n"
                      "mpnum_f16 g(__half x);\nmpnum_f16 g(__half x) { return mpnum_from_cuda(x); }\n" + KERNEL)
    tree.check(nvcc, "-Werror", "all-warnings", "-std=c++11", "-I", written("all"), "-c", source, "-o", SCRATCH / "unit.o")
    source.write_text('#include "mpnum_cuda.cuh"\nmpnum_f16 f(__half x);\nmpnum_f16 f(__half x) { return mpnum_from_cuda(x); }\n')
    tree.check(tree.need("g++"), "-x", "c++", "-std=c++11", *toolchain.WARNINGS, "-I", toolkit(),
               "-I", written("interop", "cuda/interop"), "-fsyntax-only", source)


def nvrtc_is_silent(how):
    """Whether the files are headers of the program or its own text, and wherever CUDA's headers are."""
    nvrtc, folder, renamed = test_device_headers.Nvrtc(), written("all"), SCRATCH / "renamed"
    renamed.mkdir(exist_ok=True)
    shutil.copy(folder / "mpnum.h", renamed / "numerics.h")
    host, cuda = ((folder / name).read_text() for name in ("mpnum.h", "mpnum_cuda.cuh"))
    source, options = {
        "included": ('#include "mpnum_cuda.cuh"\n', [f"--include-path={folder}"]),
        "pasted": (host, []),
        "renamed": ('#include "numerics.h"\n', [f"--include-path={renamed}"]),
        "both pasted": (host + cuda.replace('#include "mpnum.h"\n', ""), []),
        "with CUDA's types": ('#include "mpnum_cuda.cuh"\n__device__ mpnum_f16 f(__half x) { return mpnum_from_cuda(x); }\n',
                              [f"--include-path={folder}", f"--include-path={toolkit()}"]),
    }[how]
    status, log, ptx = nvrtc.compile(source + KERNEL, "--gpu-architecture=compute_90", *options)
    assert status == 0 and not log and "quantize" in ptx, f"status {status}\n{log[:2000]}"


try:
    quick = [named("compiles as C99 with gcc", compiles, "gcc", "c99", ".c"),
             it_is_the_headers_and_nothing_else, named("what is compiled is the same with gcc", what_is_compiled_is_the_same, "gcc"),
             it_is_no_larger_than_the_headers, the_top_says_version_and_contents, only_some_headers_bring_what_they_need,
             without_a_folder_it_writes_into_build, what_is_wrong_is_said_in_one_line]
    full = [named("compiles as C++11 with g++", compiles, "g++", "c++11", ".cpp"),
            named("compiles as C99 with clang", compiles, "clang", "c99", ".c"),
            named("compiles as C++11 with clang++", compiles, "clang++", "c++11", ".cpp"), cuda_file_compiles_with_nvcc,
            named("what is compiled is the same with clang", what_is_compiled_is_the_same, "clang"),
            named("what is compiled is the same in one ISA", what_is_compiled_is_the_same, "gcc", "-DMPNUM_NO_DISPATCH=1", "-mavx2", "-mfma"),
            *(named(f"it finds itself with {compiler}", it_finds_itself, compiler) for compiler in ("gcc", "clang")),
            text_without_a_file_is_scalar, a_name_it_does_not_have_is_an_error, each_header_alone_is_the_same,
            *(named(f"NVRTC is silent, {how}", nvrtc_is_silent, how)
              for how in ("included", "renamed", "pasted", "both pasted", "with CUDA's types"))]
    status = tap.run(*(full if sys.argv[1:] == ["full"] else quick))
finally:
    shutil.rmtree(SCRATCH)
sys.exit(status)
