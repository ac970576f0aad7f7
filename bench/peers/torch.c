/* SPDX-License-Identifier: MIT */
#include "torch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <folders.h> /* of the build folder */

#include "../core/program.h"

enum { FIRST = 2 };

json_t *torch_run(const char *script, const size_t *numbers, size_t count, refusal *why) {
  static const char folder[] = BENCH_SOURCE_ROOT "/bench/peers/";
  char path[sizeof folder + 40], usual[] = "python3";
  char *named = getenv("TORCH_PYTHON"), *python = named && *named ? named : usual;
  char *arguments[FIRST + TORCH_NUMBERS + 1] = {python, path}, words[TORCH_NUMBERS][24];
  snprintf(path, sizeof path, "%s%s", folder, script);
  for (size_t i = 0; i < count && i < TORCH_NUMBERS; ++i) {
    snprintf(words[i], sizeof *words, "%zu", numbers[i]);
    arguments[FIRST + i] = words[i];
  }
  return program_json(arguments, python, why);
}

json_t *torch_rows(json_t *root, char version[TORCH_VERSION], refusal *why) {
  const char *said;
  json_t *rows;
  if (json_unpack(root, "{s:s}", "missing", &said) == 0)
    return refuse(why, "%s", said), NULL;
  if (json_unpack(root, "{s:s, s:o}", "version", &said, "rows", &rows) != 0)
    return refuse(why, "no times"), NULL;
  snprintf(version, TORCH_VERSION, "%.*s", (int)strcspn(said, "+"), said);
  clean_text(version);
  return rows;
}

void torch_missing(refusal *missing, refusal *why) {
  clean_text(why->text);
  refuse(missing, "%.200s (TORCH_PYTHON names another python3)", why->text);
}
