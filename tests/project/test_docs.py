#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""README.md and docs/: every piece of code compiles as printed, programs run, the format tables are those of the
code, links lead somewhere.

usage: tests/project/test_docs.py FORMAT_TABLE [full | --update]

Without an argument gcc compiles, with full clang and nvcc.
"""
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "harness"))

import tap
from toolchain import load_api, run_on_all_cores

ROOT = pathlib.Path(__file__).resolve().parents[2]
START = "<!-- formats: written by tools/format_table, checked by tests/project/test_docs.py -->\n"
END = "<!-- end of formats -->"
DOCUMENTS = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "conformance/README.md")), *sorted((ROOT / "docs").glob("*.md"))]
REFERENCE = sorted((ROOT / "docs" / "reference").glob("*.md"))  # its code is the headers'
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wdouble-promotion", "-Werror", "-I", str(ROOT / "include")]
SUFFIXES = {"c": "c", "cpp": "cpp", "cuda": "cu"}
COMMANDS = {"", "sh", "diff", "cmake", "meson", "python"}  # "": what a program prints
# Programs among the pieces, and what they print. e4m3 holds 1.xxx times a power of two: of 512 times 0.02, -0.5,
# 0.0003 and 0.125 it keeps 10, -256, 0.15625 and 64.
# 1e-6 is 2^-20 and 1.5 below 2: e4m3 has 18 binades, and e5m2, up to 1.75 * 2^15, takes 2 * 2^14.
# In docs/checkpoints.md 1, 6, 3, -0.5 and 0 times 1.5 * 0.1, 1.5 / 8 and 2^-2.
OUTPUTS = {"README.md": ["52 0.0195312\nf8 -0.5\n22 0.000305176\n68 0.125\n"],
           "docs/checkpoints.md": ["".join(f"{x * 0.15:.6g} {x * 0.1875:.6g} {x * 0.25:.6g}\n" for x in (1, 6, 3, -0.5, 0))],
           "docs/choosing-a-format.md": ["e5m2 times 16384\n"],
           "docs/instructions.md": ["38fe\n"]}


def pieces(path):
    """[(line, language, code)] of a document."""
    text = path.read_text()
    return [(text.count("\n", 0, match.start()) + 1, match[1], match[2])
            for match in re.finditer(r"^```(\w*)\n(.*?)^```", text, re.M | re.S)]


def with_table(text, table):
    head, rest = text.split(START)
    return head + START + table + END + rest.split(END, 1)[1]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def update_tables():
    table = run([sys.argv[1]])[1]
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
        assert with_table(text, table) == text, f"{path.name}: run tests/project/test_docs.py {pathlib.Path(sys.argv[1]).resolve()} --update"


def figures_of_choosing_a_format_follow_from_the_table():
    """Binades from the smallest value to the largest, and the error: half a gap, one bit behind the last."""
    rows = re.findall(r"^\| `(\w+)` \| \d\.\d\.(\d+) \| \d+ \| ([\d.e+]+) \| [^|]+ \| (?:2\^)?(-?\d+) \|",
                      (ROOT / "docs/formats.md").read_text(), re.M)
    formats = {name: (math.log2(float(most)) - int(least), int(mantissa) + 1) for name, mantissa, most, least in rows}
    page = (ROOT / "docs/choosing-a-format.md").read_text()
    listed = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| ([\d, ]+) \|([^|]*)\|", page, re.M)
    seen = 0
    for names, binades, errors in listed:
        names, binades, errors = re.findall(r"\w+", names), re.findall(r"\d+", binades), re.findall(r"2\^-(\d+)", errors)
        assert [round(formats[name][0]) for name in names] == [int(one) for one in binades], names
        assert [formats[name][1] for name in names] == [int(one) for one in errors] or names == ["e8m0"], names
        seen += len(names)
    assert seen == 11, seen


def compile_pieces(language, *command):
    """Each piece alone, as printed; one that includes nothing is about mpnum.h."""
    if not shutil.which(command[0]):
        raise tap.Skip(f"{command[0]} is not installed")
    tried = 0
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / f"piece.{SUFFIXES[language]}"
        for path in DOCUMENTS:
            for line, _, code in [piece for piece in pieces(path) if piece[1] == language]:
                head = "" if "#include" in code else "#include <mpnum/mpnum.h>\n"
                source.write_text(f'{head}#line {line + 1} "{path.name}"\n{code}')
                openmp = ["-fopenmp"] if "#pragma omp" in code else []
                status, _, errors = run([*command, *openmp, str(source)])
                assert status == 0, errors
                tried += 1
    assert tried, f"no document has {language}"


# Without intrinsics, which say nothing about these pieces and are half of the time; clang has them.
def c_compiles_as_printed_with_gcc():
    compile_pieces("c", "gcc", "-std=c99", "-fsyntax-only", "-DMPNUM_NO_SIMD=1", *WARNINGS)


def c_compiles_as_printed_with_clang(): compile_pieces("c", "clang", "-std=c99", "-fsyntax-only", *WARNINGS)


def cpp_compiles_as_printed_with_gcc():
    compile_pieces("cpp", "g++", "-std=c++11", "-fsyntax-only", "-DMPNUM_NO_SIMD=1", *WARNINGS)


def cpp_compiles_as_printed_with_clang(): compile_pieces("cpp", "clang++", "-std=c++11", "-fsyntax-only", *WARNINGS)


def cuda_compiles_as_printed():
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    # A relative path, as nvcc hands it to a shell.
    compile_pieces("cuda", nvcc, "-Werror", "all-warnings", "-arch=sm_90", "-I", os.path.relpath(ROOT / "include"), "-c",
                   "-o", "/dev/null")


def programs_print_what_they_should():
    for path in DOCUMENTS:
        programs = [code for _, language, code in pieces(path) if language == "c" and "int main(" in code]
        expected = OUTPUTS.get(path.relative_to(ROOT).as_posix(), [])
        assert len(programs) == len(expected), f"{path.name}: {len(programs)} programs, {len(expected)} outputs"
        for code, output in zip(programs, expected):
            with tempfile.TemporaryDirectory() as folder:
                source, program = f"{folder}/program.c", f"{folder}/program"
                pathlib.Path(source).write_text(code)
                status, _, errors = run(["gcc", "-std=c99", *WARNINGS, source, "-o", program])
                assert status == 0, errors
                printed = run([program])[1]
                assert printed == output, printed


# Two models, of which each parameter should come to 3, on one scaler; the first figures are of one model.
TWO_MODELS = """
enum { STEPS = 1000 };
static float weights[2], gradients[2];
static mpnum_f16 scaled[2];
static int applied[2];
static void backward(const mpnum_grad_scaler *scaler, int i) {
  scaled[i] = mpnum_f32_to_f16((weights[i] - 3) / 1024 * scaler->scale);
}
static void apply(int i) {
  weights[i] -= 100 * gradients[i];
  applied[i] += 1;
}
int main(int count, char **arguments) {
  const int models = count;
  mpnum_grad_scaler scaler;
  mpnum_grad_optimizer handles[2];
  (void)arguments;
  if (mpnum_grad_scaler_init(&scaler, mpnum_grad_scaler_default()) != MPNUM_OK) return 2;
  handles[0] = handles[1] = mpnum_grad_optimizer_of(&scaler);
  for (int step = 0; step < STEPS; ++step) {
    for (int i = 0; i < models; ++i) backward(&scaler, i);
    TRAIN
  }
  printf("%d %d applied, %.2f %.2f\\n", applied[0], applied[1], (double)weights[0], (double)weights[1]);
  return 0;
}
"""
TRAIN_ALONE = "for (int i = 0; i < models; ++i) if (unscale(&scaler, &handles[i], &scaled[i], &gradients[i], 1)) apply(i);"
TRAIN_BOTH = """mpnum_grad_verdict verdicts[2];
    mpnum_grad_tensor tensors[2];
    for (int i = 0; i < 2; ++i)
      tensors[i] = mpnum_grad_tensor_of(MPNUM_TYPE_F16, &scaled[i], 1, MPNUM_TYPE_F32, &gradients[i]);
    if (train_two(&scaler, handles, tensors, verdicts) != MPNUM_OK) return 1;
    for (int i = 0; i < 2; ++i) if (verdicts[i] == MPNUM_GRAD_APPLY) apply(i);"""


def two_optimizers_on_one_scaler_train_or_say_why():
    """README's piece as it stands trains one model, and stops with a message where it is pasted for two; that of
    docs/scaler.md trains both."""
    for path, function, train, runs in [
            ("README.md", "int unscale(", TRAIN_ALONE, {(): (0, "1000 0 applied, 3.00 0.00\n", ""),
                                                       ("two",): (1, "", "an update left this handle out")}),
            ("docs/scaler.md", "mpnum_status train_two(", TRAIN_BOTH, {("two",): (0, "1000 1000 applied, 3.00 3.00\n", "")})]:
        code, = [code for _, language, code in pieces(ROOT / path) if language == "c" and function in code]
        with tempfile.TemporaryDirectory() as folder:
            source, program = f"{folder}/program.c", f"{folder}/program"
            pathlib.Path(source).write_text(code + "#include <stdio.h>\n" + TWO_MODELS.replace("TRAIN", train))
            status, _, errors = run(["gcc", "-std=c99", *WARNINGS, source, "-o", program])
            assert status == 0, errors
            for arguments, (want, output, message) in runs.items():
                status, printed, errors = run([program, *arguments])
                assert (status, printed) == (want, output) and message in errors, (path, arguments, status, printed, errors)


def pieces_are_in_a_language_that_is_tried():
    for path in DOCUMENTS:
        for line, language, code in pieces(path):
            assert language in {*SUFFIXES, *COMMANDS}, f"{path.name}:{line}: {language}"
            if language == "python":
                compile(code, f"{path.name}:{line}", "exec")


def anchors(text):
    """Of the headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    names = [re.sub(r"\[([^]]*)\]\([^)]*\)|`", r"\1", name) for name in re.findall(r"^#+ (.+)$", text, re.M)]
    return {re.sub(r"[^\w -]", "", name.lower()).replace(" ", "-") for name in names}


def links_lead_somewhere():
    """Files that are linked or named exist, and so do the headings."""
    headings = {path: anchors(path.read_text()) for path in [*DOCUMENTS, *REFERENCE]}
    for path in headings:
        text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S)
        missing = []
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"https?:", link):
                continue
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            if not target.exists() or anchor and anchor not in headings.get(target, ()):
                missing.append(link)
        named = re.findall(r"`((?:tests|tools|include|bench|docs|examples)/[\w./-]+\.\w+)`", text)
        missing += [file for file in named if not (ROOT / file).exists()]
        assert not missing, f"{path.name}: {missing}"


def names_in_the_text_exist():
    """Public names of the headers, settings of tests, of CMake and of the single files; T stands for a type, and adding-a-format.md has
    one that is not there."""
    names = set(load_api().Api().names()) | {"MPNUM_TEST_MODE", "MPNUM_INSTALL", "MPNUM_NVCC", "MPNUM_NVDISASM", "MPNUM_REPOSITORY",
                                           "MPNUM_THIS_FILE", "MPNUM_THIS_CUDA_FILE", "mpnum_DIR"}
    for path in DOCUMENTS:
        words = set(re.findall(r"\b(?:mpnum|MPNUM)_\w*[A-Za-z0-9]\b(?![<*_.]\w?)", path.read_text()))
        unknown = sorted(word for word in words - names if not word.endswith("_T"))
        assert not unknown or path.name == "adding-a-format.md", f"{path.name}: {unknown}"


def internal_macros_in_the_text_exist():
    """A name that ends in an underscore may be the beginning of several."""
    macros = {word for path in (ROOT / "include").rglob("*") if path.is_file()
              for word in re.findall(r"#\s*define (MPNUM_\w+)", path.read_text())}
    for path in DOCUMENTS:
        gone = {name for name in re.findall(r"`(MPNUM_\w+_)`", path.read_text())
                if not any(macro.startswith(name) for macro in macros)}
        assert not gone, f"{path.name}: {sorted(gone)}"


def every_page_is_in_the_index():
    index = (ROOT / "docs" / "README.md").read_text()
    missing = [path.name for path in (ROOT / "docs").glob("*.md") if path.name != "README.md" and f"]({path.name})" not in index]
    assert not missing, missing


def map_shows_every_header_and_tells_walks():
    text = (ROOT / "docs/map.md").read_text()
    own = {path.relative_to(ROOT / "include/mpnum") for path in (ROOT / "include/mpnum").rglob("*.*")}
    words = set(re.findall(r"[\w.]+", text))
    if "a file for each ISA that `each_isa.inc` includes" in text:
        words |= set(re.findall(r'# *include "(\w+\.h)"', (ROOT / "include/mpnum/simd/detail/each_isa.inc").read_text()))
    missing = [str(path) for path in own if path.parts[0] != "cuda" and not {path.name, path.stem} & words]
    assert not missing, f"docs/map.md names not {' '.join(missing)}: the list of its floor is the first table"
    walks = re.split(r"^\*\*", text[text.index("## Walks"):], flags=re.M)[1:]
    names = {path.name for path in own}
    for walk in walks:
        files = {name.split("/")[-1] for name in re.findall(r"[\w/]+\.(?:h|inc)\b", walk.split("\n\n")[0])}
        assert files <= names, files - names  # tools/walks counts them
        for name in re.findall(r"`(mpnumv?_\w+)`", walk):
            assert any(name in (ROOT / "include/mpnum" / path).read_text() for path in own if path.name in files), name
    assert len(walks) == 3, len(walks)


if __name__ == "__main__":
    if "--update" in sys.argv:
        update_tables()
    quick = [format_tables_are_those_of_the_code, figures_of_choosing_a_format_follow_from_the_table,
             c_compiles_as_printed_with_gcc, cpp_compiles_as_printed_with_gcc,
             programs_print_what_they_should, two_optimizers_on_one_scaler_train_or_say_why, pieces_are_in_a_language_that_is_tried,
             map_shows_every_header_and_tells_walks, links_lead_somewhere, names_in_the_text_exist,
             internal_macros_in_the_text_exist, every_page_is_in_the_index]
    full = [c_compiles_as_printed_with_clang, cpp_compiles_as_printed_with_clang, cuda_compiles_as_printed]
    sys.exit(run_on_all_cores(full if "full" in sys.argv else quick))
