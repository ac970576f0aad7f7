/* SPDX-License-Identifier: MIT */
#include "sections.h"

#include <stdlib.h>
#include <string.h>

#include "../core/distributions.h"
#include "../core/formats.h"
#include "../core/limit.h"
#include "../report/view.h"

static const char section[] = "speed";

static const byte_shape shapes[] = {
    {32, 32, 0}, {32, 16, 0}, {32, 8, 0}, {16, 32, 0}, {8, 32, 0},
};
enum {
  SHAPE_COUNT = sizeof shapes / sizeof *shapes,
  LOOP_LIMIT = SHAPE_COUNT * COPY_LOOP_LIMIT,
  CONTENDER_LIMIT = 2 * FORMAT_COUNT + LOOP_LIMIT
};

/* One result buffer for all, as large as the widest result. */
typedef struct workspace {
  float *values;
  void *result;
  void *codes[FORMAT_COUNT];
} workspace;

float *speed_values(size_t count) {
  float *values = timing_buffer(count * sizeof *values);
  for (size_t i = 0; values && i < count; ++i)
    values[i] = (float)distributions[0].draw(i);
  return values;
}

static bool workspace_make(workspace *space, size_t count) {
  memset(space, 0, sizeof *space);
  space->values = speed_values(count);
  space->result = timing_buffer(count * sizeof(float));
  bool complete = space->values && space->result;
  for (int i = 0; i < FORMAT_COUNT && complete; ++i) {
    space->codes[i] = timing_buffer(count * bench_formats[i].storage_size);
    complete = space->codes[i] != NULL;
    if (complete) random_codes(&bench_formats[i], space->codes[i], count);
  }
  return complete;
}

static void workspace_free(workspace *space) {
  free(space->values);
  free(space->result);
  for (int i = 0; i < FORMAT_COUNT; ++i)
    free(space->codes[i]);
}

static contender array_contender(void (*array)(void *, const void *, size_t), void *dst,
                                 const void *src, size_t count, size_t dst_size) {
  contender made;
  memset(&made, 0, sizeof made);
  made.pass = array_pass;
  made.array = array;
  made.dst = dst;
  made.src = src;
  made.count = count;
  made.dst_bytes = count * dst_size;
  return made;
}

static size_t list_loops(copy_loop *list) {
  size_t i, used = 0;
  for (i = 0; i < SHAPE_COUNT; ++i)
    used += copy_loops(shapes[i], list + used);
  return used;
}

static void add_figures(figures *to, const bench_format *format, const char *variant,
                        byte_shape shape, double ns, double limit) {
  const double rate = shape_rate(shape, ns);
  figures_at(to, section, "mpnum", mpnum_type_name(format->type), variant);
  figures_add(to, "time_per_value", ns, "ns");
  figures_add(to, "rate", rate, "GB/s");
  figures_add(to, "copy_rate", limit, "GB/s");
  figures_add(to, "share_of_copy", rate / limit, "");
}

static void collect(figures *to, const contender *timed, const copy_loop *loops,
                    size_t loop_count) {
  const contender *copies = timed + 2 * FORMAT_COUNT;
  for (int i = 0; i < FORMAT_COUNT; ++i) {
    const bench_format *format = &bench_formats[i];
    const unsigned bits = 8 * format->storage_size;
    const byte_shape encode = {32, bits, 0}, decode = {bits, 32, 0};
    add_figures(to, format, "encode", encode, timed[2 * i].ns,
                copy_limit(loops, copies, loop_count, encode));
    add_figures(to, format, "decode", decode, timed[2 * i + 1].ns,
                copy_limit(loops, copies, loop_count, decode));
  }
}

static size_t list_contenders(contender *list, const workspace *space, size_t count,
                              const copy_loop *loops, size_t loop_count) {
  size_t i, used = 0;
  for (i = 0; i < FORMAT_COUNT; ++i) {
    const bench_format *format = &bench_formats[i];
    list[used++] = array_contender(format->encode, space->result, space->values, count,
                                   format->storage_size);
    list[used++] =
        array_contender(format->decode, space->result, space->codes[i], count, 4);
  }
  for (i = 0; i < loop_count; ++i)
    list[used++] = array_contender(loops[i].copy, space->result, space->values, count,
                                   loops[i].shape.dst_bits / 8);
  return used;
}

uint64_t speed_work(unsigned rounds) {
  copy_loop loops[LOOP_LIMIT];
  return (uint64_t)rounds * (2 * FORMAT_COUNT + list_loops(loops));
}

bool speed_measure(figures *to, size_t size, unsigned rounds, progress *bar) {
  copy_loop loops[LOOP_LIMIT];
  contender list[CONTENDER_LIMIT];
  size_t used, loop_count = list_loops(loops), count = size / sizeof(float);
  workspace space;
  bool done = false;
  if (workspace_make(&space, count)) {
    used = list_contenders(list, &space, count, loops, loop_count);
    done = timing_measure(list, used, rounds, bar, "array conversions");
  }
  if (done) {
    figures_at(to, section, "", "", "");
    figures_add(to, "values", (double)count, "");
    figures_add(to, "rounds", rounds, "");
    collect(to, list, loops, loop_count);
  }
  workspace_free(&space);
  return done;
}

bool speed_print(const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "format", .metric = VIEW_NAME},
      {.heading = "ns/value", .metric = "time_per_value", .format = "%.3f", .each = true},
      {.heading = "GB/s", .metric = "rate", .format = "%.2f", .each = true},
      {.heading = "copy GB/s", .metric = "copy_rate", .format = "%.1f", .each = true},
      VIEW_SHARES("of copy", "share_of_copy", "%.1f %%"),
  };
  static const view shown = {.section = section, VIEW_COLUMNS(columns)};
  const double values = figures_value(from, section, "values");
  return view_print(
      &shown, from, to,
      "\nSpeed: array functions over %.0f values (%.0f KiB of f32), one thread, median "
      "of %.0f "
      "rounds.\nencode: f32 to format, decode: format to f32. GB/s counts bytes read and "
      "written; copy is the\nfastest loop of this run that reads and writes the same "
      "bytes "
      "and computes nothing.\n",
      values, values * sizeof(float) / 1024, figures_value(from, section, "rounds"));
}
