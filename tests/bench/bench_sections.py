# SPDX-License-Identifier: MIT
"""What the tests of --arrays and of --grad have in common: sections with operations at three sizes, copies, peers."""

import csv
import json
import math
import os
import platform
import re

from bench_program import Folder, bench, result_of

QUICK_SIZES = [4096, 16384, 65536]


def quick_run(section, **settings):
    """(the section, the output, the lines of the CSV) of one run."""
    with Folder() as folder:
        code, out, errors = bench(f"--{section}", "--quick", "--json", "j", "--csv", "c", folder=folder, **settings)
        assert code == 0 and errors == "", (code, errors)
        with open(os.path.join(folder, "j")) as file:
            result = json.load(file)
        with open(os.path.join(folder, "c"), newline="") as file:
            return result[section], out, list(csv.DictReader(file))


def shape_of(row):
    return row["src_bits"], row["dst_bits"], row["in_place"]


def check_figures(row, name, limits):
    """A rate follows from the time, a share from the rates, the limit from the copies."""
    assert [figure["bytes"] for figure in row["sizes"]] == QUICK_SIZES, row["sizes"]
    for figure, limit in zip(row["sizes"], limits["sizes"]):
        rate = (limits["src_bits"] + limits["dst_bits"]) / 8 / figure["ns_per_value"]
        best = max(limit["regular_gb_per_s"], limit["streaming_gb_per_s"] or 0)
        assert math.isclose(figure["gb_per_s"], rate, rel_tol=1e-9), (name, figure, rate)
        assert math.isclose(figure["limit_gb_per_s"], best, rel_tol=1e-9), (name, figure, best)
        assert math.isclose(figure["share_of_limit"], rate / best, rel_tol=1e-9), (name, figure)
        assert figure["noise"] >= 0, (name, figure)


def check_all_figures(found):
    limits = {shape_of(limit): limit for limit in found["limits"]}
    rows = {row["operation"]: row for row in found["rows"]}
    for name, row in rows.items():
        check_figures(row, name, limits[shape_of(row)])
    for peer in found["peers"]:
        for row in peer["rows"]:
            own = rows[row["operation"]]
            check_figures(row, (peer["library"], row["operation"]), limits[shape_of(own)])
            for ours, theirs in zip(own["sizes"], row["sizes"]):
                speedup = theirs["ns_per_value"] / ours["ns_per_value"]
                assert math.isclose(theirs["mpnum_speedup"], speedup, rel_tol=1e-9), (peer["library"], row)


def check_limits(found):
    """Copies were measured for the shapes that operations have, and no others."""
    shapes = [shape_of(limit) for limit in found["limits"]]
    assert sorted(shapes) == sorted({shape_of(row) for row in found["rows"]}), shapes
    for limit in found["limits"]:
        streams = platform.machine() == "x86_64" and not limit["in_place"] and limit["dst_bits"] > 0
        for figure in limit["sizes"]:
            assert figure["regular_gb_per_s"] > 0, limit
            assert (figure["streaming_gb_per_s"] is not None) == streams, limit


def check_peers(found, out):
    for peer in found["peers"]:
        line = f"Peer absent: {peer['library']}, {peer['missing']}\n"
        assert (peer["missing"] is None) != (line in out), peer["library"]
        wanted = 0 if peer["missing"] else peer["functions"]
        assert len(peer["rows"]) == wanted, (peer["library"], "a loop is for no operation, or was left out")
        assert peer["missing"] or wanted > 0, peer["library"]


def check_table(found, out, title):
    table = out.split(f"\n{title}: ")[1].split("\n\n")[0].splitlines()
    for row in found["rows"]:
        line = next(line for line in table if line.startswith(row["operation"] + "  "))
        figures = re.findall(r"\d+(?:\.\d)?%?|>99%", line[len(row["operation"]):])
        for i, figure in enumerate(row["sizes"]):
            assert figures[3 * i] == f"{figure['gb_per_s']:.1f}", (line, figure)
            assert figures[3 * i + 2] == f"{100 * figure['share_of_limit']:.0f}%", (line, figure)
        peers = [p["library"] for p in found["peers"] for r in p["rows"] if r["operation"] == row["operation"]]
        assert any(peer in line for peer in peers) or (not peers and line.rstrip().endswith("-")), line
    assert max(map(len, out.splitlines())) <= 110, max(out.splitlines(), key=len)


def check_csv(found, lines, section):
    table = {(r["section"], r["source"], r["name"], r["variant"], r["metric"]): r["value"] for r in lines}
    assert len(table) == len(lines), "a place stands twice"
    sources = [(section, found["isa"], found["rows"])]
    sources += [(f"{section}_peer", peer["library"], peer["rows"]) for peer in found["peers"]]
    for name, source, rows in sources:
        for row in rows:
            for figure in row["sizes"]:
                place = (name, source, row["operation"], str(figure["bytes"]))
                for metric, field in (("rate", "gb_per_s"), ("share_of_limit",) * 2, ("noise",) * 2):
                    assert float(table.pop((*place, metric))) == figure[field], (place, metric)
    assert {metric for *_, metric in table} == {"time_per_value", "limit_rate"}, "a line of nothing in the JSON"


def check_forced_isas(section, best):
    names = ["scalar", "sse2", "avx2", "avx512", "avx512vbmi"] if platform.machine() == "x86_64" else ["scalar", best]
    for name in names[:names.index(best) + 1]:
        assert result_of(f"--{section}", "--quick", "--isa", name)[0][section]["isa"] == name


def check_threads(section):
    found, out = result_of(f"--{section}", "--quick", "--threads", "3")
    assert found[section]["threads"] == 3 and "3 threads" in out
    assert all(figure["gb_per_s"] > 0 for row in found[section]["rows"] for figure in row["sizes"])
