/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "../peers/torch.h"
#include "gpu.h"

static const char script[] = "torch_gpu_times.py";

static bool read_row(gpu_kernel *row, json_t *rows, refusal *why) {
  json_t *given = json_object_get(rows, row->name);
  const char *function;
  if (!given) return true;
  if (json_unpack(given, "{s:s, s:F, s:F}", "function", &function, "ms", &row->torch.ms,
                  "noise", &row->torch.noise) != 0 ||
      !(row->torch.ms > 0)) {
    row->torch.ms = 0;
    return refuse(why, "no times of %s", row->name);
  }
  gpu_set_text(row->torch_calls, sizeof row->torch_calls, function);
  return true;
}

static bool read_rows(gpu_results *results, json_t *root, refusal *why) {
  char version[TORCH_VERSION];
  json_t *rows = torch_rows(root, version, why);
  if (!rows) return false;
  for (unsigned i = 0; i < results->kernel_count; ++i)
    if (!read_row(&results->kernels[i], rows, why)) return false;
  snprintf(results->torch, sizeof results->torch, "PyTorch %s", version);
  return true;
}

void gpu_measure_torch(gpu_results *results) {
  const gpu_plan *plan = &results->plan;
  const size_t usual_flush = (size_t)128 << 20;
  const size_t cache = (size_t)results->device.cache;
  const size_t numbers[] = {1, (size_t)plan->device, plan->rounds, plan->size,
                            cache > 0 ? 2 * cache : usual_flush};
  refusal why, missing;
  json_t *root = torch_run(script, numbers, sizeof numbers / sizeof *numbers, &why);
  results->has_torch = root && read_rows(results, root, &why);
  json_decref(root);
  if (results->has_torch) return;
  for (unsigned i = 0; i < results->kernel_count; ++i)
    results->kernels[i].torch.ms = 0;
  torch_missing(&missing, &why);
  gpu_set_text(results->torch, sizeof results->torch, missing.text);
}
