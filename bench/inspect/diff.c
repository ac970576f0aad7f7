/* SPDX-License-Identifier: MIT */
#include "diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../core/progress.h"
#include "../verdict/verdict.h"

/* Elements that are compared at once: whole blocks of every type. */
enum { PIECE = 1 << 14 };

typedef struct work {
  unsigned char raw[2][PIECE * 8];
  float floats[PIECE];
  double values[2][PIECE];
} work;

/* --- what belongs together */

static bool add_remark(difference *made, const char *name, const char *text,
                       refusal *why) {
  remark *grown = realloc(made->remarks, (made->remark_count + 1) * sizeof *grown);
  if (!grown) return refuse(why, "out of memory");
  made->remarks = grown;
  grown += made->remark_count++;
  grown->name = name;
  snprintf(grown->text, sizeof grown->text, "%s", text);
  return true;
}

static void show_sizes(char *dst, size_t size, unsigned rank, const uint64_t *shape) {
  size_t used = (size_t)snprintf(dst, size, "[");
  for (unsigned i = 0; i < rank && used < size; ++i)
    used += (size_t)snprintf(dst + used, size - used, i ? ", %" PRIu64 : "%" PRIu64,
                             shape[i]);
  if (used < size) snprintf(dst + used, size - used, "]");
}

bool have_one_shape(unsigned rank, const uint64_t *shape, unsigned other_rank,
                    const uint64_t *other_shape) {
  return rank == other_rank &&
         (rank == 0 || memcmp(shape, other_shape, rank * sizeof *shape) == 0);
}

void show_shapes(char dst[REMARK], unsigned rank, const uint64_t *shape,
                 unsigned other_rank, const uint64_t *other_shape) {
  char left[48], right[48];
  show_sizes(left, sizeof left, rank, shape);
  show_sizes(right, sizeof right, other_rank, other_shape);
  snprintf(dst, REMARK, "has shapes %s and %s", left, right);
}

static bool add_shapes(difference *made, const char *name, unsigned rank,
                       const uint64_t *shape, unsigned other_rank,
                       const uint64_t *other_shape, refusal *why) {
  char text[REMARK];
  show_shapes(text, rank, shape, other_rank, other_shape);
  return add_remark(made, name, text, why);
}

/* The rows to compare, and remarks on the others. */
static bool pair(difference *made, refusal *why) {
  const side_list *left = &made->sides[0], *right = &made->sides[1];
  const bool by_place = left->count == 1 && right->count == 1; /* a.npy and b.npy */
  made->rows = calloc(left->count + 1, sizeof *made->rows);
  if (!made->rows) return refuse(why, "out of memory");
  for (size_t i = 0; i < left->count; ++i) {
    const tensor *values = left->sides[i].values;
    const side *found = by_place ? right->sides : find_side(right, values->name);
    if (!is_wanted(made->chosen, values->name)) continue;
    if (!found) {
      if (!add_remark(made, values->name, "is only in the first", why)) return false;
      continue;
    }
    const tensor *other = found->values;
    if (!have_one_shape(values->rank, values->shape, other->rank, other->shape)) {
      if (!add_shapes(made, values->name, values->rank, values->shape, other->rank,
                      other->shape, why))
        return false;
    } else if (values->rank > 1 && values->fortran_order != other->fortran_order) {
      if (!add_remark(made, values->name, "is stored in two orders", why)) return false;
    } else {
      made->rows[made->count++].sides[0] = left->sides[i];
      made->rows[made->count - 1].sides[1] = *found;
    }
  }
  for (size_t i = 0; i < right->count && !by_place; ++i) {
    const char *name = right->sides[i].values->name;
    if (is_wanted(made->chosen, name) && !find_side(left, name) &&
        !add_remark(made, name, "is only in the second", why))
      return false;
  }
  return true;
}

/* --- values */

/* Elements as the files have them, where both have one type; else by value and sign. */
static uint64_t count_equal(const work *at, const compared *of, size_t count) {
  const side *left = &of->sides[0], *right = &of->sides[1];
  const mpnum_type type = left->values->type;
  const bool by_bits = type == right->values->type && !left->blocks && !right->blocks &&
                       left->factor == right->factor;
  const bool is_f64 = type == MPNUM_TYPE_F64;
  const unsigned char *raw = is_f64 ? (const void *)at->values[0] : at->raw[0];
  const unsigned char *other = is_f64 ? (const void *)at->values[1] : at->raw[1];
  const unsigned size = element_size(type);
  uint64_t equal = 0;
  for (size_t i = 0; i < count; ++i) {
    const double x = at->values[0][i], y = at->values[1][i];
    if (by_bits)
      equal += memcmp(raw + i * size, other + i * size, size) == 0;
    else
      equal += (x == y && !signbit(x) == !signbit(y)) || (isnan(x) && isnan(y));
  }
  return equal;
}

static void add_values(const work *at, compared *to, uint64_t first, size_t count) {
  to->equal += count_equal(at, to, count);
  for (size_t i = 0; i < count; ++i) {
    const double x = at->values[0][i], y = at->values[1][i], error = fabs(y - x);
    if (isfinite(x) && isfinite(y)) {
      to->signal += x * x;
      to->other += y * y;
      to->product += x * y;
      to->noise += error * error;
      if (error > to->largest) {
        to->largest = error;
        to->largest_at = first + i;
      }
    } else if (isfinite(x)) {
      to->new_nans += isnan(y) != 0;
      to->new_infs += isinf(y) != 0;
      if (to->first_new == UINT64_MAX) to->first_new = first + i;
    } else if (isfinite(y)) {
      ++to->gone;
    }
  }
}

static bool compare_row(work *at, compared *to, const char **subject, refusal *why) {
  const uint64_t count = to->sides[0].values->count;
  to->first_new = UINT64_MAX;
  for (uint64_t first = 0; first < count; first += PIECE) {
    const size_t now = count - first < PIECE ? (size_t)(count - first) : PIECE;
    for (int which = 0; which < 2; ++which) {
      *subject = to->sides[which].file->path;
      if (!side_values(&to->sides[which], first, at->values[which], now, at->raw[which],
                       at->floats, why))
        return false;
    }
    add_values(at, to, first, now);
  }
  return true;
}

/* --- what is not read: bytes of safetensors files, as they are */

typedef struct bytes {
  const input *file;
  const unread *of; /* NULL: there is none */
} bytes;

static bytes find_bytes(const input_set *set, const char *name) {
  for (size_t f = 0; f < set->count; ++f) {
    const input *file = &set->files[f];
    for (size_t i = 0; i < file->other_count; ++i) {
      if (strcmp(file->others[i].name, name) == 0) return (bytes){file, &file->others[i]};
    }
  }
  return (bytes){NULL, NULL};
}

static bool have_same_bytes(work *at, const bytes *left, const bytes *right, bool *same,
                            refusal *why) {
  const uint64_t size = left->of->bytes;
  *same = size == right->of->bytes;
  for (uint64_t done = 0; *same && done < size;) {
    const size_t room = sizeof at->raw[0];
    const size_t now = size - done < room ? (size_t)(size - done) : room;
    if (!input_bytes(left->file, left->of->offset + done, at->raw[0], now, why) ||
        !input_bytes(right->file, right->of->offset + done, at->raw[1], now, why))
      return false;
    *same = memcmp(at->raw[0], at->raw[1], now) == 0;
    done += now;
  }
  return true;
}

/* Of the first set, or what the second has more. */
static bool compare_bytes(difference *made, work *at, const bytes *left, bool is_second,
                          refusal *why) {
  const char *name = left->of->name;
  const bytes right = find_bytes(&made->sets[is_second ? 0 : 1], name);
  bool same = true;
  if (!is_wanted(made->chosen, name) || is_taken(&made->sides[is_second], left->of))
    return true;
  if (!right.of || is_taken(&made->sides[!is_second], right.of))
    return add_remark(made, name,
                      is_second ? "is only in the second" : "is only in the first", why);
  if (is_second) return true; /* compared already */
  ++made->unread;
  if (!have_one_shape(left->of->rank, left->of->shape, right.of->rank, right.of->shape))
    return add_shapes(made, name, left->of->rank, left->of->shape, right.of->rank,
                      right.of->shape, why);
  return have_same_bytes(at, left, &right, &same, why) &&
         (same || add_remark(made, name, "is not read, and its bytes differ", why));
}

static bool compare_unread(difference *made, work *at, refusal *why) {
  for (int which = 0; which < 2; ++which) {
    const input_set *set = &made->sets[which];
    for (size_t f = 0; f < set->count; ++f) {
      for (size_t i = 0; i < set->files[f].other_count; ++i) {
        const bytes of = {&set->files[f], &set->files[f].others[i]};
        if (!compare_bytes(made, at, &of, which > 0, why)) return false;
      }
    }
  }
  return true;
}

/* --- the whole */

bool is_unchanged(const compared *of) { return of->equal == of->sides[0].values->count; }

double sqnr_of_pair(const compared *of) {
  if (of->noise > 0) return 10 * log10(of->signal / of->noise);
  if (of->largest > 0) return (double)NAN; /* its square is below all doubles */
  return of->signal > 0 || of->equal > 0 ? (double)INFINITY : (double)NAN;
}

double cosine_of_pair(const compared *of) {
  return of->signal > 0 && of->other > 0 ? of->product / sqrt(of->signal * of->other)
                                         : (double)NAN;
}

static int compare_rows(const void *a, const void *b) {
  const compared *left = a, *right = b;
  const bool new_left = left->first_new != UINT64_MAX;
  const bool new_right = right->first_new != UINT64_MAX;
  const double x = sqnr_of_pair(left), y = sqnr_of_pair(right);
  if (new_left != new_right) return new_left ? -1 : 1;
  if (is_unchanged(left) != is_unchanged(right)) return is_unchanged(right) ? -1 : 1;
  if (x < y || x > y) return x < y ? -1 : 1;
  if (isnan(x) != isnan(y)) return isnan(x) ? -1 : 1;
  return strcmp(left->sides[0].values->name, right->sides[0].values->name);
}

static bool compare_all(difference *made, const char **subject, refusal *why) {
  progress bar;
  uint64_t values = 0;
  size_t i;
  work *at = malloc(sizeof *at);
  if (!at) return refuse(why, "out of memory");
  for (i = 0; i < made->count; ++i)
    values += made->rows[i].sides[0].values->count;
  progress_begin(&bar, values);
  bool good = true;
  for (i = 0; good && i < made->count; ++i) {
    const tensor *of = made->rows[i].sides[0].values;
    good = compare_row(at, &made->rows[i], subject, why);
    progress_step(&bar, of->count, of->name);
  }
  progress_end(&bar);
  if (good) *subject = NULL;
  good = good && compare_unread(made, at, why);
  free(at);
  qsort(made->rows, made->count, sizeof *made->rows, compare_rows);
  return good;
}

bool differ(difference *made, const char **subject, refusal *why) {
  for (int which = 0; which < 2; ++which) {
    input_set *set = &made->sets[which];
    if (!inputs_open(set, &made->chosen->paths[which], 1, made->chosen->codes, why))
      return *subject = set->refused, false;
    *subject = made->chosen->paths[which];
    if (!sides_of(set, &made->sides[which], why)) return false;
  }
  return pair(made, why) && compare_all(made, subject, why);
}

void differ_free(difference *made) {
  free(made->rows);
  free(made->remarks);
  sides_free(&made->sides[0]);
  sides_free(&made->sides[1]);
  inputs_close(&made->sets[0]);
  inputs_close(&made->sets[1]);
}
