/* SPDX-License-Identifier: MIT */
/* Any text as the name of an operation and of a type, any number as that of a type. */
#include "fuzz_bytes.h"

#include <mpnum/training/operation_policy.h>
#include <mpnum/types/vocabulary.h>

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_bytes from = {data, size};
  const mpnum_vocabulary vocabulary = (mpnum_vocabulary)take_below(&from, 10);
  const int32_t number = (int32_t)take(&from, 4);
  const mpnum_type none = (mpnum_type)77;
  mpnum_type type = none, numbered = none;
  int32_t back = -1;
  const size_t before = number & 1 ? 2 : 0; /* behind a name that there is, or alone */
  char *name = (char *)malloc(before + from.left + 1);
  demand(name != NULL);
  memcpy(name, "mm", before);
  memcpy(name + before, from.at, from.left);
  name[before + from.left] = 0;
  const mpnum_policy policy = mpnum_operation_policy(name);
  demand(policy >= MPNUM_POLICY_UNKNOWN && policy <= MPNUM_POLICY_UNSAFE);
  if (!name[0] || strchr(name, ' ')) demand(policy == MPNUM_POLICY_UNKNOWN);
  if (mpnum_type_of_name(vocabulary, name, &type) == MPNUM_OK) {
    const char *known = mpnum_type_name_in(vocabulary, type);
    demand(known && strcmp(known, name) == 0);
    demand(mpnum_type_name(type) != NULL);
  } else {
    demand(type == none);
  }
  if (mpnum_type_of_number(vocabulary, number, &numbered) == MPNUM_OK)
    demand(mpnum_type_number_in(vocabulary, numbered, &back) == MPNUM_OK &&
           back == number);
  else
    demand(numbered == none);
  free(name);
  return 0;
}
