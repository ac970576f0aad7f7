# SPDX-License-Identifier: MIT
"""What the tests of --arrays, --blocks and --grad have in common: sections with operations at three sizes, copies, peers."""

import math
import os
import platform
import re

from bench_program import Folder, bench, full_run, python_with, result_of

QUICK_SIZES = {"4 KiB": 4096, "16 KiB": 16384, "64 KiB": 65536}
OF_A_SIZE = {"time_per_value", "noise", "rate", "limit_rate", "share_of_limit"}


def quick_run(section, **settings):
    """(the figures, the output) of one run."""
    return full_run(f"--{section}", "--quick", **settings)


# A module of Python takes seconds to load: only tests that are about it name a Python.
ABSENT = os.environ["TORCH_PYTHON"] = "no-such-python"
ABSENT_WHY = f"cannot be run; it needs {ABSENT} (TORCH_PYTHON names another python3)"


def run_with(section, program):
    """A run with this text for the Python of a peer."""
    with Folder() as folder:
        return quick_run(section, env={**os.environ, "TORCH_PYTHON": python_with(folder, program)})


def times(size_factor=1):
    return [{"bytes": size * size_factor, "ns_per_value": 50.5 + i, "noise": 0.01 * i}
            for i, size in enumerate(QUICK_SIZES.values())]


def run_with_times(section, program, rows):
    """The times of these rows are given, where that program was asked for those of this plan."""
    said = {"version": "9.8.7+cpu", "rows": {name: times() for name in rows}}
    plan = ["1", *(word for size in QUICK_SIZES.values() for word in (str(size), "3"))]
    asked = f"sys.argv[1].endswith('/bench/peers/{program}') and sys.argv[2:] == {plan}"
    return run_with(section, f"json.dump({said} if {asked} else sys.argv, sys.stdout)")


def check_times_given(section, peer, rows, figures, out):
    """They are reported as they were given, and not compared: results are in another process."""
    assert figures.metrics(section, peer) == {"functions": len(rows), "version": "9.8.7"}
    assert set(figures.all_of("name", section, peer)) == set(rows) and "; version 9.8.7.\n" in out
    for name in rows:
        for size, given in zip(QUICK_SIZES, times()):
            row = figures.metrics(section, peer, name, size)
            assert (row["time_per_value"], row["noise"]) == (given["ns_per_value"], given["noise"]), (name, row)
        assert set(figures.metrics(section, peer, name)) == {"function"}, name
    check_peers(figures, section, out)


def operations(figures, section):
    return figures.all_of("name", section, "mpnum")


def peers(figures, section):
    return [source for source in figures.all_of("source", section) if source != "mpnum"]


def shape_of(figures, section, name, source="mpnum"):
    row = figures.metrics(section, source, name)
    return row["src_bits"], row["dst_bits"], bool(row["in_place"])


def limits_of(figures, section):
    """Of each shape by size: the rates of the fastest copies, 0 where there is none."""
    return {shape_of(figures, f"{section}_limit", name, ""): {
        size: [figures.get(f"{section}_limit", "", name, size, metric) or 0
               for metric in ("regular_rate", "streaming_rate")]
        for size in QUICK_SIZES} for name in figures.all_of("name", f"{section}_limit")}


def check_figures(figures, section, source, name, limits):
    """A rate follows from the time, a share from the rates, the limit from the copies."""
    assert figures.all_of("variant", section, source, name) == list(QUICK_SIZES), (source, name)
    shape = shape_of(figures, section, name)
    for size in QUICK_SIZES:
        row = figures.metrics(section, source, name, size)
        rate = (shape[0] + shape[1]) / 8 / row["time_per_value"]
        best = max(limits[shape][size])
        assert set(row) == (OF_A_SIZE if source == "mpnum" else {*OF_A_SIZE, "ratio_to_mpnum"}), row
        assert math.isclose(row["rate"], rate, rel_tol=1e-9), (source, name, row, rate)
        assert math.isclose(row["limit_rate"], best, rel_tol=1e-9), (source, name, row, best)
        assert math.isclose(row["share_of_limit"], rate / best, rel_tol=1e-9), (source, name, row)
        assert row["noise"] >= 0, (source, name, row)


def check_all_figures(figures, section):
    limits = limits_of(figures, section)
    for name in operations(figures, section):
        check_figures(figures, section, "mpnum", name, limits)
    for peer in peers(figures, section):
        for name in figures.all_of("name", section, peer):
            check_figures(figures, section, peer, name, limits)
            for size in QUICK_SIZES:
                ours, theirs = (figures.metrics(section, source, name, size) for source in ("mpnum", peer))
                ratio = theirs["time_per_value"] / ours["time_per_value"]
                assert math.isclose(theirs["ratio_to_mpnum"], ratio, rel_tol=1e-9), (peer, name, size)


def check_limits(figures, section):
    """Copies were measured for the shapes that operations have, and no others."""
    limits = limits_of(figures, section)
    shapes = [shape_of(figures, section, name) for name in operations(figures, section)]
    assert set(limits) == set(shapes), (limits, shapes)
    assert len(figures.all_of("name", f"{section}_limit")) == len(limits), "a shape stands twice"
    for (_, dst_bits, in_place), sizes in limits.items():
        streams = platform.machine() == "x86_64" and not in_place and dst_bits > 0
        for regular, streaming in sizes.values():
            assert regular > 0 and (streaming > 0) == streams, sizes


def check_peers(figures, section, out):
    for peer in peers(figures, section):
        about = figures.metrics(section, peer)
        missing = about.get("missing")
        assert (missing is None) != (f"\nAbsent: {peer}, {missing}\n" in out), peer
        wanted = 0 if missing else about["functions"]
        names = figures.all_of("name", section, peer)
        assert len(names) == wanted, (peer, "a loop is for no operation, or was left out")
        assert missing or wanted > 0, peer
        assert set(names) <= set(operations(figures, section)), names


def best_peer(figures, section, name, all_peers):
    """As it is shown: the fastest at the middle size, of those with mpnum's results if there are any."""
    middle = list(QUICK_SIZES)[1]
    found = [(figures.get(section, peer, name, "", "same_results") == 1,
              figures.get(section, peer, name, middle, "rate"), peer)
             for peer in all_peers if figures.metrics(section, peer, name)]
    if not found:
        return None
    peer = max(found)[2]
    differs = figures.get(section, peer, name, "", "same_results") == 0
    return peer + ("*" if differs else ""), figures.get(section, peer, name, middle, "ratio_to_mpnum")


def shown_three(value):
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}"


def check_table(figures, section, out, title):
    all_peers = peers(figures, section)
    any_rows = any(figures.all_of("name", section, peer) for peer in all_peers)
    table = out.split(f"\n{title}: ")[1].split("\n\n")[0].splitlines()
    for name in operations(figures, section):
        line = next(line for line in table if line.startswith(name + "  "))
        shown = re.findall(r"\d+(?:\.\d)?%?|>99%", line[len(name):])
        for i, size in enumerate(QUICK_SIZES):
            row = figures.metrics(section, "mpnum", name, size)
            assert shown[3 * i] == f"{row['rate']:.1f}", (line, row)
            assert shown[3 * i + 2] == f"{100 * row['share_of_limit']:.0f}%", (line, row)
        best = best_peer(figures, section, name, all_peers)
        got = figures.metrics(section, "mpnum", name)
        assert (got.get("best_peer"), got.get("best_peer_ratio")) == (best or (None, None)), (name, got, best)
        if any_rows:
            words = [best[0], shown_three(best[1])] if best else ["-", "-"]
            assert re.search(" +".join(map(re.escape, words)) + "$", line), (line, words)
    check_peers_table(figures, section, out, title)


def check_peers_table(figures, section, out, title):
    wanted, all_peers = [], peers(figures, section)
    for name in operations(figures, section):
        for peer in all_peers:
            about = figures.metrics(section, peer, name)
            sizes = [figures.metrics(section, peer, name, size) for size in QUICK_SIZES]
            star = "*" if about.get("same_results") == 0 else ""
            if about:
                wanted.append([*name.split(), *(peer + star).split(), *about["function"].split(),
                               *(word for row in sizes for word in (f"{row['rate']:.1f}",
                                                                    shown_three(row["ratio_to_mpnum"])))])
    lines = out.split(f"\n{title}, peers: ")[1].split("\n\n")[0].splitlines() if wanted else []
    assert [line.split() for line in lines[len(lines) - len(wanted):]] == wanted, lines
    assert bool(wanted) == (f"\n{title}, peers: " in out), wanted


def check_added(figures, section, out, title, additions):
    """What is added follows from the times of two operations: those of additions."""
    lines = out.split(f"\n{title}, what is added")[1].split("\n\n")[0].splitlines()[2:]
    added = figures.all_of("name", f"{section}_added", "mpnum")
    assert len(lines) == len(added) == len(additions), lines
    for line, what, (operation, over) in zip(lines, added, additions):
        pairs = [[figures.get(section, "mpnum", name, size, "time_per_value") for name in (operation, over)]
                 for size in QUICK_SIZES]
        got = [figures.get(f"{section}_added", "mpnum", what, size, "added_time") for size in QUICK_SIZES]
        assert all(math.isclose(1 + one, with_it / without, rel_tol=1e-9)
                   for one, (with_it, without) in zip(got, pairs)), (what, got, pairs)
        assert line.startswith(what) and line.split()[-3:] == [f"{100 * one:+.0f}%" for one in got], (line, got)


def check_forced_isas(section, best):
    names = ["scalar", "sse2", "avx2", "avx512", "avx512vbmi"] if platform.machine() == "x86_64" else ["scalar", best]
    for name in names[:names.index(best) + 1]:
        figures, out = result_of(f"--{section}", "--quick", "--isa", name)
        assert figures.get(section, "mpnum", metric="isa") == name and f": {name}, 1 thread, " in out


def check_threads(section, operation, without):
    """Without threads there is no table of them. Memory is the limit past the highest rate, at 80 % of the copy."""
    assert not without.select(f"{section}_threads")
    figures, out = result_of(f"--{section}", "--quick", "--threads", "3")
    assert figures.get(section, "mpnum", metric="threads") == 3 and "3 threads" in out
    for name in operations(figures, section):
        assert all(figures.get(section, "mpnum", name, size, "rate") > 0 for size in QUICK_SIZES), name
    lines = out.split(f" threads: {operation}. ")[1].split("\n\n")[0].splitlines()[-3:]
    rows = figures.all_of("name", f"{section}_threads", "mpnum")
    assert rows == ["1 thread", "2 threads", "3 threads"], rows
    any_bound = figures.select(f"{section}_threads", "mpnum", None, "", "memory_limit_from")
    for name, line in zip(rows, lines):
        sizes = figures.all_of("variant", f"{section}_threads", "mpnum", name)
        found = [figures.metrics(f"{section}_threads", "mpnum", name, size) for size in sizes]
        assert sizes == [f"{4 << i} KiB" for i in range(6)], sizes
        assert all(math.isclose(one["share_of_limit"], one["rate"] / one["limit_rate"]) for one in found), found
        fastest = max(range(6), key=lambda i: found[i]["rate"])
        bound = [i for i in range(fastest + 1, 6) if min(one["share_of_limit"] for one in found[i:]) >= 0.8]
        about = figures.metrics(f"{section}_threads", "mpnum", name)
        assert about == {"operation": operation, **({"memory_limit_from": 4096 << bound[0]} if bound else {})}, (about, found)
        shown = [f"{one['rate']:.1f} {100 * one['share_of_limit']:.0f}%" for one in found]
        last = sizes[bound[0]] if bound else "-" if any_bound else ""
        assert line.split() == " ".join([name, *shown, last]).split(), (line, shown)


def common(section, title, *runs):
    """What holds for each of these sections, in runs of them, the first of which is a plain one."""
    def figures_follow_from_times():
        for run in runs:
            check_all_figures(run()[0], section)

    def the_table_is_the_figures():
        for run in runs:
            figures, out = run()
            check_table(figures, section, out, title)

    def limits_are_those_of_the_rows():
        check_limits(runs[0]()[0], section)

    def every_isa_of_the_cpu_can_be_forced():
        check_forced_isas(section, runs[0]()[0].get(section, "mpnum", metric="isa"))

    return [figures_follow_from_times, the_table_is_the_figures, limits_are_those_of_the_rows,
            every_isa_of_the_cpu_can_be_forced, no_default(title)]


def no_default(title):
    def it_is_no_default_section():
        code, out, _ = bench("--quick", "--cpu")
        assert code == 0 and title not in out
    return it_is_no_default_section
