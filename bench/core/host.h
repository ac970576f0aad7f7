/* SPDX-License-Identifier: MIT */
/* What the figures were measured on. */
#ifndef MPNUM_BENCH_HOST_H
#define MPNUM_BENCH_HOST_H

#include <stddef.h>

const char *host_compiler(void); /* "gcc 12.2.0" */
void host_cpu(char *dst, size_t size);

#endif
