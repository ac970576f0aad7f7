#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A project that CMake builds finds mpnum: in its own tree, fetched, and installed by each of the three installers.

usage: tests/project/test_cmake.py [full | cuda]"""

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from tree import ROOT, check, need

SCRATCH = Path(tempfile.mkdtemp(prefix="mpnum cmake "))  # a space on purpose
TIER = sys.argv[1] if sys.argv[1:] else "quick"
LANGUAGES = {"CUDA": "cu"} if TIER == "cuda" else {"C": "c", "CXX": "cpp"}
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
USE = "target_link_libraries(program PRIVATE mpnum::mpnum)"
CONSUMER = """\
#include <mpnum/mpnum.h>
int main(void) { return mpnum_f32_to_e4m3_sat(1000.0f).bits == 0x7e ? 0 : 1; } /* 448, the largest */
"""
KERNEL = """\
#include <mpnum/kernels.cuh>
__global__ void scale(mpnum_e4m3 *codes, const float *values) {
  codes[threadIdx.x] = mpnum_f32_to_e4m3_sat(values[threadIdx.x] * 0.5f);
}
"""


def need_cmake():
    """New enough for the test, which installs and asks for ranges of versions."""
    version = re.search(r"[\d.]+\d", check(need("cmake"), "--version"))[0]
    if [int(part) for part in version.split(".")[:2]] < [3, 19]:
        raise tap.Skip(f"CMake is {version}, older than 3.19")


def sources(target):
    shutil.copytree(ROOT, target, symlinks=True, ignore=shutil.ignore_patterns("build*", ".git", "__pycache__"))
    return target


def printed(word):
    """The lines of docs/vendoring.md that find mpnum with this command, and the one that uses it."""
    blocks = re.findall(r"^```cmake\n(.*?)^```", (ROOT / "docs/vendoring.md").read_text(), re.M | re.S)
    block, = [block for block in blocks if word in block]
    *lookup, use = block.splitlines()
    assert use == USE, use
    return "\n".join(lookup)


def consumer_runs(name, lookup, *options, languages=None):
    """A project that makes a program in each language, without a warning, with the headers as a system's."""
    need_cmake()
    languages = languages or LANGUAGES
    if "CUDA" in languages:
        if not NVCC:
            raise tap.Skip("nvcc is not installed")
        arch = re.findall(r"compute_(\d+)", check(NVCC, "--list-gpu-arch"))[-1]
        options += (f"-DCMAKE_CUDA_COMPILER={NVCC}", f"-DCMAKE_CUDA_ARCHITECTURES={arch}")
    folder = SCRATCH / name
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["cmake_minimum_required(VERSION 3.14)", f"project(consumer LANGUAGES {' '.join(languages)})", lookup]
    for suffix in languages.values():
        (folder / f"main.{suffix}").write_text((KERNEL if suffix == "cu" else "") + CONSUMER)
        lines += [f"add_executable(program_{suffix} main.{suffix})",
                  USE.replace("program", f"program_{suffix}")]
    (folder / "CMakeLists.txt").write_text("\n".join(lines) + "\n")
    said = check("cmake", "-S", folder, "-B", folder / "build", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options)
    commands = json.loads((folder / "build/compile_commands.json").read_text())
    for one in commands:  # of CUDA in a file of options
        words = one["command"] + "".join((Path(one["directory"]) / file).read_text()
                                         for file in re.findall(r"--options-file (\S+includes\S*)", one["command"]))
        assert "-isystem" in words and " -I" not in words, words
    said += check("cmake", "--build", folder / "build")
    assert "warning" not in said.lower(), said
    for suffix in languages.values():
        check(folder / "build" / f"program_{suffix}")


def in_the_tree():
    sources(SCRATCH / "tree/third_party/mpnum")
    consumer_runs("tree", printed("add_subdirectory"))
    # What the project installs is its own choice.
    check("cmake", "--install", SCRATCH / "tree/build", "--prefix", SCRATCH / "tree/installed")
    assert not (SCRATCH / "tree/installed").exists()


def fetched():
    """From a repository of one commit, and no network."""
    git = [need("git"), "-c", "user.name=mpnum", "-c", "user.email=mpnum", "-C", sources(SCRATCH / "repository")]
    lookup = printed("FetchContent")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "release"]):
        check(*git, *command)
    lookup = re.sub(r"(?<=GIT_TAG )\w+", check(*git, "rev-parse", "HEAD").strip(), lookup)
    consumer_runs("fetched", lookup, f"-DMPNUM_REPOSITORY={SCRATCH / 'repository'}")


def installed(by):
    """The prefix of an installation by the script, Meson or CMake; each is made once."""
    need_cmake()
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
        check("cmake", "-S", ROOT, "-B", build)
        check("cmake", "--install", build, "--prefix", prefix)
    return prefix


def installed_by_the_script():
    consumer_runs("by the script", printed("find_package"), f"-DCMAKE_PREFIX_PATH={installed('mpnum')}")


def installed_by_meson():
    consumer_runs("by Meson", "find_package(mpnum REQUIRED)\nfind_package(mpnum REQUIRED)",
                  f"-DCMAKE_PREFIX_PATH={installed('meson')}")


def installed_by_cmake():
    consumer_runs("by CMake", "find_package(mpnum CONFIG REQUIRED)", f"-DCMAKE_PREFIX_PATH={installed('cmake')}")


def other_folders_are_found():
    """Headers and data of an installation by Meson lie where its options say, inside the prefix or not."""
    need_cmake()
    for name, headers, data in (("deep", "headers/of it", "data/shared"), ("outside", SCRATCH / "elsewhere/include", "share")):
        build, prefix = SCRATCH / f"build {name}", SCRATCH / f"prefix {name}"
        check("meson", "setup", build, ROOT, "-Dtests=false", "-Dexamples=false", "-Dcuda=disabled", f"--prefix={prefix}",
              f"--includedir={headers}", f"--datadir={data}")
        check("meson", "install", "-C", build)
        consumer_runs(f"folders {name}", "find_package(mpnum REQUIRED)",
                      f"-Dmpnum_DIR={prefix}/{data}/cmake/mpnum")


def versions_found(prefix, questions):
    """Which of these questions find_package answers with yes."""
    need_cmake()
    folder = SCRATCH / f"asking {prefix.name}"
    folder.mkdir()
    lines = ["cmake_minimum_required(VERSION 3.19)", "project(asks LANGUAGES NONE)"]
    for asked in questions:
        lines += [f"find_package(mpnum {asked} QUIET CONFIG)", f'message("<{asked}> ${{mpnum_FOUND}}")', "unset(mpnum_DIR CACHE)"]
    (folder / "CMakeLists.txt").write_text("\n".join(lines) + "\n")
    said = check("cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    answers = re.findall(r"^<(.*)> (\d)$", said, re.M)
    assert len(answers) == len(questions), said
    return {asked for asked, found in answers if found == "1"}


def versions_are_checked(by="mpnum"):
    text = (ROOT / "include/mpnum/core/detail/config.h").read_text()
    major, minor, patch = (re.search(rf"MPNUM_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))
    own, next_major = f"{major}.{minor}.{patch}", int(major) + 1
    will_do = {"", f"{major}.{minor}", own, f"{own} EXACT"}
    will_not = {f"{major}.{int(minor) + 1}", str(next_major), f"{major}.{minor}.{int(patch) + 1}"}
    assert versions_found(installed(by), will_do | will_not) == will_do


def a_series_has_one_api():
    """0.2.3 will do for 0.2 and 0.2.1, and not for what is newer, or of another series; a range is taken at its word."""
    prefix = SCRATCH / "prefix of 0.2.3"
    shutil.copytree(installed("mpnum"), prefix)
    file = prefix / "share/cmake/mpnum/mpnumConfigVersion.cmake"
    file.write_text(re.sub(r'(PACKAGE_VERSION) "[\d.]+"', r'\1 "0.2.3"', file.read_text()))
    will_do = {"", "0.2", "0.2.1", "0.2.3", "0.2.3 EXACT", "0.1...1", "0.2...<0.3", "0.1...0.2.3"}
    will_not = {"0.1", "0.1.9", "0.3", "1", "0.2.4", "0.2 EXACT", "0.2.1 EXACT", "0.1...<0.2.3", "0.1...0.2.2", "0.3...1"}
    assert versions_found(prefix, will_do | will_not) == will_do


def versions_are_checked_of_cmakes_installation(): versions_are_checked("cmake")


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
    need_cmake()
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
                  f"-DCMAKE_PREFIX_PATH={prefix}", languages={"C": "c"})


PROPERTIES = {
    "quick": [in_the_tree, installed_by_the_script, a_series_has_one_api],
    "full": [fetched, installed_by_meson, installed_by_cmake, other_folders_are_found, the_three_installations_are_one,
             versions_are_checked, versions_are_checked_of_cmakes_installation, a_project_that_holds_it_exports_its_own_library],
    "cuda": [in_the_tree, fetched, installed_by_the_script],
}
try:
    status = tap.run(*PROPERTIES[TIER])
finally:
    shutil.rmtree(SCRATCH)
sys.exit(status)
