/* SPDX-License-Identifier: MIT */
#include "headers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

static json_t *run_tool(unsigned rounds, refusal *why) {
  char tool[] = BENCH_SOURCE_ROOT "/tools/include-cost", json[] = "--json";
  char option[] = "--rounds", number[16];
  char *const arguments[] = {tool, json, option, number, NULL};
  snprintf(number, sizeof number, "%u", rounds);
  return program_json(arguments, "python3", why);
}

static bool read_rows(header_costs *costs, json_t *rows, refusal *why) {
  size_t i;
  costs->rows = calloc(json_array_size(rows) + 1, sizeof *costs->rows);
  if (!costs->rows) return refuse(why, "out of memory");
  costs->count = json_array_size(rows);
  for (i = 0; i < costs->count; ++i) {
    const char *header, *compiler;
    header_cost *row = &costs->rows[i];
    if (json_unpack(json_array_get(rows, i), "{s:s, s:s, s:F}", "header", &header,
                    "compiler", &compiler, "seconds", &row->seconds) != 0)
      return refuse(why, "gave something other than rows of costs");
    snprintf(row->header, sizeof row->header, "%s", header);
    snprintf(row->compiler, sizeof row->compiler, "%s", compiler);
  }
  return true;
}

bool headers_measure(header_costs *costs, unsigned rounds, refusal *why) {
  json_t *root = run_tool(rounds, why);
  bool good = root && read_rows(costs, json_object_get(root, "rows"), why);
  costs->rounds = rounds;
  json_decref(root);
  return good;
}

void headers_free(header_costs *costs) { free(costs->rows); }
