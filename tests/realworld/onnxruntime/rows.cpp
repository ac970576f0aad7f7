/* SPDX-License-Identifier: MIT */
#include "core/common/float8.h"
#include "core/framework/float4.h"

#include <cstdint>

using namespace onnxruntime;

template <class T, class... Options>
static void encode(const float *x, uint8_t *y, int64_t n, Options... options) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = T(x[i], options...).val;
}
#define TYPE(NAME, T)                                                         \
 extern "C" void NAME##_sat_row(const float *x, uint8_t *y, int64_t n) {      \
  encode<T>(x, y, n, true);                                                   \
 }                                                                            \
 extern "C" void NAME##_row(const float *x, uint8_t *y, int64_t n) {          \
  encode<T>(x, y, n, false);                                                  \
 }                                                                            \
 extern "C" void NAME##_to_float_row(const uint8_t *x, float *y, int64_t n) { \
  for (int64_t i = 0; i < n; ++i)                                             \
   y[i] = T(x[i], T::FromBits()).ToFloat();                                   \
 }
TYPE(e4m3fn, Float8E4M3FN)
TYPE(e4m3fnuz, Float8E4M3FNUZ)
TYPE(e5m2, Float8E5M2)
TYPE(e5m2fnuz, Float8E5M2FNUZ)
TYPE(e8m0, Float8E8M0)
extern "C" void e8m0_nearest_sat_row(const float *x, uint8_t *y, int64_t n) {
  encode<Float8E8M0>(x, y, n, true, Float8E8M0::RoundMode::Nearest);
}
extern "C" void e8m0_nearest_row(const float *x, uint8_t *y, int64_t n) {
  encode<Float8E8M0>(x, y, n, false, Float8E8M0::RoundMode::Nearest);
}
extern "C" void e8m0_down_row(const float *x, uint8_t *y, int64_t n) {
  encode<Float8E8M0>(x, y, n, false, Float8E8M0::RoundMode::Down);
}
extern "C" void e2m1_row(const float *x, uint8_t *y, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = Float4E2M1x2(x[i], 0).ToBits();
}
extern "C" void e2m1_to_float_row(const uint8_t *x, float *y, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = Float4E2M1x2(x[i], Float4E2M1x2::FromBits()).ToFloat2().second;
}
