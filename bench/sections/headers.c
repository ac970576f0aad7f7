/* SPDX-License-Identifier: MIT */
#include "headers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/program.h"

static json_t *run_tool(unsigned rounds, unsigned call_rounds, refusal *why) {
  char tool[] = BENCH_SOURCE_ROOT "/tools/include-cost", json[] = "--json";
  char option[] = "--rounds", call_option[] = "--call-rounds", numkong[] = "--numkong";
  char number[16], call_number[16], folder[] = BENCH_NUMKONG;
  char *const arguments[] = {tool,        json,    option, number, call_option,
                             call_number, numkong, folder, NULL};
  snprintf(number, sizeof number, "%u", rounds);
  snprintf(call_number, sizeof call_number, "%u", call_rounds);
  return program_json(arguments, "python3", why);
}

static bool no_costs(refusal *why) {
  return refuse(why, "gave something other than rows of costs");
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
      return no_costs(why);
    snprintf(row->header, sizeof row->header, "%s", header);
    snprintf(row->compiler, sizeof row->compiler, "%s", compiler);
  }
  return true;
}

static double number_or_nan(const json_t *value) {
  return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static bool read_call(call_cost *call, json_t *from) {
  const char *library, *name, *compiler, *optimization;
  json_t *seconds, *ratio, *peak, *missing;
  if (json_unpack(from, "{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "library", &library,
                  "call", &name, "compiler", &compiler, "optimization", &optimization,
                  "seconds", &seconds, "ratio_to_immintrin", &ratio, "peak_bytes", &peak,
                  "missing", &missing) != 0)
    return false;
  snprintf(call->library, sizeof call->library, "%s", library);
  snprintf(call->call, sizeof call->call, "%s", name);
  snprintf(call->compiler, sizeof call->compiler, "%s", compiler);
  snprintf(call->optimization, sizeof call->optimization, "%s", optimization);
  if (json_is_string(missing))
    snprintf(call->missing, sizeof call->missing, "%s", json_string_value(missing));
  call->seconds = number_or_nan(seconds);
  call->ratio = number_or_nan(ratio);
  call->peak_bytes = number_or_nan(peak);
  return true;
}

static bool same_call(const call_cost *a, const call_cost *b) {
  return strcmp(a->library, b->library) == 0 && strcmp(a->call, b->call) == 0;
}

static bool read_calls(header_costs *costs, json_t *calls, refusal *why) {
  size_t i, columns = 0;
  costs->calls = calloc(json_array_size(calls) + 1, sizeof *costs->calls);
  if (!costs->calls) return refuse(why, "out of memory");
  costs->call_count = json_array_size(calls);
  for (i = 0; i < costs->call_count; ++i) {
    if (!read_call(&costs->calls[i], json_array_get(calls, i))) return no_costs(why);
    if (columns == i && same_call(costs->calls, &costs->calls[i])) ++columns;
    if (!same_call(&costs->calls[i], &costs->calls[i - i % columns]))
      return no_costs(why);
  }
  costs->call_columns = columns;
  return columns <= CALL_COLUMNS || no_costs(why);
}

bool headers_measure(header_costs *costs, unsigned rounds, unsigned call_rounds,
                     refusal *why) {
  json_t *root = run_tool(rounds, call_rounds, why);
  bool good = root && read_rows(costs, json_object_get(root, "rows"), why) &&
              read_calls(costs, json_object_get(root, "calls"), why);
  costs->rounds = rounds;
  costs->call_rounds = call_rounds;
  json_decref(root);
  return good;
}

void headers_free(header_costs *costs) {
  free(costs->rows);
  free(costs->calls);
}
