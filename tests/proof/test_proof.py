#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""encode and decode, as clang compiles them, are what rounding.smt2 says of every format and input, and no input makes a
shift or a signed sum that C does not define: a solver of bit vectors, Bitwuzla, finds none. Of the loss scaler the same,
and that its state stays within its limits.

usage: tests/proof/test_proof.py [encode_f32 | encode_f64 | decode | loops | faults]
"""

import ctypes
import functools
import random
import re
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from headers import changed, replaced
from llvm import Function, sort
from toolchain import INCLUDE, named
from tree import check

HERE = Path(__file__).resolve().parent
# No jump tables: no memory. What has no defined result traps. All is one function.
FLAGS = ["-std=c99", "-O2", "-fno-jump-tables", "-fno-vectorize", "-fno-slp-vectorize", "-fno-discard-value-names",
         "-mllvm", "-inline-threshold=100000"]
TRAPS = ["-fsanitize=signed-integer-overflow,shift,integer-divide-by-zero", "-fsanitize-trap=all"]
# Of exact numbers the bits, the unit and the largest exponent; of the source the bits of mantissa and exponent.
NUMBERS = {"i32": (352, 149, 127, 23, 8), "i64": (2240, 1074, 1023, 52, 11)}
WORDS = "s e m bias specials nan policy rounding overflow random stored is_bounded".split()
ROUNDINGS = "nearest zero up down away odd stochastic".split()
ALL = "(or is_format is_tf32_or_f32 is_scale)"
FITS = "(and is_nan_fit (bvule policy #x00000003) (bvule overflow #x00000001))"
ARGUMENTS = f"(and {FITS} (bvule rounding #x00000006))"
MEANING = (HERE / "rounding.smt2").read_text()


def compiled(file="core.c", *flags, include=INCLUDE):
    """What clang makes of a file, in LLVM's text form."""
    with tempfile.NamedTemporaryFile(suffix=".ll") as out:
        check("clang", *FLAGS, *TRAPS, *flags, "-I", include, "-S", "-emit-llvm", HERE / file, "-o", out.name)
        return Path(out.name).read_text()


def word(value):
    return f"(_ bv{value % 2**32} 32)"


def script(text, name, claim, *domain, meaning=MEANING, bits=0, **fixed):
    """SMT-LIB that no input satisfies if the claim holds of all in the domain, but for arguments that are fixed."""
    function = Function(text, name, "C.")
    arguments = dict(function.arguments)
    source, kind = ("given", arguments["x"]) if "x" in arguments else ("C.result", function.kind)
    width, unit, top, mantissa, exponent = NUMBERS[kind]
    width = bits or width
    lines = ["(set-logic ALL)", f"(define-sort Wide () (_ BitVec {width}))", "(define-sort Long () (_ BitVec 64))"]
    lines += [f"(define-fun {wide} ((a (_ BitVec {bits}))) Wide ((_ zero_extend {width - bits}) a))"
              for wide, bits in (("wide", 32), ("wide64", 64))]
    lines += [f"(define-fun {one} () (_ BitVec 32) {word(value)})"
              for one, value in [("UNIT", unit), ("TOP", top), *fixed.items()]]
    lines += [f"(define-fun {one} () Long (_ bv{value} 64))" for one, value in (("P", mantissa), ("Q", exponent))]
    lines += [f"(declare-const {one} (_ BitVec 32))" for one in [*WORDS, "code"] if one not in fixed]
    lines += ["(declare-const any_rounding RoundingMode)", f"(declare-const given {sort(kind)})"]
    lines += [f"(define-fun |C.{one}| () {sort(of)} {'given' if one == 'x' else one})" for one, of in arguments.items()]
    lines += function.lines
    lines += [f"(define-fun x () Long {f'((_ zero_extend 32) |{source}|)' if kind == 'i32' else f'|{source}|'})"]
    lines += [meaning, *(f"(assert {one})" for one in domain)]
    return "\n".join([*lines, f"(assert (or {function.trap} (not {claim})))", "(check-sat)"])


def parsed(text):
    manager, options = bitwuzla.TermManager(), bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    parser = bitwuzla.Parser(manager, options)
    parser.parse(text, True, False)
    return parser, parser.bitwuzla()


def prove(text, shown=(*WORDS, "given", "code", "encoded", "|C.result|")):
    """Fails with the input of which the claim does not hold."""
    parser, solver = parsed(text)
    answer = solver.check_sat()
    if answer != bitwuzla.Result.UNSAT:
        assert answer == bitwuzla.Result.SAT, f"no answer: {answer}"
        values = [f"{one} {int(solver.get_value(parser.parse_term(one)).value(16), 16):#x}" for one in shown]
        raise AssertionError("not so of " + ", ".join(values))


def encodes(text, name, **fixed):
    prove(script(text, name, "(= |C.result| encoded)", ALL, ARGUMENTS, "(or is_special is_next_below)", **fixed))


def of_two_more_bits():
    """What clang makes of core.c where a user's formats may have two more bits."""
    with tempfile.TemporaryDirectory() as folder:
        return compiled("core.c", "-DPROOF_BITS=18", include=changed(folder, "types/preset.h", (
            "mantissa_bits > 15", "mantissa_bits > 17"), ("mantissa_bits > 16)", "mantissa_bits > 18)")))


def encodes_to_odd_with_two_more_bits(name, m):
    meaning = replaced(MEANING, ("(bvule m #x0000000f)", "(bvule m #x00000011) (bvuge m #x00000002)"),
                       ("(bvule bits #x00000010)", "(bvule bits #x00000012)"),
                       ("(ite (= (bvadd e m) #x00000012) #x0000000d #x00000000)", "#x00000000"))
    prove(script(wide(), name, "(= |C.result| encoded)", "is_format", "(= nan usual_nan)", "(not is_special)", "is_next_below",
                 meaning=meaning, rounding=5, policy=0, overflow=0, m=m))


def encodes_as_two_more_bits_tell(name, rounding, text=None, **fixed):
    """Rounded to odd, two more bits are a fraction of 4: 0 if exact, 1 below half of the gap, 2 half, 3 above."""
    finer = Function(wide(), name, "D.")
    ones = "(bvsub (bvshl #x00000001 (bvadd e m #x00000002)) #x00000001)"
    given = {"x": "given", "m": "(bvadd m #x00000002)", "rounding": word(5), "policy": word(0), "overflow": word(0)}
    given["nan"] = f"(ite (or (= specials {word(2)}) (= specials {word(4)})) (bvadd {ones} {word(1)}) (ite (= specials {word(3)}) {word(0)} {ones}))"
    lines = [f"(define-fun |D.{one}| () {sort(of)} {given.get(one, one)})" for one, of in finer.arguments] + finer.lines
    lines.append(f"(define-fun finer () (_ BitVec 32) (bvand |D.result| {ones}))")
    meaning = replaced(MEANING, ("Wide (bvshl (wide #x00000001) (place c))", "Wide (wide #x00000004)"),
                       ("(bvsub exact (value code))", "(wide (bvand finer #x00000003))"))
    prove(script(text or plain, name, "(and (= |C.result| encoded) (not |D.trap|))", "is_format", "(distinct m #x00000000)",
                 ARGUMENTS, "(not is_special)", "(= code (bvlshr finer #x00000002))", meaning="\n".join([*lines, meaning]),
                 bits=64, rounding=rounding, **fixed),
          (*WORDS, "given", "code", "finer", "encoded", "|C.result|"))


# Of what is aligned the code, the fraction, and both as a significand of 32 more bits; that of x, and by how much its last
# place is below the last of these. Below 2^-127 e8m0 has its code 0; from 2^128 on any code past the largest will do.
ALIGNED = """(define-fun below () Word ((_ extract 31 0) aligned))
(define-fun kept () Long (bvor (bvshl (wide (significand code)) (_ bv32 64)) (wide below)))
(define-fun given_significand () Long (bvor fraction (ite (= exponent (_ bv0 64)) (_ bv0 64) (bvshl (_ bv1 64) P))))
(define-fun distance () Long (bvsub (place code) (bvadd (_ bv31 64) (ite (= exponent (_ bv0 64)) (_ bv1 64) exponent))))
(define-fun is_floor () Bool
  (ite (bvuge exponent (_ bv1151 64)) (bvugt code largest)
  (ite (and is_e8m0 (bvult (bvor (bvshl exponent P) fraction) LEAST)) (= aligned (_ bv0 64))
  (= kept (ite (bvsge distance (_ bv0 64)) (bvlshr given_significand distance) (bvshl given_significand (bvneg distance)))))))"""
LEAST = {"f32": 0x400000, "f64": 896 << 52}  # 2^-127
IS_CODE = "(= code ((_ extract 63 32) aligned))"
# By 32 bits, and by 1 to 31 as variants A and B of mpnum_rounding_stochastic have it.
FEW = "(or (= rounding #x00000006) (and (bvugt rounding #x00000020) (bvult rounding #x00000060) (distinct rounding #x00000040)))"
DRAWN = """(define-fun drawn () Word
  (let ((low (bvlshr #xffffffff (bvand rounding #x0000001f))))
    (ite (= rounding #x00000006) random
         (bvor (bvand random (bvnot low)) (ite (bvult rounding #x00000040) #x00000000 (bvxor low (bvlshr low #x00000001)))))))"""


def aligned_is_the_floor(source, text, **fixed):
    """The exact number in units of 2^-32 of the gap at its code, cut off."""
    least = f"(define-fun LEAST () Long (_ bv{LEAST[source]} 64))"
    meaning = "\n".join(["(define-fun aligned () Long |C.result|)", least, MEANING, ALIGNED])
    prove(script(text, f"aligned_{source}", "is_floor", ALL, "(= nan usual_nan)", "(not is_special)", IS_CODE, meaning=meaning, bits=64,
                 policy=0, **fixed), (*WORDS, "given", "code", "|C.result|"))


def encodes_as_aligned_tells(source, text, **fixed):
    """Stochastic: one code more where the fraction and the random bits reach 2^32."""
    alone = Function(text, f"aligned_{source}", "D.")
    lines = [f"(define-fun |D.{one}| () {sort(of)} {'given' if one == 'x' else one})" for one, of in alone.arguments]
    meaning = replaced(MEANING, ("(bvshl rest (wide #x00000020)) (bvshl (wide random) (place code))", "(wide ((_ extract 31 0) aligned)) (wide drawn)"),
                       ("(bvshl (gap code) (wide #x00000020))", "(bvshl (wide #x00000001) (wide #x00000020))"),
                       ("; --- rounding\n", DRAWN))
    meaning = "\n".join([*lines, *alone.lines, "(define-fun aligned () Long |D.result|)", meaning])
    prove(script(text, f"encode_{source}", "(= |C.result| encoded)", ALL, FITS, FEW, "(not is_special)", IS_CODE, meaning=meaning, bits=64,
                 **fixed), (*WORDS, "given", "code", "encoded", "|C.result|"))


# The steps of the loops.
STEPS = "rounded_magnitude cut_magnitude sign_mask with_sign bounded".split()


def loops(include=INCLUDE):
    """What clang makes of the steps of loops."""
    text = Path(include, "mpnum/simd/detail/vector.inc").read_text()
    with tempfile.TemporaryDirectory() as folder:
        steps = [re.search(rf"^MPNUM_VECTOR_ \w+ mpnumv_{name}\(.*?^}}", text, re.S | re.M)[0] for name in STEPS]
        Path(folder, "steps.inc").write_text("\n".join(steps))
        return compiled("loops.c", "-I", folder, include=include)


def loop_encodes_alike(text, name, **fixed):
    """A loop gives what encode gives, of formats but f32 itself, to which it does not convert."""
    alone = Function(plain, "encode_f32", "D.")
    lines = [f"(define-fun |D.{one}| () {sort(of)} {'given' if one == 'x' else one})" for one, of in alone.arguments]
    prove(script(text, name, "(= |C.result| |D.result|)", ALL, "(distinct m #x00000017)", ARGUMENTS,
                 meaning="\n".join([*lines, *alone.lines, MEANING]), bits=64, **fixed), (*WORDS, "given", "|C.result|", "|D.result|"))


def decodes(text, **fixed):
    prove(script(text, "decode", "is_decoded", ALL, ARGUMENTS, **fixed))


def the_library_takes_the_formats_that_it_says():
    prove(script(plain, "format_status", "(= (= |C.result| #x00000000) is_format)"))


def each_has_the_nan_that_it_says():
    prove(script(plain, "format_nan", "(= |C.result| usual_nan)", "is_format"))


def f32_widens_to_f64_as_in_ieee_754():
    prove(script(plain, "widen", """(let ((f32 ((_ to_fp 8 24) given)))
      (ite (fp.isNaN f32) (= |C.result| #x7fffffffffffffff)
                          (= ((_ to_fp 11 53) |C.result|) ((_ to_fp 11 53) RNE f32))))"""), ["given", "|C.result|"])


def a_scaler_stays_within_its_limits(text, name):
    function = Function(text, name, "C.")
    lines = [f"(declare-const |C.{one}| {sort(kind)})" for one, kind in function.arguments] + function.lines
    claim = f"(assert (or {function.trap} (= |C.result| #x00000000)))"
    prove("\n".join(["(set-logic ALL)", *lines, claim]), [f"|C.{one}|" for one, _ in function.arguments])


def terms_are_what_the_compiler_made():
    """Of random formats and sources: the program run, and its terms with the numbers put in."""
    with tempfile.TemporaryDirectory() as folder:
        check("clang", *FLAGS, "-fPIC", "-shared", "-I", INCLUDE, HERE / "core.c", "-o", f"{folder}/core.so")
        library = ctypes.CDLL(f"{folder}/core.so")
    draw = random.Random(1)
    for name in ("encode_f32", "encode_f64", "decode"):
        called = getattr(library, name)
        function = Function(plain, name, "C.")
        declared = [f"(declare-const |C.{one}| {sort(kind)})" for one, kind in function.arguments]
        parser, solver = parsed("\n".join(["(set-logic ALL)", *declared, *function.lines]))
        for _ in range(60):
            e, m = draw.randint(2, 6), draw.randint(1, 9)
            bias = (1 << (e - 1)) - 1 + draw.randint(-3, 30)
            numbers = [1, e, m, bias, draw.randint(0, 3), draw.getrandbits(e + m), draw.randint(0, 3), draw.getrandbits(32)]
            if name == "encode_f64":
                numbers[-1] = numbers[-1] & 0x80000000
                numbers[-1] = numbers[-1] << 32 | (1023 - bias + draw.randint(-m - 3, 1 << e)) << 52 | draw.getrandbits(52)
            elif name == "encode_f32":
                numbers[-1] = numbers[-1] & 0x807fffff | (127 - bias + draw.randint(-m - 3, 1 << e) & 255) << 23
            numbers += [] if name == "decode" else [draw.randint(0, 6), draw.randint(0, 1), draw.getrandbits(32)]
            kinds = [kind for _, kind in function.arguments]
            got = called(*({"i32": ctypes.c_uint32, "i64": ctypes.c_uint64}[kind](value & 2 ** int(kind[1:]) - 1)
                           for kind, value in zip(kinds, numbers))) & 0xffffffff
            put = [f"(= |C.{one}| (_ bv{value % 2 ** int(kind[1:])} {kind[1:]}))"
                   for (one, kind), value in zip(function.arguments, numbers)]
            term = parser.parse_term(f"(and {' '.join(put)} (not (and (= |C.result| {word(got)}) (not |C.trap|))))")
            assert solver.check_sat(term) == bitwuzla.Result.UNSAT, f"{name} of {numbers}: {got:#x}"


ROUND, SCALER, VECTOR, WIDE = "core/round.h", "training/scaler.h", "simd/detail/vector.inc", "simd/detail/wide.h"
SUM = lambda text: a_scaler_stays_within_its_limits(text, "wide_sum")
LOOP = lambda rounding: lambda text: loop_encodes_alike(text, "loop_f32", rounding=rounding, m=3)
TOLD = lambda rounding: lambda text: encodes_as_two_more_bits_tell("encode_f32", rounding, m=3, text=text)
F32 = lambda rounding: lambda text: encodes(text, "encode_f32", rounding=rounding)
F64 = lambda rounding: lambda text: encodes(text, "encode_f64", rounding=rounding)
FLOOR = lambda text: aligned_is_the_floor("f64", text, m=3)
FEW_BITS = lambda text: encodes_as_aligned_tells("f64", text, m=3)
UPDATE = lambda text: a_scaler_stays_within_its_limits(text, "scaler_update")
# A fault: a file, what it says, what it is to say, what sees that, of what.
FAULTS = [
    (ROUND, "addend = 0x7fffffffu + (code & 1)", "addend = 0x80000000u", F32(0), "core.c"),
    (ROUND, "if (moves_any && magnitude == 0) return 0;", "", F32(2), "core.c"),
    (ROUND, "min_field - 9 - format.mantissa_bits;", "min_field - 3 - format.mantissa_bits;", F32(4), "core.c"),
    (ROUND, "code > format.max_code", "code >= format.max_code", F32(4), "core.c"),
    (ROUND, "shift = shift < 63 ? shift : 63;", "", F64(0), "core.c"),
    (ROUND, "sticky |= (aligned << shift) != magnitude;", "", F64(3), "core.c"),
    (ROUND, "raised = low < least ? least : low", "raised = low", F32(0), "core.c", "-DPROOF_KNOWN"),
    (ROUND, "(uint32_t)(raised & ~below)", "(uint32_t)raised", F32(0), "core.c", "-DPROOF_KNOWN"),
    (ROUND, "lead < last_place ? lead : last_place", "lead", decodes, "core.c"),
    (ROUND, "return code == format.nan_code;", "return code >= format.nan_code;", decodes, "core.c"),
    (VECTOR, "code = mpnumv_shr(base, shift);", "code = mpnumv_shr(base, shift - 1);", LOOP(0), "loops.c"),
    (VECTOR, "mpnumv_min(shift, mpnumv_splat(32))", "shift", LOOP(2), "loops.c"),
    (VECTOR, "shift - 32);", "shift - 31);", LOOP(6), "loops.c"),
    (VECTOR, "(code + any->carry) | any->set", "code + 1", LOOP(5), "loops.c"),
    (ROUND, "addend = 0x80000000u; break;", "addend = 0x7fffffffu; break;", TOLD(4), "core.c"),
    (ROUND, "addend = sign ? 0xffffffffu : 0; break;", "addend = 0xffffffffu; break;", TOLD(3), "core.c"),
    (ROUND, "is_floor ? 0 : sticky", "sticky", FLOOR, "core.c"),
    (ROUND, "897 - field < 63 ? 897 - field : 63", "896 - field < 63 ? 896 - field : 63", FLOOR, "core.c"),
    (ROUND, "if (variant == 0) return word;", "if (variant == 0) return word | 1;", FEW_BITS, "core.c"),
    (ROUND, "if (variant >= 2) kept |=", "if (variant >= 3) kept |=", FEW_BITS, "core.c"),
    (SCALER, "scaler->count >= config->growth_interval", "scaler->count > config->growth_interval", UPDATE, "scaler.c"),
    (WIDE, "const uint64_t shifted = down < 64 ?", "const uint64_t shifted = down < 65 ?", SUM, "scaler.c"),
    (SCALER, "bits > max ? max : bits", "bits", UPDATE, "scaler.c"),
]


def is_found(name, old, new, claim, *source):
    with tempfile.TemporaryDirectory() as folder:
        include = changed(folder, name, (old, new))
        faulty = loops(include) if source == ("loops.c",) else compiled(*source, include=include)
    try:
        claim(faulty)
    except AssertionError as error:
        assert "not so of" in str(error), error
        print(f"# {new or 'without ' + old}: {error}")
    else:
        raise AssertionError(f"not seen: {new or 'without ' + old}")


def encode_properties(name):
    """To odd with two more bits of each width, what these tell of six roundings of all widths, and the rest: formats
    without a mantissa or of the table, Inf and NaN, and stochastic rounding."""
    made = [named(f"{name}_of_inf_and_nan", lambda: prove(script(plain, name, "(= |C.result| encoded)", ALL, ARGUMENTS,
                                                                 "is_special", bits=64)))]
    made += [named(f"{name}_to_odd_with_two_more_bits_{m}", encodes_to_odd_with_two_more_bits, name, m) for m in range(3, 18)]
    for rounding, to in enumerate(ROUNDINGS[:6]):
        made.append(named(f"{name}_{to}_as_two_more_bits_tell", encodes_as_two_more_bits_tell, name, rounding))
    # the formats in which those are not
    rest = {"0_bits": dict(m=0), "tf32": dict(e=8, m=10, bias=127, s=1, specials=0), "f32": dict(m=23)}
    for rounding, to in enumerate(ROUNDINGS[:6]):
        made += [named(f"{name}_{to}_to_{label}", functools.partial(encodes, plain, name, rounding=rounding, **fixed))
                 for label, fixed in rest.items()]
    source = name[-3:]
    made += [named(f"aligned_{source}_is_the_floor", aligned_is_the_floor, source, plain),
             named(f"{name}_stochastic_as_aligned_tells", encodes_as_aligned_tells, source, plain)]
    if source == "f64":
        return made
    made += [named(f"{name}_stochastic_to_{m}_bits", functools.partial(encodes, plain, name, rounding=6, m=m))
             for m in [*range(16), 23]]
    # the shorter way of what a compiler knows is of f32 and two roundings
    return made + [named(f"known_{name}_{ROUNDINGS[rounding]}_to_{m}_bits", functools.partial(encodes, known, name, rounding=rounding, m=m))
                   for rounding in range(2) for m in range(1, 11)]


def properties():
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    if part == "faults":
        return [named(f"fault_{number}_is_found", is_found, *fault) for number, fault in enumerate(FAULTS, 1)]
    if part == "decode":
        return [named("decode_of_all_formats", decodes, plain), named("decode_of_all_known_formats", decodes, known)]
    if part == "loops":
        steps = loops()
        return [named(f"{name}_{ROUNDINGS[rounding]}", functools.partial(loop_encodes_alike, steps, name, rounding=rounding))
                for name, roundings in (("loop_f32", range(7)), ("cut_f32", (1, 6))) for rounding in roundings]
    if part:
        return encode_properties(part)
    e4m3 = dict(e=4, m=3, bias=7)
    scaler = compiled("scaler.c")
    return [
        the_library_takes_the_formats_that_it_says,
        each_has_the_nan_that_it_says,
        f32_widens_to_f64_as_in_ieee_754,
        named("a_scaler_starts_within_its_limits", a_scaler_stays_within_its_limits, scaler, "scaler_start"),
        named("a_scaler_stays_within_its_limits", a_scaler_stays_within_its_limits, scaler, "scaler_update"),
        named("a_new_configuration_keeps_them", a_scaler_stays_within_its_limits, scaler, "scaler_configure"),
        named("a_wide_sum_is_defined", a_scaler_stays_within_its_limits, scaler, "wide_sum"),
        named("e4m3_is_encoded_by_a_loop", lambda: loop_encodes_alike(loops(), "loop_f32", rounding=0, **e4m3)),
        named("e4m3_is_encoded", lambda: encodes(plain, "encode_f32", rounding=0, **e4m3)),
        named("e4m3_is_encoded_from_f64", lambda: encodes(plain, "encode_f64", rounding=0, s=1, specials=1, policy=0, **e4m3)),
        named("e4m3_is_aligned_from_f64", lambda: aligned_is_the_floor("f64", plain, **e4m3)),
        named("e4m3_is_encoded_stochastically_from_f64", lambda: encodes_as_aligned_tells("f64", plain, **e4m3)),
        named("e4m3_is_encoded_where_it_is_known", lambda: encodes(known, "encode_f32", rounding=0, **e4m3)),
        named("e4m3_is_decoded", lambda: decodes(plain, **e4m3)),
        named("e4m3_is_decoded_where_it_is_known", lambda: decodes(known, **e4m3)),
        terms_are_what_the_compiler_made,
    ]


missing = [name for name, there in (("clang", shutil.which("clang")), ("bitwuzla", find_spec("bitwuzla"))) if not there]
if missing:
    print(f"1..0 # SKIP not found: {', '.join(missing)}")
    sys.exit()
import bitwuzla
wide = functools.cache(of_two_more_bits)
plain, known = compiled(), compiled("core.c", "-DPROOF_KNOWN")
if __name__ == "__main__":
    sys.exit(tap.run(*properties()))
