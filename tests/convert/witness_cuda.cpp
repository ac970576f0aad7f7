/* SPDX-License-Identifier: MIT */
/* The host path of CUDA's own headers as a witness: every conversion of cuda_fp16.h,
 * cuda_bf16.h, cuda_fp8.h, cuda_fp6.h and cuda_fp4.h from f32, f64, f16 and bf16, packed
 * ones too, all their rounding modes and both saturations, the decoders on all codes, and
 * the Philox of curand_philox4x32_x.h. NaN included: what differs is written in
 * check_double_nan and nowhere else.
 *
 * By default every 509th float is tried and all floats whose low 12 bits are at an edge,
 * which holds every tie and every exact value of formats with up to 10 mantissa bits. The
 * argument --all tries all 2^32.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

/* cuRAND's header is for nvcc: plain C++ has neither of its qualifiers. */
#define QUALIFIERS static inline
#include <curand_philox4x32_x.h>

#include "generic_forms.h"

#include "../harness/tap.h"

#include <cstring>

static uint32_t stride = 509;

static uint64_t random_state = 1;

static uint64_t random_word() { /* splitmix64 */
  uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static uint32_t bits_of(__half x) { return static_cast<__half_raw>(x).x; }
static uint32_t bits_of(__nv_bfloat16 x) { return static_cast<__nv_bfloat16_raw>(x).x; }

static uint32_t bits_of(__half2 x) {
  const __half2_raw raw = static_cast<__half2_raw>(x);
  return static_cast<uint32_t>(raw.x) | static_cast<uint32_t>(raw.y) << 16;
}

static uint32_t bits_of(__nv_bfloat162 x) {
  const __nv_bfloat162_raw raw = static_cast<__nv_bfloat162_raw>(x);
  return static_cast<uint32_t>(raw.x) | static_cast<uint32_t>(raw.y) << 16;
}

/* `source` is in scope wherever this is used: the bits that were converted. */
#define AGREE(got, want)                                                    \
 CHECK((got) == (want), #got " of %llx: got %x, CUDA %x",                   \
       static_cast<unsigned long long>(source), static_cast<unsigned>(got), \
       static_cast<unsigned>(want))

#define SATURATE    MPNUM_OVERFLOW_SATURATE
#define IEEE        MPNUM_OVERFLOW_IEEE
#define TOWARD_ZERO MPNUM_ROUND_TOWARD_ZERO

static void check_f16(uint32_t source) {
  const float x = mpnum_from_bits_f32(source);
  AGREE(mpnum_f32_to_f16(x).bits, bits_of(__float2half_rn(x)));
  AGREE(mpnum_f32_to_f16_rz(x).bits, bits_of(__float2half_rz(x)));
  AGREE(mpnum_f32_to_f16_round(x, MPNUM_ROUND_DOWN, IEEE, 0).bits,
        bits_of(__float2half_rd(x)));
  AGREE(mpnum_f32_to_f16_round(x, MPNUM_ROUND_UP, IEEE, 0).bits,
        bits_of(__float2half_ru(x)));
}

static void check_bf16(uint32_t source) {
  const float x = mpnum_from_bits_f32(source);
  AGREE(mpnum_f32_to_bf16(x).bits, bits_of(__float2bfloat16_rn(x)));
  AGREE(mpnum_f32_to_bf16_rz(x).bits, bits_of(__float2bfloat16_rz(x)));
  AGREE(mpnum_f32_to_bf16_round(x, MPNUM_ROUND_DOWN, IEEE, 0).bits,
        bits_of(__float2bfloat16_rd(x)));
  AGREE(mpnum_f32_to_bf16_round(x, MPNUM_ROUND_UP, IEEE, 0).bits,
        bits_of(__float2bfloat16_ru(x)));
}

/* Conversions of x from f32 or f64, named from, against those that CUDA names for the
 * type of raw, the same value. */
#define AGREE_FP8(from, x, cuda, raw)                              \
 (AGREE(mpnum_##from##_to_e4m3_sat(x).bits,                        \
        __nv_cvt_##cuda##_to_fp8(raw, __NV_SATFINITE, __NV_E4M3)), \
  AGREE(mpnum_##from##_to_e4m3(x).bits,                            \
        __nv_cvt_##cuda##_to_fp8(raw, __NV_NOSAT, __NV_E4M3)),     \
  AGREE(mpnum_##from##_to_e5m2_sat(x).bits,                        \
        __nv_cvt_##cuda##_to_fp8(raw, __NV_SATFINITE, __NV_E5M2)), \
  AGREE(mpnum_##from##_to_e5m2(x).bits,                            \
        __nv_cvt_##cuda##_to_fp8(raw, __NV_NOSAT, __NV_E5M2)))
#define AGREE_FP6_OR_FP4(from, x, cuda, raw, fp, name, NAME)                \
 (AGREE(mpnum_##from##_to_##name##_sat(x).bits,                             \
        __nv_cvt_##cuda##_to_##fp(raw, NAME, cudaRoundNearest)),            \
  AGREE(mpnum_##from##_to_##name##_round(x, TOWARD_ZERO, SATURATE, 0).bits, \
        __nv_cvt_##cuda##_to_##fp(raw, NAME, cudaRoundZero)))
#define AGREE_FP6(from, x, cuda, raw)                         \
 (AGREE_FP6_OR_FP4(from, x, cuda, raw, fp6, e3m2, __NV_E3M2), \
  AGREE_FP6_OR_FP4(from, x, cuda, raw, fp6, e2m3, __NV_E2M3))
#define AGREE_FP4(from, x, cuda, raw) \
 AGREE_FP6_OR_FP4(from, x, cuda, raw, fp4, e2m1, __NV_E2M1)
#define AGREE_E8M0(x, cuda, raw)                                          \
 (AGREE(mpnum_f32_to_e8m0_ru_sat(x).bits,                                 \
        __nv_cvt_##cuda##_to_e8m0(raw, __NV_SATFINITE, cudaRoundPosInf)), \
  AGREE(mpnum_f32_to_e8m0_ru(x).bits,                                     \
        __nv_cvt_##cuda##_to_e8m0(raw, __NV_NOSAT, cudaRoundPosInf)),     \
  AGREE(mpnum_f32_to_e8m0_rz_sat(x).bits,                                 \
        __nv_cvt_##cuda##_to_e8m0(raw, __NV_SATFINITE, cudaRoundZero)),   \
  AGREE(mpnum_f32_to_e8m0_rz(x).bits,                                     \
        __nv_cvt_##cuda##_to_e8m0(raw, __NV_NOSAT, cudaRoundZero)))

static void check_fp8(uint32_t source) {
  const float x = mpnum_from_bits_f32(source);
  AGREE_FP8(f32, x, float, x);
}
static void check_fp6(uint32_t source) {
  const float x = mpnum_from_bits_f32(source);
  AGREE_FP6(f32, x, float, x);
}
static void check_fp4(uint32_t source) {
  const float x = mpnum_from_bits_f32(source);
  AGREE_FP4(f32, x, float, x);
}
static void check_e8m0(uint32_t source) {
  const float x = mpnum_from_bits_f32(source);
  AGREE_E8M0(x, float, x);
}

static const uint32_t edges[] = {0x000, 0x001, 0x002, 0x7ff, 0x800, 0x801, 0xffe, 0xfff};

template <typename Check> static void sweep_floats(Check check) {
  for (uint32_t high = 0; high < 0x100000; ++high)
    for (uint32_t edge : edges)
      check(high << 12 | edge);
  for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += stride)
    check(static_cast<uint32_t>(bits));
}

static void f32_to_f16_agrees_with_cuda() { sweep_floats(check_f16); }
static void f32_to_bf16_agrees_with_cuda() { sweep_floats(check_bf16); }
static void f32_to_fp8_agrees_with_cuda() { sweep_floats(check_fp8); }
static void f32_to_fp6_agrees_with_cuda() { sweep_floats(check_fp6); }
static void f32_to_fp4_agrees_with_cuda() { sweep_floats(check_fp4); }
static void f32_to_e8m0_agrees_with_cuda() { sweep_floats(check_e8m0); }

/* What the CUDA classes give, whose constructors choose the overflow: the preset. */
static void check_preset(mpnum_type type, uint32_t source, uint32_t want) {
  const mpnum_format format = mpnum_preset_format(MPNUM_PRESET_CUDA, type);
  const mpnum_overflow overflow = mpnum_preset_overflow(MPNUM_PRESET_CUDA, type);
  const uint32_t got = mpnum_encode(format, mpnum_from_bits_f32(source),
                                    MPNUM_ROUND_NEAREST_EVEN, overflow, 0);
  CHECK(got == want, "%s of %08x: got %x, CUDA %x", mpnum_type_name(type), source, got,
        want);
}

static void cuda_preset_agrees_with_the_classes() {
  for (uint32_t high = 0; high < 0x100000; ++high) {
    const uint32_t bits = high << 12 | edges[high % 8];
    const float x = mpnum_from_bits_f32(bits);
    check_preset(MPNUM_TYPE_F16, bits, bits_of(__half(x)));
    check_preset(MPNUM_TYPE_BF16, bits, bits_of(__nv_bfloat16(x)));
    check_preset(MPNUM_TYPE_E4M3, bits, __nv_fp8_e4m3(x).__x);
    check_preset(MPNUM_TYPE_E5M2, bits, __nv_fp8_e5m2(x).__x);
    check_preset(MPNUM_TYPE_E3M2, bits, __nv_fp6_e3m2(x).__x);
    check_preset(MPNUM_TYPE_E2M3, bits, __nv_fp6_e2m3(x).__x);
    check_preset(MPNUM_TYPE_E2M1, bits, __nv_fp4_e2m1(x).__x);
  }
}

/* f64 sources. */

/* CUDA's fp8 conversions keep the sign of a double NaN, and for e5m2 its leading mantissa
 * bits, where those from float and the PTX instructions are canonical. */
static void check_double_nan(uint64_t source) {
  const double x = mpnum_from_bits_f64(source);
  const uint32_t sign = static_cast<uint32_t>(source >> 63) << 7;
  const uint32_t payload = static_cast<uint32_t>(source >> 50) & 3;
  const __nv_saturation_t saturations[] = {__NV_SATFINITE, __NV_NOSAT};
  for (__nv_saturation_t saturation : saturations) {
    AGREE(0x7fu | sign, __nv_cvt_double_to_fp8(x, saturation, __NV_E4M3));
    AGREE(0x7eu | payload | sign, __nv_cvt_double_to_fp8(x, saturation, __NV_E5M2));
  }
  CHECK(mpnum_f64_to_e4m3(x).bits == 0x7f, "e4m3 of a NaN");
  CHECK(mpnum_f64_to_e4m3_sat(x).bits == 0x7f, "e4m3 of a NaN, saturating");
  CHECK(mpnum_f64_to_e5m2(x).bits == 0x7f, "e5m2 of a NaN");
  CHECK(mpnum_f64_to_e5m2_sat(x).bits == 0x7f, "e5m2 of a NaN, saturating");
}

static void check_double(uint64_t source) {
  const double x = mpnum_from_bits_f64(source);
  AGREE(mpnum_f64_to_f16(x).bits, bits_of(__double2half(x)));
  AGREE(mpnum_f64_to_bf16(x).bits, bits_of(__double2bfloat16(x)));
  if ((source & 0x7fffffffffffffffu) > 0x7ff0000000000000u)
    check_double_nan(source);
  else
    AGREE_FP8(f64, x, double, x);
  AGREE_FP6(f64, x, double, x);
  AGREE_FP4(f64, x, double, x);
  AGREE(mpnum_f64_to_e8m0_round(x, MPNUM_ROUND_UP, SATURATE, 0).bits,
        __nv_cvt_double_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf));
  AGREE(mpnum_f64_to_e8m0_round(x, MPNUM_ROUND_UP, IEEE, 0).bits,
        __nv_cvt_double_to_e8m0(x, __NV_NOSAT, cudaRoundPosInf));
  AGREE(mpnum_f64_to_e8m0_round(x, TOWARD_ZERO, SATURATE, 0).bits,
        __nv_cvt_double_to_e8m0(x, __NV_SATFINITE, cudaRoundZero));
  AGREE(mpnum_f64_to_e8m0_round(x, TOWARD_ZERO, IEEE, 0).bits,
        __nv_cvt_double_to_e8m0(x, __NV_NOSAT, cudaRoundZero));
}

static void f64_agrees_with_cuda() {
  /* All doubles with 11 or fewer mantissa bits and an exponent in or near f32's range,
   * and both neighbours of each: the ties, values and near misses of every format. */
  for (uint64_t exponent = 1023 - 153; exponent < 1023 + 131; ++exponent)
    for (uint64_t mantissa = 0; mantissa < 0x1000; ++mantissa) {
      const uint64_t sign = (mantissa & 1) << 63;
      const uint64_t bits = sign | exponent << 52 | (mantissa >> 1) << 41;
      check_double(bits - 1);
      check_double(bits);
      check_double(bits + 1);
    }
  for (int i = 0; i < 1000000; ++i) {
    const uint64_t word = random_word();
    check_double(word);
    check_double((word & 0x800fffffffffffffu) | (1023 - 30 + (word >> 52) % 60) << 52);
  }
  const uint64_t extremes[] = {0,
                               1,
                               0x000fffffffffffffu,
                               0x0010000000000000u,
                               0x7fefffffffffffffu,
                               0x7ff0000000000000u,
                               0x7ff0000000000001u,
                               0x7ff8000000000000u,
                               0x7fffffffffffffffu};
  for (uint64_t bits : extremes) {
    check_double(bits);
    check_double(bits | UINT64_C(1) << 63);
  }
}

/* f16 and bf16 sources: all codes. */

static void f16_to_smaller_types_agrees_with_cuda() {
  for (uint32_t source = 0; source < 0x10000; ++source) {
    const float x = mpnum_f16_to_f32(mpnum_from_bits_f16(source));
    __half_raw raw;
    raw.x = static_cast<unsigned short>(source);
    AGREE_FP8(f32, x, halfraw, raw);
    AGREE_FP6(f32, x, halfraw, raw);
    AGREE_FP4(f32, x, halfraw, raw);
  }
}

static void bf16_to_smaller_types_agrees_with_cuda() {
  for (uint32_t source = 0; source < 0x10000; ++source) {
    const float x = mpnum_bf16_to_f32(mpnum_from_bits_bf16(source));
    __nv_bfloat16_raw raw;
    raw.x = static_cast<unsigned short>(source);
    AGREE_FP8(f32, x, bfloat16raw, raw);
    AGREE_FP6(f32, x, bfloat16raw, raw);
    AGREE_FP4(f32, x, bfloat16raw, raw);
    AGREE_E8M0(x, bfloat16raw, raw);
  }
}

/* Decoders: all codes. */

static void f16_and_bf16_decode_as_cuda() {
  for (uint32_t source = 0; source < 0x10000; ++source) {
    __half_raw f16;
    __nv_bfloat16_raw bf16;
    f16.x = static_cast<unsigned short>(source);
    bf16.x = static_cast<unsigned short>(source);
    AGREE(mpnum_bits_f32(mpnum_f16_to_f32(mpnum_from_bits_f16(source))),
          mpnum_bits_f32(__half2float(f16)));
    AGREE(mpnum_bits_f32(mpnum_bf16_to_f32(mpnum_from_bits_bf16(source))),
          mpnum_bits_f32(__bfloat162float(bf16)));
  }
}

/* The library's result as f16, which has every value of the smaller types. */
static uint32_t as_f16(float x) { return mpnum_f32_to_f16(x).bits; }

static void smaller_types_decode_as_cuda() {
  for (uint32_t source = 0; source < 0x100; ++source) {
    const __nv_fp8_storage_t code = static_cast<__nv_fp8_storage_t>(source);
    AGREE(as_f16(mpnum_e4m3_to_f32(mpnum_from_bits_e4m3(source))),
          __nv_cvt_fp8_to_halfraw(code, __NV_E4M3).x);
    AGREE(as_f16(mpnum_e5m2_to_f32(mpnum_from_bits_e5m2(source))),
          __nv_cvt_fp8_to_halfraw(code, __NV_E5M2).x);
    /* Bits above the code's six or four are ignored on both sides. */
    AGREE(as_f16(mpnum_e3m2_to_f32(mpnum_from_bits_e3m2(source))),
          __nv_cvt_fp6_to_halfraw(code, __NV_E3M2).x);
    AGREE(as_f16(mpnum_e2m3_to_f32(mpnum_from_bits_e2m3(source))),
          __nv_cvt_fp6_to_halfraw(code, __NV_E2M3).x);
    AGREE(as_f16(mpnum_e2m1_to_f32(mpnum_from_bits_e2m1(source))),
          __nv_cvt_fp4_to_halfraw(code, __NV_E2M1).x);
    AGREE(mpnum_f32_to_bf16(mpnum_e8m0_to_f32(mpnum_from_bits_e8m0(source))).bits,
          __nv_cvt_e8m0_to_bf16raw(code).x);
  }
}

/* Packed types: element order and layout. */

static void check_pair(float a, float b, uint32_t source) {
  const float2 pair = {a, b};
  AGREE(mpnum_f32_to_f16_x2(a, b).bits, bits_of(__floats2half2_rn(a, b)));
  AGREE(mpnum_f32_to_bf16_x2(a, b).bits, bits_of(__floats2bfloat162_rn(a, b)));
  AGREE(mpnum_f32_to_e4m3_sat_x2(a, b).bits,
        __nv_cvt_float2_to_fp8x2(pair, __NV_SATFINITE, __NV_E4M3));
  AGREE(mpnum_f32_to_e4m3_x2(a, b).bits,
        __nv_cvt_float2_to_fp8x2(pair, __NV_NOSAT, __NV_E4M3));
  AGREE(mpnum_f32_to_e5m2_sat_x2(a, b).bits,
        __nv_cvt_float2_to_fp8x2(pair, __NV_SATFINITE, __NV_E5M2));
  AGREE(mpnum_f32_to_e5m2_x2(a, b).bits,
        __nv_cvt_float2_to_fp8x2(pair, __NV_NOSAT, __NV_E5M2));
  AGREE(mpnum_f32_to_e3m2_sat_x2(a, b).bits,
        __nv_cvt_float2_to_fp6x2(pair, __NV_E3M2, cudaRoundNearest));
  AGREE(mpnum_f32_to_e2m3_sat_x2(a, b).bits,
        __nv_cvt_float2_to_fp6x2(pair, __NV_E2M3, cudaRoundNearest));
  AGREE(mpnum_f32_to_e2m1_sat_x2(a, b).bits,
        __nv_cvt_float2_to_fp4x2(pair, __NV_E2M1, cudaRoundNearest));
  AGREE(mpnum_f32_to_e8m0_ru_sat_x2(a, b).bits,
        __nv_cvt_float2_to_e8m0x2(pair, __NV_SATFINITE, cudaRoundPosInf));
  AGREE(mpnum_f32_to_e8m0_rz_sat_x2(a, b).bits,
        __nv_cvt_float2_to_e8m0x2(pair, __NV_SATFINITE, cudaRoundZero));
}

static void check_four(float a, float b, float c, float d, uint32_t source) {
  const float4 four = {a, b, c, d};
  AGREE(mpnum_f32_to_e4m3_sat_x4(a, b, c, d).bits, __nv_fp8x4_e4m3(four).__x);
  AGREE(mpnum_f32_to_e5m2_sat_x4(a, b, c, d).bits, __nv_fp8x4_e5m2(four).__x);
  AGREE(mpnum_f32_to_e2m1_sat_x4(a, b, c, d).bits, __nv_fp4x4_e2m1(four).__x);
  /* CUDA's four 6-bit codes have a byte each, the library's are dense: by element. */
  const mpnum_e3m2x4 e3m2 = mpnum_f32_to_e3m2_sat_x4(a, b, c, d);
  const mpnum_e2m3x4 e2m3 = mpnum_f32_to_e2m3_sat_x4(a, b, c, d);
  for (int i = 0; i < 4; ++i) {
    AGREE(mpnum_unpack_e3m2_x4(e3m2, i).bits,
          __nv_fp6x4_e3m2(four).__x >> (8 * i) & 0xff);
    AGREE(mpnum_unpack_e2m3_x4(e2m3, i).bits,
          __nv_fp6x4_e2m3(four).__x >> (8 * i) & 0xff);
  }
}

static void check_packed_decode(uint32_t source) {
  const __nv_fp8x2_storage_t codes = static_cast<__nv_fp8x2_storage_t>(source);
  const mpnum_e4m3x2 e4m3 = {codes};
  const mpnum_e3m2x2 e3m2 = {codes};
  const mpnum_e2m1x2 e2m1 = {static_cast<uint8_t>(source)};
  const __half2_raw from_e4m3 = __nv_cvt_fp8x2_to_halfraw2(codes, __NV_E4M3);
  const __half2_raw from_e3m2 = __nv_cvt_fp6x2_to_halfraw2(codes, __NV_E3M2);
  const __half2_raw from_e2m1 =
      __nv_cvt_fp4x2_to_halfraw2(static_cast<uint8_t>(source), __NV_E2M1);
  AGREE(as_f16(mpnum_e4m3_to_f32_x2(e4m3).x), from_e4m3.x);
  AGREE(as_f16(mpnum_e4m3_to_f32_x2(e4m3).y), from_e4m3.y);
  AGREE(as_f16(mpnum_e3m2_to_f32_x2(e3m2).x), from_e3m2.x);
  AGREE(as_f16(mpnum_e3m2_to_f32_x2(e3m2).y), from_e3m2.y);
  AGREE(as_f16(mpnum_e2m1_to_f32_x2(e2m1).x), from_e2m1.x);
  AGREE(as_f16(mpnum_e2m1_to_f32_x2(e2m1).y), from_e2m1.y);
}

/* Any float in one draw of two, one near the ranges of the small types in the other. */
static float random_float() {
  const uint32_t word = static_cast<uint32_t>(random_word());
  if (word & 0x100) return mpnum_from_bits_f32(word);
  return mpnum_from_bits_f32((word & 0x807fffffu) | (120u + (word >> 23) % 18) << 23);
}

static void packed_types_agree_with_cuda() {
  for (uint32_t i = 0; i < 200000; ++i) {
    const float a = random_float(), b = random_float();
    check_pair(a, b, mpnum_bits_f32(a));
    check_four(a, b, random_float(), random_float(), mpnum_bits_f32(a));
  }
  for (uint32_t codes = 0; codes < 0x10000; ++codes)
    check_packed_decode(codes);
}

static void philox_agrees_with_curand() {
  for (uint32_t i = 0; i < 1000000; ++i) {
    /* The first thousand from zero up, at the edges of the words, then at random. */
    const uint64_t seed = i < 1000 ? i / 32 : random_word();
    const uint64_t counter = i < 1000 ? UINT64_C(0xfffffff0) + i % 32 : random_word();
    const uint4 words = curand_Philox4x32_10(
        uint4{static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0},
        uint2{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
    const mpnum_u32x4 got = mpnum_random_x4(seed, counter);
    CHECK(got.x == words.x && got.y == words.y && got.z == words.z && got.w == words.w,
          "seed %016llx counter %016llx: got %08x %08x %08x %08x, cuRAND %08x %08x %08x "
          "%08x",
          static_cast<unsigned long long>(seed), static_cast<unsigned long long>(counter),
          got.x, got.y, got.z, got.w, words.x, words.y, words.z, words.w);
  }
}

int main(int argc, char **argv) {
  if (argc > 1 && std::strcmp(argv[1], "--all") == 0) stride = 1;
  TAP_RUN(f32_to_f16_agrees_with_cuda);
  TAP_RUN(f32_to_bf16_agrees_with_cuda);
  TAP_RUN(f32_to_fp8_agrees_with_cuda);
  TAP_RUN(f32_to_fp6_agrees_with_cuda);
  TAP_RUN(f32_to_fp4_agrees_with_cuda);
  TAP_RUN(f32_to_e8m0_agrees_with_cuda);
  TAP_RUN(cuda_preset_agrees_with_the_classes);
  TAP_RUN(f64_agrees_with_cuda);
  TAP_RUN(f16_to_smaller_types_agrees_with_cuda);
  TAP_RUN(bf16_to_smaller_types_agrees_with_cuda);
  TAP_RUN(f16_and_bf16_decode_as_cuda);
  TAP_RUN(smaller_types_decode_as_cuda);
  TAP_RUN(packed_types_agree_with_cuda);
  TAP_RUN(philox_agrees_with_curand);
  return tap_done();
}
