/* SPDX-License-Identifier: MIT */
/* The loops behind func_array.h. */
#ifndef MPNUM_FUNC_DETAIL_FUNC_LOOPS_H
#define MPNUM_FUNC_DETAIL_FUNC_LOOPS_H

#include "func_small.h"
#include "../../array/detail/convert_loops.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* A function of floats a (and b, else any floats); n fills vectors. For zeros in a it
 * takes the float zero, unless that is 0. */
typedef void mpnum_f32_loop_(float *dst, const float *a, const float *b, size_t n,
                             mpnum_overflow overflow, uint32_t zero);

/* A public function of arrays of floats. */
typedef void mpnum_array_of_floats_(float *dst, const float *src, size_t n);

/* A function of f16 or bf16. */
typedef struct mpnum_small_function_ {
  mpnum_type type;
  mpnum_format format;
  mpnum_function_ function;
  mpnum_overflow overflow;
  uint32_t zero; /* as above */
} mpnum_small_function_;
/* Its code at a float that the type holds, and at another one. */
typedef uint32_t mpnum_small_code_(mpnum_small_function_ task, uint32_t a, uint32_t b);

/* Elements done at a time, as floats. */
# define MPNUM_CHUNK_ 960

/* is_log: a form that saturates takes the smallest positive argument for a zero. */
MPNUM_INLINE mpnum_small_function_ mpnum_small_function_of_(mpnum_type type,
                                                            mpnum_function_ function,
                                                            mpnum_overflow overflow,
                                                            int is_log) {
  const mpnum_format format = mpnum_format_of(type);
  const int has_zero = is_log && overflow == MPNUM_OVERFLOW_SATURATE;
  const mpnum_small_function_ task = {type, format, function, overflow,
                                      has_zero ? mpnum_decode_bits_(format, 1) : 0};
  return task;
}
/* Ulps that the float functions of two arguments may be off at the values of f16 and
 * bf16, to nearest, but for sums; the tests of these values show that it is enough. */
MPNUM_INLINE uint32_t mpnum_near_ulps_(mpnum_function_ function) {
  return function == MPNUM_FUNCTION_GEGLU_ ? 4 : function == MPNUM_FUNCTION_POW_ ? 1 : 3;
}

MPNUM_HOST_INLINE_ float mpnum_argument_(const float *src, size_t i, uint32_t zero) {
  const uint32_t x = (uint32_t)mpnum_element_(32, (const uint8_t *)src, i);
  return mpnum_from_bits_f32(zero && (x & 0x7fffffffu) == 0 ? zero : x);
}
MPNUM_HOST uint32_t mpnum_decoded16_(mpnum_small_function_ task, const void *src,
                                     size_t i) {
  return mpnum_decode_bits_(task.format,
                            (uint32_t)mpnum_element_(16, (const uint8_t *)src, i));
}
/* As mpnum_function_code_, but without a switch over all functions, of which compilers
 * optimise each before they see that one is called. */
typedef mpnum_wide_ mpnum_wide_function_(mpnum_wide_ x);
MPNUM_HOST_APART_ uint32_t mpnum_wide_code_by_(mpnum_format format,
                                               mpnum_wide_function_ *of, uint32_t x,
                                               mpnum_overflow overflow) {
  return mpnum_code_of_wide_(format, (*of)(mpnum_wide_f32_(x)), overflow);
}
# define MPNUM_CODE_OF_(name, NAME, ...)                                                \
  MPNUM_HOST uint32_t mpnum_##name##_code_(mpnum_small_function_ task, uint32_t a,      \
                                           uint32_t b) {                                \
   uint32_t y, code = 0;                                                                \
   (void)b;                                                                             \
   if (task.zero && (a & 0x7fffffffu) == 0) a = task.zero;                              \
   y = mpnum_bits_f32(mpnum_##name##_scalar_(mpnum_from_bits_f32(a)));                  \
   if (mpnum_float_decides_(task.format, MPNUM_FUNCTION_##NAME##_, a, y, task.overflow, \
                            &code))                                                     \
    return code;                                                                        \
   return mpnum_wide_code_by_(task.format, mpnum_wide_##name##_, a, task.overflow);     \
  }
MPNUM_FUNCTION_ROWS_(MPNUM_CODE_OF_)
# undef MPNUM_CODE_OF_
# define MPNUM_CODE_OF_(name, NAME, ...)                                           \
  MPNUM_HOST uint32_t mpnum_##name##_code_(mpnum_small_function_ task, uint32_t a, \
                                           uint32_t b) {                           \
   return mpnum_function_code_of_two_(task.format, MPNUM_FUNCTION_##NAME##_, a, b, \
                                      task.overflow);                              \
  }
MPNUM_FUNCTION_ROWS_OF_TWO_(MPNUM_CODE_OF_)
# undef MPNUM_CODE_OF_
/* Puts right the codes that differ from those on the other side of the result. */
MPNUM_HOST_ONCE_ void mpnum_put_right_(mpnum_small_function_ task,
                                       mpnum_small_code_ *code, uint8_t *codes,
                                       const uint8_t *others, const float *a,
                                       const float *b, size_t n) {
  size_t k = 0;
  for (; k < n; ++k)
    if (mpnum_element_(16, codes, k) != mpnum_element_(16, others, k))
      mpnum_set_element_(16, codes, k,
                         (*code)(task, mpnum_bits_f32(a[k]), mpnum_bits_f32(b[k])));
}
/* Whether any of 32 differ. (Written out, as gcc unrolls no loop at -O2.) */
MPNUM_HOST_INLINE_ uint64_t mpnum_bits_that_differ_(const uint8_t *a, const uint8_t *b,
                                                    size_t i) {
  return mpnum_element_(64, a, i) ^ mpnum_element_(64, b, i);
}
MPNUM_HOST_INLINE_ int mpnum_any_differs_(const uint8_t *a, const uint8_t *b) {
  return (mpnum_bits_that_differ_(a, b, 0) | mpnum_bits_that_differ_(a, b, 1) |
          mpnum_bits_that_differ_(a, b, 2) | mpnum_bits_that_differ_(a, b, 3) |
          mpnum_bits_that_differ_(a, b, 4) | mpnum_bits_that_differ_(a, b, 5) |
          mpnum_bits_that_differ_(a, b, 6) | mpnum_bits_that_differ_(a, b, 7)) != 0;
}
MPNUM_HOST void mpnum_decide_(mpnum_small_function_ task, mpnum_small_code_ *code,
                              uint8_t *codes, const uint8_t *others, const float *a,
                              const float *b, size_t n) {
  size_t i = 0;
  for (; n - i >= 32; i += 32)
    if (mpnum_any_differs_(codes + 2 * i, others + 2 * i))
      mpnum_put_right_(task, code, codes + 2 * i, others + 2 * i, a + i, b + i, 32);
  mpnum_put_right_(task, code, codes + 2 * i, others + 2 * i, a + i, b + i, n - i);
}

/* Steps of light forms beside the usual ones, by bits: what is above the last magnitude
 * of its row is clamped, subnormals go by integers, and so do results that may be so. */
enum { MPNUM_LIGHT_CLAMPS_ = 1, MPNUM_LIGHT_TINY_ = 2, MPNUM_LIGHT_CLOSES_ = 4 };
typedef struct mpnum_light_ {
  mpnum_small_function_ task;
  mpnum_small_code_ *code;
  mpnum_encoding_ encoding;
  int saturates;
} mpnum_light_;
/* Codes of results that are among so many floats around the middle of two. */
MPNUM_HOST_COLD_ void mpnum_decide_ties_(const mpnum_light_ *light, uint32_t floats,
                                         uint8_t *codes, const uint32_t *x,
                                         const uint32_t *results, size_t n) {
  const uint32_t last = (uint32_t)1 << (23 - light->task.format.mantissa_bits);
  size_t k = 0;
  for (; k < n; ++k)
    if (((results[k] + floats / 2 - last / 2) & (last - 1)) < floats)
      mpnum_set_element_(16, codes, k, (*light->code)(light->task, x[k], 0));
}

/* Of results in high and their arguments x, the floats below and above by what they may
 * be off; n fills vectors. */
typedef void mpnum_bounds_(mpnum_format format, mpnum_function_ function, float *low,
                           float *high, const float *x, const float *second, size_t n);

/* Sines and cosines of floats; n fills vectors. */
typedef void mpnum_sincos_loop_(float *sine, float *cosine, const float *x, size_t n);
/* Of each finite x above 2^20 the turn, in rows of count lanes: x, high, low and
 * quarters. */
MPNUM_HOST_ONCE_ void mpnum_put_far_turns_(uint32_t *lanes, size_t count) {
  size_t i = 0;
  for (; i < count; ++i)
    if (lanes[i] > 0x49800000u && lanes[i] < 0x7f800000u) {
      const mpnum_far_turn_ turn = mpnum_far_turn_of_(lanes[i]);
      lanes[count + i] = turn.high;
      lanes[2 * count + i] = turn.low;
      lanes[3 * count + i] = turn.quarters;
    }
}

# define MPNUM_EACH_ISA_ "../../func/detail/func_loops.inc"
# include "../../simd/detail/each_isa.inc"

/* Whether a loop runs with subnormals flushed to zero, if so many elements do. With
 * AVX-512, whose loops raise no flag, that takes 2 ns; with others 5 to 25. */
# define MPNUM_ROW_(name, NAME, forms, light, f16_ties, bf16_ties, flushes, ...) \
  mpnum_##name##_flushes_ = flushes,
enum { MPNUM_FUNCTION_ROWS_(MPNUM_ROW_) };
# undef MPNUM_ROW_
# define MPNUM_ROW_(name, NAME, forms, flushes) mpnum_##name##_flushes_ = flushes,
enum { MPNUM_FUNCTION_ROWS_OF_TWO_(MPNUM_ROW_) };
# undef MPNUM_ROW_
MPNUM_HOST_INLINE_ int mpnum_flushes_here_(mpnum_isa isa, size_t n) {
  return mpnum_is_512_(isa) || (n >= MPNUM_FLUSHED_FUNCTION_ && isa != MPNUM_ISA_SCALAR);
}
/* Runs such a loop over any number of floats. */
# define MPNUM_RUN_F32_(name, dst, a, b, n, overflow, zero)                   \
  do {                                                                        \
   const mpnum_isa isa_in_use = mpnum_isa_in_use();                           \
   (*MPNUM_PICK_(isa_in_use, run_f32, SSE2, mpnum_run_f32_scalar_))(          \
       MPNUM_PICK_(isa_in_use, name##_f32, SSE2, mpnum_##name##_f32_scalar_), \
       mpnum_##name##_flushes_, dst, a, b, n, overflow, zero);                \
  } while (0)
MPNUM_HOST void mpnum_sincos_f32_(float *sine, float *cosine, const float *src,
                                  size_t n) {
  enum { lanes = 16 };
  const mpnum_isa isa_in_use = mpnum_isa_in_use();
  mpnum_sincos_loop_ *const loop =
      MPNUM_PICK_(isa_in_use, sincos_f32, SSE2, mpnum_sincos_f32_scalar_);
  const size_t rest = n % lanes, whole = n - rest;
  float x[lanes] = {0}, y[lanes], z[lanes];
  const uint64_t saved =
      mpnum_flushes_here_(isa_in_use, n) ? mpnum_fenv_flush_() : mpnum_fenv_save_();
  if (rest) MPNUM_MEMCPY_(x, src + whole, rest * sizeof *x);
  if (whole) (*loop)(sine, cosine, src, whole);
  if (rest) {
    (*loop)(y, z, x, lanes);
    MPNUM_MEMCPY_(sine + whole, y, rest * sizeof *y);
    MPNUM_MEMCPY_(cosine + whole, z, rest * sizeof *z);
  }
  mpnum_fenv_restore_(saved);
}

/* f16 or bf16 of functions of two arguments. */
typedef struct mpnum_small_type_ {
  mpnum_type type;
  mpnum_floats_ *floats;
  mpnum_codes_of_ *codes;
} mpnum_small_type_;
MPNUM_HOST_INLINE_ mpnum_small_type_ mpnum_small_f16_(void) {
  const mpnum_small_type_ type = {MPNUM_TYPE_F16, mpnum_f16_floats_, mpnum_f16_codes_};
  return type;
}
MPNUM_HOST_INLINE_ mpnum_small_type_ mpnum_small_bf16_(void) {
  const mpnum_small_type_ type = {MPNUM_TYPE_BF16, mpnum_bf16_floats_, mpnum_bf16_codes_};
  return type;
}

/* Functions of two arguments, as func_small.h does it: where the floats on both sides
 * have one code, that is it. */
MPNUM_HOST void mpnum_small_chunk_(mpnum_small_function_ task, mpnum_small_type_ type,
                                   mpnum_small_code_ *code, mpnum_f32_loop_ *loop,
                                   mpnum_bounds_ *bounds, uint8_t *dst, const uint8_t *a,
                                   const uint8_t *b, size_t n) {
  MPNUM_ALIGNED_ float x[MPNUM_CHUNK_];
  MPNUM_ALIGNED_ float y[MPNUM_CHUNK_];
  MPNUM_ALIGNED_ float low[MPNUM_CHUNK_];
  MPNUM_ALIGNED_ float high[MPNUM_CHUNK_];
  MPNUM_ALIGNED_ uint8_t others[2 * MPNUM_CHUNK_];

  const size_t filled = n + (0 - n) % 32;
  size_t i = n;
  for (; i < filled; ++i) {
    x[i] = 0;
    y[i] = 0;
  }
  (*type.floats)(x, a, n);
  (*type.floats)(y, b, n);
  (*loop)(high, x, y, filled, MPNUM_OVERFLOW_IEEE, task.zero);
  (*bounds)(task.format, task.function, low, high, x, y, filled);
  (*type.codes)(dst, low, n);
  (*type.codes)(others, high, n);
  mpnum_decide_(task, code, dst, others, x, y, n);
}
/* Without vectors, one element after the other. */
MPNUM_HOST void mpnum_small_each_(mpnum_small_function_ task, mpnum_small_code_ *code,
                                  void *dst, const void *a, const void *b, size_t n) {
  const uint64_t saved = mpnum_fenv_save_();
  size_t i = 0;
  for (; i < n; ++i)
    mpnum_set_element_(
        16, (uint8_t *)dst, i,
        (*code)(task, mpnum_decoded16_(task, a, i), mpnum_decoded16_(task, b, i)));
  mpnum_fenv_restore_(saved);
}
/* A loop over f16 or bf16: where the type is known, so are the numbers of its format. */
MPNUM_HOST_INLINE_ void mpnum_light_array_(mpnum_isa isa, mpnum_type type,
                                           mpnum_function_ function,
                                           mpnum_overflow overflow, int is_log,
                                           mpnum_small_code_ *code, mpnum_blocks_ *loop,
                                           int flushes, void *dst, const void *src,
                                           size_t n) {
  const mpnum_small_function_ task =
      mpnum_small_function_of_(type, function, overflow, is_log);
# if MPNUM_HAS_VECTORS_
  mpnum_light_ light;
  if (loop) {
    light.task = task;
    light.code = code;
    light.encoding = mpnum_encoding_of_type_(type, 16, overflow);
    light.saturates = overflow == MPNUM_OVERFLOW_SATURATE;
    mpnum_run_blocks_(isa, loop, mpnum_block_size_(isa) / 2,
                      flushes ? MPNUM_HAS_BOTH_ : MPNUM_NEEDS_USUAL_, &light, 16, dst, 16,
                      src, n);
    return;
  }
# endif
  (void)isa;
  (void)loop;
  (void)flushes;
  mpnum_small_each_(task, code, dst, src, src, n);
}
# define MPNUM_LIGHT_ARRAY_(T, TYPE)                                                   \
  MPNUM_HOST_ONCE_ void mpnum_light_##T##_array_(                                      \
      mpnum_isa isa, mpnum_function_ function, mpnum_overflow overflow, int is_log,    \
      mpnum_small_code_ *code, mpnum_blocks_ *loop, int flushes, void *dst,            \
      const void *src, size_t n) {                                                     \
   mpnum_light_array_(isa, TYPE, function, overflow, is_log, code, loop, flushes, dst, \
                      src, n);                                                         \
  }
MPNUM_LIGHT_ARRAY_(f16, MPNUM_TYPE_F16)
MPNUM_LIGHT_ARRAY_(bf16, MPNUM_TYPE_BF16)
# undef MPNUM_LIGHT_ARRAY_
/* mpnum_exp_of_f16_(overflow, dst, src, n) and all the others. */
# define MPNUM_LIGHT_ARRAY_(name, function, T, is_log)                             \
  MPNUM_HOST void mpnum_##name##_of_##T##_(mpnum_overflow overflow, void *dst,     \
                                           const void *src, size_t n) {            \
   const mpnum_isa isa = mpnum_isa_in_use();                                       \
   mpnum_light_##T##_array_(isa, function, overflow, is_log, mpnum_##name##_code_, \
                            MPNUM_PICK_(isa, name##_##T, SSE2, MPNUM_NO_BLOCKS_),  \
                            mpnum_##name##_flushes_, dst, src, n);                 \
  }
# define MPNUM_ROW_(name, NAME, forms, ...)                                        \
  MPNUM_LIGHT_ARRAY_(name, MPNUM_FUNCTION_##NAME##_, f16, MPNUM_IS_LOG_##forms##_) \
  MPNUM_LIGHT_ARRAY_(name, MPNUM_FUNCTION_##NAME##_, bf16, MPNUM_IS_LOG_##forms##_)
MPNUM_FUNCTION_ROWS_(MPNUM_ROW_)
# undef MPNUM_ROW_
# undef MPNUM_LIGHT_ARRAY_
MPNUM_HOST void mpnum_small_array_(mpnum_isa isa, mpnum_small_function_ task,
                                   mpnum_small_type_ type, mpnum_small_code_ *code,
                                   mpnum_f32_loop_ *loop, mpnum_bounds_ *bounds,
                                   int flushes, void *to, const void *from,
                                   const void *second, size_t n) {
  uint8_t *dst = (uint8_t *)to;
  const uint8_t *a = (const uint8_t *)from, *b = (const uint8_t *)second;
  uint64_t saved;
  size_t i = 0;
  if (!loop) {
    mpnum_small_each_(task, code, dst, a, b, n);
    return;
  }
  saved =
      flushes && mpnum_flushes_here_(isa, n) ? mpnum_fenv_flush_() : mpnum_fenv_save_();
  for (; i < n; i += MPNUM_CHUNK_)
    mpnum_small_chunk_(task, type, code, loop, bounds, dst + 2 * i, a + 2 * i, b + 2 * i,
                       n - i < MPNUM_CHUNK_ ? n - i : MPNUM_CHUNK_);
  mpnum_fenv_restore_(saved);
}
# define MPNUM_ROW_(name, NAME, ...)                                                   \
  MPNUM_HOST void mpnum_##name##_16_(mpnum_small_type_ type, void *dst, const void *a, \
                                     const void *b, size_t n) {                        \
   const mpnum_isa isa = mpnum_isa_in_use();                                           \
   mpnum_small_array_(isa,                                                             \
                      mpnum_small_function_of_(type.type, MPNUM_FUNCTION_##NAME##_,    \
                                               MPNUM_OVERFLOW_IEEE, 0),                \
                      type, mpnum_##name##_code_,                                      \
                      MPNUM_PICK_(isa, name##_f32, SSE2, (mpnum_f32_loop_ *)0),        \
                      MPNUM_PICK_(isa, bounds, SSE2, (mpnum_bounds_ *)0),              \
                      mpnum_##name##_flushes_, dst, a, b, n);                          \
  }
MPNUM_FUNCTION_ROWS_OF_TWO_(MPNUM_ROW_)
# undef MPNUM_ROW_
/* By way of memory, as either result may take the place of src. */
# define MPNUM_SINCOS_ARRAY_(T)                                                     \
  MPNUM_HOST void mpnum_sincos_of_##T##_(void *sine, void *cosine, const void *src, \
                                         size_t n) {                                \
   uint8_t cosines[2 * MPNUM_CHUNK_];                                               \
   size_t i = 0;                                                                    \
   for (; i < n; i += MPNUM_CHUNK_) {                                               \
    const size_t some = n - i < MPNUM_CHUNK_ ? n - i : MPNUM_CHUNK_;                \
    const uint8_t *x = (const uint8_t *)src + 2 * i;                                \
    mpnum_cos_of_##T##_(MPNUM_OVERFLOW_IEEE, cosines, x, some);                     \
    mpnum_sin_of_##T##_(MPNUM_OVERFLOW_IEEE, (uint8_t *)sine + 2 * i, x, some);     \
    MPNUM_MEMCPY_((uint8_t *)cosine + 2 * i, cosines, 2 * some);                    \
   }                                                                                \
  }
MPNUM_SINCOS_ARRAY_(f16)
MPNUM_SINCOS_ARRAY_(bf16)
# undef MPNUM_SINCOS_ARRAY_

#endif
MPNUM_C_END_
#endif
