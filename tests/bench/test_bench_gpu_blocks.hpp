/* SPDX-License-Identifier: MIT */
/* Operands with block scales, byte by byte: a product is the same when both sides shuffle
 * their K alike, so it cannot tell. */
#ifndef MPNUM_TESTS_BENCH_GPU_BLOCKS_HPP
#define MPNUM_TESTS_BENCH_GPU_BLOCKS_HPP

#include <cmath>
#include <vector>

#include "../harness/tap.h"

#include "../../bench/gpu/operand.cuh"

namespace blocks {

typedef std::vector<unsigned char> bytes;

/* Rows of k values, converted. Memory holds 0xa5 before. */
struct converted {
  gpu_operand operand;
  converted(const gpu_operand_format &format, const std::vector<float> &values,
            size_t k) {
    const size_t rows = values.size() / k;
    gpu_operand_make(&operand, rows, k, 1);
    std::memset(operand.by_row.codes.at, 0xa5, values.size() * 2);
    std::memcpy(operand.original.at, values.data(), values.size() * sizeof(float));
    CHECK(format.prepare(&operand) == cudaSuccess &&
              format.convert(&operand, false) == cudaSuccess,
          "%zu rows", rows);
  }
};

inline void check_bytes(const gpu_buffer &got, const bytes &want, const char *what) {
  for (size_t i = 0; i < want.size(); ++i)
    CHECK(got.as<unsigned char>()[i] == want[i], "%s: byte %zu is %02x, not %02x", what,
          i, got.as<unsigned char>()[i], want[i]);
}

inline void nvfp4_codes_lie_low_nibble_first(void) {
  std::vector<float> values = {6, 0.5f,  1,     1.5f,  2,    3, 4,      -6,
                               0, -0.5f, 0.25f, 0.75f, 2.5f, 5, -1.25f, 6};
  values.resize(64);    /* a block of zeros */
  values[32] = 3;       /* scale 0.5 */
  values[33] = -0.5f;   /* -1 times it */
  values[48] = 3000;    /* scale 448, the largest: 6.7 times it */
  values[50] = -672.0f; /* -1.5 times it */
  const converted got(gpu_nvfp4_operand, values, 64);
  bytes codes = {0x17, 0x32, 0x54, 0xf6, 0x90, 0x20, 0x64, 0x7a};
  bytes scales = {0x38, 0, 0x30, 0x7e}; /* 1, 0, 0.5, 448 */
  codes.resize(16);
  codes.insert(codes.end(), {0xa7, 0, 0, 0, 0, 0, 0, 0, 0x07, 0x0b, 0, 0, 0, 0, 0, 0});
  codes.resize(128, 0xa5); /* room for other formats */
  scales.resize(512);      /* a tile */
  check_bytes(got.operand.by_row.codes, codes, "codes");
  check_bytes(got.operand.by_row.scales, scales, "scales");
  CHECK(gpu_nvfp4_operand.decode(codes.data(), 7) == -6, "number 7");
  CHECK(gpu_nvfp4_operand.decode(codes.data(), 8) == 0, "number 8");
  CHECK(gpu_nvfp4_operand.scale(scales.data(), 0, 47, 64) == 0.5f, "number 47");
  CHECK(gpu_nvfp4_operand.scale(scales.data(), 0, 48, 64) == 448, "number 48");
}

/* The first values of rows of a block, their scale and their codes. */
inline void mxfp8_scales_are_those_of_the_ocp(void) {
  const struct {
    float values[2];
    unsigned char scale, codes[2];
  } want[] = {
      {{448, 1}, 0x7f, {0x7e, 0x38}}, /* 2^(8 - 8) */
      {{500, -511}, 0x7f, {0x7e, 0xfe}},
      {{1, -0.5f}, 0x77, {0x78, 0xf0}}, /* 2^-8: 256 and -128 of it */
      {{0, 0}, 0, {0, 0}},
      {{0x1p-130f, 0}, 0, {0x20, 0}}, /* 2^-3 of 2^-127, the smallest */
      {{0, 0x1p127f}, 0xf6, {0, 0x78}},
  };
  const size_t rows = sizeof want / sizeof *want;
  std::vector<float> values(rows * 32);
  bytes codes(rows * 32), scales(512);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < 2; ++i) {
      values[row * 32 + i] = want[row].values[i];
      codes[row * 32 + i] = want[row].codes[i];
    }
    scales[row * 16] = want[row].scale;
  }
  const converted got(gpu_mxfp8_operand, values, 32);
  check_bytes(got.operand.by_row.codes, codes, "codes");
  check_bytes(got.operand.by_row.scales, scales, "scales");
  CHECK(gpu_mxfp8_operand.decode(codes.data(), 1) == 1, "number 1");
  CHECK(gpu_mxfp8_operand.scale(scales.data(), 2, 31, 32) == 0x1p-8f, "row 2");
}

/* Places by the manual: offset 16 * (row % 32) + 4 * (row / 32) + block in a tile of 512,
 * tiles of rows 0 to 127 first. */
inline void scales_lie_in_tiles(void) {
  const struct {
    size_t row, block, place;
  } want[] = {{0, 0, 0},   {1, 0, 16},     {32, 0, 4},     {127, 3, 511},
              {5, 4, 592}, {128, 0, 1024}, {129, 1, 1041}, {129, 4, 1552},
              {96, 2, 14}, {31, 1, 497}};
  for (const gpu_operand_format *format : {&gpu_mxfp8_operand, &gpu_nvfp4_operand}) {
    const size_t k = 5 * format->block;
    std::vector<float> values(130 * k);
    bytes scales(4 * 512);
    for (const auto &at : want) {
      values[at.row * k + (at.block + 1) * format->block - 1] = 6;
      scales[at.place] = format->bits == 4 ? 0x38 : 0x79; /* 1, 2^(2 - 8) */
    }
    const converted got(*format, values, k);
    check_bytes(got.operand.by_row.scales, scales, format->bits == 4 ? "nvfp4" : "mxfp8");
  }
}

} // namespace blocks

#endif
