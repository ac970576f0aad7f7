#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A peer of the benchmark is three places, as CONTRIBUTING.md says: in a copy of the sources a library that nobody has gets
them, and is then a row of the tables, found or not, and an environment variable of ./mpnum."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import scratch
import tap
from toolchain import run
from tree import check, need

HEADER = "static inline float toy_half(unsigned short code) { return (float)code; }\n"
SOURCE = """\
/* SPDX-License-Identifier: MIT */
#include "peers.h"

#include <toy.h>

PEER_LOOP(f16_to_f32, uint16_t, float, toy_half)
static const array_peer_loop loops[] = {{"f16 to f32", "toy_half", f16_to_f32}};
const array_peer peer_toy = {"Toy", NULL, loops, PEER_COUNT(loops), NULL};
"""
ROW = """\
  'toy': {'name': 'Toy', 'source': 'toy.c', 'folder': 'toy', 'header': 'toy.h', 'parts': ['include'],
    'absent': 'toy.h was not found (TOY=FOLDER names its folder)'},
"""
PLACES = [("bench/peers/toy.c", None, SOURCE), ("bench/peers/meson.build", "}\n\nhave_cpp", ROW),
          ("docs/bench.md", "| CPFloat | `CPFLOAT=FOLDER` ", "| Toy | `TOY=FOLDER` | a header |\n")]
OBJECTS = ["bench/libbench_long.a.p/sections_arrays_peers.c.o", "bench/libbench_peers.a.p/peers_toy.c.o"]


def configure(root, *options):
    build = root / "build"
    check(need("meson"), "setup", "-Dtests=false", "-Dexamples=false", "-Dbench=true", "-Dcuda=disabled", *options,
          *(["--reconfigure"] if build.exists() else []), build, root)
    return build


def strings(path):
    return path.read_bytes().split(b"\0")


def three_places_make_a_peer():
    steps = scratch.steps("A peer of the benchmark")
    with tempfile.TemporaryDirectory() as folder:
        root, toy = scratch.copy(folder), Path(folder) / "toy"
        changed = scratch.follow(root, PLACES)
        assert len(changed) == 3 == len(steps), steps
        build = configure(root)
        check(need("ninja"), "-C", build, OBJECTS[0])
        assert any(b"toy.h was not found" in part for part in strings(build / OBJECTS[0])), "absent, and no table says so"
        (toy / "include").mkdir(parents=True)
        (toy / "include/toy.h").write_text(HEADER)
        build = configure(root, f"-Dpeers=toy={toy}")
        check(need("ninja"), "-C", build, *OBJECTS)
        assert not any(b"toy.h was not found" in part for part in strings(build / OBJECTS[0]))
        names = check(need("nm"), *(build / name for name in OBJECTS))
        assert re.search(r" U peer_toy$", names, re.M) and re.search(r" D peer_toy$", names, re.M), names


def a_folder_without_it_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        root = scratch.copy(folder)
        scratch.follow(root, PLACES)
        for option, why in (("toy=" + folder, f"peer toy: no toy.h in {folder}"), ("toy", "toy is not NAME=FOLDER"),
                            ("nobody=/", "nobody=/ is not NAME=FOLDER")):
            done = run(need("meson"), "setup", "-Dtests=false", "-Dexamples=false", "-Dbench=true", "-Dcuda=disabled",
                       f"-Dpeers={option}", root / option.split("=")[0], root)
            assert done.returncode and why in done.stdout, done.stdout[-500:]


def an_environment_variable_names_the_folder():
    """./mpnum passes on those that the list names."""
    with tempfile.TemporaryDirectory() as folder:
        root = scratch.copy(folder)
        scratch.follow(root, PLACES)
        done = subprocess.run([root / "mpnum", "bench", "--no-install", "--formats"], capture_output=True, text=True,
                              env={"PATH": "/usr/bin:/bin", "TOY": folder})
        assert done.returncode and f"peer toy: no toy.h in {folder}" in done.stdout + done.stderr, done


sys.exit(tap.run(three_places_make_a_peer, a_folder_without_it_is_refused, an_environment_variable_names_the_folder))
