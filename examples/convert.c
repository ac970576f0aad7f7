/* SPDX-License-Identifier: MIT */
/* Rounds the numbers on the command line to the small formats and prints what is left of
 * them. */
#include <mpnum/mpnum.h>

#include <stdio.h>
#include <stdlib.h>

static void show(const char *format, unsigned code, float value) {
  printf("  %-5s code %04x  value %.9g\n", format, code, (double)value);
}

int main(int count, char **arguments) {
  int i;
  if (count < 2) {
    fprintf(stderr, "usage: convert NUMBER...\n");
    return 2;
  }
  for (i = 1; i < count; ++i) {
    char *end;
    const float x = strtof(arguments[i], &end);
    if (end == arguments[i] || *end != '\0') {
      fprintf(stderr, "convert: not a number: %s\n", arguments[i]);
      return 2;
    }
    const mpnum_f16 f16 = mpnum_f32_to_f16(x);
    const mpnum_bf16 bf16 = mpnum_f32_to_bf16(x);
    const mpnum_e5m2 e5m2 = mpnum_f32_to_e5m2(x);
    const mpnum_e4m3 e4m3 = mpnum_f32_to_e4m3_sat(x); /* 448 instead of NaN on overflow */
    const mpnum_e2m1 e2m1 = mpnum_f32_to_e2m1_sat(x);
    printf("%s\n", arguments[i]);
    show("f16", f16.bits, mpnum_f16_to_f32(f16));
    show("bf16", bf16.bits, mpnum_bf16_to_f32(bf16));
    show("e5m2", e5m2.bits, mpnum_e5m2_to_f32(e5m2));
    show("e4m3", e4m3.bits, mpnum_e4m3_to_f32(e4m3));
    show("e2m1", e2m1.bits, mpnum_e2m1_to_f32(e2m1));
  }
  return 0;
}
