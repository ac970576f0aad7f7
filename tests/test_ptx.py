#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Device code gives the host's bytes: what nvcc makes of every conversion runs in the PTX interpreter of tests/ptx,
and the same calls run here as a C compiler makes them. No GPU is needed.

usage: tests/test_ptx.py [full]

Without an argument three architectures run, two of them with -use_fast_math as well; with full there are more
architectures and inputs.
"""

import multiprocessing
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import tap
import toolchain
from ptx import calls
from ptx.inputs import Inputs
from ptx.machine import Machine
from toolchain import named

QUICK_BUILDS = [("75",), ("90",), ("120a",), ("75", "-use_fast_math"), ("120a", "-use_fast_math")]
FULL_BUILDS = [*QUICK_BUILDS, ("80",), ("89",), ("100a",), ("90", "-use_fast_math")]


class Work:
    """What the processes of the pool share: they are forked when it is complete."""

    def __init__(self, is_dense):
        self.api = toolchain.load_api().Api()
        self.inputs = Inputs(self.api, is_dense)
        self.calls = calls.conversions(self.api)
        self.source = calls.source(self.api, self.calls)
        self.machines = {}

    def build(self, folder, builds):
        """Compiles for the host and for every architecture that nvcc knows; returns those builds."""
        known = calls.archs_of_nvcc()
        chosen = [build for build in builds if build[0].rstrip("af") in known]
        self.host = calls.Host(self.source, folder)
        for arch, *flags in chosen:
            self.machines[arch, *flags] = Machine(calls.compile_ptx(self.source, folder, arch, *flags))
        return chosen


def run(build, place):
    """Runs one call of a build over all its inputs; returns (conversions, instructions, the first difference)."""
    machine, call = WORK.machines[build], WORK.calls[place]
    records = WORK.inputs.records(call)
    before = machine.executed
    got, expected = calls.run_on(machine, call, records), WORK.host.run(call, records)
    return (len(expected) // call.size, machine.executed - before,
            calls.differences(call, records, got, expected, most=1))


def host_bytes_are_given(futures):
    total, executed, problems = 0, 0, []
    for name, future in futures:
        try:
            count, instructions, found = future.result()
        except Exception as error:
            problems.append(f"{name}: {error}")
            continue
        total, executed = total + count, executed + instructions
        problems += found
    print(f"# {total} conversions, {executed / 1e6:.1f} million instructions")
    assert not problems, "\n".join(problems)


def every_conversion_is_called():
    missing = [name for name in WORK.api.functions if "_to_" in name or "code" in name.split("_")
               or name.startswith(("mpnum_pack_", "mpnum_unpack_"))]
    missing = sorted(set(missing) - {call.function for call in WORK.calls})
    assert not missing, f"no kernel calls {missing}"
    for call in WORK.calls:
        assert len(WORK.inputs.records(call)), call.name


def main():
    global WORK
    if sys.argv[1:] not in ([], ["full"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    is_full = len(sys.argv) > 1
    builds = FULL_BUILDS if is_full else QUICK_BUILDS
    WORK = Work(is_full)
    with tempfile.TemporaryDirectory() as folder:
        try:
            chosen = WORK.build(Path(folder), builds)
        except tap.Skip as reason:
            return tap.run(named("device code gives the host's bytes", skip, str(reason)))
        with ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("fork")) as pool:
            properties = [every_conversion_is_called]
            for build in builds:
                title = f"sm_{' '.join(build)} gives the host's bytes"
                if build not in chosen:
                    properties.append(named(title, skip, f"this nvcc does not compile for sm_{build[0]}"))
                    continue
                futures = [(call.name, pool.submit(run, build, place))
                           for place, call in enumerate(WORK.calls)]
                properties.append(named(title, host_bytes_are_given, futures))
            return tap.run(*properties)


def skip(reason):
    raise tap.Skip(reason)


if __name__ == "__main__":
    sys.exit(main())
