/* SPDX-License-Identifier: MIT */
/* An f32 as a sum of narrow floats: the parts beside the same steps in doubles and rint,
 * what is lost beside its bound; a matrix beside single numbers.
 *
 *     test_split [TYPE PARTS EXPONENT STEP]   all 2^32 floats of one way, sampled without
 */
#include "../harness/control_word.h"
#include "../harness/float_bits.h"
#include "../harness/tap.h"

#include <mpnum/array/split.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

typedef struct narrow {
  mpnum_type type;
  const char *name;
  int precision, min_exponent; /* bits of the significand; of the smallest normal */
  double max;
} narrow;
static const narrow narrows[] = {{MPNUM_TYPE_BF16, "bf16", 8, -126, 0x1.fep127},
                                 {MPNUM_TYPE_F16, "f16", 11, -14, 65504},
                                 {MPNUM_TYPE_TF32, "tf32", 11, -126, 0x1.ffcp127}};
/* The ways that docs/split.md gives bounds for. */
static const struct way {
  int narrow, parts, exponent, step;
} ways[] = {{0, 2, 0, 0},  {0, 2, 0, 8}, {0, 3, 0, 0},    {0, 3, 0, 8}, {1, 2, 0, 11},
            {1, 2, 6, 11}, {1, 2, 0, 0}, {1, 2, -40, 11}, {2, 2, 0, 0}, {2, 2, 0, 11}};
enum { WAYS = sizeof ways / sizeof *ways };

/* A code as a double, by the places of its bits. */
static double value_of(const narrow *type, uint32_t code) {
  const int wide = type->type == MPNUM_TYPE_TF32;
  const uint32_t magnitude = wide ? (code & 0x7fffffff) >> 13 : code & 0x7fff;
  const int places = type->precision - 1;
  const int field = (int)(magnitude >> places);
  const uint32_t fraction = magnitude & ((1u << places) - 1);
  const double x = ldexp(field ? fraction + (1u << places) : fraction,
                         type->min_exponent - places + (field ? field - 1 : 0));
  return code >> (wide ? 31 : 15) ? -x : x;
}

static double nearest(const narrow *type, double x) {
  int exponent = 0;
  if (x == 0) return 0;
  (void)frexp(x, &exponent);
  if (exponent - 1 < type->min_exponent) exponent = type->min_exponent + 1;
  const double place = ldexp(1, exponent - type->precision);
  const double rounded = rint(x / place) * place;
  return fabs(rounded) > type->max ? copysign(type->max, x) : rounded;
}

/* What may be lost of x: docs/split.md has the same. */
static double bound(const struct way *way, double x) {
  const narrow *type = &narrows[way->narrow];
  /* Half of the last place of a subnormal last part. */
  const double least = ldexp(0.5, type->min_exponent - type->precision + 1 -
                                      way->exponent - way->step * (way->parts - 1));
  const double size = fabs(x), last = type->max * ldexp(1, -way->exponent);
  double relative = 0;
  if (type->type == MPNUM_TYPE_BF16) relative = way->parts == 3 ? 0 : 0x1p-17;
  if (type->type == MPNUM_TYPE_F16) relative = size > last ? 1 : 0x1p-23;
  if (type->type == MPNUM_TYPE_TF32) relative = 0x1p-23;
  if (size > last) relative *= 4; /* the rest may be past the largest, too */
  if (way->parts == 3 && way->step) return 0;
  return size * relative > least ? size * relative : least;
}

static void check(const struct way *way, uint32_t bits) {
  const narrow *type = &narrows[way->narrow];
  const double x = (double)float_of(bits);
  if ((bits & 0x7fffffff) >= 0x7f800000) return;
  double rest = ldexp(x, way->exponent), sum = 0;
  uint32_t codes[4] = {7, 7, 7, 7};
  mpnum_split(mpnum_format_of(type->type), float_of(bits), way->exponent, way->step,
              codes, way->parts);
  for (int k = 0; k < way->parts; ++k) {
    const double part = value_of(type, codes[k]);
    if (part != nearest(type, rest) || (part == 0 && k && rest == 0 && codes[k] != 0))
      tap_error(__FILE__, __LINE__, "%s, part %d of %08" PRIx32 ": %" PRIx32 ", not %a",
                type->name, k, bits, codes[k], nearest(type, rest));
    rest = ldexp(rest - part, way->step);
    sum += ldexp(part, -way->exponent - k * way->step);
  }
  if (!(fabs(x - sum) <= bound(way, x)))
    tap_error(__FILE__, __LINE__,
              "%s, %d parts, %d, step %d: of %a is lost %a, more than %a", type->name,
              way->parts, way->exponent, way->step, x, fabs(x - sum), bound(way, x));
  if (codes[way->parts < 4 ? way->parts : 3] != 7)
    tap_error(__FILE__, __LINE__, "%s: written behind the parts", type->name);
}

static const struct way *way_now;
static uint32_t every;
static void parts_are_nearest_and_lose_no_more_than_the_bound(void) {
  uint64_t i = 0;
  for (; i <= UINT32_MAX; i += every)
    check(way_now, (uint32_t)i);
  for (i = 0; every > 1 && i < 0xff; ++i) /* around each power of two */
    for (uint32_t k = 0; k < 40; ++k)
      check(way_now, ((uint32_t)i << 23 | k % 2 << 31) + (k < 20 ? k : k * 0x66667u));
  if (every > 1)
    for (uint32_t k = 1; k < 0x30000; k += 7)
      check(way_now, 0x7f800000u - k);
}

static void what_is_no_number_is_in_the_first_part(void) {
  static const uint32_t inputs[] = {0,          0x80000000, 0x7f800000,
                                    0xff800000, 0x7fc00000, 0xff800001};
  static const uint32_t want[][6] = {
      {0, 0x8000, 0x7f80, 0xff80, 0x7fff, 0x7fff},
      {0, 0x8000, 0x7c00, 0xfc00, 0x7fff, 0x7fff},
      {0, 0x80000000, 0x7f800000, 0xff800000, 0x7fffe000, 0x7fffe000}};
  for (int n = 0; n < 3; ++n)
    for (int i = 0; i < 6; ++i) {
      uint32_t codes[3] = {7, 7, 7};
      mpnum_split(mpnum_format_of(narrows[n].type), float_of(inputs[i]), 3, 8, codes, 3);
      CHECK(codes[0] == want[n][i] && codes[1] == 0 && codes[2] == 0,
            "%s of %08" PRIx32 ": %" PRIx32 " %" PRIx32 " %" PRIx32, narrows[n].name,
            inputs[i], codes[0], codes[1], codes[2]);
    }
}

/* Subnormals, too, under each rounding mode, flushing and trapping. */
static void parts_do_not_depend_on_the_control_word(void) {
  uint64_t words[CONTROL_WORDS];
  const int count = all_control_words(words);
  const uint64_t before = control_word();
  for (size_t w = 0; w < WAYS; ++w)
    for (uint32_t i = 0; i < 3000; ++i) {
      const uint32_t bits = i < 1000 ? i * 8419u : i * 0x9e3779b1u;
      const mpnum_format format = mpnum_format_of(narrows[ways[w].narrow].type);
      uint32_t want[3] = {0, 0, 0};
      mpnum_split(format, float_of(bits), ways[w].exponent, ways[w].step, want,
                  ways[w].parts);
      for (int k = 0; k < count; ++k) {
        uint32_t codes[3] = {0, 0, 0};
        set_control_word(words[k]);
        mpnum_split(format, float_of(bits), ways[w].exponent, ways[w].step, codes,
                    ways[w].parts);
        set_control_word(before);
        CHECK(memcmp(codes, want, sizeof codes) == 0, "way %d, word %d: of %08" PRIx32,
              (int)w, k, bits);
      }
    }
}

enum { ROWS = 5, COLUMNS = 7, SOURCE_STRIDE = 11, STRIDE = 9 };
static float source[ROWS * SOURCE_STRIDE];
static uint32_t memory[4][ROWS * STRIDE], before[4][ROWS * STRIDE];
static mpnum_matrix parts[4];
static mpnum_const_matrix src;

static void fresh(mpnum_type type) {
  for (size_t i = 0; i < ROWS * SOURCE_STRIDE; ++i)
    source[i] = ldexpf((float)(i % 13) - 5.7183f, (int)(i % 21) - 10);
  memset(memory, 0x5a, sizeof memory);
  memset(before, 0x5a, sizeof before);
  for (int k = 0; k < 4; ++k) {
    parts[k] = mpnum_matrix_of(type, memory[k], ROWS, COLUMNS);
    parts[k].stride = STRIDE - (size_t)k % 2;
  }
  src = mpnum_const_matrix_of(MPNUM_TYPE_F32, source + 2, ROWS, COLUMNS);
  src.stride = SOURCE_STRIDE;
}

static void matrices_are_single_numbers(void) {
  for (int n = 0; n < 3; ++n)
    for (size_t count = 1; count <= 4; ++count) {
      const mpnum_format format = mpnum_format_of(narrows[n].type);
      const int is_wide = narrows[n].type == MPNUM_TYPE_TF32;
      fresh(narrows[n].type);
      CHECK(mpnum_split_matrix(parts, count, src, 1, 11) == MPNUM_OK, "%s",
            narrows[n].name);
      for (size_t i = 0; i < ROWS; ++i)
        for (size_t j = 0; j < COLUMNS; ++j) {
          uint32_t codes[4];
          mpnum_split(format, source[2 + i * SOURCE_STRIDE + j], 1, 11, codes,
                      (int)count);
          for (size_t k = 0; k < count; ++k) {
            const size_t at = i * parts[k].stride + j;
            if (is_wide)
              before[k][at] = codes[k];
            else
              ((uint16_t *)before[k])[at] = (uint16_t)codes[k];
          }
        }
      CHECK(memcmp(memory, before, sizeof memory) == 0, "%s, %d parts", narrows[n].name,
            (int)count);
    }
}

/* Beyond a tile, of any bits; in the second row Inf and NaN, too. */
enum { LONG = 2100 };
static void long_rows_are_single_numbers(void) {
  static const int exponents[] = {0, 1, 100, -3, -200, 200}, steps[] = {0, 8, 11, 31};
  static uint32_t bits[2 * LONG], long_parts[4][2 * LONG];
  uint64_t words[CONTROL_WORDS];
  const int word_count = all_control_words(words);
  const uint64_t usual = control_word();
  uint64_t state = 1;
  mpnum_const_matrix from = mpnum_const_matrix_of(MPNUM_TYPE_F32, bits, 2, LONG);
  mpnum_matrix to[4];
  for (int i = 0; i < 2 * LONG; ++i) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    bits[i] = (uint32_t)(state >> 32);
    if (i % 3 == 0) bits[i] = (bits[i] & 0x83ffffff) | 0x3c000000; /* about 1 */
    if (i % 101 == 0) bits[i] &= 0x80ffffff;
    if (i < LONG && (bits[i] & 0x7f800000) == 0x7f800000) bits[i] -= 0x00800000;
  }
  for (int run = 0; run < 3 * 6 * 4; ++run) {
    const narrow *type = &narrows[run % 3];
    const int exponent = exponents[run / 3 % 6], step = steps[run / 18];
    const size_t count = 1 + (size_t)run % 4;
    for (int k = 0; k < 4; ++k)
      to[k] = mpnum_matrix_of(type->type, long_parts[k], 2, LONG);
    set_control_word(words[run % word_count]);
    const mpnum_status status = mpnum_split_matrix(to, count, from, exponent, step);
    set_control_word(usual);
    CHECK(status == MPNUM_OK, "run %d: %s", run, mpnum_status_string(status));
    for (size_t i = 0; i < 2 * LONG; ++i) {
      uint32_t codes[4];
      mpnum_split(mpnum_format_of(type->type), float_of(bits[i]), exponent, step, codes,
                  (int)count);
      for (size_t k = 0; k < count; ++k) {
        const uint32_t got = type->type == MPNUM_TYPE_TF32
                                 ? long_parts[k][i]
                                 : ((const uint16_t *)long_parts[k])[i];
        CHECK(got == codes[k],
              "%s, 2^%d, step %d, part %d of %08" PRIx32 ": %" PRIx32 ", not %" PRIx32,
              type->name, exponent, step, (int)k, bits[i], got, codes[k]);
      }
    }
  }
}

/* Products of parts by their numbers, the small ones first, and what they miss of a * b.
 */
static const struct recipe {
  const char *name;
  int narrow, parts, count;
  int pairs[9][2];
  double most, dot; /* of |a * b|; of a dot product, as docs/split.md has it */
} recipes[] = {{"bf16, 1 product", 0, 1, 1, {{0, 0}}, 0x1p-7, 2.2e-3},
               {"bf16, 3 products", 0, 2, 3, {{1, 0}, {0, 1}, {0, 0}}, 0x1p-15, 5.0e-6},
               {"bf16, 6 products",
                0,
                3,
                6,
                {{2, 0}, {0, 2}, {1, 1}, {1, 0}, {0, 1}, {0, 0}},
                0x1p-24,
                5.8e-7},
               {"bf16, 9 products",
                0,
                3,
                9,
                {{2, 2}, {2, 1}, {1, 2}, {2, 0}, {0, 2}, {1, 1}, {1, 0}, {0, 1}, {0, 0}},
                0,
                5.8e-7},
               {"f16, 3 products", 1, 2, 3, {{1, 0}, {0, 1}, {0, 0}}, 0x1p-21, 1.2e-6},
               {"tf32, 1 product", 2, 1, 1, {{0, 0}}, 0x1p-10, 3.6e-4},
               {"tf32, 3 products", 2, 2, 3, {{1, 0}, {0, 1}, {0, 0}}, 0x1p-21, 1.2e-6}};
enum { RECIPES = sizeof recipes / sizeof *recipes };

static void values_of(const narrow *type, float x, int count, double values[3]) {
  uint32_t codes[4] = {0, 0, 0, 0};
  mpnum_split(mpnum_format_of(type->type), x, 0, 11, codes, count);
  for (int k = 0; k < count; ++k)
    values[k] = ldexp(value_of(type, codes[k]), -11 * k);
}

static uint32_t draw(void) {
  static uint64_t state = 36;
  state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (uint32_t)(state >> 32);
}

/* Exact in doubles: 48 bits. Exponents near 0, half of the significands of few bits or
 * nearly all ones. */
static void products_of_parts_miss_no_more_than_the_bound(void) {
  double worst[RECIPES] = {0};
  for (int i = 0; i < 100000; ++i) {
    float x[2];
    for (int k = 0; k < 2; ++k) {
      uint32_t significand = draw() >> 9;
      if (draw() % 2) significand = significand >> draw() % 23 << draw() % 23 & 0x7fffff;
      if (draw() % 3 == 0) significand ^= 0x7fff;
      x[k] = float_of(((draw() % 16 + 119) << 23) | significand);
    }
    for (int r = 0; r < RECIPES; ++r) {
      const struct recipe *recipe = &recipes[r];
      const double whole = (double)x[0] * (double)x[1];
      double a[3], b[3], sum = 0;
      values_of(&narrows[recipe->narrow], x[0], recipe->parts, a);
      values_of(&narrows[recipe->narrow], x[1], recipe->parts, b);
      for (int k = 0; k < recipe->count; ++k)
        sum += a[recipe->pairs[k][0]] * b[recipe->pairs[k][1]];
      worst[r] = fmax(worst[r], fabs(whole - sum) / whole);
      CHECK(fabs(whole - sum) <= recipe->most * whole, "%s of %a and %a miss 2^%.2f",
            recipe->name, (double)x[0], (double)x[1], log2(fabs(whole - sum) / whole));
    }
  }
  for (int r = 0; r < RECIPES; ++r)
    printf("# %s: 2^%.2f of 2^%.0f\n", recipes[r].name, log2(worst[r]),
           log2(recipes[r].most));
}

/* Of 4096 numbers of about one size, products added to one float, one after the other. */
static void dot_products_are_as_near_as_the_page_says(void) {
  enum { K = 4096, DOTS = 32 };
  static double a[K][3], b[K][3];
  static float x[K], y[K];
  double errors[RECIPES + 1] = {0}, size = 0;
  for (int dot = 0; dot < DOTS; ++dot) {
    double exact = 0;
    float plain = 0;
    for (int i = 0; i < K; ++i) {
      x[i] = y[i] = 0;
      for (int k = 0; k < 12; ++k) { /* a sum of 12 is about normal */
        x[i] += (float)(draw() >> 8) * 0x1p-24f - 0.5f;
        y[i] += (float)(draw() >> 8) * 0x1p-24f - 0.5f;
      }
      exact += (double)x[i] * (double)y[i];
      plain = fmaf(x[i], y[i], plain);
    }
    size += exact * exact;
    errors[RECIPES] += ((double)plain - exact) * ((double)plain - exact);
    for (int r = 0; r < RECIPES; ++r) {
      const struct recipe *recipe = &recipes[r];
      float sum = 0;
      for (int i = 0; i < K; ++i) {
        values_of(&narrows[recipe->narrow], x[i], recipe->parts, a[i]);
        values_of(&narrows[recipe->narrow], y[i], recipe->parts, b[i]);
      }
      for (int k = 0; k < recipe->count; ++k)
        for (int i = 0; i < K; ++i)
          sum = fmaf((float)a[i][recipe->pairs[k][0]], (float)b[i][recipe->pairs[k][1]],
                     sum);
      errors[r] += ((double)sum - exact) * ((double)sum - exact);
    }
  }
  for (int r = 0; r <= RECIPES; ++r) {
    const double error = sqrt(errors[r] / size),
                 most = r < RECIPES ? recipes[r].dot : 9.0e-7;
    const char *name = r < RECIPES ? recipes[r].name : "f32";
    printf("# %s: %.1e\n", name, error);
    CHECK(error <= 1.05 * most && error >= 0.95 * most, "%s: %.3e, not %.1e", name, error,
          most);
  }
}

static void refused(mpnum_status want, size_t count, int exponent, int step, int line) {
  const mpnum_status got = mpnum_split_matrix(parts, count, src, exponent, step);
  CHECK(got == want, "line %d: %s", line, mpnum_status_string(got));
  CHECK(memcmp(memory, before, sizeof memory) == 0, "line %d: written", line);
  fresh(MPNUM_TYPE_BF16);
}
#define REFUSED(status, count, exponent, step) \
 refused(status, count, exponent, step, __LINE__)

static void bad_calls_are_a_status_and_write_nothing(void) {
  fresh(MPNUM_TYPE_BF16);
  REFUSED(MPNUM_ERROR_ARGUMENT, 0, 0, 0);
  REFUSED(MPNUM_ERROR_ARGUMENT, 5, 0, 0);
  REFUSED(MPNUM_ERROR_ARGUMENT, 2, 256, 0);
  REFUSED(MPNUM_ERROR_ARGUMENT, 2, -256, 0);
  REFUSED(MPNUM_ERROR_ARGUMENT, 2, 0, -1);
  REFUSED(MPNUM_ERROR_ARGUMENT, 2, 0, 32);
  CHECK(mpnum_split_matrix(NULL, 2, src, 0, 0) == MPNUM_ERROR_NULL, "no views");
  src.type = MPNUM_TYPE_F16;
  REFUSED(MPNUM_ERROR_TYPE, 2, 0, 0);
  parts[0].type = parts[1].type = MPNUM_TYPE_E4M3;
  REFUSED(MPNUM_ERROR_TYPE, 2, 0, 0);
  parts[1].type = MPNUM_TYPE_F16;
  REFUSED(MPNUM_ERROR_TYPE, 2, 0, 0);
  src.data = NULL;
  REFUSED(MPNUM_ERROR_NULL, 2, 0, 0);
  parts[1].data = NULL;
  REFUSED(MPNUM_ERROR_NULL, 2, 0, 0);
  parts[1].rows = ROWS - 1;
  REFUSED(MPNUM_ERROR_SHAPE, 2, 0, 0);
  parts[1].columns = COLUMNS + 1;
  REFUSED(MPNUM_ERROR_SHAPE, 2, 0, 0);
  parts[1].stride = COLUMNS - 1;
  REFUSED(MPNUM_ERROR_STRIDE, 2, 0, 0);
  parts[1].data = parts[0].data;
  REFUSED(MPNUM_ERROR_OVERLAP, 2, 0, 0);
  parts[2].data = (uint16_t *)parts[0].data + 3;
  REFUSED(MPNUM_ERROR_OVERLAP, 3, 0, 0);
  src.data = memory[1];
  REFUSED(MPNUM_ERROR_OVERLAP, 2, 0, 0);
  src.rows = parts[0].rows = parts[1].rows = 0;
  parts[0].data = parts[1].data = NULL;
  CHECK(mpnum_split_matrix(parts, 2, src, 0, 0) == MPNUM_OK, "no rows");
}

int main(int argc, char **argv) {
  char name[100];
  for (size_t w = 0; w < WAYS; ++w) {
    const narrow *type = &narrows[ways[w].narrow];
    way_now = &ways[w];
    if (argc == 5 &&
        (strcmp(argv[1], type->name) != 0 || atoi(argv[2]) != way_now->parts ||
         atoi(argv[3]) != way_now->exponent || atoi(argv[4]) != way_now->step))
      continue;
    every = argc == 5 ? 1 : 65537;
    snprintf(name, sizeof name,
             "%s_parts_%d_exponent_%d_step_%d_lose_no_more_than_their_bound", type->name,
             way_now->parts, way_now->exponent, way_now->step);
    tap_run(name, parts_are_nearest_and_lose_no_more_than_the_bound);
  }
  if (argc == 5) return tap_done();
  TAP_RUN(what_is_no_number_is_in_the_first_part);
  TAP_RUN(parts_do_not_depend_on_the_control_word);
  TAP_RUN(matrices_are_single_numbers);
  TAP_RUN(long_rows_are_single_numbers);
  TAP_RUN(products_of_parts_miss_no_more_than_the_bound);
  TAP_RUN(dot_products_are_as_near_as_the_page_says);
  TAP_RUN(bad_calls_are_a_status_and_write_nothing);
  return tap_done();
}
