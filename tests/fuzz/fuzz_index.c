/* SPDX-License-Identifier: MIT */
/* Any text as a model.safetensors.index.json beside two shards. */
#include "fuzz_bytes.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "input/shards.h"

enum { PATH_SIZE = 300 };
static char folder[PATH_SIZE / 2];
static const char *const names[] = {"a.safetensors", "b.safetensors", "index.json"};

static void path_of(char path[PATH_SIZE], const char *name) {
  demand(snprintf(path, PATH_SIZE, "%s/%s", folder, name) < PATH_SIZE);
}
static void write_file(const char *name, const void *bytes, size_t size) {
  char path[PATH_SIZE];
  path_of(path, name);
  FILE *to = fopen(path, "wb");
  demand(to && fwrite(bytes, 1, size, to) == size && fclose(to) == 0);
}
/* A table of one f16 for each letter. */
static void write_shard(const char *name, const char *letters) {
  char text[1000] = "12345678{", *end = text + strlen(text);
  size_t at = 0;
  for (; letters[at]; ++at)
    end += sprintf(
        end, "%s\"%c\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[%zu,%zu]}",
        at ? "," : "", letters[at], 2 * at, 2 * at + 2);
  *end++ = '}';
  for (int i = 0; i < 8; ++i)
    text[i] = (char)((size_t)(end - text - 8) >> 8 * i);
  memset(end, 0, 2 * at);
  write_file(name, text, (size_t)(end - text) + 2 * at);
}
static void remove_files(void) {
  char path[PATH_SIZE];
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    path_of(path, names[i]);
    unlink(path);
  }
  rmdir(folder);
}
static void make_files(void) {
  const char *place = getenv("TMPDIR");
  demand(snprintf(folder, sizeof folder, "%s/fuzz-XXXXXX", place ? place : "/tmp") <
         (int)sizeof folder);
  demand(mkdtemp(folder) != NULL);
  write_shard(names[0], "xy");
  write_shard(names[1], "z");
  atexit(remove_files);
}

/* Whether an index names each shard's tensors and no others, of one shard or both. */
static bool is_index(const uint8_t *data, size_t size) {
  json_t *root = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
  const json_t *map = json_object_get(root, "weight_map");
  const char *letters = "xyz";
  size_t known = 0, of_shard[2] = {0, 0};
  for (int i = 0; i < 3; ++i) {
    const char name[2] = {letters[i], 0};
    const char *shard = json_string_value(json_object_get(map, name));
    if (!shard || strcmp(shard, names[i == 2]) != 0) continue;
    ++of_shard[i == 2];
    ++known;
  }
  const bool good = known > 0 && json_object_size(map) == known && of_shard[0] != 1;
  json_decref(root);
  return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[PATH_SIZE];
  const char *paths[1] = {path};
  input_set set;
  refusal why = {"", NULL};
  if (!folder[0]) make_files();
  write_file(names[2], data, size);
  path_of(path, names[2]);
  const bool is_open = inputs_open(&set, paths, 1, (mpnum_type)0, &why);
  demand(is_open == is_index(data, size));
  if (is_open) {
    size_t tensors = 0;
    demand(set.count >= 1 && set.count <= 2);
    for (size_t i = 0; i < set.count; ++i)
      tensors += set.files[i].tensor_count;
    demand(tensors == (set.count == 2 ? 3 : set.files[0].tensor_count));
  } else {
    demand(why.text[0] && set.refused);
  }
  inputs_close(&set);
  return 0;
}
