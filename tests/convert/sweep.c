/* SPDX-License-Identifier: MIT */
/* Every float through one conversion, against the slow reference:
 *
 *   sweep TYPE [plain|sat] [--rounding WORD] [--stride N]
 *
 * plain or sat: mpnum_f32_to_TYPE or mpnum_f32_to_TYPE_sat. With --rounding (nearest,
 * zero, up, down, away, odd) it is mpnum_f32_to_TYPE_round. --stride N takes every Nth
 * float between the critical ones.
 *
 * Within a sign floats are ordered as their bits, and a rounding is monotonic: its result
 * changes only at the values of the format and at the midpoints between them. So the
 * reference is asked at each of these, and at both ends of each stretch between two of
 * them; where both ends agree the whole stretch has that code. One thread for each sign.
 */
#include "conversion_types.h"
#include "../harness/tap.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#define F32_SIGN      UINT32_C(0x80000000)
#define F32_INFINITY  UINT32_C(0x7f800000)
#define FAILURES_KEPT 10

/* Is the code of any float in first, first + stride, ... up to last not the wanted one?
 * Nothing but the conversion runs in these loops. */
typedef int scan_function(uint32_t first, uint32_t last, uint32_t stride, uint32_t want);

#define SCAN(name, suffix)                                                         \
 static int scan_##name##suffix(uint32_t first, uint32_t last, uint32_t stride,    \
                                uint32_t want) {                                   \
  uint32_t wrong = 0;                                                              \
  const uint32_t count = (last - first) / stride;                                  \
  for (uint32_t i = 0; i <= count; ++i)                                            \
   wrong |= mpnum_f32_to_##name##suffix(float_of(first + i * stride)).bits ^ want; \
  return wrong != 0;                                                               \
 }
#define SCAN_SAT(name, NAME, sign_bits, exponent_bits, mantissa_bits, bias, SPECIALS, \
                 nan)                                                                 \
 SCAN(name, _sat)
MPNUM_FORMATS(SCAN_SAT)
#undef SCAN_SAT
/* clang-format off */
#define SCAN_PLAIN_IEEE(name) SCAN(name, )
#define SCAN_PLAIN_FN(name)   SCAN(name, )
#define SCAN_PLAIN_FNUZ(name) SCAN(name, )
#define SCAN_PLAIN_E8M0(name) SCAN(name, )
#define SCAN_PLAIN_FINITE(name)
#define SCAN_PLAIN(name, NAME, SPECIALS, ...) SCAN_PLAIN_##SPECIALS(name)
MAIN_FORMATS(SCAN_PLAIN)
OTHER_FORMATS(SCAN_PLAIN)
#undef SCAN

#define PLAIN_OF_IEEE(name)   scan_##name
#define PLAIN_OF_FN(name)     scan_##name
#define PLAIN_OF_FNUZ(name)   scan_##name
#define PLAIN_OF_E8M0(name)   scan_##name
#define PLAIN_OF_FINITE(name) NULL
#define SCANS(name, NAME, SPECIALS, ...) \
 {#name, PLAIN_OF_##SPECIALS(name), scan_##name##_sat},
static const struct {
  const char *name;
  scan_function *plain, *sat;
} scans[] = {MAIN_FORMATS(SCANS) OTHER_FORMATS(SCANS)};
/* clang-format on */

static const ref_format *reference;
static const conversion_type *type;
static scan_function *scan; /* null: the _round function */
static ref_rounding rounding = REF_NEAREST_EVEN;
static ref_overflow overflow;
static uint32_t stride = 1;

/* One sign's floats. */
typedef struct half {
  uint32_t sign;
  uint32_t next;   /* first magnitude not yet checked */
  uint64_t floats; /* how many were checked */
  uint64_t failures;
  struct {
    uint32_t source, got, want;
  } failure[FAILURES_KEPT];
  int uneven; /* stretches whose ends the reference rounds to different codes */
} half;

static uint32_t convert(uint32_t bits) {
  const float x = float_of(bits);
  if (scan) return type->from_f32[REF_NEAREST_EVEN][overflow](x, 0);
  return type->round_f32(x, roundings[rounding], overflows[overflow], 0);
}

static int scan_round(uint32_t first, uint32_t last, uint32_t want) {
  uint32_t wrong = 0;
  const uint32_t count = (last - first) / stride;
  for (uint32_t i = 0; i <= count; ++i)
    wrong |= convert(first + i * stride) ^ want;
  return wrong != 0;
}

static uint32_t wanted(uint32_t bits) {
  return ref_encode(reference, ref_widen(bits), rounding, overflow, 0);
}

static void check_one(half *job, uint32_t bits, uint32_t want) {
  const uint32_t got = convert(bits);
  if (got == want) return;
  if (job->failures < FAILURES_KEPT) {
    job->failure[job->failures].source = bits;
    job->failure[job->failures].got = got;
    job->failure[job->failures].want = want;
  }
  ++job->failures;
}

/* Magnitudes first to last hold neither a value of the format nor a midpoint. */
static void check_stretch(half *job, uint32_t first, uint32_t last) {
  const uint32_t from = first | job->sign, to = last | job->sign;
  const uint32_t want = wanted(from);
  if (wanted(to) != want) ++job->uneven;
  job->floats += (last - first) / stride + UINT64_C(1);
  check_one(job, to, want);
  if (!(scan ? scan(from, to, stride, want) : scan_round(from, to, want))) return;
  for (uint64_t bits = from; bits <= to; bits += stride)
    check_one(job, (uint32_t)bits, want);
}

/* Checks everything from job->next to this critical magnitude. */
static void advance(half *job, uint32_t critical) {
  if (critical < job->next) return;
  if (critical > job->next) check_stretch(job, job->next, critical - 1);
  check_one(job, critical | job->sign, wanted(critical | job->sign));
  ++job->floats;
  job->next = critical + 1;
}

static void *sweep_half(void *argument) {
  half *job = (half *)argument;
  advance(job, 0);
  for (uint32_t code = 0; code <= reference->max_code + 1; ++code) {
    uint32_t value, midpoint;
    if (ref_narrow(ref_value(reference, code), &value)) advance(job, value);
    if (ref_narrow(ref_midpoint(reference, code), &midpoint)) advance(job, midpoint);
  }
  advance(job, F32_INFINITY);
  check_stretch(job, F32_INFINITY + 1, F32_SIGN - 1); /* NaNs */
  return NULL;
}

static half halves[2];

static void report(const half *job) {
  for (uint64_t i = 0; i < job->failures && i < FAILURES_KEPT; ++i)
    CHECK(0, "%08" PRIx32 ": got %" PRIx32 ", want %" PRIx32, job->failure[i].source,
          job->failure[i].got, job->failure[i].want);
  CHECK(job->failures <= FAILURES_KEPT, "%" PRIu64 " in all", job->failures);
}
static void positive_floats_convert_as_the_reference(void) { report(&halves[0]); }
static void negative_floats_convert_as_the_reference(void) { report(&halves[1]); }

static void every_float_was_swept(void) {
  for (int i = 0; i < 2; ++i) {
    const uint64_t floats = halves[i].floats;
    CHECK(halves[i].uneven == 0, "%d stretches with more than one code",
          halves[i].uneven);
    CHECK(stride == 1 ? floats == F32_SIGN : floats >= F32_SIGN / stride,
          "%" PRIu64 " floats", floats);
  }
}

static int usage(void) {
  fprintf(stderr,
          "usage: sweep TYPE [plain|sat] [--rounding nearest|zero|up|down|away|odd]"
          " [--stride N]\n");
  return 2;
}

static int parse(int count, char **arguments) {
  static const char *const words[] = {"nearest", "zero", "up", "down", "away", "odd"};
  int by_rounding = 0;
  for (int i = 2; i < count; ++i) {
    if (strcmp(arguments[i], "sat") == 0) {
      overflow = REF_SATURATE;
    } else if (strcmp(arguments[i], "--stride") == 0 && i + 1 < count) {
      stride = (uint32_t)strtoul(arguments[++i], NULL, 10);
    } else if (strcmp(arguments[i], "--rounding") == 0 && i + 1 < count) {
      ++i;
      for (int j = 0; j < 6; ++j) {
        if (strcmp(arguments[i], words[j]) != 0) continue;
        rounding = (ref_rounding)j;
        by_rounding = 1;
      }
      if (!by_rounding) return 0;
    } else if (strcmp(arguments[i], "plain") != 0) {
      return 0;
    }
  }
  if (count < 2 || stride == 0) return 0;
  for (size_t i = 0; i < sizeof scans / sizeof scans[0]; ++i) {
    if (strcmp(arguments[1], scans[i].name) != 0) continue;
    type = &conversion_types[i];
    scan = by_rounding ? NULL : overflow == REF_SATURATE ? scans[i].sat : scans[i].plain;
    return (by_rounding || scan) && strcmp(type->name, scans[i].name) == 0;
  }
  return 0;
}

int main(int count, char **arguments) {
  pthread_t thread;
  if (!parse(count, arguments)) return usage();
  reference = ref_format_named(type->name);
  halves[1].sign = F32_SIGN;
  const int threaded = pthread_create(&thread, NULL, sweep_half, &halves[1]) == 0;
  sweep_half(&halves[0]);
  if (threaded)
    pthread_join(thread, NULL);
  else
    sweep_half(&halves[1]);
  TAP_RUN(positive_floats_convert_as_the_reference);
  TAP_RUN(negative_floats_convert_as_the_reference);
  TAP_RUN(every_float_was_swept);
  return tap_done();
}
