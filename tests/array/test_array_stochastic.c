/* SPDX-License-Identifier: MIT */
/* Arrays rounded stochastically, with every instruction set: element i is the scalar
 * rounding with random word number offset + i of the seed, wherever the array is split
 * and however many threads take part; and values move up as often as they should. */
#include "array_checks.h"

#include <mpnum/core/rng.h>
#include <mpnum/core/round.h>

#include <math.h>
#include <pthread.h>

enum { ELEMENTS = 3000 };

static const uint64_t seed = UINT64_C(0x0123456789abcdef);
static float *floats;

/* Of finite values and others, near the codes of a format. */
static void fill_floats(mpnum_type type) {
  input_list list = inputs_of(MPNUM_TYPE_F32, 32, type, 2000, 20000);
  uint64_t state = (uint64_t)type;
  for (size_t i = 0; i < ELEMENTS; ++i) {
    const uint32_t word = (uint32_t)list.bits[random_bits(&state) % list.count];
    memcpy(&floats[i], &word, 4);
  }
  free(list.bits);
}

static void want_of(const stochastic_function *function, const float *src, size_t n,
                    uint64_t offset, void *want) {
  memset(want, 0, bytes_of(function->dst_bits, n));
  for (size_t i = 0; i < n; ++i)
    set_element(function->dst_bits, want, i,
                function->scalar(src[i], mpnum_random(seed, offset + i)));
}

/* Each phase of the four words of a counter, where the counter's low word wraps, and, the
 * last three, where the index itself does. */
static const uint64_t offsets[] = {0,
                                   1,
                                   2,
                                   3,
                                   1001,
                                   (UINT64_C(1) << 32) - 7,
                                   (UINT64_C(1) << 34) - 4,
                                   (UINT64_C(1) << 34) - 301,
                                   (UINT64_C(1) << 34) - 1022,
                                   (UINT64_C(1) << 63) - 5,
                                   0 - UINT64_C(2900),
                                   0 - UINT64_C(4),
                                   0 - UINT64_C(1)};

enum { OFFSETS = sizeof offsets / sizeof offsets[0], WRAPPING = 3 };

static void check_offsets(size_t first, size_t end) {
  uint32_t got[ELEMENTS], want[ELEMENTS];
  for (size_t i = 0; i < stochastic_function_count; ++i) {
    const stochastic_function *function = &stochastic_functions[i];
    fill_floats(function->dst);
    for (size_t j = first; j < end; ++j) {
      char what[120];
      snprintf(what, sizeof what, "%s at offset %" PRIx64, function->name, offsets[j]);
      want_of(function, floats, ELEMENTS, offsets[j], want);
      memset(got, 0xa5, sizeof got);
      function->convert(got, floats, ELEMENTS, seed, offsets[j]);
      check_elements(what, 32, floats, function->dst_bits, got, want, ELEMENTS);
    }
  }
}

static void elements_take_the_word_of_their_index(void) {
  check_offsets(0, OFFSETS - WRAPPING);
}
static void indices_wrap_at_2_to_64(void) { check_offsets(OFFSETS - WRAPPING, OFFSETS); }

/* Short arrays, too: what is before and after whole vectors. */
static void every_length_and_phase_is_converted(void) {
  uint32_t got[ELEMENTS], want[ELEMENTS];
  for (size_t i = 0; i < stochastic_function_count; ++i) {
    const stochastic_function *function = &stochastic_functions[i];
    fill_floats(function->dst);
    for (size_t n = 0; n <= 300; n += n < 80 ? 1 : 17)
      for (uint64_t offset = 0; offset < 4; ++offset) {
        want_of(function, floats, n, offset, want);
        function->convert(got, floats, n, seed, offset);
        check_elements(function->name, 32, floats, function->dst_bits, got, want, n);
      }
  }
}

static void splits_do_not_matter(void) {
  uint32_t whole[ELEMENTS], parts[ELEMENTS];
  uint64_t state = 7;
  for (size_t i = 0; i < stochastic_function_count; ++i) {
    const stochastic_function *function = &stochastic_functions[i];
    const size_t size = (size_t)function->dst_bits / 8;
    fill_floats(function->dst);
    function->convert(whole, floats, ELEMENTS, seed, 5);
    for (size_t at = 0; at < ELEMENTS;) {
      size_t n = (size_t)(random_bits(&state) % 700);
      n = n < ELEMENTS - at ? n : ELEMENTS - at;
      function->convert((uint8_t *)parts + at * size, floats + at, n, seed, 5 + at);
      at += n;
    }
    check_elements(function->name, 32, floats, function->dst_bits, parts, whole,
                   ELEMENTS);
  }
}

typedef struct part {
  const stochastic_function *function;
  uint8_t *result;
  size_t first, last;
} part;
static void *convert_part(void *argument) {
  const part *job = (const part *)argument;
  const size_t size = (size_t)job->function->dst_bits / 8;
  job->function->convert(job->result + job->first * size, floats + job->first,
                         job->last - job->first, seed, 11 + job->first);
  return NULL;
}
static void thread_count_does_not_matter(void) {
  enum { MOST = 7 };
  uint32_t whole[ELEMENTS], result[ELEMENTS];
  for (size_t i = 0; i < stochastic_function_count; i += 4) {
    const stochastic_function *function = &stochastic_functions[i];
    fill_floats(function->dst);
    function->convert(whole, floats, ELEMENTS, seed, 11);
    for (size_t count = 1; count <= MOST; count += 3) {
      pthread_t threads[MOST];
      part parts[MOST];
      for (size_t j = 0; j < count; ++j) {
        const part made = {function, (uint8_t *)result, ELEMENTS * j / count,
                           ELEMENTS * (j + 1) / count};
        parts[j] = made;
        if (pthread_create(&threads[j], NULL, convert_part, &parts[j])) abort();
      }
      for (size_t j = 0; j < count; ++j)
        pthread_join(threads[j], NULL);
      check_elements(function->name, 32, floats, function->dst_bits, result, whole,
                     ELEMENTS);
    }
  }
}

/* A value between two codes: how far from the one nearer zero, as a fraction of the gap.
 * Written down exactly: x = low + fraction * gap. */
typedef struct between {
  const char *function;
  float x;
  uint32_t low; /* code */
  double fraction;
} between;
static const between betweens[] = {
    {"mpnum_f32_to_e4m3_sr_array", 1.0625f, 0x38, 0.5},          /* 1 to 1.125 */
    {"mpnum_f32_to_e4m3_sr_array", -1.015625f, 0xb8, 0.125},     /* the same, negative */
    {"mpnum_f32_to_e4m3_sr_array", 0.0003662109375f, 0, 0.1875}, /* 0 to 2^-9 */
    {"mpnum_f32_to_e4m3_sr_sat_array", 19.9f, 0x59, 0.94999980926513672},
    {"mpnum_f32_to_e5m2_sr_array", 1.25f, 0x3d, 0}, /* exact */
    {"mpnum_f32_to_e5m2_sr_array", 1.0029296875f, 0x3c, 0.01171875},
    {"mpnum_f32_to_bf16_sr_array", 1.0000001192092896f, 0x3f80, 0x1p-16},
    {"mpnum_f32_to_bf16_sr_array", 3.0f, 0x4040, 0},
    {"mpnum_f32_to_f16_sr_array", 1.000732421875f, 0x3c00, 0.75},
    {"mpnum_f32_to_f16_sr_sat_array", 1e-7f, 1, 0.67772157}, /* 2^-24 to 2^-23 */
    {"mpnum_f32_to_tf32_sr_array", 1.00048828125f, 0x3f800000, 0.5},
    {"mpnum_f32_to_e5m2_sr_sat_array", 4.25f, 0x44, 0.25}, /* 4 to 5 */
};

/* Binomial: the count of n roundings that move has mean n * fraction and variance
 * n * fraction * (1 - fraction). It stays within 5 standard deviations, which a right
 * generator leaves once in a million tries; an exact value never moves. The words are
 * those of a fixed seed, so a run is as every other. */
static void check_frequency(const stochastic_function *function, const between *value) {
  enum { CHUNK = 1 << 12, CHUNKS = 1 << 8 };
  static float src[CHUNK];
  static uint32_t codes[CHUNK];
  const double n = (double)CHUNK * CHUNKS;
  const double deviation = sqrt(n * value->fraction * (1 - value->fraction));
  const uint64_t step = function->dst == MPNUM_TYPE_TF32 ? 1 << 13 : 1;
  double moved = 0;
  for (size_t i = 0; i < CHUNK; ++i)
    src[i] = value->x;
  for (uint64_t chunk = 0; chunk < CHUNKS; ++chunk) {
    function->convert(codes, src, CHUNK, seed, chunk * CHUNK);
    for (size_t i = 0; i < CHUNK; ++i) {
      const uint64_t code = get_element(function->dst_bits, codes, i);
      CHECK(code == value->low || code == value->low + step, "%s: code %" PRIx64,
            function->name, code);
      moved += code != value->low;
    }
  }
  CHECK(fabs(moved - n * value->fraction) <= 5 * deviation,
        "%s of %.9g: %.0f of %.0f moved, expected %.0f +- %.0f", function->name,
        (double)value->x, moved, n, n * value->fraction, 5 * deviation);
}
static void values_move_as_often_as_they_should(void) {
  size_t checked = 0;
  for (size_t i = 0; i < stochastic_function_count; ++i)
    for (size_t j = 0; j < sizeof betweens / sizeof betweens[0]; ++j)
      if (strcmp(stochastic_functions[i].name, betweens[j].function) == 0) {
        check_frequency(&stochastic_functions[i], &betweens[j]);
        ++checked;
      }
  CHECK(checked == sizeof betweens / sizeof betweens[0], "%zu values", checked);
}
/* The fractions above, from the codes themselves. */
static void fractions_are_exact(void) {
  for (size_t j = 0; j < sizeof betweens / sizeof betweens[0]; ++j)
    for (size_t i = 0; i < stochastic_function_count; ++i) {
      if (strcmp(stochastic_functions[i].name, betweens[j].function) != 0) continue;
      const mpnum_format format = mpnum_format_of(stochastic_functions[i].dst);
      const uint32_t step = (uint32_t)1 << format.storage_shift;
      const double low = mpnum_decode_f64(format, betweens[j].low);
      const double high = mpnum_decode_f64(format, betweens[j].low + step);
      const double fraction = ((double)betweens[j].x - low) / (high - low);
      CHECK(fabs(fraction - betweens[j].fraction) < 1e-7, "%s of %g: %.17g",
            betweens[j].function, (double)betweens[j].x, fraction);
    }
}

int main(void) {
  floats = (float *)allocate(ELEMENTS * sizeof *floats);
  TAP_RUN(fractions_are_exact);
  RUN_FOR_EACH_ISA(elements_take_the_word_of_their_index);
  RUN_FOR_EACH_ISA(indices_wrap_at_2_to_64);
  RUN_FOR_EACH_ISA(every_length_and_phase_is_converted);
  RUN_FOR_EACH_ISA(splits_do_not_matter);
  RUN_FOR_EACH_ISA(thread_count_does_not_matter);
  RUN_FOR_EACH_ISA(values_move_as_often_as_they_should);
  free(floats);
  return tap_done();
}
