/* SPDX-License-Identifier: MIT */
/* Memory that ends, or starts, where the next byte cannot be touched. */
#ifndef MPNUM_TESTS_ARRAY_PAGES_H
#define MPNUM_TESTS_ARRAY_PAGES_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A stretch of whole pages between two pages that can be neither read nor written. */
typedef struct guarded_pages {
  uint8_t *start, *end;
} guarded_pages;

static inline guarded_pages map_guarded_pages(size_t least_bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t size = (least_bytes + page - 1) / page * page;
  guarded_pages made;
  uint8_t *at = (uint8_t *)mmap(NULL, size + 2 * page, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) abort();
  made.start = at + page;
  made.end = made.start + size;
  if (mprotect(made.start, size, PROT_READ | PROT_WRITE)) abort();
  return made;
}

#endif
