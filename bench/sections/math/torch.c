/* SPDX-License-Identifier: MIT */
/* PyTorch's functions of arrays and of rows: the times that torch_math_times.py takes. */
#include "../../peers/torch.h"

#include "measure.h"

static const char script[] = "torch_math_times.py", section[] = "math_torch",
                  library[] = "PyTorch";

static json_t *run(const math_plan *plan, refusal *why) {
  size_t numbers[3 + 2 * ROW_WIDTHS] = {1, plan->values, plan->rounds};
  size_t columns[ROW_WIDTHS], count = 3;
  const int widths = math_widths(plan, columns);
  for (int i = 0; i < widths; ++i) {
    numbers[count++] = plan->values / columns[i];
    numbers[count++] = columns[i];
  }
  return torch_run(script, numbers, count, why);
}

static void add_time(figures *to, const char *name, const char *type, const char *of,
                     double ns, double noise) {
  const figure *own = figures_find(to, of, "mpnum", name, type, "time_per_value");
  const double ours = own->value;
  figures_at(to, section, library, name, type);
  figures_add(to, "time_per_value", ns, "ns");
  figures_add(to, "noise", noise, "");
  figures_add(to, "ratio_to_mpnum", ns / ours, "");
}

/* A row of rows, beside mpnum's of a section; that there is none is good. to is NULL
 * where the row is only read. */
static bool read_row(figures *to, const char *name, const char *of, json_t *rows,
                     size_t *count, refusal *why) {
  json_t *given = json_object_get(rows, name);
  const char *function;
  char shown[ROW_NAME];
  if (!given) return true;
  if (json_unpack(given, "{s:s}", "function", &function) != 0)
    return refuse(why, "no times of %s", name);
  snprintf(shown, sizeof shown, "%s", function);
  clean_text(shown);
  if (to) figures_at(to, section, library, name, "");
  if (to) figures_say(to, "function", "%s", shown);
  for (int i = 0; i < MATH_TYPES; ++i) {
    json_t *times = json_object_get(given, math_types[i]);
    double ns, noise;
    if (!times) continue;
    if (json_unpack(times, "{s:F, s:F}", "ns_per_value", &ns, "noise", &noise) != 0 ||
        !(ns > 0))
      return refuse(why, "no times of %s", name);
    if (to) add_time(to, name, math_types[i], of, ns, noise);
  }
  ++*count;
  return true;
}

static bool read_rows(figures *to, const math_plan *plan, json_t *rows, refusal *why) {
  size_t columns[ROW_WIDTHS], count = 0;
  const int widths = math_widths(plan, columns);
  for (size_t i = 0; i < MATH_FUNCTIONS; ++i) {
    if (!read_row(to, math_functions[i].name, "math", rows, &count, why)) return false;
  }
  for (size_t i = 0; i < ROW_OPERATIONS; ++i)
    for (int width = 0; width < widths; ++width) {
      char name[ROW_NAME];
      row_name(name, i, plan->values / columns[width], columns[width]);
      if (!read_row(to, name, "rows", rows, &count, why)) return false;
    }
  return count > 0 || refuse(why, "no times");
}

/* All are read before any is told. */
void math_measure_torch(figures *to, const math_plan *plan) {
  char version[TORCH_VERSION];
  refusal why, missing;
  json_t *root = run(plan, &why);
  json_t *rows = root ? torch_rows(root, version, &why) : NULL;
  figures_at(to, section, library, "", "");
  if (rows && read_rows(NULL, plan, rows, &why)) {
    figures_say(to, "version", "%s", version);
    read_rows(to, plan, rows, &why);
  } else {
    torch_missing(&missing, &why);
    figures_say(to, "missing", "%s", missing.text);
  }
  json_decref(root);
}
