/* SPDX-License-Identifier: MIT */
/* interop.cuh on the host: the bits of CUDA's types and of ours are the same, and a value
 * made by CUDA's own functions reads as that value. */
#include <mpnum/cuda/interop.cuh>

#include <cmath>
#include <cstring>
#include <type_traits>

#include "../harness/tap.h"

/* Every code of up to 16 bits, and spread ones of 32, through both directions. */
template <class Theirs, class Ours> static void check_bits(const char *name) {
  const uint32_t last = sizeof(Ours) == 1 ? 0xff : 0xffff;
  for (uint32_t i = 0; i <= last; ++i) {
    const uint32_t word = sizeof(Ours) == 4 ? i * 0x9e3779b1u : i;
    Theirs theirs;
    std::memcpy(static_cast<void *>(&theirs), &word, sizeof theirs);
    const Ours ours = mpnum_from_cuda(theirs);
    const Theirs back = mpnum_to_cuda(ours);
    CHECK(std::memcmp(&ours, &word, sizeof ours) == 0, "%s %x from CUDA", name, word);
    CHECK(std::memcmp(&back, &word, sizeof back) == 0, "%s %x to CUDA", name, word);
  }
}

static void sixteen_bit_types_keep_their_bits() {
  check_bits<__half, mpnum_f16>("f16");
  check_bits<__half2, mpnum_f16x2>("f16x2");
  check_bits<__nv_bfloat16, mpnum_bf16>("bf16");
  check_bits<__nv_bfloat162, mpnum_bf16x2>("bf16x2");
}

static void eight_bit_types_keep_their_bits() {
  check_bits<__nv_fp8_e4m3, mpnum_e4m3>("e4m3");
  check_bits<__nv_fp8x2_e4m3, mpnum_e4m3x2>("e4m3x2");
  check_bits<__nv_fp8x4_e4m3, mpnum_e4m3x4>("e4m3x4");
  check_bits<__nv_fp8_e5m2, mpnum_e5m2>("e5m2");
  check_bits<__nv_fp8x2_e5m2, mpnum_e5m2x2>("e5m2x2");
  check_bits<__nv_fp8x4_e5m2, mpnum_e5m2x4>("e5m2x4");
}

#if MPNUM_HAS_CUDA_FP4_
static void block_types_keep_their_bits() {
  check_bits<__nv_fp8_e8m0, mpnum_e8m0>("e8m0");
  check_bits<__nv_fp8x2_e8m0, mpnum_e8m0x2>("e8m0x2");
  check_bits<__nv_fp6_e3m2, mpnum_e3m2>("e3m2");
  check_bits<__nv_fp6x2_e3m2, mpnum_e3m2x2>("e3m2x2");
  check_bits<__nv_fp6_e2m3, mpnum_e2m3>("e2m3");
  check_bits<__nv_fp6x2_e2m3, mpnum_e2m3x2>("e2m3x2");
  check_bits<__nv_fp4_e2m1, mpnum_e2m1>("e2m1");
  check_bits<__nv_fp4x2_e2m1, mpnum_e2m1x2>("e2m1x2");
  check_bits<__nv_fp4x4_e2m1, mpnum_e2m1x4>("e2m1x4");
}

/* 1 and -2 by CUDA's constructors, element 0 first. */
static void elements_have_the_same_order() {
  const __nv_fp4x2_e2m1 fp4(make_float2(1.0f, -2.0f));
  const __nv_fp6x2_e3m2 fp6(make_float2(1.0f, -2.0f));
  const __nv_fp8x4_e4m3 fp8(make_float4(1.0f, -2.0f, 0.5f, 4.0f));
  const mpnum_f32x2 a = mpnum_e2m1_to_f32_x2(mpnum_from_cuda(fp4));
  const mpnum_f32x2 b = mpnum_e3m2_to_f32_x2(mpnum_from_cuda(fp6));
  const mpnum_f32x4 c = mpnum_e4m3_to_f32_x4(mpnum_from_cuda(fp8));
  const mpnum_f32x2 d = mpnum_f16_to_f32_x2(mpnum_from_cuda(__floats2half2_rn(1, -2)));
  const mpnum_f32x2 e =
      mpnum_bf16_to_f32_x2(mpnum_from_cuda(__floats2bfloat162_rn(1, -2)));
  CHECK(mpnum_bits_f32(a.x) == 0x3f800000 && mpnum_bits_f32(a.y) == 0xc0000000, "e2m1");
  CHECK(mpnum_bits_f32(b.x) == 0x3f800000 && mpnum_bits_f32(b.y) == 0xc0000000, "e3m2");
  CHECK(mpnum_bits_f32(c.x) == 0x3f800000 && mpnum_bits_f32(c.y) == 0xc0000000, "e4m3");
  CHECK(mpnum_bits_f32(c.z) == 0x3f000000 && mpnum_bits_f32(c.w) == 0x40800000, "e4m3");
  CHECK(mpnum_bits_f32(d.x) == 0x3f800000 && mpnum_bits_f32(d.y) == 0xc0000000, "f16");
  CHECK(mpnum_bits_f32(e.x) == 0x3f800000 && mpnum_bits_f32(e.y) == 0xc0000000, "bf16");
}
#endif

template <class T, class = void> struct is_whole : std::false_type {};
template <class T>
struct is_whole<T, decltype(static_cast<void>(sizeof(T)))> : std::true_type {};

/* Every code, and by CUDA's own functions: 1, the least and the largest value, NaN. */
template <class T> static void check_scales(std::true_type) {
  const struct {
    float value;
    uint8_t code;
  } known[] = {{1.0f, 0x78}, {1.0f / (1 << 17), 0x01}, {114688.0f, 0xfe}, {NAN, 0xff}};
  check_bits<T, uint8_t>("ue5m3");
  for (const auto &one : known) {
    CHECK(mpnum_from_cuda(T(one.value)) == one.code, "%g",
          static_cast<double>(one.value));
    const float back = static_cast<float>(mpnum_to_cuda(one.code));
    CHECK(std::memcmp(&back, &one.value, sizeof back) == 0 ||
              (std::isnan(back) && one.code == 0xff),
          "%x", one.code);
  }
}
template <class T> static void check_scales(std::false_type) {
  tap_skip_reason = "the toolkit is older than 13.4";
}
static void scales_keep_their_bits() {
  check_scales<__nv_fp8_ue5m3>(is_whole<__nv_fp8_ue5m3>());
}

int main() {
  TAP_RUN(sixteen_bit_types_keep_their_bits);
  TAP_RUN(eight_bit_types_keep_their_bits);
  TAP_RUN(scales_keep_their_bits);
#if MPNUM_HAS_CUDA_FP4_
  TAP_RUN(block_types_keep_their_bits);
  TAP_RUN(elements_have_the_same_order);
#else
  TAP_SKIP(block_types_keep_their_bits, "the toolkit is older than 12.8");
#endif
  return tap_done();
}
