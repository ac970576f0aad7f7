/* SPDX-License-Identifier: MIT */
/* The functions of f16 and bf16 at every code, one by one and over arrays, against the
 * files of conformance/functions, which xz unpacks. */
#define _POSIX_C_SOURCE 200809L /* popen */ /* NOLINT(bugprone-reserved-identifier) */
#include "../harness/tap.h"

#include <mpnum/mpnum.h>

#include "../array/array_functions.h"
#include "packed.h"

#include <string.h>

enum { CODES = 65536 };

/* Fills in the codes; whether all of them were there, and no more. */
static int unpack(const char *file, uint16_t *codes) {
  static uint8_t bytes[2 * CODES + 1];
  char name[96];
  snprintf(name, sizeof name, "functions/%s.xz", file);
  FILE *const pipe = open_packed(name);
  if (!pipe) return 0;
  const size_t size = fread(bytes, 1, sizeof bytes, pipe);
  for (size_t i = 0; i < CODES; ++i)
    codes[i] = (uint16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8);
  return pclose(pipe) == 0 && size == (size_t)2 * CODES;
}

/* Those that saturate, and f32, have no file. */
static int has_file(const array_function *function) {
  return function->dst != MPNUM_TYPE_F32 && !strstr(function->name, "_sat_");
}
static void check_function(const array_function *function) {
  static uint16_t src[CODES], got[CODES], want[CODES];
  char file[64] = "";
  /* mpnum_NAME_TYPE_array: NAME_TYPE */
  strncat(file, function->name + strlen("mpnum_"),
          strlen(function->name) - strlen("mpnum_") - strlen("_array"));
  CHECK(unpack(file, want), "%s cannot be unpacked", file);
  for (uint32_t code = 0; code < CODES; ++code)
    src[code] = (uint16_t)code;
  function->convert(got, src, CODES);
  for (uint32_t code = 0; code < CODES; ++code) {
    CHECK(got[code] == want[code], "array of %s, %04x: %04x, want %04x", file, code,
          got[code], want[code]);
    CHECK(function->scalar(code) == want[code], "%s, %04x: %04x, want %04x", file, code,
          function->scalar(code), want[code]);
  }
  for (uint32_t i = 0; i < CODES; ++i)
    src[i] = (uint16_t)(i * 40503u); /* beside codes of other kinds */
  function->convert(got, src, CODES);
  for (uint32_t i = 0; i < CODES; ++i)
    CHECK(got[i] == want[src[i]], "array of %s, mixed, %04x: %04x, want %04x", file,
          src[i], got[i], want[src[i]]);
}
static void functions_of_16_bits(void) {
  int checked = 0;
  for (size_t i = 0; i < array_function_count; ++i)
    if (has_file(&array_functions[i])) {
      check_function(&array_functions[i]);
      ++checked;
    }
  CHECK(checked == 50, "%d functions", checked);
}

int main(void) {
  if (has_xz())
    TAP_RUN(functions_of_16_bits);
  else
    TAP_SKIP("functions_of_16_bits", "no xz");
  return tap_done();
}
