/* SPDX-License-Identifier: MIT */
#include "report.h"

static json_t *figures_json(const array_results *found, const array_row *row,
                            const array_row *own) {
  json_t *sizes = json_array();
  int s;
  for (s = 0; s < ARRAY_SIZES; ++s) {
    const array_figure *shown = &row->sizes[s];
    json_t *one = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o}", "bytes", json_whole(found->plan.sizes[s]),
        "ns_per_value", json_number(shown->ns), "noise", json_number(shown->noise),
        "gb_per_s", json_number(shown->rate), "limit_gb_per_s", json_number(shown->limit),
        "share_of_limit", json_number(shown->rate / shown->limit));
    if (own)
      json_object_set_new(one, "mpnum_speedup",
                          json_number(own->sizes[s].rate / shown->rate));
    json_array_append_new(sizes, one);
  }
  return sizes;
}

static json_t *operations_json(const array_results *found) {
  json_t *rows = json_array();
  size_t i;
  for (i = 0; i < found->set->own->count; ++i) {
    const array_operation *operation = &found->set->own->operations[i];
    json_array_append_new(rows,
                          json_pack("{s:s, s:s, s:i, s:i, s:b, s:o}", "operation",
                                    operation->name, "function", operation->function,
                                    "src_bits", (int)operation->shape.src_bits,
                                    "dst_bits", (int)operation->shape.dst_bits,
                                    "in_place", (int)operation->shape.in_place, "sizes",
                                    figures_json(found, &found->rows[i], NULL)));
  }
  return rows;
}

static json_t *peer_rows_json(const array_results *found, const array_peer *peer) {
  json_t *rows = json_array();
  size_t i;
  for (i = 0; i < found->peer_count; ++i) {
    const array_peer_row *row = &found->peers[i];
    if (row->peer != peer) continue;
    json_array_append_new(
        rows,
        json_pack("{s:s, s:s, s:o, s:o}", "operation",
                  found->set->own->operations[row->operation].name, "function",
                  row->loop->function, "same_results",
                  row->loop->run ? json_boolean(!row->differs) : json_null(), "sizes",
                  figures_json(found, &row->row, &found->rows[row->operation])));
  }
  return rows;
}

static json_t *peers_json(const array_results *found) {
  json_t *peers = json_array();
  size_t i;
  for (i = 0; i < found->set->peer_count; ++i) {
    const array_peer *peer = found->set->peers[i];
    json_array_append_new(peers, json_pack("{s:s, s:s?, s:o, s:o}", "library", peer->name,
                                           "missing", arrays_missing(peer), "functions",
                                           json_whole(peer->count), "rows",
                                           peer_rows_json(found, peer)));
  }
  return peers;
}

static json_t *rate_json(double rate) {
  return rate > 0 ? json_number(rate) : json_null();
}

static json_t *limits_json(const array_results *found) {
  json_t *limits = json_array();
  size_t i;
  int s;
  for (i = 0; i < found->limit_count; ++i) {
    const array_limit *shown = &found->limits[i];
    json_t *sizes = json_array();
    for (s = 0; s < ARRAY_SIZES; ++s)
      json_array_append_new(
          sizes, json_pack("{s:o, s:o, s:o}", "bytes", json_whole(found->plan.sizes[s]),
                           "regular_gb_per_s", rate_json(shown->regular[s]),
                           "streaming_gb_per_s", rate_json(shown->streaming[s])));
    json_array_append_new(limits, json_pack("{s:i, s:i, s:b, s:o}", "src_bits",
                                            (int)shown->shape.src_bits, "dst_bits",
                                            (int)shown->shape.dst_bits, "in_place",
                                            (int)shown->shape.in_place, "sizes", sizes));
  }
  return limits;
}

json_t *arrays_json(const array_results *found) {
  json_t *rounds = json_array();
  int s;
  for (s = 0; s < ARRAY_SIZES; ++s)
    json_array_append_new(rounds, json_whole(found->plan.rounds[s]));
  return json_pack("{s:s, s:i, s:o, s:o, s:o, s:o}", "isa", found->isa, "threads",
                   (int)found->plan.threads, "rounds", rounds, "rows",
                   operations_json(found), "peers", peers_json(found), "limits",
                   limits_json(found));
}
