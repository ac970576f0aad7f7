/* SPDX-License-Identifier: MIT */
/* Command lines of the programs that train: rows of options, one line for what is wrong
 * and status 2. */
#ifndef EXAMPLES_TRAIN_COMMAND_LINE_H
#define EXAMPLES_TRAIN_COMMAND_LINE_H

#include <mpnum/types/f32.h>
#include <mpnum/types/preset.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum options_kind {
  OPTION_FLAG,
  OPTION_HELP,
  OPTION_COUNT,
  OPTION_POSITIVE,
  OPTION_CHOICE,
  OPTION_FILE
};
typedef struct options_row {
  const char *name;
  int kind;
  void *to; /* uint64_t, float, uint32_t (FLAG, CHOICE) or const char *, as of the kind */
  uint64_t least, most;
  const char *const
      *names; /* of CHOICE, NULL behind the last; *to is the number of one */
} options_row;

enum { OPTIONS_MOST = 32 };
typedef struct command_line {
  const char *program, *help;
  const options_row *rows;
  int count; /* at most OPTIONS_MOST */
} command_line;

static inline void options_wrong(const command_line *line, const char *name,
                                 const char *why, const char *value) {
  fprintf(stderr, "%s: --%s: %s: %s\n", line->program, name, why, value);
  exit(2);
}
static inline void options_count(const command_line *line, const options_row *row,
                                 const char *text) {
  char *end = NULL;
  const uint64_t number = strtoull(text, &end, 10);
  char why[80];
  snprintf(why, sizeof why, "not a number from %llu to %llu",
           (unsigned long long)row->least, (unsigned long long)row->most);
  if (*text < '0' || *text > '9' || *end != '\0' || number < row->least ||
      number > row->most)
    options_wrong(line, row->name, why, text);
  *(uint64_t *)row->to = number;
}
static inline void options_positive(const command_line *line, const options_row *row,
                                    const char *text) {
  char *end = NULL;
  const float number = strtof(text, &end);
  if (end == text || *end != '\0' || !(number > 0) || !mpnum_isfinite_f32(number))
    options_wrong(line, row->name, "not a number above 0", text);
  *(float *)row->to = number;
}
static inline void options_choice(const command_line *line, const options_row *row,
                                  const char *text) {
  char why[400] = "not";
  size_t used = strlen(why);
  for (uint32_t i = 0; row->names[i]; ++i) {
    if (strcmp(text, row->names[i]) == 0) {
      *(uint32_t *)row->to = i;
      return;
    }
    used += (size_t)snprintf(why + used, sizeof why - used, "%s %s",
                             i == 0              ? ""
                             : row->names[i + 1] ? ","
                                                 : " or",
                             row->names[i]);
    if (used >= sizeof why) used = sizeof why - 1;
  }
  options_wrong(line, row->name, why, text);
}
static inline void options_set(const command_line *line, const options_row *row,
                               const char *text) {
  switch (row->kind) {
  case OPTION_HELP: fputs(line->help, stdout); exit(0);
  case OPTION_FLAG: *(uint32_t *)row->to = 1; break;
  case OPTION_COUNT: options_count(line, row, text); break;
  case OPTION_POSITIVE: options_positive(line, row, text); break;
  case OPTION_CHOICE: options_choice(line, row, text); break;
  default: *(const char **)row->to = text;
  }
}
/* The one argument that is no option, a file of digits. Ends the program where the
 * command line is wrong. */
static inline const char *options_scan(const command_line *line, int count,
                                       char **arguments) {
  struct option known[OPTIONS_MOST + 1];
  int found = 0;
  memset(known, 0, sizeof known);
  for (int i = 0; i < line->count; ++i) {
    known[i].name = line->rows[i].name;
    known[i].has_arg = line->rows[i].kind > OPTION_HELP ? required_argument : no_argument;
    known[i].val = 1 + i;
  }
  opterr = 0; /* one line is enough */
  while ((found = getopt_long(count, arguments, "", known, NULL)) > 0 &&
         found <= line->count)
    options_set(line, line->rows + (found - 1), optarg);
  if (found != -1 || count - optind != 1) {
    fprintf(stderr, "%s: %s; see %s --help\n", line->program,
            found == -1 ? "name one file of digits, examples/digits.bin"
                        : "an option is unknown or lacks its value",
            line->program);
    exit(2);
  }
  return arguments[optind];
}

#endif
