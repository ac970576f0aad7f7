/* SPDX-License-Identifier: MIT */
#include "report.h"

static void put_row(csv_place at, const array_results *found, const array_row *row) {
  char size[24];
  int s;
  for (s = 0; s < ARRAY_SIZES; ++s) {
    const array_figure *shown = &row->sizes[s];
    snprintf(size, sizeof size, "%zu", found->plan.sizes[s]);
    at.variant = size;
    csv_put(&at, "time_per_value", shown->ns, "ns");
    csv_put(&at, "noise", shown->noise, "");
    csv_put(&at, "rate", shown->rate, "GB/s");
    csv_put(&at, "limit_rate", shown->limit, "GB/s");
    csv_put(&at, "share_of_limit", shown->rate / shown->limit, "");
  }
}

void arrays_csv(csv_place at, const array_results *found) {
  size_t i;
  const array_operation *operations = found->set->own->operations;
  at.section = found->set->section;
  at.source = found->isa;
  for (i = 0; i < found->set->own->count; ++i) {
    at.name = operations[i].name;
    put_row(at, found, &found->rows[i]);
  }
  at.section = found->set->peer_section;
  for (i = 0; i < found->peer_count; ++i) {
    at.source = found->peers[i].peer->name;
    at.name = operations[found->peers[i].operation].name;
    put_row(at, found, &found->peers[i].row);
  }
}
