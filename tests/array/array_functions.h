/* SPDX-License-Identifier: MIT */
/* The array functions of the library behind one signature for each kind, so that a test
 * takes them in a loop. They are compiled once for all tests, in array_functions.c or,
 * the functions of func_array.h, in function_arrays.c, and use the instruction set that
 * force_isa names. */
#ifndef MPNUM_TESTS_ARRAY_FUNCTIONS_H
#define MPNUM_TESTS_ARRAY_FUNCTIONS_H

#include <mpnum/simd/isa.h>

#include <stddef.h>

/* One conversion. Elements are words; bits is what one takes in memory, 4 and 6 where
 * they are dense. */
typedef struct array_function {
  const char *name;
  mpnum_type src, dst;
  int src_bits, dst_bits;
  void (*convert)(void *dst, const void *src, size_t n);
  uint32_t (*scalar)(uint64_t element);
} array_function;
extern const array_function array_functions[];
extern const size_t array_function_count;

/* From f32, rounded stochastically. */
typedef struct stochastic_function {
  const char *name;
  mpnum_type dst;
  int dst_bits;
  void (*convert)(void *dst, const void *src, size_t n, uint64_t seed, uint64_t offset);
  uint32_t (*scalar)(float x, uint32_t random);
} stochastic_function;
extern const stochastic_function stochastic_functions[];
extern const size_t stochastic_function_count;

/* mpnum_convert_array, mpnum_convert_array_2d, mpnum_convert_array_formats,
 * mpnum_round_array. */
mpnum_status convert_array(mpnum_type dst_type, void *dst, mpnum_type src_type,
                           const void *src, size_t n, mpnum_rounding rounding,
                           mpnum_overflow overflow, uint64_t seed, uint64_t offset);
mpnum_status convert_array_2d(mpnum_type dst_type, void *dst, size_t dst_stride,
                              mpnum_type src_type, const void *src, size_t src_stride,
                              size_t rows, size_t columns, mpnum_rounding rounding,
                              mpnum_overflow overflow, uint64_t seed, uint64_t offset);
mpnum_status convert_array_formats(mpnum_format dst_format, void *dst,
                                   mpnum_format src_format, const void *src, size_t n,
                                   mpnum_rounding rounding, mpnum_overflow overflow,
                                   uint64_t seed, uint64_t offset);
mpnum_status round_array(float *dst, const float *src, size_t n, mpnum_format format,
                         mpnum_rounding rounding, mpnum_overflow overflow, uint64_t seed,
                         uint64_t offset);

/* What the loops for rows of the table, of 8 bits and fewer, make of any format: of its
 * codes as floats, and of f32, f16 or bf16 as its codes, to nearest. 0 if they do not
 * serve it, and nothing is written. */
int decode_as_row(mpnum_format format, void *dst, const void *src, size_t n);
int encode_as_row(mpnum_format format, mpnum_overflow overflow, void *dst,
                  mpnum_type src_type, const void *src, size_t n);

/* Of all the above. */
mpnum_status force_isa(mpnum_isa isa);
mpnum_isa isa_in_use(void);

#endif
