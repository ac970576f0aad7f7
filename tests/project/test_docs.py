#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""README.md and docs/: the programs compile as printed and run, the format tables are those of the
code, links lead somewhere.

usage: tests/project/test_docs.py FORMAT_TABLE [full | --update]

Without an argument gcc compiles, with full clang and nvcc.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "harness"))

import tap

ROOT = pathlib.Path(__file__).resolve().parents[2]
START = "<!-- formats: written by tools/format_table, checked by tests/project/test_docs.py -->\n"
END = "<!-- end of formats -->"
DOCUMENTS = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")), *sorted((ROOT / "docs").glob("*.md"))]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]


def snippets(language):
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)


def with_table(text, table):
    head, rest = text.split(START)
    return head + START + table + END + rest.split(END, 1)[1]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def update_tables(table):
    for path in DOCUMENTS:
        text = path.read_text()
        if START in text:
            path.write_text(with_table(text, table))


def format_tables_are_those_of_the_code():
    table = run([sys.argv[1]])[1]
    assert table.count("\n") > 12, "format_table printed no table"
    with_tables = [path for path in DOCUMENTS if START in path.read_text()]
    assert with_tables, "no document has the table"
    for path in with_tables:
        text = path.read_text()
        assert with_table(text, table) == text, f"{path.name}: run test_docs.py ... --update"


def compile_and_run_c(compiler):
    if not shutil.which(compiler):
        raise tap.Skip(f"{compiler} is not installed")
    with tempfile.TemporaryDirectory() as folder:
        source, program = f"{folder}/readme.c", f"{folder}/readme"
        pathlib.Path(source).write_text("".join(snippets("c")))
        code, _, errors = run([compiler, "-std=c99", "-O2", *WARNINGS, "-I", str(ROOT / "include"),
                               source, "-o", program])
        assert code == 0, errors
        output = run([program])[1]
    # 500 saturates to 448, code 7e; 1.001 lies between the bf16 values 1 and 1.0078125.
    assert output in ("1 7e 448 1\n", "1 7e 448 1.00781\n"), output


def readme_c_runs_as_printed_with_gcc(): compile_and_run_c("gcc")


def readme_c_runs_as_printed_with_clang(): compile_and_run_c("clang")


def readme_cuda_compiles_as_printed():
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not nvcc:
        raise tap.Skip("nvcc is not installed")
    with tempfile.TemporaryDirectory() as folder:
        source = f"{folder}/readme.cu"
        pathlib.Path(source).write_text("".join(snippets("cuda")))
        # A relative path, for nvcc hands it to a shell.
        code, _, errors = run([nvcc, "-Werror", "all-warnings", "-arch=sm_90", "-I",
                               os.path.relpath(ROOT / "include"), "-c", source, "-o", f"{folder}/cu.o"])
        assert code == 0, errors


def documents_name_files_that_exist():
    for path in DOCUMENTS:
        text = path.read_text()
        missing = [link for link in re.findall(r"\]\(([^)#:]+)\)", text)
                   if not (path.parent / link).exists()]
        named = re.findall(r"`((?:tests|tools|include|bench|docs|examples)/[\w./-]+\.\w+)`", text)
        missing += [file for file in named if not (ROOT / file).exists()]
        assert not missing, f"{path.name}: {missing}"


def map_shows_every_header_and_walks_of_nine_files():
    text = (ROOT / "docs/map.md").read_text()
    own = {path.relative_to(ROOT / "include/mpnum") for path in (ROOT / "include/mpnum").rglob("*.*")}
    words = set(re.findall(r"[\w.]+", text))
    missing = [str(path) for path in own if path.parts[0] != "cuda" and not {path.name, path.stem} & words]
    assert not missing, missing
    walks = re.split(r"^\*\*", text[text.index("## Three walks"):], flags=re.M)[1:]
    names = {path.name for path in own}
    for walk in walks:
        files = {name.split("/")[-1] for name in re.findall(r"[\w/]+\.(?:h|inc)\b", walk.split("\n\n")[0])}
        assert len(files) <= 9 and files <= names, (len(files), files - names)
        for name in re.findall(r"`(mpnumv?_\w+)`", walk):
            assert any(name in (ROOT / "include/mpnum" / path).read_text() for path in own if path.name in files), name
    assert len(walks) == 3, len(walks)


if __name__ == "__main__":
    if "--update" in sys.argv:
        update_tables(run([sys.argv[1]])[1])
    quick = [format_tables_are_those_of_the_code, readme_c_runs_as_printed_with_gcc,
             map_shows_every_header_and_walks_of_nine_files, documents_name_files_that_exist]
    full = [readme_c_runs_as_printed_with_clang, readme_cuda_compiles_as_printed]
    sys.exit(tap.run(*(full if "full" in sys.argv else quick)))
