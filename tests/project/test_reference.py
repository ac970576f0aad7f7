#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/reference/ is what tools/reference writes from the headers, and has every name of docs/api.txt once."""

import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
import toolchain
from tree import ROOT, check

FOLDER = ROOT / "docs" / "reference"
tool = toolchain.load_tool("reference")
tools_api = toolchain.load_api()
reference = tool.Reference(tools_api.Api(), tools_api.OPT_IN)


def pages():
    return {path.name: path.read_text() for path in sorted(FOLDER.glob("*.md"))}


def pages_are_those_of_the_headers():
    texts, there = reference.texts(), {path.name: path.read_text() for path in FOLDER.iterdir()}
    stale = sorted(name for name in {*texts, *there} if texts.get(name) != there.get(name))
    assert not stale, f"run tools/reference --update: {' '.join(stale)}"


def names_of_api_txt():
    """Functions, types, enumerators and macros; C++ has names twice, in overloads."""
    text = re.sub(r"\n {4}", " ", (ROOT / "docs" / "api.txt").read_text())
    named = r"^(?:macro|enum|struct|enumerator) (\w+)|^function [^(]*?(\w+)\(|^c\+\+ (?:.*[ (*](\w+)\)?\([^()]*\)(?: = delete)?|.* (\w+))$"
    return {name for names in re.findall(named, text, re.M) for name in names if name}


def declared(text):
    """The names that the code of a page declares: the page's own reading, apart from the tool's."""
    names = set()
    for code in re.findall(r"^```(?:c|cpp)\n(.*?)^```", text, re.M | re.S):
        code = re.sub(r"/\*.*?\*/", "", code, flags=re.S)
        names.update(re.findall(r"^#define (\w+)", code, re.M))
        names.update(re.findall(r"^\} (\w+);", code, re.M))
        names.update(re.findall(r"^(?:template <.*?>\s*)?(?:struct|class) (?:alignas\(.*?\)+ )?(\w+)\s*[;{]", code, re.M))
        for body in re.findall(r"enum \w+ \{(.*?)\}", code, re.S):
            names.update(re.findall(r"\b(MPNUM_\w+) =", body))
        names.update(re.findall(r"^(?!#).*?[ *(](\w+)\)?\([^()]*\)(?: = delete)?;", code, re.M))
    return names


def every_public_name_is_on_one_page():
    count = Counter(name for text in pages().values() for name in declared(text))
    names = names_of_api_txt()
    assert len(names) > 1000, len(names)
    wrong = sorted(f"{name}: {count[name]}" for name in names if count[name] != 1)
    assert not wrong, f"names and their pages: {', '.join(wrong)}"


def the_list_of_names_leads_to_each():
    links = dict(re.findall(r"^- \[(\w+)\]\((\S+)\)$", (FOLDER / "names.md").read_text(), re.M))
    assert set(links) == names_of_api_txt(), set(links) ^ names_of_api_txt()
    texts = pages()
    for name, link in links.items():
        file, anchor = link.split("#")
        section = re.search(rf"^## {anchor}\n(.*?)(?=^## |\Z)", texts[file], re.M | re.S | re.I)
        assert section and name in declared(section[1]), f"{name}: {link}"


def comments_are_taken_over():
    """A sample of each kind, as the headers have it; expected lines typed in."""
    texts = pages()
    for file, line in (("e4m3.md", "    sign | exponent 4 | mantissa 3"),
                       ("grad.md", "- Host only."),
                       ("reduce.md", "The index of the first element that is Inf or NaN; n if none is."),
                       ("mpnum_hpp.md", "To float and double, exact."),
                       ("histogram.md", "  uint64_t zeros; /* zeros of either sign, which are not among counts */"),
                       ("reduce_cuh.md", r"Reductions of n elements to \*result, in device memory.")):
        assert f"\n{line}\n" in texts[file], f"{file}: {line}"


def fifty_names_are_used_as_they_compile():
    """In C99 those of hosts, and as C++ with the simulator's words in place of CUDA's those of devices; each uses its name."""
    lines = tool.FIFTY.read_text().splitlines()
    uses = [use for _, more in tool.fifty_names() for use in more]
    names = [name for name, _ in uses]
    assert len(names) == len(set(names)) == 50 and set(names) <= names_of_api_txt(), len(names)
    assert all(re.search(rf"\b{name}[(<]", use) for name, use in uses)
    for side, compiler, suffix, top in (
            ("host", [*toolchain.cc(), "-std=c99"], "c", "#include <mpnum/mpnum.h>\n#include <stdio.h>\n"),
            ("device", [*toolchain.cpp_compiler(), "-std=c++17"], "cpp",
             '#include "cuda/simt/launch.hpp"\n#include <mpnum/kernels.cuh>\nSIMT_DYNAMIC_SHARED(float, mpnum_rows_shared_);\n')):
        declared_here = "\n".join("static " + one.strip() + ";" for line in lines if line.startswith(f"{side}:")
                                  for one in line.partition(":")[2].split(";") if one.strip())
        body = "\n".join(f"  {use}" for name, use in uses if name.startswith("mpnum_launch_") == (side == "device"))
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / f"uses.{suffix}"
            source.write_text(f"{top}{declared_here}\nvoid uses(void);\nvoid uses(void) {{\n{body}\n}}\n")
            check(*compiler, "-w", "-Werror=implicit-function-declaration", "-I", toolchain.INCLUDE, "-I", ROOT / "tests",
                  "-fsyntax-only", source)


def every_section_says_what_it_is():
    """Above its code or in it; the macros of config.h are explained at its top or named like what they are."""
    silent = [f"{page.header}: {section.title()}" for page in reference.pages for section in page.sections
              if section.names and not section.comment and "/*" not in "".join(section.code)]
    silent = [name for name in silent if not name.startswith("core/detail/config.h: ")]
    assert not silent, f"no comment: {silent}"


def a_wrong_argument_is_told():
    done = toolchain.run(sys.executable, ROOT / "tools/reference", "--renew")
    assert done.returncode == 2 and "usage: tools/reference [--update]" in done.stdout, done.stdout


if __name__ == "__main__":
    sys.exit(tap.run(pages_are_those_of_the_headers, every_public_name_is_on_one_page, the_list_of_names_leads_to_each,
                     comments_are_taken_over, fifty_names_are_used_as_they_compile, every_section_says_what_it_is,
                     a_wrong_argument_is_told))
