/* SPDX-License-Identifier: MIT */
/* Units of hardware that add products up, by name, and the matrices that they multiply:
 * what product.h takes. What each number was taken from: docs/product.md. */
#ifndef MPNUM_HARDWARE_PRODUCT_UNIT_H
#define MPNUM_HARDWARE_PRODUCT_UNIT_H

#include "../array/matrix.h"
#include "../blocks/blockscale_format.h"
MPNUM_C_BEGIN_

#if !MPNUM_NO_STDINT

/* How a unit adds products up. mpnum_product_unit_of has those of hardware; members may
 * be changed. All zeros is no unit. */
typedef struct mpnum_product_unit {
  uint32_t types;     /* bit t: elements of mpnum_type t; bit 0: others, of blocks */
  mpnum_type sum;     /* type of the sum so far: F64, F32 or F16 */
  int products;       /* are added at once: 1 to 64; 0: all of them */
  int bits;           /* kept behind the point of the largest exponent, 1 to 40; -1: all;
                         0: products and sums are rounded one by one, as a tree */
  int kept;           /* bits of the sum's mantissa, behind its first one */
  int is_nearest;     /* 1: a sum is rounded to nearest even, 0: toward zero */
  int least;          /* the least exponent that terms are aligned to */
  int run;            /* elements in turn to one and another of two steps; 0: one step */
  int joins;          /* the sum so far: 0 with the products; 1 afterwards; 2 as
                         AMD's, aligned to the sum of products, toward minus infinity */
  int is_fused;       /* 1: a product is not rounded before it is added (bits 0) */
  int is_flushed;     /* 1: subnormal elements and sums are 0 (bits 0) */
  int scales;         /* of blocks: 0 outside, in f32, block by block; 1 of powers of two,
                         with exponents; 2 as tcgen05 has them of e2m1 */
  uint64_t promotion; /* after so many products the sum is added to one in f32; 0: none */
} mpnum_product_unit;

#endif
#if MPNUM_HAS_ARRAYS_

# define MPNUM_TAKES_(type) (1u << (int)MPNUM_TYPE_##type)
/* Any but f64, any, and those of 8 bits. */
# define MPNUM_TAKES_FLOATS_ (0x1ffffu & ~MPNUM_TAKES_(F64))
# define MPNUM_TAKES_ALL_    0x1ffffu
# define MPNUM_TAKES_FP8_    (MPNUM_TAKES_(E4M3) | MPNUM_TAKES_(E5M2))
# define MPNUM_TAKES_NARROW_ \
  (MPNUM_TAKES_FP8_ | MPNUM_TAKES_(E3M2) | MPNUM_TAKES_(E2M3) | MPNUM_TAKES_(E2M1))

typedef struct mpnum_named_unit_ {
  const char *name;
  mpnum_product_unit unit;
} mpnum_named_unit_;

/* ROW(name, types, sum, products, bits, kept, is_nearest, least, run, joins, is_fused,
 * is_flushed, scales) */
# define MPNUM_PRODUCT_UNITS_(ROW)                                                      \
  ROW("exact", MPNUM_TAKES_FLOATS_, F64, 0, -1, 52, 1, 0, 0, 0, 0, 0, 0)                \
  ROW("f64", MPNUM_TAKES_ALL_, F64, 1, 0, 52, 1, 0, 0, 0, 0, 0, 0)                      \
  ROW("f32", MPNUM_TAKES_FLOATS_, F32, 1, 0, 23, 1, 0, 0, 0, 0, 0, 0)                   \
  ROW("f32.fma", MPNUM_TAKES_FLOATS_, F32, 1, 0, 23, 1, 0, 0, 0, 1, 0, 0)               \
  ROW("f32.pairwise", MPNUM_TAKES_FLOATS_, F32, 0, 0, 23, 1, 0, 0, 0, 0, 0, 0)          \
  ROW("v100.f16", MPNUM_TAKES_(F16), F32, 4, 23, 23, 0, -1024, 0, 0, 0, 0, 0)           \
  ROW("v100.f16.f16", MPNUM_TAKES_(F16), F16, 4, 23, 10, 1, -19, 0, 0, 0, 0, 0)         \
  ROW("t4.f16", MPNUM_TAKES_(F16), F32, 8, 24, 23, 0, -132, 0, 0, 0, 0, 0)              \
  ROW("t4.f16.f16", MPNUM_TAKES_(F16), F16, 8, 24, 10, 1, -20, 0, 0, 0, 0, 0)           \
  ROW("a100.f16", MPNUM_TAKES_(F16), F32, 8, 24, 23, 0, -132, 0, 0, 0, 0, 0)            \
  ROW("a100.f16.f16", MPNUM_TAKES_(F16), F16, 8, 24, 10, 1, -20, 0, 0, 0, 0, 0)         \
  ROW("a100.bf16", MPNUM_TAKES_(BF16), F32, 8, 24, 23, 0, -132, 0, 0, 0, 0, 0)          \
  ROW("a100.tf32", MPNUM_TAKES_(TF32), F32, 4, 24, 23, 0, -132, 0, 0, 0, 0, 0)          \
  ROW("ada.f16", MPNUM_TAKES_(F16), F32, 8, 24, 23, 0, -132, 0, 0, 0, 0, 0)             \
  ROW("ada.f16.f16", MPNUM_TAKES_(F16), F16, 8, 24, 10, 1, -20, 0, 0, 0, 0, 0)          \
  ROW("ada.bf16", MPNUM_TAKES_(BF16), F32, 8, 24, 23, 0, -132, 0, 0, 0, 0, 0)           \
  ROW("ada.tf32", MPNUM_TAKES_(TF32), F32, 4, 24, 23, 0, -132, 0, 0, 0, 0, 0)           \
  ROW("ada.fp8", MPNUM_TAKES_FP8_, F32, 16, 13, 13, 0, -132, 0, 0, 0, 0, 0)             \
  ROW("ada.fp8.f16", MPNUM_TAKES_FP8_, F16, 16, 13, 10, 1, -132, 0, 0, 0, 0, 0)         \
  ROW("h100.f16", MPNUM_TAKES_(F16), F32, 16, 25, 23, 0, -133, 0, 0, 0, 0, 0)           \
  ROW("h100.f16.f16", MPNUM_TAKES_(F16), F16, 16, 25, 10, 1, -21, 0, 0, 0, 0, 0)        \
  ROW("h100.bf16", MPNUM_TAKES_(BF16), F32, 16, 25, 23, 0, -133, 0, 0, 0, 0, 0)         \
  ROW("h100.tf32", MPNUM_TAKES_(TF32), F32, 8, 25, 23, 0, -133, 0, 0, 0, 0, 0)          \
  ROW("h100.fp8", MPNUM_TAKES_FP8_, F32, 32, 13, 13, 0, -133, 0, 0, 0, 0, 0)            \
  ROW("h100.fp8.f16", MPNUM_TAKES_FP8_, F16, 32, 13, 10, 1, -133, 0, 0, 0, 0, 0)        \
  ROW("h100.mma.fp8", MPNUM_TAKES_FP8_, F32, 32, 25, 23, 0, -133, 2, 1, 0, 0, 0)        \
  ROW("h100.mma.fp8.f16", MPNUM_TAKES_FP8_, F16, 32, 25, 10, 1, -21, 2, 1, 0, 0, 0)     \
  ROW("b200.f16", MPNUM_TAKES_(F16), F32, 16, 25, 23, 0, -133, 0, 0, 0, 0, 0)           \
  ROW("b200.f16.f16", MPNUM_TAKES_(F16), F16, 16, 25, 10, 1, -21, 0, 0, 0, 0, 0)        \
  ROW("b200.bf16", MPNUM_TAKES_(BF16), F32, 16, 25, 23, 0, -133, 0, 0, 0, 0, 0)         \
  ROW("b200.tf32", MPNUM_TAKES_(TF32), F32, 8, 25, 23, 0, -133, 0, 0, 0, 0, 0)          \
  ROW("b200.fp8", MPNUM_TAKES_NARROW_, F32, 32, 25, 23, 0, -133, 0, 0, 0, 0, 0)         \
  ROW("b200.fp8.f16", MPNUM_TAKES_NARROW_, F16, 32, 25, 10, 1, -133, 0, 0, 0, 0, 0)     \
  ROW("b200.mma.fp8", MPNUM_TAKES_FP8_, F32, 32, 25, 23, 0, -133, 2, 1, 0, 0, 0)        \
  ROW("b200.mma.fp8.f16", MPNUM_TAKES_FP8_, F16, 32, 25, 10, 1, -21, 2, 1, 0, 0, 0)     \
  ROW("b200.mx", MPNUM_TAKES_NARROW_, F32, 32, 25, 23, 0, -133, 0, 0, 0, 0, 1)          \
  ROW("b200.fp4", MPNUM_TAKES_(E2M1), F32, 64, 35, 23, 0, -133, 0, 0, 0, 0, 2)          \
  ROW("mi100.f16", MPNUM_TAKES_(F16), F32, 4, -1, 23, 1, 0, 0, 0, 0, 0, 0)              \
  ROW("mi100.bf16", MPNUM_TAKES_(BF16), F32, 2, -1, 23, 1, 0, 0, 0, 0, 0, 0)            \
  ROW("mi250.f16", MPNUM_TAKES_(F16), F32, 4, 0, 23, 1, 0, 0, 0, 0, 1, 0)               \
  ROW("mi250.bf16", MPNUM_TAKES_(BF16), F32, 2, 0, 23, 1, 0, 0, 0, 0, 1, 0)             \
  ROW("mi250.bf16_1k", MPNUM_TAKES_(BF16), F32, 4, 0, 23, 1, 0, 0, 0, 0, 1, 0)          \
  ROW("mi300.f16", MPNUM_TAKES_(F16), F32, 8, 24, 23, 1, 0, 0, 2, 0, 0, 0)              \
  ROW("mi300.bf16", MPNUM_TAKES_(BF16), F32, 8, 24, 23, 1, 0, 0, 2, 0, 0, 0)            \
  ROW("mi300.tf32", MPNUM_TAKES_(TF32), F32, 4, 24, 23, 1, 0, 0, 2, 0, 0, 0)            \
  ROW("mi300.fp8", MPNUM_TAKES_(E4M3FNUZ) | MPNUM_TAKES_(E5M2FNUZ), F32, 16, 24, 23, 1, \
      0, 1, 2, 0, 0, 0)
# define MPNUM_PRODUCT_UNIT_(name, types, sum, products, bits, kept, is_nearest, least, \
                             run, joins, is_fused, is_flushed, scales)                  \
  {name,                                                                                \
   {types, MPNUM_TYPE_##sum, products, bits, kept, is_nearest, least, run, joins,       \
    is_fused, is_flushed, scales, 0}},
/* Row `number`; its name NULL: none. */
MPNUM_HOST_COLD_ mpnum_named_unit_ mpnum_named_unit_at_(int number) {
  static const mpnum_named_unit_ units[] = {MPNUM_PRODUCT_UNITS_(MPNUM_PRODUCT_UNIT_)};
  static const mpnum_named_unit_ none = {
      0, {0, (mpnum_type)0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
  return number >= 0 && number < (int)(sizeof units / sizeof *units) ? units[number]
                                                                     : none;
}
# undef MPNUM_PRODUCT_UNIT_
# undef MPNUM_PRODUCT_UNITS_

MPNUM_HOST int mpnum_same_text_(const char *a, const char *b) {
  for (; *a && *a == *b; ++a)
    ++b;
  return *a == *b;
}
/* Whether a unit exists whose members these are. */
MPNUM_HOST_COLD_ MPNUM_AS_IS_ int mpnum_is_unit_(const mpnum_product_unit *unit) {
  const int is_half = unit->sum == MPNUM_TYPE_F16, is_wide = unit->sum == MPNUM_TYPE_F64;
  const int is_flag = !((unit->is_nearest | unit->is_fused | unit->is_flushed) & ~1);
  if (!unit->types || unit->types > MPNUM_TAKES_ALL_ || !is_flag) return 0;
  if (!is_half && !is_wide && unit->sum != MPNUM_TYPE_F32) return 0;
  if (unit->products < 0 || unit->products > 64 || unit->bits < -1 || unit->bits > 40)
    return 0;
  if (unit->scales < 0 || unit->scales > 2 || unit->joins < 0 || unit->joins > 2)
    return 0;
  if (unit->kept < 1 || unit->kept > (is_half ? 10 : is_wide ? 52 : 23)) return 0;
  if (unit->least < -1024 || unit->least > 0 || unit->run < 0 || unit->run > 32) return 0;
  if (unit->promotion &&
      (is_wide || !unit->products || unit->promotion % (uint64_t)unit->products != 0))
    return 0;
  if (unit->bits <= 0 && (unit->run || unit->joins || unit->scales || is_half)) return 0;
  if (unit->bits > 0) { /* aligned */
    const uint32_t wide = MPNUM_TAKES_(F64) | MPNUM_TAKES_(F32) | 1u;
    if (is_wide || !unit->products || (unit->types & wide)) return 0;
    if (unit->is_fused || unit->is_flushed || (unit->scales && unit->joins)) return 0;
    if (unit->joins == 2 && is_half) return 0;
    if (unit->run && (!unit->joins || unit->products % (2 * unit->run) != 0)) return 0;
    if (unit->joins == 2 && (unit->bits != 24 || unit->kept != 23 || !unit->is_nearest))
      return 0;
    return unit->scales != 2 ||
           (unit->products == 64 && unit->types == MPNUM_TAKES_(E2M1));
  }
  if (!unit->is_nearest || unit->kept != (is_wide ? 52 : 23)) return 0;
  if (unit->bits < 0) /* exact: all products, or some with a sum in f32 */
    return !unit->is_fused && !unit->is_flushed && is_wide == !unit->products &&
           !(unit->types & MPNUM_TAKES_(F64));
  if (!is_wide && (unit->types & MPNUM_TAKES_(F64))) return 0;
  return !(is_wide && (unit->products != 1 || unit->is_flushed || unit->is_fused)) &&
         !(unit->is_fused && unit->products != 1);
}

/* The name of unit `number`, from 0 on; NULL past the last one. */
MPNUM_HOST const char *mpnum_product_unit_name(int number) {
  return mpnum_named_unit_at_(number).name;
}
/* A unit by its name; without one, all zeros, which every call refuses. */
MPNUM_HOST mpnum_product_unit mpnum_product_unit_of(const char *name) {
  mpnum_named_unit_ found = mpnum_named_unit_at_(0);
  int number = 0;
  for (; name && found.name && !mpnum_same_text_(name, found.name);)
    found = mpnum_named_unit_at_(++number);
  return name ? found.unit : mpnum_named_unit_at_(-1).unit;
}

/* A matrix whose rows are summed along: plain, or with a scale for each block.
 * mpnum_product_operand_of and mpnum_product_blocks_of make one. */
typedef struct mpnum_product_operand {
  mpnum_const_matrix matrix;             /* of blocks rows and columns alone */
  const mpnum_blockscale_format *format; /* NULL: plain */
  mpnum_blockscaled values;
} mpnum_product_operand;

/* A plain matrix, of any type and stride. */
MPNUM_HOST mpnum_product_operand mpnum_product_operand_of(mpnum_const_matrix matrix) {
  const mpnum_blockscaled none = {0, 0, 0, 0, 0, 0};
  mpnum_product_operand made;
  made.matrix = matrix;
  made.format = 0;
  made.values = none;
  return made;
}
/* A quantised one. The format stays the caller's. */
MPNUM_HOST mpnum_product_operand
mpnum_product_blocks_of(const mpnum_blockscale_format *format, mpnum_blockscaled values,
                        size_t rows, size_t columns) {
  mpnum_product_operand made;
  made.matrix = mpnum_const_matrix_of(MPNUM_TYPE_F32, 0, rows, columns);
  made.format = format;
  made.values = values;
  return made;
}

#endif
MPNUM_C_END_
#endif
