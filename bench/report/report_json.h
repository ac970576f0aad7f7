/* SPDX-License-Identifier: MIT */
/* JSON values, for the files that report a section each. */
#ifndef MPNUM_BENCH_REPORT_JSON_H
#define MPNUM_BENCH_REPORT_JSON_H

#include <stdint.h>

#include <jansson.h>

/* null for Inf and NaN, which JSON lacks. */
json_t *json_number(double value);
json_t *json_whole(uint64_t value);
/* A path, say, that may be no valid UTF-8: then '?' for each byte above 0x7f. */
json_t *json_text(const char *value);

#endif
