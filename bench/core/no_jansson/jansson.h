/* SPDX-License-Identifier: MIT */
/* Stands in for jansson where it is absent: nothing is read, nothing is written, and what
 * asks for it is told so. What needs no JSON works as ever. */
#ifndef MPNUM_BENCH_NO_JANSSON_H
#define MPNUM_BENCH_NO_JANSSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct json_t json_t;
typedef long long json_int_t;
typedef struct json_error_t {
  char text[160];
  int position;
} json_error_t;

#define JSON_REJECT_DUPLICATES 0
#define JSON_COMPACT           0
#define JSON_ENCODE_ANY        0
#define JSON_DECODE_ANY        0
#define JSON_DISABLE_EOF_CHECK 0
#define JSON_INTEGER_FORMAT    "lld"

static inline json_t *json_refused(json_error_t *error) {
  if (!error) return NULL;
  error->position = 0;
  snprintf(error->text, sizeof error->text, "this was built without jansson");
  return NULL;
}
#define json_loadb(text, size, flags, error) \
 ((void)(text), (void)(size), json_refused(error))
#define json_loadf(file, flags, error) ((void)(file), json_refused(error))
/* Values that are none, of whatever. */
static inline json_t *json_none(const void *text, ...) {
  (void)text;
  return NULL;
}
static inline int json_failed(const void *value, ...) {
  (void)value;
  return -1;
}
static inline const char *json_no_text(const json_t *value) {
  (void)value;
  return NULL;
}
static inline json_int_t json_no_number(const json_t *value) {
  (void)value;
  return 0;
}
#define json_string(text)              json_none(text)
#define json_real(number)              json_none(NULL, (number))
#define json_integer(number)           json_none(NULL, (number))
#define json_pack(...)                 json_none(__VA_ARGS__)
#define json_sprintf(...)              json_none(__VA_ARGS__)
#define json_array()                   json_none(NULL)
#define json_object()                  json_none(NULL)
#define json_true()                    json_none(NULL)
#define json_copy(value)               json_none(value)
#define json_object_iter(value)        json_none(value)
#define json_object_iter_value(at)     json_none(at)
#define json_object_iter_key(at)       json_no_text(at)
#define json_equal(a, b)               (json_failed(a, b) == 0)
#define json_object_get(value, key)    json_none(value, key)
#define json_array_get(value, index)   json_none(value, index)
#define json_unpack                    json_failed
#define json_dumpf(value, file, flags) ((void)(file), json_failed(value))
#define json_array_append_new(list, value) \
 ((void)json_failed(list), (void)json_failed(value))
#define json_object_set_new(value, key, entry) ((void)json_failed(value, key, entry))
#define json_object_del(value, key)            ((void)json_failed(value, key))
#define json_decref(value)                     ((void)json_failed(value))
#define json_is_object(value)                  (json_no_number(value) != 0)
#define json_is_array(value)                   (json_no_number(value) != 0)
#define json_is_string(value)                  (json_no_number(value) != 0)
#define json_is_integer(value)                 (json_no_number(value) != 0)
#define json_is_number(value)                  (json_no_number(value) != 0)
#define json_object_size(value)                ((size_t)json_no_number(value))
#define json_array_size(value)                 ((size_t)json_no_number(value))
#define json_integer_value(value)              json_no_number(value)
#define json_number_value(value)               ((double)json_no_number(value))
#define json_string_value(value)               json_no_text(value)
#define json_object_foreach(object, key, value) \
 for ((key) = NULL, (value) = (object); (key) != NULL && (value) != NULL;)
#define json_array_foreach(array, index, value) \
 for ((index) = 0, (value) = (array); (index) > 0 && (value) != NULL;)

#endif
