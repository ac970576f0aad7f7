/* SPDX-License-Identifier: MIT */
/* For the tests of kernels of rows: matrices of every type with rows that are ordinary
 * and others that are not. */
#ifndef MPNUM_TESTS_ROW_KERNELS_HPP
#define MPNUM_TESTS_ROW_KERNELS_HPP

#include "simt_checks.hpp"

#include <mpnum/rows/rows.cuh>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace {

const float infinity = std::numeric_limits<float>::infinity();

template <class T> unsigned code_of(T x) { return x.bits; }
inline unsigned code_of(float x) { return mpnum_bits_f32(x); }

struct matrix {
  std::size_t rows, columns, from_stride, to_stride;
};
template <class T> mpnum_matrix to_rows(vector<T> &data, const matrix &shape) {
  mpnum_matrix view =
      mpnum_matrix_of(mpnum::type_of<T>::value, data.data(), shape.rows, shape.columns);
  view.stride = shape.to_stride;
  return view;
}
template <class T>
mpnum_const_matrix of_rows(const vector<T> &data, const matrix &shape) {
  mpnum_const_matrix view = mpnum_const_matrix_of(mpnum::type_of<T>::value, data.data(),
                                                  shape.rows, shape.columns);
  view.stride = shape.from_stride;
  return view;
}
/* And for launchers. */
template <class T> mpnum::matrix<T> view_to(vector<T> &data, const matrix &shape) {
  return mpnum::matrix_of(data.data(), shape.rows, shape.columns, shape.to_stride);
}
template <class T>
mpnum::matrix<const T> view_of(const vector<T> &data, const matrix &shape) {
  return mpnum::matrix_of(data.data(), shape.rows, shape.columns, shape.from_stride);
}
template <class T> vector<T> guarded_rows(const matrix &shape) {
  vector<T> data(shape.rows * shape.to_stride + 1);
  std::memset(static_cast<void *>(data.data()), 0xb5, data.size() * sizeof(T));
  return data;
}

/* Rows with values that are no numbers, or of sizes that are not ordinary; all others are
 * from -8 to 8. Seed 9 has no such rows, from 144 on all elements are one. */
enum : unsigned { of_one_value = 144, values_of_rows = 12 };
static_assert(sizeof uncommon_floats == 4 * values_of_rows, "a seed for each");
inline float element(std::size_t row, std::size_t i, unsigned seed,
                     std::mt19937 &random) {
  const float x = std::ldexp(static_cast<float>(random() % 65536), -12) - 8;
  const bool is_rare = i % 7 == (row + 2) % 7;
  if (seed >= of_one_value)
    return mpnum_from_bits_f32(uncommon_floats[seed % values_of_rows]);
  if (seed == 9) return std::ldexp(std::round(x), -3);
  switch (row % 11) {
  case 1: return is_rare ? mpnum_from_bits_f32(0xffc12345) : x;
  case 2: return i == row % 4 ? infinity : x;
  case 3: return -infinity;
  case 5: return is_rare ? infinity : i % 3 ? -infinity : x;
  case 6: return is_rare ? -infinity : x;
  case 7: return std::ldexp(x, 124);
  case 8: return i % 2 ? -0.0f : 0.0f;
  case 9: return std::ldexp(x, -140);
  case 10: return -3;
  default: return x;
  }
}
template <class T> vector<T> random_rows(const matrix &shape, unsigned seed) {
  std::mt19937 random(seed + static_cast<unsigned>(shape.columns));
  vector<T> data(shape.rows * shape.from_stride + 1);
  for (std::size_t row = 0; row < shape.rows; ++row)
    for (std::size_t i = 0; i < shape.columns; ++i)
      data[row * shape.from_stride + i] =
          mpnum::row_element_<T>::out(element(row, i, seed, random));
  return data;
}

} // namespace

#endif
