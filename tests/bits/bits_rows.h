/* SPDX-License-Identifier: MIT */
/* For bits.c: lines for the functions of rows. They promise their bits in every
 * environment where the library can set its own, else in the default one. */
#ifndef MPNUM_TESTS_BITS_ROWS_H
#define MPNUM_TESTS_BITS_ROWS_H

#include "bits_functions.h"
#include "../harness/must.h"

#include <mpnum/rows/activation_backward.h>
#include <mpnum/rows/dropout.h>

enum { ROW = 2500 };
static float row_values[ROW], row_results[ROW], row_losses[1];

/* Of 1 to 2500 elements, multiples of 2^-9, the last few near each other. */
static void make_row(uint32_t n) {
  for (uint32_t i = 0; i < n; ++i)
    row_values[i] = (float)((int)(mix(i) % (i % 9 ? 8192 : 64)) - 4096) / 512;
}
static void put_row(uint32_t n) {
  for (uint32_t i = 0; i < n; ++i)
    put_f32(row_results[i]);
}
#define FOR_ROWS for (uint32_t n = 1; n <= ROW; n = n < 100 ? n + 9 : n + 600)
#define ROWS(function, call) \
 HASH(function, FOR_ROWS, {  \
make_row(n);                 \
call;                        \
put_row(n);                  \
 })
#define DST_ROW mpnum_matrix_of(MPNUM_TYPE_F32, row_results, 1, n)
#define SRC_ROW mpnum_const_matrix_of(MPNUM_TYPE_F32, row_values, 1, n)

/* Rows that are not ordinary, of every type, with and without masks, lengths and flags,
 * at the least scale, too: row k of a matrix is of kind + k. */
enum { KINDS = 12, WAYS = 10, MOST_ROWS = 67, SPECIAL_ROOM = 3 * 2049 };
static mpnum_type special_type;
static size_t special_rows, special_columns;
static uint8_t special_src[4 * SPECIAL_ROOM], special_dst[4 * SPECIAL_ROOM];
static uint8_t special_mask[SPECIAL_ROOM];
static float special_shares[SPECIAL_ROOM];
static size_t special_lengths[MOST_ROWS];
static int64_t special_targets[MOST_ROWS];
static mpnum_row_status special_status[MOST_ROWS];
static float special_losses[MOST_ROWS], special_others[MOST_ROWS];

static uint32_t special_element(uint32_t kind, size_t i, size_t n) {
  const uint32_t minus = 0xff800000u, plus = 0x7f800000u, no_number = 0xffc12345u;
  const uint32_t usual = 0x3f000000u + (uint32_t)(mix(i) % 0x01800000u);
  switch (kind % KINDS) {
  case 0: return usual | (uint32_t)(i & 1) << 31;
  case 1: return minus;
  case 2: return i == n / 2 ? plus : usual;
  case 3: return i == n / 2 ? plus : minus;
  case 4: return i % 3 == 1 ? plus : i % 3 ? usual : minus;
  case 5: return plus;
  case 6: return i == n / 3 ? no_number : usual;
  case 7: return i == n / 3 ? no_number : i % 2 ? plus : minus;
  case 8: return i % 3 == 1 ? minus : usual;
  case 9: return i == n - 1 ? usual : minus;
  case 10: return i % 2 ? 0 : 0x80000000u;
  default: return (i % 2 ? 0x7f7fffffu : 0xff7fffffu) - (uint32_t)(i % 5);
  }
}
/* Shares are 0, -0, those of a few classes, and sometimes NaN or +Inf. */
static uint32_t special_share(uint32_t kind, size_t i, size_t n) {
  const uint32_t signed_zero = (uint32_t)(i & 1) << 31;
  if (kind % 7 == 6) return special_element(kind / 7 % 2 ? 6 : 2, i, n);
  return mix(i + kind) % 4 ? signed_zero : 0x3d000000u + (uint32_t)(mix(i) % 0x01000000u);
}
static void make_special(uint32_t kind) {
  static float values[SPECIAL_ROOM];
  const size_t n = special_columns;
  for (size_t i = 0; i < special_rows * n; ++i) {
    const uint32_t row_kind = kind + (uint32_t)(i / n);
    values[i] = mpnum_from_bits_f32(special_element(row_kind, i % n, n));
    special_shares[i] = mpnum_from_bits_f32(special_share(row_kind, i % n, n));
    special_mask[i] = mix(i + kind) % 3 != 0;
  }
  for (size_t i = 0; i < special_rows; ++i) {
    special_lengths[i] = i % 3 == 0 ? n / 2 + 1 : i % 3 == 1 ? 0 : n;
    special_targets[i] = (int64_t)(mix(i + kind) % (n + 1)) - 1;
  }
  must(mpnum_convert_array(special_type, special_src, MPNUM_TYPE_F32, values,
                           special_rows * n, MPNUM_ROUND_NEAREST_EVEN,
                           MPNUM_OVERFLOW_IEEE, 0, 0));
  memset(special_dst, 0x5c, sizeof special_dst);
  memset(special_losses, 0, sizeof special_losses);
  memset(special_others, 0, sizeof special_others);
  memset(special_status, 0, sizeof special_status);
}
static mpnum_cross_entropy_options special_way(uint32_t kind, uint32_t way) {
  mpnum_cross_entropy_options how = mpnum_cross_entropy_default();
  how.label_smoothing = 0.25f * (float)(kind % 5);
  how.ignore_index = -1;
  if (way % 2) how.softmax.flags = MPNUM_SOFTMAX_LIMIT;
  if (way / 2 == 1) how.softmax.flags |= MPNUM_SOFTMAX_MASKED;
  if (way / 2 == 2) how.softmax.mask = special_mask;
  if (way == 5) how.softmax.mask_stride = special_columns;
  if (way / 2 == 3) how.softmax.lengths = special_lengths;
  if (way / 2 >= 3 && way != 7) how.softmax.scale = mpnum_from_bits_f32(1);
  return how;
}
static void put_special(mpnum_status status) {
  put_int((int)status);
  for (size_t i = 0; i < special_rows * special_columns; ++i) {
    const int bytes = special_type == MPNUM_TYPE_F32 ? 4
                      : special_type == MPNUM_TYPE_F16 || special_type == MPNUM_TYPE_BF16
                          ? 2
                          : 1;
    uint32_t word = special_dst[i];
    uint16_t half = 0;
    if (bytes == 4) memcpy(&word, special_dst + 4 * i, 4);
    if (bytes == 2) memcpy(&half, special_dst + 2 * i, 2);
    put(bytes == 2 ? half : word);
  }
  for (size_t i = 0; i < special_rows; ++i) {
    put_f32(special_losses[i]);
    put_f32(special_others[i]);
    put_int((int)special_status[i]);
  }
}
static uint8_t special_codes[sizeof special_dst];
/* Codes of bytes as elements of the type, which put_special reads on any machine. */
static mpnum_status spread_codes(mpnum_status status) {
  for (size_t i = 0; i < special_rows * special_columns; ++i) {
    const uint32_t word = special_codes[i];
    const uint16_t code = special_codes[i];
    if (special_type == MPNUM_TYPE_F32) {
      memcpy(special_dst + 4 * i, &word, 4);
    } else if (special_type == MPNUM_TYPE_F16 || special_type == MPNUM_TYPE_BF16) {
      memcpy(special_dst + 2 * i, &code, 2);
    } else {
      special_dst[i] = special_codes[i];
    }
  }
  return status;
}
/* The line of a function, as name_special; of square matrices where it has no columns.
 * What multiplies matrices (CUBIC) takes the largest ones of two types, one way each:
 * they are most of its time, minutes under an emulator. */
enum { ROWS_OF_THREE, SQUARE, CUBIC };
typedef mpnum_status special_call(const mpnum_cross_entropy_options *how, uint32_t kind);
static void print_special(const char *name, uint32_t ways, int shape,
                          special_call *call) {
  static const mpnum_type types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16,
                                     MPNUM_TYPE_E5M2, MPNUM_TYPE_E4M3};
  static const size_t lengths[] = {1, 2, 3, 8, 67, 2049};
  for (int t = 0; t < 5; ++t)
    for (int l = 0; l < (shape == ROWS_OF_THREE ? 6 : 5); ++l)
      for (uint32_t i = 0; i < KINDS * ways; ++i) {
        mpnum_cross_entropy_options how;
        if (shape == CUBIC && l == 4 && (t % 2 || t == 4 || i % ways != i / ways % ways))
          continue;
        special_type = types[t];
        special_columns = lengths[l];
        special_rows = shape == ROWS_OF_THREE ? 3 : special_columns;
        make_special(i / ways);
        how = special_way(i / ways, i % ways);
        put_special(call(&how, i / ways));
      }
  print_line(name);
}
#define SPECIAL_DST \
 mpnum_matrix_of(special_type, special_dst, special_rows, special_columns)
#define SPECIAL_SRC \
 mpnum_const_matrix_of(special_type, special_src, special_rows, special_columns)
#define SPECIAL(function, ways, shape, call)                                 \
 static mpnum_status function##_call(const mpnum_cross_entropy_options *how, \
                                     uint32_t kind) {                        \
  (void)how;                                                                 \
  (void)kind;                                                                \
  return call;                                                               \
 }                                                                           \
 static void print_##function(void) {                                        \
  print_special(#function "_special", ways, shape, function##_call);         \
 }
SPECIAL(mpnum_softmax_rows, WAYS, ROWS_OF_THREE,
        mpnum_softmax_rows(SPECIAL_DST, SPECIAL_SRC, &how->softmax, special_status))
SPECIAL(mpnum_log_softmax_rows, WAYS, ROWS_OF_THREE,
        mpnum_log_softmax_rows(SPECIAL_DST, SPECIAL_SRC, &how->softmax, special_status))
SPECIAL(mpnum_logsumexp_rows, WAYS, ROWS_OF_THREE,
        mpnum_logsumexp_rows(special_losses, SPECIAL_SRC, &how->softmax, special_status))
SPECIAL(mpnum_cross_entropy_rows, WAYS, ROWS_OF_THREE,
        mpnum_cross_entropy_rows(special_losses, SPECIAL_DST, SPECIAL_SRC,
                                 special_targets, how, special_status))
static mpnum_status with_shares(mpnum_cross_entropy_options how) {
  how.label_smoothing = 0;
  return mpnum_soft_cross_entropy_rows(special_losses, SPECIAL_DST, SPECIAL_SRC,
                                       mpnum_const_matrix_of(MPNUM_TYPE_F32,
                                                             special_shares, special_rows,
                                                             special_columns),
                                       &how, special_status);
}
SPECIAL(mpnum_soft_cross_entropy_rows, WAYS, ROWS_OF_THREE, with_shares(*how))
SPECIAL(mpnum_layer_norm_rows, 1, ROWS_OF_THREE,
        mpnum_layer_norm_rows(SPECIAL_DST, SPECIAL_SRC, special_shares,
                              kind % 2 ? special_shares : NULL, 0))
SPECIAL(mpnum_rms_norm_rows, 1, ROWS_OF_THREE,
        mpnum_rms_norm_rows(SPECIAL_DST, SPECIAL_SRC, special_shares, 1.0f / 65536))
SPECIAL(mpnum_l2_normalize_rows, 1, ROWS_OF_THREE,
        mpnum_l2_normalize_rows(SPECIAL_DST, SPECIAL_SRC, 1.0f / 65536))
/* With mean and inverse, a residual that is the same rows, and their sum. */
static mpnum_normalize_options with_everything(uint32_t kind) {
  static uint8_t sum[sizeof special_src];
  mpnum_normalize_options how = mpnum_normalize_default();
  how.weight = special_shares;
  how.bias = kind % 2 ? special_shares : NULL;
  how.mean = special_losses;
  how.inverse = special_others;
  how.residual = SPECIAL_SRC;
  how.sum = mpnum_matrix_of(special_type, sum, special_rows, special_columns);
  return how;
}
static mpnum_status with_residual(uint32_t kind) {
  const mpnum_normalize_options how = with_everything(kind);
  return mpnum_normalize_rows((mpnum_norm_kind)(kind % 3), SPECIAL_DST, SPECIAL_SRC,
                              &how);
}
SPECIAL(mpnum_normalize_rows, 1, ROWS_OF_THREE, with_residual(kind))
static mpnum_status with_scale(uint32_t kind) {
  const mpnum_normalize_options how = with_everything(kind);
  return spread_codes(mpnum_normalize_quantize_rows(
      (mpnum_norm_kind)(kind % 3),
      mpnum_matrix_of(MPNUM_TYPE_E4M3, special_codes, special_rows, special_columns),
      SPECIAL_SRC, &how, 16, NULL));
}
SPECIAL(mpnum_normalize_quantize_rows, 1, ROWS_OF_THREE, with_scale(kind))
/* Activations of everything, times everything. */
static mpnum_activation_options times_itself(void) {
  mpnum_activation_options how = mpnum_activation_default();
  how.factor = SPECIAL_SRC;
  return how;
}
static mpnum_status with_factor(uint32_t kind) {
  const mpnum_activation_options how = times_itself();
  return mpnum_activation_rows((mpnum_activation)(kind % 3), SPECIAL_DST, SPECIAL_SRC,
                               kind % 2 ? &how : NULL);
}
SPECIAL(mpnum_activation_rows, 1, ROWS_OF_THREE, with_factor(kind))
static mpnum_status with_codes(uint32_t kind) {
  const mpnum_activation_options how = times_itself();
  return spread_codes(mpnum_activation_quantize_rows(
      (mpnum_activation)(kind % 3),
      mpnum_matrix_of(MPNUM_TYPE_E4M3, special_codes, special_rows, special_columns),
      SPECIAL_SRC, kind % 2 ? &how : NULL, 16, NULL));
}
SPECIAL(mpnum_activation_quantize_rows, 1, ROWS_OF_THREE, with_codes(kind))
/* Of the source, dy and the factor the same rows; the gradient of the factor in codes. */
static mpnum_status with_slopes(uint32_t kind) {
  mpnum_activation_options how = times_itself();
  mpnum_status status;
  if (kind % 2) how.limit = 2, how.offset = 1;
  if (kind % 4 == 1) how.alpha = 1.5f;
  if (kind % 5 != 0) how.alpha = 0;
  status = mpnum_activation_backward_rows((mpnum_activation)(kind % 5), SPECIAL_DST,
                                          mpnum_matrix_empty(), SPECIAL_SRC, SPECIAL_SRC,
                                          &how);
  put_special(status);
  return spread_codes(mpnum_activation_backward_quantize_rows(
      (mpnum_activation)(kind % 5), mpnum_matrix_empty(),
      mpnum_matrix_of(MPNUM_TYPE_E5M2, special_codes, special_rows, special_columns),
      SPECIAL_SRC, SPECIAL_SRC, &how, 16, NULL));
}
/* Of a matrix that is as high as it is wide. */
static mpnum_status with_sums(uint32_t kind) {
  static float sums[SPECIAL_ROOM];
  const mpnum_status status = mpnum_sum_columns(sums, SPECIAL_SRC, kind % 2 != 0);
  for (size_t i = 0; i < special_columns; ++i)
    put_f32(sums[i]);
  return status;
}
SPECIAL(mpnum_sum_columns, 1, SQUARE, with_sums(kind))
SPECIAL(mpnum_activation_backward_rows, 1, ROWS_OF_THREE, with_slopes(kind))
SPECIAL(mpnum_dropout_rows, 1, ROWS_OF_THREE,
        mpnum_dropout_rows(SPECIAL_DST, SPECIAL_SRC, kind % 2 ? 0.7f : 0.1f, kind,
                           0xffffffffu + kind))
/* Of rows and of columns. */
static mpnum_status with_gradients(uint32_t kind) {
  static float sums[2][SPECIAL_ROOM];
  mpnum_norm_gradients to = mpnum_norm_gradients_empty();
  mpnum_status status;
  to.input = SPECIAL_DST;
  to.weight = sums[0];
  to.bias = sums[1];
  status = mpnum_normalize_backward_rows((mpnum_norm_kind)(kind % 3), to, SPECIAL_SRC,
                                         SPECIAL_SRC, NULL);
  for (size_t i = 0; i < special_columns; ++i) {
    put_f32(sums[0][i]);
    put_f32(sums[1][i]);
  }
  return status;
}
SPECIAL(mpnum_normalize_backward_rows, 1, ROWS_OF_THREE, with_gradients(kind))
/* What there is of the columns, in blocks of 16 and of 64; other types are refused. */
static mpnum_status with_signs(uint32_t kind, int is_inverse) {
  mpnum_matrix dst = SPECIAL_DST;
  mpnum_const_matrix src = SPECIAL_SRC;
  const int n = kind % 2 ? 16 : 64;
  dst.columns = src.columns = special_columns / (size_t)n * (size_t)n;
  return is_inverse ? mpnum_hadamard_inverse_rows(dst, src, n, kind)
                    : mpnum_hadamard_rows(dst, src, n, kind);
}
SPECIAL(mpnum_hadamard_rows, 1, ROWS_OF_THREE, with_signs(kind, 0))
SPECIAL(mpnum_hadamard_inverse_rows, 1, ROWS_OF_THREE, with_signs(kind, 1))
/* Losses of both directions, and gradients; the diagonal is left out in part. */
static mpnum_contrastive_options with_pairs(const mpnum_cross_entropy_options *of,
                                            uint32_t kind, float scale) {
  static float scratch[4 * MOST_ROWS];
  mpnum_contrastive_options how = mpnum_contrastive_default();
  how.scale = scale;
  how.scratch = scratch;
  if (of->softmax.flags) how.flags = MPNUM_SOFTMAX_MASKED;
  if (of->softmax.flags && kind % 2) how.mask = special_mask;
  return how;
}
static mpnum_status with_diagonal(const mpnum_cross_entropy_options *of, uint32_t kind) {
  const uint32_t scale = of->softmax.flags && kind % 3 == 0 ? 1 : 0x3fc00000u; /* 1.5 */
  const mpnum_contrastive_options how = with_pairs(of, kind, mpnum_from_bits_f32(scale));
  return mpnum_contrastive_loss(special_losses, special_others, SPECIAL_DST, SPECIAL_SRC,
                                &how);
}
SPECIAL(mpnum_contrastive_loss, 2, SQUARE, with_diagonal(how, kind))
static mpnum_status with_cosines(const mpnum_cross_entropy_options *of, uint32_t kind) {
  const mpnum_contrastive_options how = with_pairs(of, kind, 20);
  const int is_second = kind / 2 % 2;
  return mpnum_contrastive_loss_of_embeddings(
      special_losses, is_second ? mpnum_matrix_empty() : SPECIAL_DST,
      is_second ? SPECIAL_DST : mpnum_matrix_empty(), SPECIAL_SRC, SPECIAL_SRC, &how);
}
SPECIAL(mpnum_contrastive_loss_of_embeddings, 2, CUBIC, with_cosines(how, kind))

/* Lengths by first and step, a bias that -Inf and NaN are among, or both. */
static mpnum_softmax_options with_lengths_and_bias(uint32_t kind) {
  mpnum_softmax_options how = mpnum_softmax_default();
  how.scale = 0.75f;
  how.flags = kind % 5 == 4 ? MPNUM_SOFTMAX_LIMIT : 0;
  if (kind % 3 != 1) {
    how.first_length = kind % 2 ? (int64_t)special_columns - 2 : 1;
    how.length_step = kind % 2 ? -1 : (int64_t)(special_columns / 3);
  }
  if (kind % 3 != 0) how.bias = special_shares;
  if (kind % 3 == 1) how.bias_stride = special_columns;
  return how;
}
static mpnum_status with_bias(uint32_t kind) {
  const mpnum_softmax_options how = with_lengths_and_bias(kind);
  return mpnum_softmax_rows(SPECIAL_DST, SPECIAL_SRC, &how, special_status);
}
SPECIAL(mpnum_softmax_rows_biased, 1, ROWS_OF_THREE, with_bias(kind))
/* Added to what is there, small numbers of each type; the losses as one float. */
static mpnum_status with_reduction(uint32_t kind) {
  size_t counted = 0;
  mpnum_status status;
  mpnum_cross_entropy_options how = mpnum_cross_entropy_default();
  how.softmax = with_lengths_and_bias(kind);
  how.softmax.flags = kind % 4 ? MPNUM_SOFTMAX_ACCUMULATE : 0;
  how.ignore_index = -1;
  how.reduction = kind % 2 ? MPNUM_REDUCTION_MEAN : MPNUM_REDUCTION_SUM;
  how.counted = &counted;
  memset(special_dst, 0x3c, sizeof special_dst);
  status = mpnum_cross_entropy_rows(special_losses, SPECIAL_DST, SPECIAL_SRC,
                                    special_targets, &how, special_status);
  put_int((int)counted);
  return status;
}
SPECIAL(mpnum_cross_entropy_rows_reduced, 1, ROWS_OF_THREE, with_reduction(kind))
static mpnum_status with_results(int is_log, uint32_t kind) {
  const mpnum_const_matrix y = mpnum_const_matrix_of(MPNUM_TYPE_F32, special_shares,
                                                     special_rows, special_columns);
  mpnum_softmax_options how = with_lengths_and_bias(kind);
  how.flags = kind % 2 ? MPNUM_SOFTMAX_ACCUMULATE : 0;
  how.mask = kind % 5 == 3 ? special_mask : NULL;
  memset(special_dst, 0x3c, sizeof special_dst);
  return is_log ? mpnum_log_softmax_backward_rows(SPECIAL_DST, SPECIAL_SRC, y, &how)
                : mpnum_softmax_backward_rows(SPECIAL_DST, SPECIAL_SRC, y, &how);
}
SPECIAL(mpnum_softmax_backward_rows, 1, ROWS_OF_THREE, with_results(0, kind))
SPECIAL(mpnum_log_softmax_backward_rows, 1, ROWS_OF_THREE, with_results(1, kind))
static void put_state(mpnum_softmax_state state) {
  put_f32(state.max);
  put_f32(state.sum);
}
static void print_sums(void) {
  HASH(mpnum_exp_sum_f32, FOR_ROWS, {
    make_row(n);
    put_f64(
        mpnum_exp_sum_f32(n % 2 ? row_results : NULL, row_values, n, n % 3 ? 8 : 9.5f));
    if (n % 2) put_row(n);
  });
}
static void print_states(void) {
  HASH(mpnum_softmax_add_special, FOR_ROWS, {
    mpnum_softmax_state state = mpnum_softmax_state_empty();
    make_row(n);
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t bits = special_element(n, i, n);
      const float usual = row_values[i];
      state = mpnum_softmax_add(state, n % 3 ? usual : mpnum_from_bits_f32(bits), 0.75f);
      put_state(state);
    }
  });
  HASH(mpnum_softmax_add_tile_special, FOR_ROWS, {
    mpnum_softmax_state state = mpnum_softmax_state_empty();
    make_row(n);
    for (uint32_t i = 0; i < n && n % 3 == 0; ++i)
      row_values[i] = mpnum_from_bits_f32(special_element(n, i, n));
    for (uint32_t i = 0; i < n; i += 64) {
      const int count = n - i < 64 ? (int)(n - i) : 64;
      state = mpnum_softmax_add_tile(state, row_values + i, count, n % 4 ? 0.75f : 0);
      put_state(state);
    }
  });
}

static void print_ordinary_rows(void) {
  const int64_t target = 0;
  ROWS(mpnum_softmax_rows, must(mpnum_softmax_rows(DST_ROW, SRC_ROW, NULL, NULL)));
  ROWS(mpnum_log_softmax_rows,
       must(mpnum_log_softmax_rows(DST_ROW, SRC_ROW, NULL, NULL)));
  ROWS(mpnum_logsumexp_rows,
       must(mpnum_logsumexp_rows(row_results, SRC_ROW, NULL, NULL)));
  ROWS(mpnum_cross_entropy_rows, {
    must(mpnum_cross_entropy_rows(row_losses, DST_ROW, SRC_ROW, &target, NULL, NULL));
    put_f32(row_losses[0]);
  });
  ROWS(mpnum_layer_norm_rows,
       must(mpnum_layer_norm_rows(DST_ROW, SRC_ROW, NULL, NULL, 1.0f / 65536)));
  ROWS(mpnum_rms_norm_rows,
       must(mpnum_rms_norm_rows(DST_ROW, SRC_ROW, NULL, 1.0f / 65536)));
  ROWS(mpnum_l2_normalize_rows, must(mpnum_l2_normalize_rows(DST_ROW, SRC_ROW, 0)));
}
static void print_row_functions(void) {
#if defined(__GNUC__) && (defined(__SSE2__) || defined(__aarch64__))
  const int has_rows = 1;
#else
  const int has_rows = has_f32_functions;
#endif
  if (!has_rows) {
    printf("mpnum_softmax_rows -\nmpnum_log_softmax_rows -\nmpnum_logsumexp_rows -\n"
           "mpnum_cross_entropy_rows -\nmpnum_layer_norm_rows -\nmpnum_rms_norm_rows -\n"
           "mpnum_l2_normalize_rows -\nmpnum_softmax_rows_special -\n"
           "mpnum_log_softmax_rows_special -\nmpnum_logsumexp_rows_special -\n"
           "mpnum_cross_entropy_rows_special -\nmpnum_soft_cross_entropy_rows_special -\n"
           "mpnum_layer_norm_rows_special -\nmpnum_rms_norm_rows_special -\n"
           "mpnum_l2_normalize_rows_special -\nmpnum_normalize_rows_special -\n"
           "mpnum_normalize_quantize_rows_special -\nmpnum_activation_rows_special -\n"
           "mpnum_activation_quantize_rows_special -\n"
           "mpnum_activation_backward_rows_special -\nmpnum_dropout_rows_special -\n"
           "mpnum_sum_columns_special -\n"
           "mpnum_normalize_backward_rows_special -\nmpnum_hadamard_rows_special -\n"
           "mpnum_hadamard_inverse_rows_special -\nmpnum_contrastive_loss_special -\n"
           "mpnum_contrastive_loss_of_embeddings_special -\n"
           "mpnum_softmax_rows_biased_special -\n"
           "mpnum_cross_entropy_rows_reduced_special -\n"
           "mpnum_softmax_backward_rows_special -\n"
           "mpnum_log_softmax_backward_rows_special -\nmpnum_exp_sum_f32 -\n");
    return;
  }
  print_ordinary_rows();
  print_mpnum_softmax_rows();
  print_mpnum_log_softmax_rows();
  print_mpnum_logsumexp_rows();
  print_mpnum_cross_entropy_rows();
  print_mpnum_soft_cross_entropy_rows();
  print_mpnum_layer_norm_rows();
  print_mpnum_rms_norm_rows();
  print_mpnum_l2_normalize_rows();
  print_mpnum_normalize_rows();
  print_mpnum_normalize_quantize_rows();
  print_mpnum_activation_rows();
  print_mpnum_activation_quantize_rows();
  print_mpnum_activation_backward_rows();
  print_mpnum_dropout_rows();
  print_mpnum_sum_columns();
  print_mpnum_normalize_backward_rows();
  print_mpnum_hadamard_rows();
  print_mpnum_hadamard_inverse_rows();
  print_mpnum_contrastive_loss();
  print_mpnum_contrastive_loss_of_embeddings();
  print_mpnum_softmax_rows_biased();
  print_mpnum_cross_entropy_rows_reduced();
  print_mpnum_softmax_backward_rows();
  print_mpnum_log_softmax_backward_rows();
  print_sums();
}
static void print_rows(void) {
  print_row_functions();
  if (has_f32_functions) {
    print_states();
  } else {
    printf("mpnum_softmax_add_special -\nmpnum_softmax_add_tile_special -\n");
  }
}

#endif
