/* SPDX-License-Identifier: MIT */
#include "block_formats.h"

#include <stdlib.h>

block_format block_format_of(unsigned number) {
  switch (number) {
#define CASE(called, shown, bits, made)       \
 case BLOCK_##called: {                       \
  const block_format found = {#called, made}; \
  return found;                               \
 }
    BLOCK_FORMAT_ROWS(CASE)
  default: abort();
  }
}
