#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A launcher is five files, as CONTRIBUTING.md says: a copy of the sources gets one that counts what is not finite, by
following the recipe, and its laws, its test in the simulator and, where nvcc is, that of its PTX are then run."""

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import scratch
import tap
import toolchain
from tree import check

KERNEL = """\
/* How many fields are Inf or NaN. */
namespace mpnum {
template <class T> struct reduce_nonfinite_ {
  typedef fields_<T> fields;
  typedef size_t result_type;
  uint32_t count;

  __device__ __forceinline__ reduce_nonfinite_() : count(0) {}
  __device__ __forceinline__ void word(uint32_t word) {
    const uint32_t above = fields::magnitudes(word) +
                           (fields::high - fields::first_nonfinite() * fields::ones);
    count += fields::total(fields::lowest(above | fields::fnuz_nans(word)));
  }
  template <unsigned vectors_>
  __device__ __forceinline__ void vectors(const mpnum_vector_ (&in)[vectors_],
                                          const mpnum_vector_ *, unsigned) {
    MPNUM_UNROLL_
    for (unsigned i = 0; i < vectors_ * fields::words; ++i)
      word(fields::word(in[i / fields::words], i % fields::words));
  }
  __device__ __forceinline__ void code(uint32_t code) { word(code); }
  __device__ __forceinline__ found_ found(size_t, uint32_t *scratch) const {
    found_ all = found_();
    all.sums[0] = mpnum_block_sum_u32_(count, scratch);
    return all;
  }
  static __host__ __device__ size_t result(const found_ &all, size_t) {
    return all.sums[0];
  }
  static __device__ __forceinline__ void fold(size_t *result, const found_ &all) {
    mpnum_atomic_add_u64_(reinterpret_cast<uint64_t *>(result), all.sums[0]);
  }
};
} /* namespace mpnum */
/* How many elements are Inf or NaN. */
template <class T>
MPNUM_MUST_CHECK static inline cudaError_t
mpnum_launch_count_nonfinite(size_t *result, const T *src, size_t n, cudaStream_t stream,
                             mpnum_launch_scratch *scratch = 0, int multiprocessors = 0) {
  return mpnum_launch_reduce_<mpnum::reduce_nonfinite_<T>>(result, src, n, stream,
                                                           scratch, multiprocessors);
}
"""
LAW = """\
    {"mpnum_launch_count_nonfinite", draw_reduction<size_t>, count_nonfinite_launch,
     reduction, BESIDE(count_nonfinite_on_host), nullptr, nullptr},
"""
BESIDE = """\
mpnum_status count_nonfinite_launch(const law_piece *at) {
  return of_source(at, [&](auto *src) {
    return mpnum_launch_count_nonfinite(data<size_t>(at, DST), src, count_of(at), nullptr, scratch_of(at));
  });
}
mpnum_status count_nonfinite_on_host(const law_piece *at) {
  size_t made = 0;
  for (size_t i = 0; i < count_of(at); ++i)
    made += !mpnum_isfinite_f32(at->draw->types[0] == MPNUM_TYPE_F32
                                    ? data<const float>(at, SRC)[i]
                                    : mpnum::to_float(data<const narrow>(at, SRC)[i]));
  std::memcpy(at->at[DST], &made, sizeof made);
  return MPNUM_OK;
}
"""
CHECKED = """\
  std::size_t nonfinite = 0;
  for (std::size_t i = first; i < values.size(); ++i)
    nonfinite += !is_finite(values[i]);
  const std::size_t got_nonfinite =
      launched(mpnum_launch_count_nonfinite<T>, values, first);
  CHECK(got_nonfinite == nonfinite, "%s: %zu of %zu not finite", name, got_nonfinite, n);
"""
CASE = """\
    Case("count_nonfinite", {"count": ("size_t", out(1)),
                             "x": ("mpnum_bf16", bfloats(8300, 0, (float("inf"), float("nan"))))},
         "mpnum_launch_count_nonfinite(count, x, 8300, 0)", "*count = 0; for (int i = 0; i < 8300; ++i) *count += !mpnum_isfinite_bf16(x[i]); return 0;"),
"""
# [(file, a line that stands there once, what goes before it)]
PLACES = [
    ("include/mpnum/array/reduce.cuh", "/* The largest magnitude: 0 if n is 0", KERNEL),
    ("tests/laws/test_laws_device_arrays.cpp", "\n/* Both add to what is there. */", BESIDE),
    ("tests/laws/test_laws_device_arrays.cpp", '    {"mpnum_launch_stats"', LAW),
    ("tests/cuda/simt/test_kernels_reduce.cpp", "  const int got_finite = ", CHECKED),
    ("tests/cuda/ptx/test_ptx_launchers.py", '    Case("stats_and_all_finite"', CASE),
    ("docs/cuda.md", "| `mpnum_amax_f32` | `mpnum_amax` for each",
     "| counts of `mpnum_stats_f32` | `mpnum_isfinite_f32` | `mpnum_launch_count_nonfinite` |\n"),
]
NAME = "mpnum_launch_count_nonfinite"


def compiler(root):
    return ["-O0", "-I", root / "include", "-I", root / "tests"]


def laws_hold(root):
    check(*toolchain.cc(), *compiler(root), "-std=gnu11", "-c", root / "tests/laws/laws.c", "-o", root / "laws.o")
    check(*toolchain.cpp_compiler(), *compiler(root), "-std=c++17", root / "tests/laws/test_laws_device_arrays.cpp",
          root / "laws.o", "-lm", "-pthread", "-o", root / "laws")
    said = check(root / "laws", f"--only={NAME}")
    assert NAME in said and "ok 1" in said and "not ok" not in said, said[-2000:]


def simulator_agrees(root):
    check(*toolchain.cpp_compiler(), *compiler(root), "-std=c++17", "-DTEST_TYPES=float,mpnum_f16,mpnum_e4m3",
          root / "tests/cuda/simt/test_kernels_reduce.cpp", "-lm", "-pthread", "-o", root / "kernels")
    said = check(root / "kernels", env={"MPNUM_PROPERTY": "special_values"})
    assert "ok 1" in said and "not ok" not in said, said[-2000:]


def five_files_make_a_launcher():
    with tempfile.TemporaryDirectory() as folder:
        root = scratch.copy(folder)
        scratch.follow_recipe(root, "A launcher", PLACES, 5)
        for tool in ("tools/api", "tools/reference"):
            check(sys.executable, tool, "--update", cwd=root)
        assert NAME in (root / "docs/api.txt").read_text()
        assert NAME in (root / "docs/reference/reduce_cuh.md").read_text()
        laws_hold(root)
        simulator_agrees(root)
        if shutil.which("nvcc"):
            said = check(sys.executable, root / "tests/cuda/ptx/test_ptx_launchers.py", cwd=root,
                         env={**os.environ, "MPNUM_PROPERTY": "count_nonfinite"})
            assert re.search(r"^ok \d+ - .*count_nonfinite$", said, re.M), said[-2000:]


sys.exit(tap.run(five_files_make_a_launcher))
