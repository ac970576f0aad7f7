# SPDX-License-Identifier: MIT
"""Functions of values and of arrays (func.h, func_array.h), and reductions (reduce.h)."""

import re

from .arrays import storage
from .layout import fill, sections
from .table import OVERFLOWS

FUNCTION_F32 = """\
MPNUM_MATH_ float mpnum_$function${suffix}_f32(float x) {
  return $value;
}
"""
FUNCTION_SMALL = """\
MPNUM_MATH_ mpnum_$T mpnum_$function${suffix}_$T(mpnum_$T x) {
  return mpnum_${T}_function_(MPNUM_FUNCTION_${NAME}_, $x, MPNUM_OVERFLOW_$OVERFLOW);
}
"""
FUNCTION_OF_TWO_F32 = """\
MPNUM_MATH_ float mpnum_${function}_f32(float a, float b) {
  return mpnum_${function}_scalar_(a, b);
}
"""
FUNCTION_OF_TWO_SMALL = """\
MPNUM_MATH_ mpnum_$T mpnum_${function}_$T(mpnum_$T a, mpnum_$T b) {
  return mpnum_${T}_function_of_two_(MPNUM_FUNCTION_${NAME}_, a, b);
}
"""
SINCOS = """\
MPNUM_MATH_ void mpnum_sincos_$T(mpnum_$T x, mpnum_$T *sine, mpnum_$T *cosine) {
  *sine = mpnum_sin_$T(x);
  *cosine = mpnum_cos_$T(x);
}
"""
SINCOS_F32 = """\
MPNUM_MATH_ void mpnum_sincos_f32(float x, float *sine, float *cosine) {
  mpnum_sincos_of_(x, sine, cosine);
}
"""
SINCOS_ARRAY = """\
MPNUM_HOST void mpnum_sincos_${T}_array(mpnum_$T *sine, mpnum_$T *cosine, const mpnum_$T *src, size_t n) {
  mpnum_sincos_of_${T}_(sine, cosine, src, n);
}
"""
SINCOS_F32_ARRAY = """\
MPNUM_HOST void mpnum_sincos_f32_array(float *sine, float *cosine, const float *src, size_t n) {
  mpnum_sincos_f32_(sine, cosine, src, n);
}
"""
FUNCTION_F32_ARRAY = """\
MPNUM_HOST void mpnum_$function${suffix}_f32_array(float *dst, $sources, size_t n) {
  MPNUM_RUN_F32_($function, dst, $two, n, MPNUM_OVERFLOW_$OVERFLOW, $zero);
}
"""
FUNCTION_SMALL_ARRAY = """\
MPNUM_HOST void mpnum_$function${suffix}_${T}_array(mpnum_$T *dst, $sources, size_t n) {
  mpnum_${function}_of_${T}_(MPNUM_OVERFLOW_$OVERFLOW, dst, src, n);
}
"""
FUNCTION_OF_TWO_SMALL_ARRAY = """\
MPNUM_HOST void mpnum_${function}_${T}_array(mpnum_$T *dst, $sources, size_t n) {
  mpnum_${function}_16_(mpnum_small_${T}_(), dst, $two, n);
}
"""


class Function:
    def __init__(self, row):
        self.name, _, self.forms = [word.strip() for word in row.split(",")][:3]

    def overflows(self):
        """(suffix, enumerator) of each form."""
        return OVERFLOWS[:1] if self.forms == "PLAIN" else OVERFLOWS


def read(include):
    """([(comment, [function of one argument])], [(comment, [function of two])]): the rows of function_table.h."""
    text = next(include.rglob("function_table.h")).read_text()
    return tuple(groups(re.search(rf"#define MPNUM_FUNCTION_ROWS_{which}\(ROW\)((?:.*\\\n)*.*\n)", text)[1])
                 for which in ("", "OF_TWO_"))


def groups(rows):
    found = []
    for words, row in re.findall(r"/\*(.*?)\*/|ROW\(([^()]*)\)", rows, re.S):
        if row:
            found[-1][1].append(Function(row))
        else:
            found.append((" ".join(re.sub(r"\\\n +\*", "", words).split()), []))
    return found


def first_sentence(words):
    return re.match(r".*?\.(?= |$)", words)[0]


def function(row, suffix, overflow):
    name = row.name
    takes_positive = suffix and row.forms == "LOG"
    value = f"mpnum_{name}_scalar_({'mpnum_positive_f32_(x)' if takes_positive else 'x'})"
    out = [fill(FUNCTION_F32, function=name, suffix=suffix, value=f"mpnum_saturated_({value})" if suffix else value)]
    for small in ("f16", "bf16"):
        out.append(fill(FUNCTION_SMALL, T=small, function=name, NAME=name.upper(), suffix=suffix, OVERFLOW=overflow,
                        x=f"mpnum_positive_{small}_(x)" if takes_positive else "x"))
    return out


def function_of_two(row):
    name = row.name
    return [fill(FUNCTION_OF_TWO_F32, function=name),
            *(fill(FUNCTION_OF_TWO_SMALL, T=small, function=name, NAME=name.upper()) for small in ("f16", "bf16"))]


def function_arrays(row, suffix="", overflow="IEEE", sources=("src",)):
    name = row.name
    two = ", ".join((sources * 2)[:2])
    small = FUNCTION_SMALL_ARRAY if len(sources) == 1 else FUNCTION_OF_TWO_SMALL_ARRAY
    out = []
    for T in ("f32", "f16", "bf16"):
        out.append(fill(FUNCTION_F32_ARRAY if T == "f32" else small, T=T, function=name, suffix=suffix,
                        sources=", ".join(f"const {storage(T)} *{source}" for source in sources), two=two,
                        OVERFLOW=overflow, zero=int(bool(suffix) and row.forms == "LOG")))
    return out


def forms(rows):
    """(function, suffix, overflow)"""
    return [(row, *form) for row in rows for form in row.overflows()]


def scalars_text(table):
    of_one, of_two = table
    return sections([(words, [text for form in forms(rows) for text in function(*form)]) for words, rows in of_one]
                    + [(words, [text for row in rows for text in function_of_two(row)]) for words, rows in of_two]
                    + [("Both, as sin and cos give them; f32 at the cost of one.",
                        [fill(SINCOS_F32), *(fill(SINCOS, T=T) for T in ("f16", "bf16"))])])


def arrays_text(table):
    of_one, of_two = table
    return sections([(first_sentence(words), [text for form in forms(rows) for text in function_arrays(*form)])
                     for words, rows in of_one]
                    + [(first_sentence(words),
                        [text for row in rows for text in function_arrays(row, sources=("a", "b"))])
                       for words, rows in of_two]
                    + [("Sines and cosines; one of the two may be src.",
                        [fill(SINCOS_F32_ARRAY), *(fill(SINCOS_ARRAY, T=T) for T in ("f16", "bf16"))])])


REDUCED = ("f32", "bf16", "f16", "e5m2", "e4m3")  # sums of the last two by mpnum_exact_sum_add and its like
BITS = {"f32": 32, "bf16": 16, "f16": 16}
INDEX = """\
MPNUM_HOST size_t mpnum_${function}_$T(const $real *src, size_t n) {
  size_t result = 0;
  MPNUM_CALL_(${function}_$bits, (mpnum_limits_of_(MPNUM_TYPE_$NAME), &result, src, n));
  return result;
}
"""
ALL_FINITE = """\
MPNUM_HOST int mpnum_all_finite_$T(const $real *src, size_t n) {
  return mpnum_first_nonfinite_$T(src, n) == n;
}
"""
AMAX = """\
MPNUM_HOST float mpnum_amax_$T(const $real *src, size_t n) {
  uint32_t code = 0;
  MPNUM_CALL_(max_code_$bits, (mpnum_limits_of_(MPNUM_TYPE_$NAME), &code, src, n));
  return mpnum_amax_of_code_(mpnum_format_of(MPNUM_TYPE_$NAME), code);
}
"""
STATS = """\
MPNUM_HOST mpnum_stats mpnum_stats_$T(const $real *src, size_t n) {
  mpnum_codes_ codes = mpnum_no_codes_();
  MPNUM_CALL_(stats_$bits, (mpnum_limits_of_(MPNUM_TYPE_$NAME), &codes, src, n));
  return mpnum_stats_of_codes_(mpnum_format_of(MPNUM_TYPE_$NAME), codes);
}
"""
SUM = """\
MPNUM_HOST float mpnum_${function}_$T($sources, size_t n) {
  return $round(mpnum_sum_to_odd_($terms, $floats, $bytes, $two, n));
}
"""


def reduction(template, types, **words):
    return [fill(template, T=T, NAME=T.upper(), real=storage(T), bits=BITS.get(T, 8), **words) for T in types]


def reductions_text():
    return sections([
        ("The index of the first element that is Inf or NaN; n if none is.",
         reduction(INDEX, REDUCED, function="first_nonfinite")),
        ("1 if no element is Inf or NaN, or if there is no element; else 0. Does not read on far\n * behind the first "
         "that is.", reduction(ALL_FINITE, REDUCED)),
        ("The largest magnitude, exact; 0 of no elements, Inf if there is an Inf.\n"
         " * NaN: 0x7fffffff if any element is NaN.", reduction(AMAX, REDUCED)),
        ("Statistics in one pass: mpnum_stats_add of every element to mpnum_stats_empty(). Slower\n * where there are "
         "subnormals, Infs or NaNs, up to three times.", reduction(STATS, REDUCED)),
    ])


def sums_text():
    return "\n".join(
        words + "".join(fill(SUM, function=name, T=T, terms=terms, round=rounding, two=two,
                     sources=", ".join(f"const {storage(T)} *{source}" for source in sources),
                     floats=0 if T == "f32" else f"mpnum_{T}_floats_", bytes=BITS[T] // 8) for T in BITS)
        for words, name, terms, rounding, sources, two in (
            ("", "sum", "mpnum_values_", "mpnum_f64_to_f32", ["src"], "src, 0"),
            ("/* Of products: a dot product. */\n", "dot", "mpnum_products_", "mpnum_f64_to_f32", ["a", "b"], "a, b"),
            ("/* The square root of that of squares: an L2 norm. */\n", "norm", "mpnum_squares_", "mpnum_root_", ["src"], "src, 0")))
