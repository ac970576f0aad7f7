/* SPDX-License-Identifier: MIT */
/* mpnum/blocks/four_over_six.h against the formula as Transformer Engine's source has it
 * (quantize_4over6_nvfp4.cuh), written here with floats of one volatile each and an
 * exhaustive search for the nearest element; that the error is never above that of
 * NVFP4; what is refused. */
#include "../rows/row_checks.h"
#include "../harness/must.h"

#include <mpnum/array/array.h>
#include <mpnum/blocks/four_over_six.h>

#include <float.h>
#include <math.h>

enum { MOST = 1 << 16, GUARD = 0xb5 };
static float x[MOST], back[MOST], plain[MOST];
static uint8_t source[4 * MOST], codes[MOST], scales[MOST], want_codes[MOST],
    want_scales[MOST];
static uint64_t state = 41;
static size_t below(size_t n) { return (size_t)(random_bits(&state) >> 11) % n; }

static float difference(float a, float b) { return sum_once(a, -b); }

/* Nearest, ties to the even code, saturating: of the eight magnitudes. */
static unsigned element_of(float y) {
  static const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const double magnitude = fabs((double)y);
  unsigned best = 0;
  for (unsigned k = 1; k < 8; ++k) {
    const double now = fabs(magnitude - values[k]), then = fabs(magnitude - values[best]);
    if (now < then || (now == then && k % 2 == 0)) best = k;
  }
  if (magnitude > 6) best = 7;
  return best | (signbit(y) ? 8u : 0u);
}
static float value_of(unsigned code) {
  static const float values[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  return code & 8 ? -values[code & 7] : values[code & 7];
}
typedef struct candidate {
  unsigned codes[16];
  uint32_t scale;
  float error;
} candidate;
static candidate candidate_of(const float *block, float wanted, float all, float largest,
                              int max, int squared) {
  candidate made;
  const float inverse = quotient_once(1, all);
  const float bounded = wanted < 448 ? wanted : 448;
  made.scale =
      (uint32_t)ref_encode(ref_format_named("e4m3"), mpnum_bits_f64((double)bounded),
                           REF_NEAREST_EVEN, REF_IEEE, 0);
  const float stored = mpnum_e4m3_to_f32(mpnum_from_bits_e4m3((uint8_t)made.scale));
  float factor = quotient_once(1, product_once(stored, inverse));
  if (!(factor <= FLT_MAX)) factor = FLT_MAX;
  made.error = 0;
  for (int i = 0; i < 16; ++i) {
    made.codes[i] = element_of(product_once(block[i], factor));
    const float decoded = quotient_once(
        product_once(product_once(value_of(made.codes[i]), stored), largest),
        6.0f * (float)max);
    const float error = difference(decoded, block[i]);
    made.error =
        sum_once(made.error, squared ? product_once(error, error) : fabsf(error));
  }
  return made;
}

static void check(int round) {
  static const mpnum_type types[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16};
  const mpnum_type type = types[below(3)];
  const size_t rows = 1 + below(6), columns = 1 + below(below(4) ? 200 : 4500);
  const size_t stride = columns + below(3);
  const size_t across = (columns + 15) / 16, pitch = (columns + 1) / 2 * 2 + 2 * below(2);
  const int squared = (int)below(2), max = below(2) ? 448 : 256;
  const mpnum_four_over_six how = {squared, max};
  const mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  float largest = 0;
  for (size_t i = 0; i < rows * stride; ++i) {
    const uint64_t bits = random_bits(&state);
    x[i] = (float)ldexp((double)(bits >> 40) * 0x1p-24 - 0.5, (int)(bits % 7) - 3);
    if (bits % 50 == 0) x[i] = bits % 100 ? 0.0f : -0.0f;
    if (round % 8 == 7) x[i] = 0;
  }
  must(mpnum_convert_array(type, source, MPNUM_TYPE_F32, x, rows * stride,
                           MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0));
  must(mpnum_convert_array(MPNUM_TYPE_F32, x, type, source, rows * stride,
                           MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0));
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c)
      if (fabsf(x[r * stride + c]) > largest) largest = fabsf(x[r * stride + c]);
  const float all = largest > 0 ? quotient_once(6.0f * (float)max, largest) : 1;
  memset(codes, GUARD, sizeof codes);
  memset(scales, GUARD, sizeof scales);
  memset(want_codes, GUARD, sizeof want_codes);
  memset(want_scales, GUARD, sizeof want_scales);
  const int is_swizzled = (int)below(2);
  if (is_swizzled)
    memset(want_scales, 0, mpnum_blockscale_scale_bytes(&format, rows, columns, 1));
  for (size_t r = 0; r < rows; ++r)
    for (size_t b = 0; b < across; ++b) {
      float block[16] = {0}, amax = 0;
      const size_t n = columns - 16 * b < 16 ? columns - 16 * b : 16;
      for (size_t i = 0; i < n; ++i) {
        block[i] = x[r * stride + 16 * b + i];
        if (fabsf(block[i]) > amax) amax = fabsf(block[i]);
      }
      const float base = product_once(quotient_once(amax, 6), all);
      const candidate four =
          candidate_of(block, product_once(base, 1.5f), all, largest, max, squared);
      const candidate six = candidate_of(block, base, all, largest, max, squared);
      const candidate *chosen = four.error < six.error ? &four : &six;
      for (size_t i = 0; i < n; i += 2)
        want_codes[(r * pitch + 16 * b + i) / 2] =
            (uint8_t)(chosen->codes[i] | (i + 1 < n ? chosen->codes[i + 1] << 4 : 0));
      want_scales[is_swizzled ? mpnum_scale_place(r, b, across) : r * across + b] =
          (uint8_t)chosen->scale;
    }
  mpnum_const_matrix src = mpnum_const_matrix_of(type, source, rows, columns);
  src.stride = stride;
  mpnum_blockscaled dst =
      mpnum_blockscaled_of(&format, codes, scales, sizeof scales, columns);
  dst.stride = pitch;
  dst.is_swizzled = is_swizzled;
  must(mpnum_quantize_four_over_six(&dst, src, how));
  CHECK(mpnum_bits_f32(dst.scale) == mpnum_bits_f32(all), "%d: S is %a, not %a", round,
        (double)dst.scale, (double)all);
  CHECK(memcmp(codes, want_codes, sizeof codes) == 0 &&
            memcmp(scales, want_scales, sizeof scales) == 0,
        "%d: %zu x %zu of %s, max %d, squared %d", round, rows, columns,
        mpnum_type_name(type), max, squared);
}
static void codes_are_those_of_the_formula(void) {
  for (int round = 0; round < 60; ++round)
    check(round);
}

/* Of values as weights have them: what it is for. */
static void errors_are_smaller_than_those_of_nvfp4(void) {
  const mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  const mpnum_four_over_six how = {1, 256};
  const mpnum_const_matrix src = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 64, 1024);
  double ours = 0, theirs = 0;
  mpnum_blockscaled dst =
      mpnum_blockscaled_of(&format, codes, scales, sizeof scales, 1024);
  float scale = 0;
  for (int i = 0; i < 64 * 1024; ++i) { /* nearly normal */
    double sum = -6;
    for (int k = 0; k < 12; ++k)
      sum += (double)(random_bits(&state) >> 11) * 0x1p-53;
    x[i] = (float)sum;
  }
  must(mpnum_quantize_four_over_six(&dst, src, how));
  must(mpnum_dequantize_blocks(&format, mpnum_matrix_of(MPNUM_TYPE_F32, back, 64, 1024),
                               dst));
  must(mpnum_quantize_two_level(&format, dst, &scale, 0, src, NULL, NULL));
  dst.scale = scale;
  must(mpnum_dequantize_blocks(&format, mpnum_matrix_of(MPNUM_TYPE_F32, plain, 64, 1024),
                               dst));
  for (int i = 0; i < 64 * 1024; ++i) {
    ours += pow((double)back[i] - (double)x[i], 2);
    theirs += pow((double)plain[i] - (double)x[i], 2);
  }
  printf("# squared error %.3f of that of NVFP4\n", ours / theirs);
  CHECK(ours < 0.9 * theirs, "%g, not below %g", ours, theirs);
}
/* Blocks that are not finite are those of NVFP4, others as if they were not there. */
static void blocks_that_are_not_finite_are_nan(void) {
  const mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  const mpnum_four_over_six how = {0, 448};
  mpnum_blockscaled dst = mpnum_blockscaled_of(&format, codes, scales, 2, 32);
  float given[32];
  for (int i = 0; i < 32; ++i)
    given[i] = (float)i - 15;
  given[3] = mpnum_from_bits_f32(below(2) ? 0x7fc00000u : 0x7f800000u);
  must(mpnum_quantize_four_over_six(
      &dst, mpnum_const_matrix_of(MPNUM_TYPE_F32, given, 1, 32), how));
  CHECK(scales[0] == 0x7f && scales[1] == 0x7e, "scales %02x %02x", scales[0], scales[1]);
  for (int i = 0; i < 8; ++i)
    CHECK(codes[i] == 0x77, "two codes of a block that is NaN: %02x", codes[i]);
  CHECK(mpnum_bits_f32(dst.scale) == mpnum_bits_f32(2688.0f / 16), "S %g",
        (double)dst.scale);
}
static void misuse_is_refused(void) {
  const mpnum_blockscale_format format = mpnum_blockscale_nvfp4_1x16();
  const mpnum_const_matrix src = mpnum_const_matrix_of(MPNUM_TYPE_F32, x, 2, 32);
  const mpnum_blockscaled fine = mpnum_blockscaled_of(&format, codes, scales, 4, 32);
  const mpnum_four_over_six how = {0, 448}, other = {0, 447}, odd = {2, 448};
  mpnum_blockscaled dst = fine;
  memset(codes, GUARD, sizeof codes);
  memset(scales, GUARD, sizeof scales);
#define REFUSED(want, call)                                                           \
 do {                                                                                 \
  const mpnum_status status = call;                                                   \
  CHECK(status == (want) && codes[0] == GUARD && scales[0] == GUARD, "%s: %s", #call, \
        mpnum_status_string(status));                                                 \
  dst = fine;                                                                         \
 } while (0)
  REFUSED(MPNUM_ERROR_NULL, mpnum_quantize_four_over_six(NULL, src, how));
  REFUSED(MPNUM_ERROR_ARGUMENT, mpnum_quantize_four_over_six(&dst, src, other));
  REFUSED(MPNUM_ERROR_ARGUMENT, mpnum_quantize_four_over_six(&dst, src, odd));
  dst.scale_inv_bytes = 3;
  REFUSED(MPNUM_ERROR_RANGE, mpnum_quantize_four_over_six(&dst, src, how));
  dst.codes = scales + 2;
  REFUSED(MPNUM_ERROR_OVERLAP, mpnum_quantize_four_over_six(&dst, src, how));
  dst.stride = 31;
  REFUSED(MPNUM_ERROR_STRIDE, mpnum_quantize_four_over_six(&dst, src, how));
  dst.codes = NULL;
  REFUSED(MPNUM_ERROR_NULL, mpnum_quantize_four_over_six(&dst, src, how));
}

int main(void) {
  RUN_FOR_EACH_ISA(codes_are_those_of_the_formula);
  TAP_RUN(errors_are_smaller_than_those_of_nvfp4);
  TAP_RUN(blocks_that_are_not_finite_are_nan);
  TAP_RUN(misuse_is_refused);
  return tap_done();
}
