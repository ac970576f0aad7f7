# SPDX-License-Identifier: MIT
"""Conversions of arrays (array.h), and the list of them for tests and benchmark."""

import re
from string import Template

from .layout import fill, sections
from .table import OVERFLOWS, x_macro

# Formats with loops of their own, from f32 and to f32; the others take the loop of bytes or, where it does not serve,
# that of any format (byte_loop).
OWN_ENCODE = ("tf32", "bf16", "f16", "e8m0")
OWN_DECODE = ("tf32", "bf16", "f16", "e8m0", "e5m2fnuz")
NARROW = """\
MPNUM_HOST void mpnum_${src}_to_$T${suffix}_array($dst *dst, const $real *src, size_t n) {
  $loop(${arguments}MPNUM_OVERFLOW_$OVERFLOW, dst, src, n);
}
"""
WIDEN = """\
MPNUM_HOST void mpnum_${T}_to_f32_array(float *dst, const $src *src, size_t n) {
  $loop(${arguments}dst, src, n);
}
"""
STOCHASTIC = """\
MPNUM_HOST void mpnum_f32_to_${T}_sr${suffix}_array(mpnum_$T *dst, const float *src, size_t n, uint64_t seed, \
uint64_t offset) {
  mpnum_stochastic_array_(MPNUM_TYPE_$NAME, MPNUM_OVERFLOW_$OVERFLOW, dst, src, n, seed, offset);
}
"""


class Conversion:
    """A function of array.h: mpnum_<src>_to_<dst><suffix>_array. A type may be a dense one, e2m1x2."""

    def __init__(self, src, dst, suffix, text):
        self.src, self.dst, self.suffix, self.text = src, dst, suffix, text
        self.name = f"mpnum_{src}_to_{dst}{suffix}_array"

    def row(self):
        """What the tests and the benchmark enumerate."""
        if self.dst == "f32" and self.src != "f64":
            src = element(self.src)
            return f"WIDEN({self.name}, {self.src}, mpnum_{src}_to_f32, mpnum_from_bits_{src})"
        scalar = f"mpnum_{'f64' if self.src == 'f64' else 'f32'}_to_{element(self.dst)}{self.suffix}"
        if self.dst == "f32":
            return f"TO_F32({self.name}, {scalar})"
        if self.suffix.startswith("_sr"):
            return f"STOCHASTIC({self.name}, {self.dst}, {scalar})"
        return f"NARROW({self.name}, {self.src}, {self.dst}, {scalar})"


def element(name):
    """e2m1 of e2m1x2."""
    return re.sub(r"x\d$", "", name)


def storage(name):
    return {"f32": "float", "f64": "double"}.get(name, f"mpnum_{name}")


def narrow(src, dst, loop, *arguments, overflows=OVERFLOWS):
    return [Conversion(src, dst, suffix,
                       fill(NARROW, src=src, T=dst, suffix=suffix, dst=storage(dst), real=storage(src), loop=loop,
                            arguments="".join(f"{argument}, " for argument in arguments), OVERFLOW=overflow))
            for suffix, overflow in overflows]


def widen(src, loop, *arguments):
    return Conversion(src, "f32", "", fill(WIDEN, T=src, src=storage(src), loop=loop,
                                           arguments="".join(f"{argument}, " for argument in arguments)))


def codes(f, is_dense):
    """The arguments of the loops of bytes: a format and the bits that one code takes."""
    return f"MPNUM_TYPE_{f.NAME}", str(f.width if is_dense else f.bits)


def byte_loop(f, way):
    """The loop of a format without one of its own. codings.h has what the loops of bytes take (has_byte_blocks,
    has_byte_decoding) and takes codes one by one where this here is wrong: it is about speed."""
    is_f16_half = (f.exponent_bits, f.mantissa_bits, f.bias, f.specials) == (5, 2, 15, "IEEE")
    serves = f.mantissa_bits > 0 if way == "encode" else f.exponent_bits <= 4 or is_f16_half
    return f"mpnum_{way}_{'bytes' if f.bits == 8 and serves else 'any'}_"


def array_conversions(rows):
    """[(first comment, its conversions)]"""
    small, dense = [f for f in rows if f.bits == 8 and f.is_main], [f for f in rows if f.dense]
    encode, decode, packed, halves, doubles = [], [], [], [], []
    for f in (f for f in rows if not (f.dense and f.specials == "FINITE")):  # those are packed
        encode += (narrow("f32", f.name, f"mpnum_encode_{f.name}_") if f.name in OWN_ENCODE else
                   narrow("f32", f.name, byte_loop(f, "encode"), *codes(f, False), overflows=f.overflows))
        decode.append(widen(f.name, f"mpnum_decode_{f.name}_") if f.name in OWN_DECODE else
                      widen(f.name, byte_loop(f, "decode"), *codes(f, False)))
    for f in dense:
        packed += narrow("f32", f.dense, "mpnum_encode_bytes_", *codes(f, True), overflows=f.overflows)
        packed.append(widen(f.dense, "mpnum_decode_bytes_", *codes(f, True)))
    for src in ("f16", "bf16"):
        for f, is_dense in [(f, False) for f in small] + [(f, True) for f in dense]:
            halves += narrow(src, f.dense if is_dense else f.name, "mpnum_encode_bytes16_", f"MPNUM_TYPE_{src.upper()}",
                             *codes(f, is_dense), overflows=f.overflows)
    doubles += narrow("f64", "f32", "mpnum_encode_f64_f32_", overflows=OVERFLOWS[:1])
    for dst in ("bf16", "f16"):
        doubles += narrow("f64", dst, "mpnum_encode_f64_16_", f"MPNUM_TYPE_{dst.upper()}")
    return [("f32 to a small type, nearest even; overflow as in IEEE 754, or saturating (_sat).\n * To e3m2, e2m3 and e2m1 of a byte each, and back, mpnum_convert_array.", encode),
            ("A small type to f32, exact.", decode),
            ("Where several codes are packed, element 0 in the lowest bits: two e2m1 in a\n * byte, four e3m2 "
             "or e2m3 in three bytes. n counts elements; codes past the last one are\n * 0 in dst.", packed),
            ("f16 and bf16 to types of 8 bits and fewer, rounded once; to others mpnum_convert_array.", halves),
            ("f64 to narrower types, rounded once.", doubles)]


def stochastic_conversions(rows):
    return [Conversion("f32", f.name, f"_sr{suffix}",
                       fill(STOCHASTIC, T=f.name, NAME=f.NAME, suffix=suffix, OVERFLOW=overflow))
            for f in rows if f.is_main for suffix, overflow in f.overflows]


def conversions_text(rows):
    return sections([(words, [one.text for one in group]) for words, group in array_conversions(rows)])


def stochastic_text(rows):
    return "".join(one.text for one in stochastic_conversions(rows))


TYPES = """\
/* TYPE(name, its format, the bits that an element takes, those of a code) */
#define ARRAY_TYPES(TYPE)$types

"""
LISTS = """\
/* One function for each pair of types: of the two overflows the one used most, IEEE for
 * tf32, bf16 and f16, saturating for narrower types. Then the others.
 * NARROW(array function, source, result, scalar function of the value)
 * TO_F32(array function, scalar function of the double)
 * WIDEN(array function, source, scalar function, its argument from a word) */
#define ARRAY_CONVERSIONS(NARROW, TO_F32, WIDEN)$first
#define ARRAY_CONVERSIONS_TOO(NARROW, TO_F32)$second

/* STOCHASTIC(array function, result, scalar function) */
#define ARRAY_STOCHASTIC(STOCHASTIC)$stochastic
"""


def lists_text(rows):
    """The X-macros of all conversions of arrays, for whoever enumerates them."""
    groups = [one for _, group in array_conversions(rows) for one in group]
    wide = [f.name for f in rows if f.bits > 8] + ["f32"]
    first = [one for one in groups if one.suffix == ("" if one.dst in wide else "_sat")]
    order = ["f32", "small", "f16", "bf16", "f64"]
    first.sort(key=lambda one: order.index("small" if one.dst == "f32" and one.src != "f64" else one.src))
    types = [f"TYPE({f.name}, {f.NAME}, {f.bits}, {f.width})" for f in rows]
    types += [f"TYPE({f.dense}, {f.NAME}, {f.width}, {f.width})" for f in rows if f.dense]
    return (Template(TYPES).substitute(types=x_macro(types)) +
            Template(LISTS).substitute(first=x_macro(one.row() for one in first),
                                       second=x_macro(one.row() for one in groups if one not in first),
                                       stochastic=x_macro(one.row() for one in stochastic_conversions(rows))))
