#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Device code gives the host's bytes for scales, amaxes and histories (amax_history.h) and states of softmax: their PTX runs in the interpreter of
tests/cuda/ptx, plainly and with -use_fast_math. No GPU is needed. The interpreter knows no calls of functions, so that what is
never inlined is inlined here.
"""

import math
import random
import sys
import tempfile
from array import array
from math import inf as INFINITY
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[2] / room) for room in ["harness", "cuda"]]

import tap
from ptx import calls
from ptx.machine import Machine
from ptx.snippets import f32
from toolchain import named

BUILDS = [("75",), ("90", "-use_fast_math")]
INLINED = """\
#include <mpnum/core/detail/config.h>
#undef MPNUM_RARE_
#define MPNUM_RARE_ MPNUM_INLINE
"""
GET_OPTIONS = """\
GET mpnum_scale_options get_options(uint64_t how, uint64_t fallback) {
  mpnum_scale_options options = mpnum_scale_default();
  options.power_of_two = (int32_t)(how & 1);
  options.margin = (int32_t)(how >> 1 & 0x1ff) - 128;
  options.fallback = mpnum_from_bits_f32((uint32_t)fallback);
  return options;
}
"""
FLOAT = "mpnum_from_bits_f32((uint32_t)in[{}])".format
STEPS = 6
TRACE = f"""\
    mpnum_amax_history history = {{{{0, 0, 0}}, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
    mpnum_fp8_recipe recipe = mpnum_fp8_recipe_delayed();
    float ring[4];
    int i = 0;
    recipe.options = get_options(in[0], 0x3f800000u);
    recipe.history_length = (uint32_t)(in[0] >> 10 & 3) + 1;
    recipe.algorithm = (int32_t)(in[0] >> 12 & 1);
    (void)mpnum_amax_history_init(&history, ring, 4, 448.0f, &recipe);
    for (; i < {STEPS}; ++i) {{
      out[2 * i] = mpnum_amax_history_update(&history, ring, mpnum_from_bits_f32((uint32_t)in[i + 1]));
      out[2 * i + 1] = history.scale_inv;
    }}
"""
STATE = """\
    mpnum_softmax_state state = mpnum_softmax_state_empty();
    const float scale = mpnum_from_bits_f32((uint32_t)in[0]);
    float x[16];
    int i = 0;
    for (; i < 16; ++i) x[i] = mpnum_from_bits_f32((uint32_t)in[i + 1]);
    for (i = 0; i < 8; ++i) state = mpnum_softmax_add(state, x[i], scale);
    out[0] = state.max;
    out[1] = state.sum;
    state = mpnum_softmax_add_tile(state, x + 8, 8, scale);
    out[2] = state.max;
    out[3] = state.sum;
"""
CALLS = [
    calls.Call("scale", "mpnum_scale_from_amax", ["uint64_t"] * 4, "float", 4, 1,
               f"const mpnum_scale_options options = get_options(in[2], in[3]);"
               f" *out = mpnum_scale_from_amax({FLOAT(0)}, {FLOAT(1)}, &options);"),
    calls.Call("inverse", "mpnum_scale_inv", ["uint64_t"], "float", 4, 1, f"*out = mpnum_scale_inv({FLOAT(0)});"),
    calls.Call("merge", "mpnum_amax_merge", ["uint64_t"] * 2, "float", 4, 1,
               f"*out = mpnum_amax_merge({FLOAT(0)}, {FLOAT(1)});"),
    calls.Call("word", "mpnum_amax_word", ["uint64_t"], "uint32_t", 4, 1, f"*out = mpnum_amax_word({FLOAT(0)});"),
    calls.Call("trace", "mpnum_amax_history_update", ["uint64_t"] * (STEPS + 1), "float", 4, 2 * STEPS,
               "get_trace(in, out);"),
    calls.Call("state", "mpnum_softmax_add_tile", ["uint64_t"] * 17, "float", 4, 4, "get_state(in, out);"),
]
EDGES = [0, 1, 2, 0x003FFFFF, 0x00400000, 0x007FFFFF, 0x00800000, 0x00800001, 0x00200000, 0x00200001, 0x3F7FFFFF, 0x3F800000,
         0x3F800001, 0x40400000, 0x43DFFFFF, 0x43E00000, 0x43E00001, 0x7EFFFFFF, 0x7F000000, 0x7F7FFFFF, 0x7F800000,
         0x7F800001, 0x7FC00000, 0x7FFFFFFF]


def records_of(call, count):
    generator = random.Random(call.name)

    def any_float():
        kind = generator.randrange(4)
        if kind == 0:
            return generator.choice(EDGES) | generator.randrange(2) << 31
        if kind == 1:
            return generator.randrange(0x38000000, 0x48000000)
        return generator.randrange(1 << 32)

    words = []
    for _ in range(count):
        record = [any_float() for _ in range(call.words)]
        if call.name == "scale":
            record[1:3] = [generator.choice([0x43E00000, 0x47600000, any_float()]), generator.randrange(1 << 10)]
        if call.name == "trace":
            record[0] = generator.randrange(1 << 13) & ~0x3FE | (128 + generator.randrange(-3, 4)) << 1
        if call.name == "state":
            record = [f32(generator.choice((0.75, 0.0))), *tile(generator), *tile(generator)]
        words += record
    if call.words == 1:
        words += EDGES
    return array("Q", words)


def tile(generator):
    """8 floats of a kind: usual, with masked elements, of these alone, with +Inf, NaN, both zeros, far apart, subnormal."""
    kind = generator.choice((lambda: generator.gauss(0, 3), lambda: generator.choice((-INFINITY, 1.0)), lambda: -INFINITY,
                             lambda: generator.choice((INFINITY, 2.0, -2.0)), lambda: generator.choice((math.nan, 1.0, 2.0)),
                             lambda: generator.choice((0.0, -0.0)), lambda: generator.choice((-3e38, 3e38, 1e-40, -1e-40)),
                             lambda: generator.gauss(0, 1) * 1e-38))
    return [f32(kind()) for _ in range(8)]


def source():
    text = [INLINED, calls.PREAMBLE.replace("mpnum.h", "mpnum.h>\n#include <mpnum/rows/softmax_state.h"), GET_OPTIONS,
            "GET void get_trace(const uint64_t *in, float *out) {\n" + TRACE + "}\n",
            "GET void get_state(const uint64_t *in, float *out) {\n" + STATE + "}\n"]
    text += [f"CALL({call.name}, {call.words}, {call.results}, {call.result}, {call.body})" for call in CALLS]
    return "\n".join(text) + "\n"


def host_bytes_are_given(build):
    if build[0] not in calls.archs_of_nvcc():
        raise tap.Skip(f"this nvcc does not compile for sm_{build[0]}")
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(calls.compile_ptx(source(), Path(folder), *build))
        host = calls.Host(source(), Path(folder))
        for call in CALLS:
            records = records_of(call, 300)
            got, expected = calls.run_on(machine, call, records), host.run(call, records)
            problems = calls.differences(call, records, got, expected, 5)
            assert not problems, "\n".join(problems)
            assert len(set(memoryview(expected).cast("I"))) > 20, call.name


if __name__ == "__main__":
    sys.exit(tap.run(*[named(f"sm_{' '.join(build)} gives the host's bytes", host_bytes_are_given, build)
                       for build in BUILDS]))
