# SPDX-License-Identifier: MIT
"""Functions of values and of arrays (func.h, func_array.h), and reductions (reduce.h)."""

from .arrays import storage
from .layout import fill, sections
from .table import OVERFLOWS

# [(what func.h says, what func_array.h says, [function], those that have a _sat form)]
FUNCTIONS = [
    ("e^x, 2^x, 10^x and e^x - 1, the last exact to the place near 0.", "Exponentials.",
     ["exp", "exp2", "exp10", "expm1"], ["exp", "exp2", "exp10", "expm1"]),
    ("The natural, binary and decimal logarithm, and log(1 + x). -Inf at 0 (log1p: at -1).", "Logarithms.",
     ["log", "log2", "log10", "log1p"], ["log", "log2", "log10"]),
    ("The square root, 1 / sqrt(x) and 1 / x.", "Roots and reciprocals.",
     ["sqrt", "rsqrt", "reciprocal"], ["rsqrt", "reciprocal"]),
    ("1 / (1 + e^-x), the hyperbolic tangent and log(1 + e^x).", "Activations.", ["sigmoid", "tanh", "softplus"], []),
    ("x / (1 + e^-x), also named swish; x times the normal distribution below x; its approximation by "
     "x / (1 + e^-2u), u = sqrt(2 / pi) (x + 0.044715 x^3); and the error function. At -Inf the first three are -0.",
     None, ["silu", "gelu", "gelu_tanh", "erf"], []),
    ("Sine and cosine of radians, of any size; see mpnum_sincos_f32 for both.", "Sine and cosine of radians.",
     ["sin", "cos"], []),
    ("df/dx at x. That of softplus is sigmoid. The last three change their sign, silu's near -1.278 and those of "
     "gelu near -0.752; close to there f32 has an absolute error of 2^-27.", "Their derivatives; that of softplus is sigmoid.",
     ["sigmoid_derivative", "tanh_derivative", "silu_derivative", "gelu_derivative",
      "gelu_tanh_derivative"], []),
]
# [(what func.h says, what func_array.h says, [function of two arguments])]
FUNCTIONS_OF_TWO = [
    ("log(e^a + e^b). Near 0, where the two parts cancel, f32 has an absolute error of 2^-23.", "log(e^a + e^b).",
     ["logaddexp"]),
    ("silu(a) b and gelu(a) b, a being the gate. f32 is off by 3 places at most, where the factor is not subnormal.",
     "silu(a) b and gelu(a) b.", ["swiglu", "geglu"]),
    ("a^b, special values as C23 Annex F has them: 1^b and a^0 are 1, for NaN, too.", "a^b.", ["pow"]),
]
# Their _sat forms take the smallest positive argument for a zero.
LOGARITHMS = ("log", "log2", "log10")

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


def function(name, suffix, overflow):
    takes_positive = suffix and name in LOGARITHMS
    value = f"mpnum_{name}_scalar_({'mpnum_positive_f32_(x)' if takes_positive else 'x'})"
    out = [fill(FUNCTION_F32, function=name, suffix=suffix, value=f"mpnum_saturated_({value})" if suffix else value)]
    for small in ("f16", "bf16"):
        out.append(fill(FUNCTION_SMALL, T=small, function=name, NAME=name.upper(), suffix=suffix, OVERFLOW=overflow,
                        x=f"mpnum_positive_{small}_(x)" if takes_positive else "x"))
    return out


def function_of_two(name):
    return [fill(FUNCTION_OF_TWO_F32, function=name),
            *(fill(FUNCTION_OF_TWO_SMALL, T=small, function=name, NAME=name.upper()) for small in ("f16", "bf16"))]


def function_arrays(name, suffix="", overflow="IEEE", sources=("src",)):
    two = ", ".join((sources * 2)[:2])
    small = FUNCTION_SMALL_ARRAY if len(sources) == 1 else FUNCTION_OF_TWO_SMALL_ARRAY
    out = []
    for T in ("f32", "f16", "bf16"):
        out.append(fill(FUNCTION_F32_ARRAY if T == "f32" else small, T=T, function=name, suffix=suffix,
                        sources=", ".join(f"const {storage(T)} *{source}" for source in sources), two=two,
                        OVERFLOW=overflow, zero=int(bool(suffix) and name in LOGARITHMS)))
    return out


def forms(names, saturating):
    """(function, suffix, overflow)"""
    return [(name, suffix, overflow) for name in names for suffix, overflow in OVERFLOWS
            if not suffix or name in saturating]


def scalars_text():
    return "".join(sections([(words, [text for form in forms(names, saturating) for text in function(*form)])])
                   for words, _, names, saturating in FUNCTIONS) + "".join(
        sections([(words, [text for name in names for text in function_of_two(name)])])
        for words, _, names in FUNCTIONS_OF_TWO) + sections([
            ("Both, as sin and cos give them; f32 at the cost of one.",
             [fill(SINCOS_F32), *(fill(SINCOS, T=T) for T in ("f16", "bf16"))])])


def arrays_text():
    groups = []
    for _, words, names, saturating in FUNCTIONS:
        if words:
            groups.append((words, []))
        groups[-1][1].extend(text for form in forms(names, saturating) for text in function_arrays(*form))
    groups += [(words, [text for name in names for text in function_arrays(name, sources=("a", "b"))])
               for _, words, names in FUNCTIONS_OF_TWO]
    groups.append(("Sines and cosines; one of the two may be src.",
                   [fill(SINCOS_F32_ARRAY), *(fill(SINCOS_ARRAY, T=T) for T in ("f16", "bf16"))]))
    return sections(groups)


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
         "subnormals, Infs or NaNs, up to four times.", reduction(STATS, REDUCED)),
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
