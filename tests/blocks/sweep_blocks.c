/* SPDX-License-Identifier: MIT */
/* A block of one number for each float whose low 8 bits are at an edge, and each 61st one
 * besides: its scale and its code by every rule, against the slow reference.
 *
 *   sweep_blocks NAME    one format, as add_block_formats names it
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */ /* NOLINT(bugprone-reserved-identifier) */
#include "block_checks.h"

enum { AT_ONCE = 1 << 14 };
static block_format swept;
static uint32_t numbers[AT_ONCE];
static size_t number_count;

static void check_numbers(void) {
  if (number_count) check_against_reference(&swept, numbers, 1, number_count, 0x45280000);
  number_count = 0;
}
static void add_number(uint32_t magnitude) {
  if (magnitude > F32_MAX) return;
  numbers[number_count++] = magnitude | magnitude << 31; /* odd ones negative */
  if (number_count == AT_ONCE) check_numbers();
}
static void scales_and_codes_are_the_reference_s(void) {
  static const uint32_t edges[] = {0x00, 0x01, 0x7f, 0x80, 0x81, 0xff};
  for (uint32_t high = 0; high < UINT32_C(0x7f800000); high += 0x100)
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; ++i)
      add_number(high | edges[i]);
  for (uint32_t magnitude = 0; magnitude <= F32_MAX; magnitude += 61)
    add_number(magnitude);
  check_numbers();
}

int main(int argc, char **argv) {
  add_block_formats();
  for (int f = 0; argc == 2 && f < format_count; ++f)
    if (strcmp(formats[f].name, argv[1]) == 0) swept = formats[f];
  if (!swept.name[0]) {
    fprintf(stderr, "usage: sweep_blocks NAME, one of\n");
    for (int f = 0; f < format_count; ++f)
      fprintf(stderr, "  %s\n", formats[f].name);
    return 2;
  }
  swept.format.rows = swept.format.columns = 1;
  swept.reference.rows = swept.reference.columns = 1;
  TAP_RUN(scales_and_codes_are_the_reference_s);
  report_isas();
  return tap_done();
}
