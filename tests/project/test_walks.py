#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The walks of docs/map.md: through how many files a call goes, as tools/walks counts them.

usage: tests/project/test_walks.py [full]

full: the launcher and what is reachable as well."""

import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from toolchain import load_tool
from tree import check, need

walks = load_tool("walks")
IS_FULL = sys.argv[1:] == ["full"]
# The most files that a call may pass, and that it could reach: fewer may come, not more.
MOST = {
    "one float to e4m3": (4, 4),
    "floats to e4m3": (12, 12),
    "softmax of bf16": (13, 17),
    "a gradient to its verdict": (22, 29),
    "a matrix to MX": (20, 21),
    "a launcher to its kernel": (19, None),
}
# Calls of every kind: by name, forced inline, by a pointer, by one that a table holds, out of a
# macro. b.h names a function that is never entered; nothing names what e.h defines.
SAMPLE = {
    "a.h": '#include "b.h"\n#include "c.h"\n#include "d.h"\n#include "e.h"\n'
           "MADE(sample_made)\n"
           "static int sample(int x) {\n"
           "  static int (*const table[])(int) = {sample_c, sample_d};\n"
           "  return x ? sample_made(x) + sample_forced(x) + table[x](x) : sample_b(x);\n}\n",
    "b.h": "static int sample_b(int x) { return x; }\n",
    "c.h": "static int sample_c(int x) { return x; }\n"
           "#define MADE(name) static int name(int x) { return x; }\n",
    "d.h": "static int sample_d(int x) { return -2 * x; }\n",
    "e.h": '#include "f.h"\nstatic int sample_e(int x) { return sample_forced(x); }\n',
    "f.h": "static inline __attribute__((__always_inline__)) int sample_forced(int x) { return x; }\n",
}


def need_walks():
    need("gcc")
    need("nm")
    if int(check("gcc", "-dumpversion").split(".")[0]) < 10:
        raise tap.Skip("gcc writes call graphs from 10 on")
    cpu = Path("/proc/cpuinfo")
    if not check("gcc", "-dumpmachine").startswith("x86_64") or not cpu.exists() or " avx2" not in cpu.read_text():
        raise tap.Skip("walks are those of AVX2, which this machine has not")


def a_sample_is_counted_as_by_hand():
    need_walks()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in SAMPLE.items():
            path = Path(folder, "mpnum", name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"#ifndef S_{name[0]}\n#define S_{name[0]}\n{text}#endif\n")
        calls = {"sample": ("a sample", "int x;", "x = 1;", "sample(x)")}
        passed, reachable = (count(calls, "#include <mpnum/a.h>\n", folder)["sample"]
                             for count in (walks.passed, walks.reachable))
    assert passed == {"a.h": ["sample", "sample_made"], "d.h": ["sample_d"], "f.h": ["sample_forced"]}, passed
    assert set(reachable) == {"a.h", "b.h", "c.h", "d.h", "f.h"}, reachable
    assert reachable["c.h"] == ["sample_c"], reachable


def walks_pass_few_files_and_the_map_names_them():
    need_walks()
    names = [name for name in walks.WALKS if IS_FULL or name not in walks.ON_DEVICE]
    counted = walks.count(names)
    assert set(walks.WALKS) == set(MOST)
    more = [f"{name}: {kind} {len(files)} files, not {most}: {' '.join(sorted(files))}"
            for name in names for kind, files, most in zip(["passes", "reaches"], counted[name], MOST[name])
            if files is not None and len(files) > most]
    rows = [walks.row(name, *counted[name]) for name in names]
    stale = [row for row in rows if row not in walks.split_map()[1]]
    assert not more, "\n".join(more)
    assert not stale, "run tools/walks --update; docs/map.md lacks\n" + "".join(stale)


def nothing_is_hidden_from_the_count():
    """A function that asks not to be recorded would pass unseen."""
    hiding = [str(path) for path in walks.OWN.rglob("*.*") if "no_instrument_function" in path.read_text(encoding="utf-8")]
    assert not hiding, hiding


if __name__ == "__main__":
    sys.exit(tap.run(a_sample_is_counted_as_by_hand, walks_pass_few_files_and_the_map_names_them,
                     nothing_is_hidden_from_the_count))
