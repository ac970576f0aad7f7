/* SPDX-License-Identifier: MIT */
/* Sums of this GPU's tensor cores: mma.sync and, on sm_90, wgmma. Prints how they sum,
 * and is good where a unit of hardware/product.h gives every bit. --record FILE writes
 * the results of one tile of each kind. */
#include "runner.hpp"
#include "tensor_cores.hpp"

#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

namespace {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
# define HAS_WGMMA 1
#else
# define HAS_WGMMA 0
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
# define HAS_MMA 1
#else
# define HAS_MMA 0
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
# define HAS_MMA_8 1
#else
# define HAS_MMA_8 0
#endif

/* d = a b + d of 16 rows and 8 columns by a warp, or of 64 rows by four warps with b in
 * shared memory. Words of a and b are those of a row and a column. */
#define MMA(NAME, HAS, SHAPE, TYPES)                                                  \
 struct NAME {                                                                        \
  static const bool is_had = HAS;                                                     \
  static __device__ void run(uint32_t d[4], const uint32_t a[4], const uint32_t b[2], \
                             uint64_t) {                                              \
   if (HAS)                                                                           \
    asm volatile("mma.sync.aligned." SHAPE ".row.col." TYPES                          \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"   \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                     \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); \
  }                                                                                   \
 };
#define WGMMA(NAME, TEXT, REST)                                                     \
 struct NAME {                                                                      \
  static const bool is_had = HAS_WGMMA;                                             \
  static __device__ void run(uint32_t d[4], const uint32_t a[4], const uint32_t[2], \
                             uint64_t b) {                                          \
   if (!HAS_WGMMA) return;                                                          \
   asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                          \
   asm volatile("wgmma.mma_async.sync.aligned." TEXT                                \
                " {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1" REST ";"         \
                : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                    \
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));              \
   asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");                   \
   asm volatile("wgmma.wait_group.sync.aligned 0;"                                  \
                : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])::"memory");        \
  }                                                                                 \
 };
/* Two sums a word. */
#define WGMMA_HALF(NAME, TEXT, REST)                                                    \
 struct NAME {                                                                          \
  static const bool is_had = HAS_WGMMA;                                                 \
  static __device__ void run(uint32_t d[4], const uint32_t a[4], const uint32_t[2],     \
                             uint64_t b) {                                              \
   if (!HAS_WGMMA) return;                                                              \
   asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                              \
   asm volatile("wgmma.mma_async.sync.aligned." TEXT                                    \
                " {%0, %1}, {%2, %3, %4, %5}, %6, 1, 1, 1" REST ";"                     \
                : "+r"(d[0]), "+r"(d[1])                                                \
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                  \
   asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");                       \
   asm volatile("wgmma.wait_group.sync.aligned 0;" : "+r"(d[0]), "+r"(d[1])::"memory"); \
  }                                                                                     \
 };
MMA(mma_f16, HAS_MMA, "m16n8k16", "f32.f16.f16.f32")
MMA(mma_bf16, HAS_MMA, "m16n8k16", "f32.bf16.bf16.f32")
MMA(mma_tf32, HAS_MMA, "m16n8k8", "f32.tf32.tf32.f32")
MMA(mma_e4m3, HAS_MMA_8, "m16n8k32", "f32.e4m3.e4m3.f32")
MMA(mma_e5m2, HAS_MMA_8, "m16n8k32", "f32.e5m2.e5m2.f32")
struct mma_half {
  static const bool is_had = HAS_MMA;
  static __device__ void run(uint32_t d[4], const uint32_t a[4], const uint32_t b[2],
                             uint64_t) {
    if (!HAS_MMA) return;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"
                 " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                 : "+r"(d[0]), "+r"(d[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};
WGMMA(wgmma_f16, "m64n8k16.f32.f16.f16", ", 0")
WGMMA(wgmma_bf16, "m64n8k16.f32.bf16.bf16", ", 0")
WGMMA(wgmma_tf32, "m64n8k8.f32.tf32.tf32", "")
WGMMA(wgmma_e4m3, "m64n8k32.f32.e4m3.e4m3", "")
WGMMA(wgmma_e5m2, "m64n8k32.f32.e5m2.e5m2", "")
WGMMA_HALF(wgmma_half, "m64n8k16.f16.f16.f16", ", 0")
WGMMA_HALF(wgmma_e4m3_half, "m64n8k32.f16.e4m3.e4m3", "")

/* A tile a block, 16 rows a warp. *had: whether this code has the instruction. */
template <class Unit, bool is_half>
__global__ void product_kernel(uint32_t *d, uint32_t *had, const tensor::tile *tiles) {
  using namespace tensor;
  __shared__ __align__(128) uint32_t columns[COLS * WORDS];
  const tile &from = tiles[blockIdx.x];
  const unsigned t = threadIdx.x, g = t % 32 / 4, k = t % 4, row = t / 32 * 16 + g;
  /* Eight columns of 16 bytes each, twice: what the instruction calls core matrices. */
  if (t < COLS * WORDS) columns[t % WORDS / 4 * 32 + t / WORDS * 4 + t % 4] = from.b[t];
#if HAS_WGMMA
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
  __syncthreads();
  const uint64_t place = __cvta_generic_to_shared(columns), apart = 128 >> 4;
  const uint64_t b = (place >> 4 & 0x3fff) | apart << 16 | apart << 32;
  const uint32_t *const upper = from.a + row * WORDS + k, *const lower =
                                                              upper + 8 * WORDS;
  const uint32_t a[4] = {upper[0], lower[0], upper[4], lower[4]};
  const uint32_t own[2] = {from.b[g * WORDS + k], from.b[g * WORDS + k + 4]};
  const unsigned at[4] = {row * COLS + 2 * k, row * COLS + 2 * k + 1,
                          (row + 8) * COLS + 2 * k, (row + 8) * COLS + 2 * k + 1};
  uint32_t sum[4] = {from.c[at[0]], from.c[at[1]], from.c[at[2]], from.c[at[3]]};
  if (is_half) {
    sum[0] |= sum[1] << 16;
    sum[1] = sum[2] | sum[3] << 16;
  }
  Unit::run(sum, a, own, b);
  if (is_half) {
    sum[3] = sum[1] >> 16;
    sum[2] = sum[1] & 0xffff;
    sum[1] = sum[0] >> 16;
    sum[0] &= 0xffff;
  }
  for (int i = 0; i < 4; ++i)
    d[blockIdx.x * DOTS + at[i]] = sum[i];
  *had = Unit::is_had;
}

typedef void (*product)(uint32_t *, uint32_t *, const tensor::tile *);
const product products[tensor::H100_UNITS] = {
    product_kernel<mma_f16, false>,       product_kernel<mma_bf16, false>,
    product_kernel<mma_tf32, false>,      product_kernel<mma_e4m3, false>,
    product_kernel<mma_e5m2, false>,      product_kernel<mma_half, true>,
    product_kernel<wgmma_f16, false>,     product_kernel<wgmma_bf16, false>,
    product_kernel<wgmma_tf32, false>,    product_kernel<wgmma_e4m3, false>,
    product_kernel<wgmma_e5m2, false>,    product_kernel<wgmma_half, true>,
    product_kernel<wgmma_e4m3_half, true>};

bool is_ok(cudaError_t error, const char *what) {
  CHECK(error == cudaSuccess, "%s: %s", what, cudaGetErrorString(error));
  return error == cudaSuccess;
}

/* Device memory of one unit; false after a check that failed. */
struct device {
  void *tiles = nullptr, *results = nullptr, *had = nullptr;
  ~device() {
    cudaFree(tiles);
    cudaFree(results);
    cudaFree(had);
  }
  bool run(unsigned unit, const std::vector<tensor::tile> &from,
           std::vector<uint32_t> &to, uint32_t &is_had) {
    const size_t count = from.size(), in = count * sizeof from[0];
    const size_t out = 4 * count * tensor::DOTS;
    to.resize(count * tensor::DOTS);
    if (!is_ok(cudaMalloc(&tiles, in), "memory") ||
        !is_ok(cudaMalloc(&results, out), "memory") ||
        !is_ok(cudaMalloc(&had, 4), "memory") ||
        !is_ok(cudaMemcpy(tiles, from.data(), in, cudaMemcpyHostToDevice), "tiles"))
      return false;
    products[unit]<<<static_cast<unsigned>(count), 128>>>(
        static_cast<uint32_t *>(results), static_cast<uint32_t *>(had),
        static_cast<const tensor::tile *>(tiles));
    return is_ok(cudaGetLastError(), tensor::h100[unit].name) &&
           is_ok(cudaMemcpy(to.data(), results, out, cudaMemcpyDeviceToHost),
                 "results") &&
           is_ok(cudaMemcpy(&is_had, had, 4, cudaMemcpyDeviceToHost), "results");
  }
};

FILE *record;

bool is_h100() {
  int major = 0, minor = 0;
  return is_ok(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0),
               "its capability") &&
         is_ok(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0),
               "its capability") &&
         major == 9 && minor == 0;
}

void check_unit(unsigned which, unsigned tiles) {
  const tensor::unit known = tensor::unit_of(tensor::h100[which]);
  std::vector<tensor::tile> from;
  std::vector<uint32_t> results;
  uint32_t is_had = 0;
  device there;
  unsigned wrong;
  for (unsigned i = 0; i < tiles; ++i)
    from.push_back(tensor::make_tile(known, i));
  if (!there.run(which, from, results, is_had)) return;
  if (!is_had) {
    std::printf("# %s: not in this code\n", known.name);
    return;
  }
  const tensor::unit found = tensor::find_model(known, from, results, &wrong);
  std::printf(
      "# %s: groups of %d products%s, %d bits behind the point, %d kept, %s: %u of %zu "
      "differ\n",
      known.name, found.how.products / (found.how.run ? 2 : 1),
      found.how.run ? " as f16" : "", found.how.bits, found.how.kept,
      found.how.is_nearest ? "to nearest" : "toward zero", wrong, results.size());
  /* what another GPU's sums are, nobody has measured: printed, no fault of this library
   */
  if (is_h100()) CHECK(wrong == 0, "%s: %u sums are of no model", known.name, wrong);
  for (size_t i = 0; record && i < size_t{tensor::KINDS} * tensor::DOTS; ++i)
    std::fwrite(&results[i], known.is_half() ? 2 : 4, 1, record);
}

void sums_are_those_of_a_model() {
  const unsigned tiles = gpu::asked.is_tiny ? 16 : gpu::asked.is_short ? 256 : 4096;
  for (unsigned i = 0; i < tensor::H100_UNITS; ++i)
    check_unit(i, tiles);
}

} // namespace

int main(int count, char **arguments) {
  int status;
  const bool records = count == 3 && std::strcmp(arguments[1], "--record") == 0;
  if (!gpu::begin(records ? 1 : count, arguments, &status)) return status;
  if (records) record = std::fopen(arguments[2], "wb");
  gpu::run("sums_are_those_of_a_model", sums_are_those_of_a_model);
  if (record && std::fclose(record)) return 2;
  return tap_done();
}
