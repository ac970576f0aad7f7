/* SPDX-License-Identifier: MIT */
/* cvt beside the host path of CUDA's headers, which say what the instruction does where
 * there is none. All inputs of 16 bits; of f32 those whose low 12 bits are at an edge for
 * each 7th upper part, with --all 2^24. */
#include "mpnum/hardware/instruction.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#include "../harness/tap.h"

#include <cstring>

static bool is_all;

struct cvt {
  uint32_t number;
  const char *name;
  explicit cvt(const char *text) : number(mpnum_instruction_of(text)), name(text) {}
  void check(uint32_t want, uint32_t a, uint32_t b = 0) const {
    const uint32_t operands[2] = {a, b};
    uint32_t d = 0;
    const mpnum_status status =
        mpnum_instruction_convert(number, &d, operands, 0, nullptr);
    CHECK(status == MPNUM_OK && d == want, "%s of %08x %08x: %08x, CUDA %08x", name, a, b,
          d, want);
  }
};

static float float_of(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/* Pairs of floats; y is the other end of the same range, x's complement. */
template <class Body> static void each_pair(const Body &body) {
  static const uint32_t edges[8] = {0, 1, 0x7ff, 0x800, 0x801, 0xfff, 0x555, 0xaaa};
  const uint32_t steps = is_all ? 1u << 21 : (1u << 20) / 7;
  for (uint32_t i = 0; i < steps; ++i)
    for (const uint32_t edge : edges) {
      const uint32_t bits = (is_all ? i << 11 & ~0xfffu : i * 7 << 12) + edge;
      body(bits, ~bits);
    }
}

static uint32_t word(__half x) { return static_cast<__half_raw>(x).x; }
static uint32_t word(__nv_bfloat16 x) { return static_cast<__nv_bfloat16_raw>(x).x; }

static void to_16_bits() {
  const cvt rn("cvt.rn.f16.f32"), rz("cvt.rz.f16.f32"), rm("cvt.rm.f16.f32"),
      rp("cvt.rp.f16.f32"), brn("cvt.rn.bf16.f32"), brz("cvt.rz.bf16.f32"),
      brm("cvt.rm.bf16.f32"), brp("cvt.rp.bf16.f32"), two("cvt.rn.f16x2.f32"),
      btwo("cvt.rn.bf16x2.f32");
  each_pair([&](uint32_t x, uint32_t y) {
    const float f = float_of(x), g = float_of(y);
    rn.check(word(__float2half_rn(f)), x);
    rz.check(word(__float2half_rz(f)), x);
    rm.check(word(__float2half_rd(f)), x);
    rp.check(word(__float2half_ru(f)), x);
    brn.check(word(__float2bfloat16_rn(f)), x);
    brz.check(word(__float2bfloat16_rz(f)), x);
    brm.check(word(__float2bfloat16_rd(f)), x);
    brp.check(word(__float2bfloat16_ru(f)), x);
    const __half2 pair = __floats2half2_rn(f, g); /* f is the lower half: operand b */
    two.check(word(__low2half(pair)) | word(__high2half(pair)) << 16, y, x);
    const __nv_bfloat162 bpair = __floats2bfloat162_rn(f, g);
    btwo.check(word(__low2bfloat16(bpair)) | word(__high2bfloat16(bpair)) << 16, y, x);
  });
}

static void to_8_6_and_4_bits() {
  const cvt e4m3("cvt.rn.satfinite.e4m3x2.f32"), e5m2("cvt.rn.satfinite.e5m2x2.f32"),
      e2m3("cvt.rn.satfinite.e2m3x2.f32"), e3m2("cvt.rn.satfinite.e3m2x2.f32"),
      e2m1("cvt.rn.satfinite.e2m1x2.f32");
  each_pair([&](uint32_t x, uint32_t y) {
    const float2 pair = {float_of(x), float_of(y)};
    e4m3.check(__nv_cvt_float2_to_fp8x2(pair, __NV_SATFINITE, __NV_E4M3), y, x);
    e5m2.check(__nv_cvt_float2_to_fp8x2(pair, __NV_SATFINITE, __NV_E5M2), y, x);
    e2m3.check(__nv_cvt_float2_to_fp6x2(pair, __NV_E2M3, cudaRoundNearest), y, x);
    e3m2.check(__nv_cvt_float2_to_fp6x2(pair, __NV_E3M2, cudaRoundNearest), y, x);
    e2m1.check(__nv_cvt_float2_to_fp4x2(pair, __NV_E2M1, cudaRoundNearest), y, x);
  });
}

static void to_ue8m0() {
  const cvt rz("cvt.rz.ue8m0x2.f32"), rzs("cvt.rz.satfinite.ue8m0x2.f32"),
      rp("cvt.rp.ue8m0x2.f32"), rps("cvt.rp.satfinite.ue8m0x2.f32");
  each_pair([&](uint32_t x, uint32_t y) {
    const float2 pair = {float_of(x), float_of(y)};
    rz.check(__nv_cvt_float2_to_e8m0x2(pair, __NV_NOSAT, cudaRoundZero), y, x);
    rzs.check(__nv_cvt_float2_to_e8m0x2(pair, __NV_SATFINITE, cudaRoundZero), y, x);
    rp.check(__nv_cvt_float2_to_e8m0x2(pair, __NV_NOSAT, cudaRoundPosInf), y, x);
    rps.check(__nv_cvt_float2_to_e8m0x2(pair, __NV_SATFINITE, cudaRoundPosInf), y, x);
  });
}

#if CUDART_VERSION >= 13040
/* f16 and bf16 go by way of f32 there. */
static void ue5m3() {
  const cvt rn("cvt.rn.ue5m3x2.f32"), rns("cvt.rn.satfinite.ue5m3x2.f32"),
      rz("cvt.rz.ue5m3x2.f32"), rzs("cvt.rz.satfinite.ue5m3x2.f32"),
      rp("cvt.rp.ue5m3x2.f32"), rps("cvt.rp.satfinite.ue5m3x2.f32"),
      f16("cvt.rn.f16x2.ue5m3x2"), bf16("cvt.rn.bf16x2.ue5m3x2");
  each_pair([&](uint32_t x, uint32_t y) {
    const float2 pair = {float_of(x), float_of(y)};
    rn.check(__nv_cvt_float2_to_ue5m3x2(pair, __NV_NOSAT, cudaRoundNearest), y, x);
    rns.check(__nv_cvt_float2_to_ue5m3x2(pair, __NV_SATFINITE, cudaRoundNearest), y, x);
    rz.check(__nv_cvt_float2_to_ue5m3x2(pair, __NV_NOSAT, cudaRoundZero), y, x);
    rzs.check(__nv_cvt_float2_to_ue5m3x2(pair, __NV_SATFINITE, cudaRoundZero), y, x);
    rp.check(__nv_cvt_float2_to_ue5m3x2(pair, __NV_NOSAT, cudaRoundPosInf), y, x);
    rps.check(__nv_cvt_float2_to_ue5m3x2(pair, __NV_SATFINITE, cudaRoundPosInf), y, x);
  });
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const __half2_raw half =
        __nv_cvt_ue5m3x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(code));
    const __nv_bfloat162_raw wide =
        __nv_cvt_ue5m3x2_to_bf162raw(static_cast<__nv_fp8x2_storage_t>(code));
    f16.check(half.x | static_cast<uint32_t>(half.y) << 16, code);
    bf16.check(wide.x | static_cast<uint32_t>(wide.y) << 16, code);
  }
}
#endif

static void of_f16_and_bf16() {
  const cvt e4m3("cvt.rn.satfinite.e4m3x2.f16x2"), e5m2("cvt.rn.satfinite.e5m2x2.f16x2"),
      e2m3("cvt.rn.satfinite.e2m3x2.f16x2"), e2m1("cvt.rn.satfinite.e2m1x2.f16x2"),
      b4m3("cvt.rn.satfinite.e4m3x2.bf16x2"), b3m2("cvt.rn.satfinite.e3m2x2.bf16x2"),
      wide("cvt.f32.f16");
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const uint32_t other = code * 0x9e37 & 0xffff;
    __half2_raw pair;
    __nv_bfloat162_raw bpair;
    pair.x = bpair.x = static_cast<unsigned short>(code);
    pair.y = bpair.y = static_cast<unsigned short>(other);
    const uint32_t both = code | other << 16;
    e4m3.check(__nv_cvt_halfraw2_to_fp8x2(pair, __NV_SATFINITE, __NV_E4M3), both);
    e5m2.check(__nv_cvt_halfraw2_to_fp8x2(pair, __NV_SATFINITE, __NV_E5M2), both);
    e2m3.check(__nv_cvt_halfraw2_to_fp6x2(pair, __NV_E2M3, cudaRoundNearest), both);
    e2m1.check(__nv_cvt_halfraw2_to_fp4x2(pair, __NV_E2M1, cudaRoundNearest), both);
    b4m3.check(__nv_cvt_bfloat16raw2_to_fp8x2(bpair, __NV_SATFINITE, __NV_E4M3), both);
    b3m2.check(__nv_cvt_bfloat16raw2_to_fp6x2(bpair, __NV_E3M2, cudaRoundNearest), both);
    if ((code & 0x7fff) <= 0x7c00) {
      const float x = __half2float(__half(__half_raw{static_cast<unsigned short>(code)}));
      uint32_t bits;
      std::memcpy(&bits, &x, sizeof bits);
      wide.check(bits, code);
    }
  }
}

static void of_8_6_and_4_bits() {
  const cvt e4m3("cvt.rn.f16x2.e4m3x2"), e5m2("cvt.rn.f16x2.e5m2x2"),
      e2m3("cvt.rn.f16x2.e2m3x2"), e3m2("cvt.rn.f16x2.e3m2x2"),
      e2m1("cvt.rn.f16x2.e2m1x2");
  const auto both = [](__half2_raw pair) {
    return static_cast<uint32_t>(pair.x) | static_cast<uint32_t>(pair.y) << 16;
  };
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const auto narrow = static_cast<__nv_fp8x2_storage_t>(code);
    const auto six = static_cast<__nv_fp6x2_storage_t>(code & 0x3f3f);
    e4m3.check(both(__nv_cvt_fp8x2_to_halfraw2(narrow, __NV_E4M3)), code);
    e5m2.check(both(__nv_cvt_fp8x2_to_halfraw2(narrow, __NV_E5M2)), code);
    e2m3.check(both(__nv_cvt_fp6x2_to_halfraw2(six, __NV_E2M3)), code & 0x3f3f);
    e3m2.check(both(__nv_cvt_fp6x2_to_halfraw2(six, __NV_E3M2)), code & 0x3f3f);
    e2m1.check(both(__nv_cvt_fp4x2_to_halfraw2(
                   static_cast<__nv_fp4x2_storage_t>(code & 0xff), __NV_E2M1)),
               code & 0xff);
  }
}

int main(int argc, char **argv) {
  is_all = argc > 1 && std::strcmp(argv[1], "--all") == 0;
  TAP_RUN(to_16_bits);
  TAP_RUN(to_8_6_and_4_bits);
  TAP_RUN(to_ue8m0);
#if CUDART_VERSION >= 13040
  TAP_RUN(ue5m3);
#else
  TAP_SKIP("ue5m3", "CUDA's headers have it from 13.4 on");
#endif
  TAP_RUN(of_f16_and_bf16);
  TAP_RUN(of_8_6_and_4_bits);
  return tap_done();
}
