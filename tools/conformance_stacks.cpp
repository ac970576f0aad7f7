/* SPDX-License-Identifier: MIT */
/* Conversions of CUDA's headers, of x86 and of the compiler for tools/conformance: one
 * stack, named by STACK_, as a shared object. Bits go in and out, whatever the type. */
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

template <class To, class From> To bits_as(From from) {
  static_assert(sizeof(To) <= sizeof(From), "bits are cut off, not made up");
  To to;
  std::memcpy(&to, &from, sizeof to); /* little-endian, as all machines with these */
  return to;
}
template <class From> uint64_t bits_of(From from) {
  uint64_t to = 0;
  std::memcpy(&to, &from, sizeof from);
  return to;
}
[[maybe_unused]] float f32(uint64_t bits) { return bits_as<float>(bits); }
[[maybe_unused]] double f64(uint64_t bits) { return bits_as<double>(bits); }

struct conversion {
  const char *from, *to, *overflow, *rounding;
  uint64_t (*function)(uint64_t bits);
};

} // namespace

#define ROW(from, to, overflow, rounding, call)                             \
 {                                                                          \
  from, to, overflow, rounding, [](uint64_t x) -> uint64_t { return call; } \
 }

#if defined(STACK_cuda)
# include <cuda.h>
# include <cuda_bf16.h>
# include <cuda_fp16.h>
# include <cuda_fp4.h>
# include <cuda_fp6.h>
# include <cuda_fp8.h>

namespace {
__half_raw f16_raw(uint64_t bits) {
  __half_raw raw;
  raw.x = static_cast<unsigned short>(bits);
  return raw;
}
__nv_bfloat16_raw bf16_raw(uint64_t bits) {
  __nv_bfloat16_raw raw;
  raw.x = static_cast<unsigned short>(bits);
  return raw;
}
uint64_t f16_bits(__half x) { return __half_raw(x).x; }
uint64_t bf16_bits(__nv_bfloat16 x) { return __nv_bfloat16_raw(x).x; }

# define FP8(to, overflow, saturation, KIND)                      \
  ROW("f32", to, overflow, "nearest_even",                        \
      __nv_cvt_float_to_fp8(f32(x), saturation, KIND)),           \
      ROW("f64", to, overflow, "nearest_even",                    \
          __nv_cvt_double_to_fp8(f64(x), saturation, KIND)),      \
      ROW("f16", to, overflow, "nearest_even",                    \
          __nv_cvt_halfraw_to_fp8(f16_raw(x), saturation, KIND)), \
      ROW("bf16", to, overflow, "nearest_even",                   \
          __nv_cvt_bfloat16raw_to_fp8(bf16_raw(x), saturation, KIND))
# define SMALL(to, fp, KIND, rounding, MODE)                                             \
  ROW("f32", to, "saturate", rounding, __nv_cvt_float_to_##fp(f32(x), KIND, MODE)),      \
      ROW("f64", to, "saturate", rounding, __nv_cvt_double_to_##fp(f64(x), KIND, MODE)), \
      ROW("f16", to, "saturate", rounding,                                               \
          __nv_cvt_halfraw_to_##fp(f16_raw(x), KIND, MODE)),                             \
      ROW("bf16", to, "saturate", rounding,                                              \
          __nv_cvt_bfloat16raw_to_##fp(bf16_raw(x), KIND, MODE))
# define E8M0(overflow, saturation, rounding, MODE)           \
  ROW("f32", "e8m0", overflow, rounding,                      \
      __nv_cvt_float_to_e8m0(f32(x), saturation, MODE)),      \
      ROW("f64", "e8m0", overflow, rounding,                  \
          __nv_cvt_double_to_e8m0(f64(x), saturation, MODE)), \
      ROW("bf16", "e8m0", overflow, rounding,                 \
          __nv_cvt_bfloat16raw_to_e8m0(bf16_raw(x), saturation, MODE))

const conversion rows[] = {
    ROW("f32", "f16", "ieee", "nearest_even", f16_bits(__float2half_rn(f32(x)))),
    ROW("f32", "f16", "ieee", "toward_zero", f16_bits(__float2half_rz(f32(x)))),
    ROW("f32", "f16", "ieee", "up", f16_bits(__float2half_ru(f32(x)))),
    ROW("f32", "f16", "ieee", "down", f16_bits(__float2half_rd(f32(x)))),
    ROW("f64", "f16", "ieee", "nearest_even", f16_bits(__double2half(f64(x)))),
    ROW("f32", "bf16", "ieee", "nearest_even", bf16_bits(__float2bfloat16_rn(f32(x)))),
    ROW("f32", "bf16", "ieee", "toward_zero", bf16_bits(__float2bfloat16_rz(f32(x)))),
    ROW("f32", "bf16", "ieee", "up", bf16_bits(__float2bfloat16_ru(f32(x)))),
    ROW("f32", "bf16", "ieee", "down", bf16_bits(__float2bfloat16_rd(f32(x)))),
    ROW("f64", "bf16", "ieee", "nearest_even", bf16_bits(__double2bfloat16(f64(x)))),
    FP8("e4m3", "ieee", __NV_NOSAT, __NV_E4M3),
    FP8("e4m3", "saturate", __NV_SATFINITE, __NV_E4M3),
    FP8("e5m2", "ieee", __NV_NOSAT, __NV_E5M2),
    FP8("e5m2", "saturate", __NV_SATFINITE, __NV_E5M2),
    SMALL("e3m2", fp6, __NV_E3M2, "nearest_even", cudaRoundNearest),
    SMALL("e2m3", fp6, __NV_E2M3, "nearest_even", cudaRoundNearest),
    SMALL("e2m1", fp4, __NV_E2M1, "nearest_even", cudaRoundNearest),
    E8M0("ieee", __NV_NOSAT, "toward_zero", cudaRoundZero),
    E8M0("saturate", __NV_SATFINITE, "toward_zero", cudaRoundZero),
    E8M0("ieee", __NV_NOSAT, "up", cudaRoundPosInf),
    E8M0("saturate", __NV_SATFINITE, "up", cudaRoundPosInf),
};
const int numbers[] = {CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10};
} // namespace
#elif defined(STACK_f16c)
# include <immintrin.h>

# define F16(rounding, MODE)                                                            \
  ROW("f32", "f16", "ieee", rounding,                                                   \
      static_cast<uint64_t>(_mm_cvtsi128_si32(_mm_cvtps_ph(_mm_set_ss(f32(x)), MODE)) & \
                            0xffff))
namespace {
const conversion rows[] = {F16("nearest_even", _MM_FROUND_TO_NEAREST_INT),
                           F16("toward_zero", _MM_FROUND_TO_ZERO),
                           F16("up", _MM_FROUND_TO_POS_INF),
                           F16("down", _MM_FROUND_TO_NEG_INF)};
const int numbers[] = {0, 0};
} // namespace
#elif defined(STACK_compiler)
namespace {
const conversion rows[] = {
    ROW("f32", "f16", "ieee", "nearest_even", bits_of(static_cast<_Float16>(f32(x)))),
    ROW("f64", "f16", "ieee", "nearest_even", bits_of(static_cast<_Float16>(f64(x)))),
    ROW("f64", "f32", "ieee", "nearest_even", bits_of(static_cast<float>(f64(x)))),
# if defined(__BFLT16_MANT_DIG__) /* a type with arithmetic, and its functions in libgcc \
                                   */
    ROW("f32", "bf16", "ieee", "nearest_even", bits_of(static_cast<__bf16>(f32(x)))),
    ROW("f64", "bf16", "ieee", "nearest_even", bits_of(static_cast<__bf16>(f64(x)))),
# endif
};
# if defined(__clang__)
const int numbers[] = {__clang_major__, __clang_minor__};
# else
const int numbers[] = {__GNUC__, __GNUC_MINOR__};
# endif
} // namespace
#else
namespace {
const conversion rows[] = {{nullptr, nullptr, nullptr, nullptr, nullptr}};
const int numbers[] = {0, 0};
} // namespace
#endif

extern "C" {
extern const conversion *const stack_rows;
extern const size_t stack_count;
extern const int *const stack_version;
const conversion *const stack_rows = rows;
const size_t stack_count = sizeof rows / sizeof *rows;
const int *const stack_version = numbers;
}
