/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <string.h>

#include "../../report/table.h"

enum { MIDDLE = 1 };

array_label array_size_label(size_t bytes) {
  array_label made;
  const bool mebi = bytes >= 1 << 20;
  snprintf(made.text, sizeof made.text, "%zu %s", bytes >> (mebi ? 20 : 10),
           mebi ? "MiB" : "KiB");
  return made;
}

static array_label shape_label(byte_shape shape) {
  array_label made;
  if (shape.in_place) {
    snprintf(made.text, sizeof made.text, "%u bits in place", shape.src_bits);
  } else if (shape.dst_bits == 0) {
    snprintf(made.text, sizeof made.text, "%u bits, read", shape.src_bits);
  } else {
    snprintf(made.text, sizeof made.text, "%u bits to %u", shape.src_bits,
             shape.dst_bits);
  }
  return made;
}

/* A heading of three groups of columns, one for each size. */
static void group_sizes(table *made, const array_results *found, size_t first,
                        size_t width, array_label labels[ARRAY_SIZES]) {
  size_t i;
  for (i = 0; i < ARRAY_SIZES; ++i) {
    labels[i] = array_size_label(found->plan.sizes[i]);
    table_group(made, first + i * width, width, labels[i].text);
  }
}

static const char *star(const array_peer_row *row) { return row->differs ? "*" : ""; }

/* In four columns. */
static void add_noise(table *made, double noise) {
  if (noise > 0.99) {
    table_add(made, ">99%%");
  } else if (noise > 0.0995) {
    table_add(made, "%.0f%%", 100 * noise);
  } else {
    table_add(made, "%.1f%%", 100 * noise);
  }
}

static void add_best(table *made, const array_results *found, size_t operation) {
  const array_peer_row *best = arrays_best_peer(found, operation, MIDDLE);
  if (!best) {
    table_add(made, "-");
    table_add(made, "-");
    return;
  }
  table_add(made, "%s%s", best->peer->name, star(best));
  table_add(made, "%.2f",
            found->rows[operation].sizes[MIDDLE].rate / best->row.sizes[MIDDLE].rate);
}

static bool print_operations(const array_results *found, FILE *to) {
  static const char *const names[] = {"operation", "GB/s",  "+-",        "limit",
                                      "GB/s",      "+-",    "limit",     "GB/s",
                                      "+-",        "limit", "best peer", "x"};
  array_label labels[ARRAY_SIZES];
  table made;
  size_t i;
  int s;
  table_heading(&made, sizeof names / sizeof *names, names);
  made.left[10] = true;
  group_sizes(&made, found, 1, 3, labels);
  for (i = 0; i < found->set->own->count; ++i) {
    table_add(&made, "%s", found->set->own->operations[i].name);
    for (s = 0; s < ARRAY_SIZES; ++s) {
      const array_figure *shown = &found->rows[i].sizes[s];
      table_add(&made, "%.1f", shown->rate);
      add_noise(&made, shown->noise);
      table_add(&made, "%.0f%%", 100 * shown->rate / shown->limit);
    }
    add_best(&made, found, i);
  }
  fprintf(
      to,
      "\n%s: %s, %u thread%s. A size is that of as many f32 as there are elements; "
      "medians\nof %u, %u and %u rounds. limit: share of the fastest copy of the same "
      "bytes in this run. x: the\nbest peer's time over mpnum's at %s.\n",
      found->set->title, found->isa, found->plan.threads,
      found->plan.threads > 1 ? "s" : "", found->plan.rounds[0], found->plan.rounds[1],
      found->plan.rounds[2], array_size_label(found->plan.sizes[MIDDLE]).text);
  return table_end(&made, to);
}

static bool print_peers(const array_results *found, FILE *to) {
  static const char *const names[] = {"operation", "peer", "function", "GB/s", "x",
                                      "GB/s",      "x",    "GB/s",     "x"};
  array_label labels[ARRAY_SIZES];
  table made;
  size_t i, p;
  int s;
  if (found->peer_count == 0) return true;
  table_heading(&made, sizeof names / sizeof *names, names);
  made.left[1] = made.left[2] = true;
  group_sizes(&made, found, 3, 2, labels);
  for (i = 0; i < found->set->own->count; ++i) {
    for (p = 0; p < found->peer_count; ++p) {
      const array_peer_row *row = &found->peers[p];
      if (row->operation != i) continue;
      table_add(&made, "%s", found->set->own->operations[i].name);
      table_add(&made, "%s%s", row->peer->name, star(row));
      table_add(&made, "%s", row->loop->function);
      for (s = 0; s < ARRAY_SIZES; ++s) {
        table_add(&made, "%.1f", row->row.sizes[s].rate);
        table_add(&made, "%.2f", found->rows[i].sizes[s].rate / row->row.sizes[s].rate);
      }
    }
  }
  fprintf(to, "\n%s, peers: %s.\n", found->set->title, found->set->peer_note);
  return table_end(&made, to);
}

static void add_rate(table *made, double rate) {
  if (rate > 0) {
    table_add(made, "%.1f", rate);
  } else {
    table_add(made, "-");
  }
}

static bool print_limits(const array_results *found, FILE *to) {
  static const char *const names[] = {"an element", "regular", "past", "regular",
                                      "past",       "regular", "past"};
  array_label labels[ARRAY_SIZES];
  table made;
  size_t i;
  int s;
  table_heading(&made, sizeof names / sizeof *names, names);
  group_sizes(&made, found, 1, 2, labels);
  for (i = 0; i < found->limit_count; ++i) {
    const array_limit *shown = &found->limits[i];
    table_add(&made, "%s", shape_label(shown->shape).text);
    for (s = 0; s < ARRAY_SIZES; ++s) {
      add_rate(&made, shown->regular[s]);
      add_rate(&made, shown->streaming[s]);
    }
  }
  fprintf(to,
          "\n%s, limits: GB/s of the fastest copy, with regular stores and with stores "
          "past the caches\n",
          found->set->title);
  return table_end(&made, to);
}

bool arrays_text(const array_results *found, FILE *to) {
  bool good =
      print_operations(found, to) && print_peers(found, to) && print_limits(found, to);
  bool first = true;
  size_t i;
  for (i = 0; i < found->set->peer_count; ++i) {
    const array_peer *peer = found->set->peers[i];
    if (!arrays_missing(peer)) continue;
    fprintf(to, "%sPeer absent: %s, %s\n", first ? "\n" : "", peer->name,
            arrays_missing(peer));
    first = false;
  }
  return good;
}
