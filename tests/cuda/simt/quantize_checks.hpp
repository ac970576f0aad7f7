/* SPDX-License-Identifier: MIT */
/* For the tests of quantisers: matrices of values of all kinds at any place. */
#ifndef MPNUM_TESTS_QUANTIZE_CHECKS_HPP
#define MPNUM_TESTS_QUANTIZE_CHECKS_HPP

/* The host's bits are those of its scalar loops, which compile faster. */
#define MPNUM_NO_SIMD 1

#include "simt_checks.hpp"

#include "../../harness/must.h"

#include <mpnum/kernels.cuh>

namespace {
[[maybe_unused]] float finite_amax(mpnum_const_matrix src) {
  float amax = -1;
  must(mpnum_finite_amax_rows(&amax, src));
  return amax;
}
} // namespace

#include <algorithm>
#include <cstring>
#include <random>

namespace {

constexpr unsigned char guard = 0xb5;
constexpr std::size_t guard_size = 32;

template <class T> T rounded(float x) { return mpnum::from_float<T>(x); }
template <> inline float rounded<float>(float x) { return x; }
template <class T> T rounded_sat(float x) { return mpnum::from_float_sat<T>(x); }
template <> inline float rounded_sat<float>(float x) { return x; }

/* Runs of 16 elements of a kind each: of one size, of all sizes, zeros, subnormal, of the
 * largest; some with an Inf or a NaN. */
inline float value_of(unsigned kind, std::mt19937 &random) {
  const std::uint32_t word = static_cast<std::uint32_t>(random());
  switch (kind % 16) {
  case 0: return mpnum_from_bits_f32(word & 0x80000000u);
  case 1: return mpnum_from_bits_f32(word & 0x803fffffu);
  case 2: return mpnum_from_bits_f32((word & 0x80ffffffu) | 0x7e000000u);
  case 3: return mpnum_from_bits_f32(word % 8 ? word & 0xbfffffffu : 0x7f7fffffu);
  case 4: return mpnum_from_bits_f32(word % 8 ? word & 0xbfffffffu : 0xff800000u);
  case 5: return mpnum_from_bits_f32(word % 8 ? word & 0xbfffffffu : 0x7fa00001u);
  case 6: /* around ties: few bits */
    return static_cast<float>(static_cast<int>(word % 129) - 64) / 16;
  default: /* of one size */
    return mpnum_from_bits_f32((word & 0x81ffffffu) | (100 + kind / 16 % 16 * 3) << 23);
  }
}

template <class T> struct matrix {
  matrix(std::size_t rows_, std::size_t columns_, std::size_t extra, unsigned seed,
         std::size_t at_ = 0)
      : rows(rows_), columns(columns_), stride(columns_ + extra), at(at_),
        values(at_ + rows_ * stride) {
    std::mt19937 random(seed);
    unsigned kind = 0, left = 0;
    for (T &value : values) {
      if (left == 0) {
        kind = static_cast<unsigned>(random() >> 8);
        left = 1 + static_cast<unsigned>(random() % 40);
      }
      --left;
      value = rounded<T>(value_of(kind, random));
    }
  }
  /* All elements are the one of these bits, or the nearest that the type has. */
  void fill(std::uint32_t bits) {
    const float x = mpnum_from_bits_f32(bits);
    std::fill(values.begin(), values.end(),
              mpnum_isfinite_f32(x) ? rounded_sat<T>(x) : rounded<T>(x));
  }
  const T *begin() const { return values.data() + at; }
  mpnum_const_matrix view() const {
    mpnum_const_matrix made =
        mpnum_const_matrix_of(mpnum::type_of<T>::value, begin(), rows, columns);
    made.stride = stride;
    return made;
  }
  matrix transposed() const {
    matrix made(columns, rows, 0, 0);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c)
        made.values[c * rows + r] = begin()[r * stride + c];
    return made;
  }

  std::size_t rows, columns, stride, at;
  vector<T> values;
};

} // namespace

#endif
