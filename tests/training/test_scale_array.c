/* SPDX-License-Identifier: MIT */
/* Arrays at a scale: against the reference's codes of each product, rounded
 * once, element by element; what is lost against a count of these. */
#include "../rows/row_checks.h"
#include "../harness/control_word.h"
#include "../harness/float_bits.h"

#include <mpnum/mpnum.h>

static const mpnum_type codes_of[] = {
    MPNUM_TYPE_E5M2, MPNUM_TYPE_E4M3, MPNUM_TYPE_E5M2FNUZ, MPNUM_TYPE_E4M3FNUZ,
    MPNUM_TYPE_E3M4, MPNUM_TYPE_E3M2, MPNUM_TYPE_E2M3,     MPNUM_TYPE_E2M1};
static const mpnum_type wide[] = {MPNUM_TYPE_F32, MPNUM_TYPE_F16, MPNUM_TYPE_BF16};
enum { CODES = 8, WIDE = 3, ROOM = 20000, MARKED = 0x5c };

/* Powers of two, others, and the ends. */
static const uint32_t scales[] = {0x3f800000u, 0x43e00000u, 0x41800000u, 0x3b124925u,
                                  0x40490fdbu, 0x00000001u, 0x00800000u, 0x7f7fffffu};
enum { SCALES = 8 };
static uint32_t sources[ROOM]; /* words of a type, as bits of a float where it is f32 */
static size_t count;
static uint8_t codes[ROOM], want[ROOM];
static float floats[ROOM];
static uint16_t halves[ROOM];

static const ref_format *reference_of(mpnum_type type) {
  return ref_format_named(mpnum_type_name(type));
}
static uint32_t magnitude_of(uint32_t bits) { return bits & 0x7fffffffu; }
/* The product of two floats, rounded once: that of their doubles is exact. A NaN stays.
 */
static uint32_t product_rounded(uint32_t a, uint32_t b) {
  if (magnitude_of(a) > 0x7f800000u || magnitude_of(b) > 0x7f800000u) return 0x7fffffffu;
  if (magnitude_of(a) == 0x7f800000u) return a; /* b is above 0 */
  return ref_encode(reference_of(MPNUM_TYPE_F32),
                    bits_of_double(double_of(ref_widen(a)) * double_of(ref_widen(b))),
                    REF_NEAREST_EVEN, REF_IEEE, 0);
}
static uint32_t widened(mpnum_type type, uint32_t word) {
  return type == MPNUM_TYPE_F32 ? word : ref_decode_f32(reference_of(type), word);
}

/* The sources as an array of their type. */
static const void *array_of_sources(mpnum_type type) {
  for (size_t i = 0; i < count; ++i) {
    if (type == MPNUM_TYPE_F32)
      memcpy(&floats[i], &sources[i], 4);
    else
      halves[i] = (uint16_t)sources[i];
  }
  return type == MPNUM_TYPE_F32 ? (const void *)floats : (const void *)halves;
}
static void add_source(uint32_t word) {
  if (count == ROOM) abort();
  sources[count++] = word;
}
/* Of f32: where rounding the product with a power of two turns, zeros, NaNs and Infs, any
 * floats at all, and those of usual size; of the others every 7th word. */
static void make_sources(mpnum_type src, mpnum_type dst, uint32_t scale) {
  uint64_t state = 3;
  count = 0;
  if (src == MPNUM_TYPE_F32) {
    input_list f32 = {NULL, 0, 0}, f64 = {NULL, 0, 0};
    const double inverse = 1 / double_of(ref_widen(scale));
    collect_inputs(reference_of(dst), 256, &f32, &f64);
    add_source(0);
    add_source(0x80000000u);
    for (int i = 0; i < 1000; ++i)
      add_source((uint32_t)(random_bits(&state) >> 32));
    for (int i = 0; i < 1000; ++i) {
      const double size = (double)(int64_t)(random_bits(&state) >> 32) * 0x1p-32;
      uint32_t bits = ref_encode(reference_of(src), bits_of_double(1000 * size * inverse),
                                 REF_NEAREST_EVEN, REF_IEEE, 0);
      add_source(bits | (uint32_t)(i & 1) << 31);
    }
    for (size_t i = 0; i < f32.count && count<ROOM; i += f32.count> ROOM ? 2 : 1) {
      const uint32_t bits = (uint32_t)f32.bits[i];
      uint32_t moved = bits;
      if (bits - 1 < 0x7f7fffffu &&
          !ref_narrow(bits_of_double(double_of(ref_widen(bits)) * inverse), &moved))
        moved = bits;
      add_source(moved | (uint32_t)(i & 1) << 31);
    }
    free(f32.bits);
    free(f64.bits);
  } else {
    for (uint32_t word = 0; word < 65536; word += 7)
      add_source(word);
  }
}

/* What becomes of each source, of a type, at a scale: made once. */
typedef enum lot { KEPT, SATURATED, UNDERFLOWED, NONFINITE } lot;
typedef struct fate {
  uint32_t source, magnitude;
  uint8_t code, lot;
} fate;
typedef struct fates {
  fate *all;
  size_t count;
} fates;
static fate fate_of(mpnum_type src, const ref_format *format, uint32_t source,
                    uint32_t scale) {
  const uint64_t tie = ref_midpoint(format, format->max_code);
  const uint32_t x = widened(src, source), y = product_rounded(x, scale);
  const uint64_t product = ref_widen(magnitude_of(y));
  const uint32_t code =
      ref_encode(format, ref_widen(y), REF_NEAREST_EVEN, REF_SATURATE, 0);
  fate it = {0, 0, 0, KEPT};
  it.source = source;
  it.magnitude = magnitude_of(x);
  it.code = (uint8_t)code;
  if (it.magnitude >= 0x7f800000u) {
    it.lot = NONFINITE;
  } else if (product > tie || (product == tie && (format->max_code & 1))) {
    it.lot = SATURATED;
  } else if (it.magnitude != 0 && ref_decode(format, code) << 1 == 0) {
    it.lot = UNDERFLOWED;
  }
  return it;
}
/* Makes sources, and what becomes of them, those of type wide[s] to codes_of[d]. */
static const fates *fates_of(int s, int d, int k) {
  static fates known[WIDE][CODES][SCALES];
  fates *it = &known[s][d][k];
  if (!it->all) {
    make_sources(wide[s], codes_of[d], scales[k]);
    it->count = count;
    it->all = (fate *)allocate(count * sizeof(fate));
    for (size_t i = 0; i < count; ++i)
      it->all[i] = fate_of(wide[s], reference_of(codes_of[d]), sources[i], scales[k]);
  }
  count = it->count;
  for (size_t i = 0; i < count; ++i)
    sources[i] = it->all[i].source;
  return it;
}
static mpnum_quantize_losses wanted_of(const fates *known, uint8_t *to, size_t from,
                                       size_t n) {
  mpnum_quantize_losses losses = {0, 0, 0, 0};
  uint32_t amax = 0;
  for (size_t i = 0; i < n; ++i) {
    const fate *it = &known->all[from + i];
    to[i] = it->code;
    losses.saturated += it->lot == SATURATED;
    losses.underflowed += it->lot == UNDERFLOWED;
    losses.nonfinite += it->lot == NONFINITE;
    if (it->lot != NONFINITE && it->magnitude > amax) amax = it->magnitude;
  }
  memcpy(&losses.amax, &amax, 4);
  return losses;
}
static void check_losses(mpnum_quantize_losses got, mpnum_quantize_losses wanted,
                         const char *what) {
  CHECK(got.saturated == wanted.saturated && got.underflowed == wanted.underflowed &&
            got.nonfinite == wanted.nonfinite &&
            memcmp(&got.amax, &wanted.amax, sizeof got.amax) == 0,
        "%s: %d %d %d %a, want %d %d %d %a", what, (int)got.saturated,
        (int)got.underflowed, (int)got.nonfinite, (double)got.amax, (int)wanted.saturated,
        (int)wanted.underflowed, (int)wanted.nonfinite, (double)wanted.amax);
}

/* To codes_of[d] at scales[k], from a place on. */
static void check_quantized(int s, int d, int k, size_t from, size_t n) {
  const mpnum_type src = wide[s], dst = codes_of[d];
  const uint32_t scale = scales[k];
  const fates *known = fates_of(s, d, k);
  mpnum_quantize_losses wanted;
  if (from + n > known->count) abort();
  wanted = wanted_of(known, want, from, n);
  const void *array = array_of_sources(src);
  mpnum_quantize_losses losses = {0, 0, 0, 0};
  const uint8_t *at = (const uint8_t *)array + from * size_of(src);
  mpnum_status status = MPNUM_OK;
  for (int counts = 0; counts < 2; ++counts) {
    memset(codes, MARKED, n + 1);
    status = mpnum_quantize_array(dst, codes, src, at, n, float_of(scale),
                                  counts ? &losses : NULL);
    CHECK(status == MPNUM_OK, "%s", mpnum_status_string(status));
    CHECK(codes[n] == MARKED, "written past the end");
    if (memcmp(codes, want, n) == 0) continue;
    for (size_t i = 0; i < n; ++i)
      if (codes[i] != want[i]) {
        CHECK(0, "%s from %s, scale %08x: element %zu of %zu, %08x: %02x, want %02x",
              mpnum_type_name(dst), mpnum_type_name(src), (unsigned)scale, i, n,
              (unsigned)sources[from + i], codes[i], want[i]);
        break;
      }
  }
  check_losses(losses, wanted, mpnum_type_name(dst));
}
static void codes_are_those_of_products(void) {
  for (int d = 0; d < CODES; ++d)
    for (int s = 0; s < WIDE; ++s)
      for (int k = s ? d % 4 : 0; k < SCALES; k += s ? 4 : 1)
        check_quantized(s, d, k, 0, fates_of(s, d, k)->count);
}
/* Any number of elements, from any place on: so cuts do not matter either. */
static void any_number_of_elements(void) {
  static const size_t more[] = {255, 256, 257, 2047, 2048, 2049, 4097, 6000};
  for (int d = 0; d < CODES; ++d)
    for (int s = 0; s < WIDE; ++s) {
      const int k = s ? d % 4 : 1; /* which the other property has, too */
      for (size_t n = 0; n < 140; n += 1 + 4 * (size_t)s)
        check_quantized(s, d, k, n % 5, n);
      for (size_t i = 0; i < 8; ++i)
        if (i < 6 || d % 4 == s) check_quantized(s, d, k, i, more[i]);
    }
}

/* codes * scale_inv, as f32, and from there to the type. */
static uint32_t decoded(mpnum_type src, mpnum_type dst, uint32_t code, uint32_t scale) {
  const ref_format *format = reference_of(src);
  const uint32_t width = (uint32_t)(format->sign_bits + format->exponent_bits) +
                         (uint32_t)format->mantissa_bits;
  const uint32_t x = ref_decode_f32(format, code & (((uint32_t)1 << width) - 1));
  const uint32_t product = product_rounded(x, scale);
  if (dst == MPNUM_TYPE_F32) return product;
  return ref_encode(reference_of(dst), ref_widen(product), REF_NEAREST_EVEN, REF_IEEE, 0);
}
static void codes_become_products(void) {
  static uint8_t every[3 * 256 + 77], results[4 * sizeof every + 8];
  const size_t most = sizeof every;
  for (size_t i = 0; i < most; ++i)
    every[i] = (uint8_t)(i * 37);
  for (int s = 0; s < CODES; ++s)
    for (int d = 0; d < WIDE; ++d)
      for (int k = 0; k < SCALES; ++k)
        for (size_t n = k ? most : 0; n <= most; n = n < 130 ? n + 1 : n + 213) {
          static uint32_t table[256];
          const size_t size = size_of(wide[d]);
          for (uint32_t code = 0; code < 256 && (k || n == 0); ++code)
            table[code] = decoded(codes_of[s], wide[d], code, scales[k]);
          memset(results, MARKED, sizeof results);
          const mpnum_status status = mpnum_dequantize_array(
              wide[d], results, codes_of[s], every, n, float_of(scales[k]));
          CHECK(status == MPNUM_OK, "%s", mpnum_status_string(status));
          for (size_t i = 0; i < n; ++i) {
            const uint32_t wanted = table[every[i]];
            uint32_t got = 0;
            uint16_t half_word;
            if (size == 4) {
              memcpy(&got, results + 4 * i, 4);
            } else {
              memcpy(&half_word, results + 2 * i, 2);
              got = half_word;
            }
            CHECK(got == wanted, "%s to %s, scale %08x, n %zu: %02x is %08x, want %08x",
                  mpnum_type_name(codes_of[s]), mpnum_type_name(wide[d]),
                  (unsigned)scales[k], n, every[i], (unsigned)got, (unsigned)wanted);
          }
          CHECK(results[size * n] == MARKED, "written past the end");
        }
}

/* Scales of all sizes at which no code overflows or loses bits on its way. */
static void codes_come_back(void) {
  uint64_t state = 11;
  uint8_t every[256], again[256];
  float back[256];
  for (int s = 0; s < CODES; ++s) {
    const mpnum_format format = mpnum_format_of(codes_of[s]);
    const uint32_t bits =
        format.sign_bits + (uint32_t)format.exponent_bits + format.mantissa_bits;
    for (int i = 0; i < 2000; ++i) {
      const int field = 127 - 90 + i % 181; /* 2^-90 to 2^90 */
      const uint32_t fraction = i % 3 ? (uint32_t)(random_bits(&state) >> 41) : 0;
      const float scale = float_of((uint32_t)field << 23 | fraction);
      size_t n = 0;
      for (uint32_t code = 0; code < (uint32_t)1 << bits; ++code)
        if (mpnum_isfinite(format, code)) every[n++] = (uint8_t)code;
      CHECK(mpnum_dequantize_array(MPNUM_TYPE_F32, back, codes_of[s], every, n,
                                   mpnum_scale_inv(scale)) == MPNUM_OK,
            "dequantize");
      CHECK(mpnum_quantize_array(codes_of[s], again, MPNUM_TYPE_F32, back, n, scale,
                                 NULL) == MPNUM_OK,
            "quantize");
      CHECK(memcmp(every, again, n) == 0, "%s at %a", mpnum_type_name(codes_of[s]),
            (double)scale);
    }
  }
}

/* What the type holds at one power of two it holds at the next one, its ends apart. */
static void powers_of_two_keep_values(void) {
  uint8_t every[256], again[256];
  float values[256], back[256];
  for (int s = 0; s < CODES; ++s) {
    const mpnum_format format = mpnum_format_of(codes_of[s]);
    const uint32_t normal = (uint32_t)1 << format.mantissa_bits;
    size_t n = 0;
    for (uint32_t code = 2 * normal; code + normal <= format.max_code; ++code)
      every[n++] = (uint8_t)code;
    CHECK(n >= 2, "%s: %zu codes", mpnum_type_name(codes_of[s]), n);
    for (int k = 0; k < 2; ++k) {
      const float scale = 0x1p20f, other = k ? 0x1p21f : 0x1p19f;
      CHECK(mpnum_dequantize_array(MPNUM_TYPE_F32, values, codes_of[s], every, n,
                                   mpnum_scale_inv(scale)) == MPNUM_OK &&
                mpnum_quantize_array(codes_of[s], again, MPNUM_TYPE_F32, values, n, other,
                                     NULL) == MPNUM_OK &&
                mpnum_dequantize_array(MPNUM_TYPE_F32, back, codes_of[s], again, n,
                                       mpnum_scale_inv(other)) == MPNUM_OK,
            "there and back");
      CHECK(memcmp(values, back, n * sizeof(float)) == 0, "%s at %a",
            mpnum_type_name(codes_of[s]), (double)other);
    }
  }
}

/* Results on the scales of channels. */
static void results_on_scales_are_refused(void) {
  enum { N = 4 };
  union {
    float floats[4 * N];
    uint8_t bytes[16 * N];
  } memory;
  static float data[2 * N];
  uint8_t source[2 * N] = {0};
  for (size_t i = 0; i < 4 * N; ++i)
    memory.floats[i] = 1;
  CHECK(mpnum_quantize_channels(MPNUM_TYPE_E4M3, memory.bytes + 1, N,
                                mpnum_const_matrix_of(MPNUM_TYPE_F32, data, 2, N),
                                memory.floats + 2, NULL) == MPNUM_ERROR_OVERLAP &&
            mpnum_dequantize_channels(
                mpnum_matrix_of(MPNUM_TYPE_F32, memory.floats, 2, N), MPNUM_TYPE_E4M3,
                source, N, memory.floats + 2 * N - 1) == MPNUM_ERROR_OVERLAP,
        "refused");
  for (size_t i = 0; i < 4 * N; ++i)
    CHECK(memory.floats[i] >= 1 && memory.floats[i] <= 1, "written");
  CHECK(mpnum_quantize_channels(MPNUM_TYPE_E4M3, memory.bytes, N,
                                mpnum_const_matrix_of(MPNUM_TYPE_F32, data, 2, N),
                                memory.floats + 2, NULL) == MPNUM_OK &&
            mpnum_dequantize_channels(
                mpnum_matrix_of(MPNUM_TYPE_F32, memory.floats, 2, N), MPNUM_TYPE_E4M3,
                source, N, memory.floats + 2 * N) == MPNUM_OK,
        "beside them they are not");
}

int main(void) {
  set_control_word(control_word_of(FE_TONEAREST)); /* -ffast-math starts in another */
  RUN_FOR_EACH_ISA(codes_are_those_of_products);
  RUN_FOR_EACH_ISA(any_number_of_elements);
  RUN_FOR_EACH_ISA(codes_become_products);
  TAP_RUN(codes_come_back);
  TAP_RUN(powers_of_two_keep_values);
  TAP_RUN(results_on_scales_are_refused);
  return tap_done();
}
