/* SPDX-License-Identifier: MIT */
/* The pass of grad.h over a list of tensors: it cuts rows into tiles, grad_loops.h reads
 * each tile once, and what it finds is added to the findings. */
#ifndef MPNUM_TRAINING_DETAIL_GRAD_PASS_H
#define MPNUM_TRAINING_DETAIL_GRAD_PASS_H

#include "grad_loops.h"
#include "../grad_tensor.h"
MPNUM_C_BEGIN_

#if MPNUM_HAS_ARRAYS_

MPNUM_HOST_INLINE_ int mpnum_grad_is_narrow_(mpnum_type type) {
  return type == MPNUM_TYPE_F16 || type == MPNUM_TYPE_E5M2 || type == MPNUM_TYPE_E4M3;
}
/* What the pass reads and what becomes of results. SCAN: reads src, drops results; SCALE:
 * reads src, writes dst; RESCALE: reads and writes dst; RESCAN: reads dst, drops
 * results. */
typedef enum mpnum_grad_kind_ {
  MPNUM_GRAD_SCAN_,
  MPNUM_GRAD_SCALE_,
  MPNUM_GRAD_RESCALE_,
  MPNUM_GRAD_RESCAN_
} mpnum_grad_kind_;

/* Changes *t in place: if a tensor is passed and returned by value, gcc 12
 * assumes that its memory is not read (its pass ipa-modref). */
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
  if (!tensors && count != 0) return MPNUM_ERROR_NULL;
  for (; i < count; ++i) {
    mpnum_grad_tensor t = tensors[i];
    mpnum_grad_see_as_(kind, &t);
    if (!mpnum_grad_has_type_(t.src_type) || !mpnum_grad_has_type_(t.dst_type))
      return MPNUM_ERROR_TYPE;
    if (t.dst && t.dst_stride < t.columns) return MPNUM_ERROR_STRIDE;
    if (t.dst && mpnum_grad_is_narrow_(t.dst_type) && !(flags & MPNUM_GRAD_NARROW))
      return MPNUM_ERROR_NARROW;
    if (t.histogram && t.histogram_step == 0) return MPNUM_ERROR_ARGUMENT;
    if (t.rows == 0 || t.columns == 0) continue;
    if (!t.src) return MPNUM_ERROR_NULL;
    if (t.dst == t.src && (mpnum_type_bits_(t.dst_type) != mpnum_type_bits_(t.src_type) ||
                           (t.rows > 1 && t.src_stride != t.dst_stride)))
      return MPNUM_ERROR_OVERLAP;
  }
  return MPNUM_OK;
}

/* The state of a pass at one tensor. */
typedef struct mpnum_grad_pass_ {
  mpnum_grad_tensor t;
  uint64_t place;
  float factor;
  int non_temporal;
  mpnum_grad_any_low_ *any_low; /* NULL: nothing is ever flushed */
  uint32_t least;               /* magnitude with a normal product */
  int is_kept, was_low; /* whether subnormals are flushed now; were in the tile before */
  mpnum_grad_counters_ *counters; /* used if the tensor has a histogram */
  mpnum_codes_ codes;             /* statistics of all results so far */
  mpnum_grad_findings *findings;
} mpnum_grad_pass_;

/* Takes the statistics of floats that no fused loop has read; returns the floats. */
MPNUM_HOST_ONCE_ const float *mpnum_grad_seen_floats_(const mpnum_grad_pass_ *pass,
                                                      mpnum_codes_ *codes,
                                                      double *squares,
                                                      const float *floats, size_t n) {
  if (pass->is_kept) {
    mpnum_grad_kept_seen_(codes, squares, floats, n);
    return floats;
  }
  MPNUM_CALL_(stats_32, (mpnum_limits_of_(MPNUM_TYPE_F32), codes, floats, n));
  *squares = mpnum_squares_(floats, 0, n);
  return floats;
}
/* Multiplies a chunk of a tile of doubles by the factor; writes the results to dst unless
 * it is NULL, and to floats as the floats that they then are. */
MPNUM_HOST_COLD_ void mpnum_grad_doubles_(const mpnum_grad_pass_ *pass,
                                          const uint8_t *src, uint8_t *dst, float *floats,
                                          size_t n) {
  const mpnum_type type = pass->t.dst_type;
  const int is_float = !dst || type == MPNUM_TYPE_F32 || type == MPNUM_TYPE_F64;
  const int bits = is_float ? 32 : mpnum_type_bits_(type);
  double products[64];
  size_t k = 0;
  for (; k < n; ++k)
    products[k] = mpnum_opt_barrier_f64_(mpnum_from_bits_f64(mpnum_element_(64, src, k)) *
                                         (double)pass->factor);
  mpnum_encode_doubles_(is_float ? MPNUM_TYPE_F32 : type, bits, MPNUM_OVERFLOW_IEEE,
                        is_float ? (void *)floats : dst, products, n);
  if (!is_float) mpnum_floats_from_(type, floats, dst, n);
  if (dst && type == MPNUM_TYPE_F32) MPNUM_MEMCPY_(dst, floats, 4 * n);
  if (dst && type == MPNUM_TYPE_F64) MPNUM_MEMCPY_(dst, products, 8 * n);
}
/* Computes the results of a tile, here of doubles, and writes them to dst unless it is
 * NULL; returns them as floats, in dst or in scratch. */
MPNUM_HOST_COLD_ const float *
mpnum_grad_tile_of_doubles_(const mpnum_grad_pass_ *pass, mpnum_codes_ *codes,
                            double *squares, const uint8_t *src, uint8_t *dst,
                            float *scratch, size_t n) {
  size_t i = 0;
  for (; i < n; i += 64)
    mpnum_grad_doubles_(pass, src + 8 * i,
                        dst ? mpnum_row_to_(pass->t.dst_type, dst, i) : 0, scratch + i,
                        n - i < 64 ? n - i : 64);
  return mpnum_grad_seen_floats_(pass, codes, squares, scratch, n);
}
/* The same for a dst with 16 or 8 bits: the findings are those of the stored values. */
MPNUM_HOST_ONCE_ const float *mpnum_grad_tile_of_codes_(const mpnum_grad_pass_ *pass,
                                                        mpnum_codes_ *codes,
                                                        double *squares,
                                                        const uint8_t *src, uint8_t *dst,
                                                        float *scratch, size_t n) {
  mpnum_floats_from_(pass->t.src_type, scratch, src, n);
  if (pass->is_kept) {
    (*MPNUM_GRAD_LOOP_(kept_scaled))(scratch, n, pass->factor);
  } else {
    mpnum_row_scaled_(scratch, n, pass->factor);
  }
  mpnum_floats_to_(pass->t.dst_type, dst, scratch, n);
  mpnum_floats_from_(pass->t.dst_type, scratch, dst, n);
  return mpnum_grad_seen_floats_(pass, codes, squares, scratch, n);
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
  at.is_kept = pass->is_kept;
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
  findings->first_bits =
      mpnum_bits_f32(mpnum_canonical_(mpnum_float_at_(results, first)));
}
/* Makes stored NaNs canonical: which NaN a product is depends on the instruction set. */
MPNUM_HOST_COLD_ void mpnum_grad_same_nan_(uint8_t *dst, size_t n) {
  mpnum_grad_one_nan_ *const run = MPNUM_GRAD_LOOP_(one_nan);
  size_t i = run ? (*run)(dst, n) : 0;
  for (; i < n; ++i)
    if (mpnum_isnan_f32(mpnum_from_bits_f32((uint32_t)mpnum_element_(32, dst, i))))
      mpnum_set_element_(32, dst, i, 0x7fffffffu);
}
/* Flushes subnormals from a tile on that may have some, or no longer. It is then handled
 * in steps that keep them: the same bits as of the fused loop, in a fraction of its time
 * where a CPU takes long for subnormals, in more where there are none. So the first
 * elements decide, and what was found in the tile before. */
MPNUM_HOST_ONCE_ void mpnum_grad_choose_(mpnum_grad_pass_ *pass, const uint8_t *src,
                                         size_t n) {
  const mpnum_type type = pass->t.src_type;
  int is_kept = 0;
  if (n < MPNUM_FLUSHED_ || !pass->any_low) {
    is_kept = 0;
  } else if (type == MPNUM_TYPE_F64 || pass->t.dst_type == MPNUM_TYPE_F64) {
    is_kept = 0;
  } else if (pass->was_low || pass->least == 0x7fffffffu) {
    is_kept = 1;
  } else if (type == MPNUM_TYPE_E5M2 || type == MPNUM_TYPE_E4M3) {
    is_kept = pass->least > 0x37800000u; /* 2^-16, the smallest one */
  } else {
    is_kept = (*pass->any_low)(type, src, pass->least);
  }
  if (is_kept == pass->is_kept) return;
  pass->is_kept = is_kept;
  (void)(is_kept ? mpnum_fenv_flush_() : mpnum_fenv_save_());
}
MPNUM_HOST void mpnum_grad_row_(mpnum_grad_pass_ *pass, uint64_t element,
                                const uint8_t *src, uint8_t *dst, size_t n) {
  mpnum_grad_findings *findings = pass->findings;
  MPNUM_ALIGNED_ float scratch[MPNUM_TILE_];
  size_t i = 0;
  for (; i < n; i += MPNUM_TILE_) {
    const size_t count = mpnum_tile_size_(n, i);
    mpnum_codes_ codes = mpnum_no_codes_();
    double squares = 0;
    const float *results = 0;
    if (count >= MPNUM_FLUSHED_ || pass->is_kept)
      mpnum_grad_choose_(pass, mpnum_row_at_(pass->t.src_type, src, i), count);
    results = mpnum_grad_tile_(
        pass, &codes, &squares, mpnum_row_at_(pass->t.src_type, src, i),
        dst ? mpnum_row_to_(pass->t.dst_type, dst, i) : 0, scratch, count);
    pass->was_low = codes.subnormals != 0;
    pass->codes = mpnum_codes_merge_(pass->codes, codes);
    mpnum_exact_sum_add_f64_(&findings->squares, squares);
    if (codes.nans != 0 && dst && pass->t.dst_type == MPNUM_TYPE_F32)
      mpnum_grad_same_nan_(mpnum_row_to_(pass->t.dst_type, dst, i), count);
    if ((codes.infs != 0 || codes.nans != 0) && pass->place < findings->first_tensor)
      mpnum_grad_first_(pass, element + i, results, count);
    if (pass->t.histogram && i / MPNUM_TILE_ % pass->t.histogram_step == 0)
      mpnum_grad_count_(pass->counters, codes.zeros, results, count);
  }
}
typedef void mpnum_grad_fence_(void);
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
    mpnum_grad_fence_ *const fence =
        MPNUM_PICK_(mpnum_isa_in_use(), grad_fence, WIDE, (mpnum_grad_fence_ *)0);
    if (fence) (*fence)();
  }
}

MPNUM_HOST void mpnum_grad_tensors_(mpnum_grad_kind_ kind,
                                    const mpnum_grad_tensor *tensors, size_t count,
                                    float factor, mpnum_grad_counters_ *counters,
                                    mpnum_grad_findings *findings) {
  mpnum_grad_pass_ pass;
  pass.factor = factor;
  pass.any_low = MPNUM_GRAD_LOOP_(any_low);
  pass.least = mpnum_grad_least_(factor);
  pass.is_kept = pass.was_low = 0;
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

#endif
MPNUM_C_END_
#endif
