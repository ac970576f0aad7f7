/* SPDX-License-Identifier: MIT */
/* Prints a hash of all results of every public function over fixed inputs, a line each:
 *
 *   mpnum_f32_to_e4m3 0123456789abcdef
 *
 * The lines are the same for every compiler, flag, floating-point environment and
 * machine; tests/bits.txt keeps them. That the results are right is shown elsewhere.
 *
 * usage: bits [default|upward|downward|toward_zero|flush]
 *   The argument is the floating-point environment of the run; flush turns subnormals
 *   into zeros (FTZ and DAZ). Status 77: this machine does not have it.
 *
 * Inputs are made from integers alone: of a decoder or query all codes, with stray bits
 * too; of an encoder every value and midpoint of the format at the ends of its range with
 * the source's numbers on both sides, NaNs, and random numbers; for _round in every mode.
 */
#include <mpnum/mpnum.h>
#include <mpnum/text.h>

#include <fenv.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
# include <xmmintrin.h>
#endif

/* Hash of the results since the last line. */
#define HASH_START UINT64_C(0xcbf29ce484222325)
static uint64_t hash = HASH_START;

static void put(uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  hash ^= hash >> 32;
}

static void put_int(int x) { put((uint64_t)(int64_t)x); }

static void put_f32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  put(bits);
}

static void put_f64(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  put(bits);
}

static void put_f32x2(mpnum_f32x2 pair) {
  put_f32(pair.x);
  put_f32(pair.y);
}

static void put_f32x4(mpnum_f32x4 four) {
  put_f32(four.x);
  put_f32(four.y);
  put_f32(four.z);
  put_f32(four.w);
}

static void put_bytes(const uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; ++i)
    put(bytes[i]);
}

static void put_text(const char *text) {
  put_int(text != NULL);
  if (text) put_bytes((const uint8_t *)text, strlen(text));
}

static void put_format(mpnum_format format) {
  put(format.max_code);
  put(format.inf_code);
  put(format.nan_code);
  put_int(format.bias);
  put_int(format.sign_bits);
  put_int(format.exponent_bits);
  put_int(format.mantissa_bits);
  put_int(format.storage_shift);
  put_int(format.has_zero);
  put_int(format.has_negative_zero);
  put_int((int)(mpnum_nan_policy)format.nan_policy);
}

static void print_line(const char *name) {
  printf("%s %016" PRIx64 "\n", name, hash);
  hash = HASH_START;
}

/* HASH(function, loop over inputs, put of a result) prints the line of a function. */
#define HASH(function, loop, put_result) \
 do {                                    \
  loop put_result;                       \
  print_line(#function);                 \
 } while (0)

#define CONSTANT(name, put_result) \
 put_result(name);                 \
 print_line(#name);

/* Random number of an index (the finaliser of splitmix64). */
static uint64_t mix(uint64_t index) {
  uint64_t z = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* The random word of a stochastic rounding: the extreme words often, too. */
static uint32_t word_at(uint32_t index) {
  switch (mix(index) >> 61) {
  case 0: return 0;
  case 1: return UINT32_C(0xffffffff);
  case 2: return UINT32_C(0x80000000);
  case 3: return UINT32_C(0x7fffffff);
  default: return (uint32_t)mix(index);
  }
}

/* Source values, bit patterns without sign; an even index is positive, an odd one
 * negative. The first _edges of them are not random. */
#define ROOM             (UINT32_C(1) << 19)
#define RANDOM_COUNT     (UINT32_C(1) << 17)
#define ROUND_MORE_COUNT (UINT32_C(1) << 12) /* random ones given to _round */
static uint32_t f32_inputs[ROOM];
static uint32_t f32_count, f32_edges;
static uint64_t f64_inputs[ROOM];
static uint32_t f64_count, f64_edges;

static float f32_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static double f64_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static float f32_at(uint32_t index) {
  return f32_of(f32_inputs[index / 2] | (index & 1) << 31);
}

static double f64_at(uint32_t index) {
  return f64_of(f64_inputs[index / 2] | (uint64_t)(index & 1) << 63);
}

static void add_f32(uint32_t bits) {
  if (f32_count == ROOM) abort();
  f32_inputs[f32_count++] = bits & UINT32_C(0x7fffffff);
}

static void add_f64(uint64_t bits) {
  if (f64_count == ROOM) abort();
  f64_inputs[f64_count++] = bits & UINT64_C(0x7fffffffffffffff);
}

/* The bits of an f64 with the value of an f32. */
static uint64_t widened(uint32_t bits) {
  uint64_t magnitude = (uint64_t)bits << 29;
  int field = 0;
  if (bits >= UINT32_C(0x7f800000)) return magnitude | UINT64_C(0x7ff) << 52;
  if (bits >= UINT32_C(0x00800000)) return magnitude + (UINT64_C(896) << 52);
  if (bits == 0) return 0;
  for (field = 897; magnitude < UINT64_C(1) << 52; --field)
    magnitude *= 2;
  return magnitude - (UINT64_C(1) << 52) + ((uint64_t)field << 52);
}

/* A value that is an f32, and the numbers next to it. */
static void add_point(uint32_t bits) {
  const uint64_t wide = widened(bits);
  if (bits > 0) add_f32(bits - 1);
  add_f32(bits);
  add_f32(bits + 1);
  if (bits > 0) add_f64(wide - 1);
  add_f64(wide);
  add_f64(wide + 1);
}

static void add_source_edges(void) {
  static const uint32_t singles[] = {
      0x00000001, 0x003fffff, 0x00400000, 0x00400001, 0x007fffff, 0x00800000,
      0x7f7fffff, 0x7f800000, 0x7f800001, 0x7f802000, 0x7f810000, 0x7fa5a5a5,
      0x7fbfffff, 0x7fc00000, 0x7fc00001, 0x7fffe000, 0x7fff0000, 0x7fffffff};
  static const uint64_t doubles[] = {
      UINT64_C(0x0000000000000001), UINT64_C(0x000fffffffffffff),
      UINT64_C(0x0010000000000000), UINT64_C(0x3690000000000000), /* 2^-150 */
      UINT64_C(0x3690000000000001), UINT64_C(0x47efffffefffffff), /* below f32's Inf */
      UINT64_C(0x47effffff0000000), UINT64_C(0x47f0000000000000), /* 2^128 */
      UINT64_C(0x7fefffffffffffff), UINT64_C(0x7ff0000000000000),
      UINT64_C(0x7ff0000000000001), UINT64_C(0x7ff000001fffffff),
      UINT64_C(0x7ff0000020000000), UINT64_C(0x7ff5a5a5a5a5a5a5),
      UINT64_C(0x7ff8000000000000), UINT64_C(0x7fffffffffffffff)};
  for (size_t i = 0; i < sizeof singles / sizeof singles[0]; ++i) {
    add_f32(singles[i]);
    add_f64(widened(singles[i]));
  }
  for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; ++i)
    add_f64(doubles[i]);
}

/* Half of the random numbers are bits of any kind, half lie in the fields given. */
static void add_random(uint32_t least_field, uint32_t last_field) {
  f32_edges = f32_count;
  f64_edges = f64_count;
  for (uint32_t i = 0; i < RANDOM_COUNT; i += 2) {
    const uint64_t random = mix(i), more = mix(i + 1);
    const uint32_t field =
        least_field + (uint32_t)(random >> 33) % (last_field - least_field + 1);
    const uint32_t inside = field << 23 | ((uint32_t)random & UINT32_C(0x7fffff));
    add_f32((uint32_t)more);
    add_f32(inside);
    add_f64(more);
    add_f64(widened(inside) ^ (more & UINT64_C(0x1fffffff)));
  }
}

/* Fills the lists for a format. Every value and midpoint is a multiple of step in the
 * bits of an f32: a significand of mantissa_bits and one bit more. */
static void collect(int exponent_bits, int mantissa_bits, int bias) {
  const int least_field = 128 - bias - mantissa_bits - 3; /* far below the least value */
  const int first = least_field > 0 ? least_field : 0;
  const int normal = 128 - bias;
  const int past_max = 127 - bias + (1 << exponent_bits);
  const int last = past_max < 254 ? past_max : 254;
  const uint32_t step = UINT32_C(1) << (22 - mantissa_bits);
  f32_count = 0;
  f64_count = 0;
  add_source_edges();
  for (int field = 0; field <= 254; ++field) {
    const uint32_t base = (uint32_t)field << 23;
    if ((field >= first && field <= normal + 1) || (field >= last - 2 && field <= last)) {
      for (uint32_t mantissa = 0; mantissa < UINT32_C(1) << 23; mantissa += step)
        add_point(base | mantissa);
    } else {
      add_point(base |
                ((uint32_t)mix((uint32_t)field) % (UINT32_C(2) << mantissa_bits)) * step);
    }
  }
  add_random((uint32_t)first, (uint32_t)last);
}

/* Fills the lists for f32: neighbours and the midpoints between them. */
static void collect_f32(void) {
  f32_count = 0;
  f64_count = 0;
  add_source_edges();
  for (uint32_t i = 0; i < 255 * 32; ++i) {
    const uint32_t random = (uint32_t)mix(i);
    const uint32_t mantissa = i % 32 == 0   ? 0
                              : i % 32 == 1 ? UINT32_C(0x7fffff)
                              : i % 32 == 2 ? UINT32_C(1) << random % 23
                                            : random & UINT32_C(0x7fffff);
    const uint32_t bits = i / 32 << 23 | mantissa;
    /* Both are in one binade of f64, or the second ends it: the mean of the bits is the
     * midpoint. */
    const uint64_t midpoint = (widened(bits) + widened(bits + 1)) / 2;
    add_point(bits);
    if (bits + 1 == UINT32_C(0x7f800000)) continue;
    add_f64(midpoint - 1);
    add_f64(midpoint);
    add_f64(midpoint + 1);
  }
  add_random(0, 254);
}

/* Stored codes: all of 8 and 16 bits; of tf32 the 2^19 clean words and as many with stray
 * low bits as without. */
static uint32_t code_count(size_t bytes) {
  return bytes == 1 ? 256 : bytes == 2 ? 65536 : UINT32_C(1) << 20;
}

static uint32_t code_at(size_t bytes, uint32_t index) {
  if (bytes < 4) return index;
  return (index & UINT32_C(0x7ffff)) << 13 |
         (index >> 19 ? 1 + (uint32_t)mix(index) % 0x1fff : 0);
}

/* Pairs of codes: all of 8 bits; else any two, or neighbours, or two of little value. */
#define PAIR_COUNT UINT32_C(65536)
static uint32_t left_at(size_t bytes, uint32_t index) {
  const uint32_t random = (uint32_t)mix(index);
  if (bytes == 1) return index >> 8;
  if (bytes == 2) return index;
  return index & 1 ? random : random & UINT32_C(0xffffe000);
}

static uint32_t right_at(size_t bytes, uint32_t index) {
  const uint32_t random = (uint32_t)(mix(index) >> 32);
  const uint32_t left = left_at(bytes, index);
  const uint32_t last_place = bytes == 4 ? UINT32_C(1) << 13 : 1;
  if (bytes == 1) return index & 0xff;
  switch (index & 3) {
  case 0: return left + last_place * (random % 5 - 2);
  case 1: return left ^ UINT32_C(1) << (8 * bytes - 1);
  default: return random;
  }
}

#define FOR_CODES(name) \
 for (uint32_t i = 0, n = code_count(sizeof(mpnum_##name)); i < n; ++i)
#define CODE(name)   mpnum_from_bits_##name(code_at(sizeof(mpnum_##name), i))
#define FOR_PAIRS    for (uint32_t i = 0; i < PAIR_COUNT; ++i)
#define LEFT(name)   mpnum_from_bits_##name(left_at(sizeof(mpnum_##name), i))
#define RIGHT(name)  mpnum_from_bits_##name(right_at(sizeof(mpnum_##name), i))
#define FOR_F32      for (uint32_t i = 0, n = 2 * f32_count; i < n; ++i)
#define FOR_F64      for (uint32_t i = 0, n = 2 * f64_count; i < n; ++i)
#define FOR_SOME_F32 for (uint32_t i = 0, n = 2 * f32_count - 4; i < n; i += 3)
#define FOR_ROUND(edges)                           \
 for (int rounding = 0; rounding < 7; ++rounding)  \
  for (int overflow = 0; overflow < 2; ++overflow) \
   for (uint32_t i = 0, n = 2 * ((uint32_t)(edges) + ROUND_MORE_COUNT); i < n; ++i)
#define MODE (mpnum_rounding) rounding, (mpnum_overflow)overflow, word_at(i)

/* Functions that every small type has. */
#define EVERY_TYPE(name, NAME)                                                           \
 HASH(mpnum_from_bits_##name, FOR_PAIRS, put(LEFT(name).bits));                          \
 HASH(mpnum_f32_to_##name##_round, FOR_ROUND(f32_edges),                                 \
      put(mpnum_f32_to_##name##_round(f32_at(i), MODE).bits));                           \
 HASH(mpnum_f64_to_##name##_round, FOR_ROUND(f64_edges),                                 \
      put(mpnum_f64_to_##name##_round(f64_at(i), MODE).bits));                           \
 HASH(mpnum_f32_to_##name##_sat, FOR_F32,                                                \
      put(mpnum_f32_to_##name##_sat(f32_at(i)).bits));                                   \
 HASH(mpnum_f64_to_##name##_sat, FOR_F64,                                                \
      put(mpnum_f64_to_##name##_sat(f64_at(i)).bits));                                   \
 HASH(mpnum_f32_to_##name##_sr_sat, FOR_F32,                                             \
      put(mpnum_f32_to_##name##_sr_sat(f32_at(i), word_at(i)).bits));                    \
 HASH(mpnum_##name##_to_f32, FOR_CODES(name),                                            \
      put_f32(mpnum_##name##_to_f32(CODE(name))));                                       \
 HASH(mpnum_##name##_to_f64, FOR_CODES(name),                                            \
      put_f64(mpnum_##name##_to_f64(CODE(name))));                                       \
 HASH(mpnum_isnan_##name, FOR_CODES(name), put_int(mpnum_isnan_##name(CODE(name))));     \
 HASH(mpnum_isinf_##name, FOR_CODES(name), put_int(mpnum_isinf_##name(CODE(name))));     \
 HASH(mpnum_isfinite_##name, FOR_CODES(name),                                            \
      put_int(mpnum_isfinite_##name(CODE(name))));                                       \
 HASH(mpnum_is_normal_##name, FOR_CODES(name),                                           \
      put_int(mpnum_is_normal_##name(CODE(name))));                                      \
 HASH(mpnum_is_subnormal_##name, FOR_CODES(name),                                        \
      put_int(mpnum_is_subnormal_##name(CODE(name))));                                   \
 HASH(mpnum_is_zero_##name, FOR_CODES(name), put_int(mpnum_is_zero_##name(CODE(name)))); \
 HASH(mpnum_signbit_##name, FOR_CODES(name), put_int(mpnum_signbit_##name(CODE(name)))); \
 HASH(mpnum_next_up_##name, FOR_CODES(name),                                             \
      put(mpnum_next_up_##name(CODE(name)).bits));                                       \
 HASH(mpnum_next_down_##name, FOR_CODES(name),                                           \
      put(mpnum_next_down_##name(CODE(name)).bits));                                     \
 HASH(mpnum_ulp_##name, FOR_CODES(name), put_f32(mpnum_ulp_##name(CODE(name))));         \
 HASH(mpnum_ulp_distance_##name, FOR_PAIRS,                                              \
      put(mpnum_ulp_distance_##name(LEFT(name), RIGHT(name))));                          \
 HASH(mpnum_compare_##name, FOR_PAIRS,                                                   \
      put_int(mpnum_compare_##name(LEFT(name), RIGHT(name))));                           \
 HASH(mpnum_total_order_##name, FOR_PAIRS,                                               \
      put_int(mpnum_total_order_##name(LEFT(name), RIGHT(name))));                       \
 CONSTANT(MPNUM_TYPE_##NAME, put_int)                                                    \
 CONSTANT(MPNUM_##NAME##_MAX, put_f32)                                                   \
 CONSTANT(MPNUM_##NAME##_MIN, put_f32)                                                   \
 CONSTANT(MPNUM_##NAME##_TRUE_MIN, put_f32)                                              \
 CONSTANT(MPNUM_##NAME##_EPSILON, put_f32)                                               \
 CONSTANT(MPNUM_##NAME##_MANT_DIG, put_int)                                              \
 CONSTANT(MPNUM_##NAME##_DIG, put_int)                                                   \
 CONSTANT(MPNUM_##NAME##_MIN_EXP, put_int)                                               \
 CONSTANT(MPNUM_##NAME##_MAX_EXP, put_int)

/* Functions of types in which an overflow can give Inf or NaN. */
#define OVERFLOWING_TYPE(name)                                                 \
 HASH(mpnum_f32_to_##name, FOR_F32, put(mpnum_f32_to_##name(f32_at(i)).bits)); \
 HASH(mpnum_f64_to_##name, FOR_F64, put(mpnum_f64_to_##name(f64_at(i)).bits)); \
 HASH(mpnum_f32_to_##name##_sr, FOR_F32,                                       \
      put(mpnum_f32_to_##name##_sr(f32_at(i), word_at(i)).bits));
#define TYPE_IEEE(name)   OVERFLOWING_TYPE(name)
#define TYPE_FN(name)     OVERFLOWING_TYPE(name)
#define TYPE_FNUZ(name)   OVERFLOWING_TYPE(name)
#define TYPE_E8M0(name)   OVERFLOWING_TYPE(name)
#define TYPE_FINITE(name) /* _sat names only */

/* A rounding mode with names of its own. */
#define ROUNDED_TYPE(name, mode)                          \
 HASH(mpnum_f32_to_##name##_##mode, FOR_F32,              \
      put(mpnum_f32_to_##name##_##mode(f32_at(i)).bits)); \
 HASH(mpnum_f32_to_##name##_##mode##_sat, FOR_F32,        \
      put(mpnum_f32_to_##name##_##mode##_sat(f32_at(i)).bits));

#define MODES_tf32 ROUNDED_TYPE(tf32, rz) ROUNDED_TYPE(tf32, rna)
#define MODES_bf16 ROUNDED_TYPE(bf16, rz)
#define MODES_f16  ROUNDED_TYPE(f16, rz)
#define MODES_e5m2
#define MODES_e4m3
#define MODES_e5m2fnuz
#define MODES_e4m3fnuz
#define MODES_e3m4
#define MODES_e8m0 ROUNDED_TYPE(e8m0, ru) ROUNDED_TYPE(e8m0, rz)
#define MODES_e3m2
#define MODES_e2m3
#define MODES_e2m1

/* Packed forms. The word of four is their bits, or their bytes, the first one lowest. */
#define FOUR_IN_WORD(name) \
 static uint32_t word_##name(mpnum_##name##x4 four) { return four.bits; }
#define FOUR_IN_BYTES(name)                                                            \
 static uint32_t word_##name(mpnum_##name##x4 four) {                                  \
  return four.bytes[0] | (uint32_t)four.bytes[1] << 8 | (uint32_t)four.bytes[2] << 16; \
 }
FOUR_IN_WORD(e5m2)
FOUR_IN_WORD(e4m3)
FOUR_IN_WORD(e5m2fnuz)
FOUR_IN_WORD(e4m3fnuz)
FOUR_IN_WORD(e3m4)
FOUR_IN_BYTES(e3m2)
FOUR_IN_BYTES(e2m3)
FOUR_IN_WORD(e2m1)

/* Two and four codes of any kind in one. */
#define PACK_X2(name) pair_##name(i)
#define PACK_X4(name)                                                                \
 mpnum_pack_##name##_x4(LEFT(name), RIGHT(name), mpnum_from_bits_##name(word_at(i)), \
                        mpnum_from_bits_##name((uint32_t)mix(i)))
#define PAIR(name)                                        \
 static mpnum_##name##x2 pair_##name(uint32_t i) {        \
  return mpnum_pack_##name##_x2(LEFT(name), RIGHT(name)); \
 }
PAIR(bf16)
PAIR(f16)
PAIR(e5m2)
PAIR(e4m3)
PAIR(e5m2fnuz)
PAIR(e4m3fnuz)
PAIR(e3m4)
PAIR(e8m0)
PAIR(e3m2)
PAIR(e2m3)
PAIR(e2m1)

#define PACKED_X2(name)                                            \
 HASH(mpnum_pack_##name##_x2, FOR_PAIRS, put(PACK_X2(name).bits)); \
 HASH(mpnum_unpack_##name##_x2, FOR_PAIRS,                         \
      put(mpnum_unpack_##name##_x2(PACK_X2(name), i & 1).bits));   \
 HASH(mpnum_##name##_to_f32_x2, FOR_PAIRS,                         \
      put_f32x2(mpnum_##name##_to_f32_x2(PACK_X2(name))));
#define PACKED_X4(name)                                                        \
 HASH(mpnum_pack_##name##_x4, FOR_PAIRS, put(word_##name(PACK_X4(name))));     \
 HASH(mpnum_unpack_##name##_x4, FOR_PAIRS,                                     \
      put(mpnum_unpack_##name##_x4(PACK_X4(name), (int)(mix(i) >> 62)).bits)); \
 HASH(mpnum_##name##_to_f32_x4, FOR_PAIRS,                                     \
      put_f32x4(mpnum_##name##_to_f32_x4(PACK_X4(name))));
#define TO_X2(name, mode)                          \
 HASH(mpnum_f32_to_##name##mode##x2, FOR_SOME_F32, \
      put(mpnum_f32_to_##name##mode##x2(f32_at(i), f32_at(i + 3)).bits));
#define TO_X4(name, mode)                                                     \
 HASH(mpnum_f32_to_##name##mode##x4, FOR_SOME_F32,                            \
      put(word_##name(mpnum_f32_to_##name##mode##x4(f32_at(i), f32_at(i + 1), \
                                                    f32_at(i + 2), f32_at(i + 3)))));
#define PACKED_ALL(name) \
 PACKED_X2(name)         \
 TO_X2(name, _) TO_X2(name, _sat_) PACKED_X4(name) TO_X4(name, _) TO_X4(name, _sat_)
#define PACKED_SAT(name) \
 PACKED_X2(name) TO_X2(name, _sat_) PACKED_X4(name) TO_X4(name, _sat_)

#define F16_PAIRS(name)                                      \
 HASH(mpnum_f16_to_##name##_x2, FOR_PAIRS,                   \
      put(mpnum_f16_to_##name##_x2(PACK_X2(f16)).bits));     \
 HASH(mpnum_f16_to_##name##_sat_x2, FOR_PAIRS,               \
      put(mpnum_f16_to_##name##_sat_x2(PACK_X2(f16)).bits)); \
 HASH(mpnum_##name##_to_f16_x2, FOR_PAIRS,                   \
      put(mpnum_##name##_to_f16_x2(PACK_X2(name)).bits));

#define PACKED_tf32
#define PACKED_bf16     PACKED_X2(bf16) TO_X2(bf16, _) TO_X2(bf16, _sat_)
#define PACKED_f16      PACKED_X2(f16) TO_X2(f16, _) TO_X2(f16, _sat_)
#define PACKED_e5m2     PACKED_ALL(e5m2) F16_PAIRS(e5m2)
#define PACKED_e4m3     PACKED_ALL(e4m3) F16_PAIRS(e4m3)
#define PACKED_e5m2fnuz PACKED_ALL(e5m2fnuz)
#define PACKED_e4m3fnuz PACKED_ALL(e4m3fnuz)
#define PACKED_e3m4     PACKED_ALL(e3m4)
#define PACKED_e8m0     PACKED_X2(e8m0) TO_X2(e8m0, _ru_sat_) TO_X2(e8m0, _rz_sat_)
#define PACKED_e3m2     PACKED_SAT(e3m2)
#define PACKED_e2m3     PACKED_SAT(e2m3)
#define PACKED_e2m1     PACKED_SAT(e2m1)

#define TYPE_FUNCTIONS(name, NAME, sign_bits, exponent_bits, mantissa_bits, bias, \
                       specials, nan)                                             \
 static void print_##name(void) {                                                 \
  collect(exponent_bits, mantissa_bits, bias);                                    \
  EVERY_TYPE(name, NAME)                                                          \
  TYPE_##specials(name) MODES_##name PACKED_##name                                \
 }
MPNUM_FORMATS(TYPE_FUNCTIONS)

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
  HASH(mpnum_is_normal_f32, FOR_F32, put_int(mpnum_is_normal_f32(f32_at(i))));
  HASH(mpnum_is_subnormal_f32, FOR_F32, put_int(mpnum_is_subnormal_f32(f32_at(i))));
  HASH(mpnum_is_zero_f32, FOR_F32, put_int(mpnum_is_zero_f32(f32_at(i))));
  HASH(mpnum_signbit_f32, FOR_F32, put_int(mpnum_signbit_f32(f32_at(i))));
  HASH(mpnum_isnan_f64, FOR_F64, put_int(mpnum_isnan_f64(f64_at(i))));
  HASH(mpnum_isinf_f64, FOR_F64, put_int(mpnum_isinf_f64(f64_at(i))));
  HASH(mpnum_isfinite_f64, FOR_F64, put_int(mpnum_isfinite_f64(f64_at(i))));
  HASH(mpnum_is_normal_f64, FOR_F64, put_int(mpnum_is_normal_f64(f64_at(i))));
  HASH(mpnum_is_subnormal_f64, FOR_F64, put_int(mpnum_is_subnormal_f64(f64_at(i))));
  HASH(mpnum_is_zero_f64, FOR_F64, put_int(mpnum_is_zero_f64(f64_at(i))));
  HASH(mpnum_signbit_f64, FOR_F64, put_int(mpnum_signbit_f64(f64_at(i))));
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

static void print_stats(void) {
  HASH(mpnum_stats_empty, , put_stats(mpnum_stats_empty()));
  HASH(mpnum_stats_add, for (uint32_t i = 0; i < 16 * 65536; ++i), {
    const mpnum_format format = mpnum_format_of((mpnum_type)(i >> 16));
    if (format.max_code) put_stats(stats_of(&format, i & 0xffffu));
  });
  HASH(mpnum_stats_merge, for (uint32_t i = 0; i < 16 * 65536; i += 5), {
    const mpnum_format format = mpnum_format_of((mpnum_type)(i >> 16));
    if (format.max_code)
      put_stats(mpnum_stats_merge(stats_of(&format, i & 0xffffu),
                                  stats_of(&format, (uint32_t)mix(i + 1))));
  });
}

static void print_formats(void) {
  CONSTANT(MPNUM_UNORDERED, put_int)
  CONSTANT(MPNUM_NAN_CANONICAL, put_int)
  CONSTANT(MPNUM_NAN_SIGN, put_int)
  CONSTANT(MPNUM_NAN_PAYLOAD, put_int)
  static const int biases[] = {-128, -127, -20, 0, 1, 3, 15, 40, 127, 128};
  HASH(mpnum_status_string, for (int status = 0; status < 8; ++status),
       put_text(mpnum_status_string((mpnum_status)status)));
  HASH(mpnum_has_hw, for (int type = 0; type < 16; ++type),
       put((uint32_t)mpnum_has_hw((mpnum_type)type)));
  HASH(mpnum_type_name, for (int type = 0; type < 16; ++type),
       put_text(mpnum_type_name((mpnum_type)type)));
  HASH(mpnum_format_of, for (int type = 0; type < 16; ++type), {
    const mpnum_format format = mpnum_format_of((mpnum_type)type);
    put_format(format);
    add_format(format);
  });
  HASH(mpnum_preset_format, for (int i = 0; i < 4 * 16; ++i), {
    const mpnum_format format =
        mpnum_preset_format((mpnum_preset)(i / 16), (mpnum_type)(i % 16));
    put_format(format);
    add_format(format);
  });
  HASH(mpnum_preset_overflow, for (int i = 0; i < 4 * 16; ++i),
       put_int((int)mpnum_preset_overflow((mpnum_preset)(i / 16), (mpnum_type)(i % 16))));
  HASH(mpnum_format_make, for (int i = 0; i < 4 * 11 * 19 * 8 * 10; ++i), {
    mpnum_format format;
    int rest = i;
    const int bias = biases[rest % 10];
    const int specials = (rest /= 10) % 8;
    const int mantissa_bits = (rest /= 8) % 19 - 1;
    const int exponent_bits = (rest /= 19) % 11 - 1;
    const int sign_bits = rest / 11 - 1;
    memset(&format, 0, sizeof format);
    put_int((int)mpnum_format_make(&format, sign_bits, exponent_bits, mantissa_bits, bias,
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
       put(mpnum_encode(FORMAT, f32_of(f32_near(FORMAT, i)), ANY_MODE)));
  HASH(mpnum_encode_f64, FOR_FORMATS,
       put(mpnum_encode_f64(FORMAT, f64_of(f64_near(FORMAT, i)), ANY_MODE)));
  HASH(mpnum_decode, FOR_FORMATS, put_f32(mpnum_decode(FORMAT, ANY_CODE)));
  HASH(mpnum_decode_f64, FOR_FORMATS, put_f64(mpnum_decode_f64(FORMAT, ANY_CODE)));
  HASH(mpnum_isnan, FOR_FORMATS, put_int(mpnum_isnan(FORMAT, ANY_CODE)));
  HASH(mpnum_isinf, FOR_FORMATS, put_int(mpnum_isinf(FORMAT, ANY_CODE)));
  HASH(mpnum_isfinite, FOR_FORMATS, put_int(mpnum_isfinite(FORMAT, ANY_CODE)));
  HASH(mpnum_is_normal, FOR_FORMATS, put_int(mpnum_is_normal(FORMAT, ANY_CODE)));
  HASH(mpnum_is_subnormal, FOR_FORMATS, put_int(mpnum_is_subnormal(FORMAT, ANY_CODE)));
  HASH(mpnum_is_zero, FOR_FORMATS, put_int(mpnum_is_zero(FORMAT, ANY_CODE)));
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
#define TYPE_FORMAT mpnum_format_of((mpnum_type)type)
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
#if defined(__SSE2__)
    _mm_setcsr(_mm_getcsr() | 0x8040); /* FTZ and DAZ */
    return 1;
#elif defined(__aarch64__)
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    fpcr |= UINT64_C(1) << 24; /* FZ */
    __asm__ volatile("msr fpcr, %0" : : "r"(fpcr));
    return 1;
#else
    return 0;
#endif
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
#define PRINT_TYPE(name, NAME, sign_bits, exponent_bits, mantissa_bits, bias, specials, \
                   nan)                                                                 \
 print_##name();
  MPNUM_FORMATS(PRINT_TYPE)
  print_f32();
  print_formats();
  print_stats();
  print_stats();
  print_generic();
  print_random();
  print_text();
  return 0;
}
