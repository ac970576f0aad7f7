#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A project that CMake builds finds mpnum: in its own tree, fetched, and installed by each of the three installers.

usage: tests/project/test_cmake.py [full]

Without an argument in C and C++, with full in CUDA, too."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from toolchain import run
from tree import ROOT, check, need

SCRATCH = Path(tempfile.mkdtemp(prefix="mpnum cmake "))  # a space on purpose
LANGUAGES = {"C": "c", "CXX": "cpp"}
CONSUMER = """\
#include <mpnum/mpnum.h>
int main(void) { return mpnum_f32_to_e4m3_sat(1000.0f).bits == 0x7e ? 0 : 1; } /* 448, the largest */
"""
KERNEL = """\
#include <mpnum/cuda/kernels.cuh>
__global__ void scale(mpnum_e4m3 *codes, const float *values) {
  codes[threadIdx.x] = mpnum_f32_to_e4m3_sat(values[threadIdx.x] * 0.5f);
}
"""


def sources(target):
    shutil.copytree(ROOT, target, symlinks=True, ignore=shutil.ignore_patterns("build*", ".git", "__pycache__"))
    return target


def configured(folder, lookup, languages, *options):
    """A project of one program in each language, made anew: what cmake did with it."""
    need("cmake")
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["cmake_minimum_required(VERSION 3.14)", f"project(consumer LANGUAGES {' '.join(languages)})", lookup]
    for suffix in languages.values():
        (folder / f"main.{suffix}").write_text((KERNEL if suffix == "cu" else "") + CONSUMER)
        lines += [f"add_executable(program_{suffix} main.{suffix})",
                  f"target_link_libraries(program_{suffix} PRIVATE mpnum::mpnum)"]
    (folder / "CMakeLists.txt").write_text("\n".join(lines) + "\n")
    shutil.rmtree(folder / "build", ignore_errors=True)
    return run("cmake", "-S", folder, "-B", folder / "build", *options)


def consumer_runs(name, lookup, languages, *options):
    folder = SCRATCH / name
    done = configured(folder, lookup, languages, *options)
    assert done.returncode == 0 and "Warning" not in done.stdout, done.stdout
    said = check("cmake", "--build", folder / "build")
    assert "warning" not in said, said
    for suffix in languages.values():
        check(folder / "build" / f"program_{suffix}")


def in_the_tree(languages=None):
    sources(SCRATCH / "tree/third party/mpnum")
    consumer_runs("tree", "add_subdirectory([[third party/mpnum]])", languages or LANGUAGES)
    # What the project installs is its own choice.
    check("cmake", "--install", SCRATCH / "tree/build", "--prefix", SCRATCH / "tree/installed")
    assert not (SCRATCH / "tree/installed").exists()


def fetched(languages=None):
    """An archive as of a release, and no network."""
    sources(SCRATCH / "archive/mpnum-source")
    archive = shutil.make_archive(str(SCRATCH / "mpnum-source"), "gztar", SCRATCH / "archive")
    consumer_runs("fetched", "include(FetchContent)\n"
                  f"FetchContent_Declare(mpnum URL [[{archive}]])\nFetchContent_MakeAvailable(mpnum)",
                  languages or LANGUAGES, "-Wno-dev")


def installed(by):
    """The prefix of an installation by the script, Meson or CMake; each is made once."""
    prefix = SCRATCH / f"prefix of {by}"
    if prefix.exists():
        return prefix
    build = SCRATCH / f"build of {by}"
    if by == "mpnum":
        check(ROOT / "mpnum", "install", prefix)
    elif by == "meson":
        check("meson", "setup", build, ROOT, "-Dtests=false", "-Dexamples=false", "-Dcuda=disabled", f"--prefix={prefix}")
        check("meson", "install", "-C", build)
    else:
        need("cmake")
        check("cmake", "-S", ROOT, "-B", build)
        check("cmake", "--install", build, "--prefix", prefix)
    return prefix


def installed_by_the_script(languages=None):
    consumer_runs("by the script", "find_package(mpnum 0.2 REQUIRED)", languages or LANGUAGES,
                  f"-DCMAKE_PREFIX_PATH={installed('mpnum')}")


def installed_by_meson():
    consumer_runs("by Meson", "find_package(mpnum REQUIRED)\nfind_package(mpnum REQUIRED)", LANGUAGES,
                  f"-DCMAKE_PREFIX_PATH={installed('meson')}")


def installed_by_cmake():
    consumer_runs("by CMake", "find_package(mpnum 0.2.0 EXACT CONFIG REQUIRED)", LANGUAGES,
                  f"-DCMAKE_PREFIX_PATH={installed('cmake')}")


def other_folders_are_found():
    """Headers and data of an installation by Meson lie where its options say, inside the prefix or not."""
    need("cmake")
    for name, headers, data in (("deep", "headers/of it", "data/shared"), ("outside", SCRATCH / "elsewhere/include", "share")):
        build, prefix = SCRATCH / f"build {name}", SCRATCH / f"prefix {name}"
        check("meson", "setup", build, ROOT, "-Dtests=false", "-Dexamples=false", "-Dcuda=disabled", f"--prefix={prefix}",
              f"--includedir={headers}", f"--datadir={data}")
        check("meson", "install", "-C", build)
        consumer_runs(f"folders {name}", "find_package(mpnum REQUIRED)", {"C": "c"}, f"-Dmpnum_DIR={prefix}/{data}/cmake/mpnum")


def versions_are_checked():
    """0.2 has the API of every 0.2.x and of no other; a range is taken at its word."""
    text = (ROOT / "include/mpnum/detail/core/config.h").read_text()
    major, minor, patch = (int(re.search(rf"MPNUM_VERSION_{part} (\d+)", text)[1]) for part in ("MAJOR", "MINOR", "PATCH"))
    own, series = f"{major}.{minor}.{patch}", f"{major}.{minor}"
    will_do = ["", series, own, f"{own} EXACT", f"0.0.1...{major + 1}", f"{own}...<{major}.{minor + 1}", f"0.0.1...{own}"]
    will_not = [f"{major}.{minor + 1}", f"{major + 1}", f"{series}.{patch + 1}", f"0.0.1...<{own}", f"{series} EXACT", "0.0.1",
                f"{major + 1}...{major + 2}"]
    if minor:
        will_not.append(f"{major}.{minor - 1}")
    for by in ("mpnum", "cmake"):
        prefix = installed(by)
        for asked in will_do + will_not:
            script = SCRATCH / "version.cmake"
            # As a script: no compiler is asked for. EXACT comes from the series where it has no patch.
            script.write_text("cmake_minimum_required(VERSION 3.19)\n"
                              f"list(APPEND CMAKE_PREFIX_PATH [[{prefix}]])\n"
                              f"find_package(mpnum {asked} QUIET CONFIG)\n"
                              'message("found ${mpnum_FOUND} ${mpnum_VERSION}")\n')
            said = run("cmake", "-S", version_project(script), "-B", SCRATCH / "version build").stdout
            found = re.search(r"found (\d) ?(\S*)", said)
            assert found and found[1] == ("1" if asked in will_do else "0"), (by, asked, said)
            assert found[1] == "0" or found[2] == own, said


def version_project(script):
    folder = SCRATCH / "version"
    folder.mkdir(exist_ok=True)
    (folder / "CMakeLists.txt").write_text(script.read_text().replace("\nlist", "\nproject(asks LANGUAGES NONE)\nlist", 1))
    return folder


def the_three_installations_are_one():
    """But for mpnumConfig.cmake, which CMake writes by itself."""
    trees = {}
    for by in ("mpnum", "meson", "cmake"):
        prefix = installed(by)
        trees[by] = {str(path.relative_to(prefix)): path.read_text().replace(f"prefix\\ of\\ {by}", "prefix")
                     for path in prefix.rglob("*") if path.is_file()}
    config = "share/cmake/mpnum/mpnumConfig.cmake"
    assert "mpnum::mpnum" in trees["cmake"].pop(config) and trees["mpnum"][config] == trees["meson"][config]
    assert trees["mpnum"] == trees["meson"], [name for name in trees["mpnum"] if trees["mpnum"][name] != trees["meson"].get(name)]
    del trees["mpnum"][config]
    assert trees["mpnum"] == trees["cmake"], sorted(trees["mpnum"].keys() ^ trees["cmake"].keys())


def a_project_that_holds_it_exports_its_own_library():
    """Its targets use mpnum::mpnum, which is then installed with them."""
    need("cmake")
    folder, prefix = SCRATCH / "exporting", SCRATCH / "prefix of exporting"
    sources(folder / "mpnum")
    (folder / "quantise.c").write_text(CONSUMER.replace("main", "quantise"))
    (folder / "CMakeLists.txt").write_text("""\
cmake_minimum_required(VERSION 3.14)
project(exporting LANGUAGES C)
set(MPNUM_INSTALL ON)
add_subdirectory(mpnum)
add_library(quantise STATIC quantise.c)
target_link_libraries(quantise PUBLIC mpnum::mpnum)
install(TARGETS quantise EXPORT quantise ARCHIVE DESTINATION lib)
install(EXPORT quantise DESTINATION share/cmake/quantise FILE quantiseConfig.cmake)
""")
    check("cmake", "-S", folder, "-B", folder / "build")
    check("cmake", "--build", folder / "build")
    check("cmake", "--install", folder / "build", "--prefix", prefix)
    consumer_runs("of the export", "find_package(mpnum REQUIRED)\nfind_package(quantise REQUIRED)\nlink_libraries(quantise)",
                  {"C": "c"}, f"-DCMAKE_PREFIX_PATH={prefix}")


def in_cuda(way):
    compiler = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not compiler:
        raise tap.Skip("nvcc is not installed")
    need("cmake")
    newest = re.findall(r"compute_(\d+)", subprocess.run([compiler, "--list-gpu-arch"], capture_output=True, text=True).stdout)[-1]
    # Through a launcher file, for the consumer's project() call comes before anything else it is told.
    way({"C": "c", "CUDA": "cu"}, f"-DCMAKE_CUDA_COMPILER={compiler}", f"-DCMAKE_CUDA_ARCHITECTURES={newest}")
