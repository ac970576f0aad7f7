/* SPDX-License-Identifier: MIT */
/* The pass of training/optimizer.cuh on the device: a thread takes four neighbours of a
 * tensor at a time, and asks for all of their arrays before it uses one. */
#ifndef MPNUM_TRAINING_DETAIL_OPTIMIZER_PASS_CUH
#define MPNUM_TRAINING_DETAIL_OPTIMIZER_PASS_CUH

#include "grad_pass.cuh"
#include "optimizer_pass.h"
#include "../../cuda/detail/inverse.cuh"
#include "../optimizer_list.cuh"
MPNUM_C_BEGIN_

template <> struct mpnum_is_zero_first_<mpnum_optimizer_progress> : mpnum_zero_first_ {};

/* Of a multiprocessor: AdamW of floats asks for 48 KiB in three, of some 80 registers. */
enum { MPNUM_OPTIMIZER_BLOCKS_ = 3 };

/* Four neighbours of an array as they lie in memory, or as many of them as there are. */
struct mpnum_optimizer_codes_ {
  uint32_t words[4]; /* a code each, or two or four in one */
  unsigned char *at;
  unsigned size, count; /* bytes of a code; codes: of no array 0 */
  bool is_aligned;      /* known to be, for all of them together */
};

#define MPNUM_DEVICE_ static __device__ __forceinline__

MPNUM_DEVICE_ bool mpnum_optimizer_is_whole_(const mpnum_optimizer_codes_ &codes) {
  return codes.count == 4 &&
         (codes.is_aligned || reinterpret_cast<size_t>(codes.at) % (4 * codes.size) == 0);
}
/* Where four codes are to be, none of them known. */
MPNUM_DEVICE_ mpnum_optimizer_codes_ mpnum_optimizer_codes_at_(
    mpnum_type type, const void *array, uint64_t first, unsigned count, bool is_aligned) {
  mpnum_optimizer_codes_ codes = {{0, 0, 0, 0}, 0, mpnum_grad_size_(type), 0, is_aligned};
  if (!is_aligned && !array) return codes;
  codes.at = static_cast<unsigned char *>(const_cast<void *>(array)) + first * codes.size;
  codes.count = count;
#if MPNUM_ON_DEVICE_ && defined(__CUDACC__) && !defined(__clang__)
  __builtin_assume(__isGlobal(codes.at));
#endif
  return codes;
}
MPNUM_DEVICE_ mpnum_optimizer_codes_ mpnum_optimizer_load_(mpnum_type type,
                                                           const void *array,
                                                           uint64_t first, unsigned count,
                                                           bool is_aligned = false) {
  typedef mpnum_lanes<uint32_t, 4> four;
  typedef mpnum_lanes<uint32_t, 2> two;
  mpnum_optimizer_codes_ codes =
      mpnum_optimizer_codes_at_(type, array, first, count, is_aligned);
  if (!mpnum_optimizer_is_whole_(codes)) {
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 4; ++j) {
      if (j >= codes.count) break;
      if (codes.size == 4)
        codes.words[j] = reinterpret_cast<const uint32_t *>(codes.at)[j];
      else if (codes.size == 2)
        codes.words[j / 2] |=
            static_cast<uint32_t>(reinterpret_cast<const uint16_t *>(codes.at)[j])
            << 16 * (j % 2);
      else
        codes.words[0] |= static_cast<uint32_t>(codes.at[j]) << 8 * j;
    }
  } else if (codes.size == 4) {
    const four words = *reinterpret_cast<const four *>(codes.at);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 4; ++j)
      codes.words[j] = words.at[j];
  } else if (codes.size == 2) {
    const two words = *reinterpret_cast<const two *>(codes.at);
    codes.words[0] = words.at[0];
    codes.words[1] = words.at[1];
  } else {
    codes.words[0] = *reinterpret_cast<const uint32_t *>(codes.at);
  }
  return codes;
}
/* One code each, stored. */
MPNUM_DEVICE_ void mpnum_optimizer_store_(const mpnum_optimizer_codes_ &place,
                                          const uint32_t (&code)[4]) {
  if (!mpnum_optimizer_is_whole_(place)) {
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 4; ++j)
      if (j < place.count) mpnum_grad_set_(place.at, j, place.size, code[j]);
  } else if (place.size == 4) {
    const mpnum_lanes<uint32_t, 4> words = {{code[0], code[1], code[2], code[3]}};
    *reinterpret_cast<mpnum_lanes<uint32_t, 4> *>(place.at) = words;
  } else if (place.size == 2) {
    const mpnum_lanes<uint32_t, 2> words = {
        {code[0] | code[1] << 16, code[2] | code[3] << 16}};
    *reinterpret_cast<mpnum_lanes<uint32_t, 2> *>(place.at) = words;
  } else {
    *reinterpret_cast<uint32_t *>(place.at) =
        code[0] | code[1] << 8 | code[2] << 16 | code[3] << 24;
  }
}

/* As floats. */
template <class T>
MPNUM_DEVICE_ void mpnum_optimizer_floats_of_(float (&x)[4],
                                              const mpnum_optimizer_codes_ &codes) {
  const unsigned bits = 8 * sizeof(T);
  MPNUM_UNROLL_
  for (unsigned j = 0; j < 4; ++j)
    x[j] = mpnum::to_float(mpnum::from_bits<T>(
        codes.words[j * bits / 32] >> j * bits % 32 & ((1u << bits) - 1)));
}
MPNUM_DEVICE_ void mpnum_optimizer_floats_(float (&x)[4], mpnum_type type,
                                           const mpnum_optimizer_codes_ &codes) {
  if (type == MPNUM_TYPE_F32) {
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 4; ++j)
      x[j] = mpnumv_f32_of(codes.words[j]);
  } else if (type == MPNUM_TYPE_BF16) {
    mpnum_optimizer_floats_of_<mpnum_bf16>(x, codes);
  } else if (type == MPNUM_TYPE_F16) {
    mpnum_optimizer_floats_of_<mpnum_f16>(x, codes);
  } else if (type == MPNUM_TYPE_E5M2) {
    mpnum_optimizer_floats_of_<mpnum_e5m2>(x, codes);
  } else {
    mpnum_optimizer_floats_of_<mpnum_e4m3>(x, codes);
  }
}
/* Codes of 16 bits, rounded by random words or to nearest, and what they are. */
template <class T>
MPNUM_DEVICE_ void mpnum_optimizer_codes_of_(uint32_t (&code)[4], float (&x)[4],
                                             bool has_words, const uint32_t (&words)[4]) {
  MPNUM_UNROLL_
  for (unsigned j = 0; j < 4; ++j) {
    const T made = has_words
                       ? mpnum::cast_<T, float>::rounded(x[j], MPNUM_ROUND_STOCHASTIC,
                                                         MPNUM_OVERFLOW_IEEE, words[j])
                       : mpnum::from_float<T>(x[j]);
    code[j] = made.bits;
    x[j] = mpnum::to_float(made);
  }
}
/* Four whole codes of bf16 that no rounding makes Inf, by random words: their upper
 * halves decide. The floats become what is stored. Returns whether that was so. */
MPNUM_DEVICE_ bool mpnum_optimizer_usual_codes_(const mpnum_optimizer_codes_ &place,
                                                float (&x)[4],
                                                const uint32_t (&words)[4]) {
  uint32_t most = 0, code[4];
  MPNUM_UNROLL_
  for (unsigned j = 0; j < 4; ++j)
    most = mpnum::larger_magnitudes_<float>::larger(most, mpnumv_bits_of(x[j]));
  if (most >= 0x7f7f0000u) return false;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < 4; ++j) {
    code[j] = mpnumv_bits_of(x[j]) + (words[j] >> 16);
    x[j] = mpnumv_f32_of(code[j] & 0xffff0000u);
  }
  const mpnum_lanes<uint32_t, 2> both = {
      {code[0] >> 16 | (code[1] & 0xffff0000u), code[2] >> 16 | (code[3] & 0xffff0000u)}};
  *reinterpret_cast<mpnum_lanes<uint32_t, 2> *>(place.at) = both;
  return true;
}
/* Stores four floats, rounded by random words or to nearest; they become what is stored.
 */
MPNUM_DEVICE_ void mpnum_optimizer_round_(mpnum_type type,
                                          const mpnum_optimizer_codes_ &place,
                                          float (&x)[4], bool has_words,
                                          const uint32_t (&words)[4]) {
  uint32_t code[4];
  if (place.is_aligned && type == MPNUM_TYPE_BF16 && has_words &&
      mpnum_optimizer_usual_codes_(place, x, words))
    return;
  if (type == MPNUM_TYPE_F32) {
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 4; ++j)
      code[j] = mpnumv_bits_of(x[j]);
  } else if (type == MPNUM_TYPE_BF16) {
    mpnum_optimizer_codes_of_<mpnum_bf16>(code, x, has_words, words);
  } else {
    mpnum_optimizer_codes_of_<mpnum_f16>(code, x, has_words, words);
  }
  mpnum_optimizer_store_(place, code);
}

/* What the copy of an element loses, as losses count it. */
struct mpnum_optimizer_losses_ {
  uint32_t saturated, underflowed, nonfinite, amax;
};
/* The code of a parameter times the scale. */
MPNUM_DEVICE_ uint32_t mpnum_optimizer_byte_(mpnum_optimizer_losses_ *losses,
                                             mpnum_type type, mpnum_format format,
                                             float x, float scale) {
  const float y = mpnum_mul_scalar_(x, scale);
  const uint32_t magnitude = mpnumv_bits_of(x) & 0x7fffffffu;
  const uint32_t ones = (1u << (format.exponent_bits + format.mantissa_bits)) - 1;
  uint32_t code = 0, plain = 0;
  if (type == MPNUM_TYPE_E4M3) {
    code = mpnum_f32_to_e4m3_sat(y).bits;
    plain = mpnum_f32_to_e4m3(y).bits;
  } else if (type == MPNUM_TYPE_E5M2) {
    code = mpnum_f32_to_e5m2_sat(y).bits;
    plain = mpnum_f32_to_e5m2(y).bits;
  } else {
    const uint32_t tie = mpnum_decode_finite_(format, format.max_code) +
                         (0x00400000u >> format.mantissa_bits);
    const uint32_t size = mpnumv_bits_of(y) & 0x7fffffffu;
    code = mpnum_encode(format, y, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0);
    plain = code + (size > tie || (size == tie && (format.max_code & 1) != 0));
  }
  if (magnitude >= 0x7f800000u) {
    losses->nonfinite += 1;
  } else {

    losses->saturated += plain != code;
    losses->underflowed += magnitude != 0 && (code & ones) == 0;
    losses->amax = magnitude > losses->amax ? magnitude : losses->amax;
  }
  return code;
}
/* Adds what the lanes of a warp counted; all of them call it. */
MPNUM_DEVICE_ void mpnum_optimizer_add_losses_(mpnum_quantize_losses *losses,
                                               mpnum_optimizer_losses_ own) {
  MPNUM_UNROLL_
  for (int step = 16; step > 0; step /= 2) {
    const uint32_t other = __shfl_xor_sync(0xffffffffu, own.amax, step);
    own.saturated += __shfl_xor_sync(0xffffffffu, own.saturated, step);
    own.underflowed += __shfl_xor_sync(0xffffffffu, own.underflowed, step);
    own.nonfinite += __shfl_xor_sync(0xffffffffu, own.nonfinite, step);
    own.amax = other > own.amax ? other : own.amax;
  }
  if (threadIdx.x % 32 != 0) return;
  mpnum_atomic_add_u64_(&losses->saturated, own.saturated);
  mpnum_atomic_add_u64_(&losses->underflowed, own.underflowed);
  mpnum_atomic_add_u64_(&losses->nonfinite, own.nonfinite);
  if (own.amax) mpnum_atomic_amax(&losses->amax, mpnumv_f32_of(own.amax));
}
/* Copies of parameters as they are stored. All lanes of a warp call it. */
MPNUM_DEVICE_ void mpnum_optimizer_copy_(const mpnum_optimizer_tensor &t, uint64_t first,
                                         unsigned count, bool is_aligned,
                                         float (&stored)[4]) {
  const mpnum_optimizer_codes_ place =
      mpnum_optimizer_codes_at_(t.copy_type, t.copy, first, count, is_aligned);
  mpnum_optimizer_losses_ own = {0, 0, 0, 0};
  uint32_t code[4] = {0, 0, 0, 0};
  if (t.copy_type == MPNUM_TYPE_BF16 || t.copy_type == MPNUM_TYPE_F16) {
    mpnum_optimizer_round_(t.copy_type, place, stored, false, code);
    return;
  }
  const mpnum_format format = mpnum_format_of(t.copy_type);
  MPNUM_UNROLL_
  for (unsigned j = 0; j < 4; ++j) {
    mpnum_optimizer_losses_ one = own;
    code[j] = mpnum_optimizer_byte_(&one, t.copy_type, format, stored[j], t.copy_scale);
    if (j < count) own = one;
  }
  mpnum_optimizer_store_(place, code);
  if (t.losses) mpnum_optimizer_add_losses_(t.losses, own);
}

/* Four neighbours of a parameter, and of its remainder, if there is one. */
struct mpnum_parameter_ {
  mpnum_optimizer_codes_ codes, remainder;
};
MPNUM_DEVICE_ mpnum_parameter_ mpnum_parameter_load_(const mpnum_optimizer_tensor &t,
                                                     uint64_t first, unsigned count,
                                                     bool is_aligned = false) {
  const mpnum_parameter_ at = {
      mpnum_optimizer_load_(t.parameter_type, t.parameter, first, count, is_aligned),
      mpnum_optimizer_load_(t.parameter_type, t.remainder, first, count)};
  return at;
}
MPNUM_DEVICE_ void mpnum_parameter_floats_(float (&p)[4], const mpnum_optimizer_tensor &t,
                                           const mpnum_parameter_ &at) {
  mpnum_optimizer_floats_(p, t.parameter_type, at.codes);
  if (t.remainder) {
    float lacks[4];
    mpnum_optimizer_floats_(lacks, t.parameter_type, at.remainder);
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 4; ++j)
      p[j] = mpnum_add_scalar_(p[j], lacks[j]);
  }
}

/* Moments of 8 bits: a block is that of two neighbouring warps. */
enum {
  MPNUM_MOMENT_THREADS_ = MPNUM_OPTIMIZER_BLOCK / 4,
  MPNUM_MOMENT_WARPS_ = MPNUM_MOMENT_THREADS_ / 32
};
/* What the threads of a block share. */
struct mpnum_optimizer_shared_ {
  uint32_t largest[2][MPNUM_LAUNCH_WARPS_]; /* of moments, finite, of each warp */
  alignas(16) mpnum_random_keys_ keys[3];   /* of the seeds of the step */
};
/* The random words of four elements; is_aligned: they are those of one counter. */
MPNUM_DEVICE_ void mpnum_optimizer_words_(uint32_t (&words)[4],
                                          const mpnum_optimizer_progress &progress,
                                          unsigned which, uint64_t index, bool is_aligned,
                                          const mpnum_optimizer_shared_ *shared) {
  if (!is_aligned) {
    mpnum_quantize_words_(words, progress.seeds[which], index);
    return;
  }
  const mpnum_u32x4 four = mpnum_random_by_(shared->keys[which], index / 4);
  words[0] = four.x;
  words[1] = four.y;
  words[2] = four.z;
  words[3] = four.w;
}
/* Back to memory, after a step, with remainders and copies. All lanes of a warp. */
MPNUM_DEVICE_ void mpnum_optimizer_put_(float (&p)[4], bool is_stochastic,
                                        const mpnum_optimizer_progress &progress,
                                        const mpnum_optimizer_tensor &t, uint64_t first,
                                        const mpnum_parameter_ &at,
                                        const mpnum_optimizer_shared_ *shared = 0) {
  const bool has_words = is_stochastic && t.parameter_type != MPNUM_TYPE_F32;
  float lacks[4] = {0, 0, 0, 0};
  uint32_t words[4] = {0, 0, 0, 0};
  if (has_words)
    mpnum_optimizer_words_(words, progress, MPNUM_OPTIMIZER_PARAMETER_WORDS_,
                           t.first + first, at.codes.is_aligned, shared);
  if (t.remainder) {
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 4; ++j)
      lacks[j] = p[j];
  }
  mpnum_optimizer_round_(t.parameter_type, at.codes, p, has_words && !t.remainder, words);
  if (t.remainder) {
    MPNUM_UNROLL_
    for (unsigned j = 0; j < 4; ++j)
      lacks[j] = mpnum_lacks_scalar_(lacks[j], p[j]);
    mpnum_optimizer_round_(t.parameter_type, at.remainder, lacks, has_words, words);
  }
  if (t.copy) mpnum_optimizer_copy_(t, first, at.codes.count, at.codes.is_aligned, p);
}

/* Floats of four codes, and the scale of their block. */
MPNUM_DEVICE_ void mpnum_moment_load_(float (&x)[4], int is_second,
                                      const mpnum_optimizer_codes_ &codes,
                                      const mpnum_e8m0 *scales, uint64_t block) {
  const mpnum_moment_coding_ how =
      mpnum_moment_coding_of_(is_second, codes.count ? scales[block].bits : 0);
  const mpnum_coding_scalar_ coding = mpnum_coding_of_scalar_(&how);
  MPNUM_UNROLL_
  for (unsigned j = 0; j < 4; ++j)
    x[j] = mpnum_moment_of_scalar_(&coding, codes.words[0] >> 8 * j & 0xff);
}
/* The largest finite magnitude of a warp. What is past the end of a tensor is 0. */
MPNUM_DEVICE_ uint32_t mpnum_moment_largest_(const float (&x)[4]) {
  uint32_t largest = 0;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < 4; ++j) {
    const uint32_t magnitude = mpnumv_bits_of(x[j]) & 0x7fffffffu;
    if (magnitude < 0x7f800000u && magnitude > largest) largest = magnitude;
  }
  return mpnum_warp_max_u32_(largest);
}
/* Codes of one moment, by the magnitudes that its warps have found, and the scale. */
MPNUM_DEVICE_ void mpnum_moment_store_(const mpnum_optimizer_codes_ &place, int is_second,
                                       mpnum_e8m0 *scales, uint64_t block,
                                       const float (&x)[4], const uint32_t *largest,
                                       const uint32_t (&words)[4]) {
  uint32_t most = 0, code[4];
  MPNUM_UNROLL_
  for (unsigned i = 0; i < MPNUM_MOMENT_WARPS_; ++i)
    most = largest[i] > most ? largest[i] : most;
  const uint32_t scale = mpnum_moment_scale_(is_second, most);
  const mpnum_moment_coding_ how = mpnum_moment_coding_of_(is_second, scale);
  const mpnum_coding_scalar_ coding = mpnum_coding_of_scalar_(&how);
  MPNUM_UNROLL_
  for (unsigned j = 0; j < 4; ++j)
    code[j] = mpnum_moment_code_scalar_(&coding, x[j], words[j]);
  mpnum_optimizer_store_(place, code);
  if (place.count && threadIdx.x % MPNUM_MOMENT_THREADS_ == 0)
    scales[block].bits = static_cast<uint8_t>(scale);
}
/* Four neighbours of both moments; of one that is not there none. */
struct mpnum_moment_pair_ {
  mpnum_optimizer_codes_ first, second;
};
MPNUM_DEVICE_ void mpnum_optimizer_take_(float (&m)[4], float (&v)[4],
                                         const mpnum_optimizer_tensor &t,
                                         const mpnum_moment_pair_ &both, uint64_t first) {
  if (t.moment_type != MPNUM_TYPE_E4M3) {
    mpnum_optimizer_floats_(m, t.moment_type, both.first);
    mpnum_optimizer_floats_(v, t.moment_type, both.second);
    return;
  }
  mpnum_moment_load_(m, 0, both.first, t.moment1_scales, first / MPNUM_OPTIMIZER_BLOCK);
  mpnum_moment_load_(v, 1, both.second, t.moment2_scales, first / MPNUM_OPTIMIZER_BLOCK);
}
/* Back to memory. All threads of the block; of 8 bits two syncs: before the second all
 * have read their scales. */
MPNUM_DEVICE_ void mpnum_optimizer_keep_(float (&m)[4], float (&v)[4],
                                         const mpnum_optimizer_progress &progress,
                                         const mpnum_optimizer_tensor &t,
                                         const mpnum_moment_pair_ &both, uint64_t first,
                                         mpnum_optimizer_shared_ *shared) {
  const uint64_t index = t.first + first, block = first / MPNUM_OPTIMIZER_BLOCK;
  const bool has_words = t.moment_type != MPNUM_TYPE_F32;
  const unsigned warp = threadIdx.x / 32, begin = warp & ~(MPNUM_MOMENT_WARPS_ - 1u);
  uint32_t words[4] = {0, 0, 0, 0};
  if (both.first.at && has_words)
    mpnum_optimizer_words_(words, progress, MPNUM_OPTIMIZER_MOMENT1_WORDS_, index,
                           both.first.is_aligned, shared);
  if (t.moment_type == MPNUM_TYPE_E4M3) {
    const uint32_t largest1 = mpnum_moment_largest_(m);
    const uint32_t largest2 = mpnum_moment_largest_(v);
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
      shared->largest[0][warp] = largest1;
      shared->largest[1][warp] = largest2;
    }
    __syncthreads();
    mpnum_moment_store_(both.first, 0, t.moment1_scales, block, m,
                        shared->largest[0] + begin, words);
    mpnum_moment_store_(both.second, 1, t.moment2_scales, block, v,
                        shared->largest[1] + begin, words);
    return;
  }
  if (both.first.at)
    mpnum_optimizer_round_(t.moment_type, both.first, m, has_words, words);
  if (both.second.at) {
    if (has_words)
      mpnum_optimizer_words_(words, progress, MPNUM_OPTIMIZER_MOMENT2_WORDS_, index,
                             both.second.is_aligned, shared);
    mpnum_optimizer_round_(t.moment_type, both.second, v, has_words, words);
  }
}

/* x; hosts that stand for a device make NaN the canonical one. */
MPNUM_DEVICE_ float mpnum_canonical_device_(float x) {
#if MPNUM_ON_DEVICE_
  return x;
#else
  return mpnum_canonical_(x);
#endif
}
/* Whether the bits are those of a float from 2^low to 2^high. */
MPNUM_DEVICE_ bool mpnum_is_from_(uint32_t bits, int low, int high) {
  return bits - (static_cast<uint32_t>(127 + low) << 23) <=
         static_cast<uint32_t>(high - low) << 23;
}
/* The step of Adam of four elements, if roots and quotients of all are of numbers that
 * are far from subnormals and Inf; else nothing is changed. */
MPNUM_DEVICE_ bool mpnum_adam_usual_(const mpnum_factors_scalar_ &f, const float (&g)[4],
                                     float (&p)[4], float (&m)[4], float (&v)[4]) {
  float p_next[4], m_next[4], v_next[4];
  bool is_usual = true;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < 4; ++j) {
    const float gradient = mpnum_penalised_scalar_(&f, g[j], p[j]);
    const float moment = mpnum_toward_scalar_(m[j], gradient, f.rest1);
    const float square = mpnum_fma_scalar_(
        f.beta2, v[j], mpnum_mul_scalar_(mpnum_mul_scalar_(f.rest2, gradient), gradient));
    const float root = mpnum_fma_scalar_(mpnum_usual_root_(square), f.inverse, f.epsilon);
    const float change = mpnum_fma_scalar_(
        f.shrink, p[j], mpnum_mul_scalar_(f.rate, mpnum_usual_quotient_(moment, root)));
    const uint32_t of_square = mpnum_bits_f32(square), of_moment = mpnum_bits_f32(moment);
    is_usual = is_usual && (of_square == 0 || mpnum_is_from_(of_square, -100, 100)) &&
               mpnum_is_from_(mpnum_bits_f32(root), -40, 40) &&
               (of_moment == 0 || mpnum_is_from_(of_moment & 0x7fffffffu, -80, 60));
    m_next[j] = moment;
    v_next[j] = square;
    p_next[j] = mpnum_canonical_device_(mpnum_sub_scalar_(p[j], change));
  }
  if (!is_usual) return false;
  MPNUM_UNROLL_
  for (unsigned j = 0; j < 4; ++j) {
    p[j] = p_next[j];
    m[j] = m_next[j];
    v[j] = v_next[j];
  }
  return true;
}

/* One of the steps, of four elements. */
#define MPNUM_OPTIMIZER_FOUR_(name)                    \
 MPNUM_UNROLL_                                         \
 for (unsigned j = 0; j < 4; ++j) {                    \
  mpnum_state_scalar_ state = {p[j], m[j], v[j]};      \
  mpnum_##name##_step_scalar_(&factors, g[j], &state); \
  p[j] = state.parameter;                              \
  m[j] = state.moment1;                                \
  v[j] = state.moment2;                                \
 }
MPNUM_DEVICE_ void mpnum_optimizer_steps_(int32_t step,
                                          const mpnum_factors_scalar_ &factors,
                                          const float (&g)[4], float (&p)[4],
                                          float (&m)[4], float (&v)[4]) {
  switch (step) {
  case MPNUM_OPTIMIZER_STEP_ADAM_: MPNUM_OPTIMIZER_FOUR_(adam) break;
  case MPNUM_OPTIMIZER_STEP_LION_: MPNUM_OPTIMIZER_FOUR_(lion) break;
  case MPNUM_OPTIMIZER_STEP_SGD_: MPNUM_OPTIMIZER_FOUR_(sgd) break;
  case MPNUM_OPTIMIZER_STEP_MOMENTUM_: MPNUM_OPTIMIZER_FOUR_(momentum) break;
  default: MPNUM_OPTIMIZER_FOUR_(nesterov)
  }
}
#undef MPNUM_OPTIMIZER_FOUR_
/* Elements first to first + count of a tensor, 4 at most; 0 where the tensor ends. All
 * threads of the block. */
MPNUM_DEVICE_ void mpnum_optimizer_four_step_(const mpnum_optimizer_list &list,
                                              const mpnum_optimizer_progress &progress,
                                              const mpnum_optimizer_tensor &t,
                                              uint64_t first, unsigned count,
                                              bool is_usual,
                                              mpnum_optimizer_shared_ *shared) {
  const mpnum_factors_scalar_ factors = mpnum_factors_of_scalar_(&progress.factors);
  const int moments = mpnum_optimizer_step_moments_(list.step);
  const mpnum_optimizer_codes_ gradient =
      mpnum_optimizer_load_(t.gradient_type, t.gradient, first, count, is_usual);
  const mpnum_parameter_ at = mpnum_parameter_load_(t, first, count, is_usual);
  const mpnum_moment_pair_ both = {
      mpnum_optimizer_load_(t.moment_type, moments > 0 ? t.moment1 : 0, first, count,
                            is_usual),
      mpnum_optimizer_load_(t.moment_type, moments > 1 ? t.moment2 : 0, first, count,
                            is_usual)};
  float g[4], p[4], m[4], v[4];
  mpnum_parameter_floats_(p, t, at);
  mpnum_optimizer_floats_(g, t.gradient_type, gradient);
  mpnum_optimizer_take_(m, v, t, both, first);
  if (!is_usual || !mpnum_adam_usual_(factors, g, p, m, v))
    mpnum_optimizer_steps_(list.step, factors, g, p, m, v);
  mpnum_optimizer_keep_(m, v, progress, t, both, first, shared);
  mpnum_optimizer_put_(p, list.is_stochastic, progress, t, first, at, shared);
}
/* Whether a tile is whole, of a step of Adam without remainders, and its arrays and
 * random words lie for fours. */
MPNUM_DEVICE_ bool mpnum_optimizer_is_usual_(const mpnum_optimizer_list &list,
                                             const mpnum_optimizer_tensor &t,
                                             uint64_t first) {
  const unsigned g = mpnum_grad_size_(t.gradient_type);
  const unsigned p = mpnum_grad_size_(t.parameter_type);
  const unsigned m = mpnum_grad_size_(t.moment_type);
  const size_t copy = reinterpret_cast<size_t>(t.copy);
  const bool is_aligned =
      ((reinterpret_cast<size_t>(t.gradient) & (4 * g - 1)) |
       (reinterpret_cast<size_t>(t.parameter) & (4 * p - 1)) |
       (reinterpret_cast<size_t>(t.moment1) & (4 * m - 1)) |
       (reinterpret_cast<size_t>(t.moment2) & (4 * m - 1)) | (copy & 7) | (t.first & 3) |
       reinterpret_cast<size_t>(t.remainder)) == 0;
  return is_aligned & (list.step == MPNUM_OPTIMIZER_STEP_ADAM_) &
         (t.n - first >= MPNUM_OPTIMIZER_TILE_) &
         ((copy == 0) | (t.copy_type == MPNUM_TYPE_BF16));
}
/* The step of such a tile, of types that the compiler knows; false of another one. */
template <mpnum_type g, mpnum_type p, mpnum_type m, bool has_copy>
MPNUM_DEVICE_ bool mpnum_optimizer_usual_step_(const mpnum_optimizer_list &list,
                                               const mpnum_optimizer_progress &progress,
                                               const mpnum_optimizer_tensor &t,
                                               uint64_t first,
                                               mpnum_optimizer_shared_ *shared) {
  mpnum_optimizer_list known = list;
  mpnum_optimizer_tensor of = t;
  if (t.gradient_type != g || t.parameter_type != p || t.moment_type != m ||
      (t.copy != 0) != has_copy || (p != MPNUM_TYPE_F32 && !list.is_stochastic))
    return false;
  known.step = MPNUM_OPTIMIZER_STEP_ADAM_;
  known.is_stochastic = p != MPNUM_TYPE_F32;
  of.gradient_type = g;
  of.parameter_type = p;
  of.moment_type = m;
  of.copy_type = MPNUM_TYPE_BF16;
  of.remainder = 0;
  if (!has_copy) of.copy = 0;
  mpnum_optimizer_four_step_(known, progress, of, first, 4, true, shared);
  return true;
}
/* The tiles of this block. All of its threads. */
MPNUM_DEVICE_ void mpnum_optimizer_tiles_(const mpnum_optimizer_list &list,
                                          const mpnum_optimizer_progress &progress,
                                          mpnum_optimizer_shared_ *shared) {
  uint64_t tensor = 0;
  for (unsigned i = threadIdx.x; i < 60; i += blockDim.x)
    shared->keys[i / 20].at[i % 20] = mpnum_random_key_(progress.seeds[i / 20], i % 20);
  __syncthreads();
  MPNUM_NO_UNROLL_
  for (uint64_t tile = blockIdx.x; tile < list.tiles; tile += gridDim.x) {
    tensor = mpnum_list_tensor_at_(list, tile, tensor);
#if MPNUM_DEVICE_ARCH_ && MPNUM_DEVICE_ARCH_ < 800 /* which would spill */
    const mpnum_optimizer_tensor &t = list.tensors[tensor];
#else
    const mpnum_optimizer_tensor t = list.tensors[tensor]; /* all of it at once */
#endif
    const uint64_t begin = (tile - list.tiles_before[tensor]) * MPNUM_OPTIMIZER_TILE_;
    const uint64_t first = begin + 4 * threadIdx.x;
    const uint64_t left = first < t.n ? t.n - first : 0;
    const mpnum_type f32 = MPNUM_TYPE_F32, bf16 = MPNUM_TYPE_BF16;
    if (mpnum_optimizer_is_usual_(list, t, begin) &&
        (mpnum_optimizer_usual_step_<f32, f32, f32, false>(list, progress, t, first,
                                                           shared) ||
         mpnum_optimizer_usual_step_<bf16, f32, f32, true>(list, progress, t, first,
                                                           shared) ||
         mpnum_optimizer_usual_step_<bf16, bf16, bf16, false>(list, progress, t, first,
                                                              shared) ||
         mpnum_optimizer_usual_step_<bf16, bf16, MPNUM_TYPE_E4M3, false>(
             list, progress, t, first, shared)))
      continue;
    mpnum_optimizer_four_step_(list, progress, t, first,
                               left < 4 ? static_cast<unsigned>(left) : 4, false, shared);
  }
}

#undef MPNUM_DEVICE_

MPNUM_C_END_
#endif
