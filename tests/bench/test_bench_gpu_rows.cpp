/* SPDX-License-Identifier: MIT */
/* The program of the benchmark's rows on the GPU of test_bench_gpu_runtime.hpp. */
#include "test_bench_gpu_runtime.hpp"

#include <mpnum/rows/detail/row_tiles.cuh>

SIMT_DYNAMIC_SHARED(float, mpnum_rows_shared_);

namespace {
/* Of rows, which alone have dynamic memory. */
[[maybe_unused]] const std::size_t most = (simt::static_most = mpnum::row_scratch_);
} // namespace

#include "gpu/rows.cu"
