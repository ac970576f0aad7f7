/* SPDX-License-Identifier: MIT */
/* The compiler's own 16-bit types and those of mpnum: the same bits, either way. Opt-in.
 *
 *     mpnum_f16 code = mpnum_from_float16((_Float16)1.5f);
 *     _Float16 x = mpnum_to_float16(mpnum_f32_to_f16_sat(1e6f));
 *
 *   MPNUM_HAS_FLOAT16   1 where the target has _Float16: gcc 12, clang 15 and newer on
 *                       x86 with SSE2; clang 14 on aarch64
 *   MPNUM_HAS_BFLOAT16  1 where it has __bf16: gcc 13 and clang 15 on x86 with SSE2, gcc
 *                       12 and clang 16 on aarch64; older ones can only move it
 *
 * In C++23 std::float16_t is _Float16 and std::bfloat16_t is __bf16. The move keeps every
 * bit, a signalling NaN's too; with MPNUM_HAS_CONSTEXPR it is a constant expression.
 * Arrays are not copied: array functions take them by a cast (docs/arrays.md). Host only;
 * CUDA's types have cuda/interop.cuh. */
#ifndef MPNUM_TYPES_LANGUAGE_TYPES_H
#define MPNUM_TYPES_LANGUAGE_TYPES_H

#include "bf16.h"
#include "f16.h"
MPNUM_C_BEGIN_

#if defined(__FLT16_MANT_DIG__) && !MPNUM_HAS_CUDA_
# define MPNUM_HAS_FLOAT16 1
#else
# define MPNUM_HAS_FLOAT16 0
#endif

/* clang and gcc 12 have no macro that tells. */
#if MPNUM_HAS_CUDA_
# define MPNUM_HAS_BFLOAT16 0
#elif defined(__BFLT16_MANT_DIG__)
# define MPNUM_HAS_BFLOAT16 1
#elif defined(__clang__) && defined(__SSE2__)
# define MPNUM_HAS_BFLOAT16 (__clang_major__ >= 15)
#elif defined(__clang__) && defined(__aarch64__)
# define MPNUM_HAS_BFLOAT16 (__clang_major__ >= 16)
#elif defined(__GNUC__) && defined(__aarch64__)
# define MPNUM_HAS_BFLOAT16 (__GNUC__ >= 12)
#else
# define MPNUM_HAS_BFLOAT16 0
#endif

/* Both types are extensions in most dialects. */
#define MPNUM_LANGUAGE_ __extension__ MPNUM_INLINE

#if MPNUM_HAS_CONSTEXPR
# define MPNUM_MOVE_(type, name, value) const type name = __builtin_bit_cast(type, value)
#else
# define MPNUM_MOVE_(type, name, value) \
  type name;                            \
  MPNUM_MEMCPY_(&name, &value, sizeof name)
#endif

#if MPNUM_HAS_FLOAT16
/* _Float16, which std::float16_t is, and f16: the same bits. */
MPNUM_LANGUAGE_ mpnum_f16 mpnum_from_float16(_Float16 x) {
  MPNUM_MOVE_(mpnum_f16, y, x);
  return y;
}
MPNUM_LANGUAGE_ _Float16 mpnum_to_float16(mpnum_f16 x) {
  MPNUM_MOVE_(_Float16, y, x);
  return y;
}
#endif

#if MPNUM_HAS_BFLOAT16
/* __bf16, which std::bfloat16_t is, and bf16: the same bits. */
MPNUM_LANGUAGE_ mpnum_bf16 mpnum_from_bfloat16(__bf16 x) {
  MPNUM_MOVE_(mpnum_bf16, y, x);
  return y;
}
MPNUM_LANGUAGE_ __bf16 mpnum_to_bfloat16(mpnum_bf16 x) {
  MPNUM_MOVE_(__bf16, y, x);
  return y;
}
#endif

#undef MPNUM_MOVE_
#undef MPNUM_LANGUAGE_

MPNUM_C_END_
#endif
