/* SPDX-License-Identifier: MIT */
#include "host.h"

#include <stdio.h>
#include <string.h>

#include "message.h"

#if defined(__clang__)
# define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
# define COMPILER "gcc " __VERSION__
#else
# define COMPILER "unknown compiler"
#endif

const char *host_compiler(void) { return COMPILER; }

/* Linux on x86 has `model name`; elsewhere the machine's name must do. */
void host_cpu(char *dst, size_t size) {
  char line[256];
  FILE *from = fopen("/proc/cpuinfo", "r");
  snprintf(dst, size, "%s", BENCH_MACHINE);
  while (from && fgets(line, sizeof line, from)) {
    const char *value = strstr(line, ": ");
    if (strncmp(line, "model name", 10) != 0 || !value) continue;
    line[strcspn(line, "\n")] = 0;
    snprintf(dst, size, "%s", value + 2);
    clean_text(dst);
    break;
  }
  if (from) fclose(from);
}
