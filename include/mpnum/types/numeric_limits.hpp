/* SPDX-License-Identifier: MIT */
/* std::numeric_limits of the storage structs, and cuda::std::numeric_limits from C++17 on
 * where <cuda/std/limits> is found: for code that is written for any type. Opt-in.
 *
 *     static_assert(std::numeric_limits<mpnum_e4m3>::max_exponent == 9, "");
 *
 * What mpnum::numeric_limits says, and the two members whose types are the library's. */
#ifndef MPNUM_TYPES_NUMERIC_LIMITS_HPP
#define MPNUM_TYPES_NUMERIC_LIMITS_HPP

#include "../mpnum.hpp"
#if !MPNUM_HAS_NVRTC_
# include <limits>
#endif
#if __cplusplus >= 201703L && defined(__has_include)
# if __has_include(<cuda/std/limits>)
#  include <cuda/std/limits>
#  define MPNUM_HAS_CUDA_STD_ 1
# endif
#endif
MPNUM_C_BEGIN_
/* float_denorm_style is, from C++23 on. */
#if MPNUM_HAS_GNU_
# pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

#ifndef MPNUM_HAS_CUDA_STD_
# define MPNUM_HAS_CUDA_STD_ 0
#endif

namespace mpnum {

/* Conversions round to nearest where nothing else is said. */
template <class T, class RoundStyle, class DenormStyle>
class standard_limits_ : public numeric_limits<T> {
public:
  static constexpr RoundStyle round_style = RoundStyle::round_to_nearest;
  static constexpr DenormStyle has_denorm = numeric_limits<T>::has_denorm
                                                ? DenormStyle::denorm_present
                                                : DenormStyle::denorm_absent;
};
#if __cplusplus < 201703L
template <class T, class RoundStyle, class DenormStyle>
constexpr RoundStyle standard_limits_<T, RoundStyle, DenormStyle>::round_style;
template <class T, class RoundStyle, class DenormStyle>
constexpr DenormStyle standard_limits_<T, RoundStyle, DenormStyle>::has_denorm;
#endif

} // namespace mpnum

#define MPNUM_STANDARD_LIMITS_(name, ...)                              \
 template <>                                                           \
 class numeric_limits<mpnum_##name>                                    \
     : public mpnum::standard_limits_<mpnum_##name, float_round_style, \
                                      float_denorm_style> {};
#if !MPNUM_HAS_NVRTC_
namespace std {
MPNUM_FORMATS(MPNUM_STANDARD_LIMITS_)
} // namespace std
#endif
#if MPNUM_HAS_CUDA_STD_
namespace cuda {
namespace std {
MPNUM_FORMATS(MPNUM_STANDARD_LIMITS_)
} // namespace std
} // namespace cuda
#endif
#undef MPNUM_STANDARD_LIMITS_

MPNUM_C_END_
#endif
