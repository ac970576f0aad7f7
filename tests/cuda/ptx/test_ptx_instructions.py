#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Instructions of one thread give what the PTX ISA says, in the interpreter of tests/cuda/ptx. Expected values are worked
out by hand from the text of the ISA.
"""

import sys
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[2] / room) for room in ["harness", "cuda"]]

import tap
from ptx.snippets import f32, f64, rows_hold


def integers_are_as_the_isa_says():
    rows_hold("b32", "b32", [
        ("add.s32 d, a, b;", 0xffffffff, 2, 1),
        ("sub.u32 d, a, b;", 1, 2, 0xffffffff),
        ("mul.lo.s32 d, a, b;", 0xfffffffe, 3, 0xfffffffa),
        ("mul.hi.s32 d, a, b;", 0xfffffffe, 3, 0xffffffff),
        ("mul.hi.u32 d, a, b;", 0xfffffffe, 3, 2),
        ("mad.lo.s32 d, a, b, c;", 5, 7, 0xffffffff, 34),
        ("mad.hi.u32 d, a, b, c;", 0x80000000, 4, 1, 3),
        ("min.s32 d, a, b;", 0xffffffff, 1, 0xffffffff),
        ("min.u32 d, a, b;", 0xffffffff, 1, 1),
        ("max.s32 d, a, b;", 0xffffffff, 1, 1),
        ("abs.s32 d, a;", 0xfffffff6, 10),
        ("neg.s32 d, a;", 1, 0xffffffff),
        ("div.s32 d, a, b;", 0xfffffff9, 2, 0xfffffffd),  # -7 / 2 = -3
        ("rem.s32 d, a, b;", 0xfffffff9, 2, 0xffffffff),
        ("div.u32 d, a, b;", 0xfffffff9, 2, 0x7ffffffc),
        ("and.b32 d, a, b;", 0xf0f0f0f0, 0xff00ff00, 0xf000f000),
        ("xor.b32 d, a, b;", 0xf0f0f0f0, 0xff00ff00, 0x0ff00ff0),
        ("not.b32 d, a;", 0xf0f0f0f0, 0x0f0f0f0f),
        ("shl.b32 d, a, b;", 1, 31, 0x80000000),
        ("shl.b32 d, a, b;", 1, 32, 0),
        ("shl.b32 d, a, b;", 1, 0xffffffff, 0),
        ("shr.u32 d, a, b;", 0x80000000, 40, 0),
        ("shr.s32 d, a, b;", 0x80000000, 40, 0xffffffff),
        ("shr.s32 d, a, 4;", 0x80000000, 0xf8000000),
        ("shf.l.wrap.b32 d, a, b, c;", 0x11223344, 0x55667788, 40, 0x66778811),
        ("shf.l.clamp.b32 d, a, b, c;", 0x11223344, 0x55667788, 40, 0x11223344),
        ("shf.r.wrap.b32 d, a, b, c;", 0x11223344, 0x55667788, 8, 0x88112233),
        ("shf.r.clamp.b32 d, a, b, c;", 0x11223344, 0x55667788, 99, 0x55667788),
        ("popc.b32 d, a;", 0xf00f0001, 9),
        ("clz.b32 d, a;", 0x00010000, 15),
        ("clz.b32 d, a;", 0, 32),
        ("bfe.u32 d, a, b, c;", 0x12345678, 8, 12, 0x456),
        ("bfe.s32 d, a, b, c;", 0x12345f78, 4, 8, 0xfffffff7),
        ("bfe.s32 d, a, b, c;", 0x80000000, 28, 8, 0xfffffff8),
        ("bfe.u32 d, a, b, c;", 0x80000000, 28, 0, 0),
        ("bfi.b32 d, a, b, 8, 4;", 0xff, 0, 0xf00),
        ("bfi.b32 d, a, b, 28, 8;", 0xff, 0, 0xf0000000),
        ("prmt.b32 d, a, b, c;", 0x33221100, 0x77665544, 0x7520, 0x77552200),
        ("lop3.b32 d, a, b, c, 0x96;", 0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa, 0x96969696),
        ("lop3.b32 d, a, b, c, 0xe4;", 0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa, 0xe4e4e4e4),
        ("prmt.b32 d, a, b, c;", 0x33228100, 0x77665544, 0x0009, 0x000000ff | 0x00 << 8),
        ("selp.b32 d, a, b, c;", 1, 2, ("pred", 1), 1),
        ("selp.b32 d, a, b, c;", 1, 2, ("pred", 0), 2),
        ("mov.b32 d, {a, b};", ("b16", 0x1234), ("b16", 0x5678), 0x56781234),
        ("cvt.s32.s8 d, a;", ("b16", 0x1280), 0xffffff80),
        ("cvt.u32.u8 d, a;", ("b16", 0x1280), 0x80),
        ("cvt.u32.s16 d, a;", ("b16", 0x8000), 0xffff8000),
        ("cvt.s8.s32 d, a;", 0x12345680, 0xffffff80),
        ("cvt.u8.u32 d, a;", 0x12345680, 0x80),
        ("cvt.sat.s8.s32 d, a;", 0x12345680, 0x7f),
        ("cvt.sat.u8.s32 d, a;", 0x80000000, 0),
    ])
    rows_hold("b64", "b64", [
        ("mul.wide.u32 d, a, b;", ("b32", 0xffffffff), ("b32", 0xffffffff), 0xfffffffe00000001),
        ("mul.wide.s32 d, a, b;", ("b32", 0xffffffff), ("b32", 2), 0xfffffffffffffffe),
        ("mad.wide.s32 d, a, b, c;", ("b32", 0xffffffff), ("b32", 8), 16, 8),
        ("mul.hi.u64 d, a, b;", 1 << 63, 6, 3),
        ("add.s64 d, a, b;", 0xffffffffffffffff, 3, 2),
        ("shr.s64 d, a, 63;", 1 << 63, 0xffffffffffffffff),
        ("shl.b64 d, a, b;", 1, ("b32", 64), 0),
        ("bfe.s64 d, a, 60, 8;", 0x9000000000000000, 0xfffffffffffffff9),
        ("cvt.s64.s32 d, a;", ("b32", 0x80000000), 0xffffffff80000000),
        ("cvt.u64.u32 d, a;", ("b32", 0x80000000), 0x80000000),
        ("mov.b64 d, {a, b};", ("b32", 1), ("b32", 2), 0x200000001),
    ])
    rows_hold("pred", "b32", [
        ("setp.lt.s32 d, a, b;", 0xffffffff, 0, 1),
        ("setp.lt.u32 d, a, b;", 0xffffffff, 0, 0),
        ("setp.hi.u32 d, a, b;", 0xffffffff, 0, 1),
        ("setp.ne.and.s32 d, a, b, c;", 1, 0, ("pred", 0), 0),
        ("setp.eq.or.s32 d, a, b, c;", 1, 0, ("pred", 1), 1),
        ("setp.eq.xor.s32 d, a, b, !c;", 1, 0, ("pred", 0), 1),
        ("{ .reg .pred e; setp.eq.s32 e|d, a, b; }", 1, 0, 1),
    ])


def floats_are_rounded_once():
    tiny, one, three = 0x00000001, f32(1.0), f32(3.0)
    rows_hold("b32", "b32", [
        ("add.f32 d, a, b;", one, f32(2.0 ** -24), one),
        ("add.rp.f32 d, a, b;", one, f32(2.0 ** -24), one + 1),
        ("add.rz.f32 d, a, b;", one + 1, f32(2.0 ** -24), one + 1),
        ("add.rn.f32 d, a, b;", one + 1, f32(2.0 ** -24), one + 2),
        ("add.f32 d, a, b;", tiny, tiny, 2),
        ("add.ftz.f32 d, a, b;", tiny, one, one),
        ("add.ftz.f32 d, a, b;", 0x80000001, 0x80000001, 0x80000000),
        ("mul.f32 d, a, b;", 0x00800000, f32(0.5), 0x00400000),
        ("mul.ftz.f32 d, a, b;", 0x80800000, f32(0.5), 0x80000000),
        ("sub.f32 d, a, b;", one, one, 0),
        ("sub.rm.f32 d, a, b;", one, one, 0x80000000),
        ("sub.f32 d, a, b;", 0x7f800000, 0x7f800000, 0x7fffffff),
        ("mul.f32 d, a, b;", 0x7f800000, 0, 0x7fffffff),
        ("mul.rn.f32 d, a, b;", 0x7f7fffff, f32(2.0), 0x7f800000),
        ("mul.rz.f32 d, a, b;", 0x7f7fffff, f32(2.0), 0x7f7fffff),
        ("add.sat.f32 d, a, b;", one, one, one),
        ("add.sat.f32 d, a, b;", 0x7fc00000, one, 0),
        ("fma.rn.f32 d, a, b, c;", one + 1, one + 1, f32(-1.0), f32(2.0 ** -22 + 2.0 ** -46)),
        ("div.rn.f32 d, a, b;", one, three, 0x3eaaaaab),
        ("div.rz.f32 d, a, b;", one, three, 0x3eaaaaaa),
        ("sqrt.rn.f32 d, a;", f32(2.0), 0x3fb504f3),
        ("sqrt.rn.f32 d, a;", 0x80000000, 0x80000000),
        ("sqrt.rn.f32 d, a;", f32(-1.0), 0x7fffffff),
        ("rcp.approx.ftz.f32 d, a;", f32(2.0), f32(0.5)),
        ("rcp.approx.ftz.f32 d, a;", three, 0x3eaaaaaa),
        ("rcp.approx.ftz.f32 d, a;", 0x3fffffff, 0x3f000001),
        ("rcp.approx.ftz.f32 d, a;", 0x80000000, 0xff800000),
        ("rsqrt.approx.ftz.f32 d, a;", f32(4.0), f32(0.5)),
        ("rsqrt.approx.ftz.f32 d, a;", f32(2.0), 0x3f3504f3),
        ("ex2.approx.ftz.f32 d, a;", f32(-3.0), f32(0.125)),
        ("ex2.approx.ftz.f32 d, a;", f32(0.5), 0x3fb504f3),
        ("ex2.approx.ftz.f32 d, a;", f32(-126.5), 0),
        ("ex2.approx.f32 d, a;", f32(-149.0), 1),
        ("ex2.approx.ftz.f32 d, a;", f32(128.0), 0x7f800000),
        ("ex2.approx.ftz.f32 d, a;", 0xff800000, 0),
        ("ex2.approx.ftz.f32 d, a;", 0xff7fffff, 0),
        ("ex2.approx.ftz.f32 d, a;", 0x80000001, one),
        ("ex2.approx.ftz.f32 d, a;", 0xffc00000, 0x7fffffff),
        ("tanh.approx.f32 d, a;", f32(0.5), 0x3eec9a9f),  # 0.46211716
        ("tanh.approx.f32 d, a;", 0xff800000, f32(-1.0)),
        ("tanh.approx.f32 d, a;", 0x80000001, 0x80000001),
        ("neg.f32 d, a;", 0, 0x80000000),
        ("abs.f32 d, a;", 0xff800000, 0x7f800000),
        ("copysign.f32 d, a, b;", f32(-2.0), f32(0.5), f32(-0.5)),
        ("copysign.f32 d, a, b;", 0, 0xff812345, 0x7f812345),
        ("min.f32 d, a, b;", 0x80000000, 0, 0x80000000),
        ("max.f32 d, a, b;", 0x80000000, 0, 0),
        ("max.f32 d, a, b;", 0x7fc00000, one, one),
        ("max.NaN.f32 d, a, b;", 0x7fc00000, one, 0x7fffffff),
        ("min.f32 d, a, b;", 0x7fc00000, 0x7f800001, 0x7fffffff),
        ("min.xorsign.abs.f32 d, a, b;", f32(-3.0), f32(2.0), f32(-2.0)),
        ("max.xorsign.abs.f32 d, a, b;", 0x80000000, f32(-0.5), f32(0.5)),
        ("max.xorsign.abs.f32 d, a, b;", 0xffc00000, f32(-2.0), f32(2.0)),
        ("add.f16x2 d, a, b;", 0x3c003c00, 0x40003c00, 0x42004000),
        ("fma.rn.bf16x2 d, a, b, c;", 0x3f803f80, 0x40003f80, 0x3f803f80, 0x40404000),
    ])
    rows_hold("b64", "b64", [
        ("add.f64 d, a, b;", f64(1.0), f64(2.0 ** -53), f64(1.0)),
        ("fma.rn.f64 d, a, b, c;", f64(0.1), f64(10.0), f64(-1.0), f64(2.0 ** -54)),
        ("div.rn.f64 d, a, b;", f64(1.0), f64(3.0), f64(1 / 3)),
        ("mul.f64 d, a, b;", f64(0.1), f64(0.1), f64(0.1 * 0.1)),
        # 2^-126 * 0.5, which is subnormal, and 3 * -2.
        ("mul.rn.f32x2 d, a, b;", 0x00800000 << 32 | three, f32(0.5) << 32 | f32(-2.0), 0x00400000 << 32 | f32(-6.0)),
        ("mul.rn.ftz.f32x2 d, a, b;", 0x80800000 << 32 | three, f32(0.5) << 32 | f32(-2.0), 0x80000000 << 32 | f32(-6.0)),
    ])
    rows_hold("pred", "b32", [
        ("setp.lt.f32 d, a, b;", 0x80000000, 0, 0),
        ("setp.eq.f32 d, a, b;", 0x80000000, 0, 1),
        ("setp.lt.f32 d, a, b;", 0x7fc00000, 0, 0),
        ("setp.ltu.f32 d, a, b;", 0x7fc00000, 0, 1),
        ("setp.ne.f32 d, a, b;", 0x7fc00000, 0, 0),
        ("setp.neu.f32 d, a, b;", 0x7fc00000, 0, 1),
        ("setp.nan.f32 d, a, b;", 0x7fc00000, 0, 1),
        ("setp.num.f32 d, a, b;", 0x7fc00000, 0, 0),
        ("setp.gt.f32 d, a, b;", tiny, 0, 1),
        ("setp.gt.ftz.f32 d, a, b;", tiny, 0, 0),
        ("setp.lt.f32 d, a, b;", 0xff800000, 0x7f800000, 1),
    ])


def narrow_floats_are_as_the_isa_says():
    nan = 0x7f800001
    rows_hold("b16", "b32", [
        ("cvt.rn.f16.f32 d, a;", f32(65520.0), 0x7c00),
        ("cvt.rn.f16.f32 d, a;", f32(65520.0) - 1, 0x7bff),
        ("cvt.rz.f16.f32 d, a;", f32(1e9), 0x7bff),
        ("cvt.rp.f16.f32 d, a;", f32(-1e9), 0xfbff),
        ("cvt.rm.f16.f32 d, a;", f32(-1e9), 0xfc00),
        ("cvt.rn.f16.f32 d, a;", f32(2.0 ** -25), 0),
        ("cvt.rn.f16.f32 d, a;", f32(2.0 ** -25) + 1, 1),
        ("cvt.rp.f16.f32 d, a;", 1, 1),
        ("cvt.rp.f16.f32 d, a;", 0x80000001, 0x8000),
        ("cvt.rm.f16.f32 d, a;", 0x80000001, 0x8001),
        ("cvt.rp.ftz.f16.f32 d, a;", 1, 0),
        ("cvt.rn.f16.f32 d, a;", nan, 0x7fff),
        ("cvt.rn.relu.f16.f32 d, a;", f32(-1.0), 0),
        ("cvt.rn.satfinite.f16.f32 d, a;", 0x7f800000, 0x7bff),
        ("cvt.rn.bf16.f32 d, a;", 0x3f808000, 0x3f80),
        ("cvt.rn.bf16.f32 d, a;", 0x3f818000, 0x3f82),
        ("cvt.rz.bf16.f32 d, a;", 0x3f81ffff, 0x3f81),
        ("cvt.rn.bf16.f32 d, a;", 0x7f7fffff, 0x7f80),
        ("cvt.rn.bf16.f32 d, a;", 0x00008001, 1),
        ("cvt.rn.bf16.f32 d, a;", 0xffffffff, 0x7fff),
        ("cvt.rn.bf16.f64 d, a;", ("b64", f64(1 + 2.0 ** -8 + 2.0 ** -50)), 0x3f81),
        ("cvt.rn.f16.f64 d, a;", ("b64", f64(2.0 ** -25) + 1), 1),
        # The first source goes to the upper half.
        ("cvt.rn.satfinite.e4m3x2.f32 d, a, b;", f32(448.0), f32(1.0), 0x7e38),
        ("cvt.rn.satfinite.e4m3x2.f32 d, a, b;", f32(-1e9), f32(464.0), 0xfe7e),
        ("cvt.rn.satfinite.e4m3x2.f32 d, a, b;", 0xffffffff, f32(2.0 ** -10), 0x7f00),
        ("cvt.rn.satfinite.e4m3x2.f32 d, a, b;", f32(3 * 2.0 ** -10), f32(-0.0), 0x0280),
        ("cvt.rn.satfinite.relu.e4m3x2.f32 d, a, b;", f32(-2.0), f32(2.0), 0x0040),
        ("cvt.rn.satfinite.e5m2x2.f32 d, a, b;", f32(61440.0), 0xff800000, 0x7bfb),
        ("cvt.rn.satfinite.e5m2x2.f32 d, a, b;", nan, f32(1.125), 0x7f3c),
        ("cvt.rn.satfinite.e4m3x2.f16x2 d, a;", 0x7c003c00, 0x7e38),
        ("cvt.rn.satfinite.e5m2x2.f16x2 d, a;", 0x7c013c00, 0x7f3c),
        ("cvt.rn.satfinite.e3m2x2.f32 d, a, b;", f32(28.0), f32(-0.0625), 0x1f21),
        ("cvt.rn.satfinite.e3m2x2.f32 d, a, b;", nan, f32(-1e9), 0x1f3f),
        ("cvt.rn.satfinite.e2m3x2.f32 d, a, b;", f32(7.5), f32(0.125), 0x1f01),
        # bf16 of 448 and 1, Inf and -2^-9, NaN and 57344; 28 and -0.0625; f16 of NaN and 0.125.
        ("cvt.rn.satfinite.e4m3x2.bf16x2 d, a;", 0x43e03f80, 0x7e38),
        ("cvt.rn.satfinite.e4m3x2.bf16x2 d, a;", 0x7f80bb00, 0x7e81),
        ("cvt.rn.satfinite.e5m2x2.bf16x2 d, a;", 0xffff4760, 0x7f7b),
        ("cvt.rn.satfinite.e3m2x2.bf16x2 d, a;", 0x41e0bd80, 0x1f21),
        ("cvt.rn.satfinite.e2m3x2.f16x2 d, a;", 0xfe003000, 0x1f01),
        ("cvt.rz.ue8m0x2.f32 d, a, b;", f32(3.0), 0x7f800000, 0x80ff),
        ("cvt.rp.ue8m0x2.f32 d, a, b;", f32(3.0), nan, 0x81ff),
        ("cvt.rp.ue8m0x2.f32 d, a, b;", 0x00400000, 0x00400001, 0x0001),
        ("cvt.rz.ue8m0x2.f32 d, a, b;", 0, 0x007fffff, 0x0000),
        ("cvt.rp.ue8m0x2.f32 d, a, b;", 0x7f7fffff, 0x7f000000, 0xfffe),
        ("cvt.rp.satfinite.ue8m0x2.f32 d, a, b;", 0x7f7fffff, 0x7f800000, 0xfefe),
        ("cvt.rz.satfinite.ue8m0x2.bf16x2 d, a;", 0x40407fff, 0x80ff),
    ])
    rows_hold("b8", "b32", [
        ("cvt.rn.satfinite.e2m1x2.f32 d, a, b;", f32(5.0), f32(1.75), 0x64),
        ("cvt.rn.satfinite.e2m1x2.f32 d, a, b;", nan, f32(-1e9), 0x7f),
        ("cvt.rn.satfinite.e2m1x2.f32 d, a, b;", f32(0.25), f32(-0.25) + 1, 0x09),
        ("cvt.rn.satfinite.e2m1x2.bf16x2 d, a;", 0x40a03fe0, 0x64),
        ("cvt.rn.satfinite.e2m1x2.f16x2 d, a;", 0x7e00fc00, 0x7f),
    ])
    rows_hold("b32", "b32", [
        ("cvt.rn.f16x2.f32 d, a, b;", f32(1.0), f32(-2.0), 0x3c00c000),
        ("cvt.rz.bf16x2.f32 d, a, b;", f32(1.0), 0x7f7fffff, 0x3f807f7f),
        ("cvt.rn.f16x2.e4m3x2 d, a;", ("b16", 0x7fb8), 0x7fffbc00),
        ("cvt.rn.f16x2.e4m3x2 d, a;", ("b16", 0x0101), 0x18001800),
        ("cvt.rn.f16x2.e5m2x2 d, a;", ("b16", 0x7cfd), 0x7c007fff),
        ("cvt.rn.f16x2.e5m2x2 d, a;", ("b16", 0x0102), 0x01000200),
        ("cvt.rn.f16x2.e3m2x2 d, a;", ("b16", 0x1f21), 0x4f00ac00),
        ("cvt.rn.f16x2.e2m3x2 d, a;", ("b16", 0x1f01), 0x47803000),
        ("cvt.rn.f16x2.e2m1x2 d, a;", ("b8", 0x79), 0x4600b800),
        ("cvt.rn.bf16x2.ue8m0x2 d, a;", ("b16", 0xff00), 0x7fff0040),
        # Times powers of two: 448 * 2 and -1 * 1; the least code and scale, 2^-16 * 2^-110, and 57344 * 2^112; 2^-6 * 2^-127.
        ("cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 d, a, b;", ("b16", 0x7eb8), ("b16", 0x807f), 0x4460bf80),
        ("cvt.rn.scaled::n2::ue8m0.bf16x2.e5m2x2 d, a, b;", ("b16", 0x017b), ("b16", 0x11ef), 0x00807f60),
        ("cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 d, a, b;", ("b16", 0x8808), ("b16", 0x0000), 0x80010001),
        ("cvt.rn.scaled::n2::ue8m0.bf16x2.e3m2x2 d, a, b;", ("b16", 0x1f21), ("b16", 0x7f80), 0x41e0be00),
        ("cvt.rn.scaled::n2::ue8m0.bf16x2.e2m3x2 d, a, b;", ("b16", 0x1f20), ("b16", 0x7fe0), 0x40f08000),
        ("cvt.rn.scaled::n2::ue8m0.bf16x2.e2m1x2 d, a, b;", ("b8", 0x79), ("b16", 0x7e80), 0x4040bf80),
        # Open: NaN, a scale of NaN, Inf, what overflows.
        ("cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 d, a, b;", ("b16", 0x7f38), ("b16", 0x7fff), 0xff81ff81),
        ("cvt.rn.scaled::n2::ue8m0.bf16x2.e5m2x2 d, a, b;", ("b16", 0x7c7b), ("b16", 0x7ff0), 0xff81ff81),
        ("cvt.f32.f16 d, a;", ("b16", 1), f32(2.0 ** -24)),
        ("cvt.f32.f16 d, a;", ("b16", 0xfc01), 0xff802000),  # the payload is kept, the NaN signals
        ("cvt.f32.bf16 d, a;", ("b16", 0x8001), 0x80010000),
        ("cvt.rn.f32.f64 d, a;", ("b64", f64(2.0 ** -150) + 1), 1),
        ("cvt.rz.f32.f64 d, a;", ("b64", f64(1e300)), 0x7f7fffff),
        ("cvt.rn.f32.f64 d, a;", ("b64", 0x7ff0000000000001), 0x7fffffff),
        # tf32: what is below its last place is not to be relied on.
        ("{ cvt.rna.tf32.f32 d, a; and.b32 d, d, 0xffffe000; }", 0x3f801000, 0x3f802000),
        ("{ cvt.rn.tf32.f32 d, a; and.b32 d, d, 0xffffe000; }", 0x3f801000, 0x3f800000),
        ("{ cvt.rz.tf32.f32 d, a; and.b32 d, d, 0xffffe000; }", 0x3f803fff, 0x3f802000),
        ("{ .reg .pred p; cvt.rn.tf32.f32 d, a; and.b32 d, d, 0x1fff; setp.ne.u32 p, d, 0; selp.u32 d, 1, 0, p; }",
         0x3f800000, 1),
    ])


def floats_and_integers_convert():
    rows_hold("b32", "b32", [
        ("cvt.rn.f32.s32 d, a;", 0xffffffff, f32(-1.0)),
        ("cvt.rn.f32.u32 d, a;", 0xffffffff, f32(2.0 ** 32)),
        ("cvt.rz.f32.u32 d, a;", 0xffffffff, 0x4f7fffff),
        ("cvt.rzi.s32.f32 d, a;", f32(-2.75), 0xfffffffe),
        ("cvt.rzi.s32.f32 d, a;", f32(8.5), 8),
        ("cvt.rzi.s32.f32 d, a;", f32(-2.0 ** 40), 0x80000000),
        ("cvt.rzi.u32.f32 d, a;", f32(-2.75), 0),
        ("cvt.rzi.u32.f32 d, a;", 0x7f800000, 0xffffffff),
        ("cvt.rzi.s32.f32 d, a;", 0x7fc00000, 0),
    ])
    rows_hold("b64", "b32", [
        ("cvt.f64.f32 d, a;", 1, f64(2.0 ** -149)),
        ("cvt.rn.f64.s64 d, a;", ("b64", 0xffffffffffffffff), f64(-1.0)),
    ])


if __name__ == "__main__":
    sys.exit(tap.run(integers_are_as_the_isa_says, floats_are_rounded_once, narrow_floats_are_as_the_isa_says,
                     floats_and_integers_convert))
