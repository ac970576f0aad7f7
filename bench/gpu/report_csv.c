/* SPDX-License-Identifier: MIT */
#include "report.h"

static void put_speed(const csv_place *at, const gpu_speed *speed,
                      const gpu_match *match) {
  csv_put(at, "time", speed->time.ms, "ms");
  csv_put(at, "noise", speed->time.noise, "");
  csv_put(at, "rate", speed->rate, "GB/s");
  csv_put(at, "copy_rate", speed->limit, "GB/s");
  csv_put(at, "share_of_copy", speed->rate / speed->limit, "");
  csv_put(at, "checked", (double)match->checked, "");
  csv_put(at, "wrong", (double)match->wrong, "");
}

static void put_conversions(csv_place at, const gpu_results *found) {
  unsigned i;
  at.section = "gpu_conversion";
  for (i = 0; i < found->conversion_count; ++i) {
    const gpu_conversion *row = &found->conversions[i];
    char name[32];
    gpu_conversion_name(name, sizeof name, row);
    at.name = name;
    at.variant = "encode";
    put_speed(&at, &row->encode, &row->encode_match);
    csv_put(&at, "hardware", row->hardware, "");
    at.variant = "decode";
    put_speed(&at, &row->decode, &row->decode_match);
  }
}

static void put_reductions(csv_place at, const gpu_results *found) {
  unsigned i;
  at.section = "gpu_reduction";
  for (i = 0; i < found->reduction_count; ++i) {
    const gpu_reduction *row = &found->reductions[i];
    at.name = mpnum_type_name(row->type);
    at.variant = row->operation;
    put_speed(&at, &row->speed, &row->match);
  }
}

static void put_product(csv_place at, const gpu_results *found, const gpu_product *row) {
  const gpu_plan *plan = &found->plan;
  int i;
  at.name = row->name;
  if (row->state == GPU_MEASURED) {
    csv_put(&at, "bits", row->bits, "bit");
    csv_put(&at, "time", row->product.ms, "ms");
    csv_put(&at, "noise", row->product.noise, "");
    csv_put(&at, "rate", gpu_tflops(plan->m, plan->n, plan->k, row->product), "TFLOP/s");
    csv_put(&at, "speedup", gpu_speedup(found, row), "");
    csv_put(&at, "total_time", row->total.ms, "ms");
    csv_put(&at, "total_noise", row->total.noise, "");
    csv_put(&at, "total_rate", gpu_tflops(plan->m, plan->n, plan->k, row->total),
            "TFLOP/s");
    csv_put(&at, "total_speedup", gpu_total_speedup(found, row), "");
    csv_put(&at, "error", row->error, "");
  }
  for (i = 0; i < GPU_SHAPES; ++i) {
    const gpu_shape *shape = &found->shapes[i];
    if (row->shape_states[i] != GPU_MEASURED) continue;
    at.variant = shape->what;
    csv_put(&at, "time", row->shapes[i].ms, "ms");
    csv_put(&at, "noise", row->shapes[i].noise, "");
    csv_put(&at, "rate", gpu_tflops(shape->m, shape->n, shape->k, row->shapes[i]),
            "TFLOP/s");
  }
}

void gpu_csv(csv_place at, const gpu_results *found) {
  unsigned i;
  at.source = found->device.name;
  if (found->absent[0]) return;
  put_conversions(at, found);
  put_reductions(at, found);
  at.section = "gpu_product";
  for (i = 0; i < found->product_count; ++i)
    put_product(at, found, &found->products[i]);
}
