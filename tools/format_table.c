/* SPDX-License-Identifier: MIT */
/* Prints the table of formats in Markdown, from the library itself.
 * tests/project/test_docs.py holds docs/formats.md to it. */
#include <mpnum/mpnum.h>

#include <stdio.h>

static void print_power(float value) {
  const mpnum_format f32 = mpnum_format_of(MPNUM_TYPE_F32);
  const uint32_t bits = mpnum_bits_f32(value);
  int exponent = (int)(bits >> 23) - 127;
  if (!mpnum_isnormal(f32, bits))
    for (exponent = -149; bits >> (exponent + 149) > 1;)
      ++exponent;
  if (exponent == 0)
    printf(" 1 |");
  else
    printf(" 2^%d |", exponent);
}

static void print_specials(mpnum_format format) {
  const int width = format.sign_bits + format.exponent_bits + format.mantissa_bits;
  const int digits = width > 16 ? 8 : (width + 3) / 4;
  if (format.inf_code)
    printf(" %0*x |", digits, (unsigned)format.inf_code << format.storage_shift);
  else
    printf(" none |");
  if (format.nan_code)
    printf(" %0*x |", digits, (unsigned)format.nan_code << format.storage_shift);
  else
    printf(" none |");
}

static void print_row(mpnum_type type) {
  const mpnum_format format = mpnum_format_of(type);
  printf("| `%s` | %d.%d.%d | %d | %.6g |", mpnum_type_name(type), format.sign_bits,
         format.exponent_bits, format.mantissa_bits, format.bias,
         mpnum_decode_f64(format, format.max_code << format.storage_shift));
  print_power(mpnum_format_min(format));
  print_power(mpnum_format_true_min(format));
  print_power(mpnum_format_epsilon(format));
  print_specials(format);
  printf("\n");
}

int main(void) {
  printf("| type | sign.exponent.mantissa | bias | max | min normal | smallest | epsilon "
         "| Inf "
         "| NaN |\n|---|---|---|---|---|---|---|---|---|\n");
  print_row(MPNUM_TYPE_F32);
#define PRINT_ROW(name, NAME, sign_bits, exponent_bits, mantissa_bits, bias, specials, \
                  nan)                                                                 \
 print_row(MPNUM_TYPE_##NAME);
  MPNUM_FORMATS(PRINT_ROW)
  MPNUM_SCALE_FORMATS_(PRINT_ROW)
#undef PRINT_ROW
  return 0;
}
