/* SPDX-License-Identifier: MIT */
/* Every seed as it is, then mutants of it, the same in every run:  mutate SEEDS MUTANTS
 * A stand-in for libFuzzer in the quick suite; faults show through abort and the
 * sanitizers. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "../harness/tap.h"
#include "fuzz_reader.h"

enum { SEED_LIMIT = 4096, MUTANT_LIMIT = 2 * SEED_LIMIT, SEEDS = 128 };

typedef struct seed {
  char name[256];
  size_t size;
  uint8_t bytes[SEED_LIMIT];
} seed;

static seed seeds[SEEDS];
static size_t seed_count, bad_count; /* bad ones come first */
static unsigned long mutant_count;

/* Marsaglia's xorshift64. */
static uint64_t random_state = 0x9e3779b97f4a7c15u;

static size_t random_below(size_t limit) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (size_t)(random_state >> 16) % limit;
}

static int compare_seeds(const void *a, const void *b) {
  return strcmp(((const seed *)a)->name, ((const seed *)b)->name);
}

static int read_seed(const char *folder, const char *name) {
  char path[1024];
  FILE *from;
  seed *next = &seeds[seed_count];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  from = fopen(path, "rb");
  if (!from || seed_count == SEEDS) return 0;
  snprintf(next->name, sizeof next->name, "%s", name);
  next->size = fread(next->bytes, 1, SEED_LIMIT, from);
  fclose(from);
  ++seed_count;
  return 1;
}

/* In the order of their names, which readdir does not promise. */
static int read_seeds(const char *folder) {
  DIR *listing = opendir(folder);
  const struct dirent *found;
  if (!listing) return 0;
  while ((found = readdir(listing)) != NULL) {
    if (found->d_name[0] != '.' && !read_seed(folder, found->d_name)) return 0;
  }
  closedir(listing);
  qsort(seeds, seed_count, sizeof *seeds, compare_seeds);
  while (bad_count < seed_count && strncmp(seeds[bad_count].name, "bad_", 4) == 0)
    ++bad_count;
  return bad_count < seed_count;
}

static void good_seeds_are_read_and_bad_ones_refused(void) {
  size_t i;
  for (i = 0; i < seed_count; ++i) {
    bool good = i >= bad_count;
    CHECK(fuzz_reader(seeds[i].bytes, seeds[i].size) == good, "%s", seeds[i].name);
  }
}

/* Bytes that mean something to the two formats. */
static uint8_t telling_byte(void) {
  static const char telling[] = "0123456789-.{}[](),:'\" \\\n\xff\x80\x7f";
  return (uint8_t)telling[random_below(sizeof telling)]; /* the last one is 0 */
}

static size_t insert(uint8_t *bytes, size_t size, size_t at, const uint8_t *from,
                     size_t count) {
  if (count > MUTANT_LIMIT - size) count = MUTANT_LIMIT - size;
  memmove(bytes + at + count, bytes + at, size - at);
  memcpy(bytes + at, from, count);
  return size + count;
}

static size_t erase(uint8_t *bytes, size_t size, size_t at, size_t count) {
  if (count > size - at) count = size - at;
  memmove(bytes + at, bytes + at + count, size - at - count);
  return size - count;
}

static size_t change(uint8_t *bytes, size_t size) {
  size_t at = random_below(size + 1), last = size ? size - 1 : 0;
  const seed *other = &seeds[random_below(seed_count)];
  size_t from = random_below(other->size + 1), count = random_below(32);
  uint8_t telling = telling_byte();
  if (count > other->size - from) count = other->size - from;
  switch (random_below(8)) {
  case 0:
    if (size) bytes[at < size ? at : last] ^= (uint8_t)(1u << random_below(8));
    return size;
  case 1:
  case 2:
    if (size) bytes[at < size ? at : last] = telling;
    return size;
  case 3:
    if (size) bytes[random_below(size < 12 ? size : 12)] = telling;
    return size;
  case 4: return insert(bytes, size, at, &telling, 1);
  case 5: return insert(bytes, size, at, other->bytes + from, count);
  case 6: return erase(bytes, size, at, 1 + random_below(16));
  default: return random_below(4) ? size : at;
  }
}

/* Mostly a good one: what is wrong from the start is refused early. */
static const seed *choose_origin(void) {
  if (random_below(4) == 0) return &seeds[random_below(seed_count)];
  return &seeds[bad_count + random_below(seed_count - bad_count)];
}

static void mutants_do_no_harm(void) {
  static uint8_t mutant[MUTANT_LIMIT];
  unsigned long i, accepted = 0;
  for (i = 0; i < mutant_count; ++i) {
    const seed *origin = choose_origin();
    size_t size = origin->size, changes = 1 + random_below(3);
    memcpy(mutant, origin->bytes, size);
    while (changes-- > 0)
      size = change(mutant, size);
    accepted += fuzz_reader(mutant, size);
  }
  /* Mutants that are nearly all refused would test little. */
  CHECK(accepted > mutant_count / 50, "%lu of %lu mutants accepted", accepted,
        mutant_count);
}

int main(int argc, char **argv) {
  if (argc != 3 || !read_seeds(argv[1])) {
    fprintf(stderr, "usage: mutate SEEDS MUTANTS\n");
    return 2;
  }
  mutant_count = strtoul(argv[2], NULL, 10);
  TAP_RUN(good_seeds_are_read_and_bad_ones_refused);
  TAP_RUN(mutants_do_no_harm);
  return tap_done();
}
