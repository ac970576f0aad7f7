/* SPDX-License-Identifier: MIT */
/* Names and layouts are those of compressed-tensors 0.20, where x is the name of a
 * tensor:
 *
 *   e4m3, e5m2  x F8_E4M3 or F8_E5M2, x_scale F32 [1]: the value is code * scale
 *   mx_e4m3     x F8_E4M3, x_scale U8: an e8m0 code for each 32 of a row
 *   mx_e2m3     x_packed U8: four codes of 6 bits in three bytes, the low bits first;
 *               x_scale as above
 *   mx_e2m1     x_packed U8: two codes of 4 bits in a byte, the low half first; x_scale
 *   nvfp4       the same, x_scale F8_E4M3 for each 16, x_global_scale F32 [1]: the value
 * is code * scale / global_scale
 *
 * Larger elements come first, so that each tensor begins at a multiple of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <mpnum/core/detail/config.h>
#include <mpnum/types/vocabulary.h>

#include "../report/escape.h"
#include "emit.h"

/* Values that are quantised at once: whole blocks of every format. */
enum { PIECE = 1 << 14, SHOWN_NAME = 64, SIZES = 4 };
static const unsigned sizes[SIZES] = {8, 4, 2, 1};

/* What is in the file of a tensor. */
typedef enum role { WHOLE, CODES, SCALES, GLOBAL, COPY } role;

typedef struct entry {
  const planned *of; /* NULL for a copy */
  const input *file; /* of a copy */
  const unread *copied;
  role is;
  unsigned size; /* bytes of an element */
  uint64_t bytes;
} entry;

typedef struct list {
  entry *entries;
  size_t count;
  const plan *from;
  mpnum_blockscale_format format;
} list;

static const struct {
  const char *format, *dtype;
  bool is_packed; /* codes are in x_packed */
} known[] = {{"e4m3", "F8_E4M3", false},    {"e5m2", "F8_E5M2", false},
             {"mx_e4m3", "F8_E4M3", false}, {"mx_e2m3", "U8", true},
             {"mx_e2m1", "U8", true},       {"nvfp4", "U8", true}};
enum { KNOWN = sizeof known / sizeof *known };

static size_t find(const char *format) {
  size_t k = 0;
  while (k < KNOWN && strcmp(known[k].format, format) != 0)
    ++k;
  return k;
}

bool emits(const char *format) { return find(format) < KNOWN; }

static bool is_two_level(const list *all) {
  return all->from->is_blocks && all->format.rule == MPNUM_BLOCKSCALE_TWO_LEVEL;
}

/* --- the table */

static uint64_t code_bytes(const list *all, const planned *of) {
  const uint64_t count = of->about->values->count;
  return all->from->is_blocks ? count / 8 * (uint64_t)all->format.element_bits : count;
}

static uint64_t scale_count(const list *all, const planned *of) {
  return all->from->is_blocks ? of->about->values->count / all->format.columns : 1;
}

static void add(list *all, entry made) { all->entries[all->count++] = made; }

static void add_part(list *all, const planned *of) {
  const tensor *values = of->about->values;
  const unsigned own = element_size(of->type);
  entry made;
  memset(&made, 0, sizeof made);
  made.of = of;
  if (of->why != QUANTISED) {
    made.size = own;
    made.bytes = values->count * own;
    add(all, made); /* WHOLE */
    return;
  }
  made.is = CODES;
  made.size = 1;
  made.bytes = code_bytes(all, of);
  add(all, made);
  made.is = SCALES;
  made.size = all->from->is_blocks ? 1 : 4;
  made.bytes = scale_count(all, of) * made.size;
  add(all, made);
  made.is = GLOBAL;
  made.size = 4;
  made.bytes = 4;
  if (is_two_level(all)) add(all, made);
}

/* All that the file will have, in the order of the tensors. */
static bool make_list(list *all, const plan *from, const input *files, size_t count,
                      refusal *why) {
  size_t copies = 0, f, i;
  memset(all, 0, sizeof *all);
  all->from = from;
  if (from->is_blocks) all->format = block_format_of(from->number).format;
  for (f = 0; f < count; ++f)
    copies += files[f].other_count;
  all->entries = calloc(3 * from->count + copies + 1, sizeof *all->entries);
  if (!all->entries) return refuse(why, "out of memory");
  for (i = 0; i < from->count; ++i)
    add_part(all, &from->parts[i]);
  for (f = 0; f < count; ++f) {
    for (i = 0; i < files[f].other_count; ++i) {
      const unread *copied = &files[f].others[i];
      add(all, (entry){NULL, &files[f], copied, COPY, 1, copied->bytes});
    }
  }
  return true;
}

/* Of a copy the largest power of two that its offset may ask for. */
static unsigned size_of(const entry *at) {
  if (at->is != COPY) return at->size;
  return at->bytes % 8 == 0 ? 8 : at->bytes % 4 == 0 ? 4 : at->bytes % 2 == 0 ? 2 : 1;
}

static const char *ending_of(const list *all, const entry *at) {
  if (at->is == SCALES) return "_scale";
  if (at->is == GLOBAL) return "_global_scale";
  return at->is == CODES && known[find(all->from->format)].is_packed ? "_packed" : "";
}

/* "fc1.weight_scale", in UTF-8; NULL when out of memory. */
static json_t *name_of(const list *all, const entry *at) {
  const char *whole = at->is == COPY ? at->copied->name : at->of->about->values->name;
  json_t *base = json_text(whole);
  json_t *made = json_sprintf("%s%s", json_string_value(base), ending_of(all, at));
  json_decref(base);
  return made;
}

static const char *dtype_of(const list *all, const entry *at) {
  const char *dtype;
  if (at->is == COPY) return at->copied->dtype;
  if (at->is == GLOBAL) return "F32";
  if (at->is == CODES) return known[find(all->from->format)].dtype;
  if (at->is == SCALES)
    return !all->from->is_blocks ? "F32" : is_two_level(all) ? "F8_E4M3" : "U8";
  dtype = mpnum_type_name_in(MPNUM_VOCABULARY_SAFETENSORS, at->of->type);
  return dtype ? dtype
               : "U8"; /* --as e3m4 and its like, which safetensors does not name */
}

static json_t *shape_of(const list *all, const entry *at) {
  json_t *made = json_array();
  const bool is_copy = at->is == COPY;
  const tensor *values = is_copy ? NULL : at->of->about->values;
  const unsigned rank = is_copy ? at->copied->rank : values->rank;
  const uint64_t *shape = is_copy ? at->copied->shape : values->shape;
  if (at->is == GLOBAL || (at->is == SCALES && !all->from->is_blocks))
    return json_array_append_new(made, json_integer(1)), made;
  for (unsigned i = 0; i < rank; ++i) {
    uint64_t size = shape[i];
    if (i + 1 == rank && at->is == SCALES) size /= all->format.columns;
    if (i + 1 == rank && at->is == CODES && all->from->is_blocks)
      size = size / 8 * (uint64_t)all->format.element_bits;
    json_array_append_new(made, json_integer((json_int_t)size));
  }
  return made;
}

static json_t *header_of(const list *all, refusal *why) {
  json_t *root = json_pack("{s:{s:s, s:o, s:s}}", "__metadata__", "format", "pt", "mpnum",
                           json_sprintf("%d.%d.%d", MPNUM_VERSION_MAJOR,
                                        MPNUM_VERSION_MINOR, MPNUM_VERSION_PATCH),
                           "quantized_to", all->from->format);
  uint64_t offset = 0;
  for (int s = 0; root && s < SIZES; ++s) {
    for (size_t i = 0; root && i < all->count; ++i) {
      const entry *at = &all->entries[i];
      char shown[4 * SHOWN_NAME + 4];
      if (size_of(at) != sizes[s]) continue;
      json_t *name = name_of(all, at);
      const char *key = json_string_value(name);
      if (key && json_object_get(root, key)) {
        shorten(shown, sizeof shown, SHOWN_NAME, key);
        refuse(why, "two tensors would be named '%s'", shown);
        json_decref(name);
        json_decref(root);
        return NULL;
      }
      const uint64_t end = offset + at->bytes;
      json_t *values = json_pack("{s:s, s:o, s:[I, I]}", "dtype", dtype_of(all, at),
                                 "shape", shape_of(all, at), "data_offsets",
                                 (json_int_t)offset, (json_int_t)end);
      if (!key || json_object_set_new(root, key, values) != 0) {
        json_decref(root);
        root = NULL;
      }
      json_decref(name);
      offset += at->bytes;
    }
  }
  if (!root) refuse(why, "out of memory");
  return root;
}

bool emit_check(const plan *from, const input *files, size_t count, refusal *why) {
  char shown[4 * SHOWN_NAME + 4];
  list all;
  json_t *header = NULL;
  for (size_t i = 0; i < from->count; ++i) {
    const tensor *values = from->parts[i].about->values;
    if (!values->fortran_order || values->rank < 2) continue;
    shorten(shown, sizeof shown, SHOWN_NAME, values->name);
    return refuse(why, "'%s' is in Fortran's order, which safetensors has not", shown);
  }
  if (make_list(&all, from, files, count, why)) header = header_of(&all, why);
  json_decref(header);
  free(all.entries);
  return header != NULL;
}

/* --- the values */

typedef struct work {
  const list *all;
  FILE *to;
  refusal *why;
  float values[PIECE];
  unsigned char raw[PIECE * 8], codes[PIECE * 4];
} work;

static bool host_is_big_endian(void) {
  const uint16_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  return first == 0;
}

/* Elements of so many bytes, the little end first; changes them. */
static bool put(work *at, void *from, unsigned size, size_t count) {
  unsigned char *bytes = from;
  for (size_t i = 0; size > 1 && host_is_big_endian() && i < count; ++i) {
    for (unsigned b = 0; b < size / 2; ++b) {
      const unsigned char kept = bytes[i * size + b];
      bytes[i * size + b] = bytes[i * size + size - 1 - b];
      bytes[i * size + size - 1 - b] = kept;
    }
  }
  return fwrite(from, size, count, at->to) == count;
}

static bool put_copy(work *at, const entry *of) {
  for (uint64_t done = 0; done < of->bytes;) {
    const uint64_t left = of->bytes - done;
    const size_t now = left < sizeof at->raw ? (size_t)left : sizeof at->raw;
    if (!input_bytes(of->file, of->copied->offset + done, at->raw, now, at->why) ||
        !put(at, at->raw, 1, now))
      return false;
    done += now;
  }
  return true;
}

static bool put_whole(work *at, const entry *of, uint64_t first, size_t count) {
  const tensor *values = of->of->about->values;
  const input *file = of->of->about->file;
  if (of->of->type == values->type)
    return input_values(file, values, first, at->raw, count, at->why) &&
           put(at, at->raw, of->size, count);
  if (!read_floats(file, values, first, at->raw, at->values, count, at->why))
    return false;
  from_floats(of->of->type, at->codes, at->values, count);
  return put(at, at->codes, of->size, count);
}

/* As measured: the scale is a power of two. */
static bool put_codes(work *at, const entry *of, uint64_t first, size_t count) {
  const row *about = of->of->about;
  const fit *what = &about->fits[at->all->from->number];
  const float scale = (float)ldexp(1, what->scale_exponent);
  if (!read_floats(about->file, about->values, first, at->raw, at->values, count,
                   at->why))
    return false;
  for (size_t i = 0; i < count; ++i)
    at->values[i] *= scale;
  from_floats(what->type, at->codes, at->values, count);
  return put(at, at->codes, 1, count);
}

/* Rows are whole blocks, so that the values are one long row of them. */
static bool put_blocks(work *at, const entry *of, uint64_t first, size_t count,
                       unsigned char *scales) {
  const row *about = of->of->about;
  const mpnum_blockscale_format *format = &at->all->format;
  const size_t blocks = count / format->columns;
  mpnum_blockscaled codes = {
      at->codes, count, scales + first / format->columns,
      blocks,    0,     mpnum_nvfp4_scale((float)about->found.amax)};
  if (!read_floats(about->file, about->values, first, at->raw, at->values, count,
                   at->why))
    return false;
  must(to_blocks(format, codes,
                 mpnum_const_matrix_of(MPNUM_TYPE_F32, at->values, 1, count), NULL));
  return put(at, at->codes, 1, count / 8 * (size_t)format->element_bits);
}

/* A float beside its tensor: of e4m3 what undoes its scale. */
static bool put_scale(work *at, const entry *of) {
  const row *about = of->of->about;
  float scale = mpnum_nvfp4_scale((float)about->found.amax);
  if (of->is == SCALES)
    scale = (float)ldexp(1, -about->fits[at->all->from->number].scale_exponent);
  return put(at, &scale, 4, 1);
}

static bool put_values(work *at, const entry *of) {
  const bool is_blocks = of->is == CODES && at->all->from->is_blocks;
  const uint64_t count = of->of->about->values->count;
  unsigned char *scales = NULL;
  bool good = true;
  if (is_blocks && !(scales = malloc((size_t)scale_count(at->all, of->of))))
    return refuse(at->why, "out of memory");
  for (uint64_t first = 0; good && first < count; first += PIECE) {
    const size_t now = count - first < PIECE ? (size_t)(count - first) : PIECE;
    good = is_blocks         ? put_blocks(at, of, first, now, scales)
           : of->is == CODES ? put_codes(at, of, first, now)
                             : put_whole(at, of, first, now);
  }
  if (good && is_blocks) good = put(at, scales, 1, (size_t)scale_count(at->all, of->of));
  free(scales);
  return good;
}

static bool put_entry(work *at, const entry *of) {
  if (of->is == COPY) return put_copy(at, of);
  if (of->is == GLOBAL) return put_scale(at, of);
  if (of->is != SCALES) return put_values(at, of);
  return at->all->from->is_blocks || put_scale(at, of); /* written with their codes */
}

static bool put_header(work *at) {
  unsigned char lead[8];
  json_t *header = header_of(at->all, at->why);
  char *text = header ? json_dumps(header, JSON_COMPACT) : NULL;
  const size_t length = text ? strlen(text) : 0, padded = (length + 7) / 8 * 8;
  for (int i = 0; i < 8; ++i)
    lead[i] = (unsigned char)((uint64_t)padded >> (8 * i));
  bool good = text && fwrite(lead, 1, 8, at->to) == 8 &&
              fprintf(at->to, "%-*s", (int)padded, text) == (int)padded;
  free(text);
  json_decref(header);
  return good;
}

bool emit(const plan *from, const input *files, size_t count, FILE *to, refusal *why) {
  list all;
  work *at = calloc(1, sizeof *at);
  why->text[0] = 0;
  bool good =
      at ? make_list(&all, from, files, count, why) : refuse(why, "out of memory");
  if (at) {
    at->all = &all;
    at->to = to;
    at->why = why;
  }
  good = good && put_header(at);
  for (int s = 0; good && s < SIZES; ++s) {
    for (size_t i = 0; good && i < all.count; ++i) {
      if (size_of(&all.entries[i]) == sizes[s]) good = put_entry(at, &all.entries[i]);
    }
  }
  if (at) free(all.entries);
  free(at);
  return good;
}
