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

MOST_OF_C, MOST_OF_CPP = 1160, 110  # entries of docs/api.txt: 1,050, light functions, 60 for what loops and loaders wrote by hand,
# 25 for what hardware computes
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
    entries = [line for line in tools_api.OUTPUT.read_text().splitlines() if line and line[0] not in " #["]
    cpp = sum(line.startswith("c++ ") for line in entries)
    c = len(entries) - cpp
    print(f"# {c} entries of C: {len(api.functions)} functions, {len(api.types)} types, {len(api.enumerators)} enumerators, "
          f"{len(api.macros)} macros; {cpp} of C++")
    assert c <= MOST_OF_C and cpp <= MOST_OF_CPP, (
        f"docs/api.txt has {c} entries of C, {cpp} of C++, and may have {MOST_OF_C}, {MOST_OF_CPP}: for each name that comes "
        "take one away that nobody would miss, or make it internal (name_)")

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
    for name, listed in re.findall(r"^enum (\w+)\n((?:enumerator .*\n)+)", api.text(), re.M):  # a user's switch has them all
        cases = " ".join(f"case {one}:" for one in re.findall(r"MPNUM_\w+", listed))
        lines += [f"static inline int of_{name}({name} one) {{ switch (one) {{ {cases} return 1; }} return 0; }}"]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "list.c"
        source.write_text("\n".join(lines) + "\n")
        check(*cc, "-std=c99", "-Werror", "-Wswitch", "-fsyntax-only", "-I", toolchain.INCLUDE, source)

def used_words():
    """Words of the sources that use the library, and of what the macros of four tests make."""
    words = set()
    for folder in ("tests", "bench", "examples"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".c", ".h", ".inc", ".cpp", ".hpp", ".cu", ".cuh", ".py"):
                words.update(re.findall(r"\w+", path.read_text(errors="replace")))
    bits = tools_api.expanded(ROOT / "tests/bits/bits.c", ROOT / "tests/bits/bits_types.h",
                              ROOT / "tests/bits/bits_functions.h")
    arrays = tools_api.expanded(ROOT / "tests/func/function_arrays.c")
    laws = "".join(tools_api.expanded(ROOT / f"tests/laws/test_laws_{name}.c") for name in ("pairs", "blocks"))
    return words | set(re.findall(r"\w+", bits + arrays + laws))

def every_public_name_has_a_user():
    unused = [name for name in api.names() if not CONFIGURATION.fullmatch(name)]
    words = used_words()
    unused = [name for name in unused if name not in words]
    assert not unused, f"no test, benchmark or example uses {' '.join(unused)}"

# Launchers that do what no single host function does.
WITHOUT_TWIN = {
    "scratch_init": "hosts have no scratch",
    "convert": "hosts name both types", "convert_sat": "as convert", "convert_round": "as convert",
    "quantize_current": "on hosts mpnum_amax, mpnum_scale_from_amax and mpnum_quantize_array",
    "quantize_transpose": "codes and their transpose from one read",
    "quantize_groups": "parts by offsets in device memory; hosts call mpnum_quantize_array for each",
    "quantize_list": "tensors anywhere; hosts call mpnum_quantize_array for each",
    "scale_update": "all histories of a model",
    "normalize_backward_bytes": "room that hosts do not need",
    **{name: "rows and columns from one read; hosts have mpnum_quantize_blocks and _both with a format"
       for name in ("quantize_mx", "quantize_nvfp4", "quantize_nvfp4_sr", "quantize_fp8")},
    **{name: "rows or columns; hosts have mpnum_dequantize_blocks with a format"
       for name in ("dequantize_mx", "dequantize_nvfp4", "dequantize_fp8")},
    "nvfp4_scale": "of a matrix; hosts take its amax",
    **{name: "a list, findings and handles in device memory" for name in ("grad_pass", "grad_clip", "grad_step", "grad_step_all",
                                                                          "grad_merge", "grad_multiplier")},
    "optimizer_step": "a list and the number of the step in device memory",
    "adafactor_step": "the number of the step in device memory", "adafactor_bytes": "room that hosts do not need",
    "histogram": "hosts count one value, or the pass over gradients does",
}

def launchers_have_the_parameters_of_their_host_twins():
    """In the host's order, types apart, which are template arguments: (dst, src, &options, stream). An amax stands for all losses.
    What follows the stream may be left out. Where hosts return a result, it comes first."""
    text = re.sub(r"\n    +", " ", api.text())
    twinless, seen = set(WITHOUT_TWIN), 0
    for name, listed in re.findall(r"^c\+\+ .*?\bmpnum_launch_(\w+)\((.*)\)$", text, re.M):
        parameters = re.split(r",(?![^<]*>)", listed)
        names = [re.sub(r"\s*=.*", "", parameter).split()[-1].lstrip("*&") for parameter in parameters]
        if name in twinless:
            twinless.remove(name)
            continue
        twin = name if "mpnum_" + name in api.functions else name + "_f32"
        if "_capped_" in name and "mpnum_" + name not in api.functions:  # of options with a cap
            twin = name.replace("_capped", "")
        assert "mpnum_" + twin in api.functions, f"{name}: no twin, and no reason in WITHOUT_TWIN"
        wanted = re.search(rf"^function .*?\bmpnum_{twin}\((.*)\)$", text, re.M)[1].split(",")
        wanted = [word.split()[-1].lstrip("*&") for word in wanted]
        wanted = ["amax" if word == "losses" else word for word in wanted if not word.endswith("_type")]
        end = names.index("stream")
        given = names[1:end] if twin.endswith("_f32") else names[:end]
        assert given == wanted, f"mpnum_launch_{name}({', '.join(names)}) beside mpnum_{twin}({', '.join(wanted)})"
        assert all("=" in parameter for parameter in parameters[end + 1:]), f"{name}: after the stream, and without a default"
        seen += 1
    assert seen >= 13 and not twinless, (seen, f"no launchers, or with a twin now: {twinless}")

sys.exit(tap.run(every_declaration_is_understood, api_txt_is_current, surface_is_small,
                 no_public_name_is_left_out, compiler_agrees_with_the_list, every_public_name_has_a_user,
                 launchers_have_the_parameters_of_their_host_twins))
