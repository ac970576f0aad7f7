/* SPDX-License-Identifier: MIT */
/* The .npy format 1.0, 2.0 and 3.0 (NumPy Enhancement Proposal 1 and numpy.lib.format):
 *
 *   93 'N' 'U' 'M' 'P' 'Y'  major minor  header length (u16 in 1.0, else u32,
 * little-endian)
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }  spaces, newline
 *   the values
 *
 * The header is a Python literal; the part of that language which writers use is read
 * here and nothing else. The order of the values does not matter to statistics. */
#include "input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_LIMIT = 65536, WORD_SIZE = 32 };

typedef struct cursor {
  const char *at, *end;
} cursor;

typedef struct header {
  char descr[WORD_SIZE];
  uint64_t count; /* product of the shape */
  unsigned rank;
  uint64_t shape[RANK_LIMIT];
  bool fortran_order;
  bool has_descr, has_order, has_shape;
} header;

static void skip_space(cursor *text) {
  while (text->at < text->end && memchr(" \t\r\n", *text->at, 4))
    ++text->at;
}

static bool accept(cursor *text, char wanted) {
  skip_space(text);
  if (text->at == text->end || *text->at != wanted) return false;
  ++text->at;
  return true;
}

/* A quoted word without escapes. */
static bool read_word(cursor *text, char *dst) {
  size_t length = 0;
  char quote = accept(text, '\'') ? '\'' : accept(text, '"') ? '"' : 0;
  if (!quote) return false;
  while (text->at < text->end && *text->at != quote) {
    if (*text->at == '\\' || *text->at == 0 || length == WORD_SIZE - 1) return false;
    dst[length++] = *text->at++;
  }
  dst[length] = 0;
  return text->at++ < text->end;
}

static bool read_dimension(cursor *text, uint64_t *dst) {
  uint64_t value = 0;
  skip_space(text);
  if (text->at == text->end || *text->at < '0' || *text->at > '9') return false;
  for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; ++text->at) {
    uint64_t digit = (uint64_t)(*text->at - '0');
    if (!multiply(value, 10, &value) || value > UINT64_MAX - digit) return false;
    value += digit;
  }
  *dst = value;
  return true;
}

/* (), (3,) or (3, 4) */
static bool read_shape(cursor *text, header *found, refusal *why) {
  unsigned rank = 0;
  found->count = 1;
  if (!accept(text, '(')) return refuse(why, "npy header: the shape is not a tuple");
  while (!accept(text, ')')) {
    if (rank == RANK_LIMIT)
      return refuse(why, "npy header: the shape has more than %d sizes", RANK_LIMIT);
    if (!read_dimension(text, &found->shape[rank]))
      return refuse(why, "npy header: the shape is not a tuple of sizes");
    if (!multiply(found->count, found->shape[rank], &found->count))
      return refuse(why, "npy header: the shape has more than 2^64 elements");
    ++rank;
    if (!accept(text, ',') && (rank == 1 || text->at == text->end || *text->at != ')'))
      return refuse(why, "npy header: the shape is not a tuple of sizes");
  }
  found->rank = rank;
  return true;
}

static bool read_truth(cursor *text, bool *dst) {
  skip_space(text);
  size_t left = (size_t)(text->end - text->at);
  *dst = left >= 4 && memcmp(text->at, "True", 4) == 0;
  if (*dst) return text->at += 4, true;
  if (left >= 5 && memcmp(text->at, "False", 5) == 0) return text->at += 5, true;
  return false;
}

static bool read_entry(cursor *text, header *found, refusal *why) {
  char key[WORD_SIZE];
  if (!read_word(text, key) || !accept(text, ':'))
    return refuse(why, "npy header: not a dictionary of named fields");
  bool *seen = strcmp(key, "descr") == 0           ? &found->has_descr
               : strcmp(key, "fortran_order") == 0 ? &found->has_order
               : strcmp(key, "shape") == 0         ? &found->has_shape
                                                   : NULL;
  if (!seen) return refuse(why, "npy header: unknown field '%s'", key);
  if (*seen) return refuse(why, "npy header: field '%s' stands twice", key);
  *seen = true;
  if (seen == &found->has_shape) return read_shape(text, found, why);
  if (seen == &found->has_order)
    return read_truth(text, &found->fortran_order) ||
           refuse(why, "npy header: fortran_order is not True or False");
  return read_word(text, found->descr) ||
         refuse(why, "npy header: descr is not the name of one plain type");
}

static bool read_header(cursor *text, header *found, refusal *why) {
  if (!accept(text, '{')) return refuse(why, "npy header: not a dictionary");
  while (!accept(text, '}')) {
    if (!read_entry(text, found, why)) return false;
    if (!accept(text, ',') && (text->at == text->end || *text->at != '}'))
      return refuse(why, "npy header: no comma or brace after a field");
  }
  skip_space(text);
  if (text->at != text->end) return refuse(why, "npy header: text after the dictionary");
  if (!found->has_descr || !found->has_order || !found->has_shape)
    return refuse(why, "npy header: descr, fortran_order or shape is missing");
  return true;
}

/* Bytes of an integer or a truth, 0 for another type: "<i4". */
static unsigned integer_size(const char *descr) {
  const bool is_one = strchr("<>|=", descr[0]) && descr[0] && strchr("iub", descr[1]) &&
                      descr[1] && strchr("1248", descr[2]) && descr[2] && !descr[3];
  return is_one ? (unsigned)(descr[2] - '0') : 0;
}

/* NumPy has no types of ml_dtypes: they are saved as opaque bytes, bfloat16 as '<V2', one
 * of 8 bits as '|V1'. */
static bool read_type(const char *descr, mpnum_type codes, tensor *found, refusal *why) {
  static const char *const bytes[] = {"|u1", "<u1", "|i1", "<i1", "|V1", "<V1", "<f1"};
  static const struct {
    const char *name;
    mpnum_type type;
    bool big_endian;
  } types[] = {
      {"<f8", MPNUM_TYPE_F64, false},  {">f8", MPNUM_TYPE_F64, true},
      {"<f4", MPNUM_TYPE_F32, false},  {">f4", MPNUM_TYPE_F32, true},
      {"<f2", MPNUM_TYPE_F16, false},  {">f2", MPNUM_TYPE_F16, true},
      {"<V2", MPNUM_TYPE_BF16, false}, {"|V2", MPNUM_TYPE_BF16, false},
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    if (strcmp(descr, types[i].name) != 0) continue;
    found->type = types[i].type;
    found->big_endian = types[i].big_endian;
    return true;
  }
  for (size_t i = 0; i < sizeof bytes / sizeof *bytes; ++i) {
    if (strcmp(descr, bytes[i]) != 0) continue;
    found->type = codes;
    return codes != 0 || refuse(why,
                                "npy type '%s' is bytes; which type they are codes "
                                "of is to be said (--as e4m3)",
                                descr);
  }
  return refuse(why, "npy type '%s' is none of f64 (f8), f32 (f4), f16 (f2), bf16 (V2)",
                descr);
}

/* The header text lies in [start, start + length) of the part. */
static bool find_header(input *file, const npy_part *from, uint64_t *start,
                        size_t *length, refusal *why) {
  unsigned char lead[12] = {0};
  size_t lead_size = from->size < sizeof lead ? (size_t)from->size : sizeof lead;
  if (!part_bytes(file, from->is_inflated, from->begin, lead, lead_size, why))
    return false;
  if (lead_size < 10 || memcmp(lead, "\x93NUMPY", 6) != 0)
    return refuse(why, "is not an npy file: it does not start with 93 NUMPY");
  if (lead[6] < 1 || lead[6] > 3 || lead[7] != 0)
    return refuse(why, "npy version %d.%d is none of 1.0, 2.0, 3.0", lead[6], lead[7]);
  *start = lead[6] == 1 ? 10 : 12;
  uint64_t claimed = (uint64_t)lead[8] | (uint64_t)lead[9] << 8;
  if (lead[6] > 1) claimed |= (uint64_t)lead[10] << 16 | (uint64_t)lead[11] << 24;
  if (claimed > HEADER_LIMIT)
    return refuse(why, "npy header of %" PRIu64 " bytes, the limit is %d", claimed,
                  HEADER_LIMIT);
  if (from->size < *start || claimed > from->size - *start)
    return refuse(why, "ends inside its npy header, at byte %" PRIu64, from->size);
  *length = (size_t)claimed;
  return true;
}

/* A refusal of the text says at which byte of the npy file. */
static bool read_text(input *file, const npy_part *from, uint64_t start, size_t length,
                      header *found, refusal *why) {
  char *text = malloc(length + 1);
  cursor whole;
  if (!text) return refuse(why, "out of memory");
  whole.at = text;
  whole.end = text + length;
  bool good = part_bytes(file, from->is_inflated, from->begin + start, text, length, why);
  if (good && !read_header(&whole, found, why)) {
    const size_t used = strlen(why->text);
    good = false;
    snprintf(why->text + used, sizeof why->text - used, ", at byte %" PRIu64,
             start + (uint64_t)(whole.at - text));
  }
  free(text);
  return good;
}

bool npy_read_part(input *file, const npy_part *from, refusal *why) {
  header found;
  tensor array;
  uint64_t bytes;
  size_t length = 0;
  memset(&found, 0, sizeof found);
  memset(&array, 0, sizeof array);
  if (!find_header(file, from, &array.offset, &length, why) ||
      !read_text(file, from, array.offset, length, &found, why))
    return false;
  unsigned integers = integer_size(found.descr);
  if (integers == 1 && file->codes != 0) integers = 0;
  if (integers == 0 && !read_type(found.descr, file->codes, &array, why))
    return from->shown[0] &&
           input_note(file, why, "%sleft out: %s", from->shown, why->text);
  unsigned size = integers > 0 ? integers : element_size(array.type);
  array.is_inflated = from->is_inflated;
  array.offset += length;
  array.count = found.count;
  array.rank = found.rank;
  array.shape = found.shape;
  array.fortran_order = found.fortran_order;
  uint64_t held = from->size - array.offset;
  array.offset += from->begin;
  if (!multiply(array.count, size, &bytes) || bytes > held)
    return refuse(why, "holds %" PRIu64 " bytes of values where its shape asks for more",
                  held);
  if (bytes < held)
    return refuse(why, "holds %" PRIu64 " bytes after its last value", held - bytes);
  if (array.count == 0)
    return !from->shown[0] ||
           input_note(file, why, "%sleft out: it has no values", from->shown);
  if (integers > 0)
    return input_note(file, why, "%sleft out: '%s' is none of f64, f32, f16, bf16%s",
                      from->shown, found.descr,
                      integers == 1 ? "; --as e4m3 takes codes" : "");
  return input_add(file, from->name, &array, why);
}

bool npy_read(input *file, refusal *why) {
  const npy_part whole = {false, 0, file->size, base_name(file->path), ""};
  return npy_read_part(file, &whole, why);
}
