/* SPDX-License-Identifier: MIT */
/* The GGUF format 2 and 3 of ggml (docs/gguf.md there), little-endian:
 *
 *   'G' 'G' 'U' 'F'  version (u32)  number of tensors (u64)  number of keys (u64)
 *   of each key: name (string), type (u32), value; a string is its length (u64) and bytes
 *   of each tensor: name, number of sizes (u32), sizes (u64, the fastest first), type
 *     (u32), offset (u64) of its values, from the end of all this on, which is aligned
 *   the values
 *
 * Each refusal says at which byte of the file it is about. */
#include "input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ggml_blocks.h"

enum { NAME_LIMIT = 4096, SHOWN_NAME = 64, SIZES = 4, DEPTH_LIMIT = 8, BUFFER = 4096 };
/* Types of values of keys that this reader has to know. */
enum { UINT32 = 4, STRING = 8, ARRAY = 9 };

typedef struct reader {
  input *file;
  uint64_t at;    /* the next byte to take */
  uint64_t begin; /* of the buffer, which holds so many bytes */
  size_t held;
  unsigned char buffer[BUFFER];
} reader;

/* Where the values of a tensor lie, from the first value on. */
typedef struct span {
  uint64_t begin, bytes;
  const char *name;
  uint64_t entry; /* the byte of its entry */
} span;

static bool refuse_at(refusal *why, uint64_t place, const char *what) {
  return refuse(why, "GGUF: at byte %" PRIu64 " %s", place, what);
}

static bool has(const reader *from, uint64_t size, refusal *why) {
  return size <= from->file->size - from->at ||
         refuse(why,
                "ends inside its GGUF header: byte %" PRIu64 " asks for %" PRIu64 " more",
                from->at, size);
}

static bool take(reader *from, void *dst, size_t size, refusal *why) {
  unsigned char *to = dst;
  if (!has(from, size, why)) return false;
  while (size > 0) {
    if (from->at - from->begin >= from->held || from->at < from->begin) {
      const uint64_t left = from->file->size - from->at;
      from->begin = from->at;
      from->held = left < BUFFER ? (size_t)left : BUFFER;
      if (!input_bytes(from->file, from->at, from->buffer, from->held, why)) return false;
    }
    const size_t skipped = (size_t)(from->at - from->begin);
    const size_t now = size < from->held - skipped ? size : from->held - skipped;
    memcpy(to, from->buffer + skipped, now);
    to += now;
    from->at += now;
    size -= now;
  }
  return true;
}

static bool skip(reader *from, uint64_t size, refusal *why) {
  if (!has(from, size, why)) return false;
  from->at += size;
  return true;
}

static bool take_number(reader *from, unsigned size, uint64_t *dst, refusal *why) {
  unsigned char bytes[8];
  if (!take(from, bytes, size, why)) return false;
  for (*dst = 0; size > 0; --size)
    *dst = *dst << 8 | bytes[size - 1];
  return true;
}

static bool take_name(reader *from, char name[NAME_LIMIT + 1], refusal *why) {
  const uint64_t place = from->at;
  uint64_t length;
  if (!take_number(from, 8, &length, why)) return false;
  if (length > NAME_LIMIT) {
    return refuse(
        why, "GGUF: at byte %" PRIu64 " a name of %" PRIu64 " bytes, the limit is %d",
        place, length, NAME_LIMIT);
  }
  if (!take(from, name, (size_t)length, why)) return false;
  name[length] = 0;
  return strlen(name) == length || refuse_at(why, place, "a name has a zero byte in it");
}

/* --- keys */

/* 0: no number, string or array. */
static unsigned number_size(uint64_t type) {
  static const unsigned char sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return type < sizeof sizes ? sizes[type] : 0;
}

static bool skip_string(reader *from, refusal *why) {
  uint64_t length;
  return take_number(from, 8, &length, why) && skip(from, length, why);
}

/* A value; of arrays in arrays those that are open, innermost last. */
static bool skip_value(reader *from, uint64_t type, refusal *why) {
  struct {
    uint64_t element, left;
  } arrays[DEPTH_LIMIT] = {{0, 0}};
  int depth = 0;
  for (;;) {
    const uint64_t place = from->at;
    uint64_t element, count, bytes;
    if (type == STRING) {
      if (!skip_string(from, why)) return false;
    } else if (number_size(type) > 0) {
      if (!skip(from, number_size(type), why)) return false;
    } else if (type != ARRAY) {
      return refuse(
          why, "GGUF: at byte %" PRIu64 " a value of type %" PRIu64 ", which is none",
          place, type);
    } else {
      if (depth == DEPTH_LIMIT)
        return refuse_at(why, place, "arrays lie too deep in arrays");
      if (!take_number(from, 4, &element, why) || !take_number(from, 8, &count, why))
        return false;
      if (number_size(element) > 0) {
        if (!multiply(count, number_size(element), &bytes))
          return refuse_at(why, place, "an array has more than 2^64 bytes");
        if (!skip(from, bytes, why)) return false;
      } else {
        arrays[depth].element = element;
        arrays[depth++].left = count;
      }
    }
    while (depth > 0 && arrays[depth - 1].left == 0)
      --depth;
    if (depth == 0) return true;
    type = arrays[depth - 1].element;
    --arrays[depth - 1].left;
  }
}

static bool read_key(reader *from, uint64_t *alignment, refusal *why) {
  char name[NAME_LIMIT + 1];
  uint64_t type;
  if (!take_name(from, name, why) || !take_number(from, 4, &type, why)) return false;
  if (strcmp(name, "general.alignment") != 0) return skip_value(from, type, why);
  const uint64_t place = from->at;
  if (type != UINT32) return refuse_at(why, place, "general.alignment is no u32");
  if (!take_number(from, 4, alignment, why)) return false;
  return (*alignment != 0 && (*alignment & (*alignment - 1)) == 0) ||
         refuse_at(why, place, "general.alignment is no power of two");
}

/* --- tensors */

/* Sizes as NumPy has them: the fastest last. */
static bool read_sizes(reader *from, tensor *found, refusal *why) {
  const uint64_t place = from->at;
  uint64_t rank;
  if (!take_number(from, 4, &rank, why)) return false;
  if (rank > SIZES) return refuse_at(why, place, "a tensor has more than 4 sizes");
  found->rank = (unsigned)rank;
  found->count = 1;
  for (uint64_t i = rank; i > 0; --i) {
    if (!take_number(from, 8, &found->shape[i - 1], why)) return false;
    if (!multiply(found->count, found->shape[i - 1], &found->count))
      return refuse_at(why, place, "a tensor has more than 2^64 elements");
  }
  return true;
}

/* A type that is not read and a tensor without values leave a note. */
static bool add_tensor(input *file, const char *name, tensor *found,
                       const ggml_type *type, uint64_t number, refusal *why) {
  char shown[4 * SHOWN_NAME + 4];
  shorten(shown, sizeof shown, SHOWN_NAME, name);
  if (!type)
    return input_note(file, why, "tensor '%s' left out: type %" PRIu64 " is not known",
                      shown, number);
  if (found->count == 0)
    return input_note(file, why, "tensor '%s' left out: it has no values", shown);
  found->type = type->type;
  if (type->layout >= 0) {
    found->type = MPNUM_TYPE_F32;
    found->blocks = type->number;
  } else if (strcmp(type->name, "i8") == 0) {
    found->type = file->codes;
  }
  if (found->type == 0)
    return input_note(
        file, why,
        "tensor '%s' left out: %s is none of f64, f32, f16, bf16, q8_0, q4_0, "
        "mxfp4, nvfp4",
        shown, type->name);
  return input_add(file, name, found, why);
}

/* offset counts from the first value, whose place is known after the last entry. */
static bool read_tensor(reader *from, uint64_t alignment, span *place, refusal *why) {
  char name[NAME_LIMIT + 1];
  uint64_t shape[SIZES], number;
  const ggml_type *type;
  tensor found;
  memset(&found, 0, sizeof found);
  found.shape = shape;
  place->entry = from->at;
  if (!take_name(from, name, why) || !read_sizes(from, &found, why)) return false;
  const uint64_t at_type = from->at;
  if (!take_number(from, 4, &number, why) || !take_number(from, 8, &found.offset, why))
    return false;
  type = ggml_type_of((unsigned)number);
  if (found.offset % alignment != 0)
    return refuse_at(why, at_type + 4, "an offset is not aligned");
  if (type && found.rank > 0 && shape[found.rank - 1] % type->values != 0)
    return refuse(why,
                  "GGUF: at byte %" PRIu64 " rows of %" PRIu64 " are no blocks of %s",
                  at_type, shape[found.rank - 1], type->name);
  if (type && found.rank == 0 && type->values > 1)
    return refuse_at(why, at_type, "one value is no block");
  place->begin = found.offset;
  if (!multiply(found.count / (type ? type->values : 1), type ? type->bytes : 0,
                &place->bytes))
    return refuse_at(why, place->entry, "a tensor has more than 2^64 bytes");
  if (!input_add_name(from->file, name, why)) return false;
  return add_tensor(from->file, name, &found, type, number, why);
}

/* --- the whole */

static int compare_places(const void *a, const void *b) {
  const span *left = a, *right = b;
  if (left->begin != right->begin) return left->begin < right->begin ? -1 : 1;
  return (left->bytes > right->bytes) - (left->bytes < right->bytes);
}

static int compare_names(const void *a, const void *b) {
  const int order = strcmp(((const span *)a)->name, ((const span *)b)->name);
  return order != 0 ? order : compare_places(a, b);
}

/* All in the file, none over another, no two of one name. */
static bool check_spans(span *spans, size_t count, uint64_t values, uint64_t size,
                        refusal *why) {
  char shown[4 * SHOWN_NAME + 4];
  uint64_t end = 0;
  qsort(spans, count, sizeof *spans, compare_places);
  for (size_t i = 0; i < count; ++i) {
    const span *at = &spans[i];
    shorten(shown, sizeof shown, SHOWN_NAME, at->name);
    if (at->begin > size - values || at->bytes > size - values - at->begin) {
      const uint64_t place =
          at->begin > UINT64_MAX - values ? UINT64_MAX : values + at->begin;
      return refuse(why,
                    "tensor '%s' is to have %" PRIu64 " bytes from byte %" PRIu64
                    " on, the file %" PRIu64 " in all",
                    shown, at->bytes, place, size);
    }
    if (at->bytes > 0 && at->begin < end)
      return refuse(why, "tensor '%s' begins inside another, at byte %" PRIu64, shown,
                    values + at->begin);
    if (at->bytes > 0) end = at->begin + at->bytes;
  }
  qsort(spans, count, sizeof *spans, compare_names);
  for (size_t i = 1; i < count; ++i) {
    if (strcmp(spans[i - 1].name, spans[i].name) != 0) continue;
    shorten(shown, sizeof shown, SHOWN_NAME, spans[i].name);
    return refuse(why, "two tensors are named '%s', at bytes %" PRIu64 " and %" PRIu64,
                  shown, spans[i - 1].entry, spans[i].entry);
  }
  return true;
}

static bool read_all(reader *from, uint64_t tensors, uint64_t keys, span *spans,
                     refusal *why) {
  uint64_t alignment = 32;
  input *file = from->file;
  for (uint64_t k = 0; k < keys; ++k) {
    if (!read_key(from, &alignment, why)) return false;
  }
  for (size_t t = 0; t < tensors; ++t) {
    if (!read_tensor(from, alignment, &spans[t], why)) return false;
  }
  const uint64_t past = from->at % alignment;
  const uint64_t values = past ? from->at + (alignment - past) : from->at;
  if (values > file->size)
    return refuse(why, "ends at byte %" PRIu64 ", before its values", file->size);
  for (size_t t = 0; t < tensors; ++t)
    spans[t].name = file->names[t];
  if (!check_spans(spans, (size_t)tensors, values, file->size, why)) return false;
  for (size_t t = 0; t < file->tensor_count; ++t)
    file->tensors[t].offset += values;
  return true;
}

bool gguf_read(input *file, refusal *why) {
  enum { LEAST_ENTRY = 24 }; /* bytes of a tensor without a name and sizes */
  uint64_t version, tensors, keys;
  unsigned char magic[4];
  bool good = false;
  reader *from = calloc(1, sizeof *from);
  if (!from) return refuse(why, "out of memory");
  from->file = file;
  span *spans = NULL;
  if (file->size < sizeof magic || !take(from, magic, sizeof magic, why) ||
      memcmp(magic, "GGUF", 4) != 0) {
    refuse(why, "is not a GGUF file: it does not start with GGUF at byte 0");
  } else if (!take_number(from, 4, &version, why)) {
    /* said */
  } else if (version == 0x02000000 || version == 0x03000000) {
    refuse_at(why, 4, "the version is big-endian, which is not read");
  } else if (version != 2 && version != 3) {
    refuse(why, "GGUF: at byte 4 version %" PRIu64 " is none of 2, 3", version);
  } else if (!take_number(from, 8, &tensors, why) || !take_number(from, 8, &keys, why)) {
    /* said */
  } else if (tensors > file->size / LEAST_ENTRY) {
    refuse(why, "GGUF: at byte 8 %" PRIu64 " tensors, for which the file is too short",
           tensors);
  } else if (!(spans = calloc((size_t)tensors + 1, sizeof *spans))) {
    refuse(why, "out of memory");
  } else {
    good = read_all(from, tensors, keys, spans, why);
  }
  free(spans);
  free(from);
  return good;
}
