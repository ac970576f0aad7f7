#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The public surface is the one of docs/api.txt, complete, small, and every name of it has a user in tests/,
bench/ or examples/."""

import difflib
import re
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
import toolchain
from tree import ROOT, check

tools_api = toolchain.load_api()
api = tools_api.Api()

MOST_NAMES = 1300  # a third of them the conversions and queries of five formats
# Names that a program sees without naming them.
CONFIGURATION = re.compile(r"MPNUM_(HAS_\w+|NO_\w+|CUDA_HOST_SIMD|ON_DEVICE|INLINE|FUNC|HOST|MUST_CHECK|VERSION\w*)")


def every_declaration_is_understood():
    assert not api.problems, "\n".join(["", *api.problems])


def api_txt_is_current():
    recorded = tools_api.OUTPUT.read_text() if tools_api.OUTPUT.exists() else ""
    difference = list(difflib.unified_diff(recorded.splitlines(), api.text().splitlines(),
                                           "docs/api.txt", "tools/api", lineterm="", n=0))
    assert not difference, "\n".join(["", *difference[:60], "Where this is meant, run tools/api --update."])


def surface_is_small():
    names = api.names()
    print(f"# {len(names)} public names: {len(api.functions)} functions, {len(api.types)} types, "
          f"{len(api.enumerators)} enumerators, {len(api.macros)} macros")
    assert len(names) < MOST_NAMES, (
        f"{len(names)} public names are past MOST_NAMES of {Path(__file__).name}: drop what nobody calls or, where a format, "
        "a function or a launcher came in, raise it")


def no_public_name_is_left_out():
    """Any mpnum word in the code of a header is in the list or is internal."""
    names = set(api.names())
    for header in api.headers:
        text = re.sub(r"/\*.*?\*/|//[^\n]*|\"[^\"\n]*\"", " ", (api.include / header).read_text(), flags=re.S)
        words = set(re.findall(r"\b(?:mpnum|MPNUM)_\w*[A-Za-z0-9]\b(?!\s*##)", text))
        words -= {"MPNUM_" + re.sub(r"\W", "_", header).upper()}  # the include guard
        assert words <= names, f"{header}: not in the list: {' '.join(sorted(words - names))}"


def compiler_agrees_with_the_list():
    """Signatures, sizes and values as the compiler knows them; a value that depends on it is not asked."""
    cc = toolchain.cc()
    lines = [f"#include <mpnum/{header}>" for header in api.headers if header.endswith(".h")]
    lines += [f"typedef char size_{name}[sizeof({name}) == {size} ? 1 : -1];" for name, size in api.types.items()]
    lines += [f"typedef char value_{name}[{name} == {value} ? 1 : -1];" for name, value in api.enumerators.items()]
    lines += [api.where_there_is(name, f"{result} (*pointer_{name})"
                                       f"({', '.join(kind for kind, _ in parameters) or 'void'}) = {name};")
              for name, (result, parameters) in api.functions.items()]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "list.c"
        source.write_text("\n".join(lines) + "\n")
        check(*cc, "-std=c99", "-Werror", "-fsyntax-only", "-I", toolchain.INCLUDE, source)


def used_words():
    """Words of the sources that use the library, and of what the macros of three tests make."""
    words = set()
    for folder in ("tests", "bench", "examples"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".c", ".h", ".inc", ".cpp", ".hpp", ".cu", ".cuh", ".py"):
                words.update(re.findall(r"\w+", path.read_text(errors="replace")))
    bits = tools_api.expanded(ROOT / "tests/bits/bits.c", ROOT / "tests/bits/bits_types.h",
                              ROOT / "tests/bits/bits_functions.h")
    arrays = tools_api.expanded(ROOT / "tests/func/function_arrays.c")
    pairs = tools_api.expanded(ROOT / "tests/func/test_function_array_pairs.c")
    return words | set(re.findall(r"\w+", bits + arrays + pairs))


def every_public_name_has_a_user():
    unused = [name for name in api.names() if not CONFIGURATION.fullmatch(name)]
    words = used_words()
    unused = [name for name in unused if name not in words]
    assert not unused, f"no test, benchmark or example uses {' '.join(unused)}"


sys.exit(tap.run(every_declaration_is_understood, api_txt_is_current, surface_is_small,
                 no_public_name_is_left_out, compiler_agrees_with_the_list, every_public_name_has_a_user))
