#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The headers are good guests: each stands alone, includes only what is above it in the file map, brings in no
names but its own, links from any number of units, and compiles without a warning in every dialect.

usage: tests/project/test_headers.py [full | exhaustive]

Without an argument few compilers and dialects run, with one the others of that tier.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
import toolchain
from toolchain import C_WARNINGS, CLANG_WARNINGS, CPP_WARNINGS, GPP_WARNINGS, INCLUDE, WARNINGS, named, run
from tree import check, need

tools_api = toolchain.load_api()
api = tools_api.Api()
C_HEADERS = [header for header in api.headers if header.endswith(".h")]
CPP_HEADERS = [header for header in api.headers if header.endswith((".h", ".hpp"))]
CORE_HEADERS = [header for header in api.headers
                if not header.endswith(tools_api.FOR_DEVICES) and header not in tools_api.OPT_IN
                and header != "simd/detail/alone.inc"]  # for an .inc that an editor opens, never in a header
OPT_IN_HEADERS = [header for header in C_HEADERS if header not in CORE_HEADERS]

C_STANDARDS = ["c99", "c11", "c17", "c2x", "gnu11"]
CPP_STANDARDS = ["c++11", "c++14", "c++17", "c++20"]

# No header of ours has one of these names, whatever the case: the file system may not tell.
LIBC_HEADERS = set("""
assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic
stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string strings tgmath threads time uchar wchar wctype
endian byteswap values ieee754 fpu_control memory malloc search sched semaphore unistd wait glob regex utime poll
""".split())

# Reserved identifiers that compilers give, and we only use.
GIVEN = re.compile(r"__cplusplus|_MSC_VER|__GNUC__|__clang__|__CUDA\w*__|__host__|__device__|__forceinline(__)?|__noinline__|__optnone__|__cold__|__aligned__|__OPTIMIZE__|__declspec|"
                   r"__inline|__attribute__|__has_include|__global__|__shared__|__launch_bounds__|__syncthreads(_and)?|__syncwarp|__isGlobal|__cvta_generic_to_(global|shared)|__pipeline_(commit|memcpy_async|wait_prior)|__threadfence|__float2int_rz|__umulhi|__[fd]add_rn|__dmul_rn|__fma_rn|_Pragma|"
                   r"__\w+_sync|__half2?|__nv(vm)?_\w+|__always_inline__|__unused__|__warn_unused_result__|_Check_return_|__clz|__builtin_\w+|__has_builtin|"
                   r"__asm__|__target__|__vector_size__|__may_alias__|__m(128|256|512)[di]?|__mmask\d+|_mm\d*(_\w+)?|_(MM|CMP)_\w+|__AVX\w+|__SSE2__|"
                   r"__FMA__|__ARM_FEATURE_FMA|__powerpc64__|__riscv_flen|__s390x__|__F16C__|__x86_64__|__i386__|__aarch64__|__AARCH64EB__|__ARM_NEON|__STDC_HOSTED__|__STDC_VERSION__|__atomic_\w+|"
                   r"__ATOMIC_\w+|_M_\w+|__pragma|__m512bh|__cpuidex|_xgetbv|_ReadWriteBarrier|__NVCC_DIAG_PRAGMA_SUPPORT__|_Float16|__bf16|__B?FLT16_MANT_DIG__|__extension__|__clang_major__|__cpp_lib_format")

# Macros of other people, in any file before ours: complex.h, termios.h, windows.h, sys/sysmacros.h, X11, compilers,
# and what programs define for themselves.
OBJECT_POISON = """
I B0 B50 small near far hyper interface pascal cdecl IN OUT OPTIONAL CONST VOID TRUE FALSE ERROR DELETE STRICT NAN
INFINITY HUGE_VAL OVERFLOW UNDERFLOW DOMAIN PI EPSILON INF EOF None Bool Status Always Success True False Min Max
unix linux i386 major minor makedev emit slots signals foreach complex imaginary
half half2 tensor A B C D E F G H J K L M N O P Q R S U V W X Y Z e pi eps inf nan ROW NAME TYPE FORMAT ROUND SIGN MAX MIN ABS SWAP
EXP EXP2 LOG LOG2 SQRT TANH ERF SIGMOID SILU GELU SOFTPLUS
""".split()
FUNCTION_POISON = """
min max abs sign round floor ceil fabs isnan isinf isfinite isnormal signbit swap square clamp log exp bits pack
unpack encode decode format print parse code magnitude shift
""".split()


# Headers that give our types to the C++ library, and what of it they include.
CPP_LIBRARY = {"types/numeric_limits.hpp": ("<limits>", "<cuda/std/limits>"), "types/stream.hpp": ("<iosfwd>",),
               "types/formatter.hpp": ("<format>",)}
CPP_LIBRARY_LINES = [f"#if defined(__cplusplus) && defined(__has_include)\n#if __has_include({name})\n#include {name}\n#endif\n#endif"
                     for names in CPP_LIBRARY.values() for name in names]


def includes(header):
    return tools_api.includes((api.include / header).read_text())


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", " ", text, flags=re.S)


beside = tools_api.beside


def headers_include_only_what_is_above_them():
    """Their own room and floors before it; what is for devices any header of hosts, too. No circle: tools/api."""
    floor, for_devices = tools_api.floor_of, tools_api.FOR_DEVICES
    for header in api.headers:
        for name in includes(header):
            if name.startswith("<"):
                known = name in ("<stdint.h>", "<stddef.h>", "<string.h>")
                known = known or header == "core/detail/config.h" and name == "<intrin.h>"
                known = known or header == "cuda/interop.cuh" and name.startswith("<cuda_")
                known = known or name in CPP_LIBRARY.get(header, ())
                known = known or header.startswith("simd/detail/") and name in ("<immintrin.h>", "<emmintrin.h>", "<arm_neon.h>")
                assert known, f"{header} includes {name}"
                continue
            other = beside(header, name)
            known = floor(other) <= floor(header) and (header.endswith(for_devices) or not other.endswith(for_devices))
            known = known or header.endswith(for_devices) and (not other.endswith(for_devices) or other == "mpnum.hpp")
            assert other in api.headers and known, f"{header} includes {other}, which stands above it"
    assert not api.problems, api.problems


def all_of(header):
    """The header and every one of ours that it includes."""
    seen, left = set(), [header]
    while left:
        seen.add(header := left.pop())
        left += {beside(header, name) for name in includes(header) if name.startswith('"')} - seen
    return seen


def umbrella_includes_all_but_the_opt_in_headers():
    seen = all_of("mpnum.h")
    apart = set().union(*map(all_of, tools_api.OPT_IN)) - seen  # these headers, and the details that only they need
    assert seen | apart >= set(CORE_HEADERS) >= seen and not seen & set(tools_api.OPT_IN), (seen | apart) ^ set(CORE_HEADERS)


def operations_are_bound_where_used():
    simd, short = api.include / "simd/detail", re.compile(r"\bmpnumv_(\w+)")
    bound = re.findall(r"^#define mpnumv_(\w+) +MPNUM_V_\(\1\)$", (simd / "operations.inc").read_text(), re.M)
    assert bound and bound == sorted(set(bound)), bound
    used, pasted = set(), set()
    for path in api.include.glob("*/detail/*"):
        if path.name != "operations.inc":
            text = without_comments(path.read_text())
            pasted |= set(re.findall(r"\bmpnumv_(\w*##\w+(?:##\w+)*)", text))
            used |= set(short.findall(re.sub(r"\bmpnumv_\w*##[\w#]+", "", text)))
    made = re.compile("|".join(re.sub(r"##\w+##|\w+##$|^##\w+|(?<=_)##\w+", r"\\w+", word) for word in pasted) or "(?!)")
    unbound, unused = used - set(bound), {word for word in set(bound) - used if not made.fullmatch(word)}
    assert not unbound and not unused, (unbound, unused)


# Where one processor is told from another; the other headers ask for MPNUM_HAS_VECTORS_ and MPNUM_PICK_.
OF_ONE_PROCESSOR = {"core/detail/config.h", "simd/isa.h", "simd/detail/isa_begin.inc", "simd/detail/each_isa.inc",
                    "simd/detail/alone.inc", "simd/detail/neon.h"}


def few_files_name_an_isa():
    """NEON, the only ISA of its processor: CONTRIBUTING.md says where a new one goes."""
    named_in = {header for header in api.headers
                if re.search(r"\bMPNUM_\w*NEON", without_comments((api.include / header).read_text()))}
    assert named_in == OF_ONE_PROCESSOR, named_in ^ OF_ONE_PROCESSOR


INC_FILES = [header for header in api.headers if header.endswith(".inc")]
# In the quick tests: after nothing, in the middle of another one, and after the most others.
QUICK_INC_FILES = ["simd/detail/vector.inc", "func/detail/pow.inc", "training/detail/grad.inc"]


def each_inc_compiles_alone(compiler, files):
    """As an editor opens it, with a default ISA. Nothing but the file itself is named."""
    target = check(compiler, "-dumpmachine").strip()
    if not target.startswith(("x86_64", "aarch64")):
        raise tap.Skip(f"loops of vectors are not for {target}")
    for name in files:
        if target.startswith("aarch64") and "vbmi" in name:
            continue
        check(compiler, "-std=c99", "-Werror", "-Wall", "-Wextra", "-Wundef", "-Wno-unused-function", "-fsyntax-only",
              "-x", "c", INCLUDE / "mpnum" / name)


def no_inc_leaves_out_what_it_has():
    """Where it compiles alone: most of its functions are there after the preprocessor."""
    need("gcc")
    for name in INC_FILES:
        text = (INCLUDE / "mpnum" / name).read_text()
        own = set(re.findall(r"^ *MPNUM_(?:VECTOR|LOOP|LARGE)_ .*?\bmpnumv_(\w+)\(", text, re.M))
        if own and check("gcc", "-dumpmachine").startswith("x86_64"):
            said = check("gcc", "-E", "-P", "-x", "c", INCLUDE / "mpnum" / name)
            made = own & set(re.findall(r"\bmpnum_(\w+?)_avx(?:2|512)_\(", said))
            assert len(made) * 10 >= len(own) * 7, f"{name} leaves out {sorted(own - made)}"


def no_header_is_named_like_one_of_libc():
    clash = [header for header in api.headers if Path(header).stem.lower() in LIBC_HEADERS]
    assert not clash, clash


def no_reserved_identifier_is_ours():
    for header in api.headers:
        text = without_comments((api.include / header).read_text())
        words = set(re.findall(r"(?<!##)\b(?:_\w*|\w*__\w*)\b", text))
        reserved = [word for word in words if not GIVEN.fullmatch(word) and word != "__VA_ARGS__"]
        assert not reserved, f"{header}: {sorted(reserved)}"


def every_declaration_has_our_prefix():
    for header in C_HEADERS:
        text = without_comments((api.include / header).read_text())
        functions = re.findall(r"^MPNUM_(?:INLINE|FUNC|HOST|LANGUAGE_)\b[^(]*?(\w+)\s*\(", text, re.M)
        types = re.findall(r"^\}\s*(\w+)\s*;", text, re.M)
        strangers = [name for name in functions + types if not name.startswith(("mpnum_", "mpnumv_"))]
        assert not strangers, f"{header}: {strangers}"
    assert all(name.startswith("MPNUM_") for name in api.enumerators), list(api.enumerators)


# Vector code wants the compiler's intrinsics, whose headers have names of their own.
INTRINSICS = ["#if defined(__x86_64__)", "#include <immintrin.h>",
              "#elif defined(__ARM_NEON)", "#include <arm_neon.h>", "#endif"]


def write(folder, name, *lines):
    path = Path(folder) / name
    path.write_text("\n".join(lines) + "\n")
    return path


def include_lines(headers):
    return [f"#include <mpnum/{header}>" for header in headers]


def flags(compiler, standard):
    cpp = standard.startswith("c++")
    return ["-x", "c++" if cpp else "c", f"-std={standard}", "-I", INCLUDE, *WARNINGS,
            *(CPP_WARNINGS if cpp else C_WARNINGS), *(GPP_WARNINGS if cpp and "gcc" in compiler else []),
            *(CLANG_WARNINGS + ["-ferror-limit=5"] if "clang" in compiler else ["-fmax-errors=5"])]


def driver(compiler, standard):
    """gcc or g++, clang or clang++."""
    return need(compiler.replace("gcc", "g++").replace("clang", "clang++") if "++" in standard else compiler)


def headers_for(standard):
    return CPP_HEADERS if standard.startswith("c++") else C_HEADERS


def function_table(headers, without=()):
    """A unit that needs the body of every function of these headers."""
    functions = [name for header in headers for name in api.functions_of(header) if name not in without]
    headers = [header for header in headers if header.endswith(".h")]
    return [*include_lines(headers), "typedef void (*function)(void);",
            "#if defined(__cplusplus)", "#define AS reinterpret_cast<function>", 'extern "C" {',
            "#else", "#define AS (function)", "#endif",
            "extern const function user_table[];", "const function user_table[] = {",
            *[api.where_there_is(name, f"  AS({name}),") for name in functions], "};",
            "#if defined(__cplusplus)", "}", "#endif"]


def each_header_alone_and_twice(compiler, standard, *more):
    compiler_driver = driver(compiler, standard)
    with tempfile.TemporaryDirectory() as folder:
        for header in headers_for(standard):
            source = write(folder, "twice.c", *include_lines([header]), *include_lines([header]))
            check(compiler_driver, *flags(compiler, standard), *more, "-fsyntax-only", source)


def every_body_without_a_warning(compiler, standard):
    compiler_driver = driver(compiler, standard)
    with tempfile.TemporaryDirectory() as folder:
        source = write(folder, "table.c", *function_table(C_HEADERS), *include_lines(headers_for(standard)))
        check(compiler_driver, *flags(compiler, standard), "-fsyntax-only", source)


def a_status_that_is_dropped_warns(compiler, standard):
    """MPNUM_MUST_CHECK, and MPNUM_NO_MUST_CHECK, which takes the warning off."""
    compiler_driver = driver(compiler, standard)
    with tempfile.TemporaryDirectory() as folder:
        source = write(folder, "drop.c", *include_lines(["mpnum.h"]),
                       "void drop(mpnum_grad_scaler *scaler, mpnum_grad_optimizer *optimizer);",
                       "void drop(mpnum_grad_scaler *scaler, mpnum_grad_optimizer *optimizer)",
                       "{ mpnum_grad_scaler_update(scaler, optimizer); }")
        command = [compiler_driver, *flags(compiler, standard), "-DMPNUM_NO_SIMD=1", "-Wno-error", "-c",
                   source, "-o", Path(folder) / "drop.o"]
        said = run(*command).stdout
        assert re.search(r"drop\.c:\d+.*warning: .*(warn_unused_result|nodiscard)", said), said
        said = check(*command, "-DMPNUM_NO_MUST_CHECK=1")
        assert "warning" not in said, said


def casts_and_zeros_are_no_warning(compiler):
    """Of C in C++, all headers in one unit: each in a region of its own."""
    with tempfile.TemporaryDirectory() as folder:
        source = write(folder, "user.cpp", *include_lines(CPP_HEADERS))
        check(driver(compiler, "c++11"), *flags(compiler, "c++11"), "-fsyntax-only", source)


def every_header_with_text_is_a_region():
    """From its includes to the end of its guard, that of CUDA and of other CPUs, too: no compiler here sees all of them."""
    region = re.compile(r"(?:#include [^\n]*\n|#endif\n)MPNUM_C_BEGIN_\n.*\nMPNUM_C_END_\n#endif\n", re.S)
    for header in api.headers:
        text = (api.include / header).read_text()
        code = [line for line in without_comments(text).splitlines() if line.strip() and not line.startswith("#")]
        if code and not header.endswith(".inc") and header != "core/detail/config.h":
            assert text.count("MPNUM_C_") == 2 and region.search(text), header


def system_headers_are_silent(compiler, standard):
    """By -isystem, whatever a project asks of its own code: the limits, in its code, included."""
    strict = (["-Weverything", "-Wno-c++98-compat"] if compiler == "clang" else
              [*WARNINGS, *CPP_WARNINGS, *GPP_WARNINGS])
    limits = [name for name in api.macros if re.fullmatch(r"MPNUM_[A-Z0-9]+_(MAX|MIN|TRUE_MIN|EPSILON)", name)]
    with tempfile.TemporaryDirectory() as folder:
        source = write(folder, "user.c", *include_lines(headers_for(standard)), "float limit(int which);",
                       "float limit(int which) {", *[f"  if (which == {index}) return {name};" for index, name in enumerate(limits)],
                       "  return mpnum_e4m3_to_f32(mpnum_f32_to_e4m3_sat(1.0f));", "}")
        check(driver(compiler, standard), "-Werror", *strict, "-x", "c++" if "++" in standard else "c", f"-std={standard}",
              "-isystem", INCLUDE, "-fsyntax-only", source)


def macros_of(command, folder, lines, known):
    """known: {lines: what they define}"""
    if tuple(lines) not in known:
        said = check(*command, "-dM", "-E", write(folder, "macros.c", *lines))
        known[tuple(lines)] = set(re.findall(r"^#define (\w+)", said, re.M))
    return known[tuple(lines)]


def only_our_macros_are_added(compiler, standard):
    command = [driver(compiler, standard), "-x", "c++" if "++" in standard else "c", f"-std={standard}", "-I", INCLUDE]
    known = {}
    with tempfile.TemporaryDirectory() as folder:
        for header in headers_for(standard):
            theirs = ["#include <stdint.h>", "#include <stddef.h>"]
            if any(name.startswith("simd/detail/") for name in all_of(header)):
                theirs += INTRINSICS
            if header in CPP_LIBRARY:
                theirs += CPP_LIBRARY_LINES
            added = macros_of(command, folder, include_lines([header]), known) - macros_of(command, folder, theirs, known)
            # The short names of simd/detail/operations.inc stay, too.
            strangers = [name for name in added if not re.fullmatch(r"MPNUM_\w+|mpnumv_\w+", name)]
            assert not strangers, f"{header} adds {sorted(strangers)}"


def poisoned_macros_do_no_harm(compiler, standard):
    """Any use of a poisoned name is a syntax error."""
    names = OBJECT_POISON + (["T"] if standard.startswith("c9") else [])  # a template's parameter in mpnum.hpp
    poison = [f"#undef {name}\n#define {name} ?" for name in names]
    poison += [f"#undef {name}\n#define {name}(...) ?" for name in FUNCTION_POISON]
    with tempfile.TemporaryDirectory() as folder:
        source = write(folder, "poison.c", "#include <stdint.h>", "#include <stddef.h>", *INTRINSICS, *CPP_LIBRARY_LINES, *poison,
                       *include_lines(headers_for(standard)))
        check(driver(compiler, standard), *flags(compiler, standard), "-fsyntax-only", source)


def older_standards_are_refused_in_one_error(compiler):
    """Whatever is included first; a compiler that calls itself C++98, as MSVC does, is none of them."""
    with tempfile.TemporaryDirectory() as folder:
        for standard in ("c89", "gnu89", "iso9899:199409", "c++98", "gnu++98"):
            for header in ("mpnum.h", "types/text.h"):
                source = write(folder, "user.c", *include_lines([header]), "int main(void) { return 0; }")
                command = [driver(compiler, standard), "-x", "c++" if "++" in standard else "c", f"-std={standard}",
                           "-I", INCLUDE, "-fsyntax-only", source]
                done = run(*command)
                errors = re.findall(r"\berror: (.*)", done.stdout)
                assert done.returncode and [error.removeprefix("#error ") for error in errors] == ["mpnum needs C99 or C++11"], \
                    (header, standard, errors[:5])
        said = run(driver(compiler, "c++98"), "-x", "c++", "-std=c++98", "-D_MSC_VER=1930", "-I", INCLUDE, "-E",
                   write(folder, "config.cpp", *include_lines(["core/detail/config.h"])))
        assert said.returncode == 0, said.stdout


def two_units_link(compilers, standards):
    with tempfile.TemporaryDirectory() as folder:
        first = write(folder, "first.c", *include_lines(headers_for(standards[0])),
                      "#if defined(__cplusplus)", 'extern "C"', "#endif", "int other(float x);",
                      "int main(void) { return other(1.5f) - mpnum_f32_to_f16(1.5f).bits; }")
        second = write(folder, "second.c", *include_lines(headers_for(standards[1])),
                       "#if defined(__cplusplus)", 'extern "C"', "#endif", "int other(float x);",
                       "int other(float x) { return mpnum_f32_to_f16(x).bits; }")
        objects = []
        for source, compiler, standard in zip((first, second), compilers, standards):
            objects.append(source.with_suffix(".o"))
            check(driver(compiler, standard), *flags(compiler, standard), "-O1", "-c", source, "-o", objects[-1])
        linker = next((driver(compiler, standard) for compiler, standard in zip(compilers, standards)
                       if "++" in standard), compilers[0])
        check(linker, *objects, "-o", Path(folder) / "program")
        check(Path(folder) / "program")


def no_symbol_leaks(compiler, standard, headers, may_call, level="-O2"):
    """An object with every function shows the user's symbol alone and asks for no other, not even of libm, than
    those that compilers make calls of themselves. With -O0 no call is folded away, and gcc takes a fifth of the time."""
    nm = need("nm")
    with tempfile.TemporaryDirectory() as folder:
        source = write(folder, "table.c", *function_table(headers))
        table = source.with_suffix(".o")
        check(driver(compiler, standard), *flags(compiler, standard), level, "-c", source, "-o", table)
        symbols = {tuple(line.split()[:2]) for line in check(nm, "-g", "--format=posix", table).splitlines()}
    defined = {name.lstrip("_") for name, kind in symbols if kind != "U"}
    undefined = {name for name, kind in symbols if kind == "U"} - set(may_call)
    assert defined == {"user_table"}, defined
    assert not undefined, undefined


def conversions_are_constant_expressions(compiler, standard):
    """1 as a code is the bias in the exponent's place."""
    rows = re.findall(r"ROW\((\w+), \w+, (\d+), (\d+), (\d+), (\d+),", api.macros["MPNUM_FORMATS"][0][1])
    lines = include_lines(["mpnum.hpp"])
    for name, sign_bits, exponent_bits, mantissa_bits, bias in rows:
        width = int(sign_bits) + int(exponent_bits) + int(mantissa_bits)
        code = int(bias) << int(mantissa_bits) << (32 - width if width > 16 else 0)
        lines += [f"static_assert(mpnum_f32_to_{name}_sat(1.0f).bits == {code}, \"\");",
                  f"static_assert(mpnum_{name}_to_f32(mpnum_from_bits_{name}({code})) == 1.0f, \"\");"]
    with tempfile.TemporaryDirectory() as folder:
        check(driver(compiler, standard), *flags(compiler, standard), "-fsyntax-only",
              write(folder, "constant.cpp", *lines))


CODE = ["-O1", "-c"]  # without which a compiler only reads, in a fiftieth of the time


def compiles_for_32_bits(compiler, standard, *how):
    with tempfile.TemporaryDirectory() as folder:
        probe = write(folder, "probe.c", "#include <stdint.h>", "int32_t x;")
        command = [driver(compiler, standard), "-m32", "-ffreestanding"]
        if run(*command, "-fsyntax-only", probe).returncode:
            raise tap.Skip(f"this {compiler} has no -m32")
        source = write(folder, "table.c", *function_table(C_HEADERS))
        check(*command, *flags(compiler, standard), *(how or CODE), source, "-o", source.with_suffix(".o"))


def compiles_freestanding(compiler, standard, *how):
    """With the headers of the compiler alone."""
    command = driver(compiler, standard)
    own = (Path(check(command, "-print-resource-dir").strip()) / "include" if "clang" in compiler
           else check(command, "-print-file-name=include").strip())
    with tempfile.TemporaryDirectory() as folder:
        source = write(folder, "table.c", *function_table(C_HEADERS))
        check(command, *flags(compiler, standard), "-ffreestanding", "-nostdinc", "-isystem", own, *(how or CODE),
              source, "-o", source.with_suffix(".o"))


def compiles_with_the_users_integer_types(compiler, standard):
    types = [("unsigned char", "uint8_t"), ("unsigned short", "uint16_t"), ("unsigned int", "uint32_t"),
             ("unsigned long long", "uint64_t"), ("signed char", "int8_t"), ("short", "int16_t"), ("int", "int32_t"),
             ("long long", "int64_t")]
    without = api.host_only | set(api.functions_of("blocks/blockscale_format.h"))  # whose sizes are in <stddef.h>
    with tempfile.TemporaryDirectory() as folder:
        source = write(folder, "table.c", *[f"typedef {kind} {name};" for kind, name in types],
                       *function_table(CORE_HEADERS, without=without))
        check(driver(compiler, standard), *flags(compiler, standard), "-nostdinc", "-D", "MPNUM_NO_STDINT=1",
              "-fsyntax-only", source)


PROBES = [each_header_alone_and_twice, only_our_macros_are_added, poisoned_macros_do_no_harm, compiles_for_32_bits,
          compiles_freestanding, compiles_with_the_users_integer_types]
MAKE_CODE = [compiles_for_32_bits, compiles_freestanding]


def only_read(test):
    """What spares a compiler the loops, which take a minute, or their code."""
    if test in MAKE_CODE:
        return ["-fsyntax-only"]
    return ["-DMPNUM_NO_SIMD=1"] if test is each_header_alone_and_twice else []


def quick_properties():
    yield from (headers_include_only_what_is_above_them, umbrella_includes_all_but_the_opt_in_headers,
                operations_are_bound_where_used, few_files_name_an_isa,
                no_header_is_named_like_one_of_libc, no_reserved_identifier_is_ours, every_declaration_has_our_prefix,
                every_header_with_text_is_a_region)
    yield named("older standards are refused in one error, gcc", older_standards_are_refused_in_one_error, "gcc")
    yield named("casts and zeros are no warning, gcc c++11", casts_and_zeros_are_no_warning, "gcc")
    yield named("every body without a warning, gcc c99", every_body_without_a_warning, "gcc", "c99")
    for test in PROBES:
        yield named(f"{test.__name__}, gcc c99", test, "gcc", "c99", *only_read(test))
    for standard in ("c99", "c++11", "c++17"):
        yield named(f"a status that is dropped warns, gcc {standard}", a_status_that_is_dropped_warns, "gcc", standard)
    yield named("a status that is dropped warns, clang c99", a_status_that_is_dropped_warns, "clang", "c99")
    yield named("system headers are silent, clang c99", system_headers_are_silent, "clang", "c99")
    yield named("some .inc files compile alone, gcc", each_inc_compiles_alone, "gcc", QUICK_INC_FILES)


def full_properties():
    yield no_inc_leaves_out_what_it_has
    yield named("older standards are refused in one error, clang", older_standards_are_refused_in_one_error, "clang")
    yield named("casts and zeros are no warning, clang c++11", casts_and_zeros_are_no_warning, "clang")
    yield named("every .inc file compiles alone, clang", each_inc_compiles_alone, "clang", INC_FILES)
    yield named("two units link, gcc c99 and clang c++17", two_units_link, ("gcc", "clang"), ("c99", "c++17"))
    for compiler in ("gcc", "clang"):
        standard = "c++11" if compiler == "gcc" else "c99"
        yield named(f"every body without a warning, {compiler} {standard}", every_body_without_a_warning, compiler, standard)
        for test in PROBES:
            if compiler == "gcc" or test is not each_header_alone_and_twice:  # which takes as long as all others
                yield named(f"{test.__name__}, {compiler} {standard}", test, compiler, standard, *only_read(test))
        if compiler == "gcc":  # it compiles every loop of every ISA
            yield named("no symbol leaks, gcc c99", no_symbol_leaks, compiler, "c99", CORE_HEADERS, ["memcpy", "memset"], "-O0")
            yield named("no symbol leaks from the opt-in headers, gcc c99", no_symbol_leaks, compiler, "c99", OPT_IN_HEADERS,
                        ["memcpy", "memset"])
        yield named(f"system headers are silent, {compiler} c++11", system_headers_are_silent, compiler, "c++11")
        for standard in ("c++14", "c++20"):
            yield named(f"conversions_are_constant_expressions, {compiler} {standard}",
                        conversions_are_constant_expressions, compiler, standard)


def exhaustive_properties():
    """Each way in more dialects."""
    for compiler in ("gcc", "clang"):
        yield named(f"conversions_are_constant_expressions, {compiler} c++17",
                    conversions_are_constant_expressions, compiler, "c++17")
        for standard in C_STANDARDS + CPP_STANDARDS:
            yield named(f"every body without a warning, {compiler} {standard}",
                        every_body_without_a_warning, compiler, standard)
            for test in PROBES:
                yield named(f"{test.__name__}, {compiler} {standard}", test, compiler, standard)
        for kind, headers in (("all", CORE_HEADERS), ("the opt-in", OPT_IN_HEADERS)):
            yield named(f"no symbol leaks from {kind} headers, {compiler} c++17", no_symbol_leaks, compiler, "c++17", headers,
                        ["memcpy", "memset"])
        yield named(f"every .inc file compiles alone, {compiler}", each_inc_compiles_alone, compiler, INC_FILES)
        for standards in (("c99", "c99"), ("c99", "c++17"), ("c++11", "c++17")):
            yield named(f"two units link, {compiler} {' and '.join(standards)}",
                        two_units_link, (compiler, compiler), standards)


PROPERTIES = {"quick": quick_properties, "full": full_properties, "exhaustive": exhaustive_properties}
if __name__ == "__main__":
    tier = sys.argv[1] if sys.argv[1:] else "quick"
    if tier not in PROPERTIES:
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(2)
    sys.exit(toolchain.run_on_all_cores(list(PROPERTIES[tier]())))
