#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Loss scaling over ranks: what one finds all follow, and who fails is told. The variant for NCCL compiles.

usage: tests/training/test_training_ranks.py DISTRIBUTED_SCALER|- DISTRIBUTED_SCALER_NCCL|-
"""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from tree import ROOT

DIGITS = ROOT / "examples" / "digits.bin"
PROGRAM, NCCL = sys.argv[1:]


def mpirun(ranks, *arguments):
    """The status and all that was said. The variables: no remote shell is needed, and none of the ways of copying
    between processes that containers forbid."""
    if PROGRAM == "-":
        raise tap.Skip("not built: no MPI with a C compiler was found")
    if not shutil.which("mpirun"):
        raise tap.Skip("mpirun is not installed")
    quirks = []
    if "Open MPI" in subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout:
        quirks = ["--oversubscribe", *(["--allow-run-as-root"] if os.getuid() == 0 else [])]
    started = time.monotonic()
    done = subprocess.run(["mpirun", *quirks, "-n", str(ranks), PROGRAM, *map(str, arguments), DIGITS], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
                          env={**os.environ, "LC_ALL": "C", "OMPI_MCA_plm_rsh_agent": "sh",
                               "OMPI_MCA_btl_vader_single_copy_mechanism": "none"})
    return done.returncode, done.stdout, time.monotonic() - started


def results(output):
    steps = {int(step): (float(loss), float(scale), int(skipped)) for step, loss, scale, skipped in re.findall(
        r"^step (\d+) of \d+  loss (\S+)  scale (\S+)  amax \S+  skipped (\d+)$", output, re.M)}
    found = re.search(r"^([\d.]+) % of 360 test images right", output, re.M)
    assert found and steps, output
    return steps, float(found[1])


def four_ranks_train_as_one_does():
    (one_status, one, _), (four_status, four, _) = mpirun(1), mpirun(4)
    assert one_status == four_status == 0, one + four
    (one, one_accuracy), (four, four_accuracy) = results(one), results(four)
    assert len(one) == 8 and one_accuracy > 85 and abs(one_accuracy - four_accuracy) < 2.5, (one_accuracy, four_accuracy)
    for step, (loss, scale, skipped) in one.items():
        assert four[step][1:] == (scale, skipped) and abs(four[step][0] - loss) <= 0.1 * loss, (step, four[step])


def an_inf_on_one_rank_makes_all_skip():
    """They compare their bytes in every step, and would end if one had not."""
    for rank in (0, 2):
        status, output, _ = mpirun(4, "--inject", rank, 100)
        assert status == 0 and output.count("all ranks skip") == 1, output
        steps, accuracy = results(output)
        assert steps[100][1:] == (65536, 1) and steps[400][2] == 1 and accuracy > 85, output


def a_rank_with_other_bytes_is_found_at_once():
    status, output, _ = mpirun(4, "--differ", 3, 51)
    assert status != 0 and "distributed_scaler: ranks: they no longer hold the same bytes\n" in output, output
    assert "step 50 of" in output and "step 100 of" not in output, output


def a_rank_that_ends_ends_the_run():
    status, output, seconds = mpirun(4, "--die", 2, 100)
    assert status != 0 and "distributed_scaler: rank 2 ends before step 100\n" in output and seconds < 60, output
    assert "test images right" not in output, output


def a_rank_that_hangs_is_noticed():
    status, output, seconds = mpirun(4, "--hang", 1, 100, "--wait", 3)
    assert status != 0 and seconds < 60, output
    assert re.search(r"^distributed_scaler: rank [023], step 100: no answer from the others for 3 s$", output, re.M), output
    assert "rank 1" not in output, output


def wrong_ranks_and_arguments_are_told():
    status, output, _ = mpirun(3)
    assert status != 0 and "distributed_scaler: ranks: 64 images cannot be shared among so many\n" in output, output
    for arguments in (["--die", 2], ["--inject", "x", 1], ["--wait", 0], ["--frobnicate"], ["another file"]):
        status, output, _ = mpirun(2, *arguments)
        assert status != 0 and output.count("usage: distributed_scaler") == 1, output


def the_nccl_variant_compiles():
    if NCCL == "-":
        raise tap.Skip("no nvcc or no nccl.h: NCCL=FOLDER names where include/nccl.h is")
    assert Path(NCCL).stat().st_size > 0


sys.exit(tap.run(four_ranks_train_as_one_does, an_inf_on_one_rank_makes_all_skip, a_rank_with_other_bytes_is_found_at_once,
                 a_rank_that_ends_ends_the_run, a_rank_that_hangs_is_noticed, wrong_ranks_and_arguments_are_told,
                 the_nccl_variant_compiles))
