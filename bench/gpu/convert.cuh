/* SPDX-License-Identifier: MIT */
/* The floats that an encoding is checked with: random bit patterns, then what lies at and
 * beside each value of the format and each middle between two. */
#ifndef MPNUM_BENCH_GPU_CONVERT_CUH
#define MPNUM_BENCH_GPU_CONVERT_CUH

#include <mpnum/mpnum.hpp>

enum { GPU_TEST_SEED = 7, GPU_POINTS_PER_CODE = 12 };

/* How an array of T stores values: one each, or several in a group. */
template <class T> struct gpu_storage {
  typedef T element;
  enum { group = 1 };
  static T pack(const T *codes) { return codes[0]; }
  static T unpack(T stored, int) { return stored; }
};
template <> struct gpu_storage<mpnum_e2m1x2> {
  typedef mpnum_e2m1 element;
  enum { group = 2 };
  static mpnum_e2m1x2 pack(const mpnum_e2m1 *c) { return mpnum_pack_e2m1_x2(c[0], c[1]); }
  static mpnum_e2m1 unpack(mpnum_e2m1x2 stored, int index) {
    return mpnum_unpack_e2m1_x2(stored, index);
  }
};
template <> struct gpu_storage<mpnum_e3m2x4> {
  typedef mpnum_e3m2 element;
  enum { group = 4 };
  static mpnum_e3m2x4 pack(const mpnum_e3m2 *c) {
    return mpnum_pack_e3m2_x4(c[0], c[1], c[2], c[3]);
  }
  static mpnum_e3m2 unpack(mpnum_e3m2x4 stored, int index) {
    return mpnum_unpack_e3m2_x4(stored, index);
  }
};
template <> struct gpu_storage<mpnum_e2m3x4> {
  typedef mpnum_e2m3 element;
  enum { group = 4 };
  static mpnum_e2m3x4 pack(const mpnum_e2m3 *c) {
    return mpnum_pack_e2m3_x4(c[0], c[1], c[2], c[3]);
  }
  static mpnum_e2m3 unpack(mpnum_e2m3x4 stored, int index) {
    return mpnum_unpack_e2m3_x4(stored, index);
  }
};

static inline unsigned gpu_code_bits(mpnum_format format) {
  return static_cast<unsigned>(format.sign_bits + format.exponent_bits +
                               format.mantissa_bits);
}

static inline uint64_t gpu_boundary_count(mpnum_type type) {
  return (uint64_t{mpnum_format_of(type).max_code} + 1) * GPU_POINTS_PER_CODE;
}

/* Of each magnitude its value and the middle to the next, each with its two neighbours,
 * of either sign. Past the largest value the grid goes on. */
static inline float gpu_boundary(mpnum_type type, uint64_t index) {
  const mpnum_format format = mpnum_format_of(type);
  const uint32_t code = static_cast<uint32_t>(index / GPU_POINTS_PER_CODE);
  const uint32_t point = static_cast<uint32_t>(index % GPU_POINTS_PER_CODE);
  const uint32_t low = code < format.max_code ? code : code - 1;
  const double here = mpnum_decode_f64(format, code << format.storage_shift);
  const double step = mpnum_decode_f64(format, (low + 1) << format.storage_shift) -
                      mpnum_decode_f64(format, low << format.storage_shift);
  const float value = static_cast<float>(point & 1 ? here + step / 2 : here);
  const uint32_t bits = mpnum_bits_f32(value) + (point >> 1) % 3 - 1;
  return mpnum_from_bits_f32(bits ^ (point < 6 ? 0 : 0x80000000u));
}

/* Number index of the test of a type; those past the boundaries are zero and so do for
 * the last group. */
static inline float gpu_test_float(mpnum_type type, uint64_t index, uint64_t patterns) {
  if (index < patterns) return mpnum_from_bits_f32(mpnum_random(GPU_TEST_SEED, index));
  if (index - patterns < gpu_boundary_count(type))
    return gpu_boundary(type, index - patterns);
  return 0;
}

#endif
