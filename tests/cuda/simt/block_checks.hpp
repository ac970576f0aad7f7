/* SPDX-License-Identifier: MIT */
/* For the tests of launchers that make codes with a scale for each block: codes and
 * scales in guarded memory, and a launch beside blockscale.h of the host. */
#ifndef MPNUM_TESTS_BLOCK_CHECKS_HPP
#define MPNUM_TESTS_BLOCK_CHECKS_HPP

#include "quantize_checks.hpp"

namespace {

[[maybe_unused]] constexpr int ROWS = MPNUM_QUANTIZE_ROWS,
                               COLUMNS = MPNUM_QUANTIZE_COLUMNS,
                               TRANSPOSED = COLUMNS | MPNUM_QUANTIZE_TRANSPOSED;
const int every_what[] = {ROWS, COLUMNS, TRANSPOSED, ROWS | COLUMNS, ROWS | TRANSPOSED};

/* Codes and scales of a matrix of blocks in guarded memory. */
struct stored {
  stored(const mpnum_blockscale_format &format, std::size_t rows, std::size_t columns,
         int is_swizzled_, std::size_t at_, std::size_t extra)
      : at(at_), is_swizzled(is_swizzled_) {
    const std::size_t group = mpnum_blockscale_group_(&format);
    stride = (columns + extra + group - 1) / group * group;
    codes.assign(at + rows * stride * static_cast<std::size_t>(format.element_bits) / 8 +
                     guard_size,
                 guard);
    scale_bytes = mpnum_blockscale_scale_bytes(&format, rows, columns, is_swizzled);
    scales.assign(scale_bytes + guard_size, guard);
  }
  mpnum_blockscaled view(float scale = 1) {
    return {codes.data() + at, stride, scales.data(), scale_bytes, is_swizzled, scale};
  }

  std::size_t at, stride = 0, scale_bytes = 0;
  int is_swizzled;
  vector<unsigned char> codes, scales;
};

struct manner {
  int what = ROWS, is_swizzled = 0;
  std::size_t codes_at = 0, extra = 0;
  float scale = 1;
  mpnum_quantize_options random = {0, 0};
  mpnum_rounding rounding = MPNUM_ROUND_STOCHASTIC; /* where it is stochastic */
};

/* Code i of a row that begins at a byte, and bits of one. */
unsigned get_code(const unsigned char *row, std::size_t i, unsigned bits) {
  unsigned pair = row[i * bits / 8];
  if (i * bits % 8 + bits > 8) pair |= static_cast<unsigned>(row[i * bits / 8 + 1]) << 8;
  return pair >> i * bits % 8 & ((1u << bits) - 1);
}
void put_code(unsigned char *row, std::size_t i, unsigned bits, unsigned code) {
  const unsigned ones = ((1u << bits) - 1) << i * bits % 8, word = code << i * bits % 8;
  unsigned char *const at = row + i * bits / 8;
  at[0] = static_cast<unsigned char>((at[0] & ~ones) | word);
  if (ones >> 8) at[1] = static_cast<unsigned char>((at[1] & ~(ones >> 8)) | word >> 8);
}

mpnum_blockscale_format turned(const mpnum_blockscale_format &format) {
  return mpnum_blockscale_transposed(format);
}
template <class T>
void quantize_on_host(const mpnum_blockscale_format &format, stored &to,
                      const matrix<T> &src, const manner &how) {
  const mpnum_status status = mpnum_quantize_blocks(&format, to.view(how.scale),
                                                    src.view(), &how.random, nullptr);
  CHECK(status == MPNUM_OK, "host: %s", mpnum_status_string(status));
}
/* What a launch by column has to give. */
template <class T>
stored expected_by_column(const mpnum_blockscale_format &format, const matrix<T> &src,
                          const manner &how) {
  const bool is_transposed = (how.what & MPNUM_QUANTIZE_TRANSPOSED) != 0;
  const unsigned bits = static_cast<unsigned>(format.element_bits);
  stored across(format, src.columns, src.rows, how.is_swizzled, how.codes_at, how.extra);
  stored lying(turned(format), src.rows, src.columns, how.is_swizzled, how.codes_at,
               how.extra);
  quantize_on_host(turned(format), lying, src, how);
  quantize_on_host(format, across, src.transposed(), how);
  if (!is_transposed) return lying;
  if (mpnum_is_stochastic_(format.rounding)) /* words belong to elements of src */
    for (std::size_t r = 0; r < src.rows; ++r)
      for (std::size_t c = 0; c < src.columns; ++c)
        put_code(across.codes.data() + across.at + c * across.stride * bits / 8, r, bits,
                 get_code(lying.codes.data() + lying.at + r * lying.stride * bits / 8, c,
                          bits));
  return across;
}

/* One launch beside the host. launch(by_row, by_column, src, how). */
template <class T, class Launch>
void check_blocks(const mpnum_blockscale_format &format, const matrix<T> &src,
                  const manner &how, Launch launch) {
  stored rows(format, src.rows, src.columns, how.is_swizzled, how.codes_at, how.extra);
  stored row_codes = rows;
  if (how.what & ROWS) quantize_on_host(format, rows, src, how);
  const stored columns = expected_by_column(format, src, how);
  stored column_codes = columns;
  std::fill(column_codes.codes.begin(), column_codes.codes.end(), guard);
  std::fill(column_codes.scales.begin(), column_codes.scales.end(), guard);
  mpnum_blockscaled by_row = row_codes.view(), by_column = column_codes.view();
  const cudaError_t error =
      LAUNCHED(launch(how.what & ROWS ? &by_row : nullptr,
                      how.what & COLUMNS ? &by_column : nullptr, src, how));
  char text[120];
  std::snprintf(text, sizeof text,
                "%zu x %zu of %zu bytes, stride %zu, what %d, swizzled %d", src.rows,
                src.columns, sizeof(T), src.stride, how.what, how.is_swizzled);
  CHECK(error == cudaSuccess, "%s: %s", text, cudaGetErrorString(error));
  const auto compare = [&](const char *name, const vector<unsigned char> &got,
                           const vector<unsigned char> &want) {
    const auto differs = std::mismatch(want.begin(), want.end(), got.begin());
    CHECK(differs.first == want.end(), "%s: %s, byte %td of %zu is %02x, want %02x", text,
          name, differs.first - want.begin(), want.size(), *differs.second,
          *differs.first);
  };
  compare("codes by row", row_codes.codes, rows.codes);
  compare("scales by row", row_codes.scales, rows.scales);
  if (how.what & COLUMNS) {
    compare("codes by column", column_codes.codes, columns.codes);
    compare("scales by column", column_codes.scales, columns.scales);
  }
}

} // namespace

#endif
