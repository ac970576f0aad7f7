/* SPDX-License-Identifier: MIT */
/* Files of conformance/ that xz unpacks. Whoever includes this asks for POSIX first. */
#ifndef MPNUM_TESTS_PACKED_H
#define MPNUM_TESTS_PACKED_H

#include <stdio.h>
#include <stdlib.h>

static inline int has_xz(void) {
  return system("xz --version > /dev/null 2>&1") == 0; /* NOLINT(cert-env33-c) */
}
/* What a file below conformance/ holds, for pclose. */
static inline FILE *open_packed(const char *name) {
  char command[1024];
  const char *root = getenv("MPNUM_SOURCE");
  snprintf(command, sizeof command, "xz -dc '%s/conformance/%s'", root ? root : ".",
           name);
  return popen(command, "r"); /* NOLINT(cert-env33-c) */
}

#endif
