#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/test-summary counts what the test programs report, and anything broken as a failure."""

import functools
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from tree import ROOT, check, open_terminal


def summary(*arguments):
    return subprocess.run([ROOT / "tools" / "test-summary", *arguments], capture_output=True, text=True)


@functools.lru_cache(maxsize=None)
def project(protocol, suite):
    """A folder with a Meson project of one test, which runs the file "program", and its build folder."""
    folder = Path(tempfile.mkdtemp(dir=SCRATCH))
    (folder / "program").write_text("#!/bin/sh\n")
    (folder / "program").chmod(0o755)
    (folder / "meson.build").write_text(
        "project('summary', meson_version: '>=1.0')\n"
        f"test('it', find_program('program'), protocol: '{protocol}', suite: '{suite}', timeout: 1)\n")
    subprocess.run(["meson", "setup", folder / "build", folder], check=True, stdout=subprocess.DEVNULL)
    return folder


def summarize(script, protocol="tap", tier="quick", names=(), suite="quick"):
    """The exit status and the output lines for one test program, given as a shell script."""
    folder = project(protocol, suite)
    (folder / "program").write_text("#!/bin/sh\n" + script)
    done = summary(folder / "build", tier, *names)
    return done.returncode, (done.stdout + done.stderr).splitlines()


def expect(result, status, last, *lines):
    assert result[0] == status, result
    assert result[1][-1] == last, result
    if "no test ran" not in result[1]:
        assert re.fullmatch(r"built in \d+ s, ran in \d+ s; the slowest: it \d+ s", result[1][-2]), result
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


@functools.lru_cache(maxsize=None)
def project_of_programs():
    """The build folder of a project with programs in C, one of which does not compile."""
    folder = Path(tempfile.mkdtemp(dir=SCRATCH))
    (folder / "main.c").write_text("#include <stdio.h>\nint main(void) { return puts(\"1..1\\nok 1 - it\") < 0; }\n")
    (folder / "broken.c").write_text("int main(void) { return nothing; }\n")
    (folder / "meson.build").write_text(
        "project('summary', 'c', meson_version: '>=1.0')\n"
        "first = executable('first', 'main.c')\nsecond = executable('second', 'main.c')\n"
        "executable('apart', 'main.c')\n"
        "third = executable('third', 'main.c', build_by_default: false)\n"
        "broken = executable('broken', 'broken.c', build_by_default: false)\n"
        "test('one', first, args: second, suite: 'quick', protocol: 'tap')\n"
        "test('two', second, suite: 'full', protocol: 'tap')\n"
        "test('three', third, suite: 'full', protocol: 'tap')\n"
        "test('broken', broken, suite: 'exhaustive', protocol: 'tap')\n"
        "foreach name : ['a', 'b', 'c', 'd', 'e']\n"
        "  test('long_' + name, third, suite: 'exhaustive', protocol: 'tap')\nendforeach\n")
    subprocess.run(["meson", "setup", folder / "build", folder], check=True, stdout=subprocess.DEVNULL)
    return folder / "build"


def targets_are_what_the_tests_need():
    for arguments, targets in ((["quick"], ["first", "second"]), (["quick", "two"], ["second"]),
                               (["full"], ["apart", "first", "second", "third"])):
        done = summary("--targets", project_of_programs(), *arguments)
        assert (done.returncode, done.stdout.split()) == (0, targets), done


def tests_are_built_before_they_run():
    done = summary(project_of_programs(), "quick", "one", "three")
    assert done.returncode == 0 and done.stdout.endswith("\n2 passed, 0 failed, 0 skipped\n"), done
    assert (project_of_programs() / "third").exists()


def what_cannot_be_built_fails_and_the_rest_runs():
    done = summary(project_of_programs(), "quick", "broken", "three")
    lines = done.stdout.splitlines()
    assert done.returncode == 1 and lines[-1] == "1 passed, 2 failed, 0 skipped", done
    assert "FAIL broken: not built, so not run" in lines, done
    at = next(number for number, line in enumerate(lines) if line.startswith("FAIL cannot build broken.p/"))
    assert any("nothing" in line for line in lines[at + 1:at + 4]), done


def the_five_slowest_are_named():
    done = summary(project_of_programs(), "quick", *[f"long_{name}" for name in "abcde"], "two")
    named = re.search(r"the slowest: (.*)", done.stdout)[1]
    assert done.returncode == 0 and len(re.findall(r"\w+ \d+ s", named)) == 5, done


def progress_is_one_line_on_a_terminal():
    controller, terminal = open_terminal()
    process = subprocess.Popen([ROOT / "tools" / "test-summary", project_of_programs(), "quick", "one", "two"],
                               stdout=terminal, stderr=terminal)
    os.close(terminal)
    said = b""
    while True:
        try:
            said += os.read(controller, 4096)
        except OSError:  # the other side is closed
            break
    os.close(controller)
    said = said.decode()
    assert process.wait() == 0 and "\r\033[Ktest 2 of 2: " in said, said
    # Progress is wiped: lines that stay hold results alone.
    stays = [line.rsplit("\033[K", 1)[-1] for line in said.replace("\r\n", "\n").split("\n")[:-1]]
    assert len(stays) == 2 and stays[0].startswith("built in ") and stays[1] == "2 passed, 0 failed, 0 skipped", stays


def list_names_the_tests_of_a_tier():
    for tier, names in (("quick", ["quick one"]), ("full", ["quick one", "full three", "full two"])):
        done = summary("--list", project_of_programs(), tier)
        assert (done.returncode, [" ".join(line.split()) for line in done.stdout.splitlines()]) == (
            0, sorted(names, key=lambda name: name.split()[1])), done


def unknown_name_brings_the_nearest():
    for name, said in (("tree", "no test named tree; the nearest: three"), ("tw", "no test named tw; the nearest: two"),
                       ("zzz", "no test named zzz")):
        done = summary(project_of_programs(), "quick", "one", "two", name)
        assert done.returncode == 2 and done.stdout == "", done
        assert done.stderr == f'{said}\n"./mpnum test --list" names all\n', done


def a_part_of_a_name_selects_properties():
    """Of programs that keep to the harness, here one of Python; without a match it says what there is."""
    script = f"exec {sys.executable} {folder_of_properties() / 'program.py'}\n"
    expect(summarize(script, names=["it", "first"]), 0, "1 passed, 0 failed, 0 skipped")
    expect(summarize(script, names=["it", "_of_"]), 1, "1 passed, 1 failed, 0 skipped", "FAIL it: second_of_two")
    code, lines = summarize(script, names=["it", "nobody"])
    assert code == 2 and lines[-4:] == [
        'it has no property with "nobody" in its name; it has:', "  first_of_two", "  second_of_two", "no test named nobody"], lines


@functools.lru_cache(maxsize=None)
def folder_of_properties():
    folder = Path(tempfile.mkdtemp(dir=SCRATCH))
    (folder / "program.py").write_text(
        f"import sys\nsys.path.append({str(ROOT / 'tests/harness')!r})\nimport tap\ndef first_of_two(): pass\n"
        "def second_of_two(): assert False\nsys.exit(tap.run(first_of_two, second_of_two))\n")
    return folder


def the_list_in_the_tree_is_that_of_meson():
    build = os.environ.get("MPNUM_BUILD")
    if not build:
        raise tap.Skip("MPNUM_BUILD names no build folder")
    known = set(check(ROOT / "tools/test-summary", "--list", build, "exhaustive").splitlines())
    listed = {line for line in (ROOT / "tests/list.txt").read_text().splitlines() if not line.startswith("#")}
    if "quick      bench" in known:
        raise tap.Skip("without jansson the bench has one test")
    if "gpu_kernels gpu_collectives" not in known:  # no nvcc: what it builds is not there
        built = ("gpu_kernels ", "gpu_exhaustive ", "exhaustive witness_cuda_all")
        listed = {line for line in listed if line in known or not line.startswith(built)}
    update = "tools/test-summary --list build/mpnum-test exhaustive, below the comments of tests/list.txt"
    assert known == listed, "\n".join(["", *sorted(known ^ listed)[:20], update])


def lists_and_help_install_and_build_nothing():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("apt-get", "sudo", "meson", "ninja", "cc", "gcc", "c++", "clang", "python3", "pip", "nvcc", "pkg-config"):
            trap = Path(folder) / name
            trap.write_text(f"#!/bin/sh\necho {name} >>{folder}/called\nexit 1\n")
            trap.chmod(0o755)
        root = Path(folder) / "copy"
        root.mkdir()
        for name in ("mpnum", "tests/list.txt", "bench/core/options.c", "bench/inspect/options.c", "include/mpnum/core/detail/config.h"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes((ROOT / name).read_bytes())
        for arguments, first in ((["test", "--list"], "exhaustive "), (["test", "--full", "--list"], "quick "), (["help"], "usage: "),
                                 (["test", "--gpu", "--list"], "gpu "), (["test", "--help"], "usage: "),
                                 (["--version"], r"mpnum \d+\.\d+\.\d+$"),
                                 (["bench", "--help"], "Usage: mpnum bench"), (["inspect", "--help"], "Usage: mpnum inspect")):
            done = subprocess.run(["sh", root / "mpnum", *arguments], env={"PATH": f"{folder}:/usr/bin:/bin"}, capture_output=True,
                                  text=True)
            assert done.returncode == 0 and done.stderr == "" and re.search(rf"^{first}", done.stdout, re.M), (arguments, done)
        assert not (Path(folder) / "called").exists(), (Path(folder) / "called").read_text()
        assert not (root / "build").exists()


PROPERTIES = [
    a_part_of_a_name_selects_properties,
    the_list_in_the_tree_is_that_of_meson,
    lists_and_help_install_and_build_nothing,
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
    tests_are_built_before_they_run,
    what_cannot_be_built_fails_and_the_rest_runs,
    the_five_slowest_are_named,
    progress_is_one_line_on_a_terminal,
    list_names_the_tests_of_a_tier,
    unknown_name_brings_the_nearest,
]
with tempfile.TemporaryDirectory() as SCRATCH:
    status = tap.run(*PROPERTIES)
sys.exit(status)
