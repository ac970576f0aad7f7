#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/test-summary counts what the test programs report, and anything broken as a failure."""

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap

ROOT = Path(__file__).resolve().parents[2]


def summarize(script, protocol="tap", tier="quick", names=(), suite="quick"):
    """The exit status and the output lines for one test program, given as a shell script."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        program = folder / "program"
        program.write_text("#!/bin/sh\n" + script)
        program.chmod(0o755)
        (folder / "meson.build").write_text(
            "project('summary', meson_version: '>=1.0')\n"
            f"test('it', find_program('program'), protocol: '{protocol}', suite: '{suite}', timeout: 1)\n")
        subprocess.run(["meson", "setup", folder / "build", folder], check=True, stdout=subprocess.DEVNULL)
        done = subprocess.run([ROOT / "tools" / "test-summary", folder / "build", tier, *names],
                              capture_output=True, text=True)
        return done.returncode, (done.stdout + done.stderr).splitlines()


def expect(result, status, last, *lines):
    assert result[0] == status, result
    assert result[1][-1] == last, result
    for line in lines:
        assert line in result[1], (line, result)


def passes_and_skips_are_counted():
    expect(summarize("echo 'ok 1 - a'; echo 'ok 2 - b # SKIP no nvcc'; echo 1..2"),
           0, "1 passed, 0 failed, 1 skipped", "SKIP it: b: no nvcc")


def skips_for_one_reason_share_a_line():
    expect(summarize("echo 1..3; for n in 1 2 3; do echo \"ok $n - p$n # SKIP no nvcc\"; done"),
           1, "0 passed, 0 failed, 3 skipped", "SKIP it: p1 and 2 more: no nvcc")


def gpu_tier_is_apart_from_the_quick_one():
    expect(summarize("echo '1..0 # SKIP no GPU'", tier="gpu", suite="gpu"),
           1, "0 passed, 0 failed, 1 skipped", "SKIP it: no GPU")
    expect(summarize("echo 'ok 1 - a'; echo 1..1", tier="full", suite="gpu"), 0, "1 passed, 0 failed, 0 skipped")
    expect(summarize("echo 'ok 1 - a'; echo 1..1", suite="gpu"), 1, "0 passed, 0 failed, 0 skipped")


def failures_are_shown_with_their_comments():
    expect(summarize("echo 1..2; echo '# x.c:3: got 7e'; echo 'not ok 1 - a'; echo 'ok 2 - b'; exit 1"),
           1, "1 passed, 1 failed, 0 skipped", "FAIL it: a", "     # x.c:3: got 7e")


def crash_is_a_failure():
    expect(summarize("echo 'ok 1 - a'; echo why >&2; kill -ABRT $$"),
           1, "1 passed, 1 failed, 0 skipped", "FAIL it: killed by SIGABRT", "     why")


def crash_after_all_properties_is_a_failure():
    expect(summarize("echo 'ok 1 - a'; echo 1..1; exit 1"),
           1, "1 passed, 1 failed, 0 skipped", "FAIL it: exit status 1")


def missing_properties_are_a_failure():
    expect(summarize("echo 1..3; echo 'ok 1 - a'"),
           1, "1 passed, 1 failed, 0 skipped", "FAIL it: planned 3 properties and reported 1")


def silence_is_a_failure():
    expect(summarize(":"), 1, "0 passed, 1 failed, 0 skipped", "FAIL it: printed no TAP plan")


def time_out_is_a_failure():
    result = summarize("echo 'ok 1 - a'; sleep 30")
    expect(result, 1, "1 passed, 1 failed, 0 skipped")
    assert any(line.startswith("FAIL it: timed out after") for line in result[1]), result


def bail_out_is_a_failure():
    expect(summarize("echo 'Bail out! no memory'"),
           1, "0 passed, 1 failed, 0 skipped", "FAIL it: Bail out! no memory")


def skipped_program_says_why():
    expect(summarize("echo '1..0 # SKIP no MPFR'"),
           1, "0 passed, 0 failed, 1 skipped", "SKIP it: no MPFR", "no test ran")


def exit_status_alone_counts_once():
    expect(summarize("exit 0", "exitcode"), 0, "1 passed, 0 failed, 0 skipped")
    expect(summarize("echo seen; exit 3", "exitcode"),
           1, "0 passed, 1 failed, 0 skipped", "FAIL it: FAIL, exit status 3", "     seen")
    expect(summarize("echo no GPU; exit 77", "exitcode"),
           1, "0 passed, 0 failed, 1 skipped", "SKIP it: no GPU")


def tiers_hold_those_below():
    expect(summarize("echo 1..1; echo ok", tier="full", suite="quick"), 0, "1 passed, 0 failed, 0 skipped")
    expect(summarize("echo 1..1; echo ok", tier="quick", suite="full"),
           1, "0 passed, 0 failed, 0 skipped", "no test ran")


def name_selects_from_every_tier():
    expect(summarize("echo 1..1; echo ok", names=["it"], suite="full"), 0, "1 passed, 0 failed, 0 skipped")


def targets_are_what_the_tests_need():
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "main.c").write_text("int main(void) { return 0; }\n")
        (folder / "meson.build").write_text(
            "project('summary', 'c', meson_version: '>=1.0')\n"
            "first = executable('first', 'main.c')\nsecond = executable('second', 'main.c')\n"
            "executable('apart', 'main.c')\n"
            "third = executable('third', 'main.c', build_by_default: false)\n"
            "test('one', first, args: second, suite: 'quick')\ntest('two', second, suite: 'full')\n"
            "test('three', third, suite: 'full')\n")
        subprocess.run(["meson", "setup", folder / "build", folder], check=True, stdout=subprocess.DEVNULL)
        for arguments, targets in ((["quick"], ["apart", "first", "second"]), (["quick", "two"], ["second"]),
                                   (["full"], ["apart", "first", "second", "third"])):
            done = subprocess.run([ROOT / "tools" / "test-summary", "--targets", folder / "build", *arguments],
                                  capture_output=True, text=True)
            assert (done.returncode, done.stdout.split()) == (0, targets), done


def unknown_name_lists_the_known():
    expect(summarize(":", names=["other"]), 2, "no test named other; there are: it")


sys.exit(tap.run(
    passes_and_skips_are_counted,
    skips_for_one_reason_share_a_line,
    gpu_tier_is_apart_from_the_quick_one,
    failures_are_shown_with_their_comments,
    crash_is_a_failure,
    crash_after_all_properties_is_a_failure,
    missing_properties_are_a_failure,
    silence_is_a_failure,
    time_out_is_a_failure,
    bail_out_is_a_failure,
    skipped_program_says_why,
    exit_status_alone_counts_once,
    tiers_hold_those_below,
    name_selects_from_every_tier,
    targets_are_what_the_tests_need,
    unknown_name_lists_the_known,
))
