/* SPDX-License-Identifier: MIT */
/* For the tests of mpnum/kernels.cuh: the types of arrays, random values of them,
 * and the bytes that guard what is written. TEST_TYPES lists the types of a smaller
 * build; TEST_HALF is 1 or 2 where all pairs take nvcc too long for one program. */
#ifndef MPNUM_TESTS_KERNEL_TYPES_HPP
#define MPNUM_TESTS_KERNEL_TYPES_HPP

#include "simt_checks.hpp"

#include <mpnum/kernels.cuh>

#include <algorithm>
#include <random>

namespace {

constexpr unsigned char guard = 0xb5;
constexpr std::size_t guard_size = 32;

/* An array: units of some bytes, with an element or several in each. */
struct array_type {
  mpnum_type type;
  unsigned count, bytes, alignment;
};
template <class T> struct array_of {
  [[maybe_unused]] static constexpr array_type value = {mpnum::type_of<T>::value, 1,
                                                        sizeof(T), alignof(T)};
};
template <> struct array_of<mpnum_e2m1x2> {
  [[maybe_unused]] static constexpr array_type value = {MPNUM_TYPE_E2M1, 2, 1, 1};
};
template <> struct array_of<mpnum_e3m2x4> {
  [[maybe_unused]] static constexpr array_type value = {MPNUM_TYPE_E3M2, 4, 3, 1};
};
template <> struct array_of<mpnum_e2m3x4> {
  [[maybe_unused]] static constexpr array_type value = {MPNUM_TYPE_E2M3, 4, 3, 1};
};

template <class... T> struct list {};
#ifdef TEST_TYPES
typedef list<TEST_TYPES> types;
#elif defined(TEST_HALF) && TEST_HALF == 1
typedef list<float, double, mpnum_f16, mpnum_bf16, mpnum_e5m2, mpnum_e4m3, mpnum_e2m1x2>
    types;
#elif defined(TEST_HALF)
typedef list<float, mpnum_tf32, mpnum_e5m2fnuz, mpnum_e4m3fnuz, mpnum_e3m4, mpnum_e8m0,
             mpnum_e3m2, mpnum_e2m3, mpnum_e2m1, mpnum_e3m2x4, mpnum_e2m3x4>
    types;
#else
# define STORAGE(name, ...) mpnum_##name,
typedef list < MPNUM_FORMATS(STORAGE)
float, double, mpnum_e2m1x2, mpnum_e3m2x4, mpnum_e2m3x4 > types;
# undef STORAGE
#endif

/* Any code of a small type. Half of the floats are any, half of a size that small types
 * round and do not all lose. */
std::uint64_t random_word(mpnum_type type, std::mt19937 &random) {
  const std::uint64_t word = static_cast<std::uint64_t>(random()) << 32 | random();
  const std::uint64_t exponent = random() % 48;
  const mpnum_format format = mpnum_format_of(type);
  if (type == MPNUM_TYPE_F64 && word % 2)
    return (word & ~(0x7ffull << 52)) | (exponent + 1023 - 30) << 52;
  if (type == MPNUM_TYPE_F64) return word;
  if (type == MPNUM_TYPE_F32 && word % 2)
    return (word & 0x807fffffu) | (exponent + 127 - 30) << 23;
  if (type == MPNUM_TYPE_F32) return word & 0xffffffffu;
  const int bits = format.sign_bits + format.exponent_bits + format.mantissa_bits;
  return (word & ((1u << bits) - 1)) << format.storage_shift;
}

} // namespace

#endif
