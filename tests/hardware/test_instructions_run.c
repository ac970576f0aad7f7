/* SPDX-License-Identifier: MIT */
/* The instructions of the CPU that runs this, those that it has, beside the library's:
 * F16C, AVX512-FP16 and AVX512-BF16 of x86 under each MXCSR, FCVT and its like of Arm
 * under FPCR, by inline assembly; of PTX rounding to integers, which is ROUNDPS's, and
 * flushed results, which are CVTPD2PS's with FTZ. And what is no instruction.
 *
 * All inputs of 16 bits; of 32 bits every 65521st and those whose low 13 bits are at an
 * edge for each 193rd upper part, on Arm fewer; with --all 2^24. */
#include "mpnum/hardware/instruction.h"
#include "mpnum/types/vocabulary.h" /* after it: their macros are apart */

#include "../harness/tap.h"

#include <string.h>

/* Lanes of 32 bits into lanes of 32: results of 16 bits lie side by side. */
typedef uint32_t lanes __attribute__((vector_size(16)));

#if defined(__x86_64__) && ((defined(__clang__) && __clang_major__ >= 14) || \
                            (!defined(__clang__) && __GNUC__ >= 12))
# define HAS_X86 1
# include <cpuid.h>
#else
# define HAS_X86 0
#endif
#if defined(__aarch64__)
# define HAS_ARM 1
#else
# define HAS_ARM 0
#endif

static uint32_t stride = 65521 * (HAS_ARM ? 16 : 1);

#if HAS_X86 || HAS_ARM

typedef struct {
  const char *name;
  lanes (*run)(lanes source, lanes second, uint32_t control);
  int source_bits, result_bits, two; /* two: the second operand is the lower half */
} instruction;

static uint32_t bits_at(const lanes *words, int bits, int i) {
  uint32_t word = 0;
  memcpy(&word, (const char *)words + i * bits / 8, (size_t)(bits < 32 ? bits : 32) / 8);
  return word;
}

static int is_nan(uint64_t code, int bits) {
  return (code << (64 - bits) & ~((uint64_t)1 << 63)) >
         (bits == 64 ? (uint64_t)0x7ff << 52 : (uint64_t)0x7f8 << 52);
}

/* As many elements as the instruction takes, which begin at a code: c, c + step, ... */
static void compare(const instruction *tried, uint64_t first, uint64_t step,
                    uint32_t control, const mpnum_instruction_control *registers) {
  static const char *name = NULL; /* the last one that was looked up */
  static uint32_t number = 0;
  const int widest =
      tried->source_bits > tried->result_bits ? tried->source_bits : tried->result_bits;
  const int count = 128 / widest;
  lanes source = {0, 0, 0, 0}, second = {0, 0, 0, 0};
  if (name != tried->name) number = mpnum_instruction_of(name = tried->name);
  for (int i = 0; i < count; ++i) {
    const uint64_t code = first + (uint64_t)i * step, other = ~code;
    memcpy((char *)&source + i * tried->source_bits / 8, &code,
           (size_t)tried->source_bits / 8);
    memcpy((char *)&second + i * tried->source_bits / 8, &other,
           (size_t)tried->source_bits / 8);
  }
  const lanes result = tried->run(source, second, control);
  for (int i = 0; i < count; ++i) {
    const uint64_t code = first + (uint64_t)i * step;
    if (*tried->name == 'c' && is_nan(code, tried->source_bits))
      continue; /* open in PTX */
    uint32_t operands[2] = {(uint32_t)code, (uint32_t)(code >> 32)}, got[2] = {0, 0};
    uint32_t want[2] = {bits_at(&result, tried->result_bits, i), 0};
    if (tried->two) {
      operands[1] = (uint32_t)~code;
      want[0] = want[0] | bits_at(&result, 16, i + count) << 16;
    }
    if (tried->result_bits == 64)
      memcpy(want, (const char *)&result + 8 * i, sizeof want);
    const mpnum_status status =
        mpnum_instruction_convert(number, got, operands, 0, registers);
    CHECK(status == MPNUM_OK && got[0] == want[0] && got[1] == want[1],
          "%s of %08x%08x, control %x: %08x%08x, by the CPU %08x%08x", tried->name,
          operands[1], operands[0], control, got[1], got[0], want[1], want[0]);
  }
}

static void compare_all(const instruction *tried, uint32_t control,
                        const mpnum_instruction_control *registers) {
  static const uint32_t edges[8] = {0, 1, 0xfff, 0x1000, 0x1001, 0x1fff, 0x8000, 0x8001};
  if (tried->source_bits == 16) {
    for (uint32_t code = 0; code < 0x10000; code += 8)
      for (uint32_t part = 0; part < 8; part += (uint32_t)(128 / tried->result_bits))
        compare(tried, code + part, 1, control, registers);
    return;
  }
  for (uint64_t code = 0; code < 0x100000000u; code += 4 * (uint64_t)stride) {
    const uint64_t bits = tried->source_bits == 32
                              ? code
                              : mpnum_bits_f64(mpnum_decode_f64(
                                    mpnum_format_of(MPNUM_TYPE_F32), (uint32_t)code)) +
                                    (code & 0x10000 ? code & 0xff : 0);
    compare(tried, bits, tried->source_bits == 32 ? stride : 1, control, registers);
  }
  for (uint64_t upper = 0; upper < 0x100000000u; upper += (HAS_ARM ? 3989 : 193) << 13)
    for (int edge = 0; edge < 8; ++edge) {
      const uint64_t code = upper + edges[edge];
      compare(tried,
              tried->source_bits == 32
                  ? code
                  : mpnum_bits_f64(mpnum_decode_f64(mpnum_format_of(MPNUM_TYPE_F32),
                                                    (uint32_t)code)),
              1, control, registers);
    }
}
#endif

#if HAS_X86

/* Under an MXCSR whose exceptions are masked. */
# define MNEMONIC(function, text)                                        \
  static lanes function(lanes source, lanes second, uint32_t control) {  \
   const uint32_t mxcsr = control | 0x1f80;                              \
   uint32_t before = 0;                                                  \
   lanes result = second;                                                \
   __asm__ volatile("stmxcsr %0\n\tldmxcsr %4\n\t" text "\n\tldmxcsr %0" \
                    : "+m"(before), "=&x"(result)                        \
                    : "x"(source), "x"(second), "m"(mxcsr));             \
   return result;                                                        \
  }
MNEMONIC(ps2ph_0, "vcvtps2ph $0, %2, %1")
MNEMONIC(ps2ph_1, "vcvtps2ph $1, %2, %1")
MNEMONIC(ps2ph_2, "vcvtps2ph $2, %2, %1")
MNEMONIC(ps2ph_3, "vcvtps2ph $3, %2, %1")
MNEMONIC(ps2ph_4, "vcvtps2ph $4, %2, %1")
MNEMONIC(ph2ps, "vcvtph2ps %2, %1")
MNEMONIC(pd2ps, "cvtpd2ps %2, %1")
MNEMONIC(round_ps_0, "roundps $0, %2, %1")
MNEMONIC(round_ps_1, "roundps $1, %2, %1")
MNEMONIC(round_ps_2, "roundps $2, %2, %1")
MNEMONIC(round_ps_3, "roundps $3, %2, %1")
MNEMONIC(round_pd_0, "roundpd $0, %2, %1")
MNEMONIC(round_pd_1, "roundpd $1, %2, %1")
MNEMONIC(round_pd_2, "roundpd $2, %2, %1")
MNEMONIC(round_pd_3, "roundpd $3, %2, %1")
MNEMONIC(ps2phx, "vcvtps2phx %2, %1")
MNEMONIC(ph2psx, "vcvtph2psx %2, %1")
MNEMONIC(pd2ph, "vcvtpd2phx %2, %1")
MNEMONIC(ph2pd, "vcvtph2pd %2, %1")
MNEMONIC(neps2bf16, "vcvtneps2bf16x %2, %1")
MNEMONIC(ne2ps2bf16, "vcvtne2ps2bf16 %3, %2, %1")

static unsigned leaf_7(unsigned subleaf, int reg) {
  unsigned registers[4] = {0, 0, 0, 0};
  if (!__builtin_cpu_supports("avx512vl") ||
      !__get_cpuid_count(7, subleaf, &registers[0], &registers[1], &registers[2],
                         &registers[3]))
    return 0;
  return registers[reg];
}

static int has_f16c(void) {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __builtin_cpu_supports("avx") && __get_cpuid(1, &eax, &ebx, &ecx, &edx) &&
         ecx >> 29 & 1;
}

/* Each direction, DAZ and FTZ. */
static void under_each_mxcsr(const instruction *tried, uint32_t imm8) {
  for (uint32_t state = 0; state < 16; ++state) {
    const uint32_t mxcsr = (state & 3) << 13 | (state >> 2 & 1) << 6 | state >> 3 << 15;
    mpnum_instruction_control registers = {0, 0, 0, 0, 0, 0};
    registers.mxcsr = mxcsr;
    registers.imm8 = imm8;
    compare_all(tried, mxcsr, &registers);
  }
}

/* RC of MXCSR: nearest even, down, up, toward zero. */
static void ptx(void) {
  static const instruction tried[] = {
      {"cvt.rn.ftz.f32.f64", pd2ps, 64, 32, 0},
      {"cvt.rm.ftz.f32.f64", pd2ps, 64, 32, 0},
      {"cvt.rp.ftz.f32.f64", pd2ps, 64, 32, 0},
      {"cvt.rz.ftz.f32.f64", pd2ps, 64, 32, 0},
      {"cvt.rni.f32.f32", round_ps_0, 32, 32, 0},
      {"cvt.rmi.f32.f32", round_ps_1, 32, 32, 0},
      {"cvt.rpi.f32.f32", round_ps_2, 32, 32, 0},
      {"cvt.rzi.f32.f32", round_ps_3, 32, 32, 0},
      {"cvt.rni.f64.f64", round_pd_0, 64, 64, 0},
      {"cvt.rmi.f64.f64", round_pd_1, 64, 64, 0},
      {"cvt.rpi.f64.f64", round_pd_2, 64, 64, 0},
      {"cvt.rzi.f64.f64", round_pd_3, 64, 64, 0},
      {"cvt.rmi.ftz.f32.f32", round_ps_1, 32, 32, 0},
      {"cvt.rpi.ftz.f32.f32", round_ps_2, 32, 32, 0},
  };
  const uint32_t daz = 0x40, ftz = 0x8000;
  for (uint32_t i = 0; i < sizeof tried / sizeof tried[0]; ++i) {
    const uint32_t control = i < 4 ? ftz | i << 13 : i < 12 ? 0 : daz;
    compare_all(&tried[i], control, NULL);
    for (uint64_t code = 0x380fffffc0000000; i < 4 && code < 0x3810000010000000;
         code += 0xffffff)
      compare(&tried[i], code, (uint64_t)1 << 63, control, NULL);
  }
}

static void f16c(void) {
  static lanes (*const narrow[5])(lanes, lanes, uint32_t) = {ps2ph_0, ps2ph_1, ps2ph_2,
                                                             ps2ph_3, ps2ph_4};
  const instruction widen = {"vcvtph2ps", ph2ps, 16, 32, 0};
  for (uint32_t imm8 = 0; imm8 < 5; ++imm8) {
    const instruction tried = {"vcvtps2ph", narrow[imm8], 32, 16, 0};
    under_each_mxcsr(&tried, imm8);
  }
  under_each_mxcsr(&widen, 0);
}

static void avx512_fp16(void) {
  const instruction tried[4] = {{"vcvtps2phx", ps2phx, 32, 16, 0},
                                {"vcvtph2psx", ph2psx, 16, 32, 0},
                                {"vcvtpd2ph", pd2ph, 64, 16, 0},
                                {"vcvtph2pd", ph2pd, 16, 64, 0}};
  for (int i = 0; i < 4; ++i)
    under_each_mxcsr(&tried[i], 0);
}

static void avx512_bf16(void) {
  const instruction one = {"vcvtneps2bf16", neps2bf16, 32, 16, 0};
  const instruction two = {"vcvtne2ps2bf16", ne2ps2bf16, 32, 16, 1};
  under_each_mxcsr(&one, 0);
  under_each_mxcsr(&two, 0);
}
#endif

#if HAS_ARM

/* One element after the other, under an FPCR. */
# define SCALAR(function, text, source_bits, result_bits)                        \
  static lanes function(lanes source, lanes second, uint32_t control) {          \
   const int widest = source_bits > result_bits ? source_bits : result_bits;     \
   const uint64_t fpcr = control;                                                \
   lanes result = second;                                                        \
   for (int i = 0; i < 128 / widest; ++i) {                                      \
    uint64_t code = 0;                                                           \
    memcpy(&code, (const char *)&source + i * source_bits / 8, source_bits / 8); \
    __asm__ volatile(".arch armv8.6-a+bf16\n\tmrs x9, fpcr\n\tmsr fpcr, %1\n\t"  \
                     "fmov d0, %0\n\t" text "\n\tfmov %0, d0\n\tmsr fpcr, x9"    \
                     : "+r"(code)                                                \
                     : "r"(fpcr)                                                 \
                     : "v0", "x9");                                              \
    memcpy((char *)&result + i * result_bits / 8, &code, result_bits / 8);       \
   }                                                                             \
   return result;                                                                \
  }
SCALAR(h_of_s, "fcvt h0, s0", 32, 16)
SCALAR(h_of_d, "fcvt h0, d0", 64, 16)
SCALAR(s_of_d, "fcvt s0, d0", 64, 32)
SCALAR(s_of_d_odd, "fcvtxn s0, d0", 64, 32)
SCALAR(s_of_h, "fcvt s0, h0", 16, 32)
SCALAR(d_of_h, "fcvt d0, h0", 16, 64)
SCALAR(d_of_s, "fcvt d0, s0", 32, 64)
SCALAR(bf16_of_s, "bfcvt h0, s0", 32, 16)

/* Each direction, FZ and DN. */
static void arm(void) {
  const instruction tried[8] = {
      {"fcvt hd, sn", h_of_s, 32, 16, 0}, {"fcvt hd, dn", h_of_d, 64, 16, 0},
      {"fcvt sd, dn", s_of_d, 64, 32, 0}, {"fcvtxn sd, dn", s_of_d_odd, 64, 32, 0},
      {"fcvt sd, hn", s_of_h, 16, 32, 0}, {"fcvt dd, hn", d_of_h, 16, 64, 0},
      {"fcvt dd, sn", d_of_s, 32, 64, 0}, {"bfcvt hd, sn", bf16_of_s, 32, 16, 0}};
  for (int i = 0; i < 8; ++i)
    for (uint32_t state = 0; state < 16; ++state) {
      mpnum_instruction_control registers = {0, 0, 0, 0, 0, 0};
      registers.fpcr = (state & 3) << 22 | (state >> 2 & 1) << 24 | state >> 3 << 25;
      compare_all(&tried[i], registers.fpcr, &registers);
    }
}
#endif

static void names_are_found(void) {
  uint32_t number = 1;
  for (; mpnum_instruction_name(number); ++number)
    CHECK(mpnum_instruction_of(mpnum_instruction_name(number)) == number, "%s twice",
          mpnum_instruction_name(number));
  CHECK(number > 300, "%u names", number);
  CHECK(mpnum_instruction_of("cvt.rn.satfinite.relu.f16x2.f32") ==
            mpnum_instruction_of("cvt.rn.relu.satfinite.f16x2.f32"),
        "the order of .relu and .satfinite");
}

static void bad_input_is_a_status(void) {
  static const char *const wrong[7] = {"",
                                       "cvt",
                                       "cvt.rn.f16.f3",
                                       "cvt.rn.f16.f322",
                                       "cvt.rn.relu.relu.f16x2.f32",
                                       "cvt.rn.satfinite.satfinite.f16x2.f32",
                                       "cvt.rn.satfinite.e4m3x2.f64"};
  const uint32_t cvt = mpnum_instruction_of("cvt.rn.satfinite.e4m3x2.f32");
  const uint32_t source[2] = {0x3f800000, 0xc3e00000};
  uint32_t words[2] = {0x3f800000, 0xc3e00000}, d = 77;
  for (int i = 0; i < 7; ++i)
    CHECK(mpnum_instruction_of(wrong[i]) == 0, "%s", wrong[i]);
  CHECK(mpnum_instruction_of(NULL) == 0, "NULL");
  CHECK(!mpnum_instruction_name(0) && !mpnum_instruction_name(0xffffffffu), "no name");
  CHECK(mpnum_instruction_convert(0, &d, source, 0, NULL) == MPNUM_ERROR_ARGUMENT, "0");
  CHECK(mpnum_instruction_convert(9999, &d, source, 0, NULL) == MPNUM_ERROR_ARGUMENT,
        "9999");
  CHECK(mpnum_instruction_convert(cvt, &d, NULL, 0, NULL) == MPNUM_ERROR_NULL, "src");
  CHECK(mpnum_instruction_convert(cvt, NULL, source, 0, NULL) == MPNUM_ERROR_NULL, "dst");
  CHECK(d == 77, "written: %x", d);
  CHECK(mpnum_instruction_convert(cvt, words, words, 0, NULL) == MPNUM_OK &&
            words[0] == 0x38fe,
        "in place: %x", words[0]);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "--all") == 0) stride = 256;
  TAP_RUN(names_are_found);
  TAP_RUN(bad_input_is_a_status);
#if HAS_ARM
  TAP_RUN(arm);
#elif HAS_X86
  if (__builtin_cpu_supports("sse4.1"))
    TAP_RUN(ptx);
  else
    TAP_SKIP("ptx", "this CPU has no SSE4.1");
  if (has_f16c())
    TAP_RUN(f16c);
  else
    TAP_SKIP("f16c", "this CPU has no F16C");
  if (leaf_7(0, 3) >> 23 & 1)
    TAP_RUN(avx512_fp16);
  else
    TAP_SKIP("avx512_fp16", "this CPU has no AVX512-FP16");
  if (leaf_7(1, 0) >> 5 & 1)
    TAP_RUN(avx512_bf16);
  else
    TAP_SKIP("avx512_bf16", "this CPU has no AVX512-BF16");
#else
  TAP_SKIP("instructions", "neither Arm nor x86 with a compiler that knows them");
#endif
  return tap_done();
}
