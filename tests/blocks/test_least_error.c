/* SPDX-License-Identifier: MIT */
/* mpnum/blocks/least_error.h: each block beside all scales that may be tried, with codes
 * by the slow reference and errors in long doubles; what equal errors choose; that codes
 * are those of NVFP4 and MX under the scale; what is refused. */
#include "../rows/row_checks.h"
#include "../harness/must.h"

#include <mpnum/array/array.h>
#include <mpnum/blocks/least_error.h>

#include <float.h>
#include <math.h>

enum { MOST = 1 << 14, GUARD = 0xb5 };
static float x[MOST], back[MOST], plain[MOST];
static uint8_t source[4 * MOST], codes[MOST], scales[MOST], first_codes[MOST],
    first_scales[MOST], rule_codes[MOST], rule_scales[MOST];
static uint64_t state = 53;
static size_t below(size_t n) { return (size_t)(random_bits(&state) >> 11) % n; }

typedef struct kind {
  mpnum_blockscale_format format;
  const ref_format *element, *scale;
} kind;
static kind kind_of(size_t which) {
  static const mpnum_type types[] = {MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2, MPNUM_TYPE_E3M2,
                                     MPNUM_TYPE_E2M3, MPNUM_TYPE_E2M1};
  const mpnum_type element = which < 5 ? types[which] : MPNUM_TYPE_E2M1;
  kind made = {mpnum_blockscale_nvfp4_1x16(), ref_format_named(mpnum_type_name(element)),
               NULL};
  if (which < 5)
    made.format = mpnum_blockscale_mx(element, (mpnum_blockscale_rule)below(4));
  if (which == 6) made.format.scale_type = MPNUM_TYPE_UE5M3;
  made.format.columns = (size_t)16 << below(3);
  made.scale = ref_format_named(mpnum_type_name(made.format.scale_type));
  return made;
}

/* The code of an element and what comes back, under a scale. */
static double value_of(const kind *of, uint32_t scale_code) {
  return mpnum_from_bits_f64(ref_decode(of->scale, scale_code));
}
static uint32_t code_of(const kind *of, uint32_t scale_code, float all, float v) {
  const double d = value_of(of, scale_code);
  double scaled = (double)v / d; /* exact: a power of two */
  if (of->format.scale_type != MPNUM_TYPE_E8M0) {
    float factor = quotient_once(1, quotient_once((float)d, all));
    if (!(factor <= FLT_MAX)) factor = FLT_MAX;
    scaled = (double)product_once(v, factor);
  }
  if (d == 0) return 0;
  return ref_encode(of->element, mpnum_bits_f64(scaled), REF_NEAREST_EVEN, REF_SATURATE,
                    0);
}
static float decoded(const kind *of, uint32_t scale_code, float all, uint32_t code) {
  const double product =
      mpnum_from_bits_f64(ref_decode(of->element, code)) * value_of(of, scale_code);
  return of->format.scale_type == MPNUM_TYPE_E8M0 ? (float)product
                                                  : quotient_once((float)product, all);
}
static long double error_of(const kind *of, uint32_t scale_code, float all,
                            const float *block, float *values) {
  long double sum = 0;
  for (size_t i = 0; i < of->format.columns; ++i) {
    values[i] = decoded(of, scale_code, all, code_of(of, scale_code, all, block[i]));
    sum += ((long double)values[i] - (long double)block[i]) *
           ((long double)values[i] - (long double)block[i]);
  }
  return sum;
}
/* A code of a scale, moved so far and bounded. */
static uint32_t moved(const kind *of, uint32_t code, int step) {
  const int least = of->format.scale_type == MPNUM_TYPE_E8M0 ? 0 : 1;
  const int last = (int)of->scale->max_code, to = (int)code + step;
  if (step == 0) return code;
  return (uint32_t)(to > last ? last : to < least ? least : to);
}
static void check_block(const kind *of, const float *block, float all, int reach,
                        uint32_t rule, uint32_t found, const char *what) {
  const size_t n = of->format.columns;
  float values[64], others[64], amax = 0;
  int is_tried = 0;
  for (size_t i = 0; i < n; ++i)
    if (fabsf(block[i]) > amax) amax = fabsf(block[i]);
  if (amax == 0) {
    CHECK(found == rule, "%s: zeros have the scale %02x, not %02x", what, found, rule);
    return;
  }
  const long double ours = error_of(of, found, all, block, values);
  for (int step = -reach; step <= reach; ++step) {
    const uint32_t code = moved(of, rule, step);
    const long double theirs = error_of(of, code, all, block, others);
    is_tried |= code == found;
    CHECK(ours <= theirs * 1.00001L + 0x1p-60L * (long double)amax * (long double)amax,
          "%s: scale %02x of rule %02x: %Lg, of %02x %Lg", what, found, rule, ours, code,
          theirs);
    CHECK(code <= found || memcmp(values, others, n * sizeof *values) != 0,
          "%s: scale %02x, %02x is larger and has the same values", what, found, code);
  }
  CHECK(is_tried, "%s: scale %02x is not within %d of %02x", what, found, reach, rule);
}

static void fill(size_t n, int round) {
  const int middle = round % 5 == 0 ? (int)below(265) - 140 : round % 5 == 1 ? 124 : 0;
  for (size_t i = 0; i < n; ++i) {
    const uint64_t bits = random_bits(&state);
    double sum = -2;
    for (int k = 0; k < 4; ++k)
      sum += (double)(random_bits(&state) >> 11) * 0x1p-53;
    x[i] = (float)ldexp(sum, middle - (int)(bits % 3));
    if (bits % 23 == 0 || round % 9 == 8) x[i] = bits % 2 ? 0.0f : -0.0f;
    if (round % 5 == 1)
      x[i] = (float)ldexp((int)(bits % 13) - 6, middle); /* ties of scales */
    if (round % 5 == 2) x[i] = mpnum_from_bits_f32((uint32_t)bits & 0x80ffffffu);
  }
}
static uint32_t nibbles(const uint8_t *from, int bits, size_t i) {
  const size_t at = i * (size_t)bits;
  const uint32_t two = from[at / 8] | (uint32_t)from[at / 8 + 1] << 8;
  return two >> at % 8 & ((1u << bits) - 1);
}
static void check(int round) {
  static const mpnum_type types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16};
  const mpnum_type type = types[below(3)];
  /* e3m2 up to the last e8m0, NVFP4 of which a factor is bounded, and any */
  const kind of = kind_of(round % 5 == 1 ? 2 : round % 5 == 2 ? 5 + below(2) : below(7));
  const size_t rows = 1 + below(3), columns = 1 + below(below(4) ? 300 : 4500);
  const size_t wide = of.format.columns, across = (columns + wide - 1) / wide;
  const size_t pitch = (columns + 3) / 4 * 4;
  const int reach = round % 5 == 1 ? 8 : 1 + (int)below(8), bits = of.format.element_bits;
  const mpnum_const_matrix src = mpnum_const_matrix_of(type, source, rows, columns);
  mpnum_quantize_losses losses = {0, 0, 0, 0};
  uint64_t lost = 0;
  float amax = 0;
  fill(rows * columns, round);
  must(mpnum_convert_array(type, source, MPNUM_TYPE_F32, x, rows * columns,
                           MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0, 0));
  must(mpnum_convert_array(MPNUM_TYPE_F32, x, type, source, rows * columns,
                           MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0));
  mpnum_blockscaled dst =
      mpnum_blockscaled_of(&of.format, rule_codes, rule_scales, MOST, columns);
  dst.stride = pitch;
  dst.scale = (float)ldexp(1.1, (int)below(12) - (round % 5 == 0 ? 6 : 0));
  if (round % 5 == 2) dst.scale = (float)ldexp(1.1, 112 + (int)below(13));
  must(mpnum_quantize_blocks(&of.format, dst, src, NULL, NULL));
  dst.codes = codes;
  dst.scale_inv = scales;
  memset(codes, GUARD, sizeof codes);
  memset(scales, GUARD, sizeof scales);
  must(mpnum_quantize_least_error(&of.format, dst, src, reach, &losses));
  for (size_t r = 0; r < rows; ++r)
    for (size_t b = 0; b < across; ++b) {
      float block[64] = {0};
      const size_t n = columns - wide * b < wide ? columns - wide * b : wide;
      const uint32_t found = scales[r * across + b];
      char what[80];
      memcpy(block, x + r * columns + wide * b, n * sizeof *block);
      snprintf(what, sizeof what, "%d: block %zu of row %zu, %s under %s", round, b, r,
               of.element->name, of.scale->name);
      check_block(&of, block, dst.scale, reach, rule_scales[r * across + b], found, what);
      for (size_t i = 0; i < n; ++i) {
        const size_t at = r * pitch + wide * b + i;
        const uint32_t got = nibbles(codes, bits, at);
        const uint32_t want = code_of(&of, found, dst.scale, block[i]);
        const int is_zero = (want & ((1u << (bits - (of.element->sign_bits))) - 1)) == 0;
        int all_zero = 1;
        for (size_t k = 0; k < n; ++k)
          all_zero &= block[k] == 0;
        CHECK(got == (all_zero ? 0 : want), "%s: code %zu is %x, not %x", what, i, got,
              want);
        if (block[i] != 0 && is_zero) ++lost;
        if (fabsf(block[i]) > amax) amax = fabsf(block[i]);
      }
    }
  CHECK(losses.underflowed == lost && losses.amax == amax && losses.nonfinite == 0,
        "%d: %llu lost, not %llu", round, (unsigned long long)losses.underflowed,
        (unsigned long long)lost);
}
static void scales_are_the_best_of_those_tried(void) {
  for (int round = 0; round < 30; ++round)
    check(round);
}

/* The same bytes on each ISA, plain or swizzled, in one call or in two. */
static void bytes_depend_on_nothing_else(void) {
  state = 7;
  const kind of = kind_of(5);
  const size_t wide = of.format.columns, cut = wide * (1 + below(3));
  const mpnum_const_matrix src = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 5000);
  fill(5000, 3);
  mpnum_blockscaled dst =
      mpnum_blockscaled_of(&of.format, codes, scales, sizeof scales, 5000);
  dst.scale = 300;
  memset(codes, GUARD, sizeof codes);
  memset(scales, GUARD, sizeof scales);
  must(mpnum_quantize_least_error(&of.format, dst, src, 3, NULL));
  if (mpnum_isa_in_use() == MPNUM_ISA_SCALAR) {
    memcpy(first_codes, codes, sizeof codes);
    memcpy(first_scales, scales, sizeof scales);
  }
  CHECK(memcmp(first_codes, codes, sizeof codes) == 0 &&
            memcmp(first_scales, scales, sizeof scales) == 0,
        "other bytes than by the scalar loops");
  memset(codes, GUARD, sizeof codes);
  memset(scales, GUARD, sizeof scales);
  must(mpnum_quantize_least_error(
      &of.format, dst, mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, cut), 3, NULL));
  dst.codes = codes + cut / 2;
  dst.scale_inv = scales + cut / wide;
  must(mpnum_quantize_least_error(
      &of.format, dst, mpnum_const_matrix_of(MPNUM_TYPE_F32, x + cut, 1, 5000 - cut), 3,
      NULL));
  CHECK(memcmp(first_codes, codes, sizeof codes) == 0 &&
            memcmp(first_scales, scales, sizeof scales) == 0,
        "other bytes in two calls");
}
static void swizzled_scales_are_the_same(void) {
  const mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  const mpnum_const_matrix src = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 5, 112);
  mpnum_blockscaled dst = mpnum_blockscaled_of(&format, codes, scales, MOST, 112);
  fill((size_t)5 * 112, 3);
  dst.scale = 300;
  must(mpnum_quantize_least_error(&format, dst, src, 2, NULL));
  memcpy(first_scales, scales, 35);
  memset(scales, GUARD, sizeof scales);
  dst.is_swizzled = 1;
  must(mpnum_quantize_least_error(&format, dst, src, 2, NULL));
  for (size_t r = 0; r < 5; ++r)
    for (size_t b = 0; b < 7; ++b)
      CHECK(scales[mpnum_scale_place(r, b, 7)] == first_scales[7 * r + b],
            "scale %zu of row %zu", b, r);
  CHECK(scales[1023] == 0 && scales[1024] == GUARD, "padding");
}

static void blocks_that_are_not_finite_are_those_of_the_rule(void) {
  const mpnum_blockscale_format format =
      mpnum_blockscale_mx(MPNUM_TYPE_E2M1, MPNUM_BLOCKSCALE_RCEIL);
  const mpnum_const_matrix src = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 1, 96);
  mpnum_blockscaled dst = mpnum_blockscaled_of(&format, codes, scales, 3, 96);
  mpnum_quantize_losses losses = {0, 0, 0, 0};
  mpnum_blockscale_format strict = format;
  fill(96, 3);
  x[40] = mpnum_from_bits_f32(0x7fc00000u);
  x[50] = mpnum_from_bits_f32(0xff800000u);
  must(mpnum_quantize_least_error(&format, dst, src, 1, &losses));
  CHECK(scales[1] == 0xff && scales[0] != 0xff && scales[2] != 0xff, "scales %02x %02x",
        scales[0], scales[1]);
  for (int i = 16; i < 32; ++i)
    CHECK(codes[i] == 0x77, "codes %02x", codes[i]); /* +6, the largest value */
  CHECK(losses.nonfinite == 2, "%d counted", (int)losses.nonfinite);
  memset(scales, GUARD, 3);
  strict.policy = MPNUM_BLOCKSCALE_ERROR;
  CHECK(mpnum_quantize_least_error(&strict, dst, src, 1, NULL) == MPNUM_ERROR_NONFINITE &&
            scales[0] == GUARD,
        "not refused");
}

/* Of values as weights have them: what it is for. */
static double error_beside_rule(mpnum_blockscale_format format, int reach) {
  const mpnum_const_matrix src = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 8, 2048);
  mpnum_blockscaled dst = mpnum_blockscaled_of(&format, codes, scales, MOST, 2048);
  double ours = 0, theirs = 0;
  dst.scale = 500;
  for (int i = 0; i < 8 * 2048; ++i) { /* nearly normal */
    double sum = -6;
    for (int k = 0; k < 12; ++k)
      sum += (double)(random_bits(&state) >> 11) * 0x1p-53;
    x[i] = (float)sum;
  }
  must(mpnum_quantize_least_error(&format, dst, src, reach, NULL));
  must(mpnum_dequantize_blocks(&format, mpnum_matrix_of(MPNUM_TYPE_F32, back, 8, 2048),
                               dst));
  must(mpnum_quantize_blocks(&format, dst, src, NULL, NULL));
  must(mpnum_dequantize_blocks(&format, mpnum_matrix_of(MPNUM_TYPE_F32, plain, 8, 2048),
                               dst));
  for (int i = 0; i < 8 * 2048; ++i) {
    ours += pow((double)back[i] - (double)x[i], 2);
    theirs += pow((double)plain[i] - (double)x[i], 2);
  }
  return ours / theirs;
}
static void errors_are_smaller_than_those_of_the_rule(void) {
  const double nvfp4 = error_beside_rule(mpnum_blockscale_nvfp4_1x16(), 1);
  const double far_nvfp4 = error_beside_rule(mpnum_blockscale_nvfp4_1x16(), 6);
  const double mx =
      error_beside_rule(mpnum_blockscale_mx(MPNUM_TYPE_E2M1, MPNUM_BLOCKSCALE_RCEIL), 1);
  printf("# squared error of NVFP4 %.3f, with reach 6 %.3f, of MX e2m1 %.3f\n", nvfp4,
         far_nvfp4, mx);
  CHECK(nvfp4 < 0.9 && far_nvfp4 < 0.8 && mx < 0.98, "%g, %g, %g", nvfp4, far_nvfp4, mx);
}

static void misuse_is_refused(void) {
  const mpnum_blockscale_format mx =
      mpnum_blockscale_mx(MPNUM_TYPE_E2M1, MPNUM_BLOCKSCALE_RCEIL);
  const mpnum_const_matrix src = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 2, 32);
  const mpnum_blockscaled fine = mpnum_blockscaled_of(&mx, codes, scales, 2, 32);
  mpnum_blockscaled dst = fine;
  mpnum_blockscale_format format = mx;
  memset(codes, GUARD, sizeof codes);
  memset(scales, GUARD, sizeof scales);
#define REFUSED(want, call)                                                           \
 do {                                                                                 \
  const mpnum_status status = call;                                                   \
  CHECK(status == (want) && codes[0] == GUARD && scales[0] == GUARD, "%s: %s", #call, \
        mpnum_status_string(status));                                                 \
  dst = fine;                                                                         \
  format = mx;                                                                        \
 } while (0)
#define CALL(reach) mpnum_quantize_least_error(&format, dst, src, reach, NULL)
  REFUSED(MPNUM_ERROR_NULL, mpnum_quantize_least_error(NULL, dst, src, 1, NULL));
  REFUSED(MPNUM_ERROR_ARGUMENT, CALL(0));
  REFUSED(MPNUM_ERROR_ARGUMENT, CALL(9));
  format = mpnum_blockscale_transposed(mx);
  dst.scale_inv_bytes = MOST / 2;
  REFUSED(MPNUM_ERROR_ARGUMENT, CALL(1));
  format.columns = 128;
  REFUSED(MPNUM_ERROR_ARGUMENT, CALL(1));
  format.rounding = MPNUM_ROUND_STOCHASTIC;
  REFUSED(MPNUM_ERROR_ARGUMENT, CALL(1));
  format = mpnum_blockscale_amax(MPNUM_TYPE_E4M3, 1, 32);
  dst.scale_inv_bytes = 8;
  REFUSED(MPNUM_ERROR_ARGUMENT, CALL(1));
  format = mpnum_blockscale_nvfp4_1x16();
  dst.scale_inv_bytes = 4;
  dst.scale = 0;
  REFUSED(MPNUM_ERROR_ARGUMENT, CALL(1));
  dst.scale_inv_bytes = 1;
  REFUSED(MPNUM_ERROR_RANGE, CALL(1));
  dst.codes = scales + 1;
  REFUSED(MPNUM_ERROR_OVERLAP, CALL(1));
}

int main(void) {
  RUN_FOR_EACH_ISA(scales_are_the_best_of_those_tried);
  RUN_FOR_EACH_ISA(bytes_depend_on_nothing_else);
  TAP_RUN(swizzled_scales_are_the_same);
  TAP_RUN(blocks_that_are_not_finite_are_those_of_the_rule);
  TAP_RUN(errors_are_smaller_than_those_of_the_rule);
  TAP_RUN(misuse_is_refused);
  return tap_done();
}
