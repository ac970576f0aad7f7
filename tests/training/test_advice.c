/* SPDX-License-Identifier: MIT */
/* Advice: against tables written by hand, and properties checked in doubles. */
#include "../reference/conversion_inputs.h"
#include "../harness/control_word.h"
#include "stored_checks.h"
#include "../reference/reference.h"
#include "../harness/must.h"
#include "../harness/no_type.h"
#include "../harness/tap.h"

#include <mpnum/training/advice.h>
#include <mpnum/training/probe.h>
#include <mpnum/training/operation_policy.h>
#include <mpnum/mpnum.h>

#include <math.h>
#include <string.h>

enum { TYPES = 16 };
static uint64_t state = 5;

static mpnum_type type_number(int k) { return (mpnum_type)(k + 1); }

static void types_that_need_loss_scaling(void) {
  const char *wanted =
      " f16 e5m2 e4m3 e5m2fnuz e4m3fnuz e3m4 e3m2 e2m3 e2m1 ue5m3 ue4m3 ";
  CHECK((int)TYPES == (int)LAST_TYPE,
        "TYPES and the tables of that length want a row for type %d", (int)LAST_TYPE);
  for (int k = 0; k < TYPES; ++k) {
    char name[16];
    snprintf(name, sizeof name, " %s ", mpnum_type_name(type_number(k)));
    CHECK(mpnum_needs_loss_scaling(type_number(k)) == (strstr(wanted, name) != NULL),
          "%s", name);
  }
  CHECK(!mpnum_needs_loss_scaling((mpnum_type)0), "none");
}

/* amax scale 2^headroom is at most max, and twice as much is above it. */
static void best_scales_just_fit(void) {
  for (int k = 1; k < TYPES; ++k)
    for (int i = 0; i < 2000; ++i) {
      const mpnum_format format = mpnum_format_of(type_number(k));
      const float amax =
          mpnum_from_bits_f32((uint32_t)(random_bits(&state) >> 33) % 0x7f7fffffu + 1);
      const int headroom = (int)(random_bits(&state) % 7) - 2;
      const double scale = (double)mpnum_best_scale(format, amax, headroom);
      const double used = ldexp((double)amax * scale, headroom);
      const double max = (double)mpnum_format_max(format);
      CHECK(used <= max || scale == 0x1p-126, "%s %a: %a",
            mpnum_type_name(type_number(k)), (double)amax, scale);
      CHECK(2 * used > max || scale == 0x1p126, "%s %a: %a",
            mpnum_type_name(type_number(k)), (double)amax, scale);
    }
}
static void best_scales_by_hand(void) {
  const mpnum_format e4m3 = mpnum_format_of(MPNUM_TYPE_E4M3);
  CHECK(mpnum_best_scale(e4m3, 1, 0) == 256 && mpnum_best_scale(e4m3, 3, 0) == 128 &&
            mpnum_best_scale(e4m3, 448, 0) == 1 &&
            mpnum_best_scale(e4m3, -449, 0) == 0.5f && mpnum_best_scale(e4m3, 1, 2) == 64,
        "e4m3");
  CHECK(mpnum_best_scale(e4m3, 0, 0) == 1 &&
            mpnum_best_scale(e4m3, mpnum_from_bits_f32(0x7f800000u), 0) == 1 &&
            mpnum_best_scale(e4m3, mpnum_from_bits_f32(0x7fc00000u), 0) == 1 &&
            mpnum_best_scale(mpnum_format_of(MPNUM_TYPE_F64), 1, 0) == 1,
        "nothing to go by");
  CHECK(mpnum_best_scale(e4m3, 1, 2147483647) == 0x1p-126f &&
            mpnum_best_scale(e4m3, 1, -2147483647 - 1) == 0x1p126f,
        "ends");
}

static void best_types_lose_little(void) {
  const mpnum_type candidates[] = {MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2, MPNUM_TYPE_F16,
                                   MPNUM_TYPE_BF16};
  static const struct row {
    int low, high; /* exponents of values, 1000 each */
    mpnum_type type;
    float scale;
  } rows[] = {
      {-3, 3, MPNUM_TYPE_E4M3, 0x1p4f},    /* below 16, times 16: 256 */
      {-20, -7, MPNUM_TYPE_E4M3, 0x1p14f}, /* down to 2^-20 is 2^-6 */
      {-25, -1, MPNUM_TYPE_E5M2, 0x1p15f}, /* the lowest to 2^-10, below 2^-17 none */
      {-30, -1, MPNUM_TYPE_E5M2, 0x1p15f}, {-36, -1, MPNUM_TYPE_F16, 0x1p15f},
      {-70, -1, MPNUM_TYPE_BF16, 1},       {-140, 120, MPNUM_TYPE_F32, 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    mpnum_histogram histogram = mpnum_histogram_empty();
    float scale = -1;
    for (int k = rows[i].low; k <= rows[i].high; ++k)
      histogram.counts[k + 127 > 0 ? k + 127 : 0] += 1000;
    const mpnum_type got = mpnum_best_type(&histogram, candidates, 4, 0.0f, 0, &scale);
    CHECK(got == rows[i].type && scale == rows[i].scale, "2^%d to 2^%d: %s by %a",
          rows[i].low, rows[i].high, mpnum_type_name(got), (double)scale);
  }
  mpnum_histogram histogram = mpnum_histogram_empty();
  float scale = -1;
  for (int i = 0; i < 3; ++i) { /* nothing, zeros, Inf and NaN */
    if (i == 1) histogram.zeros = 9;
    if (i == 2) histogram.counts[255] = 9;
    CHECK(mpnum_best_type(&histogram, candidates, 4, 0, 0, &scale) == MPNUM_TYPE_E4M3 &&
              scale == 1,
          "no value: %a", (double)scale);
  }
  CHECK(mpnum_best_type(&histogram, candidates, 0, 0, 0, &scale) == MPNUM_TYPE_F32 &&
            scale == 1,
        "no candidate");
  const mpnum_type unknown[] = {(mpnum_type)0, (mpnum_type)77, MPNUM_TYPE_F16};
  CHECK(mpnum_best_type(&histogram, unknown, 3, 0, 0, &scale) == MPNUM_TYPE_F16,
        "unknown types");
  histogram = mpnum_histogram_empty();
  histogram.counts[127] = 99;
  histogram.counts[127 - 60] = 1;
  CHECK(mpnum_best_type(&histogram, candidates, 4, 0.01f, 0, &scale) == MPNUM_TYPE_E4M3 &&
            mpnum_best_type(&histogram, candidates, 4, 0.0099f, 0, &scale) ==
                MPNUM_TYPE_BF16,
        "a share may be lost");
}

/* Of small factors the product is exact in a long double. */
static void dot_bounds_are_the_next_floats(void) {
  for (int i = 0; i < 20000; ++i) {
    const uint64_t k = random_bits(&state) >> 44;
    const float a =
        ldexpf((float)(random_bits(&state) >> 48), (int)(random_bits(&state) % 120) - 60);
    const float b =
        ldexpf(-(float)(random_bits(&state) >> 48), (int)(random_bits(&state) % 40));
    const double exact = (double)k * fabs((double)a * (double)b); /* 20 + 16 + 16 bits */
    const double got = (double)mpnum_dot_bound(k, a, b);
    CHECK(got >= exact, "%a below %a", got, exact);
    CHECK(got == 0 || (double)nextafterf((float)got, 0) < exact, "%a, not %a", got,
          exact);
  }
  const float inf = mpnum_from_bits_f32(0x7f800000u);
  CHECK(mpnum_dot_bound(0, 1, 1) == 0 && mpnum_dot_bound(9, 0, 1) == 0, "0");
  CHECK(mpnum_dot_bound(1, inf, 0) == inf &&
            mpnum_dot_bound(1, 1, -mpnum_from_bits_f32(0x7fc00000u)) == inf,
        "Inf, NaN");
  CHECK(mpnum_dot_bound(UINT64_MAX, 0x1p127f, 0x1p127f) == inf, "past the floats");
  CHECK(mpnum_dot_bound(1, 0x1p-149f, 0x1p-149f) == 0x1p-149f, "below the floats");
}
static void dots_that_may_overflow(void) {
  const mpnum_format f16 = mpnum_format_of(MPNUM_TYPE_F16);
  CHECK(!mpnum_dot_may_overflow(f16, 1, 65504, 1) &&
            mpnum_dot_may_overflow(f16, 2, 32753, 1) &&
            !mpnum_dot_may_overflow(f16, 1024, 7, -9) &&
            mpnum_dot_may_overflow(f16, 1024, 8, 8) &&
            !mpnum_dot_may_overflow(mpnum_format_of(MPNUM_TYPE_BF16), 1024, 8, 8) &&
            !mpnum_dot_may_overflow(mpnum_format_of(MPNUM_TYPE_F64), 1024, 8, 8),
        "f16, bf16");
}

static void gpus_support_by_capability(void) {
  /* From which capability on: conversions, arithmetic, tensor cores; 0: all, -1: none. */
  static const struct row {
    const char *name;
    int from[3];
  } rows[] = {
      {"f64", {0, 0, 80}},      {"f32", {0, 0, -1}},        {"tf32", {80, -1, 80}},
      {"bf16", {80, 80, 80}},   {"f16", {0, 53, 70}},       {"e5m2", {89, -1, 89}},
      {"e4m3", {89, -1, 89}},   {"e5m2fnuz", {-1, -1, -1}}, {"e4m3fnuz", {-1, -1, -1}},
      {"e3m4", {-1, -1, -1}},   {"e8m0", {100, -1, 100}},   {"e3m2", {100, -1, 100}},
      {"e2m3", {100, -1, 100}}, {"e2m1", {100, -1, 100}},   {"ue5m3", {-1, -1, -1}},
      {"ue4m3", {-1, -1, 100}}};
  static const int capabilities[] = {50, 52, 53, 60, 61,  70,  75, 80,
                                     86, 87, 89, 90, 100, 103, 120};
  for (int k = 0; k < TYPES; ++k)
    for (size_t c = 0; c < sizeof capabilities / sizeof capabilities[0]; ++c) {
      static const mpnum_gpu bits[3] = {MPNUM_GPU_CONVERTS, MPNUM_GPU_ARITHMETIC,
                                        MPNUM_GPU_TENSOR_CORES};
      uint32_t want = 0;
      CHECK(strcmp(rows[k].name, mpnum_type_name(type_number(k))) == 0, "%s",
            rows[k].name);
      for (int i = 0; i < 3; ++i)
        if (rows[k].from[i] >= 0 && capabilities[c] >= rows[k].from[i])
          want |= (uint32_t)bits[i];
      CHECK(mpnum_gpu_support(type_number(k), capabilities[c]) == want, "%s on %d",
            rows[k].name, capabilities[c]);
    }
  CHECK(mpnum_gpu_support((mpnum_type)77, 120) == 0, "unknown");
}

static void dimensions_are_rounded_up(void) {
  static const size_t multiples[TYPES] = {2,  4,  4,  8,   8,   16, 16, 16,
                                          16, 16, 16, 128, 128, 32, 16, 16};
  for (int k = 0; k < TYPES; ++k) {
    const size_t m = multiples[k];
    const mpnum_type type = type_number(k);
    CHECK(mpnum_round_up_dim(type, 0) == 0 && mpnum_round_up_dim(type, 1) == m &&
              mpnum_round_up_dim(type, m) == m &&
              mpnum_round_up_dim(type, 5 * m + 1) == 6 * m &&
              mpnum_round_up_dim(type, SIZE_MAX) == 0 &&
              mpnum_round_up_dim(type, SIZE_MAX - m + 1) == SIZE_MAX - m + 1 &&
              mpnum_round_up_dim(type, SIZE_MAX - m + 2) == 0,
          "%s", mpnum_type_name(type));
  }
  CHECK(mpnum_round_up_dim((mpnum_type)0, 5) == 0, "unknown");
}

/* By hand, after the tables of the PTX ISA and of cuBLAS. */
static void gpus_and_block_formats(void) {
  enum { C = MPNUM_GPU_CONVERTS, T = MPNUM_GPU_TENSOR_CORES, S = MPNUM_GPU_BLOCK_SCALES };
  static const int capabilities[6] = {70, 80, 89, 90, 100, 120};
  mpnum_blockscale_format tall = mpnum_blockscale_transposed(
      mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_FLOOR));
  mpnum_blockscale_format pow2 = mpnum_blockscale_fp8_128x128();
  mpnum_blockscale_format odd =
      mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
  mpnum_blockscale_format wide = mpnum_blockscale_nvfp4_1x16();
  mpnum_blockscale_format four = mpnum_blockscale_fp8_1x128();
  mpnum_blockscale_format own =
      mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
  pow2.rule = MPNUM_BLOCKSCALE_AMAX_POW2;
  odd.columns = 64;
  wide.scale_type = MPNUM_TYPE_UE5M3;
  four.element = mpnum_format_of(MPNUM_TYPE_E2M1);
  own.element.bias += 1;
  const struct {
    const char *name;
    mpnum_blockscale_format format;
    uint32_t want[6];
  } cases[] = {
      {"mx e4m3",
       mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL),
       {0, 0, C | T, C | T, C | T | S, C | T | S}},
      {"mx e4m3, tall", tall, {0, 0, C | T, C | T, C | T | S, C | T | S}},
      {"mx e4m3, blocks of 64", odd, {0, 0, C | T, C | T, C | T, C | T}},
      {"mx e5m2",
       mpnum_blockscale_mx(MPNUM_TYPE_E5M2, MPNUM_BLOCKSCALE_RCEIL),
       {0, 0, C | T, C | T, C | T | S, C | T | S}},
      {"mx, elements of one's own", own, {0, 0, 0, 0, 0, 0}},
      {"mx e3m2",
       mpnum_blockscale_mx(MPNUM_TYPE_E3M2, MPNUM_BLOCKSCALE_RCEIL),
       {0, 0, 0, 0, C | T | S, C | T | S}},
      {"mx e2m3",
       mpnum_blockscale_mx(MPNUM_TYPE_E2M3, MPNUM_BLOCKSCALE_RCEIL),
       {0, 0, 0, 0, C | T | S, C | T | S}},
      {"mx e2m1",
       mpnum_blockscale_mx(MPNUM_TYPE_E2M1, MPNUM_BLOCKSCALE_RCEIL),
       {0, 0, 0, 0, C | T | S, C | T | S}},
      {"mx int8",
       mpnum_blockscale_mx_int8(MPNUM_BLOCKSCALE_RCEIL),
       {C, C | T, C | T, C | T, C | T, C | T}},
      {"nvfp4", mpnum_blockscale_nvfp4_1x16(), {0, 0, 0, 0, C | T | S, C | T | S}},
      {"nvfp4 16x16", mpnum_blockscale_nvfp4_16x16(), {0, 0, 0, 0, C | T | S, C | T | S}},
      {"deepseek", mpnum_blockscale_fp8_1x128(), {0, 0, C | T, C | T | S, C | T, C | T}},
      {"nvfp4 with scales of ue5m3", wide, {0, 0, 0, 0, C | T, C | T}},
      {"1x128 e5m2",
       mpnum_blockscale_amax(MPNUM_TYPE_E5M2, 1, 128),
       {0, 0, C | T, C | T | S, C | T, C | T}},
      {"1x128 e2m1", four, {0, 0, 0, 0, C | T, C | T}},
      {"deepseek 128x128", pow2, {0, 0, C | T, C | T | S, C | T, C | T}},
      {"int8", mpnum_blockscale_int8_row(), {C, C | T, C | T, C | T, C | T, C | T}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
    for (int c = 0; c < 6; ++c)
      CHECK(mpnum_gpu_block_support(&cases[k].format, capabilities[c]) ==
                cases[k].want[c],
            "%s on %d: %d", cases[k].name, capabilities[c],
            (int)mpnum_gpu_block_support(&cases[k].format, capabilities[c]));
  four = mpnum_blockscale_int8_row();
  CHECK(mpnum_gpu_block_support(&four, 72) == (C | T) &&
            mpnum_gpu_block_support(&four, 71) == C,
        "int8 from 7.2 on");
}

/* The earliest step and the smallest site in it, whatever the order. */
static void probes_keep_what_came_first(void) {
  uint64_t word = mpnum_probe_empty();
  CHECK(mpnum_probe_step(word) == 0xffffffffu && mpnum_probe_site(word) == 0xffffffffu,
        "an empty word");
  mpnum_probe(&word, 1, 1, 0x1.fffffep127f);
  CHECK(word == mpnum_probe_empty(), "the largest float");
  mpnum_probe(&word, 7, 3, mpnum_from_bits_f32(0xff800000));
  CHECK(mpnum_probe_step(word) == 7 && mpnum_probe_site(word) == 3, "-Inf");
  mpnum_probe(&word, 7, 4, mpnum_from_bits_f32(0x7fc00000));
  mpnum_probe(&word, 8, 0, mpnum_from_bits_f32(0x7fc00000));
  CHECK(mpnum_probe_step(word) == 7 && mpnum_probe_site(word) == 3, "what came later");
  mpnum_probe(&word, 7, 2, mpnum_from_bits_f32(0x7fc00000));
  CHECK(mpnum_probe_step(word) == 7 && mpnum_probe_site(word) == 2, "NaN");
  mpnum_probe(&word, 6, 9, mpnum_from_bits_f32(0x7f800000));
  CHECK(mpnum_probe_step(word) == 6 && mpnum_probe_site(word) == 9, "Inf");
}
static void block_formats_in_memory(void) {
  const mpnum_blockscale_format mx =
      mpnum_blockscale_mx(MPNUM_TYPE_E4M3, MPNUM_BLOCKSCALE_RCEIL);
  const mpnum_blockscale_format six =
      mpnum_blockscale_mx(MPNUM_TYPE_E3M2, MPNUM_BLOCKSCALE_RCEIL);
  const mpnum_blockscale_format nvfp4 = mpnum_blockscale_nvfp4_1x16();
  const mpnum_blockscale_format deepseek = mpnum_blockscale_fp8_1x128();
  const mpnum_blockscale_format int8 = mpnum_blockscale_int8_row();
  const mpnum_blockscale_format whole = mpnum_blockscale_int8_tensor();
  CHECK(mpnum_round_up_block_dim(&mx, 33) == 64 &&
            mpnum_round_up_block_dim(&six, 1) == 128 &&
            mpnum_round_up_block_dim(&nvfp4, 16) == 32 &&
            mpnum_round_up_block_dim(&deepseek, 129) == 256 &&
            mpnum_round_up_block_dim(&int8, 17) == 32 &&
            mpnum_round_up_block_dim(&whole, 17) == 32 &&
            mpnum_round_up_block_dim(&mx, 0) == 0 &&
            mpnum_round_up_block_dim(&mx, SIZE_MAX) == 0,
        "dimensions");
}

/* Every value of both is one of the result, by the slow reference; and the order of the
 * two does not matter. */
static int holds(mpnum_type type, mpnum_type by) {
  const mpnum_format format = mpnum_format_of(type);
  if (type == by || by == MPNUM_TYPE_F64) return 1;
  if (type == MPNUM_TYPE_F64 || type == MPNUM_TYPE_F32) return 0;
  if (by == MPNUM_TYPE_F32) return 1;
  const uint32_t codes =
      1u << (format.sign_bits + format.exponent_bits + format.mantissa_bits);
  for (uint32_t code = 0; code < codes; ++code) {
    const uint32_t stored = code << format.storage_shift;
    const uint64_t x = ref_decode(ref_format_named(mpnum_type_name(type)), stored);
    const ref_format *other = ref_format_named(mpnum_type_name(by));
    const uint64_t y =
        ref_decode(other, ref_encode(other, x, REF_NEAREST_EVEN, REF_IEEE, 0));
    const int is_nan = (x & ~(UINT64_C(1) << 63)) > UINT64_C(0x7ff) << 52;
    if (is_nan ? (y & ~(UINT64_C(1) << 63)) <= UINT64_C(0x7ff) << 52 : x != y) return 0;
  }
  return 1;
}
static void promotion_loses_nothing(void) {
  for (int i = 0; i < TYPES; ++i)
    for (int k = 0; k < TYPES; ++k) {
      const mpnum_type a = type_number(i), b = type_number(k), got = mpnum_promote(a, b);
      CHECK(got == mpnum_promote(b, a), "%s, %s", mpnum_type_name(a), mpnum_type_name(b));
      CHECK(holds(a, got) && holds(b, got), "%s, %s: %s", mpnum_type_name(a),
            mpnum_type_name(b), mpnum_type_name(got));
      if (holds(a, b))
        CHECK(got == b || holds(b, a), "%s has %s", mpnum_type_name(b),
              mpnum_type_name(a));
    }
}
static void promotion_by_hand(void) {
  CHECK(mpnum_promote((mpnum_type)99, MPNUM_TYPE_F32) == 0 &&
            mpnum_promote(MPNUM_TYPE_F32, (mpnum_type)99) == 0,
        "an unknown type");
  CHECK(mpnum_promote(MPNUM_TYPE_E2M1, MPNUM_TYPE_E4M3FNUZ) == MPNUM_TYPE_F16, "-0");
  CHECK(mpnum_promote(MPNUM_TYPE_F16, MPNUM_TYPE_BF16) == MPNUM_TYPE_F32 &&
            mpnum_promote(MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2) == MPNUM_TYPE_F16 &&
            mpnum_promote(MPNUM_TYPE_E4M3, MPNUM_TYPE_BF16) == MPNUM_TYPE_BF16 &&
            mpnum_promote(MPNUM_TYPE_TF32, MPNUM_TYPE_F16) == MPNUM_TYPE_TF32 &&
            mpnum_promote(MPNUM_TYPE_E8M0, MPNUM_TYPE_F16) == MPNUM_TYPE_F32 &&
            mpnum_promote(MPNUM_TYPE_E2M1, MPNUM_TYPE_E3M2) == MPNUM_TYPE_E3M2 &&
            mpnum_promote(MPNUM_TYPE_F64, MPNUM_TYPE_F32) == MPNUM_TYPE_F64 &&
            mpnum_promote(MPNUM_TYPE_F32, MPNUM_TYPE_F32) == MPNUM_TYPE_F32 &&
            mpnum_promote(MPNUM_TYPE_F32, (mpnum_type)0) == (mpnum_type)0,
        "by hand");
}

static void operations_have_policies(void) {
  static const struct row {
    const char *name;
    mpnum_policy policy;
  } rows[] = {{"matmul", MPNUM_POLICY_LOW},
              {"__matmul__", MPNUM_POLICY_LOW},
              {"RNNCell", MPNUM_POLICY_LOW},
              {"conv_transpose3d", MPNUM_POLICY_LOW},
              {"mm", MPNUM_POLICY_LOW},
              {"softmax", MPNUM_POLICY_F32},
              {"log", MPNUM_POLICY_F32},
              {"log1p", MPNUM_POLICY_F32},
              {"__pow__", MPNUM_POLICY_F32},
              {"triplet_margin_loss", MPNUM_POLICY_F32},
              {"cross", MPNUM_POLICY_WIDEST},
              {"tensordot", MPNUM_POLICY_WIDEST},
              {"addcdiv", MPNUM_POLICY_WIDEST},
              {"binary_cross_entropy", MPNUM_POLICY_UNSAFE},
              {"binary_cross_entropy_with_logits", MPNUM_POLICY_F32},
              {"relu", MPNUM_POLICY_UNKNOWN},
              {"add", MPNUM_POLICY_UNKNOWN},
              {"", MPNUM_POLICY_UNKNOWN},
              {" ", MPNUM_POLICY_UNKNOWN},
              {"m", MPNUM_POLICY_UNKNOWN},
              {"matmul ", MPNUM_POLICY_UNKNOWN},
              {"matmul mm", MPNUM_POLICY_UNKNOWN},
              {"atmul", MPNUM_POLICY_UNKNOWN},
              {"log_soft", MPNUM_POLICY_UNKNOWN}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
    CHECK(mpnum_operation_policy(rows[i].name) == rows[i].policy, "\"%s\"", rows[i].name);
}

/* Each letter a step: g good, b bad. What is advised after each: the letter of the type
 * (n narrow, w wide), s and a snapshot, r and a rollback. */
static void check_fallback(mpnum_fallback_config config, const char *steps,
                           const char *want) {
  mpnum_fallback fallback;
  char got[200] = "";
  if (mpnum_fallback_init(&fallback, config) != MPNUM_OK) {
    CHECK(0, "refused");
    return;
  }
  for (; *steps; ++steps) {
    const mpnum_fallback_advice advice = mpnum_fallback_step(&fallback, *steps == 'b');
    CHECK(advice.type == (fallback.is_wide ? config.wide : config.narrow), "type");
    strcat(got, advice.type == config.wide ? "w" : "n");
    if (advice.snapshot) strcat(got, "s");
    if (advice.roll_back) strcat(got, "r");
  }
  CHECK(strcmp(got, want) == 0, "%s, want %s", got, want);
}
static void the_fallback_machine_advises(void) {
  const mpnum_fallback_config config = {MPNUM_TYPE_F16, MPNUM_TYPE_BF16, 2, 5, 3, 4};
  check_fallback(config, "ggggggg", "nnnsnnnsn");
  check_fallback(config, "bgbgbg", "nnnnnn");     /* never two in a row */
  check_fallback(config, "bbbbbbbb", "nwwwwwww"); /* nothing to return to */
  check_fallback(config, "gggbbbbbbbb", "nnnsnwwwrwwwwr");
  check_fallback(config, "bbgggggg", "nwwwwswnns");     /* calm after 5 good ones */
  check_fallback(config, "bbggggggbb", "nwwwwswnnsnw"); /* and wide again */
  const mpnum_fallback_config forever = {MPNUM_TYPE_E4M3, MPNUM_TYPE_F16, 1, 0, 2, 1};
  check_fallback(forever, "gbggbgggb", "nwwwswrwwswwr");
}
static void other_fallbacks_are_refused(void) {
  mpnum_fallback fallback, before;
  const mpnum_fallback_config good = mpnum_fallback_default();
  CHECK(mpnum_fallback_init(&fallback, good) == MPNUM_OK, "default");
  before = fallback;
  for (int k = 0; k < 7; ++k) {
    mpnum_fallback_config config = good;
    if (k == 0) config.narrow = (mpnum_type)0;
    if (k == 1) config.wide = (mpnum_type)99;
    if (k == 2) config.wide = config.narrow;
    if (k == 3) config.bad_steps = 0;
    if (k == 4) config.calm_steps = -1;
    if (k == 5) config.stable_steps = 0;
    if (k == 6) config.rollback_steps = 0;
    CHECK(mpnum_fallback_init(&fallback, config) ==
                  (k < 2 ? MPNUM_ERROR_TYPE : MPNUM_ERROR_ARGUMENT) &&
              memcmp(&before, &fallback, sizeof before) == 0,
          "%d", k);
  }
}

static mpnum_status save_fallback(uint8_t *bytes, const void *from) {
  return mpnum_fallback_save(bytes, (const mpnum_fallback *)from);
}
static mpnum_status load_fallback(void *to, const uint8_t *bytes, uint64_t size) {
  return mpnum_fallback_load((mpnum_fallback *)to, bytes, size);
}
static void write_fallback(uint8_t *bytes, const void *from) {
  mpnum_fallback copy = *(const mpnum_fallback *)from;
  mpnum_stored_ out = mpnum_stored_begin_(bytes, 0x4246706du, MPNUM_FALLBACK_VERSION_);
  mpnum_stored_fallback_(&out, &copy);
  mpnum_stored_seal_(bytes, MPNUM_FALLBACK_BYTES);
}
static void fallbacks_are_saved(void) {
  const stored_kind kind = {"fallback",    MPNUM_FALLBACK_BYTES, sizeof(mpnum_fallback),
                            save_fallback, load_fallback,        write_fallback};
  /* By hand from the members: the default, 7 good steps, wide, with a snapshot; the CRC
   * is zlib's of these bytes. */
  static const uint8_t want[MPNUM_FALLBACK_BYTES] = {
      0x6d, 0x70, 0x46, 0x42, 0x01, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x04,
      0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0xd0, 0x07, 0x00, 0x00, 0x14, 0x00,
      0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00,
      0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0xaa, 0x04, 0x0d, 0x30};
  mpnum_fallback machine, other;
  uint8_t bytes[MPNUM_FALLBACK_BYTES];
  must(mpnum_fallback_init(&machine, mpnum_fallback_default()));
  machine.good_run = 7;
  machine.is_wide = machine.has_snapshot = 1;
  check_stored(&kind, &machine, want);
  check_changed_members(&kind, &machine);
#define UNSOUND(change)                  \
 do {                                    \
  other = machine;                       \
  other.change;                          \
  check_unsound(&kind, &other, #change); \
 } while (0)
  UNSOUND(config.narrow = (mpnum_type)0);
  UNSOUND(config.narrow = MPNUM_TYPE_BF16);
  UNSOUND(config.bad_steps = 0);
  UNSOUND(config.rollback_steps = -1);
  UNSOUND(bad_run = 1);
  UNSOUND(good_run = -1);
  UNSOUND(is_wide = 2);
  UNSOUND(has_snapshot = -1);
#undef UNSOUND
  memcpy(bytes, want, sizeof bytes);
  bytes[8] = NO_TYPE;
  mpnum_stored_seal_(bytes, MPNUM_FALLBACK_BYTES);
  check_not_loaded(&kind, bytes, sizeof bytes, MPNUM_ERROR_CORRUPT,
                   "a number that is no type");
}
int main(void) {
  set_control_word(control_word_of(FE_TONEAREST)); /* -ffast-math starts in another */
  TAP_RUN(types_that_need_loss_scaling);
  TAP_RUN(best_scales_just_fit);
  TAP_RUN(best_scales_by_hand);
  TAP_RUN(best_types_lose_little);
  TAP_RUN(dot_bounds_are_the_next_floats);
  TAP_RUN(dots_that_may_overflow);
  TAP_RUN(gpus_support_by_capability);
  TAP_RUN(dimensions_are_rounded_up);
  TAP_RUN(gpus_and_block_formats);
  TAP_RUN(block_formats_in_memory);
  TAP_RUN(probes_keep_what_came_first);
  TAP_RUN(promotion_loses_nothing);
  TAP_RUN(promotion_by_hand);
  TAP_RUN(operations_have_policies);
  TAP_RUN(the_fallback_machine_advises);
  TAP_RUN(other_fallbacks_are_refused);
  TAP_RUN(fallbacks_are_saved);
  return tap_done();
}
