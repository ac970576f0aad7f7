/* SPDX-License-Identifier: MIT */
#include "speed.h"

#include <stdlib.h>
#include <string.h>

#include "../core/distributions.h"
#include "../core/limit.h"

static const byte_shape shapes[] = {
    {32, 32, false}, {32, 16, false}, {32, 8, false}, {16, 32, false}, {8, 32, false},
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
  size_t i;
  for (i = 0; values && i < count; ++i)
    values[i] = (float)distributions[0].draw(i);
  return values;
}

static bool workspace_make(workspace *space, size_t count) {
  bool complete;
  int i;
  memset(space, 0, sizeof *space);
  space->values = speed_values(count);
  space->result = timing_buffer(count * sizeof(float));
  complete = space->values && space->result;
  for (i = 0; i < FORMAT_COUNT && complete; ++i) {
    space->codes[i] = timing_buffer(count * bench_formats[i].storage_size);
    complete = space->codes[i] != NULL;
    if (complete) random_codes(&bench_formats[i], space->codes[i], count);
  }
  return complete;
}

static void workspace_free(workspace *space) {
  int i;
  free(space->values);
  free(space->result);
  for (i = 0; i < FORMAT_COUNT; ++i)
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

static speed speed_of(double ns, byte_shape shape, double limit) {
  speed found;
  found.ns = ns;
  found.rate = shape_rate(shape, ns);
  found.limit = limit;
  return found;
}

static void collect(speed_results *results, const contender *timed,
                    const copy_loop *loops, size_t loop_count) {
  const contender *copies = timed + 2 * FORMAT_COUNT;
  int i;
  for (i = 0; i < FORMAT_COUNT; ++i) {
    unsigned bits = 8 * bench_formats[i].storage_size;
    byte_shape to = {32, bits, false}, from = {bits, 32, false};
    results->encode[i] =
        speed_of(timed[2 * i].ns, to, copy_limit(loops, copies, loop_count, to));
    results->decode[i] =
        speed_of(timed[2 * i + 1].ns, from, copy_limit(loops, copies, loop_count, from));
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

bool speed_measure(speed_results *results, size_t size, unsigned rounds, progress *bar) {
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
    results->count = count;
    results->rounds = rounds;
    collect(results, list, loops, loop_count);
  }
  workspace_free(&space);
  return done;
}
