/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Never returns. */
static void become(char *const *arguments, int out) {
  dup2(out, STDOUT_FILENO);
  execvp(arguments[0], arguments);
  _exit(127);
}

json_t *program_json(char *const *arguments, const char *needs, refusal *why) {
  int ends[2], status = 0;
  FILE *from;
  json_error_t error;
  if (!BENCH_HAVE_JANSSON) return refuse(why, "needs jansson, too"), NULL;
  if (pipe(ends) != 0) return refuse(why, "no pipe: %s", strerror(errno)), NULL;
  pid_t child = fork();
  if (child == 0) become(arguments, ends[1]);
  close(ends[1]);
  from = child > 0 ? fdopen(ends[0], "r") : NULL;
  if (!from) return refuse(why, "cannot be run: %s", strerror(errno)), NULL;
  json_t *root = json_loadf(from, JSON_REJECT_DUPLICATES, &error);
  fclose(from);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (root && WIFEXITED(status) && WEXITSTATUS(status) == 0) return root;
  json_decref(root);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    refuse(why, "cannot be run; it needs %s", needs);
  } else {
    refuse(why, "failed");
  }
  return NULL;
}
