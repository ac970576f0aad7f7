/* SPDX-License-Identifier: MIT */
#include "arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpnum/array/reduce.h>

#include "../../core/options.h"
#include "../../report/view.h"

enum { MIDDLE = 1 };
/* Of the rate of a copy: from there on memory is the limit. */
static const double memory_share = 0.8;
static const char own[] = "mpnum";

static void add_row(figures *to, const array_results *found, const char *source,
                    const char *name, const array_row *row, const array_row *base) {
  for (int s = 0; s < ARRAY_SIZES; ++s) {
    const array_figure *shown = &row->sizes[s];
    char size[TABLE_CELL];
    show_bytes(size, (double)found->plan.sizes[s]);
    figures_at(to, found->set->section, source, name, size);
    figures_add(to, "time_per_value", shown->ns, "ns");
    figures_add(to, "noise", shown->noise, "");
    figures_add(to, "rate", shown->rate, "GB/s");
    figures_add(to, "limit_rate", shown->limit, "GB/s");
    figures_add(to, "share_of_limit", shown->rate / shown->limit, "");
    if (base) figures_add(to, "ratio_to_mpnum", shown->ns / base->sizes[s].ns, "");
  }
}

/* Compared, and the same. */
static bool is_same(const array_peer_row *row) { return row->loop->run && !row->differs; }

static bool is_better(const array_peer_row *row, const array_peer_row *best) {
  if (!best) return true;
  if (is_same(row) != is_same(best)) return is_same(row);
  return row->row.sizes[MIDDLE].rate > best->row.sizes[MIDDLE].rate;
}

/* The fastest peer of an operation at the middle size, of those with mpnum's results if
 * there are any; or NULL. */
static const array_peer_row *best_peer(const array_results *results, size_t operation) {
  const array_peer_row *best = NULL;
  for (size_t i = 0; i < results->peer_count; ++i) {
    const array_peer_row *row = &results->peers[i];
    if (row->operation == operation && is_better(row, best)) best = row;
  }
  return best;
}

static void add_operation(figures *to, const array_results *found, size_t index) {
  const array_operation *operation = &found->set->own->operations[index];
  const array_peer_row *best = best_peer(found, index);
  figures_at(to, found->set->section, own, operation->name, "");
  figures_say(to, "function", "%s", operation->function);
  figures_add(to, "src_bits", operation->shape.src_bits, "bit");
  figures_add(to, "dst_bits", operation->shape.dst_bits, "bit");
  figures_add(to, "in_place", operation->shape.in_place != 0, "");
  if (best) {
    figures_say(to, "best_peer", "%s%s", best->peer->name, best->differs ? "*" : "");
    figures_add(to, "best_peer_ratio",
                best->row.sizes[MIDDLE].ns / found->rows[index].sizes[MIDDLE].ns, "");
  }
  add_row(to, found, own, operation->name, &found->rows[index], NULL);
}

static void add_peer(figures *to, const array_results *found, const array_peer_row *row) {
  const char *operation = found->set->own->operations[row->operation].name;
  figures_at(to, found->set->section, row->peer->name, operation, "");
  figures_say(to, "function", "%s", row->loop->function);
  if (row->loop->run) figures_add(to, "same_results", !row->differs, "");
  add_row(to, found, row->peer->name, operation, &row->row, &found->rows[row->operation]);
}

static void name_shape(char name[TABLE_CELL], byte_shape shape) {
  if (shape.in_place && shape.src_bits != shape.dst_bits) {
    snprintf(name, TABLE_CELL, "%u bits to %u, in place", shape.src_bits, shape.dst_bits);
  } else if (shape.in_place) {
    snprintf(name, TABLE_CELL, "%u bits in place", shape.src_bits);
  } else if (shape.dst_bits == 0) {
    snprintf(name, TABLE_CELL, "%u bits, read", shape.src_bits);
  } else {
    snprintf(name, TABLE_CELL, "%u bits to %u", shape.src_bits, shape.dst_bits);
  }
}

static void add_limit(figures *to, const array_results *found, const array_limit *limit) {
  const char *section = found->set->limit_section;
  char name[TABLE_CELL], size[TABLE_CELL];
  name_shape(name, limit->shape);
  figures_at(to, section, "", name, "");
  figures_add(to, "src_bits", limit->shape.src_bits, "bit");
  figures_add(to, "dst_bits", limit->shape.dst_bits, "bit");
  figures_add(to, "in_place", limit->shape.in_place != 0, "");
  for (int s = 0; s < ARRAY_SIZES; ++s) {
    const double streaming = limit->streaming[s];
    show_bytes(size, (double)found->plan.sizes[s]);
    figures_at(to, section, "", name, size);
    figures_add(to, "regular_rate", limit->regular[s], "GB/s");
    if (streaming > 0) figures_add(to, "streaming_rate", streaming, "GB/s");
  }
}

/* What of the floats that were measured is no normal number, as the library counts. */
static void add_data(figures *to) {
  enum { COUNT = 4096 };
  float *src = source_make(SOURCE_F32, 32, COUNT);
  if (!src) return;
  const mpnum_stats stats = mpnum_stats_f32(src, COUNT);
  figures_add(to, "subnormal_share", (double)stats.subnormals / COUNT, "");
  figures_add(to, "zero_share", (double)stats.zeros / COUNT, "");
  figures_add(to, "nonfinite_share", (double)(stats.infs + stats.nans) / COUNT, "");
  figures_add(to, "amax", (double)stats.amax, "");
  figures_add(to, "min_nonzero", (double)stats.min_nonzero, "");
  free(src);
}

static void add_plan(figures *to, const array_results *found) {
  char size[TABLE_CELL];
  figures_at(to, found->set->section, own, "", "");
  figures_say(to, "isa", "%s", found->isa);
  figures_say(to, "data", "%s", data_name((int)source_held()));
  add_data(to);
  figures_add(to, "threads", found->plan.threads, "");
  for (size_t i = 0; i < ARRAY_SIZES; ++i) {
    show_bytes(size, (double)found->plan.sizes[i]);
    figures_at(to, found->set->section, "", "", size);
    figures_add(to, "rounds", found->plan.rounds[i], "");
  }
  for (size_t i = 0; i < found->set->peer_count; ++i) {
    const array_peer *peer = found->set->peers[i];
    const char *missing = arrays_missing(peer);
    figures_at(to, found->set->section, peer->name, "", "");
    figures_add(to, "functions", (double)peer->count, "");
    if (missing) figures_say(to, "missing", "%s", missing);
    if (i + 1 == found->set->peer_count && found->set->version[0])
      figures_say(to, "version", "%s", found->set->version);
  }
}

static void add_addition(figures *to, const array_results *found,
                         const array_addition *addition) {
  const array_set *set = found->set;
  const array_row *row = &found->rows[arrays_find(set, addition->operation)];
  const array_row *over = &found->rows[arrays_find(set, addition->over)];
  char size[TABLE_CELL];
  for (int s = 0; s < ARRAY_SIZES; ++s) {
    show_bytes(size, (double)found->plan.sizes[s]);
    figures_at(to, set->added_section, own, addition->what, size);
    figures_add(to, "added_time", row->sizes[s].ns / over->sizes[s].ns - 1, "");
  }
}

/* The bytes from which on memory is the limit: larger than those of the highest rate, up
 * to which it is starting the threads, and waiting for them. NaN where it never is. */
static double memory_from(const array_results *found, const array_thread_row *row) {
  double from = (double)NAN;
  int s, fastest = 0;
  for (s = 1; s < THREAD_SIZES; ++s) {
    if (row->sizes[s].rate > row->sizes[fastest].rate) fastest = s;
  }
  for (s = THREAD_SIZES - 1; s > fastest; --s) {
    if (row->sizes[s].rate < memory_share * row->sizes[s].limit) break;
    from = (double)found->plan.thread_sizes[s];
  }
  return from;
}

static void add_threads(figures *to, const array_results *found,
                        const array_thread_row *row) {
  const char *section = found->set->threads_section;
  char name[TABLE_CELL], size[TABLE_CELL];
  snprintf(name, sizeof name, "%u thread%s", row->threads, row->threads > 1 ? "s" : "");
  figures_at(to, section, own, name, "");
  figures_say(to, "operation", "%s", found->set->threads_operation);
  figures_add(to, "memory_limit_from", memory_from(found, row), "byte");
  for (int s = 0; s < THREAD_SIZES; ++s) {
    const array_figure *shown = &row->sizes[s];
    show_bytes(size, (double)found->plan.thread_sizes[s]);
    figures_at(to, section, own, name, size);
    figures_add(to, "rate", shown->rate, "GB/s");
    figures_add(to, "limit_rate", shown->limit, "GB/s");
    figures_add(to, "share_of_limit", shown->rate / shown->limit, "");
  }
}

static void add_calls(figures *to, const array_results *found, size_t index) {
  const array_row *row = &found->rows[index];
  for (int k = 0; k < CALL_SIZES && row->calls[0] > 0; ++k) {
    char size[TABLE_CELL];
    snprintf(size, sizeof size, "%zu", call_sizes[k]);
    figures_at(to, found->set->calls_section, own,
               found->set->own->operations[index].name, size);
    figures_add(to, "time_per_call", row->calls[k], "ns");
  }
}

void arrays_figures(figures *to, const array_results *found) {
  add_plan(to, found);
  for (size_t i = 0; i < found->set->own->count; ++i)
    add_operation(to, found, i);
  for (size_t i = 0; i < found->set->own->count; ++i) {
    for (size_t p = 0; p < found->peer_count; ++p) {
      if (found->peers[p].operation == i) add_peer(to, found, &found->peers[p]);
    }
  }
  for (size_t i = 0; i < found->limit_count; ++i)
    add_limit(to, found, &found->limits[i]);
  for (size_t i = 0; i < found->set->addition_count; ++i)
    add_addition(to, found, &found->set->additions[i]);
  for (size_t i = 0; i < found->set->own->count; ++i)
    add_calls(to, found, i);
  for (size_t i = 0; i < found->thread_row_count; ++i)
    add_threads(to, found, &found->threads[i]);
}

static bool print_operations(const array_set *set, const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "operation", .metric = VIEW_NAME},
      {.heading = "GB/s", .metric = "rate", .format = "%.1f", .each = true},
      {.heading = "+-", .metric = "noise", .show = show_noise, .each = true},
      VIEW_SHARES("copy", "share_of_limit", "%.0f%%"),
      {.heading = "best peer", .metric = "best_peer", .left = true},
      {.heading = "x", .metric = "best_peer_ratio", .show = show_three},
  };
  const view shown = {.section = set->section, .source = own, VIEW_COLUMNS(columns)};
  const double threads = figures_value(from, set->section, "threads");
  char rounds[ARRAY_SIZES][TABLE_CELL] = {"", "", ""}, middle[TABLE_CELL] = "";
  size_t i, s = 0;
  for (i = 0; i < from->count && s < ARRAY_SIZES; ++i) {
    const figure *row = &from->rows[i];
    if (strcmp(row->section, set->section) != 0 || strcmp(row->metric, "rounds") != 0)
      continue;
    if (s == MIDDLE) snprintf(middle, sizeof middle, "%s", row->variant);
    snprintf(rounds[s++], TABLE_CELL, "%.0f", row->value);
  }
  return view_print(
      &shown, from, to,
      "\n%s: %s, %.0f thread%s, %s data.\nA size is that of as many f32 as there are "
      "elements; medians of %s, %s and %s rounds. copy: share of\nthe fastest copy of "
      "the "
      "same bytes in this run. x: the best peer's time over mpnum's at %s.\n",
      set->title, figures_words(from, set->section, "isa"), threads,
      threads > 1 ? "s" : "", figures_words(from, set->section, "data"), rounds[0],
      rounds[1], rounds[2], middle);
}

static bool print_peers(const array_set *set, const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "operation", .metric = VIEW_NAME},
      {.heading = "peer",
       .metric = VIEW_SOURCE,
       .left = true,
       .star_for = "same_results"},
      {.heading = "function", .metric = "function", .left = true},
      {.heading = "GB/s", .metric = "rate", .format = "%.1f", .each = true},
      {.heading = "x", .metric = "ratio_to_mpnum", .show = show_three, .each = true},
  };
  const view shown = {
      .section = set->section, .source = own, .others = true, VIEW_COLUMNS(columns)};
  const char *version = figures_words(from, set->section, "version");
  return view_print(&shown, from, to, "\n%s, peers: %s%s%s.\n", set->title,
                    set->peer_note, version[0] ? "; version " : "", version);
}

static bool print_limits(const array_set *set, const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "an element", .metric = VIEW_NAME},
      {.heading = "regular", .metric = "regular_rate", .format = "%.1f", .each = true},
      {.heading = "past", .metric = "streaming_rate", .format = "%.1f", .each = true},
  };
  const view shown = {.section = set->limit_section, VIEW_COLUMNS(columns)};
  return view_print(
      &shown, from, to,
      "\n%s, limits: GB/s of the fastest copy, with regular stores and with "
      "stores past the caches\n",
      set->title);
}

static bool print_additions(const array_set *set, const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "what", .metric = VIEW_NAME},
      {.metric = "added_time", .format = "%+.0f%%", .factor = 100, .each = true},
  };
  const view shown = {.section = set->added_section, VIEW_COLUMNS(columns)};
  return set->addition_count == 0 ||
         view_print(&shown, from, to,
                    "\n%s, what is added: time over that of the pass without\n",
                    set->title);
}

static bool print_threads(const array_set *set, const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "split among", .metric = VIEW_NAME},
      {.heading = "GB/s", .metric = "rate", .format = "%.1f", .each = true},
      VIEW_SHARES("copy", "share_of_limit", "%.0f%%"),
      {.heading = "memory", .metric = "memory_limit_from", .show = show_bytes},
  };
  const view shown = {.section = set->threads_section, VIEW_COLUMNS(columns)};
  if (!set->threads_section) return true;
  return view_print(
      &shown, from, to,
      "\n%s, threads: %s. copy: share of the fastest copy of the same bytes, "
      "split likewise.\nmemory: the size from which on it is the limit: %.0f%% of "
      "the copy and more, and past the highest rate\n",
      set->title, figures_words(from, set->threads_section, "operation"),
      100 * memory_share);
}

static bool print_calls(const array_set *set, const figures *from, FILE *to) {
  static const view_column columns[] = {
      {.heading = "operation", .metric = VIEW_NAME},
      {.heading = "ns", .metric = "time_per_call", .format = "%.1f", .each = true},
  };
  const view shown = {.section = set->calls_section, VIEW_COLUMNS(columns)};
  if (!set->calls_section) return true;
  return view_print(&shown, from, to,
                    "\n%s, short calls: ns a call of so many elements, in L1.\n",
                    set->title);
}

bool arrays_print(const array_set *set, const figures *from, FILE *to) {
  const bool good = print_operations(set, from, to) && print_peers(set, from, to) &&
                    print_limits(set, from, to);
  view_absent(from, set->section, false, to);
  return good && print_additions(set, from, to) && print_calls(set, from, to) &&
         print_threads(set, from, to);
}
