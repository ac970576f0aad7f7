/* SPDX-License-Identifier: MIT */
/* One pass over gradients: divided by the scale, checked, counted, summed, in one read
 * and at most one write; and the calls of a loss scaler (scaler.h) that make it.
 *
 *     const mpnum_type f16 = MPNUM_TYPE_F16, f32 = MPNUM_TYPE_F32;
 *     mpnum_grad_tensor tensors[2];
 *     mpnum_grad_findings findings;
 *     tensors[0] = mpnum_grad_tensor_of(f16, half_gradients, n, f32, gradients);
 *     tensors[1] = mpnum_grad_tensor_of(f32, others, k, f32, others);
 *     mpnum_grad_scaler_unscale_clip_step(&scaler, &optimizer, tensors, 2, 1.0f, 0,
 *                                         &findings, &verdict);
 *     if (verdict == MPNUM_GRAD_APPLY) ...
 *     mpnum_grad_scaler_update(&scaler, &optimizer);
 *
 * Domain: lists of tensors, each of its own types; any alignment, strides and sizes, 0
 *   included. In place where dst is src and the types have one size; else the memory of
 *   all tensors is apart.
 * Rounding: to nearest even. An element is widened to f32, which is exact, multiplied,
 *   rounded to f32 and then to the type of dst; f64 is multiplied in f64.
 * Overflow: a result past the largest value is Inf, or NaN in e4m3, and is found; so is
 *   an f64 past the floats.
 * NaN: stays NaN, and is found.
 * Bits: the same from every instruction set, in every floating-point environment; of
 *   findings also however a list is cut into lists, and a tensor into tensors at
 *   multiples of 2048 elements.
 * Host only. */
#ifndef MPNUM_GRAD_H
#define MPNUM_GRAD_H

#include "scaler.h"
#include "detail/simd/grad_loops.h"

#if MPNUM_HAS_ARRAYS

/* rows of columns neighbours each, from one row to the next stride elements. */
typedef struct mpnum_grad_tensor {
  const void *src;
  void *dst; /* NULL: nothing is written */
  size_t rows, columns, src_stride, dst_stride;
  mpnum_type src_type;        /* f32, bf16, f16, e5m2, e4m3, f64 */
  mpnum_type dst_type;        /* the same */
  mpnum_histogram *histogram; /* NULL, or what counts results, too: one for many tensors,
                                 one for each */
  size_t histogram_step;      /* 1: all; k: of every k-th 2048 elements of a row, or of
                                 the tensor, where there is nothing between rows */
} mpnum_grad_tensor;

/* n neighbours. */
MPNUM_HOST mpnum_grad_tensor mpnum_grad_tensor_of(mpnum_type src_type, const void *src,
                                                  size_t n, mpnum_type dst_type,
                                                  void *dst) {
  mpnum_grad_tensor made;
  made.src = src;
  made.dst = dst;
  made.rows = 1;
  made.columns = made.src_stride = made.dst_stride = n;
  made.src_type = src_type;
  made.dst_type = dst_type;
  made.histogram = 0;
  made.histogram_step = 1;
  return made;
}

/* What a pass found. Of results as they are stored, as floats: f64 is rounded to f32, and
 * only subnormal floats count as subnormal. */
typedef struct mpnum_grad_findings {
  mpnum_total squares;    /* the square of the norm, see total.h */
  mpnum_stats stats;      /* count, zeros, Infs, NaNs, amax, ... */
  uint64_t first_tensor;  /* the first one with an Inf or NaN; its place in the list */
  uint64_t first_element; /* and its place in that tensor, without what strides skip */
  uint64_t first_bits;    /* and the bits of its result as a float; 0 if there is none */
} mpnum_grad_findings;

/* Of no tensors; first_tensor is then UINT64_MAX, as where nothing is Inf or NaN. */
MPNUM_HOST mpnum_grad_findings mpnum_grad_findings_empty(void) {
  mpnum_grad_findings findings;
  findings.squares = mpnum_total_empty();
  findings.stats = mpnum_stats_empty();
  findings.first_tensor = findings.first_element = ~(uint64_t)0;
  findings.first_bits = 0;
  return findings;
}
/* Of the tensors of both, whose numbers are those of one list. Where both have the same
 * first Inf or NaN, as ranks with the same gradients, the larger bits stay. */
MPNUM_HOST mpnum_grad_findings mpnum_grad_findings_merge(mpnum_grad_findings a,
                                                         mpnum_grad_findings b) {
  a.squares = mpnum_total_merge(a.squares, b.squares);
  a.stats = mpnum_stats_merge(a.stats, b.stats);
  if (a.first_tensor == b.first_tensor && a.first_element == b.first_element) {
    if (b.first_bits > a.first_bits) a.first_bits = b.first_bits;
  } else if (b.first_tensor < a.first_tensor ||
             (b.first_tensor == a.first_tensor && b.first_element < a.first_element)) {
    a.first_tensor = b.first_tensor;
    a.first_element = b.first_element;
    a.first_bits = b.first_bits;
  }
  return a;
}
/* 1 if a result is Inf or NaN. */
MPNUM_HOST int mpnum_grad_found_inf(const mpnum_grad_findings *findings) {
  return findings->stats.infs != 0 || findings->stats.nans != 0;
}
/* The L2 norm of all results; it neither overflows nor vanishes on the way. */
MPNUM_HOST float mpnum_grad_norm(const mpnum_grad_findings *findings) {
  return mpnum_total_root(findings->squares);
}

/* A flag of a pass: dst may be f16, e5m2, e4m3, where small results are 0. */
# define MPNUM_GRAD_NARROW 1u

MPNUM_HOST_INLINE_ int mpnum_grad_is_narrow_(mpnum_type type) {
  return type == MPNUM_TYPE_F16 || type == MPNUM_TYPE_E5M2 || type == MPNUM_TYPE_E4M3;
}
/* What becomes of results: they are forgotten; go to each dst; have come from there, too;
 * or have come from there and are forgotten. */
typedef enum mpnum_grad_kind_ {
  MPNUM_GRAD_SCAN_,
  MPNUM_GRAD_SCALE_,
  MPNUM_GRAD_RESCALE_,
  MPNUM_GRAD_RESCAN_
} mpnum_grad_kind_;

/* In place: where a tensor is passed and returned, gcc 12 takes its memory for not being
 * read (its pass ipa-modref). */
MPNUM_HOST_INLINE_ void mpnum_grad_see_as_(mpnum_grad_kind_ kind, mpnum_grad_tensor *t) {
  if (kind == MPNUM_GRAD_RESCALE_ || kind == MPNUM_GRAD_RESCAN_) {
    t->src = t->dst;
    t->src_type = t->dst_type;
    t->src_stride = t->dst_stride;
    t->histogram = 0;
  }
  if (kind == MPNUM_GRAD_SCAN_ || kind == MPNUM_GRAD_RESCAN_) {
    t->dst = 0;
    t->dst_type = t->src_type;
  }
}
MPNUM_HOST int mpnum_grad_has_type_(mpnum_type type) {
  return mpnum_has_rows_(type) || type == MPNUM_TYPE_F64;
}
MPNUM_HOST_ONCE_ mpnum_status mpnum_grad_tensors_check_(mpnum_grad_kind_ kind,
                                                        const mpnum_grad_tensor *tensors,
                                                        size_t count, uint32_t flags) {
  size_t i = 0;
  if (flags & ~MPNUM_GRAD_NARROW) return MPNUM_ERROR_ARGUMENT;
  for (; i < count; ++i) {
    mpnum_grad_tensor t = tensors[i];
    mpnum_grad_see_as_(kind, &t);
    if (!mpnum_grad_has_type_(t.src_type) || !mpnum_grad_has_type_(t.dst_type))
      return MPNUM_ERROR_ARGUMENT;
    if (t.dst && t.dst_stride < t.columns) return MPNUM_ERROR_ARGUMENT;
    if (t.dst && mpnum_grad_is_narrow_(t.dst_type) && !(flags & MPNUM_GRAD_NARROW))
      return MPNUM_ERROR_ARGUMENT;
    if (t.dst == t.src && t.dst &&
        (mpnum_type_bits_(t.dst_type) != mpnum_type_bits_(t.src_type) ||
         (t.rows > 1 && t.src_stride != t.dst_stride)))
      return MPNUM_ERROR_ARGUMENT;
    if (t.histogram && t.histogram_step == 0) return MPNUM_ERROR_ARGUMENT;
  }
  return MPNUM_OK;
}

/* A tensor on its way through a pass. */
typedef struct mpnum_grad_pass_ {
  mpnum_grad_tensor t;
  uint64_t place;
  float factor;
  int non_temporal;
  mpnum_grad_counters_ *counters; /* where the tensor has a histogram */
  mpnum_codes_ codes;             /* of all results so far */
  mpnum_grad_findings *findings;
} mpnum_grad_pass_;

/* Statistics of floats that no fused loop has looked at; returns the floats. */
MPNUM_HOST_ONCE_ const float *mpnum_grad_seen_floats_(mpnum_codes_ *codes,
                                                      double *squares,
                                                      const float *floats, size_t n) {
  MPNUM_CALL_(stats_32, (mpnum_limits_of_(MPNUM_TYPE_F32), codes, floats, n));
  *squares = mpnum_squares_(floats, 0, n);
  return floats;
}
/* A double as an element of a type; the float that it then is. */
MPNUM_HOST_COLD_ float mpnum_grad_set_(mpnum_type type, uint8_t *dst, size_t i,
                                       double x) {
  const mpnum_format format = mpnum_format_or_f32_(type);
  const uint64_t bits = mpnum_bits_f64(x);
  uint32_t code;
  if (!dst) return mpnum_f64_to_f32(x);
  code = mpnum_narrow_(format, x, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0);
  if (type == MPNUM_TYPE_F64) {
    MPNUM_MEMCPY_(dst + 8 * i, &bits, 8);
  } else {
    mpnum_set_element_(mpnum_type_bits_(type), dst, i, code);
  }
  return format.mantissa_bits == 23 ? mpnum_from_bits_f32(code)
                                    : mpnum_decode(format, code);
}
/* The results of a tile, written to dst unless it is NULL, as floats: there or in
 * scratch. */
MPNUM_HOST_COLD_ const float *
mpnum_grad_tile_of_doubles_(const mpnum_grad_pass_ *pass, mpnum_codes_ *codes,
                            double *squares, const uint8_t *src, uint8_t *dst,
                            float *scratch, size_t n) {
  size_t k = 0;
  for (; k < n; ++k) {
    const double x = mpnum_from_bits_f64(mpnum_element_(64, src, k));
    scratch[k] = mpnum_grad_set_(pass->t.dst_type, dst, k,
                                 mpnum_opt_barrier_f64_(x * (double)pass->factor));
  }
  return mpnum_grad_seen_floats_(codes, squares, scratch, n);
}
/* The same for types of 16 and 8 bits; what is found is what is stored. */
MPNUM_HOST_ONCE_ const float *mpnum_grad_tile_of_codes_(const mpnum_grad_pass_ *pass,
                                                        mpnum_codes_ *codes,
                                                        double *squares,
                                                        const uint8_t *src, uint8_t *dst,
                                                        float *scratch, size_t n) {
  const mpnum_row_map_ map = mpnum_row_map_of_(MPNUM_MAP_SCALED_, pass->factor, 0, 0);
  mpnum_floats_from_(pass->t.src_type, scratch, src, n);
  mpnum_row_mapped_(map, scratch, scratch, n);
  mpnum_floats_to_(pass->t.dst_type, dst, scratch, n);
  mpnum_floats_from_(pass->t.dst_type, scratch, dst, n);
  return mpnum_grad_seen_floats_(codes, squares, scratch, n);
}
MPNUM_HOST_ONCE_ const float *mpnum_grad_tile_(const mpnum_grad_pass_ *pass,
                                               mpnum_codes_ *codes, double *squares,
                                               const uint8_t *src, uint8_t *dst,
                                               float *scratch, size_t n) {
  const mpnum_type type = pass->t.dst_type;
  mpnum_grad_memory_ at;
  at.src = src;
  at.src_type = pass->t.src_type;
  if (at.src_type == MPNUM_TYPE_F64)
    return mpnum_grad_tile_of_doubles_(pass, codes, squares, src, dst, scratch, n);
  if (dst && type != MPNUM_TYPE_F32 && type != MPNUM_TYPE_F64)
    return mpnum_grad_tile_of_codes_(pass, codes, squares, src, dst, scratch, n);
  if (at.src_type == MPNUM_TYPE_E5M2 || at.src_type == MPNUM_TYPE_E4M3) {
    mpnum_floats_from_(at.src_type, scratch, src, n);
    at.src = (const uint8_t *)scratch;
    at.src_type = MPNUM_TYPE_F32;
  }
  at.dst = (uint8_t *)scratch;
  if (dst && type == MPNUM_TYPE_F32 && !pass->non_temporal) at.dst = dst;
  at.streamed = pass->non_temporal ? dst : 0;
  at.n = n;
  mpnum_grad_tile_seen_(codes, squares, pass->factor, &at);
  if (dst && type == MPNUM_TYPE_F64) mpnum_to_f64_array_(dst, MPNUM_TYPE_F32, at.dst, n);
  return (const float *)(const void *)at.dst;
}

MPNUM_HOST_COLD_ void mpnum_grad_first_(const mpnum_grad_pass_ *pass, uint64_t element,
                                        const float *results, size_t n) {
  mpnum_grad_findings *findings = pass->findings;
  size_t first = 0;
  MPNUM_CALL_(first_nonfinite_32, (mpnum_limits_of_(MPNUM_TYPE_F32), &first, results, n));
  findings->first_tensor = pass->place;
  findings->first_element = element + first;
  findings->first_bits = mpnum_element_(32, (const uint8_t *)results, first);
}
MPNUM_HOST void mpnum_grad_row_(mpnum_grad_pass_ *pass, uint64_t element,
                                const uint8_t *src, uint8_t *dst, size_t n) {
  mpnum_grad_findings *findings = pass->findings;
  float scratch[MPNUM_TILE_];
  size_t i = 0;
  for (; i < n; i += MPNUM_TILE_) {
    const size_t count = mpnum_tile_size_(n, i);
    mpnum_codes_ codes = mpnum_no_codes_();
    double squares = 0;
    const float *results = mpnum_grad_tile_(
        pass, &codes, &squares, mpnum_row_at_(pass->t.src_type, src, i),
        dst ? mpnum_row_to_(pass->t.dst_type, dst, i) : 0, scratch, count);
    pass->codes = mpnum_codes_merge_(pass->codes, codes);
    mpnum_total_add_f64_(&findings->squares, squares);
    if ((codes.infs != 0 || codes.nans != 0) && pass->place < findings->first_tensor)
      mpnum_grad_first_(pass, element + i, results, count);
    if (pass->t.histogram && i / MPNUM_TILE_ % pass->t.histogram_step == 0)
      mpnum_grad_count_(pass->counters, codes.zeros, results, count);
  }
}
MPNUM_HOST void mpnum_grad_rows_(mpnum_grad_pass_ *pass) {
  const mpnum_grad_tensor *t = &pass->t;
  const int is_whole = t->src_stride == t->columns &&
                       (!t->dst || t->dst_stride == t->columns); /* one long row */
  const size_t rows = is_whole && t->rows != 0 ? 1 : t->rows;
  const size_t columns = is_whole ? t->rows * t->columns : t->columns;
  const size_t bits = (size_t)mpnum_type_bits_(t->src_type) + 32;
  size_t row = 0;
  if (columns == 0) return;
  pass->non_temporal = t->dst != t->src && t->dst_type == MPNUM_TYPE_F32 &&
                       ((size_t)t->dst & 63) == 0 && is_whole &&
                       columns >= MPNUM_NON_TEMPORAL_BYTES_ / bits * 8;
  for (; row < rows; ++row)
    mpnum_grad_row_(pass, (uint64_t)row * columns,
                    mpnum_row_at_(t->src_type, t->src, row * t->src_stride),
                    t->dst ? mpnum_row_to_(t->dst_type, t->dst, row * t->dst_stride) : 0,
                    columns);
  if (pass->non_temporal) {
    MPNUM_CALL_(grad_fence, ());
  }
}

MPNUM_HOST void mpnum_grad_tensors_(mpnum_grad_kind_ kind,
                                    const mpnum_grad_tensor *tensors, size_t count,
                                    float factor, mpnum_grad_counters_ *counters,
                                    mpnum_grad_findings *findings) {
  mpnum_grad_pass_ pass;
  pass.factor = factor;
  pass.counters = counters;
  pass.findings = findings;
  pass.codes = mpnum_no_codes_();
  for (pass.place = 0; pass.place < count; ++pass.place) {
    pass.t = tensors[pass.place];
    mpnum_grad_see_as_(kind, &pass.t);
    if (!counters) {
      pass.t.histogram = 0;
    } else if (pass.t.histogram && counters->histogram != pass.t.histogram) {
      mpnum_grad_counted_(counters, pass.t.histogram);
    }
    mpnum_grad_rows_(&pass);
  }
  findings->stats = mpnum_stats_of_codes_(mpnum_format_of(MPNUM_TYPE_F32), pass.codes);
}
MPNUM_HOST void mpnum_grad_count_tensors_(mpnum_grad_kind_ kind,
                                          const mpnum_grad_tensor *tensors, size_t count,
                                          float factor, mpnum_grad_findings *findings) {
  mpnum_grad_counters_ counters;
  mpnum_grad_empty_counters_(&counters);
  mpnum_grad_tensors_(kind, tensors, count, factor, &counters, findings);
  mpnum_grad_counted_(&counters, 0);
}
MPNUM_HOST mpnum_status mpnum_grad_run_(mpnum_grad_kind_ kind,
                                        const mpnum_grad_tensor *tensors, size_t count,
                                        float factor, uint32_t flags,
                                        mpnum_grad_findings *findings) {
  const mpnum_status status = mpnum_grad_tensors_check_(kind, tensors, count, flags);
  mpnum_grad_findings unasked = mpnum_grad_findings_empty();
  int counts = 0;
  uint64_t saved = 0;
  size_t i = 0;
  if (status != MPNUM_OK) return status;
  if (!findings) findings = &unasked;
  if ((mpnum_bits_f32(factor) & 0x7fffffffu) >= 0x7f800000u) return MPNUM_ERROR_ARGUMENT;
  for (; i < count; ++i)
    counts |= tensors[i].histogram != 0;
  *findings = mpnum_grad_findings_empty();
  saved = mpnum_fenv_save_();
  if (counts) {
    mpnum_grad_count_tensors_(kind, tensors, count, factor, findings);
  } else {
    mpnum_grad_tensors_(kind, tensors, count, factor, 0, findings);
  }
  mpnum_fenv_restore_(saved);
  return MPNUM_OK;
}

/* Multiplies by a factor, and says what was found in the results, unless findings is
 * NULL. read only says it, as if each dst were NULL. Status codes: MPNUM_ERROR_ARGUMENT:
 * a factor that is not finite, another type or flag, a dst_stride below columns, a narrow
 * dst without the flag, in place with types of two sizes or two strides, a histogram_step
 * of 0; nothing is written then. */
MPNUM_HOST mpnum_status mpnum_grad_multiply(const mpnum_grad_tensor *tensors,
                                            size_t count, float factor, uint32_t flags,
                                            mpnum_grad_findings *findings) {
  return mpnum_grad_run_(MPNUM_GRAD_SCALE_, tensors, count, factor, flags, findings);
}
MPNUM_HOST mpnum_status mpnum_grad_read(const mpnum_grad_tensor *tensors, size_t count,
                                        float factor, mpnum_grad_findings *findings) {
  return mpnum_grad_run_(MPNUM_GRAD_SCAN_, tensors, count, factor, MPNUM_GRAD_NARROW,
                         findings);
}

/* Whether each tensor has a dst, unless it is empty. */
MPNUM_HOST int mpnum_grad_have_dst_(const mpnum_grad_tensor *tensors, size_t count) {
  size_t i = 0;
  for (; i < count; ++i)
    if (!tensors[i].dst && tensors[i].rows != 0 && tensors[i].columns != 0) return 0;
  return 1;
}
/* The loss scaler's passes over the gradients of an optimizer: check reads them, unscale
 * writes each dst. findings may be NULL. Status codes: those of
 * mpnum_grad_scaler_can_unscale, then those of mpnum_grad_multiply; unscale:
 * MPNUM_ERROR_ARGUMENT, too, for a dst that is NULL and not empty. Nothing has changed
 * then. */
MPNUM_HOST mpnum_status mpnum_grad_scaler_check(const mpnum_grad_scaler *scaler,
                                                mpnum_grad_optimizer *optimizer,
                                                const mpnum_grad_tensor *tensors,
                                                size_t count,
                                                mpnum_grad_findings *findings) {
  mpnum_grad_findings unasked = mpnum_grad_findings_empty();
  mpnum_grad_findings *found = findings ? findings : &unasked;
  mpnum_status status = mpnum_grad_scaler_can_unscale(scaler, optimizer);
  if (status == MPNUM_OK)
    status = mpnum_grad_read(tensors, count, scaler->inverse, found);
  if (status != MPNUM_OK) return status;
  return mpnum_grad_scaler_report_checked(
      scaler, optimizer, (uint32_t)mpnum_grad_found_inf(found), mpnum_grad_norm(found));
}
MPNUM_HOST mpnum_status mpnum_grad_scaler_unscale(const mpnum_grad_scaler *scaler,
                                                  mpnum_grad_optimizer *optimizer,
                                                  const mpnum_grad_tensor *tensors,
                                                  size_t count, uint32_t flags,
                                                  mpnum_grad_findings *findings) {
  mpnum_grad_findings unasked = mpnum_grad_findings_empty();
  mpnum_grad_findings *found = findings ? findings : &unasked;
  mpnum_status status = mpnum_grad_scaler_can_unscale(scaler, optimizer);
  if (status == MPNUM_OK && !mpnum_grad_have_dst_(tensors, count))
    status = MPNUM_ERROR_ARGUMENT;
  if (status == MPNUM_OK)
    status = mpnum_grad_multiply(tensors, count, scaler->inverse, flags, found);
  if (status != MPNUM_OK) return status;
  return mpnum_grad_scaler_report_unscaled(
      scaler, optimizer, (uint32_t)mpnum_grad_found_inf(found), mpnum_grad_norm(found));
}

/* The norm of gradients that no pass has looked at since the last step, where a scaler is
 * not enabled. As it was left by a clip: they were clipped. */
MPNUM_HOST mpnum_status mpnum_grad_look_(mpnum_grad_optimizer *optimizer,
                                         const mpnum_grad_tensor *tensors, size_t count) {
  mpnum_grad_findings findings;
  float norm = 0;
  const mpnum_status status = mpnum_grad_run_(MPNUM_GRAD_RESCAN_, tensors, count, 1.0f,
                                              MPNUM_GRAD_NARROW, &findings);
  if (status != MPNUM_OK) return status;
  norm = mpnum_grad_norm(&findings);
  if (mpnum_bits_f32(norm) != mpnum_bits_f32(optimizer->norm))
    mpnum_grad_set_norm_(optimizer, norm, mpnum_from_bits_f32(0x7f800000u));
  optimizer->found_inf = (uint32_t)mpnum_grad_found_inf(&findings);
  return MPNUM_OK;
}
/* Makes the norm of unscaled gradients, each dst, max_norm at most, but for the rounding
 * of each element: multiplies them by mpnum_grad_clip_coefficient unless it is 1. For all
 * tensors of an optimizer at once, of which it has the norm; afterwards it has the norm
 * of what is left, and another clip with the same max_norm, or a larger one, does
 * nothing. Gradients that hold Inf or NaN stay as they are, and the verdict will be to
 * skip; so do gradients whose norm overflows, which counts as found. With a scaler that
 * is not enabled, and gradients that nobody has looked at since the last step, it takes
 * their norm first; those that hold Inf or NaN, or whose norm overflows, stay as they
 * are, and are applied. Histograms stay as they are. Status codes: those of
 * mpnum_grad_scaler_can_clip; MPNUM_ERROR_ARGUMENT: max_norm is not above 0, a dst
 * is NULL and not empty, or what mpnum_grad_multiply refuses. The gradients are then as
 * before. */
MPNUM_HOST mpnum_status mpnum_grad_scaler_clip(const mpnum_grad_scaler *scaler,
                                               mpnum_grad_optimizer *optimizer,
                                               const mpnum_grad_tensor *tensors,
                                               size_t count, float max_norm) {
  mpnum_grad_findings findings;
  mpnum_status status = mpnum_grad_scaler_can_clip(scaler, optimizer);
  float coefficient = 1;
  if (status == MPNUM_OK && (mpnum_bits_f32(max_norm) - 1 >= 0x7f800000u ||
                             !mpnum_grad_have_dst_(tensors, count)))
    status = MPNUM_ERROR_ARGUMENT;
  if (status == MPNUM_OK)
    status =
        mpnum_grad_tensors_check_(MPNUM_GRAD_RESCALE_, tensors, count, MPNUM_GRAD_NARROW);
  if (status == MPNUM_OK && mpnum_bits_f32(max_norm) != 0x7f800000u &&
      (optimizer->stage == MPNUM_GRAD_READY || optimizer->stage == MPNUM_GRAD_STEPPED))
    status = mpnum_grad_look_(optimizer, tensors, count);
  if (status != MPNUM_OK || !mpnum_grad_can_clip_(scaler, optimizer, max_norm) ||
      mpnum_bits_f32(max_norm) >= mpnum_bits_f32(optimizer->clipped_to))
    return status;
  status = mpnum_grad_clip_coefficient(optimizer->norm, max_norm, &coefficient);
  if (status != MPNUM_OK || mpnum_bits_f32(coefficient) == 0x3f800000u) return status;
  status = mpnum_grad_run_(MPNUM_GRAD_RESCALE_, tensors, count, coefficient,
                           MPNUM_GRAD_NARROW, &findings);
  if (status == MPNUM_OK)
    mpnum_grad_set_norm_(optimizer, mpnum_grad_norm(&findings), max_norm);
  return status;
}

/* All between a backward pass and apply: unscale, clip to max_norm (0 or Inf: no limit),
 * step. findings may be NULL; they are those of unscale. Status codes: those of unscale
 * and step; MPNUM_ERROR_ARGUMENT: a max_norm below 0 or NaN; nothing has changed then. */
MPNUM_HOST mpnum_status mpnum_grad_scaler_unscale_clip_step(
    mpnum_grad_scaler *scaler, mpnum_grad_optimizer *optimizer,
    const mpnum_grad_tensor *tensors, size_t count, float max_norm, uint32_t flags,
    mpnum_grad_findings *findings, mpnum_grad_verdict *verdict) {
  const uint32_t limit = mpnum_bits_f32(max_norm);
  mpnum_status status = MPNUM_ERROR_ARGUMENT;
  if (limit <= 0x7f800000u || limit == 0x80000000u)
    status =
        mpnum_grad_scaler_unscale(scaler, optimizer, tensors, count, flags, findings);
  if (status == MPNUM_OK && (limit & 0x7fffffffu) != 0)
    status = mpnum_grad_scaler_clip(scaler, optimizer, tensors, count, max_norm);
  if (status != MPNUM_OK) return status;
  return mpnum_grad_scaler_step(scaler, optimizer, verdict);
}

#endif
#endif
