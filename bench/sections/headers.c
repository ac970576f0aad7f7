/* SPDX-License-Identifier: MIT */
#include "sections.h"

#include <math.h>
#include <stdio.h>

#include <folders.h> /* of the build folder */

#include "../core/program.h"
#include "../report/view.h"

static const char section[] = "headers", call_section[] = "calls";

static json_t *run_tool(unsigned rounds, unsigned call_rounds, refusal *why) {
  char tool[] = BENCH_SOURCE_ROOT "/tools/include-cost", json[] = "--json";
  char option[] = "--rounds", call_option[] = "--call-rounds", numkong[] = "--numkong";
  char number[16], call_number[16], folder[] = BENCH_FOLDER_NUMKONG;
  char *const arguments[] = {tool,        json,    option, number, call_option,
                             call_number, numkong, folder, NULL};
  snprintf(number, sizeof number, "%u", rounds);
  snprintf(call_number, sizeof call_number, "%u", call_rounds);
  return program_json(arguments, "python3", why);
}

static bool read_headers(figures *to, json_t *rows) {
  json_t *row;
  size_t i;
  json_array_foreach(rows, i, row) {
    const char *header, *compiler;
    double seconds;
    if (json_unpack(row, "{s:s, s:s, s:F}", "header", &header, "compiler", &compiler,
                    "seconds", &seconds) != 0)
      return false;
    figures_at(to, section, "", header, compiler);
    figures_add(to, "compile_time", seconds, "s");
  }
  return true;
}

static double number_or_nan(const json_t *value) {
  return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static bool read_calls(figures *to, json_t *rows) {
  json_t *row;
  size_t i;
  json_array_foreach(rows, i, row) {
    const char *library, *call, *compiler, *optimization;
    json_t *seconds, *ratio, *peak, *missing;
    char variant[32];
    if (json_unpack(row, "{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "library", &library,
                    "call", &call, "compiler", &compiler, "optimization", &optimization,
                    "seconds", &seconds, "ratio_to_immintrin", &ratio, "peak_bytes",
                    &peak, "missing", &missing) != 0)
      return false;
    snprintf(variant, sizeof variant, "%s %s", compiler, optimization);
    figures_at(to, call_section, library, call, variant);
    figures_add(to, "compile_time", number_or_nan(seconds), "s");
    figures_add(to, "ratio_to_immintrin", number_or_nan(ratio), "");
    figures_add(to, "peak_memory", number_or_nan(peak), "byte");
    if (json_is_string(missing))
      figures_say(to, "missing", "%s", json_string_value(missing));
  }
  return true;
}

bool headers_measure(figures *to, unsigned rounds, unsigned call_rounds, refusal *why) {
  json_t *root = run_tool(rounds, call_rounds, why);
  bool good = root != NULL;
  figures_at(to, section, "", "", "");
  figures_add(to, "rounds", rounds, "");
  figures_at(to, call_section, "", "", "");
  figures_add(to, "rounds", call_rounds, "");
  if (good && !(read_headers(to, json_object_get(root, "rows")) &&
                read_calls(to, json_object_get(root, "calls"))))
    good = refuse(why, "gave something other than rows of costs");
  json_decref(root);
  return good;
}

/* Less than nothing is noise. */
static void show_milliseconds(char cell[TABLE_CELL], double seconds) {
  snprintf(cell, TABLE_CELL, "%.1f", fmax(0, 1000 * seconds));
}

bool headers_print(const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "header", .metric = VIEW_NAME},
      {.metric = "compile_time", .show = show_milliseconds, .each = true},
  };
  static const view_column call_columns[] = {
      {.heading = "one call to", .metric = VIEW_LABEL},
      {.heading = "s", .metric = "compile_time", .show = show_three, .each = true},
      {.heading = "x", .metric = "ratio_to_immintrin", .format = "%.1f", .each = true},
      {.heading = "MiB",
       .metric = "peak_memory",
       .format = "%.0f",
       .factor = 0x1p-20,
       .each = true},
  };
  static const view headers = {.section = section, VIEW_COLUMNS(columns)};
  static const view calls = {.section = call_section, VIEW_COLUMNS(call_columns)};
  const bool good =
      view_print(&headers, from, to,
                 "\nHeaders: ms to compile #include <header> over an empty file, median "
                 "of %.0f\n",
                 figures_value(from, section, "rounds")) &&
      view_print(&calls, from, to,
                 "\nCalls: a file that includes mpnum.h and makes one call. Seconds of "
                 "CPU, x: over immintrin.h\nalone, MiB at the peak, median of %.0f\n",
                 figures_value(from, call_section, "rounds"));
  view_absent(from, call_section, false, to);
  return good;
}
