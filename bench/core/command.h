/* SPDX-License-Identifier: MIT */
/* A command line by a table of its options. */
#ifndef MPNUM_BENCH_COMMAND_H
#define MPNUM_BENCH_COMMAND_H

#include "message.h"

typedef struct command_option {
  const char *name;  /* without its dashes */
  const char *takes; /* "1 to 256", which a wrong value is told; NULL: no value */
  size_t place;      /* without read: of a bool, or of the value's const char * */
  /* False for a wrong value; why is filled in where `takes` does not say it. */
  bool (*read)(void *chosen, const char *value, refusal *why);
} command_option;

/* Rows of members: a bool that is set, a text that is kept. */
#define COMMAND_FLAG(type, member) \
 { #member, NULL, offsetof(type, member), NULL }
#define COMMAND_TEXT(type, member) \
 { #member, "", offsetof(type, member), NULL }

/* Options up to optind; false with the reason. */
bool command_read(const command_option *options, size_t count, int argc, char **argv,
                  void *chosen, refusal *why);

/* A decimal number from least to most. */
bool read_number(const char *text, unsigned long least, unsigned long most,
                 unsigned long *dst);

#endif
