/* SPDX-License-Identifier: MIT */
/* Rows take no longer for some data: tests/harness/data_sets.h. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "../harness/data_sets.h"

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

int main(void) {
  traps_are_caught();
  RUN_WHERE_FLUSHED(no_data_set_makes_rows_trap);
  return tap_done();
}
