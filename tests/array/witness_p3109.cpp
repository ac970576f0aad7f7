// SPDX-License-Identifier: MIT
// p3109-cpp, a reference of report 3.2, beside ours where report 4.0 says the same: all
// but a negative number to an unsigned format without saturation. Built by
// witness_p3109.py.
#include "p3109.h" // of p3109-cpp

#include <mpnum/array/p3109.h>

#include <cmath>
#include <cstdio>
#include <initializer_list>

static long cases, wrong;

template <class Format, class Rounding, class Saturation>
static void compare(mpnum_format format, const char *rounding, const char *saturation,
                    double x, std::uint32_t random) {
  mpnum_p3109 to;
  std::uint64_t want = 0;
  if (!Format::is_signed && x < 0 && saturation[3] == 'N') return;
  if (mpnum_p3109_init(&to, "Binary8p4se", rounding, saturation) != MPNUM_OK)
    std::exit(2);
  to.format = format;
  if constexpr (requires { Rounding::bits; })
    want = p3109::ConvertFromIEEE754<Format>(
               x, p3109::ProjectionSpec<Rounding, Saturation>{{random}})
               .codepoint;
  else
    want = p3109::ConvertFromIEEE754<Format>(
               x, p3109::ProjectionSpec<Rounding, Saturation>{})
               .codepoint;
  const std::uint32_t got = mpnum_p3109_encode(to, x, random);
  ++cases;
  if (got != want && ++wrong <= 5)
    std::printf("# %s %s %s: %a is %x, not %llx\n", Format::name().c_str(), rounding,
                saturation, x, got, static_cast<unsigned long long>(want));
}
template <class Format, class Rounding>
static void saturations(mpnum_format format, const char *rounding, double x,
                        std::uint32_t random) {
  compare<Format, Rounding, p3109::SatFinite>(format, rounding, "SatFinite", x, random);
  if constexpr (Format::is_extended) { // it has no others for finite formats
    compare<Format, Rounding, p3109::SatPropagate>(format, rounding, "SatPropagate", x,
                                                   random);
    compare<Format, Rounding, p3109::OvfInf>(format, rounding, "SatNone", x, random);
  }
}
template <class Format> static void format() {
  using namespace p3109;
  mpnum_format format;
  if (mpnum_p3109_format(&format, Format::bitwidth, Format::precision, Format::is_signed,
                         Format::is_extended) != MPNUM_OK)
    std::exit(2);
  const std::uint32_t last = format.max_code + 1, step = last > 300 ? last / 150 : 1;
  for (std::uint32_t code = 0; code <= last;
       code += code + step > last && code < last ? last - code : step) {
    const double low = mpnum_decode_f64(format, code < last ? code : format.max_code);
    const double high = code + 1 < last ? mpnum_decode_f64(format, code + 1) : 2 * low;
    const double middle = (low + high) / 2,
                 part = low + (high - low) * (mpnum_random(1, code) >> 22) / 1024;
    for (const double size :
         {low, middle, std::nextafter(middle, 0), std::nextafter(middle, INFINITY),
          std::nextafter(high, 0), part})
      for (const double x : {size, -size}) {
        const std::uint32_t random = mpnum_random(2, code);
        saturations<Format, NearestTiesToEven>(format, "NearestTiesToEven", x, 0);
        saturations<Format, NearestTiesToAway>(format, "NearestTiesToAway", x, 0);
        saturations<Format, TowardZero>(format, "TowardZero", x, 0);
        saturations<Format, TowardPositive>(format, "TowardPositive", x, 0);
        saturations<Format, TowardNegative>(format, "TowardNegative", x, 0);
        saturations<Format, ToOdd>(format, "ToOdd", x, 0);
        saturations<Format, StochasticA<4>>(format, "StochasticA4", x, random & 15);
        saturations<Format, StochasticB<4>>(format, "StochasticB4", x, random & 15);
        saturations<Format, StochasticC<4>>(format, "StochasticC4", x, random & 15);
      }
  }
  for (const double x :
       {double(INFINITY), -double(INFINITY), double(NAN), 1e300, -1e300, 5e-324})
    saturations<Format, NearestTiesToEven>(format, "NearestTiesToEven", x, 0);
}
template <unsigned width, unsigned precision> static void formats() {
  using namespace p3109;
  format<binary<width, precision, Signedness::Signed, Domain::Extended>>();
  format<binary<width, precision, Signedness::Signed, Domain::Finite>>();
  format<binary<width, precision, Signedness::Unsigned, Domain::Extended>>();
  format<binary<width, precision, Signedness::Unsigned, Domain::Finite>>();
}

int main() {
  formats<3, 2>();
  formats<4, 2>();
  formats<6, 3>();
  formats<8, 3>();
  formats<8, 4>();
  formats<16, 11>();
  std::printf("%ld cases, %ld differ\n", cases, wrong);
  return wrong != 0 || cases < 10000;
}
