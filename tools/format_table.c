/* SPDX-License-Identifier: MIT */
/* Prints the table of formats in Markdown or, with --svg, their ranges as a picture, from
 * the library itself. tests/project/test_docs.py holds docs/formats.md and
 * docs/formats.svg to it. */
#include <mpnum/mpnum.h>

#include <stdio.h>
#include <string.h>

/* floor(log2(value)), and 1 more where up and value is no power of two. */
static int exponent_of(float value, int up) {
  const uint32_t bits = mpnum_bits_f32(value);
  int exponent = (int)(bits >> 23) - 127;
  if (exponent == -127)
    for (exponent = -149; bits >> (exponent + 149) > 1;)
      ++exponent;
  return exponent + (up && (bits & 0x7fffffu) != 0);
}

static void print_power(float value) {
  const int exponent = exponent_of(value, 0);
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

/* The picture: a row for each format, a binade BINADE wide, 2^0 at ORIGIN. */
#define COUNT_ROW(name, NAME, sign_bits, exponent_bits, mantissa_bits, bias, specials, \
                  nan)                                                                 \
 +1
enum { BINADE = 2, ORIGIN = 430, TOP = 64, ROW_HEIGHT = 22, WIDTH = 990 };
enum { ROWS = 1 MPNUM_FORMATS(COUNT_ROW) };

static void print_text(int x, int y, const char *anchor, const char *text) {
  printf("<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, text);
}

static void print_bar(int row, float from, float to, const char *colour) {
  const int first = exponent_of(from, 0), last = exponent_of(to, 1);
  if (last > first)
    printf("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"14\" fill=\"%s\"/>\n",
           ORIGIN + BINADE * first, TOP + ROW_HEIGHT * row + 4, BINADE * (last - first),
           colour);
}

static void print_range(int row, mpnum_type type) {
  const mpnum_format format = mpnum_format_of(type);
  const int y = TOP + ROW_HEIGHT * row + 15;
  char text[32];
  snprintf(text, sizeof text, "%s  %d.%d.%d", mpnum_type_name(type), format.sign_bits,
           format.exponent_bits, format.mantissa_bits);
  print_text(12, y, "start", text);
  print_bar(row, mpnum_format_true_min(format), mpnum_format_min(format), "#8cc4e4");
  print_bar(row, mpnum_format_min(format), mpnum_format_max(format), "#0072b2");
  snprintf(text, sizeof text, "2^%d", exponent_of(mpnum_format_true_min(format), 0));
  print_text(780, y, "end", text);
  snprintf(text, sizeof text, "%.6g", (double)mpnum_format_max(format));
  print_text(880, y, "end", text);
  snprintf(text, sizeof text, "%d", 1 << format.mantissa_bits);
  print_text(WIDTH - 12, y, "end", text);
}

static void print_picture(void) {
  int exponent, row = 0;
  char text[32];
  printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         "<!-- SPDX-License-Identifier: MIT -->\n"
         "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
         "font-family=\"sans-serif\" font-size=\"12\">\n"
         "<title>Ranges of formats</title>\n"
         "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
         WIDTH, TOP + ROW_HEIGHT * ROWS + 12);
  print_text(12, 22, "start",
             "bits of sign.exponent.mantissa; magnitudes: normal dark, subnormal light");
  print_text(780, TOP - 8, "end", "smallest");
  print_text(880, TOP - 8, "end", "largest");
  print_text(WIDTH - 12, TOP - 26, "end", "steps from");
  print_text(WIDTH - 12, TOP - 8, "end", "1 to 2");
  for (exponent = -128; exponent <= 128; exponent += 32) {
    const int x = ORIGIN + BINADE * exponent;
    snprintf(text, sizeof text, "2^%d", exponent);
    print_text(x, TOP - 8, "middle", exponent == 0 ? "1" : text);
    printf("<path d=\"M%d %dV%d\" stroke=\"#ccc\"/>\n", x, TOP, TOP + ROW_HEIGHT * ROWS);
  }
  print_range(row, MPNUM_TYPE_F32);
#define PRINT_RANGE(name, NAME, sign_bits, exponent_bits, mantissa_bits, bias, specials, \
                    nan)                                                                 \
 print_range(++row, MPNUM_TYPE_##NAME);
  MPNUM_FORMATS(PRINT_RANGE)
#undef PRINT_RANGE
  printf("</svg>\n");
}

static void print_table(void) {
  printf("| type | sign.exponent.mantissa | bias | max | min normal | smallest | epsilon "
         "| Inf "
         "| NaN |\n|---|---|---|---|---|---|---|---|---|\n");
  print_row(MPNUM_TYPE_F32);
#define PRINT_ROW(name, NAME, sign_bits, exponent_bits, mantissa_bits, bias, specials, \
                  nan)                                                                 \
 print_row(MPNUM_TYPE_##NAME);
  MPNUM_FORMATS(PRINT_ROW)
#undef PRINT_ROW
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "--svg") == 0) {
    print_picture();
  } else {
    print_table();
  }
  return 0;
}
