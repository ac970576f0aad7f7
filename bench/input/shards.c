/* SPDX-License-Identifier: MIT */
#include "shards.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

/* Indices of the largest models have about 10 MB. */
enum { INDEX_LIMIT = 32 << 20, SHOWN_NAME = 64 };

/* Always false. */
static bool refuse_path(input_set *set, const char *path) {
  free(set->refused_copy);
  set->refused_copy = copy_text(path);
  set->refused = set->refused_copy ? set->refused_copy : "";
  return false;
}

static bool is_open(const input_set *set, const input *file) {
  struct stat one, other;
  if (fstat(file->descriptor, &one) != 0) return false;
  for (size_t i = 0; i < set->count; ++i) {
    if (fstat(set->files[i].descriptor, &other) == 0 && one.st_dev == other.st_dev &&
        one.st_ino == other.st_ino)
      return true;
  }
  return false;
}

static bool open_one(input_set *set, const char *path, mpnum_type codes, refusal *why) {
  const size_t count = set->count + 1;
  input *files = realloc(set->files, count * sizeof *files);
  char **paths;
  if (files) set->files = files;
  paths = realloc(set->paths, count * sizeof *paths);
  if (paths) set->paths = paths;
  if (!files || !paths || !(paths[set->count] = copy_text(path)))
    return refuse(why, "out of memory");
  files += set->count;
  if (!input_open_codes(files, paths[set->count], codes, why)) {
    free(paths[set->count]);
    return refuse_path(set, path);
  }
  if (is_open(set, files)) {
    input_close(files);
    free(paths[set->count]);
    refuse(why, "is given twice");
    return refuse_path(set, path);
  }
  set->count = count;
  return true;
}

/* What the shard holds is what the index has left for it; taken out of `left`. */
static bool check_shard(const input *file, const char *shard, const json_t *map,
                        json_t *left, refusal *why) {
  char shown[4 * SHOWN_NAME + 4];
  for (size_t i = 0; i < file->name_count; ++i) {
    const char *named = json_string_value(json_object_get(map, file->names[i]));
    if (named && strcmp(named, shard) == 0) {
      json_object_del(left, file->names[i]);
      continue;
    }
    shorten(shown, sizeof shown, SHOWN_NAME, file->names[i]);
    return named ? refuse(why, "holds tensor '%s', which the index has in another shard",
                          shown)
                 : refuse(why, "holds tensor '%s', which the index does not name", shown);
  }
  return true;
}

/* DIR/index.json and a name give DIR/name; malloc'd. */
static char *beside(const char *index, const char *name) {
  const char *slash = strrchr(index, '/');
  const size_t folder = slash ? (size_t)(slash - index) + 1 : 0;
  char *path = malloc(folder + strlen(name) + 1);
  if (!path) return NULL;
  memcpy(path, index, folder);
  strcpy(path + folder, name);
  return path;
}

static bool check_name(const char *shard, refusal *why) {
  char shown[4 * SHOWN_NAME + 4];
  shorten(shown, sizeof shown, SHOWN_NAME, shard ? shard : "");
  if (!shard) return refuse(why, "weight_map names something that is no text");
  if (strchr(shard, '/'))
    return refuse(why, "shard '%s' is not in the folder of the index", shown);
  if (!ends_in(shard, ".safetensors"))
    return refuse(why, "shard '%s' is not a .safetensors file", shown);
  return true;
}

static bool open_shards(input_set *set, const char *index, json_t *map, json_t *left,
                        mpnum_type codes, refusal *why) {
  json_t *opened = json_object();
  const char *name;
  json_t *value;
  bool good = opened != NULL || refuse(why, "out of memory");
  json_object_foreach(map, name, value) {
    const char *shard = json_string_value(value);
    good = check_name(shard, why) || refuse_path(set, index);
    if (!good) break;
    if (json_object_get(opened, shard)) continue;
    json_object_set_new(opened, shard, json_true());
    char *path = beside(index, shard);
    good = path ? open_one(set, path, codes, why) : refuse(why, "out of memory");
    if (good)
      good = check_shard(&set->files[set->count - 1], shard, map, left, why) ||
             refuse_path(set, path);
    free(path);
    if (!good) break;
  }
  json_decref(opened);
  return good;
}

static bool open_map(input_set *set, const char *index, json_t *map, mpnum_type codes,
                     refusal *why) {
  char shown[4 * SHOWN_NAME + 4], shard[4 * SHOWN_NAME + 4];
  if (json_object_size(map) == 0) {
    refuse(why, "has no weight_map of tensors and their shards");
    return refuse_path(set, index);
  }
  json_t *left = json_copy(map);
  bool good = left ? open_shards(set, index, map, left, codes, why)
                   : refuse(why, "out of memory");
  void *missing = good ? json_object_iter(left) : NULL;
  if (missing) {
    shorten(shown, sizeof shown, SHOWN_NAME, json_object_iter_key(missing));
    shorten(shard, sizeof shard, SHOWN_NAME,
            json_string_value(json_object_iter_value(missing)));
    refuse(why, "tensor '%s' is not in shard '%s'", shown, shard);
    good = refuse_path(set, index);
  }
  json_decref(left);
  return good;
}

/* The text of a regular file; malloc'd. */
static char *read_text(const char *path, size_t *size, refusal *why) {
  struct stat status;
  input file;
  char *text = NULL;
  memset(&file, 0, sizeof file);
  file.descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (file.descriptor < 0)
    return refuse(why, "cannot be opened: %s", strerror(errno)), NULL;
  if (fstat(file.descriptor, &status) != 0) {
    refuse(why, "cannot be examined: %s", strerror(errno));
  } else if (!S_ISREG(status.st_mode)) {
    refuse(why, "is not a regular file");
  } else if (status.st_size > INDEX_LIMIT) {
    refuse(why, "is an index of %lld bytes, the limit is %d", (long long)status.st_size,
           INDEX_LIMIT);
  } else if (!(text = malloc((size_t)status.st_size + 1))) {
    refuse(why, "out of memory");
  } else if (!input_bytes(&file, 0, text, *size = (size_t)status.st_size, why)) {
    free(text);
    text = NULL;
  }
  close(file.descriptor);
  return text;
}

static bool open_index(input_set *set, const char *path, mpnum_type codes, refusal *why) {
  json_error_t error;
  size_t size = 0;
  char *text = read_text(path, &size, why);
  json_t *root = text ? json_loadb(text, size, JSON_REJECT_DUPLICATES, &error) : NULL;
  if (text && !root) refuse(why, "index is not valid JSON: %s", error.text);
  free(text);
  if (!root) return refuse_path(set, path);
  bool good = open_map(set, path, json_object_get(root, "weight_map"), codes, why);
  json_decref(root);
  return good;
}

bool inputs_open(input_set *set, const char *const *paths, size_t count, mpnum_type codes,
                 refusal *why) {
  memset(set, 0, sizeof *set);
  for (size_t i = 0; i < count; ++i) {
    if (!(ends_in(paths[i], ".json") ? open_index(set, paths[i], codes, why)
                                     : open_one(set, paths[i], codes, why)))
      return false;
  }
  return true;
}

void inputs_close(input_set *set) {
  for (size_t i = 0; i < set->count; ++i) {
    input_close(&set->files[i]);
    free(set->paths[i]);
  }
  free(set->files);
  free(set->paths);
  free(set->refused_copy);
  memset(set, 0, sizeof *set);
}
