/* SPDX-License-Identifier: MIT */
/* Array functions against any bytes: the first ones choose a function, its arguments,
 * alignments and instruction set, the others are the elements. Results are those of the
 * scalar loops; memory of the exact sizes shows the sanitizers what is touched beside it.
 * A libFuzzer target; random_arrays.c drives it where libFuzzer is missing. */
#include "fuzz_array.h"
#include "../harness/must.h"

#include <stdlib.h>
#include <string.h>

#include "../array/array_functions.h"

#include <mpnum/types/preset.h>

static void require(int condition) {
  if (!condition) abort();
}

/* Reads choices off the front of the input; zeros when there is nothing left. */
typedef struct choices {
  const uint8_t *next;
  size_t left;
} choices;
static uint64_t take(choices *from, int bytes) {
  uint64_t word = 0;
  for (; bytes > 0; --bytes) {
    word = word << 8 | (from->left ? *from->next : 0);
    if (!from->left) continue;
    ++from->next;
    --from->left;
  }
  return word;
}

typedef struct call {
  int kind; /* typed, stochastic, convert, round */
  const array_function *typed;
  const stochastic_function *stochastic;
  mpnum_type src_type, dst_type;
  mpnum_format format; /* to round to */
  int src_bits, dst_bits;
  mpnum_rounding rounding;
  mpnum_overflow overflow;
  uint64_t seed, offset;
} call;

static int bits_of(mpnum_type type) {
  return type == MPNUM_TYPE_F64    ? 64
         : type <= MPNUM_TYPE_TF32 ? 32
         : type <= MPNUM_TYPE_F16  ? 16
                                   : 8;
}
static size_t bytes_of(int bits, size_t n) {
  if (bits == 6) return (n + 3) / 4 * 3;
  return (n * (size_t)bits + 7) / 8;
}

/* A format of the user's own where there is one of these numbers, else a type's. */
static mpnum_format choose_format(choices *from, mpnum_type type) {
  mpnum_format made = mpnum_format_of(type == MPNUM_TYPE_F64 ? MPNUM_TYPE_F32 : type);
  const int width = (int)take(from, 1), bias = (int)take(from, 1) - 128;
  const int specials = (int)take(from, 1) % 5, mantissa_bits = (int)take(from, 1) % 16;
  may(mpnum_format_init(&made, width % 2, width / 2 % 9, mantissa_bits, bias,
                        (mpnum_specials)specials));
  return made;
}

static call choose(choices *from) {
  call chosen;
  memset(&chosen, 0, sizeof chosen);
  chosen.kind = (int)take(from, 1) % 4;
  chosen.typed = &array_functions[take(from, 1) % array_function_count];
  chosen.stochastic = &stochastic_functions[take(from, 1) % stochastic_function_count];
  chosen.src_type = (mpnum_type)(1 + take(from, 1) % 14);
  chosen.dst_type = (mpnum_type)(1 + take(from, 1) % 14);
  chosen.rounding = (mpnum_rounding)(take(from, 1) % 7);
  chosen.overflow = (mpnum_overflow)(take(from, 1) % 2);
  chosen.seed = take(from, 8);
  chosen.offset = take(from, 8);
  if (chosen.kind == 0) {
    chosen.src_bits = chosen.typed->src_bits;
    chosen.dst_bits = chosen.typed->dst_bits;
  } else if (chosen.kind == 1) {
    chosen.src_bits = 32;
    chosen.dst_bits = chosen.stochastic->dst_bits;
  } else if (chosen.kind == 2) {
    chosen.src_bits = bits_of(chosen.src_type);
    chosen.dst_bits = bits_of(chosen.dst_type);
  } else {
    chosen.src_bits = chosen.dst_bits = 32;
    chosen.format = choose_format(from, chosen.dst_type);
  }
  return chosen;
}

static void convert(const call *chosen, mpnum_isa isa, void *dst, const void *src,
                    size_t n) {
  mpnum_status status = force_isa(isa);
  require(status == MPNUM_OK);
  if (chosen->kind == 0) {
    chosen->typed->convert(dst, src, n);
  } else if (chosen->kind == 1) {
    chosen->stochastic->convert(dst, src, n, chosen->seed, chosen->offset);
  } else if (chosen->kind == 2) {
    status =
        convert_array(chosen->dst_type, dst, chosen->src_type, src, n, chosen->rounding,
                      chosen->overflow, chosen->seed, chosen->offset);
  } else {
    status =
        round_array((float *)dst, (const float *)src, n, chosen->format, chosen->rounding,
                    chosen->overflow, chosen->seed, chosen->offset);
  }
  require(status == MPNUM_OK);
}

/* The best set if a build has one only. */
static mpnum_isa choose_isa(uint64_t choice) {
  const mpnum_isa isa = (mpnum_isa)(choice % 5);
  return force_isa(isa) == MPNUM_OK ? isa : isa_in_use();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  choices from = {data, size};
  const mpnum_isa isa = choose_isa(take(&from, 1));
  const mpnum_isa reference =
      force_isa(MPNUM_ISA_SCALAR) == MPNUM_OK ? MPNUM_ISA_SCALAR : isa;
  const call chosen = choose(&from);
  const size_t src_shift = take(&from, 1) % 64, dst_shift = take(&from, 1) % 64;
  size_t n = from.left * 8 / (size_t)chosen.src_bits;
  while (n && bytes_of(chosen.src_bits, n) > from.left)
    --n;
  const size_t src_size = bytes_of(chosen.src_bits, n);
  const size_t dst_size = bytes_of(chosen.dst_bits, n);
  uint8_t *src = (uint8_t *)malloc(src_shift + src_size);
  uint8_t *got = (uint8_t *)malloc(dst_shift + dst_size + 1);
  uint8_t *want = (uint8_t *)malloc(dst_size + 1);
  require((src || src_shift + src_size == 0) && got && want);
  if (src_size) memcpy(src + src_shift, from.next, src_size);
  memset(got, 0x5c, dst_shift + dst_size + 1);
  convert(&chosen, isa, got + dst_shift, src + src_shift, n);
  convert(&chosen, reference, want, src + src_shift, n);
  require(memcmp(got + dst_shift, want, dst_size) == 0);
  require(got[dst_shift + dst_size] == 0x5c &&
          (!dst_shift || got[dst_shift - 1] == 0x5c));
  require(src_size == 0 || memcmp(src + src_shift, from.next, src_size) == 0);
  free(src);
  free(got);
  free(want);
  return 0;
}
