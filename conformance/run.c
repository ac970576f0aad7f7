/* SPDX-License-Identifier: MIT OR CC0-1.0 */
/* cc run.c && ./a.out convert_f32.jsonl bf16 ieee nearest_even
 * Runs a conversion from f32 against the vectors: put yours in the place of this one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static uint32_t yours(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return x != x ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

/* The words of "key": "..."; or is the first of them this one? */
static char *list(char *line, const char *key) {
  char quoted[32], *at;
  snprintf(quoted, sizeof quoted, "\"%s\": \"", key);
  at = strstr(line, quoted);
  return at ? at + strlen(quoted) : NULL;
}
static int is(char *line, const char *key, const char *value) {
  const char *at = list(line, key);
  return at && !strncmp(at, value, strlen(value)) && at[strlen(value)] == '"';
}

int main(int count, char **names) {
  static char line[1 << 17];
  long cases = 0, differ = 0;
  FILE *file = count == 5 ? fopen(names[1], "r") : NULL;
  while (file && fgets(line, sizeof line, file)) {
    char *in = list(line, "in"), *want = list(line, names[4]);
    if (!in || !want || !is(line, "to", names[2])) continue;
    if (!is(line, "overflow", names[3]) && !is(line, "overflow", "any")) continue;
    do {
      const uint32_t bits = (uint32_t)strtoul(in, &in, 16);
      const uint32_t code = (uint32_t)strtoul(want, &want, 16);
      float x;
      memcpy(&x, &bits, sizeof x);
      ++cases;
      if (yours(x) != code && ++differ <= 5)
        printf("%08x: %x, want %x\n", bits, yours(x), code);
    } while (*in == ' ');
  }
  if (cases)
    printf("%ld cases, %ld differ\n", cases, differ);
  else
    puts("no such file, type, rule or rounding");
  return !cases || differ;
}
