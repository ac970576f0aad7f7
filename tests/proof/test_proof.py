#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""encode and decode, as clang compiles them, are what rounding.smt2 says of every format and input, and no input makes a
shift or a signed sum that C does not define: a solver of bit vectors, Bitwuzla, finds none. Of the loss scaler the same,
and that its state stays within its limits.

usage: tests/proof/test_proof.py [encode_f32 | encode_f64 | decode | faults]
"""

import ctypes
import random
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
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
WORDS = "s e m bias specials nan policy rounding overflow random stored".split()
ROUNDINGS = "nearest zero up down away odd stochastic".split()
ALL = "(or is_format is_tf32_or_f32 is_scale)"
ARGUMENTS = "(and is_nan_fit (bvule policy #x00000003) (bvule overflow #x00000001) (bvule rounding #x00000006))"


def compiled(file="core.c", *flags, include=INCLUDE):
    """What clang makes of a file, in LLVM's text form."""
    with tempfile.NamedTemporaryFile(suffix=".ll") as out:
        check("clang", *FLAGS, *TRAPS, *flags, "-I", include, "-S", "-emit-llvm", HERE / file, "-o", out.name)
        return Path(out.name).read_text()


def word(value):
    return f"(_ bv{value % 2**32} 32)"


def script(text, name, claim, *domain, **fixed):
    """SMT-LIB that no input satisfies if the claim holds of all in the domain, but for arguments that are fixed."""
    function = Function(text, name, "C.")
    arguments = dict(function.arguments)
    source, kind = ("given", arguments["x"]) if "x" in arguments else ("C.result", function.kind)
    width, unit, top, mantissa, exponent = NUMBERS[kind]
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
    lines += [(HERE / "rounding.smt2").read_text(), *(f"(assert {one})" for one in domain)]
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


ROUND, SCALER = "core/round.h", "training/scaler.h"
F32 = lambda rounding: lambda text: encodes(text, "encode_f32", rounding=rounding)
F64 = lambda rounding: lambda text: encodes(text, "encode_f64", rounding=rounding)
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
    (SCALER, "scaler->count >= config->growth_interval", "scaler->count > config->growth_interval", UPDATE, "scaler.c"),
    (SCALER, "bits > max ? max : bits", "bits", UPDATE, "scaler.c"),
]


def is_found(name, old, new, claim, *source):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(INCLUDE, f"{folder}/include")
        path = Path(folder, "include/mpnum", name)
        text = path.read_text()
        assert text.count(old) == 1, f"{text.count(old)} times in {name}: {old}"
        path.write_text(text.replace(old, new))
        faulty = compiled(*source, include=f"{folder}/include")
    try:
        claim(faulty)
    except AssertionError as error:
        assert "not so of" in str(error), error
        print(f"# {new or 'without ' + old}: {error}")
    else:
        raise AssertionError(f"not seen: {new or 'without ' + old}")


def properties():
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    if part == "faults":
        return [named(f"fault_{number}_is_found", is_found, *fault) for number, fault in enumerate(FAULTS, 1)]
    if part == "decode":
        return [named("decode_of_all_formats", decodes, plain), named("decode_of_all_known_formats", decodes, known)]
    if part:
        ways = [("", plain, range(7), [*range(16), 23])]
        if part == "encode_f32": # the shorter way of what a compiler knows is of f32 and two roundings
            ways += [("known_", known, range(2), range(1, 11))]
        made = []
        for way, text, roundings, mantissas in ways:
            for rounding in roundings:
                for m in mantissas:
                    def test(text=text, m=m, rounding=rounding):
                        encodes(text, part, m=m, rounding=rounding)
                    made.append(named(f"{way}{part}_to_{m}_bits_{ROUNDINGS[rounding]}", test))
        return made
    e4m3 = dict(e=4, m=3, bias=7)
    scaler = compiled("scaler.c")
    return [
        the_library_takes_the_formats_that_it_says,
        each_has_the_nan_that_it_says,
        f32_widens_to_f64_as_in_ieee_754,
        named("a_scaler_starts_within_its_limits", a_scaler_stays_within_its_limits, scaler, "scaler_start"),
        named("a_scaler_stays_within_its_limits", a_scaler_stays_within_its_limits, scaler, "scaler_update"),
        named("e4m3_is_encoded", lambda: encodes(plain, "encode_f32", rounding=0, **e4m3)),
        named("e4m3_is_encoded_from_f64", lambda: encodes(plain, "encode_f64", rounding=0, s=1, specials=1, policy=0, **e4m3)),
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
plain, known = compiled(), compiled("core.c", "-DPROOF_KNOWN")
if __name__ == "__main__":
    sys.exit(tap.run(*properties()))
