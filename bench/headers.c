/* SPDX-License-Identifier: MIT */
#include "headers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

static const char tool[] = BENCH_SOURCE_ROOT "/tools/include-cost";

/* Never returns. */
static void become_tool(int out, unsigned rounds) {
  char number[16];
  snprintf(number, sizeof number, "%u", rounds);
  dup2(out, STDOUT_FILENO);
  execl(tool, tool, "--json", "--rounds", number, (char *)NULL);
  _exit(127);
}

static json_t *run_tool(unsigned rounds, refusal *why) {
  int ends[2], status = 0;
  FILE *from;
  json_t *root;
  json_error_t error;
  pid_t child;
  if (pipe(ends) != 0) return refuse(why, "no pipe: %s", strerror(errno)), NULL;
  child = fork();
  if (child == 0) become_tool(ends[1], rounds);
  close(ends[1]);
  from = child > 0 ? fdopen(ends[0], "r") : NULL;
  if (!from) return refuse(why, "cannot be run: %s", strerror(errno)), NULL;
  root = json_loadf(from, JSON_REJECT_DUPLICATES, &error);
  fclose(from);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (root && WIFEXITED(status) && WEXITSTATUS(status) == 0) return root;
  json_decref(root);
  return refuse(why, WIFEXITED(status) && WEXITSTATUS(status) == 127
                         ? "cannot be run; it needs python3"
                         : "failed"),
         NULL;
}

static bool read_rows(header_costs *costs, json_t *rows, refusal *why) {
  size_t i;
  costs->rows = calloc(json_array_size(rows) + 1, sizeof *costs->rows);
  if (!costs->rows) return refuse(why, "out of memory");
  costs->count = json_array_size(rows);
  for (i = 0; i < costs->count; ++i) {
    const char *header, *compiler;
    header_cost *row = &costs->rows[i];
    if (json_unpack(json_array_get(rows, i), "{s:s, s:s, s:F}", "header", &header,
                    "compiler", &compiler, "seconds", &row->seconds) != 0)
      return refuse(why, "gave something other than rows of costs");
    snprintf(row->header, sizeof row->header, "%s", header);
    snprintf(row->compiler, sizeof row->compiler, "%s", compiler);
  }
  return true;
}

bool headers_measure(header_costs *costs, unsigned rounds, refusal *why) {
  json_t *root = run_tool(rounds, why);
  bool good = root && read_rows(costs, json_object_get(root, "rows"), why);
  costs->rounds = rounds;
  json_decref(root);
  return good;
}

void headers_free(header_costs *costs) { free(costs->rows); }
