/* SPDX-License-Identifier: MIT */
/* a b + c rounded once, the step that the functions are made of: with every instruction
 * set, and emulated where there is no instruction, each result is that of libm's fmaf. */
#include <mpnum/func/func_array.h>

#include "../harness/control_word.h"
#include "../harness/isas.h"
#include "../harness/must.h"
#include "../harness/tap.h"

#include <math.h>
#include <string.h>

#define mpnumv_fma_loop MPNUM_V_(fma_loop)
#define MPNUM_EACH_ISA_ "func/fma_loop.inc"
#include <mpnum/simd/detail/each_isa.inc>
#undef mpnumv_fma_loop

#if !MPNUM_HAS_FMA_
static void emulated_loop(float *dst, const float *a, const float *b, const float *c,
                          size_t n) {
  const uint64_t saved = mpnum_fenv_save_();
  for (size_t i = 0; i < n; ++i)
    dst[i] = mpnum_fma_emulated_(a[i], b[i], c[i]);
  mpnum_fenv_restore_(saved);
}
#endif

typedef void fma_loop(float *, const float *, const float *, const float *, size_t);
typedef struct form {
  const char *name;
  fma_loop *loop;
} form;
/* Those of this machine and this build. */
static form forms[ISAS + 1];
enum { COUNT = 1 << 12 };
static int form_count;
static void add_form(const char *name, fma_loop *loop) {
  const form made = {name, loop};
  forms[form_count++] = made;
}
static void find_forms(void) {
  const mpnum_isa before = mpnum_isa_in_use();
  add_form("scalar", mpnum_fma_loop_scalar_);
#if !MPNUM_HAS_FMA_
  add_form("emulated", emulated_loop);
#endif
  for (int i = 1; i < ISAS; ++i)
    if (mpnum_isa_force(isas[i]) == MPNUM_OK)
      add_form(mpnum_isa_name(isas[i]),
               MPNUM_PICK_(isas[i], fma_loop, SSE2, mpnum_fma_loop_scalar_));
  may(mpnum_isa_force(before));
}

static float a[COUNT], b[COUNT], c[COUNT], want[COUNT], got[COUNT];
static int count; /* of triples so far */

/* libm's function, whatever the compiler knows about it. */
static float (*volatile fmaf_of_libm)(float, float, float) = fmaf;

static int is_nan_pattern(uint32_t bits) { return (bits & 0x7fffffffu) > 0x7f800000u; }
/* Compares all forms with what is wanted, in an environment of the caller's. */
static void compare(uint64_t word, const char *name) {
  for (int k = 0; k < form_count; ++k) {
    memset(got, 0x5c, sizeof got);
    const uint64_t before = control_word();
    set_control_word(word);
    forms[k].loop(got, a, b, c, COUNT);
    set_control_word(before);
    for (int i = 0; i < count; ++i) {
      const uint32_t y = mpnum_bits_f32(got[i]), z = mpnum_bits_f32(want[i]);
      CHECK(y == z || (is_nan_pattern(y) && is_nan_pattern(z)),
            "%s, %s: %08x * %08x + %08x is %08x, not %08x", forms[k].name, name,
            mpnum_bits_f32(a[i]), mpnum_bits_f32(b[i]), mpnum_bits_f32(c[i]), y, z);
    }
  }
}
static uint64_t nearest, flushing, upward;
static void compare_everywhere(void) {
  for (int i = 0; i < count; ++i)
    want[i] = fmaf_of_libm(a[i], b[i], c[i]);
  compare(nearest, "to nearest");
  if (count == 0 || tap_errors) return;
  compare(upward, "upward");
  compare(flushing, "flushed");
}
static void add(uint32_t x, uint32_t y, uint32_t z) {
  a[count] = mpnum_from_bits_f32(x);
  b[count] = mpnum_from_bits_f32(y);
  c[count] = mpnum_from_bits_f32(z);
  if (++count == COUNT) {
    compare_everywhere();
    count = 0;
  }
}
static void finish(void) {
  compare_everywhere();
  count = 0;
}

/* Zeros, subnormals, both sides of powers of two, ends of the range, Inf, NaN. */
static void edges(void) {
  static const uint32_t values[] = {
      0x7f800000, 0x00000000, 0x00000001, 0x00000002, 0x00000003, 0x003fffff, 0x00400000,
      0x007fffff, 0x00800000, 0x00800001, 0x00ffffff, 0x01000000, 0x0c800000, 0x19ffffff,
      0x1a000000, 0x33000000, 0x33000001, 0x337fffff, 0x33800000, 0x34000000, 0x34000001,
      0x3effffff, 0x3f000000, 0x3f000001, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x3f800003,
      0x3fffffff, 0x40400000, 0x4b000001, 0x4b7fffff, 0x4b800000, 0x5f7fffff, 0x7e800000,
      0x7effffff, 0x7f000000, 0x7f7ffffe, 0x7f7fffff, 0x7fc00000};
  enum { VALUES = sizeof values / sizeof values[0] };
  for (uint32_t signs = 0; signs < 4; ++signs) /* Inf and subnormals in one vector */
    for (int i = 0; i < VALUES; ++i)
      for (int j = 0; j < VALUES; ++j)
        for (int k = 0; k < VALUES; ++k)
          add(values[i] | signs << 31, values[j], values[k] | (signs >> 1) << 31);
  finish();
}

static uint64_t state = 0x9e3779b97f4a7c15;
static uint32_t random_word(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 16);
}
static uint32_t with_exponent(uint32_t word, uint32_t exponent) {
  return (word & 0x807fffff) | exponent << 23;
}
#ifndef TEST_MILLIONS
# define TEST_MILLIONS 1
#endif
/* Any three floats; near each other; whose product ends where c does not reach, which is
 * what is rounded twice wrongly; products that are subnormal. */
static void random_triples(void) {
  for (long long i = 0; i < TEST_MILLIONS * 1000000LL; ++i) {
    uint32_t x = random_word(), y = random_word(), z = random_word();
    const uint32_t kind = random_word() % 8;
    if (kind >= 2) {
      x = with_exponent(x, 120 + (x >> 9) % 16);
      y = with_exponent(y, 120 + (y >> 9) % 16);
      z = with_exponent(z, 90 + (z >> 9) % 70);
    }
    if (kind == 3) x &= 0xffffe000;
    if (kind == 4) {
      x &= 0xfffff000; /* the product has few bits, c is far below */
      y &= 0xfffff000;
      z = with_exponent(z, 60 + (z >> 9) % 40);
    }
    if (kind == 5) { /* half a unit and a little */
      x = with_exponent(x & 0x80000000, 127 - (x >> 9) % 30);
      z = with_exponent(z, 60 + (z >> 9) % 100);
    }
    if (kind == 6) x = with_exponent(x, 1 + (x >> 9) % 30);
    if (kind == 7) {
      x = with_exponent(x, 40 + (x >> 9) % 30);
      y = with_exponent(y, 20 + (y >> 9) % 40);
      z &= 0x80ffffff;
    }
    add(x, y, z);
  }
  finish();
}
/* Wherever c makes the exact sum lie halfway between two floats, or right beside. */
static void middles(void) {
  for (uint32_t i = 0; i < 200000; ++i) {
    const uint32_t x = with_exponent(random_word(), 127);
    const uint32_t y = with_exponent(random_word() & 0xff800000, 103 - i % 3);
    const uint32_t z = with_exponent(random_word(), 127 + i % 5);
    add(x, y, z);
    add(x & 0xffff0000, y, z);
    add(0x3f800000, with_exponent(z, 102), x); /* the least bit of double's sum */
    add(with_exponent(x & 0x807ff000, 127), with_exponent(y & 0x80000000, 74 + i % 30),
        with_exponent(z, 100));
  }
  finish();
}

/* (1 + u) (1 - u) 2^-150 is 2^-150 less u^2 2^-150: a sum with a subnormal lies by that
 * beside the middle of two floats, from far below a unit of the double to some of them.
 */
static void subnormal_middles(void) {
  for (uint32_t i = 0; i < 400000; ++i) {
    const uint32_t u = random_word() % 3000, word = random_word();
    const uint32_t z = i % 16 == 0 ? 0x007fffff : word & 0x00ffffff;
    const uint32_t signs = random_word();
    add((0x3f800000 + u - (50u << 23)) | (signs & 0x80000000),
        0x3f800000 - 2 * u - (100u << 23), z | (signs << 1 & 0x80000000));
  }
  finish();
}

int main(void) {
  find_forms();
  nearest = control_word_of(FE_TONEAREST);
  upward = control_word_of(FE_UPWARD);
  flushing = nearest | FLUSHES;
  set_control_word(nearest);
  TAP_RUN(edges);
  TAP_RUN(middles);
  TAP_RUN(subnormal_middles);
  TAP_RUN(random_triples);
  for (int k = 0; k < form_count; ++k)
    printf("# compared: %s\n", forms[k].name);
  return tap_done();
}
