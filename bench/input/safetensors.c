/* SPDX-License-Identifier: MIT */
/* The safetensors format: header length (u64, little-endian), a JSON object, the values.
 *
 *   {"__metadata__": {"any": "text"},
 *    "fc1.weight": {"dtype": "F32", "shape": [128, 64], "data_offsets": [0, 32768]}, ...}
 *
 * Offsets count from the first byte after the header. As in the format's own reader the
 * tensors must fill the rest of the file, without holes or overlaps. */
#include "input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <mpnum/types/vocabulary.h>

/* The largest models need about 2 MB, emitted in NVFP4 three times as much. Parsed JSON
 * takes up to 25 times its text. */
enum { HEADER_LIMIT = 32 << 20, SHOWN_NAME = 64 };

typedef struct span {
  uint64_t begin, end;
} span;

static bool is_size(const json_t *value) {
  return json_is_integer(value) && json_integer_value(value) >= 0;
}

static uint64_t size_of(const json_t *value) {
  return (uint64_t)json_integer_value(value);
}

static bool read_offsets(const json_t *entry, const char *shown, uint64_t limit,
                         span *found, refusal *why) {
  const json_t *offsets = json_object_get(entry, "data_offsets");
  const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
  if (json_array_size(offsets) != 2 || !is_size(begin) || !is_size(end))
    return refuse(why, "tensor '%s': data_offsets is not [begin, end]", shown);
  found->begin = size_of(begin);
  found->end = size_of(end);
  if (found->begin > found->end || found->end > limit)
    return refuse(why,
                  "tensor '%s': data_offsets [%" PRIu64 ", %" PRIu64
                  "] lie outside the %" PRIu64 " bytes of values",
                  shown, found->begin, found->end, limit);
  return true;
}

/* The sizes go to shape, which has room for RANK_LIMIT. */
static bool read_shape(const json_t *entry, const char *shown, tensor *found,
                       refusal *why) {
  const json_t *shape = json_object_get(entry, "shape");
  found->count = 1;
  if (!json_is_array(shape))
    return refuse(why, "tensor '%s': shape is not a list", shown);
  if (json_array_size(shape) > RANK_LIMIT)
    return refuse(why, "tensor '%s': shape has more than %d sizes", shown, RANK_LIMIT);
  found->rank = (unsigned)json_array_size(shape);
  for (size_t i = 0; i < found->rank; ++i) {
    const json_t *dimension = json_array_get(shape, i);
    if (!is_size(dimension))
      return refuse(why, "tensor '%s': shape is not a list of sizes", shown);
    found->shape[i] = size_of(dimension);
    if (!multiply(found->count, found->shape[i], &found->count))
      return refuse(why, "tensor '%s': shape has more than 2^64 elements", shown);
  }
  return true;
}

/* 0: none that is read, as the packed ones of less than a byte. */
static mpnum_type read_type(const char *dtype, mpnum_type codes) {
  mpnum_type type;
  if (mpnum_type_of_name(MPNUM_VOCABULARY_SAFETENSORS, dtype, &type) == MPNUM_OK)
    return element_width(type) % 8 == 0 ? type : (mpnum_type)0;
  return strcmp(dtype, "I8") == 0 || strcmp(dtype, "U8") == 0 ? codes : (mpnum_type)0;
}

/* A type of another kind and a tensor without values leave a note. */
static bool read_entry(input *file, uint64_t values, const char *name,
                       const json_t *entry, span *place, refusal *why) {
  const char *dtype = json_string_value(json_object_get(entry, "dtype"));
  char shown[4 * SHOWN_NAME + 4], shown_type[4 * SHOWN_NAME + 4];
  uint64_t shape[RANK_LIMIT], bytes;
  tensor found;
  memset(&found, 0, sizeof found);
  found.shape = shape;
  shorten(shown, sizeof shown, SHOWN_NAME, name);
  if (!json_is_object(entry) || !dtype)
    return refuse(why, "tensor '%s' has no dtype", shown);
  if (!read_offsets(entry, shown, file->size - values, place, why) ||
      !read_shape(entry, shown, &found, why) || !input_add_name(file, name, why))
    return false;
  found.type = read_type(dtype, file->codes);
  found.offset = values + place->begin;
  if (found.type == 0) {
    shorten(shown_type, sizeof shown_type, 16, dtype);
    return input_add_other(file, name, dtype, &found, place->end - place->begin, why) &&
           input_note(file, why,
                      "tensor '%s' left out: %s is none of F64, F32, F16, BF16, F8",
                      shown, shown_type);
  }
  if (!multiply(found.count, element_size(found.type), &bytes) ||
      bytes != place->end - place->begin)
    return refuse(why, "tensor '%s': its shape does not fit its %" PRIu64 " bytes", shown,
                  place->end - place->begin);
  if (bytes == 0)
    return input_add_other(file, name, dtype, &found, 0, why) &&
           input_note(file, why, "tensor '%s' left out: it has no values", shown);
  return input_add(file, name, &found, why);
}

static int compare_spans(const void *a, const void *b) {
  const span *left = a, *right = b;
  if (left->begin != right->begin) return left->begin < right->begin ? -1 : 1;
  return (left->end > right->end) - (left->end < right->end);
}

static bool check_spans(span *spans, size_t count, uint64_t values_size, refusal *why) {
  uint64_t expected = 0;
  if (count > 0) qsort(spans, count, sizeof *spans, compare_spans);
  for (size_t i = 0; i < count; ++i) {
    if (spans[i].begin != expected)
      return refuse(why, "tensors %s at byte %" PRIu64 " of the values",
                    spans[i].begin < expected ? "overlap" : "leave a hole",
                    spans[i].begin);
    expected = spans[i].end;
  }
  if (expected != values_size)
    return refuse(why, "holds %" PRIu64 " bytes after its last tensor",
                  values_size - expected);
  return true;
}

static bool read_metadata(json_t *metadata, refusal *why) {
  const char *key;
  json_t *value;
  if (!json_is_object(metadata)) return refuse(why, "__metadata__ is not an object");
  json_object_foreach(metadata, key, value) {
    if (!json_is_string(value))
      return refuse(why, "__metadata__ holds something not text");
  }
  return true;
}

static bool read_entries(input *file, uint64_t values, json_t *root, span *spans,
                         refusal *why) {
  size_t count = 0;
  const char *name;
  json_t *entry;
  json_object_foreach(root, name, entry) {
    bool metadata = strcmp(name, "__metadata__") == 0;
    if (!(metadata ? read_metadata(entry, why)
                   : read_entry(file, values, name, entry, &spans[count], why)))
      return false;
    count += !metadata;
  }
  return check_spans(spans, count, file->size - values, why);
}

/* --- two tensors of one name, of which a parsed object would have one */

/* The end of the string that begins at `at`; NULL where there is none. */
static const char *string_end(const char *at, const char *end) {
  for (++at; at < end && *at != '"'; ++at)
    at += *at == '\\';
  return at < end ? at + 1 : NULL;
}

/* The first name of the object from `at` on, and the text of what it names; NULL after
 * the last. Returns where to go on. */
static const char *next_member(const char *at, const char *end, const char **name,
                               const char **value) {
  int depth = 0;
  while (at && at < end && *at != '"')
    ++at;
  if (!at || at >= end) return NULL;
  *name = at;
  at = string_end(at, end);
  while (at && at < end && *at != ':')
    ++at;
  if (!at || at >= end) return NULL;
  *value = ++at;
  while (at && at < end && (depth > 0 || (*at != ',' && *at != '}'))) {
    depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
    at = *at == '"' ? string_end(at, end) : at + 1;
  }
  return at;
}

static json_t *load(const char *from, const char *end) {
  return json_loadb(from, (size_t)(end - from), JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK,
                    NULL);
}

static void show_offsets(char text[64], const char *value, const char *end) {
  json_t *entry = load(value, end);
  const json_t *offsets = json_object_get(entry, "data_offsets");
  snprintf(text, 64, "[%" JSON_INTEGER_FORMAT ", %" JSON_INTEGER_FORMAT "]",
           json_integer_value(json_array_get(offsets, 0)),
           json_integer_value(json_array_get(offsets, 1)));
  json_decref(entry);
}

/* Looks for the name that ends before `place`, among those before it. */
static bool refuse_twice(const char *text, size_t length, size_t place, refusal *why) {
  const char *end = text + length, *at = text, *name, *value, *last = NULL,
             *second = NULL;
  char shown[4 * SHOWN_NAME + 4], here[64], there[64];
  bool found = false;
  while ((at = next_member(at, end, &name, &value)) && name < text + place) {
    last = name;
    second = value;
  }
  json_t *wanted = last ? load(last, end) : NULL;
  at = text;
  while (wanted && !found && (at = next_member(at, end, &name, &value)) && name < last) {
    json_t *other = load(name, end);
    found = json_equal(wanted, other);
    json_decref(other);
    if (found) show_offsets(there, value, end);
  }
  if (found) {
    show_offsets(here, second, end);
    shorten(shown, sizeof shown, SHOWN_NAME, json_string_value(wanted));
    refuse(why, "two tensors are named '%s': data_offsets %s and %s", shown, there, here);
  }
  json_decref(wanted);
  return found;
}

static bool read_json(input *file, const char *text, size_t length, refusal *why) {
  json_error_t error;
  json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
  span *spans;
  if (!BENCH_HAVE_JANSSON)
    return refuse(why, "needs jansson, which was not found when this was built");
  if (!root && strncmp(error.text, "duplicate object key", 20) == 0 &&
      refuse_twice(text, length, (size_t)error.position, why))
    return false;
  if (!root)
    return refuse(why, "safetensors header is not valid JSON: %s, at byte %d", error.text,
                  error.position + 8);
  if (!json_is_object(root)) {
    json_decref(root);
    return refuse(why, "safetensors header is not a JSON object");
  }
  spans = malloc((json_object_size(root) + 1) * sizeof *spans);
  bool good = spans ? read_entries(file, 8 + (uint64_t)length, root, spans, why)
                    : refuse(why, "out of memory");
  free(spans);
  json_decref(root);
  return good;
}

bool safetensors_read(input *file, refusal *why) {
  unsigned char lead[8];
  uint64_t length = 0;
  if (file->size < sizeof lead) return refuse(why, "is too short for a safetensors file");
  if (!input_bytes(file, 0, lead, sizeof lead, why)) return false;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | lead[i];
  if (length > HEADER_LIMIT)
    return refuse(why, "safetensors header of %" PRIu64 " bytes, the limit is %d", length,
                  HEADER_LIMIT);
  if (length > file->size - sizeof lead)
    return refuse(why, "ends inside its safetensors header, at byte %" PRIu64,
                  file->size);
  char *text = malloc((size_t)length + 1);
  if (!text) return refuse(why, "out of memory");
  bool good = input_bytes(file, sizeof lead, text, (size_t)length, why) &&
              read_json(file, text, (size_t)length, why);
  free(text);
  return good;
}
