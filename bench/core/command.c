/* SPDX-License-Identifier: MIT */
#include "command.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS = 40, FIRST = 256 };

static bool take(const command_option *option, void *chosen, refusal *why) {
  char *const place = (char *)chosen + option->place;
  const bool is_set = true;
  if (!option->read && option->takes) {
    memcpy(place, &optarg, sizeof optarg);
  } else if (!option->read) {
    memcpy(place, &is_set, sizeof is_set);
  } else {
    why->text[0] = 0;
    if (option->read(chosen, optarg, why)) return true;
    return why->text[0] ? false
                        : refuse(why, "--%s takes %s, not '%s'", option->name,
                                 option->takes, optarg);
  }
  return true;
}

bool command_read(const command_option *options, size_t count, int argc, char **argv,
                  void *chosen, refusal *why) {
  struct option known[OPTIONS];
  int found;
  memset(known, 0, sizeof known);
  for (size_t i = 0; i < count && i + 1 < OPTIONS; ++i) {
    known[i].name = options[i].name;
    known[i].has_arg = options[i].takes ? required_argument : no_argument;
    known[i].val = FIRST + (int)i;
  }
  opterr = 0;
  while ((found = getopt_long(argc, argv, ":", known, NULL)) != -1) {
    if (found == ':')
      return refuse(why, "%s needs a value; see --help", argv[optind - 1]);
    if (found == '?' && optopt != 0 && optopt < FIRST) /* one letter, or more behind it */
      return refuse(why, "no such option: '-%c'; see --help", optopt);
    if (found == '?')
      return refuse(why, "no such option: '%s'; see --help", argv[optind - 1]);
    if (!take(&options[found - FIRST], chosen, why)) return false;
  }
  return true;
}

bool read_number(const char *text, unsigned long least, unsigned long most,
                 unsigned long *dst) {
  char *end;
  if (*text < '0' || *text > '9') return false;
  errno = 0;
  *dst = strtoul(text, &end, 10);
  return errno == 0 && *end == 0 && *dst >= least && *dst <= most;
}
