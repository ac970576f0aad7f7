/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <math.h>

static json_t *version(int major, int minor) {
  return json_sprintf("%d.%d", major, minor);
}

static json_t *device_json(const gpu_device *device) {
  return json_pack("{s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:i}", "name",
                   json_text(device->name), "compute_capability",
                   version(device->major, device->minor), "code",
                   version(device->code_major, device->code_minor), "multiprocessors",
                   device->multiprocessors, "memory_bytes", json_number(device->memory),
                   "l2_bytes", json_number(device->cache), "driver",
                   version(device->driver / 1000, device->driver / 10 % 100), "runtime",
                   version(device->runtime / 1000, device->runtime / 10 % 100), "others",
                   device->others);
}

static void set_speed(json_t *row, const gpu_speed *speed, const gpu_match *match) {
  json_object_set_new(row, "ms", json_number(speed->time.ms));
  json_object_set_new(row, "noise", json_number(speed->time.noise));
  json_object_set_new(row, "gb_per_s", json_number(speed->rate));
  json_object_set_new(row, "copy_gb_per_s", json_number(speed->limit));
  json_object_set_new(row, "share_of_copy", json_number(speed->rate / speed->limit));
  json_object_set_new(row, "checked", json_whole(match->checked));
  json_object_set_new(row, "wrong", json_whole(match->wrong));
  json_object_set_new(row, "bit_exact",
                      json_boolean(match->checked > 0 && match->wrong == 0));
}

static json_t *conversion_row(const gpu_conversion *row, bool encode) {
  json_t *made =
      json_pack("{s:s, s:b, s:s, s:s}", "format", mpnum_type_name(row->type), "packed",
                (int)row->packed, "operation", encode ? "encode" : "decode",
                "encode_path", row->hardware ? "hardware" : "software");
  if (made)
    set_speed(made, encode ? &row->encode : &row->decode,
              encode ? &row->encode_match : &row->decode_match);
  return made;
}

static json_t *conversions_json(const gpu_results *found) {
  json_t *rows = json_array();
  unsigned i;
  for (i = 0; i < found->conversion_count; ++i) {
    json_array_append_new(rows, conversion_row(&found->conversions[i], true));
    json_array_append_new(rows, conversion_row(&found->conversions[i], false));
  }
  return rows;
}

static json_t *reductions_json(const gpu_results *found) {
  json_t *rows = json_array();
  unsigned i;
  for (i = 0; i < found->reduction_count; ++i) {
    const gpu_reduction *row = &found->reductions[i];
    json_t *made = json_pack("{s:s, s:s}", "operation", row->operation, "format",
                             mpnum_type_name(row->type));
    if (made) set_speed(made, &row->speed, &row->match);
    json_array_append_new(rows, made);
  }
  return rows;
}

static json_t *shapes_json(const gpu_results *found, const gpu_product *row) {
  json_t *rows = json_array();
  int i;
  for (i = 0; i < GPU_SHAPES; ++i) {
    const gpu_shape *shape = &found->shapes[i];
    const bool measured = row->shape_states[i] == GPU_MEASURED;
    const gpu_time none = {(double)NAN, (double)NAN};
    const gpu_time time = measured ? row->shapes[i] : none;
    json_array_append_new(
        rows,
        json_pack("{s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "shape", shape->what,
                  "m", json_whole(shape->m), "n", json_whole(shape->n), "k",
                  json_whole(shape->k), "state", gpu_state_name(row->shape_states[i]),
                  "ms", json_number(time.ms), "noise", json_number(time.noise), "tflops",
                  json_number(gpu_tflops(shape->m, shape->n, shape->k, time)),
                  "share_of_first", json_number(gpu_shape_share(found, row, i))));
  }
  return rows;
}

static void set_time(json_t *made, const gpu_results *found, gpu_time time,
                     const char *const names[3]) {
  const gpu_plan *plan = &found->plan;
  json_object_set_new(made, names[0], json_number(time.ms));
  json_object_set_new(made, names[1], json_number(time.noise));
  json_object_set_new(made, names[2],
                      json_number(gpu_tflops(plan->m, plan->n, plan->k, time)));
}

static json_t *product_row(const gpu_results *found, const gpu_product *row) {
  static const char *const product[] = {"ms", "noise", "tflops"};
  static const char *const total[] = {"total_ms", "total_noise", "total_tflops"};
  const bool measured = row->state == GPU_MEASURED;
  const gpu_time none = {(double)NAN, (double)NAN};
  const double speedup = gpu_speedup(found, row);
  const double total_speedup = gpu_total_speedup(found, row);
  json_t *made = json_pack("{s:s, s:o, s:s, s:s?}", "format", row->name, "bits",
                           json_number(row->bits), "state", gpu_state_name(row->state),
                           "why", measured ? NULL : row->why);
  if (!made) return NULL;
  set_time(made, found, measured ? row->product : none, product);
  set_time(made, found, measured ? row->total : none, total);
  json_object_set_new(made, "speedup", json_number(speedup));
  json_object_set_new(made, "total_speedup", json_number(total_speedup));
  json_object_set_new(made, "error", json_number(measured ? row->error : (double)NAN));
  json_object_set_new(made, "verdict", json_string(gpu_verdict(total_speedup)));
  json_object_set_new(made, "verdict_without_converting",
                      json_string(gpu_verdict(speedup)));
  json_object_set_new(made, "shapes", shapes_json(found, row));
  return made;
}

static json_t *products_json(const gpu_results *found) {
  json_t *rows = json_array();
  unsigned i;
  for (i = 0; i < found->product_count; ++i)
    json_array_append_new(rows, product_row(found, &found->products[i]));
  return json_pack("{s:o, s:o, s:o, s:s, s:o}", "m", json_whole(found->plan.m), "n",
                   json_whole(found->plan.n), "k", json_whole(found->plan.k), "library",
                   found->blas, "rows", rows);
}

json_t *gpu_json(const gpu_results *found) {
  json_t *notes, *made;
  unsigned i;
  if (found->absent[0]) return json_pack("{s:o}", "absent", json_text(found->absent));
  notes = json_array();
  for (i = 0; i < found->note_count; ++i)
    json_array_append_new(notes, json_text(found->notes[i]));
  made = json_pack("{s:n, s:b, s:o, s:o, s:i, s:o, s:o, s:o}", "absent", "failed",
                   (int)found->failed, "device", device_json(&found->device),
                   "array_bytes", json_whole(found->plan.size), "rounds",
                   (int)found->plan.rounds, "conversions", conversions_json(found),
                   "reductions", reductions_json(found), "product", products_json(found));
  json_object_set_new(made, "notes", notes);
  return made;
}
