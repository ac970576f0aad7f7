/* SPDX-License-Identifier: MIT */
/* Operations, peers and copies of one byte shape take turns over the same arrays. */
#include "arrays.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/team.h"

enum { PART = 256, MIDDLE = 1, LINE = 64 };

/* Each has loops in limit.inc. */
static const byte_shape shapes[ARRAY_SHAPES] = {
    {32, 32, 0},  {32, 16, 0},   {32, 8, 0},     {32, 6, 0},   {32, 4, 0},   {16, 32, 0},
    {8, 32, 0},   {6, 32, 0},    {4, 32, 0},     {16, 8, 0},   {16, 6, 0},   {16, 4, 0},
    {64, 32, 0},  {64, 16, 0},   {32, 32, 32},   {16, 16, 16}, {32, 0, 0},   {16, 0, 0},
    {8, 0, 0},    {32, 12, 0},   {16, 16, 0},    {16, 12, 0},  {8, 16, 0},   {6, 16, 0},
    {4, 16, 0},   {128, 96, 96}, {128, 112, 96}, {96, 80, 80}, {96, 64, 64}, {80, 48, 48},
    {64, 32, 32},
};

/* What a contender runs, and in how many threads. */
typedef struct job {
  array_loop run;
  byte_shape shape;
  unsigned thread_count;
  team *threads;
} job;

typedef struct group {
  const array_code *own;
  byte_shape shape;
  const array_operation *only; /* NULL: all of the shape, and their peers */
  int size;                    /* index */
  size_t count;                /* elements */
  unsigned thread_count;
  team *threads;
  void *sources[SOURCE_COUNT];
  void *dst;
  contender *list; /* operations of the shape, peers, copies */
  job *jobs;
  size_t used;
} group;

/* Bits of an element in dst. */
static unsigned result_bits(byte_shape shape) {
  return shape.in_place ? stored_bits(shape) : shape.dst_bits;
}

/* Elements more that a part of the arrays of a step has, in which nothing is. */
static size_t room_of(byte_shape shape) {
  return shape.in_place && shape.src_bits != shape.dst_bits ? STEP_ROOM : 0;
}
static size_t elements(const group *at) {
  return at->count + at->thread_count * room_of(at->shape);
}

/* All parts but the last are of the same size, so that each begins at a cache line. */
static void run_part(const void *context, unsigned thread) {
  const contender *self = context;
  const job *how = self->more;
  size_t part = (self->count / PART + how->thread_count - 1) / how->thread_count * PART;
  size_t first = thread * part, left = first < self->count ? self->count - first : 0;
  const size_t place = first + thread * room_of(how->shape);
  unsigned char *dst = self->dst;
  const unsigned char *src = self->src;
  dst +=
      how->shape.dst_bits ? place * result_bits(how->shape) / 8 : (size_t)thread * LINE;
  if (left)
    how->run(dst, src + place * stored_bits(how->shape) / 8, left < part ? left : part);
}

static void whole_pass(const contender *self) { run_part(self, 0); }

static void split_pass(const contender *self) {
  const job *how = self->more;
  team_run(how->threads, run_part, self);
}

static size_t dst_bytes(const group *at) {
  size_t bytes = elements(at) * result_bits(at->shape) / 8;
  return bytes ? bytes : (size_t)LINE * at->thread_count;
}

/* Behind codes there is room for their scales, or between those of peers. */
static void *make_dst(const group *at) {
  const size_t bytes = dst_bytes(at);
  return timing_buffer(at->shape.dst_bits < 32 ? bytes + bytes / 8 : bytes);
}

static void add_contender(group *at, array_loop run, void *src) {
  contender *made = &at->list[at->used];
  job *how = &at->jobs[at->used++];
  memset(made, 0, sizeof *made);
  how->run = run;
  how->shape = at->shape;
  how->thread_count = at->thread_count;
  how->threads = at->threads;
  made->pass = at->thread_count > 1 ? split_pass : whole_pass;
  made->more = how;
  made->dst = at->shape.in_place ? src : at->dst;
  made->src = src;
  made->count = at->count;
  made->dst_bytes = dst_bytes(at);
}

static bool belongs(const group *at, size_t index) {
  const array_operation *operation = &at->own->operations[index];
  return at->only ? operation == at->only : same_shape(at->shape, operation->shape);
}

/* The arrays of a group; the copies read any of them. In place each source is the result,
 * too. */
static bool make_arrays(group *at, void **any) {
  *any = NULL;
  at->dst = at->shape.in_place ? NULL : make_dst(at);
  if (!at->dst && !at->shape.in_place) return false;
  for (size_t i = 0; i < at->own->count; ++i) {
    array_source source = at->own->operations[i].source;
    if (!belongs(at, i)) continue;
    if (!at->sources[source])
      at->sources[source] = source_make(source, stored_bits(at->shape), elements(at));
    if (!at->sources[source]) return false;
    *any = at->sources[source];
  }
  return true;
}

static size_t list_all(group *at, const array_results *results, void *any,
                       copy_loop loops[COPY_LOOP_LIMIT]) {
  size_t i, loop_count = copy_loops(at->shape, loops);
  at->used = 0;
  for (i = 0; i < at->own->count; ++i) {
    const array_operation *operation = &at->own->operations[i];
    if (belongs(at, i)) add_contender(at, operation->run, at->sources[operation->source]);
  }
  for (i = 0; i < results->peer_count && !at->only; ++i) {
    const array_peer_row *row = &results->peers[i];
    if (belongs(at, row->operation))
      add_contender(at, row->loop->run,
                    at->sources[at->own->operations[row->operation].source]);
  }
  for (i = 0; i < loop_count; ++i)
    add_contender(at, loops[i].copy, any);
  return loop_count;
}

static array_figure figure_of(const contender *timed, byte_shape shape, double limit) {
  array_figure found;
  found.ns = timed->ns;
  found.noise = timed->noise;
  found.rate = shape_rate(shape, timed->ns);
  found.limit = limit;
  return found;
}

static void collect_limit(array_limit *limit, const group *at, const copy_loop *loops,
                          size_t loop_count) {
  const contender *copies = at->list + at->used - loop_count;
  for (size_t i = 0; i < loop_count; ++i) {
    double *best = &(loops[i].streams ? limit->streaming : limit->regular)[at->size];
    double rate = shape_rate(at->shape, copies[i].ns);
    if (rate > *best) *best = rate;
  }
}

static void collect(array_results *results, const group *at, const copy_loop *loops,
                    size_t loop_count) {
  const contender *timed = at->list;
  const double limit =
      copy_limit(loops, at->list + at->used - loop_count, loop_count, at->shape);
  for (size_t i = 0; i < at->own->count; ++i) {
    if (belongs(at, i))
      results->rows[i].sizes[at->size] = figure_of(timed++, at->shape, limit);
  }
  for (size_t i = 0; i < results->peer_count; ++i) {
    array_peer_row *row = &results->peers[i];
    if (belongs(at, row->operation))
      row->row.sizes[at->size] = figure_of(timed++, at->shape, limit);
  }
}

/* Floats are the same if both are NaN, whatever its bits. */
static bool same_results(const void *a, const void *b, size_t bytes, bool floats) {
  const float *left = a, *right = b;
  if (!floats) return memcmp(a, b, bytes) == 0;
  for (size_t i = 0; i < bytes / sizeof *left; ++i) {
    bool both_nan = left[i] != left[i] && right[i] != right[i];
    if (!both_nan && memcmp(&left[i], &right[i], sizeof *left) != 0) return false;
  }
  return true;
}

static bool compare_peer(array_peer_row *row, const group *at) {
  const array_operation *operation = &at->own->operations[row->operation];
  const size_t bytes = dst_bytes(at);
  void *ours = make_dst(at), *theirs = make_dst(at);
  void *fresh = source_make(operation->source, stored_bits(at->shape), elements(at));
  const bool done = ours && theirs && fresh;
  if (done) {
    const bool in_place = at->shape.in_place != 0;
    if (in_place) memcpy(ours, fresh, bytes);
    if (in_place) memcpy(theirs, fresh, bytes);
    operation->run(ours, in_place ? ours : fresh, at->count);
    row->loop->run(theirs, in_place ? theirs : fresh, at->count);
    row->differs = !same_results(ours, theirs, bytes, at->shape.dst_bits == 32);
  }
  free(ours);
  free(theirs);
  free(fresh);
  return done;
}

static bool compare_peers(array_results *results, const group *at) {
  for (size_t i = 0; i < results->peer_count; ++i) {
    array_peer_row *row = &results->peers[i];
    if (belongs(at, row->operation) && !compare_peer(row, at)) return false;
  }
  return true;
}

static void free_arrays(group *at) {
  for (size_t i = 0; i < SOURCE_COUNT; ++i) {
    free(at->sources[i]);
    at->sources[i] = NULL;
  }
  free(at->dst);
}

static bool measure_shape(array_results *results, array_limit *limit, group *at,
                          progress *bar) {
  copy_loop loops[COPY_LOOP_LIMIT];
  void *any;
  bool done = make_arrays(at, &any);
  if (done && at->size == MIDDLE) done = compare_peers(results, at);
  if (done) {
    size_t loop_count = list_all(at, results, any, loops);
    done = timing_measure(at->list, at->used, results->plan.rounds[at->size], bar,
                          "array functions");
    if (done) collect(results, at, loops, loop_count);
    if (done) collect_limit(limit, at, loops, loop_count);
  }
  free_arrays(at);
  return done;
}

/* The operation of the table of threads, and its copies. */
static bool measure_split(const array_results *results, group *at, array_figure *to,
                          progress *bar) {
  copy_loop loops[COPY_LOOP_LIMIT];
  void *any;
  bool done = make_arrays(at, &any);
  if (done) {
    size_t loop_count = list_all(at, results, any, loops);
    done = timing_measure(at->list, at->used, results->plan.rounds[ARRAY_SIZES - 1], bar,
                          "threads");
    if (done)
      *to = figure_of(at->list, at->shape,
                      copy_limit(loops, at->list + 1, loop_count, at->shape));
  }
  free_arrays(at);
  return done;
}

const size_t call_sizes[CALL_SIZES] = {1, 4, 16, 64, 256};

/* Beside no copies. An operation of rows takes none of so few elements. */
static bool is_of_rows(const array_operation *operation) {
  return strstr(operation->function, "_2d") || strstr(operation->function, "_rows");
}
static void call_pass(const contender *self) {
  const job *how = self->more;
  how->run(self->dst, self->src, self->count);
}
static bool measure_calls(array_results *results, group *at, progress *bar) {
  bool done = true;
  if (!results->set->calls_section || results->plan.threads > 1) return true;
  for (size_t i = 0; i < at->own->count && done; ++i) {
    const array_operation *operation = at->only = &at->own->operations[i];
    void *any;
    if (is_of_rows(operation)) continue;
    at->shape = operation->shape;
    at->count = call_sizes[CALL_SIZES - 1];
    at->used = 0;
    done = make_arrays(at, &any);
    for (int k = 0; k < CALL_SIZES && done; ++k) {
      add_contender(at, operation->run, any);
      at->list[k].pass = call_pass;
      at->list[k].count = call_sizes[k];
    }
    if (done)
      done = timing_measure(at->list, CALL_SIZES, results->plan.rounds[0], bar,
                            "short calls");
    for (int k = 0; k < CALL_SIZES && done; ++k)
      results->rows[i].calls[k] = at->list[k].ns * (double)call_sizes[k];
    free_arrays(at);
  }
  at->only = NULL;
  return done;
}

static bool start_team(group *at, unsigned threads) {
  at->thread_count = threads;
  at->threads = threads > 1 ? team_start(threads) : NULL;
  return at->threads || threads == 1;
}

static bool measure_threads(array_results *results, group *at, progress *bar) {
  bool done = true;
  if (results->thread_row_count == 0) return true;
  at->only =
      &at->own->operations[arrays_find(results->set, results->set->threads_operation)];
  at->shape = at->only->shape;
  for (size_t i = 0; i < results->thread_row_count && done; ++i) {
    array_thread_row *row = &results->threads[i];
    done = start_team(at, row->threads);
    for (int size = 0; size < THREAD_SIZES && done; ++size) {
      at->count = results->plan.thread_sizes[size] / sizeof(float);
      done = measure_split(results, at, &row->sizes[size], bar);
    }
    team_stop(at->threads);
  }
  return done;
}

size_t arrays_find(const array_set *set, const char *name) {
  size_t i = 0;
  while (i < set->own->count && strcmp(set->own->operations[i].name, name) != 0)
    ++i;
  return i;
}

array_peer_row *arrays_add_peer(array_results *results, const array_peer *peer,
                                const array_peer_loop *loop) {
  array_peer_row *next = &results->peers[results->peer_count];
  next->operation = arrays_find(results->set, loop->operation);
  if (next->operation == results->set->own->count) return NULL;
  next->peer = peer;
  next->loop = loop;
  ++results->peer_count;
  return next;
}

/* A loop for an operation that there is not would be left out unseen: tests count them.
 */
static bool list_peers(array_results *results) {
  const array_set *set = results->set;
  size_t i, p, count = 0;
  for (p = 0; p < set->peer_count; ++p)
    count += set->peers[p]->count;
  results->peers = calloc(count + 1, sizeof *results->peers);
  for (p = 0; results->peers && p < set->peer_count; ++p) {
    const array_peer *peer = set->peers[p];
    if (arrays_missing(peer)) continue;
    for (i = 0; i < peer->count; ++i) {
      if (peer->loops[i].run) arrays_add_peer(results, peer, &peer->loops[i]);
    }
  }
  return results->peers != NULL;
}

/* The shapes that operations have. */
static void list_limits(array_results *results, group *at) {
  size_t i;
  for (size_t s = 0; s < ARRAY_SHAPES; ++s) {
    at->shape = shapes[s];
    for (i = 0; i < at->own->count && !belongs(at, i); ++i) {
    }
    if (i < at->own->count) results->limits[results->limit_count++].shape = shapes[s];
  }
}

static void list_threads(array_results *results) {
  const unsigned most = results->plan.threads;
  unsigned threads = 1;
  if (most == 1 || !results->set->threads_operation) return;
  for (; threads < most; threads *= 2)
    results->threads[results->thread_row_count++].threads = threads;
  results->threads[results->thread_row_count++].threads = most;
}

static uint64_t work_of_threads(const array_results *results) {
  copy_loop loops[COPY_LOOP_LIMIT];
  const array_set *set = results->set;
  if (results->thread_row_count == 0) return 0;
  return (1 +
          copy_loops(set->own->operations[arrays_find(set, set->threads_operation)].shape,
                     loops)) *
         results->plan.rounds[ARRAY_SIZES - 1] * THREAD_SIZES * results->thread_row_count;
}

static uint64_t work_of_calls(const array_results *results) {
  uint64_t count = 0;
  if (!results->set->calls_section || results->plan.threads > 1) return 0;
  for (size_t i = 0; i < results->set->own->count; ++i)
    count += !is_of_rows(&results->set->own->operations[i]);
  return count * CALL_SIZES * results->plan.rounds[0];
}

static uint64_t work(const array_results *results) {
  copy_loop loops[COPY_LOOP_LIMIT];
  uint64_t contenders = results->set->own->count + results->peer_count, rounds = 0;
  for (size_t i = 0; i < results->limit_count; ++i)
    contenders += copy_loops(results->limits[i].shape, loops);
  for (size_t i = 0; i < ARRAY_SIZES; ++i)
    rounds += results->plan.rounds[i];
  return contenders * rounds + work_of_calls(results) + work_of_threads(results);
}

static bool measure_all(array_results *results, group *at, progress *bar) {
  bool done = start_team(at, results->plan.threads);
  progress_begin(bar, work(results));
  for (int size = 0; size < ARRAY_SIZES; ++size) {
    for (size_t s = 0; s < results->limit_count && done; ++s) {
      at->shape = results->limits[s].shape;
      at->size = size;
      at->count = results->plan.sizes[size] / sizeof(float);
      done = measure_shape(results, &results->limits[s], at, bar);
    }
  }
  if (done) done = measure_calls(results, at, bar);
  team_stop(at->threads);
  if (done) done = measure_threads(results, at, bar);
  progress_end(bar);
  return done;
}

bool arrays_measure(array_results *results, const array_set *set, const array_plan *plan,
                    progress *bar) {
  group at;
  memset(&at, 0, sizeof at);
  at.own = set->own;
  results->set = set;
  results->plan = *plan;
  results->isa = set->own->isa();
  results->rows = calloc(set->own->count, sizeof *results->rows);
  if (!results->rows || !list_peers(results)) return false;
  list_limits(results, &at);
  list_threads(results);
  size_t limit = set->own->count + results->peer_count + COPY_LOOP_LIMIT + CALL_SIZES;
  at.list = calloc(limit, sizeof *at.list);
  at.jobs = calloc(limit, sizeof *at.jobs);
  bool done = at.list && at.jobs;
  if (done) done = measure_all(results, &at, bar);
  free(at.list);
  free(at.jobs);
  if (done && set->measure_outside) set->measure_outside(results);
  return done;
}

void arrays_free(array_results *results) {
  free(results->rows);
  free(results->peers);
}
