/* SPDX-License-Identifier: MIT */
/* std::format of the storage structs, in C++20 where the library has it. Opt-in, as
 * <format> takes a compiler long.
 *
 *     std::format("{} {:6} {:.3f}", x, x, x) // x of 0.1 in e4m3: "0.1    0.1 0.102"
 *
 * Specifications are those of float. Without a precision and a type the digits are
 * mpnum_print's, the fewest that are read as the same code; with one those of the value.
 */
#ifndef MPNUM_TYPES_FORMATTER_HPP
#define MPNUM_TYPES_FORMATTER_HPP

#include "text.h"
#if __cplusplus >= 202002L && defined(__has_include)
# if __has_include(<format>)
#  include <format>
# endif
#endif
MPNUM_C_BEGIN_

#if defined(__cpp_lib_format)

template <mpnum_type type, class Char>
struct mpnum_formatter_ : std::formatter<float, Char> {
  bool is_exact = false;

  template <class Context> constexpr auto(parse)(Context &context) {
    const auto begin = context.begin();
    const auto end = (std::formatter<float, Char>::parse)(context);
    for (auto at = begin; at != end; ++at) {
      const Char next = at + 1 == end ? Char(0) : at[1];
      const bool is_fill = at == begin && (next == '<' || next == '>' || next == '^');
      const bool is_type = next == 0 && (*at | 0x20) >= 'a' && (*at | 0x20) <= 'g';
      is_exact |= !is_fill && (*at == '.' || is_type);
    }
    return end;
  }

  template <class Code, class Context> auto(format)(Code x, Context &context) const {
    const mpnum_format format = mpnum_format_of(type);
    char text[MPNUM_TEXT_SIZE];
    uint32_t code = 0;
    if (is_exact ||
        mpnum_parse(&code, mpnum_format_of(MPNUM_TYPE_F32), text,
                    mpnum_print(text, sizeof text, format, x.bits),
                    MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE) != MPNUM_OK)
      code = mpnum_bits_f32(mpnum_decode(format, x.bits));
    return (std::formatter<float, Char>::format)(mpnum_from_bits_f32(code), context);
  }
};
# define MPNUM_FORMATTER_(name, NAME, ...)  \
  template <class Char>                     \
  struct std::formatter<mpnum_##name, Char> \
      : mpnum_formatter_<MPNUM_TYPE_##NAME, Char> {};
MPNUM_FORMATS(MPNUM_FORMATTER_)
# undef MPNUM_FORMATTER_

#endif

MPNUM_C_END_
#endif
