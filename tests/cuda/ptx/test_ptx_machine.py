#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The PTX interpreter of tests/cuda/ptx runs threads, warps and memory as the PTX ISA says; what is wrong is an error."""

import struct
import sys
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[2] / room) for room in ["harness", "cuda"]]

import tap
from ptx.machine import Machine
from ptx.snippets import f32, fails, kernel, launch

SHUFFLE = """
  shfl.sync.{mode}.b32 %r3|%p1, %r0, {offset}, {clamp}, {mask};
  selp.u32 %r4, 100, 0, %p1;
  add.u32 %r3, %r3, %r4;
  st.global.u32 [%d1], %r3;
"""


def shuffles_take_from_their_lane():
    def check(mode, offset, clamp, source):
        """source: (lane, whether it is inside) for each lane."""
        got = launch(SHUFFLE.format(mode=mode, offset=offset, clamp=clamp, mask=-1), 32)
        expected = [(lane if inside else own) + 100 * inside for own, (lane, inside) in enumerate(source)]
        assert got == expected, (mode, got)

    lanes = range(32)
    check("idx", 5, 31, [(5, True) for lane in lanes])
    check("up", 3, 0, [(lane - 3, lane >= 3) for lane in lanes])
    check("down", 3, 31, [(lane + 3, lane + 3 < 32) for lane in lanes])
    check("bfly", 1, 31, [(lane ^ 1, True) for lane in lanes])
    # Segments of 8 lanes: the mask field of the clamp operand is 24.
    check("idx", 5, 24 << 8 | 7, [(lane & 24 | 5, True) for lane in lanes])
    check("up", 3, 24 << 8, [(lane - 3, lane % 8 >= 3) for lane in lanes])
    check("down", 3, 24 << 8 | 7, [(lane + 3, lane % 8 < 5) for lane in lanes])
    check("bfly", 4, 24 << 8 | 7, [(lane ^ 4, True) for lane in lanes])
    # An xor of 8 leaves the segment: lanes of lower segments are read, lanes of higher ones are not.
    check("bfly", 8, 24 << 8 | 7, [(lane ^ 8, bool(lane & 8)) for lane in lanes])


def a_lane_outside_a_shuffle_is_undefined():
    body = """
  setp.ge.u32 %p2, %r0, 16;
  @%p2 bra DONE;
  shfl.sync.down.b32 %r3, %r0, 8, 31, 0xffff;
  {use}
  st.global.u32 [%d1], %r3;
DONE:
"""
    fails("undefined value", body.format(use="add.u32 %r3, %r3, 1;"), threads=32)
    got = launch(body.format(use="setp.ge.u32 %p3, %r0, 8; @%p3 mov.u32 %r3, 7;"), 32)
    assert got == [*range(8, 16), *[7] * 8, *[None] * 16], got


def a_mask_names_those_that_take_part():
    fails("not in its mask", "shfl.sync.idx.b32 %r3, %r0, 0, 31, 0xfffe;", threads=2)
    body = """
  setp.eq.u32 %p1, %r0, 3;
  @%p1 bra OTHER;
  vote.sync.ballot.b32 %r3, %p1, -1;
  ret;
OTHER:
  vote.sync.ballot.b32 %r3, %p1, 8;
  vote.sync.ballot.b32 %r3, %p1, 8;
  bar.sync 0;
"""
    fails("deadlock", body, threads=32)
    # Lanes that have exited are not waited for.
    got = launch("setp.eq.u32 %p1, %r0, 3; @%p1 ret; vote.sync.ballot.b32 %r3, %p1, -1; not.b32 %r3, %r3;"
                 " st.global.u32 [%d1], %r3;", 4)
    assert got == [0xffffffff] * 3 + [None], got


def votes_count_the_lanes_of_the_mask():
    body = """
  setp.lt.u32 %p1, %r0, {limit};
  vote.sync.{mode} {target}, %p1, -1;
  {store}
"""
    ballot = "st.global.u32 [%d1], %r3;"
    pred = "selp.u32 %r3, 1, 0, %p2; st.global.u32 [%d1], %r3;"
    assert launch(body.format(limit=5, mode="ballot.b32", target="%r3", store=ballot), 32) == [31] * 32
    for limit, all_, any_, uni in ((0, 0, 0, 1), (5, 0, 1, 0), (32, 1, 1, 1)):
        for mode, expected in (("all", all_), ("any", any_), ("uni", uni)):
            got = launch(body.format(limit=limit, mode=f"{mode}.pred", target="%p2", store=pred), 32)
            assert got == [expected] * 32, (limit, mode, got)


def warps_reduce():
    def check(action, kind, expected, prepare="mov.u32 %r2, %r0;"):
        got = launch(f"{prepare} redux.sync.{action}.{kind} %r3, %r2, -1; st.global.u32 [%d1], %r3;", 32)
        assert got == [expected] * 32, (action, kind, got)

    check("add", "u32", 496)
    check("max", "u32", 31)
    check("max", "s32", 15, "sub.u32 %r2, %r0, 16;")
    check("min", "s32", 0xfffffff0, "sub.u32 %r2, %r0, 16;")
    check("max", "u32", 0xffffffff, "sub.u32 %r2, %r0, 16;")
    check("or", "b32", 31)
    check("and", "b32", 0)
    check("xor", "b32", 0)


EXCHANGE = """
  mov.u32 %r2, words;
  shl.b32 %r3, %r0, 2;
  add.u32 %r4, %r2, %r3;
  st.shared.u32 [%r4], %r0;
  {barrier}
  xor.b32 %r5, %r3, {other};
  add.u32 %r5, %r5, %r2;
  ld.shared.u32 %r6, [%r5];
  st.global.u32 [%d1], %r6;
"""
WORDS = ".shared .align 4 .b8 words[256];"


def barriers_order_shared_memory():
    for order in ("forward", "reverse"):
        got = launch(EXCHANGE.format(barrier="bar.sync 0;", other=128), 64, module=WORDS, order=order)
        assert got == [lane ^ 32 for lane in range(64)], got
        got = launch(EXCHANGE.format(barrier="barrier.cta.sync.aligned 0;", other=128), 64, module=WORDS, order=order)
        assert got == [lane ^ 32 for lane in range(64)], got
        got = launch(EXCHANGE.format(barrier="bar.warp.sync -1;", other=4), 64, module=WORDS, order=order)
        assert got == [lane ^ 1 for lane in range(64)], got


def a_missing_barrier_is_a_race():
    # A barrier of the warp does not order another warp; no barrier orders nothing.
    fails("race", EXCHANGE.format(barrier="bar.warp.sync -1;", other=128), threads=64, module=WORDS, order="reverse")
    fails("uninitialised", EXCHANGE.format(barrier="", other=128), threads=64, module=WORDS)
    body = "mov.u32 %r2, words; st.shared.u32 [%r2], %r0;"
    fails("race", body, threads=2, module=WORDS)
    # Reading, then writing the same place too early.
    body = EXCHANGE.format(barrier="bar.sync 0;", other=4) + "st.shared.u32 [%r4], 5;"
    fails("race", body, threads=64, module=WORDS)
    launch(body.replace("st.shared.u32 [%r4], 5;", "bar.sync 0; st.shared.u32 [%r4], 5;"), 64, module=WORDS)


def a_missing_barrier_of_global_memory_is_a_race():
    """Within a block, where a shuffle is none."""
    body = """  st.global.u32 [%d1], %r0;
  {barrier}
  xor.b32 %r5, %r0, {other};
  cvt.u64.u32 %d3, %r5;
  shl.b64 %d3, %d3, 2;
  ld.param.u64 %d4, [out];
  add.u64 %d3, %d3, %d4;
  ld.global.u32 %r6, [%d3];
  bar.sync 0;
  st.global.u32 [%d1], %r6;
"""
    shuffle = "shfl.sync.idx.b32 %r7, %r0, 0, 31, -1;"
    for barrier, other in (("bar.sync 0;", 32), ("bar.warp.sync -1;", 1)):
        assert launch(body.format(barrier=barrier, other=other), 64) == [lane ^ other for lane in range(64)]
    for barrier, other in ((shuffle, 1), ("bar.warp.sync -1;", 32)):
        for blocks in (1, 2):
            fails("race", body.format(barrier=barrier, other=other), threads=64, blocks=blocks, order="reverse")


# Each thread copies 16 bytes, then 8 others, and reads the second word of what it or another one copied.
COPIES = """
  mov.u32 %r2, words;
  shl.b32 %r3, %r0, 4;
  add.u32 %r4, %r2, %r3;
  cvt.u64.u32 %d3, %r3;
  add.u64 %d3, %d3, %d0;
  cp.async.cg.shared.global [%r4], [%d3], 16;
  cp.async.commit_group;
  cp.async.ca.shared.global.L2::128B [%r4+1024], [%d3+1024], 8;
  {wait}
  xor.b32 %r5, %r3, {other};
  add.u32 %r5, %r5, %r2;
  ld.shared.u32 %r6, [%r5+{place}];
  st.global.u32 [%d1], %r6;
  {more}
  cp.async.wait_all;
"""
STAGES = ".shared .align 16 .b8 words[2048];"
WAITS = {1: "cp.async.commit_group; cp.async.wait_group 1;", 0: "cp.async.commit_group; cp.async.wait_group 0;"}


def copies(wait, place=4, other=0, more="", **options):
    body = COPIES.format(wait=wait, place=place, other=other, more=more)
    return {"body": body, "threads": 64, "words": range(512), "module": STAGES, **options}


def copies_are_there_once_a_thread_has_waited():
    own = [4 * lane + 1 for lane in range(64)]
    for wait in (*WAITS.values(), "cp.async.wait_all;"):
        assert launch(**copies(wait)) == own, wait
    assert launch(**copies("cp.async.wait_group 0;")) == own  # the second copy is in no group that is committed
    assert launch(**copies(WAITS[0], place=1028)) == [word + 256 for word in own]
    fails("uninitialised", **copies(""))
    fails("uninitialised", **copies("cp.async.wait_group 1;"))
    fails("uninitialised", **copies("bar.sync 0;"))
    fails("uninitialised", **copies(WAITS[1], place=1028))
    fails("uninitialised", **copies("cp.async.wait_group 0;", place=1028))


def copies_are_there_for_others_behind_a_barrier():
    warp, block = "bar.warp.sync -1;", "bar.sync 0;"
    for order in ("forward", "reverse"):
        got = launch(**copies(WAITS[0] + warp, other=16, order=order))
        assert got == [4 * (lane ^ 1) + 1 for lane in range(64)], got
        got = launch(**copies(WAITS[0] + block, other=512, order=order))
        assert got == [4 * (lane ^ 32) + 1 for lane in range(64)], got
    fails("uninitialised", **copies(WAITS[0], other=16))
    fails("race", **copies(WAITS[0] + warp, other=512))
    fails("uninitialised", **copies(WAITS[1] + warp, place=1028, other=16))
    # Both lanes of two read what the first one copied. A barrier before the wait is none.
    for wait in (WAITS[0], warp + WAITS[0]):
        given = copies(wait)
        given["body"] = given["body"].replace("xor.b32 %r5, %r3, 0;", "and.b32 %r5, %r3, -32;")
        fails("race", **given)
        given["body"] = given["body"].replace(wait, wait + warp)
        assert launch(**given) == [4 * (lane & -2) + 1 for lane in range(64)]
    # A copy to a place that another thread still reads.
    again = "cp.async.ca.shared.global [%r4], [%d3], 16;"
    fails("race", **copies(WAITS[0] + warp, other=16, more=again))
    launch(**copies(WAITS[0] + warp, other=16, more=warp + again))


def copies_read_what_stays_and_fill_with_zeros():
    body = COPIES.replace("[%d3], 16;", "[%d3], 16, {read};").replace(" .cg", ".ca").replace("{wait}", "cp.async.wait_all;")
    for read, word in ((8, 5), (4, 0), (0, 0)):
        got = launch(body.format(read=read, place=4, other=0, more=""), 2, range(512), module=STAGES)
        assert got == [1 if read == 8 else 0, word], (read, got)
    fails("reads 20", body.format(read=20, place=4, other=0, more=""), words=range(512), module=STAGES)
    change = "mov.u32 %r7, 9; st.global.u32 [%d3+4], %r7;"
    fails("changes before", **copies(WAITS[1], more=change.replace("+4", "+1028")))
    launch(**copies(WAITS[1], more=change))
    fails("misaligned", **copies(WAITS[0]) | {"body": copies(WAITS[0])["body"].replace("[%d3], 16", "[%d3+8], 16")})
    fails("misaligned", **copies(WAITS[0]) | {"body": copies(WAITS[0])["body"].replace("[%r4], [", "[%r4+8], [")})
    fails("out of bounds", **copies(WAITS[0]) | {"words": range(448)})
    fails("returns before", **copies(WAITS[1]) | {"body": copies(WAITS[1])["body"].replace("cp.async.wait_all;", "")})
    fails("unknown size", body="cp.async.cg.shared.global [%r0], [%d0], 8;")


def barriers_that_not_all_reach_are_a_deadlock():
    fails("deadlock", "bar.sync 1, 96;", threads=64)
    body = """
  setp.lt.u32 %p1, %r0, 32;
  @%p1 bra LOW;
  bar.sync 1;
  ret;
LOW:
  bar.sync 2;
"""
    fails("deadlock", body, threads=64)
    body = "setp.lt.u32 %p1, %r0, 16; @%p1 bra LOW; bar.sync 0; ret; LOW: bar.sync 0;"
    fails("different barriers", body, threads=32)


def named_barriers_count_threads():
    body = """
  setp.lt.u32 %p1, %r0, 32;
  mov.u32 %r2, words;
  @%p1 bra LOW;
  @!%p1 st.shared.u32 [%r2], 9;
  bar.arrive 3, 64;
  ret;
LOW:
  bar.sync 3, 64;
  ld.shared.u32 %r3, [%r2];
  st.global.u32 [%d1], %r3;
"""
    body = body.replace("@!%p1 st", "setp.eq.u32 %p2, %r0, 32; @%p2 st")
    for order in ("forward", "reverse"):
        got = launch(body, 64, module=WORDS, order=order)
        assert got == [9] * 32 + [None] * 32, got
    got = launch("setp.lt.u32 %p1, %r0, 40; bar.red.popc.u32 %r3, 0, %p1; st.global.u32 [%d1], %r3;", 64)
    assert got == [40] * 64, got
    got = launch("setp.lt.u32 %p1, %r0, 40; bar.red.and.pred %p2, 0, %p1; selp.u32 %r3, 1, 0, %p2;"
                 " st.global.u32 [%d1], %r3;", 64)
    assert got == [0] * 64, got


def atomics_return_the_old_value():
    def check(operation, start, expected, threads=4):
        """One word of global memory, then one of shared memory."""
        for space, module, address in (("global", "", "%d0"), ("shared", WORDS, "%r9")):
            body = "mov.u32 %r9, words; setp.eq.u32 %p1, %r0, 0; ld.global.u32 %r8, [%d0];" \
                   " @%p1 st.shared.u32 [%r9], %r8; bar.sync 0;" if module else ""
            body += operation.format(space=space, address=address) + "bar.sync 0; setp.eq.u32 %p1, %r0, 0;" \
                f" @%p1 ld.{space}.u32 %r5, [{address}]; @%p1 st.global.u32 [%d1], %r5;"
            got = launch(body, threads, [start], module=module)
            assert got[0] == expected, (operation, space, got)

    check("atom.{space}.add.u32 %r4, [{address}], 3;", 10, 22)
    check("red.{space}.add.s32 [{address}], -1;", 10, 6)
    check("red.{space}.max.s32 [{address}], %r0;", 0xffffffff, 3)
    check("red.{space}.max.u32 [{address}], %r0;", 0xffffffff, 0xffffffff)
    check("red.{space}.min.u32 [{address}], %r0;", 2, 0)
    check("red.relaxed.gpu.{space}.or.b32 [{address}], %r0;", 4, 7)
    check("red.{space}.and.b32 [{address}], %r0;", 0xff, 0)
    check("atom.{space}.exch.b32 %r4, [{address}], 77;", 1, 77)
    check("atom.{space}.cas.b32 %r4, [{address}], 5, 9;", 5, 9)
    check("atom.{space}.cas.b32 %r4, [{address}], 6, 9;", 5, 5)
    check("red.{space}.add.f32 [{address}], 0f3f800000;", f32(0.5), f32(4.5))
    got = launch("atom.global.add.u32 %r4, [%d0], 1; st.global.u32 [%d1], %r4;", 4, [100])
    assert got == [100, 101, 102, 103], got
    got = launch("mov.u64 %d3, 1; atom.global.min.u64 %d4, [%d0], %d3; cvt.u32.u64 %r4, %d4; st.global.u32 [%d1], %r4;",
                 1, [7, 0])
    assert got == [7], got


def other_blocks_see_what_has_passed_a_fence():
    """Each block leaves its number plus 10, or adds it; the last one by the counter takes what is there."""
    body = """
  mov.u32 %r2, %ctaid.x;
  add.u32 %r3, %r2, 10;
  {leave}
  {fence}
  atom.global.add.u32 %r4, [%d0], 1;
  setp.ne.u32 %p1, %r4, 2;
  @%p1 ret;
  {take}
  st.global.u32 [%d1], %r5;
"""
    store = {"leave": "mul.wide.u32 %d4, %r2, 4; add.u64 %d3, %d0, %d4; st.global.u32 [%d3+8], %r3;",
             "take": "ld.global.u32 %r6, [%d0+8]; ld.global.u32 %r7, [%d0+12]; ld.global.u32 %r5, [%d0+16];"
                     " add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r7;"}
    words = [0, 0, 1000, 1000, 1000]
    assert launch(body.format(fence="membar.gl;", **store), 1, words, blocks=3) == [33]
    assert launch(body.format(fence="fence.acq_rel.gpu;", **store), 1, words, blocks=3) == [33]
    assert launch(body.format(fence="membar.cta;", **store), 1, words, blocks=3) == [2012]
    assert launch(body.format(fence="", **store), 1, words, blocks=3) == [2012]  # its own store is there for itself
    for reduction in ("red.global.add.u32 [%d0+4], %r3;", "atom.global.add.u32 %r9, [%d0+4], %r3;"):
        added = {"leave": reduction, "take": "atom.global.exch.b32 %r5, [%d0+4], 0;"}
        assert launch(body.format(fence="membar.gl;", **added), 1, words, blocks=3) == [33]
        assert launch(body.format(fence="", **added), 1, words, blocks=3) == [12], reduction
    looked_at = {"leave": "atom.global.add.u32 %r9, [%d0+4], %r3; mov.u32 %r3, %r9;", "take": "atom.global.exch.b32 %r5, [%d0+4], 0;"}
    assert launch(body.format(fence="", **looked_at), 1, words, blocks=3) == [33]
    without_counter = "mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r2, 0; @!%p1 st.global.u32 [%d0], 5; @!%p1 ret;" \
        " ld.global.u32 %r3, [%d0]; st.global.u32 [%d1], %r3;"
    assert launch(without_counter, 1, [7], blocks=2) == [7]


def memory_is_checked():
    load = "ld.global.u32 %r3, [%d0+{}]; st.global.u32 [%d1], %r3;"
    assert launch(load.format(4), 1, [1, 2]) == [2]
    fails("out of bounds", load.format(8), words=[1, 2])
    fails("out of bounds", load.format(-4), words=[1, 2])
    fails("misaligned", load.format(2), words=[1, 2])
    fails("misaligned", "ld.global.v2.u32 {%r2, %r3}, [%d0+4];", words=[1, 2, 3, 4])
    fails("out of bounds", "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%d0];", words=[1, 2])
    fails("uninitialised", "ld.global.u32 %r3, [%d1];")
    fails("out of bounds", "mov.u64 %d3, 0; ld.global.u32 %r3, [%d3];")
    fails("uninitialised", "ld.shared.u32 %r3, [words];", module=WORDS)
    fails("out of bounds", "st.shared.u32 [words+256], 1;", module=WORDS)
    fails("which is constant", "mov.u64 %d3, table; st.global.u32 [%d3], 1;", module=".const .b32 table[2] = {5, 6};")
    fails("out of bounds", "st.shared.u32 [dynamic+16], 1;", module=".extern .shared .align 16 .b8 dynamic[];",
          dynamic_shared=16)
    prefetch = "cp.async.bulk.prefetch.L2.global [%d0+{}], {};"
    launch(prefetch.format(0, 32), 1, [0] * 8)
    launch(prefetch.format(16, 16), 1, [0] * 8)
    fails("out of bounds", prefetch.format(16, 32), words=[0] * 8)
    fails("no multiples of 16", prefetch.format(8, 16), words=[0] * 8)
    fails("no multiples of 16", prefetch.format(0, 24), words=[0] * 8)
    launch("st.shared.u32 [dynamic+12], 1;", module=".extern .shared .align 16 .b8 dynamic[];", dynamic_shared=16)


def spaces_and_vectors_work():
    got = launch("ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%d0]; add.u32 %r2, %r2, %r5; st.global.u32 [%d1], %r2;", 1,
                 [1, 2, 3, 4])
    assert got == [5], got
    got = launch("ld.const.u32 %r3, [table+4]; mov.u64 %d3, counter; ld.global.u32 %r4, [%d3]; add.u32 %r3, %r3, %r4;"
                 " st.global.u32 [%d1], %r3;", 1,
                 module=".const .b32 table[2] = {5, 6};\n.global .align 4 .u32 counter = 100;")
    assert got == [106], got
    got = launch(".local .align 8 .b8 depot[16]; mov.u64 %d3, depot; cvta.local.u64 %d4, %d3; st.u32 [%d4+8], %r0;"
                 " ld.local.u32 %r3, [%d3+8]; st.global.u32 [%d1], %r3;", 3)
    assert got == [0, 1, 2], got
    got = launch("mov.u64 %d5, words; cvta.shared.u64 %d4, %d5; st.u8 [%d4+1], 0x1ff; ld.shared.s8 %r3, [words+1];"
                 " st.global.u32 [%d1], %r3;", 1, module=WORDS)
    assert got == [0xffffffff], got
    fails("another space", "cvta.to.shared.u64 %d3, %d0;")
    launch("cvta.to.shared.u64 %d3, 0;")
    fails("out of bounds", "cvta.to.shared.u64 %d3, 0; ld.shared.u32 %r2, [%d3+4];")


def mistakes_are_errors():
    fails("is read before it is written", "add.u32 %r3, %r5, 1;")
    # nvcc packs a register that nothing sets and overwrites that half; one that is set later is an error there, too.
    packed = "mov.b16 %h1, 7; mov.b32 %r3, {%h1, %h2}; "
    assert launch(packed + "st.global.u32 [%d1], %r3;") == [0x5a5a0007]
    assert launch(packed + "bfi.b32 %r3, 9, %r3, 16, 16; st.global.u32 [%d1], %r3;") == [9 << 16 | 7]
    fails("is read before it is written", packed + "mov.b16 %h2, 1;")
    fails("r5", "setp.eq.u32 %p1, %r0, 1; @%p1 mov.u32 %r5, 1; st.global.u32 [%d1], %r5;")
    fails("unknown instruction", "tensormap.replace %r3, %r3;")
    fails("unknown modifiers", "add.wild.s32 %r3, %r0, %r0;")
    fails("unknown", "cvt.rn.f8.f32 %r3, %r0;")
    fails("satfinite is missing", "cvt.rn.e4m3x2.f32 %h1, %r0, %r0;")
    fails("a rounding is missing", "cvt.f16.f32 %h1, %r0;")
    fails("has 32 bits, not 64", "add.s64 %d3, %d1, %r0;")
    fails("no register of 16 bits", "add.s16 %r3, 1, 2;")
    fails("no register %r99", "add.s32 %r99, 1, 2;")
    fails("no label", "bra NOWHERE;")
    fails("endless", "AGAIN: bra AGAIN;")
    fails("division by zero", "div.u32 %r3, 1, 0;")
    fails("trap", "trap;")
    fails("depends on the schedule", "activemask.b32 %r3;")
    fails("bits above", "mov.u16 %h1, 0xc0; cvt.rn.f16x2.e3m2x2 %r3, %h1;")
    fails("bits above", "mov.u16 %h1, 0xc0; cvt.rn.scaled::n2::ue8m0.bf16x2.e2m3x2 %r3, %h1, %h1;")
    fails("a rounding is missing", "mov.u16 %h1, 0; cvt.rz.scaled::n2::ue8m0.bf16x2.e4m3x2 %r3, %h1, %h1;")
    fails("unknown types", "mov.u16 %h1, 0; cvt.rn.bf16x2.e4m3x2 %r3, %h1;")
    fails("line 19", "\n\nadd.u32 %r3, %r5, 1;")


def control_flow_works():
    loop = """
  mov.u32 %r2, 0;
  mov.u32 %r3, 0;
AGAIN:
  add.u32 %r3, %r3, %r2;
  add.u32 %r2, %r2, 1;
  setp.le.u32 %p1, %r2, %r0;
  @%p1 bra AGAIN;
  st.global.u32 [%d1], %r3;
"""
    assert launch(loop, 5) == [0, 1, 3, 6, 10]
    guards = "setp.lt.u32 %p1, %r0, 2; @%p1 mov.u32 %r2, 1; @!%p1 mov.u32 %r2, 2; @%p1 ret; st.global.u32 [%d1], %r2;"
    assert launch(guards, 4) == [None, None, 2, 2]


def warps_issue_what_one_of_their_lanes_does():
    """Thread l goes round l + 1 times: a warp of 32 and one of 8 go round 32 and 40 times."""
    body = "mov.u32 %r2, 0;\nAGAIN:\nadd.u32 %r2, %r2, 1; setp.le.u32 %p1, %r2, %r0;\n@%p1 bra AGAIN;\nst.global.u32 [%d1], %r2;"
    machine = Machine(kernel(body), is_profiled=True)
    target = machine.allocate(4 * 40)
    machine.launch("kernel", 1, 40, [0, target.address, 0])
    issued = machine.issued("kernel")
    found = {one.opcode: issued[one.line] for one in machine.module.function("kernel").instructions[-6:]}
    assert found == {"mov": 2, "add": 72, "setp": 72, "bra": 72, "st": 2, "ret": 2}, found


def scopes_have_their_own_names():
    body = """
  mov.u32 %r2, 1;
  { .reg .b32 x; mov.u32 x, 5; { .reg .b32 x; mov.u32 x, 7; add.u32 %r2, %r2, x; } add.u32 %r2, %r2, x; }
  { .reg .pred p; setp.ne.u32 p, 1, 0; @p bra L; mov.u32 %r2, 0; L: add.u32 %r2, %r2, 100; }
  { .reg .pred p; setp.ne.u32 p, 1, 0; @p bra L; mov.u32 %r2, 0; L: add.u32 %r2, %r2, 100; }
  st.global.u32 [%d1], %r2;
"""
    assert launch(body) == [213]


def blocks_have_shapes():
    text = """
.visible .entry kernel(.param .u64 out, .param .align 8 .b8 pair[16])
{
  .reg .b32 %r<20>;
  .reg .b64 %d<8>;
  ld.param.u64 %d1, [out];
  ld.param.u32 %r9, [pair+8];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ctaid.y; mov.u32 %r4, %ntid.x; mov.u32 %r5, %nctaid.x;
  mov.u32 %r6, %ctaid.x;
  mad.lo.u32 %r7, %r3, %r5, %r6;
  mov.u32 %r8, %ntid.y;
  mad.lo.u32 %r7, %r7, %r8, %r2;
  mad.lo.u32 %r7, %r7, %r4, %r1;
  mul.wide.u32 %d2, %r7, 4;
  add.u64 %d1, %d1, %d2;
  add.u32 %r7, %r7, %r9;
  st.global.u32 [%d1], %r7;
  ret;
}
"""
    machine = Machine(text)
    target = machine.allocate(4 * 2 * 3 * 4 * 5)
    machine.launch("kernel", (2, 3), (4, 5), [target.address, struct.pack("<QQ", 0, 1000)])
    assert list(struct.unpack("<120I", target.data)) == list(range(1000, 1120))


if __name__ == "__main__":
    sys.exit(tap.run(
        shuffles_take_from_their_lane, a_lane_outside_a_shuffle_is_undefined,
        a_mask_names_those_that_take_part, votes_count_the_lanes_of_the_mask, warps_reduce,
        barriers_order_shared_memory, a_missing_barrier_is_a_race, a_missing_barrier_of_global_memory_is_a_race,
        copies_are_there_once_a_thread_has_waited, copies_are_there_for_others_behind_a_barrier,
        copies_read_what_stays_and_fill_with_zeros, barriers_that_not_all_reach_are_a_deadlock,
        named_barriers_count_threads, atomics_return_the_old_value, other_blocks_see_what_has_passed_a_fence,
        memory_is_checked,
        spaces_and_vectors_work, mistakes_are_errors, control_flow_works, warps_issue_what_one_of_their_lanes_does, scopes_have_their_own_names,
        blocks_have_shapes))
