/* SPDX-License-Identifier: MIT */
/* Rows take no longer for some data: tests/harness/data_sets.h. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "../harness/data_sets.h"

#include <mpnum/rows/activation_backward.h>

enum { MOST = 8192 };
static const mpnum_type types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16,
                                   MPNUM_TYPE_E5M2, MPNUM_TYPE_E4M3};
enum { TYPES = sizeof types / sizeof types[0] };
typedef enum row_kind { SOFTMAX, LOG_SOFTMAX, CROSS_ENTROPY, SMOOTHED, KINDS } row_kind;
static const char *const kind_names[] = {"softmax", "log-softmax", "cross-entropy",
                                         "smoothed cross-entropy"};
static float x[MOST], bias[MOST];
static uint8_t source[4 * MOST], mask[MOST];
static int64_t targets[MOST];
static struct call {
  row_kind kind;
  mpnum_type from, to;
  size_t rows, columns;
  mpnum_softmax_options options;
  float factor;
  int has_result; /* of cross-entropy: its gradient */
  mpnum_status status;
  uint8_t result[4 * MOST];
  float losses[MOST];
  mpnum_row_status row_status[MOST];
} call, want;

static void make_rows(void) {
  const mpnum_const_matrix src =
      mpnum_const_matrix_of(call.from, source, call.rows, call.columns);
  const mpnum_matrix dst = mpnum_matrix_of(call.to, call.has_result ? call.result : NULL,
                                           call.rows, call.columns);
  mpnum_cross_entropy_options options = mpnum_cross_entropy_default();
  switch (call.kind) {
  case SOFTMAX:
    call.status = mpnum_softmax_rows(dst, src, &call.options, call.row_status);
    break;
  case LOG_SOFTMAX:
    call.status = mpnum_log_softmax_rows(dst, src, &call.options, call.row_status);
    break;
  default:
    options.softmax = call.options;
    options.factor = call.factor;
    if (call.kind == SMOOTHED) options.label_smoothing = 0.1f;
    call.status = mpnum_cross_entropy_rows(call.losses, dst, src, targets, &options,
                                           call.row_status);
  }
}
static void prepare(void) {
  memset(call.result, 0, sizeof call.result);
  memset(call.losses, 0, sizeof call.losses);
  memset(call.row_status, 0, sizeof call.row_status);
}
/* Softmax and gradients that are f32 or bf16 keep subnormals: not so their losses. */
static int is_flushed(void) {
  return call.kind == LOG_SOFTMAX || !call.has_result ||
         (call.to != MPNUM_TYPE_F32 && call.to != MPNUM_TYPE_BF16);
}
static void check_call(const char *data_name, mpnum_isa isa) {
  prepare();
  run_scalar(make_rows);
  want = call;
  prepare();
  if (!is_flushed()) usual_word = 0x1f80u;
  CHECK(!traps(make_rows), "%s of %zu x %zu %s to %s of %s traps with %s",
        kind_names[call.kind], call.rows, call.columns, mpnum_type_name(call.from),
        mpnum_type_name(call.to), data_name, mpnum_isa_name(isa));
  usual_word = 0x1680u;
  CHECK(call.status == MPNUM_OK && want.status == MPNUM_OK &&
            memcmp(call.result, want.result, sizeof want.result) == 0 &&
            memcmp(call.losses, want.losses, sizeof want.losses) == 0 &&
            memcmp(call.row_status, want.row_status, sizeof want.row_status) == 0,
        "%s of %zu x %zu %s to %s of %s gives other bits with %s", kind_names[call.kind],
        call.rows, call.columns, mpnum_type_name(call.from), mpnum_type_name(call.to),
        data_name, mpnum_isa_name(isa));
}
/* Sets, and as often rows that spread: from some number down to 0, whose shares become
 * subnormal. */
static void draw_source(data set, int spreads) {
  static const float spread[] = {90, 100, 3, 200};
  const float most = spread[random32() % 4];
  for (size_t i = 0; i < call.rows * call.columns; ++i) {
    x[i] = element_of(set);
    if (spreads) x[i] = -most * (float)(random32() >> 8) * 0x1p-24f;
    bias[i] = random32() % 2 ? element_of(SUBNORMAL) : 0;
    mask[i] = random32() % 8 != 0;
  }
}
static void draw_call(data set, int spreads) {
  static const size_t shapes[][2] = {{4, 64}, {3, 100}, {2, 1000}, {1, 256}, {1, 5000}};
  static const float scales[] = {1, 1, 0.125f, 0x1p10f, 0x1p-64f};
  static const float factors[] = {1, 0x1p-20f, -0x1.8p-38f, 0x1p16f};
  const size_t *shape = shapes[random32() % 5];
  call.rows = shape[0];
  call.columns = shape[1];
  call.factor = factors[random32() % 4];
  call.has_result = call.kind < CROSS_ENTROPY || random32() % 2;
  call.options = mpnum_softmax_default();
  call.options.scale = scales[random32() % 5];
  /* gradients of a smaller factor are not flushed */
  if (call.kind >= CROSS_ENTROPY && call.options.scale < 1) call.options.scale = 0.5f;
  if (call.options.scale == 0.5f) call.factor = 0x1p-20f;
  draw_source(set, spreads);
  if (random32() % 4 == 0) {
    call.options.mask = mask;
    call.options.mask_stride = call.columns;
  }
  if (random32() % 4 == 0) {
    call.options.bias = bias;
    call.options.bias_stride = call.columns;
  }
  for (size_t i = 0; i < call.rows; ++i)
    targets[i] = (int64_t)(random32() % call.columns);
}
static void check_rows(mpnum_isa isa) {
  state = 11;
  for (int set = NORMAL; set <= DATA; ++set)
    for (int k = 0; k < KINDS; ++k)
      for (int s = 0; s < TYPES; ++s)
        for (int d = 0; d < TYPES; ++d) {
          const int spreads = set == DATA;
          call.kind = (row_kind)k;
          call.from = types[s];
          call.to = types[d];
          draw_call(spreads ? NORMAL : (data)set, spreads);
          usual_word = 0x1f80u;
          CHECK(mpnum_convert_array(call.from, source, MPNUM_TYPE_F32, x,
                                    call.rows * call.columns, MPNUM_ROUND_NEAREST_EVEN,
                                    MPNUM_OVERFLOW_IEEE, 0, 0) == MPNUM_OK,
                "no source");
          usual_word = 0x1680u;
          check_call(spreads ? "spread rows" : data_names[set], isa);
        }
}
static void no_data_set_makes_rows_trap(void) {
  for_each_isa(MPNUM_ISA_SSE2, check_rows);
}

/* Rows of products: norms and their gradients. Doubles made of subnormal floats raise the
 * exception of subnormal operands and cost nothing: what traps here are results alone. */
typedef struct product_rows {
  const char *name;
  int flushes_low;    /* where all are near 2^-126, too */
  int flushes_spread; /* where sources are from -100 to 0 */
  void (*run)(void);
  int flushes_finite; /* where all are random bits of finite numbers, or usual but for
                         gradients below 2^-96, too */
} product_rows;
static uint8_t gradient[4 * MOST], factor[4 * MOST];
static float weight[MOST], of_columns[MOST];
static mpnum_type type_of_rows;
static size_t rows, columns;
static float epsilon = 1e-5f;        /* of gradients */
static float saved_numbers[2][MOST]; /* mean and inverse of rows */
static int are_saved;
static int has_sums; /* of columns, which may be subnormal where rows are few */
static struct products {
  mpnum_status status;
  uint8_t first[4 * MOST], second[4 * MOST];
  float of_columns[2][MOST];
} made, expected;
static mpnum_matrix rows_to(uint8_t *results) {
  return mpnum_matrix_of(type_of_rows, results, rows, columns);
}
static mpnum_const_matrix rows_of(const uint8_t *elements) {
  return mpnum_const_matrix_of(type_of_rows, elements, rows, columns);
}
static void norm_by(mpnum_norm_kind kind, int has_weight, int has_bias,
                    int has_residual) {
  mpnum_normalize_options options = mpnum_normalize_default();
  if (has_weight) options.weight = weight;
  if (has_bias) options.bias = of_columns;
  if (has_residual) options.residual = rows_of(factor);
  options.epsilon = 0; /* by which the number that a mean lacks may be subnormal */
  made.status =
      mpnum_normalize_rows(kind, rows_to(made.first), rows_of(source), &options);
}
static void norm_back_by(mpnum_norm_kind kind, int has_weight, int adds) {
  mpnum_normalize_options options = mpnum_normalize_default();
  mpnum_norm_gradients to = mpnum_norm_gradients_empty();
  if (has_weight) options.weight = weight;
  options.epsilon = epsilon;
  if (are_saved) {
    options.mean = saved_numbers[0];
    options.inverse = saved_numbers[1];
  }
  to.input = rows_to(made.first);
  to.adds = adds;
  if (adds) memset(made.first, 0x3f, sizeof made.first); /* of either type 3/4 */
  if (has_sums) {
    to.weight = made.of_columns[0];
    to.bias = made.of_columns[1];
  }
  made.status = mpnum_normalize_backward_rows(kind, to, rows_of(gradient),
                                              rows_of(source), &options);
}
static void norm_back(mpnum_norm_kind kind, int has_weight) {
  norm_back_by(kind, has_weight, 0);
}
static void rms(void) { norm_by(MPNUM_NORM_RMS, 0, 0, 0); }
static void rms_weight(void) { norm_by(MPNUM_NORM_RMS, 1, 0, 0); }
static void rms_bias(void) { norm_by(MPNUM_NORM_RMS, 0, 1, 0); }
static void rms_weight_bias(void) { norm_by(MPNUM_NORM_RMS, 1, 1, 0); }
static void rms_residual(void) { norm_by(MPNUM_NORM_RMS, 1, 0, 1); }
static void l2(void) { norm_by(MPNUM_NORM_L2, 0, 0, 0); }
static void layer_plain(void) { norm_by(MPNUM_NORM_LAYER, 0, 0, 0); }
static void layer(void) { norm_by(MPNUM_NORM_LAYER, 1, 0, 0); }
static void layer_bias(void) { norm_by(MPNUM_NORM_LAYER, 1, 1, 0); }
static void rms_back(void) { norm_back(MPNUM_NORM_RMS, 0); }
static void rms_weight_back(void) { norm_back(MPNUM_NORM_RMS, 1); }
static void l2_back(void) { norm_back(MPNUM_NORM_L2, 0); }
static void rms_back_added(void) { norm_back_by(MPNUM_NORM_RMS, 1, 1); }
static void layer_back(void) { norm_back(MPNUM_NORM_LAYER, 1); }
static void activation_of(mpnum_activation activation, float alpha) {
  mpnum_activation_options options = mpnum_activation_default();
  options.factor = rows_of(factor);
  options.alpha = alpha;
  made.status =
      mpnum_activation_rows(activation, rows_to(made.first), rows_of(source), &options);
}
static void activation_back_by(mpnum_activation activation, int has_factor,
                               mpnum_activation_options options) {
  if (has_factor) options.factor = rows_of(factor);
  if (options.adds) {
    memcpy(made.first, factor, sizeof made.first);
    memcpy(made.second, gradient, sizeof made.second);
  }
  made.status = mpnum_activation_backward_rows(
      activation, rows_to(made.first),
      has_factor ? rows_to(made.second) : mpnum_matrix_empty(), rows_of(gradient),
      rows_of(source), &options);
}
static void activation_back(mpnum_activation activation, int has_factor) {
  activation_back_by(activation, has_factor, mpnum_activation_default());
}
static void limited_back(mpnum_activation activation, float limit, float offset,
                         int adds) {
  mpnum_activation_options options = mpnum_activation_default();
  options.limit = limit;
  options.offset = offset;
  options.adds = adds;
  activation_back_by(activation, 1, options);
}
static void swiglu_limited_back(void) { limited_back(MPNUM_ACTIVATION_SILU, 2, 1, 0); }
static void swiglu_added_back(void) { limited_back(MPNUM_ACTIVATION_SILU, 0, 0, 1); }
static void geglu_offset_back(void) {
  limited_back(MPNUM_ACTIVATION_GELU, 0, -0x1p-126f, 1);
}
static void reglu_limited_back(void) {
  limited_back(MPNUM_ACTIVATION_RELU, 0x1p-130f, 0, 1);
}
static void swiglu(void) { activation_of(MPNUM_ACTIVATION_SILU, 1); }
static void swiglu_alpha(void) { activation_of(MPNUM_ACTIVATION_SILU, 1.702f); }
static void geglu(void) { activation_of(MPNUM_ACTIVATION_GELU, 0); }
static void reglu(void) { activation_of(MPNUM_ACTIVATION_RELU, 0); }
static void silu_back(void) { activation_back(MPNUM_ACTIVATION_SILU, 0); }
static void swiglu_back(void) { activation_back(MPNUM_ACTIVATION_SILU, 1); }
static void geglu_back(void) { activation_back(MPNUM_ACTIVATION_GELU, 1); }
static void reglu_back(void) { activation_back(MPNUM_ACTIVATION_RELU, 1); }
static void softmax(void) {
  mpnum_softmax_options options = mpnum_softmax_default();
  made.status =
      mpnum_softmax_rows(rows_to(made.first), rows_of(source), &options, call.row_status);
}
/* Gradients through softmax, and of cross-entropy; added to what the factor was. */
static mpnum_softmax_options softmax_of(int accumulates) {
  mpnum_softmax_options options = mpnum_softmax_default();
  if (accumulates) {
    options.flags = MPNUM_SOFTMAX_ACCUMULATE;
    memcpy(made.first, factor, sizeof made.first);
  }
  return options;
}
static void softmax_back_by(int accumulates, float scale) {
  mpnum_softmax_options options = softmax_of(accumulates);
  options.scale = scale;
  made.status = mpnum_softmax_backward_rows(rows_to(made.first), rows_of(gradient),
                                            rows_of(source), &options);
}
static void softmax_back(void) { softmax_back_by(0, 1); }
static void softmax_back_more(void) { softmax_back_by(1, 0.3f); }
static void log_softmax_back(void) {
  mpnum_softmax_options options = softmax_of(0);
  made.status = mpnum_log_softmax_backward_rows(rows_to(made.first), rows_of(gradient),
                                                rows_of(source), &options);
}
static void cross_entropy_by(int accumulates, float by, float smoothing) {
  mpnum_cross_entropy_options options = mpnum_cross_entropy_default();
  options.softmax = softmax_of(accumulates);
  options.factor = by;
  options.label_smoothing = smoothing;
  made.status = mpnum_cross_entropy_rows(call.losses, rows_to(made.first),
                                         rows_of(source), targets, &options, NULL);
}
static void cross_entropy(void) { cross_entropy_by(0, 1, 0); }
static void cross_entropy_more(void) { cross_entropy_by(1, -0.7f, 0); }
static void cross_entropy_smoothed(void) { cross_entropy_by(0, 0x1.8p-30f, 0x1p-90f); }
/* Of some the bits alone are looked at: sums that are subnormal, or have such operands,
 * as bounded values are, trap, but cost nothing; few products are, which may come late;
 * an fma of SSE2 is made of doubles, whose sums are not kept apart. */
static int may_trap_always(void (*run)(void), mpnum_isa isa) {
  return run == log_softmax_back || run == cross_entropy_smoothed ||
         run == rms_residual || run == swiglu_limited_back || run == geglu_offset_back ||
         run == reglu_limited_back ||
         (isa == MPNUM_ISA_SSE2 &&
          (run == softmax_back || run == softmax_back_more || run == rms_bias ||
           run == rms_weight_bias || run == layer_bias));
}
static void hadamard(void) {
  made.status = mpnum_hadamard_rows(rows_to(made.first), rows_of(source), 16, 7);
}
static void hadamard_inverse(void) {
  made.status = mpnum_hadamard_inverse_rows(rows_to(made.first), rows_of(source), 64, 7);
}
static const product_rows rows_of_products[] = {
    {"hadamard", 1, 0, hadamard, 0},
    {"inverse of hadamard", 1, 0, hadamard_inverse, 0},
    {"softmax", 0, 1, softmax, 0},
    {"gradient of softmax", 0, 0, softmax_back, 0},
    {"gradient of softmax, added", 0, 0, softmax_back_more, 0},
    {"gradient of log-softmax", 0, 0, log_softmax_back, 0},
    {"cross-entropy", 0, 1, cross_entropy, 0},
    {"cross-entropy, added", 0, 1, cross_entropy_more, 0},
    {"cross-entropy, smoothed", 0, 0, cross_entropy_smoothed, 0},
    {"swiglu", 1, 1, swiglu, 0},
    {"swiglu with alpha", 1, 0, swiglu_alpha, 0},
    {"geglu", 1, 0, geglu, 0},
    {"reglu", 1, 0, reglu, 0},
    {"gradient of silu", 0, 0, silu_back, 0},
    {"gradient of swiglu", 0, 0, swiglu_back, 0},
    {"gradient of geglu", 0, 0, geglu_back, 0},
    {"gradient of reglu", 0, 0, reglu_back, 0},
    {"gradient of swiglu with bounds", 0, 0, swiglu_limited_back, 0},
    {"gradient of swiglu, added", 0, 0, swiglu_added_back, 0},
    {"gradient of geglu with an offset, added", 0, 0, geglu_offset_back, 0},
    {"gradient of reglu with bounds, added", 0, 0, reglu_limited_back, 0},
    {"rms norm", 1, 0, rms, 1},
    {"rms norm by weights", 1, 0, rms_weight, 1},
    {"rms norm with a bias", 1, 0, rms_bias, 1},
    {"rms norm by weights with a bias", 1, 0, rms_weight_bias, 1},
    {"rms norm with a residual", 1, 0, rms_residual, 1},
    {"l2 norm", 1, 0, l2, 1},
    {"layer norm", 1, 0, layer_plain, 1},
    {"layer norm by weights", 1, 0, layer, 1},
    {"layer norm by weights with a bias", 1, 0, layer_bias, 1},
    {"gradient of rms norm", 0, 0, rms_back, 1},
    {"gradient of rms norm by weights", 0, 0, rms_weight_back, 1},
    {"gradient of rms norm, added", 0, 0, rms_back_added, 1},
    {"gradient of l2 norm", 0, 0, l2_back, 1},
    {"gradient of layer norm", 0, 0, layer_back, 1}};
enum { PRODUCTS = sizeof rows_of_products / sizeof rows_of_products[0] };
enum { SPREAD = DATA + 1, FINITE, SMALL_GRADIENTS, SETS };
/* Of a set; or any of some dozen exponents, from subnormal ones up. */
static float element_from(data set) {
  const uint32_t word = random32();
  if ((int)set == SMALL_GRADIENTS) /* below 2^-96 */
    return mpnum_from_bits_f32(word & 0x8fffffffu);
  if ((int)set == FINITE) /* as bf16, too */
    return mpnum_from_bits_f32(word & (~word & 0x7f000000u ? ~0u : ~0x01000000u));
  if (set != DATA) return element_of(set);
  switch (word % 4) {
  case 0: return mpnum_from_bits_f32(random32() & 0x8fffffffu);
  case 1: return mpnum_from_bits_f32(random32() & 0x807fffffu);
  case 2: return 0x1p-60f * usual();
  default: return usual();
  }
}
static void draw_products(int set) {
  static float drawn[MOST];
  uint8_t *const to[] = {source, gradient, factor};
  for (int k = 0; k < 3; ++k) {
    for (size_t i = 0; i < rows * columns; ++i)
      drawn[i] = set == SPREAD
                     ? (k ? usual() : -100 * (float)(random32() >> 8) * 0x1p-24f)
                 : set == SMALL_GRADIENTS && k != 1 ? usual()
                                                    : element_from((data)set);
    for (size_t i = 0; set >= FINITE && k == 1 && i < rows * columns; ++i)
      if (i % columns % 2048 == 0) drawn[i] = -0x1.8p-128f; /* what a tile begins with */
    CHECK(mpnum_convert_array(type_of_rows, to[k], MPNUM_TYPE_F32, drawn, rows * columns,
                              MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0,
                              0) == MPNUM_OK,
          "no source");
  }
  for (size_t i = 0; i < columns; ++i) {
    weight[i] = set == DATA ? element_from(DATA) : 1 + 0.125f * usual();
    of_columns[i] = set == DATA ? element_from(DATA) : random32() % 2 ? 0 : usual();
  }
}
static void check_products(const product_rows *one, int set, mpnum_isa isa) {
  const int may_trap = (set >= BITS && !(set == LOW && one->flushes_low) &&
                        !(set == SPREAD && one->flushes_spread) &&
                        !(set >= FINITE && one->flushes_finite)) ||
                       may_trap_always(one->run, isa);
  const char *const set_name = set == SPREAD            ? "spread"
                               : set == FINITE          ? "finite bits"
                               : set == SMALL_GRADIENTS ? "small gradients"
                               : set == DATA            ? "mixed"
                                                        : data_names[set];
  usual_word = 0x1f80u;
  has_sums = may_trap;
  draw_products(set);
  for (size_t i = 0; i < rows; ++i)
    targets[i] = (int64_t)(random32() % columns);
  memset(&made, 0, sizeof made);
  run_scalar(one->run);
  expected = made;
  memset(&made, 0, sizeof made);
  usual_word = may_trap ? 0x1f80u : 0x1780u;
  CHECK(!traps(one->run), "%s of %zu x %zu %s of %s traps with %s", one->name, rows,
        columns, mpnum_type_name(type_of_rows), set_name, mpnum_isa_name(isa));
  CHECK(made.status == MPNUM_OK && memcmp(&made, &expected, sizeof made) == 0,
        "%s of %zu x %zu %s of %s gives other bits with %s", one->name, rows, columns,
        mpnum_type_name(type_of_rows), set_name, mpnum_isa_name(isa));
}
static void check_all_products(mpnum_isa isa) {
  static const size_t shapes[][2] = {{2, 1024}, {3, 256}, {1, 5056}, {2, 320}};
  state = 12;
  for (int k = 0; k < PRODUCTS; ++k)
    for (int set = NORMAL; set < SETS; ++set)
      for (int t = 0; t < 2; ++t) {
        const size_t *const shape = shapes[random32() % 4];
        rows = shape[0];
        columns = shape[1];
        type_of_rows = t ? MPNUM_TYPE_BF16 : MPNUM_TYPE_F32;
        check_products(&rows_of_products[k], set, isa);
      }
  usual_word = 0x1680u;
}
static void no_data_set_makes_rows_of_products_trap(void) {
  for_each_isa(MPNUM_ISA_SSE2, check_all_products);
}

/* Gradients of norms of rows whose numbers are near the ends of the range, of few bits,
 * as ties are, or nearly cancelled; by saved numbers of any other rows, too. */
static float number_near(int exponent, int spread) {
  const int field =
      127 + exponent + (int)(random32() % (unsigned)(2 * spread + 1)) - spread;
  const uint32_t word = random32(), bits = word & 0x7fffffu & ~0u << random32() % 24;
  if (word % 8 == 0) return mpnum_from_bits_f32(word & 0x80000000u);
  if (field > 254) return mpnum_from_bits_f32((word & 0x80000000u) | 0x7f000000u | bits);
  if (field > 0)
    return mpnum_from_bits_f32((word & 0x80000000u) | (uint32_t)field << 23 | bits);
  return mpnum_from_bits_f32((word & 0x80000000u) | bits >> (-field % 23));
}
static void draw_near_limits(void) {
  static const int centers[] = {0, 0, -100, -126, -149, 60, 120};
  static const int spreads[] = {0, 1, 12, 30, 300};
  static float from[MOST], to[MOST];
  const int of_source = centers[random32() % 7], of_gradient = centers[random32() % 7];
  const int spread = spreads[random32() % 5], cancels = random32() % 3 == 0;
  const float factor_of_all = number_near(of_gradient - of_source, 3);
  for (size_t i = 0; i < rows * columns; ++i) {
    from[i] = number_near(of_source, spread);
    to[i] = cancels ? from[i] * factor_of_all : number_near(of_gradient, spread);
  }
  memcpy(source, from, sizeof from);
  memcpy(gradient, to, sizeof to);
  for (size_t i = 0; i < columns; ++i)
    weight[i] = cancels ? 1 : number_near(0, 3);
  for (size_t i = 0; i < rows; ++i) {
    saved_numbers[0][i] = number_near(of_source, 30);
    saved_numbers[1][i] =
        mpnum_from_bits_f32(mpnum_bits_f32(number_near(-of_source, 60)) & 0x7fffffffu);
  }
}
static void check_near_limits(mpnum_isa isa) {
  static void (*const gradients[])(void) = {rms_back, rms_weight_back, rms_back_added,
                                            l2_back, layer_back};
  static const float epsilons[] = {1e-5f, 0, 0x1p-120f};
  state = 15;
  rows = 2;
  columns = 300;
  type_of_rows = MPNUM_TYPE_F32;
  has_sums = 1;
  usual_word = 0x1f80u;
  for (int k = 0; k < 600; ++k) {
    void (*const run)(void) = gradients[random32() % 5];
    epsilon = epsilons[random32() % 3];
    are_saved = random32() % 4 == 0;
    rows = k % 20 ? 2 : 1; /* some rows have more than one piece */
    columns = k % 20 ? 300 : MOST - random32() % 9;
    draw_near_limits();
    memset(&made, 0, sizeof made);
    run_scalar(run);
    expected = made;
    memset(&made, 0, sizeof made);
    run();
    CHECK(made.status == MPNUM_OK && memcmp(&made, &expected, sizeof made) == 0,
          "gradients %d near the limits have other bits with %s", k, mpnum_isa_name(isa));
  }
  are_saved = 0;
  usual_word = 0x1680u;
}
static void gradients_near_limits_keep_their_bits(void) {
  for_each_isa(MPNUM_ISA_SSE2, check_near_limits);
}

/* Squares that are subnormal, or nothing, and of usual numbers. */
static void relu_squared(void) {
  const mpnum_activation_options options = mpnum_activation_default();
  made.status = mpnum_activation_rows(MPNUM_ACTIVATION_RELU_SQUARED, rows_to(made.first),
                                      rows_of(source), &options);
}
static void check_squares(mpnum_isa isa) {
  state = 14;
  rows = 2;
  columns = 1000;
  type_of_rows = MPNUM_TYPE_F32;
  for (size_t i = 0; i < rows * columns; ++i) {
    const uint32_t field = random32() % 4 ? 127 - 62 - random32() % 16 : random32() % 200;
    x[i] = mpnum_from_bits_f32((random32() & 0x807fffffu) | field << 23);
  }
  memcpy(source, x, sizeof x);
  memset(&made, 0, sizeof made);
  run_scalar(relu_squared);
  expected = made;
  memset(&made, 0, sizeof made);
  usual_word = 0x1780u;
  CHECK(!traps(relu_squared), "relu squared traps with %s", mpnum_isa_name(isa));
  usual_word = 0x1680u;
  CHECK(made.status == MPNUM_OK && memcmp(&made, &expected, sizeof made) == 0,
        "relu squared gives other bits with %s", mpnum_isa_name(isa));
}
static void squares_of_no_size_do_not_trap(void) {
  for_each_isa(MPNUM_ISA_SSE2, check_squares);
}

int main(void) {
  traps_are_caught();
  RUN_WHERE_FLUSHED(no_data_set_makes_rows_trap);
  RUN_WHERE_FLUSHED(no_data_set_makes_rows_of_products_trap);
  RUN_WHERE_FLUSHED(gradients_near_limits_keep_their_bits);
  RUN_WHERE_FLUSHED(squares_of_no_size_do_not_trap);
  return tap_done();
}
