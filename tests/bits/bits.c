/* SPDX-License-Identifier: MIT */
/* Prints a hash of all results of every public function over fixed inputs, a line each:
 *
 *   mpnum_f32_to_e4m3 0123456789abcdef
 *
 * The lines are the same for every compiler, flag, floating-point environment and
 * machine; tests/bits/bits.txt keeps them. That the results are right is shown elsewhere.
 *
 * usage: bits [default|upward|downward|toward_zero|flush [instruction set]]
 *   The first argument is the floating-point environment of the run; flush turns
 *   subnormals into zeros (FTZ and DAZ). The second is a name of mpnum_isa_name, without
 *   it the best is used. Status 77: this machine does not have it.
 *
 * Inputs are made from integers alone: of a decoder or query all codes, with stray bits
 * too; of an encoder every value and midpoint of the format at the ends of its range with
 * the source's numbers on both sides, NaNs, and random numbers; for _round in every mode.
 */
#include "bits_types.h"
#include "bits_measure.h"
#include "bits_stored.h"
#include "bits_rows.h"
#include "bits_scaler.h"
#include "bits_scale.h"
#include "bits_projections.h"
#include "../harness/control_word.h"

#include <mpnum/types/text.h>

#include <fenv.h>

TYPE_FUNCTIONS

static void print_f32(void) {
  collect_f32();
  HASH(mpnum_bits_f32, FOR_F32, put(mpnum_bits_f32(f32_at(i))));
  HASH(mpnum_bits_f64, FOR_F64, put(mpnum_bits_f64(f64_at(i))));
  HASH(mpnum_from_bits_f32, FOR_F32, put_f32(mpnum_from_bits_f32(f32_inputs[i / 2])));
  HASH(mpnum_from_bits_f64, FOR_F64, put_f64(mpnum_from_bits_f64(f64_inputs[i / 2])));
  HASH(mpnum_f64_to_f32, FOR_F64, put_f32(mpnum_f64_to_f32(f64_at(i))));
  HASH(mpnum_f64_to_f32_sat, FOR_F64, put_f32(mpnum_f64_to_f32_sat(f64_at(i))));
  HASH(mpnum_f64_to_f32_round, FOR_ROUND(f64_edges),
       put_f32(mpnum_f64_to_f32_round(f64_at(i), MODE)));
  HASH(mpnum_f32_to_f64, FOR_F32, put_f64(mpnum_f32_to_f64(f32_at(i))));
  HASH(mpnum_isnan_f32, FOR_F32, put_int(mpnum_isnan_f32(f32_at(i))));
  HASH(mpnum_isinf_f32, FOR_F32, put_int(mpnum_isinf_f32(f32_at(i))));
  HASH(mpnum_isfinite_f32, FOR_F32, put_int(mpnum_isfinite_f32(f32_at(i))));
  HASH(mpnum_issubnormal_f32, FOR_F32, put_int(mpnum_issubnormal_f32(f32_at(i))));
  HASH(mpnum_iszero_f32, FOR_F32, put_int(mpnum_iszero_f32(f32_at(i))));
  HASH(mpnum_isnan_f64, FOR_F64, put_int(mpnum_isnan_f64(f64_at(i))));
  HASH(mpnum_isinf_f64, FOR_F64, put_int(mpnum_isinf_f64(f64_at(i))));
  HASH(mpnum_isfinite_f64, FOR_F64, put_int(mpnum_isfinite_f64(f64_at(i))));
}

/* Any format: those of the types, of the presets, and made ones. */
#define FORMAT_ROOM 4096
static mpnum_format formats[FORMAT_ROOM];
static uint32_t format_count;

static void add_format(mpnum_format format) {
  if (format_count == FORMAT_ROOM) abort();
  if (format.max_code) formats[format_count++] = format;
}

static void put_stats(mpnum_stats stats) {
  put((uint32_t)stats.count);
  put((uint32_t)stats.zeros);
  put((uint32_t)stats.subnormals);
  put((uint32_t)stats.infs);
  put((uint32_t)stats.nans);
  put_f32(stats.amax);
  put_f32(stats.min_nonzero);
}

/* Of three codes, the last one a neighbour of the first. */
static mpnum_stats stats_of(const mpnum_format *format, uint32_t i) {
  mpnum_stats stats = mpnum_stats_add(mpnum_stats_empty(), *format, i);
  stats = mpnum_stats_add(stats, *format, (uint32_t)mix(i));
  return mpnum_stats_add(stats, *format, i + 1);
}

/* The types before ue5m3, and 15 as none, as it was when these were hashed. */
static mpnum_type type_of(uint32_t number) {
  return (mpnum_type)(number < 15 ? number : 0);
}

static void print_stats(void) {
  HASH(mpnum_stats_empty, , put_stats(mpnum_stats_empty()));
  HASH(mpnum_stats_add, for (uint32_t i = 0; i < 16 * 65536; ++i), {
    const mpnum_format format = mpnum_format_of(type_of(i >> 16));
    if (format.max_code) put_stats(stats_of(&format, i & 0xffffu));
  });
  HASH(mpnum_stats_merge, for (uint32_t i = 0; i < 16 * 65536; i += 5), {
    const mpnum_format format = mpnum_format_of(type_of(i >> 16));
    if (format.max_code)
      put_stats(mpnum_stats_merge(stats_of(&format, i & 0xffffu),
                                  stats_of(&format, (uint32_t)mix(i + 1))));
  });
}

/* Types of scales, by what takes any format. */
#define OF_SCALES(NAME)                                                 \
 HASH(MPNUM_TYPE_##NAME, for (uint32_t i = 0; i < 65536; ++i), {        \
 const mpnum_format format = mpnum_format_of(MPNUM_TYPE_##NAME);        \
 put(mpnum_encode(format, mpnum_from_bits_f32((uint32_t)mix(i)),        \
                  (mpnum_rounding)(i % 7), (mpnum_overflow)(i / 7 % 2), \
                  (uint32_t)mix(~i)));                                  \
 put(mpnum_bits_f32(mpnum_decode(format, i & 0xff)));                   \
 });

static void print_formats(void) {
  OF_SCALES(UE5M3)
  OF_SCALES(UE4M3)
  CONSTANT(MPNUM_UNORDERED, put_int)
  CONSTANT(MPNUM_NAN_CANONICAL, put_int)
  CONSTANT(MPNUM_NAN_SIGN, put_int)
  CONSTANT(MPNUM_NAN_PAYLOAD, put_int)
  CONSTANT(MPNUM_NAN_ZERO, put_int)
  static const int biases[] = {-128, -127, -20, 0, 1, 3, 15, 40, 127, 128};
  HASH(mpnum_status_string, for (int status = 0; status < 8; ++status),
       put_text(mpnum_status_string((mpnum_status)status)));
  HASH(mpnum_has_hw, for (int type = 0; type < 16; ++type),
       put((uint32_t)mpnum_has_hw(type_of((uint32_t)type))));
  HASH(mpnum_type_name, for (int type = 0; type < 16; ++type),
       put_text(mpnum_type_name(type_of((uint32_t)type))));
  HASH(mpnum_format_of, for (int type = 0; type < 16; ++type), {
    const mpnum_format format = mpnum_format_of(type_of((uint32_t)type));
    put_format(format);
    add_format(format);
  });
  HASH(mpnum_preset_format, for (int i = 0; i < 4 * 16; ++i), {
    const mpnum_format format =
        mpnum_preset_format((mpnum_preset)(i / 16), type_of((uint32_t)i % 16));
    put_format(format);
    add_format(format);
  });
  HASH(mpnum_preset_overflow, for (int i = 0; i < 4 * 16; ++i),
       put_int((int)mpnum_preset_overflow((mpnum_preset)(i / 16),
                                          type_of((uint32_t)i % 16))));
  HASH(mpnum_format_init, for (int i = 0; i < 4 * 11 * 19 * 8 * 10; ++i), {
    mpnum_format format;
    int rest = i;
    const int bias = biases[rest % 10];
    const int specials = (rest /= 10) % 8;
    const int mantissa_bits = (rest /= 8) % 19 - 1;
    const int exponent_bits = (rest /= 19) % 11 - 1;
    const int sign_bits = rest / 11 - 1;
    memset(&format, 0, sizeof format);
    put_int((int)mpnum_format_init(&format, sign_bits, exponent_bits, mantissa_bits, bias,
                                   (mpnum_specials)specials));
    put_format(format);
    if (mix((uint64_t)i) % 4 == 0) add_format(format);
  });
}

#define FORMAT_INPUTS 512
#define FOR_FORMATS                          \
 for (uint32_t f = 0; f < format_count; ++f) \
  for (uint32_t i = 0; i < FORMAT_INPUTS; ++i)
#define FORMAT    formats[f]
#define ANY_CODE  (uint32_t)(mix(i) >> (i % 33))
#define ANY_OTHER (i % 4 ? (uint32_t)mix(~i) : ANY_CODE + i % 3)
/* Near the range of the format, a little beyond its ends. */
static uint32_t f32_near(mpnum_format format, uint32_t i) {
  const int fields = (1 << format.exponent_bits) + format.mantissa_bits + 6;
  const int field =
      128 - format.bias - format.mantissa_bits - 3 + (int)(mix(i) >> 40) % fields;
  const uint32_t inside = field < 0 ? 0 : field > 255 ? 255 : (uint32_t)field;
  const uint32_t coarse = (uint32_t)mix(i) & (UINT32_C(0xffffffff) << (i % 23));
  return (i & 1) << 31 | inside << 23 | (coarse & UINT32_C(0x7fffff));
}
static uint64_t f64_near(mpnum_format format, uint32_t i) {
  const uint32_t bits = f32_near(format, i);
  const uint64_t low = i & 2 ? mix(~i) & UINT64_C(0x1fffffff) : 0;
  return (uint64_t)(bits >> 31) << 63 | widened(bits & UINT32_C(0x7fffffff)) | low;
}
#define ANY_MODE \
 (mpnum_rounding)(mix(i + 7) % 7), (mpnum_overflow)(mix(i + 7) >> 63), word_at(i)

static void print_generic(void) {
  HASH(mpnum_encode, FOR_FORMATS,
       put(mpnum_encode(FORMAT, mpnum_from_bits_f32(f32_near(FORMAT, i)), ANY_MODE)));
  HASH(mpnum_encode_f64, FOR_FORMATS,
       put(mpnum_encode_f64(FORMAT, mpnum_from_bits_f64(f64_near(FORMAT, i)), ANY_MODE)));
  HASH(mpnum_decode, FOR_FORMATS, put_f32(mpnum_decode(FORMAT, ANY_CODE)));
  HASH(mpnum_decode_f64, FOR_FORMATS, put_f64(mpnum_decode_f64(FORMAT, ANY_CODE)));
  HASH(mpnum_isnan, FOR_FORMATS, put_int(mpnum_isnan(FORMAT, ANY_CODE)));
  HASH(mpnum_isinf, FOR_FORMATS, put_int(mpnum_isinf(FORMAT, ANY_CODE)));
  HASH(mpnum_isfinite, FOR_FORMATS, put_int(mpnum_isfinite(FORMAT, ANY_CODE)));
  HASH(mpnum_isnormal, FOR_FORMATS, put_int(mpnum_isnormal(FORMAT, ANY_CODE)));
  HASH(mpnum_issubnormal, FOR_FORMATS, put_int(mpnum_issubnormal(FORMAT, ANY_CODE)));
  HASH(mpnum_iszero, FOR_FORMATS, put_int(mpnum_iszero(FORMAT, ANY_CODE)));
  HASH(mpnum_signbit, FOR_FORMATS, put_int(mpnum_signbit(FORMAT, ANY_CODE)));
  HASH(mpnum_next_up, FOR_FORMATS, put(mpnum_next_up(FORMAT, ANY_CODE)));
  HASH(mpnum_next_down, FOR_FORMATS, put(mpnum_next_down(FORMAT, ANY_CODE)));
  HASH(mpnum_ulp, FOR_FORMATS, put_f32(mpnum_ulp(FORMAT, ANY_CODE)));
  HASH(mpnum_ulp_distance, FOR_FORMATS,
       put(mpnum_ulp_distance(FORMAT, ANY_CODE, ANY_OTHER)));
  HASH(mpnum_compare, FOR_FORMATS, put_int(mpnum_compare(FORMAT, ANY_CODE, ANY_OTHER)));
  HASH(mpnum_total_order, FOR_FORMATS,
       put_int(mpnum_total_order(FORMAT, ANY_CODE, ANY_OTHER)));
#define LIMIT_OF_FORMATS(function, put_result)               \
 HASH(function, for (uint32_t f = 0; f < format_count; ++f), \
      put_result(function(FORMAT)));
  LIMIT_OF_FORMATS(mpnum_format_max, put_f32)
  LIMIT_OF_FORMATS(mpnum_format_min, put_f32)
  LIMIT_OF_FORMATS(mpnum_format_true_min, put_f32)
  LIMIT_OF_FORMATS(mpnum_format_epsilon, put_f32)
  LIMIT_OF_FORMATS(mpnum_format_mant_dig, put_int)
  LIMIT_OF_FORMATS(mpnum_format_dig, put_int)
  LIMIT_OF_FORMATS(mpnum_format_min_exp, put_int)
  LIMIT_OF_FORMATS(mpnum_format_max_exp, put_int)
}

static void put_text_of(size_t (*print)(char *, size_t, mpnum_format, uint32_t),
                        mpnum_format format, uint32_t code) {
  char text[MPNUM_TEXT_SIZE];
  memset(text, 0, sizeof text);
  put(print(text, mix(code) % 4 ? sizeof text : code % 8, format, code));
  put_text(text);
}

/* Text of many forms: digits, a point, an exponent, what is no number. */
#define TEXT_ROOM 80
static size_t write_text(char *text, uint32_t i) {
  static const char *const words[] = {"inf", "-Infinity", "nan", "",
                                      "-",   "0x",        "1e",  "."};
  const uint64_t random = mix(i);
  const unsigned high = (unsigned)(random & 0xffff);
  const unsigned low = (unsigned)(random >> 16 & 0xffff);
  const int letter = 'f' - (int)(random >> 32 & 1);
  const int exponent = (int)(random >> 40 & 0xff) - 128;
  int length = 0;
  switch (i & 7) {
  case 0: length = snprintf(text, TEXT_ROOM, "%s", words[random >> 61]); break;
  case 1: length = snprintf(text, TEXT_ROOM, "-0x%x.%xp%d", high, low, exponent); break;
  case 2: length = snprintf(text, TEXT_ROOM, "%u.%05u%05u", high & 7, low, high); break;
  case 3: length = snprintf(text, TEXT_ROOM, ".%u%c%d", low, letter, exponent); break;
  case 4: length = snprintf(text, TEXT_ROOM, "%ue%d", high, exponent); break;
  default: length = snprintf(text, TEXT_ROOM, "+%u.%ue%d", high, low, exponent / 16);
  }
  return (size_t)length;
}

static void put_parsed(mpnum_format format, uint32_t i) {
  char text[TEXT_ROOM];
  const size_t length = write_text(text, i);
  uint32_t code = 0;
  put_int((int)mpnum_parse(&code, format, text, length, (mpnum_rounding)(i % 7),
                           (mpnum_overflow)(i / 7 % 2)));
  put(code);
}

#define FOR_TYPES                      \
 for (int type = 0; type < 16; ++type) \
  for (uint32_t i = 0; i < 4096; ++i)
#define TYPE_FORMAT mpnum_format_of(type_of((uint32_t)type))
#define TEXT_CODE   i < 2048 ? i : (uint32_t)mix(i)

static void print_text(void) {
  HASH(mpnum_print, FOR_TYPES, put_text_of(mpnum_print, TYPE_FORMAT, TEXT_CODE));
  HASH(mpnum_print_hex, FOR_TYPES, put_text_of(mpnum_print_hex, TYPE_FORMAT, TEXT_CODE));
  HASH(mpnum_parse, FOR_TYPES, put_parsed(TYPE_FORMAT, i));
}

static void print_random(void) {
  HASH(mpnum_random, for (uint32_t i = 0; i < 65536; ++i), {
    put(mpnum_random(i % 16, i / 16));
    put(mpnum_random(mix(i), mix(~i)));
  });
  HASH(mpnum_random_x4, for (uint32_t i = 0; i < 65536; ++i), {
    const mpnum_u32x4 words = mpnum_random_x4(mix(i), mix(~i));
    put(words.x);
    put(words.y);
    put(words.z);
    put(words.w);
  });
}

/* 0: this machine has no such environment. */
static int set_environment(const char *name) {
  if (strcmp(name, "default") == 0) return 1;
  if (strcmp(name, "flush") == 0) {
    set_control_word(control_word() | FLUSHES);
    return FLUSHES != 0;
  }
#if defined(FE_UPWARD)
  if (strcmp(name, "upward") == 0) return fesetround(FE_UPWARD) == 0;
#endif
#if defined(FE_DOWNWARD)
  if (strcmp(name, "downward") == 0) return fesetround(FE_DOWNWARD) == 0;
#endif
#if defined(FE_TOWARDZERO)
  if (strcmp(name, "toward_zero") == 0) return fesetround(FE_TOWARDZERO) == 0;
#endif
  return 0;
}

/* 1 if additions and products come out as the environment has it. */
static int environment_acts(const char *name) {
  volatile float one = 1.0f, little = 1e-12f, tiny = 2e-38f, half = 0.5f;
  volatile float minus_one = -1.0f, minus_little = -1e-12f;
  volatile float above = one + little;
  volatile float below = minus_one + minus_little;
  volatile float subnormal = tiny * half;
  const int up = above > one;
  const int down = below < minus_one;
  if (strcmp(name, "default") == 0) return 1; /* -ffast-math may set flush to zero */
  if (strcmp(name, "flush") == 0) return subnormal <= 0;
  return up == (strcmp(name, "upward") == 0) && down == (strcmp(name, "downward") == 0);
}

/* 0: this machine, or this build, has no such instruction set. */
static int set_isa(const char *name) {
  for (int isa = MPNUM_ISA_SCALAR; isa <= MPNUM_ISA_AVX512_VBMI; ++isa)
    if (strcmp(name, mpnum_isa_name((mpnum_isa)isa)) == 0)
      return mpnum_isa_force((mpnum_isa)isa) == MPNUM_OK;
  return 0;
}

int main(int argc, char **argv) {
  const char *environment = argc > 1 ? argv[1] : "default";
  if (!set_environment(environment)) {
    printf("no environment %s on this machine\n", environment);
    return 77;
  }
  if (!environment_acts(environment)) {
    printf("the environment %s does not act\n", environment);
    return 1;
  }
  if (argc > 2 && !set_isa(argv[2])) {
    printf("no instruction set %s on this machine\n", argv[2]);
    return 77;
  }
#define PRINT_TYPE(name, NAME, sign_bits, exponent_bits, mantissa_bits, bias, specials, \
                   nan)                                                                 \
 print_##name();
  MPNUM_FORMATS(PRINT_TYPE)
  print_f32();
  print_formats();
  print_stats();
  print_generic();
  print_random();
  print_text();
#if !defined(__FAST_MATH__)
  has_f32_functions = strcmp(environment, "default") == 0;
#endif
  print_functions();
  print_rows();
  print_scaler();
  print_blocks();
  print_measures();
  print_stored();
  print_scale();
  print_projections();
  return 0;
}
