#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/gpu-run without a GPU: a driver, an nvcc and programs of this test, in an environment that has nothing else but
a C compiler. test_gpu_run.py [full | simulated ROWS], full: with the real nvcc, too; simulated: a test and the
benchmark's rows (the program ROWS) in the simulator, which fails, hangs, returns wrong bits, has too little memory."""

import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from toolchain import load_tool, named
from tree import ROOT, check, need

TOOL = ROOT / "tools/gpu-run"
tool = load_tool("gpu-run")
PROGRAMS = [line.split()[0] for line in (ROOT / "tests/cuda/gpu/programs.txt").read_text().splitlines() if line[0] not in "# "]
GPU = "13000 90 Fake GPU 1"
ROWS = ["limits", "rms_norm_rows bf16 x 4096", "nvfp4_scale bf16", "product f32"]
FIGURE = {"state": "MEASURED", "us": 12.5, "noise": 0.01, "bound": "copy", "rate": 3000, "limit": 4000, "checked": 100, "wrong": 0}
LATENCY = {"machine": "latency", "of": "L2", "value": 294.5, "unit": "clocks"}
# What a program of a plan does, in sh: it is named by what it is to show.
DOES = {
    "ok": 'echo "# begins first"; echo "ok 1 - first"; echo 1..1',
    "fails": 'echo "# begins first"; echo "not ok 1 - first"; echo 1..1; exit 1',
    "hangs": 'trap "" TERM; echo "ok 1 - first"; echo "# begins second"; sleep 1000 & sleep 1000',
    "crashes": 'echo "# begins first"; kill -SEGV $$',
    "ends": 'echo "# begins first"; exit 0',
    "talks": 'i=0; a="# a line that is long enough to fill a file"; a="$a $a $a $a $a"; a="$a $a $a $a $a"; a="$a $a $a $a"; while [ $i -lt 100 ]; do echo "$a"; i=$((i+1)); done; echo "ok 1 - first"; echo 1..1',
    "finds no GPU": 'echo "1..0 # SKIP no GPU: out of luck"; exit 77',
}
# In sh, which starts fastest. What it makes lies ready in the folder `programs`.
NVCC = """#!/bin/sh
case "$*" in
*--version*) echo 'Cuda compilation tools, release {release}, V{release}.1'; exit ;;
*--list-gpu-code*) printf 'sm_75\\nsm_90\\nsm_120\\n'; exit ;;
*--help*) exit ;;
esac
while [ "$1" != -o ]; do shift; done
name=${{2##*/}}
echo "${{name#test_}}" >>'{folder}/log'
if [ -e '{folder}/programs/full disk' ]; then echo 'ptxas fatal: No space left on device' >&2; exit 1; fi
if [ -e "{folder}/programs/${{name#test_}}.not" ]; then echo "$name: error: it is not built" >&2; exit 1; fi
if [ -e "{folder}/programs/${{name#test_}}" ]; then name=${{name#test_}}; else name=any; fi
ln -f "{folder}/programs/$name" "$2"
"""


@functools.cache
def driver():
    """The folder of a libcuda.so.1 of this test."""
    folder = tempfile.mkdtemp()
    check(need("cc", "gcc"), "-shared", "-fPIC", ROOT / "tests/cuda/gpu/fake/driver.c", "-o", f"{folder}/libcuda.so.1")
    return folder


def rows_program(does):
    """gpu-rows in sh: does, by row, replaces what follows its beginning."""
    lines = ['if [ "$1" = --list ]; then', *(f"echo '{row}'" for row in ROWS), "exit 0; fi", "echo '{\"device\": \"Fake\", \"size\": 1048576, \"rounds\": 3}'",
             'for row in "$@"; do', "echo \"{\\\"begin\\\": \\\"$row\\\"}\"", 'case $row in']
    for row in ROWS:
        lines.append(f"'{row}') " + does.get(row, "echo '" + json.dumps({"row": row, **FIGURE}) + "'") + " ;;")
    return "\n".join([*lines, "esac", "done"])


class Machine:
    """A folder with what such a machine has, and no more."""

    def __init__(self, programs=None, rows=None, tools=(), release="13.0", plan=()):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.bin, self.results = self.folder / "bin", self.folder / "results"
        self.bin.mkdir()
        for name in ("sh", "sleep", "ln", "gcc", "g++", "as", "ld"):
            if shutil.which(name):
                (self.bin / name).symlink_to(os.path.realpath(shutil.which(name)))
        (self.folder / "programs").mkdir()
        for name, text in {"any": DOES["ok"], "gpu-rows": rows_program(rows or {}),
                           **{name: DOES[what] for name, what in (programs or {}).items()}}.items():
            self.script(name, f"#!/bin/sh\n{text}\n", self.folder / "programs")
        for name in plan:
            (self.folder / "programs" / name).touch()
        self.script("nvcc", NVCC.format(folder=self.folder, release=release))
        self.script("gpu-machine", f"#!/bin/sh\necho '{json.dumps(LATENCY)}'\n", self.folder / "programs")
        (self.folder / "torch.py").write_text("raise ImportError('there is no such thing')\n")
        # Files of C are none either: that takes time.
        self.script("cc", '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\n: >"$2"\n')
        for name, text in tools:
            self.script(name, text)

    def script(self, name, text, folder=None):
        path = (folder or self.bin) / name
        path.unlink(missing_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def command(self, *options):
        return [sys.executable, str(TOOL), "--results", str(self.results), "--build", str(self.folder / "build"), "--jobs", "4", "--limit", "0.6", *options]

    def environment(self, gpu=GPU, **more):
        return {"PATH": str(self.bin), "FAKE_DRIVER": gpu, "LD_LIBRARY_PATH": driver() if gpu != "absent" else "/nowhere",
                "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(self.folder), **more}

    def run(self, *options, **how):
        done = subprocess.run(self.command(*options), env=self.environment(**how), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=300)
        return done.returncode, done.stdout, done.stderr

    def outcomes(self):
        return {line["item"]: line["outcome"] for line in tool.Results(self.results).lines("state.jsonl") if "item" in line}

    def text(self, name):
        return (self.results / name).read_text()

    def built(self):
        path = self.folder / "log"
        made = path.read_text().split() if path.exists() else []
        path.unlink(missing_ok=True)
        return made


SMI = "#!/bin/sh\necho 'Fake GPU 1: 81 C, nothing is wrong'\n"
# As compute-sanitizer: one program has races, another hangs under synccheck.
SANITIZER = """#!/bin/sh
tool=$2
while [ "$1" != --tiny ]; do program=$1; shift; done
case $tool,$program in
racecheck,*test_kernels_norm) echo '========= Error: Race reported'; exit 99 ;;
synccheck,*test_gpu) sleep 1000 ;;
esac
exec "$program"
"""


def all_that_happens_is_told():
    machine = Machine({"kernels_norm": "fails", "kernels_grad": "hangs", "grad_graph": "crashes", "gpu": "ends", "collectives": "talks",
                       "scale_kernels": "finds no GPU"},
                      {"nvfp4_scale bf16": "sleep 1000", "product f32": "kill -9 $$",
                       ROWS[1]: "echo '" + json.dumps({"row": ROWS[1], **FIGURE, "wrong": 7}) + "'"},
                      [("nvidia-smi", SMI), ("compute-sanitizer", SANITIZER)], plan=["kernels_convert_more.not"])
    status, out, errors = machine.run("--stage", "tests", "--stage", "rows")
    assert (status, errors) == (1, ""), (status, out, errors)
    got, bad = machine.outcomes(), {"kernels_norm": "failed", "kernels_grad": "hung", "grad_graph": "failed", "gpu": "failed",
                                    "scale_kernels": "no GPU", "kernels_convert_more": "not built"}
    for name in PROGRAMS:
        assert got[f"tests:{name}"] == bad.get(name, "ok"), (name, got)
    assert [got[f"rows:{row}"] for row in ROWS] == ["measured", "wrong", "hung", "failed"], got
    summary = machine.text("summary.txt")
    assert summary in out and summary.count("\n") <= 24 and max(map(len, summary.splitlines())) <= 110, summary
    for text in ("Fake GPU 1, compute capability 9.0, driver for CUDA 13.0, nvcc 13.0", "HUNG tests kernels_grad: in second",
                 "FAILED tests kernels_norm: not ok 1 - first"):
        assert text in summary, summary
    assert "ended with 0 in first" in out, out
    tap_lines = machine.text("tests.tap")
    assert re.search(r"^not ok \d+ - kernels_grad # hung", tap_lines, re.M) and re.search(r"^ok \d+ - kernels_rows # ok", tap_lines, re.M)
    assert "    # begins second\n" in tap_lines and "which is left out" in tap_lines and len(tap_lines) < 600 << 10, len(tap_lines)
    assert machine.text("smi.txt").count("81 C, nothing is wrong") == 2 and "after tests:kernels_grad" in machine.text("smi.txt")
    assert "it is not built" in machine.text("build.txt")
    made = [line for line in tool.Results(machine.results).lines("rows.jsonl") if "row" in line]
    assert [(line["row"], line["state"]) for line in made] == list(zip(ROWS, ("MEASURED", "MEASURED", "HUNG", "FAILED"))), made
    assert len(list(machine.results.iterdir())) <= 8
    machine.built()
    status, out, errors = machine.run("--stage", "tests", "--stage", "rows")  # what cannot be built is tried again
    assert status == 1 and machine.built() == ["kernels_convert_more"], out
    no_process_is_left(machine)


def no_process_is_left(machine):
    """What a program that was killed had started, too."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            assert f"PATH={machine.bin}".encode() not in path.read_bytes(), path.parent.joinpath("cmdline").read_bytes()
        except (OSError, PermissionError):
            continue


def end_in(machine, name, text, *options):
    """SIGTERM when this text is in a file of the results."""
    with subprocess.Popen(machine.command("--stage", "tests", *options), env=machine.environment(), stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not ((machine.results / name).exists() and text in machine.text(name)):
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM


def commands_go_on_where_the_last_one_ended():
    """The second runs on a machine that has DIR and nothing else of the first."""
    machine = Machine({PROGRAMS[3]: "hangs"})
    status, out, _ = machine.run("--stage", "tests", "--budget", "7")  # 8 s are for the end
    assert status == 3 and f"{len(PROGRAMS)} left: the same command again goes on with" in out and not machine.outcomes(), (status, out)
    end_in(machine, "tests.tap", "begins second", "--limit", "100")
    before = machine.outcomes()
    assert list(before) == [f"tests:{name}" for name in PROGRAMS[:3]], before
    other = Machine()
    shutil.copytree(machine.results, other.results)
    (other.results / "state.jsonl").open("a").write('{"item": "tests:kernels_ro')  # as a command that was killed leaves it
    status, out, errors = other.run("--stage", "tests")
    assert status == 0, (out, errors)
    assert set(other.outcomes()) == {f"tests:{name}" for name in PROGRAMS}
    assert not {name for name in other.built()} & {item.split(":")[1] for item in before}
    assert f"tests       {len(PROGRAMS)} of  {len(PROGRAMS)}" in other.text("summary.txt"), other.text("summary.txt")
    status, out, _ = other.run("--stage", "tests")
    assert status == 0 and other.built() == [] and "hung" not in out, out


def a_gpu_that_is_away_leaves_rows_for_later():
    """As after a hang that the driver has not got over yet."""
    machine = Machine()
    machine.script("gpu-rows", "#!/bin/sh\n[ \"$1\" = --list ] || { echo 'gpu-rows: no GPU can be used' >&2; exit 77; }\necho limits\n", machine.folder / "programs")
    status, out, _ = machine.run("--stage", "rows")
    assert status == 3 and not machine.outcomes(), out
    assert "rows are left: gpu-rows ended with 77 before the first: gpu-rows: no GPU can be used" in out and "1 left: the same command again" in out, out
    shutil.rmtree(machine.folder / "build")
    machine.script("gpu-rows", f"#!/bin/sh\n{rows_program({})}\n", machine.folder / "programs")
    status, out, _ = machine.run("--stage", "rows")
    assert status == 0 and machine.outcomes()["rows:limits"] == "measured", out


def all_of_the_time_is_what_is_spent():
    machine = Machine()
    assert machine.run("--stage", "rows")[0] == 0
    with (machine.results / "state.jsonl").open("a") as file:
        file.write(json.dumps({"clock": 1439}) + "\n")
    status, out, _ = machine.run("--stage", "tests")
    assert status == 3 and "no time is left; --total SECONDS gives more" in out and "1439 of 1440 s are spent" in out, out
    assert machine.run("--stage", "tests", "--total", "2000")[0] == 0


def a_command_that_is_ended_leaves_no_program():
    machine = Machine({"kernels_rows": "hangs"})
    end_in(machine, "tests.tap", "begins second", "--limit", "100")
    no_process_is_left(machine)
    assert "tests:kernels_rows" not in machine.outcomes()


def programs_of_tests_run_together():
    """What each prints stays in one piece, and one that hangs holds up no other."""
    machine = Machine({PROGRAMS[0]: "hangs", PROGRAMS[2]: "fails"})
    begun = time.monotonic()
    status, out, errors = machine.run("--stage", "tests", "--together", "8", "--limit", "3")
    assert (status, errors) == (1, "") and time.monotonic() - begun < 30, out
    got = machine.outcomes()
    assert got == {f"tests:{name}": {0: "hung", 2: "failed"}.get(i, "ok") for i, name in enumerate(PROGRAMS)}, got
    text = machine.text("tests.tap")
    for name in PROGRAMS[3:]:
        assert re.search(rf"^# Subtest: {name}\n    # begins first\n    ok 1 - first\n    1..1\nok \d+ - {name} # ok", text, re.M), text
    no_process_is_left(machine)
    machine = Machine({name: "hangs" for name in PROGRAMS})
    with subprocess.Popen(machine.command("--stage", "tests", "--together", "4", "--limit", "100"), env=machine.environment(), stdout=subprocess.PIPE,
                          text=True) as process:
        while not machine.built():
            time.sleep(0.05)
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM
    assert not machine.outcomes()
    no_process_is_left(machine)


def what_the_gpu_is_is_told():
    machine = Machine()
    status, out, errors = machine.run("--stage", "machine")
    assert (status, errors) == (0, ""), (out, errors)
    assert machine.outcomes() == {"machine:gpu-machine": "measured", "machine:torch": "skipped"}, out
    assert [*tool.Results(machine.results).lines("machine.jsonl")] == [LATENCY]
    times = {"version": "9.1", "rows": {ROWS[1]: {"function": "rms_norm", "ms": 0.025, "noise": 0.01}}}
    machine = Machine()
    machine.script("gpu-machine", "#!/bin/sh\necho half of a line; exit 3\n", machine.folder / "programs")
    (machine.folder / "torch.py").write_text(f"print({json.dumps(json.dumps(times))}); raise SystemExit\n")
    status, out, _ = machine.run("--stage", "machine")
    assert status == 1 and machine.outcomes() == {"machine:gpu-machine": "failed", "machine:torch": "measured"}, out
    assert "FAILED machine gpu-machine: half of a line" in out, out
    assert tool.peer_times(tool.Results(machine.results)) == ("PyTorch 9.1", {ROWS[1]: 25})
    table = tool.figures_table({(ROWS[1], ""): {"row": ROWS[1], **FIGURE}, (ROWS[2], ""): {"row": ROWS[2], **FIGURE}}, "PyTorch 9.1", {ROWS[1]: 25})
    assert [re.split("  +", line)[6] for line in table] == ["x PyTorch 9.1", "2.00", "-"], table


def what_was_compiled_elsewhere_is_not_compiled_again():
    """In a folder of another name, of a tree in another place."""
    machine = Machine()
    command = [sys.executable, TOOL, "--compile", "90", "--build", machine.folder / "build", "--jobs", "4"]
    done = subprocess.run(command, env=machine.environment(gpu="absent"), capture_output=True, text=True, timeout=100)
    assert done.returncode == 0 and " built, 0 failed, " in done.stdout, done
    assert {*PROGRAMS, "gpu-rows", "gpu-machine"} <= set(machine.built())
    other = Machine()
    shutil.copytree(machine.folder / "build", other.folder / "build")
    status, out, _ = other.run()
    assert status == 0 and other.built() == [], out
    done = subprocess.run([*command[:2], "--compile", "91"], env=machine.environment(gpu="absent"), capture_output=True, text=True, timeout=100)
    assert done.returncode == 2 and done.stderr == "gpu-run: nvcc of CUDA 13.0 has no target 91: one of 75, 90, 120\n", done
    machine = Machine(plan=["kernels_norm.not"])
    done = subprocess.run([*command[:5], machine.folder / "build"], env=machine.environment(gpu="absent"), capture_output=True, text=True, timeout=100)
    assert done.returncode == 1 and "error: it is not built" in done.stdout and " 1 failed" in done.stdout, done


def what_cannot_be_done_is_one_line():
    machine = Machine()
    assert machine.run("--stage", "rows")[0] == 0
    kept = machine.text("rows.jsonl")
    small = Machine(release="12.4")
    for gpu, of, says in (("absent", machine, "no GPU: there is no NVIDIA driver (libcuda.so.1 was not found); run this on a machine where nvidia-smi lists one"),
                          ("none", machine, "no GPU: there is no NVIDIA GPU; run this on"),
                          ("broken", machine, "no GPU: the NVIDIA driver does not work: cuInit says system has unsupported"),
                          ("12080 90 Old", machine, "the driver is one for CUDA 12.8, older than nvcc of CUDA 13.0: update the driver, or put an nvcc of CUDA 12 first"),
                          ("13000 99 New", machine, "nvcc of CUDA 13.0 has no target for a GPU of compute capability 9.9: install a newer toolkit"),
                          ("13000 75 Fake GPU 2", machine, f"the results in {machine.results} are those of Fake GPU 1, 9.0, and this is Fake GPU 2, 7.5: name another folder"),
                          ("13000 90 Fake GPU 1", small, "")):
        status, out, errors = of.run("--stage", "rows", gpu=gpu)
        if not says:  # a driver for a later CUDA is none too old
            assert status == 0, (out, errors)
            continue
        assert status == 2 and errors.startswith(f"gpu-run: {says}") and errors.count("\n") == 1, (gpu, status, errors)
        assert machine.text("rows.jsonl") == kept
    machine.bin.joinpath("nvcc").unlink()
    if not Path("/usr/local/cuda/bin/nvcc").exists():
        status, _, errors = machine.run()
        assert status == 2 and "nvcc was found neither in PATH nor in /usr/local/cuda/bin: install" in errors, errors
    for arguments in ((), ("--results",), ("--results", "a", "--import", "b"), ("--results", "a", "--budget", "0"), ("--import", "/nowhere")):
        done = subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True)
        assert done.returncode == 2 and done.stderr, (arguments, done)


def sources_that_changed_are_others():
    machine = Machine()
    assert machine.run("--stage", "rows")[0] == 0
    text = machine.text("state.jsonl")
    (machine.results / "state.jsonl").write_text(text.replace(tool.sources_digest(), "0123456789abcdef"))
    status, _, errors = machine.run("--stage", "rows")
    assert status == 2 and "are of other sources (0123456789abcdef) than these" in errors and errors.count("\n") == 1, errors


def a_full_disk_loses_nothing():
    machine = Machine()
    assert machine.run("--stage", "rows")[0] == 0
    state = machine.text("state.jsonl")
    (machine.results / "tests.tap").symlink_to("/dev/full")
    status, out, errors = machine.run("--stage", "tests")
    assert status == 2 and errors == f"gpu-run: the disk of {machine.results} is full: free some space, then run this command again; what was finished is kept\n", errors
    assert machine.text("state.jsonl") == state
    (machine.results / "tests.tap").unlink()
    assert machine.run("--stage", "tests")[0] == 0 and machine.text("state.jsonl").startswith(state)
    machine = Machine(plan=["full disk"])
    status, _, errors = machine.run("--stage", "tests")
    assert status == 2 and "is full: free some space, or name another folder with --build" in errors and errors.count("\n") == 1, errors


def without_compute_sanitizer_that_is_seen():
    machine = Machine()
    status, out, _ = machine.run()
    assert status == 0 and out.count("SKIP: compute-sanitizer is neither beside nvcc nor in PATH") == 4, out
    machine.script("compute-sanitizer", SANITIZER)
    status, out, _ = machine.run("--stage", "racecheck", "--stage", "synccheck")
    got = machine.outcomes()
    assert status == 1 and got["synccheck:gpu"] == "hung" and got["synccheck:collectives"] == "ok", out
    assert got["racecheck:kernels_norm"] == "failed" and got["racecheck:kernels_reduce"] == "ok", got
    assert "Error: Race reported" in out and "Race reported" in machine.text("sanitizer.txt"), out


def figures_become_a_file_of_results():
    machine = Machine(rows={"nvfp4_scale bf16": "sleep 1000"})
    machine.run("--stage", "rows", "--stage", "tests", gpu="13000 90 NVIDIA H200")
    out = check(sys.executable, TOOL, "--import", machine.results, "--to", machine.folder / "made")
    text = (machine.folder / "made/h200.txt").read_text()
    lines = text.splitlines()
    assert lines[0] == "NVIDIA H200, compute capability 9.0, driver for CUDA 13.0, nvcc 13.0", text
    assert re.search(r"^rms_norm_rows bf16 x 4096 +12\.5 +1\.0% +3000 +75\.0 % +-  yes$", text, re.M), text
    assert re.search(r"^nvfp4_scale bf16 .*hung: no line for too long$", text, re.M) and "  hung: nvfp4_scale bf16" in text, text
    assert f"tests: {len(PROGRAMS)} ok" in text and "memcheck: none was run" in text, text
    told = out.split("no GPU has seen them:\n")[1]
    said = [tuple(line.split(": ", 1)) for line in told.splitlines()]
    assert len(said) == len(list(tool.unseen_sentences())) >= 4, told
    for path, sentence in (("docs/cuda.md", "No such GPU has run it"), ("docs/cuda.md", "this is unverified"),
                           ("README.md", "Other GPUs, x87 and MSVC itself have run none of it")):
        assert any(place.startswith(path) and sentence in text for place, text in said), (path, told)
    for place, sentence in said:  # where they are
        path, line = place.split(":")
        shown = " ".join(" ".join((ROOT / path).read_text().splitlines()[int(line) - 1:][:40]).split())
        assert shown.lstrip("*- ").find(sentence.removesuffix(" [...]")[:60].lstrip("*- ")) >= 0, (place, sentence)


def what_meson_builds_is_what_gpu_run_builds():
    """Every test of the lists, and every file of bench/gpu, is in one of them."""
    units = {words[0] for words in tool.table(ROOT / "bench/gpu/units.txt")}
    ours = {path.name for path in (ROOT / "bench/gpu").glob("*.c*") if path.suffix in (".cu", ".c")}
    assert ours - units == {"absent.c", "machine.cu", "no_kernels.c", "probe.cu", "report.c", "torch.c"}, ours - units
    for words in tool.table(ROOT / "tests/cuda/gpu/programs.txt"):
        assert (ROOT / "tests/cuda/gpu" / words[1]).exists(), words
    for path in (ROOT / "tests/cuda/simt").glob("test_*.cpp"):
        is_listed = any(words[1].endswith("/" + path.name) for words in tool.table(ROOT / "tests/cuda/gpu/programs.txt"))
        assert is_listed != path.name.startswith("test_simt"), path


# Kernels in the simulator.

SIMULATED = """#!{python}
import os, shutil, subprocess, sys
arguments = sys.argv[1:]
if "--version" in arguments:
    print("Cuda compilation tools, release 13.0, V13.0.1")
elif "--list-gpu-code" in arguments:
    print("sm_90")
elif "--help" not in arguments:
    to = arguments[arguments.index("-o") + 1]
    if os.path.basename(to) == "gpu-rows":
        with open(to, "w") as file:
            file.write("#!/bin/sh\\nexec {rows} --size 65536 --rounds 1 --patterns 500 --mnk 48 \\"$@\\"\\n")
        os.chmod(to, 0o755)
    elif to.endswith(".o"):
        open(to, "w").close()
    elif not to.endswith("test_kernels_reduce"):
        sys.exit("not this one")
    else:
        sys.exit(subprocess.run(["g++", "-std=c++17", "-O1", "-DTEST_ON_GPU=1", "-DTEST_TYPES=float,mpnum_e4m3", "-I", {root!r} + "/include",
            "-include", {root!r} + "/tests/cuda/gpu/simulated.hpp", *[word for word in arguments if word.endswith(".cpp")], "-o", to]).returncode)
"""


class Simulated(Machine):
    def environment(self, gpu=GPU, **more):  # with libraries under the names of the real ones
        made = super().environment(gpu, **more)
        return {**made, "LD_LIBRARY_PATH": ":".join(filter(None, (made["LD_LIBRARY_PATH"], os.environ.get("LD_LIBRARY_PATH"))))}

    def __init__(self):
        super().__init__()
        self.script("nvcc", SIMULATED.format(python=sys.executable, rows=os.path.abspath(sys.argv[2]), root=str(ROOT)))


@functools.cache
def simulated():
    return Simulated()


def tried(stage, fault, limit="30"):
    """With that fault, from the beginning, what was built kept."""
    machine = simulated()
    shutil.rmtree(machine.results, ignore_errors=True)
    command = machine.command("--stage", stage, "--limit", limit)
    subprocess.run(command, env=machine.environment(SIMULATED_GPU=fault), capture_output=True, timeout=500)
    return machine.outcomes(), machine.text("summary.txt")


def a_test_in_the_simulator_passes():
    outcomes, summary = tried("tests", "")
    assert outcomes["tests:kernels_reduce"] == "ok", summary
    assert simulated().text("tests.tap").count("\n    ok ") == 9


def a_test_that_fails_hangs_or_is_wrong_is_told():
    for fault, outcome, says in (("fail=30", "failed", "a kernel failed"), ("wrong=12", "failed", "not ok 1"), ("memory=20000", "failed", "out of memory"),
                                 ("hang=30", "hung", "in every_type_is_reduced"), ("none", "no GPU", "SKIP no GPU")):
        outcomes, summary = tried("tests", fault, "3" if fault.startswith("hang") else "30")
        assert outcomes["tests:kernels_reduce"] == outcome, (fault, summary)
        assert says in simulated().text("tests.tap") + summary, (fault, summary)


def rows_in_the_simulator_are_measured():
    outcomes, summary = tried("rows", "", "100")
    shown = list(outcomes)
    assert shown[:2] == ["rows:limits", "rows:rms_norm_rows bf16 x 4096"] and len(shown) > 60, shown[:5]
    assert set(outcomes.values()) <= {"measured", "skipped"}, {row: what for row, what in outcomes.items() if what not in ("measured", "skipped")}


def a_row_that_fails_hangs_or_is_wrong_fails_alone():
    """So late that a program which is begun anew behind it does not come as far."""
    for fault, outcome in (("fail=5000", "failed"), ("wrong=400", "wrong"), ("hang=5000", "hung")):
        outcomes, summary = tried("rows", fault, "5" if fault.startswith("hang") else "100")
        bad = [what for what in outcomes.values() if what not in ("measured", "skipped")]
        assert bad == [outcome] and len(outcomes) > 80, (fault, len(outcomes), summary)


def nvcc_and_gcc_are_enough():
    """A test and a file of the benchmark, by the real compiler, where PATH has nothing else."""
    nvcc = os.environ.get("MPNUM_NVCC")
    if not nvcc:
        raise tap.Skip("no nvcc")
    machine = Machine()
    machine.script("cc", f'#!/bin/sh\nexec {os.path.realpath(shutil.which("gcc"))} "$@"\n')
    folder = machine.folder / "build"
    os.environ["PATH"], path = str(machine.bin), os.environ["PATH"]
    try:
        (machine.bin / "nvcc").unlink()
        (machine.bin / "nvcc").symlink_to(nvcc)
        toolkit = tool.Toolkit()
        builder = tool.Builder(folder, toolkit, tool.target_of("9.0", toolkit), 2)
        programs = {words[0]: words for words in tool.table(ROOT / "tests/cuda/gpu/programs.txt")}
        builder.make_all([builder.test(programs["scale_kernels"]), builder.unit(["limits.cu"]), builder.unit(["derived.c"])], time.monotonic() + 600)
    finally:
        os.environ["PATH"] = path
    assert builder.built == {"test_scale_kernels", "limits.o", "derived.o"}, builder.failed
    done = subprocess.run([folder / "test_scale_kernels", "--tiny"], capture_output=True, text=True)
    assert done.returncode in (0, 77), done


def mpnum_needs_little_for_a_gpu():
    """Copied to a folder without a virtual environment; PATH has all but what it is to do without."""
    with tempfile.TemporaryDirectory() as folder:
        place, hidden = Path(folder), re.compile(r"clang|meson|ninja|pkg-?config|.*pkg-config|nvidia-smi")
        (place / "tools").mkdir()
        for name in ("mpnum", "tools/gpu_driver.py"):
            shutil.copy2(ROOT / name, place / name)
        (place / "bin").mkdir()
        for path in {path.name: path for folder in ("/bin", "/usr/bin") for path in Path(folder).iterdir()}.values():
            if not hidden.match(path.name):
                (place / "bin" / path.name).symlink_to(path)
        (place / "bin/python3").unlink(missing_ok=True)
        (place / "bin/python3").symlink_to(sys.executable)

        def mpnum(*arguments, gpu=GPU):
            environment = {"PATH": str(place / "bin"), "FAKE_DRIVER": gpu, "LD_LIBRARY_PATH": driver(), "HOME": folder, "PYTHONDONTWRITEBYTECODE": "1"}
            done = subprocess.run(["sh", place / "mpnum", "--no-install", *arguments], env=environment, capture_output=True, text=True, timeout=100)
            return done.returncode, done.stdout + done.stderr
        for arguments in (("test", "--gpu"), ("bench", "--gpu")):
            status, said = mpnum(*arguments)
            assert status == 1 and "cannot go on without: meson ninja\n" in said, (arguments, said)
        status, said = mpnum("test", "--gpu", gpu="none")
        assert status == 1 and said == "SKIP gpu: no GPU: there is no NVIDIA GPU\n0 passed, 0 failed, 1 skipped\n", said
        # As if they were there.
        for name in ("meson", "ninja"):
            (place / "bin" / name).write_text("#!/bin/sh\necho 1.2\n")
            (place / "bin" / name).chmod(0o755)
        status, said = mpnum("bench", "--gpu", "--json", "x")
        assert status == 2 and said.startswith("mpnum: --json needs jansson, which is not installed and cannot be\n"), said


QUICK = (all_that_happens_is_told, commands_go_on_where_the_last_one_ended, what_cannot_be_done_is_one_line, a_full_disk_loses_nothing,
         what_meson_builds_is_what_gpu_run_builds)
FULL = (programs_of_tests_run_together, what_the_gpu_is_is_told, what_was_compiled_elsewhere_is_not_compiled_again, a_gpu_that_is_away_leaves_rows_for_later, all_of_the_time_is_what_is_spent, a_command_that_is_ended_leaves_no_program, sources_that_changed_are_others,
        without_compute_sanitizer_that_is_seen, figures_become_a_file_of_results, nvcc_and_gcc_are_enough, mpnum_needs_little_for_a_gpu)
SIMULATED_ONES = (a_test_in_the_simulator_passes, a_test_that_fails_hangs_or_is_wrong_is_told, rows_in_the_simulator_are_measured,
                  a_row_that_fails_hangs_or_is_wrong_fails_alone)

if __name__ == "__main__":
    sys.exit(tap.run(*{(): QUICK, ("full",): FULL}.get(tuple(sys.argv[1:]), SIMULATED_ONES)))
