#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Device code gives the host's bytes: what nvcc makes of every conversion and of every function of floats runs in the
PTX interpreter of tests/cuda/ptx, and the same calls run here as a C compiler makes them. No GPU is needed.

usage: tests/cuda/ptx/test_ptx.py [exhaustive | every TYPE]

Without an argument two architectures run, one of them with -use_fast_math as well; with exhaustive all of them with more
inputs. every: each boundary, midpoint and code of one type: f16, bf16 or tf32.
Of a build whose PTX is that of another, to the byte, the results are those of the other.
"""

import multiprocessing
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[2] / room) for room in ["harness", "cuda"]]

import tap
import toolchain
from ptx import calls
from ptx.inputs import EveryCode, Inputs
from ptx.machine import Machine
from toolchain import named

QUICK_BUILDS = [("75",), ("120a",), ("120a", "-use_fast_math")]  # 120a has the ways of 80 and 90, too
EVERY_BUILDS = [*QUICK_BUILDS, ("75", "-use_fast_math"), ("90",), ("90", "-use_fast_math")]
BUILDS = {"quick": QUICK_BUILDS, "exhaustive": [*EVERY_BUILDS, ("80",), ("89",), ("100a",)]}
EVERY_TYPES = {"f16": 15, "bf16": 15, "tf32": 18}  # bits of a magnitude
MOST_PROBLEMS = 40  # shown of a build
STRETCH = 4096  # magnitudes in one job of the pool


class Work:
    """What the processes of the pool share: they are forked when it is complete."""

    def __init__(self, is_dense, only=None):
        self.api = toolchain.load_api().Api()
        self.calls = calls.conversions(self.api) + calls.functions(self.api) + calls.transforms(self.api)
        self.inputs = [Inputs(self.api, is_dense)]
        if only:
            self.inputs = [EveryCode(self.api, only, range(start, start + STRETCH))
                           for start in range(0, 1 << EVERY_TYPES[only], STRETCH)]
            self.calls = [call for call in self.calls if self.inputs[0].takes(call)]
        self.source = calls.source(self.api, self.calls)
        self.machines = {}
        self.first = {}  # PTX: the first build that gave it

    def build(self, folder, builds):
        """Compiles for the host and for every architecture that nvcc knows; returns {build: whose results it has}."""
        known = calls.archs_of_nvcc()
        chosen = [build for build in builds if build[0].rstrip("af") in known]
        self.host = calls.Host(self.source, folder)
        same = {}
        for build in chosen:
            text = calls.compile_ptx(self.source, folder, *build)
            same[build] = self.first.setdefault(text, build)
            if same[build] == build:
                self.machines[build] = Machine(text)
        return same

    def jobs(self):
        """(inputs, calls) by their places: a call each, or a stretch of one type each with all its calls."""
        places = range(len(self.calls))
        if len(self.inputs) == 1:
            return [(0, [place]) for place in places]
        return [(stretch, list(places)) for stretch in range(len(self.inputs))]


def run(build, part, places):
    """Runs calls of a build over all inputs of a part; returns (conversions, instructions, differences)."""
    machine, conversions, problems = WORK.machines[build], 0, []
    before = machine.executed
    for call in (WORK.calls[place] for place in places):
        try:
            records = WORK.inputs[part].records(call)
            got, expected = calls.run_on(machine, call, records), WORK.host.run(call, records)
            conversions += len(expected) // call.size
            problems += calls.differences(call, records, got, expected, most=1)
        except Exception as error:
            problems.append(f"{call.name}: {error}")
    return conversions, machine.executed - before, problems


def host_bytes_are_given(futures, twin):
    results = [future.result() for future in futures]
    conversions, executed = sum(result[0] for result in results), sum(result[1] for result in results)
    problems = [problem for result in results for problem in result[2]]
    print(f"# {conversions} conversions, {executed / 1e6:.1f} million instructions{twin}")
    assert not problems, "\n".join(problems[:MOST_PROBLEMS])


def every_conversion_is_called():
    missing = [name for name in WORK.api.functions.keys() - WORK.api.host_only if "_to_" in name or "code" in name.split("_") and not name.endswith("_bytes")
               or name.startswith(("mpnum_pack_", "mpnum_unpack_"))]
    missing = sorted(set(missing) - {call.function for call in WORK.calls})
    assert not missing, f"no kernel calls {missing}"
    for call in WORK.calls:
        assert len(WORK.inputs[0].records(call)), call.name


def properties(pool, builds, same):
    futures = {}
    for build in builds:
        title = f"sm_{' '.join(build)} gives the host's bytes"
        if build not in same:
            yield named(title, skip, f"this nvcc does not compile for sm_{build[0]}")
            continue
        if same[build] == build:
            futures[build] = [pool.submit(run, build, *job) for job in WORK.jobs()]
        twin = "" if same[build] == build else f": the PTX is that of sm_{' '.join(same[build])}"
        yield named(title, host_bytes_are_given, futures[same[build]], twin)


def main():
    global WORK
    arguments = sys.argv[1:]
    only = arguments[1] if arguments[:1] == ["every"] and len(arguments) == 2 else None
    if only not in EVERY_TYPES and arguments not in ([], ["exhaustive"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    builds = EVERY_BUILDS if only else BUILDS[(arguments or ["quick"])[0]]
    WORK = Work(bool(arguments), only)
    with tempfile.TemporaryDirectory() as folder:
        try:
            same = WORK.build(Path(folder), builds)
        except tap.Skip as reason:
            return tap.run(named("device code gives the host's bytes", skip, str(reason)))
        with ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("fork")) as pool:
            first = [] if only else [every_conversion_is_called]
            return tap.run(*first, *properties(pool, builds, same))


def skip(reason):
    raise tap.Skip(reason)


if __name__ == "__main__":
    sys.exit(main())
