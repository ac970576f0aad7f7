/* SPDX-License-Identifier: MIT */
#include "report.h"

static void append_figure(json_t *list, json_t *made, const math_figure *shown,
                          const math_figure *own, const char *error) {
  json_object_set_new(made, "ns_per_value", json_number(shown->ns));
  json_object_set_new(made, "noise", json_number(shown->noise));
  json_object_set_new(made, "ratio_to_mpnum", json_number(shown->ns / own->ns));
  json_object_set_new(made, error, json_number(shown->error));
  json_array_append_new(list, made);
}

static json_t *function_json(const math_function *function,
                             const math_figure figures[MATH_WAYS]) {
  static const char *const libraries[MATH_WAYS] = {"mpnum", "mpnum", "mpnum", "libm",
                                                   "SLEEF"};
  static const char *const types[MATH_WAYS] = {"f32", "f16", "bf16", "f32", "f32"};
  json_t *contenders = json_array();
  int way;
  for (way = 0; way < MATH_WAYS; ++way) {
    const char *called;
    if (!figures[way].measured) continue;
    called =
        way == MATH_SLEEF ? math_sleef_loop(function)->function : function->called[way];
    append_figure(contenders,
                  json_pack("{s:s, s:s, s:s}", "library", libraries[way], "type",
                            types[way], "function", called),
                  &figures[way], &figures[MATH_F32], "max_ulp_error");
  }
  return json_pack("{s:s, s:o}", "operation", function->name, "contenders", contenders);
}

static json_t *matrix_json(const softmax_matrix *matrix) {
  json_t *contenders = json_array();
  int way;
  for (way = 0; way < SOFTMAX_WAYS; ++way) {
    if (!matrix->ways[way].measured) continue;
    append_figure(contenders, json_pack("{s:s}", "library", softmax_ways[way]->name),
                  &matrix->ways[way], &matrix->ways[SOFTMAX_MPNUM], "max_relative_error");
  }
  return json_pack("{s:o, s:o, s:o}", "rows", json_whole(matrix->rows), "columns",
                   json_whole(matrix->columns), "contenders", contenders);
}

/* All but mpnum, libm and memcpy, which are always there. */
static json_t *peers_json(void) {
  const math_library *sleef = math_sleef();
  json_t *peers = json_pack("[{s:s, s:s?, s:s?}]", "library", "SLEEF", "missing",
                            sleef->missing, "isa", sleef->isa);
  int way;
  for (way = SOFTMAX_MPNUM + 1; way < SOFTMAX_WAYS; ++way) {
    if (softmax_ways[way]->only_copies) continue;
    json_array_append_new(peers, json_pack("{s:s, s:s?, s:n}", "library",
                                           softmax_ways[way]->name, "missing",
                                           softmax_missing(softmax_ways[way]), "isa"));
  }
  return peers;
}

json_t *math_json(const math_results *found) {
  json_t *functions = json_array(), *matrices = json_array();
  int i;
  for (i = 0; i < MATH_FUNCTIONS; ++i)
    json_array_append_new(functions,
                          function_json(&math_functions[i], found->functions[i]));
  for (i = 0; i < SOFTMAX_MATRICES; ++i)
    json_array_append_new(matrices, matrix_json(&found->matrices[i]));
  return json_pack("{s:s, s:o, s:i, s:o, s:o, s:o}", "isa", found->isa, "values",
                   json_whole(found->plan.values), "rounds", (int)found->plan.rounds,
                   "functions", functions, "softmax", matrices, "peers", peers_json());
}
