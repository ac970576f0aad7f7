# SPDX-License-Identifier: MIT
"""The functions of one format: its header."""

import os
from string import Template

from .layout import fill, lines

# What instructions of GPUs do; the rest is the integer core. {format: (macro, condition, value)}
HARDWARE_ROUND = {
    "f16": ("F16", "rounding <= MPNUM_ROUND_DOWN", "mpnum_cvt_f16_(x, rounding, overflow)"),
    "bf16": ("BF16", "rounding <= MPNUM_ROUND_TOWARD_ZERO", "mpnum_cvt_bf16_(x, rounding, overflow)"),
    "tf32": ("TF32_RNA", "rounding == MPNUM_ROUND_NEAREST_AWAY ||\n      (MPNUM_HAS_HW_TF32_ && rounding <= "
             "MPNUM_ROUND_TOWARD_ZERO)", "mpnum_cvt_tf32_(x, rounding, overflow)"),
    "e5m2": ("FP8", "rounding == MPNUM_ROUND_NEAREST_EVEN", "mpnum_cvt_e5m2x2_(x, 0.0f, overflow) & 0xffu"),
    "e4m3": ("FP8", "rounding == MPNUM_ROUND_NEAREST_EVEN", "mpnum_cvt_e4m3x2_(x, 0.0f, overflow) & 0xffu"),
    "e8m0": ("E8M0", "rounding == MPNUM_ROUND_UP || rounding == MPNUM_ROUND_TOWARD_ZERO",
             "mpnum_cvt_e8m0x2_(x, 0.0f, rounding, overflow) & 0xffu"),
    "e3m2": ("FP6", "rounding == MPNUM_ROUND_NEAREST_EVEN", "mpnum_cvt_e3m2x2_(x, 0.0f) & 0xffu"),
    "e2m3": ("FP6", "rounding == MPNUM_ROUND_NEAREST_EVEN", "mpnum_cvt_e2m3x2_(x, 0.0f) & 0xffu"),
    "e2m1": ("FP4", "rounding == MPNUM_ROUND_NEAREST_EVEN", "mpnum_cvt_e2m1x2_(x, 0.0f)"),
}
HARDWARE_ROUND_F64 = {
    "bf16": ("BF16_F64", "rounding == MPNUM_ROUND_NEAREST_EVEN", "mpnum_cvt_f64_to_bf16_(x, overflow)"),
}
# Formats whose pairs go through pairs of f16, exactly.
HARDWARE_HALVES = {"e5m2": "FP8", "e4m3": "FP8", "e3m2": "FP6", "e2m3": "FP6", "e2m1": "FP4"}
# To pairs: {format: (macro, the call with its mode)}.
HARDWARE_PAIRS = {
    **{name: (macro, {"": f"mpnum_cvt_{name}x2_(a, b, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE)",
                      "_sat": f"mpnum_cvt_{name}x2_(a, b, MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE)"})
       for name, macro in (("f16", "F16X2"), ("bf16", "BF16"))},
    "e8m0": ("E8M0", {"_ru_sat": "mpnum_cvt_e8m0x2_(a, b, MPNUM_ROUND_UP, MPNUM_OVERFLOW_SATURATE)",
                      "_rz_sat": "mpnum_cvt_e8m0x2_(a, b, MPNUM_ROUND_TOWARD_ZERO, MPNUM_OVERFLOW_SATURATE)"}),
    **{name: ("FP8", {"": f"mpnum_cvt_{name}x2_(a, b, MPNUM_OVERFLOW_IEEE)",
                      "_sat": f"mpnum_cvt_{name}x2_(a, b, MPNUM_OVERFLOW_SATURATE)"}) for name in ("e5m2", "e4m3")},
    **{name: (macro, {"_sat": f"mpnum_cvt_{name}x2_(a, b)"})
       for name, macro in (("e3m2", "FP6"), ("e2m3", "FP6"), ("e2m1", "FP4"))},
}

ROUNDING_WORDS = {"rz": ("TOWARD_ZERO", "toward zero"), "ru": ("UP", "up"), "rna": ("NEAREST_AWAY", "nearest away")}

HEADER = """\
/* SPDX-License-Identifier: MIT */
/* $T: $width bits, of them $exponent of exponent and $mantissa of mantissa, bias $bias. */
#ifndef MPNUM_TYPES_${NAME}_H
#define MPNUM_TYPES_${NAME}_H

#include "$query"

$place
#endif
"""
FROM_BITS = """
/* The value of a code. */
MPNUM_INLINE mpnum_$T mpnum_from_bits_$T(uint32_t code) {
  const mpnum_$T x = {$code};
  return x;
}

"""
CONVERT_ROUND = """\
MPNUM_INLINE mpnum_$T mpnum_${src}_to_${T}_round($real x, mpnum_rounding rounding, mpnum_overflow overflow, \
uint32_t random) {
${hardware}  return mpnum_from_bits_$T(mpnum_encode$suffix(mpnum_format_of(MPNUM_TYPE_$NAME), x, rounding, overflow, \
random));
}
"""
CONVERT = """\
MPNUM_INLINE mpnum_$T mpnum_${src}_to_$T$suffix($real x) {
  return mpnum_${src}_to_${T}_round(x, MPNUM_ROUND_$ROUNDING, MPNUM_OVERFLOW_$OVERFLOW, 0);
}
"""
CONVERT_SR = """\
MPNUM_INLINE mpnum_$T mpnum_f32_to_${T}_sr$suffix(float x, uint32_t random) {
  return mpnum_f32_to_${T}_round(x, MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_$OVERFLOW, random);
}
"""
TO_F32 = """\
MPNUM_INLINE float mpnum_${T}_to_f32(mpnum_$T x) {
$body}
"""
TO_F64 = """\
MPNUM_INLINE double mpnum_${T}_to_f64(mpnum_$T x) {
  return mpnum_decode_f64(mpnum_format_of(MPNUM_TYPE_$NAME), x.bits);
}
"""
QUERIES = """
/* Queries, as in query.h, where others take mpnum_format_of(MPNUM_TYPE_$NAME). */
""" + "".join(f"""\
MPNUM_INLINE int mpnum_{query}_$T(mpnum_$T x) {{
  return mpnum_{query}(mpnum_format_of(MPNUM_TYPE_$NAME), x.bits);
}}
""" for query in ("isnan", "isinf", "isfinite")) + """\
MPNUM_INLINE mpnum_$T mpnum_next_up_$T(mpnum_$T x) {
  return mpnum_from_bits_$T(mpnum_next_up(mpnum_format_of(MPNUM_TYPE_$NAME), x.bits));
}
MPNUM_INLINE mpnum_$T mpnum_next_down_$T(mpnum_$T x) {
  return mpnum_from_bits_$T(mpnum_next_down(mpnum_format_of(MPNUM_TYPE_$NAME), x.bits));
}
MPNUM_INLINE float mpnum_ulp_$T(mpnum_$T x) {
  return mpnum_ulp(mpnum_format_of(MPNUM_TYPE_$NAME), x.bits);
}
"""

STRUCT = """\
typedef struct mpnum_${T}x$count {
  uint${bits}_t bits;
} mpnum_${T}x$count;
"""
PACK = """
/* Elements in order. */
MPNUM_INLINE mpnum_${T}x$count mpnum_pack_${T}_x$count($parameters) {
  const mpnum_${T}x$count packed = {$packed};
  return packed;
}
/* Element index, 0 to $last. */
MPNUM_INLINE mpnum_$T mpnum_unpack_${T}_x$count(mpnum_${T}x$count packed, int index) {
  return mpnum_from_bits_$T((uint32_t)packed.bits >> (index * $step) & $mask);
}
"""
DENSE = """
/* Dense: four codes in three bytes, little end first: element i is bits 6i to 6i + 5. */
typedef struct mpnum_${T}x4 {
  uint8_t bytes[3];
} mpnum_${T}x4;
MPNUM_INLINE mpnum_${T}x4 mpnum_pack_${T}_x4(mpnum_$T a, mpnum_$T b, mpnum_$T c, mpnum_$T d) {
  const uint32_t word = (a.bits & 0x3fu) | (b.bits & 0x3fu) << 6 |
                        (c.bits & 0x3fu) << 12 | (d.bits & 0x3fu) << 18;
  const mpnum_${T}x4 packed = {
      {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16)}};
  return packed;
}
/* Element index, 0 to 3. */
MPNUM_INLINE mpnum_$T mpnum_unpack_${T}_x4(mpnum_${T}x4 packed, int index) {
  const uint32_t word =
      packed.bytes[0] | (uint32_t)packed.bytes[1] << 8 | (uint32_t)packed.bytes[2] << 16;
  return mpnum_from_bits_$T(word >> (index * 6) & 0x3fu);
}
"""
PACKED_CONVERSIONS = "/* From f32 and to it, each element as alone. */\n"
TO_PACKED = """\
MPNUM_INLINE mpnum_${T}x$count mpnum_f32_to_$T${mode}_x$count($parameters) {
$body}
"""
TO_PACKED_CORE = "  return mpnum_pack_${T}_x$count($values);\n"
TO_PAIR_HARDWARE = """\
  const mpnum_${T}x2 packed = {$cast$call};
  return packed;
"""
TO_FOUR_HARDWARE = """\
  const mpnum_${T}x4 packed = {(uint16_t)mpnum_cvt_${T}x4_(a, b, c, d)};
  return packed;
"""
TO_FOUR_BY_PAIRS = """\
  const mpnum_${T}x2 low = mpnum_f32_to_$T${mode}_x2(a, b);
  const mpnum_${T}x2 high = mpnum_f32_to_$T${mode}_x2(c, d);
  const mpnum_${T}x4 packed = {$packed};
  return packed;
"""
FROM_PACKED = """\
MPNUM_INLINE mpnum_f32x$count mpnum_${T}_to_f32_x$count(mpnum_${T}x$count packed) {
$body}
"""
FROM_PACKED_CORE = """\
  const mpnum_f32x$count values = {$values};
  return values;
"""
FROM_PAIR_HARDWARE = """\
  const uint32_t f16_codes = mpnum_cvt_${T}x2_to_f16x2_(packed.bits);
  const mpnum_f32x2 values = {mpnum_cvt_f16_to_f32_(f16_codes & 0xffffu), mpnum_cvt_f16_to_f32_(f16_codes >> 16)};
  return values;
"""
FROM_FOUR_BY_PAIRS = """\
  const mpnum_${T}x2 low_half = {$low};
  const mpnum_${T}x2 high_half = {$high};
  const mpnum_f32x2 low = mpnum_${T}_to_f32_x2(low_half);
  const mpnum_f32x2 high = mpnum_${T}_to_f32_x2(high_half);
  const mpnum_f32x4 values = {low.x, low.y, high.x, high.y};
  return values;
"""
F16_PAIRS = """
/* From and to two f16: rounded once, and exact. */
""" + "".join(f"""\
MPNUM_INLINE mpnum_${{T}}x2 mpnum_f16_to_${{T}}{mode}_x2(mpnum_f16x2 values) {{
#if MPNUM_HAS_HW_FP8_
  const mpnum_${{T}}x2 packed = {{(uint16_t)mpnum_cvt_f16x2_to_${{T}}x2_(values.bits, MPNUM_OVERFLOW_{overflow})}};
  return packed;
#else
  const mpnum_f32x2 wide = mpnum_f16_to_f32_x2(values);
  return mpnum_f32_to_${{T}}{mode}_x2(wide.x, wide.y);
#endif
}}
""" for mode, overflow in (("", "IEEE"), ("_sat", "SATURATE"))) + """\
MPNUM_INLINE mpnum_f16x2 mpnum_${T}_to_f16_x2(mpnum_${T}x2 packed) {
#if MPNUM_HAS_HW_FP8_
  const mpnum_f16x2 values = {mpnum_cvt_${T}x2_to_f16x2_(packed.bits)};
  return values;
#else
  const mpnum_f32x2 wide = mpnum_${T}_to_f32_x2(packed);
  return mpnum_f32_to_f16_x2(wide.x, wide.y);
#endif
}
"""


def new_header(f, place):
    return Template(HEADER).substitute(f.words, place=place, width=f.width, exponent=f.exponent_bits,
                                       mantissa=f.mantissa_bits, bias=f.bias,
                                       query=os.path.join(os.pardir, "core", "query.h"))


def text(f):
    """All that a format's header has behind its first comment and includes."""
    out = ["/* Limits, as in <float.h>. */\n", "".join(f"#define MPNUM_{f.NAME}_{word:{8 if f.is_main else 0}} {value}\n" for word, value in f.limits().items()),
           fill(FROM_BITS, f.words, code="code" if f.bits == 32 else f"(uint{f.bits}_t)code"),
           from_floats(f), to_floats(f)]
    if f.has_queries:
        out.append(fill(QUERIES, f.words))
    else:
        names = "mpnum_isnan and its" if f.is_main else "mpnum_encode_f64, mpnum_decode_f64, mpnum_isnan and their"
        out.append(fill("\n/* $what: $names like take mpnum_format_of(MPNUM_TYPE_$NAME). */\n", f.words, names=names,
                        what="Queries" if f.is_main else "Doubles and queries"))
    return "".join(out + (packed(f) if f.packed else []))


def sources(f):
    """(name, C type, suffix of the encoder, instructions)"""
    return [("f32", "float", "", HARDWARE_ROUND)] + [("f64", "double", "_f64", HARDWARE_ROUND_F64)] * f.is_main


def from_floats(f):
    modes = ["nearest even without suffix", *(f"{ROUNDING_WORDS[mode][1]} (_{mode})" for mode in f.roundings)]
    if f.is_main:
        modes += ["stochastic (_sr; random as in mpnum_encode)", "or the mode given (_round)."]
    else:
        modes.append("or the mode given (_round; random as in mpnum_encode).")
    overflow = "_sat saturates; the other forms overflow as IEEE 754 has it for the mode"
    overflow += ". NaN: canonical." if f.specials == "IEEE" else ", NaN standing in for Inf."
    if f.specials == "FINITE":
        overflow = "All forms saturate; the overflow argument is ignored."
    out = [lines(f"/* From {and_f64(f)}, rounded once: {', '.join(modes)} {overflow} */\n")]
    for src, real, suffix, instructions in sources(f):
        hardware = ""
        if f.name in instructions:
            macro, condition, value = instructions[f.name]
            hardware = (f"#if MPNUM_HAS_HW_{macro}_\n  if ({condition})\n    return mpnum_from_bits_{f.name}({value});\n"
                        "#endif\n")
        out.append(fill(CONVERT_ROUND, f.words, src=src, real=real, suffix=suffix, hardware=hardware))
    forms = [(src, real, "") for src, real, _, _ in sources(f)] + [("f32", "float", mode) for mode in f.roundings]
    for src, real, mode in forms:
        for suffix, overflow in f.overflows:
            out.append(fill(CONVERT, f.words, src=src, real=real, suffix=(f"_{mode}" if mode else "") + suffix,
                            ROUNDING=ROUNDING_WORDS[mode][0] if mode else "NEAREST_EVEN", OVERFLOW=overflow))
    if f.is_main:
        out += [fill(CONVERT_SR, f.words, suffix=suffix, OVERFLOW=overflow) for suffix, overflow in f.overflows]
    return "".join(out)


def to_floats(f):
    nan = ""
    if f.exponent_bits == 8 and f.sign_bits:
        nan = " NaN: to f32 sign and payload are kept, to f64 it is canonical."
    elif f.specials != "FINITE":
        nan = f" NaN: canonical, 0x7fffffff{' and 0x7fffffffffffffff' * f.is_main}."
    macro, value = HARDWARE_HALVES.get(f.name), "mpnum_cvt_${T}x2_to_f16x2_(x.bits) & 0xffffu"
    if f.name == "f16":
        macro, value = "F16", "x.bits"
    body = leaf("  return mpnum_decode(mpnum_format_of(MPNUM_TYPE_$NAME), x.bits);\n",
                macro, f"  return mpnum_cvt_f16_to_f32_({value});\n")
    return (lines(f"\n/* To {and_f64(f)}, exact.{nan} */\n") + fill(TO_F32.replace("$body", body), f.words) +
            (fill(TO_F64, f.words) if f.is_main else ""))


def and_f64(f):
    return "f32 and f64" if f.is_main else "f32"


def leaf(core, macro, hardware):
    """The body of a function that an instruction can do."""
    return f"#if MPNUM_HAS_HW_{macro}_\n{hardware}#else\n{core}#endif\n" if macro else core


def packed(f):
    """The types of two and four codes in one, and their conversions."""
    two, four = f.packed[2], f.packed.get(4)
    is_dense = four == 6
    four_by_pairs = f.name in HARDWARE_HALVES and not is_dense  # where pairs have an instruction
    modes = ["_ru_sat", "_rz_sat"] if f.name == "e8m0" else [suffix for suffix, _ in f.overflows]
    macro, calls = HARDWARE_PAIRS.get(f.name, ("", {}))
    cast = "" if two == 16 else f"(uint{2 * two}_t)"
    out = [lines(f"\n/* {packed_words(f)} */\n"), fill(STRUCT, f.words, count=2, bits=2 * two)]
    if four and not is_dense:
        out.append(fill(STRUCT, f.words, count=4, bits=4 * four))
    out.append(pack(f, 2, two))
    out.append(PACKED_CONVERSIONS)
    for mode in modes:
        hardware = mode in calls and Template(TO_PAIR_HARDWARE).safe_substitute(cast=cast, call=calls[mode])
        out.append(to_packed(f, 2, mode, leaf(TO_PACKED_CORE, macro * (mode in calls), hardware)))
    out.append(from_packed(f, 2, leaf(FROM_PACKED_CORE, HARDWARE_HALVES.get(f.name), FROM_PAIR_HARDWARE)))
    if macro == "FP8":
        out.append(fill(F16_PAIRS, f.words))
    if not four:
        return out
    out.append(fill(DENSE, f.words) if is_dense else pack(f, 4, four))
    joined = f"low.bits | (uint32_t)high.bits << {2 * two}"
    out.append(PACKED_CONVERSIONS)
    for mode in modes:
        by_pairs = leaf(TO_FOUR_BY_PAIRS, macro * (f.width == 4), TO_FOUR_HARDWARE)
        out.append(to_packed(f, 4, mode, by_pairs if four_by_pairs else TO_PACKED_CORE,
                             packed=joined if four == 8 else f"(uint{4 * four}_t)({joined})"))
    low = "packed.bits" if four == 8 else "(packed.bits & 0xffu)"
    out.append(from_packed(f, 4, FROM_FOUR_BY_PAIRS if four_by_pairs else FROM_PACKED_CORE,
                           low=cast + low, high=f"{cast}(packed.bits >> {2 * two})"))
    return out


def packed_words(f):
    if f.bits == 16:
        return "Two in a word, element 0 in the low half."
    if f.width == 4:
        return "Packed nibbles, element 0 in the low nibble of the first byte."
    if f.width == 6:
        return "Two in 16 bits, a byte each, element 0 in the low byte: what the PTX conversions take and give."
    return f"Two in 16 bits{' and four in 32 bits' * (4 in f.packed)}, element 0 in the low byte."


def pack(f, count, step):
    mask = f"0x{2 ** step - 1:x}u"
    names = "abcd"[:count]
    lanes = [f"(uint32_t){name}.bits" if step >= 8 else f"(uint32_t)({name}.bits & {mask})" for name in names]
    joined = " | ".join(lane + (f" << {step * i}" if i else "") for i, lane in enumerate(lanes))
    bits = count * step
    return fill(PACK, f.words, count=count, step=step, last=count - 1, mask=mask,
                parameters=", ".join(f"mpnum_{f.name} {name}" for name in names),
                packed=joined if bits == 32 else f"(uint{bits}_t)({joined})")


def to_packed(f, count, mode, body, **more):
    names = "abcd"[:count]
    return fill(TO_PACKED.replace("$body", body), f.words, count=count, mode=mode, **more,
                parameters=", ".join(f"float {name}" for name in names),
                values=", ".join(f"mpnum_f32_to_{f.name}{mode}({name})" for name in names))


def from_packed(f, count, body, **more):
    one = "mpnum_{T}_to_f32(mpnum_unpack_{T}_x{count}(packed, {i}))"
    return fill(FROM_PACKED.replace("$body", body), f.words, count=count, **more,
                values=", ".join(one.format(T=f.name, count=count, i=i) for i in range(count)))
