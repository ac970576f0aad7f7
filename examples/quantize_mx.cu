/* SPDX-License-Identifier: MIT */
/* A bf16 matrix in MXFP8 as both products of a training step read it, blocks along rows
 * for the forward pass, along columns for the backward one, from one read: e4m3 codes,
 * those by column as rows of the transposed matrix, and a scale for each 32 of them in
 * the layout of cuBLASLt. Compares every byte with the host. Paste what you need.
 *
 *     nvcc -arch=sm_90 -I include examples/quantize_mx.cu -o quantize_mx
 */
#include <mpnum/kernels.cuh>

#include <cstdio>
#include <cstdlib>
#include <vector>

static void stop_on(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "quantize_mx: %s\n", cudaGetErrorString(error));
  std::exit(1);
}
template <class T> static T *on_device(size_t n) {
  T *memory = nullptr;
  stop_on(cudaMalloc(&memory, n * sizeof(T)));
  return memory;
}

/* Codes and scales of a matrix of blocks along its rows. */
struct quantised {
  std::vector<unsigned char> codes, scales;
  quantised(const mpnum_blockscale_format &format, size_t rows, size_t columns)
      : codes(mpnum_blockscale_code_bytes(&format, rows, columns)),
        scales(mpnum_blockscale_scale_bytes(&format, rows, columns, 1)) {}
  mpnum_blockscaled at(void *code_memory, void *scale_memory, size_t columns) const {
    const mpnum_blockscaled view = {code_memory,   columns, scale_memory,
                                    scales.size(), 1,       1};
    return view;
  }
};
static size_t differences(const std::vector<unsigned char> &host, const void *device) {
  std::vector<unsigned char> copy(host.size());
  size_t count = 0;
  stop_on(cudaMemcpy(copy.data(), device, copy.size(), cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < copy.size(); ++i)
    count += copy[i] != host[i];
  return count;
}

int main() {
  const size_t rows = 1000, columns = 776; /* the last blocks are short */
  const mpnum_blockscale_rule rule = MPNUM_BLOCKSCALE_RCEIL;
  const mpnum_blockscale_format format = mpnum_blockscale_mx(MPNUM_TYPE_E4M3, rule);
  std::vector<mpnum_bf16> values(rows * columns), turned(rows * columns);
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c) {
      const float x = static_cast<float>(mpnum_random(1, r * columns + c)) * 0x1p-29f;
      values[r * columns + c] = turned[c * rows + r] = mpnum_f32_to_bf16(x - 4.0f);
    }

  quantised by_row(format, rows, columns), by_column(format, columns, rows);
  mpnum_bf16 *const src = on_device<mpnum_bf16>(values.size());
  unsigned char *const memory[] = {on_device<unsigned char>(by_row.codes.size()),
                                   on_device<unsigned char>(by_row.scales.size()),
                                   on_device<unsigned char>(by_column.codes.size()),
                                   on_device<unsigned char>(by_column.scales.size())};
  stop_on(cudaMemcpy(src, values.data(), values.size() * sizeof *src,
                     cudaMemcpyHostToDevice));
  const mpnum_blockscaled forward = by_row.at(memory[0], memory[1], columns);
  const mpnum_blockscaled backward = by_column.at(memory[2], memory[3], rows);
  const int both =
      MPNUM_QUANTIZE_ROWS | MPNUM_QUANTIZE_COLUMNS | MPNUM_QUANTIZE_TRANSPOSED;
  stop_on(mpnum_launch_quantize_mx<mpnum_e4m3>(
      &forward, &backward, mpnum::matrix_of(src, rows, columns), rule, both, 0));
  stop_on(cudaDeviceSynchronize());

  /* The host reads the transposed matrix for the codes by column. */
  mpnum_const_matrix x =
      mpnum_const_matrix_of(MPNUM_TYPE_BF16, values.data(), rows, columns);
  mpnum_const_matrix x_turned =
      mpnum_const_matrix_of(MPNUM_TYPE_BF16, turned.data(), columns, rows);
  if (mpnum_quantize_blocks(&format,
                            by_row.at(by_row.codes.data(), by_row.scales.data(), columns),
                            x, 0, 0) != MPNUM_OK ||
      mpnum_quantize_blocks(
          &format, by_column.at(by_column.codes.data(), by_column.scales.data(), rows),
          x_turned, 0, 0) != MPNUM_OK)
    return 1;
  const size_t different =
      differences(by_row.codes, memory[0]) + differences(by_row.scales, memory[1]) +
      differences(by_column.codes, memory[2]) + differences(by_column.scales, memory[3]);
  std::printf("%zu x %zu values, %zu bytes of codes and scales, %zu differ from the "
              "host\n",
              rows, columns,
              by_row.codes.size() + by_row.scales.size() + by_column.codes.size() +
                  by_column.scales.size(),
              different);
  cudaFree(src);
  for (unsigned char *one : memory)
    cudaFree(one);
  return different != 0;
}
