/* SPDX-License-Identifier: MIT */
/* Vectors of integers for MSVC, whose own have no operators: classes with those of GNU's
 * vectors, as far as the .inc files use them. A number is a vector of that number; a cast
 * from one class to another, to floats and back keeps all bits. */
#ifndef MPNUM_SIMD_DETAIL_VECTOR_CLASS_H
#define MPNUM_SIMD_DETAIL_VECTOR_CLASS_H

#include "../../core/detail/config.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_MSVC_ && MPNUM_HAS_X86_SIMD_

/* A class, the type of its elements, the suffix of their intrinsics and the one of an
 * element for all; of vectors of a size the prefix of intrinsics, their types and the
 * suffix of steps on all bits. */
# define MPNUM_VECTOR_CLASS_(name, element, lane, set1, prefix, type, size)     \
  struct name {                                                                 \
   type##i all;                                                                 \
   name() = default;                                                            \
   __forceinline name(type##i x) : all(x) {}                                    \
   __forceinline explicit name(type x) : all(prefix##_castps_si##size(x)) {}    \
   __forceinline explicit name(type##d x) : all(prefix##_castpd_si##size(x)) {} \
   __forceinline name(element x) : all(set1) {}                                 \
   __forceinline operator type##i() const { return all; }                       \
   __forceinline explicit operator type() const {                               \
    return prefix##_castsi##size##_ps(all);                                     \
   }                                                                            \
   __forceinline explicit operator type##d() const {                            \
    return prefix##_castsi##size##_pd(all);                                     \
   }                                                                            \
   friend __forceinline name operator&(name a, name b) {                        \
    return prefix##_and_si##size(a.all, b.all);                                 \
   }                                                                            \
   friend __forceinline name operator|(name a, name b) {                        \
    return prefix##_or_si##size(a.all, b.all);                                  \
   }                                                                            \
   friend __forceinline name operator^(name a, name b) {                        \
    return prefix##_xor_si##size(a.all, b.all);                                 \
   }                                                                            \
   friend __forceinline name operator~(name a) {                                \
    return prefix##_xor_si##size(a.all, prefix##_set1_epi32(-1));               \
   }                                                                            \
   friend __forceinline name operator+(name a, name b) {                        \
    return prefix##_add_##lane(a.all, b.all);                                   \
   }                                                                            \
   friend __forceinline name operator-(name a, name b) {                        \
    return prefix##_sub_##lane(a.all, b.all);                                   \
   }                                                                            \
   __forceinline name &operator&=(name b) { return *this = *this & b; }         \
   __forceinline name &operator|=(name b) { return *this = *this | b; }         \
   __forceinline name &operator^=(name b) { return *this = *this ^ b; }         \
   __forceinline name &operator+=(name b) { return *this = *this + b; }         \
   __forceinline name &operator-=(name b) { return *this = *this - b; }         \
  };
/* Lanes of 16 bits and more are shifted by one count. */
# define MPNUM_VECTOR_SHIFTS_(name, left, right)                                  \
  MPNUM_FORCED_ name operator<<(name x, int count) { return left(x.all, count); } \
  MPNUM_FORCED_ name operator>>(name x, int count) { return right(x.all, count); }
# define MPNUM_VECTOR_CLASSES_(isa, prefix, type, size)                                 \
  MPNUM_VECTOR_CLASS_(mpnum_vector_##isa##_, uint32_t, epi32,                           \
                      prefix##_set1_epi32((int)x), prefix, type, size)                  \
  MPNUM_VECTOR_CLASS_(mpnum_u16_##isa##_, uint16_t, epi16,                              \
                      prefix##_set1_epi16((short)x), prefix, type, size)                \
  MPNUM_VECTOR_CLASS_(mpnum_bytes_##isa##_, uint8_t, epi8, prefix##_set1_epi8((char)x), \
                      prefix, type, size)                                               \
  MPNUM_VECTOR_SHIFTS_(mpnum_vector_##isa##_, prefix##_slli_epi32, prefix##_srli_epi32) \
  MPNUM_VECTOR_SHIFTS_(mpnum_u16_##isa##_, prefix##_slli_epi16, prefix##_srli_epi16)
/* Lanes of 64 bits, which SSE2 does without. */
# define MPNUM_WIDE_CLASSES_(isa, set1, prefix, type, size)                              \
  MPNUM_VECTOR_CLASS_(mpnum_wide_##isa##_, uint64_t, epi64, set1((long long)x), prefix,  \
                      type, size)                                                        \
  MPNUM_VECTOR_CLASS_(mpnum_signed_wide_##isa##_, int64_t, epi64, set1(x), prefix, type, \
                      size)                                                              \
  MPNUM_VECTOR_SHIFTS_(mpnum_wide_##isa##_, prefix##_slli_epi64, prefix##_srli_epi64)

#endif
MPNUM_C_END_
#endif
