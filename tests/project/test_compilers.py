#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Other compilers and other targets: each gcc-N and clang-N on PATH, MinGW, and the clang of zig (ziglang on PyPI) as a
cross-compiler. The headers compile without a warning, tests/bits/bits.c prints the lines of tests/bits/bits.txt, under
an emulator or Wine where need be, language_types.h finds the compiler's own types, and std::format takes ours.
docs/platforms.md says what that proves. Machines with a gcc of their own in Debian are in test_cross.py.

usage: tests/project/test_compilers.py full | exhaustive

full takes the newest gcc and clang, and compiles for what zig brings; exhaustive takes all of them, and runs that.
"""

import os
import re
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[1] / room) for room in ["harness", "bits", "project"]]

import tap
import test_bits
import test_headers
from toolchain import INCLUDE, WARNINGS, named, run
from tree import ROOT, check, need

C99, SHORT_OF_STANDARDS = ["-std=c99", "-O2"], ["c99", "c2x", "c++11", "c++17", "c++2b"]
LANGUAGE_TYPES, QUERIES, STANDARD_LIBRARY = (ROOT / f"tests/convert/test_{name}" for name in
                                             ("language_types.c", "queries.c", "standard_library.cpp"))

MINGW = "x86_64-w64-mingw32-gcc"
WINE = ["wine64", "/usr/lib/wine/wine64", "wine"]  # Debian's wine asks for a 32-bit one first

# x87 registers make signalling NaNs quiet on their way out of a function; SSE does not.
# Target of zig: (flags, what runs its programs, one of which is enough; empty: this machine; None: nothing here)
TARGETS = {
    "aarch64-linux-musl": ([], ["qemu-aarch64", "qemu-aarch64-static"]),
    "riscv64-linux-musl": ([], ["qemu-riscv64", "qemu-riscv64-static"]),
    "arm-linux-musleabihf": (["-mcpu=generic+v7a"], ["qemu-arm", "qemu-arm-static"]),
    "s390x-linux-musl": ([], ["qemu-s390x", "qemu-s390x-static"]),
    "x86-linux-musl": (["-msse2", "-mfpmath=sse"], ["qemu-i386", "qemu-i386-static"]),
    "x86_64-windows-gnu": ([], WINE),
    "aarch64-macos": ([], None),
    "wasm32-wasi": ([], None),
}
COMPILED_IN_FULL = ["x86_64-windows-gnu", "aarch64-macos", "wasm32-wasi"]


def versions(name):
    """{12: "gcc-12"} and so on: what is on PATH."""
    found = {}
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        for path in Path(folder or ".").glob(f"{name}-*"):
            if (number := path.name[len(name) + 1:]).isdigit() and os.access(path, os.X_OK):
                found[int(number)] = path.name
    return dict(sorted(found.items()))


def newer_ones(name):
    """The versions beyond the one that the other tests use."""
    said = run(need(name), "-dumpversion").stdout
    return [command for number, command in versions(name).items() if number > int(said.split(".")[0])]


def program_passes(source, compiler, standard, flags=(), emulators=()):
    cpp = standard.startswith("c++")
    command = [test_headers.driver(compiler, standard), *flags]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.exe"  # a name that Windows runs, too
        check(*command, "-x", "c++" if cpp else "c", f"-std={standard}", "-O2", *WARNINGS, "-I", INCLUDE, source,
              "-o", program, "-lm")
        said = check(*[need(*emulators)] if emulators else [], program)
    assert "ok 1 " in said, said


def has_std_format(compiler, *flags):
    """With it the program has no property to skip."""
    with tempfile.TemporaryDirectory() as folder:
        source = test_headers.write(folder, "format.cpp", "#include <format>", "#if !defined(__cpp_lib_format)", "#error", "#endif")
        if run(test_headers.driver(compiler, "c++20"), *flags, "-std=c++20", "-fsyntax-only", source).returncode:
            raise tap.Skip(f"{' '.join([compiler, *flags])} has no std::format")
    program_passes(STANDARD_LIBRARY, compiler, "c++20", flags)


def compiles(compiler, flags, headers=test_headers.C_HEADERS):
    """Every function, as code of the target."""
    need(compiler)
    with tempfile.TemporaryDirectory() as folder:
        source = test_headers.write(folder, "table.c", *test_headers.function_table(headers))
        check(compiler, *flags, *WARNINGS, "-I", INCLUDE, "-c", source, "-o", source.with_suffix(".o"))


def links(compiler, flags):
    with tempfile.TemporaryDirectory() as folder:
        check(need(compiler), *flags, *WARNINGS, "-I", INCLUDE, test_bits.SOURCE, "-o", Path(folder) / "bits.exe", "-lm")


def of_version(pool, compiler, standards, builds):
    tests = []
    for standard in standards:
        work = pool.submit(test_headers.every_body_without_a_warning, compiler, standard)
        tests.append(named(f"every body without a warning, {compiler} {standard}", work.result))
        work = pool.submit(program_passes, LANGUAGE_TYPES, compiler, standard)
        tests.append(named(f"language types, {compiler} {standard}", work.result))
    tests.append(named(f"queries, {compiler}", pool.submit(program_passes, QUERIES, compiler, "c99").result))
    for flags, environments in builds:
        command = compiler.replace("gcc", "g++").replace("clang", "clang++") if "c++" in flags else compiler
        tests += test_bits.properties(pool, f"{command} {' '.join(flags)}", environments, command, flags)
    return tests


def none_newer(name):
    raise tap.Skip(f"no {name} newer than {run(need(name), '-dumpversion').stdout.strip()}")


def wrong_emulator(target):
    """QEMU multiplied floats to a double, as clang does on s390x, wrongly before 8.0 (MDEB)."""
    if target.startswith("s390x"):
        version = re.search(r"version (\d+)", run(need(*TARGETS[target][1]), "--version").stdout)
        if version and int(version[1]) < 8:
            raise tap.Skip(f"QEMU {version[1]} multiplies floats wrongly on s390x, 8.0 does not")


def zig(target):
    return ["cc", "-target", target, *TARGETS[target][0], *C99]


def on_target(pool, target):
    flags, emulators = zig(target), TARGETS[target][1]
    if emulators is None:
        return [named(f"bits.c links for {target}", pool.submit(links, "python-zig", flags).result)]
    if target == "x86-linux-musl" and os.uname().machine == "x86_64":
        emulators = []
    tests = [named(f"language types of {target}",
                   pool.submit(program_passes, LANGUAGE_TYPES, "python-zig", "c99", flags, emulators).result)]
    try:
        wrong_emulator(target)
    except tap.Skip:
        return tests + [named(f"same bits from zig for {target}", wrong_emulator, target)]
    return tests + test_bits.properties(pool, f"zig for {target}", test_bits.DEFAULT, "python-zig", flags, emulators)


def full(pool):
    tests = []
    for name in ("gcc", "clang"):
        tests += [named(f"language types, {name} {standard}", pool.submit(program_passes, LANGUAGE_TYPES, name, standard).result)
                  for standard in ("c++11", "c++2b")]
        try:
            newest = newer_ones(name)[-1:]
        except tap.Skip:
            newest = []
        for compiler in newest:
            tests += of_version(pool, compiler, ["c99", "c++2b"], [(C99, test_bits.DEFAULT)])
            tests.append(named(f"std::format, {compiler}", pool.submit(has_std_format, compiler).result))
            if "clang" in compiler:
                tests.append(named(f"std::format, {compiler} with libc++",
                                   pool.submit(has_std_format, compiler, "-stdlib=libc++").result))
        if not newest:
            tests.append(named(f"newest {name}", none_newer, name))
    tests += test_bits.properties(pool, MINGW, test_bits.DEFAULT, MINGW, [*C99, "-static"], WINE)
    tests.append(named("every function for MinGW", pool.submit(compiles, MINGW, ["-std=c99", "-O0"]).result))
    return tests + [named(f"every function for {target}",
                          pool.submit(compiles, "python-zig", ["cc", "-target", target, "-std=c99", "-O0"]).result)
                    for target in COMPILED_IN_FULL]


def exhaustive(pool):
    tests = []
    builds = [(C99, test_bits.ALL), (test_bits.CXX17 + ["-O3", "-ffast-math"], test_bits.ALL)]
    for name in ("gcc", "clang"):
        for compiler in versions(name).values():
            tests += of_version(pool, compiler, SHORT_OF_STANDARDS, builds)
    tests += test_bits.properties(pool, MINGW, test_bits.ALL, MINGW, [*C99, "-static"], WINE)
    tests.append(named("language types, MinGW",
                       pool.submit(program_passes, LANGUAGE_TYPES, MINGW, "c99", ["-static"], WINE).result))
    for target in TARGETS:
        tests += on_target(pool, target)
    return tests


def begin_wine(folder):
    """Wine says something when it makes its folder, which is no line of a program's."""
    os.environ.update(WINEPREFIX=str(folder), WINEDEBUG="-all")
    wine = next(filter(shutil.which, WINE), None)
    if wine and not folder.exists():
        run(wine, "wineboot", "--init")


def main():
    tiers = {"full": full, "exhaustive": exhaustive}
    if len(sys.argv) != 2 or sys.argv[1] not in tiers:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    # What zig compiles of a C library, and Wine's folders, stay in the build folder for the next time.
    build = Path(os.environ.get("MPNUM_BUILD") or tempfile.gettempdir()).resolve()
    os.environ.update(ZIG_GLOBAL_CACHE_DIR=str(build / "zig"), ZIG_LOCAL_CACHE_DIR=str(build / "zig"))
    begin_wine(build / "wine")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return tap.run(*tiers[sys.argv[1]](pool))


if __name__ == "__main__":
    sys.exit(main())
