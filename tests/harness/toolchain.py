# SPDX-License-Identifier: MIT
"""What the tests of compilers share: the warnings, any C compiler, properties on all cores, the public names."""

import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import tap
from tree import ROOT

INCLUDE = ROOT / "include"
# Seen from the root, where tree.check runs: nvcc hands paths to a shell, which takes $ and quotes for its own.
INCLUDE_OF_NVCC = "include"

# What every header compiles with, as errors; then what only C, only C++, g++ alone and clang alone have.
WARNINGS = ["-Werror", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wundef",
            "-Wcast-align", "-Wcast-qual", "-Wdouble-promotion"]
C_WARNINGS = ["-Wstrict-prototypes", "-Wc++-compat"]
CPP_WARNINGS = ["-Wold-style-cast", "-Wzero-as-null-pointer-constant"]
GPP_WARNINGS = ["-Wuseless-cast"]
CLANG_WARNINGS = ["-Wreserved-identifier"]


def cc():
    """Any C compiler: $CC, or the first of the usual ones."""
    for command in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if command and shutil.which(shlex.split(command)[0]):
            return shlex.split(command)
    raise tap.Skip("no C compiler")


def cpp_compiler():
    """Any C++ compiler: $CXX, or the first of the usual ones."""
    for command in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        if command and shutil.which(shlex.split(command)[0]):
            return shlex.split(command)
    raise tap.Skip("no C++ compiler")


def run(*command, **options):
    """Runs a command to its end; stdout holds what it said on both streams."""
    return subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", **options)


def named(name, function, *arguments):
    """A property from a function and its arguments."""
    def test():
        function(*arguments)
    test.__name__ = name
    return test


def run_on_all_cores(properties):
    """tap.run, with the properties at work on all cores and reported in order."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return tap.run(*[named(test.__name__, pool.submit(test).result) for test in tap.wanted(properties)])


def load_tool(name):
    """A script of tools/ as a module."""
    sys.dont_write_bytecode = True
    module_name = "tools_" + name.replace("-", "_")
    loader = SourceFileLoader(module_name, str(ROOT / "tools" / name))
    module = module_from_spec(spec_from_loader(module_name, loader))
    loader.exec_module(module)
    return module


def load_api():
    """tools/api; its Api() lists every public name."""
    return load_tool("api")
