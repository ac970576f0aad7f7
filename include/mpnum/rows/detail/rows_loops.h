/* SPDX-License-Identifier: MIT */
/* What softmax.h and cross_entropy.h are made of: rows of any type as tiles of floats,
 * and the steps over a tile. */
#ifndef MPNUM_ROWS_DETAIL_ROWS_LOOPS_H
#define MPNUM_ROWS_DETAIL_ROWS_LOOPS_H

#include "../../func/detail/func_loops.h"
#include "../../array/detail/reduce_loops.h"
#include "../../array/detail/views.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

/* Lanes in which the floats of a tile are summed: element i into lane i % 64, the lanes
 * then by halves. */
# define MPNUM_SUM_LANES_ 64

/* What row_extremes finds: the largest element, unless one is NaN. */
typedef struct mpnum_extremes_ {
  float max;
  int has_nan;
} mpnum_extremes_;

/* A type as loops know it, and its elements one by one. */
typedef struct mpnum_row_type_ {
  mpnum_type type;
  size_t size;    /* bytes of an element */
  int is_foreign; /* loops have it not: of 8 bits, and f16 where no instruction knows it
                   */
  mpnum_encoding_ encoding; /* of f16 */
} mpnum_row_type_;
MPNUM_HOST void mpnum_row_type_of_(mpnum_row_type_ *made, mpnum_type type) {
  made->type = type;
  made->size = (size_t)mpnum_type_bits_(type) / 8;
  made->is_foreign =
      made->size == 1 || (type == MPNUM_TYPE_F16 && mpnum_isa_in_use() == MPNUM_ISA_SSE2);
  if (type == MPNUM_TYPE_F16)
    made->encoding = mpnum_encoding_of_type_(type, 16, MPNUM_OVERFLOW_IEEE);
}
/* The format of an element: found each time where vectors do the work, else inlined. */
MPNUM_HOST_INLINE_ mpnum_format mpnum_row_format_(mpnum_type type) {
# if MPNUM_HAS_VECTORS_
  mpnum_format format;
  mpnum_find_format_(&format, type);
  return format;
# else
  return mpnum_format_of(type);
# endif
}
MPNUM_HOST_ONCE_ float mpnum_row_float_(const mpnum_row_type_ *type, const uint8_t *src,
                                        size_t i) {
  const uint64_t element = mpnum_element_((int)type->size * 8, src, i);
  return mpnum_from_bits_f32(mpnum_widen_(mpnum_row_format_(type->type), element));
}
MPNUM_HOST_ONCE_ void mpnum_row_set_(const mpnum_row_type_ *type, uint8_t *dst, size_t i,
                                     float x) {
  uint32_t code = mpnum_bits_f32(x);
  if (type->type != MPNUM_TYPE_F32)
    code = mpnum_encode(mpnum_row_format_(type->type), x, MPNUM_ROUND_NEAREST_EVEN,
                        MPNUM_OVERFLOW_IEEE, 0);
  mpnum_set_element_((int)type->size * 8, dst, i, code);
}

/* tanh(x factor) of each float; or where gradients is not NULL, of each of these its
 * product with the derivative there. */
typedef void mpnum_row_capped_(float *x, const float *gradients, size_t n, float factor);
/* mpnum_row_map_of_, of gradients of losses. */
struct mpnum_row_steps_;
struct mpnum_row_map_;
struct mpnum_row_view_;
typedef void mpnum_row_capped_map_(const struct mpnum_row_steps_ *steps,
                                   const struct mpnum_row_map_ *map,
                                   const mpnum_row_type_ *type, uint8_t *dst,
                                   const struct mpnum_row_view_ *row, size_t n);
/* A row as loops read it: what is masked is -Inf. */
typedef struct mpnum_row_view_ {
  mpnum_row_type_ type;
  const uint8_t *src;
  const uint8_t *mask; /* NULL, or a byte for each element */
  const uint8_t *tail; /* NULL, or where those past the last multiple of 64 are, with room
                          for 64; vectors only */
  const float *bias;   /* NULL, or what is added to an element times scale */
  const uint8_t
      *biases; /* NULL, or the same of a type, to be multiplied by slope first */
  mpnum_row_type_ bias_type;
  float scale, slope;
  mpnum_row_capped_ *cap; /* NULL, or makes tanh(x cap_factor) of x; is_apart then */
  mpnum_row_capped_map_ *capped_map; /* where there is a cap */
  float cap_factor;
  int is_plain; /* floats as they are */
  int is_apart; /* tiles of it become floats, elements or biases, before loops see them */
} mpnum_row_view_;

/* Of a type, and no row yet. */
MPNUM_HOST void mpnum_row_view_of_(mpnum_row_view_ *view, mpnum_type type) {
  mpnum_row_type_of_(&view->type, type);
  view->src = view->mask = view->tail = 0;
  view->bias = 0;
  view->bias_type.type = type; /* of which nothing is read but with biases */
  view->bias_type.size = view->type.size;
  view->bias_type.is_foreign = view->type.is_foreign;
  view->scale = view->slope = 1;
  view->cap = 0;
  view->capped_map = 0;
  view->cap_factor = 0;
  view->is_plain = 0;
  view->biases = 0;
  view->is_apart = view->type.is_foreign;
}
/* How many elements a step takes at a time. */
MPNUM_HOST size_t mpnum_row_step_(int has_bytes, size_t n, size_t at) {
  return has_bytes ? mpnum_tile_size_(n, at) : n - at;
}

/* x scale + bias. */
MPNUM_HOST float mpnum_row_biased_(const mpnum_row_view_ *row, float x, size_t i) {
  if (row->biases) {
    const float bias = mpnum_row_float_(&row->bias_type, row->biases, i);
    return mpnum_fma_scalar_(x, row->scale, mpnum_mul_scalar_(bias, row->slope));
  }
  if (!row->bias) return x;
  return mpnum_fma_scalar_(x, row->scale, mpnum_float_at_(row->bias, i));
}

/* What does not fill a block is copied to one that does; a mask says how much that is. */
typedef struct mpnum_row_rest_ {
  mpnum_row_view_ view;
  MPNUM_ALIGNED_ uint8_t src[4 * MPNUM_SUM_LANES_];
  uint8_t mask[MPNUM_SUM_LANES_];
  float bias[MPNUM_SUM_LANES_], shares[MPNUM_SUM_LANES_], results[MPNUM_SUM_LANES_];
} mpnum_row_rest_;
/* At 64 - n: n times 1, then 0. */
MPNUM_HOST const uint8_t *mpnum_row_first_(void) {
  static const uint8_t first[2 * MPNUM_SUM_LANES_] = {
      1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
      1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
      1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  return first;
}
/* n floats and zeros, unless there are none. */
MPNUM_HOST const float *mpnum_row_padded_(float padded[MPNUM_SUM_LANES_], const float *x,
                                          size_t n) {
  size_t i = n;
  if (!x) return x;
  for (; i < MPNUM_SUM_LANES_; ++i)
    padded[i] = 0;
  MPNUM_MEMCPY_(padded, x, n * sizeof *x);
  return padded;
}
/* The weights of n elements and of what pads them. */
MPNUM_HOST const float *mpnum_row_ones_(float *buffer, size_t n) {
  size_t i = 0;
  for (; i < MPNUM_SUM_LANES_; ++i)
    buffer[i] = i < n ? 1 : 0;
  return buffer;
}

/* row_map: of each element x, or with has_powers of e^((x - max) scale), x a; (x a - b)
 * c; (x a b - share) c; or (x - max) scale - c; of a product nothing but x a. 0 where
 * is_masked and the element is -Inf. It is written, or with adds added to what is there.
 */
typedef enum mpnum_map_kind_ {
  MPNUM_MAP_PRODUCT_,
  MPNUM_MAP_SCALED_,
  MPNUM_MAP_GRADIENT_,
  MPNUM_MAP_SHARES_,
  MPNUM_MAP_LOG_
} mpnum_map_kind_;
typedef struct mpnum_row_map_ {
  mpnum_map_kind_ kind;
  int has_powers, is_masked, adds;
  float max, scale, a, b, c;
  const float *shares;
} mpnum_row_map_;

/* Powers whose shares may be subnormal, in rows of up to 2^32: those below 2^-94, and of
 * gradients times a number below 1 already larger ones. */
enum { MPNUM_TINY_POWER_ = 0x10800000 };
MPNUM_HOST uint32_t mpnum_tiny_power_of_(const mpnum_row_map_ *map) {
  const uint32_t one = 0x3f800000u, least = MPNUM_TINY_POWER_;
  const uint32_t c = mpnum_bits_f32(map->c) & 0x7f800000u;
  if (map->kind != MPNUM_MAP_GRADIENT_ || c >= one) return least;
  return c > least ? least + (one - c) : one;
}

/* row_loss adds to sum and count: of each element (log_sum - t) times its share, unless
 * that is 0; without shares (log_sum - t) and 1, unless is_masked and the element is
 * -Inf.
 */
typedef struct mpnum_row_loss_ {
  double sum, count;
  const float *shares;
  int is_masked;
  float max, scale, log_sum;
} mpnum_row_loss_;

# define MPNUM_EACH_ISA_ "../../rows/detail/rows.inc"
# include "../../simd/detail/each_isa.inc"

/* Floats of a foreign type, and codes of floats; f16 only where there is SSE2 alone. */
MPNUM_HOST_ONCE_ void mpnum_row_floats_(const mpnum_row_type_ *type, float *dst,
                                        const uint8_t *src, size_t n) {
  if (type->size == 1) {
    mpnum_byte_floats_(type->type, dst, src, n);
  } else {
    mpnum_decode_each_(type->type, 16, dst, src, n);
  }
}
MPNUM_HOST_ONCE_ void mpnum_row_codes_(const mpnum_row_type_ *type, uint8_t *dst,
                                       const float *src, size_t n) {
  if (type->size == 1) {
    mpnum_byte_codes_(type->type, dst, src, n);
  } else {
    mpnum_encode_floats_(type->type, 16, MPNUM_OVERFLOW_IEEE, dst, src, n);
  }
}
/* The loops of the ISA in use, asked for once a call. */
typedef struct mpnum_row_steps_ {
  void (*extremes)(mpnum_extremes_ *extremes, const mpnum_row_view_ *row, size_t n);
  /* e^((x - max) scale) of each element to dst, unless that is NULL, but of those past
   * the last multiple of 64 to tail, which has room for 64. Adds their sum. */
  void (*exp)(double *sum, float *dst, float *tail, const mpnum_row_view_ *row, size_t n,
              float max, float scale);
  void (*map)(const mpnum_row_map_ *map, const mpnum_row_type_ *type, uint8_t *dst,
              const mpnum_row_view_ *row, size_t n);
} mpnum_row_steps_;
MPNUM_HOST mpnum_row_steps_ mpnum_row_steps_in_use_(void) {
  const mpnum_isa isa = mpnum_isa_in_use();
  const mpnum_row_steps_ steps = {
      MPNUM_PICK_(isa, row_extremes, SSE2, mpnum_row_extremes_scalar_),
      MPNUM_PICK_(isa, row_exp, SSE2, mpnum_row_exp_scalar_),
      MPNUM_PICK_(isa, row_map, SSE2, mpnum_row_map_scalar_)};
  return steps;
}
/* x factor of each float of a tile. */
MPNUM_HOST void mpnum_row_scaled_(float *x, size_t n, float factor) {
  MPNUM_CALL_(row_scaled, (x, n, factor));
}
/* What row_part needs: elements of a tile and biases. */
# define MPNUM_PARTS_ (2 * MPNUM_TILE_)
/* Biases become floats, and elements that are capped. */
MPNUM_HOST_COLD_ void mpnum_row_part_biases_(mpnum_row_view_ *part,
                                             const mpnum_row_view_ *row, size_t at,
                                             size_t n, float *biases) {
  mpnum_floats_from_(row->bias_type.type, biases, row->biases + at * row->bias_type.size,
                     n);
  if (mpnum_bits_f32(row->slope) != 0x3f800000u) mpnum_row_scaled_(biases, n, row->slope);
  part->bias = biases;
  part->biases = 0;
}
MPNUM_HOST_COLD_ void mpnum_row_part_capped_(mpnum_row_view_ *part,
                                             const mpnum_row_view_ *row, size_t n,
                                             float *buffer) {
  mpnum_floats_from_(row->type.type, buffer, part->src, n);
  (*row->cap)(buffer, 0, n, row->cap_factor);
  part->cap = 0;
}
/* From an element on; n of a foreign type, or capped, or biases, become floats in a
 * buffer. */
MPNUM_HOST void mpnum_row_part_(mpnum_row_view_ *part, const mpnum_row_view_ *row,
                                size_t at, size_t n, float *buffer) {
  *part = *row;
  part->src += at * row->type.size;
  if (row->mask) part->mask += at;
  if (row->bias) part->bias += at;
  if (row->biases) mpnum_row_part_biases_(part, row, at, n, buffer + MPNUM_TILE_);
  if (row->cap) {
    mpnum_row_part_capped_(part, row, n, buffer);
  } else if (row->type.is_foreign) {
    mpnum_row_floats_(&row->type, buffer, part->src, n);
  } else {
    return;
  }
  part->src = (const uint8_t *)buffer;
  mpnum_row_type_of_(&part->type, MPNUM_TYPE_F32);
  part->is_plain = !part->mask && !part->bias;
}
/* These over a row of any type. */
MPNUM_HOST void mpnum_row_extremes_of_(const mpnum_row_steps_ *steps,
                                       mpnum_extremes_ *extremes,
                                       const mpnum_row_view_ *row, size_t n) {
  const int has_bytes = row->is_apart;
  MPNUM_ALIGNED_ float buffer[MPNUM_PARTS_];
  mpnum_extremes_ found;
  mpnum_row_view_ part;
  size_t i = 0, count = 0;
  if (!has_bytes) {
    (*steps->extremes)(extremes, row, n);
    return;
  }
  extremes->max = mpnum_from_bits_f32(0xff800000u);
  extremes->has_nan = 0;
  for (; i < n; i += count) {
    count = mpnum_row_step_(has_bytes, n, i);
    mpnum_row_part_(&part, row, i, count, buffer);
    (*steps->extremes)(&found, &part, count);
    extremes->has_nan |= found.has_nan;
    if (mpnum_order_(mpnum_bits_f32(found.max)) >
        mpnum_order_(mpnum_bits_f32(extremes->max)))
      extremes->max = found.max;
  }
}
MPNUM_HOST void mpnum_row_exp_of_(const mpnum_row_steps_ *steps, double *sum, float *dst,
                                  float *tail, const mpnum_row_view_ *row, size_t n,
                                  float max, float scale) {
  const int has_bytes = row->is_apart;
  MPNUM_ALIGNED_ float buffer[MPNUM_PARTS_];
  mpnum_row_view_ part;
  size_t i = 0, count = 0;
  if (!has_bytes) {
    (*steps->exp)(sum, dst, tail, row, n, max, scale);
    return;
  }
  for (; i < n; i += count) {
    count = mpnum_row_step_(has_bytes, n, i);
    mpnum_row_part_(&part, row, i, count, buffer);
    (*steps->exp)(sum, dst ? dst + i : dst, tail, &part, count, max, scale);
  }
}
MPNUM_HOST void mpnum_row_loss_of_(mpnum_row_loss_ *loss, const mpnum_row_view_ *row,
                                   size_t n) {
  const int has_bytes = row->is_apart;
  MPNUM_ALIGNED_ float buffer[MPNUM_PARTS_];
  mpnum_row_view_ part;
  size_t i = 0, count = 0;
  for (; i < n; i += count) {
    count = mpnum_row_step_(has_bytes, n, i);
    mpnum_row_part_(&part, row, i, count, buffer);
    MPNUM_CALL_(row_loss, (loss, &part, count));
    if (loss->shares) loss->shares += count;
  }
}
/* n floats, plus what is there if adds, as codes of a foreign type. */
MPNUM_HOST void mpnum_row_put_foreign_(const mpnum_row_type_ *type, uint8_t *dst,
                                       float *x, size_t n, int adds) {
  MPNUM_ALIGNED_ float old[MPNUM_TILE_];
  size_t i = 0;
  if (adds) {
    mpnum_row_floats_(type, old, dst, n);
    for (; i < n; ++i)
      x[i] = mpnum_canonical_(mpnum_add_scalar_(old[i], x[i]));
  }
  mpnum_row_codes_(type, dst, x, n);
}
/* The same of any type of rows. */
MPNUM_HOST void mpnum_row_put_bytes_(mpnum_type type, uint8_t *dst, float *x, size_t n,
                                     int adds) {
  MPNUM_ALIGNED_ float old[MPNUM_TILE_];
  size_t i = 0;
  if (adds) {
    mpnum_floats_from_(type, old, dst, n);
    for (; i < n; ++i)
      x[i] = mpnum_canonical_(mpnum_add_scalar_(old[i], x[i]));
  }
  mpnum_floats_to_(type, dst, x, n);
}
MPNUM_HOST void mpnum_row_map_bytes_(const mpnum_row_steps_ *steps,
                                     const mpnum_row_map_ *chosen,
                                     const mpnum_row_type_ *type, uint8_t *dst,
                                     const mpnum_row_view_ *row, size_t n) {
  const int to_bytes = type->is_foreign;
  MPNUM_ALIGNED_ float buffer[MPNUM_PARTS_], results[MPNUM_TILE_];
  mpnum_row_map_ map = *chosen;
  mpnum_row_type_ f32_type;
  mpnum_row_view_ part;
  size_t i = 0, count = 0;
  mpnum_row_type_of_(&f32_type, MPNUM_TYPE_F32);
  if (to_bytes) map.adds = 0;
  for (; i < n; i += count) {
    uint8_t *to = dst + i * type->size;
    count = mpnum_tile_size_(n, i);
    mpnum_row_part_(&part, row, i, count, buffer);
    if (i + count < n) part.tail = 0;
    (*steps->map)(&map, to_bytes ? &f32_type : type, to_bytes ? (uint8_t *)results : to,
                  &part, count);
    if (to_bytes) mpnum_row_put_foreign_(type, to, results, count, chosen->adds);
    if (map.shares) map.shares += count;
  }
}
MPNUM_HOST void mpnum_row_map_of_(const mpnum_row_steps_ *steps,
                                  const mpnum_row_map_ *map, const mpnum_row_type_ *type,
                                  uint8_t *dst, const mpnum_row_view_ *row, size_t n) {
  if (row->cap && (map->kind == MPNUM_MAP_GRADIENT_ || map->kind == MPNUM_MAP_SHARES_)) {
    (*row->capped_map)(steps, map, type, dst, row, n);
  } else if (row->is_apart || type->is_foreign) {
    mpnum_row_map_bytes_(steps, map, type, dst, row, n);
  } else {
    (*steps->map)(map, type, dst, row, n);
  }
}
/* Softmax of n elements, 1 to 2048, none of a foreign type, with the bits of these steps;
 * or, where left is not NULL, (x - max) scale as floats, and the sum to left. 0, and
 * nothing is written, where one is NaN or the largest one infinite, and where there are
 * no vectors with fma: there e^t takes nearly all the time. */
MPNUM_HOST int mpnum_row_whole_(const mpnum_row_view_ *row, const mpnum_row_type_ *type,
                                uint8_t *dst, size_t n, float scale, float *left) {
  int is_done = 0;
  MPNUM_CALL_(row_whole, (&is_done, row, type, dst, n, scale, left));
  return is_done;
}
/* x - less of each float. */
MPNUM_HOST void mpnum_row_less_(float *x, size_t n, float less) {
  MPNUM_CALL_(row_less, (x, n, less));
}

/* All that is there is copied behind it: few copies, each of many elements. */
MPNUM_HOST_ONCE_ void mpnum_row_fill_(mpnum_type type, void *dst, size_t n, float x) {
  const size_t size = (size_t)mpnum_type_bits_(type) / 8;
  size_t i = 1, count = 0;
  mpnum_row_type_ to;
  if (n == 0) return;
  mpnum_row_type_of_(&to, type);
  mpnum_row_set_(&to, (uint8_t *)dst, 0, x);
  for (; i < n; i += count) {
    count = i < MPNUM_TILE_ ? i : MPNUM_TILE_;
    if (count > n - i) count = n - i;
    MPNUM_MEMCPY_((uint8_t *)dst + i * size, dst, count * size);
  }
}

/* All elements of a row from the first one on. */
MPNUM_HOST void mpnum_rows_fill_(mpnum_matrix dst, size_t row, size_t first, float x) {
  if (first < dst.columns)
    mpnum_row_fill_(dst.type, mpnum_rows_to_(dst, row, first), dst.columns - first, x);
}

/* An epsilon: finite, 0 and up. */
MPNUM_HOST int mpnum_is_factor_(float x) {
  const uint32_t bits = mpnum_bits_f32(x);
  return bits < 0x7f800000u || bits == 0x80000000u;
}
/* The scale of a softmax: finite, above 0. */
MPNUM_HOST int mpnum_is_scale_(float x) { return mpnum_bits_f32(x) - 1 < 0x7f7fffffu; }

#endif
MPNUM_C_END_
#endif
