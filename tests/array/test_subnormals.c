/* SPDX-License-Identifier: MIT */
/* Functions of arrays take no longer for some data: tests/harness/data_sets.h. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "../harness/data_sets.h"

#include <mpnum/func/light.h>

/* FEWEST: that are flushed with any ISA. */
enum { ELEMENTS = 4096, FEWEST = 65, FEWEST_DOUBLES = 256 };
typedef void array_of_one(float *dst, const float *src, size_t n);
typedef struct function {
  const char *name;
  array_of_one *run;
  float (*scalar)(float x);
} function;
#define ONE(name, ...) \
 static float scalar_##name(float x) { return mpnum_##name##_f32(x); }
MPNUM_FUNCTION_ROWS_(ONE)
#define ONE_LIGHT(name) ONE(name##_light, )
MPNUM_LIGHT_ROWS_(ONE_LIGHT)
#undef ONE_LIGHT
#undef ONE
/* Sines and cosines in one call; the others are those of sin and cos. */
static float cosines[ELEMENTS], sines[ELEMENTS];
static void sine_of_both(float *dst, const float *src, size_t n) {
  mpnum_sincos_f32_array(dst, cosines, src, n);
}
static void cosine_of_both(float *dst, const float *src, size_t n) {
  mpnum_sincos_f32_array(sines, dst, src, n);
}
#define ONE(name, ...) {#name, mpnum_##name##_f32_array, scalar_##name},
#define ONE_LIGHT(name) \
 {#name "_light", mpnum_##name##_light_f32_array, scalar_##name##_light},
static const function functions[] = {MPNUM_FUNCTION_ROWS_(ONE) MPNUM_LIGHT_ROWS_(
                                         ONE_LIGHT){"sincos", sine_of_both, scalar_sin},
                                     {"sincos", cosine_of_both, scalar_cos}};
#undef ONE_LIGHT
#undef ONE
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

/* The same of f16 and bf16. */
typedef void array_of_codes(uint16_t *dst, const uint16_t *src, size_t n);
typedef struct small_function {
  const char *name;
  mpnum_type type;
  array_of_codes *run;
  uint16_t (*scalar)(uint16_t code);
} small_function;
#define ONE_OF(name, T)                                                         \
 static void array_##name##_##T(uint16_t *dst, const uint16_t *src, size_t n) { \
  mpnum_##name##_##T##_array((mpnum_##T *)(void *)dst,                          \
                             (const mpnum_##T *)(const void *)src, n);          \
 }                                                                              \
 static uint16_t scalar_##name##_##T(uint16_t code) {                           \
  const mpnum_##T value = {code};                                               \
  return mpnum_##name##_##T(value).bits;                                        \
 }
#define ONE(name, ...) ONE_OF(name, f16) ONE_OF(name, bf16)
MPNUM_FUNCTION_ROWS_(ONE)
#undef ONE
#define ONE(name, ...)                                             \
 {#name, MPNUM_TYPE_F16, array_##name##_f16, scalar_##name##_f16}, \
     {#name, MPNUM_TYPE_BF16, array_##name##_bf16, scalar_##name##_bf16},
static const small_function small_functions[] = {MPNUM_FUNCTION_ROWS_(ONE)};
#undef ONE
enum { SMALL_FUNCTIONS = sizeof small_functions / sizeof small_functions[0] };

static float x[ELEMENTS], got[ELEMENTS], want[ELEMENTS], b[ELEMENTS];
static array_of_one *run;
static size_t count;
static void one_array(void) { run(got, x, count); }
static int array_traps(array_of_one *function_of_array, size_t n) {
  run = function_of_array;
  count = n;
  return traps(one_array);
}

static void check_set(const function *one, data set, mpnum_isa isa) {
  state = 2 + (uint64_t)set;
  for (int i = 0; i < ELEMENTS; ++i) {
    x[i] = element_of(set);
    want[i] = one->scalar(x[i]);
  }
  CHECK(!array_traps(one->run, ELEMENTS), "%s traps with %s of %s", one->name,
        mpnum_isa_name(isa), data_names[set]);
  CHECK(memcmp(got, want, sizeof got) == 0, "%s gives other bits with %s of %s",
        one->name, mpnum_isa_name(isa), data_names[set]);
  /* the fewest that are flushed */
  CHECK(!array_traps(one->run, FEWEST), "%s of %d traps with %s of %s", one->name, FEWEST,
        mpnum_isa_name(isa), data_names[set]);
}
static void check_functions(mpnum_isa isa) {
  for (int f = 0; f < FUNCTIONS; ++f)
    for (int set = NORMAL; set < DATA; ++set)
      check_set(&functions[f], (data)set, isa);
}
static void no_data_set_makes_a_function_trap(void) {
  for_each_isa(MPNUM_ISA_SSE2, check_functions);
}

static uint16_t codes[ELEMENTS], got_codes[ELEMENTS], want_codes[ELEMENTS];
static array_of_codes *run_codes;
static void one_array_of_codes(void) { run_codes(got_codes, codes, count); }
/* The scalar functions meet the environment as it is. */
static void draw_codes(const small_function *one, data set) {
  const uint64_t before = control_word();
  state = 3 + (uint64_t)set;
  for (int i = 0; i < ELEMENTS; ++i) {
    const float value = element_of(set);
    codes[i] = one->type == MPNUM_TYPE_F16 ? mpnum_f32_to_f16(value).bits
                                           : mpnum_f32_to_bf16(value).bits;
    want_codes[i] = one->scalar(codes[i]);
  }
  set_control_word(before);
}
static void check_small_set(const small_function *one, data set, mpnum_isa isa) {
  draw_codes(one, set);
  run_codes = one->run;
  for (count = ELEMENTS; count; count = count == ELEMENTS ? FEWEST : 0) {
    CHECK(!traps(one_array_of_codes), "%s of %zu %s traps with %s of %s", one->name,
          count, mpnum_type_name(one->type), mpnum_isa_name(isa), data_names[set]);
    CHECK(memcmp(got_codes, want_codes, 2 * count) == 0,
          "%s of %zu %s gives other codes with %s of %s", one->name, count,
          mpnum_type_name(one->type), mpnum_isa_name(isa), data_names[set]);
  }
}
static void check_small_functions(mpnum_isa isa) {
  for (int f = 0; f < SMALL_FUNCTIONS; ++f)
    for (int set = NORMAL; set < DATA; ++set)
      check_small_set(&small_functions[f], (data)set, isa);
}
static void no_data_set_makes_a_function_of_16_bits_trap(void) {
  for_each_isa(MPNUM_ISA_SSE2, check_small_functions);
}
/* Functions of two values. */
typedef struct function_of_two {
  const char *name;
  int flushes;
  void (*run)(float *dst, const float *a, const float *b, size_t n);
  float (*scalar)(float a, float b);
  void (*run_f16)(mpnum_f16 *dst, const mpnum_f16 *a, const mpnum_f16 *b, size_t n);
  mpnum_f16 (*scalar_f16)(mpnum_f16 a, mpnum_f16 b);
  void (*run_bf16)(mpnum_bf16 *dst, const mpnum_bf16 *a, const mpnum_bf16 *b, size_t n);
  mpnum_bf16 (*scalar_bf16)(mpnum_bf16 a, mpnum_bf16 b);
} function_of_two;
#define TWO(name, T)                                                    \
 static mpnum_##T of_two_##name##_##T(mpnum_##T one, mpnum_##T other) { \
  return mpnum_##name##_##T(one, other);                                \
 }
#define WRAPPED(name, ...)                            \
 static float of_two_##name(float one, float other) { \
  return mpnum_##name##_f32(one, other);              \
 }                                                    \
 TWO(name, f16) TWO(name, bf16)
MPNUM_FUNCTION_ROWS_OF_TWO_(WRAPPED)
#undef WRAPPED
#undef TWO
#define ROW_OF_TWO(name, NAME, forms, flushes) \
 {#name,                                       \
  flushes,                                     \
  mpnum_##name##_f32_array,                    \
  of_two_##name,                               \
  mpnum_##name##_f16_array,                    \
  of_two_##name##_f16,                         \
  mpnum_##name##_bf16_array,                   \
  of_two_##name##_bf16},
static const function_of_two functions_of_two[] = {
    MPNUM_FUNCTION_ROWS_OF_TWO_(ROW_OF_TWO)};
#undef ROW_OF_TWO
enum { FUNCTIONS_OF_TWO = sizeof functions_of_two / sizeof functions_of_two[0] };
static const function_of_two *of_two;
static data drawn;
enum { CODES = 512 }; /* as the scalar functions take their time */
static mpnum_f16 a_f16[CODES], b_f16[CODES], got_f16[CODES], want_f16[CODES];
static mpnum_bf16 a_bf16[CODES], b_bf16[CODES], got_bf16[CODES], want_bf16[CODES];
static void arrays_of_two(void) { of_two->run(got, x, b, count); }
static void arrays_of_codes_of_two(void) {
  of_two->run_f16(got_f16, a_f16, b_f16, CODES);
  of_two->run_bf16(got_bf16, a_bf16, b_bf16, CODES);
}
/* Both of the set, or one that makes results of functions subnormal. Then what a loop of
 * its own (2 in the table) does not flush may trap, as it may of random bits. */
static int spreads;
static int may_trap(void) { return of_two->flushes == 2 && (spreads || drawn == BITS); }
static void draw_two(data set) {
  state = 4 + (uint64_t)set;
  for (int i = 0; i < ELEMENTS; ++i) {
    x[i] = random32() % 4 || !spreads ? element_of(set)
                                      : -110 * (float)(random32() >> 8) * 0x1p-24f;
    b[i] = random32() % 4 || !spreads ? element_of(set) : 50 * usual();
    want[i] = of_two->scalar(x[i], b[i]);
  }
  for (int i = 0; i < CODES; ++i) {
    a_f16[i] = mpnum_f32_to_f16(x[i]);
    b_f16[i] = mpnum_f32_to_f16(b[i]);
    want_f16[i] = of_two->scalar_f16(a_f16[i], b_f16[i]);
    a_bf16[i] = mpnum_f32_to_bf16(x[i]);
    b_bf16[i] = mpnum_f32_to_bf16(b[i]);
    want_bf16[i] = of_two->scalar_bf16(a_bf16[i], b_bf16[i]);
  }
}
static void check_two(mpnum_isa isa) {
  usual_word = may_trap() ? 0x1f80u : 0x1680u;
  for (count = ELEMENTS; count; count = count == ELEMENTS ? FEWEST : 0) {
    CHECK(!traps(arrays_of_two), "%s of %zu traps with %s of %s", of_two->name, count,
          mpnum_isa_name(isa), data_names[drawn]);
    CHECK(memcmp(got, want, count * sizeof *got) == 0,
          "%s of %zu gives other bits with %s of %s", of_two->name, count,
          mpnum_isa_name(isa), data_names[drawn]);
  }
  CHECK(!traps(arrays_of_codes_of_two), "%s of f16 or bf16 traps with %s of %s",
        of_two->name, mpnum_isa_name(isa), data_names[drawn]);
  CHECK(memcmp(got_f16, want_f16, sizeof got_f16) == 0 &&
            memcmp(got_bf16, want_bf16, sizeof got_bf16) == 0,
        "%s gives other codes with %s of %s", of_two->name, mpnum_isa_name(isa),
        data_names[drawn]);
}
static void no_data_set_makes_a_function_of_two_trap(void) {
  for (int f = 0; f < FUNCTIONS_OF_TWO; ++f)
    for (int set = NORMAL; set < DATA; ++set) {
      of_two = &functions_of_two[f];
      drawn = (data)set;
      for (spreads = of_two->flushes == 2 ? 0 : 1; spreads < 2; ++spreads) {
        draw_two(drawn);
        for_each_isa(MPNUM_ISA_SSE2, check_two);
        usual_word = 0x1680u;
      }
    }
}
/* f64 to 8 bits. */
static double doubles[ELEMENTS];
static uint8_t bytes[ELEMENTS], want_bytes[ELEMENTS];
static mpnum_type byte_type;
static mpnum_status byte_status;
static void doubles_to_bytes(void) {
  byte_status =
      mpnum_convert_array(byte_type, bytes, MPNUM_TYPE_F64, doubles, count,
                          MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0, 0);
}
static void check_bytes(mpnum_isa isa) {
  static const mpnum_type byte_types[] = {MPNUM_TYPE_E5M2, MPNUM_TYPE_E4M3,
                                          MPNUM_TYPE_E4M3FNUZ, MPNUM_TYPE_E3M4};
  for (int k = 0; k < 4 * DATA; ++k) {
    const data set = (data)(k / 4);
    byte_type = byte_types[k % 4];
    count = k % 2 ? ELEMENTS - 1 : FEWEST_DOUBLES;
    state = (uint64_t)k;
    for (size_t i = 0; i < count; ++i) {
      doubles[i] = (double)element_of(set);
      want_bytes[i] =
          (uint8_t)mpnum_encode_f64(mpnum_format_of(byte_type), doubles[i],
                                    MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0);
    }
    CHECK(!traps(doubles_to_bytes), "f64 to %s traps with %s of %s",
          mpnum_type_name(byte_type), mpnum_isa_name(isa), data_names[set]);
    CHECK(byte_status == MPNUM_OK && memcmp(bytes, want_bytes, count) == 0,
          "f64 to %s gives other codes with %s of %s", mpnum_type_name(byte_type),
          mpnum_isa_name(isa), data_names[set]);
  }
}
static void no_data_set_makes_doubles_to_8_bits_trap(void) {
  for_each_isa(MPNUM_ISA_SSE2, check_bytes);
}

/* A dot product in floats: sums of a set, and of any of some dozen exponents, from
 * subnormal ones up, whose sums are subnormal, too, or cancel. */
static float dot;
static void dot_product(void) { dot = mpnum_dot_light_f32(x, b, count); }
static float element_near(int power) {
  const uint32_t field = random32() % 40 ? (uint32_t)power + random32() % 28 : 0;
  return mpnum_from_bits_f32((random32() & 0x807fffffu) | field << 23);
}
static void check_dot(mpnum_isa isa) {
  for (int draw = 0; draw < 400; ++draw) {
    const data set = draw % 4 ? DATA : (data)(draw / 4 % DATA);
    const int power = draw % 4 == 1 ? 114 : draw % 4 == 2 ? 60 : 0;
    count =
        256 + random32() % 1792 + random32() % 2 * 2048; /* of tiles of 256 and more */
    for (size_t i = 0; i < count; ++i) {
      x[i] = set == DATA ? element_near(draw % 3 ? 0 : power) : element_of(set);
      b[i] = set == DATA ? element_near(power) : element_of(set);
    }
    run_scalar(dot_product);
    const float expected = dot;
    /* of sums near 2^-126 some are made without flushing */
    if (set >= BITS) usual_word = 0x1f80u;
    CHECK(!traps(dot_product), "a dot product of %zu traps with %s of %s", count,
          mpnum_isa_name(isa), data_names[set]);
    usual_word = 0x1680u;
    CHECK(mpnum_bits_f32(dot) == mpnum_bits_f32(expected),
          "a dot product of %zu is %a with %s, not %a (draw %d)", count, (double)dot,
          mpnum_isa_name(isa), (double)expected, draw);
  }
}
static void no_data_set_makes_a_dot_product_trap(void) {
  state = 5;
  for_each_isa(MPNUM_ISA_AVX2, check_dot);
}

/* Calls of few elements: the bits of the scalar functions in every environment, which is
 * as it was afterwards. */
static const size_t few[] = {1, 3, 15, 16, 17, 33, 64};
enum { FEW = sizeof few / sizeof few[0], MOST = 64 };
static void check_few(const char *name, mpnum_isa isa, one_call *call, const void *result,
                      const void *expected, size_t size) {
  uint64_t words[CONTROL_WORDS];
  const int word_count = all_control_words(words);
  for (int w = 0; w < word_count; ++w)
    for (int k = 0; k < FEW; ++k) {
      const uint64_t before = control_word();
      count = few[k];
      set_control_word(words[w]);
      call();
      const uint64_t after = control_word();
      set_control_word(before);
      CHECK(after == words[w], "%s of %zu with %s makes %llx of %llx", name, count,
            mpnum_isa_name(isa), (unsigned long long)after, (unsigned long long)words[w]);
      CHECK(memcmp(result, expected, count * size) == 0,
            "%s of %zu gives other bits with %s", name, count, mpnum_isa_name(isa));
    }
}
static void check_few_of_all(mpnum_isa isa) {
  for (int set = NORMAL; set < DATA; ++set) {
    state = 6 + (uint64_t)set;
    for (int i = 0; i < MOST; ++i)
      x[i] = element_of((data)set);
    for (int f = 0; f < FUNCTIONS; ++f) {
      run = functions[f].run;
      for (int i = 0; i < MOST; ++i)
        want[i] = functions[f].scalar(x[i]);
      check_few(functions[f].name, isa, one_array, got, want, sizeof *got);
    }
    for (int f = 0; f < SMALL_FUNCTIONS; ++f) {
      const small_function *one = &small_functions[f];
      run_codes = one->run;
      for (int i = 0; i < MOST; ++i) {
        codes[i] = one->type == MPNUM_TYPE_F16 ? mpnum_f32_to_f16(x[i]).bits
                                               : mpnum_f32_to_bf16(x[i]).bits;
        want_codes[i] = one->scalar(codes[i]);
      }
      check_few(one->name, isa, one_array_of_codes, got_codes, want_codes,
                sizeof *got_codes);
    }
  }
}
static void few_elements_have_the_same_bits_in_any_environment(void) {
  const uint64_t before = control_word();
  usual_word = 0x1f80u;
  for_each_isa(MPNUM_ISA_SSE2, check_few_of_all);
  usual_word = 0x1680u;
  set_control_word(before);
}
/* AVX-512 suppresses exceptions, so that nothing traps: loops are seen to ask for the
 * word that flushes, where one element of any number is no usual one. */
static void check_unusual(mpnum_isa isa) {
  static const float unusual[] = {0x1p-149f, -0x1p-127f, 0x1.fffffep-14f,
                                  -8.0f,     89.0f,      -104.0f};
  run = mpnum_exp_f32_array;
  run_codes = array_exp_bf16;
  for (count = 1; count <= MOST; ++count)
    for (size_t i = 0; i < 6 * count; ++i) {
      for (size_t k = 0; k < count; ++k)
        x[k] = usual();
      x[i % count] = unusual[i / count];
      for (size_t k = 0; k < count; ++k)
        codes[k] = mpnum_f32_to_bf16(x[k]).bits;
      flushes_seen = 0;
      one_array();
      CHECK(flushes_seen > 0, "exp of %zu with %s does not flush for number %zu", count,
            mpnum_isa_name(isa), i % count);
      flushes_seen = 0;
      one_array_of_codes();
      CHECK(flushes_seen > 0, "exp of %zu bf16 with %s does not flush", count,
            mpnum_isa_name(isa));
      flushes_seen = 0;
      mpnum_f32_to_e4m3_sat_array((mpnum_e4m3 *)(void *)bytes, x, count);
      CHECK(flushes_seen > 0, "%zu floats to e4m3 with %s are not flushed", count,
            mpnum_isa_name(isa));
    }
}
static void avx512_flushes_calls_of_few_elements(void) {
  state = 7;
  if (mpnum_isa_in_use() == MPNUM_ISA_AVX512 ||
      mpnum_isa_in_use() == MPNUM_ISA_AVX512_VBMI)
    for_each_isa(MPNUM_ISA_AVX512, check_unusual);
}

/* What shows that the exceptions are unmasked, with an instruction set that raises them.
 */
static void what_is_not_flushed_traps(void) {
  const mpnum_isa best = mpnum_isa_in_use();
  CHECK(mpnum_isa_force(MPNUM_ISA_SSE2) == MPNUM_OK, "no SSE2");
  for (int i = 0; i < ELEMENTS; ++i)
    x[i] = -100.0f; /* e^x is subnormal */
  CHECK(array_traps(mpnum_exp_f32_array, FEWEST - 1), "exp of %d does not trap",
        FEWEST - 1);
  CHECK(!array_traps(mpnum_exp_f32_array, FEWEST), "exp of %d traps", FEWEST);
  CHECK(mpnum_isa_force(best) == MPNUM_OK, "%s is gone", mpnum_isa_name(best));
}

int main(void) {
  traps_are_caught();
  RUN_WHERE_FLUSHED(no_data_set_makes_a_function_trap);
  RUN_WHERE_FLUSHED(no_data_set_makes_a_function_of_16_bits_trap);
  RUN_WHERE_FLUSHED(no_data_set_makes_a_function_of_two_trap);
  RUN_WHERE_FLUSHED(no_data_set_makes_doubles_to_8_bits_trap);
  RUN_WHERE_FLUSHED(no_data_set_makes_a_dot_product_trap);
  RUN_WHERE_FLUSHED(few_elements_have_the_same_bits_in_any_environment);
  RUN_WHERE_FLUSHED(avx512_flushes_calls_of_few_elements);
  RUN_WHERE_FLUSHED(what_is_not_flushed_traps);
  return tap_done();
}
