/* SPDX-License-Identifier: MIT */
/* The loops behind array.h: what a conversion of an array is, the scalar loop, and the
 * loops of each ISA of the target. */
#ifndef MPNUM_ARRAY_DETAIL_CONVERT_LOOPS_H
#define MPNUM_ARRAY_DETAIL_CONVERT_LOOPS_H

#include "../../simd/detail/codings.h"
#include "../../core/detail/environment.h"
#include "../../simd/isa.h"
/* Here first, outside all conditions, as one file of all headers has it once. */
#include "../../simd/detail/operations.inc"
#include "../../types/f32.h"
#include "../../types/tf32.h"
#include "../../types/bf16.h"
#include "../../types/fp8.h"
#include "../../types/fp6.h"
#include "../../types/fp4.h"
#include "../../types/e8m0.h"
#include "../../core/rng.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

# include <stddef.h>

/* Whether arrays overlap and do not begin together. */
MPNUM_HOST int mpnum_overlaps_in_part_(const void *dst, int dst_bits, const void *src,
                                       int src_bits, size_t n) {
  return dst != src &&
         mpnum_overlap_(dst, n * (size_t)(dst_bits / 8), src, n * (size_t)(src_bits / 8));
}

/* The scalar loops, which are the meaning of all others. */
MPNUM_HOST_INLINE_ uint32_t mpnum_narrow_(mpnum_format format, double x,
                                          mpnum_rounding rounding,
                                          mpnum_overflow overflow, uint32_t random) {
  if (format.mantissa_bits == 23)
    return mpnum_bits_f32(mpnum_f64_to_f32_round(x, rounding, overflow, random));
  return mpnum_encode_f64(format, x, rounding, overflow, random);
}
MPNUM_HOST_INLINE_ uint32_t mpnum_widen_(mpnum_format format, uint64_t element) {
  const uint32_t code = (uint32_t)element;
  return format.mantissa_bits == 23 ? code : mpnum_decode_bits_(format, code);
}
MPNUM_HOST_INLINE_ uint32_t mpnum_convert_one_(const mpnum_conversion_ *conversion,
                                               uint64_t element, uint64_t index) {
  uint32_t code = 0, random = 0;
  if (mpnum_is_stochastic_(conversion->rounding))
    mpnum_random_few_(conversion->seed, conversion->offset + index, (uint8_t *)&random,
                      1);
  if (conversion->src_bits == 64) {
    code = mpnum_narrow_(conversion->dst, mpnum_from_bits_f64(element),
                         conversion->rounding, conversion->overflow, random);
  } else {
    const uint32_t bits = mpnum_widen_(conversion->src, element);
    if (conversion->dst.mantissa_bits == 23) return bits;
    code = mpnum_encode(conversion->dst, mpnum_from_bits_f32(bits), conversion->rounding,
                        conversion->overflow, random);
  }
  return conversion->is_rounding ? mpnum_decode_bits_(conversion->dst, code) : code;
}
/* To f64, exact; f64 to itself is a copy. From the end, so that dst may be src. */
MPNUM_HOST_ONCE_ void mpnum_to_f64_array_(uint8_t *dst, mpnum_type src_type,
                                          const uint8_t *src, size_t n) {
  const int bits = mpnum_type_bits_(src_type);
  mpnum_format format;
  size_t i = n;
  mpnum_format_or_f32_(&format, src_type);
  while (i-- > 0) {
    const uint64_t element = mpnum_element_(bits, src, i);
    uint64_t x = element;
    if (bits < 64) x = mpnum_bits_f64(mpnum_widen_bits_(mpnum_widen_(format, element)));
    MPNUM_MEMCPY_(dst + 8 * i, &x, 8);
  }
}

/* A conversion known at run time only, which no dense one is, and one of floats. */
typedef void mpnum_chunk_(const mpnum_conversion_ *conversion, uint8_t *dst,
                          const uint8_t *src, size_t n);
MPNUM_HOST_INLINE_ void mpnum_convert_all_(const mpnum_conversion_ *conversion,
                                           uint8_t *dst, const uint8_t *src, size_t n) {
  size_t i = 0;
  for (; i < n; ++i)
    mpnum_set_element_(
        conversion->dst_bits, dst, i,
        mpnum_convert_one_(conversion, mpnum_element_(conversion->src_bits, src, i), i));
}
MPNUM_HOST_COLD_ void mpnum_convert_each_(const mpnum_conversion_ *conversion,
                                          uint8_t *dst, const uint8_t *src, size_t n) {
  const mpnum_conversion_ local = *conversion; /* which no store changes */
  mpnum_convert_all_(&local, dst, src, n);
}
MPNUM_HOST_COLD_ void mpnum_convert_each_float_(const mpnum_conversion_ *conversion,
                                                uint8_t *dst, const uint8_t *src,
                                                size_t n) {
  mpnum_conversion_ local = *conversion;
  local.src = mpnum_format_of(MPNUM_TYPE_F32); /* a constant, which folds */
  local.src_bits = 32;
  mpnum_convert_all_(&local, dst, src, n);
}

/* Bytes read and written together from which on stores go past the caches, so that a line
 * is not read before it is overwritten. Measured where a last-level cache has 32 MiB
 * (docs/arrays.md): below, the caches keep most of it and such stores cost up to half the
 * speed; above, they gain up to twice of it. Dense codes of 6 bits end within lines. */
# define MPNUM_NON_TEMPORAL_BYTES_ ((size_t)24 << 20)
/* Bytes of the source that such loops fetch ahead. */
# define MPNUM_AHEAD_ 8192
/* A loop over whole blocks of elements; options are what it needs to know. */
typedef void mpnum_blocks_(const void *options, uint8_t *dst, const uint8_t *src,
                           size_t blocks, int non_temporal);
/* Four vectors of 32-bit lanes. */
MPNUM_HOST_INLINE_ int mpnum_is_512_(mpnum_isa isa) {
  return isa == MPNUM_ISA_AVX512 || isa == MPNUM_ISA_AVX512_VBMI;
}
MPNUM_HOST_INLINE_ size_t mpnum_block_size_(mpnum_isa isa) {
  return mpnum_is_512_(isa) ? 64 : isa == MPNUM_ISA_AVX2 ? 32 : 16;
}
enum { MPNUM_WIDENED_ = 1024 }; /* elements that are copied when they widen in place */
/* Elements from which on flushing is worth its time; those of a function of elements,
 * but for AVX-512. */
enum { MPNUM_FLUSHED_ = 256, MPNUM_FLUSHED_FUNCTION_ = 65 };
# if MPNUM_HAS_VECTORS_
MPNUM_HOST_INLINE_ int mpnum_is_non_temporal_(int dst_bits, int src_bits, const void *dst,
                                              const void *src, size_t n) {
  return (uint64_t)n * (uint64_t)((src_bits + dst_bits) / 4) >=
             MPNUM_NON_TEMPORAL_BYTES_ * 2 &&
         dst_bits != 6 && dst != src && ((size_t)dst & 63) == 0;
}

/* What a loop needs of the floating-point environment: that it is the usual one; that it
 * is this one or, from some elements on, that which flushes; or that too, but subnormals
 * may be flushed to zero, as within a call that flushes. Loops of AVX-512 for conversions
 * have their rounding in the instructions and raise no flag: they need nothing, unless it
 * is flushed for the sake of time. */
typedef enum mpnum_need_ {
  MPNUM_NEEDS_USUAL_,
  MPNUM_HAS_BOTH_,
  MPNUM_MAY_FLUSH_,
  MPNUM_IS_QUIET_
} mpnum_need_;

/* A loop for what fills no block. */
typedef void mpnum_run_rest_(mpnum_blocks_ *run, const void *options, size_t block_bytes,
                             uint8_t *dst, size_t dst_bytes, const uint8_t *src,
                             size_t src_bytes);
# endif

# define MPNUM_EACH_ISA_ "../../array/detail/convert.inc"
# include "../../simd/detail/each_isa.inc"
# if MPNUM_LOOPS_VBMI_
#  include "../../simd/detail/operations.inc"
#  define MPNUM_ISA_HERE_ 3
#  include "../../simd/detail/isa_begin.inc"
#  include "avx512_vbmi.inc"
# endif

# if MPNUM_HAS_VECTORS_
MPNUM_HOST_INLINE_ mpnum_need_ mpnum_need_of_(mpnum_isa isa,
                                              const mpnum_encoding_ *encoding) {
  if (encoding->src_bits == 64) return MPNUM_NEEDS_USUAL_;
  if (encoding->dst_bits > 8) return MPNUM_IS_QUIET_;
  return encoding->src_bits == 16 && mpnum_is_512_(isa) && mpnum_has_u16_(encoding)
             ? MPNUM_IS_QUIET_ /* integers */
             : MPNUM_MAY_FLUSH_;
}
/* Runs a loop over n elements. What does not fill a block is done with the block that
 * ends with it, if there is one; otherwise it is copied to a block. */
MPNUM_HOST_ONCE_ void mpnum_run_many_(mpnum_isa isa, mpnum_blocks_ *run, size_t size,
                                      mpnum_need_ needs, const void *options,
                                      int dst_bits, void *to, int src_bits,
                                      const void *from, size_t n) {
  const size_t rest = n & (size - 1), whole = n - rest;
  const int is_512 = mpnum_is_512_(isa), is_quiet = is_512 && needs >= MPNUM_MAY_FLUSH_;
  const int flushes = needs == MPNUM_HAS_BOTH_
                          ? is_512 || n >= MPNUM_FLUSHED_FUNCTION_
                          : needs == MPNUM_MAY_FLUSH_ && n >= MPNUM_FLUSHED_;
  const int overlaps = whole && rest && dst_bits >= 8 && src_bits >= 8 && to != from;
  uint8_t *dst = (uint8_t *)to;
  const uint8_t *src = (const uint8_t *)from;
  uint64_t saved = 0;
  if (flushes)
    saved = mpnum_fenv_flush_();
  else if (needs <= MPNUM_HAS_BOTH_)
    saved = mpnum_fenv_save_();
  else if (!is_quiet)
    saved = mpnum_fenv_either_();
  if (whole)
    (*run)(options, dst, src, whole / size,
           mpnum_is_non_temporal_(dst_bits, src_bits, dst, src, n));
  if (overlaps) {
    (*run)(options, dst + mpnum_bytes_(dst_bits, n - size),
           src + mpnum_bytes_(src_bits, n - size), 1, 0);
  } else if (rest) {
    (*MPNUM_PICK_(isa, run_rest, SSE2, (mpnum_run_rest_ *)0))(
        run, options, mpnum_bytes_(src_bits, size), dst + mpnum_bytes_(dst_bits, whole),
        mpnum_bytes_(dst_bits, rest), src + mpnum_bytes_(src_bits, whole),
        mpnum_bytes_(src_bits, rest));
  }
  if (flushes)
    mpnum_fenv_unflush_(saved);
  else if (!is_quiet)
    mpnum_fenv_restore_(saved);
}
/* The same. With AVX-512 one block and less go first, as nothing of the environment is
 * needed, but that they be flushed. */
MPNUM_HOST_ONCE_ void mpnum_run_blocks_(mpnum_isa isa, mpnum_blocks_ *run, size_t size,
                                        mpnum_need_ needs, const void *options,
                                        int dst_bits, void *to, int src_bits,
                                        const void *from, size_t n) {
  if (n <= size && needs >= MPNUM_MAY_FLUSH_ && mpnum_is_512_(isa)) {
    const int flushes = needs == MPNUM_MAY_FLUSH_;
    const uint64_t saved = flushes ? mpnum_fenv_flush_() : 0;
    if (n == size)
      (*run)(options, (uint8_t *)to, (const uint8_t *)from, 1, 0);
    else if (n)
      (*MPNUM_PICK_(isa, run_rest, SSE2, (mpnum_run_rest_ *)0))(
          run, options, mpnum_bytes_(src_bits, size), (uint8_t *)to,
          mpnum_bytes_(dst_bits, n), (const uint8_t *)from, mpnum_bytes_(src_bits, n));
    if (flushes) mpnum_fenv_unflush_(saved);
    return;
  }
  mpnum_run_many_(isa, run, size, needs, options, dst_bits, to, src_bits, from, n);
}
/* The same of codes to floats, f16 and bf16, in place, too: from the end then, by way of
 * a copy. */
MPNUM_HOST_COLD_ void mpnum_widen_in_place_(mpnum_isa isa, mpnum_blocks_ *run,
                                            const mpnum_decoding_ *decoding, int dst_bits,
                                            int src_bits, uint8_t *at, size_t n) {
  const size_t size = mpnum_block_size_(isa);
  MPNUM_ALIGNED_ uint8_t copy[2 * MPNUM_WIDENED_];
  while (n != 0) {
    const size_t count = (n - 1) % MPNUM_WIDENED_ + 1;
    n -= count;
    MPNUM_MEMCPY_(copy, at + mpnum_bytes_(src_bits, n), mpnum_bytes_(src_bits, count));
    mpnum_run_blocks_(isa, run, size, MPNUM_IS_QUIET_, decoding, dst_bits,
                      at + mpnum_bytes_(dst_bits, n), src_bits, copy, count);
  }
}
MPNUM_HOST_ONCE_ void mpnum_widen_blocks_(mpnum_isa isa, mpnum_blocks_ *run,
                                          const mpnum_decoding_ *decoding, int dst_bits,
                                          void *to, int src_bits, const void *from,
                                          size_t n) {
  if (to == from && src_bits < dst_bits)
    mpnum_widen_in_place_(isa, run, decoding, dst_bits, src_bits, (uint8_t *)to, n);
  else
    mpnum_run_blocks_(isa, run, mpnum_block_size_(isa), MPNUM_IS_QUIET_, decoding,
                      dst_bits, to, src_bits, from, n);
}
# endif
# define MPNUM_NO_BLOCKS_ ((mpnum_blocks_ *)0)
/* One of two loops by the overflow in their names. */
# define MPNUM_PICK_SAT_(isa, overflow, name, mask)                  \
  ((overflow) == MPNUM_OVERFLOW_SATURATE                             \
       ? MPNUM_PICK_(isa, name##_sat_blocks, mask, MPNUM_NO_BLOCKS_) \
       : MPNUM_PICK_(isa, name##_blocks, mask, MPNUM_NO_BLOCKS_))
/* Calls the loop of the ISA in use, of the scalar ISA, too; where VBMI has its own. */
# define MPNUM_CALL_(loop, arguments)                                        \
  do {                                                                       \
   const mpnum_isa isa_in_use = mpnum_isa_in_use();                          \
   (*MPNUM_PICK_(isa_in_use, loop, SSE2, mpnum_##loop##_scalar_)) arguments; \
  } while (0)
# define MPNUM_CALL_VBMI_(loop, arguments)                                        \
  do {                                                                            \
   const mpnum_isa isa_in_use = mpnum_isa_in_use();                               \
   (*MPNUM_PICK_(isa_in_use, loop, SSE2_VBMI, mpnum_##loop##_scalar_)) arguments; \
  } while (0)

/* What vectors leave: without them a loop that the compiler makes of constant types and
 * overflow, with them a function, which the scalar ISA alone calls. */
# if MPNUM_HAS_VECTORS_
#  define MPNUM_HOST_REST_ MPNUM_HOST_COLD_
# else
#  define MPNUM_HOST_REST_ MPNUM_HOST_INLINE_
# endif
/* Floats to codes, to nearest even, one after the other: eight at a time, as many as
 * dense codes come in. */
MPNUM_HOST_REST_ void mpnum_encode_floats_(mpnum_type type, int dst_bits,
                                           mpnum_overflow overflow, void *to,
                                           const void *from, size_t n) {
  const mpnum_format format = mpnum_format_of(type);
  const int bits = dst_bits < 8 ? 8 : dst_bits;
  const uint8_t *src = (const uint8_t *)from;
  uint8_t *dst = (uint8_t *)to;
  size_t i = 0, k = 0;
  for (; i < n; i += 8) {
    const size_t count = n - i < 8 ? n - i : 8;
    uint8_t codes[8 * 4] = {0};
    for (k = 0; k < count; ++k) {
      const uint32_t x = (uint32_t)mpnum_element_(32, src, i + k);
      mpnum_set_element_(bits, codes, k,
                         mpnum_encode(format, mpnum_from_bits_f32(x),
                                      MPNUM_ROUND_NEAREST_EVEN, overflow, 0));
    }
    if (dst_bits < 8) mpnum_pack_(dst_bits, codes, codes, 8);
    MPNUM_MEMCPY_(dst + i * (size_t)dst_bits / 8, codes, mpnum_bytes_(dst_bits, count));
  }
}
/* Doubles to f32, f16 and bf16. */
MPNUM_HOST_REST_ void mpnum_encode_doubles_(mpnum_type type, int dst_bits,
                                            mpnum_overflow overflow, void *to,
                                            const void *from, size_t n) {
  const mpnum_format format = mpnum_format_of(type);
  size_t i = 0;
  for (; i < n; ++i) {
    const double x = mpnum_from_bits_f64(mpnum_element_(64, (const uint8_t *)from, i));
    mpnum_set_element_(dst_bits, (uint8_t *)to, i,
                       mpnum_narrow_(format, x, MPNUM_ROUND_NEAREST_EVEN, overflow, 0));
  }
}
/* Codes as floats, in the same way, from the end, so that dst may be src. */
MPNUM_HOST_REST_ void mpnum_decode_each_(mpnum_type type, int src_bits, void *to,
                                         const void *from, size_t n) {
  const mpnum_format format = mpnum_format_of(type);
  const int bits = src_bits < 8 ? 8 : src_bits;
  const uint8_t *src = (const uint8_t *)from;
  uint8_t *dst = (uint8_t *)to;
  size_t i = (n + 7) / 8 * 8, k = 0;
  while (i != 0) {
    uint8_t codes[8 * 4] = {0};
    size_t count = 8;
    i -= 8;
    if (n - i < 8) count = n - i;
    MPNUM_MEMCPY_(codes, src + i * (size_t)src_bits / 8, mpnum_bytes_(src_bits, count));
    if (src_bits < 8) mpnum_unpack_(src_bits, codes, codes, 8);
    for (k = 0; k < count; ++k)
      mpnum_set_element_(
          32, dst, i + k,
          mpnum_decode_bits_(format, (uint32_t)mpnum_element_(bits, codes, k)));
  }
}
/* f16 and bf16 to codes. */
MPNUM_HOST_REST_ void mpnum_encode_u16_(mpnum_type src_type, mpnum_type type,
                                        int dst_bits, mpnum_overflow overflow, void *dst,
                                        const void *src, size_t n) {
  float x[64];
  size_t i = 0;
  for (; i < n; i += 64) {
    const size_t count = n - i < 64 ? n - i : 64;
    mpnum_decode_each_(src_type, 16, x, (const uint8_t *)src + 2 * i, count);
    mpnum_encode_floats_(type, dst_bits, overflow,
                         (uint8_t *)dst + i / 8 * (size_t)dst_bits, x, count);
  }
}

/* By a loop over blocks, if there is one: 0 where there is none. Types and overflow are
 * known to the compiler, which makes numbers of them. */
MPNUM_HOST_INLINE_ int mpnum_encode_blocks_(mpnum_isa isa, mpnum_blocks_ *run,
                                            mpnum_type src_type, mpnum_type type,
                                            int dst_bits, mpnum_overflow overflow,
                                            void *dst, const void *src, size_t n) {
# if MPNUM_HAS_VECTORS_
  mpnum_encoding_ encoding = mpnum_encoding_of_type_(type, dst_bits, overflow);
  if (!run || !encoding.has_loop) return 0;
  encoding.src_type = src_type;
  encoding.src_bits = mpnum_type_bits_(src_type);
  mpnum_run_blocks_(isa, run, mpnum_block_size_(isa), mpnum_need_of_(isa, &encoding),
                    &encoding, dst_bits, dst, encoding.src_bits, src, n);
  return 1;
# else
  (void)isa;
  (void)run;
  (void)src_type;
  (void)type;
  (void)dst_bits;
  (void)overflow;
  (void)dst;
  (void)src;
  (void)n;
  return 0;
# endif
}
/* f32 to 8 bits and fewer, where nearest_magnitude serves; to bf16, tf32, f16. */
MPNUM_HOST_INLINE_ void mpnum_encode_bytes_(mpnum_type type, int dst_bits,
                                            mpnum_overflow overflow, void *dst,
                                            const void *src, size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  if (!mpnum_encode_blocks_(
          isa, MPNUM_PICK_(isa, encode_byte_blocks, SSE2_VBMI, MPNUM_NO_BLOCKS_),
          MPNUM_TYPE_F32, type, dst_bits, overflow, dst, src, n))
    mpnum_encode_floats_(type, dst_bits, overflow, dst, src, n);
}
MPNUM_HOST_INLINE_ void mpnum_encode_bf16_(mpnum_overflow overflow, void *dst,
                                           const void *src, size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  if (!mpnum_encode_blocks_(isa, MPNUM_PICK_SAT_(isa, overflow, encode_bf16, SSE2_VBMI),
                            MPNUM_TYPE_F32, MPNUM_TYPE_BF16, 16, overflow, dst, src, n))
    mpnum_encode_floats_(MPNUM_TYPE_BF16, 16, overflow, dst, src, n);
}
MPNUM_HOST_INLINE_ void mpnum_encode_tf32_(mpnum_overflow overflow, void *dst,
                                           const void *src, size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  if (!mpnum_encode_blocks_(isa, MPNUM_PICK_SAT_(isa, overflow, encode_tf32, SSE2),
                            MPNUM_TYPE_F32, MPNUM_TYPE_TF32, 32, overflow, dst, src, n))
    mpnum_encode_floats_(MPNUM_TYPE_TF32, 32, overflow, dst, src, n);
}
MPNUM_HOST_INLINE_ void mpnum_encode_f16_(mpnum_overflow overflow, void *dst,
                                          const void *src, size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  if (!mpnum_encode_blocks_(isa, MPNUM_PICK_SAT_(isa, overflow, encode_f16, SSE2),
                            MPNUM_TYPE_F32, MPNUM_TYPE_F16, 16, overflow, dst, src, n))
    mpnum_encode_floats_(MPNUM_TYPE_F16, 16, overflow, dst, src, n);
}
/* f32 to e8m0; f16 and bf16 to 8 bits and fewer; f64 to f32; f64 to f16 and bf16. */
MPNUM_HOST_INLINE_ void mpnum_encode_e8m0_(mpnum_overflow overflow, void *dst,
                                           const void *src, size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  if (!mpnum_encode_blocks_(isa,
                            MPNUM_PICK_(isa, encode_e8m0_blocks, SSE2, MPNUM_NO_BLOCKS_),
                            MPNUM_TYPE_F32, MPNUM_TYPE_E8M0, 8, overflow, dst, src, n))
    mpnum_encode_floats_(MPNUM_TYPE_E8M0, 8, overflow, dst, src, n);
}
MPNUM_HOST_INLINE_ void mpnum_encode_bytes16_(mpnum_type src_type, mpnum_type type,
                                              int dst_bits, mpnum_overflow overflow,
                                              void *dst, const void *src, size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  if (!mpnum_encode_blocks_(isa,
                            MPNUM_PICK_(isa, encode_u16_blocks, SSE2, MPNUM_NO_BLOCKS_),
                            src_type, type, dst_bits, overflow, dst, src, n))
    mpnum_encode_u16_(src_type, type, dst_bits, overflow, dst, src, n);
}
MPNUM_HOST_INLINE_ void mpnum_encode_f64_f32_(mpnum_overflow overflow, void *dst,
                                              const void *src, size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  if (!mpnum_encode_blocks_(isa, MPNUM_PICK_SAT_(isa, overflow, encode_f64_f32, SSE2),
                            MPNUM_TYPE_F64, MPNUM_TYPE_F32, 32, overflow, dst, src, n))
    mpnum_encode_doubles_(MPNUM_TYPE_F32, 32, overflow, dst, src, n);
}
MPNUM_HOST_INLINE_ void mpnum_encode_f64_16_(mpnum_type type, mpnum_overflow overflow,
                                             void *dst, const void *src, size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  mpnum_blocks_ *const run =
      type == MPNUM_TYPE_F16
          ? MPNUM_PICK_(isa, encode_f64_f16_blocks, SSE2, MPNUM_NO_BLOCKS_)
          : MPNUM_PICK_(isa, encode_f64_bf16_blocks, SSE2, MPNUM_NO_BLOCKS_);
  if (!mpnum_encode_blocks_(isa, run, MPNUM_TYPE_F64, type, 16, overflow, dst, src, n))
    mpnum_encode_doubles_(type, 16, overflow, dst, src, n);
}

/* Codes as floats, by a loop of their own or that of bytes. */
MPNUM_HOST_INLINE_ void mpnum_decode_by_(mpnum_isa isa, mpnum_blocks_ *run, int is_own,
                                         mpnum_type type, int src_bits, void *dst,
                                         const void *src, size_t n) {
# if MPNUM_HAS_VECTORS_
  const mpnum_format format = mpnum_format_of(type);
  const mpnum_decoding_ decoding = mpnum_decoding_of_(format, src_bits);
  if (run && (is_own || mpnum_has_byte_decoding_(format))) {
    mpnum_widen_blocks_(isa, run, &decoding, 32, dst, src_bits, src, n);
    return;
  }
# endif
  (void)isa;
  (void)run;
  (void)is_own;
  mpnum_decode_each_(type, src_bits, dst, src, n);
}
MPNUM_HOST_INLINE_ void mpnum_decode_bytes_(mpnum_type type, int src_bits, void *dst,
                                            const void *src, size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  mpnum_decode_by_(isa, MPNUM_PICK_(isa, decode_byte_blocks, SSE2_VBMI, MPNUM_NO_BLOCKS_),
                   0, type, src_bits, dst, src, n);
}
MPNUM_HOST_INLINE_ void mpnum_decode_e5m2fnuz_(void *dst, const void *src, size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  mpnum_decode_by_(isa,
                   MPNUM_PICK_(isa, decode_e5m2fnuz_blocks, SSE2_VBMI, MPNUM_NO_BLOCKS_),
                   1, MPNUM_TYPE_E5M2FNUZ, 8, dst, src, n);
}
MPNUM_HOST_INLINE_ void mpnum_decode_e8m0_(void *dst, const void *src, size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  mpnum_decode_by_(isa, MPNUM_PICK_(isa, decode_e8m0_blocks, SSE2, MPNUM_NO_BLOCKS_), 1,
                   MPNUM_TYPE_E8M0, 8, dst, src, n);
}
MPNUM_HOST_INLINE_ void mpnum_decode_f16_(void *dst, const void *src, size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  mpnum_decode_by_(isa, MPNUM_PICK_(isa, decode_f16_blocks, SSE2, MPNUM_NO_BLOCKS_), 1,
                   MPNUM_TYPE_F16, 16, dst, src, n);
}
MPNUM_HOST_INLINE_ void mpnum_decode_bf16_(void *dst, const void *src, size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  mpnum_decode_by_(isa, MPNUM_PICK_(isa, decode_bf16_blocks, SSE2, MPNUM_NO_BLOCKS_), 1,
                   MPNUM_TYPE_BF16, 16, dst, src, n);
}
MPNUM_HOST_INLINE_ void mpnum_decode_tf32_(void *dst, const void *src, size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  mpnum_decode_by_(isa, MPNUM_PICK_(isa, decode_tf32_blocks, SSE2, MPNUM_NO_BLOCKS_), 1,
                   MPNUM_TYPE_TF32, 32, dst, src, n);
}

/* Floats of a type, and codes of floats, as functions; and of a type known at run time
 * only, which may be f32, too. */
typedef void mpnum_floats_(float *dst, const void *src, size_t n);
MPNUM_HOST_ONCE_ void mpnum_f16_floats_(float *dst, const void *src, size_t n) {
  mpnum_decode_f16_(dst, src, n);
}
MPNUM_HOST_ONCE_ void mpnum_bf16_floats_(float *dst, const void *src, size_t n) {
  mpnum_decode_bf16_(dst, src, n);
}
/* Of e5m2 and e4m3, one by one where there is SSE2 alone: in loops that do much else,
 * and on CPUs from before 2013. */
MPNUM_HOST_ONCE_ void mpnum_byte_floats_(mpnum_type type, float *dst, const void *src,
                                         size_t n) {
# if MPNUM_HAS_VECTORS_
  const mpnum_isa isa = mpnum_isa_in_use();
  mpnum_blocks_ *const run =
      MPNUM_PICK_(isa, decode_byte_blocks, WIDE_VBMI, MPNUM_NO_BLOCKS_);
  if (run) {
    const mpnum_decoding_ decoding =
        type == MPNUM_TYPE_E5M2 ? mpnum_decoding_of_(mpnum_format_of(MPNUM_TYPE_E5M2), 8)
                                : mpnum_decoding_of_(mpnum_format_of(MPNUM_TYPE_E4M3), 8);
    mpnum_widen_blocks_(isa, run, &decoding, 32, dst, 8, src, n);
    return;
  }
# endif
  mpnum_decode_each_(type, 8, dst, src, n);
}
MPNUM_HOST_ONCE_ void mpnum_byte_codes_(mpnum_type type, void *dst, const float *src,
                                        size_t n) {
# if MPNUM_HAS_VECTORS_
  const mpnum_isa isa = mpnum_isa_in_use();
  mpnum_blocks_ *const run =
      MPNUM_PICK_(isa, encode_byte_blocks, WIDE_VBMI, MPNUM_NO_BLOCKS_);
  if (run) {
    const mpnum_encoding_ encoding =
        type == MPNUM_TYPE_E5M2
            ? mpnum_encoding_of_type_(MPNUM_TYPE_E5M2, 8, MPNUM_OVERFLOW_IEEE)
            : mpnum_encoding_of_type_(MPNUM_TYPE_E4M3, 8, MPNUM_OVERFLOW_IEEE);
    mpnum_run_blocks_(isa, run, mpnum_block_size_(isa), MPNUM_MAY_FLUSH_, &encoding, 8,
                      dst, 32, src, n);
    return;
  }
# endif
  mpnum_encode_floats_(type, 8, MPNUM_OVERFLOW_IEEE, dst, src, n);
}
MPNUM_HOST_ONCE_ void mpnum_e5m2_floats_(float *dst, const void *src, size_t n) {
  mpnum_byte_floats_(MPNUM_TYPE_E5M2, dst, src, n);
}
MPNUM_HOST_ONCE_ void mpnum_e4m3_floats_(float *dst, const void *src, size_t n) {
  mpnum_byte_floats_(MPNUM_TYPE_E4M3, dst, src, n);
}
/* NULL of f32. */
MPNUM_HOST mpnum_floats_ *mpnum_floats_of_(mpnum_type type) {
  switch (type) {
  case MPNUM_TYPE_F16: return mpnum_f16_floats_;
  case MPNUM_TYPE_BF16: return mpnum_bf16_floats_;
  case MPNUM_TYPE_E5M2: return mpnum_e5m2_floats_;
  case MPNUM_TYPE_E4M3: return mpnum_e4m3_floats_;
  default: return 0;
  }
}
MPNUM_HOST void mpnum_floats_from_(mpnum_type type, float *dst, const void *src,
                                   size_t n) {
  mpnum_floats_ *const floats = mpnum_floats_of_(type);
  if (floats) {
    (*floats)(dst, src, n);
  } else if (src != (const void *)dst) {
    MPNUM_MEMCPY_(dst, src, 4 * n);
  }
}
typedef void mpnum_codes_of_(void *dst, const float *src, size_t n);
# define MPNUM_CODES_OF_(name, OVERFLOW, encode)                                       \
  MPNUM_HOST_ONCE_ void mpnum_##name##_codes_(void *dst, const float *src, size_t n) { \
   encode(MPNUM_OVERFLOW_##OVERFLOW, dst, src, n);                                     \
  }
MPNUM_CODES_OF_(f16, IEEE, mpnum_encode_f16_)
MPNUM_CODES_OF_(f16_sat, SATURATE, mpnum_encode_f16_)
MPNUM_CODES_OF_(bf16, IEEE, mpnum_encode_bf16_)
MPNUM_CODES_OF_(bf16_sat, SATURATE, mpnum_encode_bf16_)
# undef MPNUM_CODES_OF_
MPNUM_HOST_ONCE_ void mpnum_floats_to_(mpnum_type type, void *dst, const float *src,
                                       size_t n) {
  switch (type) {
  case MPNUM_TYPE_F16: mpnum_f16_codes_(dst, src, n); break;
  case MPNUM_TYPE_BF16: mpnum_bf16_codes_(dst, src, n); break;
  case MPNUM_TYPE_E5M2:
  case MPNUM_TYPE_E4M3: mpnum_byte_codes_(type, dst, src, n); break;
  default:
    if (dst != (const void *)src) MPNUM_MEMCPY_(dst, src, 4 * n);
    break;
  }
}

/* Whether the loops have vectors for a format: the places of its subnormals are normal
 * floats. Of the types all are; of user-made formats some are not. */
MPNUM_INLINE int mpnum_has_vectors_(mpnum_format format) {
  return format.bias == 127 || format.bias + format.mantissa_bits <= 127;
}

/* The steps of a conversion known at run time only; NULL where there is nothing to do.
 * Floats become codes by a loop over blocks or by one that knows all roundings. */
typedef void mpnum_load_step_(const mpnum_loading_ *loading, uint8_t *dst,
                              const uint8_t *src, size_t n);
typedef void mpnum_random_step_(uint64_t seed, uint64_t start, uint8_t *dst, size_t n);
typedef void mpnum_round_step_(const mpnum_rounder_ *rounder, uint8_t *dst,
                               const uint8_t *src, const uint8_t *random, size_t n);
/* The words of elements index to index + n, and where they begin in a buffer that has
 * room for 132 more. */
MPNUM_HOST_ONCE_ const uint8_t *mpnum_random_words_(uint64_t seed, uint64_t index,
                                                    uint8_t *buffer, size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  mpnum_random_step_ *const random =
      MPNUM_PICK_(isa, random, WIDE, (mpnum_random_step_ *)0);
  const size_t before = (size_t)index & 3; /* words come in fours */
  if (random) {
    (*random)(seed, index - before, buffer, before + n);
  } else {
    mpnum_random_few_(seed, index, buffer + 4 * before, n);
  }
  return buffer + 4 * before;
}
typedef struct mpnum_steps_ {
  mpnum_load_step_ *load;
  mpnum_random_step_ *random;
  mpnum_blocks_ *blocks;
  mpnum_round_step_ *round;
  size_t block;
  mpnum_loading_ loading;
  mpnum_encoding_ encoding; /* for blocks */
  mpnum_rounder_ rounder;
} mpnum_steps_;
/* n: whole blocks. */
MPNUM_HOST_ONCE_ void mpnum_convert_chunk_(const mpnum_steps_ *steps,
                                           const mpnum_conversion_ *conversion,
                                           uint8_t *dst, const uint8_t *src, size_t n) {
  MPNUM_ALIGNED_ uint8_t floats[4 * MPNUM_CONVERTED_];
  MPNUM_ALIGNED_ uint8_t random[4 * (MPNUM_CONVERTED_ + 64)];
  const uint8_t *words = src;
  if (steps->load) {
    uint8_t *const to = steps->blocks || steps->round ? floats : dst;
    (*steps->load)(&steps->loading, to, src, n);
    words = src = to;
  }
  if (steps->random) {
    (*steps->random)(conversion->seed, conversion->offset, random, n);
    if (conversion->rounding != MPNUM_ROUND_STOCHASTIC)
      mpnum_random_by_rounding_(conversion->rounding, random, n);
    words = random;
  }
  if (steps->blocks) (*steps->blocks)(&steps->encoding, dst, src, n / steps->block, 0);
  if (steps->round) (*steps->round)(&steps->rounder, dst, src, words, n);
}
/* Runs them, in whole blocks; stochastic rounding counts elements from conversion.offset,
 * and words come in fours. Without steps, and up to the first four, elements are
 * converted one by one. */
MPNUM_HOST_ONCE_ void mpnum_convert_apart_(const mpnum_steps_ *steps, mpnum_chunk_ *each,
                                           const mpnum_conversion_ *whole, uint8_t *dst,
                                           const uint8_t *src, size_t n) {
  mpnum_conversion_ conversion = *whole;
  const size_t dst_size = (size_t)conversion.dst_bits / 8,
               src_size = (size_t)conversion.src_bits / 8, block = steps->block;
  const int has_steps = steps->load || steps->blocks || steps->round;
  uint8_t in[8 * 64] = {0}, out[4 * 64];
  uint64_t saved;
  size_t count = steps->random ? (size_t)(0 - conversion.offset) & 3 : 0;
  if (!has_steps || count > n) count = n;
  if (count) (*each)(&conversion, dst, src, count);
  if (count == n) return;
  /* to 8 bits: nothing of f32's subnormals is left there */
  saved = steps->blocks && conversion.dst_bits == 8 && n >= MPNUM_FLUSHED_
              ? mpnum_fenv_flush_()
              : mpnum_fenv_save_();
  for (;;) {
    dst += count * dst_size;
    src += count * src_size;
    n -= count;
    conversion.offset += count;
    if (n < block) break;
    count = n < MPNUM_CONVERTED_ ? n - n % block : MPNUM_CONVERTED_;
    mpnum_convert_chunk_(steps, &conversion, dst, src, count);
  }
  if (n) {
    MPNUM_MEMCPY_(in, src, n * src_size);
    mpnum_convert_chunk_(steps, &conversion, out, in, block);
    MPNUM_MEMCPY_(dst, out, n * dst_size);
  }
  mpnum_fenv_restore_(saved);
}
/* The same in place, too: to wider elements from the end, by way of a copy. */
MPNUM_HOST_ONCE_ void mpnum_convert_chunks_(const mpnum_steps_ *steps, mpnum_chunk_ *each,
                                            const mpnum_conversion_ *whole, void *to,
                                            const void *from, size_t n) {
  const size_t dst_size = (size_t)whole->dst_bits / 8;
  const size_t src_size = (size_t)whole->src_bits / 8;
  mpnum_conversion_ conversion = *whole;
  uint8_t *const dst = (uint8_t *)to;
  if (to != from || dst_size <= src_size) {
    mpnum_convert_apart_(steps, each, whole, dst, (const uint8_t *)from, n);
    return;
  }
  while (n != 0) {
    uint8_t copy[2 * MPNUM_WIDENED_];
    const size_t count = (n - 1) % MPNUM_WIDENED_ + 1;
    n -= count;
    MPNUM_MEMCPY_(copy, dst + n * src_size, count * src_size);
    conversion.offset = whole->offset + n;
    mpnum_convert_apart_(steps, each, &conversion, dst + n * dst_size, copy, count);
  }
}
/* The steps from floats on, none for SSE2 but to nearest even and for the leading bits of
 * f32; whoever calls says whether values of bf16 and the like or
 * stochastic rounding may be asked for, and whether results are values, as each has
 * loops of its own. */
MPNUM_HOST_INLINE_ void mpnum_round_steps_of_(mpnum_steps_ *steps, mpnum_isa isa,
                                              const mpnum_conversion_ *conversion,
                                              int may_be_prefix, int is_value,
                                              int may_be_random) {
  steps->load = 0;
  steps->random = 0;
  steps->blocks = 0;
  steps->round = 0;
  steps->block = mpnum_block_size_(isa);
  if (!mpnum_has_vectors_(conversion->dst)) return;
  mpnum_rounder_of_(&steps->rounder, conversion);
  if (is_value) steps->rounder.back = mpnum_any_decoding_of_(conversion->dst);
  if (may_be_random && mpnum_is_stochastic_(conversion->rounding)) {
    steps->random = MPNUM_PICK_(isa, random, WIDE, (mpnum_random_step_ *)0);
    if (!steps->random) return;
  }
  steps->round = is_value ? MPNUM_PICK_(isa, round_values, WIDE, (mpnum_round_step_ *)0)
                          : MPNUM_PICK_(isa, round_floats, WIDE, (mpnum_round_step_ *)0);
  if (steps->rounder.any.has_cut)
    steps->round = is_value ? MPNUM_PICK_(isa, cut_values, WIDE, (mpnum_round_step_ *)0)
                            : MPNUM_PICK_(isa, cut_floats, WIDE, (mpnum_round_step_ *)0);
  if (may_be_prefix && mpnum_has_prefix_loop_(conversion)) {
    steps->rounder.prefix =
        mpnum_prefix_encoding_of_(conversion->dst, conversion->overflow);
    steps->round = MPNUM_PICK_(isa, round_prefixes, SSE2, (mpnum_round_step_ *)0);
  }
  if (is_value && mpnum_has_nearest_value_(conversion)) {
    steps->rounder.nearest =
        mpnum_nearest_value_of_(conversion->dst, conversion->overflow);
    steps->round = MPNUM_PICK_(isa, round_nearest, SSE2, (mpnum_round_step_ *)0);
  }
}
/* A conversion known at run time only, which no dense one is. is_small: to at most 16
 * bits and 7 of exponent, but not f16, from no f64, and not stochastic. */
MPNUM_HOST_INLINE_ void mpnum_convert_by_(const mpnum_conversion_ *conversion,
                                          int is_small, mpnum_chunk_ *each, void *dst,
                                          const void *src, size_t n) {
  const mpnum_isa isa = mpnum_isa_in_use();
  const int is_stochastic = mpnum_is_stochastic_(conversion->rounding);
  const int is_to_f32 = !is_small && conversion->dst.mantissa_bits == 23;
  const int is_f64_to_f32 = conversion->src_bits == 64 && is_to_f32;
  const int is_slow = !mpnum_has_vectors_(conversion->dst) ||
                      !mpnum_has_vectors_(conversion->src) || is_f64_to_f32 ||
                      (conversion->src_bits == 64 && is_stochastic);
  mpnum_steps_ steps;
  if (is_f64_to_f32 && conversion->rounding == MPNUM_ROUND_NEAREST_EVEN) {
    mpnum_encode_f64_f32_(conversion->overflow, dst, src, n);
    return;
  }
  steps.random = 0;
  steps.blocks = 0;
  steps.load = 0;
  steps.round = 0;
  steps.block = mpnum_block_size_(isa);
  if (!is_slow) {
    if (!is_to_f32) {
      mpnum_find_encoding_(&steps.encoding, &conversion->dst, conversion->dst_bits,
                           conversion->overflow);
      if (conversion->dst_bits == 8 &&
          mpnum_has_byte_blocks_(conversion->dst, conversion->rounding,
                                 conversion->overflow)) {
        steps.blocks = MPNUM_PICK_(isa, encode_byte_blocks, SSE2, MPNUM_NO_BLOCKS_);
      } else if (!is_small && conversion->dst_bits == 16 &&
                 mpnum_is_f16_(conversion->dst) &&
                 conversion->dst.nan_policy == MPNUM_NAN_CANONICAL &&
                 conversion->rounding == MPNUM_ROUND_NEAREST_EVEN) {
        steps.blocks = MPNUM_PICK_SAT_(isa, conversion->overflow, encode_f16, SSE2);
      } else {
        mpnum_round_steps_of_(&steps, isa, conversion, !is_small, 0, !is_small);
      }
    }
    if (is_to_f32 ||
        ((steps.blocks || steps.round) &&
         (conversion->src_bits != 32 || conversion->src.mantissa_bits < 23))) {
      steps.loading = mpnum_loading_of_(conversion->src, conversion->src_bits);
      steps.load = MPNUM_PICK_(isa, load_chunk, SSE2, (mpnum_load_step_ *)0);
    }
  }
  mpnum_convert_chunks_(&steps, each, conversion, dst, src, n);
}
MPNUM_HOST_ONCE_ void mpnum_convert_any_(const mpnum_conversion_ *conversion, void *dst,
                                         const void *src, size_t n) {
  mpnum_convert_by_(conversion, 0, mpnum_convert_each_, dst, src, n);
}
MPNUM_HOST_INLINE_ void mpnum_convert_floats_(const mpnum_conversion_ *conversion,
                                              int may_be_prefix, void *dst,
                                              const void *src, size_t n) {
  mpnum_steps_ steps;
  mpnum_round_steps_of_(&steps, mpnum_isa_in_use(), conversion, may_be_prefix,
                        conversion->is_rounding, 1);
  mpnum_convert_chunks_(&steps, mpnum_convert_each_float_, conversion, dst, src, n);
}

/* Types for which none of the loops above serves, from f32 and to f32: a row of the table
 * that is added (tools/wrappers). */
MPNUM_HOST_INLINE_ void mpnum_encode_any_(mpnum_type type, int dst_bits,
                                          mpnum_overflow overflow, void *dst,
                                          const void *src, size_t n) {
  const mpnum_conversion_ conversion = mpnum_conversion_of_(
      mpnum_format_of(MPNUM_TYPE_F32), 32, mpnum_format_of(type), dst_bits, overflow);
  mpnum_convert_any_(&conversion, dst, src, n);
}
MPNUM_HOST_INLINE_ void mpnum_decode_any_(mpnum_type type, int src_bits, void *dst,
                                          const void *src, size_t n) {
  const mpnum_conversion_ conversion =
      mpnum_conversion_of_(mpnum_format_of(type), src_bits,
                           mpnum_format_of(MPNUM_TYPE_F32), 32, MPNUM_OVERFLOW_IEEE);
  mpnum_convert_any_(&conversion, dst, src, n);
}

/* Between types, to nearest even: by the loop of the named function where that is much
 * faster than those of any conversion. 0 where there is none, and nothing is written. */
MPNUM_HOST_ONCE_ int mpnum_convert_nearest_(mpnum_type dst_type, void *dst,
                                            mpnum_type src_type, const void *src,
                                            size_t n,
                                            const mpnum_conversion_ *conversion) {
# if MPNUM_HAS_VECTORS_
  const mpnum_isa isa = mpnum_isa_in_use();
  const mpnum_overflow overflow = conversion->overflow;
  const int dst_bits = conversion->dst_bits, src_bits = conversion->src_bits;
  mpnum_encoding_ encoding;
  mpnum_decoding_ decoding;
  mpnum_blocks_ *run = 0;
  if (src_type == MPNUM_TYPE_F32 && dst_type != MPNUM_TYPE_F32) {
    mpnum_find_encoding_(&encoding, &conversion->dst, dst_bits, overflow);
    if (dst_type == MPNUM_TYPE_F16) {
      run = MPNUM_PICK_SAT_(isa, overflow, encode_f16, SSE2);
    } else if (dst_type == MPNUM_TYPE_BF16) {
      run = MPNUM_PICK_SAT_(isa, overflow, encode_bf16, SSE2_VBMI);
    } else if (mpnum_has_byte_blocks_(conversion->dst, MPNUM_ROUND_NEAREST_EVEN,
                                      overflow) &&
               dst_bits == 8) {
      run = MPNUM_PICK_(isa, encode_byte_blocks, SSE2_VBMI, MPNUM_NO_BLOCKS_);
    }
  } else if (dst_bits == 8 &&
             (src_type == MPNUM_TYPE_F16 || src_type == MPNUM_TYPE_BF16)) {
    mpnum_find_encoding_(&encoding, &conversion->dst, dst_bits, overflow);
    encoding.src_type = src_type;
    encoding.src_bits = src_bits;
    if (mpnum_has_byte_blocks_(conversion->dst, MPNUM_ROUND_NEAREST_EVEN, overflow))
      run = MPNUM_PICK_(isa, encode_u16_blocks, SSE2, MPNUM_NO_BLOCKS_);
  } else if (dst_type == MPNUM_TYPE_F32) {
    if (src_type == MPNUM_TYPE_F16) {
      run = MPNUM_PICK_(isa, decode_f16_blocks, SSE2, MPNUM_NO_BLOCKS_);
    } else if (src_type == MPNUM_TYPE_BF16) {
      run = MPNUM_PICK_(isa, decode_bf16_blocks, SSE2, MPNUM_NO_BLOCKS_);
    } else if (mpnum_has_byte_decoding_(conversion->src)) {
      mpnum_find_decoding_(&decoding, &conversion->src, src_bits);
      run = MPNUM_PICK_(isa, decode_byte_blocks, SSE2_VBMI, MPNUM_NO_BLOCKS_);
    }
    if (run) mpnum_widen_blocks_(isa, run, &decoding, 32, dst, src_bits, src, n);
    return run != 0;
  } else if (dst_bits == 16 && src_bits == 8 &&
             mpnum_has_byte_decoding_(conversion->src)) {
    mpnum_find_decoding_(&decoding, &conversion->src, src_bits);
    decoding.is_to_f16 = dst_type == MPNUM_TYPE_F16;
    if (overflow == MPNUM_OVERFLOW_SATURATE && conversion->src.inf_code)
      decoding.max_of_infinity =
          decoding.is_to_f16 ? 0x477fe000u /* 65504 */ : 0x7f7f0000u;
    run = MPNUM_PICK_(isa, widen_byte_blocks, WIDE_VBMI, MPNUM_NO_BLOCKS_);
    if (run) mpnum_widen_blocks_(isa, run, &decoding, 16, dst, src_bits, src, n);
    return run != 0;
  }
  if (!run) return 0;
  mpnum_run_blocks_(isa, run, mpnum_block_size_(isa), mpnum_need_of_(isa, &encoding),
                    &encoding, dst_bits, dst, src_bits, src, n);
  return 1;
# else
  (void)dst_type;
  (void)dst;
  (void)src_type;
  (void)src;
  (void)n;
  (void)conversion;
  return 0;
# endif
}

#endif
MPNUM_C_END_
#endif
