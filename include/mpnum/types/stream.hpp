/* SPDX-License-Identifier: MIT */
/* std::ostream and its like write the value of a storage struct as mpnum_print does: the
 * fewest digits that are read as the same code. Opt-in.
 *
 *     std::cout << std::setw(8) << mpnum_f32_to_e4m3(0.1f); // "     0.1"
 *
 * Width, fill and adjustment are the stream's; its precision and notation are for digits
 * of your choice: stream << mpnum_e4m3_to_f32(x). */
#ifndef MPNUM_TYPES_STREAM_HPP
#define MPNUM_TYPES_STREAM_HPP

#include "text.h"
#if !MPNUM_HAS_NVRTC_
# include <iosfwd>
#endif
MPNUM_C_BEGIN_

#if !MPNUM_HAS_NVRTC_

# define MPNUM_STREAM_(name, NAME, ...)                                                  \
  template <class Char, class Traits>                                                    \
  std::basic_ostream<Char, Traits> &operator<<(std::basic_ostream<Char, Traits> &stream, \
                                               mpnum_##name x) {                         \
   char text[MPNUM_TEXT_SIZE];                                                           \
   mpnum_print(text, sizeof text, mpnum_format_of(MPNUM_TYPE_##NAME), x.bits);           \
   return stream << static_cast<const char *>(text);                                     \
  }
MPNUM_FORMATS(MPNUM_STREAM_)
# undef MPNUM_STREAM_
#endif

MPNUM_C_END_
#endif
